//! Lemke's method.
//!
//! The method follows a path of almost complementary bases of $w - Mz - dz_0 = q$ from
//! $z_0$ large to $z_0 = 0$. See the [crate documentation](crate) for the theory.

mod etas;
mod scales;
mod small;
mod tableau;

use crate::certificate::{Assessment, Certificate, assess};
use crate::enumerate::enumerate;
use crate::farkas::proves_infeasible;
use crate::problem::bounded;
use crate::scalar::{Double, Scalar};
use crate::{Lcp, LcpError, LcpRef, LcpSolution, LcpStatus};
use carom_numeric::random::generic;
use nalgebra::DVector;
use scales::{Scales, Scaling};
use small::{SMALL_DIM, Small};
use tableau::{PathEnd, Tableau, Thresholds};

/// Above this residual the next attempt is made; the best answer is kept.
const GOOD_RESIDUAL: f64 = 1e-12;

/// Up to this dimension all complementary bases are tried when every path has failed.
const ENUMERATE_DIM: usize = 8;

/// Numeric knobs of [`Lemke`].
#[derive(Clone, Debug, PartialEq)]
pub struct LemkeOptions {
    /// Pivots allowed in one attempt. `None`: $2^{n+1}$ for n up to 16, which is enough for every
    /// known exponential family, else $50n + 2^{14}$. With a number, reaching it ends the search.
    pub max_pivots: Option<usize>,
    /// Covering vector $d > 0$ (n) of the first attempt, in the units of $w$. `None`: ones.
    pub cover: Option<Vec<f64>>,
    /// Residual above which the final basis is factored again and its solution corrected in
    /// twice the precision. 0 corrects always.
    pub refine_above: f64,
    /// Attempts allowed, at least 1; each costs about as much as the first. See [`Attempt`].
    pub max_attempts: usize,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        Self {
            max_pivots: None,
            cover: None,
            refine_above: 1e-14,
            max_attempts: usize::MAX,
        }
    }
}

/// Which attempt gave the answer. They are made in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Attempt {
    /// $q \ge 0$, or the basis that was handed in: no pivot.
    Immediate,
    /// As posed, up to one power of two.
    First,
    /// Rows and columns scaled by powers of two.
    Equilibrated,
    /// Another covering vector, with frequent factorizations.
    OtherCover,
    /// Numbers of twice the precision, refactored.
    DoublePrecision,
    /// All complementary bases (n up to 8).
    Enumeration,
}

impl Attempt {
    fn of_first(n_pivots: usize) -> Self {
        match n_pivots {
            0 => Self::Immediate,
            _ => Self::First,
        }
    }

    /// Stable kebab-case identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::First => "first",
            Self::Equilibrated => "equilibrated",
            Self::OtherCover => "other-cover",
            Self::DoublePrecision => "double-precision",
            Self::Enumeration => "enumeration",
        }
    }
}

