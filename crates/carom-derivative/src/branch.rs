//! Branches of an impact: decisions of a law that are nearly tied are followed on both sides.

use super::form::{Form, Workspace};
use super::frame::{Frame, GRAZING};
use super::interior::{INTERIOR, interior, wider};
use super::shift::decisive;
use super::stage::Stage;
use super::{Map, SAME_JACOBIAN, SAME_OUTCOME};
use carom_contact::event_scale::ROUNDING;
use carom_contact::{ContactSet, ImpactError, RowIndex};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use std::borrow::Cow;
use std::sync::Arc;

/// Largest number of branches that are followed.
pub(super) const MAX_PIECES: usize = 64;

/// Largest number of states from which a search for branches may advance the velocity. Contacts that are only looked at cost
/// little, and a copy of a contact is no more than looked at.
const MAX_STATES: usize = 4096;

/// Largest amount of work that a search for branches may take; one unit is about one multiply-add.
const MAX_WORK: u64 = 1_000_000_000;

/// Units of work of a choice, in addition to its tests and its stage.
const CHOICE_WORK: usize = 4000;

/// Units of work for testing that the ties leave room, per ties² n.
const TIES_WORK: usize = 16;

/// Reason why a branch is not followed.
const TOO_MANY: &str =
    "more than 64 decisions are nearly tied; a smaller `tolerance` may tell them apart";

/// Largest number of nearly tied decisions on one branch.
const MAX_TIES: usize = 64;

/// Number of tied decisions on one branch from which on a decision is not tied only because rounding hides its value.
const MAX_HIDDEN: usize = 16;

/// A quantity whose gradient is below this size counts as constant: after a long chain of impacts only rounding is left
/// of a velocity.
pub(super) const CONSTANT: f64 = 1e-9;

/// Distances of two decisions count as equal if they differ by less than this many roundings of the data.
const BLUR: f64 = 16.0;

/// Derivative of a velocity of a unit row with respect to the velocity before the impact, below which the velocity has decayed: at
/// the end of a long chain of strikes both vanish in the limit. A tie at the end of a chain has a derivative of about one. Where laws
/// cut chains off, derivatives of up to 0.02 were left: most of them in fast frames, in which laws cut earlier.
pub(super) const DECAYED: f64 = 0.025;

/// Derivative of a decayed velocity that counts as zero. The distances of decisions approach those in the limit as the derivatives
/// vanish, and reach them there up to this fraction.
pub(super) const VANISHED: f64 = 1e-6;

/// Number of strikes from which on a chain may be a limit that was cut off.
pub(super) const LONG: usize = 8;

/// Largest size (Frobenius norm) of the derivatives of a branch that is followed from a tie. Beyond it, rounding of the
/// data changes the end of the branch by more than two ends of one outcome may differ. Contacts that hinder each other
/// amplify a change of the velocity alternately, and would give endless branches in ever thinner cones.
const AMPLIFIED: f64 = SAME_OUTCOME / ROUNDING;

/// Cosine by which a direction may violate a row of a cone and still count as inside the cone. Thinner gaps between cones
/// do not count, because rows of ties have the rounding of a long branch.
pub(super) const SLIVER: f64 = 3e-5;

/// Decision of a law about velocities of unit rows, which are given by their indices in the contact Jacobian.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// The row separates.
    Separates(RowIndex),
    /// The row approaches.
    Approaches(RowIndex),
    /// The velocity of the first row exceeds that of the second.
    Exceeds(RowIndex, RowIndex),
}

impl Test {
    /// Creates the test that decides about the sign of the velocity along a contact row. If `approaches` is true, the
    /// contact must approach; otherwise the contact must separate.
    pub(super) fn that(row: RowIndex, approaches: bool) -> Self {
        if approaches {
            Self::Approaches(row)
        } else {
            Self::Separates(row)
        }
    }

