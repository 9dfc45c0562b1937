//! Nothing makes a method panic, hang or lie.

use crate::common::*;
use carom_lcp::*;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};
use proptest::prelude::*;

/// The residual of an answer, by a second implementation: sums in another order, in halves.
fn residual(lcp: &Lcp, z: &DVector<f64>) -> f64 {
    let n = lcp.dim();
    let (m, q) = (lcp.matrix(), lcp.vector());
    let mut omega = 0.0f64;
    let mut w = vec![0.0; n];
    for i in 0..n {
        let terms: Vec<f64> = (0..n).map(|j| m[(i, j)] * z[j]).collect();
        omega = terms.iter().fold(omega, |a, t| a.max(t.abs()));
        let (even, odd): (Vec<_>, Vec<_>) = terms.iter().enumerate().partition(|(j, _)| j % 2 == 0);
        let sum = |part: Vec<(usize, &f64)>| part.iter().map(|(_, t)| **t).sum::<f64>();
        w[i] = sum(even) + (q[i] + sum(odd));
    }
    omega += q.amax();
    let ratio = |x: f64, s: f64| if x == 0.0 { 0.0 } else { x / s };
    let z_max = z.amax();
    (0..n).fold(0.0, |worst: f64, i| {
        let r = ratio(z[i], z_max).min(ratio(w[i], omega)).abs();
        if r <= worst { worst } else { r }
    })
}

type Family = (&'static str, fn(u64, usize) -> Lcp);

const FAMILIES: [Family; 8] = [
    ("pd_skew", pd_skew),
    ("dense", dense),
    ("p_matrix", p_matrix),
    ("strictly_copositive", strictly_copositive),
    ("z_matrix", z_matrix),
    ("integer_psd", |seed, n| integer_psd(seed, n, n.div_ceil(2))),
    ("integer_dense", integer_dense),
    ("rescaled", |seed, n| {
        rescaled(&pd_skew(seed, n), seed, 12.0)
    }),
];

/// Solves `count` problems of a family; returns the tally and the largest residual.
fn tally(family: &Family, count: u64) -> (std::collections::BTreeMap<&'static str, u64>, f64) {
    let (name, make) = family;
    let mut tally = std::collections::BTreeMap::new();
    let mut largest = 0.0f64;
    let lemke = Lemke::default();
    for seed in 0..count {
        let lcp = make(seed, 1 + (seed % 6) as usize);
        let solution = lemke.solve(&lcp).unwrap();
        *tally.entry(solution.status.name()).or_insert(0) += 1;
        match solution.status {
            LcpStatus::Solved => {
                let r = residual(&lcp, &solution.z);
                assert!(r <= 1e-9 && solution.z.min() >= 0.0, "{name} {seed}: {r:e}");
                largest = largest.max(r);
            }
            LcpStatus::Infeasible => {
                // Were there a solution, enumeration would find one.
                let all = Enumerate::default().all(lcp.view()).unwrap();
                assert!(all.solutions.is_empty(), "{name} {seed}");
            }
            _ => {}
        }
    }
    (tally, largest)
}

#[test]
fn no_answer_is_called_a_solution_that_is_none() {
    for family in &FAMILIES {
        let (tally, largest) = tally(family, 3000);
        assert!(largest <= 1e-12, "{}: {largest:e}", family.0);
        let solvable = !["dense", "z_matrix", "integer_dense"].contains(&family.0);
        if solvable {
            assert_eq!(tally.get("solved"), Some(&3000), "{}: {tally:?}", family.0);
        }
    }
}

/// A million problems of each class; prints the tallies.
#[test]
#[ignore = "minutes; run in release"]
fn no_answer_in_a_million_is_called_a_solution_that_is_none() {
    for family in &FAMILIES {
        let (tally, largest) = tally(family, 1_000_000);
        println!("{:20} {tally:?} largest residual {largest:.1e}", family.0);
    }
}

/// Small problems of no class: whenever enumeration finds a solution, so does the ladder of
/// attempts, whose last step is the same.
#[test]
fn nothing_solvable_is_missed_up_to_eight() {
    for seed in 0..2000 {
        let lcp = integer_dense(seed, 1 + (seed % 5) as usize);
        let all = Enumerate::default().all(lcp.view()).unwrap();
        let solution = Lemke::default().solve(&lcp).unwrap();
        if !all.solutions.is_empty() {
            assert_eq!(solution.status, LcpStatus::Solved, "seed {seed}");
        }
    }
}

fn extreme() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -2.0..2.0,
        2 => Just(0.0),
        1 => (-3i32..=3).prop_map(f64::from),
        1 => (-150i32..=150).prop_map(|e| 10f64.powi(e)),
        1 => (-150i32..=150).prop_map(|e| -10f64.powi(e)),
        1 => Just(5e-324),
        1 => Just(f64::MIN_POSITIVE / 8.0),
        1 => Just(-1e300),
        1 => Just(f64::MAX),
    ]
}

