//! Single steps of a frictional impact with caps chosen by the caller.

use super::cone_shape::ConeShape;
use super::cones::{Bounds, Cones};
use super::polygon::{DEFAULT_DIRECTIONS, directions};
use super::set_valued::refuse;
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use carom_contact::internal::Opening;
use carom_contact::{ContactSet, FrictionCone, ImpactError, Rules};
use carom_lcp::contact_problem::Member;
use carom_metric::Tangent;
use nalgebra::DVector;

/// Result of one step of the set-valued law, in which the normal impulses are capped: velocity and impulses in physical
/// units.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Velocity after the step (n entries).
    pub velocity: Tangent,
    /// Impulses on the caller's contact rows, N·s.
    pub impulses: DVector<f64>,
    /// Multipliers $\beta$ of the caps, one per contact, in the unit of the contact's normal velocity: the speed at which a
    /// saturated contact still approaches.
    pub cap_multipliers: Vec<f64>,
    /// Sliding speeds $\gamma$, one per contact, in the unit of the contact's tangential velocity; empty
    /// without friction.
    pub sliding: Vec<f64>,
    /// Scale-free residual of the complementarity problem.
    pub residual: f64,
    /// Lemke pivots made.
    pub n_pivots: usize,
}

/// Solver of one step of the set-valued law, Halm & Posa, Eqs. (72)-(75): the simultaneous frictional impact of all contacts,
/// with an upper limit (cap) on every normal impulse.
///
/// Everything that depends on the configuration alone is computed once.
///
/// # Examples
///
/// A cap of 1 N·s leaves the point approaching:
///
/// ```
/// use carom_impact::{Contact, ContactSet};
/// use carom_impact::internal::{ImpactStepper, StepWorkspace};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let stepper = ImpactStepper::new(&contacts, None)?;
/// let v = Tangent::from_slice(&[3.0, -2.0]);
/// let step = stepper.step(&v, &[1.0], None, &mut StepWorkspace::new())?;
/// let expected = Tangent::from_slice(&[2.5, -1.0]);
/// assert!((step.velocity.0 - expected.0).amax() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImpactStepper<'a> {
    contacts: &'a ContactSet,
    pub(super) space: ContactSpace,
    pub(super) problem: StepProblem,
    cones: Option<Cones>,
}

impl<'a> ImpactStepper<'a> {
    /// Prepares the solver of steps for a set of contacts. `friction_directions` is the number of directions of the friction
    /// polygon in space; 4 if `None`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`], [`ImpactError::Lcp`] for too many contacts.
    pub fn new(
        contacts: &'a ContactSet,
        friction_directions: Option<usize>,
    ) -> Result<Self, ImpactError> {
        contacts.require_tangents()?;
        let space = ContactSpace::new(contacts);
        let k = directions(space.n_tangents, friction_directions)?;
        Self::of(contacts, space, k, false)
    }

    /// Prepares impulse steps for the contacts with normalized rows in `space` and friction cones of the shape `cone`.
    pub(super) fn with_cone(
        contacts: &'a ContactSet,
        space: ContactSpace,
        cone: FrictionCone,
    ) -> Result<Self, ImpactError> {
        match ConeShape::of(cone, space.n_tangents)? {
            ConeShape::Round if space.n_tangents > 1 => {
                Self::of(contacts, space, DEFAULT_DIRECTIONS, true)
            }
            ConeShape::Round => {
                let k = directions(space.n_tangents, None)?;
                Self::of(contacts, space, k, false)
            }
            ConeShape::Polygon(k) => Self::of(contacts, space, k, false),
        }
    }

    fn of(
        contacts: &'a ContactSet,
        space: ContactSpace,
        directions: usize,
        is_round: bool,
    ) -> Result<Self, ImpactError> {
        Ok(Self {
            problem: StepProblem::new(&space, directions, true)?,
            cones: is_round.then(|| Cones::new(&space)),
            contacts,
            space,
        })
    }

