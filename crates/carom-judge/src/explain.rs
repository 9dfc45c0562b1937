//! The impulses that explain a change of momentum.

use super::Case;
use super::parts::Parts;
use carom_contact::nnls::nonnegative_least_squares;
use carom_contact::{ContactSet, ImpactError};
use carom_metric::{Tangent, kernel};
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::FRAC_PI_2;

/// Singular values below this fraction of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-12;

/// Descent along a unit generator, over the size of the change, that is no longer worth a step.
const STATIONARY: f64 = 1e-13;

/// Slope of what is left along an impulse, over both their sizes, that counts as none in a proof.
const LEVEL: f64 = 1e-9;

/// Steps of the projection onto round cones; the directions converge quadratically.
const MAX_STEPS: usize = 100;

/// Impulses that explain a change of momentum, and how well. Residuals are relative.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Best impulses on the contact rows as given, of any sign: of all that fit best those of least
    /// norm on rows of unit length.
    pub impulses: DVector<f64>,
    /// Best multipliers of the constraint one-forms.
    pub constraint_impulses: DVector<f64>,
    /// Part of the momentum change (kinetic norm, relative) that no impulses on the given rows can make.
    pub momentum_residual: f64,
    /// Part of the momentum change (kinetic norm, relative) that no impulses can make whose normal
    /// parts push: those of any tangential size, none pulling.
    pub pull_residual: f64,
    /// Part of the momentum change (kinetic norm, relative) that no impulses within the friction
    /// cones can make.
    pub friction_residual: f64,
    /// The best impulses within the friction cones, on the rows as given.
    pub admissible_impulses: DVector<f64>,
    /// Residuals that no other impulses can lower.
    pub(super) proven: Proven,
}

impl Explanation {
    /// Residuals of momentum, pulling and friction, each at least the one before.
    pub(super) fn residuals(&self) -> [f64; 3] {
        [
            self.momentum_residual,
            self.pull_residual,
            self.friction_residual,
        ]
    }

    /// From the units of the parts to that of the problem.
    pub(super) fn lower(&mut self, contacts: &ContactSet<'_>, parts: &Parts) {
        parts.lower_impulses(contacts, &mut self.impulses);
        parts.lower_impulses(contacts, &mut self.admissible_impulses);
        parts.lower_multipliers(contacts, &mut self.constraint_impulses);
    }
}

/// Residuals that are known to be the least: no impulse of the kind points against what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proven {
    pub(super) momentum: bool,
    pub(super) pulls: bool,
    pub(super) friction: bool,
}

/// An edge of a friction cone: the contact's tangential impulse for a unit of normal impulse, or
/// an impulse on one row alone.
#[derive(Clone, Copy)]
struct Generator {
    /// First row, and what this generator puts on it.
    row: usize,
    normal: f64,
    /// Velocities that it leaves on the rows.
    tangential: [f64; 2],
}

/// Best nonnegative combination of generators.
struct Fit {
    /// Impulses on the rows as given, scaled.
    impulses: DVector<f64>,
    residual: DVector<f64>,
    /// Generators that take part.
    active: Vec<Generator>,
}

pub(super) fn explain(case: &Case<'_>) -> Result<Explanation, ImpactError> {
    let contacts = case.problem.contacts();
    let change = &case.after - case.before();
    // Constraints can make any change along their forms; the rows have no part there.
    let free = match contacts.constraint_basis() {
        Some(basis) => &change - basis * basis.tr_mul(&change),
        None => change.clone(),
    };
    let impulses = least_norm(contacts, &free);
    let span = residual(contacts, &free, &impulses);
    let pushing = combine(contacts, &free, &one_sided(contacts, |_| true))?;
    let mut cone = project_onto_cones(contacts, &free)?;
    // Impulses inside their cones explain themselves, and what is beyond an edge is cut off: this
    // finds what the edges of cones that are wide in kinetic terms cannot add up to.
    let rough = combine(
        contacts,
        &free,
        &one_sided(contacts, |friction| friction > 0.0),
    )?;
    for inside in [&impulses, &pushing.impulses, &rough.impulses] {
        let cut = within_cones(contacts, inside);
        let left = residual(contacts, &free, &cut);
        if left.norm() < cone.residual.norm() {
            (cone.impulses, cone.residual) = (cut, left);
        }
    }
    let proven = Proven {
        momentum: is_least(contacts, &span, Kind::Any),
        pulls: is_least(contacts, &pushing.residual, Kind::Pushing),
        friction: is_least(contacts, &cone.residual, Kind::Coulomb),
    };
    let unscale = 1.0 / case.problem.scale();
    // Nested sets: the order of the residuals is not left to rounding.
    let momentum_residual = case.relative(&span);
    let pull_residual = case.relative(&pushing.residual).max(momentum_residual);
    let friction_residual = case.relative(&cone.residual).max(pull_residual);
    let impulses = impulses * unscale;
    Ok(Explanation {
        constraint_impulses: contacts.constraint_impulses(&impulses)
            + contacts.multipliers(&change) * unscale,
        impulses,
        momentum_residual,
        pull_residual,
        friction_residual,
        admissible_impulses: cone.impulses * unscale,
        proven,
    })
}

