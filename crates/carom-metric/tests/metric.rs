//! The kinetic-energy metric: errors, dualities, reset maps, projections and angles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use carom_metric::{
    Covector, FAER_MIN_DIM, KineticMetric, MetricError, Tangent, UnitNormals, orthonormal_span,
};
use nalgebra::{DMatrix, DVector, dmatrix};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::f64::consts::FRAC_PI_2;

/// Fails for NaN.
#[track_caller]
fn assert_close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (actual - expected).abs();
    assert!(
        off <= tolerance,
        "{what}: {actual:e}, expected {expected:e}, off by {off:e}"
    );
}

/// A full mass matrix of condition below about 100.
fn mass(n: usize) -> DMatrix<f64> {
    let b = DMatrix::from_fn(n, n, |i, j| ((i * n + j) as f64 * 0.7 + 0.2).sin());
    &b * b.transpose() / n as f64 + DMatrix::identity(n, n) * 0.3
}

fn vector(n: usize, phase: f64) -> DVector<f64> {
    DVector::from_fn(n, |i, _| (1.3 * i as f64 + phase).cos())
}

// Errors.

#[test]
fn an_unusable_mass_matrix_is_refused_with_its_reason() {
    let refuse = |m: DMatrix<f64>| KineticMetric::new(m).unwrap_err();
    assert_eq!(refuse(DMatrix::zeros(0, 0)), MetricError::Empty);
    assert_eq!(
        refuse(DMatrix::zeros(2, 3)),
        MetricError::NotSquare {
            rows: 2,
            columns: 3
        }
    );
    match refuse(dmatrix![1.0, 0.0; f64::NAN, 1.0]) {
        MetricError::NonFinite {
            what: "mass matrix",
            index: 1,
            value,
        } => assert!(value.is_nan()),
        other => panic!("{other:?}"),
    }
    assert_eq!(refuse(dmatrix![f64::INFINITY]).kind(), "non-finite");
    match refuse(dmatrix![2.0, 0.5; 0.25, 1.0]) {
        MetricError::NotSymmetric {
            row: 1,
            column: 0,
            difference,
        } => {
            assert_close(difference, 0.25, 1e-15, "difference");
        }
        other => panic!("{other:?}"),
    }
    for (m, size) in [
        (dmatrix![0.0], 1),
        (dmatrix![-1.0, 0.0; 0.0, 1.0], 1),
        (dmatrix![1.0, 1.0; 1.0, 1.0], 2),
        (dmatrix![1.0, 0.0, 0.0; 0.0, 1.0, 2.0; 0.0, 2.0, 1.0], 3),
    ] {
        assert_eq!(refuse(m), MetricError::NotPositiveDefinite { size });
    }
}

#[test]
fn a_large_singular_mass_matrix_is_refused_too() {
    let n = FAER_MIN_DIM + 2;
    let mut m = DMatrix::identity(n, n);
    let row = m.row(4).into_owned();
    m.set_row(9, &row);
    m[(4, 9)] = 1.0;
    let error = KineticMetric::new(m).unwrap_err();
    assert_eq!(error, MetricError::NotPositiveDefinite { size: 10 });
    let mut m = mass(n);
    m[(n - 1, n - 1)] = -1.0;
    let error = KineticMetric::new(m).unwrap_err();
    assert_eq!(error, MetricError::NotPositiveDefinite { size: n });
}

#[test]
fn asymmetry_within_rounding_is_symmetrized() {
    let metric = KineticMetric::new(dmatrix![2.0, 0.5 + 1e-14; 0.5, 1.0]).unwrap();
    assert_eq!(metric.mass_matrix(), &metric.mass_matrix().transpose());
}

#[test]
fn vectors_of_the_wrong_length_are_refused_by_name() {
    let metric = KineticMetric::new(mass(3)).unwrap();
    let mismatch = |what| MetricError::DimensionMismatch {
        what,
        expected: 3,
        found: 2,
    };
    let (v, p) = (
        Tangent::from_slice(&[1.0, 2.0]),
        Covector::from_slice(&[1.0, 2.0]),
    );
    let good = Covector::from_slice(&[1.0, 2.0, 3.0]);
    assert_eq!(metric.flat(&v).unwrap_err(), mismatch("velocity"));
    assert_eq!(metric.energy(&v).unwrap_err(), mismatch("velocity"));
    assert_eq!(metric.sharp(&p).unwrap_err(), mismatch("covector"));
    assert_eq!(metric.inner(&good, &p).unwrap_err(), mismatch("covector"));
    assert_eq!(metric.norm(&p).unwrap_err(), mismatch("covector"));
    assert_eq!(metric.reflect(&good, &p).unwrap_err(), mismatch("normal"));
    assert_eq!(metric.reflect(&p, &good).unwrap_err(), mismatch("covector"));
    assert_eq!(metric.reset_map(&p).unwrap_err(), mismatch("normal"));
}

