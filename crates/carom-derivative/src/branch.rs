//! Decisions of a law that are nearly tied, taken both ways.

use super::form::{Form, Workspace};
use super::frame::Frame;
use super::interior::{INTERIOR, interior};
use super::shift::decisive;
use super::stage::Stage;
use super::{Map, SAME_OUTCOME};
use carom_contact::event_scale::ROUNDING;
use carom_contact::{ContactSet, ImpactError};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use std::borrow::Cow;
use std::sync::Arc;

/// Pieces that are followed.
pub(super) const MAX_PIECES: usize = 64;

/// States that a search for pieces may visit.
const MAX_STATES: usize = 4096;

/// Units of work that a search for pieces may take, about a multiply-add each.
const MAX_WORK: u64 = 1_000_000_000;

/// Units of work of a choice beside its tests and stage.
const CHOICE_WORK: usize = 4000;

/// Units of work of the question whether ties leave room, over ties² n.
const TIES_WORK: usize = 16;

/// Nearly tied decisions on one way.
const MAX_TIES: usize = 64;

/// A gradient below this size is that of a quantity that never changes: of what is left of a velocity after a long
/// chain of impacts rounding decides.
pub(super) const CONSTANT: f64 = 1e-9;

/// Velocities below this fraction of the velocity before are taken for rounding by the law, whatever they depend
/// on, and those that rounding of a fast frame hides: contacts that hinder each other come to rest over ever smaller ones.
const GRAZING: f64 = 1e-11;

/// Distances of decisions that differ by less than this many roundings of the data are one.
const BLUR: f64 = 16.0;

/// Largest size (Frobenius norm) of the derivatives of a way that is followed from a tie: beyond it, rounding of the data
/// moves the end of the way by more than two ends of one outcome may differ. Contacts that hinder each other multiply
/// a change of the velocity in turn, and there is no end of ways in ever thinner cones.
const AMPLIFIED: f64 = SAME_OUTCOME / ROUNDING;

/// Cosine of the angle with a row of a cone up to which a direction beside the cone counts as one of the cone. Gaps between
/// cones that are thinner do not count: rows of ties are known to rounding of a long way.
pub(super) const SLIVER: f64 = 3e-5;

/// A decision of a law on the velocities of unit rows, by their numbers in the contact Jacobian.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// A row separates.
    Separates(usize),
    /// A row approaches.
    Approaches(usize),
    /// The velocity of one row exceeds that of another.
    Exceeds(usize, usize),
}

impl Test {
    /// Test that a row approaches, or that it separates.
    pub(super) fn that(row: usize, approaches: bool) -> Self {
        if approaches {
            Self::Approaches(row)
        } else {
            Self::Separates(row)
        }
    }

    /// The form (n) that is positive where the decision holds.
    fn write(&self, contacts: &ContactSet<'_>, form: &mut [f64]) {
        form.fill(0.0);
        match self {
            Self::Separates(row) => kernel::add_scaled(form, 1.0, contacts.unit_row(*row)),
            Self::Approaches(row) => kernel::add_scaled(form, -1.0, contacts.unit_row(*row)),
            Self::Exceeds(row, other) => {
                kernel::add_scaled(form, 1.0, contacts.unit_row(*row));
                kernel::add_scaled(form, -1.0, contacts.unit_row(*other));
            }
        }
    }
}

/// The way of an impact so far.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Whitened velocity now, and its derivatives by the one before the impact.
    pub(super) velocity: DVector<f64>,
    pub(super) jacobian: DMatrix<f64>,
    pub(super) stages: Vec<Arc<Stage>>,
    /// Derivatives of the impulses on all rows.
    pub(super) impulses: DMatrix<f64>,
    /// Signed unit rows of the nearly tied decisions.
    tied: Vec<DVector<f64>>,
    /// A whitened direction in which the law was seen to take this way.
    pub(super) towards: Option<DVector<f64>>,
    /// Least change of the velocity (kinetic norm, to first order) that moves one of the other decisions, and of all.
    pub(super) margin: f64,
    pub(super) least: f64,
    /// Largest value of the tests that were nearly tied last.
    tie: f64,
    /// Map to the velocity.
    pub(super) map: Map,
}

