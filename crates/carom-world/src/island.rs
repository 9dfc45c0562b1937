//! Islands of bodies in lasting contact, and their steps.

use crate::MotionError;
use crate::events::{Entry, Next, WorldEvent};
use crate::guard::Control;
use crate::kick::Work;
use crate::run::{AT_BEGIN, Island, Run};
use crate::step::{PairStep, Pressed, Step};
use crate::step_scene::{StepPair, StepScene};
use carom_numeric::time::Time;
use carom_variational::State;
use nalgebra::Vector3;

/// Largest number of splits of one step of the grid.
const MAX_SPLITS: usize = 100;

/// Depth, as a fraction of the contact tolerance, at which further points of a pair have closed.
pub(crate) const SEEN: f64 = 1e-2;

/// An event function that falls below zero by this multiple of its requested accuracy is discontinuous there.
const JUMP: f64 = 100.0;

/// Largest number of iterations for the time of an event in a step.
const MAX_ROOT: usize = 80;

impl<'w> Run<'w> {
    /// Returns the bodies and pairs of an island, for a step that begins at `time`.
    pub(crate) fn scene(
        &self,
        bodies: &[usize],
        pairs: &[(usize, usize)],
        time: Time,
    ) -> StepScene<'w> {
        let world = self.world;
        // Bodies that are told their motion follow those that have mass.
        let carriers = world.carriers(bodies, pairs);
        let place = |body: usize| {
            let carrier = || Some(bodies.len() + carriers.binary_search(&body).ok()?);
            bodies.binary_search(&body).ok().or_else(carrier)
        };
        let of_pair = |&(i, j): &(usize, usize)| StepPair {
            first: place(i).unwrap_or_default(),
            second: place(j),
            body: &world.bodies[i],
            other: world.thing(j),
            fixed: world.initial_of(j),
            friction: world.surface(i, j).friction,
            tolerance: world.tolerance(i, j),
        };
        let springs = world.springs_of(bodies).cloned().map(|mut spring| {
            spring.between = spring.between.map(|end| end.and_then(place));
            spring
        });
        StepScene {
            springs: springs.collect(),
            flights: &world.flights,
            bodies: { bodies.iter().chain(&carriers) }
                .map(|i| &world.bodies[*i])
                .collect(),
            pairs: pairs.iter().map(of_pair).collect(),
            time: time.high,
            time_step: world.time_step,
            reach: 0.0,
            work: Work::of_step(),
        }
    }

    /// Computes the motion of bodies anew from `time` on. Bodies in lasting contact with other bodies begin a time step
    /// together with these bodies. All other bodies begin a free flight.
    pub(crate) fn restart(&mut self, bodies: &[usize], time: Time) -> Result<(), MotionError> {
        let world = self.world;
        let flies =
            |body: &usize| self.lasting.of(*body).next().is_none() && !world.bodies[*body].kicks;
        if bodies.iter().all(flies) {
            for &body in bodies {
                let stamp = self.new_stamp();
                self.motions[body].stamp = stamp;
            }
            return self.look_around(bodies, time);
        }
        let mut left: Vec<usize> = bodies.to_vec();
        let mut all: Vec<usize> = Vec::with_capacity(bodies.len());
        while let Some(seed) = left.first().copied() {
            let (mut group, mut pairs) = (vec![seed], Vec::new());
            let mut next = 0;
            while let Some(&body) = group.get(next) {
                next += 1;
                for pair in self.lasting.of(body) {
                    // The first of two members lists the pair.
                    let other = pair.0 + pair.1 - body;
                    let seen = group.iter().position(|member| *member == other);
                    if seen.is_none_or(|place| place >= next) {
                        pairs.push(pair);
                    }
                    if world.is_mobile(other) && seen.is_none() {
                        group.push(other);
                    }
                }
                for other in world.sprung(body) {
                    if !group.contains(&other) {
                        group.push(other);
                    }
                }
            }
            left.retain(|body| !group.contains(body));
            all.extend(&group);
            if pairs.is_empty() && !world.bodies[seed].kicks {
                let stamp = self.new_stamp();
                self.motions[seed].stamp = stamp;
                continue;
            }
            group.sort_unstable();
            pairs.sort_unstable();
            let before = group.iter().map(|i| self.motions[*i].state).collect();
            self.begin_step(None, group, pairs, before, time, 0, None, None)?;
        }
        self.look_around(&all, time)
    }

    /// Computes the time step of an island (bodies connected by lasting contacts) from `begin` to the next grid time
    /// (multiple of the time step), or to an event before it. `index`: entry of the island in the list, `None` for a
    /// new one; `pairs`: pairs in lasting contact; `before`: states at the start; `splits`: number of events so far in
    /// the present interval of the time grid; `guess`: initial impulses at the start and at the end of the step (N s).
    #[allow(clippy::too_many_arguments)]
    fn begin_step(
        &mut self,
        index: Option<usize>,
        bodies: Vec<usize>,
        pairs: Vec<(usize, usize)>,
        mut before: Vec<State>,
        begin: Time,
        splits: usize,
        guess: Option<&Pressed>,
        control: Option<Control>,
    ) -> Result<(), MotionError> {
        let h = self.world.time_step;
        let line = self.line(begin) + 1.0;
        let grid = Time::new(line * h);
        let left = grid.since(begin);
        if splits >= MAX_SPLITS {
            self.hold_lasting(&pairs, begin);
        }
        let mut scene = self.scene(&bodies, &pairs, begin);
        before = scene.complete(before);
        for pair in &pairs {
            let place = |thing: usize| {
                let member = bodies.binary_search(&thing).ok();
                let state = member.and_then(|place| before.get(place));
                state.unwrap_or(self.world.initial_of(thing))
            };
            self.world
                .check_contact(*pair, [place(pair.0), place(pair.1)], begin.high)?;
        }
        let events = !pairs.iter().any(|pair| self.is_held(*pair, begin));
        let mut control = control.unwrap_or_else(|| Control::new(scene.first_rate(&before)));
        let (asked, (mut length, step, lands)) = loop {
            let asked = control.length(left);
            scene.reach = self.reach(&bodies, &pairs, begin, asked);
            let found = piece(&scene, &before, asked, events, guess);
            let fault = match &found {
                Ok((_, step, _)) => scene.fault(&before, step, control.rate),
                Err(
                    MotionError::ContactForces { .. }
                    | MotionError::ContactWork { .. }
                    | MotionError::Flight { .. },
                ) => None,
                Err(error) => return Err(error.clone()),
            };
            match (found, fault) {
                (Ok(found), None) => break (asked, found),
                _ if control.halve() => (),
                (Ok(_), Some(fault)) => {
                    return Err(MotionError::StepTooLarge {
                        time: begin.high,
                        time_step: asked,
                        sufficient: None,
                        fault,
                    });
                }
                (Err(error), _) => return Err(error),
            }
        };
        control.accept(step.rate);
        let is_cut = lands || length < asked;
        let reaches = !is_cut && asked >= left;
        let splits = if reaches {
            0
        } else {
            splits + usize::from(is_cut)
        };
        let mut end = if reaches { grid } else { begin.plus(length) };
        if step.rests {
            // The step keeps its forces until another event cuts it.
            self.begin_rest(&before, &pairs, &step, begin.high);
            before.clone_from(&step.end);
            // Loads may change until the next line of the grid.
            if !bodies.iter().any(|body| self.world.bodies[*body].kicks) {
                (end, length) = (Time::new(f64::INFINITY), f64::INFINITY);
            }
        }
        let stamp = self.new_stamp();
        let index = index.unwrap_or_else(|| self.free_place());
        for (body, state) in bodies.iter().zip(&step.launched) {
            let stamp = self.new_stamp();
            let motion = &mut self.motions[*body];
            (motion.state, motion.time, motion.stamp) = (*state, begin, stamp);
            motion.island = Some(index);
        }
        self.islands[index] = Some(Island {
            bodies,
            pairs,
            before,
            begin,
            length,
            end,
            rests: step.rests,
            step,
            control,
            lands,
            stamp,
            splits,
        });
        if end.high.is_finite() {
            self.push(Entry {
                time: end,
                next: Next::StepEnd {
                    island: index as u32,
                    stamp,
                },
            });
        }
        Ok(())
    }

    /// Returns a free entry of the list of islands.
    fn free_place(&mut self) -> usize {
        self.free_islands.pop().unwrap_or_else(|| {
            self.islands.push(None);
            self.islands.len() - 1
        })
    }

    /// Begins a step in which bodies rest, at `time` (s): reports the contacts that stick now, and adds the momentum of the bodies
    /// `before`, a rounding error, to the support that presses most.
    fn begin_rest(&mut self, before: &[State], pairs: &[(usize, usize)], step: &Step, time: f64) {
        for (pair, result) in pairs.iter().zip(&step.pairs) {
            self.report_mode(*pair, result, time);
        }
        let left: Vector3<f64> = before.iter().map(|state| state.linear_momentum).sum();
        let pressed = pairs.iter().zip(&step.pairs);
        let supports = pressed.filter(|(pair, _)| !self.world.is_mobile(pair.1));
        if let Some((pair, _)) = supports.max_by(|a, b| a.1.pressed.total_cmp(&b.1.pressed)) {
            self.balance.supports[pair.1] -= left;
        }
    }

    /// Reports, with the `time` (s), that a lasting contact begins to slide or to stick in a step, if it does.
    fn report_mode(&mut self, contact: (usize, usize), result: &PairStep, time: f64) {
        let slides = result.slides;
        let lasting = self.lasting.get_mut(contact);
        let changed = lasting.filter(|it| result.pressed > 0.0 && it.slides != Some(slides));
        if let Some(lasting) = changed {
            lasting.slides = Some(slides);
            self.events.push(WorldEvent::Mode {
                time,
                contact,
                slides,
            });
        }
    }

    /// Computes the step of an island as if it ended `passed` seconds after its begin. If that step lets bodies overlap, because a
    /// point of a pair lands within it or its first kick is not found, it begins as the whole step does, where that keeps the bodies
    /// farther apart.
    pub(crate) fn cut(&self, island: &Island, passed: f64) -> Result<Step, MotionError> {
        if island.rests {
            return Ok(island.step.stretched(passed));
        }
        let mut scene = self.scene(&island.bodies, &island.pairs, island.begin);
        scene.reach = self.reach(&island.bodies, &island.pairs, island.begin, island.length);
        let shorter = self.preview(island, passed);
        if let Ok(step) = &shorter
            && !scene.overlaps(&island.before, step)
        {
            return shorter;
        }
        let as_begun = scene.step_as_begun(&island.before, passed, &island.step.pressed);
        let lowest = |step: &Step| {
            let gaps = step.pairs.iter().map(|pair| pair.gap);
            gaps.fold(f64::INFINITY, f64::min)
        };
        match (shorter, as_begun) {
            (Ok(step), Ok(begun)) if lowest(&step) >= lowest(&begun) => Ok(step),
            (_, Ok(begun)) => Ok(begun),
            (shorter, Err(_)) => shorter,
        }
    }

    /// Ends the time step of an island (bodies connected by lasting contacts) early, at `time`. Returns the bodies, which then
    /// belong to no island. `index`: entry of the island in the list.
    pub(crate) fn stop_step(
        &mut self,
        index: usize,
        time: Time,
    ) -> Result<Vec<usize>, MotionError> {
        let Some(island) = self.islands.get(index).and_then(Option::as_ref) else {
            return Ok(Vec::new());
        };
        let passed = time.since(island.begin);
        let nothing = passed <= AT_BEGIN * island.length.min(self.world.time_step);
        let shorter = if !nothing && passed < island.length {
            Some(self.cut(island, passed)?)
        } else {
            None
        };
        let Some(mut island) = self.islands.get_mut(index).and_then(Option::take) else {
            return Ok(Vec::new());
        };
        self.free_islands.push(index);
        if nothing {
            // No time has passed: the states before the step are restored.
            for (body, state) in island.bodies.iter().zip(&island.before) {
                let motion = &mut self.motions[*body];
                (motion.state, motion.time, motion.island) = (*state, time, None);
                let stamp = self.new_stamp();
                self.motions[*body].stamp = stamp;
            }
            return Ok(island.bodies);
        }
        if let Some(step) = shorter {
            (island.step, island.length) = (step, passed);
        }
        self.take_over(&island, time);
        Ok(island.bodies)
    }

    /// Stores the states at the end of the time step of an island (bodies connected by lasting contacts) as the present states.
    /// Also adds the step to the energy balance and to the impulses of fixed supports, and reports contacts that begin to slide
    /// or to stick.
    fn take_over(&mut self, island: &Island, time: Time) {
        let world = self.world;
        self.n_steps += if island.rests {
            (island.length / world.time_step).ceil() as usize
        } else {
            1
        };
        self.balance.contact_loss += island.step.loss;
        self.ended_forces
            .note(time.high, island.forces(&island.step));
        island.step.given.book(&mut self.balance);
        self.drift += island.step.loss - island.step.given.work();
        let scene = self.scene(&island.bodies, &island.pairs, island.begin);
        self.drift += scene.spring_energy(&island.step.end) - scene.spring_energy(&island.before);
        for (body, state) in island.bodies.iter().zip(&island.step.end) {
            let energy = world.held_energy(*body, state);
            let stamp = self.new_stamp();
            let motion = &mut self.motions[*body];
            self.drift += energy - motion.energy;
            motion.state = *state;
            motion.time = time;
            motion.energy = energy;
            motion.stamp = stamp;
            motion.island = None;
        }
        self.balance.energy_error = self.balance.energy_error.max(self.drift.abs());
        let middle = island.begin.high + 0.5 * island.length;
        for (pair, result) in island.pairs.iter().zip(&island.step.pairs) {
            self.lowest_gap = self.lowest_gap.min(result.gap);
            if !world.is_mobile(pair.1) {
                self.balance.supports[pair.1] += result.impulse;
            }
            let Some(lasting) = self.lasting.get_mut(*pair) else {
                continue;
            };
            lasting.forces.rotate_left(1);
            let h = island.length;
            lasting.forces[2] = if world.is_prescribed(pair.1) {
                // The first kick is half of the step times the force after a third of it, if that falls in proportion to time, and
                // no force is left out where it vanishes within the step.
                (island.begin.high + h / 3.0, 2.0 * result.pressed_first / h)
            } else {
                (middle, result.pressed / h)
            };
            // Sliding that is new is reported at the begin of the step, sticking at its end.
            let begins = result.slides;
            let at = if begins { island.begin.high } else { time.high };
            self.report_mode(*pair, result, at);
        }
    }

    /// Completes the time step of an island (bodies connected by lasting contacts) at its planned end. If contacts opened or
    /// closed, these are handled; otherwise the next step begins. `index`: entry of the island in the list.
    pub(crate) fn end_step(&mut self, index: usize) -> Result<(), MotionError> {
        let Some(island) = self.islands.get_mut(index).and_then(Option::take) else {
            return Ok(());
        };
        let time = island.end;
        self.take_over(&island, time);
        let mut opened = false;
        for (pair, result) in island.pairs.iter().zip(&island.step.pairs) {
            if !(result.open && result.pressed <= 0.0) {
                continue;
            }
            opened = true;
            let forces = self.lasting.get_mut(*pair).map(|lasting| lasting.forces);
            if let Some(forces) = forces {
                self.lasting.remove(*pair);
                let begin = island.begin.high - island.length;
                let at = release_time(&forces, begin, time.high);
                self.events.push(WorldEvent::Released {
                    time: at,
                    contact: *pair,
                });
            }
        }
        if island.lands || opened {
            self.free_islands.push(index);
        }
        if island.lands {
            let depth = |(pair, step): (&(usize, usize), &PairStep)| {
                (*pair, step.gap / self.world.tolerance(pair.0, pair.1))
            };
            let all = island.pairs.iter().zip(&island.step.pairs).map(depth);
            if let Some((pair, _)) = all.min_by(|a, b| a.1.total_cmp(&b.1))
                && self.chatters(pair, time)?
            {
                return self.hold(pair, island.bodies, time);
            }
            return self.impact(&island.bodies, None, time);
        }
        if opened {
            return self.restart(&island.bodies, time);
        }
        let bodies = island.bodies.clone();
        let guess = island.step.pressed;
        self.begin_step(
            Some(index),
            island.bodies,
            island.pairs,
            island.step.end,
            time,
            island.splits,
            Some(&guess),
            Some(island.control),
        )?;
        self.look_around(&bodies, time)
    }

    /// Returns the planned end of the time step of lasting contact to which a body belongs; `None` if the body is in free
    /// flight.
    pub(crate) fn end_of_step(&self, body: usize) -> Option<Time> {
        let index = self.motions.get(body)?.island?;
        Some(self.islands.get(index)?.as_ref()?.end)
    }

    /// Returns true if a body is in a step of lasting contact that is not split at contact events, because a pair of its island
    /// touches too often.
    pub(crate) fn in_held_step(&self, body: usize) -> bool {
        let index = self.motions.get(body).and_then(|motion| motion.island);
        let island = index.and_then(|index| self.islands.get(index)?.as_ref());
        island.is_some_and(|island| {
            let mut pairs = island.pairs.iter();
            pairs.any(|pair| self.is_held(*pair, island.begin))
        })
    }

    /// Returns the magnitude of the velocity change (m/s) of a body's center by the impulses at the start of its step of lasting
    /// contact; 0 if the body is in free flight.
    pub(crate) fn kick_of_step(&self, body: usize) -> f64 {
        let kick = || {
            let island = self
                .islands
                .get(self.motions.get(body)?.island?)?
                .as_ref()?;
            let place = island.place(body)?;
            let (before, after) = (island.before.get(place)?, island.step.launched.get(place)?);
            Some((self.world.drift(body, after) - self.world.drift(body, before)).norm())
        };
        kick().unwrap_or_default()
    }
}

