//! Two-body frictional impact in three dimensions: Coulomb friction and restitution at one contact.
//!
//! The bodies enter only through the inverse inertia matrix $W$ of the contact ([`ContactInertia`]) and the contact
//! velocity $v = (\gamma, v_z)$: sliding velocity and normal velocity. The normal impulse $I_z$ plays the role of time
//! (Jia & Wang, *Analysis and computation of two body impact in three dimensions*):
//!
//! $$ \gamma' = d + B I_\perp', \qquad v_z' = w_{zz} + d\cdot I_\perp', \qquad E' = -v_z, $$
//!
//! with $I_\perp' = -\mu\gamma/|\gamma|$ for sliding, $-B^{-1}d$ for sticking (possible if $|B^{-1}d| \le \mu$), and
//! otherwise $-\mu s_c$ along the single centrifugal direction $s_c$. Here $B$, $d$ and $w_{zz}$ are the blocks of $W$,
//! $\mu$ is the friction coefficient, $E$ the elastic energy stored at the contact, and a prime is a derivative with
//! respect to $I_z$. Compression ends at $v_z = 0$; the impact ends after restitution has released as much as its law
//! allows.
//!
//! Every impact ends: $(v_z - \mu|\gamma|)' = u^TWu \ge k_s > 0$ with $u = (I_\perp', 1)$ in every phase, where $k_s$ is
//! the normal inverse inertia of a sticking contact. This bounds the normal impulse by $2(|v_z^-| + \mu|\gamma^-|)/k_s$.
//!
//! | function | answers |
//! | --- | --- |
//! | [`solve_impact`] | impulse, velocity after, events, energies |
//! | [`trace_impact`] | the curves that the impact follows |
//! | [`invariant_directions`] | directions in which sliding stays |
//! | [`compliant_impact`] | impact with a tangential spring at the contact |
//!
//! [`BodyPair`] computes mass matrix, velocity and contact rows of two rigid bodies. In `carom-impact` the law `TwoBody`
//! solves them as an impact problem, and the law `Routh` solves one contact of any system.
//!
//! # Examples
//!
//! ```
//! use carom_two_body::nalgebra::{Matrix3, Vector3};
//! use carom_two_body::{ContactInertia, ContactResponse, ImpactOptions, TwoBodyError, solve_impact};
//!
//! fn main() -> Result<(), TwoBodyError> {
//!     // A homogeneous ball of 1 kg, and the floor: sideways it is 7/2 as mobile as along the normal.
//!     let inertia = ContactInertia::from_matrix(&Matrix3::from_diagonal(&Vector3::new(3.5, 3.5, 1.0)))?;
//!     let velocity = Vector3::new(1.0, 0.0, -2.0);
//!     let (friction, restitution) = (0.3, 0.5);
//!     let answer = solve_impact(&inertia, &velocity, friction, restitution, &ImpactOptions::default())?;
//!     let ContactResponse::Impact(impact) = answer else { unreachable!() };
//!     // It rebounds with half the speed, and rolls: the sliding velocity has become zero.
//!     assert!((impact.velocity_plus - Vector3::new(0.0, 0.0, 1.0)).norm() < 1e-15);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod arc;
mod arc_variation;
mod bodies;
mod compliance;
mod error;
mod events;
mod flow;
mod impact;
mod inertia;
mod invariant;
mod line;
mod options;
mod ray;
mod recorder;
mod series;
mod solve;
mod state;
mod tail;
mod tail_variation;
mod tolerances;
mod trace;
mod variation;

pub use bodies::{BodyPair, RigidBody};
pub use compliance::{CompliantImpact, CompliantPhase, compliant_impact};
pub use error::TwoBodyError;
pub use events::{Event, EventPoint, Events, TraceMode};
pub use impact::{ContactImpact, ContactResponse, solve_impact};
pub use inertia::ContactInertia;
pub use invariant::{InvariantDirection, InvariantDirections, invariant_directions};
pub use options::{ImpactOptions, Recompression, RestitutionLaw};
pub use solve::FinalMode;
pub use trace::{Trace, TracePoint, trace_impact};
pub use variation::{PARAMETERS, VariedImpact, inertia_entries, vary_impact};

// Crates whose types appear in signatures of this crate.
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
