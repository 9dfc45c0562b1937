//! Restitution below which a chain of inelastic impacts never ends.

/// Returns the largest coefficient of Newton's restitution for which two contacts can collide alternately without end,
/// $e^\ast = \tan^2(\tfrac12\arcsin(-c))$, with the `cosine` $c$ of the angle between their unit normals in the kinetic
/// metric; 0 for $c \ge 0$.
///
/// Alternating impacts that reverse each velocity $b_i$ with the factor $e$ map the two contact velocities
/// linearly. The map has a real eigenvalue, and so a velocity that shrinks for ever instead of
/// separating, exactly if $(1+e)^2c^2 \ge 4e$. A cosine outside \[-1, 1\] gives NaN.
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
