//! Conversion of impulses to a checked outcome. Every law ends here: there is no other way to an [`ImpactOutcome`].

use crate::digits::{self, REFUSED_DIGITS};
use crate::gate::{
    Answer, Breach, GATE_TOLERANCE, GateRule, Moved, REFINED, ResidualScales, Rules, inspect,
};
use crate::numbers::Numbers;
use crate::residual_scale::{above, divisor, dot_and_size, worst};
use crate::{Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, audit};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;
use smallvec::smallvec;

pub use crate::basis::{Basis, Missed, Opening, Targets};

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
        let corrects = match &found.breach {
            Some(breach) => basis.can_correct(breach),
            None => found.hidden > REFINED || found.masked > 0.0,
        };
        if corrects {
            self.correct(problem, basis, &built);
            let corrected = self.built_on_constraints(problem);
            let next = judge(problem, &corrected, rules, basis);
            // An accepted answer is kept unless the corrected one is accepted and better.
            let is_better = next.hidden < found.hidden || next.masked < found.masked;
            if found.breach.is_some() || next.breach.is_none() && is_better {
                (built, found) = (corrected, next);
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

    fn build(&self, problem: &ImpactProblem<'_>) -> Built {
        let contacts = problem.contacts();
        let impulses = given(problem, &self.impulse);
        let mut change = self.change.clone();
        contacts.metric().unwhiten_velocity_in_place(&mut change);
        let mut velocity_plus = problem.velocity_minus().0.clone();
        let unscale = 1.0 / problem.scale();
        kernel::add_scaled(velocity_plus.as_mut_slice(), unscale, &change);
        Built {
            velocity_plus: Tangent(velocity_plus),
            change: DVector::from_column_slice(&change) * unscale,
            constraint_impulses: contacts.constraint_impulses(&impulses),
            impulses,
        }
    }

    /// Computes the velocity after the impact from the impulses, and corrects it once so that it satisfies the constraints up to
    /// rounding. This matters if an impact leaves only a small part of a velocity: the rounding error of the velocity before is
    /// then no small part of the velocity after.
    fn built_on_constraints(&self, problem: &ImpactProblem<'_>) -> Built {
        let mut built = self.build(problem);
        let contacts = problem.contacts();
        let forms = contacts.constraint_forms();
        let mut is_missed = false;
        let missed = forms.iter().map(|form| {
            let (missed, size) = dot_and_size(form.0.as_slice(), built.velocity_plus.0.as_slice());
            is_missed |= missed.abs() > ADMISSIBLE * size;
            missed
        });
        let missed = DVector::from_iterator(forms.len(), missed);
        if is_missed {
            let multipliers = contacts.stop_constraints(missed);
            let mut correction = DVector::zeros(built.change.len());
            for (form, multiplier) in forms.iter().zip(&multipliers) {
                correction.axpy(*multiplier, &form.0, 1.0);
            }
            contacts.metric().whiten_in_place(correction.as_mut_slice());
            contacts
                .metric()
                .unwhiten_velocity_in_place(correction.as_mut_slice());
            built.velocity_plus.0 += &correction;
            built.change += correction;
            built.constraint_impulses += multipliers;
        }
        built
    }

    /// Corrects the impulses once with the active set `basis`, given the velocities of the contact rows that they cause.
    #[cold]
    fn correct(&mut self, problem: &ImpactProblem<'_>, basis: &mut dyn Basis, built: &Built) {
        let contacts = problem.contacts();
        let before = contacts.rates(problem.velocity_minus().0.as_slice(), problem.scale());
        let after = contacts.rates(built.velocity_plus.0.as_slice(), problem.scale());
        let mut impulse = self.impulse.clone();
        basis.correct(contacts, &before, &after, &mut impulse);
        // The sum of large impulses would lose the digits of their change.
        for (row, (new, old)) in contacts.all_rows().zip(impulse.iter().zip(&self.impulse)) {
            kernel::add_scaled(&mut self.change, new - old, contacts.unit_row(row));
        }
        self.impulse = impulse;
    }
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
        masked: inspection.masked,
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
    let after = contacts.rates(answer.velocity_plus, problem.scale());
    let units = on_units(problem, built);
    let alone = own.moved_by_unit_rows(contacts);
    let asked = basis.missed(contacts, &after);
    if basis.has_residual() {
        let terms = own.of_unit_rows(contacts);
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

/// Returns the largest velocity that a row misses, divided by the row's entry of `sizes`.
fn largest_missed(missed: &Missed, sizes: &[f64]) -> f64 {
    let missed = missed.iter();
    worst(missed.map(|(row, missed)| missed.abs() / divisor(sizes[row.index()])))
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

/// Converts scaled impulses on the contact rows of unit kinetic length (unit rows) to physical impulses on the caller's
/// rows, one per row.
fn given(problem: &ImpactProblem<'_>, impulse: &[f64]) -> DVector<f64> {
    let unscale = 1.0 / problem.scale();
    let contacts = problem.contacts();
    let impulses = contacts.all_rows().zip(impulse);
    let impulses = impulses.map(|(row, l)| l * unscale / contacts.row_norm(row));
    DVector::from_iterator(impulse.len(), impulses)
}
