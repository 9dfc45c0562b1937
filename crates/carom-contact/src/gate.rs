//! Conditions that an answer must satisfy before it is called an outcome. They depend on the problem and the answer alone.
//!
//! Let $b_r$ be the velocity of row $r$, and $S$ the rounding scale of a row: the sum of the magnitudes of all numbers from
//! which the velocity is computed (see `residual_scale`). Every limit is $10^{-9}$ of the scale named in the
//! rule:
//!
//! 1. every number is finite;
//! 2. momentum: $|M(v^+-v^-) - J^T\lambda - A^T\nu|_k$ against
//!    $(|M||v^+-v^-| + |J|^T|\lambda| + |A|^T|\nu|)_k$, for every coordinate $k$;
//! 3. no contact approaches: $b_i^+ \ge r_i - 10^{-9}S_i - 10^{-14}p_i$ with the rebound $r_i$ of rule 5, if any, and the momentum
//!    $p_i$ before the impact of all bodies connected with the contact, and no constraint is violated by more than this beyond its violation before the impact;
//! 4. no contact pulls, $\lambda_i \ge -10^{-9}S_i/\lVert n_i\rVert^2$, and friction stays in its cone;
//! 5. no energy is gained: $\sum_r\lambda_r(b_r^-+b_r^+)/2$ against $\sum_r|\lambda_r|(|b_r^-|+|b_r^+|)/2$. Laws with
//!    Newton's restitution may gain energy. They satisfy $0 \le b_i^+ - r_i \perp \lambda_i \ge 0$ with the rebound
//!    $r_i = e_i\max(-b_i^-, 0)$, and friction dissipates; the rule then requires
//!    $\sum_r\lambda_rb_r^+ - \sum_i\lambda_ir_i \le 0$, against the same scale.
//!
//! $S$ includes the effect of impulses that cancel each other; otherwise rounding would fail correct answers. But huge
//! impulses that cancel make $S$ larger than any velocity, and then every answer would pass. A solver returns such
//! impulses where a law has no answer. So velocities are also compared with the *reference velocity* of a row,
//! $\max\bigl(\sum_k|a_k|(|v_k^-| + |v_k^+|),\ \lVert a\rVert p\bigr)$, where $p$ is the norm of the momenta before and
//! after of all that contacts connect with the row. Rule 6 repeats rule 3, and the check of the velocities that a law prescribes,
//! with the limit $10^{-4}$ of the reference velocity, or $10^{-8}$ of it if the impulses are more than $10^8$ times as large. An
//! answer that misses more than $10^{-8}$ is corrected. Impulses whose own rounding error is more than $10^{-4}$ of the reference
//! velocity are rejected: rule 2 would pass for any velocity.
//!
//! Velocities are rounded numbers. In a gentle impact the last digit of $v^+$ can exceed
//! $10^{-9}$ of the change; rules 2 and 5 therefore allow two units of that digit.

use crate::basis::Basis;
use crate::breach::{Breach, GateRule};
use crate::index::{ContactIndex, RowIndex};
use crate::ledger::{Answer, Ledger, RowSums};
use crate::numbers::Numbers;
use crate::residual_scale::{above, divisor, dot_and_size, groups, row_velocity, worst};
use crate::tolerances::{GATE_TOLERANCE, ROUNDING};
use crate::{ContactSet, ImpactProblem};
use carom_metric::{KineticMetric, kernel};

/// Largest velocity that a row may miss behind impulses that cancel, as a fraction of its reference velocity.
const CANCELLATION_TOLERANCE: f64 = 1e-4;

/// Fraction of a row's reference velocity above which a missed velocity causes a correction of the impulses, and that it may miss
/// if the impulses are [`HUGE`].
const CORRECTED: f64 = 1e-8;

/// Ratio of impulses to the reference velocity of a row above which the impulses count as huge.
const HUGE: f64 = 1e8;

/// Selection of the checks that the answers of a law must pass to be accepted. The fields say if friction, pulling, approach
/// and energy are tested. A law passes the selection to [`ImpactProblem::outcome`].
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// True if tangential impulses must stay in the friction cone of their contact.
    pub friction: bool,
    /// True if contacts may pull; the law then reports which do.
    pub may_pull: bool,
    /// True if contacts may still approach: the answer is a part of an impact, not its end.
    pub may_approach: bool,
    /// Bound on the energy that the impulses may add.
    pub work: Work<'r>,
    /// True if the exact answer of the law may penetrate or pull.
    pub may_be_infeasible: bool,
    /// Scaled velocities of moving walls along the distinct unit normals; empty for walls at rest.
    pub wall_rates: &'r [f64],
}

