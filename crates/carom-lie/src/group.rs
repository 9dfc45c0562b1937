//! Lie group trait, implemented by SO(3) and SE(3).

use nalgebra::{SMatrix, SVector};

/// Matrix Lie group with an `N`-dimensional tangent space, such as the rotations or the rigid motions.
///
/// The functions of the trait are those needed to interpolate, to differentiate and to test on a group.
pub trait LieGroup<const N: usize>: Copy {
    /// Returns the identity element $e$ of the group.
    fn identity() -> Self;

    /// Returns the product $ab$ of `self` = $a$ and `other` = $b$. If the elements are motions, $b$ is applied first, then $a$.
    #[must_use]
    fn compose(&self, other: &Self) -> Self;

    /// Returns the inverse of this group element.
    #[must_use]
    fn inverse(&self) -> Self;

    /// Computes the exponential of a tangent vector at the identity, which is a group element.
    fn exp(tangent: &SVector<f64, N>) -> Self;

    /// Computes the logarithm of this group element: the shortest tangent vector at the identity whose exponential is the
    /// element.
    fn log(&self) -> SVector<f64, N>;

    /// Returns the adjoint matrix $\mathrm{Ad}_g$ of this group element $g$. The matrix satisfies $g\exp(\xi)g^{-1} =
    /// \exp(\mathrm{Ad}_g\xi)$ for every tangent vector $\xi$.
    fn adjoint(&self) -> SMatrix<f64, N, N>;

    /// Returns the matrix $\mathrm{ad} _\xi$ of the Lie bracket with the tangent vector $\xi$ (`tangent`): $\mathrm{ad} _\xi\eta =
    /// \lbrack\xi, \eta\rbrack$ for every tangent vector $\eta$.
    fn bracket(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N>;

    /// Computes the left Jacobian $J_l(\xi)$ of the exponential at a tangent vector $\xi$:
    /// $\exp(\xi + \delta) \approx \exp(J_l(\xi)\delta)\exp(\xi)$ for small $\delta$.
    fn left_jacobian(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N>;

    /// Computes the right Jacobian $J_r(\xi) = J_l(-\xi)$ of the exponential at a tangent vector $\xi$:
    /// $\exp(\xi + \delta) \approx \exp(\xi)\exp(J_r(\xi)\delta)$ for small $\delta$.
    fn right_jacobian(tangent: &SVector<f64, N>) -> SMatrix<f64, N, N> {
        Self::left_jacobian(&-tangent)
    }

    /// Returns a point of the geodesic from `self` = $g_0$ to `other` = $g_1$, $g_0\exp(s\log(g_0^{-1}g_1))$. `s` is the fraction
    /// of the geodesic: 0 at $g_0$, 1 at $g_1$. Values outside \[0, 1\] extrapolate.
    #[must_use]
    fn interpolate(&self, other: &Self, s: f64) -> Self {
        let step = self.inverse().compose(other).log();
        self.compose(&Self::exp(&(step * s)))
    }
}
