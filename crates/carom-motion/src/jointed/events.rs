//! Events within a step: limits, touches, dry friction that stops or slips.

use super::impact::LimitContact;
use super::run::{INSTANT, Run};
use crate::world::MotionError;
use crate::world::search::Progress;
use carom_joints::JointError;
use carom_joints::step::Step;

/// Evaluations of a shortened step for one event; each gains a digit or more.
const MOST_EVALUATIONS: usize = 80;

/// Looks at shortened steps for a touch that the flights show and the end of the step does not.
const LOOKS: u32 = 8;

/// Splits of one step of the grid by points that close; more are left to the impulses of the steps.
const MOST_SPLITS: usize = 24;

/// Dry friction holds up to its own force and this fraction more: rounding of the impulses is no slip.
const SLIPS: f64 = 1e-9;

/// A coordinate that slips within this fraction of a step slips at its start: the impulse changes by its square.
pub(super) const AT_ONCE: f64 = 1e-2;

/// Slips of a coordinate between two lines of the grid, before it sticks until the next: friction of joints in a loop with
/// contacts that stick can pass on the load without end.
const FLIPS: u8 = 4;

/// Points that come this fraction of the contact tolerance too deep have closed.
const SEEN: f64 = 1e-2;

/// Lengths of steps about an event.
#[derive(Clone, Copy, Debug, Default)]
struct Bracket {
    /// The event function is positive there.
    low: f64,
    high: f64,
    /// Event function at `high`.
    at_high: f64,
}

/// Change of a coordinate's mode within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// A limit is reached.
    Limit(LimitContact),
    /// A pair touches.
    Touch(usize),
    /// Sliding stops.
    Stop(usize),
    /// Sticking ends, and sliding begins.
    Slip(usize),
}

/// An event function of the length of a step: positive before the event.
type Gauge<'g> = &'g dyn Fn(&Step, f64) -> f64;

impl Run<'_, '_> {
    /// All events within a step, each with its time from the start of the step.
    pub(super) fn events(
        &mut self,
        step: &Step,
        length: f64,
    ) -> Result<Vec<(f64, Change)>, MotionError> {
        let mut events = Vec::new();
        if let Some(slip) = self.slip(step, length)? {
            events.push(slip);
        }
        for k in 0..self.rates.len() {
            let (c, _) = self.coordinate(k);
            let (lower, upper) = (c.lower, c.upper);
            if self.modes.held[k].is_some() {
                continue;
            }
            let slides = self.modes.slides[k];
            if slides != 0.0 && step.rates[k] * slides < -self.still_rate(k) {
                let rate = self.rates[k] * slides;
                let at = match rate <= self.still_rate(k) {
                    true => 0.0,
                    false => self.root(&|step, _| step.rates[k] * slides, rate, length)?,
                };
                events.push((at, Change::Stop(k)));
            }
            for (bound, sign) in [(lower, 1.0), (upper, -1.0)] {
                if bound.is_infinite() {
                    continue;
                }
                let gap = |step: &Step, _: f64| sign * (step.end.q[k] - bound);
                let now = sign * (self.posture.q[k] - bound);
                let end = gap(step, length);
                // A coordinate that leaves its limit may be beyond it by rounding.
                let limit = LimitContact {
                    coordinate: k,
                    upper: sign < 0.0,
                };
                let flat = self.flat(limit);
                let beyond = |step: &Step, s: f64| gap(step, s) + flat;
                let reach = match end < -flat {
                    true => Some(length),
                    false => self.dip(k, sign, now, end, step, length, &beyond)?,
                };
                if let Some(reach) = reach {
                    let at = self.root(&gap, now, reach)?;
                    events.push((at, Change::Limit(limit)));
                }
            }
        }
        self.touches(step, length, &mut events)?;
        Ok(events)
    }

