//! The search for a chain of steps that leads to a velocity.

use super::chain::{Chain, Edges};
use super::modes::{ModeSequence, StepMode};
use super::ordered::Ordered;
use super::round_chain::RoundChain;
use super::sampled::{Sampled, one_sample, samplers};
use super::witness::{Witness, WitnessCone};
use super::{Known, Membership, Nearest, Origin, SetVerdict};
use crate::Case;
use crate::tasks::map;
use crate::tolerances::EQUAL;
use carom_contact::{ContactIndex, ImpactError, ImpactProblem};
use carom_impact::internal::{Draw, SingleImpacts, StepWorkspace};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;
use std::collections::{HashMap, HashSet};

/// Largest number of steps of a chain that is listed as a witness.
const MAX_LISTED: usize = 256;

/// Effort of the search for a mode sequence. A larger one finds members that a smaller one leaves `unknown`.
struct Effort {
    /// Number of samples in round cones that are moved to the velocity in parallel.
    at_once: usize,
    /// Number of answers of laws whose chains are tried, the nearest first.
    starts: usize,
    /// Largest number of steps of a mode sequence that is tried.
    max_steps: usize,
    /// Multiply-adds in linear programs and Newton's method that every search may use, however few its samples.
    least_work: u64,
    /// Divisor of the remaining budget: one chain in round cones may use this part of it.
    budget_parts: u64,
}

/// Values of [`Effort`].
const EFFORT: Effort = Effort {
    at_once: 3,
    starts: 4,
    max_steps: 24,
    least_work: 20_000_000,
    budget_parts: 4,
};

/// Numbers that control how many samples are drawn and tried.
struct Pace {
    /// Number of samples in a batch, and in one parallel task of the batch.
    batch: u64,
    task: u64,
    /// Number of samples that are tried after each batch, the nearest first.
    tried: usize,
    /// Number of samples with equal modes that are tried.
    alike: usize,
    /// Largest number of pivots of all samples, relative to that of equally many default samples. Random branches, small
    /// steps and contacts switched off cause more pivots.
    pivot_share: f64,
    /// Multiply-adds that each sample adds to the budget.
    work_per_sample: u64,
}

/// Numbers for polygonal cones, where linear programs try the modes of samples.
const LINEAR: Pace = Pace {
    batch: 64,
    task: 8,
    tried: 48,
    alike: 1,
    pivot_share: 0.5,
    work_per_sample: 30_000,
};

/// Numbers for round cones, where Newton's method moves samples to the velocity. Few samples suffice; samples with equal
/// modes and numbers of steps differ in their ends, because their step sizes differ.
const ROUND: Pace = Pace {
    batch: 16,
    task: 2,
    tried: 6,
    alike: 2,
    pivot_share: 0.3,
    work_per_sample: 300_000,
};

struct Search<'c, 'p> {
    case: &'c Case<'p>,
    edges: &'c Edges,
    /// Edges with a modified target: contacts that are closed within the tolerance are closed exactly. `None` if no
    /// contact changes. The given velocity may have been rounded coarsely.
    snapped: Option<&'c Edges>,
    /// True if the judged velocity may have been rounded: then it is no member exactly.
    is_coarse: bool,
    nearest: Nearest,
    /// Sequences that were tried.
    seen: HashSet<ModeSequence>,
    /// Nearest chain that ends within the tolerance, with its distance: a witness for a velocity that is given coarsely.
    near: Option<(f64, Witness)>,
    /// Modes that the last step of a chain to the velocity may have.
    last: Vec<Vec<StepMode>>,
    pace: &'static Pace,
    work: u64,
    budget: u64,
    /// Units of work spent on samples.
    sampling: u64,
}

