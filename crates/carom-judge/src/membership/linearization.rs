//! First-order changes of a chain in round friction cones, caused by changes of its normal impulses.

use super::chain::Edges;
use super::least_squares::{LEAST_DAMPING, LeastSquares};
use super::round_chain::{Path, RoundChain, WIDTH};
use crate::tolerances::EQUAL;
use carom_lcp::contact_problem::{ContactMode, Workspace};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Largest number of unknowns.
const MAX_UNKNOWNS: usize = 96;

/// Part of the room for a change that does not depend on the impulse, relative to the norm of the motion. The room is the
/// impulse plus this part.
const ROOM: f64 = 0.1;

/// Fraction by which an impulse may decrease in one step.
const LESS: f64 = 0.8;

/// An impulse below this, relative to the norm of the motion, counts as zero.
const NOTHING: f64 = 1e-11;

/// Compliance of sticking contacts, relative to the diagonal of their tangents. It selects a solution if contacts are
/// dependent.
const COMPLIANCE: f64 = 1e-10;

/// Damping that is tried first if changes need damping. Dampings are relative to the root of the sum of the squares of
/// the effects of unit changes.
pub(super) const FIRST_DAMPING: f64 = 1e-2;

/// A chain with the first-order effects of changes of its normal impulses.
pub(super) struct Linearization<'a> {
    edges: &'a Edges,
    chain: &'a RoundChain,
    path: &'a Path,
    /// Normal impulses that may change, by step and contact.
    unknowns: Vec<(usize, usize)>,
    /// Unit of change of each unknown.
    room: Vec<f64>,
    /// Changes of the slot velocities after each step by unit changes, slots × unknowns.
    effects: Vec<DMatrix<f64>>,
}

/// A chain changed by one Newton step.
pub(super) struct NewtonStep {
    pub(super) chain: RoundChain,
    /// Path of the chain, if it was found.
    pub(super) path: Option<Path>,
    /// Distance predicted to first order.
    pub(super) promised: f64,
    /// Largest change, in units of its room.
    pub(super) size: f64,
}

impl<'a> Linearization<'a> {
    /// Computes to first order the effect of changes of the normal impulses on the velocities along a chain of impulse
    /// steps. `edges`: friction cones of the contacts, with the velocities before the impact and in the judged outcome.
    /// `path`: impulses and velocities of the chain. The number of multiply-adds is added to `work`. Returns `None` if no normal impulse of the chain may change, if more than
    /// [`MAX_UNKNOWNS`] may change, or if the effects cannot be computed.
    pub(super) fn new(
        edges: &'a Edges,
        chain: &'a RoundChain,
        path: &'a Path,
        work: &mut u64,
    ) -> Option<Self> {
        let mut steering = Self {
            edges,
            chain,
            path,
            unknowns: Vec::new(),
            room: Vec::new(),
            effects: Vec::new(),
        };
        steering.add_unknowns();
        if steering.unknowns.is_empty() || steering.unknowns.len() > MAX_UNKNOWNS {
            return None;
        }
        steering.add_effects(work)?;
        Some(steering)
    }

    fn last(&self) -> usize {
        self.chain.normals.len().saturating_sub(1)
    }

    /// Collects the normal impulses that may change. Before the last step, these are the impulses of contacts that
    /// push or approach. In the last step, they are those of contacts that are closed at the judged velocity.
    fn add_unknowns(&mut self) {
        let zero = EQUAL * self.edges.norm;
        let steps = self.chain.normals.iter().zip(&self.path.after);
        for (step, (normals, velocity)) in steps.enumerate() {
            for (contact, l) in normals.iter().enumerate() {
                let slot = contact * WIDTH;
                let may_change = if step == self.last() {
                    self.edges.target[slot] <= zero
                } else {
                    *l > 0.0 || velocity[slot] < 0.0
                };
                if may_change {
                    self.unknowns.push((step, contact));
                    self.room.push(l + ROOM * self.edges.norm);
                }
            }
        }
    }

    /// Iterates over the normal impulses that may change in the given step of the chain. Each entry is the index of the
    /// impulse among all that may change, and the contact.
    fn own(&self, step: usize) -> impl Iterator<Item = (usize, usize)> {
        let all = self.unknowns.iter().enumerate();
        all.filter(move |(_, (k, _))| *k == step)
            .map(|(j, (_, contact))| (j, *contact))
    }

