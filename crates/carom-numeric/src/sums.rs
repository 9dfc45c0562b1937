//! Sums and products whose rounding error is known.

/// Sum and its rounding error: `a + b` is exactly the sum of both results. Knuth's two-sum.
///
/// # Examples
///
/// ```
/// assert_eq!(carom_numeric::sums::two_sum(1e16, 1.0), (1e16, 1.0));
/// ```
#[inline]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// Product and its rounding error, without a fused multiply-add. Dekker's product.
#[inline]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let split = |x: f64| {
        let t = 134_217_729.0 * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}
