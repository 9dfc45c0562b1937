//! Steps beside an integrator of another kind: accelerations from dense equations, the classical Runge-Kutta method.

use crate::robots::{apart, at, four_bar, joint, menagerie, positions, rigid, run, spec, unplaced};
use carom_joints::coordinates::{Actuator, CoordinateSpec, Rule, Table};
use carom_joints::lie::So3;
use carom_joints::nalgebra::{DMatrix, DVector, Vector3, Vector6};
use carom_joints::step::{Modes, SUZUKI_4, Stepper};
use carom_joints::variational::State;
use carom_joints::{JointSpec, Multibody, Placed, Posture};

const GRAVITY: f64 = 9.80665;

/// Velocities of all bodies: linear in space, angular in the body.
type Velocities = Vec<Vector6<f64>>;

/// States after the bodies moved by some displacements: linear in space, rotation vectors in the body.
fn displaced(states: &[State], by: &[Vector6<f64>]) -> Vec<State> {
    let one = |(state, by): (&State, &Vector6<f64>)| State {
        position: state.position + by.fixed_rows::<3>(0),
        rotation: state
            .rotation
            .compose(&So3::exp(&by.fixed_rows::<3>(3).into_owned())),
        ..*state
    };
    states.iter().zip(by).map(one).collect()
}

/// Conditions (dense, one row each), and forces of springs along the coordinates' rows.
fn rows(mb: &Multibody, states: &[State], near: &[f64]) -> (DMatrix<f64>, DVector<f64>) {
    let mut q = near.to_vec();
    mb.measure(states, near, &mut q);
    let mut rows = Vec::new();
    mb.rows(states, &q, &mut rows);
    let n = 6 * states.len();
    let mut conditions = Vec::new();
    let mut forces = DVector::zeros(n);
    for (j, one) in mb.joints().iter().enumerate() {
        let (first, rates) = mb.rows_of(j);
        let [parent, child] = *mb.ends(j);
        let dense = |row: usize| {
            let mut out = DVector::zeros(n);
            for (body, entries) in [(parent, rows[row].parent), (child, rows[row].child)] {
                if let Some(body) = body {
                    let mut part = out.fixed_rows_mut::<6>(6 * body);
                    part += entries;
                }
            }
            out
        };
        conditions.extend((first..rates).map(dense));
        for (k, c) in one.coordinates.iter().enumerate() {
            let place = mb.coordinates_of(j).start + k;
            forces += dense(rates + k) * (c.stiffness * (c.rest - q[place]));
        }
    }
    let matrix = DMatrix::from_fn(conditions.len(), n, |i, j| conditions[i][j]);
    (matrix, forces)
}

/// Accelerations by Newton, Euler and the conditions, of which some may be redundant.
fn accelerations(mb: &Multibody, states: &[State], near: &[f64], v: &[Vector6<f64>]) -> Velocities {
    let n = 6 * states.len();
    let (conditions, mut force) = rows(mb, states, near);
    let all = DVector::from_iterator(n, v.iter().flat_map(|v| v.iter().copied()));
    // The rate of the rows along the motion, by differences of order 4.
    let e = 1e-3;
    let along = |s: f64| {
        let by: Vec<_> = v.iter().map(|v| v * (s * e)).collect();
        rows(mb, &displaced(states, &by), near).0 * &all
    };
    let bent = (along(-2.0) - along(2.0) + (along(1.0) - along(-1.0)) * 8.0) / (12.0 * e);
    let mut inverse = DMatrix::zeros(n, n);
    for (body, v) in v.iter().enumerate() {
        let rigid = mb.rigid(body).unwrap();
        let spin = v.fixed_rows::<3>(3).into_owned();
        force[6 * body + 2] -= rigid.mass() * GRAVITY;
        let gyroscopic = (rigid.inertia() * spin).cross(&spin);
        let turned = rigid.inertia().try_inverse().unwrap();
        for i in 0..3 {
            force[6 * body + 3 + i] += gyroscopic[i];
            inverse[(6 * body + i, 6 * body + i)] = 1.0 / rigid.mass();
            for j in 0..3 {
                inverse[(6 * body + 3 + i, 6 * body + 3 + j)] = turned[(i, j)];
            }
        }
    }
    let free = &inverse * &force;
    let mobility = &conditions * &inverse * conditions.transpose();
    let missing = -(bent + &conditions * &free);
    let impulses = match mobility.clone().cholesky() {
        Some(lower) if conditions.nrows() < n && mb.tree().loops.is_empty() => {
            lower.solve(&missing)
        }
        _ => mobility.svd(true, true).solve(&missing, 1e-10).unwrap(),
    };
    let found = free + inverse * conditions.transpose() * impulses;
    (0..states.len())
        .map(|body| found.fixed_rows::<6>(6 * body).into_owned())
        .collect()
}

