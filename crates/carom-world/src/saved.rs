//! Sessions as bytes: frame of a snapshot, endings, and checks of what strangers wrote.

use crate::SessionError;
use crate::pair_table::Pair;
use crate::spec::World;
use carom_numeric::{NUMERICS_VERSION, bytes};
use carom_variational::State;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write};

/// First bytes of a snapshot.
const MAGIC: &[u8] = b"carom-session\0";

/// Format of snapshots, as it is written.
const FORMAT: [u8; 4] = [1, 0, 0, 0];

/// SHA-256 of a part of the world of a session: what it is, and the digest.
pub type Digest = (&'static str, [u8; 32]);

/// Returns the SHA-256 of a value as it is shown for debugging, which has every digit of every number.
pub fn digest(of: &dyn fmt::Debug) -> [u8; 32] {
    struct Text(Sha256);
    impl Write for Text {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.update(text);
            Ok(())
        }
    }
    let mut text = Text(Sha256::new());
    // The digest takes every text.
    let _ = write!(text, "{of:?}");
    text.0.finalize().into()
}

/// Returns a snapshot with the payload `payload`: the magic `carom-session` and a zero byte, the format and the version of the
/// numerics (four bytes each), the digests of what the session is of, the payload, and the SHA-256 of all before.
pub fn seal(digests: &[Digest], payload: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(FORMAT);
    out.extend(NUMERICS_VERSION.to_le_bytes());
    out.extend(digests.iter().flat_map(|(_, digest)| digest));
    out.extend(payload);
    let sum = Sha256::digest(&out);
    out.extend(sum);
    out
}

/// Returns the payload of a snapshot.
///
/// # Errors
///
/// [`SessionError::SnapshotDamaged`], [`SessionError::SnapshotVersion`], and [`SessionError::SnapshotForeign`], which names the part
/// whose digest is another one.
pub fn open<'b>(digests: &[Digest], snapshot: &'b [u8]) -> Result<&'b [u8], SessionError> {
    let damaged = |what: &str| SessionError::SnapshotDamaged {
        what: what.to_owned(),
    };
    let short = || damaged("it is too short");
    let (all, sum) = snapshot.split_last_chunk::<32>().ok_or_else(short)?;
    let rest = all
        .strip_prefix(MAGIC)
        .ok_or_else(|| damaged("it does not begin as a snapshot does"))?;
    if Sha256::digest(all)[..] != sum[..] {
        return Err(damaged("its SHA-256 is another one"));
    }
    let (format, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let (numerics, mut rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let versions = [*format, *numerics].map(u32::from_le_bytes);
    let own = [u32::from_le_bytes(FORMAT), NUMERICS_VERSION];
    if versions != own {
        return Err(SessionError::SnapshotVersion { versions, own });
    }
    for (what, digest) in digests {
        let (found, left) = rest.split_first_chunk::<32>().ok_or_else(short)?;
        if found != digest {
            return Err(SessionError::SnapshotForeign { what });
        }
        rest = left;
    }
    Ok(rest)
}

/// Returns the memory (bytes) that the items of a payload may take: with the room that lists keep for growth four times its length,
/// and what a session of a world with `things` bodies, planes and coordinates holds anyway.
pub fn memory(payload: &[u8], things: usize) -> usize {
    (2 * payload.len()).saturating_add((1 << 12) * (1 + things))
}

/// Returns the bytes of a value, with their number before them and `rest` after them.
pub fn before(value: &impl serde::Serialize, rest: &[u8]) -> Vec<u8> {
    let value = bytes::encode(value);
    let mut out = (value.len() as u64).to_le_bytes().to_vec();
    out.extend(value);
    out.extend(rest);
    out
}

/// Reads a value that [`before`] wrote, whose lists may take `memory` (bytes). Returns it with the bytes after it.
///
/// # Errors
///
/// [`SessionError::SnapshotDamaged`].
pub fn split<T: serde::de::DeserializeOwned>(
    from: &[u8],
    memory: usize,
) -> Result<(T, &[u8]), SessionError> {
    let parts = from.split_first_chunk().and_then(|(length, rest)| {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        rest.split_at_checked(length)
    });
    let damaged = |what: String| SessionError::SnapshotDamaged { what };
    let (value, rest) = parts.ok_or_else(|| damaged("it is too short".to_owned()))?;
    let value = bytes::decode(value, memory).map_err(|fault| damaged(fault.to_string()))?;
    Ok((value, rest))
}

/// Part of a paused run that is not stored: nothing stands in its place.
pub trait Part: Default + serde::Serialize + serde::de::DeserializeOwned {}

impl Part for () {}

/// True if the numbers of a state are finite.
pub(crate) fn is_sound(state: &State) -> bool {
    state.check().is_ok()
}

impl World {
    /// True if a pair can touch, and its members are in their order.
    pub(crate) fn has_pair(&self, pair: Pair) -> bool {
        let all = self.n_things();
        pair.0 < all && pair.1 < all && self.pair_of(pair.0, pair.1) == Some(pair)
    }
}

/// Ending of a run as it is stored: of the error with which it stopped its kind and its text.
pub(crate) mod ending {
    use crate::MotionError;
    use carom_motion::hybrid::Ending;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    enum Form {
        Runs,
        Ended(Ending<MotionError>),
        Stopped { kind: String, message: String },
    }

    pub(crate) fn serialize<S: Serializer>(
        ending: &Option<Ending<MotionError>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let form = match ending {
            None => Form::Runs,
            Some(Ending::Stopped(error)) => Form::Stopped {
                kind: error.kind().to_owned(),
                message: error.to_string(),
            },
            Some(ending) => Form::Ended(ending.clone()),
        };
        form.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Ending<MotionError>>, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Runs => None,
            Form::Ended(ending) => Some(ending),
            Form::Stopped { kind, message } => {
                let known = super::KINDS.iter().find(|known| **known == kind);
                let kind = known.ok_or_else(|| D::Error::custom("unknown kind of an error"))?;
                Some(Ending::Stopped(MotionError::Told { kind, message }))
            }
        })
    }
}

