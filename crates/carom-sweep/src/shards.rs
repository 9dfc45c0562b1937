//! Sets of shards, written like `3,5-9`.

use crate::SweepError;
use std::fmt;

/// Set of shard indices of a sweep, stored as ascending ranges that do not touch; both ends of a range are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardSet {
    ranges: Vec<(u64, u64)>,
}

impl ShardSet {
    /// Returns the set of all shards of a sweep with `n` shards: 0 to `n` − 1.
    pub fn all(n: u64) -> Self {
        let ranges = n.checked_sub(1).map(|last| (0, last));
        Self {
            ranges: ranges.into_iter().collect(),
        }
    }

    /// Parses a list of shard indices like `3,5-9`. All indices must be below `n`, the number of shards of the sweep.
    ///
    /// # Errors
    ///
    /// [`SweepError::Shards`], [`SweepError::OutOfRange`].
    pub fn parse(text: &str, n: u64) -> Result<Self, SweepError> {
        let fault = |message: &str| SweepError::Shards {
            text: text.to_owned(),
            message: message.to_owned(),
        };
        let number = |digits: &str| {
            let value = digits.trim().parse::<u64>();
            let value = value.map_err(|_| fault("expected a list such as 3,5-9"))?;
            if value < n {
                return Ok(value);
            }
            Err(SweepError::OutOfRange {
                what: "shard",
                index: value,
                last: n.saturating_sub(1),
            })
        };
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (number(low)?, number(high)?);
            if low > high {
                return Err(fault("a range goes from the lower to the higher shard"));
            }
            ranges.push((low, high));
        }
        ranges.sort_unstable();
        let mut set = Self::default();
        for (low, high) in ranges {
            set.join(low, high);
        }
        Ok(set)
    }

    /// Returns part `i` of `parts` parts of a sweep with `n` shards: the shards whose index leaves the remainder `i` when
    /// divided by `parts`.
    pub fn every(parts: u64, i: u64, n: u64) -> Self {
        let step = usize::try_from(parts.max(1)).unwrap_or(usize::MAX);
        (i..n).step_by(step).collect()
    }

    /// Adds the indices of shards (parts of the sweep) from `low` to `high` to the set. `low` must not be below the
    /// first index of the last range in the set; ranges that touch are merged.
    fn join(&mut self, low: u64, high: u64) {
        match self.ranges.last_mut() {
            Some((_, last)) if low <= last.saturating_add(1) => *last = (*last).max(high),
            _ => self.ranges.push((low, high)),
        }
    }

    /// Returns the number of shards in the set.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|(low, high)| high - low + 1).sum()
    }

    /// True if the set has no shards.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Iterates over the indices of the shards in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().flat_map(|&(low, high)| low..=high)
    }
}

/// Collects ascending indices.
impl FromIterator<u64> for ShardSet {
    fn from_iter<I: IntoIterator<Item = u64>>(shards: I) -> Self {
        let mut set = Self::default();
        for shard in shards {
            set.join(shard, shard);
        }
        set
    }
}

impl fmt::Display for ShardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (low, high)) in self.ranges.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            if low == high {
                write!(f, "{comma}{low}")?;
            } else {
                write!(f, "{comma}{low}-{high}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_set_reads_as_it_is_written() {
        for (text, shown, len) in [
            ("3,5-9", "3,5-9", 6),
            ("9,3,5-8,4", "3-9", 7),
            ("0-2,1-5,2", "0-5", 6),
            (" 1 , 3 ", "1,3", 2),
        ] {
            let set = ShardSet::parse(text, 10).unwrap();
            assert_eq!((set.to_string().as_str(), set.len()), (shown, len));
            assert_eq!(set.iter().count() as u64, len);
            assert_eq!(set.iter().collect::<ShardSet>(), set);
        }
        for bad in ["", "a", "3-", "5-3", "10", "1,,2", "-1", "0-10"] {
            assert!(ShardSet::parse(bad, 10).is_err(), "{bad}");
        }
    }

    #[test]
    fn parts_share_the_shards() {
        let parts = [0, 1, 2].map(|i| ShardSet::every(3, i, 8));
        assert_eq!(
            parts.each_ref().map(ToString::to_string),
            ["0,3,6", "1,4,7", "2,5"]
        );
        assert!(ShardSet::every(5, 4, 3).is_empty());
        assert_eq!(ShardSet::all(0).to_string(), "");
        assert_eq!(ShardSet::all(4).to_string(), "0-3");
    }
}
