//! Energy and momentum over millions of impacts, measured in twice the working precision.

use crate::common::{System, assert_close};
use carom_contact::ContactIndex;

const MASSES: [f64; 3] = [1.0, 2.0, 1.5];
const START: [f64; 3] = [1.0, -0.3, 0.4];

/// An unevaluated sum of two floats.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn add(self, x: f64) -> Self {
        let sum = self.0 + x;
        let part = sum - self.0;
        let error = (self.0 - (sum - part)) + (x - part);
        Self(sum, self.1 + error)
    }

    /// Adds a product without rounding it.
    fn add_product(self, a: f64, b: f64) -> Self {
        let product = a * b;
        self.add(product).add(a.mul_add(b, -product))
    }

    fn relative_to(self, reference: Self) -> f64 {
        ((self.0 - reference.0) + (self.1 - reference.1)) / reference.0
    }
}

/// Twice the energy: $m v$ is exact for these masses and velocities up to one rounding, so the
/// square is taken first, in two parts.
fn energy(v: &[f64; 3]) -> Double {
    MASSES.iter().zip(v).fold(Double(0.0, 0.0), |sum, (m, v)| {
        let square = v * v;
        sum.add_product(*m, square)
            .add_product(*m, v.mul_add(*v, -square))
    })
}

fn momentum(v: &[f64; 3]) -> Double {
    MASSES
        .iter()
        .zip(v)
        .fold(Double(0.0, 0.0), |sum, (m, v)| sum.add_product(*m, *v))
}

/// Largest relative drifts of energy and momentum seen.
#[derive(Clone, Copy, Debug, Default)]
struct Drift {
    energy: f64,
    momentum: f64,
}

/// Three bodies on a ring hit each other in turn, the fastest approach first, forever.
fn ring(impacts: u64) -> Drift {
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, -1.0]];
    let system = System::diagonal(&MASSES, &normals);
    let norms: Vec<f64> = system
        .normals
        .iter()
        .map(|u| system.metric.norm(u).unwrap())
        .collect();
    let contacts = system.contacts();
    let (mut velocity, mut workspace) = (START, [0.0; 3]);
    let (energy_start, momentum_start) = (energy(&START), momentum(&START));
    let mut drift = Drift::default();
    let every = (impacts / 1_000_000).max(1);
    for k in 1..=impacts {
        let [a, b, c] = velocity;
        let approach = [(b - a) / norms[0], (c - b) / norms[1], (a - c) / norms[2]];
        let fastest = (0..3)
            .min_by(|&i, &j| approach[i].total_cmp(&approach[j]))
            .unwrap();
        let fastest = ContactIndex::new(fastest);
        let impulse = contacts.reflect_in_place(fastest, &mut velocity, &mut workspace);
        assert!(impulse > 0.0, "impact {k} pulls");
        if k % every == 0 {
            let energy = energy(&velocity).relative_to(energy_start).abs();
            let momentum = momentum(&velocity).relative_to(momentum_start).abs();
            assert!(energy.is_finite() && momentum.is_finite());
            drift.energy = drift.energy.max(energy);
            drift.momentum = drift.momentum.max(momentum);
        }
    }
    drift
}

/// Rounding adds up at most linearly; what it really does is printed.
#[test]
fn ten_million_plain_impacts_drift_by_rounding_alone() {
    let drift = ring(10_000_000);
    println!("plain reflections, 1e7 impacts: {drift:?}");
    let bound = 1e7 * 4.0 * f64::EPSILON;
    assert!(
        drift.energy <= bound && drift.momentum <= bound,
        "{drift:?}"
    );
    assert!(
        drift.energy > 0.0,
        "a drift of exactly zero means that nothing was measured"
    );
}

/// The measure itself: it sees one unit in the last place.
#[test]
fn the_measure_of_drift_sees_the_last_digit() {
    let mut nudged = START;
    nudged[1] = f64::from_bits(nudged[1].to_bits() + 1);
    let energy = energy(&nudged).relative_to(energy(&START));
    let change = 2.0 * START[1] * (nudged[1] - START[1]) * MASSES[1];
    assert_close(energy * 1.42, change, 1e-3 * change.abs(), "energy");
    let momentum = momentum(&nudged).relative_to(momentum(&START));
    assert_close(momentum, 2.0 * (nudged[1] - START[1]), 1e-20, "momentum");
}
