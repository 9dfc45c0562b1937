//! Complementarity problem of one step of a frictional impact.

use super::cones::{Bounds, Cones, ConesWorkspace};
use super::space::ContactSpace;
use carom_contact::internal::GRAZING_TOLERANCE;
use carom_contact::{ContactIndex, ImpactError};
use carom_lcp::contact_problem::Member;
use carom_lcp::{ContactLcp, LcpRef, LcpStatus, Lemke, LemkeOptions, LemkeWorkspace};
use carom_metric::kernel;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

/// Largest violation of complementarity of an accepted step, as a fraction of the terms of the row.
const GOOD_RESIDUAL: f64 = 1e-9;

/// Fraction of earlier impulses that counts in the terms of a row, relative to [`GOOD_RESIDUAL`]. A step is not rejected for
/// the grazing velocities that cancelled impulses of earlier steps have left.
const EARLIER: f64 = GRAZING_TOLERANCE / GOOD_RESIDUAL;

/// Number of covering vectors tried before a step counts as unsolved.
const MAX_ATTEMPTS: u64 = 16;

/// Compliance added to the diagonal of the scaled matrix, about its rounding error; it makes the impulses of linearly
/// dependent rows unique.
const COMPLIANCE: f64 = 8.0 * f64::EPSILON;

/// Largest velocity, as a fraction of the velocities before, that compliant contacts may leave. A refinement removes the
/// rest.
const YIELDED: f64 = 1e-2;

/// Unknown of the complementarity problem and the impulse that it stands for.
#[derive(Clone, Debug)]
struct Unknown {
    /// Scale $S_i$: with the matrix $M$ and the vector $q$ of the problem, $SMS$ and $Sq$ are solved.
    scale: f64,
    /// Slots and coefficients of the impulse; empty for multipliers.
    slots: SmallVec<[(usize, f64); 2]>,
}

/// Complementarity problem of a contact space, without its right-hand side.
///
/// The scaling is symmetric and keeps the matrix copositive. Rows and columns of impulses are divided by the square root of
/// their diagonal entry, those of cone multipliers by $\sqrt{\max(\hat\mu, 1)}$ (with $\hat\mu$ the friction coefficient
/// of the slots). Those of cap multipliers are multiplied by the square root of the diagonal entry of their normal impulse.
/// Without the scaling, friction coefficients of $10^5$ would lose all accuracy.
#[derive(Clone, Debug)]
pub(super) struct StepProblem {
    n_caps: usize,
    pub(super) n_directions: usize,
    unknowns: Vec<Unknown>,
    /// Scaled matrix, stored column by column.
    matrix: Vec<f64>,
}

impl StepProblem {
    pub(super) fn new(
        space: &ContactSpace,
        n_directions: usize,
        is_capped: bool,
    ) -> Result<Self, ImpactError> {
        let m = space.n_contacts;
        let zero = DVector::zeros(space.n_slots());
        let rows = space.contact_rows(&zero, &space.inelastic);
        let lcp = match (is_capped, space.n_tangents) {
            (true, _) => ContactLcp::with_caps(&rows, n_directions, &space.inelastic)?,
            (false, 0) => ContactLcp::frictionless(&rows)?,
            (false, _) => ContactLcp::new(&rows, n_directions)?,
        };
        let (matrix, n) = (lcp.lcp().matrix(), lcp.lcp().dim());
        let n_caps = if is_capped { m } else { 0 };
        let unknown = |i: usize| Unknown {
            scale: 1.0,
            slots: lcp.rows_of(i).collect(),
        };
        let mut unknowns: Vec<Unknown> = (0..n).map(unknown).collect();
        let n_impulses = unknowns.iter().filter(|u| !u.slots.is_empty()).count();
        for i in 0..n {
            let diagonal = matrix[(i, i)];
            unknowns[i].scale = if i < n_caps {
                matrix[(n_caps + i, n_caps + i)].sqrt()
            } else if i < n_caps + n_impulses {
                if diagonal > 0.0 {
                    1.0 / diagonal.sqrt()
                } else {
                    1.0
                }
            } else {
                space.cone_scale(ContactIndex::new(i - n_caps - n_impulses))
            };
        }
        let mut scaled = Vec::with_capacity(n * n);
        for (j, column) in unknowns.iter().enumerate() {
            for (i, row) in unknowns.iter().enumerate() {
                scaled.push(row.scale * matrix[(i, j)] * column.scale);
            }
        }
        Ok(Self {
            n_caps,
            n_directions,
            unknowns,
            matrix: scaled,
        })
    }

