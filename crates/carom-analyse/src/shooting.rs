//! Equations of an orbit: the state at the section and the durations between its events.
//!
//! Nothing is divided by the speed at which a guard is crossed: the equations are regular up to grazing.

use crate::carried::Carried;
use crate::flow::{Flow, GuardKind, Mode};
use crate::integrate::Integrator;
use crate::motion::{End, Section, Segment};
use crate::scan::Scan;
use crate::{AnalyseError, EventKind, Settings};
use nalgebra::{DMatrix, DVector};

/// Sequence of events of an orbit, with all that its equations need.
#[derive(Clone)]
pub(crate) struct Sequence<'f> {
    pub(crate) flow: &'f dyn Flow,
    pub(crate) section: &'f Section,
    pub(crate) carried: &'f Carried,
    /// Time of the start (s).
    pub(crate) time: f64,
    pub(crate) segments: Vec<Segment>,
}

/// Values of the equations, with derivatives by the state at the start followed by the durations.
pub(crate) struct Values {
    /// One for the end of each segment, then those of the closure.
    pub(crate) residual: DVector<f64>,
    pub(crate) jacobian: DMatrix<f64>,
    /// Derivatives of the state at the end (N rows).
    pub(crate) end_by: DMatrix<f64>,
    /// State of each closure.
    pub(crate) kept: Vec<usize>,
    /// States just before the events, and after them.
    pub(crate) before: Vec<DVector<f64>>,
    pub(crate) after: Vec<DVector<f64>>,
    /// Largest absolute value of each state on the orbit.
    pub(crate) sizes: Vec<f64>,
}

/// Quantity that must be positive along an orbit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Margin {
    pub(crate) kind: MarginKind,
    pub(crate) contact: usize,
    /// Value, and the size that it is compared with.
    pub(crate) value: f64,
    pub(crate) size: f64,
}

/// Kind of a [`Margin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarginKind {
    /// Speed at which an impact is approached, by index of the event.
    Speed(usize),
    /// Duration between two events, by index of the second.
    Duration(usize),
    /// Least value of another guard.
    Guard(GuardKind),
    /// Speed at which another guard falls through zero.
    Rate(usize),
}

impl MarginKind {
    /// Kind of the special point where the margin vanishes.
    pub(crate) fn special(self) -> &'static str {
        match self {
            Self::Speed(_) => "grazing",
            Self::Duration(_) => "coincident",
            Self::Guard(GuardKind::Gap) => "new-contact",
            Self::Guard(GuardKind::Force) => "opening",
            Self::Guard(GuardKind::Cone) => "slipping",
            Self::Guard(_) => "sticking",
            Self::Rate(_) => "tangency",
        }
    }
}

