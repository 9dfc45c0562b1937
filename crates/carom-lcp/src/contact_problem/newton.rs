//! Newton's method on the equations of the projections: full steps, no line search.
//!
//! A solution is a root of $F = \lambda - P(\lambda - rw)$, $P$ the projection of a [`Law`]. With its derivative $D$,
//! $A = I - D$ and $B = rD$ a step solves $(A + B(G + R + \epsilon))\Delta\lambda = -F$. The regularization $\epsilon$ stands
//! in the matrix only: $\epsilon = c\rho^{3/4}$ with the residual $\rho$. It vanishes more slowly than the residual, so that steps
//! stay defined where contacts depend on each other, and convergence is still faster than linear.

use super::checks::WIDTH;
use super::law::{Contact, Law, Square, Triple};
use super::linear::Linear;
use super::system::{Springs, System};
use carom_numeric::block_lu::block::apply;
use carom_numeric::kernel::{larger, norm};

/// Growth of the factor $c$ after a step that makes the residual [`WORSE`] times larger.
const REGULARIZATION_GROWTH: f64 = 1.5;

/// Change of the factor $c$ after a step that reduces the residual by less than half.
const REGULARIZATION_DECAY: f64 = 0.5;

/// A step that makes the residual this many times larger was too long. Smaller rises are usual when the friction of a
/// contact at the edge of its cone changes direction.
const WORSE: f64 = 3.0;

/// Largest regularization of each attempt, and the number of steps without a new least residual that ends it. The first serves compliant
/// contacts, and few contacts: it takes half as many steps, and solves 9 of 10 problems. With the second one more steps lead from far
/// away to an answer.
pub(super) const ATTEMPTS: [(f64, usize); 2] = [(1e-8, 5), (1.0, 15)];

/// Number of extra steps after the tolerance is met, where convergence is quadratic.
const POLISHING: usize = 2;

/// The extra steps end at this residual: further digits are rounding errors.
const POLISHED: f64 = 1e-15;

/// Largest impulse at rigid contacts, in units of the velocities, by which the error of an answer is divided. Impulses that grow
/// without a limit make any error relative to them small: such a problem has no answer. Balanced loads that differ by a factor of 1e9
/// have rounding errors of 1e-10 in units of that divisor. (At 1e5, five of 660 hostile problems without friction get answers that
/// exact arithmetic does not confirm.)
const LARGE: f64 = 1e3;

/// Residual, relative to the largest impulse, that is rounding in ill-conditioned problems.
pub(super) const FINEST: f64 = 1e-13;

/// Impulses with what follows from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) impulse: Vec<Triple>,
    /// Velocities $u = b + G\lambda$.
    pub(super) velocity: Vec<Triple>,
    /// Velocities $w = u - (t, 0, 0) + R(\lambda - p)$ against the springs: a spring that holds moves with its point.
    pub(super) relative: Vec<Triple>,
    /// Errors $F$ of the projections.
    error: Vec<Triple>,
    /// Derivatives $D$ of the projections.
    derivative: Vec<Square>,
    /// Natural map, relative to the largest velocity before or impulse of the island.
    pub(super) residual: f64,
    /// Largest error of the natural map.
    missed: f64,
    /// Impulses of size [`LARGE`] relative to the largest one, at most 1. Where a light body carries a heavy one, regularization falls with
    /// the mobility of what the contacts push together.
    pub(super) mobility: f64,
}

impl Point {
    /// Returns the residual that is told of an answer: at rigid contacts impulses above [`LARGE`] do not hide an error, unless it is the
    /// rounding error of a pre-load.
    pub(super) fn told(&self, springs: &Springs) -> f64 {
        if !springs.are_rigid() {
            return self.residual;
        }
        let given = springs.preload.iter().map(|p| norm(p)).fold(0.0, f64::max);
        let error = f64::max(self.missed - FINEST * given, 0.0);
        larger(self.residual, error / LARGE)
    }

    /// True if the residual is at most `tolerance`, and the told one, too, or no digit can be gained.
    pub(super) fn is_solved(&self, springs: &Springs, tolerance: f64) -> bool {
        self.residual <= tolerance && (self.residual <= FINEST || self.told(springs) <= tolerance)
    }

    /// Returns the projection of a contact's trial impulse, which differs from its impulse by the error. It lies in the cone, and
    /// friction that slides opposes the velocity, however small its coefficient is.
    pub(super) fn projected(&self, contact: usize) -> Triple {
        let (l, error) = (&self.impulse[contact], &self.error[contact]);
        std::array::from_fn(|k| l[k] - error[k])
    }

