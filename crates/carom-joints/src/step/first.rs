//! First kick: impulses of joints and contacts at the start, such that all residuals vanish at the end of the flights.

// One row index is used for several lists.
#![allow(clippy::needless_range_loop)]

use super::contacts::Contacts;
use super::{EXTRAPOLATED, Modes, Push, Step, Stepper};
use crate::JointError;
use crate::elimination::{push, rate};
use crate::frames::stack;
use crate::multibody::Posture;
use carom_variational::State;
use nalgebra::Vector6;

/// Residuals at the end of a step that count as rounding, relative: lengths are divided by the size of the system, cosines are
/// taken as they are. The value grows with the largest coordinate divided by the size.
const ROUNDING: f64 = 4e-15;

/// Residual, divided by the size of the system for lengths, above which a step has failed, unless the residual is rounding of the
/// momenta.
pub(super) const CLOSED: f64 = 1e-12;

/// Residual, divided by the size of the system for lengths, up to which dependent rows count as consistent.
const CONSISTENT: f64 = 1e-9;

/// Residual, divided by the size of the system for lengths, above which dependent rows are no longer told as inconsistent: an
/// iteration that diverges has residuals of any size, one that dependent rows stop has those of the input.
const MOST_INCONSISTENT: f64 = 1e-3;

/// Largest number of iterations of the first kick; some five are needed for usual steps.
const MOST_ITERATIONS: usize = 60;

/// Largest number of successive iterations with too little progress, before the first kick fails.
const MOST_POOR: usize = 6;

/// Rotation within the step that the kick adds to a body (rad), above which initial impulses are of no use. After an impact
/// dampers give impulses that alternate from step to step; impulses extrapolated from these can turn light bodies to another
/// solution of the step, or to none.
const TURNED: f64 = 0.3;

/// Ratio of the residual after an iteration to that before, above which the iteration makes too little progress. Residuals are
/// reduced by a factor of the order of the rotation within a step, and by less in long chains: a whip that rotates by 0.3 rad
/// halves them.
const POOR: f64 = 0.9;