/// Kinds of the errors with which runs stop.
const KINDS: &[&str] = &[
    "actuator-force",
    "adhesive-impulse",
    "ambiguous",
    "bad-duration",
    "bad-embedding",
    "bad-step",
    "coarse-coordinates",
    "constrained-contact",
    "constraint-violated",
    "contact-forces",
    "contact-search-limit",
    "dimension-mismatch",
    "discontinuous",
    "duplicate-name",
    "empty",
    "empty-intersection",
    "ended",
    "event-limit",
    "finished",
    "flat",
    "flight-too-long",
    "grazing",
    "ill-conditioned",
    "inaccurate",
    "inconsistent",
    "inconsistent-joints",
    "inertia-not-positive-definite",
    "inertia-not-symmetric",
    "inertia-unphysical",
    "infeasible-law",
    "initial-penetration",
    "invalid-body",
    "invalid-contact",
    "invalid-cover",
    "invalid-extent",
    "invalid-friction",
    "invalid-key",
    "invalid-normal",
    "invalid-option",
    "invalid-pair",
    "invalid-restitution",
    "invalid-rounding",
    "invalid-stiffness-ratio",
    "invalid-value",
    "inverted-mesh",
    "jointed-body",
    "limit",
    "mesh-file",
    "missing-tangents",
    "no-elastic-outcome",
    "no-parts",
    "no-target",
    "non-finite",
    "non-positive-diagonal",
    "non-positive-mass",
    "not-assembled",
    "not-convex",
    "not-differentiated",
    "not-placed",
    "not-pointed",
    "not-positive-definite",
    "not-solved",
    "not-square",
    "not-symmetric",
    "open-mesh",
    "out-of-range",
    "overflow",
    "single-contact-law",
    "singular-joints",
    "snapshot-damaged",
    "snapshot-foreign",
    "snapshot-version",
    "spring-collapsed",
    "step-too-large",
    "time-backwards",
    "too-few-triangles",
    "too-few-vertices",
    "too-large",
    "too-many-tangents",
    "unknown-mass-properties",
    "unknown-name",
    "unproven-bound",
    "vertex-out-of-range",
    "wrong-places",
    "wrong-tangents",
    "zero-normal",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_that_is_cut_or_changed_or_of_another_world_is_refused() {
        let digests = [("world", [1; 32]), ("seed", [2; 32])];
        let snapshot = seal(&digests, b"payload");
        assert_eq!(open(&digests, &snapshot).unwrap(), b"payload");
        let kind = |digests: &[Digest], bytes: &[u8]| open(digests, bytes).unwrap_err().kind();
        for cut in 0..snapshot.len() {
            assert_eq!(kind(&digests, &snapshot[..cut]), "snapshot-damaged");
        }
        for bit in 0..8 * snapshot.len() {
            let mut other = snapshot.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(kind(&digests, &other), "snapshot-damaged");
        }
        let error = open(&[digests[0], ("seed", [3; 32])], &snapshot).unwrap_err();
        assert_eq!(error, SessionError::SnapshotForeign { what: "seed" });
        let mut later = snapshot[..snapshot.len() - 32].to_vec();
        later[MAGIC.len()] += 1;
        let sum = Sha256::digest(&later);
        later.extend(sum);
        assert_eq!(kind(&digests, &later), "snapshot-version");
    }

    /// The kinds are those that the errors below `MotionError` give.
    #[test]
    fn every_kind_of_an_error_can_be_stored() {
        let sources = [
            include_str!("error.rs"),
            include_str!("../../carom-contact/src/error.rs"),
            include_str!("../../carom-geometry/src/error.rs"),
            include_str!("../../carom-joints/src/error.rs"),
            include_str!("../../carom-lcp/src/error.rs"),
            include_str!("../../carom-metric/src/error.rs"),
            include_str!("../../carom-two-body/src/error.rs"),
            include_str!("../../carom-variational/src/error.rs"),
        ];
        for source in sources {
            for line in source.lines() {
                let Some((_, kind)) = line.split_once("=> \"") else {
                    continue;
                };
                let kind = kind.trim_end_matches([',', '"']);
                assert!(kind.contains(' ') || KINDS.contains(&kind), "{kind}");
            }
        }
    }
}
