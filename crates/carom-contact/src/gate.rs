//! Conditions that an answer must satisfy before it is called an outcome: the input and the answer alone decide.
//!
//! With $b_r$ the velocity of row $r$, $S$ its own terms (see
//! [`own_terms`](crate::own_terms)) and every limit $10^{-9}$ of them:
//!
//! 1. every number is finite;
//! 2. momentum: $|M(v^+-v^-) - J^T\lambda - A^T\nu|_k$ against
//!    $(|M||v^+-v^-| + |J|^T|\lambda| + |A|^T|\nu|)_k$, for every coordinate $k$;
//! 3. no contact approaches: $b_i^+ \ge -10^{-9}S_i$, and no constraint is worse violated than before;
//! 4. no contact pulls, $\lambda_i \ge -10^{-9}S_i/\lVert n_i\rVert^2$, and friction stays in its cone;
//! 5. no energy is gained: $\sum_r\lambda_r(b_r^-+b_r^+)/2$ against
//!    $\sum_r|\lambda_r|(|b_r^-|+|b_r^+|)/2$. Laws with Newton's restitution may gain some, but
//!    where $0 \le b_i^+ - r_i \perp \lambda_i \ge 0$ with the rebound $r_i = e_i\max(-b_i^-, 0)$ and friction
//!    dissipates, $\sum_r\lambda_rb_r^+ - \sum_i\lambda_ir_i \le 0$ is asked instead, against the same terms.
//!
//! $S$ counts what impulses made and cancelled, or rounding would fail honest answers. Impulses that are
//! huge and cancel make it larger than any velocity, and then everything passes: what a solver finds
//! where a law has no answer looks like that. So velocities are also held against what a row moves,
//! $\max\bigl(\sum_k|a_k|(|v_k^-| + |v_k^+|),\ \lVert a\rVert p\bigr)$ with $p$ the momentum before and
//! after of what the pushing rows connect with it: rule 6 asks rule 3 and the velocities that a law
//! requires to $10^{-4}$ of that, and to $10^{-8}$ where impulses are more than $10^8$ times as large. Above $10^{-8}$ an answer is refined.
//! Impulses whose own rounding is more than $10^{-4}$ of it explain no velocity: rule 2 would pass for any.
//!
//! Velocities are rounded numbers. Where an impact is so gentle that the last digit of $v^+$ is more
//! than $10^{-9}$ of what changed, two units of that digit are allowed in rules 2 and 5.

use crate::numbers::Numbers;
use crate::own_terms::{dot_and_size, groups};
use crate::{ContactSet, ImpactProblem};
use carom_metric::kernel;
use smallvec::smallvec;
use std::fmt;

/// Largest violation of a rule, as a fraction of its own terms.
pub(crate) const GATE_TOLERANCE: f64 = 1e-9;

/// Largest velocity that impulses which cancel may leave, as a fraction of what a row moves.
const CANCELLATION_TOLERANCE: f64 = 1e-4;

/// An answer that leaves more than this fraction is refined.
pub(crate) const REFINED: f64 = 1e-8;

/// Impulses of more than this many times what a row moves are huge.
const HUGE: f64 = 1e8;

/// Rounding of the velocities that rules 2 and 5 allow: two units of the last digit.
pub(crate) const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// Rules that an answer of a law has to obey.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// Impulses on tangents stay in the cone of the contact's friction coefficient.
    pub friction: bool,
    /// Contacts may pull: the law says which do.
    pub may_pull: bool,
    /// Contacts may approach after it: a part of an impact, not its end.
    pub may_approach: bool,
    /// Bound of the impulses' work on the energy.
    pub work: Work<'r>,
    /// The exact answer of the law may penetrate or pull.
    pub may_be_infeasible: bool,
    /// Scaled velocities of the walls along the distinct unit normals, empty for walls at rest.
    pub wall_rates: &'r [f64],
}

/// Bound of the work that a law's impulses may do on the energy.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Work<'r> {
    /// They gain none: rule 5.
    Lost,
    /// It may grow, as Newton's restitution allows, but at the velocities after the impact
    /// they gain none against what contacts must rebound by: rule 5 with $\sum_r\lambda_r b_r^+ -
    /// \sum_i\lambda_i r_i$. Here are the rebounds $r_i$, scaled and on unit normals.
    Rebound(&'r [f64]),
    /// It may grow.
    Any,
}

