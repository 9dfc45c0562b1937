//! Continua of solutions: their dimension, and the member of equally compliant contacts.

use super::gauss_seidel::Sweeps;
use super::least_norm::LeastNorm;
use super::newton::{MAX_STEPS, Newton, Scaled, largest};
use super::problem::WIDTH;
use super::workspace::ConeMode;
use carom_numeric::kernel::norm;

/// Contacts whose normal velocity after the impact is below this fraction of the velocities touch;
/// tangential velocities below it stick.
const TOUCHING: f64 = 1e-9;

/// Pivots of the linearized modes below this fraction of the largest leave directions free.
const FREE: f64 = 1e-9;

/// Compliances $\epsilon$, each half of the one before, for the extrapolation.
const COMPLIANCES: [f64; 3] = [1e-4, 5e-5, 2.5e-5];

/// Compliances of contacts that become stiffer, where the first of [`COMPLIANCES`] is too stiff for a
/// start.
const SOFTNESSES: [f64; 7] = [1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3];

/// Gauss-Seidel sweeps where Newton's method stalls at one of them.
const N_SWEEPS: usize = 15;

/// A solution with compliance counts from this error on, relative to the problem.
const GOOD_ERROR: f64 = 1e-13;

/// Memory of both.
#[derive(Clone, Debug, Default)]
pub(super) struct Even {
    linear: LeastNorm,
    basis: Vec<f64>,
    after: Vec<f64>,
    touching: Vec<usize>,
    levels: [Vec<f64>; 3],
    start: Vec<f64>,
}

impl Even {
    /// The number of directions in which velocities can change while every contact that touches
    /// stays closed and goes on sticking or sliding.
    pub(super) fn family(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> usize {
        system.after(impulse, &mut self.after);
        let speed = largest(&system.velocity);
        let limit = TOUCHING * speed;
        self.touching.clear();
        let normals = self.after.iter().step_by(WIDTH);
        let is_closed = |i: usize, u: f64| {
            u.abs() <= limit || modes.get(i).is_some_and(|mode| *mode != ConeMode::Open)
        };
        self.touching.extend(
            normals
                .enumerate()
                .filter(|(i, u)| is_closed(*i, **u))
                .map(|(i, _)| i),
        );
        let sliding = |i: usize| {
            let (x, y) = (self.after[i * WIDTH + 1], self.after[i * WIDTH + 2]);
            let length = norm(&[x, y]);
            (length > limit).then_some((x, y, length))
        };
        // If no contact slides, the velocities of the rows are zero.
        if !self.touching.iter().any(|i| sliding(*i).is_some()) {
            return 0;
        }
        let k = WIDTH * self.touching.len();
        self.linear.begin(k, k);
        for (row, i) in self.touching.iter().enumerate() {
            let first = i * WIDTH;
            let slide = sliding(*i);
            let friction = system.friction[*i];
            let push = friction * impulse[first];
            for (column, j) in self.touching.iter().enumerate() {
                for t in 0..WIDTH {
                    let g = &system.column(j * WIDTH + t)[first..first + WIDTH];
                    let &[gn, gx, gy] = g else { continue };
                    let unit = |s: usize| if i == j && s == t { 1.0 } else { 0.0 };
                    let entries = match slide {
                        None => [gn, gx, gy],
                        Some((x, y, length)) => {
                            let (x, y) = (x / length, y / length);
                            let across = (x * gy - y * gx) * push / length;
                            let normal = friction * unit(0);
                            [
                                gn,
                                unit(1) + normal * x - across * y,
                                unit(2) + normal * y + across * x,
                            ]
                        }
                    };
                    let at = (column * WIDTH + t) * k + row * WIDTH;
                    self.linear.matrix[at..at + WIDTH].copy_from_slice(&entries);
                }
            }
        }
        let n_free = self.linear.null_space(FREE, &mut self.basis);
        if n_free == 0 {
            return 0;
        }
        // Velocities of the contacts, closed or not, that they change.
        self.linear.begin(system.n, n_free);
        let columns = self.linear.matrix.chunks_exact_mut(system.n);
        for (column, direction) in columns.zip(self.basis.chunks_exact(k)) {
            let unknowns = self
                .touching
                .iter()
                .flat_map(|i| (0..WIDTH).map(move |t| i * WIDTH + t));
            for (j, d) in unknowns.zip(direction) {
                for (x, g) in column.iter_mut().zip(system.column(j)) {
                    *x += g * d;
                }
            }
        }
        let scale = self.basis.iter().fold(0.0, |a, x| f64::max(a, x.abs()));
        self.linear.rank_above(1e-7 * scale)
    }

    /// Leaves the even member in `newton`, starting from a solution; whether every level was found.
    pub(super) fn select(
        &mut self,
        system: &mut Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        solution: &[f64],
        n_steps: &mut usize,
    ) -> bool {
        self.start.clear();
        self.start.extend_from_slice(solution);
        let mut is_found = true;
        for (level, epsilon) in COMPLIANCES.into_iter().enumerate() {
            system.soften(epsilon);
            is_found = self.advance(system, newton, n_steps)
                || (self.harden(system, newton, sweeps, n_steps) && {
                    system.soften(epsilon);
                    self.advance(system, newton, n_steps)
                });
            if !is_found {
                break;
            }
            self.levels[level].clear();
            self.levels[level].extend_from_slice(&self.start);
        }
        system.soften(0.0);
        if !is_found {
            return false;
        }
        // Richardson: errors of first and second order in epsilon vanish.
        let [a, b, c] = &self.levels;
        self.start.clear();
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            let (first, second) = (2.0 * b - a, 2.0 * c - b);
            self.start.push((4.0 * second - first) / 3.0);
        }
        self.advance(system, newton, n_steps)
    }

    /// From soft contacts, which hardly know of each other, to stiffer and stiffer ones. The
    /// impulses reached are in [`start`](Self::start); whether every problem on the way was
    /// solved.
    pub(super) fn harden(
        &mut self,
        system: &mut Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        n_steps: &mut usize,
    ) -> bool {
        self.start.clear();
        self.start.resize(system.n, 0.0);
        for softness in SOFTNESSES {
            system.soften(softness);
            if self.advance(system, newton, n_steps) {
                continue;
            }
            sweeps.prepare(system);
            sweeps.run(system, &mut self.start, N_SWEEPS);
            if !self.advance(system, newton, n_steps) {
                return false;
            }
        }
        true
    }

    /// The impulses that the last method came to.
    pub(super) fn start(&self) -> &[f64] {
        &self.start
    }

    /// Newton's method from the start, which moves to where it came to if that is a solution.
    fn advance(&mut self, system: &Scaled, newton: &mut Newton, n_steps: &mut usize) -> bool {
        let (is_good, steps) = newton.run(system, &self.start, GOOD_ERROR, MAX_STEPS);
        *n_steps += steps;
        if is_good {
            self.start.clear();
            self.start.extend_from_slice(newton.impulse());
        }
        is_good
    }
}
