//! Orientation of the maps of contact modes: proof that contacts with friction in the plane have one answer to each
//! velocity.
//!
//! The impulses and velocities that the laws of all contacts admit form a piecewise linear manifold. On it, the velocity $b =
//! u - G\lambda$ along the rows before a step is a piecewise linear function with one piece for each combination of modes
//! ($u$ are the velocities after the step, $\lambda$ the impulses). The determinant of a piece has the sign of that of
//! $K = T^TGS$ (see the documentation of the crate). If $G$ is positive definite, the function has degree one: no $\lambda
//! \ne 0$ solves $u = sG\lambda + (1 - s)\lambda$, $0 \le s \le 1$, because friction and contact give $\lambda^Tu \le 0$, so
//! that $s = 0$ leads to the function of separate contacts, a bijection. Caps bound the impulses and change nothing in this.
//! Contacts with one tangential row, like those of a foot on the floor, have one friction impulse on it, whose limit is the sum of
//! their limits: their rows are the normals and this row, and the argument is the one above.
//! Hence the signs of all answers to a velocity $b$ (of almost all $b$) add up to one. If all signs are positive, each velocity
//! has one answer. Otherwise a second answer beside one with a positive sign is accompanied by one with a negative sign.

use super::frame::Frame;
use super::reading::Cones;
use carom_contact::{ContactIndex, RowIndex};
use carom_numeric::decisions::{RANK, Sum};
use nalgebra::DVector;
use smallvec::{SmallVec, smallvec};

/// Largest number of combinations of modes whose orientation is computed: two for each contact, times three for each tangential row.
/// Four contacts with a row each have so many.
const MAX_MODES: usize = 1296;

/// Equations that a contact can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equations {
    /// None: the contact is open, or slides at the cap of its normal impulse.
    None,
    /// The normal velocity is given; the contact has no friction, or another one holds its tangential row.
    Closed,
    Stick,
    /// The contact sticks, and its normal impulse is at the cap.
    StickAtCap,
    /// The contact slides; the index is that of the direction.
    Slide(usize),
}

/// Rows of one contact in the matrix of products, and its friction.
struct Planar {
    normal: usize,
    /// Tangential row; contacts may have it in common.
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
        let reach = 2.0 * bound + Sum::ROUNDING * size;
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
        self.rounding = (self.rounding + Sum::ROUNDING * size) * gain * gain;
        Some(determinant > 0.0)
    }

    /// Returns what is left of these products after the `equations` of a contact, and true if their determinant is positive; `None`
    /// if rounding hides its sign. After the `is_last` contact the products are not computed.
    fn after(&self, contact: &Planar, equations: Equations, is_last: bool) -> Option<(Self, bool)> {
        let mut left = self.clone();
        let n = contact.normal;
        let along = |row: usize| [(row, 1.0), (row, 0.0)];
        let sign = match (equations, contact.tangent) {
            (Equations::None, _) => Some(true),
            (Equations::Closed, _) => left.eliminate(&[n], &[along(n)], is_last),
            (Equations::Stick, Some(t)) => left.eliminate(&[n, t], &[along(n), along(t)], is_last),
            (Equations::StickAtCap, Some(t)) => left.eliminate(&[t], &[along(t)], is_last),
            (Equations::Slide(direction), Some(t)) => {
                let push = [(n, 1.0), (t, contact.friction[direction])];
                left.eliminate(&[n], &[push], is_last)
            }
            _ => None,
        };
        sign.map(|sign| (left, sign))
    }
}

/// Rows of a contact on the velocities that the constraints admit.
struct Admitted {
    normal: DVector<f64>,
    tangent: Option<DVector<f64>>,
    friction: f64,
}

/// True if two rows are equal to rounding.
fn are_equal(a: &DVector<f64>, b: &DVector<f64>) -> bool {
    (a - b).norm() <= RANK
}

/// True if two rows are parallel and equally long, to rounding.
fn are_parallel(a: &DVector<f64>, b: &DVector<f64>) -> bool {
    are_equal(a, b) || are_equal(a, &-b)
}

impl Admitted {
    /// True if two contacts are copies of each other: they share their impulses as if they were one.
    fn is_copy_of(&self, other: &Self) -> bool {
        let has_equal_tangent = match (&self.tangent, &other.tangent) {
            (None, None) => true,
            (Some(a), Some(b)) => are_parallel(a, b),
            _ => false,
        };
        are_equal(&self.normal, &other.normal)
            && has_equal_tangent
            && (self.friction - other.friction).abs() <= RANK * other.friction
    }
}

