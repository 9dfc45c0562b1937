//! Random samples of the outcomes of a set-valued impact.

use super::bounds::TerminationBounds;
use super::canonical::Canonical;
use super::default_cap::default_cap;
use super::end_mode::end_modes;
use super::impact_stepper::ImpactStepper;
use super::modes::{check_planar, solutions};
use super::set_valued::{BranchPolicy, COVERING_SPREAD, CapDistribution, SetValued, refuse};
use super::space::{ContactSpace, Slot};
use super::stepper::StepWorkspace;
use crate::tolerances::BALANCED;
use carom_contact::internal::{GRAZING_TOLERANCE, Opening};
use carom_contact::{
    ContactIndex, Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, Numbers,
    RowIndex, Rules,
};
use carom_lcp::LcpStatus;
use carom_metric::kernel;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};

/// Generator of random outcomes of one impact under the set-valued law. A sample is a sequence of impulse steps, in each of
/// which the normal impulses have random upper bounds (caps).
///
/// A sampler can be shared by threads; each thread uses its own [`Draw`].
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    problem: &'a ImpactProblem,
    space: ContactSpace,
    /// Contacts that the impact reaches, in canonical order and without duplicates.
    reached: Vec<ContactIndex>,
    /// Their slots, and the factors of velocities and impulses on them.
    slots: Vec<Slot>,
    signs: Vec<f64>,
    /// True if the reached slots are all slots, in their order and without sign changes.
    is_whole: bool,
    /// Canonical order and duplicates of the contacts of every independent part.
    canonical: Vec<Canonical>,
    /// Solver of the steps of the reached contacts.
    stepper: ImpactStepper<'a>,
    /// Scaled norm of the momentum of the bodies that the reached contacts touch.
    norm: f64,
    options: SetValued,
    impulse_step: f64,
    /// Scaled slot velocities before the impact.
    before: Vec<f64>,
    /// Sizes of the terms that these velocities are sums of.
    sizes: Vec<f64>,
    /// Thresholds of the normal velocities before the impact: a slower approach counts as ended.
    ended: Vec<f64>,
    /// Scaled largest caps of a step, one per contact.
    caps: Vec<f64>,
    /// Scaled caps of the closing step, one per contact; `None` without a closing step.
    closing: Option<Vec<f64>>,
    /// Velocities of all the caller's contact rows before the impact, and the matrix from scaled slot impulses to their change.
    rows_before: Vec<f64>,
    rows_from_slots: DMatrix<f64>,
}

/// State of one random sample of an impact, with its work buffers. A sample is a sequence of steps in which the normal
/// impulses have upper bounds (caps). Buffers are reused: after the first sample no memory is allocated.
#[derive(Clone, Debug, Default)]
pub struct Draw {
    /// Index of the sample.
    pub sample: u64,
    /// Number of steps, that is, of complementarity problems solved.
    pub steps: usize,
    /// Lemke pivots made.
    pub pivots: usize,
    /// True if no contact approaches any more.
    pub is_ended: bool,
    /// Units of work of the steps, see [`SetValued::max_work`].
    pub work: u64,
    /// Largest velocity residual of the steps.
    pub velocity_residual: f64,
    workspace: StepWorkspace,
    velocity: Vec<f64>,
    impulse: Vec<f64>,
    caps: Vec<f64>,
}

impl Draw {
    /// Velocities of the normalized contact rows after the steps made so far, one per row of [`ContactSpace`], multiplied by
    /// [`ImpactProblem::scale`].
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// Impulses on the normalized contact rows, summed over the steps made so far, one per row of [`ContactSpace`],
    /// multiplied by [`ImpactProblem::scale`].
    pub fn impulse(&self) -> &[f64] {
        &self.impulse
    }

    /// Returns the upper bounds (caps) of the normal impulses in the last step, one per contact, multiplied by the scale of
    /// the problem.
    pub(crate) fn caps(&self) -> &[f64] {
        &self.caps
    }
}

