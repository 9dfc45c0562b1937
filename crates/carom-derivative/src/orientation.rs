//! Orientation of the maps of contact modes: proof that contacts with friction in the plane have one answer to each
//! velocity.
//!
//! The impulses and velocities that the laws of all contacts admit form a piecewise linear manifold. On it, the velocity $b =
//! u - G\lambda$ along the rows before a step is a piecewise linear function with one piece for each combination of modes
//! ($u$ are the velocities after the step, $\lambda$ the impulses). The determinant of a piece has the sign of that of
//! $K = T^TGS$ (see the documentation of the crate). If $G$ is positive definite, the function has degree one: no $\lambda
//! \ne 0$ solves $u = sG\lambda + (1 - s)\lambda$, $0 \le s \le 1$, because friction and contact give $\lambda^Tu \le 0$, so
//! that $s = 0$ leads to the function of separate contacts, a bijection. Caps bound the impulses and change nothing in this.
//! Hence the signs of all answers to a velocity $b$ (of almost all $b$) add up to one. If all signs are positive, each velocity
//! has one answer. Otherwise a second answer beside one with a positive sign is accompanied by one with a negative sign.

use super::frame::Frame;
use super::reading::{Grip, Reading, Tangential};
use carom_contact::RowIndex;
use smallvec::SmallVec;

/// Largest number of combinations of modes whose signs are computed.
const MAX_CLASSES: usize = CLASSES.pow(4);

/// Rounding of a product of two unit rows, and of one elimination relative to the largest entry. Generous for rows of up to a
/// hundred entries.
const ROUNDING: f64 = 1e-14;

/// Number of different equations that a contact can have: none, closed without friction, sticking, sticking at the cap, and sliding
/// in two directions.
const CLASSES: usize = 6;

/// Returns the number of the equations that a contact has in the mode `grip`. Modes with equal equations have maps of equal
/// orientation.
fn class(grip: Grip) -> usize {
    match grip {
        Grip::Open | Grip::Saturated(Tangential::Free | Tangential::Vertex(_)) => 0,
        Grip::Closed(Tangential::Free) => 1,
        Grip::Closed(Tangential::Stick) => 2,
        Grip::Saturated(Tangential::Stick) => 3,
        Grip::Closed(Tangential::Vertex(j)) => 4 + j.min(1),
        // Not modes of a contact in the plane without restitution.
        _ => 0,
    }
}

/// Rows of one contact in the matrix of products, and its friction.
struct Planar {
    normal: usize,
    tangent: Option<usize>,
    /// Change of the friction impulse per unit of the normal impulse, in both directions of sliding.
    friction: [f64; 2],
}

/// Matrix of products of the rows, with the rows eliminated that equations of contacts have used.
#[derive(Clone)]
struct Products {
    count: usize,
    entries: SmallVec<[f64; 64]>,
    /// Bound of the rounding of each entry.
    rounding: f64,
}

impl Products {
    fn entry(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.count + j]
    }

    /// Eliminates the unknown impulses `pushes`, each a linear form of the impulses on rows, by the equations that the
    /// velocities along `rows` are zero. If this `is_last`, only the determinant of these equations is computed. Returns
    /// true if it is positive; `None` if rounding hides its sign.
    fn eliminate(
        &mut self,
        rows: &[usize],
        pushes: &[[(usize, f64); 2]],
        is_last: bool,
    ) -> Option<bool> {
        let m = self.count;
        let effect = |i: usize, push: &[(usize, f64); 2]| {
            let terms = push.iter();
            terms.map(|(j, c)| c * self.entry(i, *j)).sum::<f64>()
        };
        let largest = self.entries.iter().fold(1.0, |a: f64, x| a.max(x.abs()));
        let growth = pushes.iter().map(|push| push[0].1.abs() + push[1].1.abs());
        let growth = growth.fold(1.0, f64::max);
        let (size, blur) = (growth * largest, growth * self.rounding);
        let effects = |push: &[(usize, f64); 2]| -> SmallVec<[f64; 8]> {
            (0..m).map(|i| effect(i, push)).collect()
        };
        let columns: SmallVec<[SmallVec<[f64; 8]>; 2]> = pushes.iter().map(effects).collect();
        // Adjugate of the matrix of the equations, and how much an entry of a row adds to all rows.
        let (determinant, adjugate, bound): (f64, [[f64; 2]; 2], f64) = match (rows, &columns[..]) {
            ([i], [column]) => (column[*i], [[1.0, 0.0], [0.0, 0.0]], blur),
            ([i, j], [first, second]) => {
                let (a, b, c, d) = (first[*i], second[*i], first[*j], second[*j]);
                (a * d - b * c, [[d, -b], [-c, a]], 4.0 * size * blur)
            }
            _ => return None,
        };
        let reach = 2.0 * bound + ROUNDING * size;
        if !(determinant.abs() > reach) {
            return None;
        }
        if is_last {
            return Some(determinant > 0.0);
        }
        let before = self.entries.clone();
        for (p, column) in columns.iter().enumerate() {
            for (q, row) in rows.iter().enumerate() {
                let factor = adjugate[p][q] / determinant;
                for i in 0..m {
                    for j in 0..m {
                        self.entries[i * m + j] -= column[i] * factor * before[row * m + j];
                    }
                }
            }
        }
        let largest_part = adjugate
            .iter()
            .flatten()
            .fold(0.0, |a: f64, x| a.max(x.abs()));
        let gain = 1.0 + 4.0 * size * largest_part / (determinant.abs() - reach);
        self.rounding = (self.rounding + ROUNDING * size) * gain * gain;
        Some(determinant > 0.0)
    }

    /// Returns what is left of these products after the equations with the number `class` of a contact, and true if their
    /// determinant is positive; `None` if rounding hides its sign. After the `is_last` contact the products are not computed.
    fn after(&self, contact: &Planar, class: usize, is_last: bool) -> Option<(Self, bool)> {
        let mut left = self.clone();
        let n = contact.normal;
        let along = |row: usize| [(row, 1.0), (row, 0.0)];
        let sign = match (class, contact.tangent) {
            (0, _) => Some(true),
            (1, _) => left.eliminate(&[n], &[along(n)], is_last),
            (2, Some(t)) => left.eliminate(&[n, t], &[along(n), along(t)], is_last),
            (3, Some(t)) => left.eliminate(&[t], &[along(t)], is_last),
            (4 | 5, Some(t)) => {
                let push = [(n, 1.0), (t, contact.friction[class - 4])];
                left.eliminate(&[n], &[push], is_last)
            }
            _ => None,
        };
        sign.map(|sign| (left, sign))
    }
}