    fn add_effects(&mut self, work: &mut u64) -> Option<()> {
        let space = &self.edges.space;
        let n_unknowns = self.unknowns.len();
        let mut effect = DMatrix::zeros(space.n_slots(), n_unknowns);
        for step in 0..self.chain.normals.len() {
            for (j, contact) in self.own(step) {
                let mut column = effect.column_mut(j);
                column += space.gram.column(contact * WIDTH);
            }
            let frictional = self.frictional(step);
            let n = 2 * frictional.len();
            if n > 0 {
                let matrix = self.friction_matrix(&frictional);
                let rhs = self.friction_rhs(step, &frictional, &effect);
                let change = matrix.lu().solve(&rhs)?;
                for (row, (contact, _)) in frictional.iter().enumerate() {
                    for t in 0..2 {
                        let g = space.gram.column(contact * WIDTH + 1 + t);
                        effect.ger(1.0, &g, &change.row(2 * row + t).transpose(), 1.0);
                    }
                }
            }
            *work += (n * n * (n + n_unknowns) + space.n_slots() * n * n_unknowns) as u64;
            self.effects.push(effect.clone());
        }
        Some(())
    }

    /// Lists the contacts with friction that push or may push in the given step of the chain, each with its friction
    /// mode (sticking or sliding).
    fn frictional(&self, step: usize) -> Vec<(usize, FrictionMode)> {
        let slow = NOTHING * self.edges.norm;
        let mut frictional = Vec::new();
        for (contact, friction) in self.edges.space.friction.iter().enumerate() {
            let l = self.chain.normals[step][contact];
            let may_push = l > 0.0 || self.own(step).any(|(_, i)| i == contact);
            if *friction == 0.0 || !may_push {
                continue;
            }
            let slot = contact * WIDTH + 1;
            let (x, y) = (self.path.after[step][slot], self.path.after[step][slot + 1]);
            let speed = kernel::norm(&[x, y]);
            let sticks = self.path.modes[step][contact] == ContactMode::Stick || speed <= slow;
            let motion = if sticks {
                FrictionMode::Stick
            } else {
                FrictionMode::Slide {
                    direction: [x / speed, y / speed],
                    ratio: friction * l / speed,
                }
            };
            frictional.push((contact, motion));
        }
        frictional
    }

    /// Assembles the matrix of the linearized friction equations of one step, that is, the derivatives of these
    /// equations with respect to the friction impulses. The matrix has two rows and two columns for each contact in
    /// `frictional`.
    fn friction_matrix(&self, frictional: &[(usize, FrictionMode)]) -> DMatrix<f64> {
        let gram = &self.edges.space.gram;
        let n = 2 * frictional.len();
        let mut matrix = DMatrix::zeros(n, n);
        for (row, (i, motion)) in frictional.iter().enumerate() {
            let slot = i * WIDTH + 1;
            for (column, (j, _)) in frictional.iter().enumerate() {
                for t in 0..2 {
                    let g = gram.column(j * WIDTH + 1 + t);
                    let seen = motion.sees([g[slot], g[slot + 1]]);
                    for (k, x) in seen.into_iter().enumerate() {
                        matrix[(2 * row + k, 2 * column + t)] = x;
                    }
                }
            }
            let diagonal = match motion {
                FrictionMode::Stick => {
                    COMPLIANCE * (gram[(slot, slot)] + gram[(slot + 1, slot + 1)])
                }
                FrictionMode::Slide { .. } => 1.0,
            };
            for k in 0..2 {
                matrix[(2 * row + k, 2 * row + k)] += diagonal;
            }
        }
        matrix
    }

