//! Table I of the paper.

use super::robot::{Lengths, Stance};

/// A row of Table I.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) stance: Stance,
    pub(super) lengths: Lengths,
}

/// Builds a row of the paper's Table I from its printed numbers. The numbers have the order of the columns: x, y, θ, φ_L, φ_R,
/// γ_L, γ_R, φ_T, r1, r2, l_u, l_l.
const fn row(name: &'static str, printed: [f64; 12]) -> Row {
    let [
        x,
        y,
        theta,
        hip_l,
        hip_r,
        knee_l,
        knee_r,
        tail,
        r1,
        r2,
        thigh,
        shank,
    ] = printed;
    Row {
        name,
        stance: [x, y, theta, hip_l, knee_l, hip_r, knee_r, tail],
        lengths: Lengths {
            anterior_radius: r1,
            posterior_radius: r2,
            thigh,
            shank,
        },
    }
}

/// Initial design, chosen by hand.
pub(super) const INITIAL: Row = row(
    "initial",
    [
        0.0, 12.38, 5.78, 5.13, 1.99, 5.24, 5.24, 0.0, 7.0, 4.0, 8.0, 10.0,
    ],
);

/// Design found by the paper's optimization.
pub(super) const OPTIMIZED: Row = row(
    "optimized",
    [
        0.0, 13.69, 5.92, 4.79, 2.85, 5.71, 5.67, -0.19, 6.69, 4.22, 7.81, 9.86,
    ],
);
