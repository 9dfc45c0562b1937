//! Decisions of a law that are nearly tied, taken both ways.

use super::frame::Frame;
use super::shift::decisive;
use super::stage::{Stage, Terms};
use crate::ImpactError;
use crate::nnls::nonnegative_least_squares;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Pieces that are followed.
pub(super) const MAX_PIECES: usize = 64;

/// States that a search for pieces may visit.
const MAX_STATES: usize = 4096;

/// Nearly tied decisions on one way.
const MAX_TIES: usize = 64;

/// A gradient below this size is that of a quantity that never changes.
pub(super) const CONSTANT: f64 = 1e-10;

/// Velocities below this fraction of the velocity before are taken for rounding by the law, whatever they depend
/// on: contacts that hinder each other come to rest over ever smaller ones.
const GRAZING: f64 = 1e-11;

/// A cone whose unit rows have a hull that is closer to the origin has no interior.
const INTERIOR: f64 = 1e-9;

/// A decision of a law: it holds where the value is positive.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) value: f64,
    /// By the whitened velocity before the impact (n).
    pub(super) gradient: DVector<f64>,
}

/// A linear form of what a stage starts from, ends with and takes.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    /// Coefficients of the velocities of rows after the stage.
    pub(super) after: Terms,
    /// Coefficients of the velocities of rows before it.
    pub(super) before: Terms,
    /// Coefficients of the impulses.
    pub(super) impulses: Terms,
    pub(super) constant: f64,
}

impl Form {
    /// The form as a test, with the Jacobians of the velocities before and after the stage and of
    /// the impulses.
    fn test(
        &self,
        frame: &Frame<'_>,
        stage: &Stage,
        before: &DMatrix<f64>,
        after: &DMatrix<f64>,
        impulses: &DMatrix<f64>,
    ) -> Test {
        let mut value = self.constant;
        let mut gradient = DVector::zeros(frame.dim());
        for (terms, velocity, jacobian) in [
            (&self.after, &stage.after, after),
            (&self.before, stage.before(), before),
        ] {
            if terms.is_empty() {
                continue;
            }
            let mut row = DVector::zeros(frame.dim());
            for (k, c) in terms {
                row.axpy(*c, &frame.row(*k), 1.0);
            }
            value += row.dot(velocity);
            gradient.gemv_tr(1.0, jacobian, &row, 1.0);
        }
        for (k, c) in &self.impulses {
            value += c * stage.impulse[*k];
            gradient.axpy(*c, &impulses.row(*k).transpose(), 1.0);
        }
        Test { value, gradient }
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
    /// Least linearised distance of the other decisions, and of all.
    pub(super) margin: f64,
    pub(super) least: f64,
    /// Largest value of the tests that were nearly tied last.
    tie: f64,
}

impl Walk {
    pub(super) fn new(frame: &Frame<'_>) -> Self {
        Self {
            velocity: frame.before.clone(),
            jacobian: frame.admissible(),
            stages: Vec::new(),
            impulses: DMatrix::zeros(frame.n_rows(), frame.dim()),
            tied: Vec::new(),
            margin: f64::INFINITY,
            least: f64::INFINITY,
            tie: 0.0,
        }
    }

