//! Attempts at one problem, from the cheapest to the most reliable, and the final check of every answer.

use super::scales::Scaling;
use super::small::Small;
use super::tableau::{PathEnd, Tableau, Thresholds};
use super::{Answers, Attempt, LemkeOptions, LemkeReport, LemkeWorkspace};
use crate::backward::{SOLVED_ERROR, backward_error};
use crate::balance::is_surely_light;
use crate::certificate::{Certificate, assess, certify};
use crate::enclosure::Enclosed;
use crate::exact::{DECISIVE_DIM, Decision, EXACT_DIM, Integers};
use crate::exact::{decide, feasibility};
use crate::farkas::proves_infeasible;
use crate::gate::{certify_nothing, is_doubtful, is_refuted, prove};
use crate::scalar::{Scalar, larger};
use crate::small_enclosure::MAX_SMALL_DIM;
use crate::small_enclosure::enclose_small;
use crate::work::{DOUBLE_COST, Work};
use crate::{LcpRef, LcpStatus, Limit, Proof};

/// Parameters of one attempt.
struct Plan {
    attempt: Attempt,
    scaling: Scaling,
    pivot: f64,
}

const FIRST: Plan = Plan {
    attempt: Attempt::First,
    scaling: Scaling::Uniform,
    pivot: 1e-12,
};

/// Parameters of the second attempt.
const EQUILIBRATED: Plan = Plan {
    attempt: Attempt::Equilibrated,
    scaling: Scaling::Equilibrated,
    pivot: 1e-13,
};

/// Parameters of the attempt in twice the precision, the last one in floating point.
const DOUBLE: Plan = Plan {
    attempt: Attempt::DoublePrecision,
    scaling: Scaling::Equilibrated,
    pivot: 1e-12,
};

/// Returns the accurate solution of a complementary basis (n entries), computed with a new factorization and iterative
/// refinement. `basis` is `true` where $z_i$ is basic and $w_i = (Mz + q)_i = 0$; elsewhere $z_i = 0$. Negative
/// entries are set to zero, and the caller must check if the result solves the problem. Returns `None` if the basis is
/// singular to working precision.
pub(crate) fn basic_solution<'w>(
    problem: LcpRef<'_>,
    basis: &[bool],
    workspace: &'w mut LemkeWorkspace,
) -> Option<&'w [f64]> {
    signed_solution(problem, basis, workspace)?;
    let z = &mut workspace.answers.z;
    for z in &mut *z {
        // NaN is kept.
        *z = larger(0.0, *z);
    }
    Some(z)
}

/// Returns the accurate solution of a complementary basis like [`basic_solution`], but keeps negative entries.
/// `basis` is `true` where $z_i$ is basic. Returns `None` if the basis is singular to working precision.
pub(crate) fn signed_solution<'w>(
    problem: LcpRef<'_>,
    basis: &[bool],
    workspace: &'w mut LemkeWorkspace,
) -> Option<&'w [f64]> {
    let n = problem.dim();
    workspace.resize(n);
    let LemkeWorkspace {
        tableau, answers, ..
    } = workspace;
    tableau.pose(problem, Scaling::Equilibrated);
    let is_regular = tableau.start_from(problem, basis, thresholds::<f64>(&FIRST, n))
        && tableau.solve_signed(problem, &mut answers.z);
    is_regular.then_some(&answers.z)
}

/// State of the attempts at one problem. The best answer so far is in the workspace.
pub(super) struct Search<'a> {
    options: &'a LemkeOptions,
    problem: LcpRef<'a>,
    work: &'a mut Work,
    certificate: Certificate,
    attempt: Attempt,
    is_heavy: bool,
    proof: Option<Proof>,
    /// True if an attempt ended with an answer that failed the final check.
    has_candidate: bool,
    is_ray: bool,
    /// True if an attempt ended because its path was too long.
    is_long: bool,
}