impl Walk {
    pub(super) fn new(frame: &Frame<'_>) -> Self {
        Self {
            velocity: frame.before.clone(),
            jacobian: frame.admissible(),
            stages: Vec::new(),
            impulses: DMatrix::zeros(frame.n_rows(), frame.dim()),
            tied: Vec::new(),
            towards: None,
            margin: f64::INFINITY,
            least: f64::INFINITY,
            tie: 0.0,
            map: Map::Chain,
        }
    }

    /// Goes on through the stages that it has not taken yet.
    fn go_on(&mut self, stages: &[Arc<Stage>]) {
        for stage in &stages[self.stages.len()..] {
            stage.advance(&mut self.jacobian, &mut self.impulses);
            self.velocity.as_mut_slice().copy_from_slice(stage.after());
            self.stages.push(Arc::clone(stage));
        }
    }

    /// The end of an impact of one contact: velocity after, distances, and rows of its ties.
    pub(super) fn at(
        frame: &Frame<'_>,
        velocity: DVector<f64>,
        margin: f64,
        least: f64,
        tied: Vec<DVector<f64>>,
    ) -> Self {
        Self {
            velocity,
            tied,
            margin,
            least,
            ..Self::new(frame)
        }
    }

    /// Takes a test in, by its value and gradient. False if it fails by more than a tie; of the law's
    /// `own` way only its ties are noted.
    fn accept(
        &mut self,
        frame: &Frame<'_>,
        value: f64,
        gradient: &DVector<f64>,
        tolerance: f64,
        own: bool,
    ) -> Result<bool, ImpactError> {
        let Some(distance) = distance(value, gradient) else {
            return Ok(own || value >= -frame.scales().whole(tolerance));
        };
        let near = match distance > 2.0 * frame.at_most(tolerance) {
            true => 0.0,
            false => frame.near(gradient, tolerance),
        };
        if distance < -near {
            if !own {
                return Ok(false);
            }
            let grazing = frame.problem.grazing().iter().copied().fold(0.0, f64::max);
            if value.abs() <= GRAZING * frame.speed + 2.0 * grazing {
                return Ok(true);
            }
        }
        self.least = self.least.min(distance.abs());
        if distance > near {
            // Long chains decide by ever smaller velocities, whose distances are known to rounding of the data.
            let known = BLUR * frame.near(gradient, 0.0) / kernel::norm(gradient.as_slice());
            if distance < self.margin - known {
                self.margin = distance;
            }
            return Ok(true);
        }
        let row = gradient / kernel::norm(gradient.as_slice());
        self.tie = self.tie.max(value.abs());
        // A decision that is made once is not made again.
        let is_same = |other: &DVector<f64>| (other - &row).norm() <= INTERIOR;
        if self.tied.iter().any(is_same) {
            return Ok(true);
        }
        if self.tied.len() >= MAX_TIES {
            return Err(ImpactError::NotDifferentiated {
                reason: "more than 64 decisions are nearly tied; a smaller `tolerance` may tell them \
                         apart",
            });
        }
        self.tied.push(row);
        Ok(true)
    }

    /// True if something near satisfies all ties, if there are more than so many.
    fn is_open(&self, n_tied: usize) -> Result<bool, ImpactError> {
        Ok(self.tied.len() == n_tied || interior(&self.tied)?.is_some())
    }

    /// Signed unit rows of the nearly tied decisions.
    pub(super) fn ties(&self) -> &[DVector<f64>] {
        &self.tied
    }

    /// True if any decision on the way was nearly tied.
    pub(super) fn is_tied(&self) -> bool {
        !self.tied.is_empty()
    }

    /// True if rounding of the data decides about the end of the way.
    fn is_amplified(&self) -> bool {
        !(self.jacobian.norm() <= AMPLIFIED)
    }

    /// True if the ties of this way are decided so in a whitened direction.
    pub(super) fn leads(&self, direction: &DVector<f64>) -> bool {
        let allowed = SLIVER * kernel::norm(direction.as_slice());
        self.tied.iter().all(|row| row.dot(direction) >= -allowed)
    }

    /// A whitened direction in which all ties are decided as on this way.
    pub(super) fn direction(&self, frame: &Frame<'_>) -> Result<DVector<f64>, ImpactError> {
        if let Some(direction) = &self.towards {
            return Ok(direction.clone());
        }
        Ok(interior(&self.tied)?.unwrap_or_else(|| DVector::zeros(frame.dim())))
    }

