//! Contacts that take part in an impact, without repetitions.

use super::Case;
use super::parts::met;
use crate::tolerances::EQUAL;
use crate::tolerances::ROUNDED;
use carom_contact::{Contact, ContactIndex, ContactSet, ImpactProblem};
use carom_metric::kernel;
use nalgebra::DVector;

/// Numbers by which contacts are sorted.
const N_KEYS: usize = 5;

/// Lists the contacts that can take part in the impact: those whose impulses change the velocity of an approaching
/// contact, directly or through other contacts. No law of dry contact gives an impulse to any other contact. Each entry
/// of the result lists a contact and the contacts that repeat it exactly; the entries are in ascending order.
pub(super) fn acting(problem: &ImpactProblem<'_>) -> Vec<Vec<ContactIndex>> {
    let contacts = problem.contacts();
    let groups = met(contacts).into_iter();
    let mut members: Vec<ContactIndex> = groups
        .filter(|group| group.iter().any(|i| problem.approaches(*i)))
        .flatten()
        .collect();
    members.sort_unstable();
    with_copies(contacts, &members)
}

/// Groups the contacts with the indices `members` so that repetitions of one contact stand together. Each entry lists a
/// contact, then the members that repeat its rows and friction.
pub(super) fn with_copies(
    contacts: &ContactSet<'_>,
    members: &[ContactIndex],
) -> Vec<Vec<ContactIndex>> {
    let mut told: Vec<Vec<ContactIndex>> = Vec::with_capacity(members.len());
    for &i in members {
        let original = told.iter_mut().find(|copies| {
            let first = copies.first();
            first.is_some_and(|first| is_copy(contacts, i, *first))
        });
        match original {
            Some(copies) => copies.push(i),
            None => told.push(vec![i]),
        }
    }
    told
}

/// True if contacts `i` and `j` are one contact given twice: their normal and tangent rows are parallel and they have
/// equal friction when these rows are scaled to unit length. Restitution is not compared.
fn is_copy(contacts: &ContactSet<'_>, i: ContactIndex, j: ContactIndex) -> bool {
    let (a, b) = (contacts.row(i), contacts.row(j));
    let is_along = |k: usize, sign: f64| {
        let mut pairs = contacts.unit_row(a.offset(k)).iter();
        let other = contacts.unit_row(b.offset(k)).iter();
        pairs
            .by_ref()
            .zip(other)
            .all(|(x, y)| (x - sign * y).abs() <= ROUNDED)
    };
    let [one, other] = [i, j].map(|i| contacts.contact(i));
    if !is_along(0, 1.0) || is_smooth(one) != is_smooth(other) {
        return false;
    }
    if is_smooth(one) {
        return true;
    }
    // Friction along each tangent, for unit rows.
    let friction = |i: ContactIndex, k: usize| {
        let first = contacts.row(i);
        contacts.contact(i).friction * contacts.row_norm(first.offset(k)) / contacts.row_norm(first)
    };
    let is_equal = |k: usize| {
        let [x, y] = [friction(i, k), friction(j, k)];
        (is_along(k, 1.0) || is_along(k, -1.0)) && (x - y).abs() <= ROUNDED * x
    };
    one.n_rows() == other.n_rows() && (1..one.n_rows()).all(is_equal)
}

/// True if the contact has no friction.
pub(super) fn is_smooth(contact: &Contact) -> bool {
    contact.friction == 0.0 || contact.tangents.is_empty()
}

/// Sorts lists of contacts by their first contacts, by numbers that do not depend on the order in which contacts were given
/// nor on coordinates and units: normal velocities before and after the impact, sliding speeds before and after,
/// friction. Contacts for which all these are equal keep the order in which they were given.
pub(super) fn sort(case: &Case<'_>, told: &mut [Vec<ContactIndex>]) {
    let key = |list: &Vec<ContactIndex>| list.first().map_or([0.0; N_KEYS], |i| keys(case, *i));
    let mut sorted: Vec<Keyed> = told.iter().map(|list| (key(list), list.clone())).collect();
    sort_from(0, &mut sorted);
    for (list, (_, other)) in told.iter_mut().zip(sorted) {
        *list = other;
    }
}

/// Numbers of a contact, and the contact with those that repeat it.
type Keyed = ([f64; N_KEYS], Vec<ContactIndex>);

/// Returns the numbers by which a contact is sorted.
fn keys(case: &Case<'_>, i: ContactIndex) -> [f64; N_KEYS] {
    let contacts = case.problem.contacts();
    let contact = contacts.contact(i);
    let normal = contacts.row(i);
    let reference = case.reference_of(&contact.normal);
    let before = case.before();
    let rate = |of: &DVector<f64>| kernel::dot(contacts.unit_row(normal), of.as_slice());
    // Relative to the normal, so that the length of the rows has no part.
    let size = |row| contacts.row_norm(row) / contacts.row_norm(normal);
    let slip = |of: &DVector<f64>| {
        let tangents = contacts.tangents_at(i);
        let rates =
            tangents.map(|row| size(row) * kernel::dot(contacts.unit_row(row), of.as_slice()));
        kernel::norm(&rates.collect::<Vec<f64>>())
    };
    let rows = contacts.tangents_at(i).map(size);
    [
        rate(&before) / reference,
        rate(&case.after) / reference,
        slip(&before) / reference,
        slip(&case.after) / reference,
        contact.friction * kernel::norm(&rows.collect::<Vec<f64>>()),
    ]
}

/// Sorts by the number with index `from`; those with equal numbers by the next one.
fn sort_from(from: usize, sorted: &mut [Keyed]) {
    if sorted.len() < 2 || from >= N_KEYS {
        return;
    }
    let value = |(keys, _): &Keyed| keys.get(from).copied().unwrap_or(0.0);
    sorted.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let is_equal = |a: f64, b: f64| b - a <= EQUAL * a.abs().max(1.0);
    let runs = sorted.chunk_by_mut(|a, b| is_equal(value(a), value(b)));
    runs.for_each(|run| sort_from(from + 1, run));
}
