//! Second kick of a step: impulses at the end that stop the closed contacts from approaching.

use super::first::FirstKick;
use super::start::StepStart;
use super::{CLOSED, SETTLED, slip_of};
use crate::MotionError;
use crate::kick::{Friction, Kick};
use crate::rows::Rows;
use crate::step_scene::Points;
use carom_variational::State;
use carom_variational::load::{MOST_TURNS, Pull};

/// Impulses of the second kick, at the contacts that are closed at the end of the flight. Lists over rows have three entries per
/// closed contact.
pub(super) struct SecondKick {
    /// Index of each closed contact among the contacts of the start.
    pub(super) closed: Vec<usize>,
    pub(super) points: Points,
    /// Mobility matrix of the rows of the closed contacts (row-major).
    mobility: Vec<f64>,
    /// Velocities of these rows before and after the kick (m/s), and after the loads of the bodies without contact impulses.
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
    free: Vec<f64>,
    /// Loads of the bodies at the end, for those on which some act in kicks.
    pub(super) pulls: Vec<Option<Pull>>,
    /// Impulses on these rows (N s).
    pub(super) impulses: Vec<f64>,
    /// States of the bodies before the kick, after the loads without contact impulses, and after the kick.
    pub(super) landed: Vec<State>,
    loaded: Vec<State>,
    pub(super) end: Vec<State>,
}

