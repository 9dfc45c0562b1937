//! Limits of a step of lasting contact: bodies stay outside each other, and their energy grows by no more than
//! the error of the step.
//!
//! A step that is too large for its bodies, so that gravity or rolling would move them by their own size within it,
//! finds impulses that press them through each other or throw them apart. Nothing that follows would mean anything,
//! so the run stops before such a step and names one that would do.

use crate::world::MotionError;
use crate::world::body::{Body, Flights, Velocity};
use crate::world::error::StepFault;
use crate::world::kick::Work;
use crate::world::search::BAND;
use crate::world::step::Step;
use crate::world::step_scene::{StepPair, StepScene};
use carom_variational::State;

/// Rounding of the work of kicks, as a fraction of the kinetic energy.
const ROUNDING: f64 = 1e-12;

/// Energy that the errors of all steps may add, as a fraction of the kinetic energy and $mgr$ of the bodies: less passes
/// whatever its cause, and is told as the error of the energy.
const LEAST_GAINED: f64 = 1e-3;
/// Energy that the errors of all steps may never add, whatever their order would allow, as a fraction of the kinetic
/// energy and $mgr$ of the bodies.
const MOST_GAINED: f64 = 1e-2;

/// Step in units of $\sqrt{r/a}$, the time in which the acceleration moves a body by its radius, up to which it is fine.
/// The error of a longer step does not fall with its order: half the step may have a larger one.
const FINE: f64 = 0.1;

/// Depth of a contact when a step begins, as a fraction of the radius, that the step may leave: the rounding of a fall by
/// a billion radii.
const INHERITED: f64 = 1e-6;

/// Halvings of a step whose impulses are not found or leave an overlap, before the run is given up: contacts that jam
/// each other may have impulses for a shorter one.
pub(crate) const SHORTENINGS: i32 = 4;

/// Halvings in search of a step that would do.
const HALVINGS: usize = 16;

/// Bisections between a step that would do and twice of it: the largest is known to a fifth.
const BISECTIONS: usize = 2;

/// Steps for which a step that would do is tried, if the run lasts as long: bodies rock several times in so many fine steps.
const TRIED: usize = 2048;

/// Units of work of the contact problems of one trial of a step that would do, beyond which no further step is tried: those of
/// two bodies take less for all of their steps, a heap of twenty boxes is tried for some ten. A trial takes a tenth of a
/// second or two then, and all of them a few seconds. A first step that takes more is not known to do.
const TRIAL_WORK: u64 = 100_000_000;

/// Share that is named of the largest step that does: contacts of the bodies may be others later. Of 43 worlds whose step was
/// too large one needed less, and nine would have needed less than twice this.
const NAMED: f64 = 0.35;

/// Order of the errors of a run in its step.
const ORDER: i32 = 2;

/// Energy that the errors of the steps of a body have added since it was lowest, and taken since it was highest (J).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gained {
    energy: f64,
    lost: f64,
    /// Energy that the order of the fine steps allows (J).
    allowed: f64,
    /// Largest sum of kinetic energy and $mgr$ (J).
    scale: f64,
}

impl Gained {
    /// Energies of steps whose errors are a share of these.
    fn scaled(self, share: f64) -> Self {
        Self {
            energy: self.energy * share,
            lost: self.lost * share,
            allowed: self.allowed * share,
            ..self
        }
    }
}

/// Speed, acceleration and rate of the motion of a body in lasting contact.
struct Pace {
    mass: f64,
    speed: f64,
    acceleration: f64,
    rate: f64,
}

impl Pace {
    /// True if a step resolves the motion of a body of a radius, so that its error has an order.
    fn is_fine(&self, radius: f64, h: f64) -> bool {
        h <= FINE * (radius / self.acceleration).sqrt()
    }
}

