//! One instant of contact: the problem that every impact law solves, and the checks that every answer must pass (the gate).
//!
//! At an impact the configuration stands still and mechanics is linear algebra on one tangent
//! space: a mass matrix $M$, contact rows $J$ (normals and tangents), the velocity $v^-$ before,
//! and impulses $\Lambda$ on the rows that make the velocity after,
//!
//! $$ v^+ = v^- + M^{-1}J^T\Lambda, \qquad b^+ = b^- + G\Lambda, \quad b = Jv,\ G = JM^{-1}J^T. $$
//!
//! This crate contains no impact law. The laws are in `carom-impact`; a law of your own implements [`ImpactLaw`].
//!
//! 1. A [`KineticMetric`](carom_metric::KineticMetric), [`Contact`]s and constraint one-forms (if any) make a
//!    [`ContactSet`], once per configuration. Its rows are normalized to unit kinetic length, and duplicates are merged.
//! 2. A velocity turns the set into an [`ImpactProblem`], in whitened coordinates and multiplied by a power of two.
//! 3. A law computes impulses on the caller's rows, and states which [`Rules`] of the gate its answer must obey.
//! 4. [`ImpactProblem::outcome`] converts them to a velocity. It judges the answer and never corrects it: it returns an
//!    [`ImpactOutcome`] or the [`GateRule`] that is broken.
//! 5. Every outcome carries an [`Audit`] of energy, momentum, penetration, adhesion, friction and
//!    constraints, computed from the problem and the outcome alone, and the number of correct digits of the velocity.
//!
//! # Examples
//!
//! ```
//! use carom_contact::metric::{Covector, KineticMetric, Tangent};
//! use carom_contact::nalgebra::DMatrix;
//! use carom_contact::{Contact, ContactSet, GateRule, ImpactError, ImpactProblem, Rules};
//!
//! fn main() -> Result<(), ImpactError> {
//!     // A ball of 2 kg falls onto the floor at 3 m/s.
//!     let metric = KineticMetric::new(DMatrix::from_element(1, 1, 2.0))?;
//!     let floor = Contact::frictionless(Covector::from_slice(&[1.0]));
//!     let contacts = ContactSet::new(&metric, vec![floor])?;
//!     let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-3.0]))?;
//!     // The impulse that stops it is an outcome: 6 N·s, and all of its 9 J are lost.
//!     let outcome = problem.outcome(&[6.0], &Rules::FRICTIONLESS)?;
//!     assert!((outcome.audit.energy_change_j() + 9.0).abs() < 1e-14);
//!     // Half of it is refused: the ball still falls.
//!     let refused = problem.outcome(&[3.0], &Rules::FRICTIONLESS);
//!     assert!(matches!(refused, Err(ImpactError::Inaccurate { rule: GateRule::Approach, .. })));
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod audit;
mod basis;
mod breach;
mod candidate;
mod constraints;
mod contact;
mod digits;
mod error;
mod friction_cone;
mod gate;
mod index;
#[doc(hidden)]
pub mod internal;
mod law;
mod ledger;
mod margin;
mod momentum_change;
mod numbers;
mod outcome;
mod problem;
mod residual_scale;
mod selection;
mod span;
mod tolerances;
mod unsolved;

pub use audit::{Audit, audit};
pub use breach::GateRule;
pub use contact::{Contact, ContactSet};
pub use digits::{MARKED_DIGITS, REFUSED_DIGITS};
pub use error::ImpactError;
pub use friction_cone::FrictionCone;
pub use gate::{Rules, Work};
pub use index::{ContactIndex, RowIndex, UnitRow};
pub use law::{ImpactLaw, SetValuedLaw};
pub use margin::Margin;
pub use numbers::Numbers;
pub use outcome::{
    ConeDiagnostics, Diagnostics, DrawnOrders, FrictionalDiagnostics, ImpactOutcome, ImpactStatus,
    NonholonomicDiagnostics, OutcomeSet, PoissonDiagnostics, PolygonDiagnostics,
    PropagativeDiagnostics, Warning,
};
pub use problem::ImpactProblem;
pub use selection::ConeSelection;
pub use unsolved::{Limit, Unsolved};

// Crates whose types occur in signatures of this crate.
pub use carom_lcp as lcp;
pub use carom_metric as metric;
pub use carom_two_body as two_body;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
