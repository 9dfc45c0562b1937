//! The hybrid run: flights on a uniform grid of time, with impacts between.

use crate::jump::{self, Impact, Split};
use crate::search::{Bounds, Contact, ContactSearch, Scene};
use crate::zeno::Accumulation;
use crate::{Flight, ImpactRule, RigidBody, State, VariationalError};
use carom_geometry::{HalfSpace, SupportMap};
use nalgebra::Vector3;

/// A uniform grid of time, with a shorter last step if the duration asks for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeGrid {
    step: f64,
    n_full: usize,
    rest: f64,
}

impl TimeGrid {
    /// `n_steps` steps of the given length (s).
    ///
    /// # Errors
    ///
    /// [`VariationalError::BadStep`].
    pub fn steps(step: f64, n_steps: usize) -> Result<Self, VariationalError> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(VariationalError::BadStep { time_step: step });
        }
        Ok(Self {
            step,
            n_full: n_steps,
            rest: 0.0,
        })
    }

    /// Steps of the given length up to a duration (s).
    ///
    /// # Errors
    ///
    /// [`VariationalError::BadStep`]; [`VariationalError::BadDuration`] if it is negative, not
    /// finite, or has more than $10^{15}$ steps.
    pub fn duration(step: f64, duration: f64) -> Result<Self, VariationalError> {
        let grid = Self::steps(step, 0)?;
        let steps = duration / step;
        if !(0.0..=1e15).contains(&steps) {
            return Err(VariationalError::BadDuration { duration });
        }
        // A duration that is a multiple up to rounding has no last step.
        let whole = steps.round();
        if (steps - whole).abs() <= 1e-9 * whole.max(1.0) {
            return Self::steps(step, whole as usize);
        }
        let n_full = steps.floor() as usize;
        Ok(Self {
            n_full,
            rest: duration - n_full as f64 * step,
            ..grid
        })
    }

    /// Number of steps.
    pub fn n_steps(&self) -> usize {
        self.n_full + usize::from(self.rest > 0.0)
    }

    /// Time of grid point `i` (s): a product, not a sum.
    pub fn time(&self, i: usize) -> f64 {
        let rest = if i > self.n_full { self.rest } else { 0.0 };
        i.min(self.n_full) as f64 * self.step + rest
    }

    pub(crate) fn length(&self, i: usize) -> f64 {
        if i < self.n_full {
            self.step
        } else {
            self.rest
        }
    }
}

/// Numeric knobs of a [`Collider`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColliderOptions {
    /// How contacts are found.
    pub search: ContactSearch,
    /// Impacts in one step that count as an accumulation.
    /// A run stops with [`VariationalError::EventLimit`] beyond them.
    pub max_impacts_per_step: usize,
    /// Points this close to the lowest one, as a fraction of the body's radius, take part in an
    /// impact.
    pub contact_tolerance: f64,
    /// What happens where impacts accumulate.
    pub on_zeno: OnZeno,
}

/// What a run does where infinitely many impacts of a contact happen in a finite time.
///
/// Impacts accumulate only if each of them loses energy: elastic ones never do, however fast they
/// follow on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnZeno {
    /// The run ends at the accumulation point with [`RunStatus::Zeno`].
    #[default]
    Stop,
    /// Every impact is resolved on its own, until there are more than
    /// [`max_impacts_per_step`](ColliderOptions::max_impacts_per_step).
    Continue,
}

