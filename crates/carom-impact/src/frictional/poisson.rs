//! Poisson's law: compression and expansion of all contacts at once, without a gain of energy.

use super::canonical::Canonical;
use super::cone_shape::ConeShape;
use super::end_mode::end_modes;
use super::parts::Part;
use super::regular::{Solution, after, hidden_family, is_regular};
use super::round::{RoundStep, RoundWorkspace};
use super::rounding::{Sizes, without_rounding};
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use super::turned::Turned;
use crate::laws::BuiltIn;
use carom_contact::internal::{Opening, separating, worst};
use carom_contact::{
    Diagnostics, FrictionCone, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    PoissonDiagnostics, Rules,
};
use carom_lcp::LcpStatus;
use carom_lcp::cone::{ConeAnswer, ConeMode, ConeSelection, ConeStart};
use carom_metric::kernel;

/// Energy gain above which an expansion is scaled down, as a fraction of the magnitudes of the work of the impulses. A
/// smaller gain is a rounding error.
const GAIN: f64 = 1e-12;

/// Fraction of the largest impulse of a compression below which the impulse of a contact is a rounding error. The contact gives
/// nothing back. One member of a continuum of impulses is extrapolated from compliances down to 2.5e-5, by which rounding errors of velocities
/// are divided.
const NO_IMPULSE: f64 = 1e-11;

/// Absolute accuracy of the scale of an expansion, which lies in [0, 1].
const SCALE_ACCURACY: f64 = 1e-12;

/// Poisson's hypothesis for all contacts at once, scaled so that no energy is gained (`poisson`).
///
/// *Compression* is the simultaneous law without restitution: impulses $\lambda_c$, velocity $v_c$, row velocities $u_c$.
/// *Expansion* gives back at least the fraction $e_i$ of every normal impulse of the compression,
/// $p_i = s e_i\lambda_{c,n,i}$. Its impulses $\lambda$ satisfy $u = u_c + G\lambda$ with the Delassus matrix $G$, and
///
/// $$ 0 \le \lambda_n - p \perp u_n \ge 0, \qquad \lVert\lambda_t\rVert \le \mu\lambda_n, \qquad
/// \lambda_t = -\mu\lambda_n \frac{u_t}{\lVert u_t\rVert} \text{ where } u_t \ne 0. $$
///
/// The impulses of the outcome are $\lambda_c + \lambda$. The scale $s$ is 1 if kinetic energy then does not
/// grow, else the largest value in $[0, 1]$ for which it does not. Each group of contacts whose
/// impulses change no velocity at others has its own scale. Without restitution, or if no contact approaches, there is no expansion.
///
/// *An answer exists* for every restitution, also for contacts that oppose each other: both problems are
/// copositive. Kinetic energy never grows. If compression closes every contact, there is no friction and
/// all $e$ are equal, the law is the same as Moreau's. A contact at rest can also give back an impulse: for example if
/// another body hits its body from the other side.
///
/// If rows are linearly dependent, the impulses of the compression, and the velocities after either phase, may have
/// several solutions. [`selection`](Self::selection) chooses among them in both phases: `Even` takes the limit of
/// equally compliant contacts, for velocities and impulses. With a friction polygon in space the answer
/// that is found first is kept.
///
/// # Examples
///
/// A ball that touches two opposed walls at once: the impulses given back by the walls cancel.
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
/// use carom_impact::frictional::Poisson;
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(1, 1))?;
/// let wall = |side: f64| Contact {
///     normal: Covector::from_slice(&[side]),
///     tangents: vec![],
///     friction: 0.0,
///     restitution: 0.5,
/// };
/// let contacts = ContactSet::new(&metric, vec![wall(1.0), wall(-1.0)])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0]))?;
/// let outcome = Poisson::default().resolve(&problem)?;
/// assert!(outcome.velocity_plus.0[0].abs() < 1e-15);
/// assert!((outcome.impulses[0] - 3.0).abs() < 1e-12);
/// assert!((outcome.impulses[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
///
/// Poisson 1833; Glocker & Pfeiffer, *Multiple impacts with friction in rigid multibody systems*, 1995.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Poisson {
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice of one member from a continuum of compressions, and from a continuum of expansions.
    pub selection: ConeSelection,
}

carom_numeric::setters!(Poisson {
    /// Sets the shape of the friction cones of spatial contacts.
    with_friction_cone: friction_cone, FrictionCone;
    /// Sets the rule that chooses a member of a continuum of outcomes.
    with_selection: selection, ConeSelection;
});

