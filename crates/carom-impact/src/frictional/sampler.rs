//! Outcomes drawn from the set.

use super::bounds::TerminationBounds;
use super::canonical::Canonical;
use super::friction_cone::FrictionCone;
use super::modes::{check_planar, solutions};
use super::probe::ambiguous_steps;
use super::samples::{SampleSummary, sampled_outcomes};
use super::space::ContactSpace;
use super::stepper::{ImpactStepper, StepWorkspace};
use crate::draft::Opening;
use crate::gate::Rules;
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::own_terms::GRAZING_TOLERANCE;
use crate::problem::Numbers;
use crate::{
    Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus, OutcomeSet,
    SetValuedLaw,
};
use carom_lcp::LcpStatus;
use carom_metric::kernel;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};

/// An impact has ended when no contact approaches by more than this fraction of its own terms.
const ENDED: f64 = 1e-10;

/// Steps of the default size that can make the impulses of the simultaneous impact.
const USUAL_STEPS: f64 = 16.0;

/// Powers of [`USUAL_STEPS`] that the default size may grow by.
const WEDGED: usize = 12;

/// Units of work that all samples of a problem may take by default, about a multiply-add each and five seconds in
/// all. They are counted, not timed, so that samples end at the same place on every machine.
pub const DEFAULT_SAMPLING_WORK: u64 = 5_000_000_000;

/// Part of the budget for the choice of policies that depend on the problem.
const SETTLING_PART: u64 = 8;

/// A good spread of the exponents of random covering vectors.
pub const COVERING_SPREAD: f64 = 6.0;

/// A good probability that a contact is switched off in a step.
pub const CAP_OFF: f64 = 0.25;

/// Choice among several solutions of a step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum BranchPolicy {
    /// The one that Lemke's method finds with a covering vector of ones.
    #[default]
    Fixed,
    /// A random covering vector for every step, with entries $\exp(U(-a, a))$: every vector may
    /// lead to another solution.
    RandomCovering {
        /// The spread $a$; [`COVERING_SPREAD`] is a good one.
        spread: f64,
    },
    /// Any of all solutions of a step, with equal probability: planar contacts only, at most
    /// [`MAX_MODE_CONTACTS`](super::MAX_MODE_CONTACTS) of them, and a hundred times the work.
    /// Lemke's method does not reach solutions between two others; this does.
    Enumerate,
    /// Random covering vectors if sampled steps have several solutions
    /// ([`ambiguous_steps`](super::ambiguous_steps)), else always the same.
    Auto,
}

/// Distribution of the caps of a step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum CapDistribution {
    /// Independent and uniform between 0 and the impulse step.
    #[default]
    Uniform,
    /// Uniform caps, but every contact is switched off with this probability (never all of them), so
    /// that sequential extremes are met and not only approached.
    Mixed {
        /// Probability in \[0, 1) that a contact is switched off in a step.
        off: f64,
    },
    /// Contacts are switched off with probability [`CAP_OFF`] if sampled steps have several
    /// solutions, else caps are uniform.
    Auto,
}

/// Samples of every outcome that friction and simultaneity allow (`set-valued`).
///
/// Algorithms 1 and 2 of Halm & Posa. A sample is a sequence of steps with random caps until no
/// contact approaches; it depends on the problem, the options and its index alone. Kinetic energy
/// never grows. [`ImpactLaw::resolve`] gives the first sample that ends.
///
/// # Departure from the source
///
/// Algorithm 1 makes one step more than its limit says, and the closing step of Algorithm 2 is
/// the identity on an impact that has ended only if steps have one solution. Here the limit is
/// the number of steps, and the closing step is applied to samples that have not ended.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem, SetValuedLaw, frictional::SetValued};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact {
///     normal: Covector::from_slice(&[0.0, 1.0]),
///     tangents: vec![Covector::from_slice(&[1.0, 0.0])],
///     friction: 0.5,
///     restitution: 0.5,
/// };
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let law = SetValued {
///     samples: 64,
///     ..SetValued::default()
/// };
/// let outcomes = law.resolve_all(&problem)?;
/// let energies = outcomes.outcomes.iter().map(|outcome| outcome.audit.energy_plus_j);
/// assert!(energies.into_iter().all(|energy| energy <= 6.5));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SetValued {
    /// Largest cap $h$ on the impulses of a step, on the normal rows as given, N·s.
    ///
    /// `None`: the largest impulse that stops an approaching contact alone, and where contacts wedge
    /// each other sixteen times that, or a power of it, so that about sixteen steps can make the
    /// impulses of the simultaneous impact. It is one number on rows of unit kinetic length: it does not
    /// depend on the lengths of the rows.
    pub impulse_step: Option<f64>,
    /// Samples drawn.
    pub samples: u64,
    /// Seed of the generator.
    pub seed: u64,
    /// Steps allowed to a sample.
    pub max_steps: usize,
    /// Accuracy $\varepsilon < h$ of the closing step of Algorithm 2, N·s; none if `None`.
    pub epsilon: Option<f64>,
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice among several solutions of a step.
    pub branch: BranchPolicy,
    /// Distribution of the caps.
    pub caps: CapDistribution,
    /// Units of work that all samples together may take ([`DEFAULT_SAMPLING_WORK`]); what is found until then is the answer.
    pub max_work: u64,
}

