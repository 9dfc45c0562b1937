//! Planar trees of rigid links.
//!
//! Every link moves relative to its parent, or to the ground, by one coordinate: a hinge rotates it ($q$ an angle), a slider
//! translates it along a line ($q$ a length). A free body is two sliders and a hinge. Bodies, springs, dampers, actuators and
//! contacts are attached to links. [`PlanarBuilder`] collects them and builds a [`PlanarMechanism`], which is a
//! [`MechanicalSystem`](crate::MechanicalSystem) with exact derivatives.
//!
//! # Why the derivatives are short
//!
//! Let $S$ be the quarter turn, $Sx = (-x_2, x_1)$. A point $x$ beyond the hinge $l$ at $o_l$, or beyond the slider $l$ with
//! direction $a_l$, moves by
//!
//! $$ \frac{\partial x}{\partial q_l} = S(x - o_l) \quad\text{or}\quad a_l, \qquad
//!    \frac{\partial^2x}{\partial q_k\partial q_l} = S\frac{\partial x}{\partial q_l}
//!    \quad\text{or}\quad 0 $$
//!
//! where $k$ is on the path from $l$ to the ground, $l$ included: a hinge $k$ rotates everything beyond it, a slider does not.
//! For velocities
//!
//! $$ \frac{\partial\dot x}{\partial q_l} = S\dot x + g_l, \quad g_l = -S\dot o_l
//!    \quad\text{or}\quad \frac{\partial\dot x}{\partial q_l} = g_l, \quad g_l = \omega_lSa_l . $$
//!
//! Let $m_l$, $s_l$, $J_l$ be mass, first and second moment about $o_l$ of everything beyond $l$, and $P_l$ the momentum of these
//! links. One pass over the tree computes them all. Since $\dot x\cdot S\dot x = 0$,
//!
//! $$ \frac{\partial T}{\partial q_l} = P_l\cdot g_l, \qquad
//!    \frac{\partial^2T}{\partial q_k\partial q_l} = g_k\cdot h_l, \qquad
//!    h_l = \frac{\partial P_l}{\partial q_l} = SP_l + m_lg_l \quad\text{or}\quad m_lg_l, $$
//!
//! and with $d = o_l - o_k$ the entries of $M$ and of $B = \partial(Mv)/\partial q$ between two
//! hinges are
//!
//! $$ M_{kl} = J_l + d\cdot s_l, \qquad B_{kl} = d\times h_l + s_l\times g_l, \qquad
//!    B_{lk} = s_l\times g_k. $$
//!
//! Each entry costs a few operations, so that the computing time is proportional to the number of pairs of links on a common path
//! to the ground. Mechanisms with up to twelve links need no allocation.
//!
//! # Units
//!
//! Any consistent set of units. The papers' robot is in cm, g, s.

mod blade;
mod builder;
mod drive;
mod frames;
mod inertia;
mod line;
mod mechanism;
mod variation;
mod vector;

pub use blade::Blade;
pub use builder::{LineContact, Link, PlanarBuilder};
pub use drive::{Actuator, Reference, Spring};
pub use inertia::Inertia;
pub use line::Line;
pub use mechanism::PlanarMechanism;
pub use variation::Variation;
