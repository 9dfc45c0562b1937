//! Conversion of impulses to a checked outcome. Every law ends here: there is no other way to an [`ImpactOutcome`].

use crate::digits::{self, REFUSED_DIGITS};
use crate::event_scale::rates;
use crate::gate::{
    Answer, Breach, GATE_TOLERANCE, GateRule, Moved, REFINED, ResidualScales, Rules, inspect,
};
use crate::numbers::Numbers;
use crate::prescribed::{distance, largest_missed};
use crate::residual_scale::{above, divisor, dot_and_size, worst};
use crate::twice::{Twice, dot_of_sum};
use crate::{Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, audit};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;
use smallvec::smallvec;

pub use crate::basis::{Basis, Elastic, Opening, Targets};

/// Number of corrections of the impulses in one refinement.
const CORRECTIONS: usize = 3;

/// Largest number of refinements until the gate must accept an answer. Several are needed for contacts that slide in
/// space, where a correction is one Newton step.
const REFINEMENTS: usize = 4;

/// Ratio of the rounding scale of a pushing row to the velocities of its bodies above which the impulses are computed again in
/// twice the precision. They amplify rounding by at least this ratio, and by its square if they follow from a Delassus matrix:
/// to less than 1e-11 of the velocities.
const CANCELLING: f64 = 256.0;

/// Distance from the prescribed velocities, as a fraction of the velocities around these rows, up to which an answer is not
/// computed again: it may be rounding of the velocities themselves.
const NEAR: f64 = 64.0 * f64::EPSILON;

/// A constraint velocity below this fraction of the terms that it is the sum of is a rounding error.
const ADMISSIBLE: f64 = 4.0 * f64::EPSILON;

/// Impulses that an impact law has found, not yet accepted by the gate (the checks of momentum, contacts, friction and
/// energy). [`outcome`](Self::outcome) makes these checks.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Scaled impulses on the unit rows of the Jacobian, one per row.
    pub impulse: Numbers,
    /// Change of the scaled whitened momentum that the impulses make (n entries). It is stored next to the impulses because
    /// for two nearly opposed normals the change is small and the impulses are large: a sum of the impulses would lose
    /// its significant digits.
    pub change: Numbers,
}

/// Velocity after the impact and impulses on the caller's rows, without the internal scaling.
struct Built {
    velocity_plus: Tangent,
    /// Change of the velocity by the impulses (n entries): the difference of the velocities, with all its digits.
    change: DVector<f64>,
    impulses: DVector<f64>,
    constraint_impulses: DVector<f64>,
}

impl Built {
    fn answer(&self) -> Answer<'_> {
        Answer {
            velocity_plus: self.velocity_plus.0.as_slice(),
            impulses: self.impulses.as_slice(),
            constraint_impulses: self.constraint_impulses.as_slice(),
        }
    }

    fn audited(
        self,
        problem: &ImpactProblem<'_>,
        rules: &Rules<'_>,
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let Self {
            mut velocity_plus,
            change,
            mut impulses,
            mut constraint_impulses,
        } = self;
        let given = problem.as_given()?;
        if let Some(given) = &given {
            // Degrees of freedom that no impulse changes keep their velocity to the last bit.
            velocity_plus = Tangent(&given.velocity_minus().0 + &change);
        }
        for vector in [
            &mut velocity_plus.0,
            &mut impulses,
            &mut constraint_impulses,
        ] {
            // The sign of a zero depends on the processor; −0 + 0 is 0.
            vector.add_scalar_mut(0.0);
        }
        let posed = problem;
        let problem = given.as_ref().unwrap_or(posed);
        let mut audit = audit::audit(problem, &velocity_plus, &impulses, &constraint_impulses)?;
        let answer = Answer {
            velocity_plus: velocity_plus.0.as_slice(),
            impulses: impulses.as_slice(),
            constraint_impulses: constraint_impulses.as_slice(),
        };
        let estimate = match status {
            ImpactStatus::Jammed => None,
            _ => digits::digits(
                problem,
                posed,
                &answer,
                change.as_slice(),
                rules,
                &diagnostics,
            ),
        };
        audit.digits = estimate.map(|estimate| estimate.digits);
        // Impacts in turn add up their rounding, which is all that approaches.
        if estimate.is_none() {
            audit.closing = 0.0;
        } else if given.is_some() || !rules.wall_rates.is_empty() {
            audit.closing = digits::closing(problem, posed, &answer, rules.wall_rates);
        }
        if !audit.is_finite() {
            return Err(ImpactError::Overflow);
        }
        let left = digits::left(&audit);
        if left < REFUSED_DIGITS {
            return Err(ImpactError::IllConditioned {
                digits: left,
                nearest: estimate.and_then(|estimate| estimate.nearest),
            });
        }
        Ok(ImpactOutcome {
            velocity_plus,
            impulses,
            constraint_impulses,
            status,
            audit,
            diagnostics,
        })
    }
}

