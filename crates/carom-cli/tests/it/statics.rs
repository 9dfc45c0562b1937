//! Loads that contacts balance come to rest, and nothing else does: slopes, arches, and random problems with a known balance.

use crate::common::{answers, carom};
use carom::impact::frictional::CounterRng;
use serde_json::{Value, json};

type Vector = Vec<f64>;

/// Contact rows on bodies: normal, then tangents, with a friction coefficient.
struct Touch {
    rows: Vec<Vector>,
    friction: f64,
}

/// Problem of `anitescu-potra`.
struct Scene {
    mass: Vec<Vector>,
    velocity: Vector,
    contacts: Vec<Touch>,
}

impl Scene {
    fn line(&self) -> Value {
        let contact = |touch: &Touch| json!({"normal": touch.rows[0], "tangents": touch.rows[1..], "friction": touch.friction});
        json!({
            "law": "anitescu-potra", "mass_matrix": self.mass, "velocity": self.velocity,
            "contacts": self.contacts.iter().map(contact).collect::<Vec<_>>(),
        })
    }
}

fn diagonal(masses: &[f64]) -> Vec<Vector> {
    let n = masses.len();
    let row = |i: usize| (0..n).map(move |j| if i == j { masses[i] } else { 0.0 });
    (0..n).map(|i| row(i).collect()).collect()
}

fn resolved(scenes: &[Scene]) -> Vec<Value> {
    let lines: Vec<String> = scenes.iter().map(|s| s.line().to_string()).collect();
    answers(&carom(&["resolve"], &lines.join("\n")))
}

/// Kinetic speed after the impact, relative to that before.
fn left(answer: &Value) -> f64 {
    let energy = |key: &str| {
        answer[key]
            .as_f64()
            .unwrap_or_else(|| panic!("no {key}: {answer}"))
    };
    (energy("energy_plus_j") / energy("energy_minus_j")).sqrt()
}

/// Rows of a contact in the plane along two directions. `sides`: body, sign, and the arm from its center of mass.
fn planar(n: usize, sides: &[(usize, f64, [f64; 2])], axes: [[f64; 2]; 2]) -> Vec<Vector> {
    let row = |d: [f64; 2]| {
        let mut row = vec![0.0; 3 * n];
        for (body, sign, arm) in sides {
            row[3 * body] += sign * d[0];
            row[3 * body + 1] += sign * d[1];
            row[3 * body + 2] += sign * (arm[0] * d[1] - arm[1] * d[0]);
        }
        row
    };
    axes.map(row).to_vec()
}

/// Rows of a contact of one body in space, whose arm starts at its center of mass.
fn spatial(arm: [f64; 3], axes: [[f64; 3]; 3]) -> Vec<Vector> {
    let [x, y, z] = arm;
    let row = |[a, b, c]: [f64; 3]| vec![a, b, c, y * c - z * b, z * a - x * c, x * b - y * a];
    axes.map(row).to_vec()
}

/// A box on a slope, whose weight asks for the fraction `share` of its friction, in the plane or in space.
fn slope(angle: f64, share: f64, in_space: bool) -> Scene {
    let (sine, cosine) = angle.sin_cos();
    let friction = sine / cosine / share;
    if in_space {
        let axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let corner = |k: i32| {
            let (x, y) = (f64::from(k % 2) - 0.5, f64::from(k / 2) - 0.5);
            Touch {
                rows: spatial([x, y, -0.3], axes),
                friction,
            }
        };
        return Scene {
            mass: diagonal(&[2.0, 2.0, 2.0, 0.3, 0.2, 0.4]),
            velocity: vec![sine, 0.0, -cosine, 0.0, 0.0, 0.0],
            contacts: (0..4).map(corner).collect(),
        };
    }
    let corner = |x: f64| Touch {
        rows: planar(1, &[(0, 1.0, [x, -0.3])], [[0.0, 1.0], [1.0, 0.0]]),
        friction,
    };
    Scene {
        mass: diagonal(&[2.0, 2.0, 0.3]),
        velocity: vec![sine, -cosine, 0.0],
        contacts: vec![corner(-0.5), corner(0.5)],
    }
}

