//! Motion: user-defined worlds of rigid bodies and mechanisms, read from a file, and worlds with closed-form solutions.

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
mod pivot;
mod playback;
pub(crate) mod quadruped_landing;
pub(crate) mod rocking_motion;
mod scene;
pub(crate) mod slider_crank_clearance;
pub(crate) mod sliding_ball;
pub(crate) mod space_pendulum;
pub(crate) mod world;

use crate::ScenarioError;
use carom_impact::Law;
use carom_lie::So3;
use nalgebra::Vector3;

/// Largest deviation of the length of a quaternion w, x, y, z from 1: rounding of printed digits.
const UNIT_LENGTH: f64 = 1e-6;

/// Returns a note that a law ignores the restitution of the contacts, if it does: such a law has its own restitution.
fn ignored(key: &str, law: &Law) -> Option<String> {
    let info = law.info();
    (!info.uses.restitution).then(|| {
        format!(
            "restitution: `{}` ({key}) takes none from contacts",
            info.name
        )
    })
}

/// Checks that all entries of a list are finite.
pub(crate) fn finite(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(value) => Err(ScenarioError::value(key, format!("{value} must be finite"))),
        None => Ok(()),
    }
}

/// Checks that all entries of a list are finite and positive.
fn positive(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        Some(value) => {
            let message = format!("{value} must be positive");
            Err(ScenarioError::value(key, message))
        }
        None => Ok(()),
    }
}

/// Returns the rotation of a quaternion w, x, y, z.
pub(crate) fn unit_quaternion(key: &str, [w, x, y, z]: [f64; 4]) -> Result<So3, ScenarioError> {
    finite(key, &[w, x, y, z])?;
    let length = (w * w + x * x + y * y + z * z).sqrt();
    if (length - 1.0).abs() > UNIT_LENGTH {
        let message = format!("[{w}, {x}, {y}, {z}] has the length {length}, not 1");
        return Err(ScenarioError::value(key, message));
    }
    So3::from_quaternion(w, &Vector3::new(x, y, z))
        .ok_or_else(|| ScenarioError::value(key, "no rotation"))
}
