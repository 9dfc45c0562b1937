//! Continuation from perturbed problems.
//!
//! In a heap that comes to rest slips of 1e-9 to 1e-6 decide in which direction friction acts, and many contacts could carry.
//! Such a problem is degenerate, and the other methods stop above the tolerance. Random velocities of 1e-4 of the
//! largest one make it an ordinary problem, which the quick methods solve.

use super::interior::{Interior, Pace};
use super::linear::Linear;
use super::natural::Point;
use super::newton::{Best, Steps};
use super::proximal::Proximal;
use super::system::{System, Triple};
use super::tolerances::{
    DEPTHS_BEFORE_PROXIMAL, INSIDE, INSIDE_FROM_ZERO, NEWTON_STEPS, PATIENT_DEPTHS, PERTURBATIONS,
    PERTURBED_ATTEMPTS, PERTURBED_GROWTH, PROXIMAL, PROXIMAL_FIRST_LEVELS, PROXIMAL_LEVELS,
};
use crate::cone::problem::WIDTH;
use carom_numeric::random::uniform;

/// Work space of the continuation from perturbed problems.
#[derive(Clone, Debug, Default)]
pub(super) struct Perturbed {
    /// Velocities before the impulses in the problem itself.
    velocity: Vec<Triple>,
    start: Vec<Triple>,
    point: Point,
    /// Best impulses of the perturbed problem.
    best: Best,
}

/// Methods that solve the perturbed problems.
pub(super) struct Methods<'m> {
    pub(super) linear: &'m mut Linear,
    pub(super) steps: &'m mut Steps,
    pub(super) interior: &'m mut Interior,
    pub(super) proximal: &'m mut Proximal,
}

impl Perturbed {
    /// Solves the contact problem `system` by continuation: adds small random velocities to the velocities before the
    /// impulses, and reduces them in steps to zero. Each problem starts from the solution of the problem before it.
    /// [`PERTURBED_ATTEMPTS`] sets of random velocities are tried one after the other. Improves the impulses in `best`,
    /// and returns true if their residual is at most `tolerance`.
    pub(super) fn run(
        &mut self,
        system: &mut System,
        methods: &mut Methods<'_>,
        best: &mut Best,
        tolerance: f64,
    ) -> bool {
        self.velocity.clone_from(&system.velocity);
        // Another start of the solver tries other random velocities.
        let seed = best.residual.to_bits();
        (0..PERTURBED_ATTEMPTS).any(|attempt| {
            self.start.clone_from(&best.impulse);
            let limit = PERTURBED_GROWTH * largest(&best.impulse).max(1.0);
            let is_followed = PERTURBATIONS.iter().all(|size| {
                self.perturb(system, (seed, attempt), *size);
                let is_solved = self.solve(system, methods, tolerance);
                self.start.clone_from(&self.best.impulse);
                is_solved && largest(&self.start) <= limit
            });
            system.velocity.clone_from(&self.velocity);
            if is_followed {
                self.solve(system, methods, tolerance);
                best.take_better(&self.best);
            }
            best.residual <= tolerance
        })
    }

    /// Adds random velocities of at most `size` to the velocities before the impulses of the problem itself. Each `attempt` has
    /// other random numbers, as does each `seed`. Every second attempt only opens contacts, so that the perturbed problem of jammed
    /// contacts has a solution, too. The other attempts change all velocities, in both directions.
    fn perturb(&mut self, system: &mut System, (seed, attempt): (u64, u64), size: f64) {
        let opens = attempt.is_multiple_of(2);
        let rows = system.velocity.as_flattened_mut().iter_mut();
        for (row, (perturbed, exact)) in rows.zip(self.velocity.as_flattened()).enumerate() {
            let random = size * uniform(seed.wrapping_add(attempt), row as u64, -1.0, 1.0);
            *perturbed = exact
                + match (opens, row % WIDTH) {
                    (false, _) => random,
                    (true, 0) => random.abs(),
                    (true, _) => 0.0,
                };
        }
    }

    /// Solves the contact problem `system` from the impulses `self.start` and stores the best impulses in `self.best`.
    /// The methods are those that the solver tries first, in the same order. Returns true if the residual of the best
    /// impulses is at most `tolerance`.
    fn solve(&mut self, system: &mut System, methods: &mut Methods<'_>, tolerance: f64) -> bool {
        let Methods {
            linear,
            steps,
            interior,
            proximal,
        } = methods;
        let (start, point, best) = (&mut self.start, &mut self.point, &mut self.best);
        best.reset();
        point.impulse.clone_from(start);
        if steps.run(system, linear, point, best, (tolerance, NEWTON_STEPS)) {
            return true;
        }
        start.clone_from(&best.impulse);
        let depth = INSIDE.min(best.residual);
        let from = (&start[..], depth, tolerance, Pace::QUICK);
        if interior.run(system, linear, steps, best, from) {
            return true;
        }
        start.clone_from(&best.impulse);
        let from = (&start[..], PROXIMAL, tolerance, false);
        if proximal.run(system, linear, steps, best, from, PROXIMAL_FIRST_LEVELS) {
            return true;
        }
        start.fill([0.0; WIDTH]);
        let from = (&start[..], INSIDE_FROM_ZERO, tolerance, Pace::PATIENT);
        if interior.run(system, linear, steps, best, from) {
            return true;
        }
        for depth in PATIENT_DEPTHS.iter().take(DEPTHS_BEFORE_PROXIMAL) {
            start.clone_from(&best.impulse);
            let from = (&start[..], *depth, tolerance, Pace::PATIENT);
            if interior.run(system, linear, steps, best, from) {
                return true;
            }
        }
        start.clone_from(&best.impulse);
        let from = (&start[..], PROXIMAL, tolerance, false);
        proximal.run(system, linear, steps, best, from, PROXIMAL_LEVELS)
    }
}

/// Returns the largest normal impulse.
fn largest(impulses: &[Triple]) -> f64 {
    impulses.iter().fold(0.0, |largest, l| largest.max(l[0]))
}
