//! Properties of the penny's billiard: volume, time reversal, symmetries, exponents, and that
//! three ways to find an impact agree.
#![allow(
    clippy::excessive_precision,
    reason = "digits as their source has them"
)]

use super::common::{billiard, close, paper_penny, paper_start, relative};
use carom_motion::billiard::ensemble::perturbation;
use carom_motion::hybrid::{Ending, Limits};

use carom_impact::Restitution;
use carom_motion::billiard::penny::{
    Event, PennyBilliard, PennyState, Rim, RollingPenny, flow_jacobian,
};
use carom_motion::billiard::{Ellipse, Table};
use carom_numeric::random::uniform;
use nalgebra::{Matrix2, Vector2, Vector5};

/// An ellipse that does not say so: impacts are found by certified steps.
#[derive(Debug)]
struct Unnamed(Ellipse);

impl Table for Unnamed {
    fn value(&self, p: Vector2<f64>) -> f64 {
        self.0.value(p)
    }
    fn gradient(&self, p: Vector2<f64>) -> Vector2<f64> {
        self.0.gradient(p)
    }
    fn hessian(&self, p: Vector2<f64>) -> Matrix2<f64> {
        self.0.hessian(p)
    }
    fn gradient_bound(&self) -> f64 {
        self.0.gradient_bound()
    }
    fn hessian_bound(&self) -> f64 {
        self.0.hessian_bound()
    }
    fn diameter(&self) -> f64 {
        self.0.diameter()
    }
    fn width(&self) -> f64 {
        self.0.width()
    }
}

/// A random penny inside a random ellipse, semi-axes from 1.1 to 20 radii.
fn random(case: u64) -> (Ellipse, PennyState) {
    let penny = paper_penny();
    let draw = |k: u64, low, high| uniform(77, 1000 * case + k, low, high);
    let axis = |k| 0.01 * (1.1f64.ln() + draw(k, 0.0, 1.0) * (20.0f64 / 1.1).ln()).exp();
    let ellipse = Ellipse::new(axis(0), axis(1)).unwrap();
    let [a, b] = ellipse.semi_axes();
    let speed = 10f64.powf(draw(2, -2.0, 2.0));
    let angle = draw(3, 0.0, std::f64::consts::TAU);
    let mut k = 4;
    loop {
        let state = PennyState {
            x: draw(k, -a, a),
            y: draw(k + 1, -b, b),
            theta: 0.0,
            phi: draw(k + 2, -4.0, 4.0),
            theta_dot: speed * angle.cos(),
            phi_dot: speed * angle.sin(),
        };
        let inside = [Rim::Front, Rim::Back].map(|rim| ellipse.value(penny.rim(&state, rim)));
        if inside.iter().all(|h| *h < 0.0) {
            return (ellipse, state);
        }
        k += 3;
    }
}

/// The shared circle and certified marching share no formula for the time of an impact.
#[test]
fn polynomials_and_certified_steps_find_the_same_impacts() {
    let mut repeats = 0;
    for case in 0..400 {
        let (ellipse, state) = random(case);
        let fast = PennyBilliard::new(paper_penny(), ellipse, Restitution::Elastic).unwrap();
        let slow = PennyBilliard::new(paper_penny(), Unnamed(ellipse), Restitution::Elastic);
        let fast = fast.run(state, Limits::impacts(8)).unwrap();
        let slow = slow.unwrap().run(state, Limits::impacts(8)).unwrap();
        assert_eq!(fast.events.len(), slow.events.len(), "case {case}");
        let mut conditioning: f64 = 1.0;
        for (k, (a, b)) in fast.events.iter().zip(&slow.events).enumerate() {
            assert_eq!(a.rim, b.rim, "case {case}, impact {k}");
            let tolerance = if k == 0 { 1e-12 } else { 1e-6 };
            // A graze at an angle of 1e-3 costs three digits of its time, and all later ones.
            conditioning = conditioning.max(0.1 * 0.01 * 10.0 / a.normal_velocity);
            close(a.time / b.time, 1.0, tolerance * conditioning.max(1.0));
        }
        repeats += fast
            .events
            .windows(2)
            .filter(|w| w[0].rim == w[1].rim)
            .count();
    }
    // Same rim twice in a row: only where a circle meets the wall four times.
    assert!(repeats > 10, "{repeats}");
}

