//! Invariant directions of sliding.

use super::flow::Flow;
use super::inertia::ContactInertia;
use crate::tolerances::LEAST_SLOPE;
use carom_numeric::roots;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Below this fraction of the isotropic part, what turns the sliding direction is rounding.
const ISOTROPIC: f64 = 1e-14;

/// Below this fraction of the largest term a component is zero.
const ZERO: f64 = 4e-16;

/// A direction in which sliding stays once there, $d - \mu B s = \lambda s$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvariantDirection {
    /// Polar angle $\theta$ in $(-\pi, \pi]$.
    pub angle: f64,
    /// Rate of the sliding speed per normal impulse, $\lambda = f(\theta)$. Not positive:
    /// centripetal; positive: centrifugal.
    pub lambda: f64,
    /// True if neighboring directions turn towards it ($g' < 0$).
    pub attracting: bool,
}

impl InvariantDirection {
    /// True if sliding along it speeds up, $\lambda > 0$.
    pub fn is_centrifugal(&self) -> bool {
        self.lambda > 0.0
    }

    /// Unit vector in the tangent plane.
    pub fn direction(&self) -> [f64; 2] {
        let (s, c) = libm::sincos(self.angle);
        [c, s]
    }
}

/// All invariant directions of a contact.
#[derive(Clone, Debug, PartialEq)]
pub enum InvariantDirections {
    /// Every direction is one: central impact with isotropic $B$, or no friction and no coupling.
    All,
    /// These, by angle: two, three or four with friction; two without (along $\pm d$).
    Discrete(Vec<InvariantDirection>),
}

/// Finds all invariant directions, Jia & Wang, section 4.2.
///
/// In the eigenframe of $B$, with $(p, q)$ the components of $d$ and $D = \mu(l_1 - l_2)$, they are
/// the zeros of
///
/// $$ G(u) = D\sin u\cos u + q\cos u - p\sin u . $$
///
/// One zero lies in each of two opposite quadrants; one of the other two has two more exactly if
/// $|p|^{2/3} + |q|^{2/3} < D^{2/3}$, on both sides of the angle with
/// $|\tan u_0| = |q/p|^{1/3}$. So each zero has a bracket, and no quartic is solved.
pub fn invariant_directions(w: &ContactInertia, friction: f64) -> InvariantDirections {
    let flow = Flow::new(w, friction);
    let (spread, twist) = (flow.a11 - flow.a22, 2.0 * flow.a12);
    let psi = 0.5 * libm::atan2(twist, spread);
    let big = libm::hypot(spread, twist);
    let (sin, cos) = libm::sincos(psi);
    let p = cos * flow.a1 + sin * flow.a2;
    let q = cos * flow.a2 - sin * flow.a1;
    let size = big + p.abs() + q.abs();
    if size <= ISOTROPIC * (flow.a11 + flow.a22) {
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

/// Zeros of $G$ in one turn.
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
    // Exact at the corners.
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

/// Two Newton steps in the original frame, and what the direction is like.
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
