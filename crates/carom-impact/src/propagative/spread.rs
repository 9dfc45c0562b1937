//! Choice of the reported outcomes: a subset that spreads as far as the whole set.

use carom_contact::internal::MomentumChange;

/// Largest number of pairs of outcomes for which the diameter is computed exactly; above it, by sweeps.
const MAX_PAIRS: usize = 20_000_000;

/// Largest number of sweeps in the search for a distant pair.
const SWEEPS: usize = 8;

/// Finds the two momentum changes farthest apart. Returns their indices and their distance. The result is exact if
/// `is_exact` or if there are few changes. Otherwise a few searches, each for the change farthest from the last one found,
/// give a large distance.
pub(super) fn farthest_pair(changes: &[MomentumChange], is_exact: bool) -> (usize, usize, f64) {
    let n = changes.len();
    if is_exact || n.saturating_mul(n) / 2 <= MAX_PAIRS {
        let mut best = (0, 0, 0.0);
        for (i, a) in changes.iter().enumerate() {
            for (j, b) in changes.iter().enumerate().skip(i + 1) {
                let distance = a.distance(b);
                if distance > best.2 {
                    best = (i, j, distance);
                }
            }
        }
        return best;
    }
    let mut best = (0, 0, 0.0);
    for _ in 0..SWEEPS {
        let from = best.1;
        let distances = changes
            .iter()
            .map(|momentum_change| changes[from].distance(momentum_change));
        let (to, distance) = largest(distances);
        if distance <= best.2 {
            break;
        }
        best = (from, to, distance);
    }
    best
}

/// Selects at most `limit` of the momentum changes and returns their indices. First come those listed in `first`, then
/// repeatedly the one farthest from those already selected (Gonzalez 1985). Ties go to the lower index.
pub(super) fn farthest_first(
    changes: &[MomentumChange],
    first: &[usize],
    limit: usize,
) -> Vec<usize> {
    let limit = limit.min(changes.len());
    let mut taken: Vec<usize> = Vec::with_capacity(limit);
    let mut nearest = vec![f64::INFINITY; changes.len()];
    let mut wanted = first.iter().copied();
    while taken.len() < limit {
        let next = match wanted.next() {
            Some(next) => next,
            None => largest(nearest.iter().copied()).0,
        };
        if nearest[next] == f64::NEG_INFINITY {
            continue;
        }
        for (nearest, momentum_change) in nearest.iter_mut().zip(changes) {
            *nearest = f64::min(*nearest, changes[next].distance(momentum_change));
        }
        // A selected change is excluded from now on, even if others are equal to it.
        nearest[next] = f64::NEG_INFINITY;
        taken.push(next);
    }
    taken
}

fn largest(numbers: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, x) in numbers.enumerate() {
        // The first number is taken whatever its value.
        if i == 0 || x > best.1 {
            best = (i, x);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    fn at(x: f64) -> MomentumChange {
        MomentumChange {
            impulse: smallvec![],
            change: smallvec![x],
        }
    }

    #[test]
    fn the_ends_come_before_the_middle() {
        let changes: Vec<MomentumChange> = [0.5, 0.0, 0.6, 1.0, 0.25].map(at).to_vec();
        assert_eq!(farthest_pair(&changes, false), (1, 3, 1.0));
        assert_eq!(farthest_first(&changes, &[1, 3], 4), [1, 3, 0, 4]);
        assert_eq!(farthest_first(&changes, &[1, 1], 9).len(), 5);
    }
}