/// Between impacts both rims stay inside; 200 points of every interval.
#[test]
fn rims_stay_inside_between_impacts() {
    for case in 0..200 {
        let (ellipse, state) = random(case);
        let billiard = PennyBilliard::new(paper_penny(), ellipse, Restitution::Elastic).unwrap();
        let run = billiard.run(state, Limits::impacts(20)).unwrap();
        let penny = billiard.penny();
        let mut from = (0.0, state);
        for event in &run.events {
            for k in 0..=200 {
                let at = penny.flow(&from.1, event.interval * f64::from(k) / 200.0);
                for rim in [Rim::Front, Rim::Back] {
                    let value = ellipse.value(penny.rim(&at, rim));
                    assert!(value < 1e-13, "case {case}, {} s: {value:e}", from.0);
                }
            }
            from = (event.time, event.state);
        }
    }
}

fn laws() -> [Restitution; 4] {
    [
        Restitution::Elastic,
        Restitution::Projected,
        Restitution::Newton(0.7),
        Restitution::ProjectedNewton(0.95),
    ]
}

/// The volume of phase space answers a question that the paper leaves open.
#[test]
fn elastic_impacts_keep_the_volume_and_others_scale_it() {
    let first = billiard(0.2, 0.2, Restitution::Projected);
    let event = first.run(paper_start(), Limits::impacts(1)).unwrap().events[0];
    close(
        first.saltation(&event).determinant().abs().ln(),
        -1.978317208685,
        1e-12,
    );
    for restitution in laws() {
        for case in 0..100 {
            let (ellipse, state) = random(case);
            let billiard = PennyBilliard::new(paper_penny(), ellipse, restitution).unwrap();
            let run = billiard.run(state, Limits::impacts(3)).unwrap();
            let mut before = state;
            for event in &run.events {
                let flow = flow_jacobian(&paper_penny(), &before, event.interval);
                close(flow.determinant(), 1.0, 1e-12);
                let volume = billiard.saltation(event).determinant().abs();
                let expected = event.effective_restitution * event.effective_restitution;
                // Saltation divides by the rate, so that a grazing impact loses digits.
                let speed = 0.01 * event.velocity_minus[0].hypot(event.velocity_minus[1]);
                let loss = (speed / event.normal_velocity).powi(2);
                close(volume / expected, 1.0, 1e-12 * loss.max(1.0));
                before = event.state;
            }
        }
    }
}

fn vector(s: &PennyState) -> Vector5<f64> {
    Vector5::new(s.x, s.y, s.phi, s.theta_dot, s.phi_dot)
}

fn state(z: &Vector5<f64>) -> PennyState {
    PennyState {
        x: z[0],
        y: z[1],
        theta: 0.0,
        phi: z[2],
        theta_dot: z[3],
        phi_dot: z[4],
    }
}

/// The tangent map over one impact is the derivative of the flow over a fixed time.
#[test]
fn the_saltation_matrix_is_the_derivative_of_the_orbit() {
    for restitution in laws() {
        let billiard = billiard(0.15, 0.2, restitution);
        let start = paper_start();
        let time = 2.0;
        let event = billiard.run(start, Limits::impacts(1)).unwrap().events[0];
        let penny = billiard.penny();
        let map = flow_jacobian(penny, &event.state, time - event.time)
            * billiard.saltation(&event)
            * flow_jacobian(penny, &start, event.time);
        let end = |z: &Vector5<f64>| {
            let run = billiard.run(state(z), Limits::duration(time)).unwrap();
            vector(&run.final_state(penny))
        };
        for k in 0..5 {
            let step = 1e-6;
            let (mut up, mut down) = (vector(&start), vector(&start));
            up[k] += step;
            down[k] -= step;
            let derivative = (end(&up) - end(&down)) / (2.0 * step);
            let column = map.column(k).into_owned();
            // Central differences: error step² times third derivatives of order 1e4.
            assert!(
                (derivative - column).norm() <= 1e-6 * column.norm().max(1.0),
                "{k}: {derivative} {column}"
            );
        }
    }
}

