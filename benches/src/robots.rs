//! Jointed bodies of benchmarks: a quadruped and chains.

use carom_geometry::{Ellipsoid, HalfSpace, MassProperties, Shape};
use carom_lie::{Se3, So3};
use carom_world::jointed::{JointedSpec, JointedWorld, TouchSpec};
use carom_world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Table};
use carom_world::joints::frames::Frame;
use carom_world::joints::kinds::Kind;
use carom_world::joints::variational::RigidBody;
use carom_world::joints::{JointSpec, MultibodySpec, Placed};
use carom_world::{FlightRule, PlaneSpec, Surface};
use nalgebra::{Matrix3, Vector3};

/// Acceleration of gravity (m/s²).
pub const GRAVITY: f64 = 9.80665;

/// Bodies and joints that are put together.
#[derive(Default)]
struct Robot {
    bodies: Vec<(String, Option<RigidBody>)>,
    placed: Vec<Placed>,
    joints: Vec<JointSpec>,
}

impl Robot {
    /// Adds a body with its mass (kg) and moments of inertia (kg m²).
    fn body(&mut self, mass: f64, moments: [f64; 3], place: Option<Vector3<f64>>) -> usize {
        let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
        let rigid = MassProperties::new(mass, inertia).ok();
        let name = format!("body{}", self.bodies.len());
        self.bodies.push((name, rigid.as_ref().map(RigidBody::new)));
        self.placed.push(
            Placed::default().with_configuration(place.map(|x| Se3::new(So3::identity(), x))),
        );
        self.bodies.len() - 1
    }

    /// Adds a hinge about an axis.
    fn hinge(
        &mut self,
        (parent, from): (Option<usize>, Vector3<f64>),
        (child, to): (usize, Vector3<f64>),
        axis: Vector3<f64>,
        coordinate: CoordinateSpec,
    ) {
        let frame = |position| Frame {
            position,
            ..Frame::identity()
        };
        let Some(kind) = Kind::named("revolute") else {
            return;
        };
        self.joints.push(
            JointSpec::new(format!("joint{}", self.joints.len()), kind, parent, child)
                .with_frames(frame(from), frame(to))
                .with_axes(vec![axis])
                .with_coordinates(vec![coordinate]),
        );
    }

    fn spec(self, touch: TouchSpec) -> JointedSpec {
        let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
        let multibody = MultibodySpec::new(self.bodies, self.joints, gravity, false);
        JointedSpec::new(multibody, self.placed, FlightRule::Lgvi, 1e-3, touch)
    }
}

/// A quadruped of 13 bodies whose twelve motors hold its posture, with damping and dry friction, its trunk `height`
/// above a floor (m); the feet, balls of 2 cm, stand at about 0.35 m.
pub fn quadruped(height: f64) -> JointedSpec {
    let mut robot = Robot::default();
    let trunk = robot.body(
        6.0,
        [0.036, 0.13, 0.15],
        Some(Vector3::new(0.0, 0.0, height)),
    );
    let mut shapes = vec![None];
    let mut feet = Vec::new();
    for (front, side) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        let coordinate = |target: f64| {
            CoordinateSpec::default()
                .with_position(target)
                .with_damping(0.05)
                .with_friction(0.1)
                .with_actuator(Table::new(vec![0.0], vec![target]).map(|target| {
                    Actuator::new(Rule::Pd {
                        proportional: 60.0,
                        derivative: 1.5,
                        target,
                    })
                    .with_limit(12.0)
                }))
        };
        let hip = robot.body(0.4, [4e-4, 5e-4, 4.5e-4], None);
        let thigh = robot.body(0.6, [2.2e-3, 2.3e-3, 3e-4], None);
        let shank = robot.body(0.25, [9e-4, 9.2e-4, 5e-5], None);
        let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
        let shoulder = x * (0.2 * front) + y * (0.12 * side);
        robot.hinge(
            (Some(trunk), shoulder),
            (hip, y * (-0.02 * side)),
            x,
            coordinate(0.0),
        );
        robot.hinge(
            (Some(hip), y * (0.03 * side)),
            (thigh, z * 0.09),
            y,
            coordinate(0.6),
        );
        robot.hinge(
            (Some(thigh), z * -0.11),
            (shank, z * 0.08),
            y,
            coordinate(-1.2),
        );
        shapes.extend([
            None,
            None,
            Ellipsoid::sphere(0.02, z * -0.12)
                .ok()
                .map(Shape::Ellipsoid),
        ]);
        feet.push(shank);
    }
    let floor = robot.bodies.len();
    let surface = Surface::new(0.7, 0.0);
    let planes = HalfSpace::new(Vector3::z(), 0.0)
        .ok()
        .map(|half_space| PlaneSpec::new("floor", half_space));
    let pairs = feet.iter().map(|foot| ([*foot, floor], surface)).collect();
    robot.spec(TouchSpec::new(shapes, planes.into_iter().collect(), pairs))
}

/// A chain of `n` links on hinges about y and x in turn, which hangs from the ground to the side.
pub fn chain(n: usize) -> JointedSpec {
    let mut robot = Robot::default();
    let mut end = (None, Vector3::zeros());
    for k in 0..n {
        let link = robot.body(0.2, [3e-4, 2e-4, 1e-4], None);
        let axis = if k % 2 == 0 {
            Vector3::y()
        } else {
            Vector3::x()
        };
        let coordinate = CoordinateSpec::default().with_position(if k == 0 { 0.5 } else { 0.1 });
        robot.hinge(end, (link, Vector3::z() * 0.05), axis, coordinate);
        end = (Some(link), Vector3::z() * -0.05);
    }
    robot.spec(TouchSpec::default())
}

/// Assembles a robot; `None` if it does not fit together.
pub fn assembled(spec: &JointedSpec) -> Option<JointedWorld> {
    JointedWorld::new(spec).ok()
}
