//! Path of Lemke's method: pivots, ratio test, ties.

mod correction;

use super::etas::Etas;
use super::ratio::{
    Ratios, Sizes, advance, keep_smallest, largest, longest_step, ratios, smallest, stablest,
    tie_rounding,
};
use super::room::reserve;
use super::scales::{Scales, Scaling};
use crate::LcpRef;
use crate::scalar::{Scalar, larger};
use carom_numeric::random::generic;
use correction::Correction;

/// From this dimension on, a generic vector is used to break ties before the unit vectors.
const GENERIC_FROM: usize = 17;

/// Marks an empty row or a nonbasic variable.
const NONE: usize = usize::MAX;

/// Outcome of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathEnd {
    /// The artificial variable has left the basis: the basis is complementary.
    Complementary,
    /// No row blocks the entering column.
    Ray,
    /// The limit on pivots was reached.
    Limit,
    /// Overflow, or the basis is singular to working precision.
    Breakdown,
}

/// Thresholds of the ratio test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    /// Entries of a column below this fraction of its largest count as zero.
    pub pivot: f64,
    /// Basic variables below this fraction of the largest count as zero, so that their rows tie.
    pub tie: f64,
}

/// Basis, inverse of the basis and right-hand side.
///
/// In scaled variables the system is $w - Mz - dz_0 = q$. Variables are numbered
/// $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}$, then the artificial one. Columns have `stride` entries, which
/// are zero beyond the n-th.
#[derive(Clone, Debug)]
pub(super) struct Tableau<T> {
    n: usize,
    stride: usize,
    /// Dimension up to which nothing has to be allocated.
    room: usize,
    /// Basic variable of each row.
    basic: Vec<usize>,
    /// Row of each basic variable; [`NONE`] for nonbasic ones.
    row_of: Vec<usize>,
    etas: Etas<T>,
    /// Values of the basic variables, one per row.
    rhs: Vec<T>,
    rhs_max: T,
    /// [`Thresholds::tie`] of the last path.
    tie: f64,
    /// Covering vector $d$ in scaled variables.
    cover: Vec<T>,
    lexicographic: Vec<T>,
    generic: Generic<T>,
    /// Remainders of the basic variables at the blocking value of the entering one.
    excess: Vec<T>,
    ties: Vec<usize>,
    scales: Scales,
    /// Basis at the start of the path, whose columns break ties.
    start: Vec<usize>,
    entering: usize,
    correction: Correction<T>,
    pub(super) n_pivots: u64,
}

/// Generic vector that precedes the unit vectors in the lexicographic order. It decides nearly every tie alone,
/// while the unit vectors may need dozens of columns.
///
/// A lexicographic order rules out cycles if every row is lexicographically positive at the first basis. This
/// remains true if a vector with positive entries is put first. The entries of this one are positive at the
/// basis of all $w$.
#[derive(Clone, Debug)]
struct Generic<T> {
    /// True for dimensions from [`GENERIC_FROM`] on, if the path starts from the basis of all $w$.
    is_used: bool,
    /// Number of entries before the padding.
    dim: usize,
    /// Entries for the original problem; equal for all problems of one size.
    posed: Vec<T>,
    /// Entries with the first `n_applied` pivots applied.
    present: Vec<T>,
    n_applied: usize,
}

/// Returns the number of pivots after which the stored list of pivots is replaced by a new factorization of the
/// basis, for `n` rows. An attempt may ask for a smaller number.
fn refactor_after(n: usize) -> usize {
    2 * n + 16
}

/// Returns the number of pivots for which memory is reserved, for `n` rows: the pivots of a factorization and those
/// that may follow. With more than a few hundred rows most paths need fewer pivots; less memory is then reserved, and
/// the list grows if necessary.
fn longest_list(n: usize) -> usize {
    if n <= 512 {
        n + refactor_after(n) + 2
    } else {
        n
    }
}

/// Returns the length of a column with `n` entries after padding to a multiple of four.
fn padded(n: usize) -> usize {
    n.next_multiple_of(4).max(4)
}

impl<T: Scalar> Tableau<T> {
    pub(super) fn new() -> Self {
        Self {
            n: 0,
            stride: 0,
            room: 0,
            basic: Vec::new(),
            row_of: Vec::new(),
            etas: Etas::new(),
            rhs: Vec::new(),
            rhs_max: T::ZERO,
            tie: 0.0,
            cover: Vec::new(),
            lexicographic: Vec::new(),
            generic: Generic {
                is_used: false,
                dim: 0,
                posed: Vec::new(),
                present: Vec::new(),
                n_applied: 0,
            },
            excess: Vec::new(),
            ties: Vec::new(),
            scales: Scales::new(),
            start: Vec::new(),
            entering: NONE,
            correction: Correction::new(),
            n_pivots: 0,
        }
    }

