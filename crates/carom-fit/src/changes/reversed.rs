//! Velocities before and after that were exchanged.

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "reversed",
    choices: |_, _| vec![KIND.change(Vec::new(), Vec::new(), Vec::new())],
    rest: |_, _, _, state| {
        std::mem::swap(&mut state.minus, &mut state.plus);
        true
    },
    words: |_| "the velocities before and after exchanged".to_owned(),
    ..Kind::NONE
};