/// How a solve ended; the vectors are in the workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LemkeReport {
    /// How it ended.
    pub status: LcpStatus,
    /// Residuals of the answer on the problem as given.
    pub certificate: Certificate,
    /// Pivots of all attempts.
    pub n_pivots: usize,
    /// The attempt that gave the answer.
    pub attempt: Attempt,
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
    z: Vec<f64>,
    w: Vec<f64>,
    /// Sizes of the terms of each row.
    terms: Vec<f64>,
    z_other: Vec<f64>,
    w_other: Vec<f64>,
    scales: Scales,
    basis: Vec<bool>,
    cover: Vec<f64>,
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
            z: Vec::new(),
            w: Vec::new(),
            terms: Vec::new(),
            z_other: Vec::new(),
            w_other: Vec::new(),
            scales: Scales::new(),
            basis: Vec::new(),
            cover: Vec::new(),
        }
    }

    /// Room for n rows; entries are unspecified.
    #[inline]
    fn resize(&mut self, n: usize) {
        if n > self.room {
            self.make_room(n);
        }
        if self.z.len() != n {
            for vector in [&mut self.z, &mut self.w, &mut self.terms] {
                vector.resize(n, 0.0);
            }
            self.basis.resize(n, false);
        }
    }

    #[cold]
    fn make_room(&mut self, n: usize) {
        self.room = n;
        self.tableau.reserve(n);
        for vector in [
            &mut self.z,
            &mut self.w,
            &mut self.terms,
            &mut self.z_other,
            &mut self.w_other,
            &mut self.cover,
        ] {
            tableau::reserve(vector, n);
        }
        tableau::reserve(&mut self.basis, n);
        self.scales.reserve(n);
    }

    /// The variables $z$ of the last solve (n).
    #[inline]
    pub fn z(&self) -> &[f64] {
        &self.z
    }

    /// $w = Mz + q$ of the last solve (n), evaluated from the problem as given.
    #[inline]
    pub fn w(&self) -> &[f64] {
        &self.w
    }

    /// Which $z_i$ are basic at the end of the last solve (n): a start for a similar problem.
    #[inline]
    pub fn basis(&self) -> &[bool] {
        &self.basis
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

/// The solution of a complementary basis, `true` where $z_i$ is basic, to the last digits, and the
/// larger of its residuals as given and in equilibrated variables. `None` if the basis is singular
/// to working precision. Negative entries are set to zero: the residual tells.
pub(crate) fn basic_solution<'w>(
    problem: LcpRef<'_>,
    basis: &[bool],
    workspace: &'w mut LemkeWorkspace,
) -> Option<(&'w [f64], f64)> {
    let n = problem.dim();
    workspace.resize(n);
    let LemkeWorkspace {
        tableau,
        z,
        w,
        terms,
        scales,
        ..
    } = workspace;
    tableau.pose(problem, Scaling::Equilibrated);
    let is_regular = tableau.start_from(problem, basis, thresholds::<f64>(&FIRST, n))
        && tableau.refine(problem, z);
    if !is_regular {
        return None;
    }
    let found = assess(problem, z, w, terms);
    let quality = Quality::new(problem, &found, scales, z, w, terms);
    Some((z, quality.worst()))
}

/// What one attempt does differently.
struct Plan {
    attempt: Attempt,
    scaling: Scaling,
    /// Seed of the covering vector; 0 for ones.
    cover: u64,
    pivot: f64,
    refactor: usize,
}

/// Attempts after the first, before twice the precision.
const PLANS: [Plan; 4] = [
    Plan {
        attempt: Attempt::Equilibrated,
        scaling: Scaling::Equilibrated,
        cover: 0,
        pivot: 1e-13,
        refactor: 0,
    },
    Plan {
        attempt: Attempt::OtherCover,
        scaling: Scaling::Equilibrated,
        cover: 1,
        pivot: 1e-11,
        refactor: 0,
    },
    Plan {
        attempt: Attempt::OtherCover,
        scaling: Scaling::Equilibrated,
        cover: 2,
        pivot: 1e-9,
        refactor: 4,
    },
    Plan {
        attempt: Attempt::OtherCover,
        scaling: Scaling::Uniform,
        cover: 3,
        pivot: 1e-12,
        refactor: 1,
    },
];

/// The last attempt.
const DOUBLE: Plan = Plan {
    attempt: Attempt::DoublePrecision,
    scaling: Scaling::Equilibrated,
    cover: 0,
    pivot: 1e-12,
    refactor: 0,
};

const FIRST: Plan = Plan {
    attempt: Attempt::First,
    scaling: Scaling::Uniform,
    cover: 0,
    pivot: 1e-12,
    refactor: 0,
};

impl Lemke {
    /// Solves a problem.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`] and [`LcpError::InvalidCover`] for the covering vector.
    pub fn solve(&self, problem: &Lcp) -> Result<LcpSolution, LcpError> {
        let mut workspace = LemkeWorkspace::new();
        let report = self.solve_into(problem.view(), &mut workspace)?;
        Ok(LcpSolution {
            status: report.status,
            z: DVector::from_vec(workspace.z),
            w: DVector::from_vec(workspace.w),
            certificate: report.certificate,
            n_pivots: report.n_pivots,
        })
    }

