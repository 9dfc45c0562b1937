//! Derivatives of impacts that a law resolves one contact at a time, in a fixed cycle.

use super::branch::{DECAYED, LONG, Test, VANISHED, Walk};
use super::form::Form;
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::laws::NOT_OF_THIS_LAW;
use super::mode::Mode;
use super::reading::Cones;
use super::stage::Stage;
use super::{Answers, Branch, DifferentiableLaw, Query, chain};
use crate::SAME_JACOBIAN;
use crate::tolerances::NEGLIGIBLE;
use carom_contact::{ContactIndex, Diagnostics, ImpactError};
use carom_impact::frictional::Sequential;
use carom_impact::internal::{CYCLES_OF_PATIENCE, SEQUENCE_LIMIT, SingleImpacts, StepWorkspace};
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Reason why a sequence that the law cuts off has no derivative.
const HINDERED: &str = "contacts that hinder each other for a thousand cycles are closed at once; `anitescu-potra` closes them \
                        so and has a derivative";

/// Position in a cycle of single contacts: number of contacts examined, and of those in a row that did not approach.
#[derive(Clone, Copy, Default)]
struct Turn {
    asked: usize,
    quiet: usize,
    /// Number of strikes.
    strikes: usize,
}

/// Returns the stage that closes contacts which stop each other from closing, the limit of strikes on them in turn: at the end
/// of a sequence, or after so many cycles that the law closes them at once (`is_cut`). `grazing` holds the speeds below which
/// the velocities of the contacts count as zero. `None` if no contacts are closed so.
///
/// In the last cycles each contact has one mode. The impulses of a strike act along the columns of this mode, and so do those of
/// all further strikes; the limit is the velocity that such impulses reach and at which the equations of all modes hold.
fn closing(frame: &Frame<'_>, walk: &Walk, grazing: &[f64], is_cut: bool) -> Option<Arc<Stage>> {
    let is_closed_already = walk.stages.last().is_some_and(|stage| stage.is_limit);
    if walk.stages.len() < LONG || is_closed_already {
        return None;
    }
    let set = frame.problem.contacts();
    let recent = walk
        .stages
        .len()
        .saturating_sub(CYCLES_OF_PATIENCE as usize / 2);
    let mut mode = Mode::default();
    let mut count = 0;
    for i in set.indices() {
        let row = set.row(i);
        let mut strikes = walk.stages[recent..].iter().rev();
        let Some(last) = strikes.find(|stage| stage.strikes(row)) else {
            continue;
        };
        let unit = DVector::from_column_slice(set.unit_row(row));
        let has_decayed = walk.jacobian.tr_mul(&unit).norm() <= DECAYED;
        let nothing = frame.scales().of_row(row, NEGLIGIBLE) + 2.0 * grazing[i.index()];
        let is_at_rest = unit.dot(&walk.velocity).abs() <= nothing;
        if has_decayed && (is_cut || is_at_rest) {
            mode.append(last.mode(), frame);
            count += 1;
        } else if is_cut && !has_decayed {
            return None;
        }
    }
    if count < 2 {
        return None;
    }
    mode.hold(frame);
    let stage = Stage::limit(frame, mode, &walk.velocity);
    let mut slopes = walk.jacobian.clone();
    let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
    stage.advance(&mut slopes, &mut impulses);
    let normals = set.indices().map(|i| set.row(i));
    let mut closed = normals.filter(|row| stage.strikes(*row));
    let is_reached = closed.all(|row| slopes.tr_mul(&frame.row(row)).norm() <= VANISHED);
    is_reached.then_some(stage)
}

/// The impacts of single contacts in turn, and those that the law has made.
struct InTurn<'a> {
    frame: &'a Frame<'a>,
    cycle: Vec<ContactIndex>,
    /// Contacts that the law has struck.
    sequence: &'a [usize],
    singles: SingleImpacts<'a>,
    /// True if the law has closed contacts together.
    is_cut: bool,
    /// Work buffers of the solver of one contact.
    workspace: StepWorkspace,
    /// Speeds below which the velocities of contacts count as zero.
    grazing: Vec<f64>,
    alone: Vec<Contacts<'a>>,
    /// Relative tolerance of ties.
    tolerance: f64,
}

