//! Enumeration of all complementary bases of a small problem.

use crate::backward::{SOLVED_ERROR, backward_error};
use crate::enclosure::{Enclosed, enclose};
use crate::exact::{DECISIVE_DIM, Decision, Integers, Residues, Rounded, Support};
use crate::exact::{decide, solve_support};
use crate::gate::{certified, judged, proven};
use crate::lemke::{basic_solution, signed_solution};
use crate::small_enclosure::enclose_small;
use crate::work::{DEFAULT_MAX_WORK, Limit, Work};
use crate::{LcpError, LcpRef, LcpSolution, LcpSolver, LcpStatus, LemkeWorkspace, Proof};
use carom_numeric::decisions::{RANK, Sum};
use nalgebra::{DMatrix, DVector};
use std::collections::HashMap;

/// Largest dimension of a linear complementarity problem whose complementary bases are all tried. A problem of this
/// dimension has 65 536 bases ($2^{16}$).
pub const MAX_ENUMERATE_DIM: usize = 16;

/// Two solutions are equal if their entries differ by less than this, relative to each entry.
const SAME: f64 = 1e-9;

/// Result of [`Enumerate::all`]: all basic solutions of a linear complementarity problem, the segments of
/// solutions between two of them, and the rays of solutions that start at one of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Enumeration {
    /// Distinct basic solutions, in the order of their bases: the basis of all $w$ first, $z_0$ exchanged
    /// fastest. Every one passes the check for [`LcpStatus::Solved`](crate::LcpStatus::Solved). If no basic
    /// solution exists, one solution of a singular basis.
    pub solutions: Vec<LcpSolution>,
    /// True if all bases were tried, false if a budget was exhausted.
    pub is_complete: bool,
    /// Work budget that was exhausted; `None` if the budgets sufficed.
    pub limit: Option<Limit>,
    /// Proof that no solution exists, if all bases were tried.
    pub proof: Option<Proof>,
    /// Vector $u$ of [`Proof::Farkas`] (n entries); empty without such a proof.
    pub farkas: Vec<f64>,
    /// Pairs of solutions that are complementary to each other: every point between the two is also a solution.
    pub segments: Vec<(usize, usize)>,
    /// Directions $u \ge 0$ with largest entry 1, $Mu \ge 0$ and $u^TMu = 0$: basic solutions for $q = 0$.
    pub directions: Vec<DVector<f64>>,
    /// Pairs of a solution and a direction: every point of the ray from the solution along the direction is a
    /// solution.
    pub rays: Vec<(usize, usize)>,
    /// Number of tried bases that are singular.
    pub n_singular: usize,
    /// Number of bases that were tried, out of $2^n$.
    pub n_bases: usize,
}

/// Enumeration of all $2^n$ complementary bases of a small problem: for each index, $z_i$ or $w_i$ is basic. Options: largest number
/// of solutions and of operations.
///
/// If the matrix is nondegenerate (no singular basis), the problem has no other solutions than the basic ones.
///
/// # Examples
///
/// Two identical contacts can share one impulse in any proportion: two basic solutions, and all points between
/// them.
///
/// ```
/// use carom_lcp::{Enumerate, Lcp};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![1.0, 1.0; 1.0, 1.0], dvector![-1.0, -1.0])?;
/// let all = Enumerate::default().all(lcp.view())?;
/// assert_eq!((all.solutions.len(), all.segments.len(), all.rays.len()), (2, 1, 0));
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Enumerate {
    /// Largest number of solutions that are listed, at least 1.
    pub max_solutions: usize,
    /// Largest number of multiply-adds, like [`LemkeOptions::max_work`](crate::LemkeOptions::max_work).
    pub max_work: u64,
}

carom_numeric::setters!(Enumerate {
    /// Sets the largest number of solutions that are listed, at least 1.
    with_max_solutions: max_solutions, usize;
    /// Sets the largest number of multiply-adds.
    with_max_work: max_work, u64;
});

impl Default for Enumerate {
    fn default() -> Self {
        Self {
            max_solutions: 1000,
            max_work: DEFAULT_MAX_WORK,
        }
    }
}

