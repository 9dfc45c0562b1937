//! Contacts that last.

/// What the tangential force of a lasting contact does.
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
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Frictionless | Self::Stick => 0.0,
            Self::SlipBackward => 1.0,
            Self::SlipForward => -1.0,
        }
    }
}

/// The modes of a frictional contact.
const MODES: [ContactMode; 3] = [
    ContactMode::Stick,
    ContactMode::SlipBackward,
    ContactMode::SlipForward,
];

/// Frictional contacts whose modes are enumerated together.
pub(crate) const FRICTION_LIMIT: usize = 3;

/// A contact that lasts: its gap is held and its force pushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bond {
    pub(crate) contact: usize,
    /// The gap that is held: that at which the contact was established, rounding or less than the
    /// tolerance of simultaneous events.
    pub(crate) gap: f64,
    pub(crate) friction: f64,
    pub(crate) mode: ContactMode,
}

impl Bond {
    pub(crate) fn new(contact: usize, gap: f64, friction: f64) -> Self {
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

    pub(crate) fn is_frictional(&self) -> bool {
        self.friction > 0.0
    }

    /// Number of unknown impulses: normal, and tangential if it sticks.
    pub(crate) fn n_unknowns(&self) -> usize {
        if self.mode == ContactMode::Stick {
            2
        } else {
            1
        }
    }
}

/// Combinations of modes of some bonds, the present one first.
#[derive(Clone, Debug)]
pub(crate) struct Combinations {
    present: Vec<ContactMode>,
    next: Option<usize>,
    count: usize,
}

impl Combinations {
    pub(crate) fn new(bonds: &[Bond]) -> Self {
        let frictional = bonds.iter().filter(|bond| bond.is_frictional());
        let present: Vec<_> = frictional.map(|bond| bond.mode).collect();
        Self {
            count: MODES.len().pow(present.len() as u32),
            present,
            next: None,
        }
    }

    /// Sets the next combination; false if there is none left.
    pub(crate) fn advance(&mut self, bonds: &mut [Bond]) -> bool {
        let index = self.next.unwrap_or(0);
        let first = self.next.is_none();
        self.next = Some(if first { 0 } else { index + 1 });
        if !first && index >= self.count {
            return false;
        }
        let mut rest = index;
        let frictional = bonds.iter_mut().filter(|bond| bond.is_frictional());
        for (bond, present) in frictional.zip(&self.present) {
            bond.mode = if first {
                *present
            } else {
                MODES[rest % MODES.len()]
            };
            rest /= MODES.len();
        }
        true
    }
}
