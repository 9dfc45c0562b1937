//! Contact rows with the wrong sign of one entry, where rows are given.

use super::{Change, Kind};
use crate::states::State;
use crate::system::System;

pub(super) static NORMAL: Kind = Kind {
    name: "normal-entry",
    choices: |system, n| choices(&NORMAL, system, n),
    rest: |change, _, _, state| negated(change, state, true),
    words: |change| words(change, "normal"),
    ..Kind::NONE
};

pub(super) static TANGENT: Kind = Kind {
    name: "tangent-entry",
    choices: |system, n| choices(&TANGENT, system, n),
    rest: |change, _, _, state| negated(change, state, false),
    words: |change| words(change, "tangent"),
    ..Kind::NONE
};

fn choices(kind: &'static Kind, system: &System, n: usize) -> Vec<Change> {
    if system.planar().is_some() {
        return Vec::new();
    }
    let names = system.coordinates(n).into_iter().enumerate();
    names
        .map(|(k, name)| kind.change(vec![name], vec![k], Vec::new()))
        .collect()
}

fn negated(change: &Change, state: &mut State, is_normal: bool) -> bool {
    let n = state.dim().max(1);
    for touch in &mut state.contacts {
        for (k, row) in touch.rows.chunks_exact_mut(n).enumerate() {
            if (k == 0) == is_normal {
                change
                    .places
                    .iter()
                    .for_each(|place| row[*place] = -row[*place]);
            }
        }
    }
    true
}

fn words(change: &Change, rows: &str) -> String {
    format!(
        "the entry {} of the {rows} rows of the other sign",
        change.names.join(",")
    )
}
