//! Automatic choice of a method for a linear complementarity problem.

use crate::work::Work;
use crate::{
    Enumerate, LcpError, LcpRef, LcpSolution, LcpSolver, LcpStatus, Lemke, LemkeOptions,
    MAX_ENUMERATE_DIM,
};

/// Method that [`Auto`] chose for a linear complementarity problem: its name, and the reason for the choice in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoChoice {
    /// Name of the method that gave the answer.
    pub method: &'static str,
    /// Reason for the choice.
    pub reason: String,
}

/// Automatic choice of a method for linear complementarity problems.
///
/// Lemke's method is tried first, because it solves the problems of impact laws. Each answer is checked. If that of
/// Lemke's method fails the check and the problem is small, all complementary bases are tried. The budgets of the
/// options limit the total work of both methods.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Auto {
    /// Options of Lemke's method; its budgets are those of all methods together.
    pub options: LemkeOptions,
}

carom_numeric::setters!(Auto {
    /// Sets the options of the method.
    with_options: options, LemkeOptions;
});

impl LcpSolver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve_view(&self, problem: LcpRef<'_>) -> Result<LcpSolution, LcpError> {
        self.choose(problem).map(|(solution, _)| solution)
    }
}

impl Auto {
    /// Solves a linear complementarity problem. Returns the solution, the name of the method and the reason for the choice.
    ///
    /// # Errors
    ///
    /// The errors of [`Lemke`].
    pub fn choose(&self, problem: LcpRef<'_>) -> Result<(LcpSolution, AutoChoice), LcpError> {
        let mut work = Work::new(self.options.max_work, self.options.max_pivots);
        let options = self.options.clone();
        let mut solution = Lemke { options }.solve_within(problem, &mut work)?;
        let choice = |method, reason: &str| AutoChoice {
            method,
            reason: reason.to_owned(),
        };
        match solution.status {
            LcpStatus::Solved if solution.n_pivots == 0 => {
                let reason = "the vector is nonnegative: z = 0";
                return Ok((solution, choice("lemke", reason)));
            }
            LcpStatus::Solved => return Ok((solution, choice("lemke", "the certificate holds"))),
            LcpStatus::Infeasible => {
                return Ok((solution, choice("lemke", "proven to be infeasible")));
            }
            _ => {}
        }
        if let Some(limit) = work.limit() {
            let reason = format!("the budget of {} is used up", limit.name());
            return Ok((solution, choice("lemke", &reason)));
        }
        let ended = format!("lemke ended with {}", solution.status);
        if problem.dim() > MAX_ENUMERATE_DIM {
            return Ok((
                solution,
                choice("lemke", "the problem is too large to be enumerated"),
            ));
        }
        let first = Enumerate {
            max_solutions: 1,
            ..Enumerate::default()
        };
        let all = first.within(problem, &mut work)?;
        if let Some(mut found) = all.solutions.into_iter().next() {
            found.n_pivots = work.n_pivots;
            return Ok((found, choice("enumerate", &ended)));
        }
        solution.n_pivots = work.n_pivots;
        if all.proof.is_some() {
            (solution.status, solution.proof) = (LcpStatus::Infeasible, all.proof);
            (solution.farkas, solution.limit) = (all.farkas, None);
            return Ok((solution, choice("enumerate", "proven to be infeasible")));
        }
        if let Some(limit) = work.limit() {
            (solution.status, solution.limit) = (LcpStatus::IterationLimit, Some(limit));
        }
        let reason = format!("{} complementary bases were tried in vain", all.n_bases);
        Ok((solution, choice("lemke", &reason)))
    }
}
