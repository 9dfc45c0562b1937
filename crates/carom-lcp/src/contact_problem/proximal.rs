//! Proximal points: a sequence of problems whose contacts yield a little around the last impulses.

use super::law::{Law, Triple};
use super::linear::Linear;
use super::newton::{FINEST, Limits, Newton, Point};
use super::system::{Springs, System};

/// Largest number of problems and first compliance of the attempts: from the best impulses, and from zero. Measured on random
/// problems and heaps: none is left that a third one solves.
const ATTEMPTS: [(usize, f64); 2] = [(40, 0.01), (60, 0.1)];

/// Largest number of Newton steps of one problem. With 12 steps 3 of 100 heaps miss 1e-12, with 25 none does.
const STEPS: usize = 25;

/// Largest number of times that loads are shared anew: each time, the error falls to a hundredth or less.
const SHARES: usize = 8;

/// A problem is solved to this fraction of the residual before it.
const GAIN: f64 = 0.1;

/// Change of the compliance after a problem that took at most so many steps; none after more.
const PACE: [(u64, f64); 2] = [(4, 0.1), (7, 0.3)];

/// Growth of the compliance after a problem that was not solved.
const GROWTH: f64 = 5.0;

/// An attempt ends after this many failures one after the other.
const FAILURES: usize = 6;

/// Proximal-point method with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Proximal {
    springs: Springs,
    center: Vec<Triple>,
    best: Vec<Triple>,
}

impl Proximal {
    /// Solves the problem of the law of friction with the springs `given` from the impulses of `point`, then from zero.
    /// `point` ends at the impulses with the least residual. Returns true if that is at most `tolerance`.
    pub(super) fn run(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        (given, point): (&Springs, &mut Point),
        tolerance: f64,
    ) -> bool {
        let law = Law::Coulomb;
        for (at, (levels, compliance)) in ATTEMPTS.into_iter().enumerate() {
            point.evaluate(system, law, given);
            if point.is_solved(given, tolerance) {
                return true;
            }
            self.best.clone_from(&point.impulse);
            let best = point.residual;
            if at > 0 {
                point.clear(system.len());
            }
            let limits = (levels, compliance, tolerance);
            self.attempt(
                (system, linear),
                newton,
                (law, given),
                point,
                limits,
                |_, _, _| false,
            );
            if point.residual > best {
                point.set(&self.best);
                point.evaluate(system, law, given);
            }
        }
        point.is_solved(given, tolerance)
    }

    /// Shares loads that last: contacts yield by so little around their pre-loads, and again around the impulses that follow, until
    /// these solve the rigid problem to `tolerance`. Loads that the problem leaves open move only with the relative velocities of
    /// their contacts; a smaller compliance would move them by rounding errors.
    pub(super) fn share(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        (given, point): (&Springs, &mut Point),
        tolerance: f64,
    ) {
        point.evaluate(system, Law::Coulomb, given);
        for _ in 0..SHARES {
            if point.is_solved(given, tolerance) {
                return;
            }
            let limits = Limits {
                tolerance: GAIN * point.residual.max(FINEST),
                steps: STEPS,
                polish: None,
                first: 1,
            };
            self.soften(given, &point.impulse, ATTEMPTS[0].1);
            let law = (Law::Coulomb, &self.springs);
            if !newton.run((system, linear), law, point, limits) {
                return;
            }
            point.evaluate(system, Law::Coulomb, given);
        }
    }

    /// Follows proximal points from the impulses of `point`: at most so many, beginning with the given compliance, until the
    /// residual is at most the tolerance or `is_ended` says so.
    pub(super) fn attempt(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        (law, given): (Law, &Springs),
        point: &mut Point,
        (levels, mut compliance, tolerance): (usize, f64, f64),
        mut is_ended: impl FnMut(&mut System, &mut Linear, &mut Point) -> bool,
    ) {
        let mut failures = 0;
        point.evaluate(system, law, given);
        for _ in 0..levels {
            let is_over = point.is_solved(given, tolerance) || failures == FAILURES;
            if is_over || is_ended(system, linear, point) {
                return;
            }
            self.soften(given, &point.impulse, compliance);
            self.center.clone_from(&point.impulse);
            let goal = GAIN * point.residual.max(FINEST);
            let limits = Limits {
                tolerance: goal,
                steps: STEPS,
                polish: None,
                first: 1,
            };
            let before = newton.n_steps;
            let is_solved = newton.run((system, linear), (law, &self.springs), point, limits);
            let steps = newton.n_steps - before;
            if !is_solved {
                failures += 1;
                compliance *= GROWTH;
                point.set(&self.center);
            } else {
                failures = 0;
                let pace = PACE.iter().find(|(most, _)| steps <= *most);
                compliance *= pace.map_or(1.0, |(_, change)| *change);
            }
            point.evaluate(system, law, given);
        }
    }

    /// Sets the springs of the next problem: $R + \epsilon$ and $p' = (Rp + \epsilon\lambda)/(R + \epsilon)$.
    fn soften(&mut self, given: &Springs, impulse: &[Triple], compliance: f64) {
        self.springs.compliance.clear();
        self.springs.preload.clear();
        for ((stiff, p), l) in given.compliance.iter().zip(&given.preload).zip(impulse) {
            let total = stiff + compliance;
            self.springs.compliance.push(total);
            let mean = |k: usize| (stiff * p[k] + compliance * l[k]) / total;
            self.springs.preload.push([mean(0), mean(1), mean(2)]);
        }
    }
}
