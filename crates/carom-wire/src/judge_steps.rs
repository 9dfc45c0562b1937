//! Judging of several time steps of an engine, each by itself and all as one impact.

use crate::error::WireError;
use crate::judge_options::OptionsInput;
use crate::problem::{ContactInput, contact_set, metric};
use crate::time_step::TimeStep;
use crate::verdict::{balance, judged, verdict};
use carom_judge::JudgeOptions;
use carom_metric::{KineticMetric, Tangent};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Input with several time steps, in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepsInput {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(default, rename = "group")]
    _group: Value,
    #[serde(default, rename = "kind")]
    _kind: Value,
    law: Option<String>,
    steps: Vec<StepInput>,
    #[serde(default)]
    options: OptionsInput,
}

/// One time step. Mass matrix and constraints that a step omits are those of the previous step.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepInput {
    mass_matrix: Option<Vec<Vec<f64>>>,
    velocity: Vec<f64>,
    velocity_plus: Vec<f64>,
    velocity_free: Option<Vec<f64>>,
    external_impulse: Option<Vec<f64>>,
    contacts: Vec<ContactInput>,
    constraints: Option<Vec<Vec<f64>>>,
}

/// Sums over the time steps.
#[derive(Default)]
struct Totals {
    answers: Vec<Value>,
    energy_contact_j: f64,
    external_work_j: f64,
    continuity: f64,
    /// Sum of the velocity changes that are not due to contacts (n entries).
    external: Option<Tangent>,
    /// Velocity after the previous step (n entries).
    after: Option<Tangent>,
}

/// Judges the velocities that a physics engine computed in several time steps. Writes the energies and the residuals of
/// each step, and sums over all steps. If mass matrix, constraints and contacts do not change, all steps together are also
/// judged as one impact.
pub(crate) fn of_steps(input: &StepsInput) -> Result<Map<String, Value>, WireError> {
    let options = input
        .options
        .options()?
        .with_samples(0)
        .with_laws(Some(Vec::new()));
    let (Some(first), Some(last)) = (input.steps.first(), input.steps.last()) else {
        let message = "steps: none are given".to_owned();
        return Err(WireError::new("invalid-input", message));
    };
    let named = |k: usize| move |error: WireError| error.within(&format!("steps[{k}]"));
    let mut mass: &[Vec<f64>] = first.mass_matrix.as_deref().ok_or_else(|| {
        let message = "steps[0]: missing field `mass_matrix`".to_owned();
        WireError::new("invalid-input", message)
    })?;
    let mut constraints: &[Vec<f64>] = &[];
    let mut totals = Totals::default();
    let mut is_one = true;
    for (k, step) in input.steps.iter().enumerate() {
        let before = (mass, constraints);
        mass = step.mass_matrix.as_deref().unwrap_or(mass);
        constraints = step.constraints.as_deref().unwrap_or(constraints);
        is_one &= step.contacts == first.contacts && (k == 0 || before == (mass, constraints));
        let metric = metric(mass).map_err(named(k))?;
        totals
            .add(metric, step, constraints, &options)
            .map_err(named(k))?;
    }
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("continuity_residual", totals.continuity.into());
    put("energy_contact_j", totals.energy_contact_j.into());
    put("external_work_j", totals.external_work_j.into());
    put("steps", Value::Array(totals.answers));
    if is_one {
        let metric = metric(mass)?;
        let contacts = contact_set(metric, &first.contacts, constraints)?;
        let whole = TimeStep::new(&contacts, &first.velocity, None, None)?;
        let mut after = Tangent::from_slice(&last.velocity_plus);
        if let Some(external) = totals.external {
            after.0 -= external.0;
        }
        let law = input.law.as_deref();
        let wrong = |e| WireError::at("steps", &e);
        let whole = verdict(&whole, &after, &input.options, wrong, law)?;
        put("whole", Value::Object(whole));
    }
    Ok(fields)
}

