//! Orbits with their multipliers.

use crate::systems::*;
use carom_analyse::carom_mechanism::planar::{Inertia, Link, PlanarBuilder};
use carom_analyse::{ContactFlow, Motion, Orbit, Section, Settings, find};
use carom_impact::frictional::MoreauNewton;
use std::f64::consts::TAU;

fn close(found: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!(
        (found - wanted).abs() <= tolerance,
        "{what}: {found} is not {wanted}, by {:e}",
        found - wanted
    );
}

/// Independent solution by closed-form flights, period 4π/2.8.
#[test]
fn an_oscillator_with_a_stop_hits_it_twice_in_two_periods() {
    let system = oscillator(2.8);
    let law = MoreauNewton::default();
    let settings = Settings::default();
    let flow = ContactFlow::new(&system, &law, Vec::new(), &settings).unwrap();
    let section = Section::every(0.0, TAU / 2.8);
    let start = Motion::start(&flow, 0.0, &[0.08, -0.08]).unwrap();
    let orbit = find(&flow, &section, start, 2, None, &settings).unwrap();
    close(orbit.state[0], 0.07714518502846561, 1e-11, "q");
    close(orbit.state[1], -0.07910451053115618, 1e-11, "v");
    close(orbit.multipliers[0].re, -0.8743297923445302, 1e-10, "first");
    close(
        orbit.multipliers[1].re,
        -0.4282550465877253,
        1e-10,
        "second",
    );
    assert_eq!(orbit.events.len(), 2);
    close(orbit.events[0].time, 0.34351303467505345, 1e-11, "time");
    close(
        orbit.events[0].speed.unwrap(),
        0.1856101967976463,
        1e-11,
        "speed",
    );
    close(orbit.events[1].time, 4.334213043227869, 1e-11, "time");
    assert_eq!(
        (orbit.least_returns, orbit.stable, orbit.neutral),
        (2, Some(true), 0)
    );
    assert!(orbit.state_error < 1e-10);
}

fn roll(spokes: usize) -> (Orbit, f64, f64) {
    let (mass, inertia) = (1.0, 1.0);
    // Steep enough for the hub to pass over each foot.
    let alpha = std::f64::consts::PI / spokes as f64;
    let over = |slope: f64| {
        let mu = (inertia + mass * (2.0 * alpha).cos()) / (inertia + mass);
        let c = 4.0 * mass * GRAVITY * alpha.sin() * slope.sin() / (inertia + mass);
        let climb = 2.0 * mass * GRAVITY / (inertia + mass) * (1.0 - (alpha - slope).cos());
        slope < alpha && mu * mu * c / (1.0 - mu * mu) > 1.1 * climb
    };
    let slope = (1..)
        .map(|k| 0.02 * f64::from(k))
        .find(|slope| over(*slope))
        .unwrap();
    let system = wheel(spokes, mass, inertia, slope);
    let law = MoreauNewton::default();
    let settings = Settings::default();
    let flow = ContactFlow::new(&system, &law, Vec::new(), &settings).unwrap();
    let mu = (inertia + mass * (2.0 * alpha).cos()) / (inertia + mass);
    let c = 4.0 * mass * GRAVITY * alpha.sin() * slope.sin() / (inertia + mass);
    let rate = mu * (c / (1.0 - mu * mu)).sqrt();
    // The front spoke stands; its foot is at rest.
    let w = -rate * 1.02;
    let (x, y) = (alpha.sin(), -alpha.cos());
    let state = [0.0, alpha.cos(), 0.0, w * y, -w * x, w];
    let start = Motion::start(&flow, 0.0, &state).unwrap();
    let section = Section::events((0..spokes).collect());
    let orbit = find(
        &flow,
        &section,
        start,
        1,
        Some(&wheel_turn(spokes)),
        &settings,
    )
    .unwrap();
    (orbit, mu, rate)
}

