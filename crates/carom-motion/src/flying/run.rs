//! Hybrid run: flights on a uniform time grid, with impacts between them.

use super::CollisionError;
use super::jump::{self, Impact, ImpactRule, Split};
use super::search::{Bounds, Contact, ContactSearch, Scene};
use super::zeno::Accumulation;
use crate::hybrid::{self, Ending, Hybrid, Limits, drive};
use crate::tolerances::RESTING_FALL;
use carom_geometry::{HalfSpace, SupportMap};
use carom_variational::{Flight, RigidBody, State, TimeGrid};
use nalgebra::Vector3;
use std::convert::Infallible;

/// A point does not rebound if its speed after an impact is at most this fraction of its speed before the impact (plus
/// [`ROUNDING`] times the speeds of the body).
const STILL: f64 = 1e-10;
/// Relative rounding error of the speeds of the body.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Largest rounding error of the position, as a fraction of the radius, with which a body that does not touch can be followed.
const RESOLVED: f64 = 1e-3;

/// Numeric options of a [`Collider`] (one body above a plane): method and tolerance of contact search, limit of impacts per
/// step, and treatment of accumulating impacts.
///
/// # Examples
///
/// Impacts of a ball that falls for half a second accumulate at $t_1(1 + e)/(1 - e)$:
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_lie::So3;
/// # use carom_variational::{ExactFlight, RigidBody, State, TimeGrid};
/// # use nalgebra::Vector3;
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let body = RigidBody::new(&shape.mass_properties(2.0)?);
/// # let floor = HalfSpace::new(Vector3::z(), 0.0)?;
/// # let gravity = ExactFlight::new(Vector3::new(0.0, 0.0, -10.0));
/// # let start = State {
/// #     position: Vector3::new(0.0, 0.0, 1.35),
/// #     rotation: So3::identity(),
/// #     linear_momentum: Vector3::zeros(),
/// #     angular_momentum: Vector3::zeros(),
/// # };
///
/// use carom_motion::flying::{Collider, ColliderOptions, ImpactRule};
/// use carom_motion::hybrid::Ending;
/// let rule = ImpactRule::Newton { restitution: 0.5 };
/// let options = ColliderOptions::default().with_stops_at_zeno(true);
/// let collider = Collider::new(&body, &shape, &floor, &gravity, rule)?.with_options(options);
/// let end = collider.run(&start, &TimeGrid::duration(0.01, 3.0)?, None, &mut |_| ())?;
/// assert!(matches!(end.ending, Ending::Zeno { .. }) && (end.time - 1.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ColliderOptions {
    /// Method by which contacts are searched in each step.
    pub search: ContactSearch,
    /// Largest number of impacts in one step. A run stops with [`CollisionError::EventLimit`] if there are more.
    pub max_impacts_per_step: usize,
    /// Largest height of a point above the lowest one, as a fraction of the body's radius, with which it still takes part in an
    /// impact.
    pub contact_tolerance: f64,
    /// True if the run ends at a Zeno point, where infinitely many impacts happen in a finite time. If false, every impact is
    /// resolved on its own, until one step has more than `max_impacts_per_step`. Impacts accumulate only if
    /// each of them loses energy: elastic impacts never do, however fast they follow each other.
    pub stops_at_zeno: bool,
}

impl ColliderOptions {
    /// Returns an error if an option is out of range.
    fn check(&self) -> Result<(), CollisionError> {
        let tolerance = self.contact_tolerance;
        let (what, value, allowed) = if !(tolerance > 0.0 && tolerance < 1.0) {
            ("contact_tolerance", tolerance, "in (0, 1)")
        } else if self.max_impacts_per_step == 0 {
            ("max_impacts_per_step", 0.0, "at least 1")
        } else {
            return Ok(());
        };
        Err(CollisionError::InvalidOption {
            what,
            value,
            allowed,
        })
    }
}

impl Default for ColliderOptions {
    fn default() -> Self {
        Self {
            search: ContactSearch::FirstContact,
            max_impacts_per_step: 10_000,
            contact_tolerance: 1e-9,
            stops_at_zeno: true,
        }
    }
}

