//! Saltation: the linear map of a small difference through an event of a flow.

use crate::tolerances::NEGLIGIBLE;
use carom_contact::ImpactError;
use nalgebra::{DMatrix, DVector};

/// Computes the saltation matrix of an event in a hybrid system: the linear map from small differences of the state before
/// the event to small differences after it. The guard is the surface in state space that triggers the event. If the flow
/// crosses the guard transversally, the matrix is
///
/// $$ \Xi = R_x + \frac{(F^+ - R_xF^-) g^T}{g\cdot F^- + g_t}, $$
///
/// with the Jacobian $R_x$ (m × n) of the reset map, the flows $F^-$ (n entries) before and $F^+$ (m entries) after the
/// event, and the gradient $g$ (n entries) and time derivative $g_t$ of the guard. If the reset depends on time, the
/// caller must subtract its time derivative $R_t$ from $F^+$.
///
/// Kong, Payne, Zhu & Johnson, *Saltation matrices*, arXiv 2306.06862.
///
/// # Errors
///
/// Returns [`ImpactError::Grazing`] if the flow does not cross the guard, $|g\cdot F^- + g_t| \le 10^{-9}(\lVert
/// g\rVert\lVert F^-\rVert + |g_t|)$; [`ImpactError::InvalidDirection`] for sizes that do not match.
///
/// # Examples
///
/// A ball that falls at 2 m/s onto the ground, with restitution $e = 1/2$ and gravity 10 m/s²:
///
/// ```
/// use carom_derivative::saltation;
/// use nalgebra::{dmatrix, dvector};
/// let reset = dmatrix![1.0, 0.0; 0.0, -0.5];
/// let guard = dvector![1.0, 0.0];
/// let (minus, plus) = (dvector![-2.0, -10.0], dvector![1.0, -10.0]);
/// let xi = saltation(&reset, &minus, &plus, &guard, 0.0)?;
/// assert!((xi - dmatrix![-0.5, 0.0; 7.5, -0.5]).amax() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
pub fn saltation(
    reset: &DMatrix<f64>,
    f_minus: &DVector<f64>,
    f_plus: &DVector<f64>,
    guard_gradient: &DVector<f64>,
    guard_rate: f64,
) -> Result<DMatrix<f64>, ImpactError> {
    for (what, expected, found) in [
        ("flow before", reset.ncols(), f_minus.len()),
        ("flow after", reset.nrows(), f_plus.len()),
        ("guard gradient", reset.ncols(), guard_gradient.len()),
    ] {
        if expected != found {
            return Err(ImpactError::InvalidDirection {
                what,
                expected,
                found,
            });
        }
    }
    let rate = guard_gradient.dot(f_minus) + guard_rate;
    let size = guard_gradient.norm() * f_minus.norm() + guard_rate.abs();
    if !(rate.abs() > NEGLIGIBLE * size) {
        return Err(ImpactError::Grazing { rate });
    }
    let jump = f_plus - reset * f_minus;
    Ok(reset + jump * guard_gradient.transpose() / rate)
}
