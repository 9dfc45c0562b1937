//! Continua of solutions: their dimension, and the member selected as the limit of equally compliant contacts.
//!
//! The *solution branch* is the curve of solutions for equally compliant contacts, with the matrix
//! $G + \epsilon D$ of [`ConeSelection::Even`](super::ConeSelection::Even), as a function of the compliance
//! $\epsilon$. It is followed from soft contacts, $\epsilon = 1$, to stiffer ones, and lost where it turns back.

use super::ConeMode;
use super::gauss_seidel::Sweeps;
use super::least_norm::LeastNorm;
use super::newton::{MAX_STEPS, Newton, Scaled, largest, magnitude};
use super::problem::WIDTH;
use carom_numeric::kernel::{larger, norm};

/// A contact touches if its normal velocity after the impact is below this fraction of the velocity scale. A
/// tangential velocity below it counts as sticking.
const TOUCHING: f64 = 1e-9;

/// Fraction of the largest impulse below which a velocity counts as zero, too: an answer satisfies the contact conditions to a
/// tenth of that. (In the units used here a contact alone has equal impulse and velocity.)
const UNKNOWN: f64 = 1e-11;

/// Pivots of the linearized contact equations below this fraction of the largest mark free directions.
const FREE: f64 = 1e-9;

/// First compliance $\epsilon$ on the solution branch of equally compliant contacts. Several solutions that
/// rigid contacts have are usually a single solution at this compliance.
const COMPLIANCE: f64 = 1e-4;

/// Factor between successive compliances.
const STIFFER: f64 = 0.1;

/// Number of compliances, with ratio [`STIFFER`], at which the limit is computed.
const N_COMPLIANCES: usize = 4;

/// Largest number of Newton steps from zero impulses to the first compliance. If they do not suffice, the
/// branch is followed from soft contacts.
const DIRECT_STEPS: usize = 12;

/// Compliance of the soft contacts at which the solution branch begins.
const SOFT: f64 = 1.0;

/// Largest number of Newton steps from one compliance on the solution branch to the next. A longer search often ends at a
/// solution that is not on the branch, and rounding decides at which one.
const BRANCH_STEPS: usize = 15;

/// If Newton's method fails even with a factor above this between two compliances, the solution branch is lost: it may turn
/// back.
const SHORTEST: f64 = 0.95;

/// Two estimates of the limit of the solution branch agree if their velocities differ by less than this
/// fraction of the velocity scale.
const SAME_LIMIT: f64 = 1e-7;

/// Number of compliances, each half of the one before, from which the limit of the solution branch is extrapolated.
pub(super) const LEVELS: usize = 3;

/// Number of compliances from which it is extrapolated if [`LEVELS`] do not suffice for any of the compliances. More would amplify rounding.
pub(super) const DEEP: usize = 6;

/// Fraction of the velocity scale up to which the two best extrapolations from [`DEEP`] compliances agree. At a smaller compliance they
/// agree to more digits, but impulses have more rounding errors.
const DEEP_LIMIT: f64 = 1e-10;

/// Solutions with and without compliance lie on one branch if their contact modes are equal and their
/// velocities differ by less than this fraction of the velocity scale.
const NEAR_LIMIT: f64 = 1e-2;

/// Fraction of the velocity scale that the compliance takes up at most where a solution for rigid contacts lies beside the branch.
const SOFT_LIMIT: f64 = 0.1;

/// The distance to the limit falls in proportion to the compliance, or to its root where a contact comes to rest. A fall to
/// this fraction is enough; the distance of another solution hardly changes.
const APPROACHED: f64 = 0.5;

/// Decreasing compliances of the starting point [`ConeStart::Compliant`](super::ConeStart::Compliant).
const SOFTNESSES: [f64; 7] = [1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3];

/// Number of Gauss-Seidel sweeps after which Newton's method is tried again, if it stalls at one of
/// [`SOFTNESSES`].
const N_SWEEPS: usize = 15;

/// Numbers of Gauss-Seidel sweeps on the solution branch. The second is tried if the first does not help.
const SWEEPS: [usize; 2] = [N_SWEEPS, 10 * N_SWEEPS];

/// A solution with compliance is accepted up to this error, relative to the data of the problem.
const GOOD_ERROR: f64 = 1e-13;

