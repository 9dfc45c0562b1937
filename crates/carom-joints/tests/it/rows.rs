use crate::robots::{Numbers, joint};
use carom_joints::Joint;
use carom_joints::frames::{Frame, Frames};
use carom_joints::kinds::{Axes, KINDS};
use carom_joints::lie::So3;
use carom_joints::nalgebra::{Vector3, Vector6};
use carom_joints::variational::State;

fn state(numbers: &mut Numbers) -> State {
    State {
        position: numbers.vector(),
        rotation: numbers.rotation(),
        linear_momentum: Vector3::zeros(),
        angular_momentum: Vector3::zeros(),
    }
}

fn moved(state: &State, velocity: &Vector6<f64>, time: f64) -> State {
    let spin = velocity.fixed_rows::<3>(3) * time;
    State {
        position: state.position + velocity.fixed_rows::<3>(0) * time,
        rotation: state.rotation.compose(&So3::exp(&spin)),
        ..*state
    }
}

/// A joint of a type with random frames and axes, and two bodies that it holds together.
fn assembled(kind: &str, numbers: &mut Numbers) -> (Joint, [State; 2], Vec<f64>) {
    let mut spec = joint("joint", kind, Some(0), 1);
    let frame = |numbers: &mut Numbers| Frame {
        position: numbers.vector(),
        axes: numbers.rotation().matrix(),
    };
    spec.parent_frame = frame(numbers);
    spec.child_frame = frame(numbers);
    let turn = numbers.rotation();
    let axes = spec.kind.axes.count();
    spec.axes = (0..axes)
        .map(|k| turn.rotate(&Vector3::ith(k, 1.0)))
        .collect();
    if axes == 3 {
        // Any third axis across the second.
        spec.axes[2] = turn.rotate(&Vector3::new(0.6, 0.0, 0.8));
    }
    if matches!(spec.kind.axes, Axes::Oblique(_)) {
        // Axes at any angles.
        spec.axes[1] += turn.rotate(&Vector3::new(0.4, 0.0, 0.3));
    }
    if spec.kind.has_anchors() {
        spec.anchors = (0..axes).map(|_| numbers.vector() * 0.3).collect();
    }
    for coordinate in &mut spec.coordinates {
        coordinate.position = Some(0.7 * numbers.next());
    }
    let parent = state(numbers);
    let mut placed = vec![
        crate::robots::at(parent.position, parent.rotation),
        crate::robots::unplaced(),
    ];
    if kind == "distance" {
        let frames_of =
            |state: &State, frame: &Frame| state.position + state.rotation.rotate(&frame.position);
        let mut child = state(numbers);
        let along = numbers.vector().normalize() * 0.4;
        let gap =
            frames_of(&parent, &spec.parent_frame) + along - frames_of(&child, &spec.child_frame);
        child.position += gap;
        placed[1] = crate::robots::at(child.position, child.rotation);
    } else if kind == "free" {
        let child = state(numbers);
        placed[1] = crate::robots::at(child.position, child.rotation);
    } else if kind == "spherical" {
        spec.ball.position = Some(numbers.rotation());
    }
    let bodies = vec![
        crate::robots::rigid(1.0, [0.1, 0.2, 0.15]),
        crate::robots::rigid(0.5, [0.03, 0.02, 0.04]),
    ];
    let multibody = carom_joints::Multibody::new(&crate::robots::spec(bodies, vec![spec])).unwrap();
    let (posture, assembly) = multibody.assemble(&placed).unwrap();
    assert!(assembly.residual <= 1e-14, "{kind}: {assembly:?}");
    let states = [posture.states[0], posture.states[1]];
    (multibody.joints()[0].clone(), states, posture.q)
}

#[test]
fn rows_are_derivatives_of_residuals_and_coordinates() {
    let mut numbers = Numbers(7);
    for kind in KINDS {
        for _ in 0..20 {
            let (joint, states, _) = assembled(kind.name, &mut numbers);
            let velocities = [0, 1].map(|_| Vector6::from_fn(|_, _| numbers.next()));
            let frames = joint.frames(&states);
            let at = |time: f64| -> Frames {
                joint.frames(&[
                    moved(&states[0], &velocities[0], time),
                    moved(&states[1], &velocities[1], time),
                ])
            };
            let h = 1e-4;
            let of = |time: f64| joint.residuals(&at(time)).collect::<Vec<_>>();
            let [lower, low, high, higher] = [-2.0, -1.0, 1.0, 2.0].map(|k| of(k * h));
            for (k, row) in joint.rows(&frames).iter().enumerate() {
                let rate = row.rate(&velocities[0], &velocities[1]);
                let difference = (8.0 * (high[k] - low[k]) - (higher[k] - lower[k])) / (12.0 * h);
                assert!(
                    (rate - difference).abs() <= 1e-9,
                    "{} {k}: {rate} {difference}",
                    kind.name
                );
            }
        }
    }
}

#[test]
fn rates_of_coordinates_are_their_derivatives_along_motions_that_the_joint_allows() {
    let mut numbers = Numbers(11);
    for kind in KINDS.iter().filter(|kind| !kind.coordinates.is_empty()) {
        for _ in 0..20 {
            let (joint, states, q) = assembled(kind.name, &mut numbers);
            let n = q.len();
            let mut measured = vec![0.0; n];
            joint.measure(&joint.frames(&states), &q, &mut measured);
            for (given, found) in q.iter().zip(&measured) {
                assert!((given - found).abs() <= 1e-13, "{}", kind.name);
            }
            // The parent moves anyhow, the child such that all rows of conditions are at rest.
            let parent = Vector6::from_fn(|_, _| numbers.next());
            let frames = joint.frames(&states);
            let rows: Vec<_> = joint
                .rows(&frames)
                .into_iter()
                .chain(joint.rates(&frames, &q))
                .collect();
            let matrix = carom_joints::nalgebra::Matrix6::from_fn(|i, j| rows[i].child[j]);
            let wanted: Vec<f64> = (0..n).map(|_| numbers.next()).collect();
            let right = Vector6::from_fn(|i, _| {
                let rate = if i < 6 - n { 0.0 } else { wanted[i - (6 - n)] };
                rate - rows[i].parent.dot(&parent)
            });
            let child = matrix.lu().solve(&right).unwrap();
            let h = 1e-5;
            let at = |time: f64| {
                let moved = [
                    moved(&states[0], &parent, time),
                    moved(&states[1], &child, time),
                ];
                let mut out = vec![0.0; n];
                joint.measure(&joint.frames(&moved), &q, &mut out);
                out
            };
            let (low, high) = (at(-h), at(h));
            for k in 0..n {
                let difference = (high[k] - low[k]) / (2.0 * h);
                assert!(
                    (difference - wanted[k]).abs() <= 1e-9,
                    "{} {k}: {difference} {}",
                    kind.name,
                    wanted[k]
                );
            }
        }
    }
}
