//! Newton's method on the normal impulses of a chain, which moves its end to a velocity.
//!
//! Samples of round cones rarely end at the judged velocity, and the directions of sliding are not known in advance.
//! Without this method nine in ten of the members in space that take several steps are not found.

use super::chain::{Chain, Edges};
use super::linearization::{FIRST_DAMPING, Linearization};
use super::round_chain::RoundChain;
use crate::tolerances::EQUAL;
use carom_lcp::contact_problem::Workspace;

/// Control of the Newton steps for one chain.
struct Control {
    /// Largest number of Newton steps for one chain.
    max_steps: usize,
    /// Largest relative change of an impulse in the first step.
    first_reach: f64,
    /// Largest relative change of an impulse in any step.
    reach: f64,
    /// Largest missed velocity, relative to the norm of the motion, with which a chain is accepted.
    enough: f64,
    /// Factor by which a step may miss more than the best one so far: the next step may come back.
    rise: f64,
    /// Predicted remainder of a step, as a fraction of what was missed before it, above which the next step may change twice as
    /// much.
    short: f64,
    /// Largest number of successive Newton steps with too little gain.
    max_idle: usize,
    /// Factor by which the missed velocity must decrease to count as a gain.
    gain: f64,
}

/// Values of [`Control`].
const CONTROL: Control = Control {
    max_steps: 40,
    first_reach: 0.1,
    reach: 0.3,
    enough: 1e-13,
    rise: 3.0,
    short: 0.3,
    max_idle: 8,
    gain: 0.9,
};

impl RoundChain {
    /// Changes the normal impulses of the chain by Newton's method so that its end comes as near as possible to the
    /// target velocity, with about `budget` multiply-adds. `edges` holds the friction cones and contact velocities of the
    /// problem. The number of multiply-adds is added to `work`. Returns the nearest chain; `None` if the friction impulses
    /// of the first chain are not found.
    pub(super) fn lead(mut self, edges: &Edges, budget: u64, work: &mut u64) -> Option<Chain> {
        let mut cone = Workspace::default();
        let mut path = self.follow(edges, None, &mut cone, work)?;
        let mut reach = CONTROL.first_reach;
        let mut damping = FIRST_DAMPING;
        let mut best = path.clone();
        let (mut idle, mut gained) = (0, path.missed);
        for _ in 0..CONTROL.max_steps {
            if path.missed <= CONTROL.enough * edges.norm
                || *work > budget
                || idle > CONTROL.max_idle
            {
                break;
            }
            idle += 1;
            let linearization = Linearization::new(edges, &self, &path, work);
            let step =
                linearization.and_then(|linear| linear.step(reach, &mut damping, &mut cone, work));
            let Some(step) = step else {
                break;
            };
            let size = step.size;
            match step.path {
                // Written so that NaN fails.
                Some(found) if found.missed < CONTROL.rise * best.missed => {
                    let is_short = step.promised > CONTROL.short * path.missed;
                    (self, path) = (step.chain, found);
                    if path.missed < best.missed {
                        best.clone_from(&path);
                    }
                    if best.missed < CONTROL.gain * gained {
                        (idle, gained) = (0, best.missed);
                    }
                    let wanted = if is_short { 2.0 * reach } else { 4.0 * size };
                    reach = wanted
                        .max(10.0 * path.missed / edges.norm)
                        .min(CONTROL.reach);
                }
                _ => reach = 0.25 * size,
            }
            if size < EQUAL {
                break;
            }
        }
        Some(best.into_chain())
    }
}
