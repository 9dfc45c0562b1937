//! Damped least squares with inequality conditions, by active sets.

use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Smallest damping that is tried.
pub(super) const LEAST_DAMPING: f64 = 1e-8;

/// Largest damping that is tried.
const MOST_DAMPING: f64 = 10.0;

/// Ratio of successive damping values.
const DAMPING_STEP: f64 = 4.0;

/// Number of iterations in which all wrong conditions change together. Afterwards one condition changes at a time.
const MAX_BLOCKS: usize = 8;

/// Number of iterations in which one condition changes at a time. Without them one in twenty members among rolling balls is
/// lost.
const MAX_SINGLE: usize = 16;

/// Least-squares problem for small changes of the normal impulses, to first order: reach the target velocities, open no
/// contact that pushes, and keep every impulse above its floor.
pub(super) struct LeastSquares {
    /// Effects of unit changes, unknowns × conditions: first the targets, then the normal velocities of contacts that
    /// push.
    rows: DMatrix<f64>,
    n_targets: usize,
    /// Deficit of each condition: wanted velocity minus current velocity.
    lacking: Vec<f64>,
    /// Lower bound of each change.
    floor: Vec<f64>,
    /// Sum of the squares of the target rows.
    size: f64,
    /// Sum of the products of the target rows with themselves, unknowns × unknowns: the lower triangle.
    target_products: DMatrix<f64>,
    reduced: Reduced,
}

/// Problem reduced to the unknowns that are not at their lower bounds. Minima for several dampings and active conditions
/// share it.
struct Reduced {
    /// Unknowns that are not at their lower bounds.
    free: Vec<usize>,
    /// Effects of these unknowns, free unknowns × conditions.
    rows: DMatrix<f64>,
}

impl Reduced {
    /// Reduces the problem with these effects, unknowns × conditions, to the unknowns `free`.
    fn new(rows: &DMatrix<f64>, free: Vec<usize>) -> Self {
        let rows = if free.len() == rows.nrows() {
            rows.clone()
        } else {
            rows.select_rows(&free)
        };
        Self { free, rows }
    }

    /// Returns the products of the effects on the given conditions: conditions × conditions. Only the lower triangle is
    /// set.
    fn gram(&self, conditions: &[usize]) -> DMatrix<f64> {
        let mut system = DMatrix::zeros(conditions.len(), conditions.len());
        for (column, s) in conditions.iter().enumerate() {
            for (row, r) in conditions.iter().enumerate().skip(column) {
                system[(row, column)] = self.rows.column(*r).dot(&self.rows.column(*s));
            }
        }
        system
    }

    /// Returns the sum, over the conditions, of the products of the effects on each condition with themselves: free
    /// unknowns × free unknowns. Only the lower triangle is set. `targets` is the sum over the targets for all unknowns,
    /// `others` lists the other conditions.
    fn normal_equations(&self, targets: &DMatrix<f64>, others: &[usize]) -> DMatrix<f64> {
        let n = self.free.len();
        let mut system = DMatrix::zeros(n, n);
        for (column, s) in self.free.iter().enumerate() {
            for (row, r) in self.free.iter().enumerate().skip(column) {
                system[(row, column)] = targets[(*r, *s)];
            }
        }
        add_products(&mut system, &self.rows, others);
        system
    }

    /// Returns the sum of the effects on the given conditions, each multiplied by its factor (free unknowns).
    fn combined(&self, conditions: &[usize], factors: &DVector<f64>) -> DVector<f64> {
        let n = self.free.len();
        let mut sum = DVector::zeros(n);
        for (r, factor) in conditions.iter().zip(factors.iter()) {
            let effects = &self.rows.as_slice()[r * n..(r + 1) * n];
            kernel::add_scaled(sum.as_mut_slice(), *factor, effects);
        }
        sum
    }
}

