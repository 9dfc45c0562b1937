//! `carom judge` as its users meet it.

use crate::common::{answers, carom};
use serde_json::{Value, json};

fn judged(input: &Value) -> Value {
    let output = carom(&["judge"], &input.to_string());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    answers(&output).remove(0)
}

fn cradle(after: [f64; 3]) -> Value {
    json!({
        "id": "cradle", "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "velocity": [1, 0, 0], "velocity_plus": after,
        "contacts": [{"normal": [-1, 1, 0], "restitution": 1},
                     {"normal": [0, -1, 1], "restitution": 1}],
    })
}

fn law<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let mut laws = answer["laws"].as_array().unwrap().iter();
    laws.find(|law| law["law"] == name).unwrap()
}

#[test]
fn an_engine_that_gains_energy_is_told_so() {
    let answer = judged(&cradle([-0.386_414, 0.693_207, 0.693_207]));
    assert_eq!(answer["id"], "cradle");
    assert_eq!(answer["energy"], "gained");
    assert!((answer["energy_ratio"].as_f64().unwrap() - 1.165_581).abs() <= 1e-6);
    assert_eq!(answer["matches"], json!([]));
    assert!(answer["momentum_residual"].as_f64().unwrap() <= 1e-6);
    let verdict = answer["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("Gains 16.6 % of its energy of relative motion."),
        "{verdict}"
    );
    assert_eq!(answer["outcome_set"]["contains"], false);
    assert_eq!(answer["outcome_set"]["membership"], "outside");
    assert_eq!(answer["outcome_set"]["reason"], "energy");
}

#[test]
fn the_laws_are_told_apart() {
    let chain = judged(&cradle([0.0, 0.0, 1.0]));
    assert_eq!(law(&chain, "propagative")["matches"], true);
    assert_eq!(law(&chain, "moreau-newton")["matches"], false);
    assert_eq!(chain["energy"], "kept");

    let all_at_once = judged(&cradle([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]));
    // Compression closes both contacts, so that Poisson's law is Moreau's.
    assert_eq!(all_at_once["matches"], json!(["moreau-newton", "poisson"]));
    let found = law(&all_at_once, "moreau-newton");
    assert_eq!(found["restitution"], 1.0);
    assert_eq!(found["restitution_fitted"], false);
}

/// Whatever `resolve` answers, `judge` finds the law again: its lines are the ones of `resolve`
/// with the velocity after.
#[test]
fn outcomes_of_resolve_are_recognized() {
    for (name, options) in [
        ("propagative", json!({"restitution": 0.98})),
        ("plastic", json!({"plastic": "project-all"})),
        ("moreau-newton", json!({})),
        ("anitescu-potra", json!({})),
        ("sequential", json!({"order": [1, 0]})),
        ("nonholonomic-rough", json!({"restitution": 0.4})),
    ] {
        let mut line = json!({
            "id": 7, "law": name, "options": options,
            "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 0.4166666666666667]],
            "velocity": [0.1, -1, 0.3],
            "contacts": [
                {"normal": [0, 1, -0.5], "tangents": [[1, 0, 1]], "friction": 0.3, "restitution": 0.7},
                {"normal": [0, 1, 0.5], "tangents": [[1, 0, 1]], "friction": 0.3, "restitution": 0.2}],
        });
        let output = carom(&["resolve"], &line.to_string());
        let outcome = answers(&output).remove(0);
        line["velocity_plus"] = outcome["velocity_plus"].clone();
        line["options"] = json!({"samples": 16});
        let answer = judged(&line);
        assert_eq!(answer["law_matches"], true, "{name}: {answer}");
        assert!(law(&answer, name)["distance"].as_f64().unwrap() <= 1e-9);
        if name == "propagative" {
            let fit = law(&answer, name);
            assert!((fit["restitution"].as_f64().unwrap() - 0.98).abs() <= 1e-9);
            assert_eq!(fit["restitution_fitted"], true);
        }
    }
}

#[test]
fn two_bodies_are_judged_in_world_axes() {
    let problem = json!({
        "id": "drop", "law": "two-body", "friction": 0.3, "restitution": 0.8,
        "contact": {"point": [0, 0, 0], "normal": [0, 0.1, 1]},
        "body1": {"mass": 2, "inertia": [[0.2, 0, 0], [0, 0.3, 0], [0, 0, 0.4]],
                  "center": [0.1, 0, 0.5], "velocity": [1, 0, -2], "angular_velocity": [0, 0, 3]},
        "body2": {"mass": 3, "inertia": [[0.5, 0, 0], [0, 0.6, 0], [0, 0, 0.4]],
                  "center": [0, 0, -0.5]},
    });
    let outcome = answers(&carom(&["resolve"], &problem.to_string())).remove(0);
    let mut line = problem.clone();
    for key in [
        "velocity1_plus",
        "angular_velocity1_plus",
        "velocity2_plus",
        "angular_velocity2_plus",
    ] {
        line[key] = outcome[key].clone();
    }
    let answer = judged(&line);
    assert_eq!(answer["law_matches"], true, "{answer}");
    assert!(answer["friction_residual"].as_f64().unwrap() <= 1e-9);
    assert_eq!(law(&answer, "two-body")["detail"], "energetic restitution");

    line.as_object_mut().unwrap().remove("velocity2_plus");
    let output = carom(&["judge"], &line.to_string());
    assert_eq!(output.status.code(), Some(1));
    let message = answers(&output)[0]["error"]["message"].to_string();
    assert!(message.contains("velocity2_plus"), "{message}");
}

