//! The shape of friction cones, and which of a family of outcomes is taken.

use crate::error::WireError;
use carom_impact::ImpactProblem;
use carom_impact::frictional::{ConeSelection, FrictionCone};
use serde::Deserialize;

/// `"round"` or `{"polygon": k}`.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FrictionConeInput {
    Round,
    Polygon(usize),
}

/// `"even"` or `"first"`.
#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SelectionInput {
    #[default]
    Even,
    First,
}

impl SelectionInput {
    pub(crate) fn selection(self) -> ConeSelection {
        match self {
            Self::Even => ConeSelection::Even,
            Self::First => ConeSelection::First,
        }
    }
}

/// The cone that `friction_cone` and the older `friction_directions` ask for together.
pub(crate) fn friction_cone(
    problem: &ImpactProblem<'_>,
    shape: Option<FrictionConeInput>,
    directions: Option<usize>,
) -> Result<FrictionCone, WireError> {
    let refuse = |message: String| Err(WireError::new("invalid-option", message));
    let contacts = problem.contacts().contacts().iter();
    let n_tangents = contacts.map(|c| c.tangents.len()).max().unwrap_or(0);
    let cone = match (shape, directions) {
        (None, None) => FrictionCone::Round,
        (None, Some(k)) => FrictionCone::Polygon(k),
        (Some(FrictionConeInput::Polygon(k)), None) => FrictionCone::Polygon(k),
        (Some(FrictionConeInput::Polygon(k)), Some(other)) if k == other => {
            FrictionCone::Polygon(k)
        }
        (Some(FrictionConeInput::Round), None) => FrictionCone::Round,
        // In the plane two directions are the cone.
        (Some(FrictionConeInput::Round), Some(2)) if n_tangents < 2 => FrictionCone::Polygon(2),
        (Some(_), Some(k)) => {
            return refuse(format!(
                "options.friction_cone and options.friction_directions ({k}) differ: give one of them"
            ));
        }
    };
    if let (Some(FrictionConeInput::Polygon(k)), FrictionCone::Polygon(_)) = (shape, cone) {
        let (is_allowed, allowed) = match n_tangents {
            0 => (k >= 2, "at least 2"),
            1 => (k == 2, "2 in the plane"),
            _ => (k >= 3, "at least 3 in space"),
        };
        if !is_allowed {
            return refuse(format!(
                "options.friction_cone: polygon is {k}: it must be {allowed}"
            ));
        }
    }
    Ok(cone)
}
