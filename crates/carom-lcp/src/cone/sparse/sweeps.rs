//! Gauss-Seidel sweeps of exact one-contact solutions: the last starting point that is tried.

use super::system::{System, Triple};
use crate::cone::single::Block as Contact;

/// Applies `n_sweeps` Gauss-Seidel sweeps to the scaled contact problem `system` and updates `impulse`. In each sweep
/// the problem of every single contact is solved once, with the impulses of the other contacts fixed. Impulses and
/// contacts are those of the sparse solver.
pub(super) fn sweep(system: &mut System, impulse: &mut [Triple], n_sweeps: usize) {
    system.couple();
    let blocks = system.diagonal.iter().zip(&system.friction);
    let blocks: Vec<Contact> = blocks
        .map(|(block, friction)| Contact::new(|r, c| block[r][c], *friction))
        .collect();
    for _ in 0..n_sweeps {
        for (i, block) in blocks.iter().enumerate() {
            let mut alone = system.velocity[i];
            for at in system.beside(i) {
                let l = &impulse[system.columns[at] as usize];
                let change = carom_numeric::block_lu::block::apply(&system.blocks[at], l);
                for (u, x) in alone.iter_mut().zip(change) {
                    *u += x;
                }
            }
            let solution = block.solve_above(alone, system.floors[i]).impulse;
            if solution.iter().all(|x| x.is_finite()) {
                impulse[i] = solution;
            }
        }
    }
}
