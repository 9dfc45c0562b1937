//! Seeded sample of the states of a file of any length.

use super::{BATCH, State};
use carom_numeric::random::CounterRng;

/// Largest number of states of a sample.
const MOST: usize = 200_000;
/// Largest number of bytes of a sample, and of tables that a fit makes of all impacts. Mended states need as many again.
pub(crate) const MOST_BYTES: usize = 80 << 20;

/// Sample of the states of a file: all of them up to a limit, and then batches of consecutive states, each with equal probability
/// (reservoir sampling), so that most states keep their neighbors. The order is that of the file.
#[derive(Debug)]
pub(crate) struct Sample {
    batches: Vec<(u64, Vec<State>)>,
    met: u64,
    bytes: usize,
    random: CounterRng,
    is_full: bool,
}

impl Sample {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            batches: Vec::new(),
            met: 0,
            bytes: 0,
            random: CounterRng::new(seed, 0, 1),
            is_full: false,
        }
    }

    pub(crate) fn push(&mut self, mut batch: Vec<State>) {
        if batch.is_empty() {
            return;
        }
        batch.shrink_to_fit();
        let number = self.met;
        self.met += 1;
        if self.is_full {
            let drawn = (self.random.next_uniform() * self.met as f64) as usize;
            if let Some(place) = self.batches.get_mut(drawn) {
                *place = (number, batch);
            }
            return;
        }
        self.bytes += batch.iter().map(State::bytes).sum::<usize>();
        self.batches.push((number, batch));
        self.is_full = self.bytes >= MOST_BYTES || self.batches.len() * BATCH >= MOST;
    }

    /// Returns the states of the sample, and true if it leaves states out.
    pub(crate) fn finish(mut self) -> (Vec<State>, bool) {
        let is_sampled = self.met > self.batches.len() as u64;
        self.batches.sort_by_key(|(number, _)| *number);
        let states = self.batches.into_iter().flat_map(|(_, batch)| batch);
        (states.collect(), is_sampled)
    }
}
