//! Comparison of a judged impact with the answers of all laws.

use super::Case;
use super::acting::acting;
use super::candidate::{Answer, Candidate, RestitutionFit};
use super::explain::Explanation;
use super::inelastic::Inelastic;
use super::membership::{Membership, SetVerdict, Witness};
use super::moreau_newton::moreau_newton;
use super::parts::seen_by;
use crate::tolerances::EQUAL;
use crate::tolerances::NO_RESTITUTION;
use carom_contact::{
    ContactSet, Diagnostics, GateRule, ImpactError, ImpactLaw, ImpactProblem, Limit, SetValuedLaw,
};
use carom_impact::{
    Law, NonholonomicNewton, NonholonomicProjectedNewton, Propagative, Rough, Routh,
};
use carom_metric::Tangent;
use carom_two_body::{ImpactOptions, RestitutionLaw};
use nalgebra::DVector;
use std::borrow::Cow;

/// Largest number of states that the propagative law visits if either every order of impacts or none can give the judged
/// velocity. It changes the reported order and its distance, not the verdict.
const NODES_OF_NEAREST: usize = 1000;

/// Largest number of random orders of impacts that the propagative law draws if either every order or none can give the
/// judged velocity. It changes the reported order and its distance, not the verdict.
const ORDERS_OF_NEAREST: u64 = 16;

/// Name of a law. Its own type, because serde borrows what is a reference by its looks.
type LawName = &'static str;

/// Verdict about one impact law: tells if one of the velocities after the impact that the law allows equals the judged
/// velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LawVerdict {
    /// One answer of the law equals the outcome, within the tolerance.
    Match,
    /// No answer of the law equals the outcome.
    NoMatch,
    /// No answer that was found equals the outcome, but the law may have more answers.
    Unknown,
}

impl LawVerdict {
    /// Stable identifier of the verdict in records: `match`, `no-match` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::NoMatch => "no-match",
            Self::Unknown => "unknown",
        }
    }
}

/// Nearest answer of one impact law: of all velocities after the impact that the law allows, the one with the smallest
/// distance from the judged velocity.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct LawMatch {
    /// Name of the law, as in [`LAWS`](carom_impact::LAWS), or as a law from outside calls itself. With the feature `serde` a
    /// verdict on a law from outside can be written, but not read: its name is not known.
    #[cfg_attr(feature = "serde", serde(with = "crate::law_name"))]
    pub law: LawName,
    /// Relative distance of the nearest answer from the outcome, $\lVert p^+ - p^+_{\text{law}}\rVert/\rho$.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub distance: f64,
    /// True if the distance is within the tolerance.
    pub matches: bool,
    /// Verdict about the law, which takes its other answers into account.
    pub verdict: LawVerdict,
    /// Coefficient of restitution of the answer; `None` if the law takes no coefficient or the coefficient makes no
    /// difference.
    pub restitution: Option<RestitutionFit>,
    /// Fitted coefficients of restitution, one per contact; an entry is `None` if the coefficient of this contact makes
    /// no difference.
    pub restitutions: Option<Vec<Option<f64>>>,
    /// Description of this answer if the law has several: the order of impacts, the contact mode or the law of
    /// restitution.
    pub detail: String,
    /// Velocity after the impact in this answer (n entries).
    pub velocity_plus: Tangent,
    /// True if the work budget ([`JudgeOptions::max_work`](super::JudgeOptions::max_work)) ended the search for the
    /// nearest answer.
    pub is_limited: bool,
}

/// An impact law that gives no velocity for the judged impact, with the error that explains why.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Refusal {
    /// Name of the law.
    #[cfg_attr(feature = "serde", serde(with = "crate::law_name"))]
    pub law: LawName,
    /// Stable identifier of the error, see [`ImpactError::kind`].
    pub kind: Cow<'static, str>,
    /// Text of the error.
    pub message: String,
    /// Limit that ended the computation of the law, if one did.
    pub limit: Option<Limit>,
}

impl Refusal {
    fn new(law: &'static str, error: &ImpactError) -> Self {
        Self {
            law,
            kind: error.kind().into(),
            message: error.to_string(),
            limit: error.limit(),
        }
    }
}

