//! Heaps of many bodies.

use super::scene::{Scene, upright};
use crate::common::Stream;
use nalgebra::{DVector, Matrix3, Vector3};

/// Names of the kinds of random heaps of bodies that [`heap`] creates.
pub const HEAPS: [&str; 5] = ["balls", "stack", "jam", "wall of boxes", "mixed masses"];

/// Creates a random heap of bodies of the given kind (one of [`HEAPS`]) with about `n` contacts.
pub fn heap(kind: &str, n: usize, seed: u64) -> Scene {
    let mut stream = Stream(seed);
    let s = &mut stream;
    match kind {
        "stack" => stack(s, n.div_ceil(4)),
        "jam" => jam(s, n),
        "wall of boxes" => wall(s, n),
        "mixed masses" => balls(s, n, 1.5),
        _ => balls(s, n, 0.2),
    }
}

/// A frame whose third axis is the normal.
fn frame_of(normal: Vector3<f64>) -> Matrix3<f64> {
    let other = if normal.x.abs() < 0.6 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    let first = normal.cross(&other).normalize();
    let second = normal.cross(&first);
    Matrix3::from_columns(&[first, second, normal])
}

/// Balls on a jittered grid: neighbors touch, and so do the walls and the floor.
fn balls(s: &mut Stream, n: usize, spread: f64) -> Scene {
    let mut scene = Scene::default();
    let side = (((n as f64) / 2.6).cbrt().ceil() as usize).max(1);
    let friction = s.uniform(0.0, 1.0);
    let mut centers = Vec::new();
    for k in 0..side {
        for j in 0..side {
            for i in 0..side {
                let jitter = [0.0; 3].map(|_: f64| s.uniform(-0.1, 0.1));
                let center = Vector3::new(i as f64, j as f64, k as f64) + Vector3::from(jitter);
                let mass = (spread * s.normal()).exp();
                // A ball: 2/5 r^2 with r = 1/2.
                let half = (0.4f64 * 0.25 * 1.5).sqrt();
                scene.body(mass, [half; 3]);
                centers.push(center);
            }
        }
    }
    let count = |scene: &Scene| scene.friction.len();
    for a in 0..centers.len() {
        for (axis, x) in centers[a].iter().enumerate() {
            if *x < 0.2 && count(&scene) < n {
                let normal = Vector3::ith(axis, 1.0);
                let offset: Vector3<f64> = -0.5 * normal;
                scene.contact((a, offset.into()), None, frame_of(normal), friction);
            }
        }
        for b in 0..a {
            let gap = centers[a] - centers[b];
            if gap.norm() < 1.12 && count(&scene) < n {
                let normal = gap.normalize();
                let (first, second): (Vector3<f64>, Vector3<f64>) = (-0.5 * normal, 0.5 * normal);
                let second = Some((b, second.into()));
                scene.contact((a, first.into()), second, frame_of(normal), friction);
            }
        }
    }
    fall(&mut scene, s);
    scene
}

/// Boxes on top of each other, four corners each.
fn stack(s: &mut Stream, n_boxes: usize) -> Scene {
    let mut scene = Scene::default();
    let half = [0.5, 0.4, 0.3];
    for i in 0..n_boxes.max(1) {
        let body = scene.body(s.uniform(0.5, 2.0), half);
        let friction = s.uniform(0.1, 1.0);
        for (x, y) in [(-0.5, -0.4), (0.5, -0.4), (-0.5, 0.4), (0.5, 0.4)] {
            let below = (i > 0).then(|| (body - 1, [x, y, 0.3]));
            scene.contact((body, [x, y, -0.3]), below, upright(), friction);
        }
    }
    fall(&mut scene, s);
    scene
}

/// Creates a tower of five boxes whose middle box is struck by a heavy ball from the side, at a height above or
/// below its center, and taken along upwards. The other boxes are at rest up to velocities of the size
/// `rounding`.
pub fn struck_tower(seed: u64, height: f64, rounding: f64) -> Scene {
    let mut stream = Stream(seed);
    let mut scene = stack(&mut stream, 5);
    let ball = scene.body(20.0, [0.3; 3]);
    let side = frame_of(Vector3::x());
    scene.contact(
        (2, [-0.5, 0.0, height]),
        Some((ball, [0.3, 0.0, 0.0])),
        side,
        0.5,
    );
    scene.velocity = DVector::from_fn(6 * scene.n_bodies(), |_, _| rounding * stream.normal());
    (scene.velocity[6 * ball], scene.velocity[6 * ball + 2]) = (6.0, 6.0);
    scene
}

/// Rows of balls between two walls: their contacts oppose each other.
fn jam(s: &mut Stream, n: usize) -> Scene {
    let mut scene = Scene::default();
    let friction = s.uniform(0.0, 0.8);
    let (side, up) = (frame_of(Vector3::x()), upright());
    while scene.friction.len() < n {
        let first = scene.body(s.uniform(0.5, 2.0), [0.4; 3]);
        let length = 1 + s.below(4);
        let left = [-0.5, 0.0, 0.0];
        scene.contact((first, left), None, side, friction);
        let mut last = first;
        for _ in 1..length {
            let next = scene.body(s.uniform(0.5, 2.0), [0.4; 3]);
            scene.contact((next, left), Some((last, [0.5, 0.0, 0.0])), side, friction);
            last = next;
        }
        scene.contact(
            (last, [0.5, 0.0, 0.0]),
            None,
            frame_of(-Vector3::x()),
            friction,
        );
        if s.below(2) == 0 {
            scene.contact((first, [0.0, 0.0, -0.5]), None, up, friction);
        }
    }
    fall(&mut scene, s);
    scene
}

/// Boxes in courses, each on two of the course below.
fn wall(s: &mut Stream, n: usize) -> Scene {
    let mut scene = Scene::default();
    let friction = s.uniform(0.2, 1.0);
    let width = 1 + n / 16;
    let mut below: Vec<usize> = Vec::new();
    while scene.friction.len() < n {
        let mut course = Vec::new();
        for i in 0..width {
            let body = scene.body(s.uniform(0.8, 1.2), [0.5, 0.3, 0.3]);
            for (x, side) in [(-0.5, 0), (0.5, 1)] {
                for y in [-0.3, 0.3] {
                    let under = below.get(i + side).or(below.get(i));
                    let under = under.map(|b| (*b, [-x, y, 0.3]));
                    scene.contact((body, [x, y, -0.3]), under, upright(), friction);
                }
            }
            course.push(body);
        }
        below = course;
    }
    fall(&mut scene, s);
    scene
}

/// Velocities that are downwards in the mean.
fn fall(scene: &mut Scene, s: &mut Stream) {
    let quiet = if s.below(3) == 0 { 1e-3 } else { 1.0 };
    let n = 6 * scene.n_bodies();
    let noise = (0..n).map(|i| quiet * s.normal() - if i % 6 == 2 { 1.0 } else { 0.0 });
    scene.velocity = DVector::from_vec(noise.collect());
}
