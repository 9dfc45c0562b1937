//! Rates of lasting contacts, known before a step: how fast their arms turn, and how fast bodies rock on smooth surfaces.
//!
//! With the arm $c$ from the centre of mass to a contact point, the rate $\dot c = \Omega\times c + R\partial\sigma(n, n\times\Omega)$
//! follows from the support map $\sigma$ of the body, and a body with the moment of inertia $mk^2$ needs steps in which $\dot c$
//! moves the point by a fraction of $\sqrt{c^2 + k^2}$. On a surface that bends, a body also rocks. The square of that rate is the
//! largest eigenvalue of $A^{-1}K$, where $K$ is the stiffness of the normal force and $A$ the inertia about the contact, for
//! rotations about both tangents.

use crate::body::{Body, Flights, Velocity};
use crate::edges::OnEdges;
use crate::pair::{ContactPoint, Follow, Other};
use crate::step_scene::{Points, StepScene};
use carom_geometry::pair::tangents;
use carom_lie::So3;
use carom_variational::{RigidBody, State};
use nalgebra::{Matrix2, Vector3};

/// Change of an arm in a step, as a fraction of $\sqrt{c^2+k^2}$.
const TURNED: f64 = 0.1;

/// Phase of rocking in a step (rad).
const ROCKED: f64 = 0.03;

/// Rotation from which the change of an arm is found (rad).
const ANGLE: f64 = 1e-6;

impl StepScene<'_> {
    /// Returns the largest rate of the contacts (1/s): a step is to be at most as long as its inverse. `states`: states of the
    /// bodies; `force`: normal force at each of the `points` (N), if known.
    pub(super) fn rate(
        &self,
        points: &Points,
        states: &[State],
        force: impl Fn(usize) -> Option<f64>,
    ) -> f64 {
        let mut largest = 0.0_f64;
        for (c, (index, point)) in points.points.iter().enumerate() {
            let Some(pair) = self.pairs.get(*index) else {
                continue;
            };
            let touching = Touching {
                first: pair.body,
                other: &pair.other,
                point,
                states: self.states_of(pair, states),
            };
            let second = pair.second.and_then(|place| self.bodies.get(place));
            for (body, is_first) in [(Some(pair.body), true), (second.copied(), false)] {
                let rate = body.map_or(0.0, |body| {
                    touching.rate(body, is_first, self.flights, force(c))
                });
                largest = largest.max(rate);
            }
        }
        largest
    }

    /// Returns the largest rate of the contacts in given states of the bodies (1/s), before any step.
    pub(crate) fn first_rate(&self, states: &[State]) -> f64 {
        self.rate(&self.start(states, &[]), states, |_| None)
    }
}

/// Contact point of two bodies, or of a body and what never moves, in given states of both.
pub(crate) struct Touching<'a> {
    pub(crate) first: &'a Body,
    pub(crate) other: &'a Other<'a>,
    pub(crate) point: &'a ContactPoint,
    pub(crate) states: [&'a State; 2],
}

impl Touching<'_> {
    /// Returns the rate of the point on `body`, the first or the second one (1/s). `force`: normal force at the point (N), if it is
    /// known; else the weight of the body.
    pub(crate) fn rate(
        &self,
        body: &Body,
        is_first: bool,
        flights: &Flights,
        force: Option<f64>,
    ) -> f64 {
        let (Some(rigid), None) = (&body.rigid, body.sphere) else {
            return 0.0;
        };
        let arm = Arm {
            touching: self,
            is_first,
            rigid,
            state: self.states[usize::from(!is_first)],
        };
        let weight = rigid.mass() * flights.pull(body).norm();
        let turns = arm.turns(&Velocity::of(body, arm.state).angular) / TURNED;
        let rocks = arm.rocks(force.unwrap_or(weight)) / ROCKED;
        turns.max(rocks)
    }
}

/// Arm from the centre of mass of a body to one of its contact points.
struct Arm<'a> {
    touching: &'a Touching<'a>,
    /// True for the first body of the pair.
    is_first: bool,
    rigid: &'a RigidBody,
    state: &'a State,
}

impl Arm<'_> {
    fn now(&self) -> Vector3<f64> {
        self.touching.point.point - self.state.position
    }

    /// Returns the change of the arm (m/rad) while the body rotates about the unit vector `axis` in space.
    fn change(&self, axis: &Vector3<f64>) -> Vector3<f64> {
        let Touching {
            first,
            other,
            point,
            states,
        } = *self.touching;
        let corner = match (other, point.follow) {
            (Other::Plane(_), Follow::Corner(_)) => true,
            (Other::Body(_), Follow::OnFace { of_second, .. }) => of_second == self.is_first,
            (Other::Body(_), Follow::OnEdges(OnEdges::Along { of_second, .. })) => {
                of_second != self.is_first
            }
            _ => false,
        };
        if corner {
            return axis.cross(&self.now());
        }
        let turn = self.state.rotation.rotate_back(&(axis * ANGLE));
        let turned = State {
            rotation: self.state.rotation.compose(&So3::exp(&turn)),
            ..*self.state
        };
        let [mut here, mut there] = states;
        if self.is_first {
            here = &turned;
        } else {
            there = &turned;
        }
        let moved = point.moved(first, here, other, there);
        (moved.point - point.point) / ANGLE
    }

    /// Returns $\lvert\dot c\rvert/\sqrt{c^2+k^2}$ (1/s) for a body that rotates with `spin` (rad/s, in the axes of the body).
    fn turns(&self, spin: &Vector3<f64>) -> f64 {
        let speed = spin.norm();
        if speed == 0.0 {
            return 0.0;
        }
        let axis = self.state.rotation.rotate(&(spin / speed));
        let k2 = self.rigid.moments().x / self.rigid.mass();
        speed * self.change(&axis).norm() / (self.now().norm_squared() + k2).sqrt()
    }

    /// Returns the rate of rocking about the contact point (1/s) under the normal force `force` (N); zero where the surface does
    /// not bend.
    fn rocks(&self, force: f64) -> f64 {
        let point = self.touching.point;
        if !matches!(
            point.follow,
            Follow::Closest | Follow::Rim(_) | Follow::RimOnFace { .. }
        ) || !(force > 0.0)
        {
            return 0.0;
        }
        let outwards = if self.is_first { 1.0 } else { -1.0 };
        let normal = point.normal * outwards;
        let directions = tangents(&normal);
        let (c, mass) = (self.now(), self.rigid.mass());
        let (mut stiffness, mut inertia) = (Matrix2::zeros(), Matrix2::zeros());
        for (j, e) in directions.iter().enumerate() {
            let moment = -self.change(e).cross(&(normal * force));
            let turned = self.state.rotation.rotate_back(e);
            let own = self.state.rotation.rotate(&(self.rigid.inertia() * turned));
            let carried = own + c.cross(&e.cross(&c)) * mass;
            for (i, along) in directions.iter().enumerate() {
                (stiffness[(i, j)], inertia[(i, j)]) = (along.dot(&moment), along.dot(&carried));
            }
        }
        let Some(inverse) = inertia.try_inverse() else {
            return 0.0;
        };
        let matrix = inverse * stiffness;
        let (half, determinant) = (0.5 * matrix.trace(), matrix.determinant());
        let root = half * half - determinant;
        let square = if root >= 0.0 {
            half.abs() + root.sqrt()
        } else {
            determinant.abs().sqrt()
        };
        square.sqrt()
    }
}
