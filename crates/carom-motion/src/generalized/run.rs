//! Hybrid run: flights on a uniform time grid, with events between them.

use super::carried::{Carried, ForceParameter};
use super::clock::Clock;
use super::event::{Balance, Event, Grid, Reaction, State};
use super::hits::HitHistory;
use super::projection::Projection;
use super::{IntegratorError, IntegratorOptions};
use crate::hybrid::{Ending, Hybrid, Limits, drive};
use crate::tolerances::DEPENDENT_ROW;
use carom_contact::ImpactLaw;
use carom_contact::internal::GRAZING_TOLERANCE;
use carom_derivative::DifferentiableLaw;
use carom_derivative::sensitivity::Sensitivity;
use carom_mechanism::MechanicalSystem;
use carom_metric::{Covector, Tangent, kernel};
use carom_variational::TimeGrid;
use carom_variational::generalized::{Bond, Point, Rows, StepFailure, Stepper};
use nalgebra::DVector;

/// Fraction of the momentum below which the gap rate of a closed contact counts as rounding error.
/// It is coarser than the rounding threshold of a single impact law, because a run accumulates rounding errors.
const ROUNDING: f64 = 1e-12;

/// Part of a velocity, in the kinetic norm, that velocity constraints do not admit and that is projected away at the start; a larger
/// part is an error. Constraints that were left out as dependent may be violated by so much.
const ADMITTED: f64 = 1e-6;

/// Result of a run of a [`CollisionIntegrator`]: last state, reason of the end, counts and energy balance.
#[must_use = "the reason for the end may be an error"]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct RunEnd {
    /// Reason for the end of the run.
    pub ending: Ending<IntegratorError>,
    /// State at the end; for a run that stopped with an error, the last state that could be computed.
    pub state: State,
    /// Number of completed steps of the time grid.
    pub n_steps: usize,
    /// Number of impacts of the run.
    pub n_impacts: usize,
    /// Energy balance of the whole run.
    pub balance: Balance,
}

/// Integrator of the motion of a mechanical system with contacts: variational time steps in generalized coordinates, with
/// every impact located in time (variational collision integrator).
///
/// # Examples
///
/// An elastic block, dropped at an angle:
///
/// ```
/// use carom_impact::Propagative;
/// use carom_mechanism::systems::Block;
/// use carom_variational::TimeGrid;
/// use carom_motion::generalized::{CollisionIntegrator, Trajectory};
///
/// let block = Block::new(0.5, 0.5, 1.0, [0.0, -9.81])?.with_lower_corners();
/// let law = Propagative::default();
/// let integrator = CollisionIntegrator::new(&block, &law)?;
/// let start = integrator.state(0.0, &[0.0, 1.2, 0.1], &[0.0; 3])?;
/// let run = Trajectory::record(&integrator, &start, &TimeGrid::duration(0.01, 2.0)?, None)?;
/// let times: Vec<f64> = run.impacts().map(|impact| impact.time).collect();
/// assert_eq!(times.len(), 5);
/// assert!((times[0] - 0.364752079246287).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CollisionIntegrator<'a, S: ?Sized> {
    system: &'a S,
    law: &'a dyn ImpactLaw,
    differentiable: Option<&'a dyn DifferentiableLaw>,
    options: IntegratorOptions,
}

impl<'a, S: MechanicalSystem + ?Sized> CollisionIntegrator<'a, S> {
    /// Creates an integrator of the motion of a mechanical system whose impacts follow the impact law `law`.
    ///
    /// # Errors
    ///
    /// [`IntegratorError::InvalidFriction`]; [`IntegratorError::InvalidOption`] for a system without
    /// coordinates.
    pub fn new(system: &'a S, law: &'a dyn ImpactLaw) -> Result<Self, IntegratorError> {
        if system.dimension() == 0 {
            return Err(IntegratorError::InvalidOption {
                what: "dimension",
                value: 0.0,
                allowed: "at least 1",
            });
        }
        for (contact, data) in system.contacts().iter().enumerate() {
            let friction = data.friction;
            let good = friction >= 0.0 && friction.is_finite();
            if !good || (friction > 0.0 && !data.has_slide) {
                return Err(IntegratorError::InvalidFriction { contact, friction });
            }
        }
        Ok(Self {
            system,
            law,
            differentiable: None,
            options: IntegratorOptions::default(),
        })
    }

