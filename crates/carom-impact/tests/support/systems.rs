//! Systems of Halm & Posa, Section 5, as matrices.

use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector, dmatrix};

/// A system at the instant of its impact.
#[derive(Clone, Debug)]
pub struct System {
    pub metric: KineticMetric,
    pub contacts: Vec<Contact>,
    pub velocity: Vec<f64>,
    /// The impulse step of the paper, N·s.
    pub impulse_step: f64,
    /// The step limit of the paper.
    pub max_steps: usize,
}

pub fn contact(normal: &[f64], tangents: &[&[f64]], friction: f64) -> Contact {
    Contact::new(Covector::from_slice(normal))
        .with_tangents(
            tangents
                .iter()
                .map(|t| Covector::from_slice(t))
                .collect::<Vec<_>>(),
        )
        .with_friction(friction)
}

impl System {
    pub fn new(mass: DMatrix<f64>, contacts: Vec<Contact>, velocity: &[f64]) -> Self {
        Self {
            metric: KineticMetric::new(mass).unwrap(),
            contacts,
            velocity: velocity.to_vec(),
            impulse_step: 1.0,
            max_steps: 100,
        }
    }

    fn with_paper(self, impulse_step: f64, max_steps: usize) -> Self {
        Self {
            impulse_step,
            max_steps,
            ..self
        }
    }

    /// Runs `f` on the impact of a velocity.
    pub fn pose_at<T>(&self, velocity: &[f64], f: impl FnOnce(&ImpactProblem) -> T) -> T {
        let contacts = ContactSet::new(&self.metric, self.contacts.clone()).unwrap();
        f(&ImpactProblem::new(&contacts, Tangent::from_slice(velocity)).unwrap())
    }

    pub fn pose<T>(&self, f: impl FnOnce(&ImpactProblem) -> T) -> T {
        self.pose_at(&self.velocity, f)
    }

    /// Velocities of all rows, normal and tangents of each contact.
    pub fn contact_velocity(&self, velocity: &Tangent) -> Vec<f64> {
        let rows = self.contacts.iter().flat_map(|c| {
            std::iter::once(c.normal.0.dot(&velocity.0))
                .chain(c.tangents.iter().map(|t| t.0.dot(&velocity.0)))
        });
        rows.collect()
    }
}

/// Table 4: a block of 1 m x 2 m, dropped flat by 10 mm; A left, B right.
pub fn rocking_block() -> System {
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 5.0 / 12.0]));
    let t = [1.0, 0.0, 1.0];
    let contacts = vec![
        contact(&[0.0, 1.0, -0.5], &[&t], 1.0),
        contact(&[0.0, 1.0, 0.5], &[&t], 1.0),
    ];
    let speed = (2.0f64 * 9.81 * 0.01).sqrt();
    System::new(mass, contacts, &[0.0, -speed, 0.0]).with_paper(0.3, 10)
}

/// Table 5: two massless legs of 1 m with point masses of 1 kg in their middles.
pub fn compass_gait() -> System {
    let (s, c) = 78f64.to_radians().sin_cos();
    let (half_c, half_s) = (0.5 * c, 0.5 * s);
    let mass = dmatrix![
        2.0, 0.0, half_c, half_c;
        0.0, 2.0, -half_s, half_s;
        half_c, -half_s, 0.25, 0.0;
        half_c, half_s, 0.0, 0.25];
    let contacts = vec![
        contact(&[0.0, 1.0, -s, 0.0], &[&[1.0, 0.0, c, 0.0]], 5.0),
        contact(&[0.0, 1.0, 0.0, s], &[&[1.0, 0.0, 0.0, c]], 5.0),
    ];
    // The trailing foot is at rest.
    let v = [-0.25 * c, -0.25 * s, 0.25, 0.25];
    System::new(mass, contacts, &v).with_paper(0.25, 5)
}

/// Table 6: a box sliding on the floor into a wall; A on the floor, B at the wall.
pub fn box_and_wall() -> System {
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 1.0 / 6.0]));
    let half = 0.5f64.sqrt();
    // Lowest vertex and wall vertex relative to the center: half diagonals at -55 and 35 degrees.
    let at = |degrees: f64| {
        (
            half * degrees.to_radians().cos(),
            half * degrees.to_radians().sin(),
        )
    };
    let ((ax, ay), (bx, by)) = (at(-55.0), at(35.0));
    let contacts = vec![
        contact(&[0.0, 1.0, ax], &[&[1.0, 0.0, -ay]], 1.0),
        contact(&[-1.0, 0.0, by], &[&[0.0, 1.0, bx]], 1.0),
    ];
    System::new(mass, contacts, &[1.0, 0.0, 0.0]).with_paper(2.0, 5)
}

/// Table 8: a disk falls onto two disks that rest on the floor side by side.
pub fn disk_stack(mass: f64) -> System {
    let inertia = 0.5 * mass;
    let diagonal = [mass, mass, inertia].repeat(3);
    let lean = 3f64.sqrt() / 2.0;
    // Bodies: top, left, right. Normals point from the first body to the second.
    let floor = |body: usize| {
        let (mut n, mut t) = (vec![0.0; 9], vec![0.0; 9]);
        n[3 * body + 1] = 1.0;
        t[3 * body] = 1.0;
        t[3 * body + 2] = 1.0;
        contact(&n, &[&t], 3f64.sqrt())
    };
    let pair = |first: usize, second: usize, nx: f64, ny: f64| {
        let (tx, ty) = (ny, -nx);
        let (mut n, mut t) = (vec![0.0; 9], vec![0.0; 9]);
        for (body, sign) in [(first, -1.0), (second, 1.0)] {
            n[3 * body] = sign * nx;
            n[3 * body + 1] = sign * ny;
            t[3 * body] = sign * tx;
            t[3 * body + 1] = sign * ty;
        }
        // The contact point lies one radius along the normal, so t . (omega x r) is -omega for
        // the first body and +omega for the second, before the sign of the difference.
        t[3 * first + 2] = 1.0;
        t[3 * second + 2] = 1.0;
        contact(&n, &[&t], 3f64.sqrt())
    };
    let contacts = vec![
        floor(1),
        floor(2),
        pair(1, 0, 0.5, lean),
        pair(2, 0, -0.5, lean),
        pair(1, 2, 1.0, 0.0),
    ];
    let mut v = [0.0; 9];
    v[1] = -1.0;
    let mass = DMatrix::from_diagonal(&DVector::from_vec(diagonal));
    System::new(mass, contacts, &v).with_paper(1.0, 10)
}

/// Fails for NaN and for different lengths.
#[track_caller]
pub fn assert_all_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= tolerance,
            "{what}, entry {i}: {a:e}, expected {e:e}"
        );
    }
}
