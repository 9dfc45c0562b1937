//! All complementary bases of a small problem.

use crate::backward::{SOLVED_ERROR, backward_error};
use crate::enclosure::{Enclosed, enclose};
use crate::exact::{DECISIVE_DIM, Decision, Integers, Residues, Rounded, Support};
use crate::exact::{decide, solve_support};
use crate::gate::{judged, proven};
use crate::lemke::{basic_solution, signed_solution};
use crate::small_enclosure::enclose_small;
use crate::work::{DEFAULT_MAX_WORK, Limit, Work};
use crate::{LcpError, LcpRef, LcpSolution, LcpStatus, LemkeWorkspace, Proof};
use nalgebra::{DMatrix, DVector};
use std::collections::HashMap;

/// Largest dimension: 65 536 bases.
pub const MAX_ENUMERATE_DIM: usize = 16;

/// A pivot below this fraction of the largest needs exact arithmetic to tell it from zero.
const RANK: f64 = 1e-12;

/// Below this fraction of the largest an entry may be rounding.
const NOISE: f64 = 1e-14;

/// Two solutions closer than this are the same.
const SAME: f64 = 1e-9;

/// Every basic solution of a problem, and how they hang together.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumeration {
    /// The distinct basic solutions, in the order of their bases (the basis of all $w$ first,
    /// $z_0$ toggled fastest); every one passes the gate of
    /// [`LcpStatus::Solved`](crate::LcpStatus::Solved). If there is no basic one, some solution of a
    /// singular basis.
    pub solutions: Vec<LcpSolution>,
    /// True if all bases were tried: false if a budget was reached.
    pub is_complete: bool,
    /// The work budget, if it was reached.
    pub limit: Option<Limit>,
    /// Proof that no solution exists, if the search is complete.
    pub proof: Option<Proof>,
    /// $u$ (n) of [`Proof::Farkas`], else empty.
    pub farkas: Vec<f64>,
    /// Pairs of solutions, each complementary to the other: every point between them is a
    /// solution too.
    pub segments: Vec<(usize, usize)>,
    /// Directions $u \ge 0$ of largest entry 1 with $Mu \ge 0$ and $u^TMu = 0$: basic solutions
    /// for $q = 0$.
    pub directions: Vec<DVector<f64>>,
    /// Solution and direction: every point of the ray from one along the other is a solution.
    pub rays: Vec<(usize, usize)>,
    /// Bases that are singular, of those that were tried.
    pub n_singular: usize,
    /// Bases that were tried, out of $2^n$.
    pub n_bases: usize,
}

/// Tries all $2^n$ complementary bases, with default budgets.
///
/// A problem whose matrix is nondegenerate (no singular basis) has no other solutions than these.
///
/// # Errors
///
/// [`LcpError::TooLarge`] beyond [`MAX_ENUMERATE_DIM`].
///
/// # Examples
///
/// Two identical contacts share one impulse in any way: two basic solutions and all between.
///
/// ```
/// use carom_lcp::{Lcp, enumerate};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![1.0, 1.0; 1.0, 1.0], dvector![-1.0, -1.0])?;
/// let all = enumerate(lcp.view())?;
/// assert_eq!((all.solutions.len(), all.segments.len(), all.rays.len()), (2, 1, 0));
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
pub fn enumerate(problem: LcpRef<'_>) -> Result<Enumeration, LcpError> {
    Enumerate::default().solve(problem)
}

/// [`enumerate`](fn@enumerate) within budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enumerate {
    /// Solutions listed, at least 1.
    pub max_solutions: usize,
    /// Multiply-adds allowed, as [`LemkeOptions::max_work`](crate::LemkeOptions::max_work).
    pub max_work: u64,
}

impl Default for Enumerate {
    fn default() -> Self {
        Self {
            max_solutions: 1000,
            max_work: DEFAULT_MAX_WORK,
        }
    }
}

impl Enumerate {
    /// Tries all complementary bases until a budget is reached.
    ///
    /// # Errors
    ///
    /// [`LcpError::TooLarge`] beyond [`MAX_ENUMERATE_DIM`].
    pub fn solve(&self, problem: LcpRef<'_>) -> Result<Enumeration, LcpError> {
        self.within(problem, &mut Work::new(self.max_work, None))
    }

    /// Enumeration within the rest of a budget.
    pub(crate) fn within(
        &self,
        problem: LcpRef<'_>,
        work: &mut Work,
    ) -> Result<Enumeration, LcpError> {
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
            let is_full = visitor.solutions.len() >= self.max_solutions.max(1);
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

/// Positive entries of $z$ and of $w$, one bit each.
type Signs = (u32, u32);

/// Each complementary to the other.
fn crosses(a: Signs, b: Signs) -> bool {
    a.0 & b.1 == 0 && b.0 & a.1 == 0
}

impl Rounded {
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
    /// Solutions by the positive entries of $z$: equal solutions have the same.
    by_support: HashMap<u32, Vec<usize>>,
    solutions: Vec<(LcpSolution, Signs)>,
    directions: Vec<(DVector<f64>, Signs)>,
    n_singular: usize,
}

impl Visitor<'_> {
    /// Tries a basis. False if the budget is used up.
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

    /// Decides a basis by verified bounds. False if a sign is zero to working precision.
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

    /// Decides a basis that is regular to working precision by the backward error. False if it is singular.
    fn visit_in_doubles(&mut self, support: &[usize], basis: &[bool], work: &mut Work) -> bool {
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

    /// Decides a basis in rational arithmetic. False if the budget is used up.
    fn visit_exactly(&mut self, support: &[usize], basis: &[bool], work: &mut Work) -> bool {
        let problem = self.problem;
        let (integers, residues) = self.integers();
        if residues.nullity(support) > 1 {
            // Smaller supports have the directions.
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

    /// The problem in integers, made when it is needed first.
    fn integers(&mut self) -> &(Integers, Residues) {
        let problem = self.problem;
        self.integers.get_or_insert_with(|| {
            let integers = Integers::new(problem);
            let residues = Residues::new(&integers);
            (integers, residues)
        })
    }

    /// The block of a support with rows and columns at largest entry one, so that no unit decides
    /// what is singular.
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

    /// Keeps an answer beyond eight rows if it passes the gate.
    fn keep_solution(&mut self, mut z: DVector<f64>, work: &mut Work) {
        // Nearly all bases end here.
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

    /// Keeps a solution unless it is there already.
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

    /// Sets entries to zero that rounding alone has made positive, so that equal solutions of
    /// different bases have equal signs.
    fn drop_noise(&self, z: &mut DVector<f64>) {
        let largest = z.amax();
        for j in 0..z.len() {
            let entry = z[j];
            if entry > 0.0 && entry <= NOISE * largest {
                z[j] = 0.0;
                if backward_error(self.problem, z.as_slice()) > NOISE {
                    z[j] = entry;
                }
            }
        }
    }

    /// Keeps a direction of solutions, unless it is there already or doubles cannot hold it.
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

    /// No nonsingular basis has a solution: a singular one may.
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

/// The signs of $z$ (n) and of $w = Mz + q$, where $w_i$ counts as zero up to rounding of the terms
/// of its own row.
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

/// The signs of a solution whose signs are all known: positive where nothing makes them zero.
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

/// The smallest pivot of a square matrix under complete pivoting.
fn smallest_pivot(block: &DMatrix<f64>) -> f64 {
    let lu = block.clone().full_piv_lu();
    let pivots = lu.u().diagonal();
    pivots.iter().fold(f64::INFINITY, |m, u| m.min(u.abs()))
}
