//! Checks of a step of lasting contact: bodies must not overlap, and their energy may grow by no more than the truncation error
//! of the step.
//!
//! If a step is too large for its bodies, so that gravity or rolling would move them by their own size within the step, its
//! impulses press them through each other or throw them apart. Later motion would be meaningless, so the run stops before such a
//! step and suggests a time step that is sufficient.

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

/// Energy that the errors of all steps may add in any case, as a fraction of the kinetic energy plus $mgr$ of the bodies (mass
/// $m$, gravity $g$, radius $r$). It is reported as energy error.
const LEAST_GAINED: f64 = 1e-3;
/// Energy that the errors of all steps may add at most, whatever their order explains, as a fraction of the kinetic energy plus
/// $mgr$ of the bodies.
const MOST_GAINED: f64 = 1e-2;

/// Length of a step, in units of $\sqrt{r/a}$ (the time in which the acceleration $a$ moves a body by its radius $r$), up to
/// which its error has the order of the scheme. The error of a longer step need not fall with its length: half the step may have
/// a larger error.
const FINE: f64 = 0.1;

/// Overlap at the begin of a step, as a fraction of the radius, that the step need not remove: the rounding of a fall by a
/// billion radii.
const INHERITED: f64 = 1e-6;

/// Largest number of times that a step is halved when its impulses are not found or leave an overlap, before the run stops:
/// contacts that jam each other over a long step may have a solution over a shorter one.
pub(crate) const SHORTENINGS: i32 = 4;

/// Largest number of halvings in the search for a sufficient time step.
const HALVINGS: usize = 16;

/// Number of bisections between a sufficient time step and twice that: the largest sufficient step is then known to a fifth.
const BISECTIONS: usize = 2;

/// Largest number of steps computed to test a time step, if the run lasts as long: bodies rock several times within that many
/// fine steps.
const TRIED: usize = 2048;

/// Work limit of the contact problems in one test of a time step, beyond which no further step of the test is computed. Two
/// bodies need less for all steps; a heap of twenty boxes is tested for some ten steps. A test then takes a tenth of a second or
/// two, and all tests a few seconds. A first step beyond this limit counts as not sufficient.
const TRIAL_WORK: u64 = 100_000_000;

/// Suggested time step, as a fraction of the largest sufficient one: later contacts may need less. Of 43 worlds whose step was
/// too large one needed less than this, and nine would have needed less than twice this.
const NAMED: f64 = 0.35;

/// Order of the error of a run in its time step.
const ORDER: i32 = 2;

/// Energy that the errors of the steps of a body have added since its minimum (`energy`), and removed since its maximum (`lost`),
/// in J.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gained {
    energy: f64,
    lost: f64,
    /// Energy that the truncation errors of the fine steps explain (J).
    allowed: f64,
    /// Largest value so far of kinetic energy plus $mgr$ (J).
    scale: f64,
}

impl Gained {
    /// Returns these energies multiplied by `share`, for steps with smaller errors.
    fn scaled(self, share: f64) -> Self {
        Self {
            energy: self.energy * share,
            lost: self.lost * share,
            allowed: self.allowed * share,
            ..self
        }
    }
}

/// Scales of the motion of a body in lasting contact: mass (kg), speed (m/s), acceleration (m/s²) and rate (1/s).
struct Pace {
    mass: f64,
    speed: f64,
    acceleration: f64,
    rate: f64,
}

impl Pace {
    /// True if a step of length `h` (s) resolves the motion of a body of this radius, so that its error has the order of the
    /// scheme.
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

    /// Returns the speed by which accelerations can change the normal velocity of a pair within a step (m/s).
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

    /// Returns the largest energy that a step may add by its truncation error and by rounding (J). The truncation error is
    /// $m(ah)^2\cdot h\omega$ for each body, with mass $m$, acceleration $a$, rate $\omega$ of its motion and length $h$ of the
    /// step.
    pub(crate) fn most_gain(&self, states: &[State], h: f64) -> f64 {
        self.most_gains(states, h).sum()
    }

    fn energy(&self, states: &[State]) -> f64 {
        let all = self.bodies.iter().zip(states);
        all.map(|(body, state)| self.flights.energy(body, state))
            .sum()
    }

    /// Returns the energy that the error of a step adds (J): the work of the kicks if positive, otherwise the work plus the
    /// losses of friction and landing points. The latter contains a rise that the losses hide in the total.
    fn gain(step: &Step) -> f64 {
        if step.work > 0.0 {
            step.work
        } else {
            step.work + step.loss
        }
    }

    /// Adds the energy error of a step to the sums of its bodies.
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

    /// Returns the first pair that overlaps at the end of a step by more than its contact tolerance, and its depth (m).
    ///
    /// A pair that was as deep at the begin of the step does not count: a body that falls by many of its radii lands with an
    /// overlap of the rounding of its flight.
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

    /// True if some pair overlaps at the end of a step.
    pub(crate) fn overlaps(&self, before: &[State], step: &Step) -> bool {
        self.overlap(before, step).is_some()
    }

    /// Returns the reason for which a step must be rejected; `None` if it is acceptable. `gained` are the energy errors of its
    /// bodies before the step.
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

    /// Checks a step before it is accepted. `left` is the remaining duration of the run (s).
    ///
    /// # Errors
    ///
    /// [`MotionError::StepTooLarge`], with a sufficient time step if one was found.
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

    /// Returns a sufficient time step for the remaining duration `left` (s), somewhat smaller than the largest with which the
    /// motion continues from here without a fault. `None` if every time step that is tried has a fault.
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

    /// Computes a step of the grid; the step is halved like in a run while it leaves an overlap.
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

    /// True if the next steps of the grid are acceptable, for the duration `left` (s) or as many steps as [`TRIED`] and
    /// [`TRIAL_WORK`] allow; later steps may have other contacts. Energy errors oscillate with the motion, so that a few steps
    /// would not be representative.
    fn does(&self, before: &[State], mut gained: Vec<Gained>, left: f64) -> bool {
        let mut states = before.to_vec();
        let all = (left / self.time_step).ceil().max(1.0);
        for done in 0..all.min(TRIED as f64) as usize {
            let Ok(step) = self.step_apart(&states) else {
                return done > 0;
            };
            match self.fault(&states, &step, &gained) {
                None => {}
                // A pair lands that was apart: from here on the contacts differ.
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

/// Returns the fault if the energy errors of all bodies exceed their bound; `None` otherwise.
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

/// Rounds a positive number down to two digits, enough for a suggested value.
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
