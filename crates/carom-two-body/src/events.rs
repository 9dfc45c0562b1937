//! Events of an impact, and the normal process (compression and restitution) that causes them.

use super::options::{ImpactOptions, Recompression, RestitutionLaw};
use std::ops::Deref;

/// Largest number of events of an impact: a start on an invariant direction, two compressions with an interruption
/// between them, an end of sliding, the end of the impact; with some reserve.
const MAX_EVENTS: usize = 8;

/// Event during a frictional impact, such as the end of compression or the stop of sliding. The one-letter
/// codes follow Jia & Wang, section 6; the codes `k` and `C` are additions of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Event {
    /// `c`: the first compression ends; the normal velocity $v_z$ increases through zero.
    #[default]
    CompressionEnd,
    /// `r`: restitution ends, and with it the impact.
    RestitutionEnd,
    /// `s`: the sliding velocity becomes zero.
    SlipZero,
    /// `l`: sliding is along an invariant direction (exactly, which occurs only from the start).
    StraightSlip,
    /// `k`: restitution is interrupted; $v_z$ decreases through zero while elastic energy is left.
    Interruption,
    /// `C`: a second or later compression ends.
    LaterCompressionEnd,
}

impl Event {
    /// Returns the one-letter code of the event, for example `c` for the end of compression.
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

/// State of a contact (impulse, velocity, energy) at the instant of an event during the impact.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct EventPoint {
    /// The event.
    pub event: Event,
    /// Impulse $(I_x, I_y, I_z)$ up to the event; the normal impulse $I_z$ is the independent variable.
    pub impulse: [f64; 3],
    /// Contact velocity $(\gamma_x, \gamma_y, v_z)$: sliding velocity and normal velocity.
    pub velocity: [f64; 3],
    /// Elastic energy stored at the contact; at `c` and `C` the value before the loss.
    pub energy: f64,
}

/// List of the events during an impact, in order. The list dereferences to a slice of [`EventPoint`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "Vec<EventPoint>", try_from = "Vec<EventPoint>")
)]
pub struct Events {
    points: [EventPoint; MAX_EVENTS],
    len: usize,
}

#[cfg(feature = "serde")]
impl From<Events> for Vec<EventPoint> {
    fn from(events: Events) -> Self {
        events.to_vec()
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Vec<EventPoint>> for Events {
    type Error = String;

    fn try_from(points: Vec<EventPoint>) -> Result<Self, String> {
        if points.len() > MAX_EVENTS {
            return Err(format!("{} events of at most {MAX_EVENTS}", points.len()));
        }
        let mut events = Self::default();
        points.into_iter().for_each(|point| events.push(point));
        Ok(events)
    }
}

impl Events {
    pub(crate) fn push(&mut self, point: EventPoint) {
        if let Some(place) = self.points.get_mut(self.len) {
            *place = point;
            self.len += 1;
        }
    }

    /// Returns the one-letter codes of all events of the impact, in order, for example `"csr"`: compression
    /// ends, sliding stops, restitution ends. Jia & Wang, Fig. 9.
    pub fn sequence(&self) -> String {
        self.iter().map(|point| point.event.letter()).collect()
    }

    /// Returns the state of the contact at the first event of the given kind; `None` if there is no such event
    /// during the impact.
    pub fn first(&self, event: Event) -> Option<&EventPoint> {
        self.iter().find(|point| point.event == event)
    }

    /// Converts the impulses, velocities and energies of the events from scaled to physical units. One scaled unit is `impulse`
    /// (N s) for impulses and `velocity` (m/s) for velocities.
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

/// Phase of the contact: compression or restitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Compression,
    Restitution,
}

/// Condition for the end of restitution.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// The stored energy is used up.
    EnergyZero,
    /// The normal impulse reaches this value, which is known after the first compression.
    Impulse(f64),
    /// The normal velocity reaches this value.
    Velocity(f64),
}

/// Normal process: compression and restitution, independent of the tangential motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Normal {
    pub(crate) phase: Phase,
    /// Stored elastic energy, $E' = -v_z$.
    pub(crate) energy: f64,
    pub(crate) end: End,
    restitution: f64,
    recompression: Recompression,
    /// Energy at the last interruption of restitution.
    kept: f64,
    compressions: usize,
    /// Energy lost at the ends of compressions.
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

    /// Ends a compression phase at the normal impulse `impulse`, and subtracts the energy that the restitution law takes from the
    /// stored elastic energy. Returns the event to record, and true if the impact ends at the same instant.
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

    /// Interrupts restitution because a new compression begins. The elastic energy that is stored at this instant is kept.
    pub(crate) fn interrupted(&mut self) {
        self.phase = Phase::Compression;
        self.kept = self.energy;
    }

    pub(crate) fn is_recompressed(&self) -> bool {
        self.compressions > 1
    }
}

/// Mode of a contact during a phase of an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceMode {
    /// The contact slides, and the sliding direction may turn.
    Slip,
    /// The contact sticks.
    Stick,
    /// The contact slides in a constant direction.
    Straight,
}

impl TraceMode {
    /// Returns the name of the mode: `slip`, `stick` or `straight`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slip => "slip",
            Self::Stick => "stick",
            Self::Straight => "straight",
        }
    }
}
