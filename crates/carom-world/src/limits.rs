//! Checks of the limits and sample times of a run.

use crate::MotionError;
use carom_motion::hybrid::Limits;

/// Returns an error if the duration of a run is negative or NaN, or if its sample times (s) are negative, not finite or not
/// ascending. An infinite duration is allowed: the run then ends for another reason.
pub(crate) fn check(
    limits: &Limits,
    samples: impl Iterator<Item = f64>,
) -> Result<(), MotionError> {
    let invalid = |what: &str, value, allowed| {
        Err(MotionError::InvalidValue {
            what: what.to_owned(),
            value,
            allowed,
        })
    };
    if !(limits.duration >= 0.0) {
        return invalid("duration", limits.duration, "at least 0");
    }
    let mut last = 0.0;
    for sample in samples {
        if !(sample >= last && sample.is_finite()) {
            return invalid("sample time", sample, "finite, at least 0 and ascending");
        }
        last = sample;
    }
    Ok(())
}
