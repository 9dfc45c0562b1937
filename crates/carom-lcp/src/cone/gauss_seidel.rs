//! Block Gauss-Seidel sweeps that solve each contact exactly; they give a starting point for Newton's method.

use super::newton::Scaled;
use super::problem::WIDTH;
use super::single::Block;

/// Diagonal blocks of the contacts, prepared once for each matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    blocks: Vec<Block>,
    after: Vec<f64>,
}

impl Sweeps {
    /// Stores the 3 × 3 diagonal block of every contact in the Delassus matrix, which the Gauss-Seidel sweeps need.
    pub(super) fn prepare(&mut self, system: &Scaled) {
        self.blocks.clear();
        let contacts = system.friction.iter().zip(&system.slips).enumerate();
        self.blocks.extend(contacts.map(|(i, (friction, slip))| {
            let entry = |r: usize, c: usize| system.column(i * WIDTH + c)[i * WIDTH + r];
            Block::new(entry, *friction).with_slip(*slip)
        }));
    }

    /// Applies `n_sweeps` Gauss-Seidel sweeps to the scaled contact problem `system` and updates `impulse`. In each
    /// sweep the problem of every single contact is solved once, with the impulses of the other contacts fixed.
    pub(super) fn run(&mut self, system: &Scaled, impulse: &mut [f64], n_sweeps: usize) {
        system.after(impulse, &mut self.after);
        for _ in 0..n_sweeps {
            for (i, block) in self.blocks.iter().enumerate() {
                let first = i * WIDTH;
                // Velocities of this contact without its own impulses.
                let mut alone = [0.0; WIDTH];
                for (t, x) in alone.iter_mut().enumerate() {
                    *x = self.after[first + t];
                    for (s, l) in impulse[first..first + WIDTH].iter().enumerate() {
                        *x -= system.column(first + s)[first + t] * l;
                    }
                }
                let floor = system.floors[i];
                let solution = if floor > 0.0 {
                    block.solve_above(alone, floor)
                } else {
                    block.solve(alone, system.caps[i])
                };
                let solution = solution.impulse;
                for (s, new) in solution.into_iter().enumerate() {
                    let change = new - impulse[first + s];
                    if change != 0.0 {
                        impulse[first + s] = new;
                        for (x, g) in self.after.iter_mut().zip(system.column(first + s)) {
                            *x += g * change;
                        }
                    }
                }
            }
        }
    }
}
