//! Cotangents of the data of an impact, computed by the library's functions: the JSON interface has no key for them.

use super::draws::Draws;
use crate::fuzz::numbers;
use carom_derivative::Wrt;
use carom_wire::{Problem, Request, WireError, contact_set, metric, pose};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Relative change of the velocity at which a decision counts as tied.
const TIED: f64 = 1e-9;

/// Difference of a cotangent from the product with the Jacobian, over the terms of that product and the cotangent itself: the
/// Jacobian of a body that is brought to rest is rounding.
const SAME: f64 = 1e-9;

/// Adds a cotangent of the velocity after the impact (key `cotangent`) to random lines in generalized velocities.
pub(crate) fn with_cotangents(lines: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let lines = lines.prop_filter("generalized velocities", |line| {
        line.get("velocity").is_some()
    });
    (lines, Draws::numbers())
        .prop_map(|(mut line, numbers)| {
            let mut draws = Draws::new(numbers);
            let n = line["velocity"].as_array().map_or(0, Vec::len);
            let cotangent: Vec<f64> = (0..n).map(|_| draws.number()).collect();
            line["cotangent"] = json!(cotangent);
            line
        })
        .boxed()
}

/// Resolves the problem of a line with a cotangent, and computes the cotangents of all its data: an object with their entries
/// and with the product of the transposed Jacobian and the cotangent, or with an `error`.
pub(crate) fn pulled_back(line: &Value) -> Value {
    pull_back(line).unwrap_or_else(|error| json!({"error": error.to_value()}))
}

fn pull_back(line: &Value) -> Result<Value, WireError> {
    let cotangent = DVector::from_vec(numbers(&line["cotangent"]));
    let mut problem = line.clone();
    if let Some(problem) = problem.as_object_mut() {
        problem.remove("cotangent");
    }
    let problem: Problem = serde_json::from_value(problem)
        .map_err(|error| WireError::new("invalid-problem", error.to_string()))?;
    let request = Request::new(&problem.law, &problem.options)?;
    request.check_one_answer()?;
    let metric = metric(&problem.mass_matrix)?;
    let contacts = contact_set(&metric, &problem.contacts, &problem.constraints)?;
    let posed = pose(&contacts, &problem.velocity)?;
    let (_, derivative) = request.differentiate(&posed, &Wrt::ALL, TIED)?;
    let derivative = derivative?;
    let found = derivative
        .pull_back(&cotangent)
        .map_err(|error| WireError::new("cotangent", error.to_string()))?;
    let rows = |matrix: &DMatrix<f64>| -> Vec<Vec<f64>> {
        let rows = matrix.row_iter();
        rows.map(|row| row.iter().copied().collect()).collect()
    };
    let product = derivative.dv_dv().map(|jacobian| {
        let sizes = jacobian.abs().tr_mul(&cotangent.abs());
        let product = jacobian.tr_mul(&cotangent);
        json!({"product": product.as_slice(), "sizes": sizes.as_slice()})
    });
    Ok(json!({
        "velocity": found.velocity.as_slice(), "mass": rows(&found.mass), "rows": rows(&found.rows),
        "friction": found.friction.as_slice(), "restitution": found.restitution.as_slice(),
        "constraints": rows(&found.constraints), "jacobian": product,
    }))
}

/// Checks that the cotangent of the velocity before the impact is the product of the transposed Jacobian and the cotangent of the
/// velocity after it. With constraints both are taken on the velocities that they admit, each in its own way.
pub(crate) fn check(line: &Value) -> Result<(), String> {
    let found = pulled_back(line);
    if let Some(error) = found.get("error") {
        return match error["kind"].as_str() {
            None | Some("internal" | "invalid-problem") => Err(error.to_string()),
            Some(_) => Ok(()),
        };
    }
    let jacobian = &found["jacobian"];
    if line.get("constraints").is_some() || jacobian.is_null() {
        return Ok(());
    }
    let (velocity, product) = (numbers(&found["velocity"]), numbers(&jacobian["product"]));
    let sizes = numbers(&jacobian["sizes"]);
    let given = numbers(&line["cotangent"]);
    let terms = sizes.iter().chain(&given);
    let largest = terms.fold(0.0f64, |largest, x| largest.max(x.abs()));
    let is_near = |k: usize| (velocity[k] - product[k]).abs() <= SAME * largest;
    if velocity.len() == product.len() && (0..product.len()).all(is_near) {
        Ok(())
    } else {
        Err(format!("the cotangent {velocity:?} is not {product:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal balls exchange their velocities, and so do cotangents.
    #[test]
    fn cotangents_of_a_line_are_those_of_its_jacobian() {
        let line = json!({"law": "propagative", "mass_matrix": [[1, 0], [0, 1]], "velocity": [1, 0],
            "contacts": [{"normal": [-1, 1]}], "cotangent": [1, 0]});
        let found = pulled_back(&line);
        let velocity = numbers(&found["velocity"]);
        assert!(
            velocity[0].abs() < 1e-15 && (velocity[1] - 1.0).abs() < 1e-15,
            "{found}"
        );
        assert_eq!(check(&line), Ok(()));
    }
}
