//! Scalar results and what they are compared with.

use serde::{Deserialize, Serialize};

/// One scalar result, with the values it should match, if any.
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
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// Name, ending in its unit: `energy_change_j`.
    pub name: String,
    /// Value this run found.
    pub value: f64,
    /// Unit; empty if dimensionless.
    pub unit: String,
    /// Value that the paper prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// Largest difference from it that the printed digits allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Place in the paper, e.g. `"Eq. (15)"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why this run's value is not the printed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// Value that something else than the paper and this run gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Anything a reader must know to judge the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Quantity {
    /// A quantity with nothing to compare it with.
    pub fn new(name: impl Into<String>, value: f64, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            unit: unit.into(),
            paper: None,
            within: None,
            source: None,
            differs: None,
            reference: None,
            note: None,
        }
    }

    /// Adds the value that a paper prints, half a unit of its last digit, and the place.
    #[must_use]
    pub fn printed(mut self, value: f64, within: f64, source: impl Into<String>) -> Self {
        self.paper = Some(value);
        self.within = Some(within);
        self.source = Some(source.into());
        self
    }

    /// Leaves out what a paper prints, which belongs to the paper's parameters.
    pub fn forget_printed(&mut self) {
        self.paper = None;
        self.within = None;
        self.source = None;
        self.differs = None;
    }

    /// True if the value is the printed one, up to the printed digits, or no value is printed.
    #[must_use]
    pub fn agrees_with_print(&self) -> bool {
        let Some(paper) = self.paper else {
            return true;
        };
        // Printed decimals are not binary ones: a rounding of each side is allowed.
        let rounding = 4.0 * f64::EPSILON * paper.abs();
        (self.value - paper).abs() <= self.within.unwrap_or(0.0) + rounding
    }

    /// Says why the value is not the printed one.
    #[must_use]
    pub fn differs(mut self, reason: impl Into<String>) -> Self {
        self.differs = Some(reason.into());
        self
    }

    /// Adds the value of a closed form, and which one.
    #[must_use]
    pub fn closed_form(self, value: f64, source: impl Into<String>) -> Self {
        self.reference(ReferenceKind::ClosedForm, value, source)
    }

    /// Adds the value of an independent computation, and which one.
    #[must_use]
    pub fn independent(self, value: f64, source: impl Into<String>) -> Self {
        self.reference(ReferenceKind::Independent, value, source)
    }

    /// Adds a value that neither the paper nor this run gives.
    #[must_use]
    pub fn reference(mut self, kind: ReferenceKind, value: f64, source: impl Into<String>) -> Self {
        self.reference = Some(Reference {
            kind,
            value,
            source: source.into(),
        });
        self
    }

    /// Every expected value: its kind in words, the value, and where it comes from.
    pub fn expected(&self) -> impl Iterator<Item = (&'static str, f64, &str)> {
        let source = self.source.as_deref().unwrap_or_default();
        let printed = self.paper.map(|value| ("printed", value, source));
        let reference = self.reference.as_ref();
        let reference = reference.map(|r| (r.kind.words(), r.value, r.source.as_str()));
        printed.into_iter().chain(reference)
    }

    /// Adds a note.
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
        ];
        let bad = |(name, value): (&str, Option<f64>)| {
            value.filter(|v| !v.is_finite()).map(|_| name.to_owned())
        };
        expected.into_iter().find_map(bad)
    }
}

/// A value to compare with that no paper prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Origin of the value.
    pub kind: ReferenceKind,
    /// The value.
    pub value: f64,
    /// The formula, or the other computation.
    pub source: String,
}

/// Origin of a value to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceKind {
    /// A formula, which needs no simulation.
    ClosedForm,
    /// Another implementation, or another method.
    Independent,
}

impl ReferenceKind {
    /// The kind in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ClosedForm => "closed form",
            Self::Independent => "independent",
        }
    }
}
