//! Impulses of contacts without restitution, with Coulomb friction in the circular cone.
//!
//! With the contact velocities $w = q + W\Lambda$ of all rows, where $W$ is the mobility matrix, $q$ the velocities without
//! impulses and $\Lambda$ the impulses, each contact has $0 \le \Lambda_n \perp w_n \ge 0$. It either sticks, $w_t = 0$ with
//! $\lvert\Lambda_t\rvert\le\mu\Lambda_n$, or slides with $\Lambda_t = -\mu\Lambda_n\hat u$ along the slip direction
//! $\hat u = w_t/\lvert w_t\rvert$, or along a prescribed one.

use super::kick::{ACCURACY, Friction, Kick, SOFT};
use super::modes::{Factors, RESTARTS};
use carom_lcp::LcpStatus;
use carom_lcp::cone::{
    ConeProblem, ConeSelection, ConeWorkspace, SparseConeOptions, SparseConeProblem,
    SparseConeWorkspace,
};
use nalgebra::{Matrix3, Vector2, Vector3};

/// Number of block Gauss–Seidel sweeps over all contacts in a round, before a direct solution in the modes that they end in.
const SWEEPS: usize = 60;

/// Number of rounds, each of sweeps and one direct solution.
const ROUNDS: usize = 10;

/// Number of such rounds before the cone method without warm start is tried.
const FEW_ROUNDS: usize = 2;

/// Sweeps diverge if they change a velocity by more than this multiple of the largest velocity.
const DIVERGED: f64 = 1e6;

/// Velocity error, as a fraction of the largest velocity, up to which impulses are still accepted: it does not change a step
/// noticeably.
const GOOD: f64 = 1e-10;

/// Rounding of a contact velocity, as a fraction of the sum of the absolute values of its terms: the impulse of a heavy body on a
/// light one gives large terms that cancel.
const SUMMED: f64 = 16.0 * f64::EPSILON;

/// Largest number of contacts that are solved together. More contacts, such as the corners of the face of a prism, are not all
/// pressed at once, and dense matrices of them would be too large.
const AT_ONCE: usize = 24;

/// Number of contacts that are added to the working set in one round.
const JOINING: usize = 4;

/// Size of a prescribed slip in the cone method, as a multiple of the largest velocity.
const GIVEN_SLIP: f64 = 1e4;

/// Compliances added to the mobility where rows nearly depend on each other, as fractions of its largest entry. An example are
/// legs that carry one body: the difference of their mobilities is some 1e-8 of the mobilities themselves.
const SOFTENINGS: [f64; 2] = [1e-10, 1e-8];

/// Relative residual of the interior-point method up to which its slow final stages are left out: a residual of this size does
/// not change a step noticeably.
const ACCEPTABLE: f64 = 1e-9;

/// Units of work of a kick for its rows and flights, in addition to sweeps, factors and Newton steps.
const KICK_WORK: usize = 2000;

/// Units of work of a row in a sweep or an evaluation, in addition to its products.
const RELAX_WORK: usize = 16;