    pub(super) fn dim(&self) -> usize {
        self.unknowns.len()
    }

    /// Solves the impulse step: finds the impulses on the normalized contact rows (slots) from their velocities before the
    /// step. `caps` are upper bounds of the normal impulses, one per contact, or empty if the problem has no bounds.
    /// Impulses and velocities after the step are left in the workspace.
    ///
    /// The multiplier $\gamma$ (sliding speed) of an open contact is not bounded above. If a pivot is a rounding error,
    /// $\gamma$ can become $10^{12}$, and a residual relative to it would hide any error. So an answer is
    /// judged by its impulses and velocities alone; if it fails, another covering vector of Lemke's method is
    /// tried.
    ///
    /// With linearly dependent rows the rounded matrix may have no solution although the impact has one. The last
    /// attempt therefore adds a compliance of about the rounding error.
    pub(super) fn solve(
        &self,
        space: &ContactSpace,
        velocity: &[f64],
        caps: &[f64],
        workspace: &mut StepWorkspace,
    ) -> Result<(), ImpactError> {
        self.vector(velocity, caps, &mut workspace.vector);
        self.add_floors(space, &workspace.floors, &mut workspace.vector);
        workspace.n_pivots = 0;
        let mut best = f64::INFINITY;
        let mut status = LcpStatus::Inaccurate;
        let mut compliant = Vec::new();
        for attempt in 0..=MAX_ATTEMPTS {
            if attempt == MAX_ATTEMPTS {
                workspace.set_cover(0, None);
                compliant = self.compliant_matrix();
            } else if attempt > 0 {
                let mut rng = CounterRng::new(0, attempt, 0);
                workspace.set_cover(self.dim(), Some(&mut || 0.5 + rng.next_uniform()));
            }
            let StepWorkspace {
                lemke,
                memory,
                vector,
                impulse,
                after,
                terms,
                made,
                n_pivots,
                work,
                ..
            } = &mut *workspace;
            let matrix = if compliant.is_empty() {
                &self.matrix
            } else {
                &compliant
            };
            let problem = LcpRef::new(matrix, vector)?;
            // Another covering vector makes Lemke's method take another path.
            let report = lemke.solve_into(problem, memory)?;
            *n_pivots += report.n_pivots as usize;
            let n = self.dim() as u64;
            *work += ATTEMPT_WORK + (report.n_pivots + n) * n * n;
            // Candidates with a bad solver status are also judged below: rows whose terms are only rounding errors say
            // nothing about velocities.
            if !matches!(report.status, LcpStatus::Solved | LcpStatus::Inaccurate) {
                status = report.status;
            }
            // Velocities and impulses decide, not the solver's own tolerance.
            if !kernel::is_finite(memory.z()) {
                continue;
            }
            impulse.clear();
            impulse.resize(velocity.len(), 0.0);
            self.add_impulse(memory.z(), impulse);
            after.clear();
            after.extend_from_slice(velocity);
            terms.clear();
            made.resize(velocity.len(), 0.0);
            let slots = velocity.iter().zip(&*made);
            terms.extend(slots.map(|(b, made)| b.abs() + EARLIER * made));
            for (column, l) in space.gram.column_iter().zip(impulse.iter()) {
                if *l != 0.0 {
                    for ((after, terms), g) in after.iter_mut().zip(&mut *terms).zip(&column) {
                        *after += l * g;
                        *terms += (l * g).abs();
                    }
                }
            }
            let residual = self.residual(space, caps, workspace);
            workspace.residual = residual;
            // Compliant contacts have a solution even if rigid ones have no solution.
            let yielded = COMPLIANCE * kernel::max_abs(&workspace.impulse);
            let is_answer =
                attempt < MAX_ATTEMPTS || yielded <= YIELDED * kernel::max_abs(velocity);
            if residual <= GOOD_RESIDUAL && is_answer {
                let StepWorkspace { terms, made, .. } = &mut *workspace;
                for (made, terms) in made.iter_mut().zip(terms) {
                    *made = f64::max(*made, *terms);
                }
                return Ok(());
            }
            if is_answer {
                best = best.min(residual);
            }
        }
        let pivots = workspace.n_pivots as u64;
        Err(ImpactError::unsolved(status, best, pivots))
    }

