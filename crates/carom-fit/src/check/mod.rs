//! Check of measured impacts before any law is asked: momentum, energy, order, and changes that mend them.

mod finding;
pub(crate) mod residual;
mod summary;
mod trial;
mod values;

pub use finding::Finding;
pub(crate) use residual::Speed;

use crate::changes::{self, Change};
use crate::fit::likelihood::LEAST_SCALE;
use crate::states::{BATCH, DataError, Sample, State};
use crate::system::{DataSetup, System};
use std::f64::consts::LN_10;
use std::io::BufRead;
use summary::Summary;
use trial::{COST, Point, Round};

/// Smallest number of impacts that are checked.
const FEWEST: usize = 20;
/// Largest number of findings; each is found on top of those before.
const MOST_FINDINGS: usize = 3;
/// Smallest gain of a finding, in units of the log likelihood. Either half must gain a factor of ten in probability, too.
const GAIN: f64 = 10.0;

/// Result of the check of measured impacts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Check {
    /// Quantities of all impacts.
    pub(crate) summary: Summary,
    /// Median of each component of the momentum residual, with the names of the coordinates.
    pub(crate) by_coordinate: Vec<(String, f64)>,
    /// Number of impacts that decide on changes, if it is not all of them.
    pub(crate) sampled: Option<usize>,
    /// Changes that the data ask for, each on top of those before.
    pub findings: Vec<Finding>,
}

/// Check in progress: takes states in batches.
#[derive(Debug)]
pub struct Checking {
    summary: Summary,
    sample: Sample,
    seed: u64,
}

/// Callback for the progress of a check: the number of changes that have been tried, and of all.
pub type Observe<'o> = &'o (dyn Fn(u64, u64) + Sync);

impl Checking {
    /// Begins a check. `seed` determines the halves and the resamples.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            summary: Summary::default(),
            sample: Sample::new(seed),
            seed,
        }
    }

    /// Reads measured impacts, mended by `more` changes, and checks them.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of the first fault, or about a change.
    pub fn read(
        mut self,
        setup: &DataSetup,
        reader: impl BufRead,
        is_table: bool,
        more: &[String],
        observe: Observe<'_>,
    ) -> Result<Check, DataError> {
        let mut system = setup.system.clone();
        setup.read_mended(reader, is_table, more, &mut |mended, states| {
            system = mended.clone();
            self.summary.add(&states);
            self.sample.push(states);
            Ok(())
        })?;
        let (states, is_sampled) = self.sample.finish();
        let sampled = is_sampled.then_some(states.len());
        let mut check = Check {
            by_coordinate: summary::by_coordinate(&system, &states),
            summary: self.summary,
            sampled,
            findings: Vec::new(),
        };
        if check.summary.impacts() >= FEWEST {
            check.findings = findings(system, states, self.seed, observe);
        }
        Ok(check)
    }
}

impl Check {
    /// Returns the status: `consistent`, `inconsistent`, `untestable` or `too-few-impacts`.
    #[must_use]
    pub fn status(&self) -> &'static str {
        if self.summary.impacts() < FEWEST {
            "too-few-impacts"
        } else if !self.findings.is_empty() {
            "inconsistent"
        } else if self.summary.is_untestable() {
            "untestable"
        } else {
            "consistent"
        }
    }
}

/// Returns the changes that measured impacts ask for.
pub(crate) fn findings_of(system: &System, states: &[State], seed: u64) -> Vec<Finding> {
    let mut sample = Sample::new(seed);
    for batch in states.chunks(BATCH) {
        sample.push(batch.to_vec());
    }
    let (states, _) = sample.finish();
    if states.len() < FEWEST {
        return Vec::new();
    }
    findings(system.clone(), states, seed, &|_, _| {})
}

/// Tries all changes, accepts the best one if it is strong enough, and begins again on top of it.
fn findings(
    mut system: System,
    mut states: Vec<State>,
    seed: u64,
    observe: Observe<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    while findings.len() < MOST_FINDINGS {
        let round = Round::new(system, states, seed);
        let n = round.states.first().map_or(0, State::dim);
        let all = changes::all(&round.system, n);
        let mut trials = Vec::with_capacity(all.len());
        for (k, change) in all.iter().enumerate() {
            trials.push(Trial::new(&round, change));
            observe(k as u64 + 1, all.len() as u64);
        }
        let Some(best) = best(&round, &mut trials) else {
            break;
        };
        let (finding, mended) = Finding::new(&round, &best, &trials, seed);
        findings.push(finding);
        (system, states) = mended;
    }
    findings
}

/// Change that was tried, with its gains.
pub(crate) struct Trial {
    pub(crate) change: Change,
    /// Gain on either half.
    pub(crate) gains: [f64; 2],
}

impl Trial {
    fn new(round: &Round, change: &Change) -> Self {
        let gain = |half: usize| {
            let own = (0..round.states.len()).filter(|k| round.half[*k] == half);
            let fitted = values::fitted(round, change, &own.collect::<Vec<_>>());
            round.gain(&round.points(Some(&fitted)), half)
        };
        // Without values the misfits are those of either half.
        let gains = if change.ranges.is_empty() {
            let points = round.points(Some(change));
            [round.gain(&points, 1), round.gain(&points, 0)]
        } else {
            [gain(1), gain(0)]
        };
        Self {
            change: change.clone(),
            gains,
        }
    }

    pub(crate) fn gain(&self) -> f64 {
        self.gains[0] + self.gains[1]
    }
}

/// Change that is accepted, with the changes that say the same and those that are not told apart from it.
pub(crate) struct Best {
    pub(crate) place: usize,
    pub(crate) points: Vec<Point>,
    pub(crate) equivalent: Vec<usize>,
    pub(crate) not_told_apart: Vec<usize>,
}

/// Returns the best change if it is strong enough; of equivalent ones the first. Its values are those for all states then.
fn best(round: &Round, trials: &mut [Trial]) -> Option<Best> {
    let most = trials
        .iter()
        .map(Trial::gain)
        .fold(f64::NEG_INFINITY, f64::max);
    let top = trials.iter().position(|trial| trial.gain() == most)?;
    let is_strong = |trial: &Trial| trial.gains.iter().all(|gain| *gain >= LN_10);
    if !(most >= GAIN && is_strong(&trials[top])) {
        return None;
    }
    let near: Vec<usize> = (0..trials.len())
        .filter(|k| trials[*k].gain() >= most - COST)
        .collect();
    let every: Vec<usize> = (0..round.states.len()).collect();
    for k in &near {
        let fitted = values::fitted(round, &trials[*k].change, &every);
        trials[*k].change = values::rounded(&fitted);
    }
    let points = |k: usize| round.points(Some(&trials[k].change));
    let of_top = points(top);
    let is_same = |k: &usize| {
        let other = points(*k);
        of_top.iter().zip(&other).all(|(a, b)| {
            (a.misfit - b.misfit).abs() <= LEAST_SCALE
                && (a.is_broken, a.is_there) == (b.is_broken, b.is_there)
        })
    };
    let (same, other): (Vec<usize>, Vec<usize>) = near.into_iter().partition(is_same);
    let place = same.first().copied().unwrap_or(top);
    Some(Best {
        points: points(place),
        place,
        equivalent: same.into_iter().filter(|k| *k != place).collect(),
        not_told_apart: other,
    })
}