impl StepScene<'_> {
    fn pace(&self, body: &Body, state: &State, h: f64) -> Option<Pace> {
        let mass = body.rigid.as_ref()?.mass();
        let gravity = self.flights.gravity.norm();
        let velocity = Velocity::of(body, state);
        let speed = velocity.linear.norm() + velocity.angular.norm() * body.radius + gravity * h;
        let acceleration = gravity + speed * speed / body.radius;
        let rate = (acceleration / body.radius).sqrt() + speed / body.radius;
        Some(Pace {
            mass,
            speed,
            acceleration,
            rate,
        })
    }

    /// Speed by which accelerations can change the normal velocity of a pair within a step (m/s).
    pub(crate) fn gathered(&self, pair: &StepPair<'_>, states: &[State], h: f64) -> f64 {
        let of = |place: usize| {
            let pace = self.pace(self.bodies.get(place)?, states.get(place)?, h)?;
            Some(pace.acceleration * h)
        };
        let places = [Some(pair.first), pair.second];
        places.into_iter().flatten().filter_map(of).sum()
    }

    fn most_gains(&self, states: &[State], h: f64) -> impl Iterator<Item = f64> {
        let all = self.bodies.iter().zip(states);
        all.map(move |(body, state)| {
            self.pace(body, state, h).map_or(0.0, |pace| {
                let kick = pace.acceleration * h;
                let order = kick * kick * (pace.rate * h).min(1.0);
                pace.mass * (order + ROUNDING * pace.speed * pace.speed)
            })
        })
    }

    /// Energy that a step may add at most by the error of its order, $m(ah)^2\cdot h\omega$ for each body with the
    /// acceleration $a$ and the rate $\omega$ of its motion, and by rounding (J).
    pub(crate) fn most_gain(&self, states: &[State], h: f64) -> f64 {
        self.most_gains(states, h).sum()
    }

    fn energy(&self, states: &[State]) -> f64 {
        let all = self.bodies.iter().zip(states);
        all.map(|(body, state)| self.flights.energy(body, state))
            .sum()
    }

    /// Energy that the error of a step adds (J): by which the energy rises, or else what changes beside the work of
    /// friction and of landing points. A rise that friction hides is one, too.
    fn gain(step: &Step) -> f64 {
        if step.work > 0.0 {
            step.work
        } else {
            step.work + step.loss
        }
    }

    /// Adds a step to what its bodies have gained.
    pub(crate) fn add_gain<'g>(
        &self,
        before: &[State],
        step: &Step,
        gained: impl Iterator<Item = &'g mut Gained>,
    ) {
        let gravity = self.flights.gravity.norm();
        let (gain, all) = (Self::gain(step), self.most_gain(before, step.length));
        let most = self.most_gains(before, step.length);
        let bodies = self.bodies.iter().zip(before);
        for (((body, state), most), gained) in bodies.zip(most).zip(gained) {
            let own = if all > 0.0 { gain * most / all } else { 0.0 };
            gained.energy = (gained.energy + own).max(0.0);
            gained.lost = (gained.lost - own).max(0.0);
            if let Some(pace) = self.pace(body, state, step.length) {
                if pace.is_fine(body.radius, step.length) {
                    gained.allowed += most;
                }
                let energy = Flights::kinetic(body, state) + pace.mass * gravity * body.radius;
                gained.scale = gained.scale.max(energy);
            }
        }
    }

    /// The first pair that overlaps at the end of a step by more than its contact tolerance, and its depth (m).
    ///
    /// A pair that was as deep when the step began has not been moved by it: a body that falls by many of its radii
    /// lands as deep as the rounding of its flight.
    fn overlap(&self, before: &[State], step: &Step) -> Option<(&StepPair<'_>, f64)> {
        let mut all = self.pairs.iter().zip(&step.pairs).enumerate();
        all.find_map(|(place, (pair, result))| {
            let rounding = BAND * self.gap_scale(pair, &step.end);
            if result.gap >= -(pair.tolerance + rounding) {
                return None;
            }
            let inherited = self.gaps(before).get(place).copied().unwrap_or(0.0);
            let stays =
                inherited >= -INHERITED * pair.body.radius && result.gap >= inherited - rounding;
            (!stays).then_some((pair, -result.gap))
        })
    }

    /// True if things overlap at the end of a step.
    pub(crate) fn overlaps(&self, before: &[State], step: &Step) -> bool {
        self.overlap(before, step).is_some()
    }

    /// Why a step must not be taken, if so, with what its bodies have gained before it.
    fn fault(&self, before: &[State], step: &Step, gained: &[Gained]) -> Option<StepFault> {
        if let Some((pair, depth)) = self.overlap(before, step) {
            return Some(StepFault::Overlap {
                first: pair.body.name.clone(),
                second: pair.other.name().to_owned(),
                depth,
            });
        }
        let mut after = gained.to_vec();
        self.add_gain(before, step, after.iter_mut());
        excess(&after, ROUNDING * self.energy(before).abs())
    }

    /// Checks a step before it is taken, in a run that goes on for a time that is left (s).
    ///
    /// # Errors
    ///
    /// [`MotionError::StepTooLarge`], with a step that would do.
    pub(crate) fn check(
        &self,
        before: &[State],
        step: &Step,
        gained: &[Gained],
        left: f64,
    ) -> Result<(), MotionError> {
        let Some(fault) = self.fault(before, step, gained) else {
            return Ok(());
        };
        Err(MotionError::StepTooLarge {
            time: self.time,
            time_step: self.time_step,
            sufficient: self.sufficient(before, gained, left),
            fault,
        })
    }

    /// A step that would do for a time that is left (s): the largest with which the bodies move on from here without a fault
    /// would do, so the named one is somewhat smaller. `None` if every step that is tried has a fault.
    fn sufficient(&self, before: &[State], gained: &[Gained], left: f64) -> Option<f64> {
        let does = |step: f64| {
            let finer = StepScene {
                time_step: step,
                work: Work::up_to(TRIAL_WORK),
                ..self.clone()
            };
            let share = carom_numeric::power(step / self.time_step, ORDER);
            let gained = gained.iter().map(|gained| gained.scaled(share));
            finer.does(before, gained.collect(), left)
        };
        let halves = (1..=HALVINGS as i32).map(|k| self.time_step * carom_numeric::power(0.5, k));
        let mut step = { halves }.find(|step| does(*step))?;
        let mut fails = 2.0 * step;
        for _ in 0..BISECTIONS {
            let middle = (step * fails).sqrt();
            match does(middle) {
                true => step = middle,
                false => fails = middle,
            }
        }
        Some(two_digits(NAMED * step))
    }

    /// A step of the grid, shortened as often as a run would where it leaves an overlap.
    fn step_apart(&self, states: &[State]) -> Result<Step, MotionError> {
        let mut step = self.step(states, self.time_step, None)?;
        for shortened in 1..=SHORTENINGS {
            if !self.overlaps(states, &step) {
                break;
            }
            let share = carom_numeric::power(0.5, shortened);
            step = self.step(states, share * self.time_step, None)?;
        }
        Ok(step)
    }

    /// True if the next steps of the grid can be taken, for a time that is left (s) or many of them, as far as
    /// [`TRIAL_WORK`] goes; the contacts of later ones may be others. The energy that errors add oscillates with the
    /// motion, so that few steps tell nothing of the rest.
    fn does(&self, before: &[State], mut gained: Vec<Gained>, left: f64) -> bool {
        let mut states = before.to_vec();
        let all = (left / self.time_step).ceil().max(1.0);
        for done in 0..all.min(TRIED as f64) as usize {
            let Ok(step) = self.step_apart(&states) else {
                return done > 0;
            };
            match self.fault(&states, &step, &gained) {
                None => {}
                // Something lands that was apart: the contacts are others from here on.
                Some(StepFault::Overlap { .. }) if done > 0 => return true,
                Some(_) => return false,
            }
            self.add_gain(&states, &step, gained.iter_mut());
            states = step.end;
            if self.work.is_spent() {
                break;
            }
        }
        true
    }
}

