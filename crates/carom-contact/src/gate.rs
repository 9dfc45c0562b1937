//! Conditions that an answer must satisfy before it is called an outcome. They depend on the problem and the answer alone.
//!
//! Let $b_r$ be the velocity of row $r$, and $S$ the rounding scale of a row: the sum of the magnitudes of all numbers from
//! which the velocity is computed (see [`residual_scale`](crate::residual_scale)). Every limit is $10^{-9}$ of the scale named in the
//! rule:
//!
//! 1. every number is finite;
//! 2. momentum: $|M(v^+-v^-) - J^T\lambda - A^T\nu|_k$ against
//!    $(|M||v^+-v^-| + |J|^T|\lambda| + |A|^T|\nu|)_k$, for every coordinate $k$;
//! 3. no contact approaches: $b_i^+ \ge -10^{-9}S_i - 10^{-14}p_i$ with the momentum $p_i$ before the impact of all bodies
//!    connected with the contact, and no constraint is violated more than before the impact;
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
//! after of all bodies that pushing contacts connect with the row $a$. Rule 6 repeats rule 3, and the check of the
//! velocities that a law prescribes, with the limit $10^{-4}$ of the reference velocity, or $10^{-8}$ of it if the impulses are
//! more than $10^8$ times as large. An answer that misses more than $10^{-8}$ is refined, and so is one of a law that prescribes
//! velocities if most of its impulses cancel at some row: the answer nearer to these velocities is kept. An answer that passes only
//! by the $10^{-14}p_i$ of rule 3 is refined, too. Impulses whose own rounding
//! error is more than $10^{-4}$ of the reference velocity are rejected: rule 2 would pass for any velocity.
//!
//! Velocities are rounded numbers. In a gentle impact the last digit of $v^+$ can exceed
//! $10^{-9}$ of the change; rules 2 and 5 therefore allow two units of that digit.

mod breach;
mod moved;

pub use breach::{Breach, GateRule};
pub(crate) use moved::Moved;

use crate::index::{ContactIndex, RowIndex};
use crate::numbers::Numbers;
use crate::residual_scale::{divisor, dot_and_size, groups};
use crate::{ContactSet, ImpactProblem};
use carom_metric::kernel;
use nalgebra::DMatrix;
use smallvec::smallvec;

/// Largest accepted violation of a rule, as a fraction of the scale of that rule.
pub(crate) const GATE_TOLERANCE: f64 = 1e-9;

/// Largest velocity that a row may miss behind impulses that cancel, as a fraction of its reference velocity.
const CANCELLATION_TOLERANCE: f64 = 1e-4;

/// Fraction of a row's reference velocity above which a missed velocity causes a refinement.
pub(crate) const REFINED: f64 = 1e-8;

/// Rounding of the velocities that rules 2 and 5 allow: two units in the last place.
pub(crate) const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// Selection of the checks that the answers of a law must pass to be accepted. The fields say if friction, pulling, approach
/// and energy are tested. A law passes the selection to [`Candidate::outcome`](crate::candidate::Candidate::outcome).
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
    /// Impulses must not add energy: rule 5.
    Lost,
    /// Energy may grow as Newton's restitution allows, but not beyond the prescribed rebounds: rule 5 with
    /// $\sum_r\lambda_r b_r^+ - \sum_i\lambda_i r_i$ at the velocities after the impact. The slice holds the rebounds $r_i$,
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
}

/// Velocity after the impact and impulses on the caller's rows, without the internal scaling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) velocity_plus: &'a [f64],
    pub(crate) impulses: &'a [f64],
    pub(crate) constraint_impulses: &'a [f64],
}

/// Result of the first five rules.
pub(crate) struct Inspection {
    /// Violation found; `None` if the answer passes.
    pub(crate) breach: Option<Breach>,
    /// True if a contact or constraint failed the first, cheap check against fewer terms than the rounding scale $S$ includes.
    pub(crate) is_suspect: bool,
    /// Largest approach that passes only because rounding of the momentum may hide it, as a fraction of the rounding scale $S$;
    /// 0 if there is no such approach.
    pub(crate) masked: f64,
    /// True if in some coordinate the rounding error of cancelling impulses may be as large as the momentum.
    pub(crate) may_be_rounding: bool,
    /// Rounding scales of the answer, if they were needed.
    pub(crate) scales: Option<ResidualScales>,
}