impl Stepper<'_> {
    /// Computes the impulses of the joints at the start of a step (first kick) without contacts. The impulses are such
    /// that all joint conditions are fulfilled at the end of the free flights that follow. The pair contains the `time`
    /// and the `length` of the step (s); `base` are the momentum changes of the bodies by forces that are already
    /// known, and `modes` the states of the joint coordinates (held, sliding or free). The results are stored in
    /// `step`.
    pub(super) fn first_kick(
        &mut self,
        start: &Posture,
        (time, length): (f64, f64),
        modes: &Modes,
        base: &[Vector6<f64>],
        step: &mut Step,
    ) -> Result<(), JointError> {
        let mb = self.multibody;
        self.compliances(0.0, |k| modes.held[k].is_some());
        self.factor_start(start, time)?;
        let mut multipliers = self.guess(length);
        let rounding = self.rounding(start);
        let mut last = f64::INFINITY;
        let mut poor = 0;
        let mut aimed = false;
        for iteration in 1..=MOST_ITERATIONS {
            step.iterations = iteration;
            self.fly_or_aim(start, length, modes, base, &mut multipliers, step)?;
            let (error, joint) = self.residuals(length, modes, step);
            step.residual = error;
            let stalls = !(error <= 0.5 * last);
            let is_last = iteration == MOST_ITERATIONS;
            if error <= rounding
                || (error <= CLOSED && (stalls || is_last))
                || (stalls && self.is_noise(start, length, base, &multipliers))
            {
                self.measure_end(start, step);
                self.remember(&multipliers, length);
                self.note_rows(&multipliers, modes, start, length, step);
                self.multipliers = multipliers;
                return Ok(());
            }
            poor = if error <= POOR * last { 0 } else { poor + 1 };
            if !aimed && !is_last && self.is_astray(start, length, (error, poor), step) {
                (aimed, last, poor) = (true, f64::INFINITY, 0);
                self.aim(start, length, modes, base, &mut multipliers);
                continue;
            }
            if !error.is_finite() || poor > MOST_POOR || is_last {
                return Err(self.failed(start, joint, error, time, length));
            }
            last = error;
            self.after.fill(Vector6::zeros());
            self.elimination.solve(
                &mb.scene(),
                &self.rows,
                &self.wanted,
                &mut self.after,
                &mut self.correction,
            );
            for (multiplier, change) in multipliers.iter_mut().zip(&self.correction) {
                *multiplier += change;
            }
        }
        Ok(())
    }

    /// Computes the impulses of joints and contacts at the start of a step (first kick). Joint impulses and contact
    /// impulses are corrected in turn within one iteration, until the conditions are fulfilled at the end of the free
    /// flights. The pair contains the `time` and the `length` of the step (s); `base` are the momentum changes of the
    /// bodies by forces that are already known, and `modes` the states of the joint coordinates (held, sliding or
    /// free). The results are stored in `step`.
    pub(super) fn first_kick_with(
        &mut self,
        start: &Posture,
        (time, length): (f64, f64),
        modes: &Modes,
        base: &[Vector6<f64>],
        step: &mut Step,
        contacts: &mut dyn Contacts,
    ) -> Result<(), JointError> {
        let mb = self.multibody;
        self.compliances(0.0, |k| modes.held[k].is_some());
        self.factor_start(start, time)?;
        let mut multipliers = self.guess(length);
        let rounding = self.rounding(start);
        self.begin_contacts(start, length, contacts);
        let (mut last, mut last_change) = (f64::INFINITY, f64::INFINITY);
        let mut poor = 0;
        let mut aimed = false;
        for iteration in 1..=MOST_ITERATIONS {
            step.iterations = iteration;
            let kicked = self.with_contacts(base);
            let flown = self.fly_or_aim(start, length, modes, &kicked, &mut multipliers, step);
            self.keep_base(kicked);
            flown?;
            let (error, joint) = self.residuals(length, modes, step);
            step.residual = error;
            if !aimed
                && iteration < MOST_ITERATIONS
                && self.is_astray(start, length, (error, poor), step)
            {
                (aimed, last, last_change, poor) = (true, f64::INFINITY, f64::INFINITY, 0);
                self.begin_contacts(start, length, contacts);
                let kicked = self.with_contacts(base);
                self.aim(start, length, modes, &kicked, &mut multipliers);
                self.keep_base(kicked);
                continue;
            }
            self.after.fill(Vector6::zeros());
            self.correction.fill(0.0);
            // In a short step the rounding of residuals divided by the length would be a large velocity.
            if !(error <= rounding) {
                self.elimination.solve(
                    &mb.scene(),
                    &self.rows,
                    &self.wanted,
                    &mut self.after,
                    &mut self.correction,
                );
            }
            let change = self.next_contacts(step, length, contacts);
            let change = change.ok_or(JointError::ContactForces { time })?;
            let stalls = !(error <= 0.5 * last || change.size <= 0.5 * last_change);
            let closed = error <= rounding
                || (error <= CLOSED && stalls)
                || (stalls && self.is_noise(start, length, &self.room.base, &multipliers));
            if closed && (change.settled || (stalls && change.tolerable)) {
                self.measure_end(start, step);
                self.remember(&multipliers, length);
                self.note_rows(&multipliers, modes, start, length, step);
                self.note_contacts(step);
                self.multipliers = multipliers;
                return Ok(());
            }
            let gains = error <= POOR * last || change.size <= POOR * last_change;
            poor = if gains { 0 } else { poor + 1 };
            let is_last = iteration == MOST_ITERATIONS;
            if !error.is_finite() || (aimed && poor > MOST_POOR) || is_last {
                return Err(if error <= CLOSED {
                    JointError::ContactForces { time }
                } else {
                    self.failed(start, joint, error, time, length)
                });
            }
            (last, last_change) = (error, change.size);
            self.take_contacts();
            for (multiplier, change) in multipliers.iter_mut().zip(&self.correction) {
                *multiplier += change;
            }
        }
        Ok(())
    }

    /// True if the initial impulses of the iteration at the start of a step were so bad that the iteration must start
    /// again from better ones. This is so if the impulses rotate a body by more than [`TURNED`] in the first iteration.
    /// The impulses also count as bad if the residual `error` is not finite, or decreased too little in too many
    /// iterations; `poor` is the number of such iterations. `length`: length of the step (s).
    fn is_astray(
        &self,
        start: &Posture,
        length: f64,
        (error, poor): (f64, usize),
        step: &Step,
    ) -> bool {
        if step.iterations > 1 {
            return poor > MOST_POOR || !error.is_finite();
        }
        let mb = self.multibody;
        let turns = |(body, (before, after)): (usize, (&State, &State))| {
            let rigid = mb.rigid(body)?;
            let change = after.angular_momentum - before.angular_momentum;
            Some(rigid.angular_velocity(&change).norm() * length.abs())
        };
        let kicked = start.states.iter().zip(&step.kicked).enumerate();
        // Written in this order so that NaN counts.
        !kicked.filter_map(turns).all(|turn| turn <= TURNED)
    }

    /// Returns the residual of a joint condition up to which the residual counts as rounding error. Residuals that are lengths
    /// are divided by the size of the system. The value grows with the distance of the jointed bodies from the origin.
    fn rounding(&self, start: &Posture) -> f64 {
        let mb = self.multibody;
        let ends = mb.joints().iter().enumerate();
        let ends = ends.filter(|(_, joint)| !joint.kind.conditions.is_empty());
        let bodies = ends.flat_map(|(j, _)| mb.ends(j)).flatten();
        let places = bodies.filter_map(|body| Some(start.states.get(*body)?.position.amax()));
        ROUNDING * (1.0 + places.fold(0.0, f64::max) / mb.size())
    }

    /// Returns the error for a step whose impulses at the start (first kick) are not found. `joint` is the joint with the largest
    /// residual, and `error` is this residual; a residual that is a length is divided by the size of the system. The step begins
    /// in `start` at `time` and has the given `length` (s).
    fn failed(
        &mut self,
        start: &Posture,
        joint: usize,
        error: f64,
        time: f64,
        length: f64,
    ) -> JointError {
        let name = self
            .multibody
            .joints()
            .get(joint)
            .map_or_else(String::new, |j| j.name.clone());
        let (rows, rank) = self.elimination.rank();
        let is_dependent = rank < rows;
        if is_dependent && self.is_singular(start) {
            return JointError::SingularJoints { joint: name, time };
        }
        if is_dependent && error > CONSISTENT && error <= MOST_INCONSISTENT {
            return JointError::InconsistentJoints {
                joint: name,
                time,
                residual: error,
            };
        }
        JointError::StepTooLarge {
            joint: name,
            step: length,
            time,
            reason: format!("its first kick does not settle (residual {error:e})"),
        }
    }

    /// Returns initial impulses of all joint rows (N s or N m s) for a step of `length` (s). The impulses are
    /// extrapolated from the last four steps, or from fewer; without earlier steps they are zero.
    fn guess(&mut self, length: f64) -> Vec<f64> {
        let n = self.multibody.n_rows();
        let mut guess = std::mem::take(&mut self.multipliers);
        guess.clear();
        guess.resize(n, 0.0);
        for (i, guess) in guess.iter_mut().enumerate() {
            let value = match &self.history[..] {
                [a, b, c, d, ..] => 4.0 * (a[i] + c[i]) - 6.0 * b[i] - d[i],
                [a, b, c] => 3.0 * (a[i] - b[i]) + c[i],
                [a, b] => 2.0 * a[i] - b[i],
                [a] => a[i],
                [] => 0.0,
            };
            *guess = value * length;
        }
        guess
    }

    fn remember(&mut self, multipliers: &[f64], length: f64) {
        let mut entry = if self.history.len() < EXTRAPOLATED {
            Vec::with_capacity(multipliers.len())
        } else {
            self.history.pop().unwrap_or_default()
        };
        entry.clear();
        entry.extend(multipliers.iter().map(|x| x / length));
        self.history.insert(0, entry);
    }

    /// Computes the free flights of all bodies for given impulses of the joint rows (`multipliers`). In the first
    /// iteration these impulses can be so wrong that a body rotates too far: without joint impulses, the forces of a
    /// step can spin a light link between heavy ones. In that case better initial impulses are computed, and the
    /// flights are repeated. `length`: length of the step (s); `base`: momentum changes of the bodies by other forces;
    /// `modes`: states of the joint coordinates (held, sliding or free).
    fn fly_or_aim(
        &mut self,
        start: &Posture,
        length: f64,
        modes: &Modes,
        base: &[Vector6<f64>],
        multipliers: &mut [f64],
        step: &mut Step,
    ) -> Result<(), JointError> {
        match self.fly(start, length, modes, base, multipliers, step) {
            Err(JointError::Flight { .. }) if step.iterations == 1 => {
                self.aim(start, length, modes, base, multipliers);
                self.fly(start, length, modes, base, multipliers, step)
            }
            flown => flown,
        }
    }

    /// Computes impulses of the joint rows (`multipliers`) with which the velocities at the start of the flights
    /// fulfill all joint conditions. `length`: length of the step (s); `base`: momentum changes of the bodies by other
    /// forces; `modes`: states of the joint coordinates (held, sliding or free).
    fn aim(
        &mut self,
        start: &Posture,
        length: f64,
        modes: &Modes,
        base: &[Vector6<f64>],
        multipliers: &mut [f64],
    ) {
        let mb = self.multibody;
        self.wanted.fill(0.0);
        self.each_coordinate(|this, _, row, k, c| {
            let [place, rate] = start.rotors[k];
            this.wanted[row] = match modes.held[k] {
                Some(held) => (held - place) / length,
                None if c.armature > 0.0 => rate,
                None => 0.0,
            };
        });
        self.after.copy_from_slice(base);
        for (momentum, state) in self.after.iter_mut().zip(&start.states) {
            *momentum += stack(&state.linear_momentum, &state.angular_momentum);
        }
        self.elimination.solve(
            &mb.scene(),
            &self.rows,
            &self.wanted,
            &mut self.after,
            multipliers,
        );
    }

    /// Computes the states of bodies and rotors at the end of free flights of `length` (s), which begin with given
    /// impulses of the joint rows (`multipliers`). `base`: momentum changes of the bodies by other forces; `modes`:
    /// states of the joint coordinates (held, sliding or free).
    fn fly(
        &mut self,
        start: &Posture,
        length: f64,
        modes: &Modes,
        base: &[Vector6<f64>],
        multipliers: &[f64],
        step: &mut Step,
    ) -> Result<(), JointError> {
        let mb = self.multibody;
        self.momenta.copy_from_slice(base);
        for j in 0..mb.joints().len() {
            let (first, _) = mb.rows_of(j);
            let end = first + mb.joints()[j].kind.conditions.len() + mb.joints()[j].n_rates();
            for row in first..end {
                if multipliers[row] != 0.0 {
                    push(
                        &self.rows[row],
                        mb.ends(j),
                        multipliers[row],
                        &mut self.momenta,
                    );
                }
            }
        }
        for body in 0..mb.n_bodies() {
            if mb.rigid(body).is_none() {
                continue;
            }
            let (from, kick) = (&start.states[body], &self.momenta[body]);
            let kicked = State {
                linear_momentum: from.linear_momentum + kick.fixed_rows::<3>(0),
                angular_momentum: from.angular_momentum + kick.fixed_rows::<3>(3),
                ..*from
            };
            step.kicked[body] = kicked;
            step.end.states[body] = mb.fly(body, &kicked, length)?;
        }
        mb.frames(&step.end.states, &mut self.frames);
        if self.measures {
            mb.measure_at(&self.frames, &start.q, &mut step.end.q);
        }
        self.each_coordinate(|_, _, row, k, c| {
            let [place, rate] = start.rotors[k];
            step.end.rotors[k] = match modes.held[k] {
                Some(held) => [held, (held - place) / length],
                None if c.armature > 0.0 => {
                    let rate = rate - multipliers[row] / c.armature;
                    [place + length * rate, rate]
                }
                None => [step.end.q[k], 0.0],
            };
        });
        Ok(())
    }

    /// Computes the values of the joint coordinates at the end of the flights, unless the computation of the impulses
    /// at the start of the step (first kick) has already done so.
    fn measure_end(&mut self, start: &Posture, step: &mut Step) {
        if self.measures {
            return;
        }
        let mb = self.multibody;
        mb.measure_at(&self.frames, &start.q, &mut step.end.q);
        for (rotor, q) in step.end.rotors.iter_mut().zip(&step.end.q) {
            *rotor = [*q, 0.0];
        }
    }

    /// Returns the largest residual of the joint conditions at the end of the flights, with the index of its joint.
    /// Residuals that are lengths are divided by the size of the system. The function also sets the prescribed rate of
    /// each row, such that this rate would remove the residual within the `length` (s) of the step. `modes`: states of
    /// the joint coordinates (held, sliding or free).
    fn residuals(&mut self, length: f64, modes: &Modes, step: &Step) -> (f64, usize) {
        let mb = self.multibody;
        let mut worst = (0.0_f64, 0);
        let mut note = |error: f64, joint: usize| {
            if !(error <= worst.0) {
                worst = (error, joint);
            }
        };
        for (j, joint) in mb.joints().iter().enumerate() {
            let (first, rates) = mb.rows_of(j);
            self.wanted[rates..rates + joint.n_rates()].fill(0.0);
            let frames = &self.frames[j];
            let conditions = joint.kind.conditions.iter();
            for (k, (condition, r)) in conditions.zip(joint.residuals(frames)).enumerate() {
                self.wanted[first + k] = -r / length;
                let unit = if condition.is_length() {
                    mb.size()
                } else {
                    1.0
                };
                note(r.abs() / unit, j);
            }
            for (k, c) in joint.coordinates.iter().enumerate() {
                let place = mb.coordinates_of(j).start + k;
                let r = match modes.held[place] {
                    Some(held) => step.end.q[place] - held,
                    None if c.armature > 0.0 => step.end.q[place] - step.end.rotors[place][0],
                    None => continue,
                };
                self.wanted[rates + k] = -r / length;
                let unit = if joint.kind.coordinates[k].is_angle {
                    1.0
                } else {
                    mb.size()
                };
                // The rounding of an angle grows with the angle.
                note(r.abs() / unit / (1.0 + step.end.q[place].abs()), j);
            }
        }
        worst
    }

    /// Adds the impulses of the joint rows at the start of the step (`multipliers`) to the loads of the joints, and
    /// stores the impulses that hold coordinates in place. `length`: length of the step (s); `modes`: states of the
    /// coordinates (held, sliding or free).
    fn note_rows(
        &self,
        multipliers: &[f64],
        modes: &Modes,
        start: &Posture,
        length: f64,
        step: &mut Step,
    ) {
        let mb = self.multibody;
        let rows = &self.rows;
        for (j, joint) in mb.joints().iter().enumerate() {
            let (first, rates) = mb.rows_of(j);
            let load = &mut step.loads[j];
            for row in first..rates {
                load.force += rows[row].force * multipliers[row];
                load.moment += rows[row].couple * multipliers[row];
                load.total += rows[row].force * multipliers[row];
            }
            for (k, c) in joint.coordinates.iter().enumerate() {
                let place = mb.coordinates_of(j).start + k;
                load.total += rows[rates + k].force * multipliers[rates + k];
                if modes.held[place].is_some() {
                    // The impulse that brings the rotor to rest is not part of the holding force.
                    let [at, rate] = start.rotors[place];
                    let arrives = step.end.rotors[place][0] - at;
                    let rotor = c.armature * (rate - arrives / length);
                    step.holding[place][0] = multipliers[rates + k] - rotor;
                }
            }
        }
    }

    /// Adds the work of the forces along the coordinates at the start of the step to the result. `pushes`: forces on
    /// each coordinate (N or N m); `half`: half the length of the step (s), for which they act; `modes`: friction
    /// states of the coordinates and the caller's forces.
    pub(super) fn note_first(
        &mut self,
        pushes: &[Push],
        half: f64,
        modes: &Modes,
        step: &mut Step,
    ) {
        let mb = self.multibody;
        let mut after = std::mem::take(&mut self.after);
        mb.velocities(&step.kicked, &mut after);
        self.each_coordinate(|this, joint, row, k, _| {
            let before = rate(&this.rows[row], mb.ends(joint), &this.velocities);
            let now = rate(&this.rows[row], mb.ends(joint), &after);
            pushes[k].book(half, 0.5 * (before + now), &mut step.works);
            if modes.implicit[k] {
                step.holding[k][0] = pushes[k].friction * half;
            }
        });
        for &(row, impulse, before) in &self.balls {
            let joint = mb.joint_of_row(row);
            let now = rate(&self.rows[row], mb.ends(joint), &after);
            step.works.damper -= impulse * 0.5 * (before + now);
        }
        self.note_loads(half, [&self.velocities, &after], step);
        self.after = after;
    }
}
