//! Systems under velocity constraints, written twice, and their independent integration.

use carom_mechanism::Constrained;
use carom_mechanism::formulas::{FormulaContact, FormulaRates, FormulaSystem, Symbols};
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

/// A system written twice: by formulas, and by functions for the independent integration.
pub(super) struct Model {
    pub(super) coordinates: &'static [&'static str],
    pub(super) parameters: &'static [(&'static str, f64)],
    pub(super) mass_texts: Vec<Vec<&'static str>>,
    pub(super) potential_text: &'static str,
    pub(super) force_texts: Vec<&'static str>,
    pub(super) rates: Vec<Vec<(&'static str, &'static str)>>,
    pub(super) gap_texts: Vec<&'static str>,
    pub(super) restitution: f64,
    pub(super) mass: fn(&[f64]) -> DMatrix<f64>,
    pub(super) potential: fn(&[f64]) -> f64,
    pub(super) force: fn(f64, &[f64], &[f64]) -> DVector<f64>,
    pub(super) rows: fn(&[f64]) -> DMatrix<f64>,
    pub(super) gaps: fn(&[f64]) -> Vec<f64>,
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) duration: f64,
}

pub(super) fn system(model: &Model) -> Constrained<FormulaSystem> {
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
pub(super) fn slope(q: &[f64], along: &[f64], f: impl Fn(&[f64]) -> DVector<f64>) -> DVector<f64> {
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
pub(super) fn reference(model: &Model) -> (Vec<f64>, Vec<f64>) {
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

pub(super) const R: f64 = 0.1;

fn disk_mass(_: &[f64]) -> DMatrix<f64> {
    DMatrix::from_diagonal(&dvector![0.5, 0.5, 0.0025, 0.0013])
}

fn disk_rows(q: &[f64]) -> DMatrix<f64> {
    let (sin, cos) = q[3].sin_cos();
    dmatrix![1.0, 0.0, -R * cos, 0.0; 0.0, 1.0, -R * sin, 0.0]
}

pub(super) fn disk() -> Model {
    Model {
        coordinates: &["x", "y", "roll", "head"],
        parameters: &[
            ("m", 0.5),
            ("R", R),
            ("Ir", 0.0025),
            ("J", 0.0013),
            ("g", 9.81),
            ("c", 0.0002),
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
pub(super) fn penny_on_ellipse() -> Model {
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
pub(super) fn driven_disk() -> Model {
    Model {
        force_texts: vec!["0", "0", "-c*v_roll", "0.0004*cos(3*t) - c*v_head^3/100"],
        force: |t, _, v| {
            let motor = 0.0004 * (3.0 * t).cos() - 0.0002 * v[3].powi(3) / 100.0;
            dvector![0.0, 0.0, -0.0002 * v[2], motor]
        },
        restitution: 0.5,
        ..disk()
    }
}

/// A sleigh whose center of mass is ahead of its blade.
pub(super) fn sleigh() -> Model {
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
pub(super) fn knife_edge() -> Model {
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
pub(super) fn particle() -> Model {
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
pub(super) fn snakeboard() -> Model {
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
pub(super) fn trailer() -> Model {
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
