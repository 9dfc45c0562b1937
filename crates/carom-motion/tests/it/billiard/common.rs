//! Code that the tests share.
#![allow(dead_code)]

use carom_impact::Restitution;
use carom_motion::billiard::Ellipse;
use carom_motion::billiard::penny::{PennyBilliard, PennyState, RollingPenny};

/// The disk of Clark & Bloch, Table I: radius, mass and moments of inertia.
pub fn paper_penny() -> RollingPenny {
    RollingPenny::new(0.01, 0.0025, 1.25e-7, 6.25e-8).unwrap()
}

/// The initial state in Clark & Bloch, Sec. VI-A.
pub fn paper_start() -> PennyState {
    PennyState {
        phi: std::f64::consts::FRAC_PI_2,
        theta_dot: 10.0,
        phi_dot: 0.2,
        ..PennyState::default()
    }
}

/// The disk of Clark & Bloch on an elliptical table with the semi-axes `a` along x and `b` along y (m).
pub fn billiard(a: f64, b: f64, restitution: Restitution) -> PennyBilliard<Ellipse> {
    PennyBilliard::new(paper_penny(), Ellipse::new(a, b).unwrap(), restitution).unwrap()
}

pub fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}

/// Asserts that two numbers differ by at most `tolerance`; NaN fails.
#[track_caller]
pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} is not {expected}"
    );
}
