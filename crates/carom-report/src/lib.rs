//! Report of a run as plain data, and its output for people and programs.
//!
//! A [`Record`] holds quantities, tables, figures and animations; it computes nothing. [`export`]
//! writes it as JSON, CSV, SVG and HTML and knows no mechanics. [`input`] reads files of a user up to a limit.
//!
//! # Examples
//!
//! ```
//! use carom_report::Record;
//! use carom_report::record::Quantity;
//!
//! let mut record = Record::new("drop", "A ball falls from one meter.");
//! record.quantities.push(Quantity::new("time_s", 0.4516, "s"));
//! assert!(carom_report::export::summary(&record).contains("0.4516"));
//! assert!(carom_report::export::json(&record)?.contains("\"time_s\""));
//! # Ok::<(), carom_report::export::ExportError>(())
//! ```

mod account;
pub mod animation;
pub mod compare;
pub mod export;
pub mod input;
pub mod record;

pub use account::Account;
pub use record::Record;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
