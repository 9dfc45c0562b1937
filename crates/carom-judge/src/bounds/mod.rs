//! Bounds that hold for every outcome of an impact, with proofs.
//!
//! Samples approximate the set of outcomes from inside, bounds enclose it from outside. For a direction $c$ they are
//! numbers that $c\cdot v^+$ does not exceed for any order and overlap of the pushes. Friction coefficients and the
//! velocity before the impact are those of the problem.
//!
//! The set of outcomes is that of `carom-judge`: ends of finite chains of *steps*. A step leads from $v$ to
//! $v' = v + M^{-1}\sum_i(J_{n,i}^T\lambda_i + J_{t,i}^T\tau_i)$, with $\lambda_i \ge 0$, positive only where
//! $J_{n,i}v' \le 0$, and friction in its cone that dissipates most at $v'$. The end has $J_nv^+ \ge 0$.
//!
//! **Theorem 1.** Let $\nu \in \mathbb R^m$, and $w$ with
//! $J_{n,i}w \ge \mu_i\lVert J_{t,i}w\rVert$ for every contact. For every outcome with
//! $J_{n,j}v^+ = 0$, and $\nu_i \ge 0$ for $i \ne j$,
//!
//! $$ c\cdot v^+ \le -w\cdot Mv^- + \lVert c + J_n^T\nu + Mw\rVert_{M^{-1}}\lVert v^-\rVert_M. $$
//!
//! *Proof.* The impulses of all steps add up in the friction cones, so that $w\cdot M(v^+ - v^-) \ge 0$. Contacts
//! are open at the end, so that $\nu\cdot J_nv^+ \ge 0$. Hence
//! $c\cdot v^+ \le (c + J_n^T\nu + Mw)\cdot v^+ - w\cdot Mv^-$. A step of impulses $\Lambda$ changes the energy by
//! $\Lambda\cdot Jv' - \tfrac12\lVert v' - v\rVert_M^2 \le 0$, so that $\lVert v^+\rVert_M \le \lVert v^-\rVert_M$,
//! and the inequality of Cauchy and Schwarz gives the bound.
//!
//! If a contact approaches before, some step pushes. In the last step that does, some contact $j$ has
//! $\lambda_j > 0$, hence $J_{n,j}v' \le 0$; nothing changes afterwards, so that $J_{n,j}v^+ = 0$. The largest of the
//! bounds over $j$ therefore holds for all outcomes. If no contact approaches before, $v^-$ is an outcome, too.
//! Usually it is the only one; with much friction a step may begin at a contact that slides and does not approach
//! (Painlevé), and then $c\cdot v^-$ joins the bounds.
//!
//! The best multipliers solve a convex program for each $j$, by interior points. They are rounded so that the
//! inequalities hold exactly, and the bound is evaluated upwards: a [`BoundCertificate`] is valid in
//! exact arithmetic on the numbers as printed, whatever the solver did.
//!
//! A bound is a proof, not an estimate: often it is five or ten times as wide as the set of outcomes. In the plane
//! [`Relaxation::Moment`] is tighter.
//!
//! Paths of the inclusion of Halm & Posa are limits of small steps. [`OuterBound::paths`] gives a bound over these paths
//! if it is narrower.

mod barrier;
mod bounded;
mod certificate;
mod exact;
mod given;
mod interval;
mod moment;
mod program;

pub use bounded::BoundedSet;
pub use certificate::{BoundCertificate, ConeCertificate};
pub use moment::Moment;

use carom_contact::{ImpactError, ImpactProblem};
use carom_impact::internal::DEFAULT_SAMPLING_WORK;
use carom_numeric::decisions::Budget;
use exact::Known;
use given::Given;
use moment::MomentProgram;
use nalgebra::DVector;
use program::Whitened;

/// Number of shifts towards the interior that are tried until a certificate is proven. The first is zero, each further
/// one eight times the one before.
const MAX_SHIFTS: i32 = 14;

/// Method of the search for bounds on the velocity after an impact. The methods differ in the conditions of the impact from
/// which the bounds are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Relaxation {
    /// Theorem 1: momentum, friction cones, energy and the last contact.
    #[default]
    Cone,
    /// Theorem 2, for planar contacts: a quadratic function that no step increases. See [`Moment`].
    Moment,
}

