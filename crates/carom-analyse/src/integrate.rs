//! Integration by extrapolation, with the derivatives of the state by that at the start.
//!
//! A step is Gragg's modified midpoint rule with 2, 4, ..., 16 substeps, extrapolated in the square of their length: order 16.
//! Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, section II.9.

use crate::flow::{Flow, Mode};
use crate::{AnalyseError, Settings};
use nalgebra::DMatrix;

/// Rows of the extrapolation table: row j has 2(j + 1) substeps.
const ROWS: usize = 8;

/// Result of one step.
pub(crate) struct Step {
    /// State at the end, followed by the variations, if they are integrated.
    pub(crate) end: Vec<f64>,
    /// Estimated error as a part of the sizes.
    error: f64,
    /// States at the ends of the substeps of the finest row, with an error of order two.
    pub(crate) samples: Vec<Vec<f64>>,
}

/// Integrator of one mode of a flow.
pub(crate) struct Integrator<'f> {
    flow: &'f dyn Flow,
    mode: &'f Mode,
    n: usize,
    tolerance: f64,
    /// True if variations follow the state.
    varies: bool,
    /// Largest absolute value of each state so far.
    sizes: Vec<f64>,
    slopes: DMatrix<f64>,
}

impl<'f> Integrator<'f> {
    pub(crate) fn new(
        flow: &'f dyn Flow,
        mode: &'f Mode,
        varies: bool,
        settings: &Settings,
    ) -> Self {
        let n = flow.dimension();
        Self {
            flow,
            mode,
            n,
            tolerance: settings.tolerance,
            varies,
            sizes: vec![0.0; n],
            slopes: DMatrix::zeros(n, n),
        }
    }

    /// Largest absolute value of each state so far, or of its change in a step.
    pub(crate) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Returns a state followed by the identity as its variations, if they are integrated.
    pub(crate) fn begin(&self, state: &[f64]) -> Vec<f64> {
        let mut out = state.to_vec();
        if self.varies {
            out.extend_from_slice(DMatrix::<f64>::identity(self.n, self.n).as_slice());
        }
        out
    }

    fn rate(&mut self, time: f64, y: &[f64], out: &mut [f64]) -> Result<(), AnalyseError> {
        let n = self.n;
        let (state, variations) = y.split_at(n);
        let (rate, changes) = out.split_at_mut(n);
        self.flow.rate(self.mode, time, state, rate)?;
        if self.varies {
            self.slopes.fill(0.0);
            self.flow
                .rate_by_state(self.mode, time, state, &mut self.slopes)?;
            for (column, change) in variations.chunks_exact(n).zip(changes.chunks_exact_mut(n)) {
                change.fill(0.0);
                for (slope, x) in self.slopes.column_iter().zip(column) {
                    change
                        .iter_mut()
                        .zip(slope.iter())
                        .for_each(|(c, s)| *c += s * x);
                }
            }
        }
        if out.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(AnalyseError::stopped(
            time,
            "the rate of the state is not finite",
        ))
    }

    /// Makes one step of the length `h` (s), without a look at its error.
    pub(crate) fn step(&mut self, time: f64, y: &[f64], h: f64) -> Result<Step, AnalyseError> {
        let mut first = vec![0.0; y.len()];
        self.rate(time, y, &mut first)?;
        let mut table: Vec<Vec<f64>> = Vec::with_capacity(ROWS);
        let mut samples = Vec::new();
        let mut last_change = vec![0.0; y.len()];
        for j in 0..ROWS {
            let substeps = 2 * (j + 1);
            if j + 1 == ROWS {
                samples.push(y.get(..self.n).unwrap_or_default().to_vec());
            }
            let mut row =
                self.midpoint(time, y, &first, h, substeps, &mut samples, j + 1 == ROWS)?;
            // Neville's scheme from the last row, whose entries are overwritten in place.
            let mut k = 0;
            for old in &mut table {
                k += 1;
                let ratio = substeps as f64 / (2 * (j + 1 - k)) as f64;
                let factor = 1.0 / (ratio * ratio - 1.0);
                for i in 0..row.len() {
                    let next = row[i] + (row[i] - old[i]) * factor;
                    last_change[i] = next - row[i];
                    old[i] = row[i];
                    row[i] = next;
                }
            }
            table.push(row);
        }
        let increment = table.pop().unwrap_or_default();
        let end: Vec<f64> = y.iter().zip(&increment).map(|(y, d)| y + d).collect();
        let error = self.error(y, &end, &first, h, &last_change);
        if let Some(last) = samples.last_mut() {
            last.copy_from_slice(end.get(..self.n).unwrap_or_default());
        }
        Ok(Step {
            end,
            error,
            samples,
        })
    }

