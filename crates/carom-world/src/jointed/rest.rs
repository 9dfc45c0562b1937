//! Rest: steps of articulations that stand still are repeated instead of solved again.
//!
//! They stay at rest as long as nothing that acts from outside changes: modes of the coordinates, forces of actuators, forces of
//! the caller, lasting contacts. Only bodies in lasting contact rest: one that hangs or balances is stepped on.

use super::memory::Resting;
use super::run::{INSTANT, Run};
use crate::rest::{self, Loads};
use crate::stepping::STILL_STEPS;
use carom_joints::step::Step;

impl Run<'_> {
    /// Returns a stored step of `length` (s) that the run can repeat instead of solving a new one. This is possible if the bodies
    /// connected by joints are at rest and nothing has changed since the last step; `None` otherwise.
    pub(super) fn repeated(&self, length: f64) -> Option<Step> {
        let resting = &self.resting;
        let step = resting.step.as_ref()?;
        let same = (length - resting.length).abs() <= INSTANT
            && self.modes == resting.modes
            && self.posture == step.end
            && self.pressing.pairs() == resting.pairs
            && self.drives(length).eq(resting.drives.iter().copied());
        same.then(|| step.clone())
    }

    /// Brings the articulations to rest at the start of a step of `length` (s), which is accepted next, if it leaves them there:
    /// the step then ends in the posture in which it begins, and is stored for repetition.
    pub(super) fn note_rest(&mut self, step: &mut Step, length: f64) {
        self.resting = Resting::default();
        if self.pressing.is_empty() || !self.pressing.rests() || !self.stands_still(step, length) {
            return;
        }
        step.end.clone_from(&self.posture);
        let states = step.end.states.iter_mut();
        states.for_each(|state| *state = rest::stopped(state));
        step.end.rotors.iter_mut().for_each(|rotor| rotor[1] = 0.0);
        step.rates.fill(0.0);
        self.resting = Resting {
            step: Some(step.clone()),
            length,
            modes: self.modes.clone(),
            pairs: self.pressing.pairs().to_vec(),
            drives: self.drives(length).collect(),
            results: self.results.clone(),
        };
    }

    /// True if the bodies are at rest and nothing that acts from outside will change: the forces of the actuators are constant.
    pub(super) fn rests_for_ever(&self) -> bool {
        let last = self.world.corners.last();
        let is_constant = |[begin, end]: [f64; 2]| begin == end;
        let rests = if self.leaps {
            self.still >= STILL_STEPS && self.drives(self.world.time_step).all(is_constant)
        } else {
            self.resting.step.is_some() && self.resting.drives.iter().copied().all(is_constant)
        };
        rests
            && self.world.multibody.loaded().next().is_none()
            && last.is_none_or(|last| *last < self.time)
    }

    /// Returns the forces of all actuators, and those on bodies, at the start and at the end of a step of `length` (s), for the
    /// current coordinates at rest (N or N m).
    fn drives(&self, length: f64) -> impl Iterator<Item = [f64; 2]> {
        let (begin, end) = (self.time, self.time + length);
        let coordinates = self.world.multibody.coordinates().zip(&self.posture.q);
        coordinates
            .filter_map(move |(c, q)| {
                let actuator = c.actuator.as_ref()?;
                let force = |time: f64, before: bool| actuator.force(*q, 0.0, time, before);
                Some([force(begin, false), force(end, true)])
            })
            .chain(self.loads_at([begin, end]))
    }

    /// Returns the forces and couples that act in kicks on bodies, at two times (s), for the current places at rest.
    fn loads_at(&self, times: [f64; 2]) -> impl Iterator<Item = [f64; 2]> {
        let mb = self.world.multibody();
        mb.loaded().flat_map(move |body| {
            let still = rest::stopped(&self.posture.states[body]);
            let at = times.map(|time| {
                let pull = mb.loads(body)?.explicit(mb.rigid(body)?, time, &still);
                pull.ok().map(|pull| pull.total())
            });
            (0..6).map(move |k| at.map(|pull| pull.map_or(f64::NAN, |pull| pull[k])))
        })
    }

    /// True if the step of `length` (s) leaves all bodies and coordinates where they are.
    fn stands_still(&self, step: &Step, length: f64) -> bool {
        let mb = self.world.multibody();
        let masses = (0..mb.n_bodies()).filter_map(|body| Some(mb.rigid(body)?.mass()));
        let loads = Loads::new(masses, step.touching.iter().flatten(), length);
        let mut pairs = self.posture.states.iter().zip(&step.end.states).enumerate();
        let leaves = self.modes.leaves.iter().any(|leaves| *leaves);
        let stays = |(body, (before, after))| {
            let rigid = mb.rigid(body);
            rigid.is_none_or(|it| loads.keep(it, [before, after], mb.size()))
        };
        !leaves && pairs.all(stays)
    }
}
