//! Contacts that take part in an impact, without repetitions.

use super::parts::met;
use carom_contact::{Contact, ContactIndex, ContactSet, ImpactProblem};

/// Largest difference of unit rows (per entry) and of coefficients of friction (relative) at which two contacts count as
/// one.
const SAME_CONTACT: f64 = 1e-12;

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
            .all(|(x, y)| (x - sign * y).abs() <= SAME_CONTACT)
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
        (is_along(k, 1.0) || is_along(k, -1.0)) && (x - y).abs() <= SAME_CONTACT * x
    };
    one.n_rows() == other.n_rows() && (1..one.n_rows()).all(is_equal)
}

/// True if the contact has no friction.
pub(super) fn is_smooth(contact: &Contact) -> bool {
    contact.friction == 0.0 || contact.tangents.is_empty()
}
