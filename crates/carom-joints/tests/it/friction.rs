//! Dry friction that the second kick finds.

use crate::robots::{joint, rigid, spec, unplaced};
use carom_joints::coordinates::CoordinateSpec;
use carom_joints::frames::{Row, stack};
use carom_joints::nalgebra::Vector3;
use carom_joints::step::contacts::{Change, ContactRow, Contacts, FirstKick};
use carom_joints::step::{Modes, Stepper};
use carom_joints::variational::State;
use carom_joints::{Multibody, Posture};

/// A block of 2 kg on a slide along z against gravity 10 m/s^2, 20 N of weight.
fn block(coordinate: CoordinateSpec) -> (Multibody, Posture, Modes) {
    let mut slide = joint("slide", "prismatic", None, 0);
    slide.axes = vec![Vector3::z()];
    slide.coordinates = vec![coordinate];
    let mut spec = spec(vec![rigid(2.0, [0.1, 0.1, 0.1])], vec![slide]);
    spec.gravity = Vector3::new(0.0, 0.0, -10.0);
    let multibody = Multibody::new(&spec).unwrap();
    let (posture, _) = multibody.assemble(&[unplaced()]).unwrap();
    let mut modes = Modes::free(&multibody);
    modes.implicit[0] = true;
    (multibody, posture, modes)
}

/// Runs with the mean of both kicks' friction as the next step's; loss of friction (J) and the last mean (N).
fn run(
    multibody: &Multibody,
    posture: &mut Posture,
    modes: &mut Modes,
    (steps, h): (usize, f64),
) -> (f64, f64) {
    let friction = multibody.coordinates().next().unwrap().friction;
    let mut stepper = Stepper::new(multibody);
    let (mut loss, mut mean) = (0.0, 0.0);
    for k in 0..steps {
        let step = stepper.step(posture, k as f64 * h, h, modes).unwrap();
        loss += step.works.friction;
        mean = (step.holding[0][0] + step.holding[0][1]) / h;
        modes.slides[0] = (-mean / friction).clamp(-1.0, 1.0);
        *posture = step.end;
    }
    (loss, mean)
}

#[test]
fn a_load_below_the_friction_is_held_without_creep() {
    let (multibody, mut posture, mut modes) = block(CoordinateSpec::default().with_friction(25.0));
    // The first steps do not know the load yet; then nothing moves.
    let h = 1e-3;
    run(&multibody, &mut posture, &mut modes, (10, h));
    let start = posture.q[0];
    assert!(start.abs() <= 2.0 * 10.0 * h * h, "{start}");
    let (loss, force) = run(&multibody, &mut posture, &mut modes, (1000, h));
    assert!((posture.q[0] - start).abs() <= 1e-13, "{}", posture.q[0]);
    assert!((force - 20.0).abs() <= 1e-9, "{force}");
    assert!(loss.abs() <= 1e-12 && multibody.kinetic(&posture) <= 1e-30);
}

#[test]
fn a_block_stops_where_its_energy_is_spent() {
    // Friction 40 N against 20 N of weight: it slows down by 10 m/s^2 and stays.
    let coordinate = CoordinateSpec::default()
        .with_friction(40.0)
        .with_velocity(-1.0);
    let (multibody, mut posture, mut modes) = block(coordinate);
    modes.slides[0] = -1.0;
    let start = multibody.energy(&posture);
    let h = 1e-3;
    let (loss, _) = run(&multibody, &mut posture, &mut modes, (200, h));
    // v^2/2a; the step in which it stops is of order 1.
    assert!(
        (posture.q[0] + 0.05).abs() <= 10.0 * h * h,
        "{}",
        posture.q[0]
    );
    assert!(multibody.kinetic(&posture) <= 1e-30);
    let balance = start - loss - multibody.energy(&posture);
    assert!(balance.abs() <= 1e-13, "{balance}");
}

#[test]
fn a_load_beyond_the_friction_slides() {
    let (multibody, mut posture, mut modes) = block(CoordinateSpec::default().with_friction(5.0));
    let h = 1e-3;
    let (loss, force) = run(&multibody, &mut posture, &mut modes, (400, h));
    // a = (20 - 5)/2 upwards of the friction; the first kick of the first step has none.
    let fall = 0.5 * 7.5 * 0.4 * 0.4;
    assert!(
        (posture.q[0] + fall).abs() <= 2e-3 * fall,
        "{}",
        posture.q[0]
    );
    assert!((force - 5.0).abs() <= 1e-9, "{force}");
    assert!((loss - 5.0 * fall).abs() <= 2e-3 * loss, "{loss}");
}

/// A contact that pushes the block up and down in turn, with more than its friction.
struct Hammer(usize);

impl Contacts for Hammer {
    fn start(&mut self, _: &[State], _: &mut Vec<ContactRow>) {}
    fn guess(&mut self, _: f64, _: &mut [f64]) {}
    fn moved(&mut self, _: &[State], _: &mut Vec<ContactRow>) {}
    fn first(&mut self, _: &FirstKick<'_>, _: &mut [f64]) -> Option<Change> {
        Some(Change {
            size: 0.0,
            settled: true,
            tolerable: true,
        })
    }
    fn closed(&mut self, _: &[State], _: &[f64], rows: &mut Vec<ContactRow>) {
        for axis in [Vector3::z(), Vector3::x(), Vector3::y()] {
            let row = Row {
                parent: stack(&Vector3::zeros(), &Vector3::zeros()),
                child: stack(&axis, &Vector3::zeros()),
                force: axis,
                couple: Vector3::zeros(),
            };
            let ends = [None, Some(0)];
            rows.push(ContactRow { row, ends });
        }
    }
    fn second(&mut self, _: &[f64], _: &[f64], impulses: &mut [f64]) -> bool {
        self.0 += 1;
        impulses.fill(0.0);
        impulses[0] = if self.0 % 2 == 1 { 1.0 } else { -1.0 };
        true
    }
}

/// Neither sticking nor sliding fits a contact that answers each with the opposite push: the block sticks, and the step says that
/// friction did more than it can.
#[test]
fn friction_that_fits_no_contact_impulse_holds_and_is_counted() {
    let (multibody, posture, modes) = block(CoordinateSpec::default().with_friction(25.0));
    let mut stepper = Stepper::new(&multibody);
    let step = |stepper: &mut Stepper<'_>, contacts: Option<&mut Hammer>| match contacts {
        Some(it) => stepper.step_with(&posture, 0.0, 1e-3, &modes, it),
        None => stepper.step(&posture, 0.0, 1e-3, &modes),
    };
    let free = step(&mut stepper, None).unwrap();
    assert!(!free.friction_exceeded);
    let mut hammer = Hammer(0);
    let struck = step(&mut stepper, Some(&mut hammer)).unwrap();
    assert!(struck.friction_exceeded);
    assert!(struck.rates[0].abs() <= 1e-15, "{}", struck.rates[0]);
    assert!(struck.holding[0][1].abs() > 0.5 * 25.0 * 1e-3);
    assert!(hammer.0 <= 40, "{}", hammer.0);
}
