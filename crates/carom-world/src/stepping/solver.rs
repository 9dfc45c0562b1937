//! Contact problem of one island in one step.
//!
//! The impulses of a step satisfy
//! $0 \le \lambda_n \perp u_n + \max(g, 0)/h \ge 0$ with friction in the circular cone: within the step of length $h$ no gap
//! $g$ closes beyond contact. If a contact closes faster than the threshold, the impulses follow the law `poisson`. The gap of
//! such a contact then counts as closed. A compression without restitution is followed by an expansion with normal impulses of
//! at least $p = s e\lambda_n$. Here $e$ is the restitution, and the factor $s$ in \[0, 1\] is the largest for which the impulses
//! gain no energy.

use super::contact::{Contact, Starts};
use super::island::Island;
use super::options::StepCounts;
use super::tolerances::{
    CAPPED, GAIN, GROWTHS, LEAST_TOLERANCE, PRESSED, RESTARTS, SCALE_ACCURACY, SCALE_STEPS,
    TIGHTER, WRONG_WORK,
};
use crate::body::Body;
use crate::rows::Rows;
use carom_lcp::LcpError;
use carom_lcp::cone::{
    BodyRows, ConeMode, SparseConeOptions, SparseConeProblem, SparseConeWorkspace, SparseContact,
};

/// Data of the contact problem of one island.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub(super) bodies: &'t [Body],
    pub(super) island: &'t Island,
    pub(super) contacts: &'t [Contact],
    pub(super) rows: &'t Rows,
    /// Velocities of all contact rows before the step (m/s).
    pub(super) before: &'t [f64],
    /// Velocities of all contact rows after gravity has acted, without contact impulses (m/s).
    pub(super) free: &'t [f64],
    /// Length of the step (s).
    pub(super) h: f64,
    /// Change of velocity by gravity in a regular step (m/s).
    pub(super) fall: f64,
    /// Approach speed from which contacts restitute (m/s).
    pub(super) threshold: f64,
    /// Residual at which the solver stops.
    pub(super) tolerance: f64,
}

/// Solution of an island: three impulses (N s) for each of its contacts, in the contact frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) impulses: Vec<f64>,
    pub(super) modes: Vec<ConeMode>,
    /// Initial guesses for the next round, one per contact.
    pub(super) starts: Vec<Starts>,
    /// Work of the impulses (J).
    pub(super) work: f64,
    /// True if the impulses of a problem gain more energy than rounding explains.
    pub(super) gains: bool,
    pub(super) counts: StepCounts,
}

/// Solver of one island, with buffers that are reused.
#[derive(Debug)]
pub(super) struct Solver {
    problem: SparseConeProblem,
    workspace: SparseConeWorkspace,
    /// Impulses from which the next solution starts.
    from: Vec<f64>,
    starts: Vec<Starts>,
    velocity: Vec<f64>,
    /// Rate at which each gap may close, $\max(g, 0)/h$, reduced by the part that rotation closes (m/s).
    closing: Vec<f64>,
    found: Found,
    /// True if the best impulses of a problem of this step gain more energy than rounding explains.
    gains: bool,
    counts: StepCounts,
}

/// Solution of a contact problem: impulses, velocities after them, and the modes of the contacts.
#[derive(Clone, Debug, Default)]
struct Found {
    residual: f64,
    /// Wrong work of the impulses, as a multiple of what is allowed: see [`Solver::gain`].
    gain: f64,
    impulse: Vec<f64>,
    velocity: Vec<f64>,
    modes: Vec<ConeMode>,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            problem: SparseConeProblem::of_bodies(),
            workspace: SparseConeWorkspace::new(),
            from: Vec::new(),
            starts: Vec::new(),
            velocity: Vec::new(),
            closing: Vec::new(),
            found: Found::default(),
            gains: false,
            counts: StepCounts::default(),
        }
    }
}

impl Solver {
    pub(super) fn solve(&mut self, task: &Task<'_>) -> Result<Answer, LcpError> {
        self.counts = StepCounts::default();
        self.gains = false;
        self.pose(task)?;
        self.starts.clear();
        let contacts = task.island.contacts.iter().map(|c| &task.contacts[*c]);
        self.starts.extend(contacts.map(|contact| contact.starts));
        if !self.restitutes() {
            let force = self.starts.iter().flat_map(|start| start.force);
            self.from.clear();
            self.from.extend(force);
            self.search(task)?;
            let impulses = self.found.impulse.chunks_exact(3);
            for (start, l) in self.starts.iter_mut().zip(impulses) {
                start.force.copy_from_slice(l);
                start.compression.copy_from_slice(l);
            }
            if !self.grow(task) {
                let impulses = self.found.impulse.clone();
                return Ok(self.answer(task, impulses));
            }
        }
        self.compress(task)?;
        self.expand(task)
    }

