//! Key `[[springs]]` of a world.

use crate::ScenarioError;
use carom_variational::spring::Spring;
use nalgebra::Vector3;
use serde::Deserialize;
use serde_json::{Value, json};

/// Name of an end at a point of space.
const GROUND: &str = "ground";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpringConfig {
    pub(super) name: String,
    between: [String; 2],
    points: Option<[[f64; 3]; 2]>,
    stiffness: f64,
    length: Option<f64>,
    #[serde(default)]
    damping: f64,
}

impl SpringConfig {
    pub(super) fn build(
        &self,
        key: &str,
        bodies: &[(&str, bool)],
    ) -> Result<Spring, ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        for (part, value) in [
            ("stiffness", self.stiffness),
            ("length", self.length.unwrap_or(0.0)),
            ("damping", self.damping),
        ] {
            super::contact::friction(&of(part), value)?;
        }
        let points = self.points.unwrap_or_default();
        for (end, point) in points.iter().enumerate() {
            crate::motion::finite(&of(&format!("points[{end}]")), point)?;
        }
        let mut between = [None; 2];
        for (end, (name, place)) in self.between.iter().zip(&mut between).enumerate() {
            if name == GROUND {
                continue;
            }
            let found = bodies.iter().position(|(body, _)| body == name);
            if found.is_none() {
                let near = bodies.iter().map(|(body, _)| *body).chain([GROUND]);
                let near = carom_numeric::nearest_name(name, near);
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("no body is called `{name}`{hint}");
                return Err(ScenarioError::value(
                    &of(&format!("between[{end}]")),
                    message,
                ));
            }
            *place = found;
        }
        let [first, second] = &self.between;
        if first == second {
            let message = format!("both ends are at `{first}`; a spring joins two things");
            return Err(ScenarioError::value(&of("between"), message));
        }
        let mut ends = between.into_iter().flatten();
        if !ends.any(|body| bodies.get(body).is_some_and(|(_, moves)| *moves)) {
            let message = format!("neither `{first}` nor `{second}` moves freely");
            return Err(ScenarioError::value(&of("between"), message));
        }
        Ok(Spring::new(&self.name, between, self.stiffness)
            .with_points(points.map(Vector3::from))
            .with_length(self.length)
            .with_damping(self.damping))
    }
}

/// Rows of `spring_loads`: time, number of the spring, tension.
#[derive(Debug, Default)]
pub(super) struct SpringLoads(Vec<Value>);

impl SpringLoads {
    /// Adds the tensions of all springs (N) at `time` (s).
    pub(super) fn note(&mut self, time: f64, tensions: &[f64]) {
        let rows = tensions.iter().enumerate();
        self.0
            .extend(rows.map(|(spring, force)| json!([time, spring, force])));
    }

    /// Returns the entry of a record, with the rows at the end of the run unless it was sampled; `None` without springs.
    pub(super) fn json(&self, time: f64, tensions: &[f64]) -> Option<Value> {
        if tensions.is_empty() {
            return None;
        }
        let last = self.0.last().and_then(|row| row.get(0)?.as_f64());
        let mut rows = Self(self.0.clone());
        if last != Some(time) {
            rows.note(time, tensions);
        }
        Some(json!({"columns": ["time", "spring", "force"], "rows": rows.0}))
    }
}
