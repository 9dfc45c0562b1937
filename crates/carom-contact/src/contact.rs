//! Contacts and constraints at one configuration.

use crate::constraints::Constraints;
use crate::index::{ContactIndex, RowIndex, UnitRow};
use crate::margin::{self, Margin};
use crate::numbers::Numbers;
use crate::residual_scale::{self, RowVelocity};
use crate::{ImpactError, ImpactProblem};
use carom_metric::{Covector, KineticMetric, MetricError, Tangent, UnitNormals, kernel};
use carom_two_body::BodyPair;
use nalgebra::{DMatrix, DVector};
use smallvec::{SmallVec, smallvec};
use std::sync::{Arc, OnceLock};

/// Largest difference between the entries of two whitened unit normals that count as one contact given twice.
const DUPLICATE_TOLERANCE: f64 = 1e-11;

/// A closed contact, in generalized coordinates: its normal row, its tangent rows, and its coefficients of friction and
/// restitution.
///
/// # Examples
///
/// ```
/// use carom_contact::Contact;
/// use carom_metric::Covector;
/// // A point mass (x, y) over a rough floor.
/// let contact = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents([Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.3)
///     .with_restitution(0.5);
/// assert_eq!(contact.n_rows(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Contact {
    /// Gradient of the gap function (n entries), not normalized, positive towards separation.
    pub normal: Covector,
    /// Tangential contact rows (n entries each): an empty list, one row in the plane, or two in space.
    pub tangents: Vec<Covector>,
    /// Coulomb friction coefficient, at least 0.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\], for laws that take one coefficient per contact.
    pub restitution: f64,
}

carom_numeric::setters!(Contact {
    /// Sets the gradient of the gap function (n entries), positive towards separation.
    with_normal: normal, Covector;
    /// Sets the Coulomb friction coefficient, at least 0.
    with_friction: friction, f64;
    /// Sets the coefficient of restitution, in \[0, 1\].
    with_restitution: restitution, f64;
});

impl Contact {
    /// Creates a contact from its normal row (n entries), without tangents, with zero friction and zero restitution; the setters
    /// add them.
    pub fn new(normal: Covector) -> Self {
        Self::frictionless(normal)
    }

    /// Sets the tangential contact rows (n entries each): none, one row in the plane, or two in space.
    #[must_use]
    pub fn with_tangents(mut self, tangents: impl Into<Vec<Covector>>) -> Self {
        self.tangents = tangents.into();
        self
    }

    /// Creates a contact from its normal row (n entries), without tangents, with zero friction and zero restitution.
    pub fn frictionless(normal: Covector) -> Self {
        Self {
            normal,
            tangents: Vec::new(),
            friction: 0.0,
            restitution: 0.0,
        }
    }

    /// Creates the contact of two rigid bodies, with one normal row and two tangent rows that act on the generalized velocity
    /// of the pair. `friction` is the Coulomb coefficient, `restitution` the coefficient of restitution.
    pub fn of_bodies(pair: &BodyPair, friction: f64, restitution: f64) -> Self {
        let [x, y, normal] = pair.rows();
        Self {
            normal,
            tangents: vec![x, y],
            friction,
            restitution,
        }
    }

    /// Number of rows of this contact in the contact Jacobian: one normal plus the tangents.
    pub fn n_rows(&self) -> usize {
        1 + self.tangents.len()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Covector> + Clone {
        std::iter::once(&self.normal).chain(&self.tangents)
    }

    fn validate(&self, contact: usize) -> Result<(), ImpactError> {
        if self.tangents.len() > 2 {
            return Err(ImpactError::TooManyTangents {
                contact,
                found: self.tangents.len(),
            });
        }
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            return Err(ImpactError::InvalidFriction {
                contact,
                value: self.friction,
            });
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(ImpactError::InvalidRestitution {
                value: self.restitution,
            });
        }
        Ok(())
    }
}

/// Indices of a contact in the lists of its set.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Index of the contact's first row in the contact Jacobian.
    row: usize,
    /// Its distinct normal.
    distinct: UnitRow,
}

/// A normal that one or several contacts share.
#[derive(Clone, Copy, Debug)]
struct Distinct {
    /// First contact with this normal, and the Jacobian row of that normal.
    contact: ContactIndex,
    row: usize,
    /// Number of contacts with this normal.
    multiplicity: usize,
}

