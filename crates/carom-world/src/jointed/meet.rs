//! Contacts at one instant: which of them touch, which approach, which last.

use super::contact::{Change, JointContact, LimitContact, Place, Posed};
use super::memory::Plastic;
use super::run::{INSTANT, Run};
use crate::collision::STILL;
use crate::pair::ContactPoint;
use crate::run::EVENTS_PER_INSTANT;
use crate::spec::CONTACT_TOLERANCE;
use crate::{MotionError, OnZeno};
use carom_joints::elimination::rate;
use carom_motion::hybrid::Ending;
use nalgebra::Vector6;

/// Largest number of impacts of a pair within one interval of the time grid, without shrinking intervals, before the pair is kept
/// as a lasting contact until the next grid time: contacts of many bodies can open and close without end while no body moves
/// visibly.
const MOST_TOUCHES: usize = 24;

/// Largest number of impacts without restitution of a pair or limit within one interval of the time grid, before it is kept as a
/// lasting contact until the next grid time: contacts that lift each other meet again and again at shorter and shorter intervals.
const MOST_PLASTIC_TOUCHES: usize = 3;

impl Run<'_> {
    /// True if the pair of bodies with the index `pair` stays a lasting contact until the next grid time (multiple of
    /// the time step), whatever its gap does.
    pub(super) fn is_held(&self, pair: usize) -> bool {
        self.held_pairs.contains(&pair)
    }

    /// Returns the normal speed below which a contact of the pair of bodies with the index `pair` counts as at rest (m/s).
    pub(super) fn still(&self, pair: usize) -> f64 {
        let touch = self.world.touch();
        let gravity = touch.flights.gravity.norm() * touch.time_step;
        STILL * (touch.speed(&touch.pairs[pair], &self.posture.states) + gravity)
    }

    /// Returns all contacts at the current time: joint limits that are reached, and touching points of bodies. A limit that its
    /// coordinate is leaving is not included.
    pub(super) fn touching(&mut self) -> Vec<Posed> {
        let world = self.world;
        let (mb, touch) = (world.multibody(), world.touch());
        let states = &self.posture.states;
        let (mut rows, mut velocities) = (Vec::new(), Vec::new());
        mb.rows(states, &self.posture.q, &mut rows);
        mb.velocities(states, &mut velocities);
        let mut list = Vec::new();
        for k in 0..self.rates.len() {
            let (c, joint) = self.coordinate(k);
            let q = self.posture.q[k];
            for (bound, upper) in [(c.lower, false), (c.upper, true)] {
                let contact = LimitContact {
                    coordinate: k,
                    upper,
                };
                let rate = contact.sign() * self.rates[k];
                let near = self.at_bound(k, bound) + 2.0 * INSTANT * rate.abs();
                if bound.is_infinite()
                    || contact.sign() * (q - bound) > near
                    || rate > self.still_rate(k)
                {
                    continue;
                }
                let row = rows[world.row_of(k)];
                list.push(Posed::limit(
                    contact,
                    &row,
                    *mb.ends(joint),
                    c.restitution,
                    rate,
                ));
            }
        }
        let (mut found, mut seams) = (Vec::new(), Vec::new());
        let mut coarse = None;
        for (index, pair) in touch.pairs.iter().enumerate() {
            let slack = 4.0 * INSTANT * touch.speed(pair, states);
            if !touch.is_near(pair, states, 0.0, slack) {
                continue;
            }
            found.clear();
            touch.points(pair, states, pair.tolerance + slack, &mut found);
            if let (false, Err(error)) = (
                found.is_empty(),
                touch.check_contact(pair, states, self.time),
            ) {
                coarse = Some(error);
            }
            for point in &found {
                let mut point = touch.on_face(pair, point);
                if !touch.is_mobile(pair.second) {
                    let same = |(of, _): &&(usize, ContactPoint)| {
                        let of = &touch.pairs[*of];
                        of.first == pair.first && !touch.is_mobile(of.second)
                    };
                    let seam = seams.iter().filter(same).map(|(_, point)| point);
                    point.join(seam, pair.tolerance, CONTACT_TOLERANCE);
                    seams.push((index, point));
                }
                let (own, frame) = touch.rows(pair, &point, states);
                let before = own.map(|row| rate(&row.row, &row.ends, &velocities));
                list.push(Posed {
                    place: Place::Point {
                        pair: index,
                        point: point.point,
                        gap: point.gap,
                    },
                    rows: own.to_vec(),
                    frame,
                    restitution: pair.surface.restitution,
                    friction: pair.surface.friction,
                    before,
                });
            }
        }
        if let Some(error) = coarse {
            self.ended = Some(Ending::Stopped(error));
        }
        list
    }

    pub(super) fn approaches(&self, posed: &Posed) -> bool {
        match posed.place {
            Place::Limit(limit) => posed.before[0] < -self.still_rate(limit.coordinate),
            Place::Point { pair, .. } => {
                let still = if self.bounces_on(pair) {
                    0.0
                } else {
                    self.still(pair)
                };
                !self.is_held(pair) && posed.before[0] < -still
            }
        }
    }

    /// True if every rebound of a pair of bodies must be resolved, however low it is. This is so under [`OnZeno::Continue`] for a
    /// pair with a restitution between 0 and 1 that has bounced and is not a lasting contact. `pair` is the index of the pair.
    fn bounces_on(&self, pair: usize) -> bool {
        let e = self.world.touch().pairs[pair].surface.restitution;
        self.laws.on_zeno == OnZeno::Continue
            && e > 0.0
            && e < 1.0
            && self.bounces.contains_key(&pair)
            && !self.lasting.contains_key(&pair)
    }

    /// Marks the contact `posed` as part of the current impact. Sets the restitution of the contact to 0 if the contact
    /// rested before the impact, if the contact separates, or if its impacts follow each other at ever shorter
    /// intervals. `line` is the number of grid times (multiples of the time step) passed so far: impacts are counted
    /// between two of them.
    fn restitute(&mut self, posed: &mut Posed, line: u64) {
        let approaches = self.approaches(posed);
        let pair = match posed.place {
            Place::Limit(limit) => return self.restitute_limit(limit, approaches, posed),
            Place::Point { pair, .. } => pair,
        };
        let touch = self.world.touch();
        let gravity = &touch.flights.gravity;
        let slow = { self.laws }.slowest_landing(posed.restitution, gravity, touch.time_step);
        let rests = self.lasting.contains_key(&pair) && (!approaches || posed.before[0] > -slow);
        if rests || posed.before[0] > 0.0 {
            posed.restitution = 0.0;
        }
        if !approaches || posed.restitution == 1.0 {
            return;
        }
        let time = self.time;
        let bounces = self.bounces.entry(pair).or_default();
        // Several points of one pair count as one impact.
        if bounces.last != Some(time) {
            bounces.note(time, line);
        }
        if self.laws.on_zeno == OnZeno::Continue {
            return;
        }
        let accumulates = bounces.accumulates(self.world.touch().time_step);
        let plastic = self.plastic.entry(Plastic::Pair(pair)).or_default();
        plastic.note(time);
        let chatters = if posed.restitution > 0.0 {
            bounces.count > MOST_TOUCHES && bounces.shrunk == 0
        } else {
            plastic.count > MOST_PLASTIC_TOUCHES
        };
        if accumulates && self.laws.on_zeno == OnZeno::Stop && posed.restitution > 0.0 {
            let accumulation = time + bounces.left;
            self.ended = Some(Ending::Zeno { accumulation });
        }
        if accumulates || chatters {
            posed.restitution = 0.0;
        }
        if chatters {
            self.hold(pair);
        }
    }

    /// Records that a joint limit takes part in an impact. `approaches` is true if the coordinate approaches the limit. Sets the
    /// restitution in `posed` to 0 if the coordinate does not approach, or if the impacts at this limit accumulate.
    fn restitute_limit(&mut self, limit: LimitContact, approaches: bool, posed: &mut Posed) {
        if !approaches {
            posed.restitution = 0.0;
        }
        if approaches && posed.restitution == 0.0 {
            let time = self.time;
            let plastic = self.plastic.entry(Plastic::Limit(limit)).or_default();
            plastic.note(time);
            if plastic.count > MOST_PLASTIC_TOUCHES {
                self.kept_limits.insert(limit.coordinate);
                self.hold_limit(limit);
            }
        }
        if posed.restitution == 0.0 || posed.restitution == 1.0 {
            return;
        }
        let (time, line) = (self.time, self.line);
        let bounces = self.limit_bounces.entry(limit).or_default();
        bounces.note(time, line);
        // The next rise in free fall is a quarter of the next interval times the rebound speed; both are `e` times the previous
        // ones.
        let e = posed.restitution;
        let rise = 0.25 * e * e * posed.before[0].abs() * bounces.interval;
        let accumulates = bounces.accumulates(self.world.time_step());
        let accumulation = time + bounces.left;
        let flat = bounces.shrunk > 0 && rise <= self.flat(limit);
        let ends = flat || accumulates && self.laws.on_zeno != OnZeno::Continue;
        if ends && self.laws.on_zeno == OnZeno::Stop {
            self.ended = Some(Ending::Zeno { accumulation });
        }
        if ends {
            self.limit_bounces.remove(&limit);
            posed.restitution = 0.0;
        }
    }

    /// Makes a pair of bodies a lasting contact that cannot open before the next grid time (multiple of the time step).
    /// `pair` is the index of the pair.
    pub(super) fn hold(&mut self, pair: usize) {
        self.held_pairs.insert(pair);
        self.lasting.entry(pair).or_default();
        self.renew_pressing();
    }

    /// Keeps all pairs of bodies that are in lasting contact now in that state until the next grid time (multiple of
    /// the time step).
    pub(super) fn hold_lasting(&mut self) {
        let before = self.held_pairs.len();
        self.held_pairs.extend(self.lasting.keys());
        if self.held_pairs.len() > before {
            self.renew_pressing();
        }
    }

    /// Resolves the impacts of all contacts that approach at the current time, then updates the list of lasting contacts.
    /// `changes` are the events that were located at this time.
    pub(super) fn meet(&mut self, changes: &[Change]) -> Result<(), MotionError> {
        if self.leaps {
            return Ok(());
        }
        let (mut hit, mut hit_limits) = (Vec::new(), Vec::new());
        for round in 0..=EVENTS_PER_INSTANT {
            let list = self.touching();
            if list.is_empty() {
                self.establish(&list)?;
                break;
            }
            let approaching: Vec<bool> = list.iter().map(|p| self.approaches(p)).collect();
            if !approaching.contains(&true) || self.ended.is_some() {
                self.establish(&list)?;
                break;
            }
            if round == EVENTS_PER_INSTANT {
                return Err(MotionError::EventLimit {
                    limit: EVENTS_PER_INSTANT,
                    time: self.time,
                });
            }
            hit.extend(
                list.iter()
                    .zip(&approaching)
                    .filter_map(|(p, a)| p.pair().filter(|_| *a)),
            );
            hit_limits.extend(list.iter().zip(&approaching).filter_map(|(p, a)| {
                let Place::Limit(limit) = p.place else {
                    return None;
                };
                a.then_some(limit)
            }));
            self.collide(list, &approaching)?;
        }
        // An event that led to no impact, and after which the contact neither separates nor rests, is rounding: the contact is
        // kept until the next grid time.
        for change in changes {
            match change {
                Change::Touch(pair) if !hit.contains(pair) && !self.lasting.contains_key(pair) => {
                    self.hold(*pair);
                }
                Change::Limit(limit)
                    if !hit_limits.contains(limit) && self.at_limit(limit.coordinate).is_none() =>
                {
                    self.kept_limits.insert(limit.coordinate);
                    self.hold_limit(*limit);
                }
                // A limit that opens because its force would pull, and closes again at once, several times.
                Change::Limit(limit) => {
                    let again = self.plastic.entry(Plastic::Again(*limit)).or_default();
                    again.count += 1;
                    if again.count > MOST_PLASTIC_TOUCHES {
                        self.kept_limits.insert(limit.coordinate);
                    }
                }
                _ => (),
            }
        }
        Ok(())
    }

    /// Fixes a joint coordinate at its limit as a lasting contact, and reports the start of that contact.
    fn hold_limit(&mut self, contact: LimitContact) {
        let k = contact.coordinate;
        if self.at_limit(k) == Some(contact) {
            return;
        }
        let (c, _) = self.coordinate(k);
        self.modes.held[k] = Some(if contact.upper { c.upper } else { c.lower });
        self.modes.slides[k] = 0.0;
        self.modes.implicit[k] = false;
        self.events.push(super::JointedEvent::Established {
            time: self.time,
            contact: JointContact::Limit(contact),
        });
    }

    /// Resolves one impact for each group of connected bodies in which a contact approaches. `list` holds all contacts at the
    /// current time; `approaching` has one entry per contact.
    fn collide(&mut self, list: Vec<Posed>, approaching: &[bool]) -> Result<(), MotionError> {
        let groups = self.groups(&list);
        let line = self.line;
        let mut list: Vec<Option<Posed>> = list.into_iter().map(Some).collect();
        for index in 0..list.len() {
            if !approaching[index] || list[index].is_none() {
                continue;
            }
            let mut members = Vec::new();
            for (other, group) in groups.iter().enumerate() {
                if *group == groups[index]
                    && let Some(mut posed) = list[other].take()
                {
                    self.restitute(&mut posed, line);
                    members.push(posed);
                }
            }
            if self.ended.is_some() {
                return Ok(());
            }
            if self.leave_to_steps(&members) {
                continue;
            }
            let impact = self.resolve(&members)?;
            self.note_impact(&members);
            self.impact_loss += impact.energy_minus - impact.energy_plus;
            self.n_impacts += 1;
            self.stepper.forget();
            self.events.push(super::JointedEvent::Impact(impact));
        }
        self.refresh_friction();
        Ok(())
    }

    /// Makes the approaching contacts among `members` lasting contacts until the next grid time (multiple of the time
    /// step), so that time stepping closes them without an impact. This is done only if time stepping may handle all of
    /// them. Returns true if so, false if an impact must be resolved.
    fn leave_to_steps(&mut self, members: &[Posed]) -> bool {
        let approach = |run: &Self, posed: &Posed| run.approaches(posed);
        if !members
            .iter()
            .all(|posed| !approach(self, posed) || self.is_left_to_steps(posed))
        {
            return false;
        }
        let pairs: Vec<usize> = members
            .iter()
            .filter(|posed| approach(self, posed))
            .filter_map(Posed::pair)
            .collect();
        for pair in pairs {
            self.hold(pair);
        }
        true
    }

    /// Returns a group number for each contact of `list`. Two contacts have equal numbers if their bodies are connected by joints
    /// or by other contacts.
    fn groups(&self, list: &[Posed]) -> Vec<usize> {
        let mb = self.world.multibody();
        let mut group: Vec<usize> = (0..mb.n_bodies()).collect();
        let mut join = |[a, b]: [Option<usize>; 2]| {
            if let (Some(a), Some(b)) = (a, b) {
                let (from, to) = (group[a], group[b]);
                for g in group.iter_mut().filter(|g| **g == from) {
                    *g = to;
                }
            }
        };
        for (j, joint) in mb.joints().iter().enumerate() {
            if !joint.kind.conditions.is_empty() {
                join(*mb.ends(j));
            }
        }
        for posed in list {
            join(posed.ends());
        }
        let of = |posed: &Posed| {
            let [a, b] = posed.ends();
            b.or(a).map_or(0, |body| group[body])
        };
        list.iter().map(of).collect()
    }

    /// Updates the lasting contacts from all contacts at the current time (`list`): adds those that neither approach nor
    /// separate, and removes those that separate.
    fn establish(&mut self, list: &[Posed]) -> Result<(), MotionError> {
        let time = self.time;
        for posed in list {
            let Place::Limit(contact) = posed.place else {
                continue;
            };
            let k = contact.coordinate;
            let rests = contact.sign() * self.rates[k] <= self.still_rate(k);
            if rests && self.at_limit(k).is_none() {
                self.hold_limit(contact);
            }
        }
        for k in 0..self.rates.len() {
            if let Some(contact) = self.at_limit(k)
                && contact.sign() * self.rates[k] > self.still_rate(k)
                && !self.kept_limits.contains(&k)
            {
                self.modes.held[k] = None;
                self.modes.implicit[k] = self.is_rubbing(k);
                self.events.push(super::JointedEvent::Released {
                    time,
                    contact: JointContact::Limit(contact),
                });
            }
        }
        let mut pairs = std::collections::BTreeSet::new();
        for posed in list {
            if let Place::Point { pair, .. } = posed.place
                && posed.before[0] <= self.still(pair)
                && !self.bounces_on(pair)
            {
                pairs.insert(pair);
            }
        }
        let left: Vec<usize> = self
            .lasting
            .keys()
            .filter(|pair| !pairs.contains(pair) && !self.is_held(**pair))
            .copied()
            .collect();
        for pair in left {
            self.open(pair, time);
        }
        for pair in pairs {
            self.lasting.entry(pair).or_default();
            self.bounces.remove(&pair);
        }
        self.renew_pressing();
        Ok(())
    }

    /// Removes a pair of bodies from the lasting contacts. Reports its release at `time` (s) if the start of the contact was
    /// reported earlier.
    pub(super) fn open(&mut self, pair: usize, time: f64) {
        let contact = self.contact_of(pair);
        if let Some(lasting) = self.lasting.remove(&pair)
            && lasting.reported
        {
            self.events
                .push(super::JointedEvent::Released { time, contact });
        }
    }

    fn contact_of(&self, pair: usize) -> JointContact {
        let of = &self.world.touch().pairs[pair];
        JointContact::Pair {
            first: of.first,
            second: of.second,
        }
    }

    /// Records the results of an accepted step for all lasting contacts of bodies: impulses on supports, changes between sliding
    /// and sticking, and releases. `begin` is the start time of the step (s).
    pub(super) fn note_lasting(&mut self, begin: f64) {
        let mut opened = Vec::new();
        let results = std::mem::take(&mut self.results);
        for (&pair, result) in &results {
            let contact = self.contact_of(pair);
            let of = &self.world.touch().pairs[pair];
            let (second, time) = (of.second, self.time);
            self.support_thing(second, &result.impulse);
            let Some(lasting) = self.lasting.get_mut(&pair) else {
                continue;
            };
            if result.pressed > 0.0 {
                if !lasting.reported {
                    lasting.reported = true;
                    self.events.push(super::JointedEvent::Established {
                        time: begin,
                        contact,
                    });
                }
                if lasting.slides != Some(result.slides) {
                    lasting.slides = Some(result.slides);
                    // Sliding that is new is reported at the start of the step, sticking at its end.
                    let at = if result.slides { begin } else { time };
                    self.events.push(super::JointedEvent::Mode {
                        time: at,
                        contact,
                        slides: result.slides,
                    });
                }
            }
            if result.open && result.pressed <= 0.0 && !self.held_pairs.contains(&pair) {
                opened.push(pair);
            }
        }
        if !opened.is_empty() {
            for pair in opened {
                self.open(pair, begin);
            }
            self.renew_pressing();
        }
    }

    /// Passes the pairs of bodies in lasting contact to the solver of contact impulses, each with the distance within which its
    /// points count as contacts.
    pub(super) fn renew_pressing(&mut self) {
        if self.leaps {
            return;
        }
        let touch = self.world.touch();
        let reach = |pair: usize| {
            if !self.is_held(pair) {
                0.0
            } else {
                let h = touch.time_step;
                let speed = touch.speed(&touch.pairs[pair], &self.posture.states);
                2.0 * h * (speed + touch.flights.gravity.norm() * h)
            }
        };
        let pairs: Vec<(usize, f64)> = self.lasting.keys().map(|p| (*p, reach(*p))).collect();
        self.pressing.set_pairs(pairs);
        self.stepper.forget();
    }

    /// Returns the velocities of all bodies, linear and angular.
    pub(super) fn velocities(&self) -> Vec<Vector6<f64>> {
        let mut out = Vec::new();
        let mb = self.world.multibody();
        mb.velocities(&self.posture.states, &mut out);
        out
    }
}
