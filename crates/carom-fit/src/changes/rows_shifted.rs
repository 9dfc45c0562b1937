//! Velocities after the impact that stand one line above (1) or below (-1).

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "rows-shifted",
    choices: |_, _| {
        [1.0, -1.0]
            .map(|by| KIND.change(Vec::new(), Vec::new(), vec![by]))
            .into()
    },
    rest: |change, states, place, state| {
        let by = if change.values[0] > 0.0 { -1 } else { 1 };
        let neighbor = place.checked_add_signed(by).and_then(|k| states.get(k));
        let row = state.labels.row.checked_add_signed(by as i64);
        let Some(neighbor) = neighbor.filter(|neighbor| Some(neighbor.labels.row) == row) else {
            return false;
        };
        state.plus.clone_from(&neighbor.plus);
        true
    },
    words: |change| {
        let side = if change.values[0] > 0.0 {
            "above"
        } else {
            "below"
        };
        format!("the velocities after taken from one line {side}")
    },
    ..Kind::NONE
};
