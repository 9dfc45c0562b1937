//! Groups of impacts that are resampled together.

use super::Labels;
use carom_numeric::random::CounterRng;
use std::collections::BTreeMap;

/// Groups of impacts, in the order of their names, so that the order of lines has no effect.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Group of each impact.
    pub(crate) of: Vec<usize>,
    /// Number of groups.
    pub(crate) count: usize,
    numbers: BTreeMap<Name, usize>,
}

/// Name of a group: numbers come before other names. The last entry is the row of an impact without group, otherwise 0.
type Name = (bool, u64, Box<str>, u64);

fn named(text: &str, row: u64) -> Name {
    let number: Option<u64> = text.parse().ok();
    (number.is_none(), number.unwrap_or(0), text.into(), row)
}

impl Groups {
    /// Collects the groups of impacts with these names. `more` are names of groups that may have no impact.
    pub(crate) fn new<'l>(
        labels: impl Iterator<Item = &'l Labels>,
        more: impl Iterator<Item = String>,
    ) -> Self {
        let name = |labels: &Labels| match &labels.group {
            Some(group) => named(group, 0),
            None => named(&labels.id, labels.row),
        };
        let names: Vec<Name> = labels.map(name).collect();
        let mut numbers: BTreeMap<Name, usize> = BTreeMap::new();
        numbers.extend(names.iter().map(|name| (name.clone(), 0)));
        numbers.extend(more.map(|name| (named(&name, 0), 0)));
        for (k, number) in numbers.values_mut().enumerate() {
            *number = k;
        }
        let place = |name| numbers.get(name).copied().unwrap_or(0);
        Self {
            of: names.iter().map(place).collect(),
            count: numbers.len(),
            numbers,
        }
    }

    /// Returns the number of the group with this name.
    pub(crate) fn place(&self, group: &str) -> Option<usize> {
        self.numbers.get(&named(group, 0)).copied()
    }

    /// Returns the half of each impact, 0 or 1: the groups are shuffled and halved.
    pub(crate) fn halves(&self, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.count).collect();
        let mut random = CounterRng::new(seed, 0, 2);
        for k in (1..self.count).rev() {
            let other = (random.next_uniform() * (k + 1) as f64) as usize;
            order.swap(k, other.min(k));
        }
        let mut half = vec![0; self.count];
        for group in order.iter().skip(self.count.div_ceil(2)) {
            half[*group] = 1;
        }
        self.of.iter().map(|group| half[*group]).collect()
    }

    /// Returns the number of times that each group is drawn in a bootstrap resample. `resample` is the number of the resample;
    /// with `seed` it selects the random numbers.
    pub(crate) fn counts(&self, seed: u64, resample: u64) -> Vec<f64> {
        let mut random = CounterRng::new(seed, resample, 0);
        let mut counts = vec![0.0; self.count];
        for _ in 0..self.count {
            let pick = (random.next_uniform() * self.count as f64) as usize;
            counts[pick.min(self.count - 1)] += 1.0;
        }
        counts
    }
}