impl StepStart<'_> {
    /// Finds the impulses of the second kick. `guess` is the initial guess of the impulses (N s) on the rows of all contacts of
    /// the start.
    pub(super) fn second_kick(
        &self,
        first: &FirstKick,
        guess: &[f64],
    ) -> Result<SecondKick, MotionError> {
        let scene = self.scene;
        let landed = first.launch.landed.clone();
        let mut kick = SecondKick {
            closed: Vec::new(),
            points: Points {
                rows: Rows::default(),
                points: Vec::new(),
            },
            mobility: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            free: Vec::new(),
            pulls: Vec::new(),
            impulses: Vec::new(),
            end: landed.clone(),
            loaded: landed.clone(),
            landed,
        };
        for (c, (index, point)) in first.launch.end.points.iter().enumerate() {
            let Some(pair) = scene.pairs.get(*index) else {
                continue;
            };
            let held = first.impulses.get(3 * c).is_some_and(|x| *x > 0.0);
            if held || point.gap <= CLOSED * pair.tolerance {
                kick.closed.push(c);
                let guess = guess.iter().skip(3 * c).take(3);
                kick.impulses.extend(guess.copied());
                scene.push(&mut kick.points, *index, *point, &kick.landed);
            }
        }
        let rows = &kick.points.rows;
        rows.mobility(&mut kick.mobility);
        rows.velocities(&scene.velocities(&kick.landed), &mut kick.before);
        let friction = kick.laws(|c| self.implicit.get(c).copied());
        self.press(&mut kick, &friction)?;
        let rows = &kick.points.rows;
        kick.end.clone_from(&kick.loaded);
        rows.apply(&kick.impulses, &mut kick.end);
        rows.velocities(&scene.velocities(&kick.end), &mut kick.after);
        Ok(kick)
    }

    /// Finds the impulses of the contacts and the loads of the bodies, each with the velocities that both leave, in turn.
    fn press(
        &self,
        kick: &mut SecondKick,
        friction: &[(f64, Friction)],
    ) -> Result<(), MotionError> {
        let mut last = f64::INFINITY;
        for _ in 0..MOST_TURNS {
            let change = self.load(kick)?;
            let rows = &kick.points.rows;
            rows.velocities(&self.scene.velocities(&kick.loaded), &mut kick.free);
            // The contacts have answered these loads.
            let is_rounding = change <= 4.0 * f64::EPSILON * self.scale;
            if is_rounding || (change >= last && change <= SETTLED * self.scale) {
                return Ok(());
            }
            last = change;
            let mut impulses = std::mem::take(&mut kick.impulses);
            if !self.end_problem(kick, friction).solve(&mut impulses) {
                return Err(self.failed());
            }
            kick.impulses = impulses;
            let alone = kick.closed.is_empty() && self.scene.springs.is_empty();
            if alone || self.pulls.iter().all(Option::is_none) {
                return Ok(());
            }
        }
        Err(self.failed())
    }

    /// Finds the loads of the bodies with the velocities after them and the present contact impulses. Returns the largest change
    /// of a velocity by which they differ from the loads before (m/s); infinite at first.
    fn load(&self, kick: &mut SecondKick) -> Result<f64, MotionError> {
        let (scene, half) = (self.scene, 0.5 * self.h);
        let mut pressed = kick.landed.clone();
        kick.points.rows.apply(&kick.impulses, &mut pressed);
        let pulls = scene.pulls_after([scene.time + self.h, half], &pressed, &kick.pulls)?;
        let bodies = scene.bodies.iter().zip(&pulls);
        let loaded = kick.landed.iter().zip(bodies);
        let loaded = loaded.map(|(state, (body, pull))| match pull {
            Some(pull) if body.is_mobile() => state.kicked(&(pull.total() * half)),
            _ => *state,
        });
        let loaded: Vec<State> = loaded.collect();
        let change = if kick.pulls.is_empty() {
            f64::INFINITY
        } else {
            let velocities = scene.velocities(&loaded).into_iter();
            let before = scene.velocities(&kick.loaded);
            let moved = velocities.zip(before).zip(&scene.bodies);
            moved
                .map(|((v, w), body)| {
                    (v.linear - w.linear).norm() + (v.angular - w.angular).norm() * body.radius
                })
                .fold(0.0, f64::max)
        };
        (kick.pulls, kick.loaded) = (pulls, loaded);
        Ok(change)
    }

    /// Returns the contact problem of the second kick, with the friction law of each closed contact.
    fn end_problem<'k>(
        &'k self,
        kick: &'k SecondKick,
        friction: &'k [(f64, Friction)],
    ) -> Kick<'k> {
        Kick {
            mobility: &kick.mobility,
            velocity: &kick.free,
            friction,
            noise: self.speed_noise,
            work: &self.scene.work,
        }
    }

    /// Returns the smallest slip along its initial direction that is left at the end to a contact that slid at the start (m/s).
    /// If friction stops such a contact, the slip is that which would remain if friction stayed that of sliding; it is negative
    /// if sliding friction would reverse the slip.
    pub(super) fn slip_left(&self, kick: &SecondKick) -> f64 {
        let slid = |c: usize| match self.sliding.get(c) {
            Some((_, Friction::Against(slip))) => Some(*slip),
            _ => None,
        };
        let pushed = kick.closed.iter().enumerate().filter_map(|(place, c)| {
            let is_pushed = kick.impulses.get(3 * place).is_some_and(|n| *n > 0.0);
            let slip = slid(*c).filter(|_| is_pushed)?;
            Some(slip.dot(&slip_of(&kick.after, place)))
        });
        let left = pushed.fold(f64::INFINITY, f64::min);
        if !(left <= self.still) {
            return left;
        }
        let against = kick.laws(|c| self.sliding.get(c).copied());
        let mut sliding = kick.impulses.clone();
        if !self.end_problem(kick, &against).solve(&mut sliding) {
            return left;
        }
        let (mut reversed, mut velocities) = (kick.loaded.clone(), Vec::new());
        let rows = &kick.points.rows;
        rows.apply(&sliding, &mut reversed);
        rows.velocities(&self.scene.velocities(&reversed), &mut velocities);
        let all = kick.closed.iter().enumerate();
        let all = all.filter_map(|(place, c)| Some(slid(*c)?.dot(&slip_of(&velocities, place))));
        all.fold(left, f64::min)
    }
}

impl SecondKick {
    /// Lists the friction of the closed contacts. `of` returns the coefficient and law of a contact of the start.
    fn laws(&self, of: impl Fn(usize) -> Option<(f64, Friction)>) -> Vec<(f64, Friction)> {
        let laws = self.closed.iter().map(|c| of(*c));
        laws.map(|law| law.unwrap_or((0.0, Friction::Frictionless)))
            .collect()
    }
}
