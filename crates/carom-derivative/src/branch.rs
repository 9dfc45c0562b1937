//! The branch that a law takes to its outcome: stages, derivatives, and the decisions along the way.

use super::decision::Decision;
use super::form::{Form, Workspace};
use super::frame::Frame;
use super::shift::decisive;
use super::stage::Stage;
use super::{Map, TieKind};
use crate::SAME_JACOBIAN;
use crate::tolerances::GRAZING;
use crate::tolerances::NEGLIGIBLE;
use carom_contact::{ContactSet, RowIndex};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use std::borrow::Cow;
use std::sync::Arc;

/// Multiple of the rounding of the data up to which distances of two decisions count as equal, and of the distance of ties beyond
/// which a velocity is beside them.
pub(super) const BLUR: f64 = 16.0;

/// Derivative of a velocity of a unit row with respect to the velocity before the impact, below which the velocity has decayed: at
/// the end of a long chain of strikes both vanish in the limit. A tie at the end of a chain has a derivative of about one. Where laws
/// cut chains off, derivatives of up to 0.02 were left: most of them in fast frames, in which laws cut earlier.
pub(super) const DECAYED: f64 = 0.025;

/// Derivative of a decayed velocity that counts as zero. The distances of decisions approach those in the limit as the derivatives
/// vanish, and reach them there up to this fraction.
pub(super) const VANISHED: f64 = 1e-6;

/// Number of strikes from which on a chain may be a limit that was cut off.
pub(super) const LONG: usize = 8;

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
    fn write(&self, contacts: &ContactSet, form: &mut [f64]) {
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

    /// Returns the contact row and the kind of the decision. `is_first` is true before the first stage of the impact.
    fn decides(&self, is_first: bool) -> Decision {
        let (row, kind) = match self {
            Self::Separates(row) | Self::Approaches(row) if is_first => (*row, TieKind::Touching),
            Self::Separates(row) | Self::Approaches(row) => (*row, TieKind::Closing),
            Self::Exceeds(row, other) => (RowIndex::max(*row, *other), TieKind::Order),
        };
        Decision::new(row, kind)
    }
}

