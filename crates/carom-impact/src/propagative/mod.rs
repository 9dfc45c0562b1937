//! The propagative law: a simultaneous impact as a chain of elastic impacts at single contacts.

mod chain;
pub(crate) mod minimal;
mod random_orders;
pub(crate) mod selection;
mod spread;
mod tree;
pub(crate) mod unfold;

pub use selection::Selection;
pub use tree::SequenceFilter;

use crate::laws::BuiltIn;
use crate::plastic::plastic_change;
use crate::restitution::blend;
use crate::{EnergeticRestitution, PlasticRule};
use carom_contact::internal::{Basis, MomentumChange, Opening, separating};
use carom_contact::{
    Diagnostics, DrawnOrders, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    OutcomeSet, PropagativeDiagnostics, Rules, SetValuedLaw, UnitRow,
};
use spread::{farthest_first, farthest_pair};
use tree::merge_tolerances;
use unfold::TwoContacts;

/// Largest number of impacts for which an outcome reports its sequence of contacts; longer sequences are only counted.
pub const SEQUENCE_LIMIT: u64 = 10_000;

/// Largest number of outcomes of one impact that are listed; the others are only counted.
pub const MAX_OUTCOMES: usize = 1000;

/// Default limit on the number of single impacts in a chain that the propagative law computes impact by impact.
const DEFAULT_MAX_IMPACTS: u64 = 1_000_000;

/// The propagative law (`propagative`): resolves a simultaneous impact as a sequence of single-contact impacts, until no
/// contact approaches (Seghete & Murphey).
///
/// A contact that approaches reflects the momentum in the kinetic metric, which may make
/// other contacts approach; the chain ends when no contact approaches. If the contacts can open together
/// ([`Margin`](carom_contact::Margin) positive), every chain ends, in any order:
/// each impact increases $\langle p, w\rangle$ for a direction $w$ that opens all contacts, and
/// $\lVert p\rVert$ bounds this product. The outcome may depend on the order. [`Propagative`] therefore can return the
/// whole set of outcomes and its diameter, the indeterminacy $\xi$.
///
/// The law is elastic by default. With a [`restitution`](Self::restitution) below 1 the outcome lies between the plastic and
/// the elastic one, such that the whole impact loses the energy that the coefficient prescribes. The law is frictionless:
/// tangents and friction of the contacts are not used.
///
/// # Accuracy
///
/// The kinetic energy of an elastic outcome is conserved to a few units in the last place, since the total impulse is scaled
/// accordingly. Tangential momentum is conserved exactly up to the rounding of $v^+$. The error of the outcome grows like
/// the number of impacts times $2^{-52}$. Two contacts that need more than 50 impacts are resolved in closed form, with an
/// error of $2^{-52}/\gamma$ for the half angle $\gamma$ of their wedge.
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
#[non_exhaustive]
pub struct Propagative {
    /// Rule that chooses the next contact among those that approach.
    pub selection: Selection,
    /// Energetic coefficient of restitution of the whole impact.
    pub restitution: EnergeticRestitution,
    /// Rule of the plastic outcome to which the restitution refers.
    pub plastic: PlasticRule,
    /// Largest number of elementary impacts. `None` means one million if impacts are computed one
    /// by one, and no limit if two contacts are resolved in closed form.
    pub max_impacts: Option<u64>,
    /// Largest number of states visited when all outcomes are requested. If more states would be needed, orders of impacts
    /// are drawn at random.
    pub max_nodes: usize,
    /// Number of orders of impacts that are drawn at random if more than [`max_nodes`](Self::max_nodes) states would be
    /// visited, from 1 to 1,000,000. More orders find more of the outcomes.
    pub samples: u64,
    /// Seed of the random orders.
    pub seed: u64,
    /// Sequences that are accepted when all outcomes are requested.
    #[cfg_attr(feature = "serde", serde(rename = "sequences"))]
    pub filter: SequenceFilter,
}

carom_numeric::setters!(Propagative {
    /// Sets the rule that chooses the next contact among those that approach.
    with_selection: selection, Selection;
    /// Sets the energetic coefficient of restitution of the whole impact.
    with_restitution: restitution, EnergeticRestitution;
    /// Sets the rule of the plastic outcome to which the restitution refers.
    with_plastic: plastic, PlasticRule;
    /// Sets the largest number of elementary impacts.
    with_max_impacts: max_impacts, Option<u64>;
    /// Sets the largest number of states visited for all outcomes.
    with_max_nodes: max_nodes, usize;
    /// Sets the number of orders of impacts that are drawn at random.
    with_samples: samples, u64;
    /// Sets the seed of the random orders.
    with_seed: seed, u64;
    /// Sets the sequences that are accepted when all outcomes are requested.
    with_filter: filter, SequenceFilter;
});

