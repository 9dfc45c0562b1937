//! Numeric options of the integrator.

use super::IntegratorError;

/// Numeric options of a [`CollisionIntegrator`](super::CollisionIntegrator), which integrates a mechanical system from impact
/// to impact. Lengths are in the unit of the system's gap functions.
///
/// # Examples
///
/// ```
/// use carom_impact::Propagative;
/// use carom_mechanism::systems::BallsOnLine;
/// use carom_motion::generalized::{CollisionIntegrator, IntegratorOptions, Trajectory};
/// use carom_variational::TimeGrid;
/// let balls = BallsOnLine::new(&[1.0, 1.0], 0.1)?;
/// let law = Propagative::default();
/// let options = IntegratorOptions::default().with_gap_tolerance(1e-12);
/// let integrator = CollisionIntegrator::new(&balls, &law)?.with_options(options)?;
/// let start = integrator.state(0.0, &[0.0, 1.2], &[2.0, 0.0])?;
/// let run = Trajectory::record(&integrator, &start, &TimeGrid::duration(0.1, 1.0)?, None)?;
/// // A gap of 1 m at 2 m/s.
/// assert!(run.impacts().all(|impact| (impact.time - 0.5).abs() < 1e-11));
/// assert_eq!(run.impacts().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct IntegratorOptions {
    /// Largest gap at which a contact counts as touching (in the unit of the gaps). A contact that would rise by less than this
    /// counts as at rest.
    pub gap_tolerance: f64,
    /// Largest gap at which a contact takes part in the impact of another one (in the unit of the gaps). A larger value merges
    /// more contacts into one simultaneous impact.
    pub simultaneous_tolerance: f64,
    /// Fraction of the time step below which a flight between two impacts of a contact is short. The third
    /// consecutive impact after short flights is plastic.
    pub zeno_ratio: f64,
    /// True if impacts that lose no energy can accumulate, too. Set it if joints dissipate energy, so that
    /// elastic impacts die out. Do not set it if a body may hit fast and often without losing energy.
    pub elastic_hits_accumulate: bool,
    /// Largest number of events in one step; a run with more in a step ends with
    /// [`IntegratorError::TooManyEvents`].
    pub max_events_per_step: usize,
    /// Largest number of times that a step is halved if it cannot be solved.
    pub max_halvings: usize,
    /// Largest number of momenta visited to find the indeterminacy of a simultaneous event, that is, how far the outcomes of
    /// different orders of impacts differ. If more would be needed, random orders are used. 0 disables the computation.
    pub indeterminacy_nodes: usize,
}

impl Default for IntegratorOptions {
    fn default() -> Self {
        Self {
            gap_tolerance: 1e-10,
            simultaneous_tolerance: 1e-8,
            zeno_ratio: 1.0,
            elastic_hits_accumulate: false,
            max_events_per_step: 200,
            max_halvings: 10,
            indeterminacy_nodes: 2000,
        }
    }
}

carom_numeric::setters!(IntegratorOptions {
    /// Sets the largest gap of a touching contact, in the unit of the gaps.
    with_gap_tolerance: gap_tolerance, f64;
    /// Sets the largest gap of a contact that takes part in the impact of another one, in the unit of the gaps.
    with_simultaneous_tolerance: simultaneous_tolerance, f64;
    /// Sets the fraction of the time step below which a flight between two impacts is short.
    with_zeno_ratio: zeno_ratio, f64;
    /// Sets if impacts that lose no energy can accumulate.
    with_elastic_hits_accumulate: elastic_hits_accumulate, bool;
    /// Sets the largest number of events in one step.
    with_max_events_per_step: max_events_per_step, usize;
    /// Sets the largest number of times that a step is halved.
    with_max_halvings: max_halvings, usize;
    /// Sets the largest number of momenta visited to find the indeterminacy; 0 disables the computation.
    with_indeterminacy_nodes: indeterminacy_nodes, usize;
});

impl IntegratorOptions {
    /// Returns the largest gap that a lasting contact may have after a step, in the unit of the gaps (m for lengths): a
    /// thousandth of the gap tolerance. Gaps of moderate size have rounding errors below it.
    pub(crate) fn gap_floor(&self) -> f64 {
        1e-3 * self.gap_tolerance
    }

    pub(crate) fn check(&self) -> Result<(), IntegratorError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(IntegratorError::InvalidOption {
                    what,
                    value,
                    allowed: "positive and finite",
                })
            }
        };
        positive("gap_tolerance", self.gap_tolerance)?;
        positive("simultaneous_tolerance", self.simultaneous_tolerance)?;
        if self.simultaneous_tolerance < self.gap_tolerance {
            return Err(IntegratorError::InvalidOption {
                what: "simultaneous_tolerance",
                value: self.simultaneous_tolerance,
                allowed: "at least gap_tolerance",
            });
        }
        if !(self.zeno_ratio >= 0.0 && self.zeno_ratio.is_finite()) {
            return Err(IntegratorError::InvalidOption {
                what: "zeno_ratio",
                value: self.zeno_ratio,
                allowed: "at least 0 and finite",
            });
        }
        if self.max_events_per_step == 0 {
            return Err(IntegratorError::InvalidOption {
                what: "max_events_per_step",
                value: 0.0,
                allowed: "at least 1",
            });
        }
        Ok(())
    }
}
