//! Balls on a line.

use crate::error::positive;
use crate::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion, PointContact};
use nalgebra::DMatrix;

/// Balls of equal radius that move freely along a line.
///
/// Coordinates: the positions of the centers (m), ascending. Contact `i` is between the balls `i`
/// and `i + 1`.
///
/// # Examples
///
/// ```
/// use carom_mechanism::MechanicalSystem;
/// use carom_mechanism::systems::BallsOnLine;
/// let balls = BallsOnLine::new(&[1.0, 1.0, 2.0], 0.05)?;
/// let q = [0.0, 0.1, 0.5];
/// // The first two touch, the third is 0.3 m away.
/// assert!(balls.gap(0, &q).abs() < 1e-15 && (balls.gap(1, &q) - 0.3).abs() < 1e-15);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BallsOnLine {
    masses: Vec<f64>,
    radius: f64,
    contacts: Vec<PointContact>,
}

impl BallsOnLine {
    /// Creates a row of balls that move along a line, with these masses (kg) and one common radius (m).
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidParameter`] if there is no ball, or a mass or the radius is not
    /// positive and finite.
    pub fn new(masses: &[f64], radius: f64) -> Result<Self, MechanismError> {
        positive("number of balls", masses.len() as f64)?;
        for mass in masses {
            positive("mass", *mass)?;
        }
        let name = |i| PointContact::elastic(format!("ball {i}, ball {}", i + 1));
        Ok(Self {
            masses: masses.to_vec(),
            radius: positive("radius", radius)?,
            contacts: (0..masses.len() - 1).map(name).collect(),
        })
    }
}

impl MechanicalSystem for BallsOnLine {
    fn dimension(&self) -> usize {
        self.masses.len()
    }

    fn mass_matrix(&self, _configuration: &[f64], out: &mut DMatrix<f64>) {
        for (i, mass) in self.masses.iter().enumerate() {
            out[(i, i)] = *mass;
        }
    }

    fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, contact: usize, q: &[f64]) -> f64 {
        q[contact + 1] - q[contact] - 2.0 * self.radius
    }

    fn gap_gradient(&self, contact: usize, _q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        out[contact] = -1.0;
        out[contact + 1] = 1.0;
    }

    /// Returns true and leaves the matrices zero: the gaps are linear, so that all second derivatives are zero.
    fn contact_hessians(
        &self,
        _contact: usize,
        _q: &[f64],
        _gap: &mut DMatrix<f64>,
        _slide: &mut DMatrix<f64>,
    ) -> bool {
        true
    }
}
