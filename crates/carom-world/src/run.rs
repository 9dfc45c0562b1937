//! Event-driven integration of a world.
//!
//! Each body has a time of its own; an impact advances only the bodies that it changes, and a sample advances none. Bodies in
//! lasting contact move in steps that end on multiples of the time step. The whole step is computed when it begins; events inside
//! a step split it.

#[cfg(feature = "serde")]
mod saved;
mod show;

use crate::MotionError;
use crate::body::{Body, Flights};
use crate::events::{Balance, Entry, Next, RunEnd, WorldEvent};
use crate::force::{ContactForce, EndedForces, PointForce};
use crate::guard::Control;
use crate::lasting::LastingPairs;
use crate::pair::PairMemory;
use crate::pair_table::PairTable;
use crate::scratch::Scratch;
use crate::series::Series;
use crate::spec::{Laws, World};
use crate::step::Step;
use crate::swept_box::SweptBox;
use crate::touch_count::TouchCount;
use carom_geometry::cells::Cells;
use carom_motion::hybrid::{Ending, Limits};
use carom_numeric::time::Time;
use carom_variational::State;
use std::collections::BinaryHeap;

/// Fraction of a step below which the state of a body is taken to be that at the begin of the step.
pub(crate) const AT_BEGIN: f64 = 1e-9;

/// Number of pairs per body that are stored before entries without use are removed.
const REMEMBERED: usize = 8;

/// Initial capacity of the event queue, in entries per body.
const QUEUED: usize = 16;

/// Largest number of events of a body without time between them, before the run fails with an error.
pub(crate) const EVENTS_PER_INSTANT: usize = 10_000;

/// Largest number of continued contact searches of a body within one step of the grid. More occur only if a body rotates or moves
/// by so many of its radii in a step that its contacts cannot be found.
const MOST_LOOKS: usize = 20_000;

/// Number of swept boxes that a body leaves without an event before its next boxes are made longer, even among other bodies.
const MANY_BOXES: usize = 64;

/// Current motion of a body.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Motion {
    pub(crate) state: State,
    pub(crate) time: Time,
    /// Number of the flight: results found for an earlier flight are discarded.
    pub(crate) stamp: u64,
    pub(crate) island: Option<usize>,
    /// Energy of the body at the begin of the flight (J).
    pub(crate) energy: f64,
    /// Angle of non-constant rotation of the body since its latest event (rad).
    pub(crate) tumbled: f64,
    /// Number of swept boxes that the body has left since its latest event.
    left_boxes: usize,
    /// Index of the latest grid time, and number of continued searches since.
    looks: (f64, usize),
    /// Time of the latest event of the body; `at_once` counts the events at that time.
    latest: Time,
    at_once: usize,
    /// Index of the latest grid time, and number of impacts at several contacts since.
    pub(crate) crowding: (f64, usize),
}

impl Motion {
    /// Forgets what happened since the latest event of the body: an input is one.
    pub(crate) fn forget(&mut self) {
        (self.tumbled, self.left_boxes, self.at_once) = (0.0, 0, 0);
    }
}

/// Bodies connected by lasting contacts, in a common step.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Island {
    pub(crate) bodies: Vec<usize>,
    pub(crate) pairs: Vec<(usize, usize)>,
    /// States before the first kick.
    pub(crate) before: Vec<State>,
    pub(crate) begin: Time,
    pub(crate) length: f64,
    pub(crate) end: Time,
    pub(crate) step: Step,
    pub(crate) control: Control,
    /// True if a further point of a pair closes at the end of the step.
    pub(crate) lands: bool,
    /// True if the step ends where it began, up to rounding: the bodies rest until an event concerns them.
    pub(crate) rests: bool,
    pub(crate) stamp: u64,
    /// Number of splits since the last grid time.
    pub(crate) splits: usize,
}

impl Island {
    /// Returns the forces of a step of the island.
    pub(crate) fn forces(&self, step: &Step) -> impl Iterator<Item = ContactForce> {
        let of_pair =
            |force: &PointForce| Some(ContactForce::new(*self.pairs.get(force.pair)?, force));
        step.forces.iter().filter_map(of_pair)
    }

