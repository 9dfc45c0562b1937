//! One answer of a law to a judged impact, with the coefficient of restitution that brings the answer nearest to the
//! outcome.

use super::Case;
use super::fit::nearest_coefficient;
use crate::tolerances::EQUAL;
use carom_contact::{
    Contact, ContactIndex, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
};
use carom_metric::Tangent;

/// Coefficient of restitution with which the answer of an impact law comes nearest to a judged velocity. The coefficient is
/// given by the problem or the law, or fitted to the judged velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct RestitutionFit {
    /// Value of the coefficient.
    pub value: f64,
    /// True if the value was chosen to fit the outcome; otherwise it comes from the problem or the law.
    pub is_fitted: bool,
}

/// One answer of a law, with its distance from the judged outcome.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) distance: f64,
    pub(super) restitution: Option<RestitutionFit>,
    pub(super) restitutions: Option<Vec<Option<f64>>>,
    pub(super) detail: String,
    pub(super) velocity_plus: Tangent,
    /// True if all answers of the law were examined.
    pub(super) is_all: bool,
    /// True if the work budget ended the search for the nearest answer.
    pub(super) is_limited: bool,
    /// Largest distance at which an answer of few correct digits matches: $10^{1-d}$ for $d$ digits, 0 if not known.
    pub(super) blur: f64,
}

/// Poses a problem again, with other contacts.
pub(super) fn reposed(
    problem: &ImpactProblem,
    contacts: Vec<Contact>,
) -> Result<ImpactProblem, ImpactError> {
    let set = problem.contacts();
    let forms = set.constraint_forms().to_vec();
    let contacts = ContactSet::constrained(set.metric().clone(), contacts, forms)?;
    ImpactProblem::reposed(&contacts, problem.velocity_minus().clone())
}

pub(super) type Answer = Result<Candidate, ImpactError>;

