//! Rows of a problem in the coordinates in which derivatives are computed.

use super::Direction;
use super::scale::Scales;
use crate::tolerances::GRAZING;
use carom_contact::internal::ROUNDING;
use carom_contact::{ContactIndex, ImpactError, ImpactOutcome, ImpactProblem, RowIndex};
use carom_metric::kernel;
use carom_numeric::decisions::Sum;
use nalgebra::{DMatrix, DVector, DVectorView};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// All rows of a problem, of contacts and constraints, in whitened coordinates $z = L^Tv$, with the mass matrix $M =
/// LL^T$.
///
/// A normal and a constraint have unit length; the tangents of a contact are divided by the length of the longer one, so
/// that friction cones stay round. Velocities and impulses are those of the problem times its power of two. Unlike the
/// rows of a [`ContactSet`](carom_contact::ContactSet), these rows are not projected onto the constraints: the
/// constraints are separate rows.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'p> {
    pub(super) problem: &'p ImpactProblem,
    /// Whitened rows (n entries each), contact by contact, then the constraints.
    pub(super) rows: DMatrix<f64>,
    /// Row scale: rows are multiplied by it, impulses divided.
    factors: Vec<f64>,
    /// Constraint rows that are linearly independent, then those that follow from them.
    held: SmallVec<[RowIndex; 4]>,
    n_redundant: usize,
    /// Velocity before the impact, and its length.
    pub(super) before: DVector<f64>,
    pub(super) speed: f64,
    /// Velocity of the frame in which laws are evaluated, relative to the caller's frame; `None` if these are equal. No
    /// row sees it, but a change of a row does.
    pub(super) moves: Option<DVector<f64>>,
    scales: OnceLock<Box<Scales>>,
}

/// A direction in which the data of a problem change, in the coordinates of a [`Frame`].
#[derive(Clone, Debug, Default)]
pub(super) struct Variation {
    velocity: Option<DVector<f64>>,
    mass: Option<DMatrix<f64>>,
    rows: Option<DMatrix<f64>>,
    friction: Vec<(ContactIndex, f64)>,
    restitution: Vec<(ContactIndex, f64)>,
    /// Change of the restitution of the whole event.
    pub(super) event: f64,
}

impl Variation {
    /// Creates the direction in which only the friction coefficient of one contact changes, at unit rate.
    pub(super) fn of_friction(contact: ContactIndex) -> Self {
        Self {
            friction: vec![(contact, 1.0)],
            ..Self::default()
        }
    }

    /// Creates the direction in which only a restitution changes, at unit rate: that of `contact`, or that of the
    /// whole event if `contact` is `None`.
    pub(super) fn of_restitution(contact: Option<ContactIndex>) -> Self {
        Self {
            restitution: contact.iter().map(|i| (*i, 1.0)).collect(),
            event: if contact.is_none() { 1.0 } else { 0.0 },
            ..Self::default()
        }
    }

    /// True if only friction coefficients and restitutions change along this direction.
    pub(super) fn is_of_coefficients(&self) -> bool {
        self.velocity.is_none() && self.mass.is_none() && self.rows.is_none()
    }

    /// Returns the change of the velocity before the impact along this direction, in which the data of the impact
    /// change. The coordinates are whitened (n entries). Zero if the velocity does not change.
    pub(super) fn start(&self, n: usize) -> DVector<f64> {
        self.velocity.clone().unwrap_or_else(|| DVector::zeros(n))
    }

    /// Subtracts the product $dM \Delta$ from `out`. $dM$ is the change of the whitened mass matrix along this
    /// direction, and $\Delta$ = `change` is the velocity change in a stage of the impact (a part with fixed contact
    /// modes). The product is the additional momentum that the changed mass needs for this velocity change.
    pub(super) fn add_inertia(&self, change: &DVector<f64>, out: &mut DVector<f64>) {
        if let Some(mass) = &self.mass {
            out.gemv(-1.0, mass, change, 1.0);
        }
    }

