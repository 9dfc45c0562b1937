//! Projection of a momentum onto the velocities that lasting contacts allow, for trial friction modes.

use carom_metric::kernel;
use carom_numeric::dense;
use carom_variational::generalized::{Bond, ContactMode, Point, Rows, deflate};

/// Solver for the projection of a momentum onto the velocities that lasting contacts allow, with buffers.
#[derive(Debug, Default)]
pub(crate) struct Projection {
    /// Whitened momentum (premultiplied by the inverse Cholesky factor of the mass matrix); after a solution, the projected
    /// momentum.
    pub(super) momentum: Vec<f64>,
    /// Whitened Jacobian rows: for each active contact the normal row and the slide row.
    rows: Vec<f64>,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    pivots: Vec<usize>,
    /// Normal and tangential impulse of each active contact.
    pub(crate) impulses: Vec<[f64; 2]>,
}

impl Projection {
    fn row(&self, bond: usize, slide: bool) -> &[f64] {
        let n = self.momentum.len();
        let at = (2 * bond + usize::from(slide)) * n;
        &self.rows[at..at + n]
    }

    /// Solves for the contact impulses at the end of a step, for one choice of friction modes. These impulses change the momentum
    /// such that the velocity is one that the contacts allow. `bonds` holds the contacts with their modes, `rows` the Jacobian
    /// rows of the contacts, `basis` an orthonormal basis of the whitened rows of the velocity constraints. Returns false if the linear system is singular.
    pub(super) fn solve(
        &mut self,
        end: &Point,
        rows: &Rows,
        bonds: &[Bond],
        basis: &[Vec<f64>],
    ) -> bool {
        let n = end.momentum.len();
        let lower = end.mass.as_slice();
        self.momentum.clear();
        self.momentum.extend_from_slice(&end.momentum);
        dense::whiten(lower, &mut self.momentum);
        self.rows.clear();
        for i in 0..bonds.len() {
            self.rows.extend_from_slice(rows.normal(i));
            self.rows.extend_from_slice(rows.slide(i));
        }
        for (i, row) in self.rows.chunks_exact_mut(n).enumerate() {
            if i % 2 == 0 || bonds[i / 2].is_frictional() {
                dense::whiten(lower, row);
                deflate(row, basis);
            }
        }
        let unknowns = || {
            let of_bond = |(i, bond): (usize, &Bond)| {
                let sticks = bond.mode == ContactMode::Stick;
                [Some((i, false)), sticks.then_some((i, true))]
            };
            bonds.iter().enumerate().flat_map(of_bond).flatten()
        };
        let size = unknowns().count();
        self.matrix.clear();
        for (j, slide) in unknowns() {
            let friction = if slide {
                0.0
            } else {
                bonds[j].mode.sign() * bonds[j].friction
            };
            for (i, of_slide) in unknowns() {
                let row = self.row(i, of_slide);
                let mut entry = kernel::dot(row, self.row(j, slide));
                if friction != 0.0 {
                    entry += friction * kernel::dot(row, self.row(j, true));
                }
                self.matrix.push(entry);
            }
        }
        self.rhs.clear();
        for (i, slide) in unknowns() {
            self.rhs
                .push(-kernel::dot(self.row(i, slide), &self.momentum));
        }
        self.pivots.resize(size, 0);
        if !dense::lu(&mut self.matrix, size, &mut self.pivots) {
            return false;
        }
        dense::lu_solve(&self.matrix, &self.pivots, &mut self.rhs);
        self.impulses.clear();
        self.impulses.resize(bonds.len(), [0.0; 2]);
        for ((i, slide), impulse) in unknowns().zip(&self.rhs) {
            self.impulses[i][usize::from(slide)] = *impulse;
        }
        for (i, bond) in bonds.iter().enumerate() {
            let sign = bond.mode.sign();
            if sign != 0.0 {
                self.impulses[i][1] = sign * bond.friction * self.impulses[i][0];
            }
            let [normal, tangential] = self.impulses[i];
            let at = 2 * i * n;
            kernel::add_scaled(&mut self.momentum, normal, &self.rows[at..at + n]);
            if tangential != 0.0 {
                kernel::add_scaled(
                    &mut self.momentum,
                    tangential,
                    &self.rows[at + n..at + 2 * n],
                );
            }
        }
        true
    }

    pub(super) fn judge(&self, bonds: &[Bond], small: f64) -> Trial {
        let (mut worst, mut consistent) = (None, true);
        for (i, bond) in bonds.iter().enumerate() {
            let [normal, tangential] = self.impulses[i];
            let pull = -normal * kernel::norm(self.row(i, false));
            if pull > small && worst.is_none_or(|(_, most)| pull > most) {
                worst = Some((i, pull));
            }
            if !bond.is_frictional() {
                continue;
            }
            let slide = self.row(i, true);
            let norm = kernel::norm(slide);
            let rate = kernel::dot(slide, &self.momentum) / norm;
            consistent &= is_consistent(bond, normal, tangential, small / norm, rate, small);
        }
        match worst {
            Some((bond, _)) => Trial::Pulls(bond),
            None if consistent => Trial::Good,
            None => Trial::Inconsistent,
        }
    }
}

/// Result of trying one combination of modes.
pub(super) enum Trial {
    /// All conditions are satisfied.
    Good,
    /// A contact would need a negative normal impulse; index of the contact in the list.
    Pulls(usize),
    /// Friction is outside its cone or does not oppose the slide.
    Inconsistent,
}

/// True if a contact satisfies Coulomb's law: it sticks with a tangential impulse within the friction cone, or friction opposes
/// its slide. `normal` and `tangential` are its impulses. `slide_rate` and the tolerance `small` refer to the slide row
/// normalized in the kinetic norm. The tolerance `small_impulse` of the tangential impulse refers to the slide row before this
/// normalization.
pub(super) fn is_consistent(
    bond: &Bond,
    normal: f64,
    tangential: f64,
    small_impulse: f64,
    slide_rate: f64,
    small: f64,
) -> bool {
    match bond.mode {
        ContactMode::Frictionless => true,
        ContactMode::Stick => tangential.abs() <= bond.friction * normal + small_impulse,
        ContactMode::SlipBackward => slide_rate <= small,
        ContactMode::SlipForward => slide_rate >= -small,
    }
}
