//! An impact told in another frame, in other units and orders, with copies and bystanders.

use super::problems::{Posed, orthogonal, scale};
use super::random::Random;
use carom_contact::Contact;
use carom_impact::Law;
use carom_impact::frictional::Sequential;
use carom_metric::Covector;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::TAU;

/// A problem that says the same, and how to translate its answer.
pub struct Retold {
    pub name: &'static str,
    pub posed: Posed,
    /// Velocities of the first problem are translated to `velocity` * v + `offset`.
    pub velocity: DMatrix<f64>,
    pub offset: DVector<f64>,
    /// Momenta of the first problem are translated to `momentum` * p.
    pub momentum: DMatrix<f64>,
    /// Contact of the first problem that each contact is; one beyond all of them for a far body's.
    pub contact: Vec<usize>,
}

impl Retold {
    fn new(name: &'static str, posed: &Posed) -> Self {
        let n = posed.dim();
        Self {
            name,
            posed: posed.clone(),
            velocity: DMatrix::identity(n, n),
            offset: DVector::zeros(n),
            momentum: DMatrix::identity(n, n),
            contact: (0..posed.contacts.len()).collect(),
        }
    }
}

/// Every relation that holds for a problem.
pub fn relations(posed: &Posed, random: &mut Random) -> Vec<Retold> {
    let mut all = vec![
        coordinates(posed, random),
        units(posed, random),
        row_units(posed, random),
        order(posed, random),
        twice(posed, random),
        far_body(posed, random, false),
        far_body(posed, random, true),
        tangents(posed, random),
        redundant(posed, random),
    ];
    all.extend(boost(posed, random));
    all
}

/// A velocity that no row sees, up to 1e5 times as fast as the rest.
fn boost(posed: &Posed, random: &mut Random) -> Option<Retold> {
    let n = posed.dim();
    let seen = posed.euclidean_span();
    if seen.ncols() == n {
        return None;
    }
    let mut unseen = DVector::from_vec(random.vector(n));
    for _ in 0..3 {
        unseen -= &seen * seen.tr_mul(&unseen);
    }
    if unseen.norm() < 1e-3 {
        return None;
    }
    let mut retold = Retold::new("boost", posed);
    retold.offset = unseen.normalize() * (posed.velocity.norm() * random.decades(0.0, 5.0));
    retold.posed.velocity += &retold.offset;
    Some(retold)
}

/// Orthogonal coordinates.
fn coordinates(posed: &Posed, random: &mut Random) -> Retold {
    let turn = orthogonal(random, posed.dim());
    let mut retold = Retold::new("coordinates", posed);
    let mass = &turn * &posed.mass * turn.transpose();
    retold.posed.mass = (&mass + mass.transpose()) * 0.5;
    for_rows(&mut retold.posed, |row| row.0 = &turn * &row.0);
    retold.posed.velocity = &turn * &posed.velocity;
    retold.momentum = turn.clone();
    retold.velocity = turn;
    retold
}

fn for_rows(posed: &mut Posed, mut f: impl FnMut(&mut Covector)) {
    for contact in &mut posed.contacts {
        f(&mut contact.normal);
        contact.tangents.iter_mut().for_each(&mut f);
    }
    posed.constraints.iter_mut().for_each(f);
}

/// Units of mass, time and each coordinate.
fn units(posed: &Posed, random: &mut Random) -> Retold {
    let n = posed.dim();
    let (mass, time) = (random.decades(-9.0, 9.0), random.decades(-9.0, 9.0));
    let lengths: Vec<f64> = (0..n).map(|_| random.decades(-3.0, 3.0)).collect();
    let mut retold = Retold::new("units", posed);
    for i in 0..n {
        for j in 0..n {
            retold.posed.mass[(i, j)] *= mass / (lengths[i] * lengths[j]);
        }
        retold.posed.velocity[i] *= lengths[i] * time;
        retold.velocity[(i, i)] = lengths[i] * time;
        retold.momentum[(i, i)] = mass * time / lengths[i];
    }
    for_rows(&mut retold.posed, |row| {
        let entries = row.0.iter_mut().zip(&lengths);
        entries.for_each(|(a, length)| *a /= length);
    });
    retold
}

/// Units of the rows of each contact and constraint.
fn row_units(posed: &Posed, random: &mut Random) -> Retold {
    let mut retold = Retold::new("row units", posed);
    for contact in &mut retold.posed.contacts {
        scale(contact, random.decades(-6.0, 6.0));
    }
    for form in &mut retold.posed.constraints {
        form.0 *= random.decades(-6.0, 6.0) * if random.below(2) == 0 { 1.0 } else { -1.0 };
    }
    retold
}

/// Order of contacts.
fn order(posed: &Posed, random: &mut Random) -> Retold {
    let mut retold = Retold::new("order", posed);
    for i in (1..retold.contact.len()).rev() {
        retold.contact.swap(i, random.below(i + 1));
    }
    let contacts = retold.contact.iter().map(|i| posed.contacts[*i].clone());
    retold.posed.contacts = contacts.collect();
    retold.posed.constraints.reverse();
    retold
}

