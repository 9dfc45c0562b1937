//! Assembly of a mechanism from its configuration.

use super::formulas::{ConstraintConfig, FormulaContactConfig, constrained};
use super::parts::{Kind, Parts, Scene};
use super::{AnyContact, Config, ContactConfig, Joint, LineConfig, LinkConfig, check_contact};
use crate::ScenarioError;
use crate::common::Zeno;
use crate::motion::mechanism::playback::Drawing;
use carom_contact::ImpactLaw;
use carom_mechanism::planar::{
    Actuator, Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism, Reference, Spring,
};
use carom_mechanism::{MechanicalSystem, MechanismError};
use carom_motion::generalized::{IntegratorError, IntegratorOptions};
use nalgebra::DMatrix;

/// Largest number of events in one step; a run with more stops.
const MAX_EVENTS: usize = 10_000;

/// Largest number of steps of a run.
const MAX_STEPS: f64 = 5e6;

/// Largest number of rows of a sampled trajectory.
const MAX_SAMPLES: f64 = 1e6;

/// Acceleration of gravity where none is given (m/s²).
const GRAVITY: [f64; 2] = [0.0, -9.80665];

/// Mechanism with the settings of its run.
pub(crate) struct Setup {
    pub(crate) system: Box<dyn MechanicalSystem>,
    /// Drawn parts; `None` for a system given by formulas.
    pub(crate) scene: Option<Scene>,
    pub(crate) law: Box<dyn ImpactLaw>,
    /// Note about contact coefficients that the law does not use; `None` if all are used.
    pub(crate) ignored: Option<String>,
    pub(crate) options: IntegratorOptions,
    pub(crate) coordinates: Vec<String>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) contacts: Vec<String>,
    /// Expressions while which are positive contacts can close.
    pub(crate) closes_when: Vec<Option<String>>,
    pub(crate) parameters: std::collections::BTreeMap<String, f64>,
    pub(crate) position: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) duration: f64,
    pub(crate) time_step: f64,
    pub(crate) sample_step: f64,
    pub(crate) max_impacts: Option<usize>,
    pub(crate) stops_at_zeno: bool,
    pub(crate) zeno_is_error: bool,
}

impl Setup {
    /// Converts an integrator error to a scenario error. If a contact penetrates at the start, the message names this contact.
    pub(crate) fn name_key(&self, error: IntegratorError) -> ScenarioError {
        match error {
            IntegratorError::InitialPenetration { contact, gap } => {
                let name = self.contacts.get(contact).map_or("", String::as_str);
                let message =
                    format!("initial-penetration: contact `{name}` starts with the gap {gap:e}");
                ScenarioError::value(&format!("contacts[{contact}]"), message)
            }
            IntegratorError::NotAssembled { ref constraint, .. } => {
                let mut names = self.system.constraints().iter();
                let index = names.position(|name| name == constraint);
                let key = format!("constraints[{}]", index.unwrap_or_default());
                ScenarioError::value(&key, format!("{}: {error}", error.kind()))
            }
            other => other.into(),
        }
    }
}

impl Config<ContactConfig> {
    /// Checks the configuration of a mechanism of links, and builds it with the settings of its run.
    pub(crate) fn setup(&self) -> Result<Setup, ScenarioError> {
        self.check_times()?;
        let contacts = self.contacts.as_deref().unwrap_or_default();
        let links = self.links.as_deref().unwrap_or_default();
        let mut assembly = Assembly::new(self.gravity.unwrap_or(GRAVITY));
        for i in 0..links.len() {
            assembly.add_link(links, i)?;
        }
        for i in 0..contacts.len() {
            assembly.add_contact(contacts, i)?;
        }
        let lines = distinct_lines(contacts);
        let parts = assembly.finish(&self.constraints, lines)?;
        self.finish(parts, contacts)
    }
}