/// Bound on the kinetic energy that the impulses of a law may add.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Work<'r> {
    /// Impulses must not add energy beyond rounding.
    Lost,
    /// Energy may grow as Newton's restitution allows, but not beyond the prescribed rebounds:
    /// $\sum_r\lambda_r b_r^+ - \sum_i\lambda_i r_i \le 0$ at the velocities after the impact. The slice holds the rebounds $r_i$,
    /// scaled and for unit normals, one per contact.
    Rebound(&'r [f64]),
    /// Energy may grow without a bound.
    Any,
}

impl Rules<'_> {
    /// Checks for the answers of frictionless laws: no contact may pull or approach afterwards, and no energy may be gained.
    pub const FRICTIONLESS: Self = Self {
        friction: false,
        may_pull: false,
        may_approach: false,
        work: Work::Lost,
        may_be_infeasible: false,
        wall_rates: &[],
    };

    /// Checks for the answers of laws with friction: no contact may pull or approach afterwards, tangential impulses must lie
    /// in the friction cones, and no energy may be gained.
    pub const FRICTIONAL: Self = Self {
        friction: true,
        ..Self::FRICTIONLESS
    };

    /// Scaled velocity of the moving wall along a contact's unit normal, 0 for a wall at rest, less the rebound that the law asks
    /// of the contact.
    pub(crate) fn wall_rate(&self, contacts: &ContactSet, contact: ContactIndex) -> f64 {
        let place = contacts.place(contact).index();
        let wall = self.wall_rates.get(place).copied().unwrap_or(0.0);
        match self.work {
            Work::Rebound(rates) => wall - rates.get(contact.index()).copied().unwrap_or(0.0),
            Work::Lost | Work::Any => wall,
        }
    }
}

/// Result of the rules, for one answer.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Violation found; `None` if the answer passes.
    pub(crate) breach: Option<Breach>,
    /// Largest velocity that a row misses, as a fraction of its reference velocity.
    pub(crate) hidden: f64,
}

impl Verdict {
    /// True if the answer passes, but misses so much that a correction of the impulses may help.
    pub(crate) fn is_imprecise(&self) -> bool {
        self.hidden > CORRECTED
    }

    fn join(&mut self, found: Breach) {
        match &mut self.breach {
            None => self.breach = Some(found),
            Some(breach) => breach.join(found),
        }
    }
}

/// Checks an answer by the rules of this module. `rules` selects the checks, `basis` is the active set of the law.
///
/// The first pass is cheap. Contacts and constraints that fail it are checked again with the full rounding scale $S$.
pub(crate) fn check(
    problem: &ImpactProblem,
    answer: &Answer<'_>,
    ledger: &Ledger,
    rules: &Rules<'_>,
    basis: &dyn Basis,
) -> Verdict {
    let mut verdict = Verdict::default();
    let numbers = [
        answer.velocity_plus,
        answer.impulses,
        answer.constraint_impulses,
    ];
    if !numbers.into_iter().all(kernel::is_finite) {
        verdict.join(Breach::of(GateRule::Finite, f64::INFINITY));
        return verdict;
    }
    let suspects = Suspects::new(problem, answer, rules, ledger);
    let is_suspect = suspects.contacts || suspects.constraints;
    // Comparisons are written so that NaN fails, here and below.
    let is_asked = !matches!(rules.work, Work::Any) && rules.wall_rates.is_empty();
    if is_asked && !(suspects.work <= suspects.work_limit) {
        let measure = GATE_TOLERANCE * suspects.work / suspects.work_limit;
        verdict.join(Breach::of(GateRule::Energy, measure));
    }
    let may_be_rounding = check_momentum(ledger, problem.contacts().metric(), &mut verdict);
    let is_asked = basis.has_residual() || is_suspect && !rules.may_approach;
    if !(is_suspect || may_be_rounding || is_asked) {
        return verdict;
    }
    let rows = ResidualScales::new(problem, ledger);
    if suspects.constraints {
        rows.check_constraints(problem, &mut verdict);
    }
    if is_suspect {
        rows.check_contacts(problem, answer, rules, &mut verdict);
    }
    // An infeasible answer (contacts approach or pull) is reported as such only if it is accurate otherwise.
    let is_infeasible = verdict.breach.as_ref().is_some_and(|b| b.is_feasibility);
    if verdict.breach.is_some() && !(is_infeasible && rules.may_be_infeasible) {
        return verdict;
    }
    let units = on_units(problem, answer.impulses);
    if may_be_rounding {
        // The momentum balance passes for any velocity if the rounding of the impulses is a large part of the velocities.
        let reference = rows.reference(problem, &units);
        let parts = reference.iter();
        let parts = parts.map(|(velocity, impulses)| impulses / divisor(*velocity));
        let largest = f64::EPSILON * worst(parts);
        if !(largest <= CANCELLATION_TOLERANCE) {
            verdict.breach = Some(Breach::of(GateRule::Cancellation, largest));
            return verdict;
        }
    }
    if is_asked {
        let may_approach = rules.may_approach || is_infeasible;
        rows.check_law(problem, &units, rules, may_approach, basis, &mut verdict);
    }
    verdict
}

