//! Impact without collision, as in Painlevé's rod: friction forces an impact although the contact does not approach.

/// Result of a planar impact of a sliding contact that does not approach, but at which friction alone drives the bodies into
/// each other (Painlevé's paradox).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImpactWithoutCollision {
    /// Most negative normal velocity during the impact, m/s.
    pub dip: f64,
    /// Normal impulse, N·s.
    pub normal_impulse: f64,
    /// Tangential impulse, N·s.
    pub tangential_impulse: f64,
}

/// Computes the impact of a sliding planar contact that neither approaches nor separates, but whose friction drives the
/// bodies into each other. This happens if two conditions hold: the friction coefficient $\mu$ (`friction`) exceeds
/// $g_{nn}/|g_{nt}|$, and the friction at the tangential velocity `u` (m/s) decreases the normal velocity.
///
/// Sliding stops while the normal velocity is below zero; then the contact sticks until that velocity is
/// zero again. `None` if friction does not drive the contact inwards, so that nothing forces an impact.
/// The first argument holds $(g_{nn}, g_{nt}, g_{tt})$, the entries of the positive definite Delassus matrix of the contact.
///
/// Halm & Posa, Section 2.2.3.
///
/// # Examples
///
/// A rod of 1 kg and half length 1 m at the angle atan 2, sliding against its lean:
///
/// ```
/// use carom_impact::frictional::impact_without_collision;
/// let rod = [1.6, -1.2, 3.4];
/// assert!(impact_without_collision(rod, 1.3, -1.0).is_none());
/// let impact = impact_without_collision(rod, 2.0, -1.0).unwrap();
/// assert!((impact.dip + 1.0 / 7.0).abs() < 1e-15);
/// assert!((impact.normal_impulse - 0.3).abs() < 1e-15);
/// assert!((impact.tangential_impulse - 0.4).abs() < 1e-15);
/// ```
pub fn impact_without_collision(
    [g_nn, g_nt, g_tt]: [f64; 3],
    friction: f64,
    u: f64,
) -> Option<ImpactWithoutCollision> {
    let side = if u > 0.0 {
        1.0
    } else if u < 0.0 {
        -1.0
    } else {
        return None;
    };
    let (normal_rate, sliding_rate) =
        (g_nn - side * friction * g_nt, g_nt - side * friction * g_tt);
    // With a positive definite matrix the sliding decays and the contact then sticks.
    let determinant = g_nn * g_tt - g_nt * g_nt;
    let drives_in = normal_rate < 0.0 && determinant > 0.0 && side * sliding_rate < 0.0;
    if !drives_in {
        return None;
    }
    let slide = -u / sliding_rate;
    let dip = normal_rate * slide;
    let stick = -dip * g_tt / determinant;
    Some(ImpactWithoutCollision {
        dip,
        normal_impulse: slide + stick,
        tangential_impulse: -side * friction * slide - g_nt / g_tt * stick,
    })
}
