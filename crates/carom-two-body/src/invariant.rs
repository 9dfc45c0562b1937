//! Invariant directions of sliding.

use super::flow::Flow;
use super::inertia::ContactInertia;
use crate::tolerances::LEAST_SLOPE;
use crate::tolerances::ROUNDED;
use carom_numeric::roots;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Component, as a fraction of the largest term, below which it counts as zero.
const ZERO: f64 = 4e-16;

/// Invariant direction of sliding: a contact that slides in this direction keeps the direction during the impact. The unit vector
/// $s$ of the direction satisfies $d - \mu B s = \lambda s$. $B$ is the tangential block of the inverse inertia matrix, $d$ its
/// coupling of tangents and normal, $\mu$ the friction coefficient and $\lambda$ the rate of the sliding speed per normal
/// impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvariantDirection {
    /// Polar angle $\theta$ in $(-\pi, \pi]$.
    pub angle: f64,
    /// Rate of the sliding speed per normal impulse, $\lambda = f(\theta)$. The direction is centrifugal if $\lambda$ is
    /// positive, otherwise centripetal.
    pub lambda: f64,
    /// True if neighboring sliding directions turn towards this one ($g' < 0$).
    pub attracting: bool,
}

impl InvariantDirection {
    /// True if the sliding speed increases during the impact while the contact slides in this invariant direction: its rate
    /// $\lambda$ per normal impulse is positive.
    pub fn is_centrifugal(&self) -> bool {
        self.lambda > 0.0
    }

    /// Returns the invariant sliding direction as a unit vector in the tangent plane.
    pub fn direction(&self) -> [f64; 2] {
        let (s, c) = libm::sincos(self.angle);
        [c, s]
    }
}

/// All invariant directions of sliding of a contact. A contact that slides in an invariant direction keeps this direction during
/// the impact. [`invariant_directions`] computes them.
#[derive(Clone, Debug, PartialEq)]
pub enum InvariantDirections {
    /// Every direction is invariant: central impact with isotropic $B$, or neither friction nor coupling.
    All,
    /// Invariant directions by angle: two, three or four with friction; two without (along $\pm d$).
    Discrete(Vec<InvariantDirection>),
}

/// Finds all invariant directions of sliding of a contact, in which sliding stays straight during the impact.
/// `w` is the inverse inertia matrix of the contact, `friction` the friction coefficient. Jia & Wang, section
/// 4.2.
///
/// Let $B$ be the tangential block of the inverse inertia matrix, $d$ its coupling of tangents and normal and
/// $\mu$ the friction coefficient. In the eigenframe of $B$, with the components $(p, q)$ of $d$, the
/// eigenvalues $l_1 \ge l_2$ of $B$ and $D = \mu(l_1 - l_2)$, the polar angles $u$ of the invariant directions
/// are the zeros of
///
/// $$ G(u) = D\sin u\cos u + q\cos u - p\sin u . $$
///
/// One zero lies in each of two opposite quadrants. One of the other two quadrants has two more zeros exactly if
/// $|p|^{2/3} + |q|^{2/3} < D^{2/3}$, one on each side of the angle $u_0$ with $|\tan u_0| = |q/p|^{1/3}$. So each zero
/// has a bracket, and no quartic equation is solved.
pub fn invariant_directions(w: &ContactInertia, friction: f64) -> InvariantDirections {
    let flow = Flow::new(w, friction);
    let (spread, twist) = (flow.a11 - flow.a22, 2.0 * flow.a12);
    let psi = 0.5 * libm::atan2(twist, spread);
    let big = libm::hypot(spread, twist);
    let (sin, cos) = libm::sincos(psi);
    let p = cos * flow.a1 + sin * flow.a2;
    let q = cos * flow.a2 - sin * flow.a1;
    let size = big + p.abs() + q.abs();
    if size <= ROUNDED * (flow.a11 + flow.a22) {
        return InvariantDirections::All;
    }
    let tiny = ZERO * size;
    let [p, q, big] = [p, q, big].map(|x| if x.abs() <= tiny { 0.0 } else { x });
    let mut found: Vec<InvariantDirection> = zeros(p, q, big)
        .into_iter()
        .map(|u| polished(&flow, u + psi))
        .collect();
    found.sort_by(|a, b| a.angle.total_cmp(&b.angle));
    InvariantDirections::Discrete(found)
}

/// Finds all zeros (angles in rad) of $G(u) = D\sin u\cos u + q\cos u - p\sin u$ in one turn; `big` is $D$. The zeros are the
/// angles of the invariant directions, in which sliding does not turn.
fn zeros(p: f64, q: f64, big: f64) -> Vec<f64> {
    if p == 0.0 && q == 0.0 {
        return vec![0.0, FRAC_PI_2, PI, -FRAC_PI_2];
    }
    if big == 0.0 {
        let u = libm::atan2(q, p);
        return vec![u, u + PI];
    }
    if q == 0.0 {
        let mut found = vec![0.0, PI];
        if p.abs() < big {
            let u = libm::acos(p / big);
            found.extend([u, -u]);
        }
        return found;
    }
    if p == 0.0 {
        let mut found = vec![FRAC_PI_2, -FRAC_PI_2];
        if q.abs() < big {
            let u = libm::asin(-q / big);
            found.extend([u, PI - u]);
        }
        return found;
    }
    let g = |u: f64| {
        let (s, c) = libm::sincos(u);
        (
            big * s * c + q * c - p * s,
            big * (c * c - s * s) - q * s - p * c,
        )
    };
    // Exact values at the multiples of a quarter turn.
    let corners = [q, -p, -q, p, q];
    let mut found = Vec::with_capacity(4);
    let cusp = libm::atan(libm::cbrt(q.abs() / p.abs()));
    for quadrant in 0..4 {
        let (a, b) = (corners[quadrant], corners[quadrant + 1]);
        let low = FRAC_PI_2 * quadrant as f64;
        let high = low + FRAC_PI_2;
        if (a > 0.0) != (b > 0.0) {
            found.push(roots::newton([low, high], [a, b], g));
            continue;
        }
        let u0 = if quadrant % 2 == 0 {
            low + cusp
        } else {
            high - cusp
        };
        let middle = g(u0).0;
        if middle == 0.0 {
            found.push(u0);
        } else if (middle > 0.0) != (a > 0.0) {
            found.push(roots::newton([low, u0], [a, middle], g));
            found.push(roots::newton([u0, high], [middle, b], g));
        }
    }
    found
}

/// Improves the polar angle (rad) of an invariant direction by two Newton steps on the rate at which sliding turns. Returns the
/// invariant direction with its properties.
fn polished(flow: &Flow, mut angle: f64) -> InvariantDirection {
    for _ in 0..2 {
        let (s, c) = libm::sincos(angle);
        let (_, g, slope) = flow.rates([c, s]);
        if slope.abs() > LEAST_SLOPE {
            angle -= g / slope;
        }
    }
    let (s, c) = libm::sincos(angle);
    let (f, _, slope) = flow.rates([c, s]);
    let mut angle = angle % TAU;
    if angle > PI {
        angle -= TAU;
    } else if angle <= -PI {
        angle += TAU;
    }
    InvariantDirection {
        angle,
        lambda: f * flow.rate,
        attracting: slope < 0.0,
    }
}