/// Searches for a chain of impulse steps, a witness, that leads to the judged velocity. Members of the outcome set
/// found on the way update the nearest one. `known` lists members that are answers of laws.
pub(super) fn search(
    given: &Case<'_>,
    known: &[Known],
    nearest: Nearest,
) -> Result<SetVerdict, ImpactError> {
    let ordered = Ordered::new(given)?;
    let velocity = given.problem.velocity_minus().clone();
    let problem = ImpactProblem::reposed(&ordered.contacts, velocity)?;
    let case = given.reposed(&problem);
    let told: Vec<Known> = known
        .iter()
        .map(|known| ordered.of_known(known, problem.scale()))
        .collect();
    if ordered.contacts.is_empty() {
        return Ok(nearest.verdict(given, Membership::Unknown));
    }
    if let Some(witness) = rerun(given, known, MAX_LISTED, |distance| distance <= EQUAL) {
        return Ok(nearest.verdict(given, Membership::Inside(witness)));
    }
    let mut found = search_ordered(&case, &told, nearest)?;
    if let Membership::Inside(Witness::Steps { steps, .. })
    | Membership::Near(Witness::Steps { steps, .. }) = &mut found.membership
    {
        for step in steps {
            *step = ordered.on_given(step);
        }
    }
    // Final check: the search used the contacts in another order, and the velocity in the frames of the parts.
    if let Membership::Inside(witness) = &found.membership
        && !is_good(given, witness)
    {
        found.membership = Membership::Unknown;
    }
    if let Membership::Unknown = found.membership
        && let Some(witness) = rerun(given, known, 0, |distance| given.is_same(distance))
    {
        found.membership = Membership::Near(witness);
    }
    Ok(found)
}

/// Returns the sequential law itself as a witness if its answer takes more than `listed` impacts, and its distance from the
/// judged velocity passes the test `is_at`. `known` lists the answers of laws. More than [`MAX_LISTED`] impacts are too many to be
/// listed, or infinitely many that become ever smaller.
fn rerun(
    case: &Case<'_>,
    known: &[Known],
    listed: usize,
    is_at: impl Fn(f64) -> bool,
) -> Option<Witness> {
    known.iter().find_map(|member| match &member.origin {
        Origin::Sequential(contacts, law)
            if contacts.len() > listed && is_at(case.distance(&member.velocity)) =>
        {
            let witness = Witness::Sequential(law.clone());
            let end = witness.end(case.problem);
            end.is_ok_and(|end| is_at(case.distance(&end)))
                .then_some(witness)
        }
        _ => None,
    })
}

/// Solves one inelastic impact of a single contact after the other, in the given order of contacts. Returns the impulses
/// on all contact rows and the velocity after each impact.
fn in_turn(case: &Case<'_>, order: &[usize]) -> Result<Vec<(DVector<f64>, Tangent)>, ImpactError> {
    let singles = SingleImpacts::new(case.problem, case.options.friction_cone)?;
    let mut workspace = StepWorkspace::default();
    let mut momentum = case.before();
    let impacts = order.iter().take(MAX_LISTED).map(|contact| {
        let contact = ContactIndex::new(*contact);
        let (impulses, change) = singles.strike(contact, momentum.as_slice(), &mut workspace)?;
        kernel::add_scaled(momentum.as_mut_slice(), 1.0, &change);
        Ok((impulses, case.velocity(&momentum)))
    });
    impacts.collect()
}

/// True if a witness, a chain of impulse steps or a law, satisfies all contact conditions and ends at the judged
/// velocity.
fn is_good(case: &Case<'_>, witness: &Witness) -> bool {
    // The rounding of the given velocities counts; the problem in the frames of its parts does not contain it.
    let end = witness.end(case.problem);
    end.is_ok_and(|end| case.distance(&end) <= EQUAL)
}

