//! Input of `two-body` as bodies: two rigid bodies in world axes, or one body on a fixed half-space.

use crate::derivative::Wanted;
use crate::error::WireError;
use crate::frictional::in_axes;
use crate::options::{Asked, known_law, refused};
use crate::outcome::{audit_fields, warn};
use crate::trace::trace;
use carom_contact::{Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::Law;
use carom_impact::two_body::{BodyPair, RigidBody, TwoBodyError};
use carom_metric::KineticMetric;
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodiesInput {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(default, rename = "group")]
    _group: Value,
    #[serde(default, rename = "kind")]
    _kind: Value,
    law: String,
    #[serde(default)]
    friction: f64,
    #[serde(default)]
    restitution: f64,
    contact: PlaceInput,
    body1: BodyInput,
    body2: Option<BodyInput>,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(default)]
    derivative: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceInput {
    point: [f64; 3],
    normal: [f64; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyInput {
    mass: f64,
    inertia: [[f64; 3]; 3],
    center: [f64; 3],
    #[serde(default)]
    velocity: [f64; 3],
    #[serde(default)]
    angular_velocity: [f64; 3],
}

impl BodyInput {
    fn body(&self) -> RigidBody {
        RigidBody {
            mass: self.mass,
            inertia: Matrix3::from_fn(|i, j| self.inertia[i][j]),
            center: self.center.into(),
            velocity: self.velocity.into(),
            angular_velocity: self.angular_velocity.into(),
        }
    }
}

/// True if the JSON input describes an impact by one or two rigid bodies: its law is `two-body` and it has no mass matrix.
pub(crate) fn is_meant(value: &Value) -> bool {
    let law = value.get("law").and_then(Value::as_str);
    matches!(law.and_then(Law::named), Some(Law::TwoBody(_))) && value.get("mass_matrix").is_none()
}

/// Builds the pair of rigid bodies that touch at one contact point. Without `body2`, body 1 touches a fixed half-space.
/// `contact` holds the point and the normal.
pub(crate) fn pair(
    contact: &PlaceInput,
    body1: &BodyInput,
    body2: Option<&BodyInput>,
) -> Result<BodyPair, WireError> {
    BodyPair::new(
        body1.body(),
        body2.map(BodyInput::body),
        contact.point.into(),
        contact.normal.into(),
    )
    .map_err(|e| match &e {
        TwoBodyError::InvalidBody { body, what } => {
            WireError::new(e.kind(), format!("body{body}: {what}"))
        }
        _ => WireError::at("contact", &e.into()),
    })
}

pub(crate) fn metric(pair: &BodyPair) -> Result<KineticMetric, WireError> {
    KineticMetric::new(pair.mass_matrix())
        .map_err(|e| WireError::at("body masses and inertias", &e.into()))
}

pub(crate) fn contact_set(
    metric: KineticMetric,
    pair: &BodyPair,
    friction: f64,
    restitution: f64,
) -> Result<ContactSet, WireError> {
    let contact = Contact::of_bodies(pair, friction, restitution);
    ContactSet::new(metric, vec![contact]).map_err(|e| match &e {
        ImpactError::InvalidFriction { value, .. } => WireError::new(
            e.kind(),
            format!("friction: {value} must be finite and at least 0"),
        ),
        ImpactError::InvalidRestitution { .. } => WireError::at("restitution", &e),
        _ => WireError::at("contact", &e),
    })
}

pub(crate) fn pose(contacts: &ContactSet, pair: &BodyPair) -> Result<ImpactProblem, WireError> {
    ImpactProblem::new(contacts, pair.velocity()).map_err(|e| WireError::at("velocities", &e))
}

pub(crate) fn resolve(input: &BodiesInput) -> Result<Map<String, Value>, WireError> {
    let asked = Asked::read(&known_law(&input.law)?, &input.options)?;
    let law = asked.law.clone();
    let wanted = Wanted::read(&input.derivative)?;
    let pair = pair(&input.contact, &input.body1, input.body2.as_ref())?;
    let metric = metric(&pair)?;
    let contacts = contact_set(metric, &pair, input.friction, input.restitution)?;
    let problem = pose(&contacts, &pair)?;
    let found = law.resolve(&problem);
    let outcome = found.map_err(|error| refused(&law, &contacts, error))?;
    let frame = pair.frame();
    let [normal, x, y] = [0, 1, 2].map(|i| outcome.impulses[i]);
    let impulse = frame * Vector3::new(x, y, normal);
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("law", law.info().name.into());
    put("impulse", json!([impulse.x, impulse.y, impulse.z]));
    let after = outcome.velocity_plus.0.as_slice();
    for (body, velocities) in after.chunks(6).enumerate() {
        put(
            &format!("velocity{}_plus", body + 1),
            json!(velocities[..3]),
        );
        put(
            &format!("angular_velocity{}_plus", body + 1),
            json!(velocities[3..]),
        );
    }
    put("energy_minus_j", outcome.audit.energy_minus_j.into());
    put("energy_plus_j", outcome.audit.energy_plus_j.into());
    put("status", outcome.status.name().into());
    if let Diagnostics::Frictional(found) = &outcome.diagnostics {
        put("diagnostics", Value::Object(in_axes(found, &frame)));
    }
    put("audit", audit_fields(&outcome.audit));
    if let Some(wanted) = &wanted {
        let jacobian = wanted.jacobian_of_bodies(&problem, &law, &outcome, &frame)?;
        put("jacobian", jacobian);
    }
    if let Some(trace) = trace(&problem, &asked)? {
        put("trace", trace);
    }
    warn(&mut fields, &outcome);
    Ok(fields)
}
