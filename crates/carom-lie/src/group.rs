//! The trait that SO(3) and SE(3) implement.

use nalgebra::{SMatrix, SVector};

/// A matrix Lie group with `N`-dimensional tangent space, in the conventions of the
/// [crate](crate).
///
/// Code that interpolates, differentiates or tests on a group needs no more than this.
pub trait LieGroup<const N: usize>: Copy {
    /// The neutral element $e$.
    fn identity() -> Self;

    /// The product $ab$: first `other` = $b$, then `self` = $a$.
    #[must_use]
    fn compose(&self, other: &Self) -> Self;

    /// The inverse element.
    #[must_use]
    fn inverse(&self) -> Self;

    /// The exponential of a tangent vector.
    fn exp(tangent: &SVector<f64, N>) -> Self;

    /// The shortest tangent vector whose exponential this is.
    fn log(&self) -> SVector<f64, N>;

    /// The adjoint matrix, $g\exp(\xi)g^{-1} = \exp(\mathrm{Ad}_g\xi)$.
    fn adjoint(&self) -> SMatrix<f64, N, N>;

    /// The Lie bracket as a matrix, $\mathrm{ad}_\xi\eta = \lbrack\xi, \eta\rbrack$.
    fn bracket(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N>;

    /// $J_l$ of $\exp(\xi + \delta) \approx \exp(J_l(\xi)\delta)\exp(\xi)$.
    fn left_jacobian(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N>;

    /// $J_r$ of $\exp(\xi + \delta) \approx \exp(\xi)\exp(J_r(\xi)\delta)$; $J_r(\xi) = J_l(-\xi)$.
    fn right_jacobian(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N> {
        Self::left_jacobian(&-tangent)
    }

    /// The point at fraction `s` of the geodesic from `self` (0) to `other` (1),
    /// $g_0\exp(s\log(g_0^{-1}g_1))$. Values outside \[0, 1\] extrapolate.
    #[must_use]
    fn interpolate(&self, other: &Self, s: f64) -> Self {
        let step = self.inverse().compose(other).log();
        self.compose(&Self::exp(&(step * s)))
    }
}