impl Default for Propagative {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            restitution: EnergeticRestitution::ELASTIC,
            plastic: PlasticRule::default(),
            max_impacts: None,
            max_nodes: 200_000,
            samples: 2000,
            seed: 0,
            filter: SequenceFilter::default(),
        }
    }
}

/// An elastic outcome before restitution, with the sequences that lead to it.
#[derive(Clone, Debug)]
struct Elastic {
    momentum_change: MomentumChange,
    /// Distinct normals in order; `None` if too many.
    sequence: Option<Vec<UnitRow>>,
    impacts: u64,
    n_sequences: u64,
    lengths: Vec<u64>,
}

impl Propagative {
    fn check(&self, problem: &ImpactProblem) -> Result<(), ImpactError> {
        self.restitution.check()?;
        self.selection.validate(problem.contacts().len())
    }

    /// Computes the elastic outcome of the sequence of single impacts that the selection rule of the law chooses. The
    /// rule picks the next contact among those that approach.
    fn elastic(&self, problem: &ImpactProblem) -> Result<Elastic, ImpactError> {
        if let Some(pair) = TwoContacts::when_steep(problem) {
            return pair.elastic(problem, self);
        }
        chain::follow(problem, self)
    }

    /// Interpolates between the plastic outcome and an elastic one according to the restitution, and checks and audits the
    /// result. `plastic` is `None` if the restitution is 1.
    fn finish(
        &self,
        problem: &ImpactProblem,
        plastic: Option<&MomentumChange>,
        elastic: Elastic,
    ) -> Result<ImpactOutcome, ImpactError> {
        let (alpha, momentum_change) = match plastic {
            None => (1.0, elastic.momentum_change),
            Some(plastic) => {
                let alpha = blend(problem, plastic, &elastic.momentum_change, self.restitution);
                (alpha, plastic.towards(&elastic.momentum_change, alpha))
            }
        };
        let contacts = problem.contacts();
        let name = |places: Vec<UnitRow>| {
            let named = places.into_iter().map(|j| contacts.contact_at(j).index());
            named.collect()
        };
        let mut diagnostics = PropagativeDiagnostics::default();
        diagnostics.sequence = elastic.sequence.map(name);
        diagnostics.impacts = elastic.impacts;
        diagnostics.n_sequences = elastic.n_sequences;
        diagnostics.lengths = elastic.lengths;
        diagnostics.alpha = alpha;
        diagnostics.adhesive = momentum_change.adhesive(problem);
        let rules = match plastic {
            None => Rules::FRICTIONLESS,
            Some(_) => self.plastic.gate(),
        };
        let basis: &mut dyn Basis = match plastic {
            None => &mut Opening::elastic(),
            Some(_) => &mut Opening::default(),
        };
        momentum_change.outcome(
            problem,
            &rules,
            basis,
            ImpactStatus::Resolved,
            Diagnostics::Propagative(diagnostics),
        )
    }

    fn plastic(&self, problem: &ImpactProblem) -> Result<Option<MomentumChange>, ImpactError> {
        if self.restitution == EnergeticRestitution::ELASTIC {
            return Ok(None);
        }
        plastic_change(problem, self.plastic).map(Some)
    }

    /// Returns the outcome of a problem in which no contact approaches: nothing changes. `lengths` are the possible numbers
    /// of single impacts, reported in the diagnostics.
    fn unchanged(
        &self,
        problem: &ImpactProblem,
        lengths: Vec<u64>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let mut diagnostics = PropagativeDiagnostics::default();
        diagnostics.sequence = Some(Vec::new());
        diagnostics.n_sequences = 1;
        diagnostics.lengths = lengths;
        diagnostics.alpha = 1.0;
        separating(problem, Diagnostics::Propagative(diagnostics))
    }
}

