use super::*;
use crate::testing::{check_group_axioms, rotation_vectors, vector};
use crate::{asym, sym, vee};
use proptest::prelude::*;
use std::f64::consts::PI;

#[test]
fn rotations_are_a_lie_group() {
    check_group_axioms::<3, So3>(&rotation_vectors());
}

/// Checks that the logarithm of the exponential of a rotation vector returns every digit of the vector, for lengths from 1e-300
/// to half a turn.
#[test]
fn the_logarithm_keeps_its_digits_near_zero_and_near_half_a_turn() {
    let axis = Vector3::new(0.36, -0.48, 0.8);
    for theta in [
        1e-300,
        1e-18,
        1e-9,
        1e-8,
        1e-4,
        0.5,
        3.0,
        PI - 1e-4,
        PI - 1e-9,
        PI - 1e-15,
    ] {
        let phi = axis * theta;
        let back = So3::exp(&phi).log();
        assert!((back - phi).norm() <= 4e-16 * theta, "{theta}: {back}");
    }
}

/// Checks the exponential of rotation vectors against Rodrigues' formula, evaluated with matrices.
#[test]
fn the_exponential_is_rodrigues_formula() {
    for phi in rotation_vectors() {
        let (theta, s) = (phi.norm(), hat(&phi));
        let rodrigues = Matrix3::identity() + s * sinc(theta) + s * s * versine(theta);
        assert!((So3::exp(&phi).matrix() - rodrigues).norm() <= 2e-15);
    }
}

#[test]
fn the_cayley_map_is_the_matrix_quotient() {
    for f in [
        vector(0.1, -0.3, 0.2),
        vector(4.0, 1.0, -2.0),
        vector(0.0, 0.0, 0.0),
    ] {
        let s = hat(&f);
        let quotient = (Matrix3::identity() - s).try_inverse().unwrap() * (Matrix3::identity() + s);
        let rotation = So3::cayley(&f);
        assert!((rotation.matrix() - quotient).norm() <= 2e-15);
        assert!((rotation.inverse_cayley().unwrap() - f).norm() <= 4e-16 * f.norm());
        assert!((rotation.angle() - 2.0 * f.norm().atan()).abs() <= 1e-15);
        let (a, first) = (vector(0.3, -2.0, 1.1), So3::exp(&vector(0.4, 0.1, -2.0)));
        assert!((So3::cayley_back(&f, &a) - rotation.rotate_back(&a)).norm() <= 4e-15);
        let (both, one) = (first.compose_cayley(&f), first.compose(&rotation));
        assert!((both.matrix() - one.matrix()).norm() <= 2e-15);
    }
    let half_turn = So3::from_quaternion(0.0, &Vector3::x()).unwrap();
    assert_eq!(half_turn.inverse_cayley(), Err(LieError::HalfTurn));
}

#[test]
fn matrices_are_read_and_repaired() {
    for phi in rotation_vectors() {
        let rotation = So3::exp(&phi);
        let read = So3::from_matrix(&rotation.matrix()).unwrap();
        // Rounding of nine entries, twice.
        assert!((read.matrix() - rotation.matrix()).norm() <= 3e-15);
        let bent = rotation.matrix() + Matrix3::repeat(1e-7);
        let repaired = So3::from_matrix(&bent).unwrap().matrix();
        assert!((repaired.transpose() * repaired - Matrix3::identity()).norm() <= 3e-15);
    }
    assert_eq!(
        So3::from_matrix(&Matrix3::identity()).unwrap(),
        So3::identity()
    );
}

/// Checks that the rotation nearest to a product $RS$ of a rotation $R$ and a symmetric positive definite matrix $S$ is $R$, the
/// orthogonal polar factor of the product.
#[test]
fn the_nearest_rotation_is_the_polar_factor() {
    let stretch = Matrix3::new(3.0, 0.4, 0.1, 0.4, 0.1, 0.0, 0.1, 0.0, 7.0);
    for phi in rotation_vectors() {
        let rotation = So3::exp(&phi);
        let nearest = So3::nearest(&(rotation.matrix() * stretch)).unwrap();
        // The stretch has the condition 700; its smallest eigenvalue sets the error.
        assert!((nearest.matrix() - rotation.matrix()).norm() <= 1e-12);
    }
}

