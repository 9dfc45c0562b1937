//! Result of a step: work, loss and contact result of each pair.

use super::first::FirstKick;
use super::second::SecondKick;
use super::start::StepStart;
use super::{CLOSED, Given, PairStep, Pressed, Step, is_finite, slip_of};
use crate::MotionError;
use crate::body::Velocity;
use crate::force::PointForce;
use crate::kick::Friction;
use crate::losses::{self, Begin, Kicked};

impl StepStart<'_> {
    /// Combines the kicks of a step to its result.
    pub(super) fn result(&self, first: FirstKick, second: SecondKick) -> Result<Step, MotionError> {
        let start_kick = Kicked {
            impulses: &first.impulses,
            before: &self.before,
            after: &first.launch.begin_velocities,
        };
        let end_kick = Kicked {
            impulses: &second.impulses,
            before: &second.before,
            after: &second.after,
        };
        let work = start_kick.total() + end_kick.total();
        let begins = self.begins(&second);
        let loss = losses::loss(&begins, &start_kick, &end_kick, self.still);
        let slip_left = self.slip_left(&second);
        let pairs = self.pair_steps(&first, &second);
        if let Some(place) = second.end.iter().position(|s| !is_finite(s)) {
            let body = self.scene.bodies.get(place);
            return Err(MotionError::NonFinite {
                body: body.map(|b| b.name.clone()).unwrap_or_default(),
                time: self.scene.time,
            });
        }
        let force = |place: usize| {
            let c = second.closed.get(place)?;
            let pressed = first.impulses.get(3 * c)? + second.impulses.get(3 * place)?;
            Some(pressed / self.h)
        };
        let rate = self.scene.rate(&second.points, &second.end, force);
        let mut of_end = vec![0.0; 3 * self.contacts()];
        for (c, impulse) in second.closed.iter().zip(second.impulses.chunks_exact(3)) {
            if let Some(to) = of_end.get_mut(3 * c..3 * c + 3) {
                to.copy_from_slice(impulse);
            }
        }
        let given = self.given(&first, &second);
        let forces = self.forces(&first, &second);
        self.scene
            .check_springs([self.states, &second.end], self.h)?;
        Ok(Step {
            given,
            length: self.h,
            launched: first.launch.launched,
            end: second.end,
            pairs,
            work,
            loss,
            slip_left,
            rests: false,
            rate,
            pressed: Pressed {
                marks: self.scene.marks(&self.points, self.states),
                impulses: [first.impulses, of_end],
                length: self.h,
            },
            forces,
        })
    }

    /// Returns the mean forces of the points that carry, where the points are at the end.
    fn forces(&self, first: &FirstKick, second: &SecondKick) -> Vec<PointForce> {
        let mut forces = Vec::with_capacity(self.contacts());
        for (c, (pair, point)) in self.points.points.iter().enumerate() {
            let mut pressed = first.impulses.get(3 * c).copied().unwrap_or_default();
            let mut impulse = self.points.rows.impulse(c, &first.impulses);
            let mut place = point.point;
            if let Some(k) = second.closed.iter().position(|closed| *closed == c)
                && let Some((_, point)) = second.points.points.get(k)
            {
                pressed += second.impulses.get(3 * k).copied().unwrap_or_default();
                impulse += second.points.rows.impulse(k, &second.impulses);
                place = point.point;
            }
            if pressed > 0.0 {
                let force = impulse / self.h;
                forces.push(PointForce::new(*pair, place, force));
            }
        }
        forces
    }

    /// Returns the works and the impulse of the loads of all bodies.
    fn given(&self, first: &FirstKick, second: &SecondKick) -> Given {
        let (mut given, half) = (Given::default(), 0.5 * self.h);
        given.prescribed = self.points.rows.running_work(&first.impulses)
            + second.points.rows.running_work(&second.impulses);
        let kicks = [
            (&self.pulls, self.states, &first.launch.launched),
            (&second.pulls, &second.landed, &second.end),
        ];
        for (pulls, before, after) in kicks {
            let states = before.iter().zip(after);
            for ((body, pull), (before, after)) in self.scene.bodies.iter().zip(pulls).zip(states) {
                if let Some(pull) = pull {
                    let [before, after] = [before, after].map(|state| Velocity::of(body, state));
                    given.add(body, pull, half, [&before, &after]);
                }
            }
        }
        given
    }

    /// Describes each contact at the start of the step, as far as the losses depend on it.
    fn begins(&self, second: &SecondKick) -> Vec<Begin> {
        let scene = self.scene;
        let of = |c: usize| {
            let (index, point) = self.points.points.get(c)?;
            Some((scene.pairs.get(*index)?, point.gap))
        };
        let begin = |(c, (_, friction)): (usize, &(f64, Friction))| Begin {
            friction: *friction,
            closed: of(c).is_some_and(|(pair, gap)| gap <= CLOSED * pair.tolerance),
            gathered: of(c).map_or(0.0, |(pair, _)| scene.gathered(pair, self.states, self.h)),
            second: second.closed.iter().position(|place| *place == c),
        };
        self.sliding.iter().enumerate().map(begin).collect()
    }

    /// Returns the contact result of every pair.
    fn pair_steps(&self, first: &FirstKick, second: &SecondKick) -> Vec<PairStep> {
        let scene = self.scene;
        let open = PairStep {
            open: true,
            ..PairStep::default()
        };
        let mut pairs = vec![open; scene.pairs.len()];
        for (c, (index, _)) in self.points.points.iter().enumerate() {
            if let Some(pair) = pairs.get_mut(*index) {
                let normal = first.impulses.get(3 * c).copied().unwrap_or_default();
                pair.pressed += normal;
                pair.pressed_first += normal;
                pair.impulse += self.points.rows.impulse(c, &first.impulses);
            }
        }
        for (place, (index, _)) in second.points.points.iter().enumerate() {
            if let Some(pair) = pairs.get_mut(*index) {
                let normal = second.impulses.get(3 * place).copied().unwrap_or_default();
                let rate = second.after.get(3 * place);
                let leaves = rate.is_some_and(|rate| *rate > self.still);
                pair.pressed += normal;
                pair.open &= leaves;
                pair.slides |= !leaves && slip_of(&second.after, place).norm() > self.still;
                pair.impulse += second.points.rows.impulse(place, &second.impulses);
            }
        }
        let gaps = scene.gaps(&second.end);
        for ((pair, result), gap) in scene.pairs.iter().zip(&mut pairs).zip(gaps) {
            result.gap = gap;
            if pair.friction == 0.0 {
                result.slides = true;
            }
        }
        pairs
    }
}
