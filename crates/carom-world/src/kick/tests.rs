#![allow(clippy::unwrap_used)]

use super::*;
use nalgebra::{Matrix3, Vector3};

/// Returns the velocity of contact `c` after `impulses` have acted (m/s; normal, then two tangents).
fn velocity_of(kick: &Kick<'_>, c: usize, impulses: &[f64]) -> Vector3<f64> {
    let rows = kick.velocity.len();
    Vector3::from_fn(|k, _| {
        let row = &kick.mobility[(3 * c + k) * rows..(3 * c + k + 1) * rows];
        let terms = row.iter().zip(impulses).map(|(w, x)| w * x);
        kick.velocity[3 * c + k] + terms.sum::<f64>()
    })
}

fn solve(block: &Matrix3<f64>, q: Vector3<f64>, mu: f64) -> (Vector3<f64>, Vector3<f64>) {
    let mobility: Vec<f64> = block.transpose().iter().copied().collect();
    let mut impulses = [0.0; 3];
    let kick = Kick {
        mobility: &mobility,
        velocity: q.as_slice(),
        friction: &[(mu, Friction::Coulomb)],
        noise: 0.0,
        work: &Work::default(),
    };
    assert!(kick.solve(&mut impulses));
    let impulse = Vector3::from(impulses);
    (impulse, q + block * impulse)
}

#[test]
fn friction_opposes_the_slip_that_is_left() {
    let block = Matrix3::new(2.0, 0.4, -0.3, 0.4, 3.0, 0.2, -0.3, 0.2, 2.5);
    let (impulse, after) = solve(&block, Vector3::new(-1.0, 0.5, 2.0), 0.3);
    let (t, u) = (
        Vector2::new(impulse.y, impulse.z),
        Vector2::new(after.y, after.z),
    );
    assert!(after.x.abs() <= 1e-15);
    assert!((t.norm() - 0.3 * impulse.x).abs() <= 1e-15);
    assert!(t.perp(&u).abs() <= 1e-14 && t.dot(&u) < 0.0);
}

/// Checks that a disk can rest on more contact points than the solver treats together: the points carry the weight of
/// the disk, and no point penetrates.
#[test]
fn many_corners_of_a_face_carry_a_disk() {
    const CORNERS: usize = 64;
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / CORNERS as f64;
        (angle.cos(), angle.sin())
    };
    // Rows of a disk of unit mass and radius with the height h of its center: normal, two tangents.
    let h = 0.2;
    let inertia = [0.25, 0.25, 0.5];
    let row = |i: usize| {
        let (x, y) = corner(i / 3);
        match i % 3 {
            0 => [0.0, 0.0, 1.0, y, -x, 0.0],
            1 => [1.0, 0.0, 0.0, 0.0, -h, -y],
            _ => [0.0, 1.0, 0.0, h, 0.0, x],
        }
    };
    let n = 3 * CORNERS;
    let weight = |k: usize| if k < 3 { 1.0 } else { 1.0 / inertia[k - 3] };
    let mobility: Vec<f64> = (0..n * n)
        .map(|at| {
            let (a, b) = (row(at / n), row(at % n));
            (0..6).map(|k| a[k] * weight(k) * b[k]).sum()
        })
        .collect();
    let twist = [0.01, -0.02, -1.0, 0.3, 0.1, 0.2];
    let velocity: Vec<f64> = (0..n)
        .map(|i| row(i).iter().zip(&twist).map(|(a, v)| a * v).sum())
        .collect();
    let kick = Kick {
        mobility: &mobility,
        velocity: &velocity,
        friction: &[(0.5, Friction::Coulomb); CORNERS],
        noise: 0.0,
        work: &Work::default(),
    };
    let mut impulses = vec![0.0; n];
    assert!(kick.solve(&mut impulses));
    let load: f64 = impulses.iter().step_by(3).sum();
    assert!((load - 1.0).abs() <= 1e-12);
    for c in 0..CORNERS {
        assert!(velocity_of(&kick, c, &impulses).norm() <= 1e-12);
        let t = impulses[3 * c + 1].hypot(impulses[3 * c + 2]);
        assert!(impulses[3 * c] >= 0.0 && t <= 0.5 * impulses[3 * c] + 1e-14);
    }
}

#[test]
fn a_contact_sticks_within_its_cone() {
    let block = Matrix3::new(2.0, 0.4, -0.3, 0.4, 3.0, 0.2, -0.3, 0.2, 2.5);
    let (impulse, after) = solve(&block, Vector3::new(-1.0, 0.1, 0.0), 0.9);
    assert!(after.norm() <= 1e-15 && impulse.x > 0.0);
}

const CORNERS: usize = 4;

/// Returns the mobility matrix of the contact rows at the corners of a plate of unit mass with the half lengths 1 and 0.5. Its
/// rank is six.
fn plate() -> Vec<f64> {
    let corners = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)];
    let height = 0.1;
    let row = |i: usize| {
        let (x, y) = corners[i / 3];
        match i % 3 {
            0 => [0.0, 0.0, 1.0, y, -x, 0.0],
            1 => [1.0, 0.0, 0.0, 0.0, -height, -y],
            _ => [0.0, 1.0, 0.0, height, 0.0, x],
        }
    };
    let n = 3 * CORNERS;
    let weight = [1.0, 1.0, 1.0, 12.0, 3.0, 2.4];
    (0..n * n)
        .map(|at| {
            let (a, b) = (row(at / n), row(at % n));
            (0..6).map(|k| a[k] * weight[k] * b[k]).sum()
        })
        .collect()
}

