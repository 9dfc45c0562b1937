//! Transformation of values to the quantity in which an axis is linear.

use crate::record::Scale;

/// Returns the quantity in which an axis is linear: the value itself, or its decimal logarithm on a logarithmic axis. The
/// logarithm of a value that is not positive is NaN.
pub(super) fn transform(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log if value > 0.0 => value.log10(),
        Scale::Log => f64::NAN,
    }
}

/// Returns the edges of the cells of a heat map along one axis, half way between neighboring centers. Edges are decimal
/// logarithms if the axis is logarithmic.
pub(super) fn edges(centers: &[f64], scale: Scale) -> Vec<f64> {
    let at: Vec<f64> = centers.iter().map(|v| transform(scale, *v)).collect();
    let inner: Vec<f64> = at
        .iter()
        .zip(at.iter().skip(1))
        .map(|(a, b)| 0.5 * (a + b))
        .collect();
    let mirror = |end: Option<&f64>, next: Option<&f64>, alone: f64| match (end, next) {
        (Some(end), Some(next)) => 2.0 * end - next,
        (Some(end), None) => end + alone,
        _ => f64::NAN,
    };
    let first = mirror(at.first(), inner.first(), -0.5);
    let last = mirror(at.last(), inner.last(), 0.5);
    std::iter::once(first)
        .chain(inner)
        .chain(std::iter::once(last))
        .collect()
}