impl Config<FormulaContactConfig> {
    /// Checks the configuration of a system given by formulas, and builds it with the settings of its run.
    pub(crate) fn setup(&self) -> Result<Setup, ScenarioError> {
        self.check_times()?;
        if self.links.is_some() {
            let message = "a mechanism is a `[system]` of formulas or has `[[links]]`, not both";
            return Err(ScenarioError::value("system", message));
        }
        if self.gravity.is_some() {
            let message = "a `[system]` has its weight in `potential`";
            return Err(ScenarioError::value("gravity", message));
        }
        let contacts = self.contacts.as_deref().unwrap_or_default();
        let Some(system) = &self.system else {
            return Err(ScenarioError::value("system", "is missing"));
        };
        let parts = system.build(contacts, &self.constraints)?;
        self.finish(parts, contacts)
    }
}

impl<C: AnyContact> Config<C> {
    /// Adds the settings of the run to a mechanism.
    fn finish(&self, parts: Parts, contacts: &[C]) -> Result<Setup, ScenarioError> {
        let mut options = IntegratorOptions::default().with_max_events_per_step(MAX_EVENTS);
        if self.on_zeno == Some(Zeno::Continue) {
            options.zeno_ratio = 0.0;
        }
        let law = self.law(contacts)?;
        let restitutes = contacts.iter().any(|contact| contact.restitution() > 0.0);
        Ok(Setup {
            ignored: crate::motion::ignored("law.name", &law).filter(|_| restitutes),
            law: Box::new(law),
            system: parts.system,
            scene: parts.scene,
            options,
            coordinates: parts.coordinates,
            kinds: parts.kinds,
            contacts: contacts.iter().map(|c| c.name().to_owned()).collect(),
            closes_when: contacts
                .iter()
                .map(|c| c.closes_when().map(str::to_owned))
                .collect(),
            parameters: self.parameters.clone(),
            position: parts.position,
            velocity: parts.velocity,
            duration: self.duration,
            time_step: self.time_step,
            sample_step: self.output.sample_step,
            max_impacts: self.max_impacts,
            stops_at_zeno: matches!(self.on_zeno, Some(Zeno::Stop | Zeno::Error)),
            zeno_is_error: self.on_zeno == Some(Zeno::Error),
        })
    }

