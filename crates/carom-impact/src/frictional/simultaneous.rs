//! All contacts at once.

use super::friction_cone::{ConeShape, FrictionCone};
use super::round::{RoundBasis, RoundStep, RoundWorkspace, polygon_error};
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::draft::{Basis, worst};
use crate::gate::{Breach, Rules, Work};
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::outcome::PolygonDiagnostics;
use crate::own_terms::GRAZING_TOLERANCE;
use crate::{
    ConeDiagnostics, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus,
};
use carom_lcp::LcpStatus;
use carom_lcp::cone::{CONE_RESIDUAL, ConeMode, ConeSelection};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

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
            problem.event(),
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
        let problem = problem.event();
        let contacts = problem.contacts();
        contacts.require_tangents()?;
        let metric = contacts.metric();
        metric.check_vector("velocity of approach", approach.0.as_slice())?;
        let mut whitened = approach.0.clone();
        metric.whiten_velocity_into(approach.0.as_slice(), whitened.as_mut_slice());
        whitened *= problem.scale();
        let space = ContactSpace::new(contacts);
        let approach = space.velocity(whitened.as_slice());
        let mut before = space.velocity(problem.momentum());
        let mut bounces = Vec::with_capacity(contacts.len());
        let mut is_asked = approaching(problem);
        for (i, contact) in contacts.contacts().iter().enumerate() {
            let slot = i * space.width();
            let bounce = contact.restitution * approach[slot];
            let size = before[slot].abs() + bounce.abs();
            before[slot] += bounce;
            bounces.push(bounce);
            is_asked[i] |= before[slot] < -GRAZING_TOLERANCE * size;
        }
        let event = Event {
            problem,
            space: &space,
            before,
            is_asked,
            restitution: &vec![0.0; contacts.len()],
            bounces: &bounces,
            rules: &Self::rules(&bounces, true),
        };
        event.resolve(self.friction_cone, self.selection)
    }

    /// Newton's ratio may gain energy against friction, and asks contacts that separate to approach
    /// at most e times as fast.
    fn rules(bounces: &[f64], may_be_infeasible: bool) -> Rules<'_> {
        Rules {
            work: Work::Rebound(bounces),
            may_be_infeasible,
            ..Rules::FRICTIONAL
        }
    }
}

/// One impact of all contacts at once.
struct Event<'e> {
    problem: &'e ImpactProblem<'e>,
    space: &'e ContactSpace,
    /// Scaled velocities of the slots from which impulses start.
    before: DVector<f64>,
    /// Whether each contact approaches.
    is_asked: Vec<bool>,
    restitution: &'e [f64],
    /// What `before` has beyond the velocities of the contacts' normals before the impact; empty for
    /// nothing.
    bounces: &'e [f64],
    rules: &'e Rules<'e>,
}

/// The basis of an impact from velocities that are not those before it: normal velocities count
/// from there.
struct Shifted<'b> {
    basis: &'b mut dyn Basis,
    bounces: &'b [f64],
}

impl Shifted<'_> {
    fn shifted(&self, contacts: &ContactSet<'_>, velocities: &[f64]) -> Vec<f64> {
        let mut velocities = velocities.to_vec();
        for (i, bounce) in self.bounces.iter().enumerate() {
            if let Some(velocity) = velocities.get_mut(contacts.row(i)) {
                *velocity += bounce;
            }
        }
        velocities
    }
}

impl Basis for Shifted<'_> {
    fn has_residual(&self) -> bool {
        self.basis.has_residual()
    }

    fn can_correct(&self, breach: &Breach) -> bool {
        self.basis.can_correct(breach)
    }

    fn velocity_residual(
        &self,
        contacts: &ContactSet<'_>,
        after: &[f64],
        terms: &[f64],
    ) -> Option<f64> {
        let after = self.shifted(contacts, after);
        self.basis.velocity_residual(contacts, &after, terms)
    }

    fn slip_residual(
        &self,
        contacts: &ContactSet<'_>,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        self.basis.slip_residual(contacts, after, impulse, terms)
    }

    fn correct(
        &mut self,
        contacts: &ContactSet<'_>,
        before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        let before = self.shifted(contacts, before);
        let after = self.shifted(contacts, after);
        self.basis.correct(contacts, &before, &after, impulse);
    }
}

/// Contacts that share no body with the others, as if they were alone: what they do depends on nothing
/// else, however fast that is.
struct Part {
    contacts: Vec<usize>,
    slots: Vec<usize>,
    space: ContactSpace,
    before: Vec<f64>,
    restitution: Vec<f64>,
}

/// The bases of parts that share no body.
struct Apart<'b>(Vec<Box<dyn Basis + 'b>>);

