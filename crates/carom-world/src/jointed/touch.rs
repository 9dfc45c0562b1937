//! Shapes of jointed bodies, and the pairs of them that may touch.

use crate::body::{Body, Flights, PlaneSpec, Velocity};
use crate::force::{ContactForce, PointForce};
use crate::pair::{self, ContactPoint, Other, PairMemory};
use crate::search::{BAND, Launch, Progress, Search};
use crate::spec::{CONTACT_TOLERANCE, MANY, RESOLVED, check_rounding};
use crate::step::Touching;
use crate::{BodySpec, FlightRule, MotionError, Surface};
use carom_geometry::pair::tangents;
use carom_geometry::{MassProperties, Shape};
use carom_joints::Multibody;
use carom_joints::frames::{Row, stack};
use carom_joints::step::contacts::ContactRow;
use carom_lie::{Se3, So3};
use carom_variational::State;
use nalgebra::{Vector3, Vector6};
use std::collections::BTreeSet;

/// Specification of contact between jointed bodies: shapes of the bodies, fixed planes, and the pairs that may touch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TouchSpec {
    /// Shape of each body in body axes, with the origin at the center of mass; `None` for a body that touches nothing.
    pub shapes: Vec<Option<Shape>>,
    /// Fixed planes that bodies can touch.
    pub planes: Vec<PlaneSpec>,
    /// Pairs that may touch. Indices count the bodies in their order, then the planes.
    pub pairs: Vec<([usize; 2], Surface)>,
    /// Pairs of indices, the smaller index first, that may overlap at the start. A pair that does so is never in contact during
    /// the run. Any other pair that overlaps is an error.
    pub may_overlap: BTreeSet<[usize; 2]>,
}

impl TouchSpec {
    /// Specifies contact by the shape of each body in body axes (`None` for a body that touches nothing), the fixed planes, and the
    /// pairs that may touch, none of which overlaps at the start.
    pub fn new(
        shapes: Vec<Option<Shape>>,
        planes: Vec<PlaneSpec>,
        pairs: Vec<([usize; 2], Surface)>,
    ) -> Self {
        Self {
            shapes,
            planes,
            pairs,
            may_overlap: BTreeSet::new(),
        }
    }
}

/// A pair that may touch. The first is a mobile body; of two mobile bodies, the one with the smaller index.
#[derive(Clone, Debug)]
pub(super) struct TouchPair {
    pub(super) first: usize,
    /// Index of a body, or of a plane counted after the bodies.
    pub(super) second: usize,
    pub(super) surface: Surface,
    /// Gap up to which the pair counts as touching (m).
    pub(super) tolerance: f64,
}

/// All shapes and planes that can touch, and their pairs.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    bodies: Vec<Option<Body>>,
    planes: Vec<PlaneSpec>,
    pub(super) pairs: Vec<TouchPair>,
    pub(super) flights: Flights,
    pub(super) time_step: f64,
    /// True for the bodies that no joint holds.
    loose: Vec<bool>,
}

impl Touch {
    /// Returns the force at a point of the pair with the index `pair`.
    pub(super) fn force(&self, pair: usize, of_point: &PointForce) -> ContactForce {
        let pair = &self.pairs[pair];
        ContactForce::new((pair.first, pair.second), of_point)
    }

    pub(super) fn new(
        spec: &TouchSpec,
        multibody: &Multibody,
        time_step: f64,
        exact: bool,
    ) -> Result<Self, MotionError> {
        let mut bodies = Vec::with_capacity(multibody.n_bodies());
        for body in 0..multibody.n_bodies() {
            let shape = spec.shapes.get(body).and_then(Option::as_ref);
            bodies.push(match shape {
                None => None,
                Some(shape) => Some(prepare(multibody, body, shape)?),
            });
        }
        let rule = if exact {
            FlightRule::Exact
        } else {
            FlightRule::Lgvi
        };
        let mut touch = Self {
            bodies,
            planes: spec.planes.clone(),
            pairs: Vec::new(),
            flights: Flights::new(rule, *multibody.gravity(), time_step),
            time_step,
            loose: loose(multibody),
        };
        for ([i, j], surface) in &spec.pairs {
            touch.add(*i, *j, *surface);
        }
        Ok(touch)
    }

