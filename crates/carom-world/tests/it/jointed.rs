//! Jointed bodies in time: closed forms.

use carom_geometry::MassProperties;
use carom_impact::frictional::MoreauNewton;
use carom_impact::two_body::ImpactOptions;
use carom_motion::hybrid::{Ending, Limits};
use carom_world::jointed::{JointEvent, JointedEnd, JointedSpec, JointedWorld, TouchSpec};
use carom_world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Table};
use carom_world::joints::kinds::Kind;
use carom_world::joints::variational::RigidBody;
use carom_world::joints::{JointSpec, MultibodySpec, Placed};
use carom_world::{FlightRule, Laws, SingleLaw};
use nalgebra::{Matrix3, Vector3};

fn rigid(mass: f64, moments: [f64; 3]) -> RigidBody {
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    RigidBody::new(&MassProperties::new(mass, inertia).unwrap())
}

fn joint(kind: &str, axis: Vector3<f64>, coordinate: CoordinateSpec) -> JointSpec {
    JointSpec::new(kind, Kind::named(kind).unwrap(), None, 0)
        .with_axes(vec![axis])
        .with_coordinates(vec![coordinate])
}

fn world(
    bodies: Vec<RigidBody>,
    mut joints: Vec<JointSpec>,
    gravity: Vector3<f64>,
) -> JointedWorld {
    for (i, joint) in joints.iter_mut().enumerate() {
        joint.name = format!("{} {i}", joint.name);
    }
    let placed = Placed::default();
    let placed = vec![placed; bodies.len()];
    let named = |(i, body): (usize, RigidBody)| (format!("body{i}"), Some(body));
    let bodies = bodies.into_iter().enumerate().map(named).collect();
    let multibody = MultibodySpec::new(bodies, joints, gravity, false);
    let nothing = TouchSpec::default();
    let spec = JointedSpec::new(multibody, placed, FlightRule::Lgvi, 1e-3, nothing);
    JointedWorld::new(&spec).unwrap()
}

