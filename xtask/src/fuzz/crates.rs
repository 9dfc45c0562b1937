//! The public functions of the crates below the JSON forms.

use super::exact::Dyadic;
use super::input::{mass_matrix, matrix, number, numbers, rows, wild};
use super::target::Target;
use carom_geometry::pair::{Memory, Part, Placed, closest};
use carom_geometry::{Polyhedron, Shape, SupportMap};
use carom_lcp::contact_problem::{
    self, Block, ContactProblem, Kind, Member, Operator, Refusal, Workspace,
};
use carom_lie::{Se3, So3};
use carom_mechanism::MechanicalSystem;
use carom_mechanism::systems::BallsOnLine;
use carom_metric::{Covector, KineticMetric};
use carom_motion::billiard::circle::CircleOrbit;
use carom_motion::billiard::penny::{PennyState, RollingPenny};
use carom_numeric::sums::ExactSum;
use carom_report::export::{Format, svg};
use carom_report::record::{Axis, Color, Figure, Mark};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cmp::Ordering;

pub(super) fn targets() -> Vec<Target> {
    let target = |name, input, check: fn(&Value) -> Result<(), String>| Target {
        name,
        input,
        check: Box::new(check),
    };
    vec![
        target("sums", || list(wild(), 0..8), sums),
        target("metric", metric_input, metric),
        target("rotations", || list(wild(), 12..13), rotations),
        target("cones", cone_input, cones),
        target("hulls", || list(number(), 18..60), hulls),
        target("balls", || list(wild(), 1..6), balls),
        target("billiards", || list(number(), 7..8), billiards),
        target("figures", || list(wild(), 2..20), figures),
    ]
}

fn list(entry: BoxedStrategy<f64>, length: std::ops::Range<usize>) -> BoxedStrategy<Value> {
    vec(entry, length).prop_map(|list| json!(list)).boxed()
}

