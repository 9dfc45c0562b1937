//! Pairs of bodies that are near each other, and their contact points.

use super::spring::{Kept, Spring};
use super::tolerances::{DEEP, LEAST_GROWTH, LEAST_NONLINEARITY, PATCH, SHALLOW, SLOW};
use crate::body::{Flights, Velocity};
use crate::pair::{self, ContactPoint, Follow, Other, PairGap, PairMemory};
use crate::pair_table::Pair;
use crate::search::{Launch, Progress, Search};
use crate::spec::World;
use carom_lcp::contact_problem::ContactMode;
use carom_variational::State;
use nalgebra::Vector3;

/// Contact point in the problem of one step.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    pub(super) pair: Pair,
    /// Index of the second body; `None` if it cannot move.
    pub(super) second: Option<usize>,
    pub(super) point: ContactPoint,
    pub(super) friction: f64,
    pub(super) restitution: f64,
    /// Radius of the smaller body (m).
    pub(super) size: f64,
    /// Gap below which the point counts as touching (m). A contact that closes by less than this within a step is at rest.
    pub(super) tolerance: f64,
    /// Change of the gap within the step that the gap rate does not predict, because the bodies rotate (m).
    pub(super) nonlinearity: Option<f64>,
    /// Spring before the step.
    pub(super) spring: Spring,
    /// Spring after the step.
    pub(super) after: Spring,
    /// True if the contact restitutes, that is, if its impact has an expansion phase.
    pub(super) restitutes: bool,
    /// Impulse of this step in the contact frame (N s); `None` until the solver has seen the point.
    pub(super) impulse: Option<[f64; 3]>,
    /// Gap rate after the step (m/s).
    pub(super) opening: f64,
    pub(super) mode: ContactMode,
}

/// Pair of bodies that may touch within the step.
#[derive(Clone, Debug)]
pub(super) struct NearPair {
    pub(super) pair: Pair,
    pub(super) memory: PairMemory,
    /// Contact points of the previous step.
    pub(super) kept: Vec<Kept>,
    /// Gap at the middle of the step, where the impulses act (m).
    pub(super) gap: f64,
    pub(super) contacts: Vec<Contact>,
}

/// All bodies of a world at the middle of a step.
#[derive(Clone, Copy)]
pub(super) struct Middle<'m> {
    pub(super) world: &'m World,
    pub(super) weightless: &'m Flights,
    pub(super) states: &'m [State],
    pub(super) time: f64,
    /// Time of the middle (s).
    pub(super) clock: f64,
    pub(super) h: f64,
}

