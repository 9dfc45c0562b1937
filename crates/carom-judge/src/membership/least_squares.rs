//! Damped least squares with inequality conditions, by active sets.

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

/// Returns the products of the columns with each other: the lower triangle, from which Cholesky factors follow.
fn products(columns: &DMatrix<f64>) -> DMatrix<f64> {
    let n = columns.ncols();
    let mut products = DMatrix::zeros(n, n);
    for (j, column) in columns.column_iter().enumerate() {
        for i in j..n {
            products[(i, j)] = columns.column(i).dot(&column);
        }
    }
    products
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
        Self {
            size: rows.columns(0, n_targets).norm_squared(),
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
        &self,
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
        &self,
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
        &self,
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
        &self,
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
        &self,
        active: &ActiveSet,
        soft: f64,
        work: &mut u64,
    ) -> Option<(DVector<f64>, DVector<f64>)> {
        let opens = self.pushing().zip(&active.opens);
        let opens = opens.filter(|(_, opens)| **opens).map(|(r, _)| r);
        let conditions: Vec<usize> = (0..self.n_targets).chain(opens).collect();
        let mut changes = DVector::from_fn(self.floor.len(), |j, _| {
            if active.is_low[j] { self.floor[j] } else { 0.0 }
        });
        let free: Vec<usize> = (0..changes.len()).filter(|j| !active.is_low[*j]).collect();
        let all = self.rows.select_columns(&conditions);
        let effects = all.select_rows(&free);
        let left = |changes: &DVector<f64>| {
            let left = conditions.iter().map(|r| self.left(*r, changes));
            DVector::from_iterator(conditions.len(), left)
        };
        // Solves the smaller of the two equivalent systems.
        let (n, k) = effects.shape();
        let mut system = if n <= k {
            products(&effects.transpose())
        } else {
            products(&effects)
        };
        let small = n.min(k);
        (0..small).for_each(|r| system[(r, r)] += soft);
        let system = system.cholesky()?;
        let found = if n <= k {
            system.solve(&(&effects * left(&changes)))
        } else {
            &effects * system.solve(&left(&changes))
        };
        for (j, y) in free.iter().zip(found.iter()) {
            changes[*j] = *y;
        }
        *work += (small * small * (n.max(k) + small / 3) + 2 * n * k) as u64;
        let gradient = soft * &changes - all * left(&changes);
        // This form also catches NaN.
        let is_finite = changes.iter().all(|y| y.is_finite());
        is_finite.then_some((changes, gradient))
    }

    /// Returns the velocity by which condition `r` is still missed after `changes` of the impulses: the wanted velocity
    /// minus the velocity to first order.
    fn left(&self, r: usize, changes: &DVector<f64>) -> f64 {
        self.lacking[r] - self.rows.column(r).dot(changes)
    }
}
