//! Motion under velocity constraints against an independent integration, and closed forms.

use super::models::{
    Model, R, disk, driven_disk, knife_edge, particle, penny_on_ellipse, reference, sleigh, slope,
    snakeboard, system, trailer,
};
use carom_impact::frictional::MoreauNewton;
use carom_mechanism::formulas::{FormulaContact, FormulaRates, FormulaSystem, Symbols};
use carom_mechanism::planar::{Blade, Inertia, Line, LineContact, Link, PlanarBuilder};
use carom_mechanism::{Constrained, MechanicalSystem};
use carom_motion::generalized::{CollisionIntegrator, IntegratorError, Trajectory};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;
use nalgebra::{DVector, dvector};

type Build = fn() -> Model;

fn fly<S: MechanicalSystem>(system: &S, model: &Model, step: f64) -> Trajectory {
    let law = MoreauNewton::default();
    let integrator = CollisionIntegrator::new(system, &law).unwrap();
    let start = integrator
        .state(0.0, &model.position, &model.velocity)
        .unwrap();
    let grid = TimeGrid::duration(step, model.duration).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    assert_eq!(run.end.ending, Ending::Completed);
    let mut row = vec![0.0; model.position.len()];
    for state in &run.states {
        let v = integrator.velocity(state).unwrap().0;
        for constraint in 0..system.constraints().len() {
            system.constraint_row(constraint, state.configuration.as_slice(), &mut row);
            let rate: f64 = row.iter().zip(v.iter()).map(|(a, v)| a * v).sum();
            assert!(
                rate.abs() <= 1e-13 * (1.0 + v.norm()),
                "{constraint}: {rate}"
            );
        }
    }
    run
}

fn end(run: &Trajectory) -> DVector<f64> {
    run.end.state.configuration.clone()
}

/// Second order, and the same motion as an independent integration: final configurations and times of impacts.
#[test]
fn constrained_motions_converge_to_an_independent_integration() {
    let models: [(&str, Build); 8] = [
        ("disk on a slope", disk),
        ("penny on an ellipse", penny_on_ellipse),
        ("driven disk", driven_disk),
        ("sleigh", sleigh),
        ("knife edge", knife_edge),
        ("particle", particle),
        ("snakeboard", snakeboard),
        ("trailer", trailer),
    ];
    let mut hit = 0;
    for (name, model) in models {
        let model = model();
        let system = system(&model);
        let (exact, times) = reference(&model);
        let exact = DVector::from_vec(exact);
        let runs = [2e-3, 1e-3, 5e-4].map(|step| fly(&system, &model, step));
        let errors = [0, 1, 2].map(|k| (end(&runs[k]) - &exact).norm());
        hit += usize::from(!times.is_empty());
        for k in 0..2 {
            let ratio = errors[k] / errors[k + 1];
            assert!(ratio >= 3.5, "{name}: {errors:?}");
        }
        let best = (end(&runs[2]) * 4.0 - end(&runs[1])) / 3.0;
        let error = (best - &exact).norm() / exact.norm();
        assert!(error <= 1e-6, "{name}: {error:e}");
        let hits = |k: usize| {
            runs[k]
                .impacts()
                .map(|impact| impact.time)
                .collect::<Vec<_>>()
        };
        let (coarse, fine) = (hits(1), hits(2));
        assert_eq!(
            (coarse.len(), fine.len()),
            (times.len(), times.len()),
            "{name}"
        );
        for ((a, b), time) in coarse.iter().zip(&fine).zip(&times) {
            let error = (4.0 * b - a) / 3.0 - time;
            assert!(error.abs() <= 1e-6, "{name}: {error:e} at {time}");
        }
    }
    assert!(hit >= 5, "{hit}");
}

/// The step is its own adjoint: a motion without losses goes back to its start, through its impacts.
#[test]
fn a_reversed_motion_returns() {
    for model in [disk(), sleigh(), trailer()] {
        let system = system(&model);
        let there = fly(&system, &model, 4e-3);
        assert!(there.impacts().count() > 0);
        let law = MoreauNewton::default();
        let integrator = CollisionIntegrator::new(&system, &law).unwrap();
        let last = &there.end.state;
        let velocity = integrator.velocity(last).unwrap().0;
        let back = Model {
            position: last.configuration.as_slice().to_vec(),
            velocity: (-velocity).as_slice().to_vec(),
            ..model
        };
        let error = end(&fly(&system, &back, 4e-3)) - DVector::from_vec(model.position.clone());
        assert!(error.norm() <= 1e-10, "{error}");
    }
}