/// Computes a step of bodies in lasting contact that ends at its first event, or after `length` (s). Events are looked
/// for only if `events` is true. Returns the length of the step (s), the step, and true if a further point of a pair
/// closes at its end. `scene`: bodies and pairs of the step; `before`: states at the start; `guess`: initial impulses
/// at the start and at the end of the step (N s).
fn piece(
    scene: &StepScene<'_>,
    before: &[State],
    length: f64,
    events: bool,
    guess: Option<&Pressed>,
) -> Result<(f64, Step, bool), MotionError> {
    let mut found = (length, scene.step(before, length, guess)?, false);
    if !events {
        return Ok(found);
    }
    let stops = |step: &Step| step.slip_left;
    if let Some((at, step)) = first_event(scene, before, found.0, &found.1, None, &stops)? {
        found = (at, step, false);
    }
    // Further point of a pair that touches already. A point that is slightly too deep may stay so.
    let floors: Vec<f64> = scene.gaps(before).iter().map(|gap| gap.min(0.0)).collect();
    let depths = scene.pairs.iter().zip(&floors);
    let deepest = depths.map(|(pair, floor)| -floor / pair.tolerance);
    // The deeper the pairs are already, the less depth is added, so that many events in a step do not add up.
    let seen = SEEN * (1.0 - deepest.fold(0.0, f64::max)).max(SEEN);
    let lands = |step: &Step| {
        let pairs = step.pairs.iter().zip(&scene.pairs).zip(&floors);
        pairs
            .map(|((now, pair), floor)| (now.gap - floor) / pair.tolerance + seen)
            .fold(f64::INFINITY, f64::min)
    };
    if let Some((at, step)) = first_event(scene, before, found.0, &found.1, Some(seen), &lands)? {
        let lands = lands(&step) <= 0.0;
        found = (at, step, lands);
    }
    Ok(found)
}

