//! Maximization over a box by the simplex method of Nelder and Mead, which needs no derivatives: likelihoods of
//! impacts have kinks.

/// Largest number of iterations of one round.
const MAX_EVALUATIONS: usize = 2000;

/// Point with at most three coordinates; unused ones are zero.
pub(crate) type Point = [f64; 3];

/// Box of the search, and the number of coordinates that are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain {
    pub n: usize,
    pub low: Point,
    pub high: Point,
}

impl Domain {
    pub(crate) fn clamp(&self, point: Point) -> Point {
        std::array::from_fn(|k| point[k].clamp(self.low[k], self.high[k]))
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
    let mut best = (start, value(&start));
    if domain.n == 0 {
        return best;
    }
    let mut search = search;
    for _ in 0..search.rounds {
        best = descend(domain, best, search, &mut value);
        search.size *= 0.1;
    }
    best
}

fn descend(
    domain: &Domain,
    start: (Point, f64),
    search: Search,
    value: &mut impl FnMut(&Point) -> f64,
) -> (Point, f64) {
    let n = domain.n;
    let mut simplex = vec![start];
    for k in 0..n {
        let step = search.size * domain.width(k);
        let mut corner = start.0;
        corner[k] += if corner[k] + step <= domain.high[k] {
            step
        } else {
            -step
        };
        let corner = domain.clamp(corner);
        simplex.push((corner, value(&corner)));
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
        let worst = simplex[n];
        let mut center = [0.0; 3];
        for vertex in &simplex[..n] {
            for (center, x) in center.iter_mut().zip(&vertex.0) {
                *center += x / n as f64;
            }
        }
        let mut along = |factor: f64| {
            let mut point = start.0;
            for k in 0..n {
                point[k] = center[k] + factor * (worst.0[k] - center[k]);
            }
            let point = domain.clamp(point);
            (point, value(&point))
        };
        let reflected = along(-1.0);
        if reflected.1 > simplex[0].1 {
            let expanded = along(-2.0);
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
        let contracted = along(if reflected.1 > worst.1 { -0.5 } else { 0.5 });
        if contracted.1 > worst.1.max(reflected.1) {
            simplex[n] = contracted;
            continue;
        }
        let best = simplex[0].0;
        for vertex in &mut simplex[1..] {
            for (x, best) in vertex.0.iter_mut().zip(best) {
                *x = 0.5 * (*x + best);
            }
            vertex.1 = value(&vertex.0);
        }
    }
    simplex.sort_by(|a, b| b.1.total_cmp(&a.1));
    simplex[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Domain = Domain {
        n: 2,
        low: [0.0; 3],
        high: [1.0, 2.0, 0.0],
    };

    const FINE: Search = Search {
        size: 0.1,
        accuracy: 1e-9,
        rounds: 2,
    };

    #[test]
    fn a_ridge_with_a_kink_is_climbed() {
        let ridge = |p: &Point| -(p[0] - 0.3).abs() * 10.0 - (p[1] - 1.5 * p[0]).powi(2);
        let (at, _) = maximize(&UNIT, [0.9, 0.1, 0.0], FINE, ridge);
        assert!(
            (at[0] - 0.3).abs() <= 1e-7 && (at[1] - 0.45).abs() <= 1e-4,
            "{at:?}"
        );
    }

    #[test]
    fn a_maximum_on_the_boundary_is_reached() {
        let hill = |p: &Point| -p[0] - (p[1] - 3.0).powi(2);
        let (at, _) = maximize(&UNIT, [0.5, 1.0, 0.0], FINE, hill);
        assert!(at[0] <= 1e-8 && (at[1] - 2.0).abs() <= 1e-8, "{at:?}");
    }
}
