//! Keys of `carom run world`.

use super::body::BodyConfig;
use super::contact::{ContactConfig, PairConfig};
use super::fill::FillConfig;
use super::forces::ForceConfig;
use super::joints::JointConfig;
use super::output::OutputConfig;
use super::scheme::{SchemeConfig, SteppingConfig};
use super::springs::SpringConfig;
use super::urdf::{Imported, UrdfConfig};
use crate::ScenarioError;
use crate::common::Zeno;
use carom_impact::two_body::RestitutionLaw;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Choice between `propagative` and `poisson` for several contacts.
pub(super) const AUTO: &str = "auto";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default = "defaults::duration")]
    pub(super) duration: f64,
    #[serde(default = "defaults::gravity")]
    pub(super) gravity: [f64; 3],
    #[serde(default)]
    pub(super) flight: FlightConfig,
    #[serde(default = "defaults::time_step")]
    pub(super) time_step: f64,
    pub(super) max_impacts: Option<usize>,
    pub(super) on_zeno: Option<Zeno>,
    #[serde(default)]
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) scheme: SchemeConfig,
    #[serde(default)]
    pub(super) stepping: SteppingConfig,
    #[serde(default)]
    pub(super) law: LawConfig,
    pub(super) contact: Option<ContactConfig>,
    pub(super) pairs: Option<Vec<PairConfig>>,
    pub(super) bodies: Option<Vec<BodyConfig>>,
    pub(super) joints: Option<Vec<JointConfig>>,
    pub(super) forces: Option<Vec<ForceConfig>>,
    pub(super) springs: Option<Vec<SpringConfig>>,
    pub(super) urdf: Option<UrdfConfig>,
    /// Robot of `urdf` after it has been read; its bodies, joints and pairs have been moved to the fields above.
    #[serde(skip)]
    pub(super) imported: Option<Imported>,
    pub(super) fill: Option<Vec<FillConfig>>,
    pub(super) planes: Option<Vec<PlaneConfig>>,
    #[serde(default)]
    pub(super) output: OutputConfig,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, f64>,
}

mod defaults {
    use carom_impact::TwoBody;