/// A contact that stands there twice, the copy in other units.
fn twice(posed: &Posed, random: &mut Random) -> Retold {
    let mut retold = Retold::new("twice", posed);
    let first = random.below(posed.contacts.len());
    let mut copy = posed.contacts[first].clone();
    scale(&mut copy, random.decades(-3.0, 3.0));
    let place = random.below(posed.contacts.len() + 1);
    retold.posed.contacts.insert(place, copy);
    retold.contact.insert(place, first);
    retold
}

/// A far body of any mass and speed, in its own place among the coordinates, that leaves a contact of its own.
fn far_body(posed: &Posed, random: &mut Random, has_contact: bool) -> Retold {
    let (n, more) = (posed.dim(), 1 + random.below(3));
    let all = n + more;
    let is_first = random.below(2) == 0;
    let at = |k: usize| if is_first { more + k } else { k };
    let far = if is_first { 0 } else { n };
    let mut name = "far body";
    if has_contact {
        name = "far body with a contact";
    }
    let mut retold = Retold::new(name, posed);
    let mut place = DMatrix::zeros(all, n);
    (0..n).for_each(|k| place[(at(k), k)] = 1.0);
    let weight = random.decades(-6.0, 6.0);
    let mass = random.mass(more, 10.0) * weight;
    let mut body = DMatrix::zeros(all, more);
    (0..more).for_each(|k| body[(far + k, k)] = 1.0);
    retold.posed.mass = &place * &posed.mass * place.transpose() + &body * mass * body.transpose();
    for_rows(&mut retold.posed, |row| row.0 = &place * &row.0);
    let speed = random.decades(-3.0, 9.0);
    let velocity = &body * DVector::from_vec(random.vector(more)) * speed;
    if has_contact {
        let mut normal = &body * DVector::from_vec(random.vector(more));
        if normal.dot(&velocity) < 0.0 {
            normal = -normal;
        }
        let width = posed.contacts.iter().map(|c| c.tangents.len()).max();
        let tangents =
            (0..width.unwrap_or(0)).map(|_| &body * DVector::from_vec(random.vector(more)));
        retold.posed.contacts.push(
            Contact::new(Covector(normal))
                .with_tangents(tangents.map(Covector).collect::<Vec<_>>())
                .with_friction(if width == Some(0) { 0.0 } else { random.unit() })
                .with_restitution(random.unit()),
        );
        retold.contact.push(usize::MAX);
    }
    retold.posed.velocity = &place * &posed.velocity + &velocity;
    retold.offset = velocity;
    retold.velocity = place.clone();
    retold.momentum = place;
    retold
}

/// Tangents turned in space, flipped in the plane.
fn tangents(posed: &Posed, random: &mut Random) -> Retold {
    let mut retold = Retold::new("tangents", posed);
    for contact in &mut retold.posed.contacts {
        match contact.tangents.as_mut_slice() {
            [tangent] => tangent.0 *= -1.0,
            [x, y] => {
                let (s, c) = (TAU * random.unit()).sin_cos();
                let (old_x, old_y) = (x.0.clone(), y.0.clone());
                x.0 = &old_x * c + &old_y * s;
                y.0 = &old_y * c - &old_x * s;
                if random.below(2) == 0 {
                    y.0 *= -1.0;
                }
            }
            _ => {}
        }
    }
    retold
}

/// Constraints that follow from the others, and that say nothing.
pub fn redundant(posed: &Posed, random: &mut Random) -> Retold {
    let mut retold = Retold::new("redundant constraints", posed);
    let n = posed.dim();
    for _ in 0..1 + random.below(2 * n) {
        let mut sum = DVector::zeros(n);
        if random.below(4) != 0 {
            for form in &posed.constraints {
                sum.axpy(random.signed(), &form.0, 1.0);
            }
            sum *= random.decades(-3.0, 3.0);
        }
        let place = random.below(retold.posed.constraints.len() + 1);
        retold.posed.constraints.insert(place, Covector(sum));
    }
    retold
}

/// The law for another order of contacts: an option that names contacts names the same ones.
pub fn retold_law(law: &Law, contact: &[usize]) -> Law {
    match law {
        Law::Sequential(law) => {
            // The contacts of the first problem in turn, a copy after its original.
            let mut order: Vec<usize> = (0..contact.len()).collect();
            order.sort_by_key(|i| contact[*i]);
            Law::from(law.clone().with_order(order))
        }
        other => other.clone(),
    }
}

/// Inverse of a translation (orthogonal, diagonal or a placement among more coordinates) of a vector.
pub fn back(translation: &DMatrix<f64>, vector: &DVector<f64>) -> DVector<f64> {
    let squares = translation.column_iter().map(|c| c.norm_squared());
    let squares = DVector::from_iterator(translation.ncols(), squares);
    translation.tr_mul(vector).component_div(&squares)
}
