//! Collisions: the island, the law, and the contacts that last.

use crate::hybrid::Ending;
use crate::world::MotionError;
use crate::world::body::Velocity;
use crate::world::cells::Bounds;
use crate::world::events::{Event, Impact, ImpactContact};
use crate::world::friction::{Friction, Kick};
use crate::world::lasting::Lasting;
use crate::world::pair::{self, ContactPoint, Other, PairMemory};
use crate::world::pair_table::Pair;
use crate::world::rows::{Rows, Side};
use crate::world::run::{EVENTS_PER_INSTANT, Run};
use crate::world::search::BAND;
use crate::world::series::Interval;
use crate::world::spec::{CONTACT_TOLERANCE, OnZeno, SingleLaw, Surface};
use crate::world::time::Time;
use carom_impact::two_body::{ContactInertia, ContactResponse, solve_impact};
use carom_impact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, TwoBody};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_variational::State;
use nalgebra::{DMatrix, Matrix3, Vector3};

/// Contact velocities within this fraction of the speeds around them count as zero.
const STILL: f64 = 1e-10;

/// An event that loses more than this fraction of the energy is not elastic.
const LOSS: f64 = 1e-12;

/// An interval between impacts that shrinks by less than this does not accumulate.
const SHRINKING: f64 = 0.999;

/// Impacts of a pair that can be an accumulation.
const ACCUMULATING: usize = 4;

/// Impacts accumulate once what is left until then is this fraction of the time step.
const REST: f64 = 1e-6;

/// Points that come this fraction of the contact tolerance too deep have touched.
pub(crate) const DEEP: f64 = 1e-2;

/// Looks at a pair that touches in a step, and at most in search of the time.
const LOOKS: usize = 8;
/// Looks at a pair in search of the time of contact.
const MAX_LOOKS: usize = 40;

/// The touching points of an island.
#[derive(Debug, Default)]
struct Touching {
    points: Vec<((usize, usize), ContactPoint)>,
    rows: Rows,
    /// Velocities of the rows.
    velocities: Vec<f64>,
    /// Speeds around the contacts.
    scale: f64,
}

/// Buffers of an impact, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Things around a body whose contacts are looked for.
    pub(crate) around: Vec<usize>,
    /// Bodies of variational flights.
    pub(crate) flying: Vec<usize>,
    island: InContact,
    touching: Touching,
    posed: Posed,
    impact: Option<Impact>,
}

/// Things that touch, directly or through others.
#[derive(Debug, Default)]
struct InContact {
    bodies: Vec<usize>,
    pairs: Vec<Pair>,
    /// Things that may touch a body.
    near: Vec<usize>,
}

/// An impact and its answer.
#[derive(Debug, Default)]
struct Posed {
    velocities: Vec<Velocity>,
    mobility: Vec<f64>,
    before: Vec<State>,
    after: Vec<State>,
    /// Three rows for each point.
    impulses: Vec<f64>,
    found: Vec<ContactPoint>,
}

impl Run<'_, '_> {
    /// Two things touch at a time.
    pub(crate) fn touch(&mut self, pair: (usize, usize), time: Time) -> Result<(), MotionError> {
        if self.chatters(pair, time)? {
            return self.hold(pair, Vec::new(), time);
        }
        self.impact(&[pair.0, pair.1], Some(pair), time)
    }

    /// Notes that the flights of a pair touch at a time, found from another one on.
    pub(crate) fn note_touch(
        &mut self,
        pair: (usize, usize),
        time: Time,
        from: Time,
    ) -> Result<(), MotionError> {
        let in_step = |thing: usize| self.motions.get(thing).is_some_and(|m| m.island.is_some());
        let touch = match in_step(pair.0) || in_step(pair.1) {
            true => self.touch_in_step(pair, time, from)?,
            false => Some(time),
        };
        if let Some(time) = touch {
            self.push_touch(pair, time);
        }
        Ok(())
    }

