//! Named scenarios.

use crate::config::{self, Overrides};
use crate::{Record, ScenarioError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a scenario's configuration type must do.
pub(crate) trait Configuration: Default + Serialize + DeserializeOwned {
    /// The defaults as commented TOML, ready to edit.
    const TOML: &'static str;
}

/// A named, configurable run that reproduces something.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Name on the command line and of its golden record.
    pub name: &'static str,
    /// One line on what it shows.
    pub summary: &'static str,
    /// Paper that it comes from.
    pub paper: &'static str,
    /// Figure, table or example of the paper that it reproduces.
    pub reproduces: &'static str,
    /// The default configuration as commented TOML.
    pub default_toml: &'static str,
    runner: fn(&Overrides) -> Result<Record, ScenarioError>,
}

impl Scenario {
    pub(crate) const fn new<C: Configuration>(
        name: &'static str,
        summary: &'static str,
        paper: &'static str,
        reproduces: &'static str,
        runner: fn(&Overrides) -> Result<Record, ScenarioError>,
    ) -> Self {
        Self {
            name,
            summary,
            paper,
            reproduces,
            default_toml: C::TOML,
            runner,
        }
    }

    /// Runs the scenario with its defaults as overridden.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`]; nothing is written anywhere.
    pub fn run(&self, overrides: &Overrides) -> Result<Record, ScenarioError> {
        let mut record = (self.runner)(overrides)?;
        record.scenario = self.name.to_owned();
        record.summary = self.summary.to_owned();
        match record.non_finite() {
            Some(path) => Err(ScenarioError::Config {
                message: format!("the configuration leads to a non-finite result at {path}"),
            }),
            None => Ok(record),
        }
    }
}

/// Reads the configuration and starts the record with it.
pub(crate) fn begin<C: Configuration>(overrides: &Overrides) -> Result<(C, Record), ScenarioError> {
    let config: C = config::read(overrides)?;
    let mut record = Record::new("", "");
    record.parameters = config::parameters(&config);
    Ok((config, record))
}

/// Every scenario, in the order of the papers.
pub const SCENARIOS: &[Scenario] = &[
    crate::newtons_cradle::SCENARIO,
    crate::reflection_wedge::SCENARIO,
    crate::billiard_break::SCENARIO,
    crate::falling_block::SCENARIO,
    crate::light_ball::SCENARIO,
    crate::rack_break::SCENARIO,
    crate::plate_on_legs::SCENARIO,
    crate::orthogonal_corner::SCENARIO,
    crate::pair_map::SCENARIO,
    crate::three_ball_masses::SCENARIO,
    crate::simultaneous::rocking_block::SCENARIO,
    crate::simultaneous::compass_gait::SCENARIO,
    crate::simultaneous::box_and_wall::SCENARIO,
    crate::simultaneous::ramone::SCENARIO,
    crate::simultaneous::disk_stack::SCENARIO,
    crate::zeno_block::SCENARIO,
    crate::icosahedron_tetrahedron::SCENARIO,
    crate::pin_and_ball::SCENARIO,
    crate::hodographs::SCENARIO,
    crate::hodograph_bundles::SCENARIO,
    crate::euler_schemes::SCENARIO,
    crate::ball_impacts::SCENARIO,
    crate::recompression::SCENARIO,
    crate::restitution_laws::SCENARIO,
    crate::tangential_compliance::SCENARIO,
    crate::bouncing::BOUNCING_BODY,
    crate::bouncing::ELLIPSOID_HORIZONTAL,
    crate::bouncing::ELLIPSOID_TILTED,
    crate::bouncing::ELLIPSOID_UNION,
    crate::bouncing::CUBE,
    crate::bouncing::DUMBBELL,
    crate::bouncing::TETRAHEDRON,
    crate::penny::SCENARIO,
    crate::penny_figures::SCENARIO,
    crate::penny_cloud::SCENARIO,
    crate::penny_superellipse::SCENARIO,
    crate::penny_restitution::SCENARIO,
    crate::penny_chaos::SCENARIO,
    crate::chaplygin_sleigh::SCENARIO,
    crate::knife_edge::SCENARIO,
    crate::rolling_ball::SCENARIO,
    crate::no_slip_disk::SCENARIO,
    crate::snakeboard::SCENARIO,
    crate::controlled_penny::SCENARIO,
];

