//! Motion: user-defined worlds of rigid bodies and mechanisms, read from a file, and worlds with closed-form solutions.

mod balance;
pub(crate) mod ball_pit;
pub(crate) mod box_stack;
pub(crate) mod cat;
pub(crate) mod chain_over_edge;
pub(crate) mod cradle_in_space;
pub(crate) mod dominoes;
pub(crate) mod elastic_gas;
mod figures;
pub(crate) mod galton_board;
mod heap;
pub(crate) mod incline;
mod linkage;
pub(crate) mod mechanism;
pub(crate) mod model;
mod pivot;
pub(crate) mod playback;
pub(crate) mod quadruped_landing;
pub(crate) mod rocking_motion;
mod scene;
pub(crate) mod scope;
pub(crate) mod slider_crank_clearance;
pub(crate) mod sliding_ball;
pub(crate) mod space_pendulum;
pub(crate) mod world;

use crate::ScenarioError;
use carom_impact::Law;
use carom_lie::So3;

/// Returns a note for the record if an impact law ignores the restitution coefficients of the contacts, because the law has
/// its own restitution; otherwise `None`. `key`: configuration key of the law.
fn ignored(key: &str, law: &Law) -> Option<String> {
    let info = law.info();
    (!info.uses.restitution).then(|| {
        format!(
            "restitution: `{}` ({key}) takes none from contacts",
            info.name
        )
    })
}

/// Checks that all numbers of a list are finite. Errors name the configuration key `key`.
pub(crate) fn finite(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(value) => Err(ScenarioError::value(key, format!("{value} must be finite"))),
        None => Ok(()),
    }
}

/// Checks that all numbers of a list are finite and positive. Errors name the configuration key `key`.
fn positive(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        Some(value) => {
            let message = format!("{value} must be positive");
            Err(ScenarioError::value(key, message))
        }
        None => Ok(()),
    }
}

/// Returns the number of steps of a run, at most `most`. Errors name the configuration key `key` of the duration.
fn count_steps(
    key: &str,
    duration: f64,
    time_step: f64,
    most: usize,
) -> Result<usize, ScenarioError> {
    let steps = (duration / time_step).ceil() as usize;
    crate::config::count(key, steps, 0, most).map(|()| steps)
}

/// Converts the quaternion w, x, y, z to a rotation. Errors, such as a wrong length, name the configuration key `key`.
pub(crate) fn unit_quaternion(key: &str, quaternion: [f64; 4]) -> Result<So3, ScenarioError> {
    crate::config::normalized(quaternion).map_err(|message| ScenarioError::value(key, message))
}