/// Cheap checks of an answer: what they suspect is checked again with the full rounding scale $S$.
#[derive(Default)]
struct Suspects {
    contacts: bool,
    constraints: bool,
    work: f64,
    /// Largest work that passes as rounding.
    work_limit: f64,
}

impl Suspects {
    fn new(
        problem: &ImpactProblem,
        answer: &Answer<'_>,
        rules: &Rules<'_>,
        ledger: &Ledger,
    ) -> Self {
        let contacts = problem.contacts();
        let mut found = Self::default();
        for (i, contact) in contacts.indexed() {
            let first = contacts.row(i);
            let normal = &ledger.rows[first.index()];
            let impulse = answer.impulses[first.index()];
            let unit = contacts.row_norm(first) * normal.scale;
            let rebound = match rules.work {
                Work::Rebound(rates) => rates.get(i.index()).map(|rate| -rate * unit),
                Work::Lost | Work::Any => None,
            };
            let approach = normal.after + rules.wall_rate(contacts, i) * unit;
            found.contacts |= !(approach >= -GATE_TOLERANCE * normal.size) && !rules.may_approach;
            found.contacts |= !(impulse >= 0.0) && !rules.may_pull;
            found.add_work(normal, rebound);
            let mut tangential = 0.0f64;
            for row in contacts.tangents_at(i) {
                found.add_work(&ledger.rows[row.index()], rebound.map(|_| 0.0));
                tangential = libm::hypot(tangential, answer.impulses[row.index()]);
            }
            found.contacts |= rules.friction && !(tangential <= contact.friction * impulse);
        }
        for row in &ledger.rows[contacts.n_rows()..] {
            found.add_work(row, None);
            let excess = row.after.abs() - row.before.abs();
            found.constraints |= !(excess <= GATE_TOLERANCE * row.size);
        }
        found
    }

    /// Adds the work of a row. If `counted` is given, it replaces the row's velocity before the impact.
    fn add_work(&mut self, row: &RowSums, counted: Option<f64>) {
        let [work, limit] = row.work(counted.unwrap_or(row.before));
        self.work += work;
        self.work_limit += limit;
    }
}

/// Checks that the momentum change equals the sum of all impulses (rule 2 of this module). Returns true if in some coordinate
/// the rounding error of the impulses is a large part of the momentum.
fn check_momentum(ledger: &Ledger, metric: &KineticMetric, verdict: &mut Verdict) -> bool {
    let mut may_be_rounding = false;
    // The mass matrix is symmetric: a column is a row.
    let rows = metric.mass_matrix().as_slice().chunks_exact(metric.dim());
    for ((row, left), size) in rows.zip(&ledger.left).zip(&ledger.size) {
        let (mut momentum, mut terms, mut rounding) = (*left, *size, 0.0);
        for ((m, minus), plus) in row.iter().zip(&ledger.before).zip(&ledger.after) {
            let product = m * (plus - minus);
            momentum += product;
            terms += product.abs();
            rounding += m.abs() * (minus.abs() + plus.abs());
        }
        may_be_rounding |= f64::EPSILON * size > CANCELLATION_TOLERANCE * rounding;
        if !(momentum.abs() <= GATE_TOLERANCE * terms + ROUNDING * rounding) {
            verdict.join(Breach::of(GateRule::Momentum, momentum.abs() / terms));
        }
    }
    may_be_rounding
}

