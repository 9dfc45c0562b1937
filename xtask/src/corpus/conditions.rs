//! Conditions of each law, recomputed from a problem and its answer alone.

use crate::fuzz::{Given, RowState, excuses, with};
use serde_json::{Value, json};

/// Restitution of a single contact, or of all contacts, after which its rows have known velocities.
fn restitution(line: &Value) -> f64 {
    line["options"]["restitution"].as_f64().unwrap_or(0.0)
}

/// Checks the answer to a line of `resolve` against the conditions of the law of the line: momentum, constraints, impulses within
/// their cones, no approach, energy, and what the law itself asks for. Returns the first condition that is broken.
pub(crate) fn broken(line: &Value, answer: &Value) -> Option<String> {
    if answer.get("error").is_some() || line.get("mass_matrix").is_none() {
        return None;
    }
    let Some(given) = Given::new(line) else {
        return Some("the mass matrix has no Cholesky factor".to_owned());
    };
    if answer["status"] == "separating" {
        let closes = given.clearly_approaches();
        return closes.then(|| "separating while a contact approaches".to_owned());
    }
    let outcomes = answer["outcomes"].as_array().into_iter().flatten();
    let first = answer.get("velocity_plus").map(|_| answer);
    let mut each = first.into_iter().chain(outcomes);
    each.find_map(|outcome| {
        // Samples of a set have no rule beyond that of all laws.
        given
            .broken_rule(outcome, excuses(line))
            .and_then(|()| law(line, outcome, &given.states(outcome)))
            .err()
    })
}

/// Checks what the law of a line asks of the rows of each contact (normal first).
fn law(line: &Value, outcome: &Value, contacts: &[Vec<RowState>]) -> Result<(), String> {
    let is_free = line.get("constraints").is_none();
    let alone = if contacts.len() == 1 { contacts } else { &[] };
    let coefficient = |k: usize, key: &str| line["contacts"][k][key].as_f64().unwrap_or(0.0);
    let options = &line["options"];
    match line["law"].as_str().unwrap_or_default() {
        "plastic" if options["plastic"] != "project-all" => complementarity(contacts, |_| 0.0),
        "anitescu-potra" => {
            complementarity(contacts, |_| 0.0)?;
            dissipation(line, contacts)
        }
        "moreau-newton" => {
            complementarity(contacts, |k| coefficient(k, "restitution"))?;
            dissipation(line, contacts)
        }
        "propagative" if options["restitution"].as_f64().unwrap_or(1.0) == 1.0 => {
            energy_kept(outcome, contacts)
        }
        "nonholonomic-elastic" => energy_kept(outcome, contacts),
        "nonholonomic-newton" => alone
            .iter()
            .try_for_each(|rows| rebound(&rows[..1], restitution(line))),
        "nonholonomic-rough" if is_free => alone
            .iter()
            .try_for_each(|rows| rebound(rows, restitution(line))),
        "routh" | "two-body" if options["restitution_law"] == "newton" => alone
            .iter()
            .try_for_each(|rows| rebound(&rows[..1], coefficient(0, "restitution"))),
        _ => Ok(()),
    }
}

/// Checks that every contact opens at least as fast as its restitution asks, and exactly so fast if it pushes.
fn complementarity(
    contacts: &[Vec<RowState>],
    restitution: impl Fn(usize) -> f64,
) -> Result<(), String> {
    for (k, rows) in contacts.iter().enumerate() {
        let normal = rows[0];
        let off = normal.after - restitution(k) * (-normal.before).max(0.0);
        let pushes = normal.impulse > normal.allowed_impulse;
        if off < -normal.allowed || (pushes && !(off <= normal.allowed)) {
            return Err(format!("contact {k} misses its velocity by {off:e}"));
        }
    }
    Ok(())
}

/// Checks that friction takes as much power as its cone allows at the velocity after the impact. Polygons in space have another
/// cone and are let pass.
fn dissipation(line: &Value, contacts: &[Vec<RowState>]) -> Result<(), String> {
    let options = &line["options"];
    let has_polygon =
        options.get("friction_directions").is_some() || options["friction_cone"].is_object();
    for (k, rows) in contacts.iter().enumerate() {
        if rows.len() == 1 || (has_polygon && rows.len() > 2) {
            continue;
        }
        let friction = line["contacts"][k]["friction"].as_f64().unwrap_or(0.0);
        let (normal, tangents) = (rows[0], &rows[1..]);
        let largest = friction * normal.impulse.max(0.0);
        let slip = tangents
            .iter()
            .fold(0.0f64, |sum, row| sum.hypot(row.after));
        let power: f64 = tangents.iter().map(|row| row.impulse * row.after).sum();
        let missing = largest * slip + power;
        let allowed: f64 = tangents
            .iter()
            .map(|row| {
                let of_cone = friction * normal.allowed_impulse;
                largest * row.allowed + (row.allowed_impulse + of_cone) * slip
            })
            .sum();
        if !(missing <= allowed) {
            return Err(format!(
                "friction of contact {k} leaves a power of {missing:e}"
            ));
        }
    }
    Ok(())
}

