//! One step of a frictional impact as a complementarity problem.

use super::polygon::directions;
use super::space::ContactSpace;
use crate::{ContactSet, ImpactError};
use carom_lcp::{ContactLcp, LcpRef, LcpStatus, Lemke, LemkeOptions, LemkeWorkspace};
use carom_metric::{Tangent, kernel};
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};

/// Largest violation of complementarity of an accepted step, over the largest velocity.
const GOOD_RESIDUAL: f64 = 1e-9;

/// Covering vectors tried before a step counts as unsolved.
const MAX_ATTEMPTS: u64 = 16;

/// Which impulse an unknown of the complementarity problem makes.
#[derive(Clone, Debug)]
struct Unknown {
    /// Scale $S_i$: the problem solved is $SMS$, $Sq$.
    scale: f64,
    /// Slots and coefficients of the impulse; empty for multipliers.
    slots: Vec<(usize, f64)>,
}

/// The complementarity problem of a contact space, up to its vector.
///
/// Symmetric scaling keeps the matrix copositive: unknowns are divided by the square root of their
/// diagonal entry, cone multipliers by $\sqrt{\max(\mu, 1)}$ (on the rows as given), cap
/// multipliers inversely to their normal impulse. Without it friction coefficients of $10^5$ lose
/// everything.
#[derive(Clone, Debug)]
pub(super) struct StepProblem {
    n_caps: usize,
    n_directions: usize,
    unknowns: Vec<Unknown>,
    /// Scaled matrix, column after column.
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
        let mut unknowns = Vec::with_capacity(n);
        let mut unit = vec![0.0; n];
        for i in 0..n {
            unit[i] = 1.0;
            let impulse = lcp.impulses(&unit)?;
            unit[i] = 0.0;
            let nonzero = impulse
                .iter()
                .copied()
                .enumerate()
                .filter(|(_, c)| *c != 0.0);
            unknowns.push(Unknown {
                scale: 1.0,
                slots: nonzero.collect(),
            });
        }
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
                space.cone_scale(i - n_caps - n_impulses)
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

    /// Solves for the impulses on the slots, given their velocities, the caps on normal slots (if
    /// the problem has them) and Newton restitutions of the normals (if any). Impulses and
    /// velocities after are left in the workspace.
    ///
    /// The sliding speed $\gamma$ of an open contact may be anything large. A path that pivots on
    /// rounding makes it $10^{12}$, and a residual relative to it hides any error. So the answer is
    /// judged by its impulses and velocities alone, and another covering vector is tried if it
    /// fails.
    pub(super) fn solve(
        &self,
        space: &ContactSpace,
        velocity: &[f64],
        caps: &[f64],
        restitution: &[f64],
        workspace: &mut StepWorkspace,
    ) -> Result<(), ImpactError> {
        let width = space.width();
        let e = |slot: usize| match restitution.get(slot / width) {
            Some(e) if slot.is_multiple_of(width) => *e,
            _ => 0.0,
        };
        self.vector(velocity, caps, e, &mut workspace.vector);
        let size = kernel::max_abs(velocity);
        workspace.n_pivots = 0;
        let mut best = f64::INFINITY;
        let mut status = LcpStatus::Inaccurate;
        for attempt in 0..MAX_ATTEMPTS {
            if attempt > 0 {
                let mut rng = CounterRng::new(0, attempt, 0);
                workspace.set_cover(self.dim(), Some(&mut || 0.5 + rng.next_uniform()));
            }
            let StepWorkspace {
                lemke,
                memory,
                vector,
                impulse,
                after,
                n_pivots,
                ..
            } = &mut *workspace;
            let report = lemke.solve_into(LcpRef::new(&self.matrix, vector)?, memory)?;
            *n_pivots += report.n_pivots;
            if report.status != LcpStatus::Solved {
                status = report.status;
                best = best.min(report.certificate.residual);
                continue;
            }
            impulse.clear();
            impulse.resize(velocity.len(), 0.0);
            self.add_impulse(memory.z(), impulse);
            after.clear();
            after.extend_from_slice(velocity);
            for (column, l) in space.gram.column_iter().zip(impulse.iter()) {
                if *l != 0.0 {
                    kernel::add_scaled(after, *l, column.as_slice());
                }
            }
            let residual = self.residual(space, velocity, caps, e, workspace) / size;
            workspace.residual = residual;
            if residual <= GOOD_RESIDUAL {
                return Ok(());
            }
            best = best.min(residual);
        }
        Err(ImpactError::Complementarity {
            status,
            residual: best,
        })
    }

    /// The scaled vector of the problem for velocities of the slots, caps and restitutions of them.
    pub(super) fn vector(
        &self,
        velocity: &[f64],
        caps: &[f64],
        e: impl Fn(usize) -> f64,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        for (i, unknown) in self.unknowns.iter().enumerate() {
            let mut w = match caps.get(i) {
                Some(cap) if i < self.n_caps => *cap,
                _ => 0.0,
            };
            for (slot, c) in &unknown.slots {
                w += c * velocity[*slot] * (1.0 + e(*slot));
            }
            out.push(unknown.scale * w);
        }
    }

