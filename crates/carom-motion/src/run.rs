//! The motion of a world from event to event.
//!
//! Each body carries its own time; an impact advances only the bodies that it moves, and a sample none.
//! Bodies in lasting contact move in steps that end on multiples of the time step, each computed when
//! it begins; events inside a step split it.

use crate::MotionError;
use crate::body::Flights;
use crate::chatter::Chatter;
use crate::events::{Balance, Ending, Entry, Event, Next, RunEnd};
use crate::pair::PairMemory;
use crate::search::{Launch, Search};
use crate::step::{Step, StepPair, StepScene};
use crate::time::Time;
use crate::world::{Laws, OnZeno, World};
use carom_variational::State;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time (s).
    pub duration: f64,
    /// Instants of impact.
    pub impacts: usize,
    /// Events without time between them.
    pub events_per_instant: usize,
    /// What happens where impacts accumulate.
    pub on_zeno: OnZeno,
}

/// A body on its way.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) state: State,
    pub(crate) time: Time,
    /// Counts the flights, so that what was found for an earlier one is not used.
    pub(crate) stamp: u64,
    pub(crate) island: Option<usize>,
    /// Energy when the flight began (J).
    pub(crate) energy: f64,
}

/// A contact that lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lasting {
    pub(crate) slides: Option<bool>,
    /// Middle of the last steps and the mean normal force in them, the latest last.
    pub(crate) forces: [(f64, f64); 3],
}

/// Bodies that lasting contacts connect, in a step.
#[derive(Clone, Debug)]
pub(crate) struct Island {
    pub(crate) bodies: Vec<usize>,
    pub(crate) pairs: Vec<(usize, usize)>,
    /// States before the first kick.
    pub(crate) before: Vec<State>,
    pub(crate) begin: Time,
    pub(crate) length: f64,
    pub(crate) end: Time,
    pub(crate) step: Step,
    /// Whether another point of a pair closes at the end.
    pub(crate) lands: bool,
    /// Whether the step repeats itself to rounding: the bodies rest until something happens to them.
    pub(crate) rests: bool,
    pub(crate) stamp: u64,
    /// Steps since the last line of the grid.
    pub(crate) splits: usize,
}

/// How impacts of a pair follow on each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounces {
    pub(crate) last: Option<Time>,
    pub(crate) interval: f64,
    /// Intervals in a row that were shorter than the one before.
    pub(crate) shrunk: usize,
    /// Intervals in a row that were too short for anything to happen in them.
    pub(crate) short: usize,
}

pub(crate) type Observer<'o> = dyn FnMut(Event<'_>) + 'o;

pub(crate) struct Run<'w, 'o> {
    pub(crate) world: &'w World,
    pub(crate) laws: &'w Laws<'w>,
    pub(crate) limits: Limits,
    pub(crate) observe: &'o mut Observer<'o>,
    pub(crate) motions: Vec<Motion>,
    pub(crate) memory: HashMap<(usize, usize), PairMemory>,
    pub(crate) lasting: BTreeMap<(usize, usize), Lasting>,
    pub(crate) islands: Vec<Option<Island>>,
    pub(crate) bounces: BTreeMap<(usize, usize), Bounces>,
    pub(crate) chatter: BTreeMap<(usize, usize), Chatter>,
    queue: BinaryHeap<Entry>,
    stamps: u64,
    pub(crate) window_end: Time,
    pub(crate) n_impacts: usize,
    pub(crate) n_steps: usize,
    pub(crate) balance: Balance,
    /// Energy of all bodies and losses, less the energy at the start.
    pub(crate) drift: f64,
    pub(crate) ended: Option<Ending>,
    /// Latest event and how many there were without time between.
    latest: Time,
    /// The event before it: what is resolved is not earlier.
    pub(crate) before: Time,
    at_once: usize,
    pub(crate) now: Time,
}