    /// Returns the position of a body in the lists of the island (bodies connected by lasting contacts); `None` if the island
    /// does not contain the body.
    pub(crate) fn place(&self, body: usize) -> Option<usize> {
        self.bodies.binary_search(&body).ok()
    }
}

/// Impacts of a pair, with the intervals between them.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Bounces {
    /// Number of impacts since the pair was last in lasting contact.
    pub(crate) count: usize,
    pub(crate) last: Option<Time>,
    pub(crate) interval: f64,
    /// Number of successive intervals that were shorter than the one before.
    pub(crate) shrunk: usize,
    /// Number of successive intervals that were too short for a resolvable gap.
    pub(crate) short: usize,
    /// Estimate of the accumulation point of the impacts.
    pub(crate) series: Series,
}

/// Event-driven run. Between two calls of a session it is paused: then it holds neither the world `W` nor the laws `L`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EventRun<W, L> {
    pub(crate) world: W,
    pub(crate) laws: L,
    #[cfg_attr(feature = "serde", serde(skip, default = "saved::no_limits"))]
    pub(crate) limits: Limits,
    /// Events that are not reported yet.
    pub(crate) events: Vec<WorldEvent>,
    pub(crate) motions: Vec<Motion>,
    pub(crate) boxes: Vec<SweptBox>,
    #[cfg_attr(feature = "serde", serde(skip, default = "saved::no_cells"))]
    pub(crate) cells: Cells,
    pub(crate) memory: PairTable<PairMemory>,
    pub(crate) lasting: LastingPairs,
    pub(crate) islands: Vec<Option<Island>>,
    /// Free entries of `islands`.
    pub(crate) free_islands: Vec<usize>,
    pub(crate) bounces: PairTable<Bounces>,
    pub(crate) chatter: PairTable<TouchCount>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) scratch: Scratch,
    #[cfg_attr(feature = "serde", serde(skip))]
    queue: BinaryHeap<Entry>,
    stamps: u64,
    pub(crate) n_impacts: usize,
    pub(crate) n_steps: usize,
    /// Time at which the latest step of free flight begins (s), if it is counted.
    counted: Option<f64>,
    pub(crate) balance: Balance,
    pub(crate) ended_forces: EndedForces,
    /// Smallest gap at impacts and at the ends of steps of lasting contact (m).
    pub(crate) lowest_gap: f64,
    /// Energy of all bodies plus losses minus the energy at the start (J).
    pub(crate) drift: f64,
    /// Largest number of impacts at several contacts that a body may have within one interval of the time grid; `None` for no
    /// limit.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) crowd_limit: Option<usize>,
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::ending"))]
    pub(crate) ended: Option<Ending<MotionError>>,
    /// Time of the latest event.
    pub(crate) now: Time,
    /// Time of the entry of the queue that is handled.
    handled: Time,
}

/// Event-driven run with its world and laws.
pub(crate) type Run<'w> = EventRun<&'w World, &'w Laws<'w>>;

impl<W, L> EventRun<W, L> {
    /// Returns this run with another world and other laws.
    pub(crate) fn with<V, M>(self, world: V, laws: M) -> EventRun<V, M> {
        EventRun {
            world,
            laws,
            limits: self.limits,
            events: self.events,
            motions: self.motions,
            boxes: self.boxes,
            cells: self.cells,
            memory: self.memory,
            lasting: self.lasting,
            islands: self.islands,
            free_islands: self.free_islands,
            bounces: self.bounces,
            chatter: self.chatter,
            scratch: self.scratch,
            queue: self.queue,
            stamps: self.stamps,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            counted: self.counted,
            balance: self.balance,
            ended_forces: self.ended_forces,
            lowest_gap: self.lowest_gap,
            drift: self.drift,
            crowd_limit: self.crowd_limit,
            ended: self.ended,
            now: self.now,
            handled: self.handled,
        }
    }
}

