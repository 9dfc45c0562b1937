//! Lasting contacts.

/// Mode of the friction force at a lasting contact.
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
    /// Returns the stable identifier, for machine-readable reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frictionless => "frictionless",
            Self::Stick => "stick",
            Self::SlipBackward => "slip-backward",
            Self::SlipForward => "slip-forward",
        }
    }

    /// Returns the sign of the friction force along the slide coordinate; 0 for modes without sliding.
    pub fn sign(self) -> f64 {
        match self {
            Self::Frictionless | Self::Stick => 0.0,
            Self::SlipBackward => 1.0,
            Self::SlipForward => -1.0,
        }
    }
}

/// Lasting (active) contact: its gap is kept constant by an impulse that must not be negative.
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
    /// Creates a lasting contact with the gap `gap` (m), in the mode `Stick` if it has friction.
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

    /// True if the contact has friction.
    pub fn is_frictional(&self) -> bool {
        self.friction > 0.0
    }

    /// Returns the number of unknown impulses: the normal one, and the tangential one if the contact sticks.
    pub fn n_unknowns(&self) -> usize {
        if self.mode == ContactMode::Stick {
            2
        } else {
            1
        }
    }
}
