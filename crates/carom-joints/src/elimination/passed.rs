//! Intermediate results of the elimination of one body: from the inward to the outward sweep, and for responses to impulses.

use super::inertia::Twist;

/// Largest number of rows of one joint in use: three conditions, a limit and three damped rates of a spherical joint.
pub(super) const MOST_ROWS: usize = 7;

/// Results of the inward sweep for the outward sweep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scratch {
    /// Rates of free directions, or differences between the prescribed rates of rows and those without impulses.
    pub(super) values: [f64; MOST_ROWS],
    /// Velocity of the body relative to the other side with the prescribed rates of the conditions; `None` if all are zero.
    pub(super) bias: Option<Twist>,
}

/// Contribution of one body and its joint to the response to a momentum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace {
    pub(super) own: [f64; 6],
    pub(super) rates: [f64; MOST_ROWS],
    /// Momentum that the joint transmits to the other side.
    pub(super) passed: Twist,
}

impl Trace {
    /// Returns the contribution of one body and its joint to an entry of the mobility matrix: the velocity along one row due to a
    /// unit impulse on another. `self` and `other` are the responses of the body to unit impulses on these two rows. The array
    /// contains the numbers of entries in use in the lists `own` and `rates` of a response.
    #[inline]
    pub(super) fn share(&self, other: &Self, [own, rates]: [usize; 2]) -> f64 {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        product(&self.own[..own], &other.own[..own])
            - product(&self.rates[..rates], &other.rates[..rates])
    }
}
