//! Certified roots of small polynomials on the unit interval.
//!
//! Bernstein coefficients bound a polynomial: if their signs do not change, there is no root; with one change
//! there is exactly one root. Otherwise the interval is halved. No simple root is missed, and no false root is
//! reported. If an interval shorter than $2^{-52}$ still has several sign changes, it contains a double root,
//! where the polynomial touches zero without crossing it.

/// Number of halvings after which several sign changes count as a double root.
const MAX_DEPTH: u32 = 52;

/// Number of steps after which bisection has reached the smallest positive number.
const MAX_STEPS: usize = 1200;

/// Order in which the roots of a polynomial are reported: ascending or descending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest root is reported first.
    Ascending,
    /// The largest root is reported first.
    Descending,
}

/// Decision of a caller who receives the roots of a polynomial one by one: search for the next root, or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Search for the next root.
    Continue,
    /// End the search.
    Stop,
}

/// Finds the simple roots of a polynomial in [0, 1] and calls `found` with each of them, in the order of
/// `direction`, until `found` returns [`Search::Stop`]. `a` are the coefficients of ascending powers.
///
/// `last` is the value of the polynomial at 1. The caller computes it, so that adjacent pieces of a piecewise
/// polynomial agree on the sign at their common end. Zero counts as positive. A double root, where the
/// polynomial does not change its sign, is not reported.
///
/// # Examples
///
/// The roots of $(x - 1/4)(x - 1/2) = 1/8 - 3x/4 + x^2$:
///
/// ```
/// use carom_numeric::polynomial::{Direction, Search, roots, value_at_one};
/// let a = [0.125, -0.75, 1.0];
/// let mut found = Vec::new();
/// roots(&a, value_at_one(&a), Direction::Ascending, &mut |x| {
///     found.push(x);
///     Search::Continue
/// });
/// assert_eq!(found.len(), 2);
/// assert!((found[0] - 0.25).abs() <= 1e-15 && (found[1] - 0.5).abs() <= 1e-15);
/// ```
pub fn roots<const N: usize>(
    a: &[f64; N],
    last: f64,
    direction: Direction,
    found: &mut impl FnMut(f64) -> Search,
) -> Search {
    let mut b = bernstein(a);
    if let Some(end) = b.last_mut() {
        *end = last;
    }
    isolate(a, &b, 0.0, 1.0, 0, direction, found)
}

/// Returns the value at 1 of a polynomial with monomial coefficients `a`: the sum of the coefficients.
pub fn value_at_one<const N: usize>(a: &[f64; N]) -> f64 {
    a.iter().sum()
}

fn bernstein<const N: usize>(a: &[f64; N]) -> [f64; N] {
    // The differences of b are a divided by binomial coefficients; summation inverts the differences.
    let n = N - 1;
    let mut b = [0.0; N];
    let mut binomial = 1.0;
    for k in 0..N {
        b[k] = a[k] / binomial;
        binomial *= (n - k) as f64 / (k + 1) as f64;
    }
    for level in 1..N {
        for i in (level..N).rev() {
            b[i] += b[i - 1];
        }
    }
    b
}

fn is_positive(x: f64) -> bool {
    x >= 0.0
}

fn isolate<const N: usize>(
    a: &[f64; N],
    b: &[f64; N],
    low: f64,
    high: f64,
    depth: u32,
    direction: Direction,
    found: &mut impl FnMut(f64) -> Search,
) -> Search {
    let changes = b
        .windows(2)
        .filter(|pair| is_positive(pair[0]) != is_positive(pair[1]))
        .count();
    match changes {
        0 => Search::Continue,
        1 => found(refine(a, is_positive(b[0]), low, high)),
        _ if depth >= MAX_DEPTH => Search::Continue,
        _ => {
            let (left, right) = halves(b);
            let middle = 0.5 * (low + high);
            let mut go = |b: &[f64; N], low: f64, high: f64| {
                isolate(a, b, low, high, depth + 1, direction, found)
            };
            let parts = [(&left, low, middle), (&right, middle, high)];
            let [first, second] = match direction {
                Direction::Ascending => parts,
                Direction::Descending => [parts[1], parts[0]],
            };
            match go(first.0, first.1, first.2) {
                Search::Stop => Search::Stop,
                Search::Continue => go(second.0, second.1, second.2),
            }
        }
    }
}

/// Splits a polynomial at the middle of its interval by de Casteljau's algorithm. `b` holds its Bernstein
/// coefficients. Returns the coefficients on the left half and on the right half.
fn halves<const N: usize>(b: &[f64; N]) -> ([f64; N], [f64; N]) {
    let mut right = *b;
    let mut left = *b;
    for (level, left) in left.iter_mut().enumerate() {
        *left = right[0];
        for i in 0..N - 1 - level {
            right[i] = 0.5 * (right[i] + right[i + 1]);
        }
    }
    (left, right)
}

/// Computes by Newton's method, with bisection as safeguard, the root of a polynomial that changes sign once between `low` and
/// `high`. `a` contains the coefficients in ascending powers. `positive_at_low` is true if the polynomial is positive at `low`.
fn refine<const N: usize>(a: &[f64; N], positive_at_low: bool, low: f64, high: f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut x = 0.5 * (low + high);
    for _ in 0..MAX_STEPS {
        let (mut value, mut slope) = (0.0, 0.0);
        for &c in a.iter().rev() {
            slope = slope * x + value;
            value = value * x + c;
        }
        if is_positive(value) == positive_at_low {
            low = x;
        } else {
            high = x;
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        let step = (next - x).abs();
        x = next;
        if step <= f64::EPSILON * x.abs() {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<const N: usize>(a: [f64; N], direction: Direction) -> Vec<f64> {
        let mut found = Vec::new();
        roots(&a, value_at_one(&a), direction, &mut |x| {
            found.push(x);
            Search::Continue
        });
        found
    }

    #[test]
    fn bernstein_coefficients_of_powers() {
        assert_eq!(bernstein(&[0.0, 1.0, 0.0]), [0.0, 0.5, 1.0]);
        let b = bernstein(&[0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(b, [0.0, 0.0, 0.0, 0.0, 1.0]);
        let b = bernstein(&[1.0, 2.0, 3.0, 4.0]);
        for (b, exact) in b.iter().zip([1.0, 1.0 + 2.0 / 3.0, 10.0 / 3.0, 10.0]) {
            assert!((b - exact).abs() < 1e-15);
        }
    }

    #[test]
    fn close_roots_are_told_apart_and_double_roots_are_none() {
        // (x - 0.3)(x - 0.3 - 1e-6)(x - 0.9)
        let (p, q, r) = (0.3, 0.3 + 1e-6, 0.9);
        let a = [-p * q * r, p * q + p * r + q * r, -(p + q + r), 1.0];
        let found = all(a, Direction::Ascending);
        assert_eq!(found.len(), 3);
        // Each root moves by about eps over the distance to its neighbor.
        for (x, exact) in found.iter().zip([p, q, r]) {
            assert!((x - exact).abs() < 1e-9, "{x} {exact}");
        }
        let mut reversed = all(a, Direction::Descending);
        reversed.reverse();
        assert_eq!(found, reversed);
        // (x - 1/2)^2 in exact arithmetic.
        assert!(all([0.25, -1.0, 1.0], Direction::Ascending).is_empty());
    }

    #[test]
    fn a_tiny_root_keeps_its_relative_accuracy() {
        let found = all([-1e-200, 1.0, 0.5, 0.25], Direction::Ascending);
        assert_eq!(found.len(), 1);
        assert!((found[0] / 1e-200 - 1.0).abs() < 1e-15);
    }
}