/// Method by which a bound on the velocity after an impact was proven, reported in [`OuterBound`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BoundMethod {
    /// The set of outcomes is known in closed form: no contact approaches, there is one contact without friction or in
    /// the plane, or there are two contacts without friction.
    Exact,
    /// Theorem 1 (momentum, friction cones and energy), see [`ConeCertificate`].
    Cone,
    /// Theorem 2 (a quadratic function that no step increases), see [`Moment`].
    Moment,
    /// Loss of energy alone: the bound is $\lVert c\rVert_{M^{-1}}\lVert v^-\rVert_M$.
    Energy,
}

impl BoundMethod {
    /// Stable identifier of the method in records, for example `cone`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Cone => "cone",
            Self::Moment => "moment",
            Self::Energy => "energy",
        }
    }
}

/// Proven lower and upper bound of $c\cdot v^+$, the component of the velocity $v^+$ after an impact along a direction $c$.
/// The bounds are valid for all inelastic frictional outcomes. The struct also holds their proofs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OuterBound {
    /// Lower and upper bound.
    pub outer: [f64; 2],
    /// Method that proved the bounds.
    pub method: BoundMethod,
    /// Proofs of the lower bound, as upper bounds of $-c\cdot v^+$: one for each contact that may push in the last
    /// step. Empty for [`BoundMethod::Exact`].
    pub min: Vec<BoundCertificate>,
    /// Proofs of the upper bound: one for each contact that may push in the last step. Empty for
    /// [`BoundMethod::Exact`].
    pub max: Vec<BoundCertificate>,
    /// Bounds over the paths of the differential inclusion ([`BoundedSet::Paths`]), if narrower bounds are known for
    /// these paths: for one contact with friction, and by Theorem 2. They are not valid for a law of finite steps.
    pub paths: Option<Box<OuterBound>>,
    /// True if the work budget ended the search: the bounds are proven, but more work may find narrower ones.
    pub is_limited: bool,
}

impl OuterBound {
    /// Combines the two sides of a bound: `low` is an upper bound of $-c\cdot v^+$ and `high` one of $c\cdot v^+$, with
    /// the direction $c$ and the velocity $v^+$ after the impact.
    fn of_sides(low: Side, high: Side) -> Self {
        let proofs = || high.proofs.iter().chain(&low.proofs);
        let is_moment = |proof| matches!(proof, &BoundCertificate::Moment(_));
        let method = if proofs().any(is_moment) {
            BoundMethod::Moment
        } else if proofs().all(BoundCertificate::is_energy) {
            BoundMethod::Energy
        } else {
            BoundMethod::Cone
        };
        Self {
            outer: [-low.bound, high.bound],
            method,
            min: low.proofs,
            max: high.proofs,
            paths: None,
            is_limited: false,
        }
    }

    /// Returns as exact bounds the smallest and the largest value of $c\cdot v$ over the list `velocities`, with $c$ =
    /// `direction`. The list holds the end points of the set of outcomes.
    fn exact(velocities: &[Vec<f64>], direction: &[f64]) -> Self {
        let mut outer = [f64::INFINITY, f64::NEG_INFINITY];
        for v in velocities {
            let x = along(direction, v);
            outer = [outer[0].min(x), outer[1].max(x)];
        }
        Self {
            outer,
            method: BoundMethod::Exact,
            min: Vec::new(),
            max: Vec::new(),
            paths: None,
            is_limited: false,
        }
    }
}

/// Upper bound of $c\cdot v^+$ if a certain contact closes last, with its proof.
type Proven = (f64, BoundCertificate);

/// Upper bound of $c\cdot v^+$, the largest over the contacts that may close last, with one proof per contact.
struct Side {
    bound: f64,
    proofs: Vec<BoundCertificate>,
}

impl Side {
    fn new(bound: f64) -> Self {
        Self {
            bound,
            proofs: Vec::new(),
        }
    }

    fn push(&mut self, (bound, proof): Proven) {
        self.bound = self.bound.max(bound);
        self.proofs.push(proof);
    }
}

fn along(direction: &[f64], velocity: &[f64]) -> f64 {
    direction.iter().zip(velocity).map(|(c, v)| c * v).sum()
}

