//! Counter-based random numbers. Each number depends only on a seed and on its position, so that the result
//! does not depend on the number of threads.
//!
//! All generators are SplitMix64 (Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, 2014)
//! with different starting points.

/// Increment between successive states: $2^{64}$ divided by the golden ratio, made odd.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Maps a 64-bit number to a pseudo-random one by the finalizer of SplitMix64: neighboring arguments give unrelated
/// bits.
#[inline]
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns 64 random bits: word number `position` (from 0) of the SplitMix64 random stream with the given seed.
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

/// Returns a random number, uniform in \[`low`, `high`), with 53 random bits: number `position` (from 0) of the
/// SplitMix64 random stream with the given seed.
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

/// Returns a pseudo-random number in \[1, 2) with 52 random bits. It is number `position` of the stream with the given seed,
/// which must be below $2^{32}$. The same seed and position always give the same number.
#[inline]
pub fn generic(seed: u64, position: u64) -> f64 {
    let state = position.wrapping_add(seed << 32).wrapping_mul(INCREMENT);
    1.0 + (mix(state) >> 12) as f64 * crate::power(2.0, -52)
}

/// Random number generator for one time step of one sample of a random ensemble: a set of simulations with random initial values
/// or forces.
///
/// The initial state is mixed from seed, sample and step, so that generators that differ in any of these give
/// unrelated numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRng {
    state: u64,
}

impl CounterRng {
    /// Creates the random generator for one time step of one sample of an ensemble. `seed` is the seed of the
    /// ensemble; `sample` and `step` are the indices of the sample and of the time step.
    pub fn new(seed: u64, sample: u64, step: u64) -> Self {
        let seeded = mix(seed.wrapping_add(INCREMENT));
        let sampled = mix(seeded ^ sample.wrapping_mul(INCREMENT).wrapping_add(1));
        Self {
            state: mix(sampled ^ step.wrapping_mul(INCREMENT).wrapping_add(2)),
        }
    }

    /// Returns the next 64 random bits of the generator.
    pub fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mix(self.state)
    }

    /// Returns the next random number of the generator, uniform in the open interval (0, 1).
    pub fn next_uniform(&mut self) -> f64 {
        ((self.next_bits() >> 12) as f64 + 0.5) * crate::power(2.0, -52)
    }
}
