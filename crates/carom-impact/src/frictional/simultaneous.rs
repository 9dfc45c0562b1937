//! Laws that resolve all contacts simultaneously in one complementarity problem.

use super::ambiguous::{Pick, decided};
use super::canonical::Canonical;
use super::cone_shape::ConeShape;
use super::cones::{Bounds, Cones, ConesWorkspace, Report, member, polygon_error};
use super::contradiction::{Contradiction, contradiction};
use super::end_mode::end_modes;
use super::modes::{check_planar, solutions};
use super::parts::Part;
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::laws::BuiltIn;
use carom_contact::ConeSelection;
use carom_contact::internal::{GRAZING_TOLERANCE, Opening, separating, worst};
use carom_contact::{
    ConeDiagnostics, Contact, ContactIndex, Diagnostics, FrictionCone, ImpactError, ImpactLaw,
    ImpactOutcome, ImpactProblem, ImpactStatus, PolygonDiagnostics, Rules, Work,
};
use carom_lcp::contact_problem::ContactMode;
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;
use std::cell::Cell;

/// Units of work of an outcome in addition to its complementarity problem: the gate, its exact sums, refinement.
const OUTCOME_WORK: u64 = 20_000;

/// Simultaneous frictional impact law of Anitescu and Potra (`anitescu-potra`). The impulses of all contacts follow from one
/// complementarity problem; there is no restitution.
///
/// Kinetic energy never grows. There may be several outcomes: if one of them is rest, this law returns it. Sliding contacts with
/// linearly dependent rows have a continuum of outcomes; [`selection`](Self::selection) chooses a member. Of isolated outcomes that
/// are no limits of compliant contacts it chooses none ([`Ambiguous`](ImpactError::Ambiguous)), or with
/// [`First`](ConeSelection::First) that of the least energy. In the plane [`all_simultaneous`](super::all_simultaneous) finds all.
///
/// Halm & Posa, Eq. (31).
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, frictional::AnitescuPotra};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.5)
///     .with_restitution(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// // Friction takes half of the normal impulse 2 off the sliding velocity 3.
/// let outcome = AnitescuPotra::default().resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![2.0, 0.0]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct AnitescuPotra {
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice of one outcome from a continuum, for round cones.
    pub selection: ConeSelection,
}

carom_numeric::setters!(AnitescuPotra {
    /// Sets the shape of the friction cones of spatial contacts.
    with_friction_cone: friction_cone, FrictionCone;
    /// Sets the rule that chooses a member of a continuum of outcomes.
    with_selection: selection, ConeSelection;
});

impl ImpactLaw for AnitescuPotra {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
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

/// Moreau's law with Newton's restitution (`moreau-newton`): $0 \le b_n^+ - e\max(-b_n^-, 0) \perp \lambda_n \ge 0$ for every
/// contact, with its normal velocities $b_n^\pm$ after and before the impact, normal impulse $\lambda_n$ and coefficient of
/// restitution $e$. Friction opposes the tangential velocity after the impact.
///
/// Restitution acts at contacts that approached; a contact that rested or separated must only not approach afterwards. No
/// answer penetrates. An answer exists unless impulses at the contacts can balance each other (facing walls).
/// Contacts that must rebound against each other then have no answer:
/// [`InfeasibleLaw`](ImpactError::InfeasibleLaw) with a proof.
///
/// A contact that touches with $b_n^- = 0$ and $e > 0$ is at a kink of the law: the computed derivative is that of
/// one side.
///
/// With friction, or with different restitutions, kinetic energy may grow (Kane & Levinson 1985); the audit
/// reports it ([`energy_gain`](carom_contact::Audit::energy_gain)).
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, frictional::MoreauNewton};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.5)
///     .with_restitution(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// // It rebounds with half its speed, so the normal impulse is 3 and friction takes 1.5.
/// let outcome = MoreauNewton::default().resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![1.5, 1.0]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct MoreauNewton {
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice of one outcome from a continuum, for round cones.
    pub selection: ConeSelection,
}