    /// Loads the problem $w = Mz + q$ into the tableau, with the given kind of scaling and all $w$ as basic
    /// variables.
    pub(super) fn pose(&mut self, problem: LcpRef<'_>, scaling: Scaling) {
        let n = problem.dim();
        self.n = n;
        self.stride = padded(n);
        self.reserve(n);
        self.basic.clear();
        self.basic.extend(0..n);
        self.row_of.clear();
        self.row_of.extend(0..n);
        self.row_of.resize(2 * n + 1, NONE);
        self.etas.reset(self.stride);
        self.generic.is_used = n >= GENERIC_FROM;
        self.generic.n_applied = 0;
        self.rhs_max = T::ZERO;
        self.n_pivots = 0;
        self.scales.set(problem, scaling);
        self.load_vector(problem);
    }

    /// Reserves all memory that a path of pivots with `n` rows may need, so that later problems of this size
    /// allocate nothing.
    pub(super) fn reserve(&mut self, n: usize) {
        if n > self.room {
            self.make_room(n);
        }
    }

    #[cold]
    fn make_room(&mut self, n: usize) {
        let stride = padded(n);
        self.room = n;
        self.etas.reserve(longest_list(n), stride);
        for vector in [
            &mut self.rhs,
            &mut self.cover,
            &mut self.lexicographic,
            &mut self.excess,
            &mut self.generic.posed,
            &mut self.generic.present,
        ] {
            reserve(vector, stride);
        }
        for vector in [&mut self.basic, &mut self.ties, &mut self.start] {
            reserve(vector, stride);
        }
        reserve(&mut self.row_of, 2 * n + 1);
        self.correction.reserve(stride);
        self.scales.reserve(n);
    }

    /// Sets the values of the basic variables to the scaled vector $q$. The basic variables have these values if all
    /// $w$ of the problem $w = Mz + q$ are basic.
    fn load_vector(&mut self, problem: LcpRef<'_>) {
        self.rhs.clear();
        self.scales.extend_with_vector(problem, &mut self.rhs);
        self.rhs.resize(self.stride, T::ZERO);
    }

    /// Writes the column of a variable in the scaled system $w - Mz - da = q$ into `out`, before any pivot. $d$ =
    /// `cover` is the covering vector and $a$ the artificial variable of Lemke's method. Variables are numbered
    /// $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}, a$.
    #[inline]
    fn write_column(
        scales: &Scales,
        cover: &[T],
        problem: LcpRef<'_>,
        variable: usize,
        out: &mut [T],
    ) {
        let n = problem.dim();
        if variable < n {
            // For short columns this is faster than a call.
            out.as_chunks_mut::<4>().0.fill([T::ZERO; 4]);
            out[variable] = T::ONE;
        } else if variable < 2 * n {
            let (entries, padding) = out.split_at_mut(n);
            padding.fill(T::ZERO);
            scales.negated_column(problem, variable - n, entries);
        } else {
            for (x, d) in out.iter_mut().zip(cover) {
                *x = -*d;
            }
        }
    }

    /// Computes the tableau column of a variable at the current basis, and stores this column as that of the
    /// entering variable.
    #[inline]
    fn load(&mut self, problem: LcpRef<'_>, variable: usize) {
        self.etas.make_room();
        let out = self.etas.entering_mut();
        Self::write_column(&self.scales, &self.cover, problem, variable, out);
        self.etas.apply_to_entering();
        self.entering = variable;
    }

    /// Sets the covering vector of Lemke's method: all ones if `None`, otherwise the given vector, in the units of
    /// the rows of the problem without scaling.
    pub(super) fn set_cover(&mut self, cover: Option<&[f64]>) {
        self.cover.clear();
        match cover {
            None => self.cover.resize(self.n, T::ONE),
            Some(cover) => {
                let entries = cover.iter().enumerate();
                self.cover
                    .extend(entries.map(|(i, d)| T::from_f64(self.scales.cover(i, *d))));
            }
        }
        self.cover.resize(self.stride, T::ZERO);
    }

