//! Which way to change the normal impulses of a chain in round friction cones.

use super::chain::Edges;
use super::round::{Closings, Path, RoundChain};
use crate::nnls::nonnegative_least_squares;
use carom_lcp::cone::{ConeMode, ConeWorkspace};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Rows of a contact.
pub(super) const WIDTH: usize = 3;

/// Unknowns of the largest problem.
const MAX_UNKNOWNS: usize = 96;

/// By how much an impulse may change more than the share of itself, over the norm of the motion.
const ROOM: f64 = 0.1;

/// The shares of what is missed that may be left, tried in turn.
const SHARES: [f64; 4] = [0.02, 0.1, 0.4, 0.9];

/// By which share of itself an impulse may become less in a step.
const LESS: f64 = 0.8;

/// An impulse below this, over the norm of the motion, is none.
const NOTHING: f64 = 1e-11;

/// A contact that opens more slowly than this at the velocity asked about, over the norm of the motion, is closed.
const CLOSED: f64 = 1e-9;

/// A contact that slides more slowly than this, over the norm of the motion, sticks.
const SLOW: f64 = 1e-11;

/// Compliance of sticking contacts, over the diagonal of their tangents: it decides between dependent ones.
const COMPLIANCE: f64 = 1e-10;

/// Compliance of the equations for changes, over their sizes: they may depend on each other.
const SOFT: f64 = 1e-14;

/// Steps in which what is not linear in the one before is taken into account.
const N_CORRECTIONS: usize = 4;

/// Gradients above this, over their terms, are none.
const GRADIENT: f64 = 1e-13;

/// Conditions that no changes meet leave at least this height of the least-distance problem.
const LEAST_HEIGHT: f64 = 1e-9;

/// A chain and what small changes of its normal impulses do.
pub(super) struct Steering<'a> {
    edges: &'a Edges,
    chain: &'a RoundChain,
    path: &'a Path,
    /// The normal impulses that may change: step and contact.
    unknowns: Vec<(usize, usize)>,
    /// The unit in which each changes.
    room: Vec<f64>,
    /// Slot velocities after each step that unit changes make, slots × unknowns.
    effects: Vec<DMatrix<f64>>,
    /// Slot velocities after each step without changes, as far as effects are linear.
    bent: Vec<Vec<f64>>,
}

/// A changed chain.
pub(super) struct Step {
    pub(super) chain: RoundChain,
    /// What becomes of it, if that was found.
    pub(super) path: Option<Path>,
    /// What it should have missed, to first order.
    pub(super) promised: f64,
    /// The largest change, over the room for it.
    pub(super) size: f64,
}

impl<'a> Steering<'a> {
    /// `None` if nothing may change, or too much.
    pub(super) fn new(
        edges: &'a Edges,
        chain: &'a RoundChain,
        path: &'a Path,
        closings: Closings,
        work: &mut u64,
    ) -> Option<Self> {
        let mut steering = Self {
            edges,
            chain,
            path,
            unknowns: Vec::new(),
            room: Vec::new(),
            effects: Vec::new(),
            bent: path.after.clone(),
        };
        steering.add_unknowns(closings);
        if steering.unknowns.is_empty() || steering.unknowns.len() > MAX_UNKNOWNS {
            return None;
        }
        steering.add_effects(work)?;
        Some(steering)
    }

    fn last(&self) -> usize {
        self.chain.normals.len().saturating_sub(1)
    }

    /// The impulses of contacts that push, of ones that could if closings are free, and in the last step
    /// of those that are closed at the velocity asked about.
    fn add_unknowns(&mut self, closings: Closings) {
        let zero = CLOSED * self.edges.norm;
        let steps = self.chain.normals.iter().zip(&self.path.after);
        for (step, (normals, velocity)) in steps.enumerate() {
            for (contact, l) in normals.iter().enumerate() {
                let slot = contact * WIDTH;
                let may_change = if step == self.last() {
                    self.edges.target[slot] <= zero
                } else {
                    *l > 0.0 || (closings == Closings::Free && velocity[slot] < 0.0)
                };
                if may_change {
                    self.unknowns.push((step, contact));
                    self.room.push(l + ROOM * self.edges.norm);
                }
            }
        }
    }

    /// The unknowns of a step, with their places.
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

