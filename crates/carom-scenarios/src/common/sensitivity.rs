//! Derivatives of runs as JSON.

use carom_derivative::sensitivity::{Sensitivity, SensitivityEvent};
use nalgebra::DMatrix;
use serde_json::{Map, Value, json};

/// Converts the derivatives of a run to the JSON value of a record's key `sensitivity`. `states`: names of the components of
/// the state.
pub(crate) fn value(states: &[&str], sensitivity: &Sensitivity) -> Value {
    let parameters: Option<Map<String, Value>> = sensitivity.d_final_d_initial.as_ref().map(|_| {
        let columns = sensitivity.d_final_d_parameters.iter();
        columns
            .map(|(name, column)| (name.to_string(), json!(column.as_slice())))
            .collect()
    });
    let events: Vec<Value> = sensitivity.events.iter().map(event).collect();
    json!({
        "state": states,
        "d_final_d_initial": sensitivity.d_final_d_initial.as_ref().map(rows),
        "d_final_d_parameters": parameters,
        "class": sensitivity.class.name(),
        "margin": sensitivity.margin,
        "events": events,
        "reason": sensitivity.reason,
    })
}

fn event(event: &SensitivityEvent) -> Value {
    json!({
        "time": event.time,
        "saltation": event.saltation.as_ref().map(rows),
        "class": event.class.name(),
        "margin": event.margin,
    })
}

fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|r| r.iter().copied().collect())
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::{Overrides, scenario};
    use serde_json::Value;

    fn record(name: &str, toml: &str) -> Value {
        let overrides = Overrides {
            toml: toml.to_owned(),
            ..Overrides::default()
        };
        let record = scenario(name).unwrap().run(&overrides).unwrap();
        serde_json::to_value(record).unwrap()
    }

    /// Compares reported derivatives of the first component of a run's final state with difference quotients between
    /// two runs. `name`: scenario; `base`: TOML text of all runs; `key`: key of `final` that contains the component.
    /// `at` has three entries: index of a component of the initial state, the TOML text that sets this component (with
    /// `VALUE` for the number), and its value. `parameter`: name and value of a parameter; `None` compares no parameter
    /// derivative.
    fn check(
        name: &str,
        base: &str,
        key: &str,
        at: (usize, &str, f64),
        parameter: Option<(&str, f64)>,
    ) {
        let answer = record(name, &format!("{base}sensitivity = true"));
        let sensitivity = &answer["sensitivity"];
        assert_eq!(sensitivity["reason"], Value::Null);
        assert_eq!(sensitivity["class"], "smooth");
        let size = sensitivity["state"].as_array().unwrap().len();
        let rows = sensitivity["d_final_d_initial"].as_array().unwrap();
        assert!(rows.len() == size && rows[0].as_array().unwrap().len() == size);
        let events = sensitivity["events"].as_array().unwrap();
        assert!(events.len() >= 2);
        assert_eq!(events[1]["saltation"].as_array().unwrap().len(), size);
        let step = 1e-6;
        let end = |toml: &str| {
            let answer = record(name, toml);
            let last = &answer["final"][key];
            last.as_f64().or_else(|| last[0].as_f64()).unwrap()
        };
        let difference =
            |toml: &dyn Fn(f64) -> String| (end(&toml(step)) - end(&toml(-step))) / (2.0 * step);
        let (column, initial, value) = at;
        let found = difference(&|by| {
            let number = format!("{:?}", value + by);
            format!("{base}{}", initial.replace("VALUE", &number))
        });
        let entry = rows[0][column].as_f64().unwrap();
        assert!(
            (found - entry).abs() <= 1e-6 * entry.abs().max(1.0),
            "{found} {entry}"
        );
        if let Some((parameter, value)) = parameter {
            let found = difference(&|by| format!("{base}{parameter} = {:?}\n", value + by));
            let entry = sensitivity["d_final_d_parameters"][parameter][0]
                .as_f64()
                .unwrap();
            assert!(
                (found - entry).abs() <= 1e-6 * entry.abs().max(1.0),
                "{found} {entry}"
            );
        }
    }

    #[test]
    fn runs_of_pennies_and_pendulums_have_the_fixed_keys() {
        check(
            "penny",
            "duration = 6.0\nlaw = \"newton\"\n",
            "x",
            (0, "[initial]\nx = VALUE\n", 0.0),
            Some(("restitution", 0.6)),
        );
        check(
            "double-pendulum-walls",
            "duration = 1.5\nrestitution = 0.9\n",
            "angles",
            (1, "angles = [0.6, VALUE]\n", -0.6),
            Some(("gravity", 9.81)),
        );
    }

    #[test]
    fn a_penny_without_a_duration_is_refused() {
        let overrides = Overrides {
            toml: "sensitivity = true".to_owned(),
            ..Overrides::default()
        };
        let error = scenario("penny").unwrap().run(&overrides).unwrap_err();
        assert!(error.is_configuration());
        assert!(error.to_string().contains("sensitivity"), "{error}");
    }
}
