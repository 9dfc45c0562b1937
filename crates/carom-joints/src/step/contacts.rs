//! Contacts of jointed bodies within a step.
//!
//! Contact impulses are found together with those of the joints: both kicks are reduced to the contacts alone, by the mobility
//! $W = C\hat M^{-1}C^T$ that includes the response of the joints. The rows $C$ are the normal and two tangents of each point.
//! The caller provides geometry and friction: [`Contacts`].

use super::{Modes, Step, Stepper};
use crate::JointError;
use crate::elimination::{push, rate};
use crate::frames::Row;
use crate::multibody::Posture;
use carom_variational::State;
use nalgebra::Vector6;

/// Jacobian row of a contact direction, with the two bodies on which it acts. In the row, `child` is the contact's first body
/// and `parent` its second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRow {
    /// Entries for both bodies; its field `force` is the contact direction in world axes.
    pub row: Row,
    /// Indices of the contact's second and first body, in this order; `None` for a body that never moves.
    pub ends: [Option<usize>; 2],
}

impl ContactRow {
    /// Returns the velocity along this contact direction (m/s) at given velocities of all bodies.
    pub fn rate(&self, velocities: &[Vector6<f64>]) -> f64 {
        rate(&self.row, &self.ends, velocities)
    }
}

/// Input of one iteration for the contact impulses at the start of a time step (the first of its two kicks, between which the
/// bodies fly freely): mobility, and velocities of all contact rows, three rows per contact point (m/s).
#[derive(Clone, Copy, Debug)]
pub struct FirstKick<'a> {
    /// Mobility matrix $W$ at the start of the step, row-major: the velocity along one row (m/s) per unit impulse on another (N
    /// s).
    pub mobility: &'a [f64],
    /// Velocities of the contact rows before the impulses at the start of the step (m/s).
    pub before: &'a [f64],
    /// Velocities of the contact rows after these impulses, when the free flights begin (m/s).
    pub begin: &'a [f64],
    /// Velocities of the contact rows at the end of the free flights (m/s), where the rows belong to the configuration at that
    /// time.
    pub end: &'a [f64],
    /// Change of the contact velocities (m/s) by the correction of the joint impulses that has been computed but not yet applied.
    pub shift: &'a [f64],
    /// Contact impulses of the present iteration, one per row (N s).
    pub impulses: &'a [f64],
    /// Length of the step (s).
    pub length: f64,
}

/// Convergence measure of an iteration for the contact impulses: the difference between the impulses of two iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Largest change of a contact velocity between the two iterations (m/s).
    pub size: f64,
    /// True if the change is within rounding error, so that the iteration has converged.
    pub settled: bool,
    /// True if the step may be accepted with a change of this size when further iterations do not reduce the change.
    pub tolerable: bool,
}

/// Contact model that a time step calls ([`Stepper::step_with`]): finds the contact points and their Jacobian rows, and
/// computes the contact impulses. A step applies impulses at its start (first kick), lets the bodies fly freely, and applies
/// impulses at its end (second kick).
pub trait Contacts {
    /// Finds the contact points at the start of the step, in the given `states` of the bodies, and appends their Jacobian rows to
    /// `rows`: normal and two tangents for each point.
    fn start(&mut self, states: &[State], rows: &mut Vec<ContactRow>);
    /// Writes initial values of the contact impulses at the start of a step of `length` (s) to `impulses` (N s), one per contact
    /// row.
    fn guess(&mut self, length: f64, impulses: &mut [f64]);
    /// Moves the contact points found at the start of the step with the bodies to `states`, the end of the free flights, and
    /// appends their Jacobian rows there to `rows`: as many rows in the same order as at the start.
    fn moved(&mut self, states: &[State], rows: &mut Vec<ContactRow>);
    /// Computes improved contact impulses for the start of the step, and writes them to `next` (N s, one per contact row). Called
    /// once in each iteration. Returns how much the impulses changed; `None` if no solution is found.
    fn first(&mut self, kick: &FirstKick<'_>, next: &mut [f64]) -> Option<Change>;
    /// Finds the contact points that are closed in `states`, at the end of the free flights, and appends their Jacobian rows to
    /// `rows`. `first`: contact impulses at the start of the step (N s).
    fn closed(&mut self, states: &[State], first: &[f64], rows: &mut Vec<ContactRow>);
    /// Computes the contact impulses at the end of the step, and writes them to `impulses` (N s, one per row of the closed
    /// contacts). `mobility`: velocity change of each row per unit impulse on each row, row-major; `velocities`: velocities of
    /// the rows before the impulses (m/s). Returns false if no solution is found.
    fn second(&mut self, mobility: &[f64], velocities: &[f64], impulses: &mut [f64]) -> bool;
}

/// Work buffers for the contacts of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    pub(super) rows: Vec<ContactRow>,
    end_rows: Vec<ContactRow>,
    /// Mobility $W$ of the points at the start, or of those closed at the end, row-major.
    mobility: Vec<f64>,
    pub(super) impulses: Vec<f64>,
    next: Vec<f64>,
    before: Vec<f64>,
    begin: Vec<f64>,
    end: Vec<f64>,
    shift: Vec<f64>,
    pub(super) base: Vec<Vector6<f64>>,
    velocities: Vec<Vector6<f64>>,
}

