//! Problems that the benchmarks and the allocation test share.
//!
//! Everything here is deterministic: a measurement means the same on every machine and day.

pub mod frictional;
pub mod robots;
pub mod worlds;

use carom_contact::{Contact, ContactSet, ImpactError};
use carom_metric::{Covector, KineticMetric, MetricError, Tangent};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// A pseudo-random stream of numbers, good enough to fill matrices.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: u64,
    position: u64,
}

impl Stream {
    /// The stream with this seed, from its start.
    pub fn new(seed: u64) -> Self {
        Self { seed, position: 0 }
    }

    /// The next number in \[`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let position = self.position;
        self.position += 1;
        carom_numeric::random::uniform(self.seed, position, low, high)
    }

    /// `n` numbers in \[-1, 1).
    pub fn vector(&mut self, n: usize) -> DVector<f64> {
        DVector::from_fn(n, |_, _| self.uniform(-1.0, 1.0))
    }
}

/// A dense, well-conditioned mass matrix (n × n).
pub fn dense_mass(n: usize) -> DMatrix<f64> {
    let mut stream = Stream::new(n as u64);
    let a = DMatrix::from_fn(n, n, |_, _| stream.uniform(-1.0, 1.0));
    &a * a.transpose() / n as f64 + DMatrix::identity(n, n)
}

/// Generic covectors of length n.
pub fn dense_covectors(n: usize, count: usize) -> Vec<Covector> {
    let mut stream = Stream::new(!(n as u64));
    (0..count).map(|_| Covector(stream.vector(n))).collect()
}

/// The metric of balls on a line.
///
/// # Errors
///
/// [`MetricError::NotPositiveDefinite`] unless all masses are positive.
pub fn line_metric(masses: &[f64]) -> Result<KineticMetric, MetricError> {
    KineticMetric::new(DMatrix::from_diagonal(&DVector::from_column_slice(masses)))
}

/// Normals of `balls` in a row on a line: each touches the next.
pub fn chain_contacts(balls: usize) -> Vec<Contact> {
    let touch = |i: usize| {
        let mut normal = DVector::zeros(balls);
        normal[i] = -1.0;
        normal[i + 1] = 1.0;
        Contact::frictionless(Covector(normal))
    };
    (0..balls.saturating_sub(1)).map(touch).collect()
}

/// Masses of two contacts on three balls whose normals enclose the wedge half angle `gamma`.
///
/// Outer balls of unit mass around a middle one: $c = -1/(1 + m_2) = -\cos 2\gamma$.
pub fn wedge_masses(gamma: f64) -> [f64; 3] {
    let c = (2.0 * gamma).cos();
    // 1 - cos 2γ = 2 sin² γ does not cancel.
    [1.0, 2.0 * gamma.sin().powi(2) / c, 1.0]
}

/// Metric and contacts of a rack of balls in a triangle with `rows` rows, in the plane.
///
/// Unit masses and diameters; every ball touches its neighbors in the triangular lattice, and the
/// cue ball (the last one) touches the apex head on. Five rows: 16 balls and 31 contacts.
///
/// # Errors
///
/// None for at least one row.
pub fn rack(rows: usize) -> Result<(KineticMetric, Vec<Contact>), MetricError> {
    let mut centers = Vec::new();
    for row in 0..rows {
        for place in 0..=row {
            centers.push([place as f64 - 0.5 * row as f64, row as f64 * 0.75f64.sqrt()]);
        }
    }
    centers.push([0.0, -1.0]);
    let metric = KineticMetric::new(DMatrix::identity(2 * centers.len(), 2 * centers.len()))?;
    let mut contacts = Vec::new();
    for (i, a) in centers.iter().enumerate() {
        for (j, b) in centers.iter().enumerate().skip(i + 1) {
            let across = [b[0] - a[0], b[1] - a[1]];
            if across[0].hypot(across[1]) > 1.0 + 1e-9 {
                continue;
            }
            let mut normal = DVector::zeros(2 * centers.len());
            for axis in 0..2 {
                normal[2 * i + axis] = -across[axis];
                normal[2 * j + axis] = across[axis];
            }
            contacts.push(Contact::frictionless(Covector(normal)));
        }
    }
    Ok((metric, contacts))
}

