//! Time stepping against closed forms and its own balance.

use super::common::{G, ball, close, cuboid, floor, limits, moving, plane, spec, v};
use carom_motion::hybrid::Ending;
use carom_motion::world::{Event, Executor, RunEnd, Scheme, Serial, Stepping, World, WorldSpec};
use carom_variational::State;
use nalgebra::Vector3;

/// A run with samples on every line of the grid.
fn run(spec: &WorldSpec, duration: f64, executor: &dyn Executor) -> (World, RunEnd, Vec<f64>) {
    let world = World::new(spec).unwrap();
    let h = spec.time_step;
    let lines = (duration / h).round() as usize;
    let samples: Vec<f64> = (0..=lines).map(|k| k as f64 * h).collect();
    let mut energies = Vec::new();
    let end = world.run_in_steps(
        &Stepping::default(),
        &limits(duration),
        &samples,
        executor,
        &mut |event| {
            if let Event::Sample(sample) = event {
                energies.push(energy(&world, sample.states));
            }
        },
    );
    assert_eq!(end.ending, Ending::Completed);
    (world, end, energies)
}

fn energy(world: &World, states: &[State]) -> f64 {
    let all = states.iter().enumerate();
    all.map(|(body, state)| world.energy(body, state)).sum()
}

fn box_of_planes(width: f64) -> Vec<carom_motion::world::PlaneSpec> {
    vec![
        floor(),
        plane("left", v(1.0, 0.0, 0.0), width),
        plane("right", v(-1.0, 0.0, 0.0), width),
        plane("front", v(0.0, 1.0, 0.0), width),
        plane("back", v(0.0, -1.0, 0.0), width),
    ]
}

/// Balls above each other, a little aside, that fall into a box.
fn pit(count: usize) -> WorldSpec {
    let at = |i: usize| {
        let x = i as f64;
        v(
            0.02 * (1.7 * x).sin(),
            0.02 * (2.3 * x).cos(),
            0.15 + 0.22 * x,
        )
    };
    let bodies = (0..count)
        .map(|i| ball(&format!("b{i}"), 0.1, 1.0, at(i)))
        .collect();
    WorldSpec {
        time_step: 2e-3,
        ..spec(bodies, box_of_planes(0.22), 0.5, 0.5)
    }
}

fn check_balance(spec: &WorldSpec, world: &World, end: &RunEnd, energies: &[f64]) {
    let size = energies.iter().fold(0.0, |s: f64, e| s.max(e.abs()));
    assert!(
        end.balance.energy_error <= 1e-12 * size,
        "{:e}",
        end.balance.energy_error
    );
    let mass: f64 = spec
        .bodies
        .iter()
        .filter_map(|b| b.mass.as_ref())
        .map(|m| m.mass())
        .sum();
    // A contact closes up to a step early, which can lift what it stops by g h^2/8.
    let lift = mass * (G * spec.time_step).powi(2) / 8.0;
    for pair in energies.windows(2) {
        assert!(pair[1] - pair[0] <= 1e-9 * size + lift + end.balance.projection.abs());
    }
    let momentum = |states: &[State]| -> Vector3<f64> {
        states.iter().map(|state| state.linear_momentum).sum()
    };
    let given: Vector3<f64> = end.balance.supports.iter().sum();
    let fall = spec.gravity * (mass * end.time);
    let error = momentum(world.initial_states()) + fall + given - momentum(&end.states);
    assert!(error.amax() <= 1e-12 * mass * G, "{:e}", error.amax());
}

#[test]
fn a_resting_ball_is_carried_by_its_weight_and_does_not_move() {
    let spec = spec(
        vec![ball("b", 0.1, 2.0, v(0.0, 0.0, 0.1))],
        vec![floor()],
        0.5,
        0.5,
    );
    let (_, end, _) = run(&spec, 0.5, &Serial);
    close(end.balance.supports[1].z, 2.0 * G * 0.5, 1e-10);
    close(end.states[0].position.z, 0.1, 1e-13);
    assert_eq!(end.n_impacts, 0);
}

#[test]
fn a_ball_bounces_with_its_restitution() {
    let mut spec = spec(
        vec![moving(
            ball("b", 0.1, 1.0, v(0.0, 0.0, 0.35)),
            v(0.0, 0.0, -3.0),
            Vector3::zeros(),
        )],
        vec![floor()],
        0.0,
        0.6,
    );
    spec.gravity = Vector3::zeros();
    let (world, end, _) = run(&spec, 0.2, &Serial);
    close(world.velocity(0, &end.states[0]).0.z, 1.8, 1e-9);
    assert_eq!(end.n_impacts, 1);
}

