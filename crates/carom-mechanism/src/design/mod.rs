//! Design of a mechanism and its stance such that a simultaneous impact has one outcome.
//!
//! If two frictionless contacts close together, the order of their impacts is undetermined, and therefore the outcome, unless the
//! cosine of their normals $u$ and $w$ in the kinetic metric,
//!
//! $$ c = \frac{\langle u, w\rangle}{\lVert u\rVert\lVert w\rVert}, \qquad
//!    \langle u, w\rangle = uM^{-1}w^T, $$
//!
//! is one of $-\cos(\pi/m)$, $m = 2, 3, \dots$. For $c = 0$ the two impacts do not affect each other. A mechanism can be designed
//! for that. The unknowns $z$ are lengths and coordinates of the stance, and the equations are
//!
//! $$ F(z) = (\phi_1, \phi_2, c - c^\ast) = 0, $$
//!
//! three equations for many unknowns. [`min_norm_newton`] makes the shortest Newton step in each iteration and ends at a nearby
//! root; [`nearest_root`] ends at the root nearest to the start. Both need the gradient of $c$, which is computed exactly: with
//! $a = M^{-1}u^T$ and $b = M^{-1}w^T$
//!
//! $$ \mathrm{d}\langle u, w\rangle = \mathrm{d}u\thinspace b + \mathrm{d}w\thinspace a -
//!    a^T\mathrm{d}M\thinspace b, \qquad
//!    \mathrm{d}c = \frac{\mathrm{d}\langle u, w\rangle}{\lVert u\rVert\lVert w\rVert} -
//!    \frac c2\left(\frac{\mathrm{d}\langle u, u\rangle}{\langle u, u\rangle} +
//!    \frac{\mathrm{d}\langle w, w\rangle}{\langle w, w\rangle}\right) . $$
//!
//! | type | meaning |
//! | --- | --- |
//! | [`DesignFamily`] | mechanisms and stances that depend on unknowns $z$ |
//! | [`PairAngle`] | gaps and cosine of two contacts, with their gradients with respect to $z$ |
//! | [`ClosedPair`] | the equations $F(z) = 0$ |
//! | [`Equations`] | trait of equations with bounds, for the solvers |
//!
//! Seghete & Murphey, *A propagative model of simultaneous impact*, Secs. V and VII-B. The paper says "a classic root finding
//! algorithm for underconstrained systems" and prints $c$ to $2\cdot10^{-7}$; both algorithms here converge to rounding error.

mod equations;
mod family;
mod solve;

pub use equations::{Bound, Equations};
pub use family::{ClosedPair, DesignFamily, DesignPoint, Influence, PairAngle};
pub use solve::{Root, RootOptions, min_norm_newton, nearest_root};