    /// Returns the matrix of the problem with a compliance of about the rounding error added to the diagonal entries of
    /// impulses. The compliance makes the impulses of linearly dependent rows unique.
    #[cold]
    fn compliant_matrix(&self) -> Vec<f64> {
        let mut matrix = self.matrix.clone();
        let diagonal = matrix.iter_mut().step_by(self.dim() + 1);
        for (entry, unknown) in diagonal.zip(&self.unknowns) {
            if !unknown.slots.is_empty() {
                *entry += COMPLIANCE;
            }
        }
        matrix
    }

    /// Writes the right-hand side of the complementarity problem to `out`, each entry multiplied by the scale of its
    /// unknown. `velocity`: velocities of the normalized contact rows (slots); `caps`: upper bounds of the normal impulses.
    pub(super) fn vector(&self, velocity: &[f64], caps: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for (i, unknown) in self.unknowns.iter().enumerate() {
            let mut w = match caps.get(i) {
                Some(cap) if i < self.n_caps => *cap,
                _ => 0.0,
            };
            for (slot, c) in &unknown.slots {
                w += c * velocity[*slot];
            }
            out.push(unknown.scale * w);
        }
    }

    /// Adds to the right-hand side `vector`, whose entries are multiplied by the scales of the unknowns, the friction that
    /// given normal impulses `floors` allow. These impulses (one per contact) act in addition to the unknown ones.
    fn add_floors(&self, space: &ContactSpace, floors: &[f64], vector: &mut [f64]) {
        let first = self.dim() - space.n_contacts;
        let cones = self.unknowns.iter().zip(vector).skip(first);
        for ((unknown, w), (floor, friction)) in cones.zip(floors.iter().zip(&space.friction)) {
            if unknown.slots.is_empty() {
                *w += unknown.scale * friction * floor;
            }
        }
    }

