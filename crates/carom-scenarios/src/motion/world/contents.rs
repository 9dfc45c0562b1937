//! Contents of a world, read without a run.

use super::World;
use super::config::Config;
use super::scheme::SchemeConfig;
use crate::config::Input;
use crate::{Overrides, ScenarioError};
use carom_report::Account;

/// Contents of a world of `carom run world`, read from its keys without a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// Number of bodies, with those of a robot and of `fill`.
    pub bodies: usize,
    /// Number of joints.
    pub joints: usize,
    /// Number of planes.
    pub planes: usize,
    /// Duration of the run (s).
    pub duration: f64,
    /// Impact laws, with the contacts that they resolve.
    pub laws: String,
}

impl Contents {
    /// Reads a world from the example, changed by `overrides`.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] that names key, value and place.
    pub fn read(overrides: &Overrides) -> Result<Self, ScenarioError> {
        let input = input(overrides)?;
        let (config, mut record) =
            World::read(&input, None).map_err(|error| input.locate(error))?;
        if config.scheme == SchemeConfig::TimeStepping {
            record
                .results
                .insert("scheme".to_owned(), "time-stepping".into());
            record.results.insert("law".to_owned(), "poisson".into());
        }
        let length = |list: Option<usize>| list.unwrap_or_default();
        let filled = config.fill.iter().flatten().map(|fill| fill.count);
        Ok(Self {
            bodies: length(config.bodies.as_ref().map(Vec::len)) + filled.sum::<usize>(),
            joints: length(config.joints.as_ref().map(Vec::len)),
            planes: length(config.planes.as_ref().map(Vec::len)),
            duration: config.duration,
            laws: Account::of(&record).laws.unwrap_or_default(),
        })
    }

    /// Checks that the text of a world is TOML with keys and types of a world. The values are checked by [`read`](Self::read) and
    /// by the run.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] that names key and place.
    pub fn check(overrides: &Overrides) -> Result<(), ScenarioError> {
        input(overrides)?.begin::<Config>().map(|_| ())
    }
}

fn input(overrides: &Overrides) -> Result<Input<'_>, ScenarioError> {
    Input::new("world", include_str!("../world.toml"), overrides)
}