/// One step of a random sample of an impact: the upper bounds (caps) of its normal impulses, its impulses, and the momentum
/// after the step.
pub struct RecordedStep {
    /// Impulses of the step on the caller's contact rows (N s).
    pub impulses: DVector<f64>,
    /// Caps of the step on the caller's normal rows, one per contact (N s).
    pub caps: Vec<f64>,
    /// Scaled whitened momentum after the step.
    pub momentum: Numbers,
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of the outcomes of an impact problem under the set-valued law with the given options.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`], [`ImpactError::NotPointed`] if a closing step is requested
    /// and its size is not defined, and those of [`ImpactStepper::new`].
    pub fn new(problem: &'a ImpactProblem, options: &SetValued) -> Result<Self, ImpactError> {
        let problem = problem.event();
        let options = &options.settled(problem)?;
        let contacts = problem.contacts();
        contacts.require_tangents()?;
        let space = ContactSpace::new(contacts);
        let before = space.velocity_before(problem);
        let canonical = reached(problem, &space, before.as_slice());
        let of_parts = canonical.iter().flat_map(|part| part.contacts.iter());
        let reached: Vec<ContactIndex> = of_parts.copied().collect();
        let signs = canonical.iter();
        let signs: Vec<f64> = signs
            .flat_map(|part| part.slot_signs(space.width()))
            .collect();
        let slots = space.slots_of(&reached);
        let part = space.part(&reached).reversed(&signs);
        let norm = part.norm_around(problem.momentum());
        let stepper = ImpactStepper::with_cone(contacts, part, options.friction_cone)?;
        let (m, scale) = (space.n_contacts, problem.scale());
        let grazing = space.grazing(problem).into_iter();
        let ended = grazing
            .map(|b| b * (BALANCED / GRAZING_TOLERANCE))
            .collect();
        let to_caps = |size: f64| -> Vec<f64> {
            ContactIndex::all(m)
                .map(|i| size * space.normal_norm(i) * scale)
                .collect()
        };
        let sizes = space.sizes(problem.momentum());
        let caps = match options.impulse_step {
            Some(step) => to_caps(step),
            None => {
                let of = |all: &[f64], signs: &[f64]| -> Vec<f64> {
                    let own = slots.iter().zip(signs);
                    own.map(|(slot, sign)| sign * all[slot.index()]).collect()
                };
                let ones = vec![1.0; slots.len()];
                let before = of(before.as_slice(), &signs);
                vec![default_cap(&stepper, &before, &of(&sizes, &ones)); m]
            }
        };
        let on_row = |i: &ContactIndex| caps[i.index()] / (space.normal_norm(*i) * scale);
        let largest = reached.iter().map(on_row).fold(0.0, f64::max);
        let impulse_step = options.impulse_step.unwrap_or(largest);
        options.validate(impulse_step, problem.is_approaching())?;
        if options.branch == BranchPolicy::Enumerate {
            check_planar(&space)?;
        }
        let closing = match options.epsilon {
            None => None,
            Some(epsilon) => {
                let psi = TerminationBounds::psi(contacts, options.friction_cone.directions())?;
                Some(to_caps(epsilon / (3.0 * psi)))
            }
        };
        let n_rows = contacts.n_rows();
        let row_from = |row: RowIndex, vector: &[f64]| {
            contacts.row_norm(row) * kernel::dot(contacts.unit_row(row), vector) / scale
        };
        let columns: Vec<&[f64]> = space.slots().map(|slot| space.column(slot)).collect();
        let rows_from_slots = DMatrix::from_fn(n_rows, columns.len(), |row, slot| {
            row_from(RowIndex::new(row), columns[slot])
        });
        let rows_before = contacts
            .all_rows()
            .map(|row| row_from(row, problem.momentum()));
        let is_whole = slots.len() == space.n_slots()
            && slots.is_sorted()
            && signs.iter().all(|sign| *sign > 0.0);
        Ok(Self {
            problem,
            rows_before: rows_before.collect(),
            rows_from_slots,
            caps,
            closing,
            before: before.as_slice().to_vec(),
            sizes,
            ended,
            impulse_step,
            options: options.clone(),
            stepper,
            norm,
            is_whole,
            canonical,
            signs,
            slots,
            reached,
            space,
        })
    }

    /// Multiplies the caps (upper bounds of the normal impulses) of all random steps of this sampler by `size`.
    pub fn resized(mut self, size: f64) -> Self {
        self.caps.iter_mut().for_each(|cap| *cap *= size);
        self.impulse_step *= size;
        self
    }

    /// Largest upper bound (cap) of a normal impulse in a random step, N·s, over the caller's normal rows. The default cap
    /// is the same for all rows of unit kinetic length, so that it differs between the caller's rows; this method returns
    /// the largest of these caps.
    pub fn impulse_step(&self) -> f64 {
        self.impulse_step
    }

    /// Options of the set-valued law that the sampler uses, with automatic choices replaced by the ones made for the problem.
    pub fn options(&self) -> &SetValued {
        &self.options
    }

    /// Impact problem whose outcomes are sampled.
    pub fn problem(&self) -> &'a ImpactProblem {
        self.problem
    }

    /// Indices of the contacts that the impact reaches: those that impulses at an approaching contact influence, directly or
    /// through other contacts. If no contact approaches, these are all contacts. The velocities of the other contacts do not
    /// change, and no caps (random upper bounds of normal impulses) are drawn for them.
    pub fn reached(&self) -> &[ContactIndex] {
        &self.reached
    }

    /// Lists the indices of the contact Jacobian's rows that belong to contacts reached by the impact.
    pub(super) fn reached_rows(&self) -> impl Iterator<Item = RowIndex> + '_ {
        let contacts = self.problem.contacts();
        let reached = self.reached.iter();
        reached.flat_map(move |i| contacts.rows_at(*i))
    }

    /// Returns the norm of the momentum of the bodies that the reached contacts touch, multiplied by the scale of the
    /// problem.
    pub(super) fn norm(&self) -> f64 {
        self.norm
    }

    /// Returns the velocities of the normalized contact rows before the impact, multiplied by the scale of the problem.
    pub(super) fn before(&self) -> &[f64] {
        &self.before
    }

    /// True if samples that have not ended get a closing step.
    pub(super) fn has_closing_step(&self) -> bool {
        self.closing.is_some()
    }

    /// Largest magnitude of the velocities of the caller's contact rows (normal and tangential) before the impact, among the
    /// contacts that the impact [reaches](Self::reached).
    pub fn speed(&self) -> f64 {
        let rows = self
            .reached_rows()
            .map(|row| self.rows_before[row.index()].abs());
        rows.fold(0.0, f64::max)
    }

    /// True if some contact approaches faster than rounding explains. `velocity` and `impulse` belong to the normalized
    /// contact rows. The rounding error includes the terms of the velocity before the impact, and impulses that cancel each
    /// other.
    fn is_colliding(&self, velocity: &[f64], impulse: &[f64]) -> bool {
        let space = &self.space;
        let width = space.width();
        let normals = velocity.iter().step_by(width).zip(&self.ended);
        normals.enumerate().any(|(i, (b, ended))| {
            *b < -*ended && {
                let column = space.gram.column(i * width);
                let made = column.iter().zip(impulse).map(|(g, l)| (g * l).abs());
                *b < -BALANCED * made.sum::<f64>()
            }
        })
    }

    /// Computes the random sample with index `sample`: a sequence of impulse steps that ends when no contact approaches, or
    /// at a limit on steps or work. The final velocity and the impulses are left in `draw`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::NotSolved`], [`ImpactError::Lcp`].
    pub fn draw(&self, sample: u64, draw: &mut Draw) -> Result<(), ImpactError> {
        self.draw_observed(sample, draw, |_| {})
    }

    /// Computes the random sample with index `sample`, a sequence of impulse steps. Calls `observe` with the state before
    /// the first step and after every step.
    ///
    /// # Errors
    ///
    /// The errors of [`draw`](Self::draw).
    pub fn draw_observed(
        &self,
        sample: u64,
        draw: &mut Draw,
        mut observe: impl FnMut(&Draw),
    ) -> Result<(), ImpactError> {
        self.draw_within(self.options.max_work, sample, draw, &mut observe)
    }

    /// Draws the random sample with the number `sample` step by step. Drawing stops before the end of the sample when
    /// the steps have used `max_work` units of work. `draw` receives the sample; `observe` is called with the state at
    /// the start and after every step.
    pub(super) fn draw_within(
        &self,
        max_work: u64,
        sample: u64,
        draw: &mut Draw,
        mut observe: impl FnMut(&Draw),
    ) -> Result<(), ImpactError> {
        self.begin(sample, draw);
        observe(draw);
        while !draw.is_ended && draw.steps < self.options.max_steps && draw.work < max_work {
            let mut rng = CounterRng::new(self.options.seed, sample, draw.steps as u64);
            self.draw_caps(&mut rng, &mut draw.caps);
            self.random_step(&mut rng, draw)?;
            observe(draw);
        }
        if let (false, Some(closing)) = (draw.is_ended, &self.closing) {
            draw.caps.clear();
            draw.caps.extend_from_slice(closing);
            self.step(draw)?;
            observe(draw);
        }
        Ok(())
    }

    /// Draws the random sequence of impact steps with index `sample` and returns all of its steps. Each contains its caps
    /// (upper bounds of the normal impulses), the impulses on the caller's contact rows (both N·s), and the scaled whitened
    /// momentum after the step.
    pub fn steps(&self, sample: u64) -> Result<Vec<RecordedStep>, ImpactError> {
        let (space, scale) = (&self.space, self.problem.scale());
        let contacts = self.problem.contacts();
        let mut steps = Vec::new();
        let mut before = vec![0.0; space.n_slots()];
        self.draw_observed(sample, &mut Draw::default(), |draw| {
            if draw.steps == 0 {
                return;
            }
            let made = draw.impulse.iter().zip(&before).map(|(l, k)| l - k);
            let mut made: Vec<f64> = made.collect();
            before.copy_from_slice(&draw.impulse);
            let mut caps = draw.caps.clone();
            for part in &self.canonical {
                part.share(space.width(), &mut made);
                part.share_sizes(&mut caps);
            }
            let caps = contacts.indices().zip(&caps);
            let mut momentum = space.change(&draw.impulse);
            kernel::add_scaled(&mut momentum, 1.0, self.problem.momentum());
            steps.push(RecordedStep {
                impulses: space.on_rows(&made, scale, contacts),
                caps: caps
                    .map(|(i, cap)| cap / (space.normal_norm(i) * scale))
                    .collect(),
                momentum,
            });
        })?;
        Ok(steps)
    }

    /// Computes a sample whose caps (upper bounds of the normal impulses in a step) are given instead of random. `fractions`
    /// of the largest cap, in \[0, 1\], have one entry per contact that the impact [reaches](Self::reached) for the first
    /// step, then for the second, and so on; after the last step the list is repeated from its start. A step may have
    /// several solutions; `choice` is the seed with which one of them is chosen at random. The result is left in `draw`.
    ///
    /// This function reproduces a sample, and a search for extreme outcomes uses it to vary samples.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`] unless the number of fractions is a positive multiple of the number of these contacts and
    /// all lie in \[0, 1\]; the errors of [`draw`](Self::draw).
    pub fn replay(
        &self,
        fractions: &[f64],
        choice: u64,
        draw: &mut Draw,
    ) -> Result<(), ImpactError> {
        let m = self.reached.len();
        if fractions.is_empty() || m == 0 || !fractions.len().is_multiple_of(m) {
            let found = fractions.len() as f64;
            return refuse(
                "number of fractions",
                found,
                "one for each contact and step",
            );
        }
        if let Some(x) = fractions.iter().find(|x| !(0.0..=1.0).contains(*x)) {
            return refuse("fraction of a cap", *x, "in [0, 1]");
        }
        self.begin(0, draw);
        for step in fractions.chunks_exact(m).cycle() {
            let is_over = draw.work >= self.options.max_work;
            if draw.is_ended || is_over || draw.steps >= self.options.max_steps {
                break;
            }
            let mut rng = CounterRng::new(choice, 0, draw.steps as u64);
            draw.caps.clone_from(&self.caps);
            for (i, x) in self.reached.iter().zip(step) {
                draw.caps[i.index()] *= x;
            }
            self.random_step(&mut rng, draw)?;
        }
        Ok(())
    }

    fn begin(&self, sample: u64, draw: &mut Draw) {
        draw.sample = sample;
        draw.steps = 0;
        draw.pivots = 0;
        draw.work = 0;
        draw.velocity_residual = 0.0;
        draw.velocity.clear();
        draw.velocity.extend_from_slice(&self.before);
        draw.impulse.clear();
        draw.impulse.resize(self.before.len(), 0.0);
        draw.workspace.made.clear();
        let sizes = self.slots.iter().map(|slot| self.sizes[slot.index()]);
        draw.workspace.made.extend(sizes);
        draw.is_ended = !self.is_colliding(&draw.velocity, &draw.impulse);
    }

    /// Makes one impulse step of a random sample, with the upper bounds (caps) of the normal impulses stored in `draw`. If
    /// the step has several solutions, the branch policy of the options chooses one.
    fn random_step(&self, rng: &mut CounterRng, draw: &mut Draw) -> Result<(), ImpactError> {
        match self.options.branch {
            BranchPolicy::Enumerate => return self.any_step(rng, draw),
            BranchPolicy::Fixed | BranchPolicy::Auto => draw.workspace.set_cover(0, None),
            BranchPolicy::RandomCovering { spread } => {
                self.cover_randomly(spread, rng, &mut draw.workspace);
            }
        }
        self.step(draw)
    }

    fn cover_randomly(&self, spread: f64, rng: &mut CounterRng, workspace: &mut StepWorkspace) {
        let mut entry = || libm::exp(spread * (2.0 * rng.next_uniform() - 1.0));
        workspace.set_cover(self.stepper.dim(), Some(&mut entry));
    }

    /// Solves one impulse step with a random start vector (covering vector) of Lemke's method, so that another of several
    /// solutions may be found. `velocity`: velocities of the normalized contact rows before the step; `caps`: upper bounds
    /// of the normal impulses. The result is left in the workspace.
    pub(super) fn other_step(
        &self,
        velocity: &[f64],
        caps: &[f64],
        rng: &mut CounterRng,
        workspace: &mut StepWorkspace,
    ) -> Result<(), ImpactError> {
        self.cover_randomly(COVERING_SPREAD, rng, workspace);
        self.solve(velocity, caps, workspace)
    }

    /// Solves one impulse step for the contacts that the impact reaches. `velocity` has one entry per normalized contact
    /// row, `caps` (upper bounds of the normal impulses) one per contact. Impulses and velocities of all rows are left in
    /// the workspace.
    fn solve(
        &self,
        velocity: &[f64],
        caps: &[f64],
        workspace: &mut StepWorkspace,
    ) -> Result<(), ImpactError> {
        if self.is_whole {
            return self.stepper.solve(velocity, caps, workspace);
        }
        let own = self.slots.iter().zip(&self.signs);
        let (mut of_slots, mut of_contacts) = std::mem::take(&mut workspace.of_part);
        of_slots.clear();
        of_slots.extend(
            own.clone()
                .map(|(slot, sign)| sign * velocity[slot.index()]),
        );
        of_contacts.clear();
        of_contacts.extend(self.reached.iter().map(|i| caps[i.index()]));
        let solved = self.stepper.solve(&of_slots, &of_contacts, workspace);
        workspace.of_part = (of_slots, of_contacts);
        solved?;
        let (mut impulse, mut after) = std::mem::take(&mut workspace.of_whole);
        impulse.clear();
        impulse.resize(velocity.len(), 0.0);
        after.clear();
        after.extend_from_slice(velocity);
        for (k, (slot, sign)) in own.enumerate() {
            impulse[slot.index()] = sign * workspace.impulse[k];
            after[slot.index()] = sign * workspace.after[k];
        }
        let copies = self.canonical.iter().flat_map(Canonical::copies);
        for slot in copies.flat_map(|(copy, _)| self.space.slots_at(copy)) {
            let column = self.space.gram.column(slot.index());
            after[slot.index()] += kernel::dot(column.as_slice(), &impulse);
        }
        std::mem::swap(&mut workspace.impulse, &mut impulse);
        std::mem::swap(&mut workspace.after, &mut after);
        workspace.of_whole = (impulse, after);
        Ok(())
    }

    fn draw_caps(&self, rng: &mut CounterRng, caps: &mut Vec<f64>) {
        caps.clone_from(&self.caps);
        for i in &self.reached {
            caps[i.index()] *= rng.next_uniform();
        }
        if let CapDistribution::Mixed { off } = self.options.caps {
            // One contact, drawn at random, always keeps its cap.
            let kept = (rng.next_uniform() * self.reached.len() as f64) as usize;
            for (k, i) in self.reached.iter().enumerate() {
                if rng.next_uniform() < off && k != kept {
                    caps[i.index()] = 0.0;
                }
            }
        }
    }

    /// Advances the random sample in `draw` by one impulse step. If the step problem has several solutions, all are
    /// enumerated and one is picked at random.
    fn any_step(&self, rng: &mut CounterRng, draw: &mut Draw) -> Result<(), ImpactError> {
        let (space, part) = (&self.space, &self.stepper.space);
        let own = self.slots.iter().zip(&self.signs);
        let of_slots = own
            .clone()
            .map(|(slot, sign)| sign * draw.velocity[slot.index()]);
        let velocity = DVector::from_iterator(self.slots.len(), of_slots);
        let caps: Vec<f64> = self.reached.iter().map(|i| draw.caps[i.index()]).collect();
        let found = solutions(part, &velocity, Some(&caps))?;
        draw.work += enumeration_work(self.reached.len(), self.slots.len());
        let choice = (rng.next_uniform() * found.len() as f64) as usize;
        let Some(solution) = found.get(choice) else {
            return Err(ImpactError::unsolved(
                LcpStatus::Inaccurate,
                f64::INFINITY,
                0,
            ));
        };
        let mut terms: Vec<f64> = draw.velocity.iter().map(|b| b.abs()).collect();
        for ((slot, sign), l) in own.zip(&solution.impulse) {
            let l = sign * l;
            let column = space.gram.column(slot.index());
            draw.impulse[slot.index()] += l;
            kernel::add_scaled(&mut draw.velocity, l, column.as_slice());
            let made = column.iter().map(|g| (g * l).abs());
            terms.iter_mut().zip(made).for_each(|(t, made)| *t += made);
        }
        let width = space.width();
        let modes = solution.modes.first().into_iter().flatten();
        for (slot, ends) in self.reached.iter().zip(modes).flat_map(|(i, mode)| {
            let first = space.normal_slot(*i).index();
            let normal = (first, mode.is_closed());
            let tangents = first + 1..first + width;
            std::iter::once(normal).chain(tangents.map(|slot| (slot, mode.sticks())))
        }) {
            if ends && terms[slot] > 0.0 {
                let missed = draw.velocity[slot].abs() / terms[slot];
                draw.velocity_residual = f64::max(draw.velocity_residual, missed);
            }
        }
        draw.steps += 1;
        draw.is_ended = !self.is_colliding(&draw.velocity, &draw.impulse);
        Ok(())
    }

    fn step(&self, draw: &mut Draw) -> Result<(), ImpactError> {
        let Draw {
            workspace,
            velocity,
            impulse,
            caps,
            work,
            ..
        } = draw;
        let worked = workspace.work();
        let solved = self.solve(velocity, caps, workspace);
        *work += workspace.work() - worked;
        solved?;
        velocity.copy_from_slice(&workspace.after);
        for (total, l) in impulse.iter_mut().zip(&workspace.impulse) {
            *total += l;
        }
        draw.steps += 1;
        draw.pivots += draw.workspace.n_pivots;
        draw.velocity_residual = f64::max(draw.velocity_residual, draw.workspace.residual);
        draw.is_ended = !self.is_colliding(&draw.velocity, &draw.impulse);
        Ok(())
    }

    /// Writes the velocities of all contact rows (the caller's, not normalized) at the current state `draw` of a sample to
    /// `rows`.
    pub fn contact_velocity(&self, draw: &Draw, rows: &mut Vec<f64>) {
        rows.clear();
        rows.extend_from_slice(&self.rows_before);
        for (column, l) in self.rows_from_slots.column_iter().zip(&draw.impulse) {
            kernel::add_scaled(rows, *l, column.as_slice());
        }
    }

    /// Converts the final state of a sample to an outcome with its energy and momentum balance.
    ///
    /// # Errors
    ///
    /// The errors of [`audit`](carom_contact::audit()).
    pub fn outcome(&self, draw: &Draw) -> Result<ImpactOutcome, ImpactError> {
        let status = if self.problem.is_approaching() {
            ImpactStatus::Resolved
        } else {
            ImpactStatus::Separating
        };
        let rules = Rules {
            may_approach: !draw.is_ended,
            ..Rules::FRICTIONAL
        };
        let mut impulse = draw.impulse.clone();
        for part in &self.canonical {
            part.share(self.space.width(), &mut impulse);
        }
        let diagnostics = Diagnostics::SetValued {
            sample: draw.sample,
            steps: draw.steps,
            pivots: draw.pivots,
            velocity_residual: draw.velocity_residual,
            modes: end_modes(&self.space, self.before.as_slice(), &self.sizes, &impulse),
        };
        let candidate = self.space.candidate(self.problem, &impulse);
        candidate.outcome(
            self.problem,
            &rules,
            &mut Opening::default(),
            status,
            diagnostics,
        )
    }
}