/// Motion seen by a row, and size of the impulses around it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    /// $\max\bigl(\sum_k|a_k|(|v_k^-| + |v_k^+|)/\lVert a\rVert,\ p\bigr)$.
    pub(crate) velocity: f64,
    /// Norm of the impulses of the pushing rows that are connected with it.
    pub(crate) impulses: f64,
}

impl Moved {
    /// Rounding of the impulses around the row, as a fraction of its motion.
    pub(crate) fn rounding(&self) -> f64 {
        match self.impulses > 0.0 {
            true => f64::EPSILON * self.impulses / self.velocity,
            false => 0.0,
        }
    }

    /// True if the rounding of the impulses is a large part of the row's motion.
    pub(crate) fn is_rounding(&self) -> bool {
        !(self.rounding() <= CANCELLATION_TOLERANCE)
    }

    /// The largest velocity that rule 6 lets the row miss.
    pub(crate) fn limit(&self) -> f64 {
        let is_huge = self.impulses > HUGE * self.velocity;
        self.velocity
            * if is_huge {
                REFINED
            } else {
                CANCELLATION_TOLERANCE
            }
    }
}

impl Rules<'_> {
    /// Rules of frictionless laws whose answers are feasible.
    pub const FRICTIONLESS: Self = Self {
        friction: false,
        may_pull: false,
        may_approach: false,
        work: Work::Lost,
        may_be_infeasible: false,
        wall_rates: &[],
    };

    /// Rules of frictional laws whose answers are feasible.
    pub const FRICTIONAL: Self = Self {
        friction: true,
        ..Self::FRICTIONLESS
    };
}

/// Rule that an answer must satisfy to be called resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateRule {
    /// Every number is finite.
    Finite,
    /// Impulses explain the change of momentum.
    Momentum,
    /// No contact approaches after the impact.
    Approach,
    /// Constraints hold after the impact.
    Constraint,
    /// No contact pulls.
    Pull,
    /// Friction stays in its cone.
    Friction,
    /// No energy is gained.
    Energy,
    /// Contacts that push end with the velocity that the law asks for.
    Velocity,
    /// Friction opposes the sliding of the contacts that slide.
    Sliding,
    /// Impulses that cancel do not hide what contacts do.
    Cancellation,
}

impl fmt::Display for GateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finite => "a number is not finite",
            Self::Momentum => "the impulses do not explain the change of momentum",
            Self::Approach => "a contact still approaches",
            Self::Constraint => "a constraint is violated",
            Self::Pull => "a contact pulls",
            Self::Friction => "friction leaves its cone",
            Self::Energy => "energy is gained",
            Self::Velocity => "a pushing contact misses the velocity that the law asks for",
            Self::Sliding => "friction does not oppose the sliding",
            Self::Cancellation => {
                "huge impulses that cancel hide that contacts approach or miss what the law asks for \
                 (where a law has no answer they look like that; try another law)"
            }
        })
    }
}

/// Failure of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Breach {
    /// The rule that is broken worst.
    pub rule: GateRule,
    /// By how much, as a fraction of its own terms.
    pub measure: f64,
    /// Contacts that approach after the impact, pull or leave their cone.
    pub contacts: Vec<usize>,
    /// True if nothing but rules 3 and 4 is broken at contacts.
    pub is_feasibility: bool,
}

impl Breach {
    pub(crate) fn of(rule: GateRule, measure: f64) -> Self {
        Self {
            rule,
            measure,
            contacts: Vec::new(),
            is_feasibility: false,
        }
    }

    fn join(&mut self, other: Self) {
        self.is_feasibility &= other.is_feasibility;
        self.contacts.extend(other.contacts);
        if !(self.measure >= other.measure) {
            self.rule = other.rule;
            self.measure = other.measure;
        }
    }
}

/// An answer in the units of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) velocity_plus: &'a [f64],
    pub(crate) impulses: &'a [f64],
    pub(crate) constraint_impulses: &'a [f64],
}

/// Findings of the first five rules.
pub(crate) struct Inspection {
    /// `None` if the answer passes.
    pub(crate) breach: Option<Breach>,
    /// True if a contact looks bad on fewer terms than $S$ has.
    pub(crate) is_suspect: bool,
    /// True if in a coordinate the rounding of impulses that cancel may be as large as the momentum there.
    pub(crate) may_be_rounding: bool,
}

