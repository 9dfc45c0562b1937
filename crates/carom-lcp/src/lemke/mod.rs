//! Lemke's method for linear complementarity problems.
//!
//! The method follows a path of almost complementary bases of $w - Mz - dz_0 = q$ from
//! $z_0$ large to $z_0 = 0$. See the [crate documentation](crate) for the theory.

mod etas;
mod ratio;
mod room;
mod scales;
mod search;
mod small;
mod tableau;

use crate::balance::Balance;
use crate::certificate::Certificate;
use crate::scalar::Double;
use crate::work::{DEFAULT_MAX_WORK, Work};
use crate::{LcpError, LcpRef, LcpSolution, LcpSolver, LcpStatus, Limit, Proof};
use nalgebra::DVector;
use search::Search;
use tableau::Tableau;

pub(crate) use search::{basic_solution, signed_solution};

/// Options of [`Lemke`]'s method for linear complementarity problems: budgets, accuracy and number of attempts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct LemkeOptions {
    /// Largest number of pivots of all attempts together; the search ends when it is reached. Independently,
    /// the next attempt starts after $2^{n+1}$ pivots of one attempt for n up to 16 (enough for every known
    /// exponential family), or after $50n + 2^{14}$ for larger n.
    pub max_pivots: Option<u64>,
    /// Largest number of multiply-adds of all attempts together; the search ends when it is reached. Operations
    /// are counted rather than timed, so that answers are reproducible: a pivot with n rows counts $n^2$, an
    /// exact operation counts the products of its words.
    pub max_work: u64,
    /// Covering vector $d > 0$ of the first attempt (n entries), in the units of $w$. `None` means ones.
    pub cover: Option<Vec<f64>>,
    /// Complementary basis from which the search starts: n entries, `true` where $z_i$ is basic. If it is the basis of the
    /// solution, a solve costs one factorization and no pivot. A singular basis is ignored. `None` starts at $z = 0$.
    pub start: Option<Vec<bool>>,
    /// Residual above which the final basis is factored again and its solution is corrected in twice the
    /// precision, in \[0, 1). With 0 this is always done.
    pub refine_above: f64,
    /// Largest number of attempts, at least 1. Each costs about as much as the first. See [`Attempt`].
    pub max_attempts: usize,
    /// True if exact arithmetic is used: to prove answers that are large compared with the data, and to decide
    /// problems that no path solves. Callers with their own check can set this to false. Then `Solved` only
    /// means that the backward error is small, and `Inaccurate` may mean that a row consists of rounding
    /// errors.
    pub proofs: bool,
}

impl LemkeOptions {
    /// Returns an error if an option that does not depend on the problem is out of range.
    fn check(&self) -> Result<(), LcpError> {
        let (what, value, allowed) = if !(self.refine_above >= 0.0 && self.refine_above < 1.0) {
            ("refine_above", self.refine_above, "in [0, 1)")
        } else if self.max_attempts == 0 {
            ("max_attempts", 0.0, "at least 1")
        } else {
            return Ok(());
        };
        Err(LcpError::OutOfRange {
            what,
            value,
            allowed,
        })
    }
}

carom_numeric::setters!(LemkeOptions {
    /// Returns the options with another limit on the pivots of all attempts.
    with_max_pivots: max_pivots, Option<u64>;
    /// Returns the options with another limit on the multiply-adds of all attempts.
    with_max_work: max_work, u64;
    /// Returns the options with another covering vector (n entries, positive).
    with_cover: cover, Option<Vec<f64>>;
    /// Returns the options with another basis from which the search starts (n entries, `true` where $z_i$ is basic).
    with_start: start, Option<Vec<bool>>;
    /// Returns the options with another residual, in \[0, 1), above which the solution is corrected.
    with_refine_above: refine_above, f64;
    /// Returns the options with another limit on the attempts, at least 1.
    with_max_attempts: max_attempts, usize;
    /// Returns the options with or without proofs in exact arithmetic.
    with_proofs: proofs, bool;
});

