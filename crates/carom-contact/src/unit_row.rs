//! Index of a distinct unit normal.

/// Index of a distinct unit normal of a [`ContactSet`](crate::ContactSet).
///
/// A set has three kinds of index. A *contact* has its place in the list as given. Its normal and its tangents are
/// *rows* of the contact Jacobian, from [`row`](crate::ContactSet::row) on. Contacts given twice share a *unit row*, the
/// whitened normal that laws without friction push on. The three agree for different contacts without tangents,
/// which is what most examples have, so that a mix-up would go unnoticed there: unit rows have a type of their own.
///
/// # Examples
///
/// ```
/// use carom_contact::{Contact, ContactSet};
/// use carom_metric::{Covector, KineticMetric};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let normals = [[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]].map(|u| Covector::from_slice(&u));
/// let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
/// // The second contact is the first again.
/// assert_eq!(contacts.n_distinct(), 2);
/// assert_eq!(contacts.place(1), contacts.place(0));
/// assert_eq!(contacts.contact_at(contacts.place(2)), 2);
/// assert_eq!(contacts.unit(contacts.place(2)), [1.0, 0.0]);
/// # Ok::<(), carom_contact::ImpactError>(())
/// ```
///
/// A contact's index is no unit row:
///
/// ```compile_fail
/// # use carom_contact::ContactSet;
/// fn normal<'s>(contacts: &'s ContactSet<'_>, contact: usize) -> &'s [f64] {
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
