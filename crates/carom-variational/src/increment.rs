//! The discrete equation of rotation, $(FJ_d - J_dF^T)^\vee = a$.
//!
//! In terms of the Cayley vector $f$ of $F$ the equation is the polynomial system
//!
//! $$ r(f) = a + a\times f + (a\cdot f)f - 2Jf = 0. $$
//!
//! Three facts follow from $f\cdot r = 0$ and the norm $\sqrt{x^TJx}$. Let $q = \sqrt{a^TJ^{-1}a/J_1}$, with $J_1$ the smallest
//! principal moment:
//!
//! 1. every solution on a path from $f = 0$ with $q < 1$ turns by an angle $\theta$ with $\sin\theta \le q$, $\theta < \pi/2$;
//! 2. the derivative is regular at such a solution: $-x\cdot r'(f)x \ge 2\sqrt{1-q^2} x^TJx$;
//! 3. so the solution can be continued from $a = 0$ to $a$ for all $q < 1$: it exists, and the condition is sharp for $a$
//!    along the principal axis of the smallest moment.

use crate::tolerances::{FIXED_POINT_ANGLE, LEAST_FRACTION};
use crate::{RigidBody, VariationalError};
use nalgebra::{Matrix3, Vector3};

/// Largest number of Newton steps; the largest number in tests with $\lvert J^{-1}a\rvert \le 0.999$ was 13.
const MAX_ITERATIONS: usize = 60;

/// Size of a Newton step, as a fraction of the solution, whose square is below rounding error: such a step is the last one.
const LAST_STEP: f64 = 1e-9;

/// Product of two steps with one matrix, as a fraction of the squared solution, that is below rounding error: the remaining error
/// has the size of this product.
const LAST_PRODUCT: f64 = 1e-18;

/// Fraction of $\lvert a\rvert$ below which a residual is rounding error.
const ROUNDING: f64 = 1e-13;

/// Largest Cayley vector of a solution on the branch of the identity: no such solution turns by more than 2.6 rad.
const MAX_CAYLEY: f64 = 3.6;

fn residual(body: &RigidBody, a: &Vector3<f64>, f: &Vector3<f64>) -> Vector3<f64> {
    a + a.cross(f) + f * a.dot(f) - body.inertia() * f * 2.0
}

/// Returns $-r'(f) = 2J - S(a) - (a\cdot f)I - fa^T$ as three columns, the negative derivative of the residual $r$ of the
/// discrete equation of rotation. $f$ is the Cayley vector of the rotation in one step (axis times the tangent of half the
/// angle), $a$ the step length times the angular momentum, $J$ the inertia, $I$ the identity and $S(a)$ the cross-product matrix.
#[inline]
fn derivative(body: &RigidBody, a: &Vector3<f64>, f: &Vector3<f64>) -> [Vector3<f64>; 3] {
    let j = body.inertia();
    let d = a.dot(f);
    [
        Vector3::new(
            2.0 * j.m11 - d - f.x * a.x,
            2.0 * j.m21 - a.z - f.y * a.x,
            2.0 * j.m31 + a.y - f.z * a.x,
        ),
        Vector3::new(
            2.0 * j.m12 + a.z - f.x * a.y,
            2.0 * j.m22 - d - f.y * a.y,
            2.0 * j.m32 - a.x - f.z * a.y,
        ),
        Vector3::new(
            2.0 * j.m13 - a.y - f.x * a.z,
            2.0 * j.m23 + a.x - f.y * a.z,
            2.0 * j.m33 - d - f.z * a.z,
        ),
    ]
}

/// Matrix of three columns, prepared for linear solves: the rows of its adjugate, and its determinant.
struct Adjugate {
    rows: [Vector3<f64>; 3],
    determinant: f64,
    reciprocal: f64,
}

impl Adjugate {
    #[inline]
    fn of([x, y, z]: &[Vector3<f64>; 3]) -> Self {
        let rows = [y.cross(z), z.cross(x), x.cross(y)];
        let determinant = x.dot(&rows[0]);
        Self {
            rows,
            determinant,
            reciprocal: 1.0 / determinant,
        }
    }

    #[inline]
    fn solve(&self, r: &Vector3<f64>) -> Vector3<f64> {
        let [p, q, s] = &self.rows;
        Vector3::new(p.dot(r), q.dot(r), s.dot(r)) * self.reciprocal
    }
}

fn size(v: &Vector3<f64>) -> f64 {
    v.x.abs() + v.y.abs() + v.z.abs()
}

