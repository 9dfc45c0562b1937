//! Numbers restricted to a range, checked while they are parsed.
//!
//! Every number of a configuration is finite. The type of a number also states its range. The check during
//! parsing knows the position, so that an error names file, line and key.

use crate::ScenarioError;
use serde::de::{Deserialize, Deserializer, Error};
use std::fmt;
use std::ops::Deref;

/// A number or a list of numbers.
pub(crate) trait Numbers {
    fn numbers(&self) -> &[f64];
}

impl Numbers for f64 {
    fn numbers(&self) -> &[f64] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> Numbers for [f64; N] {
    fn numbers(&self) -> &[f64] {
        self
    }
}

impl Numbers for Vec<f64> {
    fn numbers(&self) -> &[f64] {
        self
    }
}

macro_rules! checked {
    ($($(#[$doc:meta])* $name:ident($x:ident): $holds:expr, $must:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $name<T = f64>(T);

        impl<T> Deref for $name<T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<'de, T: Deserialize<'de> + Numbers> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = T::deserialize(deserializer)?;
                match value.numbers().iter().find(|&&$x| !($holds)) {
                    Some(wrong) => Err(D::Error::custom(format_args!("{wrong} must {}", $must))),
                    None => Ok(Self(value)),
                }
            }
        }
    )*};
}

checked! {
    /// Number above 0.
    Positive(x): x > 0.0, "be positive";
    /// Number of at least 0.
    NonNegative(x): x >= 0.0, "not be negative";
    /// Number in [0, 1].
    Fraction(x): (0.0..=1.0).contains(&x), "lie between 0 and 1";
}

/// An integer within bounds that limit run time and the size of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count<const LOW: usize, const HIGH: usize>(usize);

impl<const LOW: usize, const HIGH: usize> Deref for Count<LOW, HIGH> {
    type Target = usize;

    fn deref(&self) -> &usize {
        &self.0
    }
}

impl<'de, const LOW: usize, const HIGH: usize> Deserialize<'de> for Count<LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = usize::deserialize(deserializer)?;
        if (LOW..=HIGH).contains(&value) {
            return Ok(Self(value));
        }
        Err(D::Error::custom(Outside {
            value,
            low: LOW,
            high: HIGH,
        }))
    }
}

struct Outside {
    value: usize,
    low: usize,
    high: usize,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, low, high } = self;
        write!(f, "{value} must lie between {low} and {high}")
    }
}

/// Checks that `value` lies from `low` to `high`. The value is a count that follows from the configuration key `key`, such as
/// the length of a list.
///
/// # Errors
///
/// [`ScenarioError::Key`] if it does not.
pub(crate) fn count(key: &str, value: usize, low: usize, high: usize) -> Result<(), ScenarioError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(ScenarioError::value(key, Outside { value, low, high }))
}
