//! Samples at which something acts besides gravity, and the flights between them.

use crate::Poses;
use crate::noise::{NoiseModel, bend};
use crate::setup::DetectOptions;
use std::ops::Range;

/// Standard gravity (m/s²), in whose terms the smallest acceleration that counts is given.
const STANDARD_GRAVITY: f64 = 9.81;

/// Runs of flagged samples with at most one sample between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Episode {
    /// First flagged sample.
    pub first: usize,
    /// Last flagged sample.
    pub last: usize,
}

impl Episode {
    /// First sample of the flight after it: an impact between two samples flags one or both of
    /// them, so two flagged samples still belong to the flights, a single one to neither.
    fn flight_after(self) -> usize {
        self.last + usize::from(self.first == self.last)
    }

    /// One past the last sample of the flight before it.
    fn flight_before(self) -> usize {
        self.first + usize::from(self.first != self.last)
    }
}

/// Verdict on an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// An impact between two flights, of which these samples are used.
    Isolated {
        before: Range<usize>,
        after: Range<usize>,
    },
    /// Too long to be one impact.
    Wide,
    /// Too little flight on a side.
    Short,
}

/// Samples whose second difference is not that of free flight, in the order of time.
pub(crate) fn flags(toss: &Poses, noise: &NoiseModel) -> Vec<usize> {
    let h = toss.time_step();
    let statistical = 6.0 * 6.0_f64.sqrt() * noise.widest_position_spread / (h * h);
    let physical = 0.5 * noise.gravity.norm() / STANDARD_GRAVITY;
    let threshold = statistical.max(physical);
    (1..toss.position.len().saturating_sub(1))
        .filter(|&k| (bend(toss, k) / (h * h) - noise.gravity).norm() > threshold)
        .collect()
}

/// The episodes of a toss, in the order of time.
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

/// True if the episode at a place of the list is an isolated impact.
///
/// Its flights reach to the neighboring episodes, the flagged sample next to it included: there the pose is
/// off the flight by less than what would have flagged the sample before it, too.
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
