//! One stage of an impact in a fixed mode, with its derivatives.

use super::adjoint::Adjoint;
use super::frame::{Frame, Variation};
use super::independent::invert_independent;
use super::mode::{Mode, Range, Terms};
use crate::tolerances::NEGLIGIBLE;
use carom_contact::internal::dot_and_size;
use carom_contact::{ContactIndex, RowIndex};
use carom_metric::kernel;
use carom_numeric::decisions::Sum;
use nalgebra::{DMatrix, DVector, DVectorView};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A stage of an impact that has happened in a known mode, prepared for derivatives along any direction.
///
/// The letters are those of the crate documentation. With the impulses $L$, the velocities $v$ before and $v'$ after, $h =
/// dJ^TL + J^T(dS x + dL_0) - dM(v' - v)$ and $w = dv + M^{-1}h$,
///
/// $$ dx = -K^{-1}T^T\bigl(dJ v' + Jw + dE Jv + E(dJ v + J dv)\bigr), \qquad
/// dv' = w + M^{-1}J^TS dx, \qquad dL = dS x + dL_0 + S dx. $$
///
/// If contacts depend on each other, a maximal independent part of S and T is used.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    mode: Mode,
    layout: Layout,
    /// Velocities (n entries) before and after the stage, impulses on all rows, $T^T(I + E)J$ and $S^TJ$ (one row of n
    /// entries per unknown), the matrix $K$ with the terms of the equations in impulses, and the inverse of its
    /// independent part, zero elsewhere (unknowns × unknowns, stored by rows).
    numbers: SmallVec<[f64; 24]>,
    /// True if contacts depend linearly on each other or on the constraints.
    pub(super) is_dependent: bool,
    /// True if the stage is the limit of the strikes before it, whose last decisions then have no effect.
    pub(super) is_limit: bool,
}

/// Layout of the numbers of a stage: number of entries of a velocity, number of rows, and number of unknowns.
#[derive(Clone, Copy, Debug)]
struct Layout {
    n: usize,
    rows: usize,
    unknowns: usize,
}

impl Layout {
    fn after(self) -> usize {
        self.n
    }

    fn impulse(self) -> usize {
        2 * self.n
    }

    fn asked(self) -> usize {
        self.impulse() + self.rows
    }

    fn pushed(self) -> usize {
        self.asked() + self.unknowns * self.n
    }

    fn matrix(self) -> usize {
        self.pushed() + self.unknowns * self.n
    }

    fn inverse(self) -> usize {
        self.matrix() + self.unknowns * self.unknowns
    }

    fn end(self) -> usize {
        self.inverse() + self.unknowns * self.unknowns
    }
}

/// One number per unknown.
pub(super) type Column = SmallVec<[f64; 4]>;

/// Computes the product of a square matrix, stored row by row, with a column vector.
fn times(matrix: &[f64], x: &[f64]) -> Column {
    let rows = matrix.chunks_exact(x.len().max(1));
    rows.map(|row| kernel::dot(row, x)).collect()
}

fn add_covector(frame: &Frame<'_>, terms: &Terms, factor: f64, out: &mut [f64]) {
    for (row, c) in terms {
        kernel::add_scaled(out, factor * c, frame.row(*row).as_slice());
    }
}

/// Returns the size up to which impulses of dependent contacts count as zero: a small fraction of the largest impulse.
fn idle(impulses: &[f64]) -> f64 {
    let sizes = impulses.iter().map(|l| l.abs());
    NEGLIGIBLE * sizes.fold(0.0, f64::max)
}

/// True if the impulse on any row of an unknown is larger than `idle`.
fn acts(unknown: &Terms, impulses: &[f64], idle: f64) -> bool {
    unknown
        .iter()
        .any(|(row, _)| impulses[row.index()].abs() > idle)
}