#[test]
fn normals_without_direction_are_refused_by_index() {
    let metric = KineticMetric::new(mass(2)).unwrap();
    let units = |u: [[f64; 2]; 2]| {
        let covectors = u.map(|u| Covector::from_slice(&u));
        UnitNormals::new(&metric, covectors.iter()).unwrap_err()
    };
    assert_eq!(
        units([[1.0, 0.0], [0.0, 0.0]]),
        MetricError::ZeroNormal { index: 1 }
    );
    assert_eq!(
        units([[1e-301, 0.0], [0.0, 1.0]]),
        MetricError::ZeroNormal { index: 0 }
    );
    assert_eq!(units([[1.0, 0.0], [0.0, f64::NAN]]).kind(), "non-finite");
    let mut flat = UnitNormals::new(&metric, [Covector::from_slice(&[1.0, 0.5])].iter()).unwrap();
    let along = flat.columns().clone();
    assert_eq!(
        flat.deflate(&along).unwrap_err(),
        MetricError::ZeroNormal { index: 0 }
    );
}

#[test]
fn every_kind_of_error_has_its_own_name_and_message() {
    let errors = [
        (MetricError::Empty, "empty"),
        (
            MetricError::NotSquare {
                rows: 1,
                columns: 2,
            },
            "not-square",
        ),
        (
            MetricError::NonFinite {
                what: "normal",
                index: 3,
                value: f64::NAN,
            },
            "non-finite",
        ),
        (
            MetricError::NotSymmetric {
                row: 1,
                column: 0,
                difference: 0.5,
            },
            "not-symmetric",
        ),
        (
            MetricError::NotPositiveDefinite { size: 2 },
            "not-positive-definite",
        ),
        (
            MetricError::DimensionMismatch {
                what: "velocity",
                expected: 3,
                found: 2,
            },
            "dimension-mismatch",
        ),
        (MetricError::ZeroNormal { index: 4 }, "zero-normal"),
    ];
    for (error, kind) in &errors {
        assert_eq!(error.kind(), *kind);
    }
    assert_eq!(
        errors[2].0.to_string(),
        "normal has the non-finite entry NaN at index 3"
    );
    assert_eq!(
        errors[5].0.to_string(),
        "velocity has 2 entries where `mass_matrix` is 3 by 3"
    );
}

// Dualities, in both linear-algebra paths.

#[test]
fn sharp_and_flat_undo_each_other_in_every_dimension() {
    for n in [1, 2, 7, FAER_MIN_DIM - 1, FAER_MIN_DIM, 120] {
        let m = mass(n);
        let metric = KineticMetric::new(m.clone()).unwrap();
        assert_eq!(metric.dim(), n);
        let v = Tangent(vector(n, 0.4));
        let p = metric.flat(&v).unwrap();
        let back = metric.sharp(&p).unwrap();
        assert_close(
            (&back.0 - &v.0).norm(),
            0.0,
            1e-12 * v.0.norm(),
            "sharp of flat",
        );
        let p = Covector(vector(n, 1.1));
        let back = &m * metric.sharp(&p).unwrap().0;
        assert_close(
            (back - &p.0).norm(),
            0.0,
            1e-12 * p.0.norm(),
            "mass matrix times sharp",
        );
    }
}

#[test]
fn energies_and_inner_products_are_those_of_the_mass_matrix_in_every_dimension() {
    for n in [1, 3, FAER_MIN_DIM - 1, FAER_MIN_DIM, 120] {
        let m = mass(n);
        let metric = KineticMetric::new(m.clone()).unwrap();
        let v = Tangent(vector(n, 0.4));
        let direct = 0.5 * v.0.dot(&(&m * &v.0));
        let energy = metric.energy(&v).unwrap();
        assert_close(energy, direct, 1e-12 * direct, "energy");
        let p = metric.flat(&v).unwrap();
        let norm = metric.norm(&p).unwrap();
        assert_close(
            0.5 * norm * norm,
            direct,
            1e-12 * direct,
            "energy of the momentum",
        );
        let a = Covector(vector(n, 2.0));
        let pairing = a.0.dot(&v.0);
        let inner = metric.inner(&a, &p).unwrap();
        assert_close(
            inner,
            pairing,
            1e-12 * a.0.norm() * v.0.norm(),
            "<a, Mv> = a v",
        );
        let whitened = metric.whiten(&p).unwrap() - metric.whiten_velocity(&v).unwrap();
        assert_close(
            whitened.norm(),
            0.0,
            1e-12 * norm,
            "whitened momentum and velocity",
        );
    }
}