/// Computes a proven lower and a proven upper bound of `direction` $\cdot v^+$ (n entries) over all velocities $v^+$ after
/// an inelastic frictional impact. `relaxation` is the method of the search.
///
/// # Errors
///
/// [`ImpactError::InvalidOption`] for a direction of the wrong length, zero or not finite, and for
/// [`Relaxation::Moment`] in space; [`ImpactError::UnprovenBound`] for a mass matrix that is singular to
/// working precision.
///
/// # Examples
///
/// A disk that hits three walls has no larger velocity component after the impact than its speed before:
///
/// ```
/// use carom_judge::bounds::{Relaxation, outer_bound};
/// use carom_impact::{Contact, ContactSet, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = |x, y| Contact::frictionless(Covector::from_slice(&[x, y]));
/// let contacts = ContactSet::new(&metric, vec![wall(1.0, 0.0), wall(0.6, 0.8), wall(0.0, 1.0)])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0, -1.0]))?;
/// let bound = outer_bound(&problem, &[1.0, 0.0], Relaxation::Cone)?;
/// // Rounded outward: never below the bound in exact arithmetic.
/// let speed = 2.0_f64.sqrt() + 1e-12;
/// assert!(bound.outer[0] >= -speed && bound.outer[1] <= speed);
/// for proof in &bound.max {
///     assert!(proof.verify(&problem, &[1.0, 0.0])?.is_some_and(|b| b <= bound.outer[1]));
/// }
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
pub fn outer_bound(
    problem: &ImpactProblem,
    direction: &[f64],
    relaxation: Relaxation,
) -> Result<OuterBound, ImpactError> {
    OuterBounds::new(problem)?.bound(direction, relaxation)
}

/// Solver for bounds on the velocity after one impact, along any number of directions. The matrix factorizations are
/// computed once and used for all directions.
pub struct OuterBounds {
    given: Given,
    whitened: Option<Whitened>,
    /// Whitened velocity along which every admissible impulse does positive work.
    interior: Option<DVector<f64>>,
    /// Lower Cholesky factor $L$ of the mass matrix.
    lower: nalgebra::DMatrix<f64>,
    known: Known,
    is_planar: bool,
}

impl std::fmt::Debug for OuterBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OuterBounds")
            .field("contacts", &self.given.contacts.len())
            .field("is_exact", &self.known.steps.is_some())
            .finish_non_exhaustive()
    }
}

impl OuterBounds {
    /// Prepares the solver for bounds on the velocity after the impact of `problem`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::UnprovenBound`] for a mass matrix that is singular to working precision.
    pub fn new(problem: &ImpactProblem) -> Result<Self, ImpactError> {
        problem.contacts().require_tangents()?;
        let given = Given::new(problem)?;
        let known = exact::known(problem, &given);
        let factor = given
            .mass
            .clone()
            .cholesky()
            .ok_or(ImpactError::UnprovenBound)?;
        let lower = factor.l();
        let is_free = problem.contacts().constraint_forms().is_empty();
        let whitened = (is_free && given.speed > 0.0)
            .then(|| whiten(&given, &lower))
            .flatten();
        let mut budget = Budget::new(DEFAULT_SAMPLING_WORK);
        let interior = whitened
            .as_ref()
            .and_then(|whitened| whitened.interior(&mut budget));
        let is_planar = given.contacts.iter().all(|c| c.tangents.len() <= 1);
        Ok(Self {
            given,
            whitened,
            interior,
            lower,
            known,
            is_planar,
        })
    }

    /// Computes a lower and an upper bound of `direction` $\cdot v^+$ (n entries) over all velocities $v^+$ after the impact.
    /// `relaxation` is the method of the search.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`outer_bound`].
    pub fn bound(
        &self,
        direction: &[f64],
        relaxation: Relaxation,
    ) -> Result<OuterBound, ImpactError> {
        let mut budget = Budget::new(DEFAULT_SAMPLING_WORK);
        self.within(direction, relaxation, &mut budget)
    }

    /// Computes lower and upper bounds of the velocity after the impact along several directions (n entries each). The
    /// directions together use at most `max_work` units of work. One unit is about one multiply-add; work is counted, not
    /// timed. [`OuterBound::is_limited`] marks bounds that more work might narrow. With zero work the bounds follow from
    /// the loss of energy alone. The returned list has one result per direction; the errors are those of [`outer_bound`].
    pub fn bound_all(
        &self,
        directions: &[&[f64]],
        relaxation: Relaxation,
        max_work: u64,
    ) -> Vec<Result<OuterBound, ImpactError>> {
        let mut budget = Budget::new(max_work);
        let others = (0..directions.len()).rev();
        let each = directions.iter().zip(others);
        each.map(|(direction, others)| {
            budget.share(others, |part| self.within(direction, relaxation, part))
        })
        .collect()
    }

