//! All answers of a few planar contacts: every combination of modes is tried.

use super::checks::WIDTH;
use super::law::{Contact, Law, Square, Triple};
use super::linear::Linear;
use super::newton::Point;
use super::problem::Kind;
use super::system::{Springs, System};
use carom_numeric::kernel::norm;

/// Largest number of contacts: $4^5$ combinations.
const MAX_CONTACTS: usize = 5;

/// Answers differ if their velocities do by more than this fraction of the largest velocity.
const DISTINCT: f64 = 1e-6;

/// Regularization of the linear systems; a few solves take it back.
const SOFT: f64 = 1e-10;

/// Number of modes of a contact: open, stick, and slide in two directions.
const MODES: usize = 4;

/// True if all modes of the island can be tried: a few planar contacts without bounds of their impulses.
pub(super) fn can_try(system: &System) -> bool {
    let is_planar = |c: &Contact| {
        matches!(c.kind, Kind::Planar | Kind::Normal) && c.floor == 0.0 && c.cap == f64::INFINITY
    };
    system.len() <= MAX_CONTACTS && system.contacts.iter().all(is_planar)
}

/// Returns all distinct answers of an island whose modes can be tried, without springs: that of the least energy afterwards first.
pub(super) fn answers(
    (system, linear): (&mut System, &mut Linear),
    springs: &Springs,
    accepted: f64,
) -> Vec<Point> {
    let m = system.len();
    let mut found: Vec<Point> = Vec::new();
    for code in 0..MODES.pow(m as u32) {
        let mut point = Point::default();
        point.clear(m);
        if !solve_modes((system, linear), code, &mut point) {
            continue;
        }
        point.evaluate(system, Law::Coulomb, springs);
        let differs = |other: &Point| {
            let pairs = point.velocity.iter().zip(&other.velocity);
            let far = |(u, v): (&Triple, &Triple)| norm(&[u[0] - v[0], u[1] - v[1], u[2] - v[2]]);
            pairs.map(far).fold(0.0, f64::max) > DISTINCT * system.speed
        };
        if point.told(springs) <= accepted && found.iter().all(differs) {
            found.push(point);
        }
    }
    found.sort_by(|a, b| energy(system, a).total_cmp(&energy(system, b)));
    found
}

/// Computes the impulses for one combination of modes. Returns false if its equations are singular.
fn solve_modes(
    (system, linear): (&mut System, &mut Linear),
    code: usize,
    point: &mut Point,
) -> bool {
    let (mut a, mut b, mut soft) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..system.len() {
        let (own, moves) = equations(
            code / MODES.pow(i as u32) % MODES,
            system.contacts[i].friction,
        );
        a.push(own);
        b.push(moves);
        soft.push(SOFT);
    }
    if !linear.factor(system, &a, &b, &soft) {
        return false;
    }
    for _ in 0..4 {
        system.velocity_after(&point.impulse, &mut point.velocity);
        let mut step: Vec<Triple> = Vec::new();
        for (i, contact) in system.contacts.iter().enumerate() {
            let (l, mut u) = (&point.impulse[i], point.velocity[i]);
            u[0] -= contact.target;
            step.push(std::array::from_fn(|r| {
                (0..WIDTH)
                    .map(|k| -a[i][r][k] * l[k] - b[i][r][k] * u[k])
                    .sum()
            }));
        }
        linear.solve(system, &mut step);
        for (l, d) in point.impulse.iter_mut().zip(&step) {
            *l = super::system::add(*l, d);
        }
    }
    true
}

/// Returns the equations $A\lambda + B(u - t) = 0$ of a mode.
fn equations(mode: usize, friction: f64) -> (Square, Square) {
    let mut a = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut b = [[0.0; WIDTH]; WIDTH];
    if mode > 0 {
        (a[0][0], b[0][0]) = (0.0, 1.0);
    }
    match mode {
        1 if friction > 0.0 => (a[1][1], b[1][1]) = (0.0, 1.0),
        2 => a[1][0] = friction,
        3 => a[1][0] = -friction,
        _ => (),
    }
    (a, b)
}

/// Returns the change of the kinetic energy.
fn energy(system: &System, point: &Point) -> f64 {
    let contacts = system
        .velocity
        .iter()
        .zip(&point.velocity)
        .zip(&point.impulse);
    let work = |((b, u), l): ((&Triple, &Triple), &Triple)| {
        (0..WIDTH).map(|k| 0.5 * (b[k] + u[k]) * l[k]).sum::<f64>()
    };
    contacts.map(work).sum()
}
