//! Continua of solutions: their dimension, and the member of equally compliant contacts.

use super::answer::ConeMode;
use super::gauss_seidel::Sweeps;
use super::least_norm::LeastNorm;
use super::newton::{MAX_STEPS, Newton, Scaled};
use super::problem::WIDTH;
use carom_numeric::kernel::norm;

/// Contacts whose normal velocity after the impact is below this fraction of the velocities touch;
/// tangential velocities below it stick.
const TOUCHING: f64 = 1e-9;

/// Pivots of the linearized modes below this fraction of the largest leave directions free.
const FREE: f64 = 1e-9;

/// Compliance $\epsilon$ at which the branch of equally compliant contacts is met first. Solutions that
/// rigid contacts have beside each other are one there.
const COMPLIANCE: f64 = 1e-4;

/// Factor from a compliance to the next.
const STIFFER: f64 = 0.1;

/// Compliances, each [`STIFFER`] than the one before, at which the limit is sought.
const N_COMPLIANCES: usize = 4;

/// Newton steps from zero to the first compliance; the branch is followed from soft contacts otherwise.
const DIRECT_STEPS: usize = 12;

/// Compliance of soft contacts, where the branch begins.
const SOFT: f64 = 1.0;

/// A factor closer to one than this is not halved: the branch ends.
const SHORTEST: f64 = 0.8;

/// Limits of the branch that differ by less than this fraction of the velocities are one.
const SAME_LIMIT: f64 = 1e-7;

/// Contacts that do the same things at a compliance and without it, with velocities this close as a
/// fraction of those before, are on one branch.
const NEAR_LIMIT: f64 = 1e-2;

/// Distances to the limit fall in proportion to the compliance; by this factor they have fallen enough.
const APPROACHED: f64 = 0.3;

/// Compliances of contacts that become stiffer, for a start.
const SOFTNESSES: [f64; 7] = [1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3];

/// Gauss-Seidel sweeps where Newton's method stalls at one of them.
const N_SWEEPS: usize = 15;

/// Gauss-Seidel sweeps on the branch, one number after the other.
const SWEEPS: [usize; 2] = [N_SWEEPS, 10 * N_SWEEPS];

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
    limit: Vec<f64>,
    start: Vec<f64>,
    swept: Vec<f64>,
    /// At the last compliance: velocities without it, modes, and their distance from the limit.
    soft: Vec<f64>,
    modes: Vec<ConeMode>,
    distance: f64,
}

/// The largest difference of two vectors.
fn farthest(x: &[f64], y: &[f64]) -> f64 {
    let differences = x.iter().zip(y).map(|(x, y)| (x - y).abs());
    differences.fold(0.0, |a, d| if d <= a { a } else { d })
}