    /// When a pair touches of which a body is in a step, if it does.
    ///
    /// Between two kicks a body does not move quite as its contacts let it: it comes back at the end. A
    /// step that ends earlier ends elsewhere, by what the order of the method makes of it, and these
    /// ends are what counts. A touch of the flights alone is where to look.
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
            if let Some(cage) = self.cages.get(thing) {
                latest = latest.min(cage.until);
            }
            let motion = self.motions.get(thing);
            if let Some(island) = motion.and_then(|m| self.islands.get(m.island?)?.as_ref()) {
                earliest = earliest.max(island.begin);
            } else if let Some(motion) = motion {
                earliest = earliest.max(motion.time);
            }
        }
        let mut memory = PairMemory::new();
        // Gap, its rate and its rounding.
        let mut look = |time: Time| {
            let here = self.state_at(pair.0, time)?;
            let there = self.state_at(pair.1, time)?;
            let gap = pair::gap(body, &here, &other, &there, &mut memory);
            let scale = pair::gap_scale(body, &here, &other, &there);
            let rate = rate(body, &here, &other, &there, &gap.points, &gap.normal);
            Ok((gap.value, rate, 32.0 * f64::EPSILON * scale))
        };
        let (gap, rate, rounding) = look(time)?;
        // A step that ends deeper has gone through the touch, whatever its last kick made of the rate.
        let deep = DEEP * world.tolerance(pair.0, pair.1);
        let touches = |gap: f64, rate: f64| gap <= rounding && (rate < 0.0 || gap < -deep);
        // One that was deep from the start has not come so now, whatever its rate.
        let was = match touches(gap, rate) && (rate >= 0.0 || gap < -deep) {
            true => look(earliest)?.0.min(0.0),
            false => 0.0,
        };
        // A contact that separates at some depth comes back to that depth.
        let zero = if rate >= 0.0 { gap.min(0.0) } else { 0.0 };
        if touches(gap - was, rate) {
            // Time at which it came to be so, after it was apart or left: by Newton's steps, halved where they
            // lead out.
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
            let next = match k == LOOKS {
                true => latest,
                false => time.plus(left * k as f64 / LOOKS as f64),
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
            return Ok(Some(high));
        }
        Ok(None)
    }

    /// Contacts at the start: those that approach hit, those that press last.
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

    /// Brings a body to a time; one in a step with all of its island, whose step ends here.
    pub(crate) fn gather(
        &mut self,
        body: usize,
        time: Time,
        bodies: &mut Vec<usize>,
    ) -> Result<(), MotionError> {
        let island = self.motions[body].island;
        match island {
            Some(index) => {
                let members = self.stop_step(index, time)?;
                for member in members {
                    if !bodies.contains(&member) {
                        bodies.push(member);
                    }
                }
            }
            None => {
                self.bring(body, time)?;
                if !bodies.contains(&body) {
                    bodies.push(body);
                }
            }
        }
        Ok(())
    }

    /// Everything that touches, directly or through others, the bodies of a list.
    fn find_island(
        &mut self,
        seeds: &[usize],
        time: Time,
        out: &mut InContact,
    ) -> Result<(), MotionError> {
        let world = self.world;
        let InContact {
            bodies,
            pairs,
            near,
        } = out;
        bodies.clear();
        pairs.clear();
        for &seed in seeds {
            if world.is_mobile(seed) && !bodies.contains(&seed) {
                self.gather(seed, time, bodies)?;
            }
        }
        let mut next = 0;
        while let Some(&body) = bodies.get(next) {
            next += 1;
            let (center, radius) = (self.motions[body].state.position, world.bodies[body].radius);
            let ball = Bounds::around(&center, &center, radius * (1.0 + 2.0 * CONTACT_TOLERANCE));
            self.within(&ball, near);
            near.extend(self.lasting.of(body).map(|(i, j)| i + j - body));
            near.sort_unstable();
            near.dedup();
            for &thing in near.iter() {
                let Some(pair) = world.pair_of(body, thing) else {
                    continue;
                };
                if pairs.contains(&pair) {
                    continue;
                }
                if !self.lasting.contains(pair) && !self.is_touching(pair, body, time)? {
                    continue;
                }
                pairs.push(pair);
                if world.is_mobile(thing) && !bodies.contains(&thing) {
                    self.gather(thing, time, bodies)?;
                }
                let place = |thing: usize| match self.motions.get(thing) {
                    Some(motion) => &motion.state,
                    None => world.initial_of(thing),
                };
                world.check_contact(pair, [place(pair.0), place(pair.1)], time.high)?;
            }
        }
        bodies.sort_unstable();
        pairs.sort_unstable();
        Ok(())
    }

    fn is_touching(
        &mut self,
        pair: (usize, usize),
        known: usize,
        time: Time,
    ) -> Result<bool, MotionError> {
        let world = self.world;
        let unknown = if pair.0 == known { pair.1 } else { pair.0 };
        let tolerance = world.tolerance(pair.0, pair.1);
        let here = self.motions[known].state;
        if let (Some(motion), Some(second)) = (self.motions.get(unknown), world.bodies.get(unknown))
        {
            // Far apart whatever the other did in the meantime.
            let v = world.drift(unknown, &motion.state);
            let passed = time.since(motion.time).abs();
            let fall = world.flights.gravity.norm() * passed * passed;
            let reach = world.bodies[known].radius + second.radius + tolerance;
            let moved = v.norm() * passed + fall;
            let apart = (here.position - motion.state.position).norm();
            if motion.island.is_none() && apart - moved > reach * (1.0 + 1e-9) {
                return Ok(false);
            }
        }
        let there = self.state_at(unknown, time)?;
        let (first, second) = if pair.0 == known {
            (here, there)
        } else {
            (there, here)
        };
        if let Some(other) = world.bodies.get(pair.1) {
            let reach = world.bodies[pair.0].radius + other.radius + tolerance;
            if (first.position - second.position).norm() > reach * (1.0 + 1e-9) {
                return Ok(false);
            }
        }
        let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
        let gap = match pair::touch_of_spheres(body, &first, &other, &second) {
            Some(touch) => touch.gap,
            None => {
                let mut memory = self.memory.remove(pair).unwrap_or_default();
                let gap = pair::gap(body, &first, &other, &second, &mut memory).value;
                self.keep_memory(pair, memory);
                gap
            }
        };
        Ok(gap <= tolerance)
    }

    /// The touching points of some pairs.
    fn find_touching(&mut self, island: &InContact, posed: &mut Posed, out: &mut Touching) {
        let world = self.world;
        out.points.clear();
        out.rows.clear();
        for &pair in &island.pairs {
            posed.found.clear();
            let here = self.motions[pair.0].state;
            let there = match self.motions.get(pair.1) {
                Some(motion) => motion.state,
                None => *world.initial_of(pair.1),
            };
            let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
            let tolerance = world.tolerance(pair.0, pair.1);
            let found = &mut posed.found;
            if pair::has_closed_form(body, &other) {
                let memory = &mut PairMemory::new();
                pair::contact_points(body, &here, &other, &there, memory, tolerance, found);
            } else {
                let mut memory = self.memory.remove(pair).unwrap_or_default();
                pair::contact_points(body, &here, &other, &there, &mut memory, tolerance, found);
                self.keep_memory(pair, memory);
            }
            out.points.extend(found.iter().map(|point| (pair, *point)));
        }
        for ((i, j), point) in &out.points {
            out.rows.push(
                &point.point,
                &point.normal,
                self.side(&island.bodies, *i),
                self.side(&island.bodies, *j),
            );
        }
        self.find_velocities(&island.bodies, posed, out);
    }

    /// The velocities of the touching points.
    fn find_velocities(&self, bodies: &[usize], posed: &mut Posed, out: &mut Touching) {
        let velocities = &mut posed.velocities;
        velocities.clear();
        velocities.extend(bodies.iter().map(|i| self.velocity(*i)));
        out.rows.velocities(velocities, &mut out.velocities);
        out.scale = 0.0;
        for (body, velocity) in bodies.iter().zip(velocities) {
            let turn = velocity.angular.norm() * self.world.bodies[*body].radius;
            out.scale = out.scale.max(velocity.linear.norm() + turn);
        }
    }

    fn velocity(&self, body: usize) -> Velocity {
        Velocity::of(&self.world.bodies[body], &self.motions[body].state)
    }

    fn side(&self, bodies: &[usize], thing: usize) -> Side<'_> {
        let place = bodies.binary_search(&thing).ok()?;
        Some((
            place,
            self.world.bodies.get(thing)?,
            &self.motions.get(thing)?.state,
        ))
    }

    /// Resolves what touches at a time, if anything approaches, and lets contacts last.
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
        self.find_touching(&island, &mut posed, &mut touching);
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
            // Neither an impact nor a lasting contact: it opens by itself, or barely touches.
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

    /// Contact velocities within this count as zero (m/s).
    fn still(&self, touching: &Touching) -> f64 {
        let gravity = self.world.flights.gravity.norm() * self.world.time_step;
        STILL * (touching.scale + gravity)
    }

    /// Poses the impact to the law and takes over its answer.
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
            if !crate::world::step::is_finite(state) {
                return Err(MotionError::NonFinite {
                    body: world.bodies[*body].name.clone(),
                    time: time.high,
                });
            }
        }
        let loss = energy_minus - energy_plus;
        self.balance.impact_loss += loss;
        for (body, state) in bodies.iter().zip(&posed.after) {
            let energy = world.energy(*body, state);
            let stamp = self.new_stamp();
            let motion = &mut self.motions[*body];
            self.drift += energy - motion.energy;
            (motion.state, motion.energy, motion.stamp) = (*state, energy, stamp);
        }
        self.drift += loss;
        self.balance.energy_error = self.balance.energy_error.max(self.drift.abs());
        let mut impact = self.scratch.impact.take().unwrap_or_default();
        impact.time = time.high;
        impact.law = law;
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
        (self.observe)(Event::Impact(&impact));
        self.scratch.impact = Some(impact);
        if accumulated && self.laws.on_zeno == OnZeno::Stop {
            let pairs = touching.points.iter().map(|(pair, _)| *pair);
            self.end_at_accumulation(pairs, time);
        }
        Ok(())
    }

    /// Ends the run where the impacts of some pairs accumulate: what is left of their series after the latest impact is
    /// less than a millionth of a step, so that the bodies go on from there as they are.
    fn end_at_accumulation(&mut self, pairs: impl Iterator<Item = Pair>, time: Time) {
        let points = pairs.filter_map(|pair| self.bounces.get(pair)?.series.point());
        let end = Time::new(self.limits.duration);
        let last = points.reduce(Time::max).unwrap_or(time).min(end);
        // Impacts go on for a while where the rounding of gaps makes their intervals.
        self.now = last.max(time);
        let accumulation = last.high;
        self.ended = Some(Ending::Zeno { accumulation });
    }

    /// True if the impacts of a contact that approaches accumulate here: at least four whose intervals
    /// shrink geometrically and that lose energy, with next to nothing left; or whose intervals are too
    /// short.
    fn accumulates(&self, touching: &Touching, still: f64, time: Time) -> bool {
        if self.laws.on_zeno == OnZeno::Continue {
            return false;
        }
        touching.points.iter().enumerate().any(|(c, (pair, _))| {
            let Some(bounces) = self.bounces.get(*pair) else {
                return false;
            };
            let Some(last) = bounces.last else {
                return false;
            };
            let velocity = touching.velocities[3 * c];
            if velocity >= -still && touching.points.len() > 1 {
                return false;
            }
            let interval = time.since(last);
            let ratio = interval / bounces.interval;
            let left = interval * ratio / (1.0 - ratio);
            let shrinks = bounces.shrunk >= 2 && ratio < SHRINKING;
            (shrinks && left <= REST * self.world.time_step)
                || (bounces.short >= 2 && self.is_short(*pair, velocity, interval))
        })
    }

    /// True if a pair that touches at a time is on its way to an accumulation of its impacts: at least four
    /// with this one, in intervals that shrink geometrically.
    pub(crate) fn shrinks(&self, pair: Pair, time: Time) -> bool {
        let Some(bounces) = self.bounces.get(pair) else {
            return false;
        };
        let interval = bounces.last.map_or(f64::INFINITY, |last| time.since(last));
        bounces.shrunk >= 2 && interval < SHRINKING * bounces.interval
    }

    /// True if nothing can happen between two impacts of a pair: no time passes, or the gap between
    /// them, about an eighth of $\lvert u\rvert t$, is rounding. Gaps of spheres have closed forms.
    fn is_short(&self, pair: (usize, usize), velocity: f64, interval: f64) -> bool {
        let world = self.world;
        let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
        let closed_form = pair::has_closed_form(body, &other);
        interval <= REST * world.time_step
            || (!closed_form && velocity.abs() * interval <= 32.0 * self.gap_rounding(pair))
    }

    /// Gap of a pair that is contact but for rounding (m).
    fn gap_rounding(&self, pair: Pair) -> f64 {
        let world = self.world;
        let state = |thing: usize| {
            let motion = self.motions.get(thing).map(|motion| motion.state);
            motion.unwrap_or(*world.initial_of(thing))
        };
        let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
        BAND * pair::gap_scale(body, &state(pair.0), &other, &state(pair.1))
    }

    /// Keeps the times of the impacts of each pair.
    fn remember(
        &mut self,
        touching: &Touching,
        impulses: &[f64],
        lossy: bool,
        time: Time,
    ) -> Result<(), MotionError> {
        let hit = |c: usize| impulses.get(3 * c).is_some_and(|x| *x > 0.0);
        for (c, (pair, _)) in touching.points.iter().enumerate() {
            let done = |(k, (other, _)): (usize, &(Pair, ContactPoint))| other == pair && hit(k);
            if !hit(c) || touching.points.iter().take(c).enumerate().any(done) {
                continue;
            }
            // Late impacts lose little of all the energy, but all that they have.
            if !lossy && self.world.surface(pair.0, pair.1).restitution == 1.0 {
                self.bounces.remove(*pair);
                continue;
            }
            let mut bounces = self.bounces.get(*pair).copied().unwrap_or_default();
            bounces.count += 1;
            if let Some(last) = bounces.last.replace(time) {
                let interval = time.since(last);
                let before = bounces.interval;
                let shrinks = before > 0.0 && interval < SHRINKING * before;
                bounces.shrunk = if shrinks { bounces.shrunk + 1 } else { 0 };
                let short = self.is_short(*pair, touching.velocities[3 * c], interval);
                bounces.short = if short { bounces.short + 1 } else { 0 };
                if bounces.shrunk == 0 {
                    let interval = Interval {
                        length: interval,
                        velocity: touching.velocities[3 * c],
                        rounding: self.gap_rounding(*pair),
                    };
                    bounces.series.end(time, &interval);
                } else if bounces.shrunk >= 2 {
                    bounces.series.add(time, interval, before);
                }
                bounces.interval = interval;
            }
            // An interval that has not begun to shrink, or cannot shrink any more, can begin anew.
            self.bounces.insert(*pair, bounces, |_, b| {
                let passed = b.last.map_or(0.0, |last| time.since(last));
                (b.shrunk == 0 && b.short == 0) || passed > b.interval
            });
            if bounces.short > EVENTS_PER_INSTANT {
                return Err(MotionError::EventLimit {
                    limit: EVENTS_PER_INSTANT,
                    time: time.high,
                });
            }
        }
        Ok(())
    }

    /// Impulses without restitution, with friction: where infinitely many impacts end.
    fn inelastic(
        &self,
        touching: &Touching,
        posed: &mut Posed,
        time: Time,
    ) -> Result<(), MotionError> {
        touching.rows.mobility(&mut posed.mobility);
        let friction: Vec<(f64, Friction)> = touching
            .points
            .iter()
            .map(|((i, j), _)| match self.world.surface(*i, *j).friction {
                0.0 => (0.0, Friction::Frictionless),
                mu => (mu, Friction::Coulomb),
            })
            .collect();
        posed.impulses.clear();
        posed.impulses.resize(touching.velocities.len(), 0.0);
        let kick = Kick {
            mobility: &posed.mobility,
            velocity: &touching.velocities,
            friction: &friction,
            noise: 16.0 * f64::EPSILON * touching.scale,
        };
        if kick.solve(&mut posed.impulses) {
            Ok(())
        } else {
            Err(MotionError::ContactForces { time: time.high })
        }
    }

    /// Name of the law that answers; its impulses are three rows for each point.
    ///
    /// The rounding of points that neither approach nor leave is large in their own terms. A law that
    /// cannot answer for them is asked again for those alone that approach: if others have to follow,
    /// that is the next impact.
    fn answer(
        &self,
        bodies: &[usize],
        touching: &Touching,
        posed: &mut Posed,
        still: f64,
        time: Time,
    ) -> Result<&'static str, MotionError> {
        let refused = match self.ask_law(bodies, touching, posed, time) {
            Err(error @ MotionError::Impact { .. }) => error,
            answer => return answer,
        };
        let all = 0..touching.points.len();
        let some: Vec<usize> = all
            .filter(|c| touching.velocities[3 * c] < -still)
            .collect();
        if some.is_empty() || some.len() == touching.points.len() {
            return Err(refused);
        }
        let fewer = Touching {
            points: some.iter().map(|c| touching.points[*c]).collect(),
            rows: touching.rows.of_contacts(&some),
            velocities: some
                .iter()
                .flat_map(|c| &touching.velocities[3 * c..3 * c + 3])
                .copied()
                .collect(),
            scale: touching.scale,
        };
        let law = self.ask_law(bodies, &fewer, posed, time)?;
        let mut impulses = vec![0.0; touching.velocities.len()];
        for (c, impulse) in some.iter().zip(posed.impulses.chunks_exact(3)) {
            impulses[3 * c..3 * c + 3].copy_from_slice(impulse);
        }
        posed.impulses = impulses;
        Ok(law)
    }

    /// Asks the law with every point posed.
    fn ask_law(
        &self,
        bodies: &[usize],
        touching: &Touching,
        posed: &mut Posed,
        time: Time,
    ) -> Result<&'static str, MotionError> {
        let impulses = &mut posed.impulses;
        impulses.clear();
        let at = |source: ImpactError| MotionError::Impact {
            time: time.high,
            source,
        };
        let surface_of = |pair: &(usize, usize)| {
            let mut surface = self.world.surface(pair.0, pair.1);
            if self.lasting.contains(*pair) {
                surface.restitution = 0.0;
            }
            surface
        };
        // A point that leaves has nothing to restitute: it only must not come back.
        let restitution_of = |c: usize, surface: &Surface| match touching.velocities[3 * c] > 0.0 {
            true => 0.0,
            false => surface.restitution,
        };
        if let ([(pair, _)], SingleLaw::TwoBody(options)) =
            (touching.points.as_slice(), self.laws.single)
        {
            let surface = surface_of(pair);
            if surface.friction == 0.0 {
                let impulse = self.frictionless(bodies, *pair, touching, surface.restitution);
                impulses.extend([impulse, 0.0, 0.0]);
                return Ok(TwoBody::default().name());
            }
            let w = &mut posed.mobility;
            touching.rows.mobility(w);
            let entry = |i: usize, j: usize| w.get(3 * i + j).copied().unwrap_or_default();
            // The law counts the normal last.
            let order = [1, 2, 0];
            let matrix = Matrix3::from_fn(|i, j| entry(order[i], order[j]));
            let inertia = ContactInertia::from_matrix(&matrix).map_err(|e| at(e.into()))?;
            let v = &touching.velocities;
            let velocity = Vector3::new(v[1], v[2], v[0]);
            let response = solve_impact(
                &inertia,
                &velocity,
                surface.friction,
                surface.restitution,
                &options,
            )
            .map_err(|e| at(e.into()))?;
            let impulse = match response {
                ContactResponse::Impact(impact) => impact.impulse,
                _ => Vector3::zeros(),
            };
            impulses.extend([impulse.z, impulse.x, impulse.y]);
            return Ok(TwoBody::default().name());
        }
        let metric = KineticMetric::new(self.mass(bodies)).map_err(|e| at(e.into()))?;
        let contact = |(c, (pair, _)): (usize, &((usize, usize), ContactPoint))| {
            let surface = surface_of(pair);
            let row =
                |k: usize| Covector::from_slice(&touching.rows.covector(3 * c + k, bodies.len()));
            Contact {
                normal: row(0),
                tangents: match surface.friction > 0.0 {
                    true => vec![row(1), row(2)],
                    false => Vec::new(),
                },
                friction: surface.friction,
                restitution: restitution_of(c, &surface),
            }
        };
        let contacts: Vec<Contact> = touching.points.iter().enumerate().map(contact).collect();
        let set = ContactSet::new(&metric, contacts).map_err(at)?;
        let entries: Vec<f64> = bodies
            .iter()
            .map(|i| self.velocity(*i))
            .flat_map(|v| [v.linear, v.angular])
            .flat_map(|v| [v.x, v.y, v.z])
            .collect();
        let problem = ImpactProblem::new(&set, Tangent::from_slice(&entries)).map_err(at)?;
        let several;
        let law: &dyn ImpactLaw = match (touching.points.len(), self.laws.single) {
            (1, SingleLaw::Any(law)) => law,
            _ => {
                several = (self.laws.several)(self.n_impacts);
                several.as_ref()
            }
        };
        let outcome = law.resolve(&problem).map_err(at)?;
        for (c, contact) in set.contacts().iter().enumerate() {
            for k in 0..3 {
                let given = k < contact.n_rows();
                let value = if given {
                    outcome.impulses[set.row(c) + k]
                } else {
                    0.0
                };
                impulses.push(value);
            }
        }
        Ok(law.name())
    }

    /// $\lambda = -(1+e)u/\kappa$, in a form that reflects a sphere's velocity exactly.
    fn frictionless(
        &self,
        bodies: &[usize],
        pair: (usize, usize),
        touching: &Touching,
        restitution: f64,
    ) -> f64 {
        let alone = self.world.bodies[pair.0].sphere.is_some() && bodies.len() == 1;
        if alone && let Some((_, point)) = touching.points.first() {
            // The center moves alone: the mass drops out.
            let momentum = point
                .normal
                .dot(&self.motions[pair.0].state.linear_momentum);
            return -(1.0 + restitution) * momentum;
        }
        -(1.0 + restitution) * touching.velocities[0] / touching.rows.mobility_entry(0, 0)
    }

    fn mass(&self, bodies: &[usize]) -> DMatrix<f64> {
        let mut mass = DMatrix::zeros(6 * bodies.len(), 6 * bodies.len());
        for (place, body) in bodies.iter().enumerate() {
            let Some(rigid) = &self.world.bodies[*body].rigid else {
                continue;
            };
            for i in 0..3 {
                mass[(6 * place + i, 6 * place + i)] = rigid.mass();
                for j in 0..3 {
                    mass[(6 * place + 3 + i, 6 * place + 3 + j)] = rigid.inertia()[(i, j)];
                }
            }
        }
        mass
    }

    /// True if the rebounds of a pair are never taken for rest, however low they are: it restitutes, and impacts
    /// are never merged.
    fn bounces_on(&self, pair: Pair) -> bool {
        let restitution = self.world.surface(pair.0, pair.1).restitution;
        self.laws.on_zeno == OnZeno::Continue
            && restitution > 0.0
            && restitution < 1.0
            && self.bounces.get(pair).is_some()
            && !self.lasting.contains(pair)
    }

    /// True if a pair that lasts from here on restitutes and had so many impacts that their rebounds were lost one
    /// after the other: exactly, there were infinitely many.
    fn has_accumulated(&self, pair: Pair) -> bool {
        let bounces = self.bounces.get(pair);
        self.world.surface(pair.0, pair.1).restitution > 0.0
            && bounces.is_some_and(|bounces| bounces.count >= ACCUMULATING)
    }

    /// Lets the contacts last that neither approach nor leave and that nothing opens; those that open do
    /// not last any more.
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
            let step = scene.step(&states, trial, None)?;
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
            // Beside each other under gravity: they do not press, but nothing opens them either.
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
                (self.observe)(Event::Released {
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
            (self.observe)(Event::Established {
                time,
                contact: pair,
            });
            (self.observe)(Event::Mode {
                time,
                contact: pair,
                slides,
            });
        }
        Ok(())
    }
}

/// Rate of the gap at the closest points.
fn rate(
    body: &crate::world::body::Body,
    state: &State,
    other: &Other<'_>,
    other_state: &State,
    points: &[Vector3<f64>; 2],
    normal: &Vector3<f64>,
) -> f64 {
    let at = |body: &crate::world::body::Body, state: &State, point: &Vector3<f64>| {
        let arm = state.rotation.rotate_back(&(point - state.position));
        Velocity::of(body, state).at(&state.rotation, &arm)
    };
    let moving = match other {
        Other::Body(second) => at(second, other_state, &points[1]),
        Other::Plane(_) => Vector3::zeros(),
    };
    normal.dot(&(at(body, state, &points[0]) - moving))
}
