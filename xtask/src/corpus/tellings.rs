//! Problems told in another way, which rounds no number: answers must be the same.

use super::scene::{Scene, Touch};
use crate::fuzz::{matrix, numbers};
use nalgebra::DVector;
use serde_json::{Value, json};

/// A change of a problem that changes nothing about the impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Telling {
    /// Contacts in reverse order.
    Contacts,
    /// Coordinates in reverse order.
    Coordinates,
    /// Another unit of mass.
    Mass,
    /// Another unit of time.
    Time,
    /// Another unit for each coordinate.
    Units,
    /// Rows of each contact and each constraint multiplied.
    Rows,
    /// The first constraint told once more.
    Twice,
}

/// Exponents of the powers of two by which coordinates and rows are multiplied, in turn.
const EXPONENTS: [i32; 7] = [5, -8, 3, 11, -2, -13, 7];

impl Telling {
    pub(crate) const ALL: [Self; 7] = [
        Self::Contacts,
        Self::Coordinates,
        Self::Mass,
        Self::Time,
        Self::Units,
        Self::Rows,
        Self::Twice,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Contacts => "contacts",
            Self::Coordinates => "coordinates",
            Self::Mass => "mass",
            Self::Time => "time",
            Self::Units => "units",
            Self::Rows => "rows",
            Self::Twice => "twice",
        }
    }

    /// Tells a problem in another way. Returns `None` if that would be the problem itself, or another impact: samples follow the
    /// order of contacts, and steps of impulses the length of rows.
    pub(crate) fn tell(self, line: &Value) -> Option<Value> {
        let n = line.get("velocity")?.as_array()?.len();
        let m = line["contacts"].as_array()?.len();
        let constraints = line.get("constraints").map(matrix).unwrap_or_default();
        let options = &line["options"];
        let is_step = ["impulse_step", "epsilon"]
            .iter()
            .any(|key| options.get(key).is_some());
        let mut told = line.clone();
        match self {
            Self::Contacts if m < 2 || is_by_order(line) => return None,
            Self::Contacts => reverse_contacts(&mut told),
            Self::Coordinates if n < 2 => return None,
            Self::Coordinates => {
                map_coordinates(&mut told, |list| list.iter().rev().copied().collect())
            }
            Self::Mass => {
                scale_matrix(&mut told["mass_matrix"], |_, _| 1024.0);
                scale_steps(&mut told, 1024.0);
            }
            Self::Time => {
                scale(&mut told["velocity"], |_| 0.125);
                scale_steps(&mut told, 0.125);
            }
            Self::Units => change_units(&mut told),
            Self::Rows if is_step => return None,
            Self::Rows => scale_rows(&mut told),
            Self::Twice => {
                let again: Vec<f64> = constraints.first()?.iter().map(|x| -4.0 * x).collect();
                told["constraints"].as_array_mut()?.push(json!(again));
            }
        }
        Some(told)
    }

    /// Converts the velocity of an answer to the problem told in this way to the velocity of the problem itself.
    pub(crate) fn back(self, velocity: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Contacts | Self::Mass | Self::Rows | Self::Twice => velocity.clone(),
            Self::Coordinates => {
                DVector::from_iterator(velocity.len(), velocity.iter().rev().copied())
            }
            Self::Time => velocity * 8.0,
            Self::Units => DVector::from_fn(velocity.len(), |k, _| velocity[k] / factor(k)),
        }
    }
}

fn factor(k: usize) -> f64 {
    2f64.powi(EXPONENTS[k % EXPONENTS.len()])
}

/// True if the answer depends on the order of contacts by definition: samples, an order that is given in part, and impacts in turn
/// of contacts that approach equally fast.
fn is_by_order(line: &Value) -> bool {
    let options = &line["options"];
    let is_random = |key: &str| options[key].is_object() && options[key].get("priority").is_none();
    let law = line["law"].as_str().unwrap_or_default();
    match law {
        "set-valued" => true,
        "sequential" => {
            let order = options["order"].as_array().map(Vec::len);
            order != line["contacts"].as_array().map(Vec::len)
        }
        "propagative" => is_random("selection") || is_random("outcomes") || has_tie(line),
        _ => law.starts_with("nonholonomic") && has_tie(line),
    }
}

/// Part of a speed up to which two contacts approach equally fast.
const TIE: f64 = 1e-9;

/// True if two contacts approach equally fast, in units of their kinetic lengths.
fn has_tie(line: &Value) -> bool {
    let Some(scene) = Scene::read(line) else {
        return false;
    };
    let Some(factor) = scene.mass.clone().cholesky() else {
        return false;
    };
    let speed = |contact: &Touch| {
        let normal = contact.normal();
        -normal.dot(&scene.velocity) / normal.dot(&factor.solve(normal)).sqrt()
    };
    let mut speeds: Vec<f64> = scene.contacts.iter().map(speed).collect();
    speeds.retain(|speed| *speed > 0.0);
    speeds.sort_by(f64::total_cmp);
    speeds
        .windows(2)
        .any(|pair| pair[1] - pair[0] <= TIE * pair[1])
}

fn reverse_contacts(line: &mut Value) {
    let Some(contacts) = line["contacts"].as_array_mut() else {
        return;
    };
    contacts.reverse();
    let last = contacts.len().saturating_sub(1);
    let turn = |list: &mut Value| {
        for index in list.as_array_mut().into_iter().flatten() {
            if let Some(k) = index.as_u64() {
                *index = json!(last - k as usize);
            }
        }
    };
    if let Some(order) = line["options"].get_mut("order") {
        turn(order);
    }
    let selection = line["options"].get_mut("selection");
    if let Some(priority) = selection.and_then(|selection| selection.get_mut("priority")) {
        turn(priority);
    }
}