fn run(world: &JointedWorld, duration: f64, observe: &mut dyn FnMut(JointEvent<'_>)) -> JointedEnd {
    run_at(world, duration, &[0.0], observe)
}

fn run_at(
    world: &JointedWorld,
    duration: f64,
    samples: &[f64],
    observe: &mut dyn FnMut(JointEvent<'_>),
) -> JointedEnd {
    let several =
        |_: usize, _: &_| Box::new(MoreauNewton::default()) as Box<dyn carom_contact::ImpactLaw>;
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &several);
    world.run(&laws, &Limits::duration(duration), samples, None, observe)
}

/// With $m = 2$, $f = 3.7$ and $v = 1$ it stops after $v^2m/2f$, and all its energy went to friction.
#[test]
fn a_slide_with_dry_friction_stops_where_it_must_and_stays() {
    let slide = joint(
        "prismatic",
        Vector3::x(),
        CoordinateSpec::default()
            .with_velocity(1.0)
            .with_friction(3.7),
    );
    let world = world(
        vec![rigid(2.0, [0.01, 0.01, 0.02])],
        vec![slide],
        Vector3::zeros(),
    );
    let end = run(&world, 1.0, &mut |_| {});
    assert_eq!(end.ending, Ending::Completed);
    assert!(
        (end.posture.q[0] - 1.0 / 3.7).abs() <= 1e-10,
        "{}",
        end.posture.q[0]
    );
    assert!(end.rates[0].abs() <= 1e-11, "{}", end.rates[0]);
    assert!(
        (end.works.friction - 1.0).abs() <= 1e-10,
        "{}",
        end.works.friction
    );
}

/// A slide with $m = 2$ under the force $3t$ sticks until $t_1 = f/3$ and then moves by $(t-t_1)^3/4$, also where $t_1$ lies in the
/// second half of a step. Until then it has no energy but rounding, which no error of the steps is measured against.
#[test]
fn dry_friction_gives_way_where_the_load_reaches_it() {
    for friction in [0.6012, 0.6018] {
        let force = Table::new(vec![0.0, 1.0], vec![0.0, 3.0]).unwrap();
        let slide = joint(
            "prismatic",
            Vector3::x(),
            CoordinateSpec::default()
                .with_friction(friction)
                .with_actuator(Actuator::new(Rule::Table(force))),
        );
        let mut swinging = joint("revolute", Vector3::y(), CoordinateSpec::default());
        (swinging.parent, swinging.child) = (Some(0), 1);
        let bodies = vec![rigid(1.5, [0.01; 3]), rigid(0.5, [0.01; 3])];
        let world = world(bodies, vec![slide, swinging], Vector3::zeros());
        let end = run(&world, 1.0, &mut |_| {});
        assert_eq!(end.ending, Ending::Completed);
        let left = 1.0 - friction / 3.0;
        let moved = end.posture.q[0] - 0.25 * left.powi(3);
        // Kicks are means of the force at both ends: their error falls with the square of the step.
        assert!(moved.abs() <= 1e-6, "{friction} {moved}");
        let speed = end.rates[0] - 0.75 * left * left;
        assert!(speed.abs() <= 1e-9, "{friction} {speed}");
    }
}

/// A slide that falls on its lower limit bounces as a ball on the floor.
#[test]
fn a_falling_slide_bounces_on_its_limit_as_a_ball_does() {
    let slide = joint(
        "prismatic",
        Vector3::z(),
        CoordinateSpec::default()
            .with_position(0.5)
            .with_limits(0.0, f64::INFINITY)
            .with_restitution(0.6),
    );
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let world = world(vec![rigid(2.0, [0.01, 0.01, 0.02])], vec![slide], gravity);
    let mut times = Vec::new();
    let end = run(&world, 1.0, &mut |event| {
        if let JointEvent::Impact(impact) = event {
            times.push(impact.time);
            let lost = impact.energy_minus - impact.energy_plus;
            assert!((lost - (1.0 - 0.36) * impact.energy_minus).abs() <= 1e-11);
        }
    });
    assert_eq!(end.ending, Ending::Completed);
    let first = (2.0_f64 * 0.5 / 9.81).sqrt();
    for (n, time) in times.iter().take(3).enumerate() {
        let rebounds: f64 = (1..=n).map(|k| 2.0 * 0.6_f64.powi(k as i32)).sum();
        let exact = first * (1.0 + rebounds);
        assert!((time - exact).abs() <= 1e-10, "{n}: {time} {exact}");
    }
    assert!(end.energy_error <= 1e-10, "{}", end.energy_error);
}

/// A rod that hangs at a plastic limit, turned by gravity about a horizontal hinge, rests there and presses.
#[test]
fn a_plastic_limit_locks() {
    let mut hinge = joint(
        "revolute",
        Vector3::y(),
        CoordinateSpec::default()
            .with_position(0.9)
            .with_limits(0.2, f64::INFINITY),
    );
    hinge.child_frame.position = Vector3::new(0.0, 0.0, 0.5);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let world = world(vec![rigid(1.0, [0.1, 0.1, 0.02])], vec![hinge], gravity);
    let (mut hits, mut established, mut released) = (0, 0, 0);
    let end = run(&world, 3.0, &mut |event| match event {
        JointEvent::Impact(_) => hits += 1,
        JointEvent::Established { .. } => established += 1,
        JointEvent::Released { .. } => released += 1,
        _ => (),
    });
    assert_eq!((hits, established, released), (1, 1, 0));
    assert!(
        (end.posture.q[0] - 0.2).abs() <= 1e-13,
        "{}",
        end.posture.q[0]
    );
    assert!(end.rates[0].abs() <= 1e-13);
}

/// A knee on the ground, driven by a table.
fn knee(restitution: f64, velocity: f64, times: Vec<f64>, values: Vec<f64>) -> JointedWorld {
    let hinge = joint(
        "revolute",
        Vector3::y(),
        CoordinateSpec::default()
            .with_position(0.9)
            .with_velocity(velocity)
            .with_limits(0.2, f64::INFINITY)
            .with_restitution(restitution)
            .with_actuator(Actuator::new(Rule::Table(
                Table::new(times, values).unwrap(),
            ))),
    );
    let mut thigh = joint("prismatic", Vector3::z(), CoordinateSpec::default());
    thigh.coordinates[0].position = Some(0.0);
    let mut shank = hinge;
    (shank.parent, shank.child) = (Some(0), 1);
    shank.parent_frame.position = Vector3::new(0.0, 0.0, -0.2);
    shank.child_frame.position = Vector3::new(0.0, 0.0, 0.2);
    let bodies = vec![rigid(2.0, [0.02; 3]), rigid(1.0, [0.01, 0.01, 0.002])];
    world(bodies, vec![thigh, shank], Vector3::zeros())
}

/// A knee without restitution that reaches its limit locks there: coordinate and rate do not move until the load turns, and the
/// knee opens when it does. The load is a couple, so that the knee's is the whole of it.
#[test]
fn a_plastic_knee_locks_until_its_load_turns() {
    let world = knee(0.0, -2.0, vec![0.0, 1.0, 2.0], vec![-1.0, -1.0, 1.0]);
    let (mut locked, mut released, mut hits) = (f64::NAN, f64::NAN, 0);
    let mut seen = Vec::new();
    let samples: Vec<f64> = (0..200).map(|k| 0.0101 * f64::from(k)).collect();
    let end = run_at(&world, 2.0, &samples, &mut |event| match event {
        JointEvent::Impact(_) => hits += 1,
        JointEvent::Established { time, .. } => locked = time,
        JointEvent::Released { time, .. } => released = time,
        JointEvent::Sample(it) => seen.push((it.time, it.posture.q[1], it.rates[1])),
        _ => (),
    });
    assert_eq!(end.ending, Ending::Completed);
    assert_eq!(hits, 1);
    assert!(locked < 0.7, "{locked}");
    assert!((released - 1.5).abs() <= 1e-9, "{released}");
    for (time, q, rate) in seen {
        if time > locked && time < released {
            assert_eq!((q, rate), (0.2, 0.0), "{time}");
        }
        if time > released + 0.01 {
            assert!(q > 0.2 && rate > 0.0, "{time} {q} {rate}");
        }
    }
}

/// A leg swings under gravity and its knee locks at a limit. The load of the locked knee curves: the limit opens once, at a time of
/// order 2 in the step, and does not close again at once.
#[test]
fn a_swinging_knee_opens_once() {
    let part = |name: &str, length: f64, position: f64| {
        let mut it = joint("revolute", Vector3::y(), CoordinateSpec::default());
        name.clone_into(&mut it.name);
        it.child_frame.position = Vector3::new(0.0, 0.0, length);
        it.coordinates[0].position = Some(position);
        it
    };
    let mut knee = part("knee", 0.2, 0.6);
    (knee.parent, knee.child) = (Some(0), 1);
    knee.parent_frame.position = Vector3::new(0.0, 0.0, -0.25);
    knee.coordinates[0].lower = 0.0;
    let bodies = vec![
        rigid(2.0, [0.05, 0.05, 0.01]),
        rigid(1.0, [0.03, 0.03, 0.005]),
    ];
    let joints = vec![part("hip", 0.25, -1.0), knee];
    let world = world(bodies, joints, Vector3::new(0.0, 0.0, -9.80665));
    let (mut locked, mut released) = (0, Vec::new());
    let end = run(&world, 0.6, &mut |event| match event {
        JointEvent::Established { .. } => locked += 1,
        JointEvent::Released { time, .. } => released.push(time),
        _ => (),
    });
    assert_eq!(
        (end.ending, locked, released.len()),
        (Ending::Completed, 1, 1)
    );
    // From an integrator of order 8 that finds its events itself.
    let off = released[0] - 0.397_264_985_468_987_75;
    assert!(off.abs() <= 2e-6, "{off}");
}

/// An elastic limit keeps the energy: at every impact to 1e-11.
#[test]
fn elastic_limits_keep_the_energy() {
    let world = knee(1.0, -2.0, vec![0.0, 1.0], vec![-3.0, -3.0]);
    let mut hits = 0;
    let end = run(&world, 2.0, &mut |event| {
        if let JointEvent::Impact(impact) = event {
            hits += 1;
            let change = impact.energy_plus - impact.energy_minus;
            assert!(change.abs() <= 1e-11 * impact.energy_minus, "{change}");
        }
    });
    assert_eq!(end.ending, Ending::Completed);
    assert!(hits >= 3, "{hits}");
    assert!(end.impact_loss.abs() <= 1e-11, "{}", end.impact_loss);
}

/// Joints of a chain that hangs at rest carry the weights below them.
#[test]
fn a_hanging_chain_carries_the_weights_below_each_joint() {
    let masses = [0.3, 1.1, 0.05, 2.0, 0.7, 0.4];
    let mut joints = Vec::new();
    let kinds = ["revolute", "spherical", "universal"];
    for (k, kind) in (0..masses.len()).zip(kinds.into_iter().cycle()) {
        let mut link = joint(kind, Vector3::y(), CoordinateSpec::default());
        link.name = format!("joint{k}");
        match kind {
            "spherical" => (link.axes, link.coordinates) = (Vec::new(), Vec::new()),
            "universal" => {
                link.axes = vec![Vector3::x(), Vector3::y()];
                link.coordinates = vec![CoordinateSpec::default(); 2];
            }
            _ => (),
        }
        (link.parent, link.child) = (k.checked_sub(1), k);
        link.parent_frame.position = Vector3::new(0.0, 0.0, if k == 0 { 0.0 } else { -0.1 });
        link.child_frame.position = Vector3::new(0.0, 0.0, 0.1);
        joints.push(link);
    }
    let bodies = masses
        .iter()
        .map(|m| rigid(*m, [0.004 * m, 0.004 * m, 0.001 * m]))
        .collect();
    let world = world(bodies, joints, Vector3::new(0.0, 0.0, -9.80665));
    let end = run(&world, 1.0, &mut |_| {});
    assert_eq!(end.ending, Ending::Completed);
    let (loads, length) = end.loads.unwrap();
    for (k, load) in loads.iter().enumerate() {
        let below: f64 = masses[k..].iter().sum();
        let force = load.force / length - Vector3::new(0.0, 0.0, below * 9.80665);
        assert!(force.amax() <= 1e-8, "{k} {force}");
        assert!((load.moment / length).amax() <= 1e-8, "{k}");
    }
}

/// Two arms of a floating trunk, mirror images, reach their limits at once.
#[test]
fn limits_that_are_reached_at_once_are_one_instant() {
    let arm = |name: &str, child: usize, side: f64| {
        let mut arm = joint(
            "revolute",
            Vector3::x(),
            CoordinateSpec::default()
                .with_velocity(2.0 * side)
                .with_limits(
                    if side > 0.0 { f64::NEG_INFINITY } else { -0.7 },
                    if side > 0.0 { 0.7 } else { f64::INFINITY },
                )
                .with_restitution(0.4)
                .with_armature(0.003),
        );
        arm.name = name.to_owned();
        (arm.parent, arm.child) = (Some(0), child);
        arm.parent_frame.position = Vector3::new(0.0, 0.2 * side, 0.1);
        arm.child_frame.position = Vector3::new(0.0, 0.0, 0.2);
        arm
    };
    let body = || rigid(1.0, [0.01, 0.01, 0.002]);
    let mut hold = joint("planar", Vector3::x(), CoordinateSpec::default());
    hold.axes = Vec::new();
    hold.coordinates = vec![CoordinateSpec::default(); 3];
    let bodies = vec![rigid(5.0, [0.1, 0.12, 0.09]), body(), body()];
    let joints = vec![hold, arm("left", 1, 1.0), arm("right", 2, -1.0)];
    let world = world(bodies, joints, Vector3::zeros());
    let mut hits = Vec::new();
    let end = run(&world, 1.0, &mut |event| {
        if let JointEvent::Impact(impact) = event {
            hits.push(impact.hits.clone());
        }
    });
    assert_eq!(end.ending, Ending::Completed);
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].len(), 2);
    assert!((hits[0][0].impulse - hits[0][1].impulse).abs() <= 1e-10);
}

