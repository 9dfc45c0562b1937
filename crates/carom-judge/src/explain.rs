//! Impulses that explain a change of momentum.

use super::Case;
use super::parts::Parts;
use crate::tolerances::EQUAL;
use carom_contact::{ContactIndex, ContactSet, ImpactError, RowIndex};
use carom_metric::{Tangent, kernel, nonnegative_least_squares};
use carom_numeric::decisions::RANK;
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::FRAC_PI_2;

/// Slope of descent along a unit generator, relative to the size of the change, below which the generator is not added.
const STATIONARY: f64 = 1e-13;

/// Largest number of steps of the projection onto round cones; the directions converge quadratically.
const MAX_STEPS: usize = 100;

/// Impulses that explain the change of momentum in a judged impact, found by least squares. The residuals are the parts of
/// the change that no impulses can make, relative to the motion that contacts can change.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Explanation {
    /// Best impulses of any sign for the given contact rows. If several fit equally well, those of least norm on rows of
    /// unit length.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub impulses: DVector<f64>,
    /// Best multipliers of the constraint one-forms.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub constraint_impulses: DVector<f64>,
    /// Part of the momentum change (kinetic norm, relative) that no impulses on the given rows can make.
    pub momentum_residual: f64,
    /// Part of the momentum change (kinetic norm, relative) that no impulses can make if no contact may pull: normal
    /// impulses are not negative, tangential ones arbitrary.
    pub pull_residual: f64,
    /// Part of the momentum change (kinetic norm, relative) that no impulses within the friction
    /// cones can make.
    pub friction_residual: f64,
    /// Best impulses within the friction cones, for the given rows.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub admissible_impulses: DVector<f64>,
    /// Residuals that are proven to be the least possible.
    pub(super) proven: Proven,
}

impl Explanation {
    /// Returns the sizes of the parts of the momentum change that impulses cannot explain, relative to the motion that
    /// contacts can change. The first entry is for impulses of any sign, the second for impulses with which no contact
    /// pulls, and the third for impulses within the friction cones. No entry is smaller than the one before.
    pub(super) fn residuals(&self) -> [f64; 3] {
        [
            self.momentum_residual,
            self.pull_residual,
            self.friction_residual,
        ]
    }

    /// Converts all impulses from the velocity units of the independent parts of the system to the unit of the problem.
    pub(super) fn lower(&mut self, contacts: &ContactSet, parts: &Parts) {
        parts.lower_impulses(contacts, &mut self.impulses);
        parts.lower_impulses(contacts, &mut self.admissible_impulses);
        parts.lower_multipliers(contacts, &mut self.constraint_impulses);
    }
}

/// Residuals that are known to be the least: along no impulse of the kind does the residual decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Proven {
    pub(super) momentum: bool,
    pub(super) pulls: bool,
    pub(super) friction: bool,
}

/// Generator of a friction cone: normal and tangential impulse of one contact (an edge of the cone), or an impulse on a
/// single row.
#[derive(Clone, Copy)]
struct Generator {
    /// First row of the generator; `normal` is its impulse on this row.
    row: RowIndex,
    normal: f64,
    /// Impulses on the next two rows.
    tangential: [f64; 2],
}

/// Best nonnegative combination of generators.
struct Fit {
    /// Impulses for the given rows, scaled.
    impulses: DVector<f64>,
    residual: DVector<f64>,
    /// Generators with a positive coefficient.
    active: Vec<Generator>,
}

