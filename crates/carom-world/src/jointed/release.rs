//! Opening of limits that would have to pull.
//!
//! A limit whose mean force over a step would pull opens. If the force pulls in a short first step already, the limit opens at
//! the start of the step; otherwise the step ends where the force changes its sign, and the limit opens there. Of several limits
//! that pull, one opens at a time: the others may press again without it. This prevents limits that load each other, such as the
//! joints of a finger, from opening and closing for ever.

use super::contact::{JointContact, LimitContact};
use super::events::AT_ONCE;
use super::run::{INSTANT, Run};
use super::world::JointEvent;
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

impl Run<'_, '_> {
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
            let at = self.opens_at(&pull, short, length)?;
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

    /// Returns the joint limits that would have to pull on their coordinates in the trial step `step` of `length` (s), the
    /// strongest pull first.
    fn pulls(&self, step: &Step, length: f64) -> Vec<Pull> {
        let mut pulls = Vec::new();
        for k in 0..self.rates.len() {
            let Some(contact) = self.at_limit(k).filter(|_| !self.kept_limits.contains(&k)) else {
                continue;
            };
            let friction = self.coordinate(k).0.friction;
            let mut pull = Pull {
                contact,
                friction,
                force: 0.0,
            };
            pull.force = pull.force(step, length);
            if pull.force < 0.0 {
                pulls.push(pull);
            }
        }
        let size = |pull: &Pull| pull.force * self.unit(pull.contact.coordinate);
        pulls.sort_by(|a, b| size(a).total_cmp(&size(b)));
        pulls
    }

    /// Returns the time from now at which the force of the joint limit `pull` changes from pressing to pulling (s), within a step
    /// of `length` (s). Returns 0 if the limit pulls already in a step of the length `short` (s).
    fn opens_at(&mut self, pull: &Pull, short: f64, length: f64) -> Result<f64, MotionError> {
        if short <= INSTANT {
            return Ok(0.0);
        }
        let (results, pressing) = (self.results.clone(), self.pressing.clone());
        let start = self.step_for(short).map(|step| pull.force(&step, short));
        let at = match start {
            // If no impulses are found for so short a step, the limit opens at the start.
            Err(MotionError::Joint(_)) => Ok(0.0),
            Err(error) => Err(error),
            Ok(start) if start <= 0.0 => Ok(0.0),
            Ok(start) => self.root(&|step, s| pull.force(step, s), (start, 0.0), length),
        };
        (self.results, self.pressing) = (results, pressing);
        at
    }

    fn open_limit(&mut self, pull: &Pull) {
        let (k, sign) = (pull.contact.coordinate, pull.contact.sign());
        self.modes.held[k] = None;
        self.modes.slides[k] = if pull.friction > 0.0 { sign } else { 0.0 };
        self.modes.implicit[k] = self.is_rubbing(k);
        (self.observe)(JointEvent::Released {
            time: self.time,
            contact: JointContact::Limit(pull.contact),
        });
    }
}