/// All closed contacts of a system at one configuration, with the factorizations that all laws share.
///
/// Contact `i` occupies the rows [`row`](Self::row)`(i)..row(i + 1)` of the contact Jacobian $J$: its normal, then its
/// tangents. The velocities and impulses of outcomes refer to these rows as the caller gave them; internally the rows
/// are normalized to unit kinetic length (the norm $\sqrt{aM^{-1}a^T}$ of a row $a$, with the mass matrix $M$). With
/// constraint one-forms all rows are restricted to the null space of the forms. A law that uses these rows satisfies
/// the constraints without treating them itself.
///
/// A set is built once per configuration and reused for any number of velocities. The value is a handle, which owns its
/// metric together with others: a clone shares everything and costs one atomic count, and a structure or a thread can keep it.
/// Threads that pose many problems each take a handle with a count of its own ([`detached`](Self::detached)).
#[derive(Clone, Debug)]
pub struct ContactSet(Arc<Configuration>);

/// Contacts of a configuration and their factorizations, which all handles share.
#[derive(Clone, Debug)]
struct Configuration {
    metric: Arc<KineticMetric>,
    contacts: Vec<Contact>,
    constraints: Option<Box<Constraints>>,
    /// All rows of the Jacobian, normalized to unit kinetic length.
    rows: UnitNormals,
    places: SmallVec<[Place; 4]>,
    distinct: SmallVec<[Distinct; 4]>,
    margin: OnceLock<Result<Margin, ImpactError>>,
}

impl ContactSet {
    /// Creates the set of closed contacts of a system with the mass matrix of `metric`; validates the contacts and normalizes
    /// their rows. An empty list is allowed.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Contact`] (zero, non-finite or ill-sized rows),
    /// [`ImpactError::TooManyTangents`], [`ImpactError::InvalidFriction`],
    /// [`ImpactError::InvalidRestitution`].
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_contact::{Contact, ContactSet};
    /// use carom_metric::{Covector, KineticMetric};
    /// use nalgebra::DMatrix;
    /// let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
    /// let contacts = ContactSet::new(&metric, vec![
    ///     Contact::frictionless(Covector::from_slice(&[-1.0, 1.0, 0.0])),
    ///     Contact::frictionless(Covector::from_slice(&[0.0, -1.0, 1.0])),
    /// ])?;
    /// assert!((contacts.cosines()[(0, 1)] + 0.5).abs() < 1e-15);
    /// # Ok::<(), carom_contact::ImpactError>(())
    /// ```
    pub fn new(
        metric: impl Into<Arc<KineticMetric>>,
        contacts: Vec<Contact>,
    ) -> Result<Self, ImpactError> {
        Self::constrained(metric, contacts, Vec::new())
    }

    /// Creates a set of contacts under linear velocity constraints, given by one-forms $a$ with $a\cdot v = 0$ (n entries
    /// each); all rows are restricted to the null space of the forms. Forms may be linearly dependent or zero: the
    /// constraints are those of a basis of the forms.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), and [`ImpactError::ConstrainedContact`].
    pub fn constrained(
        metric: impl Into<Arc<KineticMetric>>,
        contacts: Vec<Contact>,
        forms: Vec<Covector>,
    ) -> Result<Self, ImpactError> {
        let metric = metric.into();
        let constraints = if forms.is_empty() {
            None
        } else {
            Some(Box::new(Constraints::new(&metric, forms)?))
        };
        Configuration::new(metric, contacts, constraints).map(Self)
    }

    /// Poses an impact at these contacts with a velocity before it (n entries).
    ///
    /// # Errors
    ///
    /// The errors of [`ImpactProblem::new`].
    pub fn problem(&self, velocity: Tangent) -> Result<ImpactProblem, ImpactError> {
        ImpactProblem::new(self, velocity)
    }

