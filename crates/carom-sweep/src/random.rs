//! Random numbers that depend only on seed, cell and stream, defined so that any programming language can
//! reproduce them.

use sha2::{Digest, Sha256};

/// Returns a random integer below $2^{53}$ that depends only on its arguments: the seed of the sweep, the number of the
/// cell (point of the sweep), and the number `stream` of a series of random numbers.
///
/// The integer is computed from the SHA-256 digest of `carom-sweep`, the seed, the cell and, for streams from 1 on, the
/// stream (little-endian 64-bit integers). The first eight bytes of the digest, as a little-endian integer, are shifted
/// right by 11 bits.
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

/// Returns a random number, uniformly distributed in $[0, 1)$, for a random column of a cell (point of the sweep). The
/// number is [`integer`] of the stream `column + 1`, times $2^{-53}$.
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
