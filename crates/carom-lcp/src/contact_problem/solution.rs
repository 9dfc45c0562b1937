//! Answers and refusals.

use super::problem::ContactProblem;

/// Fraction of the largest impulse of an island below which an impulse is a rounding error: the contact counts as open. The member of a
/// continuum is extrapolated from compliances by which rounding errors of velocities are divided.
pub const NO_IMPULSE: f64 = 1e-11;

/// Choice among several answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Member {
    /// Rest, if impulses in the cones balance the momentum; then the limit of equally compliant contacts.
    #[default]
    Even,
    /// The answer that is found from the pre-loads, without an examination of its uniqueness: rest if the least change of the
    /// pre-loads balances the momentum inside the cones.
    Near,
    /// The first answer that is found, without a search for rest.
    First,
    /// The first answer, without an examination of its uniqueness.
    Any,
}

/// State in which a contact leaves the impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ContactMode {
    /// No impulse acts.
    #[default]
    Open,
    /// The contact is closed and does not slip.
    Stick,
    /// The contact is closed and slips, or has no friction.
    Slide,
}

impl ContactMode {
    /// Returns the identifier of the mode in records: `open`, `stick` or `slide`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::Slide => "slide",
        }
    }
}

/// Uniqueness of an answer, as far as its modes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Rank {
    /// Impulses and velocities are locally unique.
    #[default]
    Unique,
    /// The velocities are unique, the impulses are not.
    SharedImpulses,
    /// Not examined: the time would grow with the cube of the number of contacts. The even member is followed as if there were
    /// others.
    Unknown,
    /// The velocities form a family of this dimension.
    Family(usize),
}

/// Answer of a contact problem.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// Impulses on the rows (N·s).
    pub impulse: Vec<f64>,
    /// Velocities of the rows after the impulses (m/s).
    pub velocity: Vec<f64>,
    /// Modes, one per contact.
    pub modes: Vec<ContactMode>,
    /// Largest error of the contact conditions, relative to the largest velocity or impulse of its island; impulses at rigid
    /// contacts count up to 1e3 times the velocities. With the mobility $g_i$, the larger of that of the normal
    /// and the mean one of the tangents, it is
    ///
    /// $$ \frac{\max_i \sqrt{g_i} \lVert\lambda_i - C(\lambda_i - w_i/g_i)\rVert}
    /// {\max_i \max(\lVert b_i\rVert/\sqrt{g_i}, \sqrt{g_i}\lVert\lambda_i\rVert)}. $$
    ///
    /// $C(y)$ cuts the normal part to its bounds, to $n$, and the length of the tangential part to $\mu n$.
    pub residual: f64,
    /// Choice that was kept: [`Member::First`] if the path of compliant contacts ends before its limit.
    pub member: Member,
    /// Uniqueness, if [`Member::Even`] or [`Member::First`] was asked for.
    pub rank: Rank,
    /// True if impulses in the cones stop all rows: velocities of normals and of rows with friction are exactly zero. Coordinates
    /// that no row moves keep their velocities. If $v^-$ lies in the span of $M^{-1}J^T$, all of $v^+$ is zero: the impulses then balance
    /// the momentum, $J^T\lambda = -Mv^-$, which a caller with more coordinates than independent rows checks itself.
    pub rests: bool,
    /// Number of Newton steps.
    pub steps: u64,
    /// Counted work: rows of all matrices that were factored.
    pub work: u64,
}

impl Solution {
    /// Makes room for the answer of a problem.
    pub(super) fn reset(&mut self, problem: &ContactProblem<'_>, member: Member) {
        let n = problem.velocity().len();
        for values in [&mut self.impulse, &mut self.velocity] {
            values.clear();
            values.resize(n, 0.0);
        }
        self.modes.clear();
        self.modes.resize(problem.blocks().len(), ContactMode::Open);
        self.residual = 0.0;
        self.rank = Rank::Unique;
        self.rests = true;
        self.member = member;
        self.steps = 0;
        self.work = 0;
    }
}

/// Reason why a contact problem has no told answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No velocity separates all contacts as fast as their targets ask.
    #[error("no velocity separates all contacts as fast as their targets ask: lower a restitution")]
    NoAnswer {
        /// Proof: normal impulses $\lambda_n \ge 0$, one per contact (N·s), with $J_n^T\lambda_n = 0$ and
        /// $\lambda_n\cdot t > 0$.
        normal_impulses: Vec<f64>,
    },
    /// Several answers with different velocities, none of which is the limit of equally compliant contacts. [`Member::First`] is
    /// refused, too: the caller may take the first of them.
    #[error("{} answers with different velocities, none of which is the limit of compliant contacts: ask for any", .0.len())]
    Ambiguous(
        /// All answers, that of the least kinetic energy first.
        Vec<Solution>,
    ),
    /// The search ended with too large an error.
    #[error(
        "contact impulses miss the contact conditions by {residual:e}: at most 1e-9 is accepted"
    )]
    NotConverged {
        /// Residual of the best impulses.
        residual: f64,
        /// Best impulses.
        best: Box<Solution>,
    },
}
