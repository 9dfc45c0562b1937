//! Solution branch of compliant contacts around the compliances at which it turns back.
//!
//! The solutions $\lambda$ for equally compliant contacts with compliance $\epsilon$ satisfy $F(\lambda, \ln\epsilon) = 0$. This
//! curve begins at soft contacts, whose solution is unique. For every $\epsilon > 0$ impulses are bounded: $\lambda\cdot u \le 0$
//! gives $\epsilon\lambda\cdot D\lambda \le -\lambda\cdot b$. The curve therefore leads to rigid contacts, but it may turn back
//! on the way, where two solutions meet and vanish. Pseudo-arclength continuation follows it by its length.
//!
//! $F$ is piecewise smooth, and the curve may turn by any angle where one piece ends. The sign of the determinant of $F'$ with
//! the tangent as last row is the same on both pieces, and tells in which direction the curve goes on. (Let the pieces meet where
//! $w\cdot x = 0$. Their derivatives differ by $aw^T$, so that the determinants with the last row $w$ are equal, and these have
//! the sign of those with the tangents, on which $w$ grows.)

use super::newton::{Newton, Point, Scaled, derivative};
use super::problem::WIDTH;
use carom_numeric::dense::{lu, lu_solve};
use carom_numeric::kernel::{dot, norm};

/// Length of the first step. Lengths are measured in impulses, as fractions of all impulses, and in the logarithm of the
/// compliance.
const FIRST_LENGTH: f64 = 0.05;

/// Largest length of a step. The compliance then falls to 0.6, or the impulses grow by a half.
const MAX_LENGTH: f64 = 0.5;

/// Factor of the length of a step after one with few corrections.
const LONGER: f64 = 1.5;

/// Least length of a step. If such a step fails, a corner of the curve is nearer than that.
const MIN_LENGTH: f64 = 1e-9;

/// Distance beyond the point reached, as a multiple of [`MIN_LENGTH`], that certainly lies on the next piece.
const BEYOND: f64 = 4.0;

/// Lengths of the first step on the next piece of the curve, in the order in which they are tried. All are long compared with the
/// distance of the corner.
const FROM_CORNER: [f64; 6] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// Largest number of steps, with those that fail. A hundred are usual, thirty of them for each corner.
const MAX_STEPS: usize = 1000;

/// Largest number of multiply-adds: less than a second. Four contacts need a million.
const MAX_WORK: u64 = 300_000_000;

/// Largest number of corrections of a step by Newton's method.
const MAX_CORRECTIONS: usize = 8;

/// Number of corrections up to which the next step is longer.
const FEW_CORRECTIONS: usize = 4;

/// Cosine of the largest angle between the tangents at both ends of a step. A longer step may leave the curve.
const STRAIGHT: f64 = 0.5;

/// Largest distance of a corrected point from the predicted one, as a fraction of the length of the step. A point farther away may
/// lie on another curve.
const MAX_CORRECTION: f64 = 0.5;

/// Largest error of a point of the curve, relative to impulses and velocities.
const GOOD_ERROR: f64 = 1e-13;

/// Sign of the determinant of the derivatives and the tangent, along the whole curve. For soft contacts the derivatives with
/// respect to impulses have a positive determinant, and the compliance falls.
const ORIENTATION: f64 = -1.0;

/// Pseudo-arclength continuation of the solution branch, with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Turning {
    here: Point,
    trial: Point,
    /// Logarithms of the compliances at both points.
    log_here: f64,
    log_trial: f64,
    /// Unit tangents at both points: impulses in units of `size`, then the logarithm of the compliance.
    tangent: Vec<f64>,
    next: Vec<f64>,
    /// Impulses and logarithm of the compliance before corrections.
    predicted: Vec<f64>,
    offset: Vec<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    rhs: Vec<f64>,
    /// Unit of impulses at the point reached.
    size: f64,
    work: u64,
}

impl Turning {
    /// Follows the branch from the solution `impulse` at the compliance `from` to the first point with the smaller compliance
    /// `to`, and replaces `impulse` by the solution there. `n_steps` is increased by the number of Newton steps. Returns
    /// false if the branch is lost, if it takes too many steps, or if slip directions are prescribed. `impulse` then stays the
    /// same.
    pub(super) fn follow(
        &mut self,
        impulse: &mut Vec<f64>,
        [from, to]: [f64; 2],
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        if system.slips.iter().any(Option::is_some) || !self.begin(impulse, from, system) {
            return false;
        }
        let end = libm::log(to);
        let mut length = FIRST_LENGTH;
        for _ in 0..MAX_STEPS {
            if self.work > MAX_WORK {
                break;
            }
            if length < MIN_LENGTH {
                let Some(made) = self.turn_corner(system, n_steps) else {
                    break;
                };
                length = made;
                continue;
            }
            let Some(n_corrections) = self.step(length, system, n_steps) else {
                length *= 0.5;
                continue;
            };
            if self.log_trial > end {
                self.advance(system);
                if n_corrections <= FEW_CORRECTIONS {
                    length = (LONGER * length).min(MAX_LENGTH);
                }
            } else if self.finish([end, to, length], system, newton, n_steps) {
                impulse.clear();
                impulse.extend_from_slice(newton.impulse());
                return true;
            } else {
                length *= 0.5;
            }
        }
        false
    }

