//! Statics: bodies that stand still stay where they are if impulses inside the cones of friction balance their loads.
//!
//! Rest is declared by forces, never by a small velocity: the loads of a step are momenta, and the contacts stop them or not. Gaps
//! within the contact tolerance count as closed.

use super::start::StepStart;
use super::{Given, PairStep, Pressed, Step};
use crate::body::{Body, Velocity};
use crate::force::PointForce;
use crate::kick::{GOOD, Kick};
use crate::rest::{Loads, STANDS, stopped, take_up};
use crate::step_scene::StepPair;
use carom_variational::State;

impl StepStart<'_> {
    /// Returns a step in which all bodies stay where they are, without velocity; `None` if a body moves, or if statics does not
    /// allow rest.
    pub(super) fn at_rest(&self) -> Option<Step> {
        let scene = self.scene;
        let gained = scene
            .accelerations(self.states)
            .into_iter()
            .map(|a| a * self.h);
        let fall = gained.fold(0.0, f64::max);
        let stands = |(body, state): (&Body, &State)| {
            Velocity::of(body, state).speed(body.radius) <= STANDS * fall
        };
        if !scene.bodies.iter().copied().zip(self.states).all(stands) {
            return None;
        }
        let mut closed = Vec::new();
        for (c, (index, point)) in self.points.points.iter().enumerate() {
            let tolerance = scene.pairs.get(*index)?.tolerance;
            if point.gap < -tolerance {
                return None;
            }
            if point.gap <= tolerance {
                closed.push(c);
            }
        }
        let rows = self.points.rows.of_contacts(&closed);
        let friction: Option<Vec<_>> = { closed.iter() }
            .map(|c| self.implicit.get(*c).copied())
            .collect();
        let states: Vec<State> = self.states.iter().map(stopped).collect();
        let mut fallen = states.clone();
        let (mut masses, mut given) = (Vec::new(), Given::default());
        let loads = [scene.time, scene.time + self.h].map(|time| scene.pulls(time, &states));
        let [first, last] = loads.map(Result::ok);
        let loads = first?.into_iter().zip(last?);
        for ((body, state), loads) in scene.bodies.iter().zip(&mut fallen).zip(loads) {
            let mass = body.rigid.as_ref()?.mass();
            state.linear_momentum = scene.flights.pull(body) * (self.h * mass);
            masses.push(mass);
            if let (Some(first), Some(last)) = loads {
                let pull = first.mean(&last);
                *state = state.kicked(&(pull.total() * self.h));
                given.impulse += pull.total().fixed_rows::<3>(0) * self.h;
            }
        }
        let (mut mobility, mut velocity) = (Vec::new(), Vec::new());
        rows.mobility(&mut mobility);
        rows.velocities(&scene.velocities(&fallen), &mut velocity);
        let mut impulses = vec![0.0; velocity.len()];
        let kick = Kick {
            mobility: &mobility,
            velocity: &velocity,
            friction: &friction?,
            noise: 0.0,
            work: &scene.work,
        };
        if !kick.solve(&mut impulses) {
            return None;
        }
        rows.apply(&impulses, &mut fallen);
        let loads = Loads::new(masses.into_iter(), impulses.iter(), self.h);
        let mut left = scene.velocities(&fallen).into_iter().zip(&scene.bodies);
        let is_balanced = left
            .all(|(velocity, body)| velocity.speed(body.radius) <= GOOD * fall + loads.rounding());
        is_balanced.then(|| {
            let momenta = fallen.iter().map(|state| state.linear_momentum);
            let fixed = |(_, c): &(usize, &usize)| {
                let pair = self.points.points.get(**c).map(|(index, _)| *index);
                pair.and_then(|index| scene.pairs.get(index))
                    .is_some_and(|pair| pair.second.is_none())
            };
            let supports = closed.iter().enumerate().filter(fixed).map(|(k, _)| k);
            take_up(&momenta.sum(), &rows.frames, supports, &mut impulses);
            let step = self.resting(states, &closed, &impulses);
            // Friction takes what a surface that runs below bodies at rest gives.
            given.prescribed = rows.running_work(&impulses);
            Step {
                given,
                work: -given.prescribed,
                loss: given.prescribed,
                ..step
            }
        })
    }

    /// Returns the step of bodies that rest in the given states, with the `impulses` (N s) of the closed contacts over the step.
    fn resting(&self, states: Vec<State>, closed: &[usize], impulses: &[f64]) -> Step {
        let scene = self.scene;
        let mut all = vec![0.0; 3 * self.contacts()];
        for (c, impulse) in closed.iter().zip(impulses.chunks_exact(3)) {
            if let Some(to) = all.get_mut(3 * c..3 * c + 3) {
                to.copy_from_slice(impulse);
            }
        }
        let gaps = scene.gaps(&states);
        let pair = |(pair, gap): (&StepPair<'_>, f64)| PairStep {
            gap,
            slides: pair.friction == 0.0,
            ..PairStep::default()
        };
        let mut pairs: Vec<PairStep> = scene.pairs.iter().zip(gaps).map(pair).collect();
        let mut forces = Vec::with_capacity(closed.len());
        for (c, (index, point)) in self.points.points.iter().enumerate() {
            if let (Some(pair), Some(normal)) = (pairs.get_mut(*index), all.get(3 * c)) {
                let impulse = self.points.rows.impulse(c, &all);
                pair.pressed += normal;
                pair.pressed_first += 0.5 * normal;
                pair.impulse += impulse;
                if *normal > 0.0 {
                    forces.push(PointForce::new(*index, point.point, impulse / self.h));
                }
            }
        }
        let half: Vec<f64> = all.iter().map(|l| 0.5 * l).collect();
        Step {
            length: self.h,
            launched: states.clone(),
            rate: scene.rate(&self.points, &states, |c| {
                all.get(3 * c).map(|l| l / self.h)
            }),
            end: states,
            pairs,
            work: 0.0,
            loss: 0.0,
            given: Given::default(),
            slip_left: f64::INFINITY,
            rests: true,
            pressed: Pressed {
                marks: scene.marks(&self.points, self.states),
                impulses: [half.clone(), half],
                length: self.h,
            },
            forces,
        }
    }
}
