//! Chains of single impacts, by which the sequential law reaches its answers.

use crate::Case;
use carom_contact::{ContactIndex, ImpactError};
use carom_impact::internal::{SingleImpacts, StepWorkspace};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

/// Largest number of steps of a chain that is listed as a witness.
pub(super) const MAX_LISTED: usize = 256;

/// Impulses on all contact rows and velocity after an impact.
type Impact = (DVector<f64>, Tangent);

/// Solves one inelastic impact of a single contact after the other, in the given order of contacts. Returns the impulses
/// on all contact rows and the velocity after each impact.
pub(super) fn in_turn(case: &Case<'_>, order: &[usize]) -> Result<Vec<Impact>, ImpactError> {
    let singles = SingleImpacts::new(case.problem, case.options.friction_cone)?;
    let mut workspace = StepWorkspace::default();
    let mut momentum = case.before();
    let impacts = order.iter().take(MAX_LISTED).map(|contact| {
        let contact = ContactIndex::new(*contact);
        let (impulses, change) = singles.strike(contact, momentum.as_slice(), &mut workspace)?;
        kernel::add_scaled(momentum.as_mut_slice(), 1.0, &change);
        Ok((impulses, case.velocity(&momentum)))
    });
    impacts.collect()
}
