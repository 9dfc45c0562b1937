//! Named scenarios.

use crate::config::{self, Overrides};
use crate::{Record, ScenarioError};
use carom_report::animation::Animation;
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
        record.animations.iter_mut().for_each(Animation::round);
        let fault = match record.non_finite() {
            Some(path) => Some(format!("a non-finite result at {path}")),
            None => record.animations.iter().find_map(|animation| {
                let problem = animation.problem()?;
                Some(format!("no animation {}: {problem}", animation.name))
            }),
        };
        match fault {
            Some(fault) => Err(ScenarioError::Config {
                message: format!("the configuration leads to {fault}"),
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
    crate::propagative::newtons_cradle::SCENARIO,
    crate::propagative::reflection_wedge::SCENARIO,
    crate::propagative::billiard_break::SCENARIO,
    crate::propagative::falling_block::SCENARIO,
    crate::propagative::light_ball::SCENARIO,
    crate::propagative::rack_break::SCENARIO,
    crate::propagative::plate_on_legs::SCENARIO,
    crate::propagative::orthogonal_corner::SCENARIO,
    crate::propagative::pair_map::SCENARIO,
    crate::propagative::three_ball_masses::SCENARIO,
    crate::propagative::mechanisms::elastic_ball::SCENARIO,
    crate::propagative::mechanisms::tilted_block::SCENARIO,
    crate::propagative::mechanisms::wall_pendulum::SCENARIO,
    crate::propagative::mechanisms::pendulum_cradle::SCENARIO,
    crate::propagative::tail_runner::SCENARIO,
    crate::propagative::tail_runner::DESIGN,
    crate::propagative::double_pendulum_walls::SCENARIO,
    crate::propagative::falling_chain::SCENARIO,
    crate::beyond::engine_survey::SCENARIO,
    crate::set_valued::rocking_block::SCENARIO,
    crate::set_valued::compass_gait::SCENARIO,
    crate::set_valued::box_and_wall::SCENARIO,
    crate::set_valued::ramone::SCENARIO,
    crate::set_valued::disk_stack::SCENARIO,
    crate::set_valued::compliant_block::SCENARIO,
    crate::set_valued::impact_inclusions::SCENARIO,
    crate::set_valued::zeno_block::SCENARIO,
    crate::two_body::icosahedron_tetrahedron::SCENARIO,
    crate::two_body::pin_and_ball::SCENARIO,
    crate::two_body::hodographs::SCENARIO,
    crate::two_body::hodograph_bundles::SCENARIO,
    crate::two_body::euler_schemes::SCENARIO,
    crate::two_body::ball_impacts::SCENARIO,
    crate::two_body::recompression::SCENARIO,
    crate::two_body::restitution_laws::SCENARIO,
    crate::two_body::tangential_compliance::SCENARIO,
    crate::lie_group::bouncing::BOUNCING_BODY,
    crate::lie_group::bouncing::ELLIPSOID_HORIZONTAL,
    crate::lie_group::bouncing::ELLIPSOID_TILTED,
    crate::lie_group::bouncing::ELLIPSOID_UNION,
    crate::lie_group::bouncing::CUBE,
    crate::lie_group::bouncing::DUMBBELL,
    crate::lie_group::bouncing::TETRAHEDRON,
    crate::lie_group::closest_points::SCENARIO,
    crate::nonholonomic::penny::SCENARIO,
    crate::nonholonomic::penny_figures::SCENARIO,
    crate::nonholonomic::penny_cloud::SCENARIO,
    crate::nonholonomic::penny_superellipse::SCENARIO,
    crate::nonholonomic::penny_restitution::SCENARIO,
    crate::nonholonomic::penny_chaos::SCENARIO,
    crate::nonholonomic::chaplygin_sleigh::SCENARIO,
    crate::nonholonomic::knife_edge::SCENARIO,
    crate::nonholonomic::rolling_ball::SCENARIO,
    crate::beyond::no_slip_disk::SCENARIO,
    crate::nonholonomic::snakeboard::SCENARIO,
    crate::nonholonomic::controlled_penny::SCENARIO,
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
        shown_is_default::<crate::propagative::newtons_cradle::Config>();
        shown_is_default::<crate::propagative::reflection_wedge::Config>();
        shown_is_default::<crate::propagative::billiard_break::Config>();
        shown_is_default::<crate::propagative::falling_block::Config>();
        shown_is_default::<crate::propagative::light_ball::Config>();
        shown_is_default::<crate::propagative::rack_break::Config>();
        shown_is_default::<crate::propagative::plate_on_legs::Config>();
        shown_is_default::<crate::propagative::orthogonal_corner::Config>();
        shown_is_default::<crate::propagative::pair_map::Config>();
        shown_is_default::<crate::propagative::three_ball_masses::Config>();
        shown_is_default::<crate::propagative::mechanisms::elastic_ball::Config>();
        shown_is_default::<crate::propagative::mechanisms::tilted_block::Config>();
        shown_is_default::<crate::propagative::mechanisms::wall_pendulum::Config>();
        shown_is_default::<crate::propagative::mechanisms::pendulum_cradle::Config>();
        shown_is_default::<crate::propagative::tail_runner::Config>();
        shown_is_default::<crate::propagative::tail_runner::DesignConfig>();
        shown_is_default::<crate::propagative::double_pendulum_walls::Config>();
        shown_is_default::<crate::propagative::falling_chain::Config>();
        shown_is_default::<crate::beyond::engine_survey::Config>();
        shown_is_default::<crate::set_valued::rocking_block::Config>();
        shown_is_default::<crate::set_valued::compass_gait::Config>();
        shown_is_default::<crate::set_valued::box_and_wall::Config>();
        shown_is_default::<crate::set_valued::ramone::Config>();
        shown_is_default::<crate::set_valued::disk_stack::Config>();
        shown_is_default::<crate::set_valued::compliant_block::Config>();
        shown_is_default::<crate::set_valued::impact_inclusions::Config>();
        shown_is_default::<crate::set_valued::zeno_block::Config>();
        shown_is_default::<crate::two_body::icosahedron_tetrahedron::Config>();
        shown_is_default::<crate::two_body::pin_and_ball::Config>();
        shown_is_default::<crate::two_body::hodographs::Config>();
        shown_is_default::<crate::two_body::hodograph_bundles::Config>();
        shown_is_default::<crate::two_body::euler_schemes::Config>();
        shown_is_default::<crate::two_body::ball_impacts::Config>();
        shown_is_default::<crate::two_body::recompression::Config>();
        shown_is_default::<crate::two_body::restitution_laws::Config>();
        shown_is_default::<crate::two_body::tangential_compliance::Config>();
        shown_is_default::<
            crate::lie_group::bouncing::Config<crate::lie_group::bouncing::BouncingBody>,
        >();
        shown_is_default::<
            crate::lie_group::bouncing::Config<crate::lie_group::bouncing::EllipsoidHorizontal>,
        >();
        shown_is_default::<
            crate::lie_group::bouncing::Config<crate::lie_group::bouncing::EllipsoidTilted>,
        >();
        shown_is_default::<
            crate::lie_group::bouncing::Config<crate::lie_group::bouncing::EllipsoidUnion>,
        >();
        shown_is_default::<crate::lie_group::bouncing::Config<crate::lie_group::bouncing::Cube>>();
        shown_is_default::<crate::lie_group::bouncing::Config<crate::lie_group::bouncing::Dumbbell>>(
        );
        shown_is_default::<
            crate::lie_group::bouncing::Config<crate::lie_group::bouncing::Tetrahedron>,
        >();
        shown_is_default::<crate::lie_group::closest_points::Config>();
        shown_is_default::<crate::nonholonomic::penny::Config>();
        shown_is_default::<crate::nonholonomic::penny_figures::Config>();
        shown_is_default::<crate::nonholonomic::penny_cloud::Config>();
        shown_is_default::<crate::nonholonomic::penny_superellipse::Config>();
        shown_is_default::<crate::nonholonomic::penny_restitution::Config>();
        shown_is_default::<crate::nonholonomic::penny_chaos::Config>();
        shown_is_default::<crate::nonholonomic::chaplygin_sleigh::Config>();
        shown_is_default::<crate::nonholonomic::knife_edge::Config>();
        shown_is_default::<crate::nonholonomic::rolling_ball::Config>();
        shown_is_default::<crate::beyond::no_slip_disk::Config>();
        shown_is_default::<crate::nonholonomic::snakeboard::Config>();
        shown_is_default::<crate::nonholonomic::controlled_penny::Config>();
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
