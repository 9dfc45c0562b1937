//! When does a simultaneous impact have one outcome?

use carom_contact::ContactSet;
use carom_metric::Wedge;
use std::f64::consts::FRAC_PI_2;

/// Distance of $\pi/2\gamma$ from an integer up to which it counts as one.
const INTEGER_TOLERANCE: f64 = 1e-9;

/// Order dependence of two contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairUniqueness {
    /// First contact.
    pub first: usize,
    /// Second contact.
    pub second: usize,
    /// $X = \pi/2\gamma$: the outcome is the same in either order, for every momentum, exactly when
    /// this is an integer $m \ge 2$, that is $c = -\cos(\pi/m)$; then each order takes $m$ impacts
    /// whenever both contacts approach.
    pub exponent: f64,
    /// Distance of [`exponent`](Self::exponent) from the nearest integer.
    pub distance: f64,
    /// Worst indeterminacy over all momenta, $\xi_{\max} = 2|\sin 2K\gamma|$ with
    /// $K = \lceil X - 1/2\rceil$; attained by momenta opposite to the middle of the wedge.
    pub worst_indeterminacy: f64,
}

/// Order dependence of a contact set.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniqueness {
    /// All pairs of distinct contacts.
    pub pairs: Vec<PairUniqueness>,
    /// True if the outcome is the same in every order for every momentum.
    ///
    /// For independent normals this holds exactly when it holds for every pair (their reflections
    /// then generate a finite group with the feasible cone as chamber). For dependent normals the
    /// pairs decide only against it, and `None` is returned when they do not.
    pub order_independent: Option<bool>,
}

/// $X = \pi/2\gamma$ of a wedge; infinite when it is closed.
pub fn exponent(wedge: Wedge) -> f64 {
    FRAC_PI_2 / wedge.half_angle()
}

/// Worst indeterminacy of two contacts over all momenta, $\xi_{\max} = 2|\sin 2K\gamma|$.
pub fn worst_indeterminacy(wedge: Wedge) -> f64 {
    let impacts = (exponent(wedge) - 0.5).ceil();
    let angle = 2.0 * impacts * wedge.half_angle();
    if angle.is_finite() {
        2.0 * libm::sin(angle).abs()
    } else {
        2.0
    }
}

/// Tests whether the outcome depends on the order (Seghete & Murphey, Theorems 2 and 3, and their
/// extension to every $m$ and any number of contacts).
pub fn uniqueness(contacts: &ContactSet<'_>) -> Uniqueness {
    let m = contacts.n_distinct();
    let mut pairs = Vec::with_capacity(m * m.saturating_sub(1) / 2);
    for i in contacts.unit_rows() {
        for j in contacts.unit_rows().skip(i.index() + 1) {
            let wedge = contacts.wedge(i, j);
            let exponent = exponent(wedge);
            let nearest = f64::max(2.0, exponent.round());
            pairs.push(PairUniqueness {
                first: contacts.contact_at(i),
                second: contacts.contact_at(j),
                exponent,
                distance: (exponent - nearest).abs(),
                worst_indeterminacy: worst_indeterminacy(wedge),
            });
        }
    }
    let all_pairs = pairs
        .iter()
        .all(|p| p.distance <= INTEGER_TOLERANCE * p.exponent);
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

fn independent(contacts: &ContactSet<'_>) -> bool {
    let n = contacts.metric().dim();
    let normals: Vec<&[f64]> = contacts.unit_rows().map(|j| contacts.unit(j)).collect();
    let columns = nalgebra::DMatrix::from_fn(n, normals.len(), |i, j| normals[j][i]);
    carom_metric::orthonormal_span(&columns).ncols() == contacts.n_distinct()
}
