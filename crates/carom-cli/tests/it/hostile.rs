//! Problems that rounding decides: each answer is right, marked or refused.

use crate::common::{answers, carom};
use serde_json::{Value, json};

/// Problems with the exact answers of their laws, found by a random search over small integers times powers of two.
const LINES: &str = include_str!("../data/hostile.jsonl");

/// The line told again: as it is, with its contacts or with its coordinates in reverse order. Nothing is rounded.
fn told(line: &Value, telling: &str) -> Value {
    let mut line = line.clone();
    let reversed = |list: &mut Value| list.as_array_mut().unwrap().reverse();
    match telling {
        "reversed" => reversed(&mut line["contacts"]),
        "coordinates" => {
            reversed(&mut line["mass_matrix"]);
            line["mass_matrix"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .for_each(reversed);
            reversed(&mut line["velocity"]);
            for contact in line["contacts"].as_array_mut().unwrap() {
                reversed(&mut contact["normal"]);
            }
        }
        _ => {}
    }
    line
}

/// A rational number such as `-57/8`, or a decimal one.
fn number(text: &str) -> f64 {
    let parts: Vec<f64> = text.split('/').map(|part| part.parse().unwrap()).collect();
    parts[0] / parts.get(1).unwrap_or(&1.0)
}

/// Kinetic length of a velocity.
fn length(mass: &Value, velocity: &[f64]) -> f64 {
    let entry = |i: usize, j: usize| mass[i][j].as_f64().unwrap();
    let n = velocity.len();
    let terms = (0..n * n).map(|k| entry(k / n, k % n) * velocity[k / n] * velocity[k % n]);
    terms.sum::<f64>().max(0.0).sqrt()
}

/// Distance of an answer from the exact one, as a fraction of the motion before.
fn distance(line: &Value, answer: &Value, exact: &[f64]) -> f64 {
    let numbers = |list: &Value| -> Vec<f64> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect()
    };
    let found = numbers(&answer["velocity_plus"]);
    let difference: Vec<f64> = found.iter().zip(exact).map(|(x, y)| x - y).collect();
    length(&line["mass_matrix"], &difference)
        / length(&line["mass_matrix"], &numbers(&line["velocity"]))
}

#[test]
fn hostile_problems_are_answered_marked_or_refused() {
    for text in LINES.lines() {
        let case: Value = serde_json::from_str(text).unwrap();
        let tellings = case["want"]["tellings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for telling in std::iter::once(json!("as given")).chain(tellings) {
            let telling = telling.as_str().unwrap();
            let line = told(&case["line"], telling);
            let mut exact: Vec<f64> = { case["exact"].as_array().unwrap().iter() }
                .map(|x| number(x.as_str().unwrap()))
                .collect();
            if telling == "coordinates" {
                exact.reverse();
            }
            let answer = answers(&carom(&["resolve"], &line.to_string())).remove(0);
            // A ray is a problem that is not solved.
            let kind = &match &answer["error"]["kind"] {
                kind if kind == "ray" => json!("not-solved"),
                kind => kind.clone(),
            };
            let holds = |want: &Value| match want {
                want if want["error"].is_array() => {
                    want["error"].as_array().unwrap().contains(kind)
                }
                _ if kind.is_string() => false,
                want if want["within"].is_number() => {
                    distance(&line, &answer, &exact) <= want["within"].as_f64().unwrap()
                }
                _ => answer["audit"]["digits"].as_f64().is_some_and(|digits| {
                    let is_marked = answer["warnings"]
                        .as_array()
                        .is_some_and(|w| w.contains(&json!("ill-conditioned")));
                    distance(&line, &answer, &exact) <= 10f64.powf(1.0 - digits)
                        && (digits >= 6.0 || is_marked)
                }),
            };
            let wants = case["want"]["any"].as_array().unwrap();
            assert!(
                wants.iter().any(holds),
                "{} {telling}: {answer}",
                case["id"]
            );
        }
    }
}
