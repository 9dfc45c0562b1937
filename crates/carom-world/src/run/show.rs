//! States and contact forces at a time between events: looking changes nothing.

use super::{AT_BEGIN, Run};
use crate::MotionError;
use crate::force::Shown;
use carom_numeric::time::Time;
use carom_variational::State;

impl Run<'_> {
    /// Returns the states of all bodies at `time`.
    pub(super) fn states_at(&self, time: Time) -> Result<Vec<State>, MotionError> {
        Ok(self.shown_at(time)?.0)
    }

    /// Returns the states of all bodies at `time`, and the forces of the contacts over the steps that end there.
    fn shown_at(&self, time: Time) -> Result<Shown, MotionError> {
        let mut forces = self.ended_forces.at(time.high).to_vec();
        let mut states: Vec<State> = self.motions.iter().map(|motion| motion.state).collect();
        for (body, state) in states.iter_mut().enumerate() {
            if self.motions[body].island.is_none() {
                *state = self.fly(body, time)?;
            }
        }
        for island in self.islands.iter().flatten() {
            let passed = time.since(island.begin);
            let has_begun = passed > AT_BEGIN * island.length.min(self.world.time_step);
            let all = if passed >= island.length || island.rests && has_begun {
                forces.extend(island.forces(&island.step));
                island.step.end.clone()
            } else if !has_begun {
                island.before.clone()
            } else {
                let step = self.cut(island, passed)?;
                forces.extend(island.forces(&step));
                step.end
            };
            for (body, state) in island.bodies.iter().zip(all) {
                states[*body] = state;
            }
        }
        forces.sort_by_key(|force| (force.first, force.second));
        Ok((states, forces))
    }

    pub(super) fn check_places(&self, states: &[State], time: f64) -> Result<(), MotionError> {
        let mut all = states.iter().enumerate();
        all.try_for_each(|(body, state)| self.world.check_place(body, state, time))
    }

    /// Returns the states of all bodies and the forces of contacts at `time` (s), which no event precedes. The run does not change.
    pub(crate) fn show(&self, time: f64) -> Result<Shown, MotionError> {
        let shown = self.shown_at(Time::new(time))?;
        self.check_places(&shown.0, time)?;
        Ok(shown)
    }
}