    /// Returns the residual of the last attempt, the largest of $|\lambda_n - \mathrm{clamp}(\lambda_n - b_n^+, 0,
    /// \lambda_{\max})|$, $|\min(\lambda_D, b_D^+ + \gamma)|$ and $|\min(\gamma, \mu\lambda_n - \sum\lambda_D)|$. $\lambda$
    /// are impulses and $b^+$ velocities after the step, for the normal $n$ and the polygon directions $D$;
    /// $\lambda_{\max}$ is the upper bound in `caps`. The multiplier is the smallest admissible one, $\gamma = \max(0,
    /// -b_D^+)$. All belong to normalized contact rows, and each is relative to the terms of its sum.
    fn residual(&self, space: &ContactSpace, caps: &[f64], workspace: &StepWorkspace) -> f64 {
        let (m, width) = (space.n_contacts, space.width());
        let (after, terms) = (&workspace.after, &workspace.terms);
        let mut largest = 0.0f64;
        let mut raise = |x: f64, size: f64| {
            let ratio = if x == 0.0 { 0.0 } else { x.abs() / size };
            largest = kernel::larger(largest, ratio);
        };
        for i in 0..m {
            let slot = i * width;
            let normal = workspace.impulse[slot];
            let cap = caps.get(i).copied().unwrap_or(f64::INFINITY);
            let b = after[slot];
            let missed = normal - (normal - b).clamp(0.0, cap);
            raise(missed, terms[slot].max(normal));
            if space.n_tangents == 0 {
                continue;
            }
            let k = self.n_directions;
            let first = self.n_caps + m + i * k;
            let directions = first..first + k;
            let sum = |unknown: &Unknown, of: &[f64]| -> f64 {
                unknown.slots.iter().map(|(slot, c)| c * of[*slot]).sum()
            };
            let size = |unknown: &Unknown| -> f64 {
                let slots = unknown.slots.iter();
                slots.map(|(slot, c)| c.abs() * terms[*slot]).sum()
            };
            let unknowns = &self.unknowns[directions.clone()];
            let mut gamma = 0.0;
            let mut gamma_size = 0.0;
            for unknown in unknowns {
                gamma = f64::max(gamma, -sum(unknown, after));
                gamma_size = f64::max(gamma_size, size(unknown));
            }
            let floor = workspace.floors.get(i).copied().unwrap_or(0.0);
            let mut slack = space.friction[i] * (normal + floor);
            // The impulse of an open contact is a rounding error: it is compared with the largest plausible impulse,
            // not with itself.
            let mut slack_size = space.friction[i] * terms[slot].max(normal + floor);
            for (unknown, z) in unknowns.iter().zip(&workspace.memory.z()[directions]) {
                let impulse = z * unknown.scale;
                slack -= impulse;
                slack_size += impulse.abs();
                let missed = impulse.min(sum(unknown, after) + gamma);
                raise(missed, gamma_size.max(impulse.abs()));
            }
            let unit = |size: f64| if size == 0.0 { 1.0 } else { size };
            raise(
                (gamma / unit(gamma_size)).min(slack / unit(slack_size)),
                1.0,
            );
        }
        largest
    }

    fn add_impulse(&self, z: &[f64], impulse: &mut [f64]) {
        for (unknown, z) in self.unknowns.iter().zip(z) {
            for (slot, c) in &unknown.slots {
                impulse[*slot] += c * unknown.scale * z;
            }
        }
    }

    /// Converts the unknowns `z` of the complementarity problem, divided by their scales, to impulses on the `n_slots`
    /// normalized contact rows.
    pub(super) fn impulse(&self, z: &[f64], n_slots: usize) -> Vec<f64> {
        let mut impulse = vec![0.0; n_slots];
        self.add_impulse(z, &mut impulse);
        impulse
    }

    /// Returns the scale of the unknown with the index `unknown`: the unknown is its scaled value times this number, see
    /// [`Unknown`].
    pub(super) fn scale(&self, unknown: usize) -> f64 {
        self.unknowns[unknown].scale
    }

    /// Returns the square matrix of the complementarity problem, each entry multiplied by the scales of its row and column
    /// so that the diagonal entries of impulses are 1.
    pub(super) fn scaled_matrix(&self) -> DMatrix<f64> {
        let n = self.dim();
        DMatrix::from_column_slice(n, n, &self.matrix)
    }

    /// Returns the multipliers of the last solve: first those of the upper bounds (caps) of the normal impulses, then those
    /// of the friction cones (sliding speeds). Each list has one entry per contact or is empty.
    pub(super) fn multipliers(&self, workspace: &StepWorkspace) -> (Vec<f64>, Vec<f64>) {
        let z = |i: usize| workspace.memory.z()[i] * self.unknowns[i].scale;
        let beta = (0..self.n_caps).map(z).collect();
        let is_cone = |i: &usize| *i >= self.n_caps && self.unknowns[*i].slots.is_empty();
        let gamma = (0..self.dim()).filter(is_cone).map(z).collect();
        (beta, gamma)
    }
}

