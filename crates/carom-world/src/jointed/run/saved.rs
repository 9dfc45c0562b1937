//! Runs of jointed bodies that are stored and read.

use super::super::contact::{Change, LimitContact};
use super::super::course::Paused;
use super::super::memory::Plastic;
use super::super::world::JointedWorld;
use super::{Pending, RunOf};
use crate::saved::is_sound;
use crate::stepping::is_at_line;
use carom_joints::step::{Modes, Remembered, Step, Stepper};
use carom_joints::{Multibody, Posture};

impl Paused {
    /// Returns the run as it is stored: with the memory of its integrator, and without its work space.
    pub(in super::super) fn saved(&self) -> (&Self, Remembered) {
        (self, self.run.stepper.remembered())
    }

    /// True if the run is at its line of the grid, or has ended.
    fn is_timely(&self, world: &JointedWorld) -> bool {
        let times = [self.run.time, self.time];
        let is_next = is_at_line(times, self.run.line, world.time_step);
        self.time.is_finite() && (self.ended.is_some() || is_next)
    }

    /// Completes a run that was read, by that which follows from its world. `None` if it is no run of this world.
    pub(in super::super) fn complete(
        (mut paused, remembered): (Self, Remembered),
        world: &JointedWorld,
        most_impacts: usize,
    ) -> Option<Self> {
        let mut stepper = Stepper::new(&world.multibody);
        if !(paused.run.fits(world) && paused.is_timely(world) && stepper.recall(remembered)) {
            return None;
        }
        paused.run.stepper = stepper.with(());
        Some(paused.with_most_impacts(most_impacts))
    }
}

fn posture_fits(posture: &Posture, mb: &Multibody) -> bool {
    let n = mb.n_coordinates();
    posture.states.len() == mb.n_bodies()
        && posture.states.iter().all(is_sound)
        && posture.q.len() == n
        && posture.rotors.len() == n
        && posture.q.iter().all(|q| q.is_finite())
}

fn step_fits(step: &Step, mb: &Multibody) -> bool {
    let n = mb.n_coordinates();
    posture_fits(&step.end, mb)
        && step.kicked.len() == mb.n_bodies()
        && step.loads.len() == mb.joints().len()
        && [step.holding.len(), step.rates.len()] == [n; 2]
}

fn modes_fit(modes: &Modes, n: usize) -> bool {
    let Modes {
        held,
        leaves,
        slides,
        implicit,
        slid,
        control,
        ..
    } = modes;
    let lengths = [held.len(), leaves.len(), slides.len(), implicit.len()];
    lengths == [n; 4]
        && [slid.len(), control.len()] == [n; 2]
        && held.iter().flatten().all(|q| q.is_finite())
        && control.iter().all(|force| force.is_finite())
}

impl RunOf<(), (), (), ()> {
    fn fits(&self, world: &JointedWorld) -> bool {
        let mb = &world.multibody;
        let n = mb.n_coordinates();
        let things = 1 + mb.n_bodies() + world.touch.n_planes();
        let is_pair = |pair: &usize| *pair < world.touch.pairs.len();
        let is_limit = |limit: &LimitContact| limit.coordinate < n;
        let loads_fit = self
            .last
            .as_ref()
            .is_none_or(|(loads, _)| loads.len() == mb.joints().len());
        posture_fits(&self.posture, mb)
            && modes_fit(&self.modes, n)
            && [self.rates.len(), self.holding.len()] == [n; 2]
            && self.rates.iter().all(|rate| rate.is_finite())
            && self.supports.len() == things
            && self.time.is_finite()
            && loads_fit
            && self.pressing.fits(world.touch.pairs.len())
            && self.lasting.keys().all(is_pair)
            && self.held_pairs.iter().all(is_pair)
            && self.bounces.keys().all(is_pair)
            && self.results.keys().all(is_pair)
            && self
                .contacts
                .iter()
                .all(|it| it.is_sound(|(a, b)| a.max(b) + 1 < things))
            && self.kept_limits.iter().all(|k| *k < n)
            && self.limit_bounces.keys().all(is_limit)
            && self.leaving.iter().all(is_limit)
            && self.plastic.keys().all(|key| match key {
                Plastic::Pair(pair) => is_pair(pair),
                Plastic::Limit(limit) | Plastic::Again(limit) => is_limit(limit),
            })
            && self
                .previewed
                .iter()
                .all(|(_, history)| history.fits(mb.n_rows()))
            && self.resting_fits(mb, world.touch.pairs.len())
            && self.pending.iter().all(|pending| pending.fits(world))
    }

    fn resting_fits(&self, mb: &Multibody, pairs: usize) -> bool {
        let (resting, n) = (&self.resting, mb.n_coordinates());
        resting
            .step
            .iter()
            .all(|step| step_fits(step, mb) && modes_fit(&resting.modes, n))
            && resting.pairs.iter().all(|(pair, _)| *pair < pairs)
            && resting.results.keys().all(|pair| *pair < pairs)
    }
}

impl Pending {
    fn fits(&self, world: &JointedWorld) -> bool {
        let mb = &world.multibody;
        let n = mb.n_coordinates();
        let change_fits = |(_, change): &(f64, Change)| match change {
            Change::Limit(limit) => limit.coordinate < n,
            Change::Touch(pair) => *pair < world.touch.pairs.len(),
            Change::Stop(k) | Change::Slip(k) => *k < n,
        };
        step_fits(&self.step, mb)
            && self.length > 0.0
            && self.length.is_finite()
            && self.end.is_finite()
            && self.events.iter().all(change_fits)
    }
}
