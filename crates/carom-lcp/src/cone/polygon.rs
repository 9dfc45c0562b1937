//! Friction polygons in place of the cones: starting points on the right smooth pieces.

use super::newton::{Scaled, largest};
use super::problem::WIDTH;
use crate::{LcpError, LcpRef, LcpStatus, Lemke, LemkeOptions, LemkeWorkspace};
use std::f64::consts::TAU;

/// Number of directions of each polygon at first.
const DIRECTIONS: usize = 8;

/// Largest number of directions of a polygon.
const MAX_DIRECTIONS: usize = 24;

/// Two directions closer than this angle (rad) are equal.
const SAME_DIRECTION: f64 = 1e-15;

/// If the impulses exceed this multiple of the velocities, the problem counts as unsolvable.
const HUGE: f64 = 1e10;

/// Outcome of a problem with friction polygons.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolygonReport {
    pub(super) n_pivots: usize,
    /// Multiply-adds of these pivots, roughly.
    pub(super) work: u64,
    /// True if the problem was solved with impulses of reasonable size.
    pub(super) is_solved: bool,
}

/// Linear complementarity problem with a polygon in place of each friction cone.
///
/// The unknowns are the multipliers of the caps (if there are caps), the normal impulses, the impulses along
/// the polygon directions, contact by contact, and the multipliers of the cones. The layout is that of
/// [`ContactLcp`](crate::ContactLcp), except that each contact has its own polygon vertices.
#[derive(Clone, Debug)]
pub(super) struct Polygons {
    lemke: Lemke,
    memory: LemkeWorkspace,
    matrix: Vec<f64>,
    vector: Vec<f64>,
    /// Directions of the vertices of each contact's polygon, in radians.
    vertices: Vec<Vec<f64>>,
    /// For each unknown impulse its contact, and its three coefficients on the rows of that contact.
    generators: Vec<(usize, [f64; WIDTH])>,
}

impl Default for Polygons {
    fn default() -> Self {
        let options = LemkeOptions {
            // The result is only a starting point, which the caller checks.
            proofs: false,
            ..LemkeOptions::default()
        };
        Self {
            lemke: Lemke { options },
            memory: LemkeWorkspace::new(),
            matrix: Vec::new(),
            vector: Vec::new(),
            vertices: Vec::new(),
            generators: Vec::new(),
        }
    }
}

impl Polygons {
    /// Gives every contact a regular friction polygon. The first vertex is in the direction of the first tangent.
    pub(super) fn align(&mut self, n_contacts: usize) {
        self.vertices.resize_with(n_contacts, Vec::new);
        for vertices in &mut self.vertices {
            place_evenly(vertices, DIRECTIONS, 0.0);
        }
    }

    /// Rotates the friction polygon of each contact so that one vertex opposes the contact's tangential velocity.
    /// `after` holds three velocities per contact: normal and two tangents.
    pub(super) fn turn(&mut self, after: &[f64]) {
        for (vertices, u) in self.vertices.iter_mut().zip(after.chunks_exact(WIDTH)) {
            if let Some(angle) = against(u) {
                let n = vertices.len();
                place_evenly(vertices, n, angle);
            }
        }
    }

    /// Adds to the friction polygon of each contact a vertex in the direction opposite to the tangential velocity.
    /// `after` holds three velocities per contact: normal and two tangents. A polygon that has the largest number of
    /// vertices loses one of the vertices added before, the one farthest from the new vertex. Returns false if no
    /// vertex is added: contacts do not slide, or their polygons already have the wanted vertices.
    ///
    /// The friction impulse of a polygon acts at a vertex next to the direction opposite to the sliding, or on the
    /// edge between two such vertices. Each new vertex divides the angle between the two vertices around it.
    pub(super) fn subdivide(&mut self, after: &[f64]) -> bool {
        let mut is_new = false;
        for (vertices, u) in self.vertices.iter_mut().zip(after.chunks_exact(WIDTH)) {
            let Some(angle) = against(u) else { continue };
            let distance = |a: &f64| {
                let turn = (a - angle).rem_euclid(TAU);
                turn.min(TAU - turn)
            };
            if vertices.iter().any(|a| distance(a) <= SAME_DIRECTION) {
                continue;
            }
            is_new = true;
            if vertices.len() >= MAX_DIRECTIONS {
                // The vertices of the regular polygon are kept: without them friction could not act in every
                // direction.
                let added = vertices.iter().enumerate().skip(DIRECTIONS);
                let farthest = added.max_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
                if let Some((place, _)) = farthest {
                    vertices.remove(place);
                }
            }
            vertices.push(angle);
        }
        is_new
    }