impl Default for ColliderOptions {
    fn default() -> Self {
        Self {
            search: ContactSearch::FirstContact,
            max_impacts_per_step: 10_000,
            contact_tolerance: 1e-9,
            on_zeno: OnZeno::Stop,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunStatus {
    /// The whole time was run.
    Completed,
    /// As many impacts as asked for happened.
    MaxImpacts,
    /// Impacts accumulate; the state is the accumulation point, with the gap rate removed: where a
    /// model of persistent contact takes over.
    Zeno,
    /// The body lies on the plane without moving.
    AtRest,
    /// The motion could not be continued, for this reason; what was reported before stands.
    Stopped(VariationalError),
}

impl RunStatus {
    /// Stable identifier, for reports that machines read.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::MaxImpacts => "max-impacts",
            Self::Zeno => "zeno",
            Self::AtRest => "at-rest",
            Self::Stopped(_) => "stopped",
        }
    }
}

/// Something that happens during a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// The grid of time is reached.
    Grid {
        /// Steps since the start.
        step: usize,
        /// Time (s).
        time: f64,
        /// State there.
        state: &'e State,
    },
    /// The body hits the plane.
    Impact(&'e Impact),
}

/// Where a run stands after it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// How it ended.
    pub status: RunStatus,
    /// Time (s).
    pub time: f64,
    /// State then.
    pub state: State,
    /// Steps of the grid that were completed.
    pub n_steps: usize,
    /// Impacts that happened.
    pub n_impacts: usize,
    /// Contacts that closed without an impact, because no touching point approached.
    pub n_touches: usize,
}

/// A rigid body that flies above a plane and hits it.
///
/// Every step begins on the uniform grid of time; an impact splits it into parts, and the flight
/// starts anew from the state after the impact: Tran & Leok's Algorithm 5.2.
///
/// # Departure from the source
///
/// The paper's listing goes back one step too few after the first penetration, loses the step length
/// in the times of impact, looks at the ends of steps only, and returns from a contact exactly
/// where it began. Here the first contact of the path is isolated with a guarantee, several impacts
/// in one step are a loop, and the start of a flight after an impact is left without looking at its
/// gap.
#[derive(Clone, Copy, Debug)]
pub struct Collider<'a, S, F> {
    body: &'a RigidBody,
    shape: &'a S,
    plane: &'a HalfSpace,
    flight: &'a F,
    rule: ImpactRule,
    options: ColliderOptions,
}

impl<'a, S: SupportMap, F: Flight> Collider<'a, S, F> {
    /// A body with its shape above a plane; the shape's origin is the center of mass.
    ///
    /// # Errors
    ///
    /// [`VariationalError::BadRestitution`].
    pub fn new(
        body: &'a RigidBody,
        shape: &'a S,
        plane: &'a HalfSpace,
        flight: &'a F,
        rule: ImpactRule,
    ) -> Result<Self, VariationalError> {
        rule.check()?;
        Ok(Self {
            body,
            shape,
            plane,
            flight,
            rule,
            options: ColliderOptions::default(),
        })
    }

    /// The same with other numeric knobs.
    #[must_use]
    pub fn with_options(mut self, options: ColliderOptions) -> Self {
        self.options = options;
        self
    }

    /// The body.
    pub fn body(&self) -> &'a RigidBody {
        self.body
    }

    /// The body's shape, about its center of mass.
    pub fn shape(&self) -> &'a S {
        self.shape
    }

    /// The plane.
    pub fn plane(&self) -> &'a HalfSpace {
        self.plane
    }

    /// The rule of its impacts.
    pub fn rule(&self) -> ImpactRule {
        self.rule
    }

    /// The flight between impacts.
    pub fn flight(&self) -> &'a F {
        self.flight
    }

    /// Runs over a grid of time, or until `max_impacts` impacts happened, and reports the grid (from
    /// the start on) and every impact in their order.
    ///
    /// # Errors
    ///
    /// [`VariationalError::NonFinite`] and [`VariationalError::InitialPenetration`] of the initial
    /// state. What stops the motion on its way is [`RunStatus::Stopped`].
    pub fn run(
        &self,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<RunEnd, VariationalError> {
        initial.check()?;
        let scene = Scene {
            body: self.body,
            shape: self.shape,
            plane: self.plane,
            flight: self.flight,
            radius: self.shape.bounding_radius(),
        };
        let (gap, band) = (scene.gap(initial).value, scene.band(initial));
        if gap < -band {
            return Err(VariationalError::InitialPenetration { depth: -gap });
        }
        let mut run = Run {
            collider: self,
            scene,
            longest: grid.step,
            time_step: grid.step,
            state: *initial,
            bounds: None,
            touching: gap <= band,
            resting: false,
            time: 0.0,
            accumulation: Accumulation::default(),
            n_impacts: 0,
            n_touches: 0,
            max_impacts: max_impacts.unwrap_or(usize::MAX),
        };
        run.resting = run.touching && run.is_still();
        observe(Event::Grid {
            step: 0,
            time: 0.0,
            state: initial,
        });
        if run.max_impacts == 0 {
            return Ok(run.end(RunStatus::MaxImpacts, 0.0, 0));
        }
        for step in 0..grid.n_steps() {
            run.time_step = grid.length(step);
            match run.step(grid.time(step), observe) {
                Ok(None) => (),
                Ok(Some((status, time))) => return Ok(run.end(status, time, step)),
                Err(error) => return Ok(run.end(RunStatus::Stopped(error), run.time, step)),
            }
            run.resting = false;
            observe(Event::Grid {
                step: step + 1,
                time: grid.time(step + 1),
                state: &run.state,
            });
        }
        let n_steps = grid.n_steps();
        Ok(run.end(RunStatus::Completed, grid.time(n_steps), n_steps))
    }
}

