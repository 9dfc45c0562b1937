//! Removal of the sign of zeros.
//!
//! The larger of −0 and 0 may be either of the two: for `f64::max` the choice depends on the processor. Answers
//! therefore contain positive zeros only, so that their bytes are equal on all machines.

use serde_json::{Map, Number, Value};

/// Replaces every negative zero (−0) in the JSON fields by 0, at any depth.
pub(crate) fn drop_signs_of_zeros(fields: &mut Map<String, Value>) {
    fields.values_mut().for_each(drop_sign);
}

/// Replaces every negative zero (−0) in a JSON value by 0. The recursion is shallow, because an answer has about a dozen
/// levels.
fn drop_sign(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_f64() == Some(0.0) && number.is_f64() => {
            if let Some(zero) = Number::from_f64(0.0) {
                *number = zero;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(drop_sign),
        Value::Object(fields) => drop_signs_of_zeros(fields),
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_sign_of_zeros_goes() {
        let mut value = json!({"a": [-0.0, 0.0, -1e-300, 0], "b": {"c": -0.0}, "d": "-0.0"});
        let Value::Object(fields) = &mut value else {
            panic!("an object");
        };
        drop_signs_of_zeros(fields);
        let text = value.to_string();
        assert_eq!(
            text,
            r#"{"a":[0.0,0.0,-1e-300,0],"b":{"c":0.0},"d":"-0.0"}"#
        );
    }
}