/// Work space of the dimension count and of the solution branch of compliant contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct SolutionBranch {
    linear: LeastNorm,
    basis: Vec<f64>,
    after: Vec<f64>,
    touching: Vec<usize>,
    levels: [Vec<f64>; DEEP],
    limit: Vec<f64>,
    start: Vec<f64>,
    /// Impulses before sweeps.
    swept: Vec<f64>,
    /// State at the last compliance: velocities computed without compliance, contact modes, distance from the
    /// limit.
    soft: Vec<f64>,
    modes: Vec<ConeMode>,
    distance: f64,
}

/// Returns the largest difference between velocities of two lists, normal or tangential, over all contacts. It does not
/// depend on the tangent axes.
fn farthest(x: &[f64], y: &[f64]) -> f64 {
    let contacts = x.chunks_exact(WIDTH).zip(y.chunks_exact(WIDTH));
    let differences = contacts.map(|(x, y)| match (x, y) {
        (&[x0, x1, x2], &[y0, y1, y2]) => magnitude(&[x0 - y0, x1 - y1, x2 - y2]),
        _ => 0.0,
    });
    differences.fold(0.0, larger)
}

impl SolutionBranch {
    /// Counts the independent directions in which the velocities can change while every touching contact stays
    /// closed and keeps sticking or sliding. `impulse` and `modes` are the scaled impulses and the contact modes of
    /// a solution. A count of 0 means that no solution with other velocities is nearby.
    pub(super) fn family(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> usize {
        let limit = self.touch(system, impulse, modes);
        // Without sliding contacts the velocities of the rows are zero, so they cannot vary.
        let slides = |i: &usize| self.sliding(*i, limit).is_some();
        let is_bound = |i: &usize| self.is_at_floor(system, *i, limit);
        if !self.touching.iter().any(|i| slides(i) || is_bound(i)) {
            return 0;
        }
        let n_free = self.free_directions(system, impulse, limit);
        if n_free == 0 {
            return 0;
        }
        // Changes of the velocities of all contacts, closed or open, along each free direction.
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

    /// True if the impulses can be changed a little and still solve the contact problem, whether the velocities
    /// change or not. `impulse` and `modes` are the scaled impulses and the contact modes of a solution.
    pub(super) fn is_free(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> bool {
        let limit = self.touch(system, impulse, modes);
        self.free_directions(system, impulse, limit) > 0
    }

    /// Computes the velocities after the impulses, and lists the contacts that touch or have a floor (a least normal
    /// impulse). A contact touches if it is closed according to `modes`, or if the magnitude of its normal velocity is
    /// at most a limit. Returns this limit, the accuracy of velocities.
    fn touch(&mut self, system: &Scaled, impulse: &[f64], modes: &[ConeMode]) -> f64 {
        system.after(impulse, &mut self.after);
        let limit = larger(TOUCHING * system.speed(), UNKNOWN * largest(impulse));
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

    /// Returns the two components and the length of a contact's sliding velocity. `None` if the contact sticks: its
    /// sliding velocity is below `limit`.
    fn sliding(&self, contact: usize, limit: f64) -> Option<(f64, f64, f64)> {
        let first = contact * WIDTH;
        let (x, y) = (self.after[first + 1], self.after[first + 2]);
        let length = norm(&[x, y]);
        (length > limit).then_some((x, y, length))
    }

    /// True if the normal impulse of a contact equals its floor (least normal impulse) because the contact opens: its
    /// normal velocity exceeds `limit`.
    fn is_at_floor(&self, system: &Scaled, contact: usize, limit: f64) -> bool {
        system.floors[contact] > 0.0 && self.after[contact * WIDTH] > limit
    }

    /// Counts the independent directions in which the impulses of the touching contacts can change while the
    /// linearized contact equations stay satisfied. Writes these directions into `basis`. `limit` is the velocity
    /// below which a contact counts as sticking.
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
                    // A contact may lack a tangential direction: no impulse acts along it.
                    let held = |s: usize, g: f64| match system.rigid[first + s] {
                        0.0 => unit(s),
                        _ => g,
                    };
                    let entries = match slide {
                        _ if friction == 0.0 => [gn, unit(1), unit(2)],
                        _ if let Some([x, y]) = system.slips[*i] => {
                            let drag = friction * unit(0);
                            [gn, unit(1) + drag * x, unit(2) + drag * y]
                        }
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

    /// Computes the solution for equally compliant contacts at the first (largest) compliance of the search for their
    /// limit. Newton's method from the floors (least normal impulses) is tried first. If this method fails, the search
    /// starts from soft contacts, whose solution is unique, and follows the solutions to the first compliance. Writes
    /// the impulses into [`start`](Self::start). `n_steps` is increased by the Newton steps made. Returns false if no
    /// solution was found.
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

    /// Sets the starting point to the least allowed impulses: each normal impulse at its floor, and zero tangential
    /// impulses. This starting point does not depend on axes, units or the order of contacts.
    fn begin_at_floors(&mut self, system: &Scaled) {
        self.start.clear();
        let floors = system.floors.iter();
        self.start
            .extend(floors.flat_map(|floor| [*floor, 0.0, 0.0]));
    }

    /// Follows the solutions for equally compliant contacts from soft contacts to the first compliance of the search
    /// for their limit. If Newton's method fails, smaller steps between compliances are made. `n_steps` is increased
    /// by the Newton steps made. Returns false if the solutions cannot be followed that far.
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
            && self.trace([SOFT, COMPLIANCE], system, newton, n_steps)
    }

    /// Solves the compliant problem by Newton's method from `self.start`. If that fails, applies Gauss-Seidel
    /// sweeps, which converge slowly but surely for soft contacts, and tries again. On success `self.start` becomes
    /// the solution and the function returns true. Otherwise `self.start` is restored. `n_steps` is increased by
    /// the Newton steps made.
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

    /// Follows the solutions for equally compliant contacts from the compliance `from` to the smaller compliance
    /// `to`. Steps between compliances are shortened if Newton's method fails. `n_steps` is increased by the Newton steps
    /// made. Returns false if the branch is lost.
    fn trace(
        &mut self,
        [from, to]: [f64; 2],
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        let (mut compliance, mut factor) = (from, STIFFER);
        while compliance > to {
            let next = f64::max(compliance * factor, to);
            system.soften(next);
            if self.advance_by(system, newton, n_steps, BRANCH_STEPS) {
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

    /// Returns the first compliance (the largest one) at which the limit of the solutions for equally compliant
    /// contacts is sought.
    pub(super) fn first_compliance() -> f64 {
        COMPLIANCE
    }

    /// Returns the decreasing compliances at which the limit of the solutions for equally compliant contacts is
    /// sought.
    pub(super) fn compliances() -> impl Iterator<Item = f64> {
        std::iter::successors(Some(COMPLIANCE), |c| Some(c * STIFFER)).take(N_COMPLIANCES)
    }

    /// Computes the solution for equally compliant contacts at `compliance`, starting from the solution at the
    /// previous, larger one. Stores the velocities and contact modes of this solution. `n_steps` is increased by
    /// the Newton steps made. Returns false if no solution was found.
    pub(super) fn stiffen(
        &mut self,
        compliance: f64,
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        let is_found = compliance == COMPLIANCE
            || self.trace([compliance / STIFFER, compliance], system, newton, n_steps);
        if !is_found {
            system.soften(0.0);
            return false;
        }
        newton.modes(&mut self.modes);
        system.soften(0.0);
        system.after(&self.start, &mut self.soft);
        true
    }

    /// True if the last solution for compliant contacts, with the compliance `compliance`, is far from any for rigid contacts: velocities
    /// that the compliance takes up are not small. Where impulses grow without end this is so at every compliance, and
    /// rounding decides to what solution Newton's method leads.
    pub(super) fn is_soft(&self, system: &Scaled, compliance: f64) -> bool {
        let contacts = self.start.chunks_exact(WIDTH);
        let contacts = contacts.zip(system.compliance.chunks_exact(WIDTH));
        let taken = contacts.map(|(l, d)| match (l, d) {
            (&[normal, x, y], &[d, t, _]) => magnitude(&[normal * d, x * t, y * t]),
            _ => 0.0,
        });
        compliance * taken.fold(0.0, larger) > SOFT_LIMIT * system.speed()
    }

    /// True if a solution for rigid contacts (`impulse`, `modes`) is the limit of the solutions for compliant contacts
    /// as the compliance goes to zero. One of two criteria must be satisfied. Either the contact modes are those of the last
    /// compliant solution and the velocities are close, or the distance between the velocities has fallen since the
    /// compliance before. The distance at the first compliance decides nothing alone.
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
        is_near
            || self.distance <= SAME_LIMIT * speed
            || before.is_finite() && self.distance <= APPROACHED * before
    }

    /// Returns the impulses of the solution for compliant contacts from which [`select`](Self::select) started last.
    pub(super) fn selected_from(&self) -> &[f64] {
        &self.levels[0]
    }

    /// Returns to an earlier solution for compliant contacts, with the impulses `start`.
    pub(super) fn return_to(&mut self, start: &[f64]) {
        self.start.clear();
        self.start.extend_from_slice(start);
    }

    /// Selects from a continuum of solutions the limit of the solutions for equally compliant contacts. The limit is
    /// extrapolated from `n_levels` compliances, the largest of which is `compliance`. The resulting impulses are stored in
    /// `newton`; the caller must check these impulses. `n_steps` is increased by the Newton steps made. Returns false
    /// if the limit could not be determined accurately enough.
    pub(super) fn select(
        &mut self,
        (compliance, n_levels): (f64, usize),
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        if !self.extrapolate((compliance, n_levels), system, newton, n_steps) {
            return false;
        }
        let same = SAME_LIMIT * system.speed();
        let close = if n_levels > LEVELS {
            DEEP_LIMIT * system.speed()
        } else {
            same
        };
        if !(farthest(&self.after, &self.soft) <= close) {
            return false;
        }
        self.polish(system, newton, n_steps);
        system.after(newton.impulse(), &mut self.after);
        farthest(&self.after, &self.soft) <= same
    }

    /// Chooses a member of a continuum of solutions whose limit for compliant contacts is not determined accurately enough: the
    /// impulses that solve the problem near the best extrapolation from compliances below `compliance`. These are large, so that
    /// rounding hardly matters. The impulses are stored in `newton`; the caller must check them. `n_steps` is increased by the
    /// Newton steps made. Returns false if the solutions for compliant contacts are lost.
    pub(super) fn member(
        &mut self,
        compliance: f64,
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        let is_found = self.extrapolate((compliance, DEEP), system, newton, n_steps);
        if is_found {
            self.polish(system, newton, n_steps);
        }
        is_found
    }

    /// Corrects the extrapolated impulses by Newton's method, without moving along the continuum of solutions.
    fn polish(&self, system: &Scaled, newton: &mut Newton, n_steps: &mut usize) {
        let (_, steps) = newton.polish(system, &self.limit, GOOD_ERROR);
        *n_steps += steps;
    }

    /// Extrapolates the limit of the solutions for equally compliant contacts from `n_levels` compliances, the largest of which is
    /// `compliance`. Leaves the impulses in `self.limit`, the velocities after them in `self.soft`, and those of the best
    /// extrapolation before in `self.after`. `n_steps` is increased by the Newton steps made. Returns false if the solutions are
    /// lost.
    fn extrapolate(
        &mut self,
        (compliance, n_levels): (f64, usize),
        system: &mut Scaled,
        newton: &mut Newton,
        n_steps: &mut usize,
    ) -> bool {
        let mut is_found = true;
        for level in 0..n_levels {
            if level > 0 {
                let next = compliance * carom_numeric::power(0.5f64, level as i32);
                system.soften(next);
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
        // Richardson extrapolation: errors of the first orders in the compliance vanish.
        self.limit.clear();
        self.soft.clear();
        for i in 0..system.n {
            let mut column = [0.0; DEEP];
            let column = &mut column[..n_levels];
            for (x, level) in column.iter_mut().zip(&self.levels) {
                *x = level[i];
            }
            let mut before = 0.0;
            for order in 1..n_levels {
                before = column[n_levels - 1];
                let factor = carom_numeric::power(2.0f64, order as i32);
                for level in (order..n_levels).rev() {
                    let difference = factor * column[level] - column[level - 1];
                    column[level] = difference / (factor - 1.0);
                }
            }
            self.soft.push(before);
            self.limit.push(column[n_levels - 1]);
        }
        system.after(&self.soft, &mut self.after);
        system.after(&self.limit, &mut self.soft);
        true
    }

    /// Solves a sequence of contact problems with decreasing compliance, from soft contacts, which hardly interact, to
    /// stiffer ones. Writes the impulses of the last problem into [`start`](Self::start). `n_steps` is increased by
    /// the Newton steps made. Returns false if a problem of the sequence was not solved; `start` then holds inaccurate
    /// impulses.
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

    /// Returns the scaled impulses at which the last method ended: the starting point of the next one.
    pub(super) fn start(&self) -> &[f64] {
        &self.start
    }

    /// Solves the compliant problem by Newton's method from `self.start`. If the solution is accurate, replaces
    /// `self.start` by it and returns true. `n_steps` is increased by the Newton steps made.
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
