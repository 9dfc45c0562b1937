//! Answers in words, for people at a terminal.

use crate::text::entry;
use carom::report::export::shown;
use carom_wire::{Command, Line, Place};
use serde_json::Value;

/// Largest number of contacts, outcomes or solutions that are shown; the rest is counted.
const ROWS: usize = 12;

/// Column at which the values of an answer begin.
const INDENT: usize = 22;

/// Part of the largest number of a quantity below which a number is rounding, and shown as 0.
const ROUNDING: f64 = 1e-13;

/// Describes the answer `line` to the problem `text` for people: lines of text. `place` names a problem without
/// `id`.
pub(super) fn in_words(command: Command, place: Place, text: &str, line: &Line) -> String {
    let answer: Value = serde_json::from_str(&line.text).unwrap_or_default();
    let problem: Value = serde_json::from_str(text).unwrap_or_default();
    let name = match answer.get("id") {
        None | Some(Value::Null) => place.to_string(),
        Some(Value::String(id)) => id.clone(),
        Some(id) => id.to_string(),
    };
    if let Some(message) = answer.pointer("/error/message").and_then(Value::as_str) {
        return entry("", 0, &format!("{name} has no answer: {message}."));
    }
    let said = |key: &str| answer.pointer(key).and_then(Value::as_str);
    let steps = answer.get("steps").and_then(Value::as_array);
    let judged = steps.map(|steps| format!("{} steps judged", steps.len()));
    let head = match command {
        Command::Judge => {
            let verdict = said("/verdict").or_else(|| said("/whole/verdict"));
            [judged.as_deref(), verdict]
        }
        _ => [said("/law").or_else(|| said("/method")), said("/status")],
    };
    let head: Vec<&str> = head.into_iter().flatten().collect();
    let mut words = Words {
        text: entry("", 0, &format!("{name}: {}", head.join(", "))),
    };
    match command {
        Command::Lcp => words.complementarity(&answer),
        Command::Judge => {
            words.motion(&problem, &answer);
            words.judgement(&answer);
        }
        _ => words.motion(&problem, &answer),
    }
    words.text
}

/// Text that grows by rows.
struct Words {
    text: String,
}

impl Words {
    /// Tells velocities, impulses and energies of an impact.
    fn motion(&mut self, problem: &Value, answer: &Value) {
        let after = |key: &str| answer.get(key).or_else(|| problem.get(key));
        let before = problem.get("velocity");
        let speed = largest(before).max(largest(after("velocity_plus")));
        self.put("velocity before", before, speed);
        self.put("velocity after", after("velocity_plus"), speed);
        for number in ["1", "2"] {
            for (key, title) in [("velocity", "velocity"), ("angular_velocity", "turning")] {
                let plus = after(&format!("{key}{number}_plus"));
                if plus.is_some() {
                    let minus = problem.pointer(&format!("/body{number}/{key}"));
                    let size = largest(minus).max(largest(plus));
                    self.put(&format!("{title} {number} before"), minus, size);
                    self.put(&format!("{title} {number} after"), plus, size);
                }
            }
        }
        let impulse = answer.get("impulse");
        self.put("impulse (N s)", impulse, largest(impulse));
        let impulses = answer.get("impulses").and_then(Value::as_array);
        let impulses = impulses.map_or(&[][..], Vec::as_slice);
        let size = impulses.iter().map(|impulse| largest(Some(impulse)));
        let size = size.fold(0.0, f64::max);
        self.rows(impulses, "contacts", |k, impulse| {
            (format!("impulse {k} (N s)"), Some(impulse), size)
        });
        let energy = |key: &str| answer.get(key).and_then(Value::as_f64);
        if let (Some(minus), Some(plus)) = (energy("energy_minus_j"), energy("energy_plus_j")) {
            let plus = number(plus, minus);
            self.say(
                "energy",
                &format!("{} J before, {plus} J after", shown(minus)),
            );
        }
        self.put("ignored", answer.get("ignored"), 0.0);
        let outcomes = answer.get("outcomes").and_then(Value::as_array);
        let outcomes = outcomes.map_or(&[][..], Vec::as_slice);
        if outcomes.len() > 1 {
            self.rows(outcomes, "outcomes", |k, outcome| {
                (format!("outcome {k}"), outcome.get("velocity_plus"), speed)
            });
        }
    }

