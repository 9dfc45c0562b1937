//! Opening of limits that would have to pull.
//!
//! A limit whose force would pull at the end of a step opens. If the force pulls in a short first step already, the limit opens at
//! the start of the step; otherwise the step ends where the force changes its sign, and the limit opens there. Of several limits
//! that pull, one opens at a time: the others may press again without it. This prevents limits that load each other, such as the
//! joints of a finger, from opening and closing for ever.
//! Forces at the end of a step: `trend.rs`.

use super::contact::{JointContact, LimitContact};
use super::events::AT_ONCE;
use super::run::{INSTANT, Run};
use super::trend::force_at_start;
use crate::MotionError;
use carom_joints::step::Step;

/// A limit whose force would pull.
#[derive(Clone, Copy, Debug)]
struct Pull {
    contact: LimitContact,
    /// Dry friction of the coordinate, which the pull has to exceed before the limit opens (N m or N).
    friction: f64,
    /// Mean force of the limit on the coordinate over the step, positive where the limit presses, plus the dry friction (N m or
    /// N).
    force: f64,
}

impl Pull {
    fn force(&self, step: &Step, length: f64) -> f64 {
        let [first, second] = step.holding[self.contact.coordinate];
        self.contact.sign() * (first + second) / length + self.friction
    }
}

impl Run<'_> {
    /// Opens a joint limit that would have to pull on its coordinate in the trial step `step` of `length` (s). The limit opens at
    /// the start of the step, or a shorter step is first taken to the time of opening. Returns false if no limit pulls.
    pub(super) fn release(&mut self, step: &Step, length: f64) -> Result<bool, MotionError> {
        let pulls = self.pulls(step, length);
        if pulls.is_empty() {
            return Ok(false);
        }
        let short = AT_ONCE * length;
        let mut opens: Option<(f64, Pull)> = None;
        for pull in pulls {
            let Some(at) = self.opens_at(&pull, short, length)? else {
                continue;
            };
            if opens.is_none_or(|(first, _)| at < first) {
                opens = Some((at, pull));
            }
            if at <= INSTANT {
                break;
            }
        }
        let Some((at, pull)) = opens else {
            return Ok(false);
        };
        self.stepper.forget();
        if at > INSTANT {
            self.pressing.forget();
            let part = self.make(at)?;
            self.accept(part, at, self.time + at)?;
            self.splits += 1;
            self.stepper.forget();
        }
        self.open_limit(&pull);
        Ok(true)
    }

    /// Returns the joint limits that would have to pull on their coordinates in the trial step `step` of `length` (s), or at its
    /// end according to the trend of their force; the strongest pull first.
    fn pulls(&self, step: &Step, length: f64) -> Vec<Pull> {
        let mut pulls = Vec::new();
        for k in 0..self.rates.len() {
            let counts = !self.kept_limits.contains(&k) && !self.modes.leaves[k];
            let Some(contact) = self.at_limit(k).filter(|_| counts) else {
                continue;
            };
            let friction = self.coordinate(k).0.friction;
            let mut pull = Pull {
                contact,
                friction,
                force: 0.0,
            };
            pull.force = pull.force(step, length);
            let load = pull.force - friction;
            if pull.force < 0.0 || self.may_fall(k, contact.sign() * load, pull.force, length) {
                pulls.push(pull);
            }
        }
        let size = |pull: &Pull| pull.force * self.unit(pull.contact.coordinate);
        pulls.sort_by(|a, b| size(a).total_cmp(&size(b)));
        pulls
    }

    /// Returns the time from now at which the force of the joint limit `pull` changes from pressing to pulling (s), within a step
    /// of `length` (s), or `None` if the force presses to the end. The time is 0 if the limit pulls already in a step of the length
    /// `short` (s).
    fn opens_at(
        &mut self,
        pull: &Pull,
        short: f64,
        length: f64,
    ) -> Result<Option<f64>, MotionError> {
        // A force that rises from pulling to pressing within the step counts by its mean.
        let at_once = (pull.force < 0.0).then_some(0.0);
        if short <= INSTANT {
            return Ok(at_once);
        }
        let (results, pressing) = (self.results.clone(), self.pressing.clone());
        let early = self.step_for(short).map(|step| pull.force(&step, short));
        let at = match early {
            // If no impulses are found for so short a step, the limit opens at the start.
            Err(MotionError::Joint(_)) => Ok(at_once),
            Err(error) => Err(error),
            Ok(early) if early <= 0.0 => Ok(at_once),
            Ok(early) => {
                let start = force_at_start((short, early), (length, pull.force)).max(0.0);
                if 2.0 * pull.force >= start {
                    Ok(None)
                } else {
                    let at_end = |step: &Step, s: f64| 2.0 * pull.force(step, s) - start;
                    self.root(&at_end, (start, 0.0), length).map(Some)
                }
            }
        };
        (self.results, self.pressing) = (results, pressing);
        at
    }

    /// Returns the step of `length` (s) from the time at which limits have opened, for which `step` is a trial. A coordinate that
    /// leaves its limit from rest, under a force that grows from zero, moves by less than the error of the step. If it would end
    /// beyond the limit, the impulses at the start hold it there, as for contacts between bodies, and those at the end let it go.
    pub(super) fn leave(&mut self, step: Step, length: f64) -> Result<Step, MotionError> {
        let mut back = Vec::new();
        for contact in std::mem::take(&mut self.leaving) {
            let (k, sign) = (contact.coordinate, contact.sign());
            let (c, _) = self.coordinate(k);
            let bound = if contact.upper { c.upper } else { c.lower };
            if sign * (step.end.q[k] - bound) < 0.0 && sign * step.rates[k] >= 0.0 {
                self.modes.held[k] = Some(bound);
                self.modes.leaves[k] = true;
                back.push((k, sign));
            }
        }
        if back.is_empty() {
            return Ok(step);
        }
        let results = self.results.clone();
        match self.make(length) {
            Ok(held)
                if { back.iter() }.all(|(k, sign)| {
                    sign * held.holding[*k][0] >= 0.0 && sign * held.rates[*k] >= 0.0
                }) =>
            {
                Ok(held)
            }
            Ok(_) | Err(MotionError::Joint(_)) => {
                self.let_go();
                self.results = results;
                Ok(step)
            }
            Err(error) => Err(error),
        }
    }

    /// Releases the coordinates that have left their limits at the end of a step.
    pub(super) fn let_go(&mut self) {
        self.leaving.clear();
        for (held, leaves) in self.modes.held.iter_mut().zip(&mut self.modes.leaves) {
            if std::mem::take(leaves) {
                *held = None;
                // The impulse that held the coordinate is no guess for a step in which it is free.
                self.stepper.forget();
            }
        }
    }

    fn open_limit(&mut self, pull: &Pull) {
        let (k, sign) = (pull.contact.coordinate, pull.contact.sign());
        self.modes.held[k] = None;
        self.modes.slides[k] = if pull.friction > 0.0 { sign } else { 0.0 };
        self.modes.implicit[k] = self.is_rubbing(k);
        self.leaving.push(pull.contact);
        self.events.push(super::JointedEvent::Released {
            time: self.time,
            contact: JointContact::Limit(pull.contact),
        });
    }
}
