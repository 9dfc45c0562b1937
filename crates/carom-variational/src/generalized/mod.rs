//! Variational steps in generalized coordinates.
//!
//! A [`Stepper`] solves the discrete Euler-Lagrange equations of the midpoint rule for any
//! [`MechanicalSystem`](carom_mechanism::MechanicalSystem), free or with lasting contacts. A [`Bond`] is a lasting contact: its
//! gap is kept constant, with Coulomb friction in a given mode. The caller chooses the lasting contacts and their modes:
//! `carom-motion` does this, where events are found.
//!
//! 1. Build a [`Point`] of the motion with its mass matrix, velocity, gaps and rates: [`set_velocity`](Stepper::set_velocity),
//!    [`set_gaps`](Stepper::set_gaps).
//! 2. [`solve`](Stepper::solve) the step for its mean velocity.
//! 3. [`finish`](Stepper::finish) the step: this computes the point at its end.
//!
//! # Examples
//!
//! A ball in uniform gravity falls along its exact parabola, for any step length:
//!
//! ```
//! use carom_mechanism::MechanicalSystem;
//! use carom_mechanism::systems::Block;
//! use carom_variational::generalized::{Point, Stepper};
//!
//! let ball = Block::ball(1.0, [0.0, -10.0])?;
//! let mut stepper = Stepper::new(&ball, 1e-13);
//! let mut start = Point::new(ball.dimension(), ball.contacts().len());
//! start.configuration[1] = 5.0;
//! stepper.set_velocity(&mut start)?;
//! let mut end = start.clone();
//! stepper.solve(&start, 0.5, &[])?;
//! stepper.finish(&start, 0.5, &[], &mut end)?;
//! assert!((end.configuration[1] - 3.75).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bond;
mod held;
mod point;
mod step;

pub use bond::{Bond, ContactMode};
pub use held::deflate;
pub use point::Point;
pub use step::{Rows, StepFailure, Stepper};
