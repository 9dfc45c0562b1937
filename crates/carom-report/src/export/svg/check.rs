//! Checks that the lists of a mark fit together.

use super::Done;
use crate::export::ExportError;
use crate::record::Mark;

pub(super) fn check(mark: &Mark) -> Done {
    match mark {
        Mark::Line { x, y, .. } | Mark::Points { x, y, .. } | Mark::Polygon { x, y, .. } => {
            same_length("x and y", x.len(), y.len())
        }
        Mark::Heatmap { x, y, values, .. } => {
            same_length("heat map rows and y", values.len(), y.len())?;
            values
                .iter()
                .try_for_each(|row| same_length("heat map row and x", row.len(), x.len()))?;
            increasing("x", x)?;
            increasing("y", y)
        }
        Mark::Disk { .. } | Mark::Arrow { .. } | Mark::Text { .. } => Ok(()),
    }
}

fn same_length(what: &str, a: usize, b: usize) -> Done {
    if a == b {
        return Ok(());
    }
    Err(ExportError::Shape(format!("{what}: {a} and {b}")))
}

fn increasing(what: &str, centers: &[f64]) -> Done {
    let ordered = centers
        .iter()
        .zip(centers.iter().skip(1))
        .all(|(a, b)| a < b);
    if ordered && !centers.is_empty() && centers.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(ExportError::Shape(format!("heat map {what} must increase")))
}