    fn restitutes(&self) -> bool {
        self.starts.iter().any(|start| start.restitutes)
    }

    /// Solves the compression phase of an impact of one island (bodies connected by contacts), given by `task`, in
    /// which impulses without restitution end the approach of all contacts. Further contacts that approach fast and are
    /// pressed join the rebounding ones, and the problem is solved again, at most [`GROWTHS`] times.
    fn compress(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        for (start, closing) in self.starts.iter().zip(&mut self.closing) {
            if start.restitutes {
                *closing = closing.min(0.0);
            }
        }
        for growth in 1..=GROWTHS {
            self.shift(task)?;
            let compression = self.starts.iter().flat_map(|start| start.compression);
            self.from.clear();
            self.from.extend(compression);
            self.search(task)?;
            let impulses = self.found.impulse.chunks_exact(3);
            for (start, l) in self.starts.iter_mut().zip(impulses) {
                start.compression.copy_from_slice(l);
            }
            if growth == GROWTHS || !self.grow(task) {
                break;
            }
        }
        Ok(())
    }

    fn answer(&mut self, task: &Task<'_>, impulses: Vec<f64>) -> Answer {
        Answer {
            work: self.work(task, &impulses),
            modes: self.found.modes.clone(),
            starts: self.starts.clone(),
            impulses,
            gains: self.gains,
            counts: self.counts,
        }
    }

    /// Sets up the contact problem without restitution of the island (bodies connected by contacts) in `task`: its
    /// bodies, its contacts, and the velocities of the contacts without impulses.
    fn pose(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        self.problem.clear();
        self.closing.clear();
        for &body in &task.island.bodies {
            self.problem.push_body(&mass_matrix(&task.bodies[body]))?;
        }
        for &c in &task.island.contacts {
            let contact = &task.contacts[c];
            let closing =
                (contact.point.gap.max(0.0) + contact.nonlinearity.unwrap_or(0.0)) / task.h;
            let side = |side: &Option<(usize, [[f64; 6]; 3])>| {
                let (body, rows) = (*side)?;
                let body = task.island.place(body)?;
                Some(BodyRows { body, rows })
            };
            let [first, second] = task.rows.of_bodies(c);
            let Some(first) = side(&first) else { continue };
            let &[n, x, y] = &task.free[3 * c..3 * c + 3] else {
                continue;
            };
            self.problem.push_contact(&SparseContact {
                first,
                second: side(&second),
                velocity: [n + closing, x, y],
                friction: contact.friction,
                floor: 0.0,
            })?;
            self.closing.push(closing);
        }
        Ok(())
    }

    /// Solves the present contact problem, that of the island (bodies connected by contacts) in `task`, from the
    /// initial guess `from`. If the residual is too large, it tries again from zero, then from multiples of the best
    /// impulses found so far. If the residual is small but the impulses gain energy, because opposed impulses are so large
    /// that their rounding matters, it first continues to smaller residuals. The best result is kept in any case.
    fn search(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        self.counts.n_problems += 1;
        self.found.residual = f64::INFINITY;
        self.found.gain = f64::INFINITY;
        self.found.impulse.clear();
        let start = std::mem::take(&mut self.from);
        self.attempt(task, &start, task.tolerance)?;
        self.from = start;
        if self.found.residual <= task.tolerance {
            for fraction in TIGHTER {
                if self.is_accurate(task) {
                    break;
                }
                let start = self.found.impulse.clone();
                self.attempt(task, &start, fraction * task.tolerance)?;
            }
        }
        for scale in RESTARTS {
            if self.is_accurate(task) {
                break;
            }
            let start: Vec<f64> = self.found.impulse.iter().map(|l| scale * l).collect();
            self.attempt(task, &start, task.tolerance)?;
        }
        if !self.found.residual.is_finite() {
            let (what, index, value) = ("impulses", 0, self.found.residual);
            return Err(LcpError::NonFinite { what, index, value });
        }
        self.gains |= !(self.found.gain <= 1.0);
        let is_accurate = self.is_accurate(task);
        let (counts, residual) = (&mut self.counts, self.found.residual);
        counts.n_inaccurate += usize::from(!is_accurate);
        counts.worst_residual = if residual <= counts.worst_residual {
            counts.worst_residual
        } else {
            residual
        };
        Ok(())
    }

    /// Returns true if the impulses found last meet the tolerance of `task` and gain no significant energy.
    fn is_accurate(&self, task: &Task<'_>) -> bool {
        self.found.residual <= task.tolerance && self.found.gain <= 1.0
    }

