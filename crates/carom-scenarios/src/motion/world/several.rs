//! Warning where the law for several contacts decides the outcome of an impact.

use super::World;
use carom_contact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
use carom_impact::{EnergeticRestitution, Propagative};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_variational::State;
use carom_world::{Impact, ImpactContact};
use nalgebra::{DMatrix, DVector, Vector3};

/// Number of impacts of a run that are compared.
const COMPARED: usize = 16;

/// Largest difference of two outcomes that counts as equal, as a fraction of the velocity change of the impact.
const EQUAL: f64 = 0.01;

/// Largest number of bodies whose velocities the warning tells.
const TOLD: usize = 6;

/// Comparison of the law of a run with the law `propagative`, at impacts in which one contact closes while another one touches.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    compared: usize,
    warning: Option<String>,
}

/// Frictionless impact problem of a world, with the direction in which the warning tells velocities.
struct Posed {
    metric: KineticMetric,
    contacts: Vec<Contact>,
    velocity: DVector<f64>,
    direction: Vector3<f64>,
    restitution: f64,
}

impl Comparison {
    /// Compares the laws at an impact, if the user names no law and the impact is one in which the law can decide.
    pub(super) fn note(&mut self, world: &World, impact: &Impact) {
        let setup = &world.setup;
        if setup.several_is_given || self.warning.is_some() || self.compared >= COMPARED {
            return;
        }
        if let Some(posed) = Posed::new(world, impact) {
            self.compared += 1;
            let law = setup.several(0);
            self.warning = posed.differing(law.as_ref()).map(|[own, other]| {
                let name = setup.several_name();
                let asked = if world.rubs(impact) {
                    format!("without friction `{name}` answers")
                } else {
                    format!("`{name}` answered")
                };
                format!(
                    "at {} s one contact closed while another touched: {asked} {own} m/s, `{}` answers {other} (law.several)",
                    trimmed(format!("{:.4}", impact.time)),
                    Propagative::default().name(),
                )
            });
        }
    }

    /// Returns the warning; `None` if the laws agree.
    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// Removes the zeros at the end of a decimal number.
fn trimmed(number: String) -> String {
    if number.contains('.') {
        number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    } else {
        number
    }
}

impl World {
    /// True if a contact of the impact has friction.
    fn rubs(&self, impact: &Impact) -> bool {
        let mut contacts = impact.contacts.iter();
        contacts.any(|c| self.world.surface(c.first, c.second).friction > 0.0)
    }
}

impl Posed {
    /// Returns the problem without friction of an impact in which one contact approaches while another one between two moving
    /// bodies touches, both with restitution. `None` for other impacts.
    fn new(World { world, setup, .. }: &World, impact: &Impact) -> Option<Self> {
        let bodies = &setup.spec.bodies;
        let is_mobile = |thing: usize| bodies.get(thing).is_some_and(|body| body.mass.is_some());
        let size = |c: &ImpactContact| c.normal_velocity;
        let fastest = impact.contacts.iter().map(size).fold(0.0, f64::min);
        let rests = |c: &&ImpactContact| c.normal_velocity.abs() <= 1e-9 * -fastest;
        let restitution = |c: &ImpactContact| world.surface(c.first, c.second).restitution;
        let bounces = |c: &&ImpactContact| restitution(c) > 0.0;
        let closing = impact.contacts.iter().filter(bounces);
        let closing = closing.min_by(|a, b| size(a).total_cmp(&size(b)))?;
        let touching = impact
            .contacts
            .iter()
            .filter(rests)
            .find(|c| is_mobile(c.first) && is_mobile(c.second) && restitution(c) > 0.0);
        if rests(&closing) || size(closing) >= 0.0 || touching.is_none() {
            return None;
        }
        let place = |thing: usize| impact.states.iter().position(|(body, _)| *body == thing);
        let n = 6 * impact.states.len();
        let (mut mass, mut momentum) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for (k, (body, state)) in impact.states.iter().enumerate() {
            let own = bodies.get(*body)?.mass.as_ref()?;
            for i in 0..3 {
                mass[(6 * k + i, 6 * k + i)] = own.mass();
            }
            mass.fixed_view_mut::<3, 3>(6 * k + 3, 6 * k + 3)
                .copy_from(own.inertia());
            momentum
                .fixed_rows_mut::<3>(6 * k)
                .copy_from(&state.linear_momentum);
            momentum
                .fixed_rows_mut::<3>(6 * k + 3)
                .copy_from(&state.angular_momentum);
        }
        // Linear parts in space, angular parts in body axes, as in the states.
        let row = |c: &ImpactContact, direction: &Vector3<f64>| {
            let mut row = DVector::zeros(n);
            for (thing, sign) in [(c.first, 1.0), (c.second, -1.0)] {
                if let Some(k) = place(thing) {
                    let state: &State = &impact.states[k].1;
                    let turning = (c.point - state.position).cross(direction);
                    row.fixed_rows_mut::<3>(6 * k)
                        .copy_from(&(direction * sign));
                    row.fixed_rows_mut::<3>(6 * k + 3)
                        .copy_from(&(state.rotation.rotate_back(&turning) * sign));
                }
            }
            row
        };
        for contact in &impact.contacts {
            momentum -= row(contact, &contact.impulse);
        }
        let velocity = mass.clone().cholesky()?.solve(&momentum);
        let contacts = impact.contacts.iter().map(|c| Contact {
            restitution: restitution(c),
            ..Contact::frictionless(Covector(row(c, &c.normal)))
        });
        let contacts: Vec<Contact> = contacts.collect();
        // The body that moves along the normal at the greatest speed has a positive velocity.
        let along = |k: usize| velocity.fixed_rows::<3>(6 * k).dot(&closing.normal);
        let speeds = [closing.first, closing.second].map(|thing| place(thing).map_or(0.0, along));
        let greatest = if speeds[0].abs() >= speeds[1].abs() {
            speeds[0]
        } else {
            speeds[1]
        };
        Some(Self {
            restitution: contacts.iter().map(|c| c.restitution).fold(0.0, f64::max),
            metric: KineticMetric::new(mass).ok()?,
            contacts,
            direction: closing.normal * greatest.signum(),
            velocity,
        })
    }