/// Adds the products of the columns `conditions` of `effects` with themselves to the lower triangle of `system`.
fn add_products(system: &mut DMatrix<f64>, effects: &DMatrix<f64>, conditions: &[usize]) {
    let n = effects.nrows();
    let of = |r: usize| &effects.as_slice()[r * n..(r + 1) * n];
    let (fours, rest) = conditions.as_chunks::<4>();
    // Four products at once save most of the loads and stores; their order, and so the rounding, is that of the loop below.
    for four in fours {
        let [a, b, c, d] = four.map(of);
        for (j, column) in system.as_mut_slice().chunks_exact_mut(n.max(1)).enumerate() {
            let lower = column[j..].iter_mut().zip(&a[j..]).zip(&b[j..]);
            for (((x, a_i), b_i), (c_i, d_i)) in lower.zip(c[j..].iter().zip(&d[j..])) {
                *x = *x + a[j] * a_i + b[j] * b_i + c[j] * c_i + d[j] * d_i;
            }
        }
    }
    for r in rest {
        let effects = of(*r);
        for (j, column) in system.as_mut_slice().chunks_exact_mut(n.max(1)).enumerate() {
            kernel::add_scaled(&mut column[j..], effects[j], &effects[j..]);
        }
    }
}

/// Active set of a minimum.
struct ActiveSet {
    /// True for unknowns at their floor.
    is_low: Vec<bool>,
    /// True for pushing contacts that would open.
    opens: Vec<bool>,
}

impl ActiveSet {
    /// Marks an inequality as active or inactive. The index `condition` counts all inequalities: first one per unknown
    /// (its lower bound), then one per pushing contact (it must not open).
    fn set(&mut self, condition: usize, is_active: bool) {
        let mut all = self.is_low.iter_mut().chain(&mut self.opens);
        if let Some(entry) = all.nth(condition) {
            *entry = is_active;
        }
    }
}

impl LeastSquares {
    /// Creates the problem from the effects of unit changes (`rows`, unknowns × conditions), the number of targets among
    /// the conditions, the deficit of each condition, and the lower bound of each change.
    pub(super) fn new(
        rows: DMatrix<f64>,
        n_targets: usize,
        lacking: Vec<f64>,
        floor: Vec<f64>,
    ) -> Self {
        let targets: Vec<usize> = (0..n_targets).collect();
        let mut target_products = DMatrix::zeros(rows.nrows(), rows.nrows());
        add_products(&mut target_products, &rows, &targets);
        Self {
            size: rows.columns(0, n_targets).norm_squared(),
            target_products,
            reduced: Reduced::new(&rows, (0..rows.nrows()).collect()),
            rows,
            n_targets,
            lacking,
            floor,
        }
    }

    /// Finds changes of the impulses that bring the velocities near their targets. The damping is the smallest for which
    /// no change exceeds `reach`. `guess` is the damping that is tried first if the smallest damping of all does not
    /// suffice. Returns the damping, the changes and the largest velocity by which a target is still missed; `None` if no
    /// damping suffices. `work` counts multiply-adds.
    pub(super) fn within(
        &mut self,
        reach: f64,
        guess: f64,
        work: &mut u64,
    ) -> Option<(f64, DVector<f64>, f64)> {
        let mut active = self.nothing_active();
        let mut damped = |damping: f64| {
            let (changes, misses) = self.least(damping, &mut active, work)?;
            (changes.amax() <= reach).then_some((damping, changes, misses))
        };
        if let Some(found) = damped(LEAST_DAMPING) {
            return Some(found);
        }
        let mut damping = guess;
        let mut found = damped(damping);
        if found.is_some() {
            while damping > LEAST_DAMPING * DAMPING_STEP {
                damping /= DAMPING_STEP;
                match damped(damping) {
                    Some(longer) => found = Some(longer),
                    None => break,
                }
            }
            return found;
        }
        while damping < MOST_DAMPING && found.is_none() {
            damping *= DAMPING_STEP;
            found = damped(damping);
        }
        found
    }

    /// Minimizes the sum of the squares of the velocities by which targets are missed and of the squares of the damped
    /// changes of the impulses. The damping is relative to the root of the sum of the squares of the matrix entries.
    /// Returns the changes and the largest velocity by which a target is still missed. `active` is a guess of the
    /// active inequalities, and receives the final ones. `work` counts multiply-adds. `None` if the minimum is not
    /// found.
    fn least(
        &mut self,
        damping: f64,
        active: &mut ActiveSet,
        work: &mut u64,
    ) -> Option<(DVector<f64>, f64)> {
        let soft = damping * damping * self.size;
        let (changes, is_minimum) = self.in_blocks(soft, active, work)?;
        let misses = self.misses(&changes);
        if is_minimum || misses < self.misses(&DVector::zeros(changes.len())) {
            return Some((changes, misses));
        }
        let changes = self.one_by_one(soft, active, work)?;
        let misses = self.misses(&changes);
        Some((changes, misses))
    }

