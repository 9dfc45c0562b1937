//! Random numbers that know their place: each depends on a seed and on its position alone, so that any
//! number of threads draws the same.
//!
//! All of them are SplitMix64 (Steele, Lea & Flood, *Fast splittable pseudorandom number generators*,
//! 2014) from different starting points.

/// The increment of the sequence of states: $2^{64}$ over the golden ratio, made odd.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64: neighboring states become unrelated bits.
#[inline]
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Word number `position` (from 0) of the SplitMix64 stream with this seed.
///
/// # Examples
///
/// ```
/// // The first word of the reference implementation with seed 0.
/// assert_eq!(carom_numeric::random::bits(0, 0), 0xe220_a839_7b1d_cdaf);
/// ```
#[inline]
pub fn bits(seed: u64, position: u64) -> u64 {
    mix(seed.wrapping_add(position.wrapping_add(1).wrapping_mul(INCREMENT)))
}

/// Number `position` of the stream with this seed, uniform in \[`low`, `high`): 53 random bits.
///
/// # Examples
///
/// ```
/// let first = carom_numeric::random::uniform(2019, 0, -0.005, 0.005);
/// assert_eq!(10.0 + first, 9.998718774231328);
/// ```
#[inline]
pub fn uniform(seed: u64, position: u64, low: f64, high: f64) -> f64 {
    low + (high - low) * ((bits(seed, position) >> 11) as f64 * crate::power(2.0, -53))
}

/// A number in \[1, 2), 52 random bits, that only the seed (below $2^{32}$) and the position decide.
#[inline]
pub fn generic(seed: u64, position: u64) -> f64 {
    let state = position.wrapping_add(seed << 32).wrapping_mul(INCREMENT);
    1.0 + (mix(state) >> 12) as f64 * crate::power(2.0, -52)
}

/// A generator for one step of one sample of a seeded ensemble.
///
/// It starts from a state that mixes seed, sample and step; two generators that differ in any of them
/// share nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRng {
    state: u64,
}

impl CounterRng {
    /// The generator of one step of one sample.
    pub fn new(seed: u64, sample: u64, step: u64) -> Self {
        let seeded = mix(seed.wrapping_add(INCREMENT));
        let sampled = mix(seeded ^ sample.wrapping_mul(INCREMENT).wrapping_add(1));
        Self {
            state: mix(sampled ^ step.wrapping_mul(INCREMENT).wrapping_add(2)),
        }
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mix(self.state)
    }

    /// Uniform in the open interval (0, 1).
    pub fn next_uniform(&mut self) -> f64 {
        ((self.next_bits() >> 12) as f64 + 0.5) * crate::power(2.0, -52)
    }
}