    /// Creates an integrator of a mechanical system with an impact law whose derivative is known. It can compute derivatives
    /// of the final state: [`run_with_sensitivity`](Self::run_with_sensitivity).
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn differentiable(
        system: &'a S,
        law: &'a dyn DifferentiableLaw,
    ) -> Result<Self, IntegratorError> {
        Ok(Self {
            differentiable: Some(law),
            ..Self::new(system, law)?
        })
    }

    /// Replaces the numeric options of this integrator, such as its tolerances.
    ///
    /// # Errors
    ///
    /// [`IntegratorError::InvalidOption`].
    pub fn with_options(mut self, options: IntegratorOptions) -> Result<Self, IntegratorError> {
        options.check()?;
        self.options = options;
        Ok(self)
    }

    /// Returns the mechanical system that this integrator moves.
    pub fn system(&self) -> &'a S {
        self.system
    }

    /// Creates a state of the system from a time (s), a configuration and a velocity (one entry per coordinate each).
    ///
    /// # Errors
    ///
    /// [`IntegratorError::DimensionMismatch`], [`IntegratorError::NonFinite`].
    pub fn state(
        &self,
        time: f64,
        configuration: &[f64],
        velocity: &[f64],
    ) -> Result<State, IntegratorError> {
        self.check("configuration", configuration)?;
        self.check("velocity", velocity)?;
        let n = self.system.dimension();
        let mut mass = nalgebra::DMatrix::zeros(n, n);
        self.system.mass_matrix(configuration, &mut mass);
        Ok(State {
            time,
            configuration: DVector::from_column_slice(configuration),
            momentum: Covector(mass * DVector::from_column_slice(velocity)),
        })
    }

    /// Returns the generalized velocity $M^{-1}p$ of the system in a state, one entry per coordinate: mass matrix $M$,
    /// momentum $p$.
    ///
    /// # Errors
    ///
    /// The errors of [`state`](Self::state), and [`IntegratorError::MassNotPositiveDefinite`].
    pub fn velocity(&self, state: &State) -> Result<Tangent, IntegratorError> {
        let mut stepper = Stepper::new(self.system, self.options.gap_floor());
        let point = self.point(&mut stepper, state)?;
        Ok(Tangent::from_slice(&point.velocity))
    }

    /// Returns the number of the system's velocity constraints that are independent of each other in a state.
    ///
    /// # Errors
    ///
    /// The errors of [`velocity`](Self::velocity).
    pub fn constraint_rank(&self, state: &State) -> Result<usize, IntegratorError> {
        let mut stepper = Stepper::new(self.system, self.options.gap_floor());
        let point = self.point(&mut stepper, state)?;
        stepper.keep_independent(&point, DEPENDENT_ROW);
        Ok(stepper.kept_constraints().len())
    }

    /// Returns the kinetic and the potential energy of the system in a state, in this order (J).
    ///
    /// # Errors
    ///
    /// The errors of [`velocity`](Self::velocity).
    pub fn energies(&self, state: &State) -> Result<(f64, f64), IntegratorError> {
        let mut stepper = Stepper::new(self.system, self.options.gap_floor());
        let point = self.point(&mut stepper, state)?;
        Ok(stepper.energy(&point))
    }

    fn check(&self, what: &'static str, entries: &[f64]) -> Result<(), IntegratorError> {
        let (expected, found) = (self.system.dimension(), entries.len());
        if found != expected {
            return Err(IntegratorError::DimensionMismatch {
                what,
                expected,
                found,
            });
        }
        if kernel::is_finite(entries) {
            Ok(())
        } else {
            Err(IntegratorError::NonFinite { what })
        }
    }

    fn point(&self, stepper: &mut Stepper<'_, S>, state: &State) -> Result<Point, IntegratorError> {
        let time = state.time;
        self.check("configuration", state.configuration.as_slice())?;
        self.check("momentum", state.momentum.0.as_slice())?;
        if !time.is_finite() {
            return Err(IntegratorError::NonFinite { what: "time" });
        }
        let mut point = Point::new(self.system.dimension(), self.system.contacts().len());
        point.time = time;
        point
            .configuration
            .copy_from_slice(state.configuration.as_slice());
        point.momentum.copy_from_slice(state.momentum.0.as_slice());
        stepper
            .set_velocity(&mut point)
            .map_err(|failure| match failure {
                StepFailure::MassNotPositiveDefinite => {
                    IntegratorError::MassNotPositiveDefinite { time }
                }
                _ => IntegratorError::NonFinite {
                    what: "mass matrix",
                },
            })?;
        stepper
            .set_gaps(&mut point)
            .map_err(|_| IntegratorError::NonFinite { what: "gap" })?;
        Ok(point)
    }

    /// Computes the motion of the system from an initial state over a time grid, which begins at the time of this state, or
    /// until `max_impacts` impacts have happened (`None`: no limit). Reports the grid points (from the start on) and all
    /// events to `observe`, in order of time. An error during the run ends the run, and is returned as the [`Ending`]. All
    /// events before the error have been reported.
    ///
    /// # Errors
    ///
    /// Errors of the initial state only: those of [`velocity`](Self::velocity),
    /// [`IntegratorError::InitialPenetration`] and [`IntegratorError::NotAssembled`]. A velocity that violates the velocity
    /// constraints by less is projected.
    pub fn run(
        &self,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<RunEnd, IntegratorError> {
        let (end, _) = self.execute(initial, grid, max_impacts, None, observe)?;
        Ok(end)
    }

    /// Computes the motion like [`run`](Self::run), with bitwise equal results, and also the derivative of the final state
    /// $(q, v)$, configuration and velocity, at its fixed time: with respect to the initial state (2n × 2n, n coordinates),
    /// the restitution of all impacts, and the given `parameters` of the forces.
    ///
    /// The derivative does not exist, and [`reason`](Sensitivity::reason) names the cause, if an impact grazes, has a kink or a
    /// discontinuity in its law, if several contacts hit together (`"simultaneous-contacts"`), if impacts accumulate (`"zeno"`),
    /// or if contacts last (`"established-contact"`), or if the system has velocity constraints (`"velocity-constraints"`). It is not available if the law or the system does not provide the
    /// derivatives (`"not-differentiated"`: an integrator made with [`new`](Self::new), contacts without
    /// [`contact_hessians`](MechanicalSystem::contact_hessians)).
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn run_with_sensitivity(
        &self,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        parameters: &[ForceParameter<'_>],
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<(RunEnd, Sensitivity), IntegratorError> {
        let reason = match self.system.constraints() {
            [] => "not-differentiated",
            _ => "velocity-constraints",
        };
        let law = self
            .differentiable
            .filter(|_| reason == "not-differentiated");
        let Some(law) = law else {
            let end = self.run(initial, grid, max_impacts, observe)?;
            let mut sensitivity = Sensitivity::default();
            sensitivity.refuse(reason);
            return Ok((end, sensitivity));
        };
        let wanted = Some((law, parameters));
        let (end, sensitivity) = self.execute(initial, grid, max_impacts, wanted, observe)?;
        Ok((end, sensitivity.unwrap_or_default()))
    }

    /// Chooses the independent part of the velocity constraints at the start, and projects the velocity there onto what they admit.
    /// Returns the projected state.
    fn admitted(
        &self,
        stepper: &mut Stepper<'_, S>,
        start: &mut Point,
        initial: &State,
    ) -> Result<State, IntegratorError> {
        let mut state = initial.clone();
        if self.system.constraints().is_empty() {
            return Ok(state);
        }
        let time = start.time;
        stepper.keep_independent(start, DEPENDENT_ROW);
        let size = start.kinetic_norm();
        for (constraint, name) in self.system.constraints().iter().enumerate() {
            let violation = start.violation(self.system, constraint) / size;
            if violation > ADMITTED {
                let constraint = name.clone();
                return Err(IntegratorError::NotAssembled {
                    constraint,
                    violation,
                });
            }
        }
        let failed = |_| IntegratorError::StepNotSolved {
            time,
            time_step: 0.0,
        };
        stepper.constrain(start).map_err(failed)?;
        stepper.set_gaps(start).map_err(failed)?;
        state.momentum = Covector::from_slice(&start.momentum);
        Ok(state)
    }

    fn execute(
        &self,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        wanted: Option<(&dyn DifferentiableLaw, &[ForceParameter<'_>])>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<(RunEnd, Option<Sensitivity>), IntegratorError> {
        let mut stepper = Stepper::new(self.system, self.options.gap_floor());
        let mut start = self.point(&mut stepper, initial)?;
        let initial = &self.admitted(&mut stepper, &mut start, initial)?;
        for (contact, &gap) in start.gaps.iter().enumerate() {
            if gap < -self.options.gap_tolerance {
                return Err(IntegratorError::InitialPenetration { contact, gap });
            }
        }
        let carried =
            wanted.map(|(law, parameters)| Carried::new(law, parameters, &mut stepper, &start));
        observe(Event::Sample(Grid {
            step: 0,
            state: initial,
            reactions: &[],
            balance: Balance::default(),
        }));
        let clock = Clock::new(grid, initial.time);
        let mut run = Run::new(
            self.options,
            self.law,
            stepper,
            start,
            clock,
            initial.clone(),
            observe,
        );
        run.carried = carried;
        let limits = Limits {
            duration: grid.time(grid.n_steps()),
            impacts: max_impacts.unwrap_or(usize::MAX),
        };
        let ending = drive(&mut run, &limits);
        run.write();
        match &ending {
            Ending::Completed => (),
            Ending::Stopped(error) => run.refuse(error.kind()),
            ending => run.refuse(ending.name()),
        }
        let carried = run.carried.take();
        let sensitivity = carried.map(|carried| carried.finish(&mut run.stepper, &run.start));
        let end = RunEnd {
            ending,
            state: run.state,
            n_steps: run.clock.n_steps,
            n_impacts: run.n_impacts,
            balance: run.balance,
        };
        Ok((end, sensitivity))
    }
}

/// State of a run in progress.
pub(crate) struct Run<'r, 's, 'o, S: ?Sized> {
    pub(crate) options: IntegratorOptions,
    pub(crate) law: &'r dyn ImpactLaw,
    pub(crate) stepper: Stepper<'s, S>,
    /// Start and end of the present flight.
    pub(crate) start: Point,
    pub(crate) end: Point,
    /// Mean velocity of the present flight.
    pub(crate) flight_mean: Vec<f64>,
    /// Velocity at the start of the previous flight, and length of that flight (s); 0 after an event.
    pub(crate) last_velocity: Vec<f64>,
    pub(crate) last_step: f64,
    pub(crate) bonds: Vec<Bond>,
    /// Active contacts and their modes at the end of the flight, and contacts that opened there.
    pub(crate) end_bonds: Vec<Bond>,
    pub(crate) lost: Vec<usize>,
    /// Normal and tangential impulse of each active contact in the present flight.
    pub(crate) flight_impulses: Vec<[f64; 2]>,
    /// Energy dissipated by contacts in the present flight, and work of the forces.
    pub(crate) flight_balance: Balance,
    pub(crate) balance: Balance,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) rows: Rows,
    pub(crate) projection: Projection,
    pub(crate) history: Vec<HitHistory>,
    pub(crate) middle_gaps: Vec<f64>,
    pub(crate) buffers: [Vec<f64>; 3],
    /// Contacts released during the present flight.
    released: Vec<usize>,
    /// Contacts released since the time last advanced, and length of the longest flight to try (s).
    let_go: Vec<usize>,
    longest_flight: f64,
    /// Derivative of the run, if requested.
    pub(crate) carried: Option<Carried<'r>>,
    /// Largest kinetic norm of the velocity so far, for systems with velocity constraints.
    largest_velocity: f64,
    pub(crate) n_impacts: usize,
    pub(crate) clock: Clock,
    /// State that is reported to the observer.
    state: State,
    pub(crate) observe: &'o mut dyn FnMut(Event<'_>),
}

impl<S: MechanicalSystem + ?Sized> Hybrid for Run<'_, '_, '_, S> {
    type Error = IntegratorError;

    fn n_impacts(&self) -> usize {
        self.n_impacts
    }

    /// Continues the run to the next event, or to the end of the current step of the time grid. Returns the ending if the run is
    /// complete.
    fn proceed(&mut self, _: &Limits) -> Result<Option<Ending<IntegratorError>>, IntegratorError> {
        if self.clock.n_steps == self.clock.grid.n_steps() {
            return Ok(Some(Ending::Completed));
        }
        let limit = self.options.max_events_per_step;
        if self.clock.n_events > limit {
            let time = self.start.time;
            return Err(IntegratorError::TooManyEvents { time, limit });
        }
        let (begin, length) = (self.clock.begin(), self.clock.length());
        let left = length - self.clock.done;
        // The remaining time is below the rounding error of the time.
        if left <= 2.0 * f64::EPSILON * (begin.abs() + length) {
            self.end_step()?;
            return Ok(None);
        }
        if let Some(contact) = self.approaching() {
            self.follow_arrival(0.0, contact);
            self.hit(contact)?;
            self.clock.n_events += 1;
            return Ok(None);
        }
        let h = self.fly_and_report(left.min(self.longest_flight))?;
        let time = self.start.time;
        let hit = self
            .next_hit(h)
            .map_err(|_| IntegratorError::StepNotSolved { time, time_step: h })?;
        match hit {
            None => {
                self.follow_flight(h, left);
                let whole = h == left;
                self.clock.done = if whole { length } else { self.clock.done + h };
                self.advance(begin + self.clock.done, h);
                // Halved steps count as events, which bounds their number.
                self.clock.n_events += usize::from(!whole);
            }
            Some(hit) if hit.time <= 0.0 => {
                // This contact was released because its mean impulse would be negative, but it is pressed at the start: it opens
                // within the flight, so the flight is shortened.
                if self.let_go.contains(&hit.contact) {
                    self.longest_flight = 0.5 * h;
                }
                self.establish(hit.contact);
                self.clock.n_events += 1;
            }
            Some(hit) => {
                self.fly_and_report_to(hit.time)?;
                self.follow_arrival(hit.time, hit.contact);
                self.clock.done = (self.clock.done + hit.time).min(length);
                self.advance(begin + self.clock.done, hit.time);
                self.clock.n_events += 1;
                // The contact may be open again if another contact was released in the shorter flight.
                if self.start.gaps[hit.contact] <= self.options.simultaneous_tolerance {
                    self.hit(hit.contact)?;
                }
            }
        }
        Ok(None)
    }
}