impl Candidate {
    /// Creates an unchecked answer from the impulses of a law, and sums up the change of momentum that the impulses cause.
    /// `impulse` has one entry per row of the contact Jacobian. Each entry is the impulse on that row normalized to unit
    /// kinetic length, multiplied by [`ImpactProblem::scale`].
    pub fn new(problem: &ImpactProblem<'_>, impulse: Numbers) -> Self {
        let mut change: Numbers = smallvec![0.0; problem.momentum().len()];
        for (row, &l) in problem.contacts().all_rows().zip(&impulse) {
            if l != 0.0 {
                kernel::add_scaled(&mut change, l, problem.contacts().unit_row(row));
            }
        }
        Self { impulse, change }
    }

    /// Converts the impulses to an outcome if they pass the gate, which checks momentum, contacts, friction and energy.
    /// `rules` selects the checks. An answer that fails because of rounding is corrected first, with the active set `basis`
    /// of the law. `status` and `diagnostics` are copied to the outcome.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Inaccurate`]; [`ImpactError::InfeasibleLaw`] if `rules` say that the exact answer of the law may
    /// penetrate or pull, and the answer does so; [`ImpactError::Overflow`].
    pub fn outcome(
        mut self,
        problem: &ImpactProblem<'_>,
        rules: &Rules<'_>,
        basis: &mut dyn Basis,
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        if status != ImpactStatus::Resolved {
            return self
                .build(problem)
                .audited(problem, rules, status, diagnostics);
        }
        let mut built = self.built_on_constraints(problem);
        let mut found = judge(problem, &built, rules, basis);
        let mut is_refined = false;
        for _ in 0..REFINEMENTS {
            let corrects = match &found.breach {
                Some(breach) => basis.can_correct(breach),
                None if found.hidden > REFINED || found.masked > 0.0 => true,
                None if found.distance.is_some() && !is_refined => true,
                None => break,
            };
            let refined = self.refine(problem, basis, corrects);
            let next = judge(problem, &refined, rules, basis);
            // An accepted answer is kept unless the refined one is accepted and better.
            let is_nearer = found.distance.is_some_and(|far| {
                // Rows that nearly depend on each other would turn rounding of the rows into velocities.
                next.distance.is_none_or(|near| near < far)
                    && change(problem, &built, &refined) <= 2.0 * far
            });
            let is_better = next.hidden < found.hidden || next.masked < found.masked || is_nearer;
            if found.breach.is_none() && !(next.breach.is_none() && is_better) {
                break;
            }
            (built, found, is_refined) = (refined, next, true);
            if !corrects {
                break;
            }
        }
        let Some(breach) = found.breach else {
            let diagnostics =
                diagnostics.with_residuals(found.velocity_residual, found.own_residual);
            return built.audited(problem, rules, status, diagnostics);
        };
        if rules.may_be_infeasible && breach.is_feasibility {
            let rules = Rules {
                may_approach: true,
                ..*rules
            };
            return Err(ImpactError::InfeasibleLaw {
                contacts: breach.contacts,
                found: Some(Box::new(built.audited(
                    problem,
                    &rules,
                    status,
                    diagnostics,
                )?)),
            });
        }
        if breach.rule == GateRule::Finite {
            return Err(ImpactError::Overflow);
        }
        Err(ImpactError::Inaccurate {
            rule: breach.rule,
            measure: breach.measure,
            contacts: breach.contacts,
        })
    }

