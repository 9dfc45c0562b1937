//! Contacts that last.

use crate::world::pair_table::Pair;
use std::collections::{BTreeMap, BTreeSet};

/// A contact that lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lasting {
    pub(crate) slides: Option<bool>,
    /// Middle of the last steps and the mean normal force in them, the latest last.
    pub(crate) forces: [(f64, f64); 3],
}

/// All contacts that last, found from either side.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastingPairs {
    pairs: BTreeMap<Pair, Lasting>,
    reversed: BTreeSet<Pair>,
}

impl LastingPairs {
    pub(crate) fn contains(&self, pair: Pair) -> bool {
        self.pairs.contains_key(&pair)
    }

    pub(crate) fn get_mut(&mut self, pair: Pair) -> Option<&mut Lasting> {
        self.pairs.get_mut(&pair)
    }

    pub(crate) fn insert(&mut self, pair: Pair, lasting: Lasting) {
        self.reversed.insert((pair.1, pair.0));
        self.pairs.insert(pair, lasting);
    }

    /// True if the pair was there.
    pub(crate) fn remove(&mut self, pair: Pair) -> bool {
        self.reversed.remove(&(pair.1, pair.0));
        self.pairs.remove(&pair).is_some()
    }

    /// All pairs in ascending order, and true for those that slide.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Pair, bool)> {
        let pairs = self.pairs.iter();
        pairs.map(|(pair, lasting)| (*pair, lasting.slides == Some(true)))
    }

    /// The pairs of a thing.
    pub(crate) fn of(&self, thing: usize) -> impl Iterator<Item = Pair> {
        let all = (thing, 0)..=(thing, usize::MAX);
        let first = self.pairs.range(all.clone()).map(|(pair, _)| *pair);
        first.chain(self.reversed.range(all).map(|(b, a)| (*a, *b)))
    }
}