    /// Runs Lemke's method from the current complementary basis, with at most `limit` pivots in total. `thresholds`:
    /// fractions below which numbers count as zero in the ratio test. Returns the reason why the path of pivots has
    /// ended.
    pub(super) fn follow(
        &mut self,
        problem: LcpRef<'_>,
        thresholds: Thresholds,
        limit: u64,
    ) -> PathEnd {
        let artificial = 2 * self.n;
        self.tie = thresholds.tie;
        if self.rhs.iter().all(|b| *b >= T::ZERO) {
            return PathEnd::Complementary;
        }
        if limit == 0 {
            return PathEnd::Limit;
        }
        self.start.clear();
        self.start.extend_from_slice(&self.basic);
        self.load(problem, artificial);
        let Some(row) = self.first_row() else {
            return PathEnd::Breakdown;
        };
        let mut left = self.pivot(row);
        let refactor = refactor_after(self.n);
        let mut since = 0;
        while left != artificial {
            if self.n_pivots >= limit {
                return PathEnd::Limit;
            }
            if since >= refactor {
                since = 0;
                if !self.refactor(problem) {
                    return PathEnd::Breakdown;
                }
                for b in &mut self.rhs {
                    *b = if *b < T::ZERO { T::ZERO } else { *b };
                }
            }
            let entering = if left < self.n {
                left + self.n
            } else {
                left - self.n
            };
            self.load(problem, entering);
            let row = match self.blocking_row(problem, thresholds) {
                Ok(Some(row)) => row,
                Ok(None) => return PathEnd::Ray,
                Err(()) => return PathEnd::Breakdown,
            };
            left = self.pivot(row);
            since += 1;
        }
        PathEnd::Complementary
    }

    /// Returns the row in which the artificial variable enters the basis first: the row with the lexicographically
    /// smallest vector $(b_i, p_i, e_i)/d_i$. Here $b$ are the values of the basic variables, $p$ is a vector of
    /// pseudo-random numbers (left out in small problems), $e_i$ is a unit vector, and $d$ is the covering vector. If
    /// rows are equal, the last one is taken. `None` if no basic variable is negative.
    fn first_row(&self) -> Option<usize> {
        let column = self.etas.entering();
        // The entering column is -d.
        let quotient = |x: T, b: T| if x < T::ZERO { b / -x } else { T::INFINITY };
        let smallest = smallest(column, &self.rhs, quotient);
        let mut best: Option<(usize, T)> = None;
        for (i, (x, b)) in column.iter().zip(&self.rhs).enumerate() {
            if smallest < T::ZERO && quotient(*x, *b) == smallest {
                let generic = if self.generic.is_used {
                    generic(0, i as u64)
                } else {
                    0.0
                };
                let tie = T::from_f64(generic) / -*x;
                if best.is_none_or(|(_, least)| tie <= least) {
                    best = Some((i, tie));
                }
            }
        }
        best.map(|(i, _)| i)
    }

    /// Returns the row whose basic variable reaches zero first when the entering variable grows. `None` if no basic
    /// variable decreases: the path then ends on a ray. The error means an overflow. `thresholds`: fractions below
    /// which numbers count as zero in the ratio test.
    fn blocking_row(
        &mut self,
        problem: LcpRef<'_>,
        thresholds: Thresholds,
    ) -> Result<Option<usize>, ()> {
        let column = self.etas.entering();
        let pivot = T::from_f64(thresholds.pivot);
        self.excess.resize(self.stride, T::INFINITY);
        let Ratios { most, floor, step } = ratios(column, &self.rhs, pivot, &mut self.excess);
        let zero = T::from_f64(thresholds.tie) * self.rhs_max;
        if !most.to_f64().is_finite() || !zero.to_f64().is_finite() {
            return Err(());
        }
        if step == T::INFINITY {
            // A ray or an overflow. Overflow shows as NaN, for which comparisons are false.
            let is_number = |x: &T| x.to_f64().is_finite();
            let is_ray = column.iter().all(|x| is_number(x) && *x <= floor);
            return if is_ray && self.rhs.iter().all(is_number) {
                Ok(None)
            } else {
                Err(())
            };
        }
        self.ties.clear();
        for (i, excess) in self.excess.iter().enumerate() {
            if *excess <= zero {
                self.ties.push(i);
            }
        }
        let sizes = Sizes {
            most,
            floor,
            zero,
            rhs_max: self.rhs_max,
        };
        if let Some(longest) = longest_step(column, &self.rhs, sizes, &self.ties) {
            self.ties.clear();
            let rows = column.iter().zip(&self.rhs).zip(&self.excess).enumerate();
            for (i, ((x, b), excess)) in rows {
                if *excess <= zero || *x > floor && *b - longest * *x <= T::ZERO {
                    self.ties.push(i);
                }
            }
        }
        if let [only] = self.ties[..] {
            return Ok(Some(only));
        }
        if self.ties.is_empty() {
            // The variables are so small that even the smallest quotient fails the test because of rounding.
            let mut rows = column.iter().zip(&self.rhs);
            let smallest = rows.position(|(x, b)| *x > floor && *b / *x == step);
            return smallest.map(Some).ok_or(());
        }
        let artificial = self.row_of[2 * self.n];
        if self.ties.contains(&artificial) {
            return Ok(Some(artificial));
        }
        Ok(Some(self.break_ties(problem)))
    }

