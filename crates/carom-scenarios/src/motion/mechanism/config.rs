//! Configuration of a mechanism, of links or given by formulas, and its checks.

mod formulas;
mod parts;
mod setup;

pub(super) use formulas::FormulaContactConfig;
pub(super) use parts::{Kind, Scene};
pub(super) use setup::Setup;

use crate::ScenarioError;
use crate::common::Zeno;
use carom_impact::frictional::MoreauNewton;
use carom_impact::{LAWS, Law};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config<C> {
    #[serde(default = "duration")]
    duration: f64,
    #[serde(default = "time_step")]
    time_step: f64,
    gravity: Option<[f64; 2]>,
    max_impacts: Option<usize>,
    on_zeno: Option<Zeno>,
    seed: Option<u64>,
    #[serde(default)]
    law: LawConfig,
    links: Option<Vec<LinkConfig>>,
    system: Option<formulas::SystemConfig>,
    #[serde(default)]
    constraints: Vec<formulas::ConstraintConfig>,
    pub(super) contacts: Option<Vec<C>>,
    #[serde(default)]
    output: Output,
    #[serde(default)]
    pub(super) parameters: std::collections::BTreeMap<String, f64>,
}

fn duration() -> f64 {
    2.0
}

fn time_step() -> f64 {
    0.001
}

fn sample_step() -> f64 {
    0.01
}

fn ground() -> String {
    "ground".to_owned()
}

fn moreau_newton() -> String {
    MoreauNewton::NAME.to_owned()
}

