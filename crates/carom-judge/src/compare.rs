//! Answers of all laws to a judged impact.

use super::explain;
use super::fit::nearest_coefficient;
use super::membership::{Known, Membership, Origin, SAME, SetVerdict, Witness};
use super::moreau_newton::moreau_newton;
use super::{Case, TIE};
use crate::tolerances::NO_RESTITUTION;
use carom_impact::frictional::{
    AnitescuPotra, FrictionCone, Sequential, SingleImpacts, all_simultaneous,
};
use carom_impact::two_body::{ImpactOptions, RestitutionLaw};
use carom_impact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, Law,
    NonholonomicNewton, NonholonomicProjectedNewton, Plastic, PlasticRule, Propagative, Rough,
    Routh, SetValuedLaw,
};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

/// Contacts whose orders the sequential law is asked for one by one: 120 of them.
const MAX_PERMUTED: usize = 5;

/// Planar contacts for which every simultaneous outcome is found: 64 modes.
const MAX_MODE_CONTACTS: usize = 3;

/// A coefficient of restitution that a law was given or fitted with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestitutionFit {
    /// The coefficient.
    pub value: f64,
    /// True if it was chosen to fit; otherwise it is the problem's or the law's own.
    pub is_fitted: bool,
}

/// True if a law gives an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawVerdict {
    /// One of its answers is the outcome, within the tolerance.
    Match,
    /// None of its answers is.
    NoMatch,
    /// None of those found is, and there may be more.
    Unknown,
}

impl LawVerdict {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::NoMatch => "no-match",
            Self::Unknown => "unknown",
        }
    }
}

/// The nearest answer of one law.
#[derive(Clone, Debug, PartialEq)]
pub struct LawMatch {
    /// Name of the law, as in [`LAWS`](carom_impact::LAWS).
    pub law: &'static str,
    /// Distance of its answer, $\lVert p^+ - p^+_{\text{law}}\rVert/\rho$.
    pub distance: f64,
    /// True if that is within the tolerance.
    pub matches: bool,
    /// True if the law gives the outcome: its other answers are taken into account.
    pub verdict: LawVerdict,
    /// The coefficient of restitution, for laws that take one; `None` also where it makes no
    /// difference.
    pub restitution: Option<RestitutionFit>,
    /// A coefficient of restitution for each contact that was chosen to fit, in the order of the contacts; `None` for a
    /// contact where it makes no difference.
    pub restitutions: Option<Vec<Option<f64>>>,
    /// The answer among several, in words: the order, the mode, the law of restitution.
    pub detail: String,
    /// The answer (n).
    pub velocity_plus: Tangent,
    /// True if the budget of work ([`JudgeOptions::max_work`](super::JudgeOptions::max_work)) ended the search for the
    /// nearest answer.
    pub is_limited: bool,
}

/// A law that does not answer the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Name of the law.
    pub law: &'static str,
    /// Why it does not.
    pub error: ImpactError,
}

/// One answer of a law.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) distance: f64,
    pub(super) restitution: Option<RestitutionFit>,
    pub(super) restitutions: Option<Vec<Option<f64>>>,
    pub(super) detail: String,
    pub(super) velocity_plus: Tangent,
    /// True if all answers of the law were looked at.
    pub(super) is_all: bool,
    /// True if the budget of work ended the search for its best answer.
    pub(super) is_limited: bool,
}

pub(super) type Answer = Result<Candidate, ImpactError>;

/// The answers of the laws without restitution, which are members of the set of outcomes.
pub(super) struct Inelastic {
    simultaneous: Option<Answer>,
    sequential: Option<Answer>,
    /// All of them.
    pub(super) known: Vec<Known>,
}

impl Inelastic {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let mut known = Vec::new();
        Self {
            simultaneous: case
                .asks(AnitescuPotra::NAME)
                .then(|| anitescu_potra(case, &mut known)),
            sequential: case
                .asks(Sequential::NAME)
                .then(|| sequential(case, &mut known)),
            known,
        }
    }
}

