//! Specification of a world of rigid bodies and planes, and its preparation for a run.

use crate::body::{Body, BodySpec, FlightRule, Flights, PlaneSpec, Velocity};
use crate::pair::{self, Other, PairMemory};
use crate::stepping::Scheme;
use crate::surface::Surface;
use crate::{MotionError, limits};
use carom_contact::{ImpactLaw, ImpactProblem};
use carom_geometry::pair::Part;
use carom_impact::two_body::ImpactOptions;
use carom_lie::So3;
use carom_variational::State;
use carom_variational::spring::Spring;
use nalgebra::Vector3;
use std::collections::BTreeMap;

/// Slow contacts close at less than the speed that gravity gives in this many steps; time stepping of heaps has no restitution
/// below that speed either.
pub(crate) const SLOW: f64 = 3.0;

/// Contacts whose gap is within this fraction of the smaller body's radius take part in an impact.
pub(crate) const CONTACT_TOLERANCE: f64 = 1e-9;

/// Largest rounding of the coordinates of a body, as a fraction of its radius, with which its free motion can still be computed.
pub(crate) const RESOLVED: f64 = 1e-3;

/// Largest number of mobile bodies for which a world that loses energy is integrated from event to event by default: more of them
/// come to rest in heaps, with thousands of impacts.
pub(crate) const MANY: usize = 12;

/// Option of a run of a world: continuation after a Zeno point. At a Zeno point, infinitely many impacts of a contact
/// accumulate within a finite time, because each impact loses energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnZeno {
    /// At an accumulation point of impacts (Zeno point), the impacts end, and the motion continues in lasting contact.
    Rest,
    /// The run ends at an accumulation point of impacts (Zeno point).
    Stop,
    /// Every impact is resolved on its own, also where impacts accumulate.
    Continue,
}

/// Impact law that a run uses for impacts at a single contact point.
///
/// # Examples
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_impact::frictional::Poisson;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_lie::{Se3, So3};
/// # use carom_motion::hybrid::Limits;
/// # use carom_world::{
/// #     BodySpec, FlightRule, Laws, PlaneSpec, SingleLaw, Surface, World, WorldSpec,
/// # };
/// # use nalgebra::Vector3;
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let ball = |name: &str, x: f64, speed: f64| -> Result<_, Box<dyn std::error::Error>> {
/// #     let place = Se3::new(So3::identity(), Vector3::new(x, 0.0, 1.35));
/// #     Ok(BodySpec::new(name, Some(shape.mass_properties(1.0)?), shape.clone(), place)
/// #         .with_velocity(Vector3::new(speed, 0.0, 0.0), Vector3::zeros()))
/// # };
/// # let elastic = Surface::new(0.0, 1.0);
/// # let spec = |bodies, planes, gravity: f64| {
/// #     WorldSpec::new(bodies, planes, Vector3::new(0.0, 0.0, -gravity), 1e-3, elastic)
/// # };
/// # let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| Box::new(Poisson::default()));
///
/// use carom_impact::Plastic;
/// let spec = spec(vec![ball("left", 0.0, 2.0)?, ball("right", 1.0, 0.0)?], vec![], 0.0);
/// let plastic = Plastic::default();
/// let laws = laws.with_single(SingleLaw::Any(&plastic));
/// let end = World::new(&spec)?.run(&laws, &Limits::duration(1.0), &[], &mut |_| ());
/// // Two equal balls go on together at half the speed.
/// for state in &end.states {
///     assert!((state.linear_momentum.x - 1.0).abs() < 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SingleLaw<'a> {
    /// The frictional impact of two bodies at one contact point, by closed forms and hodographs.
    TwoBody(ImpactOptions),
    /// Any impact law that the caller provides.
    Any(&'a dyn ImpactLaw),
}

/// Impact laws of a run of a world: the law for impacts at one contact, the law for impacts at several contacts, and the
/// continuation after a Zeno point (infinitely many impacts within a finite time).
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Laws<'a> {
    /// Impact law for impacts at a single contact point.
    pub single: SingleLaw<'a>,
    /// Function that creates the impact law for impacts at several contact points. Its arguments are the number of the impact,
    /// which laws with random samples use as index of the sample, and the problem that the law is asked.
    pub several: &'a dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw>,
    /// Treatment of accumulating impacts (Zeno points).
    pub on_zeno: OnZeno,
}