/// True if contacts that act simultaneously certainly have one answer to every velocity: the modes of each group of interacting
/// contacts that approach have maps of one orientation, or have no friction. `members` are the contacts, `cones` the shape of their
/// friction cones, and `has_caps` is true if their normal impulses are bounded.
///
/// A law leaves a group unchanged as long as no contact of it approaches, even if another answer exists.
pub(super) fn have_one_answer(
    frame: &Frame<'_>,
    members: &[ContactIndex],
    cones: Cones,
    has_caps: bool,
) -> bool {
    let set = frame.problem.contacts();
    let group = |i: &ContactIndex| frame.scales().group(set.row(*i));
    (0..frame.scales().count()).all(|of| {
        let mut all = set.indices().filter(|i| group(i) == of);
        if !all.any(|i| frame.problem.approaches(i)) {
            return true;
        }
        let own = members.iter().copied().filter(|i| group(i) == of);
        is_one(frame, own, cones, has_caps) == Some(true)
    })
}

/// True if the modes of the contacts `members`, which interact, certainly have one answer to every velocity. `None` if the degree
/// is not known: with friction the contacts must be planar, and their rows independent, except that contacts may have a tangential row in common.
///
/// Restitution only changes the velocities that closed contacts must reach, so that it has no part in this. Constraints act as a
/// metric on the velocities that they admit.
fn is_one(
    frame: &Frame<'_>,
    members: impl Iterator<Item = ContactIndex>,
    cones: Cones,
    has_caps: bool,
) -> Option<bool> {
    let set = frame.problem.contacts();
    let mut distinct: Vec<Admitted> = Vec::new();
    let mut has_friction = false;
    for i in members {
        let admitted = |row: RowIndex| frame.admit(&frame.row(row).into_owned());
        let friction = set.contact(i).friction * frame.friction_factor(i);
        let mut tangents = set.tangents_at(i);
        let is_rubbing = friction > 0.0 && tangents.len() > 0 && cones != Cones::Frictionless;
        if is_rubbing && tangents.len() > 1 {
            return None;
        }
        has_friction |= is_rubbing;
        let contact = Admitted {
            normal: admitted(set.row(i)),
            tangent: tangents.next().filter(|_| is_rubbing).map(admitted),
            friction,
        };
        if has_caps || !distinct.iter().any(|other| contact.is_copy_of(other)) {
            distinct.push(contact);
        }
    }
    if !has_friction {
        // Without friction the velocity after a step minimizes a convex function.
        return Some(true);
    }
    let mut rows: Vec<&DVector<f64>> = distinct.iter().map(|contact| &contact.normal).collect();
    let mut contacts = Vec::with_capacity(distinct.len());
    for (normal, contact) in distinct.iter().enumerate() {
        let tangent = contact.tangent.as_ref().map(|own| {
            let mut others = rows.iter().skip(distinct.len());
            let known = others.position(|other| are_parallel(own, other));
            known.map_or_else(
                || {
                    rows.push(own);
                    rows.len() - 1
                },
                |k| distinct.len() + k,
            )
        });
        contacts.push(Planar {
            normal,
            tangent,
            friction: [contact.friction, -contact.friction],
        });
    }
    let all = rows.iter();
    let all = all.flat_map(|i| rows.iter().map(|j| i.dot(j)));
    let products = Products {
        count: rows.len(),
        entries: all.collect(),
        rounding: Sum::ROUNDING,
    };
    have_one_orientation(&contacts, products, has_caps)
}

