//! One step: half a flight, impulses at the middle, half a flight.

mod checks;
#[cfg(feature = "serde")]
mod saved;

use super::broad::{Broad, unseen};
use super::contact::{Contact, Middle, NearPair};
use super::executor::Executor;
use super::island::{Island, islands};
use super::options::{StepCounts, Stepping};
use super::phases::Phases;
use super::project;
use super::solver::{Answer, Solver, Task};
use super::spring::{Kept, Spring, Yielding};
use super::standing::Standing;
use super::tolerances::ROUNDS;
use crate::MotionError;
use crate::body::{Flights, Velocity};
use crate::force::{ContactForce, PointForce};
use crate::pair::PairMemory;
use crate::pair_table::Pair;
use crate::rows::{Rows, Side};
use crate::spec::World;
use crate::step::Given;
use carom_lcp::LcpError;
use carom_lcp::contact_problem::ContactMode;
use carom_variational::State;
use carom_variational::load::Pull;
use nalgebra::Vector3;
use std::sync::{Mutex, PoisonError};

/// Number of pairs that one parallel task examines.
const CHUNK: usize = 64;

/// Data that one step passes on to the next.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Carry {
    /// Pairs that were near, in ascending order, with the springs of the contact points that press.
    pairs: Vec<(Pair, PairMemory, Vec<Kept>)>,
}

/// Contact point with a positive normal impulse in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    pub(super) pair: Pair,
    pub(super) point: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    /// Impulse on the first body, in world axes (N s).
    pub(super) impulse: Vector3<f64>,
    /// Normal velocity before the impulses (m/s).
    pub(super) normal_velocity: f64,
    pub(super) slides: bool,
    pub(super) restitutes: bool,
}

/// Results of one island in a step.
#[derive(Clone, Debug)]
pub(super) struct IslandStep {
    /// Kinetic energy of the bodies of the island after the impulses (J).
    pub(super) energy_plus: f64,
    /// Work of the impulses of the island (J).
    pub(super) work: f64,
    /// Work of the normal impulses at points that had an impulse in the previous step, too, and approach no faster than the
    /// impact threshold (J).
    pub(super) lasting_work: f64,
    /// Contact points with a positive normal impulse.
    pub(super) pressed: Vec<Pressed>,
}

/// Result of one step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// States of all bodies at the middle of the step, after the impulses.
    pub(super) kicked: Vec<State>,
    /// States of all bodies at the end of the step.
    pub(super) end: Vec<State>,
    pub(super) islands: Vec<IslandStep>,
    pub(super) counts: StepCounts,
    /// Smallest gap at the middle of the step, over the pairs that are near each other (m).
    pub(super) lowest_gap: f64,
    /// Potential energy that the removal of overlaps added (J).
    pub(super) projection: f64,
    /// Books of the forces that act in kicks.
    pub(super) given: Given,
    carry: Carry,
}

impl Step {
    /// Returns the mean forces of the contacts over the step, which has the length `h` (s).
    pub(super) fn forces(&self, h: f64) -> impl Iterator<Item = ContactForce> {
        let pressed = self.islands.iter().flat_map(|island| &island.pressed);
        pressed.map(move |pressed| {
            let of_step = PointForce::new(0, pressed.point, pressed.impulse / h);
            ContactForce::new(pressed.pair, &of_step)
        })
    }
}

/// Time stepper for the bodies of a world `W`, with an executor `X`. A paused run has neither.
#[derive(Debug)]
pub(super) struct StepperOf<W, X> {
    world: W,
    options: Stepping,
    executor: X,
    weightless: Flights,
    broad: Broad,
    carry: Carry,
    /// Solvers of the islands, in the order of the islands: entry 0 for accepted steps, entry 1 for trial steps. They are
    /// separate because the symbolic factorization of a solver depends on its previous problem.
    solvers: [Vec<Mutex<Solver>>; 2],
}

/// Time stepper with its world and its executor.
pub(super) type Stepper<'w> = StepperOf<&'w World, &'w dyn Executor>;

impl<W, X> StepperOf<W, X> {
    /// Returns this stepper with another world and another executor.
    pub(super) fn with<V, Y>(self, world: V, executor: Y) -> StepperOf<V, Y> {
        StepperOf {
            world,
            options: self.options,
            executor,
            weightless: self.weightless,
            broad: self.broad,
            carry: self.carry,
            solvers: self.solvers,
        }
    }
}

