//! One contact at a time.

use super::friction_cone::{ConeShape, FrictionCone};
use super::round::RoundStep;
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::own_terms::GRAZING_TOLERANCE;
use crate::problem::Numbers;
use crate::{Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus};
use nalgebra::DVector;

/// Contacts are resolved one at a time, without restitution, in a cycle (`sequential`).
///
/// Each impact is that of [`AnitescuPotra`](super::AnitescuPotra) on the contact alone; a contact
/// that does not approach is passed over. The impact ends when none approaches.
///
/// Ivanov 1995; Halm & Posa, Section 1.1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Sequential {
    /// Contacts in the order in which they are asked, over and over. Empty: as given. Contacts
    /// that it leaves out are asked after those that it names.
    pub order: Vec<usize>,
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Cap on single impacts.
    pub max_impacts: u64,
}

impl Default for Sequential {
    fn default() -> Self {
        Self {
            order: Vec::new(),
            friction_cone: FrictionCone::Round,
            max_impacts: 10_000,
        }
    }
}

impl Sequential {
    /// The whole cycle.
    pub(crate) fn cycle(&self, n_contacts: usize) -> Result<Vec<usize>, ImpactError> {
        let mut cycle = self.order.clone();
        if let Some(&contact) = cycle.iter().find(|contact| **contact >= n_contacts) {
            return Err(ImpactError::InvalidContact {
                what: "order",
                contact,
                contacts: n_contacts,
            });
        }
        let left_out = (0..n_contacts).filter(|contact| !self.order.contains(contact));
        cycle.extend(left_out);
        Ok(cycle)
    }
}

/// One contact as if the others were open.
enum Single {
    Round(RoundStep),
    /// With the contact in a space of its own, and with its round cone, if it has one.
    Polygon(Box<(StepProblem, ContactSpace, Option<RoundStep>)>),
}

impl Single {
    fn new(alone: ContactSpace, shape: ConeShape) -> Result<Self, ImpactError> {
        Ok(match shape {
            ConeShape::Round => Self::Round(RoundStep::new(&alone)),
            ConeShape::Polygon(k) => {
                let round = (alone.n_tangents > 1).then(|| RoundStep::new(&alone));
                Self::Polygon(Box::new((
                    StepProblem::new(&alone, k, false)?,
                    alone,
                    round,
                )))
            }
        })
    }

    /// Leaves the impulses in the workspace. The result is their residual with a round cone.
    fn solve(&self, velocity: &[f64], workspace: &mut StepWorkspace) -> Result<f64, ImpactError> {
        workspace.set_cover(0, None);
        match self {
            Self::Polygon(polygon) => {
                let (lcp, space, round) = &**polygon;
                lcp.solve(space, velocity, &[], &[], workspace)?;
                match round {
                    Some(round) => round.residual(velocity, &[], &workspace.impulse),
                    None => Ok(0.0),
                }
            }
            Self::Round(round) => {
                workspace.solve_round(round, velocity, &[])?;
                Ok(workspace.residual)
            }
        }
    }
}

impl ImpactLaw for Sequential {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let cycle = self.cycle(problem.contacts().len())?;
        let singles = SingleImpacts::new(problem, self.friction_cone)?;
        let diagnostics = |found: &InOrder| Diagnostics::Sequential {
            sequence: found.sequence.clone(),
            pivots: found.pivots,
            velocity_residual: found.velocity_residual,
            cone: (singles.space.n_tangents > 1).then_some(self.friction_cone),
            cone_residual: found.cone_residual,
        };
        if !problem.is_approaching() {
            return separating(problem, diagnostics(&InOrder::default()));
        }
        let found = singles.run(&cycle, self.max_impacts)?;
        let diagnostics = diagnostics(&found);
        singles
            .space
            .outcome(problem, &found.impulse, ImpactStatus::Resolved, diagnostics)
    }
}

/// The impacts of each contact alone, ready for any order.
pub(crate) struct SingleImpacts<'p> {
    problem: &'p ImpactProblem<'p>,
    pub(crate) space: ContactSpace,
    singles: Vec<Single>,
}