/// A spring pulls a block along a spinning guide onto its limit, in metres, in millimetres and grams, and in micrometres: all
/// bounces are found in each, though the rounding of a coordinate at its limit is a larger number in a smaller unit.
#[test]
fn impacts_at_a_limit_do_not_depend_on_the_unit_of_length() {
    let times = |angle: f64, unit: f64| {
        let mut hinge = joint(
            "revolute",
            Vector3::new(0.0, 1.0, 2.0),
            CoordinateSpec::default()
                .with_position(angle)
                .with_velocity(0.3),
        );
        hinge.child_frame.position = Vector3::new(0.1, 0.0, 0.2) * unit;
        let mut guide = joint(
            "prismatic",
            Vector3::new(1.0, 0.0, 1.0),
            CoordinateSpec::default()
                .with_position(0.1 * unit)
                .with_limits(0.05 * unit, f64::INFINITY)
                .with_restitution(0.5)
                .with_spring(30.0 * unit, 0.0),
        );
        (guide.parent, guide.child) = (Some(0), 1);
        guide.parent_frame.position = Vector3::new(0.1, 0.2, 0.3) * unit;
        guide.child_frame.position = Vector3::new(-0.2, 0.1, 0.0) * unit;
        let body = |mass: f64, moments: [f64; 3]| {
            let inertia = moments.map(|x| x * carom_numeric::power(unit, 3));
            rigid(mass * unit, inertia)
        };
        let bodies = vec![body(2.0, [0.1, 0.12, 0.09]), body(1.0, [0.03, 0.02, 0.01])];
        let world = world(bodies, vec![hinge, guide], Vector3::zeros());
        let mut times = Vec::new();
        let end = run(&world, 1.0, &mut |event| {
            if let JointEvent::Impact(impact) = event {
                times.push(impact.time);
            }
        });
        assert_eq!(end.ending, Ending::Completed);
        times
    };
    for k in 0..6 {
        let angle = 0.3 * f64::from(k);
        let expected = times(angle, 1.0);
        assert!(expected.len() > 20, "{}", expected.len());
        for unit in [1e-3, 1e3, 1e6] {
            let found = times(angle, unit);
            assert_eq!(found.len(), expected.len(), "angle {angle}, unit {unit}");
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-9, "{found} {expected}");
            }
        }
    }
}

