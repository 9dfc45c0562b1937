//! Number of directions of a friction polygon.

use super::set_valued::refuse;
use carom_contact::ImpactError;

/// Default number of directions of the friction polygon that replaces the round cone of a contact in space.
pub(super) const DEFAULT_DIRECTIONS: usize = 4;

/// Largest number of directions of a friction polygon. With this many directions, the radii of the inscribed and the
/// circumscribed circle of the polygon differ by less than $10^{-4}$.
const MAX_DIRECTIONS: usize = 256;

/// Returns the number of directions of the friction polygon for contacts with `n_tangents` tangents; `requested` overrides
/// the default.
///
/// # Errors
///
/// [`ImpactError::InvalidOption`] in space for fewer than 4 or more than 256 directions, in the plane for
/// a number other than 2.
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
        let found = requested.unwrap_or(default) as f64;
        refuse("friction_cone (friction_directions)", found, allowed)
    }
}