/// Every law of the crate, in the order of its list.
pub(super) fn all(
    case: &Case<'_>,
    inelastic: &Inelastic,
    set: Option<&SetVerdict>,
) -> (Vec<LawMatch>, Vec<Refusal>) {
    let mut laws = Vec::new();
    let mut refused = Vec::new();
    // No law of dry contact leaves a contact approaching.
    let is_open = case.is_open(case.velocity_plus);
    let mut add = |law: &'static str, answer: Answer| match answer {
        // Neither a match nor the nearest.
        Ok(candidate) if !case.is_open(&candidate.velocity_plus) => {}
        Ok(candidate) => {
            let matches = is_open && case.is_same(candidate.distance);
            laws.push(LawMatch {
                law,
                distance: candidate.distance,
                matches,
                verdict: match (matches, candidate.is_all) {
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
        Err(error) => refused.push(Refusal { law, error }),
    };
    for law in Law::all() {
        let name = law.info().name;
        if !case.asks(name) {
            continue;
        }
        if let Some(answer) = ask(case, inelastic, set, &law) {
            add(name, answer);
        }
    }
    (laws, refused)
}

/// The nearest answer of a law, `None` if it has nothing of its own to say about problems of this kind and was
/// not asked for by name.
fn ask(
    case: &Case<'_>,
    inelastic: &Inelastic,
    set: Option<&SetVerdict>,
    law: &Law,
) -> Option<Answer> {
    let contacts = case.problem.contacts();
    let is_named = case.options.laws.is_some();
    // Zero forms constrain nothing.
    let basis = contacts.constraint_basis();
    let has_constraints = is_named || basis.is_some_and(|basis| basis.ncols() > 0);
    let has_tangents = is_named || contacts.contacts().iter().any(|c| !c.tangents.is_empty());
    match law {
        Law::Propagative(_) => Some(propagative(case)),
        Law::Plastic(_) => Some(plastic(case)),
        Law::MoreauNewton(_) => Some(moreau_newton(case)),
        Law::AnitescuPotra(_) => inelastic
            .simultaneous
            .clone()
            .map(|own| branch(case, own, set)),
        Law::Poisson(law) => Some(case.fixed(law, String::new())),
        Law::Sequential(_) => inelastic.sequential.clone(),
        Law::SetValued(_) => match contacts.require_tangents() {
            Ok(()) => set.map(|set| Ok(set_valued(set))),
            Err(error) => Some(Err(error)),
        },
        Law::Routh(_) => (is_named || contacts.len() == 1).then(|| routh(case)),
        // One physics under two names.
        Law::TwoBody(_) if two_tangents(contacts) => Some(routh(case)),
        Law::TwoBody(law) => is_named.then(|| case.fixed(law, String::new())),
        Law::NonholonomicElastic(law) => has_constraints.then(|| case.fixed(law, String::new())),
        Law::NonholonomicProjected(law) => has_constraints.then(|| case.fixed(law, String::new())),
        Law::NonholonomicNewton(_) => has_constraints.then(|| {
            case.fitted(None, String::new(), |restitution| {
                NonholonomicNewton { restitution }.resolve(case.problem)
            })
        }),
        Law::NonholonomicProjectedNewton(_) => has_constraints.then(|| {
            case.fitted(None, String::new(), |restitution| {
                NonholonomicProjectedNewton { restitution }.resolve(case.problem)
            })
        }),
        Law::NonholonomicRough(_) => has_tangents.then(|| {
            case.fitted(None, String::new(), |e| {
                Rough::new(e)?.resolve(case.problem)
            })
        }),
    }
}

/// A chain of one step is an answer of the simultaneous law, of which it finds one of several.
fn branch(case: &Case<'_>, own: Answer, set: Option<&SetVerdict>) -> Answer {
    let is_found = matches!(&own, Ok(own) if own.distance <= SAME);
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

fn two_tangents(contacts: &ContactSet<'_>) -> bool {
    matches!(contacts.contacts(), [contact] if contact.tangents.len() == 2)
}

impl Case<'_> {
    /// True if a law is asked.
    fn asks(&self, law: &str) -> bool {
        let names = self.options.laws.as_ref();
        names.is_none_or(|names| names.iter().any(|name| name == law))
    }

    pub(super) fn candidate(&self, velocity_plus: Tangent, detail: String) -> Candidate {
        Candidate {
            distance: self.distance(&velocity_plus),
            restitution: None,
            restitutions: None,
            detail,
            velocity_plus,
            is_all: true,
            is_limited: false,
        }
    }

    /// The one answer of a law without a coefficient.
    fn fixed(&self, law: &dyn ImpactLaw, detail: String) -> Answer {
        Ok(self.candidate(law.resolve(self.problem)?.velocity_plus, detail))
    }

    /// The nearest answer of a law with a coefficient: the one given if that fits.
    pub(super) fn fitted(
        &self,
        given: Option<f64>,
        detail: String,
        resolve: impl Fn(f64) -> Result<ImpactOutcome, ImpactError>,
    ) -> Answer {
        let answer = |value: f64, is_fitted: bool| -> Answer {
            let outcome = resolve(value)?;
            let restitution = Some(RestitutionFit { value, is_fitted });
            Ok(Candidate {
                restitution,
                ..self.candidate(outcome.velocity_plus, detail.clone())
            })
        };
        if let Some(given) = given {
            let own = answer(given, false)?;
            if self.is_same(own.distance) {
                return Ok(own);
            }
        }
        let mut found_at: Vec<(f64, Tangent)> = Vec::new();
        let mut failed = None;
        let guess = self.newton_ratio();
        let found = nearest_coefficient(&self.after, self.reference, guess, |e| {
            let velocity = match resolve(e) {
                Ok(outcome) => outcome.velocity_plus,
                Err(error) => {
                    failed = Some(error);
                    return None;
                }
            };
            let whitened = self.whitened(&velocity);
            found_at.push((e, velocity));
            Some(whitened)
        });
        let best = match (found, failed) {
            (Some(best), _) => best,
            // The law says why.
            (None, Some(error)) => return Err(error),
            (None, None) => return answer(given.unwrap_or(1.0), true),
        };
        let at = |e: f64| found_at.iter().find(|(at, _)| *at == e).map(|(_, v)| v);
        let restitution = RestitutionFit {
            value: best,
            is_fitted: Some(best) != given,
        };
        let mut best = match at(best) {
            Some(velocity) => Candidate {
                restitution: Some(restitution),
                ..self.candidate(velocity.clone(), detail.clone())
            },
            None => answer(best, restitution.is_fitted)?,
        };
        let [plastic, elastic] = [0.0, 1.0].map(at);
        if plastic.is_some() && plastic == elastic {
            best.restitution = None;
        }
        Ok(best)
    }

    /// The outcome of a law on the same problem with another restitution at every contact.
    pub(super) fn with_restitution(
        &self,
        restitution: f64,
        resolve: impl Fn(&ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let set = self.problem.contacts();
        let changed = |contact: &Contact| Contact {
            restitution,
            ..contact.clone()
        };
        let contacts = ContactSet::constrained(
            set.metric(),
            set.contacts().iter().map(changed).collect(),
            set.constraint_forms().to_vec(),
        )?;
        resolve(&ImpactProblem::new(
            &contacts,
            self.problem.velocity_minus().clone(),
        )?)
    }

    /// Newton's ratio of all contacts that approached, by least squares, in \[0, 1\].
    fn newton_ratio(&self) -> f64 {
        let contacts = self.problem.contacts();
        let scale = self.problem.scale();
        let (mut product, mut square) = (0.0, 0.0);
        for i in 0..contacts.len() {
            let rate = |v: &Tangent| contacts.normal_velocity(i, v.0.as_slice(), scale).rate;
            let (before, after) = (rate(self.approach), rate(self.velocity_plus));
            if before < 0.0 {
                product += before * after;
                square += before * before;
            }
        }
        let ratio = -product / square;
        if ratio.is_finite() {
            ratio.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The coefficient of all contacts, if they have one in common.
    pub(super) fn common_restitution(&self) -> Option<f64> {
        let mut all = self.problem.contacts().contacts().iter();
        let first = all.next()?.restitution;
        all.all(|contact| contact.restitution == first)
            .then_some(first)
    }
}

impl Case<'_> {
    /// The better of two answers. Of those that match one whose coefficient was not fitted to do
    /// so, then the first; of the others the nearer, the first if rounding decides.
    pub(super) fn better(&self, best: Option<Answer>, next: Answer) -> Answer {
        let rank = |candidate: &Candidate| {
            let is_fitted = candidate.restitution.is_some_and(|r| r.is_fitted)
                || candidate.restitutions.is_some();
            match self.is_same(candidate.distance) {
                true => (u8::from(is_fitted), 0.0),
                false => (2, candidate.distance),
            }
        };
        let is_better = |next: &Candidate, best: &Candidate| {
            let ((kind, distance), (best_kind, least)) = (rank(next), rank(best));
            kind < best_kind || kind == best_kind && distance < least - TIE
        };
        match (best, next) {
            (None, next) => next,
            (Some(Ok(best)), Ok(next)) if is_better(&next, &best) => Ok(next),
            (Some(Err(_)), Ok(next)) => Ok(next),
            (Some(best), _) => best,
        }
    }
}

/// All orders, and between each elastic outcome and the plastic ones every restitution.
fn propagative(case: &Case<'_>) -> Answer {
    let law = Propagative {
        max_nodes: case.options.max_nodes,
        ..Propagative::default()
    };
    let set = law.resolve_all(case.problem)?;
    let (outcomes, is_complete) = (set.outcomes, set.complete);
    let rules = [
        (PlasticRule::Cone, "cone"),
        (
            PlasticRule::ProjectAll {
                allow_adhesion: true,
            },
            "project-all",
        ),
    ];
    let mut plastic = Vec::new();
    for (rule, name) in rules {
        let outcome = Plastic { rule }.resolve(case.problem)?;
        plastic.push((case.whitened(&outcome.velocity_plus), name));
    }
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
        for (plastic, rule) in &plastic {
            let next = Candidate {
                is_all: is_complete,
                ..on_segment(case, plastic, &elastic, (&order, rule))
            };
            best = Some(case.better(best, Ok(next)));
        }
    }
    best.unwrap_or_else(|| case.fixed(&law, String::new()))
}

fn order_of(sequence: Option<&[usize]>, impacts: u64) -> String {
    match sequence {
        Some([]) => String::new(),
        Some(sequence) if sequence.len() <= 12 => format!("order {sequence:?}"),
        _ => format!("{impacts} impacts"),
    }
}

/// The nearest point between a plastic and an elastic outcome, with the event's restitution
/// $R^2 = (\lVert p\rVert^2 - \lVert p_p\rVert^2)/(\lVert p_e\rVert^2 - \lVert p_p\rVert^2)$.
fn on_segment(
    case: &Case<'_>,
    plastic: &DVector<f64>,
    elastic: &DVector<f64>,
    (order, rule): (&str, &str),
) -> Candidate {
    let d = elastic - plastic;
    let length = d.norm_squared();
    // No impact, or plastic and elastic are one: no restitution to speak of.
    if length.sqrt() <= NO_RESTITUTION * case.reference {
        return case.candidate(case.velocity(elastic), order.to_owned());
    }
    let at = |alpha: f64| plastic + alpha * &d;
    let from = |alpha: f64| case.relative(&(at(alpha) - &case.after));
    let own = [1.0, 0.0]
        .into_iter()
        .find(|alpha| case.is_same(from(*alpha)));
    let alpha = own.unwrap_or_else(|| (d.dot(&(&case.after - plastic)) / length).clamp(0.0, 1.0));
    // Energies add up in the unit of the problem.
    let [d, plastic] = [&d, plastic].map(|x| case.parts.lowered(x));
    let (length, b) = (d.norm_squared(), plastic.dot(&d).max(0.0));
    let value = ((length * alpha * alpha + 2.0 * b * alpha) / (length + 2.0 * b)).sqrt();
    let detail = match alpha {
        1.0 => order.to_owned(),
        _ => format!("{order}, plastic by {rule}"),
    };
    Candidate {
        distance: from(alpha),
        restitution: Some(RestitutionFit {
            value: value.min(1.0),
            is_fitted: alpha != 1.0,
        }),
        restitutions: None,
        detail,
        velocity_plus: case.velocity(&at(alpha)),
        is_all: true,
        is_limited: false,
    }
}

fn plastic(case: &Case<'_>) -> Answer {
    let cone = Plastic {
        rule: PlasticRule::Cone,
    };
    let all = Plastic {
        rule: PlasticRule::ProjectAll {
            allow_adhesion: true,
        },
    };
    let first = case.fixed(&cone, "cone".to_owned());
    case.better(Some(first), case.fixed(&all, "project-all".to_owned()))
}

/// Every outcome of a few planar contacts, else the one that the law finds, or, with round cones,
/// another member of its continuum.
fn anitescu_potra(case: &Case<'_>, known: &mut Vec<Known>) -> Answer {
    let own = found_by_anitescu_potra(case, known)?;
    let contacts = case.problem.contacts().contacts();
    let is_spatial = contacts.iter().any(|c| c.tangents.len() == 2);
    if !is_spatial || case.options.friction_cone != FrictionCone::Round || own.distance <= SAME {
        return Ok(own);
    }
    let (impulses, velocity) = explain::in_one_step(case)?;
    let member = case.candidate(velocity.clone(), "member of a family".to_owned());
    if member.distance < own.distance && case.is_same(member.distance) {
        known.push(Known {
            velocity,
            origin: Origin::Simultaneous(impulses),
        });
        if !case.is_same(own.distance) {
            return Ok(member);
        }
    }
    Ok(own)
}

fn found_by_anitescu_potra(case: &Case<'_>, known: &mut Vec<Known>) -> Answer {
    let contacts = case.problem.contacts();
    let is_planar = contacts.contacts().iter().all(|c| c.tangents.len() < 2);
    let law = AnitescuPotra {
        friction_cone: case.options.friction_cone,
        ..AnitescuPotra::default()
    };
    let is_enumerable = is_planar && contacts.len() <= MAX_MODE_CONTACTS;
    let mut candidate = |outcome: ImpactOutcome| {
        known.push(Known {
            velocity: outcome.velocity_plus.clone(),
            origin: Origin::Simultaneous(outcome.impulses),
        });
        Candidate {
            is_all: is_enumerable,
            ..case.candidate(outcome.velocity_plus, String::new())
        }
    };
    let own = candidate(law.resolve(case.problem)?);
    // One branch is enough if it is the outcome.
    if !is_enumerable || own.distance <= SAME {
        return Ok(own);
    }
    let mut best = Ok(own);
    for solution in all_simultaneous(case.problem)? {
        let next = candidate(solution.outcome);
        best = case.better(Some(best), Ok(next));
    }
    best
}

/// The nearest outcome of all orders of a few contacts, else of the order given, its reverse and
/// their rotations.
fn sequential(case: &Case<'_>, known: &mut Vec<Known>) -> Answer {
    let m = case.problem.contacts().len();
    let given: Vec<usize> = (0..m).collect();
    let orders = if m <= MAX_PERMUTED {
        permutations(&given)
    } else {
        let reverse: Vec<usize> = given.iter().rev().copied().collect();
        let rotated = |order: &Vec<usize>, k: usize| [&order[k..], &order[..k]].concat();
        (0..m)
            .flat_map(|k| [rotated(&given, k), rotated(&reverse, k)])
            .collect()
    };
    let friction_cone = case.options.friction_cone;
    let singles = SingleImpacts::new(case.problem, friction_cone)?;
    let mut best: Option<(f64, Sequential)> = None;
    let mut failed = None;
    let mut left = case.options.max_work;
    for order in orders {
        if left == 0 {
            break;
        }
        let law = Sequential {
            order,
            friction_cone,
            ..Sequential::default()
        };
        let found = match singles.run(&law.cycle(m)?, law.max_impacts, &mut left) {
            Ok(found) => found,
            Err(error) => {
                failed = failed.or(Some(error));
                continue;
            }
        };
        let mut end = case.before();
        kernel::add_scaled(
            end.as_mut_slice(),
            1.0,
            &singles.space.change(&found.impulse),
        );
        let velocity = case.velocity(&end);
        let distance = case.distance(&velocity);
        let is_nearer = |least: f64| distance < least - TIE || distance <= SAME;
        if best.as_ref().is_none_or(|(least, _)| is_nearer(*least)) {
            best = Some((distance, law.clone()));
        }
        known.push(Known {
            velocity,
            origin: Origin::Sequential(found.sequence, law),
        });
        if distance <= SAME {
            break;
        }
    }
    let law = match (best, failed) {
        (Some((_, law)), _) => law,
        (None, Some(error)) => return Err(error),
        (None, None) => Sequential::default(),
    };
    let detail = match m {
        0 | 1 => String::new(),
        _ => format!("order {:?}", law.order),
    };
    Ok(Candidate {
        is_all: m <= MAX_PERMUTED && left > 0,
        is_limited: left == 0,
        ..case.fixed(&law, detail)?
    })
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (k, first) in items.iter().enumerate() {
        let rest: Vec<usize> = [&items[..k], &items[k + 1..]].concat();
        for mut tail in permutations(&rest) {
            tail.insert(0, *first);
            all.push(tail);
        }
    }
    all
}

/// Coulomb's impact of one contact under the three laws of restitution.
fn routh(case: &Case<'_>) -> Answer {
    let mut best = None;
    for restitution_law in [
        RestitutionLaw::Energetic,
        RestitutionLaw::Poisson,
        RestitutionLaw::Newton,
    ] {
        let law = Routh {
            options: ImpactOptions {
                restitution_law,
                ..ImpactOptions::default()
            },
        };
        let detail = format!("{} restitution", restitution_law.name());
        let next = case.fitted(case.common_restitution(), detail, |e| {
            case.with_restitution(e, |problem| law.resolve(problem))
        });
        best = Some(case.better(best, next));
    }
    best.unwrap_or(Err(ImpactError::SingleContactLaw { found: 0 }))
}

fn set_valued(set: &SetVerdict) -> Candidate {
    Candidate {
        distance: set.distance,
        restitution: None,
        restitutions: None,
        detail: match &set.membership {
            Membership::Inside(_) => "member of the set".to_owned(),
            _ => format!("nearest of {} members", set.members),
        },
        velocity_plus: set.nearest.clone(),
        is_all: matches!(set.membership, Membership::Outside { .. }),
        is_limited: set.is_limited,
    }
}