/// Rows that follow from the others change nothing and are told; those that stop to follow are an error with their name.
#[test]
fn dependent_constraints_are_left_out() {
    let model = Model {
        rates: [
            disk().rates,
            vec![vec![
                ("x", "2"),
                ("y", "-1"),
                ("roll", "R*(sin(head) - 2*cos(head))"),
            ]],
        ]
        .concat(),
        ..disk()
    };
    let (plain, redundant) = (system(&disk()), system(&model));
    let law = MoreauNewton::default();
    let integrator = CollisionIntegrator::new(&redundant, &law).unwrap();
    let start = integrator
        .state(0.0, &model.position, &model.velocity)
        .unwrap();
    assert_eq!(integrator.constraint_rank(&start), Ok(2));
    let (a, b) = (fly(&plain, &model, 2e-3), fly(&redundant, &model, 2e-3));
    assert!((end(&a) - end(&b)).norm() <= 1e-11);
    // At the start the second blade is along the first one, and not when the body has turned.
    let twice = Model {
        rates: vec![
            vec![("x", "-sin(angle)"), ("y", "cos(angle)")],
            vec![("x", "-sin(0.4)"), ("y", "cos(0.4)")],
        ],
        ..sleigh()
    };
    let system = system(&twice);
    let integrator = CollisionIntegrator::new(&system, &law).unwrap();
    let start = integrator
        .state(0.0, &twice.position, &twice.velocity)
        .unwrap();
    let grid = TimeGrid::duration(1e-3, 1.0).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    let Ending::Stopped(IntegratorError::ConstraintRank { constraint, .. }) = &run.end.ending
    else {
        panic!("{:?}", run.end.ending);
    };
    assert_eq!(constraint, "c1");
}

/// A small violation at the start is projected away, a larger one refused with the name of the constraint.
#[test]
fn the_start_is_projected_or_refused() {
    let model = disk();
    let system = system(&model);
    let law = MoreauNewton::default();
    let integrator = CollisionIntegrator::new(&system, &law).unwrap();
    let grid = TimeGrid::duration(1e-3, 0.1).unwrap();
    let run = |slip: f64| {
        let mut velocity = model.velocity.clone();
        velocity[1] += slip;
        let start = integrator.state(0.0, &model.position, &velocity).unwrap();
        Trajectory::record(&integrator, &start, &grid, None)
    };
    let near = run(1e-7).unwrap();
    let v = integrator.velocity(&near.states[0]).unwrap().0;
    assert!((v[1] - R * v[2] * 0.5f64.sin()).abs() <= 1e-15);
    match run(1e-3) {
        Err(IntegratorError::NotAssembled {
            constraint,
            violation,
        }) => {
            assert_eq!(constraint, "c1");
            assert!(violation > 1e-6);
        }
        other => panic!("{other:?}"),
    }
}

/// A block on a floor whose velocities along x and y are equal: friction along x alone stops it after $2v/(\mu g)$.
#[test]
fn a_constrained_block_slides_to_rest() {
    let (speed, friction, gravity) = (1.0, 0.4, 10.0);
    let names = ["x", "y", "z"].map(str::to_owned).to_vec();
    let symbols = Symbols::new(names, Vec::new()).unwrap();
    let mass = [["2", "0", "0"], ["0", "2", "0"], ["0", "0", "2"]];
    let mass: Vec<Vec<String>> = mass
        .iter()
        .map(|row| row.map(str::to_owned).to_vec())
        .collect();
    let mut block = FormulaSystem::new(symbols.clone(), &mass, Some("20*z"), &[]).unwrap();
    let contact = FormulaContact {
        name: "floor".to_owned(),
        gap: "z".to_owned(),
        slide: Some("x".to_owned()),
        friction,
        restitution: 0.0,
    };
    block.contact("contacts[0]", contact).unwrap();
    let mut block = Constrained::new(block);
    let rates =
        [("x", "1"), ("y", "-1")].map(|(name, factor)| (name.to_owned(), factor.to_owned()));
    block.constrain("rail", FormulaRates::new(&symbols, "rail", &rates).unwrap());
    let law = MoreauNewton::default();
    let integrator = CollisionIntegrator::new(&block, &law).unwrap();
    let start = integrator
        .state(0.0, &[0.0; 3], &[speed, speed, 0.0])
        .unwrap();
    let grid = TimeGrid::duration(1e-3, 1.0).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    assert_eq!(run.end.ending, Ending::Completed);
    let at = &run.states[300];
    let slowing = 0.5 * friction * gravity;
    let exact = 0.3 * speed - 0.5 * slowing * 0.09;
    assert!(
        (at.configuration[0] - exact).abs() <= 1e-12,
        "{}",
        at.configuration
    );
    let rest = speed * speed / (2.0 * slowing);
    let last = &run.end.state.configuration;
    assert!(
        (last[0] - rest).abs() <= 2e-6 && (last[1] - last[0]).abs() <= 1e-12,
        "{last}"
    );
    assert!((run.end.balance.contact_loss - 2.0 * speed * speed).abs() <= 1e-9);
}

