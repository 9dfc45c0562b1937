//! Motion: worlds of rigid bodies and mechanisms of one's own, from a file, and worlds with closed forms.

pub(crate) mod ball_pit;
pub(crate) mod box_stack;
pub(crate) mod cradle_in_space;
pub(crate) mod dominoes;
pub(crate) mod elastic_gas;
mod figures;
pub(crate) mod galton_board;
mod heap;
pub(crate) mod incline;
pub(crate) mod mechanism;
mod pivot;
mod playback;
pub(crate) mod rocking_motion;
mod scene;
pub(crate) mod sliding_ball;
pub(crate) mod world;

use crate::ScenarioError;
use carom_impact::Law;

/// Says that a law does not take the restitution of contacts, if so: the law's own counts.
fn ignored(key: &str, law: &Law) -> Option<String> {
    let info = law.info();
    (!info.uses.restitution).then(|| {
        format!(
            "restitution: `{}` ({key}) takes none from contacts",
            info.name
        )
    })
}

/// Every entry of a list must be finite.
fn finite(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(value) => Err(ScenarioError::value(key, format!("{value} must be finite"))),
        None => Ok(()),
    }
}

/// Every entry of a list must be finite and positive.
fn positive(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        Some(value) => {
            let message = format!("{value} must be positive");
            Err(ScenarioError::value(key, message))
        }
        None => Ok(()),
    }
}