impl ImpactLaw for Poisson {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let contacts = problem.contacts();
        contacts.require_tangents()?;
        let space = ContactSpace::new(contacts);
        let shape = ConeShape::of(self.friction_cone, space.n_tangents)?;
        let told = PoissonDiagnostics {
            compression: space.on_rows(&vec![0.0; space.n_slots()], problem.scale(), contacts),
            scale: 1.0,
            residual: 0.0,
            cone: self.friction_cone,
            family: 0,
            met_others: false,
            selection: self.selection,
            modes: vec![ConeMode::Open; space.n_contacts],
            pivots: 0,
            newton_steps: 0,
        };
        if !problem.is_approaching() {
            return separating(problem, Diagnostics::Poisson(Box::new(told)));
        }
        let found = self.impact(problem, &space, shape, told.clone());
        match found {
            // If impulses can balance each other, Lemke's method may follow them without end. In the plane cones are
            // polygons: the solver for round cones then finds an answer of the same law.
            Err(ref error)
                if space.n_tangents < 2
                    && (error.is_unsolved() || matches!(error, ImpactError::Inaccurate { .. })) =>
            {
                let by_cones = self.impact(problem, &space, ConeShape::Round, told);
                by_cones.or(found)
            }
            found => found,
        }
    }
}

impl Poisson {
    /// Resolves an impact in which at least one contact approaches. `space` holds the normalized contact rows, `shape`
    /// the shape of the friction cones; `told` are the diagnostics, to which this call adds.
    fn impact(
        &self,
        problem: &ImpactProblem,
        space: &ContactSpace,
        shape: ConeShape,
        mut told: PoissonDiagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts();
        let before = space.velocity_before(problem);
        let sizes = space.sizes(problem.momentum());
        let (mut total, mut compression) = (vec![0.0; space.n_slots()], vec![0.0; space.n_slots()]);
        let restitution: Vec<f64> = contacts.contacts().iter().map(|c| c.restitution).collect();
        for members in space.independent() {
            if !members.iter().any(|i| problem.approaches(*i)) {
                continue;
            }
            let canonical = match members.len() {
                1 => Canonical::as_given(members),
                _ => Canonical::new(space, &members, before.as_slice(), &restitution),
            };
            let part = Part::new(space, canonical, before.as_slice());
            let own = part
                .canonical
                .contacts
                .iter()
                .map(|i| restitution[i.index()]);
            let sizes = part.of_slots(&sizes);
            // On turned tangents the answer does not depend on those given.
            let is_turned =
                shape == ConeShape::Round && part.space.n_contacts > 1 && part.space.n_tangents > 1;
            let turned = is_turned.then(|| Turned::new(&part.space, &part.before));
            let turned_space = turned.as_ref().map(|turned| turned.space(&part.space));
            let mut phases = Phases {
                space: turned_space.as_ref().unwrap_or(&part.space),
                shape,
                selection: self.selection,
                restitution: own.collect(),
                before: turned
                    .as_ref()
                    .map_or(&part.before, |turned| &turned.before)
                    .clone(),
                sizes: Sizes::new(sizes.into_iter().map(f64::abs).collect()),
                told: &mut told,
            };
            let mut phases = phases.resolve()?;
            if let Some(turned) = turned {
                turned.turn_back(&mut phases.compression);
                turned.turn_back(&mut phases.total);
            }
            part.write(&phases.compression, &mut compression);
            part.write(&phases.total, &mut total);
        }
        told.compression = space.on_rows(&compression, problem.scale(), contacts);
        told.modes = end_modes(space, before.as_slice(), &sizes, &total);
        space.candidate(problem, &total).outcome(
            problem,
            &Rules::FRICTIONAL,
            &mut Opening::default(),
            ImpactStatus::Resolved,
            Diagnostics::Poisson(Box::new(told)),
        )
    }
}

/// Impulses on the slots of an independent part.
struct Impulses {
    compression: Vec<f64>,
    /// Sum of compression and expansion.
    total: Vec<f64>,
}

/// Impulses of a phase on the slots, as a solver found them.
struct Found {
    impulse: Vec<f64>,
    /// Answer of the solver for round cones, and its work buffers; `None` for impulses of another solver.
    by_cones: Option<(ConeAnswer, RoundWorkspace)>,
}

impl Found {
    fn by_cones(answer: ConeAnswer, workspace: RoundWorkspace) -> Self {
        Self {
            impulse: workspace.impulse.clone(),
            by_cones: Some((answer, workspace)),
        }
    }

    fn otherwise(impulse: Vec<f64>) -> Self {
        Self {
            impulse,
            by_cones: None,
        }
    }
}

