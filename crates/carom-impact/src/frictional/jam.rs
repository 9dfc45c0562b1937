//! Impulses of contacts that press against each other: so large that they hide the velocities after the impact.

use super::modes::check_planar;
use super::parts::Part;
use super::planar::first_solution;
use carom_contact::residual_scale::divisor;
use carom_contact::{GateRule, ImpactError};
use carom_metric::kernel;

/// Ratio of impulses to velocities above which answers of planar contacts are looked at again: four digits are lost.
pub(super) const SUSPECT: f64 = 1e4;

/// Ratio of impulses to velocities above which less than half of the digits of the velocities after the impact are known.
pub(super) const HEAVIEST: f64 = 6.7e7;

/// Number of pivots per contact above which a search by Lemke's method is long: paths from several covering vectors ended on rays. A
/// path that comes to an answer at once takes fewer.
const LONG_SEARCH: usize = 8;

/// True if planar contacts, few enough to try all combinations of contact modes, were solved by a long search.
pub(super) fn is_long_search(part: &Part<'_>, n_pivots: usize) -> bool {
    n_pivots > LONG_SEARCH * part.space.n_contacts && check_planar(&part.space).is_ok()
}

/// Returns the ratio of the largest impulse of a part to its largest velocity before the impact.
pub(super) fn ratio(part: &Part<'_>, impulse: &[f64]) -> f64 {
    kernel::max_abs(impulse) / divisor(kernel::max_abs(&part.before))
}

/// Error of a part whose impulses are so large that they hide the velocities. `ratio`: see [`ratio`].
pub(super) fn hidden_by(ratio: f64) -> ImpactError {
    ImpactError::Inaccurate {
        rule: GateRule::Cancellation,
        measure: f64::EPSILON * ratio,
        contacts: Vec::new(),
    }
}

/// True if a part is planar, with few enough contacts to try all combinations of contact modes, and no combination has a
/// solution.
pub(super) fn has_no_solution(part: &Part<'_>) -> bool {
    check_planar(&part.space).is_ok()
        && matches!(first_solution(&part.space, &part.before), Ok(None))
}
