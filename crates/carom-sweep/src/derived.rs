//! Columns that are computed from an answer.

use crate::plan::Derived;
use crate::table::{ColumnType, Datum};
use carom_metric::KineticMetric;
use carom_wire::{Problem, WireError};
use nalgebra::DMatrix;
use serde_json::Value;

/// Largest number of pairs of outcomes whose distance is computed.
const MAX_PAIRS: u64 = 1 << 30;

/// Computes the value of a table column that is derived from an answer, such as the number of outcomes. `asked` names the
/// derived quantity, and `kind` is the type of the column. `problem` is the impact problem of the answer.
pub(crate) fn derived(
    asked: Derived,
    kind: ColumnType,
    answer: &Value,
    problem: Option<&Problem>,
) -> Result<Datum, WireError> {
    let outcomes = answer.get("outcomes").and_then(Value::as_array);
    match asked {
        Derived::Outcomes => {
            let n = outcomes.map_or(1, Vec::len);
            Ok(match kind {
                ColumnType::Integer => i64::try_from(n).map_or(Datum::Null, Datum::Integer),
                _ => Datum::Float(n as f64),
            })
        }
        Derived::EnergyRatio => {
            let energy = |key: &str| answer.get(key).and_then(Value::as_f64);
            let ratio = energy("energy_plus_j").zip(energy("energy_minus_j"));
            let ratio = ratio.map(|(plus, minus)| plus / minus);
            let ratio = ratio.filter(|ratio| ratio.is_finite());
            Ok(ratio.map_or(Datum::Null, Datum::Float))
        }
        Derived::Diameter => {
            let outcomes = outcomes.map_or(&[][..], Vec::as_slice);
            diameter(outcomes, problem).map(|d| d.map_or(Datum::Null, Datum::Float))
        }
    }
}

/// Computes the diameter of a set of outcomes relative to the velocity before the impact,
/// $\max_{a,b} \lVert v_a^+ - v_b^+\rVert_M / \lVert v^-\rVert_M$. Here $v_a^+$ is the velocity after the impact in
/// outcome $a$, $v^-$ the velocity before it, and $M$ the mass matrix. The value is 0 for a single outcome, and `None` if
/// nothing moves before the impact.
fn diameter(outcomes: &[Value], problem: Option<&Problem>) -> Result<Option<f64>, WireError> {
    let Some(problem) = problem else {
        // A two-body problem has one outcome.
        return Ok(Some(0.0));
    };
    let n = problem.velocity.len();
    let entry = |i: usize, j: usize| {
        let row = problem.mass_matrix.get(i);
        row.and_then(|row| row.get(j)).copied().unwrap_or(f64::NAN)
    };
    let metric = KineticMetric::new(DMatrix::from_fn(n, n, entry))
        .map_err(|error| WireError::new("internal", error))?;
    let mut before = vec![0.0; n];
    metric.whiten_velocity_into(&problem.velocity, &mut before);
    let norm = length(&before);
    if !(norm > 0.0) {
        return Ok(None);
    }
    let mut points = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        let velocity = outcome.get("velocity_plus").and_then(Value::as_array);
        let velocity: Vec<f64> = velocity
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect();
        if velocity.len() != n {
            return Ok(None);
        }
        let mut point = vec![0.0; n];
        metric.whiten_velocity_into(&velocity, &mut point);
        points.push(point);
    }
    let widest = widest(points).ok_or_else(|| {
        let message = format!("diameter: {} outcomes are too many", outcomes.len());
        WireError::new("too-large", message)
    })?;
    Ok(Some(widest / norm))
}

/// Returns the largest distance between two of the points; `None` if too many pairs would have to be compared. The distance of
/// two points is at most the sum of their distances from the center of all points. Pairs for which this bound is below the
/// largest distance found so far are skipped.
fn widest(points: Vec<Vec<f64>>) -> Option<f64> {
    let Some(n) = points.first().map(Vec::len) else {
        return Some(0.0);
    };
    let mean = |k: usize| {
        let sum: f64 = points.iter().filter_map(|point| point.get(k)).sum();
        sum / points.len() as f64
    };
    let center: Vec<f64> = (0..n).map(mean).collect();
    let mut far: Vec<(f64, Vec<f64>)> = points
        .into_iter()
        .map(|point| (distance(&point, &center), point))
        .collect();
    far.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut widest, mut pairs) = (0.0f64, 0u64);
    for (i, (radius, point)) in far.iter().enumerate() {
        for (other_radius, other) in far.iter().skip(i + 1) {
            // The margin covers rounding errors of the bound.
            if (radius + other_radius) * (1.0 + 1e-12) < widest {
                break;
            }
            pairs += 1;
            widest = widest.max(distance(point, other));
        }
        if pairs > MAX_PAIRS {
            return None;
        }
    }
    Some(widest)
}

fn length(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_pair_is_that_of_all_pairs() {
        let mut state = 1u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for n in [1, 2, 3, 50, 300] {
            let points: Vec<Vec<f64>> =
                (0..n).map(|_| (0..3).map(|_| number()).collect()).collect();
            let pairs = points
                .iter()
                .flat_map(|a| points.iter().map(move |b| distance(a, b)));
            let expected = pairs.fold(0.0, f64::max);
            assert_eq!(widest(points), Some(expected));
        }
    }
}
