//! Lie group trait, implemented by SO(3) and SE(3).

use nalgebra::{SMatrix, SVector};

/// Matrix Lie group with an `N`-dimensional tangent space, such as the rotations or the rigid motions.
///
/// It contains what is needed to interpolate, differentiate and test on a group.
pub trait LieGroup<const N: usize>: Copy {
    /// Identity element $e$.
    fn identity() -> Self;

    /// Product $ab$ of `self` = $a$ and `other` = $b$; as a motion, $b$ acts first.
    #[must_use]
    fn compose(&self, other: &Self) -> Self;

    /// Inverse element.
    #[must_use]
    fn inverse(&self) -> Self;

    /// Exponential map of a tangent vector.
    fn exp(tangent: &SVector<f64, N>) -> Self;

    /// Logarithm: the shortest tangent vector whose exponential is this element.
    fn log(&self) -> SVector<f64, N>;

    /// Adjoint matrix $\mathrm{Ad}_g$ of this element $g$: $g\exp(\xi)g^{-1} = \exp(\mathrm{Ad}_g\xi)$.
    fn adjoint(&self) -> SMatrix<f64, N, N>;

    /// Matrix of the Lie bracket with a tangent vector $\xi$: $\mathrm{ad}_\xi\eta = \lbrack\xi, \eta\rbrack$.
    fn bracket(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N>;

    /// Left Jacobian $J_l(\xi)$ of the exponential: $\exp(\xi + \delta) \approx \exp(J_l(\xi)\delta)\exp(\xi)$.
    fn left_jacobian(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N>;

    /// Right Jacobian $J_r(\xi) = J_l(-\xi)$ of the exponential: $\exp(\xi + \delta) \approx \exp(\xi)\exp(J_r(\xi)\delta)$.
    fn right_jacobian(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N> {
        Self::left_jacobian(&-tangent)
    }

    /// Point at fraction `s` of the geodesic from `self` = $g_0$ (`s` = 0) to `other` = $g_1$ (`s` = 1),
    /// $g_0\exp(s\log(g_0^{-1}g_1))$. Values of `s` outside \[0, 1\] extrapolate.
    #[must_use]
    fn interpolate(&self, other: &Self, s: f64) -> Self {
        let step = self.inverse().compose(other).log();
        self.compose(&Self::exp(&(step * s)))
    }
}