    /// Writes into `form` the coefficients of a linear function of the whitened velocity (n entries). The function is
    /// positive if the decision of this test is made.
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

/// Branch of an impact up to the current state.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Current whitened velocity, and its derivatives with respect to the velocity before the impact.
    pub(super) velocity: DVector<f64>,
    pub(super) jacobian: DMatrix<f64>,
    pub(super) stages: Vec<Arc<Stage>>,
    /// Derivatives of the impulses on all rows.
    pub(super) impulses: DMatrix<f64>,
    /// Signed unit rows of the nearly tied decisions: each is positive on the side of this branch.
    tied: Vec<DVector<f64>>,
    /// Whitened direction in which the law was evaluated and took this branch.
    pub(super) towards: Option<DVector<f64>>,
    /// Smallest change of the velocity (kinetic norm, to first order) that changes a decision: `margin` among decisions
    /// that are not tied, `least` among all.
    pub(super) margin: f64,
    pub(super) least: f64,
    /// Like `margin`, among decisions about velocities that have not [vanished](VANISHED).
    before_limit: f64,
    /// Largest value of the tests that were nearly tied in the last choice.
    tie: f64,
    /// True if some nearly tied decisions were followed on one side only, because there are too many.
    is_cut: bool,
    /// Map from the velocity before the impact to the current velocity.
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
            before_limit: f64::INFINITY,
            tie: 0.0,
            is_cut: false,
            map: Map::Chain,
        }
    }

    /// Advances the velocity, the Jacobian and the impulses of this branch through a list of stages (parts of an
    /// impact with fixed contact modes). The first entries of `stages` are the stages through which the branch has
    /// already advanced; these stages are skipped.
    fn go_on(&mut self, stages: &[Arc<Stage>]) {
        for stage in &stages[self.stages.len()..] {
            stage.advance(&mut self.jacobian, &mut self.impulses);
            self.velocity.as_mut_slice().copy_from_slice(stage.after());
            self.stages.push(Arc::clone(stage));
        }
    }

    /// Creates a completed branch of an impact of one contact. `velocity` is the velocity after the impact. `margin` is
    /// the smallest change of velocity that changes a decision that is not tied, and `least` the smallest one that
    /// changes any decision. `tied` holds the signed unit rows of the tied decisions, which a tiny change of the
    /// velocity reverses.
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

    /// Records a test of the law on this branch. A test is a condition on the velocities or impulses by which the law
    /// makes a decision. `value` is positive if the test holds, and `gradient` is its derivative with respect to the
    /// whitened velocity before the impact. Returns false if the test fails by more than the relative `tolerance` for
    /// ties. If `own` is true, this is the branch of the law itself, where a failed test counts as a tie instead.
    fn accept(
        &mut self,
        frame: &Frame<'_>,
        value: f64,
        gradient: &DVector<f64>,
        tolerance: f64,
        own: bool,
    ) -> Result<bool, ImpactError> {
        let size = kernel::norm(gradient.as_slice());
        // A decision about such a quantity changes the Jacobian by no more than equal Jacobians may differ. Beside impulses of a thousand
        // times the momentum, only rounding is left of the gradient.
        if size <= SAME_JACOBIAN {
            return Ok(own || value >= -frame.scales().whole(tolerance));
        }
        let distance = value / size;
        // The end of a long chain: it comes to the same limit whatever is struck next.
        let has_decayed = size <= DECAYED && self.stages.len() >= LONG;
        let is_graze =
            |value: f64| value <= frame.at_most(GRAZING) && value <= frame.near(gradient, GRAZING);
        if has_decayed && is_graze(value.abs()) {
            return Ok(true);
        }
        let near = if value > 2.0 * (frame.at_most(tolerance) * size).max(BLUR * frame.at_most(0.0))
        {
            0.0
        } else {
            // A value that rounding hides decides nothing, however little it depends on the velocity before the impact.
            let hidden = BLUR * frame.near(gradient, 0.0) / size;
            frame.near(gradient, tolerance).max(hidden)
        };
        if distance < -near {
            if !own {
                return Ok(false);
            }
            if value.abs() <= frame.grazing() {
                return Ok(true);
            }
        }
        // The data do not tell how far a tie is away that rounding hides.
        let is_hidden = near > 0.0 && value.abs() <= frame.near(gradient, 0.0);
        let least = if is_hidden { 0.0 } else { distance.abs() };
        self.least = self.least.min(least);
        if distance > near {
            // In long chains ever smaller velocities decide, and their distances have the rounding of the data.
            let known = BLUR * frame.near(gradient, 0.0) / kernel::norm(gradient.as_slice());
            if distance < self.margin - known {
                self.margin = distance;
            }
            if size > VANISHED {
                self.before_limit = self.before_limit.min(distance);
            }
            return Ok(true);
        }
        let row = gradient / kernel::norm(gradient.as_slice());
        self.tie = self.tie.max(value.abs());
        // A decision that was already recorded is not added again.
        let is_same = |other: &DVector<f64>| (other - &row).norm() <= INTERIOR;
        if self.tied.iter().any(is_same) {
            return Ok(true);
        }
        if self.tied.len() >= MAX_HIDDEN && distance.abs() > frame.near(gradient, tolerance) {
            // Further decisions about velocities that rounding hides are left as they were made.
            self.is_cut = true;
            return Ok(own || value >= 0.0);
        }
        let is_long = self.stages.len() >= LONG;
        if own && is_long && is_graze(value.abs()) {
            // Rounding has made this decision: it must not contradict those before it.
            let all: Vec<&DVector<f64>> = self.tied.iter().chain([&row]).collect();
            if wider(&all, INTERIOR)?.is_none() {
                self.is_cut = true;
                return Ok(true);
            }
        }
        if self.tied.len() >= MAX_TIES {
            return Err(ImpactError::NotDifferentiated { reason: TOO_MANY });
        }
        self.tied.push(row);
        Ok(true)
    }

    /// True if some velocity nearby satisfies all tied decisions of this branch of the law. A decision is tied if a
    /// tiny change of the velocity reverses it. The first `n_tied` of these decisions are already known to be satisfied
    /// together, so that nothing is computed if there are no others.
    fn is_open(&self, n_tied: usize) -> Result<bool, ImpactError> {
        Ok(self.tied.len() == n_tied || interior(&self.tied)?.is_some())
    }

    /// Returns the unit rows of the nearly tied decisions of this branch, which a tiny change of the velocity reverses.
    /// The law stays on the branch for those velocity changes that have a positive product with every row.
    pub(super) fn ties(&self) -> &[DVector<f64>] {
        &self.tied
    }

    /// True if any decision of the law on this branch was nearly tied, that is, if a tiny change of the velocity
    /// reverses the decision.
    pub(super) fn is_tied(&self) -> bool {
        !self.tied.is_empty()
    }

    /// True if the Jacobian of this branch is so large that the rounding error of the data changes the velocity at its
    /// end by more than two equal outcomes may differ.
    fn is_amplified(&self) -> bool {
        !(self.jacobian.norm() <= AMPLIFIED)
    }

    /// True if the branch continues for a velocity that is changed in the given whitened direction: with this change,
    /// all tied decisions are made as on this branch.
    pub(super) fn leads(&self, direction: &DVector<f64>) -> bool {
        let allowed = SLIVER * kernel::norm(direction.as_slice());
        self.tied.iter().all(|row| row.dot(direction) >= -allowed)
    }

    /// Returns a whitened direction in which the velocity can change while the law stays on this branch. All tied
    /// decisions, which a tiny change of the velocity reverses, are then made as on the branch. Returns the zero vector
    /// if no such direction exists.
    pub(super) fn direction(&self, frame: &Frame<'_>) -> Result<DVector<f64>, ImpactError> {
        if let Some(direction) = &self.towards {
            return Ok(direction.clone());
        }
        Ok(interior(&self.tied)?.unwrap_or_else(|| DVector::zeros(frame.dim())))
    }

    /// Returns this branch restricted to those velocities for which the decisions of `other` are made, too: the result
    /// has the tied decisions of both branches. `None` if no velocity nearby satisfies these decisions.
    pub(super) fn meet(&self, other: &Self) -> Result<Option<Self>, ImpactError> {
        let mut both = self.clone();
        both.tied.extend(other.tied.iter().cloned());
        both.margin = both.margin.min(other.margin);
        both.least = both.least.min(other.least);
        Ok(both.is_open(0)?.then_some(both))
    }
}