/// Asks the first five rules of an answer.
///
/// Here only what is cheap: contacts that look bad on fewer terms than $S$ has are looked at again.
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
                may_be_rounding: false,
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
    // Written so that NaN fails, here and below.
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
    if is_suspect {
        let terms = OwnTerms::new(problem, answer);
        if let Some(found) = constraint
            && let Some(worse) = terms.constraints(problem, answer, found)
        {
            raise(worse);
        }
        if let Some(found) = terms.feasibility(problem, answer, rules) {
            raise(found);
        }
    }
    Inspection {
        breach,
        is_suspect,
        may_be_rounding,
    }
}

/// Momentum and work of an answer, summed row by row, with the sizes of their terms.
struct Balance {
    scale: f64,
    /// Scaled velocities before and after.
    before: Numbers,
    after: Numbers,
    /// Momentum that no impulse explains, but for the change itself.
    left: Numbers,
    /// Size of the terms of `left`.
    size: Numbers,
    work: f64,
    /// Rounding of the work, and the share of its terms that the gate forgives.
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

    /// Adds a row and its impulse; `counted` is the velocity before that counts for the work, if that is not the
    /// row's own.
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
        // The terms of the velocity before count: it may have been stopped except for rounding.
        let terms = f64::max(counted.abs(), rates.before.abs()) + rates.after.abs();
        self.work_size += impulse.abs() * (0.5 * GATE_TOLERANCE * terms + ROUNDING * rates.size);
        rates
    }

    /// Adds the rows of all contacts. True if one approaches, pulls or leaves its cone, at a first look.
    fn add_contacts(
        &mut self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
        rules: &Rules<'_>,
    ) -> bool {
        let contacts = problem.contacts();
        let mut is_suspect = false;
        for (i, contact) in contacts.contacts().iter().enumerate() {
            let first = contacts.row(i);
            let impulse = answer.impulses[first];
            let unit = contacts.row_norm(first) * contacts.row_scale(first);
            let rebound = match rules.work {
                Work::Rebound(rates) => rates.get(i).map(|rate| -rate * unit),
                Work::Lost | Work::Any => None,
            };
            let normal = contact.normal.0.as_slice();
            let rates = self.add(normal, contacts.row_scale(first), impulse, rebound);
            let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
            let approach = match wall {
                None | Some(0.0) => rates.after,
                Some(rate) => rates.after + rate * unit,
            };
            let limit = GATE_TOLERANCE * rates.size + problem.rounding(i) * unit;
            is_suspect |= !(approach >= -limit) && !rules.may_approach;
            is_suspect |= !(impulse >= 0.0) && !rules.may_pull;
            let counted = rebound.map(|_| 0.0);
            let mut tangential = 0.0f64;
            for (row, tangent) in (first + 1..).zip(&contact.tangents) {
                let impulse = answer.impulses[row];
                let tangent = tangent.0.as_slice();
                self.add(tangent, contacts.row_scale(row), impulse, counted);
                tangential = libm::hypot(tangential, impulse);
            }
            is_suspect |= rules.friction && !(tangential <= contact.friction * impulse);
        }
        is_suspect
    }

    /// Adds the rows of the constraints, and finds the last that is broken, at a first look.
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

/// Rule 2, with what the impulses leave and the size of their terms; and whether in a coordinate the rounding of these terms
/// is a large part of the momentum.
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
    // Symmetric: a column is a row.
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

/// The own terms $S$ of every row, for scaled velocities.
pub(crate) struct OwnTerms {
    before: Numbers,
    after: Numbers,
    /// $|v_k^-| + |v_k^+| + \sum_r|(M^{-1}a_r^T)_k\lambda_r|$.
    made: Numbers,
}