impl World {
    /// Runs from the start, and reports the times asked for (ascending) and every event in their order.
    /// What stops a motion on its way is the [`Ending`]; everything before it has been reported.
    pub fn run<'o>(
        &self,
        laws: &Laws<'_>,
        limits: &Limits,
        samples: &[f64],
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let motion = |(i, state): (usize, &State)| Motion {
            state: *state,
            time: Time::default(),
            stamp: 0,
            island: None,
            energy: self.energy(i, state),
        };
        let mut run = Run {
            world: self,
            laws,
            limits: *limits,
            observe,
            motions: self.initial.iter().enumerate().map(motion).collect(),
            memory: HashMap::new(),
            lasting: BTreeMap::new(),
            islands: Vec::new(),
            bounces: BTreeMap::new(),
            chatter: BTreeMap::new(),
            queue: BinaryHeap::new(),
            stamps: 0,
            window_end: Time::default(),
            n_impacts: 0,
            n_steps: 0,
            balance: Balance {
                supports: vec![Vector3::zeros(); self.n_things()],
                ..Balance::default()
            },
            drift: 0.0,
            ended: None,
            latest: Time::default(),
            before: Time::default(),
            at_once: 0,
            now: Time::default(),
        };
        let ending = match run.go(samples) {
            Ok(()) => run.ended.take().unwrap_or(Ending::Completed),
            Err(error) => Ending::Stopped(error),
        };
        let time = match ending {
            Ending::Completed => Time::new(limits.duration),
            _ => run.now,
        };
        // What happened in steps that do not end here counts, too.
        for island in 0..run.islands.len() {
            let _ = run.stop_step(island, time);
        }
        let states = run
            .states_at(time)
            .unwrap_or_else(|_| run.motions.iter().map(|motion| motion.state).collect());
        run.note_energy(&states);
        RunEnd {
            ending,
            time: time.high,
            n_impacts: run.n_impacts,
            n_steps: run.n_steps,
            balance: run.balance,
            states,
        }
    }
}

