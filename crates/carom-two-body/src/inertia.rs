//! Inverse inertia matrix of one contact.

use crate::TwoBodyError;
use crate::tolerances::INERTIA_ASYMMETRY;
use carom_numeric::decisions::Sum;
use carom_numeric::kernel::power_of_two_scale;
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// Inverse inertia matrix $W$ of a contact between two bodies: it maps an impulse $I$ at the contact to the
/// change of the contact velocity, $\Delta v = W I$.
///
/// Axes are those of the contact: $x$ and $y$ are tangential, $z$ is the normal. The matrix is split as
///
/// $$ W = \begin{pmatrix} B & d \cr d^T & w_{zz} \end{pmatrix}, \qquad
///    k_s = w_{zz} - d^T B^{-1} d = \frac{1}{(W^{-1})_{zz}}, $$
///
/// with the tangential block $B$ (2 × 2), the coupling $d$ of sliding and closing, which is zero for a central impact,
/// and the normal inverse inertia $k_s > 0$ of a contact that sticks. For two bodies with masses $m_i$, inertias $Q_i$
/// and arms $r_i$, $\hat r_i u = r_i \times u$,
///
/// $$ W = \sum_i \Bigl( \frac{1}{m_i} + \hat r_i^T Q_i^{-1} \hat r_i \Bigr), $$
///
/// Jia & Wang, Eqs. (3)-(5); for any other system $W = J M^{-1} J^T$ with its contact rows $J$ and mass matrix $M$.
/// Units: 1/kg for rows in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ContactInertia {
    pub(crate) b11: f64,
    pub(crate) b12: f64,
    pub(crate) b22: f64,
    pub(crate) d1: f64,
    pub(crate) d2: f64,
    pub(crate) wzz: f64,
    pub(crate) schur: f64,
    /// $B^{-1} d$: minus the tangential impulse per normal impulse of a contact that sticks.
    pub(crate) demand: [f64; 2],
}

impl ContactInertia {
    /// Creates the inverse inertia of a contact from a symmetric positive definite matrix (two tangents, then
    /// the normal).
    ///
    /// # Errors
    ///
    /// Returns [`TwoBodyError::ContactInertiaNonFinite`], [`TwoBodyError::ContactInertiaNotSymmetric`] above a relative
    /// asymmetry of $10^{-9}$ (below it the mean is used), [`TwoBodyError::ContactInertiaSingular`].
    ///
    /// # Examples
    ///
    /// A ball on a half-space, Jia & Wang, Fig. 2(b):
    ///
    /// ```
    /// use carom_two_body::ContactInertia;
    /// use nalgebra::Matrix3;
    /// let ball = ContactInertia::from_matrix(&Matrix3::from_diagonal(&[3.5, 3.5, 1.0].into()))?;
    /// assert_eq!(ball.schur(), 1.0);
    /// assert_eq!(ball.stick_demand(), 0.0);
    /// # Ok::<(), carom_two_body::TwoBodyError>(())
    /// ```
    pub fn from_matrix(w: &Matrix3<f64>) -> Result<Self, TwoBodyError> {
        Self::from_rounded(w, 1.0)
    }

    /// Creates the inverse inertia of a contact whose contact rows were projected onto constraints, such as joints. `amplified`
    /// is the factor by which the projection can amplify rounding errors: the largest ratio of a row's kinetic norm before the
    /// projection to the norm after it. The tolerance of the test for positive definiteness is multiplied by `amplified`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`from_matrix`](Self::from_matrix).
    pub fn from_rounded(w: &Matrix3<f64>, amplified: f64) -> Result<Self, TwoBodyError> {
        let size = w.amax();
        if !size.is_finite() || w.iter().any(|x| !x.is_finite()) {
            return Err(TwoBodyError::ContactInertiaNonFinite);
        }
        let asymmetry = (w - w.transpose()).amax();
        if asymmetry > INERTIA_ASYMMETRY * size {
            return Err(TwoBodyError::ContactInertiaNotSymmetric {
                asymmetry: asymmetry / size,
            });
        }
        let mean = |i: usize, j: usize| {
            let (a, b) = (w[(i, j)], w[(j, i)]);
            if a == b { a } else { 0.5 * a + 0.5 * b }
        };
        Self::factored(
            w[(0, 0)],
            mean(0, 1),
            w[(1, 1)],
            [mean(0, 2), mean(1, 2)],
            w[(2, 2)],
            // Rows that constraints make dependent leave pivots of up to a dozen units in the last place, whose sign changes
            // if the tangents are rotated.
            Sum::ROUNDING * amplified,
        )
    }

    /// Creates the inverse inertia of a planar contact from the 2 × 2 matrix $\begin{pmatrix} b & d \cr d & w \end{pmatrix}$
    /// (tangent, normal). The planar contact is treated as a spatial one, with an equal entry $b$ for the tangent perpendicular
    /// to the plane. A contact that slides in the plane never leaves the plane.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`from_matrix`](Self::from_matrix).
    pub fn planar(w: &Matrix2<f64>) -> Result<Self, TwoBodyError> {
        Self::from_matrix(&Self::of_plane(w))
    }

    /// Returns the 3 × 3 inverse inertia matrix (two tangents, normal) of a spatial contact from the 2 × 2 matrix `w` (tangent,
    /// normal) of a planar contact. The diagonal entry of the second tangent is that of the first one; the second tangent is not
    /// coupled with the others.
    pub fn of_plane(w: &Matrix2<f64>) -> Matrix3<f64> {
        let (b, wzz) = (w[(0, 0)], w[(1, 1)]);
        Matrix3::new(b, 0.0, w[(0, 1)], 0.0, b, 0.0, w[(1, 0)], 0.0, wzz)
    }

