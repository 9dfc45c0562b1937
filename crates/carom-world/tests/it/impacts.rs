//! Impacts of flying bodies.

use super::common::*;
use carom_geometry::{Cuboid, Ellipsoid, Shape};
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_numeric::random::CounterRng;
use carom_world::{FlightRule, World};
use nalgebra::Vector3;

/// $p_n = (1+e)m\lvert u_n\rvert$, $p_t = \min(\mu p_n, \tfrac27m\lvert u_t\rvert)$.
#[test]
fn a_ball_with_spin_bounces_by_the_closed_form() {
    let (r, m, mu, e) = (0.05, 0.3, 0.2, 0.7);
    let ball = moving(
        ball("ball", r, m, v(0.0, 0.0, 1.0)),
        v(1.0, -0.4, 0.0),
        v(30.0, 20.0, -8.0),
    );
    let (_, end, log) = run(&spec(vec![ball], vec![floor()], mu, e), 2.0);
    assert_eq!(end.ending, Ending::Completed);
    assert!(log.impacts.len() >= 3);
    let (mut x, mut vel, mut w) = (v(0.0, 0.0, 1.0), v(1.0, -0.4, 0.0), v(30.0, 20.0, -8.0));
    let (mut t, inertia) = (0.0, 0.4 * m * r * r);
    for impact in &log.impacts {
        let fall = (vel.z + (vel.z * vel.z + 2.0 * G * (x.z - r)).sqrt()) / G;
        t += fall;
        x += vel * fall + v(0.0, 0.0, -0.5 * G * fall * fall);
        vel.z -= G * fall;
        close(impact.time, t, 1e-12);
        let u = vel + w.cross(&v(0.0, 0.0, -r));
        let ut = v(u.x, u.y, 0.0);
        let pn = (1.0 + e) * m * u.z.abs();
        let along = ut.try_normalize(1e-12).unwrap_or_default();
        let pt = along * -(mu * pn).min(2.0 / 7.0 * m * ut.norm());
        let p = pt + v(0.0, 0.0, pn);
        near(&impact.contacts[0].impulse, &p, 1e-12);
        vel += p / m;
        w += v(0.0, 0.0, -r).cross(&p) / inertia;
        x.z = r;
    }
    assert!(end.balance.energy_error <= 1e-13);
}

#[test]
fn five_touching_spheres_pass_the_impulse_on_along_any_direction() {
    let d = v(1.0, 2.0, -0.5).normalize();
    let mut bodies: Vec<_> = (0..5)
        .map(|k| ball(&format!("{k}"), 0.1, 1.0, d * (0.2 * f64::from(k))))
        .collect();
    bodies[0] = moving(ball("0", 0.1, 1.0, d * -0.3), d * 2.0, Vector3::zeros());
    let mut spec = spec(bodies, Vec::new(), 0.0, 1.0);
    spec.gravity = Vector3::zeros();
    let world = World::new(&spec).unwrap();
    let (end, log) = run_with(&world, &propagative, limits(1.0), &[]);
    assert_eq!((end.ending, log.impacts.len()), (Ending::Completed, 1));
    for (k, state) in end.states.iter().enumerate() {
        let expected = if k == 4 { d * 2.0 } else { Vector3::zeros() };
        near(&state.linear_momentum, &expected, 1e-10);
    }
}

#[test]
fn two_spheres_hit_obliquely_with_friction() {
    let (m1, m2, mu, e) = (0.7, 1.9, 0.25, 0.8);
    let a = moving(
        ball("a", 0.1, m1, v(-1.0, 0.03, 0.0)),
        v(3.0, 0.0, 0.2),
        v(5.0, -20.0, 11.0),
    );
    let b = moving(
        ball("b", 0.2, m2, v(0.0, 0.0, 0.01)),
        v(-0.5, 0.3, 0.0),
        v(-4.0, 2.0, 30.0),
    );
    let mut spec = spec(vec![a, b], Vec::new(), mu, e);
    spec.gravity = Vector3::zeros();
    let (_, _, log) = run(&spec, 0.6);
    let [impact] = log.impacts.as_slice() else {
        panic!("{log:?}")
    };
    let t = impact.time;
    let (x1, x2) = (
        v(-1.0, 0.03, 0.0) + v(3.0, 0.0, 0.2) * t,
        v(0.0, 0.0, 0.01) + v(-0.5, 0.3, 0.0) * t,
    );
    close((x1 - x2).norm(), 0.3, 1e-13);
    let n = (x1 - x2).normalize();
    let u = v(3.5, -0.3, 0.2) + v(5.0, -20.0, 11.0).cross(&(n * -0.1))
        - v(-4.0, 2.0, 30.0).cross(&(n * 0.2));
    let un = n.dot(&u);
    let ut = u - n * un;
    let inverse = 1.0 / m1 + 1.0 / m2;
    let pn = -(1.0 + e) * un / inverse;
    let pt = (mu * pn).min(ut.norm() / (3.5 * inverse));
    near(
        &impact.contacts[0].impulse,
        &(n * pn - ut.normalize() * pt),
        1e-11,
    );
}

