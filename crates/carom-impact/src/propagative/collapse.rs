//! When a chain of inelastic impacts never ends.

/// Largest per-impact Newton restitution at which two contacts whose unit normals have the given
/// cosine collide endlessly: $e^\ast = \tan^2(\tfrac12\arcsin(-c))$, 0 for $c \ge 0$.
///
/// Alternating impacts that each reverse $b_i$ with factor $e$ map the two contact velocities
/// linearly; the map has a real eigenvalue, and a velocity that shrinks forever instead of
/// escaping, exactly when $(1+e)^2c^2 \ge 4e$. A cosine outside \[-1, 1\] gives NaN.
///
/// # Examples
///
/// Three equal balls collapse up to $7 - 4\sqrt3$:
///
/// ```
/// let e = carom_impact::propagative::collapse_restitution(-0.5);
/// assert!((e - (7.0 - 4.0 * 3f64.sqrt())).abs() < 1e-15);
/// ```
pub fn collapse_restitution(cosine: f64) -> f64 {
    if (0.0..=1.0).contains(&cosine) {
        return 0.0;
    }
    carom_numeric::power(libm::tan(0.5 * libm::asin(-cosine)), 2)
}
