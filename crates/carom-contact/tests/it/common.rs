//! Systems of frictionless contacts, and comparisons.

use carom_contact::{Contact, ContactSet};
use carom_metric::{Covector, KineticMetric};
use nalgebra::{DMatrix, DVector};

/// A metric and contact normals.
pub struct System {
    pub metric: KineticMetric,
    pub normals: Vec<Covector>,
}

impl System {
    pub fn diagonal<const N: usize>(masses: &[f64], normals: &[[f64; N]]) -> Self {
        let mass = DMatrix::from_diagonal(&DVector::from_column_slice(masses));
        Self {
            metric: KineticMetric::new(mass).unwrap(),
            normals: normals.iter().map(|u| Covector::from_slice(u)).collect(),
        }
    }

    pub fn contacts(&self) -> ContactSet {
        let contacts = self.normals.iter().cloned().map(Contact::frictionless);
        ContactSet::new(&self.metric, contacts.collect()).unwrap()
    }
}

pub fn assert_close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{what}: {actual} instead of {expected}"
    );
}
