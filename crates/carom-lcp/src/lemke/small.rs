//! Lemke's method for problems of up to ten rows, with lengths known at compile time.
//!
//! The rules are those of [`super::tableau`]. The full condensed tableau is updated instead of keeping a list
//! of pivots: for short columns, updating all of them takes less time than applying the pivots to one column in
//! sequence. Only ordinary problems are solved here. If the path ends on a ray or is long, if numbers are near
//! the limits of their range, or if an answer needs corrections, the general code solves the problem from the
//! beginning.

use super::ratio::{
    Sizes, advance_lanes, keep_smallest, largest_fixed, longest_step, ratios_fixed, stablest,
    tie_rounding,
};
use super::scales::inverse_power;
use super::tableau::Thresholds;
use crate::LcpRef;
use crate::balance::is_surely_light;
use crate::certificate::{Certificate, assess_fixed};
use crate::scalar::{larger, reduce};
use crate::small_enclosure::MAX_SMALL_DIM;

/// Range of the largest entries of matrix and vector within which nothing overflows.
const ORDINARY: std::ops::Range<f64> = 1e-60..1e60;

/// Largest number of pivots of an ordinary path.
const MAX_PIVOTS: u64 = 8 * MAX_SMALL_DIM as u64;

/// Answer whose rows are accurate enough.
pub(super) struct Found {
    pub certificate: Certificate,
    pub n_pivots: u64,
    /// True if the answer is certainly not heavy, that is, large compared with the data.
    pub is_light: bool,
}

/// Limits set by the caller, and buffers for the answer (n entries each).
pub(super) struct Small<'a> {
    pub thresholds: Thresholds,
    /// Covering vector (n entries) in the units of $w$. `None` means ones.
    pub cover: Option<&'a [f64]>,
    pub max_pivots: u64,
    /// Largest residual with which an answer is accepted.
    pub max_residual: f64,
    pub z: &'a mut [f64],
    pub w: &'a mut [f64],
    /// Sums of the magnitudes of the terms of each row.
    pub terms: &'a mut [f64],
    pub basis: &'a mut [bool],
}

impl Small<'_> {
    /// Solves a small problem by Lemke's method and writes the answer into the buffers. Returns `None` if the
    /// general version of the method is needed: for extreme numbers, long paths, rays or inaccurate answers. The
    /// buffers are then unspecified.
    #[inline]
    pub(super) fn solve(&mut self, problem: LcpRef<'_>) -> Option<Found> {
        let is_ordinary = ORDINARY.contains(&problem.matrix_max())
            && (ORDINARY.contains(&problem.vector_max()) || problem.vector_max() == 0.0);
        if !is_ordinary {
            return None;
        }
        match problem.dim() {
            1 => self.run::<1, 2>(problem),
            2 => self.run::<2, 3>(problem),
            3 => self.run::<3, 4>(problem),
            4 => self.run::<4, 5>(problem),
            5 => self.run::<5, 6>(problem),
            6 => self.run::<6, 7>(problem),
            7 => self.run::<7, 8>(problem),
            8 => self.run::<8, 9>(problem),
            9 => self.run::<9, 10>(problem),
            10 => self.run::<10, 11>(problem),
            _ => None,
        }
    }

    /// Solves a problem with `N` rows, a number known at compile time, by Lemke's method. `M` must be `N` + 1.
    /// Returns `None` if the general version of the method is needed.
    fn run<const N: usize, const M: usize>(&mut self, problem: LcpRef<'_>) -> Option<Found> {
        let columns = problem.matrix().as_chunks::<N>().0;
        let vector = problem.vector().first_chunk::<N>()?;
        let cover = match self.cover {
            Some(cover) => cover.first_chunk::<N>()?,
            None => &[1.0; N],
        };
        let scale = inverse_power(problem.matrix_max());
        let scaled = Posed {
            columns,
            scale,
            vector,
            cover,
        };
        let path = Path::<N, M>::follow(&scaled, self.thresholds, self.max_pivots)?;
        let z = self.z.first_chunk_mut::<N>()?;
        let w = self.w.first_chunk_mut::<N>()?;
        let terms = self.terms.first_chunk_mut::<N>()?;
        let basis = self.basis.first_chunk_mut::<N>()?;
        *z = [0.0; N];
        *basis = [false; N];
        for (variable, value) in path.basic.into_iter().zip(path.rhs) {
            if let Some(j) = variable.checked_sub(N).filter(|j| *j < N) {
                z[j] = value * scale;
                basis[j] = true;
            }
        }
        let mut found = assess_fixed(problem, columns, vector, z, w, terms)?;
        if !found.holds_by_rows {
            // A row without other terms may contain only the rounding error of a variable that is zero.
            let zero = self.thresholds.tie * path.rhs_max;
            for (variable, value) in path.basic.into_iter().zip(path.rhs) {
                if value <= zero
                    && let Some(z) = variable.checked_sub(N).and_then(|j| z.get_mut(j))
                {
                    *z = 0.0;
                }
            }
            found = assess_fixed(problem, columns, vector, z, w, terms)?;
        }
        let is_fine = found.holds_by_rows && found.certificate.residual <= self.max_residual;
        is_fine.then(|| Found {
            certificate: found.certificate,
            n_pivots: path.n_pivots,
            is_light: is_surely_light(terms, vector),
        })
    }
}

