//! Number of directions of a friction polygon.

use carom_contact::ImpactError;

/// Directions of the friction polygon in space if none are asked for.
pub const DEFAULT_DIRECTIONS: usize = 4;

/// The most directions of a friction polygon: with so many its corners and sides differ by less than
/// $10^{-4}$.
pub const MAX_DIRECTIONS: usize = 256;

/// Directions for contacts with `n_tangents` tangents.
///
/// # Errors
///
/// [`ImpactError::InvalidOption`] for fewer than 4 or more than [`MAX_DIRECTIONS`] in space, or other
/// than 2 in the plane.
pub fn directions(n_tangents: usize, requested: Option<usize>) -> Result<usize, ImpactError> {
    let (default, is_allowed, allowed) = match n_tangents {
        0 => return Ok(0),
        1 => (2, requested.is_none_or(|k| k == 2), "2 in the plane"),
        _ => (
            DEFAULT_DIRECTIONS,
            requested.is_none_or(|k| (4..=MAX_DIRECTIONS).contains(&k)),
            "4 to 256 in space",
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