/// Returns the change of the velocity (kinetic norm, to first order) at which a test of the law (a quantity whose sign
/// decides) changes sign, from the `value` and the `gradient` of the test. The result is negative if the test fails
/// now, and `None` if the gradient is zero, so that the value never changes.
pub(super) fn distance(value: f64, gradient: &DVector<f64>) -> Option<f64> {
    let size = kernel::norm(gradient.as_slice());
    (size > CONSTANT).then(|| value / size)
}

/// Stage in its mode, with the forms that decide for the mode.
pub(super) type Step = (Arc<Stage>, Vec<Form>);

/// One choice in a state.
struct Choice<S> {
    /// End of the tests of this choice in the list of all tests. They begin at the end of the previous choice.
    end: usize,
    stage: Option<Step>,
    next: Option<S>,
}

/// Choices in a state, the law's own first.
pub(super) struct Choices<S> {
    tests: Vec<Test>,
    choices: Vec<Choice<S>>,
}

impl<S> Choices<S> {
    /// Adds a possible choice of the law in the present state. `tests` are the conditions for the choice besides those
    /// of `stage`. `stage` is the part of the impact (with fixed contact modes) that follows the choice, if any. `next`
    /// is the state after the choice, `None` if the impact ends.
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

/// All branches that nearly tied decisions can take, the law's own first.
pub(super) struct Found {
    pub(super) walks: Vec<Walk>,
    pub(super) is_complete: bool,
    /// True if a branch was left out because a change of the velocity grows too large on it.
    pub(super) is_amplified: bool,
    /// Units of work; one unit is about one multiply-add.
    pub(super) work: u64,
}

/// True if a choice was given up because too many decisions before it are tied.
fn is_too_many(taken: &Result<bool, ImpactError>) -> bool {
    matches!(taken, Err(ImpactError::NotDifferentiated { reason }) if *reason == TOO_MANY)
}

/// Tolerance and rules for nearly tied decisions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ties {
    /// Decisions count as tied within this fraction of the velocity that contacts can change.
    pub(super) tolerance: f64,
    /// True if impulses may be shifted between dependent contacts, differently from the law's, to pass a test. Allowed
    /// only if the velocity after the impact is unique.
    pub(super) may_shift: bool,
}

