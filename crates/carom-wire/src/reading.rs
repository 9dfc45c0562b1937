//! Reading of a measured impact from a line.

use crate::error::WireError;
use crate::judge::measured;
use crate::limits::{MAX_LINE_BYTES, too_large};
use crate::line::{Place, object};
use crate::state::MeasuredImpact;

/// Reads a measured impact from a line of JSON, which has the keys of a line for the command
/// [`Judge`](crate::Command::Judge). Coefficients, laws and options are allowed and not used. `line_number` is used in error
/// messages.
///
/// # Errors
///
/// A [`WireError`] that names the key at fault, also if a velocity is not finite or has a wrong length.
///
/// # Examples
///
/// ```
/// let line = r#"{"id": 3, "group": "a", "mass_matrix": [[2]], "velocity": [-1], "velocity_plus": [0.5],
///     "contacts": [{"normal": [1], "surface": "wall"}]}"#;
/// let impact = carom_wire::read_impact(1, line)?;
/// assert_eq!(impact.id.as_deref(), Some("3"));
/// assert_eq!(impact.touched[0].0.as_deref(), Some("wall"));
/// # Ok::<(), carom_wire::WireError>(())
/// ```
pub fn read_impact(line_number: usize, line: &str) -> Result<MeasuredImpact, WireError> {
    if line.len() > MAX_LINE_BYTES {
        return Err(too_large("line", line.len(), "bytes", MAX_LINE_BYTES));
    }
    measured(object(Place::new(line_number, 1, None), line)?)
}