#[test]
fn faults_name_their_key_and_the_other_lines_are_answered() {
    let good = cradle([0.0, 0.0, 1.0]);
    let with = |key: &str, value: Value| {
        let mut line = good.clone();
        line[key] = value;
        line.to_string()
    };
    let lines = [
        "{".to_owned(),
        with("velocity_plus", json!([1, 2])),
        with("velocity_plus", json!("x")),
        with("velocty_plus", json!([0, 0, 1])),
        with("options", json!({"tolerance": 0})),
        with("options", json!({"tolerence": 1e-3})),
        with("law", json!("magic")),
        with("velocity", json!([1e300, 0, 0])),
        good.to_string(),
    ];
    let output = carom(&["judge", "--threads", "2"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty());
    let answers = answers(&output);
    let expected = [
        ("invalid-json", "line 1"),
        ("dimension-mismatch", "velocity_plus"),
        ("invalid-input", "velocity_plus"),
        ("invalid-input", "velocty_plus"),
        ("invalid-option", "tolerance"),
        ("invalid-input", "tolerence"),
        ("unknown-law", "magic"),
        ("overflow", "velocity"),
    ];
    for (answer, (kind, word)) in answers.iter().zip(expected) {
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(word), "{message}");
        if kind != "dimension-mismatch" {
            assert_eq!(error["kind"], kind, "{message}");
        }
    }
    assert!(answers[8].get("verdict").is_some());
}

#[test]
fn any_number_of_threads_judges_the_same() {
    let lines: Vec<String> = (0..40)
        .map(|k| cradle([0.0, 0.01 * f64::from(k), 1.0]).to_string())
        .collect();
    let input = lines.join("\n");
    let one = carom(&["judge", "--threads", "1"], &input);
    let three = carom(&["judge", "--threads", "3"], &input);
    assert_eq!(one.stdout, three.stdout);
    assert_eq!(answers(&one).len(), 40);
}

#[test]
fn a_missing_file_is_bad_usage() {
    let output = carom(&["judge", "no-such-file.jsonl"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// Three logged impacts: an engine that gains energy, a right one, and a line that is no problem.
fn log() -> String {
    let named = |id: &str, after: [f64; 3]| {
        let mut line = cradle(after);
        line["id"] = json!(id);
        line.to_string()
    };
    let gains = named("step <7> & \"8\"", [-0.386_414, 0.693_207, 0.693_207]);
    let right = named("right", [0.0, 0.0, 1.0]);
    format!("{gains}\n{right}\n{{\"id\": \"broken\"}}\n")
}

#[test]
fn a_junit_report_names_the_energy_that_an_engine_gains() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.xml");
    let path = file.to_str().unwrap();
    let plain = carom(&["judge"], &log());
    let output = carom(&["judge", "--junit", path], &log());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, plain.stdout, "the answers stay");
    let xml = std::fs::read_to_string(&file).unwrap();
    assert!(xml.contains(r#"tests="3" failures="1" errors="1" skipped="0""#));
    assert!(xml.contains(
        r#"name="step &lt;7&gt; &amp; &quot;8&quot;"><failure message="energy_ratio 1.16"#
    ));
    assert!(xml.contains(r#"<testcase classname="carom judge" name="right"/>"#));
    assert!(xml.contains(r#"name="broken"><error message="#));
}

#[test]
fn limits_and_findings_decide_what_fails() {
    let right = cradle([0.0, 0.0, 1.0]).to_string();
    let gains = cradle([-0.386_414, 0.693_207, 0.693_207]).to_string();
    let pulls = cradle([1.5, -0.5, 0.0]).to_string();
    let status = |options: &[&str], line: &str| {
        let arguments: Vec<&str> = std::iter::once("judge")
            .chain(options.iter().copied())
            .collect();
        carom(&arguments, line).status.code()
    };
    assert_eq!(status(&["--fail-on", "residual,energy"], &right), Some(0));
    assert_eq!(status(&["--fail-on", "energy"], &gains), Some(1));
    let wide = ["--fail-on", "energy", "--max-energy-ratio", "1.2"];
    assert_eq!(status(&wide, &gains), Some(0));
    assert_eq!(status(&["--fail-on", "residual"], &pulls), Some(1));
    // The elastic outcome is no member of an inelastic impact's set, but a law gives it.
    assert_eq!(status(&["--fail-on", "outside"], &right), Some(1));
    assert_eq!(status(&["--fail-on", "no-match"], &right), Some(0));
    assert_eq!(status(&["--fail-on", "no-match"], &gains), Some(1));
    assert_eq!(status(&["--fail-on", "nonsense"], &gains), Some(2));
    assert_eq!(status(&["--max-residual", "nan"], &gains), Some(2));
    assert_eq!(
        status(&["--junit", "/no/such/folder/x.xml"], &right),
        Some(2)
    );
}
