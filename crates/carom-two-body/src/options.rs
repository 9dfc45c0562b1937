//! Options of a two-body impact.

use crate::TwoBodyError;
use std::ops::RangeInclusive;

/// Law of restitution that determines the end of an impact: Stronge's energetic law, Poisson's or Newton's. The law does not
/// change the hodograph (the curve of the contact velocity during the impact), only its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum RestitutionLaw {
    /// Stronge's law: restitution releases $e^2$ of the energy that compression stored, Jia & Wang, section 2.2. Only
    /// this law of the three never creates energy.
    #[default]
    Energetic,
    /// Poisson's law: the normal impulse of the whole impact is $1 + e$ times that of compression.
    Poisson,
    /// Newton's law: the contact separates at $e$ times its closing speed. With friction it can create energy, which the
    /// audit reports.
    Newton,
}

impl RestitutionLaw {
    /// Returns the identifier of the restitution law in records: `energetic`, `poisson` or `newton`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Energetic => "energetic",
            Self::Poisson => "poisson",
            Self::Newton => "newton",
        }
    }
}

/// Treatment of the stored elastic energy if a second compression of the contact interrupts restitution.
///
/// A second compression is possible with strong friction and strong coupling of sliding and closing: the normal velocity
/// decreases through zero again while elastic energy is left. Jia & Wang exclude this case (their footnote 4), but the
/// configuration of their own Fig. 4(d) shows it for slower closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Recompression {
    /// Each compression loses energy: $E \leftarrow E_k + e^2(E - E_k)$ with the energy $E_k$ at the interruption of
    /// restitution. The outcome is then continuous at the velocity where an interruption first appears.
    #[default]
    EachCompression,
    /// Only the first compression loses energy, as the paper literally says. The outcome jumps at the velocity where an
    /// interruption first appears.
    Single,
}

/// Options for the solution of a two-body impact, such as the restitution law and the treatment of a second compression.
///
/// # Examples
///
/// ```
/// use carom_two_body::{ImpactOptions, RestitutionLaw};
/// let options = ImpactOptions::default().with_restitution_law(RestitutionLaw::Poisson);
/// assert_eq!(options.restitution_law.name(), "poisson");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct ImpactOptions {
    /// Law that determines the end of restitution.
    pub restitution_law: RestitutionLaw,
    /// Number of compressions that lose energy if a second compression interrupts restitution. Only Stronge's energetic law uses
    /// this option.
    pub recompression: Recompression,
    /// Relative truncation error allowed in each step of curved sliding, in \[1e-15, 1e-3\]. A larger tolerance gives fewer steps and a less accurate outcome. For well-conditioned
    /// inertia the error of the outcome is below the tolerance, mostly by a factor of a hundred or more.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default_tolerance"))]
    pub tolerance: f64,
    /// True to solve a contact that touches without closing ($v_z^- = 0$) if friction presses the bodies together: the
    /// outcome is the limit $v_z^- \to 0^-$, an impact without collision. If false, such a contact is reported as
    /// [`Jammed`](super::ContactResponse::Jammed).
    pub tangential_impact: bool,
}

/// Range of [`ImpactOptions::tolerance`]: below its lower end steps only add rounding, above its upper end the impulse has
/// fewer than three digits.
const TOLERANCES: RangeInclusive<f64> = 1e-15..=1e-3;

#[cfg(feature = "serde")]
fn is_default_tolerance(tolerance: &f64) -> bool {
    *tolerance == ImpactOptions::default().tolerance
}

impl ImpactOptions {
    /// Returns an error if a value lies outside its range.
    pub(crate) fn check(&self) -> Result<(), TwoBodyError> {
        if TOLERANCES.contains(&self.tolerance) {
            Ok(())
        } else {
            Err(TwoBodyError::InvalidOption {
                what: "tolerance",
                value: self.tolerance,
                allowed: "in [1e-15, 1e-3]",
            })
        }
    }
}

carom_numeric::setters!(ImpactOptions {
    /// Returns the options with another restitution law.
    with_restitution_law: restitution_law, RestitutionLaw;
    /// Returns the options with another treatment of a second compression.
    with_recompression: recompression, Recompression;
    /// Returns the options with another truncation error of each step, in \[1e-15, 1e-3\].
    with_tolerance: tolerance, f64;
    /// Returns the options with or without impacts of contacts that touch and do not close.
    with_tangential_impact: tangential_impact, bool;
});

impl Default for ImpactOptions {
    fn default() -> Self {
        Self {
            restitution_law: RestitutionLaw::default(),
            recompression: Recompression::default(),
            tolerance: 1e-12,
            tangential_impact: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContactInertia, solve_impact, trace_impact, vary_impact};
    use nalgebra::{Matrix3, Vector3};

    /// A tolerance of NaN once gave an energy of 1e21 without a word.
    #[test]
    fn a_tolerance_outside_its_range_is_refused() {
        let w = Matrix3::new(2.0, 0.1, 0.4, 0.1, 1.5, -0.3, 0.4, -0.3, 1.0);
        let w = ContactInertia::from_matrix(&w).unwrap();
        let v = Vector3::new(1.0, -0.4, -1.0);
        for tolerance in [f64::NAN, f64::INFINITY, -1e-9, 0.0, 1e-16, 1e-2, 1.0] {
            let options = ImpactOptions {
                tolerance,
                ..ImpactOptions::default()
            };
            let errors = [
                solve_impact(&w, &v, 0.5, 0.5, &options).unwrap_err(),
                trace_impact(&w, &v, 0.5, 0.5, &options).unwrap_err(),
                vary_impact(&w, &v, 0.5, 0.5, &options, false).unwrap_err(),
            ];
            for error in errors {
                let expected = format!("tolerance is {tolerance}: it must be in [1e-15, 1e-3]");
                assert_eq!(
                    (error.to_string(), error.kind()),
                    (expected, "invalid-option")
                );
            }
        }
    }
}
