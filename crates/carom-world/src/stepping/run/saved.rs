//! Runs by time stepping that are stored and read.

use super::super::lasting::LastingContacts;
use super::super::options::StepCounts;
use super::super::step::Carry;
use super::{StepRun, StepRunOf};
use crate::course::Setting;
use crate::events::{Balance, WorldEvent};
use crate::force::ContactForce;
use crate::handover::Relay;
use crate::saved::is_sound;
use crate::spec::World;
use carom_lcp::contact_problem::Pattern;
use carom_variational::State;

/// Run by time stepping without that which follows from its world and its options.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct SavedSteps {
    states: Vec<State>,
    line: u64,
    time: f64,
    still: usize,
    lasting: LastingContacts,
    counts: StepCounts,
    n_impacts: usize,
    n_steps: usize,
    balance: Balance,
    lowest_gap: f64,
    energy_at_start: f64,
    events: Vec<WorldEvent>,
    contacts: Vec<ContactForce>,
    memory: (Carry, Vec<Option<Pattern>>),
}

impl StepRunOf<(), ()> {
    /// Returns the run as it is stored.
    pub(crate) fn saved(&self) -> SavedSteps {
        let Self {
            world: (),
            stepper,
            states,
            line,
            time,
            still,
            still_speed: _,
            lasting,
            counts,
            n_impacts,
            n_steps,
            balance,
            lowest_gap,
            energy_at_start,
            events,
            contacts,
        } = self;
        SavedSteps {
            states: states.clone(),
            line: *line,
            time: *time,
            still: *still,
            lasting: lasting.clone(),
            counts: *counts,
            n_impacts: *n_impacts,
            n_steps: *n_steps,
            balance: balance.clone(),
            lowest_gap: *lowest_gap,
            energy_at_start: *energy_at_start,
            events: events.clone(),
            contacts: contacts.clone(),
            memory: stepper.saved(),
        }
    }
}

/// True if a run that is at `now` (s), after the line of the grid with the index `line`, can be one up to `time` (s).
pub(crate) fn is_at_line([now, time]: [f64; 2], line: u64, step: f64) -> bool {
    let at = line as f64 * step;
    (now - at).abs() <= 2.0 * step && (time - now).abs() <= 2.0 * step
}

impl StepRunOf<(), ()> {
    /// True if the run is at its line of the grid, and `time` (s) at most one step later.
    pub(crate) fn is_at_line(&self, time: f64, step: f64) -> bool {
        is_at_line([self.time, time], self.line, step)
    }
}

impl SavedSteps {
    fn fits(&self, world: &World) -> bool {
        let (carry, lasting) = (&self.memory.0, &self.lasting);
        let mut all = carry.pairs().chain(lasting.pairs());
        self.states.len() == world.n_bodies()
            && self.states.iter().all(is_sound)
            && self.balance.supports.len() == world.n_things()
            && self.time.is_finite()
            && carry.pairs().is_sorted_by(|a, b| a < b)
            && lasting.pairs().is_sorted_by(|a, b| a < b)
            && all.all(|pair| world.has_pair(pair))
            && self
                .contacts
                .iter()
                .all(|it| it.is_sound(|pair| world.has_pair(pair)))
    }

    /// Completes a run that was read. `None` if it is no run of this world.
    pub(crate) fn complete(self, setting: &Setting<'_>) -> Option<StepRunOf<(), ()>> {
        let world = setting.world;
        let (stepping, executor) = setting.steps?;
        if !self.fits(world) {
            return None;
        }
        let (carry, patterns) = self.memory;
        let relay = Relay {
            time: self.time,
            states: self.states,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            balance: self.balance,
            lowest_gap: self.lowest_gap,
            lasting: Vec::new(),
            events: self.events,
        };
        let mut run = StepRun::new(world, relay, stepping, executor);
        run.stepper.recall(carry, patterns);
        run.line = self.line;
        run.still = self.still;
        run.lasting = self.lasting;
        run.counts = self.counts;
        run.energy_at_start = self.energy_at_start;
        run.contacts = self.contacts;
        Some(run.with((), ()))
    }
}
