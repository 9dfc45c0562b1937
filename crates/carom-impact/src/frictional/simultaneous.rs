//! All contacts at once.

use super::contradiction::contradiction;
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
    ConeDiagnostics, Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome,
    ImpactProblem, ImpactStatus,
};
use carom_lcp::LcpStatus;
use carom_lcp::cone::{CONE_RESIDUAL, ConeMode, ConeSelection};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;
use std::cell::Cell;

/// Units of work of an outcome beside its complementarity problem: the gate, its exact sums, refinement.
const OUTCOME_WORK: u64 = 20_000;

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
    /// Choice from a continuum of outcomes, with round cones.
    pub selection: ConeSelection,
}

impl ImpactLaw for AnitescuPotra {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        resolve(
            problem.event(),
            self.friction_cone,
            self.selection,
            &[],
            &Rules::FRICTIONAL,
            &Cell::default(),
        )
    }
}

/// Moreau's law with Newton's restitution (`moreau-newton`):
/// $0 \le b_n^+ - e\max(-b_n^-, 0) \perp \lambda_n \ge 0$ for every contact, friction against the
/// tangential velocity after the impact.
///
/// Restitution acts where a contact approached: one that rested or separated must only not close. No
/// answer penetrates. One exists unless impulses at the contacts can balance each other (facing walls):
/// then contacts that must rebound against each other have none,
/// [`ContradictoryRestitution`](ImpactError::ContradictoryRestitution).
///
/// A contact that touches with $b_n^- = 0$ and $e > 0$ is on a kink of the law: its derivative is that of
/// one side.
///
/// With friction, or with different restitutions, kinetic energy may grow (Kane & Levinson 1985): the audit
/// says so ([`energy_gain`](crate::Audit::energy_gain)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct MoreauNewton {
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice from a continuum of outcomes, with round cones.
    pub selection: ConeSelection,
}

impl MoreauNewton {
    /// Resolves a time step, whose restitution is that of the velocity at its begin: $0 \le b_n^+ -
    /// e\max(-\hat b_n, 0) \perp \lambda_n \ge 0$ with $\hat b = J\hat v$, `approach` = $\hat v$ (n).
    ///
    /// A time step adds external impulses and impacts at once: the velocity before is then the one
    /// without contact, but restitution means that of the velocity the step began with.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`](ImpactLaw::resolve), and [`ImpactError::Metric`] for `approach`.
    pub fn resolve_from(
        &self,
        problem: &ImpactProblem<'_>,
        approach: &Tangent,
    ) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let contacts = problem.contacts();
        let entries = approach.0.as_slice();
        contacts
            .metric()
            .check_vector("velocity of approach", entries)?;
        self.resolve_step(problem, approach, &Cell::default())
    }

    /// Resolves a time step, and adds its units of work.
    fn resolve_step(
        &self,
        problem: &ImpactProblem<'_>,
        approach: &Tangent,
        work: &Cell<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let closing = |i| {
            let contacts = problem.contacts();
            let velocity = contacts.normal_velocity(i, approach.0.as_slice(), problem.scale());
            (velocity.rate < -GRAZING_TOLERANCE * velocity.size).then_some(-velocity.rate)
        };
        self.resolve_with(problem, closing, work)
    }

    /// Resolves an impact, and adds its units of work.
    fn resolve_impact(
        &self,
        problem: &ImpactProblem<'_>,
        work: &Cell<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let closing = |i| {
            let contacts = problem.contacts();
            let normal = contacts.unit_row(contacts.row(i));
            let speed = -kernel::dot(normal, problem.momentum());
            (problem.approaches(i) && speed > 0.0).then_some(speed)
        };
        self.resolve_with(problem, closing, work)
    }

    /// Resolves an impact or, from a velocity of approach, a time step. Adds units of work, about a multiply-add each.
    pub(crate) fn resolve_counted(
        &self,
        problem: &ImpactProblem<'_>,
        approach: Option<&Tangent>,
        work: &Cell<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        match approach {
            Some(approach) => self.resolve_step(problem, approach, work),
            None => self.resolve_impact(problem, work),
        }
    }

    /// `closing` is the scaled speed at which a contact's unit normal approached, `None` for those that
    /// did not.
    fn resolve_with(
        &self,
        problem: &ImpactProblem<'_>,
        closing: impl Fn(usize) -> Option<f64>,
        work: &Cell<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts().contacts().iter().enumerate();
        let rebound = |(i, contact): (usize, &Contact)| match contact.restitution {
            0.0 => 0.0,
            e => closing(i).map_or(0.0, |speed| e * speed),
        };
        let rebounds: Vec<f64> = contacts.map(rebound).collect();
        // Newton's ratio may gain energy, but none against the rebound that it asks for.
        let rules = Rules {
            work: Work::Rebound(&rebounds),
            ..Rules::FRICTIONAL
        };
        resolve(
            problem,
            self.friction_cone,
            self.selection,
            &rebounds,
            &rules,
            work,
        )
    }
}

