//! Answers of the library to the lines of a corpus, reduced to what is compared.

use super::motion::Ruler;
use super::scene::Scene;
use crate::fuzz::numbers;
use carom_wire::{Command, answer_line};
use nalgebra::DVector;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Error kind of a panic.
pub(crate) const PANIC: &str = "a panic";

/// Samples of a judgment of the corpora.
const JUDGED_SAMPLES: u32 = 32;

/// Answer to a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Kind of the error, if the line was refused.
    pub(crate) error: Option<String>,
    /// Velocities after the impact: one, or all of a set without a preferred one.
    pub(crate) velocities: Vec<Vec<f64>>,
    pub(crate) warnings: Vec<String>,
    /// Estimate of the right digits (key `digits` of `audit`).
    pub(crate) digits: Option<f64>,
    /// True if the audit has the key `digits`.
    pub(crate) has_digits: bool,
    /// Class of the derivative, or the membership that `judge` tells.
    pub(crate) word: Option<String>,
    /// Entries of the Jacobian with respect to the velocity before the impact.
    pub(crate) jacobian: Vec<f64>,
}

/// Answers a line as JSON; a panic gives an error of the kind [`PANIC`].
pub(crate) fn answered(command: Command, line: &Value) -> Value {
    let text = line.to_string();
    let answer = catch_unwind(AssertUnwindSafe(|| answer_line(command, 1, &text).text));
    let answer = answer
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    answer.unwrap_or_else(|| json!({"error": {"kind": PANIC}}))
}

/// Converts a line of `resolve` to lines of `judge` about the velocities of its answer. Returns the line about the first one, or
/// `None` if the line is refused.
pub(crate) fn claimed(line: &Value, factor: f64) -> Option<Value> {
    let answer = answered(Command::Resolve, line);
    let mut claim = line.clone();
    let fields = claim.as_object_mut()?;
    for key in ["law", "derivative"] {
        fields.remove(key);
    }
    fields.insert("options".to_owned(), json!({"samples": JUDGED_SAMPLES}));
    let scaled = |of: &Value| json!(numbers(of).iter().map(|v| factor * v).collect::<Vec<_>>());
    if line.get("body1").is_some() {
        for key in [
            "velocity1_plus",
            "angular_velocity1_plus",
            "velocity2_plus",
            "angular_velocity2_plus",
        ] {
            if let Some(velocity) = answer.get(key) {
                fields.insert(key.to_owned(), scaled(velocity));
            }
        }
    } else {
        let last = answer["outcomes"].as_array().and_then(|all| all.last());
        let velocity = last.unwrap_or(&answer).get("velocity_plus")?;
        fields.insert("velocity_plus".to_owned(), scaled(velocity));
    }
    answer.get("error").is_none().then_some(claim)
}

impl Answer {
    pub(crate) fn read(answer: &Value) -> Self {
        let error = answer.get("error");
        let error = error.map(|error| error["kind"].as_str().unwrap_or("?").to_owned());
        let mut velocities: Vec<Vec<f64>> = Vec::new();
        if let Some(velocity) = answer.get("velocity_plus") {
            velocities.push(numbers(velocity));
        } else if let Some(first) = answer.get("velocity1_plus") {
            let keys = [
                "angular_velocity1_plus",
                "velocity2_plus",
                "angular_velocity2_plus",
            ];
            let rest = keys.iter().flat_map(|key| numbers(&answer[*key]));
            velocities.push(numbers(first).into_iter().chain(rest).collect());
        } else {
            let outcomes = answer["outcomes"].as_array().into_iter().flatten();
            velocities.extend(outcomes.map(|outcome| numbers(&outcome["velocity_plus"])));
        }
        let warnings = answer["warnings"].as_array().into_iter().flatten();
        let digits = answer["audit"].get("digits");
        let jacobian = &answer["jacobian"];
        let membership = answer["outcome_set"]["membership"].as_str();
        let class = jacobian
            .get("class")
            .map(|class| class.as_str().unwrap_or("none"));
        Self {
            error,
            velocities,
            warnings: warnings
                .filter_map(|w| w.as_str().map(str::to_owned))
                .collect(),
            digits: digits.and_then(Value::as_f64),
            has_digits: digits.is_some(),
            word: class.or(membership).map(str::to_owned),
            jacobian: crate::fuzz::matrix(&jacobian["dv_dv"]).concat(),
        }
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.error.is_none()
    }

    pub(crate) fn warns(&self, warning: &str) -> bool {
        self.warnings.iter().any(|known| known == warning)
    }

    /// Returns the velocity of the answer, or the first of several.
    pub(crate) fn velocity(&self) -> Option<DVector<f64>> {
        self.velocities
            .first()
            .map(|v| DVector::from_column_slice(v))
    }

    /// Returns the distance of two answers to a problem over the motion that contacts see: the largest distance of a velocity of
    /// one answer to the nearest velocity of the other. `back` converts velocities of `other` to the coordinates of the problem.
    pub(crate) fn distance(
        &self,
        other: &Self,
        line: &Value,
        back: impl Fn(&DVector<f64>) -> DVector<f64>,
    ) -> f64 {
        let vector = |v: &Vec<f64>| DVector::from_column_slice(v);
        let ours: Vec<_> = self.velocities.iter().map(vector).collect();
        let others: Vec<_> = other.velocities.iter().map(|v| back(&vector(v))).collect();
        // Forms of bodies have no mass matrix: their velocities are compared as they are.
        let ruler = match Scene::read(line) {
            Some(scene) => {
                let after = ours.first().filter(|v| v.len() == scene.dim()).cloned();
                let after = after.unwrap_or_else(|| scene.velocity.clone());
                let Some(ruler) = Ruler::new(&scene, &after) else {
                    return f64::INFINITY;
                };
                Some(ruler)
            }
            None => None,
        };
        let distance = |a: &DVector<f64>, b: &DVector<f64>| match &ruler {
            Some(ruler) => ruler.distance(a, b),
            None if a.len() == b.len() => (a - b).norm() / a.norm().max(f64::MIN_POSITIVE),
            None => f64::INFINITY,
        };
        let from = |a: &[DVector<f64>], b: &[DVector<f64>]| {
            a.iter().fold(0.0f64, |far, v| {
                let near = b.iter().map(|w| distance(v, w));
                far.max(near.fold(f64::INFINITY, f64::min))
            })
        };
        from(&ours, &others).max(from(&others, &ours))
    }
}
