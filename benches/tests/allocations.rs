//! The inner loops do not allocate.
#![allow(clippy::unwrap_used, clippy::panic)]

use allocation_counter::measure;
use carom_benches::robots;
use carom_benches::worlds::{gas, laws, limits};
use carom_benches::{chain_contacts, line_metric, wedge_masses};
use carom_motion::billiard::Ellipse;
use carom_motion::hybrid::Limits;

use carom_contact::{
    ContactIndex, ContactSet, Diagnostics, ImpactLaw, ImpactOutcome, ImpactProblem,
};
use carom_geometry::{Ellipsoid, HalfSpace, MassProperties};
use carom_impact::frictional::{BranchPolicy, Sampler, SetValued};
use carom_impact::internal::Draw;
use carom_impact::two_body::{ContactInertia, ContactResponse, ImpactOptions, solve_impact};
use carom_impact::{Propagative, Restitution};
use carom_lcp::{LcpRef, LcpStatus, Lemke, LemkeWorkspace};
use carom_lie::So3;
use carom_mechanism::systems::Block;
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
use carom_metric::{KineticMetric, Tangent};
use carom_motion::billiard::penny::{PennyBilliard, PennyState, RollingPenny};
use carom_motion::hybrid::Ending;
use carom_scenarios::tail_runner::{Layout, Lengths, TailRunner};
use carom_world::joints::step::{Modes, Step, Stepper};

use carom_motion::flying::{Collider, ImpactRule};
use carom_motion::generalized::CollisionIntegrator;
use carom_variational::{FreeFlight, RigidBody, State, TimeGrid};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::FRAC_PI_2;

/// Head-on between the outer balls, so that a chain takes all the impacts of its wedge.
const VELOCITY: [f64; 3] = [1.0, 0.0, -1.0];

/// Three balls whose two contacts collide about `impacts` times.
fn balls(impacts: f64) -> KineticMetric {
    line_metric(&wedge_masses(FRAC_PI_2 / (impacts + 0.2))).unwrap()
}

/// Impacts and allocations of one call of the law.
fn resolve(impacts: f64) -> (u64, u64) {
    let metric = balls(impacts);
    let contacts = ContactSet::new(&metric, chain_contacts(3)).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&VELOCITY)).unwrap();
    let law = Propagative::default();
    let mut outcome = None;
    let allocated = measure(|| outcome = Some(law.resolve(&problem).unwrap()));
    (length(&outcome.unwrap()), allocated.count_total)
}

fn length(outcome: &ImpactOutcome) -> u64 {
    match &outcome.diagnostics {
        Diagnostics::Propagative(diagnostics) => diagnostics.impacts,
        _ => 0,
    }
}

/// Room for the first impacts of a sequence is made at once, then it doubles: 8, 16, 32, 64.
/// An allocation in the loop would show in each of the other impacts.
#[test]
fn impacts_allocate_nothing_but_room_for_their_sequence() {
    let (few, base) = resolve(3.0);
    let (more, same) = resolve(7.0);
    let (many, grown) = resolve(40.0);
    assert!(few < more && more <= 8, "{few} and {more} impacts");
    assert!((33..=64).contains(&many), "{many} impacts");
    assert_eq!(same, base);
    assert_eq!(grown, base + 3);
}

#[test]
fn a_reflection_in_place_allocates_nothing() {
    let metric = balls(3.0);
    let contacts = ContactSet::new(&metric, chain_contacts(3)).unwrap();
    let (mut velocity, mut workspace) = (VELOCITY, [0.0; 3]);
    let mut impulse = 0.0;
    let allocated = measure(|| {
        for i in [0, 1, 0].map(ContactIndex::new) {
            impulse += contacts.reflect_in_place(i, &mut velocity, &mut workspace);
        }
    });
    assert!(impulse > 0.0);
    assert_eq!(allocated.count_total, 0);
}

/// A positive definite matrix with an off-diagonal of one sign, and what approaches.
fn contact_rows(n: usize) -> (Vec<f64>, Vec<f64>) {
    let entry = |k: usize| match (k / n).abs_diff(k % n) {
        0 => 2.0,
        1 => -0.7,
        _ => 0.1,
    };
    let matrix = (0..n * n).map(entry).collect();
    (matrix, (0..n).map(|i| (i % 5) as f64 - 3.0).collect())
}

