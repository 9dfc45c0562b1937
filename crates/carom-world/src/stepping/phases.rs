//! Phases of a time step.

/// Durations of the phases of a step (s): half a flight, impulses, half a flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Phases {
    /// Duration of the flight before the impulses.
    pub(super) before: f64,
    /// Duration for which gravity acts together with the impulses.
    pub(super) gravity: f64,
    /// Duration in which gaps may close after the impulses.
    pub(super) closing: f64,
    /// Duration of the flight after the impulses.
    pub(super) after: f64,
}

impl Phases {
    /// Returns the durations of the phases of a regular step of length `h` (s): half a flight, impulses of contacts and gravity
    /// at the middle, half a flight. Gaps may close until the next impulses, at the middle of a step of length `next` (s).
    pub(super) fn of_step(h: f64, next: f64) -> Self {
        let half = 0.5 * h;
        Self {
            before: half,
            gravity: h,
            closing: half + 0.5 * next,
            after: half,
        }
    }

    /// Returns the durations of the phases for impulses at the start of a run, where no time passes. These impulses stop bodies
    /// that touch and approach at the start. `h` is the length of the steps that follow (s).
    pub(super) fn of_start(h: f64) -> Self {
        Self {
            before: 0.0,
            gravity: 0.0,
            closing: 0.5 * h,
            after: 0.0,
        }
    }
}
