//! Norms of vectors.

/// Returns the largest absolute value of the entries.
#[inline]
pub(crate) fn max_abs(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<4>();
    let mut lanes = [0.0f64; 4];
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = if x.abs() > *lane { x.abs() } else { *lane };
        }
    }
    let most = |m: f64, x: &f64| if x.abs() > m { x.abs() } else { m };
    rest.iter().fold(lanes.iter().fold(0.0, most), most)
}
