//! Lasting contact against closed forms.

use super::common::*;
use carom_geometry::{Polyhedron, Shape};
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_world::World;
use nalgebra::Vector3;

/// Sliding ends at $2\lvert u_0\rvert/(7\mu g)$, whatever the spin; the path is exact.
#[test]
fn a_sliding_ball_rolls_in_the_end() {
    let (r, mu) = (0.05, 0.3);
    let (v0, w0) = (v(2.0, 0.0, 0.0), v(20.0, -10.0, 5.0));
    let ball = moving(ball("ball", r, 0.4, v(0.0, 0.0, r)), v0, w0);
    let (_, end, log) = run(&spec(vec![ball], vec![floor()], mu, 0.5), 1.0);
    assert_eq!(end.ending, Ending::Completed);
    let u0 = v0 + w0.cross(&v(0.0, 0.0, -r));
    let stop = 2.0 * u0.norm() / (7.0 * mu * G);
    let a = u0.normalize() * (-mu * G);
    assert_eq!(log.modes.len(), 2, "{:?}", log.modes);
    close(log.modes[1].0, stop, 1e-9);
    let rolling = v0 * (5.0 / 7.0) + w0.cross(&v(0.0, 0.0, r)) * (2.0 / 7.0);
    near(&(end.states[0].linear_momentum / 0.4), &rolling, 1e-9);
    for (t, states) in &log.samples {
        let s = t.min(stop);
        let x = v0 * s + a * (0.5 * s * s) + rolling * (t - s) + v(0.0, 0.0, r);
        near(&states[0].position, &x, 1e-9);
    }
    assert!(end.balance.energy_error <= 1e-12);
}

#[test]
fn a_ball_on_an_incline_rolls_or_slides() {
    for (angle, mu) in [(0.3_f64, 0.2_f64), (0.6, 0.1)] {
        let n = v(angle.sin(), 0.0, angle.cos());
        let ball = ball("ball", 0.1, 2.0, n * 0.1);
        let spec = spec(vec![ball], vec![plane("incline", n, 0.0)], mu, 0.0);
        let (_, end, _) = run(&spec, 1.0);
        let a = if mu >= 2.0 / 7.0 * angle.tan() {
            5.0 / 7.0 * G * angle.sin()
        } else {
            G * (angle.sin() - mu * angle.cos())
        };
        let down = v(angle.cos(), 0.0, -angle.sin());
        close(down.dot(&end.states[0].position), 0.5 * a, 1e-8);
    }
}

#[test]
fn a_sliding_box_stops_and_stays() {
    let (mu, speed) = (0.4, 2.0);
    let half = [0.2, 0.15, 0.1];
    let block = moving(
        cuboid("box", half, v(0.0, 0.0, 0.1)),
        v(speed, 0.0, 0.0),
        Vector3::zeros(),
    );
    let (_, end, log) = run(&spec(vec![block], vec![floor()], mu, 0.0), 3.0);
    assert_eq!(end.ending, Ending::Completed);
    let stop = speed / (mu * G);
    for (t, states) in &log.samples {
        let s = t.min(stop);
        near(
            &states[0].position,
            &v(speed * s - 0.5 * mu * G * s * s, 0.0, 0.1),
            1e-9,
        );
    }
    close(log.modes.last().unwrap().0, stop, 1e-9);
}

#[test]
fn a_box_rests() {
    let turned = {
        let mut block = cuboid("box", [0.2, 0.15, 0.1], v(0.3, -0.2, 0.1));
        block.configuration.rotation = So3::exp(&v(0.0, 0.0, 0.7));
        block
    };
    let (_, end, log) = run(&spec(vec![turned], vec![floor()], 0.5, 0.5), 2.0);
    assert_eq!((end.ending, log.impacts.len()), (Ending::Completed, 0));
    near(&end.states[0].position, &v(0.3, -0.2, 0.1), 1e-11);
}

