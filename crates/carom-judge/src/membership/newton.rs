//! Newton's method on the normal impulses of a chain, which moves its end to a velocity.

use super::chain::{CLOSED, Chain, Edges};
use super::linearization::{FIRST_DAMPING, Linearization};
use super::round_chain::{Closings, Path, RoundChain};
use carom_lcp::cone::ConeWorkspace;

/// Largest number of Newton steps for one chain.
const MAX_STEPS: usize = 40;

/// Largest relative change of an impulse in the first step.
const FIRST_REACH: f64 = 0.1;

/// Largest relative change of an impulse in any step.
const REACH: f64 = 0.3;

/// Smallest relative change of an impulse that is tried: smaller ones gain nothing.
const LEAST_REACH: f64 = 1e-12;

/// Largest missed velocity, relative to the norm of the motion, with which a chain is accepted.
const ENOUGH: f64 = 1e-13;

/// Factor by which a step may miss more than the best one so far: the next step may come back.
const RISE: f64 = 3.0;

/// Predicted remainder of a step, as a fraction of what was missed before it, above which the next step may change twice as
/// much.
const SHORT: f64 = 0.3;

/// Largest missed velocity, relative to the norm of the motion, with which a chain is refined.
const NEAR: f64 = 1e-3;

/// Contacts are made to close, or to stop pushing, if their normal velocity, or their impulse, is below this multiple of
/// the missed velocity.
const NEARLY: f64 = 30.0;

/// Largest number of times that such contacts are made to close or to stop pushing.
const MAX_SNAPS: usize = 3;

/// Relative change of a step below which no further gain is possible.
const STILL: f64 = 1e-9;

/// Largest number of successive Newton steps with too little gain.
const MAX_IDLE: usize = 8;

/// Factor by which the missed velocity must decrease to count as a gain.
const GAIN: f64 = 0.9;

/// Chain whose end was moved to the target as far as possible.
#[derive(Clone, Debug)]
pub(super) struct Led {
    chain: RoundChain,
    path: Path,
    /// Index of the target of the chain.
    target: usize,
}

impl Led {
    /// Returns this chain of impulse steps assigned to the target velocity with the index `target`.
    pub(super) fn to(self, target: usize) -> Self {
        Self { target, ..self }
    }

    /// Returns the index of the target velocity to which this chain of impulse steps was led.
    pub(super) fn target(&self) -> usize {
        self.target
    }

    /// Returns the largest velocity by which the chain violates a contact condition or misses its target velocity.
    pub(super) fn missed(&self) -> f64 {
        self.path.missed
    }

    /// Returns the impulses of this chain without steps in which no contact pushes, and the velocity by which it misses
    /// its target.
    pub(super) fn found(&self) -> Chain {
        let steps = self.path.impulses.iter();
        Chain {
            steps: steps
                .filter(|step| step.iter().any(|l| *l != 0.0))
                .cloned()
                .collect(),
            value: self.path.missed,
        }
    }

    /// True if this chain ends so near to its target velocity that a chain with additional steps may reach the target.
    /// `edges` holds the contact velocities of the problem and the scale of the motion.
    pub(super) fn is_near(&self, edges: &Edges) -> bool {
        self.path.missed <= NEAR * edges.norm
    }

    /// Inserts additional steps between the steps of this chain, and continues Newton's method towards the target
    /// velocity, with about `budget` multiply-adds. `edges` holds the friction cones and contact velocities of the
    /// problem. The number of multiply-adds is added to `work`. `None` if the friction impulses of the new chain are
    /// not found.
    pub(super) fn refine(&self, edges: &Edges, budget: u64, work: &mut u64) -> Option<Self> {
        let mut cone = ConeWorkspace::new();
        let refined = self.chain.refined();
        let start = refined.follow(edges, None, &mut cone, work)?;
        let (chain, path) =
            refined.approach(edges, start, Closings::Free, &mut cone, (work, budget));
        Some(Self {
            chain,
            path,
            target: self.target,
        })
    }
}

impl RoundChain {
    /// Changes the normal impulses of the chain by Newton's method so that its end comes as near as possible to the
    /// target velocity, with about `budget` multiply-adds. `closings` determines the treatment of contacts that close.
    /// `edges` holds the friction cones and contact velocities of the problem. The number of multiply-adds is added to
    /// `work`. `None` if the friction impulses of the chain are not found.
    pub(super) fn lead(
        mut self,
        edges: &Edges,
        closings: Closings,
        budget: u64,
        work: &mut u64,
    ) -> Option<Led> {
        let mut cone = ConeWorkspace::new();
        let path = self.follow(edges, None, &mut cone, work)?;
        if closings == Closings::Kept {
            self.close(&path, CLOSED * edges.norm);
        }
        let (mut chain, mut path) =
            self.approach(edges, path, closings, &mut cone, (&mut *work, budget));
        for _ in 0..MAX_SNAPS {
            let missed = path.missed;
            if missed <= ENOUGH * edges.norm || missed > NEAR * edges.norm {
                break;
            }
            let mut snapped = chain.clone();
            snapped.close(&path, NEARLY * missed);
            for l in snapped.normals.iter_mut().flatten() {
                if *l < NEARLY * missed {
                    *l = 0.0;
                }
            }
            let Some(start) = snapped.follow(edges, Some(&path), &mut cone, work) else {
                break;
            };
            let next = snapped.approach(edges, start, closings, &mut cone, (&mut *work, budget));
            if next.1.missed >= missed {
                break;
            }
            (chain, path) = next;
        }
        Some(Led {
            chain,
            path,
            target: 0,
        })
    }

    /// Moves the end of the chain towards the target velocity by Newton steps. Returns the best chain found, with its
    /// impulses and velocities. `edges` holds the friction cones and contact velocities of the problem; `path` holds
    /// the impulses and velocities of the first chain, and `closings` determines the treatment of contacts that close.
    /// The pair (`work`, `budget`) counts and limits the multiply-adds.
    fn approach(
        mut self,
        edges: &Edges,
        mut path: Path,
        closings: Closings,
        cone: &mut ConeWorkspace,
        (work, budget): (&mut u64, u64),
    ) -> (Self, Path) {
        let mut reach = FIRST_REACH;
        let mut damping = FIRST_DAMPING;
        let mut best = (self.clone(), path.clone());
        let (mut idle, mut gained) = (0, path.missed);
        for _ in 0..MAX_STEPS {
            if path.missed <= ENOUGH * edges.norm
                || reach < LEAST_REACH
                || *work > budget
                || idle > MAX_IDLE
            {
                break;
            }
            idle += 1;
            let Some(mut linearization) = Linearization::new(edges, &self, &path, closings, work)
            else {
                break;
            };
            let Some(step) = linearization.step(reach, &mut damping, cone, work) else {
                break;
            };
            let size = step.size;
            match step.path {
                // Written so that NaN fails.
                Some(found) if found.missed < RISE * best.1.missed => {
                    let is_short = step.promised > SHORT * path.missed;
                    (self, path) = (step.chain, found);
                    if path.missed < best.1.missed {
                        best = (self.clone(), path.clone());
                    }
                    if best.1.missed < GAIN * gained {
                        (idle, gained) = (0, best.1.missed);
                    }
                    let wanted = if is_short {
                        2.0 * reach
                    } else {
                        4.0 * step.size
                    };
                    reach = wanted.max(10.0 * path.missed / edges.norm).min(REACH);
                }
                _ => reach = 0.25 * step.size,
            }
            if size < STILL {
                break;
            }
        }
        best
    }
}
