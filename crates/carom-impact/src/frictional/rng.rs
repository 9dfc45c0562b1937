//! Random numbers that know their place.

/// A counter-based generator: the numbers of a sample depend on the seed and the index of the
/// sample alone, so that any number of threads draws the same.
///
/// The sequence is SplitMix64 (Steele, Lea & Flood 2014) from a starting point that mixes seed and
/// index twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRng {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl CounterRng {
    /// The generator of one step of one sample.
    pub fn new(seed: u64, sample: u64, step: u64) -> Self {
        let seeded = mix(seed.wrapping_add(GOLDEN));
        let sampled = mix(seeded ^ sample.wrapping_mul(GOLDEN).wrapping_add(1));
        Self {
            state: mix(sampled ^ step.wrapping_mul(GOLDEN).wrapping_add(2)),
        }
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// Uniform in the open interval (0, 1).
    pub fn next_uniform(&mut self) -> f64 {
        ((self.next_bits() >> 12) as f64 + 0.5) * 2f64.powi(-52)
    }
}