#[test]
fn time_reversal_leads_back_to_the_start() {
    let billiard = billiard(0.15, 0.2, Restitution::Elastic);
    let penny = billiard.penny();
    let run = billiard.run(paper_start(), Limits::impacts(20)).unwrap();
    let end = run.time + 0.05;
    let mut back = run.state_at(penny, end);
    (back.theta_dot, back.phi_dot) = (-back.theta_dot, -back.phi_dot);
    let run = billiard.run(back, Limits::duration(end)).unwrap();
    assert_eq!(run.events.len(), 20);
    let home = run.final_state(penny);
    let start = paper_start();
    for (found, expected) in [
        (home.x, start.x),
        (home.y, start.y),
        (home.phi, start.phi),
        (-home.theta_dot / 10.0, 1.0),
        (-home.phi_dot / 25.0, 0.2 / 25.0),
    ] {
        close(found, expected, 1e-9);
    }
}

/// Compares times and rims over eight impacts, with a map of the rims and a factor of the times.
fn same_orbit(a: &[Event], b: &[Event], rims: impl Fn(Rim) -> Rim, factor: f64) {
    assert_eq!((a.len(), b.len()), (8, 8));
    for (a, b) in a.iter().zip(b) {
        assert_eq!(rims(a.rim), b.rim);
        close(relative(b.time * factor, a.time), 0.0, 1e-10);
        close(
            relative(b.normal_velocity / factor, a.normal_velocity),
            0.0,
            1e-9,
        );
    }
}

#[test]
fn symmetries_of_the_ellipse_are_symmetries_of_the_orbits() {
    let billiard = billiard(0.15, 0.2, Restitution::Projected);
    let start = PennyState {
        x: 0.02,
        y: -0.03,
        phi: 0.8,
        ..paper_start()
    };
    let go = |state| billiard.run(state, Limits::impacts(8)).unwrap().events;
    let orbit = go(start);
    let pi = std::f64::consts::PI;
    let mirrored = PennyState {
        x: -start.x,
        phi: pi - start.phi,
        phi_dot: -start.phi_dot,
        ..start
    };
    same_orbit(&orbit, &go(mirrored), |rim| rim, 1.0);
    let mirrored = PennyState {
        y: -start.y,
        phi: -start.phi,
        phi_dot: -start.phi_dot,
        ..start
    };
    same_orbit(&orbit, &go(mirrored), |rim| rim, 1.0);
    let turned = PennyState {
        phi: start.phi + pi,
        theta_dot: -start.theta_dot,
        ..start
    };
    same_orbit(&orbit, &go(turned), Rim::other, 1.0);
    let faster = PennyState {
        theta_dot: 3.0 * start.theta_dot,
        phi_dot: 3.0 * start.phi_dot,
        ..start
    };
    same_orbit(&orbit, &go(faster), |rim| rim, 3.0);
    // A heavier disk of the same shape.
    let heavy = RollingPenny::new(0.01, 7.0 * 0.0025, 7.0 * 1.25e-7, 7.0 * 6.25e-8).unwrap();
    let heavy = PennyBilliard::new(heavy, *billiard.table(), Restitution::Projected).unwrap();
    same_orbit(
        &orbit,
        &heavy.run(start, Limits::impacts(8)).unwrap().events,
        |rim| rim,
        1.0,
    );
}