#[test]
fn a_warm_workspace_solves_complementarity_problems_without_allocating() {
    let (large, vector) = contact_rows(24);
    let lemke = Lemke::default();
    let mut workspace = LemkeWorkspace::new();
    let problem = LcpRef::new(&large, &vector).unwrap();
    lemke.solve_into(problem, &mut workspace).unwrap();
    let mut from_basis = Lemke::default();
    from_basis.options.start = Some(workspace.basis().to_vec());
    let (small, short) = contact_rows(9);
    let mut reports = Vec::with_capacity(3);
    let allocated = measure(|| {
        reports.push(lemke.solve_into(problem, &mut workspace).unwrap());
        let smaller = LcpRef::new(&small, &short).unwrap();
        reports.push(lemke.solve_into(smaller, &mut workspace).unwrap());
        reports.push(from_basis.solve_into(problem, &mut workspace).unwrap());
    });
    assert!(reports.iter().all(|r| r.status == LcpStatus::Solved));
    assert!(reports[0].n_pivots > 3 && reports[2].n_pivots == 0);
    assert_eq!(allocated.count_total, 0);
}

/// Samples of five contacts, all drawn once before: a few LCPs need numbers of twice the precision,
/// whose room is made when it is first needed.
#[test]
fn a_sample_of_a_set_valued_impact_allocates_nothing() {
    let (metric, contacts, velocity) = carom_benches::frictional::disk_stack().unwrap();
    let contacts = ContactSet::new(&metric, contacts).unwrap();
    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
    let law = SetValued::default().with_branch(BranchPolicy::RandomCovering { spread: 6.0 });
    let sampler = Sampler::new(&problem, &law).unwrap();
    let mut draw = Draw::default();
    for sample in 0..1000 {
        sampler.draw(sample, &mut draw).unwrap();
    }
    let allocated = measure(|| {
        for sample in 0..1000 {
            sampler.draw(sample, &mut draw).unwrap();
        }
    });
    assert!(draw.steps > 0);
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn a_frictional_impact_allocates_nothing() {
    let w = Matrix3::new(
        11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
    );
    let v = Vector3::new(-0.261976, 0.386329, -0.827174);
    let options = ImpactOptions::default();
    let w = ContactInertia::from_matrix(&w).unwrap();
    let mut found = Vec::with_capacity(1);
    let allocated = measure(|| {
        found.push(solve_impact(&w, &v, 0.25, 0.95, &options).unwrap());
    });
    for response in found {
        let ContactResponse::Impact(impact) = response else {
            panic!("{response:?}");
        };
        assert!(impact.steps > 3, "curved");
    }
    assert_eq!(allocated.count_total, 0);
}

/// A flight above the plane, with its contact checks, allocates nothing; an impact may.
#[test]
fn steps_of_a_flight_allocate_nothing() {
    let body = MassProperties::new(1.0, Matrix3::from_diagonal(&Vector3::new(5.0, 4.0, 2.6)));
    let body = RigidBody::new(&body.unwrap());
    let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros()).unwrap();
    let plane = HalfSpace::new(Vector3::z(), 0.0).unwrap();
    let flight = FreeFlight::lgvi(Vector3::zeros());
    let collider = Collider::new(&body, &shape, &plane, &flight, ImpactRule::ELASTIC).unwrap();
    let initial = State {
        position: Vector3::new(0.0, 0.0, 4.5),
        rotation: So3::identity(),
        linear_momentum: Vector3::zeros(),
        angular_momentum: Vector3::new(4.0, -4.0, 4.0),
    };
    let grid = TimeGrid::steps(0.01, 1000).unwrap();
    let mut steps = 0;
    let allocated = measure(|| {
        let end = collider.run(&initial, &grid, None, &mut |_| steps += 1);
        assert_eq!(end.unwrap().n_impacts, 0);
    });
    assert_eq!((steps, allocated.count_total), (1001, 0));
}