    /// Solves the present contact problem, that of the island (bodies connected by contacts) in `task`, once, from the
    /// impulses `start` (empty: zero) up to the residual `tolerance`. The result is kept if it is better than all results
    /// before: if it misses its limits of residual and energy by a smaller factor.
    fn attempt(&mut self, task: &Task<'_>, start: &[f64], tolerance: f64) -> Result<(), LcpError> {
        let tolerance = tolerance.max(LEAST_TOLERANCE);
        let options = SparseConeOptions::new(tolerance, tolerance)?;
        let answer = self.workspace.solve_from(&self.problem, start, &options)?;
        self.counts.newton_steps += answer.n_newton_steps + answer.n_interior_steps;
        self.counts.sweeps += answer.n_sweeps;
        let gain = self.gain(task);
        let error = |residual: f64, gain: f64| (residual / task.tolerance).max(gain).max(1.0);
        let (new, old) = (
            error(answer.residual, gain),
            error(self.found.residual, self.found.gain),
        );
        if new < old || (new == old && answer.residual < self.found.residual) {
            let (found, workspace) = (&mut self.found, &self.workspace);
            found.residual = answer.residual;
            found.gain = gain;
            found.impulse.clear();
            found.impulse.extend_from_slice(workspace.impulse());
            found.velocity.clear();
            found.velocity.extend_from_slice(workspace.velocity());
            found.modes.clear();
            found.modes.extend_from_slice(workspace.modes());
        }
        Ok(())
    }

    /// Returns the energy that the impulses of the workspace gain against the contact laws, as a multiple of what is
    /// allowed. The sum of $(\lambda_n - p)u_n + \lambda_t\cdot u_t$ is not positive for exact impulses, with $u$ the
    /// velocities after them and $p$ the least normal impulse; the part of $u_n$ that rows ask for because rotation closes the gap
    /// does not count. Allowed is the largest possible work of exact impulses, $\sum m(gh)^2/8$, and rounding. `task`: contact
    /// problem of one island (bodies connected by contacts).
    fn gain(&self, task: &Task<'_>) -> f64 {
        let (impulse, after) = (self.workspace.impulse(), self.workspace.velocity());
        let (mut gain, mut size) = (0.0, 0.0);
        let contacts = task.island.contacts.iter().zip(self.problem.floors());
        for (k, (&c, floor)) in contacts.enumerate() {
            let (l, u) = (&impulse[3 * k..3 * k + 3], &after[3 * k..3 * k + 3]);
            let before = &task.before[3 * c..3 * c + 3];
            let opening = u[0] - self.closing[k].max(0.0);
            gain += (l[0] - floor) * opening + l[1] * u[1] + l[2] * u[2];
            size += (0..3).map(|r| l[r].abs() * before[r].abs()).sum::<f64>();
        }
        let mass = task.island.bodies.iter();
        let mass: f64 = mass
            .filter_map(|body| Some(task.bodies[*body].rigid.as_ref()?.mass()))
            .sum();
        let allowed = 0.125 * mass * task.fall * task.fall + WRONG_WORK * size;
        if gain > 0.0 { gain / allowed } else { 0.0 }
    }

    /// Marks further contacts of the island in `task` (bodies connected by contacts) that rebound: those with
    /// restitution that approach faster than the impact threshold and are pressed. Returns true if a contact was added.
    ///
    /// An impulse is compared with the one that would stop its contact alone: other contacts of the island may have impulses of
    /// any size.
    fn grow(&mut self, task: &Task<'_>) -> bool {
        let Found { impulse, modes, .. } = &self.found;
        let mut grows = false;
        for (k, &c) in task.island.contacts.iter().enumerate() {
            let still = task.contacts[c].tolerance / task.h;
            let approach = -task.before[3 * c];
            let is_fast = approach > task.threshold.max(still);
            let stopped = task.rows.mobility_entry(3 * c, 3 * c) * impulse[3 * k];
            let is_pressed = modes[k] != ConeMode::Open && stopped > PRESSED * approach;
            let restitutes = &mut self.starts[k].restitutes;
            if !*restitutes && task.contacts[c].restitution > 0.0 && is_fast && is_pressed {
                *restitutes = true;
                self.closing[k] = self.closing[k].min(0.0);
                grows = true;
            }
        }
        grows
    }

    /// Sets the contact velocities (m/s) of the present contact problem, that of the island (bodies connected by
    /// contacts) in `task`. The contact velocities are those after gravity has acted, plus the rate at which each gap
    /// may close within the step.
    fn shift(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        self.velocity.clear();
        for (&c, closing) in task.island.contacts.iter().zip(&self.closing) {
            let free = &task.free[3 * c..3 * c + 3];
            self.velocity.extend([free[0] + closing, free[1], free[2]]);
        }
        self.problem.set_velocity(&self.velocity)
    }