/// McGeer; Coleman: multiplier μ² of a rimless wheel.
#[test]
fn a_rimless_wheel_has_the_multiplier_of_its_landing() {
    for spokes in 5..=12 {
        let (orbit, mu, rate) = roll(spokes);
        close(orbit.state[5], -rate, 1e-9, "rate");
        assert_eq!(orbit.multipliers.len(), 5);
        assert_eq!(orbit.neutral, 1);
        close(orbit.multipliers[0].re, 1.0, 1e-9, "neutral");
        close(orbit.multipliers[1].re, mu * mu, 1e-9, "multiplier");
        assert!(orbit.multipliers[2..].iter().all(|m| m.modulus() == 0.0));
        assert_eq!(orbit.stable, Some(true));
    }
}

/// Goswami, Thuilot & Espiau's walker at 3°: independent solution.
#[test]
fn a_compass_walks_down_a_slope() {
    let system = compass(3.0_f64.to_radians());
    let law = MoreauNewton::default();
    let settings = Settings::default();
    let flow = ContactFlow::new(&system, &law, compass_arming(), &settings).unwrap();
    let state = [
        -0.26772270771500545,
        0.9634960050637189,
        -1.8418250072937177,
        0.5420573609976422,
        1.0484735160454584,
        0.2913350623229608,
        -0.3813095090155032,
        -0.7068875468468296,
    ];
    let start = Motion::start(&flow, 0.0, &state).unwrap();
    let section = Section::events(vec![0, 1]);
    let orbit = find(
        &flow,
        &section,
        start,
        1,
        Some(&compass_exchange()),
        &settings,
    )
    .unwrap();
    close(orbit.state[3], 2.0 * 0.2710286804988211, 1e-9, "angle");
    close(orbit.state[6], -0.3773095090155032, 1e-9, "rate");
    close(orbit.state[7], -0.7148875468468296, 1e-9, "rate");
    close(orbit.period, 0.7344718086230968, 1e-9, "period");
    assert_eq!(
        (orbit.multipliers.len(), orbit.neutral, orbit.stable),
        (7, 1, Some(true))
    );
    close(orbit.multipliers[1].re, -0.199726126830046, 1e-8, "re");
    close(orbit.multipliers[1].im, 0.5444760620947267, 1e-8, "im");
    close(orbit.multipliers[3].re, 0.13157262407718498, 1e-8, "third");
    assert!(orbit.multipliers[4..].iter().all(|m| m.modulus() == 0.0));
}

/// Holmes; Luo & Han: ten pairs of restitution and periods between impacts.
#[test]
fn a_ball_on_a_shaker_has_the_multipliers_of_the_closed_form() {
    let omega = 25.0;
    for (e, n) in [
        (0.8, 1),
        (0.8, 2),
        (0.7, 1),
        (0.6, 1),
        (0.6, 2),
        (0.5, 1),
        (0.5, 3),
        (0.4, 1),
        (0.3, 1),
        (0.9, 4),
    ] {
        let share = n as f64 * std::f64::consts::PI * (1.0 - e) / (1.0 + e);
        let gamma = 1.2 * share;
        // Free flight of n periods; the impact is at the phase φ with cos φ = share/Γ.
        let cos: f64 = share / gamma;
        let sin = (1.0 - cos * cos).sqrt();
        let system = table(gamma, omega, e);
        let law = MoreauNewton::default();
        let settings = Settings::default();
        let flow = ContactFlow::new(&system, &law, Vec::new(), &settings).unwrap();
        let trace = 1.0 + e * e - (1.0 + e) * (1.0 + e) * gamma * sin;
        let determinant: f64 = e * e;
        let found = shaken(&flow, omega, n, e, gamma, sin, cos);
        let (sum, product) = match found.multipliers.as_slice() {
            [a, b] if a.im != 0.0 => (a.re + b.re, a.re * a.re + a.im * a.im),
            [a, b] => (a.re + b.re, a.re * b.re),
            other => panic!("{other:?}"),
        };
        close(sum, trace, 1e-8, &format!("trace for e = {e}, n = {n}"));
        close(
            product,
            determinant,
            1e-8,
            &format!("determinant for e = {e}, n = {n}"),
        );
    }
}