    fn build(&mut self, problem: &ImpactProblem<'_>) -> Built {
        let contacts = problem.contacts();
        let impulses = given(problem, &self.impulse);
        contacts
            .metric()
            .unwhiten_velocity_in_place(&mut self.change);
        let mut velocity_plus = problem.velocity_minus().0.clone();
        let unscale = 1.0 / problem.scale();
        kernel::add_scaled(velocity_plus.as_mut_slice(), unscale, &self.change);
        Built {
            velocity_plus: Tangent(velocity_plus),
            change: DVector::from_column_slice(&self.change) * unscale,
            constraint_impulses: contacts.constraint_impulses(&impulses),
            impulses,
        }
    }

    /// Computes the velocity after the impact from the impulses, and corrects it so that it satisfies the constraints up to
    /// rounding.
    fn built_on_constraints(&mut self, problem: &ImpactProblem<'_>) -> Built {
        let mut built = self.build(problem);
        if !built.constraint_impulses.is_empty() {
            let mut plus = scaled(built.velocity_plus.0.as_slice(), problem.scale());
            let still: Numbers = smallvec![0.0; plus.len()];
            built.constraint_impulses += restore_constraints(problem, &still, &mut plus);
            let unscale = 1.0 / problem.scale();
            let restored = plus.iter().map(|v| v * unscale);
            let restored = DVector::from_iterator(plus.len(), restored);
            built.change += &restored - built.velocity_plus.0;
            built.velocity_plus = Tangent(restored);
        }
        built
    }

    /// Recomputes the velocity after the impact from the impulses in twice the working precision. If `corrects` is true, the
    /// active set `basis` first corrects the impulses up to three times, each time given the velocities of the contact rows
    /// that the impulses cause.
    #[cold]
    fn refine(
        &mut self,
        problem: &ImpactProblem<'_>,
        basis: &mut dyn Basis,
        corrects: bool,
    ) -> Built {
        let contacts = problem.contacts();
        let scale = problem.scale();
        let minus: Numbers = scaled(problem.velocity_minus().0.as_slice(), scale);
        let still: Numbers = smallvec![0.0; minus.len()];
        let before = rates(contacts, &minus, &still);
        let mut response = Response::new(problem, &minus, &self.impulse);
        for _ in 0..if corrects { CORRECTIONS } else { 0 } {
            let after = rates(contacts, &minus, &response.change);
            let last = self.impulse.clone();
            basis.correct(contacts, &before, &after, &mut self.impulse);
            if self.impulse == last {
                break;
            }
            response = Response::new(problem, &minus, &self.impulse);
        }
        let sums = minus.iter().zip(&response.change);
        let velocity_plus = sums.map(|(minus, change)| (minus + change) / scale);
        Built {
            velocity_plus: Tangent(DVector::from_iterator(minus.len(), velocity_plus)),
            change: DVector::from_column_slice(&response.change) / scale,
            impulses: response.impulses,
            constraint_impulses: response.multipliers,
        }
    }
}

/// Returns the kinetic length of the difference of the velocities of two answers, scaled.
#[cold]
fn change(problem: &ImpactProblem<'_>, one: &Built, other: &Built) -> f64 {
    let difference = &one.velocity_plus.0 - &other.velocity_plus.0;
    let mut whitened: Numbers = smallvec![0.0; difference.len()];
    let metric = problem.contacts().metric();
    metric.whiten_velocity_into(difference.as_slice(), &mut whitened);
    kernel::norm(&whitened) * problem.scale()
}

/// Result of the checks of the gate.
struct Found {
    breach: Option<Breach>,
    velocity_residual: Option<f64>,
    own_residual: f64,
    /// Largest velocity that a row misses behind impulses that cancel, as a fraction of the row's reference velocity.
    hidden: f64,
    /// Largest velocity that a row misses and that passes only because rounding of the momentum may hide it, as a fraction of
    /// the rounding scale of the row.
    masked: f64,
    /// Kinetic distance to the nearest velocity that has all prescribed row velocities, scaled. Given if most of the impulses
    /// at some row cancel: rows that nearly depend on each other then miss little although the velocity is far off.
    distance: Option<f64>,
}