impl<'a> Laws<'a> {
    /// Creates the laws of a run from the law for impacts at a single contact point and the function that creates the law for
    /// impacts at several. Where impacts accumulate, the motion continues in lasting contact.
    pub fn new(
        single: SingleLaw<'a>,
        several: &'a dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw>,
    ) -> Self {
        Self {
            single,
            several,
            on_zeno: OnZeno::Rest,
        }
    }

    /// Returns the closing speed (m/s) up to which a further point of a lasting contact lands without restitution: the rebounds of
    /// many bodies would else never end. Elastic landings, and those that are to be resolved or to stop the run, all rebound.
    pub(crate) fn slowest_landing(
        &self,
        restitution: f64,
        gravity: &Vector3<f64>,
        time_step: f64,
    ) -> f64 {
        if self.on_zeno == OnZeno::Rest && restitution < 1.0 {
            SLOW * gravity.norm() * time_step
        } else {
            0.0
        }
    }

    /// Sets the law for impacts at a single contact point.
    #[must_use]
    pub fn with_single(self, single: SingleLaw<'a>) -> Self {
        Self { single, ..self }
    }

    /// Sets the function that creates the law for impacts at several contact points.
    #[must_use]
    pub fn with_several(
        self,
        several: &'a dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw>,
    ) -> Self {
        Self { several, ..self }
    }

    /// Sets the treatment of accumulating impacts (Zeno points).
    #[must_use]
    pub fn with_on_zeno(self, on_zeno: OnZeno) -> Self {
        Self { on_zeno, ..self }
    }
}

impl std::fmt::Debug for Laws<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Laws")
            .field("single", &self.single)
            .field("on_zeno", &self.on_zeno)
            .finish_non_exhaustive()
    }
}

/// Specification of a world (a simulation of rigid bodies): bodies, planes, gravity, and contact coefficients of pairs.
///
/// # Examples
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_impact::frictional::Poisson;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_lie::{Se3, So3};
/// # use carom_motion::hybrid::Limits;
/// # use carom_world::{
/// #     BodySpec, FlightRule, Laws, PlaneSpec, SingleLaw, Surface, World, WorldSpec,
/// # };
/// # use nalgebra::Vector3;
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let ball = |name: &str, x: f64, speed: f64| -> Result<_, Box<dyn std::error::Error>> {
/// #     let place = Se3::new(So3::identity(), Vector3::new(x, 0.0, 1.35));
/// #     Ok(BodySpec::new(name, Some(shape.mass_properties(1.0)?), shape.clone(), place)
/// #         .with_velocity(Vector3::new(speed, 0.0, 0.0), Vector3::zeros()))
/// # };
/// # let elastic = Surface::new(0.0, 1.0);
/// # let spec = |bodies, planes, gravity: f64| {
/// #     WorldSpec::new(bodies, planes, Vector3::new(0.0, 0.0, -gravity), 1e-3, elastic)
/// # };
/// # let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| Box::new(Poisson::default()));
///
/// let balls = vec![ball("left", 0.0, 2.0)?, ball("right", 1.0, 0.0)?];
/// let mut spec = spec(balls, vec![], 0.0);
/// spec.pairs = vec![([0, 1], Surface::new(0.0, 0.5))];
/// let end = World::new(&spec)?.run(&laws, &Limits::duration(1.0), &[], &mut |_| ());
/// // v (1 - e)/2 and v (1 + e)/2.
/// assert!((end.states[0].linear_momentum.x - 0.5).abs() < 1e-12);
/// assert!((end.states[1].linear_momentum.x - 1.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct WorldSpec {
    /// Bodies of the world, mobile and fixed.
    pub bodies: Vec<BodySpec>,
    /// Fixed planes.
    pub planes: Vec<PlaneSpec>,
    /// Acceleration of gravity (m/s²).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub gravity: Vector3<f64>,
    /// Integration scheme of the free motion between impacts.
    pub flight: FlightRule,
    /// Time step (s) of the grid, for free flights that are integrated numerically and for lasting contact.
    pub time_step: f64,
    /// Friction and restitution of every pair that is not listed in `pairs`.
    pub surface: Surface,
    /// Friction and restitution of single pairs, given by their indices. These count the bodies in their order, then the planes.
    pub pairs: Vec<([usize; 2], Surface)>,
    /// Springs between points of bodies.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub springs: Vec<Spring>,
}