    /// Sets the first point and the tangent there. Returns false if the derivatives are singular.
    fn begin(&mut self, impulse: &[f64], compliance: f64, system: &mut Scaled) -> bool {
        self.work = 0;
        self.trial.impulse.clear();
        self.trial.impulse.extend_from_slice(impulse);
        self.log_trial = libm::log(compliance);
        system.soften(compliance);
        self.trial.evaluate(system, system.speed());
        self.size = size_of(&self.trial, system);
        self.tangent.clear();
        self.tangent.resize(system.n, 0.0);
        self.tangent.push(-1.0);
        let Some(sign) = self.next_tangent(system) else {
            return false;
        };
        if sign != ORIENTATION {
            self.next.iter_mut().for_each(|x| *x = -*x);
        }
        self.advance(system);
        true
    }

    /// Makes the trial the point reached.
    fn advance(&mut self, system: &Scaled) {
        std::mem::swap(&mut self.here, &mut self.trial);
        std::mem::swap(&mut self.tangent, &mut self.next);
        self.log_here = self.log_trial;
        let before = self.size;
        self.size = size_of(&self.here, system);
        let impulses = self.tangent.iter_mut().take(system.n);
        impulses.for_each(|x| *x *= before / self.size);
        normalize(&mut self.tangent);
    }

    /// Makes a step of the given length along `self.tangent` and corrects it by Newton's method, perpendicular to the tangent.
    /// The trial becomes the point after the step, and `self.next` the tangent there. Returns the number of corrections; `None`
    /// if they fail, leave the curve or go back on it, or if the curve turns too far.
    fn step(&mut self, length: f64, system: &mut Scaled, n_steps: &mut usize) -> Option<usize> {
        self.predict(length);
        let mut n_corrections = 0;
        loop {
            system.soften(libm::exp(self.log_trial));
            self.trial.evaluate(system, system.speed());
            if !self.trial.norm.is_finite() {
                return None;
            }
            if self.trial.norm <= GOOD_ERROR * self.size.max(size_of(&self.trial, system)) {
                break;
            }
            if n_corrections == MAX_CORRECTIONS {
                return None;
            }
            n_corrections += 1;
            *n_steps += 1;
            self.factorize(system)?;
            self.rhs.clear();
            let errors = self.trial.error.iter();
            self.rhs.extend(errors.map(|error| -error / self.size));
            self.rhs.push(-dot(&self.tangent, &self.offset));
            lu_solve(&self.matrix, &self.pivots, &mut self.rhs);
            for (l, change) in self.trial.impulse.iter_mut().zip(&self.rhs) {
                *l += self.size * change;
            }
            self.log_trial += self.rhs[system.n];
            self.measure_offset();
            if !(norm(&self.offset) <= MAX_CORRECTION * length) {
                return None;
            }
        }
        let is_forward = self.next_tangent(system)? == ORIENTATION;
        let is_straight = dot(&self.tangent, &self.next) >= STRAIGHT;
        (is_forward && is_straight).then_some(n_corrections)
    }

    /// Sets the trial to the point at a distance along the tangent.
    fn predict(&mut self, length: f64) {
        self.trial.impulse.clear();
        let (size, n) = (self.size, self.here.impulse.len());
        let moved = self.here.impulse.iter().zip(&self.tangent);
        let moved = moved.map(|(l, x)| l + length * size * x);
        self.trial.impulse.extend(moved);
        self.log_trial = self.log_here + length * self.tangent[n];
        self.predicted.clone_from(&self.trial.impulse);
        self.predicted.push(self.log_trial);
        self.offset.clear();
        self.offset.resize(n + 1, 0.0);
    }

    /// Computes the difference between the trial and the predicted point.
    fn measure_offset(&mut self) {
        let impulses = self.trial.impulse.iter().zip(&self.predicted);
        self.offset.clear();
        self.offset
            .extend(impulses.map(|(l, before)| (l - before) / self.size));
        self.offset
            .push(self.log_trial - self.predicted[self.trial.impulse.len()]);
    }

