//! The structure of outcome sets, as text: orders, counts, statuses, rounded numbers.

use carom_contact::{Contact, ContactSet, Diagnostics, ImpactProblem, SetValuedLaw};
use carom_impact::Propagative;
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

/// Every outcome of balls in a row, one line each.
fn outcomes(masses: &[f64], velocity: &[f64]) -> String {
    let mass = DMatrix::from_diagonal(&DVector::from_column_slice(masses));
    let metric = KineticMetric::new(mass).unwrap();
    let n = masses.len();
    let normal = |i: usize| {
        let mut row = DVector::zeros(n);
        row[i] = -1.0;
        row[i + 1] = 1.0;
        Contact::frictionless(Covector(row))
    };
    let contacts = ContactSet::new(&metric, (0..n - 1).map(normal).collect()).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(velocity)).unwrap();
    let set = Propagative::default().resolve_all(&problem).unwrap();
    let line = |outcome: &carom_contact::ImpactOutcome| {
        let Diagnostics::Propagative(d) = &outcome.diagnostics else {
            panic!("wrong law")
        };
        let v: Vec<String> = outcome
            .velocity_plus
            .0
            .iter()
            // Adding zero turns a rounded -0 into 0.
            .map(|v| format!("{:.6}", (v * 1e6).round() / 1e6 + 0.0))
            .collect();
        let sequence = d.sequence.as_ref().unwrap();
        format!(
            "{sequence:?} x{} lengths {:?}: {}",
            d.n_sequences,
            d.lengths,
            v.join(" ")
        )
    };
    let lines: Vec<String> = set.outcomes.iter().map(line).collect();
    format!(
        "{}\nindeterminacy {:.6}",
        lines.join("\n"),
        set.indeterminacy
    )
}

/// Seghete & Murphey, Example 1 and Theorem 3.
#[test]
fn equal_balls_reverse_their_velocities_in_either_order() {
    insta::assert_snapshot!(outcomes(&[1.0; 3], &[3.0, 2.0, 1.0]), @r"
    [0, 1, 0] x2 lengths [3]: 1.000000 2.000000 3.000000
    indeterminacy 0.000000
    ");
}

#[test]
fn unequal_balls_have_two_outcomes() {
    insta::assert_snapshot!(outcomes(&[1.0, 2.0, 1.0], &[1.0, 0.0, -1.0]), @r"
    [0, 1, 0] x1 lengths [3]: -0.481481 -0.370370 1.222222
    [1, 0, 1] x1 lengths [3]: -1.222222 0.370370 0.481481
    indeterminacy 1.047566
    ");
}

#[test]
fn four_unequal_balls_have_a_whole_set() {
    insta::assert_snapshot!(outcomes(&[1.0, 0.7, 1.6, 0.9], &[2.0, 1.0, 0.0, -1.0]), @r"
    [2, 1, 0, 1, 2] x1 lengths [5]: -0.794271 -0.562015 0.680344 2.110145
    [0, 1, 0, 2, 1, 0] x2 lengths [6]: -0.981526 -0.389235 0.797382 1.975754
    [0, 2, 1, 0, 2, 1] x4 lengths [6]: -1.318718 0.017248 1.234743 1.256728
    [1, 0, 2, 1, 0, 2] x4 lengths [6]: -1.404754 0.338286 1.115153 1.315233
    [2, 1, 0, 2, 1, 2] x2 lengths [6]: -0.794271 -0.609053 0.719915 2.076382
    [0, 1, 0, 1, 2, 1, 0] x1 lengths [7]: -0.846642 -0.418138 0.633879 2.139035
    [0, 2, 1, 0, 1, 2, 1] x2 lengths [7]: -1.318718 0.539390 0.713511 1.777254
    [1, 2, 1, 0, 1, 0, 2] x2 lengths [7]: -1.338900 0.103985 1.132330 1.393758
    [1, 0, 1, 0, 2, 1, 0, 1] x2 lengths [8]: -0.306651 -0.074113 -0.041378 2.471927
    [1, 0, 1, 2, 1, 0, 1, 0] x1 lengths [8]: -0.248536 -0.235331 -0.007166 2.471927
    indeterminacy 0.943656
    ");
}
