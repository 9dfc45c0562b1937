//! Scalar results and the values to compare them with.

use serde::{Deserialize, Serialize};

/// Scalar result of a run, with its unit and its expected values, if any.
///
/// # Examples
///
/// ```
/// use carom_report::record::Quantity;
/// let g = 9.80665_f64;
/// let time = Quantity::new("fall_time_s", (2.0 * 1.25 / g).sqrt(), "s")
///     .printed(0.505, 5e-4, "Table 1")
///     .closed_form((2.5 / g).sqrt(), "sqrt(2h/g)");
/// assert!(time.agrees_with_print());
/// assert_eq!(time.expected().count(), 2);
/// // The mean over an ensemble, with its standard error.
/// let mean = Quantity::mean("energy_j", &[1.0, 3.0], "J");
/// assert_eq!((mean.value, mean.standard_error), (2.0, Some(1.0)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// Name with its unit at the end: `energy_change_j`.
    pub name: String,
    /// Value computed in this run.
    pub value: f64,
    /// Unit; empty if dimensionless.
    pub unit: String,
    /// Value printed in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// Largest difference from the printed value that its digits allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// True if the printed value is a lower bound: "more than five orders of magnitude".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// True if an input of the run was fitted to the printed value: agreement is then no evidence. The note says which input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fitted: bool,
    /// Place of the printed value in the paper, e.g. `"Eq. (15)"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Reason why the value of this run differs from the printed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// Value from a source other than the paper and this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Standard error of the value, if the value is a mean over an ensemble: another machine has the same mean up to a few of
    /// these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Largest magnitude that the value may have, if nothing else about it can be repeated: an error, a residual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Remark that a reader needs to judge the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Quantity {
    /// Creates a scalar result of a run without expected values.
    pub fn new(name: impl Into<String>, value: f64, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            unit: unit.into(),
            paper: None,
            within: None,
            at_least: false,
            is_fitted: false,
            source: None,
            differs: None,
            reference: None,
            standard_error: None,
            at_most: None,
            note: None,
        }
    }

    /// Creates the mean of independent values with its standard error, the root of their sample variance over their number.
    /// The error is missing for fewer than two values.
    pub fn mean(name: impl Into<String>, values: &[f64], unit: impl Into<String>) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        let mut quantity = Self::new(name, mean, unit);
        if values.len() > 1 {
            quantity.standard_error = Some((squares / ((n - 1.0) * n)).sqrt());
        }
        quantity
    }

    /// Adds the largest magnitude that the value may have. The value itself is then not compared between machines.
    #[must_use]
    pub fn at_most(mut self, bound: f64) -> Self {
        self.at_most = Some(bound);
        self
    }

    /// Adds the value of this quantity that is printed in a paper. `within` is half a unit of the last printed digit, and
    /// `source` is the place in the paper.
    #[must_use]
    pub fn printed(mut self, value: f64, within: f64, source: impl Into<String>) -> Self {
        self.paper = Some(value);
        self.within = Some(within);
        self.source = Some(source.into());
        self
    }

    /// True if the computed value equals the value printed in a paper up to the printed digits or satisfies a printed bound, or
    /// if no value is printed. NaN never agrees.
    #[must_use]
    pub fn agrees_with_print(&self) -> bool {
        let Some(paper) = self.paper else {
            return true;
        };
        // Printed decimals have no exact binary form: a rounding error of each side is allowed.
        let rounding = 4.0 * f64::EPSILON * paper.abs();
        if self.at_least {
            return self.value >= paper - rounding;
        }
        (self.value - paper).abs() <= self.within.unwrap_or(0.0) + rounding
    }

    /// Adds the reason why the computed value differs from the value printed in a paper.
    #[must_use]
    pub fn differs(mut self, reason: impl Into<String>) -> Self {
        self.differs = Some(reason.into());
        self
    }

    /// Adds the expected value of this quantity by a closed-form expression; `source` is the formula.
    #[must_use]
    pub fn closed_form(self, value: f64, source: impl Into<String>) -> Self {
        self.reference(ReferenceKind::ClosedForm, value, source)
    }

    /// Adds the expected value of this quantity by an independent computation; `source` names the computation.
    #[must_use]
    pub fn independent(self, value: f64, source: impl Into<String>) -> Self {
        self.reference(ReferenceKind::Independent, value, source)
    }

    /// Adds an expected value of this quantity that is neither printed in the paper nor computed by this run. `kind` is its
    /// origin (closed form or independent computation), `source` a description of the origin.
    #[must_use]
    pub fn reference(mut self, kind: ReferenceKind, value: f64, source: impl Into<String>) -> Self {
        self.reference = Some(Reference {
            kind,
            value,
            source: source.into(),
        });
        self
    }

    /// Iterates over the expected values of this quantity. Each item contains the origin of the value in words (such as
    /// `printed`), the value, and its source. A printed value to which an input was fitted is called `fitted`, a printed bound
    /// `at least`.
    pub fn expected(&self) -> impl Iterator<Item = (&'static str, f64, &str)> {
        let source = self.source.as_deref().unwrap_or_default();
        let kind = match (self.is_fitted, self.at_least) {
            (true, _) => "fitted",
            (false, true) => "at least",
            (false, false) => "printed",
        };
        let printed = self.paper.map(|value| (kind, value, source));
        let reference = self.reference.as_ref();
        let reference = reference.map(|r| (r.kind.words(), r.value, r.source.as_str()));
        printed.into_iter().chain(reference)
    }

    /// Adds a note to this quantity, which is shown beside it.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub(super) fn non_finite(&self) -> Option<String> {
        if !self.value.is_finite() {
            return Some("value".to_owned());
        }
        let expected = [
            ("paper", self.paper),
            ("within", self.within),
            ("reference", self.reference.as_ref().map(|r| r.value)),
            ("standard_error", self.standard_error),
            ("at_most", self.at_most),
        ];
        let bad = |(name, value): (&str, Option<f64>)| {
            value.filter(|v| !v.is_finite()).map(|_| name.to_owned())
        };
        expected.into_iter().find_map(bad)
    }
}

/// Expected value of a quantity that is not printed in a paper: a closed form or an independent computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Origin of the value.
    pub kind: ReferenceKind,
    /// The value.
    pub value: f64,
    /// Formula, or name of the other computation.
    pub source: String,
}

/// Origin of an expected value of a quantity: a closed form or an independent computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReferenceKind {
    /// A formula, which needs no simulation.
    ClosedForm,
    /// Another implementation, or another method.
    Independent,
}

impl ReferenceKind {
    /// Returns the origin of the expected value in words, for example "closed form".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ClosedForm => "closed form",
            Self::Independent => "independent",
        }
    }
}