    /// Tells residuals, laws and the set of outcomes of a judgement.
    fn judgement(&mut self, answer: &Value) {
        for kind in ["momentum", "pull", "friction", "penetration", "constraint"] {
            let residual = answer
                .get(format!("{kind}_residual"))
                .and_then(Value::as_f64);
            if let Some(residual) = residual.filter(|residual| *residual > ROUNDING) {
                self.say(&format!("{kind} residual"), &shown(residual));
            }
        }
        for key in ["continuity_residual", "energy_contact_j", "external_work_j"] {
            self.put(key, answer.get(key), 0.0);
        }
        for law in answer
            .get("laws")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let word = |key: &str| law.get(key).and_then(Value::as_str).unwrap_or_default();
            let mut text = word("verdict").to_owned();
            for key in ["distance", "restitution"] {
                if let Some(value) = law.get(key).and_then(Value::as_f64) {
                    text.push_str(&format!(", {key} {}", number(value, 1.0)));
                }
            }
            self.say(word("law"), &text);
        }
        let membership = answer.pointer("/outcome_set/membership");
        self.put("set of outcomes", membership, 0.0);
    }

    /// Tells the answer to a linear complementarity problem.
    fn complementarity(&mut self, answer: &Value) {
        for key in [
            "z",
            "w",
            "backward_error",
            "proof",
            "limit",
            "explanation",
            "reason",
        ] {
            let value = answer.get(key);
            self.put(&key.replace('_', " "), value, largest(value));
        }
        let solutions = answer.get("solutions").and_then(Value::as_array);
        self.rows(
            solutions.map_or(&[][..], Vec::as_slice),
            "solutions",
            |k, solution| {
                let z = solution.get("z");
                (format!("solution {k}: z"), z, largest(z))
            },
        );
    }

    /// Adds a row for each item, with the title, value and size of numbers that `row` returns; after [`ROWS`] the number of
    /// the others, which `noun` names.
    fn rows<'v>(
        &mut self,
        items: &'v [Value],
        noun: &str,
        row: impl Fn(usize, &'v Value) -> (String, Option<&'v Value>, f64),
    ) {
        for (k, item) in items.iter().take(ROWS).enumerate() {
            let (title, value, size) = row(k, item);
            self.put(&title, value, size);
        }
        if items.len() > ROWS {
            let more = items.len() - ROWS;
            self.say("", &format!("and {more} more {noun} (--json has all)"));
        }
    }

    /// Adds a row with a title and a value, unless there is no value. `size` is the largest number of the quantity.
    fn put(&mut self, title: &str, value: Option<&Value>, size: f64) {
        let cell = |value: &Value| match value {
            Value::Number(x) => number(x.as_f64().unwrap_or_default(), size),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let text = match value {
            None | Some(Value::Null) => return,
            Some(Value::Array(list)) => {
                let cells: Vec<String> = list.iter().map(cell).collect();
                cells.join(", ")
            }
            Some(value) => cell(value),
        };
        self.say(title, &text);
    }

    fn say(&mut self, title: &str, text: &str) {
        self.text
            .push_str(&entry(&format!("  {title}"), INDENT, text));
    }
}

/// Formats a number; the rounding of a quantity as large as `size` is 0.
fn number(x: f64, size: f64) -> String {
    shown(if x.abs() < ROUNDING * size.abs() {
        0.0
    } else {
        x
    })
}

/// Returns the largest magnitude of the numbers in a list; 0 for a list without numbers.
fn largest(list: Option<&Value>) -> f64 {
    let numbers = list.and_then(Value::as_array).into_iter().flatten();
    let sizes = numbers.filter_map(Value::as_f64).map(f64::abs);
    sizes.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WIDTH;
    use carom_wire::{answer_line, example};

    fn told(command: Command, problem: &str) -> String {
        let line = answer_line(command, 3, problem);
        let text = in_words(command, Place::new(3, 1, None), problem, &line);
        assert!(text.ends_with('\n'), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        text
    }

    #[test]
    fn an_impact_is_told_row_by_row() {
        let foot = r#"{"id": "foot", "law": "anitescu-potra", "mass_matrix": [[4, 0, 0], [0, 4, 0], [0, 0, 0.1]],
            "velocity": [0.3, -1, 0], "contacts": [{"normal": [0, 1, -0.1], "tangents": [[1, 0, 0]], "friction": 0.6},
            {"normal": [0, 1, 0.15], "tangents": [[1, 0, 0]], "friction": 0.6}]}"#;
        let expected = "\
foot: anitescu-potra, resolved
  velocity before     0.3, -1, 0
  velocity after      0, 0, 0
  impulse 0 (N s)     2.4, -0.6566038
  impulse 1 (N s)     1.6, -0.5433962
  energy              2.18 J before, 0 J after
";
        assert_eq!(told(Command::Resolve, foot), expected);
    }

    #[test]
    fn a_judgement_begins_with_its_whole_verdict() {
        let judged = told(Command::Judge, example(Command::Judge));
        let answer: Value =
            serde_json::from_str(&answer_line(Command::Judge, 1, example(Command::Judge)).text)
                .unwrap();
        let id = answer["id"].as_str().unwrap();
        let verdict = format!("{id}: {}", answer["verdict"].as_str().unwrap());
        let words: Vec<&str> = judged.split_whitespace().collect();
        assert!(words.join(" ").starts_with(&verdict), "{judged}");
        assert!(judged.contains("\n  set of outcomes "), "{judged}");
    }

    #[test]
    fn steps_are_told_with_their_sums() {
        let steps = r#"{"id": "fall", "steps": [
            {"mass_matrix": [[1]], "velocity": [-1], "velocity_plus": [0], "contacts": [{"normal": [1]}]},
            {"velocity": [0], "velocity_plus": [0], "contacts": [{"normal": [1]}]}]}"#;
        let text = told(Command::Judge, steps);
        assert!(text.starts_with("fall: 2 steps judged, "), "{text}");
        assert!(text.contains("\n  energy_contact_j    -0.5\n"), "{text}");
    }

    #[test]
    fn an_error_is_a_sentence_with_id_and_key() {
        let line = r#"{"id": "a", "law": "plastik", "mass_matrix": [[1]], "velocity": [1], "contacts": []}"#;
        let text = told(Command::Resolve, line);
        assert!(
            text.starts_with("a has no answer: law: unknown law `plastik`; did you mean"),
            "{text}"
        );
        let text = told(Command::Lcp, "{\"matrix\": [[1]]}");
        assert_eq!(text, "line 3 has no answer: missing field `vector`.\n");
    }

    #[test]
    fn a_complementarity_problem_is_told_with_its_solution() {
        let text = told(
            Command::Lcp,
            r#"{"id": 7, "matrix": [[2,1],[1,2]], "vector": [-5,-6]}"#,
        );
        assert!(
            text.starts_with("7: solved\n  z                   1.333333, 2.333333\n"),
            "{text}"
        );
    }
}
