//! The propagative law: a simultaneous impact as a chain of single elastic ones.
//!
//! Every contact that approaches reflects the momentum in the kinetic metric, which may make
//! others approach; the chain ends when none does. Whenever the contacts can open together
//! ([`Margin`](crate::Margin) positive) every chain ends, whatever the order:
//! each impact raises $\langle p, w\rangle$ for a direction $w$ that opens all contacts, and
//! $\lVert p\rVert$ bounds it. The order may matter, though, and then [`Propagative`] returns the
//! whole set of outcomes and its diameter, the indeterminacy $\xi$.

mod chain;
mod collapse;
mod minimal;
mod selection;
mod tree;
mod unfold;

pub use collapse::collapse_restitution;
pub use minimal::{MINIMALITY_LIMIT, is_minimal};
pub use selection::Selection;
pub use tree::SequenceFilter;
pub use unfold::{TwoContacts, Unfolding};

use crate::jump::{Jump, separating};
use crate::laws::BuiltIn;
use crate::plastic::plastic_jump;
use crate::restitution::blend;
use crate::{
    Diagnostics, EnergeticRestitution, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus, OutcomeSet, PlasticRule, PropagativeDiagnostics, SetValuedLaw,
};
use std::borrow::Cow;

/// Sequences are reported up to this many impacts.
pub const SEQUENCE_LIMIT: u64 = 10_000;

/// Cap on the impacts of a chain that is followed one by one.
pub const DEFAULT_MAX_IMPACTS: u64 = 10_000_000;

/// The propagative law (`propagative`).
///
/// Elastic by default; with a [`restitution`](Self::restitution) below 1 the outcome lies between
/// the plastic and the elastic one such that the whole event loses the energy that the coefficient
/// says. Frictionless: tangents and friction of the contacts are not used.
///
/// # Accuracy
///
/// Kinetic energy of an elastic outcome is kept to a few ulps (the total impulse is scaled onto the
/// energy ellipsoid), tangential momentum exactly up to the rounding of $v^+$. The error of the
/// outcome grows like the number of impacts times $2^{-52}$; two contacts that need more than 50
/// are unfolded in closed form, where it is $2^{-52}/\gamma$.
///
/// # Examples
///
/// Newton's cradle, Seghete & Murphey, Example 1: the outcome reverses the velocities.
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, Propagative};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
/// let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
/// let contacts = normals.map(|u| Contact::frictionless(Covector::from_slice(&u)));
/// let contacts = ContactSet::new(&metric, contacts.to_vec())?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, 0.0]))?;
/// let outcome = Propagative::default().resolve(&problem)?;
/// assert!((outcome.velocity_plus.0[2] - 1.0).abs() < 1e-15);
/// assert!(outcome.audit.energy_change_j().abs() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Propagative {
    /// Which approaching contact acts next.
    pub selection: Selection,
    /// Energetic restitution of the whole event.
    pub restitution: EnergeticRestitution,
    /// The plastic outcome that restitution refers to.
    pub plastic: PlasticRule,
    /// Cap on elementary impacts. `None`: [`DEFAULT_MAX_IMPACTS`] where impacts are followed one
    /// by one, no cap where two contacts are unfolded in closed form.
    pub max_impacts: Option<u64>,
    /// Cap on the states visited when all outcomes are asked for.
    pub max_nodes: usize,
    /// Which sequences count when all outcomes are asked for.
    #[cfg_attr(feature = "serde", serde(rename = "sequences"))]
    pub filter: SequenceFilter,
}

impl Default for Propagative {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            restitution: EnergeticRestitution::ELASTIC,
            plastic: PlasticRule::default(),
            max_impacts: None,
            max_nodes: 200_000,
            filter: SequenceFilter::default(),
        }
    }
}

/// An elastic outcome before restitution, and how it came about.
#[derive(Clone, Debug)]
struct Elastic {
    jump: Jump,
    /// Distinct normals in order; `None` if too many.
    sequence: Option<Vec<usize>>,
    impacts: u64,
    n_sequences: u64,
    lengths: Vec<u64>,
}

impl Propagative {
    fn check(&self, problem: &ImpactProblem<'_>) -> Result<(), ImpactError> {
        self.restitution.check()?;
        self.selection.validate(problem.contacts().len())
    }

    /// The elastic outcome by the selection rule.
    fn elastic(&self, problem: &ImpactProblem<'_>) -> Result<Elastic, ImpactError> {
        if let Some(pair) = TwoContacts::when_steep(problem) {
            return pair.elastic(problem, self);
        }
        chain::follow(problem, self)
    }

