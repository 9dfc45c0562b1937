//! Random numbers of a problem, in the order in which its parts ask for them.

use carom_numeric::random::uniform;
use proptest::collection::vec;
use proptest::prelude::*;

/// Numbers drawn for one problem. A problem that asks for more gets the middle of each range.
const LENGTH: usize = 220;

/// Stream of uniform random numbers. A shorter or simpler list of numbers makes a simpler problem, so that proptest can make a
/// failure small.
pub(crate) struct Draws {
    numbers: std::vec::IntoIter<f64>,
}

impl Draws {
    /// Generates lists of uniform numbers in [0, 1), from which [`Draws::new`] makes streams.
    pub(crate) fn numbers() -> BoxedStrategy<Vec<f64>> {
        vec(0.0..1.0f64, LENGTH).boxed()
    }

    pub(crate) fn new(numbers: Vec<f64>) -> Self {
        Self {
            numbers: numbers.into_iter(),
        }
    }

    /// Returns the numbers of a seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        let numbers = (0..LENGTH as u64).map(|k| uniform(seed << 32, k, 0.0, 1.0));
        Self::new(numbers.collect())
    }

    /// Draws a number in [0, 1).
    fn unit(&mut self) -> f64 {
        self.numbers.next().unwrap_or(0.5)
    }

    /// Draws a number between `low` and `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Draws a number in [-1, 1) as people write it: one of three is a whole number from -3 to 3.
    pub(crate) fn number(&mut self) -> f64 {
        if self.chance(1.0 / 3.0) {
            self.whole(-3, 3)
        } else {
            self.between(-1.0, 1.0)
        }
    }

    /// Draws a whole number from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: i32, high: i32) -> f64 {
        self.between(f64::from(low), f64::from(high) + 1.0).floor()
    }

    /// Draws a count from `low` to `high`, both included.
    pub(crate) fn count(&mut self, low: usize, high: usize) -> usize {
        let width = high - low + 1;
        let drawn = (self.unit() * width as f64) as usize;
        low + drawn.min(width - 1)
    }

    /// Draws true with the probability `probability`.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Draws a power of two with a whole exponent from `low` to `high`.
    pub(crate) fn power(&mut self, low: i32, high: i32) -> f64 {
        2f64.powi(self.whole(low, high) as i32)
    }
}
