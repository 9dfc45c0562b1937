//! Motion under velocity constraints against an independent integration, and closed forms.

use carom_impact::frictional::MoreauNewton;
use carom_mechanism::formulas::{FormulaContact, FormulaRates, FormulaSystem, Symbols};
use carom_mechanism::planar::{Blade, Inertia, Line, LineContact, Link, PlanarBuilder};
use carom_mechanism::{Constrained, MechanicalSystem};
use carom_motion::generalized::{CollisionIntegrator, IntegratorError, Trajectory};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

/// A system written twice: by formulas, and by functions for the independent integration.
struct Model {
    coordinates: &'static [&'static str],
    parameters: &'static [(&'static str, f64)],
    mass_texts: Vec<Vec<&'static str>>,
    potential_text: &'static str,
    force_texts: Vec<&'static str>,
    rates: Vec<Vec<(&'static str, &'static str)>>,
    gap_texts: Vec<&'static str>,
    restitution: f64,
    mass: fn(&[f64]) -> DMatrix<f64>,
    potential: fn(&[f64]) -> f64,
    force: fn(f64, &[f64], &[f64]) -> DVector<f64>,
    rows: fn(&[f64]) -> DMatrix<f64>,
    gaps: fn(&[f64]) -> Vec<f64>,
    position: Vec<f64>,
    velocity: Vec<f64>,
    duration: f64,
}

fn system(model: &Model) -> Constrained<FormulaSystem> {
    let names = model.coordinates.iter().map(|name| (*name).to_owned());
    let parameters = model.parameters.iter();
    let parameters = parameters.map(|(name, value)| ((*name).to_owned(), *value));
    let symbols = Symbols::new(names.collect(), parameters.collect()).unwrap();
    let texts = |list: &[&str]| {
        list.iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let mass: Vec<Vec<String>> = model.mass_texts.iter().map(|row| texts(row)).collect();
    let forces = texts(&model.force_texts);
    let mut system =
        FormulaSystem::new(symbols.clone(), &mass, Some(model.potential_text), &forces).unwrap();
    for (i, gap) in model.gap_texts.iter().enumerate() {
        let contact = FormulaContact {
            name: format!("contact {i}"),
            gap: (*gap).to_owned(),
            slide: None,
            friction: 0.0,
            restitution: model.restitution,
        };
        system.contact("contact", contact).unwrap();
    }
    system.check(&model.position, &model.velocity).unwrap();
    let mut system = Constrained::new(system);
    for (i, rates) in model.rates.iter().enumerate() {
        let rates = rates
            .iter()
            .map(|(name, factor)| ((*name).to_owned(), (*factor).to_owned()));
        let rates: Vec<_> = rates.collect();
        system.constrain(
            format!("c{i}"),
            FormulaRates::new(&symbols, "c", &rates).unwrap(),
        );
    }
    system
}

/// Derivative along a direction, of order four.
fn slope(q: &[f64], along: &[f64], f: impl Fn(&[f64]) -> DVector<f64>) -> DVector<f64> {
    let h = 1e-3;
    let at = |s: f64| {
        let moved: Vec<f64> = q.iter().zip(along).map(|(q, d)| q + s * h * d).collect();
        f(&moved)
    };
    ((at(1.0) - at(-1.0)) * 8.0 - (at(2.0) - at(-2.0))) / (12.0 * h)
}

/// Acceleration by Lagrange and d'Alembert, with multipliers.
fn acceleration(model: &Model, t: f64, q: &[f64], v: &[f64]) -> DVector<f64> {
    let n = q.len();
    let rate = DVector::from_column_slice(v);
    let mut force = (model.force)(t, q, v) - slope(q, v, |q| (model.mass)(q) * &rate);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        let lagrangian = |q: &[f64]| {
            let kinetic = 0.5 * rate.dot(&((model.mass)(q) * &rate));
            dvector![kinetic - (model.potential)(q)]
        };
        force[k] += slope(q, &unit, lagrangian)[0];
    }
    let (mass, rows) = ((model.mass)(q), (model.rows)(q));
    let m = rows.nrows();
    let mut matrix = DMatrix::zeros(n + m, n + m);
    matrix.view_mut((0, 0), (n, n)).copy_from(&mass);
    matrix.view_mut((n, 0), (m, n)).copy_from(&rows);
    matrix.view_mut((0, n), (n, m)).copy_from(&rows.transpose());
    let mut right = DVector::zeros(n + m);
    right.rows_mut(0, n).copy_from(&force);
    let turning = slope(q, v, |q| (model.rows)(q) * &rate);
    right.rows_mut(n, m).copy_from(&-turning);
    matrix.lu().solve(&right).unwrap().rows(0, n).into_owned()
}