fn judge(
    problem: &ImpactProblem<'_>,
    built: &Built,
    rules: &Rules<'_>,
    basis: &dyn Basis,
) -> Found {
    let answer = built.answer();
    let inspection = inspect(problem, &answer, rules);
    let mut found = Found {
        breach: inspection.breach,
        velocity_residual: None,
        own_residual: 0.0,
        hidden: 0.0,
        masked: f64::max(inspection.masked, closing_as_given(problem, built, rules)),
        distance: None,
    };
    let is_asked = basis.has_residual() || (inspection.is_suspect && !rules.may_approach);
    // An infeasible answer (contacts approach or pull) is reported as such only if it is accurate otherwise.
    let is_infeasible = found.breach.as_ref().is_some_and(|b| b.is_feasibility);
    if found.breach.is_some() && !(is_infeasible && rules.may_be_infeasible) {
        return found;
    }
    if inspection.may_be_rounding
        && let Some(breach) = explains_nothing(problem, built, &answer)
    {
        found.breach = Some(breach);
        return found;
    }
    if !is_asked {
        return found;
    }
    let contacts = problem.contacts();
    let scales = inspection.scales;
    let own = scales.unwrap_or_else(|| ResidualScales::new(problem, &answer));
    let plus = scaled(answer.velocity_plus, problem.scale());
    let still: Numbers = smallvec![0.0; plus.len()];
    let after = rates(contacts, &plus, &still);
    let units = on_units(problem, built);
    let alone = own.moved_by_unit_rows(contacts);
    let asked = basis.missed(contacts, &after);
    if basis.has_residual() {
        let terms = own.of_unit_rows(contacts);
        let mut sizes = alone.iter().zip(&terms).zip(&units);
        if sizes.any(|((own, all), l)| *l != 0.0 && *all > CANCELLING * own) {
            let speeds = asked.iter().map(|(row, _)| alone[row.index()]);
            let near = NEAR * speeds.fold(0.0, f64::max);
            found.distance = Some(distance(contacts, &asked)).filter(|far| *far > near);
        }
        let residuals = |terms: &[f64]| {
            let own = basis.own_residual(contacts, &after, &units, terms);
            [largest_missed(&asked, terms), own]
        };
        let mut residual = residuals(&terms);
        if residual
            .iter()
            .any(|residual| !(*residual <= GATE_TOLERANCE))
        {
            found.masked = worst(residual.into_iter().chain([found.masked]));
            residual = residuals(&above(&terms, &problem.hidden_velocities(), GATE_TOLERANCE));
        }
        found.velocity_residual = Some(residual[0]);
        found.own_residual = residual[1];
        for (rule, residual) in [GateRule::Velocity, GateRule::Sliding]
            .into_iter()
            .zip(residual)
        {
            if !(residual <= GATE_TOLERANCE) {
                found.breach = Some(Breach::of(rule, residual));
                return found;
            }
        }
    }
    // Largest velocity that a contact misses, divided by the given size of its row.
    let missed = |sizes: &[f64]| {
        let approach = contacts.indices().map(|i| {
            let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
            let (row, wall) = (contacts.row(i).index(), wall.unwrap_or(0.0));
            let approach = if rules.may_approach || is_infeasible {
                0.0
            } else {
                -(after[row] + wall)
            };
            approach.max(0.0) / divisor(sizes[row] + wall.abs())
        });
        let required = largest_missed(&asked, sizes);
        let slip = basis.slip_residual(contacts, &after, &units, sizes);
        worst(approach.chain([required, slip]))
    };
    found.hidden = missed(&alone);
    if found.hidden <= REFINED {
        return found;
    }
    let hidden = problem.hidden_velocities();
    let moved = own.moved_around_unit_rows(problem, &units, &alone);
    let velocities: Vec<f64> = moved.iter().map(|row| row.velocity).collect();
    found.hidden = missed(&above(&velocities, &hidden, REFINED));
    if !(found.hidden <= REFINED) {
        let limits: Vec<f64> = moved.iter().map(Moved::limit).collect();
        if !(missed(&above(&limits, &hidden, 1.0)) <= 1.0) {
            found.breach = Some(Breach::of(GateRule::Cancellation, found.hidden));
        }
    }
    found
}

