//! Residuals of contact impulses: in one scale for all contacts, and in the scale of each contact.

use super::problem::{ConeProblem, WIDTH};
use crate::LcpError;
use carom_numeric::kernel::{larger, norm};

/// Largest [`contact_residual`] (dimensionless) with which the impulses of a frictional contact problem count
/// as a solution.
pub const CONE_RESIDUAL: f64 = 1e-9;

/// The error of a sliding direction may be up to this many times the relative error of the tangential velocity.
const DIRECTION: f64 = 10.0;

/// If the normal impulse of a contact is rounding error and its friction is below this fraction of the terms of
/// the tangential velocities, the friction is rounding error, too: its direction is not checked.
const NO_FRICTION: f64 = 1e-12;

/// Rounding error of a contact velocity, as a fraction of the sum of the magnitudes of its terms: the impulse of a heavy
/// body on a light one gives large terms that cancel.
const SUMMED: f64 = 16.0 * f64::EPSILON;

/// A normal impulse below this fraction of the terms of the normal velocity is rounding error.
const NO_PUSH: f64 = 1e-15;

/// Computes the residual of impulses in a contact problem with circular friction cones, relative to one scale
/// for all contacts: dimensionless, 0 for a solution. `impulse` holds three impulses per contact (normal and
/// two tangents).
///
/// Let $G$ be the Delassus matrix, $b$ the velocities of the rows before the impact, $\lambda$ the impulses, $\mu$ the
/// friction coefficients and $e$ the restitutions. The velocities after the impact are $u = b + G\lambda$. With
/// $\hat u_i = (u_n + e b_n + \mu\lVert u_t\rVert, u_t)$ and the largest diagonal entry $g_i$ of the block $G_{ii}$
/// of contact i, the residual is
///
/// $$ r = \frac{\max_i \sqrt{g_i} \lVert \lambda_i - P_K(\lambda_i - \hat u_i/g_i)\rVert}
/// {\max_i \max(\lVert b_i\rVert/\sqrt{g_i}, \sqrt{g_i}\lVert\lambda_i\rVert)} $$
///
/// with the Euclidean projection $P_K$ onto the friction cone and the modified velocity $\hat u$ of De Saxcé
/// and Feng: $\lambda$ solves the problem exactly if $\lambda_i = P_K(\lambda_i - \hat u_i/g_i)$ for all
/// contacts. With caps (upper bounds on normal impulses), the normal impulse is projected first, then the
/// tangential impulse onto the disc of radius $\mu\lambda_n$. With a prescribed slip direction $d$, the tangential
/// impulse is compared with $-\mu\lambda_n d$.
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

/// Computes the residual of impulses in a contact problem with circular friction cones, each contact relative
/// to its own scale: dimensionless, 0 for a solution. `impulse` holds three impulses per contact (normal and
/// two tangents).
///
/// Let $G$ be the Delassus matrix, $b$ the velocities of the rows before the impact, $\lambda$ the impulses, $\mu$ the
/// friction coefficients and $e$ the restitutions. The velocities after the impact are $u = b + G\lambda$, and
/// $S_r = |b_r| + \sum_s |G_{rs}\lambda_s|$ is the sum of the magnitudes of the terms of $u_r$. Indices n and t denote
/// the normal and the tangents. The residual is the largest of
///
/// - $|\min(G_{nn}\lambda_n, u_n + e b_n)|/S_n$: a contact with an impulse does not move along its normal,
///   other contacts do not approach, and no contact pulls;
/// - $(\lVert\lambda_t\rVert - \mu\lambda_n)G_{tt}/S_t$: friction stays in its cone;
/// - the smaller of two numbers: $\lVert u_t\rVert/S_t$ (sticking), and the deviation of friction from the
///   sliding law in direction and magnitude,
///   $\lVert\lambda_t + \mu\lambda_n u_t/\lVert u_t\rVert\rVert / \max(\mu\lambda_n, \lVert\lambda_t\rVert)$,
///   divided by $1 + 10 S_t/\lVert u_t\rVert$.
///
/// Unlike [`cone_residual`], this residual also measures a weak contact next to contacts a million times as strong,
/// and contacts with very small or very large friction coefficients. A contact whose normal impulse is at its upper
/// bound (cap) may approach. With lower bounds (floors), the first term uses $\lambda_n$ minus the floor. At a
/// contact with a prescribed slip direction $d$ the last two terms are replaced by
/// $\lVert\lambda_t + \mu\lambda_n d\rVert / \max(\mu\lambda_n, \lVert\lambda_t\rVert)$.
///
/// # Errors
///
/// [`LcpError::DimensionMismatch`] for impulses of another length.
pub fn contact_residual(problem: &ConeProblem<'_>, impulse: &[f64]) -> Result<f64, LcpError> {
    cone_residual(problem, impulse)?;
    let (mut after, mut terms) = (Vec::new(), Vec::new());
    problem.velocity_and_terms(impulse, &mut after, &mut terms);
    Ok(own_residual_of(problem, impulse, &after, &terms))
}

