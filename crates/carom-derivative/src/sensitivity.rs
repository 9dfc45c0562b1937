//! Derivatives of runs through impacts, for any motion between them.
//!
//! A run maps its initial state to its final state at a fixed time. If every impact is crossed transversally and its law
//! is smooth there, the run is smooth as well, and its derivative is the product of those of its flights and impacts. The
//! crates that simulate runs fill a [`Sensitivity`].

use crate::Differentiability;
use nalgebra::{DMatrix, DVector};
use std::borrow::Cow;

/// Regularity of the final state of a run (a motion through impacts) as a function of the initial state. The variants are
/// ordered from the best to the worst. A run has the regularity of its worst impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Regularity {
    /// The final state is differentiable: the Jacobian is the derivative.
    Smooth,
    /// The final state is continuous, but not its derivative.
    Kink,
    /// A decision of an impact law is tied: the final state has a kink or jumps.
    Tied,
    /// The final state itself jumps.
    Jump,
    /// An impact grazes: the derivative grows without bound.
    Singular,
}

impl Regularity {
    /// Stable identifier of the regularity in records: `smooth`, `tied`, `kink`, `jump` or `singular`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth",
            Self::Tied => "tied",
            Self::Kink => "kink",
            Self::Jump => "jump",
            Self::Singular => "singular",
        }
    }
}

impl From<Differentiability> for Regularity {
    fn from(class: Differentiability) -> Self {
        match class {
            Differentiability::Smooth => Self::Smooth,
            Differentiability::Kink => Self::Kink,
            Differentiability::Jump => Self::Jump,
            Differentiability::Tied => Self::Tied,
        }
    }
}

/// One impact of a run (a motion through impacts) whose final state is differentiated. The impact maps small differences of
/// the state before it to differences after it, by the saltation matrix. A simulation adds each impact to a
/// [`Sensitivity`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct SensitivityEvent {
    /// Time of the impact (s).
    pub time: f64,
    /// Saltation matrix $\Xi$ of the continuous flows at this impact (states × states); `None`
    /// unless the impact is smooth.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub saltation: Option<DMatrix<f64>>,
    /// Regularity of the state after the impact as a function of the state before it.
    pub class: Regularity,
    /// Largest relative change of the velocity before the impact (kinetic norm) that changes no decision of the law;
    /// `None` if no such change is proven (see [`Derivative::margin`](crate::Derivative::margin)).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub margin: Option<f64>,
}

impl SensitivityEvent {
    /// Creates a smooth impact at the time `time` (s), without saltation matrix and margin.
    pub fn new(time: f64) -> Self {
        Self {
            time,
            saltation: None,
            class: Regularity::Smooth,
            margin: None,
        }
    }
}

/// Derivative of the final state of a run (a motion through impacts) with respect to the initial state and the
/// parameters of the run. The final time is fixed. A simulation fills this struct: [`add`](Self::add) adds an impact,
/// and [`complete`](Self::complete) stores the derivatives at the end.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Sensitivity {
    /// Derivative with respect to the initial state (states × states); `None` if it does not exist, see
    /// [`reason`](Self::reason).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub d_final_d_initial: Option<DMatrix<f64>>,
    /// Name of each parameter of the run and the derivative with respect to it (one entry per state); empty if the
    /// derivatives do not exist.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub d_final_d_parameters: Vec<(Cow<'static, str>, DVector<f64>)>,
    /// Impacts in the order of time.
    pub events: Vec<SensitivityEvent>,
    /// Worst class of the impacts.
    pub class: Regularity,
    /// Smallest margin of the impacts; `None` if there is no impact, or an impact without a margin.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub margin: Option<f64>,
    /// Reason why there is no derivative, as a stable identifier: `"grazing"`, `"tied"`, `"kink"`, `"jump"`,
    /// `"simultaneous-contacts"`, `"zeno"`, `"established-contact"`, `"max-impacts"`, `"not-differentiated"`,
    /// `"overflow"`, or another reason for which the run stopped.
    pub reason: Option<String>,
}

impl Default for Sensitivity {
    /// Returns the sensitivity of a simulation before its first impact: smooth, without events and derivatives.
    fn default() -> Self {
        Self {
            d_final_d_initial: None,
            d_final_d_parameters: Vec::new(),
            events: Vec::new(),
            class: Regularity::Smooth,
            margin: None,
            reason: None,
        }
    }
}

impl Sensitivity {
    /// Adds the next impact of the run, in the order of time. The regularity of the run becomes the worst of all impacts,
    /// and its margin the smallest. If the impact is not smooth, the run has no derivative.
    pub fn add(&mut self, mut event: SensitivityEvent) {
        let overflows = |saltation: &DMatrix<f64>| !saltation.iter().all(|x| x.is_finite());
        if event.saltation.as_ref().is_some_and(overflows) {
            event.saltation = None;
            self.refuse("overflow");
        }
        event.margin = event.margin.filter(|margin| margin.is_finite());
        self.class = self.class.max(event.class);
        self.margin = if self.events.is_empty() {
            event.margin
        } else {
            self.margin.zip(event.margin).map(|(a, b)| a.min(b))
        };
        match event.class {
            Regularity::Smooth => (),
            Regularity::Tied | Regularity::Kink | Regularity::Jump => {
                self.refuse(event.class.name());
            }
            Regularity::Singular => self.refuse("grazing"),
        }
        self.events.push(event);
    }

    /// Records the reason why the run has no derivative, given as a stable identifier such as `"zeno"`. If several reasons
    /// are recorded, the first one is kept.
    pub fn refuse(&mut self, reason: &str) {
        self.reason.get_or_insert_with(|| reason.to_owned());
    }

    /// True if the run may still have a derivative, because no reason against it has been recorded.
    pub fn is_open(&self) -> bool {
        self.reason.is_none()
    }

    /// Stores the derivatives of the final state of the run. `initial` is the derivative with respect to the initial state
    /// (states × states). `parameters` has the name of each parameter and the derivative with respect to it (one entry per
    /// state). Nothing is stored if a reason against a derivative was recorded before. If a number is not finite, nothing
    /// is stored and [`reason`](Self::reason) becomes `"overflow"`.
    pub fn complete(
        &mut self,
        initial: DMatrix<f64>,
        parameters: Vec<(&'static str, DVector<f64>)>,
    ) {
        let mut entries = initial
            .iter()
            .chain(parameters.iter().flat_map(|(_, column)| column));
        if !entries.all(|x| x.is_finite()) {
            self.refuse("overflow");
        }
        if self.is_open() {
            self.d_final_d_initial = Some(initial);
            self.d_final_d_parameters = parameters
                .into_iter()
                .map(|(name, column)| (name.into(), column))
                .collect();
        }
    }
}