    pub(super) fn is_mobile(&self, thing: usize) -> bool {
        let body = self.bodies.get(thing).and_then(Option::as_ref);
        body.is_some_and(Body::is_mobile)
    }

    /// Sets the acceleration by the force that a caller holds on a body (m/s²).
    pub(super) fn set_push(&mut self, body: usize, push: Vector3<f64>) {
        if let Some(body) = self.bodies.get_mut(body).and_then(Option::as_mut) {
            body.push = push;
        }
    }

    /// True if more than [`MANY`] mobile bodies with shapes hang on no joint and some pair can lose energy.
    pub(super) fn is_heap(&self) -> bool {
        let bodies = self.bodies.iter().flatten().zip(&self.loose);
        let loose = bodies.filter(|(body, loose)| **loose && body.is_mobile());
        let loses =
            |pair: &TouchPair| pair.surface.friction > 0.0 || pair.surface.restitution < 1.0;
        loose.count() > MANY && self.pairs.iter().any(loses)
    }

    fn has_shape(&self, thing: usize) -> bool {
        match self.bodies.get(thing) {
            Some(body) => body.is_some(),
            None => thing - self.bodies.len() < self.planes.len(),
        }
    }

    fn add(&mut self, i: usize, j: usize, surface: Surface) {
        let (i, j) = (i.min(j), i.max(j));
        if i == j || !surface.collide || !self.has_shape(i) || !self.has_shape(j) {
            return;
        }
        let (first, second) = match (self.is_mobile(i), self.is_mobile(j)) {
            (true, _) => (i, j),
            (false, true) => (j, i),
            _ => return,
        };
        let mut pair = TouchPair {
            first,
            second,
            surface,
            tolerance: 0.0,
        };
        if let Some((body, other)) = self.things(&pair) {
            pair.tolerance = CONTACT_TOLERANCE * pair::size(body, &other);
            self.pairs.push(pair);
        }
    }

    /// Returns the first body of a pair, and the other body or plane. Returns `None` if one of the bodies has no shape.
    fn things(&self, pair: &TouchPair) -> Option<(&Body, Other<'_>)> {
        let body = self.bodies.get(pair.first)?.as_ref()?;
        let other = match self.bodies.get(pair.second) {
            Some(second) => Other::Body(second.as_ref()?),
            None => Other::Plane(self.planes.get(pair.second - self.bodies.len())?),
        };
        Some((body, other))
    }