carom_numeric::setters!(ColliderOptions {
    /// Sets the method by which contacts are searched in each step.
    with_search: search, ContactSearch;
    /// Sets the largest number of impacts in one step.
    with_max_impacts_per_step: max_impacts_per_step, usize;
    /// Sets the largest height of a touching point above the lowest one, as a fraction of the radius of the body.
    with_contact_tolerance: contact_tolerance, f64;
    /// Sets if the run ends where impacts accumulate.
    with_stops_at_zeno: stops_at_zeno, bool;
});

/// State of a body above a plane at one point of the uniform time grid of a run.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'e> {
    /// Number of steps since the start.
    pub step: usize,
    /// Time of the grid point (s).
    pub time: f64,
    /// State of the body at that time.
    pub state: &'e State,
}

/// Event that a run of a body above a plane reports: state at a grid time, or impact. This model has no lasting contacts.
pub type Event<'e> = hybrid::Event<'e, Grid<'e>, Impact, Infallible>;

/// Result of a run of a body above a plane: state at the end, reason of the end, and counts.
#[must_use = "the reason for the end may be an error"]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct RunEnd {
    /// Reason for the end of the run. If it is [`Ending::Zeno`], `state` is the state at the accumulation point with the gap rate
    /// removed, from which a model of lasting contact can continue.
    pub ending: Ending<CollisionError>,
    /// Time of the end of the run (s).
    pub time: f64,
    /// State of the body at the end.
    pub state: State,
    /// Number of completed steps of the time grid.
    pub n_steps: usize,
    /// Number of impacts of the run.
    pub n_impacts: usize,
    /// Number of contacts that closed without an impact, because no touching point approached.
    pub n_touches: usize,
}

