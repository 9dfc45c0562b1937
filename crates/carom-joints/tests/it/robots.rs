//! Bodies and joints for tests.

use carom_geometry::MassProperties;
use carom_joints::kinds::{Axes, KINDS, Kind};
use carom_joints::lie::{Se3, So3};
use carom_joints::nalgebra::{Matrix3, Vector3};
use carom_joints::step::{Modes, Stepper};
use carom_joints::variational::RigidBody;
use carom_joints::{JointSpec, Multibody, MultibodySpec, Placed, Posture};

/// Generator of pseudo-random numbers in (−1, 1) from a seed, by a linear congruence.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }

    pub fn rotation(&mut self) -> So3 {
        So3::exp(&(self.vector() * 3.0))
    }
}

pub fn rigid(mass: f64, moments: [f64; 3]) -> RigidBody {
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    RigidBody::new(&MassProperties::new(mass, inertia).unwrap())
}

pub fn joint(name: &str, kind: &str, parent: Option<usize>, child: usize) -> JointSpec {
    let kind = Kind::named(kind).unwrap();
    let mut spec = JointSpec::new(name, kind, parent, child);
    spec.length = (kind.name == "distance").then_some(0.4);
    spec
}

pub fn spec(bodies: Vec<RigidBody>, joints: Vec<JointSpec>) -> MultibodySpec {
    let named = |(i, body): (usize, RigidBody)| (format!("body{i}"), Some(body));
    MultibodySpec::new(
        bodies.into_iter().enumerate().map(named).collect(),
        joints,
        Vector3::new(0.0, 0.0, -9.80665),
        false,
    )
}

pub fn unplaced() -> Placed {
    Placed::default()
}

pub fn at(position: Vector3<f64>, rotation: So3) -> Placed {
    unplaced().with_configuration(Some(Se3::new(rotation, position)))
}

/// Computes `n` time steps of `length` (s) from a state, and calls `look` with the index and the result of each step. Returns
/// the last state.
pub fn run(
    multibody: &Multibody,
    start: &Posture,
    length: f64,
    n: usize,
    mut look: impl FnMut(usize, &carom_joints::step::Step),
) -> Posture {
    let mut stepper = Stepper::new(multibody);
    let modes = Modes::free(multibody);
    let mut posture = start.clone();
    for k in 0..n {
        let step = stepper
            .step(&posture, k as f64 * length, length, &modes)
            .unwrap();
        look(k, &step);
        posture = step.end;
    }
    posture
}

/// Creates a floating tree of bodies with one joint of every type that connects bodies, and its initial state. `exact`
/// selects the exact solution of free flight instead of the variational integrator.
pub fn menagerie(exact: bool) -> (Multibody, Posture) {
    let mut numbers = Numbers(3);
    let kinds: Vec<&str> = KINDS
        .iter()
        .map(|k| k.name)
        .filter(|k| *k != "free")
        .collect();
    let mut bodies = vec![rigid(2.0, [0.11, 0.13, 0.17])];
    let mut joints = Vec::new();
    let mut placed = vec![at(
        Vector3::new(0.1, -0.2, 0.3),
        So3::exp(&Vector3::new(0.3, 0.2, 0.1)),
    )];
    placed[0].angular_velocity = Vector3::new(0.5, -1.0, 0.8);
    for (i, kind) in kinds.iter().enumerate() {
        bodies.push(rigid(
            0.5 + 0.1 * i as f64,
            [0.011, 0.013 + 0.001 * i as f64, 0.016],
        ));
        let mut one = joint(kind, kind, Some(i / 2), i + 1);
        one.parent_frame.position = numbers.vector() * 0.3;
        one.parent_frame.axes = numbers.rotation().matrix();
        one.child_frame.position = numbers.vector() * 0.2;
        if matches!(one.kind.axes, Axes::Oblique(_)) {
            let axes = [[1.0, 0.2, 0.0], [0.3, 1.0, 0.4], [0.0, -0.3, 1.0]];
            one.axes = axes.map(Vector3::from)[..one.kind.axes.count()].to_vec();
        }
        if one.kind.has_anchors() {
            one.anchors = one.axes.iter().map(|_| numbers.vector() * 0.1).collect();
        }
        for c in &mut one.coordinates {
            c.position = Some(0.4 * numbers.next());
            c.velocity = Some(numbers.next());
            c.stiffness = 1.5;
            c.rest = 0.1;
        }
        if *kind == "spherical" {
            one.ball.velocity = Some(numbers.vector());
        }
        placed.push(unplaced());
        if *kind == "distance" {
            // A body at the rod's end, at rest against what carries it.
            let mut carried = spec(bodies[..=i].to_vec(), joints.clone());
            carried.exact = exact;
            let multibody = Multibody::new(&carried).unwrap();
            let (posture, _) = multibody.assemble(&placed[..=i]).unwrap();
            let parent = posture.states[i / 2];
            let end = parent.position
                + parent
                    .rotation
                    .rotate(&(one.parent_frame.position + Vector3::new(0.0, 0.4, 0.0)));
            let child = at(end - one.child_frame.position, So3::identity());
            placed[i + 1] = child;
            let spin = parent.rotation.rotate(
                &multibody
                    .rigid(i / 2)
                    .unwrap()
                    .angular_velocity(&parent.angular_momentum),
            );
            let velocity = parent.linear_momentum / multibody.rigid(i / 2).unwrap().mass();
            let center = placed[i + 1].configuration.unwrap().translation;
            placed[i + 1].velocity = velocity + spin.cross(&(center - parent.position));
            placed[i + 1].angular_velocity = spin;
        }
        joints.push(one);
    }
    let mut spec = spec(bodies, joints);
    spec.exact = exact;
    let multibody = Multibody::new(&spec).unwrap();
    let (posture, _) = multibody.assemble(&placed).unwrap();
    (multibody, posture)
}

pub fn positions(posture: &Posture) -> Vec<f64> {
    posture
        .states
        .iter()
        .flat_map(|s| s.position.iter().copied().collect::<Vec<_>>())
        .collect()
}

pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// Creates a four-bar linkage in a tilted plane, of three mobile bars and the ground as the fourth, and its initial state.
pub fn four_bar() -> (Multibody, Posture) {
    let tilt = So3::exp(&Vector3::new(0.4, 0.7, -0.2));
    let corners = [[0.0, 0.0], [0.1, 0.3], [0.55, 0.4], [0.5, 0.0]]
        .map(|[x, y]| tilt.rotate(&Vector3::new(x, y, 0.0)));
    let normal = tilt.rotate(&Vector3::z());
    let center = |i: usize| (corners[i] + corners[i + 1]) * 0.5;
    let bodies = (0..3)
        .map(|i| rigid(0.5 + 0.2 * f64::from(i), [0.01, 0.012, 0.015]))
        .collect();
    let mut joints = Vec::new();
    for (i, corner) in corners.iter().enumerate() {
        let (parent, child) = match i {
            0 => (None, 0),
            3 => (None, 2),
            i => (Some(i - 1), i),
        };
        let mut hinge = joint(&format!("hinge{i}"), "revolute", parent, child);
        hinge.axes = vec![normal];
        hinge.parent_frame.position = corner - parent.map_or(Vector3::zeros(), center);
        hinge.child_frame.position = corner - center(child);
        joints.push(hinge);
    }
    let multibody = Multibody::new(&spec(bodies, joints)).unwrap();
    let placed: Vec<_> = (0..3).map(|i| at(center(i), So3::identity())).collect();
    let (start, _) = multibody.assemble(&placed).unwrap();
    (multibody, start)
}