impl Sequence<'_> {
    /// Number of unknowns.
    pub(crate) fn unknowns(&self) -> usize {
        self.flow.dimension() + self.segments.len()
    }

    /// Returns the unknowns of the motion along which the sequence was found.
    pub(crate) fn guess(&self, start: &DVector<f64>) -> DVector<f64> {
        let durations = self.segments.iter().map(|s| s.duration);
        let all = start.iter().copied().chain(durations);
        DVector::from_iterator(self.unknowns(), all)
    }

    /// Names of modes, guards and resets in their order: two motions with the same have the same events.
    pub(crate) fn label(segments: &[Segment]) -> Vec<(Mode, End, Mode, bool)> {
        let of = |s: &Segment| {
            let reset = s
                .transition
                .as_ref()
                .map_or(Mode::new(), |t| t.reset.clone());
            (s.mode.clone(), s.end, reset, s.returns)
        };
        segments.iter().map(of).collect()
    }

    fn level(&self, state: &[f64], gradient: &mut [f64]) -> f64 {
        match self.section {
            Section::Falls(level) => level(state, gradient),
            _ => f64::NAN,
        }
    }

    /// Integrates one segment from a state. Returns the state before its end, with its
    /// variations if they are wanted, and the sizes of the states on the way.
    fn fly(
        &self,
        segment: &Segment,
        (time, state): (f64, &DVector<f64>),
        duration: f64,
        varies: bool,
        settings: &Settings,
    ) -> Result<(Vec<f64>, Vec<f64>), AnalyseError> {
        let mut integrator = Integrator::new(self.flow, &segment.mode, varies, settings);
        let mut y = integrator.begin(state.as_slice());
        let (mut done, mut length) = (0.0, duration);
        for _ in 0..settings.steps {
            if done == duration {
                return Ok((y, integrator.sizes().to_vec()));
            }
            let left: f64 = duration - done;
            let whole = if length.abs() < left.abs() {
                length
            } else {
                left
            };
            let (step, taken, next) = integrator.advance(time + done, &y, whole)?;
            y = step.end;
            done = if taken == left {
                duration
            } else {
                done + taken
            };
            length = next;
        }
        Err(AnalyseError::stopped(
            time,
            "a segment needs too many steps",
        ))
    }

    /// Evaluates the equations at unknowns `z`.
    pub(crate) fn evaluate(
        &self,
        z: &DVector<f64>,
        settings: &Settings,
    ) -> Result<Values, AnalyseError> {
        let (n, m) = (self.flow.dimension(), self.segments.len());
        let mut state = z.rows(0, n).into_owned();
        let mut by = DMatrix::zeros(n, n + m);
        by.view_mut((0, 0), (n, n)).fill_with_identity();
        let mut time = self.time;
        let kept = self.carried.compared(n);
        let mut residual = DVector::zeros(m + kept.len());
        let mut jacobian = DMatrix::zeros(m + kept.len(), n + m);
        let mut sizes: Vec<f64> = state.iter().map(|x| x.abs()).collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut returns = 0;
        for (k, segment) in self.segments.iter().enumerate() {
            let mut rate = DVector::zeros(n);
            self.flow
                .rate(&segment.mode, time, state.as_slice(), rate.as_mut_slice())?;
            let (y, on_way) = self.fly(segment, (time, &state), z[n + k], true, settings)?;
            let end = DVector::from_column_slice(y.get(..n).unwrap_or_default());
            let variations = DMatrix::from_column_slice(n, n, y.get(n..).unwrap_or_default());
            time += z[n + k];
            let mut arriving = DVector::zeros(n);
            self.flow
                .rate(&segment.mode, time, end.as_slice(), arriving.as_mut_slice())?;
            by = &variations * by;
            // A later start of the segment shifts its time.
            let shifted = &arriving - &variations * &rate;
            for j in 0..k {
                let mut column = by.column_mut(n + j);
                column += &shifted;
            }
            let mut column = by.column_mut(n + k);
            column += &arriving;
            before.push(end.clone());
            let mut gradient = vec![0.0; n];
            let (value, by_time) = match segment.end {
                End::Guard(guard) => {
                    let value = self
                        .flow
                        .guard(&segment.mode, guard, time, end.as_slice())?;
                    let slope = self.flow.guard_gradient(
                        &segment.mode,
                        guard,
                        time,
                        end.as_slice(),
                        &mut gradient,
                    )?;
                    (value, slope)
                }
                End::Strobe => {
                    returns += 1;
                    let Section::Every { period, .. } = self.section else {
                        return Err(AnalyseError::stopped(time, "a strobe without a period"));
                    };
                    (time - self.time - period * f64::from(returns), 1.0)
                }
                End::Level => (self.level(end.as_slice(), &mut gradient), 0.0),
            };
            residual[k] = value;
            let mut row = DVector::from_vec(gradient).tr_mul(&by);
            for j in 0..=k {
                row[n + j] += by_time;
            }
            jacobian.row_mut(k).copy_from(&row);
            state = end;
            if let Some(transition) = segment.transition.as_ref().filter(|t| !t.reset.is_empty()) {
                let jump =
                    self.flow
                        .jump(&segment.mode, &transition.reset, time, state.as_slice())?;
                by = &jump.by_state * by;
                for j in 0..=k {
                    let mut column = by.column_mut(n + j);
                    column += &jump.by_time;
                }
                state = jump.state;
            }
            for (size, seen) in sizes.iter_mut().zip(&on_way) {
                *size = size.max(*seen);
            }
            for (size, x) in sizes.iter_mut().zip(before[k].iter().zip(state.iter())) {
                *size = size.max(x.0.abs()).max(x.1.abs());
            }
            after.push(state.clone());
        }
        let carried = self.carried.apply(&state);
        let carried_by = self.carried.apply_linear(&by);
        for (row, &i) in (m..).zip(&kept) {
            residual[row] = carried[i] - z[i];
            jacobian.row_mut(row).copy_from(&carried_by.row(i));
            jacobian[(row, i)] -= 1.0;
        }
        Ok(Values {
            residual,
            jacobian,
            end_by: carried_by,
            kept,
            before,
            after,
            sizes,
        })
    }

    /// Returns the derivative of the return map by the state at the start (N × N), or `None` if an event is not crossed.
    pub(crate) fn return_map(&self, values: &Values) -> Option<DMatrix<f64>> {
        let (n, m) = (self.flow.dimension(), self.segments.len());
        let by_state = values.jacobian.view((0, 0), (m, n)).into_owned();
        let by_duration = values.jacobian.view((0, n), (m, m)).into_owned();
        let durations = by_duration.lu().solve(&by_state)?;
        let end = &values.end_by;
        Some(end.view((0, 0), (n, n)) - end.view((0, n), (n, m)) * durations)
    }

    /// Returns all that must be positive for the solution `z` to be a motion.
    pub(crate) fn margins(
        &self,
        z: &DVector<f64>,
        values: &Values,
        settings: &Settings,
    ) -> Result<Vec<Margin>, AnalyseError> {
        let n = self.flow.dimension();
        let period: f64 = z.rows(n, self.segments.len()).sum();
        let mut out = Vec::new();
        let mut time = self.time;
        let mut state = z.rows(0, n).into_owned();
        let fastest = self.fastest(values);
        for (k, segment) in self.segments.iter().enumerate() {
            let duration = z[n + k];
            let own = match segment.end {
                End::Guard(guard) => Some(guard),
                End::Level => Some(self.flow.guards(&segment.mode).len()),
                End::Strobe => None,
            };
            let contact = match segment.end {
                End::Guard(guard) => self.flow.contact_of(&segment.mode, guard),
                _ => 0,
            };
            if duration < 0.0 || self.segments.len() > 1 {
                out.push(Margin {
                    kind: MarginKind::Duration(k),
                    contact,
                    value: duration,
                    size: period,
                });
            }
            time += duration;
            if let End::Guard(_) | End::Level = segment.end {
                let speed = self.approach(segment, time, &values.before[k])?;
                let strikes = segment.transition.as_ref().is_some_and(|t| {
                    t.happenings
                        .iter()
                        .any(|h| matches!(h.kind, EventKind::Impact | EventKind::Closes))
                });
                let kind = if strikes {
                    MarginKind::Speed(k)
                } else {
                    MarginKind::Rate(k)
                };
                let size = if strikes { fastest } else { speed.abs() };
                out.push(Margin {
                    kind,
                    contact,
                    value: speed,
                    size,
                });
            }
            if duration > 0.0 {
                self.watch(
                    segment,
                    (time - duration, &state),
                    duration,
                    own,
                    settings,
                    &mut out,
                )?;
            }
            state.clone_from(&values.after[k]);
        }
        Ok(out)
    }

    /// Returns the speed with which the guard at the end of a segment falls.
    pub(crate) fn approach(
        &self,
        segment: &Segment,
        time: f64,
        state: &DVector<f64>,
    ) -> Result<f64, AnalyseError> {
        let n = self.flow.dimension();
        let (mut gradient, mut rate) = (vec![0.0; n], vec![0.0; n]);
        let by_time = match segment.end {
            End::Guard(guard) => self.flow.guard_gradient(
                &segment.mode,
                guard,
                time,
                state.as_slice(),
                &mut gradient,
            )?,
            _ => {
                self.level(state.as_slice(), &mut gradient);
                0.0
            }
        };
        self.flow
            .rate(&segment.mode, time, state.as_slice(), &mut rate)?;
        Ok(-by_time - gradient.iter().zip(&rate).map(|(g, f)| g * f).sum::<f64>())
    }

    /// Returns the largest speed at which an event of the orbit is approached.
    fn fastest(&self, values: &Values) -> f64 {
        let speeds = values.sizes.iter().skip(self.flow.dimension() / 2);
        speeds.fold(0.0, |a: f64, b| a.max(*b))
    }

    /// Adds the least values of the guards along a segment.
    fn watch(
        &self,
        segment: &Segment,
        (time, state): (f64, &DVector<f64>),
        duration: f64,
        own: Option<usize>,
        settings: &Settings,
        out: &mut Vec<Margin>,
    ) -> Result<(), AnalyseError> {
        let kinds = self.flow.guards(&segment.mode);
        let mut scan = Scan::new(
            self.flow,
            &segment.mode,
            None,
            settings,
            time,
            state.as_slice(),
        )?;
        let mut integrator = Integrator::new(self.flow, &segment.mode, false, settings);
        let mut y = integrator.begin(state.as_slice());
        let (mut done, mut length) = (0.0, duration);
        for _ in 0..settings.steps {
            let left: f64 = duration - done;
            if left <= 0.0 {
                break;
            }
            let (step, taken, next) = integrator.advance(time + done, &y, left.min(length))?;
            let is_last = taken >= left;
            let ends = own.filter(|_| is_last);
            scan.watch(&mut integrator, (time + done, &y, taken), &step, ends)?;
            y = step.end;
            done = if is_last { duration } else { done + taken };
            length = next;
        }
        for (guard, kind) in kinds.iter().enumerate() {
            if *kind != GuardKind::Arming && scan.least[guard].is_finite() {
                out.push(Margin {
                    kind: MarginKind::Guard(*kind),
                    contact: self.flow.contact_of(&segment.mode, guard),
                    value: scan.least[guard],
                    size: scan.size(guard),
                });
            }
        }
        Ok(())
    }
}