/// Answer before the final check.
struct Candidate<'w> {
    z: &'w mut Vec<f64>,
    w: &'w mut Vec<f64>,
    basis: &'w mut Vec<bool>,
    terms: &'w mut Vec<f64>,
}

impl<'a> Search<'a> {
    pub(super) fn new(options: &'a LemkeOptions, problem: LcpRef<'a>, work: &'a mut Work) -> Self {
        Self {
            options,
            problem,
            work,
            certificate: Certificate::HOPELESS,
            attempt: Attempt::First,
            is_heavy: false,
            proof: None,
            has_candidate: false,
            is_ray: false,
            is_long: false,
        }
    }

    pub(super) fn run(
        mut self,
        basis: Option<&[bool]>,
        workspace: &mut LemkeWorkspace,
    ) -> LemkeReport {
        let is_small = basis.is_none() && self.problem.dim() <= MAX_SMALL_DIM;
        if is_small && self.options.refine_above > 0.0 && self.small(&mut workspace.answers) {
            return self.report();
        }
        if !self.first(basis, workspace) && self.options.max_attempts > 1 {
            self.again(workspace);
        }
        self.report()
    }

    /// Solves a small problem by the fast version of Lemke's method, and writes the answer. Returns false if the
    /// problem needs the general version.
    #[inline]
    fn small(&mut self, answers: &mut Answers) -> bool {
        let n = self.problem.dim();
        let found = Small {
            thresholds: thresholds::<f64>(&FIRST, n),
            cover: self.options.cover.as_deref(),
            max_pivots: self.attempt_limit((n * n) as u64),
            max_residual: self.options.refine_above.min(SOLVED_ERROR),
            z: &mut answers.z,
            w: &mut answers.w,
            terms: &mut answers.terms,
            basis: &mut answers.basis,
        }
        .solve(self.problem);
        let Some(found) = found else {
            return false;
        };
        if self.options.proofs {
            // Problems that remain undecided need the general code.
            let is_proven =
                enclose_small(self.problem, &answers.basis, &answers.z) == Enclosed::Solution;
            if !is_proven {
                return false;
            }
            self.is_heavy = !found.is_light && answers.balance.is_heavy(self.problem, &answers.z);
        }
        let is_exact = self.options.proofs && (self.is_heavy || n <= DECISIVE_DIM);
        self.certificate = found.certificate;
        self.attempt = Attempt::of_first(found.n_pivots);
        self.proof = Some(if is_exact {
            Proof::Exact
        } else {
            Proof::Residual
        });
        self.work.n_pivots = found.n_pivots;
        true
    }

    /// Returns the largest number of pivots that one attempt may make. `each` is the number of multiply-adds of a
    /// pivot.
    fn attempt_limit(&self, each: u64) -> u64 {
        let n = self.problem.dim();
        let usual = match n {
            // After a path that was too long, other paths are tried because they may be short.
            _ if self.is_long => 50 * n as u64 + 1000,
            0..=16 => (2u64 << n).max(64),
            _ => 50 * n as u64 + (1 << 14),
        };
        let usual = match self.options.max_pivots {
            // The caller allows more than the usual number: a share of the budget.
            Some(_) => usual.max(self.work.left() / 16 / each.max(1)),
            None => usual,
        };
        self.work.pivots(each).min(usual)
    }

    /// Makes the first attempt to solve the problem by Lemke's method, from the complementary basis `basis` if it is
    /// given (`true` where $z_i$ is basic). Returns true if no further attempt is needed.
    fn first(&mut self, basis: Option<&[bool]>, workspace: &mut LemkeWorkspace) -> bool {
        let n = self.problem.dim();
        let thresholds = thresholds::<f64>(&FIRST, n);
        let tableau = &mut workspace.tableau;
        tableau.pose(self.problem, FIRST.scaling);
        let is_warm =
            basis.is_some_and(|basis| tableau.start_from(self.problem, basis, thresholds));
        if !is_warm {
            if basis.is_some() {
                tableau.pose(self.problem, FIRST.scaling);
            }
            tableau.set_cover(self.options.cover.as_deref());
        }
        let limit = self.attempt_limit((n * n) as u64);
        let end = tableau.follow(self.problem, thresholds, limit);
        self.certificate = Certificate::HOPELESS;
        let attempt = Attempt::of_first(tableau.n_pivots);
        self.finish(end, attempt, 1, tableau, &mut workspace.answers)
    }