impl Stage {
    /// Creates a stage (part of an impact with fixed contact modes) from its known result. `mode` holds its unknown
    /// impulses and equations, `before` and `after` are the whitened velocities, and `impulse` has the impulses on
    /// all rows.
    pub(super) fn new(
        frame: &Frame<'_>,
        mode: Mode,
        before: &[f64],
        after: &[f64],
        impulse: &[f64],
    ) -> Self {
        let (n, p) = (frame.dim(), mode.unknowns.len());
        let layout = Layout {
            n,
            rows: frame.n_rows(),
            unknowns: p,
        };
        let mut numbers: SmallVec<[f64; 24]> = smallvec![0.0; layout.end()];
        numbers[..n].copy_from_slice(before);
        numbers[layout.after()..layout.impulse()].copy_from_slice(after);
        numbers[layout.impulse()..layout.asked()].copy_from_slice(impulse);
        let (asked, rest) = numbers[layout.asked()..].split_at_mut(p * n);
        let (pushed, rest) = rest.split_at_mut(p * n);
        let (matrix, inverse) = rest.split_at_mut(p * p);
        for (row, unknown) in pushed.chunks_exact_mut(n).zip(&mode.unknowns) {
            add_covector(frame, unknown, 1.0, row);
        }
        for (i, (row, equation)) in asked.chunks_exact_mut(n).zip(&mode.equations).enumerate() {
            add_covector(frame, &equation.velocities, 1.0, row);
            for (j, unknown) in mode.unknowns.iter().enumerate() {
                let mut entry = kernel::dot(row, &pushed[j * n..(j + 1) * n]);
                for (row, c) in &equation.impulses {
                    let same = unknown.iter().filter(|(other, _)| other == row);
                    entry += c * same.map(|(_, s)| s).sum::<f64>();
                }
                matrix[i * p + j] = entry;
            }
            let e = equation.rebound.value();
            row.iter_mut().for_each(|x| *x *= 1.0 + e);
        }
        // The independent part contains unknowns that push, as far as possible.
        let idle = idle(impulse);
        let pushing: SmallVec<[bool; 8]> = mode
            .unknowns
            .iter()
            .map(|u| acts(u, impulse, idle))
            .collect();
        let regular = p - mode.n_redundant;
        let rank = invert_independent(matrix, &pushing, regular, inverse);
        Self {
            mode,
            layout,
            numbers,
            is_dependent: rank < regular,
            is_limit: false,
        }
    }

    /// Creates a stage that starts from the velocity `before`. The equations of `mode` determine its impulses and the velocity after it.
    pub(super) fn from(frame: &Frame<'_>, mode: Mode, before: &DVector<f64>) -> Arc<Self> {
        let given: SmallVec<[f64; 8]> = smallvec![0.0; frame.n_rows()];
        Self::from_given(frame, mode, before, &given)
    }

    /// Creates a stage like [`from`](Self::from) that is the limit of endless strikes, the last ones before it.
    pub(super) fn limit(frame: &Frame<'_>, mode: Mode, before: &DVector<f64>) -> Arc<Self> {
        let mut stage = Self::from(frame, mode, before);
        Arc::make_mut(&mut stage).is_limit = true;
        stage
    }

    /// Creates a stage like [`from`](Self::from), with prescribed impulses on all rows, `given`.
    pub(super) fn from_given(
        frame: &Frame<'_>,
        mode: Mode,
        before: &DVector<f64>,
        given: &[f64],
    ) -> Arc<Self> {
        let mut after: SmallVec<[f64; 8]> = SmallVec::from_slice(before.as_slice());
        let mut impulse: SmallVec<[f64; 8]> = SmallVec::from_slice(given);
        let mut stage = Self::new(frame, mode, &after, &after, &impulse);
        for (row, l) in frame.all_rows().zip(given).filter(|(_, l)| **l != 0.0) {
            kernel::add_scaled(&mut after, *l, frame.row(row).as_slice());
        }
        let mut x: Column = smallvec![0.0; stage.layout.unknowns];
        let mut missed = x.clone();
        stage.push(&mut after, &mut missed, &mut x);
        stage.add_impulses(&x, &mut impulse);
        let Layout { n, rows, .. } = stage.layout;
        stage.numbers[n..2 * n].copy_from_slice(&after);
        stage.numbers[2 * n..2 * n + rows].copy_from_slice(&impulse);
        Arc::new(stage)
    }

