//! Forecast of sliding, before the impact is followed.

use super::impact::check;
use super::inertia::ContactInertia;
use super::invariant::{InvariantDirection, InvariantDirections, invariant_directions};
use super::options::ImpactOptions;
use super::recorder::Blind;
use super::solve::Run;
use crate::TwoBodyError;
use nalgebra::{Vector2, Vector3};
use std::f64::consts::TAU;

/// End of sliding if the impact lasts long enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipForecast {
    /// The direction that sliding turns to, or is in.
    pub target: InvariantDirection,
    /// True if the sliding velocity becomes zero.
    pub reaches_zero: bool,
    /// Normal impulse at which it does, N·s.
    pub impulse_at_zero: Option<f64>,
}

/// Forecasts sliding from a velocity $\gamma^-$ (tangential components); `None` if it is zero or there
/// is no friction.
///
/// $\theta$ drifts monotonically, in the direction of the sign of $g(\theta^-)$, to the next
/// invariant direction. If that one is centripetal sliding stops, at the normal impulse
/// $\rho^-\tau(\theta^-)$ with $\tau$ a function of the configuration alone; if it is centrifugal,
/// never. Jia & Wang, section 7, ask for such a prediction.
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

/// The next direction from an angle, upwards or downwards with the sign of the turning rate; the
/// nearest if there is no turning.
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