    /// Computes $\langle a, dM b\rangle$ with the change $dM$ of the whitened mass matrix along this direction, in
    /// which the data of the impact change.
    pub(super) fn mass_form(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        self.mass.as_ref().map_or(0.0, |mass| a.dot(&(mass * b)))
    }

    /// Returns the change of a normalized row along this direction (whitened, n entries); `None` if no rows change.
    /// `row` is an index among the rows of all contacts and constraints.
    pub(super) fn row(&self, row: RowIndex) -> Option<DVectorView<'_, f64>> {
        let rows = self.rows.as_ref();
        rows.map(|rows| rows.column(row.index()))
    }

    /// Returns the change of the friction coefficient of a contact along this direction, in which the data of the
    /// impact change.
    pub(super) fn friction(&self, contact: ContactIndex) -> f64 {
        along(&self.friction, contact)
    }

    /// Returns the change of the restitution of a contact along this direction, in which the data of the impact
    /// change.
    pub(super) fn restitution(&self, contact: ContactIndex) -> f64 {
        along(&self.restitution, contact)
    }
}

fn along(changes: &[(ContactIndex, f64)], contact: ContactIndex) -> f64 {
    let own = changes.iter().filter(|(i, _)| *i == contact);
    own.map(|(_, x)| x).sum()
}

/// Returns the constraint rows, the columns of `rows` from number `first` on, with `rank` linearly independent ones before the
/// others. Each independent row is the one that is farthest from the span of those before it.
fn independent_first(rows: &DMatrix<f64>, first: usize, rank: usize) -> SmallVec<[RowIndex; 4]> {
    let mut order: SmallVec<[RowIndex; 4]> = (first..rows.ncols()).map(RowIndex::new).collect();
    if order.len() == rank {
        return order;
    }
    let mut left = rows.columns_range(first..).into_owned();
    for k in 0..rank {
        let length = |row: &RowIndex| left.column(row.index() - first).norm();
        let mut best = k;
        for other in k + 1..order.len() {
            if length(&order[other]) > length(&order[best]) {
                best = other;
            }
        }
        let taken = order.remove(best);
        order.insert(k, taken);
        let axis = left.column(taken.index() - first).normalize();
        for mut column in left.column_iter_mut() {
            let part = axis.dot(&column);
            column.axpy(-part, &axis, 1.0);
        }
    }
    order
}

impl<'p> Frame<'p> {
    pub(crate) fn new(problem: &'p ImpactProblem) -> Result<Self, ImpactError> {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let n = metric.dim();
        let forms = contacts.constraint_forms();
        let n_rows = contacts.n_rows();
        let mut rows = DMatrix::zeros(n, n_rows + forms.len());
        let given = contacts.jacobian_rows().chain(forms);
        for (mut column, covector) in rows.column_iter_mut().zip(given) {
            // Rows are brought to a length of about one before they are squared, so that nothing overflows.
            column.copy_from(&covector.0);
            metric.whiten_in_place(column.as_mut_slice());
        }
        let mut factors = vec![1.0; rows.ncols()];
        let length = |row: usize| kernel::norm(rows.column(row).as_slice());
        let per = |length: f64| if length > 0.0 { 1.0 / length } else { 1.0 };
        for i in contacts.indices() {
            let own = contacts.row_range(i);
            let (normal, tangents) = (own.start, own.start + 1..own.end);
            factors[normal] = per(length(normal));
            let longest = tangents.clone().map(length).fold(0.0, f64::max);
            factors[tangents].fill(per(longest));
        }
        for (row, factor) in factors.iter_mut().enumerate().skip(n_rows) {
            *factor = per(length(row));
        }
        for (mut column, factor) in rows.column_iter_mut().zip(&factors) {
            column *= *factor;
        }
        if !rows.iter().all(|x| x.is_finite()) {
            return Err(ImpactError::Overflow);
        }
        let rank = contacts.constraint_basis().map_or(0, DMatrix::ncols);
        let held = independent_first(&rows, n_rows, rank);
        Ok(Self {
            before: DVector::from_column_slice(problem.momentum()),
            speed: problem.norm(),
            problem,
            n_redundant: held.len() - rank,
            held,
            rows,
            factors,
            moves: None,
            scales: OnceLock::new(),
        })
    }