/// System $w - sMz' - dz_0 = q$ with $z = sz'$, $s$ = `scale` a power of two and $d$ = `cover`.
struct Posed<'a, const N: usize> {
    columns: &'a [[f64; N]],
    scale: f64,
    vector: &'a [f64; N],
    cover: &'a [f64; N],
}

/// Complementary basis at the end of a path.
///
/// Variables are numbered $w_0, \dots, w_{N-1}, z_0, \dots, z_{N-1}$, then the artificial variable.
struct Path<const N: usize, const M: usize> {
    /// Basic variable of each row.
    basic: [usize; N],
    /// Values of the basic variables, one per row.
    rhs: [f64; N],
    /// Largest value of a basic variable.
    rhs_max: f64,
    n_pivots: u64,
}

impl<const N: usize, const M: usize> Path<N, M> {
    #[inline]
    fn follow(posed: &Posed<'_, N>, thresholds: Thresholds, max_pivots: u64) -> Option<Self> {
        let vector = posed.vector;
        let mut path = Self {
            basic: std::array::from_fn(|i| i),
            rhs: *vector,
            rhs_max: 0.0,
            n_pivots: 0,
        };
        if vector.iter().all(|q| *q >= 0.0) {
            return Some(path);
        }
        let limit = max_pivots.min(MAX_PIVOTS);
        if limit == 0 {
            return None;
        }
        // Columns of the nonbasic variables; the last column belongs to the artificial variable.
        let mut tableau = [posed.cover.map(|d| -d); M];
        for (entries, column) in tableau.iter_mut().zip(posed.columns) {
            *entries = column.map(|m| m * -posed.scale);
        }
        // Column of the nonbasic variable of each pair (w, z). The pair of the variable that left last has two
        // nonbasic variables; the column of the second is `spare`.
        let mut slot: [usize; N] = std::array::from_fn(|j| j);
        let mut spare = N;
        // The last of the smallest quotients, as in the lexicographic order.
        let (mut first, mut least) = (0, f64::INFINITY);
        for (i, (q, d)) in vector.iter().zip(posed.cover).enumerate() {
            let quotient = q / d;
            first = if quotient <= least { i } else { first };
            least = if quotient <= least { quotient } else { least };
        }
        path.advance(&tableau[N], first);
        exchange(&mut tableau, N, first);
        path.basic[first] = 2 * N;
        let mut left = first;
        loop {
            if path.n_pivots >= limit {
                return None;
            }
            let (pair, entering) = if left < N {
                (left, left + N)
            } else {
                (left - N, left - N)
            };
            let at = std::mem::replace(&mut slot[pair], spare);
            spare = at;
            let excess = ratios_fixed(&tableau[at], &path.rhs, thresholds.pivot);
            let zero = thresholds.tie * path.rhs_max;
            if excess[first] <= zero {
                path.advance(&tableau[at], first);
                path.basic[first] = entering;
                return Some(path);
            }
            let (mut count, mut ties) = (0, [0; N]);
            for (i, excess) in excess.iter().enumerate() {
                ties[count] = i;
                count += usize::from(*excess <= zero);
            }
            let column = &tableau[at];
            let most = largest_fixed(column);
            let floor = thresholds.pivot * most;
            let sizes = Sizes {
                most,
                floor,
                zero,
                rhs_max: path.rhs_max,
            };
            if let Some(longest) = longest_step(column, &path.rhs, sizes, &ties[..count]) {
                count = 0;
                for (i, (x, b)) in column.iter().zip(&path.rhs).enumerate() {
                    ties[count] = i;
                    let is_tie = *x > floor && b - longest * x <= 0.0;
                    count += usize::from(is_tie || excess[i] <= zero);
                }
                if ties[..count].contains(&first) {
                    path.advance(column, first);
                    path.basic[first] = entering;
                    return Some(path);
                }
            }
            let row = match count {
                0 => return None,
                1 => ties[0],
                _ => path.break_ties(&tableau, &slot, at, (pair, entering), &mut ties[..count])?,
            };
            path.advance(&tableau[at], row);
            exchange(&mut tableau, at, row);
            left = std::mem::replace(&mut path.basic[row], entering);
        }
    }

