//! Distance to the set of inelastic frictional outcomes.

use super::Case;
use crate::frictional::{
    AnitescuPotra, CapDistribution, CounterRng, Draw, RatePiece, Sampler, SetValued,
    integrate_inclusion,
};
use crate::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, Plastic, Routh};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

/// Planar contacts up to which exact paths are drawn; of more, paths have many events and cost more
/// than samples.
const MAX_PATH_CONTACTS: usize = 8;

/// Pieces of constant rates in a path that is drawn.
const PIECES: usize = 3;

/// Probability that a contact is switched off in a piece of a path or a step of a sample.
const OFF: f64 = 0.25;

/// Least rate of a contact in the last piece of a path, over the greatest.
const LEAST_RATE: f64 = 0.02;

/// Length of the last piece, in impulses that stop a contact alone.
const ENDLESS: f64 = 1e9;

/// How far the outcome is from the set of Halm & Posa: all ends of the impact inclusion, in which
/// contacts that approach push in any overlap, without restitution (see
/// [`frictional`](crate::frictional)).
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeSetDistance {
    /// Distance to the nearest member known, relative.
    pub distance: f64,
    /// How it was found.
    pub method: SetMethod,
    /// That member (n).
    pub nearest: Tangent,
}

/// How a distance to a set was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetMethod {
    /// From the whole set: one contact, two without friction, or any number without friction of which
    /// none opens another.
    Exact,
    /// From members drawn: the true distance may be less. Of up to eight planar contacts members are
    /// exact paths of the inclusion and the nearest is improved; else they are samples of
    /// [`SetValued`](crate::frictional::SetValued), steps of which lie near the set.
    Sampled {
        /// Members that were looked at.
        members: u64,
    },
}

impl SetMethod {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Sampled { .. } => "sampled",
        }
    }
}

/// The nearest member seen.
struct Nearest {
    distance: f64,
    velocity: Tangent,
    members: u64,
}

impl Nearest {
    fn new(velocity: Tangent) -> Self {
        Self {
            distance: f64::INFINITY,
            velocity,
            members: 0,
        }
    }

    /// Looks at one more member; whether it is the nearest so far.
    fn see(&mut self, case: &Case<'_>, velocity: Tangent) -> bool {
        self.members += 1;
        let distance = case.distance(&velocity);
        let is_nearer = distance < self.distance;
        if is_nearer {
            self.distance = distance;
            self.velocity = velocity;
        }
        is_nearer
    }

    fn report(self, method: SetMethod) -> OutcomeSetDistance {
        OutcomeSetDistance {
            distance: self.distance,
            method,
            nearest: self.velocity,
        }
    }
}

pub(super) fn distance(case: &Case<'_>) -> Result<OutcomeSetDistance, ImpactError> {
    let problem = case.problem;
    let contacts = problem.contacts();
    let mut nearest = Nearest::new(problem.velocity_minus().clone());
    if !problem.is_approaching() {
        nearest.see(case, problem.velocity_minus().clone());
        return Ok(nearest.report(SetMethod::Exact));
    }
    let is_smooth = |contact: &Contact| contact.friction == 0.0 || contact.tangents.is_empty();
    let all_smooth = contacts.contacts().iter().all(is_smooth);
    if all_smooth && none_opens_another(contacts) {
        let outcome = Plastic::default().resolve(problem)?;
        nearest.see(case, outcome.velocity_plus);
        return Ok(nearest.report(SetMethod::Exact));
    }
    if all_smooth && contacts.n_distinct() <= 2 {
        let found = smooth_pair(case);
        nearest.see(case, found);
        return Ok(nearest.report(SetMethod::Exact));
    }
    if contacts.len() == 1
        && let Ok(velocity) = one_contact(case)
    {
        nearest.see(case, velocity);
        return Ok(nearest.report(SetMethod::Exact));
    }
    let is_planar = contacts.contacts().iter().all(|c| c.tangents.len() < 2);
    if is_planar && contacts.len() <= MAX_PATH_CONTACTS {
        draw_paths(case, &mut nearest);
    } else {
        draw_samples(case, &mut nearest)?;
    }
    if nearest.members == 0 {
        // No draw ended: one member is still better than none.
        let outcome = AnitescuPotra::default().resolve(problem)?;
        nearest.see(case, outcome.velocity_plus);
    }
    let members = nearest.members;
    Ok(nearest.report(SetMethod::Sampled { members }))
}