impl Ties {
    /// Creates the rules for tied decisions from the relative `tolerance` within which a decision counts as tied. By
    /// these rules, impulses may be exchanged between dependent contacts to pass a test; the velocity after the impact
    /// must be unique.
    pub(super) fn within(tolerance: f64) -> Self {
        Self {
            tolerance,
            may_shift: true,
        }
    }

    /// Finds all branches of a law from the state `start`. Where a decision is nearly tied (a tiny change of the
    /// velocity reverses it), both sides are followed. The closure `choices` lists the possible choices of the law in a
    /// state; the law's own choice is the first. The closure is called a second time, for a complete list, if a test of
    /// the law's own choice is nearly tied. The third argument of `choices` is `None` at the first call, and the
    /// largest value of the tied tests at the second.
    pub(super) fn follow<S: Clone>(
        self,
        frame: &Frame<'_>,
        start: S,
        mut choices: impl FnMut(&Walk, &S, Option<f64>, &mut Choices<S>) -> Result<(), ImpactError>,
    ) -> Result<Found, ImpactError> {
        let mut found = Found {
            walks: Vec::new(),
            is_complete: true,
            is_amplified: false,
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
            // The branch up to its last tie.
            let mut known = walk.clone();
            loop {
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
                states += usize::from(own.stage.is_some());
                let distances = (walk.margin, walk.least, walk.before_limit);
                let (n_tied, n_stages) = (walk.tied.len(), walk.stages.len());
                let tests = &named.tests[..own.end];
                found.work += walk.work_of(frame, tests.len(), own.stage.as_ref());
                let taken = walk.take(frame, tests, own.stage, self, true, &mut workspace);
                if is_too_many(&taken) && !is_first {
                    found.is_complete = false;
                    break;
                }
                let is_open = taken?;
                found.is_complete &= !walk.is_cut;
                if walk.tied.len() > n_tied {
                    // Other choices from this state.
                    known.go_on(&walk.stages[..n_stages]);
                    let mut before = known.clone();
                    (before.margin, before.least, before.before_limit) = distances;
                    before.tied = walk.tied[..n_tied].to_vec();
                    let mut others = Vec::new();
                    named.clear();
                    choices(&before, &state, Some(walk.tie), &mut named)?;
                    let mut start = 0;
                    for (k, choice) in named.choices.drain(..).enumerate() {
                        let tests = &named.tests[start..choice.end];
                        start = choice.end;
                        if k == 0 {
                            continue;
                        }
                        let (mut other, stage) = (before.clone(), choice.stage);
                        found.work += other.work_of(frame, tests.len(), stage.as_ref());
                        let taken = other.take(frame, tests, stage, self, false, &mut workspace);
                        found.is_complete &= !(other.is_cut || is_too_many(&taken));
                        if !is_too_many(&taken) && taken? {
                            if other.is_amplified() {
                                (found.is_complete, found.is_amplified) = (false, true);
                            } else {
                                others.push((other, choice.next));
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
                    (found.is_complete, found.is_amplified) = (false, true);
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
    /// Returns the estimated work of following a choice of the law, in units of about one multiply-add. The estimate
    /// counts the number of `tests` of the choice, the derivatives of its `stage` (part of the impact with fixed
    /// contact modes), and the check that some velocity satisfies all tied decisions.
    fn work_of(&self, frame: &Frame<'_>, tests: usize, stage: Option<&Step>) -> u64 {
        let (n, rows) = (frame.dim(), frame.n_rows());
        let forms = stage.map_or(0, |(_, forms)| forms.len());
        let ties = self.tied.len();
        let of_stage = stage.map_or(0, |_| n * n * rows + rows * rows * rows);
        (CHOICE_WORK + 2 * (tests + forms) * n * n + of_stage + TIES_WORK * ties * ties * n) as u64
    }

    /// Returns the change of the velocity (kinetic norm, to first order) at which the velocity along a row no longer exceeds that
    /// along the row `other` while `other` approaches. Contacts that separate are not compared: the order of two rows matters only
    /// where both approach. `None` if `other` approaches at the nearest velocity at which both are equal. `value` and
    /// `gradient` are those of the difference.
    fn corner(
        &self,
        frame: &Frame<'_>,
        other: RowIndex,
        value: f64,
        gradient: &DVector<f64>,
    ) -> Option<f64> {
        let unit = DVector::from_column_slice(frame.problem.contacts().unit_row(other));
        let rate = unit.dot(&self.velocity);
        let own = self.jacobian.tr_mul(&unit);
        let (e, b) = (gradient.norm_squared(), own.norm_squared());
        let mixed = gradient.dot(&own);
        if !(e > 0.0 && rate - value * mixed / e > 0.0) {
            return None;
        }
        // Both velocities are zero at the nearest one.
        let determinant = e * b - mixed * mixed;
        let square =
            (value * value * b - 2.0 * value * rate * mixed + rate * rate * e) / determinant;
        let is_regular = determinant > CONSTANT * e * b;
        Some(if is_regular {
            square.sqrt()
        } else {
            f64::INFINITY
        })
    }

    /// Continues the branch with a choice of the law: records the `tests` of the choice, then advances through its
    /// `stage` (part of the impact with fixed contact modes). `ties` holds the rules for tied decisions, which a tiny
    /// change of the velocity reverses. `own` is true on the branch that the law itself takes. Returns true if this
    /// branch still is that of some velocity nearby.
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
            let (margin, least, ties) = (self.margin, self.least, self.tied.len());
            let before_limit = self.before_limit;
            if !self.accept(frame, value, gradient, tolerance, own)? {
                return Ok(false);
            }
            if let Test::Exceeds(_, other) = test
                && self.tied.len() == ties
                && (self.margin < margin || self.least < least)
                && let Some(distance) = self.corner(frame, *other, value, gradient)
            {
                self.margin = margin.min(self.margin.max(distance));
                self.least = least.min(self.least.max(distance));
                self.before_limit = before_limit.min(self.before_limit.max(distance));
            }
        }
        let Some((stage, forms)) = stage else {
            return self.is_open(0);
        };
        if stage.is_limit {
            self.margin = self.margin.max(self.before_limit);
        }
        let has_room = stage.is_limit || stage.has_room(&self.jacobian);
        if !(own || self.is_open(n_tied)? && has_room) {
            return Ok(false);
        }
        if own && !stage.is_curved() && !has_room {
            // Dependent contacts ask for more than the velocities nearby allow: these velocities take other branches.
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
            let decisive = if ties.may_shift {
                decisive(frame, &stage, &forms)?
            } else {
                Cow::Borrowed(forms.as_slice())
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
