//! Measured impacts, in the form of the lines that [`Judge`](crate::Command::Judge) takes, with labels.

use crate::error::WireError;
use carom_contact::ImpactProblem;
use carom_metric::Tangent;
use serde_json::Value;

/// Measured impact: a problem, the velocity after it, and labels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MeasuredImpact {
    /// Name of the impact, if it has one.
    pub id: Option<String>,
    /// Name of the group (toss, session) to which the impact belongs, if it has one.
    pub group: Option<String>,
    /// Kind of impact, if it has one.
    pub kind: Option<String>,
    /// Mass matrix, contacts, constraints, and the velocity before the impact.
    pub problem: ImpactProblem,
    /// Velocity after the impact (n entries).
    pub velocity_plus: Tangent,
    /// Surface and gap (m) of each contact, as far as the line has them.
    pub touched: Vec<(Option<String>, Option<f64>)>,
}

/// Labels of a line.
pub(crate) struct Labels {
    id: Option<String>,
    group: Option<String>,
    kind: Option<String>,
}

impl Labels {
    pub(crate) fn read(value: &Value) -> Result<Self, WireError> {
        Ok(Self {
            id: label(value, "id", true)?,
            group: label(value, "group", true)?,
            kind: label(value, "kind", false)?,
        })
    }

    /// Adds the labels to an impact. Checks the velocity after it.
    pub(crate) fn label(
        self,
        problem: ImpactProblem,
        velocity_plus: Tangent,
        touched: Vec<(Option<String>, Option<f64>)>,
    ) -> Result<MeasuredImpact, WireError> {
        let metric = problem.contacts().metric();
        metric
            .check_vector("velocity", velocity_plus.0.as_slice())
            .map_err(|e| WireError::at("velocity_plus", &e.into()))?;
        if let Some(k) = touched
            .iter()
            .position(|(_, gap)| gap.is_some_and(|gap| !gap.is_finite()))
        {
            let message = format!("contacts[{k}].gap: must be finite");
            return Err(WireError::new("invalid-value", message));
        }
        Ok(MeasuredImpact {
            id: self.id,
            group: self.group,
            kind: self.kind,
            problem,
            velocity_plus,
            touched,
        })
    }
}

/// Returns the text of a label; a number is written as text if numbers are allowed. `None` without the key, or if it is null.
fn label(value: &Value, key: &str, may_be_number: bool) -> Result<Option<String>, WireError> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) if may_be_number => Ok(Some(number.to_string())),
        Some(_) => {
            let wanted = if may_be_number {
                "text or a number"
            } else {
                "text"
            };
            let message = format!("{key}: must be {wanted}");
            Err(WireError::new("invalid-input", message))
        }
    }
}