/// One contact has one path; it ends where compression does.
fn one_contact(case: &Case<'_>) -> Result<Tangent, ImpactError> {
    let set = case.problem.contacts();
    let inelastic = |contact: &Contact| Contact {
        restitution: 0.0,
        ..contact.clone()
    };
    let contacts = ContactSet::constrained(
        set.metric(),
        set.contacts().iter().map(inelastic).collect(),
        set.constraint_forms().to_vec(),
    )?;
    let problem = ImpactProblem::new(&contacts, case.problem.velocity_minus().clone())?;
    Ok(Routh::default().resolve(&problem)?.velocity_plus)
}

/// Whether pushing at a contact closes every other one, or leaves it alone.
///
/// Then a contact that has pushed ends closed: its own impulse stops at zero velocity, and others
/// only lower it. The end solves $0 \le \lambda \perp b + G\lambda \ge 0$, whose velocity is unique:
/// without friction the set has one member, the plastic outcome.
fn none_opens_another(contacts: &ContactSet<'_>) -> bool {
    let n = contacts.n_distinct();
    (0..n).all(|i| (0..i).all(|j| kernel::dot(contacts.unit(i), contacts.unit(j)) <= 0.0))
}

/// The nearest member of the set of two distinct normals without friction, each of which opens the
/// other (cosine $c > 0$).
///
/// Every end has a contact closed and the other not approaching, and the ends form a path: from one
/// contact first to the other first, over the plastic outcome where they leave different contacts
/// closed.
fn smooth_pair(case: &Case<'_>) -> Tangent {
    let contacts = case.problem.contacts();
    let [b0, b1] = case.problem.unit_velocity() else {
        return case.problem.velocity_minus().clone();
    };
    let wedge = contacts.wedge(0, 1);
    let c = kernel::dot(contacts.unit(0), contacts.unit(1));
    // 1 - c² = sin² 2γ, without cancellation.
    let determinant = (2.0 * wedge.sin * wedge.cos).powi(2);
    let end = |[x, y]: [f64; 2]| {
        let mut end = case.before();
        kernel::add_scaled(end.as_mut_slice(), x, contacts.unit(0));
        kernel::add_scaled(end.as_mut_slice(), y, contacts.unit(1));
        end
    };
    let first = |own: f64, other: f64| {
        let push = (-own).max(0.0);
        [push, (-(other + c * push)).max(0.0)]
    };
    let zero_first = first(*b0, *b1);
    let [one, zero] = first(*b1, *b0);
    let one_first = [zero, one];
    // Whether the first contact ends open, the second closed.
    let opens_first = |[x, y]: [f64; 2]| b0 + x + c * y > b1 + c * x + y;
    let (start, finish) = (end(zero_first), end(one_first));
    let corners = if opens_first(zero_first) == opens_first(one_first) {
        vec![start, finish]
    } else {
        let both = [(c * b1 - b0) / determinant, (c * b0 - b1) / determinant];
        vec![start, end(both), finish]
    };
    let nearest = corners
        .windows(2)
        .map(|pair| on_segment(&case.after, pair))
        .min_by(|a, b| {
            let far = |end: &DVector<f64>| (end - &case.after).norm();
            far(a).total_cmp(&far(b))
        });
    case.velocity(&nearest.unwrap_or_else(|| case.before()))
}

