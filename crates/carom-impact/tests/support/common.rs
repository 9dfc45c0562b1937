//! Mechanical systems and comparisons shared by the suites.

use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    OutcomeSet, PropagativeDiagnostics, SetValuedLaw,
};
use carom_impact::Propagative;
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

/// A metric and the frictionless contacts that are closed.
#[derive(Clone, Debug)]
pub struct System {
    pub metric: KineticMetric,
    pub normals: Vec<Covector>,
}

impl System {
    pub fn new(mass: DMatrix<f64>, normals: Vec<Vec<f64>>) -> Self {
        let normals = normals.iter().map(|u| Covector::from_slice(u)).collect();
        Self {
            metric: KineticMetric::new(mass).unwrap(),
            normals,
        }
    }

    pub fn diagonal(masses: &[f64], normals: Vec<Vec<f64>>) -> Self {
        Self::new(
            DMatrix::from_diagonal(&DVector::from_column_slice(masses)),
            normals,
        )
    }

    pub fn contacts(&self) -> ContactSet {
        let contacts = self
            .normals
            .iter()
            .cloned()
            .map(Contact::frictionless)
            .collect();
        ContactSet::new(&self.metric, contacts).unwrap()
    }

    /// Runs `f` on the impact of a velocity.
    pub fn pose<T>(&self, velocity: &[f64], f: impl FnOnce(&ImpactProblem) -> T) -> T {
        let contacts = self.contacts();
        f(&ImpactProblem::new(&contacts, Tangent::from_slice(velocity)).unwrap())
    }

    pub fn try_resolve(
        &self,
        law: &dyn ImpactLaw,
        velocity: &[f64],
    ) -> Result<ImpactOutcome, ImpactError> {
        self.pose(velocity, |problem| law.resolve(problem))
    }

    pub fn resolve(&self, law: &dyn ImpactLaw, velocity: &[f64]) -> ImpactOutcome {
        self.try_resolve(law, velocity).unwrap()
    }

    pub fn try_all(&self, law: &Propagative, velocity: &[f64]) -> Result<OutcomeSet, ImpactError> {
        self.pose(velocity, |problem| law.resolve_all(problem))
    }

    pub fn all(&self, velocity: &[f64]) -> OutcomeSet {
        self.try_all(&Propagative::default(), velocity).unwrap()
    }

    pub fn velocity(&self, momentum: &[f64]) -> Vec<f64> {
        let v = self.metric.sharp(&Covector::from_slice(momentum)).unwrap();
        v.0.as_slice().to_vec()
    }

    pub fn momentum(&self, outcome: &ImpactOutcome) -> Vec<f64> {
        self.metric
            .flat(&outcome.velocity_plus)
            .unwrap()
            .0
            .as_slice()
            .to_vec()
    }

    /// Velocities of the unit normals, computed without the contact set.
    pub fn unit_velocities(&self, velocity: &[f64]) -> Vec<f64> {
        let v = DVector::from_column_slice(velocity);
        let b = |u: &Covector| u.0.dot(&v) / self.metric.norm(u).unwrap();
        self.normals.iter().map(b).collect()
    }
}

/// Velocity after, as a slice.
pub fn plus(outcome: &ImpactOutcome) -> &[f64] {
    outcome.velocity_plus.0.as_slice()
}

pub fn details(outcome: &ImpactOutcome) -> &PropagativeDiagnostics {
    match &outcome.diagnostics {
        Diagnostics::Propagative(details) => details,
        other => panic!("not a propagative outcome: {other:?}"),
    }
}

pub fn sequence(outcome: &ImpactOutcome) -> &[usize] {
    details(outcome).sequence.as_deref().unwrap()
}

/// Fails for NaN.
#[track_caller]
pub fn assert_close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (actual - expected).abs();
    assert!(
        off <= tolerance,
        "{what}: {actual:e}, expected {expected:e}, off by {off:e}"
    );
}

/// Fails for NaN and for different lengths.
#[track_caller]
pub fn assert_all_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let off = actual.iter().zip(expected).map(|(a, e)| (a - e).abs());
    assert!(
        off.clone().all(|off| off <= tolerance),
        "{what}: {actual:?}, expected {expected:?}, off by {:?}",
        off.collect::<Vec<_>>()
    );
}

/// An elastic outcome that balances: energy, momentum, no penetration, no pulling.
#[track_caller]
pub fn assert_elastic(outcome: &ImpactOutcome) {
    assert_elastic_within(outcome, 1e-12);
}

/// Checks with a momentum residual of its own: impulses in a wedge of half opening gamma are
/// $1/\gamma$ times larger than the change of momentum that they add up to.
#[track_caller]
pub fn assert_elastic_within(outcome: &ImpactOutcome, momentum_residual: f64) {
    let audit = &outcome.audit;
    let change = audit.energy_change_j();
    assert!(
        change.abs() <= 1e-14 * audit.energy_minus_j,
        "energy changed by {change:e}"
    );
    assert!(audit.momentum_residual <= momentum_residual, "{audit:?}");
    assert!(audit.penetration_residual <= 2e-12, "{audit:?}");
    assert!(audit.adhesion_residual <= 1e-13, "{audit:?}");
}