#[test]
fn unit_normals_agree_with_the_mass_matrix_in_every_dimension() {
    for n in [2, FAER_MIN_DIM - 1, FAER_MIN_DIM, 120] {
        let m = mass(n);
        let metric = KineticMetric::new(m.clone()).unwrap();
        let normals: Vec<Covector> = (0..5)
            .map(|k| Covector(vector(n, 0.5 + f64::from(k))))
            .collect();
        let units = UnitNormals::new(&metric, normals.iter()).unwrap();
        let inverse = m.clone().try_inverse().unwrap();
        let product = |i: usize, j: usize| normals[i].0.dot(&(&inverse * &normals[j].0));
        let gram = units.gram();
        assert_eq!((units.len(), gram.shape()), (5, (5, 5)));
        for i in 0..5 {
            assert_close(
                units.norm(i).powi(2),
                product(i, i),
                1e-12 * product(i, i),
                "norm",
            );
            for j in 0..5 {
                let cosine = product(i, j) / (product(i, i) * product(j, j)).sqrt();
                assert_close(gram[(i, j)], cosine, 1e-12, "cosine");
            }
            let single = metric.whiten(&normals[i]).unwrap() / units.norm(i);
            let off = (single - units.columns().column(i)).norm();
            assert_close(off, 0.0, 1e-12, "one column and many");
        }
    }
}

#[test]
fn energies_survive_extreme_units() {
    let metric = KineticMetric::new(dmatrix![2.0]).unwrap();
    let energy = |v: f64| metric.energy(&Tangent::from_slice(&[v])).unwrap();
    assert_close(energy(1e150) / 1e300, 1.0, 1e-14, "fast");
    assert_close(energy(1e-150) * 1e300, 1.0, 1e-14, "slow");
    let p = Covector::from_slice(&[3e200]);
    assert_close(
        metric.norm(&p).unwrap() / 3e200,
        0.5f64.sqrt(),
        1e-15,
        "norm",
    );
}

// Projections.

#[test]
fn a_momentum_splits_into_what_contacts_can_change_and_what_they_cannot() {
    for n in [5, FAER_MIN_DIM + 1] {
        let metric = KineticMetric::new(mass(n)).unwrap();
        let mut normals: Vec<Covector> = (0..3)
            .map(|k| Covector(vector(n, 0.5 + f64::from(k)).map(|x| x * x)))
            .collect();
        // A dependent one changes nothing.
        normals.push(Covector(&normals[0].0 * 2.0 - &normals[1].0));
        let p = Covector(vector(n, 0.1));
        let inside = metric.project_onto_span(&p, &normals).unwrap();
        let outside = metric.project_onto_null(&p, &normals).unwrap();
        assert_close((&inside.0 + &outside.0 - &p.0).norm(), 0.0, 1e-12, "sum");
        for u in &normals {
            let b = metric.inner(&outside, u).unwrap();
            assert_close(b, 0.0, 1e-11, "orthogonal to the normals");
        }
        let again = metric.project_onto_span(&inside, &normals).unwrap();
        assert_close((&again.0 - &inside.0).norm(), 0.0, 1e-11, "idempotent");
        assert!(inside.0.norm() > 0.01 && outside.0.norm() > 0.01);
    }
}

#[test]
fn no_normals_span_nothing() {
    let metric = KineticMetric::new(mass(3)).unwrap();
    let p = Covector::from_slice(&[1.0, 2.0, 3.0]);
    assert_eq!(
        metric.project_onto_span(&p, &[]).unwrap().0,
        DVector::zeros(3)
    );
    assert_eq!(metric.project_onto_null(&p, &[]).unwrap(), p);
    assert_eq!(orthonormal_span(&DMatrix::zeros(3, 0)).shape(), (3, 0));
    let units = UnitNormals::new(&metric, [].iter()).unwrap();
    assert!(units.is_empty() && units.gram().is_empty());
}

