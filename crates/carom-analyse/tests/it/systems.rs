//! Systems of the tests.

use carom_analyse::carom_joints::coordinates::{Actuator, CoordinateSpec, Rule, Signal};
use carom_analyse::carom_joints::kinds::Kind;
use carom_analyse::carom_joints::{JointSpec, Multibody, MultibodySpec, Placed};
use carom_analyse::carom_mechanism::planar::{
    Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism,
};
use carom_analyse::{Armed, Articulated, Carried};
use carom_variational::RigidBody;
use nalgebra::{DMatrix, DVector, Vector3};
use std::f64::consts::PI;
use std::sync::Arc;

/// Acceleration of gravity (m/s²).
pub const GRAVITY: f64 = 9.80665;

fn body(mass: f64) -> RigidBody {
    let mut bodies = PlanarBuilder::new([0.0, 0.0]);
    let _ = bodies.slider(Link::GROUND, [0.0; 2], [1.0, 0.0]);
    RigidBody::new(
        &carom_geometry::MassProperties::new(mass, nalgebra::Matrix3::identity() * 0.1).unwrap(),
    )
}

/// A body on a prismatic joint along an axis, with the force of an actuator.
pub fn slider(
    axis: Vector3<f64>,
    coordinate: CoordinateSpec,
    gravity: f64,
    mass: f64,
    force: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Articulated {
    let actuator = Actuator::new(Rule::Signal(Signal(Arc::new(force))));
    let joint = JointSpec::new("slide", Kind::named("prismatic").unwrap(), None, 0)
        .with_axes(vec![axis])
        .with_coordinates(vec![coordinate.with_actuator(actuator)]);
    let spec = MultibodySpec::new(
        vec![("mass".to_owned(), Some(body(mass)))],
        vec![joint],
        Vector3::new(0.0, 0.0, -gravity),
        false,
    );
    let multibody = Multibody::new(&spec).unwrap();
    let (posture, _) = multibody.assemble(&[Placed::default()]).unwrap();
    Articulated::new(&multibody, &posture, &["slide".to_owned()]).unwrap()
}

/// A mass on a spring with a stop, forced by cos ωt.
pub fn oscillator(omega: f64) -> Articulated {
    let coordinate = CoordinateSpec::default()
        .with_position(0.08)
        .with_velocity(-0.08)
        .with_spring(1.0, 0.0)
        .with_damping(0.02)
        .with_limits(f64::NEG_INFINITY, 0.1)
        .with_restitution(0.8);
    slider(Vector3::x(), coordinate, 0.0, 1.0, move |t| {
        libm::cos(omega * t)
    })
}

/// A ball on a shaking table, in the frame of the table: Γ is the table's acceleration over gravity.
pub fn table(gamma: f64, omega: f64, restitution: f64) -> Articulated {
    let coordinate = CoordinateSpec::default()
        .with_position(0.06)
        .with_velocity(-1.125)
        .with_limits(0.0, f64::INFINITY)
        .with_restitution(restitution);
    let force = move |t: f64| 0.5 * gamma * GRAVITY * libm::sin(omega * t);
    slider(Vector3::z(), coordinate, GRAVITY, 0.5, force)
}

fn floor() -> Line {
    Line::new([0.0, 0.0], [0.0, 1.0]).unwrap()
}

fn foot(name: String, point: [f64; 2]) -> LineContact {
    let mut contact = LineContact::point(name, point, floor());
    contact.friction = 5.0;
    contact.restitution = 0.0;
    contact
}

/// A wheel of spokes without a rim, of unit radius, on a slope.
pub fn wheel(spokes: usize, mass: f64, inertia: f64, slope: f64) -> PlanarMechanism {
    let gravity = [GRAVITY * libm::sin(slope), -GRAVITY * libm::cos(slope)];
    let mut builder = PlanarBuilder::new(gravity);
    let wheel = builder.floating();
    builder.body(wheel, Inertia::new(mass, [0.0, 0.0], inertia));
    let half = PI / spokes as f64;
    for k in 0..spokes {
        let angle = -0.5 * PI + half * (2 * k + 1) as f64;
        builder.contact(
            wheel,
            foot(format!("spoke{k}"), [libm::cos(angle), libm::sin(angle)]),
        );
    }
    builder.build().unwrap()
}

/// Map of the wheel's end to its start, which a turn by one spoke makes.
pub fn wheel_turn(spokes: usize) -> Carried {
    let mut constant = DVector::zeros(6);
    constant[2] = 2.0 * PI / spokes as f64;
    Carried::new(DMatrix::identity(6, 6), constant, vec![0])
}

/// The compass walker: m = 5, M = 10, a = b = 0.5.
pub fn compass(slope: f64) -> PlanarMechanism {
    let gravity = [GRAVITY * libm::sin(slope), -GRAVITY * libm::cos(slope)];
    let mut builder = PlanarBuilder::new(gravity);
    let first = builder.floating();
    builder.body(first, Inertia::new(10.0, [0.0, 0.0], 0.0));
    builder.body(first, Inertia::new(5.0, [0.5, 0.0], 0.0));
    let second = builder.hinge(first, [0.0, 0.0], 0.0);
    builder.body(second, Inertia::new(5.0, [0.5, 0.0], 0.0));
    builder.contact(first, foot("foot1".to_owned(), [1.0, 0.0]));
    builder.contact(second, foot("foot2".to_owned(), [1.0, 0.0]));
    builder.build().unwrap()
}

/// Feet of the compass that close only ahead of the other one.
pub fn compass_arming() -> Vec<Option<Armed>> {
    let one = |side: f64| -> Option<Armed> {
        Some(Arc::new(move |q: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            gradient[3] = side;
            side * q[3] - 0.05
        }))
    };
    vec![one(-1.0), one(1.0)]
}

/// Exchange of the legs.
pub fn compass_exchange() -> Carried {
    let mut matrix = DMatrix::identity(8, 8);
    for base in [0, 4] {
        matrix[(base + 2, base + 3)] = 1.0;
        matrix[(base + 3, base + 3)] = -1.0;
    }
    Carried::new(matrix, DVector::zeros(8), vec![0])
}