impl OwnTerms {
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
        for (row, covector) in contacts.jacobian_rows().enumerate() {
            add(
                covector.0.as_slice(),
                contacts.row_scale(row),
                answer.impulses[row],
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

    /// Velocity before, after and $S$ of a row times its power of two, scaled.
    pub(crate) fn of(&self, row: &[f64], row_scale: f64) -> (f64, f64, f64) {
        let scaled: Numbers = row.iter().map(|a| a * row_scale).collect();
        let (before, _) = dot_and_size(&scaled, &self.before);
        let (after, _) = dot_and_size(&scaled, &self.after);
        let (_, size) = dot_and_size(&scaled, &self.made);
        (before, after, size)
    }

    /// $S$ of every row of the Jacobian over its kinetic length, scaled.
    pub(crate) fn of_unit_rows(&self, contacts: &ContactSet<'_>) -> Vec<f64> {
        let sizes = contacts.jacobian_rows().enumerate().map(|(row, covector)| {
            let row_scale = contacts.row_scale(row);
            let (_, _, size) = self.of(covector.0.as_slice(), row_scale);
            size / (contacts.row_norm(row) * row_scale)
        });
        sizes.collect()
    }

    /// Motion that every row of the Jacobian sees by itself, $\sum_k|a_k|(|v_k^-| + |v_k^+|)/\lVert a\rVert$, scaled.
    pub(crate) fn moved_by_unit_rows(&self, contacts: &ContactSet<'_>) -> Vec<f64> {
        let rows = contacts.jacobian_rows().enumerate();
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

    /// Motion of every row with all that pushing rows connect with it, and the size of the impulses there;
    /// `alone` is what it moves by itself.
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
        let pushes = impulses_on_units.iter().enumerate();
        let pushes = pushes.filter(|(_, l)| **l != 0.0);
        let rows = pushes.clone().map(|(row, _)| contacts.unit_row(row));
        let (of, of_rows) = groups(metric.dim(), rows);
        let mut around = vec![Moved::default(); metric.dim()];
        for (group, p) in of.iter().zip(&momentum) {
            around[*group].velocity = libm::hypot(around[*group].velocity, *p);
        }
        for (group, (_, l)) in of_rows.iter().zip(pushes) {
            around[*group].impulses = libm::hypot(around[*group].impulses, *l);
        }
        let mut touched = vec![Moved::default(); metric.dim()];
        let rows = alone.iter().enumerate();
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
        let forms = problem.contacts().constraint_forms();
        let worst = forms
            .iter()
            .zip(answer.constraint_impulses)
            .map(|(form, _)| {
                let row = form.0.as_slice();
                let scale = kernel::power_of_two_scale(kernel::max_abs(row));
                let (before, after, size) = self.of(row, scale);
                (after.abs() - before.abs()) / if size == 0.0 { 1.0 } else { size }
            })
            .fold(0.0, |worst, x| if x <= worst { worst } else { x });
        (!(worst <= GATE_TOLERANCE)).then_some(Breach {
            measure: worst,
            ..found
        })
    }

    /// Rules 3 and 4 on all terms.
    fn feasibility(
        &self,
        problem: &ImpactProblem<'_>,
        answer: &Answer<'_>,
        rules: &Rules<'_>,
    ) -> Option<Breach> {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let scale = problem.scale();
        let mut worst: Option<Breach> = None;
        let mut raise = |rule, contact, measure: f64| {
            if measure <= GATE_TOLERANCE {
                return;
            }
            let found = Breach {
                rule,
                measure,
                contacts: vec![contact],
                is_feasibility: true,
            };
            match &mut worst {
                None => worst = Some(found),
                Some(worst) => worst.join(found),
            }
        };
        // The impulse that would make S of a row, as given.
        let natural = |row: usize, covector: &carom_metric::Covector| {
            let row_scale = contacts.row_scale(row);
            let (_, _, size) = self.of(covector.0.as_slice(), row_scale);
            let mut whitened: Numbers = covector.0.iter().map(|a| a * row_scale).collect();
            metric.whiten_in_place(&mut whitened);
            size / kernel::dot(&whitened, &whitened) * row_scale / scale
        };
        for (i, contact) in contacts.contacts().iter().enumerate() {
            let first = contacts.row(i);
            let row_scale = contacts.row_scale(first);
            let (_, after, size) = self.of(contact.normal.0.as_slice(), row_scale);
            let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
            let wall = wall.unwrap_or(0.0) * contacts.row_norm(first) * row_scale;
            let approach = after + wall;
            if !(approach >= 0.0) && !rules.may_approach {
                // Rounding of the velocity as given hides approaches below this.
                let unit = contacts.row_norm(first) * row_scale;
                let hidden = problem.rounding(i) * unit / GATE_TOLERANCE;
                let size = size + wall.abs() + hidden;
                raise(GateRule::Approach, i, -approach / size);
            }
            let impulse = answer.impulses[first];
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
            let rows = first + 1..contacts.row(i + 1);
            let tangential = rows
                .clone()
                .fold(0.0f64, |sum, row| libm::hypot(sum, answer.impulses[row]));
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
        worst
    }
}
