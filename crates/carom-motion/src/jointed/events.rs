//! Events that a step may contain: limits, touches, dry friction that stops or slips.

use super::contact::{Change, LimitContact};
use super::earliest::{Candidate, Gauge};
use super::run::{INSTANT, Run};
use super::touch::TouchPair;
use crate::world::MotionError;
use crate::world::pair::ContactPoint;
use crate::world::search::Progress;
use carom_joints::JointError;
use carom_joints::step::Step;

/// Looks at shortened steps for a touch that the flights show and the end of the step does not.
const LOOKS: u32 = 8;

/// Dry friction holds up to its own force and this fraction more: rounding of the impulses is no slip.
const SLIPS: f64 = 1e-9;

/// A coordinate that slips within this fraction of a step slips at its start: the impulse changes by its square.
pub(super) const AT_ONCE: f64 = 1e-2;

/// Points that come this fraction of the contact tolerance too deep have closed.
const SEEN: f64 = 1e-2;

impl<'w> Run<'w, '_> {
    /// The first events within a step, each with its time from the start of the step; those at once among them.
    pub(super) fn events(
        &mut self,
        step: &Step,
        length: f64,
    ) -> Result<Vec<(f64, Change)>, MotionError> {
        let mut candidates = self.slips(step, length)?;
        for k in 0..self.rates.len() {
            if self.modes.held[k].is_some() {
                continue;
            }
            candidates.extend(self.stop(k, step, length));
            let (c, _) = self.coordinate(k);
            for (bound, sign) in [(c.lower, 1.0), (c.upper, -1.0)] {
                if bound.is_finite() {
                    candidates.extend(self.reach_limit(k, bound, sign, step, length)?);
                }
            }
        }
        self.touches(step, length, &mut candidates)?;
        self.earliest(candidates, step, length)
    }

    /// Stop of a coordinate that slides.
    fn stop<'c>(&self, k: usize, step: &Step, length: f64) -> Option<Candidate<'c>> {
        let (slides, still) = (self.modes.slides[k], self.still_rate(k));
        if slides == 0.0 || self.modes.implicit[k] || step.rates[k] * slides >= -still {
            return None;
        }
        let rate = self.rates[k] * slides;
        Some(Candidate {
            gauge: Box::new(move |step, _| step.rates[k] * slides),
            at_once: rate <= still,
            ..Candidate::new(Change::Stop(k), rate, length)
        })
    }

    /// Limit that a coordinate reaches.
    fn reach_limit<'c>(
        &mut self,
        k: usize,
        bound: f64,
        sign: f64,
        step: &Step,
        length: f64,
    ) -> Result<Option<Candidate<'c>>, MotionError> {
        let gap = move |step: &Step, _: f64| sign * (step.end.q[k] - bound);
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
        Ok(reach.map(|reach| Candidate {
            gauge: Box::new(gap),
            slack: flat,
            ..Candidate::new(Change::Limit(limit), now, reach)
        }))
    }

    /// Coordinates whose sticking ends. Of those at once the one that is farthest beyond its friction: the others may hold
    /// without it.
    fn slips<'c>(&mut self, step: &Step, length: f64) -> Result<Vec<Candidate<'c>>, MotionError> {
        let mut candidates = Vec::new();
        let mut farthest: Option<(f64, usize)> = None;
        let short = AT_ONCE * length;
        let mut start: Option<Option<Step>> = None;
        for k in 0..self.rates.len() {
            let friction = self.coordinate(k).0.friction;
            if self.modes.held[k].is_none() || self.at_limit(k).is_some() {
                continue;
            }
            let over = move |step: &Step, s: f64| {
                let [first, second] = step.holding[k];
                (first + second).abs() / s - friction
            };
            let beyond = over(step, length);
            if beyond <= SLIPS * friction {
                continue;
            }
            // The direction of what it can no longer hold.
            let [one, two] = step.holding[k];
            self.holding[k] = (one + two) / length;
            if start.is_none() {
                start = Some(match self.step_for(short) {
                    Ok(step) => Some(step),
                    // A step as short as that has no impulses: then it slips at its start, too.
                    Err(MotionError::Joint(JointError::ContactForces { .. })) => None,
                    Err(error) => return Err(error),
                });
            }
            let holds = |step: &Step| over(step, short) <= SLIPS * friction;
            if start
                .as_ref()
                .is_some_and(|s| s.as_ref().is_some_and(holds))
            {
                candidates.push(Candidate {
                    gauge: Box::new(move |step, s| -over(step, s)),
                    ..Candidate::new(Change::Slip(k), friction, length)
                });
            } else if farthest.is_none_or(|(most, _)| beyond / friction > most) {
                farthest = Some((beyond / friction, k));
            }
        }
        if let Some((_, k)) = farthest {
            return Ok(vec![Candidate {
                at_once: true,
                ..Candidate::new(Change::Slip(k), 0.0, length)
            }]);
        }
        Ok(candidates)
    }

    /// Touches of pairs within a step.
    fn touches(
        &mut self,
        step: &Step,
        length: f64,
        candidates: &mut Vec<Candidate<'w>>,
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
            if lasting && self.is_held(index) {
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
            let Some(reach) = reach else { continue };
            // The lowest gap of a pair that lasts stays where it is until another point closes: above it, the gap of the
            // lowest point that is open says how far that is.
            let open = match lasting {
                true => self.open_points(pair, length),
                false => Vec::new(),
            };
            let lowest = |gaps: &mut dyn Iterator<Item = f64>| gaps.fold(f64::INFINITY, f64::min);
            let start = lowest(&mut open.iter().map(|point| point.gap));
            let gauge = move |step: &Step, _: f64| {
                let deep = touch.gap(pair, &step.end.states) - zero + margin;
                let moved = |point: &ContactPoint| touch.moved(pair, point, &step.end.states).gap;
                match deep > 0.0 && !open.is_empty() {
                    true => deep.max(lowest(&mut open.iter().map(moved))),
                    false => deep,
                }
            };
            let slack = touch.rounding(pair, &step.end.states);
            if reach < length || gauge(step, length) < -slack {
                let now = touch.gap(pair, &self.posture.states) - zero + margin;
                if self.closes_slowly(now - gauge(step, length), length) {
                    candidates.push(Candidate {
                        at_once: true,
                        ..Candidate::new(Change::Touch(index), now, 0.0)
                    });
                    continue;
                }
                candidates.push(Candidate {
                    gauge: Box::new(gauge),
                    slack,
                    ends_before: true,
                    ..Candidate::new(
                        Change::Touch(index),
                        if start.is_finite() {
                            now.max(start)
                        } else {
                            now
                        },
                        reach,
                    )
                });
            }
        }
        Ok(())
    }

    /// Points of a pair that are open and could close within a step.
    fn open_points(&self, pair: &TouchPair, length: f64) -> Vec<ContactPoint> {
        let (touch, states) = (self.world.touch(), &self.posture.states);
        let speed = touch.speed(pair, states) + touch.flights.gravity.norm() * length;
        let mut points = Vec::new();
        touch.points(pair, states, pair.tolerance + speed * length, &mut points);
        points.retain(|point| point.gap > pair.tolerance);
        points
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
}