    /// Returns the change of the state by the modified midpoint rule.
    #[allow(clippy::too_many_arguments)]
    fn midpoint(
        &mut self,
        time: f64,
        y: &[f64],
        first: &[f64],
        h: f64,
        substeps: usize,
        samples: &mut Vec<Vec<f64>>,
        keeps: bool,
    ) -> Result<Vec<f64>, AnalyseError> {
        let length = h / substeps as f64;
        let mut before = vec![0.0; y.len()];
        let mut now: Vec<f64> = first.iter().map(|f| f * length).collect();
        let mut at = vec![0.0; y.len()];
        let mut rate = vec![0.0; y.len()];
        for m in 1..=substeps {
            for ((at, y), d) in at.iter_mut().zip(y).zip(&now) {
                *at = y + d;
            }
            if keeps {
                samples.push(at.get(..self.n).unwrap_or_default().to_vec());
            }
            self.rate(time + length * m as f64, &at, &mut rate)?;
            if m == substeps {
                break;
            }
            for ((before, now), rate) in before.iter_mut().zip(&mut now).zip(&rate) {
                let next = *before + 2.0 * length * rate;
                *before = *now;
                *now = next;
            }
        }
        let smooth = before.iter().zip(&now).zip(&rate);
        Ok(smooth
            .map(|((b, n), r)| 0.5 * (n + b + length * r))
            .collect())
    }

    /// Returns the largest error of the states and variations as parts of their sizes.
    fn error(&mut self, y: &[f64], end: &[f64], first: &[f64], h: f64, change: &[f64]) -> f64 {
        let n = self.n;
        for i in 0..n {
            let size = y[i].abs().max(end[i].abs()).max((h * first[i]).abs());
            self.sizes[i] = self.sizes[i].max(size);
        }
        let largest = self.sizes.iter().fold(0.0, |a: f64, b| a.max(*b));
        // States that vanish but for rounding are judged by the others.
        let floor = largest * self.tolerance.sqrt();
        let states = change.iter().zip(&self.sizes);
        let of_states = states.fold(0.0, |a: f64, (c, s)| a.max(c.abs() / s.max(floor)));
        let variations = end.get(n..).unwrap_or_default();
        let size = variations.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
        let errors = change.get(n..).unwrap_or_default().iter();
        let of_variations = errors.fold(0.0, |a: f64, c| a.max(c.abs() / size));
        of_states.max(of_variations)
    }

    /// Makes one step of at most the length `h` (s), shortened until its error is within the tolerance. Returns the step, its
    /// length and a length for the next one.
    pub(crate) fn advance(
        &mut self,
        time: f64,
        y: &[f64],
        h: f64,
    ) -> Result<(Step, f64, f64), AnalyseError> {
        let mut length = h;
        // A length below the rounding of the time ends the motion; a negative one goes back.
        while time + length != time {
            let tried = self.step(time, y, length);
            let ratio = match &tried {
                Ok(step) => step.error / self.tolerance,
                Err(_) => f64::INFINITY,
            };
            let order = (2 * ROWS - 1) as f64;
            let factor = 0.9 / libm::pow(ratio.max(f64::MIN_POSITIVE), 1.0 / order);
            match tried {
                Ok(step) if ratio <= 1.0 => {
                    return Ok((step, length, length * factor.clamp(0.2, 4.0)));
                }
                _ => length *= factor.clamp(0.1, 0.9),
            }
        }
        Err(AnalyseError::stopped(
            time,
            "no step is short enough for the tolerance",
        ))
    }
}
