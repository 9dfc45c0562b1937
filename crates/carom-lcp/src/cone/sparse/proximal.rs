//! Proximal-point method: a sequence of compliant problems, $G + \epsilon I$ around the last impulses.

use super::linear::Linear;
use super::natural::Point;
use super::newton::{Best, Steps, change_of_regularization};
use super::system::{System, Triple};
use super::tolerances::{
    DECREASE, FEW_STEPS, HALVINGS, PROXIMAL_GAIN, PROXIMAL_GROWTH, PROXIMAL_STEPS, QUICK_DECAY,
    REGULARIZATION, REGULARIZATION_POWER, SLOW_DECAY, SOME_STEPS,
};

/// Proximal-point method with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Proximal {
    center: Vec<Triple>,
    point: Point,
    trial: Point,
    here: Point,
}

impl Proximal {
    /// Runs the proximal-point method from the impulses `start` and stores the best impulses in `best`. The method
    /// solves at most `n_levels` compliant contact problems, the first with the compliance `epsilon`. If
    /// `is_searched`, Newton steps are shortened until the residual falls. Returns true if the residual of the best
    /// impulses is at most `tolerance`.
    pub(super) fn run(
        &mut self,
        system: &mut System,
        linear: &mut Linear,
        steps: &mut Steps,
        best: &mut Best,
        (start, mut epsilon, tolerance, is_searched): (&[Triple], f64, f64, bool),
        n_levels: usize,
    ) -> bool {
        self.center.clear();
        self.center.extend_from_slice(start);
        self.here.impulse.clear();
        self.here.impulse.extend_from_slice(start);
        self.here.evaluate(system);
        best.take(&self.here);
        let mut residual = self.here.residual;
        for _ in 0..n_levels {
            let goal = (PROXIMAL_GAIN * residual).max(0.1 * tolerance);
            let taken = self.level(system, linear, steps, (epsilon, goal, is_searched));
            let Some(n_steps) = taken else {
                epsilon *= PROXIMAL_GROWTH;
                continue;
            };
            self.center.clear();
            self.center.extend_from_slice(&self.point.impulse);
            self.here.impulse.clear();
            self.here.impulse.extend_from_slice(&self.center);
            self.here.evaluate(system);
            residual = self.here.residual;
            best.take(&self.here);
            if best.residual <= tolerance {
                return true;
            }
            if n_steps <= FEW_STEPS {
                epsilon *= QUICK_DECAY;
            } else if n_steps <= SOME_STEPS {
                epsilon *= SLOW_DECAY;
            }
        }
        best.residual <= tolerance
    }

    /// Solves one compliant contact problem by Newton's method, up to the residual `goal`. `epsilon` is the
    /// compliance. If `is_searched`, Newton steps are shortened until the residual falls. Returns the number of
    /// steps, or `None` if the goal was not reached.
    fn level(
        &mut self,
        system: &mut System,
        linear: &mut Linear,
        steps: &mut Steps,
        (epsilon, goal, is_searched): (f64, f64, bool),
    ) -> Option<usize> {
        self.point.impulse.clear();
        self.point.impulse.extend_from_slice(&self.center);
        self.point.evaluate_near(system, epsilon, &self.center);
        let mut factor = REGULARIZATION;
        for n_steps in 0..=PROXIMAL_STEPS {
            if self.point.residual <= goal {
                return Some(n_steps);
            }
            let before = self.point.residual;
            let softened = epsilon + factor * libm::pow(before.min(1.0), REGULARIZATION_POWER);
            if n_steps == PROXIMAL_STEPS || !steps.direction(system, linear, &self.point, softened)
            {
                return None;
            }
            let mut length = 1.0;
            for halving in 0..=HALVINGS {
                self.trial.impulse.clear();
                let moved = self.point.impulse.iter().zip(&steps.step);
                let moved = moved.map(|(l, d)| std::array::from_fn(|k| l[k] + length * d[k]));
                self.trial.impulse.extend(moved);
                self.trial.evaluate_near(system, epsilon, &self.center);
                let limit = (1.0 - DECREASE * length) * self.point.residual;
                if !is_searched || self.trial.residual < limit || halving == HALVINGS {
                    break;
                }
                length *= 0.5;
            }
            std::mem::swap(&mut self.point, &mut self.trial);
            if !self.point.residual.is_finite() {
                return None;
            }
            factor *= change_of_regularization(self.point.residual, before);
        }
        None
    }
}
