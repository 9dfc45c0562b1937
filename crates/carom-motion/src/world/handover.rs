//! From events to steps: a motion whose events crowd goes on in time stepping.
//!
//! A motion from event to event ends if a law has no answer, if impacts follow on each other without time between
//! them, or if forces of lasting contact are not found. Steps begin with the states at that time and with the
//! balance so far, so that energy and momentum of the whole motion add up.

use crate::hybrid::{Ending, Limits, drive};
use crate::world::MotionError;
use crate::world::body::Body;
use crate::world::events::{Balance, Event, HandedOver, RunEnd};
use crate::world::pair::Other;
use crate::world::pair_table::Pair;
use crate::world::run::Run;
use crate::world::spec::{Laws, World};
use crate::world::stepping::{Executor, Stepping};
use carom_variational::State;

/// Overlap with which steps take a motion over, as a fraction of the smaller radius: turning leaves as much within a
/// step of time stepping.
const DEEPEST: f64 = 1e-3;

/// Step in units of $\sqrt{r/g}$, the time in which a body falls by half its radius, up to which time stepping goes on where
/// a step was too large: it would add energy in longer steps, too, by lifting bodies out of overlaps.
const RESOLVED: f64 = 0.2;

/// A motion on its way, as time stepping takes it over.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    pub(crate) time: f64,
    pub(crate) states: Vec<State>,
    /// Times that are asked for and have not come yet, the latest first.
    pub(crate) samples: Vec<f64>,
    pub(crate) n_impacts: usize,
    pub(crate) n_steps: usize,
    pub(crate) balance: Balance,
    pub(crate) lowest_gap: f64,
    /// Contacts that last, in ascending order, and true for those that slide.
    pub(crate) lasting: Vec<(Pair, bool)>,
}

impl World {
    /// Runs as [`run`](Self::run) does, and goes on as [`run_in_steps`](Self::run_in_steps) does where events crowd:
    /// where that run would be stopped by a law without an answer, by events without time between them, or by
    /// lasting contacts whose forces are not found or whose step is too large. A step that is too large for a body that
    /// rolls or slides on a bent surface stops the run: time stepping would change its energy by more. [`RunEnd::handed_over`]
    /// tells when and why. A run that is not stopped has the same bits as one by `run`.
    pub fn run_or_step<'o>(
        &self,
        laws: &Laws<'_>,
        limits: &Limits,
        samples: &[f64],
        (stepping, executor): (&Stepping, &dyn Executor),
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let (relay, reason) = {
            let mut run = Run::new(self, laws, limits, samples, &mut *observe);
            let ending = drive(&mut run, limits);
            let Some((relay, reason)) = run.relay(&ending) else {
                return run.finish(ending);
            };
            (relay, reason)
        };
        let time = relay.time;
        let mut end = self.step_from(relay, limits, stepping, executor, observe);
        end.handed_over = Some(HandedOver { time, reason });
        if let Some(counts) = &mut end.stepping {
            counts.handed_over = 1;
        }
        end
    }
}

impl Run<'_, '_> {
    /// True for errors that say that events crowd or have no answer, not that a body cannot be followed in such steps.
    fn crowds(&self, error: &MotionError) -> bool {
        match error {
            MotionError::Impact { .. }
            | MotionError::EventLimit { .. }
            | MotionError::ContactForces { .. } => true,
            MotionError::StepTooLarge { .. } => self.resolves_falls() && !self.rests_on_rounding(),
            _ => false,
        }
    }

    /// True if no body falls by much of its radius within a step.
    fn resolves_falls(&self) -> bool {
        let gravity = self.world.flights.gravity.norm();
        let mut mobile = self.world.bodies.iter().filter(|body| body.is_mobile());
        mobile.all(|body| self.world.time_step <= RESOLVED * (body.radius / gravity).sqrt())
    }

    /// True if the surface that bends of a body is in lasting contact, so that the touching point moves over it. Steps of time
    /// stepping open such a contact and close it again without restitution, which takes energy of the first order in the step
    /// where the motion keeps it. Corners do not move over their body, and a ball does not rise from a plane by turning.
    fn rests_on_rounding(&self) -> bool {
        let is_rounded = |body: &Body| {
            let mut parts = body.parts.iter();
            parts.any(|part| !part.has_corners() || part.margin() > 0.0)
        };
        self.lasting.all().any(|((i, j), _)| {
            let body = &self.world.bodies[i];
            match self.world.thing(j) {
                Other::Plane(_) => body.sphere.is_none() && is_rounded(body),
                Other::Body(second) => is_rounded(body) || is_rounded(second),
            }
        })
    }

    /// The motion at the present time, with all steps of lasting contact ended, and why steps take over. `None` if the
    /// run ended otherwise, if a body has no state there, or if bodies overlap deeply.
    fn relay(&mut self, ending: &Ending<MotionError>) -> Option<(Relay, MotionError)> {
        let reason = match ending {
            Ending::Stopped(reason) if self.crowds(reason) => reason.clone(),
            _ => return None,
        };
        let (world, time) = (self.world, self.now);
        for island in 0..self.islands.len() {
            self.leave_step(island, time).ok()?;
        }
        for body in 0..world.n_bodies() {
            self.bring(body, time).ok()?;
        }
        let states: Vec<State> = self.motions.iter().map(|motion| motion.state).collect();
        if world.overlaps(&states, DEEPEST) {
            return None;
        }
        let relay = Relay {
            time: time.high,
            states,
            samples: std::mem::take(&mut self.samples),
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            balance: self.balance.clone(),
            lowest_gap: self.lowest_gap,
            lasting: self.lasting.all().collect(),
        };
        Some((relay, reason))
    }
}
