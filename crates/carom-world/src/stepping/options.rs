//! Options of time stepping, and the counts that a run reports.

use crate::MotionError;

/// Time integration scheme of a world of rigid bodies: from event to event, or in steps of constant length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Event-driven integration: every impact and change of contact is located exactly.
    Events,
    /// Time stepping: steps of constant length. Each step solves one contact problem for every island, a group of bodies
    /// connected by contacts.
    TimeStepping,
}

impl Scheme {
    /// Returns the identifier of this integration scheme in records: `events` or `time-stepping`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::TimeStepping => "time-stepping",
        }
    }
}

/// Options of time stepping of a world: accuracy of the contact problems, and the approach speed from which contacts rebound.
///
/// # Examples
///
/// ```
/// use carom_world::Stepping;
/// // Contacts that are slower than 2 g h do not rebound.
/// let stepping = Stepping::new(1e-10, 2.0)?;
/// let slowest = stepping.impact_speed() * 9.81 * 1e-3;
/// assert!((slowest - 0.01962).abs() < 1e-15);
/// # Ok::<(), carom_world::MotionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepping {
    tolerance: f64,
    impact_speed: f64,
    deflection: f64,
}

impl Default for Stepping {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            impact_speed: 3.0,
            deflection: 5e-6,
        }
    }
}

impl Stepping {
    /// Creates the options of time stepping. `tolerance` is the largest accepted residual of the contact problem of a step.
    /// `impact_speed` is the approach speed from which contacts rebound (below it, restitution counts as zero), as a multiple
    /// of $gh$, the acceleration of gravity times the step length.
    ///
    /// # Errors
    ///
    /// [`MotionError::InvalidValue`] unless the tolerance is in [1e-14, 1e-6] and the speed at least 0.
    pub fn new(tolerance: f64, impact_speed: f64) -> Result<Self, MotionError> {
        if !(1e-14..=1e-6).contains(&tolerance) {
            return Err(MotionError::InvalidValue {
                what: "tolerance".to_owned(),
                value: tolerance,
                allowed: "in [1e-14, 1e-6]",
            });
        }
        if !(impact_speed >= 0.0 && impact_speed.is_finite()) {
            return Err(MotionError::InvalidValue {
                what: "impact speed".to_owned(),
                value: impact_speed,
                allowed: "at least 0 and finite",
            });
        }
        Ok(Self {
            tolerance,
            impact_speed,
            ..Self::default()
        })
    }

    /// Sets the share of its size by which a contact yields under the weight of its bodies; the size is the radius of the smaller
    /// body. 0: contacts are rigid, and redundant contacts share their load arbitrarily.
    ///
    /// # Errors
    ///
    /// [`MotionError::InvalidValue`] unless the share is in [0, 1e-3].
    pub fn with_deflection(self, deflection: f64) -> Result<Self, MotionError> {
        if !(0.0..=1e-3).contains(&deflection) {
            return Err(MotionError::InvalidValue {
                what: "deflection".to_owned(),
                value: deflection,
                allowed: "in [0, 1e-3]",
            });
        }
        Ok(Self { deflection, ..self })
    }

    /// Returns the tolerance of time stepping: the largest accepted residual of the contact problem of a step.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Returns the approach speed from which contacts rebound in time stepping (below it, restitution counts as zero), as a
    /// multiple of the acceleration of gravity times the step length.
    pub fn impact_speed(&self) -> f64 {
        self.impact_speed
    }

    /// Returns the share of its size by which a contact yields under the weight of its bodies; 0 is rigid.
    pub fn deflection(&self) -> f64 {
        self.deflection
    }
}

/// Counts of a time stepping run: steps, contact problems, solver iterations, and contact points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct StepCounts {
    /// Number of time steps.
    pub n_steps: usize,
    /// Number of contact problems solved. A step with new contact points or with restitution needs several.
    pub n_problems: usize,
    /// Number of contact problems whose residual exceeded the tolerance, or whose impulses gained energy.
    pub n_inaccurate: usize,
    /// Number of contact problems that were solved with softer springs, because they missed the tolerance.
    pub n_softened: usize,
    /// Largest residual of all contact problems.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub worst_residual: f64,
    /// Largest number of contact points in a step.
    pub max_contacts: usize,
    /// Largest number of contact points in an island, a group of bodies connected by contacts.
    pub max_island: usize,
    /// Number of Newton steps, summed over all contact problems.
    pub newton_steps: usize,
    /// Number of impacts whose restitution was reduced so that they gain no energy.
    pub n_capped: usize,
    /// Number of contact points that rebounded.
    pub n_bounces: usize,
    /// Number of switches from event-driven integration to time stepping: 0 or 1.
    pub handed_over: usize,
}

impl StepCounts {
    /// Adds the counts of another step. Of numbers that are maxima, such as the worst residual, the larger one is kept.
    pub(super) fn add(&mut self, other: &Self) {
        self.n_steps += other.n_steps;
        self.n_problems += other.n_problems;
        self.n_inaccurate += other.n_inaccurate;
        self.n_softened += other.n_softened;
        self.worst_residual = self.worst_residual.max(other.worst_residual);
        self.max_contacts = self.max_contacts.max(other.max_contacts);
        self.max_island = self.max_island.max(other.max_island);
        self.newton_steps += other.newton_steps;
        self.n_capped += other.n_capped;
        self.n_bounces += other.n_bounces;
        self.handed_over += other.handed_over;
    }
}
