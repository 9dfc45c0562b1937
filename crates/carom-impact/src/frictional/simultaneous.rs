//! All contacts at once.

use super::polygon::directions;
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::{Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus};

/// The simultaneous law of Anitescu and Potra (`anitescu-potra`): every contact at once, without
/// restitution, one complementarity problem.
///
/// Kinetic energy never grows. There may be several outcomes, of which this is the one that
/// Lemke's method finds; [`all_simultaneous`](super::all_simultaneous) finds them all.
///
/// Halm & Posa, Eq. (31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct AnitescuPotra {
    /// Directions of the friction polygon: 2 in the plane, at least 3 in space. `None`: 2 and
    /// [`DEFAULT_DIRECTIONS`](super::DEFAULT_DIRECTIONS).
    pub friction_directions: Option<usize>,
}

impl ImpactLaw for AnitescuPotra {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let inelastic = vec![0.0; problem.contacts().len()];
        resolve(problem, self.friction_directions, &inelastic)
    }
}

/// Moreau's law with Newton's restitution (`moreau-newton`):
/// $0 \le b_n^+ + e b_n^- \perp \lambda_n \ge 0$ for every contact, friction against the
/// tangential velocity after the impact.
///
/// With friction and restitution kinetic energy may grow (Kane & Levinson 1985): the audit says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct MoreauNewton {
    /// As in [`AnitescuPotra`].
    pub friction_directions: Option<usize>,
}

impl ImpactLaw for MoreauNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts().contacts();
        let restitution: Vec<f64> = contacts.iter().map(|c| c.restitution).collect();
        resolve(problem, self.friction_directions, &restitution)
    }
}

fn resolve(
    problem: &ImpactProblem<'_>,
    friction_directions: Option<usize>,
    restitution: &[f64],
) -> Result<ImpactOutcome, ImpactError> {
    let space = ContactSpace::new(problem.contacts());
    let k = directions(space.n_tangents, friction_directions)?;
    if !problem.is_approaching() {
        return separating(problem, Diagnostics::Complementarity { pivots: 0 });
    }
    let lcp = StepProblem::new(&space, k, false)?;
    let velocity = space.velocity(problem.momentum());
    let mut workspace = StepWorkspace::new();
    lcp.solve(
        &space,
        velocity.as_slice(),
        &[],
        restitution,
        &mut workspace,
    )?;
    let pivots = workspace.n_pivots;
    space.outcome(
        problem,
        &workspace.impulse,
        ImpactStatus::Resolved,
        Diagnostics::Complementarity { pivots },
    )
}