    /// The coordinate whose sticking ends first: of those at once the one that is farthest beyond its friction. The others
    /// may hold without it.
    fn slip(&mut self, step: &Step, length: f64) -> Result<Option<(f64, Change)>, MotionError> {
        let mut first: Option<(f64, f64, usize)> = None;
        for k in 0..self.rates.len() {
            let friction = self.coordinate(k).0.friction;
            if self.modes.held[k].is_none() || self.at_limit(k).is_some() || self.flips[k] > FLIPS {
                continue;
            }
            let over = |step: &Step, s: f64| {
                let [first, second] = step.holding[k];
                (first + second).abs() / s - friction
            };
            let beyond = over(step, length);
            if beyond <= SLIPS * friction {
                continue;
            }
            let short = AT_ONCE * length;
            let at_once = match self.step_for(short) {
                Ok(step) => over(&step, short) > SLIPS * friction,
                // A step as short as that has no impulses: then it slips at its start, too.
                Err(MotionError::Joint(JointError::ContactForces { .. })) => true,
                Err(error) => return Err(error),
            };
            let at = match at_once {
                true => 0.0,
                false => self.root(&|step, s| -over(step, s), friction, length)?,
            };
            let share = beyond / friction;
            if first.is_none_or(|(t, most, _)| at < t || at == t && share > most) {
                // The direction of what it can no longer hold.
                let [one, two] = step.holding[k];
                self.holding[k] = (one + two) / length;
                first = Some((at, share, k));
            }
        }
        Ok(first.map(|(at, _, k)| (at, Change::Slip(k))))
    }

    /// Touches of pairs within a step.
    fn touches(
        &mut self,
        step: &Step,
        length: f64,
        events: &mut Vec<(f64, Change)>,
    ) -> Result<(), MotionError> {
        let touch = self.world.touch();
        let near: Vec<usize> = (0..touch.pairs.len())
            .filter(|p| touch.is_near(&touch.pairs[*p], &step.kicked, length, 0.0))
            .collect();
        if near.is_empty() {
            return Ok(());
        }
        // Compositions fly back and forth: their pairs are looked for on the flight of one step of order 2.
        let kicked = match self.is_composed() {
            true => Some(self.plain_step(length)?.kicked),
            false => None,
        };
        for index in near {
            let pair = &touch.pairs[index];
            let zero = touch.gap(pair, &self.posture.states).min(0.0);
            let lasting = self.lasting.contains_key(&index);
            if lasting && (self.splits > MOST_SPLITS || self.is_held(index)) {
                continue;
            }
            // Another point of a pair that touches has closed if it comes deeper than rounding of the others.
            let margin = if lasting { SEEN * pair.tolerance } else { 0.0 };
            let states = kicked.as_deref().unwrap_or(&step.kicked);
            let reach = match lasting {
                true => Some(length),
                false => match touch.search(pair, states, self.time, length)? {
                    Progress::Free(_) => Some(length),
                    Progress::Contact(at) => self.confirm(index, zero, at, step, length)?,
                },
            };
            let gauge = |step: &Step, _: f64| touch.gap(pair, &step.end.states) - zero + margin;
            let Some(reach) = reach else { continue };
            let deep = match reach == length {
                true => gauge(step, length) < -touch.rounding(pair, &step.end.states),
                false => true,
            };
            if deep {
                let start = touch.gap(pair, &self.posture.states) - zero + margin;
                let found = self.bracket(&gauge, start, reach)?;
                events.push((found.low, Change::Touch(index)));
            }
        }
        Ok(())
    }

    /// Length of a step that ends beyond a touch of the flights, if there is one: the ends of steps are what counts.
    fn confirm(
        &mut self,
        index: usize,
        zero: f64,
        at: f64,
        step: &Step,
        length: f64,
    ) -> Result<Option<f64>, MotionError> {
        let touch = self.world.touch();
        let pair = &touch.pairs[index];
        let is_deep = |step: &Step| {
            let states = &step.end.states;
            touch.gap(pair, states) - zero < -touch.rounding(pair, states)
        };
        if is_deep(step) {
            return Ok(Some(length));
        }
        for look in 0..LOOKS {
            let s = at + (length - at) * f64::from(look) / f64::from(LOOKS);
            if s > INSTANT && is_deep(&self.step_for(s)?) {
                return Ok(Some(s));
            }
        }
        Ok(None)
    }