    pub(super) fn duration() -> f64 {
        2.0
    }
    pub(super) fn gravity() -> [f64; 3] {
        [0.0, 0.0, -9.80665]
    }
    pub(super) fn time_step() -> f64 {
        0.001
    }
    pub(super) fn single() -> String {
        TwoBody::NAME.to_owned()
    }
    pub(super) fn several() -> String {
        super::AUTO.to_owned()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FlightConfig {
    #[default]
    Exact,
    Lgvi,
    Lgvi4,
    Lgvi6,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LawConfig {
    #[serde(default = "defaults::single")]
    pub(super) single: String,
    #[serde(default = "defaults::several")]
    pub(super) several: String,
    #[serde(default)]
    pub(super) restitution_law: RestitutionLaw,
    #[serde(default)]
    pub(super) options: toml::Table,
}

impl Default for LawConfig {
    fn default() -> Self {
        Self {
            single: defaults::single(),
            several: defaults::several(),
            restitution_law: RestitutionLaw::default(),
            options: toml::Table::new(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaneConfig {
    pub(super) name: String,
    pub(super) normal: [f64; 3],
    #[serde(default)]
    pub(super) offset: f64,
    pub(super) surface_velocity: Option<[f64; 3]>,
}

impl Config {
    /// Removes the bodies, planes and pairs of the example world from the configuration if the user defines a new world.
    /// Returns the removed keys. `given`: true for a key that the user sets; `has_file`: true if the user has a file with
    /// keys.
    pub(super) fn keep_given(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        has_file: bool,
    ) -> Result<Vec<&'static str>, ScenarioError> {
        let takes_mode = ["two-body", "routh"].contains(&self.law.single.as_str());
        if given("law.restitution_law") && !takes_mode {
            let message = format!("`{}` takes none", self.law.single);
            return Err(ScenarioError::value("law.restitution_law", message));
        }
        let brings = ["bodies", "fill", "planes", "urdf"];
        if !has_file && !brings.iter().any(|key| given(key)) {
            return Ok(Vec::new());
        }
        let mut left_out = Vec::new();
        if !given("bodies") && (given("fill") || given("urdf")) {
            self.bodies = None;
            left_out.push("bodies");
        } else if !given("bodies") {
            let message =
                "missing: a world has at least one body (`carom run world` alone runs the demo)";
            return Err(ScenarioError::value("bodies", message));
        }
        if !given("joints") {
            self.joints = None;
        }
        if !given("forces") {
            self.forces = None;
        }
        if !given("springs") {
            self.springs = None;
        }
        if !given("planes") {
            self.planes = None;
            left_out.push("planes");
        }
        if !given("pairs") {
            self.pairs = None;
            left_out.push("pairs");
        }
        Ok(left_out)
    }

    /// Adds the bodies, joints and pairs of the robot described under the key `urdf` to the configuration. `text`: URDF text,
    /// read instead of the file that the key names. A pair given by the user replaces that of the robot.
    pub(super) fn import(&mut self, text: Option<&str>) -> Result<(), ScenarioError> {
        let Some(urdf) = &self.urdf else {
            return Ok(());
        };
        let mut imported = urdf.import(text)?;
        let mut bodies = std::mem::take(&mut imported.bodies);
        imported.n_bodies = bodies.len();
        let mut joints = std::mem::take(&mut imported.joints);
        let mut pairs = self.pairs.take().unwrap_or_default();
        let is_given = |pair: &PairConfig| {
            let [a, b] = &pair.between;
            let same = |other: &PairConfig| other.between.contains(a) && other.between.contains(b);
            pairs.iter().any(same)
        };
        let all = std::mem::take(&mut imported.pairs).into_iter();
        let added: Vec<PairConfig> = all.filter(|pair| !is_given(pair)).collect();
        pairs.extend(added);
        bodies.extend(self.bodies.take().unwrap_or_default());
        joints.extend(self.joints.take().unwrap_or_default());
        if self.fill.is_none() && bodies.iter().all(|body| body.fixed) {
            return Err(urdf.nothing_moves(&imported));
        }
        self.bodies = Some(bodies);
        self.joints = Some(joints);
        self.pairs = Some(pairs);
        self.imported = Some(imported);
        Ok(())
    }

    /// Returns the key of the first body that is told its motion, or of the first surface that runs.
    pub(super) fn runs(&self) -> Option<String> {
        let runs = |velocity: &Option<[f64; 3]>| velocity.is_some_and(|v| v != [0.0; 3]);
        let mut told = self.bodies.iter().flatten();
        if let Some(place) = told.position(|body| body.motion.is_some()) {
            return Some(format!("bodies[{place}].motion"));
        }
        let mut bodies = self.bodies.iter().flatten();
        let mut planes = self.planes.iter().flatten();
        let body = bodies.position(|body| runs(&body.surface_velocity));
        let plane = planes.position(|plane| runs(&plane.surface_velocity));
        let key = |list: &str, place: usize| format!("{list}[{place}].surface_velocity");
        let body = body.map(|place| key("bodies", place));
        body.or_else(|| plane.map(|place| key("planes", place)))
    }

    /// True if the user sets the treatment of accumulating impacts (infinitely many in finite time).
    pub(super) fn has_zeno(&self) -> bool {
        self.on_zeno.is_some()
    }

    /// Returns the name of the impact law for several contacts that hit at once.
    pub(super) fn several_name(&self) -> &str {
        &self.law.several
    }

    /// True if the world has joints that hold bodies, or bodies without a shape or a place. The solver for jointed bodies then
    /// simulates the world. A `free` joint to the ground holds nothing.
    pub(super) fn is_jointed(&self) -> bool {
        let mut joints = self.joints.iter().flatten();
        let has_joints = self.joints.as_ref().is_some_and(|list| !list.is_empty());
        let is_whole =
            |body: &BodyConfig| body.shape.is_some() && (body.position.is_some() || !has_joints);
        joints.any(|joint| !joint.holds_nothing()) || !self.bodies.iter().flatten().all(is_whole)
    }

    /// Returns two flags: true if bodies connected by a joint can touch each other, and true if other bodies of one
    /// articulation (bodies connected through joints) can.
    pub(super) fn self_contact(&self) -> (bool, bool) {
        self.contact
            .map_or((false, true), |contact| (contact.adjacent, contact.within))
    }
}