    /// Both ways at once; `None` if their ties contradict each other.
    pub(super) fn meet(&self, other: &Self) -> Result<Option<Self>, ImpactError> {
        let mut both = self.clone();
        both.tied.extend(other.tied.iter().cloned());
        both.margin = both.margin.min(other.margin);
        both.least = both.least.min(other.least);
        Ok(both.is_open(0)?.then_some(both))
    }
}

/// Change of the velocity (kinetic norm) by which a test is missed, to first order: negative if it fails,
/// `None` if it never changes.
pub(super) fn distance(value: f64, gradient: &DVector<f64>) -> Option<f64> {
    let size = kernel::norm(gradient.as_slice());
    (size > CONSTANT).then(|| value / size)
}

/// A stage in its mode, and the forms that decide for the mode.
pub(super) type Step = (Arc<Stage>, Vec<Form>);

/// A way on from a state.
struct Choice<S> {
    /// End of its tests among all; they begin where those of the stage before end.
    end: usize,
    stage: Option<Step>,
    next: Option<S>,
}

/// The ways on from a state, the law's own first.
pub(super) struct Choices<S> {
    tests: Vec<Test>,
    choices: Vec<Choice<S>>,
}

impl<S> Choices<S> {
    /// Adds a way on: what decides for it but what its stage decides, what happens, and the state
    /// after, `None` at the end.
    pub(super) fn add(
        &mut self,
        tests: impl IntoIterator<Item = Test>,
        stage: Option<Step>,
        next: Option<S>,
    ) {
        self.tests.extend(tests);
        let end = self.tests.len();
        self.choices.push(Choice { end, stage, next });
    }

    fn clear(&mut self) {
        self.tests.clear();
        self.choices.clear();
    }
}

/// All ways that decisions can take which are nearly tied, the law's own first.
pub(super) struct Found {
    pub(super) walks: Vec<Walk>,
    pub(super) is_complete: bool,
    /// Units of work, about a multiply-add each.
    pub(super) work: u64,
}

/// Tolerances and limits of ties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ties {
    /// Decisions within this fraction of what contacts see of the velocity are tied.
    pub(super) tolerance: f64,
    /// True if dependent contacts may share their impulses otherwise than the law to pass a test: where no
    /// other velocity after the impact is possible.
    pub(super) may_shift: bool,
}

impl Ties {
    /// Ties within a tolerance, where the velocity after is unique.
    pub(super) fn within(tolerance: f64) -> Self {
        Self {
            tolerance,
            may_shift: true,
        }
    }

    /// Follows a law from a state: `choices` adds the ways on, the law's own first. Others matter
    /// only where a test of the law's own is nearly tied: `choices` is asked for them then, and
    /// told how large the tied values are.
    pub(super) fn follow<S: Clone>(
        self,
        frame: &Frame<'_>,
        start: S,
        mut choices: impl FnMut(&Walk, &S, Option<f64>, &mut Choices<S>) -> Result<(), ImpactError>,
    ) -> Result<Found, ImpactError> {
        let mut found = Found {
            walks: Vec::new(),
            is_complete: true,
            work: 0,
        };
        let mut open = vec![(Walk::new(frame), start)];
        let mut workspace = Workspace::new(frame.dim());
        let mut named = Choices {
            tests: Vec::new(),
            choices: Vec::new(),
        };
        let mut states = 0;
        let mut is_first = true;
        while let Some((mut walk, mut state)) = open.pop() {
            // The way up to its last tie.
            let mut known = walk.clone();
            loop {
                states += 1;
                let is_over = states > MAX_STATES || found.work > MAX_WORK;
                if found.walks.len() >= MAX_PIECES || (!is_first && is_over) {
                    found.is_complete = false;
                    return Ok(found);
                }
                walk.tie = 0.0;
                named.clear();
                choices(&walk, &state, None, &mut named)?;
                let Some(own) = named.choices.drain(..).next() else {
                    break;
                };
                let (margin, least) = (walk.margin, walk.least);
                let (n_tied, n_stages) = (walk.tied.len(), walk.stages.len());
                let tests = &named.tests[..own.end];
                found.work += walk.work_of(frame, tests.len(), own.stage.as_ref());
                let is_open = walk.take(frame, tests, own.stage, self, true, &mut workspace)?;
                if walk.tied.len() > n_tied {
                    // The other ways, from the same state.
                    known.go_on(&walk.stages[..n_stages]);
                    let before = Walk {
                        tied: walk.tied[..n_tied].to_vec(),
                        margin,
                        least,
                        ..known.clone()
                    };
                    let mut others = Vec::new();
                    named.clear();
                    choices(&before, &state, Some(walk.tie), &mut named)?;
                    let mut start = 0;
                    for (k, choice) in named.choices.drain(..).enumerate() {
                        let tests = &named.tests[start..choice.end];
                        start = choice.end;
                        let mut other = before.clone();
                        let stage = choice.stage;
                        if k > 0 {
                            found.work += other.work_of(frame, tests.len(), stage.as_ref());
                        }
                        if k > 0 && other.take(frame, tests, stage, self, false, &mut workspace)? {
                            match other.is_amplified() {
                                true => found.is_complete = false,
                                false => others.push((other, choice.next)),
                            }
                        }
                    }
                    for (other, next) in others.into_iter().rev() {
                        match next {
                            Some(next) => open.push((other, next)),
                            None => found.walks.push(other),
                        }
                    }
                }
                if !is_open {
                    break;
                }
                if !is_first && walk.is_amplified() {
                    found.is_complete = false;
                    break;
                }
                match own.next {
                    Some(next) => state = next,
                    None => {
                        if is_first {
                            found.walks.insert(0, walk);
                        } else {
                            found.walks.push(walk);
                        }
                        break;
                    }
                }
            }
            is_first = false;
        }
        Ok(found)
    }
}