impl Default for SetValued {
    fn default() -> Self {
        Self {
            impulse_step: None,
            samples: 1024,
            seed: 0,
            max_steps: 100,
            epsilon: None,
            friction_cone: FrictionCone::Round,
            branch: BranchPolicy::default(),
            caps: CapDistribution::default(),
            max_work: DEFAULT_SAMPLING_WORK,
        }
    }
}

/// Draws samples of one impact.
///
/// A sampler is shared by threads; each brings its own [`Draw`].
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    problem: &'a ImpactProblem<'a>,
    space: ContactSpace,
    /// Contacts that the impact reaches, in an order of their own and without copies.
    reached: Vec<usize>,
    /// Their slots, and the factors of velocities and impulses on them.
    slots: Vec<usize>,
    signs: Vec<f64>,
    /// True if these are all slots as they are.
    is_whole: bool,
    /// Copies of contacts, part by part.
    canonical: Vec<Canonical>,
    /// Steps of these contacts.
    stepper: ImpactStepper<'a>,
    /// Scaled norm of the momentum of what they touch.
    norm: f64,
    options: SetValued,
    impulse_step: f64,
    /// Scaled slot velocities before.
    before: Vec<f64>,
    /// Sizes of their terms.
    sizes: Vec<f64>,
    /// Below which a normal velocity before counts as ended.
    ended: Vec<f64>,
    /// Scaled caps of a whole step, one for each contact.
    caps: Vec<f64>,
    /// Scaled caps of the closing step.
    closing: Option<Vec<f64>>,
    /// Velocities of all contact rows as given before, and what scaled slot impulses add.
    rows_before: Vec<f64>,
    rows_from_slots: DMatrix<f64>,
}

/// One sample, and the memory to draw it: none is allocated once it has been used.
#[derive(Clone, Debug, Default)]
pub struct Draw {
    /// Index of the sample.
    pub sample: u64,
    /// Complementarity problems solved.
    pub steps: usize,
    /// Pivots made.
    pub pivots: usize,
    /// True if the impact has ended.
    pub is_ended: bool,
    /// Units of work of its steps, see [`SetValued::max_work`].
    pub work: u64,
    /// Largest velocity residual of its steps.
    pub velocity_residual: f64,
    workspace: StepWorkspace,
    velocity: Vec<f64>,
    impulse: Vec<f64>,
    caps: Vec<f64>,
}

impl Draw {
    /// Scaled velocities of the slots so far.
    pub(crate) fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// Scaled impulses on the slots so far.
    pub(crate) fn impulse(&self) -> &[f64] {
        &self.impulse
    }

    /// Scaled caps of the last step.
    pub(crate) fn caps(&self) -> &[f64] {
        &self.caps
    }
}

/// A step of a sample as it was made.
pub(crate) struct RecordedStep {
    pub(crate) impulses: DVector<f64>,
    pub(crate) caps: Vec<f64>,
    pub(crate) momentum: Numbers,
}

