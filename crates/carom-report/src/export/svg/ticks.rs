//! Ticks of an axis, and their labels.

use super::decimal::{decimal, digit_count, log_label, log_of, scaled, superscript};
use super::round::{whole, whole_long};
use super::span::Span;
use super::text::{TICK_SIZE, text_width};
use crate::record::{Axis, Scale};

/// Ticks of an axis, at transformed values.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    pub(super) major: Vec<(f64, String)>,
    pub(super) minor: Vec<f64>,
    /// Power of ten that tick labels omit, such as "×10⁻⁵".
    pub(super) factor: Option<String>,
}

impl Ticks {
    pub(super) fn new(span: Span, axis: &Axis, count: f64) -> Self {
        match axis.scale {
            _ if !axis.names.is_empty() => Self::named(span, &axis.names),
            Scale::Linear => Self::linear(span, count),
            Scale::Log => Self::log(span, count),
        }
    }

    fn named(span: Span, names: &[String]) -> Self {
        let places = (1..=names.len()).map(|place| place as f64);
        let inside = |(place, _): &(f64, String)| *place >= span.low && *place <= span.high;
        Self {
            major: places.zip(names.iter().cloned()).filter(inside).collect(),
            ..Self::default()
        }
    }

    /// Places ticks of a linear axis at multiples of 1, 2 or 5 times a power of ten. `span` is the axis range and `count`
    /// the desired number of ticks. The multiples are stored as integers, so that labels never show rounding errors.
    pub(super) fn linear(span: Span, count: f64) -> Self {
        let (multiple, power) = step(span.length() / count.max(1.0));
        let numbers = multiples(span, multiple, power);
        let largest = numbers.iter().map(|n| n.unsigned_abs()).max().unwrap_or(0);
        if largest == 0 {
            return Self::default();
        }
        let leading = power + whole(f64::from(digit_count(largest))) - 1;
        let taken = if (-3..5).contains(&leading) {
            0
        } else {
            leading
        };
        Self {
            major: numbers
                .iter()
                .map(|n| (scaled(*n, power), decimal(*n, power - taken)))
                .collect(),
            minor: Vec::new(),
            factor: (taken != 0).then(|| format!("×10{}", superscript(taken))),
        }
    }

    /// Places ticks of a logarithmic axis at powers of ten. In a short range, 2 and 5 times these are added; in a still
    /// shorter range the ticks are equally spaced. `span` is the range of decimal logarithms, `count` the desired number of
    /// ticks.
    fn log(span: Span, count: f64) -> Self {
        let (first, last) = (whole(span.low.floor()), whole(span.high.ceil()));
        let stride = whole((span.length() / count.max(1.0)).ceil()).max(1);
        let inside = |v: f64| v >= span.low - 1e-9 && v <= span.high + 1e-9;
        let powers: Vec<i32> = (first..=last)
            .filter(|p| p.rem_euclid(stride) == 0 && inside(f64::from(*p)))
            .collect();
        let grid = |multiples: &[i64]| -> Vec<(i64, i32)> {
            let all = (first..=last).flat_map(|p| multiples.iter().map(move |m| (*m, p)));
            all.filter(|(m, p)| inside(log_of(*m, *p))).collect()
        };
        let minor = if stride == 1 {
            grid(&[2, 3, 4, 5, 6, 7, 8, 9])
        } else {
            Vec::new()
        };
        let labeled = match powers.len() {
            3.. => powers.iter().map(|p| (1, *p)).collect(),
            _ => grid(&[1, 2, 5]),
        };
        if labeled.len() < 3 {
            return Self::short_log(span, count);
        }
        let plain = labeled.iter().all(|(_, p)| (-2..=3).contains(p));
        Self {
            major: labeled
                .iter()
                .map(|(m, p)| (log_of(*m, *p), log_label(*m, *p, plain)))
                .collect(),
            minor: minor.iter().map(|(m, p)| log_of(*m, *p)).collect(),
            factor: None,
        }
    }

    fn short_log(span: Span, count: f64) -> Self {
        let values = Span {
            low: 10_f64.powf(span.low),
            high: 10_f64.powf(span.high),
        };
        let mut ticks = Self::linear(values, count.min(7.0));
        ticks.major.retain(|(v, _)| *v > 0.0);
        ticks.major.iter_mut().for_each(|(v, _)| *v = v.log10());
        ticks
    }

    pub(super) fn width(&self) -> f64 {
        let widths = self
            .major
            .iter()
            .map(|(_, label)| text_width(label, TICK_SIZE));
        widths.fold(0.0, f64::max)
    }
}

/// Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`, as the pair of factor
/// and exponent.
fn step(least: f64) -> (i64, i32) {
    let power = whole(least.log10().floor());
    let ratio = least / scaled(1, power);
    match ratio {
        r if r <= 1.0 + 1e-9 => (1, power),
        r if r <= 2.0 => (2, power),
        r if r <= 5.0 => (5, power),
        _ => (1, power + 1),
    }
}

/// Returns the multiples of the tick step `multiple × 10^power` inside the axis range `span`, in units of `10^power`.
fn multiples(span: Span, multiple: i64, power: i32) -> Vec<i64> {
    let step = scaled(multiple, power);
    let first = whole_long((span.low / step - 1e-6).ceil());
    let last = whole_long((span.high / step + 1e-6).floor());
    // The limit guards against a span that is tiny compared with its values.
    (first..=last)
        .take(100)
        .filter_map(|k| k.checked_mul(multiple))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks
            .major
            .iter()
            .map(|(_, label)| label.as_str())
            .collect()
    }

    #[test]
    fn linear_ticks_are_short() {
        let ticks = |low, high| Ticks::linear(Span { low, high }, 6.0);
        assert_eq!(
            labels(&ticks(0.0, 0.52)),
            ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
        assert_eq!(labels(&ticks(-10.0, 10.0)), ["−10", "−5", "0", "5", "10"]);
        let small = ticks(0.0, 3e-9);
        assert_eq!(small.factor.as_deref(), Some("×10⁻⁹"));
        assert_eq!(
            labels(&small),
            ["0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]
        );
    }

    #[test]
    fn log_ticks_fit_the_span() {
        let ticks = |low: f64, high: f64| {
            let span = Span {
                low: low.log10(),
                high: high.log10(),
            };
            Ticks::log(span, 8.0)
        };
        assert_eq!(labels(&ticks(1e-6, 1e-3)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]);
        assert_eq!(labels(&ticks(1.0, 20.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&ticks(1e-16, 1.0)).len(), 9);
        assert!(labels(&ticks(3.0, 3.9)).len() >= 3);
    }
}
