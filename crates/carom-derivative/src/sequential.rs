//! Derivatives of impacts that a law resolves one contact at a time, in a fixed cycle.

use super::branch::{Choices, DECAYED, LONG, Test, Ties, VANISHED, Walk};
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::mode::Mode;
use super::reading::Cones;
use super::stage::Stage;
use super::{
    Answers, Branches, DifferentiableLaw, SAME_OUTCOME, SAME_WAY, StepContacts, Steps, chain,
};
use carom_contact::residual_scale::GRAZING_TOLERANCE;
use carom_contact::{ContactIndex, Diagnostics, ImpactError, ImpactOutcome, ImpactProblem};
use carom_impact::frictional::{PATIENCE, Sequential, SingleImpacts, StepWorkspace};
use carom_impact::propagative::SEQUENCE_LIMIT;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Returns the change of the velocity along a unit row that a stage has made.
fn changed(stage: &Stage, unit: &[f64]) -> f64 {
    (kernel::dot(unit, stage.after()) - kernel::dot(unit, stage.before())).abs()
}

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
    /// True after the last strike.
    is_over: bool,
    /// True if a decision was made otherwise than by the law.
    is_other: bool,
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
    let recent = walk.stages.len().saturating_sub(PATIENCE as usize / 2);
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
        let nothing = frame.scales().of_row(row, SAME_OUTCOME) + 2.0 * grazing[i.index()];
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
    ties: Ties,
    /// True as long as all modes of each impact are listed.
    is_complete: bool,
}

impl InTurn<'_> {
    /// True if a contact approaches at the end of the branch `walk`. Rounding of the strikes so far is no approach, as in the law.
    fn approaches(&self, contact: ContactIndex, walk: &Walk) -> bool {
        let set = self.frame.problem.contacts();
        let unit = set.unit_row(set.row(contact));
        let rate = kernel::dot(unit, walk.velocity.as_slice());
        // No strike changes a velocity by more than twice the speed before the impact, so that only slow contacts need the changes of
        // all strikes.
        let is_slow = -rate <= GRAZING_TOLERANCE * 4.0 * self.frame.speed;
        let rounding = || {
            let struck = walk.stages.iter().map(|stage| changed(stage, unit));
            GRAZING_TOLERANCE * struck.fold(0.0, f64::max)
        };
        rate < -self.grazing[contact.index()] && !(is_slow && rate >= -rounding())
    }

    /// Adds to `out` the choices that the law has at the end of the branch `walk`, its own first: to strike the contact whose turn it is,
    /// to pass it, or to close contacts at once. If `is_tied` is true, the list has all choices.
    fn add_choices(
        &mut self,
        walk: &Walk,
        turn: &Turn,
        is_tied: bool,
        out: &mut Choices<Turn>,
    ) -> Result<(), ImpactError> {
        let count = self.cycle.len().max(1);
        let rounds = (turn.asked / count) as u64;
        let begins = turn.asked > 0 && turn.asked.is_multiple_of(count);
        let is_cut = self.is_cut && begins && rounds.is_multiple_of(PATIENCE);
        if turn.is_over || is_cut {
            let closing = closing(self.frame, walk, &self.grazing, is_cut);
            let next = (!turn.is_over).then_some(Turn { quiet: 0, ..*turn });
            if turn.is_over || closing.is_some() {
                out.add([], closing.map(|stage| (stage, Vec::new())), next);
                return Ok(());
            }
        }
        let Some(&contact) = self.cycle.get(turn.asked % count) else {
            out.add([], None, None);
            return Ok(());
        };
        if walk.stages.len() as u64 > SEQUENCE_LIMIT {
            return Err(ImpactError::NotDifferentiated {
                reason: chain::TOO_LONG,
            });
        }
        let row = self.frame.problem.contacts().row(contact);
        let approaches = if turn.is_other {
            self.approaches(contact, walk)
        } else {
            self.sequence.get(turn.strikes) == Some(&contact.index())
        };
        // The law's own decision comes first.
        let next = |is_struck: bool, is_own: bool| {
            let quiet = if is_struck { 0 } else { turn.quiet + 1 };
            Some(Turn {
                asked: turn.asked + 1,
                quiet,
                strikes: turn.strikes + usize::from(is_struck),
                is_over: quiet >= count,
                is_other: turn.is_other || !is_own,
            })
        };
        if !approaches {
            out.add([Test::Separates(row)], None, next(false, true));
        }
        if approaches || is_tied {
            let (given, change) =
                self.singles
                    .strike(contact, walk.velocity.as_slice(), &mut self.workspace)?;
            let event = Event {
                after: &walk.velocity + DVector::from_column_slice(&change),
                before: walk.velocity.clone(),
                impulse: self.frame.of_impulses(&given),
                caps: Vec::new(),
            };
            let alone = &self.alone[contact.index()];
            let (stages, all) = alone.stages(&event, &walk.jacobian, self.ties, is_tied);
            self.is_complete &= all;
            for (k, stage) in stages.into_iter().enumerate() {
                let is_own = approaches && k == 0;
                out.add([Test::Approaches(row)], Some(stage), next(true, is_own));
            }
        }
        if approaches {
            out.add([Test::Separates(row)], None, next(false, false));
        }
        Ok(())
    }
}