impl<'a> Sampler<'a> {
    /// Prepares samples of a problem.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`], [`ImpactError::NotPointed`] if a closing step is asked for
    /// and its size is not defined, and those of [`ImpactStepper::new`].
    pub fn new(problem: &'a ImpactProblem<'a>, options: &SetValued) -> Result<Self, ImpactError> {
        let problem = problem.event();
        let options = &options.settled(problem)?;
        let contacts = problem.contacts();
        contacts.require_tangents()?;
        let space = ContactSpace::new(contacts);
        let before = space.velocity(problem.momentum());
        let is_round = options.friction_cone == FrictionCone::Round;
        let canonical = reached(problem, &space, before.as_slice(), is_round);
        let of_parts = canonical.iter().flat_map(|part| part.contacts.iter());
        let reached: Vec<usize> = of_parts.copied().collect();
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
        let ended = grazing.map(|b| b * (ENDED / GRAZING_TOLERANCE)).collect();
        let to_caps = |size: f64| -> Vec<f64> {
            (0..m)
                .map(|i| size * space.normal_norm(i) * scale)
                .collect()
        };
        let sizes = space.sizes(problem.momentum());
        let caps = match options.impulse_step {
            Some(step) => to_caps(step),
            None => {
                let of = |all: &[f64], signs: &[f64]| -> Vec<f64> {
                    let own = slots.iter().zip(signs);
                    own.map(|(slot, sign)| sign * all[*slot]).collect()
                };
                let ones = vec![1.0; slots.len()];
                let before = of(before.as_slice(), &signs);
                vec![default_cap(&stepper, &before, &of(&sizes, &ones)); m]
            }
        };
        let on_row = |i: &usize| caps[*i] / (space.normal_norm(*i) * scale);
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
        let n_rows = contacts.row(contacts.len());
        let row_from = |row: usize, vector: &[f64]| {
            contacts.row_norm(row) * kernel::dot(contacts.unit_row(row), vector) / scale
        };
        let rows_from_slots = DMatrix::from_fn(n_rows, space.n_slots(), |row, slot| {
            row_from(row, space.column(slot))
        });
        let rows_before = (0..n_rows).map(|row| row_from(row, problem.momentum()));
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

    /// The sampler with steps of `size` times the impulse.
    pub(crate) fn resized(mut self, size: f64) -> Self {
        self.caps.iter_mut().for_each(|cap| *cap *= size);
        self.impulse_step *= size;
        self
    }

    /// The impulse step in use, N·s. Of the default step, which is one number on rows of unit kinetic
    /// length, the largest on the rows as given.
    pub fn impulse_step(&self) -> f64 {
        self.impulse_step
    }

    /// The options.
    pub fn options(&self) -> &SetValued {
        &self.options
    }

    /// The problem.
    pub fn problem(&self) -> &'a ImpactProblem<'a> {
        self.problem
    }

    /// The contacts that the impact reaches: those that share bodies, directly or through others, with
    /// one that approaches; all if none does. The others stay as they are, and nothing is drawn for them.
    pub fn reached(&self) -> &[usize] {
        &self.reached
    }

    /// The rows of the contacts that the impact reaches.
    pub(super) fn reached_rows(&self) -> impl Iterator<Item = usize> + '_ {
        let contacts = self.problem.contacts();
        let reached = self.reached.iter();
        reached.flat_map(move |i| contacts.row(*i)..contacts.row(i + 1))
    }

    /// Scaled norm of the momentum of what these contacts touch.
    pub(super) fn norm(&self) -> f64 {
        self.norm
    }

    /// The largest velocity before the impact of a row of a contact that it reaches.
    pub fn speed(&self) -> f64 {
        let rows = self.reached_rows().map(|row| self.rows_before[row].abs());
        rows.fold(0.0, f64::max)
    }

    /// True if a contact approaches by more than what its own terms leave: the velocity before and
    /// what the impulses so far made and cancelled.
    fn is_colliding(&self, velocity: &[f64], impulse: &[f64]) -> bool {
        let space = &self.space;
        let width = space.width();
        let normals = velocity.iter().step_by(width).zip(&self.ended);
        normals.enumerate().any(|(i, (b, ended))| {
            *b < -*ended && {
                let column = space.gram.column(i * width);
                let made = column.iter().zip(impulse).map(|(g, l)| (g * l).abs());
                *b < -ENDED * made.sum::<f64>()
            }
        })
    }

    /// Draws a sample into `draw`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Complementarity`], [`ImpactError::Lcp`].
    pub fn draw(&self, sample: u64, draw: &mut Draw) -> Result<(), ImpactError> {
        self.draw_observed(sample, draw, |_| {})
    }

    /// Draws a sample and shows it to `observe` before the first step and after every step.
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

    /// Draws a sample within a budget of work.
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