/// One impact of all contacts at once.
struct Event<'e> {
    problem: &'e ImpactProblem<'e>,
    space: &'e ContactSpace,
    /// Scaled velocities of the slots from which impulses start: those of the normals count from the
    /// [`rebounds`](Self::rebounds), so that inelastic contacts remain.
    before: DVector<f64>,
    /// True if each contact is slower than it must be.
    is_asked: Vec<bool>,
    /// Scaled velocities that the contacts' normals must have at least after the impact; empty for zero.
    rebounds: &'e [f64],
    rules: &'e Rules<'e>,
    /// Units of work so far.
    work: &'e Cell<u64>,
}

/// Basis of an impact with rebounds: it counts normal velocities from them.
struct Shifted<'b> {
    basis: &'b mut dyn Basis,
    rebounds: &'b [f64],
}

impl Shifted<'_> {
    fn shifted(&self, contacts: &ContactSet<'_>, velocities: &[f64]) -> Vec<f64> {
        let mut velocities = velocities.to_vec();
        for (i, rebound) in self.rebounds.iter().enumerate() {
            if let Some(velocity) = velocities.get_mut(contacts.row(i)) {
                *velocity -= rebound;
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
        self.resolve_impact(problem.event(), &Cell::default())
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
    rebounds: &[f64],
    rules: &Rules<'_>,
    work: &Cell<u64>,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = problem.contacts();
    contacts.require_tangents()?;
    let space = ContactSpace::new(contacts);
    let mut before = space.velocity(problem.momentum());
    let mut is_asked = approaching(problem);
    let slots = before.iter_mut().step_by(space.width());
    for ((b, rebound), is_asked) in slots.zip(rebounds).zip(&mut is_asked) {
        let size = b.abs() + rebound;
        *b -= rebound;
        *is_asked |= *rebound > 0.0 && *b < -GRAZING_TOLERANCE * size;
    }
    let event = Event {
        problem,
        before,
        space: &space,
        is_asked,
        rebounds,
        rules,
        work,
    };
    event.count(OUTCOME_WORK);
    let found = event.resolve(friction_cone, selection);
    found.map_err(|error| event.explained(error))
}

impl Event<'_> {
    /// Adds units of work.
    fn count(&self, work: u64) {
        self.work.set(self.work.get().saturating_add(work));
    }

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

    /// Says of an impact without an answer which contacts contradict each other.
    fn explained(&self, error: ImpactError) -> ImpactError {
        let is_unanswered = matches!(
            error,
            ImpactError::Complementarity { .. } | ImpactError::Inaccurate { .. }
        );
        if !is_unanswered {
            return error;
        }
        match contradiction(self.space, self.rebounds) {
            Some(contacts) => ImpactError::ContradictoryRestitution { contacts },
            None => error,
        }
    }

    /// True if any contact has two tangents.
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
                Part {
                    space: self.space.part(&contacts),
                    before: slots.iter().map(|slot| self.before[*slot]).collect(),
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
            let residual = round(&part.space).residual(&part.before, &impulse)?;
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
                rebounds: self.rebounds,
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
            let answer = round.candidate(&part.before, &[], selection, &mut workspace);
            self.count(workspace.work);
            let answer = answer?;
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
            let basis = RoundBasis::new(&part.space, contacts, modes);
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
            let before = &part.before;
            let solved = step.solve(&part.space, before, &[], &mut workspace);
            self.count(workspace.work());
            solved?;
            pivots += workspace.n_pivots;
            residual = worst([residual, workspace.residual].into_iter());
            for (slot, l) in part.slots.iter().zip(&workspace.impulse) {
                impulse[*slot] = *l;
            }
            if space.n_tangents > 1 {
                let pushes = &workspace.impulse;
                let found = polygon_error(&part.space, problem, k, before, pushes)?;
                polygon = Some(match polygon {
                    None => found,
                    Some(polygon) => polygon.beside(&found),
                });
            }
            let basis = step.basis(&part.space, &workspace);
            bases.push(Box::new(basis));
        }
        self.outcome(&impulse, bases, complementarity(pivots, residual, polygon))
    }
}