    /// Makes further attempts to solve the problem by Lemke's method, until one of them decides the problem: equilibrated, in
    /// twice the precision, and in exact arithmetic.
    fn again(&mut self, workspace: &mut LemkeWorkspace) {
        let LemkeWorkspace {
            tableau, answers, ..
        } = workspace;
        if self.attempt(&EQUILIBRATED, 1, tableau, answers) || self.options.max_attempts <= 2 {
            return;
        }
        // A path that is too long stays too long with higher precision.
        if !self.is_long {
            let tableau = workspace
                .double
                .get_or_insert_with(|| Box::new(Tableau::new()));
            if self.attempt(&DOUBLE, DOUBLE_COST, tableau, &mut workspace.answers) {
                return;
            }
        }
        if self.options.proofs && self.problem.dim() <= EXACT_DIM {
            self.exactly(&mut workspace.answers);
        }
    }

    /// Makes one attempt to solve the problem by Lemke's method with the scaling and thresholds of
    /// `plan`. An operation of type `T` costs `cost` times one in double precision. `tableau` and `answers` are work
    /// buffers; `answers` receives the best answer. Returns true if no further attempt is needed.
    fn attempt<T: Scalar>(
        &mut self,
        plan: &Plan,
        cost: u64,
        tableau: &mut Tableau<T>,
        answers: &mut Answers,
    ) -> bool {
        let n = self.problem.dim();
        tableau.pose(self.problem, plan.scaling);
        tableau.set_cover(None);
        let limit = self.attempt_limit(cost * (n * n) as u64);
        let end = tableau.follow(self.problem, thresholds::<T>(plan, n), limit);
        self.finish(end, plan.attempt, cost, tableau, answers)
    }

    /// Finishes an attempt by Lemke's method, whose last state is `tableau`: charges its pivots to the budget and
    /// checks its answer. `end` is the reason why the path of pivots ended. An operation of type `T` costs `cost` times
    /// one in double precision. Returns true if no further attempt is needed.
    fn finish<T: Scalar>(
        &mut self,
        end: PathEnd,
        attempt: Attempt,
        cost: u64,
        tableau: &mut Tableau<T>,
        answers: &mut Answers,
    ) -> bool {
        let n = self.problem.dim();
        let each = cost * (n * n) as u64;
        self.work.spend_pivots(tableau.n_pivots, each);
        match end {
            PathEnd::Ray => self.is_ray = true,
            PathEnd::Limit if self.work.pivots(each) == 0 => {
                // The remaining budget is too small for a pivot.
                if self.work.limit().is_none() {
                    self.work.spend(each);
                }
            }
            PathEnd::Limit => self.is_long = true,
            PathEnd::Complementary | PathEnd::Breakdown => {}
        }
        if end == PathEnd::Ray {
            answers.cover.clear();
            answers.cover.resize(n, 0.0);
            tableau.write_ray(&mut answers.cover);
            if proves_infeasible(self.problem, &mut answers.cover) {
                self.proof = Some(Proof::Farkas);
                answers.farkas.clear();
                answers.farkas.extend_from_slice(&answers.cover);
            }
        }
        self.judge(end, attempt, tableau, answers);
        self.proof.is_some() || self.work.limit().is_some()
    }

