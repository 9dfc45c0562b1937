//! Contact problem of one island in one step.
//!
//! The impulses of a step satisfy $0 \le \lambda_n \perp w_n \ge 0$, $w = u + R(\lambda - p)$, with friction in the circular cone.
//! The normal part of $u$ contains $\max(g, 0)/h$: within the step of length $h$ a gap $g$ closes beyond contact only by what the
//! spring of the contact yields ([`Yielding`]).
//!
//! An island at rest whose loads changed first asks for impulses of rigid contacts that balance them ([`Member::Even`]): these
//! become the pre-loads, and nothing moves.
//!
//! If a contact closes faster than the threshold, the impulses follow the law `poisson`: see `impact.rs`.

use super::contact::Contact;
use super::island::Island;
use super::options::StepCounts;
use super::spring::{Spring, Yielding};
use super::tolerances::{DEFLECTED, GOAL, SOFTER, WRONG_WORK};
use crate::body::Body;
use crate::rest::STANDS;
use crate::rows::Rows;
use carom_lcp::LcpError;
use carom_lcp::contact_problem::{
    Block, Bodies, BodyRows, ContactMode, ContactProblem, Kind, Member, Operator, Refusal,
    Solution, Workspace, solve,
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
    /// Length of the step, and the compliance of its contacts.
    pub(super) yielding: Yielding,
    /// Change of velocity by gravity in a regular step (m/s).
    pub(super) fall: f64,
    /// Approach speed from which contacts restitute (m/s).
    pub(super) threshold: f64,
    /// Largest accepted residual.
    pub(super) tolerance: f64,
}

impl Task<'_> {
    /// True if a contact has a restitution and approaches faster than the threshold of impacts.
    fn is_fast(&self, contact: usize) -> bool {
        let approach = -self.before[3 * contact];
        let contact = &self.contacts[contact];
        let still = contact.tolerance / self.yielding.h;
        contact.restitution > 0.0 && approach > self.threshold.max(still)
    }
}

/// Solution of an island: three impulses (N s) for each of its contacts, in the contact frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) impulses: Vec<f64>,
    pub(super) modes: Vec<ContactMode>,
    /// Springs after the step.
    pub(super) springs: Vec<Spring>,
    /// True for contacts that restitute, that is, whose impact has an expansion phase.
    pub(super) restitutes: Vec<bool>,
    /// True if the impulses of a problem gain more energy than rounding explains.
    pub(super) gains: bool,
    pub(super) counts: StepCounts,
}

/// Solver of one island, with buffers that are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    bodies: Bodies,
    pub(super) blocks: Vec<Block>,
    pub(super) velocity: Vec<f64>,
    workspace: Workspace,
    /// Springs as they act in the step: the pre-load, and the compliance that follows from it.
    pub(super) springs: Vec<Spring>,
    pub(super) restitutes: Vec<bool>,
    /// Rate at which each gap may close, $\max(g, 0)/h$, reduced by the part that rotation closes (m/s).
    pub(super) closing: Vec<f64>,
    pub(super) found: Found,
    /// True if the best impulses of a problem of this step gain more energy than rounding explains.
    gains: bool,
    pub(super) counts: StepCounts,
}

/// Solution of a contact problem: impulses, velocities after them, and the modes of the contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    residual: f64,
    /// Wrong work of the impulses, as a multiple of what is allowed: see [`gain`].
    gain: f64,
    pub(super) impulse: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) modes: Vec<ContactMode>,
}

#[cfg(feature = "serde")]
impl Solver {
    /// Returns the pattern of the symbolic factors, the only memory from one problem to the next.
    pub(super) fn pattern(&self) -> Option<carom_lcp::contact_problem::Pattern> {
        self.workspace.pattern()
    }

    /// Creates a solver with this pattern.
    pub(super) fn recalling(pattern: Option<carom_lcp::contact_problem::Pattern>) -> Self {
        Self {
            workspace: Workspace::recalling(pattern),
            ..Self::default()
        }
    }
}

impl Solver {
    /// Solves the contact problem of an island in a step.
    pub(super) fn solve(&mut self, task: &Task<'_>) -> Result<Answer, LcpError> {
        self.counts = StepCounts::default();
        self.gains = false;
        let goal = GOAL * task.tolerance;
        self.workspace.set_goal(goal)?;
        self.pose(task)?;
        if !self.restitutes.contains(&true) {
            self.press(task)?;
            if self.loads_change(task) && self.rest(task)? {
                return Ok(self.lasting(task));
            }
            if !self.grow(task) {
                return Ok(self.lasting(task));
            }
        }
        self.compress(task)?;
        self.expand(task)
    }