/// Friction above which an arch stands whose radii are as 1 to 1.3: a linear program of its blocks' statics.
const ARCH: f64 = 0.308_988_4;

/// A semicircular arch of blocks under the impulse of their weight, each joint with its inner and its outer edge.
fn arch(n: usize, friction: f64) -> Scene {
    let angle = std::f64::consts::PI / n as f64;
    let at = |radius: f64, joint: usize| {
        let (sine, cosine) = (angle * joint as f64).sin_cos();
        [radius * cosine, radius * sine]
    };
    let (mut centers, mut masses) = (Vec::new(), Vec::new());
    for k in 0..n {
        let corners = [at(1.0, k), at(1.3, k), at(1.3, k + 1), at(1.0, k + 1)];
        let (mut area, mut center) = (0.0, [0.0; 2]);
        for i in 0..4 {
            let ([x, y], [u, v]) = (corners[i], corners[(i + 1) % 4]);
            let cross = x * v - u * y;
            area += cross / 2.0;
            center = [
                center[0] + (x + u) * cross / 6.0,
                center[1] + (y + v) * cross / 6.0,
            ];
        }
        centers.push(center.map(|x| x / area));
        masses.extend([1000.0 * area, 1000.0 * area, 30.0 * area]);
    }
    let mut contacts = Vec::new();
    for joint in 0..=n {
        let [x, y] = at(1.0, joint);
        for radius in [1.0, 1.3] {
            let point = at(radius, joint);
            let side = |body: usize, sign: f64| {
                let center = centers[body];
                (body, sign, [point[0] - center[0], point[1] - center[1]])
            };
            let above = (joint < n).then(|| side(joint, 1.0));
            let below = joint.checked_sub(1).map(|body| side(body, -1.0));
            let sides: Vec<_> = above.into_iter().chain(below).collect();
            contacts.push(Touch {
                rows: planar(n, &sides, [[-y, x], [x, y]]),
                friction,
            });
        }
    }
    Scene {
        mass: diagonal(&masses),
        velocity: (0..3 * n)
            .map(|i| if i % 3 == 1 { -0.01 } else { 0.0 })
            .collect(),
        contacts,
    }
}

/// Random full rows on a random mass matrix, with a velocity whose momentum impulses at up to nine tenths of the cones balance.
/// Every third problem tells a contact twice.
fn balanced(seed: u64) -> Scene {
    let mut rng = CounterRng::new(62, seed, 0);
    let mut number = || 2.0 * rng.next_uniform() - 1.0;
    let (n, m, width) = (
        2 + seed as usize % 4,
        2 + seed as usize % 3,
        2 + seed as usize % 2,
    );
    let mut vector = |n: usize| (0..n).map(|_| number()).collect::<Vector>();
    let friction = 1.0 + 0.9 * vector(1)[0];
    let mut contacts: Vec<Touch> = (0..m)
        .map(|_| Touch {
            rows: (0..width).map(|_| vector(n)).collect(),
            friction,
        })
        .collect();
    if seed.is_multiple_of(3) {
        let rows = contacts[0].rows.clone();
        contacts.push(Touch { rows, friction });
    }
    let mut momentum = vec![0.0; n];
    for touch in &contacts {
        let push = 1.0 + vector(1)[0];
        let turn = 7.0 * vector(1)[0];
        let drag = 0.9 * friction * push;
        let parts = match width {
            2 => [push, drag * turn.cos(), 0.0],
            _ => [push, drag * turn.cos(), drag * turn.sin()],
        };
        for (row, part) in touch.rows.iter().zip(parts) {
            momentum
                .iter_mut()
                .zip(row)
                .for_each(|(p, x)| *p += part * x);
        }
    }
    // M = D + a a', so that the momentum is divided by it in closed form.
    let (a, masses) = (vector(n), vector(n));
    let masses: Vector = masses.iter().map(|x| 1.5 + x).collect();
    let mut mass = diagonal(&masses);
    for i in 0..n {
        for j in 0..n {
            mass[i][j] += a[i] * a[j];
        }
    }
    let over = |x: &[f64]| -> Vector { x.iter().zip(&masses).map(|(x, m)| x / m).collect() };
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let share = dot(&a, &over(&momentum)) / (1.0 + dot(&a, &over(&a)));
    let velocity = over(&momentum).into_iter().zip(over(&a));
    let velocity = velocity.map(|(p, a)| share * a - p).collect();
    Scene {
        mass,
        velocity,
        contacts,
    }
}