/// Largest approach of a contact after the impact, seen with the velocity that the caller gave, as a fraction of the terms of
/// that velocity and of the velocity after. 0 if it is within the tolerance of the gate, or if the problem was not reduced. The
/// part of a velocity in the span of the contact rows may have larger entries than the velocity, so that in the reduced
/// problem the same approach is a smaller fraction.
fn closing_as_given(problem: &ImpactProblem<'_>, built: &Built, rules: &Rules<'_>) -> f64 {
    let Some(given) = problem.given().filter(|_| !rules.may_approach) else {
        return 0.0;
    };
    let contacts = problem.contacts();
    let before = scaled(given.0.as_slice(), problem.scale());
    let change = scaled(built.change.as_slice(), problem.scale());
    let fractions = contacts.indexed().map(|(i, contact)| {
        let row_scale = contacts.row_scale(contacts.row(i));
        let normal = scaled(contact.normal.0.as_slice(), row_scale);
        let after = dot_of_sum(&normal, &before, &change);
        let terms = normal.iter().zip(before.iter().zip(&change));
        let size: f64 = terms
            .map(|(a, (v, d))| a.abs() * (v.abs() + (v + d).abs()))
            .sum();
        let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
        let wall = wall.unwrap_or(0.0) * contacts.row_norm(contacts.row(i)) * row_scale;
        (-after - wall).max(0.0) / divisor(size + wall.abs())
    });
    let closing = worst(fractions);
    if closing <= GATE_TOLERANCE {
        0.0
    } else {
        closing
    }
}

/// Converts the physical impulses on the caller's rows to scaled impulses on the contact rows of unit kinetic length (unit
/// rows).
fn on_units(problem: &ImpactProblem<'_>, built: &Built) -> Numbers {
    let contacts = problem.contacts();
    let impulses = contacts.all_rows().zip(&built.impulses);
    impulses
        .map(|(row, l)| l * contacts.row_norm(row) * problem.scale())
        .collect()
}

/// Reports a breach of [`GateRule::Cancellation`] if the impulses are so large that their rounding error is a large part of
/// the velocities around them; else `None`. The momentum balance would then pass for any velocity.
#[cold]
fn explains_nothing(
    problem: &ImpactProblem<'_>,
    built: &Built,
    answer: &Answer<'_>,
) -> Option<Breach> {
    let own = ResidualScales::new(problem, answer);
    let alone = own.moved_by_unit_rows(problem.contacts());
    let moved = own.moved_around_unit_rows(problem, &on_units(problem, built), &alone);
    let largest = worst(moved.iter().map(Moved::rounding));
    { moved.iter() }
        .any(Moved::is_rounding)
        .then(|| Breach::of(GateRule::Cancellation, largest))
}

/// Corrects the change of a velocity so that the velocity after it, `minus` + `change`, satisfies the constraints. Both parts
/// have n entries and are scaled. Returns the constraint impulses that do so, one per constraint.
///
/// This matters if an impact leaves only a small part of a velocity: the rounding error of the velocity before is then no
/// small part of the velocity after.
fn restore_constraints(
    problem: &ImpactProblem<'_>,
    minus: &[f64],
    change: &mut [f64],
) -> DVector<f64> {
    let contacts = problem.contacts();
    let (metric, forms) = (contacts.metric(), contacts.constraint_forms());
    let scale = problem.scale();
    let mut total = DVector::zeros(forms.len());
    for _ in 0..CORRECTIONS {
        let after: Numbers = minus.iter().zip(&*change).map(|(v, d)| v + d).collect();
        let mut is_missed = false;
        let missed = forms.iter().map(|form| {
            let row = form.0.as_slice();
            let missed = dot_of_sum(row, minus, change);
            is_missed |= missed.abs() > ADMISSIBLE * dot_and_size(row, &after).1;
            missed
        });
        let missed = DVector::from_iterator(forms.len(), missed);
        if !is_missed {
            break;
        }
        let multipliers = contacts.stop_constraints(missed);
        let mut correction: Numbers = smallvec![0.0; change.len()];
        for (form, multiplier) in forms.iter().zip(&multipliers) {
            kernel::add_scaled(&mut correction, *multiplier, form.0.as_slice());
        }
        metric.whiten_in_place(&mut correction);
        metric.unwhiten_velocity_in_place(&mut correction);
        kernel::add_scaled(change, 1.0, &correction);
        total += multipliers / scale;
    }
    total
}

