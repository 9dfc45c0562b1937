//! Inertia of a rigid body, prepared for time steps, and its state.

use crate::VariationalError;
use crate::tolerances::SYMMETRIC_MOMENTS;
use carom_geometry::MassProperties;
use carom_lie::{Se3, So3};
use nalgebra::{Matrix3, Vector3};

/// Ratio of the largest rates that an energy allows about two principal axes below which a body counts as slender.
pub(crate) const SLENDER: f64 = 0.25;

/// Mass and inertia of a rigid body about its center of mass. Quantities that the time steps need, such as the inverse inertia,
/// are computed once.
///
/// # Examples
///
/// ```
/// use carom_geometry::{Cuboid, MassProperties};
/// use carom_variational::RigidBody;
/// let cuboid = Cuboid::new([0.1, 0.2, 0.3])?;
/// let body = RigidBody::new(&MassProperties::cuboid(&cuboid, 3.0)?);
/// // Principal moments m (b² + c²)/3, ascending.
/// let expected = [0.05, 0.10, 0.13];
/// assert!(body.moments().iter().zip(expected).all(|(j, e)| (j - e).abs() < 1e-15));
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RigidBodyForm"))]
pub struct RigidBody {
    mass: f64,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    inertia: Matrix3<f64>,
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    inverse_inertia: Matrix3<f64>,
    /// Principal moments of inertia, ascending.
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    moments: Vector3<f64>,
    /// Largest ratio of the difference of two principal moments to the third, at least 1; 1 for every distribution of mass.
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    ratio: f64,
}

/// Form in which a rigid body is read.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RigidBodyForm {
    mass: f64,
    #[serde(with = "carom_numeric::stored::finite")]
    inertia: Matrix3<f64>,
}

#[cfg(feature = "serde")]
impl TryFrom<RigidBodyForm> for RigidBody {
    type Error = carom_geometry::GeometryError;

    fn try_from(form: RigidBodyForm) -> Result<Self, Self::Error> {
        let properties = MassProperties::new(form.mass, form.inertia)?;
        Ok(Self::new(&properties))
    }
}

impl RigidBody {
    /// Creates a rigid body from checked mass properties. The origin of the body is its center of mass, so that the value of
    /// [`MassProperties::center`], the center of mass in the frame of the shape, is not used.
    pub fn new(properties: &MassProperties) -> Self {
        let inertia = *properties.inertia();
        let mut moments = inertia.symmetric_eigenvalues();
        moments.as_mut_slice().sort_by(f64::total_cmp);
        // Only the difference of the larger two can exceed the third.
        let ratio = if MassProperties::new(properties.mass(), inertia).is_ok() {
            1.0
        } else {
            ((moments.z - moments.y) / moments.x).max(1.0)
        };
        Self {
            ratio,
            mass: properties.mass(),
            inverse_inertia: inverse(&inertia),
            inertia,
            moments,
        }
    }

    /// Returns the mass $m$ of the body (kg).
    #[inline]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Returns the inertia matrix $J$ of the body about its center of mass, in body axes (kg·m²).
    #[inline]
    pub fn inertia(&self) -> &Matrix3<f64> {
        &self.inertia
    }

    /// Returns the nonstandard inertia matrix $J_d = \tfrac12\mathrm{tr}(J)I - J$ of the body (kg·m²), with the inertia matrix
    /// $J$ and the identity $I$. Lie group variational integrators are written with $J_d$.
    pub fn nonstandard_inertia(&self) -> Matrix3<f64> {
        Matrix3::identity() * (0.5 * self.inertia.trace()) - self.inertia
    }

    /// Returns the three principal moments of inertia of the body about its center of mass, in ascending order (kg·m²).
    pub fn moments(&self) -> &Vector3<f64> {
        &self.moments
    }

    /// Returns the angular velocity $\Omega = J^{-1}\Pi$ in body axes (rad/s) that belongs to the angular momentum $\Pi$ in
    /// body axes (N·m·s), with the inertia matrix $J$ of the body.
    #[inline]
    pub fn angular_velocity(&self, angular_momentum: &Vector3<f64>) -> Vector3<f64> {
        self.inverse_inertia * angular_momentum
    }

    /// Returns the rotational kinetic energy $\tfrac12\Pi^TJ^{-1}\Pi$ (J) of the body in the given state, with the angular
    /// momentum $\Pi$ and the inertia matrix $J$.
    #[inline]
    pub fn rotational_energy(&self, state: &State) -> f64 {
        let momentum = &state.angular_momentum;
        0.5 * momentum.dot(&self.angular_velocity(momentum))
    }

    /// Returns the translational kinetic energy (J) of the body in the given state.
    #[inline]
    pub fn translational_energy(&self, state: &State) -> f64 {
        state.linear_momentum.norm_squared() / (2.0 * self.mass)
    }

