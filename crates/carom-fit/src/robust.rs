//! Medians, quantiles, and the spread and mean that outliers do not move.

/// Median of the values, which are reordered; `None` without values.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile by linear interpolation between the order statistics, which are sorted in place; `None`
/// without values.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = share * (values.len().checked_sub(1)?) as f64;
    let low = place.floor();
    let (below, above) = (
        values.get(low as usize)?,
        values.get(place.ceil() as usize)?,
    );
    Some(below + (above - below) * (place - low))
}

/// The standard deviation of a normal distribution with this median absolute deviation:
/// $1.4826\,\mathrm{median}\lvert x - \mathrm{median}\,x\rvert$.
pub(crate) fn mad_sigma(values: &[f64]) -> Option<f64> {
    let mut copy = values.to_vec();
    let center = median(&mut copy)?;
    for value in &mut copy {
        *value = (*value - center).abs();
    }
    Some(1.4826 * median(&mut copy)?)
}

/// Huber's mean: deviations beyond 1.5 [`mad_sigma`] count as if they were that large.
pub(crate) fn huber_mean(values: &[f64]) -> Option<f64> {
    let threshold = 1.5 * mad_sigma(values)?;
    let mut mean = median(&mut values.to_vec())?;
    for _ in 0..100 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for value in values {
            let deviation = (value - mean).abs();
            let weight = if deviation > threshold {
                threshold / deviation
            } else {
                1.0
            };
            sum += weight * value;
            weights += weight;
        }
        if weights <= 0.0 {
            break;
        }
        let next = sum / weights;
        let is_done = (next - mean).abs() <= 1e-12 * next.abs().max(1.0);
        mean = next;
        if is_done {
            break;
        }
    }
    Some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_in_nine_moves_neither_mean_nor_spread() {
        let calm: Vec<f64> = (0..9).map(f64::from).collect();
        let mut wild = calm.clone();
        wild[8] = 1e9;
        assert!((huber_mean(&calm).unwrap_or(f64::NAN) - 4.0).abs() <= 1e-12);
        assert!((huber_mean(&wild).unwrap_or(f64::NAN) - 4.0).abs() <= 0.5);
        assert_eq!(mad_sigma(&calm), Some(1.4826 * 2.0));
        assert_eq!(mad_sigma(&wild), Some(1.4826 * 2.0));
        assert_eq!(median(&mut []), None);
    }
}