/// Rate of a rotation vector from a body's angular velocity.
fn chart(by: &Vector6<f64>, v: &Vector6<f64>) -> Vector6<f64> {
    let (turn, spin) = (
        by.fixed_rows::<3>(3).into_owned(),
        v.fixed_rows::<3>(3).into_owned(),
    );
    let first = turn.cross(&spin);
    let rate = spin + first * 0.5 + turn.cross(&first) / 12.0;
    let mut out = *v;
    out.fixed_rows_mut::<3>(3).copy_from(&rate);
    out
}

/// The classical Runge-Kutta method; rotations in a chart of their own for every step.
fn reference(mb: &Multibody, start: &Posture, duration: f64, steps: usize) -> Vec<State> {
    let h = duration / steps as f64;
    let (mut states, mut v, mut q) = (start.states.clone(), Vec::new(), start.q.clone());
    mb.velocities(&states, &mut v);
    let scaled = |x: &[Vector6<f64>], h: f64| -> Velocities { x.iter().map(|x| x * h).collect() };
    let plus = |x: &[Vector6<f64>], y: &[Vector6<f64>]| -> Velocities {
        x.iter().zip(y).map(|(x, y)| x + y).collect()
    };
    for _ in 0..steps {
        let mut slopes: Vec<(Velocities, Velocities)> = Vec::new();
        for part in [0.0, 0.5, 0.5, 1.0] {
            let zero = vec![Vector6::zeros(); v.len()];
            let (by, speeds) = match slopes.last() {
                None => (zero, v.clone()),
                Some((x, a)) => (scaled(x, part * h), plus(&v, &scaled(a, part * h))),
            };
            let here = displaced(&states, &by);
            let moved = by.iter().zip(&speeds).map(|(by, v)| chart(by, v)).collect();
            slopes.push((moved, accelerations(mb, &here, &q, &speeds)));
        }
        let sum = |of: &dyn Fn(&(Velocities, Velocities)) -> Velocities| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| of(&slopes[k]));
            let middle = scaled(&plus(&b, &c), 2.0);
            scaled(&plus(&plus(&a, &d), &middle), h / 6.0)
        };
        states = displaced(&states, &sum(&|s| s.0.clone()));
        v = plus(&v, &sum(&|s| s.1.clone()));
        let near = q.clone();
        mb.measure(&states, &near, &mut q);
    }
    states
}

/// Positions at the end, extrapolated from two steps, and the ratio of their errors.
fn extrapolated(
    mb: &Multibody,
    start: &Posture,
    duration: f64,
    n: usize,
    exact: &[f64],
) -> (f64, f64) {
    let [coarse, fine] = [n, 2 * n].map(|n| {
        positions(&run(mb, start, duration / n as f64, n, |_, step| {
            assert!(step.residual <= 1e-12, "{}", step.residual);
        }))
    });
    let better: Vec<f64> = coarse
        .iter()
        .zip(&fine)
        .map(|(c, f)| (4.0 * f - c) / 3.0)
        .collect();
    (
        apart(&better, exact),
        apart(&coarse, exact) / apart(&fine, exact),
    )
}

/// A floating tree of every type of joint with springs, and a planar loop with redundant rows.
#[test]
fn every_type_of_joint_moves_as_dense_equations_say() {
    for (name, (mb, start), duration) in
        [("tree", menagerie(false), 0.2), ("loop", four_bar(), 0.4)]
    {
        let mut end = start.clone();
        end.states = reference(&mb, &start, duration, 400);
        let exact = positions(&end);
        let (error, ratio) = extrapolated(&mb, &start, duration, 200, &exact);
        assert!(error <= 1e-7 * mb.size(), "{name} {error}");
        assert!((ratio - 4.0).abs() <= 0.1, "{name} {ratio}");
    }
}