    /// Returns upper bounds of the squared angular velocities $\Omega_k^2$ about the principal axes (rad²/s²), valid during the
    /// whole torque-free motion from the state. The order is that of [`moments`](Self::moments).
    ///
    /// The rotational energy $T$ and the norm of the angular momentum $\Pi$ are conserved. With the principal moments $J_k$, the
    /// largest $\Omega_k^2$ are attained at vertices of
    /// $\lbrace y\ge 0, \sum J_iy_i = 2T, \sum J_i^2y_i = \lvert\Pi\rvert^2\rbrace$.
    pub fn rate_squares(&self, state: &State) -> Vector3<f64> {
        let energy = 2.0 * self.rotational_energy(state);
        let square = state.angular_momentum.norm_squared();
        let j = &self.moments;
        // Bounds each component by the value with all the energy, and with all the momentum.
        let y = Vector3::from_fn(|k, _| (energy / j[k]).min(square / (j[k] * j[k])));
        let mut most = Vector3::<f64>::zeros();
        for (i, k) in [(0, 1), (1, 2), (0, 2)] {
            let difference = j[k] - j[i];
            if difference <= SYMMETRIC_MOMENTS * j[k] {
                most[i] = y[i];
                most[k] = y[k];
                continue;
            }
            let yi = (energy * j[k] - square) / (j[i] * difference);
            let yk = (square - energy * j[i]) / (j[k] * difference);
            let slack = 1e-9 * energy;
            if yi * j[i] >= -slack && yk * j[k] >= -slack {
                most[i] = most[i].max(yi);
                most[k] = most[k].max(yk);
            }
        }
        // The differences cancel if a slender body does not spin about its long axis.
        let rounding = j.map(|j| 64.0 * f64::EPSILON * energy / j);
        y.inf(&(most + rounding))
    }

    /// Returns the largest ratio of the difference of two principal moments to the third, at least 1. It is 1 for every
    /// distribution of mass, and larger for an inertia that breaks the triangle inequality.
    #[inline]
    pub(crate) fn ratio(&self) -> f64 {
        self.ratio
    }

    /// True if the body is slender: its smallest principal moment of inertia is less than a sixteenth of the middle one. Separate
    /// bounds of the angular rates about the principal axes are then much smaller than the bound from the energy, which is
    /// cheaper to compute.
    #[inline]
    pub(crate) fn is_slender(&self) -> bool {
        self.moments.x < SLENDER * SLENDER * self.moments.y
    }

    /// Returns an upper bound of the norm of the angular velocity (rad/s) that is valid during the whole torque-free motion from
    /// the given state: $\sqrt{2T/J_1}$ with the rotational energy $T$ of the state and the smallest principal moment $J_1$ of
    /// the body.
    #[inline]
    pub fn angular_velocity_bound(&self, state: &State) -> f64 {
        (2.0 * self.rotational_energy(state) / self.moments.x)
            .max(0.0)
            .sqrt()
    }
}

/// Returns the inverse of a symmetric positive definite matrix, computed by cofactors; the result is symmetric to the last bit.
fn inverse(a: &Matrix3<f64>) -> Matrix3<f64> {
    let (x, y, z) = (a.column(0), a.column(1), a.column(2));
    let (p, q, r) = (y.cross(&z), z.cross(&x), x.cross(&y));
    let adjugate = Matrix3::from_columns(&[p, q, r]);
    (adjugate + adjugate.transpose()) * (0.5 / x.dot(&p))
}

/// Configuration (position and attitude) and momenta of a rigid body at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct State {
    /// Position $x$ of the center of mass, in world axes (m).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub position: Vector3<f64>,
    /// Rotation $R$, body to world.
    pub rotation: So3,
    /// Linear momentum $\gamma = m\dot x$, in world axes (N·s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub linear_momentum: Vector3<f64>,
    /// Angular momentum $\Pi = J\Omega$ about the center of mass, in body axes (N·m·s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub angular_momentum: Vector3<f64>,
}

impl State {
    /// Returns the position and the attitude of the body in this state as a rigid motion.
    #[inline]
    pub fn configuration(&self) -> Se3 {
        Se3::new(self.rotation, self.position)
    }

    /// Returns the time-reversed state: position and attitude are unchanged, linear and angular momentum have the opposite sign.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            linear_momentum: -self.linear_momentum,
            angular_momentum: -self.angular_momentum,
            ..*self
        }
    }

    /// Returns the angular momentum in world axes, $\pi = R\Pi$ (N·m·s), with the attitude $R$ and the angular momentum $\Pi$
    /// in body axes.
    pub fn angular_momentum_w(&self) -> Vector3<f64> {
        self.rotation.rotate(&self.angular_momentum)
    }

    /// Returns an error if the position, the linear momentum or the angular momentum of the state has a NaN or infinite entry.
    ///
    /// # Errors
    ///
    /// [`VariationalError::NonFinite`].
    pub fn check(&self) -> Result<(), VariationalError> {
        for (what, vector) in [
            ("position", &self.position),
            ("linear momentum", &self.linear_momentum),
            ("angular momentum", &self.angular_momentum),
        ] {
            if !vector.iter().all(|x| x.is_finite()) {
                return Err(VariationalError::NonFinite { what });
            }
        }
        Ok(())
    }
}