/// The fault of bodies whose steps have added or taken so much energy, if it is one.
fn excess(gained: &[Gained], rounding: f64) -> Option<StepFault> {
    let sum = |value: fn(&Gained) -> f64| gained.iter().map(value).sum::<f64>();
    let [energy, lost, scale] = [sum(|g| g.energy), sum(|g| g.lost), sum(|g| g.scale)];
    let allowed = sum(|g| g.allowed);
    let most = allowed.clamp(LEAST_GAINED * scale, MOST_GAINED * scale) + rounding;
    if !(energy <= most) {
        return Some(StepFault::Gain { energy, most });
    }
    (!(lost <= most)).then_some(StepFault::Loss { energy: lost, most })
}

/// A positive number rounded down to two digits, which are enough of one that is to be copied.
pub(crate) fn two_digits(number: f64) -> f64 {
    let digit = libm::pow(10.0, libm::log10(number).floor() - 1.0);
    let rounded = (number / digit).floor() * digit;
    format!("{rounded:.1e}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal impulses that do 28 mJ of work stay a gain where friction takes more than that.
    #[test]
    fn friction_does_not_hide_a_gain() {
        let step = |work: f64, loss: f64| Step {
            length: 1e-3,
            launched: Vec::new(),
            end: Vec::new(),
            pairs: Vec::new(),
            work,
            loss,
            slip_left: f64::INFINITY,
            impulses: [Vec::new(), Vec::new()],
        };
        let gain = |work: f64, loss: f64| StepScene::gain(&step(work, loss));
        assert!((gain(-0.002, 0.030) - 0.028).abs() <= 1e-17);
        assert!((gain(0.001, 0.030) - 0.001).abs() <= 0.0);
        assert!((gain(-0.002, 0.001) + 0.001).abs() <= 1e-17);
    }
}
