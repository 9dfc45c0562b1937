//! Ends of steps: lines of the time grid, breakpoints of tabulated inputs, and equal parts of the time up to them.

use super::run::{INSTANT, Run};

impl Run<'_> {
    /// Returns the time at which the next step must end (s): the next grid time (multiple of the time step), or the next
    /// breakpoint of a tabulated input, or an equal part of the time up to there that the rates of the contacts of bodies without
    /// joints allow.
    pub(super) fn target(&self) -> f64 {
        let pressing = &self.pressing;
        let rate = self
            .world
            .touch
            .rate(pressing.pairs(), &self.posture.states, |pair| {
                pressing.force(pair)
            });
        let stop = self.next_stop();
        let left = stop - self.time;
        let pieces = (left * rate).ceil();
        if pieces > 1.0 {
            self.time + left / pieces
        } else {
            stop
        }
    }

    /// Returns the next grid time, or breakpoint of a tabulated input (s).
    pub(super) fn next_stop(&self) -> f64 {
        let line = self.next_line();
        let after = self
            .world
            .corners
            .partition_point(|t| *t <= self.time + INSTANT);
        // Times that differ by rounding are one instant. The breakpoint is used: the slope changes there.
        match self.world.corners.get(after) {
            Some(corner) if *corner <= line + INSTANT => *corner,
            _ => line,
        }
    }

    /// Returns the next grid time (s).
    pub(super) fn next_line(&self) -> f64 {
        (self.line + 1) as f64 * self.world.time_step
    }
}
