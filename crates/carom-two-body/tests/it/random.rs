//! Random impacts, the same in every run.

use carom_two_body::{ContactImpact, ContactInertia, ContactResponse, ImpactOptions, solve_impact};
use nalgebra::{Matrix3, Vector3};

/// Stream of random numbers with a seed (SplitMix64; Steele, Lea & Flood 2014).
pub struct Stream(pub u64);

impl Stream {
    /// Returns the next random number of the stream, uniform in \[`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        low + (high - low) * (z >> 11) as f64 * 2f64.powi(-53)
    }

    /// Returns a random vector with entries uniform in \[-1, 1).
    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.uniform(-1.0, 1.0))
    }
}

/// Data of a random impact: inverse inertia, contact velocity before the impact, friction coefficient and
/// restitution.
pub struct Random {
    pub number: u64,
    pub w: ContactInertia,
    pub v: Vector3<f64>,
    pub mu: f64,
    pub e: f64,
}

/// Creates random impact number `number`, with the inverse inertia $AA^T + 0.02$ of a random matrix $A$. Every
/// third impact closes slowly, so that sliding stops early. Every ninth closes more slowly still and has strong
/// friction, which leads to recompression.
pub fn impact(number: u64) -> Random {
    let mut stream = Stream(number);
    let a = Matrix3::from_fn(|_, _| stream.uniform(-1.0, 1.0));
    let w = a * a.transpose() + Matrix3::identity() * 0.02;
    let mut v = stream.vector();
    let (slow, mu) = match number % 9 {
        0 => (0.01, stream.uniform(3.0, 5.0)),
        3 | 6 => (0.05, stream.uniform(0.05, 5.0)),
        _ => (1.0, stream.uniform(0.05, 5.0)),
    };
    v.z = -v.z.abs() * slow;
    Random {
        number,
        w: ContactInertia::from_matrix(&w).unwrap(),
        v,
        mu,
        e: stream.uniform(0.0, 1.0),
    }
}

/// Returns the first `count` random impacts.
pub fn impacts(count: u64) -> impl Iterator<Item = Random> {
    (0..count).map(impact)
}

/// Solves an impact and panics if the contact does not close.
pub fn solve(
    w: &ContactInertia,
    v: &Vector3<f64>,
    mu: f64,
    e: f64,
    options: &ImpactOptions,
) -> ContactImpact {
    match solve_impact(w, v, mu, e, options).unwrap() {
        ContactResponse::Impact(impact) => impact,
        other => panic!("{other:?}"),
    }
}

/// Creates a random impact whose inverse inertia is smaller in one random direction: there its square root is
/// multiplied by a factor between 0.001 and 1.
pub fn stiff(number: u64) -> Random {
    let mut impact = impact(number);
    let mut stream = Stream(!number);
    let axis = stream.vector().normalize();
    let shrink = 1.0 - 10f64.powf(stream.uniform(-3.0, 0.0));
    let squeeze = Matrix3::identity() - axis * axis.transpose() * shrink;
    let w = squeeze * impact.w.matrix() * squeeze;
    impact.w = ContactInertia::from_matrix(&(0.5 * (w + w.transpose()))).unwrap();
    impact
}
