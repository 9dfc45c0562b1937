//! Key `derivative` of a problem, and key `jacobian` of an answer.

use crate::error::{WireError, typed};
use crate::limits::{MAX_DIMENSION, check_length};
use crate::matrix::rows;
use crate::outcome::by_contact;
use carom_contact::{ImpactOutcome, ImpactProblem};
use carom_derivative::{
    Derivative, Differentiability, Direction, MAX_TOLERANCE, Tie, Wrt, of_outcome,
};
use carom_impact::Law;
use nalgebra::{DMatrix, DVector, Matrix3};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Relative asymmetry above which a change of the mass matrix is an input error and not a rounding error.
const MASS_ASYMMETRY: f64 = 1e-9;

/// Default distance from a tie at which a decision counts as tied, divided by the velocity before the impact.
const TOLERANCE: f64 = 1e-9;

/// Largest number of velocities of a problem to differentiate.
const MAX_VELOCITIES: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrtInput {
    Velocity,
    Friction,
    Restitution,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DerivativeInput {
    wrt: Option<Vec<WrtInput>>,
    #[serde(default)]
    directions: Vec<DirectionInput>,
    tolerance: Option<f64>,
    #[serde(default)]
    pieces: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a direction: an object with keys of velocity, mass_matrix, contacts, constraints, restitution"
)]
struct DirectionInput {
    velocity: Option<Vec<f64>>,
    mass_matrix: Option<Vec<Vec<f64>>>,
    contacts: Option<Vec<ContactChange>>,
    constraints: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    restitution: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "the change of a contact: an object with keys of normal, tangents, friction, restitution"
)]
struct ContactChange {
    normal: Option<Vec<f64>>,
    tangents: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    friction: f64,
    #[serde(default)]
    restitution: f64,
}

/// Derivatives requested by a problem.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    wrt: Wrt,
    directions: Vec<DirectionInput>,
    tolerance: f64,
}

impl Wanted {
    /// Parses the value of the JSON key `derivative`, the request for derivatives of the outcome. Returns `None` for null
    /// and false, which request nothing.
    pub(crate) fn read(value: &Value) -> Result<Option<Self>, WireError> {
        let input: DerivativeInput = match value {
            Value::Null | Value::Bool(false) => return Ok(None),
            Value::Bool(true) => DerivativeInput::default(),
            Value::Object(_) => typed(value.clone(), "derivative")?,
            _ => {
                return Err(invalid(
                    "derivative",
                    "expected true, false or an object with `wrt`, `directions`, `tolerance`, `pieces`",
                ));
            }
        };
        check_length(
            "derivative.directions",
            input.directions.len(),
            "directions",
            MAX_DIMENSION,
        )?;
        let tolerance = input.tolerance.unwrap_or(TOLERANCE);
        if !(tolerance > 0.0 && tolerance <= MAX_TOLERANCE) {
            let message = format!("{tolerance:e} must lie in (0, 1e-3]");
            return Err(invalid("derivative.tolerance", message));
        }
        let pieces = input.pieces;
        let all = Wrt::ALL.with_pieces(pieces);
        let wrt = input.wrt.map_or(all, |list| {
            Wrt::ALL
                .with_velocity(list.contains(&WrtInput::Velocity))
                .with_friction(list.contains(&WrtInput::Friction))
                .with_restitution(list.contains(&WrtInput::Restitution))
                .with_pieces(pieces)
        });
        Ok(Some(Self {
            wrt,
            directions: input.directions,
            tolerance,
        }))
    }

    /// Computes the derivative of an outcome of a law, and writes it as the JSON value of the key `jacobian`. With
    /// `is_member` the outcome is one of a set, and the derivative follows the order of impacts recorded in the outcome.
    pub(crate) fn jacobian(
        &self,
        problem: &ImpactProblem,
        law: &Law,
        outcome: &ImpactOutcome,
        is_member: bool,
    ) -> Result<Value, WireError> {
        let mut budget = u64::MAX;
        self.jacobian_within(problem, law, outcome, is_member, &mut budget)
    }

    /// Computes the derivative of an outcome in JSON, as [`jacobian`](Self::jacobian) does, and subtracts the computational
    /// work from `budget`. If the budget is 0 at the start, nothing is computed, and the class of the derivative is written as
    /// null.
    pub(crate) fn jacobian_within(
        &self,
        problem: &ImpactProblem,
        law: &Law,
        outcome: &ImpactOutcome,
        is_member: bool,
        budget: &mut u64,
    ) -> Result<Value, WireError> {
        if *budget == 0 {
            return Ok(json!({
                "class": null, "margin": null, "reason": "limit", "ties": [], "pieces": [], "complete": false, "unique": null,
            }));
        }
        let axes = |impulses: &DMatrix<f64>| impulses.clone();
        self.written(problem, law, outcome, is_member, &axes, budget)
    }

