//! Bodies, planes and their free flight.

use crate::{MotionError, limits};
use carom_geometry::cells::Bounds;
use carom_geometry::pair::Part;
use carom_geometry::{HalfSpace, MassProperties, Shape, SupportMap};
use carom_lie::{Se3, So3};
use carom_variational::load::{Loads, Pull};
use carom_variational::{
    ExactFlight, Flight, FreeFlight, PathRate, Prescribed, RigidBody, State, VariationalError,
};
use nalgebra::{Matrix3, Vector3, Vector6};

/// Principal moments of inertia that differ by less than this fraction of the largest count as equal: the body rotates like a
/// ball, with constant angular velocity.
const ISOTROPIC: f64 = 1e-14;

/// Largest angle by which one step of a variational flight may rotate a body (rad).
const LARGEST_TURN: f64 = 0.5;

/// Largest number of halvings of a step (as an exponent) where the energy would allow a large rotation but the angular momentum
/// does not.
const MAX_HALVINGS: f64 = 5.0;

/// Largest number of halvings of a step.
const MOST_HALVINGS: f64 = 20.0;

/// Integration scheme for the free flight of rigid bodies between impacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FlightRule {
    /// Exact solution of the free motion.
    Exact,
    /// The Lie group variational integrator (LGVI) of order 2.
    Lgvi,
    /// Suzuki's composition of five LGVI steps, order 4.
    Lgvi4,
    /// Yoshida's composition of seven LGVI steps, order 6.
    Lgvi6,
}

impl FlightRule {
    pub(crate) fn is_exact(self) -> bool {
        self == Self::Exact
    }
}

/// Specification of a rigid body of a world (a simulation of bodies and planes): mass, shape, and state at the start.
///
/// # Examples
///
/// ```
/// # use carom_geometry::{Cuboid, Shape};
/// # use carom_lie::{Se3, So3};
/// # use nalgebra::Vector3;
/// use carom_world::BodySpec;
/// let shape = Shape::Cuboid(Cuboid::new([0.1, 0.2, 0.3])?);
/// let place = Se3::new(So3::identity(), Vector3::new(0.0, 0.0, 1.0));
/// let brick = BodySpec::new("brick", Some(shape.mass_properties(3.0)?), shape.clone(), place)
///     .with_velocity(Vector3::zeros(), Vector3::new(0.0, 0.0, 5.0));
/// // J_z = m (a² + b²)/3; a body without mass never moves.
/// let inertia = brick.mass.as_ref().map(|mass| mass.inertia()[(2, 2)]);
/// assert!(inertia.is_some_and(|j| (j - 0.05).abs() < 1e-15));
/// let wall = BodySpec::new("wall", None, shape, place);
/// assert!(wall.mass.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct BodySpec {
    /// Name, unique among bodies and planes.
    pub name: String,
    /// Mass and inertia about the center of mass, which is the origin of the shape; `None` for a
    /// body that never moves.
    pub mass: Option<MassProperties>,
    /// Shape of the body, in body axes with the origin at the center of mass.
    pub shape: Shape,
    /// Center of mass in space (m) and attitude, body to space.
    pub configuration: Se3,
    /// Velocity of the center of mass in space (m/s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity: Vector3<f64>,
    /// Angular velocity in space (rad/s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub angular_velocity: Vector3<f64>,
    /// Drag and forces besides gravity.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Loads::is_empty")
    )]
    pub loads: Loads,
    /// Velocity in space with which the surface of a body that never moves runs (m/s); at each contact its tangential part counts.
    #[cfg_attr(
        feature = "serde",
        serde(
            default,
            with = "carom_numeric::stored::finite",
            skip_serializing_if = "is_zero"
        )
    )]
    pub surface_velocity: Vector3<f64>,
    /// Motion that a body without mass is told; `None` for a body that never moves.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub motion: Option<Prescribed>,
}

/// True for the zero vector.
#[cfg(feature = "serde")]
fn is_zero(vector: &Vector3<f64>) -> bool {
    *vector == Vector3::zeros()
}