fn scaled(velocity: &[f64], scale: f64) -> Numbers {
    velocity.iter().map(|v| v * scale).collect()
}

/// Converts scaled impulses on the contact rows of unit kinetic length (unit rows) to physical impulses on the caller's
/// rows, one per row.
fn given(problem: &ImpactProblem<'_>, impulse: &[f64]) -> DVector<f64> {
    let unscale = 1.0 / problem.scale();
    let contacts = problem.contacts();
    let impulses = contacts.all_rows().zip(impulse);
    let impulses = impulses.map(|(row, l)| l * unscale / contacts.row_norm(row));
    DVector::from_iterator(impulse.len(), impulses)
}

/// Scaled change of the velocity (n entries) that impulses on the caller's rows make, in about twice the working precision,
/// with the constraint multipliers.
struct Response {
    change: Numbers,
    impulses: DVector<f64>,
    multipliers: DVector<f64>,
}

impl Response {
    fn new(problem: &ImpactProblem<'_>, minus: &[f64], impulse: &[f64]) -> Self {
        let contacts = problem.contacts();
        let impulses = given(problem, impulse);
        let mut multipliers = contacts.constraint_impulses(&impulses);
        let mut change = solve(problem, &impulses, &multipliers);
        if !multipliers.is_empty() {
            let still: Numbers = smallvec![0.0; change.len()];
            let left = contacts.constraint_forms().iter();
            let left = left.map(|form| dot_of_sum(form.0.as_slice(), &change, &still));
            let left = DVector::from_iterator(multipliers.len(), left);
            multipliers += contacts.stop_constraints(left) / problem.scale();
            change = solve(problem, &impulses, &multipliers);
            // Huge multipliers are rounded: contact rows that nearly depend on the constraints would amplify what is missed.
            multipliers += restore_constraints(problem, minus, &mut change);
        }
        Self {
            change,
            impulses,
            multipliers,
        }
    }
}

/// Computes the scaled velocity change $M^{-1}(J^T\lambda + A^T\nu)$ caused by contact impulses $\lambda$ and constraint
/// multipliers $\nu$, with the mass matrix $M$, contact rows $J$ and constraint rows $A$. Iterative refinement uses
/// residuals in twice the working precision.
fn solve(
    problem: &ImpactProblem<'_>,
    impulses: &DVector<f64>,
    multipliers: &DVector<f64>,
) -> Numbers {
    let contacts = problem.contacts();
    let metric = contacts.metric();
    let (n, scale) = (metric.dim(), problem.scale());
    let mut force = vec![Twice::default(); n];
    let mut add = |row: &[f64], row_scale: f64, impulse: f64| {
        let impulse = impulse * (scale / row_scale);
        for (force, a) in force.iter_mut().zip(row) {
            force.add_product(a * row_scale, impulse);
        }
    };
    for (row, covector) in contacts.all_rows().zip(contacts.jacobian_rows()) {
        add(
            covector.0.as_slice(),
            contacts.row_scale(row),
            impulses[row.index()],
        );
    }
    for (form, multiplier) in contacts.constraint_forms().iter().zip(multipliers) {
        let row = form.0.as_slice();
        let row_scale = kernel::power_of_two_scale(kernel::max_abs(row));
        add(row, row_scale, *multiplier);
    }
    let mass = metric.mass_matrix().as_slice();
    let mut change: Numbers = smallvec![0.0; n];
    for _ in 0..CORRECTIONS {
        let mut residual: Numbers = smallvec![0.0; n];
        for ((residual, force), row) in residual.iter_mut().zip(&force).zip(mass.chunks_exact(n)) {
            let mut sum = *force;
            for (m, x) in row.iter().zip(&change) {
                sum.add_product(*m, -x);
            }
            *residual = sum.value();
        }
        metric.whiten_in_place(&mut residual);
        metric.unwhiten_velocity_in_place(&mut residual);
        kernel::add_scaled(&mut change, 1.0, &residual);
    }
    change
}