#[test]
fn a_nanometer_decides() {
    for (offset, hits) in [(0.2 - 1e-9, 1), (0.2 + 1e-9, 0)] {
        let a = moving(
            ball("a", 0.1, 1.0, v(-1.0, offset, 0.0)),
            v(3.0, 0.0, 0.0),
            Vector3::zeros(),
        );
        let b = ball("b", 0.1, 1.0, Vector3::zeros());
        let mut spec = spec(vec![a, b], Vec::new(), 0.0, 1.0);
        spec.gravity = Vector3::zeros();
        assert_eq!(run(&spec, 1.0).2.impacts.len(), hits);
    }
}

#[test]
fn a_ball_meets_three_planes_at_once() {
    let planes = vec![
        plane("x", v(1.0, 0.0, 0.0), 0.0),
        plane("y", v(0.0, 1.0, 0.0), 0.0),
        plane("z", v(0.0, 0.0, 1.0), 0.0),
    ];
    let ball = moving(
        ball("ball", 0.1, 1.0, v(1.1, 1.1, 1.1)),
        v(-2.0, -2.0, -2.0),
        Vector3::zeros(),
    );
    let mut spec = spec(vec![ball], planes, 0.0, 0.5);
    spec.gravity = Vector3::zeros();
    let (_, end, log) = run(&spec, 1.0);
    assert_eq!((log.impacts.len(), log.impacts[0].contacts.len()), (1, 3));
    near(&end.states[0].linear_momentum, &v(1.0, 1.0, 1.0), 1e-10);
}

fn container(spec_of: &mut carom_world::WorldSpec, half: f64) {
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            let normal = Vector3::ith(axis, sign);
            spec_of
                .planes
                .push(plane(&format!("{axis}{sign}"), normal, half));
        }
    }
}

fn unfolded(n: usize) {
    let start = (v(0.1, -0.2, 0.05), v(1.3, 0.7, -0.9));
    let ball = moving(ball("ball", 0.1, 0.37, start.0), start.1, v(1.0, 2.0, 3.0));
    let mut spec = spec(vec![ball], Vec::new(), 0.0, 1.0);
    spec.gravity = Vector3::zeros();
    container(&mut spec, 0.6);
    let world = World::new(&spec).unwrap();
    let mut limits = limits(1e9);
    limits.impacts = n;
    let (end, _) = run_with(&world, &moreau, limits, &[]);
    assert_eq!((&end.ending, end.n_impacts), (&Ending::MaxImpacts, n));
    let energy = 0.5 * 0.37 * start.1.norm_squared();
    assert!(end.balance.energy_error <= 1e-12 * energy * 2.0);
    for k in 0..3 {
        // A triangle wave between the walls.
        let far = start.0[k] + start.1[k] * end.time + 0.5;
        let folded = far.rem_euclid(2.0);
        let expected = if folded > 1.0 { 2.0 - folded } else { folded } - 0.5;
        close(end.states[0].position[k], expected, 1e-7);
    }
}

#[test]
fn an_elastic_ball_in_a_container_is_where_it_unfolds_to() {
    unfolded(20_000);
}

#[test]
#[ignore = "a million impacts"]
fn an_elastic_ball_in_a_container_for_a_million_impacts() {
    unfolded(1_000_000);
}

#[test]
fn a_fast_ball_does_not_pass_a_thin_plate() {
    for step in [1e-3, 1.0] {
        let plate = fixed(cuboid("plate", [0.001, 1.0, 1.0], Vector3::zeros()));
        let bullet = moving(
            ball("bullet", 0.002, 0.01, v(-3.0, 0.2, 0.1)),
            v(800.0, 0.0, 0.0),
            Vector3::zeros(),
        );
        let mut spec = spec(vec![plate, bullet], Vec::new(), 0.0, 1.0);
        spec.time_step = step;
        spec.gravity = Vector3::zeros();
        let (_, end, log) = run(&spec, 0.01);
        assert_eq!(log.impacts.len(), 1);
        close(log.impacts[0].time, 2.997 / 800.0, 1e-15);
        close(end.states[1].linear_momentum.x, -8.0, 1e-12);
    }
}

