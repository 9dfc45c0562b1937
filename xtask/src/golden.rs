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
    let mut text = String::new();
    write(&value, 0, &mut text)?;
    text.push('\n');
    Ok(text)
}

/// Appends a JSON value to `text`: objects, and lists of lists or objects, with an entry on each line; lists of numbers and
/// words on one line. Half of a record would be line breaks otherwise.
fn write(value: &Value, depth: usize, text: &mut String) -> serde_json::Result<()> {
    let is_nested = |value: &Value| value.is_array() || value.is_object();
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    match value {
        Value::Array(list) if list.iter().any(is_nested) => {
            for (k, entry) in list.iter().enumerate() {
                text.push_str(if k == 0 { "[" } else { "," });
                text.push_str(&line(depth + 1));
                write(entry, depth + 1, text)?;
            }
            text.push_str(&line(depth));
            text.push(']');
        }
        Value::Array(list) => {
            text.push('[');
            for (k, entry) in list.iter().enumerate() {
                text.push_str(if k == 0 { "" } else { ", " });
                write(entry, depth, text)?;
            }
            text.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            for (k, (key, entry)) in map.iter().enumerate() {
                text.push_str(if k == 0 { "{" } else { "," });
                text.push_str(&line(depth + 1));
                text.push_str(&serde_json::to_string(key)?);
                text.push_str(": ");
                write(entry, depth + 1, text)?;
            }
            text.push_str(&line(depth));
            text.push('}');
        }
        other => text.push_str(&serde_json::to_string(other)?),
    }
    Ok(())
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
    fn lists_of_numbers_stand_on_one_line() {
        let value = serde_json::json!({"a": [1.0, "b\n"], "c": [[2], {}], "d": []});
        let mut text = String::new();
        write(&value, 0, &mut text).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        let expected =
            "{\n  \"a\": [1.0, \"b\\n\"],\n  \"c\": [\n    [2],\n    {}\n  ],\n  \"d\": []\n}";
        assert_eq!(text, expected);
    }

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