/// Searches for a chain of impulse steps that leads to the judged velocity. The contacts of `case` have been sorted
/// before. `known` lists members of the outcome set that are answers of laws, and `nearest` is the nearest member so far.
fn search_ordered(
    case: &Case<'_>,
    known: &[Known],
    nearest: Nearest,
) -> Result<SetVerdict, ImpactError> {
    let problem = case.problem;
    let edges = Edges::new(problem, case.options.friction_cone, case.after.as_slice())?;
    let mut last = vec![edges.last_modes(0.0)];
    let loose = edges.last_modes(case.options.tolerance);
    if last.first() != Some(&loose) {
        last.push(loose);
    }
    let snapped = match edges.cone {
        WitnessCone::Round => edges.snapped(case.options.tolerance),
        WitnessCone::Polygon(_) => None,
    };
    let pace = match edges.cone {
        WitnessCone::Round => &ROUND,
        WitnessCone::Polygon(_) => &LINEAR,
    };
    let mut search = Search {
        case,
        edges: &edges,
        snapped: snapped.as_ref(),
        is_coarse: edges.is_coarse(case.options.tolerance),
        nearest,
        seen: HashSet::new(),
        near: None,
        last,
        work: 0,
        pace,
        budget: EFFORT
            .least_work
            .saturating_add(pace.work_per_sample.saturating_mul(case.options.samples))
            .min(case.options.max_work),
        sampling: 0,
    };
    let mut witness = search.one_step().or_else(|| search.known(known));
    if witness.is_none() && !search.is_settled() {
        witness = search.samples()?;
    }
    search.nearest.is_limited = witness.is_none() && search.is_limited();
    let near = search.near.take().map(|(_, witness)| witness);
    let membership = match (witness, near) {
        (Some(witness), _) => Membership::Inside(witness),
        (None, Some(witness)) => Membership::Near(witness),
        (None, None) => Membership::Unknown,
    };
    Ok(search.nearest.verdict(case, membership))
}

impl Search<'_, '_> {
    /// True if the work budget of the search for a chain of steps to the judged velocity is used up.
    fn is_limited(&self) -> bool {
        self.work.saturating_add(self.sampling) >= self.case.options.max_work
    }

    /// True if the search may end with a chain that ends within the tolerance of the judged velocity. If the velocity was
    /// rounded, a chain that ends there exactly may not exist.
    fn is_settled(&self) -> bool {
        self.is_coarse && self.near.is_some()
    }

    /// Tries chains of one impulse step, with all contact modes that the judged velocity allows. Such chains are the
    /// answers of the simultaneous law. Returns a chain that leads to the judged velocity as a witness.
    fn one_step(&mut self) -> Option<Witness> {
        self.attempt_with_ends(vec![ModeSequence::new(self.edges.n_contacts())])
    }

    /// Tries the chains of impulse steps by which laws reached their answers, `known`, the nearest answers first.
    /// Returns a chain that leads to the judged velocity as a witness.
    fn known(&mut self, known: &[Known]) -> Option<Witness> {
        let mut order: Vec<(f64, &Known)> = known
            .iter()
            .map(|member| (self.case.distance(&member.velocity), member))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.truncate(EFFORT.starts);
        for (distance, member) in order {
            let contacts = match &member.origin {
                Origin::Simultaneous(impulses) => {
                    let found = self.consider(distance, |_| vec![impulses.clone()]);
                    if found.is_some() {
                        return found;
                    }
                    continue;
                }
                Origin::Sequential(contacts, _) => contacts,
            };
            let Ok(steps) = in_turn(self.case, contacts) else {
                continue;
            };
            let found = self.consider(distance, |_| {
                let impulses = steps.iter().map(|(impulses, _)| impulses.clone());
                impulses.collect()
            });
            if found.is_some() {
                return found;
            }
            let sequence = self.sequence_of(&steps);
            if let Some(witness) = self.attempt_with_ends(vec![sequence]) {
                return Some(witness);
            }
        }
        None
    }

    /// Examines a chain of impulse steps whose end is at `distance` from the judged velocity; the closure `steps` computes
    /// its impulses for the contact rows. Returns the chain as a witness if it satisfies all contact conditions and ends at
    /// the judged velocity. If it ends elsewhere within the tolerance, nearer than the chain stored so far, stores it.
    fn consider(
        &mut self,
        distance: f64,
        steps: impl FnOnce(&Self) -> Vec<DVector<f64>>,
    ) -> Option<Witness> {
        let is_there = distance <= EQUAL;
        let is_nearer = self.case.is_same(distance) && self.is_nearer_than_near(distance);
        if !(is_there || is_nearer) {
            return None;
        }
        let witness = Witness::Steps {
            cone: self.edges.cone,
            steps: steps(self),
        };
        let end = witness.end(self.case.problem).ok()?;
        let end = self.case.distance(&end);
        if is_there {
            return (end <= EQUAL).then_some(witness);
        }
        if self.case.is_same(end) {
            self.near = Some((distance, witness));
        }
        None
    }