impl Walk {
    /// Units of work of a choice: its tests, the derivatives of its stage, and whether all ties leave room.
    fn work_of(&self, frame: &Frame<'_>, tests: usize, stage: Option<&Step>) -> u64 {
        let (n, rows) = (frame.dim(), frame.n_rows());
        let forms = stage.map_or(0, |(_, forms)| forms.len());
        let ties = self.tied.len();
        let of_stage = stage.map_or(0, |_| n * n * rows + rows * rows * rows);
        (CHOICE_WORK + 2 * (tests + forms) * n * n + of_stage + TIES_WORK * ties * ties * n) as u64
    }

    /// Takes a choice with its tests; says whether it is open.
    fn take(
        &mut self,
        frame: &Frame<'_>,
        tests: &[Test],
        stage: Option<Step>,
        ties: Ties,
        own: bool,
        workspace: &mut Workspace,
    ) -> Result<bool, ImpactError> {
        let tolerance = ties.tolerance;
        let n_tied = self.tied.len();
        for test in tests {
            let Workspace { form, gradient } = workspace;
            test.write(frame.problem.contacts(), form.as_mut_slice());
            let value = form.dot(&self.velocity);
            self.jacobian.tr_mul_to(form, gradient);
            if !self.accept(frame, value, gradient, tolerance, own)? {
                return Ok(false);
            }
        }
        let Some((stage, forms)) = stage else {
            return self.is_open(0);
        };
        if !(own || self.is_open(n_tied)? && stage.has_room(&self.jacobian)) {
            return Ok(false);
        }
        if own && !stage.is_curved() && !stage.has_room(&self.jacobian) {
            // Held in more ways than the velocities nearby allow: they take another way each.
            let nowhere = DVector::from_fn(frame.dim(), |i, _| if i == 0 { 1.0 } else { 0.0 });
            self.tied.extend([-&nowhere, nowhere]);
            return Ok(false);
        }
        let n_tied = self.tied.len();
        if forms.is_empty() {
            stage.advance(&mut self.jacobian, &mut self.impulses);
        } else {
            let before = self.jacobian.clone();
            let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
            stage.advance(&mut self.jacobian, &mut impulses);
            self.impulses += &impulses;
            let decisive = match ties.may_shift {
                true => decisive(frame, &stage, &forms)?,
                false => Cow::Borrowed(forms.as_slice()),
            };
            for form in decisive.iter() {
                let value =
                    form.evaluate(frame, &stage, &before, &self.jacobian, &impulses, workspace);
                if !self.accept(frame, value, &workspace.gradient, tolerance, own)? {
                    return Ok(false);
                }
            }
        }
        self.velocity.as_mut_slice().copy_from_slice(stage.after());
        self.stages.push(stage);
        self.is_open(n_tied)
    }
}
