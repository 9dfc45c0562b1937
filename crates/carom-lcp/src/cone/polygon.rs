//! Friction polygons in place of the cones: starts that lie on the right pieces.

use super::newton::Scaled;
use super::problem::WIDTH;
use crate::{LcpError, LcpRef, Lemke, LemkeOptions, LemkeWorkspace};
use std::f64::consts::TAU;

/// Directions of each polygon, unless that leads nowhere.
pub(super) const DIRECTIONS: usize = 8;

/// The linear complementarity problem with a polygon for each cone.
///
/// Unknowns are the cap multipliers (if there are caps), the normal impulses, the impulses along the
/// directions, contact by contact, and the cone multipliers, as in
/// [`ContactLcp`](crate::ContactLcp), but each contact's polygon has an angle of its own.
#[derive(Clone, Debug)]
pub(super) struct Polygons {
    lemke: Lemke,
    memory: LemkeWorkspace,
    matrix: Vec<f64>,
    vector: Vec<f64>,
    /// Direction of the first vertex of each contact.
    angles: Vec<f64>,
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
        Self {
            lemke: Lemke { options },
            memory: LemkeWorkspace::new(),
            matrix: Vec::new(),
            vector: Vec::new(),
            angles: Vec::new(),
            generators: Vec::new(),
        }
    }
}

impl Polygons {
    /// The first vertex of every polygon on the first tangent.
    pub(super) fn align(&mut self, n_contacts: usize) {
        self.angles.clear();
        self.angles.resize(n_contacts, 0.0);
    }

    /// Turns each polygon so that a vertex opposes the tangential velocity.
    pub(super) fn turn(&mut self, after: &[f64]) {
        for (angle, u) in self.angles.iter_mut().zip(after.chunks_exact(WIDTH)) {
            if let &[_, x, y] = u
                && x.hypot(y) > 0.0
            {
                *angle = f64::atan2(-y, -x);
            }
        }
    }

    /// Writes the impulses of the polygons' solution; returns the number of pivots.
    pub(super) fn solve(
        &mut self,
        system: &Scaled,
        directions: usize,
        impulse: &mut [f64],
    ) -> Result<usize, LcpError> {
        let m = system.n_contacts();
        let is_capped = system.caps.iter().any(|cap| cap.is_finite());
        let n_caps = if is_capped { m } else { 0 };
        let k = directions;
        let n_impulses = m * (1 + k);
        let n = n_caps + n_impulses + m;
        self.generators.clear();
        self.generators.extend((0..m).map(|i| (i, [1.0, 0.0, 0.0])));
        for (i, angle) in self.angles.iter().enumerate() {
            self.generators.extend((0..k).map(|j| {
                let (y, x) = (angle + TAU * j as f64 / k as f64).sin_cos();
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
        for (i, friction) in system.friction.iter().enumerate() {
            let (normal, cone) = (n_caps + i, n_caps + n_impulses + i);
            let scale = 1.0 / friction.max(1.0).sqrt();
            self.matrix[normal * n + cone] = scale * friction;
            for j in 0..k {
                let direction = n_caps + m + i * k + j;
                self.matrix[cone * n + direction] = scale;
                self.matrix[direction * n + cone] = -scale;
            }
            if is_capped {
                // A cap that no impulse reaches is no cap.
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
        Ok(report.n_pivots as usize)
    }
}
