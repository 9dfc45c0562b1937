//! Contacts that have a part in an impact, each told once.

use super::parts::met;
use carom_contact::{Contact, ContactSet, ImpactProblem};

/// Unit rows and coefficients of friction that differ by less are those of one contact.
const SAME_CONTACT: f64 = 1e-12;

/// Contacts that change the velocity of an approaching one, directly or through others, in their order; each with the
/// contacts that repeat it, itself first. No impulse acts on another contact, in any law of dry contact.
pub(super) fn acting(problem: &ImpactProblem<'_>) -> Vec<Vec<usize>> {
    let contacts = problem.contacts();
    let groups = met(contacts).into_iter();
    let mut members: Vec<usize> = groups
        .filter(|group| group.iter().any(|i| problem.approaches(*i)))
        .flatten()
        .collect();
    members.sort_unstable();
    with_copies(contacts, &members)
}

/// Some contacts, each with those of them that repeat it, itself first.
pub(super) fn with_copies(contacts: &ContactSet<'_>, members: &[usize]) -> Vec<Vec<usize>> {
    let mut told: Vec<Vec<usize>> = Vec::with_capacity(members.len());
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

/// True if two contacts are one: their rows are parallel, and their friction on unit rows is equal. Restitution is not
/// compared.
fn is_copy(contacts: &ContactSet<'_>, i: usize, j: usize) -> bool {
    let (a, b) = (contacts.row(i), contacts.row(j));
    let is_along = |k: usize, sign: f64| {
        let mut pairs = contacts.unit_row(a + k).iter();
        let other = contacts.unit_row(b + k).iter();
        pairs
            .by_ref()
            .zip(other)
            .all(|(x, y)| (x - sign * y).abs() <= SAME_CONTACT)
    };
    let [one, other] = [i, j].map(|i| &contacts.contacts()[i]);
    if !is_along(0, 1.0) || is_smooth(one) != is_smooth(other) {
        return false;
    }
    if is_smooth(one) {
        return true;
    }
    // Friction along each tangent on unit rows.
    let friction = |i: usize, k: usize| {
        let first = contacts.row(i);
        contacts.contacts()[i].friction * contacts.row_norm(first + k) / contacts.row_norm(first)
    };
    let is_equal = |k: usize| {
        let [x, y] = [friction(i, k), friction(j, k)];
        (is_along(k, 1.0) || is_along(k, -1.0)) && (x - y).abs() <= SAME_CONTACT * x
    };
    one.n_rows() == other.n_rows() && (1..one.n_rows()).all(is_equal)
}

/// True for a contact without friction.
pub(super) fn is_smooth(contact: &Contact) -> bool {
    contact.friction == 0.0 || contact.tangents.is_empty()
}
