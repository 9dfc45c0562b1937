//! Episodes, in which another force than gravity acts, and the flights between them.

use super::noise::{NoiseModel, second_difference};
use super::setup::DetectOptions;
use super::units::STANDARD_GRAVITY;
use crate::Poses;
use std::ops::Range;

/// Episode: a run of flagged samples, with at most one unflagged sample between two flagged ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Episode {
    /// Index of the first flagged sample.
    pub first: usize,
    /// Index of the last flagged sample.
    pub last: usize,
}

impl Episode {
    /// Returns the index of the first sample of the flight after this episode (run of samples in which a force besides gravity
    /// acts). If only one sample is flagged, that sample belongs to no flight. Otherwise the last flagged sample is the first
    /// one of the flight: an impact between two samples flags both, although the body flies at both.
    fn flight_after(self) -> usize {
        self.last + usize::from(self.first == self.last)
    }

    /// Returns the index one past the last sample of the flight before this episode (run of samples in which a force besides
    /// gravity acts). If several samples are flagged, the first flagged one still belongs to the flight.
    fn flight_before(self) -> usize {
        self.first + usize::from(self.first != self.last)
    }
}

/// Reason why an episode is no isolated impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The episode is too long for a single impact.
    Wide,
    /// A flight before or after the episode is too short.
    Short,
    /// Two flights do not explain the poses.
    Noisy,
    /// No vertex is near the plane.
    Far,
}

/// Returns the indices of the samples at which the body is not in free flight, in time order. At such a sample the
/// acceleration, computed from the second difference of positions, differs from gravity by more than the noise explains.
pub(crate) fn flags(toss: &Poses, noise: &NoiseModel) -> Vec<usize> {
    let h = toss.time_step();
    let statistical = 6.0 * 6.0_f64.sqrt() * noise.widest_position_spread / (h * h);
    let physical = 0.5 * noise.gravity.norm() / STANDARD_GRAVITY;
    let threshold = statistical.max(physical);
    (1..toss.position.len().saturating_sub(1))
        .filter(|&k| (second_difference(toss, k) / (h * h) - noise.gravity).norm() > threshold)
        .collect()
}

/// Splits a recorded toss into episodes, in time order. An episode is a run of samples in which a force besides
/// gravity acts; `noise` sets the detection thresholds.
pub(crate) fn episodes(toss: &Poses, noise: &NoiseModel) -> Vec<Episode> {
    let mut episodes: Vec<Episode> = Vec::new();
    for k in flags(toss, noise) {
        match episodes.last_mut() {
            Some(episode) if k <= episode.last + 2 => episode.last = k,
            _ => episodes.push(Episode { first: k, last: k }),
        }
    }
    episodes
}

/// Returns the ranges of samples that are used of the flights before and after an episode of a toss, or why it is no isolated
/// impact. `place` is the index of the episode in the list, and `samples` the number of samples of the toss.
///
/// A flight reaches to the neighboring episode. The flagged sample of that episode next to the flight is included: its pose
/// deviates little from the flight, since otherwise the sample before it would be flagged, too.
pub(crate) fn flights(
    episodes: &[Episode],
    place: usize,
    samples: usize,
    options: &DetectOptions,
) -> Result<[Range<usize>; 2], Why> {
    let Some(episode) = episodes.get(place) else {
        return Err(Why::Short);
    };
    if episode.last - episode.first >= options.width {
        return Err(Why::Wide);
    }
    let previous = place.checked_sub(1).and_then(|i| episodes.get(i));
    let begin = previous.map_or(0, |previous| previous.last);
    let next = episodes.get(place + 1);
    let end = next.map_or(samples, |next| next.first + 1);
    let (stop, start) = (episode.flight_before(), episode.flight_after());
    let before = begin.max(stop.saturating_sub(options.most))..stop;
    let after = start..end.min(start + options.most);
    if before.len() < options.least || after.len() < options.least {
        return Err(Why::Short);
    }
    Ok([before, after])
}