    /// Solves a problem in a workspace, which then holds $z$ and $w$.
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve).
    pub fn solve_into(
        &self,
        problem: LcpRef<'_>,
        workspace: &mut LemkeWorkspace,
    ) -> Result<LemkeReport, LcpError> {
        self.check_cover(problem.dim())?;
        Ok(self.search(problem, None, workspace))
    }

    /// Solves a problem from a complementary basis, `true` where $z_i$ is basic (n). If it is
    /// still the solution's, that costs one factorization and no pivot. A singular basis is
    /// ignored.
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve), and [`LcpError::DimensionMismatch`] for the basis.
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
        Ok(self.search(problem, Some(basis), workspace))
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

    fn limit(&self, n: usize) -> usize {
        match self.options.max_pivots {
            Some(limit) => limit,
            None if n <= 16 => (2usize << n).max(64),
            None => 50 * n + (1 << 14),
        }
    }

    fn search(
        &self,
        problem: LcpRef<'_>,
        basis: Option<&[bool]>,
        workspace: &mut LemkeWorkspace,
    ) -> LemkeReport {
        let n = problem.dim();
        workspace.resize(n);
        let is_small = basis.is_none() && n <= SMALL_DIM;
        if is_small && let Some(report) = self.solve_small(problem, workspace) {
            return report;
        }
        let mut search = Search {
            options: &self.options,
            problem,
            limit: self.limit(n),
            best: (Quality::of(Certificate::HOPELESS), Attempt::First),
            is_infeasible: false,
            is_ray: false,
            is_limit: false,
            n_pivots: 0,
        };
        if !search.first(basis, workspace) && self.options.max_attempts > 1 {
            search.again(workspace);
        }
        search.report()
    }

    /// The ordinary small problem; `None` if it is not one.
    #[inline]
    fn solve_small(
        &self,
        problem: LcpRef<'_>,
        workspace: &mut LemkeWorkspace,
    ) -> Option<LemkeReport> {
        let (certificate, n_pivots) = Small {
            thresholds: thresholds::<f64>(&FIRST, problem.dim()),
            cover: self.options.cover.as_deref(),
            max_pivots: self.limit(problem.dim()),
            max_residual: self.options.refine_above.min(GOOD_RESIDUAL),
            z: &mut workspace.z,
            w: &mut workspace.w,
            basis: &mut workspace.basis,
        }
        .solve(problem)?;
        Some(LemkeReport {
            status: LcpStatus::Solved,
            certificate,
            n_pivots,
            attempt: Attempt::of_first(n_pivots),
        })
    }
}

/// By what an answer is compared with those of other attempts.
#[derive(Clone, Copy, Debug)]
struct Quality {
    certificate: Certificate,
    /// The residual in equilibrated variables, unless every row holds by itself. It finds what
    /// the certificate overlooks: rows so small that anything counts as zero in them.
    equilibrated: f64,
}

impl Quality {
    /// Judges an answer; `scales` is scratch.
    #[inline]
    fn new(
        problem: LcpRef<'_>,
        found: &Assessment,
        scales: &mut Scales,
        z: &[f64],
        w: &[f64],
        terms: &[f64],
    ) -> Self {
        let mut quality = Self::of(found.certificate);
        if !found.holds_by_rows {
            scales.set(problem, Scaling::Equilibrated);
            quality.equilibrated = scales.equilibrated_residual(z, w, terms);
        }
        quality
    }

    fn of(certificate: Certificate) -> Self {
        Self {
            certificate,
            equilibrated: 0.0,
        }
    }

    fn worst(&self) -> f64 {
        self.certificate.residual.max(self.equilibrated)
    }
}

/// The attempts at one problem.
struct Search<'a> {
    options: &'a LemkeOptions,
    problem: LcpRef<'a>,
    limit: usize,
    /// The best answer so far, whose vectors are in the workspace.
    best: (Quality, Attempt),
    is_infeasible: bool,
    is_ray: bool,
    is_limit: bool,
    n_pivots: usize,
}