    /// The way through stages.
    fn along(frame: &Frame<'_>, stages: &[Arc<Stage>]) -> Self {
        let mut walk = Self::new(frame);
        for stage in stages {
            stage.advance(&mut walk.jacobian, &mut walk.impulses);
            walk.velocity.copy_from(&stage.after);
        }
        walk.stages = stages.to_vec();
        walk
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

    /// The velocity of a row of a form of rows now, as a test.
    pub(super) fn velocity_test(&self, row: &DVector<f64>) -> Test {
        Test {
            value: row.dot(&self.velocity),
            gradient: self.jacobian.tr_mul(row),
        }
    }

    /// Takes tests in. False if one fails by more than a tie, or if nothing near satisfies all ties;
    /// of the law's `own` way only its ties are noted.
    fn accept(
        &mut self,
        frame: &Frame<'_>,
        tests: &[Test],
        tolerance: f64,
        own: bool,
    ) -> Result<bool, ImpactError> {
        let before = self.tied.len();
        for test in tests {
            let size = kernel::norm(test.gradient.as_slice());
            if size <= CONSTANT {
                if !own && test.value < -tolerance * frame.speed {
                    return Ok(false);
                }
                continue;
            }
            let reference = size * frame.speed;
            let distance = if reference > 0.0 {
                test.value / reference
            } else {
                0.0
            };
            if distance < -tolerance {
                if !own {
                    return Ok(false);
                }
                if test.value.abs() <= GRAZING * frame.speed {
                    continue;
                }
            }
            self.least = self.least.min(distance.abs());
            if distance <= tolerance {
                let row = &test.gradient / size;
                self.tie = self.tie.max(test.value.abs());
                // What is decided once is not decided again.
                if self
                    .tied
                    .iter()
                    .any(|other| (other - &row).norm() <= INTERIOR)
                {
                    continue;
                }
                if self.tied.len() >= MAX_TIES {
                    return Err(ImpactError::NotDifferentiated {
                        reason: "more than 64 decisions are nearly tied; a smaller `tolerance` may tell them \
                                 apart",
                    });
                }
                self.tied.push(row);
            } else {
                self.margin = self.margin.min(distance);
            }
        }
        Ok(self.tied.len() == before || interior(&self.tied)?.is_some())
    }

    /// Whether any decision on the way was nearly tied.
    pub(super) fn is_tied(&self) -> bool {
        !self.tied.is_empty()
    }

    /// Whether the ties of this way are decided so in a whitened direction.
    pub(super) fn leads(&self, direction: &DVector<f64>) -> bool {
        let allowed = INTERIOR.sqrt() * kernel::norm(direction.as_slice());
        self.tied.iter().all(|row| row.dot(direction) >= -allowed)
    }

    /// A whitened direction in which all ties are decided as on this way.
    pub(super) fn direction(&self, frame: &Frame<'_>) -> Result<DVector<f64>, ImpactError> {
        Ok(interior(&self.tied)?.unwrap_or_else(|| DVector::zeros(frame.dim())))
    }

    /// Both ways at once; `None` if their ties contradict each other.
    pub(super) fn meet(&self, other: &Self) -> Result<Option<Self>, ImpactError> {
        let mut both = self.clone();
        both.tied.extend(other.tied.iter().cloned());
        both.margin = both.margin.min(other.margin);
        both.least = both.least.min(other.least);
        let is_open = both.tied.is_empty() || interior(&both.tied)?.is_some();
        Ok(is_open.then_some(both))
    }
}

/// A unit direction with a positive product with every row, or `None` if the cone has no interior:
/// towards the point of the hull of the unit rows that is nearest to the origin.
pub(super) fn interior(rows: &[DVector<f64>]) -> Result<Option<DVector<f64>>, ImpactError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let (n, m) = (first.len(), rows.len());
    let hull = DMatrix::from_fn(n + 1, m, |i, j| if i < n { rows[j][i] } else { 1.0 });
    let mut target = DVector::zeros(n + 1);
    target[n] = -1.0;
    let weights = nonnegative_least_squares(&hull, &target, 1e-14)?;
    let nearest: DVector<f64> = hull.rows(0, n) * &weights / weights.sum();
    let distance = kernel::norm(nearest.as_slice());
    Ok((distance > INTERIOR).then(|| nearest / distance))
}

/// A way on from a state.
pub(super) struct Choice<S> {
    /// What decides for it, but what its stage decides.
    pub(super) tests: Vec<Test>,
    /// What happens, and what decides that it happens in this mode.
    pub(super) stage: Option<(Arc<Stage>, Vec<Form>)>,
    /// The state after; `None` at the end.
    pub(super) next: Option<S>,
}

/// All ways that decisions can take which are nearly tied, the law's own first.
pub(super) struct Found {
    pub(super) walks: Vec<Walk>,
    pub(super) is_complete: bool,
}

/// How ties are told and followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ties {
    pub(super) tolerance: f64,
}

