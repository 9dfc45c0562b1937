//! Contacts that take part in an impact, without repetitions.

use super::Case;
use super::parts::met;
use crate::tolerances::ROUNDED;
use carom_contact::{Contact, ContactIndex, ContactSet, ImpactProblem};
use carom_impact::internal::{ContactOrder, ContactSpace};

/// Lists the contacts that can take part in the impact: those whose impulses change the velocity of an approaching
/// contact, directly or through other contacts. No law of dry contact gives an impulse to any other contact. Each entry
/// of the result lists a contact and the contacts that repeat it exactly; the entries are in ascending order.
pub(super) fn acting(problem: &ImpactProblem) -> Vec<Vec<ContactIndex>> {
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
    contacts: &ContactSet,
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
fn is_copy(contacts: &ContactSet, i: ContactIndex, j: ContactIndex) -> bool {
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

/// Sorts lists of contacts by their first contacts, in an order that does not depend on the order in which contacts were
/// given nor on coordinates and units.
pub(super) fn sort(case: &Case<'_>, told: &mut [Vec<ContactIndex>]) {
    let space = ContactSpace::new(case.problem.contacts());
    let firsts: Vec<ContactIndex> = told.iter().flat_map(|list| list.first().copied()).collect();
    let order = order(case, &space, &firsts);
    let place = |i: &ContactIndex| order.contacts().iter().position(|j| i == j);
    told.sort_by_key(|list| list.first().and_then(place));
}

/// Orders the contacts with the indices `contacts` by their velocities before and after the impact. `space` holds the
/// normalized rows of all contacts.
pub(super) fn order(
    case: &Case<'_>,
    space: &ContactSpace,
    contacts: &[ContactIndex],
) -> ContactOrder {
    let before = space.velocity(case.problem.momentum());
    let after = space.velocity(case.after.as_slice());
    let velocities = [before.as_slice(), after.as_slice()];
    ContactOrder::new(space, contacts, velocities)
}