/// Compares the judged velocity with every law of the options, or of [`LAWS`](carom_impact::LAWS) in that order, and then with the
/// laws from `outside`, which answer the problem as it was given. Returns the nearest answer of each law, and the laws that have no
/// valid answer. `explanation` holds the impulses that explain the change of momentum, `inelastic` the answers of the laws without
/// restitution, and `set` the verdict about the set of outcomes.
pub(super) fn all(
    case: &Case<'_>,
    explanation: &Explanation,
    inelastic: &Inelastic,
    set: Option<&SetVerdict>,
    outside: (&ImpactProblem, &[&dyn ImpactLaw]),
) -> (Vec<LawMatch>, Vec<Refusal>) {
    let mut laws = Vec::new();
    let mut refused = Vec::new();
    // No law of dry contact leaves a contact approaching, or changes momentum along directions without a contact row.
    let is_open = case.is_open(case.velocity_plus);
    let tolerance = case.options.tolerance;
    let is_made = !explanation.proven.momentum || explanation.momentum_residual <= tolerance;
    let may_be_some = is_open && is_made;
    let mut add = |law: &'static str, answer: Answer| match answer {
        // An answer that leaves a contact approaching is neither a match nor the nearest answer.
        Ok(candidate) if !case.is_open(&candidate.velocity_plus) => {
            let error = ImpactError::Inaccurate {
                rule: GateRule::Approach,
                measure: case.penetration_of(&candidate.velocity_plus),
                contacts: case.approaching_at(&candidate.velocity_plus),
            };
            refused.push(Refusal::new(law, &error));
        }
        Ok(candidate) => {
            let is_near = case.is_same(candidate.distance) || candidate.distance <= candidate.blur;
            let matches = is_open && is_near;
            laws.push(LawMatch {
                law,
                distance: candidate.distance,
                matches,
                verdict: match (matches, candidate.is_all || !may_be_some) {
                    (true, _) => LawVerdict::Match,
                    (false, true) => LawVerdict::NoMatch,
                    (false, false) => LawVerdict::Unknown,
                },
                restitution: candidate.restitution,
                restitutions: candidate.restitutions,
                detail: candidate.detail,
                velocity_plus: candidate.velocity_plus,
                is_limited: candidate.is_limited,
            });
        }
        Err(error) => refused.push(Refusal::new(law, &error)),
    };
    let all: Vec<Law> = Law::all().collect();
    for law in case.options.laws.as_ref().unwrap_or(&all) {
        if let Some(answer) = ask(case, inelastic, set, law) {
            add(law.name(), answer);
        }
    }
    let (given, others) = outside;
    for law in others {
        add(law.name(), case.of_outside(*law, given));
    }
    (laws, refused)
}

/// Computes the answer of a law that is nearest to the judged velocity. Returns `None` if the options do not name the law
/// and the law gives the same as another one for problems of this kind. `inelastic` holds the answers of the laws without
/// restitution and `set` the verdict about the set of outcomes.
fn ask(
    case: &Case<'_>,
    inelastic: &Inelastic,
    set: Option<&SetVerdict>,
    law: &Law,
) -> Option<Answer> {
    let contacts = case.problem.contacts();
    let is_named = case.options.laws.is_some();
    // Zero one-forms constrain nothing.
    let basis = contacts.constraint_basis();
    let has_constraints = is_named || basis.is_some_and(|basis| basis.ncols() > 0);
    // For several contacts the answer is a sequence of impacts, whose order jumps while the coefficient changes.
    let is_single = acting(case.problem).len() < 2;
    let has_tangents = is_named || contacts.contacts().iter().any(|c| !c.tangents.is_empty());
    match law {
        Law::Propagative(_) => Some(propagative(case, &inelastic.plastic)),
        Law::Plastic(_) => {
            let [cone, all] = inelastic.plastic.clone();
            Some(case.better(Some(cone), all))
        }
        Law::MoreauNewton(_) => Some(moreau_newton(case)),
        Law::AnitescuPotra(_) => inelastic
            .simultaneous
            .clone()
            .map(|own| branch(case, own, set)),
        Law::Poisson(law) => Some(case.fixed(law, String::new())),
        Law::Sequential(_) => inelastic.sequential.clone(),
        Law::SetValued(_) => match contacts.require_tangents() {
            Ok(()) => set.map(|set| Ok(set_valued(case, set))),
            Err(error) => Some(Err(error)),
        },
        Law::Routh(_) => (is_named || contacts.len() == 1).then(|| routh(case)),
        // Both names stand for one physical model.
        Law::TwoBody(_) if two_tangents(contacts) => Some(routh(case)),
        Law::TwoBody(law) => is_named.then(|| case.fixed(law, String::new())),
        Law::NonholonomicElastic(law) => has_constraints.then(|| case.fixed(law, String::new())),
        Law::NonholonomicProjected(law) => has_constraints.then(|| case.fixed(law, String::new())),
        Law::NonholonomicNewton(_) => has_constraints.then(|| {
            case.fitted(None, String::new(), is_single, |e| {
                let law = NonholonomicNewton::default().with_restitution(e);
                law.resolve(case.problem)
            })
        }),
        Law::NonholonomicProjectedNewton(_) => has_constraints.then(|| {
            case.fitted(None, String::new(), is_single, |e| {
                let law = NonholonomicProjectedNewton::default().with_restitution(e);
                law.resolve(case.problem)
            })
        }),
        Law::NonholonomicRough(_) => has_tangents.then(|| {
            case.fitted(None, String::new(), true, |e| {
                Rough::new(e)?.resolve(case.problem)
            })
        }),
    }
}

