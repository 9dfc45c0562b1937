//! All contacts at once.

use super::polygon::directions;
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::gate::Rules;
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::own_terms::GRAZING_TOLERANCE;
use crate::{Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus};
use carom_metric::Tangent;
use nalgebra::DVector;

/// Diagnostics where no contact approaches.
const NOTHING: Diagnostics = Diagnostics::Complementarity {
    pivots: 0,
    velocity_residual: 0.0,
};

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
        resolve(
            problem,
            self.friction_directions,
            &inelastic,
            &Rules::FRICTIONAL,
        )
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

impl MoreauNewton {
    /// The same with a restitution of another velocity than that before the impact: $0 \le b_n^+ + e
    /// \hat b_n \perp \lambda_n \ge 0$ with $\hat b = J\hat v$, `approach` = $\hat v$ (n).
    ///
    /// A time step adds external impulses and impacts at once: the velocity before is then the one
    /// without contact, but restitution means that of the velocity the step began with.
    ///
    /// # Errors
    ///
    /// As [`resolve`](ImpactLaw::resolve), and [`ImpactError::Metric`] for `approach`.
    pub fn resolve_from(
        &self,
        problem: &ImpactProblem<'_>,
        approach: &Tangent,
    ) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts();
        contacts.require_tangents()?;
        let metric = contacts.metric();
        metric.check_vector("velocity of approach", approach.0.as_slice())?;
        let mut whitened = approach.0.clone();
        metric.whiten_velocity_into(approach.0.as_slice(), whitened.as_mut_slice());
        whitened *= problem.scale();
        let space = ContactSpace::new(contacts);
        let approach = space.velocity(whitened.as_slice());
        let mut velocity = space.velocity(problem.momentum());
        let width = space.width();
        let mut is_asked = problem.is_approaching();
        for (i, contact) in contacts.contacts().iter().enumerate() {
            let slot = i * width;
            let bounce = contact.restitution * approach[slot];
            let size = velocity[slot].abs() + bounce.abs();
            velocity[slot] += bounce;
            is_asked |= velocity[slot] < -GRAZING_TOLERANCE * size;
        }
        if !is_asked {
            return separating(problem, NOTHING);
        }
        simultaneous(
            problem,
            &space,
            self.friction_directions,
            &velocity,
            &[],
            &Self::RULES,
        )
    }

    /// Newton's ratio may gain energy against friction, and asks contacts that separate to approach
    /// at most e times as fast.
    const RULES: Rules<'static> = Rules {
        may_gain: true,
        may_be_infeasible: true,
        ..Rules::FRICTIONAL
    };
}

impl ImpactLaw for MoreauNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts().contacts();
        let restitution: Vec<f64> = contacts.iter().map(|c| c.restitution).collect();
        resolve(
            problem,
            self.friction_directions,
            &restitution,
            &Self::RULES,
        )
    }
}

fn resolve(
    problem: &ImpactProblem<'_>,
    friction_directions: Option<usize>,
    restitution: &[f64],
    rules: &Rules<'_>,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = problem.contacts();
    contacts.require_tangents()?;
    let space = ContactSpace::new(contacts);
    directions(space.n_tangents, friction_directions)?;
    if !problem.is_approaching() {
        return separating(problem, NOTHING);
    }
    let velocity = space.velocity(problem.momentum());
    simultaneous(
        problem,
        &space,
        friction_directions,
        &velocity,
        restitution,
        rules,
    )
}

/// The outcome of all contacts at once, from the velocities of their slots.
fn simultaneous(
    problem: &ImpactProblem<'_>,
    space: &ContactSpace,
    friction_directions: Option<usize>,
    velocity: &DVector<f64>,
    restitution: &[f64],
    rules: &Rules<'_>,
) -> Result<ImpactOutcome, ImpactError> {
    let k = directions(space.n_tangents, friction_directions)?;
    let lcp = StepProblem::new(space, k, false)?;
    let before = velocity.as_slice();
    let mut workspace = StepWorkspace::new();
    workspace.made = space.sizes(problem.momentum());
    lcp.solve(space, before, &[], restitution, &mut workspace)?;
    let mut basis = lcp.basis(space, before, restitution, &workspace);
    space.draft(problem, &workspace.impulse).outcome(
        problem,
        rules,
        &mut basis,
        ImpactStatus::Resolved,
        Diagnostics::Complementarity {
            pivots: workspace.n_pivots,
            velocity_residual: workspace.residual,
        },
    )
}