fn any_problem() -> impl Strategy<Value = Lcp> {
    (0usize..8).prop_flat_map(|n| {
        let entries = proptest::collection::vec(extreme(), n * n);
        let vector = proptest::collection::vec(extreme(), n);
        (entries, vector, 0..n.max(1), 0..n.max(1), 0..4).prop_map(
            move |(entries, q, a, b, kind)| {
                let mut matrix = DMatrix::from_vec(n, n, entries);
                let mut vector = DVector::from_vec(q);
                if n > 0 && kind == 1 {
                    matrix.row_mut(a).fill(0.0);
                } else if n > 0 && kind == 2 {
                    let row = matrix.row(b).into_owned();
                    matrix.row_mut(a).copy_from(&row);
                    vector[a] = vector[b];
                } else if n > 0 && kind == 3 {
                    matrix.column_mut(a).fill(0.0);
                }
                Lcp::new(matrix, vector).unwrap()
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Exponents over the whole range make rational arithmetic slow.
        cases: 200,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_input_ends_with_a_true_status(lcp in any_problem()) {
        let (auto, _) = Auto::default().with_options(LemkeOptions::default()).choose(lcp.view()).unwrap();
        let mut answers = vec![
            Lemke::default().solve(&lcp).unwrap(),
            auto,
        ];
        answers.extend(Enumerate::default().all(lcp.view()).unwrap().solutions);
        for answer in answers {
            prop_assert!(answer.z.iter().chain(answer.w.iter()).all(|x| x.is_finite()));
            let (certificate, _) = lcp.certify(&answer.z).unwrap();
            prop_assert_eq!(certificate.residual.to_bits(), answer.certificate.residual.to_bits());
            let is_solved = answer.status == LcpStatus::Solved;
            prop_assert!(!is_solved || certificate.backward_error <= SOLVED_ERROR);
            prop_assert_eq!(is_solved, matches!(answer.proof, Some(Proof::Residual | Proof::Exact)));
        }
        let class = MatrixClass::of(lcp.matrix()).unwrap();
        prop_assert!(!class.explain_ray().is_empty());
    }
}

#[test]
fn faults_of_a_problem_are_named() {
    let kind = |matrix: DMatrix<f64>, vector: DVector<f64>| {
        let error = Lcp::new(matrix, vector).unwrap_err();
        format!("{}: {error}", error.kind())
    };
    assert_eq!(
        kind(dmatrix![1.0, 2.0], dvector![1.0]),
        "not-square: matrix has 1 rows and 2 columns: it must be square"
    );
    assert_eq!(
        kind(dmatrix![1.0], dvector![1.0, 2.0]),
        "dimension-mismatch: matrix has 1 entries where 4 are needed"
    );
    assert_eq!(
        kind(dmatrix![1.0, 0.0; f64::NAN, 1.0], dvector![1.0, 2.0]),
        "non-finite: matrix has the non-finite entry NaN at index 1"
    );
    assert_eq!(
        kind(dmatrix![1.0], dvector![f64::INFINITY]),
        "non-finite: vector has the non-finite entry inf at index 0"
    );
    // Refused by its length alone: the matrix would take 80 GB.
    let error = LcpRef::new(&[], &vec![0.0; 100_000]).unwrap_err();
    assert_eq!(
        error,
        LcpError::TooLarge {
            n: 100_000,
            max: MAX_DIM
        }
    );
    let error = Lcp::from_rows(&[], vec![0.0; 100_000]).unwrap_err();
    assert_eq!(error.kind(), "too-large");
    let cover = |cover: Vec<f64>| {
        let options = LemkeOptions::default().with_cover(Some(cover));
        let lcp = Lcp::new(dmatrix![1.0], dvector![-1.0]).unwrap();
        Lemke::default().with_options(options).solve(&lcp)
    };
    assert_eq!(cover(vec![0.0]).unwrap_err().kind(), "invalid-cover");
    assert_eq!(
        cover(vec![1.0, 1.0]).unwrap_err().kind(),
        "dimension-mismatch"
    );
    assert_eq!(cover(vec![2.0]).unwrap().z[0], 1.0);
}

#[test]
fn the_empty_problem_is_solved_by_nothing() {
    let empty = Lcp::new(DMatrix::zeros(0, 0), DVector::zeros(0)).unwrap();
    let solution = Lemke::default().solve(&empty).unwrap();
    assert_eq!((solution.status, solution.n_pivots), (LcpStatus::Solved, 0));
    assert_eq!(
        Enumerate::default()
            .all(empty.view())
            .unwrap()
            .solutions
            .len(),
        1
    );
}

#[test]
fn a_problem_at_the_ends_of_the_exponent_range_is_solved() {
    for (m, q) in [
        (1e150, 1e-150),
        (1e-150, 1e150),
        (1e150, 1e150),
        (1e-300, 1e-310),
        (1e300, 1e300),
    ] {
        let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 2.0] * m, dvector![-5.0, -6.0] * q).unwrap();
        let solution = Lemke::default().solve(&lcp).unwrap();
        assert_eq!(
            solution.status,
            LcpStatus::Solved,
            "{m:e} {q:e}: {solution:?}"
        );
        let expected = dvector![4.0 / 3.0, 7.0 / 3.0];
        let z = solution.z / q * m;
        // Denormal numbers have fewer digits.
        let tolerance = if q < 1e-300 { 1e-12 } else { 1e-14 };
        assert!((z - expected).amax() <= tolerance, "{m:e} {q:e}");
    }
    // 1e-200 z = 1e200 has no solution among the numbers of double precision.
    let lcp = Lcp::new(dmatrix![1e-200], dvector![-1e200]).unwrap();
    let solution = Lemke::default().solve(&lcp).unwrap();
    assert_ne!(solution.status, LcpStatus::Solved);
    assert!(solution.z[0].is_finite());
}

/// An option that makes no sense is named with its range.
#[test]
fn options_out_of_range_are_refused() {
    let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 2.0], dvector![-5.0, -6.0]).unwrap();
    let refused = |change: &dyn Fn(&mut LemkeOptions)| {
        let mut lemke = Lemke::default();
        change(&mut lemke.options);
        lemke.solve(&lcp).unwrap_err().to_string()
    };
    for value in [f64::NAN, f64::INFINITY, -1.0, 1.0] {
        let text = refused(&|options| options.refine_above = value);
        assert_eq!(
            text,
            format!("refine_above is {value}: it must be in [0, 1)")
        );
    }
    assert_eq!(
        refused(&|options| options.max_attempts = 0),
        "max_attempts is 0: it must be at least 1"
    );
    let start = Some(vec![true; 3]);
    assert_eq!(
        refused(&|options| options.start.clone_from(&start)),
        "start has 3 entries where 2 are needed"
    );
    let none = Enumerate::default().with_max_solutions(0);
    assert_eq!(
        none.all(lcp.view()).unwrap_err().to_string(),
        "max_solutions is 0: it must be at least 1"
    );
}
