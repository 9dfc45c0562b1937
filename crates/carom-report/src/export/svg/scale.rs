//! From values to pixels along one axis.

use super::span::Span;
use crate::record::Scale;

/// Quantity that an axis is linear in: the value, or its decimal logarithm.
pub(super) fn transform(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log if value > 0.0 => value.log10(),
        Scale::Log => f64::NAN,
    }
}

/// Map from the values of an axis to the canvas.
#[derive(Clone, Copy)]
pub(super) struct Map {
    pub(super) scale: Scale,
    pub(super) span: Span,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Map {
    /// Pixel of a transformed value.
    pub(super) fn place(self, transformed: f64) -> f64 {
        let share = (transformed - self.span.low) / self.span.length();
        // Far beyond any canvas, yet safe to compute with.
        (self.start + share * (self.end - self.start)).clamp(-1e7, 1e7)
    }

    /// Pixel of a value; NaN if the axis cannot show it.
    pub(super) fn pixel(self, value: f64) -> f64 {
        if value.is_finite() {
            self.place(transform(self.scale, value))
        } else {
            f64::NAN
        }
    }
}

/// Transformed edges of cells, half way between their centers.
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

/// First and last pixel of each cell.
pub(super) fn cell_bounds(centers: &[f64], map: Map) -> Vec<(f64, f64)> {
    let at: Vec<f64> = edges(centers, map.scale)
        .iter()
        .map(|v| map.place(*v))
        .collect();
    at.iter().copied().zip(at.iter().skip(1).copied()).collect()
}
