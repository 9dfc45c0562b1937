//! Balance of the energy of a run, term by term.

use carom_report::record::Quantity;
use serde_json::{Map, Value, json};

/// Works and losses that only some worlds have, under their keys.
const TOLD: [&str; 3] = ["applied_work_j", "drag_loss_j", "prescribed_work_j"];

/// Energies at both ends of a run, and the work of everything that changed the energy between them.
pub(super) struct Balance {
    /// Mechanical energy at the start (J).
    pub(super) initial: f64,
    /// Mechanical energy at the end (J).
    pub(super) last: f64,
    /// Largest difference of the energy from its balance during the run (J), without rounding of the sum of the terms.
    pub(super) error: f64,
    /// Names of the terms and their works (J), positive if a term adds energy.
    pub(super) terms: Vec<(&'static str, f64)>,
    /// Losses and works (J) by their keys in the record: first those of impacts and of lasting contacts.
    pub(super) parts: Vec<(&'static str, f64)>,
    /// True if the loss in dampers is told among the quantities.
    pub(super) has_springs: bool,
}

impl Balance {
    /// Returns the energies at both ends and the losses in impacts and lasting contacts as quantities of a record.
    pub(super) fn quantities(&self) -> impl Iterator<Item = Quantity> {
        let has_springs = self.has_springs;
        let is_told =
            move |key: &str| TOLD.contains(&key) || (has_springs && key == "damper_loss_j");
        let told = self
            .parts
            .iter()
            .skip(2)
            .filter(move |(key, _)| is_told(key));
        let losses = self.parts.iter().take(2).chain(told).copied();
        let all = self.ends().into_iter().chain(losses);
        all.map(|(key, value)| Quantity::new(key, value, "J"))
    }

    fn ends(&self) -> [(&'static str, f64); 2] {
        [
            ("energy_initial_j", self.initial),
            ("energy_final_j", self.last),
        ]
    }

    /// Returns the entry `energy` of a record: energies, losses and works by their own keys, the list `balance` of all terms with
    /// the unexplained rest at its end, and the largest error.
    pub(super) fn json(&self) -> Value {
        let explained: f64 = self.terms.iter().map(|(_, work)| work).sum();
        let unexplained = self.last - self.initial - explained;
        let terms = self.terms.iter().copied();
        let entry = |(term, work): (&str, f64)| json!({"term": term, "work_j": work + 0.0});
        let balance: Vec<Value> = terms
            .chain([("unexplained", unexplained)])
            .map(entry)
            .collect();
        let mut energy = Map::new();
        for (key, value) in self.ends().iter().chain(&self.parts) {
            let key = key.strip_prefix("energy_").unwrap_or(key);
            energy.insert(key.to_owned(), json!(value));
        }
        let error = self.error.max(unexplained.abs());
        energy.insert("max_abs_error_j".to_owned(), json!(error));
        energy.insert("balance".to_owned(), Value::Array(balance));
        Value::Object(energy)
    }
}