impl Basis for Apart<'_> {
    fn has_residual(&self) -> bool {
        self.0.iter().any(|basis| basis.has_residual())
    }

    fn can_correct(&self, breach: &Breach) -> bool {
        self.0.iter().all(|basis| basis.can_correct(breach))
    }

    fn velocity_residual(
        &self,
        contacts: &ContactSet<'_>,
        after: &[f64],
        terms: &[f64],
    ) -> Option<f64> {
        let residuals = self.0.iter();
        let residuals = residuals.filter_map(|b| b.velocity_residual(contacts, after, terms));
        Some(worst(residuals))
    }

    fn slip_residual(
        &self,
        contacts: &ContactSet<'_>,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        let residuals = self.0.iter();
        worst(residuals.map(|basis| basis.slip_residual(contacts, after, impulse, terms)))
    }

    fn correct(
        &mut self,
        contacts: &ContactSet<'_>,
        before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        for basis in &mut self.0 {
            basis.correct(contacts, before, after, impulse);
        }
    }
}

impl ImpactLaw for MoreauNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let contacts = problem.contacts();
        let restitution: Vec<f64> = contacts.contacts().iter().map(|c| c.restitution).collect();
        let bounce = |(i, e): (usize, &f64)| {
            e * kernel::dot(contacts.unit_row(contacts.row(i)), problem.momentum())
        };
        let bounces: Vec<f64> = restitution.iter().enumerate().map(bounce).collect();
        let may_be_infeasible = restitution.iter().any(|e| *e > 0.0);
        resolve(
            problem,
            self.friction_cone,
            self.selection,
            &restitution,
            &Self::rules(&bounces, may_be_infeasible),
        )
    }
}

fn approaching(problem: &ImpactProblem<'_>) -> Vec<bool> {
    let contacts = 0..problem.contacts().len();
    contacts.map(|i| problem.approaches(i)).collect()
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
    let event = Event {
        problem,
        before: space.velocity(problem.momentum()),
        space: &space,
        is_asked: approaching(problem),
        restitution,
        bounces: &[],
        rules,
    };
    event.resolve(friction_cone, selection)
}