    /// Computes the derivative of the outcome of an impact between two bodies, and writes it as JSON with impulses in world
    /// axes. The columns of `frame` are the contact's axes in the world: two tangents, then the normal.
    pub(crate) fn jacobian_of_bodies(
        &self,
        problem: &ImpactProblem,
        law: &Law,
        outcome: &ImpactOutcome,
        frame: &Matrix3<f64>,
    ) -> Result<Value, WireError> {
        for (k, direction) in self.directions.iter().enumerate() {
            let other = [
                ("mass_matrix", direction.mass_matrix.is_some()),
                ("contacts", direction.contacts.is_some()),
                ("constraints", direction.constraints.is_some()),
                ("restitution", direction.restitution != 0.0),
            ];
            if let Some((key, _)) = other.iter().find(|(_, is_given)| *is_given) {
                let key = format!("derivative.directions[{k}].{key}");
                return Err(invalid(&key, "bodies have directions of `velocity` alone"));
            }
        }
        let turned = DMatrix::from_fn(3, 3, |i, j| frame[(i, (j + 2) % 3)]);
        let axes = |impulses: &DMatrix<f64>| &turned * impulses;
        self.written(problem, law, outcome, false, &axes, &mut { u64::MAX })
    }

    fn written(
        &self,
        problem: &ImpactProblem,
        law: &Law,
        outcome: &ImpactOutcome,
        is_member: bool,
        axes: &dyn Fn(&DMatrix<f64>) -> DMatrix<f64>,
        budget: &mut u64,
    ) -> Result<Value, WireError> {
        check_size(problem)?;
        let directions = self.directions.iter().enumerate();
        let directions = directions
            .map(|(k, input)| input.direction(&format!("derivative.directions[{k}]"), problem))
            .collect::<Result<Vec<_>, _>>()?;
        let derivative = of_outcome(law, problem, outcome, is_member, &self.wrt, self.tolerance)
            .map_err(|error| WireError::at("derivative", &error))?;
        *budget = budget.saturating_sub(derivative.work());
        let fields = self.fields(problem, &derivative, &directions, axes)?;
        Ok(Value::Object(fields))
    }

    fn fields(
        &self,
        problem: &ImpactProblem,
        derivative: &Derivative<'_>,
        directions: &[Direction],
        axes: &dyn Fn(&DMatrix<f64>) -> DMatrix<f64>,
    ) -> Result<Map<String, Value>, WireError> {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        let written = |matrix: Option<&DMatrix<f64>>| -> Result<Value, WireError> {
            let Some(matrix) = matrix else {
                return Ok(Value::Null);
            };
            finite(matrix.as_slice())?;
            Ok(json!(rows(matrix)))
        };
        put("class", json!(derivative.class().map(|class| class.name())));
        put("margin", json!(derivative.margin()));
        if let Some(reason) = derivative.reason() {
            put("reason", reason.into());
        }
        if self.wrt.velocity {
            put("dv_dv", written(derivative.dv_dv())?);
        }
        if self.wrt.friction {
            put("dv_dfriction", written(derivative.dv_dfriction())?);
        }
        if self.wrt.restitution {
            put("dv_drestitution", written(derivative.dv_drestitution())?);
        }
        if self.wrt.velocity {
            let impulses = derivative.dimpulses_dv().map(axes);
            put("dimpulses_dv", written(impulses.as_ref())?);
        }
        let mut along = Vec::with_capacity(directions.len());
        for direction in directions {
            let Some(found) = derivative.along(direction)? else {
                continue;
            };
            let mut entry = Map::new();
            if let Some(velocity) = &found.velocity_plus {
                finite(velocity.as_slice())?;
            }
            let velocity = found.velocity_plus.as_ref().map(DVector::as_slice);
            entry.insert("velocity_plus".to_owned(), json!(velocity));
            let impulses = found.impulses.as_ref().map(|impulses| {
                axes(&DMatrix::from_column_slice(
                    impulses.len(),
                    1,
                    impulses.as_slice(),
                ))
            });
            let impulses = impulses.as_ref().map(DMatrix::as_slice);
            let impulses = impulses.map(|impulses| by_contact(problem.contacts(), impulses));
            entry.insert("impulses".to_owned(), json!(impulses));
            if let Some(reason) = &found.reason {
                entry.insert("reason".to_owned(), reason.as_ref().into());
            }
            along.push(Value::Object(entry));
        }
        let is_smooth = derivative.class() == Some(Differentiability::Smooth);
        put(
            "directions",
            if is_smooth { along.into() } else { Value::Null },
        );
        let tie =
            |tie: &Tie| json!({"contact": tie.contact, "row": tie.row, "kind": tie.kind.name()});
        put("ties", derivative.ties().iter().map(tie).collect());
        let mut pieces = Vec::with_capacity(derivative.pieces().len());
        for piece in derivative.pieces() {
            pieces.push(json!({
                "velocity_plus": piece.velocity_plus.as_slice(),
                "dv_dv": written(Some(&piece.dv_dv))?,
                "direction": piece.direction.as_slice(),
            }));
        }
        put("pieces", pieces.into());
        put("complete", derivative.is_complete().into());
        put("unique", derivative.is_unique().into());
        Ok(fields)
    }
}