impl Default for LemkeOptions {
    fn default() -> Self {
        Self {
            max_pivots: None,
            max_work: DEFAULT_MAX_WORK,
            cover: None,
            start: None,
            refine_above: 1e-14,
            max_attempts: usize::MAX,
            proofs: true,
        }
    }
}

/// Attempt of Lemke's method that gave the answer to a linear complementarity problem. The variants are in the
/// order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Attempt {
    /// No pivot was needed: $q \ge 0$, or the basis from which the solve started is that of the solution.
    Immediate,
    /// The problem as given, scaled by one power of two.
    First,
    /// The problem with rows and columns scaled by powers of two.
    Equilibrated,
    /// Arithmetic with twice the precision, with a new factorization.
    DoublePrecision,
    /// Rational arithmetic: all complementary cones (n up to 8), or feasibility (n up to 40).
    Exact,
}

impl Attempt {
    fn of_first(n_pivots: u64) -> Self {
        match n_pivots {
            0 => Self::Immediate,
            _ => Self::First,
        }
    }

    /// Returns the identifier of the attempt in records, in kebab case, for example `first` or
    /// `double-precision`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::First => "first",
            Self::Equilibrated => "equilibrated",
            Self::DoublePrecision => "double-precision",
            Self::Exact => "exact",
        }
    }
}

/// Report of [`Lemke::solve_into`] about the solution of a linear complementarity problem: status, residuals and work.
/// The variables $z$ and $w$ themselves are in the [`LemkeWorkspace`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LemkeReport {
    /// Outcome of the solve.
    pub status: LcpStatus,
    /// Residuals of the answer in the original problem.
    pub certificate: Certificate,
    /// Number of pivots of all attempts.
    pub n_pivots: u64,
    /// Attempt that gave the answer.
    pub attempt: Attempt,
    /// True if the answer is heavy, see [`LcpSolution::is_heavy`]. Always `false` without
    /// [`proofs`](LemkeOptions::proofs).
    pub is_heavy: bool,
    /// Kind of proof on which the status rests; `None` if there is no proof.
    pub proof: Option<Proof>,
    /// Budget that was exhausted, if the status is [`LcpStatus::IterationLimit`].
    pub limit: Option<Limit>,
}

/// Reusable memory of [`Lemke`]'s method for linear complementarity problems. The workspace also stores the variables
/// $z$ and $w$ of the last solve.
///
/// No memory is allocated for a problem that is not larger than an earlier one. There are three exceptions: the search
/// is repeated in twice the precision; a secondary ray is checked with exact sums; or n exceeds 512 and the number of
/// pivots is very large.
#[derive(Clone, Debug)]
pub struct LemkeWorkspace {
    /// Dimension up to which nothing has to be allocated.
    room: usize,
    tableau: Tableau<f64>,
    /// Tableau of the attempt in twice the precision; empty until it is needed.
    double: Option<Box<Tableau<Double>>>,
    answers: Answers,
}

