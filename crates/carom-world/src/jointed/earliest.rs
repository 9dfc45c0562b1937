//! The first event within a step: roots of event functions, with the length of the step as variable.

use super::contact::Change;
use super::run::{INSTANT, Run};
use crate::MotionError;
use carom_joints::step::Step;

/// Largest number of shortened steps for the search of one event; each gains a digit or more.
const MOST_EVALUATIONS: usize = 120;

/// Bracket of an event: two step lengths (s) between which the event function changes its sign.
#[derive(Clone, Copy, Debug, Default)]
struct Bracket {
    /// Step length at which the event function is positive (s).
    low: f64,
    high: f64,
    /// Event function at the step length `high`.
    at_high: f64,
}

/// An event function of a step and its length (s): positive before the event.
pub(super) type Gauge<'g> = &'g dyn Fn(&Step, f64) -> f64;

/// An event function in a box, owned by its candidate.
type OwnGauge<'c> = Box<dyn Fn(&Step, f64) -> f64 + 'c>;

/// A possible event within a step.
pub(super) struct Candidate<'c> {
    pub(super) change: Change,
    /// Event function: positive before the event.
    pub(super) gauge: OwnGauge<'c>,
    /// Event function at the start of the step.
    pub(super) start: f64,
    /// Length of a step that ends after the event (s).
    pub(super) reach: f64,
    /// Rounding error of the event function.
    pub(super) slack: f64,
    /// True if the shortened step must end before the event, false if at it.
    pub(super) ends_before: bool,
    /// True if the event is at the start of the step.
    pub(super) at_once: bool,
}

impl Candidate<'_> {
    /// Creates a candidate for an event. The event function of this candidate is always zero, and the caller must
    /// replace the function. `change` is the kind of event, `start` the event function at the start of the step, and
    /// `reach` the length of a step that ends after the event (s).
    pub(super) fn new(change: Change, start: f64, reach: f64) -> Self {
        Self {
            change,
            gauge: Box::new(|_, _| 0.0),
            start,
            reach,
            slack: 0.0,
            ends_before: false,
            at_once: false,
        }
    }

    /// Estimates the time from the start of the step to the event (s): by linear interpolation of the event function between
    /// start and end of the step `step` of the given length (s). If a shorter step is known to end after the event, its length is
    /// returned.
    fn estimate(&self, step: &Step, length: f64) -> f64 {
        let start = self.start.max(0.0);
        if self.reach < length {
            self.reach
        } else {
            length * start / (start - (self.gauge)(step, length)).max(f64::MIN_POSITIVE)
        }
    }
}