impl<'w> Run<'w, '_> {
    fn go(&mut self, samples: &[f64]) -> Result<(), MotionError> {
        let end = Time::new(self.limits.duration);
        let mut samples = samples.iter().copied().peekable();
        if self.limits.impacts == 0 {
            self.ended = Some(Ending::MaxImpacts);
        } else {
            self.settle()?;
        }
        loop {
            let next = self
                .queue
                .peek()
                .map_or(self.window_end, |entry| entry.time);
            let next = next.min(self.window_end);
            while let Some(&sample) = samples.peek()
                && (Time::new(sample).compare(&next).is_lt() || self.ended.is_some())
                && (self.ended.is_none() || sample <= self.now.high)
            {
                samples.next();
                self.sample(sample)?;
            }
            if self.ended.is_some() {
                return Ok(());
            }
            if next.compare(&end).is_gt()
                || (next == end
                    && self
                        .queue
                        .peek()
                        .is_none_or(|e| e.time.compare(&end).is_gt()))
            {
                break;
            }
            match self.queue.peek() {
                Some(entry) if entry.time.compare(&self.window_end).is_le() => {
                    let entry = *entry;
                    self.queue.pop();
                    self.handle(entry)?;
                }
                _ => self.next_window()?,
            }
        }
        for sample in samples {
            if sample <= end.high {
                self.sample(sample)?;
            }
        }
        Ok(())
    }

    fn handle(&mut self, entry: Entry) -> Result<(), MotionError> {
        match entry.next {
            Next::Touch {
                pair,
                stamps,
                certain,
            } => {
                if (self.stamp(pair.0), self.stamp(pair.1)) != stamps {
                    return Ok(());
                }
                self.pass(entry.time)?;
                self.touch(pair, entry.time, certain)
            }
            Next::StepEnd { island, stamp } => {
                let current = self.islands.get(island).and_then(Option::as_ref);
                if current.is_none_or(|island| island.stamp != stamp) {
                    return Ok(());
                }
                self.now = entry.time;
                self.end_step(island)
            }
        }
    }

    /// Counts events without time between them.
    fn pass(&mut self, time: Time) -> Result<(), MotionError> {
        self.now = time;
        self.before = self.latest;
        let passed = time.since(self.latest);
        let rounding = 4.0 * f64::EPSILON * (time.high.abs() + self.world.time_step);
        self.at_once = if passed > rounding {
            0
        } else {
            self.at_once + 1
        };
        self.latest = time;
        if self.at_once > self.limits.events_per_instant {
            return Err(MotionError::EventLimit {
                limit: self.limits.events_per_instant,
                time: time.high,
            });
        }
        Ok(())
    }

    fn stamp(&self, thing: usize) -> u64 {
        self.motions.get(thing).map_or(0, |motion| motion.stamp)
    }

    pub(crate) fn new_stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    /// A stretch of time within which contacts are looked for.
    fn next_window(&mut self) -> Result<(), MotionError> {
        let begin = self.window_end;
        let world = self.world;
        let end = Time::new(self.limits.duration);
        let discrete = (0..world.n_bodies())
            .any(|i| world.is_mobile(i) && !world.flights.is_exact(&world.bodies[i]));
        if discrete {
            let step = world.time_step;
            let line = (begin.high / step + 1e-9).floor() + 1.0;
            self.window_end = Time::new(line * step).min(end);
            self.n_steps += usize::from(self.islands.iter().all(Option::is_none));
        } else {
            self.window_end = begin.plus(self.window()).min(end);
        }
        if self.window_end.compare(&begin).is_le() {
            self.window_end = end;
        }
        self.now = begin;
        for i in 0..world.n_bodies() {
            if !world.is_mobile(i) {
                continue;
            }
            // Variational flights start anew on the grid.
            if discrete
                && self.motions[i].island.is_none()
                && !world.flights.is_exact(&world.bodies[i])
            {
                self.bring(i, begin)?;
            }
        }
        let mobile: Vec<usize> = (0..world.n_bodies())
            .filter(|i| world.is_mobile(*i))
            .collect();
        for &i in &mobile {
            self.predict(i, begin, true)?;
        }
        Ok(())
    }

    fn window(&self) -> f64 {
        let world = self.world;
        let mobile = || (0..world.n_bodies()).filter(|i| world.is_mobile(*i));
        let spheres = mobile().all(|i| world.bodies[i].sphere.is_some());
        let still = world.flights.gravity == Vector3::zeros();
        let fixed = (0..world.n_bodies()).all(|i| world.is_mobile(i));
        if spheres && (still || fixed) && world.n_bodies() <= 64 {
            return self.limits.duration;
        }
        let gravity = world.flights.gravity.norm();
        let one = |i: usize| {
            let (body, motion) = (&world.bodies[i], &self.motions[i]);
            let (velocity, spin) = world.velocity(i, &motion.state);
            let speed =
                velocity.norm() + spin.norm() * body.radius + (gravity * body.radius).sqrt();
            body.radius / speed
        };
        let shortest = mobile().map(one).fold(f64::INFINITY, f64::min);
        (8.0 * shortest).min(self.limits.duration)
    }

    /// Where a body or plane is at a time; bodies in a step as if it ended there.
    pub(crate) fn state_at(&self, thing: usize, time: Time) -> Result<State, MotionError> {
        let Some(motion) = self.motions.get(thing) else {
            return Ok(*self.world.initial_of(thing));
        };
        if let Some(island) = motion.island.and_then(|i| self.islands.get(i)?.as_ref()) {
            let place = island
                .bodies
                .iter()
                .position(|i| *i == thing)
                .unwrap_or_default();
            let passed = time.since(island.begin);
            if time == island.end || passed >= island.length {
                return Ok(island.step.end[place]);
            }
            if island.rests || passed <= 1e-9 * island.length {
                return Ok(island.before[place]);
            }
            return Ok(self.preview(island, passed)?.end[place]);
        }
        self.fly(thing, time)
    }

    /// The flight of a body to a time, from where it was.
    fn fly(&self, body: usize, time: Time) -> Result<State, MotionError> {
        let (world, motion) = (self.world, &self.motions[body]);
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

    /// The step of an island, if it were this long.
    pub(crate) fn preview(&self, island: &Island, length: f64) -> Result<Step, MotionError> {
        if island.rests {
            return Ok(island.step.stretched(length));
        }
        self.scene(&island.bodies, &island.pairs, island.begin)
            .step(&island.before, length, Some(&island.step.impulses))
    }

    pub(crate) fn scene(
        &self,
        bodies: &[usize],
        pairs: &[(usize, usize)],
        time: Time,
    ) -> StepScene<'w> {
        let world = self.world;
        let place = |body: usize| bodies.iter().position(|i| *i == body);
        let of_pair = |&(i, j): &(usize, usize)| StepPair {
            first: place(i).unwrap_or_default(),
            second: place(j),
            body: &world.bodies[i],
            other: world.thing(j),
            fixed: world.initial_of(j),
            friction: world.surface(i, j).friction,
            tolerance: world.tolerance(i, j),
        };
        StepScene {
            flights: &world.flights,
            bodies: bodies.iter().map(|i| &world.bodies[*i]).collect(),
            pairs: pairs.iter().map(of_pair).collect(),
            time: time.high,
            time_step: world.time_step,
            reach: self.reach(bodies, pairs, time),
        }
    }

    /// States of all bodies at a time.
    fn states_at(&self, time: Time) -> Result<Vec<State>, MotionError> {
        let mut states: Vec<State> = self.motions.iter().map(|motion| motion.state).collect();
        for (body, state) in states.iter_mut().enumerate() {
            if self.motions[body].island.is_none() {
                *state = self.fly(body, time)?;
            }
        }
        for island in self.islands.iter().flatten() {
            let passed = time.since(island.begin);
            let all = if passed >= island.length {
                island.step.end.clone()
            } else if island.rests || passed <= 1e-9 * island.length {
                island.before.clone()
            } else {
                self.preview(island, passed)?.end
            };
            for (body, state) in island.bodies.iter().zip(all) {
                states[*body] = state;
            }
        }
        Ok(states)
    }

    fn sample(&mut self, time: f64) -> Result<(), MotionError> {
        let states = self.states_at(Time::new(time))?;
        self.note_energy(&states);
        (self.observe)(Event::Sample {
            time,
            states: &states,
        });
        Ok(())
    }

    /// Compares the energy of states with that when their flights began.
    fn note_energy(&mut self, states: &[State]) {
        let mut error = self.drift;
        for (body, state) in states.iter().enumerate() {
            if self.motions[body].island.is_none() {
                error += self.world.energy(body, state) - self.motions[body].energy;
            }
        }
        if error.is_finite() {
            self.balance.energy_error = self.balance.energy_error.max(error.abs());
        }
    }

    /// Starts the flight of a body anew from where it is at a time, without a change.
    pub(crate) fn bring(&mut self, body: usize, time: Time) -> Result<(), MotionError> {
        if !self.world.is_mobile(body) || self.motions[body].time == time {
            return Ok(());
        }
        let state = self.fly(body, time)?;
        let energy = self.world.energy(body, &state);
        if !crate::step::is_finite(&state) {
            return Err(MotionError::NonFinite {
                body: self.world.bodies[body].name.clone(),
                time: time.high,
            });
        }
        let stamp = self.new_stamp();
        let motion = &mut self.motions[body];
        self.drift += energy - motion.energy;
        (motion.state, motion.time, motion.energy, motion.stamp) = (state, time, energy, stamp);
        self.balance.energy_error = self.balance.energy_error.max(self.drift.abs());
        Ok(())
    }

    /// Looks for the contacts of a body within the window, from a time on; with `later`, only with
    /// things of higher index, when every body is looked at.
    pub(crate) fn predict(
        &mut self,
        body: usize,
        from: Time,
        later: bool,
    ) -> Result<(), MotionError> {
        let world = self.world;
        for thing in 0..world.n_things() {
            let Some(pair) = world.pair_of(body, thing) else {
                continue;
            };
            if later && world.is_mobile(thing) && thing < body {
                continue;
            }
            if self.lasting.contains_key(&pair) {
                continue;
            }
            self.predict_pair(pair, from)?;
        }
        Ok(())
    }

    fn predict_pair(&mut self, pair: (usize, usize), from: Time) -> Result<(), MotionError> {
        let world = self.world;
        let (i, j) = pair;
        let mut until = self.window_end;
        for thing in [i, j] {
            let motion = self.motions.get(thing);
            if let Some(island) = motion.and_then(|m| self.islands.get(m.island?)?.as_ref()) {
                until = until.min(island.end);
            }
        }
        let horizon = until.since(from);
        if horizon <= 0.0 {
            return Ok(());
        }
        let here = &self.motions[i];
        if self.is_far(pair, from, horizon) {
            return Ok(());
        }
        let (body, other) = (&world.bodies[i], world.thing(j));
        let launch = |thing: usize| {
            let motion = self.motions.get(thing).unwrap_or(here);
            let rests = self.resting(thing);
            Launch {
                body: world.bodies.get(thing).unwrap_or(body),
                state: rests.unwrap_or(&motion.state),
                since: from.since(motion.time),
                rests: rests.is_some(),
            }
        };
        let (first, second) = (launch(i), launch(j));
        if !first.body.is_mobile() || (first.rests && (second.rests || !world.is_mobile(j))) {
            return Ok(());
        }
        let search = Search {
            flights: &world.flights,
            first,
            other,
            second,
            begin: from.high,
            tolerance: world.tolerance(i, j),
        };
        let mut memory = self.memory.get(&pair).cloned().unwrap_or_default();
        let found = search.first_contact(horizon, &mut memory)?;
        self.memory.insert(pair, memory);
        if let Some(time) = found {
            self.push_touch(pair, from.plus(time), false);
        }
        Ok(())
    }

    /// Adds a touch of the present flights of a pair to the queue.
    pub(crate) fn push_touch(&mut self, pair: (usize, usize), time: Time, certain: bool) {
        let stamps = (self.stamp(pair.0), self.stamp(pair.1));
        self.queue.push(Entry {
            time,
            next: Next::Touch {
                pair,
                stamps,
                certain,
            },
        });
    }

    /// Whether balls around two bodies cannot meet in time.
    fn is_far(&self, (i, j): (usize, usize), from: Time, horizon: f64) -> bool {
        let world = self.world;
        let Some(second) = world.bodies.get(j) else {
            return false;
        };
        let g = world.flights.gravity;
        let place = |thing: usize| {
            let motion = &self.motions[thing];
            if let Some(state) = self.resting(thing) {
                return (state.position, Vector3::zeros(), false);
            }
            let t = from.since(motion.time);
            match world.is_mobile(thing) {
                true => {
                    let v = world.drift(thing, &motion.state);
                    let x = motion.state.position + v * t + g * (0.5 * t * t);
                    (x, v + g * t, true)
                }
                false => (motion.state.position, Vector3::zeros(), false),
            }
        };
        let ((x, v, falls), (y, w, other_falls)) = (place(i), place(j));
        let fall = if falls == other_falls {
            0.0
        } else {
            0.5 * g.norm() * horizon * horizon
        };
        let reach = world.bodies[i].radius + second.radius + (v - w).norm() * horizon + fall;
        (x - y).norm() > reach * (1.0 + 1e-9)
    }

    /// Where a body rests, if it does.
    fn resting(&self, body: usize) -> Option<&State> {
        let index = self.motions.get(body)?.island?;
        let island = self.islands.get(index)?.as_ref()?;
        let place = island.bodies.iter().position(|i| *i == body)?;
        island.before.get(place).filter(|_| island.rests)
    }

    /// Adds an entry to the queue.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.queue.push(entry);
    }

    /// Kinetic energy of bodies (J).
    pub(crate) fn kinetic(&self, bodies: &[usize], states: &[State]) -> f64 {
        let all = bodies.iter().zip(states);
        all.map(|(i, state)| Flights::kinetic(&self.world.bodies[*i], state))
            .sum()
    }
}
