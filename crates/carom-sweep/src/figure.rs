//! Map of a merged table: one column as color over two others.

use crate::SweepError;
use crate::table::columns_named;
use carom_report::record::{Axis, Figure, Mark};
use parquet::file::reader::SerializedFileReader;
use std::fs::File;
use std::path::Path;

/// Relative deviation up to which values count as a geometric sequence.
const GEOMETRIC: f64 = 1e-9;

/// A sequence counts as geometric only if its range exceeds that of equal steps (each as long as the first) by
/// this factor.
const GROWING: f64 = 1.01;

/// Largest number of values of an axis that are drawn; more would be smaller than a dot.
const MAX_SHOWN: usize = 256;

/// Creates a heat map from three numeric columns of the merged Parquet table of a sweep. The values of the columns `x` and `y`
/// must form a grid; the column `color` gives the colors. An axis whose values form a geometric sequence is logarithmic.
///
/// # Errors
///
/// [`SweepError::Content`] if a column is missing or not numeric, or if a point of the grid has no row, no
/// value or several rows; [`SweepError::File`].
pub fn map(path: &Path, x: &str, y: &str, color: &str) -> Result<Figure, SweepError> {
    let fault = |message: String| SweepError::content(path, message);
    let file = File::open(path).map_err(SweepError::file("read", path))?;
    let reader = SerializedFileReader::new(file).map_err(|error| {
        let is_named = path.extension().is_some_and(|end| end == "parquet");
        fault(if is_named { error.to_string() } else { "a figure is drawn from Parquet alone: `carom sweep merge DIR -o table.parquet` writes it"
        .to_owned() })
    })?;
    let columns =
        columns_named(&reader, &[x, y, color]).map_err(|error| fault(error.to_string()))?;
    let [xs, ys, values] = columns.as_slice() else {
        return Err(fault("three columns are needed".to_owned()));
    };
    let grid = Grid::new(
        present(xs).ok_or_else(|| fault(format!("column `{x}` has rows without a value")))?,
        present(ys).ok_or_else(|| fault(format!("column `{y}` has rows without a value")))?,
    );
    let rows = grid
        .fill(values)
        .map_err(|(message, row)| fault(format!("column `{color}`: row {row} {message}")))?;
    let (shown_x, shown_y) = (thinned(grid.x.len()), thinned(grid.y.len()));
    let pick = |values: &[f64], shown: &[usize]| -> Vec<f64> {
        shown
            .iter()
            .filter_map(|i| values.get(*i).copied())
            .collect()
    };
    let shown = shown_y.iter().filter_map(|i| rows.get(*i));
    let shown: Vec<Vec<f64>> = shown.map(|row| pick(row, &shown_x)).collect();
    let is_thinned = shown_x.len() < grid.x.len() || shown_y.len() < grid.y.len();
    let caption = if is_thinned {
        let (nx, ny) = (grid.x.len(), grid.y.len());
        format!(
            "Every cell is one impact; {} × {} of {nx} × {ny} are drawn.",
            shown_x.len(),
            shown_y.len()
        )
    } else {
        "Every cell is one impact.".to_owned()
    };
    let mark = Mark::Heatmap {
        label: color.to_owned(),
        unit: String::new(),
        x: pick(&grid.x, &shown_x),
        y: pick(&grid.y, &shown_y),
        values: shown,
    };
    let title = format!("{color} over {x} and {y}");
    Ok(Figure::new("map", title, caption, axis(x, &grid.x), axis(y, &grid.y)).mark(mark))
}

fn present(values: &[Option<f64>]) -> Option<Vec<f64>> {
    values.iter().copied().collect()
}

/// Returns the indices of at most [`MAX_SHOWN`] evenly spaced entries of a list of `n` entries, including the first and the
/// last.
fn thinned(n: usize) -> Vec<usize> {
    if n <= MAX_SHOWN {
        return (0..n).collect();
    }
    (0..MAX_SHOWN)
        .map(|k| k * (n - 1) / (MAX_SHOWN - 1))
        .collect()
}

fn axis(label: &str, values: &[f64]) -> Axis {
    if is_geometric(values) {
        Axis::log(label, "")
    } else {
        Axis::linear(label, "")
    }
}

/// True if the numbers form a geometric sequence of positive numbers whose differences are not also equal, so that a
/// logarithmic axis suits them.
fn is_geometric(values: &[f64]) -> bool {
    let ([first, second, _, ..], Some(last)) = (values, values.last()) else {
        return false;
    };
    let ratio = libm::pow(last / first, 1.0 / (values.len() - 1) as f64);
    let is_close = |(k, value): (usize, &f64)| {
        let expected = first * libm::pow(ratio, k as f64);
        (value - expected).abs() <= GEOMETRIC * expected
    };
    *first > 0.0
        && (second - first) > 0.0
        && values.iter().enumerate().all(is_close)
        && (last - first) > GROWING * (second - first) * (values.len() - 1) as f64
}

/// Points of a table, and the grid that they span.
struct Grid {
    x: Vec<f64>,
    y: Vec<f64>,
    points: Vec<(f64, f64)>,
}

impl Grid {
    fn new(xs: Vec<f64>, ys: Vec<f64>) -> Self {
        Self {
            x: distinct(&xs),
            y: distinct(&ys),
            points: xs.into_iter().zip(ys).collect(),
        }
    }

    /// Arranges the values of the table rows on the grid of x and y values. Returns one list for each y, with an entry for each
    /// x. The error holds a message and the index of a table row. An error is returned if the row has no value or shares its
    /// grid point with another row. If grid points lack a row, the index is that of the last row.
    fn fill(&self, values: &[Option<f64>]) -> Result<Vec<Vec<f64>>, (&'static str, usize)> {
        let mut rows = vec![vec![f64::NAN; self.x.len()]; self.y.len()];
        for (index, ((x, y), value)) in self.points.iter().zip(values).enumerate() {
            let column = self.x.binary_search_by(|known| known.total_cmp(x));
            let row = self.y.binary_search_by(|known| known.total_cmp(y));
            let place = row.ok().zip(column.ok());
            let place = place.and_then(|(row, column)| rows.get_mut(row)?.get_mut(column));
            match (place, value) {
                (Some(place), Some(value)) if place.is_nan() => *place = *value,
                (_, None) => return Err(("has no value", index)),
                _ => return Err(("has the place of another: the table has more axes", index)),
            }
        }
        if self.points.len() < self.x.len() * self.y.len() {
            return Err((
                "is the last, and not every point of the grid has one",
                self.points.len(),
            ));
        }
        Ok(rows)
    }
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_where_its_values_are_geometric() {
        let geometric: Vec<f64> = (0..50)
            .map(|k| 0.1 * 100f64.powf(f64::from(k) / 49.0))
            .collect();
        assert!(is_geometric(&geometric));
        for linear in [
            &[1.0, 2.0, 3.0][..],
            &[-1.0, 0.0, 1.0],
            &[1.0, 2.0],
            &[1.0],
            &[],
        ] {
            assert!(!is_geometric(linear), "{linear:?}");
        }
        let near = [1.0, 1.000_000_000_1, 1.000_000_000_2];
        assert!(!is_geometric(&near));
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let shown = thinned(1000);
        assert_eq!(
            (shown.len(), shown.first(), shown.last()),
            (256, Some(&0), Some(&999))
        );
        assert_eq!(thinned(3), [0, 1, 2]);
    }
}