    /// Sets the impulses to zero.
    pub(super) fn clear(&mut self, n: usize) {
        self.impulse.clear();
        self.impulse.resize(n, [0.0; WIDTH]);
    }

    /// Copies the impulses.
    pub(super) fn set(&mut self, impulse: &[Triple]) {
        self.impulse.clear();
        self.impulse.extend_from_slice(impulse);
    }

    /// Computes velocities, errors, derivatives and the residual from the impulses.
    pub(super) fn evaluate(&mut self, system: &mut System, law: Law, springs: &Springs) {
        system.velocity_after(&self.impulse, &mut self.velocity);
        self.error.clear();
        self.derivative.clear();
        self.relative.clear();
        let (mut worst, mut largest) = (0.0, 0.0);
        for (i, contact) in system.contacts.iter().enumerate() {
            let (l, p) = (&self.impulse[i], &springs.preload[i]);
            let compliance = springs.compliance[i];
            let step = step_length(compliance);
            let mut w = self.velocity[i];
            w[0] -= contact.target;
            for (w, (l, p)) in w.iter_mut().zip(l.iter().zip(p)) {
                *w += compliance * (l - p);
            }
            self.relative.push(w);
            let y = std::array::from_fn(|k| l[k] - step * w[k]);
            let (projected, derivative) = contact.project(law, &y);
            let error = std::array::from_fn(|k| l[k] - projected[k]);
            let missed = match step {
                1.0 => error,
                _ => natural(contact, law, l, &w),
            };
            worst = larger(worst, norm(&missed));
            self.error.push(error);
            self.derivative.push(derivative);
            largest = f64::max(largest, norm(l));
        }
        self.mobility = (LARGE * system.speed / largest).min(1.0);
        self.missed = worst;
        self.residual = match worst {
            0.0 => 0.0,
            _ => worst / f64::max(system.speed, largest),
        };
    }
}

/// Returns $\lambda - P(\lambda - w)$: the natural map of a contact, with the projection $P$ of the law.
fn natural(contact: &Contact, law: Law, l: &Triple, w: &Triple) -> Triple {
    let (p, _) = contact.project(law, &std::array::from_fn(|k| l[k] - w[k]));
    std::array::from_fn(|k| l[k] - p[k])
}

/// Returns the step length $r$ of the projections: one in the scale of the contacts, less for springs that are soft there.
fn step_length(compliance: f64) -> f64 {
    if compliance > 1.0 {
        1.0 / compliance
    } else {
        1.0
    }
}

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) tolerance: f64,
    pub(super) steps: usize,
    /// Regularization of up to [`POLISHING`] more steps, where convergence is quadratic; `None` for no more steps.
    pub(super) polish: Option<f64>,
    /// First attempt. A path of problems keeps to one branch of answers by the second one alone.
    pub(super) first: usize,
}

/// Newton's method with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    a: Vec<Square>,
    b: Vec<Square>,
    soft: Vec<f64>,
    step: Vec<Triple>,
    start: Vec<Triple>,
    /// Impulses with the least residual of the last run.
    best: Vec<Triple>,
    best_residual: f64,
    /// Number of steps since the start of the solve.
    pub(super) n_steps: u64,
}

impl Newton {
    /// Runs Newton's method from the impulses of `point`, which ends at the impulses with the least residual. Returns true
    /// if that is at most the tolerance.
    pub(super) fn run(
        &mut self,
        parts: (&mut System, &mut Linear),
        law: (Law, &Springs),
        point: &mut Point,
        limits: Limits,
    ) -> bool {
        self.run_until(parts, law, point, limits, |_, _, _| false)
    }

    /// Runs Newton's method as [`run`](Self::run) does. `is_ended` looks at every point and can end the run.
    pub(super) fn run_until(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        law: (Law, &Springs),
        point: &mut Point,
        limits: Limits,
        mut is_ended: impl FnMut(&mut System, &mut Linear, &mut Point) -> bool,
    ) -> bool {
        let mut is_over = false;
        self.start.clone_from(&point.impulse);
        for attempt in ATTEMPTS.iter().skip(limits.first) {
            point.set(&self.start);
            let parts = (&mut *system, &mut *linear);
            let is_found = self.attempt(
                parts,
                law,
                point,
                (limits, *attempt),
                |system, linear, point| {
                    is_over = is_ended(system, linear, point);
                    is_over
                },
            );
            if is_found || is_over {
                return is_found;
            }
        }
        false
    }