    /// Resolves the impact with a law and with `propagative`. Returns the velocities of the bodies by both laws as texts if
    /// they differ; `None` if they agree, or if a law has no answer.
    fn differing(&self, law: &dyn ImpactLaw) -> Option<[String; 2]> {
        let contacts = ContactSet::new(&self.metric, self.contacts.clone()).ok()?;
        let velocity = Tangent(self.velocity.clone());
        let problem = ImpactProblem::new(&contacts, velocity).ok()?;
        let other = Propagative {
            restitution: EnergeticRestitution::new(self.restitution).ok()?,
            ..Propagative::default()
        };
        let laws: [&dyn ImpactLaw; 2] = [law, &other];
        let mut answers = Vec::new();
        for law in laws {
            answers.push(law.resolve(&problem).ok()?.velocity_plus.0);
        }
        let length = |v: DVector<f64>| v.dot(&(self.metric.mass_matrix() * &v)).max(0.0).sqrt();
        let [own, other] = [&answers[0], &answers[1]];
        let change = length(own - &self.velocity).max(length(other - &self.velocity));
        (length(own - other) > EQUAL * change).then(|| [self.told(own), self.told(other)])
    }

    /// Returns the velocity (m/s) of the body at place `k` along the direction of the impact.
    fn along(&self, velocity: &DVector<f64>, k: usize) -> f64 {
        velocity.fixed_rows::<3>(6 * k).dot(&self.direction)
    }

    /// Returns the velocities of the bodies along the direction of the impact as a text, rounded to a hundredth of the power of
    /// ten of the largest one before the impact.
    fn told(&self, velocity: &DVector<f64>) -> String {
        let n = velocity.len() / 6;
        let before = (0..n).map(|k| self.along(&self.velocity, k).abs());
        let largest = before.fold(f64::MIN_POSITIVE, f64::max);
        let power = libm::floor(libm::log10(largest * (1.0 + 1e-9)));
        let decimals = (2.0 - power).clamp(0.0, 300.0) as usize;
        let along = |k: usize| {
            let text = trimmed(format!("{:.decimals$}", self.along(velocity, k)));
            let is_zero = text.trim_matches(['-', '0', '.']).is_empty();
            if is_zero { "0".to_owned() } else { text }
        };
        let mut texts: Vec<String> = (0..n.min(TOLD)).map(along).collect();
        if n > TOLD {
            texts.push("...".to_owned());
        }
        texts.join(", ")
    }
}