pub(super) fn explain(case: &Case<'_>) -> Result<Explanation, ImpactError> {
    let contacts = case.problem.contacts();
    let change = &case.after - case.before();
    // Constraints can make any change along their one-forms; contact rows have no part there.
    let free = match contacts.constraint_basis() {
        Some(basis) => &change - basis * basis.tr_mul(&change),
        None => change.clone(),
    };
    let impulses = least_norm(contacts, &free);
    let span = residual(contacts, &free, &impulses);
    let pushing = combine(contacts, &free, &one_sided(contacts))?;
    let mut cone = project_onto_cones(contacts, &free)?;
    // Impulses inside their cones are a fit, and impulses outside are cut off at the cone. This finds fits for cones that
    // are wide in the kinetic metric, which sums of edges do not reach.
    for inside in [&impulses, &pushing.impulses] {
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
    // The sets are nested, so rounding must not change the order of the residuals.
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

/// Kind of impulses that a contact may give.
#[derive(Clone, Copy)]
enum Kind {
    Any,
    Pushing,
    Coulomb,
}

/// True if no impulse of the given kind (any sign, no pulling, or within the friction cones) reduces the residual `left`
/// of a fit (whitened, n entries). The derivative of the residual must vanish along impulses that may have both signs,
/// and must not be negative along the others. Sums of such impulses then do not reduce the residual either, because these
/// impulses form a convex cone.
fn is_least(contacts: &ContactSet, left: &DVector<f64>, kind: Kind) -> bool {
    let size = left.norm();
    let slope = |row: RowIndex| {
        let unit = contacts.unit_row(row).iter();
        unit.zip(left.iter()).map(|(u, x)| u * x).sum::<f64>()
    };
    contacts.indexed().all(|(i, contact)| {
        let normal = contacts.row(i);
        let mut tangents = contacts.tangents_at(i);
        let mut level = || tangents.all(|row| slope(row).abs() <= EQUAL * size);
        match kind {
            Kind::Any => slope(normal).abs() <= EQUAL * size && level(),
            Kind::Pushing => slope(normal) >= -EQUAL * size && level(),
            Kind::Coulomb => {
                // Per unit of normal impulse, for the given rows.
                let length = contacts.row_norm(normal);
                let sliding = tangents.fold(0.0f64, |sum, row| {
                    libm::hypot(sum, slope(row) * contacts.row_norm(row))
                });
                slope(normal) * length - contact.friction * sliding >= -EQUAL * size * length
            }
        }
    })
}

/// Computes the impulses (for the given rows) of one time step with round friction cones that leads as near as possible
/// to the judged velocity. Also returns the velocity to which this step leads. A contact that opens has no impulse,
/// friction opposes the sliding of a contact that slides, and a contact that sticks has any impulse in its cone, all
/// within the tolerance. A contact may push although it separates: contact `i` may do so up to the normal velocity
/// `rebound(i)` along its normal scaled to unit length. Returns `None` if a contact approaches at the judged velocity,
/// because no step leads there.
///
/// For dependent contacts that slide, [`AnitescuPotra`](carom_impact::frictional::AnitescuPotra) finds one answer of a
/// continuum; this function recognizes every member of this continuum.
pub(super) fn in_one_step(
    case: &Case<'_>,
    rebound: impl Fn(ContactIndex) -> f64,
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
    let limit = |i: ContactIndex| case.limit_of(&contacts.contact(i).normal);
    let rate = |row: RowIndex| kernel::dot(contacts.unit_row(row), case.after.as_slice());
    let may_push = |i: ContactIndex| {
        let (rate, limit) = (rate(contacts.row(i)), limit(i));
        -limit <= rate && rate <= rebound(i) + limit
    };
    // Direction of sliding, for the given tangents; the second entry is zero in the plane.
    let sliding = |i: ContactIndex| {
        let slip = |at: usize, of: &dyn Fn(RowIndex) -> f64| {
            let row = contacts.tangents_at(i).nth(at);
            row.map_or(0.0, of)
        };
        let given = |row: RowIndex| rate(row) * contacts.row_norm(row);
        let [x, y] = [slip(0, &given), slip(1, &given)];
        let is_sliding = libm::hypot(slip(0, &rate), slip(1, &rate)) > limit(i);
        is_sliding.then(|| [x / libm::hypot(x, y), y / libm::hypot(x, y)])
    };
    let is_whole = |i: ContactIndex| may_push(i) && sliding(i).is_none();
    let mut edges = Vec::new();
    for edge in cone_edges(contacts) {
        let contact = contacts.indices().find(|i| contacts.row(*i) == edge.row);
        if contact.is_some_and(is_whole) {
            edges.push(edge);
        }
    }
    for i in contacts.indices().filter(|i| may_push(*i)) {
        if let Some([x, y]) = sliding(i) {
            let friction = contacts.contact(i).friction;
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

/// Cuts impulses (for the given rows) off at the friction cones: pulling normal impulses become zero, and tangential
/// impulses are shortened to the friction coefficient times the normal impulse.
fn within_cones(contacts: &ContactSet, impulses: &DVector<f64>) -> DVector<f64> {
    let mut cut = impulses.clone();
    for (i, contact) in contacts.indexed() {
        let row = contacts.row(i).index();
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

fn unit_rows(contacts: &ContactSet) -> DMatrix<f64> {
    let n = contacts.metric().dim();
    let rows = contacts.all_rows();
    let entries = rows.flat_map(|row| contacts.unit_row(row).iter().copied());
    DMatrix::from_iterator(n, contacts.n_rows(), entries)
}

/// Fits impulses of any sign to a change of momentum (whitened, n entries) by least squares. If several fit equally
/// well, those of least norm on rows of unit length are chosen. Returns the impulses for the given rows.
fn least_norm(contacts: &ContactSet, change: &DVector<f64>) -> DVector<f64> {
    if contacts.n_rows() == 0 {
        return DVector::zeros(0);
    }
    let matrix = unit_rows(contacts);
    let svd = Svd::new(matrix.as_slice(), matrix.nrows());
    let unit = svd.least_norm(change.as_slice(), RANK);
    let impulses = contacts.all_rows().zip(&unit);
    let impulses = impulses.map(|(row, l)| l / contacts.row_norm(row));
    DVector::from_iterator(contacts.n_rows(), impulses)
}

fn residual(contacts: &ContactSet, change: &DVector<f64>, impulses: &DVector<f64>) -> DVector<f64> {
    let unit = contacts.all_rows().zip(impulses);
    let unit = unit.map(|(row, l)| l * contacts.row_norm(row));
    let unit = DVector::from_iterator(contacts.n_rows(), unit);
    unit_rows(contacts) * unit - change
}

/// Lists impulses on single rows that may be combined with nonnegative factors: for each contact a push along the normal,
/// and two impulses of opposite sign along each tangent.
fn one_sided(contacts: &ContactSet) -> Vec<Generator> {
    let alone = |row: RowIndex, impulse: f64| Generator {
        row,
        normal: impulse,
        tangential: [0.0; 2],
    };
    let mut generators = Vec::new();
    for i in contacts.indices() {
        generators.push(alone(contacts.row(i), 1.0));
        let tangents = contacts.tangents_at(i);
        generators.extend(tangents.flat_map(|row| [alone(row, 1.0), alone(row, -1.0)]));
    }
    generators
}

/// Fits impulses within the friction cones, round ones included, to a change of momentum (whitened, n entries) by least
/// squares.
///
/// Every cone is the convex hull of its generators, which are single impulses on its surface. The fit starts from a
/// few generators of each cone. Each step adds, for each cone, the generator along which the residual falls fastest,
/// until no generator lowers the residual. The cones are not discretized.
fn project_onto_cones(contacts: &ContactSet, change: &DVector<f64>) -> Result<Fit, ImpactError> {
    project(contacts, change, &cone_edges(contacts), |_| true)
}

/// Fits nonnegative combinations of the given impulses `edges` to a change of momentum (whitened, n entries) by least
/// squares. For contacts for which `is_whole` is true, all impulses in their round friction cones are used as well.
fn project(
    contacts: &ContactSet,
    change: &DVector<f64>,
    edges: &[Generator],
    is_whole: impl Fn(ContactIndex) -> bool,
) -> Result<Fit, ImpactError> {
    let mut fit = combine(contacts, change, edges)?;
    let size = change.norm();
    for _ in 0..MAX_STEPS {
        let joining: Vec<Generator> = contacts
            .indices()
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
        // Only rounding is left: no further gain.
        if next.residual.norm() >= fit.residual.norm() {
            break;
        }
        fit = next;
    }
    Ok(fit)
}

/// Lists impulses on the surface of the friction cones: all edges of planar cones, and four directions of each round
/// cone.
fn cone_edges(contacts: &ContactSet) -> Vec<Generator> {
    let mut generators = Vec::new();
    for (i, contact) in contacts.indexed() {
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

/// Finds the impulse on the surface of the round friction cone of contact `i` along which the residual of a fit
/// (whitened, n entries) falls fastest. `None` if the contact has no round cone or the residual does not depend on its
/// tangents.
fn steepest(contacts: &ContactSet, i: ContactIndex, residual: &DVector<f64>) -> Option<Generator> {
    let contact = contacts.contacts().get(i.index())?;
    if contact.tangents.len() < 2 || contact.friction == 0.0 {
        return None;
    }
    let row = contacts.row(i);
    let slope = |row: RowIndex| {
        let unit = contacts.unit_row(row).iter().zip(residual.iter());
        contacts.row_norm(row) * unit.map(|(u, r)| u * r).sum::<f64>()
    };
    let (x, y) = (slope(row.offset(1)), slope(row.offset(2)));
    let size = libm::hypot(x, y);
    (size > 0.0).then(|| Generator {
        row,
        normal: 1.0,
        tangential: [-contact.friction * x / size, -contact.friction * y / size],
    })
}

/// Computes the whitened momentum (n entries) that is caused by one unit of a generator, which is an impulse on one or
/// more rows of a contact.
fn column(contacts: &ContactSet, generator: &Generator) -> DVector<f64> {
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
    /// Iterates over the contact rows on which this generator has an impulse, with the index and the impulse of each.
    fn rows(&self) -> impl Iterator<Item = (RowIndex, f64)> + use<> {
        let [x, y] = self.tangential;
        let all = [
            (self.row, self.normal),
            (self.row.offset(1), x),
            (self.row.offset(2), y),
        ];
        all.into_iter().filter(|(_, impulse)| *impulse != 0.0)
    }
}

fn combine(
    contacts: &ContactSet,
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
    let mut impulses = DVector::zeros(contacts.n_rows());
    let mut active = Vec::new();
    for ((generator, x), length) in generators.iter().zip(x.iter()).zip(&lengths) {
        if *x > 0.0 && *length > 0.0 {
            active.push(*generator);
            for (row, impulse) in generator.rows() {
                impulses[row.index()] += impulse * x / length;
            }
        }
    }
    Ok(Fit {
        impulses,
        residual,
        active,
    })
}