fn expect(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Checks the sign of an exactly computed sum against integer arithmetic of any length.
fn sums(input: &Value) -> Result<(), String> {
    let terms = numbers(input);
    // Nothing overflows.
    let terms: Vec<f64> = terms.into_iter().filter(|x| x.abs() < 1e300).collect();
    let (mut sum, mut exact) = (ExactSum::default(), Dyadic::zero());
    for x in &terms {
        sum.add(*x);
        exact = exact.plus(&Dyadic::new(*x));
    }
    let sign = if exact.is_negative() {
        Ordering::Less
    } else if exact.is_positive() {
        Ordering::Greater
    } else {
        Ordering::Equal
    };
    expect(sum.sign() == sign, || {
        format!("{:?} for {sign:?}", sum.sign())
    })
}

fn metric_input() -> BoxedStrategy<Value> {
    (1..=5usize)
        .prop_flat_map(|n| (mass_matrix(n), rows(2, n, &wild())))
        .prop_map(|(mass, vectors)| json!({"mass": mass, "vectors": vectors}))
        .boxed()
}

/// Checks reflections in a kinetic metric: two equal reflections give back the velocity, and one reflection keeps the energy.
fn metric(input: &Value) -> Result<(), String> {
    let (mass, vectors) = (matrix(&input["mass"]), matrix(&input["vectors"]));
    let n = mass.len();
    let mass = DMatrix::from_fn(n, n, |i, j| mass[i][j]);
    let Ok(metric) = KineticMetric::new(mass) else {
        return Ok(());
    };
    let (p, u) = (
        Covector::from_slice(&vectors[0]),
        Covector::from_slice(&vectors[1]),
    );
    let Ok(once) = metric.reflect(&p, &u) else {
        return Ok(());
    };
    let twice = metric
        .reflect(&once, &u)
        .map_err(|error| error.to_string())?;
    let norm = |a: &Covector| metric.norm(a).map_err(|error| error.to_string());
    let (size, reflected) = (norm(&p)?, norm(&once)?);
    let back = norm(&Covector(twice.0 - &p.0))?;
    // An overflowing norm is no norm.
    expect(
        !size.is_finite() || ((size - reflected).abs() <= 1e-9 * size && back <= 1e-9 * size),
        || format!("norm {size:e} becomes {reflected:e}, twice is off by {back:e}"),
    )
}

/// Checks rotations: the exponential of a rotation vector is an orthogonal matrix, the exponential of its logarithm is the
/// rotation again, and the nearest rotation to a matrix has the determinant 1.
fn rotations(input: &Value) -> Result<(), String> {
    let x = numbers(input);
    let phi = Vector3::new(x[0], x[1], x[2]);
    // Beyond this an angle has no digits behind the point.
    if phi.norm() < 1e6 {
        let rotation = So3::exp(&phi);
        let error =
            (rotation.matrix() * rotation.matrix().transpose() - Matrix3::identity()).amax();
        expect(error <= 1e-14, || {
            format!("exp({phi:?}) is off by {error:e}")
        })?;
        let back = So3::exp(&rotation.log());
        let error = (back.matrix() - rotation.matrix()).amax();
        expect(error <= 1e-14, || format!("exp(log) is off by {error:e}"))?;
    }
    let any = Matrix3::from_iterator(x[3..].iter().copied());
    if let Ok(nearest) = So3::nearest(&any) {
        let error = (nearest.matrix().determinant() - 1.0).abs();
        expect(error <= 1e-13, || {
            format!("nearest: determinant off by {error:e}")
        })?;
    }
    let _ = So3::from_matrix(&any);
    Ok(())
}

fn cone_input() -> BoxedStrategy<Value> {
    (1..=3usize, 2..=9usize)
        .prop_flat_map(|(m, n)| {
            let rows = rows(3 * m, n, &number());
            (
                rows,
                vec(number(), n),
                vec(0.0..2.0f64, m),
                vec(0.0..=1.0f64, m),
            )
        })
        .prop_map(|(rows, velocity, friction, restitution)| {
            json!({
                "rows": rows, "velocity": velocity,
                "friction": friction, "restitution": restitution,
            })
        })
        .boxed()
}

/// Checks contact problems with a unit mass matrix: an answer has the residual that the solver reports, and a refusal its proof.
fn cones(input: &Value) -> Result<(), String> {
    let rows = matrix(&input["rows"]);
    let velocity = DVector::from_vec(numbers(&input["velocity"]));
    let j = DMatrix::from_fn(rows.len(), velocity.len(), |i, k| rows[i][k]);
    let delassus = &j * j.transpose();
    let b = &j * &velocity;
    let (friction, restitution) = (numbers(&input["friction"]), numbers(&input["restitution"]));
    let contacts = friction.iter().zip(&restitution).enumerate();
    let blocks: Vec<Block> = contacts
        .map(|(i, (friction, restitution))| Block {
            target: restitution * f64::max(-b[3 * i], 0.0),
            ..Block::new(Kind::Round, *friction)
        })
        .collect();
    let delassus = Operator::Dense(delassus.as_slice());
    let Ok(problem) = ContactProblem::new(delassus, &blocks, b.as_slice()) else {
        return Ok(());
    };
    let mut workspace = Workspace::default();
    let solution = match contact_problem::solve(&problem, Member::Even, &mut workspace) {
        Ok(solution) => solution.clone(),
        Err(Refusal::NoAnswer { normal_impulses }) => {
            let pushed: f64 = { normal_impulses.iter().zip(&blocks) }
                .map(|(l, block)| l * block.target)
                .sum();
            return expect(pushed > 0.0, || format!("no proof: {normal_impulses:?}"));
        }
        Err(_) => return Ok(()),
    };
    let residual = contact_problem::residual(&problem, &solution.impulse, &mut workspace)
        .map_err(|error| error.to_string())?;
    expect(solution.residual <= 1e-9 && residual <= 2e-9, || {
        format!("residual {residual:e}, told {:e}", solution.residual)
    })
}

/// Checks convex hulls: the support function gives the lowest point along a direction, and the gap between two hulls equals the
/// distance of their parallel support planes along the normal.
fn hulls(input: &Value) -> Result<(), String> {
    let x = numbers(input);
    let points: Vec<Vector3<f64>> = x[6..]
        .chunks_exact(3)
        .map(|p| Vector3::new(p[0], p[1], p[2]))
        .collect();
    let Ok(hull) = Polyhedron::new(&points) else {
        return Ok(());
    };
    let direction = Vector3::new(x[0], x[1], x[2]);
    let radius = hull.bounding_radius();
    let lowest = hull.support(&direction).value;
    let below = points
        .iter()
        .map(|p| p.dot(&direction))
        .fold(f64::INFINITY, f64::min);
    expect(
        (lowest - below).abs() <= 1e-12 * radius * direction.norm(),
        || format!("support {lowest:e}, lowest point {below:e}"),
    )?;
    let shape = Shape::Polyhedron(hull);
    let Ok(parts) = Part::of_shape(&shape) else {
        return Ok(());
    };
    let shift = Vector3::new(x[3], x[4], x[5]);
    let there = Se3::new(So3::exp(&direction), shift);
    let (a, b) = (
        Placed::new(&parts[0], &Se3::identity()),
        Placed::new(&parts[0], &there),
    );
    let found = closest(&a, &b, &mut Memory::default());
    if found.gap <= 0.0 {
        return Ok(());
    }
    let normal = found.normal;
    let above = normal.dot(&parts[0].lowest(&normal));
    let highest = parts[0].lowest(&there.rotation.rotate_back(&-normal));
    let under = normal.dot(&there.act(&highest));
    let error = (above - under - found.gap).abs();
    expect(error <= 1e-9 * (radius + shift.norm()), || {
        format!("gap {:e}, planes {:e} apart", found.gap, above - under)
    })
}

/// Checks the system of balls on a line: invalid masses and radii are rejected, and otherwise the diagonal of the mass matrix
/// is positive.
fn balls(input: &Value) -> Result<(), String> {
    let x = numbers(input);
    let (radius, masses) = (x[0], &x[1..]);
    let fine = radius > 0.0 && !masses.is_empty() && masses.iter().all(|m| *m > 0.0);
    match BallsOnLine::new(masses, radius) {
        Ok(balls) => {
            let n = balls.dimension();
            let mut mass = DMatrix::zeros(n, n);
            balls.mass_matrix(&vec![0.0; n], &mut mass);
            expect(fine && (0..n).all(|k| mass[(k, k)] > 0.0), || {
                format!("{mass}")
            })
        }
        Err(error) => expect(!fine, || error.to_string()),
    }
}

/// Checks a rolling penny in a circle: the time of every impact is finite and later than that of the impact before.
fn billiards(input: &Value) -> Result<(), String> {
    let x = numbers(input);
    let Ok(penny) = RollingPenny::new(x[0], x[1], x[2], x[3]) else {
        return Ok(());
    };
    let start = PennyState {
        theta_dot: x[4],
        phi_dot: x[5],
        ..PennyState::default()
    };
    let restitution = carom_impact::Restitution::Elastic;
    let Ok(Some(orbit)) = CircleOrbit::from_center(&penny, x[6], start, restitution) else {
        return Ok(());
    };
    let times: Vec<f64> = orbit.impacts().take(5).map(|impact| impact.time).collect();
    expect(
        times.is_sorted() && times.iter().all(|t| t.is_finite()),
        || format!("{times:?}"),
    )
}

/// Checks that a figure with any finite numbers can be drawn.
fn figures(input: &Value) -> Result<(), String> {
    let values = numbers(input);
    let (x, y) = values.split_at(values.len() / 2);
    let n = x.len().min(y.len());
    let mark = Mark::points("a < b & c", x[..n].to_vec(), y[..n].to_vec(), Color::Blue);
    let figure = Figure::new(
        "fuzz",
        "t",
        "c",
        Axis::linear("x", "m"),
        Axis::linear("y", "s"),
    );
    let figure = figure.mark(mark);
    let text = svg::svg(&figure).map_err(|error| error.to_string())?;
    let is_drawing = text.starts_with("<svg") && text.trim_end().ends_with("</svg>");
    expect(
        is_drawing && !text.contains("NaN") && !text.contains("inf"),
        || text.clone(),
    )?;
    Format::Svg
        .draw(&figure)
        .map(drop)
        .map_err(|error| error.to_string())
}
