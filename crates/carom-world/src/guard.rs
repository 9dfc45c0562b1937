//! Length of the steps of lasting contact.
//!
//! A step is as long as the [rates](StepScene::rate) of its contacts allow. What they do not see, the work of the kicks shows:
//! impulses at points that last, normal and, where they stick, tangential, do none in the exact motion. A step that does too much
//! of it, that leaves an overlap, or whose impulses are not found, is halved.

use crate::body::{Flights, Velocity};
use crate::error::StepFault;
use crate::search::BAND;
use crate::step::Step;
use crate::step_scene::{StepPair, StepScene};
use carom_variational::State;

/// Work that the error of a step may do, as a fraction of the kinetic energy plus $mgr$ of the bodies (mass $m$, gravity $g$,
/// radius $r$), times the length of the step in units of the time of a fall by $r$. Steps that follow the rates do a tenth of it at
/// most.
const WORK: f64 = 1e-2;

/// Work that such a step may do if that is more: this fraction of it, times the length of the step in units of the inverse rates of the contacts.
const OF_RATES: f64 = 0.1;

/// Rounding of the work of kicks, as a fraction of the energies.
const ROUNDING: f64 = 1e-12;

/// Overlap at the begin of a step, as a fraction of the radius, that the step need not remove: the rounding of a fall by a
/// billion radii.
const INHERITED: f64 = 1e-6;

/// Largest number of halvings of a step.
const HALVINGS: i32 = 20;

/// Number of easy steps after which the length of a step is doubled again.
const EASY: u32 = 4;

/// Control of the length of the steps of an island.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Control {
    /// Largest rate of the contacts at the end of the last step (1/s).
    pub(crate) rate: f64,
    halvings: i32,
    easy: u32,
}

impl Control {
    /// Begins the steps of bodies whose contacts have the largest rate `rate` (1/s).
    pub(crate) fn new(rate: f64) -> Self {
        Self {
            rate,
            ..Self::default()
        }
    }

    /// Returns the length of the next step (s) of an interval of the grid of which `left` (s) are left.
    pub(crate) fn length(&self, left: f64) -> f64 {
        let pieces = (left * self.rate).ceil().max(1.0);
        left / pieces * carom_numeric::power(0.5, self.halvings)
    }

    /// True if the length has been halved as often as is allowed at most.
    #[cfg(feature = "serde")]
    pub(crate) fn is_sound(&self) -> bool {
        (0..=HALVINGS).contains(&self.halvings)
    }

    /// Halves the length of the next step. Returns false if it has been halved as often as is allowed.
    pub(crate) fn halve(&mut self) -> bool {
        let may = self.halvings < HALVINGS;
        (self.halvings, self.easy) = (self.halvings + i32::from(may), 0);
        may
    }

    /// Accepts a step at whose end the contacts have the largest rate `rate` (1/s).
    pub(crate) fn accept(&mut self, rate: f64) {
        self.rate = rate;
        self.easy += 1;
        if self.easy >= EASY && self.halvings > 0 {
            (self.halvings, self.easy) = (self.halvings - 1, 0);
        }
    }
}

impl StepScene<'_> {
    /// Returns an upper bound of the change (m/s) that accelerations cause in the normal velocity of a pair within a step of
    /// length `h` (s). `states`: states of the bodies at the start of the step.
    pub(crate) fn gathered(&self, pair: &StepPair<'_>, states: &[State], h: f64) -> f64 {
        let accelerations = self.accelerations(states);
        let of = |place: usize| {
            let (body, state) = (self.bodies.get(place)?, states.get(place)?);
            let gravity = *accelerations.get(place)?;
            let velocity = Velocity::of(body, state);
            let speed =
                velocity.linear.norm() + velocity.angular.norm() * body.radius + gravity * h;
            Some((gravity + speed * speed / body.radius) * h)
        };
        let places = [Some(pair.first), pair.second];
        places.into_iter().flatten().filter_map(of).sum()
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

    /// Returns the reason for which a step is too long, an overlap or work that its error does; `None` if it is not. `before`:
    /// states at the start of the step; `rate`: largest rate of its contacts (1/s).
    pub(crate) fn fault(&self, before: &[State], step: &Step, rate: f64) -> Option<StepFault> {
        if let Some((pair, depth)) = self.overlap(before, step) {
            return Some(StepFault::Overlap {
                first: pair.body.name.clone(),
                second: pair.other.name().to_owned(),
                depth,
            });
        }
        let (mut most, mut rounding) = (0.0, 0.0);
        let bodies = self.bodies.iter().zip(before);
        for ((body, state), gravity) in bodies.zip(self.accelerations(before)) {
            let mass = body.rigid.as_ref().map_or(0.0, |rigid| rigid.mass());
            let energy = Flights::kinetic(body, state) + mass * gravity * body.radius;
            let falls = step.length * (gravity / (2.0 * body.radius)).sqrt();
            most += WORK * energy * falls.max(OF_RATES * rate * step.length);
            rounding += ROUNDING * (energy + self.flights.energy(body, state).abs());
        }
        let (energy, most) = (Self::gain(step), most + rounding);
        match energy {
            _ if energy.abs() <= most => None,
            gain if gain > 0.0 => Some(StepFault::Gain { energy, most }),
            _ => Some(StepFault::Loss {
                energy: -energy,
                most,
            }),
        }
    }
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
    use crate::step::{Given, Pressed};

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
            given: Given::default(),
            slip_left: f64::INFINITY,
            rests: false,
            rate: 0.0,
            pressed: Pressed::default(),
            forces: Vec::new(),
        };
        let gain = |work: f64, loss: f64| StepScene::gain(&step(work, loss));
        assert!((gain(-0.002, 0.030) - 0.028).abs() <= 1e-17);
        assert!((gain(0.001, 0.030) - 0.001).abs() <= 0.0);
        assert!((gain(-0.002, 0.001) + 0.001).abs() <= 1e-17);
    }
}
