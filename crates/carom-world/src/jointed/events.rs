//! Search for events within a step: limits, contacts, dry friction that starts to stick or to slip.

use super::contact::{Change, LimitContact};
use super::earliest::{Candidate, Gauge};
use super::run::{INSTANT, Run};
use super::touch::TouchPair;
use super::trend::force_at_start;
use crate::MotionError;
use crate::collision::LOOKS;
use crate::island::SEEN;
use crate::pair::ContactPoint;
use crate::search::Progress;
use carom_joints::JointError;
use carom_joints::step::Step;

/// Sticking ends when the force exceeds the dry friction by more than this fraction: rounding of the impulses is no slip.
const SLIPS: f64 = 1e-9;

/// A coordinate that slips within this fraction of a step slips at the start of the step; the error of the impulse is of the
/// order of the square of this fraction.
pub(super) const AT_ONCE: f64 = 1e-2;

impl<'w> Run<'w> {
    /// Finds the first events within the trial step `step` of `length` (s): limits reached, contacts, and starts or ends of
    /// sliding. Each is returned with its time from the start of the step (s). If some events are at the start of the step, only
    /// those are returned.
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

    /// Returns the possible event that the sliding of joint coordinate `k` against dry friction stops within the trial step
    /// `step` of `length` (s). Returns `None` if the coordinate does not slide, slides on to the end of the step, or has friction
    /// that is solved together with the step (implicit).
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