#[test]
fn slopes_hold_up_to_their_friction() {
    let (mut scenes, mut moves) = (Vec::new(), Vec::new());
    for in_space in [false, true] {
        for angle in [0.05, 0.3, 0.6, 0.9] {
            scenes.push(slope(angle, 0.999, in_space));
            scenes.push(slope(angle, 1.001, in_space));
            moves.extend([0.0, angle.sin() * (1.0 - 1.0 / 1.001)]);
        }
    }
    for (answer, slides) in resolved(&scenes).iter().zip(moves) {
        let speed = answer["velocity_plus"][0].as_f64().unwrap();
        assert!((speed - slides).abs() <= 1e-9, "{answer}");
        assert_eq!(left(answer) <= 1e-9, slides == 0.0, "{answer}");
    }
}

#[test]
fn arches_stand_above_their_threshold_and_slide_below() {
    for n in [9, 15] {
        let scenes = [1.02, 1.001, 0.999, 0.97].map(|share| arch(n, share * ARCH));
        let left: Vec<f64> = resolved(&scenes).iter().map(left).collect();
        assert!(left[0] <= 1e-9 && left[1] <= 1e-9, "{n}: {left:?}");
        assert!(left[2] > 1e-4 && left[3] > 1e-2, "{n}: {left:?}");
    }
}

/// Balanced loads rest, also with their contacts in reverse order. Other velocities lead to the same motion in both orders.
#[test]
fn random_balances_rest_in_any_order_of_contacts() {
    let mut scenes: Vec<Scene> = (0..150).map(balanced).collect();
    for (k, scene) in scenes.iter_mut().enumerate().skip(100) {
        scene.velocity[0] += 0.3 + 0.01 * k as f64;
    }
    let given = resolved(&scenes);
    scenes.iter_mut().for_each(|scene| scene.contacts.reverse());
    let reversed = resolved(&scenes);
    for (k, (one, other)) in given.iter().zip(&reversed).enumerate() {
        if k < 100 {
            assert!(left(one) <= 1e-9 && left(other) <= 1e-9, "{k}");
        }
        for (i, speed) in scenes[k].velocity.iter().enumerate() {
            let [a, b] = [one, other].map(|answer| answer["velocity_plus"][i].as_f64().unwrap());
            assert!((a - b).abs() <= 1e-7 * (1.0 + speed.abs()), "{k}");
        }
    }
}

/// One contact, a box flat on four corners, and one that turns while it slides.
#[test]
fn ranks_tell_what_is_unique() {
    let mut one = slope(0.3, 2.0, true);
    one.contacts.truncate(1);
    let flat = slope(0.3, 2.0, true);
    let mut turning = slope(0.3, 2.0, true);
    turning.velocity = vec![1.4, 0.7, -0.5, 0.1, -0.2, 2.0];
    let told = resolved(&[one, flat, turning]);
    let ranks: Vec<&Value> = told.iter().map(|a| &a["diagnostics"]["rank"]).collect();
    assert_eq!(ranks, ["unique", "shared-impulses", "family"]);
    assert!(told[2]["diagnostics"]["family"].as_u64().unwrap() >= 1);
    assert_eq!(told[2]["warnings"], json!(["not-unique"]));
}
