//! Second kick: forces at the end of the flights; damping and dry friction depend implicitly on the rates after the kick.

use super::contacts::Contacts;
use super::{Modes, Push, Step, Stepper};
use crate::JointError;
use crate::elimination::{push, rate};

/// Number of changes, within the kick, of the set of actuators at their limits and of the set of sticking coordinates after which
/// coordinates only stop and actuators stay as they are. A quadruped with strong dry friction that falls on four feet needs up to
/// 27; sets that have not settled by then alternate for ever.
const MOST_CHANGES: usize = 32;

/// Number of changes after which only one coordinate at a time changes between sticking and sliding: sets that change as a whole
/// can alternate.
const AT_ONCE: usize = 8;

/// With implicit dry friction a coordinate slips when the impulse exceeds the maximum by more than this fraction, which covers
/// rounding; a velocity that loads change by this fraction of it, and no less, is one up to rounding.
pub(super) const HOLDS: f64 = 1e-9;

/// Changes of coordinates between sticking and sliding in one round of the second kick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turns {
    /// Every coordinate may change.
    All,
    /// The first coordinate that would change does.
    First,
    /// Sliding coordinates may stop; those that stick stay.
    Stops,
}

impl Stepper<'_> {
    /// Computes the impulses at the end of a step (second kick). These impulses give all joint conditions the rate
    /// zero, and the forces of dampers belong to the velocities after the impulses. `time`: end of the step (s);
    /// `length`: length of the step (s); `modes`: states of the joint coordinates (held, sliding or free); `contacts`:
    /// contact model, if the bodies can touch.
    pub(super) fn second_kick(
        &mut self,
        time: f64,
        length: f64,
        modes: &Modes,
        step: &mut Step,
        mut contacts: Option<&mut dyn Contacts>,
    ) -> Result<(), JointError> {
        let mb = self.multibody;
        let half = 0.5 * length;
        mb.rows_at(&self.frames, &step.end.q, &mut self.end_rows);
        self.kept.note_rows(&step.end.q);
        self.compliances(half, |k| modes.held_at_end(k).is_some());
        let n = mb.n_coordinates();
        self.clamped.clear();
        self.clamped.resize(n, None);
        let mut pushes = std::mem::take(&mut self.pushes);
        pushes.clear();
        pushes.resize(n, Push::default());
        mb.velocities(&step.end.states, &mut self.velocities);
        self.rub(modes);
        let mut multipliers = std::mem::take(&mut self.multipliers);
        multipliers.clear();
        multipliers.resize(mb.n_rows(), 0.0);
        let mut change = 0;
        self.load_end(time, half, &step.end.states)?;
        loop {
            let mut rates = std::mem::take(&mut step.rates);
            self.solve_second(time, half, modes, &mut pushes, &mut multipliers, step)?;
            if let Some(it) = &mut contacts
                && !self.press(*it, &mut multipliers, step)
            {
                return Err(JointError::ContactForces { time });
            }
            self.check_forces(&pushes, time)?;
            mb.coordinate_rates(&self.end_rows, &self.after, &mut rates);
            step.rates = rates;
            if !self.loads.is_empty() && self.answer_loads(time, half, step)? {
                continue;
            }
            let turns = match change {
                0..AT_ONCE => Turns::All,
                AT_ONCE..MOST_CHANGES => Turns::First,
                _ => Turns::Stops,
            };
            step.friction_exceeded = turns == Turns::Stops;
            let clamps = !step.friction_exceeded && self.clamp(time, step);
            let rubs = self.turn_rubbing(half, turns, modes, &multipliers, step);
            if !clamps && !rubs {
                break;
            }
            self.loads.again();
            change += 1;
        }
        hold(modes, step);
        mb.set_velocities(&self.after, &mut step.end.states);
        // Forces that depend on the final rates.
        let before = std::mem::take(&mut self.velocities);
        if contacts.is_some() {
            self.note_pressing(&before, step);
        }
        self.note_second(&pushes, &multipliers, half, step);
        self.note_loads(half, [&before, &self.after], step);
        self.each_coordinate(|this, joint, row, k, c| {
            let now = step.rates[k];
            let p = &mut pushes[k];
            p.damper = -c.damping * now;
            if let (Some(actuator), None) = (&c.actuator, this.clamped[k]) {
                p.actuator = modes.control[k] + actuator.drive(step.end.q[k], time, true)
                    - actuator.derivative() * now;
                p.actuator = if actuator.derivative() > 0.0 {
                    p.actuator
                } else {
                    modes.control[k] + actuator.force(step.end.q[k], now, time, true)
                };
            }
            let earlier = rate(&this.end_rows[row], mb.ends(joint), &before);
            let turning = step.end.rotors[k][1];
            if modes.implicit[k] {
                if this.rubbed[k].is_none() {
                    p.friction = (multipliers[row] - c.armature * turning) / half;
                }
                step.holding[k][1] = p.friction * half;
            }
            p.book(half, 0.5 * (earlier + now), &mut step.works);
            // The rotor moves with its coordinate.
            let spins = c.armature > 0.0 && modes.held_at_end(k).is_none();
            step.end.rotors[k][1] = if spins { now } else { 0.0 };
            if modes.held_at_end(k).is_some() {
                step.holding[k][1] = multipliers[row] - c.armature * turning;
            }
        });
        for (j, joint) in mb.joints().iter().enumerate() {
            if joint.kind.is_spherical() && joint.ball.damping > 0.0 {
                let (_, first) = mb.rows_of(j);
                let first = first + joint.first_couple();
                for row in first..first + 3 {
                    let earlier = rate(&self.end_rows[row], mb.ends(j), &before);
                    let now = rate(&self.end_rows[row], mb.ends(j), &self.after);
                    step.works.damper += half * joint.ball.damping * now * 0.5 * (earlier + now);
                }
            }
        }
        self.velocities = before;
        (self.pushes, self.multipliers) = (pushes, multipliers);
        Ok(())
    }

    /// Chooses the initial guess for the joint coordinates with implicit dry friction, for which the impulses at the
    /// end of the step decide between sticking and sliding. A coordinate slides at first if it slid at the
    /// end of the previous step and still moves in that direction; all others stick. `modes`: direction in which each
    /// coordinate slid there.
    fn rub(&mut self, modes: &Modes) {
        let mb = self.multibody;
        let mut rubbed = std::mem::take(&mut self.rubbed);
        rubbed.clear();
        rubbed.resize(mb.n_coordinates(), None);
        self.each_coordinate(|this, joint, row, k, _| {
            let direction = modes.slid[k];
            if modes.implicit[k] && direction != 0.0 {
                let now = rate(&this.end_rows[row], mb.ends(joint), &this.velocities);
                rubbed[k] = (now * direction > 0.0).then_some(direction);
            }
        });
        self.rubbed = rubbed;
    }

    /// Sets the force of each actuator beyond its limit to the limit. Returns true if the set of actuators at their limits
    /// changed; only actuators with a derivative gain are considered. `time`: end of the step (s).
    fn clamp(&mut self, time: f64, step: &Step) -> bool {
        let mut changed = false;
        self.each_coordinate(|this, _, _, k, c| {
            let Some(actuator) = c.actuator.as_ref().filter(|a| a.limit.is_finite()) else {
                return;
            };
            let drive = actuator.drive(step.end.q[k], time, true);
            let force = drive - actuator.derivative() * step.rates[k];
            let limit = (force.abs() > actuator.limit).then(|| force.signum() * actuator.limit);
            if limit != this.clamped[k] && actuator.derivative() > 0.0 {
                this.clamped[k] = limit;
                changed = true;
            }
        });
        changed
    }

    /// Updates which joint coordinates with implicit dry friction slide. A sticking coordinate begins to slide if its
    /// impulse (in `multipliers`) exceeds the friction; a sliding one sticks if its rate has reversed. Returns true if
    /// any coordinate changed. `half`: half the length of the step (s); `turns`: coordinates that may change; `modes`:
    /// coordinates with implicit dry friction.
    fn turn_rubbing(
        &mut self,
        half: f64,
        turns: Turns,
        modes: &Modes,
        multipliers: &[f64],
        step: &Step,
    ) -> bool {
        let mut changed = false;
        self.each_coordinate(|this, _, row, k, c| {
            if !modes.implicit[k] || (turns == Turns::First && changed) {
                return;
            }
            let next = match this.rubbed[k] {
                Some(direction) => (step.rates[k] * direction >= 0.0).then_some(direction),
                None if turns == Turns::Stops => None,
                None => {
                    let impulse = multipliers[row] - c.armature * step.end.rotors[k][1];
                    let most = c.friction * half.abs() * (1.0 + HOLDS);
                    (impulse.abs() > most).then(|| -impulse.signum())
                }
            };
            changed |= next != this.rubbed[k];
            this.rubbed[k] = next;
        });
        changed
    }

    /// Adds the impulses at the end of the step to the loads of the joints: those of all joint rows (`multipliers`), and the
    /// forces along the coordinates (`pushes`) times `half`, half the length of the step (s).
    fn note_second(&self, pushes: &[Push], multipliers: &[f64], half: f64, step: &mut Step) {
        let mb = self.multibody;
        for (j, load) in step.loads.iter_mut().enumerate() {
            let (first, rates) = mb.rows_of(j);
            for row in first..rates {
                load.force += self.end_rows[row].force * multipliers[row];
                load.moment += self.end_rows[row].couple * multipliers[row];
                load.total += self.end_rows[row].force * multipliers[row];
            }
            for (k, place) in mb.coordinates_of(j).enumerate() {
                let row = rates + k;
                let impulse = multipliers[row] + half * pushes[place].total();
                load.total += self.end_rows[row].force * impulse;
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn solve_second(
        &mut self,
        time: f64,
        half: f64,
        modes: &Modes,
        pushes: &mut [Push],
        multipliers: &mut [f64],
        step: &Step,
    ) -> Result<(), JointError> {
        let mb = self.multibody;
        self.wanted.fill(0.0);
        for (momentum, state) in self.momenta.iter_mut().zip(&step.end.states) {
            *momentum = crate::frames::stack(&state.linear_momentum, &state.angular_momentum);
        }
        self.push_loads(half);
        self.each_coordinate(|this, joint, row, k, c| {
            let q = step.end.q[k];
            let mut force = Push {
                spring: c.stiffness * (c.rest - q),
                actuator: modes.control[k],
                friction: if !modes.implicit[k] {
                    -c.friction * modes.slides[k]
                } else {
                    -c.friction * this.rubbed[k].unwrap_or(0.0)
                },
                damper: 0.0,
            };
            let mut gain = 0.0;
            if let Some(actuator) = &c.actuator {
                match (this.clamped[k], actuator.derivative() > 0.0) {
                    (Some(limit), _) => force.actuator += limit,
                    (None, true) => {
                        gain = actuator.derivative();
                        force.actuator += actuator.drive(q, time, true);
                    }
                    (None, false) => force.actuator += actuator.force(q, 0.0, time, true),
                }
            }
            push(
                &this.end_rows[row],
                mb.ends(joint),
                half * force.total(),
                &mut this.momenta,
            );
            let stiff = c.armature + half * (c.damping + gain);
            let sticks = modes.implicit[k] && this.rubbed[k].is_none();
            if sticks {
                this.compliance[row] = 0.0;
            } else if modes.held_at_end(k).is_none() {
                this.compliance[row] = if stiff > 0.0 {
                    1.0 / stiff
                } else {
                    f64::INFINITY
                };
                let turning = c.armature * step.end.rotors[k][1];
                this.wanted[row] = if stiff > 0.0 { turning / stiff } else { 0.0 };
            }
            pushes[k] = force;
        });
        let (elimination, states) = (&mut self.elimination, &step.end.states);
        mb.factor(elimination, states, &self.end_rows, &self.compliance, time)?;
        self.kept.note_factors(&self.compliance);
        self.after.copy_from_slice(&self.momenta);
        self.elimination.solve(
            &mb.scene(),
            &self.end_rows,
            &self.wanted,
            &mut self.after,
            multipliers,
        );
        Ok(())
    }
}

/// Sets each joint coordinate that friction or a limit holds in this step exactly to its held value in `modes`, with
/// rate 0 unless it leaves at the end, because the computed values in `step` have rounding errors.
fn hold(modes: &Modes, step: &mut Step) {
    for (k, held) in modes.held.iter().enumerate() {
        if let Some(place) = held {
            step.end.q[k] = *place;
            if !modes.leaves[k] {
                step.rates[k] = 0.0;
            }
        }
    }
}
