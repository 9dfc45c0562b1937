//! Errors of laws that carry outcomes or a proof.

use crate::error::WireError;
use crate::outcome::{by_contact, outcome_fields};
use crate::zeros::drop_signs_of_zeros;
use carom_contact::{ContactIndex, ContactSet, Diagnostics, ImpactError, ImpactOutcome};
use carom_impact::frictional::{ContactMode, EndMode};
use serde_json::{Value, json};

/// Converts an error of a law at these contacts to an error in JSON form.
pub(crate) fn of_law(contacts: &ContactSet, error: &ImpactError) -> WireError {
    let evidence = match error {
        ImpactError::Ambiguous { outcomes } => Some(("outcomes", isolated(contacts, outcomes))),
        ImpactError::InfeasibleLaw {
            proof: Some(proof), ..
        } => {
            let impulses = by_contact(contacts, proof.as_slice());
            Some(("proof", json!({ "impulses": impulses })))
        }
        _ => None,
    };
    WireError {
        evidence: evidence.map(Box::new),
        ..WireError::of(error)
    }
}

/// Returns the key `would_be` and the outcome that a nonholonomic law would give although a contact still approaches after it:
/// the velocity, and the effective restitution of the first impact.
pub(crate) fn would_be(error: &ImpactError) -> Option<(&'static str, Value)> {
    let ImpactError::InfeasibleLaw {
        found: Some(outcome),
        ..
    } = error
    else {
        return None;
    };
    let Diagnostics::Nonholonomic(found) = &outcome.diagnostics else {
        return None;
    };
    let velocity = outcome.velocity_plus.0.as_slice();
    let value = json!({
        "velocity_plus": velocity,
        "effective_restitution": found.effective_restitution,
    });
    Some(("would_be", value))
}

/// Writes the outcomes of an ambiguous impact as those of `anitescu-potra` are, with the combination of modes in which each
/// of them ends.
fn isolated(contacts: &ContactSet, outcomes: &[ImpactOutcome]) -> Value {
    let written = outcomes.iter().map(|outcome| {
        let mut fields = outcome_fields(contacts, outcome);
        fields.remove("warnings");
        let ends = contacts.indices().zip(outcome.diagnostics.modes());
        let modes: Vec<&str> = ends
            .map(|(i, mode)| mode_name(end_mode(contacts, outcome, i, *mode)))
            .collect();
        fields.insert("diagnostics".to_owned(), json!({ "modes": [modes] }));
        drop_signs_of_zeros(&mut fields);
        Value::Object(fields)
    });
    written.collect()
}

/// Returns the mode of a contact with the direction in which it slides along its tangent.
fn end_mode(
    contacts: &ContactSet,
    outcome: &ImpactOutcome,
    contact: ContactIndex,
    mode: ContactMode,
) -> EndMode {
    let tangent = contacts.contacts()[contact.index()].tangents.first();
    match (mode, tangent) {
        (ContactMode::Open, _) => EndMode::Open,
        (ContactMode::Stick, _) | (ContactMode::Slide, None) => EndMode::Stick,
        (ContactMode::Slide, Some(row)) if row.0.dot(&outcome.velocity_plus.0) < 0.0 => {
            EndMode::SlideMinus
        }
        (ContactMode::Slide, Some(_)) => EndMode::SlidePlus,
    }
}

/// Returns the name of a mode in records.
pub(crate) fn mode_name(mode: EndMode) -> &'static str {
    match mode {
        EndMode::Open => "open",
        EndMode::Stick => "stick",
        EndMode::SlidePlus => "slide-plus",
        EndMode::SlideMinus => "slide-minus",
        EndMode::SaturatedStick => "saturated-stick",
        EndMode::SaturatedPlus => "saturated-plus",
        EndMode::SaturatedMinus => "saturated-minus",
    }
}
