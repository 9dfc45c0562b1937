//! Tables as comma-separated values.

use super::ExportError;
use crate::record::{Column, Table};

/// Converts a table of a record to CSV text: a header of `name [unit]`, then one line per row. Names of rows form the first
/// column.
///
/// Each number is the shortest text that reads back as the same `f64`.
///
/// # Errors
///
/// If a row does not match the columns, or a number is not finite.
pub fn csv(table: &Table) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = table.labels.iter().map(|labels| labels.heading.clone());
    writer.write_record(names.chain(table.columns.iter().map(heading)))?;
    for (index, row) in table.rows.iter().enumerate() {
        let name = table.labels.iter().map(|_| table.label(index).to_owned());
        writer.write_record(name.chain(cells(table, index, row)?))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| ExportError::Csv(e.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the heading of a column as `name [unit]`, or the name alone if the column has no unit.
pub(super) fn heading(column: &Column) -> String {
    super::with_unit(&column.name, &column.unit)
}

fn cells(table: &Table, index: usize, row: &[f64]) -> Result<Vec<String>, ExportError> {
    if row.len() != table.columns.len() {
        return Err(ExportError::Shape(format!(
            "table {}, row {index}: {} numbers for {} columns",
            table.name,
            row.len(),
            table.columns.len()
        )));
    }
    row.iter().map(|value| cell(table, index, *value)).collect()
}

/// Formats the number `value` in row `index` of a table as text. The number is formatted by the JSON library, which
/// writes short, exact text; the format `{}` would write 1e-300 with 300 digits.
fn cell(table: &Table, index: usize, value: f64) -> Result<String, ExportError> {
    if !value.is_finite() {
        let path = format!("tables.{}.rows[{index}]", table.name);
        return Err(ExportError::NonFinite(path));
    }
    Ok(serde_json::to_string(&value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: Vec<Vec<f64>>) -> Table {
        let columns = vec![Column::new("time, total", "s"), Column::new("ratio", "")];
        Table {
            rows,
            ..Table::new("t", "", columns)
        }
    }

    #[test]
    fn header_has_units_and_numbers_are_short_and_exact() -> Result<(), ExportError> {
        let text = csv(&table(vec![vec![0.1 + 0.2, 1e-300], vec![-1.5, 2.0]]))?;
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("\"time, total [s]\",ratio"));
        assert_eq!(lines.next(), Some("0.30000000000000004,1e-300"));
        assert_eq!(lines.next(), Some("-1.5,2.0"));
        assert_eq!(lines.next(), None);
        Ok(())
    }

    #[test]
    fn names_of_rows_come_first() -> Result<(), ExportError> {
        let mut named = table(Vec::new());
        named.push_named("law", "a, b", vec![1.0, 2.0]);
        let text = csv(&named)?;
        assert_eq!(text, "law,\"time, total [s]\",ratio\n\"a, b\",1.0,2.0\n");
        Ok(())
    }

    #[test]
    fn bad_rows_are_refused() {
        let short = csv(&table(vec![vec![1.0]]));
        assert!(matches!(short, Err(ExportError::Shape(_))), "{short:?}");
        let nan = csv(&table(vec![vec![1.0, f64::NAN]]));
        assert!(matches!(nan, Err(ExportError::NonFinite(_))), "{nan:?}");
    }
}