/// Checks an answer by the first five rules of this module: finite numbers, momentum balance, no approach, no pull and
/// friction in its cone, no gain of energy. `rules` selects the checks.
///
/// The first pass is cheap. Contacts and constraints that fail it are checked again with the full rounding scale $S$.
pub(crate) fn inspect(
    problem: &ImpactProblem<'_>,
    answer: &Answer<'_>,
    rules: &Rules<'_>,
) -> Inspection {
    for numbers in [
        answer.velocity_plus,
        answer.impulses,
        answer.constraint_impulses,
    ] {
        if !kernel::is_finite(numbers) {
            return Inspection {
                breach: Some(Breach::of(GateRule::Finite, f64::INFINITY)),
                is_suspect: true,
                masked: 0.0,
                may_be_rounding: false,
                scales: None,
            };
        }
    }
    let mut balance = Balance::new(problem, answer);
    let suspects_contacts = balance.add_contacts(problem, answer, rules);
    let constraint = balance.add_constraints(problem, answer);
    let is_suspect = suspects_contacts || constraint.is_some();
    let mut breach: Option<Breach> = None;
    let mut raise = |found: Breach| match &mut breach {
        None => breach = Some(found),
        Some(breach) => breach.join(found),
    };
    // Comparisons are written so that NaN fails, here and below.
    let is_asked = !matches!(rules.work, Work::Any) && rules.wall_rates.is_empty();
    if is_asked && !(balance.work <= balance.work_size) {
        raise(Breach::of(
            GateRule::Energy,
            GATE_TOLERANCE * balance.work / balance.work_size,
        ));
    }
    let velocities = [balance.before.as_slice(), balance.after.as_slice()];
    let metric = problem.contacts().metric();
    let (momentum, may_be_rounding) =
        check_momentum(metric, velocities, &balance.left, &balance.size);
    if let Some(found) = momentum {
        raise(found);
    }
    let scales = is_suspect.then(|| ResidualScales::new(problem, answer));
    let mut masked = 0.0;
    if let Some(terms) = &scales {
        if let Some(found) = constraint
            && let Some(worse) = terms.constraints(problem, answer, found)
        {
            raise(worse);
        }
        let (found, approach) = terms.feasibility(problem, answer, rules);
        masked = approach;
        if let Some(found) = found {
            raise(found);
        }
    }
    Inspection {
        breach,
        is_suspect,
        masked,
        may_be_rounding,
        scales,
    }
}

/// Momentum balance and work of an answer, summed row by row, with the sizes of their terms.
struct Balance {
    scale: f64,
    /// Scaled velocities (n entries each) before and after the impact.
    before: Numbers,
    after: Numbers,
    /// Negative sum of the impulses on all rows (n entries): with the momentum change added, the residual of the balance.
    left: Numbers,
    /// Sizes of the terms of `left` (n entries).
    size: Numbers,
    work: f64,
    /// Largest work that passes as rounding: [`GATE_TOLERANCE`] of the terms plus the rounding of the velocities.
    work_size: f64,
}

impl Balance {
    fn new(problem: &ImpactProblem<'_>, answer: &Answer<'_>) -> Self {
        let n = problem.contacts().metric().dim();
        let scale = problem.scale();
        let scaled = |v: &[f64]| -> Numbers { v.iter().map(|x| x * scale).collect() };
        Self {
            scale,
            before: scaled(problem.velocity_minus().0.as_slice()),
            after: scaled(answer.velocity_plus),
            left: smallvec![0.0; n],
            size: smallvec![0.0; n],
            work: 0.0,
            work_size: 0.0,
        }
    }

