//! The configuration of a planar mechanism, and what can be wrong with it.

use super::playback::Drawing;
use crate::ScenarioError;
use carom_impact::frictional::MoreauNewton;
use carom_impact::{ImpactLaw, LAWS, Law};
use carom_mechanism::planar::{
    Actuator, Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism, Reference, Spring,
};
use carom_mechanism::{MechanicalSystem, MechanismError};
use carom_motion::generalized::{IntegratorError, IntegratorOptions};
use nalgebra::DMatrix;
use serde::Deserialize;

/// Events within a step before a run stops.
const MAX_EVENTS: usize = 10_000;

/// Steps of a run.
const MAX_STEPS: f64 = 5e6;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default = "duration")]
    duration: f64,
    #[serde(default = "time_step")]
    time_step: f64,
    #[serde(default = "gravity")]
    gravity: [f64; 2],
    #[serde(default)]
    max_impacts: Option<usize>,
    #[serde(default)]
    on_zeno: Option<Zeno>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    law: LawConfig,
    #[serde(default)]
    links: Option<Vec<LinkConfig>>,
    #[serde(default)]
    pub(super) contacts: Option<Vec<ContactConfig>>,
    #[serde(default)]
    output: Output,
}

fn duration() -> f64 {
    2.0
}

fn time_step() -> f64 {
    0.001
}

