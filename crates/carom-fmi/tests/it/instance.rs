//! Instances: steps are one run, contacts explain momenta, states go back, faults change nothing.

use carom_fmi::carom_scenarios::{Overrides, Session};
use carom_fmi::{Instance, write_resources};
use std::fs;

const FREE: &str = r#"
duration = 0.8
contact = { friction = 0.3, restitution = 0.5 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "ball"
mass = 1.5
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.4]
velocity = [0.5, 0.0, 0.0]
angular_velocity = [0.0, 3.0, 1.0]
[[bodies]]
name = "box"
mass = 2.0
shape = { type = "box", half_extents = [0.1, 0.08, 0.06] }
position = [1.0, 0.02, 0.3]
angular_velocity = [1.0, 2.0, 0.5]
"#;

const HINGE: &str = r#"
duration = 0.6
[[bodies]]
name = "rod"
mass = 2.0
inertia = [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.15]]
[[joints]]
name = "hinge"
type = "revolute"
child = "rod"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 0.5] }
position = 1.2
limits = { lower = 0.6, upper = 2.0, restitution = 0.5 }
actuator = { type = "pd", proportional = 20.0, derivative = 2.0, times = [0.0, 0.3], values = [1.2, 1.5] }
"#;

/// Instance of a world that makes steps.
fn begun(toml: &str, start: f64) -> Instance {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    fs::write(&file, toml).unwrap();
    let resources = folder.path().join("resources");
    let token = write_resources(&file, &[], &resources).unwrap();
    assert!(Instance::new(&resources, "0").is_err());
    let mut instance = Instance::new(&resources, &token).unwrap();
    instance.enter_initialization(start).unwrap();
    instance.exit_initialization().unwrap();
    instance
}

fn session(toml: &str) -> Session {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    Session::start(&overrides, false).unwrap()
}

fn vector(instance: &mut Instance, name: &str) -> Vec<f64> {
    let reference = instance.find(name).expect(name);
    instance.reals(&[reference]).unwrap()
}

/// Outputs after steps of any lengths are the states of a run, bit for bit; the clock of the importer may begin anywhere.
#[test]
fn steps_are_one_run() {
    for toml in [FREE, HINGE] {
        let mut whole = session(toml);
        let mut instance = begun(toml, 0.0);
        let mut late = begun(toml, 8.0);
        let mut time = 0.0;
        for k in 0..9 {
            let step = [0.05, 0.013, 0.1][k % 3];
            instance.step(time, step).unwrap();
            late.step(8.0 + time, step).unwrap();
            time += step;
            whole.advance_to(time).unwrap();
            let state = whole.state().unwrap();
            let name = format!("{}.position", whole.bodies()[0]);
            assert_eq!(vector(&mut instance, &name), state.position[0]);
            let far = vector(&mut late, &name);
            assert!(
                far.iter()
                    .zip(&state.position[0])
                    .all(|(a, b)| (a - b).abs() <= 1e-12)
            );
            if toml == HINGE {
                assert_eq!(
                    vector(&mut instance, "hinge.position"),
                    state.joint_position
                );
                assert_eq!(
                    vector(&mut instance, "hinge.velocity"),
                    state.joint_velocity
                );
            }
            assert_eq!((instance.time(), instance.real(0).unwrap()), (time, time));
        }
        let energy = whole.energy().unwrap();
        assert_eq!(
            vector(&mut instance, "energy")[0],
            energy["final_j"].as_f64().unwrap()
        );
    }
}

/// m Δv = (m g + f + F) Δt for each step, through impacts and rest; the torque of a ball that rolls is that of friction.
#[test]
fn contacts_explain_what_gravity_and_inputs_do_not() {
    let mut instance = begun(FREE, 0.0);
    let force = instance.find("ball.force").unwrap();
    assert_eq!(vector(&mut instance, "ball.contact_force"), [0.0; 3]);
    let (mass, g, step) = (1.5, 9.806_65, 0.02);
    let mut impulse = 0.0;
    for k in 0..40 {
        let given = [if k < 20 { 0.0 } else { 0.3 }, 0.0, 0.0];
        instance.set_all(&[force], &given).unwrap();
        let before = vector(&mut instance, "ball.velocity");
        instance.step(instance.time(), step).unwrap();
        let (after, contact) = (
            vector(&mut instance, "ball.velocity"),
            vector(&mut instance, "ball.contact_force"),
        );
        let torque = vector(&mut instance, "ball.contact_torque");
        for axis in 0..3 {
            let weight = if axis == 2 { -mass * g } else { 0.0 };
            let gain = (weight + given[axis] + contact[axis]) * step;
            let error = mass * (after[axis] - before[axis]) - gain;
            assert!(error.abs() <= 1e-10 * mass * g * step, "{k}: {error}");
        }
        // All contacts of a ball on the floor act at its lowest point.
        assert!(
            (torque[1] + 0.1 * contact[0]).abs() <= 1e-9,
            "{k}: {torque:?} {contact:?}"
        );
        impulse += contact[2] * step;
    }
    assert!(impulse > 0.9 * mass * g * 0.5);
    let impacts = instance.find("impacts").unwrap();
    assert!(instance.count(impacts).unwrap() > 3 && instance.real(impacts).is_err());
}