/// On a narrow ellipse, where circles meet the wall up to four times.
#[test]
fn the_penny_allocates_nothing_from_impact_to_impact() {
    let penny = RollingPenny::thin_disk(0.01, 0.0025).unwrap();
    let table = Ellipse::new(0.012, 0.2).unwrap();
    let billiard = PennyBilliard::new(penny, table, Restitution::Elastic).unwrap();
    let start = PennyState {
        phi: 1.0,
        theta_dot: 10.0,
        phi_dot: 3.0,
        ..PennyState::default()
    };
    let mut impacts = 0;
    let allocated = measure(|| {
        let _ = billiard.follow(start, Limits::impacts(1000), |_| impacts += 1);
    });
    assert_eq!(impacts, 1000);
    assert_eq!(allocated.count_total, 0);
}

/// Steps of a mechanism reuse the workspace of the run, in flight and with lasting contacts.
#[test]
fn steps_of_a_mechanism_do_not_allocate() {
    let gravity = [1.0, -9.81];
    let block = Block::new(0.5, 0.1, 1.0, gravity).unwrap();
    let block = block.with_friction(0.05).unwrap();
    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(&block, &law).unwrap();
    for height in [50.0, 0.1] {
        let start = integrator
            .state(0.0, &[0.0, height, 0.0], &[1.0, 0.0, 0.0])
            .unwrap();
        let [few, many] = [10, 1000].map(|steps| {
            let grid = TimeGrid::steps(0.001, steps).unwrap();
            let run = || {
                let end = integrator.run(&start, &grid, None, &mut |_| ()).unwrap();
                assert_eq!((end.ending, end.n_impacts), (Ending::Completed, 0));
            };
            measure(run).count_total
        });
        assert_eq!(few, many, "from the height {height}");
    }
}

/// The robot has eight links, which fit on the stack; a longer flight allocates no more.
#[test]
fn planar_mechanisms_fly_without_the_allocator() {
    let lengths = Lengths::from_table([7.0, 4.0, 8.0, 10.0]);
    let robot = TailRunner::passive(lengths, Layout::default(), 0.0).unwrap();
    let stance = [0.0, 112.38, 5.78, 5.13, 5.24, 1.99, 5.24, 0.0];
    let velocity = [10.0, -20.0, 1.0, 2.0, -1.0, 0.5, 1.5, -0.7];
    let mut dynamics = Dynamics::new(8);
    let at = Motion {
        time: 0.0,
        configuration: &stance,
        velocity: &velocity,
    };
    let evaluation = measure(|| {
        robot
            .mechanism
            .dynamics(&at, Derivatives::Second, &mut dynamics);
    });
    assert_eq!(evaluation.count_total, 0);
    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(&robot.mechanism, &law).unwrap();
    let start = integrator.state(0.0, &stance, &velocity).unwrap();
    let fly = |steps| {
        let grid = TimeGrid::steps(1e-3, steps).unwrap();
        let run = || integrator.run(&start, &grid, None, &mut |_| ()).unwrap();
        measure(|| assert_eq!(run().n_steps, steps)).count_total
    };
    assert_eq!(fly(2), fly(50));
}

/// A run of three times as many impacts, flights and searches allocates as much as a shorter one.
#[test]
fn impacts_of_spheres_in_a_world_allocate_nothing() {
    let world = gas(4, 1.5).unwrap();
    let allocated = |impacts: usize| {
        let mut end = None;
        let count = measure(|| {
            end = Some(world.run(
                &laws(carom_world::OnZeno::Continue),
                &limits(impacts),
                &[],
                &mut |_| (),
            ));
        });
        assert_eq!(end.unwrap().n_impacts, impacts);
        count.count_total
    };
    let (few, many) = (allocated(20_000), allocated(60_000));
    assert_eq!(few, many);
}

/// Steps of a tree of jointed bodies make room once: a quadruped with motors, dampers and dry friction.
#[test]
fn steps_of_jointed_bodies_do_not_allocate() {
    let world = robots::assembled(&robots::quadruped(2.0)).unwrap();
    let multibody = world.multibody();
    let modes = Modes::free(multibody);
    let mut stepper = Stepper::new(multibody);
    let (mut posture, mut step) = (world.start().clone(), Step::default());
    let mut run = |n: u32, time: f64| {
        for k in 0..n {
            let time = time + f64::from(k) * 1e-3;
            stepper
                .step_into(&posture, time, 1e-3, &modes, &mut step)
                .unwrap();
            std::mem::swap(&mut posture, &mut step.end);
        }
    };
    run(5, 0.0);
    let allocated = measure(|| run(100, 5e-3));
    assert_eq!(allocated.count_total, 0);
}