    /// Returns the whitened velocity (n entries) before the stage, a part of an impact with fixed contact modes.
    pub(super) fn before(&self) -> &[f64] {
        &self.numbers[..self.layout.after()]
    }

    /// Returns the whitened velocity (n entries) after the stage, a part of an impact with fixed contact modes.
    pub(super) fn after(&self) -> &[f64] {
        &self.numbers[self.layout.after()..self.layout.impulse()]
    }

    /// Returns the impulses of the stage (a part of an impact with fixed contact modes) on the rows of all contacts and
    /// constraints.
    pub(super) fn impulse(&self) -> &[f64] {
        &self.numbers[self.layout.impulse()..self.layout.asked()]
    }

    /// Returns the row (n entries) of equation `i` of the stage, including the factor of one plus restitution. The product of this
    /// row with the velocity before the stage is the residual of the equation if no impulses act.
    fn asked(&self, i: usize) -> &[f64] {
        &self.numbers[self.layout.asked() + i * self.layout.n..][..self.layout.n]
    }

    /// Returns the row (n entries) along which the unknown impulse `i` changes the velocity.
    fn pushed(&self, i: usize) -> &[f64] {
        &self.numbers[self.layout.pushed() + i * self.layout.n..][..self.layout.n]
    }

    fn matrix(&self) -> &[f64] {
        &self.numbers[self.layout.matrix()..self.layout.inverse()]
    }

    fn inverse(&self) -> &[f64] {
        &self.numbers[self.layout.inverse()..]
    }

    /// True if an unknown impulse may have any value: the equations of the stage are solved for a maximal linearly independent set of
    /// unknowns, and this unknown is not in the set.
    fn is_free(&self, unknown: usize) -> bool {
        let p = self.layout.unknowns;
        let mut row = self.inverse()[unknown * p..(unknown + 1) * p].iter();
        row.all(|x| *x == 0.0)
    }

    /// Writes the residuals of the equations for zero impulses into `missed`. `velocity` (n entries) is that before the stage.
    fn miss(&self, velocity: &[f64], missed: &mut [f64]) {
        for (i, missed) in missed.iter_mut().enumerate() {
            *missed = kernel::dot(self.asked(i), velocity);
        }
    }

    /// Computes the velocity after the stage from the one before it. `velocity` (n entries) is replaced by the result. Writes into
    /// `missed` the residuals of the equations before the impulses act, and into `unknowns` the impulses that remove them.
    fn push(&self, velocity: &mut [f64], missed: &mut [f64], unknowns: &mut [f64]) {
        self.miss(velocity, missed);
        let inverse = self.inverse().chunks_exact(missed.len().max(1));
        for (i, (unknown, inverse)) in unknowns.iter_mut().zip(inverse).enumerate() {
            *unknown = -kernel::dot(inverse, missed);
            kernel::add_scaled(velocity, *unknown, self.pushed(i));
        }
    }

    fn add_impulses(&self, x: &[f64], impulse: &mut [f64]) {
        for (unknown, x) in self.mode.unknowns.iter().zip(x.iter()) {
            for (row, c) in unknown {
                impulse[row.index()] += c * x;
            }
        }
    }

    /// Advances derivatives through the stage, for directions in which only the velocity before the impact changes. `velocity` holds
    /// derivatives of the velocity (n rows, any number of columns) and is replaced by those after the stage. The derivatives of the
    /// impulses are added to `impulses`, which has a row for each row of contacts and constraints.
    pub(super) fn advance(&self, velocity: &mut DMatrix<f64>, impulses: &mut DMatrix<f64>) {
        let mut x: Column = smallvec![0.0; self.layout.unknowns];
        let mut missed = x.clone();
        let columns = velocity.column_iter_mut().zip(impulses.column_iter_mut());
        for (mut velocity, mut impulses) in columns {
            self.push(velocity.as_mut_slice(), &mut missed, &mut x);
            self.add_impulses(&x, impulses.as_mut_slice());
        }
    }

