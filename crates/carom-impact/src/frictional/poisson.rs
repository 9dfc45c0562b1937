//! Poisson's law: compression and expansion of all contacts at once, without a gain of energy.

use super::ambiguous::{Pick, decided};
use super::canonical::Canonical;
use super::cone_shape::ConeShape;
use super::cones::{Bounds, Cones, ConesWorkspace, Report, member};
use super::end_mode::end_modes;
use super::parts::Part;
use super::regular::{Solution, after, hidden_family};
use super::rounding::{Sizes, without_rounding};
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::laws::BuiltIn;
use carom_contact::ConeSelection;
use carom_contact::internal::{Opening, separating, worst};
use carom_contact::{
    Diagnostics, FrictionCone, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    PoissonDiagnostics, Rules,
};
use carom_lcp::contact_problem::{ContactMode, NO_IMPULSE};
use carom_metric::kernel;

/// Energy gain above which an expansion is scaled down, as a fraction of the magnitudes of the work of the impulses. A
/// smaller gain is a rounding error.
const GAIN: f64 = 1e-12;

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
/// equally compliant contacts, for velocities and impulses. Isolated compressions that are no such limits are refused with all
/// their outcomes ([`Ambiguous`](ImpactError::Ambiguous)); `First` takes that of the least energy. With a friction polygon in space
/// the answer that is found first is kept.
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
/// let wall = |side: f64| Contact::new(Covector::from_slice(&[side])).with_restitution(0.5);
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
#[non_exhaustive]
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
        let told = PoissonDiagnostics::new(
            space.on_rows(&vec![0.0; space.n_slots()], problem.scale(), contacts),
            self.friction_cone,
            self.selection,
            vec![ContactMode::Open; space.n_contacts],
        );
        if !problem.is_approaching() {
            return separating(problem, Diagnostics::Poisson(Box::new(told)));
        }
        decided(self.selection, |pick| {
            self.impact(problem, (&space, shape), told.clone(), pick)
        })
    }
}

impl Poisson {
    /// Resolves an impact in which at least one contact approaches. `space` holds the normalized contact rows, `shape`
    /// the shape of the friction cones; `told` are the diagnostics, to which this call adds; `pick` chooses among isolated
    /// compressions.
    fn impact(
        &self,
        problem: &ImpactProblem,
        (space, shape): (&ContactSpace, ConeShape),
        mut told: PoissonDiagnostics,
        pick: &mut Pick,
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
            let mut phases = Phases {
                space: &part.space,
                solver: Solver::new(&part.space, shape, *pick)?,
                selection: self.selection,
                restitution: own.collect(),
                before: part.before.clone(),
                sizes: Sizes::new(sizes.into_iter().map(f64::abs).collect()),
                told: &mut told,
            };
            let phases = phases.resolve(pick)?;
            part.write(&phases.compression, &mut compression);
            part.write(&phases.total, &mut total);
        }
        told.compression = space.on_rows(&compression, problem.scale(), contacts);
        told.modes = end_modes(space, before.as_slice(), &sizes, &total);
        told.is_ambiguous = pick.is_ambiguous();
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

/// Impulses of a phase on the slots.
struct Found {
    impulse: Vec<f64>,
    /// Dimension of the continuum of velocities that contains the answer.
    family: usize,
    selection: ConeSelection,
    is_unique: bool,
}

/// Solver of both phases for contacts whose impulses change no velocity at others.
struct Phases<'t> {
    space: &'t ContactSpace,
    solver: Solver,
    selection: ConeSelection,
    restitution: Vec<f64>,
    /// Scaled velocities of the slots before the impact, and the sizes of their terms.
    before: Vec<f64>,
    sizes: Sizes,
    told: &'t mut PoissonDiagnostics,
}

