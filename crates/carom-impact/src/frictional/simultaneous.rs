//! All contacts at once.

use super::friction_cone::{ConeShape, FrictionCone};
use super::round::{RoundStep, RoundWorkspace, diagnostics, polygon_error, targets};
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::gate::Rules;
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::{
    ConeDiagnostics, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus,
};
use carom_lcp::cone::{ConeMode, ConeSelection};

/// The simultaneous law of Anitescu and Potra (`anitescu-potra`): every contact at once, without
/// restitution, one complementarity problem.
///
/// Kinetic energy never grows. There may be several outcomes. In the plane this is the one that
/// Lemke's method finds, and [`all_simultaneous`](super::all_simultaneous) finds them all. In space
/// dependent contacts that slide leave a continuum of them, of which
/// [`selection`](Self::selection) takes a member.
///
/// Halm & Posa, Eq. (31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct AnitescuPotra {
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Which of a continuum of outcomes is taken, with round cones.
    pub selection: ConeSelection,
}

impl ImpactLaw for AnitescuPotra {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let inelastic = vec![0.0; problem.contacts().len()];
        resolve(
            problem,
            self.friction_cone,
            self.selection,
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
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Which of a continuum of outcomes is taken, with round cones.
    pub selection: ConeSelection,
}

impl ImpactLaw for MoreauNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts().contacts();
        let restitution: Vec<f64> = contacts.iter().map(|c| c.restitution).collect();
        // Newton's ratio may gain energy against friction, and asks contacts that separate to
        // approach at most e times as fast.
        let rules = Rules {
            may_gain: true,
            may_be_infeasible: true,
            ..Rules::FRICTIONAL
        };
        resolve(
            problem,
            self.friction_cone,
            self.selection,
            &restitution,
            &rules,
        )
    }
}

fn resolve(
    problem: &ImpactProblem<'_>,
    friction_cone: FrictionCone,
    selection: ConeSelection,
    restitution: &[f64],
    rules: &Rules<'_>,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = problem.contacts();
    contacts.require_tangents()?;
    let space = ContactSpace::new(contacts);
    match friction_cone.shape(space.n_tangents)? {
        ConeShape::Round => with_cones(problem, &space, selection, restitution, rules),
        ConeShape::Polygon(k) => with_polygons(problem, &space, k, restitution, rules),
    }
}

fn with_cones(
    problem: &ImpactProblem<'_>,
    space: &ContactSpace,
    selection: ConeSelection,
    restitution: &[f64],
    rules: &Rules<'_>,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = problem.contacts();
    if !problem.is_approaching() {
        let nothing = ConeDiagnostics {
            residual: 0.0,
            velocity_residual: 0.0,
            family: 0,
            selection,
            modes: vec![ConeMode::Open; space.n_contacts],
            pivots: 0,
            newton_steps: 0,
        };
        return separating(problem, Diagnostics::Cone(Box::new(nothing)));
    }
    let velocity = space.velocity(problem.momentum());
    let before = velocity.as_slice();
    let mut workspace = RoundWorkspace::default();
    let round = RoundStep::new(space);
    let answer = round.solve(before, restitution, &[], selection, &mut workspace)?;
    let modes = workspace.cone.modes();
    let mut targets = targets(space, contacts, before, restitution, modes);
    space.draft(problem, &workspace.impulse).outcome(
        problem,
        rules,
        &mut targets,
        ImpactStatus::Resolved,
        Diagnostics::Cone(Box::new(diagnostics(&answer, &workspace))),
    )
}

fn with_polygons(
    problem: &ImpactProblem<'_>,
    space: &ContactSpace,
    k: usize,
    restitution: &[f64],
    rules: &Rules<'_>,
) -> Result<ImpactOutcome, ImpactError> {
    let complementarity = |pivots, velocity_residual, polygon| Diagnostics::Complementarity {
        pivots,
        velocity_residual,
        polygon,
    };
    if !problem.is_approaching() {
        return separating(problem, complementarity(0, 0.0, None));
    }
    let lcp = StepProblem::new(space, k, false)?;
    let velocity = space.velocity(problem.momentum());
    let before = velocity.as_slice();
    let mut workspace = StepWorkspace::new();
    workspace.made = space.sizes(problem.momentum());
    lcp.solve(space, before, &[], restitution, &mut workspace)?;
    let mut basis = lcp.basis(space, before, restitution, &workspace);
    let impulse = &workspace.impulse;
    let polygon = match space.n_tangents {
        2.. => Some(polygon_error(
            space,
            problem,
            k,
            before,
            restitution,
            impulse,
        )?),
        _ => None,
    };
    space.draft(problem, impulse).outcome(
        problem,
        rules,
        &mut basis,
        ImpactStatus::Resolved,
        complementarity(workspace.n_pivots, workspace.residual, polygon),
    )
}
