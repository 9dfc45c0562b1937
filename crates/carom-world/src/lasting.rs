//! Storage of lasting contacts.

use crate::pair_table::Pair;
use std::collections::{BTreeMap, BTreeSet};

/// Data of a lasting contact.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Lasting {
    pub(crate) slides: Option<bool>,
    /// Middle time (s) and mean normal force (N) of the last three steps, the latest last.
    pub(crate) forces: [(f64, f64); 3],
}

/// All lasting contacts, which can be looked up by either member of a pair.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "BTreeMap<Pair, Lasting>"))]
pub(crate) struct LastingPairs {
    pairs: BTreeMap<Pair, Lasting>,
    #[cfg_attr(feature = "serde", serde(skip))]
    reversed: BTreeSet<Pair>,
}

impl From<BTreeMap<Pair, Lasting>> for LastingPairs {
    fn from(pairs: BTreeMap<Pair, Lasting>) -> Self {
        let reversed = pairs.keys().map(|pair| (pair.1, pair.0)).collect();
        Self { pairs, reversed }
    }
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

    /// Removes a pair from the lasting contacts. Returns true if it was in lasting contact.
    pub(crate) fn remove(&mut self, pair: Pair) -> bool {
        self.reversed.remove(&(pair.1, pair.0));
        self.pairs.remove(&pair).is_some()
    }

    /// Returns all pairs in lasting contact, in ascending order, each with a flag that is true if the contact slides.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Pair, bool)> {
        let pairs = self.pairs.iter();
        pairs.map(|(pair, lasting)| (*pair, lasting.slides == Some(true)))
    }

    /// Returns all pairs in lasting contact that contain the body or plane with index `thing`.
    pub(crate) fn of(&self, thing: usize) -> impl Iterator<Item = Pair> {
        let all = (thing, 0)..=(thing, usize::MAX);
        let first = self.pairs.range(all.clone()).map(|(pair, _)| *pair);
        first.chain(self.reversed.range(all).map(|(b, a)| (*a, *b)))
    }
}