/// A run on its way.
struct Run<'r, 'a, S, F> {
    collider: &'r Collider<'a, S, F>,
    scene: Scene<'a, S, F>,
    /// Length of a full step, and of the present one.
    longest: f64,
    time_step: f64,
    state: State,
    /// Bounds of the present flight for a whole step, if they last.
    bounds: Option<Bounds>,
    /// Whether the state is one of contact.
    touching: bool,
    /// Whether the body began at rest on the plane, in the first step.
    resting: bool,
    /// Time of the state (s).
    time: f64,
    accumulation: Accumulation,
    n_impacts: usize,
    n_touches: usize,
    max_impacts: usize,
}

impl<S: SupportMap, F: Flight> Run<'_, '_, S, F> {
    fn end(&self, status: RunStatus, time: f64, n_steps: usize) -> RunEnd {
        RunEnd {
            status,
            time,
            state: self.state,
            n_steps,
            n_impacts: self.n_impacts,
            n_touches: self.n_touches,
        }
    }

    fn is_still(&self) -> bool {
        self.state.linear_momentum.norm_squared() == 0.0
            && self.state.angular_momentum.norm_squared() == 0.0
    }

    fn bounds(&mut self) -> Bounds {
        match self.bounds {
            Some(bounds) => bounds,
            None => {
                let bounds = self.scene.bounds(&self.state, self.longest);
                if self.collider.flight.is_uniform() {
                    self.bounds = Some(bounds);
                }
                bounds
            }
        }
    }

