//! Contacts in the form that the search for a witness uses: without contacts that the change did not reach, without
//! repetitions, in an order and with tangents that do not depend on the notation of the problem.
//!
//! Groups of contacts that do not change each other's velocities have steps of their own, so that a group in which no
//! contact approaches and no velocity changes has a chain without steps. Tangents of round cones are rotated, and
//! tangents in the plane reversed if needed, so that they point along the sliding before or after the impact, or along
//! the motion that normal impulses cause.

use super::{Known, Origin};
use crate::Case;
use crate::acting::order;
use crate::parts::met;
use crate::tolerances::CERTAIN;
use crate::tolerances::EQUAL;
use carom_contact::{Contact, ContactIndex, ContactSet, FrictionCone, ImpactError, ImpactProblem};
use carom_impact::internal::{ContactOrder, ContactSpace};
use carom_metric::{Covector, kernel};
use nalgebra::DVector;

/// Rotation or reflection of the tangents of a contact: new axes in terms of the given ones.
type Turn = [[f64; 2]; 2];

/// Unchanged axes.
const AS_GIVEN: Turn = [[1.0, 0.0], [0.0, 1.0]];

/// Contacts in a canonical order and with canonical tangents, with the conversion back to the given ones.
pub(super) struct Ordered<'a> {
    /// Contacts of the search.
    pub(super) contacts: ContactSet,
    given: &'a ContactSet,
    space: ContactSpace,
    order: ContactOrder,
    turns: Vec<Turn>,
}

impl<'a> Ordered<'a> {
    /// Selects the contacts that the impact reaches, and sorts them. The new order and the new tangents of the
    /// contacts follow from the velocities before and after the impact, so that they do not depend on the order in
    /// which the contacts were given.
    pub(super) fn new(case: &Case<'a>) -> Result<Self, ImpactError> {
        let given = case.problem.contacts();
        let space = ContactSpace::new(given);
        let before = space.velocity(case.problem.momentum());
        let after = space.velocity(case.after.as_slice());
        let velocities = [before.as_slice(), after.as_slice()];
        let cone = case.options.friction_cone;
        let order = order(case, &space, &reached(case));
        let axes = Axes {
            space: &space,
            velocities,
            order: order.contacts(),
            slow: CERTAIN * case.reference,
        };
        let turn_of = |contact: &ContactIndex| match given.contact(*contact).tangents.len() {
            1 => [[axes.sign(*contact), 0.0], [0.0, 1.0]],
            2 if cone == FrictionCone::Round => axes.turn(*contact),
            _ => AS_GIVEN,
        };
        let turns: Vec<Turn> = order.contacts().iter().map(turn_of).collect();
        let own = order.contacts().iter().zip(&turns);
        let own = own.map(|(contact, turn)| turned(given.contact(*contact), turn));
        let forms = given.constraint_forms().to_vec();
        Ok(Self {
            contacts: ContactSet::constrained(given.metric().clone(), own.collect(), forms)?,
            given,
            space,
            order,
            turns,
        })
    }

    /// Iterates over the contacts of the search: the index of each there, that of the given contact which it stands for,
    /// and its axes.
    fn entries(&self) -> impl Iterator<Item = (ContactIndex, ContactIndex, &Turn)> {
        let given = self.order.contacts().iter().zip(&self.turns);
        let entries = self.contacts.indices().zip(given);
        entries.map(|(place, (contact, turn))| (place, *contact, turn))
    }

    /// Converts impulses on the contact rows of the search, which have their own order and tangents, to impulses on the
    /// given rows. Contacts that are not part of the search get zero impulses.
    pub(super) fn on_given(&self, impulses: &DVector<f64>) -> DVector<f64> {
        let mut all = DVector::zeros(self.given.n_rows());
        for (place, contact, turn) in self.entries() {
            let (to, from) = (self.given.row(contact), self.contacts.row(place));
            let (to, from) = (to.index(), from.index());
            all[to] = impulses[from];
            let n_tangents = self.contacts.contact(place).tangents.len();
            for t in 0..n_tangents {
                let terms = (0..n_tangents).map(|s| turn[s][t] * impulses[from + 1 + s]);
                all[to + 1 + t] = terms.sum();
            }
        }
        all
    }

    /// Converts impulses on the given contact rows to impulses on the rows of the search, which have their own order
    /// and tangents. Impulses of repeated contacts are added. `scale` is the scale of the problem.
    fn gathered(&self, impulses: &DVector<f64>, scale: f64) -> DVector<f64> {
        let mut slots = self.space.of_rows(impulses.as_slice(), scale);
        self.order.gather(&self.space, &mut slots);
        let given = self.space.on_rows(&slots, scale, self.given);
        let mut own = DVector::zeros(self.contacts.n_rows());
        for (place, contact, turn) in self.entries() {
            let (from, to) = (self.given.row(contact), self.contacts.row(place));
            let (from, to) = (from.index(), to.index());
            own[to] = given[from];
            let n_tangents = self.contacts.contact(place).tangents.len();
            for s in 0..n_tangents {
                let terms = (0..n_tangents).map(|t| turn[s][t] * given[from + 1 + t]);
                own[to + 1 + s] = terms.sum();
            }
        }
        own
    }