impl Phases<'_> {
    fn resolve(&mut self, pick: &mut Pick) -> Result<Impulses, ImpactError> {
        let before = self.before.clone();
        let compressed = self.solve(&before, &[])?;
        if let Solver::Cones(_, workspace) = &self.solver {
            *pick = workspace.pick;
        }
        self.tell_member(&compressed);
        let compression = compressed.impulse;
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
            let (expansion, scale) = self.expand(&after, &given_back, &compression)?;
            for (total, l) in total.iter_mut().zip(&expansion) {
                *total += l;
            }
            if !compressed.is_unique {
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

    fn tell_member(&mut self, found: &Found) {
        self.told.family += found.family;
        if found.selection != self.selection {
            self.told.selection = found.selection;
        }
    }

    /// Computes the expansion, with lower bounds `given_back` of the normal impulses. `after`: velocities of the normalized
    /// contact rows after the compression; `compression`: its impulses. If compression and expansion together would gain energy, the
    /// bounds are multiplied by the largest factor without a gain, between which and zero the work is followed by secants.
    /// Returns the impulses of the expansion and this factor.
    fn expand(
        &mut self,
        after: &[f64],
        given_back: &[f64],
        compression: &[f64],
    ) -> Result<(Vec<f64>, f64), ImpactError> {
        let full = self.solve(after, given_back)?;
        let mut gained = self.gain(compression, &full.impulse);
        if gained <= 0.0 {
            self.tell_member(&full);
            return Ok((full.impulse, 1.0));
        }
        let (mut low, mut high) = (0.0, 1.0);
        let mut best = Found {
            impulse: vec![0.0; after.len()],
            family: 0,
            selection: self.selection,
            is_unique: true,
        };
        let mut lost = self.gain(compression, &best.impulse);
        let mut is_halved = false;
        while high - low > SCALE_ACCURACY {
            let share = lost / (lost - gained);
            let is_inside = share > 0.01 && share < 0.99 && !is_halved;
            let width = high - low;
            let scale = low + width * if is_inside { share } else { 0.5 };
            let floors: Vec<f64> = given_back.iter().map(|p| scale * p).collect();
            let expansion = self.solve(after, &floors)?;
            let gain = self.gain(compression, &expansion.impulse);
            if gain > 0.0 {
                (high, gained) = (scale, gain);
            } else {
                (low, lost) = (scale, gain);
                best = expansion;
            }
            is_halved = high - low > 0.5 * width;
        }
        self.tell_member(&best);
        self.told.scale = self.told.scale.min(low);
        Ok((best.impulse, low))
    }

    /// Computes the impulses of a phase with lower bounds `floors` of the normal impulses, or none. `velocity`: velocities of
    /// the normalized contact rows before it.
    fn solve(&mut self, velocity: &[f64], floors: &[f64]) -> Result<Found, ImpactError> {
        let Solver::Cones(cones, workspace) = &mut self.solver else {
            return Ok(Found {
                impulse: self.by_pivots(velocity, floors)?,
                family: 0,
                selection: self.selection,
                is_unique: true,
            });
        };
        let bounds = Bounds {
            floors,
            ..Bounds::default()
        };
        let Report {
            residual,
            family,
            selection,
            is_unique,
            newton_steps,
        } = cones.solve(velocity, bounds, &[], member(self.selection), workspace)?;
        let impulse = workspace.impulse.clone();
        self.told.newton_steps += newton_steps;
        self.tell_residual(residual);
        Ok(Found {
            impulse,
            family,
            selection,
            is_unique: is_unique == Some(true),
        })
    }

    /// Computes impulses for friction polygons, by pivoting (Lemke's method). `velocity`: velocities of the normalized
    /// contact rows before these impulses; `floors`: lower bounds of the normal impulses, or empty. The returned
    /// impulses include these lower bounds.
    fn by_pivots(&mut self, velocity: &[f64], floors: &[f64]) -> Result<Vec<f64>, ImpactError> {
        let Solver::Polygons(step) = &self.solver else {
            return Ok(Vec::new());
        };
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

    /// Returns the kinetic energy that the impulses of compression and expansion together add, above rounding. Not positive if
    /// they add none.
    fn gain(&self, compression: &[f64], expansion: &[f64]) -> f64 {
        let total = compression.iter().zip(expansion).map(|(a, b)| a + b);
        let total: Vec<f64> = total.collect();
        let after = self.after(&total);
        let (mut work, mut size) = (0.0, 0.0);
        for ((l, minus), plus) in total.iter().zip(&self.before).zip(&after) {
            work += l * (minus + plus);
            size += l.abs() * (minus.abs() + plus.abs());
        }
        work - GAIN * size
    }
}

/// Solver that both phases use.
enum Solver {
    Cones(Cones, Box<ConesWorkspace>),
    Polygons(StepProblem),
}

impl Solver {
    fn new(space: &ContactSpace, shape: ConeShape, pick: Pick) -> Result<Self, ImpactError> {
        let workspace = || Box::new(ConesWorkspace::picking(pick));
        Ok(match shape {
            ConeShape::Round => Self::Cones(Cones::new(space), workspace()),
            ConeShape::Polygon(k) => Self::Polygons(StepProblem::new(space, k, false)?),
        })
    }
}