fn along_x() -> [f64; 2] {
    [1.0, 0.0]
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LawConfig {
    #[serde(default = "moreau_newton")]
    name: String,
    #[serde(default)]
    options: toml::Table,
}

impl Default for LawConfig {
    fn default() -> Self {
        Self {
            name: moreau_newton(),
            options: toml::Table::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Joint {
    Slider,
    Hinge,
    Floating,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Coordinates {
    One(f64),
    Three([f64; 3]),
}

impl Default for Coordinates {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl Coordinates {
    fn of(self, joint: Joint, key: &str) -> Result<Vec<f64>, ScenarioError> {
        let values = match (joint, self) {
            (Joint::Floating, Self::Three(list)) => list.to_vec(),
            (Joint::Floating, Self::One(0.0)) => vec![0.0; 3],
            (Joint::Floating, Self::One(_)) => {
                return Err(ScenarioError::value(
                    key,
                    "a floating link has [x, y, angle]",
                ));
            }
            (_, Self::One(x)) => vec![x],
            (_, Self::Three(_)) => {
                return Err(ScenarioError::value(key, "this joint has one coordinate"));
            }
        };
        crate::motion::finite(key, &values)?;
        Ok(values)
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkConfig {
    name: String,
    #[serde(default = "ground")]
    parent: String,
    joint: Joint,
    #[serde(default)]
    anchor: [f64; 2],
    #[serde(default = "along_x")]
    direction: [f64; 2],
    #[serde(default)]
    angle: f64,
    mass: Option<f64>,
    center: Option<[f64; 2]>,
    inertia: Option<f64>,
    #[serde(default)]
    bodies: Vec<BodyConfig>,
    #[serde(default)]
    position: Coordinates,
    #[serde(default)]
    velocity: Coordinates,
    spring: Option<SpringConfig>,
    actuator: Option<ActuatorConfig>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyConfig {
    mass: f64,
    #[serde(default)]
    center: [f64; 2],
    #[serde(default)]
    inertia: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpringConfig {
    stiffness: f64,
    #[serde(default)]
    damping: f64,
    #[serde(default)]
    rest: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActuatorConfig {
    proportional: f64,
    #[serde(default)]
    derivative: f64,
    reference: ReferenceConfig,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceConfig {
    hold: f64,
    #[serde(default)]
    rate: f64,
    #[serde(default)]
    start: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContactConfig {
    name: String,
    link: String,
    point: [f64; 2],
    #[serde(default)]
    radius: f64,
    line: LineConfig,
    #[serde(default)]
    friction: f64,
    #[serde(default)]
    restitution: f64,
    closes_when: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineConfig {
    point: [f64; 2],
    normal: [f64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    #[serde(default = "sample_step")]
    sample_step: f64,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            sample_step: sample_step(),
        }
    }
}

impl LinkConfig {
    /// Rejects keys of a link that have no meaning for the joint type of the link, unless the values of these keys are
    /// the defaults. `key`: returns the full path of a key of this link, for error messages.
    fn check(&self, key: &dyn Fn(&str) -> String) -> Result<(), ScenarioError> {
        let name = &self.name;
        if name.is_empty() {
            return Err(ScenarioError::value(&key("name"), "a name is needed"));
        }
        let turned = ("direction", self.direction != along_x());
        let angled = ("angle", self.angle != 0.0);
        let (kind, faults): (&str, &[(&str, bool)]) = match self.joint {
            Joint::Slider => ("slider", &[angled]),
            Joint::Hinge => ("hinge", &[turned]),
            Joint::Floating => (
                "floating link",
                &[
                    angled,
                    turned,
                    ("anchor", self.anchor != [0.0; 2]),
                    ("spring", self.spring.is_some()),
                    ("actuator", self.actuator.is_some()),
                ],
            ),
        };
        if let Some((part, _)) = faults.iter().find(|(_, is_wrong)| *is_wrong) {
            let message = format!("the {kind} `{name}` has none");
            return Err(ScenarioError::value(&key(part), message));
        }
        for (part, is_given) in [
            ("center", self.center.is_some()),
            ("inertia", self.inertia.is_some()),
        ] {
            if is_given && self.mass.is_none() {
                let message = format!("`{name}` has no mass that it belongs to");
                return Err(ScenarioError::value(&key(part), message));
            }
        }
        Ok(())
    }
}

/// Configuration of a contact: of a link with a line, or of a gap that is a formula.
pub(super) trait AnyContact {
    fn name(&self) -> &str;
    fn friction(&self) -> f64;
    fn restitution(&self) -> f64;
    /// Expression of coordinates while which is positive the contact can close; `None` if it always can.
    fn closes_when(&self) -> Option<&str> {
        None
    }
}

impl AnyContact for ContactConfig {
    fn name(&self) -> &str {
        &self.name
    }

    fn friction(&self) -> f64 {
        self.friction
    }

    fn restitution(&self) -> f64 {
        self.restitution
    }

    fn closes_when(&self) -> Option<&str> {
        self.closes_when.as_deref()
    }
}

/// Checks the name and the coefficients of a contact. An error contains the invalid key and a message. `before`: contacts that were
/// added before, which must have other names.
fn check_contact<C: AnyContact>(contact: &C, before: &[C]) -> Result<(), (&'static str, String)> {
    let (name, friction, restitution) = (contact.name(), contact.friction(), contact.restitution());
    if name.is_empty() {
        return Err(("name", "a name is needed".to_owned()));
    }
    if before.iter().any(|other| other.name() == name) {
        return Err(("name", format!("`{name}` is there twice")));
    }
    if !(friction >= 0.0 && friction.is_finite()) {
        let message = format!("{friction} of `{name}` must be at least 0");
        return Err(("friction", message));
    }
    if !(0.0..=1.0).contains(&restitution) {
        let message = format!("{restitution} of `{name}` must lie in [0, 1]");
        return Err(("restitution", message));
    }
    Ok(())
}

impl<C: AnyContact> Config<C> {
    fn law(&self, contacts: &[C]) -> Result<Law, ScenarioError> {
        let name = self.law.name.as_str();
        let complain = |message: String| Err(ScenarioError::value("law.name", message));
        let Some(law) = Law::named(name) else {
            let known: Vec<&str> = LAWS.iter().map(|entry| entry.name).collect();
            return complain(format!("unknown law `{name}`; known: {}", known.join(", ")));
        };
        let is_constrained = matches!(
            law,
            Law::NonholonomicElastic(_)
                | Law::NonholonomicProjected(_)
                | Law::NonholonomicNewton(_)
                | Law::NonholonomicProjectedNewton(_)
                | Law::NonholonomicRough(_)
        );
        if matches!(law, Law::TwoBody(_)) {
            return complain(format!("`{name}` is no law for contacts of a mechanism"));
        }
        if is_constrained && self.constraints.is_empty() {
            return complain(format!(
                "`{name}` is a law for mechanisms with [[constraints]]"
            ));
        }
        let rubs = contacts.iter().find(|contact| contact.friction() > 0.0);
        if let (Some(contact), false) = (rubs, law.info().uses.friction) {
            return complain(format!(
                "`{name}` cannot take the friction of `{}`",
                contact.name()
            ));
        }
        let mut options = self.law.options.clone();
        let draws = law.info().options.iter().any(|option| option.key == "seed");
        if let (Some(seed), true) = (self.seed, draws && !options.contains_key("seed")) {
            let seed = i64::try_from(seed)
                .map_err(|_| ScenarioError::value("seed", "the seed must be below 2^63"))?;
            options.insert("seed".to_owned(), seed.into());
        }
        law.with_options(options)
            .map_err(|error| ScenarioError::value("law.options", error.message()))
    }
}