impl Ties {
    /// Follows a law from a state: `choices` names the ways on, the law's own first. Others matter
    /// only where a test of the law's own is nearly tied: `choices` is asked for them then, and
    /// told how large the tied values are.
    pub(super) fn follow<S: Clone>(
        self,
        frame: &Frame<'_>,
        start: S,
        mut choices: impl FnMut(&Walk, &S, Option<f64>) -> Result<Vec<Choice<S>>, ImpactError>,
    ) -> Result<Found, ImpactError> {
        let mut found = Found {
            walks: Vec::new(),
            is_complete: true,
        };
        let mut open = vec![(Walk::new(frame), start)];
        let mut states = 0;
        let mut is_first = true;
        while let Some((mut walk, mut state)) = open.pop() {
            loop {
                states += 1;
                if found.walks.len() >= MAX_PIECES || (!is_first && states > MAX_STATES) {
                    found.is_complete = false;
                    return Ok(found);
                }
                walk.tie = 0.0;
                let mut own = choices(&walk, &state, None)?;
                if own.is_empty() {
                    break;
                }
                let own = own.swap_remove(0);
                let (margin, least) = (walk.margin, walk.least);
                let (n_tied, n_stages) = (walk.tied.len(), walk.stages.len());
                let next = own.next.clone();
                let is_open = walk.take(frame, own, self.tolerance, true)?;
                if walk.tied.len() > n_tied {
                    // The other ways, from the same state.
                    let before = Walk {
                        tied: walk.tied[..n_tied].to_vec(),
                        margin,
                        least,
                        ..Walk::along(frame, &walk.stages[..n_stages])
                    };
                    let mut others = Vec::new();
                    for choice in choices(&before, &state, Some(walk.tie))?
                        .into_iter()
                        .skip(1)
                    {
                        let mut other = before.clone();
                        let next = choice.next.clone();
                        if other.take(frame, choice, self.tolerance, false)? {
                            others.push((other, next));
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
                match next {
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
    /// Takes a choice; says whether it is open.
    fn take<S>(
        &mut self,
        frame: &Frame<'_>,
        choice: Choice<S>,
        tolerance: f64,
        own: bool,
    ) -> Result<bool, ImpactError> {
        if !self.accept(frame, &choice.tests, tolerance, own)? && !own {
            return Ok(false);
        }
        let Some((stage, forms)) = choice.stage else {
            return Ok(self.tied.is_empty() || interior(&self.tied)?.is_some());
        };
        if !(own && stage.is_curved() || stage.has_room(&self.jacobian)) {
            if own {
                // Held in more ways than the velocities nearby allow: they take another way each.
                let nowhere = DVector::from_fn(frame.dim(), |i, _| if i == 0 { 1.0 } else { 0.0 });
                self.tied.extend([-&nowhere, nowhere]);
            }
            return Ok(false);
        }
        let mut tests = Vec::with_capacity(forms.len());
        if forms.is_empty() {
            stage.advance(&mut self.jacobian, &mut self.impulses);
        } else {
            let before = self.jacobian.clone();
            let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
            stage.advance(&mut self.jacobian, &mut impulses);
            self.impulses += &impulses;
            for form in decisive(&stage, &forms)?.iter() {
                tests.push(form.test(frame, &stage, &before, &self.jacobian, &impulses));
            }
        }
        self.velocity.copy_from(&stage.after);
        self.stages.push(stage);
        let is_open = self.accept(frame, &tests, tolerance, own)?;
        Ok(is_open)
    }
}