/// Velocities of the contact rows of unit kinetic length after an answer, and the sizes that they are compared with, scaled.
pub(crate) struct ResidualScales<'l> {
    ledger: &'l Ledger,
    after: Numbers,
    /// Part of the reference velocity that comes from the coordinates of the row itself, $\sum_k|a_k|(|v_k^-| + |v_k^+|)$.
    moved: Numbers,
    /// Rounding scale $S$ of each row: $\sum_k|a_k|m_k$ with the sizes of everything that velocity $k$ was computed from, $m_k =
    /// |v_k^-| + |v_k^+| + \sum_r|(M^{-1}a_r^T)_k\lambda_r|$.
    pub(crate) terms: Numbers,
}

impl<'l> ResidualScales<'l> {
    #[cold]
    pub(crate) fn new(problem: &ImpactProblem, ledger: &'l Ledger) -> Self {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let moved = ledger.before.iter().zip(&ledger.after);
        let mut made: Numbers = moved
            .map(|(minus, plus)| minus.abs() + plus.abs())
            .collect();
        let rows = contacts.jacobian_rows().chain(contacts.constraint_forms());
        let acting = rows.zip(&ledger.rows).filter(|(_, row)| row.impulse != 0.0);
        for (covector, row) in acting {
            let mut column: Numbers = covector.0.iter().map(|a| a * row.scale).collect();
            metric.whiten_in_place(&mut column);
            metric.unwhiten_velocity_in_place(&mut column);
            for (made, x) in made.iter_mut().zip(&column) {
                *made += (x * row.impulse).abs();
            }
        }
        let terms = contacts.all_rows().zip(contacts.jacobian_rows());
        let terms = terms.map(|(row, covector)| {
            row_velocity(covector.0.as_slice(), &made, contacts.row_norm(row), 1.0).size
        });
        Self {
            ledger,
            after: ledger.on_units(contacts, |row| row.after),
            moved: ledger.on_units(contacts, |row| row.size),
            terms: terms.collect(),
        }
    }

    /// Returns the reference velocity of every row, at least the norm of the momenta before and after of what contacts connect with
    /// the row, and the norm of the impulses there.
    #[cold]
    fn reference(&self, problem: &ImpactProblem, units: &[f64]) -> Vec<(f64, f64)> {
        let contacts = problem.contacts();
        let rows = contacts.all_rows().map(|row| contacts.unit_row(row));
        let (of, of_rows) = groups(self.ledger.momentum.len(), rows);
        let mut around = vec![(0.0f64, 0.0f64); self.ledger.momentum.len()];
        let momenta = problem.momentum().iter().zip(&self.ledger.momentum);
        for (group, (minus, plus)) in of.iter().zip(momenta) {
            around[*group].0 = libm::hypot(around[*group].0, libm::hypot(*minus, *plus));
        }
        for (group, impulse) in of_rows.iter().zip(units) {
            around[*group].1 = libm::hypot(around[*group].1, *impulse);
        }
        let rows = of_rows.iter().zip(&self.moved);
        rows.map(|(group, own)| (own.max(around[*group].0), around[*group].1))
            .collect()
    }

    /// Checks the constraints along an orthonormal basis of their span: the rounding of a row that repeats another would be a
    /// condition of its own.
    fn check_constraints(&self, problem: &ImpactProblem, verdict: &mut Verdict) {
        let Some(basis) = problem.contacts().constraint_basis() else {
            return;
        };
        let (before, after) = (problem.momentum(), &self.ledger.momentum);
        let directions = basis.as_slice().chunks_exact(after.len());
        let violations = directions.map(|direction| {
            let (plus, of_plus) = dot_and_size(direction, after);
            let (minus, of_minus) = dot_and_size(direction, before);
            let hidden = problem.hidden_along(direction) / GATE_TOLERANCE;
            (plus.abs() - minus.abs()) / divisor(of_plus + of_minus + hidden)
        });
        let largest = worst(violations);
        if !(largest <= GATE_TOLERANCE) {
            verdict.join(Breach::of(GateRule::Constraint, largest));
        }
    }