/// Returns an error if the problem has so many velocities that the matrix of derivatives would be too large to write.
pub(crate) fn check_size(problem: &ImpactProblem) -> Result<(), WireError> {
    let n = problem.velocity_minus().0.len();
    check_length("derivative", n, "velocities", MAX_VELOCITIES)
}

fn invalid(key: &str, message: impl std::fmt::Display) -> WireError {
    WireError::new("invalid-input", format!("{key}: {message}"))
}

/// Returns an error if one of the numbers is infinite or NaN, which JSON cannot represent.
fn finite(numbers: &[f64]) -> Result<(), WireError> {
    if numbers.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(WireError::new(
        "overflow",
        "derivative: a number is too large",
    ))
}

impl DirectionInput {
    fn direction(&self, key: &str, problem: &ImpactProblem) -> Result<Direction, WireError> {
        let contacts = problem.contacts();
        let n = contacts.metric().dim();
        let length =
            |key: &str, found: usize, expected: usize, unit: &str| -> Result<(), WireError> {
                if found == expected {
                    return Ok(());
                }
                Err(invalid(
                    key,
                    format!("{found} {unit} where there should be {expected}"),
                ))
            };
        let matrix =
            |key: &str, given: &[Vec<f64>], count: usize| -> Result<DMatrix<f64>, WireError> {
                length(key, given.len(), count, "rows")?;
                for (i, row) in given.iter().enumerate() {
                    length(&format!("{key}[{i}]"), row.len(), n, "entries")?;
                }
                Ok(DMatrix::from_fn(count, n, |i, j| given[i][j]))
            };
        let mut out = Direction::default().with_event_restitution(self.restitution);
        if let Some(velocity) = &self.velocity {
            length(&format!("{key}.velocity"), velocity.len(), n, "entries")?;
            out.velocity = Some(DVector::from_column_slice(velocity));
        }
        if let Some(mass) = &self.mass_matrix {
            let key = format!("{key}.mass_matrix");
            let mass = matrix(&key, mass, n)?;
            let asymmetry = (&mass - mass.transpose()).amax();
            if asymmetry > MASS_ASYMMETRY * mass.amax() {
                return Err(invalid(
                    &key,
                    format!("not symmetric: asymmetry {asymmetry:e}"),
                ));
            }
            out.mass = Some(mass);
        }
        if let Some(forms) = &self.constraints {
            let count = contacts.constraint_forms().len();
            out.constraints = Some(matrix(&format!("{key}.constraints"), forms, count)?);
        }
        if let Some(changes) = &self.contacts {
            let key = format!("{key}.contacts");
            length(&key, changes.len(), contacts.len(), "contacts")?;
            let mut rows = DMatrix::zeros(contacts.n_rows(), n);
            for ((i, (contact, given)), change) in contacts.indexed().enumerate().zip(changes) {
                let first = contacts.row(contact).index();
                if let Some(normal) = &change.normal {
                    length(&format!("{key}[{i}].normal"), normal.len(), n, "entries")?;
                    for (j, x) in normal.iter().enumerate() {
                        rows[(first, j)] = *x;
                    }
                }
                if let Some(tangents) = &change.tangents {
                    let key = format!("{key}[{i}].tangents");
                    let count = given.tangents.len();
                    let changed = matrix(&key, tangents, count)?;
                    let mut own = rows.view_mut((first + 1, 0), (count, n));
                    own.copy_from(&changed);
                }
            }
            let friction = changes.iter().map(|change| change.friction);
            let restitution = changes.iter().map(|change| change.restitution);
            out.rows = Some(rows);
            out.friction = Some(DVector::from_iterator(changes.len(), friction));
            out.restitution = Some(DVector::from_iterator(changes.len(), restitution));
        }
        Ok(out)
    }
}
