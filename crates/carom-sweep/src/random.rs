//! Random numbers that are a function of seed, cell and stream, in any language.

use sha2::{Digest, Sha256};

/// An integer below $2^{53}$: SHA-256 of `carom-sweep`, seed and cell, and for streams from 1 on the
/// stream, as little-endian 64-bit integers; of the digest the first eight bytes as a little-endian
/// integer without its 11 lowest bits.
pub(crate) fn integer(seed: u64, cell: u64, stream: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"carom-sweep");
    hash.update(seed.to_le_bytes());
    hash.update(cell.to_le_bytes());
    if stream > 0 {
        hash.update(stream.to_le_bytes());
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first
        .iter_mut()
        .zip(digest.iter())
        .for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(first) >> 11
}

/// A number in $[0, 1)$: [`integer`] of the stream `column + 1`, times $2^{-53}$.
pub(crate) fn uniform(seed: u64, cell: u64, column: u64) -> f64 {
    integer(seed, cell, column + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's hashlib from the definition.
    #[test]
    fn numbers_are_those_of_another_language() {
        assert_eq!(integer(7, 0, 0), PYTHON[0]);
        assert_eq!(integer(7, 12345, 0), PYTHON[1]);
        assert_eq!(integer(7, 12345, 3), PYTHON[2]);
        assert_eq!(integer((1 << 53) - 1, 1 << 39, 1), PYTHON[3]);
    }

    const PYTHON: [u64; 4] = [
        1_460_565_873_676_490,
        6_284_571_379_078_991,
        6_211_045_608_224_169,
        3_221_033_424_167_158,
    ];
}
