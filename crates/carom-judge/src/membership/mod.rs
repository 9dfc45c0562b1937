//! Membership of a velocity in the set of inelastic frictional outcomes.
//!
//! A *step* leads from $v$ to $v' = v + M^{-1}\sum_i(n_i^T\lambda_i + T_i^T\tau_i)$ with
//! $\lambda_i \ge 0$, positive only where $n_i v' \le 0$, and friction $\tau_i$ within its cone that dissipates most at
//! $v'$. The set contains every velocity at which no contact approaches and to which a finite chain of steps leads from
//! the velocity before the impact. Among its members are all answers of
//! [`AnitescuPotra`](carom_impact::frictional::AnitescuPotra) (one step),
//! [`Sequential`](carom_impact::frictional::Sequential) (one contact a step) and
//! [`SetValued`](carom_impact::frictional::SetValued) (steps with caps) with the same friction polygon, and
//! paths with constant rates through the differential inclusion of Halm & Posa, whose pieces are steps.
//!
//! Membership is claimed with a [`Witness`], a chain of steps that anyone can check, and denied with a proof
//! ([`OutsideReason`]); otherwise it is unknown. If the *modes* of all contacts in all steps are fixed, every condition
//! is linear in the impulses, so that one small linear program finds the chain that ends nearest to the velocity. Modes
//! are taken from the answers of laws, then from samples of the set, the nearest first. In round cones a chain is given by
//! its normal impulses, and Newton's method moves the end of the nearest samples to the velocity.

mod chain;
mod least_squares;
mod linear_program;
mod linearization;
mod modes;
mod newton;
mod ordered;
mod outside;
mod round_chain;
mod sampled;
mod search;
mod smooth;
mod witness;

use crate::tolerances::CERTAIN;
use crate::tolerances::EQUAL;
pub use outside::OutsideReason;
#[cfg(feature = "bounds")]
pub(crate) use smooth::smooth_outcomes;
pub use witness::{Witness, WitnessCone, WitnessFault};

use super::{Case, Explanation};
use carom_contact::ImpactError;
use carom_impact::frictional::Sequential;
use carom_metric::Tangent;
use nalgebra::DVector;

/// Answer to the question if a judged velocity belongs to the set of inelastic frictional outcomes of an impact, with the
/// proof if there is one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Membership {
    /// The velocity is a member; the witness proves it.
    Inside(Witness),
    /// A member of the set lies within the tolerance of the velocity, and the witness proves this. The given velocity
    /// has too few digits to be a member itself.
    Near(Witness),
    /// The velocity is not a member.
    Outside {
        /// Necessary condition that the velocity violates.
        reason: OutsideReason,
        /// Lower bound of the relative distance from every member.
        margin: f64,
    },
    /// Neither membership nor its opposite was shown.
    Unknown,
}

impl Membership {
    /// Stable identifier of the answer in records: `"inside"`, `"near"`, `"outside"` or `"unknown"`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Inside(_) => "inside",
            Self::Near(_) => "near",
            Self::Outside { .. } => "outside",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if the velocity belongs to the set of outcomes, and false if it does not. Returns `None` if neither was
    /// shown, or if the nearest outcome found agrees with the velocity only within the tolerance.
    pub fn contains(&self) -> Option<bool> {
        match self {
            Self::Inside(_) => Some(true),
            Self::Outside { .. } => Some(false),
            Self::Near(_) | Self::Unknown => None,
        }
    }
}

/// Result of the comparison of a judged velocity with the set of inelastic frictional outcomes: membership, nearest known
/// outcome, and distance from that outcome.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct SetVerdict {
    /// Membership: inside, near, outside or unknown.
    pub membership: Membership,
    /// Relative distance to the nearest known member; unknown members may be nearer.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub distance: f64,
    /// Velocity of the nearest known member (n entries). If the member belongs to a continuum of simultaneous
    /// impulses, it satisfies the conditions of sliding and closing within the tolerance of the judgement. All other
    /// members satisfy the conditions up to rounding.
    pub nearest: Tangent,
    /// Number of members that were examined.
    pub members: u64,
    /// True if the work budget ([`JudgeOptions::max_work`](crate::JudgeOptions::max_work)) ended the search.
    pub is_limited: bool,
}

/// Member that is known before the search begins: the answer of a law.
pub(super) struct Known {
    pub(super) velocity: Tangent,
    pub(super) origin: Origin,
}

/// Law from which a known member comes.
pub(super) enum Origin {
    /// Simultaneous impact of all contacts, with these impulses for the given rows.
    Simultaneous(DVector<f64>),
    /// Single impacts one after the other, with the contacts in this order.
    Sequential(Vec<usize>, Sequential),
}

/// Decides if the judged velocity belongs to the set of inelastic frictional outcomes of the impact. `fit` holds the
/// impulses that explain the change of momentum. `known` lists members of the set that are answers of impact laws.
pub(super) fn decide(
    case: &Case<'_>,
    fit: &Explanation,
    known: &[Known],
) -> Result<SetVerdict, ImpactError> {
    let before = case.problem.velocity_minus();
    let mut nearest = Nearest::default();
    if !case.is_approaching {
        nearest.see(case, before.clone());
        if nearest.distance <= EQUAL {
            return Ok(nearest.verdict(case, Membership::Inside(Witness::Separating)));
        }
        if case.is_same(nearest.distance) {
            return Ok(nearest.verdict(case, Membership::Near(Witness::Separating)));
        }
    }
    for member in known {
        nearest.see(case, member.velocity.clone());
    }
    let tolerance = case.options.tolerance.max(CERTAIN);
    let exact = smooth::known(case, tolerance)?;
    if let Some(velocity) = exact.nearest {
        nearest.see(case, velocity);
    }
    let exact = exact.margin;
    let is_far = exact > 0.0;
    let proof =
        outside::proof(case, fit, tolerance).or(is_far.then_some((OutsideReason::ExactSet, exact)));
    if let Some((reason, margin)) = proof {
        let margin = margin.max(exact);
        return Ok(nearest.verdict(case, Membership::Outside { reason, margin }));
    }
    search::search(case, known, nearest)
}

/// Nearest member found so far.
#[derive(Default)]
struct Nearest {
    best: Option<Tangent>,
    distance: f64,
    members: u64,
    is_limited: bool,
}

impl Nearest {
    /// Counts one more candidate for a member of the outcome set, and stores the candidate if it is the nearest so far.
    /// Returns the distance of `velocity` from the judged velocity; infinity if a contact approaches at `velocity`, which
    /// then is no member.
    fn see(&mut self, case: &Case<'_>, velocity: Tangent) -> f64 {
        self.members += 1;
        let distance = case.distance(&velocity);
        // No member leaves a contact approaching.
        if !case.is_open(&velocity) {
            return f64::INFINITY;
        }
        if self.is_nearer(distance) {
            self.distance = distance;
            self.best = Some(velocity);
        }
        distance
    }

    /// True if `distance`, the distance of a candidate from the judged velocity, is smaller than that of every member
    /// found so far.
    fn is_nearer(&self, distance: f64) -> bool {
        self.best.is_none() || distance < self.distance
    }

    fn verdict(self, case: &Case<'_>, membership: Membership) -> SetVerdict {
        let nearest = self
            .best
            .unwrap_or_else(|| case.problem.velocity_minus().clone());
        SetVerdict {
            distance: case.distance(&nearest),
            membership,
            nearest,
            members: self.members,
            is_limited: self.is_limited,
        }
    }
}