    /// Solves one impulse step and leaves the result in the workspace. `velocity` are the velocities of the normalized
    /// contact rows before the step, `caps` the largest normal impulses of the step (one per contact), both multiplied by
    /// the scale of the problem. With round cones the workspace may hold a covering vector (start vector of Lemke's method).
    /// Then the step is first solved with friction polygons, and the solution with round cones near that result is computed.
    pub(super) fn solve(
        &self,
        velocity: &[f64],
        caps: &[f64],
        workspace: &mut StepWorkspace,
    ) -> Result<(), ImpactError> {
        let Some(cones) = &self.cones else {
            return self.problem.solve(&self.space, velocity, caps, workspace);
        };
        let bounds = Bounds {
            caps,
            ..Bounds::default()
        };
        let is_free = workspace.lemke.options.cover.is_none();
        if !is_free
            && self
                .problem
                .solve(&self.space, velocity, caps, workspace)
                .is_ok()
        {
            let (start, pivots) = (workspace.impulse.clone(), workspace.n_pivots);
            if workspace
                .solve_cones(cones, velocity, bounds, &start, Member::Any)
                .is_ok()
            {
                workspace.n_pivots = pivots;
                return Ok(());
            }
        }
        workspace.solve_cones(cones, velocity, bounds, &[], Member::Any)
    }

    /// Contact set on which the steps act.
    pub fn contacts(&self) -> &'a ContactSet {
        self.contacts
    }

    /// Number of unknowns of the complementarity problem of a step, and length of the covering vector of
    /// [`step`](Self::step): $m(k + 3)$ for $m$ contacts with $k$ directions of friction.
    pub fn dim(&self) -> usize {
        self.problem.dim()
    }

    /// Advances the impact by one step from `velocity` (n entries). `caps` bound the normal impulses on the caller's rows (N·s,
    /// one per contact). If several solutions exist, the covering vector `cover` of Lemke's method (positive,
    /// [`dim`](Self::dim) entries; ones if `None`) decides which is found.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for the velocity, [`ImpactError::InvalidOption`] for a negative cap
    /// or a wrong number of them, [`ImpactError::Lcp`] for the covering vector,
    /// [`ImpactError::NotSolved`].
    pub fn step(
        &self,
        velocity: &Tangent,
        caps: &[f64],
        cover: Option<&[f64]>,
        workspace: &mut StepWorkspace,
    ) -> Result<Step, ImpactError> {
        let m = self.space.n_contacts;
        if caps.len() != m {
            return refuse("number of caps", caps.len() as f64, "one for each contact");
        }
        if let Some(cap) = caps.iter().find(|cap| !(**cap >= 0.0 && cap.is_finite())) {
            return refuse("cap", *cap, "finite and not negative");
        }
        let problem = carom_contact::ImpactProblem::new(self.contacts, velocity.clone())?;
        let problem = problem.event();
        let scale = problem.scale();
        let slots = self.space.velocity_before(problem);
        let contacts = self.space.indices();
        let caps: Vec<f64> = contacts
            .clone()
            .zip(caps)
            .map(|(i, cap)| cap * self.space.normal_norm(i) * scale)
            .collect();
        match cover {
            None => workspace.set_cover(0, None),
            Some(cover) => {
                let mut entries = cover.iter().copied();
                let mut next = || entries.next().unwrap_or(f64::NAN);
                workspace.set_cover(cover.len(), Some(&mut next));
            }
        }
        workspace.made = self.space.sizes(problem.momentum());
        self.problem
            .solve(&self.space, slots.as_slice(), &caps, workspace)?;
        let (mut beta, mut gamma) = self.problem.multipliers(workspace);
        for (i, beta) in contacts.clone().zip(&mut beta) {
            *beta *= self.space.normal_norm(i) / scale;
        }
        for (i, gamma) in contacts.zip(&mut gamma) {
            *gamma *= self.space.tangent_norm(i) / scale;
        }
        let rules = Rules {
            may_approach: true,
            ..Rules::FRICTIONAL
        };
        let outcome = self.space.candidate(problem, &workspace.impulse).outcome(
            problem,
            &rules,
            &mut Opening::default(),
            carom_contact::ImpactStatus::Resolved,
            carom_contact::Diagnostics::Complementarity {
                pivots: workspace.n_pivots,
                velocity_residual: workspace.residual,
                polygon: None,
                modes: Vec::new(),
            },
        )?;
        Ok(Step {
            velocity: outcome.velocity_plus,
            impulses: outcome.impulses,
            cap_multipliers: beta,
            sliding: gamma,
            residual: workspace.residual,
            n_pivots: workspace.n_pivots,
        })
    }
}