/// Computes the largest violation of the contact conditions as a velocity (m/s), beyond rounding error: 0 for impulses
/// that solve the problem to rounding. `impulse` holds three impulses per contact (normal and two tangents).
///
/// With the diagonal entries $g_n$ and $g_t$ (the larger one of both tangents) of a contact's block, it is the largest
/// of $g_n\lvert\lambda_n - \max(0, \lambda_n - (u_n + e b_n)/g_n)\rvert$ and
/// $g_t\lVert\lambda_t - P_{\lVert x\rVert\le\mu\lambda_n}(\lambda_t - u_t/g_t)\rVert$, or
/// $g_t\lVert\lambda_t + \mu\lambda_n d\rVert$ with a prescribed slip direction $d$. The rounding error of the sum
/// $u = b + G\lambda$, sixteen units in the last place of the sum of the magnitudes of its terms, is subtracted.
///
/// Unlike the residuals, which are relative, it can be compared with velocities that are known: those of a time step
/// have the rounding error of positions, divided by its length.
///
/// # Errors
///
/// [`LcpError::DimensionMismatch`] for impulses of another length.
pub fn cone_velocity_error(problem: &ConeProblem<'_>, impulse: &[f64]) -> Result<f64, LcpError> {
    if impulse.len() != problem.dim() {
        return Err(LcpError::DimensionMismatch {
            what: "impulse",
            expected: problem.dim(),
            found: impulse.len(),
        });
    }
    let (mut after, mut terms) = (Vec::new(), Vec::new());
    problem.velocity_and_terms(impulse, &mut after, &mut terms);
    Ok(velocity_error_of(problem, impulse, &after, &terms))
}

/// Computes the [`cone_velocity_error`]. `after` holds the velocities after the impulses, and `terms` the sums of the
/// magnitudes of their terms.
pub(super) fn velocity_error_of(
    problem: &ConeProblem<'_>,
    impulse: &[f64],
    after: &[f64],
    terms: &[f64],
) -> f64 {
    let mut worst = 0.0f64;
    let mut raise = |x: f64| worst = larger(worst, x);
    let contacts = impulse
        .chunks_exact(WIDTH)
        .zip(after.chunks_exact(WIDTH))
        .zip(terms.chunks_exact(WIDTH));
    for (i, ((l, u), s)) in contacts.enumerate() {
        let (&[l0, l1, l2], &[u0, u1, u2], &[s0, s1, s2]) = (l, u, s) else {
            return f64::INFINITY;
        };
        let [normal, x, y] = problem.diagonal(i);
        let target = u0 + problem.restitution(i) * problem.velocity()[i * WIDTH];
        let pushed = (l0 - target / normal)
            .max(problem.floor(i))
            .min(problem.cap(i));
        raise(normal * (l0 - pushed).abs() - SUMMED * s0);
        let tangent = x.max(y);
        let limit = problem.friction(i) * l0.max(0.0);
        let (px, py) = match problem.slip(i) {
            Some([x, y]) => (-limit * x, -limit * y),
            None if tangent == 0.0 => onto_disc(l1, l2, limit),
            None => onto_disc(l1 - u1 / tangent, l2 - u2 / tangent, limit),
        };
        raise(tangent * norm(&[l1 - px, l2 - py]) - SUMMED * s1.max(s2));
    }
    worst
}

