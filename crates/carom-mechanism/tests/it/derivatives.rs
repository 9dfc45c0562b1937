//! Systems written by hand against automatic differentiation of their Lagrangians and gaps.

use carom_mechanism::systems::{BallsOnLine, Block, Pendulum, PendulumCradle};
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
use num_dual::{DualNum, HyperDual64};

type Function<'a> = &'a dyn Fn(&[HyperDual64], &[HyperDual64]) -> HyperDual64;

type OfPlace = Box<dyn Fn(&[HyperDual64]) -> HyperDual64>;

/// A system again, as formulas in numbers that carry derivatives.
struct Formulas<'a> {
    kinetic: Function<'a>,
    potential: Function<'a>,
    gaps: Vec<OfPlace>,
    slides: Vec<OfPlace>,
}

/// Value, and derivatives by arguments i and j (of q and v in a row) and both.
fn derive(f: Function<'_>, q: &[f64], v: &[f64], i: usize, j: usize) -> HyperDual64 {
    let n = q.len();
    let unit = |k: usize, at: usize| if k == at { 1.0 } else { 0.0 };
    let dual = |k: usize, x: f64| HyperDual64::new(x, unit(k, i), unit(k, j), 0.0);
    let q: Vec<_> = q.iter().enumerate().map(|(k, x)| dual(k, *x)).collect();
    let v: Vec<_> = v.iter().enumerate().map(|(k, x)| dual(n + k, *x)).collect();
    f(&q, &v)
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} and {b}");
}

fn check<S: MechanicalSystem>(system: &S, formulas: &Formulas<'_>, q: &[f64], v: &[f64]) {
    let n = system.dimension();
    let mut d = Dynamics::new(n);
    let motion = Motion {
        time: 0.3,
        configuration: q,
        velocity: v,
    };
    system.dynamics(&motion, Derivatives::Second, &mut d);
    let mut mass = nalgebra::DMatrix::zeros(n, n);
    system.mass_matrix(q, &mut mass);
    assert_eq!(mass, d.mass_matrix);
    for i in 0..n {
        for j in 0..n {
            let kinetic = |a, b| derive(formulas.kinetic, q, v, a, b);
            close(d.mass_matrix[(i, j)], kinetic(n + i, n + j).eps1eps2);
            // The derivative of the momentum i by the coordinate j.
            close(d.momentum_derivative[(i, j)], kinetic(n + i, j).eps1eps2);
            close(d.kinetic_hessian[(i, j)], kinetic(i, j).eps1eps2);
            let potential = derive(formulas.potential, q, v, i, j);
            close(d.potential, potential.re);
            close(d.potential_gradient[i], potential.eps1);
            close(d.potential_hessian[(i, j)], potential.eps1eps2);
        }
    }
    let mut gaps = vec![f64::NAN; system.contacts().len()];
    system.gaps(q, &mut gaps);
    assert_eq!(gaps.len(), formulas.gaps.len());
    let mut gradient = vec![f64::NAN; n];
    for (contact, gap) in formulas.gaps.iter().enumerate() {
        assert_eq!(gaps[contact], system.gap(contact, q));
        system.gap_gradient(contact, q, &mut gradient);
        for (i, entry) in gradient.iter().enumerate() {
            let dual = derive(&|q, _| gap(q), q, v, i, i);
            close(gaps[contact], dual.re);
            close(*entry, dual.eps1);
        }
    }
    let hessians: Vec<_> = (0..formulas.gaps.len())
        .map(|contact| {
            let zeros = || nalgebra::DMatrix::zeros(n, n);
            let (mut gap, mut slide) = (zeros(), zeros());
            let known = system.contact_hessians(contact, q, &mut gap, &mut slide);
            known.then_some([gap, slide])
        })
        .collect();
    for (contact, known) in hessians.iter().enumerate() {
        let Some([gap, slide]) = known else { continue };
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            let second = |of: &OfPlace| derive(&|q, _| of(q), q, v, i, j).eps1eps2;
            close(gap[(i, j)], second(&formulas.gaps[contact]));
            if let Some(of) = formulas.slides.get(contact) {
                close(slide[(i, j)], second(of));
            }
        }
    }
    for (contact, slide) in formulas.slides.iter().enumerate() {
        assert!(system.contacts()[contact].has_slide);
        system.slide_gradient(contact, q, &mut gradient);
        for (i, entry) in gradient.iter().enumerate() {
            let dual = derive(&|q, _| slide(q), q, v, i, i);
            close(system.slide(contact, q), dual.re);
            close(*entry, dual.eps1);
        }
    }
}

