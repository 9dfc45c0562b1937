//! Frames of a stored run, for animations.

use carom_motion::generalized::Trajectory;
use carom_report::animation::{Animation, Outline, PlaneBody};

/// Number of frames in addition to those at the impacts.
const FRAMES: usize = 200;

/// Largest number of impacts with their own frame.
const IMPACTS: usize = 60;

/// About [`FRAMES`] states of a run's grid, and its first impacts, in order of time.
pub(crate) struct Played<'a> {
    frames: Vec<(f64, &'a [f64])>,
    impacts: Vec<f64>,
}

impl<'a> Played<'a> {
    pub(crate) fn new(run: &'a Trajectory) -> Self {
        let hits: Vec<(f64, &[f64])> = run
            .impacts()
            .take(IMPACTS)
            .map(|hit| (hit.time, hit.configuration.as_slice()))
            .collect();
        let impacts = hits.iter().map(|(time, _)| *time).collect();
        let stride = run.states.len().div_ceil(FRAMES).max(1);
        let grid = run.states.iter().step_by(stride);
        let mut frames: Vec<_> = grid
            .map(|state| (state.time, state.configuration.as_slice()))
            .chain(hits)
            .collect();
        frames.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { frames, impacts }
    }

    /// Creates an animation with the times of the selected frames, to which bodies can be added.
    pub(crate) fn animation(&self, name: &str, title: &str, caption: &str) -> Animation {
        let times = self.frames.iter().map(|(time, _)| *time).collect();
        Animation::plane(name, title, caption, times, self.impacts.clone())
    }

    /// Creates a body for the animation. `outlines`: its drawing; `pose`: returns its position x, y (m) and angle (rad) in a
    /// configuration.
    pub(crate) fn body(
        &self,
        outlines: Vec<Outline>,
        pose: impl Fn(&[f64]) -> [f64; 3],
    ) -> PlaneBody {
        PlaneBody::new(outlines, self.frames.iter().map(|(_, q)| pose(q)))
    }
}
