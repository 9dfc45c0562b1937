//! Sets of velocities for which bounds are proven, and shared steps of the proofs.

use super::given::Given;
use super::interval::Interval;
use std::ops::Add;

/// Set of velocities after an impact for which a bound on a velocity component is proven. The set consists of the
/// velocities that chains of finite impulse steps reach, or of those that paths of infinitesimal steps reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BoundedSet {
    /// Ends of finite chains of steps: the set of outcomes of `carom-judge`. It contains the answers of all inelastic
    /// frictional laws.
    #[default]
    Steps,
    /// Ends of the paths of Halm & Posa's differential inclusion, the limit of small steps.
    Paths,
}

/// True if the multipliers `nu` of a proof, one per contact, are finite and have valid signs. The multipliers belong to
/// the normal velocities and must not be negative; only the multiplier of contact `last`, which pushes in the last
/// step, may have any sign. `given`: data of the impact problem.
pub(super) fn is_signed(nu: &[f64], last: usize, given: &Given) -> bool {
    let is_right = |(i, x): (usize, &f64)| x.is_finite() && (i == last || *x >= 0.0);
    nu.len() == given.contacts.len() && last < nu.len() && nu.iter().enumerate().all(is_right)
}

/// Computes $c + J_n^T\nu$ with outward rounding. `direction` is the direction $c$ of the bound, `nu` are the
/// multipliers $\nu$ (one per contact), and $J_n$ has the contact normals as rows. `given`: data of the impact problem.
pub(super) fn pushed(given: &Given, direction: &[f64], nu: &[f64]) -> Vec<Interval> {
    (0..direction.len())
        .map(|k| {
            let terms = given.contacts.iter().zip(nu);
            terms
                .map(|(contact, nu)| Interval::from(contact.normal[k]) * Interval::from(*nu))
                .fold(Interval::from(direction[k]), Add::add)
        })
        .collect()
}