    /// Adds the impulse on one row to the momentum balance and the work, and returns the velocities of the row. `row_scale`
    /// is a power of two that brings the row to about unit length. If `counted` is given, it replaces the row's velocity
    /// before the impact in the work.
    fn add(&mut self, row: &[f64], row_scale: f64, impulse: f64, counted: Option<f64>) -> RowRates {
        let impulse = impulse * (self.scale / row_scale);
        let mut rates = RowRates::default();
        for (k, a) in row.iter().enumerate() {
            let a = a * row_scale;
            let (minus, plus) = (a * self.before[k], a * self.after[k]);
            rates.before += minus;
            rates.after += plus;
            rates.size += minus.abs() + plus.abs();
            self.left[k] -= a * impulse;
            self.size[k] += (a * impulse).abs();
        }
        let counted = counted.unwrap_or(rates.before);
        self.work += 0.5 * impulse * (counted + rates.after);
        // The row's own velocity before is included in the terms: the counted velocity may be zero up to rounding.
        let terms = f64::max(counted.abs(), rates.before.abs()) + rates.after.abs();
        self.work_size += impulse.abs() * (0.5 * GATE_TOLERANCE * terms + ROUNDING * rates.size);
        rates
    }

    /// Adds the impulses of all contacts to the balance of momentum and work. Returns true if by a cheap check some contact
    /// seems to approach, to pull or to leave its friction cone.
    fn add_contacts(
        &mut self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
        rules: &Rules<'_>,
    ) -> bool {
        let contacts = problem.contacts();
        let mut is_suspect = false;
        for (i, contact) in contacts.indexed() {
            let first = contacts.row(i);
            let impulse = answer.impulses[first.index()];
            let unit = contacts.row_norm(first) * contacts.row_scale(first);
            let rebound = match rules.work {
                Work::Rebound(rates) => rates.get(i.index()).map(|rate| -rate * unit),
                Work::Lost | Work::Any => None,
            };
            let normal = contact.normal.0.as_slice();
            let rates = self.add(normal, contacts.row_scale(first), impulse, rebound);
            let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
            let approach = match wall {
                None | Some(0.0) => rates.after,
                Some(rate) => rates.after + rate * unit,
            };
            is_suspect |= !(approach >= -GATE_TOLERANCE * rates.size) && !rules.may_approach;
            is_suspect |= !(impulse >= 0.0) && !rules.may_pull;
            let counted = rebound.map(|_| 0.0);
            let mut tangential = 0.0f64;
            for (row, tangent) in contacts.tangents_at(i).zip(&contact.tangents) {
                let impulse = answer.impulses[row.index()];
                let tangent = tangent.0.as_slice();
                self.add(tangent, contacts.row_scale(row), impulse, counted);
                tangential = libm::hypot(tangential, impulse);
            }
            is_suspect |= rules.friction && !(tangential <= contact.friction * impulse);
        }
        is_suspect
    }

