//! Distance to the set of inelastic frictional outcomes.

use super::Case;
use crate::frictional::{
    AnitescuPotra, CapDistribution, CounterRng, Draw, RatePiece, Sampler, SetValued,
    integrate_inclusion,
};
use crate::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, Routh};
use carom_metric::Tangent;
use nalgebra::DVector;

/// Pieces of constant rates in a path that is drawn.
const PIECES: usize = 3;

/// Probability that a contact is switched off in a step of a sample.
const OFF: f64 = 0.25;

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
    /// From the whole set: one contact, or two without friction.
    Exact,
    /// From members drawn: the true distance may be less. In the plane members are exact paths of
    /// the inclusion and the nearest is improved; in space they are samples of
    /// [`SetValued`](crate::frictional::SetValued).
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
    if contacts.contacts().iter().all(|c| c.tangents.len() < 2) {
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

/// The nearest member of the set of at most two distinct normals without friction.
///
/// If pushing at one contact closes the other (cosine $c \le 0$), both end closed or one never
/// takes part: one outcome. Otherwise every end has a contact closed and the other not
/// approaching, and the ends form a path: from one contact first to the other first, over the
/// plastic outcome where they leave different contacts closed.
fn smooth_pair(case: &Case<'_>) -> Tangent {
    let contacts = case.problem.contacts();
    let b = case.problem.unit_velocity();
    let (b0, b1) = (
        b.first().copied().unwrap_or(0.0),
        b.get(1).copied().unwrap_or(f64::INFINITY),
    );
    let end = |impulse: [f64; 2]| {
        let mut end = case.before();
        for (j, impulse) in impulse.into_iter().enumerate().take(contacts.n_distinct()) {
            let unit = contacts.unit(j).iter();
            end.iter_mut()
                .zip(unit)
                .for_each(|(x, u)| *x += impulse * u);
        }
        end
    };
    if contacts.n_distinct() < 2 {
        return case.velocity(&end([(-b0).max(0.0), 0.0]));
    }
    let wedge = contacts.wedge(0, 1);
    let c = contacts
        .unit(0)
        .iter()
        .zip(contacts.unit(1))
        .map(|(x, y)| x * y)
        .sum::<f64>();
    // 1 - c² = sin² 2γ, without cancellation.
    let determinant = (2.0 * wedge.sin * wedge.cos).powi(2);
    let both = [(-b0 + c * b1) / determinant, (-b1 + c * b0) / determinant];
    let first = |own: f64, other: f64| {
        let push = (-own).max(0.0);
        [push, (-(other + c * push)).max(0.0)]
    };
    let zero_first = first(b0, b1);
    let [one, zero] = first(b1, b0);
    let one_first = [zero, one];
    if c <= 0.0 {
        let both_push = both[0] > 0.0 && both[1] > 0.0;
        let alone = if b0 < 0.0 && b1 + c * (-b0).max(0.0) >= 0.0 {
            zero_first
        } else {
            one_first
        };
        return case.velocity(&end(if both_push { both } else { alone }));
    }
    let opens = |[x, y]: [f64; 2]| {
        // Which contact ends open: 0, 1, or none.
        let rates = [b0 + x + c * y, b1 + c * x + y];
        if rates[0] > rates[1] { 0 } else { 1 }
    };
    let (start, finish) = (end(zero_first), end(one_first));
    let corners = if opens(zero_first) == opens(one_first) {
        vec![start, finish]
    } else {
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

/// Rates of random pieces. A contact alone, in every order, is among them: rates of zero.
fn random_pieces(
    contacts: &ContactSet<'_>,
    length: f64,
    m: usize,
    rng: &mut CounterRng,
) -> Vec<RatePiece> {
    let mut piece = || {
        let kept = (rng.next_uniform() * m as f64) as usize;
        let rates = (0..m).map(|i| {
            let is_off = rng.next_uniform() < OFF && i != kept;
            let rate = if is_off { 0.0 } else { rng.next_uniform() };
            rate / contacts.normal_norm(i)
        });
        RatePiece {
            rates: rates.collect(),
            length: length * rng.next_uniform(),
        }
    };
    let mut pieces: Vec<RatePiece> = (0..PIECES).map(|_| piece()).collect();
    // The last piece pushes everywhere, so that every path ends.
    if let Some(last) = pieces.last_mut() {
        for (i, rate) in last.rates.iter_mut().enumerate() {
            *rate += 1e-3 / contacts.normal_norm(i);
        }
    }
    pieces
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

/// Samples of the set in space, half with contacts switched off at random.
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
