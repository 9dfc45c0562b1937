//! Snapshots from strangers, whose checksum is right: refused as damaged, or a session that can go on.

use super::target::Target;
use carom_scenarios::{Overrides, Session};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Bytes before the payload: magic, format, version of the numerics, three digests.
const HEADER: usize = 14 + 8 + 96;

/// Bytes of the checksum at the end.
const SUM: usize = 32;

/// Settings of the world of the scenario `world`.
const WORLDS: [&str; 3] = [
    "contact.restitution=0.5",
    "scheme=\"time-stepping\"",
    "flight=\"lgvi\"",
];

pub(super) fn target() -> Target {
    Target {
        name: "snapshots",
        input,
        check: Box::new(check),
    }
}

fn input() -> BoxedStrategy<Value> {
    let numbers = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1e-300].map(f64::to_bits);
    let wholes = [u64::MAX, 1 << 52, 1 << 31, 3, 255];
    let eight = select([&numbers[..], &wholes[..]].concat());
    let bit = (0..64u32).prop_map(|bit| 1u64 << bit);
    let edit = (0.0..1.0, any::<bool>(), prop_oneof![eight, bit]);
    (0..WORLDS.len(), 0..800u32, vec(edit, 1..4), 0.0..1.0)
        .prop_map(|(world, line, edits, cut)| {
            let edits: Vec<Value> = edits
                .into_iter()
                .map(|(place, flips, bits)| json!([place, flips, bits]))
                .collect();
            json!({"world": world, "line": line, "edits": edits, "cut": if cut < 0.1 { cut } else { 1.0 }})
        })
        .boxed()
}

fn check(input: &Value) -> Result<(), String> {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let world = input["world"].as_u64().unwrap_or_default() as usize;
    let overrides = Overrides {
        assignments: vec![WORLDS[world % WORLDS.len()].to_owned()],
        ..Overrides::default()
    };
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let mut session = Session::start(&overrides, false).map_err(|error| told(&error))?;
    let time = number(&input["line"]) * 1e-3;
    session.advance_to(time).map_err(|error| told(&error))?;
    let snapshot = session.snapshot();
    let mut bytes = snapshot[..snapshot.len() - SUM].to_vec();
    for edit in input["edits"].as_array().into_iter().flatten() {
        let room = bytes.len() - HEADER - 8;
        let at = HEADER + (number(&edit[0]) * room as f64) as usize;
        let new = edit[2].as_u64().unwrap_or_default().to_le_bytes();
        for (old, new) in bytes[at..at + 8].iter_mut().zip(new) {
            *old = if edit[1] == json!(true) {
                *old ^ new
            } else {
                new
            };
        }
    }
    let left = number(&input["cut"]) * (bytes.len() - HEADER) as f64;
    bytes.truncate(HEADER + left as usize);
    let sum = Sha256::digest(&bytes);
    bytes.extend(sum);
    match session.restore(&bytes) {
        Err(error) if error.kind() == "snapshot-damaged" => Ok(()),
        Err(error) => Err(format!("refused as {}", error.kind())),
        Ok(()) => {
            // Errors of the motion are answers, too.
            let _ = session.advance_to(session.time() + 5e-3);
            let _ = (session.state(), session.contacts(), session.energy());
            session.snapshot();
            let _ = session.finish();
            Ok(())
        }
    }
}