/// A rigid body that flies above a plane and hits it: computes the motion as flights between impacts.
///
/// Every step begins on the uniform time grid. An impact splits a step into parts, and the flight
/// restarts from the state after the impact: Tran & Leok's Algorithm 5.2.
///
/// # Departure from the source
///
/// The paper's listing goes back one step too few after the first penetration, omits the step length
/// in the times of impact, tests for penetration only at the ends of steps, and returns from a contact exactly
/// to its starting point. Here the first contact of the path is isolated with a guarantee, several impacts
/// in one step are handled by a loop, and a flight after an impact starts without testing the gap at its start.
///
/// # Examples
///
/// A ball dropped by 1.25 m rebounds to $e^2$ of the height:
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_lie::So3;
/// # use carom_variational::{ExactFlight, RigidBody, State, TimeGrid};
/// # use nalgebra::Vector3;
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let body = RigidBody::new(&shape.mass_properties(2.0)?);
/// # let floor = HalfSpace::new(Vector3::z(), 0.0)?;
/// # let gravity = ExactFlight::new(Vector3::new(0.0, 0.0, -10.0));
/// # let start = State {
/// #     position: Vector3::new(0.0, 0.0, 1.35),
/// #     rotation: So3::identity(),
/// #     linear_momentum: Vector3::zeros(),
/// #     angular_momentum: Vector3::zeros(),
/// # };
///
/// use carom_motion::flying::{Collider, ImpactRule};
/// let rule = ImpactRule::Newton { restitution: 0.5 };
/// let collider = Collider::new(&body, &shape, &floor, &gravity, rule)?;
/// let end = collider.run(&start, &TimeGrid::duration(0.01, 0.75)?, None, &mut |_| ())?;
/// // At the top of the rebound.
/// assert_eq!(end.n_impacts, 1);
/// assert!((end.state.position.z - 0.1 - 1.25 * 0.5 * 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Creates a collider: a rigid body with its shape, a plane, the integrator `flight` of the motion between impacts, and
    /// the impact rule. The origin of the shape is the body's center of mass.
    ///
    /// # Errors
    ///
    /// [`CollisionError::BadRestitution`].
    pub fn new(
        body: &'a RigidBody,
        shape: &'a S,
        plane: &'a HalfSpace,
        flight: &'a F,
        rule: ImpactRule,
    ) -> Result<Self, CollisionError> {
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

    /// Replaces the numeric options of this collider (a body above a plane), such as the method of the contact search.
    #[must_use]
    pub fn with_options(mut self, options: ColliderOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the rigid body (mass and inertia) of this collider.
    pub fn body(&self) -> &'a RigidBody {
        self.body
    }

    /// Returns the shape of this collider's body, relative to its center of mass.
    pub fn shape(&self) -> &'a S {
        self.shape
    }

    /// Returns the plane that the body of this collider can hit.
    pub fn plane(&self) -> &'a HalfSpace {
        self.plane
    }

    /// Returns the impact rule of this collider: the rule for the impulse of every impact.
    pub fn rule(&self) -> ImpactRule {
        self.rule
    }

    /// Returns the integrator of the body's flight between impacts.
    pub fn flight(&self) -> &'a F {
        self.flight
    }

    /// Computes the motion of the body from an initial state over a time grid, or until `max_impacts` impacts have happened
    /// (`None`: no limit). Reports the grid points (from the start on) and all impacts to `observe`, in order of time.
    ///
    /// # Errors
    ///
    /// [`CollisionError::InvalidOption`]; [`CollisionError::Flight`], [`CollisionError::InitialPenetration`] and
    /// [`CollisionError::CoarseCoordinates`] for the initial state. A later error ends the run with [`Ending::Stopped`].
    pub fn run(
        &self,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<RunEnd, CollisionError> {
        initial.check()?;
        self.options.check()?;
        let scene = Scene {
            body: self.body,
            shape: self.shape,
            plane: self.plane,
            flight: self.flight,
            radius: self.shape.bounding_radius(),
        };
        let (gap, band) = (scene.gap(initial).value, scene.band(initial));
        let near = !(gap > scene.radius);
        self.check_place(&scene, initial, near, 0.0)?;
        if gap < -band {
            return Err(CollisionError::InitialPenetration { depth: -gap });
        }
        observe(Event::Sample(Grid {
            step: 0,
            time: 0.0,
            state: initial,
        }));
        let mut run = Run {
            collider: self,
            scene,
            grid: *grid,
            observe,
            n_steps: 0,
            time_step: grid.length(0),
            done: 0.0,
            flown: 0.0,
            n_flights: 0,
            state: *initial,
            bounds: None,
            touching: gap <= band,
            resting: false,
            time: 0.0,
            accumulation: Accumulation::default(),
            n_impacts: 0,
            n_touches: 0,
        };
        run.resting = run.touching && run.is_still();
        let limits = Limits {
            duration: grid.time(grid.n_steps()),
            impacts: max_impacts.unwrap_or(usize::MAX),
        };
        let ending = drive(&mut run, &limits);
        Ok(RunEnd {
            ending,
            time: run.time,
            state: run.state,
            n_steps: run.n_steps,
            n_impacts: run.n_impacts,
            n_touches: run.n_touches,
        })
    }

    /// Checks that the rounding error of the position is small against the size of the body. If the body touches the plane
    /// (`touches`), the rounding error must be small against the contact tolerance, too. `time` (s) is used in the error.
    fn check_place(
        &self,
        scene: &Scene<'_, S, F>,
        state: &State,
        touches: bool,
        time: f64,
    ) -> Result<(), CollisionError> {
        let needed = if touches {
            self.options.contact_tolerance.min(RESOLVED)
        } else {
            RESOLVED
        } * scene.radius;
        let coordinate = if touches {
            state.position.amax().max(self.plane.offset().abs())
        } else {
            state.position.amax()
        };
        let rounding = coordinate * f64::EPSILON;
        if rounding <= needed {
            return Ok(());
        }
        Err(CollisionError::CoarseCoordinates {
            coordinate,
            rounding,
            needed,
            time,
        })
    }
}

/// State of a run in progress.
struct Run<'r, 'a, S, F> {
    collider: &'r Collider<'a, S, F>,
    scene: Scene<'a, S, F>,
    grid: TimeGrid,
    observe: &'r mut dyn FnMut(Event<'_>),
    /// Number of completed steps, and length of the present step (s).
    n_steps: usize,
    time_step: f64,
    /// Completed part of the present step, and duration of the last flight (s).
    done: f64,
    flown: f64,
    /// Number of flights in the present step.
    n_flights: usize,
    state: State,
    /// Bounds of the second derivatives for a whole step; kept while they remain valid for later flights.
    bounds: Option<Bounds>,
    /// True if the present state is in contact.
    touching: bool,
    /// True if the body began at rest on the plane and the first step is not complete.
    resting: bool,
    /// Time of the present state (s).
    time: f64,
    accumulation: Accumulation,
    n_impacts: usize,
    n_touches: usize,
}