impl Enumerate {
    /// Finds basic solutions of a linear complementarity problem: tries all complementary bases (for each
    /// index, $z_i$ or $w_i$ is basic) until a budget of these options is exhausted.
    ///
    /// # Errors
    ///
    /// [`LcpError::TooLarge`] beyond [`MAX_ENUMERATE_DIM`], [`LcpError::OutOfRange`] if no solution may be listed.
    pub fn all(&self, problem: LcpRef<'_>) -> Result<Enumeration, LcpError> {
        self.within(problem, &mut Work::new(self.max_work, None))
    }

    /// Tries all complementary bases of a linear complementarity problem (for each index $z_i$ or $w_i$ is basic)
    /// and returns all solutions found. `work` is the remaining budget of multiply-adds, shared with other methods.
    pub(crate) fn within(
        &self,
        problem: LcpRef<'_>,
        work: &mut Work,
    ) -> Result<Enumeration, LcpError> {
        if self.max_solutions == 0 {
            return Err(LcpError::OutOfRange {
                what: "max_solutions",
                value: 0.0,
                allowed: "at least 1",
            });
        }
        let n = problem.dim();
        if n > MAX_ENUMERATE_DIM {
            return Err(LcpError::TooLarge {
                n,
                max: MAX_ENUMERATE_DIM,
            });
        }
        let mut visitor = Visitor {
            problem,
            matrix: DMatrix::from_column_slice(n, n, problem.matrix()),
            integers: None,
            workspace: LemkeWorkspace::new(),
            by_support: HashMap::new(),
            solutions: Vec::new(),
            directions: Vec::new(),
            n_singular: 0,
        };
        let (mut n_bases, mut is_complete) = (0, true);
        for mask in 0..1u32 << n {
            let is_full = visitor.solutions.len() >= self.max_solutions;
            if is_full || !visitor.visit(mask, work) {
                is_complete = false;
                break;
            }
            n_bases += 1;
        }
        let mut all = Enumeration {
            solutions: Vec::new(),
            is_complete,
            limit: None,
            proof: None,
            farkas: Vec::new(),
            segments: Vec::new(),
            directions: Vec::new(),
            rays: Vec::new(),
            n_singular: visitor.n_singular,
            n_bases,
        };
        if is_complete && visitor.solutions.is_empty() {
            visitor.settle(&mut all, work);
        }
        visitor.connect(&mut all, work);
        all.directions = visitor.directions.into_iter().map(|(u, _)| u).collect();
        all.solutions = visitor.solutions.into_iter().map(|(s, _)| s).collect();
        all.limit = work.limit();
        Ok(all)
    }
}

/// Gives the first solution in the order of the bases, without a search for others.
impl LcpSolver for Enumerate {
    fn name(&self) -> &'static str {
        "enumerate"
    }

    fn solve_view(&self, problem: LcpRef<'_>) -> Result<LcpSolution, LcpError> {
        let first = Self {
            max_solutions: self.max_solutions.min(1),
            ..*self
        };
        first.all(problem).map(|all| all.first(problem))
    }
}

impl Enumeration {
    /// Returns the first solution of the problem that was enumerated. Without a solution, $z = 0$ with the status that tells why. The
    /// pivots of the answer are the bases that were tried.
    pub fn first(&self, problem: LcpRef<'_>) -> LcpSolution {
        let n_pivots = self.n_bases as u64;
        if let Some(first) = self.solutions.first() {
            return LcpSolution {
                n_pivots,
                ..first.clone()
            };
        }
        let status = match (self.proof, self.limit) {
            (Some(_), _) => LcpStatus::Infeasible,
            (_, Some(_)) => LcpStatus::IterationLimit,
            _ => LcpStatus::Inaccurate,
        };
        LcpSolution {
            proof: self.proof,
            farkas: self.farkas.clone(),
            limit: self.limit,
            n_pivots,
            ..certified(problem, DVector::zeros(problem.dim()), status)
        }
    }
}

/// Bit sets of the positive entries of $z$ and of $w$.
type Signs = (u32, u32);

/// True if two solutions are complementary to each other: no index has a positive $z$ in one and a positive $w$ in
/// the other. All points of the segment between them are then solutions.
fn crosses(a: Signs, b: Signs) -> bool {
    a.0 & b.1 == 0 && b.0 & a.1 == 0
}