    /// Assembles the right-hand sides of the linearized friction equations of one step: the negative derivatives of the
    /// equations with respect to the normal impulses that may change. There are two rows for each contact in
    /// `frictional`. `effect` has the changes of the contact velocities by unit changes of these normal impulses,
    /// without the friction of this step.
    fn friction_rhs(
        &self,
        step: usize,
        frictional: &[(usize, FrictionMode)],
        effect: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut rhs = DMatrix::zeros(2 * frictional.len(), effect.ncols());
        for (row, (i, motion)) in frictional.iter().enumerate() {
            let slot = i * WIDTH + 1;
            for (column, e) in effect.column_iter().enumerate() {
                let seen = motion.sees([e[slot], e[slot + 1]]);
                for (k, x) in seen.into_iter().enumerate() {
                    rhs[(2 * row + k, column)] = -x;
                }
            }
            if let FrictionMode::Slide { direction, .. } = motion {
                for (j, _) in self.own(step).filter(|(_, contact)| contact == i) {
                    for (k, d) in direction.iter().enumerate() {
                        rhs[(2 * row + k, j)] -= self.edges.space.friction[*i] * d;
                    }
                }
            }
        }
        rhs
    }

    /// Assembles the least-squares problem for the changes of the normal impulses that bring the end of the chain to
    /// the judged velocity, and open no contact that pushes before the last step. An impulse keeps a part of its value.
    /// `work` counts multiply-adds.
    fn least_squares(&self, work: &mut u64) -> LeastSquares {
        let n = self.unknowns.len();
        let last = self.last();
        let targets = self.edges.target.iter().enumerate();
        let targets = targets.map(|(slot, target)| (last, slot, *target));
        let pushing = self.unknowns.iter().filter(|(step, _)| *step < last);
        let pushing = pushing.map(|(step, contact)| (*step, contact * WIDTH, 0.0));
        let conditions: Vec<(usize, usize, f64)> = targets.chain(pushing).collect();
        let rows = DMatrix::from_fn(n, conditions.len(), |j, r| {
            let (step, slot, _) = conditions[r];
            self.effects[step][(slot, j)] * self.room[j]
        });
        let lacking = conditions.iter();
        let lacking = lacking.map(|(step, slot, wanted)| wanted - self.path.after[*step][*slot]);
        *work += (n * conditions.len()) as u64;
        let unknowns = self.unknowns.iter().zip(&self.room);
        let floor = unknowns
            .map(|((step, contact), room)| -LESS * self.chain.normals[*step][*contact] / room);
        let n_targets = self.edges.target.len();
        LeastSquares::new(rows, n_targets, lacking.collect(), floor.collect())
    }

    /// Takes one Newton step: changes the normal impulses so that the chain ends as near to the judged velocity as
    /// possible. No change exceeds `reach`. `damping` is the damping of the previous step on entry, and that of this step
    /// on return. `cone` is the workspace of the friction solver; `work` counts multiply-adds. `None` if no step is found.
    pub(super) fn step(
        &self,
        reach: f64,
        damping: &mut f64,
        cone: &mut Workspace,
        work: &mut u64,
    ) -> Option<NewtonStep> {
        let least_squares = self.least_squares(work);
        let (found, changes, promised) = least_squares.within(reach, *damping, work)?;
        if found > LEAST_DAMPING {
            *damping = found;
        }
        let chain = self.changed(&changes);
        let path = chain.follow(self.edges, Some(self.path), cone, work);
        Some(NewtonStep {
            chain,
            path,
            promised,
            size: changes.amax(),
        })
    }

    fn changed(&self, changes: &DVector<f64>) -> RoundChain {
        let mut chain = self.chain.clone();
        let changes = changes.iter().zip(&self.room);
        for ((step, contact), (change, room)) in self.unknowns.iter().zip(changes) {
            let l = &mut chain.normals[*step][*contact];
            let new = *l + change * room;
            *l = if new > NOTHING * self.edges.norm {
                new
            } else {
                0.0
            };
        }
        chain
    }
}

/// Friction mode of a contact in a step.
#[derive(Clone, Copy, Debug)]
enum FrictionMode {
    Stick,
    /// The contact slides in a direction; `ratio` is its friction limit divided by its sliding speed.
    Slide {
        direction: [f64; 2],
        ratio: f64,
    },
}

impl FrictionMode {
    /// Applies the derivative of the friction equations of a contact with respect to its sliding velocity to a change
    /// $(x, y)$ of this velocity. Returns the resulting changes in the two equations.
    fn sees(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Stick => [x, y],
            Self::Slide {
                direction: [c, s],
                ratio,
            } => {
                let across = ratio * (c * y - s * x);
                [-s * across, c * across]
            }
        }
    }
}