    /// How far impulses and velocities of the last attempt are from complementarity: the largest
    /// $|\lambda_n - \mathrm{clamp}(\lambda_n - b_n^+, 0, \lambda_{\max})|$,
    /// $|\min(\lambda_D, b_D^+ + \gamma)|$ and $|\min(\gamma, \mu\lambda_n - \sum\lambda_D)|$ with
    /// the smallest admissible $\gamma = \max(0, -b_D^+)$, in slots of unit length.
    fn residual(
        &self,
        space: &ContactSpace,
        velocity: &[f64],
        caps: &[f64],
        e: impl Fn(usize) -> f64,
        workspace: &StepWorkspace,
    ) -> f64 {
        let (m, width) = (space.n_contacts, space.width());
        let after = &workspace.after;
        let mut largest = 0.0f64;
        let mut raise = |x: f64| {
            largest = if x.abs() <= largest { largest } else { x.abs() };
        };
        for i in 0..m {
            let slot = i * width;
            let normal = workspace.impulse[slot];
            let cap = caps.get(i).copied().unwrap_or(f64::INFINITY);
            let b = after[slot] + e(slot) * velocity[slot];
            raise(normal - (normal - b).clamp(0.0, cap));
            if space.n_tangents == 0 {
                continue;
            }
            let k = self.n_directions;
            let first = self.n_caps + m + i * k;
            let directions = first..first + k;
            let speed = |unknown: &Unknown| -> f64 {
                let terms = unknown.slots.iter().map(|(slot, c)| c * after[*slot]);
                terms.sum()
            };
            let unknowns = &self.unknowns[directions.clone()];
            let gamma = unknowns.iter().fold(0.0, |g, u| f64::max(g, -speed(u)));
            let mut slack = space.friction[i] * normal;
            for (unknown, z) in unknowns.iter().zip(&workspace.memory.z()[directions]) {
                let impulse = z * unknown.scale;
                slack -= impulse;
                raise(impulse.min(speed(unknown) + gamma));
            }
            raise(gamma.min(slack));
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

    /// Impulses on the slots that scaled unknowns mean.
    pub(super) fn impulse(&self, z: &[f64], n_slots: usize) -> Vec<f64> {
        let mut impulse = vec![0.0; n_slots];
        self.add_impulse(z, &mut impulse);
        impulse
    }

    /// Scale of an unknown.
    pub(super) fn scale(&self, unknown: usize) -> f64 {
        self.unknowns[unknown].scale
    }

    /// The matrix of the scaled problem.
    pub(super) fn scaled_matrix(&self) -> DMatrix<f64> {
        let n = self.dim();
        DMatrix::from_column_slice(n, n, &self.matrix)
    }

    /// Multipliers of the last solve: $\beta$ of the caps and $\gamma$ of the cones, m each or
    /// empty.
    pub(super) fn multipliers(&self, workspace: &StepWorkspace) -> (Vec<f64>, Vec<f64>) {
        let z = |i: usize| workspace.memory.z()[i] * self.unknowns[i].scale;
        let beta = (0..self.n_caps).map(z).collect();
        let is_cone = |i: &usize| *i >= self.n_caps && self.unknowns[*i].slots.is_empty();
        let gamma = (0..self.dim()).filter(is_cone).map(z).collect();
        (beta, gamma)
    }
}

/// Memory that steps reuse, and the covering vector that chooses among solutions.
#[derive(Clone, Debug)]
pub struct StepWorkspace {
    lemke: Lemke,
    memory: LemkeWorkspace,
    vector: Vec<f64>,
    /// Impulses on the slots that the last solve found.
    pub(super) impulse: Vec<f64>,
    /// Velocities of the slots after it.
    pub(super) after: Vec<f64>,
    pub(super) n_pivots: usize,
    pub(super) residual: f64,
}

impl Default for StepWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

impl StepWorkspace {
    /// An empty workspace.
    pub fn new() -> Self {
        Self {
            lemke: Lemke {
                options: LemkeOptions::default(),
            },
            memory: LemkeWorkspace::new(),
            vector: Vec::new(),
            impulse: Vec::new(),
            after: Vec::new(),
            n_pivots: 0,
            residual: 0.0,
        }
    }

    /// The covering vector of the next solves, n entries, each the `entry` of its index; the
    /// vector of ones if there is none.
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

/// What one step did, in the units of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Velocity after the step (n).
    pub velocity: Tangent,
    /// Impulses on the contact rows as given, N·s.
    pub impulses: DVector<f64>,
    /// Multipliers $\beta$ of the caps, in units of the contacts' normal velocities: how fast a
    /// saturated contact still approaches.
    pub cap_multipliers: Vec<f64>,
    /// Sliding speeds $\gamma$ of the contacts, in units of their tangential velocities; empty
    /// without friction.
    pub sliding: Vec<f64>,
    /// Scale-free residual of the complementarity problem.
    pub residual: f64,
    /// Pivots made.
    pub n_pivots: usize,
}

/// The step of the set-valued law, Halm & Posa, Eqs. (72)-(75): the simultaneous problem with a
/// cap on every normal impulse.
///
/// Everything that depends on the configuration alone is built once.
///
/// # Examples
///
/// A cap of 1 N·s leaves the point approaching:
///
/// ```
/// use carom_impact::{Contact, ContactSet};
/// use carom_impact::frictional::{ImpactStepper, StepWorkspace};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact {
///     normal: Covector::from_slice(&[0.0, 1.0]),
///     tangents: vec![Covector::from_slice(&[1.0, 0.0])],
///     friction: 0.5,
///     restitution: 0.0,
/// };
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let stepper = ImpactStepper::new(&contacts, None)?;
/// let v = Tangent::from_slice(&[3.0, -2.0]);
/// let step = stepper.step(&v, &[1.0], None, &mut StepWorkspace::new())?;
/// let expected = Tangent::from_slice(&[2.5, -1.0]);
/// assert!((step.velocity.0 - expected.0).amax() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImpactStepper<'a> {
    contacts: &'a ContactSet<'a>,
    pub(super) space: ContactSpace,
    pub(super) problem: StepProblem,
}

impl<'a> ImpactStepper<'a> {
    /// Builds the step for contacts; `friction_directions` of the polygon in space (4 if `None`).
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`], [`ImpactError::Lcp`] for too many contacts.
    pub fn new(
        contacts: &'a ContactSet<'a>,
        friction_directions: Option<usize>,
    ) -> Result<Self, ImpactError> {
        let space = ContactSpace::new(contacts);
        let k = directions(space.n_tangents, friction_directions)?;
        let problem = StepProblem::new(&space, k, true)?;
        Ok(Self {
            contacts,
            space,
            problem,
        })
    }

    /// The contacts.
    pub fn contacts(&self) -> &'a ContactSet<'a> {
        self.contacts
    }

    /// Unknowns of the complementarity problem, m(k + 3) with friction: the length of `cover`.
    pub fn dim(&self) -> usize {
        self.problem.dim()
    }

    /// One step from a velocity (n) with caps on the impulses on the normal rows as given (m,
    /// N·s). Where several answers exist, the covering vector (positive, [`dim`](Self::dim)
    /// entries; ones if `None`) decides which is found.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for the velocity, [`ImpactError::InvalidOption`] for a negative cap
    /// or a wrong number of them, [`ImpactError::Lcp`] for the covering vector,
    /// [`ImpactError::Complementarity`].
    pub fn step(
        &self,
        velocity: &Tangent,
        caps: &[f64],
        cover: Option<&[f64]>,
        workspace: &mut StepWorkspace,
    ) -> Result<Step, ImpactError> {
        let m = self.space.n_contacts;
        if caps.len() != m {
            return Err(ImpactError::InvalidOption {
                what: "number of caps",
                value: caps.len() as f64,
                allowed: "one for each contact",
            });
        }
        if let Some(cap) = caps.iter().find(|cap| !(**cap >= 0.0 && cap.is_finite())) {
            return Err(ImpactError::InvalidOption {
                what: "cap",
                value: *cap,
                allowed: "finite and not negative",
            });
        }
        let problem = crate::ImpactProblem::new(self.contacts, velocity.clone())?;
        let scale = problem.scale();
        let slots = self.space.velocity(problem.momentum());
        let caps: Vec<f64> = caps
            .iter()
            .enumerate()
            .map(|(i, cap)| cap * self.space.normal_norm(i) * scale)
            .collect();
        match cover {
            None => workspace.set_cover(0, None),
            Some(cover) => {
                let mut entries = cover.iter().copied();
                let mut next = || entries.next().unwrap_or(f64::NAN);
                workspace.set_cover(cover.len(), Some(&mut next));
            }
        }
        self.problem
            .solve(&self.space, slots.as_slice(), &caps, &[], workspace)?;
        let (mut beta, mut gamma) = self.problem.multipliers(workspace);
        for (i, beta) in beta.iter_mut().enumerate() {
            *beta *= self.space.normal_norm(i) / scale;
        }
        for (i, gamma) in gamma.iter_mut().enumerate() {
            *gamma *= self.space.tangent_norm(i) / scale;
        }
        let outcome = self.space.outcome(
            &problem,
            &workspace.impulse,
            crate::ImpactStatus::Resolved,
            crate::Diagnostics::Complementarity {
                pivots: workspace.n_pivots,
            },
        )?;
        Ok(Step {
            velocity: outcome.velocity_plus,
            impulses: outcome.impulses,
            cap_multipliers: beta,
            sliding: gamma,
            residual: workspace.residual,
            n_pivots: workspace.n_pivots,
        })
    }
}