impl BodySpec {
    /// Specifies a body at rest: its name, mass and inertia about the center of mass (`None` for a body that never moves), shape
    /// in body axes, and center of mass (m) and attitude.
    pub fn new(
        name: impl Into<String>,
        mass: Option<MassProperties>,
        shape: Shape,
        configuration: Se3,
    ) -> Self {
        Self {
            name: name.into(),
            mass,
            shape,
            configuration,
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
            loads: Loads::default(),
            surface_velocity: Vector3::zeros(),
            motion: None,
        }
    }

    /// Sets the motion that a body without mass is told.
    #[must_use]
    pub fn with_motion(self, motion: Option<Prescribed>) -> Self {
        Self { motion, ..self }
    }

    /// Sets the velocity in space with which the surface of a body that never moves runs (m/s).
    #[must_use]
    pub fn with_surface_velocity(self, surface_velocity: Vector3<f64>) -> Self {
        Self {
            surface_velocity,
            ..self
        }
    }

    /// Sets drag and forces besides gravity.
    #[must_use]
    pub fn with_loads(self, loads: Loads) -> Self {
        Self { loads, ..self }
    }

    /// Sets the velocity of the center of mass (m/s) and the angular velocity (rad/s), both in space.
    pub fn with_velocity(mut self, velocity: Vector3<f64>, angular_velocity: Vector3<f64>) -> Self {
        (self.velocity, self.angular_velocity) = (velocity, angular_velocity);
        self
    }
}

/// Specification of a fixed plane of a world (a simulation of bodies and planes); the plane's normal points to the side where
/// bodies can move.
///
/// # Examples
///
/// ```
/// use carom_geometry::HalfSpace;
/// use carom_world::PlaneSpec;
/// use nalgebra::Vector3;
/// // An incline through the origin, that rises by 3 m every 4 m along x.
/// let incline = PlaneSpec::new("incline", HalfSpace::new(Vector3::new(-3.0, 0.0, 4.0), 0.0)?);
/// let height = incline.half_space.height(&Vector3::new(4.0, 0.0, 8.0));
/// assert!((height - 4.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PlaneSpec {
    /// Name, unique among bodies and planes.
    pub name: String,
    /// The solid half-space below the plane.
    pub half_space: HalfSpace,
    /// Velocity in space with which the surface of the plane runs (m/s), without a part along the normal.
    #[cfg_attr(
        feature = "serde",
        serde(
            default,
            with = "carom_numeric::stored::finite",
            skip_serializing_if = "is_zero"
        )
    )]
    pub surface_velocity: Vector3<f64>,
}

impl PlaneSpec {
    /// Specifies a plane by its name and the solid half-space below it.
    pub fn new(name: impl Into<String>, half_space: HalfSpace) -> Self {
        Self {
            name: name.into(),
            half_space,
            surface_velocity: Vector3::zeros(),
        }
    }

    /// Sets the velocity in space with which the surface of the plane runs (m/s).
    #[must_use]
    pub fn with_surface_velocity(self, surface_velocity: Vector3<f64>) -> Self {
        Self {
            surface_velocity,
            ..self
        }
    }
}

/// Constant properties of a body. The fields used by contact searches of spheres come first, next to each other in memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Body {
    /// Radius of the bounding ball about the center of mass (m).
    pub(crate) radius: f64,
    /// Radius of the body, if it is a sphere about its center of mass (m).
    pub(crate) sphere: Option<f64>,
    /// Mass (kg); infinite if the body is fixed.
    mass: f64,
    pub(crate) name: String,
    /// Mass and inertia; `None` if the body is fixed.
    pub(crate) rigid: Option<RigidBody>,
    pub(crate) shape: Shape,
    pub(crate) parts: Vec<Part>,
    /// Half extents of the cores of all parts along the principal axes, in ascending order of the principal moments (m).
    extents: Vector3<f64>,
    moments: Vector3<f64>,
    /// True if all principal moments are equal.
    isotropic: bool,
    /// Drag and forces; `kicks` is true if they act in kicks, so that the body moves in steps.
    loads: Loads,
    pub(crate) kicks: bool,
    /// Velocity with which the surface runs (m/s); zero for a mobile body.
    pub(crate) running: Vector3<f64>,
    /// Motion that the body is told, and its place at the time 0.
    pub(crate) motion: Option<(Prescribed, Se3)>,
    /// Acceleration by constant forces (m/s²), and by these and the force that a caller holds.
    own_push: Vector3<f64>,
    pub(crate) push: Vector3<f64>,
}