    /// True if a coefficient that changes along `variation` has an effect in this stage.
    fn is_changed_by(&self, variation: &Variation) -> bool {
        let mut loads = self.mode.loads.iter();
        let mut equations = self.mode.equations.iter();
        loads.any(|load| variation.friction(load.contact) != 0.0)
            || equations.any(|equation| {
                let rubs = |(contact, _): (ContactIndex, f64)| variation.friction(contact) != 0.0;
                equation.rebound.change(variation) != 0.0 || equation.by_friction.is_some_and(rubs)
            })
    }

    /// Advances derivatives through the stage (a part of an impact with fixed contact modes) along `variation`, a
    /// direction in which the data of the impact change. `velocity` holds the derivative of the velocity and is
    /// replaced by that after the stage; the derivative of the impulses is added to `impulse`. Returns true if the
    /// direction preserves the linear dependencies between contacts.
    pub(super) fn advance_along(
        &self,
        frame: &Frame<'_>,
        variation: &Variation,
        velocity: &mut DVector<f64>,
        impulse: &mut DVector<f64>,
    ) -> bool {
        let is_regular = !self.is_dependent && self.mode.n_redundant == 0;
        if is_regular && variation.is_of_coefficients() && !self.is_changed_by(variation) {
            // The data of this stage do not change: its map is that of the velocity alone.
            if velocity.iter().any(|x| *x != 0.0) {
                let mut x: Column = smallvec![0.0; self.layout.unknowns];
                let mut missed = x.clone();
                self.push(velocity.as_mut_slice(), &mut missed, &mut x);
                self.add_impulses(&x, impulse.as_mut_slice());
            }
            return true;
        }
        let minus = velocity.clone();
        let after = DVectorView::from_slice(self.after(), self.layout.n);
        let before = DVectorView::from_slice(self.before(), self.layout.n);
        variation.add_inertia(&(after - before), velocity);
        for (row, l) in frame.all_rows().zip(self.impulse()) {
            if let Some(change) = variation.row(row)
                && *l != 0.0
            {
                velocity.axpy(*l, &change, 1.0);
            }
        }
        let mut loaded = DVector::zeros(impulse.len());
        for load in &self.mode.loads {
            let change = load.factor * variation.friction(load.contact);
            loaded[load.row.index()] += change;
            velocity.axpy(change, &frame.row(load.row), 1.0);
        }
        let speed = before.norm();
        let mut sizes = Vec::with_capacity(self.mode.equations.len());
        let missed = self.mode.equations.iter().map(|equation| {
            let e = equation.rebound.value();
            let de = equation.rebound.change(variation);
            let (mut missed, mut size, mut range) = (0.0, 0.0, 0.0);
            let mut add = |x: f64| {
                missed += x;
                size += x.abs();
            };
            for (row, t) in &equation.velocities {
                let given = frame.row(*row);
                add(t * given.dot(velocity));
                add(t * e * given.dot(&minus));
                add(t * de * given.dot(&before));
                if let Some(change) = variation.row(*row) {
                    add(t * frame.seen(change, after));
                    add(t * e * frame.seen(change, before));
                    // The size of the effect of a change of rows distinguishes its error from rounding.
                    range += (t * change.norm()).abs() * speed;
                }
            }
            for (row, q) in &equation.impulses {
                add(q * loaded[row.index()]);
            }
            if let Some((contact, factor)) = equation.by_friction {
                add(factor * variation.friction(contact));
            }
            sizes.push(size + range);
            missed
        });
        let missed: Column = missed.collect();
        let x: Column = times(self.inverse(), &missed).iter().map(|x| -x).collect();
        let mut is_kept = true;
        if self.is_dependent || self.mode.n_redundant > 0 {
            let made = times(self.matrix(), &x);
            let mut left = made.iter().zip(&missed).map(|(made, missed)| made + missed);
            let largest = sizes.iter().copied().fold(0.0, f64::max);
            is_kept = left.all(|left| left.abs() <= NEGLIGIBLE * largest);
        }
        for (i, x) in x.iter().enumerate() {
            kernel::add_scaled(velocity.as_mut_slice(), *x, self.pushed(i));
        }
        *impulse += loaded;
        self.add_impulses(&x, impulse.as_mut_slice());
        is_kept
    }