/// The nearest point of a segment.
fn on_segment(target: &DVector<f64>, ends: &[DVector<f64>]) -> DVector<f64> {
    let [a, b] = ends else {
        return ends.first().unwrap_or(target).clone();
    };
    let d = b - a;
    let length = d.norm_squared();
    if length == 0.0 {
        return a.clone();
    }
    a + &d * (d.dot(&(target - a)) / length).clamp(0.0, 1.0)
}

/// Exact paths of planar contacts: half of them drawn, half around the nearest so far, ever closer.
fn draw_paths(case: &Case<'_>, nearest: &mut Nearest) {
    let contacts = case.problem.contacts();
    let m = contacts.len();
    // The impulse that stops a contact alone: how long a path is.
    let stopping = case
        .problem
        .unit_velocity()
        .iter()
        .fold(0.0, |most, b| f64::max(most, -b));
    let length = stopping / case.problem.scale();
    let mut best: Option<Vec<RatePiece>> = None;
    let drawn = case.options.samples.div_ceil(2);
    for sample in 0..case.options.samples {
        let mut rng = CounterRng::new(case.options.seed, sample, 0);
        let pieces = match &best {
            Some(best) if sample >= drawn => {
                let progress = (sample - drawn) as f64 / (case.options.samples - drawn) as f64;
                varied(best, &mut rng, 0.01f64.powf(2.0 * progress))
            }
            _ => random_pieces(contacts, length, m, &mut rng),
        };
        if let Ok(path) = integrate_inclusion(case.problem, &pieces, None)
            && nearest.see(case, path.outcome.velocity_plus)
        {
            best = Some(pieces);
        }
    }
}

/// Rates of random pieces: in the first ones contacts may be switched off, so that orders are among
/// them; the last pushes everywhere for as long as it takes, so that every path ends without
/// repeating itself.
fn random_pieces(
    contacts: &ContactSet<'_>,
    length: f64,
    m: usize,
    rng: &mut CounterRng,
) -> Vec<RatePiece> {
    let mut piece = |is_last: bool| {
        let kept = (rng.next_uniform() * m as f64) as usize;
        let rates = (0..m).map(|i| {
            let is_off = rng.next_uniform() < OFF && i != kept && !is_last;
            let least = if is_last { LEAST_RATE } else { 0.0 };
            let rate = if is_off {
                0.0
            } else {
                least + (1.0 - least) * rng.next_uniform()
            };
            rate / contacts.normal_norm(i)
        });
        RatePiece {
            rates: rates.collect(),
            length: length * if is_last { ENDLESS } else { rng.next_uniform() },
        }
    };
    (1..=PIECES).map(|k| piece(k == PIECES)).collect()
}

/// Pieces near others.
fn varied(pieces: &[RatePiece], rng: &mut CounterRng, size: f64) -> Vec<RatePiece> {
    let mut vary = |x: f64| x * (size * (2.0 * rng.next_uniform() - 1.0)).exp();
    let varied = |piece: &RatePiece| RatePiece {
        rates: piece.rates.iter().map(|rate| vary(*rate)).collect(),
        length: vary(piece.length),
    };
    pieces.iter().map(varied).collect()
}

/// Samples of the set, half with contacts switched off at random.
fn draw_samples(case: &Case<'_>, nearest: &mut Nearest) -> Result<(), ImpactError> {
    let mut draw = Draw::default();
    let half = case.options.samples.div_ceil(2);
    for (caps, samples) in [
        (CapDistribution::Uniform, half),
        (
            CapDistribution::Mixed { off: OFF },
            case.options.samples - half,
        ),
    ] {
        if samples == 0 {
            continue;
        }
        let law = SetValued {
            samples,
            seed: case.options.seed,
            caps,
            ..SetValued::default()
        };
        let sampler = Sampler::new(case.problem, &law)?;
        for sample in 0..samples {
            sampler.draw(sample, &mut draw)?;
            if draw.is_ended {
                nearest.see(case, sampler.outcome(&draw)?.velocity_plus);
            }
        }
    }
    Ok(())
}