    fn is_nearer_than_near(&self, distance: f64) -> bool {
        let near = self.near.as_ref();
        near.is_none_or(|(least, _)| distance < *least)
    }

    /// Determines the modes (off, sticking or sliding) of all contacts in a chain of steps. Each step is given by its
    /// impulses on the contact rows and the velocity after it.
    fn sequence_of(&self, steps: &[(DVector<f64>, Tangent)]) -> ModeSequence {
        let mut sequence = ModeSequence::new(self.edges.n_contacts());
        let scale = self.case.problem.scale();
        for (impulses, velocity) in steps {
            let slots = self.edges.space.of_rows(impulses.as_slice(), scale);
            let whitened = self.case.whitened(velocity);
            let after = self.edges.space.velocity(whitened.as_slice());
            sequence.push(&self.edges.modes(&slots, after.as_slice()));
        }
        sequence
    }

    /// Tries sequences of contact modes (off, sticking or sliding, for each contact in each step) in parallel, each
    /// extended by the last steps that are possible for the judged velocity. For each, the chain that ends nearest to the
    /// judged velocity is examined. Returns the first chain that leads there as a witness.
    fn attempt_with_ends(&mut self, sequences: Vec<ModeSequence>) -> Option<Witness> {
        let ends = |sequence| {
            self.last
                .iter()
                .map(move |last| ModeSequence::then(sequence, last))
        };
        let mut all: Vec<ModeSequence> = sequences.iter().flat_map(ends).collect();
        all.retain(|s| s.n_steps() <= EFFORT.max_steps && self.seen.insert(s.clone()));
        let edges = self.edges;
        let results = map(all.len(), |i| {
            let mut work = 0;
            let chain = all
                .get(i)
                .and_then(|sequence| edges.attempt(sequence, &mut work));
            (chain, work)
        });
        for (chain, work) in results {
            self.work += work;
            if let Some(witness) = chain.and_then(|chain| self.look_at(&chain)) {
                return Some(witness);
            }
        }
        None
    }

    /// Examines the velocity at the end of a chain of impulse steps and updates the nearest member of the outcome set.
    /// Returns the chain as a witness if it satisfies all contact conditions and ends at the judged velocity.
    fn look_at(&mut self, chain: &Chain) -> Option<Witness> {
        let mut total = vec![0.0; self.edges.space.n_slots()];
        for step in chain {
            kernel::add_scaled(&mut total, 1.0, step);
        }
        let mut end = self.case.before();
        kernel::add_scaled(end.as_mut_slice(), 1.0, &self.edges.space.change(&total));
        let velocity = self.case.velocity(&end);
        let distance = self.case.distance(&velocity);
        if distance > EQUAL && !self.nearest.is_nearer(distance) {
            return None;
        }
        // A chain that was found numerically may violate a condition; then its end is not a member.
        let witness = Witness::Steps {
            cone: self.edges.cone,
            steps: self.on_rows(chain),
        };
        let end = witness.end(self.case.problem).ok()?;
        self.nearest.see(self.case, velocity);
        if self.case.distance(&end) <= EQUAL {
            return Some(witness);
        }
        if distance > EQUAL && self.case.is_same(distance) && self.is_nearer_than_near(distance) {
            self.near = Some((distance, witness));
        }
        None
    }

    /// Converts impulses from the unit contact rows and velocity scale of the search to impulses for the rows of the
    /// problem, step by step.
    fn on_rows(&self, steps: &[Vec<f64>]) -> Vec<DVector<f64>> {
        let problem = self.case.problem;
        let rows = |step: &Vec<f64>| {
            let space = &self.edges.space;
            space.on_rows(step, problem.scale(), problem.contacts())
        };
        steps.iter().map(rows).collect()
    }