    /// Adds the impulses of all constraints to the balance of momentum and work. Returns the last constraint that seems
    /// violated by a cheap check; `None` if all seem satisfied.
    fn add_constraints(
        &mut self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
    ) -> Option<Breach> {
        let mut broken = None;
        let forms = problem.contacts().constraint_forms().iter();
        for (form, &multiplier) in forms.zip(answer.constraint_impulses) {
            let row = form.0.as_slice();
            let row_scale = kernel::power_of_two_scale(kernel::max_abs(row));
            let rates = self.add(row, row_scale, multiplier, None);
            let excess = rates.after.abs() - rates.before.abs();
            if !(excess <= GATE_TOLERANCE * rates.size) {
                broken = Some(Breach::of(GateRule::Constraint, excess / rates.size));
            }
        }
        broken
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct RowRates {
    before: f64,
    after: f64,
    size: f64,
}

/// Checks that the momentum change equals the sum of all impulses (rule 2 of this module), and returns the breach if it
/// does not. `before` and `after` are velocities, `left` is the negative sum of the impulses, `size` the size of its terms.
/// The second result is true if in some coordinate the rounding error of these terms is a large part of the momentum.
fn check_momentum(
    metric: &carom_metric::KineticMetric,
    [before, after]: [&[f64]; 2],
    left: &[f64],
    size: &[f64],
) -> (Option<Breach>, bool) {
    let n = metric.dim();
    let mass = metric.mass_matrix().as_slice();
    let mut worst: Option<Breach> = None;
    let mut may_be_rounding = false;
    // The mass matrix is symmetric: a column is a row.
    for ((row, left), size) in mass.chunks_exact(n).zip(left).zip(size) {
        let (mut momentum, mut terms, mut rounding) = (*left, *size, 0.0);
        for ((m, minus), plus) in row.iter().zip(before).zip(after) {
            let product = m * (plus - minus);
            momentum += product;
            terms += product.abs();
            rounding += m.abs() * (minus.abs() + plus.abs());
        }
        may_be_rounding |= f64::EPSILON * size > CANCELLATION_TOLERANCE * rounding;
        if !(momentum.abs() <= GATE_TOLERANCE * terms + ROUNDING * rounding) {
            let found = Breach::of(GateRule::Momentum, momentum.abs() / terms);
            match &mut worst {
                None => worst = Some(found),
                Some(worst) => worst.join(found),
            }
        }
    }
    (worst, may_be_rounding)
}

/// Data for the rounding scale $S$ of any row, from scaled velocities.
pub(crate) struct ResidualScales {
    before: Numbers,
    after: Numbers,
    /// Sizes of everything that velocity $k$ was computed from: $|v_k^-| + |v_k^+| + \sum_r|(M^{-1}a_r^T)_k\lambda_r|$.
    made: Numbers,
}

impl ResidualScales {
    #[cold]
    pub(crate) fn new(problem: &ImpactProblem<'_>, answer: &Answer<'_>) -> Self {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let scale = problem.scale();
        let scaled = |v: &[f64]| -> Numbers { v.iter().map(|x| x * scale).collect() };
        let before = scaled(problem.velocity_minus().0.as_slice());
        let after = scaled(answer.velocity_plus);
        let mut made: Numbers = before
            .iter()
            .zip(&after)
            .map(|(minus, plus)| minus.abs() + plus.abs())
            .collect();
        let mut add = |row: &[f64], row_scale: f64, impulse: f64| {
            if impulse == 0.0 {
                return;
            }
            let impulse = impulse * (scale / row_scale);
            let mut column: Numbers = row.iter().map(|a| a * row_scale).collect();
            metric.whiten_in_place(&mut column);
            metric.unwhiten_velocity_in_place(&mut column);
            for (made, x) in made.iter_mut().zip(&column) {
                *made += (x * impulse).abs();
            }
        };
        for (row, covector) in contacts.all_rows().zip(contacts.jacobian_rows()) {
            add(
                covector.0.as_slice(),
                contacts.row_scale(row),
                answer.impulses[row.index()],
            );
        }
        for (form, &multiplier) in contacts
            .constraint_forms()
            .iter()
            .zip(answer.constraint_impulses)
        {
            let row = form.0.as_slice();
            add(
                row,
                kernel::power_of_two_scale(kernel::max_abs(row)),
                multiplier,
            );
        }
        Self {
            before,
            after,
            made,
        }
    }

    /// Returns three numbers for a row: its velocities before and after the impact, and its rounding scale $S$ (the size of
    /// the terms that these are sums of). All three are multiplied by `row_scale` (a power of two) and by the scale of the
    /// problem.
    pub(crate) fn of(&self, row: &[f64], row_scale: f64) -> (f64, f64, f64) {
        let scaled: Numbers = row.iter().map(|a| a * row_scale).collect();
        let (before, _) = dot_and_size(&scaled, &self.before);
        let (after, _) = dot_and_size(&scaled, &self.after);
        let (_, size) = dot_and_size(&scaled, &self.made);
        (before, after, size)
    }

    /// Computes the rounding scale $S$ of every contact row of unit kinetic length: the size of the terms that the velocity
    /// of the row is the sum of, in scaled units.
    pub(crate) fn of_unit_rows(&self, contacts: &ContactSet<'_>) -> Vec<f64> {
        let rows = contacts.all_rows().zip(contacts.jacobian_rows());
        let sizes = rows.map(|(row, covector)| {
            let row_scale = contacts.row_scale(row);
            let (_, _, size) = self.of(covector.0.as_slice(), row_scale);
            size / (contacts.row_norm(row) * row_scale)
        });
        sizes.collect()
    }

    /// Computes for every contact row of unit kinetic length the part of the reference velocity (scale of the velocities
    /// around the row) that comes from the coordinates of the row itself. It is $\sum_k|a_k|(|v_k^-| + |v_k^+|)/\lVert
    /// a\rVert$ for the row $a$ and the velocities $v^\mp$ before and after the impact, in scaled units.
    pub(crate) fn moved_by_unit_rows(&self, contacts: &ContactSet<'_>) -> Vec<f64> {
        let rows = contacts.all_rows().zip(contacts.jacobian_rows());
        rows.map(|(row, covector)| {
            let row_scale = contacts.row_scale(row);
            let velocities = self.before.iter().zip(&self.after);
            let terms = covector.0.iter().zip(velocities);
            let terms =
                terms.map(|(a, (minus, plus))| (a * row_scale).abs() * (minus.abs() + plus.abs()));
            terms.sum::<f64>() / (contacts.row_norm(row) * row_scale)
        })
        .collect()
    }

    /// Computes for every contact row of unit kinetic length the reference velocity (scale of the velocities around the
    /// row) and the size of the impulses around the row. The reference velocity includes the momentum of all bodies that
    /// pushing contacts connect with the row. `alone` is the part that comes from the row's own coordinates, one entry per row.
    #[cold]
    pub(crate) fn moved_around_unit_rows(
        &self,
        problem: &ImpactProblem<'_>,
        impulses_on_units: &[f64],
        alone: &[f64],
    ) -> Vec<Moved> {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let mut momentum: Numbers = smallvec![0.0; metric.dim()];
        metric.whiten_velocity_into(&self.after, &mut momentum);
        for (plus, minus) in momentum.iter_mut().zip(problem.momentum()) {
            *plus = libm::hypot(*plus, *minus);
        }
        // A contact connects all that its pushing rows touch: in turned coordinates, each row alone does.
        let mut impulses = Vec::with_capacity(contacts.len());
        let mut pushed: Vec<Numbers> = Vec::with_capacity(contacts.len());
        for i in contacts.indices() {
            let mut mask: Numbers = smallvec![0.0; metric.dim()];
            let mut impulse = 0.0f64;
            for row in contacts.rows_at(i) {
                let l = impulses_on_units[row.index()];
                if l != 0.0 {
                    impulse = libm::hypot(impulse, l);
                    let entries = mask.iter_mut().zip(contacts.unit_row(row));
                    entries.for_each(|(mask, a)| *mask += a.abs());
                }
            }
            if impulse != 0.0 {
                impulses.push(impulse);
                pushed.push(mask);
            }
        }
        let (of, of_contacts) = groups(metric.dim(), pushed.iter().map(|mask| &mask[..]));
        let mut around = vec![Moved::default(); metric.dim()];
        for (group, p) in of.iter().zip(&momentum) {
            around[*group].velocity = libm::hypot(around[*group].velocity, *p);
        }
        for (group, l) in of_contacts.iter().zip(&impulses) {
            around[*group].impulses = libm::hypot(around[*group].impulses, *l);
        }
        let mut touched = vec![Moved::default(); metric.dim()];
        let rows = contacts.all_rows().zip(alone);
        rows.map(|(row, own)| {
            touched.fill(Moved::default());
            for (group, a) in of.iter().zip(contacts.unit_row(row)) {
                if *a != 0.0 {
                    touched[*group] = around[*group];
                }
            }
            let all = touched.iter().fold(Moved::default(), |sum, group| Moved {
                velocity: libm::hypot(sum.velocity, group.velocity),
                impulses: libm::hypot(sum.impulses, group.impulses),
            });
            Moved {
                velocity: f64::max(*own, all.velocity),
                ..all
            }
        })
        .collect()
    }

    fn constraints(
        &self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
        found: Breach,
    ) -> Option<Breach> {
        let contacts = problem.contacts();
        let forms = contacts.constraint_forms();
        let basis = contacts.constraint_basis();
        let worst = match basis.filter(|basis| basis.ncols() < forms.len()) {
            Some(basis) => self.in_span(problem, answer, basis),
            None => { forms.iter() }
                .map(|form| {
                    let row = form.0.as_slice();
                    let scale = kernel::power_of_two_scale(kernel::max_abs(row));
                    let (before, after, size) = self.of(row, scale);
                    (after.abs() - before.abs()) / divisor(size)
                })
                .fold(0.0, kernel::larger),
        };
        (!(worst <= GATE_TOLERANCE)).then_some(Breach {
            measure: worst,
            ..found
        })
    }

    /// Returns the largest violation of dependent constraints: that of an orthonormal basis of their span. The rounding of a row
    /// that repeats another would be a condition of its own.
    fn in_span(
        &self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
        basis: &DMatrix<f64>,
    ) -> f64 {
        let contacts = problem.contacts();
        let mut after: Numbers = smallvec![0.0; self.after.len()];
        contacts
            .metric()
            .whiten_velocity_into(&self.after, &mut after);
        let before = problem.momentum();
        let sizes = before.iter().zip(&after).map(|(x, y)| x.abs() + y.abs());
        let mut sizes: Numbers = sizes.collect();
        for (row, impulse) in contacts.all_rows().zip(answer.impulses) {
            let impulse = impulse * contacts.row_norm(row) * problem.scale();
            for (size, a) in sizes.iter_mut().zip(contacts.unit_row(row)) {
                *size += (a * impulse).abs();
            }
        }
        let directions = basis.as_slice().chunks_exact(after.len());
        let violations = directions.map(|direction| {
            let (plus, _) = dot_and_size(direction, &after);
            let (minus, _) = dot_and_size(direction, before);
            let (_, size) = dot_and_size(direction, &sizes);
            (plus.abs() - minus.abs()) / divisor(size)
        });
        violations.fold(0.0, kernel::larger)
    }

    /// Checks that no contact approaches or pulls and that friction stays in its cone (rules 3 and 4 of this module),
    /// against the full rounding scale of each row. Returns the worst breach, `None` if all contacts pass, and the
    /// [masked](Inspection::masked) approach.
    fn feasibility(
        &self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
        rules: &Rules<'_>,
    ) -> (Option<Breach>, f64) {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let scale = problem.scale();
        let mut worst: Option<Breach> = None;
        let mut masked = 0.0f64;
        let mut raise = |rule, contact: ContactIndex, measure: f64| {
            if measure <= GATE_TOLERANCE {
                return;
            }
            let found = Breach {
                rule,
                measure,
                contacts: vec![contact.index()],
                is_feasibility: true,
            };
            match &mut worst {
                None => worst = Some(found),
                Some(worst) => worst.join(found),
            }
        };
        // Impulse on the caller's row that would make a velocity of size $S$.
        let natural = |row: RowIndex, covector: &carom_metric::Covector| {
            let row_scale = contacts.row_scale(row);
            let (_, _, size) = self.of(covector.0.as_slice(), row_scale);
            let mut whitened: Numbers = covector.0.iter().map(|a| a * row_scale).collect();
            metric.whiten_in_place(&mut whitened);
            size / kernel::dot(&whitened, &whitened) * row_scale / scale
        };
        for (i, contact) in contacts.indexed() {
            let first = contacts.row(i);
            let row_scale = contacts.row_scale(first);
            let (_, after, size) = self.of(contact.normal.0.as_slice(), row_scale);
            let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
            let wall = wall.unwrap_or(0.0) * contacts.row_norm(first) * row_scale;
            let approach = after + wall;
            if !(approach >= 0.0) && !rules.may_approach {
                // Approaches below this are hidden by the rounding of the full velocity and of the connected bodies.
                let unit = contacts.row_norm(first) * row_scale;
                let hidden = problem.hidden_velocity(i) * unit / GATE_TOLERANCE;
                let size = size + wall.abs();
                let measure = -approach / (size + hidden);
                if measure <= GATE_TOLERANCE && !(-approach <= GATE_TOLERANCE * size) {
                    masked = masked.max(-approach / size);
                }
                raise(GateRule::Approach, i, measure);
            }
            let impulse = answer.impulses[first.index()];
            if !(impulse >= 0.0) && !rules.may_pull {
                raise(
                    GateRule::Pull,
                    i,
                    -impulse / natural(first, &contact.normal),
                );
            }
            if !rules.friction {
                continue;
            }
            let rows = contacts.tangents_at(i);
            let tangential = rows.clone().fold(0.0f64, |sum, row| {
                libm::hypot(sum, answer.impulses[row.index()])
            });
            let excess = tangential - contact.friction * impulse.max(0.0);
            if !(excess <= 0.0) {
                let sizes = rows.zip(&contact.tangents).map(|(row, t)| natural(row, t));
                raise(GateRule::Friction, i, excess / sizes.fold(0.0, f64::max));
            }
        }
        if let Some(breach) = &mut worst {
            breach.contacts.sort_unstable();
            breach.contacts.dedup();
        }
        (worst, masked)
    }
}
