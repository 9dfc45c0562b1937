//! Data of pairs of things, kept for as long as it matters.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Two things by their indices.
pub(crate) type Pair = (usize, usize);

/// A hash of two numbers that is the same in every run.
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

/// Values of pairs. What is over is forgotten when room gets scarce, so that the memory grows with the
/// pairs that matter, not with all that ever met.
#[derive(Clone, Debug)]
pub(crate) struct PairTable<V> {
    values: HashMap<Pair, V, BuildHasherDefault<PairHasher>>,
    least: usize,
    room: usize,
}

impl<V> PairTable<V> {
    /// Room for `room` pairs before any is forgotten.
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

    /// Keeps a value; others that are over may be forgotten.
    pub(crate) fn insert(&mut self, pair: Pair, value: V, is_over: impl Fn(Pair, &V) -> bool) {
        if self.values.len() >= self.room {
            self.values.retain(|pair, value| !is_over(*pair, value));
            self.room = self.least.max(2 * self.values.len());
        }
        self.values.insert(pair, value);
    }
}