impl Kick<'_> {
    fn rows(&self) -> usize {
        self.velocity.len()
    }

    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        self.mobility[i * self.rows() + j]
    }

    fn block(&self, c: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| self.entry(3 * c + i, 3 * c + j))
    }

    /// Returns the velocity of contact `c` (m/s; normal, then two tangential components) after the kick, that is, after
    /// `impulses` have acted. `impulses` has three entries per contact (N s).
    pub(super) fn velocity_of(&self, c: usize, impulses: &[f64]) -> Vector3<f64> {
        Vector3::from_fn(|k, _| {
            let row = 3 * c + k;
            let entries = self.mobility[row * self.rows()..(row + 1) * self.rows()].iter();
            self.velocity[row] + entries.zip(impulses).map(|(w, x)| w * x).sum::<f64>()
        })
    }

    /// Returns a bound of the rounding error (m/s) in the velocity of contact `c` after `impulses` have acted.
    pub(super) fn rounding_of(&self, c: usize, impulses: &[f64]) -> f64 {
        let row = |row: usize| {
            let entries = self.mobility[row * self.rows()..(row + 1) * self.rows()].iter();
            let terms = entries.zip(impulses).map(|(w, x)| (w * x).abs());
            self.velocity[row].abs() + terms.sum::<f64>()
        };
        SUMMED * (3 * c..3 * c + 3).map(row).fold(0.0, f64::max)
    }

    /// Solves the contact problem of a kick (simultaneous impulses at one configuration). `impulses` contains the initial guess
    /// and receives the solution: three entries (N s) per contact, normal and two tangents. Returns false if no solution was
    /// found.
    pub(crate) fn solve(&self, impulses: &mut [f64]) -> bool {
        self.solve_by(impulses, false, &mut Factors::default())
    }

    /// Solves the contact problem like [`solve`](Self::solve), but accepts velocity errors up to the fraction [`SOFT`] of the
    /// largest contact velocity. Where contact rows nearly depend on each other, a small compliance makes the equations regular.
    /// `factors` stores factorized equations; it may come from an earlier kick (simultaneous impulses) with an equal mobility
    /// matrix.
    pub(crate) fn solve_softly(&self, impulses: &mut [f64], factors: &mut Factors) -> bool {
        self.solve_by(impulses, true, factors)
    }

    fn solve_by(&self, impulses: &mut [f64], softly: bool, factors: &mut Factors) -> bool {
        let contacts = self.friction.len();
        self.work.add(KICK_WORK);
        let scale = self.velocity.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        if scale == 0.0 || contacts == 0 {
            impulses.fill(0.0);
            return true;
        }
        if !scale.is_finite() || self.work.is_spent() {
            return false;
        }
        if contacts == 1 {
            self.relax(0, impulses, scale);
            return impulses.iter().all(|x| x.is_finite());
        }
        if contacts > AT_ONCE {
            // All contacts may press, such as those of a chain.
            if softly
                && (self.is_finished(impulses, scale, true, factors)
                    || self.by_modes(impulses, scale, RESTARTS, factors))
            {
                return true;
            }

            // With prescribed slips contacts can jam; a problem with many such contacts is given up early.
            if softly && self.is_given() {
                return false;
            }
            if self.by_working_set(impulses, scale) {
                return true;
            }
        }
        if self.work.is_spent() {
            return false;
        }
        self.solve_at_once(impulses, scale, softly, factors)
    }

    /// Returns true if the sliding direction of some contact is prescribed instead of unknown.
    fn is_given(&self) -> bool {
        let mut laws = self.friction.iter();
        laws.any(|(_, law)| matches!(law, Friction::Against(_)))
    }

    /// Keeps the mode (open, sticking or sliding) that each contact has in the initial `impulses`, and solves the equations of
    /// these modes. Returns true if the result also solves the whole problem; it then replaces `impulses`. `scale`: largest
    /// contact velocity (m/s); `softly`: regularized equations are tried first.
    fn is_finished(
        &self,
        impulses: &mut [f64],
        scale: f64,
        softly: bool,
        factors: &mut Factors,
    ) -> bool {
        if impulses.iter().all(|x| *x == 0.0) {
            return false;
        }
        let mut start = impulses.to_vec();
        let nearest = match softly {
            true => self.nearest(&mut start, scale, factors),
            false => None,
        };
        let is_found = nearest.unwrap_or_else(|| {
            start.copy_from_slice(impulses);
            self.finish(&mut start, scale, factors)
        });
        if is_found {
            impulses.copy_from_slice(&start);
        }
        is_found
    }

    fn solve_at_once(
        &self,
        impulses: &mut [f64],
        scale: f64,
        softly: bool,
        factors: &mut Factors,
    ) -> bool {
        if self.is_finished(impulses, scale, softly, factors) {
            return true;
        }
        // With prescribed slip directions opposed contacts can jam; the problem then has no solution, so the search is kept
        // short.
        let given = self.is_given();
        if self.by_cones(impulses, scale, true, factors)
            || (softly
                && (self.by_modes(impulses, scale, 1, factors)
                    || self.by_interior_points(impulses, scale, factors)
                    || self.by_soft_cones(impulses, scale)))
            || self.by_sweeps(impulses, scale, FEW_ROUNDS, factors)
        {
            return true;
        }
        if !given
            && (self.by_cones(impulses, scale, false, factors)
                || self.by_sweeps(impulses, scale, ROUNDS, factors))
        {
            return true;
        }
        // The remaining error is below the resolution of a step.
        let good = if softly { SOFT } else { GOOD };
        !self.work.is_spent() && self.residual(impulses) <= good * scale + self.noise
    }

    /// Solves the contact problem with a working set: a few contacts that may have impulses. Contacts outside it that would close
    /// are added until no more do. Returns false if no solution was found. `scale`: largest contact velocity (m/s).
    fn by_working_set(&self, impulses: &mut [f64], scale: f64) -> bool {
        let contacts = self.friction.len();
        let mut members: Vec<usize> = (0..contacts).filter(|c| impulses[3 * c] > 0.0).collect();
        if members.len() > AT_ONCE {
            members.clear();
        }
        let mut found = vec![0.0; impulses.len()];
        for c in &members {
            found[3 * c..3 * c + 3].copy_from_slice(&impulses[3 * c..3 * c + 3]);
        }
        let least = 100.0 * ACCURACY * scale + self.noise;
        loop {
            let is_solved = members.is_empty() || self.solve_members(&members, &mut found, scale);
            if !is_solved || self.work.is_spent() {
                return false;
            }
            let closes = |c: &usize| !members.contains(c);
            let mut joining: Vec<(f64, usize)> = (0..contacts)
                .filter(closes)
                .map(|c| (self.velocity_of(c, &found).x, c))
                .filter(|(rate, c)| *rate < -(least + self.rounding_of(*c, &found)))
                .collect();
            if joining.is_empty() {
                impulses.copy_from_slice(&found);
                return true;
            }
            joining.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            members.extend(joining.iter().take(JOINING).map(|(_, c)| *c));
            members.sort_unstable();
        }
    }

    /// Solves the contact problem of the contacts `members` alone; the others have zero impulse. Returns false if no solution was
    /// found. `scale`: largest contact velocity (m/s).
    fn solve_members(&self, members: &[usize], impulses: &mut [f64], scale: f64) -> bool {
        let rows: Vec<usize> = members.iter().flat_map(|c| 3 * c..3 * c + 3).collect();
        let mobility: Vec<f64> = rows
            .iter()
            .flat_map(|i| rows.iter().map(|j| self.entry(*i, *j)))
            .collect();
        let velocity: Vec<f64> = rows.iter().map(|row| self.velocity[*row]).collect();
        let friction: Vec<(f64, Friction)> = members.iter().map(|c| self.friction[*c]).collect();
        let mut part: Vec<f64> = rows.iter().map(|row| impulses[*row]).collect();
        let few = Kick {
            mobility: &mobility,
            velocity: &velocity,
            friction: &friction,
            noise: self.noise,
            work: self.work,
        };
        let solved = match members.len() {
            1 => few.solve(&mut part),
            _ => few.solve_at_once(&mut part, scale, false, &mut Factors::default()),
        };
        for (row, impulse) in rows.iter().zip(&part) {
            impulses[*row] = *impulse;
        }
        solved
    }

    /// Solves the contact problem by block Gauss–Seidel sweeps: each contact is solved in turn while the impulses of the others
    /// are fixed. After many sweeps, the equations of the present modes (open, sticking, sliding) are solved directly. This is
    /// repeated up to `rounds` times. Returns false if no solution was found. `scale`: largest contact velocity (m/s).
    pub(super) fn by_sweeps(
        &self,
        impulses: &mut [f64],
        scale: f64,
        rounds: usize,
        factors: &mut Factors,
    ) -> bool {
        for round in 0..rounds {
            for _ in 0..SWEEPS {
                let mut change: f64 = 0.0;
                self.work.add(self.rows() * (self.rows() + RELAX_WORK));
                for c in 0..self.friction.len() {
                    change = change.max(self.relax(c, impulses, scale));
                }
                if change <= ACCURACY * scale + 1e-2 * self.noise {
                    return true;
                }
                if !(change <= DIVERGED * scale) || self.work.is_spent() {
                    return false;
                }
            }
            let before = impulses.to_vec();
            if self.finish(impulses, scale, factors) {
                return true;
            }
            // The modes were wrong, or the solution is not unique: continue with sweeps.
            if round % 2 == 1 || impulses.iter().any(|x| !x.is_finite()) {
                impulses.copy_from_slice(&before);
            }
        }
        false
    }

    /// Solves the contact problem by the semismooth Newton method for second-order cones. Returns false if no solution was found.
    /// `warm`: the method starts from `impulses`; `scale`: largest contact velocity (m/s).
    ///
    /// At a contact with a prescribed sliding direction the tangential velocity is replaced by one so large that no impulse
    /// changes its direction. The modes and normal impulses found then give the tangential impulses.
    fn by_cones(
        &self,
        impulses: &mut [f64],
        scale: f64,
        warm: bool,
        factors: &mut Factors,
    ) -> bool {
        let (velocity, friction) = self.as_cones(scale);
        let Ok(problem) = ConeProblem::new(self.mobility, &velocity, &friction, &[]) else {
            return false;
        };
        let mut workspace = ConeWorkspace::new();
        let answer = match warm {
            true => workspace.solve_from(&problem, impulses),
            false => workspace.solve(&problem, ConeSelection::Even),
        };
        let Ok(answer) = answer else {
            return false;
        };
        // A Newton step factorizes and evaluates several trial points; a pivot of the friction polygons works on all rows.
        let rows = self.rows();
        let steps = answer.n_newton_steps * rows * (rows + RELAX_WORK);
        self.work
            .add(rows * steps + answer.n_pivots * 16 * rows * rows);
        if answer.status != LcpStatus::Solved {
            return false;
        }
        let mut found = workspace.impulse().to_vec();
        self.rub(&mut found);
        if self.residual(&found) <= 10.0 * ACCURACY * scale + 0.1 * self.noise {
            impulses.copy_from_slice(&found);
            return true;
        }
        let mut better = found.clone();
        if self.finish(&mut better, scale, factors) {
            impulses.copy_from_slice(&better);
            return true;
        }
        if self.residual(&found) <= 0.1 * GOOD * scale + self.noise {
            impulses.copy_from_slice(&found);
            return true;
        }
        false
    }

    /// Returns the velocities (m/s) and friction coefficients of the problem in the form that the cone method needs. At a contact
    /// with a prescribed sliding direction the tangential velocity is replaced by one so large that no impulse changes its
    /// direction. `scale`: largest contact velocity (m/s).
    fn as_cones(&self, scale: f64) -> (Vec<f64>, Vec<f64>) {
        let mut velocity = self.velocity.to_vec();
        let mut friction = Vec::with_capacity(self.friction.len());
        for (c, (mu, law)) in self.friction.iter().enumerate() {
            friction.push(match law {
                Friction::Frictionless => 0.0,
                _ => *mu,
            });
            if let Friction::Against(slip) = law {
                for k in 0..2 {
                    velocity[3 * c + 1 + k] = slip[k] * GIVEN_SLIP * scale;
                }
            }
        }
        (velocity, friction)
    }

    /// Solves the contact problem by an interior-point method, for problems where the modes of the initial impulses (open,
    /// sticking, sliding) give no solution. Returns false if no solution was found. The method needs tens of factorizations;
    /// methods that share a load evenly among contacts need thousands. `scale`: largest contact velocity (m/s).
    fn by_interior_points(&self, impulses: &mut [f64], scale: f64, factors: &mut Factors) -> bool {
        let (velocity, friction) = self.as_cones(scale);
        let Ok(dense) = ConeProblem::new(self.mobility, &velocity, &friction, &[]) else {
            return false;
        };
        let mut options = SparseConeOptions::default();
        options.acceptable = ACCEPTABLE;
        let mut workspace = SparseConeWorkspace::new();
        let answer = SparseConeProblem::of_dense(&dense)
            .and_then(|problem| workspace.solve_from(&problem, impulses, &options));
        let Ok(answer) = answer else {
            return false;
        };
        let rows = self.rows();
        self.work
            .add(answer.n_factorizations * rows * rows * (rows + RELAX_WORK));
        let mut found = workspace.impulse().to_vec();
        self.rub(&mut found);
        let mut better = found.clone();
        if self.finish(&mut better, scale, factors) {
            impulses.copy_from_slice(&better);
            return true;
        }
        let is_found = self.residual(&found) <= SOFT * scale + self.noise;
        if is_found {
            impulses.copy_from_slice(&found);
        }
        is_found
    }

    /// Solves the contact problem by the cone method after a small compliance is added to the diagonal of the mobility matrix.
    /// Returns false if the velocity error of the result is too large. `scale`: largest contact velocity (m/s).
    fn by_soft_cones(&self, impulses: &mut [f64], scale: f64) -> bool {
        let rows = self.rows();
        let largest = (0..rows).map(|i| self.entry(i, i)).fold(0.0, f64::max);
        let mut mobility = self.mobility.to_vec();
        for softening in SOFTENINGS {
            for i in 0..rows {
                mobility[i * rows + i] = self.entry(i, i) + softening * largest;
            }
            let soft = Kick {
                mobility: &mobility,
                ..*self
            };
            let mut found = impulses.to_vec();
            let factors = &mut Factors::default();
            let is_found = soft.by_cones(&mut found, scale, true, factors)
                || soft.by_cones(&mut found, scale, false, factors);
            if is_found && self.residual(&found) <= SOFT * scale + self.noise {
                impulses.copy_from_slice(&found);
                return true;
            }
        }
        false
    }

    /// Computes the friction impulses of the contacts with a prescribed sliding direction from their normal impulses.
    fn rub(&self, impulses: &mut [f64]) {
        for (c, (mu, law)) in self.friction.iter().enumerate() {
            if let Friction::Against(slip) = law {
                for k in 0..2 {
                    impulses[3 * c + 1 + k] = -mu * impulses[3 * c] * slip[k];
                }
            }
        }
    }

    /// Replaces the impulse of contact `c` by the solution of this contact alone, while the impulses of all others are fixed.
    /// Returns the largest change of the contact's velocity components (m/s). `scale`: largest contact velocity of the problem
    /// (m/s).
    fn relax(&self, c: usize, impulses: &mut [f64], scale: f64) -> f64 {
        let block = self.block(c);
        let old = Vector3::new(impulses[3 * c], impulses[3 * c + 1], impulses[3 * c + 2]);
        let free = self.velocity_of(c, impulses) - block * old;
        let (mu, friction) = self.friction[c];
        let new = one_contact(&block, &free, mu, friction, scale);
        impulses[3 * c..3 * c + 3].copy_from_slice(new.as_slice());
        (block * (new - old)).amax()
    }

    /// Returns the largest violation of the contact conditions, minus its rounding error, as a velocity (m/s). It is the largest
    /// velocity change that solving any contact alone would still cause.
    pub(super) fn residual(&self, impulses: &[f64]) -> f64 {
        let one = |c: usize| {
            let block = self.block(c);
            let old = Vector3::new(impulses[3 * c], impulses[3 * c + 1], impulses[3 * c + 2]);
            let w = self.velocity_of(c, impulses);
            let (mu, friction) = self.friction[c];
            let new = one_contact(&block, &(w - block * old), mu, friction, 0.0);
            (block * (new - old)).amax() - self.rounding_of(c, impulses)
        };
        (0..self.friction.len()).map(one).fold(0.0, f64::max)
    }
}