/// A decision that a tiny change of the velocity reverses.
#[derive(Clone, Debug)]
pub(super) struct Tied {
    /// Whitened unit covector (n entries), positive on the side of the branch.
    pub(super) row: DVector<f64>,
    /// Change of the velocity (kinetic norm) that reverses the decision; negative if the decision is made against its condition.
    pub(super) distance: f64,
    pub(super) decision: Decision,
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
    /// Decisions within the tolerance of ties.
    pub(super) tied: Vec<Tied>,
    /// Whitened direction of velocity change in which the law was evaluated and took this branch.
    pub(super) towards: Option<DVector<f64>>,
    /// Smallest change of the velocity (kinetic norm, to first order) that changes a decision that is not tied.
    pub(super) margin: f64,
    /// Whitened unit covector (n entries) of that decision; zero without such a decision.
    pub(super) nearest: DVector<f64>,
    /// Like `margin`, among decisions about velocities that have not [vanished](VANISHED).
    before_limit: f64,
    /// True if the modes of a stage exist only for velocities without interior: every velocity nearby takes another branch.
    pub(super) is_pinched: bool,
    /// False if the distance of some decision is not known.
    pub(super) is_bounded: bool,
    /// True if the Jacobian changes with the velocity on this branch, or with the end of a long chain of strikes.
    pub(super) is_curved: bool,
    /// Units of work; one unit is about one multiply-add.
    pub(super) work: u64,
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
            nearest: DVector::zeros(frame.dim()),
            before_limit: f64::INFINITY,
            is_pinched: false,
            is_bounded: true,
            is_curved: false,
            work: 0,
            map: Map::Chain,
        }
    }

    /// Records a decision of the law on this branch. `value` is positive if its condition holds, and `gradient` is the derivative
    /// of the value with respect to the whitened velocity before the impact. The decision is tied if a relative change of the
    /// velocity by at most `tolerance` reverses it, or if the law has made it against the condition.
    fn accept(
        &mut self,
        frame: &Frame<'_>,
        value: f64,
        gradient: &DVector<f64>,
        decision: Decision,
        tolerance: f64,
    ) {
        let size = kernel::norm(gradient.as_slice());
        // A decision about such a quantity changes the Jacobian by no more than equal Jacobians may differ. Beside impulses of a thousand
        // times the momentum, only rounding is left of the gradient.
        if size <= SAME_JACOBIAN {
            return;
        }
        let distance = value / size;
        // The end of a long chain: it comes to the same limit whatever is struck next.
        let has_decayed = size <= DECAYED && self.stages.len() >= LONG;
        let is_graze =
            |value: f64| value <= frame.at_most(GRAZING) && value <= frame.near(gradient, GRAZING);
        if has_decayed && is_graze(value.abs()) {
            return;
        }
        let near = if value > 2.0 * (frame.at_most(tolerance) * size).max(BLUR * frame.at_most(0.0))
        {
            0.0
        } else {
            // A value that rounding hides decides nothing, however little it depends on the velocity before the impact.
            let hidden = BLUR * frame.near(gradient, 0.0) / size;
            frame.near(gradient, tolerance).max(hidden)
        };
        if distance < -near && value.abs() <= frame.grazing() {
            return;
        }
        if distance > near {
            // In long chains ever smaller velocities decide, and their distances have the rounding of the data.
            let known = BLUR * frame.near(gradient, 0.0) / size;
            if distance < self.margin - known {
                self.margin = distance;
                self.nearest.copy_from(gradient);
                self.nearest /= size;
            }
            if size > VANISHED {
                self.before_limit = self.before_limit.min(distance);
            }
            return;
        }
        let row = gradient / size;
        let is_same = |other: &&mut Tied| (&other.row - &row).norm() <= NEGLIGIBLE;
        if let Some(known) = self.tied.iter_mut().find(is_same) {
            known.decision.is_round |= decision.is_round;
        } else {
            self.tied.push(Tied {
                row,
                distance,
                decision,
            });
        }
    }

    /// True if some decision of the law on this branch is tied.
    pub(super) fn is_tied(&self) -> bool {
        self.is_pinched || !self.tied.is_empty()
    }

    /// Returns the branch of a blend of two outcomes, this one and that of `other`, with the decisions of both.
    pub(super) fn meet(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.tied.extend(other.tied.iter().cloned());
        both.margin = both.margin.min(other.margin);
        both.is_pinched |= other.is_pinched;
        both.is_bounded &= other.is_bounded;
        both.work += other.work;
        both
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
        let is_regular = determinant > NEGLIGIBLE * e * b;
        Some(if is_regular {
            square.sqrt()
        } else {
            f64::INFINITY
        })
    }

    /// Records decisions of the law about the current velocity. `tolerance` is the relative tolerance of ties.
    pub(super) fn test(
        &mut self,
        frame: &Frame<'_>,
        tests: impl IntoIterator<Item = Test>,
        tolerance: f64,
    ) {
        let Workspace {
            mut form,
            mut gradient,
        } = Workspace::new(frame.dim());
        let is_first = self.stages.is_empty();
        for test in tests {
            self.work += 2 * (frame.dim() * frame.dim()) as u64;
            test.write(frame.problem.contacts(), form.as_mut_slice());
            let value = form.dot(&self.velocity);
            self.jacobian.tr_mul_to(&form, &mut gradient);
            let (margin, before_limit, ties) = (self.margin, self.before_limit, self.tied.len());
            let decision = test.decides(is_first);
            self.accept(frame, value, &gradient, decision, tolerance);
            if let Test::Exceeds(_, other) = test
                && self.tied.len() == ties
                && self.margin < margin
                && let Some(distance) = self.corner(frame, other, value, &gradient)
            {
                self.margin = margin.min(self.margin.max(distance));
                self.before_limit = before_limit.min(self.before_limit.max(distance));
            }
        }
    }

    /// Advances the branch through a stage (a part of the impact with fixed contact modes), and records the decisions `forms` of
    /// these modes. With `shares`, dependent contacts may exchange impulses to make a decision: the velocity after the impact must
    /// then be unique. `tolerance` is the relative tolerance of ties.
    pub(super) fn advance(
        &mut self,
        frame: &Frame<'_>,
        stage: Arc<Stage>,
        forms: &[Form],
        shares: bool,
        tolerance: f64,
    ) {
        if stage.is_limit {
            self.margin = self.margin.max(self.before_limit);
        } else if !stage.is_curved() && !stage.has_room(&self.jacobian) {
            self.pinch(&stage);
        }
        self.is_curved |= stage.is_curved() || self.stages.len() >= LONG;
        let (n, rows) = (frame.dim(), frame.n_rows());
        self.work += (n * n * rows + rows * rows * rows) as u64;
        if forms.is_empty() {
            stage.advance(&mut self.jacobian, &mut self.impulses);
        } else {
            let before = self.jacobian.clone();
            let mut impulses = DMatrix::zeros(rows, n);
            stage.advance(&mut self.jacobian, &mut impulses);
            self.impulses += &impulses;
            let mut decisive_forms = Cow::Borrowed(forms);
            if shares {
                match decisive(frame, &stage, forms) {
                    Some(left) => decisive_forms = left,
                    None => self.is_bounded = false,
                }
            }
            let mut workspace = Workspace::new(n);
            for form in decisive_forms.iter() {
                self.work += 2 * (n * n) as u64;
                let value = form.evaluate(
                    frame,
                    &stage,
                    &before,
                    &self.jacobian,
                    &impulses,
                    &mut workspace,
                );
                self.accept(frame, value, &workspace.gradient, form.decision, tolerance);
            }
        }
        self.velocity.as_mut_slice().copy_from_slice(stage.after());
        self.stages.push(stage);
    }

    /// Records that only velocities without interior have the modes of `stage`: those at which its dependent equations agree.
    fn pinch(&mut self, stage: &Stage) {
        self.is_pinched = true;
        for (gradient, row) in stage.gradients_of_defects(&self.jacobian) {
            let decision = Decision::new(row, TieKind::Closing);
            self.tied
                .extend(gradient.try_normalize(NEGLIGIBLE).map(|row| Tied {
                    row,
                    distance: 0.0,
                    decision,
                }));
        }
    }
}
