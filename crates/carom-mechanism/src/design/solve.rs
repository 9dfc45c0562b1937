//! Solvers for underdetermined equations.

use super::{Bound, Equations};
use crate::DesignError;
use carom_numeric::decisions::RANK;
use nalgebra::{DMatrix, DVector};

/// Stopping criteria of a search for a root of design equations: tolerances, and the largest number of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct RootOptions {
    /// Largest absolute residual of a root, in the units of the equations. A larger tolerance ends the search earlier, with a
    /// less accurate root.
    pub tolerance: f64,
    /// Largest last step of [`nearest_root`], as a fraction of one plus the distance from the start. A larger tolerance ends the
    /// search earlier, with a less accurate result. [`min_norm_newton`] does not use this option.
    pub step_tolerance: f64,
    /// Largest number of steps. If a search needs more, it returns an error.
    pub max_iterations: usize,
}

impl RootOptions {
    /// Returns an error if a tolerance is out of range.
    fn check(&self) -> Result<(), DesignError> {
        let tolerances = [
            ("tolerance", self.tolerance),
            ("step_tolerance", self.step_tolerance),
        ];
        let out = tolerances.iter().find(|(_, t)| !(*t > 0.0 && *t < 1.0));
        let (what, value, allowed) = match out {
            Some(&(what, value)) => (what, value, "in (0, 1)"),
            None if self.max_iterations == 0 => ("max_iterations", 0.0, "at least 1"),
            None => return Ok(()),
        };
        Err(DesignError::InvalidOption {
            what,
            value,
            allowed,
        })
    }
}

impl Default for RootOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-13,
            step_tolerance: 1e-11,
            max_iterations: 100,
        }
    }
}

carom_numeric::setters!(RootOptions {
    /// Sets the largest absolute residual of a root, in the units of the equations.
    with_tolerance: tolerance, f64;
    /// Sets the largest last step of [`nearest_root`], as a fraction of one plus the distance from the start.
    with_step_tolerance: step_tolerance, f64;
    /// Sets the largest number of steps.
    with_max_iterations: max_iterations, usize;
});

/// Root of design equations, found by [`min_norm_newton`] or [`nearest_root`], with its residual and its distance from the
/// starting point.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Root {
    /// Unknowns at the root.
    pub unknowns: Vec<f64>,
    /// Largest absolute residual.
    pub residual: f64,
    /// Number of steps.
    pub iterations: usize,
    /// Distance $\sqrt{\sum_j((z_j - z_{0j})/s_j)^2}$ from the start $z_0$ with the scales $s_j$. Unknowns with the scale 0 do
    /// not count.
    pub distance: f64,
}