    /// The steps of a sample: caps and impulses on the contact rows as given, and the scaled whitened
    /// momentum after.
    pub(crate) fn steps(&self, sample: u64) -> Result<Vec<RecordedStep>, ImpactError> {
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
            let caps = caps.iter().enumerate();
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

    /// A sample whose caps are chosen: fractions of the impulse step in \[0, 1\], contact after
    /// contact of those that the impact [reaches](Self::reached) and step after step, over and over. `choice` seeds what is still random, the choice
    /// among the solutions of a step.
    ///
    /// With it extremes of the set can be sought, and shown again.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`] unless there is one fraction for each of these contacts in each step;
    /// as [`draw`](Self::draw).
    pub fn replay(
        &self,
        fractions: &[f64],
        choice: u64,
        draw: &mut Draw,
    ) -> Result<(), ImpactError> {
        let refuse = |what, value, allowed| {
            Err(ImpactError::InvalidOption {
                what,
                value,
                allowed,
            })
        };
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
                draw.caps[*i] *= x;
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
        let sizes = self.slots.iter().map(|slot| self.sizes[*slot]);
        draw.workspace.made.extend(sizes);
        draw.is_ended = !self.is_colliding(&draw.velocity, &draw.impulse);
    }

    /// A step with the caps in `draw` to the solution that the policy takes.
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

    /// Makes a step from slot velocities with a random covering vector; its end is left in the
    /// workspace.
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

    /// Solves a step of the contacts that the impact reaches; impulses and velocities of all slots are
    /// left in the workspace.
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
        of_slots.extend(own.clone().map(|(slot, sign)| sign * velocity[*slot]));
        of_contacts.clear();
        of_contacts.extend(self.reached.iter().map(|i| caps[*i]));
        let solved = self.stepper.solve(&of_slots, &of_contacts, workspace);
        workspace.of_part = (of_slots, of_contacts);
        solved?;
        let (mut impulse, mut after) = std::mem::take(&mut workspace.of_whole);
        impulse.clear();
        impulse.resize(velocity.len(), 0.0);
        after.clear();
        after.extend_from_slice(velocity);
        for (k, (slot, sign)) in own.enumerate() {
            impulse[*slot] = sign * workspace.impulse[k];
            after[*slot] = sign * workspace.after[k];
        }
        let width = self.space.width();
        let copies = self.canonical.iter().flat_map(Canonical::copies);
        for slot in copies.flat_map(|(copy, _)| copy * width..(copy + 1) * width) {
            after[slot] += kernel::dot(self.space.gram.column(slot).as_slice(), &impulse);
        }
        std::mem::swap(&mut workspace.impulse, &mut impulse);
        std::mem::swap(&mut workspace.after, &mut after);
        workspace.of_whole = (impulse, after);
        Ok(())
    }

    fn draw_caps(&self, rng: &mut CounterRng, caps: &mut Vec<f64>) {
        caps.clone_from(&self.caps);
        for i in &self.reached {
            caps[*i] *= rng.next_uniform();
        }
        if let CapDistribution::Mixed { off } = self.options.caps {
            // One contact always pushes.
            let kept = (rng.next_uniform() * self.reached.len() as f64) as usize;
            for (k, i) in self.reached.iter().enumerate() {
                if rng.next_uniform() < off && k != kept {
                    caps[*i] = 0.0;
                }
            }
        }
    }

