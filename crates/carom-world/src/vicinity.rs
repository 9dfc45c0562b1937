//! Neighbor search: every body has a box that contains its path for some time (swept box).
//!
//! A partner that the body can touch within that time has a box that intersects its own. Contacts are searched only between such
//! pairs, until the time of one of the two boxes is over. Leaving a box is an event like others. A body without neighbors gets a
//! longer box next time, so that isolated bodies cost nothing.

use crate::MotionError;
use crate::collision::rate;
use crate::events::{Entry, Next};
use crate::pair::{self, Other, PairMemory};
use crate::pair_table::Pair;
use crate::run::Run;
use crate::search::{BAND, DEEP, Launch, Progress, Search};
use crate::swept_box::path;
use carom_geometry::cells::Bounds;
use carom_motion::ball::Ball;
use carom_numeric::time::Time;
use carom_variational::{State, VariationalError};
use nalgebra::Vector3;

/// Distance that a body with neighbors moves within its box, in multiples of its radius.
const TRAVEL: f64 = 2.0;

/// Largest factor by which the boxes of bodies without neighbors grow.
const MAX_STRETCH: f64 = 1e12;

/// Boxes that intersect more than this many others are shortened.
const CROWD: usize = 24;

/// Length of one contact search of bodies without closed forms: the time in which points of the bodies move by about this many
/// radii.
const STRETCH_OF_SEARCH: f64 = 8.0;

/// A box that lasts for more searches than this is searched as a whole: the body is small against its path.
const MANY_STRETCHES: f64 = 64.0;

/// Rotation after which a flight begins anew with the next box (rad): the cost of the exact solution for a tumbling body grows
/// with the time since its start.
const LONG_FLIGHT: f64 = 2.0;

/// Rotation of a tumbling body after which its box ends (rad); the box lasts for at least [`SHORTEST_BOX`].
const LONGEST_TUMBLE: f64 = 8.0;

/// Shortest duration of the box of a tumbling body, as a fraction of the time step.
const SHORTEST_BOX: f64 = 1e-4;

/// Largest rotation of a tumbling body between two events (rad); beyond it the run fails with an error. A rotation by so much is
/// 16,000 revolutions; to follow it takes about a second.
const MOST_TUMBLED: f64 = 1e5;

/// Largest number of mobile bodies whose flights are compared with each other before a rotation by [`MOST_TUMBLED`]: the number
/// of pairs grows with the square, and comparing them must cost little against a flight.
const MOST_COMPARED: usize = 32;

/// Smallest clearance of two bodies that certainly do not meet, as a fraction of the sum of their radii: far above rounding.
const CLEARANCE: f64 = 1e-9;

/// Number of parts of a step that is not split at contact events, between which a pair is examined for contact.
const LOOKS_IN_STEP: usize = 8;