/// Chooses the answer of the simultaneous law. This law may have several answers, but solves only for one, `own`. If
/// `own` does not match the judged velocity, but one impulse step leads there according to the verdict `set`, the
/// velocity after this step is the answer.
fn branch(case: &Case<'_>, own: Answer, set: Option<&SetVerdict>) -> Answer {
    let is_found = matches!(&own, Ok(own) if own.distance <= EQUAL);
    match set {
        Some(SetVerdict {
            membership: Membership::Inside(Witness::Steps { steps, .. }),
            nearest,
            ..
        }) if steps.len() == 1 && !is_found => {
            Ok(case.candidate(nearest.clone(), "member of a family".to_owned()))
        }
        _ => own,
    }
}

fn two_tangents(contacts: &ContactSet) -> bool {
    matches!(contacts.contacts(), [contact] if contact.tangents.len() == 2)
}

/// Finds the answer of the propagative law that comes nearest to the judged velocity. The candidates lie on the
/// segments from the `plastic` answers (restitution 0) to the elastic outcomes of all orders of impacts.
///
/// No such velocity differs from that before along any direction but the normals and the constraints. If the judged one
/// does, no order matches, and few orders are followed to find one that comes near. Few suffice as well if the judged
/// velocity is a plastic answer, at which the segments of all orders begin.
fn propagative(case: &Case<'_>, plastic: &[Answer]) -> Answer {
    let is_refuted = unmade_by_normals(case) > case.options.tolerance;
    let plastic: Result<Vec<Candidate>, ImpactError> = plastic.iter().cloned().collect();
    let plastic = plastic?;
    let mut law = Propagative::default().with_max_nodes(case.options.max_nodes);
    if is_refuted || plastic.iter().any(|end| case.is_same(end.distance)) {
        law.max_nodes = law.max_nodes.min(NODES_OF_NEAREST);
        law.samples = ORDERS_OF_NEAREST;
    }
    let set = law.resolve_all(case.problem)?;
    let (outcomes, is_complete) = (set.outcomes, set.complete);
    let mut best = None;
    for outcome in &outcomes {
        let mut order = match &outcome.diagnostics {
            Diagnostics::Propagative(found) => order_of(found.sequence.as_deref(), found.impacts),
            _ => String::new(),
        };
        if !is_complete {
            order.push_str(", not all orders were followed");
        }
        let elastic = case.whitened(&outcome.velocity_plus);
        for end in &plastic {
            let whitened = case.whitened(&end.velocity_plus);
            let next = Candidate {
                is_all: is_complete || is_refuted,
                ..on_segment(case, &whitened, &elastic, (&order, &end.detail))
            };
            best = Some(case.better(best, Ok(next)));
        }
    }
    best.unwrap_or_else(|| case.fixed(&law, String::new()))
}