#[test]
fn elastic_ellipsoids_in_a_box_keep_their_energy() {
    let shape = |k: usize| {
        let axes = [0.1 + 0.01 * k as f64, 0.15, 0.2 - 0.01 * k as f64];
        carom_geometry::Shape::Ellipsoid(
            carom_geometry::Ellipsoid::new(axes, Vector3::zeros()).unwrap(),
        )
    };
    let mut bodies = Vec::new();
    for k in 0..6 {
        let at = v(
            (k % 2) as f64 - 0.5,
            (k / 2 % 2) as f64 - 0.5,
            (k / 4) as f64 - 0.5,
        );
        let spin = v(1.0 + k as f64, -2.0, 3.0 - k as f64);
        let velocity = v(1.0 - 0.4 * k as f64, 0.3 * k as f64 - 0.5, 0.7);
        bodies.push(moving(
            body(&format!("{k}"), shape(k), 1.0, at),
            velocity,
            spin,
        ));
    }
    let mut spec = spec(bodies, Vec::new(), 0.0, 1.0);
    container(&mut spec, 1.0);
    let world = World::new(&spec).unwrap();
    let mut limits = limits(1e9);
    limits.impacts = 300;
    let mut lowest = f64::INFINITY;
    let samples: Vec<f64> = (0..500).map(|k| 0.02 * f64::from(k)).collect();
    let (end, log) = run_with(&world, &propagative, limits, &samples);
    assert_eq!(end.ending, Ending::MaxImpacts, "{:?}", log.impacts.last());
    for (_, states) in &log.samples {
        lowest = f64::min(lowest, world.lowest_gap(states));
    }
    assert!(lowest >= -1e-12, "{lowest:e}");
    assert!(
        end.balance.energy_error <= 1e-10,
        "{:e}",
        end.balance.energy_error
    );
}

/// A needle that turns like a propeller reaches the floor for 60 nanoseconds, a five-hundredth of a step of its own.
#[test]
fn a_needle_that_grazes_touches_in_every_flight() {
    let shape = carom_geometry::Ellipsoid::new([1.0, 1e-3, 1e-3], Vector3::zeros()).unwrap();
    let shape = carom_geometry::Shape::Ellipsoid(shape);
    let (spin, dip) = (100.0, 5e-12);
    for flight in [
        FlightRule::Exact,
        FlightRule::Lgvi,
        FlightRule::Lgvi4,
        FlightRule::Lgvi6,
    ] {
        for k in 0..6 {
            let mut needle = body("needle", shape.clone(), 1.0, v(0.0, 0.0, 1.0 - dip));
            let angle = 0.9 + 0.071 * f64::from(k);
            needle.configuration.rotation = So3::exp(&v(0.0, angle, 0.0));
            needle.angular_velocity.y = spin;
            let mut spec = spec(vec![needle], vec![floor()], 0.0, 1.0);
            spec.flight = flight;
            spec.gravity = Vector3::zeros();
            let expected = (0.5 * std::f64::consts::PI - angle) / spin;
            let (_, end, log) = run(&spec, expected + 1e-3);
            assert_eq!(end.ending, Ending::Completed);
            let time = log.impacts.first().map_or(f64::NAN, |impact| impact.time);
            // The phase of the flight of order 2 is off by (hΩ)²/6.
            close(time, expected, 1e-7);
        }
    }
}

/// Two random bodies, down to a fiftieth of their length thin, that fly at each other in one of the flights: at
/// no time of a dense sampling is one in the other.
fn random_pairs(n: usize) {
    let rules = [
        FlightRule::Exact,
        FlightRule::Lgvi,
        FlightRule::Lgvi4,
        FlightRule::Lgvi6,
    ];
    let mut hits = 0;
    for k in 0..n {
        let mut random = CounterRng::new(29, k as u64, 0);
        let mut uniform = || 2.0 * random.next_uniform() - 1.0;
        let mut one = |name: &str, side: f64| {
            let axes = [(); 3].map(|()| 0.5 * 50f64.powf(0.5 * uniform() - 0.5));
            let shape = if uniform() < 0.0 {
                Shape::Cuboid(Cuboid::new(axes).unwrap())
            } else {
                Shape::Ellipsoid(Ellipsoid::new(axes, Vector3::zeros()).unwrap())
            };
            let speed = 10f64.powf(1.0 + uniform());
            let mut vector = || v(uniform(), uniform(), uniform());
            let mut body = body(name, shape, 1.0, v(side, 0.0, 0.0) + vector() * 0.1);
            body.configuration.rotation = So3::exp(&(vector() * 3.0));
            let spin = vector() * 10.0 * speed.sqrt();
            moving(body, v(-side * speed, 0.0, 0.0) + vector() * 0.1, spin)
        };
        let (first, second) = (one("a", 1.0), one("b", -1.0));
        let speed = second.velocity.x - first.velocity.x;
        let mut spec = spec(vec![first, second], Vec::new(), 0.0, 1.0);
        spec.flight = rules[k % 4];
        spec.time_step = [1e-3, 5e-3][k / 4 % 2];
        let duration = 4.0 / speed;
        let world = World::new(&spec).unwrap();
        let samples: Vec<f64> = (0..200).map(|i| duration * f64::from(i) / 200.0).collect();
        let (end, log) = run_with(&world, &propagative, limits(duration), &samples);
        assert_eq!(end.ending, Ending::Completed, "{k}");
        hits += usize::from(!log.impacts.is_empty());
        for (time, states) in &log.samples {
            let gap = world.lowest_gap(states);
            assert!(gap >= -1e-12, "{k}, {time}: {gap:e}");
        }
    }
    assert!(hits >= n / 4, "{hits}");
}

#[test]
fn random_pairs_do_not_pass_through_each_other() {
    random_pairs(400);
}

#[test]
#[ignore = "a hundred thousand runs"]
fn a_hundred_thousand_random_pairs_do_not_pass_through_each_other() {
    random_pairs(100_000);
}
