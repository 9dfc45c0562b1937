//! Lemke's method.
//!
//! The method follows a path of almost complementary bases of $w - Mz - dz_0 = q$ from
//! $z_0$ large to $z_0 = 0$. See the [crate documentation](crate) for the theory.

mod etas;
mod ratio;
mod room;
mod scales;
mod search;
mod small;
mod symmetric;
mod tableau;

use crate::balance::Balance;
use crate::certificate::Certificate;
use crate::scalar::Double;
use crate::work::{DEFAULT_MAX_WORK, Work};
use crate::{Lcp, LcpError, LcpRef, LcpSolution, LcpStatus, Limit, Proof};
use nalgebra::DVector;
use search::Search;
use symmetric::Symmetric;
use tableau::Tableau;

pub(crate) use search::{basic_solution, signed_solution};

/// Numeric knobs of [`Lemke`].
#[derive(Clone, Debug, PartialEq)]
pub struct LemkeOptions {
    /// Pivots allowed in all attempts together; reaching it ends the search. Besides, an attempt
    /// makes way for the next after $2^{n+1}$ pivots for n up to 16, which is enough for every
    /// known exponential family, else after $50n + 2^{14}$.
    pub max_pivots: Option<u64>,
    /// Multiply-adds allowed in all attempts together; reaching it ends the search. Counted, not
    /// timed, so that answers are reproducible: a pivot of n rows counts $n^2$, exact operations
    /// the products of their words.
    pub max_work: u64,
    /// Covering vector $d > 0$ (n) of the first attempt, in the units of $w$. `None`: ones.
    pub cover: Option<Vec<f64>>,
    /// Residual above which the final basis is factored again and its solution corrected in
    /// twice the precision. 0 corrects always.
    pub refine_above: f64,
    /// Attempts allowed, at least 1; each costs about as much as the first. See [`Attempt`].
    pub max_attempts: usize,
    /// True if answers that are large against the data are proven, and problems that no path
    /// solves are decided, in exact arithmetic. Off for callers with a gate of their own: then
    /// `Solved` says that the backward error is small, and no more, and `Inaccurate` may mean
    /// rows that are rounding alone.
    pub proofs: bool,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        Self {
            max_pivots: None,
            max_work: DEFAULT_MAX_WORK,
            cover: None,
            refine_above: 1e-14,
            max_attempts: usize::MAX,
            proofs: true,
        }
    }
}

/// Attempt that gave the answer. Attempts are made in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Attempt {
    /// $q \ge 0$, or the basis that was handed in: no pivot.
    Immediate,
    /// Principal pivoting, where the matrix was said to be symmetric.
    PrincipalPivoting,
    /// The problem as posed, up to one power of two.
    First,
    /// Rows and columns scaled by powers of two.
    Equilibrated,
    /// Another covering vector, with frequent factorizations.
    OtherCover,
    /// Numbers of twice the precision, refactored.
    DoublePrecision,
    /// Rational arithmetic: the complementary cones (n up to 8), or feasibility and the path (n up
    /// to 40).
    Exact,
}

impl Attempt {
    fn of_first(n_pivots: u64) -> Self {
        match n_pivots {
            0 => Self::Immediate,
            _ => Self::First,
        }
    }

    /// Stable kebab-case identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::PrincipalPivoting => "principal-pivoting",
            Self::First => "first",
            Self::Equilibrated => "equilibrated",
            Self::OtherCover => "other-cover",
            Self::DoublePrecision => "double-precision",
            Self::Exact => "exact",
        }
    }
}

/// Outcome of a solve; the vectors are in the workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LemkeReport {
    /// Outcome.
    pub status: LcpStatus,
    /// Residuals of the answer on the problem as given.
    pub certificate: Certificate,
    /// Pivots of all attempts.
    pub n_pivots: u64,
    /// The attempt that gave the answer.
    pub attempt: Attempt,
    /// See [`LcpSolution::is_heavy`]; `false` without [`proofs`](LemkeOptions::proofs).
    pub is_heavy: bool,
    /// Why the status is true.
    pub proof: Option<Proof>,
    /// The budget that was used up, for [`LcpStatus::IterationLimit`].
    pub limit: Option<Limit>,
}