/// Finds the contacts that impulses at an approaching contact influence, directly or through other contacts; all contacts
/// if none approaches. Returns one entry per independent part of the system, the part with the fastest approach first.
/// `before`: velocities of the normalized contact rows before the impact.
fn reached(problem: &ImpactProblem, space: &ContactSpace, before: &[f64]) -> Vec<Canonical> {
    let mut parts = space.independent();
    let approaches = |part: &Vec<ContactIndex>| part.iter().any(|i| problem.approaches(*i));
    if parts.iter().any(approaches) {
        parts.retain(approaches);
    }
    let parts = parts.into_iter();
    let mut parts: Vec<Canonical> = parts
        .map(|contacts| Canonical::new(space, &contacts, before, &[]))
        .collect();
    let closing = |part: &Canonical| {
        let first = part.contacts.first();
        first.map_or(0.0, |contact| before[space.normal_slot(*contact).index()])
    };
    // A stable sort: parts with equal speed keep their order.
    parts.sort_by(|one, other| closing(one).total_cmp(&closing(other)));
    parts
}

/// Estimates the work (about multiply-adds) of enumerating all solutions of a step. Each contact is open, sticks or slides
/// either way, and a pushing one may be at the upper bound of its impulse: 7 modes.
fn enumeration_work(n_contacts: usize, n_slots: usize) -> u64 {
    7u64.saturating_pow(n_contacts as u32) * (n_slots as u64).pow(3)
}