    fn attempt(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        (law, springs): (Law, &Springs),
        point: &mut Point,
        (limits, (softest, most)): (Limits, (f64, usize)),
        mut is_ended: impl FnMut(&mut System, &mut Linear, &mut Point) -> bool,
    ) -> bool {
        point.evaluate(system, law, springs);
        self.keep(point);
        let (mut c, mut polishing, mut stalled) = (1.0, 0, 0);
        for n_steps in 0..limits.steps + POLISHING {
            if point.is_solved(springs, limits.tolerance) {
                let is_over = polishing == POLISHING || point.residual <= POLISHED;
                if limits.polish.is_none() || is_over {
                    break;
                }
                polishing += 1;
            }
            let is_late = n_steps >= limits.steps && polishing == 0;
            if is_late || stalled == most || is_ended(system, linear, point) {
                break;
            }
            let before = point.residual;
            // The power 3/4. The extra steps end at rounding errors also where rows are ill-conditioned.
            let root = before.min(1.0).sqrt();
            let soft = match polishing {
                0 => (c * root * root.sqrt()).min(softest) * point.mobility,
                _ => limits.polish.unwrap_or(0.0),
            };
            if !self.step((system, linear), springs, point, soft) {
                break;
            }
            point.evaluate(system, law, springs);
            if !point.residual.is_finite()
                || (polishing > 0 && !point.is_solved(springs, limits.tolerance))
            {
                break;
            }
            stalled = if point.residual < self.best_residual {
                0
            } else {
                stalled + 1
            };
            if stalled == 0 {
                self.keep(point);
            }
            if point.residual > WORSE * before {
                c *= REGULARIZATION_GROWTH;
            } else if point.residual > 0.5 * before {
                c *= REGULARIZATION_DECAY;
            }
        }
        if point.residual != self.best_residual {
            point.set(&self.best);
            point.evaluate(system, law, springs);
        }
        point.is_solved(springs, limits.tolerance)
    }

    fn keep(&mut self, point: &Point) {
        self.best_residual = point.residual;
        self.best.clear();
        self.best.extend_from_slice(&point.impulse);
    }

    /// Adds one step to the impulses. Returns false if the step cannot be computed.
    fn step(
        &mut self,
        (system, linear): (&System, &mut Linear),
        springs: &Springs,
        point: &mut Point,
        soft: f64,
    ) -> bool {
        self.n_steps += 1;
        if !self.factor((system, linear), springs, point, soft) {
            return false;
        }
        self.step.clear();
        self.step
            .extend(point.error.iter().map(|error| error.map(|x| -x)));
        linear.solve(system, &mut self.step);
        let is_finite = self.step.as_flattened().iter().all(|x| x.is_finite());
        if is_finite {
            for (l, d) in point.impulse.iter_mut().zip(&self.step) {
                *l = super::system::add(*l, d);
            }
        }
        is_finite
    }

    /// Computes the change of the impulses of an answer by springs that are softer by the factor two, to first order: the solution of
    /// $(A + B(G + R))\lambda' = -BR\lambda$. Returns false if the system is singular.
    pub(super) fn slope(
        &mut self,
        (system, linear): (&System, &mut Linear),
        springs: &Springs,
        point: &Point,
        slope: &mut Vec<Triple>,
    ) -> bool {
        if !self.factor((system, linear), springs, point, 0.0) {
            return false;
        }
        slope.clear();
        let springs = springs.compliance.iter().zip(&self.b);
        for ((compliance, b), l) in springs.zip(&point.impulse) {
            slope.push(apply(b, l).map(|x| -compliance * x));
        }
        linear.solve(system, slope);
        slope.as_flattened().iter().all(|x| x.is_finite())
    }

    /// Factors the matrix of a step with the regularization `soft`. Returns false if it is singular.
    fn factor(
        &mut self,
        (system, linear): (&System, &mut Linear),
        springs: &Springs,
        point: &Point,
        soft: f64,
    ) -> bool {
        let soft = soft.max(linear.least_softness());
        self.a.clear();
        self.b.clear();
        self.soft.clear();
        for (d, compliance) in point.derivative.iter().zip(&springs.compliance) {
            let r = step_length(*compliance);
            self.a.push(std::array::from_fn(|i| {
                std::array::from_fn(|j| f64::from(u8::from(i == j)) - d[i][j])
            }));
            self.b.push(d.map(|row| row.map(|x| r * x)));
            self.soft.push(compliance + soft);
        }
        linear.factor(system, &self.a, &self.b, &self.soft)
    }
}