fn rates(rows: &[ContactRow], velocities: &[Vector6<f64>], out: &mut Vec<f64>) {
    out.clear();
    out.extend(rows.iter().map(|row| row.rate(velocities)));
}

/// Returns the work (J) of impulses on rows with the velocities `before` and `after` them; negative if energy is lost.
fn work(impulses: &[f64], before: &[f64], after: &[f64]) -> f64 {
    let all = impulses.iter().zip(before.iter().zip(after));
    all.map(|(p, (u, v))| 0.5 * p * (u + v)).sum()
}

impl Stepper<'_> {
    /// Computes one time step of order 2 of a multibody system with contacts, which `contacts` finds and solves. The step
    /// begins in the state `start` at `time` (s), with the given `modes` of the joint coordinates; its `length` is in s.
    ///
    /// # Errors
    ///
    /// Errors of [`step`](Self::step), and [`JointError::ContactForces`].
    pub fn step_with(
        &mut self,
        start: &Posture,
        time: f64,
        length: f64,
        modes: &Modes,
        contacts: &mut dyn Contacts,
    ) -> Result<Step, JointError> {
        let mut step = Step::default();
        self.any_step(start, time, length, modes, Some(contacts), &mut step)?;
        Ok(step)
    }

    /// Computes the mobility matrix of contact rows on the jointed bodies, row-major: the velocity along each row per unit
    /// impulse on each row. The joint equations must have been factored before.
    fn mobility_of(&mut self, contact_rows: &[ContactRow], out: &mut Vec<f64>) {
        let scene = self.multibody.scene();
        let row = |k: usize| (&contact_rows[k].row, &contact_rows[k].ends);
        self.elimination
            .mobility(&scene, contact_rows.len(), row, out);
    }

    /// Returns the mobility matrix $W$ of contact directions on the jointed bodies, row-major: entry (i, j) is the velocity
    /// along row i due to a unit impulse on row j. The joint conditions are satisfied, and no joint coordinate is held.
    /// `joint_rows` are the rows of all joints at the given states; `time` (s) is reported in errors.
    ///
    /// # Errors
    ///
    /// [`JointError::SingularJoints`].
    pub fn mobility(
        &mut self,
        states: &[State],
        joint_rows: &[Row],
        contact_rows: &[ContactRow],
        time: f64,
    ) -> Result<Vec<f64>, JointError> {
        let mb = self.multibody;
        self.compliances(0.0, |_| false);
        self.kept.forget();
        let elimination = &mut self.elimination;
        mb.factor(elimination, states, joint_rows, &self.compliance, time)?;
        let mut out = Vec::new();
        self.mobility_of(contact_rows, &mut out);
        Ok(out)
    }

    /// Adds the changes due to contact impulses to the velocities of the bodies and to the multipliers (impulses of the joint
    /// rows). The changes follow from the joint equations that were factored last. `impulses` has one entry per contact row
    /// (N s).
    pub fn pass_on(
        &mut self,
        joint_rows: &[Row],
        contact_rows: &[ContactRow],
        impulses: &[f64],
        velocities: &mut [Vector6<f64>],
        multipliers: &mut [f64],
    ) {
        let mb = self.multibody;
        let (mut change, mut moved) = std::mem::take(&mut self.passed_on);
        change.clear();
        change.resize(mb.n_bodies(), Vector6::zeros());
        moved.clear();
        moved.resize(mb.n_rows(), 0.0);
        for (contact, impulse) in contact_rows.iter().zip(impulses) {
            push(&contact.row, &contact.ends, *impulse, &mut change);
        }
        self.elimination
            .reply(&mb.scene(), joint_rows, &mut change, &mut moved);
        for (velocity, change) in velocities.iter_mut().zip(&change) {
            *velocity += change;
        }
        for (multiplier, moved) in multipliers.iter_mut().zip(&moved) {
            *multiplier += moved;
        }
        self.passed_on = (change, moved);
    }

    /// Finds the contact points at the start of a step of `length` (s), and computes their mobility, velocities and initial
    /// impulses. `it` is the contact model, which finds the points; `start` is the state at the start.
    pub(super) fn begin_contacts(&mut self, start: &Posture, length: f64, it: &mut dyn Contacts) {
        let mut room = std::mem::take(&mut self.room);
        room.rows.clear();
        it.start(&start.states, &mut room.rows);
        self.mobility_of(&room.rows, &mut room.mobility);
        room.impulses.clear();
        room.impulses.resize(room.rows.len(), 0.0);
        room.next.clone_from(&room.impulses);
        it.guess(length, &mut room.impulses);
        rates(&room.rows, &self.velocities, &mut room.before);
        self.room = room;
    }

    /// Returns the momentum changes of all bodies at the start of the step, by contact impulses and other forces together. `base`
    /// are the changes by the other forces.
    pub(super) fn with_contacts(&mut self, base: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
        let mut out = std::mem::take(&mut self.room.base);
        out.clear();
        out.extend_from_slice(base);
        for (contact, impulse) in self.room.rows.iter().zip(&self.room.impulses) {
            push(&contact.row, &contact.ends, *impulse, &mut out);
        }
        out
    }

    pub(super) fn keep_base(&mut self, base: Vec<Vector6<f64>>) {
        self.room.base = base;
    }

    /// Computes improved contact impulses for the start of a step of `length` (s). A correction of the joint impulses that is not
    /// applied yet is taken into account; both corrections are applied together later. `it` is the contact model. Returns how
    /// much the impulses changed; `None` if no solution is found.
    pub(super) fn next_contacts(
        &mut self,
        step: &Step,
        length: f64,
        it: &mut dyn Contacts,
    ) -> Option<Change> {
        let mb = self.multibody;
        let mut room = std::mem::take(&mut self.room);
        room.end_rows.clear();
        it.moved(&step.end.states, &mut room.end_rows);
        mb.velocities(&step.kicked, &mut room.velocities);
        rates(&room.rows, &room.velocities, &mut room.begin);
        mb.velocities(&step.end.states, &mut room.velocities);
        rates(&room.end_rows, &room.velocities, &mut room.end);
        rates(&room.rows, &self.after, &mut room.shift);
        let kick = FirstKick {
            mobility: &room.mobility,
            before: &room.before,
            begin: &room.begin,
            end: &room.end,
            shift: &room.shift,
            impulses: &room.impulses,
            length,
        };
        room.next.copy_from_slice(&room.impulses);
        let change = it.first(&kick, &mut room.next);
        self.room = room;
        change
    }

    /// Replaces the contact impulses by the improved ones. The joints respond to this change with impulses, which are added to
    /// the correction of the joint impulses that is applied next.
    pub(super) fn take_contacts(&mut self) {
        let mut room = std::mem::take(&mut self.room);
        for (now, next) in room.impulses.iter_mut().zip(&mut room.next) {
            (*now, *next) = (*next, *next - *now);
        }
        let (mut after, mut correction) = (
            std::mem::take(&mut self.after),
            std::mem::take(&mut self.correction),
        );
        let rows = std::mem::take(&mut self.rows);
        self.pass_on(&rows, &room.rows, &room.next, &mut after, &mut correction);
        (self.rows, self.after, self.correction) = (rows, after, correction);
        self.room = room;
    }

    /// Adds the work and the impulses of the contacts at the start of the step to the result `step`.
    pub(super) fn note_contacts(&mut self, step: &mut Step) {
        let mb = self.multibody;
        let room = &mut self.room;
        mb.velocities(&step.kicked, &mut room.velocities);
        rates(&room.rows, &room.velocities, &mut room.begin);
        step.works.contact -= work(&room.impulses, &room.before, &room.begin);
        step.touching[0].clone_from(&room.impulses);
    }

    /// Computes the contact impulses at the end of a step, and adds their effect to the velocities of the bodies and to
    /// `multipliers`, the impulses of the joint rows. `it` is the contact model. Returns false if no solution is found.
    pub(super) fn press(
        &mut self,
        it: &mut dyn Contacts,
        multipliers: &mut [f64],
        step: &mut Step,
    ) -> bool {
        let mut room = std::mem::take(&mut self.room);
        room.end_rows.clear();
        it.closed(&step.end.states, &step.touching[0], &mut room.end_rows);
        self.mobility_of(&room.end_rows, &mut room.mobility);
        rates(&room.end_rows, &self.after, &mut room.begin);
        room.impulses.clear();
        room.impulses.resize(room.end_rows.len(), 0.0);
        let found = it.second(&room.mobility, &room.begin, &mut room.impulses);
        let mut after = std::mem::take(&mut self.after);
        let rows = std::mem::take(&mut self.end_rows);
        self.pass_on(
            &rows,
            &room.end_rows,
            &room.impulses,
            &mut after,
            multipliers,
        );
        (self.end_rows, self.after) = (rows, after);
        step.touching[1].clone_from(&room.impulses);
        rates(&room.end_rows, &self.after, &mut step.contact_rates);
        self.room = room;
        found
    }

    /// Adds the work of the contact impulses at the end of the step to the result `step`. `before` are the velocities
    /// of the bodies before these impulses.
    pub(super) fn note_pressing(&mut self, before: &[Vector6<f64>], step: &mut Step) {
        let room = &mut self.room;
        rates(&room.end_rows, before, &mut room.before);
        step.works.contact -= work(&step.touching[1], &room.before, &step.contact_rates);
    }
}
