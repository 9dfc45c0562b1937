//! The hodograph's shape and duration in closed form, and the invariant directions.
#![allow(clippy::excessive_precision)]

use super::random::{impacts, solve};
use carom_two_body::{
    ContactInertia, Event, ImpactOptions, InvariantDirections, invariant_directions, trace_impact,
};
use nalgebra::{Complex, Matrix3, Vector3};

const ICO: [[f64; 3]; 3] = [
    [11.5984, -0.910367, 2.44236],
    [-0.910367, 9.90134, 1.95747],
    [2.44236, 1.95747, 2.59042],
];

const PIN: [[f64; 3]; 3] = [
    [1.55465, 0.00238676, -0.360808],
    [0.00238676, 5.15191, -0.00313296],
    [-0.360808, -0.00313296, 1.105],
];

fn contact(w: [[f64; 3]; 3]) -> ContactInertia {
    ContactInertia::from_matrix(&Matrix3::from_fn(|i, j| w[i][j])).unwrap()
}

/// Angle, rate, whether it attracts.
type Direction = (f64, f64, bool);

/// Results of long arithmetic, printed to 12 and 10 decimals.
#[test]
fn invariant_directions_of_the_papers_contacts() {
    let cases: [(_, f64, &[Direction]); 7] = [
        (
            ICO,
            0.25,
            &[
                (-2.556878899954, -5.6778963423, false),
                (0.748632423855, 0.6455750407, true),
            ],
        ),
        (
            ICO,
            0.35,
            &[
                (-2.597642504880, -6.7210507974, false),
                (0.773139959258, -0.3360833513, true),
            ],
        ),
        (
            ICO,
            0.4,
            &[
                (-2.618698128467, -7.2485104252, false),
                (0.784497663221, -0.8249559502, true),
            ],
        ),
        (
            ICO,
            0.55,
            &[
                (-2.683332750035, -8.8554768549, false),
                (0.815348199862, -2.2851995331, true),
            ],
        ),
        (
            ICO,
            0.8,
            &[
                (-2.789315183669, -11.6131512317, false),
                (0.857715433393, -4.7031232240, true),
            ],
        ),
        (
            ICO,
            3.0,
            &[
                (-1.654130324339, -31.4401847251, true),
                (-0.907341568842, -34.3233110582, false),
                (1.017910887601, -25.7185406441, true),
                (3.044072895962, -37.5164035726, false),
            ],
        ),
        (
            PIN,
            0.7,
            &[
                (-3.141084739538, -0.7274478020, true),
                (-1.427482893913, -3.6029304976, false),
                (-0.002226738715, -1.4490601742, true),
                (1.426547744608, -3.6097455261, false),
            ],
        ),
    ];
    for (w, mu, expected) in cases {
        let InvariantDirections::Discrete(found) = invariant_directions(&contact(w), mu) else {
            panic!("{mu}")
        };
        assert_eq!(found.len(), expected.len(), "{mu}");
        for (a, (angle, lambda, attracting)) in found.iter().zip(expected) {
            assert!((a.angle - angle).abs() <= 6e-13, "{mu}: {}", a.angle);
            assert!((a.lambda - lambda).abs() <= 6e-11, "{mu}: {}", a.lambda);
            assert_eq!(a.attracting, *attracting, "{mu}");
            assert_eq!(a.is_centrifugal(), *lambda > 0.0, "{mu}");
        }
    }
}

/// Rates at a direction, and $g'$.
fn rates(w: &Matrix3<f64>, mu: f64, theta: Complex<f64>) -> [Complex<f64>; 3] {
    let (s, c) = (theta.sin(), theta.cos());
    let x = c * -mu * w[(0, 0)] - s * mu * w[(0, 1)] + w[(0, 2)];
    let y = c * -mu * w[(0, 1)] - s * mu * w[(1, 1)] + w[(1, 2)];
    let (f, g) = (c * x + s * y, c * y - s * x);
    let tbt = s * s * w[(0, 0)] - s * c * 2.0 * w[(0, 1)] + c * c * w[(1, 1)];
    [f, g, -f - tbt * mu]
}

/// All zeros of $g$, complex ones included: with $z = e^{i\theta}$ those of
/// $G_2z^4 + G_1z^3 + \bar G_1z + \bar G_2$, by simultaneous iteration (Durand-Kerner).
fn zeros(w: &Matrix3<f64>, mu: f64) -> [Complex<f64>; 4] {
    let g1 = Complex::new(w[(1, 2)], w[(0, 2)]) * 0.5;
    let g2 = -(Complex::new(0.0, -0.25) * (w[(1, 1)] - w[(0, 0)]) + 0.5 * w[(0, 1)]) * mu;
    let value = |z: Complex<f64>| z.powu(4) + (z.powu(3) * g1 + z * g1.conj() + g2.conj()) / g2;
    let mut roots = [1, 2, 3, 4].map(|k| Complex::new(0.4, 0.9).powu(k));
    for _ in 0..400 {
        for k in 0..4 {
            let others: Complex<f64> = (0..4)
                .filter(|j| *j != k)
                .map(|j| roots[k] - roots[j])
                .product();
            roots[k] -= value(roots[k]) / others;
        }
    }
    // Newton's method in the angle, for the last digits.
    roots.map(|z| {
        let mut theta = z.ln() / Complex::i();
        for _ in 0..3 {
            let [_, g, slope] = rates(w, mu, theta);
            theta -= g / slope;
        }
        theta
    })
}