impl<W: Clone, X: Clone> Clone for StepperOf<W, X> {
    fn clone(&self) -> Self {
        let copied = |solver: &Mutex<Solver>| {
            let solver = solver.lock().unwrap_or_else(PoisonError::into_inner);
            Mutex::new(solver.clone())
        };
        Self {
            world: self.world.clone(),
            options: self.options,
            executor: self.executor.clone(),
            weightless: self.weightless,
            broad: self.broad.clone(),
            carry: self.carry.clone(),
            solvers: [self.solvers[0].iter().map(copied).collect(), Vec::new()],
        }
    }
}

/// Step under construction.
struct Attempt<'d> {
    middle: Middle<'d>,
    /// Duration in which gaps may close (s).
    h: f64,
    phases: Phases,
    before: Vec<Velocity>,
    /// States at the middle after gravity alone, without contact impulses.
    free: Vec<State>,
    free_velocities: Vec<Velocity>,
    /// Loads of the bodies on which some act in kicks.
    pulls: Vec<(usize, Pull)>,
    near: Vec<NearPair>,
    islands: Vec<Island>,
    answers: Vec<Answer>,
    rows: Rows,
    /// Velocities of all contact rows before and after the impulses (m/s).
    row_velocities: Vec<f64>,
    after: Vec<f64>,
    kicked: Vec<State>,
    counts: StepCounts,
}

impl Attempt<'_> {
    /// Computes the Jacobian rows of all contact points, and the velocities of these rows before the impulses. Returns the
    /// contact points.
    fn set_rows(&mut self) -> Vec<Contact> {
        let of_pairs = self.near.iter().flat_map(|near| &near.contacts);
        let contacts: Vec<Contact> = of_pairs.cloned().collect();
        let world = self.middle.world;
        self.rows.clear();
        for contact in &contacts {
            let side = |body: usize| -> Side<'_> {
                Some((body, &world.bodies[body], &self.middle.states[body]))
            };
            let second = contact.second.and_then(side);
            let (point, normal) = (&contact.point.point, &contact.point.normal);
            let there = self.middle.states.get(contact.pair.1);
            let there = there.unwrap_or(&self.middle.states[contact.pair.0]);
            let running = world.thing(contact.pair.1).running(there, point);
            self.rows
                .push(point, normal, side(contact.pair.0), second, &running);
        }
        self.rows.velocities(&self.before, &mut self.row_velocities);
        let counts = &mut self.counts;
        counts.max_contacts = counts.max_contacts.max(contacts.len());
        contacts
    }

    /// Applies the contact impulses found for all islands (groups of bodies connected by contacts) to the bodies. Each contact
    /// point then stores its impulse, its mode (open, sticking, sliding), and the rate of its gap afterwards.
    fn kick(&mut self) {
        let n = self.row_velocities.len() / 3;
        let mut impulses = vec![0.0; 3 * n];
        let mut ends = vec![(ContactMode::Open, Spring::default(), false); n];
        for (island, answer) in self.islands.iter().zip(&self.answers) {
            let counts = &mut self.counts;
            counts.max_island = counts.max_island.max(island.contacts.len());
            for (k, &c) in island.contacts.iter().enumerate() {
                if let Some(l) = answer.impulses.get(3 * k..3 * k + 3) {
                    impulses[3 * c..3 * c + 3].copy_from_slice(l);
                    ends[c] = (answer.modes[k], answer.springs[k], answer.restitutes[k]);
                }
            }
        }
        self.kicked.clone_from(&self.free);
        self.rows.apply(&impulses, &mut self.kicked);
        let mut kicked = velocities(self.middle.world, &self.kicked);
        let near = self.near.iter().flat_map(|near| &near.contacts);
        let supports: Vec<bool> = near.map(|contact| contact.second.is_none()).collect();
        Standing {
            world: self.middle.world,
            islands: &self.islands,
            before: &self.before,
            frames: &self.rows.frames,
            supports: &supports,
            h: self.h,
        }
        .stop(&mut impulses, &mut self.kicked, &mut kicked);
        self.rows.velocities(&kicked, &mut self.after);
        let of_pairs = self.near.iter_mut().flat_map(|near| &mut near.contacts);
        for (c, contact) in of_pairs.enumerate() {
            contact.opening = self.after[3 * c];
            contact.impulse = Some([impulses[3 * c], impulses[3 * c + 1], impulses[3 * c + 2]]);
            (contact.mode, contact.after, contact.restitutes) = ends[c];
        }
    }
}