impl WorldSpec {
    /// Specifies a world with exact free flight: its bodies and planes, the acceleration of gravity (m/s²), the time step of the
    /// grid (s), and friction and restitution of all pairs.
    pub fn new(
        bodies: Vec<BodySpec>,
        planes: Vec<PlaneSpec>,
        gravity: Vector3<f64>,
        time_step: f64,
        surface: Surface,
    ) -> Self {
        Self {
            bodies,
            planes,
            gravity,
            flight: FlightRule::Exact,
            time_step,
            surface,
            pairs: Vec::new(),
            springs: Vec::new(),
        }
    }

    /// Sets the springs between points of bodies.
    #[must_use]
    pub fn with_springs(self, springs: Vec<Spring>) -> Self {
        Self { springs, ..self }
    }

    /// Sets the time step of the grid (s).
    pub fn with_time_step(mut self, time_step: f64) -> Self {
        self.time_step = time_step;
        self
    }
}

/// A world: a simulation of rigid bodies and planes with contact that is ready to run, after its specification has been
/// checked.
///
/// # Examples
///
/// A ball dropped by 1.25 m is back at its height after 1 s, at $g = 10$ m/s²:
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_impact::frictional::Poisson;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_lie::{Se3, So3};
/// # use carom_motion::hybrid::Limits;
/// # use carom_world::{
/// #     BodySpec, FlightRule, Laws, PlaneSpec, SingleLaw, Surface, World, WorldSpec,
/// # };
/// # use nalgebra::Vector3;
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let ball = |name: &str, x: f64, speed: f64| -> Result<_, Box<dyn std::error::Error>> {
/// #     let place = Se3::new(So3::identity(), Vector3::new(x, 0.0, 1.35));
/// #     Ok(BodySpec::new(name, Some(shape.mass_properties(1.0)?), shape.clone(), place)
/// #         .with_velocity(Vector3::new(speed, 0.0, 0.0), Vector3::zeros()))
/// # };
/// # let elastic = Surface::new(0.0, 1.0);
/// # let spec = |bodies, planes, gravity: f64| {
/// #     WorldSpec::new(bodies, planes, Vector3::new(0.0, 0.0, -gravity), 1e-3, elastic)
/// # };
/// # let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| Box::new(Poisson::default()));
///
/// let floor = PlaneSpec::new("floor", HalfSpace::new(Vector3::z(), 0.0)?);
/// let world = World::new(&spec(vec![ball("ball", 0.0, 0.3)?], vec![floor], 10.0))?;
/// let end = world.run(&laws, &Limits::duration(1.0), &[], &mut |_| ());
/// assert_eq!(end.n_impacts, 1);
/// assert!((end.states[0].position - Vector3::new(0.3, 0.0, 1.35)).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) bodies: Vec<Body>,
    pub(crate) planes: Vec<PlaneSpec>,
    pub(crate) flights: Flights,
    pub(crate) time_step: f64,
    pub(crate) initial: Vec<State>,
    pub(crate) springs: Vec<Spring>,
    surface: Surface,
    pairs: BTreeMap<(usize, usize), Surface>,
}

impl World {
    /// Creates a world (a simulation of rigid bodies and planes) from its specification, which is checked.
    ///
    /// # Errors
    ///
    /// [`MotionError::InvalidValue`], [`MotionError::DuplicateName`], [`MotionError::InvalidPair`], [`MotionError::Shape`] for a
    /// mesh that is not convex, [`MotionError::InitialPenetration`], and [`MotionError::CoarseCoordinates`].
    pub fn new(spec: &WorldSpec) -> Result<Self, MotionError> {
        limits::check_step(spec.time_step, &spec.gravity)?;
        limits::check_surface(&spec.surface)?;
        limits::check_pairs(&spec.pairs, spec.bodies.len() + spec.planes.len())?;
        let planes = spec.planes.iter().map(|plane| plane.name.as_str());
        let things = spec.bodies.iter().map(|b| b.name.as_str()).chain(planes);
        limits::check_names(limits::THINGS, things)?;
        let bodies = spec
            .bodies
            .iter()
            .map(Body::new)
            .collect::<Result<Vec<_>, _>>()?;
        let mut initial = Vec::with_capacity(bodies.len());
        for (body, spec) in bodies.iter().zip(&spec.bodies) {
            initial.push(start(body, spec)?);
            let moves = body.is_mobile() || body.is_prescribed();
            limits::check_running(&spec.name, &spec.surface_velocity, moves)?;
            limits::check_told(&spec.name, body.is_prescribed() && body.is_mobile())?;
        }
        for plane in &spec.planes {
            let along = plane.half_space.normal().dot(&plane.surface_velocity);
            let is_off = along.abs() > CONTACT_TOLERANCE * plane.surface_velocity.norm();
            limits::check_running(&plane.name, &plane.surface_velocity, is_off)?;
        }
        let order = |[i, j]: [usize; 2]| if i < j { (i, j) } else { (j, i) };
        let mut world = Self {
            bodies,
            planes: spec.planes.clone(),
            flights: Flights::new(spec.flight, spec.gravity, spec.time_step),
            time_step: spec.time_step,
            initial,
            springs: Vec::new(),
            surface: spec.surface,
            pairs: spec
                .pairs
                .iter()
                .map(|(names, s)| (order(*names), *s))
                .collect(),
        };
        for (body, state) in world.initial.iter().enumerate() {
            world.check_place(body, state, 0.0)?;
            limits::check_value(
                &format!("energy of `{}`", world.bodies[body].name),
                world.energy(body, state),
                true,
                "finite: its speeds and masses are too large for numbers",
            )?;
        }
        world.take_springs(&spec.springs)?;
        world.check_overlaps(&world.initial)?;
        Ok(world)
    }

