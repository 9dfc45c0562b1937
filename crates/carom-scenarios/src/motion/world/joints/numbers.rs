//! Numbers of `[[joints]]` that a joint has once for each coordinate.

use crate::tree::EXTENDED;
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// One number for all coordinates, or one number for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(in super::super) enum Numbers {
    One(f64),
    Each(Vec<f64>),
}

impl Numbers {
    /// Returns the number that applies to the joint coordinate with the index `coordinate`: the common number, or the entry of
    /// a list.
    pub(super) fn at(&self, coordinate: usize) -> Option<f64> {
        match self {
            Self::One(number) => Some(*number),
            Self::Each(list) => list.get(coordinate).copied(),
        }
    }
}

/// Bounds of coordinates; an infinite bound means no limit.
#[derive(Clone, Debug)]
pub(in super::super) struct Bounds(pub(in super::super) Numbers);

impl Bounds {
    pub(super) fn numbers(&self) -> Numbers {
        self.0.clone()
    }

    pub(super) fn is_finite(&self) -> bool {
        matches!(self.0, Numbers::One(bound) if bound.is_finite())
    }
}

impl<'de> Deserialize<'de> for Bounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(EXTENDED, BoundsVisitor)
    }
}

/// Deserializer of one bound or a list of bounds.
struct BoundsVisitor;

impl<'de> Visitor<'de> for BoundsVisitor {
    type Value = Bounds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, inf or -inf, or a list of them")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Bounds, E> {
        Ok(Bounds(Numbers::One(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Bounds, E> {
        Ok(Bounds(Numbers::One(value as f64)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Bounds, E> {
        Ok(Bounds(Numbers::One(value as f64)))
    }

    // For deserializers without infinite numbers.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Bounds, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bounds, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Bounds>()? {
            let Numbers::One(value) = item.0 else {
                return Err(de::Error::custom("a list of numbers is needed"));
            };
            list.push(value);
        }
        Ok(Bounds(Numbers::Each(list)))
    }
}