/// A step of the classical Runge-Kutta method.
fn runge_kutta(model: &Model, t: f64, state: &[f64], h: f64) -> Vec<f64> {
    let n = state.len() / 2;
    let flow = |t: f64, y: &DVector<f64>| {
        let (q, v) = y.as_slice().split_at(n);
        let a = acceleration(model, t, q, v);
        DVector::from_iterator(2 * n, v.iter().chain(a.iter()).copied())
    };
    let y = DVector::from_column_slice(state);
    let a = flow(t, &y);
    let b = flow(t + 0.5 * h, &(&y + &a * (0.5 * h)));
    let c = flow(t + 0.5 * h, &(&y + &b * (0.5 * h)));
    let d = flow(t + h, &(&y + &c * h));
    (y + (a + (b + c) * 2.0 + d) * (h / 6.0))
        .as_slice()
        .to_vec()
}

/// Newton's restitution within the velocities that the constraints admit, at the contact with the index `contact`.
fn strike(model: &Model, state: &mut [f64], contact: usize) {
    let n = state.len() / 2;
    let (q, v) = state.split_at_mut(n);
    let mut normal = DVector::zeros(n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        normal[k] = slope(q, &unit, |q| dvector![(model.gaps)(q)[contact]])[0];
    }
    let inverse = (model.mass)(q).try_inverse().unwrap();
    let rows = (model.rows)(q);
    let inner = (&rows * &inverse * rows.transpose()).try_inverse().unwrap();
    let multipliers = inner * (&rows * &inverse * &normal);
    let along = &inverse * (&normal - rows.transpose() * multipliers);
    let velocity = DVector::from_column_slice(v);
    let factor = (1.0 + model.restitution) * normal.dot(&velocity) / normal.dot(&along);
    let after = velocity - along * factor;
    v.copy_from_slice(after.as_slice());
}

