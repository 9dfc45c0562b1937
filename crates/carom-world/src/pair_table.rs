//! Data of pairs, which are removed when they are no longer needed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Two bodies, or a body and a plane, by their indices.
pub(crate) type Pair = (usize, usize);

/// Hash of two numbers that is equal in every run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairHasher(u64);

impl Hasher for PairHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
}

/// Map from pairs to values. When its size reaches a limit, entries that are over are removed, so that the memory grows with the
/// current pairs and not with all that ever met.
#[derive(Clone, Debug)]
pub(crate) struct PairTable<V> {
    values: HashMap<Pair, V, BuildHasherDefault<PairHasher>>,
    least: usize,
    room: usize,
}

impl<V> PairTable<V> {
    /// Creates an empty table that stores up to `room` pairs before it removes the entries that are no longer needed.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            values: HashMap::with_capacity_and_hasher(room, BuildHasherDefault::default()),
            least: room,
            room,
        }
    }

    pub(crate) fn get(&self, pair: Pair) -> Option<&V> {
        self.values.get(&pair)
    }

    pub(crate) fn get_mut(&mut self, pair: Pair) -> Option<&mut V> {
        self.values.get_mut(&pair)
    }

    pub(crate) fn remove(&mut self, pair: Pair) -> Option<V> {
        self.values.remove(&pair)
    }

    /// Returns all pairs, in any order.
    #[cfg(feature = "serde")]
    pub(crate) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.values.keys().copied()
    }

    /// Removes all pairs for which `keeps` returns false.
    pub(crate) fn retain(&mut self, keeps: impl Fn(Pair) -> bool) {
        self.values.retain(|pair, _| keeps(*pair));
    }

    /// Stores a value for a pair. If the table is full, entries for which `is_over` returns true are removed first.
    pub(crate) fn insert(&mut self, pair: Pair, value: V, is_over: impl Fn(Pair, &V) -> bool) {
        if self.values.len() >= self.room {
            self.values.retain(|pair, value| !is_over(*pair, value));
            self.room = self.least.max(2 * self.values.len());
        }
        self.values.insert(pair, value);
    }
}

#[cfg(feature = "serde")]
impl<V: serde::Serialize> serde::Serialize for PairTable<V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values: Vec<(&Pair, &V)> = self.values.iter().collect();
        values.sort_unstable_by_key(|(pair, _)| **pair);
        (self.least, self.room, values).serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, V: serde::Deserialize<'de>> serde::Deserialize<'de> for PairTable<V> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (least, room, values) = <(usize, usize, Vec<(Pair, V)>)>::deserialize(deserializer)?;
        let values = values.into_iter().collect();
        Ok(Self {
            values,
            least,
            room,
        })
    }
}