/// Returns the impulse (N s) that solves a single contact with the friction coefficient `mu`. All vectors have the order normal,
/// two tangents. `g`: mobility, the velocity change per unit impulse; `q`: velocity without the impulse (m/s); `scale`: largest
/// contact velocity of the problem (m/s), below whose rounding a slip direction is not used.
fn one_contact(
    g: &Matrix3<f64>,
    q: &Vector3<f64>,
    mu: f64,
    friction: Friction,
    scale: f64,
) -> Vector3<f64> {
    if q.x >= 0.0 {
        return Vector3::zeros();
    }
    let coupling = Vector2::new(g.m12, g.m13);
    let sliding = |slip: &Vector2<f64>| {
        let effective = g.m11 - mu * coupling.dot(slip);
        (effective > 0.0).then(|| {
            let n = -q.x / effective;
            Vector3::new(n, -mu * n * slip.x, -mu * n * slip.y)
        })
    };
    let normal_only = Vector3::new(-q.x / g.m11, 0.0, 0.0);
    match friction {
        Friction::Frictionless => return normal_only,
        Friction::Against(slip) => return sliding(&slip).unwrap_or(normal_only),
        Friction::Coulomb if mu == 0.0 => return normal_only,
        Friction::Coulomb => (),
    }
    let stick = g.cholesky().map(|factor| -factor.solve(q));
    if let Some(stick) = stick {
        let t = libm::hypot(stick.y, stick.z);
        if stick.x >= 0.0 && t <= mu * stick.x {
            return stick;
        }
    }
    let before = Vector2::new(q.y, q.z);
    let guess = match (before.norm() > 1e-14 * scale, stick) {
        (true, _) => before,
        (false, Some(stick)) => -Vector2::new(stick.y, stick.z),
        (false, None) => Vector2::x(),
    };
    match slip_direction(g, q, mu, &guess) {
        Some(slip) => sliding(&slip).unwrap_or(normal_only),
        None => normal_only,
    }
}