    /// Rejects an invalid time step or duration, and a run with too many steps or output rows.
    fn check_times(&self) -> Result<(), ScenarioError> {
        crate::motion::positive("time_step", &[self.time_step])?;
        crate::motion::finite("gravity", &self.gravity.unwrap_or(GRAVITY))?;
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
        if sample_step > 0.0 && self.duration / sample_step > MAX_SAMPLES {
            let message = format!("{sample_step} makes more than a million rows");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        Ok(())
    }
}

/// Returns the fixed lines that the points of a mechanism can touch, without duplicates. Each entry contains a point of
/// the line and its unit normal.
fn distinct_lines(contacts: &[ContactConfig]) -> Vec<[[f64; 2]; 2]> {
    let mut lines: Vec<[[f64; 2]; 2]> = Vec::new();
    for LineConfig { point, normal } in contacts.iter().map(|contact| contact.line) {
        let length = libm::hypot(normal[0], normal[1]);
        let line = [point, normal.map(|x| x / length)];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Links and contacts added so far, with their names, initial values and drawings.
struct Assembly {
    builder: PlanarBuilder,
    /// Names and identifiers of the links, parents first.
    made: Vec<(String, Link)>,
    drawings: Vec<Drawing>,
    coordinates: Vec<String>,
    kinds: Vec<Kind>,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

impl Assembly {
    fn new(gravity: [f64; 2]) -> Self {
        Self {
            builder: PlanarBuilder::new(gravity),
            made: Vec::new(),
            drawings: Vec::new(),
            coordinates: Vec::new(),
            kinds: Vec::new(),
            position: Vec::new(),
            velocity: Vec::new(),
        }
    }

    fn find(&self, name: &str) -> Option<Link> {
        let found = self.made.iter().find(|(known, _)| known == name);
        found.map(|(_, link)| *link)
    }

    /// Adds the link with the index `i` of the list `links`, with its joint, masses and forces. The parent of the link must
    /// have been added before.
    fn add_link(&mut self, links: &[LinkConfig], i: usize) -> Result<(), ScenarioError> {
        let link = &links[i];
        let key = |part: &str| format!("links[{i}].{part}");
        link.check(&key)?;
        if link.name == "ground" || self.find(&link.name).is_some() {
            let message = format!("`{}` is there twice", link.name);
            return Err(ScenarioError::value(&key("name"), message));
        }
        let parent = self.parent(links, link);
        let parent = parent.map_err(|message| ScenarioError::value(&key("parent"), message))?;
        let new = match link.joint {
            Joint::Slider => self.builder.slider(parent, link.anchor, link.direction),
            Joint::Hinge => self.builder.hinge(parent, link.anchor, link.angle),
            Joint::Floating => self.builder.floating(),
        };
        self.draw_link(link, parent, new);
        self.add_bodies(link, new);
        self.add_forces(link, new);
        match link.joint {
            Joint::Floating => {
                let names = ["x", "y", "angle"].map(|axis| format!("{}.{axis}", link.name));
                self.coordinates.extend(names);
                self.kinds
                    .extend([Kind::Position, Kind::Position, Kind::Angle]);
            }
            joint => {
                self.coordinates.push(link.name.clone());
                self.kinds.push(match joint {
                    Joint::Hinge => Kind::Angle,
                    _ => Kind::Position,
                });
            }
        }
        let position = link.position.of(link.joint, &key("position"))?;
        let velocity = link.velocity.of(link.joint, &key("velocity"))?;
        self.position.extend(position);
        self.velocity.extend(velocity);
        self.made.push((link.name.clone(), new));
        Ok(())
    }

    /// Returns the parent link named in the configuration of `link`, or an error message if it has not been added.
    fn parent(&self, links: &[LinkConfig], link: &LinkConfig) -> Result<Link, String> {
        let name = &link.parent;
        let parent = match name.as_str() {
            "ground" => Some(Link::GROUND),
            name => self.find(name),
        };
        let Some(parent) = parent else {
            let comes_later = links.iter().any(|other| other.name == *name);
            return Err(if comes_later {
                format!(
                    "`{name}` of `{}` must come before it: parents first, no cycles",
                    link.name
                )
            } else {
                format!("`{}` has the unknown parent `{name}`", link.name)
            });
        };
        if link.joint == Joint::Floating && name != "ground" {
            return Err(format!(
                "the floating link `{}` has the parent ground",
                link.name
            ));
        }
        Ok(parent)
    }

    /// Prepares the drawing of a new link. The joint of the link is added to the drawing of the parent link, and the
    /// centers of mass of the link are added to the link's own drawing. `new`: the added link.
    fn draw_link(&mut self, link: &LinkConfig, parent: Link, new: Link) {
        let mut drawings = self.drawings.iter_mut();
        if let Some(holder) = drawings.find(|drawing| drawing.link == parent) {
            holder.joints.push(link.anchor);
        }
        let mut drawing = Drawing::new(new, &link.name);
        let center = link.mass.map(|_| link.center.unwrap_or_default());
        let centers = link.bodies.iter().map(|body| body.center);
        drawing.masses.extend(center.into_iter().chain(centers));
        self.drawings.push(drawing);
    }

    /// Adds the mass of a link to the mechanism, and the masses of the bodies that the configuration lists for this link.
    /// `new`: the added link.
    fn add_bodies(&mut self, link: &LinkConfig, new: Link) {
        let whole = link.mass.map(|mass| {
            Inertia::new(
                mass,
                link.center.unwrap_or_default(),
                link.inertia.unwrap_or_default(),
            )
        });
        let bodies = link.bodies.iter();
        let bodies = bodies.map(|b| Inertia::new(b.mass, b.center, b.inertia));
        for body in whole.into_iter().chain(bodies) {
            self.builder.body(new, body);
        }
    }

    /// Adds the spring and the actuator of a link's joint to the mechanism. `new`: the added link.
    fn add_forces(&mut self, link: &LinkConfig, new: Link) {
        if let Some(spring) = link.spring {
            let spring = Spring {
                stiffness: spring.stiffness,
                damping: spring.damping,
                rest: spring.rest,
            };
            self.builder.spring(new, spring);
        }
        if let Some(actuator) = link.actuator {
            let reference = actuator.reference;
            let actuator = Actuator {
                proportional: actuator.proportional,
                derivative: actuator.derivative,
                reference: Reference {
                    hold: reference.hold,
                    rate: reference.rate,
                    start: reference.start,
                },
            };
            self.builder.actuator(new, actuator);
        }
    }

    /// Adds the contact with the index `i` of the list `contacts` to the mechanism. The link with the contact must have been
    /// added before.
    fn add_contact(&mut self, contacts: &[ContactConfig], i: usize) -> Result<(), ScenarioError> {
        let contact = &contacts[i];
        let key = |part: &str| format!("contacts[{i}].{part}");
        let link = self.check_contact(contact, &contacts[..i]);
        let link = link.map_err(|(part, message)| ScenarioError::value(&key(part), message))?;
        let mut drawings = self.drawings.iter_mut();
        if let Some(drawing) = drawings.find(|drawing| drawing.link == link) {
            if contact.radius > 0.0 {
                drawing.wheels.push((contact.point, contact.radius));
            } else {
                drawing.corners.push(contact.point);
            }
        }
        let line = Line::new(contact.line.point, contact.line.normal)
            .map_err(|error| ScenarioError::value(&key("line"), error))?;
        let contact = LineContact {
            name: contact.name.clone(),
            point: contact.point,
            radius: contact.radius,
            line,
            friction: contact.friction,
            restitution: contact.restitution,
        };
        self.builder.contact(link, contact);
        Ok(())
    }

    /// Checks the configuration of a contact and returns the link that it belongs to. An error contains the invalid key and a
    /// message. `before`: contacts that were added before, which must have other names.
    fn check_contact(
        &self,
        contact: &ContactConfig,
        before: &[ContactConfig],
    ) -> Result<Link, (&'static str, String)> {
        check_contact(contact, before)?;
        let name = &contact.name;
        self.find(&contact.link).ok_or_else(|| {
            let message = format!("contact `{name}`: no link is called `{}`", contact.link);
            ("link", message)
        })
    }

    /// Builds the mechanism from its parts, under the velocity constraints `constraints`. `lines`: lines that its contacts touch.
    fn finish(
        self,
        constraints: &[ConstraintConfig],
        lines: Vec<[[f64; 2]; 2]>,
    ) -> Result<Parts, ScenarioError> {
        let mechanism = self.build()?;
        let system = constrained(mechanism.clone(), constraints, &|constraint, key| {
            constraint.of_links(
                key,
                &mechanism,
                &self.coordinates,
                &self.position,
                &|name| self.find(name),
            )
        })?;
        Ok(Parts {
            system,
            scene: Some(Scene {
                mechanism,
                drawings: self.drawings,
                lines,
            }),
            coordinates: self.coordinates,
            kinds: self.kinds,
            position: self.position,
            velocity: self.velocity,
        })
    }

    /// Builds the planar mechanism from the added links and contacts. Error messages contain the names of the links.
    fn build(&self) -> Result<PlanarMechanism, ScenarioError> {
        let name = |coordinate: usize| self.coordinates.get(coordinate).map_or("", String::as_str);
        // Errors count coordinates, and a floating link has three of them.
        let owner = |coordinate: usize| name(coordinate).split('.').next().unwrap_or_default();
        let mechanism = self.builder.clone().build().map_err(|error| match &error {
            MechanismError::InvalidLink { link, .. }
            | MechanismError::InvalidInertia { link, .. }
            | MechanismError::Massless { link } => {
                ScenarioError::value("links", format!("`{}`: {error}", owner(*link)))
            }
            MechanismError::Empty => ScenarioError::value("links", error),
            _ => ScenarioError::value("contacts", error),
        })?;
        if let Some(coordinate) = massless(&mechanism, &self.position) {
            let name = name(coordinate);
            let message = format!("the coordinate `{name}` moves no inertia at the start");
            return Err(ScenarioError::value("links", message));
        }
        Ok(mechanism)
    }
}

/// Returns the index of the first coordinate whose motion moves no mass in the configuration `position`; `None` if there is no
/// such coordinate.
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
