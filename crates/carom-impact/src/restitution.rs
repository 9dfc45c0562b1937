//! Energetic restitution of a whole impact, with all its elementary impacts.

use crate::tolerances::WORK_ROUNDING;
use carom_contact::internal::{MomentumChange, part_in_span};
use carom_contact::{ImpactError, ImpactProblem};

/// Energetic coefficient of restitution $R \in [0, 1]$ of a whole impact.
///
/// $R = \sqrt{1 - \Delta E / E_p}$, where $E_p$ is the energy lost in the plastic outcome and
/// $\Delta E$ the energy lost in the impact. For one contact $R$ is Newton's coefficient.
///
/// [`new`](Self::new) checks the value. A deserialized value is checked by the law that uses it.
///
/// # Examples
///
/// ```
/// use carom_impact::EnergeticRestitution;
/// assert_eq!(EnergeticRestitution::new(0.5)?.value(), 0.5);
/// assert!(EnergeticRestitution::new(1.5).is_err());
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct EnergeticRestitution(f64);

impl EnergeticRestitution {
    /// Coefficient $R = 1$ of an impact without loss of energy.
    pub const ELASTIC: Self = Self(1.0);

    /// Creates an energetic coefficient of restitution from a value in \[0, 1\].
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidRestitution`] for a value outside \[0, 1\] or NaN.
    pub fn new(value: f64) -> Result<Self, ImpactError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(ImpactError::InvalidRestitution { value })
        }
    }

    /// Returns an error if a deserialized coefficient of restitution lies outside \[0, 1\].
    pub(crate) fn check(self) -> Result<(), ImpactError> {
        Self::new(self.0).map(|_| ())
    }

    /// Returns the coefficient of restitution as a number in \[0, 1\].
    pub fn value(self) -> f64 {
        self.0
    }
}

/// Computes the position $\alpha \in [0, 1]$ of the outcome on the segment from the plastic outcome $p_p$ to the elastic
/// one $p_e$ (whitened momenta), so that the energy loss matches the coefficient of restitution $R$.
///
/// With $d = p_e - p_p$, $\alpha$ is the root of
/// $$ \lVert d\rVert^2\alpha^2 + 2\langle p_p,d\rangle\alpha
/// = R^2(\lVert p_e\rVert^2 - \lVert p_p\rVert^2) $$
/// in the form without cancellation.
///
/// # Departure from the source
///
/// Seghete & Murphey print $\alpha = \sqrt{1-R^2}$ below Eq. (18), which makes $R = 1$ plastic. Substituting (17) and
/// (18) into the energy balance gives $\alpha = R$ if the plastic outcome is the orthogonal projection. For the cone,
/// whose outcome is not orthogonal to $d$, it gives $\alpha \le R$; `restitution_is_the_energetic_one` checks it.
pub(crate) fn blend(
    problem: &ImpactProblem,
    plastic: &MomentumChange,
    elastic: &MomentumChange,
    restitution: EnergeticRestitution,
) -> f64 {
    let r = restitution.value();
    if r == 1.0 || r == 0.0 {
        return r;
    }
    // The part of the momentum orthogonal to all normals is also orthogonal to d, except for the rounding of d.
    let contacts = problem.contacts();
    let normals = contacts.unit_rows().map(|j| contacts.unit(j));
    let seen = part_in_span(normals, problem.momentum());
    let (mut a, mut b, mut reference) = (0.0, 0.0, 0.0);
    for ((z, p), e) in seen.iter().zip(&plastic.change).zip(&elastic.change) {
        let d = e - p;
        a += d * d;
        b += (z + p) * d;
        reference += ((z + p) * d).abs();
    }
    // ‖p_e‖² − ‖p_p‖² = ‖d‖² + 2⟨p_p, d⟩, and ⟨p_p, d⟩ ≥ 0 up to rounding.
    let b = if b > WORK_ROUNDING * reference {
        b
    } else {
        0.0
    };
    let t = r * r * (a + 2.0 * b);
    let denominator = b + (b * b + a * t).sqrt();
    if denominator > 0.0 {
        t / denominator
    } else {
        0.0
    }
}
