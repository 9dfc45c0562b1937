//! Joints of rigid bodies in space: constraint rows, impulses at linear cost, and time steps on SE(3).
//!
//! Bodies fly freely between *kicks*, in which the impulses of the joints act: the step is RATTLE with the joints as equality
//! constraints,
//!
//! 1. $v \leftarrow v + M^{-1}(J_0^T\Lambda_0 + \tfrac h2S_0^T\tau_0)$, with $\Lambda_0$ such that the joints are closed at the
//!    end;
//! 2. the free flight of every body;
//! 3. $v \leftarrow v + M^{-1}(J_1^T\Lambda_1 + \tfrac h2S_1^T\tau_1)$ with $J_1v = 0$.
//!
//! Here $h$ is the length of the step, $M$ the mass matrix, $J$ the rows of the joint conditions with impulses $\Lambda$, and $S$
//! the rows of the coordinate rates with forces $\tau$ of springs, dampers, friction and actuators.
//!
//! | module | holds |
//! | --- | --- |
//! | [`kinds`] | the types of joints: conditions, coordinates, one file each |
//! | [`frames`] | frames in bodies, rows of forces and couples |
//! | [`joint`] | a joint, checked |
//! | [`coordinates`] | springs, dampers, dry friction, rotors, limits, actuators |
//! | [`tree`] | the spanning tree; the other joints close loops |
//! | [`elimination`] | impulses in linear time |
//! | [`minimal`] | velocities that the joints allow, in coordinates of their own |
//! | [`multibody`] | bodies and joints together, and how they are assembled |
//! | [`step`] | one step |
//!
//! Events, impacts and contacts are in `carom-world`. Leimkuhler & Skeel, *Symplectic numerical integrators in
//! constrained Hamiltonian systems*, J. Comput. Phys. 112 (1994).
//!
//! # Examples
//!
//! ```
//! use carom_joints::kinds::Kind;
//!
//! fn main() {
//!     let hinge = Kind::named("revolute").map(|kind| (kind.conditions.len(), kind.coordinates.len()));
//!     assert_eq!(hinge, Some((5, 1)));
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod assembly;
mod closing;
pub mod coordinates;
pub mod elimination;
mod error;
pub mod frames;
pub mod joint;
#[cfg(feature = "serde")]
mod kind_name;
pub mod kinds;
pub mod minimal;
pub mod multibody;
mod springs;
pub mod step;
pub mod tree;

pub use assembly::{Assembly, Placed};
pub use error::JointError;
pub use joint::{BallSpec, Joint, JointSpec};
pub use multibody::{Multibody, MultibodySpec, Posture};

// Crates whose types appear in signatures of this crate.
pub use carom_lie as lie;
pub use carom_variational as variational;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