/// Impulses of a phase on the slots, after the selection among several answers.
struct Settled {
    impulse: Vec<f64>,
    family: usize,
    /// True if another solution with other velocities was met.
    met_others: bool,
    selection: ConeSelection,
    /// True if neighboring impulses may solve the same problem.
    may_be_free: bool,
}

/// Solver of both phases for contacts whose impulses change no velocity at others.
struct Phases<'t> {
    space: &'t ContactSpace,
    shape: ConeShape,
    selection: ConeSelection,
    restitution: Vec<f64>,
    /// Scaled velocities of the slots before the impact, and the sizes of their terms.
    before: Vec<f64>,
    sizes: Sizes,
    told: &'t mut PoissonDiagnostics,
}

impl Phases<'_> {
    fn resolve(&mut self) -> Result<Impulses, ImpactError> {
        let solver = Solver::new(self.space, self.shape)?;
        let Settled {
            impulse: compression,
            may_be_free,
            ..
        } = self.compress(&solver)?;
        let mut total = compression.clone();
        let width = self.space.width();
        let mut given_back = vec![0.0; self.space.n_contacts];
        let rounding = NO_IMPULSE * kernel::max_abs(&compression);
        for (i, (p, e)) in given_back.iter_mut().zip(&self.restitution).enumerate() {
            let normal = compression[i * width];
            *p = if normal > rounding { e * normal } else { 0.0 };
        }
        if given_back.iter().any(|p| *p > 0.0) {
            let after = self.after(&compression);
            self.sizes.add(self.space, &compression);
            let (expansion, scale) = self.expand(&solver, &after, &given_back, &compression)?;
            for (total, l) in total.iter_mut().zip(&expansion) {
                *total += l;
            }
            if may_be_free {
                given_back.iter_mut().for_each(|p| *p *= scale);
                let phases = [&compression, &expansion].map(Vec::as_slice);
                self.tell_hidden(phases, &after, &given_back, scale);
            }
        }
        Ok(Impulses { compression, total })
    }

    /// Counts the independent directions in which the final velocities are not unique, and adds the number to the
    /// diagnostics. Several compression impulses may produce the same velocities `between` the two phases. The expansion
    /// phase returns fractions of the compression impulses, so that the final velocities may differ. `floors`: lower bounds
    /// of the normal impulses in expansion; `scale`: factor of these bounds.
    fn tell_hidden(
        &mut self,
        [compression, expansion]: [&[f64]; 2],
        between: &[f64],
        floors: &[f64],
        scale: f64,
    ) {
        let compression = Solution {
            before: &self.before,
            impulse: compression,
            floors: &[],
            speed: self.speed(),
        };
        let expansion = Solution {
            before: between,
            impulse: expansion,
            floors,
            speed: self.speed(),
        };
        let given_back: Vec<f64> = self.restitution.iter().map(|e| e * scale).collect();
        self.told.family += hidden_family(self.space, &compression, &expansion, &given_back);
    }

    /// Returns the largest velocity of a normalized contact row before the impact.
    fn speed(&self) -> f64 {
        kernel::max_abs(&self.before)
    }

    /// True if polygons replace round friction cones at contacts with two tangents.
    fn has_polygons(&self) -> bool {
        matches!(self.shape, ConeShape::Polygon(_)) && self.space.n_tangents > 1
    }

    fn compress(&mut self, solver: &Solver) -> Result<Settled, ImpactError> {
        let before = self.before.clone();
        let found = match solver {
            Solver::Round(round) => {
                let mut workspace = RoundWorkspace::default();
                let answer = round.solve(&before, &[], self.selection, &mut workspace)?;
                self.told.pivots += answer.n_pivots;
                self.told.newton_steps += answer.n_newton_steps;
                if answer.selection != self.selection {
                    self.told.selection = answer.selection;
                }
                self.tell_residual(answer.residual);
                Found::by_cones(answer, workspace)
            }
            Solver::Polygons(step) => Found::otherwise(self.by_pivots(step, &before, &[])?),
        };
        let found = self.settled(&before, &[], found)?;
        self.tell_member(&found);
        Ok(found)
    }

    /// Replaces the impulses in `found` by the even member of a continuum of solutions (the limit of the solutions for
    /// equally compliant contacts), or by a solution near it, if that is selected and such a continuum exists. Also returns
    /// the dimension of the continuum. `before`: velocities of the normalized contact rows before these impulses; `floors`:
    /// lower bounds of the normal impulses.
    fn settled(
        &mut self,
        before: &[f64],
        floors: &[f64],
        found: Found,
    ) -> Result<Settled, ImpactError> {
        let mut alone = Settled {
            impulse: found.impulse,
            family: 0,
            met_others: found
                .by_cones
                .as_ref()
                .is_some_and(|(answer, _)| answer.met_others),
            selection: self.selection,
            may_be_free: false,
        };
        if self.has_polygons()
            || is_regular(self.space, before, &alone.impulse, floors, self.speed())
        {
            return Ok(alone);
        }
        let round = RoundStep::new(self.space);
        let is_by_cones = found.by_cones.is_some();
        let cones = match found.by_cones {
            // With pivots, rounding errors decide which of several answers is found.
            None => self.by_few_cones(&round, before, floors)?,
            cones => cones,
        };
        alone.met_others |= cones.as_ref().is_some_and(|(answer, _)| answer.met_others);
        let mut workspace = RoundWorkspace::default();
        let (answer, is_invariant) = match cones {
            Some((found, same)) => {
                workspace = same;
                let answer = round.settle_further(floors, found, self.selection, &mut workspace)?;
                // Steps of the sparse solver are counted in `found` alone.
                self.told.newton_steps +=
                    answer.n_newton_steps.saturating_sub(found.n_newton_steps);
                (answer, !is_by_cones)
            }
            None => {
                let given = &alone.impulse;
                let answer = round.settle(before, floors, given, self.selection, &mut workspace)?;
                self.told.newton_steps += answer.n_newton_steps;
                (answer, false)
            }
        };
        let is_even = self.selection == ConeSelection::Even && answer.status == LcpStatus::Solved;
        // The solver moves to another member also if it does not find the even one.
        let is_moved = is_even && (is_invariant || answer.start == ConeStart::Compliant);
        Ok(Settled {
            impulse: if is_moved {
                workspace.impulse
            } else {
                alone.impulse
            },
            family: answer.family,
            met_others: alone.met_others,
            selection: answer.selection,
            may_be_free: true,
        })
    }

    /// Solves a problem of few contacts by methods whose answer does not depend on axes, units or the order of
    /// contacts. `velocity`: velocities of the normalized contact rows before the impulses; `floors`: lower bounds of
    /// the normal impulses. Returns the answer and the work buffers that contain it. `None` if the even member (the
    /// limit of the solutions for equally compliant contacts) is not selected or is not found.
    fn by_few_cones(
        &mut self,
        round: &RoundStep,
        velocity: &[f64],
        floors: &[f64],
    ) -> Result<Option<(ConeAnswer, RoundWorkspace)>, ImpactError> {
        if self.selection != ConeSelection::Even {
            return Ok(None);
        }
        let mut workspace = RoundWorkspace::default();
        let few = round.solve_few_above(velocity, floors, self.selection, &mut workspace)?;
        let Some(answer) = few.filter(|answer| answer.status == LcpStatus::Solved) else {
            return Ok(None);
        };
        self.told.newton_steps += answer.n_newton_steps;
        self.tell_residual(answer.residual);
        Ok(Some((answer, workspace)))
    }

    fn tell_member(&mut self, found: &Settled) {
        self.told.family += found.family;
        self.told.met_others |= found.met_others;
        if found.selection != self.selection {
            self.told.selection = found.selection;
        }
    }

    /// Computes the expansion phase of an impact, with lower bounds `given_back` of the normal impulses. `after`:
    /// velocities of the normalized contact rows after compression; `compression`: impulses of the compression phase.
    /// `solver` is that of the compression phase. If compression and expansion together would gain energy, the bounds
    /// are multiplied by the largest factor without a gain. Returns the impulses of the expansion and this factor.
    fn expand(
        &mut self,
        solver: &Solver,
        after: &[f64],
        given_back: &[f64],
        compression: &[f64],
    ) -> Result<(Vec<f64>, f64), ImpactError> {
        let full = self.expansion(solver, after, given_back)?;
        if !self.gains(compression, &full.impulse) {
            self.tell_member(&full);
            return Ok((full.impulse, 1.0));
        }
        let (mut low, mut high) = (0.0, 1.0);
        let mut best = Settled {
            impulse: vec![0.0; after.len()],
            family: 0,
            met_others: false,
            selection: self.selection,
            may_be_free: false,
        };
        while high - low > SCALE_ACCURACY {
            let scale = 0.5 * (low + high);
            let floors: Vec<f64> = given_back.iter().map(|p| scale * p).collect();
            let expansion = self.expansion(solver, after, &floors)?;
            if self.gains(compression, &expansion.impulse) {
                high = scale;
            } else {
                low = scale;
                best = expansion;
            }
        }
        self.tell_member(&best);
        self.told.scale = self.told.scale.min(low);
        Ok((best.impulse, low))
    }

    /// Computes the impulses of the expansion phase by `solver`, the solver of the compression phase. `after` are the
    /// velocities of the normalized contact rows after compression, `floors` lower bounds of the normal impulses.
    fn expansion(
        &mut self,
        solver: &Solver,
        after: &[f64],
        floors: &[f64],
    ) -> Result<Settled, ImpactError> {
        let found = match solver {
            Solver::Round(round) => self.by_cones(round, after, floors)?,
            Solver::Polygons(step) => Found::otherwise(self.by_pivots(step, after, floors)?),
        };
        self.settled(after, floors, found)
    }

    /// Computes impulses for round friction cones, with lower bounds `floors` of the normal impulses. `velocity`:
    /// velocities of the normalized contact rows before these impulses. If several answers exist, an iterative method
    /// may find any of them. Few contacts are therefore solved by methods whose answer does not depend on axes, units
    /// or the order of contacts.
    fn by_cones(
        &mut self,
        round: &RoundStep,
        velocity: &[f64],
        floors: &[f64],
    ) -> Result<Found, ImpactError> {
        let mut workspace = RoundWorkspace::default();
        let few = round.solve_few_above(velocity, floors, self.selection, &mut workspace)?;
        if let Some(answer) = few {
            self.told.newton_steps += answer.n_newton_steps;
            self.tell_residual(answer.residual);
            if answer.selection != self.selection {
                self.told.selection = answer.selection;
            }
            return Ok(Found::by_cones(answer, workspace));
        }
        let (answer, impulse) = round.solve_above(velocity, floors)?;
        self.told.newton_steps += answer.n_newton_steps;
        self.tell_residual(answer.residual);
        Ok(Found::otherwise(impulse))
    }

    /// Computes impulses for friction polygons, by pivoting (Lemke's method). `velocity`: velocities of the normalized
    /// contact rows before these impulses; `floors`: lower bounds of the normal impulses, or empty. The returned
    /// impulses include these lower bounds.
    fn by_pivots(
        &mut self,
        step: &StepProblem,
        velocity: &[f64],
        floors: &[f64],
    ) -> Result<Vec<f64>, ImpactError> {
        let mut workspace = StepWorkspace::new();
        workspace.made = self.sizes.terms().to_vec();
        let width = self.space.width();
        let mut shifted = velocity.to_vec();
        let mut given = vec![0.0; velocity.len()];
        for (i, p) in floors.iter().enumerate() {
            given[i * width] = *p;
            for (u, g) in shifted.iter_mut().zip(&self.space.gram.column(i * width)) {
                *u += g * p;
            }
        }
        if !floors.is_empty() {
            // Contacts that compression closed start the expansion at rest. The sign of a rounding error would choose
            // between several answers.
            let mut sizes = self.sizes.clone();
            sizes.add(self.space, &given);
            without_rounding(&mut shifted, &sizes);
        }
        workspace.floors = floors.to_vec();
        step.solve(self.space, &shifted, &[], &mut workspace)?;
        self.told.pivots += workspace.n_pivots;
        self.tell_residual(workspace.residual);
        for (given, l) in given.iter_mut().zip(&workspace.impulse) {
            *given += l;
        }
        Ok(given)
    }

    fn tell_residual(&mut self, residual: f64) {
        self.told.residual = worst([self.told.residual, residual].into_iter());
    }

    /// Computes the velocities of the normalized contact rows after impulses on these rows.
    fn after(&self, impulse: &[f64]) -> Vec<f64> {
        after(self.space, &self.before, impulse)
    }

    /// True if the impulses of compression and expansion together increase the kinetic energy by more than rounding.
    fn gains(&self, compression: &[f64], expansion: &[f64]) -> bool {
        let total = compression.iter().zip(expansion).map(|(a, b)| a + b);
        let total: Vec<f64> = total.collect();
        let after = self.after(&total);
        let (mut work, mut size) = (0.0, 0.0);
        for ((l, minus), plus) in total.iter().zip(&self.before).zip(&after) {
            work += l * (minus + plus);
            size += l.abs() * (minus.abs() + plus.abs());
        }
        !(work <= GAIN * size)
    }
}

/// Solver that both phases use.
enum Solver {
    Round(RoundStep),
    Polygons(StepProblem),
}

impl Solver {
    fn new(space: &ContactSpace, shape: ConeShape) -> Result<Self, ImpactError> {
        Ok(match shape {
            ConeShape::Round => Self::Round(RoundStep::new(space)),
            ConeShape::Polygon(k) => Self::Polygons(StepProblem::new(space, k, false)?),
        })
    }
}
