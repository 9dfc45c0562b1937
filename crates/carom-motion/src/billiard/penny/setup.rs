//! A penny on a table.

use super::RollingPenny;
use crate::billiard::{BilliardError, Table};
use carom_impact::Restitution;

/// Billiard of a penny: a disk that rolls upright on a flat table and bounces off the table's wall by an impact law.
///
/// # Examples
///
/// The paper's penny on its elliptical table; the first impact:
///
/// ```
/// use carom_motion::billiard::penny::{PennyBilliard, PennyState, Rim, RollingPenny};
/// use carom_motion::billiard::Ellipse;
/// use carom_motion::hybrid::Limits;
/// use carom_impact::Restitution;
/// let penny = RollingPenny::thin_disk(0.01, 0.0025)?;
/// let billiard = PennyBilliard::new(penny, Ellipse::new(0.15, 0.2)?, Restitution::Elastic)?;
/// let start = PennyState {
///     phi: std::f64::consts::FRAC_PI_2,
///     theta_dot: 10.0,
///     phi_dot: 0.2,
///     ..PennyState::default()
/// };
/// let run = billiard.run(start, Limits::impacts(20))?;
/// let first = &run.events[0];
/// assert_eq!(first.rim, Rim::Front);
/// assert!((first.time - 1.8834069201978127).abs() < 1e-14);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PennyBilliard<T> {
    pub(super) penny: RollingPenny,
    pub(super) table: T,
    pub(super) restitution: Restitution,
    /// Ratio of normal velocity to rim speed below which an orbit ends as a graze.
    pub(super) graze: f64,
}

impl<T: Table> PennyBilliard<T> {
    /// Creates a penny billiard from a rolling disk, a table with its wall, and an impact law.
    ///
    /// # Errors
    ///
    /// [`BilliardError::TableTooSmall`] if the disk does not fit, and
    /// [`BilliardError::Impact`] for an invalid restitution.
    pub fn new(
        penny: RollingPenny,
        table: T,
        restitution: Restitution,
    ) -> Result<Self, BilliardError> {
        restitution.validate()?;
        let semi_axis = 0.5 * table.width();
        if semi_axis <= penny.radius() {
            return Err(BilliardError::TableTooSmall {
                semi_axis,
                radius: penny.radius(),
            });
        }
        Ok(Self {
            penny,
            table,
            restitution,
            graze: 1e-12,
        })
    }

    /// Sets the threshold of grazing for the ratio of the rim point's velocity along the wall's normal to the rim point's
    /// speed. If the ratio is at most the threshold at an impact, the orbit ends as
    /// [`Ending::GrazingCascade`](crate::hybrid::Ending::GrazingCascade). The default is $10^{-12}$. With a threshold of 0 the
    /// orbit follows a cascade of grazing impacts as far as possible.
    #[must_use]
    pub fn with_graze(mut self, graze: f64) -> Self {
        self.graze = graze.max(0.0);
        self
    }

    /// Returns the penny of this billiard: radius, mass and inertia of the disk.
    pub fn penny(&self) -> &RollingPenny {
        &self.penny
    }

    /// Returns the table of this billiard, given by its wall.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// Returns the impact law of this billiard's wall.
    pub fn restitution(&self) -> Restitution {
        self.restitution
    }
}