    /// Checks that the position of a body is not too far from the origin: the spacing of floating-point numbers there
    /// must be a small fraction of the body's radius. Fixed bodies are not checked. `time` (s) is used in the error.
    ///
    /// # Errors
    ///
    /// [`MotionError::CoarseCoordinates`].
    pub(crate) fn check_place(
        &self,
        body: usize,
        state: &State,
        time: f64,
    ) -> Result<(), MotionError> {
        let Some(about) = self.bodies.get(body).filter(|body| body.is_mobile()) else {
            return Ok(());
        };
        let needed = RESOLVED * about.radius;
        check_rounding(&about.name, state.position.amax(), needed, time)
    }

    /// Checks that the contact tolerance of a pair is larger than the rounding error of the positions of both bodies.
    /// `states`: states of the two; `time` (s) is used in the error.
    ///
    /// # Errors
    ///
    /// [`MotionError::CoarseCoordinates`].
    pub(crate) fn check_contact(
        &self,
        (i, j): (usize, usize),
        states: [&State; 2],
        time: f64,
    ) -> Result<(), MotionError> {
        let [here, there] = states.map(|state| state.position.amax());
        let far = match self.thing(j) {
            Other::Body(_) => here.max(there),
            Other::Plane(plane) => here.max(plane.half_space.offset().abs()),
        };
        check_rounding(&self.bodies[i].name, far, self.tolerance(i, j), time)
    }

    /// Checks that bodies in `states` are in reach of their coordinates, and do not overlap.
    pub(crate) fn check_start(&self, states: &[State], time: f64) -> Result<(), MotionError> {
        let mut bodies = states.iter().enumerate();
        bodies.try_for_each(|(body, state)| self.check_place(body, state, time))?;
        self.check_overlaps(states)
    }

    fn check_overlaps(&self, all: &[State]) -> Result<(), MotionError> {
        let mut deep: Option<((usize, usize), f64)> = None;
        let mut coarse: Option<((usize, usize), MotionError)> = None;
        self.each_pair(all, 0.0, &mut |pair| {
            let of = |thing: usize| all.get(thing).unwrap_or(self.initial_of(thing));
            let states = [pair.0, pair.1].map(of);
            if let Err(error) = self.check_contact(pair, states, 0.0) {
                if coarse.as_ref().is_none_or(|(first, _)| pair < *first) {
                    coarse = Some((pair, error));
                }
                return 0.0;
            }
            let gap = self.gap(pair, all);
            if gap < -self.tolerance(pair.0, pair.1) && deep.is_none_or(|(first, _)| pair < first) {
                deep = Some((pair, -gap));
            }
            0.0
        });
        if let Some((_, error)) = coarse {
            return Err(error);
        }
        match deep {
            None => Ok(()),
            Some(((first, second), depth)) => Err(MotionError::InitialPenetration {
                first: self.name(first).to_owned(),
                second: self.name(second).to_owned(),
                depth,
            }),
        }
    }