/// Where single impacts in one order lead.
#[derive(Default)]
pub(crate) struct InOrder {
    /// Scaled impulses on the slots, added up.
    pub(crate) impulse: Vec<f64>,
    /// Contacts in the order of the impacts.
    pub(crate) sequence: Vec<usize>,
    pivots: usize,
    velocity_residual: f64,
    cone_residual: f64,
}

impl<'p> SingleImpacts<'p> {
    pub(crate) fn new(
        problem: &'p ImpactProblem<'p>,
        friction_cone: FrictionCone,
    ) -> Result<Self, ImpactError> {
        problem.contacts().require_tangents()?;
        let space = ContactSpace::new(problem.contacts());
        let shape = friction_cone.shape(space.n_tangents)?;
        let mut singles = Vec::with_capacity(space.n_contacts);
        for contact in 0..space.n_contacts {
            let alone = space.single(contact);
            singles.push(Single::new(alone, shape)?);
        }
        Ok(Self {
            problem,
            space,
            singles,
        })
    }

    /// The impact of one contact from a scaled whitened momentum: impulses on all contact rows as
    /// given, and the change of the momentum.
    pub(crate) fn strike(
        &self,
        contact: usize,
        momentum: &[f64],
    ) -> Result<(DVector<f64>, Numbers), ImpactError> {
        let (space, contacts) = (&self.space, self.problem.contacts());
        let width = space.width();
        let slots = contact * width..(contact + 1) * width;
        let velocity = space.velocity(momentum);
        let mut workspace = StepWorkspace::new();
        workspace.made = space.sizes(momentum)[slots.clone()].to_vec();
        self.singles[contact].solve(&velocity.as_slice()[slots.clone()], &mut workspace)?;
        let mut impulse = vec![0.0; space.n_slots()];
        impulse[slots].copy_from_slice(&workspace.impulse);
        let given = space.on_rows(&impulse, self.problem.scale(), contacts);
        Ok((given, space.change(&impulse)))
    }

    /// Scaled velocities of the contacts' normals that count as grazing before the impact.
    pub(crate) fn grazing(&self) -> Vec<f64> {
        self.space.grazing(self.problem)
    }

    /// Impacts in the order of a cycle, until no contact approaches.
    pub(crate) fn run(&self, cycle: &[usize], max_impacts: u64) -> Result<InOrder, ImpactError> {
        let (problem, space) = (self.problem, &self.space);
        let width = space.width();
        let mut velocity = space.velocity(problem.momentum());
        let mut grazing = space.grazing(problem);
        let mut made = space.sizes(problem.momentum());
        let mut impulse = vec![0.0; space.n_slots()];
        let mut workspace = StepWorkspace::new();
        let (mut sequence, mut pivots) = (Vec::new(), 0);
        let (mut velocity_residual, mut cone_residual) = (0.0, 0.0);
        let mut quiet = 0;
        for &contact in cycle.iter().cycle() {
            let slots = contact * width..(contact + 1) * width;
            if velocity[slots.start] >= -grazing[contact] {
                quiet += 1;
                if quiet >= cycle.len() {
                    break;
                }
                continue;
            }
            quiet = 0;
            if sequence.len() as u64 >= max_impacts {
                return Err(ImpactError::LimitExceeded {
                    impacts: max_impacts,
                });
            }
            let alone = &velocity.as_slice()[slots.clone()];
            workspace.made = made[slots.clone()].to_vec();
            let residual = self.singles[contact].solve(alone, &mut workspace)?;
            cone_residual = f64::max(cone_residual, residual);
            pivots += workspace.n_pivots;
            for (slot, l) in slots.zip(&workspace.impulse) {
                impulse[slot] += l;
                velocity.axpy(*l, &space.gram.column(slot), 1.0);
                for (made, g) in made.iter_mut().zip(&space.gram.column(slot)) {
                    *made += (l * g).abs();
                }
                for (i, grazing) in grazing.iter_mut().enumerate() {
                    let made = l * space.gram[(i * width, slot)];
                    *grazing = f64::max(*grazing, GRAZING_TOLERANCE * made.abs());
                }
            }
            velocity_residual = f64::max(velocity_residual, workspace.residual);
            sequence.push(contact);
        }
        Ok(InOrder {
            impulse,
            sequence,
            pivots,
            velocity_residual,
            cone_residual,
        })
    }
}
