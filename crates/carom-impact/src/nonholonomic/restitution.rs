//! The four restitutions of a nonholonomic impact.

use crate::laws::BuiltIn;
use crate::{
    NonholonomicElastic, NonholonomicNewton, NonholonomicProjected, NonholonomicProjectedNewton,
};
use carom_contact::ImpactError;

/// Rule of restitution for the impact of a system under velocity constraints: the fraction of the normal velocity that is
/// reversed.
///
/// Some variants depend on $\cos^2\beta$, where $\beta$ is the angle between the contact normal and the admissible
/// velocities. Without constraints $\cos^2\beta = 1$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Restitution {
    /// Reflection inside the admissible velocities; conserves energy. Clark & Bloch, Eqs. (15)-(17).
    Elastic,
    /// Elastic reflection as if there were no constraints, then projection onto the constraints; the "plastic" law of the
    /// paper. Clark & Bloch, Eqs. (18), (20).
    Projected,
    /// Newton's restitution with a coefficient in \[0, 1\], inside the admissible velocities.
    Newton(f64),
    /// Newton's restitution with a coefficient in \[0, 1\] as if there were no constraints, then projection onto the
    /// constraints.
    ProjectedNewton(f64),
}

impl Restitution {
    /// Effective restitution: minus the ratio of the normal velocities after and before the impact. `cos2_beta` is
    /// $\cos^2\beta$ of the angle $\beta$ between the contact normal and the admissible velocities.
    ///
    /// A negative value means that the contact still approaches after the impact, which is inadmissible.
    #[inline]
    pub fn effective(self, cos2_beta: f64) -> f64 {
        match self {
            Self::Elastic => 1.0,
            Self::Projected => 2.0 * cos2_beta - 1.0,
            Self::Newton(e) => e,
            Self::ProjectedNewton(e) => (1.0 + e) * cos2_beta - 1.0,
        }
    }

    /// Checks that the coefficient of this restitution, if it has one, lies in \[0, 1\].
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidRestitution`] if the coefficient lies outside \[0, 1\].
    pub fn validate(self) -> Result<(), ImpactError> {
        match self {
            Self::Elastic | Self::Projected => Ok(()),
            Self::Newton(e) | Self::ProjectedNewton(e) if (0.0..=1.0).contains(&e) => Ok(()),
            Self::Newton(value) | Self::ProjectedNewton(value) => {
                Err(ImpactError::InvalidRestitution { value })
            }
        }
    }

    /// Identifier of the nonholonomic law that has this restitution, as in records, for example `nonholonomic-elastic`.
    pub fn law_name(self) -> &'static str {
        match self {
            Self::Elastic => NonholonomicElastic::INFO.name,
            Self::Projected => NonholonomicProjected::INFO.name,
            Self::Newton(_) => NonholonomicNewton::INFO.name,
            Self::ProjectedNewton(_) => NonholonomicProjectedNewton::INFO.name,
        }
    }

    /// True if contacts may rebound with this restitution, so that impacts between several contacts may alternate for ever.
    pub(crate) fn bounces(self) -> bool {
        !matches!(self, Self::Newton(0.0) | Self::ProjectedNewton(0.0))
    }
}
