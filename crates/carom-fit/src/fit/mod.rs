//! Fits of impact laws to measured impacts: from states to a record.

mod analysis;
mod bootstrap;
mod case;
mod contacts;
mod figures;
mod law_fit;
pub(crate) mod likelihood;
mod model;
mod options;
mod parameter;
mod record;
mod rule;
mod sentences;
pub(crate) mod simplex;
mod surrogate;

pub use analysis::{Analysis, Bound, Request};
pub use law_fit::{Estimate, GroupFits, HeldOut, LawFit, PartFit, Score, Variation};
pub use likelihood::log_density;
pub use options::FitOptions;
pub use parameter::{Coefficient, Parameter, Parameters};
pub use rule::Rule;