    /// Returns the largest velocity by which a target is missed or a pushing contact opens after `changes` of the
    /// impulses, to first order.
    fn misses(&self, changes: &DVector<f64>) -> f64 {
        let targets = (0..self.n_targets).map(|r| self.left(r, changes).abs());
        let opened = self.pushing().map(|r| -self.left(r, changes));
        targets.chain(opened).fold(0.0, f64::max)
    }

    /// Returns the indices of the conditions that keep pushing contacts from opening, as a range.
    fn pushing(&self) -> std::ops::Range<usize> {
        self.n_targets..self.lacking.len()
    }

    /// Returns the first guess of the active inequalities: those of the contacts that push and already open. No unknown
    /// is at its lower bound.
    fn nothing_active(&self) -> ActiveSet {
        ActiveSet {
            is_low: vec![false; self.floor.len()],
            opens: self.pushing().map(|r| self.lacking[r] < 0.0).collect(),
        }
    }

    /// Minimizes the squares of missed velocities and damped changes by an active-set method that corrects all wrongly
    /// active or inactive inequalities together. Returns the changes of the impulses, and true if the active set
    /// converged. Otherwise the changes are raised to their lower bounds. `soft` is the weight of the squared changes;
    /// `active` is a guess of the active inequalities and receives the final ones; `work` counts multiply-adds.
    fn in_blocks(
        &mut self,
        soft: f64,
        active: &mut ActiveSet,
        work: &mut u64,
    ) -> Option<(DVector<f64>, bool)> {
        let mut last = None;
        for _ in 0..MAX_BLOCKS {
            let (mut changes, gradient) = self.minimum(active, soft, work)?;
            let mut is_same = true;
            for (j, is_low) in active.is_low.iter_mut().enumerate() {
                let is_lower = if *is_low {
                    gradient[j] >= 0.0
                } else {
                    changes[j] < self.floor[j]
                };
                is_same &= is_lower == *is_low;
                *is_low = is_lower;
            }
            for (r, opens) in self.pushing().zip(&mut active.opens) {
                let is_opening = self.left(r, &changes) < 0.0;
                is_same &= is_opening == *opens;
                *opens = is_opening;
            }
            if is_same {
                return Some((changes, true));
            }
            for (y, floor) in changes.iter_mut().zip(&self.floor) {
                *y = y.max(*floor);
            }
            last = Some((changes, false));
        }
        last
    }

    /// Minimizes by an active-set method that corrects one inequality at a time, so that the objective (squares of
    /// missed velocities and damped changes) decreases. Returns the changes of the impulses. `soft` is the weight of
    /// the squared changes, `active` receives the final active set, `work` counts multiply-adds.
    fn one_by_one(
        &mut self,
        soft: f64,
        active: &mut ActiveSet,
        work: &mut u64,
    ) -> Option<DVector<f64>> {
        let n = self.floor.len();
        *active = self.nothing_active();
        let mut changes = DVector::zeros(n);
        for _ in 0..MAX_SINGLE {
            let (best, gradient) = self.minimum(active, soft, work)?;
            let way = &best - &changes;
            // The first condition that becomes active on the way.
            let (mut part, mut met) = (1.0, None);
            for j in (0..n).filter(|j| !active.is_low[*j] && best[*j] < self.floor[*j]) {
                let to_floor = ((self.floor[j] - changes[j]) / way[j]).max(0.0);
                if to_floor < part {
                    (part, met) = (to_floor, Some(j));
                }
            }
            for (k, r) in self.pushing().enumerate() {
                let (now, then) = (self.left(r, &changes), self.left(r, &best));
                if !active.opens[k] && then < 0.0 {
                    let to_zero = (now / (now - then)).max(0.0);
                    if to_zero < part {
                        (part, met) = (to_zero, Some(n + k));
                    }
                }
            }
            changes.axpy(part, &way, 1.0);
            if let Some(condition) = met {
                active.set(condition, true);
                continue;
            }
            // The active condition whose release gains most.
            let low = (0..n)
                .filter(|j| active.is_low[*j])
                .map(|j| (j, -gradient[j]));
            let opens = self.pushing().enumerate().filter(|(k, _)| active.opens[*k]);
            let opens = opens.map(|(k, r)| (n + k, self.left(r, &changes)));
            let hinders = low.chain(opens).filter(|(_, much)| *much > 0.0);
            let Some((condition, _)) = hinders.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            active.set(condition, false);
        }
        Some(changes)
    }

