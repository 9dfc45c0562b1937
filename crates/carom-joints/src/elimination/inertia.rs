//! Velocities, momenta and inertia of a body about its center of mass, in the axes of space.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

/// Velocity or momentum of a body: linear, and angular about its center of mass, both in the axes of space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twist {
    pub(super) linear: Vector3<f64>,
    pub(super) angular: Vector3<f64>,
}

impl Twist {
    /// A velocity or momentum whose angular part is in the axes of a body.
    #[inline]
    pub(super) fn from_body(given: &Vector6<f64>, rotation: &Matrix3<f64>) -> Self {
        let angular = Vector3::new(given[3], given[4], given[5]);
        Self {
            linear: Vector3::new(given[0], given[1], given[2]),
            angular: rotation * angular,
        }
    }

    /// The angular part goes back to the axes of the body.
    #[inline]
    pub(super) fn to_body(self, rotation: &Matrix3<f64>) -> Vector6<f64> {
        crate::frames::stack(&self.linear, &rotation.tr_mul(&self.angular))
    }

    #[inline]
    pub(super) fn dense(&self) -> [f64; 6] {
        let (v, w) = (&self.linear, &self.angular);
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }

    #[inline]
    pub(super) fn from_dense([a, b, c, d, e, f]: [f64; 6]) -> Self {
        Self {
            linear: Vector3::new(a, b, c),
            angular: Vector3::new(d, e, f),
        }
    }

    /// Power of a momentum along a velocity.
    #[inline]
    pub(super) fn dot(&self, other: &Self) -> f64 {
        self.linear.dot(&other.linear) + self.angular.dot(&other.angular)
    }

    /// Adds a multiple of another one.
    #[inline]
    pub(super) fn add(&mut self, factor: f64, other: &Self) {
        self.linear += other.linear * factor;
        self.angular += other.angular * factor;
    }

    /// Velocity that a rigid body with this velocity has at an `offset` from its center.
    #[inline]
    pub(super) fn carried(&self, offset: &Vector3<f64>) -> Self {
        Self {
            linear: self.linear + self.angular.cross(offset),
            angular: self.angular,
        }
    }

    /// Momentum about a point from which the center lies at an `offset`.
    #[inline]
    pub(super) fn about(&self, offset: &Vector3<f64>) -> Self {
        Self {
            linear: self.linear,
            angular: self.angular + offset.cross(&self.linear),
        }
    }
}

/// Inertia of a body with all that hangs on it, $\begin{pmatrix}A & H\cr H^T & G\end{pmatrix}$ on linear and angular velocity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inertia {
    linear: Matrix3<f64>,
    mixed: Matrix3<f64>,
    angular: Matrix3<f64>,
}

impl Inertia {
    /// No inertia.
    pub(super) fn zero() -> Self {
        Self {
            linear: Matrix3::zeros(),
            mixed: Matrix3::zeros(),
            angular: Matrix3::zeros(),
        }
    }

    /// Inertia of one body from $\mathrm{diag}(mI, J)$ in its own axes.
    #[inline]
    pub(super) fn of_body(mass: &Matrix6<f64>, rotation: &Matrix3<f64>) -> Self {
        let own = mass.fixed_view::<3, 3>(3, 3);
        Self {
            linear: Matrix3::from_diagonal_element(mass[(0, 0)]),
            mixed: Matrix3::zeros(),
            angular: rotation * own * rotation.transpose(),
        }
    }

    /// Momentum of a velocity.
    #[inline]
    pub(super) fn times(&self, velocity: &Twist) -> Twist {
        let (v, w) = (&velocity.linear, &velocity.angular);
        Twist {
            linear: self.linear * v + self.mixed * w,
            angular: self.mixed.tr_mul(v) + self.angular * w,
        }
    }

    /// Takes away $pp^T$.
    #[inline]
    pub(super) fn subtract_square(&mut self, p: &Twist) {
        self.linear -= p.linear * p.linear.transpose();
        self.mixed -= p.linear * p.angular.transpose();
        self.angular -= p.angular * p.angular.transpose();
    }

    /// Adds $pp^T$.
    #[inline]
    pub(super) fn add_square(&mut self, p: &Twist) {
        self.linear += p.linear * p.linear.transpose();
        self.mixed += p.linear * p.angular.transpose();
        self.angular += p.angular * p.angular.transpose();
    }

    /// Adds the inertia of a body whose center lies at an `offset` from this one's, as if both were one: with $D$ the
    /// matrix of $d\times$, $A$, $H - AD$ and $G + D(H - AD) - H^TD$.
    #[inline]
    pub(super) fn add_carried(&mut self, other: &Self, offset: &Vector3<f64>) {
        let d = offset.cross_matrix();
        let mixed = other.mixed - other.linear * d;
        self.linear += other.linear;
        self.mixed += mixed;
        self.angular += other.angular + d * mixed - other.mixed.tr_mul(&d);
    }

    /// All six rows.
    pub(super) fn dense(&self) -> Matrix6<f64> {
        let mut out = Matrix6::zeros();
        out.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.linear);
        out.fixed_view_mut::<3, 3>(0, 3).copy_from(&self.mixed);
        out.fixed_view_mut::<3, 3>(3, 0)
            .copy_from(&self.mixed.transpose());
        out.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.angular);
        out
    }
}