/// Admissible impulses of a contact.
#[derive(Clone, Copy)]
enum Kind {
    Any,
    Pushing,
    Coulomb,
}

/// True if no impulse of a kind lowers what is left: it has no slope along those of both signs, and
/// none downwards along the others. Then no sum of them does, because they are a convex cone.
fn is_least(contacts: &ContactSet<'_>, left: &DVector<f64>, kind: Kind) -> bool {
    let size = left.norm();
    let slope = |row: usize| {
        let unit = contacts.unit_row(row).iter();
        unit.zip(left.iter()).map(|(u, x)| u * x).sum::<f64>()
    };
    contacts.contacts().iter().enumerate().all(|(i, contact)| {
        let normal = contacts.row(i);
        let mut tangents = normal + 1..contacts.row(i + 1);
        let mut level = || tangents.all(|row| slope(row).abs() <= LEVEL * size);
        match kind {
            Kind::Any => slope(normal).abs() <= LEVEL * size && level(),
            Kind::Pushing => slope(normal) >= -LEVEL * size && level(),
            Kind::Coulomb => {
                // Per unit of normal impulse, on rows as given.
                let length = contacts.row_norm(normal);
                let sliding = tangents.fold(0.0f64, |sum, row| {
                    libm::hypot(sum, slope(row) * contacts.row_norm(row))
                });
                slope(normal) * length - contact.friction * sliding >= -LEVEL * size * length
            }
        }
    })
}

/// The impulses on the rows as given that lead in one step with round cones as near to the velocity
/// as any, and where they lead: none where a contact opens, against the sliding where it slides, anywhere in the cone where
/// it sticks, within the tolerance. `None` where a contact approaches at the velocity: no step leads there.
///
/// For dependent contacts that slide, [`AnitescuPotra`](carom_impact::frictional::AnitescuPotra) finds one
/// answer of a continuum; this recognizes them all.
pub(super) fn in_one_step(case: &Case<'_>) -> Result<Option<(DVector<f64>, Tangent)>, ImpactError> {
    in_one_step_of(case, |_| 0.0)
}

/// Steps as in `in_one_step` where the normal of a contact may leave with any velocity up to that of `rebound` (on unit rows) and push.
pub(super) fn in_one_step_of(
    case: &Case<'_>,
    rebound: impl Fn(usize) -> f64,
) -> Result<Option<(DVector<f64>, Tangent)>, ImpactError> {
    if !case.is_open(case.velocity_plus) {
        return Ok(None);
    }
    let contacts = case.problem.contacts();
    let change = &case.after - case.before();
    let free = match contacts.constraint_basis() {
        Some(basis) => &change - basis * basis.tr_mul(&change),
        None => change,
    };
    let limit = |i: usize| case.limit_of(&contacts.contacts()[i].normal);
    let rate = |row: usize| kernel::dot(contacts.unit_row(row), case.after.as_slice());
    let may_push = |i: usize| {
        let (rate, limit) = (rate(contacts.row(i)), limit(i));
        -limit <= rate && rate <= rebound(i) + limit
    };
    // Direction of the sliding on the tangents as given; the second is zero in the plane.
    let sliding = |i: usize| {
        let row = contacts.row(i);
        let tangents = row + 1..contacts.row(i + 1);
        let slip = |at: usize, of: &dyn Fn(usize) -> f64| {
            let row = tangents.clone().nth(at);
            row.map_or(0.0, of)
        };
        let given = |row: usize| rate(row) * contacts.row_norm(row);
        let [x, y] = [slip(0, &given), slip(1, &given)];
        let is_sliding = libm::hypot(slip(0, &rate), slip(1, &rate)) > limit(i);
        is_sliding.then(|| [x / libm::hypot(x, y), y / libm::hypot(x, y)])
    };
    let is_whole = |i: usize| may_push(i) && sliding(i).is_none();
    let mut edges = Vec::new();
    for edge in cone_edges(contacts) {
        let contact = (0..contacts.len()).find(|i| contacts.row(*i) == edge.row);
        if contact.is_some_and(is_whole) {
            edges.push(edge);
        }
    }
    for i in (0..contacts.len()).filter(|i| may_push(*i)) {
        if let Some([x, y]) = sliding(i) {
            let friction = contacts.contacts()[i].friction;
            edges.push(Generator {
                row: contacts.row(i),
                normal: 1.0,
                tangential: [-friction * x, -friction * y],
            });
        }
    }
    let fit = project(contacts, &free, &edges, is_whole)?;
    let end = case.velocity(&(&case.after + fit.residual));
    Ok(Some((fit.impulses / case.problem.scale(), end)))
}

