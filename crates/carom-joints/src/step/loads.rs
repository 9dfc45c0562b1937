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
            self.loads.pulls.push((body, pull));
        }
        let pulls = &mut self.loads.pulls;
        self.multibody
            .pull_springs(&start.states, None, time, pulls)?;
        self.push_loads(half);
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
            let works = pull.works(half, &before[*body], &after[*body]);
            step.works.drag += works.drag;
            step.works.applied += works.applied;
            step.works.damper += works.damped;
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
        mb.pull_springs(landed, Some(half), time, &mut room.pulls)
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
        let mut loaded = if mb.springs().is_empty() {
            Vec::new()
        } else {
            step.end.states.clone()
        };
        let mut next = Vec::with_capacity(room.pulls.len());
        for (body, pull) in &room.pulls {
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
            };
            let sprung = pressed.kicked(&(pull.loads() * -half));
            let new = mb.pull(*body, time, |loads, rigid| {
                loads.implicit(rigid, time, &sprung, half)
            })?;
            if let Some(state) = loaded.get_mut(*body) {
                *state = pressed.kicked(&((new.total() - pull.total()) * half));
            }
            next.push((*body, new));
        }
        mb.pull_springs(&loaded, Some(half), time, &mut next)?;
        let mut change = 0.0_f64;
        for ((body, pull), (_, next)) in room.pulls.iter_mut().zip(next) {
            let Some(rigid) = mb.rigid(*body) else {
                continue;
            };
            let velocity = &self.after[*body];
            let kick = |pull: &Vector6<f64>| {
                let spin = rigid.angular_velocity(&pull.fixed_rows::<3>(3).into());
                let speed = pull.fixed_rows::<3>(0).norm() / rigid.mass();
                half.abs() * (speed + mb.size() * spin.norm())
            };
            let moved = kick(&(next.total() - pull.total()));
            let speeds = [0, 3].map(|first| velocity.fixed_rows::<3>(first).norm());
            let most = speeds[0] + mb.size() * speeds[1] + kick(&next.total());
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