    fn within(
        &self,
        direction: &[f64],
        relaxation: Relaxation,
        budget: &mut Budget,
    ) -> Result<OuterBound, ImpactError> {
        check_direction(direction, self.given.velocity.len())?;
        if relaxation == Relaxation::Moment && !self.is_planar {
            return Err(ImpactError::InvalidOption {
                what: "relaxation",
                value: 2.0,
                allowed: "\"cone\" for contacts with two tangents",
            });
        }
        let mut bound = match &self.known.steps {
            Some(velocities) => OuterBound::exact(velocities, direction),
            None => self.proven(direction, relaxation, budget),
        };
        if let Some(velocities) = &self.known.paths {
            bound.paths = Some(Box::new(OuterBound::exact(velocities, direction)));
        }
        Ok(bound)
    }

    /// Computes a lower and an upper bound of the velocity after the impact along `direction` (n entries), with
    /// certificates. `relaxation` is the method of the search, `budget` limits its work.
    fn proven(&self, direction: &[f64], relaxation: Relaxation, budget: &mut Budget) -> OuterBound {
        let opposite: Vec<f64> = direction.iter().map(|c| -c).collect();
        let (high, high_of_paths) = budget.share(1, |half| self.side(direction, relaxation, half));
        let (low, low_of_paths) = self.side(&opposite, relaxation, budget);
        let is_narrower = high_of_paths.bound < high.bound || low_of_paths.bound < low.bound;
        let mut bound = OuterBound::of_sides(low, high);
        bound.is_limited = budget.is_ended();
        if is_narrower {
            let paths = OuterBound::of_sides(low_of_paths, high_of_paths);
            bound.paths = Some(Box::new(paths));
        }
        bound
    }

    /// Returns an upper bound of `direction` $\cdot v^+$ (n entries) over all velocities $v^+$ after the impact, if this
    /// bound is smaller than `limit`; otherwise `None`. The bound is proven by Theorem 1 (momentum, friction cones and
    /// energy), with one proof for each contact that may push in the last step. The search ends at the first contact whose
    /// bound reaches the limit, and so costs less than [`bound`](Self::bound). Sets of outcomes that are known in closed
    /// form are not used.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`] for a direction of the wrong length, zero or not finite.
    pub fn below(
        &self,
        direction: &[f64],
        limit: f64,
    ) -> Result<Option<(f64, Vec<BoundCertificate>)>, ImpactError> {
        self.below_within(direction, limit, DEFAULT_SAMPLING_WORK)
    }

    /// Computes the upper bound of [`below`](Self::below) with at most `max_work` units of work (about one multiply-add
    /// each). Returns `None` if the bound is not smaller than `limit` or the work does not suffice to find it.
    pub fn below_within(
        &self,
        direction: &[f64],
        limit: f64,
        max_work: u64,
    ) -> Result<Option<(f64, Vec<BoundCertificate>)>, ImpactError> {
        let mut budget = Budget::new(max_work);
        check_direction(direction, self.given.velocity.len())?;
        let mut largest = self.unmoved(direction);
        if largest >= limit {
            return Ok(None);
        }
        let mut proofs = Vec::with_capacity(self.given.contacts.len());
        for last in 0..self.given.contacts.len() {
            let energy = BoundCertificate::Cone(ConeCertificate::energy(last, &self.given));
            let (bound, proof) = match energy.bound(&self.given, direction, BoundedSet::Steps) {
                Some(bound) if bound < limit => (bound, energy),
                _ => self.best(direction, last, Relaxation::Cone, &mut budget).0,
            };
            let is_below = bound < limit;
            if !is_below {
                return Ok(None);
            }
            largest = largest.max(bound);
            proofs.push(proof);
        }
        Ok((!proofs.is_empty()).then_some((largest, proofs)))
    }