#[test]
fn a_pile_of_boxes_rests() {
    let bodies = (0..3)
        .map(|k| {
            let shift = 0.02 * f64::from(k);
            cuboid(
                &format!("{k}"),
                [0.2, 0.15, 0.1],
                v(shift, -shift, 0.1 + 0.2 * f64::from(k)),
            )
        })
        .collect();
    let (_, end, _) = run(&spec(bodies, vec![floor()], 0.5, 0.2), 0.5);
    assert_eq!(end.ending, Ending::Completed);
    for (k, state) in end.states.iter().enumerate() {
        let shift = 0.02 * k as f64;
        near(
            &state.position,
            &v(shift, -shift, 0.1 + 0.2 * k as f64),
            1e-8,
        );
    }
}

/// A ball leaves a fixed ball where $\cos\theta = \tfrac23\cos\theta_0$.
#[test]
fn a_ball_leaves_a_ball() {
    let (r, big, start) = (0.1, 0.9, 0.1_f64);
    let base = fixed(ball("base", big, 1.0, Vector3::zeros()));
    let at = v(start.sin(), 0.0, start.cos()) * (r + big);
    let spec = spec(vec![base, ball("ball", r, 1.0, at)], Vec::new(), 0.0, 0.0);
    let (_, end, log) = run(&spec, 1.4);
    assert_eq!(end.ending, Ending::Completed);
    assert_eq!(log.released.len(), 1);
    // By quadrature of (1/2) theta'^2 = (g/L)(cos theta_0 - cos theta), theta = theta_0 cosh-like.
    let length = r + big;
    let leave = (2.0 / 3.0 * start.cos()).acos();
    let n = 200_000;
    let mut time = 0.0;
    // theta = start + s^2 removes the singularity at the start.
    let top = (leave - start).sqrt();
    for k in 0..n {
        let s = top * (f64::from(k) + 0.5) / f64::from(n);
        let theta = start + s * s;
        let square = 2.0 * G / length * (start.cos() - theta.cos());
        time += 2.0 * s / square.sqrt() * top / f64::from(n);
    }
    close(log.released[0], time, 2e-4);
}

/// Housner (1963): $\omega^+/\omega^- = 1 - \tfrac32\sin^2\delta$.
#[test]
fn a_rocking_block_loses_what_housner_says() {
    let (b, h) = (0.1_f64, 0.5_f64);
    let (delta, radius) = (b.atan2(h), b.hypot(h));
    let tilt = 0.5 * delta;
    let mut block = cuboid("block", [b, 0.3, h], Vector3::zeros());
    block.configuration.rotation = So3::exp(&v(0.0, tilt, 0.0));
    // It stands on its right edge, where x = 0.
    let arm = block.configuration.rotation.rotate(&v(b, 0.0, -h));
    block.configuration.translation = -arm;
    let world = World::new(&spec(vec![block], vec![floor()], 2.0, 0.0)).unwrap();
    let (end, log) = run_with(&world, &moreau, limits(1.5), &[]);
    assert_eq!(end.ending, Ending::Completed);
    // Time from the angle theta at rest, or to the angle 0, by small steps of Runge and Kutta.
    let acceleration = |theta: f64| -0.75 * G / radius * (delta - theta).sin();
    let land = |mut theta: f64, mut rate: f64| {
        let dt = 1e-5;
        let mut t = 0.0;
        loop {
            let (old, old_rate) = (theta, rate);
            let k1 = (rate, acceleration(theta));
            let k2 = (
                rate + 0.5 * dt * k1.1,
                acceleration(theta + 0.5 * dt * k1.0),
            );
            let k3 = (
                rate + 0.5 * dt * k2.1,
                acceleration(theta + 0.5 * dt * k2.0),
            );
            let k4 = (rate + dt * k3.1, acceleration(theta + dt * k3.0));
            theta += dt / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
            rate += dt / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
            if theta <= 0.0 {
                let share = old / (old - theta);
                return (t + share * dt, old_rate + share * (rate - old_rate));
            }
            t += dt;
        }
    };
    let ratio = 1.0 - 1.5 * delta.sin().powi(2);
    let (mut time, mut rate) = land(tilt, 0.0);
    assert!(log.impacts.len() >= 2, "{:?}", log.impacts.len());
    for impact in log.impacts.iter().take(3) {
        close(impact.time, time, 1e-4);
        let lost = impact.energy_plus / impact.energy_minus;
        close(lost.sqrt(), ratio, 1e-4);
        let (next, landing) = land(1e-12, -rate * ratio);
        time += next;
        rate = landing;
    }
}