/// True if the determinants of all combinations of modes are certainly positive. `None` if that of all closed contacts is not: the
/// rows are then dependent, and the degree is not known.
fn have_one_orientation(contacts: &[Planar], products: Products, has_caps: bool) -> Option<bool> {
    let mut closed = products.clone();
    let mut held: SmallVec<[usize; 8]> = SmallVec::new();
    for contact in contacts {
        let is_new = |t: &usize| !held.contains(t);
        let equations = match contact.tangent.filter(is_new) {
            Some(t) => {
                held.push(t);
                Equations::Stick
            }
            None => Equations::Closed,
        };
        let (left, is_positive) = closed.after(contact, equations, false)?;
        if !is_positive {
            return None;
        }
        closed = left;
    }
    let count = |base: usize, n: usize| base.checked_pow(u32::try_from(n).ok()?);
    let modes = count(2, contacts.len())?.checked_mul(count(3, held.len())?)?;
    if modes > MAX_MODES {
        return None;
    }
    // Combinations of the first contacts, with the sign of their determinant and the equations that act on each row of `held`.
    let nothing: SmallVec<[Equations; 8]> = smallvec![Equations::None; held.len()];
    let mut open = vec![(0, products, true, nothing)];
    while let Some((k, products, sign, tangential)) = open.pop() {
        let Some(contact) = contacts.get(k) else {
            if !sign {
                return Some(false);
            }
            continue;
        };
        let of = held.iter().position(|t| contact.tangent == Some(*t));
        for own in possible(of.map(|t| tangential[t]), has_caps) {
            let (left, is_positive) = products.after(contact, *own, k + 1 == contacts.len())?;
            let mut tangential = tangential.clone();
            if let Some(t) = of
                && !matches!(own, Equations::None | Equations::Closed)
            {
                tangential[t] = *own;
            }
            open.push((k + 1, left, sign == is_positive, tangential));
        }
    }
    Some(true)
}

/// Returns the equations that a contact can have beside those that act on its tangential row already; `None` if it has no friction.
fn possible(on_tangent: Option<Equations>, has_caps: bool) -> &'static [Equations] {
    use Equations::{Closed, None as Nothing, Slide, Stick, StickAtCap};
    match on_tangent {
        Some(Nothing) if has_caps => &[Nothing, Stick, StickAtCap, Slide(0), Slide(1)],
        Some(Nothing) => &[Nothing, Stick, Slide(0), Slide(1)],
        Some(Slide(0)) => &[Nothing, Slide(0)],
        Some(Slide(_)) => &[Nothing, Slide(1)],
        Some(Stick | StickAtCap | Closed) | None => &[Nothing, Closed],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_contact::{Contact, ContactSet, ImpactProblem};
    use carom_metric::{Covector, KineticMetric, Tangent};
    use nalgebra::DMatrix;

    /// Uniqueness of the answer of contacts with unit normals and tangents in the given directions, all with one friction
    /// coefficient.
    fn unique(rows: &[[Vec<f64>; 2]], friction: f64) -> Option<bool> {
        let n = rows[0][0].len();
        let metric = KineticMetric::new(DMatrix::identity(n, n)).unwrap();
        let contact = |[normal, tangent]: &[Vec<f64>; 2]| {
            Contact::frictionless(Covector::from_slice(normal))
                .with_tangents(vec![Covector::from_slice(tangent)])
                .with_friction(friction)
        };
        let set = ContactSet::new(&metric, rows.iter().map(contact).collect()).unwrap();
        let velocity = Tangent::from_slice(&vec![-1.0; n]);
        let problem = ImpactProblem::new(&set, velocity).unwrap();
        let frame = Frame::new(&problem).unwrap();
        is_one(&frame, set.indices(), Cones::Round, true)
    }

    /// One contact has several answers from the friction on at which sliding wedges it: $\mu|G_{tn}| = G_{nn}$.
    #[test]
    fn one_contact_has_one_answer_up_to_the_friction_that_wedges_it() {
        let rows = [[vec![0.6, 0.8], vec![0.0, 1.0]]];
        assert_eq!(unique(&rows, 1.24), Some(true));
        assert_eq!(unique(&rows, 1.26), Some(false));
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
        assert_eq!(unique(&rows, 1.66), Some(true));
        assert_eq!(unique(&rows, 1.67), Some(false));
    }

    /// Two contacts of a body on one floor, a wide base below its center: friction wedges it only if one contact slides alone.
    #[test]
    fn contacts_with_one_tangent_share_their_friction() {
        let foot = |height: f64| {
            let tangent = vec![1.0, 0.0, height];
            [
                [vec![0.0, 1.0, -0.5], tangent.clone()],
                [vec![0.0, 1.0, 0.5], tangent.iter().map(|x| -x).collect()],
            ]
        };
        assert_eq!(unique(&foot(0.5), 0.5), Some(true));
        assert_eq!(unique(&foot(2.0), 5.0), Some(false));
    }

    #[test]
    fn dependent_rows_have_no_known_degree() {
        let rows = [
            [vec![1.0, 0.0], vec![0.0, 1.0]],
            [vec![0.6, 0.8], vec![-0.8, 0.6]],
        ];
        assert_eq!(unique(&rows, 0.1), None);
    }
}
