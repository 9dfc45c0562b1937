//! Hinges in series and slides in one joint beside chains of single joints, universal joints and gimbals.

use crate::robots::{apart, at, joint, positions, rigid, run, spec, unplaced};
use carom_joints::coordinates::CoordinateSpec;
use carom_joints::frames::Frame;
use carom_joints::lie::So3;
use carom_joints::nalgebra::Vector3;
use carom_joints::step::{Modes, Stepper};
use carom_joints::{JointError, JointSpec, Multibody};

const POSITIONS: [f64; 3] = [0.3, -0.4, 0.2];
const RATES: [f64; 3] = [0.8, -1.1, 0.6];

/// Spring, damper and rotor of the hinge `k`, with its start.
fn coordinate(k: usize) -> CoordinateSpec {
    CoordinateSpec::default()
        .with_position(POSITIONS[k])
        .with_velocity(RATES[k])
        .with_spring(1.0 + k as f64, 0.1)
        .with_damping(0.02)
        .with_armature(0.003 * k as f64)
}

/// A floating body that carries another by `joints`, the last of which is on the carried one; bodies in between have the mass
/// `light` (kg).
fn carried(joints: Vec<JointSpec>, light: f64) -> Vec<f64> {
    let n = joints.len();
    let mut bodies = vec![rigid(2.0, [0.02, 0.03, 0.025])];
    for _ in 1..n {
        bodies.push(rigid(light, [1e-2 * light; 3]));
    }
    bodies.push(rigid(1.0, [0.011, 0.013, 0.016]));
    let mut placed = vec![unplaced(); n + 1];
    placed[0] = at(
        Vector3::new(0.1, -0.2, 0.3),
        So3::exp(&Vector3::new(0.3, 0.2, 0.1)),
    );
    placed[0].angular_velocity = Vector3::new(0.5, -1.0, 0.8);
    let mb = Multibody::new(&spec(bodies, joints)).unwrap();
    let (start, _) = mb.assemble(&placed).unwrap();
    let end = run(&mb, &start, 1e-3, 300, |_, step| {
        assert!(step.residual <= 1e-12, "{}", step.residual);
    });
    let places = positions(&end);
    [&places[..3], &places[places.len() - 3..]].concat()
}

/// The frames on the first and the last body.
fn frames() -> [Frame; 2] {
    [
        Frame {
            position: Vector3::new(0.1, 0.05, -0.2),
            axes: So3::exp(&Vector3::new(0.4, -0.7, 0.2)).matrix(),
        },
        Frame {
            position: Vector3::new(0.02, -0.1, 0.15),
            axes: So3::exp(&Vector3::new(-0.3, 0.1, 0.5)).matrix(),
        },
    ]
}

fn one_joint(kind: &str, axes: &[Vector3<f64>], anchors: &[Vector3<f64>]) -> JointSpec {
    let mut one = joint("one", kind, Some(0), 1);
    [one.parent_frame, one.child_frame] = frames();
    one.axes = axes.to_vec();
    one.anchors = anchors.to_vec();
    one.coordinates = (0..axes.len()).map(coordinate).collect();
    one
}

/// One joint of each type in `kinds` after the other, with light bodies between them.
fn chain(kinds: &[&str], axes: &[Vector3<f64>], anchors: &[Vector3<f64>]) -> Vec<JointSpec> {
    let n = axes.len();
    let moved = |mut frame: Frame, by: &Vector3<f64>| {
        frame.position += frame.axes * by;
        frame
    };
    let one = |(k, kind): (usize, &&str)| {
        let mut one = joint(&format!("link{k}"), kind, Some(k), k + 1);
        let [first, last] = frames();
        let parent = if k == 0 { first } else { Frame::identity() };
        let child = if k + 1 == n { last } else { Frame::identity() };
        one.parent_frame = moved(parent, &anchors[k]);
        one.child_frame = moved(child, &anchors[k]);
        one.axes = vec![axes[k]];
        one.coordinates = vec![coordinate(k)];
        one
    };
    kinds.iter().enumerate().map(one).collect()
}

const AXES: [[f64; 3]; 3] = [[1.0, 0.2, 0.0], [0.3, 1.0, 0.4], [0.0, -0.3, 1.0]];
const ANCHORS: [[f64; 3]; 3] = [[0.02, -0.05, 0.1], [0.0, 0.06, -0.04], [-0.07, 0.03, 0.01]];

/// Bodies between the joints move the others in proportion to their mass.
#[test]
fn types_of_several_axes_move_as_chains_with_links_that_weigh_nothing() {
    let (axes, anchors) = (AXES.map(Vector3::from), ANCHORS.map(Vector3::from));
    let none = [Vector3::zeros(); 3];
    let right = [Vector3::x(), Vector3::y()];
    for (kind, kinds, axes, anchors) in [
        ("biaxial", &["revolute"; 3][..2], &axes[..2], &anchors),
        ("triaxial", &["revolute"; 3], &axes[..], &anchors),
        ("cross-slide", &["prismatic"; 2], &axes[..2], &none),
        ("pin-slot", &["prismatic", "revolute"], &right[..], &none),
    ] {
        let given = if kind.ends_with("axial") {
            &anchors[..axes.len()]
        } else {
            &[]
        };
        let exact = carried(vec![one_joint(kind, axes, given)], 0.0);
        let off = [1e-5, 1e-7].map(|light| {
            let n = axes.len();
            apart(&exact, &carried(chain(kinds, axes, &anchors[..n]), light))
        });
        assert!(off[0] <= 1e-4 && off[0] >= 1e-7, "{kind} {off:?}");
        assert!(off[1] <= 2e-2 * off[0], "{kind} {off:?}");
    }
}