/// Memory that solves reuse: none is allocated when a problem is not larger than an earlier one,
/// unless the path has to be followed in twice the precision, a ray takes exact sums to judge, or
/// (n above 512) the path becomes very long.
#[derive(Clone, Debug)]
pub struct LemkeWorkspace {
    /// Dimension up to which nothing has to be allocated.
    room: usize,
    tableau: Tableau<f64>,
    /// For the last resort; empty until it is needed.
    double: Option<Box<Tableau<Double>>>,
    symmetric: Symmetric,
    answers: Answers,
}

/// The best answer so far, and one that is compared with it.
#[derive(Clone, Debug)]
struct Answers {
    z: Vec<f64>,
    w: Vec<f64>,
    /// Sizes of the terms of each row.
    terms: Vec<f64>,
    basis: Vec<bool>,
    z_other: Vec<f64>,
    w_other: Vec<f64>,
    basis_other: Vec<bool>,
    cover: Vec<f64>,
    balance: Balance,
    farkas: Vec<f64>,
}

impl Default for LemkeWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

impl LemkeWorkspace {
    /// An empty workspace.
    pub fn new() -> Self {
        Self {
            room: 0,
            tableau: Tableau::new(),
            double: None,
            symmetric: Symmetric::default(),
            answers: Answers {
                z: Vec::new(),
                w: Vec::new(),
                terms: Vec::new(),
                basis: Vec::new(),
                z_other: Vec::new(),
                w_other: Vec::new(),
                basis_other: Vec::new(),
                cover: Vec::new(),
                balance: Balance::new(),
                farkas: Vec::new(),
            },
        }
    }

    /// Room for n rows; entries are unspecified.
    #[inline]
    fn resize(&mut self, n: usize) {
        if n > self.room {
            self.make_room(n);
        }
        let answers = &mut self.answers;
        if answers.z.len() != n {
            for vector in [&mut answers.z, &mut answers.w, &mut answers.terms] {
                vector.resize(n, 0.0);
            }
            answers.basis.resize(n, false);
        }
    }

    #[cold]
    fn make_room(&mut self, n: usize) {
        self.room = n;
        self.tableau.reserve(n);
        let answers = &mut self.answers;
        for vector in [
            &mut answers.z,
            &mut answers.w,
            &mut answers.terms,
            &mut answers.z_other,
            &mut answers.w_other,
            &mut answers.cover,
        ] {
            room::reserve(vector, n);
        }
        room::reserve(&mut answers.basis, n);
        room::reserve(&mut answers.basis_other, n);
        answers.balance.reserve(n);
    }

    /// The variables $z$ of the last solve (n).
    #[inline]
    pub fn z(&self) -> &[f64] {
        &self.answers.z
    }

    /// $w = Mz + q$ of the last solve (n), evaluated from the problem as given.
    #[inline]
    pub fn w(&self) -> &[f64] {
        &self.answers.w
    }

    /// Basis at the end of the last solve (n), `true` for each basic $z_i$: a start for a similar problem.
    #[inline]
    pub fn basis(&self) -> &[bool] {
        &self.answers.basis
    }

    /// The certificate $u$ (n) of the last solve that ended with [`Proof::Farkas`]; else empty.
    #[inline]
    pub fn farkas(&self) -> &[f64] {
        &self.answers.farkas
    }
}

/// Lemke's method with a lexicographic ratio test, a certificate and further attempts.
///
/// # Examples
///
/// Many problems without an allocation in between, each started from the last basis:
///
/// ```
/// use carom_lcp::{LcpRef, LcpStatus, Lemke, LemkeWorkspace};
/// let (lemke, mut workspace) = (Lemke::default(), LemkeWorkspace::new());
/// let matrix = [2.0, 1.0, 1.0, 2.0];
/// lemke.solve_into(LcpRef::new(&matrix, &[-5.0, -6.0])?, &mut workspace)?;
/// let basis = workspace.basis().to_vec();
/// let problem = LcpRef::new(&matrix, &[-5.1, -6.0])?;
/// let report = lemke.solve_from(problem, &basis, &mut workspace)?;
/// assert_eq!((report.status, report.n_pivots), (LcpStatus::Solved, 0));
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
///
/// Lemke, *Bimatrix equilibrium points and mathematical programming*, 1965; Cottle, Pang & Stone,
/// *The linear complementarity problem*, 1992, Algorithms 4.4.5 and 4.9.3.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lemke {
    /// Numeric knobs.
    pub options: LemkeOptions,
}

impl Lemke {
    /// Solves a problem; up to eight rows it decides whether there is a solution.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`] and [`LcpError::InvalidCover`] for the covering vector.
    pub fn solve(&self, problem: &Lcp) -> Result<LcpSolution, LcpError> {
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        self.solve_within(problem, &mut work)
    }

