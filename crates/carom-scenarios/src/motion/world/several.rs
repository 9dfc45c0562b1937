//! Warning where the law for several contacts decides the outcome of an impact.

use super::World;
use super::joints::Jointed;
use super::setup::{Setup, Single};
use carom_contact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};
use carom_impact::{EnergeticRestitution, Propagative};
use carom_world::jointed::JointImpact;
use carom_world::{Impact, ImpactContact, SharedLaws, Surface};
use nalgebra::DVector;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of impacts of a run that are compared.
const COMPARED: usize = 16;

/// Largest difference of two outcomes that counts as equal, as a fraction of the velocity change of the impact.
const EQUAL: f64 = 0.01;

/// Largest number of bodies whose velocities the warning tells.
const TOLD: usize = 6;

/// Comparison of the law of a run with the law `propagative`, at impacts in which one contact closes while another one touches.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Comparison {
    compared: usize,
    warning: Option<String>,
}

/// Impact problem that the law for several contacts was asked last.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    posed: Arc<Mutex<Option<ImpactProblem>>>,
    /// True if no further problem is needed.
    is_closed: Arc<AtomicBool>,
}

impl Asked {
    /// Returns the law for several contacts at the impact with the number `index`. The problems that it is asked are kept here, unless
    /// the user names the law.
    pub(super) fn keep(
        &self,
        setup: &Setup,
        index: usize,
        problem: &ImpactProblem,
    ) -> Box<dyn ImpactLaw> {
        let law = setup.several(index, problem);
        if setup.several_is_given {
            return law;
        }
        let asked = self.clone();
        Box::new(Kept { law, asked })
    }

    fn lock(&self) -> MutexGuard<'_, Option<ImpactProblem>> {
        self.posed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Impact law whose problems are kept.
#[derive(Debug)]
struct Kept {
    law: Box<dyn ImpactLaw>,
    asked: Asked,
}

impl ImpactLaw for Kept {
    fn name(&self) -> &'static str {
        self.law.name()
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        if self.asked.is_closed.load(Ordering::Relaxed) {
            return self.law.resolve(problem);
        }
        *self.asked.lock() = Some(problem.clone());
        self.law.resolve(problem)
    }
}

/// Returns the impact laws of a world as a session owns them. `asked` keeps the problems that they are asked.
pub(super) fn shared_laws(setup: &Arc<Setup>, asked: Option<Asked>) -> SharedLaws {
    let own = Arc::clone(setup);
    let several = move |index, problem: &ImpactProblem| match &asked {
        Some(asked) => asked.keep(&own, index, problem),
        None => own.several(index, problem),
    };
    let laws = match setup.single() {
        Single::TwoBody(options) => SharedLaws::new(options, several),
        Single::Any(law) => SharedLaws::new(setup.options, several).with_single(Arc::from(law)),
    };
    laws.with_on_zeno(setup.on_zeno)
}

impl Comparison {
    /// Takes the problem of an impact with these contacts, which stand behind `n_limits` limits of joints in the problem. Returns
    /// the problem, the contacts, and the place of the one that closes; `None` if no further impact is compared, because the user
    /// names a law or a compared impact differs, or if the law does not decide the impact.
    fn take(
        &self,
        setup: &Setup,
        asked: &Asked,
        n_limits: usize,
        touches: impl Iterator<Item = Touch>,
    ) -> Option<(ImpactProblem, Vec<Touch>, usize)> {
        if setup.several_is_given || self.warning.is_some() || self.compared >= COMPARED {
            asked.is_closed.store(true, Ordering::Relaxed);
            return None;
        }
        let posed = asked.lock().take()?;
        let touches: Vec<Touch> = touches.collect();
        let closing = closing(&touches)?;
        (posed.contacts().len() == n_limits + touches.len()).then_some((posed, touches, closing))
    }

