//! Numbers that the elimination of one body passes on: from the way inward to the way outward, and to replies.

use super::inertia::Twist;

/// Rows of one joint in use at once: three conditions, a limit and three damped rates of a spherical joint.
pub(super) const MOST_ROWS: usize = 7;

/// Numbers that the way inward leaves for the way outward.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scratch {
    /// Rates of free directions, or what is missing of the wanted rates of rows.
    pub(super) values: [f64; MOST_ROWS],
    /// Velocity of the body against the other side with the wanted rates of its conditions; `None` for zero.
    pub(super) bias: Option<Twist>,
}

/// Part of the reply to a momentum that one body and its joint make.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace {
    pub(super) own: [f64; 6],
    pub(super) rates: [f64; MOST_ROWS],
    /// Momentum that the joint carries to the other side.
    pub(super) passed: Twist,
}

impl Trace {
    /// Share of the body and its joint in the velocity that one momentum gives along another; `sizes` are those of the node.
    #[inline]
    pub(super) fn share(&self, other: &Self, [own, rates]: [usize; 2]) -> f64 {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        product(&self.own[..own], &other.own[..own])
            - product(&self.rates[..rates], &other.rates[..rates])
    }
}