impl<'w> Stepper<'w> {
    pub(super) fn new(world: &'w World, options: Stepping, executor: &'w dyn Executor) -> Self {
        Self {
            world,
            options,
            executor,
            weightless: world.flights.weightless(),
            broad: Broad::new(world),
            carry: Carry::default(),
            solvers: [Vec::new(), Vec::new()],
        }
    }

    /// Accepts a step as the last one: its contact data become the starting point of the next step.
    pub(super) fn take(&mut self, step: &mut Step) {
        self.carry = std::mem::take(&mut step.carry);
    }

    /// Returns the energy in the springs of the contacts after the last step (J).
    pub(super) fn spring_energy(&self) -> f64 {
        let kept = self.carry.pairs.iter().flat_map(|(.., kept)| kept);
        kept.map(Kept::energy).sum()
    }

    /// Computes a time step: half a flight, contact impulses at the middle, half a flight. `states`: states of all bodies at
    /// `time` (s), when the step begins; `phases`: durations of the parts. The step becomes part of the run only when it is given
    /// to [`take`](Self::take). If `is_tried` is true, the step is a trial step, which does not affect later ones.
    pub(super) fn step(
        &mut self,
        states: &[State],
        time: f64,
        phases: Phases,
        is_tried: bool,
    ) -> Result<Step, MotionError> {
        if is_tried {
            // A solver depends on its last problem: a look must not depend on the looks before.
            self.solvers[1].clear();
        }
        let weightless = self.weightless;
        let at_middle = self.flown(&weightless, states, time, phases.before)?;
        let middle = Middle {
            clock: time + phases.before,
            world: self.world,
            weightless: &weightless,
            states: &at_middle,
            time,
            h: phases.closing,
        };
        let mut attempt = self.begin(middle, phases)?;
        let pairs = self.boxes(&attempt, &attempt.free_velocities.clone(), None);
        self.meet(&mut attempt, pairs);
        for round in 0..ROUNDS {
            self.solve(&mut attempt, is_tried)?;
            let velocities = velocities(self.world, &attempt.kicked);
            if round + 1 == ROUNDS || !self.add_rows(&mut attempt, &velocities)? {
                break;
            }
        }
        self.finish(attempt)
    }

    fn flown(
        &self,
        flights: &Flights,
        states: &[State],
        time: f64,
        h: f64,
    ) -> Result<Vec<State>, MotionError> {
        let all = self.world.bodies.iter().zip(states);
        all.map(|(body, state)| {
            if let Some(told) = body.checked(time + h)? {
                return Ok(told);
            }
            flights
                .advance(body, state, h)
                .map_err(|source| MotionError::Flight {
                    body: body.name.clone(),
                    time,
                    source,
                })
        })
        .collect()
    }

