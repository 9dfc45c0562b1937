//! Rotations and rigid motions: the groups SO(3) and SE(3).
//!
//! The attitude of a rigid body is a rotation $R$ from the body frame to the space frame, its configuration the pair
//! $(R, x)$ with the position $x$. Both form smooth groups: near the identity such a group looks like its
//! tangent space, and the exponential map takes tangent vectors to group elements,
//!
//! $$ \exp: \mathbb{R}^3 \to SO(3), \quad \exp(\phi) = I + \tfrac{\sin\theta}{\theta}S(\phi) +
//!   \tfrac{1-\cos\theta}{\theta^2}S(\phi)^2, \quad \theta = \lvert\phi\rvert. $$
//!
//! The Cayley map is an alternative without trigonometry, $\mathrm{cay}(f) = (I - S(f))^{-1}(I + S(f))$.
//! The Jacobians $J_l$, $J_r$ relate a small change of the coordinates to the change of the group element,
//!
//! $$ \exp(\phi + \delta) \approx \exp(J_l(\phi)\delta)\exp(\phi) \approx
//!   \exp(\phi)\exp(J_r(\phi)\delta). $$
//!
//! # Conventions
//!
//! | subject | convention |
//! | --- | --- |
//! | rotation | [`So3`] maps body vectors to space: $v_w = R v_b$; the product `a.compose(&b)` is $ab$, first $b$ |
//! | hat, vee | $S(a)b = a \times b$, $S(a)^\vee = a$: [`hat`], [`vee`] |
//! | nalgebra | `From` both ways: [`So3`] with `UnitQuaternion` and `Rotation3`, [`Se3`] with `Isometry3`; `a * b` is `a.compose(&b)` |
//! | storage | unit quaternion $w + v$, renormalized by every product; $q$ and $-q$ are the same rotation |
//! | rotation vector | $\phi = \theta e$ in rad, with the unit axis $e$; `log` returns $\theta \le \pi$ |
//! | Cayley vector | $f = \tan(\theta/2) e$, so $\phi \approx 2f$: the quaternion is $(1, f)/\sqrt{1+\lvert f\rvert^2}$ |
//! | rigid motion | [`Se3`] is $\rho \mapsto R\rho + x$ |
//! | twist | translation first: $\xi = (u, \phi)$, length 6 |
//! | rate, body or space | $\dot R = R S(\Omega) = S(\omega) R$, $\omega = R\Omega$ |
//! | adjoint | $g\exp(\xi)g^{-1} = \exp(\mathrm{Ad}_g\xi)$ |
//! | Jacobians | left ($J_l$): in the space frame; right ($J_r(\phi) = J_l(-\phi)$): in the body frame |
//! | variation, momentum | in the body frame: $\delta R = R S(\zeta)$, momenta are dual to $(\delta x, \zeta)$ |
//!
//! # Accuracy
//!
//! Every function is accurate to a few units in the last place for all angles. Coefficients like
//! $(\theta - \sin\theta)/\theta^3$ are summed as series if their closed form would cancel, and the
//! logarithm is $2 \mathrm{atan2}(\lvert v\rvert, w)$, which is accurate at 0 and at $\pi$.
//!
//! # Examples
//!
//! ```
//! use carom_lie::So3;
//! use carom_lie::nalgebra::Vector3;
//!
//! fn main() {
//!     // A quarter turn about z takes x to y; the logarithm gives the rotation vector back.
//!     let quarter = Vector3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2);
//!     let rotation = So3::exp(&quarter);
//!     assert!((rotation.rotate(&Vector3::x()) - Vector3::y()).norm() < 1e-15);
//!     assert!((rotation.log() - quarter).norm() < 1e-15);
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod coefficients;
mod convert;
mod error;
mod group;
mod hat;
mod se3;
mod so3;
#[cfg(test)]
mod testing;
mod tolerances;

pub use error::LieError;
pub use group::LieGroup;
pub use hat::{asym, hat, sym, vee};
pub use se3::Se3;
pub use so3::{ROTATION_TOLERANCE, So3};

// Crates whose types stand in signatures here.
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
