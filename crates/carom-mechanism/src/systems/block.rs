//! A rectangular block above a floor.

use crate::error::{finite, not_negative, positive};
use crate::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion, PointContact};
use nalgebra::DMatrix;

/// Uniform rectangular block in a plane, whose corners hit the floor $y = 0$.
///
/// The coordinates are $(x, y, \theta)$: the center (m) and the angle (rad, counterclockwise). The contacts are the lower left
/// and lower right corners and, unless omitted, the upper right and upper left corners, as named at $\theta = 0$. A corner at
/// $(a, b)$ from the center has the gap $y + a\sin\theta + b\cos\theta$ and the slide coordinate $x + a\cos\theta - b\sin\theta$.
/// A block without height is a rod. For a ball, use [`ball`](Self::ball).
///
/// Gravity is a vector, so that the floor may be an incline: with the slope $\beta$ falling towards
/// $+x$ it is $g(\sin\beta, -\cos\beta)$.
///
/// # Examples
///
/// ```
/// use carom_mechanism::MechanicalSystem;
/// use carom_mechanism::systems::Block;
/// let block = Block::new(0.3, 0.4, 1.0, [0.0, -9.81])?;
/// // On its corner, the center above it: half the diagonal high.
/// let tilted = [0.0, 0.5, -(0.3_f64 / 0.4).atan()];
/// assert!(block.gap(1, &tilted).abs() < 1e-15);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    mass: f64,
    inertia: f64,
    gravity: [f64; 2],
    corners: Vec<[f64; 2]>,
    contacts: Vec<PointContact>,
}

impl Block {
    /// Creates a rectangular block that can hit a floor, from half its width and half its height (m), its mass (kg) and gravity
    /// (m/s²). All corners are contacts (for a rod, a block without height: both ends), with restitution 1 and without
    /// friction.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidParameter`] if mass or width is not positive, the height is negative, or a number is not finite.
    pub fn new(
        half_width: f64,
        half_height: f64,
        mass: f64,
        gravity: [f64; 2],
    ) -> Result<Self, MechanismError> {
        let a = positive("half width", half_width)?;
        let b = not_negative("half height", half_height)?;
        let mass = positive("mass", mass)?;
        let corners = vec![[-a, -b], [a, -b], [a, b], [-a, b]];
        let corners = if b > 0.0 {
            corners
        } else {
            corners[..2].to_vec()
        };
        Self::with_points(mass, mass * (a * a + b * b) / 3.0, gravity, corners)
    }

    /// Creates a ball that hits the floor with its lowest point only. `mass` is in kg, `gravity` in m/s². The coordinate y is the
    /// height of the lowest point, so that no radius is needed. The ball does not rotate.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn ball(mass: f64, gravity: [f64; 2]) -> Result<Self, MechanismError> {
        let mass = positive("mass", mass)?;
        Self::with_points(mass, mass, gravity, vec![[0.0, 0.0]])
    }

    fn with_points(
        mass: f64,
        inertia: f64,
        gravity: [f64; 2],
        corners: Vec<[f64; 2]>,
    ) -> Result<Self, MechanismError> {
        for component in gravity {
            finite("gravity", component)?;
        }
        let name = |i| match (corners.len(), i) {
            (1, _) => "bottom",
            (_, 0) => "lower left",
            (_, 1) => "lower right",
            (_, 2) => "upper right",
            _ => "upper left",
        };
        let contacts = (0..corners.len())
            .map(|i| PointContact::frictional(name(i), 0.0))
            .collect();
        Ok(Self {
            mass,
            inertia,
            gravity,
            corners,
            contacts,
        })
    }

    /// Removes the contacts of the upper corners from the block and returns it. Only the two lower corners can then touch the
    /// floor.
    #[must_use]
    pub fn with_lower_corners(mut self) -> Self {
        self.corners.truncate(2);
        self.contacts.truncate(2);
        self
    }

    /// Sets the Coulomb friction coefficient of every contact of the block.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidParameter`] if the coefficient is negative or not finite.
    pub fn with_friction(mut self, friction: f64) -> Result<Self, MechanismError> {
        let friction = not_negative("friction", friction)?;
        for contact in &mut self.contacts {
            contact.friction = friction;
        }
        Ok(self)
    }
}

impl MechanicalSystem for Block {
    fn dimension(&self) -> usize {
        3
    }

    fn mass_matrix(&self, _configuration: &[f64], out: &mut DMatrix<f64>) {
        out[(0, 0)] = self.mass;
        out[(1, 1)] = self.mass;
        out[(2, 2)] = self.inertia;
    }

    fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        for (i, gravity) in self.gravity.iter().enumerate() {
            out.potential -= self.mass * gravity * at.configuration[i];
            out.potential_gradient[i] = -self.mass * gravity;
        }
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, contact: usize, q: &[f64]) -> f64 {
        let [a, b] = self.corners[contact];
        let (sin, cos) = libm::sincos(q[2]);
        q[1] + a * sin + b * cos
    }

    fn gaps(&self, q: &[f64], out: &mut [f64]) {
        let (sin, cos) = libm::sincos(q[2]);
        for (gap, [a, b]) in out.iter_mut().zip(&self.corners) {
            *gap = q[1] + a * sin + b * cos;
        }
    }

    fn gap_gradient(&self, contact: usize, q: &[f64], out: &mut [f64]) {
        let [a, b] = self.corners[contact];
        let (sin, cos) = libm::sincos(q[2]);
        out.copy_from_slice(&[0.0, 1.0, a * cos - b * sin]);
    }

    fn slide(&self, contact: usize, q: &[f64]) -> f64 {
        let [a, b] = self.corners[contact];
        let (sin, cos) = libm::sincos(q[2]);
        q[0] + a * cos - b * sin
    }

    fn slide_gradient(&self, contact: usize, q: &[f64], out: &mut [f64]) {
        let [a, b] = self.corners[contact];
        let (sin, cos) = libm::sincos(q[2]);
        out.copy_from_slice(&[1.0, 0.0, -a * sin - b * cos]);
    }

    fn contact_hessians(
        &self,
        contact: usize,
        q: &[f64],
        gap: &mut DMatrix<f64>,
        slide: &mut DMatrix<f64>,
    ) -> bool {
        gap[(2, 2)] = q[1] - self.gap(contact, q);
        slide[(2, 2)] = q[0] - self.slide(contact, q);
        true
    }
}