    /// Compares the laws at an impact, if it is one in which the law can decide. The warning tells velocities along the normal of
    /// the closing contact, along which the body that moves fastest has a positive velocity.
    pub(super) fn note(&mut self, world: &World, asked: &Asked, impact: &Impact) {
        let (setup, contacts) = (&world.setup, &impact.contacts);
        let touches = contacts.iter().map(|c| world.touch(c));
        let Some((posed, touches, closing)) = self.take(setup, asked, 0, touches) else {
            return;
        };
        let closing = &contacts[closing];
        let along = |v: &DVector<f64>, k: usize| v.fixed_rows::<3>(6 * k).dot(&closing.normal);
        let speed = |thing: usize| {
            let place = impact.states.iter().position(|(body, _)| *body == thing);
            place.map_or(0.0, |k| along(&posed.velocity_minus().0, k))
        };
        let (first, second) = (speed(closing.first), speed(closing.second));
        let fastest = if first.abs() >= second.abs() {
            first
        } else {
            second
        };
        let sign = fastest.signum();
        let told = |v: &DVector<f64>| (0..v.len() / 6).map(|k| along(v, k) * sign).collect();
        self.compare(setup, impact.time, &touches, &posed, "", &told);
    }

    /// Compares the laws at an impact of jointed bodies, if it is one in which the law can decide.
    pub(super) fn note_joints(&mut self, jointed: &Jointed, asked: &Asked, impact: &JointImpact) {
        let (setup, n_limits) = (&jointed.setup, impact.hits.len());
        let touches = impact.touches.iter().map(|t| jointed.touch(t));
        let Some((posed, touches, _)) = self.take(setup, asked, n_limits, touches) else {
            return;
        };
        let part = |v: &DVector<f64>| -> Vec<f64> {
            let points = posed.contacts().contacts().iter().skip(n_limits);
            points.map(|c| c.normal.0.dot(v)).collect()
        };
        let what = "as speeds between the bodies ";
        self.compare(setup, impact.time, &touches, &posed, what, &part);
    }

    /// Compares the laws at an impact problem. `told` returns the velocities (m/s) that the warning tells, after the words `what`.
    fn compare(
        &mut self,
        setup: &Setup,
        time: f64,
        touches: &[Touch],
        posed: &ImpactProblem,
        what: &str,
        told: &dyn Fn(&DVector<f64>) -> Vec<f64>,
    ) {
        self.compared += 1;
        let restitution = touches.iter().map(|t| t.restitution).fold(0.0, f64::max);
        let law = setup.several(0, posed);
        let Some([own, other]) = differing(posed, law.as_ref(), restitution) else {
            return;
        };
        let before = told(&posed.velocity_minus().0);
        let [own, other] = [own, other].map(|v| text(&before, &told(&v)));
        let name = law.name();
        let asked = if touches.iter().any(|t| t.rubs) {
            format!("without friction `{name}` answers")
        } else {
            format!("`{name}` answered")
        };
        self.warning = Some(format!(
            "at {} s one contact closed while another touched: {what}{asked} {own} m/s, `{}` answers {other} (law.several)",
            trimmed(format!("{time:.4}")),
            Propagative::default().name(),
        ));
    }

