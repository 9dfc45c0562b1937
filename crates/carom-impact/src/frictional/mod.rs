//! Simultaneous inelastic impact with Coulomb friction.
//!
//! All laws here solve complementarity problems in contact space. The friction cone
//! $\lVert\lambda_t\rVert \le \mu\lambda_n$ stays round, or is replaced by a polygon (exact in the plane), which gives
//! the linear complementarity problem
//!
//! $$ 0 \le \lambda_n \perp b_n^+ \ge 0, \quad 0 \le \lambda_D \perp b_D^+ + E\gamma \ge 0, \quad
//! 0 \le \gamma \perp \mu\lambda_n - E^T\lambda_D \ge 0, \qquad b^+ = b + G\Lambda. $$
//!
//! with the normal impulses $\lambda_n$, the impulses $\lambda_D$ along the directions of the polygons, the contact
//! velocities $b$ before and $b^+$ after, and the Delassus matrix $G$. The multipliers $\gamma$ are the sliding speeds,
//! one per contact; $E$ assigns each direction to a contact.
//!
//! | law | answers |
//! | --- | --- |
//! | [`AnitescuPotra`] | all contacts at once, without restitution; [`all_simultaneous`] finds every outcome |
//! | [`MoreauNewton`] | all contacts at once, with Newton's restitution per contact |
//! | [`Poisson`] | compression and expansion of all contacts at once; energy must not grow |
//! | [`Sequential`] | one contact at a time, in a given order |
//! | [`SetValued`] | random samples of the outcomes of contacts whose impacts overlap in any way |
//!
//! # The set of outcomes
//!
//! The outcome of a simultaneous impact depends on which contact pushes first, and rigid-body mechanics does not determine
//! that. Halm and Posa let the velocity follow the differential inclusion
//!
//! $$ \dot v \in M^{-1}\operatorname{conv} \bigcup_{i: b_{n,i}\le 0} F_i(v), \qquad
//! F_i(v) = J_{n,i}^T - \mu_i J_{t,i}^T \operatorname{Unit}(J_{t,i}v), $$
//!
//! in which the time $s$ is the sum of the normal impulses, until no contact approaches. $J_{n,i}$ and $J_{t,i}$ are the
//! rows of contact $i$, and $\operatorname{Unit}(x) = x/\lVert x\rVert$; for $x = 0$ it is any vector of length at most 1.
//!
//! One step of the inclusion is the problem above with an upper bound (a *cap*) on every normal
//! impulse. After a step a contact is open, closed or saturated ($\lambda_n = \lambda_{\max}$, still approaching). A
//! sequence of steps with random caps draws one outcome ([`Sampler`]).
//!
//! With the kinetic energy $K$, multipliers $\beta$ of the caps and the velocity $v'$ after the step, every step satisfies
//!
//! $$ K(v') - K(v) = -\tfrac12\lVert v'-v\rVert_M^2 - \lambda_n^T\mu\gamma - \beta^T\lambda_{\max}, $$
//!
//! so kinetic energy never grows. If no admissible impulses balance each other
//! ([`TerminationBounds::pointedness`] positive), every impact ends, and bounds of its length can be computed.
//!
//! Halm & Posa, *Set-valued rigid-body dynamics for simultaneous, inelastic, frictional impacts*;
//! Anitescu & Potra, *Formulating dynamic multi-rigid-body contact problems with friction as
//! solvable linear complementarity problems*, 1997.

mod ambiguous;
mod bounds;
pub(crate) mod canonical;
pub(crate) mod choice;
mod cone_shape;
mod cones;
mod contradiction;
mod default_cap;
mod end_mode;
mod first_steps;
pub(crate) mod impact_stepper;
mod modes;
mod painleve;
mod parts;

pub(crate) mod planar_contact;
mod poisson;
pub(crate) mod polygon;
pub(crate) mod probe;
mod refuted;
mod regular;

mod rounding;
mod sampled;
pub(crate) mod sampler;
mod samples;
pub(crate) mod sequential;
pub(crate) mod set_valued;
mod simultaneous;
pub(crate) mod space;
pub(crate) mod stepper;

pub use bounds::TerminationBounds;
pub use carom_contact::ConeSelection;
pub use carom_contact::FrictionCone;
pub use carom_lcp::contact_problem::ContactMode;
pub use carom_numeric::random::CounterRng;
pub use end_mode::EndMode;
pub use modes::{ModeSolution, all_simultaneous, all_steps};
pub use painleve::{ImpactWithoutCollision, impact_without_collision};
pub use poisson::Poisson;
pub use probe::SamplingProbe;
pub use sampler::Sampler;
pub use samples::{Coverage, SampleSummary, sampled_outcomes, summarize};
pub use sequential::Sequential;
pub use set_valued::{BranchPolicy, CapDistribution, SetValued};
pub use simultaneous::{AnitescuPotra, MoreauNewton};