impl Middle<'_> {
    fn state<'s>(&'s self, states: &'s [State], thing: usize) -> &'s State {
        states
            .get(thing)
            .unwrap_or_else(|| self.world.initial_of(thing))
    }

    /// Returns an upper bound of the speed (m/s) at which the gap of a pair changes, for given velocities of all bodies.
    fn rate(&self, (i, j): Pair, velocities: &[Velocity]) -> f64 {
        let spin = |thing: usize| {
            let body = &self.world.bodies[thing];
            match body.sphere {
                Some(_) => 0.0,
                None => velocities[thing].angular.norm() * body.radius,
            }
        };
        let here = &velocities[i];
        match self.world.thing(j) {
            Other::Body(_) => (here.linear - velocities[j].linear).norm() + spin(i) + spin(j),
            Other::Plane(plane) => plane.half_space.normal().dot(&here.linear).abs() + spin(i),
        }
    }

    /// Computes the gap of a pair at the middle of the step, where the impulses act. If the pair can close within the
    /// step, its contact points are added. `near`: data of the pair, which are changed; `launched`, `velocities`:
    /// states and velocities of all bodies at the start of the flight that is tested.
    pub(super) fn look(&self, near: &mut NearPair, launched: &[State], velocities: &[Velocity]) {
        let (i, j) = near.pair;
        let (body, other) = (&self.world.bodies[i], self.world.thing(j));
        let (here, there) = (&self.states[i], self.state(self.states, j));
        near.gap = match pair::touch_of_spheres(body, here, &other, there) {
            Some(point) => point.gap,
            None => pair::gap(body, here, &other, there, &mut near.memory).value,
        };
        if self.closes(near, launched, velocities) {
            self.add_points(near, velocities);
        }
    }

    /// Returns true if a pair may close within the step, when the bodies fly on from the states `launched` with
    /// `velocities`. For a pair that moves far within the step a continuous search for the first contact decides;
    /// otherwise a bound of its gap rate decides. `near`: data of the pair.
    pub(super) fn closes(
        &self,
        near: &mut NearPair,
        launched: &[State],
        velocities: &[Velocity],
    ) -> bool {
        let (i, j) = near.pair;
        let world = self.world;
        let tolerance = world.tolerance(i, j);
        let way = self.h * self.rate(near.pair, velocities);
        if near.gap <= tolerance {
            return true;
        }
        if near.gap > way * (1.0 + 1e-9) + tolerance {
            return false;
        }
        let size = pair::size(&world.bodies[i], &world.thing(j));
        if way <= SLOW * size || !near.kept.is_empty() {
            return true;
        }
        let launch = |thing: usize| Launch {
            body: world.bodies.get(thing).unwrap_or(&world.bodies[i]),
            state: self.state(launched, thing),
            since: 0.0,
            rests: false,
        };
        let search = Search {
            flights: self.weightless,
            first: launch(i),
            other: world.thing(j),
            second: launch(j),
            begin: self.time,
            clock: self.clock,
            tolerance,
        };
        let found = search.first_contact(self.h, self.h, &mut near.memory);
        // A pair for which the search fails counts as closing.
        !matches!(found, Ok(Progress::Free(_)))
    }

    /// Adds the contact points of a pair at the middle of the step, where the impulses act, with initial impulses from
    /// the previous step. `near`: data of the pair, which are changed; `velocities`: velocities of all bodies.
    pub(super) fn add_points(&self, near: &mut NearPair, velocities: &[Velocity]) {
        let (i, j) = near.pair;
        let world = self.world;
        let (body, other) = (&world.bodies[i], world.thing(j));
        let (here, there) = (&self.states[i], self.state(self.states, j));
        let way = self.h * self.rate(near.pair, velocities);
        let size = pair::size(body, &other);
        let patch = way.clamp(SHALLOW * size, PATCH * size);
        let tolerance = near.gap.max(0.0) + patch;
        let mut found = Vec::new();
        pair::contact_points(
            body,
            here,
            &other,
            there,
            &mut near.memory,
            tolerance,
            &mut found,
        );
        let lowest = found.iter().map(|point| point.gap);
        if lowest.fold(f64::INFINITY, f64::min) > near.gap + world.tolerance(i, j) {
            // The closest points lie outside the patch, for example at a corner beside the other body's face.
            let closest = pair::gap(body, here, &other, there, &mut near.memory);
            found.push(closest_point(&closest, closest.points));
        }
        // Edges that are nearly parallel cross in several points at one place.
        // The deepest points come first, so that no open point takes the spring of one that presses.
        found.sort_by(|a, b| a.gap.total_cmp(&b.gap));
        let mut apart: Vec<ContactPoint> = Vec::with_capacity(found.len());
        for point in found {
            let is_near =
                |other: &ContactPoint| (other.point - point.point).norm() < SHALLOW * size;
            if !apart.iter().any(is_near) {
                apart.push(point);
            }
        }
        let mut kept = std::mem::take(&mut near.kept);
        for point in apart {
            let contact = self.contact(near.pair, point, &mut kept);
            near.contacts.push(contact);
        }
    }

    fn contact(&self, (i, j): Pair, point: ContactPoint, kept: &mut Vec<Kept>) -> Contact {
        let surface = self.world.surface(i, j);
        let state = &self.states[i];
        let at = state.rotation.rotate_back(&(point.point - state.position));
        let distance = |k: &Kept| (k.at - at).norm_squared();
        let nearest =
            (0..kept.len()).min_by(|a, b| distance(&kept[*a]).total_cmp(&distance(&kept[*b])));
        let spring = nearest.map_or_else(Spring::default, |k| {
            let kept = kept.remove(k);
            kept.spring(&point.normal, surface.friction, self.h)
        });
        Contact {
            pair: (i, j),
            second: self.world.is_mobile(j).then_some(j),
            point,
            friction: surface.friction,
            restitution: surface.restitution,
            size: pair::size(&self.world.bodies[i], &self.world.thing(j)),
            tolerance: self.world.tolerance(i, j),
            nonlinearity: None,
            spring,
            after: Spring::default(),
            restitutes: false,
            impulse: None,
            opening: 0.0,
            mode: ContactMode::Open,
        }
    }

    /// Returns an upper bound of the acceleration (m/s²) with which the rotation of the bodies can close the gap of a pair.
    /// `launched`, `velocities`: states and velocities of all bodies at the start of the flight.
    fn turning(&self, (i, j): Pair, launched: &[State], velocities: &[Velocity]) -> f64 {
        let world = self.world;
        let of = |thing: usize| {
            world.bodies.get(thing).map_or(0.0, |body| {
                let state = self.state(launched, thing);
                self.weightless.acceleration_bound(body, state, self.h)
            })
        };
        let spin = |thing: usize| velocities.get(thing).map_or(0.0, |v| v.angular.norm());
        let faces = 2.0 * (spin(i) + spin(j)) * self.rate((i, j), velocities);
        of(i) + of(j) + faces
    }

    /// Computes by how much more the gaps of a pair close within the step than their rates predict, because the bodies
    /// rotate. Returns true if such a correction is new and not negligible; the impulses of these points are then
    /// discarded, so that they are solved for again. `near`: data of the pair, which are changed; `launched`,
    /// `velocities`: states and velocities of all bodies after the impulses; `next`: states at the middle of the next
    /// step.
    pub(super) fn nonlinearity(
        &self,
        near: &mut NearPair,
        (launched, velocities, next): (&[State], &[Velocity], &[State]),
    ) -> bool {
        let (i, j) = near.pair;
        let world = self.world;
        let (body, other) = (&world.bodies[i], world.thing(j));
        if pair::has_closed_form(body, &other) {
            return false;
        }
        let most = 0.5 * self.h * self.h * self.turning(near.pair, launched, velocities);
        let least = LEAST_NONLINEARITY * pair::size(body, &other);
        if most <= least {
            return false;
        }
        let mut is_new = false;
        for contact in &mut near.contacts {
            if contact.impulse.is_none() || contact.nonlinearity.is_some() {
                continue;
            }
            let then = contact
                .point
                .moved(body, &next[i], &other, self.state(next, j));
            let nonlinearity = then.gap - contact.point.gap - self.h * contact.opening;
            if nonlinearity < -least && then.gap < contact.point.gap.min(0.0) - least {
                contact.nonlinearity = Some(nonlinearity.max(-most));
                contact.impulse = None;
                is_new = true;
            }
        }
        is_new
    }

    /// Adds the deepest point of a pair as a further contact point if the pair overlaps too much at the middle of the
    /// next step: by more than rotation alone can cause, or deeper than [`DEEP`] and growing. Returns true if a point
    /// was added. `near`: data of the pair, which are changed; `launched`, `velocities`: states and velocities of all
    /// bodies after the impulses; `next`: states at the middle of the next step.
    pub(super) fn add_deep(
        &self,
        near: &mut NearPair,
        (launched, velocities, next): (&[State], &[Velocity], &[State]),
    ) -> bool {
        let (i, j) = near.pair;
        let world = self.world;
        let (body, other) = (&world.bodies[i], world.thing(j));
        if pair::has_closed_form(body, &other) {
            return false;
        }
        let (here, there) = (&next[i], self.state(next, j));
        let found = pair::gap(body, here, &other, there, &mut near.memory);
        let bound = 0.5 * self.h * self.h * self.turning(near.pair, launched, velocities);
        // Springs yield, and rotation bends the path. An overlap that is deep may not grow, whatever explains its growth.
        let points = near.contacts.iter();
        let yielding = points.map(|contact| contact.point.gap + self.h * contact.opening);
        let lowest = yielding.fold(near.gap.min(0.0), f64::min);
        let allowed = (lowest - bound).max(lowest.min(-DEEP * pair::size(body, &other)));
        if found.value >= allowed - LEAST_GROWTH * pair::size(body, &other) {
            return false;
        }
        let back = |thing: usize, point: &Vector3<f64>| {
            let (then, now) = (self.state(next, thing), self.state(self.states, thing));
            let arm = then.rotation.rotate_back(&(point - then.position));
            now.position + now.rotation.rotate(&arm)
        };
        let [a, b] = found.points;
        let a = back(i, &a);
        let b = if j < world.bodies.len() {
            back(j, &b)
        } else {
            b
        };
        let point = closest_point(&found, [a, b]);
        let contact = self.contact(near.pair, point, &mut Vec::new());
        near.contacts.push(contact);
        true
    }
}

