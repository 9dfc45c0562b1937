//! Outcomes and derivatives as numbers instead of JSON, for many problems.

use crate::derivative::check_size;
use crate::error::WireError;
use crate::resolve::Request;
use crate::solved::{Single, Solved};
use carom_contact::ImpactProblem;
use carom_derivative::{Derivative, DifferentiableLaw, Wrt, of_outcome};
use carom_impact::Law;

/// Outcome of an impact, with its derivative or the reason why the derivative does not exist.
pub type Differentiated<'p> = (Box<Single>, Result<Derivative<'p>, WireError>);

impl Request {
    /// Checks that the impact law with these options has a single outcome. Only then the derivative of the outcome is defined.
    /// Returns an error if the law has several outcomes.
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

    /// True if the impact law has a single coefficient of restitution for the whole impact instead of one for each contact;
    /// false if the options cannot be read.
    pub fn has_event_restitution(&self) -> bool {
        match self.asked() {
            Ok(asked) => asked.law.has_event_restitution(),
            Err(_) => false,
        }
    }

    /// Resolves an impact problem by the law of the request, and differentiates the outcome with respect to the data that `wrt`
    /// selects. A decision of the law counts as tied if a small change of the velocity before the impact reverses it; the law
    /// is then evaluated on the sides of the tie. `tolerance` is the size of this change, relative to the part of the velocity on which the
    /// contacts depend.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve) and [`check_one_answer`](Self::check_one_answer).
    pub fn differentiate<'p>(
        &self,
        problem: &'p ImpactProblem,
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