/// Finds a root $z$ of underdetermined equations $F(z) = 0$ near `start` (one entry per unknown). Each step is the Newton step
/// of minimum length, with the Jacobian $J$ of $F$:
///
/// $$ z \leftarrow z - WJ^T(JWJ^T)^{-1}F, \qquad W = \mathrm{diag}(s_j^2) . $$
///
/// `scales` are the lengths $s_j \ge 0$ in which the unknowns are measured; a scale of zero keeps an unknown constant. Steps are
/// shortened at the bounds, so that a search that would cross a bound stalls there. Convergence is quadratic near a root; from
/// far away the method may not converge.
///
/// # Errors
///
/// [`DesignError::InvalidOption`], [`DesignError::DimensionMismatch`], [`DesignError::NonFinite`],
/// [`DesignError::InvalidScale`], [`DesignError::OutOfBounds`] at the start, [`DesignError::SingularConstraint`] if the equations depend on each other, [`DesignError::NotConverged`], and the
/// errors of the equations.
///
/// # Examples
///
/// The point of the unit circle that the method finds from (3, 4) lies on the ray through that point:
///
/// ```
/// use carom_mechanism::DesignError;
/// use carom_mechanism::design::{Equations, RootOptions, min_norm_newton};
/// use nalgebra::{DMatrix, DVector};
/// struct Circle;
/// impl Equations for Circle {
///     fn count(&self) -> usize {
///         1
///     }
///     fn unknowns(&self) -> usize {
///         2
///     }
///     fn evaluate(
///         &self,
///         z: &[f64],
///         residual: &mut DVector<f64>,
///         jacobian: &mut DMatrix<f64>,
///     ) -> Result<(), DesignError> {
///         residual[0] = z[0] * z[0] + z[1] * z[1] - 1.0;
///         jacobian[(0, 0)] = 2.0 * z[0];
///         jacobian[(0, 1)] = 2.0 * z[1];
///         Ok(())
///     }
/// }
/// let root = min_norm_newton(&Circle, &[3.0, 4.0], &[1.0, 1.0], &RootOptions::default())?;
/// assert!((root.unknowns[0] - 0.6).abs() < 1e-13 && (root.unknowns[1] - 0.8).abs() < 1e-13);
/// assert!((root.distance - 4.0).abs() < 1e-13);
/// # Ok::<(), DesignError>(())
/// ```
pub fn min_norm_newton(
    equations: &impl Equations,
    start: &[f64],
    scales: &[f64],
    options: &RootOptions,
) -> Result<Root, DesignError> {
    options.check()?;
    let mut search = Search::new(equations, start, scales)?;
    for iterations in 0..=options.max_iterations {
        search.evaluate(iterations)?;
        if search.residual.amax() <= options.tolerance {
            return Ok(search.root(iterations));
        }
        let step = -search.shortest(&search.residual)?;
        search.walk(&step);
    }
    Err(search.not_converged(options))
}

/// Finds the root of underdetermined equations $F(z) = 0$ nearest to `start` ($z_0$): minimizes $\lVert z - z_0\rVert$, in which
/// the difference of each unknown is divided by its entry of `scales`. With the Jacobian $J$ of $F$ and the diagonal matrix $W$
/// of the squared scales, the steps are
///
/// $$ z \leftarrow z_0 - WJ^T(JWJ^T)^{-1}\bigl(F - J(z - z_0)\bigr) . $$
///
/// In the limit $z - z_0$ is a linear combination of the columns of $WJ^T$, which is the condition for the nearest root.
/// Convergence is linear; it is faster if $J$ changes less between $z_0$ and the root.
///
/// # Errors
///
/// The errors of [`min_norm_newton`].
pub fn nearest_root(
    equations: &impl Equations,
    start: &[f64],
    scales: &[f64],
    options: &RootOptions,
) -> Result<Root, DesignError> {
    options.check()?;
    let mut search = Search::new(equations, start, scales)?;
    for iterations in 0..=options.max_iterations {
        search.evaluate(iterations)?;
        let away = search.away();
        let residual = &search.residual - &search.scaled_jacobian * &away;
        let step = -&away - search.shortest(&residual)?;
        let arrived = step.norm() <= options.step_tolerance * (1.0 + away.norm());
        if arrived && search.residual.amax() <= options.tolerance {
            return Ok(search.root(iterations));
        }
        search.walk(&step);
    }
    Err(search.not_converged(options))
}

/// Iterate of a search; steps are measured in the scales.
struct Search<'a, E> {
    equations: &'a E,
    bounds: Vec<Bound>,
    scales: DVector<f64>,
    start: DVector<f64>,
    z: DVector<f64>,
    residual: DVector<f64>,
    /// Scaled Jacobian $JW^{1/2}$.
    scaled_jacobian: DMatrix<f64>,
}