    /// Returns true if some pair overlaps by more than `fraction` of the radius of its smaller body.
    pub(crate) fn overlaps(&self, states: &[State], fraction: f64) -> bool {
        let mut found = false;
        self.each_pair(states, 0.0, &mut |pair| {
            let size = pair::size(&self.bodies[pair.0], &self.thing(pair.1));
            found |= !(self.gap(pair, states) >= -fraction * size);
            0.0
        });
        found
    }

    fn gap(&self, (i, j): (usize, usize), states: &[State]) -> f64 {
        let (body, here) = (&self.bodies[i], &states[i]);
        let there = states.get(j).unwrap_or(here);
        pair::gap(body, here, &self.thing(j), there, &mut PairMemory::new()).value
    }

    /// Calls `report` for every pair that can touch and that is near: the bounding balls of its bodies, or ball and plane, are no
    /// farther apart than `reach` (m). The value that each call returns is the `reach` for the following pairs.
    fn each_pair(
        &self,
        states: &[State],
        mut reach: f64,
        report: &mut dyn FnMut((usize, usize)) -> f64,
    ) {
        let n = self.bodies.len();
        let low = |i: usize| states[i].position.x - self.bodies[i].radius;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|i, j| low(*i).total_cmp(&low(*j)));
        for (place, &i) in order.iter().enumerate() {
            let (here, radius) = (states[i].position, self.bodies[i].radius);
            for (index, plane) in self.planes.iter().enumerate() {
                if plane.half_space.height(&here) - radius <= reach
                    && let Some(pair) = self.pair_of(i, n + index)
                {
                    reach = report(pair);
                }
            }
            for &j in order.iter().skip(place + 1) {
                if low(j) > here.x + radius + reach {
                    break;
                }
                let apart = (here - states[j].position).norm();
                if apart - radius - self.bodies[j].radius <= reach
                    && let Some(pair) = self.pair_of(i, j)
                {
                    reach = report(pair);
                }
            }
        }
    }

    /// Returns the time integration scheme that suits this world: time stepping if there are more than twelve mobile bodies
    /// and some pair can lose energy (friction, or restitution below 1), otherwise event-driven integration.
    pub fn suitable_scheme(&self) -> Scheme {
        let mobile = self.bodies.iter().filter(|body| body.is_mobile()).count();
        let loses = |s: &Surface| s.collide && (s.friction > 0.0 || s.restitution < 1.0);
        let lossy = loses(&self.surface) || self.pairs.values().any(loses);
        if mobile > MANY && lossy {
            Scheme::TimeStepping
        } else {
            Scheme::Events
        }
    }

    /// Returns the number of bodies and planes together.
    pub(crate) fn n_things(&self) -> usize {
        self.bodies.len() + self.planes.len()
    }

    /// Returns the body or plane with a given index; bodies are counted first.
    pub(crate) fn thing(&self, index: usize) -> Other<'_> {
        match self.bodies.get(index) {
            Some(body) => Other::Body(body),
            None => Other::Plane(&self.planes[index - self.bodies.len()]),
        }
    }

    pub(crate) fn is_mobile(&self, index: usize) -> bool {
        self.bodies.get(index).is_some_and(Body::is_mobile)
    }

    /// Returns the initial state of a body. The index of a plane is allowed, but gives a state without meaning.
    pub(crate) fn initial_of(&self, index: usize) -> &State {
        &self.initial[index.min(self.initial.len() - 1)]
    }

    /// Orders the indices of two bodies, or of a body and a plane, as a pair. The first is mobile; of two mobile bodies it is the
    /// one with the smaller index. `None` if the two cannot touch.
    pub(crate) fn pair_of(&self, i: usize, j: usize) -> Option<(usize, usize)> {
        if i == j {
            return None;
        }
        let (i, j) = if i < j { (i, j) } else { (j, i) };
        if !self.surface(i, j).collide {
            return None;
        }
        match (self.is_mobile(i), self.is_mobile(j)) {
            (true, _) => Some((i, j)),
            (false, true) => Some((j, i)),
            _ => None,
        }
    }

    /// Returns the coefficients of friction and restitution of the pair (`i`, `j`), in any order; indices count the bodies, then
    /// the planes.
    pub fn surface(&self, i: usize, j: usize) -> Surface {
        let key = if i < j { (i, j) } else { (j, i) };
        self.pairs.get(&key).copied().unwrap_or(self.surface)
    }

    /// Returns the gap (m) up to which the pair (`i`, `j`) counts as touching.
    pub(crate) fn tolerance(&self, i: usize, j: usize) -> f64 {
        CONTACT_TOLERANCE * pair::size(&self.bodies[i], &self.thing(j))
    }

    /// Returns the name of the world's body or plane with an index; indices count the bodies in their order, then the planes.
    pub fn name(&self, index: usize) -> &str {
        match self.bodies.get(index) {
            Some(body) => &body.name,
            None => match self.planes.get(index - self.bodies.len()) {
                Some(plane) => &plane.name,
                None => "",
            },
        }
    }

    /// Returns the states of all bodies of the world at the start.
    pub fn initial_states(&self) -> &[State] {
        &self.initial
    }

    /// Returns the number of bodies of the world, fixed ones included.
    pub fn n_bodies(&self) -> usize {
        self.bodies.len()
    }

    /// True if the body with the given index is fixed (never moves), or told its motion.
    pub fn is_fixed(&self, body: usize) -> bool {
        !self.is_mobile(body)
    }

    /// Returns the convex parts that make up the shape of the body with the given index.
    pub fn parts(&self, body: usize) -> &[Part] {
        self.bodies.get(body).map_or(&[], |body| &body.parts)
    }

    /// Returns the velocity of a body's center of mass (m/s) and the body's angular velocity (rad/s) in a state, both in
    /// world coordinates. `body` is the body's index. Both velocities are zero for a fixed body.
    pub fn velocity(&self, body: usize, state: &State) -> (Vector3<f64>, Vector3<f64>) {
        let Some(rigid) = self.bodies.get(body).and_then(|b| b.rigid.as_ref()) else {
            let about = self.bodies.get(body).filter(|about| about.is_prescribed());
            return about.map_or((Vector3::zeros(), Vector3::zeros()), |about| {
                let velocity = Velocity::of(about, state);
                (velocity.linear, state.rotation.rotate(&velocity.angular))
            });
        };
        let spin = rigid.angular_velocity(&state.angular_momentum);
        (
            state.linear_momentum / rigid.mass(),
            state.rotation.rotate(&spin),
        )
    }

    /// Returns the velocity of a body's center of mass in space (m/s); zero for a fixed body.
    pub(crate) fn drift(&self, body: usize, state: &State) -> Vector3<f64> {
        match self.bodies.get(body).and_then(|b| b.rigid.as_ref()) {
            Some(rigid) => state.linear_momentum / rigid.mass(),
            None => Vector3::zeros(),
        }
    }

    /// Returns the kinetic plus potential energy of a body in a state (J); `body` is the body's index.
    pub fn energy(&self, body: usize, state: &State) -> f64 {
        self.bodies
            .get(body)
            .map_or(0.0, |b| self.flights.energy(b, state))
    }

    /// Returns the smallest gap (distance between surfaces) of any pair of bodies, or body and plane, at given states of all
    /// bodies (m); infinite if nothing can touch.
    pub fn lowest_gap(&self, states: &[State]) -> f64 {
        let mut lowest = f64::INFINITY;
        self.each_pair(states, lowest, &mut |pair| {
            lowest = lowest.min(self.gap(pair, states));
            lowest
        });
        lowest
    }
}

