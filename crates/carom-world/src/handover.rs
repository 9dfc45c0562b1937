//! Switch from event-driven integration to time stepping, where events crowd.
//!
//! Event-driven integration ends if an impact law finds no solution, if impacts follow each other without time between them, or
//! if forces of lasting contacts are not found. Time stepping begins with the states at that time and with the balance so far, so
//! that energy and momentum of the whole run add up.

use crate::MotionError;
use crate::body::Body;
use crate::events::{Balance, WorldEvent};
use crate::pair::Other;
use crate::pair_table::Pair;
use crate::run::{Motion, Run};
use crate::scratch::Touching;
use crate::spec::{OnZeno, World};
use crate::stepping::Scheme;
use carom_numeric::time::Time;
use carom_variational::State;

/// Largest overlap with which time stepping takes over, as a fraction of the smaller radius: rotation leaves overlaps of this
/// size within a step of time stepping anyway.
const DEEPEST: f64 = 1e-3;

/// Largest time step for which time stepping continues where a step of lasting contact was too large, in units of $\sqrt{r/g}$,
/// the time in which a body of radius $r$ falls by half its radius. In longer steps time stepping would add energy as well, by
/// lifting bodies out of overlaps.
const RESOLVED: f64 = 0.2;

/// Largest number of impacts at several contacts that a body has within one time step before time stepping takes over. Their
/// order then depends on rounding, and each costs as much as a step of time stepping.
pub(crate) const MOST_IMPACTS: usize = 64;

/// Returns the reason for a switch that an error causes, as [`HandedOver::kind`](crate::HandedOver::kind) names it.
pub(crate) fn reason(error: &MotionError) -> &'static str {
    match error {
        MotionError::Crowded { .. } | MotionError::ContactWork { .. } => "work",
        MotionError::EventLimit { .. } => "no-time-between",
        MotionError::StepTooLarge { .. } => "step-too-large",
        _ => "no-answer",
    }
}

/// State of a run in progress, from which time stepping continues.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    pub(crate) time: f64,
    pub(crate) states: Vec<State>,
    pub(crate) n_impacts: usize,
    pub(crate) n_steps: usize,
    pub(crate) balance: Balance,
    pub(crate) lowest_gap: f64,
    /// Lasting contacts in ascending order, each with true if it slides.
    pub(crate) lasting: Vec<(Pair, bool)>,
    /// Events that are not reported yet.
    pub(crate) events: Vec<WorldEvent>,
}

impl Relay {
    /// Returns the state at the start of a run.
    pub(crate) fn of_start(world: &World) -> Self {
        Self {
            time: 0.0,
            states: world.initial_states().to_vec(),
            n_impacts: 0,
            n_steps: 0,
            balance: Balance::new(world),
            lowest_gap: f64::INFINITY,
            lasting: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl Run<'_> {
    /// Counts an impact at several contacts for each of its bodies. Fails if a body had too many since the latest grid
    /// time (multiple of the time step), so that time stepping takes over. Impacts are not counted if time stepping
    /// would be another motion: with a restitution of 1, if accumulation points do not count as rest, or while bodies
    /// overlap.
    pub(crate) fn count_crowding(
        &mut self,
        bodies: &[usize],
        touching: &Touching,
        time: Time,
    ) -> Result<(), MotionError> {
        let Some(limit) = self.crowd_limit else {
            return Ok(());
        };
        let world = self.world;
        let elastic = |pair: Pair| world.surface(pair.0, pair.1).restitution == 1.0;
        let mut pairs = touching.points.iter().map(|(pair, _)| *pair);
        if touching.points.len() < 2 || self.laws.on_zeno != OnZeno::Rest || pairs.any(elastic) {
            return Ok(());
        }
        let line = self.line(time);
        let mut crowded = None;
        for &body in bodies {
            let (last, count) = &mut self.motions[body].crowding;
            *count = if *last == line { *count + 1 } else { 1 };
            *last = line;
            if *count > limit {
                crowded = Some(body);
            }
        }
        let Some(body) = crowded else {
            return Ok(());
        };
        let states: Result<Vec<State>, MotionError> = (0..world.n_bodies())
            .map(|body| self.state_at(body, time))
            .collect();
        if world.overlaps(&states?, DEEPEST) {
            return Ok(());
        }
        Err(MotionError::Crowded {
            body: world.bodies[body].name.clone(),
            limit,
            time: time.high,
        })
    }

    /// Returns true if a run that ended with this error can continue with time stepping. This holds for too many events, for
    /// impacts and contact forces without a solution, and for some steps of lasting contact that are too large.
    fn crowds(&self, error: &MotionError) -> bool {
        match error {
            MotionError::Impact { .. }
            | MotionError::EventLimit { .. }
            | MotionError::Crowded { .. }
            | MotionError::ContactForces { .. }
            | MotionError::ContactWork { .. } => true,
            MotionError::StepTooLarge { .. } => {
                let is_heap = self.world.suitable_scheme() == Scheme::TimeStepping;
                self.resolves_falls() && (is_heap || !self.rests_on_rounding())
            }
            _ => false,
        }
    }

    /// Returns true if the time step is so short that gravity moves no body by much of its radius within a step.
    fn resolves_falls(&self) -> bool {
        let gravity = self.world.flights.gravity.norm();
        let mut mobile = self.world.bodies.iter().filter(|body| body.is_mobile());
        mobile.all(|body| self.world.time_step <= RESOLVED * (body.radius / gravity).sqrt())
    }

    /// Returns true if a curved surface of a body is in lasting contact, so that the contact point moves over the body. Time
    /// stepping opens and closes such a contact without restitution. This loses energy of first order in the step, while the
    /// exact motion conserves energy. Contacts at corners do not count, nor does a ball on a plane.
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

    /// Returns the state from which time stepping continues after
    /// event-driven integration. All steps of lasting contact are ended at the present time first. `reason`: error with
    /// which event-driven integration ended. Returns `None` if it is no reason for a switch, if the state of a body cannot be
    /// computed, or if bodies overlap deeply.
    pub(crate) fn relay(&mut self, reason: &MotionError) -> Option<Relay> {
        if !self.crowds(reason) {
            return None;
        }
        let (world, time) = (self.world, self.now);
        for island in 0..self.islands.len() {
            self.stop_step(island, time).ok()?;
        }
        for body in 0..world.n_bodies() {
            self.bring(body, time).ok()?;
        }
        let bodies = self.motions.iter().zip(&world.bodies);
        let state = |(motion, body): (&Motion, &Body)| body.told(time.high).unwrap_or(motion.state);
        let states: Vec<State> = bodies.map(state).collect();
        if world.overlaps(&states, DEEPEST) {
            return None;
        }
        Some(Relay {
            time: time.high,
            states,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            balance: self.balance.clone(),
            lowest_gap: self.lowest_gap,
            lasting: self.lasting.all().collect(),
            events: std::mem::take(&mut self.events),
        })
    }
}