impl ImpactLaw for Propagative {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
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
    /// Returns every outcome over all orders of single impacts. The outcomes are found by breadth-first search over
    /// momenta, with merging of equal states, or in closed form for two contacts that need many impacts. If more than
    /// [`max_nodes`](Propagative::max_nodes) states are needed, random orders are also followed to their ends
    /// ([`samples`](Propagative::samples)), and the set is incomplete.
    fn resolve_all(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactError> {
        let problem = problem.event();
        self.check(problem)?;
        random_orders::check(self)?;
        if !problem.is_approaching() {
            return self.nothing_happens(problem);
        }
        let mut found = match TwoContacts::when_steep(problem) {
            Some(pair) => pair.all(problem, self)?,
            None => tree::grow(problem, self)?,
        };
        let drawn = if found.exhausted {
            None
        } else {
            Some(random_orders::draw(problem, self, &mut found)?)
        };
        self.collect(problem, found, drawn)
    }
}

impl Propagative {
    /// Follows random orders of impacts to their ends and returns their outcomes: in each state one of the approaching
    /// contacts is drawn with equal probability. The number of orders is [`samples`](Self::samples). The set is incomplete;
    /// equal outcomes are merged.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`] for zero orders or more than a million; the errors of
    /// [`resolve`](ImpactLaw::resolve).
    pub fn sample(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactError> {
        let problem = problem.event();
        self.selection.validate(problem.contacts().len())?;
        if !problem.is_approaching() {
            return self.nothing_happens(problem);
        }
        if let Some(pair) = TwoContacts::when_steep(problem) {
            // Both orders in closed form: random orders would need thousands of impacts each.
            return self.collect(problem, pair.all(problem, self)?, None);
        }
        let mut found = tree::Found::default();
        let drawn = random_orders::draw(problem, self, &mut found)?;
        self.collect(problem, found, Some(drawn))
    }

    fn nothing_happens(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactError> {
        let mut set = OutcomeSet::new(vec![self.unchanged(problem, vec![0])?], 0.0);
        set.complete = true;
        Ok(set)
    }

    /// Builds the outcome set from the results `found` of the search. The set contains all outcomes, or a subset that
    /// spreads as far as possible. `drawn` describes random orders, if some were followed.
    fn collect(
        &self,
        problem: &ImpactProblem,
        mut found: tree::Found,
        drawn: Option<DrawnOrders>,
    ) -> Result<OutcomeSet, ImpactError> {
        let plastic = self.plastic(problem)?;
        let mut own = self.elastic(problem)?;
        let preferred = if found.exhausted {
            nearest(&own.momentum_change, &found.leaves)
        } else {
            // The order of the selection rule is one more order, drawn or not.
            own.n_sequences = 0;
            Some(found.push(own, &merge_tolerances(problem)))
        };
        let blended = |leaf: &Elastic| match &plastic {
            None => leaf.momentum_change.clone(),
            Some(p) => p.towards(
                &leaf.momentum_change,
                blend(problem, p, &leaf.momentum_change, self.restitution),
            ),
        };
        let changes: Vec<MomentumChange> = found.leaves.iter().map(blended).collect();
        let complete = found.exhausted;
        let (a, b, mut diameter) = farthest_pair(&changes, complete);
        let is_whole = complete && changes.len() <= MAX_OUTCOMES;
        let listed: Vec<usize> = if is_whole {
            (0..changes.len()).collect()
        } else {
            let mut first = vec![a, b];
            first.extend(preferred);
            farthest_first(&changes, &first, MAX_OUTCOMES)
        };
        if !complete {
            let listed: Vec<MomentumChange> = listed.iter().map(|i| changes[*i].clone()).collect();
            diameter = f64::max(diameter, farthest_pair(&listed, true).2);
        }
        let omitted = changes.len() - listed.len();
        let preferred = preferred.and_then(|i| listed.iter().position(|j| *j == i));
        let mut leaves: Vec<Option<Elastic>> = found.leaves.into_iter().map(Some).collect();
        let outcomes = listed
            .into_iter()
            .filter_map(|i| leaves.get_mut(i).and_then(Option::take))
            .map(|leaf| self.finish(problem, plastic.as_ref(), leaf))
            .collect::<Result<Vec<_>, _>>()?;
        let mut set = OutcomeSet::new(outcomes, diameter / problem.given_norm());
        set.preferred = preferred;
        set.complete = complete;
        set.omitted = omitted;
        set.drawn = drawn;
        Ok(set)
    }
}

fn nearest(momentum_change: &MomentumChange, leaves: &[Elastic]) -> Option<usize> {
    let distance = |i: &usize| leaves[*i].momentum_change.distance(momentum_change);
    (0..leaves.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