    /// Makes a step along the tangent of the piece that begins less than [`MIN_LENGTH`] beyond the point reached. Returns
    /// the length of this step; `None` if no step succeeds.
    fn turn_corner(&mut self, system: &mut Scaled, n_steps: &mut usize) -> Option<f64> {
        self.predict(BEYOND * MIN_LENGTH);
        system.soften(libm::exp(self.log_trial));
        self.trial.evaluate(system, system.speed());
        if self.next_tangent(system)? != ORIENTATION {
            self.next.iter_mut().for_each(|x| *x = -*x);
        }
        std::mem::swap(&mut self.tangent, &mut self.next);
        let mut lengths = FROM_CORNER.into_iter();
        let made = lengths.find(|length| self.step(*length, system, n_steps).is_some())?;
        self.advance(system);
        Some(made)
    }

    /// Solves the problem at the compliance `to`, with the logarithm `end`, between the point reached and the trial. The impulses
    /// are left in `newton`. Returns false if the solution is not found, or not near the line between both points, the distance
    /// of which is `length`.
    fn finish(
        &mut self,
        [end, to, length]: [f64; 3],
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        let part = (self.log_here - end) / (self.log_here - self.log_trial);
        let ends = self.here.impulse.iter().zip(&self.trial.impulse);
        let between: Vec<f64> = ends.map(|(a, b)| a + part * (b - a)).collect();
        system.soften(to);
        let (is_good, steps) = newton.run(system, &between, GOOD_ERROR, MAX_CORRECTIONS);
        *n_steps += steps;
        let moved = between.iter().zip(newton.impulse());
        let moved: Vec<f64> = moved.map(|(a, b)| (a - b) / self.size).collect();
        is_good && norm(&moved) <= MAX_CORRECTION * length
    }

    /// Computes the unit tangent `self.next` at the trial, within a right angle of `self.tangent`. Returns the sign of the
    /// determinant of the derivatives and this tangent; `None` if they are singular.
    fn next_tangent(&mut self, system: &Scaled) -> Option<f64> {
        let sign = self.factorize(system)?;
        self.next.clear();
        self.next.resize(system.n, 0.0);
        self.next.push(1.0);
        lu_solve(&self.matrix, &self.pivots, &mut self.next);
        normalize(&mut self.next).then_some(sign)
    }

    /// Factorizes the derivatives of the equations at the trial, with `self.tangent` as last row. Returns the sign of the
    /// determinant; `None` if the matrix is singular.
    fn factorize(&mut self, system: &Scaled) -> Option<f64> {
        let (n, k) = (system.n, system.n + 1);
        self.work += (k as u64).pow(3);
        self.matrix.clear();
        self.matrix.resize(k * k, 0.0);
        self.pivots.clear();
        self.pivots.resize(k, 0);
        let compliance = libm::exp(self.log_trial);
        for (j, column) in self.matrix.chunks_exact_mut(k).enumerate() {
            let pieces = self.trial.pieces.iter().enumerate();
            for ((i, piece), entries) in pieces.zip(column.chunks_exact_mut(WIDTH)) {
                let first = i * WIDTH;
                let derivatives = if j < n {
                    let own = (j / WIDTH == i).then_some(j % WIDTH);
                    derivative(*piece, &system.column(j)[first..], own)
                } else {
                    // Velocities grow by those of the compliant contacts if the logarithm grows by one.
                    let soft = |t: usize| {
                        let speed = compliance * system.compliance[first + t];
                        speed * self.trial.impulse[first + t] / self.size
                    };
                    derivative(*piece, &[soft(0), soft(1), soft(2)], None)
                };
                entries.copy_from_slice(&derivatives);
            }
            column[n] = self.tangent[j];
        }
        if !lu(&mut self.matrix, k, &mut self.pivots) {
            return None;
        }
        let diagonal = self.matrix.iter().step_by(k + 1);
        let signs = diagonal.zip(self.pivots.iter().enumerate());
        let signs = signs.map(|(pivot, (j, row))| {
            let sign = if *row == j { 1.0 } else { -1.0 };
            sign * pivot.signum()
        });
        Some(signs.product())
    }
}

/// Returns the unit of impulses at a point: all impulses, or the velocities of the problem if these are larger.
fn size_of(point: &Point, system: &Scaled) -> f64 {
    let floors = system.floors.iter().copied();
    let velocities = floors.fold(norm(&system.velocity), f64::max);
    norm(&point.impulse).max(velocities)
}

/// Divides a vector by its length. Returns false if the length is zero or not finite.
fn normalize(x: &mut [f64]) -> bool {
    let length = norm(x);
    x.iter_mut().for_each(|x| *x /= length);
    length > 0.0 && length.is_finite()
}