/// Coordinates take forces and targets; a table holds until its target is set.
#[test]
fn controls_and_targets_act_from_the_next_step_on() {
    let mut whole = session(HINGE);
    let mut instance = begun(HINGE, 0.0);
    let (control, target) = (
        instance.find("hinge.force").unwrap(),
        instance.find("hinge.target").unwrap(),
    );
    assert_eq!(instance.real(target).unwrap(), 1.2);
    instance.step(0.0, 0.1).unwrap();
    whole.advance_to(0.1).unwrap();
    assert_eq!(
        vector(&mut instance, "hinge.position"),
        whole.state().unwrap().joint_position
    );
    instance.set(&[control, target], &[0.7, 1.2]).unwrap();
    whole.set_target("hinge", 1.2).unwrap();
    whole.set_control(&[0.7]).unwrap();
    for k in 1..4 {
        let time = f64::from(k) * 0.1;
        instance.step(instance.time(), 0.1).unwrap();
        whole.advance_to(instance.time()).unwrap();
        let (own, other) = (
            vector(&mut instance, "hinge.velocity"),
            whole.state().unwrap().joint_velocity,
        );
        assert!((own[0] - other[0]).abs() <= 1e-12, "{time}");
    }
}

/// A state that was kept, also as bytes, goes on as before; damaged bytes are refused.
#[test]
fn states_go_back() {
    let mut instance = begun(FREE, 0.0);
    instance.step(0.0, 0.33).unwrap();
    let (kept, names) = (
        instance.keep(),
        ["ball.position", "ball.contact_force", "box.quaternion"],
    );
    let bytes = instance.bytes(&kept);
    let go = |instance: &mut Instance| {
        let mut all = names.map(|name| vector(instance, name)).concat();
        instance.step(0.33, 0.2).unwrap();
        all.extend(names.map(|name| vector(instance, name)).concat());
        all.push(instance.count(instance.find("impacts").unwrap()).unwrap() as f64);
        all
    };
    let first = go(&mut instance);
    instance.set_kept(&kept);
    assert_eq!(go(&mut instance), first);
    instance.reset();
    let read = instance.read(&bytes).unwrap();
    instance.set_kept(&read);
    assert_eq!(go(&mut instance), first);
    for k in (0..bytes.len()).step_by(29) {
        let mut changed = bytes.clone();
        changed[k] ^= 4;
        assert_eq!(
            instance.read(&changed).unwrap_err().kind(),
            "snapshot-damaged",
            "{k}"
        );
        assert!(instance.read(&bytes[..k]).is_err());
    }
    assert_eq!(
        begun(HINGE, 0.0).read(&bytes).unwrap_err().kind(),
        "snapshot-foreign"
    );
}

/// Refused calls have a kind and change nothing.
#[test]
fn faults_are_told_and_change_nothing() {
    let mut instance = begun(FREE, 0.0);
    instance.step(0.0, 0.1).unwrap();
    let before = instance.bytes(&instance.keep());
    let (force, place) = (
        instance.find("ball.force").unwrap(),
        instance.find("ball.position").unwrap(),
    );
    let faults = [
        (
            "non-finite",
            instance.set(&[force, force + 1], &[1.0, f64::NAN]),
        ),
        ("no-input", instance.set(&[force, place], &[1.0, 2.0])),
        ("unknown-name", instance.set(&[9_999], &[1.0])),
        ("dimension-mismatch", instance.set_all(&[force], &[1.0])),
        ("unknown-name", instance.set_all(&[force + 1], &[1.0])),
        ("unknown-name", instance.real(u32::MAX).map(|_| ())),
        ("wrong-step", instance.step(0.1, 0.0)),
        ("wrong-step", instance.step(0.1, f64::NAN)),
        ("wrong-step", instance.step(0.100_1, 0.1)),
        ("wrong-step", instance.step(f64::NAN, 0.1)),
        ("wrong-mode", instance.enter_initialization(0.0)),
    ];
    for (k, (kind, fault)) in faults.into_iter().enumerate() {
        assert_eq!(fault.unwrap_err().kind(), kind, "{k}");
    }
    assert!(instance.bytes(&instance.keep()) == before);
    instance.terminate().unwrap();
    assert_eq!(instance.step(0.1, 0.1).unwrap_err().kind(), "wrong-mode");
    assert_eq!(
        instance.set(&[force], &[1.0]).unwrap_err().kind(),
        "wrong-mode"
    );
    assert!(instance.real(place).is_ok());
}

/// A run that stops says up to which time it went, and goes on from a state before.
#[test]
fn a_run_that_stops_goes_on_from_a_state_before() {
    let far = r#"
contact = { friction = 0.0, restitution = 0.0 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "box"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.1] }
position = [0.0, 0.0, 0.1]
velocity = [1e9, 0.0, 0.0]
"#;
    let mut instance = begun(far, 0.0);
    let kept = instance.keep();
    assert!(instance.step(0.0, 1.0).is_err());
    assert!(instance.is_over() && instance.time() < 1.0);
    instance.set_kept(&kept);
    assert_eq!((instance.is_over(), instance.time()), (false, 0.0));
}
