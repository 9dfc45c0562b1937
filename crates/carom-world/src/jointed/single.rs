//! Impact of a single contact whose bodies can move only as their joints allow.

use carom_contact::ImpactError;
use carom_impact::two_body::{
    ContactInertia, ContactResponse, ImpactOptions, TwoBodyError, solve_impact,
};
use nalgebra::{Matrix2, Matrix3, SymmetricEigen, Vector2, Vector3};

/// Entries of the contact mobility below this fraction of the largest entry are rounding: the joints block a tangent whose own
/// mobility and coupling with the normal are both that small. Sums over the links of a robot leave some thousand units in the
/// last place at most.
pub(super) const BLOCKED: f64 = 1e-12;

/// Computes the impulse (N s) at a single contact point. `w` is the inverse contact inertia (1/kg), with two tangents
/// first and the normal last; `velocity` is the contact velocity before the impact (m/s), in the same order. `friction`
/// and `restitution` are the coefficients of the contact. If the joints block a tangent, there is neither slip nor
/// friction along it, and the impact is solved in the remaining directions.
pub(super) fn impulse(
    w: &Matrix3<f64>,
    velocity: &Vector3<f64>,
    (friction, restitution): (f64, f64),
    options: &ImpactOptions,
) -> Result<Vector3<f64>, ImpactError> {
    let answer = |w: &Matrix3<f64>, velocity: &Vector3<f64>| -> Result<_, ImpactError> {
        let inertia = ContactInertia::from_matrix(w)?;
        let response = solve_impact(&inertia, velocity, friction, restitution, options)?;
        Ok(match response {
            ContactResponse::Impact(impact) => impact.impulse,
            _ => Vector3::zeros(),
        })
    };
    let refused = match answer(w, velocity) {
        // With a mobility of rounding along a blocked tangent the slip there is rounding, too, and its direction changes without
        // end.
        Err(
            error @ ImpactError::TwoBody(
                TwoBodyError::ContactInertiaSingular { .. } | TwoBodyError::ImpactStepLimit { .. },
            ),
        ) => error,
        answer => return answer,
    };
    let Some(free) = free_tangents(w) else {
        return Err(refused);
    };
    match free[..] {
        [] => {
            let normal = -(1.0 + restitution) * velocity.z / w[(2, 2)];
            Ok(Vector3::new(0.0, 0.0, normal.max(0.0)))
        }
        [t] => {
            let along = |i: usize| w[(i, 0)] * t.x + w[(i, 1)] * t.y;
            let b = t.x * along(0) + t.y * along(1);
            let planar = Matrix2::new(b, along(2), along(2), w[(2, 2)]);
            let slip = velocity.x * t.x + velocity.y * t.y;
            let found = answer(
                &ContactInertia::of_plane(&planar),
                &Vector3::new(slip, 0.0, velocity.z),
            )?;
            Ok(Vector3::new(t.x * found.x, t.y * found.x, found.z))
        }
        _ => Err(refused),
    }
}

/// Returns the unit tangents along which the joints allow the contact point to move. `w` is the inverse contact inertia, with two
/// tangents first and the normal last. Returns `None` if the normal is blocked, or if an impulse along a blocked tangent changes
/// the normal velocity.
fn free_tangents(w: &Matrix3<f64>) -> Option<Vec<Vector2<f64>>> {
    let eigen = SymmetricEigen::new(w.fixed_view::<2, 2>(0, 0).into_owned());
    let least = BLOCKED * w.amax();
    let mut free = Vec::with_capacity(2);
    for (value, axis) in eigen
        .eigenvalues
        .iter()
        .zip(eigen.eigenvectors.column_iter())
    {
        let axis = axis.into_owned();
        if *value > least {
            free.push(axis);
            continue;
        }
        let with_normal = w[(2, 0)] * axis.x + w[(2, 1)] * axis.y;
        if with_normal.abs() > least {
            return None;
        }
    }
    (w[(2, 2)] > least).then_some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mobility of the plane spanned by a tangent and the normal, with rounding across it.
    fn of_plane(angle: f64, planar: &Matrix2<f64>, rounding: f64) -> Matrix3<f64> {
        let (s, c) = angle.sin_cos();
        let turn = Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0);
        let mut w = ContactInertia::of_plane(planar);
        w[(1, 1)] = rounding;
        turn * w * turn.transpose()
    }

    #[test]
    fn a_blocked_tangent_leaves_the_impact_of_the_plane() {
        let planar = Matrix2::new(2.0, 0.7, 0.7, 1.5);
        let options = ImpactOptions::default();
        let whole = ContactInertia::of_plane(&planar);
        for slip in [-1.0, 0.0, 0.3] {
            let expected = impulse(&whole, &Vector3::new(slip, 0.0, -1.0), (0.4, 0.6), &options);
            let expected = expected.unwrap();
            for (angle, rounding) in [(0.0, -6e-16), (0.4, 0.0), (1.9, 3e-16), (3.0, -2e-16)] {
                let w = of_plane(angle, &planar, rounding);
                let (s, c) = f64::sin_cos(angle);
                let velocity = Vector3::new(c * slip, s * slip, -1.0);
                let found = impulse(&w, &velocity, (0.4, 0.6), &options).unwrap();
                let turned = Vector3::new(c * expected.x, s * expected.x, expected.z);
                assert!((found - turned).norm() <= 1e-12, "{found} {turned}");
            }
        }
    }

    /// A cheetah in its plane: mobility and slip across the plane are rounding, and their signs say nothing.
    #[test]
    fn rounding_across_the_plane_leaves_the_impact_of_the_plane() {
        let w = Matrix3::new(
            1.0185847040403653,
            -1.9068989670081285e-16,
            -0.10885552294241078,
            -1.9068989670081285e-16,
            7.282570582267687e-32,
            -5.076020969210972e-17,
            -0.10885552294241078,
            -5.076020969210972e-17,
            0.295353532727017,
        );
        let velocity = Vector3::new(
            -0.007027779120919855,
            -1.5844790015603499e-16,
            -0.010638355864991492,
        );
        let options = ImpactOptions::default();
        let found = impulse(&w, &velocity, (0.4, 0.2), &options).unwrap();
        let planar = Matrix2::new(w[(0, 0)], w[(0, 2)], w[(0, 2)], w[(2, 2)]);
        let velocity = Vector3::new(velocity.x, 0.0, velocity.z);
        let whole = ContactInertia::of_plane(&planar);
        let expected = impulse(&whole, &velocity, (0.4, 0.2), &options).unwrap();
        assert!((found - expected).norm() <= 1e-12, "{found} {expected}");
    }

    #[test]
    fn two_blocked_tangents_leave_the_normal() {
        let w = Matrix3::from_diagonal(&Vector3::new(1e-17, -1e-17, 0.5));
        let velocity = Vector3::new(0.0, 0.0, -2.0);
        let found = impulse(&w, &velocity, (0.4, 0.5), &ImpactOptions::default()).unwrap();
        assert!((found - Vector3::new(0.0, 0.0, 6.0)).norm() <= 1e-15);
    }

    #[test]
    fn a_tangent_that_moves_with_the_normal_is_not_blocked() {
        // Rank two: the null direction leans into the normal.
        let v = Vector3::new(1.0, 0.0, 1.0);
        let mut w = v * v.transpose();
        w[(1, 1)] = 1.0;
        w[(0, 0)] = 1e-13;
        let velocity = Vector3::new(0.0, 0.0, -2.0);
        let found = impulse(&w, &velocity, (0.4, 0.5), &ImpactOptions::default());
        assert!(found.is_err());
    }
}
