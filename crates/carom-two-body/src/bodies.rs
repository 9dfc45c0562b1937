//! Two rigid bodies that touch at a point.

use super::inertia::ContactInertia;
use crate::TwoBodyError;
use crate::tolerances::{INERTIA_ASYMMETRY, PIVOT_ROUNDINGS};
use carom_metric::{Covector, Tangent};
use nalgebra::{DMatrix, Matrix3, Vector3};

/// State of a rigid body at the instant of an impact: mass, inertia, center of mass, velocity of the center of mass and angular
/// velocity. All vectors and matrices are in world axes.
///
/// # Examples
///
/// ```
/// use carom_two_body::RigidBody;
/// use nalgebra::{Matrix3, Vector3};
/// // A ball of 0.1 kg and radius 0.02 m that falls and spins.
/// let ball = RigidBody {
///     mass: 0.1,
///     inertia: Matrix3::identity() * (0.4 * 0.1 * 0.02 * 0.02),
///     center: Vector3::new(0.0, 0.0, 0.02),
///     velocity: Vector3::new(0.0, 0.0, -1.0),
///     angular_velocity: Vector3::new(0.0, 30.0, 0.0),
/// };
/// assert!(ball.inertia.trace() > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidBody {
    /// Mass, kg.
    pub mass: f64,
    /// Inertia about the centre of mass, kg·m².
    pub inertia: Matrix3<f64>,
    /// Centre of mass, m.
    pub center: Vector3<f64>,
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector3<f64>,
}

/// Two rigid bodies in contact at one point, or one body in contact with a fixed half-space. The generalized
/// velocity consists of the velocities of the centers of mass and the angular velocities,
/// $(V_1, \omega_1, V_2, \omega_2)$, in world axes, with 12 entries for two bodies and 6 for one.
///
/// # Examples
///
/// ```
/// use carom_two_body::{BodyPair, RigidBody};
/// use nalgebra::{Matrix3, Vector3};
/// let ball = RigidBody {
///     mass: 0.1,
///     inertia: Matrix3::identity() * 1.6e-5,
///     center: Vector3::new(0.0, 0.0, 0.02),
///     velocity: Vector3::new(0.0, 0.0, -1.0),
///     angular_velocity: Vector3::zeros(),
/// };
/// // It hits a fixed floor; the normal's length does not matter.
/// let pair = BodyPair::new(ball, None, Vector3::zeros(), Vector3::new(0.0, 0.0, 2.0))?;
/// assert_eq!(pair.frame().column(2), Vector3::z());
/// # Ok::<(), carom_two_body::TwoBodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPair {
    /// The body into which the normal points.
    pub body1: RigidBody,
    /// The other body; `None` for a fixed half-space.
    pub body2: Option<RigidBody>,
    /// Contact point, m.
    pub point: Vector3<f64>,
    /// Unit normal, from body 2 to body 1.
    normal: Vector3<f64>,
}

impl BodyPair {
    /// Creates a pair of bodies in contact. Without `body2` the first body hits a fixed half-space. `point` is
    /// the contact point in world axes (m); `normal` points from body 2 to body 1 and may have any length.
    ///
    /// # Errors
    ///
    /// Returns [`TwoBodyError::InvalidBody`] for a mass that is not positive, an inertia that is not symmetric positive
    /// definite, or an entry that is not finite, and [`TwoBodyError::InvalidNormal`].
    pub fn new(
        body1: RigidBody,
        body2: Option<RigidBody>,
        point: Vector3<f64>,
        normal: Vector3<f64>,
    ) -> Result<Self, TwoBodyError> {
        body1.validate(1)?;
        if let Some(body) = &body2 {
            body.validate(2)?;
        }
        let scale = carom_numeric::kernel::power_of_two_scale(normal.amax());
        let scaled = normal * scale;
        let is_finite = normal.iter().chain(&point).all(|x| x.is_finite());
        if !is_finite || scaled.norm() == 0.0 {
            return Err(TwoBodyError::InvalidNormal);
        }
        Ok(Self {
            body1,
            body2,
            point,
            normal: scaled.normalize(),
        })
    }

    /// Returns the contact frame as a rotation matrix: its columns are two tangents and the normal in world
    /// axes, right-handed. The tangents are the $x$ and $y$ axes of the world if the normal is the $z$ axis.
    pub fn frame(&self) -> Matrix3<f64> {
        let n = self.normal;
        // The shortest rotation from z to n, or a half turn about x.
        let (x, y) = if n.z > -0.5 {
            let q = 1.0 / (1.0 + n.z);
            (
                Vector3::new(1.0 - q * n.x * n.x, -q * n.x * n.y, -n.x),
                Vector3::new(-q * n.x * n.y, 1.0 - q * n.y * n.y, -n.y),
            )
        } else {
            let q = 1.0 / (1.0 - n.z);
            (
                Vector3::new(1.0 - q * n.x * n.x, -q * n.x * n.y, n.x),
                Vector3::new(q * n.x * n.y, -1.0 + q * n.y * n.y, -n.y),
            )
        };
        Matrix3::from_columns(&[x, y, n])
    }