    /// Computes an upper bound of the velocity after the impact along `direction` (n entries), the largest over the
    /// contacts that may push in the last step, with one proof for each. Returns two results: for outcomes of finite
    /// impulse steps, then for paths of infinitesimal steps. `relaxation` is the method of the search, `budget` limits
    /// its work.
    fn side(&self, direction: &[f64], relaxation: Relaxation, budget: &mut Budget) -> (Side, Side) {
        let unmoved = self.unmoved(direction);
        let (mut steps, mut paths) = (Side::new(unmoved), Side::new(unmoved));
        let count = self.given.contacts.len();
        for last in 0..count {
            let (of_steps, of_paths) = budget.share(count - 1 - last, |part| {
                self.best(direction, last, relaxation, part)
            });
            paths.push(of_paths.unwrap_or_else(|| of_steps.clone()));
            steps.push(of_steps);
        }
        (steps, paths)
    }

    /// Returns an upper bound of the velocity before the impact along `direction` (n entries) if no contact approaches:
    /// this velocity is then an outcome, too. If a contact approaches, returns minus infinity.
    fn unmoved(&self, direction: &[f64]) -> f64 {
        if self.known.is_approaching {
            return f64::NEG_INFINITY;
        }
        interval::dot(
            &interval::exact(direction),
            &interval::exact(&self.given.velocity),
        )
        .high
    }

    /// Computes the best proven upper bound of the velocity after the impact along `direction` (n entries), over the
    /// outcomes in which contact `last` pushes in the last step. The first result is the bound for finite impulse
    /// steps. The second is the bound for paths of infinitesimal steps, and `None` if it is not smaller. `relaxation`
    /// is the method of the search, `budget` limits its work.
    fn best(
        &self,
        direction: &[f64],
        last: usize,
        relaxation: Relaxation,
        budget: &mut Budget,
    ) -> (Proven, Option<Proven>) {
        let energy = BoundCertificate::Cone(ConeCertificate::energy(last, &self.given));
        let mut best = match energy.bound(&self.given, direction, BoundedSet::Steps) {
            Some(bound) => (bound, energy),
            // The numbers overflow, so that no bound can be computed.
            None => (f64::INFINITY, energy),
        };
        let mut offer = |found: Option<Proven>| {
            if let Some(found) = found
                && found.0 < best.0
            {
                best = found;
            }
        };
        let Some(prepared) = self.whitened.as_ref().zip(self.interior.as_ref()) else {
            return (best, None);
        };
        offer(self.cone(prepared, direction, last, budget));
        if relaxation == Relaxation::Cone {
            return (best, None);
        }
        let [steps, paths] = self.moment(prepared, direction, last, budget);
        offer(steps);
        let paths = paths.filter(|paths| paths.0 < best.0);
        (best, paths)
    }

    /// Finds the best upper bound of the velocity after the impact along `direction` (n entries) by Theorem 1, with its
    /// proof. Contact `last` pushes in the last step. The first argument is the problem in whitened coordinates, with a
    /// velocity along which every admissible impulse does positive work; `budget` limits the work of the search.
    fn cone(
        &self,
        (whitened, interior): (&Whitened, &DVector<f64>),
        direction: &[f64],
        last: usize,
        budget: &mut Budget,
    ) -> Option<Proven> {
        let c = self.whiten(direction)?;
        let length = c.norm();
        let (nu, w) = whitened.best(&(c / length), last, interior, budget)?;
        let nu = self.on_rows(&nu, last, length);
        (0..MAX_SHIFTS).find_map(|k| {
            let shifted = &w + interior * shift(1e-14 * w.norm().max(1.0), k);
            let certificate = BoundCertificate::Cone(ConeCertificate {
                last,
                nu: nu.clone(),
                w: self.on_coordinates(&(shifted * length))?,
            });
            let bound = certificate.bound(&self.given, direction, BoundedSet::Steps)?;
            Some((bound, certificate))
        })
    }