#[test]
fn the_span_has_the_rank_of_its_columns() {
    let columns = dmatrix![1.0, 2.0, 0.0; 1.0, 2.0, 1.0; 0.0, 0.0, 1.0; 0.0, 0.0, 0.0];
    let span = orthonormal_span(&columns);
    assert_eq!(span.shape(), (4, 2));
    let identity = span.tr_mul(&span);
    assert_close(
        (identity - DMatrix::identity(2, 2)).norm(),
        0.0,
        1e-14,
        "orthonormal",
    );
    let wide = dmatrix![1.0, 2.0, 3.0];
    assert_eq!(orthonormal_span(&wide).shape(), (1, 1));
}

#[test]
fn deflated_normals_are_those_of_the_null_space() {
    let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
    let normals = [
        Covector::from_slice(&[3.0, 4.0, 12.0]),
        Covector::from_slice(&[1.0, 0.0, 0.0]),
    ];
    let mut units = UnitNormals::new(&metric, normals.iter()).unwrap();
    units.deflate(&dmatrix![0.0; 0.0; 1.0]).unwrap();
    assert_close(units.norm(0), 5.0, 1e-14, "norm of what is left");
    assert_close(units.norm(1), 1.0, 1e-15, "norm of what was free");
    assert_close(units.cosine(0, 1), 0.6, 1e-15, "cosine of what is left");
}

// Angles.

/// Exact constructions: normals (1, ±t) enclose a wedge with $\cot\gamma = t$ or $\tan\gamma = t$.
#[test]
fn wedge_angles_are_accurate_near_zero_and_near_a_right_angle() {
    let metric = KineticMetric::new(DMatrix::identity(2, 2)).unwrap();
    let wedge = |u: [f64; 2], v: [f64; 2]| {
        let normals = [Covector::from_slice(&u), Covector::from_slice(&v)];
        UnitNormals::new(&metric, normals.iter())
            .unwrap()
            .wedge(0, 1)
    };
    for exponent in [1, 10, 20, 26, 30, 40] {
        // Small enough that the arctangent is its own argument to all digits, or computed.
        let t = 2f64.powi(-exponent);
        let narrow = wedge([t, 1.0], [t, -1.0]);
        let gamma = t.atan();
        assert_close(
            narrow.half_angle(),
            gamma,
            1e-15 * gamma,
            "nearly opposite normals",
        );
        assert_close(narrow.sin, gamma.sin(), 1e-15 * gamma, "sine");
        let wide = wedge([1.0, t], [1.0, -t]);
        let left = wide.cos.atan2(wide.sin);
        assert_close(left, gamma, 1e-15 * gamma, "what is left to a right angle");
        assert_close(
            wide.half_angle(),
            FRAC_PI_2 - gamma,
            1e-15,
            "nearly equal normals",
        );
    }
    let square = wedge([1.0, 0.0], [0.0, 1.0]);
    assert_close(
        square.half_angle(),
        FRAC_PI_2 / 2.0,
        1e-15,
        "orthogonal normals",
    );
    assert_eq!(wedge([1.0, 0.0], [-1.0, 0.0]).half_angle(), 0.0);
    assert_eq!(wedge([1.0, 0.0], [3.0, 0.0]).half_angle(), FRAC_PI_2);
}

/// In whitened coordinates the angle keeps its digits also when the masses are not equal: a light
/// ball between a wall and a block 10^12 times heavier has $\tan 2\gamma = 10^{-6}$.
#[test]
fn the_wedge_of_a_light_ball_is_the_root_of_the_mass_ratio() {
    for k in 1..=6 {
        let ratio = 100f64.powi(k);
        let metric = KineticMetric::new(dmatrix![1.0, 0.0; 0.0, ratio]).unwrap();
        let normals = [
            Covector::from_slice(&[1.0, 0.0]),
            Covector::from_slice(&[-1.0, 1.0]),
        ];
        let wedge = UnitNormals::new(&metric, normals.iter())
            .unwrap()
            .wedge(0, 1);
        let expected = 0.5 * (1.0 / ratio.sqrt()).atan();
        assert_close(wedge.half_angle(), expected, 2e-15 * expected, "half angle");
    }
}

// Reset maps.

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A mass matrix with condition up to 1e6, a normal and two momenta.
#[derive(Clone, Debug)]
struct Reflection {
    metric: KineticMetric,
    u: Covector,
    a: Covector,
    b: Covector,
}

