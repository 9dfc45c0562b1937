//! Random numbers, matrices and impact problems.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// Generates numbers of ordinary size as people write them, with a few tiny and huge ones.
pub(crate) fn number() -> BoxedStrategy<f64> {
    prop_oneof![
        6 => -1.0..1.0f64,
        3 => (-3i32..=3).prop_map(f64::from),
        1 => (-1.0..1.0f64, -9i32..9).prop_map(|(x, decade)| x * 10f64.powi(decade)),
    ]
    .boxed()
}

/// Generates floating-point numbers of any size.
pub(crate) fn wild() -> BoxedStrategy<f64> {
    prop_oneof![
        4 => number(),
        1 => (-1.0..1.0f64, -300i32..300).prop_map(|(x, decade)| x * 10f64.powi(decade)),
        1 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
    ]
    .boxed()
}

/// Generates a matrix as a list of rows, with entries drawn from `entry`.
pub(crate) fn rows(
    n_rows: usize,
    n_columns: usize,
    entry: &BoxedStrategy<f64>,
) -> BoxedStrategy<Vec<Vec<f64>>> {
    vec(vec(entry.clone(), n_columns), n_rows).boxed()
}

/// Generates mass matrices of size `n`, as $A A^T + \delta I$ with a random matrix $A$ and a number $\delta > 0$. The matrices
/// are positive definite, and sometimes nearly singular.
pub(crate) fn mass_matrix(n: usize) -> BoxedStrategy<Vec<Vec<f64>>> {
    (rows(n, n, &number()), -6.0..1.0f64)
        .prop_map(move |(a, decade)| {
            let entry = |i: usize, j: usize| {
                let product: f64 = a[i].iter().zip(&a[j]).map(|(x, y)| x * y).sum();
                product + if i == j { 10f64.powf(decade) } else { 0.0 }
            };
            (0..n)
                .map(|i| (0..n).map(|j| entry(i.max(j), i.min(j))).collect())
                .collect()
        })
        .boxed()
}

/// Generates a contact of a system with `n` generalized velocities. `tangents` is the number of tangent rows of the contact.
fn contact(n: usize, tangents: usize) -> BoxedStrategy<Value> {
    let coefficient = prop_oneof![2 => Just(0.0), 3 => 0.0..1.5f64];
    let restitution = prop_oneof![2 => Just(0.0), 1 => Just(1.0), 2 => 0.0..1.0f64];
    (
        vec(number(), n),
        rows(tangents, n, &number()),
        coefficient,
        restitution,
    )
        .prop_map(move |(normal, tangents, friction, restitution)| {
            // Friction needs directions to act along.
            let friction = if tangents.is_empty() { 0.0 } else { friction };
            json!({
                "normal": normal, "tangents": tangents,
                "friction": friction, "restitution": restitution,
            })
        })
        .boxed()
}

/// Generates mass matrix, velocity and contacts of an impact with few generalized velocities and at most `max_contacts`
/// contacts.
pub(crate) fn impact(max_contacts: usize) -> BoxedStrategy<Value> {
    impact_of(1..=5, max_contacts)
}

/// Generates mass matrix, velocity and contacts of an impact. `velocities` is the range of the number of generalized
/// velocities.
pub(crate) fn impact_of(
    velocities: RangeInclusive<usize>,
    max_contacts: usize,
) -> BoxedStrategy<Value> {
    (velocities, 0..=max_contacts, 0..=2usize)
        .prop_flat_map(|(n, contacts, tangents)| {
            (
                mass_matrix(n),
                vec(number(), n),
                vec(contact(n, tangents), contacts),
            )
        })
        .prop_map(|(mass_matrix, velocity, contacts)| {
            json!({"mass_matrix": mass_matrix, "velocity": velocity, "contacts": contacts})
        })
        .boxed()
}

/// Returns a JSON object to which the keys and values of `more` are added. Existing keys get the new values.
pub(crate) fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

/// Converts a JSON list to a list of numbers; other entries are omitted.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_f64).collect()
}

/// Converts a JSON list of lists to lists of numbers.
pub(crate) fn matrix(value: &Value) -> Vec<Vec<f64>> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(numbers).collect()
}