    fn states_of<'s>(pair: &TouchPair, states: &'s [State]) -> [&'s State; 2] {
        let first = &states[pair.first];
        [first, states.get(pair.second).unwrap_or(first)]
    }

    /// Returns the number of fixed planes that bodies can touch.
    pub(super) fn n_planes(&self) -> usize {
        self.planes.len()
    }

    /// Returns the name of a body with a shape, or of a plane. `thing` is the index of the body, or of the plane counted after
    /// the bodies.
    pub(super) fn name(&self, thing: usize) -> &str {
        match self.bodies.get(thing) {
            Some(body) => body.as_ref().map_or("", |body| &body.name),
            None => {
                let plane = self.planes.get(thing - self.bodies.len());
                plane.map_or("", |plane| &plane.name)
            }
        }
    }

    /// Returns the smallest distance between the two shapes of a pair (m), negative if they overlap. `states` holds the states of
    /// all bodies.
    pub(super) fn gap(&self, pair: &TouchPair, states: &[State]) -> f64 {
        let Some((body, other)) = self.things(pair) else {
            return f64::INFINITY;
        };
        let [here, there] = Self::states_of(pair, states);
        if let Some(found) = pair::touch_of_spheres(body, here, &other, there) {
            return found.gap;
        }
        pair::gap(body, here, &other, there, &mut PairMemory::new()).value
    }

    /// Returns a bound of the rounding error in the gap of a pair of shapes (m). `states` holds the states of all bodies.
    pub(super) fn rounding(&self, pair: &TouchPair, states: &[State]) -> f64 {
        let [here, there] = Self::states_of(pair, states);
        self.things(pair).map_or(0.0, |(body, other)| {
            BAND * pair::gap_scale(body, here, &other, there)
        })
    }

    /// Appends to `out` all contact points of a pair of shapes whose gap is at most `tolerance` (m). `states` holds the states of
    /// all bodies.
    pub(super) fn points(
        &self,
        pair: &TouchPair,
        states: &[State],
        tolerance: f64,
        out: &mut Vec<ContactPoint>,
    ) {
        if let Some((body, other)) = self.things(pair) {
            let [here, there] = Self::states_of(pair, states);
            let memory = &mut PairMemory::new();
            pair::contact_points(body, here, &other, there, memory, tolerance, out);
        }
    }

    /// Returns the largest rate of the contact points of lasting pairs on bodies that no joint holds (1/s): a step is to be at most
    /// as long as its inverse. `lasting`: index of each pair, and distance within which its points count as contacts (m); `force`:
    /// normal force of a pair (N), if known.
    pub(super) fn rate(
        &self,
        lasting: &[(usize, f64)],
        states: &[State],
        force: impl Fn(usize) -> Option<f64>,
    ) -> f64 {
        let is_loose = |thing: usize| self.loose.get(thing).is_some_and(|loose| *loose);
        let mut largest = 0.0_f64;
        for (index, reach) in lasting {
            let pair = &self.pairs[*index];
            let sides = [(pair.first, true), (pair.second, false)];
            let Some((first, other)) = self.things(pair) else {
                continue;
            };
            if !sides.iter().any(|(thing, _)| is_loose(*thing)) {
                continue;
            }
            let mut points = Vec::new();
            self.points(pair, states, reach.max(pair.tolerance), &mut points);
            for point in &points {
                let touching = Touching {
                    first,
                    other: &other,
                    point,
                    states: Self::states_of(pair, states),
                };
                let force = force(*index).map(|force| force / points.len() as f64);
                for (thing, is_first) in sides.iter().filter(|(thing, _)| is_loose(*thing)) {
                    if let Some(body) = self.bodies.get(*thing).and_then(Option::as_ref) {
                        let rate = touching.rate(body, *is_first, &self.flights, force);
                        largest = largest.max(rate);
                    }
                }
            }
        }
        largest
    }

    /// Returns a contact point of a pair of shapes on the face that gives its normal, see [`ContactPoint::on_face`].
    pub(super) fn on_face(&self, pair: &TouchPair, point: &ContactPoint) -> ContactPoint {
        self.things(pair)
            .map_or(*point, |(_, other)| point.on_face(&other))
    }

    /// Computes a contact point of a pair of shapes again after the bodies have moved to `states`; the point moves with its body.
    pub(super) fn moved(
        &self,
        pair: &TouchPair,
        point: &ContactPoint,
        states: &[State],
    ) -> ContactPoint {
        let [here, there] = Self::states_of(pair, states);
        self.things(pair).map_or(*point, |(body, other)| {
            point.moved(body, here, &other, there)
        })
    }

    /// Returns an upper bound of the speed of any point of a body (m/s), or 0 for a plane. `thing` is the index of the body, or
    /// of the plane counted after the bodies.
    fn speed_of(&self, thing: usize, states: &[State]) -> f64 {
        let body = self.bodies.get(thing).and_then(Option::as_ref);
        let (Some(body), Some(state)) = (body, states.get(thing)) else {
            return 0.0;
        };
        let velocity = Velocity::of(body, state);
        velocity.linear.norm() + velocity.angular.norm() * body.radius
    }

    /// Returns an upper bound of the speed of any point of the two bodies of a pair (m/s).
    pub(super) fn speed(&self, pair: &TouchPair, states: &[State]) -> f64 {
        let (first, second) = (pair.first, pair.second);
        self.speed_of(first, states)
            .max(self.speed_of(second, states))
    }

    /// Returns the largest absolute coordinate of the positions of both bodies of a pair, plus the radius of the first body (m).
    /// Rounding errors are proportional to it.
    pub(super) fn extent(&self, pair: &TouchPair, states: &[State]) -> f64 {
        let [here, there] = Self::states_of(pair, states);
        let radius = self.things(pair).map_or(0.0, |(body, _)| body.radius);
        here.position.amax().max(there.position.amax()) + radius
    }

    /// True if the bounding balls of two bodies, or of a body and a plane, may come within the distance `within` (m) of each
    /// other during a free flight of `length` (s).
    pub(super) fn is_near(
        &self,
        pair: &TouchPair,
        states: &[State],
        length: f64,
        within: f64,
    ) -> bool {
        let Some((body, other)) = self.things(pair) else {
            return false;
        };
        let [here, there] = Self::states_of(pair, states);
        let drift = |body: &Body, state: &State| Velocity::of(body, state).linear;
        let fall = 0.5 * self.flights.gravity.norm() * length * length;
        let (apart, moved) = match other {
            Other::Plane(plane) => {
                let height = plane.half_space.height(&here.position) - body.radius;
                let towards = plane.half_space.normal().dot(&drift(body, here));
                (height, (-towards).max(0.0) * length + fall)
            }
            Other::Body(second) => {
                let apart = (here.position - there.position).norm();
                let relative = drift(body, here) - drift(second, there);
                let gap = apart - body.radius - second.radius;
                (gap, relative.norm() * length + fall)
            }
        };
        apart <= moved * (1.0 + 1e-9) + within + pair.tolerance
    }

    /// Searches for the first contact of a pair of bodies that fly freely, without joints, from `states`. `begin` is the time of
    /// `states` (s), `length` the duration of the flights (s).
    pub(super) fn search(
        &self,
        pair: &TouchPair,
        states: &[State],
        begin: f64,
        length: f64,
    ) -> Result<Progress, MotionError> {
        let Some((body, other)) = self.things(pair) else {
            return Ok(Progress::Free(length));
        };
        let [here, there] = Self::states_of(pair, states);
        let launch = |body, state| Launch {
            body,
            state,
            since: 0.0,
            rests: false,
        };
        let second = match other {
            Other::Body(second) => second,
            Other::Plane(_) => body,
        };
        let search = Search {
            flights: &self.flights,
            first: launch(body, here),
            other,
            second: launch(second, there),
            begin,
            clock: begin,
            tolerance: pair.tolerance,
        };
        search.first_contact(length, length, &mut PairMemory::new())
    }

    /// Returns the Jacobian rows of the relative velocity at a contact point, and their directions in space: the normal, then two
    /// tangents.
    pub(super) fn rows(
        &self,
        pair: &TouchPair,
        point: &ContactPoint,
        states: &[State],
    ) -> ([ContactRow; 3], [Vector3<f64>; 3]) {
        let [t1, t2] = tangents(&point.normal);
        let frame = [point.normal, t1, t2];
        let side = |thing: usize, direction: &Vector3<f64>, sign: f64| {
            let body = Some(thing).filter(|thing| self.is_mobile(*thing))?;
            let state = states.get(body)?;
            let arm = state.rotation.rotate_back(&(point.point - state.position));
            let along = state.rotation.rotate_back(direction) * sign;
            Some((body, stack(&(direction * sign), &arm.cross(&along))))
        };
        let one = |direction: &Vector3<f64>| {
            let first = side(pair.first, direction, 1.0);
            let second = side(pair.second, direction, -1.0);
            let entries = |side: Option<(usize, Vector6<f64>)>| {
                side.map_or_else(Vector6::zeros, |(_, entries)| entries)
            };
            ContactRow {
                row: Row {
                    parent: entries(second),
                    child: entries(first),
                    force: *direction,
                    couple: Vector3::zeros(),
                },
                ends: [second.map(|(body, _)| body), first.map(|(body, _)| body)],
            }
        };
        ([one(&frame[0]), one(&frame[1]), one(&frame[2])], frame)
    }

    /// Checks that floating-point rounding of positions is small enough for every mobile body: small against its shape, or
    /// against the size of the system for a body without shape. `time` (s) is used in the error.
    pub(super) fn check_places(
        &self,
        multibody: &Multibody,
        states: &[State],
        time: f64,
    ) -> Result<(), MotionError> {
        let mobile = (0..states.len()).filter(|body| multibody.rigid(*body).is_some());
        for body in mobile {
            let shape = self.bodies.get(body).and_then(Option::as_ref);
            let size = shape.map_or(multibody.size(), |shape| shape.radius);
            let far = states[body].position.amax();
            check_rounding(multibody.body_name(body), far, RESOLVED * size, time)?;
        }
        Ok(())
    }

    /// Checks that the contact tolerance of a pair exceeds the floating-point rounding of the positions of both bodies. `time`
    /// (s) is used in the error.
    pub(super) fn check_contact(
        &self,
        pair: &TouchPair,
        states: &[State],
        time: f64,
    ) -> Result<(), MotionError> {
        let [here, there] = Self::states_of(pair, states).map(|state| state.position.amax());
        let far = match self.planes.get(pair.second.wrapping_sub(self.bodies.len())) {
            Some(plane) => here.max(plane.half_space.offset().abs()),
            None => here.max(there),
        };
        check_rounding(self.name(pair.first), far, pair.tolerance, time)
    }

    /// Removes the pairs of bodies that overlap in the initial state from the list of possible contacts. Returns the removed
    /// pairs, as sorted indices. `may_overlap` lists the pairs that may overlap at the start.
    ///
    /// # Errors
    ///
    /// [`MotionError::InitialPenetration`] if a pair overlaps that is not in `may_overlap`; [`MotionError::CoarseCoordinates`].
    pub(super) fn part_at_start(
        &mut self,
        states: &[State],
        may_overlap: &BTreeSet<[usize; 2]>,
    ) -> Result<Vec<[usize; 2]>, MotionError> {
        let overlapping = self.overlapping(states, may_overlap)?;
        self.pairs.retain(|pair| {
            let sorted = [pair.first.min(pair.second), pair.first.max(pair.second)];
            !overlapping.contains(&sorted)
        });
        Ok(overlapping)
    }

    /// Returns the pairs that overlap, as sorted indices. A pair that is not in `may_overlap` is an error.
    pub(super) fn overlapping(
        &self,
        states: &[State],
        may_overlap: &BTreeSet<[usize; 2]>,
    ) -> Result<Vec<[usize; 2]>, MotionError> {
        let mut overlapping = Vec::new();
        for pair in &self.pairs {
            let gap = if self.is_near(pair, states, 0.0, 0.0) {
                self.gap(pair, states)
            } else {
                continue;
            };
            self.check_contact(pair, states, 0.0)?;
            if gap >= -pair.tolerance {
                continue;
            }
            let sorted = [pair.first.min(pair.second), pair.first.max(pair.second)];
            if !may_overlap.contains(&sorted) {
                return Err(MotionError::InitialPenetration {
                    first: self.name(pair.first).to_owned(),
                    second: self.name(pair.second).to_owned(),
                    depth: -gap,
                });
            }
            overlapping.push(sorted);
        }
        Ok(overlapping)
    }

    /// Returns the smallest gap of all pairs of bodies (m), or `lowest` if that is smaller.
    pub(super) fn lowest_gap(&self, states: &[State], mut lowest: f64) -> f64 {
        for pair in &self.pairs {
            if self.is_near(pair, states, 0.0, lowest) {
                lowest = lowest.min(self.gap(pair, states));
            }
        }
        lowest
    }
}

/// Returns for each body true if no joint holds it.
fn loose(multibody: &Multibody) -> Vec<bool> {
    let mut loose = vec![true; multibody.n_bodies()];
    for (j, joint) in multibody.joints().iter().enumerate() {
        let is_free = joint.kind.conditions.is_empty();
        for body in multibody.ends(j).iter().flatten() {
            loose[*body] &= is_free;
        }
    }
    loose
}

fn prepare(multibody: &Multibody, body: usize, shape: &Shape) -> Result<Body, MotionError> {
    let name = multibody.body_name(body).to_owned();
    let mass = match multibody.rigid(body) {
        None => None,
        Some(rigid) => {
            let made = MassProperties::with_any_moments(rigid.mass(), *rigid.inertia());
            Some(made.map_err(|source| MotionError::Shape {
                body: name.clone(),
                source,
            })?)
        }
    };
    let place = Se3::new(So3::identity(), Vector3::zeros());
    Body::new(&BodySpec::new(name, mass, shape.clone(), place))
}