/// Two links of very different masses on ball joints.
#[test]
fn mass_ratios_of_a_million_keep_order_and_joints() {
    for masses in [[1e3, 1e-3], [1e-3, 1e3]] {
        let bodies = masses.map(|m| rigid(m, [0.02 * m, 0.03 * m, 0.025 * m]));
        let joints = [0_usize, 1].map(|k| {
            let mut ball = joint(&format!("ball{k}"), "spherical", k.checked_sub(1), k);
            ball.parent_frame.position = Vector3::new(0.0, 0.0, if k == 0 { 0.0 } else { -0.3 });
            ball.child_frame.position = Vector3::new(0.1, 0.0, 0.3);
            ball.ball.velocity = Some(Vector3::new(1.0, 0.5 - k as f64, 0.3));
            ball
        });
        let mb = Multibody::new(&spec(bodies.into(), joints.into())).unwrap();
        let (start, _) = mb.assemble(&[unplaced(), unplaced()]).unwrap();
        let mut end = start.clone();
        end.states = reference(&mb, &start, 0.5, 1000);
        let exact = positions(&end);
        let (error, ratio) = extrapolated(&mb, &start, 0.5, 500, &exact);
        assert!(error <= 1e-7, "{masses:?} {error}");
        assert!((ratio - 4.0).abs() <= 0.1, "{masses:?} {ratio}");
    }
}

/// Suzuki's composition is of order 4.
#[test]
fn composed_steps_are_of_order_four() {
    let (mb, start) = menagerie(false);
    let modes = Modes::free(&mb);
    let ends = [25, 50, 100].map(|n| {
        let mut stepper = Stepper::new(&mb);
        let (h, mut posture) = (0.2 / f64::from(n), start.clone());
        for k in 0..n {
            let time = f64::from(k) * h;
            let step = stepper.compose(&posture, time, h, &SUZUKI_4, &modes);
            posture = step.unwrap().end;
        }
        positions(&posture)
    });
    let ratio = apart(&ends[0], &ends[1]) / apart(&ends[1], &ends[2]);
    assert!((ratio - 16.0).abs() <= 1.5, "{ratio}");
}

/// A top on a ball joint precesses steadily if $I_3\omega_3p - Ap^2\cos\theta = mgd$, with $A$ about the joint.
#[test]
fn a_top_precesses_steadily() {
    let (mass, d, across, along) = (0.7, 0.12, 0.004, 0.0025);
    let (tilt, p) = (0.5_f64, 6.0);
    let about = across + mass * d * d;
    let spin = (mass * GRAVITY * d + about * p * p * tilt.cos()) / (along * p);
    let axis = |angle: f64| {
        let (s, c) = angle.sin_cos();
        Vector3::new(tilt.sin() * c, tilt.sin() * s, tilt.cos())
    };
    let mut ball = joint("tip", "spherical", None, 0);
    ball.child_frame.position = Vector3::new(0.0, 0.0, -d);
    ball.ball.position = Some(So3::exp(&(Vector3::y() * tilt)));
    let own = spin - p * tilt.cos();
    ball.ball.velocity = Some(Vector3::z() * p + axis(0.0) * own);
    let body = rigid(mass, [across, across, along]);
    let mb = Multibody::new(&spec(vec![body], vec![ball])).unwrap();
    let (start, _) = mb.assemble(&[unplaced()]).unwrap();
    let at_end = |n: usize| {
        let end = run(&mb, &start, 0.4 / n as f64, n, |_, _| {});
        end.states[0].rotation.rotate(&Vector3::z())
    };
    // Fast spin: errors of the fourth order count, too, and are taken out as well.
    let [a, b, c] = [1600, 3200, 6400].map(at_end);
    let (ab, bc) = ((b * 4.0 - a) / 3.0, (c * 4.0 - b) / 3.0);
    let found = (bc * 16.0 - ab) / 15.0;
    let error = (found - axis(0.4 * p)).amax();
    assert!(error <= 1e-9, "{error}");
}

