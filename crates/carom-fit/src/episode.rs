//! Episodes, in which another force than gravity acts, and the flights between them.

use crate::Poses;
use crate::noise::{NoiseModel, second_difference};
use crate::setup::DetectOptions;
use crate::units::STANDARD_GRAVITY;
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

/// Classification of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Impact between two flights, with the ranges of samples that are used.
    Isolated {
        before: Range<usize>,
        after: Range<usize>,
    },
    /// The episode is too long for a single impact.
    Wide,
    /// A flight before or after the episode is too short.
    Short,
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

/// Classifies an episode of a toss: a run of samples in which a force besides gravity acts. The result is an impact between two
/// flights, an episode that is too long, or an episode next to a flight that is too short. `place` is the index of the episode
/// in the list, and `samples` the number of samples of the toss.
///
/// A flight reaches to the neighboring episode. The flagged sample of that episode next to the flight is included: its pose
/// deviates little from the flight, since otherwise the sample before it would be flagged, too.
pub(crate) fn verdict(
    episodes: &[Episode],
    place: usize,
    samples: usize,
    options: &DetectOptions,
) -> Verdict {
    let Some(episode) = episodes.get(place) else {
        return Verdict::Short;
    };
    if episode.last - episode.first >= options.width {
        return Verdict::Wide;
    }
    let begin = match place.checked_sub(1).and_then(|i| episodes.get(i)) {
        Some(previous) => previous.last,
        None => 0,
    };
    let end = match episodes.get(place + 1) {
        Some(next) => next.first + 1,
        None => samples,
    };
    let (stop, start) = (episode.flight_before(), episode.flight_after());
    let before = begin.max(stop.saturating_sub(options.most))..stop;
    let after = start..end.min(start + options.most);
    if before.len() < options.least || after.len() < options.least {
        return Verdict::Short;
    }
    Verdict::Isolated { before, after }
}