/// Checks that a coordinate of size `far` (m) has a rounding error of at most `needed` (m). `body` and `time` (s) are used for
/// the error message.
pub(crate) fn check_rounding(
    body: &str,
    far: f64,
    needed: f64,
    time: f64,
) -> Result<(), MotionError> {
    let rounding = far * f64::EPSILON;
    if rounding <= needed {
        return Ok(());
    }
    Err(MotionError::CoarseCoordinates {
        body: body.to_owned(),
        coordinate: far,
        rounding,
        needed,
        time,
    })
}

fn start(body: &Body, spec: &BodySpec) -> Result<State, MotionError> {
    let place = &spec.configuration.translation;
    limits::check_start(&spec.name, [place, &spec.velocity, &spec.angular_velocity])?;
    let rotation: So3 = spec.configuration.rotation;
    let (linear_momentum, angular_momentum) = match &body.rigid {
        Some(rigid) => (
            spec.velocity * rigid.mass(),
            rigid.inertia() * rotation.rotate_back(&spec.angular_velocity),
        ),
        None => (Vector3::zeros(), Vector3::zeros()),
    };
    if let Some(told) = body.checked(0.0)? {
        return Ok(told);
    }
    Ok(State {
        position: spec.configuration.translation,
        rotation,
        linear_momentum,
        angular_momentum,
    })
}