/// Checks that the impulses do no work.
fn energy_kept(outcome: &Value, contacts: &[Vec<RowState>]) -> Result<(), String> {
    let rows = || contacts.iter().flatten();
    let work: f64 = rows()
        .map(|row| 0.5 * row.impulse * (row.before + row.after))
        .sum();
    let allowed: f64 = rows()
        .map(|row| {
            let rates = 1e-9 * (row.before.abs() + row.after.abs());
            row.impulse.abs() * (rates + row.allowed)
        })
        .sum();
    let told = |key: &str| outcome[key].as_f64().unwrap_or(f64::NAN);
    let (minus, plus) = (told("energy_minus_j"), told("energy_plus_j"));
    if !(work.abs() <= allowed) || !((plus - minus).abs() <= allowed + 1e-9 * minus) {
        return Err(format!("energy changes by {work:e}"));
    }
    Ok(())
}

/// Checks that each row of a contact has its velocity before the impact times −e.
fn rebound(rows: &[RowState], e: f64) -> Result<(), String> {
    let off = |row: &RowState| (row.after + e * row.before).abs();
    match rows.iter().find(|row| !(off(row) <= row.allowed)) {
        Some(row) => Err(format!("a row misses its velocity by {:e}", off(row))),
        None => Ok(()),
    }
}

/// Returns the frictionless line whose exact answer is known for this line: its problem with a law without friction, chosen by
/// `turn`.
pub(crate) fn frictionless(line: &Value, turn: usize) -> Value {
    let law = ["plastic", "anitescu-potra", "moreau-newton"][turn % 3];
    let contacts = line["contacts"].as_array().into_iter().flatten();
    let contacts: Vec<Value> = contacts
        .map(|contact| json!({"normal": contact["normal"], "restitution": contact["restitution"]}))
        .collect();
    let more = json!({"law": law, "options": {}, "contacts": contacts, "derivative": false});
    with(line.clone(), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball that slides over a floor and comes down, with the answer of each law: velocity and impulses.
    fn line(law: &str, options: Value) -> Value {
        json!({"law": law, "options": options, "mass_matrix": [[1, 0], [0, 1]], "velocity": [3, -2],
            "contacts": [{"normal": [0, 1], "tangents": [[1, 0]], "friction": 0.5, "restitution": 0.5}]})
    }

    fn answer(velocity: [f64; 2], impulse: [f64; 2]) -> Value {
        let energy = |v: [f64; 2]| 0.5 * (v[0] * v[0] + v[1] * v[1]);
        json!({"status": "resolved", "velocity_plus": velocity, "impulses": [impulse],
            "energy_minus_j": energy([3.0, -2.0]), "energy_plus_j": energy(velocity)})
    }

    #[test]
    fn right_answers_pass_and_wrong_ones_are_caught() {
        let newton = line("moreau-newton", json!({}));
        assert_eq!(broken(&newton, &answer([1.5, 1.0], [3.0, -1.5])), None);
        for (what, velocity, impulse) in [
            ("no rebound", [2.0, 0.0], [2.0, -1.0]),
            ("too little friction", [2.0, 1.0], [3.0, -1.0]),
            ("too much friction", [1.0, 1.0], [3.0, -2.0]),
            ("another momentum", [1.5, 1.0], [3.0, -1.4]),
            ("an approach", [3.0, -2.0], [0.0, 0.0]),
            (
                "a hair of rebound",
                [1.5 - 5e-8, 1.0 + 1e-7],
                [3.0 + 1e-7, -1.5 - 5e-8],
            ),
        ] {
            assert!(
                broken(&newton, &answer(velocity, impulse)).is_some(),
                "{what}"
            );
        }
        let soft = line("anitescu-potra", json!({}));
        assert_eq!(broken(&soft, &answer([2.0, 0.0], [2.0, -1.0])), None);
        assert!(broken(&soft, &answer([1.5, 1.0], [3.0, -1.5])).is_some());
        let elastic = line("propagative", json!({}));
        assert_eq!(broken(&elastic, &answer([3.0, 2.0], [4.0, 0.0])), None);
        assert!(broken(&elastic, &answer([3.0, 1.0], [3.0, 0.0])).is_some());
        let rough = line("nonholonomic-rough", json!({"restitution": 1}));
        assert_eq!(broken(&rough, &answer([-3.0, 2.0], [4.0, -6.0])), None);
        assert!(broken(&rough, &answer([3.0, 2.0], [4.0, 0.0])).is_some());
    }

    #[test]
    fn a_violated_constraint_is_caught_and_its_impulse_counts() {
        let mut line = line("plastic", json!({}));
        line["velocity"] = json!([2, -2]);
        line["constraints"] = json!([[1, 1]]);
        let mut answer = answer([0.0, 0.0], [4.0, 0.0]);
        assert!(
            broken(&line, &answer).is_some(),
            "no impulse of the constraint"
        );
        answer["constraint_impulses"] = json!([-2.0]);
        assert_eq!(broken(&line, &answer), None);
        answer["velocity_plus"] = json!([1.0, 0.0]);
        answer["impulses"] = json!([[3.0, 0.0]]);
        answer["constraint_impulses"] = json!([-1.0]);
        assert!(broken(&line, &answer).is_some(), "a violated constraint");
    }
}