/// Estimates the time (s), between `begin` and `end`, at which the normal force of a contact vanishes. A line through the last
/// two positive forces is extrapolated. `forces`: times (s) and normal forces (N) of the last three steps. The last
/// step has no normal force.
fn release_time(forces: &[(f64, f64); 3], begin: f64, end: f64) -> f64 {
    let [(t1, f1), (t2, f2), _] = *forces;
    if f1 > f2 && f2 > 0.0 && t2 > t1 {
        return (t2 + f2 * (t2 - t1) / (f1 - f2)).clamp(begin, end);
    }
    end
}

/// Finds the first length of a step (s) at which an event function falls to zero, and returns this length with the
/// step. `scene`: bodies and pairs of the step; `value`: the event function of a step, positive for short steps;
/// `whole`: the step of full `length` (s); `before`: states at the start. `None` if the value of the whole step is not
/// negative, or if the value of a very short step is not positive. The value found lies in [`-accuracy`, 0] where
/// possible. If the function jumps to negative values, the longest step found before the jump is returned.
///
/// For a closing contact, the function shows the contact point only in steps after which this point overlaps; in
/// shorter steps other points determine the value. In the longer steps the value falls almost linearly with the length.
/// The line through the last two negative values therefore leads to the zero.
fn first_event(
    scene: &StepScene<'_>,
    before: &[State],
    length: f64,
    whole: &Step,
    accuracy: Option<f64>,
    value: &dyn Fn(&Step) -> f64,
) -> Result<Option<(f64, Step)>, MotionError> {
    let end = value(whole);
    if !(end < 0.0) {
        return Ok(None);
    }
    let short = 1e-6 * length;
    let first = scene.step(before, short, None)?;
    let start = value(&first);
    if !(start > 0.0 && start.is_finite()) {
        return Ok(None);
    }
    let jump = accuracy.map_or(f64::INFINITY, |accuracy| JUMP * accuracy);
    let accuracy = accuracy.unwrap_or(1e-13 * start.abs().max(end.abs()));
    if end >= -accuracy {
        return Ok(Some((length, whole.clone())));
    }
    let (mut low, mut high) = ((short, start), (length, end));
    // The previous point with a negative value.
    let mut higher: Option<(f64, f64)> = None;
    let mut found: Option<Step> = None;
    let mut pressed = first.pressed.clone();
    let mut lower = first;
    for iteration in 0..MAX_ROOT {
        let narrow = if high.1 < -jump { 1e-9 } else { 1e-14 };
        if high.1 >= -accuracy || high.0 - low.0 <= narrow * length {
            break;
        }
        let line = |a: (f64, f64), b: (f64, f64)| (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
        let inside = |x: &f64| *x > low.0 && *x < high.0;
        let through = match (iteration % 4, higher) {
            (3, _) => None,
            (_, Some(higher)) => Some(line(high, higher)),
            (0, None) => Some(line(low, high)),
            _ => None,
        };
        // A little beyond the zero, so that both sides are bracketed.
        let through = through.map(|x| x + 0.5 * accuracy * (high.0 - x) / -high.1);
        let next = through.filter(inside).unwrap_or(0.5 * (low.0 + high.0));
        if !inside(&next) {
            break;
        }
        let step = scene.step(before, next, Some(&pressed))?;
        let now = value(&step);
        pressed.clone_from(&step.pressed);
        if now > 0.0 {
            (low, lower) = ((next, now), step);
        } else {
            higher = Some(high);
            high = (next, now);
            found = Some(step);
        }
    }
    if high.1 < -jump {
        // Longer steps find another solution for the impulses: the present solution exists up to here only.
        return Ok(Some((low.0, lower)));
    }
    Ok(found.map(|step| (high.0, step)))
}