/// Both walls push: what one gives the other takes, and the ball stops for any restitution.
#[test]
fn a_ball_between_two_walls_stops_and_presses_both() {
    let mut spec = spec(
        vec![moving(
            ball("b", 0.1, 1.0, Vector3::zeros()),
            v(1.0, 0.0, 0.0),
            Vector3::zeros(),
        )],
        vec![
            plane("left", v(1.0, 0.0, 0.0), 0.1),
            plane("right", v(-1.0, 0.0, 0.0), 0.1),
        ],
        0.0,
        0.5,
    );
    spec.gravity = Vector3::zeros();
    let (world, end, _) = run(&spec, 0.02, &Serial);
    close(world.velocity(0, &end.states[0]).0.x, 0.0, 1e-9);
    close(end.balance.supports[2].x, -1.5, 1e-8);
    close(end.balance.supports[1].x, 0.5, 1e-8);
    assert!(end.lowest_gap >= -1e-9);
}

#[test]
fn a_sliding_block_comes_to_rest_after_its_stopping_distance() {
    let (mu, speed) = (0.3, 1.0);
    let block = cuboid("block", [0.1, 0.1, 0.05], v(0.0, 0.0, 0.05));
    let mut spec = spec(
        vec![moving(block, v(speed, 0.0, 0.0), Vector3::zeros())],
        vec![floor()],
        mu,
        0.0,
    );
    spec.time_step = 5e-4;
    let (world, end, energies) = run(&spec, 0.5, &Serial);
    close(
        end.states[0].position.x,
        speed * speed / (2.0 * mu * G),
        1e-3 * speed,
    );
    close(world.velocity(0, &end.states[0]).0.norm(), 0.0, 1e-9);
    check_balance(&spec, &world, &end, &energies);
}

#[test]
fn balls_that_fall_into_a_box_keep_the_balance_and_stay_apart() {
    let spec = pit(14);
    let (world, end, energies) = run(&spec, 0.6, &Serial);
    assert_eq!(world.suitable_scheme(), Scheme::TimeStepping);
    check_balance(&spec, &world, &end, &energies);
    assert!(end.lowest_gap >= -1e-9, "{:e}", end.lowest_gap);
    let counts = end.stepping.unwrap();
    assert_eq!(counts.n_inaccurate, 0);
    assert!(counts.n_bounces > 20 && counts.max_island > 8);
}

#[test]
fn a_stack_of_boxes_settles_and_does_not_creep() {
    let boxes = (0..4).map(|i| {
        let x = 0.002 * f64::from(i % 2);
        cuboid(
            &format!("c{i}"),
            [0.1, 0.1, 0.1],
            v(x, 0.0, 0.101 + 0.201 * f64::from(i)),
        )
    });
    let mut spec = spec(boxes.collect(), vec![floor()], 0.5, 0.0);
    spec.time_step = 2e-3;
    let (world, end, energies) = run(&spec, 0.5, &Serial);
    check_balance(&spec, &world, &end, &energies);
    for (k, state) in end.states.iter().enumerate() {
        close(state.position.z, 0.1 + 0.2 * k as f64, 1e-6);
        close(state.position.x, 0.002 * (k % 2) as f64, 1e-5);
    }
    close(end.balance.supports[4].z, 4.0 * G * 0.5, 1e-6);
}

/// Tasks in reverse order, as other threads might take them.
struct Reversed;

impl Executor for Reversed {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for index in (0..count).rev() {
                scope.spawn(move || task(index));
            }
        });
    }
}

#[test]
fn the_order_of_tasks_changes_no_bit() {
    let spec = pit(13);
    let (_, serial, energies) = run(&spec, 0.3, &Serial);
    let (_, threads, others) = run(&spec, 0.3, &Reversed);
    assert_eq!(serial, threads);
    assert_eq!(energies, others);
}

#[test]
fn a_sample_between_steps_leaves_no_trace() {
    let spec = pit(5);
    let world = World::new(&spec).unwrap();
    let of = |samples: &[f64]| {
        let options = Stepping::default();
        world.run_in_steps(&options, &limits(0.3), samples, &Serial, &mut |_| {})
    };
    assert_eq!(of(&[]), of(&[0.0, 0.0703, 0.1111, 0.2999]));
}

#[test]
fn tolerances_out_of_range_are_refused() {
    assert!(Stepping::new(1e-5, 3.0).is_err());
    assert!(Stepping::new(1e-15, 3.0).is_err());
    assert!(Stepping::new(1e-9, -1.0).is_err());
    assert!(Stepping::new(f64::NAN, 3.0).is_err());
}