impl Body {
    pub(crate) fn new(spec: &BodySpec) -> Result<Self, MotionError> {
        let parts = Part::of_shape(&spec.shape);
        let parts = parts.map_err(|source| MotionError::Shape {
            body: spec.name.clone(),
            source,
        })?;
        let sphere = match parts.as_slice() {
            [part] => part
                .sphere()
                .filter(|(center, _)| *center == Vector3::zeros()),
            _ => None,
        };
        let rigid = spec.mass.as_ref().map(RigidBody::new);
        let eigen = rigid.as_ref().map(|body| body.inertia().symmetric_eigen());
        let (axes, moments) = match eigen {
            Some(eigen) => (eigen.eigenvectors, eigen.eigenvalues),
            None => (Matrix3::identity(), Vector3::repeat(1.0)),
        };
        // In ascending order, like the moments of the rigid body.
        let mut order = [0, 1, 2];
        order.sort_by(|i, j| moments[*i].total_cmp(&moments[*j]));
        let axes = axes.select_columns(&order);
        let moments = Vector3::from(order.map(|k| moments[k]));
        let reach = |axis: &Vector3<f64>| {
            let one = |d: Vector3<f64>| {
                parts
                    .iter()
                    .map(|p| -p.core_support_value(&d))
                    .fold(0.0, f64::max)
            };
            one(*axis).max(one(-axis))
        };
        let extents = Vector3::from_fn(|k, _| reach(&axes.column(k).into_owned()));
        let isotropic = (moments.max() - moments.min()) <= ISOTROPIC * moments.max()
            && rigid.as_ref().is_none_or(|body| {
                let j = body.inertia();
                j.m12.abs() + j.m13.abs() + j.m23.abs() <= ISOTROPIC * moments.max()
            });
        limits::check_loads(&spec.name, &spec.loads)?;
        let constant = spec.loads.constant();
        let push = rigid
            .as_ref()
            .map_or(Vector3::zeros(), |rigid| constant / rigid.mass());
        Ok(Self {
            name: spec.name.clone(),
            mass: rigid.as_ref().map_or(f64::INFINITY, RigidBody::mass),
            rigid,
            radius: spec.shape.bounding_radius(),
            shape: spec.shape.clone(),
            parts,
            sphere: sphere.map(|(_, radius)| radius),
            extents,
            moments,
            isotropic,
            kicks: spec.loads.kicks(),
            running: spec.surface_velocity,
            motion: spec
                .motion
                .clone()
                .map(|motion| (motion, spec.configuration)),
            own_push: push,
            push,
            loads: spec.loads.clone(),
        })
    }

    /// Sets the force that a caller holds on the body (N), besides its constant forces.
    pub(crate) fn hold(&mut self, force: &Vector3<f64>) {
        if let Some(rigid) = &self.rigid {
            self.push = self.own_push + force / rigid.mass();
        }
    }

    /// Returns the loads that act in kicks on the body at `time` (s), in a state; `None` for a body without such loads.
    pub(crate) fn pull_at(&self, time: f64, state: &State) -> Result<Option<Pull>, MotionError> {
        self.with_loads(time, |rigid| self.loads.explicit(rigid, time, state))
    }

    /// Returns the loads that act in kicks on the body at `time` (s), with the velocity after they have acted for `half` (s).
    pub(crate) fn pull_after(
        &self,
        time: f64,
        state: &State,
        half: f64,
    ) -> Result<Option<Pull>, MotionError> {
        self.with_loads(time, |rigid| self.loads.implicit(rigid, time, state, half))
    }

    fn with_loads(
        &self,
        time: f64,
        act: impl FnOnce(&RigidBody) -> Result<Pull, VariationalError>,
    ) -> Result<Option<Pull>, MotionError> {
        let Some(rigid) = self.rigid.as_ref().filter(|_| self.kicks) else {
            return Ok(None);
        };
        act(rigid).map(Some).map_err(|source| MotionError::Flight {
            body: self.name.clone(),
            time,
            source,
        })
    }