#[test]
fn hinges_that_meet_at_right_angles_move_as_universal_joints_and_gimbals() {
    let turn = So3::exp(&Vector3::new(0.2, -0.3, 0.9));
    let last = turn.rotate(&Vector3::new(0.6, 0.0, 0.8));
    let axes = [turn.rotate(&Vector3::x()), turn.rotate(&Vector3::y()), last];
    for (special, general, n) in [("universal", "biaxial", 2), ("gimbal", "triaxial", 3)] {
        let [a, b] =
            [special, general].map(|kind| carried(vec![one_joint(kind, &axes[..n], &[])], 0.0));
        assert!(apart(&a, &b) <= 1e-12, "{general} {a:?} {b:?}");
    }
}

/// A hinge that turns towards the position where its axis makes the three axes coplanar: a gimbal joint whose rotors a force must
/// turn there, a triaxial joint with or without forces. A gimbal joint without forces passes.
#[test]
fn three_hinges_end_at_coplanar_axes() {
    let anchors = ANCHORS.map(Vector3::from);
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    for (kind, anchors, armature, passes) in [
        ("gimbal", &[][..], 0.02, false),
        ("gimbal", &[][..], 0.0, true),
        ("triaxial", &anchors[..], 0.02, false),
        ("triaxial", &anchors[..], 0.0, false),
    ] {
        let mut hinges = one_joint(kind, &axes, anchors);
        hinges.parent = None;
        hinges.child = 0;
        for (k, c) in hinges.coordinates.iter_mut().enumerate() {
            *c = CoordinateSpec::default()
                .with_position([0.2, 1.2, -0.1][k])
                .with_velocity([0.05, 3.0, -0.02][k])
                .with_armature(armature);
        }
        let mb = Multibody::new(&spec(vec![rigid(1.0, [0.05, 0.06, 0.03])], vec![hinges])).unwrap();
        let (mut posture, _) = mb.assemble(&[unplaced()]).unwrap();
        let (mut stepper, modes) = (Stepper::new(&mb), Modes::free(&mb));
        let mut closest = 1.0_f64;
        let ended = (0..400).find_map(|k| {
            let step = stepper.step(&posture, f64::from(k) * 1e-3, 1e-3, &modes);
            match step {
                Ok(step) => {
                    posture = step.end;
                    closest = closest.min(posture.q[1].cos().abs());
                    None
                }
                Err(error) => Some(error),
            }
        });
        match ended {
            None => assert!(passes, "{kind}"),
            Some(JointError::SingularJoints { joint, .. }) => {
                assert!(!passes && joint == "one", "{kind} {joint}");
            }
            Some(error) => panic!("{kind}: {error}"),
        }
        assert!(closest <= 0.1, "{kind} {closest}");
    }
}

/// The point of an axis along it is arbitrary.
#[test]
fn points_of_hinges_may_lie_anywhere_on_their_axes() {
    let (axes, anchors) = (AXES.map(Vector3::from), ANCHORS.map(Vector3::from));
    let shifted: Vec<Vector3<f64>> = { anchors.iter().zip(&axes).zip([0.3, -0.2, 0.4]) }
        .map(|((point, axis), by)| point + axis * by)
        .collect();
    for (kind, n) in [("biaxial", 2), ("triaxial", 3)] {
        let [a, b] = [&anchors[..], &shifted[..]]
            .map(|points| carried(vec![one_joint(kind, &axes[..n], &points[..n])], 0.0));
        assert!(apart(&a, &b) <= 1e-12, "{kind} {a:?} {b:?}");
    }
}

#[test]
fn axes_and_points_that_do_not_fit_are_told() {
    let (axes, anchors) = (AXES.map(Vector3::from), ANCHORS.map(Vector3::from));
    let right = [Vector3::x(), Vector3::y()];
    let parallel = [axes[0], axes[0] * -2.0, axes[2]];
    for (spec, key, words) in [
        (
            one_joint("biaxial", &parallel[..2], &[]),
            "axis2",
            "parallel",
        ),
        (
            one_joint("cross-slide", &parallel[..2], &[]),
            "axis2",
            "parallel",
        ),
        (one_joint("triaxial", &parallel, &[]), "axes", "parallel"),
        (
            one_joint("pin-slot", &axes[..2], &[]),
            "axis2",
            "not orthogonal",
        ),
        (
            one_joint("universal", &axes[..2], &[]),
            "axis2",
            "not orthogonal",
        ),
        (
            one_joint("biaxial", &axes[..2], &anchors),
            "anchors",
            "3 points for 2 axes",
        ),
        (one_joint("pin-slot", &right, &anchors), "anchors", "no key"),
    ] {
        let found = carom_joints::Joint::new(&spec).unwrap_err();
        let JointError::InvalidKey { what, problem, .. } = &found else {
            panic!("{found}");
        };
        assert_eq!(*what, key);
        assert!(problem.contains(words), "{problem}");
    }
}
