//! Random numbers that are the same on every machine, and random impacts.

use carom_contact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

/// SplitMix64: numbers that are the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in \[0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Uniform in (-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed()).collect()
    }

    /// Ten to a power that is uniform between two bounds.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(low + (high - low) * self.unit())
    }

    /// A mass matrix with eigenvalues spread evenly over a condition number.
    pub fn mass(&mut self, n: usize, condition: f64) -> DMatrix<f64> {
        let q = DMatrix::from_vec(n, n, self.vector(n * n)).qr().q();
        let exponent = |i: usize| i as f64 / (n.max(2) - 1) as f64 - 0.5;
        let sizes = DVector::from_fn(n, |i, _| condition.powf(exponent(i)));
        let m = &q * DMatrix::from_diagonal(&sizes) * q.transpose();
        0.5 * (&m + m.transpose())
    }
}

/// An impact as it would be written down.
#[derive(Clone, Debug)]
pub struct Case {
    pub mass: DMatrix<f64>,
    pub velocity: Vec<f64>,
    pub contacts: Vec<Contact>,
}

impl Case {
    pub fn random(random: &mut Random, condition: f64, n_contacts: usize, tangents: usize) -> Self {
        let n = 2 + random.below(4) + tangents;
        let contacts = (0..n_contacts)
            .map(|_| {
                Contact::new(Covector::from_slice(&random.vector(n)))
                    .with_tangents(
                        (0..tangents)
                            .map(|_| Covector::from_slice(&random.vector(n)))
                            .collect::<Vec<_>>(),
                    )
                    .with_friction(if tangents > 0 { random.unit() } else { 0.0 })
            })
            .collect();
        Self {
            mass: random.mass(n, condition),
            velocity: random.vector(n),
            contacts,
        }
    }

    pub fn pose<T>(&self, f: impl FnOnce(&ImpactProblem) -> T) -> T {
        let metric = KineticMetric::new(self.mass.clone()).unwrap();
        let contacts = ContactSet::new(&metric, self.contacts.clone()).unwrap();
        f(&ImpactProblem::new(&contacts, Tangent::from_slice(&self.velocity)).unwrap())
    }

    pub fn resolve(&self, law: &dyn ImpactLaw) -> Result<ImpactOutcome, ImpactError> {
        self.pose(|problem| law.resolve(problem))
    }
}