/// Three links that motors fold in space keep their angular momentum, which is zero.
#[test]
fn motors_give_no_angular_momentum() {
    let mut joints = Vec::new();
    for k in 0..3 {
        let mut hinge = joint(&format!("hinge{k}"), "revolute", Some(k), k + 1);
        hinge.axes = vec![Vector3::new(0.3 * k as f64, 1.0, 0.4)];
        hinge.parent_frame.position = Vector3::new(0.1, 0.0, -0.2);
        hinge.child_frame.position = Vector3::new(0.0, 0.05, 0.2);
        hinge.coordinates =
            vec![
                CoordinateSpec::default().with_actuator(Actuator::new(Rule::Pd {
                    proportional: 8.0,
                    derivative: 0.2,
                    target: Table::new(vec![0.0, 0.5, 1.0], vec![0.0, 1.5, -1.0]).unwrap(),
                })),
            ];
        joints.push(hinge);
    }
    let bodies = (0..4).map(|k| rigid(1.0 + f64::from(k), [0.02, 0.03, 0.025]));
    let mut given = spec(bodies.collect(), joints);
    given.gravity = Vector3::zeros();
    let mb = Multibody::new(&given).unwrap();
    let placed: Vec<Placed> = (0..4)
        .map(|k| match k {
            0 => at(Vector3::new(0.3, -0.1, 0.2), So3::identity()),
            _ => unplaced(),
        })
        .collect();
    let (start, _) = mb.assemble(&placed).unwrap();
    let parts = |states: &[State]| -> Vec<Vector3<f64>> {
        let one = |s: &State| s.position.cross(&s.linear_momentum) + s.angular_momentum_w();
        states.iter().map(one).collect()
    };
    let (mut most, mut worst) = (0.0_f64, 0.0_f64);
    run(&mb, &start, 1e-3, 1500, |_, step| {
        let parts = parts(&step.end.states);
        most = most.max(parts.iter().map(Vector3::norm).sum());
        worst = worst.max(parts.iter().sum::<Vector3<f64>>().norm());
    });
    assert!(most > 0.1, "{most}");
    assert!(worst <= 1e-12 * most, "{worst} of {most}");
}

/// A robot told in another way.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Rotation vector of the world.
    turn: [f64; 3],
    /// Bodies and joints in the reverse order.
    reversed: bool,
    /// Parents and children change places.
    swapped: bool,
    /// Millimeters and grams.
    small: bool,
}

