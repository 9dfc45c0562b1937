//! Seeded families of problems.
#![allow(dead_code)]

use carom_lcp::Lcp;
use nalgebra::{DMatrix, DVector};

/// Stream of random numbers with a seed (SplitMix64; Steele, Lea & Flood 2014).
pub struct Stream(pub u64);

impl Stream {
    /// Returns the next 64 random bits of the stream.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the next random number of the stream, uniform in \[`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Returns the next random number of the stream, normally distributed with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform(1e-300, 1.0).ln()).sqrt();
        radius * self.uniform(0.0, std::f64::consts::TAU).cos()
    }

    /// Returns a random integer from 0 to `n` - 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Returns a random matrix with normally distributed entries.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.normal())
    }

    /// Returns a random vector with normally distributed entries.
    pub fn vector(&mut self, n: usize) -> DVector<f64> {
        DVector::from_fn(n, |_, _| self.normal())
    }
}

fn lcp(matrix: DMatrix<f64>, vector: DVector<f64>) -> Lcp {
    Lcp::new(matrix, vector).unwrap()
}

/// Creates a random linear complementarity problem with a positive definite, nonsymmetric matrix. About half of
/// its variables are basic.
pub fn pd_skew(seed: u64, n: usize) -> Lcp {
    let mut stream = Stream(seed);
    let a = stream.matrix(n, n);
    let s = stream.matrix(n, n);
    let matrix = &a * a.transpose() / n as f64
        + DMatrix::identity(n, n) * 0.1
        + (&s - s.transpose()) * (0.5 / (n as f64).sqrt());
    lcp(matrix, stream.vector(n))
}

/// Creates a linear complementarity problem with a random matrix and a random vector, often without a solution.
pub fn dense(seed: u64, n: usize) -> Lcp {
    let mut stream = Stream(seed);
    lcp(stream.matrix(n, n), stream.vector(n))
}

/// Creates a random problem with a P matrix that is not positive definite: a triangular matrix with positive
/// diagonal, scaled.
pub fn p_matrix(seed: u64, n: usize) -> Lcp {
    let mut stream = Stream(seed);
    let matrix = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => stream.uniform(0.1, 2.0),
        std::cmp::Ordering::Greater => 3.0 * stream.normal(),
    });
    lcp(matrix, stream.vector(n))
}

/// Creates a random problem with a strictly copositive matrix: positive entries plus a positive semidefinite
/// part.
pub fn strictly_copositive(seed: u64, n: usize) -> Lcp {
    let mut stream = Stream(seed);
    let a = stream.matrix(n, n);
    let positive = DMatrix::from_fn(n, n, |_, _| stream.uniform(0.01, 1.0));
    lcp(&a * a.transpose() / n as f64 + positive, stream.vector(n))
}

/// Creates a random problem with a Z matrix (no positive entry off the diagonal), which can be singular or
/// indefinite.
pub fn z_matrix(seed: u64, n: usize) -> Lcp {
    let mut stream = Stream(seed);
    let mut matrix = DMatrix::from_fn(n, n, |_, _| -stream.uniform(0.0, 1.0));
    for i in 0..n {
        matrix[(i, i)] = stream.uniform(-0.2, 1.2) * n as f64 * 0.5;
    }
    lcp(matrix, stream.vector(n))
}

/// Creates a solvable random problem with small integer entries, so that ties are frequent: the matrix
/// $M = AA^T$ with $A$ (n × rank) and the vector $q = Av + s$ with a random $v$ and $s \ge 0$.
pub fn integer_psd(seed: u64, n: usize, rank: usize) -> Lcp {
    let mut stream = Stream(seed);
    let mut small =
        |rows, columns| DMatrix::from_fn(rows, columns, |_, _| stream.below(5) as f64 - 2.0);
    let a = small(n, rank);
    let v = small(rank, 1);
    let slack = small(n, 1).map(|x| x.max(0.0));
    let vector = &a * v + slack;
    lcp(&a * a.transpose(), vector.column(0).into_owned())
}

/// Creates a random problem with small integer entries and a matrix of no special class. Ties in the ratio test
/// occur everywhere.
pub fn integer_dense(seed: u64, n: usize) -> Lcp {
    let mut stream = Stream(seed);
    let matrix = DMatrix::from_fn(n, n, |_, _| stream.below(5) as f64 - 2.0);
    let vector = DVector::from_fn(n, |_, _| stream.below(5) as f64 - 3.0);
    lcp(matrix, vector)
}

/// Creates the impact problem of a row of touching bodies, with a tridiagonal Delassus matrix, inelastic or
/// elastic.
pub fn delassus_chain(seed: u64, contacts: usize) -> Lcp {
    let mut stream = Stream(seed);
    let inverse: Vec<f64> = (0..=contacts)
        .map(|_| 10f64.powf(stream.uniform(-1.0, 1.0)))
        .collect();
    let matrix = DMatrix::from_fn(contacts, contacts, |i, j| match i.abs_diff(j) {
        0 => inverse[i] + inverse[i + 1],
        1 => -inverse[i.max(j)],
        _ => 0.0,
    });
    let velocity = stream.vector(contacts + 1);
    let vector = DVector::from_fn(contacts, |i, _| velocity[i + 1] - velocity[i]);
    lcp(matrix, vector)
}

