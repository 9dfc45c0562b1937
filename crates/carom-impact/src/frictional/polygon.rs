//! How many directions a friction polygon has.

use crate::ImpactError;

/// Directions of the friction polygon in space if none are asked for.
pub const DEFAULT_DIRECTIONS: usize = 4;

/// Directions for contacts with `n_tangents` tangents.
///
/// # Errors
///
/// [`ImpactError::InvalidOption`] for fewer than 3 in space, or other than 2 in the plane.
pub(crate) fn directions(
    n_tangents: usize,
    requested: Option<usize>,
) -> Result<usize, ImpactError> {
    let (default, is_allowed, allowed) = match n_tangents {
        0 => return Ok(0),
        1 => (2, requested.is_none_or(|k| k == 2), "2 in the plane"),
        _ => (
            DEFAULT_DIRECTIONS,
            requested.is_none_or(|k| k >= 3),
            "at least 3 in space",
        ),
    };
    if is_allowed {
        Ok(requested.unwrap_or(default))
    } else {
        Err(ImpactError::InvalidOption {
            what: "friction_directions",
            value: requested.unwrap_or(default) as f64,
            allowed,
        })
    }
}
