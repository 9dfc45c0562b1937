//! Zeros and least values of guards within a step.

use crate::flow::{Flow, GuardKind, Level, Mode};
use crate::integrate::{Integrator, Step};
use crate::{AnalyseError, Settings};

/// First event in a step.
pub(crate) enum Crossing {
    /// No guard becomes zero.
    None,
    /// A guard leaves zero and returns to it before the first sample: the step must be shorter.
    Shorter(f64),
    /// A guard falls through zero.
    At {
        /// Time since the start of the step (s).
        length: f64,
        /// Index of the guard; that of the section follows those of the mode.
        guard: usize,
    },
}

/// Guards of a mode along a segment.
pub(crate) struct Scan<'f> {
    flow: &'f dyn Flow,
    mode: &'f Mode,
    level: Option<&'f Level>,
    kinds: Vec<GuardKind>,
    settings: Settings,
    /// True once the guard has been positive since the start of the segment.
    started: Vec<bool>,
    /// Largest absolute value so far.
    sizes: Vec<f64>,
    /// Least value since the guard was positive.
    pub(crate) least: Vec<f64>,
}

/// Step that is looked at.
struct Look<'l, 'f> {
    integrator: &'l mut Integrator<'f>,
    time: f64,
    y: &'l [f64],
    length: f64,
}

impl<'f> Scan<'f> {
    pub(crate) fn new(
        flow: &'f dyn Flow,
        mode: &'f Mode,
        level: Option<&'f Level>,
        settings: &Settings,
        time: f64,
        state: &[f64],
    ) -> Result<Self, AnalyseError> {
        let kinds = flow.guards(mode);
        let n = kinds.len() + usize::from(level.is_some());
        let mut out = Self {
            flow,
            mode,
            level,
            kinds,
            settings: *settings,
            started: vec![false; n],
            sizes: vec![0.0; n],
            least: vec![f64::INFINITY; n],
        };
        for guard in 0..n {
            let value = out.value(guard, time, state)?;
            out.sizes[guard] = value.abs();
            out.started[guard] = value > settings.touch;
        }
        Ok(out)
    }

    pub(crate) fn n_guards(&self) -> usize {
        self.kinds.len()
    }

    /// Largest absolute value of a guard so far.
    pub(crate) fn size(&self, guard: usize) -> f64 {
        self.sizes[guard]
    }

    fn value(&self, guard: usize, time: f64, state: &[f64]) -> Result<f64, AnalyseError> {
        if guard < self.kinds.len() {
            return self.flow.guard(self.mode, guard, time, state);
        }
        let mut gradient = vec![0.0; state.len()];
        Ok(self
            .level
            .map_or(f64::INFINITY, |level| level(state, &mut gradient)))
    }

    /// Returns the value of a guard and its rate in a state.
    fn value_and_rate(
        &self,
        guard: usize,
        time: f64,
        state: &[f64],
    ) -> Result<(f64, f64), AnalyseError> {
        let mut gradient = vec![0.0; state.len()];
        let value = self.value(guard, time, state)?;
        let by_time = if guard < self.kinds.len() {
            self.flow
                .guard_gradient(self.mode, guard, time, state, &mut gradient)?
        } else {
            if let Some(level) = self.level {
                level(state, &mut gradient);
            }
            0.0
        };
        let mut rate = vec![0.0; state.len()];
        self.flow.rate(self.mode, time, state, &mut rate)?;
        let along: f64 = gradient.iter().zip(&rate).map(|(g, f)| g * f).sum();
        Ok((value, along + by_time))
    }

    /// Values of a guard at the samples of a step. Updates its size.
    fn values(
        &mut self,
        guard: usize,
        look: &Look<'_, '_>,
        step: &Step,
    ) -> Result<Vec<f64>, AnalyseError> {
        let last = (step.samples.len() - 1).max(1) as f64;
        let samples = step.samples.iter().enumerate();
        let values: Vec<f64> = samples
            .map(|(m, state)| self.value(guard, look.time + look.length * m as f64 / last, state))
            .collect::<Result<_, _>>()?;
        let size = values.iter().fold(self.sizes[guard], |a, v| a.max(v.abs()));
        self.sizes[guard] = size;
        Ok(values)
    }

