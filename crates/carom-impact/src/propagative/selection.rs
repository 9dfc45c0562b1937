//! Rules that choose the next contact among several that approach.

use crate::tolerances::EQUAL;
use carom_contact::{ContactIndex, ContactSet, ImpactError, UnitRow};
use carom_numeric::random::CounterRng;

/// Rule by which the propagative law chooses the contact of the next single impact among those that approach.
///
/// If several contacts qualify equally, the contact with the lowest index is taken, so that symmetric problems have the same
/// answer on every machine.
///
/// # Examples
///
/// ```
/// use carom_impact::{Propagative, Selection};
/// // The contact with index 1 is hit first wherever it approaches.
/// let law = Propagative::default().with_selection(Selection::Priority(vec![1, 0]));
/// assert_ne!(law, Propagative::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Selection {
    /// The contact whose unit normal approaches fastest.
    #[default]
    MostApproaching,
    /// The contact that approaches slowest.
    LeastApproaching,
    /// The first approaching contact in this order; contacts that are not listed come last, by index.
    Priority(Vec<usize>),
    /// A random contact; this seed determines the random numbers, the same on every machine.
    Random(u64),
}

impl Selection {
    /// Checks that a priority order lists valid contacts, each at most once. `contacts` is the number of contacts.
    pub(crate) fn validate(&self, contacts: usize) -> Result<(), ImpactError> {
        let Self::Priority(order) = self else {
            return Ok(());
        };
        for (k, &contact) in order.iter().enumerate() {
            if contact >= contacts || order[..k].contains(&contact) {
                return Err(ImpactError::InvalidContact {
                    what: "priority",
                    contact,
                    contacts,
                });
            }
        }
        Ok(())
    }
}

/// Returns the distinct contact normals in order of priority: first those of the contacts listed in `order`, then the others
/// by index of their first contact.
pub fn by_priority(order: &[usize], contacts: &ContactSet) -> Vec<UnitRow> {
    let mut places = Vec::with_capacity(contacts.n_distinct());
    let listed = order.iter().copied().map(ContactIndex::new);
    for contact in listed.chain(contacts.indices()) {
        let place = contacts.place(contact);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Returns the first distinct normal among those that approach fastest; `None` if no normal approaches. `b`: normal
/// velocities; `grazing`: speeds up to which an approach counts as rounding. Both have one entry per distinct normal.
/// Velocities that differ by less than $10^{-9}$ of the largest, or by rounding, are equal.
pub fn most_approaching(b: &[f64], grazing: &[f64]) -> Option<UnitRow> {
    first_equal(b, grazing, f64::min, |_| true)
}

/// Returns the first distinct normal among those that approach fastest and for which `is_preferred` is true; `None` if there is no such
/// normal. The arguments and the tolerance of equal velocities are those of [`most_approaching`].
pub(crate) fn most_approaching_of(
    b: &[f64],
    grazing: &[f64],
    is_preferred: impl Fn(UnitRow) -> bool,
) -> Option<UnitRow> {
    first_equal(b, grazing, f64::min, is_preferred)
}

/// Returns the first distinct normal among those that approach slowest; `None` if no normal approaches. The arguments and
/// the tolerance of equal velocities are those of [`most_approaching`].
pub fn least_approaching(b: &[f64], grazing: &[f64]) -> Option<UnitRow> {
    first_equal(b, grazing, f64::max, |_| true)
}

/// Returns the first approaching normal whose velocity equals, up to rounding, the one that `select` picks among all
/// velocities of approach, and for which `is_preferred` is true.
fn first_equal(
    b: &[f64],
    grazing: &[f64],
    select: fn(f64, f64) -> f64,
    is_preferred: impl Fn(UnitRow) -> bool,
) -> Option<UnitRow> {
    let velocities = UnitRow::all(b.len()).zip(b.iter().zip(grazing));
    let approaching = velocities.filter(|(_, (b, grazing))| **b < -**grazing);
    let sought = approaching.clone().map(|(_, (b, _))| *b).reduce(select)?;
    let tie = EQUAL * sought.abs();
    let equal = approaching.filter(|(_, (b, grazing))| (**b - sought).abs() <= tie + **grazing);
    equal.map(|(j, _)| j).find(|j| is_preferred(*j))
}

/// A selection rule prepared for the distinct normals of one problem.
pub(super) enum Selector {
    Most,
    Least,
    /// Distinct normals in order of priority.
    Order(Vec<UnitRow>),
    Random(CounterRng),
}

impl Selector {
    pub(super) fn new(selection: &Selection, contacts: &ContactSet) -> Self {
        match selection {
            Selection::MostApproaching => Self::Most,
            Selection::LeastApproaching => Self::Least,
            Selection::Priority(order) => Self::Order(by_priority(order, contacts)),
            Selection::Random(seed) => Self::Random(CounterRng::new(*seed, 0, 0)),
        }
    }

    /// Returns the contact (distinct normal) that acts next; `None` if no contact approaches. `b`: normal velocities;
    /// `grazing`: speeds up to which an approach counts as rounding.
    pub(super) fn next(&mut self, b: &[f64], grazing: &[f64]) -> Option<UnitRow> {
        let approaches = |j: &UnitRow| b[j.index()] < -grazing[j.index()];
        let approaching = UnitRow::all(b.len()).filter(approaches);
        match self {
            Self::Most => most_approaching(b, grazing),
            Self::Least => least_approaching(b, grazing),
            Self::Order(order) => order.iter().copied().find(approaches),
            Self::Random(stream) => {
                let count = approaching.clone().count() as u128;
                if count == 0 {
                    return None;
                }
                let pick = (u128::from(stream.next_bits()) * count) >> 64;
                approaching.clone().nth(pick as usize)
            }
        }
    }
}
