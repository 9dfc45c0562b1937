//! Bodies and joints for tests.

use carom_geometry::MassProperties;
use carom_joints::coordinates::CoordinateSpec;
use carom_joints::frames::Frame;
use carom_joints::kinds::Kind;
use carom_joints::lie::{Se3, So3};
use carom_joints::nalgebra::{Matrix3, Vector3};
use carom_joints::step::{Modes, Stepper};
use carom_joints::variational::RigidBody;
use carom_joints::{BallSpec, JointSpec, Multibody, MultibodySpec, Placed, Posture};

/// Numbers in (−1, 1) from a seed, by a linear congruence.
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
    JointSpec {
        name: name.to_owned(),
        kind,
        parent,
        child,
        parent_frame: Frame::identity(),
        child_frame: Frame::identity(),
        axes: Vec::new(),
        length: (kind.name == "distance").then_some(0.4),
        coordinates: vec![CoordinateSpec::default(); kind.coordinates.len()],
        ball: BallSpec::default(),
    }
}

pub fn spec(bodies: Vec<RigidBody>, joints: Vec<JointSpec>) -> MultibodySpec {
    let named = |(i, body): (usize, RigidBody)| (format!("body{i}"), Some(body));
    MultibodySpec {
        bodies: bodies.into_iter().enumerate().map(named).collect(),
        joints,
        gravity: Vector3::new(0.0, 0.0, -9.80665),
        exact: false,
    }
}

pub fn unplaced() -> Placed {
    Placed {
        configuration: None,
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
    }
}

pub fn at(position: Vector3<f64>, rotation: So3) -> Placed {
    Placed {
        configuration: Some(Se3::new(rotation, position)),
        ..unplaced()
    }
}

/// Runs `n` steps, and reports every posture.
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
