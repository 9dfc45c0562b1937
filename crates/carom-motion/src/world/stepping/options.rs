//! Options of time stepping, and what a run tells about its steps.

use crate::world::MotionError;

/// Scheme of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// From event to event, each located exactly.
    Events,
    /// Steps of one length, each with one problem for every island of contacts.
    TimeStepping,
}

impl Scheme {
    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::TimeStepping => "time-stepping",
        }
    }
}

/// Accuracy of the steps, and which contacts restitute in them.
///
/// # Examples
///
/// ```
/// use carom_motion::world::Stepping;
/// // Contacts that are slower than 2 g h do not rebound.
/// let stepping = Stepping::new(1e-10, 2.0)?;
/// let slowest = stepping.impact_speed() * 9.81 * 1e-3;
/// assert!((slowest - 0.01962).abs() < 1e-15);
/// # Ok::<(), carom_motion::world::MotionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepping {
    tolerance: f64,
    impact_speed: f64,
}

impl Default for Stepping {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            impact_speed: 3.0,
        }
    }
}

impl Stepping {
    /// Residual of every step's problem, and the approach from which contacts restitute, in units of the
    /// acceleration of gravity times the step.
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
        })
    }

    /// Residual of every step's problem.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Approach from which contacts restitute, in units of the acceleration of gravity times the step.
    pub fn impact_speed(&self) -> f64 {
        self.impact_speed
    }
}

/// Counts of the steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCounts {
    /// Steps.
    pub n_steps: usize,
    /// Problems of islands, those of further rounds and of expansions among them.
    pub n_problems: usize,
    /// Problems whose residual missed the tolerance.
    pub n_inaccurate: usize,
    /// Largest residual of a problem.
    pub worst_residual: f64,
    /// Most contact points of a step.
    pub max_contacts: usize,
    /// Most contact points of an island.
    pub max_island: usize,
    /// Newton steps of all problems.
    pub newton_steps: usize,
    /// Gauss-Seidel sweeps of all problems.
    pub sweeps: usize,
    /// Impacts whose restitution was scaled down, so that they gain no energy.
    pub n_capped: usize,
    /// Contact points that restituted.
    pub n_bounces: usize,
    /// Motions that events handed over to steps: 0 or 1.
    pub handed_over: usize,
}

impl StepCounts {
    /// Adds the problems of other steps.
    pub(super) fn add(&mut self, other: &Self) {
        self.n_steps += other.n_steps;
        self.n_problems += other.n_problems;
        self.n_inaccurate += other.n_inaccurate;
        self.worst_residual = self.worst_residual.max(other.worst_residual);
        self.max_contacts = self.max_contacts.max(other.max_contacts);
        self.max_island = self.max_island.max(other.max_island);
        self.newton_steps += other.newton_steps;
        self.sweeps += other.sweeps;
        self.n_capped += other.n_capped;
        self.n_bounces += other.n_bounces;
        self.handed_over += other.handed_over;
    }
}