impl Run<'_> {
    /// Creates for each of `bodies` a new box that contains its path from the time `from` on (swept box), and searches for
    /// contacts with everything whose box intersects it.
    pub(crate) fn look_around(&mut self, bodies: &[usize], from: Time) -> Result<(), MotionError> {
        for &body in bodies {
            if self.is_long(body, from) {
                self.tumble(body, from)?;
                self.bring(body, from)?;
            }
            self.enclose(body, from);
        }
        let round = self.new_stamp();
        let mut around = std::mem::take(&mut self.scratch.around);
        for &body in bodies {
            self.around(body, &mut around);
            let swept = &mut self.boxes[body];
            swept.round = round;
            swept.stretch = match around.len() {
                // The body itself is always in the list.
                0 | 1 => (2.0 * swept.stretch).min(MAX_STRETCH.max(swept.stretch)),
                n if n > CROWD => (0.5 * swept.stretch).max(1.0),
                _ => swept.stretch,
            };
            for &thing in &around {
                if thing != body && self.boxes.get(thing).is_none_or(|c| c.round != round) {
                    self.look_at(body, thing, from)?;
                }
            }
        }
        self.scratch.around = around;
        Ok(())
    }

    /// Returns true if a body should begin a new flight at `time`. This applies to an exact flight with much rotation, whose cost
    /// grows with time, and to a numerical flight with steps shorter than the time step of the grid.
    fn is_long(&self, body: usize, time: Time) -> bool {
        let (flights, about, motion) = (
            &self.world.flights,
            &self.world.bodies[body],
            &self.motions[body],
        );
        if motion.island.is_some() {
            return false;
        }
        if flights.is_exact(about) {
            about.tumbling(&motion.state) * time.since(motion.time) > LONG_FLIGHT
        } else {
            flights.own_step(about, &motion.state).is_some()
        }
    }

    /// Adds the angle by which a tumbling body (whose rotation axis changes) has rotated in its present flight to the angle since
    /// its latest event. Fails if the sum is too large, or certainly will be.
    fn tumble(&mut self, body: usize, time: Time) -> Result<(), MotionError> {
        let about = &self.world.bodies[body];
        let motion = &mut self.motions[body];
        motion.tumbled += about.tumbling(&motion.state) * time.since(motion.time);
        let tumbled = motion.tumbled;
        let angle = match tumbled > MOST_TUMBLED {
            true => tumbled,
            false if self.tumbles_alone(body, time) => MOST_TUMBLED,
            false => return Ok(()),
        };
        Err(MotionError::Flight {
            body: about.name.clone(),
            time: time.high,
            source: VariationalError::FlightTooLong {
                angle,
                limit: MOST_TUMBLED,
            },
        })
    }

    /// Returns true if a body certainly meets nothing before its rotation exceeds [`MOST_TUMBLED`]. This is so if all mobile
    /// bodies are in free flight until then, without contact with planes, fixed bodies and each other. The run then fails at once
    /// instead of following the flight.
    fn tumbles_alone(&self, body: usize, time: Time) -> bool {
        let world = self.world;
        let (about, motion) = (&world.bodies[body], &self.motions[body]);
        let rest = (MOST_TUMBLED - motion.tumbled) / about.tumbling(&motion.state);
        if !(time.high + rest < self.limits.duration) {
            return false;
        }
        let mobile = (0..world.n_bodies()).filter(|other| world.is_mobile(*other));
        let mobile: Vec<usize> = mobile.take(MOST_COMPARED + 1).collect();
        if mobile.len() > MOST_COMPARED {
            return false;
        }
        let mut met = Vec::new();
        let mut balls: Vec<Ball> = Vec::with_capacity(mobile.len());
        for &other in &mobile {
            let (about, motion) = (&world.bodies[other], &self.motions[other]);
            if motion.island.is_some() || about.push != Vector3::zeros() {
                return false;
            }
            let since = time.since(motion.time);
            let (x, v) = world.flights.center(about, &motion.state, since);
            let bounds = path(&x, &v, &world.flights.gravity, rest, [about.radius, 0.0]);
            self.within(&bounds, &mut met);
            let ball = Ball::falling(x, v, about.radius);
            if met.iter().any(|thing| !world.is_mobile(*thing))
                || balls.iter().any(|before| !stay_apart(before, &ball, rest))
            {
                return false;
            }
            balls.push(ball);
        }
        true
    }

    /// Writes to `out` the indices of all bodies whose boxes intersect the box of `body`, and of all planes that intersect it.
    /// `body` itself is included.
    pub(crate) fn around(&self, body: usize, out: &mut Vec<usize>) {
        self.within(&self.boxes[body].bounds, out);
    }

    /// Writes to `out` the indices of all bodies whose boxes intersect the box `bounds`, and of all planes that intersect it.
    pub(crate) fn within(&self, bounds: &Bounds, out: &mut Vec<usize>) {
        self.cells.meeting(bounds, out);
        let first = self.world.n_bodies();
        for (index, plane) in self.world.planes.iter().enumerate() {
            let center = bounds.center();
            let reach = (bounds.high - center).dot(&plane.half_space.normal().abs());
            let rounding = plane.half_space.gap_scale(&center, reach) * 8.0 * f64::EPSILON;
            if !(plane.half_space.height(&center) - reach > rounding) {
                out.push(first + index);
            }
        }
    }

    /// Creates the box that contains a fixed body.
    pub(crate) fn enclose_fixed(&mut self, body: usize) {
        let (about, state) = (&self.world.bodies[body], &self.motions[body].state);
        let bounds = about.bounds(state);
        self.cells.put(body, bounds);
        let swept = &mut self.boxes[body];
        swept.bounds = bounds;
        let ball = |radius| Ball::resting(state.position, radius);
        swept.ball = about.sphere.map(ball);
    }

    /// Creates a box that contains the path of a body from the time `from` on, and schedules the event at which the body leaves
    /// the box.
    pub(crate) fn enclose(&mut self, body: usize, from: Time) {
        let world = self.world;
        if world.is_prescribed(body) {
            return self.enclose_told(body, from);
        }
        let (about, motion) = (&world.bodies[body], &self.motions[body]);
        let stretch = self.boxes[body].stretch;
        let resting = self.resting(body);
        let (x, v) = match resting {
            Some(state) => (state.position, Vector3::zeros()),
            None => {
                let since = from.since(motion.time);
                world.flights.center(about, &motion.state, since)
            }
        };
        let ball = about.sphere.map(|radius| match resting {
            Some(_) => Ball::resting(x, radius),
            None => Ball::falling(x, v, radius),
        });
        let (bounds, until, leaves) = if resting.is_some() {
            let bounds = Bounds::around(&x, &x, about.radius);
            (bounds, self.end_of_step(body).unwrap_or(from), false)
        } else {
            let g = world.flights.pull(about);
            let (speed, fall) = (v.norm(), g.norm());
            let travel = TRAVEL * about.radius * stretch;
            // The time to travel the distance solves |v| t + |g| t^2/2 = travel. If the square of the speed overflows, gravity is
            // neglected.
            let root = (speed * speed + 2.0 * fall * travel).sqrt();
            let time = 2.0 * travel / (speed + if root.is_finite() { root } else { speed });
            let mut left = if time.is_finite() {
                from.plus(time.max(8.0 * f64::EPSILON * from.high.abs()))
            } else {
                Time::new(f64::INFINITY)
            };
            let (mut limit, mut slack) = (Time::new(f64::INFINITY), 0.0);
            if let Some(end) = self.end_of_step(body) {
                // A step that ends earlier than planned ends at another state, by the effect of its kicks.
                limit = end;
                let length = end.since(from);
                slack = (self.kick_of_step(body) + fall * length) * length;
            } else if !world.flights.is_exact(about) {
                limit = self.next_line(from);
                if let Some(step) = world.flights.own_step(about, &motion.state) {
                    left = left.min(from.plus(step));
                }
            }
            let tumbling = about.tumbling(&motion.state);
            if tumbling > 0.0 {
                let longest = (LONGEST_TUMBLE / tumbling).max(SHORTEST_BOX * world.time_step);
                left = left.min(from.plus(longest));
            }
            let until = left.min(limit);
            let time = until.since(from);
            let bounds = path(&x, &v, &g, time, [about.radius, slack]);
            (bounds, until, left.compare(&limit).is_lt())
        };
        self.cells.put(body, bounds);
        let count = self.new_stamp();
        let swept = &mut self.boxes[body];
        (swept.until, swept.count, swept.since) = (until, count, from);
        (swept.ball, swept.bounds) = (ball, bounds);
        if leaves && until.high.is_finite() {
            self.push(Entry {
                time: until,
                next: Next::Leave {
                    body: body as u32,
                    count,
                },
            });
        }
    }

    /// Searches for the first contact of `body` with another body or plane `thing` from the time `from` on. Does nothing if the
    /// two cannot touch or are already in lasting contact.
    fn look_at(&mut self, body: usize, thing: usize, from: Time) -> Result<(), MotionError> {
        match self.world.pair_of(body, thing) {
            Some(pair) if !self.lasting.contains(pair) => self.look(pair, from),
            _ => Ok(()),
        }
    }

    /// Searches for the first contact of a pair from the time `from` on, as long as the boxes that contain the paths of both are
    /// valid. A contact found is scheduled; a search that is interrupted is scheduled to continue.
    pub(crate) fn look(&mut self, pair: Pair, from: Time) -> Result<(), MotionError> {
        let (i, j) = pair;
        let until = |thing: usize| self.boxes.get(thing).map(|swept| swept.until);
        let Some(until) = [until(i), until(j)].into_iter().flatten().reduce(Time::min) else {
            return Ok(());
        };
        let whole = until.since(from);
        if !(whole > 0.0) {
            return Ok(());
        }
        if let Some(found) = self.first_touch_of_balls(pair, from, whole) {
            return self.look_at_balls(pair, from, until, found);
        }
        if self.is_far(pair, from, whole) {
            return Ok(());
        }
        let stretch = whole.min(self.stretch_of_search(pair));
        if !stretch.is_finite() {
            // Neither body moves.
            return Ok(());
        }
        let horizon = if whole > MANY_STRETCHES * stretch {
            whole
        } else {
            stretch
        };
        if self.is_hidden(pair, from)? {
            return self.note_touch(pair, from, from);
        }
        let mut memory = self.memory.remove(pair).unwrap_or_default();
        let found = match self.search(pair, from) {
            Some(search) => search.first_contact(stretch, horizon, &mut memory)?,
            None => Progress::Free(horizon),
        };
        self.keep_memory(pair, memory);
        match found {
            Progress::Contact(time) => self.close_in(pair, from.plus(time), from)?,
            Progress::Free(free) => match self.sinks_in_steps(pair, from, from.plus(free))? {
                Some(time) => self.note_touch(pair, time, from)?,
                None if free < whole => self.look_later(pair, from.plus(free)),
                None => (),
            },
        }
        Ok(())
    }

    /// Schedules the first contact of two balls, or of a ball and a plane, between the times `from` and `until`. `found`: time from
    /// `from` to the contact of the free flights (s), `None` if the flights do not touch. A step of lasting contact that is ended
    /// early has another flight than the whole step, so the flights of its bodies may overlap or stay apart where the bodies touch.
    fn look_at_balls(
        &mut self,
        pair: Pair,
        from: Time,
        until: Time,
        found: Option<f64>,
    ) -> Result<(), MotionError> {
        if let Some(time) = found {
            return self.close_in(pair, from.plus(time), from);
        }
        if self.is_hidden(pair, from)? {
            return self.note_touch(pair, from, from);
        }
        let whole = until.since(from);
        if self.is_far(pair, from, whole) {
            return Ok(());
        }
        match self.sinks_in_steps(pair, from, until)? {
            Some(time) => self.note_touch(pair, time, from),
            None => Ok(()),
        }
    }

    /// Schedules the continuation of a contact search for a pair at `time`. The event becomes void if the path of one of the two
    /// changes before, so that it gets a new box.
    fn look_later(&mut self, pair: Pair, time: Time) {
        let counts = self.counts(pair);
        self.push(Entry {
            time,
            next: Next::Look {
                pair: [pair.0 as u32, pair.1 as u32],
                counts,
            },
        });
    }

    /// Schedules a contact of a pair at `time`, which a search that began at `from` has found. New flights begin just before the
    /// contact if the old ones began so far away that the rounding error of their positions exceeds the contact tolerance.
    fn close_in(&mut self, pair: Pair, time: Time, from: Time) -> Result<(), MotionError> {
        let in_step = |thing: usize| self.motions.get(thing).is_some_and(|m| m.island.is_some());
        if in_step(pair.0) || in_step(pair.1) || !self.is_coarse(pair) {
            return self.note_touch(pair, time, from);
        }
        let near = self.stretch_of_search(pair);
        if time.since(from) > 2.0 * near {
            self.look_later(pair, time.plus(-near));
            return Ok(());
        }
        let mut flying = Vec::with_capacity(2);
        for thing in [pair.0, pair.1] {
            if self.world.is_mobile(thing) && self.motions[thing].time != from {
                flying.push(thing);
            }
        }
        if flying.is_empty() {
            return self.note_touch(pair, time, from);
        }
        for &thing in &flying {
            self.bring(thing, from)?;
        }
        self.look_around(&flying, from)
    }

    /// Returns true if the gap of a pair is too inexact: if its rounding error, at the positions where the free flights began,
    /// exceeds the contact tolerance.
    fn is_coarse(&self, (i, j): Pair) -> bool {
        let world = self.world;
        let (Some(body), Some(motion)) = (world.bodies.get(i), self.motions.get(i)) else {
            return false;
        };
        let there = self
            .motions
            .get(j)
            .map_or(world.initial_of(j), |motion| &motion.state);
        let scale = pair::gap_scale(body, &motion.state, &world.thing(j), there);
        BAND * scale > world.tolerance(i, j)
    }

    /// Returns a time, at most `until`, at which time steps of lasting contact have brought a pair into contact, although the free
    /// flights within these steps do not touch. `None` if there is no such contact. `from`: begin of the search.
    ///
    /// The last impulses of a step act at its end, and can bring the bodies closer together than the flight alone. This is tested
    /// only for bodies whose step ends after `until`.
    fn sinks_in_steps(
        &self,
        pair: Pair,
        from: Time,
        until: Time,
    ) -> Result<Option<Time>, MotionError> {
        let ends = [pair.0, pair.1].map(|thing| self.end_of_moving_step(thing));
        if ends == [None, None] {
            return Ok(None);
        }
        let deep = DEEP * self.world.tolerance(pair.0, pair.1);
        let ends_later = |end: &Time| end.compare(&until).is_gt();
        if ends.iter().flatten().any(ends_later) {
            let after = self.gap_and_rate(pair, until)?.0;
            if after < -deep && after < self.gap_and_rate(pair, from)?.0.min(0.0) - deep {
                return Ok(Some(until));
            }
        }
        self.dips_in_steps(pair, from, until)
    }

    /// Returns a time between `from` and `until` at which a pair is in contact if the time steps of its bodies are ended there,
    /// although the flights of the whole steps do not touch. `None` if there is no such contact.
    ///
    /// The first impulses of a whole step act at its begin, and can separate bodies that approach each other until they touch in
    /// a shorter step. In a step that is not split, contacts that close within the step act on the pair as well.
    fn dips_in_steps(
        &self,
        (i, j): Pair,
        from: Time,
        until: Time,
    ) -> Result<Option<Time>, MotionError> {
        let world = self.world;
        let time = until.since(from);
        let (here, there) = (self.flight_at(i, from)?, self.flight_at(j, from)?);
        let (body, other) = (&world.bodies[i], world.thing(j));
        let between = pair::gap(body, &here, &other, &there, &mut PairMemory::new());
        if !(between.value <= self.slack_of_step(i, from) + self.slack_of_step(j, from)
            && time > 0.0)
        {
            return Ok(None);
        }
        // The gap as a parabola, through its value and rate at the begin and its value at the end.
        let ((gap, rate), (end, _)) = (
            self.gap_and_rate((i, j), from)?,
            self.gap_and_rate((i, j), until)?,
        );
        let curvature = 2.0 * (end - gap - rate * time) / (time * time);
        let lowest = -rate / curvature;
        let contact = gap.min(0.0) - DEEP * world.tolerance(i, j);
        let dips = rate < 0.0 && lowest < time && gap + 0.5 * rate * lowest < contact;
        let is_held = self.in_held_step(i) || self.in_held_step(j);
        let looks = (1..LOOKS_IN_STEP).filter(|_| is_held);
        let looks = looks.map(|k| time * k as f64 / LOOKS_IN_STEP as f64);
        for look in dips.then_some(lowest).into_iter().chain(looks) {
            let at = from.plus(look);
            if self.gap_and_rate((i, j), at)?.0 < contact {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Returns the gap of a pair (m) and its rate (m/s) at `time`. Steps of lasting contact are ended at that time.
    fn gap_and_rate(&self, (i, j): Pair, time: Time) -> Result<(f64, f64), MotionError> {
        let (body, other) = (&self.world.bodies[i], self.world.thing(j));
        let (here, there) = (self.state_at(i, time)?, self.state_at(j, time)?);
        let gap = pair::gap(body, &here, &other, &there, &mut PairMemory::new());
        let rate = rate(body, &here, &other, &there, &gap.points, &gap.normal);
        Ok((gap.value, rate))
    }

    /// Returns a bound of the distance (m) between the path of a body in its whole step of lasting contact and its path if the
    /// step is ended early, from the time `from` on; 0 if the body is in no step.
    fn slack_of_step(&self, body: usize, from: Time) -> f64 {
        let length = self
            .end_of_moving_step(body)
            .map_or(0.0, |end| end.since(from));
        let pull = { self.world.bodies.get(body) }.map(|about| self.world.flights.pull(about));
        (self.kick_of_step(body) + pull.unwrap_or_default().norm() * length) * length
    }

    /// Returns the planned end of the time step of lasting contact in which a body moves; `None` if the body rests or is in free
    /// flight.
    fn end_of_moving_step(&self, body: usize) -> Option<Time> {
        self.end_of_step(body)
            .filter(|_| self.resting(body).is_none())
    }

    /// Returns true if the free flights of a pair overlap at the time `from` by more than the states that the bodies have if
    /// their time steps are ended there. The flights may then overlap all the time, and do not show when the pair touches.
    fn is_hidden(&self, (i, j): Pair, from: Time) -> Result<bool, MotionError> {
        let world = self.world;
        let in_step = |thing: usize| self.motions.get(thing).is_some_and(|m| m.island.is_some());
        if !in_step(i) && !in_step(j) {
            return Ok(false);
        }
        let (body, other) = (&world.bodies[i], world.thing(j));
        let gap = |here: &State, there: &State| {
            pair::gap(body, here, &other, there, &mut PairMemory::new()).value
        };
        let (here, there) = (self.flight_at(i, from)?, self.flight_at(j, from)?);
        let rounding = BAND * pair::gap_scale(body, &here, &other, &there);
        let between = gap(&here, &there);
        if between > -rounding {
            return Ok(false);
        }
        let (here, there) = (self.state_at(i, from)?, self.state_at(j, from)?);
        Ok(between < gap(&here, &there).min(0.0) - rounding)
    }

    /// Returns the time until the first contact of two balls, or of a ball and a plane, from its closed form (s, counted from
    /// `from`). The outer option is `None` if there is no closed form. The inner option is `None` if there is no contact within
    /// `horizon` (s).
    fn first_touch_of_balls(&self, (i, j): Pair, from: Time, horizon: f64) -> Option<Option<f64>> {
        let flights = &self.world.flights;
        let ball = |thing: usize| {
            let (swept, about) = (self.boxes.get(thing)?, self.world.bodies.get(thing)?);
            let pull = flights.pull(about);
            Some((swept.ball?.moved(&pull, from.since(swept.since)), pull))
        };
        let (first, pull) = ball(i)?;
        match self.world.thing(j) {
            Other::Plane(plane) => {
                Some(first.first_touch_of_plane(&plane.half_space, &pull, horizon))
            }
            Other::Body(_) => {
                let (second, other) = ball(j)?;
                if first.falls && second.falls && pull != other {
                    return None;
                }
                let pull = if first.falls { pull } else { other };
                first.first_touch(&second, &pull, horizon)
            }
        }
    }

    /// Returns the data for a search of the first contact of a pair from the time `from` on; `None` if neither of the two moves.
    fn search(&self, (i, j): Pair, from: Time) -> Option<Search<'_>> {
        let world = self.world;
        let here = self.motions.get(i)?;
        let launch = |thing: usize| {
            let motion = self.motions.get(thing).unwrap_or(here);
            let rests = self.resting(thing);
            Launch {
                body: world.bodies.get(thing).unwrap_or(&world.bodies[i]),
                state: rests.unwrap_or(&motion.state),
                since: from.since(motion.time),
                rests: rests.is_some(),
            }
        };
        let (first, second) = (launch(i), launch(j));
        if !first.body.is_mobile() || (first.rests && (second.rests || !second.flies())) {
            return None;
        }
        Some(Search {
            flights: &world.flights,
            first,
            other: world.thing(j),
            second,
            begin: from.high,
            clock: from.high,
            tolerance: world.tolerance(i, j),
        })
    }

    /// Stores warm-start data for the gap of a pair. If the table is full, the data of pairs whose boxes no longer intersect are
    /// removed.
    pub(crate) fn keep_memory(&mut self, pair: Pair, memory: crate::pair::PairMemory) {
        let (cells, n) = (&self.cells, self.world.n_bodies());
        self.memory
            .insert(pair, memory, |(i, j), _| j < n && !cells.meet(i, j));
    }

    /// Returns the duration (s) of one contact search of a pair. Within this duration, points of the two bodies move by
    /// no more than about [`STRETCH_OF_SEARCH`] radii of their body. Infinite if neither body moves.
    fn stretch_of_search(&self, (i, j): Pair) -> f64 {
        let world = self.world;
        let of = |thing: usize| {
            let (Some(body), Some(motion)) = (world.bodies.get(thing), self.motions.get(thing))
            else {
                return f64::INFINITY;
            };
            let gravity = world.flights.pull(body).norm();
            if !(body.is_mobile() || body.is_prescribed()) || self.resting(thing).is_some() {
                return f64::INFINITY;
            }
            let (velocity, spin) = world.velocity(thing, &motion.state);
            let speed =
                velocity.norm() + spin.norm() * body.radius + (gravity * body.radius).sqrt();
            body.radius / speed
        };
        STRETCH_OF_SEARCH * of(i).min(of(j))
    }

    /// Returns true if the bounding balls of two bodies certainly do not meet within `horizon` (s) after the time `from`.
    fn is_far(&self, (i, j): Pair, from: Time, horizon: f64) -> bool {
        let world = self.world;
        let Some(second) = world.bodies.get(j).filter(|body| !body.is_prescribed()) else {
            return false;
        };
        let pull = |thing: usize| world.flights.pull(&world.bodies[thing]);
        let place = |thing: usize| {
            let motion = &self.motions[thing];
            if let Some(state) = self.resting(thing) {
                return (state.position, Vector3::zeros(), false);
            }
            let body = &world.bodies[thing];
            if body.is_mobile() {
                let since = from.since(motion.time);
                let (x, v) = world.flights.center(body, &motion.state, since);
                (x, v, true)
            } else {
                (motion.state.position, Vector3::zeros(), false)
            }
        };
        let ((x, v, falls), (y, w, other_falls)) = (place(i), place(j));
        let pulls = |thing: usize, falls: bool| if falls { pull(thing) } else { Vector3::zeros() };
        let fall = (pulls(i, falls) - pulls(j, other_falls)).norm() * (0.5 * horizon * horizon);
        let slack = self.slack_of_step(i, from) + self.slack_of_step(j, from);
        let radii = world.bodies[i].radius + second.radius;
        let reach = radii + (v - w).norm() * horizon + fall + slack;
        (x - y).norm() > reach * (1.0 + 1e-9)
    }

    /// Returns the state of a body that rests in lasting contact; `None` if it may move.
    pub(crate) fn resting(&self, body: usize) -> Option<&State> {
        let index = self.motions.get(body)?.island?;
        let island = self.islands.get(index)?.as_ref()?;
        let place = island.place(body)?;
        island.before.get(place).filter(|_| island.rests)
    }
}

/// Returns true if two balls in free flight certainly do not touch within `time` (s). Their relative velocity is constant.
fn stay_apart(first: &Ball, second: &Ball, time: f64) -> bool {
    let apart = first.center - second.center;
    let velocity = first.velocity - second.velocity;
    let square = velocity.norm_squared();
    let nearest = if square > 0.0 {
        (-apart.dot(&velocity) / square).clamp(0.0, time)
    } else {
        0.0
    };
    let radii = first.radius + second.radius;
    (apart + velocity * nearest).norm() > radii * (1.0 + CLEARANCE)
}