    /// Sets up the contacts of the island in `task`: its bodies, its contacts, and the rates at which gaps may close.
    fn pose(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        self.closing.clear();
        self.restitutes.clear();
        let every: Vec<usize> = (0..task.island.contacts.len()).collect();
        pose_bodies(task, &every, &mut self.bodies)?;
        for &c in &task.island.contacts {
            let contact = &task.contacts[c];
            let closing = contact.point.gap.max(0.0) + contact.nonlinearity.unwrap_or(0.0);
            let closing = closing / task.yielding.h;
            // A point that would close without impulses, too, is expected to be pressed.
            let hits = task.is_fast(c) && task.free[3 * c] + closing < 0.0;
            self.closing.push(closing);
            self.restitutes.push(contact.restitutes || hits);
        }
        Ok(())
    }

    /// Solves the problem of the island in `task` without restitution. If a point yields too much, the impulses become
    /// pre-loads, and the step is solved again.
    pub(super) fn press(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        self.springs.clear();
        let contacts = task.island.contacts.iter().map(|c| &task.contacts[*c]);
        self.springs.extend(contacts.map(|contact| contact.spring));
        self.velocity.clear();
        for (&c, closing) in task.island.contacts.iter().zip(&self.closing) {
            let free = &task.free[3 * c..3 * c + 3];
            self.velocity.extend([free[0] + closing, free[1], free[2]]);
        }
        let (_, repetitions) = DEFLECTED;
        for repetition in 0..=repetitions {
            self.set_springs(task);
            self.search(task)?;
            if repetition == repetitions || !self.is_deep(task) {
                break;
            }
            for (spring, l) in self
                .springs
                .iter_mut()
                .zip(self.found.impulse.chunks_exact(3))
            {
                spring.preload.copy_from_slice(l);
            }
        }
        Ok(())
    }

    /// Computes the compliances from the pre-loads. The energy of tangential pre-loads stays where a spring becomes softer.
    fn set_springs(&mut self, task: &Task<'_>) {
        self.blocks.clear();
        for (spring, &c) in self.springs.iter_mut().zip(&task.island.contacts) {
            let contact = &task.contacts[c];
            let mobility = task.rows.mobility_entry(3 * c, 3 * c);
            let [p, x, y] = &mut spring.preload;
            let compliance =
                task.yielding
                    .compliance(mobility, contact.size, [-task.before[3 * c], *p]);
            if spring.compliance > 0.0 && compliance > spring.compliance {
                let share = (spring.compliance / compliance).sqrt();
                (*x, *y) = (*x * share, *y * share);
            }
            spring.compliance = compliance;
            self.blocks.push(Block {
                compliance,
                preload: spring.preload,
                ..Block::new(Kind::Round, contact.friction)
            });
        }
    }

    /// True if a point closes within the step by more than [`DEFLECTED`] of its size.
    fn is_deep(&self, task: &Task<'_>) -> bool {
        let mut points = task.island.contacts.iter().zip(&self.blocks).enumerate();
        points.any(|(k, (&c, block))| {
            let depth = -task.yielding.h * self.found.velocity[3 * k];
            block.compliance > 0.0 && depth > DEFLECTED.0 * task.contacts[c].size
        })
    }

    /// Solves the present contact problem. If it misses its tolerance, the springs are softened. The best result is kept.
    pub(super) fn search(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        self.counts.n_problems += 1;
        self.found.residual = f64::INFINITY;
        self.found.gain = f64::INFINITY;
        self.attempt(task)?;
        let is_rigid = self.blocks.iter().all(|block| block.compliance == 0.0);
        self.counts.n_softened += usize::from(!self.is_accurate(task) && !is_rigid);
        for softer in SOFTER {
            if self.is_accurate(task) || is_rigid {
                break;
            }
            for block in &mut self.blocks {
                block.compliance *= softer;
                block.preload = block.preload.map(|x| x / softer.sqrt());
            }
            self.attempt(task)?;
        }
        if !self.found.residual.is_finite() {
            let (what, index, value) = ("impulses", 0, self.found.residual);
            return Err(LcpError::NonFinite { what, index, value });
        }
        self.gains |= !(self.found.gain <= 1.0);
        self.counts.n_inaccurate += usize::from(!self.is_accurate(task));
        let counts = &mut self.counts;
        counts.worst_residual = counts.worst_residual.max(self.found.residual);
        Ok(())
    }

    /// Returns true if the impulses found last meet the tolerance of `task` and gain no significant energy.
    fn is_accurate(&self, task: &Task<'_>) -> bool {
        self.found.residual <= task.tolerance && self.found.gain <= 1.0
    }

