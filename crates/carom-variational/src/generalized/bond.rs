//! Lasting contacts.

/// Friction mode of a lasting contact (a contact that stays closed during time steps): without friction, sticking, or sliding in
/// one of the two directions along its slide coordinate (tangential displacement).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactMode {
    /// The contact has no friction.
    Frictionless,
    /// The contact does not slide.
    Stick,
    /// The contact slides towards smaller values of its slide coordinate; the friction force points to larger ones.
    SlipBackward,
    /// The contact slides towards larger values of its slide coordinate; the friction force points to smaller ones.
    SlipForward,
}

impl ContactMode {
    /// Returns the stable identifier of the friction mode in machine-readable reports, for example `slip-forward`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frictionless => "frictionless",
            Self::Stick => "stick",
            Self::SlipBackward => "slip-backward",
            Self::SlipForward => "slip-forward",
        }
    }

    /// Returns the sign (1 or −1) of the friction force along the slide coordinate (tangential displacement) of a sliding
    /// contact; 0 for a sticking or frictionless contact.
    pub fn sign(self) -> f64 {
        match self {
            Self::Frictionless | Self::Stick => 0.0,
            Self::SlipBackward => 1.0,
            Self::SlipForward => -1.0,
        }
    }
}

/// Lasting (active) contact of a mechanical system during time steps. A normal impulse, which is never negative, keeps the gap of
/// the contact constant; friction acts according to the contact's mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// Index of the contact.
    pub contact: usize,
    /// Gap that is maintained: the one at which the contact became lasting. It is zero up to rounding error or the tolerance of
    /// simultaneous events.
    pub gap: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Friction mode of the contact in the step.
    pub mode: ContactMode,
}

impl Bond {
    /// Creates a lasting contact. `contact` is the index of the contact in the mechanical system, `gap` the gap that is kept
    /// constant (m), and `friction` the Coulomb coefficient. The mode is at first `Stick`, or `Frictionless` if the coefficient
    /// is not positive.
    pub fn new(contact: usize, gap: f64, friction: f64) -> Self {
        let mode = if friction > 0.0 {
            ContactMode::Stick
        } else {
            ContactMode::Frictionless
        };
        Self {
            contact,
            gap,
            friction,
            mode,
        }
    }

    /// True if the friction coefficient of the lasting contact is positive.
    pub fn is_frictional(&self) -> bool {
        self.friction > 0.0
    }

    /// Returns the number of unknown impulses of the lasting contact: 2 (normal and tangential) if it sticks, otherwise 1.
    pub fn n_unknowns(&self) -> usize {
        if self.mode == ContactMode::Stick {
            2
        } else {
            1
        }
    }
}