/// Impulses with pulling normal parts set to zero and tangential ones shortened to the friction cones.
fn within_cones(contacts: &ContactSet<'_>, impulses: &DVector<f64>) -> DVector<f64> {
    let mut cut = impulses.clone();
    for (i, contact) in contacts.contacts().iter().enumerate() {
        let row = contacts.row(i);
        let normal = cut[row].max(0.0);
        cut[row] = normal;
        let mut tangential = cut.rows_mut(row + 1, contact.tangents.len());
        let (length, limit) = (tangential.norm(), contact.friction * normal);
        if length > limit {
            tangential *= limit / length;
        }
    }
    cut
}

fn n_rows(contacts: &ContactSet<'_>) -> usize {
    contacts.row(contacts.len())
}

fn unit_rows(contacts: &ContactSet<'_>) -> DMatrix<f64> {
    let n = contacts.metric().dim();
    DMatrix::from_fn(n, n_rows(contacts), |i, row| contacts.unit_row(row)[i])
}

/// Least-squares impulses on the rows as given, of least norm on unit rows.
fn least_norm(contacts: &ContactSet<'_>, change: &DVector<f64>) -> DVector<f64> {
    let rows = n_rows(contacts);
    if rows == 0 {
        return DVector::zeros(0);
    }
    let matrix = unit_rows(contacts);
    let svd = Svd::new(matrix.as_slice(), matrix.nrows());
    let unit = svd.least_norm(change.as_slice(), RANK_TOLERANCE);
    DVector::from_fn(rows, |row, _| unit[row] / contacts.row_norm(row))
}

fn residual(
    contacts: &ContactSet<'_>,
    change: &DVector<f64>,
    impulses: &DVector<f64>,
) -> DVector<f64> {
    let unit = DVector::from_fn(impulses.len(), |row, _| {
        impulses[row] * contacts.row_norm(row)
    });
    unit_rows(contacts) * unit - change
}

/// Normals that push, and tangents of both signs of the contacts whose friction is as asked.
fn one_sided(contacts: &ContactSet<'_>, has_tangents: impl Fn(f64) -> bool) -> Vec<Generator> {
    let alone = |row: usize, impulse: f64| Generator {
        row,
        normal: impulse,
        tangential: [0.0; 2],
    };
    let mut generators = Vec::new();
    for (i, contact) in contacts.contacts().iter().enumerate() {
        let (first, end) = (contacts.row(i), contacts.row(i + 1));
        generators.push(alone(first, 1.0));
        if !has_tangents(contact.friction) {
            continue;
        }
        generators.extend((first + 1..end).flat_map(|row| [alone(row, 1.0), alone(row, -1.0)]));
    }
    generators
}

/// The projection onto the friction cones, round ones included.
///
/// Every cone is the hull of its generators. Starting from a few, the generator of each cone along
/// which the misfit falls fastest joins, until none makes it fall: nothing is discretized.
fn project_onto_cones(
    contacts: &ContactSet<'_>,
    change: &DVector<f64>,
) -> Result<Fit, ImpactError> {
    project(contacts, change, &cone_edges(contacts), |_| true)
}