impl Event<'_> {
    fn resolve(
        &self,
        friction_cone: FrictionCone,
        selection: ConeSelection,
    ) -> Result<ImpactOutcome, ImpactError> {
        match friction_cone.shape(self.space.n_tangents)? {
            ConeShape::Round => self.with_cones(selection),
            ConeShape::Polygon(k) => {
                let outcome = self.with_polygons(k)?;
                match friction_cone {
                    FrictionCone::Round if self.is_spatial() => {
                        self.without_friction(outcome, selection)
                    }
                    _ => Ok(outcome),
                }
            }
        }
    }

    /// Whether any contact has two tangents.
    fn is_spatial(&self) -> bool {
        let contacts = self.problem.contacts().contacts();
        contacts.iter().any(|contact| contact.tangents.len() > 1)
    }

    /// Cones without friction are rays, and their outcome that of the complementarity problem: said as
    /// of other cones.
    fn without_friction(
        &self,
        mut outcome: ImpactOutcome,
        selection: ConeSelection,
    ) -> Result<ImpactOutcome, ImpactError> {
        if let Diagnostics::Complementarity {
            pivots,
            velocity_residual,
            ..
        } = outcome.diagnostics
        {
            let pushes = |i| {
                let row = self.problem.contacts().row(i);
                outcome.impulses.get(row).is_some_and(|l| *l > 0.0)
            };
            let mode = |i| match pushes(i) {
                true => ConeMode::Slide,
                false => ConeMode::Open,
            };
            outcome.diagnostics = Diagnostics::Cone(Box::new(ConeDiagnostics {
                residual: self.residual(RoundStep::without_friction, &outcome)?,
                velocity_residual,
                family: 0,
                selection,
                modes: (0..self.space.n_contacts).map(mode).collect(),
                pivots,
                newton_steps: 0,
            }));
        }
        Ok(outcome)
    }

    /// The parts with a contact that approaches.
    fn parts(&self) -> Vec<Part> {
        let is_asked = |contacts: &Vec<usize>| contacts.iter().any(|i| self.is_asked[*i]);
        let parts = self.space.independent().into_iter().filter(is_asked);
        parts
            .map(|contacts| {
                let slots = self.space.slots_of(&contacts);
                let restitution = contacts.iter().filter_map(|i| self.restitution.get(*i));
                Part {
                    space: self.space.part(&contacts),
                    before: slots.iter().map(|slot| self.before[*slot]).collect(),
                    restitution: restitution.copied().collect(),
                    slots,
                    contacts,
                }
            })
            .collect()
    }

    /// The residual of the impulses of an outcome, the largest of all parts.
    fn residual(
        &self,
        round: impl Fn(&ContactSpace) -> RoundStep,
        outcome: &ImpactOutcome,
    ) -> Result<f64, ImpactError> {
        let impulses = outcome.impulses.as_slice();
        let mut largest = 0.0;
        for part in self.parts() {
            let impulse = part.space.of_rows(impulses, self.problem.scale());
            let residual =
                round(&part.space).residual(&part.before, &part.restitution, &impulse)?;
            largest = worst([largest, residual].into_iter());
        }
        Ok(largest)
    }

    /// The outcome of impulses on the slots.
    fn outcome(
        &self,
        impulse: &[f64],
        bases: Vec<Box<dyn Basis + '_>>,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        self.space.draft(self.problem, impulse).outcome(
            self.problem,
            self.rules,
            &mut Shifted {
                basis: &mut Apart(bases),
                bounces: self.bounces,
            },
            ImpactStatus::Resolved,
            diagnostics,
        )
    }

    fn with_cones(&self, selection: ConeSelection) -> Result<ImpactOutcome, ImpactError> {
        let Self { problem, space, .. } = self;
        let mut told = ConeDiagnostics {
            residual: 0.0,
            velocity_residual: 0.0,
            family: 0,
            selection,
            modes: vec![ConeMode::Open; space.n_contacts],
            pivots: 0,
            newton_steps: 0,
        };
        let parts = self.parts();
        if parts.is_empty() {
            return separating(problem, Diagnostics::Cone(Box::new(told)));
        }
        let mut impulse = vec![0.0; space.n_slots()];
        let mut bases: Vec<Box<dyn Basis + '_>> = Vec::with_capacity(parts.len());
        for part in &parts {
            let mut workspace = RoundWorkspace::default();
            let round = RoundStep::new(&part.space);
            let (before, restitution) = (&part.before, &part.restitution);
            let answer = round.candidate(before, restitution, &[], selection, &mut workspace)?;
            told.family += answer.family;
            told.pivots += answer.n_pivots;
            told.newton_steps += answer.n_newton_steps;
            if answer.selection != selection {
                told.selection = answer.selection;
            }
            let modes = workspace.cone.modes();
            for (contact, mode) in part.contacts.iter().zip(modes) {
                told.modes[*contact] = *mode;
            }
            for (slot, l) in part.slots.iter().zip(&workspace.impulse) {
                impulse[*slot] = *l;
            }
            let contacts = problem.contacts();
            let basis = RoundBasis::new(&part.space, contacts, before, restitution, modes);
            bases.push(Box::new(basis));
        }
        let mut outcome = self.outcome(&impulse, bases, Diagnostics::Cone(Box::new(told)))?;
        // A refinement may have changed the impulses.
        let residual = self.residual(RoundStep::new, &outcome)?;
        let is_accurate = residual <= CONE_RESIDUAL;
        if !is_accurate {
            let status = LcpStatus::Inaccurate;
            return Err(ImpactError::Complementarity { status, residual });
        }
        if let Diagnostics::Cone(cone) = &mut outcome.diagnostics {
            cone.residual = residual;
        }
        Ok(outcome)
    }

    fn with_polygons(&self, k: usize) -> Result<ImpactOutcome, ImpactError> {
        let Self { problem, space, .. } = self;
        let complementarity = |pivots, velocity_residual, polygon| Diagnostics::Complementarity {
            pivots,
            velocity_residual,
            polygon,
        };
        let parts = self.parts();
        if parts.is_empty() {
            return separating(problem, complementarity(0, 0.0, None));
        }
        let steps = parts.iter();
        let steps = steps.map(|part| StepProblem::new(&part.space, k, false));
        let steps: Vec<StepProblem> = steps.collect::<Result<_, _>>()?;
        let mut impulse = vec![0.0; space.n_slots()];
        let mut bases: Vec<Box<dyn Basis + '_>> = Vec::with_capacity(parts.len());
        let (mut pivots, mut residual) = (0, 0.0);
        let mut polygon: Option<PolygonDiagnostics> = None;
        for (part, step) in parts.iter().zip(&steps) {
            let mut workspace = StepWorkspace::new();
            let sizes = space.sizes(problem.momentum());
            workspace.made = part.slots.iter().map(|slot| sizes[*slot]).collect();
            let (before, restitution) = (&part.before, &part.restitution);
            step.solve(&part.space, before, &[], restitution, &mut workspace)?;
            pivots += workspace.n_pivots;
            residual = worst([residual, workspace.residual].into_iter());
            for (slot, l) in part.slots.iter().zip(&workspace.impulse) {
                impulse[*slot] = *l;
            }
            if space.n_tangents > 1 {
                let pushes = &workspace.impulse;
                let found = polygon_error(&part.space, problem, k, before, restitution, pushes)?;
                polygon = Some(match polygon {
                    None => found,
                    Some(polygon) => polygon.beside(&found),
                });
            }
            let basis = step.basis(&part.space, before, restitution, &workspace);
            bases.push(Box::new(basis));
        }
        self.outcome(&impulse, bases, complementarity(pivots, residual, polygon))
    }
}