/// Units of work of an attempt in addition to its pivots.
const ATTEMPT_WORK: u64 = 1000;

/// Work buffers for impulse steps, reused from step to step, with the covering vector of Lemke's method, which decides among
/// several solutions.
#[derive(Clone, Debug)]
pub struct StepWorkspace {
    pub(super) lemke: Lemke,
    pub(super) memory: LemkeWorkspace,
    vector: Vec<f64>,
    /// Impulses on the slots, found by the last solve.
    pub(super) impulse: Vec<f64>,
    /// Velocities of the slots after the step, and the sizes of the terms of these sums.
    pub(super) after: Vec<f64>,
    terms: Vec<f64>,
    /// Sizes of the velocity terms over the event so far, one per slot. The caller sets them at the start of an event.
    pub(super) made: Vec<f64>,
    /// Given normal impulses that act in addition to the unknown ones, one per contact, or empty. Friction is bounded
    /// by the sum of both.
    pub(super) floors: Vec<f64>,
    pub(super) n_pivots: usize,
    pub(super) residual: f64,
    work: u64,
    pub(super) cones: ConesWorkspace,
    /// Buffers for a caller that solves a part of the contacts: velocities of the slots and caps of the part.
    pub(super) of_part: (Vec<f64>, Vec<f64>),
    /// Buffers for such a caller: impulses and velocities of all slots.
    pub(super) of_whole: (Vec<f64>, Vec<f64>),
}

impl Default for StepWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

impl StepWorkspace {
    /// Creates empty work buffers for the steps of an [`ImpactStepper`](super::ImpactStepper).
    pub fn new() -> Self {
        Self {
            // Impulses and velocities are judged in `StepProblem::solve`, which chooses the covering vectors: one path
            // for each.
            lemke: Lemke::default().with_options(
                LemkeOptions::default()
                    .with_max_attempts(1)
                    .with_proofs(false),
            ),
            memory: LemkeWorkspace::new(),
            vector: Vec::new(),
            impulse: Vec::new(),
            after: Vec::new(),
            terms: Vec::new(),
            made: Vec::new(),
            floors: Vec::new(),
            n_pivots: 0,
            residual: 0.0,
            work: 0,
            cones: ConesWorkspace::default(),
            of_part: Default::default(),
            of_whole: Default::default(),
        }
    }

    /// Solves an impulse step with round friction cones from the impulses `start`, or from zero, and leaves impulses and
    /// velocities in the workspace. `velocity`: velocities of the normalized contact rows; `member`: choice among several answers.
    pub(super) fn solve_cones(
        &mut self,
        cones: &Cones,
        velocity: &[f64],
        bounds: Bounds<'_>,
        start: &[f64],
        member: Member,
    ) -> Result<(), ImpactError> {
        let report = cones.solve(velocity, bounds, start, member, &mut self.cones)?;
        self.impulse.clone_from(&self.cones.impulse);
        self.after.clone_from(&self.cones.after);
        self.n_pivots = report.newton_steps;
        self.residual = report.residual;
        Ok(())
    }

    /// Returns the units of work of all solves so far, about a multiply-add each. The units are counted, not timed, so
    /// that budgets end at equal points on every machine.
    pub(super) fn work(&self) -> u64 {
        self.work + self.cones.work
    }

    /// Sets the covering vector (start direction) of Lemke's method for the next solves. The vector has `n` entries,
    /// returned by calls of `entry`; if `entry` is `None`, all are one.
    pub(super) fn set_cover(&mut self, n: usize, entry: Option<&mut dyn FnMut() -> f64>) {
        let Some(entry) = entry else {
            self.lemke.options.cover = None;
            return;
        };
        let cover = self.lemke.options.cover.get_or_insert_with(Vec::new);
        cover.clear();
        cover.extend((0..n).map(|_| entry()));
    }
}