    /// Returns the velocities to which tolerances are relative: for each group of interacting contact rows, the norm of
    /// the part of the velocity before the impact in the span of these rows. Computed at the first call, then cached.
    pub(super) fn scales(&self) -> &Scales {
        self.scales.get_or_init(|| {
            let contacts = self.problem.contacts();
            let count = contacts.len();
            let of_contact = |i: ContactIndex| contacts.rows_at(i).map(move |_| i.index());
            let of_constraints = self.constraint_rows().map(|row| count + row.index());
            let owners: SmallVec<[usize; 8]> = contacts
                .indices()
                .flat_map(of_contact)
                .chain(of_constraints)
                .collect();
            Box::new(Scales::new(&self.rows, &owners, &self.before))
        })
    }

    /// Returns the largest change of velocity (kinetic norm) along a covector that counts as zero. Only groups of
    /// contact rows that are not orthogonal to the covector matter. The limit is the fraction `tolerance` of the
    /// velocity before the impact in the span of these rows, plus rounding.
    pub(super) fn near(&self, covector: &DVector<f64>, tolerance: f64) -> f64 {
        self.scales().along(&self.rows, covector, tolerance)
    }

    /// True if a difference of two velocities counts as zero. In the span of each group of interacting contact rows
    /// the difference must be below the fraction `tolerance` of the velocity before the impact.
    pub(super) fn is_zero(&self, difference: &DVector<f64>, tolerance: f64) -> bool {
        self.scales().is_zero(&self.rows, difference, tolerance)
    }

    /// True if a difference of two whitened velocities is at most `distance` plus rounding, in the span of each group
    /// of interacting rows.
    pub(super) fn is_within(&self, difference: &DVector<f64>, distance: f64) -> bool {
        self.scales().is_within(&self.rows, difference, distance)
    }

    /// Returns an upper bound of the change of velocity (kinetic norm) that counts as zero for any row: the fraction
    /// `tolerance` of the whole velocity before the impact, plus rounding.
    pub(super) fn at_most(&self, tolerance: f64) -> f64 {
        (tolerance + ROUNDING) * self.speed
    }

    /// True if the difference of two velocities that should be equal is explained by rounding, or is below the fraction
    /// `tolerance` of the velocity before the impact.
    pub(super) fn is_rounding(&self, difference: &DVector<f64>, tolerance: f64) -> bool {
        difference.norm() <= Sum::ROUNDING * self.speed || self.is_zero(difference, tolerance)
    }

    /// Returns the number n of entries of a velocity.
    pub(super) fn dim(&self) -> usize {
        self.rows.nrows()
    }

    /// Returns the number of rows of all contacts and constraints.
    pub(super) fn n_rows(&self) -> usize {
        self.rows.ncols()
    }

    /// Returns the number of rows of all contacts.
    pub(super) fn n_contact_rows(&self) -> usize {
        self.problem.contacts().n_rows()
    }

    /// Iterates over the rows of all contacts, then over those of the constraints.
    pub(super) fn all_rows(&self) -> impl ExactSizeIterator<Item = RowIndex> + Clone + use<> {
        RowIndex::all(self.n_rows())
    }

    /// Iterates over the constraint rows, which follow the rows of all contacts.
    pub(super) fn constraint_rows(
        &self,
    ) -> impl ExactSizeIterator<Item = RowIndex> + Clone + use<> {
        (self.n_contact_rows()..self.n_rows()).map(RowIndex::new)
    }

    /// Returns the constraint rows in two lists: linearly independent rows, and those that follow from them.
    pub(super) fn constraints_by_rank(&self) -> (&[RowIndex], &[RowIndex]) {
        self.held.split_at(self.held.len() - self.n_redundant)
    }