/// A control without a finite force ends the run at its time, and is named; it does not push with nothing.
#[test]
fn a_control_without_a_finite_force_ends_the_run() {
    let slide = joint("prismatic", Vector3::x(), CoordinateSpec::default());
    let world = world(vec![rigid(2.0, [1.0; 3])], vec![slide], Vector3::zeros());
    let several =
        |_: usize, _: &_| Box::new(MoreauNewton::default()) as Box<dyn carom_contact::ImpactLaw>;
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &several);
    let mut control = |time: f64, _: &[f64], _: &[f64]| vec![(0.0105 - time).sqrt()];
    let limits = Limits::duration(0.1);
    let end = world.run(&laws, &limits, &[], Some(&mut control), &mut |_| ());
    let Ending::Stopped(error) = end.ending else {
        panic!("{:?}", end.ending);
    };
    assert_eq!(error.kind(), "actuator-force");
    assert!((end.time - 0.011).abs() <= 1e-12, "{}", end.time);
}

/// A joint, a place or a step that makes no sense is named, and nothing is indexed by it.
#[test]
fn numbers_of_a_jointed_world_are_checked() {
    let refused = |kind: &str, change: &dyn Fn(&mut JointedSpec)| {
        let kind = Kind::named(kind).unwrap();
        let joint = JointSpec::new("j", kind, None, 0);
        let placed = Placed::default();
        let bodies = vec![("block".to_owned(), Some(rigid(2.0, [1.0, 1.0, 1.0])))];
        let multibody = MultibodySpec::new(bodies, vec![joint], Vector3::zeros(), false);
        let nothing = TouchSpec::default();
        let mut spec = JointedSpec::new(multibody, vec![placed], FlightRule::Lgvi, 1e-3, nothing);
        assert!(JointedWorld::new(&spec).is_ok());
        change(&mut spec);
        JointedWorld::new(&spec).unwrap_err().to_string()
    };
    let hinge = |change: &dyn Fn(&mut JointedSpec)| refused("revolute", change);
    for x in [f64::NAN, f64::INFINITY] {
        let end = format!("{x} must be finite");
        let texts = [
            hinge(&|spec| spec.multibody.gravity.x = x),
            hinge(&|spec| spec.placed[0].velocity.y = x),
            hinge(&|spec| spec.placed[0].angular_velocity.z = x),
            hinge(&|spec| spec.multibody.joints[0].parent_frame.position.x = x),
            hinge(&|spec| spec.multibody.joints[0].coordinates[0].rest = x),
            hinge(&|spec| {
                let rule = Rule::Constant(x);
                let limit = f64::INFINITY;
                spec.multibody.joints[0].coordinates[0].actuator =
                    Some(Actuator::new(rule).with_limit(limit));
            }),
            refused("spherical", &|spec| {
                spec.multibody.joints[0].ball.velocity = Some(Vector3::new(0.0, x, 0.0));
            }),
        ];
        assert!(texts.iter().all(|text| text.ends_with(&end)), "{texts:?}");
    }
    let text = hinge(&|spec| {
        let again = spec.multibody.joints[0].clone();
        spec.multibody.joints.push(again);
    });
    assert_eq!(text, "name `j` must be unique among joints");
    for x in [f64::NAN, -1.0, 2.0] {
        let text = refused("spherical", &|spec| {
            spec.multibody.joints[0].ball.restitution = x
        });
        assert!(
            text.ends_with(&format!("limits.restitution {x} must be in [0, 1]")),
            "{text}"
        );
    }
    for x in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let text = hinge(&|spec| spec.time_step = x);
        assert_eq!(text, format!("time step {x} must be positive and finite"));
    }
    for x in [f64::NAN, 7.0, 0.0] {
        let text = hinge(&|spec| spec.multibody.joints[0].child_frame.axes[(0, 0)] = x);
        assert_eq!(text, "joint `j`: child_frame has axes that are no rotation");
    }
    let index = "must be the index of a body below 1, child and parent different";
    let text = hinge(&|spec| spec.multibody.joints[0].child = 9);
    assert_eq!(text, format!("joint `j`: child 9 {index}"));
    for parent in [0, 9] {
        let text = hinge(&|spec| spec.multibody.joints[0].parent = Some(parent));
        assert_eq!(text, format!("joint `j`: parent {parent} {index}"));
    }
    let text = hinge(&|spec| spec.placed.clear());
    assert_eq!(
        text,
        "placed has 0 entries where 1 are needed, one per body"
    );
}
