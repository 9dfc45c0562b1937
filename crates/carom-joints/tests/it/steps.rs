use crate::robots::{
    Numbers, apart, four_bar, joint, menagerie, positions, rigid, run, spec, unplaced,
};
use carom_joints::coordinates::{Actuator, CoordinateSpec, Rule};
use carom_joints::frames::Row;
use carom_joints::nalgebra::{DMatrix, DVector, Vector3, Vector6};
use carom_joints::step::contacts::ContactRow;
use carom_joints::step::{Modes, Stepper};
use carom_joints::{Multibody, Posture};
use std::f64::consts::PI;

/// A hinge about y at the origin carries a body whose center is `length` below.
fn pendulum(length: f64, amplitude: f64) -> (Multibody, Posture) {
    let mut hinge = joint("hinge", "revolute", None, 0);
    hinge.axes = vec![Vector3::y()];
    hinge.child_frame.position = Vector3::new(0.0, 0.0, length);
    hinge.coordinates[0].position = Some(amplitude);
    let multibody = Multibody::new(&spec(vec![rigid(1.3, [0.2, 0.25, 0.1])], vec![hinge])).unwrap();
    let (posture, _) = multibody.assemble(&[unplaced()]).unwrap();
    (multibody, posture)
}

/// Time of the first zero of the angle: by a step that is shortened to end there.
fn quarter_period(h: f64) -> f64 {
    let (multibody, mut posture) = pendulum(0.5, 1.1);
    let modes = Modes::free(&multibody);
    let mut stepper = Stepper::new(&multibody);
    let mut n = 0;
    loop {
        let step = stepper.step(&posture, 0.0, h, &modes).unwrap();
        if step.end.q[0] < 0.0 {
            break;
        }
        posture = step.end;
        n += 1;
    }
    let (mut low, mut high) = (0.0, h);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        stepper.forget();
        let step = stepper.step(&posture, 0.0, middle, &modes).unwrap();
        if step.end.q[0] < 0.0 {
            high = middle
        } else {
            low = middle
        }
    }
    f64::from(n) * h + low
}

#[test]
fn a_compound_pendulum_has_the_period_of_the_elliptic_integral() {
    // Arithmetic-geometric mean: K(k) = π / (2 agm(1, k')).
    let (mut a, mut g) = (1.0, (1.1_f64 / 2.0).cos());
    for _ in 0..10 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    let (mass, d, about) = (1.3_f64, 0.5, 0.25);
    let omega = (mass * 9.80665 * d / (about + mass * d * d)).sqrt();
    let exact = PI / (2.0 * a) / omega;
    let [coarse, middle, fine] = [4e-3, 2e-3, 1e-3].map(quarter_period);
    let ratio = (coarse - exact) / (middle - exact);
    // The last step is shorter: its error is of order three, and irregular.
    assert!((ratio - 4.0).abs() <= 0.05, "{ratio}");
    let extrapolated = (4.0 * fine - middle) / 3.0;
    assert!(
        (extrapolated - exact).abs() <= 1e-9,
        "{extrapolated} {exact}"
    );
}

#[test]
fn steps_of_every_type_are_of_order_two_and_keep_joints_and_energy() {
    for exact in [false, true] {
        let (multibody, start) = menagerie(exact);
        let energy = multibody.energy(&start);
        let ends: Vec<Vec<f64>> = [100, 200, 400]
            .iter()
            .map(|n| {
                let mut worst = 0.0_f64;
                let mut off = 0.0_f64;
                let end = run(
                    &multibody,
                    &start,
                    0.4 / f64::from(*n),
                    *n as usize,
                    |_, step| {
                        worst = worst.max(step.residual);
                        off = off.max((multibody.energy(&step.end) - energy).abs());
                    },
                );
                assert!(worst <= 1e-13, "{worst}");
                assert!(off <= 2e-3 * 200.0 / f64::from(*n), "{off}");
                positions(&end)
            })
            .collect();
        let ratio = apart(&ends[0], &ends[1]) / apart(&ends[1], &ends[2]);
        assert!((ratio - 4.0).abs() <= 0.1, "{ratio}");
    }
}