    /// Returns the work $\lambda\cdot(u^- + u^+)/2$ (J) of the impulses $\lambda$, with the contact velocities $u^-$
    /// before and $u^+$ after the impulses. $u^+$ is taken from the last solution, which must have ended with these
    /// impulses. `task`: contact problem of one island (bodies connected by contacts).
    fn work(&self, task: &Task<'_>, impulses: &[f64]) -> f64 {
        self.works(task, impulses).0
    }

    /// Returns the work of the impulses (J), and the sum of the absolute values of its terms (J), to which rounding is
    /// compared. The last solution must have ended with these impulses. `task`: contact problem of one island (bodies
    /// connected by contacts).
    fn works(&self, task: &Task<'_>, impulses: &[f64]) -> (f64, f64) {
        let (mut work, mut size) = (0.0, 0.0);
        let after = &self.found.velocity;
        for (k, &c) in task.island.contacts.iter().enumerate() {
            for r in 0..3 {
                let shift = if r == 0 { self.closing[k] } else { 0.0 };
                let (l, u) = (impulses[3 * k + r], after[3 * k + r] - shift);
                let before = task.before[3 * c + r];
                work += 0.5 * l * (before + u);
                size += 0.5 * l.abs() * (before.abs() + u.abs());
            }
        }
        (work, size)
    }

    /// Solves the expansion phase of an impact of one island (bodies connected by contacts), given by `task`. Each
    /// rebounding contact gets at least its restitution coefficient times its compression impulse, times a common
    /// factor. The factor is the largest in [0, 1] with which the impact gains no energy.
    fn expand(&mut self, task: &Task<'_>) -> Result<Answer, LcpError> {
        let compression = self.found.impulse.clone();
        let compressed = self.found.velocity.clone();
        let given_back: Vec<f64> = (self.starts.iter().zip(&task.island.contacts))
            .enumerate()
            .map(|(k, (start, &c))| {
                if start.restitutes {
                    (task.contacts[c].restitution * compression[3 * k]).max(0.0)
                } else {
                    0.0
                }
            })
            .collect();
        let mut answer = self.answer(task, compression.clone());
        self.problem.set_velocity(&compressed)?;
        let (mut low, mut high, mut scale) = (0.0, 1.0, 1.0);
        for _ in 0..SCALE_STEPS {
            let floors: Vec<f64> = given_back.iter().map(|p| scale * p).collect();
            let total = self.expansion(task, &compression, &floors)?;
            let (found, size) = self.works(task, &total);
            let gains = !(found <= GAIN * size);
            if gains {
                high = scale;
            } else {
                low = scale;
                answer = self.answer(task, total);
            }
            let is_done = low == 1.0 || high - low <= SCALE_ACCURACY;
            if is_done || (!gains && -found <= CAPPED * size) {
                break;
            }
            scale = 0.5 * (low + high);
        }
        self.counts.n_capped += usize::from(low < 1.0);
        self.counts.n_bounces += given_back.iter().filter(|p| **p > 0.0).count();
        answer.counts = self.counts;
        Ok(answer)
    }

    /// Solves the expansion phase of an impact of one island (bodies connected by contacts), given by `task`, with
    /// given lower bounds `floors` of the normal impulses (N s, one per contact). Returns the sum of the impulses of
    /// both phases; `compression` contains the impulses of the first phase.
    fn expansion(
        &mut self,
        task: &Task<'_>,
        compression: &[f64],
        floors: &[f64],
    ) -> Result<Vec<f64>, LcpError> {
        self.problem.set_floors(floors)?;
        self.from.clear();
        for (start, floor) in self.starts.iter().zip(floors) {
            let [n, x, y] = start.expansion;
            self.from.extend([n.max(*floor), x, y]);
        }
        self.search(task)?;
        let expansion = &self.found.impulse;
        for (start, l) in self.starts.iter_mut().zip(expansion.chunks_exact(3)) {
            start.expansion.copy_from_slice(l);
        }
        Ok(compression
            .iter()
            .zip(expansion)
            .map(|(a, b)| a + b)
            .collect())
    }
}

/// Returns the 6 × 6 mass matrix of a body, zero for a fixed body. The matrix multiplies the velocity of
/// the body's center in world axes, followed by the angular velocity in body axes.
fn mass_matrix(body: &Body) -> [[f64; 6]; 6] {
    let mut out = [[0.0; 6]; 6];
    let Some(rigid) = &body.rigid else {
        return out;
    };
    for k in 0..3 {
        out[k][k] = rigid.mass();
        for l in 0..3 {
            out[3 + k][3 + l] = rigid.inertia()[(k, l)];
        }
    }
    out
}