    /// Returns the first event in a step of the length `length` (s) from the state `y`. Without one the guards have
    /// been noted up to the end of the step.
    pub(crate) fn first(
        &mut self,
        integrator: &mut Integrator<'f>,
        time: f64,
        y: &[f64],
        length: f64,
        step: &Step,
    ) -> Result<Crossing, AnalyseError> {
        let mut look = Look {
            integrator,
            time,
            y,
            length,
        };
        let mut first: Option<(f64, usize)> = None;
        let mut started = self.started.clone();
        for (guard, started) in started.iter_mut().enumerate() {
            let values = self.values(guard, &look, step)?;
            match self.crossing(guard, &mut look, &values, started)? {
                Crossing::None => (),
                Crossing::Shorter(shorter) => return Ok(Crossing::Shorter(shorter)),
                Crossing::At { length, guard } => {
                    if first.is_none_or(|(best, _)| length < best) {
                        first = Some((length, guard));
                    }
                }
            }
        }
        if let Some((length, guard)) = first {
            return Ok(Crossing::At { length, guard });
        }
        self.started = started;
        Ok(Crossing::None)
    }

    /// Returns the first zero of one guard in a step.
    fn crossing(
        &self,
        guard: usize,
        look: &mut Look<'_, '_>,
        values: &[f64],
        started: &mut bool,
    ) -> Result<Crossing, AnalyseError> {
        let last = values.len() - 1;
        let whole = look.length;
        let place = |m: usize| whole * m as f64 / last as f64;
        let tiny = self.settings.tiny * self.sizes[guard];
        let mut low = 0.0;
        for m in 0..=last {
            if !*started {
                if values[m] > tiny {
                    *started = true;
                    low = place(m);
                } else if m > 0 && values[m] < -tiny && guard < self.kinds.len() {
                    return self.left_early(guard, look, place(1));
                }
                continue;
            }
            if values[m] <= 0.0 {
                if let Some(length) = self.zero(guard, look, low, place(m))? {
                    return Ok(Crossing::At { length, guard });
                }
                continue;
            }
            if let Some((from, to)) = self.dips(guard, values, m)
                && let Some((at, value)) =
                    self.least_between(guard, look, place(from), place(to))?
                && value < 0.0
                && let Some(length) = self.zero(guard, look, low, at)?
            {
                return Ok(Crossing::At { length, guard });
            }
            low = place(m);
        }
        Ok(Crossing::None)
    }

    /// Decides on a guard that is zero at the start of the segment and negative soon after.
    fn left_early(
        &self,
        guard: usize,
        look: &mut Look<'_, '_>,
        shorter: f64,
    ) -> Result<Crossing, AnalyseError> {
        let start = look.y.get(..self.flow.dimension()).unwrap_or_default();
        let (_, rate) = self.value_and_rate(guard, look.time, start)?;
        if rate > 0.0 && look.time + shorter > look.time {
            return Ok(Crossing::Shorter(shorter));
        }
        let contact = self.flow.contact_of(self.mode, guard);
        let reason = format!("the decision at contact {contact} contradicts the motion after it");
        Err(AnalyseError::stopped(look.time, reason))
    }

    /// Returns the samples between which a guard may have a minimum near the sample `m`.
    fn dips(&self, guard: usize, values: &[f64], m: usize) -> Option<(usize, usize)> {
        if !(values[m] < self.settings.near * self.sizes[guard]) {
            return None;
        }
        let last = values.len() - 1;
        let falls = m == 0 || values[m - 1] >= values[m];
        let rises = m == last || values[m + 1] > values[m];
        (falls && rises).then(|| (m.saturating_sub(1), (m + 1).min(last)))
    }

    fn at(
        &self,
        guard: usize,
        look: &mut Look<'_, '_>,
        length: f64,
    ) -> Result<(f64, f64), AnalyseError> {
        let n = self.flow.dimension();
        let state = if length > 0.0 {
            look.integrator.step(look.time, look.y, length)?.end
        } else {
            look.y.to_vec()
        };
        self.value_and_rate(
            guard,
            look.time + length,
            state.get(..n).unwrap_or_default(),
        )
    }