/// A blade on a link is the formula of its rates; a double pendulum of links is its formulas.
#[test]
fn links_and_formulas_move_alike() {
    let mut builder = PlanarBuilder::new([0.0, -1.5]);
    let sled = builder.floating();
    builder.body(sled, Inertia::new(1.6, [0.2, 0.0], 0.09));
    let wall = Line::new([0.9, 0.0], [-1.0, 0.0]).unwrap();
    builder.contact(sled, LineContact::point("nose", [0.4, 0.0], wall));
    let body = builder.build().unwrap();
    let blade = Blade::new(body.clone(), sled, [0.0, 0.0], [2.0, 0.0]).unwrap();
    let mut links = Constrained::new(body);
    links.constrain("blade", blade);
    let model = sleigh();
    let (a, b) = (
        fly(&links, &model, 1e-3),
        fly(&system(&model), &model, 1e-3),
    );
    assert_eq!(a.impacts().count(), 1);
    assert!((end(&a) - end(&b)).norm() <= 1e-11);

    let mut builder = PlanarBuilder::new([0.0, -9.81]);
    let upper = builder.hinge(Link::GROUND, [0.0, 0.0], -std::f64::consts::FRAC_PI_2);
    builder.body(upper, Inertia::point(1.0, [0.5, 0.0]));
    let lower = builder.hinge(upper, [0.5, 0.0], 0.0);
    builder.body(lower, Inertia::point(0.7, [0.4, 0.0]));
    let wall = Line::new([0.3, 0.0], [-1.0, 0.0]).unwrap();
    builder.contact(lower, LineContact::point("tip", [0.4, 0.0], wall));
    let links = builder.build().unwrap();
    let pendulum = Model {
        coordinates: &["a", "b"],
        parameters: &[("g", 9.81)],
        mass_texts: vec![
            vec!["1.7*0.25 + 0.7*0.16 + 0.28*cos(b)", "0.112 + 0.14*cos(b)"],
            vec!["0.112 + 0.14*cos(b)", "0.112"],
        ],
        potential_text: "-g*(1.7*0.5*cos(a) + 0.28*cos(a + b))",
        force_texts: vec![],
        rates: vec![],
        gap_texts: vec!["0.3 - 0.5*sin(a) - 0.4*sin(a + b)"],
        position: vec![-0.9, 0.5],
        velocity: vec![0.0, 0.0],
        duration: 1.0,
        ..disk()
    };
    let (a, b) = (
        fly(&links, &pendulum, 1e-3),
        fly(&system(&pendulum), &pendulum, 1e-3),
    );
    assert!(a.impacts().count() > 0);
    assert!(
        (end(&a) - end(&b)).norm() <= 1e-9,
        "{} {}",
        end(&a),
        end(&b)
    );
}

/// The derivative of a blade's row by the configuration, against differences, for a blade beyond sliders and hinges.
#[test]
fn rows_of_blades_have_exact_derivatives() {
    use carom_mechanism::VelocityConstraint;
    let mut builder = PlanarBuilder::new([0.0, 0.0]);
    let base = builder.floating();
    builder.body(base, Inertia::new(1.0, [0.1, 0.0], 0.1));
    let rail = builder.slider(base, [0.2, 0.1], [1.0, 2.0]);
    builder.body(rail, Inertia::point(0.5, [0.1, 0.0]));
    let arm = builder.hinge(rail, [0.3, 0.0], 0.5);
    builder.body(arm, Inertia::new(0.4, [0.2, 0.1], 0.1));
    let body = builder.build().unwrap();
    let blade = Blade::new(body, arm, [0.3, -0.2], [1.0, 0.7]).unwrap();
    let q = [0.1, -0.2, 0.7, 0.3, -1.1];
    let v = [0.4, 0.3, -0.8, 1.2, 0.9];
    let mut exact = [0.0; 5];
    blade.derivative(&q, &v, &mut exact);
    for (k, exact) in exact.iter().enumerate() {
        let mut unit = [0.0; 5];
        unit[k] = 1.0;
        let rate = |q: &[f64]| {
            let mut row = [0.0; 5];
            blade.row(q, &mut row);
            dvector![row.iter().zip(&v).map(|(a, v)| a * v).sum()]
        };
        let difference = slope(&q, &unit, rate)[0];
        assert!(
            (exact - difference).abs() <= 1e-10,
            "{k}: {exact} and {difference}"
        );
    }
}