/// Contact data in contact space: Delassus matrix, velocities and friction coefficients, for example from
/// [`pile`].
pub struct Contacts {
    pub delassus: DMatrix<f64>,
    pub velocity: DVector<f64>,
    pub friction: Vec<f64>,
}

impl Contacts {
    /// Returns the contact data as input of a contact problem.
    pub fn rows(&self) -> carom_lcp::ContactRows<'_> {
        const REST: [f64; 64] = [0.0; 64];
        carom_lcp::ContactRows {
            delassus: &self.delassus,
            velocity: &self.velocity,
            n_tangents: 2,
            friction: &self.friction,
            restitution: &REST[..self.friction.len()],
        }
    }

    /// Returns the problem that contains only the first `contacts` contacts.
    pub fn first(&self, contacts: usize) -> Self {
        Self {
            delassus: self
                .delassus
                .view((0, 0), (3 * contacts, 3 * contacts))
                .into(),
            velocity: self.velocity.rows(0, 3 * contacts).into(),
            friction: self.friction[..contacts].to_vec(),
        }
    }
}

/// Creates a random stack of plates, each touching the plate below at four corners. With four contacts and
/// three rigid directions per plate the contact normals are linearly dependent. The masses spread over
/// `mass_decades` powers of ten; `speed` multiplies the velocities.
pub fn pile(seed: u64, plates: usize, mass_decades: f64, speed: f64) -> Contacts {
    let mut stream = Stream(seed);
    let contacts = 4 * plates;
    let mut jacobian: DMatrix<f64> = DMatrix::zeros(3 * contacts, 6 * plates);
    let mut inverse_mass = DVector::zeros(6 * plates);
    for plate in 0..plates {
        let mass = 10f64.powf(stream.uniform(-0.5, 0.5) * mass_decades);
        let (a, b, h) = (
            stream.uniform(0.5, 1.5),
            stream.uniform(0.5, 1.5),
            stream.uniform(0.05, 0.3),
        );
        for k in 0..3 {
            inverse_mass[6 * plate + k] = 1.0 / mass;
        }
        for (k, inertia) in [b * b + h * h, a * a + h * h, a * a + b * b]
            .iter()
            .enumerate()
        {
            inverse_mass[6 * plate + 3 + k] = 3.0 / (mass * inertia);
        }
        for corner in 0..4 {
            let sign = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let contact = 4 * plate + corner;
            // Axes: normal up, then the tangents x and y; arms from either center.
            let mut touch = |body: usize, side: f64, z: f64| {
                let arm = nalgebra::Vector3::new(sign(0) * a, sign(1) * b, z);
                let axes = [
                    nalgebra::Vector3::z(),
                    nalgebra::Vector3::x(),
                    nalgebra::Vector3::y(),
                ];
                for (row, axis) in axes.iter().enumerate() {
                    let turn = arm.cross(axis);
                    for k in 0..3 {
                        jacobian[(3 * contact + row, 6 * body + k)] += side * axis[k];
                        jacobian[(3 * contact + row, 6 * body + 3 + k)] += side * turn[k];
                    }
                }
            };
            touch(plate, 1.0, -h);
            if plate > 0 {
                touch(plate - 1, -1.0, h);
            }
        }
    }
    let weighted = DMatrix::from_fn(6 * plates, 3 * contacts, |i, j| {
        inverse_mass[i] * jacobian[(j, i)]
    });
    let mut motion = stream.vector(6 * plates) * 0.3;
    for plate in 0..plates {
        motion[6 * plate + 2] -= 1.0;
    }
    Contacts {
        delassus: &jacobian * weighted,
        velocity: &jacobian * motion * speed,
        friction: (0..contacts).map(|_| stream.uniform(0.0, 1.2)).collect(),
    }
}

/// Creates Murty's problem (1978), for which Lemke's method needs exponentially many pivots ($2^n$ for some
/// vectors): ones on the diagonal, twos below, and the vector of all −1.
pub fn murty(n: usize) -> Lcp {
    let matrix = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Greater => 2.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Less => 0.0,
    });
    lcp(matrix, DVector::from_element(n, -1.0))
}

/// Creates Fathi's problem (1979): Murty's matrix times its transpose, which is symmetric positive definite,
/// and the vector of all −1.
pub fn fathi(n: usize) -> Lcp {
    let murty = murty(n);
    let matrix = murty.matrix() * murty.matrix().transpose();
    lcp(matrix, DVector::from_element(n, -1.0))
}

/// Multiplies the rows and columns of a problem by random powers of ten, over `decades` decades. Signs and
/// complementary bases stay equal.
pub fn rescaled(problem: &Lcp, seed: u64, decades: f64) -> Lcp {
    let mut stream = Stream(seed);
    let n = problem.dim();
    let mut scale = || 10f64.powf(decades * stream.uniform(-0.5, 0.5));
    let rows: Vec<f64> = (0..n).map(|_| scale()).collect();
    let columns: Vec<f64> = (0..n).map(|_| scale()).collect();
    let matrix = DMatrix::from_fn(n, n, |i, j| rows[i] * problem.matrix()[(i, j)] * columns[j]);
    let vector = DVector::from_fn(n, |i, _| rows[i] * problem.vector()[i]);
    lcp(matrix, vector)
}
