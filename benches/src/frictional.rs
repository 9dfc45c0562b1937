//! Simultaneous frictional impacts of Halm & Posa.

use carom_contact::Contact;
use carom_metric::{Covector, KineticMetric, MetricError, Tangent};
use nalgebra::{DMatrix, DVector};

/// Metric, contacts and velocity before.
pub type FrictionalSystem = (KineticMetric, Vec<Contact>, Tangent);

fn contact(normal: &[f64], tangent: &[f64], friction: f64) -> Contact {
    Contact::new(Covector::from_slice(normal))
        .with_tangents(vec![Covector::from_slice(tangent)])
        .with_friction(friction)
}

fn diagonal(masses: Vec<f64>) -> Result<KineticMetric, MetricError> {
    KineticMetric::new(DMatrix::from_diagonal(&DVector::from_vec(masses)))
}

/// Table 4: a block of 1 m x 2 m dropped flat by 10 mm; two contacts.
///
/// # Errors
///
/// None for these masses.
pub fn rocking_block() -> Result<FrictionalSystem, MetricError> {
    let corner = |x: f64| contact(&[0.0, 1.0, x], &[1.0, 0.0, 1.0], 1.0);
    let velocity = Tangent::from_slice(&[0.0, -(0.1962f64).sqrt(), 0.0]);
    let metric = diagonal(vec![1.0, 1.0, 5.0 / 12.0])?;
    Ok((metric, vec![corner(-0.5), corner(0.5)], velocity))
}

/// Table 8: a disk falls onto two disks on the floor; five contacts.
///
/// # Errors
///
/// None for these masses.
pub fn disk_stack() -> Result<FrictionalSystem, MetricError> {
    let friction = 3f64.sqrt();
    let floor = |body: usize| {
        let (mut n, mut t) = ([0.0; 9], [0.0; 9]);
        n[3 * body + 1] = 1.0;
        t[3 * body] = 1.0;
        t[3 * body + 2] = 1.0;
        contact(&n, &t, friction)
    };
    let pair = |first: usize, second: usize, x: f64, y: f64| {
        let (mut n, mut t) = ([0.0; 9], [0.0; 9]);
        for (body, sign) in [(first, -1.0), (second, 1.0)] {
            n[3 * body] = sign * x;
            n[3 * body + 1] = sign * y;
            t[3 * body] = sign * y;
            t[3 * body + 1] = -sign * x;
            t[3 * body + 2] = 1.0;
        }
        contact(&n, &t, friction)
    };
    let up = 0.5 * friction;
    let contacts = vec![
        floor(1),
        floor(2),
        pair(1, 0, 0.5, up),
        pair(2, 0, -0.5, up),
        pair(1, 2, 1.0, 0.0),
    ];
    let mut velocity = [0.0; 9];
    velocity[1] = -1.0;
    let metric = diagonal([1.0, 1.0, 0.5].repeat(3))?;
    Ok((metric, contacts, Tangent::from_slice(&velocity)))
}
