//! Options of a two-body impact.

/// When restitution ends. The hodograph does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum RestitutionLaw {
    /// Stronge's: restitution releases $e^2$ of the energy that compression stored,
    /// Jia & Wang, section 2.2. The only one of the three that never creates energy.
    #[default]
    Energetic,
    /// Poisson's: the normal impulse of the whole impact is $1 + e$ times that of compression.
    Poisson,
    /// Newton's: the contact separates at $e$ times the speed at which it closed. With friction it
    /// can create energy; the audit says so.
    Newton,
}

impl RestitutionLaw {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Energetic => "energetic",
            Self::Poisson => "poisson",
            Self::Newton => "newton",
        }
    }
}

/// Treatment of the energy of a compression that interrupts restitution.
///
/// With strong friction and coupling the normal velocity can fall through zero again while energy
/// is left, so that a second compression follows. Jia & Wang do not see this case (their footnote 4
/// rules it out, but their own Fig. 4(d) configuration shows it for slower closing).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Recompression {
    /// Each compression loses its share: $E \leftarrow E_k + e^2(E - E_k)$ with $E_k$ the energy
    /// when restitution was interrupted. The outcome is then continuous where an interruption
    /// first appears.
    #[default]
    EachCompression,
    /// Only the first compression loses energy, as the paper literally says. The outcome jumps
    /// where an interruption first appears.
    Single,
}

/// Options of a two-body impact.
///
/// # Examples
///
/// ```
/// use carom_two_body::{ImpactOptions, RestitutionLaw};
/// let options = ImpactOptions {
///     restitution_law: RestitutionLaw::Poisson,
///     ..ImpactOptions::default()
/// };
/// assert_eq!(options.restitution_law.name(), "poisson");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ImpactOptions {
    /// When restitution ends.
    pub restitution_law: RestitutionLaw,
    /// Energy that repeated compressions lose (energetic law).
    pub recompression: Recompression,
    /// Relative truncation error allowed in each step of curved sliding, in
    /// \[1e-15, 1e-3\] (values outside are brought to the nearer end). For well-conditioned inertia
    /// the error of the outcome stays below it, mostly by a factor of a hundred or more.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub tolerance: f64,
    /// Resolve a contact that touches without closing ($v_z^- = 0$) when friction drives the bodies
    /// together: the limit $v_z^- \to 0^-$, an impact without collision. Otherwise such a contact is
    /// reported as [`Jammed`](super::ContactResponse::Jammed).
    pub tangential_impact: bool,
}

impl ImpactOptions {
    /// The tolerance within its bounds.
    pub(crate) fn step_tolerance(&self) -> f64 {
        self.tolerance.clamp(1e-15, 1e-3)
    }
}

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
