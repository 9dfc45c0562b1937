//! Tangent axes that depend on the impact alone: an answer of the solver for round friction cones does not depend on those given.

use super::parts::Part;
use super::round::{RoundStep, RoundWorkspace};
use super::space::ContactSpace;
use crate::tolerances::DISTINCT;
use carom_contact::ImpactError;
use carom_lcp::cone::{ConeAnswer, ConeSelection};
use carom_metric::kernel;
use nalgebra::DMatrix;

/// Slots of a contact with two tangents.
const WIDTH: usize = 3;

/// Solves the problem of a part like [`RoundStep::candidate`], on tangents turned to directions that do not depend on those
/// given. The impulses left in the workspace are those on the given tangents.
pub(super) fn candidate(
    part: &Part<'_>,
    selection: ConeSelection,
    workspace: &mut RoundWorkspace,
) -> Result<ConeAnswer, ImpactError> {
    if part.space.n_contacts == 1 {
        // The closed form of a single contact does not depend on the tangents.
        let round = RoundStep::new(&part.space);
        return round.candidate(&part.before, &[], selection, workspace);
    }
    let turned = Turned::new(&part.space, &part.before);
    let round = RoundStep::of_gram(&part.space, &turned.gram);
    let answer = round.candidate(&turned.before, &[], selection, workspace)?;
    turned.turn_back(&mut workspace.impulse);
    Ok(answer)
}

/// Tangents of spatial contacts, turned to directions that do not depend on the given axes. The first tangent has the direction of the sliding
/// velocity. Of a contact that does not slide, it has the direction in which normal impulses move the contact.
pub(super) struct Turned {
    /// Gram matrix of the normalized contact rows.
    gram: DMatrix<f64>,
    /// Velocities of the normalized contact rows before the impact.
    pub(super) before: Vec<f64>,
    /// Directions of both tangents of each contact, in the given axes.
    axes: Vec<[[f64; 2]; 2]>,
}

impl Turned {
    /// Turns the tangents of the contacts in `space`. `before`: velocities of the normalized contact rows before the impact.
    pub(super) fn new(space: &ContactSpace, before: &[f64]) -> Self {
        let axes: Vec<_> = (0..space.n_contacts)
            .map(|contact| axes(space, before, contact))
            .collect();
        let (mut gram, mut before) = (space.gram.clone(), before.to_vec());
        if space.width() == WIDTH {
            // The matrix is symmetric: its columns are turned, then its rows.
            for _ in 0..2 {
                let columns = gram.as_mut_slice().chunks_exact_mut(space.n_slots());
                columns.for_each(|column| turn(&axes, column));
                gram = gram.transpose();
            }
            turn(&axes, &mut before);
        }
        Self { gram, before, axes }
    }

    /// Returns the contacts in `space` with the Gram matrix of the turned tangents.
    pub(super) fn space(&self, space: &ContactSpace) -> ContactSpace {
        space.with_gram(self.gram.clone())
    }

    /// Replaces components along the turned tangents by those along the given ones.
    pub(super) fn turn_back(&self, slots: &mut [f64]) {
        if self.axes.len() * WIDTH != slots.len() {
            return;
        }
        for (contact, [[a, b], [c, d]]) in slots.chunks_exact_mut(WIDTH).zip(&self.axes) {
            if let [_, x, y] = contact {
                (*x, *y) = (a * *x + c * *y, b * *x + d * *y);
            }
        }
    }
}

/// Replaces components along the given tangents by those along the turned ones, whose directions are `axes`.
fn turn(axes: &[[[f64; 2]; 2]], slots: &mut [f64]) {
    for (contact, [[a, b], [c, d]]) in slots.chunks_exact_mut(WIDTH).zip(axes) {
        if let [_, x, y] = contact {
            (*x, *y) = (a * *x + b * *y, c * *x + d * *y);
        }
    }
}

/// Chooses the directions of both tangents of a contact. Rows of zeros in place of tangents that a contact lacks are not turned.
fn axes(space: &ContactSpace, before: &[f64], contact: usize) -> [[f64; 2]; 2] {
    let given = [[1.0, 0.0], [0.0, 1.0]];
    if space.width() < WIDTH {
        return given;
    }
    let [x, y] = [1, 2].map(|t| contact * WIDTH + t);
    let squares = [x, y].map(|t| space.gram[(t, t)]);
    if squares.contains(&0.0) {
        return given;
    }
    let tangents = squares.iter().sum::<f64>().sqrt();
    let sliding = ([before[x], before[y]], kernel::max_abs(before));
    let moved = (0..space.n_contacts).map(|other| {
        let normal = other * WIDTH;
        let pushed = [space.gram[(x, normal)], space.gram[(y, normal)]];
        (pushed, tangents)
    });
    let mut first: Option<[f64; 2]> = None;
    for (vector, size) in std::iter::once(sliding).chain(moved) {
        let length = kernel::norm(&vector);
        let Some([a, b]) = first else {
            if length > DISTINCT * size {
                first = Some(vector.map(|v| v / length));
            }
            continue;
        };
        let across = a * vector[1] - b * vector[0];
        if across.abs() > DISTINCT * size {
            let sign = across.signum();
            return [[a, b], [-sign * b, sign * a]];
        }
    }
    first.map_or(given, |[a, b]| [[a, b], [-b, a]])
}
