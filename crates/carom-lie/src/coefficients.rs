//! Scalar functions of the rotation angle that occur in exponentials and Jacobians.
//!
//! Each is analytic at 0, but cancellation makes its closed form inaccurate there. Up to half a turn it is therefore computed
//! as a Taylor series in $-\theta^2$.

use crate::tolerances::SMALL_ANGLE;

/// Largest angle (rad) for which the series are used: half a turn plus a margin for rounding.
const SERIES_ANGLE: f64 = 3.2;

/// Number of terms of the series: the remainder at [`SERIES_ANGLE`] is below $10^{-17}$ of the sum.
const TERMS: usize = 14;

const SINE_DEFECT: [f64; TERMS] = table(3, 0);
const COTANGENT_NUMERATOR: [f64; TERMS] = table(4, 2);
const COSINE_DEFECT: [f64; TERMS] = table(4, 0);
const MIXED_DEFECT: [f64; TERMS] = table(5, 1);

/// Computes the power series coefficients $n_k/(2k + m)!$; `numerator` selects $n_k$: 1 (for 0), $k + 1$ (for 1) or
/// $2k + 2$ (for 2).
const fn table(m: u32, numerator: u32) -> [f64; TERMS] {
    let mut out = [0.0; TERMS];
    let mut k = 0;
    while k < TERMS {
        let mut factorial = 1.0;
        let mut n = 2;
        while n <= 2 * k as u32 + m {
            factorial *= n as f64;
            n += 1;
        }
        let numerator = match numerator {
            0 => 1.0,
            1 => k as f64 + 1.0,
            _ => 2.0 * k as f64 + 2.0,
        };
        out[k] = numerator / factorial;
        k += 1;
    }
    out
}

/// Evaluates the power series $\sum_k c_k (-\theta^2)^k$ with the coefficients $c_k$ by Horner's rule.
fn series(theta: f64, coefficients: &[f64; TERMS]) -> f64 {
    let x = -theta * theta;
    coefficients.iter().rev().fold(0.0, |sum, c| c + x * sum)
}

/// Computes $\sin\theta/\theta$ for an angle $\theta$ (rad) without cancellation, also at $\theta = 0$.
pub(crate) fn sinc(theta: f64) -> f64 {
    if theta.abs() < SMALL_ANGLE {
        1.0
    } else {
        libm::sin(theta) / theta
    }
}

/// Computes $(1 - \cos\theta)/\theta^2$ for an angle $\theta$ (rad) without cancellation, also at $\theta = 0$.
pub(crate) fn versine(theta: f64) -> f64 {
    let half = sinc(0.5 * theta);
    0.5 * half * half
}

/// Computes $(\theta - \sin\theta)/\theta^3$ for an angle $\theta \ge 0$ (rad) without cancellation, also at
/// $\theta = 0$.
pub(crate) fn sine_defect(theta: f64) -> f64 {
    if theta < SERIES_ANGLE {
        return series(theta, &SINE_DEFECT);
    }
    (theta - libm::sin(theta)) / (theta * theta * theta)
}

/// Computes $(1 - \tfrac\theta2\cot\tfrac\theta2)/\theta^2$ for an angle $\theta \ge 0$ (rad) without cancellation,
/// also at $\theta = 0$. The function has a pole at $2\pi$.
pub(crate) fn cotangent_defect(theta: f64) -> f64 {
    if theta < SERIES_ANGLE {
        return series(theta, &COTANGENT_NUMERATOR) / (2.0 * versine(theta));
    }
    let half = 0.5 * theta;
    (1.0 - half * libm::cos(half) / libm::sin(half)) / (theta * theta)
}

/// Computes $(\theta^2 + 2\cos\theta - 2)/(2\theta^4)$ for an angle $\theta \ge 0$ (rad) without cancellation, also at
/// $\theta = 0$.
pub(crate) fn cosine_defect(theta: f64) -> f64 {
    if theta < SERIES_ANGLE {
        return series(theta, &COSINE_DEFECT);
    }
    (0.5 - versine(theta)) / (theta * theta)
}

/// Computes $(2\theta - 3\sin\theta + \theta\cos\theta)/(2\theta^5)$ for an angle $\theta \ge 0$ (rad) without
/// cancellation, also at $\theta = 0$.
pub(crate) fn mixed_defect(theta: f64) -> f64 {
    if theta < SERIES_ANGLE {
        return series(theta, &MIXED_DEFECT);
    }
    (3.0 * sine_defect(theta) - versine(theta)) / (2.0 * theta * theta)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = fn(f64) -> f64;

    /// The two forms of each function meet where they change over.
    #[test]
    fn series_and_closed_forms_meet() {
        for f in [sine_defect, cotangent_defect, cosine_defect, mixed_defect] {
            let (below, above) = (f(SERIES_ANGLE * (1.0 - 1e-15)), f(SERIES_ANGLE));
            assert!((below - above).abs() <= 4e-15 * above, "{below} {above}");
        }
    }

    #[test]
    fn limits_at_zero_are_exact() {
        let limits: [(Function, f64); 6] = [
            (sinc, 1.0),
            (versine, 2.0),
            (sine_defect, 6.0),
            (cotangent_defect, 12.0),
            (cosine_defect, 24.0),
            (mixed_defect, 120.0),
        ];
        for (f, limit) in limits {
            assert!((f(0.0) * limit - 1.0).abs() <= 3e-16);
            assert!((f(1e-9) * limit - 1.0).abs() <= 3e-16);
        }
    }

    /// Values of 40-digit arithmetic at 0.3, 2 and 3.1.
    #[test]
    fn values_are_those_of_long_arithmetic() {
        let values: [(Function, [f64; 3]); 4] = [
            (sine_defect, SINE),
            (cotangent_defect, COTANGENT),
            (cosine_defect, COSINE),
            (mixed_defect, MIXED),
        ];
        for (f, expected) in values {
            for (theta, expected) in [0.3, 2.0, 3.1].into_iter().zip(expected) {
                let value = f(theta);
                assert!(
                    (value / expected - 1.0).abs() <= 1e-15,
                    "{value} {expected}"
                );
            }
        }
    }

    const SINE: [f64; 3] = [0.16591827180223795, 0.1363378216467898, 0.10266252685598702];
    const COTANGENT: [f64; 3] = [
        0.08345860179452762,
        0.08947684601641732,
        0.10070354273556575,
    ];
    const COSINE: [f64; 3] = [
        0.04154186735876786,
        0.0364908227158036,
        0.030382252809916833,
    ];
    const MIXED: [f64; 3] = [
        0.008297685938905468,
        0.0068720944754479705,
        0.00520088605989916,
    ];
}
