//! Map from values to pixels along one axis.

use super::span::Span;
use super::transform::{edges, transform};
use crate::record::Scale;

/// Map from the values of an axis to the canvas.
#[derive(Clone, Copy)]
pub(super) struct Map {
    pub(super) scale: Scale,
    pub(super) span: Span,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Map {
    /// Returns the position along the axis (pixels) of a transformed value: the value itself on a linear axis, its decimal
    /// logarithm on a logarithmic axis.
    pub(super) fn place(self, transformed: f64) -> f64 {
        let share = (transformed - self.span.low) / self.span.length();
        // The bound is far beyond any canvas, yet small enough to compute with.
        (self.start + share * (self.end - self.start)).clamp(-1e7, 1e7)
    }

    /// Returns the position along the axis (pixels) of a value in the unit of the axis; NaN if the axis cannot show the
    /// value.
    pub(super) fn pixel(self, value: f64) -> f64 {
        if value.is_finite() {
            self.place(transform(self.scale, value))
        } else {
            f64::NAN
        }
    }
}

/// Returns the first and last pixel of each cell of a heat map along one axis. `centers` are the values at the centers of
/// the cells.
pub(super) fn cell_bounds(centers: &[f64], map: Map) -> Vec<(f64, f64)> {
    let at: Vec<f64> = edges(centers, map.scale)
        .iter()
        .map(|v| map.place(*v))
        .collect();
    at.iter().copied().zip(at.iter().skip(1).copied()).collect()
}