#[test]
fn momentum_of_a_floating_tree_changes_by_gravity_alone() {
    let (multibody, start) = menagerie(false);
    let total = |posture: &Posture| {
        let linear: Vector3<f64> = posture.states.iter().map(|s| s.linear_momentum).sum();
        let angular: Vector3<f64> = posture
            .states
            .iter()
            .map(|s| s.position.cross(&s.linear_momentum) + s.angular_momentum_w())
            .sum();
        (linear, angular)
    };
    let mass: f64 = (0..multibody.n_bodies())
        .map(|b| multibody.rigid(b).unwrap().mass())
        .sum();
    let weight = Vector3::new(0.0, 0.0, -9.80665 * mass);
    let center = |posture: &Posture| -> Vector3<f64> {
        (0..multibody.n_bodies())
            .map(|b| posture.states[b].position * (multibody.rigid(b).unwrap().mass() / mass))
            .sum()
    };
    let (linear, angular) = total(&start);
    let (place, time) = (center(&start), 0.3);
    let end = run(&multibody, &start, 1e-3, 300, |_, _| {});
    let (linear_end, angular_end) = total(&end);
    assert!((linear_end - linear - weight * time).norm() <= 1e-12 * 10.0);
    // The moment of the weight along the path of the center: a parabola.
    let drift = linear / mass;
    let moment = place.cross(&weight) * time + drift.cross(&weight) * (0.5 * time * time);
    let error = (angular_end - angular - moment).norm();
    assert!(error <= 1e-11, "{error}");
}

/// A rotor of inertia $I_r$ on a hinge through the center adds to the inertia.
#[test]
fn a_rotor_adds_its_inertia_to_the_coordinate() {
    let mut hinge = joint("hinge", "revolute", None, 0);
    hinge.coordinates[0] = CoordinateSpec::default()
        .with_position(0.5)
        .with_spring(2.0, 0.0)
        .with_armature(0.3);
    let multibody = Multibody::new(&spec(vec![rigid(1.0, [0.1, 0.1, 0.15])], vec![hinge])).unwrap();
    let (start, _) = multibody.assemble(&[unplaced()]).unwrap();
    let omega = (2.0_f64 / 0.45).sqrt();
    let errors = [200, 400].map(|n| {
        let end = run(
            &multibody,
            &start,
            1.0 / f64::from(n),
            n as usize,
            |_, _| {},
        );
        end.q[0] - 0.5 * omega.cos()
    });
    assert!((errors[0] / errors[1] - 4.0).abs() <= 0.05, "{errors:?}");
    assert!(((4.0 * errors[1] - errors[0]) / 3.0).abs() <= 1e-9);
}

/// Two slides across each other with rotors of 40 g carry bodies of a nanogram and a microgram, as the goal of gymnasium's pusher.
/// The impulses that the rotors take from them have more rounding than a residual of 1e-12 of the size allows.
#[test]
fn rotors_a_billion_times_heavier_than_their_bodies_slow_down_by_their_dampers() {
    let (armature, damping, h) = (0.04, 0.5, 1e-3);
    let slide = |name: &str, parent: Option<usize>, child: usize, axis: Vector3<f64>, rate: f64| {
        let mut slide = joint(name, "prismatic", parent, child);
        slide.axes = vec![axis];
        slide.coordinates[0] = CoordinateSpec::default()
            .with_velocity(rate)
            .with_armature(armature)
            .with_damping(damping);
        slide
    };
    let mut along = slide("along", None, 0, Vector3::y(), -0.39);
    along.parent_frame.position = Vector3::new(0.45, -0.05, -0.275);
    let across = slide("across", Some(0), 1, Vector3::x(), -0.13);
    let bodies = vec![
        rigid(4e-13, [6.4e-16, 6.4e-16, 1.2e-15]),
        rigid(4e-10, [6.4e-13, 6.4e-13, 1.2e-12]),
    ];
    let multibody = Multibody::new(&spec(bodies, vec![along, across])).unwrap();
    let (mut posture, _) = multibody.assemble(&[unplaced(), unplaced()]).unwrap();
    let modes = Modes::free(&multibody);
    let mut stepper = Stepper::new(&multibody);
    let (n, mut rates) = (100, Vec::new());
    for k in 0..n {
        let step = stepper.step(&posture, f64::from(k) * h, h, &modes).unwrap();
        // Impulses of 1e-4 N s leave a mass of 4e-13 kg a velocity with a rounding of 1e-7 m/s, which lasts a step.
        let missed = step.residual * multibody.size();
        assert!(missed <= 1e-10, "{missed}");
        (posture, rates) = (step.end, step.rates);
    }
    // Half of the damping before the flight, half after it.
    let part = 0.5 * h * damping / armature;
    let left = ((1.0 - part) / (1.0 + part)).powi(n);
    assert!((rates[0] + 0.39 * left).abs() <= 1e-7, "{rates:?} {left}");
    assert!((rates[1] + 0.13 * left).abs() <= 1e-7, "{rates:?} {left}");
}