/// Returns the velocities of all contact rows of the plate after impulses on its rows; `momentum` contains one impulse per row.
fn moving(mobility: &[f64], momentum: &[f64]) -> Vec<f64> {
    let rows = mobility.chunks_exact(3 * CORNERS);
    let row = |row: &[f64]| row.iter().zip(momentum).map(|(w, x)| w * x).sum();
    rows.map(row).collect()
}

fn at_corners(
    mobility: &[f64],
    velocity: &[f64],
    friction: [(f64, Friction); CORNERS],
    impulses: &mut [f64],
) -> [Vector3<f64>; CORNERS] {
    let kick = Kick {
        mobility,
        velocity,
        friction: &friction,
        noise: 0.0,
        work: &Work::default(),
    };
    assert!(kick.solve(impulses));
    std::array::from_fn(|c| velocity_of(&kick, c, impulses))
}

/// Checks that the load of a plate on four corners is divided as in the initial guess of the impulses. The solver makes
/// the smallest change to this guess.
#[test]
fn corners_that_share_a_load_keep_their_shares() {
    let mobility = plate();
    let shares = [0.3, 0.2, 0.1, 0.2];
    let load: Vec<f64> = shares.iter().flat_map(|n| [*n, 0.0, 0.0]).collect();
    let velocity = moving(&mobility, &load.iter().map(|x| -x).collect::<Vec<f64>>());
    let mut impulses = load.clone();
    let after = at_corners(
        &mobility,
        &velocity,
        [(2.0, Friction::Coulomb); 4],
        &mut impulses,
    );
    assert!(after.iter().all(|w| w.norm() <= 1e-14));
    for (a, b) in impulses.iter().zip(&load) {
        assert!((a - b).abs() <= 1e-13, "{impulses:?}");
    }
}

/// Checks that rounding errors in the contact velocities of a plate do not cause large impulses. The corners of a plate
/// can have only the velocities of a rigid motion. The part of the rounding errors that no rigid motion explains must
/// not make the corners push against each other.
#[test]
fn rounding_between_contacts_that_share_a_load_does_not_grow() {
    let mobility = plate();
    let load = [0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0];
    let mut velocity = moving(&mobility, &load.map(|x| -x));
    let solve = |velocity: &[f64]| {
        let mut impulses = load.to_vec();
        at_corners(
            &mobility,
            velocity,
            [(2.0, Friction::Coulomb); 4],
            &mut impulses,
        );
        impulses
    };
    let clean = solve(&velocity);
    // Two opposite corners rise and the two others sink: no rigid motion does this.
    for (c, sign) in [1.0, -1.0, -1.0, 1.0].into_iter().enumerate() {
        velocity[3 * c] += sign * 1e-13;
    }
    for (a, b) in clean.iter().zip(solve(&velocity)) {
        assert!((a - b).abs() <= 1e-12, "{a} {b}");
    }
}

#[test]
fn a_plate_that_is_struck_on_one_side_tips_and_slides() {
    let mobility = plate();
    // Pushed down at one end, up at the other, and along.
    let velocity = moving(
        &mobility,
        &[-0.5, 0.1, 0.0, -0.5, 0.1, 0.0, 0.3, 0.1, 0.0, 0.3, 0.1, 0.0],
    );
    let mut impulses = vec![0.0; 3 * CORNERS];
    let after = at_corners(
        &mobility,
        &velocity,
        [(0.05, Friction::Coulomb); 4],
        &mut impulses,
    );
    for (c, w) in after.iter().enumerate() {
        let [n, s, t] = [0, 1, 2].map(|k| impulses[3 * c + k]);
        assert!(n >= 0.0 && w.x >= -1e-12 && n * w.x <= 1e-12);
        assert!(s.hypot(t) <= 0.05 * n + 1e-13);
        if n > 0.0 && w.y.hypot(w.z) > 1e-9 {
            // Friction has its maximum and opposes the slip.
            assert!((s * w.y + t * w.z + 0.05 * n * w.y.hypot(w.z)).abs() <= 1e-11);
        }
    }
    assert!(impulses[0] > 0.0 && impulses[6] == 0.0, "{impulses:?}");
}

/// Checks that the friction of contacts with a prescribed slip direction is opposite to this direction, although two of
/// the contacts would otherwise stick.
#[test]
fn a_prescribed_slip_directs_the_friction_of_a_plate() {
    let mobility = plate();
    let load = [0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0];
    let velocity = moving(&mobility, &load.map(|x| -x));
    let slip = Vector2::new(0.6, 0.8);
    let mut friction = [(0.3, Friction::Against(slip)); CORNERS];
    friction[3].1 = Friction::Coulomb;
    let mut impulses = vec![0.0; 3 * CORNERS];
    let after = at_corners(&mobility, &velocity, friction, &mut impulses);
    for (c, w) in after.iter().enumerate().take(3) {
        let t = Vector2::new(impulses[3 * c + 1], impulses[3 * c + 2]);
        assert!((t + slip * (0.3 * impulses[3 * c])).norm() <= 1e-14);
        assert!(w.x >= -1e-14 && impulses[3 * c] * w.x <= 1e-14);
    }
}
