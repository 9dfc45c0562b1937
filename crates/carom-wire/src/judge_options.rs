//! Options of a judgement in JSON.

use crate::error::WireError;
use crate::options::known_law;
use carom_contact::FrictionCone;
use carom_impact::Law;
use carom_judge::JudgeOptions;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OptionsInput {
    tolerance: Option<f64>,
    samples: Option<u64>,
    seed: u64,
    max_nodes: Option<usize>,
    max_work: Option<u64>,
    laws: Option<Vec<String>>,
    friction_directions: Option<usize>,
    friction_cone: Option<FrictionCone>,
}

impl OptionsInput {
    pub(crate) fn options(&self) -> Result<JudgeOptions, WireError> {
        let named = self.laws.iter().flatten().map(|name| known_law(name));
        let named: Vec<Law> = named.collect::<Result<_, WireError>>()?;
        // Once each, in the order in which the crate lists them.
        let named = || Law::all().filter(|law| named.contains(law)).collect();
        let laws = self.laws.is_some().then(named);
        let friction_cone = match (self.friction_cone, self.friction_directions) {
            (None, None) => FrictionCone::default(),
            (Some(cone), None) => cone,
            (None, Some(k)) => FrictionCone::Polygon(k),
            (Some(cone), Some(k)) if cone == FrictionCone::Polygon(k) => cone,
            (Some(_), Some(_)) => {
                let message = "options: friction_cone and friction_directions mean different cones";
                return Err(WireError::new("invalid-option", message));
            }
        };
        let defaults = JudgeOptions::default();
        let (tolerance, samples) = (defaults.tolerance, defaults.samples);
        let (max_nodes, max_work) = (defaults.max_nodes, defaults.max_work);
        Ok(defaults
            .with_tolerance(self.tolerance.unwrap_or(tolerance))
            .with_samples(self.samples.unwrap_or(samples))
            .with_seed(self.seed)
            .with_max_nodes(self.max_nodes.unwrap_or(max_nodes))
            .with_max_work(self.max_work.unwrap_or(max_work))
            .with_laws(laws)
            .with_friction_cone(friction_cone))
    }
}