carom_numeric::setters!(MoreauNewton {
    /// Sets the shape of the friction cones of spatial contacts.
    with_friction_cone: friction_cone, FrictionCone;
    /// Sets the rule that chooses a member of a continuum of outcomes.
    with_selection: selection, ConeSelection;
});

impl MoreauNewton {
    /// Resolves an impact or, if `approach` is given, a time step that started with the velocity $\hat v$ (`approach`, n
    /// entries), to which restitution then refers: $0 \le b_n^+ - e\max(-\hat b_n, 0) \perp \lambda_n \ge 0$ for every contact
    /// with the normal impulse $\lambda_n$, the normal velocity $b_n^+$ after the step, the coefficient of restitution $e$ and
    /// the row velocities $\hat b = J\hat v$ at the start. Adds the units of work used (about a multiply-add each) to `work`.
    ///
    /// A time step applies external impulses and impacts together. The velocity of the problem is then the one at the end
    /// of the step without contact forces.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`](ImpactLaw::resolve), and [`ImpactError::Metric`] for `approach`.
    pub fn resolve_counted(
        &self,
        problem: &ImpactProblem,
        approach: Option<&Tangent>,
        work: &Cell<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let contacts = problem.contacts();
        if let Some(approach) = approach {
            let metric = contacts.metric();
            metric.check_vector("velocity of approach", approach.0.as_slice())?;
        }
        // Speed of approach of the unit normal, scaled.
        let closing = |i: ContactIndex| match approach {
            Some(approach) => {
                let velocity = contacts.normal_velocity(i, approach.0.as_slice(), problem.scale());
                (velocity.rate < -GRAZING_TOLERANCE * velocity.size).then_some(-velocity.rate)
            }
            None => {
                let normal = contacts.unit_row(contacts.row(i));
                let speed = -kernel::dot(normal, problem.momentum());
                (problem.approaches(i) && speed > 0.0).then_some(speed)
            }
        };
        let rebound = |(i, contact): (ContactIndex, &Contact)| match contact.restitution {
            0.0 => 0.0,
            e => closing(i).map_or(0.0, |speed| e * speed),
        };
        let rebounds: Vec<f64> = contacts.indexed().map(rebound).collect();
        // Newton's restitution may gain energy, but not beyond the prescribed rebounds.
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
    problem: &'e ImpactProblem,
    space: &'e ContactSpace,
    /// Scaled velocities of the slots before the impact, with the prescribed [`rebounds`](Self::rebounds) subtracted from those
    /// of the normals: the remaining problem is that of inelastic contacts.
    before: DVector<f64>,
    /// One entry per contact: true if the normal velocity is below its prescribed value.
    is_asked: Vec<bool>,
    /// Prescribed least scaled velocities of the contacts' unit normals after the impact; empty for zero.
    rebounds: &'e [f64],
    rules: &'e Rules<'e>,
    /// Units of work used so far.
    work: &'e Cell<u64>,
}

impl ImpactLaw for MoreauNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        self.resolve_counted(problem, None, &Cell::default())
    }
}

fn approaching(problem: &ImpactProblem) -> Vec<bool> {
    let contacts = problem.contacts().indices();
    contacts.map(|i| problem.approaches(i)).collect()
}