impl DifferentiableLaw for Sequential {
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        _is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        let Diagnostics::Sequential {
            closed_at_once,
            sequence,
            ..
        } = &outcome.diagnostics
        else {
            return Err(ImpactError::NotDifferentiated {
                reason: "the outcome is not one of this law",
            });
        };
        let frame = Frame::new(problem)?;
        let set = problem.contacts();
        let singles = SingleImpacts::new(problem, self.friction_cone)?;
        let cones: Cones = self.friction_cone.into();
        let alone = set.indices().map(|i| Contacts::struck(&frame, i, cones));
        let ties = Ties::within(tolerance);
        let mut impacts = InTurn {
            frame: &frame,
            cycle: self.cycle(set.len())?,
            sequence,
            is_cut: !closed_at_once.is_empty(),
            grazing: singles.grazing(),
            singles,
            workspace: StepWorkspace::new(),
            alone: alone.collect::<Result<Vec<_>, _>>()?,
            ties,
            is_complete: true,
        };
        let found = ties.follow(&frame, Turn::default(), |walk, turn, tie, out| {
            impacts.add_choices(walk, turn, tie.is_some(), out)
        })?;
        let is_complete = impacts.is_complete;
        drop(impacts);
        let struck = found.walks.first().map_or(&[][..], |way| &way.stages);
        if !closed_at_once.is_empty() {
            // Contacts that are closed at once may act otherwise than in their last impacts.
            let after = frame.of_velocity(&outcome.velocity_plus.0);
            let ends_there = |way: &Walk| frame.is_rounding(&(&after - &way.velocity), SAME_WAY);
            let is_limit = struck.iter().any(|stage| stage.is_limit);
            if !(is_limit && found.walks.iter().any(ends_there)) {
                return Err(ImpactError::NotDifferentiated { reason: HINDERED });
            }
        }
        let steps = struck.iter().map(|stage| {
            // The limit of a sequence is no problem of its own.
            let is_struck = |i: &ContactIndex| !stage.is_limit && stage.strikes(set.row(*i));
            let members = set.indices().filter(is_struck);
            StepContacts {
                members: members.collect(),
                caps: Vec::new(),
            }
        });
        let answers = Answers::Modes {
            cones,
            rebounds: false,
            steps: Steps::Each(steps.collect()),
        };
        Branches {
            answers,
            is_complete: is_complete && found.is_complete,
            ..Branches::of_chains(frame, found)
        }
        .compared_with(self, tolerance)
    }
}