    /// Solves the present contact problem, that of the island (bodies connected by contacts) in `task`, once. The result is kept
    /// if it misses its limits of residual and energy by a smaller factor than all results before.
    fn attempt(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        let operator = Operator::Bodies(&self.bodies);
        let problem = ContactProblem::new(operator, &self.blocks, &self.velocity)?;
        let refused;
        let solution: &Solution = match solve(&problem, Member::Any, &mut self.workspace) {
            Ok(solution) => solution,
            Err(Refusal::NotConverged { best, .. }) => {
                refused = best;
                &refused
            }
            Err(_) => return Ok(()),
        };
        self.counts.newton_steps += solution.steps as usize;
        let gain = gain(task, &self.blocks, solution);
        let error = |residual: f64, gain: f64| (residual / task.tolerance).max(gain).max(1.0);
        let found = &mut self.found;
        let (new, old) = (
            error(solution.residual, gain),
            error(found.residual, found.gain),
        );
        if new < old || (new == old && solution.residual < found.residual) {
            found.residual = solution.residual;
            found.gain = gain;
            found.impulse.clone_from(&solution.impulse);
            found.velocity.clone_from(&solution.velocity);
            found.modes.clone_from(&solution.modes);
        }
        Ok(())
    }

    /// True if no point of the island in `task` moved before the step, but one does after it.
    fn loads_change(&self, task: &Task<'_>) -> bool {
        let slow = STANDS * task.fall;
        let (after, closing) = (self.found.velocity.chunks_exact(3), &self.closing);
        let mut moves = after
            .zip(closing)
            .map(|(u, closing)| [u[0] - closing, u[1], u[2]].iter().any(|x| x.abs() > slow));
        let rests = |c: &usize| {
            let before = &task.before[3 * c..3 * c + 3];
            before.iter().all(|x| x.abs() <= slow)
        };
        task.fall > 0.0 && task.island.contacts.iter().all(rests) && moves.any(|moves| moves)
    }

    /// Searches for impulses of rigid contacts that balance the loads of the island in `task`. Returns true if they are found:
    /// they replace the impulses and the pre-loads.
    fn rest(&mut self, task: &Task<'_>) -> Result<bool, LcpError> {
        let at = |k: usize| &task.contacts[task.island.contacts[k]];
        let all = 0..task.island.contacts.len();
        let (touching, apart): (Vec<usize>, Vec<usize>) =
            all.partition(|k| at(*k).point.gap <= at(*k).tolerance);
        let mut bodies = Bodies::default();
        pose_bodies(task, &touching, &mut bodies)?;
        let rigid = |k: &usize| Block::new(Kind::Round, at(*k).friction);
        let blocks: Vec<Block> = touching.iter().map(rigid).collect();
        let free = |k: &usize| {
            let c = task.island.contacts[*k];
            &task.free[3 * c..3 * c + 3]
        };
        let velocity: Vec<f64> = touching.iter().flat_map(free).copied().collect();
        let problem = ContactProblem::new(Operator::Bodies(&bodies), &blocks, &velocity)?;
        let Ok(solution) = solve(&problem, Member::Even, &mut self.workspace) else {
            return Ok(false);
        };
        self.counts.n_problems += 1;
        self.counts.newton_steps += solution.steps as usize;
        if !solution.rests {
            return Ok(false);
        }
        let mut impulse = vec![0.0; self.found.impulse.len()];
        let mut after: Vec<f64> = vec![0.0; impulse.len()];
        let mut modes = vec![ContactMode::Open; self.closing.len()];
        for (k, l) in touching.iter().zip(solution.impulse.chunks_exact(3)) {
            impulse[3 * k..3 * k + 3].copy_from_slice(l);
            after[3 * k] = self.closing[*k];
            if l[0] > 0.0 {
                modes[*k] = ContactMode::Stick;
            }
        }
        // Points that do not touch yet may not close beyond contact.
        for k in apart {
            let c = task.island.contacts[k];
            let rows = task.island.contacts.iter().flat_map(|d| 3 * d..3 * d + 3);
            let moved = rows
                .zip(&impulse)
                .map(|(row, l)| task.rows.mobility_entry(3 * c, row) * l);
            after[3 * k] = self.closing[k] + task.free[3 * c] + moved.sum::<f64>();
            if after[3 * k] < 0.0 {
                return Ok(false);
            }
        }
        self.found.impulse = impulse;
        self.found.velocity = after;
        self.found.modes = modes;
        Ok(true)
    }