impl<'r, 's, 'o, S: MechanicalSystem + ?Sized> Run<'r, 's, 'o, S> {
    fn new(
        options: IntegratorOptions,
        law: &'r dyn ImpactLaw,
        stepper: Stepper<'s, S>,
        start: Point,
        clock: Clock,
        state: State,
        observe: &'o mut dyn FnMut(Event<'_>),
    ) -> Self {
        let (n, contacts) = (start.configuration.len(), start.gaps.len());
        Self {
            options,
            law,
            stepper,
            end: start.clone(),
            start,
            flight_mean: vec![0.0; n],
            last_velocity: vec![0.0; n],
            last_step: 0.0,
            bonds: Vec::new(),
            end_bonds: Vec::new(),
            lost: Vec::new(),
            flight_impulses: vec![[0.0; 2]; contacts],
            flight_balance: Balance::default(),
            balance: Balance::default(),
            reactions: Vec::new(),
            rows: Rows::default(),
            projection: Projection::default(),
            history: vec![HitHistory::default(); contacts],
            middle_gaps: vec![0.0; contacts],
            buffers: std::array::from_fn(|_| vec![0.0; n]),
            released: Vec::new(),
            let_go: Vec::new(),
            longest_flight: f64::INFINITY,
            carried: None,
            largest_velocity: 0.0,
            n_impacts: 0,
            clock,
            state,
            observe,
        }
    }

    /// Returns an error if a velocity constraint that depended on the others at the start, and was left out, is violated.
    fn check_constraints(&mut self) -> Result<(), IntegratorError> {
        let system = self.stepper.system();
        self.largest_velocity = self.largest_velocity.max(self.start.kinetic_norm());
        let left_out = |i: &usize| !self.stepper.kept_constraints().contains(i);
        let mut others = (0..system.constraints().len()).filter(left_out);
        let allowed = ADMITTED * self.largest_velocity;
        let violated = others.find(|i| self.start.violation(system, *i) > allowed);
        match violated.and_then(|i| system.constraints().get(i)) {
            Some(name) => Err(IntegratorError::ConstraintRank {
                time: self.start.time,
                constraint: name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn end_step(&mut self) -> Result<(), IntegratorError> {
        self.clock.n_steps += 1;
        (self.clock.done, self.clock.n_events) = (0.0, 0);
        self.start.time = self.clock.begin();
        self.check_constraints()?;
        self.write();
        (self.observe)(Event::Sample(Grid {
            step: self.clock.n_steps,
            state: &self.state,
            reactions: &self.reactions,
            balance: self.balance,
        }));
        self.reactions.clear();
        Ok(())
    }

    pub(crate) fn is_bonded(&self, contact: usize) -> bool {
        self.bonds.iter().any(|bond| bond.contact == contact)
    }

    /// Removes a contact from the active contacts because its impulse would be negative (pulling). `bond` is the index
    /// of the contact in the list of active contacts.
    pub(crate) fn release(&mut self, bond: usize) {
        let bond = self.bonds.remove(bond);
        self.released.push(bond.contact);
        self.let_go.push(bond.contact);
    }

    /// Copies time, configuration and momentum at the start of the flight into the state that is reported to the observer.
    fn write(&mut self) {
        let state = &mut self.state;
        state.time = self.start.time;
        let (q, p) = (&self.start.configuration, &self.start.momentum);
        state.configuration.as_mut_slice().copy_from_slice(q);
        state.momentum.0.as_mut_slice().copy_from_slice(p);
    }

    /// Returns the index of a touching contact that approaches faster than counts as grazing and is not a lasting
    /// contact, or `None` if there is no such contact.
    fn approaching(&mut self) -> Option<usize> {
        (0..self.start.gaps.len()).find(|&contact| {
            self.start.gaps[contact] <= 0.0 && !self.is_bonded(contact) && self.approaches(contact)
        })
    }

    /// True if a contact approaches so fast that the impact laws treat it as approaching and not as grazing. `contact` is its
    /// index.
    pub(crate) fn approaches(&mut self, contact: usize) -> bool {
        let rate = self.start.rates[contact];
        if rate >= 0.0 {
            return false;
        }
        // Impact laws compare with a part of the momentum, so a contact that approaches here approaches there, too.
        let energy = kernel::dot(&self.start.momentum, &self.start.velocity);
        let gradient = &mut self.buffers[2];
        let system = self.stepper.system();
        system.gap_gradient(contact, &self.start.configuration, gradient);
        let norm = self.start.norm_of(gradient);
        let entries = gradient.iter().zip(&self.start.velocity);
        let terms: f64 = entries.map(|(a, v)| (a * v).abs()).sum();
        rate < -GRAZING_TOLERANCE * terms && rate < -ROUNDING * energy.sqrt() * norm
    }

    fn fly_and_report(&mut self, left: f64) -> Result<f64, IntegratorError> {
        let flown = self.fly(left);
        let time = self.start.time;
        for contact in self.released.drain(..) {
            (self.observe)(Event::Released { time, contact });
        }
        let h = flown?;
        self.flight_mean.copy_from_slice(&self.stepper.mean);
        Ok(h)
    }

    /// Computes a flight that ends at the time `time` of an event (s after the start of the flight), and reports released
    /// contacts. Fails if the whole flight cannot be solved, although a longer one was solved before.
    fn fly_and_report_to(&mut self, time: f64) -> Result<(), IntegratorError> {
        let h = self.fly_and_report(time)?;
        if h < time {
            return Err(IntegratorError::StepNotSolved {
                time: self.start.time,
                time_step: time,
            });
        }
        Ok(())
    }

    /// Makes the end of the flight the start of the next one, at the time `time` (s), and adds up energies and impulses. `h` is
    /// the length of the flight (s).
    fn advance(&mut self, time: f64, h: f64) {
        self.last_velocity.copy_from_slice(&self.start.velocity);
        self.last_step = h;
        self.let_go.clear();
        self.longest_flight = f64::INFINITY;
        std::mem::swap(&mut self.start, &mut self.end);
        self.start.time = time;
        self.balance.contact_loss += self.flight_balance.contact_loss;
        self.balance.force_work += self.flight_balance.force_work;
        self.balance.damper_loss += self.flight_balance.damper_loss;
        self.collect_reactions();
        for contact in self.lost.drain(..) {
            (self.observe)(Event::Released { time, contact });
        }
        std::mem::swap(&mut self.bonds, &mut self.end_bonds);
    }

    fn collect_reactions(&mut self) {
        for (bond, [normal, tangential]) in self.bonds.iter().zip(&self.flight_impulses) {
            let of_bond = |reaction: &&mut Reaction| reaction.contact == bond.contact;
            match self.reactions.iter_mut().find(of_bond) {
                Some(reaction) => {
                    reaction.mode = bond.mode;
                    reaction.normal_impulse += normal;
                    reaction.tangential_impulse += tangential;
                }
                None => self.reactions.push(Reaction {
                    contact: bond.contact,
                    mode: bond.mode,
                    normal_impulse: *normal,
                    tangential_impulse: *tangential,
                }),
            }
        }
    }
}
