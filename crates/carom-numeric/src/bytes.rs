//! Values as bytes, in the order of their fields, without names: the payload of snapshots.
//!
//! A number is its bits, least significant byte first; whole numbers have eight bytes, the variant of an enumeration one, the length
//! of a list four. What is read is equal to what was written, bit for bit. Bytes may come from strangers: a list takes memory only
//! as its items are read, all items together take at most a given memory, and whole numbers are at most $2^{53}$, so that sums of
//! them do not overflow.

mod read;
mod write;

pub use read::decode;
pub use write::encode;

use std::fmt;

/// Reason for which bytes are no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl serde::ser::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(text.to_string())
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(text.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Unit,
        One(f64),
        Two(u32, bool),
        Named { x: Option<i32>, y: String },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct All {
        kinds: Vec<Kind>,
        map: BTreeMap<(usize, usize), [f64; 2]>,
        nothing: (),
        #[serde(with = "crate::stored")]
        far: f64,
    }

    fn all() -> All {
        All {
            kinds: vec![
                Kind::Unit,
                Kind::One(-0.0),
                Kind::Two(7, true),
                Kind::Named {
                    x: Some(-3),
                    y: "ä".to_owned(),
                },
            ],
            map: BTreeMap::from([((1, 2), [0.1, f64::MIN_POSITIVE])]),
            nothing: (),
            far: f64::INFINITY,
        }
    }

    #[test]
    fn values_come_back_and_no_cut_or_flipped_byte_panics() {
        let bytes = encode(&all());
        assert_eq!(decode::<All>(&bytes, 4 * bytes.len()).unwrap(), all());
        for cut in 0..bytes.len() {
            assert!(decode::<All>(&bytes[..cut], 1 << 20).is_err());
        }
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            if let Ok(value) = decode::<All>(&other, 1 << 20) {
                assert_eq!(encode(&value), other);
            }
        }
    }

    #[test]
    fn a_long_list_of_small_items_takes_no_more_memory_than_allowed() {
        let bytes = encode(&vec![None::<[f64; 8]>; 10_000]);
        assert_eq!(bytes.len(), 10_004);
        let large = decode::<Vec<Option<[f64; 8]>>>(&bytes, 4 * bytes.len());
        assert!(large.unwrap_err().to_string().contains("memory"));
        let claims = [0xff, 0xff, 0xff, 0xff, 0];
        assert!(decode::<Vec<u8>>(&claims, usize::MAX).is_err());
    }
}
