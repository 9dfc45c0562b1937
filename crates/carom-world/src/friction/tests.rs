#![allow(clippy::unwrap_used)]

use super::*;
use crate::kick::Work;

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

/// A disk lies on more corners than are solved together. The corners carry its weight, and none penetrates.
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
        assert!(kick.velocity_of(c, &impulses).norm() <= 1e-12);
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