    /// The contacts on which friction acts in a step, or may, and what they do.
    fn frictional(&self, step: usize) -> Vec<(usize, Motion)> {
        let slow = SLOW * self.edges.norm;
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
            let sticks = self.path.modes[step][contact] == ConeMode::Stick || speed <= slow;
            let motion = if sticks {
                Motion::Stick
            } else {
                Motion::Slide {
                    direction: [x / speed, y / speed],
                    ratio: friction * l / speed,
                }
            };
            frictional.push((contact, motion));
        }
        frictional
    }

    /// The equations of friction, differentiated with respect to it.
    fn friction_matrix(&self, frictional: &[(usize, Motion)]) -> DMatrix<f64> {
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
                Motion::Stick => COMPLIANCE * (gram[(slot, slot)] + gram[(slot + 1, slot + 1)]),
                Motion::Slide { .. } => 1.0,
            };
            for k in 0..2 {
                matrix[(2 * row + k, 2 * row + k)] += diagonal;
            }
        }
        matrix
    }

    /// The same with respect to the unknowns, negative.
    fn friction_rhs(
        &self,
        step: usize,
        frictional: &[(usize, Motion)],
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
            if let Motion::Slide { direction, .. } = motion {
                for (j, _) in self.own(step).filter(|(_, contact)| contact == i) {
                    for (k, d) in direction.iter().enumerate() {
                        rhs[(2 * row + k, j)] -= self.edges.space.friction[*i] * d;
                    }
                }
            }
        }
        rhs
    }

    /// What the first-order velocity of a slot after a step lacks, and the changes of it that unit changes make.
    fn condition(&self, step: usize, slot: usize, wanted: f64) -> (f64, impl Iterator<Item = f64>) {
        let row = self.effects[step].row(slot);
        let changes = (0..self.room.len()).map(move |j| row[j] * self.room[j]);
        (wanted - self.bent[step][slot], changes)
    }

    /// The velocities that the changes must bring about: the end, and normal velocities of contacts that close.
    fn targets(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let last = self.last();
        let end = self.edges.target.iter().enumerate();
        let closings = self
            .unknowns
            .iter()
            .filter(move |(step, contact)| *step < last && self.chain.closes[*step][*contact]);
        end.map(move |(slot, target)| (last, slot, *target))
            .chain(closings.map(|(step, contact)| (*step, contact * WIDTH, 0.0)))
    }

    /// The steps and slots of contacts that push and may not open.
    fn pushing(&self) -> impl Iterator<Item = (usize, usize)> {
        let last = self.last();
        let pushing = self.unknowns.iter().filter(move |(step, _)| *step < last);
        pushing.map(|(step, contact)| (*step, contact * WIDTH))
    }

    /// How much less each impulse may become, in the units of the room for it.
    fn less(&self) -> impl Iterator<Item = f64> {
        let unknowns = self.unknowns.iter().zip(&self.room);
        unknowns.map(|((step, contact), room)| LESS * self.chain.normals[*step][*contact] / room)
    }

    /// The least changes that bring about the targets, whatever else they do: one factorization.
    fn straight(&self, work: &mut u64) -> Option<DVector<f64>> {
        let n = self.unknowns.len();
        let mut entries: Vec<f64> = Vec::new();
        let mut lacking: Vec<f64> = Vec::new();
        for (step, slot, wanted) in self.targets() {
            let (lacks, changes) = self.condition(step, slot, wanted);
            entries.extend(changes);
            lacking.push(lacks);
        }
        let rows = lacking.len();
        let matrix = DMatrix::from_row_slice(rows, n, &entries);
        let mut gram = &matrix * matrix.transpose();
        let soft = SOFT * gram.trace();
        for i in 0..rows {
            gram[(i, i)] += soft;
        }
        *work += (rows * rows * (n + rows)) as u64;
        let multipliers = gram.cholesky()?.solve(&DVector::from_vec(lacking));
        Some(matrix.tr_mul(&multipliers))
    }

    /// Whether changes leave no more than a share of what is missed to first order, and no impulse too small.
    fn allows(&self, changes: &DVector<f64>, share: f64) -> bool {
        let allowed = share * self.path.missed;
        let left = |step, slot, wanted: f64| {
            let (lacks, effects) = self.condition(step, slot, wanted);
            let made: f64 = effects.zip(changes.iter()).map(|(e, y)| e * y).sum();
            lacks - made
        };
        // Written so that NaN fails.
        self.less().zip(changes.iter()).all(|(less, y)| *y >= -less)
            && self
                .targets()
                .all(|(step, slot, b)| left(step, slot, b).abs() <= allowed)
            && self
                .pushing()
                .all(|(step, slot)| left(step, slot, 0.0) >= -allowed)
    }

    /// The changes, in the units of the room for each, that are least in the sum of squares and leave a
    /// share of what is missed to first order; `None` if there are none.
    ///
    /// A least-distance problem with inequalities, by nonnegative least squares (Lawson & Hanson, *Solving Least
    /// Squares Problems*, 1974, chapter 23). `unit` is a size that changes may have.
    fn least(&self, share: f64, unit: f64, work: &mut u64) -> Option<DVector<f64>> {
        let n = self.unknowns.len();
        let scale = 1.0 / unit;
        let allowed = share * self.path.missed;
        let mut columns: Vec<f64> = Vec::new();
        let mut ask = |step, slot, sign: f64, wanted: f64| {
            let (lacks, changes) = self.condition(step, slot, wanted);
            columns.extend(changes.map(|x| sign * x));
            columns.push(scale * (sign * lacks - allowed));
        };
        for (step, slot, wanted) in self.targets() {
            ask(step, slot, 1.0, wanted);
            ask(step, slot, -1.0, wanted);
        }
        for (step, slot) in self.pushing() {
            ask(step, slot, -1.0, 0.0);
        }
        for (j, less) in self.less().enumerate() {
            let start = columns.len();
            columns.resize(start + n, 0.0);
            columns[start + j] = 1.0;
            columns.push(-scale * less);
        }
        let conditions = DMatrix::from_vec(n + 1, columns.len() / (n + 1), columns);
        let mut residual = DVector::zeros(n + 1);
        residual[n] = -1.0;
        let multipliers = nonnegative_least_squares(&conditions, &residual, GRADIENT).ok()?;
        let active = multipliers.iter().filter(|x| **x > 0.0).count() + 1;
        *work += (active * (n + 1) * (conditions.ncols() + active * active)) as u64;
        residual += &conditions * multipliers;
        let height = -residual[n];
        (height >= LEAST_HEIGHT).then(|| residual.rows(0, n) / (height * scale))
    }

    /// The changes that leave the least share of what is missed and are at most `reach`, and that share.
    fn changes(&self, reach: f64, work: &mut u64) -> Option<(f64, DVector<f64>)> {
        let straight = self.straight(work);
        if let Some(changes) = straight
            && changes.amax() <= reach
            && self.allows(&changes, SHARES[0])
        {
            return Some((SHARES[0], changes));
        }
        // Changes are about what is missed, unless they hardly do anything.
        for unit in [self.path.missed / self.edges.norm, 1.0] {
            for share in SHARES {
                let Some(changes) = self.least(share, unit, work) else {
                    continue;
                };
                let size = changes.amax();
                if size <= reach {
                    return Some((share, changes));
                }
                let share = 1.0 - (1.0 - share) * reach / size;
                return Some((share, self.least(share, unit, work)?));
            }
        }
        None
    }

    /// The changed chain that misses least, changed by `reach` at most.
    pub(super) fn step(
        &mut self,
        reach: f64,
        cone: &mut ConeWorkspace,
        work: &mut u64,
    ) -> Option<Step> {
        let (share, mut changes) = self.changes(reach, work)?;
        let promised = share * self.path.missed;
        let mut best: Option<Step> = None;
        for _ in 0..N_CORRECTIONS {
            let chain = self.changed(&changes);
            let path = chain.follow(self.edges, cone, work);
            if let Some(path) = &path {
                self.bend(path, &changes);
            }
            let step = Step {
                chain,
                path,
                promised,
                size: changes.amax(),
            };
            let missed = step.missed();
            if best.as_ref().is_some_and(|best| missed >= best.missed()) {
                break;
            }
            best = Some(step);
            if missed <= 2.0 * promised {
                break;
            }
            match self.corrected(share, reach, work) {
                Some(corrected) => changes = corrected,
                None => break,
            }
        }
        best
    }

    /// The changes that leave this share, now that what is not linear is known.
    fn corrected(&self, share: f64, reach: f64, work: &mut u64) -> Option<DVector<f64>> {
        let straight = self.straight(work)?;
        if straight.amax() <= reach && self.allows(&straight, share) {
            return Some(straight);
        }
        let units = [self.path.missed / self.edges.norm, 1.0];
        units
            .into_iter()
            .find_map(|unit| self.least(share, unit, work))
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

    /// Takes what became of changes as what they do: the rest of it stands where there are none.
    fn bend(&mut self, path: &Path, changes: &DVector<f64>) {
        let steps = self.bent.iter_mut().zip(&path.after).zip(&self.effects);
        for ((bent, after), effects) in steps {
            bent.copy_from_slice(after);
            let changes = changes.iter().zip(&self.room);
            for (effect, (change, room)) in effects.column_iter().zip(changes) {
                kernel::add_scaled(bent, -change * room, effect.as_slice());
            }
        }
    }
}

impl Step {
    fn missed(&self) -> f64 {
        self.path.as_ref().map_or(f64::INFINITY, |path| path.missed)
    }
}

/// What a contact with friction does in a step.
#[derive(Clone, Copy, Debug)]
enum Motion {
    Stick,
    /// It slides in a direction; the ratio is that of its friction to its speed.
    Slide {
        direction: [f64; 2],
        ratio: f64,
    },
}

impl Motion {
    /// What the equations of friction see of a change of the sliding velocity.
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