/// Orbit of one impact in n periods, from near the closed form.
fn shaken(
    flow: &ContactFlow<'_>,
    omega: f64,
    n: usize,
    e: f64,
    gamma: f64,
    sin: f64,
    cos: f64,
) -> Orbit {
    let settings = Settings::default();
    // Relative motion: z'' = −g + Γ g sin ωt. Speed after the impact in space: g n T/2; the table moves with −Γg/ω cos.
    let g = GRAVITY;
    let flight = n as f64 * TAU / omega;
    let phase = (std::f64::consts::PI - sin.atan2(cos)).rem_euclid(TAU) / omega;
    let candidates = [
        phase,
        (sin.atan2(cos)) / omega,
        (TAU - sin.atan2(cos)) / omega,
    ];
    for at in candidates {
        // z' just after: relative velocity u with u = e·w, u + ∫ = −w over the flight.
        let drop = g * flight;
        let after = drop * e / (1.0 + e);
        // From the impact at `at` to the next strobe.
        let (s0, c0) = (omega * at).sin_cos();
        let dt = TAU / omega - at;
        let v = after - g * dt - gamma * g / omega * ((omega * (at + dt)).cos() - c0);
        let z = after * dt
            - 0.5 * g * dt * dt
            - gamma * g / (omega * omega) * (omega * (at + dt)).sin()
            + gamma * g / (omega * omega) * s0
            + gamma * g / omega * c0 * dt;
        if z < 0.0 {
            continue;
        }
        let Ok(start) = Motion::start(flow, 0.0, &[z, v]) else {
            continue;
        };
        if let Ok(orbit) = find(
            flow,
            &Section::every(0.0, TAU / omega),
            start,
            n,
            None,
            &settings,
        ) && orbit.events.len() == 1
            && ((orbit.events[0].time - at) % (TAU / omega)).abs() < 1e-3 * flight
        {
            return orbit;
        }
    }
    panic!("no orbit for n = {n}, e = {e}");
}

/// Small swings of a pendulum keep their energy: every amplitude is an orbit, and the multiplier of the section is 1.
#[test]
fn a_swinging_pendulum_is_neutral() {
    let mut builder = PlanarBuilder::new([0.0, -GRAVITY]);
    let rod = builder.hinge(Link::GROUND, [0.0, 0.0], -0.5 * std::f64::consts::PI);
    builder.body(rod, Inertia::point(2.0, [0.5, 0.0]));
    let pendulum = builder.build().unwrap();
    let law = MoreauNewton::default();
    let settings = Settings::default();
    let flow = ContactFlow::new(&pendulum, &law, Vec::new(), &settings).unwrap();
    let section = Section::Falls(std::sync::Arc::new(|x: &[f64], slope: &mut [f64]| {
        slope[0] = -1.0;
        -x[0]
    }));
    let start = Motion::start(&flow, 0.0, &[0.0, 0.5]).unwrap();
    let orbit = find(&flow, &section, start, 1, None, &settings).unwrap();
    // T = 2π √(l/g) / agm(1, cos(θ/2)) with sin(θ/2) = v √(l/g)/2 for the rate v at the lowest point.
    let time = (0.5_f64 / GRAVITY).sqrt();
    let sine = 0.5 * orbit.state[1] * time;
    let (mut a, mut b) = (1.0_f64, (1.0 - sine * sine).sqrt());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    close(orbit.period, TAU * time / a, 1e-11, "period");
    assert_eq!((orbit.neutral, orbit.multipliers.len()), (1, 1));
    close(orbit.multipliers[0].re, 1.0, 1e-9, "multiplier");
}