    /// Selects one of the rows `ties`, which tie in the ratio test, by the lexicographic rule. The rule compares these
    /// rows of the basis inverse, each divided by its entry in the entering column. `at` is the number of the entering
    /// column in the tableau. `slot` holds for each pair ($w_j$, $z_j$) the number of the column of its nonbasic
    /// variable. `pair` and `entering` are the numbers of the entering pair and of the entering variable.
    #[cold]
    fn break_ties(
        &self,
        tableau: &[[f64; N]; M],
        slot: &[usize; N],
        at: usize,
        (pair, entering): (usize, usize),
        ties: &mut [usize],
    ) -> Option<usize> {
        let mut count = ties.len();
        for (j, slot) in slot.iter().enumerate() {
            if let Some(row) = self.basic.iter().position(|variable| *variable == j) {
                // This column is a unit vector: only the entry in its own row is nonzero, and it is positive.
                if let Some(k) = ties[..count].iter().position(|i| *i == row) {
                    ties[k..count].rotate_left(1);
                    count -= 1;
                }
            } else {
                // If this slack variable is entering, the column recorded for its pair belongs to the variable
                // that left.
                let column = if j == pair && entering == j {
                    at
                } else {
                    *slot
                };
                let u = &tableau[column];
                let zero = tie_rounding::<f64>(N) * largest_fixed(u);
                count = keep_smallest(&mut ties[..count], &tableau[at], u, zero);
            }
            if count <= 1 {
                return ties[..count].first().copied();
            }
        }
        stablest(&ties[..count], &tableau[at])
    }

    /// Increases the nonbasic variable of `column` until the basic variable of `row` is zero, and updates the
    /// values of the basic variables.
    #[inline(always)]
    fn advance(&mut self, column: &[f64; N], row: usize) {
        let step = self.rhs[row] * (1.0 / column[row]);
        let mut most = [0.0; N];
        advance_lanes(&mut self.rhs, column, step, &mut most);
        self.rhs[row] = larger(step, 0.0);
        self.rhs_max = larger(reduce(most, larger), step);
        self.n_pivots += 1;
    }
}

/// Updates the tableau for the exchange of the nonbasic variable of column `at` with the basic variable of `row`.
/// The column then belongs to the variable that has left the basis.
#[inline(always)]
fn exchange<const N: usize, const M: usize>(tableau: &mut [[f64; N]; M], at: usize, row: usize) {
    let entering = tableau[at];
    let inverse = 1.0 / entering[row];
    for column in tableau.iter_mut() {
        let t = column[row] * inverse;
        for i in 0..N {
            column[i] -= t * entering[i];
        }
        column[row] = t;
    }
    tableau[at] = entering.map(|x| -(inverse * x));
    tableau[at][row] = inverse;
}