    /// Starts the computation of a step at its middle, where the impulses act. `phases` holds the durations of the
    /// parts of the step. Computes the velocities of all bodies after the first half of the flight, without gravity and
    /// impulses, and the velocities after gravity has acted but before contact impulses.
    fn begin<'d>(&self, middle: Middle<'d>, phases: Phases) -> Result<Attempt<'d>, MotionError> {
        let world = self.world;
        let mut free = middle.states.to_vec();
        let (mut pulls, mut means) = (Vec::new(), free.clone());
        let half = 0.5 * phases.gravity;
        for (i, (body, state)) in world.bodies.iter().zip(&mut free).enumerate() {
            if let Some(rigid) = &body.rigid {
                let pull = world.flights.pull(body);
                means[i].linear_momentum += pull * (rigid.mass() * half);
                if body.kicks && half > 0.0 {
                    // The loads belong to the mean of the velocities before and after gravity and loads.
                    let mean = means[i];
                    let load = body.pull_after(middle.time + phases.before, &mean, half)?;
                    pulls.extend(load.map(|load| (i, load)));
                }
                state.linear_momentum += pull * (rigid.mass() * phases.gravity);
            }
        }
        if half > 0.0 {
            for (i, pull) in &pulls {
                means[*i] = means[*i].kicked(&(pull.total() * half));
            }
            let clock = [middle.time + phases.before, phases.gravity];
            world.pull_springs(clock, &means, &mut pulls)?;
        }
        for (i, pull) in &pulls {
            if world.is_mobile(*i) {
                free[*i] = free[*i].kicked(&(pull.total() * phases.gravity));
            }
        }
        Ok(Attempt {
            pulls,
            middle,
            h: middle.h,
            phases,
            before: velocities(world, middle.states),
            free_velocities: velocities(world, &free),
            free,
            near: Vec::new(),
            islands: Vec::new(),
            answers: Vec::new(),
            rows: Rows::default(),
            row_velocities: Vec::new(),
            after: Vec::new(),
            kicked: Vec::new(),
            counts: StepCounts::default(),
        })
    }

    /// Enlarges the bounding boxes of bodies by the distance that they travel at `velocities` within the step, and
    /// returns the pairs whose boxes overlap. `attempt`: step under construction; `of` lists the bodies; `None` means
    /// all mobile bodies.
    fn boxes(
        &mut self,
        attempt: &Attempt<'_>,
        velocities: &[Velocity],
        of: Option<&[usize]>,
    ) -> Vec<Pair> {
        let world = self.world;
        let fall = world.flights.gravity.norm() * attempt.h;
        let all: Vec<usize> = match of {
            Some(bodies) => bodies.to_vec(),
            None => (0..world.n_bodies())
                .filter(|i| world.is_mobile(*i) || world.is_prescribed(*i))
                .collect(),
        };
        for &body in &all {
            let way = attempt.h * (speed(world, body, &velocities[body]) + fall);
            let room = way + world.bodies[body].radius * 1e-9;
            self.broad
                .put(world, body, &attempt.middle.states[body], room);
        }
        self.broad.pairs(world, &all, attempt.middle.states)
    }

    /// Computes the gaps and contact points of pairs that are near each other; pairs that the step under construction,
    /// `attempt`, already contains are skipped.
    fn meet(&mut self, attempt: &mut Attempt<'_>, pairs: Vec<Pair>) {
        let mut fresh: Vec<NearPair> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let place = attempt.near.binary_search_by_key(&pair, |near| near.pair);
            if place.is_ok() {
                continue;
            }
            let mut near = unseen(pair);
            let known = &mut self.carry.pairs;
            if let Ok(place) = known.binary_search_by_key(&pair, |(pair, ..)| *pair) {
                let (_, memory, kept) = &known[place];
                (near.memory, near.kept) = (memory.clone(), kept.clone());
            }
            fresh.push(near);
        }
        let (middle, free, velocities) = (attempt.middle, &attempt.free, &attempt.free_velocities);
        self.each(&mut fresh, &|near| middle.look(near, free, velocities));
        if attempt.near.is_empty() {
            attempt.near = fresh;
        } else if !fresh.is_empty() {
            attempt.near.extend(fresh);
            attempt.near.sort_by_key(|near| near.pair);
        }
    }

    /// Applies `task` to each of the pairs of bodies that may touch within the step, in parallel.
    fn each(&self, near: &mut [NearPair], task: &(dyn Fn(&mut NearPair) + Sync)) {
        let chunks: Vec<Mutex<&mut [NearPair]>> = near.chunks_mut(CHUNK).map(Mutex::new).collect();
        self.executor.run(chunks.len(), &|k| {
            let mut chunk = chunks[k].lock().unwrap_or_else(PoisonError::into_inner);
            chunk.iter_mut().for_each(task);
        });
    }

    /// Solves for the contact impulses of all islands (groups of bodies connected by contacts) that have new contact
    /// points; the others keep their impulses. Then applies the impulses to the bodies. `attempt`: step under
    /// construction. `is_tried` is true for a trial step, which uses separate solvers.
    fn solve(&mut self, attempt: &mut Attempt<'_>, is_tried: bool) -> Result<(), MotionError> {
        let contacts = attempt.set_rows();
        let ends: Vec<(usize, Option<usize>)> =
            contacts.iter().map(|c| (c.pair.0, c.second)).collect();
        let found = islands(self.world.n_bodies(), &ends);
        let answers = self.answers(attempt, &contacts, &found, is_tried);
        // Islands without a new point keep the solution of the previous round.
        let mut last: Vec<Option<Answer>> = vec![None; self.world.n_bodies()];
        let islands = std::mem::replace(&mut attempt.islands, found);
        for (island, answer) in islands.iter().zip(std::mem::take(&mut attempt.answers)) {
            last[island.bodies[0]] = Some(answer);
        }
        for (island, answer) in attempt.islands.iter().zip(answers) {
            let answer = match answer {
                Some(answer) => {
                    let failed = |_| MotionError::ContactForces {
                        time: attempt.middle.time,
                    };
                    let answer = answer.map_err(failed)?;
                    attempt.counts.add(&answer.counts);
                    answer
                }
                None => last[island.bodies[0]].take().unwrap_or_default(),
            };
            attempt.answers.push(answer);
        }
        attempt.kick();
        Ok(())
    }

    /// Solves the contact problems of those islands in `found` (groups of bodies connected by contacts) that have new
    /// contact points, in parallel. Returns one entry per island, `None` for an island without new points. `attempt`:
    /// step under construction; `contacts`: all its contact points. `is_tried` is true for a trial step, which uses
    /// separate solvers.
    fn answers(
        &mut self,
        attempt: &Attempt<'_>,
        contacts: &[Contact],
        found: &[Island],
        is_tried: bool,
    ) -> Vec<Option<Result<Answer, LcpError>>> {
        let world = self.world;
        let solvers = &mut self.solvers[usize::from(is_tried)];
        if solvers.len() < found.len() {
            solvers.resize_with(found.len(), Mutex::default);
        }
        let mut free = Vec::new();
        attempt.rows.velocities(&attempt.free_velocities, &mut free);
        let fall = world.flights.gravity.norm() * world.time_step;
        let task = |island| Task {
            bodies: &world.bodies,
            island,
            contacts,
            rows: &attempt.rows,
            before: &attempt.row_velocities,
            free: &free,
            yielding: Yielding {
                deflection: self.options.deflection(),
                load: world.flights.gravity.norm(),
                h: attempt.h,
            },
            fall,
            threshold: self.options.impact_speed() * fall,
            tolerance: self.options.tolerance(),
        };
        let is_new = |c: &usize| contacts[*c].impulse.is_none();
        let new: Vec<usize> = (0..found.len())
            .filter(|k| found[*k].contacts.iter().any(is_new))
            .collect();
        let slots: Vec<Mutex<Option<Result<Answer, LcpError>>>> =
            found.iter().map(|_| Mutex::default()).collect();
        self.executor.run(new.len(), &|index| {
            let k = new[index];
            let mut solver = solvers[k].lock().unwrap_or_else(PoisonError::into_inner);
            let answer = solver.solve(&task(&found[k]));
            *slots[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        });
        let slots = slots.into_iter();
        slots
            .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    /// Adds contact points for pairs that would overlap at the middle of the next step in spite of the impulses found.
    /// Returns true if there are new points, so that the impulses must be solved for again. `attempt`: step under
    /// construction; `velocities`: velocities of all bodies after the impulses.
    fn add_rows(
        &mut self,
        attempt: &mut Attempt<'_>,
        velocities: &[Velocity],
    ) -> Result<bool, MotionError> {
        let world = self.world;
        // Bodies that travel farther than their enlarged boxes allow for.
        let outside: Vec<usize> = (0..world.n_bodies())
            .filter(|i| {
                (world.is_mobile(*i) || world.is_prescribed(*i))
                    && attempt.h * speed(world, *i, &velocities[*i]) > self.broad.way[*i]
            })
            .collect();
        if !outside.is_empty() {
            let pairs = self.boxes(attempt, velocities, Some(&outside));
            self.meet(attempt, pairs);
        }
        let next = self.flown(
            &self.weightless,
            &attempt.kicked,
            attempt.middle.clock,
            attempt.h,
        )?;
        let (middle, kicked) = (attempt.middle, &attempt.kicked);
        let mut near = std::mem::take(&mut attempt.near);
        self.each(&mut near, &|near| {
            if !near.contacts.is_empty() {
                let flight = (&kicked[..], velocities, &next[..]);
                if !middle.nonlinearity(near, flight) {
                    middle.add_deep(near, flight);
                }
            } else if middle.closes(near, kicked, velocities) {
                middle.add_points(near, velocities);
            }
        });
        attempt.near = near;
        let mut all = attempt.near.iter().flat_map(|near| &near.contacts);
        Ok(all.any(|contact| contact.impulse.is_none()))
    }

    /// Completes the step under construction, `attempt`, after its contact impulses are found: checks the impulses and
    /// overlaps, lets all bodies fly to the end of the step, and removes a share of each overlap.
    fn finish(&mut self, attempt: Attempt<'_>) -> Result<Step, MotionError> {
        let world = self.world;
        let middle = attempt.middle;
        let contacts: Vec<&Contact> = attempt
            .near
            .iter()
            .flat_map(|near| near.contacts.iter())
            .collect();
        let mut found = Vec::with_capacity(attempt.islands.len());
        self.check_overlaps(&attempt)?;
        for (island, answer) in attempt.islands.iter().zip(&attempt.answers) {
            self.check(island, answer, middle.time)?;
            let energy_plus = island
                .bodies
                .iter()
                .map(|i| Flights::kinetic(&world.bodies[*i], &attempt.kicked[*i]));
            let pressed = island.contacts.iter().filter_map(|&c| {
                let contact = contacts[c];
                let l = contact.impulse?;
                (l[0] > 0.0).then(|| Pressed {
                    pair: contact.pair,
                    point: contact.point.point,
                    normal: contact.point.normal,
                    impulse: attempt.rows.frames[c]
                        .iter()
                        .zip(l)
                        .map(|(d, x)| d * x)
                        .sum(),
                    normal_velocity: attempt.row_velocities[3 * c],
                    slides: contact.mode == ContactMode::Slide,
                    restitutes: contact.restitutes,
                })
            });
            found.push(IslandStep {
                energy_plus: energy_plus.sum(),
                work: work(&attempt, island, &answer.impulses),
                lasting_work: self.lasting_work(&attempt, island, &contacts),
                pressed: pressed.collect(),
            });
        }
        let mut end = self.flown(
            &self.weightless,
            &attempt.kicked,
            middle.clock,
            attempt.phases.after,
        )?;
        let projection = project::part(world, &contacts, &attempt.rows, &mut end);
        let lowest_gap = attempt
            .near
            .iter()
            .map(|near| near.gap)
            .fold(f64::INFINITY, f64::min);
        let kept = kept(&attempt);
        let mut counts = attempt.counts;
        counts.n_steps = usize::from(attempt.phases.after > 0.0);
        let mut given = Given::default();
        let impulses = contacts
            .iter()
            .flat_map(|contact| contact.impulse.unwrap_or_default());
        given.prescribed = attempt.rows.running_work(&impulses.collect::<Vec<_>>());
        for (i, pull) in &attempt.pulls {
            let body = &world.bodies[*i];
            let after = Velocity::of(body, &attempt.kicked[*i]);
            let velocities = [&attempt.before[*i], &after];
            given.add(body, pull, attempt.phases.gravity, velocities);
        }
        Ok(Step {
            given,
            kicked: attempt.kicked,
            end,
            islands: found,
            counts,
            lowest_gap,
            projection,
            carry: Carry {
                pairs: (attempt.near.into_iter().zip(kept))
                    .map(|(near, kept)| (near.pair, near.memory, kept))
                    .collect(),
            },
        })
    }
}

/// Returns the work $\lambda\cdot(u^- + u^+)/2$ (J) of the impulses of an island (bodies connected by contacts) in the step
/// `attempt`, with the velocities $u$ of the bodies as they are: velocities of a solver have larger rounding errors where a light
/// body carries a heavy one.
fn work(attempt: &Attempt<'_>, island: &Island, impulses: &[f64]) -> f64 {
    let rows = island.contacts.iter().flat_map(|c| 3 * c..3 * c + 3);
    rows.zip(impulses)
        .map(|(row, l)| 0.5 * l * (attempt.row_velocities[row] + attempt.after[row]))
        .sum()
}

/// Returns, for each pair of bodies that may touch within the step `attempt`, the springs of the contact points that press.
fn kept(attempt: &Attempt<'_>) -> Vec<Vec<Kept>> {
    let states = attempt.middle.states;
    let of_pair = |near: &NearPair| {
        let points = near.contacts.iter();
        let pressing = points.filter(|contact| contact.after.preload[0] > 0.0);
        pressing
            .map(|contact| {
                let state = &states[contact.pair.0];
                Kept::new(&contact.after, &contact.point, state, attempt.h)
            })
            .collect()
    };
    attempt.near.iter().map(of_pair).collect()
}

/// Returns the velocities of all bodies in given states.
fn velocities(world: &World, states: &[State]) -> Vec<Velocity> {
    let all = world.bodies.iter().zip(states);
    all.map(|(body, state)| Velocity::of(body, state)).collect()
}

/// Returns an upper bound of the speed of any point of a body (m/s).
fn speed(world: &World, body: usize, velocity: &Velocity) -> f64 {
    let about = &world.bodies[body];
    let spin = match about.sphere {
        Some(_) => 0.0,
        None => velocity.angular.norm() * about.radius,
    };
    velocity.linear.norm() + spin
}
