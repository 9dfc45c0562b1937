//! Conditions under which a simultaneous impact has a single outcome.

use crate::tolerances::EQUAL;
use carom_contact::ContactSet;
use carom_metric::Wedge;
use std::f64::consts::FRAC_PI_2;

/// Dependence of the elastic outcome at two contacts on the order of their impacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairUniqueness {
    /// First contact.
    pub first: usize,
    /// Second contact.
    pub second: usize,
    /// Exponent $X = \pi/2\gamma$ with the half angle $\gamma$ of the contacts' wedge. The outcome is the same in either order,
    /// for every momentum, exactly if $X$ is an integer $m \ge 2$, that is, if the normals have the cosine $c = -\cos(\pi/m)$.
    /// Each order then takes $m$ impacts whenever both contacts approach.
    pub exponent: f64,
    /// Distance of [`exponent`](Self::exponent) from the nearest integer that is at least 2.
    pub distance: f64,
    /// Largest indeterminacy over all momenta, $\xi_{\max} = 2|\sin 2K\gamma|$ with
    /// $K = \lceil X - 1/2\rceil$; momenta opposite to the middle of the wedge have it.
    pub worst_indeterminacy: f64,
}

/// Dependence of the elastic outcome at a set of contacts on the order of the impacts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Uniqueness {
    /// All pairs of distinct contacts.
    pub pairs: Vec<PairUniqueness>,
    /// True if the outcome is the same in every order for every momentum.
    ///
    /// For linearly independent normals this is true exactly if it is true for every pair: the reflections
    /// then generate a finite group with the feasible cone as chamber. For linearly dependent normals one pair
    /// that depends on the order makes it false; otherwise the pairs do not decide and the value is `None`.
    pub order_independent: Option<bool>,
}

/// Exponent $X = \pi/2\gamma$ of the wedge of two contacts with half angle $\gamma$. The outcome does not depend on the
/// order of impacts exactly if $X$ is an integer of at least 2. $X$ is infinite if the opening angle of the wedge is zero.
fn exponent(wedge: Wedge) -> f64 {
    FRAC_PI_2 / wedge.half_angle()
}

/// Largest difference of the outcomes of the two orders of impacts at two contacts, over all momenta before the impact and
/// relative to the norm of that momentum: $\xi_{\max} = 2|\sin 2K\gamma|$ with $K = \lceil \pi/2\gamma - 1/2\rceil$ and the
/// half angle $\gamma$ of the contacts' wedge.
fn worst_indeterminacy(wedge: Wedge) -> f64 {
    let impacts = (exponent(wedge) - 0.5).ceil();
    let angle = 2.0 * impacts * wedge.half_angle();
    if angle.is_finite() {
        2.0 * libm::sin(angle).abs()
    } else {
        2.0
    }
}

/// Tests if the elastic outcome at a set of contacts depends on the order of the impacts (Seghete & Murphey, Theorems 2 and
/// 3, and their extension to any angle and any number of contacts).
pub fn uniqueness(contacts: &ContactSet) -> Uniqueness {
    let m = contacts.n_distinct();
    let mut pairs = Vec::with_capacity(m * m.saturating_sub(1) / 2);
    for i in contacts.unit_rows() {
        for j in contacts.unit_rows().skip(i.index() + 1) {
            let wedge = contacts.wedge(i, j);
            let exponent = exponent(wedge);
            let nearest = f64::max(2.0, exponent.round());
            pairs.push(PairUniqueness {
                first: contacts.contact_at(i).index(),
                second: contacts.contact_at(j).index(),
                exponent,
                distance: (exponent - nearest).abs(),
                worst_indeterminacy: worst_indeterminacy(wedge),
            });
        }
    }
    let all_pairs = pairs.iter().all(|p| p.distance <= EQUAL * p.exponent);
    let order_independent = match (all_pairs, independent(contacts)) {
        (false, _) => Some(false),
        (true, true) => Some(true),
        (true, false) => None,
    };
    Uniqueness {
        pairs,
        order_independent,
    }
}

fn independent(contacts: &ContactSet) -> bool {
    let n = contacts.metric().dim();
    let normals: Vec<&[f64]> = contacts.unit_rows().map(|j| contacts.unit(j)).collect();
    let columns = nalgebra::DMatrix::from_fn(n, normals.len(), |i, j| normals[j][i]);
    carom_metric::orthonormal_span(&columns).ncols() == contacts.n_distinct()
}