impl<S: SupportMap, F: Flight> Hybrid for Run<'_, '_, S, F> {
    type Error = CollisionError;

    fn n_impacts(&self) -> usize {
        self.n_impacts
    }

    /// Resolves the contact of the current state, or advances the body to the next contact or to the end of the step.
    /// Returns the ending if the run is complete.
    fn proceed(
        &mut self,
        limits: &Limits,
    ) -> Result<Option<Ending<CollisionError>>, CollisionError> {
        if self.n_steps == self.grid.n_steps() {
            return Ok(Some(Ending::Completed));
        }
        let limit = self.collider.options.max_impacts_per_step;
        if self.n_flights == limit {
            let time = self.time;
            return Err(CollisionError::EventLimit { limit, time });
        }
        let left = self.time_step - self.done;
        self.time = self.grid.time(self.n_steps) + self.done;
        self.collider
            .check_place(&self.scene, &self.state, self.touching, self.time)?;
        if self.touching {
            self.touching = false;
            let split = Split {
                before: self.flown,
                after: left,
            };
            return self.hit(split, limits);
        }
        if left > 0.0 {
            self.n_flights += 1;
            let (body, flight) = (self.collider.body, self.collider.flight);
            let bounds = self.bounds();
            let end = flight.advance(body, &self.state, left)?;
            if let Some(contact) = self.next_contact(&end, left, &bounds)? {
                self.state = contact.state;
                self.done = (self.done + contact.time).min(self.time_step);
                self.flown = contact.time;
                self.touching = true;
                return Ok(None);
            }
            self.state = end;
        }
        self.end_step();
        Ok(None)
    }
}

impl<S: SupportMap, F: Flight> Run<'_, '_, S, F> {
    fn end_step(&mut self) {
        self.n_steps += 1;
        self.time = self.grid.time(self.n_steps);
        self.time_step = self.grid.length(self.n_steps);
        (self.done, self.flown, self.n_flights) = (0.0, 0.0, 0);
        self.resting = false;
        (self.observe)(Event::Sample(Grid {
            step: self.n_steps,
            time: self.time,
            state: &self.state,
        }));
    }

    fn is_still(&self) -> bool {
        self.state.linear_momentum.norm_squared() == 0.0
            && self.state.angular_momentum.norm_squared() == 0.0
    }

    fn bounds(&mut self) -> Bounds {
        match self.bounds {
            Some(bounds) => bounds,
            None => {
                let bounds = self.scene.bounds(&self.state, self.grid.step());
                if self.collider.flight.is_uniform() {
                    self.bounds = Some(bounds);
                }
                bounds
            }
        }
    }

    fn next_contact(
        &self,
        end: &State,
        left: f64,
        bounds: &Bounds,
    ) -> Result<Option<Contact>, CollisionError> {
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

    /// Resolves the impact of the current state, if any touching point approaches the plane. `limits` holds the
    /// duration and the largest number of impacts of the run. `split` holds the durations of the step before and after
    /// the impact. Returns the ending if the run ends here.
    fn hit(
        &mut self,
        split: Split,
        limits: &Limits,
    ) -> Result<Option<Ending<CollisionError>>, CollisionError> {
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
            // A run that starts on the plane and leaves it has no touch to count.
            let begins = self.time == 0.0 && jump::leaves(body, &self.state, normal, &patch);
            self.n_touches += usize::from(!begins);
            return Ok(None);
        };
        let time = self.time;
        impact.time = time;
        impact.alpha = self.done / self.time_step;
        self.state = impact.after;
        self.bounds = None;
        self.n_impacts += 1;
        (self.observe)(Event::Impact(&impact));
        if self.n_impacts >= limits.impacts {
            return Ok(None);
        }
        if self.resting {
            return self.settle(&impact);
        }
        if !collider.rule.loses_energy() || !collider.options.stops_at_zeno {
            return Ok(None);
        }
        if self.lasts(&impact) {
            // Without restitution infinitely many impacts would happen here.
            return Ok(Some(Ending::Zeno { accumulation: time }));
        }
        // If the rebound height is only a few times the rounding of the gap, the next impact can hardly be located.
        let rebound = self.fall(&impact) / (4.0 * self.scene.band(&self.state));
        match self.accumulation.add(time, self.time_step, rebound) {
            Some(rest) => {
                // Flies on from the state before the impact, so that no rebound is left at the end.
                self.state = impact.before;
                self.stop()?;
                self.state = collider.flight.advance(collider.body, &self.state, rest)?;
                self.stop()?;
                self.time = time + rest;
                let accumulation = self.time;
                Ok(Some(Ending::Zeno { accumulation }))
            }
            None => Ok(None),
        }
    }