    /// Marks further contacts of the island in `task` (bodies connected by contacts) that rebound: those with
    /// restitution that approach faster than the impact threshold and are pressed. Returns true if a contact was added.
    ///
    /// An impulse is compared with the one that would stop its contact alone: other contacts of the island may have impulses of
    /// any size.
    pub(super) fn grow(&mut self, task: &Task<'_>) -> bool {
        let Found { impulse, modes, .. } = &self.found;
        let mut grows = false;
        for (k, &c) in task.island.contacts.iter().enumerate() {
            let approach = -task.before[3 * c];
            let stopped = task.rows.mobility_entry(3 * c, 3 * c) * impulse[3 * k];
            let is_pressed =
                modes[k] != ContactMode::Open && stopped > super::tolerances::PRESSED * approach;
            let restitutes = &mut self.restitutes[k];
            if !*restitutes && task.is_fast(c) && is_pressed {
                *restitutes = true;
                self.closing[k] = self.closing[k].min(0.0);
                grows = true;
            }
        }
        grows
    }

    /// Returns the answer without restitution: the impulses are the pre-loads of the next step.
    fn lasting(&self, task: &Task<'_>) -> Answer {
        let impulses = self.found.impulse.clone();
        let mut answer = self.answer(task, impulses);
        for (spring, l) in answer
            .springs
            .iter_mut()
            .zip(answer.impulses.chunks_exact(3))
        {
            spring.preload.copy_from_slice(l);
        }
        answer
    }

    /// Returns the answer with the given impulses, with which the last solution must have ended. Springs deflect by the velocities
    /// after them; their pre-loads are those before.
    pub(super) fn answer(&self, task: &Task<'_>, impulses: Vec<f64>) -> Answer {
        let mut springs = self.springs.clone();
        for (k, spring) in springs.iter_mut().enumerate() {
            spring.compliance = self.blocks[k].compliance;
            let closed = -task.yielding.h * self.found.velocity[3 * k];
            spring.deflection = (spring.deflection + closed).max(0.0);
        }
        Answer {
            modes: self.found.modes.clone(),
            springs,
            restitutes: self.restitutes.clone(),
            impulses,
            gains: self.gains,
            counts: self.counts,
        }
    }

    /// Returns the work $\lambda\cdot(u^- + u^+)/2$ (J) of the impulses $\lambda$, with the contact velocities $u^-$
    /// before and $u^+$ after them, and the sum of the absolute values of its terms (J), to which rounding is
    /// compared. The last solution must have ended with these impulses. `task`: contact problem of one island (bodies
    /// connected by contacts).
    pub(super) fn works(&self, task: &Task<'_>, impulses: &[f64]) -> (f64, f64) {
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
}

/// Returns the energy that the impulses gain against the contact laws, as a multiple of what is
/// allowed. The sum of $(\lambda_n - f)w_n + \lambda_t\cdot w_t$ is not positive for exact impulses, with the least normal
/// impulse $f$. Allowed is the largest possible work of exact impulses, $\sum m(gh)^2/8$, and rounding. `task`: contact
/// problem of one island (bodies connected by contacts).
fn gain(task: &Task<'_>, blocks: &[Block], solution: &Solution) -> f64 {
    let mass = task.island.bodies.iter();
    let mass: f64 = mass
        .filter_map(|body| Some(task.bodies[*body].rigid.as_ref()?.mass()))
        .sum();
    let before = |c: &usize| &task.before[3 * c..3 * c + 3];
    let of_island = task.island.contacts.iter().flat_map(before);
    let of_island = of_island.chain(&solution.velocity);
    let speed = of_island.fold(0.0, |s: f64, x| s.max(x.abs()));
    let (mut gain, mut size) = (0.0, 0.0);
    for (k, block) in blocks.iter().enumerate() {
        for r in 0..3 {
            let l = solution.impulse[3 * k + r];
            let w = solution.velocity[3 * k + r] + block.compliance * (l - block.preload[r]);
            let least = if r == 0 { block.floor } else { 0.0 };
            gain += (l - least) * w;
            size += l.abs() * (speed + l.abs() / mass);
        }
    }
    let allowed = 0.125 * mass * task.fall * task.fall + WRONG_WORK * size;
    if gain > 0.0 { gain / allowed } else { 0.0 }
}

/// Writes the bodies of the island in `task` and the rows of its contacts with the given places to `out`.
fn pose_bodies(task: &Task<'_>, places: &[usize], out: &mut Bodies) -> Result<(), LcpError> {
    out.clear();
    for &body in &task.island.bodies {
        out.push_body(&mass_matrix(&task.bodies[body]))?;
    }
    for &k in places {
        let c = task.island.contacts[k];
        let side = |side: &Option<(usize, [[f64; 6]; 3])>| {
            let (body, rows) = (*side)?;
            let body = task.island.place(body)?;
            Some(BodyRows { body, rows })
        };
        let [first, second] = task.rows.of_bodies(c);
        if let Some(first) = side(&first) {
            out.push_contact(&first, side(&second).as_ref())?;
        }
    }
    Ok(())
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