/// A motor turns a heavy body against a link of a milligram, which a hinge across holds: without the hinge's impulse the link would
/// turn by fifty radians in the first step.
#[test]
fn a_motor_on_a_light_link_turns_what_it_drives() {
    let (torque, about, h) = (1.0, 0.25, 1e-3);
    let mut upright = joint("upright", "revolute", None, 0);
    upright.axes = vec![Vector3::z()];
    let mut driven = joint("driven", "revolute", Some(0), 1);
    driven.axes = vec![Vector3::y()];
    driven.coordinates[0].actuator = Some(Actuator::new(Rule::Constant(torque)));
    let bodies = vec![
        rigid(1e-6, [1e-8, 1e-8, 1e-8]),
        rigid(1.3, [0.2, about, 0.1]),
    ];
    let mut spec = spec(bodies, vec![upright, driven]);
    spec.gravity = Vector3::zeros();
    let multibody = Multibody::new(&spec).unwrap();
    let (start, _) = multibody.assemble(&[unplaced(), unplaced()]).unwrap();
    let end = run(&multibody, &start, h, 100, |_, _| {});
    let time = 100.0 * h;
    let expected = 0.5 * torque / about * time * time;
    // A step of the flight takes the sine of its angle for the angle.
    let flight = (torque / about * time * h).powi(2) / 6.0;
    let off = (end.q[1] / expected - 1.0).abs();
    assert!(off <= flight, "{off} {flight}");
    assert!(end.q[0].abs() <= 1e-12, "{:?}", end.q);
}

/// With $m\ddot q + c\dot q + kq = 0$; heavy damping is stable at any step.
#[test]
fn dampers_decay_and_are_stable_however_stiff() {
    let damped = |damping: f64, n: i32| {
        let mut slide = joint("slide", "prismatic", None, 0);
        slide.axes = vec![Vector3::x()];
        slide.coordinates[0] = CoordinateSpec::default()
            .with_velocity(1.0)
            .with_damping(damping);
        let one = spec(vec![rigid(2.0, [0.1, 0.1, 0.15])], vec![slide]);
        let multibody = Multibody::new(&one).unwrap();
        let (start, _) = multibody.assemble(&[unplaced()]).unwrap();
        let mut works = 0.0;
        let end = run(
            &multibody,
            &start,
            1.0 / f64::from(n),
            n as usize,
            |_, step| {
                works += step.works.damper;
            },
        );
        (end.q[0], end.states[0].linear_momentum.x / 2.0, works)
    };
    let (q, rate, work) = damped(3.0, 1000);
    assert!((rate - (-1.5_f64).exp()).abs() <= 1e-6, "{rate}");
    assert!((q - (1.0 - (-1.5_f64).exp()) / 1.5).abs() <= 1e-6, "{q}");
    assert!((work - (1.0 - rate * rate)).abs() <= 1e-12, "{work}");
    let (_, rate, _) = damped(3e6, 100);
    assert!(rate.abs() <= 1.0, "{rate}");
}

/// 20 rows of rank 17.
#[test]
fn a_planar_loop_in_space_has_redundant_rows_and_keeps_its_order() {
    let (multibody, start) = four_bar();
    let mut stepper = Stepper::new(&multibody);
    stepper
        .step(&start, 0.0, 1e-3, &Modes::free(&multibody))
        .unwrap();
    assert_eq!(stepper.rank(), (20, 17));
    let ends = [100, 200, 400].map(|n| {
        let end = run(
            &multibody,
            &start,
            0.5 / f64::from(n),
            n as usize,
            |_, step| {
                assert!(step.residual <= 1e-13, "{}", step.residual);
            },
        );
        positions(&end)
    });
    let ratio = apart(&ends[0], &ends[1]) / apart(&ends[1], &ends[2]);
    assert!((ratio - 4.0).abs() <= 0.05, "{ratio}");
}

