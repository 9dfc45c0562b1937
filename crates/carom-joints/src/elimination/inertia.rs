//! Velocity, momentum and inertia of a body about its center of mass, in the axes of space.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

/// Velocity or momentum of a body: linear, and angular about its center of mass, both in the axes of space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twist {
    pub(super) linear: Vector3<f64>,
    pub(super) angular: Vector3<f64>,
}

impl Twist {
    /// Converts a velocity or momentum with a linear part in space and an angular part in body axes into one with both parts in
    /// space. `rotation`: attitude, body to space.
    #[inline]
    pub(super) fn from_body(given: &Vector6<f64>, rotation: &Matrix3<f64>) -> Self {
        let angular = Vector3::new(given[3], given[4], given[5]);
        Self {
            linear: Vector3::new(given[0], given[1], given[2]),
            angular: rotation * angular,
        }
    }

    /// Converts a velocity or momentum from space into one with the linear part in space and the angular part in body axes.
    /// `rotation`: attitude, body to space.
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

    /// Returns the scalar product with `other`, where one of the two is a momentum and the other a velocity.
    #[inline]
    pub(super) fn dot(&self, other: &Self) -> f64 {
        self.linear.dot(&other.linear) + self.angular.dot(&other.angular)
    }

    /// Adds `factor` times another velocity or momentum.
    #[inline]
    pub(super) fn add(&mut self, factor: f64, other: &Self) {
        self.linear += other.linear * factor;
        self.angular += other.angular * factor;
    }

    /// Returns the velocity of a second body that moves rigidly with this one. `offset` is the vector from the center of this
    /// body to that of the second (m).
    #[inline]
    pub(super) fn carried(&self, offset: &Vector3<f64>) -> Self {
        Self {
            linear: self.linear + self.angular.cross(offset),
            angular: self.angular,
        }
    }

    /// Returns this momentum about another point instead of the center of mass. `offset` is the vector from that point to the
    /// center of mass (m).
    #[inline]
    pub(super) fn about(&self, offset: &Vector3<f64>) -> Self {
        Self {
            linear: self.linear,
            angular: self.angular + offset.cross(&self.linear),
        }
    }
}

/// Articulated inertia of a body with all bodies connected outward, $\begin{pmatrix}A & H\cr H^T & G\end{pmatrix}$ on linear and
/// angular velocity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inertia {
    linear: Matrix3<f64>,
    mixed: Matrix3<f64>,
    angular: Matrix3<f64>,
}

impl Inertia {
    /// Returns an inertia with all entries zero.
    pub(super) fn zero() -> Self {
        Self {
            linear: Matrix3::zeros(),
            mixed: Matrix3::zeros(),
            angular: Matrix3::zeros(),
        }
    }

    /// Returns the inertia of one body in the axes of space. `mass` is its mass matrix $\mathrm{diag}(mI, J)$, with the inertia
    /// tensor $J$ in body axes; `rotation` is its attitude, body to space.
    #[inline]
    pub(super) fn of_body(mass: &Matrix6<f64>, rotation: &Matrix3<f64>) -> Self {
        let own = mass.fixed_view::<3, 3>(3, 3);
        Self {
            linear: Matrix3::from_diagonal_element(mass[(0, 0)]),
            mixed: Matrix3::zeros(),
            angular: rotation * own * rotation.transpose(),
        }
    }

    /// Returns the momentum that belongs to a velocity: this inertia times the velocity.
    #[inline]
    pub(super) fn times(&self, velocity: &Twist) -> Twist {
        let (v, w) = (&velocity.linear, &velocity.angular);
        Twist {
            linear: self.linear * v + self.mixed * w,
            angular: self.mixed.tr_mul(v) + self.angular * w,
        }
    }

    /// Subtracts the matrix $pp^T$ from this inertia.
    #[inline]
    pub(super) fn subtract_square(&mut self, p: &Twist) {
        self.linear -= p.linear * p.linear.transpose();
        self.mixed -= p.linear * p.angular.transpose();
        self.angular -= p.angular * p.angular.transpose();
    }

    /// Adds the matrix $pp^T$ to this inertia.
    #[inline]
    pub(super) fn add_square(&mut self, p: &Twist) {
        self.linear += p.linear * p.linear.transpose();
        self.mixed += p.linear * p.angular.transpose();
        self.angular += p.angular * p.angular.transpose();
    }

    /// Adds the inertia of a second body that moves rigidly with this one. `offset` is the vector $d$ from the center of this
    /// body to that of the second (m). With the blocks $A$, $H$, $G$ of the second inertia (linear, mixed, angular) and the
    /// matrix $D$ of the cross product $d\times$, the blocks added are $A$, $H - AD$ and $G + D(H - AD) - H^TD$.
    #[inline]
    pub(super) fn add_carried(&mut self, other: &Self, offset: &Vector3<f64>) {
        let d = offset.cross_matrix();
        let mixed = other.mixed - other.linear * d;
        self.linear += other.linear;
        self.mixed += mixed;
        self.angular += other.angular + d * mixed - other.mixed.tr_mul(&d);
    }

    /// Returns this inertia as a 6 × 6 matrix that maps linear and angular velocity to momentum.
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