impl<'a, E: Equations> Search<'a, E> {
    fn new(equations: &'a E, start: &[f64], scales: &[f64]) -> Result<Self, DesignError> {
        let (count, expected) = (equations.count(), equations.unknowns());
        for (what, found) in [("start", start.len()), ("scales", scales.len())] {
            if found != expected {
                return Err(DesignError::DimensionMismatch {
                    what,
                    expected,
                    found,
                });
            }
        }
        if start.iter().any(|z| !z.is_finite()) {
            return Err(DesignError::NonFinite {
                what: "start",
                iteration: 0,
            });
        }
        for (unknown, &value) in scales.iter().enumerate() {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(DesignError::InvalidScale { unknown, value });
            }
        }
        let bounds = equations.bounds();
        for (bound, slack) in bounds.iter().map(|b| b.slack(start)).enumerate() {
            // This also catches NaN.
            if slack.is_nan() || slack <= 0.0 {
                return Err(DesignError::OutOfBounds { bound, slack });
            }
        }
        let start = DVector::from_column_slice(start);
        Ok(Self {
            equations,
            bounds,
            scales: DVector::from_column_slice(scales),
            z: start.clone(),
            start,
            residual: DVector::zeros(count),
            scaled_jacobian: DMatrix::zeros(count, expected),
        })
    }

    fn evaluate(&mut self, iteration: usize) -> Result<(), DesignError> {
        let z = self.z.as_slice();
        self.equations
            .evaluate(z, &mut self.residual, &mut self.scaled_jacobian)?;
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let what = "equations";
        if !(finite(self.residual.as_slice()) && finite(self.scaled_jacobian.as_slice())) {
            return Err(DesignError::NonFinite { what, iteration });
        }
        for (mut column, scale) in self.scaled_jacobian.column_iter_mut().zip(&self.scales) {
            column *= *scale;
        }
        Ok(())
    }

    /// Returns the shortest vector $x$ with $JW^{1/2}x = f$, computed by a QR factorization. $J$ is the Jacobian of the design
    /// equations, $W^{1/2}$ the diagonal matrix of the scales of the unknowns, and $f$ has one entry per equation.
    fn shortest(&self, f: &DVector<f64>) -> Result<DVector<f64>, DesignError> {
        let mut columns = self.scaled_jacobian.transpose();
        let mut right = f.clone();
        for (equation, mut column) in columns.column_iter_mut().enumerate() {
            let norm = column.norm();
            if norm == 0.0 {
                return Err(DesignError::SingularConstraint { equation });
            }
            column /= norm;
            right[equation] /= norm;
        }
        if columns.ncols() > columns.nrows() {
            let equation = columns.nrows();
            return Err(DesignError::SingularConstraint { equation });
        }
        let (q, r) = columns.qr().unpack();
        for equation in 0..r.nrows() {
            if r[(equation, equation)].abs() < RANK {
                return Err(DesignError::SingularConstraint { equation });
            }
        }
        // R^T is lower triangular: forward substitution.
        for i in 0..right.len() {
            let known: f64 = (0..i).map(|j| r[(j, i)] * right[j]).sum();
            right[i] = (right[i] - known) / r[(i, i)];
        }
        Ok(q * right)
    }

    /// Returns the change of the unknowns from the start, each divided by its scale: $W^{-1/2}(z - z_0)$. The entry is zero for
    /// an unknown that is kept constant (scale 0).
    fn away(&self) -> DVector<f64> {
        let moved = &self.z - &self.start;
        moved.zip_map(&self.scales, |dz, s| if s > 0.0 { dz / s } else { 0.0 })
    }

    fn walk(&mut self, step: &DVector<f64>) {
        let step = step.component_mul(&self.scales);
        let part = self
            .bounds
            .iter()
            .map(|bound| bound.clip(self.z.as_slice(), step.as_slice()))
            .fold(1.0, f64::min);
        self.z.axpy(part, &step, 1.0);
    }

    fn root(&self, iterations: usize) -> Root {
        Root {
            unknowns: self.z.as_slice().to_vec(),
            residual: self.residual.amax(),
            iterations,
            distance: self.away().norm(),
        }
    }

    fn not_converged(&self, options: &RootOptions) -> DesignError {
        DesignError::NotConverged {
            iterations: options.max_iterations,
            residual: self.residual.amax(),
        }
    }
}