/// Computes the [`contact_residual`]: the largest error of the contact conditions, each relative to the terms of
/// its own contact. `after` holds the velocities after the impulses, and `terms` the sums of the magnitudes of
/// their terms.
pub(super) fn own_residual_of(
    problem: &ConeProblem<'_>,
    impulse: &[f64],
    after: &[f64],
    terms: &[f64],
) -> f64 {
    let mut worst = 0.0f64;
    let mut raise = |x: f64| worst = larger(worst, x);
    let contacts = impulse
        .chunks_exact(WIDTH)
        .zip(after.chunks_exact(WIDTH))
        .zip(terms.chunks_exact(WIDTH));
    for (i, ((l, u), s)) in contacts.enumerate() {
        let (&[l0, l1, l2], &[u0, u1, u2], &[s0, s1, s2]) = (l, u, s) else {
            return f64::INFINITY;
        };
        let [g, x, y] = problem.diagonal(i);
        let bounce = problem.restitution(i) * problem.velocity()[i * WIDTH];
        let target = u0 + bounce;
        let size = unit(s0 + bounce.abs());
        let push = g * l0;
        let missed = match problem.cap(i) {
            cap if cap.is_finite() => push - (push - target).clamp(0.0, g * cap),
            _ => (push - g * problem.floor(i)).min(target),
        };
        raise(missed.abs() / size);
        if let Some([x, y]) = problem.slip(i) {
            let limit = problem.friction(i) * l0;
            let size = unit(limit.abs().max(norm(&[l1, l2])));
            raise(norm(&[l1 + limit * x, l2 + limit * y]) / size);
            continue;
        }
        let (drag, slip, terms) = (norm(&[l1, l2]), norm(&[u1, u2]), s1.max(s2));
        let mobility = x.max(y);
        let limit = problem.friction(i) * l0.max(0.0);
        if mobility == 0.0 {
            raise(if drag > limit { drag } else { 0.0 });
            continue;
        }
        let excess = (drag - limit) * mobility / unit(terms);
        raise(excess.max(0.0));
        let is_rounding = push <= NO_PUSH * size && drag * mobility <= NO_FRICTION * terms;
        if slip == 0.0 || is_rounding {
            continue;
        }
        let (px, py) = (limit * (u1 / slip), limit * (u2 / slip));
        let astray = norm(&[l1 + px, l2 + py]) / unit(limit.max(drag));
        raise(f64::min(
            slip / unit(terms),
            astray / (1.0 + DIRECTION * terms / slip),
        ));
    }
    worst
}

/// Returns `size`, or 1 if `size` is zero. The result serves as a divisor, so that 0/0 gives 0.
fn unit(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}

/// Computes the [`cone_residual`]: the largest error of the contact conditions, relative to the largest velocity
/// before the impact or impulse of all contacts. `after` holds the velocities after the impulses.
fn residual_of(problem: &ConeProblem<'_>, impulse: &[f64], after: &[f64]) -> f64 {
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
        let projected = if let Some([x, y]) = problem.slip(i) {
            let normal = (l[0] - target / g).max(problem.floor(i)).min(cap);
            [normal, -friction * normal * x, -friction * normal * y]
        } else if cap.is_finite() {
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
        worst = larger(worst, root * error);
        size = size.max(norm(&b) / root).max(root * norm(&l));
    }
    match worst {
        0.0 => 0.0,
        _ => worst / size,
    }
}

/// Projects the vector (`x`, `y`) onto the disc with the given radius around the origin.
#[inline]
pub(super) fn onto_disc(x: f64, y: f64, radius: f64) -> (f64, f64) {
    let length = norm(&[x, y]);
    if length <= radius {
        (x, y)
    } else {
        (x * (radius / length), y * (radius / length))
    }
}

/// Projects an impulse (normal and two tangents) onto the part $x_n \ge p$ of the friction cone, in the Euclidean
/// norm. $p$ = `floor` is the least normal impulse.
#[inline]
pub(super) fn projected(x: [f64; 3], friction: f64, floor: f64) -> [f64; 3] {
    let p = onto_cone(x, friction);
    // Unlike `>=` this keeps NaN.
    if !(p[0] < floor) {
        return p;
    }
    let (x, y) = onto_disc(x[1], x[2], friction * floor);
    [floor, x, y]
}

/// Projects an impulse $(x_n, x_t)$, normal and two tangents, onto the friction cone
/// $\lVert x_t\rVert \le \mu x_n$, in the Euclidean norm. $\mu$ = `friction`.
fn onto_cone(x: [f64; 3], friction: f64) -> [f64; 3] {
    let slide = norm(&x[1..]);
    // This test comes first: without friction and sliding both conditions hold for a negative normal part.
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
