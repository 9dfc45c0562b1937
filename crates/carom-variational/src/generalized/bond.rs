//! Contacts that last.

/// Mode of the tangential force at a lasting contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactMode {
    /// No friction.
    Frictionless,
    /// The contact does not slide.
    Stick,
    /// It slides towards smaller values of its slide; the force points to larger ones.
    SlipBackward,
    /// It slides towards larger values of its slide; the force points to smaller ones.
    SlipForward,
}

impl ContactMode {
    /// Stable identifier, for reports that machines read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frictionless => "frictionless",
            Self::Stick => "stick",
            Self::SlipBackward => "slip-backward",
            Self::SlipForward => "slip-forward",
        }
    }

    /// Sign of the friction force, for sliding contacts.
    pub fn sign(self) -> f64 {
        match self {
            Self::Frictionless | Self::Stick => 0.0,
            Self::SlipBackward => 1.0,
            Self::SlipForward => -1.0,
        }
    }
}

/// A contact that lasts: its gap is held and its force pushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// Index of the contact.
    pub contact: usize,
    /// The gap that is held: that at which the contact was established, rounding or less than the
    /// tolerance of simultaneous events.
    pub gap: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Mode of its friction in the step.
    pub mode: ContactMode,
}

impl Bond {
    /// A contact that is held at a gap, and sticks if it has friction.
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

    /// True if it has friction.
    pub fn is_frictional(&self) -> bool {
        self.friction > 0.0
    }

    /// Number of unknown impulses: normal, and tangential if it sticks.
    pub fn n_unknowns(&self) -> usize {
        if self.mode == ContactMode::Stick {
            2
        } else {
            1
        }
    }
}