/// Projection on the cone of some generators, with the cones of some contacts whole.
fn project(
    contacts: &ContactSet<'_>,
    change: &DVector<f64>,
    edges: &[Generator],
    is_whole: impl Fn(usize) -> bool,
) -> Result<Fit, ImpactError> {
    let mut fit = combine(contacts, change, edges)?;
    let size = change.norm();
    for _ in 0..MAX_STEPS {
        let joining: Vec<Generator> = (0..contacts.len())
            .filter(|i| is_whole(*i))
            .filter_map(|i| steepest(contacts, i, &fit.residual))
            .filter(|generator| {
                let column = column(contacts, generator);
                column.dot(&fit.residual) < -STATIONARY * size * column.norm()
            })
            .collect();
        if joining.is_empty() {
            break;
        }
        let mut generators = fit.active.clone();
        generators.extend(joining);
        let next = combine(contacts, change, &generators)?;
        // Rounding: nothing more to gain.
        if next.residual.norm() >= fit.residual.norm() {
            break;
        }
        fit = next;
    }
    Ok(fit)
}

/// All edges of planar cones, four of round ones.
fn cone_edges(contacts: &ContactSet<'_>) -> Vec<Generator> {
    let mut generators = Vec::new();
    for (i, contact) in contacts.contacts().iter().enumerate() {
        let (row, friction) = (contacts.row(i), contact.friction);
        let edge = |tangential: [f64; 2]| Generator {
            row,
            normal: 1.0,
            tangential,
        };
        match contact.tangents.len() {
            n if n == 0 || friction == 0.0 => generators.push(edge([0.0; 2])),
            1 => generators.extend([edge([friction, 0.0]), edge([-friction, 0.0])]),
            _ => generators.extend((0..4).map(|k| {
                let (sin, cos) = libm::sincos(FRAC_PI_2 * f64::from(k));
                edge([friction * cos, friction * sin])
            })),
        }
    }
    generators
}

/// The generator of a round cone along which the misfit falls fastest.
fn steepest(contacts: &ContactSet<'_>, i: usize, residual: &DVector<f64>) -> Option<Generator> {
    let contact = contacts.contacts().get(i)?;
    if contact.tangents.len() < 2 || contact.friction == 0.0 {
        return None;
    }
    let row = contacts.row(i);
    let slope = |row: usize| {
        let unit = contacts.unit_row(row).iter().zip(residual.iter());
        contacts.row_norm(row) * unit.map(|(u, r)| u * r).sum::<f64>()
    };
    let (x, y) = (slope(row + 1), slope(row + 2));
    let size = libm::hypot(x, y);
    (size > 0.0).then(|| Generator {
        row,
        normal: 1.0,
        tangential: [-contact.friction * x / size, -contact.friction * y / size],
    })
}

/// Whitened momentum of a unit of a generator.
fn column(contacts: &ContactSet<'_>, generator: &Generator) -> DVector<f64> {
    let mut column = DVector::zeros(contacts.metric().dim());
    for (row, impulse) in generator.rows() {
        let factor = impulse * contacts.row_norm(row);
        let unit = contacts.unit_row(row).iter();
        column
            .iter_mut()
            .zip(unit)
            .for_each(|(x, u)| *x += factor * u);
    }
    column
}

impl Generator {
    /// The rows that it pushes on, and how much.
    fn rows(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        let [x, y] = self.tangential;
        let all = [
            (self.row, self.normal),
            (self.row + 1, x),
            (self.row + 2, y),
        ];
        all.into_iter().filter(|(_, impulse)| *impulse != 0.0)
    }
}

fn combine(
    contacts: &ContactSet<'_>,
    change: &DVector<f64>,
    generators: &[Generator],
) -> Result<Fit, ImpactError> {
    let mut lengths = Vec::with_capacity(generators.len());
    let mut y = DMatrix::zeros(change.len(), generators.len());
    for (generator, mut target) in generators.iter().zip(y.column_iter_mut()) {
        let column = column(contacts, generator);
        let length = column.norm();
        lengths.push(length);
        if length > 0.0 {
            target.copy_from(&(column / length));
        }
    }
    let x = nonnegative_least_squares(&y, &-change, 1e-14)?;
    let residual = &y * &x - change;
    let mut impulses = DVector::zeros(n_rows(contacts));
    let mut active = Vec::new();
    for ((generator, x), length) in generators.iter().zip(x.iter()).zip(&lengths) {
        if *x > 0.0 && *length > 0.0 {
            active.push(*generator);
            for (row, impulse) in generator.rows() {
                impulses[row] += impulse * x / length;
            }
        }
    }
    Ok(Fit {
        impulses,
        residual,
        active,
    })
}