/// Returns the part of the momentum change, relative to the motion, that no impulses along normals and constraints make.
fn unmade_by_normals(case: &Case<'_>) -> f64 {
    let contacts = case.problem.contacts();
    let change = &case.after - case.before();
    let normals = contacts
        .indices()
        .map(|i| contacts.unit_row(contacts.row(i)));
    let made = seen_by(contacts, normals, change.as_slice());
    case.relative(&(change - made))
}

fn order_of(sequence: Option<&[usize]>, impacts: u64) -> String {
    match sequence {
        Some([]) => String::new(),
        Some(sequence) if sequence.len() <= 12 => format!("order {sequence:?}"),
        _ => format!("{impacts} impacts"),
    }
}

/// Finds the point nearest to the judged velocity on the segment from a plastic to an elastic velocity (whitened, with
/// momenta $p_p$ and $p_e$). The coefficient of restitution $R$ of this point is that of the whole event:
/// $R^2 = (\lVert p\rVert^2 - \lVert p_p\rVert^2)/(\lVert p_e\rVert^2 - \lVert p_p\rVert^2)$ with the momentum $p$ of
/// the point. `order` and `rule` are words for the order of impacts and the kind of plastic impact.
fn on_segment(
    case: &Case<'_>,
    plastic: &DVector<f64>,
    elastic: &DVector<f64>,
    (order, rule): (&str, &str),
) -> Candidate {
    let d = elastic - plastic;
    let length = d.norm_squared();
    // Without impact, plastic and elastic outcome are equal: restitution has no effect.
    if length.sqrt() <= NO_RESTITUTION * case.reference {
        return case.candidate(case.velocity(elastic), order.to_owned());
    }
    let at = |alpha: f64| plastic + alpha * &d;
    let from = |alpha: f64| case.relative(&(at(alpha) - &case.after));
    let own = [1.0, 0.0]
        .into_iter()
        .find(|alpha| case.is_same(from(*alpha)));
    let alpha = own.unwrap_or_else(|| (d.dot(&(&case.after - plastic)) / length).clamp(0.0, 1.0));
    // Energies of parts add up only in the common unit of velocity of the problem.
    let [d, plastic] = [&d, plastic].map(|x| case.parts.lowered(x));
    let (length, b) = (d.norm_squared(), plastic.dot(&d).max(0.0));
    let value = ((length * alpha * alpha + 2.0 * b * alpha) / (length + 2.0 * b)).sqrt();
    let detail = match alpha {
        1.0 => order.to_owned(),
        _ => format!("{order}, plastic by {rule}"),
    };
    Candidate {
        restitution: Some(RestitutionFit {
            value: value.min(1.0),
            is_fitted: alpha != 1.0,
        }),
        ..case.at(from(alpha), case.velocity(&at(alpha)), detail)
    }
}

/// Finds the answer of Routh's law of frictional impact at one contact that comes nearest to the judged velocity. The
/// energetic, Poisson's and Newton's law of restitution are tried, each with a fitted coefficient.
fn routh(case: &Case<'_>) -> Answer {
    let mut best = None;
    for restitution_law in [
        RestitutionLaw::Energetic,
        RestitutionLaw::Poisson,
        RestitutionLaw::Newton,
    ] {
        let law = Routh::default()
            .with_options(ImpactOptions::default().with_restitution_law(restitution_law));
        let detail = format!("{} restitution", restitution_law.name());
        let next = case.fitted(case.common_restitution(), detail, true, |e| {
            case.with_restitution(|_| e, |problem| law.resolve(problem))
        });
        best = Some(case.better(best, next));
    }
    best.unwrap_or(Err(ImpactError::SingleContactLaw { found: 0 }))
}

fn set_valued(case: &Case<'_>, set: &SetVerdict) -> Candidate {
    let detail = match &set.membership {
        Membership::Inside(_) => "member of the set".to_owned(),
        _ => format!("nearest of {} members", set.members),
    };
    Candidate {
        is_all: matches!(set.membership, Membership::Outside { .. }),
        is_limited: set.is_limited,
        ..case.at(set.distance, set.nearest.clone(), detail)
    }
}