    /// Copies the contacts and their rows to a handle with a count of its own; the metric stays shared. Problems that a thread poses on
    /// such a handle do not wait for the counts of other threads.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(Arc::new(Configuration::clone(&self.0)))
    }

    /// Kinetic metric (mass matrix) of the system to which the contacts belong.
    #[inline]
    pub fn metric(&self) -> &Arc<KineticMetric> {
        &self.0.metric
    }

    /// Contacts of the set with the rows that the caller gave, not normalized.
    pub fn contacts(&self) -> &[Contact] {
        &self.0.contacts
    }

    /// Contact `i` of the set with the rows that the caller gave, not normalized.
    ///
    /// # Panics
    ///
    /// If the set has no contact `i`, as indexing does.
    #[inline]
    pub fn contact(&self, i: ContactIndex) -> &Contact {
        &self.0.contacts[i.index()]
    }

    /// Iterates over the indices of all contacts of the set.
    #[inline]
    pub fn indices(
        &self,
    ) -> impl ExactSizeIterator<Item = ContactIndex> + DoubleEndedIterator + Clone + use<> {
        ContactIndex::all(self.0.contacts.len())
    }

    /// Iterates over all contacts of the set together with their indices.
    #[inline]
    pub fn indexed(
        &self,
    ) -> impl ExactSizeIterator<Item = (ContactIndex, &Contact)> + DoubleEndedIterator + Clone {
        self.indices().zip(&self.0.contacts)
    }

    /// Number of contacts in the set, duplicates included.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.contacts.len()
    }

    /// True if the set has no contacts.
    pub fn is_empty(&self) -> bool {
        self.0.contacts.is_empty()
    }

    /// Constraint one-forms of the set (n entries each) as the caller gave them, not normalized; empty without constraints.
    pub fn constraint_forms(&self) -> &[Covector] {
        self.0.constraints.as_ref().map_or(&[], |c| c.forms())
    }

    /// Returns the index of the normal of contact `i` among the rows of the contact Jacobian. The tangents of the contact
    /// are the rows after it. If there is no contact `i`, the result is the index after the last row.
    #[inline]
    pub fn row(&self, i: ContactIndex) -> RowIndex {
        let place = self.0.places.get(i.index());
        RowIndex::new(place.map_or(self.0.rows.len(), |place| place.row))
    }

    /// Number of rows of the contact Jacobian: the normals and tangents of all contacts.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.0.rows.len()
    }

    /// Iterates over the rows of the contact Jacobian.
    #[inline]
    pub fn all_rows(
        &self,
    ) -> impl ExactSizeIterator<Item = RowIndex> + DoubleEndedIterator + Clone + use<> {
        RowIndex::all(self.0.rows.len())
    }

    /// Returns the places of the rows of contact `i`, its normal and then its tangents, in lists that have one entry for each
    /// row of the contact Jacobian, for example the impulses of an outcome. The range is empty if there is no contact `i`.
    #[inline]
    pub fn row_range(&self, i: ContactIndex) -> std::ops::Range<usize> {
        self.row(i).index()..self.row(ContactIndex::new(i.index() + 1)).index()
    }

    /// Iterates over the rows of contact `i`: its normal, then its tangents.
    #[inline]
    pub fn rows_at(
        &self,
        i: ContactIndex,
    ) -> impl ExactSizeIterator<Item = RowIndex> + DoubleEndedIterator + Clone + use<> {
        self.row_range(i).map(RowIndex::new)
    }

    /// Iterates over the tangents of contact `i`.
    #[inline]
    pub fn tangents_at(
        &self,
        i: ContactIndex,
    ) -> impl ExactSizeIterator<Item = RowIndex> + DoubleEndedIterator + Clone + use<> {
        self.rows_at(i).skip(1)
    }

    /// Checks, for laws with friction, that every contact with a positive friction coefficient has tangents; the error is
    /// [`ImpactError::MissingTangents`].
    pub fn require_tangents(&self) -> Result<(), ImpactError> {
        let is_missing = |contact: &Contact| contact.friction > 0.0 && contact.tangents.is_empty();
        match self.0.contacts.iter().position(is_missing) {
            Some(contact) => Err(ImpactError::MissingTangents { contact }),
            None => Ok(()),
        }
    }

    /// Kinetic norm of the normal row of contact `i`, restricted to the null space of the constraints.
    #[inline]
    pub fn normal_norm(&self, i: ContactIndex) -> f64 {
        self.row_norm(self.row(i))
    }

    /// Cosines of the angles between the normals of all contacts in the kinetic metric, that is, the Gram matrix of the unit
    /// normals (contacts × contacts, duplicates included).
    pub fn cosines(&self) -> DMatrix<f64> {
        let row = |i: usize| self.0.distinct[self.place(ContactIndex::new(i)).index()].row;
        DMatrix::from_fn(self.len(), self.len(), |i, j| match (row(i), row(j)) {
            (i, j) if i == j => 1.0,
            (i, j) => self.0.rows.cosine(i, j),
        })
    }

    /// Delassus matrix $G = J M^{-1} J^T$ (rows × rows) of the contact Jacobian $J$ with the rows that the caller gave, and
    /// the mass matrix $M$. With constraints, $M^{-1}$ is replaced by the inverse mass of the motions that satisfy the
    /// constraints.
    pub fn delassus(&self) -> DMatrix<f64> {
        let mut g = self.0.rows.gram();
        let norms = DVector::from_fn(self.0.rows.len(), |i, _| self.0.rows.norm(i));
        g.component_mul_assign(&(&norms * norms.transpose()));
        g
    }

    /// Largest factor by which the constraints amplify the relative rounding error of a contact row. For one row the factor
    /// is its kinetic length divided by the kinetic length of its restriction to the null space of the constraints. The
    /// result is 1 without constraints.
    #[doc(hidden)]
    pub fn amplified(&self) -> f64 {
        if self.0.constraints.is_none() {
            return 1.0;
        }
        let rows = self.0.contacts.iter().flat_map(Contact::rows).enumerate();
        let ratios = rows.filter_map(|(index, row)| {
            let left = self.0.rows.norm(index);
            let whole = self.0.metric.norm(row).ok()?;
            (left > 0.0).then_some(whole / left)
        });
        ratios.fold(1.0, f64::max)
    }

    /// Returns the distance of the convex hull of the contacts' unit normals from the origin, computed at the first call and
    /// then stored. If the distance is 0, the normals can balance each other.
    ///
    /// # Errors
    ///
    /// [`ImpactError::NotSolved`].
    pub fn margin(&self) -> Result<&Margin, ImpactError> {
        self.0
            .margin
            .get_or_init(|| margin::margin(self))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Number of distinct normals in the set; contacts with the same normal count once.
    #[inline]
    pub fn n_distinct(&self) -> usize {
        self.0.distinct.len()
    }

    /// Iterates over the indices of the distinct normals of the set, in the order in which their first contacts were given.
    #[inline]
    pub fn unit_rows(
        &self,
    ) -> impl ExactSizeIterator<Item = UnitRow> + DoubleEndedIterator + Clone + use<> {
        UnitRow::all(self.0.distinct.len())
    }

    /// Index of the first contact that has the distinct normal `j`.
    pub fn contact_at(&self, j: UnitRow) -> ContactIndex {
        self.0.distinct[j.index()].contact
    }

    /// Index of the distinct normal that contact `i` has; contacts with the same normal share it.
    #[inline]
    pub fn place(&self, i: ContactIndex) -> UnitRow {
        self.0.places[i.index()].distinct
    }

    /// Distinct unit normal `j` of the set in whitened coordinates (n entries), in which the kinetic energy is half the
    /// squared Euclidean norm.
    #[inline]
    pub fn unit(&self, j: UnitRow) -> &[f64] {
        self.0.rows.column(self.0.distinct[j.index()].row)
    }

    /// Row `row` of the contact Jacobian (normal or tangent) in whitened coordinates, in which the kinetic metric is
    /// Euclidean; restricted by the constraints and of unit length (n entries).
    #[inline]
    pub fn unit_row(&self, row: RowIndex) -> &[f64] {
        self.0.rows.column(row.index())
    }

    /// Kinetic norm of row `row` of the contact Jacobian (normal or tangent), restricted by the constraints.
    #[inline]
    pub fn row_norm(&self, row: RowIndex) -> f64 {
        self.0.rows.norm(row.index())
    }

    /// Wedge of the distinct normals `i` and `j`: the set of momenta with which neither of the two contacts approaches.
    #[doc(hidden)]
    pub fn wedge(&self, i: UnitRow, j: UnitRow) -> carom_metric::Wedge {
        let row = |j: UnitRow| self.0.distinct[j.index()].row;
        self.0.rows.wedge(row(i), row(j))
    }

    /// Returns the power of two that brings a row of the Jacobian to about unit length when multiplied with it.
    #[inline]
    pub(crate) fn row_scale(&self, row: RowIndex) -> f64 {
        kernel::power_of_two_scale(self.row_norm(row))
    }

    /// Computes the velocity of contact `i` along its unit normal for a generalized `velocity` (n entries), multiplied by
    /// `scale`. The velocity is a sum of products. The result also contains the sum of the magnitudes of these products,
    /// from which the rounding error of the velocity follows.
    #[inline]
    pub fn normal_velocity(&self, i: ContactIndex, velocity: &[f64], scale: f64) -> RowVelocity {
        let normal = self.contact(i).normal.0.as_slice();
        residual_scale::row_velocity(normal, velocity, self.normal_norm(i), scale)
    }

    /// Reflects a velocity (n entries, changed in place) elastically at contact `i` if the contact approaches. Returns the
    /// impulse on the caller's normal row (N·s), or 0 if the contact does not approach or does not exist.
    ///
    /// This is a single elastic impact without allocation, audit or options:
    /// $v^+ = v^- - 2 b_i M^{-1} u_i^T$ for $b_i < 0$, where $u_i$ is the unit normal and $b_i = u_iv^-$.
    /// `workspace` has n entries.
    pub fn reflect_in_place(
        &self,
        i: ContactIndex,
        velocity: &mut [f64],
        workspace: &mut [f64],
    ) -> f64 {
        if i.index() >= self.len() {
            return 0.0;
        }
        let place = self.place(i);
        let b = self
            .normal_velocity(self.contact_at(place), velocity, 1.0)
            .rate;
        if b.is_nan() || b >= 0.0 {
            return 0.0;
        }
        workspace.copy_from_slice(self.unit(place));
        self.metric().unwhiten_velocity_in_place(workspace);
        kernel::add_scaled(velocity, -2.0 * b, workspace);
        -2.0 * b / self.normal_norm(i)
    }

    /// Iterates over all rows of the contact Jacobian as the caller gave them: for every contact its normal, then its
    /// tangents.
    pub fn jacobian_rows(&self) -> impl Iterator<Item = &Covector> + Clone {
        self.0.contacts.iter().flat_map(Contact::rows)
    }

    /// Converts impulses on the distinct unit normals (one per distinct normal) to impulses on all rows of the contact
    /// Jacobian, each normalized to unit length: shared equally among duplicate contacts, zero on tangents.
    #[doc(hidden)]
    pub fn impulses_on_unit_rows(&self, unit_impulse: &[f64]) -> Numbers {
        let mut impulses: Numbers = smallvec![0.0; self.0.rows.len()];
        for &Place { row, distinct } in &self.0.places {
            let j = distinct.index();
            impulses[row] = unit_impulse[j] / self.0.distinct[j].multiplicity as f64;
        }
        impulses
    }

    /// Computes the multipliers $\lambda$ of the constraint one-forms $A$ that keep $Av = 0$ when the contact `impulses`
    /// $\Lambda$ (N·s, one per row of the contact Jacobian $J$) act: $A M^{-1}(J^T\Lambda + A^T\lambda) = 0$, with the mass
    /// matrix $M$.
    pub fn constraint_impulses(&self, impulses: &DVector<f64>) -> DVector<f64> {
        let Some(constraints) = &self.0.constraints else {
            return DVector::zeros(0);
        };
        let mut force = DVector::zeros(self.0.metric.dim());
        for (row, covector) in self.jacobian_rows().enumerate() {
            force.axpy(impulses[row], &covector.0, 1.0);
        }
        self.0.metric.whiten_in_place(force.as_mut_slice());
        -constraints.multipliers(&force)
    }

    /// Computes the multipliers $\lambda$ of the constraint one-forms $A$ that bring the constraint velocities $c = Av$ to
    /// zero: $AM^{-1}A^T\lambda = -c$, with the mass matrix $M$. The argument is $c$, one entry per form. If the forms are
    /// linearly dependent, many solutions exist. The one returned has the least norm after each multiplier is multiplied by
    /// the kinetic length of its form.
    #[doc(hidden)]
    pub fn stop_constraints(&self, velocity: DVector<f64>) -> DVector<f64> {
        match &self.0.constraints {
            Some(constraints) => constraints.stop(velocity),
            None => velocity,
        }
    }

    /// Computes the component of the momentum of a velocity in the span of the constraint one-forms, whitened (n entries), from
    /// the forms as given; `None` without constraints.
    pub(crate) fn along_constraints(&self, velocity: &Tangent) -> Option<DVector<f64>> {
        self.0.constraints.as_ref()?.along(velocity)
    }

    /// Orthonormal basis (n × rank) of the span of the constraint one-forms in whitened coordinates, in which the kinetic
    /// metric is Euclidean; `None` without constraints.
    #[doc(hidden)]
    pub fn constraint_basis(&self) -> Option<&DMatrix<f64>> {
        Some(self.0.constraints.as_ref()?.basis())
    }

    /// Decomposes a momentum and computes the multipliers $\lambda$ (one per form) with $A^T\lambda$ equal to the component
    /// of the momentum in the span of the constraint one-forms $A$. The momentum is whitened (n entries), that is, in
    /// coordinates in which the kinetic metric is Euclidean.
    #[doc(hidden)]
    pub fn multipliers(&self, whitened: &DVector<f64>) -> DVector<f64> {
        match &self.0.constraints {
            Some(constraints) => constraints.multipliers(whitened),
            None => DVector::zeros(0),
        }
    }
}