/// $\rho(\theta_1)/\rho(\theta_0) = \prod_k(\sin\frac{\theta_1-\theta_k}2/\sin\frac{\theta_0-\theta_k}2)^{a_k}$,
/// $a_k = f(\theta_k)/g'(\theta_k)$, over all zeros of $g$. The logarithm of a complex factor is
/// followed along the way.
fn shape(w: &Matrix3<f64>, mu: f64, from: f64, to: f64) -> f64 {
    let mut logarithm = Complex::new(0.0, 0.0);
    let mut sum = Complex::new(0.0, 0.0);
    for zero in zeros(w, mu) {
        let [f, _, slope] = rates(w, mu, zero);
        let exponent = f / slope;
        sum += exponent;
        let steps = 64;
        let factor = |k: u32| {
            let theta = from + (to - from) * f64::from(k) / f64::from(steps);
            ((Complex::from(theta) - zero) * 0.5).sin()
        };
        for k in 0..steps {
            logarithm += exponent * (factor(k + 1) / factor(k)).ln();
        }
    }
    assert!((sum + 2.0).norm() <= 1e-10, "{sum}");
    logarithm.re.exp()
}

#[test]
fn the_hodograph_has_the_shape_of_the_closed_form() {
    let ico = contact(ICO).matrix();
    for (mu, from, to, expected) in [
        (0.8, 2.0, 1.5, 0.39173739953746938),
        (0.8, 1.2, 1.05, 0.5640680643986885),
        (3.0, 2.0, 1.5, 0.085884849381109173),
        (0.25, 2.0, 1.0, 0.91336773870712544),
    ] {
        let ratio = shape(&ico, mu, from, to);
        assert!((ratio - expected).abs() <= 1e-12, "{mu}: {ratio}");
    }
    // The paths that the solver takes, down to a hundredth of the first speed.
    for r in impacts(40).filter(|r| r.mu > 0.2) {
        let options = ImpactOptions::default();
        let trace = trace_impact(&r.w, &r.v, r.mu, r.e, &options)
            .unwrap()
            .unwrap();
        let polar = |v: &Vector3<f64>| (v.y.atan2(v.x), v.xy().norm());
        let (start, speed) = polar(&r.v);
        for point in &trace.points {
            let (angle, rho) = polar(&point.velocity);
            let turned = (angle - start + 9.42477796076938).rem_euclid(std::f64::consts::TAU)
                - std::f64::consts::PI;
            if rho < 0.01 * speed || turned.abs() < 1e-9 || turned.abs() > 3.0 {
                continue;
            }
            let [_, g, _] = rates(&r.w.matrix(), r.mu, Complex::from(angle));
            // Near a ray the angle says nothing about the speed; after rest it is another curve.
            if g.re.abs() < 1e-2 * r.mu * r.w.matrix().amax() {
                break;
            }
            let ratio = shape(&r.w.matrix(), r.mu, start, start + turned);
            assert!(
                (ratio - rho / speed).abs() <= 1e-9,
                "{}: {ratio} {}",
                r.number,
                rho / speed
            );
        }
    }
}

/// $\tau(\theta) = I_{zs}/\rho^-$, by quadrature of the closed form in long arithmetic; the last by
/// its power series around the attracting direction.
#[test]
fn sliding_lasts_as_long_as_the_closed_form_says() {
    let ico = contact(ICO);
    let degrees = f64::to_radians;
    for (theta, tau) in [
        (0.0, 0.1730718464151438),
        (degrees(90.0), 0.1969351418374292),
        (degrees(135.0), 0.1368191720859094),
        (degrees(180.0), 0.08787929220635309),
        (degrees(270.0), 0.1034673724510829),
        (0.857715433393 + 0.3, 0.212039204371853),
    ] {
        // Closing so fast that sliding stops during compression.
        let velocity = Vector3::new(theta.cos(), theta.sin(), -10.0) * 2.5;
        let found = solve(&ico, &velocity, 0.8, 0.0, &ImpactOptions::default());
        let impulse = found.events.first(Event::SlipZero).unwrap().impulse[2] / 2.5;
        assert!((impulse - tau).abs() <= 1e-12, "{theta}: {impulse}");
    }
}

/// Without coupling friction only slows sliding down.
#[test]
fn sliding_of_a_central_impact_slows_down() {
    for r in impacts(60) {
        let mut w = r.w.matrix();
        for k in 0..2 {
            (w[(k, 2)], w[(2, k)]) = (0.0, 0.0);
        }
        let w = ContactInertia::from_matrix(&w).unwrap();
        let options = ImpactOptions::default();
        let trace = trace_impact(&w, &r.v, r.mu, r.e, &options)
            .unwrap()
            .unwrap();
        let speeds = trace.points.windows(2).map(|p| {
            let impulse = p[1].impulse.z - p[0].impulse.z;
            (
                impulse,
                p[0].velocity.xy().norm(),
                p[1].velocity.xy().norm(),
            )
        });
        for (impulse, before, after) in speeds {
            let slows = after < before || before == 0.0;
            assert!(impulse <= 1e-12 || slows, "{}: {before} {after}", r.number);
        }
    }
}