    /// A step to any of its solutions.
    fn any_step(&self, rng: &mut CounterRng, draw: &mut Draw) -> Result<(), ImpactError> {
        let (space, part) = (&self.space, &self.stepper.space);
        let own = self.slots.iter().zip(&self.signs);
        let of_slots = own.clone().map(|(slot, sign)| sign * draw.velocity[*slot]);
        let velocity = DVector::from_iterator(self.slots.len(), of_slots);
        let caps: Vec<f64> = self.reached.iter().map(|i| draw.caps[*i]).collect();
        let found = solutions(part, &velocity, Some(&caps))?;
        draw.work += enumeration_work(self.reached.len(), self.slots.len());
        let choice = (rng.next_uniform() * found.len() as f64) as usize;
        let Some(solution) = found.get(choice) else {
            return Err(ImpactError::Complementarity {
                status: LcpStatus::Inaccurate,
                residual: f64::INFINITY,
            });
        };
        let mut terms: Vec<f64> = draw.velocity.iter().map(|b| b.abs()).collect();
        for ((&slot, sign), l) in own.zip(&solution.impulse) {
            let l = sign * l;
            let column = space.gram.column(slot);
            draw.impulse[slot] += l;
            kernel::add_scaled(&mut draw.velocity, l, column.as_slice());
            let made = column.iter().map(|g| (g * l).abs());
            terms.iter_mut().zip(made).for_each(|(t, made)| *t += made);
        }
        let width = space.width();
        let modes = solution.modes.first().into_iter().flatten();
        for (slot, ends) in self.reached.iter().zip(modes).flat_map(|(i, mode)| {
            let normal = (i * width, mode.is_closed());
            let tangents = i * width + 1..(i + 1) * width;
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
        self.solve(velocity, caps, workspace)?;
        *work += workspace.work() - worked;
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

    /// Writes the velocities of all contact rows, as given, after a sample.
    pub fn contact_velocity(&self, draw: &Draw, rows: &mut Vec<f64>) {
        rows.clear();
        rows.extend_from_slice(&self.rows_before);
        for (column, l) in self.rows_from_slots.column_iter().zip(&draw.impulse) {
            kernel::add_scaled(rows, *l, column.as_slice());
        }
    }

    /// The outcome of a sample, audited.
    ///
    /// # Errors
    ///
    /// The errors of [`audit`](crate::audit()).
    pub fn outcome(&self, draw: &Draw) -> Result<ImpactOutcome, ImpactError> {
        let status = if self.problem.is_approaching() {
            ImpactStatus::Resolved
        } else {
            ImpactStatus::Separating
        };
        let diagnostics = Diagnostics::SetValued {
            sample: draw.sample,
            steps: draw.steps,
            pivots: draw.pivots,
            velocity_residual: draw.velocity_residual,
        };
        let rules = Rules {
            may_approach: !draw.is_ended,
            ..Rules::FRICTIONAL
        };
        let mut impulse = draw.impulse.clone();
        for part in &self.canonical {
            part.share(self.space.width(), &mut impulse);
        }
        let draft = self.space.draft(self.problem, &impulse);
        draft.outcome(
            self.problem,
            &rules,
            &mut Opening::default(),
            status,
            diagnostics,
        )
    }
}

/// Contacts that share bodies, directly or through others, with one that approaches; all if none does.
/// Parts stand in the order of their fastest approach.
fn reached(
    problem: &ImpactProblem<'_>,
    space: &ContactSpace,
    before: &[f64],
    cones_are_round: bool,
) -> Vec<Canonical> {
    let mut parts = space.independent();
    let approaches = |part: &Vec<usize>| part.iter().any(|i| problem.approaches(*i));
    if parts.iter().any(approaches) {
        parts.retain(approaches);
    }
    let parts = parts.into_iter();
    let mut parts: Vec<Canonical> = parts
        .map(|contacts| Canonical::new(space, &contacts, before, &[], cones_are_round))
        .collect();
    let closing = |part: &Canonical| {
        let first = part.contacts.first();
        first.map_or(0.0, |contact| before[contact * space.width()])
    };
    // Stable: equal parts stay as given.
    parts.sort_by(|one, other| closing(one).total_cmp(&closing(other)));
    parts
}

/// Units of work of all solutions of a step: each contact of n is open, sticks or slides, saturated or not.
fn enumeration_work(n_contacts: usize, n_slots: usize) -> u64 {
    7u64.saturating_pow(n_contacts as u32) * (n_slots as u64).pow(3)
}

/// The default cap on slots: see [`SetValued::impulse_step`].
fn default_cap(stepper: &ImpactStepper<'_>, before: &[f64], sizes: &[f64]) -> f64 {
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
        if pushes.all(|push| *push < 0.999 * most) {
            return cap;
        }
        cap = most;
    }
    stopping
}

impl SetValued {
    /// The options with policies in place of those that depend on the problem.
    fn settled(&self, problem: &ImpactProblem<'_>) -> Result<Self, ImpactError> {
        let (branch, caps) = (
            self.branch == BranchPolicy::Auto,
            self.caps == CapDistribution::Auto,
        );
        let mut settled = self.clone();
        if branch {
            settled.branch = BranchPolicy::Fixed;
        }
        if caps {
            settled.caps = CapDistribution::Uniform;
        }
        // A part of the budget suffices to see whether there are several solutions.
        let probed = Self {
            max_work: self.max_work / SETTLING_PART,
            ..settled.clone()
        };
        if (branch || caps) && ambiguous_steps(&Sampler::new(problem, &probed)?)? > 0.0 {
            if branch {
                settled.branch = BranchPolicy::RandomCovering {
                    spread: COVERING_SPREAD,
                };
            }
            if caps {
                settled.caps = CapDistribution::Mixed { off: CAP_OFF };
            }
        }
        Ok(settled)
    }

    fn validate(&self, impulse_step: f64, is_approaching: bool) -> Result<(), ImpactError> {
        let refuse = |what, value, allowed| {
            Err(ImpactError::InvalidOption {
                what,
                value,
                allowed,
            })
        };
        let is_step = impulse_step > 0.0 && impulse_step.is_finite();
        if !is_step && (is_approaching || self.impulse_step.is_some()) {
            return refuse("impulse_step", impulse_step, "finite and positive");
        }
        if self.samples == 0 {
            return refuse("samples", 0.0, "at least 1");
        }
        if self.max_steps == 0 {
            return refuse("max_steps", 0.0, "at least 1");
        }
        match self.epsilon {
            Some(e) if !(e > 0.0 && e < impulse_step) => {
                return refuse("epsilon", e, "positive and less than impulse_step");
            }
            _ => {}
        }
        match self.branch {
            BranchPolicy::RandomCovering { spread } if !(0.0..=100.0).contains(&spread) => {
                return refuse("spread", spread, "in [0, 100]");
            }
            _ => {}
        }
        match self.caps {
            CapDistribution::Mixed { off } if !(0.0..1.0).contains(&off) => {
                refuse("off", off, "in [0, 1)")
            }
            _ => Ok(()),
        }
    }

    /// The error that none of the samples of a summary has ended.
    pub fn none_of(&self, summary: &SampleSummary) -> ImpactError {
        if summary.is_limited {
            return ImpactError::WorkLimit {
                samples: summary.samples,
                max_work: self.max_work,
            };
        }
        self.none_ended()
    }

    /// The error that no sample has ended within its steps.
    pub fn none_ended(&self) -> ImpactError {
        ImpactError::SampleLimit {
            samples: self.samples,
            max_steps: self.max_steps,
        }
    }
}

impl ImpactLaw for SetValued {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    /// The first sample that ends.
    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let sampler = Sampler::new(problem, self)?;
        if !problem.is_approaching() {
            let diagnostics = Diagnostics::SetValued {
                sample: 0,
                steps: 0,
                pivots: 0,
                velocity_residual: 0.0,
            };
            return separating(problem, diagnostics);
        }
        let mut draw = Draw::default();
        let mut left = self.max_work;
        for sample in 0..self.samples {
            sampler.draw_within(left, sample, &mut draw, |_| {})?;
            if draw.is_ended {
                return sampler.outcome(&draw);
            }
            left = left.saturating_sub(draw.work);
            if left == 0 {
                return Err(ImpactError::WorkLimit {
                    samples: sample + 1,
                    max_work: self.max_work,
                });
            }
        }
        Err(self.none_ended())
    }
}

impl SetValuedLaw for SetValued {
    /// Every sample that ends, in the order of the samples. The set is never complete: it is a
    /// sample.
    fn resolve_all(&self, problem: &ImpactProblem<'_>) -> Result<OutcomeSet, ImpactError> {
        let sampler = Sampler::new(problem, self)?;
        let (summary, outcomes) = sampled_outcomes(&sampler, &|_, _| {})?;
        if outcomes.is_empty() {
            return Err(self.none_of(&summary));
        }
        let metric = problem.contacts().metric();
        let mut diameter = 0.0;
        for (i, a) in outcomes.iter().enumerate() {
            for b in &outcomes[i + 1..] {
                let difference = &a.velocity_plus.0 - &b.velocity_plus.0;
                let energy = metric.energy(&carom_metric::Tangent(difference))?;
                diameter = f64::max(diameter, (2.0 * energy).sqrt());
            }
        }
        let norm = problem.norm() / problem.scale();
        Ok(OutcomeSet {
            outcomes,
            preferred: Some(0),
            indeterminacy: if norm > 0.0 { diameter / norm } else { 0.0 },
            complete: false,
            omitted: 0,
            drawn: None,
        })
    }
}