    /// Finds the best upper bounds of the velocity after the impact along `direction` (n entries) by Theorem 2, from a
    /// quadratic function of the velocity that no step increases. Contact `last` pushes in the last step. Returns two
    /// bounds with proofs: for finite impulse steps, then for paths of infinitesimal steps; `None` where no bound was
    /// found. The first argument is the problem in whitened coordinates, with a velocity along which every admissible
    /// impulse does positive work; `budget` limits the work of the search.
    fn moment(
        &self,
        (whitened, interior): (&Whitened, &DVector<f64>),
        direction: &[f64],
        last: usize,
        budget: &mut Budget,
    ) -> [Option<Proven>; 2] {
        let Some(c) = self.whiten(direction) else {
            return [None, None];
        };
        let length = c.norm();
        let program = MomentProgram::new(whitened);
        let found = program.best(&(c / length), last, interior, budget);
        found.map(|found| {
            let found = found?;
            (0..MAX_SHIFTS).find_map(|k| {
                let size = shift(1e-13, k);
                let moment = found.on_rows(self, &(interior * size), size, length)?;
                let certificate = BoundCertificate::Moment(Box::new(moment));
                let bound = certificate.bound(&self.given, direction, found.set)?;
                Some((bound, certificate))
            })
        })
    }

    /// Computes the whitened coordinates $L^{-1}c$ of a covector $c$, with the Cholesky factor $L$ of the mass matrix.
    fn whiten(&self, covector: &[f64]) -> Option<DVector<f64>> {
        let c = DVector::from_column_slice(covector);
        self.lower.solve_lower_triangular(&c)
    }

    /// Converts a whitened velocity $\hat w$ to a velocity in the coordinates of the problem: computes $L^{-T}\hat w$
    /// with the Cholesky factor $L$ of the mass matrix.
    fn on_coordinates(&self, w: &DVector<f64>) -> Option<Vec<f64>> {
        let w = self.lower.tr_solve_lower_triangular(w)?;
        Some(w.as_slice().to_vec())
    }

    /// Converts multipliers `nu` of the normal velocities from unit normals and a unit direction to the given normals and
    /// direction. Negative multipliers become zero, except that of contact `last`, which may have any sign. `length` is
    /// the whitened length of the given direction.
    fn on_rows(&self, nu: &[f64], last: usize, length: f64) -> Vec<f64> {
        let rows = nu.iter().zip(&self.given.contacts).enumerate();
        rows.map(|(i, (nu, contact))| {
            let norm = self.whiten(&contact.normal).map_or(1.0, |u| u.norm());
            let nu = if i == last { *nu } else { nu.max(0.0) };
            nu * length / norm
        })
        .collect()
    }
}

/// Returns shift number `k` towards the interior: zero, then eight times `unit`, and so on.
fn shift(unit: f64, k: i32) -> f64 {
    if k == 0 {
        0.0
    } else {
        unit * carom_numeric::power(8.0, k)
    }
}

/// Expresses the problem in whitened coordinates, in which kinetic energy is half the squared length. Normals get unit
/// length, tangents are multiplied by the friction coefficient and divided by the length of the normal, and the
/// momentum before the impact gets unit length. `given` holds the data of the problem, `lower` is the Cholesky factor
/// of the mass matrix.
fn whiten(given: &Given, lower: &nalgebra::DMatrix<f64>) -> Option<Whitened> {
    let solve = |row: &[f64]| lower.solve_lower_triangular(&DVector::from_column_slice(row));
    let (mut normals, mut slides) = (Vec::new(), Vec::new());
    for contact in &given.contacts {
        let normal = solve(&contact.normal)?;
        let norm = normal.norm();
        let mut tangents = Vec::new();
        for tangent in &contact.tangents {
            tangents.push(solve(tangent)? * (contact.friction / norm));
        }
        normals.push(normal / norm);
        slides.push(tangents);
    }
    let momentum = lower.tr_mul(&DVector::from_column_slice(&given.velocity));
    let norm = momentum.norm();
    Some(Whitened {
        normals,
        slides,
        momentum: momentum / norm,
    })
}

/// Returns an error if a direction does not have `n` entries, is zero, or has entries that are not finite.
pub(super) fn check_direction(direction: &[f64], n: usize) -> Result<(), ImpactError> {
    let refuse = |what, value, allowed| {
        Err(ImpactError::InvalidOption {
            what,
            value,
            allowed,
        })
    };
    if direction.len() != n {
        let length = direction.len() as f64;
        return refuse(
            "bounds: length of a direction",
            length,
            "that of the velocity",
        );
    }
    if let Some(x) = direction.iter().find(|x| !x.is_finite()) {
        return refuse("bounds: entry of a direction", *x, "finite");
    }
    if direction.iter().all(|x| *x == 0.0) {
        return refuse("bounds: length of a direction", 0.0, "positive");
    }
    Ok(())
}
