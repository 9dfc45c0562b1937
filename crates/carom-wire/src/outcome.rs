//! Outcomes as JSON.

use crate::frictional;
use carom_contact::{
    Audit, ConeDiagnostics, ContactIndex, ContactSet, Diagnostics, FrictionCone, ImpactOutcome,
    OutcomeSet, PoissonDiagnostics,
};
use serde_json::{Map, Value, json};

/// Writes the completeness of a set of outcomes as JSON fields. `complete` is true if the set contains every outcome;
/// otherwise the rate of new outcomes among the samples estimates the missing part.
pub(crate) fn set_fields(set: &OutcomeSet) -> Map<String, Value> {
    let followed = || {
        let paths = set
            .outcomes
            .iter()
            .map(|outcome| match &outcome.diagnostics {
                Diagnostics::Propagative(found) => found.n_sequences,
                _ => 1,
            });
        paths.fold(0u64, u64::saturating_add)
    };
    let fields = json!({
        "complete": set.complete,
        "orders": set.drawn.map_or_else(followed, |drawn| drawn.orders),
        "distinct": set.outcomes.len() + set.omitted,
        "indeterminacy": set.indeterminacy,
        "indeterminacy_is": if set.complete { "exact" } else { "lower-bound" },
        "new_outcome_rate": set.drawn.map_or(0.0, |drawn| drawn.new_outcome_rate),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

pub(crate) fn outcome_fields(contacts: &ContactSet, outcome: &ImpactOutcome) -> Map<String, Value> {
    let impulses = by_contact(contacts, outcome.impulses.as_slice());
    let audit = &outcome.audit;
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("velocity_plus", json!(outcome.velocity_plus.0.as_slice()));
    put("impulses", json!(impulses));
    if !outcome.constraint_impulses.is_empty() {
        put(
            "constraint_impulses",
            json!(outcome.constraint_impulses.as_slice()),
        );
    }
    put("energy_minus_j", audit.energy_minus_j.into());
    put("energy_plus_j", audit.energy_plus_j.into());
    put("status", outcome.status.name().into());
    put("diagnostics", diagnostics(contacts, outcome));
    put("audit", audit_fields(audit));
    warn(&mut fields, outcome);
    fields
}

/// Adds to the JSON fields the warnings of an outcome, and the ratio of the energies after and before the impact if energy
/// was gained.
pub(crate) fn warn(fields: &mut Map<String, Value>, outcome: &ImpactOutcome) {
    if let Some(ratio) = outcome.audit.energy_gain {
        fields.insert("energy_ratio".to_owned(), ratio.into());
    }
    let warnings: Vec<&str> = outcome.warnings().iter().map(|w| w.name()).collect();
    if !warnings.is_empty() {
        fields.insert("warnings".to_owned(), json!(warnings));
    }
}

/// Splits a list of numbers, one per row of the contact matrix, into one list per contact.
pub(crate) fn by_contact<'n>(contacts: &ContactSet, numbers: &'n [f64]) -> Vec<&'n [f64]> {
    contacts
        .indices()
        .filter_map(|i| numbers.get(contacts.row_range(i)))
        .collect()
}

pub(crate) fn audit_fields(audit: &Audit) -> Value {
    json!({
        "contact_work_j": audit.contact_work_j,
        "momentum_residual": audit.momentum_residual,
        "penetration_residual": audit.penetration_residual,
        "adhesion_residual": audit.adhesion_residual,
        "friction_residual": audit.friction_residual,
        "constraint_residual": audit.constraint_residual,
        "digits": audit.digits,
    })
}

/// Returns the JSON name of a friction cone: `"round"`, or the number of directions of a polygonal cone.
fn cone_name(cone: FrictionCone) -> Value {
    match cone {
        FrictionCone::Round => "round".into(),
        FrictionCone::Polygon(k) => k.into(),
    }
}

fn diagnostics(contacts: &ContactSet, outcome: &ImpactOutcome) -> Value {
    let mut fields = of_law(contacts, outcome);
    let modes = outcome.diagnostics.modes().iter().map(|mode| mode.name());
    let modes: Vec<&str> = modes.collect();
    if !modes.is_empty() {
        fields.insert("modes".to_owned(), json!(modes));
    }
    Value::Object(fields)
}

/// Writes the diagnostics that a law reports besides the modes of the contacts as JSON fields.
fn of_law(contacts: &ContactSet, outcome: &ImpactOutcome) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    match &outcome.diagnostics {
        Diagnostics::Propagative(d) => {
            if let Some(sequence) = &d.sequence {
                put("sequence", json!(sequence));
            }
            put("impacts", d.impacts.into());
            put("n_sequences", d.n_sequences.into());
            if !d.lengths.is_empty() {
                put("lengths", json!(d.lengths));
            }
            put("alpha", d.alpha.into());
            put("adhesive", json!(d.adhesive));
        }
        Diagnostics::Plastic { adhesive } => {
            put("adhesive", json!(adhesive));
        }
        Diagnostics::Complementarity {
            pivots,
            velocity_residual,
            polygon,
            ..
        } => {
            put("pivots", (*pivots).into());
            put("velocity_residual", (*velocity_residual).into());
            if let Some(polygon) = polygon {
                put("cone", cone_name(polygon.cone));
                put("cone_residual", polygon.cone_residual.into());
                put("cone_error", polygon.cone_error.into());
            }
        }
        Diagnostics::Cone(cone) => return cone_fields(cone),
        Diagnostics::Poisson(phases) => return poisson_fields(contacts, phases),
        Diagnostics::Sequential {
            sequence,
            closed_at_once,
            nearby_effect,
            pivots,
            velocity_residual,
            cone,
            cone_residual,
            ..
        } => {
            if let Some(cone) = cone {
                let key = match cone {
                    FrictionCone::Round => "residual",
                    FrictionCone::Polygon(_) => "cone_residual",
                };
                put("cone", cone_name(*cone));
                put(key, (*cone_residual).into());
            }
            put("velocity_residual", (*velocity_residual).into());
            put("sequence", json!(sequence));
            if let Some(effect) = nearby_effect {
                put("nearby_effect", (*effect).into());
            }
            if !closed_at_once.is_empty() {
                put("closed_at_once", json!(closed_at_once));
            }
            put("pivots", (*pivots).into());
        }
        Diagnostics::SetValued {
            sample,
            steps,
            pivots,
            velocity_residual,
            ..
        } => {
            put("sample", (*sample).into());
            put("steps", (*steps).into());
            put("pivots", (*pivots).into());
            put("velocity_residual", (*velocity_residual).into());
        }
        Diagnostics::Frictional(found) => return frictional::diagnostics(found),
        Diagnostics::Nonholonomic(d) => {
            if let Some(e) = d.effective_restitution {
                put("effective_restitution", e.into());
            }
            if let Some(c) = d.cos2_beta {
                put("cos2_beta", c.into());
            }
            put("sequence", json!(d.sequence));
            put("alpha", normal_impulses(contacts, outcome));
            put("lambda", json!(outcome.constraint_impulses.as_slice()));
        }
        Diagnostics::Rough => {
            put("alpha", normal_impulses(contacts, outcome));
            put("lambda", json!(outcome.constraint_impulses.as_slice()));
        }
        _ => {}
    }
    fields
}