impl<W, L> EventRun<W, L> {
    /// Returns false for an entry of the queue that later events made void.
    fn is_current(&self, entry: &Entry) -> bool {
        let pair = |pair: [u32; 2]| (pair[0] as usize, pair[1] as usize);
        match entry.next {
            Next::Touch { pair: of, stamps } => self.stamps_of(pair(of)) == stamps,
            Next::StepEnd { island, stamp } => {
                let current = self.islands.get(island as usize).and_then(Option::as_ref);
                current.is_some_and(|island| island.stamp == stamp)
            }
            Next::Line => true,
            Next::Leave { body, count } => {
                let swept = self.boxes.get(body as usize);
                swept.is_some_and(|swept| swept.count == count)
            }
            Next::Look { pair: of, counts } => self.counts(pair(of)) == counts,
        }
    }

    /// Returns the sum of the flight numbers of the bodies `i` and `j`. The sum grows whenever one of the two begins a new
    /// flight, so that it shows whether a planned contact is still valid.
    fn stamps_of(&self, (i, j): (usize, usize)) -> u64 {
        let stamp = |thing: usize| self.motions.get(thing).map_or(0, |motion| motion.stamp);
        stamp(i) + stamp(j)
    }

    /// Returns the sum of the numbers of the boxes that contain the paths of the bodies `i` and `j`. The sum grows whenever one
    /// of the two gets a new box, so that it shows whether a planned search is still valid.
    pub(crate) fn counts(&self, (i, j): (usize, usize)) -> u64 {
        let count = |thing: usize| self.boxes.get(thing).map_or(0, |swept| swept.count);
        count(i) + count(j)
    }
}

impl<'w> Run<'w> {
    /// Creates the data of an event-driven run from the initial state of a world. `laws`: impact laws; `limits`: number of impacts
    /// at which the run ends, and the duration that is expected.
    pub(crate) fn new(world: &'w World, laws: &'w Laws<'w>, limits: &Limits) -> Self {
        let motion = |(i, state): (usize, &State)| Motion {
            state: *state,
            time: Time::default(),
            stamp: 0,
            island: None,
            energy: world.held_energy(i, state),
            tumbled: 0.0,
            left_boxes: 0,
            looks: (0.0, 0),
            latest: Time::default(),
            at_once: 0,
            crowding: (f64::NEG_INFINITY, 0),
        };
        let n = world.n_bodies();
        let remembered = REMEMBERED * (n + 8);
        Self {
            world,
            laws,
            limits: *limits,
            events: Vec::new(),
            motions: world.initial.iter().enumerate().map(motion).collect(),
            boxes: vec![SweptBox::default(); n],
            cells: Cells::new(n),
            memory: PairTable::new(remembered),
            lasting: LastingPairs::default(),
            islands: Vec::new(),
            free_islands: Vec::new(),
            bounces: PairTable::new(remembered),
            chatter: PairTable::new(n + 64),
            scratch: Scratch::default(),
            queue: BinaryHeap::with_capacity(QUEUED * n),
            stamps: 0,
            n_impacts: 0,
            n_steps: 0,
            counted: None,
            balance: Balance::new(world),
            ended_forces: EndedForces::default(),
            lowest_gap: f64::INFINITY,
            drift: 0.0,
            crowd_limit: None,
            ended: None,
            now: Time::default(),
            handled: Time::default(),
        }
    }

    /// Ends the run at `time`: ends all steps of lasting contact there, and returns the states with counts and energy balance.
    /// `ending` is the reason for the end.
    pub(crate) fn finish(&mut self, time: Time, mut ending: Ending<MotionError>) -> RunEnd {
        // Losses in steps that end after this time count up to this time.
        for island in 0..self.islands.len() {
            match (self.stop_step(island, time), &ending) {
                (Ok(_), _) | (Err(_), Ending::Stopped(_)) => (),
                (Err(error), _) => ending = Ending::Stopped(error),
            }
        }
        let states = self
            .states_at(time)
            .unwrap_or_else(|_| self.motions.iter().map(|motion| motion.state).collect());
        self.note_energy(&states);
        if let (Err(error), false) = (
            self.check_places(&states, time.high),
            matches!(ending, Ending::Stopped(_)),
        ) {
            ending = Ending::Stopped(error);
        }
        let mut balance = self.balance.clone();
        let world = self.world;
        world.book_held(states.iter().enumerate(), [time.high, 1.0], &mut balance);
        let begins_now = self.counted.is_some_and(|begin| begin >= time.high);
        RunEnd {
            ending,
            time: time.high,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps - usize::from(begins_now),
            balance,
            lowest_gap: self.lowest_gap,
            states,
            contacts: self.ended_forces.at(time.high).to_vec(),
            stepping: None,
            handed_over: None,
        }
    }