/// Final configuration and times of impacts of the independent integration.
fn reference(model: &Model) -> (Vec<f64>, Vec<f64>) {
    let steps = (model.duration / 1e-3).round() as usize;
    let h = model.duration / steps as f64;
    let mut state = [model.position.clone(), model.velocity.clone()].concat();
    let n = model.position.len();
    let mut times = Vec::new();
    for step in 0..steps {
        let (mut t, end) = (step as f64 * h, (step + 1) as f64 * h);
        loop {
            let next = runge_kutta(model, t, &state, end - t);
            let gaps = (model.gaps)(&next[..n]);
            let hits = gaps.iter().enumerate().filter(|(_, gap)| **gap < -1e-12);
            // The first to close among those that are closed at the end of the step.
            let first = hits
                .map(|(contact, _)| {
                    let (mut low, mut high) = (0.0, end - t);
                    for _ in 0..60 {
                        let middle = 0.5 * (low + high);
                        let at = runge_kutta(model, t, &state, middle);
                        if (model.gaps)(&at[..n])[contact] < 0.0 {
                            high = middle;
                        } else {
                            low = middle;
                        }
                    }
                    (high, contact)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((time, contact)) = first else {
                state = next;
                break;
            };
            state = runge_kutta(model, t, &state, time);
            strike(model, &mut state, contact);
            t += time;
            times.push(t);
        }
    }
    (state[..n].to_vec(), times)
}

fn no_force(_: f64, q: &[f64], _: &[f64]) -> DVector<f64> {
    DVector::zeros(q.len())
}

const R: f64 = 0.1;

fn disk_mass(_: &[f64]) -> DMatrix<f64> {
    DMatrix::from_diagonal(&dvector![0.5, 0.5, 0.0025, 0.0013])
}

fn disk_rows(q: &[f64]) -> DMatrix<f64> {
    let (sin, cos) = q[3].sin_cos();
    dmatrix![1.0, 0.0, -R * cos, 0.0; 0.0, 1.0, -R * sin, 0.0]
}

fn disk() -> Model {
    Model {
        coordinates: &["x", "y", "roll", "head"],
        parameters: &[
            ("m", 0.5),
            ("R", R),
            ("Ir", 0.0025),
            ("J", 0.0013),
            ("g", 9.81),
            ("c", 0.02),
        ],
        mass_texts: vec![
            vec!["m", "0", "0", "0"],
            vec!["0", "m", "0", "0"],
            vec!["0", "0", "Ir", "0"],
            vec!["0", "0", "0", "J"],
        ],
        potential_text: "m*g*0.08*y",
        force_texts: vec![],
        rates: vec![
            vec![("x", "1"), ("roll", "-R*cos(head)")],
            vec![("y", "1"), ("roll", "-R*sin(head)")],
        ],
        gap_texts: vec!["0.5 - x - R*cos(head)", "0.5 - x + R*cos(head)"],
        restitution: 1.0,
        mass: disk_mass,
        potential: |q| 0.5 * 9.81 * 0.08 * q[1],
        force: no_force,
        rows: disk_rows,
        gaps: |q| vec![0.5 - q[0] - R * q[3].cos(), 0.5 - q[0] + R * q[3].cos()],
        position: vec![0.0, 0.0, 0.0, 0.5],
        velocity: vec![0.9 * 0.5f64.cos(), 0.9 * 0.5f64.sin(), 9.0, 0.6],
        duration: 1.5,
    }
}

/// The penny of Clark & Bloch on an elliptical table.
fn penny_on_ellipse() -> Model {
    Model {
        potential_text: "0",
        potential: |_| 0.0,
        gap_texts: vec![
            "1 - (x + R*cos(head))^2/0.25 - (y + R*sin(head))^2/0.16",
            "1 - (x - R*cos(head))^2/0.25 - (y - R*sin(head))^2/0.16",
        ],
        gaps: |q| {
            let rim = |side: f64| {
                let (x, y) = (q[0] + side * R * q[3].cos(), q[1] + side * R * q[3].sin());
                1.0 - x * x / 0.25 - y * y / 0.16
            };
            vec![rim(1.0), rim(-1.0)]
        },
        // Later impacts double an error each.
        duration: 1.2,
        ..disk()
    }
}

/// A disk with a motor about its vertical, and drag.
fn driven_disk() -> Model {
    Model {
        force_texts: vec!["0", "0", "-c*v_roll", "0.004*cos(3*t) - c*v_head^3/100"],
        force: |t, _, v| {
            let motor = 0.004 * (3.0 * t).cos() - 0.02 * v[3].powi(3) / 100.0;
            dvector![0.0, 0.0, -0.02 * v[2], motor]
        },
        restitution: 0.5,
        ..disk()
    }
}

/// A sleigh whose center of mass is ahead of its blade.
fn sleigh() -> Model {
    Model {
        coordinates: &["x", "y", "angle"],
        parameters: &[("m", 1.6), ("a", 0.2), ("J", 0.154)],
        mass_texts: vec![
            vec!["m", "0", "-m*a*sin(angle)"],
            vec!["0", "m", "m*a*cos(angle)"],
            vec!["-m*a*sin(angle)", "m*a*cos(angle)", "J"],
        ],
        potential_text: "1.5*m*(y + a*sin(angle))",
        force_texts: vec![],
        rates: vec![vec![("x", "-sin(angle)"), ("y", "cos(angle)")]],
        gap_texts: vec!["0.9 - x - 2*a*cos(angle)"],
        restitution: 1.0,
        mass: |q| {
            let (sin, cos) = q[2].sin_cos();
            let first = 1.6 * 0.2;
            dmatrix![1.6, 0.0, -first * sin; 0.0, 1.6, first * cos; -first * sin, first * cos, 0.154]
        },
        potential: |q| 1.5 * 1.6 * (q[1] + 0.2 * q[2].sin()),
        force: no_force,
        rows: |q| dmatrix![-q[2].sin(), q[2].cos(), 0.0],
        gaps: |q| vec![0.9 - q[0] - 0.4 * q[2].cos()],
        position: vec![0.0, 0.0, 0.4],
        velocity: vec![0.4f64.cos(), 0.4f64.sin(), 0.9],
        duration: 1.4,
    }
}

/// A knife edge on an incline with a wall across it.
fn knife_edge() -> Model {
    Model {
        coordinates: &["x", "y", "phi"],
        parameters: &[],
        mass_texts: vec![
            vec!["1", "0", "0"],
            vec!["0", "1", "0"],
            vec!["0", "0", "0.5"],
        ],
        potential_text: "-x",
        gap_texts: vec!["0.3 - x"],
        mass: |_| DMatrix::from_diagonal(&dvector![1.0, 1.0, 0.5]),
        potential: |q| -q[0],
        rates: vec![vec![("x", "-sin(phi)"), ("y", "cos(phi)")]],
        gaps: |q| vec![0.3 - q[0]],
        position: vec![0.0; 3],
        velocity: vec![0.0, 0.0, 1.0],
        // Before the blade stands along the wall.
        duration: 1.4,
        ..sleigh()
    }
}

/// Particle in a bowl with $\dot z = y\dot x$, between two walls.
fn particle() -> Model {
    Model {
        coordinates: &["x", "y", "z"],
        parameters: &[],
        mass_texts: vec![
            vec!["1", "0", "0"],
            vec!["0", "1", "0"],
            vec!["0", "0", "1"],
        ],
        potential_text: "(x^2 + 2*y^2 + z^2)/2",
        force_texts: vec![],
        rates: vec![vec![("z", "1"), ("x", "-y")]],
        gap_texts: vec!["0.6 - y", "0.8 + x"],
        restitution: 0.8,
        mass: |_| DMatrix::identity(3, 3),
        potential: |q| 0.5 * (q[0] * q[0] + 2.0 * q[1] * q[1] + q[2] * q[2]),
        force: no_force,
        rows: |q| dmatrix![-q[1], 0.0, 1.0],
        gaps: |q| vec![0.6 - q[1], 0.8 + q[0]],
        position: vec![0.3, 0.2, 0.1],
        velocity: vec![0.5, 1.1, 0.1],
        duration: 3.0,
    }
}

/// The snakeboard of the scenario with the torques of its rider.
fn snakeboard() -> Model {
    Model {
        coordinates: &["x", "y", "theta", "psi", "phi"],
        parameters: &[
            ("m", 6.0),
            ("J", 0.4),
            ("J0", 0.6),
            ("J1", 0.02),
            ("r", 0.3),
        ],
        mass_texts: vec![
            vec!["m", "0", "0", "0", "0"],
            vec!["0", "m", "0", "0", "0"],
            vec!["0", "0", "J + J0 + 2*J1", "J0", "0"],
            vec!["0", "0", "J0", "J0", "0"],
            vec!["0", "0", "0", "0", "2*J1"],
        ],
        potential_text: "0",
        force_texts: vec!["0", "0", "0", "12*sin(4*t)", "-0.45*sin(4*t)"],
        rates: vec![
            vec![
                ("x", "-sin(theta + phi)"),
                ("y", "cos(theta + phi)"),
                ("theta", "r*cos(phi)"),
            ],
            vec![
                ("x", "-sin(theta - phi)"),
                ("y", "cos(theta - phi)"),
                ("theta", "-r*cos(phi)"),
            ],
        ],
        gap_texts: vec!["0.45 - x - 0.35*cos(theta)"],
        restitution: 0.6,
        mass: |_| {
            let mut mass = DMatrix::from_diagonal(&dvector![6.0, 6.0, 1.04, 0.6, 0.04]);
            mass[(2, 3)] = 0.6;
            mass[(3, 2)] = 0.6;
            mass
        },
        potential: |_| 0.0,
        force: |t, _, _| {
            let s = (4.0 * t).sin();
            dvector![0.0, 0.0, 0.0, 12.0 * s, -0.45 * s]
        },
        rows: |q| {
            let ((s, c), (u, d)) = ((q[2] + q[4]).sin_cos(), (q[2] - q[4]).sin_cos());
            let arm = 0.3 * q[4].cos();
            dmatrix![-s, c, arm, 0.0, 0.0; -u, d, -arm, 0.0, 0.0]
        },
        gaps: |q| vec![0.45 - q[0] - 0.35 * q[2].cos()],
        position: vec![0.0, 0.0, 0.0, 0.0, 0.5],
        velocity: vec![0.0; 5],
        duration: 1.5,
    }
}

/// A car with a trailer that hangs at its axle, against a wall.
fn trailer() -> Model {
    Model {
        coordinates: &["x", "y", "theta", "alpha"],
        parameters: &[("s", 0.35), ("d", 0.4)],
        mass_texts: vec![
            vec!["3", "0", "0", "s*sin(alpha)"],
            vec!["0", "3", "0", "-s*cos(alpha)"],
            vec!["0", "0", "0.1", "0"],
            vec!["s*sin(alpha)", "-s*cos(alpha)", "0", "0.03 + s^2"],
        ],
        potential_text: "0",
        force_texts: vec![],
        rates: vec![
            vec![("x", "-sin(theta)"), ("y", "cos(theta)")],
            vec![("x", "-sin(alpha)"), ("y", "cos(alpha)"), ("alpha", "-d")],
        ],
        gap_texts: vec!["0.8 - x - 0.2*cos(theta)", "0.9 + y + 0.6*sin(alpha)"],
        restitution: 1.0,
        mass: |q| {
            let (sin, cos) = q[3].sin_cos();
            dmatrix![
                3.0, 0.0, 0.0, 0.35 * sin;
                0.0, 3.0, 0.0, -0.35 * cos;
                0.0, 0.0, 0.1, 0.0;
                0.35 * sin, -0.35 * cos, 0.0, 0.03 + 0.35 * 0.35
            ]
        },
        potential: |_| 0.0,
        force: no_force,
        rows: |q| {
            let ((s, c), (u, d)) = (q[2].sin_cos(), q[3].sin_cos());
            dmatrix![-s, c, 0.0, 0.0; -u, d, 0.0, -0.4]
        },
        gaps: |q| vec![0.8 - q[0] - 0.2 * q[2].cos(), 0.9 + q[1] + 0.6 * q[3].sin()],
        position: vec![0.0, 0.0, 0.3, 0.7],
        velocity: vec![0.3f64.cos(), 0.3f64.sin(), 0.8, -(0.4f64.sin()) / 0.4],
        duration: 1.6,
    }
}

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
    let models: [(&str, fn() -> Model); 8] = [
        ("disk on a slope", disk),
        ("penny on an ellipse", penny_on_ellipse),
        ("driven disk", driven_disk),
        ("sleigh", sleigh),
        ("knife edge", knife_edge),
        ("particle", particle),
        ("snakeboard", snakeboard),
        ("trailer", trailer),
    ];
    for (name, model) in models {
        let model = model();
        let system = system(&model);
        let (exact, times) = reference(&model);
        let exact = DVector::from_vec(exact);
        let runs = [2e-3, 1e-3, 5e-4].map(|step| fly(&system, &model, step));
        let errors = [0, 1, 2].map(|k| (end(&runs[k]) - &exact).norm());
        assert!(!times.is_empty(), "{name} hits nothing");
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
