//! Checks of a step of lasting contact: bodies must not overlap, and their energy may grow by no more than the truncation error
//! of the step.
//!
//! If a step is too large for its bodies, so that gravity or rolling would move them by their own size within the step, its
//! impulses press them through each other or throw them apart. Later motion would be meaningless, so the run stops before such a
//! step and suggests a time step that is sufficient.

use crate::MotionError;
use crate::body::{Body, Flights, Velocity};
use crate::error::StepFault;
use crate::kick::Work;
use crate::search::BAND;
use crate::step::Step;
use crate::step_scene::{StepPair, StepScene};
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
    /// Returns these energy errors multiplied by `share`, the factor by which a smaller time step is expected to reduce
    /// them.
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
    /// Returns true if a step of length `h` (s) is short against the time in which the acceleration moves the body by its
    /// `radius` (m). The error of such a short step falls with the step length as the order of the scheme predicts.
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

    /// Returns an upper bound of the change (m/s) that accelerations cause in the normal velocity of a pair within a step of
    /// length `h` (s). `states`: states of the bodies at the start of the step.
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

    /// Returns the largest energy (J) that the error of a step of length `h` (s) may add. The result is the sum of the
    /// truncation error and of rounding. The truncation error is at most $m(ah)^2\cdot h\omega$ for each body, with
    /// mass $m$, acceleration $a$, and frequency $\omega$ of its motion (1/s).
    pub(crate) fn most_gain(&self, states: &[State], h: f64) -> f64 {
        self.most_gains(states, h).sum()
    }

    fn energy(&self, states: &[State]) -> f64 {
        let all = self.bodies.iter().zip(states);
        all.map(|(body, state)| self.flights.energy(body, state))
            .sum()
    }

    /// Returns the energy (J) that the error of a step adds; negative if the error removes energy. If the work of the impulses is
    /// positive, the result is this work. Otherwise the energy lost by friction and at landing points is added to the work, so
    /// that these losses do not count as errors.
    fn gain(step: &Step) -> f64 {
        if step.work > 0.0 {
            step.work
        } else {
            step.work + step.loss
        }
    }

    /// Adds the energy error of a step to the accumulated errors of its bodies. `before`: states at the start of the step;
    /// `gained`: accumulated error of each body.
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

    /// Returns the first pair that overlaps at the end of a step by more than its contact tolerance, and the depth of the overlap
    /// (m). `before` are the states at the start of the step.
    ///
    /// A pair that overlapped as deeply at the start of the step does not count. Such an overlap arises if a body falls by many
    /// of its radii: the rounding error of the flight can then exceed the contact tolerance.
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

    /// Returns true if some pair overlaps at the end of a step by more than its contact tolerance, and was not as deep at the
    /// start (`before`).
    pub(crate) fn overlaps(&self, before: &[State], step: &Step) -> bool {
        self.overlap(before, step).is_some()
    }

    /// Returns the reason to reject a step, an overlap or an energy error; `None` if the step is acceptable. `before`: states at
    /// the start of the step; `gained`: energy errors of its bodies accumulated before the step.
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

    /// Checks that a step of lasting contact leaves no overlap and no large energy error. `before`: states at the start of the
    /// step; `gained`: energy errors of the bodies accumulated before the step; `left`: remaining duration of the run (s).
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

    /// Returns a time step (s) with which the motion continues without a fault for the remaining duration `left` (s); `None` if
    /// every time step that is tried has a fault. The value is somewhat smaller than the largest such step. `before`: states at
    /// which the motion continues; `gained`: energy errors of the bodies accumulated so far.
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
            if does(middle) {
                step = middle
            } else {
                fails = middle
            }
        }
        Some(two_digits(NAMED * step))
    }

    /// Computes one full time step of lasting contact. As in a run, the step is halved up to [`SHORTENINGS`] times while it
    /// leaves an overlap.
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

    /// Returns true if the next time steps have no fault (overlap or large energy error). Steps are tested for the duration
    /// `left` (s), but at most as many as [`TRIED`] and [`TRIAL_WORK`] allow. Many are needed, since energy errors oscillate with
    /// the motion. `before`: states at the start; `gained`: energy errors of the bodies accumulated so far.
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

/// Returns an energy fault if the energy that errors of all steps so far have added or removed exceeds its bound; `None`
/// otherwise. `gained`: accumulated energy errors of the bodies; `rounding` (J) is added to the bound.
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

/// Rounds a positive number down to two significant digits.
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
