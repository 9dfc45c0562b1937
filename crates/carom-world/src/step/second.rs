//! Second kick of a step: impulses at the end that stop the closed contacts from approaching.

use super::first::FirstKick;
use super::start::StepStart;
use super::{CLOSED, slip_of};
use crate::MotionError;
use crate::kick::{Friction, Kick};
use crate::rows::Rows;
use crate::step_scene::Points;
use carom_variational::State;

/// Impulses of the second kick, at the contacts that are closed at the end of the flight. Lists over rows have three entries per
/// closed contact.
pub(super) struct SecondKick {
    /// Index of each closed contact among the contacts of the start.
    pub(super) closed: Vec<usize>,
    pub(super) points: Points,
    /// Mobility matrix of the rows of the closed contacts (row-major).
    mobility: Vec<f64>,
    /// Velocities of these rows before and after the kick (m/s).
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
    /// Impulses on these rows (N s).
    pub(super) impulses: Vec<f64>,
    /// States of the bodies before and after the kick.
    landed: Vec<State>,
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
            impulses: Vec::new(),
            end: landed.clone(),
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
        let mut impulses = std::mem::take(&mut kick.impulses);
        if !self.end_problem(&kick, &friction).solve(&mut impulses) {
            return Err(self.failed());
        }
        kick.impulses = impulses;
        rows.apply(&kick.impulses, &mut kick.end);
        rows.velocities(&scene.velocities(&kick.end), &mut kick.after);
        Ok(kick)
    }

    /// Returns the contact problem of the second kick, with the friction law of each closed contact.
    fn end_problem<'k>(
        &'k self,
        kick: &'k SecondKick,
        friction: &'k [(f64, Friction)],
    ) -> Kick<'k> {
        Kick {
            mobility: &kick.mobility,
            velocity: &kick.before,
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
        let (mut reversed, mut velocities) = (kick.landed.clone(), Vec::new());
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
