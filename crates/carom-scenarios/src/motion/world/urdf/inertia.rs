//! Inertias of a robot's bodies that no mass distribution has.

use super::Inertia;
use super::notes::Notes;
use super::tree::Group;
use crate::lie_group::bouncing::ShapeConfig;
use carom_geometry::{GeometryError, MassProperties};
use nalgebra::Matrix3;

/// Result for one body.
pub(super) struct Mended {
    pub(super) inertia: Matrix3<f64>,
    /// True if the inertia is positive definite and breaks the triangle inequality of its moments.
    pub(super) is_unphysical: bool,
}

/// Checks the inertia of a body, and mends it as `mode` says. `name`: name of the body; `shape`: its collision shape in axes of
/// the body. The error is the fault and the words of `inertia` that would help.
pub(super) fn mend(
    group: &Group,
    name: &str,
    shape: Option<&ShapeConfig>,
    mode: Inertia,
    notes: &mut Notes,
) -> Result<Mended, String> {
    let as_given = Mended {
        inertia: group.inertia,
        is_unphysical: false,
    };
    let Err(error) = MassProperties::new(group.mass, group.inertia) else {
        return Ok(as_given);
    };
    let is_definite = matches!(error, GeometryError::InertiaUnphysical { .. });
    let fault = |why: &str| Err(format!("`{name}`: {error}{why}"));
    let told = match mode {
        Inertia::Strict => return fault(""),
        Inertia::Given | Inertia::Balance if !is_definite => {
            return fault(", which \"shape\" alone mends");
        }
        Inertia::Given => {
            notes.warn("inertia", name, &format!("{error}; it stays as it is"));
            return Ok(Mended {
                is_unphysical: true,
                ..as_given
            });
        }
        Inertia::Balance => {
            let mean = group.inertia.trace() / 3.0;
            (
                Matrix3::from_diagonal_element(mean),
                "three times the mean moment takes its place",
            )
        }
        Inertia::Shape => {
            let Some(shape) = shape else {
                return fault(", and it has no collision shape");
            };
            let uniform = shape.build("shape").map_err(|error| error.to_string());
            let uniform = uniform.and_then(|shape| {
                shape
                    .mass_properties(group.mass)
                    .map_err(|error| error.to_string())
            });
            match uniform {
                Ok(properties) => (
                    *properties.inertia(),
                    "that of its shapes, uniform, takes its place",
                ),
                Err(why) => return fault(&format!(", and its shape has none: {why}")),
            }
        }
    };
    let (inertia, why) = told;
    notes.warn("inertia", name, &format!("{error}; {why}"));
    Ok(Mended {
        inertia,
        is_unphysical: false,
    })
}