/// A corner that slides on a face stays in contact: a domino falls against the next with one impact, and the
/// two slide along each other. The time of the impact has order 2 in the step.
#[test]
fn a_domino_slides_down_the_next() {
    let (a, w, h, push) = (0.004, 0.012, 0.024, 3.0);
    let times: Vec<f64> = [4e-3, 2e-3, 1e-3]
        .iter()
        .map(|step| {
            let domino = |name: &str, x: f64| cuboid(name, [a, w, h], v(x, 0.0, h));
            let spin = v(0.0, push, 0.0);
            let first = moving(domino("first", 0.0), v(h * push, 0.0, a * push), spin);
            let bodies = vec![first, domino("second", 2.0 * a + 0.016)];
            let mut spec = spec(bodies, vec![floor()], 0.5, 0.0);
            spec.time_step = *step;
            let friction = spec.surface.with_friction(0.2);
            spec.pairs = vec![([0, 1], friction)];
            let (world, end, log) = run(&spec, 0.33);
            assert_eq!(end.ending, Ending::Completed);
            assert_eq!(log.impacts.len(), 1);
            assert!(log.released.is_empty());
            for (_, states) in &log.samples {
                assert!(world.lowest_gap(states) >= -1e-15);
            }
            log.impacts[0].time
        })
        .collect();
    let ratio = (times[0] - times[1]) / (times[1] - times[2]);
    assert!((ratio - 4.0).abs() <= 0.1, "{ratio}");
}

/// A hexagonal prism rolls from edge to edge: at each landing its rate falls by
/// $(J + mR^2\cos 60°)/(J + mR^2)$, and no edge comes below the floor.
#[test]
fn a_prism_rolls_from_edge_to_edge() {
    let (radius, half, rate) = (0.1, 0.05, 6.0_f64);
    let corner = |k: usize, y: f64| {
        let angle = std::f64::consts::FRAC_PI_3 * k as f64;
        v(-radius * angle.sin(), y, -radius * angle.cos())
    };
    let points: Vec<Vector3<f64>> = (0..6)
        .flat_map(|k| [corner(k, -half), corner(k, half)])
        .collect();
    let shape = Shape::Polyhedron(Polyhedron::new(&points).unwrap());
    let prism = body("prism", shape, 1.0, v(0.0, 0.0, radius));
    let inertia = prism.mass.as_ref().unwrap().inertia()[(1, 1)];
    let prism = moving(prism, v(rate * radius, 0.0, 0.0), v(0.0, rate, 0.0));
    for step in [1e-3, 2.3e-3] {
        let mut spec = spec(vec![prism.clone()], vec![floor()], 2.0, 0.0);
        spec.time_step = step;
        let (world, end, log) = run(&spec, 0.6);
        assert_eq!(end.ending, Ending::Completed);
        assert!(log.impacts.len() >= 2, "{}", log.impacts.len());
        let about = inertia + radius * radius;
        let ratio = (inertia + 0.5 * radius * radius) / about;
        for impact in &log.impacts {
            close(
                impact.energy_plus / impact.energy_minus,
                ratio * ratio,
                1e-9,
            );
        }
        for (_, states) in &log.samples {
            assert!(world.lowest_gap(states) >= -2e-12);
        }
    }
}