    /// One step from `begin`; an early end and its time, or `None`.
    fn step(
        &mut self,
        begin: f64,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<(RunStatus, f64)>, VariationalError> {
        let (body, flight) = (self.collider.body, self.collider.flight);
        let mut done = 0.0;
        let mut since_impact = 0.0;
        for _ in 0..self.collider.options.max_impacts_per_step {
            let left = self.time_step - done;
            self.time = begin + done;
            if self.touching {
                self.touching = false;
                let split = Split {
                    before: since_impact,
                    after: left,
                };
                if let Some(end) = self.hit(done, split, observe)? {
                    return Ok(Some(end));
                }
            }
            if left <= 0.0 {
                return Ok(None);
            }
            let bounds = self.bounds();
            let end = flight.advance(body, &self.state, left)?;
            let Some(contact) = self.next_contact(&end, left, &bounds)? else {
                self.state = end;
                return Ok(None);
            };
            self.state = contact.state;
            done = (done + contact.time).min(self.time_step);
            since_impact = contact.time;
            self.touching = true;
        }
        Err(VariationalError::EventLimit {
            limit: self.collider.options.max_impacts_per_step,
            time: self.time,
        })
    }

    fn next_contact(
        &self,
        end: &State,
        left: f64,
        bounds: &Bounds,
    ) -> Result<Option<Contact>, VariationalError> {
        match self.collider.options.search {
            ContactSearch::EndOfStep => self.scene.end_of_step(&self.state, end, left),
            ContactSearch::FirstContact => {
                if self.scene.is_free(&self.state, end, left, bounds) {
                    return Ok(None);
                }
                self.scene.first_contact(&self.state, left, bounds)
            }
        }
    }

    /// The impact of the present state, if any touching point approaches.
    fn hit(
        &mut self,
        done: f64,
        split: Split,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<(RunStatus, f64)>, VariationalError> {
        let collider = self.collider;
        let tolerance = collider.options.contact_tolerance * self.scene.radius;
        let patch =
            collider
                .plane
                .contact_patch(collider.shape, &self.state.configuration(), tolerance);
        let resolved = jump::resolve(
            &collider.rule,
            collider.body,
            collider.flight,
            &self.state,
            collider.plane.normal(),
            &patch,
            split,
        )?;
        let Some(mut impact) = resolved else {
            let (body, normal) = (collider.body, collider.plane.normal());
            // A run may begin on the plane and leave it.
            let begins = self.time == 0.0 && jump::leaves(body, &self.state, normal, &patch);
            self.n_touches += usize::from(!begins);
            return Ok(None);
        };
        let time = self.time;
        impact.time = time;
        impact.alpha = done / self.time_step;
        self.state = impact.after;
        self.bounds = None;
        self.n_impacts += 1;
        observe(Event::Impact(&impact));
        if self.n_impacts >= self.max_impacts {
            return Ok(Some((RunStatus::MaxImpacts, time)));
        }
        if self.resting {
            return self.settle(&impact);
        }
        if !collider.rule.loses_energy() || collider.options.on_zeno == OnZeno::Continue {
            return Ok(None);
        }
        // A fall from a few times the rounding of the gap: the next impact can hardly be located.
        let rebound = self.fall(&impact) / (4.0 * self.scene.band(&self.state));
        match self.accumulation.add(time, self.time_step, rebound) {
            Some(rest) => {
                // From the state that approaches, so that no rebound is left at the end.
                self.state = impact.before;
                self.stop()?;
                self.state = collider.flight.advance(collider.body, &self.state, rest)?;
                self.stop()?;
                Ok(Some((RunStatus::Zeno, time + rest)))
            }
            None => Ok(None),
        }
    }

    /// A body that began at rest on the plane and is only pressed against it stays there, whatever
    /// its restitution: its impacts are the rounding of the gap.
    fn settle(&mut self, impact: &Impact) -> Result<Option<(RunStatus, f64)>, VariationalError> {
        if self.fall(impact) > 4.0 * self.scene.band(&self.state) {
            self.resting = false;
            return Ok(None);
        }
        self.state = impact.before;
        self.stop()?;
        Ok(Some((RunStatus::AtRest, impact.time)))
    }

    /// Height from which the fastest approaching point would fall to its speed under the
    /// acceleration that it has: gravity and the body's rotation. Infinite if it does not fall.
    fn fall(&self, impact: &Impact) -> f64 {
        let (body, flight) = (self.collider.body, self.collider.flight);
        let fastest = impact
            .points
            .iter()
            .min_by(|a, b| a.gap_rate.total_cmp(&b.gap_rate));
        let point = fastest.map_or_else(Vector3::zeros, |point| point.point_b);
        let momentum = &impact.after.angular_momentum;
        let spin = body.angular_velocity(momentum);
        let spin_rate = body.angular_velocity(&momentum.cross(&spin));
        let turning = spin_rate.cross(&point) + spin.cross(&spin.cross(&point));
        let acceleration = self
            .collider
            .plane
            .normal()
            .dot(&flight.acceleration(body, &impact.after))
            + impact.normal_b.dot(&turning);
        if acceleration < 0.0 {
            impact.gap_rate * impact.gap_rate / (-2.0 * acceleration)
        } else {
            f64::INFINITY
        }
    }

    /// Removes the gap rate of an accumulation point.
    fn stop(&mut self) -> Result<(), VariationalError> {
        let collider = self.collider;
        let tolerance = collider.options.contact_tolerance * self.scene.radius;
        let patch =
            collider
                .plane
                .contact_patch(collider.shape, &self.state.configuration(), tolerance);
        let inelastic = jump::resolve(
            &ImpactRule::Newton { restitution: 0.0 },
            collider.body,
            collider.flight,
            &self.state,
            collider.plane.normal(),
            &patch,
            Split {
                before: 0.0,
                after: 0.0,
            },
        )?;
        if let Some(impact) = inelastic {
            self.state = impact.after;
        }
        Ok(())
    }
}