    /// Returns the possible event that joint coordinate `k` reaches its limit `bound` (rad or m) within the trial step `step` of
    /// `length` (s), or `None` if it does not. `sign` is 1 for a lower limit, −1 for an upper one.
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
        // Rounding can place a coordinate beyond the limit that it leaves.
        let limit = LimitContact {
            coordinate: k,
            upper: sign < 0.0,
        };
        let flat = self.flat(limit);
        let beyond = |step: &Step, s: f64| gap(step, s) + flat;
        let reach = if end < -flat {
            Some(length)
        } else {
            self.dip(k, sign, now, end, step, length, &beyond)?
        };
        Ok(reach.map(|reach| Candidate {
            gauge: Box::new(gap),
            slack: flat,
            ..Candidate::new(Change::Limit(limit), now, reach)
        }))
    }

    /// Returns the possible events that joint coordinates held by dry friction begin to slide within the trial step `step` of
    /// `length` (s). If the friction of several coordinates is exceeded from the start of the step, only the coordinate with the
    /// largest excess is returned: once this coordinate slides, the others may continue to stick.
    fn slips<'c>(&mut self, step: &Step, length: f64) -> Result<Vec<Candidate<'c>>, MotionError> {
        let mut candidates = Vec::new();
        let mut farthest: Option<(f64, usize)> = None;
        let short = AT_ONCE * length;
        let mut start: Option<Option<Step>> = None;
        // Feet that stick and slip make the force jump: its mean decides while contacts last.
        let lasts = !self.pressing.is_empty();
        for k in 0..self.rates.len() {
            let friction = self.coordinate(k).0.friction;
            if self.modes.held[k].is_none() || self.at_limit(k).is_some() {
                continue;
            }
            // The direction of the force that friction can no longer balance.
            let [one, two] = step.holding[k];
            let mean = (one + two) / length;
            let load = move |step: &Step, s: f64| {
                let [first, second] = step.holding[k];
                (first + second) / s * mean.signum()
            };
            let beyond = mean.abs() - friction;
            let may_slip = || !lasts && self.may_fall(k, mean, -beyond, length);
            if beyond <= SLIPS * friction && !may_slip() {
                continue;
            }
            self.holding[k] = mean;
            if start.is_none() {
                start = Some(match self.step_for(short) {
                    Ok(step) => Some(step),
                    // If no impulses are found for so short a step, the coordinate slips at the start.
                    Err(MotionError::Joint(JointError::ContactForces { .. })) => None,
                    Err(error) => return Err(error),
                });
            }
            let most = friction * (1.0 + SLIPS);
            let begin = start.as_ref().and_then(Option::as_ref);
            let early = begin.map(|step| load(step, short));
            if let Some(early) = early.filter(|early| *early <= most) {
                let first = force_at_start((short, early), (length, mean.abs())).min(friction);
                let (share, first) = if lasts { (1.0, 0.0) } else { (2.0, first) };
                let reaches = move |step: &Step, s: f64| share * load(step, s) - first;
                if reaches(step, length) > most {
                    candidates.push(Candidate {
                        gauge: Box::new(move |step, s| friction - reaches(step, s)),
                        ..Candidate::new(Change::Slip(k), friction - first, length)
                    });
                }
            } else if beyond > SLIPS * friction
                && farthest.is_none_or(|(most, _)| beyond / friction > most)
            {
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

    /// Appends to `candidates` the possible events that pairs of bodies touch, or that further points of a lasting contact close,
    /// within the trial step `step` of `length` (s).
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
        // Substeps of a composition have negative lengths: contacts are searched on the flight of one step of order 2.
        let kicked = if self.is_composed() {
            Some(self.plain_step(length)?.kicked)
        } else {
            None
        };
        for index in near {
            let pair = &touch.pairs[index];
            let zero = touch.gap(pair, &self.posture.states).min(0.0);
            let lasting = self.lasting.contains_key(&index);
            if lasting && self.is_held(index) {
                continue;
            }
            // A further point of a lasting pair has closed if it is deeper than the rounding of the other points.
            let margin = if lasting { SEEN * pair.tolerance } else { 0.0 };
            let states = kicked.as_deref().unwrap_or(&step.kicked);
            let reach = if lasting {
                Some(length)
            } else {
                match touch.search(pair, states, self.time, length)? {
                    Progress::Free(_) => Some(length),
                    Progress::Contact(at) => self.confirm(index, zero, at, step, length)?,
                }
            };
            let Some(reach) = reach else { continue };
            // The lowest gap of a lasting pair is constant until a further point closes. Until then, the lowest gap of the open
            // points measures the distance to the event.
            let open = if lasting {
                self.open_points(pair, length)
            } else {
                Vec::new()
            };
            let lowest = |gaps: &mut dyn Iterator<Item = f64>| gaps.fold(f64::INFINITY, f64::min);
            let start = lowest(&mut open.iter().map(|point| point.gap));
            let gauge = move |step: &Step, _: f64| {
                let deep = touch.gap(pair, &step.end.states) - zero + margin;
                let moved = |point: &ContactPoint| touch.moved(pair, point, &step.end.states).gap;
                if deep > 0.0 && !open.is_empty() {
                    deep.max(lowest(&mut open.iter().map(moved)))
                } else {
                    deep
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

    /// Returns those points of a touching pair of bodies whose gap exceeds the contact tolerance now, and that could close within
    /// a step of `length` (s).
    fn open_points(&self, pair: &TouchPair, length: f64) -> Vec<ContactPoint> {
        let (touch, states) = (self.world.touch(), &self.posture.states);
        let speed = touch.speed(pair, states) + touch.flights.gravity.norm() * length;
        let mut points = Vec::new();
        touch.points(pair, states, pair.tolerance + speed * length, &mut points);
        points.retain(|point| point.gap > pair.tolerance);
        points
    }

    /// Checks that a contact found on the free flights of two bodies exists also in the motion with joints. Returns the length of
    /// a step (s) at the end of which the gap of pair `index` is below `zero` (m), or `None` if no tried step has such a gap.
    /// `at` is the time of contact on the free flights, from the start of the trial step `step` of `length` (s).
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
            let s = at + (length - at) * look as f64 / LOOKS as f64;
            if s > INSTANT && is_deep(&self.step_for(s)?) {
                return Ok(Some(s));
            }
        }
        Ok(None)
    }

    /// Finds a shorter step after which joint coordinate `k` is beyond its limit, although it is within the limit again at the
    /// end of the whole step `step` of `length` (s). Returns the length of the shorter step (s), or `None` if the coordinate
    /// stays within the limit. `sign` is 1 for a lower limit, −1 for an upper one; `now` and `end` are the distances to the limit
    /// (rad or m) at both ends of the step. `gap` returns the distance after any step, increased by an allowance for rounding.
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
        // The lowest point of the cubic interpolation between both ends, with a margin for its error.
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