    /// Checks the answer of an attempt by Lemke's method, whose last state is `tableau`. Stores the answer in `answers`
    /// if it is the best so far. `end` is the reason why the path of pivots ended.
    fn judge<T: Scalar>(
        &mut self,
        end: PathEnd,
        attempt: Attempt,
        tableau: &mut Tableau<T>,
        answers: &mut Answers,
    ) {
        let n = self.problem.dim();
        answers.z_other.resize(n, 0.0);
        answers.w_other.resize(n, 0.0);
        tableau.write_basis(&mut answers.basis_other);
        let mut candidate = Candidate {
            z: &mut answers.z_other,
            w: &mut answers.w_other,
            basis: &mut answers.basis_other,
            terms: &mut answers.terms,
        };
        let certificate = self.correct(end, tableau, &mut candidate);
        let error = certificate.backward_error;
        let is_first = self.certificate.backward_error == f64::INFINITY;
        if !error.is_finite() {
            // An overflow gives no answer.
            if is_first {
                let nothing = certify_nothing(self.problem, candidate.z, candidate.w);
                self.keep(nothing, attempt, answers);
            }
            return;
        }
        let (mut is_heavy, mut proof) = (false, None);
        if error <= SOLVED_ERROR && self.proof.is_none() {
            is_heavy = self.options.proofs
                && !is_surely_light(candidate.terms, self.problem.vector())
                && answers.balance.is_heavy(self.problem, candidate.z);
            proof = if self.options.proofs && (is_heavy || n <= DECISIVE_DIM) {
                prove(self.problem, candidate.basis, candidate.z, self.work).then_some(Proof::Exact)
            } else {
                (!self.is_refuted(tableau, &candidate)).then_some(Proof::Residual)
            };
        }
        self.has_candidate |= end == PathEnd::Complementary && proof.is_none();
        let is_better = error < self.certificate.backward_error;
        if proof.is_some() || is_first || (is_better && self.proof.is_none()) {
            let certificate = match proof {
                Some(Proof::Exact) => certify(self.problem, candidate.z, candidate.w),
                _ => certificate,
            };
            self.keep(certificate, attempt, answers);
            self.is_heavy = is_heavy;
            self.proof = self.proof.or(proof);
        }
    }

    /// True if proven error bounds show that an answer of Lemke's method, `candidate`, violates a row by more than the
    /// rounding error of the data. The bounds are computed only if arithmetic with twice the precision cannot rule this
    /// out.
    fn is_refuted<T: Scalar>(
        &mut self,
        tableau: &mut Tableau<T>,
        candidate: &Candidate<'_>,
    ) -> bool {
        let Candidate { z, w, basis, terms } = candidate;
        self.options.proofs
            && is_doubtful(basis, w, terms)
            && tableau.may_be_negative(self.problem)
            && is_refuted(self.problem, basis, z, self.work)
    }

    fn keep(&mut self, certificate: Certificate, attempt: Attempt, answers: &mut Answers) {
        self.certificate = certificate;
        self.attempt = attempt;
        std::mem::swap(&mut answers.z, &mut answers.z_other);
        std::mem::swap(&mut answers.w, &mut answers.w_other);
        std::mem::swap(&mut answers.basis, &mut answers.basis_other);
    }

    /// Reads the answer of a path of pivots from `tableau`, recomputes it more accurately if its residual is too large,
    /// and returns its residuals. `candidate` receives the answer. `end` is the reason why the path ended.
    #[inline]
    fn correct<T: Scalar>(
        &self,
        end: PathEnd,
        tableau: &mut Tableau<T>,
        candidate: &mut Candidate<'_>,
    ) -> Certificate {
        let Candidate { z, w, terms, .. } = candidate;
        tableau.write_variables(z);
        let is_fine = |found: &crate::certificate::Assessment| {
            let most = self.options.refine_above;
            found.holds_by_rows && most > 0.0 && found.certificate.residual <= most
        };
        let mut found = assess(self.problem, z, w, terms);
        if end == PathEnd::Complementary {
            // A row without other terms may contain only the rounding error of a variable that is zero in exact
            // arithmetic.
            if !found.holds_by_rows && tableau.drop_noise(z) {
                found = assess(self.problem, z, w, terms);
            }
            if !is_fine(&found) && tableau.refine(self.problem, z) {
                if backward_error(self.problem, z) > SOLVED_ERROR {
                    tableau.drop_noise(z);
                }
                found = assess(self.problem, z, w, terms);
            }
        }
        if is_fine(&found) {
            return found.certificate;
        }
        Certificate {
            backward_error: backward_error(self.problem, z),
            ..found.certificate
        }
    }