impl Configuration {
    /// Checks the contacts, normalizes their rows and restricts them to the null space of the constraints.
    fn new(
        metric: Arc<KineticMetric>,
        contacts: Vec<Contact>,
        constraints: Option<Box<Constraints>>,
    ) -> Result<Arc<Self>, ImpactError> {
        let mut places = SmallVec::<[Place; 4]>::with_capacity(contacts.len());
        let mut row = 0;
        for (i, contact) in contacts.iter().enumerate() {
            contact.validate(i)?;
            for row in contact.rows() {
                let checked = metric.check_vector("normal", row.0.as_slice());
                checked.map_err(|source| ImpactError::Contact { contact: i, source })?;
            }
            places.push(Place {
                row,
                distinct: UnitRow::new(i),
            });
            row += contact.n_rows();
        }
        let contact_of = |row: usize| places.partition_point(|place| place.row <= row) - 1;
        let mut rows = {
            let rows: SmallVec<[&Covector; 8]> = contacts.iter().flat_map(Contact::rows).collect();
            // One tangent of a contact in space may be a zero row: friction then acts along the other tangent alone.
            let may_be_zero = |row: usize| {
                let contact = contact_of(row);
                row != places[contact].row && contacts[contact].tangents.len() == 2
            };
            UnitNormals::new_or_zero(&metric, rows.iter().copied(), may_be_zero).map_err(
                |source| match source {
                    MetricError::ZeroNormal { index } => ImpactError::Contact {
                        contact: contact_of(index),
                        source,
                    },
                    other => other.into(),
                },
            )?
        };
        if let Some(constraints) = &constraints {
            rows.deflate(constraints.basis())
                .map_err(|source| match source {
                    MetricError::ZeroNormal { index } => ImpactError::ConstrainedContact {
                        contact: contact_of(index),
                    },
                    other => other.into(),
                })?;
        }
        // Made in its place: it is large to move.
        Ok(Arc::new(Self {
            distinct: merge_duplicates(&rows, &mut places),
            metric,
            constraints,
            rows,
            margin: OnceLock::new(),
            contacts,
            places,
        }))
    }
}

/// Returns the distinct normals, and tells each contact its own.
fn merge_duplicates(rows: &UnitNormals, places: &mut [Place]) -> SmallVec<[Distinct; 4]> {
    let mut all = SmallVec::<[Distinct; 4]>::with_capacity(places.len());
    for (contact, place) in places.iter_mut().enumerate() {
        let row = place.row;
        let found = all
            .iter()
            .position(|other| same_normal(rows, row, other.row));
        let first = found.unwrap_or(all.len());
        if found.is_none() {
            all.push(Distinct {
                contact: ContactIndex::new(contact),
                row,
                multiplicity: 0,
            });
        }
        all[first].multiplicity += 1;
        place.distinct = UnitRow::new(first);
    }
    all
}

/// True if the unit normals with the indices `i` and `j` are equal up to rounding. Most pairs differ in an early entry,
/// which is compared first.
fn same_normal(rows: &UnitNormals, i: usize, j: usize) -> bool {
    let mut entries = rows.column(i).iter().zip(rows.column(j));
    entries.all(|(a, b)| (a - b).abs() < DUPLICATE_TOLERANCE)
        && rows.wedge(i, j).cos < 0.5 * DUPLICATE_TOLERANCE
}