fn gravity() -> [f64; 2] {
    [0.0, -9.80665]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Zeno {
    Rest,
    Stop,
    Error,
    Continue,
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
    #[serde(default)]
    mass: Option<f64>,
    #[serde(default)]
    center: Option<[f64; 2]>,
    #[serde(default)]
    inertia: Option<f64>,
    #[serde(default)]
    bodies: Vec<BodyConfig>,
    #[serde(default)]
    position: Coordinates,
    #[serde(default)]
    velocity: Coordinates,
    #[serde(default)]
    spring: Option<SpringConfig>,
    #[serde(default)]
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
    /// Keys that say nothing about a link of this kind are refused, unless they have no effect on any.
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

/// The first coordinate that moves no inertia at a configuration, if there is one.
fn massless(mechanism: &PlanarMechanism, position: &[f64]) -> Option<usize> {
    let n = position.len();
    let mut mass = DMatrix::zeros(n, n);
    mechanism.mass_matrix(position, &mut mass);
    let is_definite = |k: &usize| {
        mass.view((0, 0), (k + 1, k + 1))
            .into_owned()
            .cholesky()
            .is_some()
    };
    (0..n).find(|k| !is_definite(k))
}

/// A mechanism ready to run.
pub(super) struct Setup {
    pub(super) mechanism: PlanarMechanism,
    pub(super) law: Box<dyn ImpactLaw>,
    /// Coefficients of the contacts that the law does not use.
    pub(super) ignored: Option<String>,
    pub(super) options: IntegratorOptions,
    pub(super) coordinates: Vec<String>,
    /// `true` for each coordinate that is an angle.
    pub(super) is_angle: Vec<bool>,
    pub(super) contacts: Vec<String>,
    pub(super) drawings: Vec<Drawing>,
    /// Lines that links can touch: a point, and a unit normal.
    pub(super) lines: Vec<[[f64; 2]; 2]>,
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) duration: f64,
    pub(super) time_step: f64,
    pub(super) sample_step: f64,
    pub(super) max_impacts: Option<usize>,
    pub(super) stops_at_zeno: bool,
    pub(super) zeno_is_error: bool,
}

impl Setup {
    /// Names the contact at fault.
    pub(super) fn name_key(&self, error: IntegratorError) -> ScenarioError {
        match error {
            IntegratorError::InitialPenetration { contact, gap } => {
                let name = self.contacts.get(contact).map_or("", String::as_str);
                let message =
                    format!("initial-penetration: contact `{name}` starts with the gap {gap:e}");
                ScenarioError::value(&format!("contacts[{contact}]"), message)
            }
            other => other.into(),
        }
    }
}

impl Config {
    pub(super) fn setup(&self) -> Result<Setup, ScenarioError> {
        crate::motion::positive("time_step", &[self.time_step])?;
        crate::motion::finite("gravity", &self.gravity)?;
        let steps = self.duration / self.time_step;
        if !(self.duration >= 0.0 && steps <= MAX_STEPS) {
            let message = format!(
                "{} must be at least 0 and at most {MAX_STEPS} steps",
                self.duration
            );
            return Err(ScenarioError::value("duration", message));
        }
        let sample_step = self.output.sample_step;
        if !(sample_step >= 0.0 && sample_step.is_finite()) {
            let message = format!("{sample_step} must be at least 0 and finite");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        if sample_step > 0.0 && self.duration / sample_step > 1e6 {
            let message = format!("{sample_step} makes more than a million rows");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        let links = self.links.as_deref().unwrap_or_default();
        let mut builder = PlanarBuilder::new(self.gravity);
        let mut made: Vec<(String, Link)> = Vec::new();
        let mut drawings: Vec<Drawing> = Vec::new();
        let (mut coordinates, mut is_angle) = (Vec::new(), Vec::new());
        let (mut position, mut velocity) = (Vec::new(), Vec::new());
        for (i, link) in links.iter().enumerate() {
            let key = |part: &str| format!("links[{i}].{part}");
            link.check(&key)?;
            if link.name == "ground" || made.iter().any(|(name, _)| *name == link.name) {
                let message = format!("`{}` is there twice", link.name);
                return Err(ScenarioError::value(&key("name"), message));
            }
            let parent = match link.parent.as_str() {
                "ground" => Link::GROUND,
                name => match made.iter().find(|(known, _)| known == name) {
                    Some((_, link)) => *link,
                    None => {
                        let later = links.iter().any(|other| other.name == name);
                        let message = if later {
                            format!(
                                "`{name}` of `{}` must come before it: parents first, no cycles",
                                link.name
                            )
                        } else {
                            format!("`{}` has the unknown parent `{name}`", link.name)
                        };
                        return Err(ScenarioError::value(&key("parent"), message));
                    }
                },
            };
            if link.joint == Joint::Floating && link.parent != "ground" {
                let message = format!("the floating link `{}` has the parent ground", link.name);
                return Err(ScenarioError::value(&key("parent"), message));
            }
            let new = match link.joint {
                Joint::Slider => builder.slider(parent, link.anchor, link.direction),
                Joint::Hinge => builder.hinge(parent, link.anchor, link.angle),
                Joint::Floating => builder.floating(),
            };
            if let Some(holder) = drawings.iter_mut().find(|drawing| drawing.link == parent) {
                holder.joints.push(link.anchor);
            }
            let mut drawing = Drawing::new(new, &link.name);
            let center = link.mass.map(|_| link.center.unwrap_or_default());
            let centers = link.bodies.iter().map(|body| body.center);
            drawing.masses.extend(center.into_iter().chain(centers));
            drawings.push(drawing);
            let whole = link.mass.map(|mass| {
                Inertia::new(
                    mass,
                    link.center.unwrap_or_default(),
                    link.inertia.unwrap_or_default(),
                )
            });
            let bodies = link
                .bodies
                .iter()
                .map(|b| Inertia::new(b.mass, b.center, b.inertia));
            for body in whole.into_iter().chain(bodies) {
                builder.body(new, body);
            }
            if let Some(SpringConfig {
                stiffness,
                damping,
                rest,
            }) = link.spring
            {
                builder.spring(
                    new,
                    Spring {
                        stiffness,
                        damping,
                        rest,
                    },
                );
            }
            if let Some(actuator) = link.actuator {
                let ReferenceConfig { hold, rate, start } = actuator.reference;
                let (proportional, derivative) = (actuator.proportional, actuator.derivative);
                let reference = Reference { hold, rate, start };
                builder.actuator(
                    new,
                    Actuator {
                        proportional,
                        derivative,
                        reference,
                    },
                );
            }
            match link.joint {
                Joint::Floating => {
                    let names = ["x", "y", "angle"].map(|axis| format!("{}.{axis}", link.name));
                    coordinates.extend(names);
                    is_angle.extend([false, false, true]);
                }
                joint => {
                    coordinates.push(link.name.clone());
                    is_angle.push(joint == Joint::Hinge);
                }
            }
            position.extend(link.position.of(link.joint, &key("position"))?);
            velocity.extend(link.velocity.of(link.joint, &key("velocity"))?);
            made.push((link.name.clone(), new));
        }
        let list = self.contacts.as_deref().unwrap_or_default();
        for (i, contact) in list.iter().enumerate() {
            let key = |part: &str| format!("contacts[{i}].{part}");
            if contact.name.is_empty() {
                return Err(ScenarioError::value(&key("name"), "a name is needed"));
            }
            if list.iter().take(i).any(|other| other.name == contact.name) {
                let message = format!("`{}` is there twice", contact.name);
                return Err(ScenarioError::value(&key("name"), message));
            }
            let found = made.iter().find(|(name, _)| *name == contact.link);
            let Some((_, link)) = found else {
                let message = format!(
                    "contact `{}`: no link is called `{}`",
                    contact.name, contact.link
                );
                return Err(ScenarioError::value(&key("link"), message));
            };
            if !(contact.friction >= 0.0 && contact.friction.is_finite()) {
                let message = format!(
                    "{} of `{}` must be at least 0",
                    contact.friction, contact.name
                );
                return Err(ScenarioError::value(&key("friction"), message));
            }
            if !(0.0..=1.0).contains(&contact.restitution) {
                let message = format!(
                    "{} of `{}` must lie in [0, 1]",
                    contact.restitution, contact.name
                );
                return Err(ScenarioError::value(&key("restitution"), message));
            }
            if let Some(drawing) = drawings.iter_mut().find(|drawing| drawing.link == *link) {
                match contact.radius > 0.0 {
                    true => drawing.wheels.push((contact.point, contact.radius)),
                    false => drawing.corners.push(contact.point),
                }
            }
            let line = Line::new(contact.line.point, contact.line.normal)
                .map_err(|error| ScenarioError::value(&key("line"), error))?;
            builder.contact(
                *link,
                LineContact {
                    name: contact.name.clone(),
                    point: contact.point,
                    radius: contact.radius,
                    line,
                    friction: contact.friction,
                    restitution: contact.restitution,
                },
            );
        }
        // A floating link has three coordinates: errors count them.
        let owner = |coordinate: usize| {
            let name = coordinates.get(coordinate).map_or("", String::as_str);
            name.split('.').next().unwrap_or_default().to_owned()
        };
        let mechanism = builder.build().map_err(|error| match &error {
            MechanismError::InvalidLink { link, .. }
            | MechanismError::InvalidInertia { link, .. }
            | MechanismError::Massless { link } => {
                ScenarioError::value("links", format!("`{}`: {error}", owner(*link)))
            }
            MechanismError::Empty => ScenarioError::value("links", error),
            _ => ScenarioError::value("contacts", error),
        })?;
        if let Some(coordinate) = massless(&mechanism, &position) {
            let name = coordinates.get(coordinate).map_or("", String::as_str);
            let message = format!("the coordinate `{name}` moves no inertia at the start");
            return Err(ScenarioError::value("links", message));
        }
        let mut options = IntegratorOptions {
            max_events_per_step: MAX_EVENTS,
            ..IntegratorOptions::default()
        };
        if self.on_zeno == Some(Zeno::Continue) {
            options.zeno_ratio = 0.0;
        }
        let law = self.law(list)?;
        let mut lines: Vec<[[f64; 2]; 2]> = Vec::new();
        for LineConfig { point, normal } in list.iter().map(|contact| contact.line) {
            let length = normal[0].hypot(normal[1]);
            let line = [point, normal.map(|x| x / length)];
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let restitutes = list.iter().any(|contact| contact.restitution > 0.0);
        Ok(Setup {
            ignored: crate::motion::ignored("law.name", &law).filter(|_| restitutes),
            law: Box::new(law),
            mechanism,
            options,
            coordinates,
            is_angle,
            contacts: list.iter().map(|contact| contact.name.clone()).collect(),
            drawings,
            lines,
            position,
            velocity,
            duration: self.duration,
            time_step: self.time_step,
            sample_step,
            max_impacts: self.max_impacts,
            stops_at_zeno: matches!(self.on_zeno, Some(Zeno::Stop | Zeno::Error)),
            zeno_is_error: self.on_zeno == Some(Zeno::Error),
        })
    }

    fn law(&self, contacts: &[ContactConfig]) -> Result<Law, ScenarioError> {
        let name = self.law.name.as_str();
        let complain = |message: String| Err(ScenarioError::value("law.name", message));
        let Some(law) = Law::named(name) else {
            let known: Vec<&str> = LAWS.iter().map(|entry| entry.name).collect();
            return complain(format!("unknown law `{name}`; known: {}", known.join(", ")));
        };
        let is_of_another_kind = matches!(
            law,
            Law::TwoBody(_)
                | Law::NonholonomicElastic(_)
                | Law::NonholonomicProjected(_)
                | Law::NonholonomicNewton(_)
                | Law::NonholonomicProjectedNewton(_)
                | Law::NonholonomicRough(_)
        );
        if is_of_another_kind {
            return complain(format!("`{name}` is no law for contacts of a mechanism"));
        }
        let rubs = contacts.iter().find(|contact| contact.friction > 0.0);
        if let (Some(contact), false) = (rubs, law.info().uses.friction) {
            return complain(format!(
                "`{name}` cannot take the friction of `{}`",
                contact.name
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