/// Returns the contact point between the points `a` of the first body and `b` of the second one, with the normal and the parts
/// of the bodies at which their gap `found` was measured.
fn closest_point(found: &PairGap, [a, b]: [Vector3<f64>; 2]) -> ContactPoint {
    let slab = found.slabs.iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
    ContactPoint {
        point: (a + b) * 0.5,
        normal: found.normal,
        gap: found.normal.dot(&(a - b)),
        parts: slab.map_or([0, 0], |slab| [slab.part, slab.other]),
        follow: Follow::Closest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{BodySpec, FlightRule};
    use crate::spec::WorldSpec;
    use crate::stepping::broad::unseen;
    use crate::surface::Surface;
    use carom_geometry::{Cuboid, Shape};
    use carom_lie::{Se3, So3};

    fn cube(name: &str, rotation: So3, position: Vector3<f64>, velocity: Vector3<f64>) -> BodySpec {
        let shape = Shape::Cuboid(Cuboid::new([0.1; 3]).unwrap());
        BodySpec {
            name: name.to_owned(),
            mass: Some(shape.mass_properties(1000.0).unwrap()),
            shape,
            configuration: Se3::new(rotation, position),
            velocity,
            angular_velocity: Vector3::zeros(),
            loads: Default::default(),
            surface_velocity: Vector3::zeros(),
            motion: None,
        }
    }

    /// Two cubes approach at 5 m/s, corner beside edge or face. The patch of fast pairs is deep, and its corners may all be farther
    /// than the closest points.
    #[test]
    fn contact_points_of_fast_cubes_include_the_closest_points() {
        for k in 0..400 {
            let part = |ratio: f64| (f64::from(k) * ratio).fract() - 0.5;
            let turn = Vector3::new(part(0.618_034), part(0.414_214), part(0.732_051)) * 0.2;
            let apart = Vector3::new(0.215, 0.4 * part(0.236_068), 0.4 * part(0.645_751));
            let Ok(world) = World::new(&WorldSpec {
                bodies: vec![
                    cube(
                        "left",
                        So3::identity(),
                        Vector3::zeros(),
                        Vector3::x() * 5.0,
                    ),
                    cube("right", So3::exp(&turn), apart, Vector3::zeros()),
                ],
                planes: Vec::new(),
                gravity: Vector3::zeros(),
                flight: FlightRule::Exact,
                time_step: 2e-3,
                surface: Surface {
                    friction: 0.5,
                    restitution: 0.0,
                    collide: true,
                },
                springs: Vec::new(),
                pairs: Vec::new(),
            }) else {
                continue;
            };
            let states = world.initial_states();
            let middle = Middle {
                world: &world,
                weightless: &world.flights.weightless(),
                states,
                time: 0.0,
                clock: 0.0,
                h: 2e-3,
            };
            let all = world.bodies.iter().zip(states);
            let velocities: Vec<Velocity> = all.map(|(body, at)| Velocity::of(body, at)).collect();
            let mut near = unseen((0, 1));
            middle.look(&mut near, states, &velocities);
            if near.contacts.is_empty() {
                continue;
            }
            let gaps = near.contacts.iter().map(|contact| contact.point.gap);
            let lowest = gaps.fold(f64::INFINITY, f64::min);
            assert!(
                lowest <= near.gap + 1e-9,
                "{k}: {lowest:e} > {:e}",
                near.gap
            );
        }
    }
}