impl Rounded {
    /// Returns the bit sets of the positive entries of $z$ (n entries) and of $w$ in this exact solution.
    fn signs(&self) -> Signs {
        let n = self.z.len();
        let bits = |part: &[bool]| {
            let positive = part.iter().enumerate().filter(|(_, is)| **is);
            positive.fold(0, |bits, (i, _)| bits | 1u32 << i)
        };
        let (w, z) = self.is_positive.split_at(n);
        (bits(z), bits(w))
    }
}

struct Visitor<'a> {
    problem: LcpRef<'a>,
    matrix: DMatrix<f64>,
    integers: Option<(Integers, Residues)>,
    workspace: LemkeWorkspace,
    /// Indices of solutions by the positive entries of $z$: equal solutions have equal sets.
    by_support: HashMap<u32, Vec<usize>>,
    solutions: Vec<(LcpSolution, Signs)>,
    directions: Vec<(DVector<f64>, Signs)>,
    n_singular: usize,
}

impl Visitor<'_> {
    /// Decides if one complementary basis has a nonnegative solution, and stores this solution. Bit $i$ of `mask`
    /// is set where $z_i$ is basic. Returns false if the budget `work` is exhausted.
    fn visit(&mut self, mask: u32, work: &mut Work) -> bool {
        let n = self.problem.dim();
        let support: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
        let basis: Vec<bool> = (0..n).map(|i| mask >> i & 1 == 1).collect();
        let k = support.len();
        if !work.spend((n * n + 2 * k * k * k) as u64) {
            return false;
        }
        let is_found = if n <= DECISIVE_DIM {
            self.visit_by_bounds(&basis, work)
        } else {
            self.visit_in_doubles(&support, &basis, work)
        };
        is_found || self.visit_exactly(&support, &basis, work)
    }

    /// Decides by proven error bounds if a complementary basis has a nonnegative solution, and stores this
    /// solution. `basis` is `true` where $z_i$ is basic. Returns false if the basis remains undecided: the basis is
    /// singular, a sign is zero to working precision, or the solution is inaccurate.
    fn visit_by_bounds(&mut self, basis: &[bool], work: &mut Work) -> bool {
        let problem = self.problem;
        let Some(z) = signed_solution(problem, basis, &mut self.workspace) else {
            return false;
        };
        let enclosed = match enclose_small(problem, basis, z) {
            Enclosed::Unknown => enclose(problem, basis, z),
            known => known,
        };
        if enclosed == Enclosed::Solution && backward_error(problem, z) <= SOLVED_ERROR {
            let solution = proven(problem, z.to_vec(), work.n_pivots);
            self.keep(solution, strict_signs(problem, basis));
            return true;
        }
        enclosed == Enclosed::NoSolution
    }

    /// Computes the solution of a complementary basis in double precision and stores the solution if the backward
    /// error is small. `support` lists the indices of the basic $z_i$, and `basis` is `true` there. Returns false
    /// if the basis is singular to working precision.
    fn visit_in_doubles(&mut self, support: &[usize], basis: &[bool], work: &mut Work) -> bool {
        // A smaller pivot may be zero: exact arithmetic decides.
        let is_regular = support.is_empty() || smallest_pivot(&self.block(support)) > RANK;
        if !is_regular {
            return false;
        }
        match basic_solution(self.problem, basis, &mut self.workspace) {
            Some(z) => {
                let z = DVector::from_column_slice(z);
                self.keep_solution(z, work);
                true
            }
            None => false,
        }
    }

    /// Decides in rational arithmetic if a complementary basis has a nonnegative solution, and stores this
    /// solution. `support` lists the indices of the basic $z_i$, and `basis` is `true` there. For a singular basis
    /// a direction of solutions is stored. Returns false if the budget `work` is exhausted.
    fn visit_exactly(&mut self, support: &[usize], basis: &[bool], work: &mut Work) -> bool {
        let problem = self.problem;
        let (integers, residues) = self.integers();
        if residues.nullity(support) > 1 {
            // The directions are found with smaller supports.
            self.n_singular += 1;
            return true;
        }
        match solve_support(integers, basis, work) {
            Support::Solution(found) if problem.dim() <= DECISIVE_DIM => {
                if backward_error(problem, &found.z) <= SOLVED_ERROR {
                    let signs = found.signs();
                    self.keep(proven(problem, found.z, work.n_pivots), signs);
                }
            }
            Support::Solution(found) => self.keep_solution(DVector::from_vec(found.z), work),
            Support::NoSolution => {}
            Support::Singular(direction) => {
                self.n_singular += 1;
                if let Some(direction) = direction {
                    self.keep_direction(&direction);
                }
            }
            Support::Undecided => return false,
        }
        true
    }

    /// Returns the problem converted to integers, and its residues modulo a prime. Integers and residues are
    /// computed at the first call.
    fn integers(&mut self) -> &(Integers, Residues) {
        let problem = self.problem;
        self.integers.get_or_insert_with(|| {
            let integers = Integers::new(problem);
            let residues = Residues::new(&integers);
            (integers, residues)
        })
    }

    /// Returns the principal submatrix of the rows and columns in `support`. Rows and columns of the submatrix are
    /// scaled to largest entry one, so that units do not decide which submatrices count as singular.
    fn block(&self, support: &[usize]) -> DMatrix<f64> {
        let k = support.len();
        let mut block = DMatrix::from_fn(k, k, |i, j| self.matrix[(support[i], support[j])]);
        for i in 0..k {
            let largest = block.row(i).amax();
            if largest > 0.0 {
                block.row_mut(i).unscale_mut(largest);
            }
        }
        for j in 0..k {
            let largest = block.column(j).amax();
            if largest > 0.0 {
                block.column_mut(j).unscale_mut(largest);
            }
        }
        block
    }

    /// Checks the answer `z` of a problem with more than eight rows, and stores it if it passes the final check of
    /// solutions. The check may spend part of the budget `work`.
    fn keep_solution(&mut self, mut z: DVector<f64>, work: &mut Work) {
        // Nearly all bases are rejected here.
        if backward_error(self.problem, z.as_slice()) > SOLVED_ERROR {
            return;
        }
        self.drop_noise(&mut z);
        let support: Vec<bool> = z.iter().map(|z| *z > 0.0).collect();
        let solution = judged(self.problem, z, &support, LcpStatus::Inaccurate, work);
        if solution.status == LcpStatus::Solved {
            let signs = signs(self.problem, solution.z.as_slice());
            self.keep(solution, signs);
        }
    }

    /// Stores a solution unless an equal one is already known. `signs` holds two bit sets: the positive entries of
    /// $z$, and those of $w = Mz + q$ in this solution.
    fn keep(&mut self, solution: LcpSolution, signs: Signs) {
        let known = self.by_support.entry(signs.0).or_default();
        let is_known = |index: &usize| {
            self.solutions.get(*index).is_some_and(|(known, _)| {
                let pairs = known.z.iter().zip(solution.z.iter());
                pairs
                    .into_iter()
                    .all(|(a, b)| (a - b).abs() <= SAME * a.max(*b))
            })
        };
        if !known.iter().any(is_known) {
            known.push(self.solutions.len());
            self.solutions.push((solution, signs));
        }
    }

    /// Sets entries of `z` to zero that are positive only by rounding errors. Equal solutions of different bases
    /// then have equal signs.
    fn drop_noise(&self, z: &mut DVector<f64>) {
        let largest = z.amax();
        for j in 0..z.len() {
            let entry = z[j];
            if entry > 0.0 && entry <= Sum::ROUNDING * largest {
                z[j] = 0.0;
                if backward_error(self.problem, z.as_slice()) > Sum::ROUNDING {
                    z[j] = entry;
                }
            }
        }
    }

    /// Stores a direction $u$ along which solutions extend to infinity: if $z$ is a solution, $z + su$ may be
    /// solutions for all $s > 0$. A direction that is already known, or inaccurate in double precision, is not stored.
    fn keep_direction(&mut self, direction: &Rounded) {
        let mut u = DVector::from_column_slice(&direction.z);
        let largest = u.amax();
        if largest <= 0.0 || !largest.is_finite() {
            return;
        }
        u.unscale_mut(largest);
        let zero = vec![0.0; self.problem.dim()];
        let Ok(homogeneous) = LcpRef::new(self.problem.matrix(), &zero) else {
            return;
        };
        let is_new = |(known, _): &(DVector<f64>, Signs)| (known - &u).amax() > SAME;
        if backward_error(homogeneous, u.as_slice()) <= SOLVED_ERROR
            && self.directions.iter().all(is_new)
        {
            self.directions.push((u, direction.signs()));
        }
    }

    /// Decides in rational arithmetic a problem for which no nonsingular basis has a solution. Stores the solution of
    /// a singular basis if there is one; otherwise stores in `all` the proof that no solution exists.
    fn settle(&mut self, all: &mut Enumeration, work: &mut Work) {
        let problem = self.problem;
        let (integers, _) = self.integers();
        let accept = |z: &[f64]| backward_error(problem, z) <= SOLVED_ERROR;
        match decide(problem, integers, accept, work) {
            Decision::Solved(z) => {
                let signs = signs(problem, &z);
                self.solutions
                    .push((proven(problem, z, work.n_pivots), signs));
            }
            Decision::Farkas(u) => {
                all.proof = Some(Proof::Farkas);
                all.farkas = u;
            }
            Decision::Bases => all.proof = Some(Proof::Bases),
            Decision::OutOfRange => {}
            Decision::Undecided => all.is_complete = false,
        }
    }

    fn connect(&self, all: &mut Enumeration, work: &mut Work) {
        let n = self.solutions.len();
        for (i, (_, a)) in self.solutions.iter().enumerate() {
            if !work.spend((n - i + self.directions.len()) as u64) {
                return;
            }
            let others = self.solutions.iter().enumerate().skip(i + 1);
            let linked = others.filter(|(_, (_, b))| crosses(*a, *b));
            all.segments.extend(linked.map(|(j, _)| (i, j)));
            let directions = self.directions.iter().enumerate();
            let linked = directions.filter(|(_, (_, b))| crosses(*a, *b));
            all.rays.extend(linked.map(|(j, _)| (i, j)));
        }
    }
}