impl Case<'_> {
    /// True if the judgement compares the judged velocity with the impact law of the name `law`: the options of the
    /// judgement list this law, or do not list any laws.
    pub(super) fn asks(&self, law: &str) -> bool {
        let laws = self.options.laws.as_ref();
        laws.is_none_or(|laws| laws.iter().any(|asked| asked.name() == law))
    }

    pub(super) fn candidate(&self, velocity_plus: Tangent, detail: String) -> Candidate {
        let distance = self.distance(&velocity_plus);
        self.at(distance, velocity_plus, detail)
    }

    /// Creates the candidate for an answer whose distance from the judged velocity is known.
    pub(super) fn at(&self, distance: f64, velocity_plus: Tangent, detail: String) -> Candidate {
        Candidate {
            distance,
            restitution: None,
            restitutions: None,
            detail,
            velocity_plus,
            is_all: true,
            is_limited: false,
            blur: 0.0,
        }
    }

    /// Computes the answer of a law that takes no coefficient, and the distance of this answer from the judged velocity.
    /// `detail` describes the answer in words.
    pub(super) fn fixed(&self, law: &dyn ImpactLaw, detail: String) -> Answer {
        Ok(self.answered(law.resolve(self.problem)?, detail))
    }

    /// Computes the distance of an outcome from the judged velocity.
    pub(super) fn answered(&self, outcome: ImpactOutcome, detail: String) -> Candidate {
        let digits = outcome.audit.digits;
        Candidate {
            blur: digits.map_or(0.0, |digits| libm::exp10(1.0 - digits)),
            ..self.candidate(outcome.velocity_plus, detail)
        }
    }

    /// Computes the answer of a law from outside to the problem as it was `given`, because such a law may depend on the units of
    /// velocity, and the distance of this answer from the judged velocity.
    pub(super) fn of_outside(&self, law: &dyn ImpactLaw, given: &ImpactProblem) -> Answer {
        let mut outcome = law.resolve(given)?;
        outcome.velocity_plus.0 = self.parts.raised(&outcome.velocity_plus.0);
        Ok(self.answered(outcome, String::new()))
    }

    /// Fits the coefficient of restitution of a law so that its answer comes nearest to the judged velocity. If a
    /// coefficient is `given` by the problem and its answer matches the judged velocity, this coefficient is kept.
    /// `detail` describes the answer in words; `resolve` computes the answer for a coefficient. `is_continuous` is false
    /// if the answer may jump as the coefficient changes; then a coefficient that was not tried may come nearer.
    pub(super) fn fitted(
        &self,
        given: Option<f64>,
        detail: String,
        is_continuous: bool,
        resolve: impl Fn(f64) -> Result<ImpactOutcome, ImpactError>,
    ) -> Answer {
        let mut known = None;
        if let Some(value) = given {
            let velocity = resolve(value)?.velocity_plus;
            let own = self.candidate(velocity.clone(), detail.clone());
            if self.is_same(own.distance) {
                let restitution = Some(RestitutionFit {
                    value,
                    is_fitted: false,
                });
                return Ok(Candidate { restitution, ..own });
            }
            known = Some((value, velocity));
        }
        self.fitted_from(known, detail, is_continuous, resolve)
    }

    /// Fits the coefficient of restitution of a law like [`fitted`](Self::fitted). `given` is the coefficient of the
    /// problem, with its answer, which does not match the judged velocity.
    pub(super) fn fitted_from(
        &self,
        given: Option<(f64, Tangent)>,
        detail: String,
        is_continuous: bool,
        resolve: impl Fn(f64) -> Result<ImpactOutcome, ImpactError>,
    ) -> Answer {
        let answer = |velocity: Tangent, value: f64, is_fitted: bool| Candidate {
            restitution: Some(RestitutionFit { value, is_fitted }),
            ..self.candidate(velocity, detail.clone())
        };
        // Each coefficient is solved once, though the fit asks for some of them several times.
        let known = given
            .iter()
            .map(|(value, velocity)| (*value, Ok(velocity.clone())));
        let mut found_at: Vec<(f64, Result<Tangent, ImpactError>)> = known.collect();
        let given = given.map(|(value, _)| value);
        let mut failed = None;
        let guess = self.newton_ratio();
        let found = nearest_coefficient(&self.after, self.reference, guess, is_continuous, |e| {
            let place = found_at.iter().position(|(at, _)| *at == e);
            let place = place.unwrap_or_else(|| {
                let velocity = resolve(e).map(|outcome| outcome.velocity_plus);
                found_at.push((e, velocity));
                found_at.len() - 1
            });
            match &found_at.get(place)?.1 {
                Ok(velocity) => Some(self.whitened(velocity)),
                Err(error) => {
                    failed = Some(error.clone());
                    None
                }
            }
        });
        let best = match (found, failed) {
            (Some(best), _) => best,
            // The law's error gives the reason.
            (None, Some(error)) => return Err(error),
            (None, None) => {
                let value = given.unwrap_or(1.0);
                return Ok(answer(resolve(value)?.velocity_plus, value, true));
            }
        };
        let at = |e: f64| {
            let found = found_at.iter().find(|(at, _)| *at == e);
            found.and_then(|(_, velocity)| velocity.as_ref().ok())
        };
        let is_fitted = Some(best.value) != given;
        let is_all = best.is_proven || is_continuous;
        let velocity = match at(best.value) {
            Some(velocity) => velocity.clone(),
            None => resolve(best.value)?.velocity_plus,
        };
        let mut best = answer(velocity, best.value, is_fitted);
        best.is_all = is_all;
        let [plastic, elastic] = [0.0, 1.0].map(at);
        if plastic.is_some() && plastic == elastic {
            best.restitution = None;
        }
        Ok(best)
    }

    /// Solves the judged problem by `resolve` with the coefficient of restitution of each contact that `restitution` returns.
    pub(super) fn with_restitution(
        &self,
        restitution: impl Fn(ContactIndex) -> f64,
        resolve: impl Fn(&ImpactProblem) -> Result<ImpactOutcome, ImpactError>,
    ) -> Result<ImpactOutcome, ImpactError> {
        let contacts = self.problem.contacts().indexed();
        let changed = contacts.map(|(i, contact)| contact.clone().with_restitution(restitution(i)));
        resolve(&reposed(self.problem, changed.collect())?)
    }

    /// Computes one coefficient of restitution by Newton's law: minus the ratio of the normal velocities after and before
    /// the impact, fitted by least squares to all contacts that approached. The result is clamped to \[0, 1\]; it is 0 if
    /// no contact approached.
    fn newton_ratio(&self) -> f64 {
        let contacts = self.problem.contacts();
        let scale = self.problem.scale();
        let (mut product, mut square) = (0.0, 0.0);
        for i in contacts.indices() {
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

    /// Returns the coefficient of restitution of the contacts if it is equal for all of them; otherwise `None`.
    pub(super) fn common_restitution(&self) -> Option<f64> {
        let mut all = self.problem.contacts().contacts().iter();
        let first = all.next()?.restitution;
        all.all(|contact| contact.restitution == first)
            .then_some(first)
    }
}

impl Case<'_> {
    /// Returns the better of two answers to the judged impact, the `best` so far and the `next` one. Among answers that
    /// match, one without a fitted coefficient wins, then the first. Otherwise the nearer answer wins, or the first if
    /// the distances differ only by rounding. An answer wins over an error.
    pub(super) fn better(&self, best: Option<Answer>, next: Answer) -> Answer {
        let rank = |candidate: &Candidate| {
            let is_fitted = candidate.restitution.is_some_and(|r| r.is_fitted)
                || candidate.restitutions.is_some();
            if self.is_same(candidate.distance) {
                (u8::from(is_fitted), 0.0)
            } else {
                (2, candidate.distance)
            }
        };
        let is_better = |next: &Candidate, best: &Candidate| {
            let ((kind, distance), (best_kind, least)) = (rank(next), rank(best));
            kind < best_kind || kind == best_kind && distance < least - EQUAL
        };
        match (best, next) {
            (None, next) => next,
            (Some(Ok(best)), Ok(next)) if is_better(&next, &best) => Ok(next),
            (Some(Err(_)), Ok(next)) => Ok(next),
            (Some(best), _) => best,
        }
    }
}