/// Changes every list with an entry for each coordinate.
fn map_coordinates(line: &mut Value, change: impl Fn(&[f64]) -> Vec<f64>) {
    let both = |rows: &Value| {
        let mut rows: Vec<Vec<f64>> = matrix(rows).iter().map(|row| change(row)).collect();
        let order: Vec<f64> = (0..rows.len()).map(|k| k as f64).collect();
        let order = change(&order);
        rows = order.iter().map(|&k| rows[k as usize].clone()).collect();
        json!(rows)
    };
    let rows = |rows: &Value| {
        json!(
            matrix(rows)
                .iter()
                .map(|row| change(row))
                .collect::<Vec<_>>()
        )
    };
    line["mass_matrix"] = both(&line["mass_matrix"]);
    line["velocity"] = json!(change(&numbers(&line["velocity"])));
    for contact in line["contacts"].as_array_mut().into_iter().flatten() {
        contact["normal"] = json!(change(&numbers(&contact["normal"])));
        contact["tangents"] = rows(&contact["tangents"]);
    }
    if let Some(constraints) = line.get_mut("constraints") {
        *constraints = rows(constraints);
    }
}

fn scale(list: &mut Value, by: impl Fn(usize) -> f64) {
    let scaled: Vec<f64> = numbers(list)
        .iter()
        .enumerate()
        .map(|(k, x)| x * by(k))
        .collect();
    *list = json!(scaled);
}

fn scale_matrix(rows: &mut Value, by: impl Fn(usize, usize) -> f64) {
    for (i, row) in rows.as_array_mut().into_iter().flatten().enumerate() {
        scale(row, |j| by(i, j));
    }
}

/// Multiplies the options that are impulses.
fn scale_steps(line: &mut Value, by: f64) {
    for key in ["impulse_step", "epsilon"] {
        if let Some(option) = line["options"].get_mut(key)
            && let Some(step) = option.as_f64()
        {
            *option = json!(step * by);
        }
    }
}

/// Multiplies the coordinate k and its velocity by a power of two of its own.
fn change_units(line: &mut Value) {
    scale(&mut line["velocity"], factor);
    scale_matrix(&mut line["mass_matrix"], |i, j| {
        1.0 / (factor(i) * factor(j))
    });
    for contact in line["contacts"].as_array_mut().into_iter().flatten() {
        scale(&mut contact["normal"], |j| 1.0 / factor(j));
        scale_matrix(&mut contact["tangents"], |_, j| 1.0 / factor(j));
    }
    if let Some(constraints) = line.get_mut("constraints") {
        scale_matrix(constraints, |_, j| 1.0 / factor(j));
    }
}

fn scale_rows(line: &mut Value) {
    let contacts = line["contacts"].as_array_mut().into_iter().flatten();
    for (k, contact) in contacts.enumerate() {
        scale(&mut contact["normal"], |_| factor(k));
        scale_matrix(&mut contact["tangents"], |_, _| factor(k));
    }
    if let Some(constraints) = line.get_mut("constraints") {
        scale_matrix(constraints, |i, _| -factor(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Value {
        json!({"law": "sequential", "options": {"order": [1, 0]},
            "mass_matrix": [[2, 0.5], [0.5, 1]], "velocity": [1, -3],
            "contacts": [{"normal": [0, 1], "tangents": [[1, 0]], "friction": 0.5},
                         {"normal": [1, 2], "tangents": [[2, -1]], "friction": 0}],
            "constraints": [[1, 0.25]]})
    }

    /// Powers, energies and rates stay the same numbers, up to the unit.
    #[test]
    fn another_telling_keeps_rates_and_energies() {
        let rate = |line: &Value, contact: usize| -> f64 {
            let normal = numbers(&line["contacts"][contact]["normal"]);
            let velocity = numbers(&line["velocity"]);
            normal.iter().zip(&velocity).map(|(a, b)| a * b).sum()
        };
        let energy = |line: &Value| -> f64 {
            let (m, v) = (matrix(&line["mass_matrix"]), numbers(&line["velocity"]));
            let row = |i: usize| -> f64 { m[i].iter().zip(&v).map(|(a, b)| a * b).sum() };
            (0..v.len()).map(|i| v[i] * row(i)).sum()
        };
        let original = line();
        for (telling, unit) in [
            (Telling::Coordinates, 1.0),
            (Telling::Mass, 1.0),
            (Telling::Time, 0.125),
            (Telling::Units, 1.0),
        ] {
            let told = telling.tell(&original).unwrap();
            assert_ne!(told, original);
            assert_eq!(rate(&told, 1), unit * rate(&original, 1), "{telling:?}");
            let mass = if telling == Telling::Mass {
                1024.0
            } else {
                1.0
            };
            assert_eq!(energy(&told), mass * unit * unit * energy(&original));
            let back = telling.back(&DVector::from_vec(numbers(&told["velocity"])));
            assert_eq!(back.as_slice(), numbers(&original["velocity"]));
        }
        let told = Telling::Contacts.tell(&original).unwrap();
        assert_eq!(rate(&told, 0), rate(&original, 1));
        assert_eq!(told["options"]["order"], json!([0, 1]));
        let told = Telling::Twice.tell(&original).unwrap();
        assert_eq!(told["constraints"], json!([[1, 0.25], [-4.0, -1.0]]));
    }
}
