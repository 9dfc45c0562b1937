//! Maximization over a box by the simplex method of Nelder and Mead, which needs no derivatives: likelihoods of
//! impacts have kinks.

/// Largest number of iterations of one round.
const MAX_EVALUATIONS: usize = 2000;

/// Point of a search.
pub(crate) type Point = Vec<f64>;

/// Box of the search.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub low: Point,
    pub high: Point,
}

impl Domain {
    /// Creates the box with these ranges.
    pub(crate) fn new(ranges: impl Iterator<Item = [f64; 2]>) -> Self {
        let (low, high) = ranges.map(|[low, high]| (low, high)).unzip();
        Self { low, high }
    }

    /// Returns the number of coordinates.
    pub(crate) fn n(&self) -> usize {
        self.low.len()
    }

    pub(crate) fn clamp(&self, mut point: Point) -> Point {
        for ((x, low), high) in point.iter_mut().zip(&self.low).zip(&self.high) {
            *x = x.clamp(*low, *high);
        }
        point
    }

    fn width(&self, k: usize) -> f64 {
        self.high[k] - self.low[k]
    }
}

/// Options of the search for a maximum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Size of the first simplex, relative to the widths of the box.
    pub size: f64,
    /// Size of the last simplex, relative to the widths of the box.
    pub accuracy: f64,
    /// Number of rounds. Each starts at the result of the one before, because a simplex can collapse before it
    /// reaches a maximum.
    pub rounds: usize,
}

/// Maximizes a function over a box by the simplex method of Nelder and Mead, from the point `start`. Points outside
/// the box are moved to its faces, and `search` sets sizes and rounds. Returns the best point found and its value.
pub(crate) fn maximize(
    domain: &Domain,
    start: Point,
    search: Search,
    mut objective: impl FnMut(&Point) -> f64,
) -> (Point, f64) {
    let start = domain.clamp(start);
    let mut value = |point: &Point| {
        let found = objective(point);
        if found.is_nan() {
            f64::NEG_INFINITY
        } else {
            found
        }
    };
    let first = value(&start);
    let mut best = (start, first);
    if domain.n() == 0 {
        return best;
    }
    let mut search = search;
    for _ in 0..search.rounds {
        best = descend(domain, best, search, &mut value);
        search.size *= 0.1;
    }
    best
}

/// Runs the simplex method once. In more than three dimensions the steps are those of Gao & Han, *Implementing the Nelder-Mead
/// simplex algorithm with adaptive parameters*, 2012; up to three they are Nelder and Mead's.
fn descend(
    domain: &Domain,
    start: (Point, f64),
    search: Search,
    value: &mut impl FnMut(&Point) -> f64,
) -> (Point, f64) {
    let n = domain.n();
    let share = if n > 3 { 1.0 / n as f64 } else { 0.5 };
    let [expansion, contraction, shrinkage] = [1.0 + 2.0 * share, 0.75 - 0.5 * share, 1.0 - share];
    let mut simplex = vec![start.clone()];
    for k in 0..n {
        let step = search.size * domain.width(k);
        let mut corner = start.0.clone();
        corner[k] += if corner[k] + step <= domain.high[k] {
            step
        } else {
            -step
        };
        let corner = domain.clamp(corner);
        let height = value(&corner);
        simplex.push((corner, height));
    }
    for _ in 0..MAX_EVALUATIONS {
        simplex.sort_by(|a, b| b.1.total_cmp(&a.1));
        let spread = (0..n).fold(0.0_f64, |spread, k| {
            simplex.iter().fold(spread, |spread, vertex| {
                spread.max((vertex.0[k] - simplex[0].0[k]).abs() / domain.width(k))
            })
        });
        if spread <= search.accuracy {
            break;
        }
        let worst = simplex[n].clone();
        let mut center = vec![0.0; n];
        for vertex in &simplex[..n] {
            for (center, x) in center.iter_mut().zip(&vertex.0) {
                *center += x / n as f64;
            }
        }
        let mut along = |factor: f64| {
            let ends = center.iter().zip(&worst.0);
            let point = ends.map(|(center, worst)| center + factor * (worst - center));
            let point = domain.clamp(point.collect());
            let height = value(&point);
            (point, height)
        };
        let reflected = along(-1.0);
        if reflected.1 > simplex[0].1 {
            let expanded = along(-expansion);
            simplex[n] = if expanded.1 > reflected.1 {
                expanded
            } else {
                reflected
            };
            continue;
        }
        if reflected.1 > simplex[n - 1].1 {
            simplex[n] = reflected;
            continue;
        }
        let side = if reflected.1 > worst.1 { -1.0 } else { 1.0 };
        let contracted = along(side * contraction);
        if contracted.1 > worst.1.max(reflected.1) {
            simplex[n] = contracted;
            continue;
        }
        let best = simplex[0].0.clone();
        for vertex in &mut simplex[1..] {
            for (x, best) in vertex.0.iter_mut().zip(&best) {
                *x = best + shrinkage * (*x - best);
            }
            vertex.1 = value(&vertex.0);
        }
    }
    simplex.sort_by(|a, b| b.1.total_cmp(&a.1));
    simplex.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Domain {
        Domain::new([[0.0, 1.0], [0.0, 2.0]].into_iter())
    }

    const FINE: Search = Search {
        size: 0.1,
        accuracy: 1e-9,
        rounds: 2,
    };

    #[test]
    fn a_ridge_with_a_kink_is_climbed() {
        let ridge = |p: &Point| -(p[0] - 0.3).abs() * 10.0 - (p[1] - 1.5 * p[0]).powi(2);
        let (at, _) = maximize(&unit(), vec![0.9, 0.1], FINE, ridge);
        assert!(
            (at[0] - 0.3).abs() <= 1e-7 && (at[1] - 0.45).abs() <= 1e-4,
            "{at:?}"
        );
    }

    #[test]
    fn a_maximum_on_the_boundary_is_reached() {
        let hill = |p: &Point| -p[0] - (p[1] - 3.0).powi(2);
        let (at, _) = maximize(&unit(), vec![0.5, 1.0], FINE, hill);
        assert!(at[0] <= 1e-8 && (at[1] - 2.0).abs() <= 1e-8, "{at:?}");
    }
}
