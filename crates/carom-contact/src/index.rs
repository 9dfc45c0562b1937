//! Indices of contacts, of contact rows and of distinct unit normals.

/// Index of a contact of a [`ContactSet`](crate::ContactSet): its place in the list as given.
///
/// A set has three kinds of index. A contact has its place in the list, this type. Its normal and its tangents are rows of
/// the contact Jacobian, each a [`RowIndex`]. Contacts given twice share a distinct unit normal, a [`UnitRow`]. The three
/// numbers agree for different contacts without tangents, which is what most examples have, so that a mix-up would go
/// unnoticed there: each has a type of its own.
///
/// Options and reports hold plain numbers, since they are read and written by people: the order of a sequential law, the
/// sequence of an outcome, the contacts that an error names.
///
/// # Examples
///
/// ```
/// use carom_contact::{Contact, ContactIndex, ContactSet};
/// use carom_metric::{Covector, KineticMetric};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let normals = [[0.0, 1.0], [3.0, 4.0]].map(|u| Covector::from_slice(&u));
/// let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
/// let lengths: Vec<f64> = contacts.indices().map(|i| contacts.normal_norm(i)).collect();
/// assert_eq!(lengths, [1.0, 5.0]);
/// let second = ContactIndex::new(1);
/// assert_eq!(contacts.contact(second).normal.0[0], 3.0);
/// # Ok::<(), carom_contact::ImpactError>(())
/// ```
///
/// A row is no contact:
///
/// ```compile_fail
/// # use carom_contact::{ContactSet, RowIndex};
/// fn length(contacts: &ContactSet, row: RowIndex) -> f64 {
///     contacts.normal_norm(row)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContactIndex(usize);

impl ContactIndex {
    /// Creates the index of the contact at place `index` of the list as given.
    #[inline]
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns this index as a number, the place in a list with one entry for each contact.
    #[inline]
    pub const fn index(self) -> usize {
        self.0
    }

    /// Iterates over the indices of all contacts of a set that has `n` of them.
    #[inline]
    pub fn all(n: usize) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
        (0..n).map(Self)
    }
}

/// Index of a row of the contact Jacobian of a [`ContactSet`](crate::ContactSet).
///
/// The rows are the normal and then the tangents of the first contact, those of the second, and so on, see
/// [`rows_at`](crate::ContactSet::rows_at).
///
/// # Examples
///
/// ```
/// use carom_contact::{Contact, ContactIndex, ContactSet};
/// use carom_metric::{Covector, KineticMetric};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let rough = |normal: [f64; 2], tangent: [f64; 2]| Contact::new(Covector::from_slice(&normal))
///     .with_tangents(vec![Covector::from_slice(&tangent)])
///     .with_friction(0.3);
/// let floor_and_wall = vec![rough([0.0, 2.0], [1.0, 0.0]), rough([4.0, 0.0], [0.0, 1.0])];
/// let contacts = ContactSet::new(&metric, floor_and_wall)?;
/// assert_eq!(contacts.n_rows(), 4);
/// // The normal of the second contact follows both rows of the first.
/// let normal = contacts.row(ContactIndex::new(1));
/// assert_eq!(normal.index(), 2);
/// assert_eq!(contacts.row_norm(normal), 4.0);
/// # Ok::<(), carom_contact::ImpactError>(())
/// ```
///
/// A contact's index is no row:
///
/// ```compile_fail
/// # use carom_contact::{ContactIndex, ContactSet};
/// fn length(contacts: &ContactSet, contact: ContactIndex) -> f64 {
///     contacts.row_norm(contact)
/// }
/// ```
///
/// Nor is a distinct unit normal:
///
/// ```compile_fail
/// # use carom_contact::{ContactSet, UnitRow};
/// fn length(contacts: &ContactSet, normal: UnitRow) -> f64 {
///     contacts.row_norm(normal)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowIndex(usize);

impl RowIndex {
    /// Creates the index of row `index` of the contact Jacobian.
    #[inline]
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns this index as a number, the place in a list with one entry for each row of the contact Jacobian, for
    /// example in the [`impulses`](crate::ImpactOutcome::impulses) of an outcome.
    #[inline]
    pub const fn index(self) -> usize {
        self.0
    }

    /// Returns the row `k` places further on. After the normal of a contact follow its tangents: they are one and two
    /// places further on.
    #[inline]
    pub const fn offset(self, k: usize) -> Self {
        Self(self.0 + k)
    }

    /// Iterates over the indices of all rows of a contact Jacobian that has `n` of them.
    #[inline]
    pub fn all(n: usize) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
        (0..n).map(Self)
    }
}

/// Index of a distinct unit normal of a [`ContactSet`](crate::ContactSet).
///
/// Contacts given twice share one distinct unit normal, the whitened normal that laws without friction push on. A
/// [`ContactIndex`] and a [`RowIndex`] are other numbers, in general.
///
/// # Examples
///
/// ```
/// use carom_contact::{Contact, ContactIndex, ContactSet};
/// use carom_metric::{Covector, KineticMetric};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let normals = [[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]].map(|u| Covector::from_slice(&u));
/// let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
/// // The second contact is the first again.
/// assert_eq!(contacts.n_distinct(), 2);
/// let [first, second, third] = [0, 1, 2].map(ContactIndex::new);
/// assert_eq!(contacts.place(second), contacts.place(first));
/// assert_eq!(contacts.contact_at(contacts.place(third)), third);
/// assert_eq!(contacts.unit(contacts.place(third)), [1.0, 0.0]);
/// # Ok::<(), carom_contact::ImpactError>(())
/// ```
///
/// A contact's index is no unit row:
///
/// ```compile_fail
/// # use carom_contact::{ContactIndex, ContactSet};
/// fn normal<'s>(contacts: &'s ContactSet, contact: ContactIndex) -> &'s [f64] {
///     contacts.unit(contact)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitRow(usize);

impl UnitRow {
    /// Creates the index of the distinct unit normal at place `index` of a list that has one entry for each distinct normal.
    #[inline]
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns this index as a number, the place in a list with one entry for each distinct normal, for example in
    /// [`unit_velocity`](crate::ImpactProblem::unit_velocity).
    #[inline]
    pub const fn index(self) -> usize {
        self.0
    }

    /// Iterates over the indices of all distinct normals of a set that has `n` of them.
    #[inline]
    pub fn all(n: usize) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
        (0..n).map(Self)
    }
}
