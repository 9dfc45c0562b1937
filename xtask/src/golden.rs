//! The text of a golden record.

use carom_report::{Record, export};
use serde_json::Value;

/// Decimals of the mantissa of a number in a figure: six digits.
///
/// Figures are half of a record's numbers. `verify` compares quantities and tables, which keep
/// all digits; a figure is drawn, and six digits are a thousandth of a pixel.
const DECIMALS: usize = 5;

/// Converts a record to the text of its file in the folder `golden`: the exported JSON, in which the numbers of figures are
/// rounded.
pub(crate) fn text(record: &Record) -> anyhow::Result<String> {
    Ok(with_rounded_figures(&export::json(record)?)?)
}

fn with_rounded_figures(record: &str) -> serde_json::Result<String> {
    let mut value: Value = serde_json::from_str(record)?;
    if let Some(figures) = value.get_mut("figures") {
        round(figures);
    }
    let mut text = serde_json::to_string_pretty(&value)?;
    text.push('\n');
    Ok(text)
}

fn round(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(round),
        Value::Object(map) => map.values_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.DECIMALS$e}", number.as_f64().unwrap_or_default());
            *value = text.parse::<f64>().map_or(Value::Null, Value::from);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_report::record::{Axis, Color, Figure, Mark, Quantity};

    #[test]
    fn figures_are_rounded_and_nothing_else() {
        let third = 1.0 / 3.0;
        let mut record = Record::new("a", "b");
        let axis = || Axis::linear("", "");
        let mut figure = Figure::new("f", "", "", axis(), axis());
        figure.marks.push(Mark::line(
            "v",
            vec![third],
            vec![-1e-9 * third],
            Color::Blue,
        ));
        record.figures.push(figure);
        record.quantities.push(Quantity::new("q", third, ""));
        let read: Record = serde_json::from_str(&text(&record).unwrap()).unwrap();
        assert_eq!(read.quantities, record.quantities);
        let rounded = Mark::line("v", vec![0.333333], vec![-3.33333e-10], Color::Blue);
        assert_eq!(read.figures[0].marks, [rounded]);
    }
}