/// The scenario of that name.
///
/// # Examples
///
/// ```
/// let cradle = carom_scenarios::scenario("newtons-cradle").unwrap();
/// let record = cradle.run(&carom_scenarios::Overrides::default())?;
/// assert!(record.quantities.iter().any(|q| q.name == "energy_change_j"));
/// # Ok::<(), carom_scenarios::ScenarioError>(())
/// ```
pub fn scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shown_is_default<C: Configuration>() {
        let shown: C = config::read(&Overrides {
            toml: C::TOML.to_owned(),
            ..Overrides::default()
        })
        .unwrap();
        assert_eq!(
            config::parameters(&shown),
            config::parameters(&C::default())
        );
    }

    #[test]
    fn the_configuration_shown_is_the_default_one() {
        shown_is_default::<crate::newtons_cradle::Config>();
        shown_is_default::<crate::reflection_wedge::Config>();
        shown_is_default::<crate::billiard_break::Config>();
        shown_is_default::<crate::falling_block::Config>();
        shown_is_default::<crate::light_ball::Config>();
        shown_is_default::<crate::rack_break::Config>();
        shown_is_default::<crate::plate_on_legs::Config>();
        shown_is_default::<crate::orthogonal_corner::Config>();
        shown_is_default::<crate::pair_map::Config>();
        shown_is_default::<crate::three_ball_masses::Config>();
        shown_is_default::<crate::simultaneous::rocking_block::Config>();
        shown_is_default::<crate::simultaneous::compass_gait::Config>();
        shown_is_default::<crate::simultaneous::box_and_wall::Config>();
        shown_is_default::<crate::simultaneous::ramone::Config>();
        shown_is_default::<crate::simultaneous::disk_stack::Config>();
        shown_is_default::<crate::zeno_block::Config>();
        shown_is_default::<crate::icosahedron_tetrahedron::Config>();
        shown_is_default::<crate::pin_and_ball::Config>();
        shown_is_default::<crate::hodographs::Config>();
        shown_is_default::<crate::hodograph_bundles::Config>();
        shown_is_default::<crate::euler_schemes::Config>();
        shown_is_default::<crate::ball_impacts::Config>();
        shown_is_default::<crate::recompression::Config>();
        shown_is_default::<crate::restitution_laws::Config>();
        shown_is_default::<crate::tangential_compliance::Config>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::BouncingBody>>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::EllipsoidHorizontal>>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::EllipsoidTilted>>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::EllipsoidUnion>>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::Cube>>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::Dumbbell>>();
        shown_is_default::<crate::bouncing::Config<crate::bouncing::Tetrahedron>>();
        shown_is_default::<crate::penny::Config>();
        shown_is_default::<crate::penny_figures::Config>();
        shown_is_default::<crate::penny_cloud::Config>();
        shown_is_default::<crate::penny_superellipse::Config>();
        shown_is_default::<crate::penny_restitution::Config>();
        shown_is_default::<crate::penny_chaos::Config>();
        shown_is_default::<crate::chaplygin_sleigh::Config>();
        shown_is_default::<crate::knife_edge::Config>();
        shown_is_default::<crate::rolling_ball::Config>();
        shown_is_default::<crate::no_slip_disk::Config>();
        shown_is_default::<crate::snakeboard::Config>();
        shown_is_default::<crate::controlled_penny::Config>();
    }

    #[test]
    fn names_are_unique() {
        for (i, a) in SCENARIOS.iter().enumerate() {
            assert!(
                SCENARIOS[..i].iter().all(|b| b.name != a.name),
                "{}",
                a.name
            );
        }
    }
}
