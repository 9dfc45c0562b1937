//! Reasons why a law found no answer, and limits that end a search.

use carom_lcp::LcpStatus;
use carom_metric::Unsettled;

/// Reason why no answer of a law was found, without a proof that the law has none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsolved {
    /// A complementarity problem was posed but not solved.
    #[error(
        "complementarity problem: {}{}; other units or another law may help",
        end_of(*status),
        residual.map_or(String::new(), |residual| format!(", residual {residual:e}"))
    )]
    Complementarity {
        /// Status of the best attempt.
        status: LcpStatus,
        /// Scale-free residual of that attempt; `None` if it is below the tolerance of the gate, or infinite.
        residual: Option<f64>,
    },
    /// A projection onto the normals did not end.
    #[error(transparent)]
    Projection(Unsettled),
    /// Contact modes can be enumerated only in the plane and for a limited number of contacts.
    #[error(
        "contact modes are enumerated in the plane for at most {max} contacts, not for {contacts} with {tangents} tangents each; \
         ask for one outcome, or for samples without enumeration"
    )]
    Modes {
        /// Contacts given.
        contacts: usize,
        /// Tangents per contact.
        tangents: usize,
        /// Largest number of contacts allowed.
        max: usize,
    },
    /// Impacts one after the other end, but impacts from a velocity nearby do not: rounding decides.
    #[error(
        "{impacts} impacts one after the other amplify rounding: after a change of the velocity by {change:e} of itself they do \
         not end; use a law that closes the contacts together, such as anitescu-potra"
    )]
    Sequence {
        /// Impacts made.
        impacts: usize,
        /// Change of the velocity before, relative to its components.
        change: f64,
    },
}

fn end_of(status: LcpStatus) -> &'static str {
    match status {
        LcpStatus::Ray => "the path ended on a ray",
        LcpStatus::Infeasible => "it has no solution",
        _ => "no answer is accurate enough",
    }
}

/// Quantity whose limit ended a computation before an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Limit {
    /// Impacts at one contact after the other, or events of an impulse path.
    Impacts,
    /// Steps of each sample of a set-valued law; no sample ended.
    Samples,
    /// Steps of sliding in the impact of two bodies.
    Steps,
    /// Units of work, about a multiply-add each.
    Work,
    /// Pivots of Lemke's method for one complementarity problem.
    Pivots,
    /// Length of a sequence of impacts that is tested if it is minimal.
    Minimality,
    /// Units of work of a fit of the coefficient of restitution.
    Fit,
}

impl Limit {
    /// Returns the identifier of the limit in machine-readable reports, for example `impacts`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impacts => "impacts",
            Self::Samples => "samples",
            Self::Steps => "steps",
            Self::Work => "work",
            Self::Pivots => "pivots",
            Self::Minimality => "minimality",
            Self::Fit => "fit",
        }
    }

    /// Says which limit was reached, at the value `at`.
    pub(crate) fn reached(self, at: u64) -> String {
        match self {
            Self::Impacts => format!("limit of {at} impacts one after the other reached"),
            Self::Samples => format!("limit of {at} steps reached by all samples"),
            Self::Steps => format!("limit of {at} steps of sliding reached"),
            Self::Work => format!("budget of {at} units of work used up"),
            Self::Pivots => format!("a complementarity problem did not end within {at} pivots"),
            Self::Minimality => {
                format!("sequences of more than {at} impacts are not tested if they are minimal")
            }
            Self::Fit => format!("budget of {at} units of work used up by the fit of restitution"),
        }
    }

    /// Says what helps where no option raises the limit.
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Impacts | Self::Pivots | Self::Work => "another law may have an answer",
            Self::Samples | Self::Steps | Self::Fit => "other coefficients need fewer",
            Self::Minimality => "approaching sequences need no test",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, Unsolved};
    use crate::ImpactError;
    use carom_lcp::LcpStatus;

    /// Kinds of this crate that are faults of the input.
    const OF_INPUT: [&str; 12] = [
        "constrained-contact",
        "too-many-tangents",
        "invalid-friction",
        "invalid-restitution",
        "constraint-violated",
        "overflow",
        "invalid-contact",
        "missing-tangents",
        "invalid-option",
        "single-contact-law",
        "wrong-tangents",
        "dimension-mismatch",
    ];

    #[test]
    fn every_kind_is_a_fault_of_the_input_or_has_a_way_on() {
        let source = include_str!("error.rs");
        let kinds: Vec<&str> = source
            .lines()
            .filter_map(|line| line.trim().split_once("=> \"")?.1.strip_suffix("\","))
            .collect();
        assert!(kinds.len() > 20, "{kinds:?}");
        for kind in &kinds {
            assert!(
                ImpactError::UNANSWERED.contains(kind) || OF_INPUT.contains(kind),
                "{kind} is in neither list"
            );
        }
        let missing = ImpactError::UNANSWERED
            .iter()
            .find(|kind| !kinds.contains(kind));
        assert_eq!(missing, None);
    }

    #[test]
    fn a_residual_that_the_gate_accepts_is_not_told_as_the_reason() {
        let message =
            |residual| ImpactError::unsolved(LcpStatus::Inaccurate, residual, 0).to_string();
        assert!(message(6.4e-3).contains("residual 6.4e-3"));
        for residual in [6.4e-16, f64::INFINITY, f64::NAN] {
            assert!(
                !message(residual).contains("residual"),
                "{}",
                message(residual)
            );
        }
        assert_eq!(
            ImpactError::unsolved(LcpStatus::Ray, 1.0, 7),
            ImpactError::NotSolved(Unsolved::Complementarity {
                status: LcpStatus::Ray,
                residual: Some(1.0),
            })
        );
    }

    #[test]
    fn a_limit_names_its_option_only_if_there_is_one() {
        let limit = |raise| {
            ImpactError::Limit {
                limit: Limit::Impacts,
                at: 40,
                raise,
            }
            .to_string()
        };
        assert_eq!(
            limit(Some("max_impacts")),
            "limit of 40 impacts one after the other reached; raise max_impacts"
        );
        assert!(limit(None).ends_with("reached; another law may have an answer"));
        let pivots = ImpactError::unsolved(LcpStatus::IterationLimit, 1.0, 500);
        assert_eq!(pivots.limit(), Some(Limit::Pivots));
    }
}