    /// A length at which a coordinate that comes back within the step is beyond its limit.
    #[allow(clippy::too_many_arguments)]
    fn dip(
        &mut self,
        k: usize,
        sign: f64,
        now: f64,
        end: f64,
        step: &Step,
        length: f64,
        gap: Gauge<'_>,
    ) -> Result<Option<f64>, MotionError> {
        let (before, after) = (sign * self.rates[k], sign * step.rates[k]);
        if !(before < 0.0 && after > 0.0) {
            return Ok(None);
        }
        // The lowest point of the cubic through both ends, and margin for what the cubic misses.
        let (a, b) = (before * length, after * length);
        let cubic = |u: f64| {
            let (v, w) = (1.0 - u, u * u);
            now * v * v * (1.0 + 2.0 * u) + a * u * v * v + end * w * (3.0 - 2.0 * u) - b * w * v
        };
        let points = (1..64).map(|i| f64::from(i) / 64.0);
        let lowest = points
            .min_by(|u, v| cubic(*u).total_cmp(&cubic(*v)))
            .unwrap_or(0.5);
        if cubic(lowest) > 0.05 * (b - a) {
            return Ok(None);
        }
        let (mut low, mut high) = (lowest - 1.0 / 64.0, lowest + 1.0 / 64.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            let step = self.step_for(middle * length)?;
            if gap(&step, middle * length) < 0.0 {
                return Ok(Some(middle * length));
            }
            if sign * step.rates[k] < 0.0 {
                low = middle
            } else {
                high = middle
            }
        }
        Ok(None)
    }

    /// Length of the step that ends at an event: a root within (0, `length`], by false position with a bracket.
    pub(super) fn root(
        &mut self,
        gauge: Gauge<'_>,
        start: f64,
        length: f64,
    ) -> Result<f64, MotionError> {
        Ok(match self.bracket(gauge, start, length)? {
            Bracket { high, at_high, .. } if at_high >= 0.0 => high,
            Bracket { low, high, .. } => 0.5 * (low + high),
        })
    }

    /// Bracket of the length of the step that ends at an event: where the event function is positive, and where not.
    fn bracket(
        &mut self,
        gauge: Gauge<'_>,
        start: f64,
        length: f64,
    ) -> Result<Bracket, MotionError> {
        let (mut low, mut at_low) = (0.0, start);
        let mut high = length;
        let mut budget = MOST_EVALUATIONS;
        // After an event the function is about zero: it first must rise.
        let mut probe = 0.5 * length;
        while !(at_low > 0.0) || low == 0.0 && start <= f64::EPSILON {
            if probe < INSTANT || budget == 0 {
                return Ok(Bracket::default());
            }
            budget -= 1;
            let step = self.step_for(probe)?;
            let value = gauge(&step, probe);
            if value > 0.0 {
                (low, at_low) = (probe, value);
                break;
            }
            high = probe;
            probe *= 0.5;
        }
        let step = self.step_for(high)?;
        let mut at_high = gauge(&step, high);
        if at_high > 0.0 {
            return Ok(Bracket {
                low: high,
                high,
                at_high,
            });
        }
        let mut side = 0;
        while high - low > INSTANT && budget > 0 && at_high != 0.0 {
            budget -= 1;
            let mut next = (low * at_high - high * at_low) / (at_high - at_low);
            // A step towards the middle where false position has stalled.
            if !(next > low && next < high) || budget.is_multiple_of(8) {
                next = 0.5 * (low + high);
            }
            // Close brackets from both sides.
            let margin = 0.25 * INSTANT;
            next = next.clamp(low + margin, high - margin);
            let step = self.step_for(next)?;
            let value = gauge(&step, next);
            if value > 0.0 {
                (low, at_low) = (next, value);
                if side == 1 {
                    at_high *= 0.5;
                }
                side = 1;
            } else {
                (high, at_high) = (next, value);
                if side == -1 {
                    at_low *= 0.5;
                }
                side = -1;
            }
        }
        Ok(Bracket { low, high, at_high })
    }
}