/// Returns the bit sets of the positive entries of $z$ (n entries) and of $w = Mz + q$. $w_i$ counts as zero if it
/// is within the rounding error of the terms of its row.
fn signs(problem: LcpRef<'_>, z: &[f64]) -> Signs {
    let mut signs = (0, 0);
    for (i, q) in problem.vector().iter().enumerate() {
        let (mut w, mut size) = (*q, q.abs());
        for (j, z) in z.iter().enumerate() {
            let product = problem.column(j).get(i).map_or(0.0, |m| m * z);
            w += product;
            size += product.abs();
        }
        if z.get(i).is_some_and(|z| *z > 0.0) {
            signs.0 |= 1 << i;
        }
        if w > SOLVED_ERROR * size {
            signs.1 |= 1 << i;
        }
    }
    signs
}

/// Returns the bit sets of the positive entries of $z$ and of $w = Mz + q$ for the solution of a basis. The caller
/// must know that every basic variable is positive unless it is zero by definition. `basis` is `true` where $z_i$ is
/// basic; elsewhere $w_i$ is basic.
fn strict_signs(problem: LcpRef<'_>, basis: &[bool]) -> Signs {
    let mut signs = (0, 0);
    for (i, q) in problem.vector().iter().enumerate() {
        let mut basic = basis.iter().enumerate().filter(|(_, is_basic)| **is_basic);
        let mut has_terms = || basic.any(|(j, _)| problem.column(j).get(i) != Some(&0.0));
        if basis.get(i) == Some(&true) {
            signs.0 |= 1 << i;
        } else if *q > 0.0 || has_terms() {
            signs.1 |= 1 << i;
        }
    }
    signs
}

/// Returns the smallest absolute pivot of the LU factorization of a square matrix with complete pivoting.
fn smallest_pivot(block: &DMatrix<f64>) -> f64 {
    let lu = block.clone().full_piv_lu();
    let pivots = lu.u().diagonal();
    pivots.iter().fold(f64::INFINITY, |m, u| m.min(u.abs()))
}