    /// Converts a cotangent (gradient) of the velocity after this stage (a part of an impact with fixed contact
    /// modes) to cotangents of all data. `velocity` is replaced by the cotangent of the velocity before the stage;
    /// the cotangents of all other data are added to `adjoint`. Transpose of [`advance_along`](Self::advance_along).
    pub(super) fn pull_back(
        &self,
        frame: &Frame<'_>,
        velocity: &mut DVector<f64>,
        adjoint: &mut Adjoint,
    ) {
        let p = self.layout.unknowns;
        let mut missed: Column = smallvec![0.0; p];
        for (i, inverse) in self.inverse().chunks_exact(p.max(1)).enumerate() {
            let pushed = kernel::dot(self.pushed(i), velocity.as_slice());
            kernel::add_scaled(&mut missed, -pushed, inverse);
        }
        if adjoint.is_wanted() {
            self.pull_back_missed(frame, &missed, velocity, adjoint);
            return;
        }
        for (i, missed) in missed.iter().enumerate() {
            kernel::add_scaled(velocity.as_mut_slice(), *missed, self.asked(i));
        }
    }

    /// Converts cotangents (gradients) of the velocity after this stage (`velocity`) and of the residuals of its
    /// equations (`missed`) to cotangents of all data. `velocity` is replaced by the cotangent of the velocity before
    /// the stage; the cotangents of all other data are added to `adjoint`.
    pub(super) fn pull_back_missed(
        &self,
        frame: &Frame<'_>,
        missed: &[f64],
        velocity: &mut DVector<f64>,
        adjoint: &mut Adjoint,
    ) {
        let after = DVectorView::from_slice(self.after(), self.layout.n);
        let before = DVectorView::from_slice(self.before(), self.layout.n);
        let mut minus = DVector::zeros(self.layout.n);
        let mut loaded: Column = smallvec![0.0; self.layout.rows];
        for (equation, m) in self.mode.equations.iter().zip(missed) {
            let e = equation.rebound.value();
            let mut rate = 0.0;
            for (row, t) in &equation.velocities {
                let given = frame.row(*row);
                velocity.axpy(m * t, &given, 1.0);
                minus.axpy(m * t * e, &given, 1.0);
                rate += t * given.dot(&before);
                adjoint.add_seen(frame, *row, m * t, after);
                adjoint.add_seen(frame, *row, m * t * e, before);
            }
            adjoint.add_rebound(equation.rebound, m * rate);
            for (row, q) in &equation.impulses {
                loaded[row.index()] += m * q;
            }
            if let Some((contact, factor)) = equation.by_friction {
                adjoint.add_friction(contact, m * factor);
            }
        }
        for load in &self.mode.loads {
            let change = loaded[load.row.index()] + frame.row(load.row).dot(velocity);
            adjoint.add_friction(load.contact, load.factor * change);
        }
        for (row, l) in frame.all_rows().zip(self.impulse()) {
            adjoint.add_row(row, *l, velocity.as_view());
        }
        let change = after - before;
        adjoint.add_mass(-1.0, velocity.as_view(), change.as_view());
        *velocity += minus;
    }

    /// Returns linear forms of the residuals of the equations. All forms are zero if and only if some impulses satisfy the equations.
    /// The list is empty if contacts and constraints are linearly independent.
    pub(super) fn defects(&self) -> Vec<Column> {
        if !self.is_dependent && self.mode.n_redundant == 0 {
            return Vec::new();
        }
        let p = self.layout.unknowns;
        let row = |i: usize| {
            let matrix = &self.matrix()[i * p..(i + 1) * p];
            let mut defect: Column = smallvec![0.0; p];
            defect[i] = 1.0;
            for (k, x) in matrix.iter().enumerate() {
                kernel::add_scaled(&mut defect, -x, &self.inverse()[k * p..(k + 1) * p]);
            }
            defect
        };
        // Rows of the independent part vanish up to rounding.
        let is_one = |defect: &Column| defect.iter().any(|x| x.abs() > NEGLIGIBLE);
        (0..p).map(row).filter(is_one).collect()
    }

