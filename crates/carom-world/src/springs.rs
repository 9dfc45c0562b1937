//! Springs between points of bodies: their checks, their tensions in the kicks of a step, their energy.

use crate::spec::World;
use crate::{MotionError, limits};
use carom_variational::load::Pull;
use carom_variational::spring::{self, Carrier, Spring, Tension};
use carom_variational::{State, VariationalError};

/// Names the spring in an error.
pub(crate) fn failed(time: f64) -> impl Fn(VariationalError) -> MotionError {
    move |source| MotionError::Spring { time, source }
}

/// Adds the tensions of springs to the loads of the bodies at their ends.
pub(crate) fn add(tensions: &[Tension], mut to: impl FnMut(usize, Pull)) {
    for tension in tensions {
        for (end, body) in tension.between.iter().enumerate() {
            if let Some(body) = body {
                to(*body, tension.pull(end));
            }
        }
    }
}

impl World {
    /// Prepares the springs of a specification for a world whose bodies are at their start: ends at bodies that never move become
    /// points of space, and slack lengths that are left out the present distances. Their bodies move in steps from then on.
    pub(crate) fn take_springs(&mut self, given: &[Spring]) -> Result<(), MotionError> {
        for spring in given {
            limits::check_spring(spring, self.bodies.len(), |body| self.is_mobile(body))?;
            let mut spring = spring.clone();
            for (end, point) in spring.between.iter_mut().zip(&mut spring.points) {
                let Some(body) = *end else { continue };
                if self.is_mobile(body) || self.is_prescribed(body) {
                    continue;
                }
                let state = self.initial_of(body);
                *point = state.position + state.rotation.rotate(point);
                *end = None;
            }
            let distance = spring.distance(|body| self.initial.get(body));
            spring.length = spring.length.or(Some(distance));
            let at = |body: usize| self.initial.get(body);
            spring.check_way([&at, &at], 0.0).map_err(failed(0.0))?;
            for body in spring.between.into_iter().flatten() {
                if let Some(body) = self.bodies.get_mut(body) {
                    body.kicks |= body.is_mobile();
                }
            }
            self.springs.push(spring);
        }
        let carrier = |body: usize| self.carrier(body, &self.initial);
        spring::check_step(&self.springs, carrier, self.time_step).map_err(failed(0.0))
    }

    /// Returns a body with its state among those of all bodies.
    pub(crate) fn carrier<'s>(&'s self, body: usize, states: &'s [State]) -> Option<Carrier<'s>> {
        let about = self.bodies.get(body)?;
        Some(Carrier::new(about.rigid.as_ref(), states.get(body)?))
    }

    /// Returns the springs of the world.
    pub fn springs(&self) -> &[Spring] {
        &self.springs
    }

    /// Returns the tension of each spring in given states of all bodies (N), positive if it draws its ends together.
    pub fn tensions(&self, states: &[State]) -> Vec<f64> {
        let all = spring::explicit(&self.springs, |body| self.carrier(body, states));
        all.iter().map(Tension::total).collect()
    }

    /// Returns the energy of all springs in given states of all bodies (J).
    pub fn spring_energy(&self, states: &[State]) -> f64 {
        let energy = |spring: &Spring| spring.energy(|body| states.get(body));
        self.springs.iter().map(energy).sum()
    }

    /// True if a spring is attached to the body with the given index.
    pub fn has_springs(&self, body: usize) -> bool {
        let mut all = self.springs.iter();
        all.any(|spring| spring.between.contains(&Some(body)))
    }

    /// Returns the mobile bodies at the other ends of the springs of a body.
    pub(crate) fn sprung(&self, body: usize) -> impl Iterator<Item = usize> {
        let ends = move |spring: &Spring| match spring.between {
            [Some(i), Some(j)] if i == body => Some(j),
            [Some(i), Some(j)] if j == body => Some(i),
            _ => None,
        };
        let others = self.springs.iter().filter_map(ends);
        others.filter(|other| self.is_mobile(*other))
    }

    /// Returns the springs at a group of bodies in ascending order.
    pub(crate) fn springs_of<'s>(
        &'s self,
        bodies: &'s [usize],
    ) -> impl Iterator<Item = &'s Spring> {
        let touches = |spring: &&Spring| {
            let mut ends = spring.between.iter().flatten();
            ends.any(|body| bodies.binary_search(body).is_ok())
        };
        self.springs.iter().filter(touches)
    }
}

impl World {
    /// Adds the tensions of the springs to the loads `pulls` of bodies in their kick of `length` (s) at the middle of a step. They belong
    /// to the mean of the velocities before and after the kick; `states`: all bodies before it, with half of what else acts.
    pub(crate) fn pull_springs(
        &self,
        [time, length]: [f64; 2],
        states: &[State],
        pulls: &mut Vec<(usize, Pull)>,
    ) -> Result<(), MotionError> {
        if self.springs.is_empty() {
            return Ok(());
        }
        let carrier = |body: usize| self.carrier(body, states);
        let tensions = spring::implicit(&self.springs, carrier, 0.5 * length);
        let tensions = tensions.map_err(failed(time))?;
        spring::check_step(&self.springs, carrier, length).map_err(failed(time))?;
        add(&tensions, |body, pull| {
            match pulls.iter_mut().find(|(of, _)| *of == body) {
                Some((_, to)) => *to += pull,
                None => pulls.push((body, pull)),
            }
        });
        Ok(())
    }

    /// Checks that no points of a spring meet on the way from some states of all bodies to others, up to `time` (s).
    pub(crate) fn check_way(
        &self,
        [from, to]: [&[State]; 2],
        time: f64,
    ) -> Result<(), MotionError> {
        let mut all = self.springs.iter();
        all.try_for_each(|spring| {
            let at = [from, to].map(|states| move |body: usize| states.get(body));
            let way = spring.check_way([&at[0], &at[1]], time);
            way.map_err(failed(time))
        })
    }
}
