//! Location of the next contact closing in time.

use super::path::{Dip, Path, Probe};
use super::run::Run;
use carom_mechanism::MechanicalSystem;
use carom_variational::generalized::StepFailure;

/// Largest number of evaluations per root.
const MAX_EVALUATIONS: usize = 100;

/// Next contact that closes in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) contact: usize,
    /// Time since the start of the step (s); 0 for a touching contact that would penetrate at once.
    pub(crate) time: f64,
}

impl<S: MechanicalSystem + ?Sized> Run<'_, '_, '_, S> {
    /// Finds the contact that closes first within the step of length `h` (s), with its time. Returns `None` if no contact closes.
    pub(crate) fn next_hit(&mut self, h: f64) -> Result<Option<Hit>, StepFailure> {
        if self.start.gaps.len() == self.bonds.len() {
            return Ok(None);
        }
        let mut middle = std::mem::take(&mut self.middle_gaps);
        self.path(h).middle_gaps(&mut middle);
        let mut first: Option<Hit> = None;
        let mut failure = None;
        for (contact, middle) in middle.iter().enumerate() {
            if self.is_bonded(contact) {
                continue;
            }
            // The gap of a touching contact that does not approach may be slightly negative by rounding; other gaps may not.
            let touching = self.start.gaps[contact] <= self.options.gap_floor();
            let floor = if touching && !self.approaches(contact) {
                -self.options.gap_tolerance
            } else {
                0.0
            };
            let Some(dip) = self.path(h).first_dip(contact, *middle, floor) else {
                continue;
            };
            // Skips this contact if another one closes before it can.
            if first.is_some_and(|first| first.time < dip.open.time) {
                continue;
            }
            match self.locate(contact, dip, h) {
                Ok(Some(time)) if first.is_none_or(|first| time < first.time) => {
                    first = Some(Hit { contact, time });
                }
                Ok(_) => (),
                Err(reason) => failure = Some(reason),
            }
        }
        self.middle_gaps = middle;
        failure.map_or(Ok(first), Err)
    }

    pub(crate) fn path(&mut self, h: f64) -> Path<'_, S> {
        let [configuration, velocity, gradient] = &mut self.buffers;
        Path {
            system: self.stepper.system(),
            start: &self.start,
            end: &self.end,
            step: h,
            configuration,
            velocity,
            gradient,
            segments: 0,
        }
    }

    /// Returns the gap that a contact has `time` (s) after the start of the present step. For this, a step of the length `time`
    /// is solved. `h` is the length of the whole step (s).
    fn gap_after(&mut self, contact: usize, time: f64, h: f64) -> Result<f64, StepFailure> {
        if time <= 0.0 {
            return Ok(self.start.gaps[contact]);
        }
        let x = time / h;
        for (i, guess) in self.stepper.mean.iter_mut().enumerate() {
            let v = self.start.velocity[i];
            *guess = v + x * (self.flight_mean[i] - v);
        }
        self.stepper.solve(&self.start, time, &self.bonds)?;
        Ok(self.stepper.end_gap(contact))
    }

    /// Finds the time after the start of the step at which a gap closes (s). The gap at this time is not negative. `dip` is the
    /// interval in which the gap becomes negative on an interpolated path; the search itself solves a step for each tried time.
    /// Returns `None` if no such step has a negative gap. `h` is the length of the whole step (s).
    fn locate(&mut self, contact: usize, dip: Dip, h: f64) -> Result<Option<f64>, StepFailure> {
        let tolerance = self.options.gap_tolerance;
        let touching = dip.open.time == 0.0 && self.start.gaps[contact].abs() <= tolerance;
        if touching && self.is_resting(contact, h) {
            return Ok(Some(0.0));
        }
        let guess = self.interpolated_root(contact, dip, touching, h);
        // Brackets the root around the guess; the width of the bracket follows from the gap and its rate, and grows if needed.
        let value = self.gap_after(contact, guess.time, h)?;
        if value == 0.0 {
            return Ok(Some(guess.time));
        }
        let reach = (2.0 * value.abs() / guess.rate.abs()).max(8.0 * f64::EPSILON * h);
        let (mut low, mut high) = ((dip.open.time, self.start.gaps[contact]), (h, value));
        if value > 0.0 {
            low = (guess.time, value);
            let candidates = [guess.time + reach, dip.violated.time, h];
            let mut bracketed = false;
            for time in candidates {
                let time = time.min(h);
                high = (time, self.gap_after(contact, time, h)?);
                if high.1 < 0.0 {
                    bracketed = true;
                    break;
                }
                low = high;
            }
            if !bracketed {
                return Ok(None);
            }
        } else {
            high = (guess.time, value);
            let mut bracketed = false;
            let mut back = reach;
            for _ in 0..60 {
                let time = guess.time - back;
                // If the gap is open at the beginning, the beginning is the last candidate. Just after a
                // bounce the time is halved repeatedly instead.
                let time = if time > dip.open.time {
                    time
                } else if touching {
                    0.5 * high.0
                } else {
                    dip.open.time
                };
                low = (time, self.gap_after(contact, time, h)?);
                if low.1 > 0.0 {
                    bracketed = true;
                    break;
                }
                high = low;
                back *= 8.0;
                if time <= 0.0 {
                    break;
                }
            }
            if !bracketed {
                return Ok(Some(0.0));
            }
        }
        self.refine(contact, low, high, h).map(Some)
    }

    /// True if a touching contact rests: it is accelerated towards contact, and its gap would grow by at most the gap
    /// tolerance within the step of length `h` (s).
    fn is_resting(&self, contact: usize, h: f64) -> bool {
        let rate = self.start.rates[contact];
        let gaps = self.end.gaps[contact] - self.start.gaps[contact];
        let acceleration = (self.end.rates[contact] - rate) / h;
        let from_gaps = 2.0 * (gaps - h * rate) / (h * h);
        let pressing = -acceleration.min(from_gaps);
        pressing > 0.0 && rate * rate <= 2.0 * pressing * self.options.gap_tolerance
    }

    /// Finds the time at which a gap becomes zero on the path that interpolates the step of length `h` (s), by Newton, secant and
    /// bisection steps. `dip` is the interval that contains this time. If `touching` is true, the gap is also zero at the start,
    /// and the search bisects to avoid that root.
    fn interpolated_root(&mut self, contact: usize, dip: Dip, touching: bool, h: f64) -> Probe {
        let mut path = self.path(h);
        let (mut low, mut high) = (dip.open, dip.violated);
        let mut at = high;
        for k in 0..MAX_EVALUATIONS {
            let secant = low.time + (high.time - low.time) * low.gap / (low.gap - high.gap);
            let newton = at.time - at.gap / at.rate;
            let inside = |time: f64| time > low.time && time < high.time;
            let middle = 0.5 * (low.time + high.time);
            let time = match k % 3 {
                _ if touching && low.time == 0.0 => middle,
                0 | 1 if inside(newton) => newton,
                0 if inside(secant) => secant,
                _ => middle,
            };
            if !inside(time) {
                break;
            }
            at = path.probe(contact, time);
            if at.gap == 0.0 {
                break;
            }
            if at.gap > 0.0 {
                low = at;
            } else {
                high = at;
            }
        }
        at
    }

    /// Refines the time at which a gap closes, between `low` and `high`, by the Illinois method (secant steps that move both
    /// ends) with bisection. Each end is a time (s) and the gap (m) after a step of this length. The gap at the returned time is
    /// not negative. `h` is the length of the whole step (s).
    fn refine(
        &mut self,
        contact: usize,
        mut low: (f64, f64),
        mut high: (f64, f64),
        h: f64,
    ) -> Result<f64, StepFailure> {
        let (mut weight_low, mut weight_high) = (low.1, high.1);
        let mut side = 0;
        for k in 0..MAX_EVALUATIONS {
            let width = high.0 - low.0;
            if width <= 2.0 * f64::EPSILON * high.0 || low.1 == 0.0 {
                break;
            }
            let secant = low.0 + width * weight_low / (weight_low - weight_high);
            let middle = low.0 + 0.5 * width;
            let time = if k % 4 == 3 || !(secant > low.0 && secant < high.0) {
                middle
            } else {
                secant
            };
            if time <= low.0 || time >= high.0 {
                break;
            }
            let value = self.gap_after(contact, time, h)?;
            if value >= 0.0 {
                low = (time, value);
                weight_low = value;
                weight_high *= if side == 1 { 0.5 } else { 1.0 };
                side = 1;
            } else {
                high = (time, value);
                weight_high = value;
                weight_low *= if side == -1 { 0.5 } else { 1.0 };
                side = -1;
            }
        }
        Ok(low.0)
    }
}
