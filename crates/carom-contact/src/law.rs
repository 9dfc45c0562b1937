//! The traits of impact laws.

use crate::{ImpactError, ImpactOutcome, ImpactProblem, OutcomeSet};
use std::fmt;

/// Impact law: maps the velocity before an impact to the velocity after it.
///
/// A law is pure: the same problem always gives the same outcome. A law never integrates time and never changes the
/// configuration. An implementation must return a *feasible* outcome: $\langle p^+, u_i\rangle \ge 0$ for the momentum $p^+$
/// after the impact and the unit normal $u_i$ of every contact. Its documentation must state if the law conserves energy.
pub trait ImpactLaw: fmt::Debug + Send + Sync {
    /// Returns the stable identifier of the law used in records and on the command line, for example `"propagative"`.
    fn name(&self) -> &'static str;

    /// Resolves one impact: computes the velocity after it and the impulses.
    ///
    /// # Errors
    ///
    /// See [`ImpactError`].
    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError>;
}

/// Impact law that allows several outcomes of one impact and can compute all of them.
pub trait SetValuedLaw: ImpactLaw {
    /// Computes all outcomes of one impact, in an order that depends on the problem alone.
    ///
    /// # Errors
    ///
    /// See [`ImpactError`]. If a limit on states or samples is reached after some outcomes were found, these are
    /// returned as an incomplete set.
    fn resolve_all(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactError>;
}