impl InTurn<'_> {
    /// Returns the branch of the law.
    fn follow(&mut self) -> Result<Walk, ImpactError> {
        let (frame, tolerance) = (self.frame, self.tolerance);
        let mut walk = Walk::new(frame);
        let count = self.cycle.len().max(1);
        let mut turn = Turn::default();
        while let Some(&contact) = self.cycle.get(turn.asked % count) {
            let rounds = (turn.asked / count) as u64;
            let begins = turn.asked > 0 && turn.asked.is_multiple_of(count);
            if self.is_cut
                && begins
                && rounds.is_multiple_of(CYCLES_OF_PATIENCE)
                && let Some(stage) = closing(frame, &walk, &self.grazing, true)
            {
                walk.advance(frame, stage, &[], false, tolerance);
                turn.quiet = 0;
            }
            if walk.stages.len() as u64 > SEQUENCE_LIMIT {
                return Err(ImpactError::NotDifferentiated {
                    reason: chain::TOO_LONG,
                });
            }
            let row = frame.problem.contacts().row(contact);
            turn.asked += 1;
            if self.sequence.get(turn.strikes) == Some(&contact.index()) {
                let (stage, forms) = self.strike(contact, &walk)?;
                walk.test(frame, [Test::Approaches(row)], tolerance);
                walk.advance(frame, stage, &forms, true, tolerance);
                (turn.quiet, turn.strikes) = (0, turn.strikes + 1);
                continue;
            }
            walk.test(frame, [Test::Separates(row)], tolerance);
            turn.quiet += 1;
            if turn.quiet >= count {
                break;
            }
        }
        if let Some(stage) = closing(frame, &walk, &self.grazing, false) {
            walk.advance(frame, stage, &[], false, tolerance);
        }
        Ok(walk)
    }

    /// Returns the stage of the strike of one contact at the end of the branch `walk`, and the forms of its decisions.
    fn strike(
        &mut self,
        contact: ContactIndex,
        walk: &Walk,
    ) -> Result<(Arc<Stage>, Vec<Form>), ImpactError> {
        let before = walk.velocity.as_slice();
        let (given, change) = self.singles.strike(contact, before, &mut self.workspace)?;
        let event = Event {
            after: &walk.velocity + DVector::from_column_slice(&change),
            before: walk.velocity.clone(),
            impulse: self.frame.of_impulses(&given),
            caps: Vec::new(),
            modes: &[],
        };
        Ok(self.alone[contact.index()].step(&event))
    }
}

impl DifferentiableLaw for Sequential {
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        let (problem, outcome) = (query.problem, query.outcome);
        let Diagnostics::Sequential {
            closed_at_once,
            sequence,
            nearby_effect,
            ..
        } = &outcome.diagnostics
        else {
            return Err(NOT_OF_THIS_LAW);
        };
        if nearby_effect.is_some() {
            return Err(ImpactError::NotDifferentiated {
                reason: "the impacts one after the other amplify rounding (sensitive-to-rounding)",
            });
        }
        let frame = Frame::new(problem)?;
        let set = problem.contacts();
        let singles = SingleImpacts::new(problem, self.friction_cone)?;
        let cones: Cones = self.friction_cone.into();
        let alone = set.indices().map(|i| Contacts::struck(&frame, i, cones));
        let mut impacts = InTurn {
            frame: &frame,
            cycle: self.cycle(set.len())?,
            sequence,
            is_cut: !closed_at_once.is_empty(),
            grazing: singles.grazing(),
            singles,
            workspace: StepWorkspace::new(),
            alone: alone.collect::<Result<Vec<_>, _>>()?,
            tolerance: query.tolerance,
        };
        let walk = impacts.follow()?;
        drop(impacts);
        if !closed_at_once.is_empty() {
            // Contacts that are closed at once may act otherwise than in their last impacts.
            let after = frame.of_velocity(&outcome.velocity_plus.0);
            let ends_there = frame.is_rounding(&(&after - &walk.velocity), SAME_JACOBIAN);
            if !(ends_there && walk.stages.iter().any(|stage| stage.is_limit)) {
                return Err(ImpactError::NotDifferentiated { reason: HINDERED });
            }
        }
        // The limit of a sequence is no problem of its own.
        let struck = |i: &ContactIndex| {
            let mut stages = walk.stages.iter().filter(|stage| !stage.is_limit);
            stages.any(|stage| stage.strikes(set.row(*i)))
        };
        let answers = Answers::Steps {
            cones,
            has_caps: false,
            steps: set.indices().filter(struck).map(|i| vec![i]).collect(),
        };
        Ok(Branch {
            answers,
            ..Branch::new(frame, walk)
        })
    }
}