/// Type of a joint, parent, child, place and axis.
type Link = (&'static str, usize, usize, Vector3<f64>, Vector3<f64>);

/// Four bodies on a ball joint, a hinge and a slide, with a spring; their places at the end in meters and without the turn.
fn told(how: Told) -> Vec<Vector3<f64>> {
    let (length, mass) = if how.small { (1e3, 1e3) } else { (1.0, 1.0) };
    let turn = So3::exp(&Vector3::from(how.turn));
    let order = |k: usize| if how.reversed { 3 - k } else { k };
    let places = [
        [0.0, 0.0, 0.0],
        [0.0, 0.2, -0.4],
        [0.1, 0.5, -0.4],
        [0.1, 0.5, -0.9],
    ]
    .map(Vector3::from);
    let links: [Link; 3] = [
        (
            "spherical",
            0,
            1,
            Vector3::new(0.0, 0.1, -0.2),
            Vector3::z(),
        ),
        (
            "revolute",
            1,
            2,
            Vector3::new(0.05, 0.35, -0.4),
            Vector3::new(0.2, 0.1, 1.0),
        ),
        (
            "prismatic",
            2,
            3,
            Vector3::new(0.1, 0.5, -0.6),
            Vector3::new(0.0, 0.4, 1.0),
        ),
    ];
    let mut joints: Vec<JointSpec> = Vec::new();
    for (kind, parent, child, place, axis) in links {
        let (parent, child) = if how.swapped {
            (child, parent)
        } else {
            (parent, child)
        };
        let mut one = joint(kind, kind, Some(order(parent)), order(child));
        one.parent_frame.position = (place - places[parent]) * length;
        one.child_frame.position = (place - places[child]) * length;
        if kind != "spherical" {
            one.axes = vec![axis];
        }
        for c in &mut one.coordinates {
            c.stiffness = match kind {
                "prismatic" => 40.0 * mass,
                _ => 2.0 * mass * length * length,
            };
        }
        joints.push(one);
    }
    if how.reversed {
        joints.reverse();
    }
    let inertia = mass * length * length;
    let body = |k: usize| {
        let m = 1.0 + 0.5 * k as f64;
        rigid(m * mass, [0.02, 0.03, 0.025].map(|j| j * m * inertia))
    };
    let mut given = spec((0..4).map(|k| body(order(k))).collect(), joints);
    given.gravity = turn.rotate(&Vector3::new(0.3, 0.0, -9.0)) * length;
    let mb = Multibody::new(&given).unwrap();
    // Bodies turn together at the start.
    let spin = Vector3::new(0.4, -0.8, 1.1);
    let placed: Vec<Placed> = (0..4)
        .map(|k| {
            let place = places[order(k)];
            at(turn.rotate(&place) * length, turn)
                .with_velocity(turn.rotate(&spin.cross(&place)) * length)
                .with_angular_velocity(turn.rotate(&spin))
        })
        .collect();
    let (start, _) = mb.assemble(&placed).unwrap();
    let end = run(&mb, &start, 1e-3, 500, |_, _| {});
    (0..4)
        .map(|k| turn.rotate_back(&end.states[order(k)].position) / length)
        .collect()
}

#[test]
fn a_motion_does_not_depend_on_how_it_is_told() {
    let plain = told(Told::default());
    for how in [
        Told {
            turn: [0.7, -1.1, 0.4],
            ..Told::default()
        },
        Told {
            reversed: true,
            ..Told::default()
        },
        Told {
            swapped: true,
            ..Told::default()
        },
        Told {
            small: true,
            ..Told::default()
        },
    ] {
        let other = told(how);
        for (a, b) in plain.iter().zip(&other) {
            assert!((a - b).amax() <= 1e-9, "{a} {b}");
        }
    }
}

/// Two bodies of isotropic inertia on ball joints swing for `n` steps: the error of the energy has no trend.
fn swing(n: usize) {
    let joints = [0_usize, 1].map(|k| {
        let mut ball = joint(&format!("ball{k}"), "spherical", k.checked_sub(1), k);
        ball.parent_frame.position = Vector3::new(0.0, 0.0, if k == 0 { 0.0 } else { -0.4 });
        ball.child_frame.position = Vector3::new(0.0, 0.0, 0.4);
        ball.ball.position = Some(So3::exp(&Vector3::new(0.0, 1.2 - 0.5 * k as f64, 0.3)));
        ball.ball.velocity = Some(Vector3::new(1.0, 0.0, 0.5));
        ball
    });
    let bodies = vec![rigid(1.0, [0.05; 3]), rigid(0.8, [0.04; 3])];
    let mb = Multibody::new(&spec(bodies, joints.into())).unwrap();
    let (start, _) = mb.assemble(&[unplaced(), unplaced()]).unwrap();
    let initial = mb.energy(&start);
    let (mut means, mut most) = ([0.0; 10], 0.0_f64);
    run(&mb, &start, 4e-3, n, |k, step| {
        let error = mb.energy(&step.end) - initial;
        means[10 * k / n] += error * 10.0 / n as f64;
        most = most.max(error.abs());
        assert!(step.residual <= 1e-12, "{}", step.residual);
    });
    let [least, largest] = [f64::min, f64::max].map(|of| means.iter().copied().reduce(of).unwrap());
    assert!(largest - least <= 0.05 * most, "{means:?} {most}");
}

#[test]
fn the_energy_of_two_swinging_bodies_does_not_drift() {
    swing(100_000);
}

/// More than an hour of motion.
#[test]
#[ignore = "a minute"]
fn the_energy_of_two_swinging_bodies_does_not_drift_in_a_million_steps() {
    swing(1_000_000);
}