    /// Returns the gradients of the [defects](Self::defects) with respect to the velocity before the impact (n entries each), with
    /// the row of the equation that has the largest part. `before` is the Jacobian of the velocity before the stage.
    pub(super) fn gradients_of_defects(
        &self,
        before: &DMatrix<f64>,
    ) -> Vec<(DVector<f64>, RowIndex)> {
        let gradient = |defect: &Column| {
            let mut form = DVector::zeros(self.layout.n);
            let (mut most, mut row) = (0.0, RowIndex::new(0));
            for (i, x) in defect.iter().enumerate() {
                kernel::add_scaled(form.as_mut_slice(), *x, self.asked(i));
                let terms = self.mode.equations[i].velocities.first();
                if let Some((own, _)) = terms.filter(|_| x.abs() > most) {
                    (most, row) = (x.abs(), *own);
                }
            }
            (before.tr_mul(&form), row)
        };
        self.defects().iter().map(gradient).collect()
    }

    /// True if linearly dependent contacts can satisfy the equations of the stage for any velocity before it. `before` is the
    /// Jacobian of this velocity with respect to the velocity before the impact. If the result is false, the contact modes of the
    /// stage exist only for a set of velocities without interior.
    pub(super) fn has_room(&self, before: &DMatrix<f64>) -> bool {
        if !self.is_dependent {
            return true;
        }
        let p = self.layout.unknowns;
        let size = before.norm();
        let asked: Column = (0..p).map(|i| kernel::norm(self.asked(i)) * size).collect();
        // An equation in impulses alone asks for nothing: only the rounding errors of the impulses are left of it.
        let sums = self.inverse().chunks_exact(p);
        let sums: Column = sums.map(|row| dot_and_size(row, &asked).1).collect();
        // Equations of redundant constraints follow from the others.
        let regular = p - self.mode.n_redundant;
        let rows = self.matrix().chunks_exact(p).zip(&asked).take(regular);
        let allowed = rows.map(|(row, asked)| {
            NEGLIGIBLE * asked + Sum::ROUNDING * (asked + dot_and_size(row, &sums).1)
        });
        let allowed: Column = allowed.collect();
        let mut missed: Column = smallvec![0.0; p];
        before.column_iter().all(|column| {
            self.miss(column.as_slice(), &mut missed);
            let made = times(self.matrix(), &times(self.inverse(), &missed));
            let mut all = missed.iter().zip(&made).zip(&allowed);
            all.all(|((missed, made), allowed)| (missed - made).abs() <= *allowed)
        })
    }

    /// Returns the rounding of the Jacobian of the velocity after the stage, if that of the velocity before is about one.
    pub(super) fn rounding(&self) -> f64 {
        let asked: Column = (0..self.layout.unknowns)
            .map(|i| kernel::norm(self.asked(i)))
            .collect();
        self.rounding_of(&asked)
    }

    /// Returns the rounding of the velocity that impulses change, if the residuals that they remove have the sizes `missed`.
    fn rounding_of(&self, missed: &[f64]) -> f64 {
        let inverse = self.inverse().chunks_exact(missed.len().max(1));
        let sizes = inverse.map(|row| dot_and_size(row, missed).1).enumerate();
        Sum::ROUNDING
            * sizes.fold(0.0, |sum, (i, size)| {
                sum + size * kernel::norm(self.pushed(i))
            })
    }

    /// Returns the indices of the unknown impulses outside the maximal linearly independent set for which the equations are solved.
    /// Each of these impulses may have any value, and the impulses in the set follow from them.
    pub(super) fn free(&self) -> SmallVec<[usize; 8]> {
        if !self.is_dependent {
            return SmallVec::new();
        }
        let regular = self.mode.unknowns.len() - self.mode.n_redundant;
        (0..regular).filter(|s| self.is_free(*s)).collect()
    }