/// Mobility of rows from dense matrices: $C(M^{-1} - M^{-1}J^T(JM^{-1}J^T + c)^+JM^{-1})C^T$.
fn dense_mobility(
    multibody: &Multibody,
    joint_rows: &[Row],
    contacts: &[ContactRow],
) -> DMatrix<f64> {
    let n = multibody.n_bodies();
    let entries = |row: &Row, ends: &[Option<usize>; 2]| {
        let mut out = DVector::zeros(6 * n);
        for (body, part) in ends.iter().zip([row.parent, row.child]) {
            if let Some(body) = body {
                let mut own = out.rows_mut(6 * body, 6);
                own += part;
            }
        }
        out
    };
    let mut inverse = DMatrix::zeros(6 * n, 6 * n);
    for body in 0..n {
        let own = multibody.scene().masses[body].try_inverse().unwrap();
        inverse
            .view_mut((6 * body, 6 * body), (6, 6))
            .copy_from(&own);
    }
    let (mut rows, mut compliances) = (Vec::new(), Vec::new());
    for (j, joint) in multibody.joints().iter().enumerate() {
        let (first, rates) = multibody.rows_of(j);
        let of_rates = joint.coordinates.iter().enumerate();
        let rotors = of_rates.filter(|(_, c)| c.armature > 0.0);
        let used = (first..rates).map(|row| (row, 0.0));
        for (row, compliance) in used.chain(rotors.map(|(k, c)| (rates + k, 1.0 / c.armature))) {
            rows.push(entries(&joint_rows[row], multibody.ends(j)));
            compliances.push(compliance);
        }
    }
    let j = DMatrix::from_columns(&rows).transpose();
    let s = &j * &inverse * j.transpose() + DMatrix::from_diagonal(&DVector::from_vec(compliances));
    let most = s.amax();
    let s = s.svd(true, true).pseudo_inverse(1e-11 * most).unwrap();
    let c: Vec<DVector<f64>> = contacts.iter().map(|r| entries(&r.row, &r.ends)).collect();
    let c = DMatrix::from_columns(&c);
    let kept = &inverse - &inverse * j.transpose() * s * &j * &inverse;
    c.transpose() * kept * c
}

#[test]
fn mobility_along_the_paths_to_the_root_is_that_of_dense_matrices() {
    for (multibody, posture) in [menagerie(false), four_bar()] {
        let mut numbers = Numbers(11);
        let n = multibody.n_bodies();
        let contacts: Vec<ContactRow> = (0..12)
            .map(|i| {
                let mut row = Row::zeros();
                for k in 0..6 {
                    (row.parent[k], row.child[k]) = (numbers.next(), numbers.next());
                }
                let (first, second) = (i % n, (3 * i + 1) % n);
                let parent = (i % 3 > 0 && first != second).then_some(second);
                ContactRow {
                    row,
                    ends: [parent, Some(first)],
                }
            })
            .collect();
        let mut rows = Vec::new();
        multibody.rows(&posture.states, &posture.q, &mut rows);
        let mut stepper = Stepper::new(&multibody);
        let found = stepper
            .mobility(&posture.states, &rows, &contacts, 0.0)
            .unwrap();
        let expected = dense_mobility(&multibody, &rows, &contacts);
        for (i, row) in found.chunks(contacts.len()).enumerate() {
            for (j, entry) in row.iter().enumerate() {
                let error = (entry - expected[(i, j)]).abs();
                assert!(error <= 1e-10 * expected.amax(), "{i} {j} {error}");
            }
        }
        // Velocities after impulses are those of the mobility.
        let impulses: Vec<f64> = contacts.iter().map(|_| numbers.next()).collect();
        let mut velocities = vec![Vector6::zeros(); n];
        let mut multipliers = vec![0.0; multibody.n_rows()];
        stepper.pass_on(
            &rows,
            &contacts,
            &impulses,
            &mut velocities,
            &mut multipliers,
        );
        let expected = expected * DVector::from_vec(impulses);
        for (contact, expected) in contacts.iter().zip(expected.iter()) {
            assert!(
                (contact.rate(&velocities) - expected).abs() <= 1e-10 * expected.abs().max(1.0)
            );
        }
    }
}

