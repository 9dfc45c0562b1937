//! Impacts that accumulate: a body that restitutes comes to rest in finite time, however it spins.

use super::common::{self, G, System, body, gravity, v};
use carom_geometry::{Cuboid, Ellipsoid, HalfSpace, Shape, SupportMap};
use carom_lie::So3;
use carom_motion::flying::{Collider, ColliderOptions, ImpactRule, RunEnd};
use carom_motion::hybrid::Ending;
use carom_variational::{ExactFlight, Flight, FreeFlight, RigidBody, State, TimeGrid};
use nalgebra::Vector3;

fn end<F: Flight>(system: &System, flight: &F, restitution: f64, grid: &TimeGrid) -> RunEnd {
    let rule = ImpactRule::Newton { restitution };
    Collider::new(&system.body, &system.shape, &system.plane, flight, rule)
        .unwrap()
        .run(&system.initial, grid, None, &mut |_| ())
        .unwrap()
}

fn ends(system: &System, restitution: f64, grid: &TimeGrid) -> [RunEnd; 3] {
    [
        end(system, &FreeFlight::lgvi(gravity()), restitution, grid),
        end(system, &FreeFlight::suzuki4(gravity()), restitution, grid),
        end(system, &ExactFlight::new(gravity()), restitution, grid),
    ]
}

/// A ball of radius `r` that falls from rest with a spin.
fn ball(r: f64, height: f64, spin: Vector3<f64>) -> System {
    let shape = Shape::Ellipsoid(Ellipsoid::sphere(r, Vector3::zeros()).unwrap());
    let body = RigidBody::new(&shape.mass_properties(1.0).unwrap());
    System {
        initial: State {
            position: v(0.0, 0.0, height),
            rotation: So3::exp(&v(0.3, -0.2, 0.9)),
            linear_momentum: v(1.0, -2.0, 0.0),
            angular_momentum: body.inertia() * spin,
        },
        body,
        shape,
        plane: HalfSpace::new(Vector3::z(), 0.0).unwrap(),
    }
}

/// $t_1 + 2eu/(g(1 - e))$, whatever the spin: the gap of a ball falls with $g$, also where its lowest point is thrown
/// up by more, $\omega^2r > g$.
#[test]
fn a_ball_that_spins_comes_to_rest_when_a_still_one_does() {
    for (r, height, spin) in [
        (2.0, 7.0, v(0.0, 0.0, 0.0)),
        (2.0, 7.0, v(3.0, -2.0, 1.0)),
        (0.05, 0.4, v(0.0, 40.0, 5.0)),
    ] {
        let speed = (2.0 * G * (height - r)).sqrt();
        for restitution in [0.05, 0.3, 0.5, 0.8, 0.95] {
            let rest = speed / G * (1.0 + 2.0 * restitution / (1.0 - restitution));
            let grid = TimeGrid::duration(rest / 1000.0, 1.2 * rest).unwrap();
            for end in ends(&ball(r, height, spin), restitution, &grid) {
                assert!(
                    matches!(end.ending, Ending::Zeno { .. }),
                    "{:?}",
                    end.ending
                );
                assert!(
                    (end.time - rest).abs() <= 3e-8 * rest,
                    "{} {rest}",
                    end.time
                );
                assert!((end.state.position.z - r).abs() <= 1e-9 * r);
                assert!(end.n_impacts <= 400);
            }
        }
    }
}

/// A ball that bounces down an inclined plane slides far. The rounding of its coordinates hides rebounds that are high against
/// the rounding of its radius.
#[test]
fn a_ball_on_an_incline_comes_to_rest_although_it_slides_far() {
    for (r, height, tilt, restitution) in [
        (1.0, 20.0, 0.8, 0.97),
        (1.0, 20.0, 0.8, 0.99),
        (0.02, 0.3, -0.5, 0.99),
        (5.0, 40.0, 1.2, 0.97),
    ] {
        let tilt: f64 = tilt;
        let normal = v(tilt.sin(), 0.0, tilt.cos());
        let mut system = ball(r, 0.0, v(0.0, 0.0, 0.0));
        system.plane = HalfSpace::new(normal, 0.0).unwrap();
        system.initial.position = normal * (r + height);
        system.initial.linear_momentum = v(0.0, 0.0, 0.0);
        let down = G * tilt.cos();
        let speed = (2.0 * down * height).sqrt();
        let rest = speed / down * (1.0 + 2.0 * restitution / (1.0 - restitution));
        let grid = TimeGrid::duration(rest / 300.0, 1.2 * rest).unwrap();
        for end in ends(&system, restitution, &grid) {
            assert!(
                matches!(end.ending, Ending::Zeno { .. }),
                "{:?}",
                end.ending
            );
            let late = end.time - rest;
            assert!(late.abs() <= 1e-6 * rest, "{late:e} of {rest}");
            assert!(end.n_impacts <= 2000, "{}", end.n_impacts);
        }
    }
}

/// Ellipsoids, boxes and unions, tilted and spinning: none rattles on until a step is full of impacts.
#[test]
fn a_tilted_body_that_spins_comes_to_rest() {
    let egg = common::case_i();
    let brick = System {
        body: body(&nalgebra::Matrix3::from_diagonal(&v(1.4, 0.4, 1.6))),
        shape: Shape::Cuboid(Cuboid::new([1.0, 2.0, 0.5]).unwrap()),
        ..common::case_i()
    };
    for system in [egg, brick, common::tetrahedron(), common::dumbbell()] {
        let time = (system.shape.bounding_radius() / G).sqrt();
        let grid = TimeGrid::duration(0.01 * time, 60.0 * time).unwrap();
        for restitution in [0.0, 0.3, 0.5, 0.8] {
            for end in ends(&system, restitution, &grid) {
                assert!(
                    matches!(end.ending, Ending::Zeno { .. }),
                    "{:?}",
                    end.ending
                );
            }
        }
    }
}

/// Options of a collider that make no sense are named with their range.
#[test]
fn options_of_a_collider_are_checked() {
    let system = ball(1.0, 3.0, v(0.0, 0.0, 0.0));
    let flight = ExactFlight::new(gravity());
    let refused = |options: ColliderOptions| {
        let rule = ImpactRule::Newton { restitution: 0.5 };
        Collider::new(&system.body, &system.shape, &system.plane, &flight, rule)
            .unwrap()
            .with_options(options)
            .run(
                &system.initial,
                &TimeGrid::duration(0.01, 1.0).unwrap(),
                None,
                &mut |_| (),
            )
            .unwrap_err()
            .to_string()
    };
    for contact_tolerance in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.0] {
        let options = ColliderOptions::default().with_contact_tolerance(contact_tolerance);
        let text = refused(options);
        let expected = format!("contact_tolerance is {contact_tolerance}: it must be in (0, 1)");
        assert_eq!(text, expected);
    }
    let none = ColliderOptions::default().with_max_impacts_per_step(0);
    assert_eq!(
        refused(none),
        "max_impacts_per_step is 0: it must be at least 1"
    );
}
