//! Impulses of contacts without restitution, with Coulomb friction in the circular cone.
//!
//! With the contact velocities $w = q + W\Lambda$ of all rows, where $W$ is the mobility matrix, $q$ the velocities without
//! impulses and $\Lambda$ the impulses, each contact has $0 \le \Lambda_n \perp w_n \ge 0$. It either sticks, $w_t = 0$ with
//! $\lvert\Lambda_t\rvert\le\mu\Lambda_n$, or slides with $\Lambda_t = -\mu\Lambda_n\hat u$ along the slip direction
//! $\hat u = w_t/\lvert w_t\rvert$, or along a prescribed one. [`carom_lcp::contact_problem`] solves this problem, from the
//! impulses of the kick before.

use carom_lcp::contact_problem::{
    self, Block, ContactProblem, Kind, Member, Operator, Refusal, Solution, Workspace,
};
use nalgebra::Vector2;
use std::cell::{Cell, RefCell};

/// Velocity error, as a fraction of the largest velocity, from which on a contact outside the working set closes, and up to which
/// contacts rest.
const ACCURATE: f64 = 1e-11;

/// Residual up to which the impulses before are kept to the bit: with the rounding errors of every kick, what stands would creep.
const KEPT: f64 = 1e-15;

/// Velocity error, as a fraction of the largest velocity, up to which impulses are still accepted: it does not change a step
/// noticeably. Loads that impulses balance leave no larger part of the velocity that they give.
pub(crate) const GOOD: f64 = 1e-10;

/// Velocity error, as a fraction of the largest velocity, up to which impulses are accepted where rows nearly depend on each
/// other: in a step of 1 ms at 1 m/s that is a tenth of a nanometre.
const SOFT: f64 = 1e-7;

/// Largest number of contacts that are solved together. More contacts, such as the corners of the face of a prism, are not all
/// pressed at once, and dense matrices of them would be too large.
const AT_ONCE: usize = 24;

/// Number of contacts that are added to the working set in one round.
const JOINING: usize = 4;

/// Friction law at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Friction {
    /// No friction.
    Frictionless,
    /// Sliding friction against a prescribed slip direction, a unit vector in the tangent plane.
    Against(Vector2<f64>),
    /// Coulomb's law.
    Coulomb,
}

/// Contact problem of one kick. Rows are normal, first and second tangent of each contact in turn.
#[derive(Debug)]
pub(crate) struct Kick<'a> {
    /// Mobility matrix $W$ (inverse inertia of the rows), row-major.
    pub(crate) mobility: &'a [f64],
    /// Contact velocities without impulses, $q$ (m/s).
    pub(crate) velocity: &'a [f64],
    pub(crate) friction: &'a [(f64, Friction)],
    /// Rounding error of the velocities (m/s): dependent rows need not agree better than this.
    pub(crate) noise: f64,
    pub(crate) work: &'a Work,
}

/// Newton steps that all kicks of a step of lasting contact may take together: an ordinary step takes some tens, the search for the
/// time of an event some hundreds.
const MOST_STEPS: u64 = 8_000;

/// Counter of the Newton steps of all kicks that share it, and the memory of their solver. Steps are counted, not timed.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    steps: Cell<u64>,
    /// Largest number of steps; kicks beyond it fail without a search for a solution.
    limit: u64,
    workspace: RefCell<Workspace>,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            steps: Cell::new(0),
            limit: u64::MAX,
            workspace: RefCell::default(),
        }
    }
}

/// Memory of a solver between kicks as it is stored: the pattern of its symbolic factors.
#[cfg(feature = "serde")]
pub(crate) mod pattern {
    use super::{Work, Workspace};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::cell::RefCell;

    pub(crate) fn serialize<S: Serializer>(work: &Work, serializer: S) -> Result<S::Ok, S::Error> {
        work.workspace.borrow().pattern().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(de: D) -> Result<Work, D::Error> {
        Ok(Work {
            workspace: RefCell::new(Workspace::recalling(Option::deserialize(de)?)),
            ..Work::default()
        })
    }
}

impl Work {
    /// Creates a counter for one step of an island, which limits the number of Newton steps.
    pub(crate) fn of_step() -> Self {
        Self {
            limit: MOST_STEPS,
            ..Self::default()
        }
    }

    /// Returns true if the counted steps have reached the limit.
    fn is_spent(&self) -> bool {
        self.steps.get() >= self.limit
    }

    /// Returns the limit if the counted steps have reached it.
    pub(crate) fn spent(&self) -> Option<u64> {
        self.is_spent().then_some(self.limit)
    }
}

impl Kick<'_> {
    fn rows(&self) -> usize {
        self.velocity.len()
    }

    /// True if `impulses` (N s) bring all contact rows with normal force or friction to rest: they lie inside the cones, so that
    /// statics allows rest.
    pub(crate) fn balances(&self, impulses: &[f64]) -> bool {
        let scale = self.velocity.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
        let least = ACCURATE * scale + self.noise;
        let has_force = |row: &usize| row.is_multiple_of(3) || self.friction[row / 3].0 > 0.0;
        let mut rows = (0..self.rows()).filter(has_force);
        let is_still = |row: usize| {
            let (rate, rounding) = self.velocity_along(row, impulses);
            rate.abs() <= least + rounding
        };
        !self.velocity.is_empty() && rows.all(is_still)
    }

