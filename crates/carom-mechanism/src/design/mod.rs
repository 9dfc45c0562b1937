//! Designing a mechanism and its stance so that a simultaneous impact has one outcome.
//!
//! Two frictionless contacts that close together leave the order of their impacts open, and with
//! it the outcome, unless the cosine of their normals in the kinetic metric,
//!
//! $$ c = \frac{\langle u, w\rangle}{\lVert u\rVert\lVert w\rVert}, \qquad
//!    \langle u, w\rangle = uM^{-1}w^T, $$
//!
//! is one of $-\cos(\pi/m)$, $m = 2, 3, \dots$; for $c = 0$ the two impacts do not see each other. A
//! mechanism can be designed for that: with the free numbers $z$, lengths as well as coordinates of
//! the stance, one asks for
//!
//! $$ F(z) = (\phi_1, \phi_2, c - c^\ast) = 0, $$
//!
//! three equations for many unknowns. [`min_norm_newton`] takes the shortest Newton step each time
//! and ends at some root nearby; [`nearest_root`] at the one nearest to the start. Both need the
//! gradient of $c$, which is exact here: with $a = M^{-1}u^T$ and $b = M^{-1}w^T$
//!
//! $$ \mathrm{d}\langle u, w\rangle = \mathrm{d}u\thinspace b + \mathrm{d}w\thinspace a -
//!    a^T\mathrm{d}M\thinspace b, \qquad
//!    \mathrm{d}c = \frac{\mathrm{d}\langle u, w\rangle}{\lVert u\rVert\lVert w\rVert} -
//!    \frac c2\left(\frac{\mathrm{d}\langle u, u\rangle}{\langle u, u\rangle} +
//!    \frac{\mathrm{d}\langle w, w\rangle}{\langle w, w\rangle}\right) . $$
//!
//! | type | is |
//! | --- | --- |
//! | [`DesignFamily`] | mechanisms and stances that depend on numbers $z$ |
//! | [`PairAngle`] | gaps and cosine of two contacts, with their gradients by $z$ |
//! | [`ClosedPair`] | the equations $F(z) = 0$ |
//! | [`Equations`] | any equations with bounds, which the solvers take |
//!
//! Seghete & Murphey, *A propagative model of simultaneous impact*, Secs. V and VII-B. The paper
//! says "a classic root finding algorithm for underconstrained systems" and prints $c$ to
//! $2\cdot10^{-7}$; both algorithms here end at rounding.

mod equations;
mod family;
mod solve;

pub use equations::{Bound, Equations};
pub use family::{ClosedPair, DesignFamily, DesignPoint, Influence, PairAngle};
pub use solve::{Root, RootOptions, min_norm_newton, nearest_root};