/// Finds the unit direction $\hat u$ in which a contact slides after its impulse; `None` if there is no such direction. With the
/// slip $u^+(\hat u)$ after an impulse whose friction opposes $\hat u$, it solves $\hat u\times u^+(\hat u) = 0$ with $\hat
/// u\cdot u^+ > 0$. The root nearest to `guess` is taken. `g`: mobility; `q`: velocity without the impulse, both in the order
/// normal, tangents.
///
/// A root is bracketed, because the fixed-point iteration $\hat u\leftarrow u^+$ diverges if the impulse changes the slip by more
/// than the slip that remains.
fn slip_direction(
    g: &Matrix3<f64>,
    q: &Vector3<f64>,
    mu: f64,
    guess: &Vector2<f64>,
) -> Option<Vector2<f64>> {
    /// Number of equal sectors that are scanned for a sign change.
    const SCAN: usize = 32;
    let after = |angle: f64| {
        let slip = Vector2::new(libm::cos(angle), libm::sin(angle));
        let effective = g.m11 - mu * (g.m12 * slip.x + g.m13 * slip.y);
        if effective <= 0.0 {
            return None;
        }
        let n = -q.x / effective;
        let impulse = Vector3::new(n, -mu * n * slip.x, -mu * n * slip.y);
        let u = q + g * impulse;
        Some((slip.x * u.z - slip.y * u.y, slip.x * u.y + slip.y * u.z))
    };
    let start = libm::atan2(guess.y, guess.x);
    if let Some((turn, along)) = after(start)
        && turn.abs() <= 1e-16 * along
    {
        return Some(Vector2::new(libm::cos(start), libm::sin(start)));
    }
    let step = std::f64::consts::TAU / SCAN as f64;
    let mut best: Option<f64> = None;
    for k in 0..SCAN {
        // Outwards from the guess: sectors 0, 1, -1, 2, ...
        let sector = if k % 2 == 0 {
            (k / 2) as f64
        } else {
            -((k / 2 + 1) as f64)
        };
        let (mut low, mut high) = (start + sector * step, start + (sector + 1.0) * step);
        let (Some(at_low), Some(at_high)) = (after(low), after(high)) else {
            continue;
        };
        if (at_low.0 > 0.0) == (at_high.0 > 0.0) {
            continue;
        }
        let (mut value_low, mut value_high) = (at_low.0, at_high.0);
        for iteration in 0..200 {
            // Secant steps, with the Illinois rule against a stuck end, and a bisection every fourth time.
            let chord = (low * value_high - high * value_low) / (value_high - value_low);
            let next = match iteration % 4 != 3 && chord > low && chord < high {
                true => chord,
                false => 0.5 * (low + high),
            };
            if next <= low || next >= high {
                break;
            }
            let Some((turn, _)) = after(next) else {
                break;
            };
            if turn == 0.0 {
                (low, high) = (next, next);
                break;
            }
            if (turn > 0.0) == (value_low > 0.0) {
                (low, value_low) = (next, turn);
            } else {
                (high, value_high) = (next, turn);
            }
        }
        let angle = if value_low.abs() < value_high.abs() {
            low
        } else {
            high
        };
        if after(angle).is_some_and(|(_, along)| along >= 0.0) {
            best = Some(angle);
            break;
        }
    }
    best.map(|angle| Vector2::new(libm::cos(angle), libm::sin(angle)))
}

#[cfg(test)]
mod tests;
