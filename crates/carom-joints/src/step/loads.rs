//! Drag and forces of bodies in the kicks of a step: explicit at its start, implicit in the velocities at its end.

use super::second::HOLDS;
use super::{Step, Stepper};
use crate::JointError;
use crate::multibody::Posture;
use carom_variational::load::{MOST_TURNS, Pull};
use carom_variational::{State, VariationalError};
use nalgebra::{Vector3, Vector6};

/// Loads of the bodies in the two kicks of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadRoom {
    /// Index of each body on which loads act in kicks, with its loads in the present kick.
    pulls: Vec<(usize, Pull)>,
    /// Change of the last turn, relative to the velocities, and number of turns.
    last: f64,
    turns: usize,
}

impl LoadRoom {
    /// True if no load acts in kicks.
    pub(super) fn is_empty(&self) -> bool {
        self.pulls.is_empty()
    }

    /// Begins the turns again, after a change of other forces.
    pub(super) fn again(&mut self) {
        (self.last, self.turns) = (f64::INFINITY, 0);
    }
}

impl Stepper<'_> {
    /// Adds the impulses of the loads at the start of a step, at `time` (s), to the momenta. `half`: half the length of the step (s).
    pub(super) fn load_start(
        &mut self,
        start: &Posture,
        time: f64,
        half: f64,
    ) -> Result<(), JointError> {
        self.loads.pulls.clear();
        for body in self.multibody.loaded() {
            let pull = self.multibody.pull(body, time, |loads, rigid| {
                loads.explicit(rigid, time, &start.states[body])
            })?;
            self.momenta[body] += pull.total() * half;
            self.loads.pulls.push((body, pull));
        }
        Ok(())
    }

    /// Adds the works of the present loads between two velocities of all bodies to the result. `half`: half the length of the step (s).
    pub(super) fn note_loads(
        &self,
        half: f64,
        [before, after]: [&[Vector6<f64>]; 2],
        step: &mut Step,
    ) {
        for (body, pull) in &self.loads.pulls {
            let [drag, applied] = pull.works(half, &before[*body], &after[*body]);
            step.works.drag += drag;
            step.works.applied += applied;
            step.given += pull.total().fixed_rows::<3>(0) * half;
        }
    }

    /// Finds the loads at the end of a step, at `time` (s), without impulses of joints and contacts.
    pub(super) fn load_end(
        &mut self,
        time: f64,
        half: f64,
        landed: &[State],
    ) -> Result<(), JointError> {
        let (mb, room) = (self.multibody, &mut self.loads);
        (room.last, room.turns) = (f64::INFINITY, 0);
        for (body, pull) in &mut room.pulls {
            *pull = mb.pull(*body, time, |loads, rigid| {
                loads.implicit(rigid, time, &landed[*body], half)
            })?;
        }
        Ok(())
    }

    /// Adds the impulses of the loads at the end of a step to the momenta.
    pub(super) fn push_loads(&mut self, half: f64) {
        for (body, pull) in &self.loads.pulls {
            self.momenta[*body] += pull.total() * half;
        }
    }

    /// Finds the loads that agree with the present impulses of joints and contacts, which left the velocities `after`. Returns true
    /// if these must answer again.
    pub(super) fn answer_loads(
        &mut self,
        time: f64,
        half: f64,
        step: &Step,
    ) -> Result<bool, JointError> {
        let (mb, room) = (self.multibody, &mut self.loads);
        let mut change = 0.0_f64;
        for (body, pull) in &mut room.pulls {
            let Some(rigid) = mb.rigid(*body) else {
                continue;
            };
            let velocity = &self.after[*body];
            let (v, w): (Vector3<f64>, Vector3<f64>) = (
                velocity.fixed_rows::<3>(0).into(),
                velocity.fixed_rows::<3>(3).into(),
            );
            let pressed = State {
                linear_momentum: v * rigid.mass(),
                angular_momentum: rigid.inertia() * w,
                ..step.end.states[*body]
            }
            .kicked(&(pull.total() * -half));
            let next = mb.pull(*body, time, |loads, rigid| {
                loads.implicit(rigid, time, &pressed, half)
            })?;
            let kick = |pull: &Vector6<f64>| {
                let spin = rigid.angular_velocity(&pull.fixed_rows::<3>(3).into());
                let speed = pull.fixed_rows::<3>(0).norm() / rigid.mass();
                half.abs() * (speed + mb.size() * spin.norm())
            };
            let moved = kick(&(next.total() - pull.total()));
            let most = v.norm() + mb.size() * w.norm() + kick(&next.total());
            if moved > 0.0 {
                change = change.max(moved / most);
            }
            *pull = next;
        }
        room.turns += 1;
        let agrees = change <= 2.0 * f64::EPSILON || (change >= room.last && change <= HOLDS);
        room.last = change;
        match room.pulls.first() {
            Some((body, _)) if !agrees && room.turns >= MOST_TURNS => Err(JointError::Force {
                body: mb.body_name(*body).to_owned(),
                time,
                source: VariationalError::ForceNotSettled { step: 2.0 * half },
            }),
            _ => Ok(!agrees),
        }
    }
}
