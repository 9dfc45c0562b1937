//! Collisions: the island of touching bodies, the impact law, and the contacts that last.

use crate::MotionError;
use crate::body::Velocity;
use crate::events::{ImpactContact, WorldEvent};
use crate::lasting::Lasting;
use crate::pair::{self, Other, PairMemory};
use crate::pair_table::Pair;
use crate::run::Run;
use crate::scratch::{InContact, Posed, Touching};
use crate::search::DEEP;
use crate::spec::OnZeno;
use carom_numeric::time::Time;
use carom_variational::State;
use nalgebra::Vector3;

/// Contact velocities below this fraction of the body speeds count as zero.
pub(crate) const STILL: f64 = 1e-10;

/// An impact counts as lossy if it loses more than this fraction of the kinetic energy.
const LOSS: f64 = 1e-12;

/// Number of intermediate times at which a pair with a body in a step is tested for contact.
pub(crate) const LOOKS: usize = 8;
/// Largest number of evaluations in the search for the time of contact.
const MAX_LOOKS: usize = 40;

impl Run<'_> {
    /// Handles a contact of a pair that was found at `time`. Usually this is an impact; a pair that touches too often
    /// becomes a lasting contact until the next grid time (multiple of the time step).
    pub(crate) fn touch(&mut self, pair: (usize, usize), time: Time) -> Result<(), MotionError> {
        if self.chatters(pair, time)? {
            return self.hold(pair, Vec::new(), time);
        }
        self.impact(&[pair.0, pair.1], Some(pair), time)
    }

    /// Schedules a contact of a pair in the queue of future events. `time` is the contact time of the free flights, found by a
    /// search that began at `from`. A body that rests or slides on others is in a time step of lasting contact, which ends with
    /// impulses. If a body of the pair is in such a step, the contact time is first corrected for these impulses.
    pub(crate) fn note_touch(
        &mut self,
        pair: (usize, usize),
        time: Time,
        from: Time,
    ) -> Result<(), MotionError> {
        let in_step = |thing: usize| self.motions.get(thing).is_some_and(|m| m.island.is_some());
        let touch = if in_step(pair.0) || in_step(pair.1) {
            self.touch_in_step(pair, time, from)?
        } else {
            Some(time)
        };
        if let Some(time) = touch {
            self.push_touch(pair, time);
        }
        Ok(())
    }

    /// Returns the time at which a pair touches, if at least one of its bodies is in a time step of lasting contact (it rests on
    /// other bodies or slides on them). `None` if there is no contact. `time` is the contact time of the free flights, near which
    /// the search starts; `from` is the earliest time.
    ///
    /// A step begins and ends with impulses (kicks). Between these a body follows a free flight and may leave its contacts
    /// slightly; it returns at the end of the step. Contact is therefore tested with the states that the bodies have if the step
    /// is shortened to end at the tested time.
    fn touch_in_step(
        &self,
        pair: (usize, usize),
        time: Time,
        from: Time,
    ) -> Result<Option<Time>, MotionError> {
        let world = self.world;
        let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
        let (mut earliest, mut latest) = (from, Time::new(f64::INFINITY));
        for thing in [pair.0, pair.1] {
            if let Some(swept) = self.boxes.get(thing) {
                latest = latest.min(swept.until);
            }
            let motion = self.motions.get(thing);
            if let Some(island) = motion.and_then(|m| self.islands.get(m.island?)?.as_ref()) {
                earliest = earliest.max(island.begin);
            } else if let Some(motion) = motion {
                earliest = earliest.max(motion.time);
            }
        }
        let mut memory = PairMemory::new();
        // Returns the gap, its rate and its rounding.
        let mut look = |time: Time| {
            let here = self.state_at(pair.0, time)?;
            let there = self.state_at(pair.1, time)?;
            let gap = pair::gap(body, &here, &other, &there, &mut memory);
            let scale = pair::gap_scale(body, &here, &other, &there);
            let rate = rate(body, &here, &other, &there, &gap.points, &gap.normal);
            Ok((gap.value, rate, 32.0 * f64::EPSILON * scale))
        };
        let (gap, rate, rounding) = look(time)?;
        // A step that ends deeper has passed the contact, whatever its last kick did to the rate.
        let deep = DEEP * world.tolerance(pair.0, pair.1);
        let touches = |gap: f64, rate: f64| gap <= rounding && (rate < 0.0 || gap < -deep);
        // A pair that was deep from the start has not come into contact now, whatever its rate.
        let was = if touches(gap, rate) && (rate >= 0.0 || gap < -deep) {
            look(earliest)?.0.min(0.0)
        } else {
            0.0
        };
        // A pair that separates at some depth touches again at that depth.
        let zero = if rate >= 0.0 { gap.min(0.0) } else { 0.0 };
        if touches(gap - was, rate) {
            // Time of contact after the pair was apart or separating: by Newton steps, or by bisection where these leave the
            // bracket.
            let (mut low, mut at) = (earliest, (time, gap - was, rate));
            for iteration in 0..MAX_LOOKS {
                let span = at.0.since(low);
                if at.1.abs() <= rounding || span <= 1e-12 * world.time_step {
                    break;
                }
                let newton = -at.1 / at.2;
                let inside = newton > -span && newton < 0.0 && iteration % 4 != 3;
                let next = at.0.plus(if inside { newton } else { -0.5 * span });
                let (gap, rate, _) = look(next)?;
                if touches(gap - was, rate) {
                    at = (next, gap - was, rate);
                } else {
                    low = next;
                }
            }
            return Ok(Some(at.0.min(latest)));
        }
        let left = latest.since(time);
        let (mut low, mut low_gap) = (time, gap - zero);
        for k in 1..=LOOKS {
            let next = if k == LOOKS {
                latest
            } else {
                time.plus(left * k as f64 / LOOKS as f64)
            };
            let (gap, rate, _) = look(next)?;
            if !touches(gap - zero, rate) {
                (low, low_gap) = (next, gap - zero);
                continue;
            }
            let (mut high, mut high_gap) = (next, gap - zero);
            for iteration in 0..MAX_LOOKS {
                let span = high.since(low);
                if high_gap.abs() <= rounding || span <= 1e-9 * world.time_step {
                    break;
                }
                let share = low_gap / (low_gap - high_gap);
                let chord = low_gap > 0.0 && iteration % 3 != 2 && share < 1.0;
                let middle = low.plus(span * if chord { share } else { 0.5 });
                let (gap, rate, _) = look(middle)?;
                if touches(gap - zero, rate) {
                    (high, high_gap) = (middle, gap - zero);
                } else {
                    (low, low_gap) = (middle, gap - zero);
                }
            }
            // The gap jumps where the step, ended later, has other impulses: up to there the pair is apart.
            let jumps = high_gap < -deep;
            return Ok(Some(if jumps { low } else { high }));
        }
        Ok(None)
    }

    /// Handles the contacts that exist at the start of the run. Contacts that approach have an impact; contacts that press become
    /// lasting contacts.
    pub(crate) fn settle(&mut self) -> Result<(), MotionError> {
        for body in 0..self.world.n_bodies() {
            if self.world.is_mobile(body) && self.motions[body].island.is_none() {
                self.impact(&[body], None, Time::default())?;
            }
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Handles a contact event at `time`. Finds all bodies that touch the bodies `seeds`, directly or through others, and
    /// resolves an impact if a contact among them approaches. Then updates the lasting contacts, and computes the motion of the
    /// bodies anew. `trigger` is the pair whose contact led here, if any.
    pub(crate) fn impact(
        &mut self,
        seeds: &[usize],
        trigger: Option<(usize, usize)>,
        time: Time,
    ) -> Result<(), MotionError> {
        let mut island = std::mem::take(&mut self.scratch.island);
        let mut touching = std::mem::take(&mut self.scratch.touching);
        let mut posed = std::mem::take(&mut self.scratch.posed);
        self.find_island(seeds, time, &mut island)?;
        self.find_touching(&island, time, &mut posed, &mut touching);
        let still = self.still(&touching);
        let approaches = |touching: &Touching, limit: f64, of: Option<Pair>| {
            let mut points = touching.points.iter().zip(touching.velocities.chunks(3));
            points.any(|((pair, _), v)| of.is_none_or(|of| of == *pair) && v[0] < -limit)
        };
        let hits = approaches(&touching, still, None);
        if hits {
            self.resolve(&island.bodies, &touching, &mut posed, still, time)?;
        }
        if !self.is_over() {
            let barely = !hits && trigger.is_some() && approaches(&touching, 0.0, trigger);
            if hits {
                self.find_velocities(&island.bodies, &mut posed, &mut touching);
            }
            self.establish(&island, &touching, time)?;
            if self.is_over() {
                return Ok(());
            }
            if hits {
                self.count_crowding(&island.bodies, &touching, time)?;
            }
            // Neither an impact nor a lasting contact: the pair separates without a force, or barely touches.
            if barely && trigger.is_some_and(|pair| !self.lasting.contains(pair)) {
                self.resolve(&island.bodies, &touching, &mut posed, still, time)?;
            }
            self.restart(&island.bodies, time)?;
        }
        self.scratch.island = island;
        self.scratch.touching = touching;
        self.scratch.posed = posed;
        Ok(())
    }

    /// Returns the speed (m/s) below which a contact counts as at rest.
    pub(crate) fn still(&self, touching: &Touching) -> f64 {
        let gravity = self.world.flights.gravity.norm() * self.world.time_step;
        STILL * (touching.scale + gravity)
    }

    /// Computes the impulses of an impact, applies them to the bodies, and reports the impact. The impulses follow from the
    /// impact law, or at an accumulation point of infinitely many impacts from a law without restitution. `still` is the speed
    /// (m/s) below which a contact counts as at rest.
    fn resolve(
        &mut self,
        bodies: &[usize],
        touching: &Touching,
        posed: &mut Posed,
        still: f64,
        time: Time,
    ) -> Result<(), MotionError> {
        let world = self.world;
        posed.before.clear();
        let states = bodies.iter().map(|i| self.motions[*i].state);
        posed.before.extend(states);
        let energy_minus = self.kinetic(bodies, &posed.before);
        let accumulated = self.accumulates(touching, still, time);
        let law = if accumulated {
            self.inelastic(touching, posed, time)?;
            "accumulated"
        } else {
            self.answer(bodies, touching, posed, still, time)?
        };
        posed.after.clone_from(&posed.before);
        touching.rows.apply(&posed.impulses, &mut posed.after);
        let energy_plus = self.kinetic(bodies, &posed.after);
        for (body, state) in bodies.iter().zip(&posed.after) {
            if !crate::step::is_finite(state) {
                return Err(MotionError::NonFinite {
                    body: world.bodies[*body].name.clone(),
                    time: time.high,
                });
            }
        }
        let given = touching.rows.running_work(&posed.impulses);
        let loss = energy_minus - energy_plus + given;
        self.balance.prescribed_work += given;
        self.balance.impact_loss += loss;
        for (body, state) in bodies.iter().zip(&posed.after) {
            let energy = world.held_energy(*body, state);
            let stamp = self.new_stamp();
            let motion = &mut self.motions[*body];
            self.drift += energy - motion.energy;
            (motion.state, motion.energy, motion.stamp) = (*state, energy, stamp);
        }
        self.drift += loss - given;
        self.balance.energy_error = self.balance.energy_error.max(self.drift.abs());
        let mut impact = self.scratch.impact.take().unwrap_or_default();
        impact.time = time.high;
        impact.law = law.into();
        impact.energy_minus = energy_minus;
        impact.energy_plus = energy_plus;
        impact.states.clear();
        let after = bodies.iter().copied().zip(posed.after.iter().copied());
        impact.states.extend(after);
        impact.contacts.clear();
        for (c, ((first, second), point)) in touching.points.iter().enumerate() {
            self.lowest_gap = self.lowest_gap.min(point.gap);
            let impulse = touching.rows.impulse(c, &posed.impulses);
            if !world.is_mobile(*second) {
                self.balance.supports[*second] += impulse;
            }
            impact.contacts.push(ImpactContact {
                first: *first,
                second: *second,
                point: point.point,
                normal: point.normal,
                impulse,
                normal_velocity: touching.velocities[3 * c],
            });
        }
        let lossy = loss > LOSS * energy_minus;
        self.remember(touching, &posed.impulses, lossy, time)?;
        self.n_impacts += 1;
        self.events.push(WorldEvent::Impact(impact));
        if accumulated && self.laws.on_zeno == OnZeno::Stop {
            let pairs = touching.points.iter().map(|(pair, _)| *pair);
            self.end_at_accumulation(pairs, time);
        }
        Ok(())
    }

    /// Updates the list of lasting contacts after an impact. Contacts that neither approach nor separate are tested with a short
    /// trial step. They become lasting if they carry force in it, or if the gap stays unchanged although gravity acts. Lasting
    /// contacts that open are removed.
    fn establish(
        &mut self,
        island: &InContact,
        touching: &Touching,
        time: Time,
    ) -> Result<(), MotionError> {
        let world = self.world;
        let still = self.still(touching);
        let InContact { bodies, pairs, .. } = island;
        let mut candidates: Vec<(usize, usize)> = Vec::new();
        for (c, (pair, _)) in touching.points.iter().enumerate() {
            let closed = touching.velocities[3 * c] <= still && !self.bounces_on(*pair);
            if closed && !candidates.contains(pair) {
                candidates.push(*pair);
            }
        }
        let lowest = |pair: (usize, usize)| {
            let points = touching.points.iter().filter(|(of, _)| *of == pair);
            points.map(|(_, p)| p.gap).fold(f64::INFINITY, f64::min)
        };
        let mut pressing = Vec::new();
        if !candidates.is_empty() {
            let states: Vec<State> = bodies.iter().map(|i| self.motions[*i].state).collect();
            let scene = self.scene(bodies, &candidates, time);
            let trial = 0.01 * world.time_step;
            let step = scene.step(&scene.complete(states), trial, None)?;
            let most = step
                .pairs
                .iter()
                .fold(0.0, |m: f64, p| m.max(p.pressed_first));
            let moved = bodies
                .iter()
                .filter_map(|i| world.bodies[*i].rigid.as_ref());
            let mass = moved.map(|rigid| rigid.mass()).fold(0.0, f64::max);
            let fall = world.flights.gravity.norm() * trial;
            let rounding = 1e-9 * mass * (fall + still);
            // Bodies beside each other under gravity: no force acts between them, but no force separates them either.
            let not_opening = 1e-3 * fall * trial;
            for (pair, result) in candidates.iter().zip(&step.pairs) {
                let presses = result.pressed_first > (1e-9 * most).max(rounding);
                let moved = result.gap - lowest(*pair);
                if presses || (fall > 0.0 && moved.abs() <= not_opening) {
                    pressing.push((*pair, result.slides));
                }
            }
        }
        for pair in pairs {
            let stays = pressing.iter().any(|(p, _)| p == pair) || self.is_held(*pair, time);
            if !stays && self.lasting.remove(*pair) {
                self.events.push(WorldEvent::Released {
                    time: time.high,
                    contact: *pair,
                });
            }
        }
        for (pair, slides) in pressing {
            if self.lasting.contains(pair) {
                continue;
            }
            if self.laws.on_zeno == OnZeno::Stop && self.has_accumulated(pair) {
                self.end_at_accumulation(std::iter::once(pair), time);
                return Ok(());
            }
            let lasting = Lasting {
                slides: Some(slides),
                ..Lasting::default()
            };
            self.lasting.insert(pair, lasting);
            self.bounces.remove(pair);
            let time = time.high;
            self.events.push(WorldEvent::Established {
                time,
                contact: pair,
            });
            self.events.push(WorldEvent::Mode {
                time,
                contact: pair,
                slides,
            });
        }
        Ok(())
    }
}

/// Returns the time derivative of the gap between two bodies (m/s): the relative velocity, along `normal`, of their closest
/// points. The `normal` points into the first body.
pub(crate) fn rate(
    body: &crate::body::Body,
    state: &State,
    other: &Other<'_>,
    other_state: &State,
    points: &[Vector3<f64>; 2],
    normal: &Vector3<f64>,
) -> f64 {
    let at = |body: &crate::body::Body, state: &State, point: &Vector3<f64>| {
        let arm = state.rotation.rotate_back(&(point - state.position));
        Velocity::of(body, state).at(&state.rotation, &arm)
    };
    let moving = match other {
        Other::Body(second) => at(second, other_state, &points[1]),
        Other::Plane(_) => Vector3::zeros(),
    };
    normal.dot(&(at(body, state, &points[0]) - moving))
}