/// 100 starts, seed 2019: population statistics from an independent program (positions good to
/// 1e-9 at 20 s).
#[test]
fn the_cloud_spreads_as_computed_independently() {
    let first = perturbation(2019, 0, 0.005);
    let third = perturbation(2019, 2, 0.005);
    assert_eq!(
        [10.0 + first[0], 0.2 + first[1]],
        [9.998718774231328, 0.19777517476102155]
    );
    assert_eq!(
        [10.0 + third[0], 0.2 + third[1]],
        [9.995739515405592, 0.2034765445736256]
    );
    let cases = [
        (
            0.15,
            5.0,
            [4.818788545058e-3, 2.702292436530e-3],
            1.978824171327e-2,
        ),
        (
            0.15,
            10.0,
            [2.52814538193e-2, 1.65020602495e-2],
            8.43413336041e-2,
        ),
        (
            0.15,
            20.0,
            [5.9577284487e-2, 9.5303720803e-2],
            0.371981846549,
        ),
        (
            0.2,
            5.0,
            [7.64323694174e-4, 2.96528079118e-4],
            2.8211082210821982e-3,
        ),
        (
            0.2,
            20.0,
            [6.5670996764e-4, 5.0088308475e-4],
            3.3488587742223916e-3,
        ),
    ];
    for (a, time, std, largest) in cases {
        let billiard = billiard(a, 0.2, Restitution::Elastic);
        let states: Vec<PennyState> = (0..100)
            .map(|k| {
                let [theta_dot, phi_dot] = perturbation(2019, k, 0.005);
                let start = PennyState {
                    theta_dot: 10.0 + theta_dot,
                    phi_dot: 0.2 + phi_dot,
                    ..paper_start()
                };
                let run = billiard.run(start, Limits::duration(time)).unwrap();
                run.final_state(billiard.penny())
            })
            .collect();
        let deviation = |coordinate: fn(&PennyState) -> f64| {
            let mean = states.iter().map(coordinate).sum::<f64>() / 100.0;
            let squares = states.iter().map(|s| (coordinate(s) - mean).powi(2));
            (squares.sum::<f64>() / 100.0).sqrt()
        };
        close(relative(deviation(|s| s.x), std[0]), 0.0, 1e-6);
        close(relative(deviation(|s| s.y), std[1]), 0.0, 1e-6);
        let pairs = states
            .iter()
            .flat_map(|p| states.iter().map(|q| (p.x - q.x).hypot(p.y - q.y)));
        close(relative(pairs.fold(0.0, f64::max), largest), 0.0, 1e-6);
        if (a, time) == (0.15, 10.0) {
            close(states[0].x, -0.03559642502003778, 1e-9);
            close(states[0].y, -0.10108492108872547, 1e-9);
        }
        if (a, time) == (0.15, 20.0) {
            close(states[0].x, -0.10747152666712702, 1e-6);
            close(states[0].y, -0.04603817436057544, 1e-6);
        }
    }
}

#[test]
fn the_ellipse_is_chaotic_and_the_circle_is_not() {
    let exponents = |billiard: &PennyBilliard<Ellipse>, start| {
        let (lyapunov, ending) = billiard.lyapunov(start, 5000).unwrap();
        assert_eq!((lyapunov.impacts, ending), (5000, Ending::MaxImpacts));
        let sum: f64 = lyapunov.per_impact.iter().sum();
        close(sum, 0.0, 1e-9);
        let mut e = lyapunov.per_impact;
        e.sort_by(|a, b| b.total_cmp(a));
        e
    };
    let ellipse = billiard(0.15, 0.2, Restitution::Elastic);
    let e = exponents(&ellipse, paper_start());
    assert!((0.33..=0.52).contains(&e[0]), "{e:?}");
    // Reversibility pairs the exponents.
    close(e[0] + e[4], 0.0, 0.02);
    close(e[1] + e[3], 0.0, 0.02);
    let circle = billiard(0.2, 0.2, Restitution::Elastic);
    assert!(exponents(&circle, paper_start())[0] < 2e-3);
    let regular = PennyState {
        x: 0.083,
        y: -0.102,
        theta: 0.0,
        phi: -0.584,
        theta_dot: 9.95,
        phi_dot: 2.42,
    };
    assert!(exponents(&ellipse, regular)[0] < 3e-3);
}