/// Balls on a line, each touching the next, from left to right.
pub fn chain(masses: &[f64]) -> System {
    let n = masses.len();
    let pair = |i: usize| {
        let mut u = vec![0.0; n];
        (u[i], u[i + 1]) = (-1.0, 1.0);
        u
    };
    System::diagonal(masses, (0..n - 1).map(pair).collect())
}

/// The chain with a wall at the left, which is contact 0.
pub fn chain_at_wall(masses: &[f64]) -> System {
    let mut system = chain(masses);
    let mut wall = vec![0.0; masses.len()];
    wall[0] = 1.0;
    system.normals.insert(0, Covector::from_slice(&wall));
    system
}

/// Coordinates (x, y, rotation): a uniform block of mass 1 and half sides a, b that lies flat on
/// its left (contact 0) and right corner.
pub fn block(a: f64, b: f64) -> System {
    let inertia = (a * a + b * b) / 3.0;
    System::diagonal(
        &[1.0, 1.0, inertia],
        vec![vec![0.0, 1.0, -a], vec![0.0, 1.0, a]],
    )
}

/// The Euclidean plane with two unit normals of a given cosine, the first along x.
pub fn plane(cosine: f64) -> System {
    let sine = (1.0 - cosine * cosine).sqrt();
    System::diagonal(&[1.0, 1.0], vec![vec![1.0, 0.0], vec![cosine, sine]])
}

/// The Euclidean plane with a wedge of half opening gamma around the x axis; the first normal
/// points upwards.
pub fn wedge(gamma: f64) -> System {
    let (s, c) = gamma.sin_cos();
    System::diagonal(&[1.0, 1.0], vec![vec![s, c], vec![s, -c]])
}

/// Unit velocity at polar angle $\pi + s\gamma$: both contacts of [`wedge`] approach for |s| < 1.
pub fn into_wedge(gamma: f64, s: f64) -> [f64; 2] {
    [-(s * gamma).cos(), -(s * gamma).sin()]
}

/// Coordinates (height, turn about x, turn about y): a uniform plate of mass 1 and half sides a, b
/// on four legs at its corners.
pub fn plate(a: f64, b: f64) -> System {
    let legs = [(a, b), (a, -b), (-a, b), (-a, -b)];
    let normals = legs.iter().map(|&(x, y)| vec![1.0, y, -x]).collect();
    System::diagonal(&[1.0, b * b / 3.0, a * a / 3.0], normals)
}

/// Normal of two balls in the plane, coordinates (x, y) of each ball in turn.
fn pair_normal(n: usize, i: usize, j: usize, centers: &[[f64; 2]]) -> Vec<f64> {
    let d = [centers[j][0] - centers[i][0], centers[j][1] - centers[i][1]];
    let distance = d[0].hypot(d[1]);
    let mut u = vec![0.0; 2 * n];
    for k in 0..2 {
        u[2 * i + k] = -d[k] / distance;
        u[2 * j + k] = d[k] / distance;
    }
    u
}

/// A cue ball (ball 0, to the left) at the apex of a triangular rack of equal balls of radius 1;
/// contacts in lexicographic order of the pairs.
pub fn rack(rows: usize) -> System {
    let mut centers = vec![[0.0, 0.0]];
    for row in 0..rows {
        for k in 0..=row {
            centers.push([2.0 + row as f64 * 3f64.sqrt(), 2.0 * k as f64 - row as f64]);
        }
    }
    let n = centers.len();
    let mut normals = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let distance = (centers[i][0] - centers[j][0]).hypot(centers[i][1] - centers[j][1]);
            if (distance - 2.0).abs() < 1e-9 {
                normals.push(pair_normal(n, i, j, &centers));
            }
        }
    }
    System::diagonal(&vec![1.0; 2 * n], normals)
}

/// Velocity of a rack whose cue ball runs into it at speed 1.
pub fn cue(rack: &System) -> Vec<f64> {
    let mut velocity = vec![0.0; rack.metric.dim()];
    velocity[0] = 1.0;
    velocity
}

/// The billiard of Seghete & Murphey, Fig. 4, coordinates (x, y) of a, b, c: ball c touches a and
/// b under the angle theta, with the bisector along x; masses go with the cubes of the radii.
pub fn billiard(radii: [f64; 3], theta: f64) -> System {
    let [a, b, c] = radii;
    let at = |r: f64, angle: f64| [(r + c) * angle.cos(), (r + c) * angle.sin()];
    let centers = [at(a, 0.5 * theta), at(b, -0.5 * theta), [0.0, 0.0]];
    let masses: Vec<f64> = radii.iter().flat_map(|r| [r.powi(3); 2]).collect();
    let normals = vec![
        pair_normal(3, 2, 0, &centers),
        pair_normal(3, 2, 1, &centers),
    ];
    System::diagonal(&masses, normals)
}

/// A direction from the bisector at which ball c of [`billiard`] runs with speed 1.
pub fn shot(direction: f64) -> [f64; 6] {
    [0.0, 0.0, 0.0, 0.0, direction.cos(), direction.sin()]
}

/// Mass matrix from n × n entries in (-1, 1): positive definite with condition below about 100.
pub fn mass_from(n: usize, entries: &[f64]) -> DMatrix<f64> {
    let b = DMatrix::from_row_slice(n, n, &entries[..n * n]);
    &b * b.transpose() / n as f64 + DMatrix::identity(n, n) * 0.3
}