    /// Returns the place and the value of a minimum of a guard between two times since the start of the step; `None` if it is
    /// monotonic there.
    fn least_between(
        &self,
        guard: usize,
        look: &mut Look<'_, '_>,
        mut low: f64,
        mut high: f64,
    ) -> Result<Option<(f64, f64)>, AnalyseError> {
        let (first, falling) = self.at(guard, look, low)?;
        let (last, rising) = self.at(guard, look, high)?;
        if !(falling < 0.0 && rising > 0.0) {
            return Ok(None);
        }
        let mut best = if first < last {
            (low, first)
        } else {
            (high, last)
        };
        let (mut below, mut above) = (falling, rising);
        for _ in 0..self.settings.evaluations {
            let middle = 0.5 * (low + high);
            let secant = low - below * (high - low) / (above - below);
            let inside = secant > low && secant < high;
            let time = if inside { secant } else { middle };
            if time <= low || time >= high {
                break;
            }
            let (value, rate) = self.at(guard, look, time)?;
            if value < best.1 {
                best = (time, value);
            }
            // The Illinois rule: the end that stays loses half its weight.
            if rate < 0.0 {
                (low, below) = (time, rate);
                above *= 0.5;
            } else {
                (high, above) = (time, rate);
                below *= 0.5;
            }
            if rate == 0.0 || high - low <= f64::EPSILON * look.length {
                break;
            }
        }
        Ok(Some(best))
    }

    /// Returns the zero of a guard, positive at `low` and not at `high` (times since the start of the step), by Newton's method
    /// within the bracket; `None` if the exact values do not change their sign.
    fn zero(
        &self,
        guard: usize,
        look: &mut Look<'_, '_>,
        mut low: f64,
        mut high: f64,
    ) -> Result<Option<f64>, AnalyseError> {
        let (value, mut rate) = self.at(guard, look, high)?;
        if value > 0.0 {
            return Ok(None);
        }
        // A sample may have been positive where the guard is not.
        for _ in 0..self.settings.evaluations {
            if low == 0.0 || self.at(guard, look, low)?.0 > 0.0 {
                break;
            }
            (high, low) = (low, 0.5 * low);
        }
        let mut time = high;
        let mut value = value;
        for _ in 0..self.settings.evaluations {
            let newton = time - value / rate;
            let next = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            if next == time || next <= low || next >= high {
                break;
            }
            let moved = (next - time).abs();
            time = next;
            (value, rate) = self.at(guard, look, time)?;
            if value > 0.0 {
                low = time;
            } else {
                high = time;
            }
            if value == 0.0 || moved <= f64::EPSILON * look.length {
                break;
            }
        }
        Ok(Some(time))
    }

    /// Notes the least values of the guards along a step. `own` is the guard that ends the segment at the end of this step: it
    /// counts in its interior minima only.
    pub(crate) fn watch(
        &mut self,
        integrator: &mut Integrator<'f>,
        (time, y, length): (f64, &[f64], f64),
        step: &Step,
        own: Option<usize>,
    ) -> Result<(), AnalyseError> {
        let mut look = Look {
            integrator,
            time,
            y,
            length,
        };
        for guard in 0..self.started.len() {
            let values = self.values(guard, &look, step)?;
            let last = values.len() - 1;
            let tiny = self.settings.tiny * self.sizes[guard];
            let is_own = own == Some(guard);
            let counts = |m: usize| {
                step.samples
                    .get(m)
                    .is_some_and(|x| self.flow.counts(self.mode, guard, x))
            };
            let counts: Vec<bool> = (0..=last).map(counts).collect();
            for m in 0..=last {
                if !counts[m] {
                    continue;
                }
                if !self.started[guard] && !(values[m].abs() > tiny) {
                    continue;
                }
                self.started[guard] = true;
                // The own guard falls to zero at the end.
                let falls_to_end = is_own && values[m..].windows(2).all(|pair| pair[1] <= pair[0]);
                if !falls_to_end {
                    self.least[guard] = self.least[guard].min(values[m]);
                }
                let place = |m: usize| length * m as f64 / last as f64;
                if let Some((from, to)) = self.dips(guard, &values, m)
                    && !(is_own && to == last && m == last)
                    && let Some((_, value)) =
                        self.least_between(guard, &mut look, place(from), place(to))?
                {
                    self.least[guard] = self.least[guard].min(value);
                }
            }
        }
        Ok(())
    }
}
