//! Regularized Newton steps on the equations of Alart and Curnier: full steps without a line search.

use super::linear::{Linear, Space};
use super::natural::{Piece, Point, derivatives};
use super::system::{System, Triple};
use super::tolerances::{
    LEAST_REGULARIZATION, LEAST_REGULARIZATION_OF_BODIES, POLISHED, POLISHING_STEPS,
    REGULARIZATION, REGULARIZATION_DECAY, REGULARIZATION_GROWTH, REGULARIZATION_POWER, WORSE,
};
use crate::cone::problem::WIDTH;
use carom_numeric::block_lu::block::{Block, zero};

/// Work space of Newton's method.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    a: Vec<Block<WIDTH>>,
    b: Vec<Block<WIDTH>>,
    is_closed: Vec<bool>,
    right: Vec<Triple>,
    pub(super) step: Vec<Triple>,
    /// Number of steps since the start of the solve.
    pub(super) n_steps: usize,
}

impl Steps {
    /// Computes the Newton step of the contact equations at `point` and stores it in `self.step`. `epsilon` is the
    /// regularization: the Delassus matrix $G$ is replaced by $G + \epsilon I$. Returns false if the step cannot be
    /// computed.
    pub(super) fn direction(
        &mut self,
        system: &mut System,
        linear: &mut Linear,
        point: &Point,
        epsilon: f64,
    ) -> bool {
        self.n_steps += 1;
        let space = Linear::newton_space(system);
        let least = match space {
            Space::Impulses => LEAST_REGULARIZATION,
            Space::Velocities => LEAST_REGULARIZATION_OF_BODIES,
        };
        let epsilon = epsilon.max(least);
        self.a.clear();
        self.b.clear();
        self.is_closed.clear();
        self.right.clear();
        for ((piece, friction), error) in
            point.pieces.iter().zip(&system.friction).zip(&point.error)
        {
            let (mut a, b) = derivatives(*piece, *friction);
            for (row, other) in a.iter_mut().zip(&b) {
                for (x, y) in row.iter_mut().zip(other) {
                    *x += epsilon * y;
                }
            }
            self.a.push(a);
            self.b.push(b);
            self.is_closed.push(*piece != Piece::Open && b != zero());
            self.right.push(error.map(|x| -x));
        }
        if !linear.factor(system, space, &self.a, &self.b, &self.is_closed) {
            return false;
        }
        linear.solve(system, &self.b, &self.right, &mut self.step);
        self.step.as_flattened().iter().all(|x| x.is_finite())
    }

    /// Runs Newton's method from the impulses of `point`, and stores the best impulses in `best`. The method makes
    /// at most `max_steps` steps, and stops a few steps after the residual has fallen below `tolerance`. Returns
    /// true if the residual of the best impulses is at most `tolerance`.
    pub(super) fn run(
        &mut self,
        system: &mut System,
        linear: &mut Linear,
        point: &mut Point,
        best: &mut Best,
        (tolerance, max_steps): (f64, usize),
    ) -> bool {
        point.evaluate(system);
        best.take(point);
        let mut factor = REGULARIZATION;
        let mut polishing = 0;
        for n_steps in 0..max_steps + POLISHING_STEPS {
            if n_steps >= max_steps && polishing == 0 {
                break;
            }
            if point.residual <= tolerance {
                if polishing == POLISHING_STEPS || point.residual <= POLISHED * tolerance {
                    break;
                }
                polishing += 1;
            }
            let before = point.residual;
            let epsilon = factor * libm::pow(before.min(1.0), REGULARIZATION_POWER);
            if !self.direction(system, linear, point, epsilon) {
                break;
            }
            for (l, d) in point.impulse.iter_mut().zip(&self.step) {
                for (l, d) in l.iter_mut().zip(d) {
                    *l += d;
                }
            }
            point.evaluate(system);
            if !point.residual.is_finite() {
                break;
            }
            best.take(point);
            factor *= change_of_regularization(point.residual, before);
            if polishing > 0 && point.residual > tolerance {
                break;
            }
        }
        best.residual <= tolerance
    }
}

/// Returns the factor by which the regularization of Newton's method is multiplied after a step. `after` and
/// `before` are the residuals after and before that step.
pub(super) fn change_of_regularization(after: f64, before: f64) -> f64 {
    if after > WORSE * before {
        REGULARIZATION_GROWTH
    } else if after > 0.5 * before {
        REGULARIZATION_DECAY
    } else {
        1.0
    }
}

/// Best impulses found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Best {
    pub(super) impulse: Vec<Triple>,
    pub(super) residual: f64,
}

impl Best {
    /// Discards the best impulses found so far.
    pub(super) fn reset(&mut self) {
        self.residual = f64::INFINITY;
    }

    /// Stores the impulses of `point` if their residual is smaller than that of the best impulses so far. Returns true
    /// if the impulses were stored.
    pub(super) fn take(&mut self, point: &Point) -> bool {
        let is_better = point.residual < self.residual;
        if is_better {
            self.residual = point.residual;
            self.impulse.clear();
            self.impulse.extend_from_slice(&point.impulse);
        }
        is_better
    }

    /// Stores the impulses of `other` if their residual is smaller than that of the best impulses so far.
    pub(super) fn take_better(&mut self, other: &Self) {
        if other.residual < self.residual {
            self.clone_from(other);
        }
    }
}