    /// Checks that no contact approaches or pulls and that friction stays in its cone (rules 3 and 4 of this module).
    fn check_contacts(
        &self,
        problem: &ImpactProblem,
        answer: &Answer<'_>,
        rules: &Rules<'_>,
        verdict: &mut Verdict,
    ) {
        let contacts = problem.contacts();
        let mut raise = |rule, contact: ContactIndex, measure: f64| {
            if !(measure <= GATE_TOLERANCE) {
                verdict.join(Breach {
                    rule,
                    measure,
                    contacts: vec![contact.index()],
                    is_feasibility: true,
                });
            }
        };
        // Impulse on the caller's row that would make a velocity of size $S$.
        let natural =
            |row: RowIndex| self.terms[row.index()] / (contacts.row_norm(row) * problem.scale());
        for (i, contact) in contacts.indexed() {
            let first = contacts.row(i);
            let wall = rules.wall_rate(contacts, i);
            let approach = -(self.after[first.index()] + wall);
            if !(approach <= 0.0) && !rules.may_approach {
                // Approaches below this are hidden by the rounding of the full velocity and of the connected bodies.
                let hidden = problem.hidden_velocity(i) / GATE_TOLERANCE;
                let size = self.terms[first.index()] + wall.abs() + hidden;
                raise(GateRule::Approach, i, approach / size);
            }
            let impulse = answer.impulses[first.index()];
            if !(impulse >= 0.0) && !rules.may_pull {
                raise(GateRule::Pull, i, -impulse / natural(first));
            }
            if !rules.friction {
                continue;
            }
            let tangents = contacts.tangents_at(i);
            let tangential = tangents.clone().fold(0.0f64, |sum, row| {
                libm::hypot(sum, answer.impulses[row.index()])
            });
            let excess = tangential - contact.friction * impulse.max(0.0);
            if !(excess <= 0.0) {
                let size = tangents.map(natural).fold(0.0, f64::max);
                raise(GateRule::Friction, i, excess / size);
            }
        }
    }

    /// Checks the conditions of the law, and that no huge impulses hide a missed velocity (rule 6 of this module). `units` are the
    /// scaled impulses on rows of unit kinetic length.
    fn check_law(
        &self,
        problem: &ImpactProblem,
        units: &[f64],
        rules: &Rules<'_>,
        may_approach: bool,
        basis: &dyn Basis,
        verdict: &mut Verdict,
    ) {
        let contacts = problem.contacts();
        let asked = basis.missed(contacts, &self.after);
        let largest_missed = |sizes: &[f64]| {
            let missed = asked.iter();
            worst(missed.map(|(row, missed)| missed.abs() / divisor(sizes[row.index()])))
        };
        if basis.has_residual() {
            let mut residual = largest_missed(&self.terms);
            if !(residual <= GATE_TOLERANCE) {
                let hidden = problem.hidden_velocities();
                residual = largest_missed(&above(&self.terms, &hidden, GATE_TOLERANCE));
            }
            if !(residual <= GATE_TOLERANCE) {
                verdict.breach = Some(Breach::of(GateRule::Velocity, residual));
                return;
            }
        }
        // Largest velocity that a contact misses, divided by the given size of its row.
        let missed = |sizes: &[f64]| {
            let approach = contacts.indices().map(|i| {
                let (row, wall) = (contacts.row(i).index(), rules.wall_rate(contacts, i));
                let approach = if may_approach {
                    0.0
                } else {
                    -(self.after[row] + wall)
                };
                approach.max(0.0) / divisor(sizes[row] + wall.abs())
            });
            worst(approach.chain([largest_missed(sizes)]))
        };
        verdict.hidden = missed(&self.moved);
        if verdict.hidden <= CORRECTED {
            return;
        }
        let hidden = problem.hidden_velocities();
        let reference = self.reference(problem, units);
        let velocities: Vec<f64> = reference.iter().map(|(velocity, _)| *velocity).collect();
        verdict.hidden = missed(&above(&velocities, &hidden, CORRECTED));
        if !(verdict.hidden <= CORRECTED) {
            let limits = reference.iter().map(|(velocity, impulses)| {
                if *impulses > HUGE * velocity {
                    CORRECTED * velocity
                } else {
                    CANCELLATION_TOLERANCE * velocity
                }
            });
            let limits: Vec<f64> = limits.collect();
            if !(missed(&above(&limits, &hidden, 1.0)) <= 1.0) {
                verdict.breach = Some(Breach::of(GateRule::Cancellation, verdict.hidden));
            }
        }
    }
}

/// Converts physical impulses on the caller's rows to scaled impulses on the contact rows of unit kinetic length.
fn on_units(problem: &ImpactProblem, impulses: &[f64]) -> Numbers {
    let contacts = problem.contacts();
    let impulses = contacts.all_rows().zip(impulses);
    impulses
        .map(|(row, l)| l * contacts.row_norm(row) * problem.scale())
        .collect()
}