    /// Solves within the rest of a budget, instead of those of the options.
    pub(crate) fn solve_within(
        &self,
        problem: &Lcp,
        work: &mut Work,
    ) -> Result<LcpSolution, LcpError> {
        self.check_cover(problem.dim())?;
        let mut workspace = LemkeWorkspace::new();
        let report = self.search(problem.view(), None, &mut workspace, work);
        let answers = workspace.answers;
        Ok(LcpSolution {
            status: report.status,
            z: DVector::from_vec(answers.z),
            w: DVector::from_vec(answers.w),
            certificate: report.certificate,
            is_heavy: report.is_heavy,
            proof: report.proof,
            farkas: answers.farkas,
            limit: report.limit,
            attempt: Some(report.attempt),
            n_pivots: report.n_pivots,
        })
    }

    /// Solves a problem in a workspace, which then holds $z$ and $w$.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn solve_into(
        &self,
        problem: LcpRef<'_>,
        workspace: &mut LemkeWorkspace,
    ) -> Result<LemkeReport, LcpError> {
        self.check_cover(problem.dim())?;
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        Ok(self.search(problem, None, workspace, &mut work))
    }

    /// Solves a problem from a complementary basis, `true` where $z_i$ is basic (n). If it is
    /// still the solution's, that costs one factorization and no pivot. A singular basis is
    /// ignored.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve), and [`LcpError::DimensionMismatch`] for the basis.
    pub fn solve_from(
        &self,
        problem: LcpRef<'_>,
        basis: &[bool],
        workspace: &mut LemkeWorkspace,
    ) -> Result<LemkeReport, LcpError> {
        if basis.len() != problem.dim() {
            return Err(LcpError::DimensionMismatch {
                what: "basis",
                expected: problem.dim(),
                found: basis.len(),
            });
        }
        self.check_cover(problem.dim())?;
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        Ok(self.search(problem, Some(basis), workspace, &mut work))
    }

    /// Solves a problem whose matrix is symmetric and positive semidefinite, such as that of contacts without
    /// friction, by principal pivoting: the most negative variable changes sides with its partner by a sweep of a
    /// symmetric tableau (Cottle, Pang & Stone 1992, Section 4.1), until none is negative. Where that does
    /// not end, or the matrix is another one, Lemke's method answers, and always up to n = 8.
    ///
    /// The matrix may be singular: then $w$ is unique, and $z$ is one that the independent rows determine.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_lcp::{LcpRef, Lemke, LemkeWorkspace};
    /// // Three equal balls in a row: both contacts approach.
    /// let matrix = [2.0, -1.0, -1.0, 2.0];
    /// let problem = LcpRef::new(&matrix, &[-1.0, -0.5])?;
    /// let mut workspace = LemkeWorkspace::new();
    /// Lemke::default().solve_symmetric(problem, &mut workspace)?;
    /// assert!((workspace.z()[0] - 2.5 / 3.0).abs() < 1e-15);
    /// # Ok::<(), carom_lcp::LcpError>(())
    /// ```
    pub fn solve_symmetric(
        &self,
        problem: LcpRef<'_>,
        workspace: &mut LemkeWorkspace,
    ) -> Result<LemkeReport, LcpError> {
        self.check_cover(problem.dim())?;
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        workspace.resize(problem.dim());
        workspace.answers.farkas.clear();
        Ok(Search::new(&self.options, problem, &mut work).run_symmetric(workspace))
    }

    fn check_cover(&self, n: usize) -> Result<(), LcpError> {
        let Some(cover) = &self.options.cover else {
            return Ok(());
        };
        if cover.len() != n {
            return Err(LcpError::DimensionMismatch {
                what: "covering vector",
                expected: n,
                found: cover.len(),
            });
        }
        let is_valid = |d: &f64| *d > 0.0 && d.is_finite();
        match cover.iter().position(|d| !is_valid(d)) {
            Some(index) => Err(LcpError::InvalidCover {
                index,
                value: cover[index],
            }),
            None => Ok(()),
        }
    }

    fn search(
        &self,
        problem: LcpRef<'_>,
        basis: Option<&[bool]>,
        workspace: &mut LemkeWorkspace,
        work: &mut Work,
    ) -> LemkeReport {
        workspace.resize(problem.dim());
        workspace.answers.farkas.clear();
        Search::new(&self.options, problem, work).run(basis, workspace)
    }
}