impl Even {
    /// The number of directions in which velocities can change while every contact that touches
    /// stays closed and goes on sticking or sliding.
    pub(super) fn family(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> usize {
        let limit = self.touch(system, impulse, modes);
        // If no contact slides, the velocities of the rows are zero.
        let slides = |i: &usize| self.sliding(*i, limit).is_some();
        let is_bound = |i: &usize| self.is_at_floor(system, *i, limit);
        if !self.touching.iter().any(|i| slides(i) || is_bound(i)) {
            return 0;
        }
        let n_free = self.free_directions(system, impulse, limit);
        if n_free == 0 {
            return 0;
        }
        // Velocities of the contacts, closed or not, that they change.
        let k = WIDTH * self.touching.len();
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

    /// True if other impulses next to these solve the problem, with the same velocities or others.
    pub(super) fn is_free(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> bool {
        let limit = self.touch(system, impulse, modes);
        self.free_directions(system, impulse, limit) > 0
    }

    /// Finds the velocities after impulses and the contacts that touch or have a floor; the velocity below which
    /// they do.
    fn touch(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> f64 {
        system.after(impulse, &mut self.after);
        let limit = TOUCHING * system.speed();
        self.touching.clear();
        let normals = self.after.iter().step_by(WIDTH);
        let is_closed = |i: usize, u: f64| {
            u.abs() <= limit || modes.get(i).is_some_and(|mode| *mode != ConeMode::Open)
        };
        self.touching.extend(
            normals
                .enumerate()
                .filter(|(i, u)| is_closed(*i, **u) || system.floors[*i] > 0.0)
                .map(|(i, _)| i),
        );
        limit
    }

    /// Sliding velocity of a contact and its length, if it slides.
    fn sliding(&self, contact: usize, limit: f64) -> Option<(f64, f64, f64)> {
        let first = contact * WIDTH;
        let (x, y) = (self.after[first + 1], self.after[first + 2]);
        let length = norm(&[x, y]);
        (length > limit).then_some((x, y, length))
    }

    /// True if a contact opens, so that its normal impulse is at its floor.
    fn is_at_floor(&self, system: &Scaled, contact: usize, limit: f64) -> bool {
        system.floors[contact] > 0.0 && self.after[contact * WIDTH] > limit
    }

    /// The number of directions, left in the basis, in which impulses of the contacts that touch can change.
    fn free_directions(&mut self, system: &Scaled, impulse: &[f64], limit: f64) -> usize {
        let k = WIDTH * self.touching.len();
        self.linear.begin(k, k);
        for (row, i) in self.touching.iter().enumerate() {
            let first = i * WIDTH;
            let slide = self.sliding(*i, limit);
            let is_bound = self.is_at_floor(system, *i, limit);
            let friction = system.friction[*i];
            let push = friction * impulse[first];
            for (column, j) in self.touching.iter().enumerate() {
                for t in 0..WIDTH {
                    let g = &system.column(j * WIDTH + t)[first..first + WIDTH];
                    let &[gn, gx, gy] = g else { continue };
                    let unit = |s: usize| if i == j && s == t { 1.0 } else { 0.0 };
                    let gn = if is_bound { unit(0) } else { gn };
                    // Contacts lack some tangents: no impulse there.
                    let held = |s: usize, g: f64| match system.rigid[first + s] {
                        0.0 => unit(s),
                        _ => g,
                    };
                    let entries = match slide {
                        _ if friction == 0.0 => [gn, unit(1), unit(2)],
                        None => [gn, held(1, gx), held(2, gy)],
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
        self.linear.null_space(FREE, &mut self.basis)
    }

    /// Solves the problem of contacts of the first compliance: on the branch that begins with soft
    /// contacts, which have one solution. The impulses are in [`start`](Self::start); whether they were
    /// found.
    pub(super) fn begin_branch(
        &mut self,
        system: &mut Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        n_steps: &mut usize,
    ) -> bool {
        self.distance = f64::INFINITY;
        self.begin_at_floors(system);
        system.soften(COMPLIANCE);
        self.advance_by(system, newton, n_steps, DIRECT_STEPS)
            || self.follow(system, newton, sweeps, n_steps)
    }

    /// Starts with the least impulses that are allowed: they do not depend on axes, units and order.
    fn begin_at_floors(&mut self, system: &Scaled) {
        self.start.clear();
        let floors = system.floors.iter();
        self.start
            .extend(floors.flat_map(|floor| [*floor, 0.0, 0.0]));
    }

    /// Follows the branch from soft contacts to the first compliance, in shorter steps where it bends.
    fn follow(
        &mut self,
        system: &mut Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        n_steps: &mut usize,
    ) -> bool {
        self.begin_at_floors(system);
        system.soften(SOFT);
        self.sweep_on(system, newton, sweeps, n_steps)
            && self.trace([SOFT, COMPLIANCE], system, newton, sweeps, n_steps)
    }

    /// Newton's method from the start, then after sweeps, which come slowly and surely to the solution of soft
    /// contacts. The start moves to the solution, if it is found.
    fn sweep_on(
        &mut self,
        system: &Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        n_steps: &mut usize,
    ) -> bool {
        if self.advance(system, newton, n_steps) {
            return true;
        }
        self.swept.clone_from(&self.start);
        sweeps.prepare(system);
        for n_sweeps in SWEEPS {
            sweeps.run(system, &mut self.start, n_sweeps);
            if self.advance(system, newton, n_steps) {
                return true;
            }
        }
        self.start.clone_from(&self.swept);
        false
    }

    /// Follows the branch from one compliance to a smaller one, in shorter steps where it bends.
    fn trace(
        &mut self,
        [from, to]: [f64; 2],
        system: &mut Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        n_steps: &mut usize,
    ) -> bool {
        let (mut compliance, mut factor) = (from, STIFFER);
        while compliance > to {
            let next = f64::max(compliance * factor, to);
            system.soften(next);
            if self.sweep_on(system, newton, sweeps, n_steps) {
                compliance = next;
                factor = f64::max(factor * factor, STIFFER);
            } else if factor > SHORTEST {
                return false;
            } else {
                factor = factor.sqrt();
            }
        }
        true
    }

    /// Compliance at which the branch is met first.
    pub(super) fn first_compliance() -> f64 {
        COMPLIANCE
    }

    /// Compliances at which the limit of the branch is sought.
    pub(super) fn compliances() -> impl Iterator<Item = f64> {
        std::iter::successors(Some(COMPLIANCE), |c| Some(c * STIFFER)).take(N_COMPLIANCES)
    }

    /// Moves on to a compliance, and keeps the velocities and modes there; whether that was solved.
    pub(super) fn stiffen(
        &mut self,
        compliance: f64,
        system: &mut Scaled,
        newton: &mut Newton,
        sweeps: &mut Sweeps,
        n_steps: &mut usize,
    ) -> bool {
        let is_found = compliance == COMPLIANCE
            || self.trace(
                [compliance / STIFFER, compliance],
                system,
                newton,
                sweeps,
                n_steps,
            );
        if !is_found {
            system.soften(0.0);
            return false;
        }
        newton.modes(&mut self.modes);
        system.soften(0.0);
        system.after(&self.start, &mut self.soft);
        true
    }

    /// True if a solution without compliance is the limit of the branch: contacts do the same at the last
    /// compliance and velocities are near, or come nearer as fast as the compliance falls.
    pub(super) fn is_limit(
        &mut self,
        system: &Scaled,
        impulse: &[f64],
        modes: &[ConeMode],
    ) -> bool {
        let speed = system.speed();
        system.after(impulse, &mut self.after);
        let before = self.distance;
        self.distance = farthest(&self.after, &self.soft);
        let is_near = modes == self.modes && self.distance <= NEAR_LIMIT * speed;
        is_near || self.distance <= f64::max(APPROACHED * before, SAME_LIMIT * speed)
    }

    /// Leaves the limit of the branch among a continuum of solutions in `newton`, which is to be judged;
    /// whether the branch has come near enough to tell it. The branch is at a compliance.
    pub(super) fn select(
        &mut self,
        compliance: f64,
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        let mut is_found = true;
        for level in 0..self.levels.len() {
            if level > 0 {
                system.soften(compliance * carom_numeric::power(0.5f64, level as i32));
                is_found = self.advance(system, newton, n_steps);
            }
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
        // Richardson: errors of first and second order in the compliance vanish.
        let [a, b, c] = &self.levels;
        self.limit.clear();
        self.soft.clear();
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            let (first, second) = (2.0 * b - a, 2.0 * c - b);
            self.soft.push(second);
            self.limit.push((4.0 * second - first) / 3.0);
        }
        let same = SAME_LIMIT * system.speed();
        system.after(&self.soft, &mut self.after);
        system.after(&self.limit, &mut self.soft);
        if !(farthest(&self.after, &self.soft) <= same) {
            return false;
        }
        let (_, steps) = newton.polish(system, &self.limit, GOOD_ERROR);
        *n_steps += steps;
        system.after(newton.impulse(), &mut self.after);
        farthest(&self.after, &self.soft) <= same
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
        self.advance_by(system, newton, n_steps, MAX_STEPS)
    }

    fn advance_by(
        &mut self,
        system: &Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
        max_steps: usize,
    ) -> bool {
        let (is_good, steps) = newton.run(system, &self.start, GOOD_ERROR, max_steps);
        *n_steps += steps;
        if is_good {
            self.start.clear();
            self.start.extend_from_slice(newton.impulse());
        }
        is_good
    }
}