    /// Selects one of the tied rows by the lexicographic rule: the row of the basis inverse, divided by the entry
    /// in the entering column, must be smallest.
    ///
    /// The columns of the inverse belong to the variables that were basic at the start. These columns are computed
    /// one at a time until a single row is left. In larger problems a column of pseudo-random numbers is compared
    /// first.
    fn break_ties(&mut self, problem: LcpRef<'_>) -> usize {
        if self.generic.is_used {
            self.update_generic();
            self.keep_smallest(|tableau| &tableau.generic.present);
            if let [only] = self.ties[..] {
                return only;
            }
        }
        self.lexicographic.resize(self.stride, T::ZERO);
        for j in 0..self.n {
            let variable = self.start[j];
            let row = self.row_of[variable];
            if row != NONE {
                // This column is a unit vector: only the entry in its own row is nonzero, and it is positive.
                self.ties.retain(|i| *i != row);
            } else {
                let out = &mut self.lexicographic;
                Self::write_column(&self.scales, &self.cover, problem, variable, out);
                self.etas.apply(out, 0);
                self.keep_smallest(|tableau| &tableau.lexicographic);
            }
            if let [only] = self.ties[..] {
                return only;
            }
        }
        // The rows are equal to working precision: the largest pivot is chosen.
        stablest(&self.ties, self.etas.entering()).unwrap_or(0)
    }

    /// Applies those pivots that were made since the last tie to the vector of pseudo-random numbers that breaks ties.
    fn update_generic(&mut self) {
        let Generic {
            dim,
            posed,
            present,
            n_applied,
            ..
        } = &mut self.generic;
        if *n_applied == 0 {
            if *dim != self.n {
                *dim = self.n;
                let entries = (0..self.n).map(|j| T::from_f64(generic(0, j as u64)));
                posed.clear();
                posed.extend(entries);
                posed.resize(self.stride, T::ZERO);
            }
            present.clear();
            present.extend_from_slice(posed);
        }
        self.etas.apply(present, *n_applied);
        *n_applied = self.etas.len();
    }

    /// Keeps only those tied rows in which the quotient of the entries of the given column and of the entering
    /// column is smallest.
    fn keep_smallest(&mut self, column: impl Fn(&Self) -> &[T]) {
        let mut ties = std::mem::take(&mut self.ties);
        let (x, u) = (self.etas.entering(), column(self));
        let zero = T::from_f64(tie_rounding::<T>(self.n)) * largest(u);
        let kept = keep_smallest(&mut ties, x, u, zero);
        ties.truncate(kept);
        self.ties = ties;
    }

    /// Exchanges the entering variable with the basic variable of a row. Returns the number of the variable that
    /// leaves the basis.
    #[inline]
    fn pivot(&mut self, row: usize) -> usize {
        let inverse = T::ONE / self.etas.entering()[row];
        let step = self.rhs[row] * inverse;
        let most = advance(&mut self.rhs, self.etas.entering(), step);
        self.rhs[row] = larger(step, T::ZERO);
        self.rhs_max = larger(most, step);
        self.etas.commit(row, inverse);
        self.n_pivots += 1;
        self.exchange(row, self.entering)
    }

    fn exchange(&mut self, row: usize, entering: usize) -> usize {
        let leaving = std::mem::replace(&mut self.basic[row], entering);
        if leaving != NONE {
            self.row_of[leaving] = NONE;
        }
        self.row_of[entering] = row;
        leaving
    }