    fn bodies(&self) -> impl Iterator<Item = (f64, &RigidBody)> {
        std::iter::once((1.0, &self.body1)).chain(self.body2.iter().map(|body| (-1.0, body)))
    }

    fn dim(&self) -> usize {
        6 * self.bodies().count()
    }

    /// Returns the mass matrix of the pair: 12 × 12 for two bodies, 6 × 6 for one, in the order of
    /// [`velocity`](Self::velocity).
    pub fn mass_matrix(&self) -> DMatrix<f64> {
        let mut mass = DMatrix::zeros(self.dim(), self.dim());
        for (k, (_, body)) in self.bodies().enumerate() {
            for i in 0..3 {
                mass[(6 * k + i, 6 * k + i)] = body.mass;
                for j in 0..3 {
                    mass[(6 * k + 3 + i, 6 * k + 3 + j)] = body.inertia[(i, j)];
                }
            }
        }
        mass
    }

    /// Returns the generalized velocity of the pair before the impact, $(V_1, \omega_1, V_2, \omega_2)$:
    /// velocity of the center of mass and angular velocity of each body, in world axes (12 entries for two
    /// bodies, 6 for one).
    pub fn velocity(&self) -> Tangent {
        let entries: Vec<f64> = self
            .bodies()
            .flat_map(|(_, body)| [body.velocity, body.angular_velocity])
            .flat_map(|v| [v.x, v.y, v.z])
            .collect();
        Tangent::from_slice(&entries)
    }

    /// Returns the contact row (covector) for a direction in world axes. The product of the row with the generalized velocity is
    /// the velocity of body 1 relative to body 2 at the contact point along this direction.
    fn row(&self, direction: &Vector3<f64>) -> Covector {
        let entries: Vec<f64> = self
            .bodies()
            .flat_map(|(sign, body)| {
                let moment = (self.point - body.center).cross(direction);
                [*direction * sign, moment * sign]
            })
            .flat_map(|v| [v.x, v.y, v.z])
            .collect();
        Covector::from_slice(&entries)
    }

    /// Returns the contact rows: the covectors that map the generalized velocity to the contact velocity along
    /// the two tangents and the normal of [`frame`](Self::frame).
    pub fn rows(&self) -> [Covector; 3] {
        let frame = self.frame();
        [0, 1, 2].map(|k| self.row(&frame.column(k).into_owned()))
    }

    /// Returns the velocity of body 1 relative to body 2 at the contact point before the impact (m/s): two
    /// tangential components and the normal one. Jia & Wang, Eq. (2).
    pub fn contact_velocity(&self) -> Vector3<f64> {
        let world: Vector3<f64> = self
            .bodies()
            .map(|(sign, body)| {
                let arm = self.point - body.center;
                (body.velocity + body.angular_velocity.cross(&arm)) * sign
            })
            .sum();
        self.frame().tr_mul(&world)
    }

    /// Returns the inverse inertia matrix of the contact (3 × 3, in the contact frame), which maps an impulse to the change of
    /// the contact velocity. Jia & Wang, Eqs. (3)-(5). The matrix is computed as a sum of squares, so that it is symmetric to the
    /// last bit.
    ///
    /// # Errors
    ///
    /// Returns [`TwoBodyError::ContactInertiaSingular`] if the masses differ so much that rounding makes the matrix
    /// singular.
    pub fn inertia(&self) -> Result<ContactInertia, TwoBodyError> {
        let frame = self.frame();
        let mut w = Matrix3::zeros();
        for (_, body) in self.bodies() {
            let arm = self.point - body.center;
            // Whitened angular velocity per unit of impulse.
            let mut a = arm.cross_matrix() * frame;
            if let Some(factor) = body.inertia.cholesky() {
                factor.l().solve_lower_triangular_mut(&mut a);
            }
            w += Matrix3::identity() / body.mass + a.tr_mul(&a);
        }
        ContactInertia::from_matrix(&w)
    }
}

impl RigidBody {
    fn validate(&self, body: usize) -> Result<(), TwoBodyError> {
        let refuse = |what| Err(TwoBodyError::InvalidBody { body, what });
        let vectors = [self.center, self.velocity, self.angular_velocity];
        if vectors.iter().flatten().any(|x| !x.is_finite()) {
            return refuse("position and velocities must be finite");
        }
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return refuse("mass must be positive and finite");
        }
        let size = self.inertia.amax();
        let asymmetry = (self.inertia - self.inertia.transpose()).amax();
        if !size.is_finite() || asymmetry > INERTIA_ASYMMETRY * size {
            return refuse("inertia must be finite and symmetric");
        }
        let pivots = self.inertia.cholesky().map(|factor| factor.l().diagonal());
        match pivots {
            // Pivots are squared: smaller ones are rounding.
            Some(p) if p.min() > PIVOT_ROUNDINGS * f64::EPSILON.sqrt() * p.max() => Ok(()),
            _ => refuse("inertia must be positive definite"),
        }
    }
}