/// Combinations of modes that may belong to a second answer.
pub(super) struct Orientation {
    /// For each combination of [classes](class) of the contacts: true unless its sign is certainly positive.
    may_turn: Vec<bool>,
    /// True if contacts in every combination of modes have exactly one answer.
    pub(super) is_unique: bool,
}

impl Orientation {
    /// Computes the signs of all combinations of modes of the contacts `readings`. `None` if the degree is not known: the rows
    /// must be independent, and contacts must be planar, without restitution and constraints.
    pub(super) fn new(frame: &Frame<'_>, readings: &[&Reading<'_>]) -> Option<Self> {
        if !readings.iter().any(|reading| reading.has_friction()) {
            // Without friction the velocity after a step minimizes a convex function.
            return Some(Self {
                may_turn: Vec::new(),
                is_unique: true,
            });
        }
        let is_known = |reading: &&Reading<'_>| {
            let is_planar = reading.tangents.len() == 1 && reading.directions.len() == 2;
            reading.sides.is_none()
                && reading.rebound.value() == 0.0
                && (is_planar || !reading.has_friction())
        };
        if frame.constraint_rows().len() > 0 || !readings.iter().all(is_known) {
            return None;
        }
        let count = u32::try_from(readings.len()).ok()?;
        let n_classes = CLASSES.checked_pow(count)?;
        let mut rows: SmallVec<[RowIndex; 8]> = SmallVec::new();
        let mut contacts = Vec::with_capacity(readings.len());
        for reading in readings {
            let normal = rows.len();
            rows.extend(reading.rows());
            let tangent = (rows.len() > normal + 1).then_some(normal + 1);
            let along = |k: usize| reading.directions.get(k).map_or(0.0, |d| d[0]);
            let friction = [0, 1].map(|k| reading.friction * along(k));
            contacts.push(Planar {
                normal,
                tangent,
                friction,
            });
        }
        let all = rows.iter();
        let all = all.flat_map(|i| rows.iter().map(|j| frame.row(*i).dot(&frame.row(*j))));
        let products = Products {
            count: rows.len(),
            entries: all.collect(),
            rounding: ROUNDING,
        };
        let mut closed = products.clone();
        for contact in &contacts {
            let sticks = if contact.tangent.is_some() { 2 } else { 1 };
            let (left, is_positive) = closed.after(contact, sticks, false)?;
            if !is_positive {
                return None;
            }
            closed = left;
        }
        if n_classes > MAX_CLASSES {
            return None;
        }
        let has_caps = readings.iter().any(|reading| reading.cap.is_some());
        let mut may_turn = vec![false; n_classes];
        // Combinations of the first contacts, with their number, its stride, and true if all signs so far are known and positive.
        let mut open = vec![(0, 0, 1, Some((products, true)))];
        while let Some((k, code, stride, signed)) = open.pop() {
            let Some(contact) = contacts.get(k) else {
                may_turn[code] =
                    !signed.is_some_and(|(_, is_positive): (Products, bool)| is_positive);
                continue;
            };
            let classes: &[usize] = match contact.tangent {
                Some(_) if has_caps => &[0, 2, 3, 4, 5],
                Some(_) => &[0, 2, 4, 5],
                None => &[0, 1],
            };
            for class in classes {
                let next = signed.as_ref().and_then(|(products, sign)| {
                    let (left, is_positive) =
                        products.after(contact, *class, k + 1 == contacts.len())?;
                    Some((left, *sign == is_positive))
                });
                open.push((k + 1, code + stride * class, stride * CLASSES, next));
            }
        }
        Some(Self {
            is_unique: !may_turn.contains(&true),
            may_turn,
        })
    }

    /// True if the contacts in the combination number `code` of the modes `lists` may give a second answer with a sign that is
    /// not positive.
    pub(super) fn may_turn(&self, lists: &[Vec<Grip>], mut code: usize) -> bool {
        let (mut at, mut stride) = (0, 1);
        for grips in lists {
            at += stride * class(grips[code % grips.len()]);
            code /= grips.len();
            stride *= CLASSES;
        }
        self.may_turn.get(at).copied().unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::friction::{Contacts, Event};
    use super::super::reading::Cones;
    use super::*;
    use carom_contact::{Contact, ContactSet, ImpactProblem};
    use carom_metric::{Covector, KineticMetric, Tangent};
    use nalgebra::{DMatrix, DVector};

    /// Orientation of contacts with unit normals and tangents in the given directions, all with one friction coefficient.
    fn orientation(rows: &[[Vec<f64>; 2]], friction: f64) -> Option<Orientation> {
        let n = rows[0][0].len();
        let metric = KineticMetric::new(DMatrix::identity(n, n)).unwrap();
        let contact = |[normal, tangent]: &[Vec<f64>; 2]| Contact {
            tangents: vec![Covector::from_slice(tangent)],
            friction,
            ..Contact::frictionless(Covector::from_slice(normal))
        };
        let set = ContactSet::new(&metric, rows.iter().map(contact).collect()).unwrap();
        let velocity = Tangent::from_slice(&vec![-1.0; n]);
        let problem = ImpactProblem::new(&set, velocity).unwrap();
        let frame = Frame::new(&problem).unwrap();
        let contacts = Contacts::all(&frame, Cones::Round, false).unwrap();
        let event = Event {
            before: frame.before.clone(),
            after: DVector::zeros(n),
            impulse: DVector::zeros(frame.n_rows()),
            caps: vec![1.0; rows.len()],
        };
        let readings = contacts.readings(&event);
        Orientation::new(&frame, &readings.iter().collect::<Vec<_>>())
    }

    /// One contact has several answers from the friction on at which sliding wedges it: $\mu|G_{tn}| = G_{nn}$.
    #[test]
    fn one_contact_has_one_answer_up_to_the_friction_that_wedges_it() {
        let rows = [[vec![0.6, 0.8], vec![0.0, 1.0]]];
        let is_unique = |friction| orientation(&rows, friction).unwrap().is_unique;
        assert!(is_unique(1.24));
        assert!(!is_unique(1.26));
        let turning = orientation(&rows, 1.26).unwrap();
        let modes = [
            Grip::Open,
            Grip::Closed(Tangential::Stick),
            Grip::Closed(Tangential::Vertex(0)),
            Grip::Closed(Tangential::Vertex(1)),
            Grip::Saturated(Tangential::Stick),
        ];
        let may_turn = |code| turning.may_turn(&[modes.to_vec()], code);
        let found: Vec<usize> = (0..modes.len()).filter(|code| may_turn(*code)).collect();
        assert_eq!(found.len(), 1);
        assert!(matches!(
            modes[found[0]],
            Grip::Closed(Tangential::Vertex(_))
        ));
    }

    /// Two contacts on orthogonal normals, each of whose tangents has a part along the normal of the other contact.
    #[test]
    fn two_contacts_wedge_each_other_where_their_determinant_changes_sign() {
        let (c, s) = (0.6, 0.8);
        let rows = [
            [vec![1.0, 0.0, 0.0, 0.0], vec![0.0, c, s, 0.0]],
            [vec![0.0, 1.0, 0.0, 0.0], vec![c, 0.0, 0.0, s]],
        ];
        // The determinant of opposite sliding is 1 − (c μ)².
        assert!(orientation(&rows, 1.66).unwrap().is_unique);
        assert!(!orientation(&rows, 1.67).unwrap().is_unique);
    }

    #[test]
    fn dependent_rows_have_no_known_degree() {
        let rows = [
            [vec![1.0, 0.0], vec![0.0, 1.0]],
            [vec![0.6, 0.8], vec![-0.8, 0.6]],
        ];
        assert!(orientation(&rows, 0.1).is_none());
    }
}