/// Writes the solver diagnostics of an impact with round friction cones as JSON fields.
fn cone_fields(cone: &ConeDiagnostics) -> Map<String, Value> {
    let rank = match (cone.family, cone.shares_impulses) {
        (0, Some(false)) => Some("unique"),
        (0, Some(true)) => Some("shared-impulses"),
        (0, None) => None,
        _ => Some("family"),
    };
    fields([
        ("cone", cone_name(FrictionCone::Round)),
        ("residual", cone.residual.into()),
        ("rank", rank.into()),
        ("family", cone.family.into()),
        ("selection", cone.selection.name().into()),
        ("pivots", 0.into()),
        ("newton_steps", cone.newton_steps.into()),
    ])
}

/// Writes the diagnostics of Poisson's impact law as JSON fields, with the impulses of the compression phase per contact.
fn poisson_fields(contacts: &ContactSet, phases: &PoissonDiagnostics) -> Map<String, Value> {
    let compression = phases.compression.as_slice();
    fields([
        ("compression", json!(by_contact(contacts, compression))),
        ("scale", phases.scale.into()),
        ("residual", phases.residual.into()),
        ("cone", cone_name(phases.cone)),
        ("family", phases.family.into()),
        ("selection", phases.selection.name().into()),
        ("pivots", phases.pivots.into()),
        ("newton_steps", phases.newton_steps.into()),
    ])
}

/// Builds a JSON object with the given pairs of key and value, in this order.
fn fields<const N: usize>(list: [(&str, Value); N]) -> Map<String, Value> {
    list.into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Writes the normal impulses of an outcome as JSON: a number if there is one contact, a list if there are several.
fn normal_impulses(contacts: &ContactSet, outcome: &ImpactOutcome) -> Value {
    let normal = |i: ContactIndex| outcome.impulses.get(contacts.row(i).index()).copied();
    let all: Vec<f64> = contacts.indices().filter_map(normal).collect();
    match all.as_slice() {
        [one] => (*one).into(),
        _ => json!(all),
    }
}