#[test]
fn what_is_not_a_rotation_is_refused() {
    let mirror = Matrix3::from_diagonal(&vector(1.0, 1.0, -1.0));
    for bad in [mirror, Matrix3::identity() * 1.001, Matrix3::zeros()] {
        assert_eq!(So3::from_matrix(&bad).unwrap_err().kind(), "not-a-rotation");
    }
    assert_eq!(
        So3::from_matrix(&Matrix3::repeat(f64::NAN))
            .unwrap_err()
            .kind(),
        "non-finite"
    );
    assert!(So3::from_quaternion(0.0, &Vector3::zeros()).is_none());
    assert!(So3::from_quaternion(f64::NAN, &Vector3::x()).is_none());
    let full = vector(0.0, TAU, 0.0);
    assert_eq!(
        So3::inverse_left_jacobian(&full).unwrap_err().kind(),
        "full-turn"
    );
}

#[test]
fn jacobians_and_their_inverses_cancel() {
    for phi in rotation_vectors() {
        let left = So3::left_jacobian(&phi) * So3::inverse_left_jacobian(&phi).unwrap();
        let right = So3::right_jacobian(&phi) * So3::inverse_right_jacobian(&phi).unwrap();
        for product in [left, right] {
            assert!((product - Matrix3::identity()).norm() <= 4e-15);
        }
    }
}

/// Checks that the quaternion stays a unit quaternion during a million products, because it is normalized after each of them.
#[test]
fn products_stay_orthogonal() {
    let step = So3::exp(&vector(0.01, -0.02, 0.017));
    let end = (0..1_000_000).fold(So3::identity(), |r, _| r.compose(&step));
    let matrix = end.matrix();
    assert!((matrix.transpose() * matrix - Matrix3::identity()).norm() <= 2e-15);
}

fn any_vector() -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-3.0..3.0f64).prop_map(Vector3::from)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::with_cases(256) })]

    /// Checks identities between cross products and cross-product matrices: Tran & Leok, Section 2.
    #[test]
    fn hat_identities(a in any_vector(), b in any_vector(), w in any_vector(), phi in any_vector(),
                      entries in prop::array::uniform9(-2.0..2.0f64)) {
        let near = |x: Matrix3<f64>, y: Matrix3<f64>| (x - y).norm() <= 1e-13;
        let identity = Matrix3::identity();
        prop_assert!(near(hat(&a).transpose(), -hat(&a)));
        prop_assert!(near(hat(&a) * hat(&a), a * a.transpose() - identity * a.norm_squared()));
        prop_assert!(near(hat(&a.cross(&b)), hat(&a) * hat(&b) - hat(&b) * hat(&a)));
        prop_assert!(near(hat(&a.cross(&b)), b * a.transpose() - a * b.transpose()));
        let r = So3::exp(&phi).matrix();
        prop_assert!(near(hat(&(r * a)), r * hat(&a) * r.transpose()));
        let m = Matrix3::from_row_slice(&entries);
        let spread = sym(&m);
        let j = identity * spread.trace() - spread;
        prop_assert!(near(hat(&(j * w)), hat(&w) * spread + spread * hat(&w)));
        let trace = identity * m.trace() - m;
        prop_assert!(near(m.transpose() * hat(&w) + hat(&w) * m, hat(&(trace * w))));
        prop_assert!((vee(&asym(&m)).dot(&w) - (hat(&w).transpose() * asym(&m)).trace() / 2.0).abs() <= 1e-13);
    }

    #[test]
    fn rotating_back_undoes_rotating(a in any_vector(), phi in any_vector()) {
        let r = So3::exp(&phi);
        // Some ten roundings of a vector of length up to 5.
        prop_assert!((r.rotate_back(&r.rotate(&a)) - a).norm() <= 1e-14);
        prop_assert!((r.matrix() * a - r.rotate(&a)).norm() <= 1e-14);
    }
}

/// The square of a long rotation vector overflows, its rotation does not.
#[test]
fn the_exponential_of_any_finite_vector_is_a_rotation() {
    for size in [1e-320, 1e-200, 1.0, 1e149, 1e151, 1e160, 1e300, f64::MAX] {
        for phi in [
            Vector3::x(),
            Vector3::new(-1.0, 0.5, 0.25),
            Vector3::repeat(1.0),
        ] {
            let (w, v) = So3::exp(&(phi * size)).quaternion();
            assert!((w * w + v.norm_squared() - 1.0).abs() < 1e-15, "{size}");
            assert!(v.cross(&phi).norm() < 1e-15);
        }
    }
}