    /// Ends the run if a body that began at rest on the plane has an impact only because its gap is inexact by rounding. Such a
    /// body stays at rest, whatever its restitution. Returns `None` if the impact is a true one.
    fn settle(
        &mut self,
        impact: &Impact,
    ) -> Result<Option<Ending<CollisionError>>, CollisionError> {
        if self.fall(impact) > RESTING_FALL * self.scene.band(&self.state) {
            self.resting = false;
            return Ok(None);
        }
        self.state = impact.before;
        self.stop()?;
        Ok(Some(Ending::AtRest))
    }

    /// Returns the height (m) from which the body would have to fall to reach the gap rate of the impact. The acceleration of
    /// this fall is the second time derivative of the gap just after the impact. Returns infinity if the gap does not accelerate
    /// towards the plane.
    fn fall(&self, impact: &Impact) -> f64 {
        let (_, acceleration) = self.fastest(impact);
        if acceleration < 0.0 {
            impact.gap_rate * impact.gap_rate / (-2.0 * acceleration)
        } else {
            f64::INFINITY
        }
    }

    /// True if the contact lasts after the impact. This holds if the point that approached fastest does not rebound and is
    /// accelerated towards the plane.
    fn lasts(&self, impact: &Impact) -> bool {
        let (point, acceleration) = self.fastest(impact);
        let (body, state) = (self.collider.body, &impact.after);
        let spin = body.angular_velocity(&state.angular_momentum);
        let drift = state.linear_momentum / body.mass();
        let rate =
            self.collider.plane.normal().dot(&drift) + impact.normal_b.dot(&spin.cross(&point));
        let speeds = drift.norm() + spin.norm() * self.scene.radius;
        acceleration < 0.0 && rate.abs() <= STILL * impact.gap_rate.abs() + ROUNDING * speeds
    }

    /// Returns the point of the impact that approached fastest, in body axes (m), and the second time derivative of the gap at
    /// that point after the impact (m/s²): $n\cdot a + d\cdot(\dot\Omega\times\rho + \Omega\times(\Omega\times\rho)) + \dot
    /// d\cdot H\dot d$. Here $n$ and $d$ are the plane normal in space and in body axes, and $\Omega$ is the angular velocity.
    /// The terms are the acceleration $a$ of the center of mass, the acceleration of the body point $\rho$, and the motion of the
    /// lowest point along a curved body, with $\dot d = d\times\Omega$ and $H = \partial\rho/\partial d$. For a spinning ball the
    /// last two terms cancel.
    fn fastest(&self, impact: &Impact) -> (Vector3<f64>, f64) {
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
        let normal_rate = impact.normal_b.cross(&spin);
        let curvature = self.collider.shape.support_derivative(&impact.normal_b);
        let acceleration = self
            .collider
            .plane
            .normal()
            .dot(&flight.acceleration(body, &impact.after))
            + impact.normal_b.dot(&turning)
            + normal_rate.dot(&(curvature * normal_rate));
        (point, acceleration)
    }

    /// Removes the remaining normal velocity at an accumulation point of impacts, by an impact without restitution.
    fn stop(&mut self) -> Result<(), CollisionError> {
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