impl Search<'_> {
    /// The usual case. True if there is nothing left to do.
    fn first(&mut self, basis: Option<&[bool]>, workspace: &mut LemkeWorkspace) -> bool {
        let thresholds = thresholds::<f64>(&FIRST, self.problem.dim());
        let LemkeWorkspace {
            tableau,
            z,
            w,
            terms,
            scales,
            basis: last_basis,
            cover,
            ..
        } = workspace;
        tableau.pose(self.problem, FIRST.scaling);
        let is_warm =
            basis.is_some_and(|basis| tableau.start_from(self.problem, basis, thresholds));
        if !is_warm {
            if basis.is_some() {
                tableau.pose(self.problem, FIRST.scaling);
            }
            tableau.set_cover(self.options.cover.as_deref());
        }
        let end = tableau.follow(self.problem, thresholds, self.limit);
        self.n_pivots += tableau.n_pivots;
        tableau.write_variables(z);
        tableau.write_basis(last_basis);
        let quality = self.assess(end, tableau, scales, z, w, terms);
        self.best = (quality, Attempt::of_first(self.n_pivots));
        (end == PathEnd::Ray && self.proves_infeasible(tableau, cover))
            || self.settles(end, quality)
    }

    /// All that can still be tried. True if there is nothing left to do.
    fn again(&mut self, workspace: &mut LemkeWorkspace) -> bool {
        let plans = PLANS.iter().take(self.options.max_attempts - 1);
        for plan in plans {
            let mut tableau = std::mem::replace(&mut workspace.tableau, Tableau::new());
            let done = self.attempt(plan, &mut tableau, workspace);
            workspace.tableau = tableau;
            if done {
                return true;
            }
        }
        if self.options.max_attempts <= PLANS.len() + 1 {
            return false;
        }
        // Paths that are too long stay so with more digits.
        if !self.is_limit {
            let mut tableau = workspace
                .double
                .take()
                .unwrap_or_else(|| Box::new(Tableau::new()));
            let done = self.attempt(&DOUBLE, &mut tableau, workspace);
            workspace.double = Some(tableau);
            if done {
                return true;
            }
        }
        self.problem.dim() <= ENUMERATE_DIM && self.enumerate(workspace)
    }

    /// One attempt. True if it settles the problem.
    fn attempt<T: Scalar>(
        &mut self,
        plan: &Plan,
        tableau: &mut Tableau<T>,
        workspace: &mut LemkeWorkspace,
    ) -> bool {
        let n = self.problem.dim();
        tableau.pose(self.problem, plan.scaling);
        if plan.cover == 0 {
            tableau.set_cover(None);
        } else {
            spread(plan.cover, n, &mut workspace.cover);
            tableau.set_cover(Some(&workspace.cover));
        }
        let limit = match self.options.max_pivots {
            // Other paths are tried because they may be short.
            None if self.is_limit => self.limit.min(50 * n + 1000),
            _ => self.limit,
        };
        let end = tableau.follow(self.problem, thresholds::<T>(plan, n), limit);
        self.n_pivots += tableau.n_pivots;
        workspace.z_other.resize(n, 0.0);
        workspace.w_other.resize(n, 0.0);
        let LemkeWorkspace {
            z_other: z,
            w_other: w,
            terms,
            scales,
            ..
        } = workspace;
        tableau.write_variables(z);
        let quality = self.assess(end, tableau, scales, z, w, terms);
        if end == PathEnd::Ray && self.proves_infeasible(tableau, &mut workspace.cover) {
            return true;
        }
        if self.is_better(quality) {
            self.best = (quality, plan.attempt);
            tableau.write_basis(&mut workspace.basis);
            std::mem::swap(&mut workspace.z, &mut workspace.z_other);
            std::mem::swap(&mut workspace.w, &mut workspace.w_other);
        }
        self.settles(end, quality)
    }

    /// Tries all complementary bases.
    fn enumerate(&mut self, workspace: &mut LemkeWorkspace) -> bool {
        let Ok(all) = enumerate(self.problem) else {
            return false;
        };
        let residual = |s: &&LcpSolution| s.certificate.residual;
        let best = all
            .solutions
            .iter()
            .min_by(|a, b| residual(a).total_cmp(&residual(b)));
        match best {
            Some(solution) if solution.certificate.residual < self.best.0.worst() => {
                let quality = Quality::of(solution.certificate);
                self.best = (quality, Attempt::Enumeration);
                workspace.z.copy_from_slice(solution.z.as_slice());
                workspace.w.copy_from_slice(solution.w.as_slice());
                workspace.basis.clear();
                workspace.basis.extend(solution.z.iter().map(|z| *z > 0.0));
                true
            }
            _ => false,
        }
    }

    /// Certifies an answer, after corrections where it needs them.
    #[inline]
    fn assess<T: Scalar>(
        &self,
        end: PathEnd,
        tableau: &mut Tableau<T>,
        scales: &mut Scales,
        z: &mut [f64],
        w: &mut [f64],
        terms: &mut [f64],
    ) -> Quality {
        let mut found = assess(self.problem, z, w, terms);
        let is_fine = |found: &Assessment| {
            found.holds_by_rows && found.certificate.residual <= self.options.refine_above
        };
        if end == PathEnd::Complementary {
            // Rounding of a variable that is zero in exact arithmetic may be all there is in a
            // row without other terms.
            if !found.holds_by_rows && tableau.drop_noise(z) {
                found = assess(self.problem, z, w, terms);
            }
            if !is_fine(&found) && tableau.refine(self.problem, z) {
                found = assess(self.problem, z, w, terms);
            }
        }
        if !found.certificate.residual.is_finite() {
            // Beyond the range of numbers: not an answer, but no NaN either.
            z.iter_mut().for_each(|z| *z = bounded(*z));
            found = assess(self.problem, z, w, terms);
        }
        Quality::new(self.problem, &found, scales, z, w, terms)
    }

    fn is_better(&self, quality: Quality) -> bool {
        quality.worst() < self.best.0.worst()
    }

    fn settles(&mut self, end: PathEnd, quality: Quality) -> bool {
        match end {
            PathEnd::Ray => self.is_ray = true,
            PathEnd::Limit => self.is_limit = true,
            PathEnd::Complementary | PathEnd::Breakdown => {}
        }
        quality.worst() <= GOOD_RESIDUAL
            || (end == PathEnd::Limit && self.options.max_pivots.is_some())
    }

    fn proves_infeasible<T: Scalar>(
        &mut self,
        tableau: &Tableau<T>,
        direction: &mut Vec<f64>,
    ) -> bool {
        direction.clear();
        direction.resize(self.problem.dim(), 0.0);
        tableau.write_ray(direction);
        self.is_infeasible = proves_infeasible(self.problem, direction);
        self.is_infeasible
    }

    fn report(&self) -> LemkeReport {
        let claimed = if self.is_infeasible {
            LcpStatus::Infeasible
        } else if self.is_limit {
            LcpStatus::IterationLimit
        } else if self.is_ray {
            LcpStatus::Ray
        } else {
            LcpStatus::Inaccurate
        };
        LemkeReport {
            status: self.best.0.certificate.judge(claimed),
            certificate: self.best.0.certificate,
            n_pivots: self.n_pivots,
            attempt: self.best.1,
        }
    }
}

/// A path with the precision of `T` decides ties by what rounding can reach.
fn thresholds<T: Scalar>(plan: &Plan, n: usize) -> Thresholds {
    let digits = T::ROUNDOFF / f64::ROUNDOFF;
    Thresholds {
        pivot: plan.pivot * digits,
        tie: 8.0 * T::ROUNDOFF * (n + 8) as f64,
        refactor: plan.refactor,
    }
}

/// Entries in \[1, 2) that only the seed and the position decide: no two paths alike, and no two
/// rows tied.
fn spread(seed: u64, n: usize, cover: &mut Vec<f64>) {
    cover.clear();
    cover.extend((0..n).map(|i| generic(seed, i as u64)));
}
