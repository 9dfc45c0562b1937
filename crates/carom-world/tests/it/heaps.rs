//! Time stepping against closed forms and its own balance.

use super::common::{G, ball, body, close, cuboid, floor, limits, moving, plane, spec, v};
use carom_geometry::{Cuboid, Ellipsoid, Shape};
use carom_impact::frictional::Poisson;
use carom_impact::two_body::ImpactOptions;
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_variational::State;
use carom_world::{
    Event, Executor, Laws, RunEnd, Scheme, Serial, SingleLaw, Stepping, World, WorldSpec,
};
use nalgebra::Vector3;

fn run(spec: &WorldSpec, duration: f64, executor: &dyn Executor) -> (World, RunEnd, Vec<f64>) {
    run_with(spec, duration, &Stepping::default(), executor)
}

/// Contacts that do not yield.
fn rigid() -> Stepping {
    Stepping::default().with_deflection(0.0).unwrap()
}

/// A run with samples on every line of the grid.
fn run_with(
    spec: &WorldSpec,
    duration: f64,
    stepping: &Stepping,
    executor: &dyn Executor,
) -> (World, RunEnd, Vec<f64>) {
    let world = World::new(spec).unwrap();
    let h = spec.time_step;
    let lines = (duration / h).round() as usize;
    let samples: Vec<f64> = (0..=lines).map(|k| k as f64 * h).collect();
    let mut energies = Vec::new();
    let end = world.run_in_steps(
        stepping,
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

fn box_of_planes(width: f64) -> Vec<carom_world::PlaneSpec> {
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
    spec(bodies, box_of_planes(0.22), 0.5, 0.5).with_time_step(2e-3)
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
    // A contact closes up to a step early, which can lift what it stops by g h^2/8. Springs give back what they stored.
    let lift = mass * (G * spec.time_step).powi(2) / 8.0;
    let springs = 1e-5 * size;
    for pair in energies.windows(2) {
        assert!(pair[1] - pair[0] <= springs + lift + end.balance.projection.abs());
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

/// An egg that rocks on a floor without friction: nothing takes energy, so that all that its steps take is their error, and it
/// is told. It falls with the step, which `max_abs_error_j` does not show.
#[test]
fn the_error_of_steps_is_told_as_work_of_lasting_contacts() {
    let errors = [4e-3, 2e-3, 1e-3].map(|time_step| {
        let shape = Ellipsoid::new([0.2, 0.15, 0.1], v(0.0, 0.0, 0.0)).unwrap();
        let egg = body("egg", Shape::Ellipsoid(shape), 1.0, v(0.0, 0.0, 0.1));
        let egg = moving(egg, v(0.1, 0.0, 0.0), v(1.0, 2.0, 0.0));
        let spec = spec(vec![egg], vec![floor()], 0.0, 0.0).with_time_step(time_step);
        let (world, end, _) = run_with(&spec, 1.0, &rigid(), &Serial);
        let balance = &end.balance;
        let first = energy(&world, world.initial_states());
        let lost = first + balance.projection - energy(&world, &end.states);
        assert!(balance.energy_error <= 1e-12 * first);
        close(balance.contact_loss, lost, 1e-12 * first);
        // Work that lasting contacts did not do was done by contacts that opened before.
        let told = -balance.lasting_work;
        assert!((told - lost).abs() <= 0.25 * lost, "{told:e} {lost:e}");
        told
    });
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!(ratio >= 1.5, "{ratio}");
    }
}

/// The impact of a fast heavy ball: kinetic energies before and after are not below zero, and differ by the work of the impulses.
#[test]
fn energies_of_an_impact_in_a_step_are_kinetic() {
    let heavy = |at: f64, speed: f64| {
        let ball = ball("b", 0.1, 1e4, v(0.0, 0.0, at));
        moving(ball, v(0.0, 0.0, -speed), v(0.0, 0.0, 0.0))
    };
    for speed in [0.05, 0.5, 5.0] {
        let spec =
            spec(vec![heavy(0.1 + 1e-3, speed)], vec![floor()], 0.0, 0.5).with_time_step(1e-2);
        let world = World::new(&spec).unwrap();
        let mut seen = 0;
        let stepping = Stepping::new(1e-9, 0.1).unwrap();
        let end = world.run_in_steps(&stepping, &limits(0.1), &[], &Serial, &mut |event| {
            if let Event::Impact(impact) = event {
                seen += 1;
                let [(body, state)] = impact.states.as_slice() else {
                    panic!("{:?}", impact.states);
                };
                let kinetic = 0.5 * state.linear_momentum.norm_squared() / 1e4;
                assert_eq!(*body, 0);
                close(impact.energy_plus, kinetic, 1e-9 * kinetic.max(1.0));
                assert!(impact.energy_plus >= 0.0 && impact.energy_minus >= impact.energy_plus);
            }
        });
        assert_eq!(end.ending, Ending::Completed);
        assert!(seen > 0);
    }
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
    // A contact yields by 5e-6 of the radius, (1 + e) times in a step.
    let yielding = 1.6 * 5e-7 / spec.time_step;
    for (stepping, tolerance) in [(rigid(), 1e-9), (Stepping::default(), yielding)] {
        let (world, end, _) = run_with(&spec, 0.2, &stepping, &Serial);
        close(world.velocity(0, &end.states[0]).0.z, 1.8, tolerance);
        assert_eq!(end.n_impacts, 1);
    }
}

/// The floor carries the heavy ball with impulses of up to 1e10 times the impulse that stops the light one: the light ball
/// rebounds as from a fixed one.
#[test]
fn a_light_ball_rebounds_whatever_other_contacts_carry() {
    for heavy in [1.0, 1e4, 1e8, 1e11] {
        let light = ball("light", 0.1, 1.0, v(0.0, 0.0, 0.3 + 5e-3));
        let spec = spec(
            vec![
                ball("heavy", 0.1, heavy, v(0.0, 0.0, 0.1)),
                moving(light, v(0.0, 0.0, -2.0), Vector3::zeros()),
            ],
            vec![floor()],
            0.0,
            0.5,
        )
        .with_time_step(2e-3);
        let (world, end, _) = run(&spec, 0.01, &Serial);
        assert_eq!(end.n_impacts, 1, "{heavy:e}");
        let speed = world.velocity(1, &end.states[1]).0.z;
        assert!(speed > 0.5, "{heavy:e}: {speed}");
    }
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
    let (world, end, _) = run_with(&spec, 0.02, &rigid(), &Serial);
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
    assert!(end.lowest_gap >= -1e-4, "{:e}", end.lowest_gap);
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
        close(state.position.z, 0.1 + 0.2 * k as f64, 2e-5);
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

/// Each ball is as heavy as it likes: light ones carry heavy ones.
#[test]
fn masses_of_one_to_a_thousand_settle_on_each_other() {
    let at = |i: u32| {
        let x = f64::from(i);
        v(0.03 * (x % 3.0), 0.02 * (x % 2.0), 0.15 + 0.22 * x)
    };
    let mass = |i: u32| 1000f64.powf(f64::from((i * 5) % 8) / 7.0);
    let bodies = (0..8).map(|i| ball(&format!("b{i}"), 0.1, mass(i), at(i)));
    let spec = spec(bodies.collect(), box_of_planes(0.16), 0.5, 0.5).with_time_step(2e-3);
    let (world, end, energies) = run(&spec, 1.0, &Serial);
    check_balance(&spec, &world, &end, &energies);
    assert!(end.lowest_gap >= -1e-3, "{:e}", end.lowest_gap);
    assert_eq!(end.stepping.unwrap().n_inaccurate, 0);
}

/// Heaps that cannot touch each other take the problems and the Newton steps of one, times their number.
#[test]
fn ten_far_heaps_take_ten_times_the_steps_of_one() {
    let heaps = |count: u32| {
        let bodies = (0..count).flat_map(|k| {
            (0..6).map(move |i| {
                let x = f64::from(i);
                let (aside, across) = (0.02 * (1.7 * x).sin(), 0.02 * (2.3 * x).cos());
                let place = v(64.0 * f64::from(k) + aside, across, 0.15 + 0.22 * x);
                ball(&format!("b{k}-{i}"), 0.1, 1.0, place)
            })
        });
        let mut spec = spec(bodies.collect(), vec![floor()], 0.5, 0.5);
        spec.time_step = 2e-3;
        let (_, end, _) = run(&spec, 0.5, &Serial);
        end.stepping.unwrap()
    };
    let (one, ten) = (heaps(1), heaps(10));
    assert_eq!(ten.max_island, one.max_island);
    assert!(one.max_island > 4);
    assert!(ten.n_problems <= 11 * one.n_problems);
    assert!(ten.newton_steps <= 11 * one.newton_steps);
}

/// Balls and tumbling boxes together, on faces, edges and corners.
#[test]
fn balls_and_boxes_fall_into_one_heap() {
    let bodies = (0..12).map(|i| {
        let x = f64::from(i);
        let place = v(
            0.14 * (x % 2.0) - 0.07,
            0.02 * (2.3 * x).cos(),
            0.2 + 0.16 * x,
        );
        if i % 3 < 2 {
            return ball(&format!("b{i}"), 0.07, 1.0, place);
        }
        let mut tumbling = cuboid(&format!("c{i}"), [0.08, 0.06, 0.05], place);
        tumbling.configuration.rotation = carom_lie::So3::exp(&v(x.sin(), x.cos(), 0.3));
        moving(tumbling, Vector3::zeros(), v(1.0, -2.0, 0.5))
    });
    let spec = spec(bodies.collect(), box_of_planes(0.22), 0.5, 0.3).with_time_step(2e-3);
    let (world, end, energies) = run(&spec, 0.8, &Serial);
    check_balance(&spec, &world, &end, &energies);
    assert!(end.lowest_gap >= -1e-3 * 0.05, "{:e}", end.lowest_gap);
    let counts = end.stepping.unwrap();
    assert!(counts.worst_residual <= 1e-6);
    assert!(100 * counts.n_inaccurate <= counts.n_problems);
    assert!(counts.max_island > 12);
}

/// A row falls from end to end, each domino onto the next, and loses energy only.
#[test]
fn a_row_of_dominoes_falls_to_its_end() {
    let (a, h, push) = (0.004, 0.024, 3.0);
    let count = 8;
    let bodies = (0..count).map(|k| {
        let mut domino = cuboid(
            &format!("d{k}"),
            [a, 0.012, h],
            v(0.024 * f64::from(k), 0.0, h),
        );
        if k == 0 {
            domino = moving(domino, v(h, 0.0, a) * push, v(0.0, push, 0.0));
        }
        domino
    });
    let spec = spec(bodies.collect(), vec![floor()], 0.3, 0.2);
    let (world, end, energies) = run(&spec, 0.6, &Serial);
    check_balance(&spec, &world, &end, &energies);
    // Each leans farther than where its upper edge meets an upright neighbor, 16 mm away.
    let meets = (0.016 / (2.0 * h)).asin().cos();
    for state in &end.states {
        let upward = state.rotation.rotate(&Vector3::z()).z;
        assert!(upward < meets, "{upward}");
    }
    assert!(end.lowest_gap >= -1e-3 * a, "{:e}", end.lowest_gap);
}

/// Boxes that spin by a sixth of a radian in a step and hit each other, cubes, rods and plates, one up to a hundred times as heavy:
/// rotation brings edges deep into faces within a step, where the impulses must keep them out instead of the run ending.
#[test]
fn fast_boxes_do_not_stop_a_run() {
    let mut hits = 0;
    for case in 0..300 {
        let turned = |k: usize| {
            let angle = (37 * case + 11 * k) as f64;
            v(angle.sin(), (1.7 * angle).cos(), (2.3 * angle).sin())
        };
        let a_box = |k: usize, side: f64| {
            let half = [[0.055; 3], [0.1, 0.02, 0.02], [0.09, 0.07, 0.015]][(case + k) % 3];
            let mass = if k == 0 {
                1.0
            } else {
                [1.0, 10.0, 100.0][case / 3 % 3]
            };
            let at = v(0.12 * side, 0.02 * side, 0.0);
            let still = body(
                ["a", "b"][k],
                Shape::Cuboid(Cuboid::new(half).unwrap()),
                mass,
                at,
            );
            let spin = turned(k + 2).normalize() * 80.0;
            let mut spun = moving(still, v(-1.5 * side, 0.0, 0.0), spin);
            spun.configuration.rotation = So3::exp(&(turned(k) * 2.0));
            spun
        };
        let boxes = vec![a_box(0, 1.0), a_box(1, -1.0)];
        let mut spec = spec(boxes, Vec::new(), 0.2, 0.3).with_time_step(2e-3);
        spec.gravity = Vector3::zeros();
        let world = World::new(&spec).unwrap();
        let stepping = Stepping::default();
        let end = world.run_in_steps(&stepping, &limits(0.1), &[], &Serial, &mut |_| ());
        assert_eq!(end.ending, Ending::Completed, "case {case}");
        hits += usize::from(end.n_impacts > 0);
    }
    // Boxes that pass each other are few.
    assert!(hits > 200, "{hits}");
}

/// A dropped stack whose boxes rattle: each body has more impacts at several contacts within a step than steps can tell apart,
/// so that the run goes on in steps.
#[test]
fn a_rattling_stack_goes_on_in_steps() {
    let boxes = |k: usize| {
        let up = 0.07 + 0.15 * k as f64;
        let aside = 0.004 * (3.0 * k as f64).sin();
        cuboid(&format!("b{k}"), [0.2, 0.15, 0.07], v(aside, -aside, up))
    };
    let spec = spec((0..8).map(boxes).collect(), vec![floor()], 0.5, 0.5).with_time_step(2e-3);
    let world = World::new(&spec).unwrap();
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| {
        Box::new(Poisson::default())
    });
    let stepping = (&Stepping::default(), &Serial as &dyn Executor);
    let end = world.run_or_step(&laws, &limits(0.2), &[], stepping, &mut |_| ());
    assert_eq!(end.ending, Ending::Completed);
    let change = end.handed_over.expect("it hands over");
    assert_eq!(change.kind, "work", "{}", change.message);
    assert!(
        end.balance.energy_error < 1e-3,
        "{:e}",
        end.balance.energy_error
    );
}

/// Balls that bounce on each other in a narrow box, from event to event. Some of them touch only because a step of lasting contact
/// that is ended early has other impulses than the whole step: they must not reach into each other until the step ends.
#[test]
fn balls_that_touch_within_a_step_do_not_overlap() {
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| {
        Box::new(Poisson::default())
    });
    for case in [1, 5] {
        let at = |i: usize| {
            let x = (i + 7 * case) as f64;
            let height = 0.15 + 0.21 * i as f64;
            v(0.1 * (1.7 * x).sin(), 0.1 * (2.9 * x).cos(), height)
        };
        let balls = (0..6).map(|i| ball(&format!("b{i}"), 0.1, 1.0, at(i)));
        let spec = spec(balls.collect(), box_of_planes(0.21), 0.5, 0.5).with_time_step(2e-3);
        let world = World::new(&spec).unwrap();
        let stepping = (&rigid(), &Serial as &dyn Executor);
        let end = world.run_or_step(&laws, &limits(0.8), &[], stepping, &mut |_| ());
        assert_eq!(end.ending, Ending::Completed, "case {case}");
        assert!(
            end.lowest_gap >= -1e-10,
            "case {case}: {:e}",
            end.lowest_gap
        );
    }
}

/// Three balls in a row fit exactly between two walls. Pressed out of line they jam, with impulses up to a million times larger than
/// those that move them, and residuals are relative to these.
#[test]
fn balls_that_fit_between_walls_gain_no_energy() {
    let mut bodies = Vec::new();
    for k in 0..18 {
        let along = |divisor: i32| -0.2 + 0.2 * f64::from(k / divisor % 3);
        let position = v(along(6), along(2), 0.1 + 0.2 * f64::from(k % 2));
        let part = |d: i32| {
            let x = 0.618034 * f64::from(3 * k + d + 1) * 3.0;
            1.5 * (x.fract() - 0.5)
        };
        let velocity = v(part(0), part(1), part(2));
        let resting = ball(&format!("b{k}"), 0.1, 1.0, position);
        bodies.push(moving(resting, velocity, Vector3::zeros()));
    }
    let jam = spec(bodies, box_of_planes(0.3), 0.5, 0.5).with_time_step(2e-3);
    let (_, _, energies) = run(&jam, 0.03, &Serial);
    let allowed = 18.0 * (G * jam.time_step).powi(2) / 8.0;
    for pair in energies.windows(2) {
        assert!(pair[1] - pair[0] <= allowed, "{pair:?}");
    }
}