impl Totals {
    fn add(
        &mut self,
        metric: KineticMetric,
        input: &StepInput,
        constraints: &[Vec<f64>],
        options: &JudgeOptions,
    ) -> Result<(), WireError> {
        let contacts = contact_set(metric, &input.contacts, constraints)?;
        let step = TimeStep::new(
            &contacts,
            &input.velocity,
            input.velocity_free.as_deref(),
            input.external_impulse.as_deref(),
        )?;
        let after = Tangent::from_slice(&input.velocity_plus);
        let judgement = judged(&step, &after, options, |e| {
            WireError::at("velocity_plus", &e)
        })?;
        let mut fields = balance(&step.problem, &judgement);
        step.energies(&mut fields);
        self.answers.push(Value::Object(fields));
        self.energy_contact_j += judgement.audit.energy_change_j();
        self.external_work_j += step.external_work_j();
        let norm = |v: &Tangent| -> Result<f64, WireError> {
            let energy = contacts
                .metric()
                .energy(v)
                .map_err(|e| WireError::at("velocity", &e.into()))?;
            Ok((2.0 * energy).sqrt())
        };
        if let Some(before) = &self.after {
            if before.0.len() != step.approach.0.len() {
                let message = "velocity: another length than in the step before".to_owned();
                return Err(WireError::new("dimension-mismatch", message));
            }
            let gap = norm(&Tangent(&step.approach.0 - &before.0))?;
            let size = norm(&step.approach)?.max(norm(before)?);
            if size > 0.0 {
                self.continuity = self.continuity.max(gap / size);
            }
        }
        let added = &step.problem.velocity_minus().0 - &step.approach.0;
        self.external = Some(match self.external.take() {
            Some(sum) => Tangent(sum.0 + added),
            None => Tangent(added),
        });
        self.after = Some(after);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::{Command, solve};
    use carom_impact::frictional::MoreauNewton;
    use serde_json::{Value, json};

    fn judged(line: Value) -> serde_json::Map<String, Value> {
        solve(Command::Judge, line).unwrap().fields
    }

    fn number(value: &Value) -> f64 {
        value.as_f64().unwrap()
    }

    /// Checks the energies and the matching law for a ball that falls and bounces in steps of 0.1 s by Moreau's law, in
    /// which gravity acts before the contact.
    #[test]
    fn external_impulses_are_told_from_contact() {
        let floor = json!([{"normal": [1.0], "restitution": 0.5}]);
        // v = -1, gravity adds -0.981, Newton's restitution 0.5 applies to the speed before the step.
        let step = judged(json!({
            "mass_matrix": [[2.0]], "velocity": [-1.0], "external_impulse": [-1.962],
            "velocity_plus": [0.5], "contacts": floor,
        }));
        assert!((number(&step["energy_free_j"]) - 1.981f64.powi(2)).abs() <= 1e-14);
        assert!((number(&step["external_work_j"]) - (1.981f64.powi(2) - 1.0)).abs() <= 1e-14);
        assert_eq!(step["contacts"][0]["restitution"], 0.5);
        let laws = step["laws"].as_array().unwrap();
        let moreau = laws
            .iter()
            .find(|l| l["law"] == MoreauNewton::NAME)
            .unwrap();
        assert_eq!(moreau["verdict"], "match");
        assert_eq!(moreau["restitution_fitted"], false);
    }

    #[test]
    fn the_totals_of_steps_add_up() {
        let contacts = json!([{"normal": [0.0, 1.0], "tangents": [[1.0, 0.0]], "friction": 0.3}]);
        let line = json!({"id": 1, "options": {"samples": 64}, "steps": [
            {"mass_matrix": [[2.0, 0.0], [0.0, 3.0]], "velocity": [1.0, -0.5],
             "external_impulse": [0.1, -0.3], "velocity_plus": [0.9, 0.0], "contacts": contacts},
            {"velocity": [0.9, 0.0], "velocity_free": [0.9, -0.1],
             "velocity_plus": [0.85, 0.0], "contacts": contacts},
        ]});
        let all = judged(line.clone());
        assert!(number(&all["continuity_residual"]) <= 1e-15);
        let energy = |v: [f64; 2]| v[0] * v[0] + 1.5 * v[1] * v[1];
        let change = energy([0.85, 0.0]) - energy([1.0, -0.5]);
        let told = number(&all["energy_contact_j"]) + number(&all["external_work_j"]);
        assert!((told - change).abs() <= 1e-14);
        assert_eq!(all["steps"].as_array().unwrap().len(), 2);
        assert!(all["steps"][0].get("laws").is_none());
        // Without gravity: (0.85, 0) - (0.05, -0.1) - (0, -0.1), from (1, -0.5).
        let whole = &all["whole"];
        assert!((number(&whole["energy_plus_j"]) - energy([0.8, 0.2])).abs() <= 1e-14);
        assert_eq!(whole["outcome_set"]["membership"], "outside");

        let mut other = line;
        other["steps"][1]["contacts"][0]["friction"] = 0.4.into();
        assert!(judged(other).get("whole").is_none());
    }

    #[test]
    fn faults_of_steps_name_the_step() {
        let contacts = json!([{"normal": [1.0]}]);
        let with = |second: Value| {
            let first = json!({"mass_matrix": [[1.0]], "velocity": [-1.0],
                "velocity_plus": [0.0], "contacts": contacts});
            let line = json!({"steps": [first, second]});
            solve(Command::Judge, line).unwrap_err().to_string()
        };
        let both = json!({"velocity": [0.0], "velocity_plus": [0.0], "velocity_free": [-1.0],
            "external_impulse": [-1.0], "contacts": contacts});
        let message = with(both);
        assert!(
            message.contains("steps[1]") && message.contains("external_impulse"),
            "{message}"
        );
        let long = json!({"velocity": [0.0], "velocity_plus": [0.0, 1.0], "contacts": contacts});
        let message = with(long);
        assert!(
            message.contains("steps[1]") && message.contains("velocity_plus"),
            "{message}"
        );
    }
}
