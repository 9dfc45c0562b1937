//! Jacobian of any impact law by differences of its answers.

use carom_contact::{ImpactError, ImpactLaw, ImpactProblem};
use carom_metric::{Tangent, kernel};
use nalgebra::{DMatrix, DVector};

/// Largest step, as a fraction of the motion that contacts can change.
const LARGEST: f64 = 1.0 / 256.0;

/// Number of steps, each half of the one before. The smallest is 1e-5 of the motion: rounding then is $10^{-11}$ of it.
const STEPS: i32 = 10;

/// Jacobian of the velocity after an impact by differences, returned by [`by_differences`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Differences {
    /// Jacobian $\partial v^+_i/\partial v^-_j$ (n × n) for changes of the velocity $v^-$ that satisfy the constraints. At a kink
    /// it is the mean of the two sides.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub dv_dv: DMatrix<f64>,
    /// Estimate of the largest error of an entry. It is about half the difference of the sides at a kink, and large at a jump.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub error: f64,
}

/// A limit for steps to zero, and its estimated error.
struct Limit {
    value: DVector<f64>,
    error: f64,
}

/// Differentiates the outcome of any law with respect to the velocity before the impact, by central differences of its answers
/// that are extrapolated to steps of zero. The law is asked $20n + 1$ times for n velocities.
///
/// Use [`differentiate`](crate::differentiate) for the laws of `carom-impact`: its derivatives are exact, and it tells kinks and
/// jumps apart.
///
/// # Errors
///
/// Returns the error of the law at the problem, or if the law has too few answers nearby.
///
/// # Examples
///
/// ```
/// use carom_derivative::by_differences;
/// use carom_impact::{Contact, ContactSet, ImpactProblem, Plastic};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::{DMatrix, dmatrix};
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// // The floor takes away the normal velocity.
/// let falling = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let found = by_differences(&Plastic::default(), &falling)?;
/// assert!((found.dv_dv - dmatrix![1.0, 0.0; 0.0, 0.0]).amax() < 1e-12 && found.error < 1e-9);
/// // A ball that moves along the floor feels it on one side only.
/// let sliding = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, 0.0]))?;
/// assert!(by_differences(&Plastic::default(), &sliding)?.error > 0.4);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
pub fn by_differences(
    law: &dyn ImpactLaw,
    problem: &ImpactProblem,
) -> Result<Differences, ImpactError> {
    let own = law.resolve(problem)?.velocity_plus.0;
    let mut dv_dv = DMatrix::zeros(own.len(), own.len());
    let mut error = 0.0f64;
    for (j, mut column) in dv_dv.column_iter_mut().enumerate() {
        let limit = along(law, problem, &own, j)?;
        column.copy_from(&limit.value);
        error = error.max(limit.error);
    }
    Ok(Differences { dv_dv, error })
}

/// Returns the derivative of the outcome along the velocity `j`, or what the constraints leave of it. `own` is the velocity after
/// the impact.
fn along(
    law: &dyn ImpactLaw,
    problem: &ImpactProblem,
    own: &DVector<f64>,
    j: usize,
) -> Result<Limit, ImpactError> {
    let contacts = problem.contacts();
    let metric = contacts.metric();
    let mut direction = DVector::zeros(own.len());
    direction[j] = 1.0;
    let mut whitened = DVector::zeros(own.len());
    metric.whiten_velocity_into(direction.as_slice(), whitened.as_mut_slice());
    let unit = kernel::norm(whitened.as_slice());
    if let Some(basis) = contacts.constraint_basis() {
        whitened -= basis * basis.tr_mul(&whitened);
        metric.unwhiten_velocity_in_place(whitened.as_mut_slice());
        direction = whitened;
    }
    let event = problem.event();
    let motion = event.norm() / event.scale();
    let speed = if motion > 0.0 { motion } else { 1.0 };
    let mut sides = [Vec::new(), Vec::new(), Vec::new()];
    let (mut failed, mut rounding) = (None, 0.0);
    for k in 0..STEPS {
        let step = LARGEST * carom_numeric::power(0.5, k) * speed / unit;
        let at = |step: f64| {
            let moved = &problem.velocity_minus().0 + &direction * step;
            let moved = ImpactProblem::reposed(contacts, Tangent(moved))?;
            Ok(law.resolve(&moved)?.velocity_plus.0)
        };
        match at(step).and_then(|ahead| Ok((ahead, at(-step)?))) {
            Ok((ahead, behind)) => {
                rounding = f64::EPSILON * own.amax() / step;
                sides[0].push((&ahead - &behind) / (2.0 * step));
                sides[1].push((ahead - own) / step);
                sides[2].push((own - behind) / step);
            }
            // Extrapolation needs steps in a row.
            Err(error) => {
                failed = Some(error);
                sides.iter_mut().for_each(Vec::clear);
            }
        }
    }
    let orders = [2, 1, 1];
    let [central, ahead, behind] =
        [0, 1, 2].map(|side| limit(&sides[side], orders[side], rounding));
    match (central, ahead, behind, failed) {
        (Some(mut central), Some(ahead), Some(behind), _) => {
            let apart = 0.5 * (ahead.value - behind.value).amax();
            central.error = central.error.max(apart);
            Ok(central)
        }
        (.., Some(error)) => Err(error),
        _ => Err(ImpactError::NotDifferentiated {
            reason: "the law has no answers nearby",
        }),
    }
}

/// Extrapolates differences, whose steps are halved, to steps of zero (Ridders 1982): their error is a series in powers of the step
/// to the power `order`. Of all extrapolations the one with the smallest error is chosen. `rounding` is the error of the
/// last difference by rounding. `None` without differences.
fn limit(differences: &[DVector<f64>], order: i32, rounding: f64) -> Option<Limit> {
    let mut best: Option<Limit> = None;
    let mut last: Vec<DVector<f64>> = Vec::new();
    for (i, difference) in differences.iter().enumerate() {
        let mut row = vec![difference.clone()];
        let halvings = (differences.len() - 1 - i) as i32;
        let noise = rounding * carom_numeric::power(0.5, halvings);
        for (k, above) in last.iter().enumerate() {
            let factor = carom_numeric::power(2.0, order * (k as i32 + 1));
            let value = (&row[k] * factor - above) / (factor - 1.0);
            let changes = [&row[k], above].map(|from| (&value - from).amax());
            let error = changes[0].max(changes[1]).max(noise);
            if best.as_ref().is_none_or(|best| error < best.error) {
                let value = value.clone();
                best = Some(Limit { value, error });
            }
            row.push(value);
        }
        last = row;
    }
    let only = differences.first().map(|value| Limit {
        value: value.clone(),
        error: f64::INFINITY,
    });
    best.or(only)
}
