//! Mechanical systems given by formulas.
//!
//! A [`FormulaSystem`] is described by texts: the entries of its mass matrix, its potential, its forces, the gaps and slide
//! coordinates of its contacts, and the rows of its velocity constraints ([`FormulaRates`]). The formulas are expressions of the
//! coordinates and of named parameters ([`Symbols`]); all derivatives are exact.

mod symbols;
mod system;

pub use symbols::Symbols;
pub use system::{FormulaContact, FormulaRates, FormulaSystem};
