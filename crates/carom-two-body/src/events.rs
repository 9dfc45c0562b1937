//! The events of an impact and the normal process that makes them.

use super::options::{ImpactOptions, Recompression, RestitutionLaw};
use std::ops::Deref;

/// Most events an impact can have: a start on a ray, two compressions with an interruption between
/// them, an end of sliding, the end; with room to spare.
const MAX_EVENTS: usize = 8;

/// Event at a point of an impact. Letters as in Jia & Wang, section 6; `k` and `C` are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Event {
    /// `c`: the first compression ends, $v_z = 0$ upwards.
    #[default]
    CompressionEnd,
    /// `r`: restitution ends and with it the impact.
    RestitutionEnd,
    /// `s`: the sliding velocity becomes zero.
    SlipZero,
    /// `l`: sliding is along an invariant direction (exactly, so only from the start).
    StraightSlip,
    /// `k`: restitution is interrupted, $v_z = 0$ downwards with energy left.
    Interruption,
    /// `C`: a later compression ends.
    LaterCompressionEnd,
}

impl Event {
    /// The letter of the event.
    pub fn letter(self) -> char {
        match self {
            Self::CompressionEnd => 'c',
            Self::RestitutionEnd => 'r',
            Self::SlipZero => 's',
            Self::StraightSlip => 'l',
            Self::Interruption => 'k',
            Self::LaterCompressionEnd => 'C',
        }
    }
}

/// State of the contact at an event.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EventPoint {
    /// The event.
    pub event: Event,
    /// Impulse $(I_x, I_y, I_z)$ so far; its last entry is the independent variable.
    pub impulse: [f64; 3],
    /// Contact velocity $(\gamma_x, \gamma_y, v_z)$.
    pub velocity: [f64; 3],
    /// Elastic energy stored at the contact; at `c` and `C` before the loss.
    pub energy: f64,
}

/// The events of an impact in order; reads as a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Events {
    points: [EventPoint; MAX_EVENTS],
    len: usize,
}

impl Events {
    pub(crate) fn push(&mut self, point: EventPoint) {
        if let Some(place) = self.points.get_mut(self.len) {
            *place = point;
            self.len += 1;
        }
    }

    /// The letters in order, `"csr"` for example: Jia & Wang, Fig. 9.
    pub fn sequence(&self) -> String {
        self.iter().map(|point| point.event.letter()).collect()
    }

    /// The first point of an event.
    pub fn first(&self, event: Event) -> Option<&EventPoint> {
        self.iter().find(|point| point.event == event)
    }

    /// The events with every impulse, velocity and energy multiplied back from the scaled
    /// problem that was solved: one of its units is `impulse` N·s, or `velocity` m/s.
    pub(crate) fn rescaled(&self, impulse: f64, velocity: f64) -> Self {
        let mut events = *self;
        for point in events.points.iter_mut().take(events.len) {
            point.impulse.iter_mut().for_each(|x| *x *= impulse);
            point.velocity.iter_mut().for_each(|x| *x *= velocity);
            point.energy *= impulse * velocity;
        }
        events
    }
}

impl Deref for Events {
    type Target = [EventPoint];

    fn deref(&self) -> &[EventPoint] {
        self.points.get(..self.len).unwrap_or(&[])
    }
}

/// Phase of the contact: compression or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Compression,
    Restitution,
}

/// When restitution ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// When the stored energy is used up.
    EnergyZero,
    /// At this normal impulse; known from the first end of compression on.
    Impulse(f64),
    /// At this normal velocity.
    Velocity(f64),
}

/// The normal process: compression and restitution, whatever the contact does tangentially.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Normal {
    pub(crate) phase: Phase,
    /// Elastic energy stored, $E' = -v_z$.
    pub(crate) energy: f64,
    pub(crate) end: End,
    restitution: f64,
    recompression: Recompression,
    /// Energy at the last interruption.
    kept: f64,
    compressions: usize,
    /// Energy that the ends of compression took.
    pub(crate) loss: f64,
    pub(crate) compression_energy: f64,
    pub(crate) compression_impulse: f64,
}

impl Normal {
    pub(crate) fn new(closing: f64, restitution: f64, options: &ImpactOptions) -> Self {
        Self {
            phase: Phase::Compression,
            energy: 0.0,
            end: match options.restitution_law {
                RestitutionLaw::Energetic => End::EnergyZero,
                RestitutionLaw::Poisson => End::Impulse(f64::INFINITY),
                RestitutionLaw::Newton => End::Velocity(restitution * closing),
            },
            restitution,
            recompression: options.recompression,
            kept: 0.0,
            compressions: 0,
            loss: 0.0,
            compression_energy: 0.0,
            compression_impulse: 0.0,
        }
    }

    /// Compression ends at a normal impulse: takes the loss and says which event it is and whether
    /// the impact ends here.
    pub(crate) fn compression_ends(&mut self, impulse: f64) -> (Event, bool) {
        let first = self.compressions == 0;
        self.compressions += 1;
        self.phase = Phase::Restitution;
        if first {
            self.compression_energy = self.energy;
            self.compression_impulse = impulse;
            if let End::Impulse(end) = &mut self.end {
                *end = (1.0 + self.restitution) * impulse;
            }
        }
        let event = if first {
            Event::CompressionEnd
        } else {
            Event::LaterCompressionEnd
        };
        let over = match self.end {
            End::EnergyZero => {
                if first || self.recompression == Recompression::EachCompression {
                    let stored = self.energy - self.kept;
                    let left = self.kept + self.restitution * self.restitution * stored;
                    self.loss += self.energy - left;
                    self.energy = left;
                }
                self.energy <= 0.0
            }
            End::Impulse(end) => impulse >= end,
            End::Velocity(end) => end <= 0.0,
        };
        (event, over)
    }

    /// Restitution is interrupted with the present energy left.
    pub(crate) fn interrupted(&mut self) {
        self.phase = Phase::Compression;
        self.kept = self.energy;
    }

    pub(crate) fn is_recompressed(&self) -> bool {
        self.compressions > 1
    }
}