    /// Moves samples of the outcome set in round friction cones to the judged velocity by Newton's method. Contacts that are
    /// closed within the tolerance are closed at the target. Returns the first chain that leads to the judged velocity as
    /// a witness.
    fn attempt_round(&mut self, samples: &[Sampled]) -> Option<Witness> {
        if self.edges.cone != WitnessCone::Round {
            return None;
        }
        let edges = self.snapped.unwrap_or(self.edges);
        // The nearest sample is tried alone, because it often suffices.
        let (first, others) = samples.split_at(samples.len().min(1));
        for some in std::iter::once(first).chain(others.chunks(EFFORT.at_once)) {
            let left = self.budget.checked_sub(self.work)?;
            let chains = map(some.len(), |i| {
                let mut work = 0;
                let start = some
                    .get(i)
                    .map(|sampled| RoundChain::new(edges, &sampled.steps));
                let chain = start
                    .and_then(|start| start.lead(edges, left / EFFORT.budget_parts, &mut work));
                (chain, work)
            });
            for (chain, work) in chains {
                self.work += work;
                if let Some(witness) = chain.and_then(|chain| self.look_at(&chain)) {
                    return Some(witness);
                }
            }
            if self.is_settled() {
                return None;
            }
        }
        None
    }

    /// Draws samples of the outcome set, batch by batch. After each batch, tries the contact modes of the nearest
    /// samples. Returns the first chain that leads to the judged velocity as a witness.
    fn samples(&mut self) -> Result<Option<Witness>, ImpactError> {
        let samplers = samplers(self.case)?;
        let total = self.case.options.samples;
        let mut met: HashMap<(ModeSequence, usize), usize> = HashMap::new();
        let mut drawn: Vec<Sampled> = Vec::new();
        let mut first = 0;
        let (mut pivots, mut plain, mut n_plain) = (0.0, 0.0, 0.0f64);
        let pace = self.pace;
        while first < total
            && self.work < self.budget
            && !self.is_limited()
            && (first == 0 || pivots * n_plain < pace.pivot_share * plain * total as f64)
        {
            let end = total.min(first + pace.batch);
            let count = (end - first).div_ceil(pace.task);
            let (edges, case) = (self.edges, self.case);
            let batch = map(count as usize, |task| {
                let start = first + task as u64 * pace.task;
                let mut draw = Draw::default();
                (start..end.min(start + pace.task))
                    .filter_map(|sample| one_sample(case, edges, &samplers, sample, &mut draw))
                    .collect::<Vec<_>>()
            });
            for sampled in batch.into_iter().flatten() {
                pivots += sampled.pivots;
                self.sampling = self.sampling.saturating_add(sampled.work);
                if sampled.is_plain {
                    plain += sampled.pivots;
                    n_plain += 1.0;
                }
                let distance = self.nearest.see(self.case, sampled.velocity.clone());
                let found = self.consider(distance, |search| search.on_rows(&sampled.steps));
                if found.is_some() {
                    return Ok(found);
                }
                let times = met.entry(sampled.key(pace.alike > 1)).or_insert(0);
                *times += 1;
                if *times <= pace.alike {
                    drawn.push(sampled);
                }
            }
            drawn.sort_by(|a, b| {
                let nearer = a.distance.total_cmp(&b.distance);
                nearer.then(a.sample.cmp(&b.sample))
            });
            let rest = drawn.split_off(drawn.len().min(pace.tried));
            let nearest = std::mem::replace(&mut drawn, rest);
            if let Some(witness) = self.attempt_round(&nearest) {
                return Ok(Some(witness));
            }
            let sequences = nearest.into_iter().map(|sampled| sampled.sequence);
            if let Some(witness) = self.attempt_with_ends(sequences.collect()) {
                return Ok(Some(witness));
            }
            if self.is_settled() {
                return Ok(None);
            }
            drawn.truncate(8 * pace.tried);
            first = end;
        }
        Ok(None)
    }
}