    /// Solves the contact problem with friction polygons in place of the cones by Lemke's method, and writes three
    /// impulses per contact: normal and two tangents.
    pub(super) fn solve(
        &mut self,
        system: &Scaled,
        impulse: &mut [f64],
    ) -> Result<PolygonReport, LcpError> {
        let m = system.n_contacts();
        let is_capped = system.caps.iter().any(|cap| cap.is_finite());
        let n_caps = if is_capped { m } else { 0 };
        let n_impulses = m + self.vertices.iter().map(Vec::len).sum::<usize>();
        let n = n_caps + n_impulses + m;
        self.generators.clear();
        self.generators.extend((0..m).map(|i| (i, [1.0, 0.0, 0.0])));
        for (i, vertices) in self.vertices.iter().enumerate() {
            self.generators.extend(vertices.iter().map(|angle| {
                let (y, x) = libm::sincos(*angle);
                (i, [0.0, x, y])
            }));
        }
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.vector.clear();
        self.vector.resize(n, 0.0);
        for (column, (j, right)) in self.generators.iter().enumerate() {
            let entries = &mut self.matrix[(n_caps + column) * n + n_caps..];
            for (x, (i, left)) in entries.iter_mut().zip(&self.generators) {
                let mut sum = 0.0;
                for (t, r) in right.iter().enumerate().filter(|(_, r)| **r != 0.0) {
                    let g = &system.column(j * WIDTH + t)[i * WIDTH..];
                    let terms = left.iter().zip(g).map(|(l, g)| l * g);
                    sum += r * terms.sum::<f64>();
                }
                *x = sum;
            }
            let b = &system.velocity[j * WIDTH..];
            let terms = right.iter().zip(b).map(|(r, b)| r * b);
            self.vector[n_caps + column] = terms.sum();
        }
        let mut direction = n_caps + m;
        for (i, friction) in system.friction.iter().enumerate() {
            let (normal, cone) = (n_caps + i, n_caps + n_impulses + i);
            let scale = 1.0 / friction.max(1.0).sqrt();
            self.matrix[normal * n + cone] = scale * friction;
            for _ in &self.vertices[i] {
                self.matrix[cone * n + direction] = scale;
                self.matrix[direction * n + cone] = -scale;
                direction += 1;
            }
            if is_capped {
                // An infinite cap becomes the largest finite number.
                self.vector[i] = system.caps[i].min(f64::MAX);
                self.matrix[normal * n + i] = -1.0;
                self.matrix[i * n + normal] = 1.0;
            }
        }
        let problem = LcpRef::new(&self.matrix, &self.vector)?;
        let report = self.lemke.solve_into(problem, &mut self.memory)?;
        impulse.fill(0.0);
        let z = self.memory.z().iter().skip(n_caps);
        for ((i, generator), z) in self.generators.iter().zip(z) {
            for (l, c) in impulse[i * WIDTH..].iter_mut().zip(generator) {
                *l += c * z;
            }
        }
        let rows = n as u64;
        Ok(PolygonReport {
            n_pivots: report.n_pivots as usize,
            work: (report.n_pivots + 1) * rows * rows,
            is_solved: report.status == LcpStatus::Solved
                && largest(impulse) <= HUGE * largest(&system.velocity),
        })
    }
}

fn place_evenly(vertices: &mut Vec<f64>, n: usize, first: f64) {
    vertices.clear();
    vertices.extend((0..n).map(|j| first + TAU * j as f64 / n as f64));
}

/// Returns the direction (rad, from the first tangent) opposite to the tangential velocity of a contact. `u` holds
/// its normal velocity and two tangential velocities. `None` if the tangential velocity is zero.
fn against(u: &[f64]) -> Option<f64> {
    match u {
        &[_, x, y] if x != 0.0 || y != 0.0 => Some(libm::atan2(-y, -x)),
        _ => None,
    }
}
