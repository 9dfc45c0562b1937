//! Impact problem under construction: matrices and rows as numbers.

use super::draws::Draws;
use crate::fuzz::{matrix, numbers};
use nalgebra::{DMatrix, DVector};
use serde_json::{Value, json};

/// Normal and tangents of a contact, with its coefficients.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    /// Normal (n entries), then the tangents.
    pub(crate) rows: Vec<DVector<f64>>,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
}

/// Mass matrix, velocity, contacts and constraints of an impact problem.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) mass: DMatrix<f64>,
    pub(crate) velocity: DVector<f64>,
    pub(crate) contacts: Vec<Touch>,
    pub(crate) constraints: Vec<DVector<f64>>,
}

impl Touch {
    /// Creates a contact with random coefficients: friction and restitution are often zero. `rows` holds the normal, then the
    /// tangents.
    pub(crate) fn drawn(rows: Vec<DVector<f64>>, draws: &mut Draws) -> Self {
        let friction = if rows.len() > 1 && draws.chance(0.75) {
            draws.between(0.0, 1.2)
        } else {
            0.0
        };
        let restitution = match draws.count(0, 4) {
            0 | 1 => 0.0,
            2 => 1.0,
            _ => draws.between(0.0, 1.0),
        };
        Self {
            rows,
            friction,
            restitution,
        }
    }

    pub(crate) fn normal(&self) -> &DVector<f64> {
        &self.rows[0]
    }
}

impl Scene {
    pub(crate) fn dim(&self) -> usize {
        self.velocity.len()
    }

    /// Reverses the velocity if no contact approaches.
    pub(crate) fn made_to_approach(mut self) -> Self {
        let approaches = |velocity: &DVector<f64>| {
            let mut contacts = self.contacts.iter();
            contacts.any(|contact| contact.normal().dot(velocity) < 0.0)
        };
        if !approaches(&self.velocity) {
            self.velocity.neg_mut();
        }
        self
    }

    /// Adds up to two constraints with random rows, and changes the velocity so that it fulfills them. Some of the constraints
    /// are told twice, the second time multiplied by a power of two.
    pub(crate) fn constrained(mut self, draws: &mut Draws) -> Self {
        let most = self.dim().saturating_sub(2).min(2);
        let count = if draws.chance(0.4) {
            draws.count(0, most)
        } else {
            0
        };
        let mut basis: Vec<DVector<f64>> = Vec::new();
        for _ in 0..count {
            let is_sparse = draws.chance(0.5);
            let row = DVector::from_fn(self.dim(), |_, _| {
                let entry = draws.number();
                if is_sparse && draws.chance(0.5) {
                    0.0
                } else {
                    entry
                }
            });
            let orthogonal = basis
                .iter()
                .fold(row.clone(), |rest, e| &rest - e * e.dot(&rest));
            if orthogonal.norm() < 0.1 {
                continue;
            }
            basis.push(orthogonal.normalize());
            self.constraints.push(row);
        }
        for e in &basis {
            let along = e.dot(&self.velocity);
            self.velocity -= e * along;
        }
        if draws.chance(0.3)
            && let Some(row) = self.constraints.first()
        {
            let sign = if draws.chance(0.5) { 1.0 } else { -1.0 };
            let again = row * (sign * draws.power(-3, 3));
            self.constraints.push(again);
        }
        self
    }

    /// Writes the problem as a JSON object without a law.
    pub(crate) fn to_value(&self) -> Value {
        let n = self.dim();
        let mass: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| self.mass[(i.max(j), i.min(j))]).collect())
            .collect();
        let contacts: Vec<Value> = self
            .contacts
            .iter()
            .map(|contact| {
                let tangents: Vec<&[f64]> =
                    contact.rows[1..].iter().map(|row| row.as_slice()).collect();
                json!({
                    "normal": contact.normal().as_slice(), "tangents": tangents,
                    "friction": contact.friction, "restitution": contact.restitution,
                })
            })
            .collect();
        let mut problem = json!({
            "mass_matrix": mass, "velocity": self.velocity.as_slice(), "contacts": contacts,
        });
        if !self.constraints.is_empty() {
            let rows: Vec<&[f64]> = self.constraints.iter().map(|row| row.as_slice()).collect();
            problem["constraints"] = json!(rows);
        }
        problem
    }
}

impl Scene {
    /// Reads an impact problem in generalized velocities from its JSON form. Returns `None` for another form.
    pub(crate) fn read(line: &Value) -> Option<Self> {
        let velocity = DVector::from_vec(numbers(line.get("velocity")?));
        let n = velocity.len();
        let mass = matrix(line.get("mass_matrix")?);
        let contact = |contact: &Value| {
            let mut rows = vec![DVector::from_vec(numbers(&contact["normal"]))];
            rows.extend(
                matrix(&contact["tangents"])
                    .into_iter()
                    .map(DVector::from_vec),
            );
            Touch {
                rows,
                friction: contact["friction"].as_f64().unwrap_or(0.0),
                restitution: contact["restitution"].as_f64().unwrap_or(0.0),
            }
        };
        let constraints = matrix(line.get("constraints").unwrap_or(&Value::Null));
        Some(Self {
            mass: DMatrix::from_fn(n, n, |i, j| mass[i][j]),
            velocity,
            contacts: line["contacts"].as_array()?.iter().map(contact).collect(),
            constraints: constraints.into_iter().map(DVector::from_vec).collect(),
        })
    }
}