    /// True if impulses can be exchanged between dependent contacts in a way that changes the velocity after the stage. The outcome is
    /// then a member of a continuum of outcomes.
    pub(super) fn is_loose(&self) -> bool {
        if !self.is_dependent {
            return false;
        }
        let idle = idle(self.impulse());
        let unknowns = self.mode.unknowns.iter();
        let pushes: SmallVec<[bool; 8]> = unknowns.map(|u| acts(u, self.impulse(), idle)).collect();
        self.free().into_iter().any(|s| {
            let change = self.change(s);
            let may = |sign: f64| {
                let mut ranges = self.mode.ranges.iter().enumerate();
                ranges.all(|(i, range)| match *range {
                    Range::Push => pushes[i] || sign * change[i] >= -NEGLIGIBLE,
                    Range::Friction(normal, friction) => {
                        let is_own =
                            |(_, range): &(_, &Range)| *range == &Range::Friction(normal, friction);
                        let own = change.iter().zip(&self.mode.ranges).filter(is_own);
                        let size = kernel::norm(&own.map(|(x, _)| *x).collect::<Column>());
                        pushes[normal] || size <= friction * sign * change[normal] + NEGLIGIBLE
                    }
                    Range::Any => true,
                })
            };
            let rows = self.matrix().chunks_exact(self.layout.unknowns);
            let column: Column = rows.map(|row| row[s]).collect();
            self.drift(s).norm() > self.rounding_of(&column) && (may(1.0) || may(-1.0))
        })
    }

    /// Returns the changes of all unknown impulses if the free impulse `unknown` (one that may have any value) grows by one. All
    /// equations stay satisfied.
    pub(super) fn change(&self, unknown: usize) -> Column {
        let rows = self.matrix().chunks_exact(self.layout.unknowns);
        let column: Column = rows.map(|row| row[unknown]).collect();
        let mut change = times(self.inverse(), &column);
        change.iter_mut().for_each(|x| *x = -*x);
        change[unknown] += 1.0;
        change
    }

    /// Returns the change of `form`, a linear form of the impulses on rows, for the changes `change` of all unknown
    /// impulses.
    pub(super) fn shift(&self, change: &[f64], form: &Terms) -> f64 {
        let mut grows = 0.0;
        for (unknown, x) in self.mode.unknowns.iter().zip(change.iter()) {
            for (row, c) in unknown {
                let asked = form.iter().filter(|(other, _)| other == row);
                grows += c * x * asked.map(|(_, q)| q).sum::<f64>();
            }
        }
        grows
    }

    /// Returns the change of the velocity after the stage (n entries) if the free impulse `unknown` (one that may have any value) grows
    /// by one. The linearly independent impulses change so that all equations stay satisfied. The result is zero if the contacts
    /// only divide one total impulse differently.
    pub(super) fn drift(&self, unknown: usize) -> DVector<f64> {
        let mut moved = DVector::zeros(self.layout.n);
        let mut size = 0.0;
        for (i, x) in self.change(unknown).iter().enumerate() {
            let row = self.pushed(i);
            kernel::add_scaled(moved.as_mut_slice(), *x, row);
            size += kernel::norm(row) * x.abs();
        }
        if moved.norm() <= NEGLIGIBLE * size {
            moved.fill(0.0);
        }
        moved
    }

    /// True if a contact slides with friction in a round cone, so that the direction of friction rotates with the velocity.
    pub(super) fn is_curved(&self) -> bool {
        let mut equations = self.mode.equations.iter();
        equations.any(|equation| !equation.impulses.is_empty())
    }

    /// True if the impulse on a contact row is among the unknowns of the stage, even if its value is zero.
    pub(super) fn strikes(&self, row: RowIndex) -> bool {
        let mut terms = self.mode.unknowns.iter().flatten();
        terms.any(|(other, _)| *other == row)
    }

    pub(super) fn mode(&self) -> &Mode {
        &self.mode
    }

    /// True if no contact has an impulse in this stage, so that only constraints act.
    pub(super) fn is_quiet(&self) -> bool {
        !self.mode.acts
    }
}

/// Converts a cotangent (gradient) of the velocity after a chain of stages (parts of an impact with fixed contact
/// modes) to cotangents of all data. `velocity` is replaced by the cotangent of the velocity before the chain; the
/// cotangents of all other data are added to `adjoint`.
pub(super) fn chain_pull_back(
    frame: &Frame<'_>,
    stages: &[Arc<Stage>],
    velocity: &mut DVector<f64>,
    adjoint: &mut Adjoint,
) {
    for stage in stages.iter().rev() {
        stage.pull_back(frame, velocity, adjoint);
    }
}
