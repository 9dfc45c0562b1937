//! Outcomes and derivatives as numbers instead of JSON, for many problems.

use crate::derivative::check_size;
use crate::error::WireError;
use crate::resolve::Request;
use crate::solved::{Single, Solved};
use carom_contact::ImpactProblem;
use carom_derivative::{Derivative, DifferentiableLaw, Wrt, of_outcome};
use carom_impact::Law;

/// An outcome, and its derivative or the reason that it has no derivative.
pub type Differentiated<'p> = (Box<Single>, Result<Derivative<'p>, WireError>);

impl Request {
    /// Returns an error if the law has several answers, which have several derivatives.
    ///
    /// # Errors
    ///
    /// A [`WireError`] of kind `invalid-option` that names `derivative`; errors in the options of the law.
    pub fn check_one_answer(&self) -> Result<(), WireError> {
        let asked = self.asked()?;
        let outcomes = asked.rest("outcomes");
        let is_one = outcomes.is_none_or(|outcomes| outcomes.as_str() == Some("one"));
        if is_one && !matches!(asked.law, Law::SetValued(_)) {
            return Ok(());
        }
        let name = asked.law.info().name;
        let message = format!(
            "derivative: the law {name} has several answers here, each with a derivative of its own; resolve one velocity \
             at a time"
        );
        Err(WireError::new("invalid-option", message))
    }

    /// True if the law has a single restitution for the whole event instead of one for each contact.
    pub fn has_event_restitution(&self) -> bool {
        match self.asked() {
            Ok(asked) => asked.law.has_event_restitution(),
            Err(_) => false,
        }
    }

    /// Resolves a problem by the law and differentiates the outcome.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve) and [`check_one_answer`](Self::check_one_answer).
    pub fn differentiate<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        wrt: &Wrt,
        tolerance: f64,
    ) -> Result<Differentiated<'p>, WireError> {
        let Solved::One(single) = self.solve(problem, &|_, _| {})? else {
            self.check_one_answer()?;
            return Err(WireError::new(
                "no-outcome",
                "the answer has no preferred outcome",
            ));
        };
        let law = &self.asked()?.law;
        let differentiated = || {
            check_size(problem)?;
            of_outcome(law, problem, single.outcome(), false, wrt, tolerance)
                .map_err(|error| WireError::at("derivative", &error))
        };
        let derivative = differentiated();
        Ok((single, derivative))
    }
}