    /// Returns a normalized row of a contact or constraint in whitened coordinates (n entries).
    pub(super) fn row(&self, row: RowIndex) -> DVectorView<'_, f64> {
        self.rows.column(row.index())
    }

    /// Returns a row of the contact Jacobian in whitened coordinates (n entries; the mass matrix is the identity),
    /// before its normalization.
    pub(super) fn given_row(&self, row: RowIndex) -> DVector<f64> {
        self.row(row) / self.factors[row.index()]
    }

    /// Returns the change of a row of the contact Jacobian along `variation`, a direction in which the data change.
    /// The change is whitened and belongs to the row before its normalization. `None` if no rows change.
    pub(super) fn given_change(
        &self,
        variation: &Variation,
        row: RowIndex,
    ) -> Option<DVector<f64>> {
        let change = variation.row(row)?;
        Some(change / self.factors[row.index()])
    }

    /// Returns the speed below which the law treats a velocity along some unit row as rounding.
    pub(super) fn grazing(&self) -> f64 {
        let grazing = self.problem.grazing().iter().copied();
        GRAZING * self.speed + 2.0 * grazing.fold(0.0, f64::max)
    }

    /// Returns the largest speed below which the law treats the velocity of a contact in one of `groups` (indices of groups of
    /// interacting rows) as rounding.
    pub(super) fn grazing_in(&self, groups: &[usize]) -> f64 {
        let contacts = self.problem.contacts();
        let rows = contacts
            .unit_rows()
            .map(|j| contacts.row(contacts.contact_at(j)));
        let all = rows.zip(self.problem.grazing());
        all.filter(|(row, _)| groups.contains(&self.scales().group(*row)))
            .map(|(row, grazing)| self.scales().of_row(row, GRAZING) + 2.0 * grazing)
            .fold(0.0, f64::max)
    }

    /// Projects a whitened vector orthogonally onto the velocities that satisfy the constraints.
    pub(super) fn admit(&self, vector: &DVector<f64>) -> DVector<f64> {
        match self.problem.contacts().constraint_basis() {
            Some(basis) => vector - basis * basis.tr_mul(vector),
            None => vector.clone(),
        }
    }

    /// Returns the product of `change`, the change of a row of the contact Jacobian, with a velocity. `velocity` is
    /// relative to the moving frame in which the law is evaluated; the velocity of this frame is added to `velocity`.
    pub(super) fn seen(&self, change: DVectorView<'_, f64>, velocity: DVectorView<'_, f64>) -> f64 {
        let seen = change.dot(&velocity);
        self.moves
            .as_ref()
            .map_or(seen, |moves| seen + change.dot(moves))
    }

    /// Returns the velocity along a row of the contact Jacobian: the product of the normalized row with a whitened
    /// velocity.
    pub(super) fn rate(&self, row: RowIndex, velocity: &DVector<f64>) -> f64 {
        self.row(row).dot(velocity)
    }

    /// Returns the friction coefficient of a contact for normalized rows, divided by that for the caller's rows. The
    /// two coefficients differ if the normal and the tangents have different lengths.
    pub(super) fn friction_factor(&self, contact: ContactIndex) -> f64 {
        let row = self.problem.contacts().row(contact);
        match self.factors.get(row.offset(1).index()) {
            Some(tangent) if *tangent > 0.0 => self.factors[row.index()] / tangent,
            _ => 1.0,
        }
    }

    /// Returns the orthogonal projector (n × n, whitened) onto the velocities that satisfy the constraints.
    pub(super) fn admissible(&self) -> DMatrix<f64> {
        let n = self.dim();
        let mut projector = DMatrix::identity(n, n);
        if let Some(basis) = self.problem.contacts().constraint_basis() {
            projector.gemm(-1.0, basis, &basis.transpose(), 1.0);
        }
        projector
    }

    /// Converts the velocity after the impact and the impulses of an outcome from the caller's units to whitened
    /// coordinates and normalized rows. The impulses on contacts come first, then those on constraints.
    pub(super) fn of_outcome(&self, outcome: &ImpactOutcome) -> (DVector<f64>, DVector<f64>) {
        let velocity = self.of_velocity(&outcome.velocity_plus.0);
        let given = outcome
            .impulses
            .iter()
            .chain(outcome.constraint_impulses.iter());
        let impulses = RowIndex::all(self.n_rows())
            .zip(given)
            .map(|(row, l)| self.of_impulse(row, *l));
        (velocity, DVector::from_iterator(self.n_rows(), impulses))
    }

    /// Converts impulses on the caller's contact rows to impulses on all normalized rows. The impulses on the
    /// constraints are computed: these impulses keep the constraints satisfied.
    pub(super) fn of_impulses(&self, given: &DVector<f64>) -> DVector<f64> {
        let contacts = self.problem.contacts();
        let multipliers = contacts.constraint_impulses(given);
        let all = self.all_rows().zip(given.iter().chain(multipliers.iter()));
        DVector::from_iterator(self.n_rows(), all.map(|(row, l)| self.of_impulse(row, *l)))
    }

    /// Converts a velocity (n entries) from the caller's coordinates to whitened ones, and multiplies the result by
    /// the scale factor of the problem.
    pub(super) fn of_velocity(&self, velocity: &DVector<f64>) -> DVector<f64> {
        let mut out = velocity.clone();
        let metric = self.problem.contacts().metric();
        metric.whiten_velocity_into(velocity.as_slice(), out.as_mut_slice());
        out * self.problem.scale()
    }

    /// Converts an impulse on a row of the caller to the impulse on the normalized row, and multiplies the result by
    /// the scale factor of the problem.
    pub(super) fn of_impulse(&self, row: RowIndex, impulse: f64) -> f64 {
        impulse * self.problem.scale() / self.factors[row.index()]
    }

    /// Converts whitened velocities (columns of n entries) to the caller's coordinates.
    pub(super) fn velocities(&self, mut columns: DMatrix<f64>) -> DMatrix<f64> {
        let metric = self.problem.contacts().metric();
        for mut column in columns.column_iter_mut() {
            metric.unwhiten_velocity_in_place(column.as_mut_slice());
        }
        columns / self.problem.scale()
    }

    /// Converts a whitened velocity (n entries) to the caller's coordinates.
    pub(super) fn velocity(&self, velocity: &DVector<f64>) -> DVector<f64> {
        let columns = DMatrix::from_column_slice(self.dim(), 1, velocity.as_slice());
        self.velocities(columns).column(0).into_owned()
    }

    /// Converts a Jacobian $D$ of a velocity with respect to a velocity from whitened coordinates to the caller's,
    /// $L^{-T}DL^T$, with the mass matrix $M = LL^T$.
    pub(super) fn jacobian(&self, whitened: &DMatrix<f64>) -> DMatrix<f64> {
        let metric = self.problem.contacts().metric();
        let mut out = whitened.clone();
        metric.unwhiten_rows(&mut out);
        for mut column in out.column_iter_mut() {
            metric.unwhiten_velocity_in_place(column.as_mut_slice());
        }
        out
    }

    /// Returns the factor by which a row of the caller's contact Jacobian is multiplied to normalize it.
    pub(super) fn row_factor(&self, row: RowIndex) -> f64 {
        self.factors[row.index()]
    }

    /// Converts a cotangent of a velocity (n entries) from the caller's coordinates to whitened ones.
    pub(super) fn cotangent(&self, given: &DVector<f64>) -> DVector<f64> {
        let mut out = given.clone();
        let metric = self.problem.contacts().metric();
        metric.whiten_in_place(out.as_mut_slice());
        out / self.problem.scale()
    }

    /// Converts a cotangent of a velocity (n entries) from whitened coordinates to the caller's.
    pub(super) fn cotangent_back(&self, mut whitened: DVector<f64>) -> DVector<f64> {
        let metric = self.problem.contacts().metric();
        metric.unwhiten_in_place(whitened.as_mut_slice());
        whitened * self.problem.scale()
    }

    /// Converts cotangents of covectors, for example of contact rows, from whitened coordinates to the caller's. Each
    /// column has n entries.
    pub(super) fn covectors_back(&self, mut columns: DMatrix<f64>) -> DMatrix<f64> {
        let metric = self.problem.contacts().metric();
        for mut column in columns.column_iter_mut() {
            metric.unwhiten_velocity_in_place(column.as_mut_slice());
        }
        columns
    }

    /// Converts the Jacobian of the impulses with respect to the velocity before the impact from normalized rows and
    /// whitened coordinates to the caller's contact rows and coordinates. The rows of constraints are left out.
    pub(super) fn impulse_jacobian(&self, whitened: &DMatrix<f64>) -> DMatrix<f64> {
        let mut out = whitened.rows(0, self.n_contact_rows()).into_owned();
        self.problem.contacts().metric().unwhiten_rows(&mut out);
        for (mut row, factor) in out.row_iter_mut().zip(&self.factors) {
            row *= *factor;
        }
        out
    }

    /// Converts impulses on normalized rows to impulses on the caller's contact rows; those on constraints are left
    /// out.
    pub(super) fn impulses(&self, impulses: &DVector<f64>) -> DVector<f64> {
        let count = self.n_contact_rows();
        let given = impulses.iter().zip(&self.factors).take(count);
        DVector::from_iterator(count, given.map(|(l, f)| l * f / self.problem.scale()))
    }

    /// Converts a direction in which the data of the impact change to whitened coordinates and normalized rows.
    /// Returns an error if a part of `direction` has the wrong size.
    pub(super) fn variation(&self, direction: &Direction) -> Result<Variation, ImpactError> {
        let contacts = self.problem.contacts();
        let metric = contacts.metric();
        let (n, m) = (self.dim(), contacts.len());
        let n_contact_rows = self.n_contact_rows();
        let check = |what, expected: usize, found: usize| {
            if expected == found {
                Ok(())
            } else {
                Err(ImpactError::InvalidDirection {
                    what,
                    expected,
                    found,
                })
            }
        };
        direction.check_finite()?;
        let mut out = Variation {
            event: direction.event_restitution,
            ..Variation::default()
        };
        if let Some(velocity) = &direction.velocity {
            check("velocity", n, velocity.len())?;
            out.velocity = Some(self.of_velocity(velocity));
        }
        if let Some(mass) = &direction.mass {
            check("mass", n, mass.nrows())?;
            check("mass", n, mass.ncols())?;
            let whiten = |mut matrix: DMatrix<f64>| {
                for mut column in matrix.column_iter_mut() {
                    metric.whiten_in_place(column.as_mut_slice());
                }
                matrix
            };
            out.mass = Some(whiten(whiten(mass.clone()).transpose()));
        }
        if direction.rows.is_some() || direction.constraints.is_some() {
            let mut rows = DMatrix::zeros(n, self.n_rows());
            for (what, given, first, count) in [
                ("rows", &direction.rows, 0, n_contact_rows),
                (
                    "constraints",
                    &direction.constraints,
                    n_contact_rows,
                    self.n_rows() - n_contact_rows,
                ),
            ] {
                let Some(given) = given else { continue };
                check(what, count, given.nrows())?;
                check(what, n, given.ncols())?;
                for k in 0..count {
                    let mut column = rows.column_mut(first + k);
                    column.copy_from(&given.row(k).transpose());
                    metric.whiten_in_place(column.as_mut_slice());
                    column *= self.factors[first + k];
                }
            }
            out.rows = Some(rows);
        }
        for (what, given, out) in [
            ("friction", &direction.friction, &mut out.friction),
            ("restitution", &direction.restitution, &mut out.restitution),
        ] {
            let Some(given) = given else { continue };
            check(what, m, given.len())?;
            out.extend(ContactIndex::all(m).zip(given.iter().copied()));
        }
        Ok(out)
    }
}
