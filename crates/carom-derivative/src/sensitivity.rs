//! Derivatives of runs through impacts, whatever moves between them.
//!
//! A run maps its initial state to its final one, at a fixed time. Where every impact is crossed
//! transversally and its law is smooth there, so is the run, and its derivative is a product of
//! those of its flights and impacts. The crates that run things fill a [`Sensitivity`].

use crate::Differentiability;
use nalgebra::{DMatrix, DVector};

/// Regularity of a final state as a function of the initial one. The worst of the impacts counts, and it is the
/// largest in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regularity {
    /// The Jacobian is the derivative.
    Smooth,
    /// The final state is continuous, its derivative is not.
    Kink,
    /// The final state itself jumps.
    Jump,
    /// An impact grazes: the derivative grows without bound.
    Singular,
}

impl Regularity {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth",
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
        }
    }
}

/// An impact of a run, as a map of small differences.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityEvent {
    /// Time (s).
    pub time: f64,
    /// Saltation matrix $\Xi$ of the continuous flows at this impact (states × states); `None`
    /// unless the impact is smooth.
    pub saltation: Option<DMatrix<f64>>,
    /// Regularity of the state after as a function of the state before.
    pub class: Regularity,
    /// Part of the velocity before (kinetic norm) by which it can change without a decision of the law; `None`
    /// where none is proven (see [`Derivative::margin`](crate::Derivative::margin)).
    pub margin: Option<f64>,
}

/// The derivative of the final state of a run, at its fixed final time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// Derivative by the initial state (states × states); `None` where it does not exist, see
    /// [`reason`](Self::reason).
    pub d_final_d_initial: Option<DMatrix<f64>>,
    /// Derivatives by the parameters of the run, with their names (states each); empty where they do not exist.
    pub d_final_d_parameters: Vec<(&'static str, DVector<f64>)>,
    /// The impacts in their order.
    pub events: Vec<SensitivityEvent>,
    /// The worst class of the impacts.
    pub class: Regularity,
    /// The least margin of the impacts; `None` if there is no impact, or one without a margin.
    pub margin: Option<f64>,
    /// Why there is no derivative, as a stable identifier: `"grazing"`, `"kink"`, `"jump"`,
    /// `"simultaneous-contacts"`, `"zeno"`, `"established-contact"`, `"max-impacts"`,
    /// `"not-differentiated"`, `"overflow"`, or how else the run stopped.
    pub reason: Option<String>,
}

impl Default for Sensitivity {
    /// Sensitivity of a run in which nothing has happened yet.
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
    /// Adds an impact: class and margin are the worst of all, and one that is not smooth leaves the
    /// run without a derivative.
    pub fn add(&mut self, mut event: SensitivityEvent) {
        let overflows = |saltation: &DMatrix<f64>| !saltation.iter().all(|x| x.is_finite());
        if event.saltation.as_ref().is_some_and(overflows) {
            event.saltation = None;
            self.refuse("overflow");
        }
        event.margin = event.margin.filter(|margin| margin.is_finite());
        self.class = self.class.max(event.class);
        self.margin = match self.events.is_empty() {
            true => event.margin,
            false => self.margin.zip(event.margin).map(|(a, b)| a.min(b)),
        };
        match event.class {
            Regularity::Smooth => (),
            Regularity::Kink | Regularity::Jump => self.refuse(event.class.name()),
            Regularity::Singular => self.refuse("grazing"),
        }
        self.events.push(event);
    }

    /// Says why there is no derivative; the first reason stands.
    pub fn refuse(&mut self, reason: &str) {
        self.reason.get_or_insert_with(|| reason.to_owned());
    }

    /// True if nothing has been found yet that leaves the run without a derivative.
    pub fn is_open(&self) -> bool {
        self.reason.is_none()
    }

    /// Completes the derivative, by the initial state and by the parameters; without one, and with
    /// [`reason`](Self::reason) `"overflow"`, if a number is not finite.
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
            self.d_final_d_parameters = parameters;
        }
    }
}