    /// Blends an elastic outcome with the plastic one and audits it.
    fn finish(
        &self,
        problem: &ImpactProblem<'_>,
        plastic: Option<&Jump>,
        elastic: Elastic,
    ) -> Result<ImpactOutcome, ImpactError> {
        let (alpha, jump) = match plastic {
            None => (1.0, elastic.jump),
            Some(plastic) => {
                let alpha = blend(problem, plastic, &elastic.jump, self.restitution);
                (alpha, plastic.towards(&elastic.jump, alpha))
            }
        };
        let contacts = problem.contacts();
        let name =
            |places: Vec<usize>| places.into_iter().map(|j| contacts.contact_at(j)).collect();
        let diagnostics = PropagativeDiagnostics {
            sequence: elastic.sequence.map(name),
            impacts: elastic.impacts,
            n_sequences: elastic.n_sequences,
            lengths: elastic.lengths,
            alpha,
            adhesive: jump.adhesive(problem),
        };
        jump.outcome(
            problem,
            ImpactStatus::Resolved,
            Diagnostics::Propagative(diagnostics),
        )
    }

    fn plastic(&self, problem: &ImpactProblem<'_>) -> Result<Option<Jump>, ImpactError> {
        if self.restitution == EnergeticRestitution::ELASTIC {
            return Ok(None);
        }
        plastic_jump(problem, self.plastic).map(Some)
    }

    /// Nothing happens; `lengths` as for the other outcomes of the same call.
    fn unchanged(
        &self,
        problem: &ImpactProblem<'_>,
        lengths: Vec<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let diagnostics = PropagativeDiagnostics {
            sequence: Some(Vec::new()),
            n_sequences: 1,
            lengths,
            alpha: 1.0,
            ..PropagativeDiagnostics::default()
        };
        separating(problem, Diagnostics::Propagative(diagnostics))
    }
}

impl ImpactLaw for Propagative {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        self.check(problem)?;
        if !problem.is_approaching() {
            return self.unchanged(problem, Vec::new());
        }
        let elastic = self.elastic(problem)?;
        let plastic = self.plastic(problem)?;
        self.finish(problem, plastic.as_ref(), elastic)
    }
}

impl SetValuedLaw for Propagative {
    /// Every outcome over all orders of impact, by breadth-first search over momenta
    /// with merging of equal states, or in closed form for two steep contacts.
    fn resolve_all(&self, problem: &ImpactProblem<'_>) -> Result<OutcomeSet, ImpactError> {
        self.check(problem)?;
        if !problem.is_approaching() {
            let outcomes = vec![self.unchanged(problem, vec![0])?];
            let preferred = Some(0);
            return Ok(OutcomeSet {
                outcomes,
                preferred,
                indeterminacy: 0.0,
                complete: true,
            });
        }
        let plastic = self.plastic(problem)?;
        let found = match TwoContacts::when_steep(problem) {
            Some(pair) => pair.all(problem, self)?,
            None => tree::grow(problem, self)?,
        };
        let preferred = if found.exhausted {
            Some(self.elastic(problem)?.jump)
        } else {
            None
        };
        let preferred = preferred.and_then(|jump| nearest(&jump, &found.leaves));
        let jumps = found.leaves.iter().map(|leaf| match &plastic {
            None => Cow::Borrowed(&leaf.jump),
            Some(p) => {
                Cow::Owned(p.towards(&leaf.jump, blend(problem, p, &leaf.jump, self.restitution)))
            }
        });
        let indeterminacy = diameter(&jumps.collect::<Vec<_>>()) / problem.norm();
        let finish = |leaf| self.finish(problem, plastic.as_ref(), leaf);
        let outcomes = found
            .leaves
            .into_iter()
            .map(finish)
            .collect::<Result<Vec<_>, _>>()?;
        let set = OutcomeSet {
            outcomes,
            preferred,
            indeterminacy,
            complete: found.exhausted,
        };
        if set.complete {
            Ok(set)
        } else {
            Err(ImpactError::OutcomeLimitExceeded {
                nodes: found.nodes,
                found: Box::new(set),
            })
        }
    }
}

fn nearest(jump: &Jump, leaves: &[Elastic]) -> Option<usize> {
    let distance = |i: &usize| leaves[*i].jump.distance(jump);
    (0..leaves.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn diameter(jumps: &[Cow<'_, Jump>]) -> f64 {
    let mut largest = 0.0;
    for (i, a) in jumps.iter().enumerate() {
        for b in &jumps[i + 1..] {
            largest = f64::max(largest, a.distance(b));
        }
    }
    largest
}