/// A bridge of links on hinges about y between two walls, straight along x.
fn bridge(links: usize) -> (Multibody, Posture) {
    let half = Vector3::new(0.5, 0.0, 0.0);
    let mut joints = Vec::new();
    for k in 0..=links {
        let before = k.checked_sub(1);
        let mut hinge = joint(&format!("hinge{k}"), "revolute", before, k.min(links - 1));
        hinge.axes = vec![Vector3::y()];
        hinge.parent_frame.position = if k == 0 { Vector3::zeros() } else { half };
        hinge.child_frame.position = -half;
        if k == links {
            hinge.parent = None;
            hinge.parent_frame.position = half * (2.0 * links as f64);
            hinge.child_frame.position = half;
        }
        joints.push(hinge);
    }
    let bodies = vec![rigid(1.0, [0.02, 0.09, 0.09]); links];
    let multibody = Multibody::new(&spec(bodies, joints)).unwrap();
    let (posture, _) = multibody.assemble(&vec![unplaced(); links]).unwrap();
    (multibody, posture)
}

/// No finite forces along a straight bridge carry its weight: the position is singular. One link alone, whose rows depend on each
/// other everywhere, is carried.
#[test]
fn a_straight_bridge_is_singular_and_a_beam_is_not() {
    for links in [2, 3, 5] {
        let (multibody, posture) = bridge(links);
        let modes = Modes::free(&multibody);
        let failed = Stepper::new(&multibody).step(&posture, 0.0, 1e-3, &modes);
        assert_eq!(failed.unwrap_err().kind(), "singular-joints", "{links}");
    }
    let (multibody, posture) = bridge(1);
    let modes = Modes::free(&multibody);
    let step = Stepper::new(&multibody)
        .step(&posture, 0.0, 1e-3, &modes)
        .unwrap();
    let carried: f64 = step.loads.iter().map(|load| load.force.z).sum();
    assert!((carried - 9.80665e-3).abs() <= 1e-12, "{carried}");
}

/// A light link on strong dampers between two heavy bodies: impulses that are extrapolated over a reversal of all velocities turn
/// it by more than a radian within the step. The step finds the solution of a step without a history.
#[test]
fn a_step_after_a_jump_of_the_velocities_does_not_depend_on_the_steps_before() {
    let mut joints = Vec::new();
    for k in 0..3_usize {
        let mut hinge = joint(&format!("hinge{k}"), "revolute", k.checked_sub(1), k);
        hinge.axes = vec![Vector3::y()];
        let arm = if k == 2 { 0.2 } else { 0.01 };
        hinge.parent_frame.position = Vector3::new(if k == 0 { 0.0 } else { 0.01 }, 0.0, 0.0);
        hinge.child_frame.position = Vector3::new(-arm, 0.0, 0.0);
        hinge.coordinates[0].damping = if k == 0 { 0.0 } else { 5e-3 };
        hinge.coordinates[0].velocity = Some([3.0, 1.0, -2.0][k]);
        joints.push(hinge);
    }
    let bodies = vec![
        rigid(0.1, [1e-4, 1e-4, 1e-4]),
        rigid(1e-4, [1e-8, 1e-8, 1e-8]),
        rigid(0.1, [1e-4, 1e-4, 1e-4]),
    ];
    let multibody = Multibody::new(&spec(bodies, joints)).unwrap();
    let (mut posture, _) = multibody.assemble(&[unplaced(); 3]).unwrap();
    let modes = Modes::free(&multibody);
    let mut stepper = Stepper::new(&multibody);
    for k in 0..5 {
        let time = f64::from(k) * 1e-3;
        posture = stepper.step(&posture, time, 1e-3, &modes).unwrap().end;
    }
    for state in &mut posture.states {
        state.linear_momentum *= -1.0;
        state.angular_momentum *= -1.0;
    }
    let found = stepper.step(&posture, 0.0, 1e-3, &modes).unwrap();
    let alone = Stepper::new(&multibody).step(&posture, 0.0, 1e-3, &modes);
    let alone = alone.unwrap();
    for (a, b) in found.end.q.iter().zip(&alone.end.q) {
        assert!((a - b).abs() <= 1e-12, "{a} {b}");
    }
}