    /// Decides in exact arithmetic a problem that no attempt in floating point has solved, and stores the solution in
    /// `answers`, or else the proof that no solution exists. Of a larger problem only feasibility is decided.
    fn exactly(&mut self, answers: &mut Answers) {
        let problem = self.problem;
        let integers = Integers::new(problem);
        if problem.dim() <= DECISIVE_DIM {
            let accept = |z: &[f64]| backward_error(problem, z) <= SOLVED_ERROR;
            match decide(problem, &integers, accept, self.work) {
                Decision::Solved(z) => self.adopt(&z, answers),
                Decision::OutOfRange => self.has_candidate = true,
                Decision::Undecided => {}
                proof => self.refute(proof, answers),
            }
            return;
        }
        if let Some(proof) = feasibility(problem, &integers, self.work) {
            self.refute(proof, answers);
        }
    }

    /// Keeps the exact solution `z` as the answer, unless it is inaccurate after rounding to double precision.
    fn adopt(&mut self, z: &[f64], answers: &mut Answers) {
        if backward_error(self.problem, z) > SOLVED_ERROR {
            self.has_candidate = true;
            return;
        }
        answers.z.copy_from_slice(z);
        answers.basis.clear();
        answers.basis.extend(z.iter().map(|z| *z > 0.0));
        self.certificate = certify(self.problem, &answers.z, &mut answers.w);
        self.is_heavy = answers.balance.is_heavy(self.problem, z);
        self.attempt = Attempt::Exact;
        self.proof = Some(Proof::Exact);
    }

    fn refute(&mut self, decision: Decision, answers: &mut Answers) {
        self.attempt = Attempt::Exact;
        self.proof = Some(match decision {
            Decision::Farkas(u) => {
                answers.farkas = u;
                Proof::Farkas
            }
            _ => Proof::Bases,
        });
    }

    fn report(&self) -> LemkeReport {
        let limit = self.work.limit();
        let status = match self.proof {
            Some(Proof::Residual | Proof::Exact) => LcpStatus::Solved,
            Some(Proof::Farkas | Proof::Bases) => LcpStatus::Infeasible,
            None if limit.is_some() => LcpStatus::IterationLimit,
            None if self.has_candidate => LcpStatus::Inaccurate,
            None if self.is_long => LcpStatus::IterationLimit,
            None if self.is_ray => LcpStatus::Ray,
            None => LcpStatus::Inaccurate,
        };
        let is_limited = status == LcpStatus::IterationLimit;
        LemkeReport {
            status,
            certificate: self.certificate,
            n_pivots: self.work.n_pivots,
            attempt: self.attempt,
            is_heavy: self.is_heavy,
            proof: self.proof,
            limit: is_limited.then(|| limit.unwrap_or(Limit::Pivots)),
        }
    }
}

/// Returns the thresholds of the ratio test for an attempt with the parameters `plan` and `n` rows. The thresholds
/// are relative to the rounding error of the number type `T`.
fn thresholds<T: Scalar>(plan: &Plan, n: usize) -> Thresholds {
    let digits = T::ROUNDOFF / f64::ROUNDOFF;
    Thresholds {
        pivot: plan.pivot * digits,
        tie: 8.0 * T::ROUNDOFF * (n + 8) as f64,
    }
}
