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

/// Forecast of the end of sliding during an impact, provided that the impact lasts long enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipForecast {
    /// Invariant direction to which sliding turns, or in which it already is.
    pub target: InvariantDirection,
    /// True if the sliding velocity becomes zero.
    pub reaches_zero: bool,
    /// Normal impulse at which the sliding velocity becomes zero, N·s.
    pub impulse_at_zero: Option<f64>,
}

/// Predicts if and when a contact stops sliding during an impact, without computing the impact. `w` is the
/// inverse inertia matrix of the contact, `sliding` the tangential contact velocity $\gamma^-$ before the
/// impact and `friction` the friction coefficient. Returns `None` without sliding or without friction.
///
/// The sliding direction (polar angle $\theta$) turns monotonically to the next invariant direction, in which
/// sliding stays straight. If sliding slows down in that direction (centripetal), it stops at the normal
/// impulse $\rho^-\tau(\theta^-)$, with the initial sliding speed $\rho^-$ and direction $\theta^-$ and a
/// function $\tau$ that depends on inertia and friction alone. If sliding accelerates in that direction
/// (centrifugal), it never stops. Jia & Wang, section 7, ask for such a prediction.
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

/// Finds the direction in `list` that sliding meets next when it turns from `angle` (rad). The sign of `turning` is the
/// sense of rotation; if it is zero, the nearest direction is returned.
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