fn resolve(
    problem: &ImpactProblem,
    friction_cone: FrictionCone,
    selection: ConeSelection,
    rebounds: &[f64],
    rules: &Rules<'_>,
    work: &Cell<u64>,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = problem.contacts();
    contacts.require_tangents()?;
    let space = ContactSpace::new(contacts);
    let mut before = space.velocity_before(problem);
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
    /// Adds units of work (about multiply-adds) to the count of this impact.
    fn count(&self, work: u64) {
        self.work.set(self.work.get().saturating_add(work));
    }

    fn resolve(
        &self,
        friction_cone: FrictionCone,
        selection: ConeSelection,
    ) -> Result<ImpactOutcome, ImpactError> {
        match ConeShape::of(friction_cone, self.space.n_tangents)? {
            ConeShape::Round => decided(selection, |pick| self.with_cones(selection, pick)),
            ConeShape::Polygon(k) => self.with_polygons(k),
        }
    }

    /// Explains why an impact has no answer: if some contacts provably have contradictory rebounds, returns an error that
    /// names them. Otherwise returns the given error. With friction the proof is that no combination of contact modes
    /// has an answer.
    fn explained(&self, error: ImpactError) -> ImpactError {
        if !error.is_unsolved() && !matches!(error, ImpactError::Inaccurate { .. }) {
            return error;
        }
        let (space, problem) = (self.space, self.problem);
        let balanced = |friction| contradiction(space, self.rebounds, friction);
        let infeasible = |contacts, proof| ImpactError::InfeasibleLaw {
            contacts,
            found: None,
            proof,
        };
        if let Some(Contradiction { contacts, pushes }) = balanced(&[]) {
            let mut impulse = vec![0.0; space.n_slots()];
            for (normal, push) in impulse.iter_mut().step_by(space.width()).zip(pushes) {
                *normal = push;
            }
            let proof = space.on_rows(&impulse, problem.scale(), problem.contacts());
            return infeasible(contacts, Some(proof));
        }
        // Contacts of a planar part that has no answer in any combination of contact modes.
        if self.space.n_tangents == 1
            && let Some(Contradiction { contacts, .. }) = balanced(&self.space.friction)
            && self.parts().iter().any(has_no_solution)
        {
            return infeasible(contacts, None);
        }
        error
    }

    /// Splits the contacts into independent parts, whose impulses do not change each other's velocities. Returns those parts
    /// in which some normal velocity is below its prescribed value.
    fn parts(&self) -> Vec<Part<'_>> {
        let is_asked =
            |contacts: &Vec<ContactIndex>| contacts.iter().any(|i| self.is_asked[i.index()]);
        let parts = self.space.independent().into_iter().filter(is_asked);
        let before = self.before.as_slice();
        parts
            .map(|contacts| {
                let canonical = match contacts.len() {
                    1 => Canonical::as_given(contacts),
                    _ if self.space.n_tangents == 0 => {
                        Canonical::without_friction(self.space, contacts, before, self.rebounds)
                    }
                    _ => Canonical::new(self.space, &contacts, before, self.rebounds),
                };
                Part::new(self.space, canonical, before)
            })
            .collect()
    }

    /// Converts scaled impulses on the normalized contact rows to an outcome, after the final checks.
    fn outcome(
        &self,
        impulse: &[f64],
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        self.space.candidate(self.problem, impulse).outcome(
            self.problem,
            self.rules,
            &mut Opening::default(),
            ImpactStatus::Resolved,
            diagnostics,
        )
    }

    /// Resolves the impact with round friction cones. `selection` chooses among several answers, `pick` among isolated ones.
    fn with_cones(
        &self,
        selection: ConeSelection,
        pick: &mut Pick,
    ) -> Result<ImpactOutcome, ImpactError> {
        let Self { problem, space, .. } = self;
        let mut told = self.cone_diagnostics(selection);
        let parts = self.parts();
        if parts.is_empty() {
            return separating(problem, Diagnostics::Cone(Box::new(told)));
        }
        let mut impulse = vec![0.0; space.n_slots()];
        let mut workspace = ConesWorkspace::picking(*pick);
        for part in &parts {
            let worked = workspace.work;
            let solved = self.solve_part(part, selection, &mut workspace);
            self.count(workspace.work - worked);
            let report = solved?;
            told.family += report.family;
            told.shares_impulses = match (told.shares_impulses, report.is_unique) {
                (Some(shares), Some(is_unique)) => Some(shares || !is_unique),
                _ => None,
            };
            told.newton_steps += report.newton_steps;
            if report.selection != selection {
                told.selection = report.selection;
            }
            let modes = &workspace.modes;
            for (contact, mode) in part.canonical.contacts.iter().zip(modes) {
                told.modes[contact.index()] = *mode;
            }
            for (copy, of) in part.canonical.copies() {
                told.modes[copy.index()] = told.modes[of.index()];
            }
            told.residual = worst([told.residual, report.residual].into_iter());
            part.write(&workspace.impulse, &mut impulse);
        }
        *pick = workspace.pick;
        told.is_ambiguous = pick.is_ambiguous();
        self.outcome(&impulse, Diagnostics::Cone(Box::new(told)))
    }

    /// Solves the contact problem of a part with its prescribed rebounds.
    fn solve_part(
        &self,
        part: &Part<'_>,
        selection: ConeSelection,
        workspace: &mut ConesWorkspace,
    ) -> Result<Report, ImpactError> {
        let mut velocity = part.before.clone();
        let contacts = part.canonical.contacts.iter();
        let rebounds = contacts
            .clone()
            .filter_map(|i| self.rebounds.get(i.index()));
        let targets: Vec<f64> = rebounds.copied().collect();
        let normals = velocity.iter_mut().step_by(part.space.width());
        normals.zip(&targets).for_each(|(b, target)| *b += target);
        let bounds = Bounds {
            targets: &targets,
            ..Bounds::default()
        };
        let cones = Cones::new(&part.space);
        cones.solve(&velocity, bounds, &[], member(selection), workspace)
    }

    fn cone_diagnostics(&self, selection: ConeSelection) -> ConeDiagnostics {
        ConeDiagnostics::new(selection, vec![ContactMode::Open; self.space.n_contacts])
    }

    /// Resolves the impact with friction polygons of `k` directions in place of round cones.
    fn with_polygons(&self, k: usize) -> Result<ImpactOutcome, ImpactError> {
        let Self { problem, space, .. } = self;
        let parts = self.parts();
        let mut impulse = vec![0.0; space.n_slots()];
        let (mut pivots, mut residual, mut polygon) = (0, 0.0, None::<PolygonDiagnostics>);
        let steps = parts.iter();
        let steps = steps.map(|part| StepProblem::new(&part.space, k, false));
        let steps: Vec<StepProblem> = steps.collect::<Result<_, _>>()?;
        let sizes = space.sizes(problem.momentum());
        for (part, step) in parts.iter().zip(&steps) {
            let mut workspace = StepWorkspace::new();
            let made = part.of_slots(&sizes);
            workspace.made = made.into_iter().map(f64::abs).collect();
            let solved = step.solve(&part.space, &part.before, &[], &mut workspace);
            self.count(workspace.work());
            pivots += workspace.n_pivots;
            solved?;
            residual = worst([residual, workspace.residual].into_iter());
            part.write(&workspace.impulse, &mut impulse);
            let (before, pushes) = (&part.before, &workspace.impulse);
            let error = polygon_error(&part.space, problem, k, before, pushes)?;
            polygon = Some(polygon.map_or(error, |polygon| polygon.beside(&error)));
        }
        let told = Diagnostics::Complementarity {
            pivots,
            velocity_residual: residual,
            polygon,
            modes: end_modes(space, self.before.as_slice(), &sizes, &impulse),
        };
        if parts.is_empty() {
            return separating(problem, told);
        }
        self.outcome(&impulse, told)
    }
}

/// True if a part is planar, with few enough contacts to try all combinations of contact modes, and no combination has a
/// solution.
fn has_no_solution(part: &Part<'_>) -> bool {
    let before = DVector::from_column_slice(&part.before);
    check_planar(&part.space).is_ok()
        && solutions(&part.space, &before, None).is_ok_and(|found| found.is_empty())
}
