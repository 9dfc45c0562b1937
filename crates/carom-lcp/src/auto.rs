//! The method for the problem at hand.

use crate::{
    Lcp, LcpError, LcpSolution, LcpStatus, Lemke, LemkeOptions, MAX_ENUMERATE_DIM, enumerate,
    principal_pivoting,
};

/// What [`auto`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoChoice {
    /// Name of the method that gave the answer.
    pub method: &'static str,
    /// Why this one.
    pub reason: String,
}

/// Solves a problem by the method that suits it, and says why.
///
/// Lemke's method comes first: it processes the matrices of impact laws, and its certificate says
/// whether it succeeded. If it did not, principal pivoting is tried, which does not end on rays,
/// and then all complementary bases if they are few.
///
/// # Errors
///
/// As [`Lemke::solve`].
pub fn auto(problem: &Lcp, options: LemkeOptions) -> Result<(LcpSolution, AutoChoice), LcpError> {
    let max_pivots = options.max_pivots;
    let solution = Lemke { options }.solve(problem)?;
    let lemke = |reason: String| AutoChoice {
        method: "lemke",
        reason,
    };
    match solution.status {
        LcpStatus::Solved if solution.n_pivots == 0 => {
            return Ok((
                solution,
                lemke("the vector is nonnegative: z = 0".to_owned()),
            ));
        }
        LcpStatus::Solved => {
            return Ok((solution, lemke("the certificate holds".to_owned())));
        }
        LcpStatus::Infeasible => {
            return Ok((solution, lemke("proven to be infeasible".to_owned())));
        }
        _ => {}
    }
    let ended = solution.status.name();
    let other = principal_pivoting(problem, max_pivots);
    if other.status == LcpStatus::Solved {
        let choice = AutoChoice {
            method: "principal-pivoting",
            reason: format!("lemke ended with {ended}"),
        };
        return Ok((other, choice));
    }
    if problem.dim() <= MAX_ENUMERATE_DIM {
        let all = enumerate(problem.view())?;
        let (n_bases, n_singular) = (1usize << problem.dim(), all.n_singular);
        return Ok(match all.solutions.into_iter().next() {
            Some(found) => {
                let choice = AutoChoice {
                    method: "enumerate",
                    reason: format!("lemke ended with {ended}"),
                };
                (found, choice)
            }
            None => {
                let reason = format!(
                    "none of the {n_bases} complementary bases solves it ({n_singular} are singular)"
                );
                (solution, lemke(reason))
            }
        });
    }
    Ok((
        solution,
        lemke(format!("principal pivoting ended with {}", other.status)),
    ))
}