    /// Minimizes the squares of missed velocities and damped changes for fixed active inequalities. Returns the changes
    /// of the impulses and the gradient of this objective. `soft` is the weight of the squared changes; `work` counts
    /// multiply-adds.
    fn minimum(
        &mut self,
        active: &ActiveSet,
        soft: f64,
        work: &mut u64,
    ) -> Option<(DVector<f64>, DVector<f64>)> {
        let opens = self.pushing().zip(&active.opens);
        let opens = opens.filter(|(_, opens)| **opens).map(|(r, _)| r);
        let conditions: Vec<usize> = (0..self.n_targets).chain(opens).collect();
        let low = active.is_low.iter().zip(&self.floor);
        let mut changes = DVector::from_iterator(
            self.floor.len(),
            low.map(|(is_low, floor)| if *is_low { *floor } else { 0.0 }),
        );
        let free: Vec<usize> = (0..self.floor.len())
            .filter(|j| !active.is_low[*j])
            .collect();
        if free != self.reduced.free {
            self.reduced = Reduced::new(&self.rows, free);
        }
        let (k, n) = (conditions.len(), self.reduced.free.len());
        let lacking = DVector::from_fn(k, |r, _| self.left(conditions[r], &changes));
        // Solves the smaller of the two equivalent systems.
        let found = if n <= k {
            let others = &conditions[self.n_targets..];
            let mut system = self.reduced.normal_equations(&self.target_products, others);
            (0..n).for_each(|j| system[(j, j)] += soft);
            let rhs = self.reduced.combined(&conditions, &lacking);
            system.cholesky()?.solve(&rhs)
        } else {
            let mut system = self.reduced.gram(&conditions);
            (0..k).for_each(|r| system[(r, r)] += soft);
            let factors = system.cholesky()?.solve(&lacking);
            self.reduced.combined(&conditions, &factors)
        };
        let small = n.min(k);
        *work += (small * small * (n.max(k) + small / 3) + 2 * n * k) as u64;
        // This form also catches NaN.
        if !found.iter().all(|y| y.is_finite()) {
            return None;
        }
        for (j, y) in self.reduced.free.iter().zip(found.iter()) {
            changes[*j] = *y;
        }
        let mut gradient = soft * &changes;
        for r in conditions {
            let column = self.rows.column(r);
            kernel::add_scaled(
                gradient.as_mut_slice(),
                -self.left(r, &changes),
                column.as_slice(),
            );
        }
        Some((changes, gradient))
    }

    /// Returns the velocity by which condition `r` is still missed after `changes` of the impulses: the wanted velocity
    /// minus the velocity to first order.
    fn left(&self, r: usize, changes: &DVector<f64>) -> f64 {
        self.lacking[r] - self.rows.column(r).dot(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of four columns at once, and the remaining ones, add up to the same bits as a plain sum.
    #[test]
    fn normal_equations_of_the_free_unknowns() {
        let rows = DMatrix::from_fn(4, 9, |j, r| libm::sin((1 + 3 * j + 7 * r) as f64));
        let problem = LeastSquares::new(rows.clone(), 3, vec![0.0; 9], vec![0.0; 4]);
        let reduced = Reduced::new(&rows, vec![0, 2, 3]);
        let others = [3, 4, 6, 7, 8];
        let system = reduced.normal_equations(&problem.target_products, &others);
        for (column, s) in reduced.free.iter().enumerate() {
            for (row, r) in reduced.free.iter().enumerate().skip(column) {
                let products = [0, 1, 2].iter().chain(&others);
                let sum = products.fold(0.0, |sum, k| sum + rows[(*s, *k)] * rows[(*r, *k)]);
                assert_eq!(system[(row, column)], sum);
            }
        }
    }
}
