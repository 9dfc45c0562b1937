//! Proof that no velocity separates all contacts as fast as their targets ask.

use super::problem::Kind;
use super::system::System;
use crate::{Lcp, LcpSolver, Lemke};
use carom_numeric::decisions::Sum;
use nalgebra::{DMatrix, DVector};

/// Velocities of the normals that the impulses of a proof change, relative to their terms: a small multiple of the rounding
/// error of a linear solve.
const BALANCED: f64 = 1e-11;

/// Returns normal impulses $\lambda_n \ge 0$ with $J_n^T\lambda_n = 0$ and $\lambda_n\cdot t > 0$, one per contact of the
/// island, in its scaled units. `None` if no such impulses exist: they minimize $\lambda^TG_{nn}\lambda + (1 - t\cdot\lambda)^2$, a
/// linear complementarity problem.
pub(super) fn proof(system: &mut System) -> Option<Vec<f64>> {
    system.couple();
    let n = system.len();
    let has_target = |i: usize| {
        let contact = &system.contacts[i];
        contact.cap == f64::INFINITY && !matches!(contact.kind, Kind::Box(_))
    };
    let targets = DVector::from_fn(n, |i, _| system.contacts[i].target);
    if !(targets.amax() > 0.0) || !(0..n).all(has_target) {
        return None;
    }
    let mut normals = DMatrix::zeros(n, n);
    for i in 0..n {
        normals[(i, i)] = system.diagonal[i][0][0];
        for at in system.beside(i) {
            normals[(i, system.columns[at] as usize)] = system.blocks[at][0][0];
        }
    }
    let matrix = &normals + &targets * targets.transpose();
    let lcp = Lcp::new(matrix, -&targets).ok()?;
    let impulses = Lemke::default().solve(&lcp).ok()?.z;
    let is_balanced = |i: usize| {
        let terms = (0..n).map(|j| normals[(i, j)] * impulses[j]);
        terms.collect::<Sum>().is_below(BALANCED)
    };
    let is_proof = impulses.dot(&targets) > 0.5 && (0..n).all(is_balanced);
    is_proof.then(|| impulses.as_slice().to_vec())
}