    /// Solves the contact problem of a kick (simultaneous impulses at one configuration). `impulses` contains the initial guess
    /// and receives the solution: three entries (N s) per contact, normal and two tangents. Returns false if no solution was
    /// found.
    pub(crate) fn solve(&self, impulses: &mut [f64]) -> bool {
        self.solve_by(impulses, GOOD)
    }

    /// Solves the contact problem like [`solve`](Self::solve), but accepts velocity errors up to the fraction [`SOFT`] of the
    /// largest contact velocity: contact rows of jointed bodies nearly depend on each other.
    pub(crate) fn solve_softly(&self, impulses: &mut [f64]) -> bool {
        self.solve_by(impulses, SOFT)
    }

    fn solve_by(&self, impulses: &mut [f64], accepted: f64) -> bool {
        let contacts = self.friction.len();
        let scale = self.velocity.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        if scale == 0.0 || contacts == 0 {
            impulses.fill(0.0);
            return true;
        }
        if !scale.is_finite() || self.work.is_spent() {
            return false;
        }
        let is_hard = accepted < SOFT;
        if contacts > AT_ONCE && is_hard && self.by_working_set(impulses, scale) {
            return true;
        }
        !self.work.is_spent() && self.solve_at_once(impulses, scale, accepted)
    }

    /// Solves the contact problem of all contacts together, from the initial `impulses`. Returns false if the velocity error
    /// exceeds the fraction `accepted` of `scale`, the largest contact velocity (m/s).
    fn solve_at_once(&self, impulses: &mut [f64], scale: f64, accepted: f64) -> bool {
        let block = |(contact, (friction, law)): (usize, &(f64, Friction))| {
            let start = &impulses[3 * contact..3 * contact + 3];
            let (kind, friction) = match law {
                Friction::Frictionless => (Kind::Round, 0.0),
                Friction::Against(slip) => (Kind::Against([slip.x, slip.y]), *friction),
                Friction::Coulomb => (Kind::Round, *friction),
            };
            Block {
                preload: [start[0], start[1], start[2]],
                ..Block::new(kind, friction)
            }
        };
        let blocks: Vec<Block> = self.friction.iter().enumerate().map(block).collect();
        let mobility = Operator::Dense(self.mobility);
        let Ok(problem) = ContactProblem::new(mobility, &blocks, self.velocity) else {
            return false;
        };
        // A first kick takes the even answer; later ones continue from the impulses before.
        let member = if impulses.iter().any(|l| *l != 0.0) {
            Member::Near
        } else {
            Member::Even
        };
        let mut workspace = self.work.workspace.borrow_mut();
        // Velocities that are all rounding errors are solved by any impulses.
        let goal = f64::min(self.noise / scale, 1.0);
        if workspace.set_goal(goal).is_err() {
            return false;
        }
        if member == Member::Near {
            let still = contact_problem::residual(&problem, impulses, &mut workspace);
            if still.is_ok_and(|residual| residual <= KEPT) {
                return true;
            }
        }
        let spend = |solution: &Solution| {
            let steps = self.work.steps.get() + solution.steps;
            self.work.steps.set(steps);
        };
        let mut keep = |solution: &Solution| {
            spend(solution);
            impulses.copy_from_slice(&solution.impulse);
            true
        };
        match contact_problem::solve(&problem, member, &mut workspace) {
            Ok(solution) => keep(solution),
            Err(Refusal::NotConverged { residual, best })
                if residual <= accepted + self.noise / scale =>
            {
                keep(&best)
            }
            Err(Refusal::NotConverged { best, .. }) => {
                spend(&best);
                false
            }
            Err(_) => false,
        }
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
        let least = ACCURATE * scale + self.noise;
        loop {
            let is_solved = members.is_empty() || self.solve_members(&members, &mut found, scale);
            if !is_solved || self.work.is_spent() {
                return false;
            }
            let closes = |c: &usize| !members.contains(c);
            let mut joining: Vec<(f64, usize)> = (0..contacts)
                .filter(closes)
                .map(|c| (self.velocity_along(3 * c, &found), c))
                .filter(|((rate, rounding), _)| *rate < -(least + rounding))
                .map(|((rate, _), c)| (rate, c))
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
        let entry = |i: &usize, j: &usize| self.mobility[i * self.rows() + j];
        let mobility: Vec<f64> = rows
            .iter()
            .flat_map(|i| rows.iter().map(move |j| entry(i, j)))
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
        let is_solved = few.solve_at_once(&mut part, scale, GOOD);
        for (row, impulse) in rows.iter().zip(&part) {
            impulses[*row] = *impulse;
        }
        is_solved
    }

    /// Returns the velocity along a row after `impulses` have acted, and a bound of its rounding error (m/s).
    fn velocity_along(&self, row: usize, impulses: &[f64]) -> (f64, f64) {
        /// Rounding error as a fraction of the sum of the absolute values of the terms.
        const SUMMED: f64 = 16.0 * f64::EPSILON;
        let entries = self.mobility[row * self.rows()..(row + 1) * self.rows()].iter();
        let q = self.velocity[row];
        let terms = entries.zip(impulses).map(|(w, x)| w * x);
        let (sum, size) = terms.fold((q, q.abs()), |(sum, size), x| (sum + x, size + x.abs()));
        (sum, SUMMED * size)
    }
}

#[cfg(test)]
#[path = "kick/tests.rs"]
mod tests;