prop_compose! {
    fn reflection()(n in 1usize..=6)(
        entries in prop::collection::vec(-1.0..1.0f64, n * n),
        exponents in prop::collection::vec(0.0..1.0f64, n),
        u in prop::collection::vec(-1.0..1.0f64, n),
        a in prop::collection::vec(-1.0..1.0f64, n),
        b in prop::collection::vec(-1.0..1.0f64, n),
    ) -> Reflection {
        let n = u.len();
        let q = DMatrix::from_row_slice(n, n, &entries).qr().q();
        let stretch = DVector::from_iterator(n, exponents.iter().map(|x| 10f64.powf(6.0 * x)));
        let m = &q * DMatrix::from_diagonal(&stretch) * q.transpose();
        let m = (&m + m.transpose()) * 0.5;
        let [u, a, b] = [u, a, b].map(|x| Covector::from_slice(&x));
        Reflection { metric: KineticMetric::new(m).unwrap(), u, a, b }
    }
}

impl Reflection {
    /// Norm of a difference in the kinetic metric over that of a reference.
    fn off(&self, x: &Covector, y: &Covector, reference: &Covector) -> f64 {
        let norm = |x: &Covector| self.metric.norm(x).unwrap();
        norm(&Covector(&x.0 - &y.0)) / norm(reference)
    }
}

proptest! {
    #![proptest_config(config())]

    /// Seghete & Murphey, Eqs. (8)-(9), Lemma 5.
    #[test]
    fn a_reflection_undoes_itself_keeps_products_and_forgets_the_scale(
        r in reflection(),
        scale in prop_oneof![-1e3..-1e-3f64, 1e-3..1e3f64],
    ) {
        let map = |p: &Covector| r.metric.reflect(p, &r.u).unwrap();
        let (a, b) = (map(&r.a), map(&r.b));
        prop_assert!(r.off(&map(&a), &r.a, &r.a) <= 1e-10);
        let scaled = r.metric.reflect(&r.a, &Covector(&r.u.0 * scale)).unwrap();
        prop_assert!(r.off(&scaled, &a, &r.a) <= 1e-10);
        let product = r.metric.inner(&r.a, &r.b).unwrap();
        let size = r.metric.norm(&r.a).unwrap() * r.metric.norm(&r.b).unwrap();
        prop_assert!((r.metric.inner(&a, &b).unwrap() - product).abs() <= 1e-10 * size);
    }

    /// The map is a mirror: it turns the normal around and fixes what is orthogonal to it.
    #[test]
    fn a_reset_map_turns_its_normal_and_fixes_the_rest(r in reflection()) {
        let turned = r.metric.reflect(&r.u, &r.u).unwrap();
        prop_assert!(r.off(&turned, &Covector(-&r.u.0), &r.u) <= 1e-10);
        let tangent = r.metric.project_onto_null(&r.a, std::slice::from_ref(&r.u)).unwrap();
        let fixed = r.metric.reflect(&tangent, &r.u).unwrap();
        prop_assert!(r.off(&fixed, &tangent, &r.a) <= 1e-10);
        let map = r.metric.reset_map(&r.u).unwrap();
        let size = map.norm().powi(map.nrows() as i32);
        prop_assert!((map.determinant() + 1.0).abs() <= 1e-10 * size.max(1.0));
        let row = Covector((r.a.0.transpose() * &map).transpose());
        let direct = r.metric.reflect(&r.a, &r.u).unwrap();
        prop_assert!(r.off(&row, &direct, &r.a) <= 1e-10);
        let n = map.nrows();
        let square = (&map * &map - DMatrix::identity(n, n)).norm();
        prop_assert!(square <= 1e-10 * map.norm().powi(2));
    }

    /// Both projections are orthogonal and add up.
    #[test]
    fn projections_obey_pythagoras(r in reflection()) {
        let normals = [r.u.clone(), r.b.clone()];
        let inside = r.metric.project_onto_span(&r.a, &normals).unwrap();
        let outside = r.metric.project_onto_null(&r.a, &normals).unwrap();
        let square = |x: &Covector| r.metric.inner(x, x).unwrap();
        let (total, parts) = (square(&r.a), square(&inside) + square(&outside));
        prop_assert!((total - parts).abs() <= 1e-10 * total, "{} {}", total, parts);
    }
}