    /// Returns the warning; `None` if the laws agree.
    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// Contact of an impact, as far as the comparison of laws needs it.
struct Touch {
    normal_velocity: f64,
    restitution: f64,
    rubs: bool,
    /// True if both bodies move.
    is_between_bodies: bool,
}

impl Touch {
    /// Creates the contact from its place in an impact and its `surface`. `is_mobile` returns true for a body that moves.
    fn new(contact: &ImpactContact, surface: &Surface, is_mobile: impl Fn(usize) -> bool) -> Self {
        Self {
            normal_velocity: contact.normal_velocity,
            restitution: surface.restitution,
            rubs: surface.friction > 0.0,
            is_between_bodies: is_mobile(contact.first) && is_mobile(contact.second),
        }
    }
}

impl World {
    fn touch(&self, contact: &ImpactContact) -> Touch {
        let bodies = &self.setup.spec.bodies;
        let surface = self.world.surface(contact.first, contact.second);
        let is_mobile = |thing: usize| bodies.get(thing).is_some_and(|body| body.mass.is_some());
        Touch::new(contact, &surface, is_mobile)
    }
}

impl Jointed {
    fn touch(&self, contact: &ImpactContact) -> Touch {
        let (spec, mb) = (&self.setup.spec, self.world.multibody());
        let things = [contact.first, contact.second];
        let mut pairs = spec.pairs.iter();
        let own = pairs.find(|(pair, _)| pair.iter().all(|thing| things.contains(thing)));
        let surface = own.map_or(&spec.surface, |(_, surface)| surface);
        let is_mobile = |thing: usize| thing < mb.n_bodies() && mb.rigid(thing).is_some();
        Touch::new(contact, surface, is_mobile)
    }
}

/// Returns the place of the contact with restitution that closes fastest, if another contact between two moving bodies touches
/// and has restitution; `None` for other impacts.
fn closing(touches: &[Touch]) -> Option<usize> {
    let fastest = touches
        .iter()
        .map(|t| t.normal_velocity)
        .fold(0.0, f64::min);
    let rests = |t: &Touch| t.normal_velocity.abs() <= 1e-9 * -fastest;
    let is_elastic = |t: &Touch| t.restitution > 0.0;
    let mut resting = touches.iter().filter(|t| rests(t) && is_elastic(t));
    resting.find(|t| t.is_between_bodies)?;
    let all = touches.iter().enumerate();
    let closing = all.filter(|(_, t)| t.normal_velocity < 0.0 && !rests(t) && is_elastic(t));
    let speed = |(_, t): &(usize, &Touch)| t.normal_velocity;
    let first = closing.min_by(|a, b| speed(a).total_cmp(&speed(b)));
    first.map(|(place, _)| place)
}

/// Returns velocities as a text, rounded to a hundredth of the power of ten of the largest one before the impact.
fn text(before: &[f64], velocities: &[f64]) -> String {
    let largest = before
        .iter()
        .fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
    let power = libm::floor(libm::log10(largest * (1.0 + 1e-9)));
    let decimals = (2.0 - power).clamp(0.0, 300.0) as usize;
    let one = |velocity: &f64| {
        let text = trimmed(format!("{velocity:.decimals$}"));
        let is_zero = text.trim_matches(['-', '0', '.']).is_empty();
        if is_zero { "0".to_owned() } else { text }
    };
    let mut texts: Vec<String> = velocities.iter().take(TOLD).map(one).collect();
    if velocities.len() > TOLD {
        texts.push("...".to_owned());
    }
    texts.join(", ")
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

/// Resolves an impact without friction by a law and by `propagative`, which has the given restitution. Returns the velocities after
/// it by both laws if they differ; `None` if they agree, or if a law has no answer.
fn differing(
    posed: &ImpactProblem,
    law: &dyn ImpactLaw,
    restitution: f64,
) -> Option<[DVector<f64>; 2]> {
    let (set, before) = (posed.contacts(), posed.velocity_minus());
    let plain = |c: &Contact| Contact::new(c.normal.clone()).with_restitution(c.restitution);
    let contacts = set.contacts().iter().map(plain).collect();
    let contacts = ContactSet::new(set.metric().clone(), contacts).ok()?;
    let problem = contacts.problem(before.clone()).ok()?;
    let other =
        Propagative::default().with_restitution(EnergeticRestitution::new(restitution).ok()?);
    let own = law.resolve(&problem).ok()?.velocity_plus.0;
    let other = other.resolve(&problem).ok()?.velocity_plus.0;
    let length = |v: DVector<f64>| v.dot(&(set.metric().mass_matrix() * &v)).max(0.0).sqrt();
    let change = length(&own - &before.0).max(length(&other - &before.0));
    (length(&own - &other) > EQUAL * change).then_some([own, other])
}