    /// Handles the next event of the queue, unless it comes after `until` (s). Returns false if no event is left up to then.
    pub(crate) fn proceed(&mut self, until: f64) -> Result<bool, MotionError> {
        let end = Time::new(until);
        match self.queue.peek().copied() {
            Some(entry) if entry.time.compare(&end).is_le() => {
                self.queue.pop();
                if self.is_current(&entry) {
                    self.handled = entry.time;
                    self.handle(entry)?;
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Moves the time of the run to that of the error which stops it, where the states are known.
    pub(crate) fn stop(&mut self) {
        let time = self.now.max(self.handled);
        if self.states_at(time).is_ok() {
            self.now = time;
        }
    }

    /// Returns the reason for which a run without a duration is over: all bodies are at rest for ever, or none will hit another.
    pub(crate) fn stays(&self) -> Option<Ending<MotionError>> {
        if self.world.bodies.iter().any(Body::is_prescribed) {
            return None;
        }
        let next = self.queue.peek();
        let is_last = next.is_none_or(|next| !next.time.high.is_finite());
        let is_line = next.is_some_and(|next| matches!(next.next, Next::Line));
        if (is_last || is_line) && self.is_at_rest() {
            return Some(Ending::AtRest);
        }
        is_last.then_some(Ending::NeverHits)
    }

    /// Returns true if the run is to end now, because an end was decided or the limit on the number of impacts is reached.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some() || self.n_impacts >= self.limits.impacts
    }

    /// Starts the run: creates the box that contains the path of each body (swept box), and handles the contacts that exist at
    /// the start.
    pub(crate) fn begin(&mut self) -> Result<(), MotionError> {
        let world = self.world;
        let start = Time::default();
        let mut discrete = false;
        for i in 0..world.n_bodies() {
            let body = &world.bodies[i];
            if body.is_mobile() {
                discrete |= !world.flights.is_exact(body);
                self.enclose(i, start);
            } else if body.is_prescribed() {
                discrete = true;
                self.enclose(i, start);
            } else {
                self.enclose_fixed(i);
            }
        }
        self.settle()?;
        if discrete {
            self.count_line(start);
        }
        Ok(())
    }

    fn handle(&mut self, entry: Entry) -> Result<(), MotionError> {
        let pair = |pair: [u32; 2]| (pair[0] as usize, pair[1] as usize);
        match entry.next {
            Next::Touch { pair: of, .. } => {
                self.pass(pair(of), entry.time)?;
                self.touch(pair(of), entry.time)
            }
            Next::StepEnd { island, .. } => {
                self.now = entry.time;
                self.end_step(island as usize)
            }
            Next::Line => self.line_of_grid(entry.time),
            Next::Leave { body, .. } => {
                let body = body as usize;
                // Boxes of a body that is small against its path grow if nothing happens to it.
                let motion = &mut self.motions[body];
                motion.left_boxes += 1;
                if motion.left_boxes > MANY_BOXES {
                    self.boxes[body].widen();
                }
                self.look_around(&[body], entry.time)
            }
            Next::Look { pair: of, .. } => {
                self.count_look(pair(of), entry.time)?;
                self.look(pair(of), entry.time)
            }
        }
    }

    /// Counts a continued search for the first contact of a pair. The count belongs to the first body and to the present interval
    /// of the time grid; too many are an error.
    fn count_look(&mut self, pair: (usize, usize), time: Time) -> Result<(), MotionError> {
        let line = self.line(time);
        let motion = &mut self.motions[pair.0];
        if motion.looks.0 != line {
            motion.looks = (line, 0);
        }
        motion.looks.1 += 1;
        if motion.looks.1 <= MOST_LOOKS {
            return Ok(());
        }
        Err(MotionError::ContactSearchLimit {
            first: self.world.bodies[pair.0].name.clone(),
            second: self.world.name(pair.1).to_owned(),
            limit: MOST_LOOKS,
            time: time.high,
        })
    }

    /// Advances the current time to a contact of a pair. Also counts, for each body, contacts that follow each other without time
    /// between them; fails if there are too many.
    fn pass(&mut self, pair: (usize, usize), time: Time) -> Result<(), MotionError> {
        self.now = time;
        let rounding = 4.0 * f64::EPSILON * (time.high.abs() + self.world.time_step);
        let limit = EVENTS_PER_INSTANT;
        for thing in [pair.0, pair.1] {
            let Some(motion) = self.motions.get_mut(thing) else {
                continue;
            };
            if !self.world.is_mobile(thing) {
                continue;
            }
            let passed = time.since(motion.latest);
            motion.at_once = if passed > rounding {
                0
            } else {
                motion.at_once + 1
            };
            motion.latest = time;
            (motion.tumbled, motion.left_boxes) = (0.0, 0);
            if motion.at_once > limit {
                return Err(MotionError::EventLimit {
                    limit,
                    time: time.high,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn new_stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    /// Returns the first grid time (multiple of the time step) after `time`.
    pub(crate) fn next_line(&self, time: Time) -> Time {
        let step = self.world.time_step;
        let line = Time::new(((time.high / step + 1e-9).floor() + 1.0) * step);
        if line.compare(&time).is_gt() {
            line
        } else {
            time.plus(step)
        }
    }

    /// Counts one step of the free flights that are integrated numerically, which begins at `time`, and schedules the
    /// event of the next grid time (multiple of the time step).
    fn count_line(&mut self, time: Time) {
        let lasts = self.free_islands.len() < self.islands.len();
        self.n_steps += usize::from(!lasts);
        self.counted = (!lasts).then_some(time.high);
        self.push(Entry {
            time: self.next_line(time),
            next: Next::Line,
        });
    }

    /// Handles the event of a grid time (multiple of the time step): all bodies whose free flight is integrated
    /// numerically begin a new flight.
    fn line_of_grid(&mut self, time: Time) -> Result<(), MotionError> {
        let world = self.world;
        self.now = time;
        let mut bodies = std::mem::take(&mut self.scratch.flying);
        bodies.clear();
        bodies.extend((0..world.n_bodies()).filter(|i| {
            let body = &world.bodies[*i];
            let flies = body.is_mobile() && !world.flights.is_exact(body);
            (flies && self.motions[*i].island.is_none()) || body.is_prescribed()
        }));
        for body in &bodies {
            world.bodies[*body].checked(self.next_line(time).high)?;
        }
        for &body in &bodies {
            self.bring(body, time)?;
        }
        self.look_around(&bodies, time)?;
        self.scratch.flying = bodies;
        self.count_line(time);
        Ok(())
    }

    /// Returns the state of the body or plane with index `thing` at `time`. For a body in a step of lasting contact, the step is
    /// recomputed as if it ended at that time.
    pub(crate) fn state_at(&self, thing: usize, time: Time) -> Result<State, MotionError> {
        let Some(motion) = self.motions.get(thing) else {
            return Ok(*self.world.initial_of(thing));
        };
        if let Some(island) = motion.island.and_then(|i| self.islands.get(i)?.as_ref()) {
            let place = island.place(thing).unwrap_or_default();
            let passed = time.since(island.begin);
            if time == island.end || passed >= island.length {
                return Ok(island.step.end[place]);
            }
            if island.rests || passed <= AT_BEGIN * island.length {
                return Ok(island.before[place]);
            }
            return Ok(self.cut(island, passed)?.end[place]);
        }
        self.fly(thing, time)
    }

    /// Returns the state of the body or plane with index `thing` at `time` along its free flight. For a body in a step
    /// of lasting contact this is the flight between the impulses at the start and the end of the step, without the
    /// effect of the impulses at the end.
    pub(crate) fn flight_at(&self, thing: usize, time: Time) -> Result<State, MotionError> {
        match (self.resting(thing), self.motions.get(thing)) {
            (Some(state), _) => Ok(*state),
            (None, Some(_)) => self.fly(thing, time),
            (None, None) => Ok(*self.world.initial_of(thing)),
        }
    }

    /// Returns the state of a body at `time`, by free flight from the state that was stored last.
    fn fly(&self, body: usize, time: Time) -> Result<State, MotionError> {
        let (world, motion) = (self.world, &self.motions[body]);
        if let Some(told) = world.bodies[body].told(time.high) {
            return Ok(told);
        }
        let flown = time.since(motion.time);
        world
            .flights
            .advance(&world.bodies[body], &motion.state, flown)
            .map_err(|source| MotionError::Flight {
                body: world.bodies[body].name.clone(),
                time: motion.time.high,
                source,
            })
    }

    /// Returns the present time step of an island (bodies connected by lasting contacts), recomputed from its start with another
    /// length (s).
    pub(crate) fn preview(&self, island: &Island, length: f64) -> Result<Step, MotionError> {
        if island.rests {
            return Ok(island.step.stretched(length));
        }
        let mut scene = self.scene(&island.bodies, &island.pairs, island.begin);
        scene.reach = self.reach(&island.bodies, &island.pairs, island.begin, island.length);
        scene.step(&island.before, length, Some(&island.step.pressed))
    }

    /// Updates the largest error of the energy balance. For each body in free flight, its energy in `states` is compared with
    /// that at the start of its flight.
    fn note_energy(&mut self, states: &[State]) {
        let mut error = self.drift;
        for (body, state) in states.iter().enumerate() {
            if self.motions[body].island.is_none() {
                error += self.world.held_energy(body, state) - self.motions[body].energy;
            }
        }
        if error.is_finite() {
            self.balance.energy_error = self.balance.energy_error.max(error.abs());
        }
    }

    /// Advances the stored state of a body to `time` by free flight. A new flight begins there. Does nothing for a fixed body.
    pub(crate) fn bring(&mut self, body: usize, time: Time) -> Result<(), MotionError> {
        if !self.world.is_mobile(body) || self.motions[body].time == time {
            return Ok(());
        }
        let state = self.fly(body, time)?;
        let energy = self.world.held_energy(body, &state);
        if !crate::step::is_finite(&state) {
            return Err(MotionError::NonFinite {
                body: self.world.bodies[body].name.clone(),
                time: time.high,
            });
        }
        self.world.check_place(body, &state, time.high)?;
        let stamp = self.new_stamp();
        let motion = &mut self.motions[body];
        self.drift += energy - motion.energy;
        (motion.state, motion.time, motion.energy, motion.stamp) = (state, time, energy, stamp);
        self.balance.energy_error = self.balance.energy_error.max(self.drift.abs());
        Ok(())
    }

    /// Schedules a contact of a pair at `time`. The event becomes void if one of the two bodies begins a new flight before.
    pub(crate) fn push_touch(&mut self, pair: (usize, usize), time: Time) {
        let stamps = self.stamps_of(pair);
        let pair = [pair.0 as u32, pair.1 as u32];
        self.queue.push(Entry {
            time,
            next: Next::Touch { pair, stamps },
        });
    }

    /// Adds an event to the queue of future events.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.queue.push(entry);
    }

    /// Returns the total kinetic energy (J) of `bodies` in `states`, which has one entry per listed body.
    pub(crate) fn kinetic(&self, bodies: &[usize], states: &[State]) -> f64 {
        let all = bodies.iter().zip(states);
        all.map(|(i, state)| Flights::kinetic(&self.world.bodies[*i], state))
            .sum()
    }
}
