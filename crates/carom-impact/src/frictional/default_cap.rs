//! Default upper bound of the normal impulses of a random impact step.

use super::impact_stepper::ImpactStepper;
use super::stepper::StepWorkspace;

/// Largest number of times that the default size is multiplied by [`USUAL_STEPS`].
const WEDGED: usize = 12;

/// Number of steps of the default size in which the impulses of the simultaneous impact can be made.
const USUAL_STEPS: f64 = 16.0;

/// Fraction of its upper bound from which a normal impulse counts as limited by it.
const AT_CAP: f64 = 0.999;

/// Computes the default upper bound (cap) of a normal impulse in one step, see [`SetValued::impulse_step`]. `stepper`:
/// impulse steps of the contacts; `before`: velocities of the normalized contact rows before the impact; `sizes`: sizes
/// of their summed terms, for rounding errors.
pub(super) fn default_cap(stepper: &ImpactStepper<'_>, before: &[f64], sizes: &[f64]) -> f64 {
    let width = stepper.space.width();
    let normals = before.iter().step_by(width);
    let stopping = normals.fold(0.0, |largest, b| f64::max(largest, -b));
    let mut workspace = StepWorkspace::new();
    let mut cap = stopping;
    for _ in 0..WEDGED {
        let most = USUAL_STEPS * cap;
        if !(cap > 0.0 && most.is_finite()) {
            break;
        }
        workspace.set_cover(0, None);
        workspace.made = sizes.to_vec();
        let caps = vec![most; stepper.space.n_contacts];
        if stepper.solve(before, &caps, &mut workspace).is_err() {
            break;
        }
        let mut pushes = workspace.impulse.iter().step_by(width);
        if pushes.all(|push| *push < AT_CAP * most) {
            return cap;
        }
        cap = most;
    }
    stopping
}