    pub(crate) fn is_mobile(&self) -> bool {
        self.mass.is_finite()
    }

    /// Returns an axis-aligned box that contains the body in this state.
    pub(crate) fn bounds(&self, state: &State) -> Bounds {
        let lowest = |direction: Vector3<f64>| {
            let d = state.rotation.rotate_back(&direction);
            let parts = self.parts.iter().map(|part| part.support_value(&d));
            parts.fold(f64::INFINITY, f64::min)
        };
        let low = Vector3::from_fn(|k, _| lowest(Vector3::ith(k, 1.0)));
        let high = Vector3::from_fn(|k, _| -lowest(Vector3::ith(k, -1.0)));
        let (low, high) = (state.position + low, state.position + high);
        Bounds::around(&low, &high, 1e-9 * self.radius)
    }

    /// Returns an upper bound of the angular velocity (rad/s) of a body whose rotation axis can change. Returns 0 for fixed
    /// bodies and for bodies with three equal moments of inertia, which rotate uniformly.
    pub(crate) fn tumbling(&self, state: &State) -> f64 {
        match &self.rigid {
            Some(rigid) if !self.isotropic => rigid.rate_squares(state).max().sqrt(),
            _ => 0.0,
        }
    }

    /// Returns an upper bound of the acceleration (m/s²) that rotation without torque gives to any point of the body's cores. A
    /// core is a convex part without its rounding radius. The bound follows from bounds of the angular velocity about each
    /// principal axis.
    fn exact_acceleration(&self, state: &State) -> f64 {
        let Some(rigid) = &self.rigid else {
            return 0.0;
        };
        if self.extents.max() == 0.0 {
            return 0.0;
        }
        let (j, y) = (&self.moments, rigid.rate_squares(state));
        let mut total = 0.0;
        for k in 0..3 {
            let (i, l) = ((k + 1) % 3, (k + 2) % 3);
            let across = y[i] + y[l];
            let turn_i = (j[l] + j[k] - j[i]) / j[l];
            let turn_l = (j[i] + j[k] - j[l]) / j[i];
            let square =
                across * across + turn_i * turn_i * y[k] * y[i] + turn_l * turn_l * y[k] * y[l];
            total += self.extents[k] * square.sqrt();
        }
        total * (1.0 + 1e-6)
    }
}

/// Free flight of the bodies of a world: scheme, gravity and time step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flights {
    rule: FlightRule,
    pub(crate) gravity: Vector3<f64>,
    exact: ExactFlight,
    discrete: FreeFlight,
    /// Time step of the grid (s).
    time_step: f64,
    /// True if neither gravity nor held forces act.
    is_weightless: bool,
}

impl Flights {
    pub(crate) fn new(rule: FlightRule, gravity: Vector3<f64>, time_step: f64) -> Self {
        let discrete = match rule {
            FlightRule::Exact | FlightRule::Lgvi => FreeFlight::lgvi(gravity),
            FlightRule::Lgvi4 => FreeFlight::suzuki4(gravity),
            FlightRule::Lgvi6 => FreeFlight::yoshida6(gravity),
        };
        Self {
            rule,
            gravity,
            exact: ExactFlight::new(gravity),
            discrete,
            time_step,
            is_weightless: false,
        }
    }

    /// Returns a copy with the same integration scheme and time step, but without gravity and held forces.
    pub(crate) fn weightless(&self) -> Self {
        Self {
            is_weightless: true,
            ..Self::new(self.rule, Vector3::zeros(), self.time_step)
        }
    }

    /// Returns the acceleration of the center of a body in free flight (m/s²): gravity, and the force that a caller holds.
    pub(crate) fn pull(&self, body: &Body) -> Vector3<f64> {
        if self.is_weightless || body.is_prescribed() {
            Vector3::zeros()
        } else {
            self.gravity + body.push
        }
    }

    /// Returns the flights of a body with the force that a caller holds.
    fn of(&self, body: &Body) -> Self {
        if body.push == Vector3::zeros() {
            *self
        } else {
            Self::new(self.rule, self.pull(body), self.time_step)
        }
    }