    /// Recomputes the inverse of the current basis from the problem itself, and with it the values of the basic
    /// variables. Returns false if the basis is singular to working precision.
    ///
    /// The column of each basic $w$ is already a unit vector. Every other basic variable gets the free row in which
    /// its column has the largest entry.
    pub(super) fn refactor(&mut self, problem: LcpRef<'_>) -> bool {
        let n = self.n;
        self.etas.reset(self.stride);
        self.generic.n_applied = 0;
        for variable in 0..n {
            if self.row_of[variable] == NONE {
                self.basic[variable] = NONE;
            } else {
                self.row_of[variable] = variable;
                self.basic[variable] = variable;
            }
        }
        for variable in n..=2 * n {
            if self.row_of[variable] == NONE {
                continue;
            }
            self.load(problem, variable);
            let (mut row, mut largest) = (NONE, T::ZERO);
            let rows = self.etas.entering().iter().zip(&self.basic).enumerate();
            for (i, (x, basic)) in rows {
                let x = if *x < T::ZERO { -*x } else { *x };
                if *basic == NONE && x > largest {
                    (row, largest) = (i, x);
                }
            }
            if row == NONE || !largest.to_f64().is_finite() {
                return false;
            }
            let inverse = T::ONE / self.etas.entering()[row];
            self.etas.commit(row, inverse);
            self.basic[row] = variable;
            self.row_of[variable] = row;
        }
        self.load_vector(problem);
        self.etas.apply(&mut self.rhs, 0);
        self.rhs_max = T::ZERO;
        for b in &self.rhs {
            self.rhs_max = larger(*b, self.rhs_max);
        }
        true
    }

    /// Changes to a given complementary basis, from which Lemke's method then starts. `basis` is `true` where $z_j$ is
    /// basic. The covering vector is set to ones in the coordinates of that basis. Returns false if the basis is
    /// singular. `thresholds`: fractions below which numbers count as zero.
    pub(super) fn start_from(
        &mut self,
        problem: LcpRef<'_>,
        basis: &[bool],
        thresholds: Thresholds,
    ) -> bool {
        let n = self.n;
        self.generic.is_used &= !basis.contains(&true);
        for (j, is_basic) in basis.iter().enumerate().take(n) {
            let (in_basis, outside) = if *is_basic { (n + j, j) } else { (j, n + j) };
            self.row_of[in_basis] = j;
            self.row_of[outside] = NONE;
        }
        if !self.refactor(problem) {
            return false;
        }
        let zero = T::from_f64(-thresholds.tie) * self.rhs_max;
        for b in &mut self.rhs {
            if *b < T::ZERO && *b >= zero {
                *b = T::ZERO;
            }
        }
        // The covering vector is the sum of the basic columns.
        self.cover.clear();
        self.cover.resize(self.stride, T::ZERO);
        self.lexicographic.resize(self.stride, T::ZERO);
        for variable in 0..2 * n {
            if self.row_of[variable] != NONE {
                let out = &mut self.lexicographic;
                Self::write_column(&self.scales, &[], problem, variable, out);
                for (d, x) in self.cover.iter_mut().zip(out) {
                    *d = *d + *x;
                }
            }
        }
        true
    }

    /// Writes the values of the unknowns $z$ of the problem $w = Mz + q$ (n entries) in the units of the problem
    /// without scaling.
    #[inline]
    pub(super) fn write_variables(&self, z: &mut [f64]) {
        let rows = &self.row_of[self.n..2 * self.n];
        for (j, (z, row)) in z.iter_mut().zip(rows).enumerate() {
            *z = match self.rhs.get(*row) {
                Some(b) => self.scales.variable(j, b.to_f64()),
                None => 0.0,
            };
        }
    }

    /// Sets to zero the entries of `z` (n entries) whose basic variables are within rounding error of zero. Returns
    /// true if an entry has changed.
    pub(super) fn drop_noise(&self, z: &mut [f64]) -> bool {
        let zero = T::from_f64(self.tie) * self.rhs_max;
        let rows = &self.row_of[self.n..2 * self.n];
        let mut is_changed = false;
        for (z, row) in z.iter_mut().zip(rows) {
            if *z != 0.0 && self.rhs.get(*row).is_some_and(|b| *b <= zero) {
                *z = 0.0;
                is_changed = true;
            }
        }
        is_changed
    }

    /// Writes the current basis of the problem $w = Mz + q$ as one flag per row: `true` where $z_i$ is basic.
    pub(super) fn write_basis(&self, basis: &mut Vec<bool>) {
        basis.clear();
        let rows = &self.row_of[self.n..2 * self.n];
        basis.extend(rows.iter().map(|row| *row != NONE));
    }

    /// Writes the direction of the variables $z$ (n entries) along the ray on which Lemke's method ended, up to a
    /// positive factor.
    pub(super) fn write_ray(&self, u: &mut [f64]) {
        let x = self.etas.entering();
        let rows = &self.row_of[self.n..2 * self.n];
        for (j, (u, row)) in u.iter_mut().zip(rows).enumerate() {
            let scaled = match x.get(*row) {
                Some(x) if *x < T::ZERO => -x.to_f64(),
                None if self.entering == self.n + j => 1.0,
                _ => 0.0,
            };
            *u = self.scales.direction(j, scaled);
        }
    }
}
