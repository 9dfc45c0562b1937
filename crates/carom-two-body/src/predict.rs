//! Forecast of sliding without computing the impact.

use super::impact::check;
use super::inertia::ContactInertia;
use super::invariant::{InvariantDirection, InvariantDirections, invariant_directions};
use super::options::ImpactOptions;
use super::recorder::Blind;
use super::solve::Run;
use crate::TwoBodyError;
use nalgebra::{Vector2, Vector3};
use std::f64::consts::TAU;

/// Prediction of the end of sliding during an impact, made by [`predict`] without computing the impact. The prediction assumes
/// that the impact lasts long enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipForecast {
    /// Invariant direction to which sliding turns, or in which it already is.
    pub target: InvariantDirection,
    /// True if the sliding velocity becomes zero.
    pub reaches_zero: bool,
    /// Normal impulse at which the sliding velocity becomes zero, N·s.
    pub impulse_at_zero: Option<f64>,
}

/// Predicts if and when a contact stops sliding during an impact, without computing the impact. `w` is the inverse inertia matrix
/// of the contact, `sliding` the tangential contact velocity $\gamma^-$ before the impact and `friction` the friction
/// coefficient. Returns `None` if the contact does not slide or has no friction.
///
/// The sliding direction (polar angle $\theta$) turns monotonically to the next invariant direction, in which sliding stays
/// straight. If the sliding speed decreases in that direction (centripetal), sliding stops at the normal impulse
/// $\rho^-\tau(\theta^-)$. $\rho^-$ and $\theta^-$ are the initial sliding speed and direction, and the function $\tau$ depends
/// on inertia and friction alone. If the sliding speed increases in that direction (centrifugal), sliding never stops. Jia &
/// Wang, section 7, ask for such a prediction.
///
/// # Errors
///
/// [`TwoBodyError::ContactVelocityNonFinite`], [`TwoBodyError::InvalidFriction`],
/// [`TwoBodyError::ImpactStepLimit`].
pub fn predict(
    w: &ContactInertia,
    sliding: &Vector2<f64>,
    friction: f64,
) -> Result<Option<SlipForecast>, TwoBodyError> {
    let velocity = Vector3::new(sliding.x, sliding.y, 0.0);
    check(&velocity, friction, 0.0)?;
    let scale = carom_numeric::kernel::power_of_two_scale(sliding.amax());
    let inertia_scale = carom_numeric::kernel::power_of_two_scale(w.size());
    let scaled = w.scaled(inertia_scale);
    let [x, y] = [sliding.x * scale, sliding.y * scale];
    if friction == 0.0 || (x == 0.0 && y == 0.0) {
        return Ok(None);
    }
    let options = ImpactOptions::default();
    let mut blind = Blind;
    let run = Run::new(&scaled, [x, y, 0.0], friction, 0.0, &options, &mut blind);
    let (f, g) = run.rates();
    let straight = InvariantDirection {
        angle: libm::atan2(y, x),
        lambda: f / inertia_scale,
        attracting: false,
    };
    let target = match invariant_directions(w, friction) {
        InvariantDirections::Discrete(list) => next(&list, straight.angle, g).unwrap_or(straight),
        InvariantDirections::All => straight,
    };
    let reaches_zero = target.lambda < 0.0;
    let impulse_at_zero = if reaches_zero {
        Some(run.duration()? * inertia_scale / scale)
    } else {
        None
    };
    Ok(Some(SlipForecast {
        target,
        reaches_zero,
        impulse_at_zero,
    }))
}

/// Finds the first direction in `list` that sliding reaches if its direction turns from the polar angle `angle` (rad). The sign
/// of `turning` is the sense of rotation; if `turning` is zero, the direction nearest to `angle` is returned. Returns `None` if
/// the list is empty.
fn next(list: &[InvariantDirection], angle: f64, turning: f64) -> Option<InvariantDirection> {
    let ahead = |candidate: &InvariantDirection| {
        let up = (candidate.angle - angle).rem_euclid(TAU);
        if turning > 0.0 {
            up
        } else if turning < 0.0 {
            TAU - up
        } else {
            up.min(TAU - up)
        }
    };
    list.iter()
        .min_by(|a, b| ahead(a).total_cmp(&ahead(b)))
        .copied()
}