impl Run<'_> {
    /// Returns the earliest of the possible events `candidates` within the trial step `step` of `length` (s), each with
    /// its time from the start of the step (s). The list can also contain later events that were located before an
    /// earlier one was found. Candidates that certainly lie after the earliest event so far are not located.
    pub(super) fn earliest(
        &mut self,
        candidates: Vec<Candidate<'_>>,
        step: &Step,
        length: f64,
    ) -> Result<Vec<(f64, Change)>, MotionError> {
        if candidates.iter().any(|candidate| candidate.at_once) {
            let at_once = candidates.iter().filter(|candidate| candidate.at_once);
            return Ok(at_once.map(|candidate| (0.0, candidate.change)).collect());
        }
        let mut sorted: Vec<(f64, Candidate<'_>)> = candidates
            .into_iter()
            .map(|candidate| (candidate.estimate(step, length), candidate))
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut events: Vec<(f64, Change)> = Vec::new();
        let mut first = f64::INFINITY;
        let mut until: Option<Step> = None;
        for (_, candidate) in sorted {
            // One coordinate slips at a time: the others may stick once it slips.
            let slips = |(_, change): &(f64, Change)| matches!(change, Change::Slip(_));
            let is_slip = matches!(candidate.change, Change::Slip(_));
            let mut reach = candidate.reach;
            let end = first + INSTANT;
            if end < reach {
                let step = match until.take() {
                    Some(step) => step,
                    None => self.step_for(end)?,
                };
                let is_later = (candidate.gauge)(&step, end) > -candidate.slack;
                until = Some(step);
                if is_later {
                    continue;
                }
                reach = end;
            }
            let gauge = candidate.gauge.as_ref();
            let start = (candidate.start, candidate.slack);
            let at = if candidate.ends_before {
                self.bracket(gauge, start, reach)?.low
            } else {
                self.root(gauge, start, reach)?
            };
            if is_slip && let Some(other) = events.iter_mut().find(|e| slips(e)) {
                if at < other.0 {
                    *other = (at, candidate.change);
                }
            } else {
                events.push((at, candidate.change));
            }
            if at < first {
                first = at;
                until = None;
            }
        }
        Ok(events)
    }

    /// Returns the length of the step that ends at an event (s): the root of the event function `gauge` in (0, `length`], found
    /// by bracketed interpolation. `start` is the event function at the start of the step, with its rounding error.
    pub(super) fn root(
        &mut self,
        gauge: Gauge<'_>,
        start: (f64, f64),
        length: f64,
    ) -> Result<f64, MotionError> {
        Ok(match self.bracket(gauge, start, length)? {
            Bracket { high, at_high, .. } if at_high >= 0.0 => high,
            Bracket { low, high, .. } => 0.5 * (low + high),
        })
    }

    /// Finds two step lengths (s), almost equal, between which the event function `gauge` falls from positive values to zero or
    /// below. The first pair is the event function at the start of the step, with its rounding error; `length` is a step length
    /// that ends after the event (s).
    fn bracket(
        &mut self,
        gauge: Gauge<'_>,
        (start, rounding): (f64, f64),
        length: f64,
    ) -> Result<Bracket, MotionError> {
        let (mut low, mut at_low) = (0.0, start);
        let mut high = length;
        let mut budget = MOST_EVALUATIONS;
        // At the start, just after an earlier event, the function is zero or rounding: the search needs a length at which it is
        // positive.
        let mut probe = 0.5 * length;
        while !(at_low > 0.0) || low == 0.0 && start <= rounding {
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
        // Both ends of the bracket, the latest first, and the end that the latest has replaced.
        let (mut ends, mut before) = ([(low, at_low), (high, at_high)], None);
        while high - low > INSTANT && budget > 0 && at_high != 0.0 {
            budget -= 1;
            // Keeps a margin from both ends, so that both ends close in.
            let margin = 0.25 * INSTANT;
            let next = interpolate(ends, before).clamp(low + margin, high - margin);
            let step = self.step_for(next)?;
            let value = gauge(&step, next);
            let [last, other] = ends;
            if (value > 0.0) == (last.1 > 0.0) {
                (ends, before) = ([(next, value), other], Some(last));
            } else {
                (ends, before) = ([(next, value), last], Some(other));
            }
            if value > 0.0 {
                low = next;
            } else {
                (high, at_high) = (next, value);
            }
        }
        // A root that is hit exactly ends the search from one side: the other end may still be far.
        let near = high - 0.5 * INSTANT;
        if at_high == 0.0 && near > low {
            let step = self.step_for(near)?;
            if gauge(&step, near) > 0.0 {
                low = near;
            }
        }
        Ok(Bracket { low, high, at_high })
    }
}

/// Returns the argument at which a root search evaluates its function next, after Chandrupatla (1997). Each pair is an argument
/// with its function value: the two ends of the bracket, the newer one first, and in `before` the end that was replaced last.
/// Inverse quadratic interpolation is used where it is monotonic, else bisection; linear interpolation if `before` is `None`.
fn interpolate([(a, fa), (b, fb)]: [(f64, f64); 2], before: Option<(f64, f64)>) -> f64 {
    let Some((c, fc)) = before else {
        return (a * fb - b * fa) / (fb - fa);
    };
    let xi = (a - b) / (c - b);
    let phi = (fa - fb) / (fc - fb);
    let is_monotonic = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
    if !is_monotonic {
        return 0.5 * (a + b);
    }
    let t =
        fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb));
    a + t * (b - a)
}