    fn factored(
        b11: f64,
        b12: f64,
        b22: f64,
        d: [f64; 2],
        wzz: f64,
        tolerance: f64,
    ) -> Result<Self, TwoBodyError> {
        let regular = |pivot: f64, diagonal: f64, tolerance: f64| {
            if pivot > tolerance * diagonal.abs() {
                Ok(())
            } else {
                Err(TwoBodyError::ContactInertiaSingular { pivot })
            }
        };
        // Cholesky factorization without square roots, B = L D L^T, and W with one more row.
        regular(b11, b11, tolerance)?;
        let l = b12 / b11;
        let pivot = b22 - l * b12;
        regular(pivot, b22, tolerance)?;
        let y2 = d[1] - l * d[0];
        let demand2 = y2 / pivot;
        let demand1 = d[0] / b11 - l * demand2;
        let schur = wzz - d[0] * (d[0] / b11) - y2 * demand2;
        // Rounding is a larger fraction of a small pivot.
        regular(schur, wzz, tolerance * (b22 / pivot))?;
        Ok(Self {
            b11,
            b12,
            b22,
            d1: d[0],
            d2: d[1],
            wzz,
            schur,
            demand: [demand1, demand2],
        })
    }

    /// Returns the inverse inertia matrix $W$ of the contact (3 × 3; two tangents, then the normal), which maps
    /// an impulse to a change of the contact velocity.
    pub fn matrix(&self) -> Matrix3<f64> {
        Matrix3::new(
            self.b11, self.b12, self.d1, self.b12, self.b22, self.d2, self.d1, self.d2, self.wzz,
        )
    }

    /// Returns the tangential block of the inverse inertia matrix of the contact (2 × 2).
    pub fn tangential(&self) -> Matrix2<f64> {
        Matrix2::new(self.b11, self.b12, self.b12, self.b22)
    }

    /// Returns the two entries of the inverse inertia matrix that couple the tangents with the normal: the
    /// change of the tangential velocity by a unit normal impulse. They are zero for a central impact.
    pub fn coupling(&self) -> Vector2<f64> {
        Vector2::new(self.d1, self.d2)
    }

    /// Returns the change of the contact velocity by an impulse: the inverse inertia matrix times `impulse`
    /// (two tangents, normal).
    #[inline]
    pub fn delta_velocity(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        let [x, y, z] = self.apply([impulse.x, impulse.y, impulse.z]);
        Vector3::new(x, y, z)
    }

    /// Returns the normal inverse inertia $k_s = 1/(W^{-1})_{zz}$ of a sticking contact, with the inverse inertia matrix $W$: the
    /// change of the normal velocity per unit of normal impulse while friction impulses prevent sliding.
    #[inline]
    pub fn schur(&self) -> f64 {
        self.schur
    }

    /// Returns the smallest friction coefficient with which the contact can stick, $\lvert B^{-1}d\rvert$ with
    /// the tangential block $B$ of the inverse inertia matrix and its coupling $d$ of tangents and normal. Jia
    /// & Wang, Eq. (34).
    pub fn stick_demand(&self) -> f64 {
        libm::hypot(self.demand[0], self.demand[1])
    }

    /// Returns the lower bound $w_{zz} - \mu\lvert d\rvert$ on the rate at which the normal velocity increases with the normal
    /// impulse. $\mu$ = `friction` is the friction coefficient, $w_{zz}$ the normal entry of the inverse inertia matrix, and $d$
    /// its coupling of tangents and normal. If the bound is positive, the normal velocity never decreases during the impact, Jia
    /// & Wang, Eq. (18).
    pub fn normal_margin(&self, friction: f64) -> f64 {
        self.wzz - friction * libm::hypot(self.d1, self.d2)
    }

    #[inline]
    pub(crate) fn apply(&self, i: [f64; 3]) -> [f64; 3] {
        [
            self.b11 * i[0] + self.b12 * i[1] + self.d1 * i[2],
            self.b12 * i[0] + self.b22 * i[1] + self.d2 * i[2],
            self.d1 * i[0] + self.d2 * i[1] + self.wzz * i[2],
        ]
    }

    /// Computes $B^{-1}x$ with the tangential 2 × 2 block $B$ of the inverse inertia matrix.
    #[inline]
    pub(crate) fn solve_tangential(&self, x: [f64; 2]) -> [f64; 2] {
        let l = self.b12 / self.b11;
        let y = (x[1] - l * x[0]) / (self.b22 - l * self.b12);
        [x[0] / self.b11 - l * y, y]
    }

    /// Returns the inverse inertia multiplied by `scale`. The factor must be a power of two, so that nothing is rounded.
    #[inline]
    pub(crate) fn scaled(&self, scale: f64) -> Self {
        Self {
            b11: self.b11 * scale,
            b12: self.b12 * scale,
            b22: self.b22 * scale,
            d1: self.d1 * scale,
            d2: self.d2 * scale,
            wzz: self.wzz * scale,
            schur: self.schur * scale,
            demand: self.demand,
        }
    }

    /// Returns the power of two that brings the largest diagonal entry of the inverse inertia matrix to about one.
    #[inline]
    pub(crate) fn unit_scale(&self) -> f64 {
        power_of_two_scale(self.b11.max(self.b22).max(self.wzz))
    }
}
