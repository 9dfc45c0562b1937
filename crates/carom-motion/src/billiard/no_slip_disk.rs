//! Disk in a strip with no-slip walls.
//!
//! The disk flies freely in the plane between the walls $y = 0$ and $y = $ `width`. The no-slip
//! collision ([`Rough`](carom_impact::Rough) with $e = 1$) conserves energy and reverses the whole
//! velocity of the contact point. Orbits stay bounded along the strip (Broomhead & Gutkin, 1993).

use crate::billiard::BilliardError;
use crate::billiard::error::positive;
use crate::billiard::system::{AtImpact, Billiard, Guard};
use carom_contact::Contact;
use carom_metric::{Covector, Tangent};
use nalgebra::{DMatrix, DVector};

/// A disk that moves freely in the plane between two parallel walls and may spin (no-slip billiard in a strip).
///
/// # Examples
///
/// ```
/// use carom_impact::Rough;
/// use carom_motion::billiard::no_slip_disk::{DiskState, NoSlipDisk};
/// use carom_motion::billiard::system::follow;
/// use carom_motion::hybrid::Limits;
/// let disk = NoSlipDisk::new(1.0, 0.1, 0.005, 1.0)?;
/// let start = DiskState { y: 0.5, x_dot: 0.3, y_dot: 1.0, ..DiskState::default() };
/// let (hits, _) = follow(&disk, &Rough::new(1.0)?, start, Limits::impacts(6))?;
/// // Rough walls trade speed for spin, and energy is kept.
/// assert!(hits[0].state.spin.abs() > 0.1);
/// assert!(hits.iter().all(|hit| hit.energy_change_j.abs() < 1e-15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoSlipDisk {
    mass: f64,
    radius: f64,
    inertia: f64,
    width: f64,
}

/// State of a disk between two parallel walls: position, velocity and spin.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct DiskState {
    /// Position of the center along the strip, m.
    pub x: f64,
    /// Position of the center across the strip, m.
    pub y: f64,
    /// Velocity along the strip, m/s.
    pub x_dot: f64,
    /// Velocity across the strip, m/s.
    pub y_dot: f64,
    /// Spin, rad/s, counterclockwise.
    pub spin: f64,
}

impl NoSlipDisk {
    /// Creates a disk between two parallel walls: `mass` (kg), `radius` (m), moment of `inertia` about the center (kg m²),
    /// and the distance `width` of the walls (m).
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`], [`BilliardError::TableTooSmall`].
    pub fn new(mass: f64, radius: f64, inertia: f64, width: f64) -> Result<Self, BilliardError> {
        positive(&[
            ("mass", mass),
            ("radius", radius),
            ("inertia", inertia),
            ("width", width),
        ])?;
        if width <= 2.0 * radius {
            return Err(BilliardError::TableTooSmall {
                semi_axis: 0.5 * width,
                radius,
            });
        }
        Ok(Self {
            mass,
            radius,
            inertia,
            width,
        })
    }
}

impl Billiard for NoSlipDisk {
    type State = DiskState;

    fn flow(&self, state: &DiskState, time: f64) -> DiskState {
        DiskState {
            x: state.x + time * state.x_dot,
            y: state.y + time * state.y_dot,
            ..*state
        }
    }

    fn n_guards(&self) -> usize {
        2
    }

    fn guard(&self, state: &DiskState, guard: usize) -> Guard {
        match guard {
            0 => Guard {
                value: self.radius - state.y,
                rate: -state.y_dot,
            },
            _ => Guard {
                value: state.y + self.radius - self.width,
                rate: state.y_dot,
            },
        }
    }

    fn bound(&self, state: &DiskState, _: usize) -> (f64, f64) {
        // The motion is a straight line: the second derivative is zero.
        (2.0 * self.width / state.y_dot.abs(), 0.0)
    }

    fn at_impact(&self, state: &DiskState, guard: usize) -> AtImpact {
        let masses = [self.mass, self.mass, self.inertia];
        // Sign of the normal towards the free side.
        let side = if guard == 0 { 1.0 } else { -1.0 };
        AtImpact {
            mass: DMatrix::from_diagonal(&DVector::from_column_slice(&masses)),
            forms: Vec::new(),
            contact: Contact::new(Covector::from_slice(&[0.0, side, 0.0]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, side * self.radius])]),
            velocity: Tangent::from_slice(&[state.x_dot, state.y_dot, state.spin]),
        }
    }

    fn with_velocity(&self, state: &DiskState, velocity: &Tangent) -> DiskState {
        match *velocity.0.as_slice() {
            [x_dot, y_dot, spin] => DiskState {
                x_dot,
                y_dot,
                spin,
                ..*state
            },
            _ => *state,
        }
    }
}