/// Best answer so far, and a second one for comparison.
#[derive(Clone, Debug)]
struct Answers {
    z: Vec<f64>,
    w: Vec<f64>,
    /// Sums of the magnitudes of the terms of each row.
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
    /// Creates a workspace for Lemke's method, without any memory allocated.
    pub fn new() -> Self {
        Self {
            room: 0,
            tableau: Tableau::new(),
            double: None,
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

    /// Sets the length of the vectors of this workspace to `n` rows. The entries are unspecified.
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

    /// Returns the variables $z$ of the linear complementarity problem solved last (n entries).
    #[inline]
    pub fn z(&self) -> &[f64] {
        &self.answers.z
    }

    /// Returns the complementary variables $w = Mz + q$ of the linear complementarity problem solved last (n
    /// entries), evaluated with the original matrix $M$ and vector $q$.
    #[inline]
    pub fn w(&self) -> &[f64] {
        &self.answers.w
    }

    /// Returns the complementary basis at the end of the last solve (n entries): `true` if $z_i$ is basic, `false` if
    /// $w_i$ is. The solve of a similar problem can start from this basis ([`LemkeOptions::start`]).
    #[inline]
    pub fn basis(&self) -> &[bool] {
        &self.answers.basis
    }

    /// Returns the proof that the problem solved last has no solution: a vector $u \ge 0$ (n entries) with
    /// $M^Tu \le 0$ and $q^Tu < 0$. The slice is empty unless that solve ended with [`Proof::Farkas`].
    #[inline]
    pub fn farkas(&self) -> &[f64] {
        &self.answers.farkas
    }
}

/// Lemke's method for linear complementarity problems, with a lexicographic ratio test, a final check of the
/// answer, and further attempts if the check fails.
///
/// # Examples
///
/// Solving several problems without allocation, each from the last basis:
///
/// ```
/// use carom_lcp::{LcpRef, LcpStatus, Lemke, LemkeWorkspace};
/// let (mut lemke, mut workspace) = (Lemke::default(), LemkeWorkspace::new());
/// let matrix = [2.0, 1.0, 1.0, 2.0];
/// lemke.solve_into(LcpRef::new(&matrix, &[-5.0, -6.0])?, &mut workspace)?;
/// lemke.options.start = Some(workspace.basis().to_vec());
/// let problem = LcpRef::new(&matrix, &[-5.1, -6.0])?;
/// let report = lemke.solve_into(problem, &mut workspace)?;
/// assert_eq!((report.status, report.n_pivots), (LcpStatus::Solved, 0));
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
///
/// Lemke, *Bimatrix equilibrium points and mathematical programming*, 1965; Cottle, Pang & Stone,
/// *The linear complementarity problem*, 1992, Algorithms 4.4.5 and 4.9.3.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Lemke {
    /// Options of the method.
    pub options: LemkeOptions,
}

carom_numeric::setters!(Lemke {
    /// Sets the options of the method.
    with_options: options, LemkeOptions;
});

/// For problems with at most eight rows, this method also decides if a solution exists.
impl LcpSolver for Lemke {
    fn name(&self) -> &'static str {
        "lemke"
    }

    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`] and [`LcpError::InvalidCover`] for the covering vector and the start,
    /// [`LcpError::OutOfRange`] for other options.
    fn solve_view(&self, problem: LcpRef<'_>) -> Result<LcpSolution, LcpError> {
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        self.solve_within(problem, &mut work)
    }
}

impl Lemke {
    /// Solves a linear complementarity problem by Lemke's method with the remaining budget `work`, which is shared
    /// with other methods. The budgets in the options are not used.
    pub(crate) fn solve_within(
        &self,
        problem: LcpRef<'_>,
        work: &mut Work,
    ) -> Result<LcpSolution, LcpError> {
        self.check(problem.dim())?;
        let mut workspace = LemkeWorkspace::new();
        let report = self.search(problem, &mut workspace, work);
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

    /// Solves a linear complementarity problem by Lemke's method with the memory of `workspace`, which holds
    /// the variables $z$ and $w$ afterwards.
    ///
    /// # Errors
    ///
    /// The errors of [`solve_view`](LcpSolver::solve_view).
    pub fn solve_into(
        &self,
        problem: LcpRef<'_>,
        workspace: &mut LemkeWorkspace,
    ) -> Result<LemkeReport, LcpError> {
        self.check(problem.dim())?;
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        Ok(self.search(problem, workspace, &mut work))
    }

    /// Returns an error if an option is out of range, or if the covering vector or the start does not fit a problem of `n` rows.
    fn check(&self, n: usize) -> Result<(), LcpError> {
        self.options.check()?;
        let fits = |what, found| {
            if found == n {
                return Ok(());
            }
            Err(LcpError::DimensionMismatch {
                what,
                expected: n,
                found,
            })
        };
        if let Some(start) = &self.options.start {
            fits("start", start.len())?;
        }
        let Some(cover) = &self.options.cover else {
            return Ok(());
        };
        fits("covering vector", cover.len())?;
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
        workspace: &mut LemkeWorkspace,
        work: &mut Work,
    ) -> LemkeReport {
        workspace.resize(problem.dim());
        workspace.answers.farkas.clear();
        let start = self.options.start.as_deref();
        Search::new(&self.options, problem, work).run(start, workspace)
    }
}
