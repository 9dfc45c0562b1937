//! Conversion of impulses to a checked outcome. Every law ends here: there is no other way to an [`ImpactOutcome`].

use crate::basis::Basis;
use crate::digits::{self, REFUSED_DIGITS};
use crate::gate::{Rules, check};
use crate::ledger::{Answer, Ledger};
use crate::numbers::Numbers;
use crate::{
    ContactSet, Diagnostics, GateRule, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus,
    audit,
};
use carom_metric::{MetricError, Tangent, kernel};
use nalgebra::DVector;
use smallvec::smallvec;

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
    /// Corrects the velocity once so that it satisfies the constraints. If an impact leaves only a small part of a velocity, the
    /// rounding error of the velocity before is no small part of the velocity after.
    fn restore_constraints(&mut self, contacts: &ContactSet) {
        let Some(mut missed) = contacts.along_constraints(&self.velocity_plus) else {
            return;
        };
        self.constraint_impulses -= contacts.multipliers(&missed);
        contacts
            .metric()
            .unwhiten_velocity_in_place(missed.as_mut_slice());
        self.velocity_plus.0 -= &missed;
        self.change -= missed;
    }

    /// Refines the velocity once so that its change has the momentum of the impulses: beside large inertias the factor of the mass
    /// matrix rounds the momentum of a small one.
    fn balance_momentum(&mut self, contacts: &ContactSet) {
        let metric = contacts.metric();
        let mut left = -(metric.mass_matrix() * &self.change);
        let rows = contacts.jacobian_rows().zip(&self.impulses);
        let forms = contacts.constraint_forms().iter();
        for (row, impulse) in rows.chain(forms.zip(&self.constraint_impulses)) {
            left.axpy(*impulse, &row.0, 1.0);
        }
        metric.whiten_in_place(left.as_mut_slice());
        metric.unwhiten_velocity_in_place(left.as_mut_slice());
        self.velocity_plus.0 += &left;
        self.change += left;
    }

    fn answer(&self) -> Answer<'_> {
        Answer {
            velocity_plus: self.velocity_plus.0.as_slice(),
            impulses: self.impulses.as_slice(),
            constraint_impulses: self.constraint_impulses.as_slice(),
        }
    }

    fn audited(
        mut self,
        problem: &ImpactProblem,
        ledger: Option<&Ledger>,
        rules: &Rules<'_>,
        (status, diagnostics): (ImpactStatus, Diagnostics),
    ) -> Result<ImpactOutcome, ImpactError> {
        let given = problem.as_given()?;
        if let Some(given) = &given {
            // Degrees of freedom that no impulse changes keep their velocity to the last bit.
            self.velocity_plus = Tangent(&given.velocity_minus().0 + &self.change);
        }
        for vector in [
            &mut self.velocity_plus.0,
            &mut self.impulses,
            &mut self.constraint_impulses,
        ] {
            // The sign of a zero depends on the processor; −0 + 0 is 0.
            vector.add_scalar_mut(0.0);
        }
        let posed = problem;
        let problem = given.as_ref().unwrap_or(posed);
        let (answer, change) = (self.answer(), self.change.as_slice());
        let own;
        let ledger = match ledger {
            Some(ledger) if given.is_none() => ledger,
            _ => {
                own = Ledger::new(problem, &answer);
                &own
            }
        };
        let mut audit = audit::audited(problem, &answer, ledger)?;
        let estimate = match status {
            ImpactStatus::Jammed => None,
            _ => digits::digits([problem, posed], ledger, change, rules, &diagnostics),
        };
        audit.digits = estimate.map(|estimate| estimate.digits);
        // Impacts in turn add up their rounding, which is all that approaches.
        if estimate.is_none() {
            audit.closing = 0.0;
        } else if given.is_some() || !rules.wall_rates.is_empty() {
            audit.closing = digits::closing(problem, posed, ledger, rules.wall_rates);
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
            velocity_plus: self.velocity_plus,
            impulses: self.impulses,
            constraint_impulses: self.constraint_impulses,
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
    pub fn new(problem: &ImpactProblem, impulse: Numbers) -> Self {
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
        problem: &ImpactProblem,
        rules: &Rules<'_>,
        basis: &mut dyn Basis,
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let mut built = self.build(problem);
        if status != ImpactStatus::Resolved {
            return built.audited(problem, None, rules, (status, diagnostics));
        }
        let mut ledger = Ledger::new(problem, &built.answer());
        let mut found = check(problem, &built.answer(), &ledger, rules, basis);
        let corrects = match &found.breach {
            Some(breach) => basis.can_correct(breach),
            None => found.is_imprecise(),
        };
        if corrects {
            self.correct(problem, basis, &ledger);
            let mut corrected = self.build(problem);
            corrected.balance_momentum(problem.contacts());
            corrected.restore_constraints(problem.contacts());
            let sums = Ledger::new(problem, &corrected.answer());
            let next = check(problem, &corrected.answer(), &sums, rules, basis);
            // An accepted answer is kept unless the corrected one is accepted and better.
            let is_better = next.breach.is_none() && next.hidden < found.hidden;
            if found.breach.is_some() || is_better {
                (built, found, ledger) = (corrected, next, sums);
            }
        }
        let Some(breach) = found.breach else {
            return built.audited(problem, Some(&ledger), rules, (status, diagnostics));
        };
        if rules.may_be_infeasible && breach.is_feasibility {
            let rules = Rules {
                may_approach: true,
                ..*rules
            };
            let found = built.audited(problem, Some(&ledger), &rules, (status, diagnostics))?;
            return Err(ImpactError::InfeasibleLaw {
                contacts: breach.contacts,
                found: Some(Box::new(found)),
                proof: None,
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

    fn build(&self, problem: &ImpactProblem) -> Built {
        let contacts = problem.contacts();
        let unscale = 1.0 / problem.scale();
        let impulses = contacts.all_rows().zip(&self.impulse);
        let impulses = impulses.map(|(row, l)| l * unscale / contacts.row_norm(row));
        let impulses = DVector::from_iterator(self.impulse.len(), impulses);
        let mut change = DVector::from_column_slice(&self.change);
        contacts
            .metric()
            .unwhiten_velocity_in_place(change.as_mut_slice());
        change *= unscale;
        let mut built = Built {
            velocity_plus: Tangent(&problem.velocity_minus().0 + &change),
            change,
            constraint_impulses: contacts.constraint_impulses(&impulses),
            impulses,
        };
        if self.impulse.iter().any(|l| *l != 0.0) {
            built.restore_constraints(contacts);
        }
        built
    }

    /// Corrects the impulses once with the active set `basis`, given the velocities of the contact rows that they cause.
    #[cold]
    fn correct(&mut self, problem: &ImpactProblem, basis: &mut dyn Basis, ledger: &Ledger) {
        let contacts = problem.contacts();
        let before = ledger.on_units(contacts, |row| row.before);
        let after = ledger.on_units(contacts, |row| row.after);
        let mut impulse = self.impulse.clone();
        basis.correct(contacts, &before, &after, &mut impulse);
        // The sum of large impulses would lose the digits of their change.
        for (row, (new, old)) in contacts.all_rows().zip(impulse.iter().zip(&self.impulse)) {
            kernel::add_scaled(&mut self.change, new - old, contacts.unit_row(row));
        }
        self.impulse = impulse;
    }
}

/// Active set of impulses from outside: no correction changes them.
struct AsGiven;

impl Basis for AsGiven {
    fn correct(&mut self, _: &ContactSet, _: &[f64], _: &[f64], _: &mut [f64]) {}
}

impl ImpactProblem {
    /// Converts the impulses of a law to an outcome: velocity after the impact, status and audit. This is the way of a law of your
    /// own.
    ///
    /// `impulses` has one entry (N·s for rows in m) per row of the contact Jacobian, on the rows as they were given, contact by
    /// contact: the normal first, then the tangents. The gate judges the impulses by `rules` and never corrects them. The status is
    /// [`Separating`](ImpactStatus::Separating) if nothing approaches and no impulse acts, else
    /// [`Resolved`](ImpactStatus::Resolved).
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for a wrong number of impulses, or one that is not finite; [`ImpactError::Inaccurate`] with the
    /// rule that is broken, for example by an impulse that pulls; [`ImpactError::InfeasibleLaw`] if `rules` say that the exact
    /// answer of the law may penetrate or pull; [`ImpactError::IllConditioned`]; [`ImpactError::Overflow`].
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_contact::{Contact, ContactSet, GateRule, ImpactError, ImpactProblem, Rules};
    /// use carom_metric::{Covector, KineticMetric, Tangent};
    /// use nalgebra::DMatrix;
    /// // A ball of 2 kg falls onto the floor at 3 m/s.
    /// let metric = KineticMetric::new(DMatrix::from_element(1, 1, 2.0))?;
    /// let floor = Contact::frictionless(Covector::from_slice(&[1.0]));
    /// let contacts = ContactSet::new(&metric, vec![floor])?;
    /// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-3.0]))?;
    /// let outcome = problem.outcome(&[9.0], &Rules::FRICTIONLESS)?;
    /// assert!((outcome.velocity_plus.0[0] - 1.5).abs() < 1e-14);
    /// // More than 12 N·s throw it back faster than it came.
    /// let refused = problem.outcome(&[12.5], &Rules::FRICTIONLESS);
    /// assert!(matches!(refused, Err(ImpactError::Inaccurate { rule: GateRule::Energy, .. })));
    /// # Ok::<(), ImpactError>(())
    /// ```
    pub fn outcome(
        &self,
        impulses: &[f64],
        rules: &Rules<'_>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let (problem, contacts) = (self.event(), self.contacts());
        let (expected, found) = (contacts.n_rows(), impulses.len());
        let what = "impulses";
        if found != expected {
            let wrong = MetricError::DimensionMismatch {
                what,
                expected,
                found,
            };
            return Err(wrong.into());
        }
        if let Some(index) = impulses.iter().position(|l| !l.is_finite()) {
            let value = impulses[index];
            return Err(MetricError::NonFinite { what, index, value }.into());
        }
        let status = if problem.is_approaching() || impulses.iter().any(|l| *l != 0.0) {
            ImpactStatus::Resolved
        } else {
            ImpactStatus::Separating
        };
        let rows = contacts.all_rows().zip(impulses);
        let scaled = rows.map(|(row, l)| l * contacts.row_norm(row) * problem.scale());
        let candidate = Candidate::new(problem, scaled.collect());
        let mut outcome =
            candidate.outcome(problem, rules, &mut AsGiven, status, Diagnostics::None)?;
        outcome.impulses = DVector::from_iterator(expected, impulses.iter().map(|l| l + 0.0));
        Ok(outcome)
    }
}
