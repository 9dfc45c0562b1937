//! Residuals of impulses.

use super::problem::{ConeProblem, WIDTH};
use crate::LcpError;
use carom_numeric::kernel::norm;

/// The largest [`cone_residual`] of an answer that counts as solved.
pub const CONE_RESIDUAL: f64 = 1e-9;

/// Residual of impulses (3m) in the problem: 0 for a solution, free of units.
///
/// With $g_i$ the largest diagonal entry of block $G_{ii}$, $u = b + G\lambda$ and
/// $\hat u_i = (u_n + e b_n + \mu\lVert u_t\rVert, u_t)_i$,
///
/// $$ r = \frac{\max_i \sqrt{g_i} \lVert \lambda_i - P_K(\lambda_i - \hat u_i/g_i)\rVert}
/// {\max_i \max(\lVert b_i\rVert/\sqrt{g_i}, \sqrt{g_i}\lVert\lambda_i\rVert)} $$
///
/// with $P_K$ the Euclidean projection onto the friction cone. $\hat u$ is De Saxcé and Feng's:
/// $\lambda$ solves the problem exactly where $\lambda_i = P_K(\lambda_i - \hat u_i/g_i)$. With
/// caps, the normal impulses and the disc of radius $\mu\lambda_n$ are projected one after the other.
///
/// # Errors
///
/// [`LcpError::DimensionMismatch`] for impulses of another length.
pub fn cone_residual(problem: &ConeProblem<'_>, impulse: &[f64]) -> Result<f64, LcpError> {
    if impulse.len() != problem.dim() {
        return Err(LcpError::DimensionMismatch {
            what: "impulse",
            expected: problem.dim(),
            found: impulse.len(),
        });
    }
    let mut after = Vec::with_capacity(impulse.len());
    problem.velocity_after(impulse, &mut after);
    Ok(residual_of(problem, impulse, &after))
}

/// The residual of impulses with the velocities that they make.
pub(super) fn residual_of(problem: &ConeProblem<'_>, impulse: &[f64], after: &[f64]) -> f64 {
    let (mut worst, mut size) = (0.0f64, 0.0f64);
    for i in 0..problem.n_contacts() {
        let rows = i * WIDTH..(i + 1) * WIDTH;
        let (b, l, u) = match (
            &problem.velocity()[rows.clone()],
            &impulse[rows.clone()],
            &after[rows],
        ) {
            (&[b0, b1, b2], &[l0, l1, l2], &[u0, u1, u2]) => {
                ([b0, b1, b2], [l0, l1, l2], [u0, u1, u2])
            }
            _ => return f64::INFINITY,
        };
        let g = problem.diagonal(i).into_iter().fold(0.0, f64::max);
        let root = g.sqrt();
        let friction = problem.friction(i);
        let target = u[0] + problem.restitution(i) * b[0];
        let cap = problem.cap(i);
        let projected = if cap.is_finite() {
            let normal = (l[0] - target / g).clamp(0.0, cap);
            let (x, y) = onto_disc(l[1] - u[1] / g, l[2] - u[2] / g, friction * normal);
            [normal, x, y]
        } else {
            let lifted = target + friction * norm(&u[1..]);
            projected(
                [l[0] - lifted / g, l[1] - u[1] / g, l[2] - u[2] / g],
                friction,
                problem.floor(i),
            )
        };
        let error = norm(&[
            l[0] - projected[0],
            l[1] - projected[1],
            l[2] - projected[2],
        ]);
        // Not `max`, which would swallow NaN.
        let error = root * error;
        worst = if error <= worst { worst } else { error };
        size = size.max(norm(&b) / root).max(root * norm(&l));
    }
    match worst {
        0.0 => 0.0,
        _ => worst / size,
    }
}

/// Projection onto the disc of a radius.
#[inline]
pub(super) fn onto_disc(x: f64, y: f64, radius: f64) -> (f64, f64) {
    let length = norm(&[x, y]);
    if length <= radius {
        (x, y)
    } else {
        (x * (radius / length), y * (radius / length))
    }
}

/// Euclidean projection onto the part $x_n \ge p$ of the friction cone.
#[inline]
pub(super) fn projected(x: [f64; 3], friction: f64, floor: f64) -> [f64; 3] {
    let p = onto_cone(x, friction);
    // Not `>=`, which would turn NaN into the floor.
    if !(p[0] < floor) {
        return p;
    }
    let (x, y) = onto_disc(x[1], x[2], friction * floor);
    [floor, x, y]
}

/// Euclidean projection onto the cone $\lVert x_t\rVert \le \mu x_n$.
fn onto_cone(x: [f64; 3], friction: f64) -> [f64; 3] {
    let slide = norm(&x[1..]);
    // First of the two: without friction and sliding both hold for a negative normal part.
    if friction * slide <= -x[0] {
        return [0.0; 3];
    }
    if slide <= friction * x[0] {
        return x;
    }
    let normal = (x[0] + friction * slide) / (1.0 + friction * friction);
    let factor = friction * normal / slide;
    if slide > 0.0 {
        [normal, factor * x[1], factor * x[2]]
    } else {
        [normal, 0.0, 0.0]
    }
}