    /// Converts a known member of the outcome set, which is the answer of a law, from the given contacts to the
    /// contacts of the search. `scale` is the scale of the problem.
    pub(super) fn of_known(&self, known: &Known, scale: f64) -> Known {
        let place = |contact: &usize| {
            let of = self.order.stands_for(ContactIndex::new(*contact))?;
            self.order.contacts().iter().position(|i| *i == of)
        };
        let origin = match &known.origin {
            Origin::Simultaneous(impulses) => Origin::Simultaneous(self.gathered(impulses, scale)),
            Origin::Sequential(contacts, law) => {
                Origin::Sequential(contacts.iter().filter_map(place).collect(), law.clone())
            }
        };
        Known {
            velocity: known.velocity.clone(),
            origin,
        }
    }
}

impl Case<'_> {
    /// Copies this judged impact with another set of contacts, that of `problem`. Velocities, parts and tolerances are
    /// unchanged.
    pub(super) fn reposed<'b>(&'b self, problem: &'b ImpactProblem) -> Case<'b> {
        Case {
            problem,
            ..self.clone()
        }
    }
}

/// Copies a contact with its tangents replaced by the axes `turn`, given in terms of the old tangents.
fn turned(contact: &Contact, turn: &Turn) -> Contact {
    let axis = |row: &[f64; 2]| {
        let terms = contact.tangents.iter().zip(row);
        let zero = DVector::zeros(contact.normal.0.len());
        Covector(terms.fold(zero, |sum, (tangent, factor)| sum + &tangent.0 * *factor))
    };
    let tangents = match contact.tangents.len() {
        _ if *turn == AS_GIVEN => contact.tangents.clone(),
        n => turn.iter().take(n).map(axis).collect(),
    };
    contact.clone().with_tangents(tangents)
}

/// Lists the contacts of all groups that take part in the impact. A group consists of contacts that change each other's
/// velocities. A group takes part if one of its contacts approaches or if one of its velocities changes.
fn reached(case: &Case<'_>) -> Vec<ContactIndex> {
    let contacts = case.problem.contacts();
    let change = &case.after - case.before();
    let is_changed = |contact: &ContactIndex| {
        let normal = &contacts.contact(*contact).normal;
        contacts.rows_at(*contact).any(|row| {
            let along = kernel::dot(contacts.unit_row(row), change.as_slice());
            case.relative_rate(normal, along.abs()) > EQUAL
        })
    };
    let groups = met(contacts).into_iter().filter(|group| {
        group.iter().any(|i| case.problem.approaches(*i)) || group.iter().any(is_changed)
    });
    groups.flatten().collect()
}

/// Directions in the tangent planes of contacts that do not depend on the choice of axes.
struct Axes<'s> {
    space: &'s ContactSpace,
    velocities: [&'s [f64]; 2],
    order: &'s [ContactIndex],
    /// Velocities below this do not define a direction.
    slow: f64,
}

impl Axes<'_> {
    /// Iterates over vectors in the tangent plane of a contact from which its tangent axes can be defined: the sliding
    /// velocity before and after the impact, then the velocity changes that normal impulses cause. Vectors that are
    /// nearly zero are left out.
    fn directions(&self, contact: ContactIndex) -> impl Iterator<Item = [f64; 2]> {
        let width = self.space.width();
        let slot = contact.index() * width;
        let along =
            move |t: usize, of: &dyn Fn(usize) -> f64| if t < width { of(slot + t) } else { 0.0 };
        let sliding = self.velocities.iter().map(move |velocity| {
            let of = |slot: usize| velocity[slot];
            ([along(1, &of), along(2, &of)], self.slow)
        });
        let own = std::iter::once(&contact).chain(self.order);
        let normals: Vec<usize> = own.map(|i| i.index() * width).collect();
        let made = normals.into_iter().map(move |normal| {
            let of = |slot: usize| self.space.gram[(slot, normal)];
            ([along(1, &of), along(2, &of)], CERTAIN)
        });
        let all = sliding.chain(made);
        all.filter(|(x, least)| kernel::norm(x) > *least)
            .map(|(x, _)| x)
    }

    /// Returns the sign by which the single tangent of a planar contact must be multiplied so that it points along the
    /// sliding velocity of the contact. If the contact does not slide, the velocity change that a normal impulse
    /// causes takes the place of the sliding velocity. Returns 1 if there is neither.
    fn sign(&self, contact: ContactIndex) -> f64 {
        let first = self.directions(contact).next();
        first.map_or(1.0, |[x, _]| x.signum())
    }

    /// Computes new tangent axes for a contact with two tangents. The first axis points along the sliding velocity or, if
    /// the contact does not slide, along the velocity change that a normal impulse causes. The second axis is chosen so
    /// that the next such direction lies on its side.
    fn turn(&self, contact: ContactIndex) -> Turn {
        let mut all = self.directions(contact);
        let Some(first) = all.next() else {
            return AS_GIVEN;
        };
        let speed = kernel::norm(&first);
        let [x, y] = first.map(|x| x / speed);
        let across = all.map(|[p, q]| (x * q - y * p, kernel::norm(&[p, q])));
        let mut across = across.filter(|(side, size)| side.abs() > CERTAIN * size);
        let side = across.next().map_or(1.0, |(side, _)| side.signum());
        [[x, y], [-side * y, side * x]]
    }
}
