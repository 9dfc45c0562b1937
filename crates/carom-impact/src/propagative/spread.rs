//! Choice of the reported outcomes: a few that spread as far as all.

use carom_contact::momentum_change::MomentumChange;

/// Distances to pairs of outcomes beyond which the diameter is sought by sweeps.
const MAX_PAIRS: usize = 20_000_000;

/// Sweeps of the search for a pair far apart.
const SWEEPS: usize = 8;

/// The two jumps farthest apart and their distance: exactly if `is_exact` or if there are few, else
/// a pair that no sweep from either end improves.
pub(super) fn farthest_pair(jumps: &[MomentumChange], is_exact: bool) -> (usize, usize, f64) {
    let n = jumps.len();
    if is_exact || n.saturating_mul(n) / 2 <= MAX_PAIRS {
        let mut best = (0, 0, 0.0);
        for (i, a) in jumps.iter().enumerate() {
            for (j, b) in jumps.iter().enumerate().skip(i + 1) {
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
        let distances = jumps.iter().map(|jump| jumps[from].distance(jump));
        let (to, distance) = largest(distances);
        if distance <= best.2 {
            break;
        }
        best = (from, to, distance);
    }
    best
}

/// At most `limit` of the jumps, those of `first` before all others, then always the one farthest
/// from those taken (Gonzalez 1985). Ties go to the lower index.
pub(super) fn farthest_first(
    jumps: &[MomentumChange],
    first: &[usize],
    limit: usize,
) -> Vec<usize> {
    let limit = limit.min(jumps.len());
    let mut taken: Vec<usize> = Vec::with_capacity(limit);
    let mut nearest = vec![f64::INFINITY; jumps.len()];
    let mut wanted = first.iter().copied();
    while taken.len() < limit {
        let next = match wanted.next() {
            Some(next) => next,
            None => largest(nearest.iter().copied()).0,
        };
        if nearest[next] == f64::NEG_INFINITY {
            continue;
        }
        for (nearest, jump) in nearest.iter_mut().zip(jumps) {
            *nearest = f64::min(*nearest, jumps[next].distance(jump));
        }
        // Taken ones are out, also among equal ones.
        nearest[next] = f64::NEG_INFINITY;
        taken.push(next);
    }
    taken
}

fn largest(numbers: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, x) in numbers.enumerate() {
        // Written so that the first number counts whatever it is.
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
        let jumps: Vec<MomentumChange> = [0.5, 0.0, 0.6, 1.0, 0.25].map(at).to_vec();
        assert_eq!(farthest_pair(&jumps, false), (1, 3, 1.0));
        assert_eq!(farthest_first(&jumps, &[1, 3], 4), [1, 3, 0, 4]);
        assert_eq!(farthest_first(&jumps, &[1, 1], 9).len(), 5);
    }
}