#[test]
fn the_block_is_what_its_lagrangian_says() {
    let block = Block::new(0.5, 0.3, 2.0, [1.2, -9.81]).unwrap();
    let inertia = 2.0 * (0.25 + 0.09) / 3.0;
    let corners = [(-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3)];
    let formulas = Formulas {
        kinetic: &|_, v| (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2] * (0.5 * inertia),
        potential: &|q, _| q[0] * (-2.0 * 1.2) + q[1] * (2.0 * 9.81),
        gaps: corners
            .map(|(a, b)| {
                Box::new(move |q: &[HyperDual64]| q[1] + q[2].sin() * a + q[2].cos() * b) as Box<_>
            })
            .into(),
        slides: corners
            .map(|(a, b)| {
                Box::new(move |q: &[HyperDual64]| q[0] + q[2].cos() * a - q[2].sin() * b) as Box<_>
            })
            .into(),
    };
    check(&block, &formulas, &[0.4, 1.1, 0.7], &[1.0, -2.0, 0.5]);
}

#[test]
fn the_pendulum_is_what_its_lagrangian_says() {
    let pendulum = Pendulum::new(1.3, 0.7, 9.81, -0.2).unwrap();
    let formulas = Formulas {
        kinetic: &|_, v| v[0] * v[0] * (0.5 * 0.7 * 1.3 * 1.3),
        potential: &|q, _| q[0].cos() * (-0.7 * 9.81 * 1.3),
        gaps: vec![Box::new(|q| q[0] + 0.2)],
        slides: Vec::new(),
    };
    check(&pendulum, &formulas, &[0.6], &[-1.5]);
}

#[test]
fn the_cradle_is_what_its_lagrangian_says() {
    let (l, r, m, g) = (1.1, 0.2, 0.6, 9.81);
    let cradle = PendulumCradle::new(3, l, r, m, g).unwrap();
    let gap = |i: usize| {
        Box::new(move |q: &[HyperDual64]| {
            let x = (q[i + 1].sin() - q[i].sin()) * l + 2.0 * r;
            let y = (q[i].cos() - q[i + 1].cos()) * l;
            (x * x + y * y).sqrt() - 2.0 * r
        }) as Box<_>
    };
    let formulas = Formulas {
        kinetic: &|_, v| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * (0.5 * m * l * l),
        potential: &|q, _| (q[0].cos() + q[1].cos() + q[2].cos()) * (-m * g * l),
        gaps: vec![gap(0), gap(1)],
        slides: Vec::new(),
    };
    check(&cradle, &formulas, &[-0.5, 0.1, 0.3], &[1.0, 0.2, -0.3]);
}

#[test]
fn balls_on_a_line_are_what_their_lagrangian_says() {
    let balls = BallsOnLine::new(&[1.0, 2.0, 0.5], 0.25).unwrap();
    let formulas = Formulas {
        kinetic: &|_, v| v[0] * v[0] * 0.5 + v[1] * v[1] + v[2] * v[2] * 0.25,
        potential: &|q, _| q[0] * 0.0,
        gaps: vec![
            Box::new(|q| q[1] - q[0] - 0.5),
            Box::new(|q| q[2] - q[1] - 0.5),
        ],
        slides: Vec::new(),
    };
    check(&balls, &formulas, &[0.0, 1.0, 3.0], &[1.0, 0.2, -0.3]);
}

#[test]
fn impossible_parameters_are_refused() {
    let down = [0.0, -9.81];
    let kinds = [
        Block::new(0.0, 0.5, 1.0, down).unwrap_err(),
        Block::new(0.5, -0.5, 1.0, down).unwrap_err(),
        Block::new(0.5, 0.5, f64::NAN, down).unwrap_err(),
        Block::new(0.5, 0.5, 1.0, [0.0, f64::INFINITY]).unwrap_err(),
        Block::ball(1.0, down)
            .unwrap()
            .with_friction(-0.1)
            .unwrap_err(),
        Pendulum::new(-1.0, 1.0, 9.81, 0.0).unwrap_err(),
        PendulumCradle::new(0, 1.0, 0.1, 1.0, 9.81).unwrap_err(),
        BallsOnLine::new(&[1.0, 0.0], 0.1).unwrap_err(),
    ];
    for error in kinds {
        assert_eq!(error.kind(), "invalid-parameter", "{error}");
    }
}
