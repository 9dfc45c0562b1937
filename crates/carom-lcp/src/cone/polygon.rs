//! Friction polygons in place of the cones: starts that lie on the right pieces.

use super::newton::{Scaled, largest};
use super::problem::WIDTH;
use crate::{LcpError, LcpRef, LcpStatus, Lemke, LemkeOptions, LemkeWorkspace};
use std::f64::consts::TAU;

/// Directions of each polygon, unless that leads nowhere.
pub(super) const DIRECTIONS: usize = 8;

/// Directions of a polygon at most.
const MAX_DIRECTIONS: usize = 24;

/// Directions closer than this, in radians, are one.
const SAME_DIRECTION: f64 = 1e-15;

/// Impulses this many times the velocities are those of a problem without a solution.
const HUGE: f64 = 1e10;

/// Outcome of a problem with polygons.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolygonReport {
    pub(super) n_pivots: usize,
    /// True if it seems to have a solution.
    pub(super) is_solved: bool,
}

/// The linear complementarity problem with a polygon for each cone.
///
/// Unknowns are the cap multipliers (if there are caps), the normal impulses, the impulses along the
/// directions, contact by contact, and the cone multipliers, as in
/// [`ContactLcp`](crate::ContactLcp), but each contact's polygon has vertices of its own.
#[derive(Clone, Debug)]
pub(super) struct Polygons {
    lemke: Lemke,
    /// Every attempt that Lemke's method has.
    sure: Lemke,
    memory: LemkeWorkspace,
    matrix: Vec<f64>,
    vector: Vec<f64>,
    /// Directions of the vertices of each contact's polygon, in radians.
    vertices: Vec<Vec<f64>>,
    /// Three coefficients on a contact's rows for each unknown impulse, and the contact.
    generators: Vec<(usize, [f64; WIDTH])>,
}

impl Default for Polygons {
    fn default() -> Self {
        let options = LemkeOptions {
            max_attempts: 1,
            // A guess, judged by who asked for it.
            proofs: false,
            ..LemkeOptions::default()
        };
        let sure = LemkeOptions {
            max_attempts: LemkeOptions::default().max_attempts,
            ..options.clone()
        };
        Self {
            lemke: Lemke { options },
            sure: Lemke { options: sure },
            memory: LemkeWorkspace::new(),
            matrix: Vec::new(),
            vector: Vec::new(),
            vertices: Vec::new(),
            generators: Vec::new(),
        }
    }
}

impl Polygons {
    /// Even polygons with the first vertex on the first tangent.
    pub(super) fn align(&mut self, n_contacts: usize, directions: usize) {
        self.vertices.resize_with(n_contacts, Vec::new);
        for vertices in &mut self.vertices {
            place_evenly(vertices, directions, 0.0);
        }
    }

    /// Turns each polygon so that a vertex opposes the tangential velocity.
    pub(super) fn turn(&mut self, after: &[f64]) {
        for (vertices, u) in self.vertices.iter_mut().zip(after.chunks_exact(WIDTH)) {
            if let Some(angle) = against(u) {
                let n = vertices.len();
                place_evenly(vertices, n, angle);
            }
        }
    }

    /// Gives each polygon one vertex more, against the tangential velocity. False if all are there.
    ///
    /// A polygon's friction acts from a vertex whose neighbors are on either side of that
    /// direction, or from the edge between two: the gap that holds it is divided every time.
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
                // The even polygon stays: without it friction could not act on every side.
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

    /// Writes the impulses of the polygons' solution, which is a guess unless it `is_sure`.
    pub(super) fn solve(
        &mut self,
        system: &Scaled,
        is_sure: bool,
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
                // A cap that no impulse reaches is no cap.
                self.vector[i] = system.caps[i].min(f64::MAX);
                self.matrix[normal * n + i] = -1.0;
                self.matrix[i * n + normal] = 1.0;
            }
        }
        let problem = LcpRef::new(&self.matrix, &self.vector)?;
        let lemke = if is_sure { &self.sure } else { &self.lemke };
        let report = lemke.solve_into(problem, &mut self.memory)?;
        impulse.fill(0.0);
        let z = self.memory.z().iter().skip(n_caps);
        for ((i, generator), z) in self.generators.iter().zip(z) {
            for (l, c) in impulse[i * WIDTH..].iter_mut().zip(generator) {
                *l += c * z;
            }
        }
        Ok(PolygonReport {
            n_pivots: report.n_pivots as usize,
            is_solved: report.status == LcpStatus::Solved
                && largest(impulse) <= HUGE * largest(&system.velocity),
        })
    }
}

fn place_evenly(vertices: &mut Vec<f64>, n: usize, first: f64) {
    vertices.clear();
    vertices.extend((0..n).map(|j| first + TAU * j as f64 / n as f64));
}

/// The direction against the tangential velocity among the velocities of a contact.
fn against(u: &[f64]) -> Option<f64> {
    match u {
        &[_, x, y] if x != 0.0 || y != 0.0 => Some(libm::atan2(-y, -x)),
        _ => None,
    }
}
