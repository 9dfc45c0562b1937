//! Impact laws: they change velocities at one instant. Time and shapes are no part of this crate.
//!
//! At an impact the configuration stands still and mechanics is linear algebra on one tangent
//! space: a mass matrix $M$, contact rows $J$ (normals and tangents), the velocity $v^-$ before,
//! and impulses $\Lambda$ on the rows that make the velocity after,
//!
//! $$ v^+ = v^- + M^{-1}J^T\Lambda, \qquad b^+ = b^- + G\Lambda, \quad b = Jv,\ G = JM^{-1}J^T. $$
//!
//! A law works in contact space only, on the Delassus matrix $G$ and the contact velocities $b$. The size of the system
//! matters only when the problem is posed and when $v^+$ is computed.
//!
//! 1. A [`KineticMetric`](carom_metric::KineticMetric), [`Contact`]s and constraint one-forms (if any) make a
//!    [`ContactSet`], once per configuration.
//! 2. A velocity turns the set into an [`ImpactProblem`].
//! 3. An [`ImpactLaw`] returns an [`ImpactOutcome`], a [`SetValuedLaw`] an [`OutcomeSet`].
//! 4. Every outcome carries an [`Audit`] of energy, momentum, penetration, adhesion, friction and
//!    constraints, computed from the problem and the outcome alone.
//!
//! | law | answers | energy |
//! | --- | --- | --- |
//! | [`Propagative`] | chains of elastic reflections, in all orders | conserved, or reduced by an energetic restitution |
//! | [`Plastic`] | projection onto the feasible cone or onto all contacts | smallest possible |
//! | [`MoreauNewton`], [`AnitescuPotra`] | all frictional
//! contacts at once | lost to friction and impact |
//! | [`Poisson`] | all frictional contacts at once, compression and expansion | lost to friction
//! and impact |
//! | [`Sequential`] | frictional contacts one at a time | lost to friction and impact |
//! | [`SetValued`] | random samples of frictional contacts whose impacts overlap | lost to
//! friction and impact |
//! | [`Routh`] | one contact with Coulomb friction, in the plane or in space | lost to friction and restitution |
//! | [`TwoBody`] | one contact of two rigid bodies in space, as [`Routh`] | lost to friction and restitution |
//! | [`Nonholonomic`] | one contact under constraints, by its [`Restitution`] | conserved or lost, never gained |
//! | [`Rough`] | a contact that sticks, normal and tangents | conserved or lost, never gained |
//!
//! # Examples
//!
//! ```
//! use carom_impact::metric::{Covector, KineticMetric, Tangent};
//! use carom_impact::nalgebra::{DMatrix, DVector};
//! use carom_impact::{Contact, ContactSet, ImpactError, ImpactProblem, Propagative, SetValuedLaw};
//!
//! fn main() -> Result<(), ImpactError> {
//!     // Three balls in a row, the middle one lighter.
//!     let metric = KineticMetric::new(DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.5, 3.0])))?;
//!     let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]].map(|u| Covector::from_slice(&u));
//!     let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
//!     let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, -1.0]))?;
//!     let set = Propagative::default().resolve_all(&problem)?;
//!     // Both orders of impact keep the energy, and disagree.
//!     assert_eq!(set.outcomes.len(), 2);
//!     assert!(set.outcomes.iter().all(|o| o.audit.energy_change_j().abs() < 1e-14));
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod frictional;
#[doc(hidden)]
pub mod internal;
mod laws;
mod nonholonomic;
mod plastic;
mod propagative;
mod restitution;
mod routh;
mod tolerances;
mod uniqueness;

pub use frictional::{AnitescuPotra, MoreauNewton, Poisson, Sequential, SetValued};
pub use laws::{
    ContactCount, ContactKeys, LAWS, Law, LawInfo, NonholonomicElastic, NonholonomicNewton,
    NonholonomicProjected, NonholonomicProjectedNewton, OptionInfo, Outcomes,
};
pub use nonholonomic::{Nonholonomic, Restitution, Rough};
pub use plastic::{Plastic, PlasticRule};
pub use propagative::{Propagative, Selection, SequenceFilter};
pub use restitution::EnergeticRestitution;
pub use routh::{ContactMode, Routh, TwoBody};
pub use uniqueness::{PairUniqueness, Uniqueness, uniqueness};

// Problem and outcome types of all laws, so that users need no second dependency.
pub use carom_contact::{
    Audit, ConeDiagnostics, Contact, ContactSet, Diagnostics, DrawnOrders, FrictionalDiagnostics,
    GateRule, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus, Limit,
    NonholonomicDiagnostics, OutcomeSet, PoissonDiagnostics, PolygonDiagnostics,
    PropagativeDiagnostics, Rules, SetValuedLaw, Unsolved, Warning, Work,
};

// Crates whose types occur in signatures of this crate.
pub use carom_contact as contact;
pub use carom_lcp as lcp;
pub use carom_metric as metric;
pub use carom_two_body as two_body;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
