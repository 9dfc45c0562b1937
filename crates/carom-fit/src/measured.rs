//! Measured impacts with all that a fit needs to know of where they come from.

use crate::fit::Parameters;
use crate::poses::Gravity;
use crate::states::State;
use crate::system::System;
use carom_report::record::Quantity;
use serde_json::{Map, Value};

/// Measured impacts of a system, as [`DataSetup::read`](crate::DataSetup::read) returns them.
#[derive(Clone, Debug)]
pub struct Measured {
    pub(crate) system: System,
    /// Impacts in the order of the file.
    pub(crate) states: Vec<State>,
    /// Results of the reader of poses, if the file has poses.
    pub(crate) origin: Option<Origin>,
    /// Number of impacts of which these are a sample, if they are one.
    pub(crate) sampled: Option<usize>,
    /// Sentences about the file that a reader should know.
    pub notes: Vec<String>,
}

/// Results of the reader of poses.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// Counts of poses and episodes.
    pub(crate) data: Map<String, Value>,
    /// Noise and plane.
    pub(crate) results: Map<String, Value>,
    /// Further entries of each impact.
    pub(crate) impacts: Vec<Map<String, Value>>,
    /// Gravity and plane.
    pub(crate) quantities: Vec<Quantity>,
    /// Published parameters.
    pub(crate) published: Option<Parameters>,
    /// Words for what was found if that is too little.
    pub(crate) too_few: String,
    /// Gravity, if it was estimated.
    pub(crate) gravity: Option<Gravity>,
}

impl Measured {
    pub(crate) fn new(system: System, states: Vec<State>, origin: Option<Origin>) -> Self {
        Self {
            system,
            states,
            origin,
            sampled: None,
            notes: Vec::new(),
        }
    }

    /// Returns the measured impacts in the order of the file.
    #[must_use]
    pub fn states(&self) -> &[State] {
        &self.states
    }

    pub(crate) fn gravity(&self) -> Option<&Gravity> {
        self.origin.as_ref()?.gravity.as_ref()
    }

    /// Returns words for the number of impacts if they are too few for a fit.
    #[must_use]
    pub fn too_few(&self) -> String {
        let states = || self.states.len().to_string();
        self.origin
            .as_ref()
            .map_or_else(states, |o| o.too_few.clone())
    }
}
