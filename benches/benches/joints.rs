//! Jointed bodies: the step of a quadruped in flight and standing, the cost of chains per body, a drop of two seconds.
//!
//! Ratios come first: the two that are compared take turns, and the best time of each counts.
#![allow(clippy::unwrap_used, missing_docs)]

use carom_benches::robots::{assembled, chain, quadruped};
use carom_benches::worlds::laws;
use carom_motion::hybrid::{Ending, Limits};
use carom_world::OnZeno;
use carom_world::jointed::JointedWorld;
use carom_world::joints::step::{Modes, Step, Stepper};
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::{Duration, Instant};

/// Step (s).
const STEP: f64 = 1e-3;

/// Turns of a comparison.
const TURNS: usize = 5;

/// Steps in a row from the start.
const ROW: u64 = 400;

/// Time of steps without events, in rows from the start.
fn of_steps(world: &JointedWorld, steps: u64) -> Duration {
    let modes = Modes::free(world.multibody());
    let mut stepper = Stepper::new(world.multibody());
    let (mut posture, mut step) = (world.start().clone(), Step::default());
    let begin = Instant::now();
    for k in 0..steps {
        if k % ROW == 0 {
            posture.clone_from(world.start());
            stepper.forget();
        }
        let time = (k % ROW) as f64 * STEP;
        stepper
            .step_into(&posture, time, STEP, &modes, &mut step)
            .unwrap();
        std::mem::swap(&mut posture, &mut step.end);
    }
    begin.elapsed()
}

/// Time of a run.
fn of_run(world: &JointedWorld, duration: f64) -> Duration {
    let begin = Instant::now();
    let limits = Limits::duration(duration);
    let end = world.run(&laws(OnZeno::Rest), &limits, &[], None, &mut |_| ());
    assert!(matches!(end.ending, Ending::Completed), "{:?}", end.ending);
    begin.elapsed()
}

fn best(mut of: impl FnMut() -> Duration) -> Duration {
    (0..TURNS).map(|_| of()).min().unwrap_or_default()
}

fn joints(c: &mut Criterion) {
    let [short, long] = [10, 200].map(|n| assembled(&chain(n)).unwrap());
    let one = best(|| of_steps(&short, 200)) / 2000;
    let two = best(|| of_steps(&long, 20)) / 4000;
    let ratio = two.as_secs_f64() / one.as_secs_f64();
    println!(
        "a body of a chain of 200 and of 10 links (goal 1.5): {two:?} and {one:?}, ratio {ratio:.2}"
    );
    let flying = assembled(&quadruped(5.0)).unwrap();
    // Its feet are just above the floor; it sways for a second, then it stands still.
    let standing = assembled(&quadruped(0.36)).unwrap();
    let flight = best(|| of_run(&flying, 0.5));
    // Repeated steps are so quick that only many of them can be timed.
    for (what, begin, halves) in [
        ("swaying on four feet", 0.5, 1_u32),
        ("standing still", 1.5, 40),
    ] {
        let earlier = best(|| of_run(&standing, begin));
        let later = best(|| of_run(&standing, begin + 0.5 * f64::from(halves)));
        let rest = later.saturating_sub(earlier) / halves;
        let ratio = rest.as_secs_f64() / flight.as_secs_f64();
        println!(
            "a quadruped {what} and in flight, 500 steps (goal 3): {rest:?} and {flight:?}, ratio {ratio:.2}"
        );
    }
    let dropped = assembled(&quadruped(0.85)).unwrap();
    println!(
        "dropped from 0.5 m, 2 s (goal 2 s): {:?}",
        best(|| of_run(&dropped, 2.0))
    );
    c.bench_function("joints/step/quadruped in flight", |b| {
        b.iter_custom(|n| of_steps(&flying, n));
    });
    c.bench_function("joints/step/chain of 200", |b| {
        b.iter_custom(|n| of_steps(&long, n));
    });
}

criterion_group!(benches, joints);
criterion_main!(benches);