    /// Returns the length of the integration steps (s) for a body that rotates so fast that it needs steps shorter than the time
    /// step of the grid. `None` if the time step of the grid suffices. The time step is halved until a step rotates the body by
    /// at most [`LARGEST_TURN`], so that first contacts can be certified. For slender bodies the last halvings beyond
    /// [`MAX_HALVINGS`] are made only if a sharper bound of the rotation requires them.
    pub(crate) fn own_step(&self, body: &Body, from: &State) -> Option<f64> {
        let rigid = body.rigid.as_ref().filter(|_| !self.is_exact(body))?;
        let halvings = |square: f64| {
            let turn = self.time_step * square.max(0.0).sqrt();
            libm::log2(turn / LARGEST_TURN).ceil()
        };
        let mut count = halvings(2.0 * rigid.rotational_energy(from) / rigid.moments().x);
        if count > MAX_HALVINGS {
            let needed = halvings(rigid.rate_squares(from).sum());
            count = needed.clamp(MAX_HALVINGS, MOST_HALVINGS);
        }
        (count > 0.0).then(|| self.time_step * libm::exp2(-count))
    }

    /// Advances a body by as many whole steps of length [`own_step`](Self::own_step) as fit into `time` (s). Returns the state
    /// reached and the time that remains (s). A body that needs no shortened steps is not advanced.
    fn own_steps(
        &self,
        body: &Body,
        rigid: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<(State, f64), VariationalError> {
        let Some(step) = self.own_step(body, from) else {
            return Ok((*from, time));
        };
        let (mut state, mut left) = (*from, time);
        for _ in 0..(time / step).min(libm::exp2(MOST_HALVINGS)) as usize {
            state = self.discrete.advance(rigid, &state, step)?;
            left -= step;
        }
        Ok((state, left.max(0.0)))
    }

    /// Returns true if the free flight of a body is computed exactly. The result then does not depend on the times at which
    /// integration steps begin.
    pub(crate) fn is_exact(&self, body: &Body) -> bool {
        self.rule.is_exact() || body.isotropic
    }

    /// Returns the state of a body after a free flight of `time` (s) that starts at `from`. A fixed body keeps its state.
    pub(crate) fn advance(
        &self,
        body: &Body,
        from: &State,
        time: f64,
    ) -> Result<State, VariationalError> {
        let Some(rigid) = &body.rigid else {
            return Ok(*from);
        };
        if time == 0.0 {
            return Ok(*from);
        }
        if body.isotropic {
            let gravity = self.pull(body);
            let drop = gravity * (0.5 * time * time);
            let spin = from.angular_momentum / body.moments.x;
            let rotation = if from.angular_momentum == Vector3::zeros() {
                from.rotation
            } else {
                from.rotation.compose(&So3::exp(&(spin * time)))
            };
            return Ok(State {
                position: from.position + (from.linear_momentum * (time / rigid.mass()) + drop),
                linear_momentum: from.linear_momentum + gravity * (rigid.mass() * time),
                angular_momentum: from.angular_momentum,
                rotation,
            });
        }
        let own = self.of(body);
        match self.rule {
            FlightRule::Exact => own.exact.advance(rigid, from, time),
            _ => {
                let (from, time) = own.own_steps(body, rigid, from, time)?;
                own.discrete.advance(rigid, &from, time)
            }
        }
    }

    /// Returns the position (m) and the velocity (m/s) of a body's center, in space, after a free flight of `time` (s) that
    /// starts at `from`.
    pub(crate) fn center(
        &self,
        body: &Body,
        from: &State,
        time: f64,
    ) -> (Vector3<f64>, Vector3<f64>) {
        if !body.is_mobile() {
            return (from.position, Vector3::zeros());
        }
        if time == 0.0 {
            return (from.position, from.linear_momentum / body.mass);
        }
        let gravity = self.pull(body);
        let drop = gravity * (0.5 * time * time);
        let momentum = from.linear_momentum + gravity * (body.mass * time);
        (
            from.position + (from.linear_momentum * (time / body.mass) + drop),
            momentum / body.mass,
        )
    }

    /// Returns the state of a body after a free flight of `time` (s) that starts at `from`, and the time derivative of position
    /// and attitude there. For a numerical scheme this derivative differs slightly from the velocity that belongs to the momenta,
    /// because the derivative is taken along the computed path.
    pub(crate) fn advance_with_rate(
        &self,
        body: &Body,
        from: &State,
        time: f64,
    ) -> Result<(State, PathRate), VariationalError> {
        let still = PathRate {
            linear: Vector3::zeros(),
            angular: Vector3::zeros(),
        };
        let Some(rigid) = &body.rigid else {
            return Ok((*from, still));
        };
        if self.is_exact(body) {
            let state = self.advance(body, from, time)?;
            let rate = PathRate {
                linear: state.linear_momentum / rigid.mass(),
                angular: rigid.angular_velocity(&state.angular_momentum),
            };
            return Ok((state, rate));
        }
        let own = self.of(body);
        let (from, time) = own.own_steps(body, rigid, from, time)?;
        own.discrete.advance_with_rate(rigid, &from, time)
    }

    /// Returns an upper bound of the acceleration (m/s²), without gravity, of any point of the body's cores during a free flight
    /// of `time` (s) from `from`. A core is a convex part without its rounding radius. The bound is infinite if the body rotates
    /// too far in the step.
    pub(crate) fn acceleration_bound(&self, body: &Body, from: &State, time: f64) -> f64 {
        let Some(rigid) = &body.rigid else {
            return 0.0;
        };
        if self.is_exact(body) {
            return body.exact_acceleration(from);
        }
        if body.extents.max() == 0.0 {
            return 0.0;
        }
        let rates = self.discrete.axis_rates(rigid, from, time);
        rates.map_or(f64::INFINITY, |rates| {
            rates.point_acceleration(&body.extents)
        })
    }

    /// Returns the kinetic energy of a body (J); 0 for a fixed body.
    pub(crate) fn kinetic(body: &Body, state: &State) -> f64 {
        body.rigid.as_ref().map_or(0.0, |rigid| {
            rigid.translational_energy(state) + rigid.rotational_energy(state)
        })
    }

    /// Returns the work of the force that a caller holds on a body, from the origin to its place (J).
    pub(crate) fn held_work(body: &Body, state: &State) -> f64 {
        let mass = body.rigid.as_ref().map_or(0.0, RigidBody::mass);
        mass * body.push.dot(&state.position)
    }

    /// Returns the sum of kinetic energy and potential energy in gravity of a body (J); 0 for a fixed body.
    pub(crate) fn energy(&self, body: &Body, state: &State) -> f64 {
        body.rigid.as_ref().map_or(0.0, |rigid| {
            Self::kinetic(body, state) - rigid.mass() * self.gravity.dot(&state.position)
        })
    }
}

/// Velocity of a body: velocity of its center in space (m/s), and angular velocity in body axes (rad/s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Velocity {
    pub(crate) linear: Vector3<f64>,
    pub(crate) angular: Vector3<f64>,
}

impl Velocity {
    pub(crate) fn of(body: &Body, state: &State) -> Self {
        match &body.rigid {
            Some(rigid) => Self {
                linear: state.linear_momentum / rigid.mass(),
                angular: rigid.angular_velocity(&state.angular_momentum),
            },
            None if body.is_prescribed() => Self {
                linear: state.linear_momentum,
                angular: state.angular_momentum,
            },
            None => Self {
                linear: Vector3::zeros(),
                angular: Vector3::zeros(),
            },
        }
    }

    /// Returns the velocity of the center and the angular velocity, one after the other.
    pub(crate) fn stacked(&self) -> Vector6<f64> {
        let (v, w) = (&self.linear, &self.angular);
        Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
    }

    /// Returns an upper bound of the speed (m/s) of a point up to `radius` (m) from the center.
    pub(crate) fn speed(&self, radius: f64) -> f64 {
        self.linear.norm() + self.angular.norm() * radius
    }

    /// Returns the velocity in space (m/s) of a point of the body. `arm` is the vector from the center to the point, in body axes
    /// (m).
    pub(crate) fn at(&self, rotation: &So3, arm: &Vector3<f64>) -> Vector3<f64> {
        self.linear + rotation.rotate(&self.angular.cross(arm))
    }
}