/// Velocity of the cue ball (the last one) into a [`rack`] of so many coordinates; `aside` of it
/// is transverse.
pub fn break_shot(n: usize, aside: f64) -> Tangent {
    let mut velocity = DVector::zeros(n);
    velocity[n - 2] = aside;
    velocity[n - 1] = 1.0;
    Tangent(velocity)
}

/// Everything for one random impact of two contacts on three degrees of freedom.
#[derive(Clone, Debug)]
pub struct RandomPair {
    /// Diagonal of the mass matrix.
    pub masses: [f64; 3],
    /// The two normals.
    pub normals: [[f64; 3]; 2],
    /// Velocity before the impact; both contacts approach.
    pub velocity: [f64; 3],
}

impl RandomPair {
    /// The random problem with this number.
    pub fn new(number: u64) -> Self {
        let mut stream = Stream::new(number);
        let mut vector = |low, high| [(); 3].map(|()| stream.uniform(low, high));
        let masses = vector(0.5, 2.0);
        let [mut u, mut v] = [vector(-1.0, 1.0), vector(-1.0, 1.0)];
        let velocity = vector(-1.0, 1.0);
        for normal in [&mut u, &mut v] {
            let approach: f64 = normal.iter().zip(&velocity).map(|(u, v)| u * v).sum();
            normal.iter_mut().for_each(|x| *x *= -approach.signum());
        }
        Self {
            masses,
            normals: [u, v],
            velocity,
        }
    }

    /// The mass matrix, factored.
    ///
    /// # Errors
    ///
    /// None: the masses are positive.
    pub fn metric(&self) -> Result<KineticMetric, MetricError> {
        line_metric(&self.masses)
    }

    /// The contacts.
    ///
    /// # Errors
    ///
    /// None: the normals are not zero.
    pub fn contacts(&self, metric: KineticMetric) -> Result<ContactSet, ImpactError> {
        let contact = |u: &[f64; 3]| Contact::frictionless(Covector::from_slice(u));
        ContactSet::new(metric, self.normals.iter().map(contact).collect())
    }

    /// The velocity before the impact.
    pub fn tangent(&self) -> Tangent {
        Tangent::from_slice(&self.velocity)
    }
}

/// A random frictional impact at one contact of two bodies.
#[derive(Clone, Debug)]
pub struct RandomImpact {
    /// Inverse inertia matrix, tangents first.
    pub inertia: Matrix3<f64>,
    /// Contact velocity, closing.
    pub velocity: Vector3<f64>,
    /// Coulomb coefficient in (0.05, 5).
    pub friction: f64,
    /// Restitution in \[0, 1).
    pub restitution: f64,
}

impl RandomImpact {
    /// The random impact with this number. Inverse inertia $AA^T + 0.02$ with uniform $A$ in
    /// \[-1, 1).
    pub fn new(number: u64) -> Self {
        let mut stream = Stream::new(number);
        let a = Matrix3::from_fn(|_, _| stream.uniform(-1.0, 1.0));
        let [x, y, z] = [(); 3].map(|()| stream.uniform(-1.0, 1.0));
        Self {
            inertia: a * a.transpose() + Matrix3::identity() * 0.02,
            velocity: Vector3::new(x, y, -z.abs().max(1e-3)),
            friction: stream.uniform(0.05, 5.0),
            restitution: stream.uniform(0.0, 1.0),
        }
    }

    /// A random impact with one principal inverse inertia a hundred to a million times smaller.
    pub fn stiff(number: u64) -> Self {
        let mut impact = Self::new(number);
        let mut stream = Stream::new(!number);
        let axis = Vector3::from([(); 3].map(|()| stream.uniform(-1.0, 1.0))).normalize();
        let shrink = 1.0 - 10f64.powf(stream.uniform(-3.0, -1.0));
        let squeeze = Matrix3::identity() - axis * axis.transpose() * shrink;
        impact.inertia = squeeze * impact.inertia * squeeze;
        impact
    }
}
