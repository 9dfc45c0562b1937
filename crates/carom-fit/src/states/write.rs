//! States as JSON Lines.

use super::{State, Touch};
use serde_json::{Value, json};

impl State {
    /// Writes a state as a line of JSON with the keys of `carom judge` and labels, without line feed. All numbers have all their
    /// digits.
    #[must_use]
    pub fn to_line(&self) -> String {
        let state = self;
        let n = state.dim().max(1);
        let rows =
            |rows: &[f64]| -> Vec<Vec<f64>> { rows.chunks_exact(n).map(<[f64]>::to_vec).collect() };
        let contact = |touch: &Touch| {
            let own = rows(&touch.rows);
            let mut value = json!({ "normal": own.first(), "surface": &*touch.surface });
            if own.len() > 1 {
                value["tangents"] = json!(own[1..]);
            }
            if let Some(gap) = touch.gap {
                value["gap"] = gap.into();
            }
            value
        };
        let mut value = json!({ "id": &*state.labels.id });
        let labels = [("group", &state.labels.group), ("kind", &state.labels.kind)];
        for (key, label) in labels {
            if let Some(label) = label {
                value[key] = (&**label).into();
            }
        }
        // The mass matrix is symmetric, so that its columns are its rows.
        value["mass_matrix"] = json!(rows(state.metric.mass_matrix().as_slice()));
        value["velocity"] = json!(state.minus);
        value["velocity_plus"] = json!(state.plus);
        value["contacts"] = Value::Array(state.contacts.iter().map(contact).collect());
        if !state.constraints.is_empty() {
            value["constraints"] = json!(rows(&state.constraints));
        }
        value.to_string()
    }
}