/// Computes the Cayley vector (axis times $\tan(\theta/2)$ of the angle $\theta$) of the rotation $F$ of a body in one
/// variational step. `a` is $t\Pi$, the step length times the angular momentum in body axes. Among several solutions the one
/// connected to the identity is returned.
///
/// # Errors
///
/// [`VariationalError::StepTooLarge`].
#[inline]
pub fn increment(body: &RigidBody, a: &Vector3<f64>) -> Result<Vector3<f64>, VariationalError> {
    let start = body.angular_velocity(a) * 0.5;
    let mut f = start;
    if size(&start) < FIXED_POINT_ANGLE {
        // Two fixed-point steps are cheaper than a Newton step, and each gains a factor |f|.
        for _ in 0..2 {
            f = body.angular_velocity(&(a + a.cross(&f) + f * a.dot(&f))) * 0.5;
        }
        // A Newton step, and a second step with the same matrix. The remaining error has the size of the product of both.
        let slope = Adjugate::of(&derivative(body, a, &f));
        let newton = slope.solve(&residual(body, a, &f));
        f += newton;
        let chord = slope.solve(&residual(body, a, &f));
        f += chord;
        if size(&newton) * size(&chord) <= LAST_PRODUCT * size(&f) * size(&f) {
            return Ok(f);
        }
    }
    damped_newton(body, a, f)
}

/// Solves the discrete equation of rotation by Newton's method for the Cayley vector of the rotation in one step (axis times the
/// tangent of half the angle). The iteration starts at `start`; each Newton step is halved until the residual decreases. `a` is
/// the step length times the angular momentum.
#[cold]
fn damped_newton(
    body: &RigidBody,
    a: &Vector3<f64>,
    start: Vector3<f64>,
) -> Result<Vector3<f64>, VariationalError> {
    let fail = || {
        let h_omega = body.angular_velocity(a).norm();
        if h_omega.is_finite() {
            Err(VariationalError::StepTooLarge { h_omega })
        } else {
            Err(VariationalError::NonFinite {
                what: "angular momentum",
            })
        }
    };
    let mut f = start;
    let mut r = residual(body, a, &f);
    for _ in 0..MAX_ITERATIONS {
        let slope = Adjugate::of(&derivative(body, a, &f));
        let step = slope.solve(&r);
        // The determinant changes its sign at a fold of the solution branch.
        let on_branch = slope.determinant > 0.0 && size(&f) <= MAX_CAYLEY;
        if size(&step) <= LAST_STEP * size(&f) {
            return if on_branch { Ok(f + step) } else { fail() };
        }
        let mut fraction = 1.0;
        loop {
            let next = f + step * fraction;
            let shrunk = residual(body, a, &next);
            if size(&shrunk) < size(&r) {
                (f, r) = (next, shrunk);
                break;
            }
            if size(&r) <= ROUNDING * size(a) {
                return if on_branch { Ok(f) } else { fail() };
            }
            fraction *= 0.5;
            if fraction < LEAST_FRACTION || fraction.is_nan() {
                return fail();
            }
        }
    }
    fail()
}

/// Returns the angular rate, in body axes, at which the rotation of one variational step changes if `a` changes at the rate
/// `a_rate`. `a` is the step length times the angular momentum, which determines the rotation. `f` is the Cayley vector of the
/// rotation (axis times the tangent of half the angle).
#[inline]
pub(crate) fn increment_rate(
    body: &RigidBody,
    a: &Vector3<f64>,
    f: &Vector3<f64>,
    a_rate: &Vector3<f64>,
) -> Vector3<f64> {
    let driven = a_rate + a_rate.cross(f) + f * a_rate.dot(f);
    let f_rate = Adjugate::of(&derivative(body, a, f)).solve(&driven);
    (f_rate - f.cross(&f_rate)) * (2.0 / (1.0 + f.norm_squared()))
}

/// Returns the rotational part $\mathrm{tr}\lbrack(I - F)J_d\rbrack/t^2$ of the discrete energy (J) of a step of length $t$
/// (`time`, s) that rotates the body by $F$, with $J_d = \mathrm{tr}(J)I/2 - J$ and the inertia $J$. The value is computed
/// without cancellation as $2 y^TJy/(1 + \lvert f\rvert^2)$, with the Cayley vector $f$ of $F$ (axis times the tangent of half
/// the angle) and $y = f/t$.
pub(crate) fn discrete_rotational_energy(
    inertia: &Matrix3<f64>,
    f: &Vector3<f64>,
    time: f64,
) -> f64 {
    let y = f / time;
    2.0 * y.dot(&(inertia * y)) / (1.0 + f.norm_squared())
}
