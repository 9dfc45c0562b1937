//! Worlds that come to rest: they end, however their contacts open and close on the way.

use super::common::*;
use carom_geometry::{Ellipsoid, Polyhedron, Shape};
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_world::{BodySpec, PlaneSpec, World};
use nalgebra::Vector3;

/// Error of the steps of lasting contact, as a fraction of the energy at the start: steps of a millisecond, bodies that
/// swing within a tenth of a second.
const STEP_ERROR: f64 = 2e-4;

fn energy(world: &World) -> f64 {
    let initial = world.initial_states().iter().enumerate();
    initial.map(|(body, state)| world.energy(body, state)).sum()
}

fn tub() -> Vec<PlaneSpec> {
    vec![
        floor(),
        plane("left", Vector3::x(), 0.3),
        plane("right", -Vector3::x(), 0.3),
        plane("front", Vector3::y(), 0.3),
        plane("back", -Vector3::y(), 0.3),
    ]
}

fn egg(name: &str, axes: [f64; 3], position: Vector3<f64>) -> BodySpec {
    let shape = Ellipsoid::new(axes, Vector3::zeros()).unwrap();
    body(name, Shape::Ellipsoid(shape), 0.5, position)
}

/// A prism with six sides, nearly a cylinder.
fn prism(name: &str, radius: f64, half: f64, position: Vector3<f64>) -> BodySpec {
    let corner = |k: u32, z: f64| {
        let angle = std::f64::consts::TAU * f64::from(k) / 6.0;
        v(radius * angle.cos(), radius * angle.sin(), z)
    };
    let corners: Vec<Vector3<f64>> = (0..6)
        .flat_map(|k| [corner(k, -half), corner(k, half)])
        .collect();
    let shape = Shape::Polyhedron(Polyhedron::new(&corners).unwrap());
    body(name, shape, 1.0, position)
}

/// An egg rolls and rocks against a ball and a wall: contacts open and close within times in which
/// nothing moves, and the motion goes on.
#[test]
fn an_egg_settles_beside_a_ball() {
    for friction in [0.0, 0.5] {
        let ball = moving(
            ball("ball", 0.1, 1.0, v(-0.12, 0.0, 0.2)),
            v(0.4, 0.1, 0.0),
            v(2.0, -1.0, 0.5),
        );
        let mut egg = egg("egg", [0.12, 0.09, 0.08], v(0.12, 0.05, 0.3));
        egg.configuration.rotation = So3::exp(&v(0.4, 0.8, 0.1));
        let egg = moving(egg, v(-0.5, 0.0, 0.0), v(1.0, 3.0, 0.0));
        let (world, end, _) = run(&spec(vec![ball, egg], tub(), friction, 0.2), 2.0);
        assert_eq!(end.ending, Ending::Completed);
        assert!(end.balance.energy_error <= STEP_ERROR * energy(&world));
        assert!(friction > 0.0 || end.balance.contact_loss >= 0.0);
    }
}

/// A tumbling prism and a box come to rest on each other; energy and losses balance on the way. From every third start a
/// feature of the prism lands within a step in which another one lasts: an impact, and not the work of the step.
#[test]
fn a_prism_falls_on_a_box() {
    for start in 0..9 {
        let start = f64::from(start);
        let mut prism = prism("prism", 0.08, 0.1, v(0.03 + 1e-4 * start, 0.02, 0.35));
        prism.configuration.rotation = So3::exp(&v(0.7 + 1e-3 * (7.0 * start).sin(), 0.3, 0.2));
        let cube = cuboid("box", [0.12, 0.1, 0.08], v(0.0, 0.0, 0.08));
        let (world, end, _) = run(&spec(vec![cube, prism], tub(), 0.4, 0.3), 1.0);
        assert_eq!(end.ending, Ending::Completed);
        let error = end.balance.energy_error / energy(&world);
        assert!(error <= STEP_ERROR, "{start}: {error:e}");
        for state in &end.states {
            assert!(state.linear_momentum.norm() <= 1.0 && state.position.z > 0.0);
        }
    }
}

/// Two bodies without friction slide, tip and land on each other's edges: nothing sinks in, also where
/// some contact is a little deeper than rounding already.
#[test]
fn bodies_that_tip_do_not_sink_in() {
    let mut tipping = cuboid("tipping", [0.1, 0.08, 0.06], v(-0.1, 0.02, 0.2));
    tipping.configuration.rotation = So3::exp(&v(0.5, 0.9, 0.2));
    let tipping = moving(tipping, v(0.6, 0.2, 0.0), v(2.0, -3.0, 1.0));
    let mut other = prism("prism", 0.07, 0.09, v(0.14, 0.0, 0.25));
    other.configuration.rotation = So3::exp(&v(1.1, 0.2, 0.4));
    let (world, end, log) = run(&spec(vec![tipping, other], tub(), 0.0, 0.2), 1.0);
    assert_eq!(end.ending, Ending::Completed);
    for (time, states) in &log.samples {
        let gap = world.lowest_gap(states);
        assert!(gap >= -1e-8, "{gap:e} at {time}");
    }
}

/// A box slides along another on one corner, then lands on it with an edge near the end of a step: an impact, and no loss of
/// the contact that lasts. Without friction that takes nothing.
#[test]
fn an_edge_that_lands_late_in_a_step_rebounds() {
    let turned = |mut body: BodySpec, [w, x, y, z]: [f64; 4]| {
        let axis = v(x, y, z);
        let angle = 2.0 * axis.norm().atan2(w);
        body.configuration.rotation = So3::exp(&(axis.normalize() * angle));
        body
    };
    let lower = cuboid(
        "lower",
        [0.08796994582320528, 0.10683187333878963, 0.2446902809776053],
        v(0.024373065529319823, -0.0095711906147644, 0.4),
    );
    let lower = moving(
        turned(
            lower,
            [
                -0.7718572463852983,
                0.003093859001879024,
                -0.49831350778694017,
                0.39485499515145644,
            ],
        ),
        v(0.3294870432169348, -0.2657523371458239, 0.7654640481329076),
        v(1.6550258997597913, 1.4292927849905048, -2.48119446163051),
    );
    let upper = cuboid(
        "upper",
        [
            0.18275156096879613,
            0.07158625241881998,
            0.08273965942999484,
        ],
        v(0.03483015744625606, 0.01148107170550803, 1.1),
    );
    let upper = moving(
        turned(
            upper,
            [
                0.3479738565654322,
                -0.5486882627674263,
                -0.0821544859936548,
                -0.755715572076798,
            ],
        ),
        v(0.15635181059836856, 0.2943123306386053, -0.662811405923388),
        v(-1.638375923838766, -2.926190490848282, -1.8029017955255562),
    );
    let heavy = |mut body: BodySpec, mass: f64| {
        body.mass = Some(body.shape.mass_properties(mass).unwrap());
        body
    };
    let bodies = vec![
        heavy(lower, 1.2203404595264042),
        heavy(upper, 0.9627941403915965),
    ];
    let mut spec = spec(bodies, vec![floor()], 0.0, 0.3);
    spec.gravity = v(0.0, 0.0, -9.81);
    let (world, end, log) = run(&spec, 0.4);
    assert_eq!(end.ending, Ending::Completed);
    assert!(!log.established.is_empty());
    let loss = end.balance.contact_loss;
    assert!(loss <= STEP_ERROR * energy(&world), "{loss:e}");
    assert!(end.balance.energy_error <= STEP_ERROR * energy(&world));
}
