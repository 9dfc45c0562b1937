//! Numeric knobs of the integrator.

use super::IntegratorError;

/// Numeric knobs of a [`CollisionIntegrator`](super::CollisionIntegrator). Lengths are in the unit
/// of the gaps.
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
/// let options = IntegratorOptions { gap_tolerance: 1e-12, ..IntegratorOptions::default() };
/// let integrator = CollisionIntegrator::new(&balls, &law)?.with_options(options)?;
/// let start = integrator.state(0.0, &[0.0, 1.2], &[2.0, 0.0])?;
/// let run = Trajectory::record(&integrator, &start, &TimeGrid::duration(0.1, 1.0)?, None)?;
/// // A gap of 1 m at 2 m/s.
/// assert!(run.impacts().all(|impact| (impact.time - 0.5).abs() < 1e-11));
/// assert_eq!(run.impacts().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegratorOptions {
    /// A contact is in touch within this gap. Hops that are lower count as rest.
    pub gap_tolerance: f64,
    /// Contacts within this gap at an event take part in its impact.
    pub simultaneous_tolerance: f64,
    /// A flight between two hits of a contact is short if it takes less than this fraction of the
    /// time step. The third hit in a row after short flights is plastic.
    pub zeno_ratio: f64,
    /// True if hits that lose no energy accumulate, too. Right where joints dissipate, so that
    /// elastic impacts die out; wrong where a body hits fast and often without losing any.
    pub elastic_hits_accumulate: bool,
    /// Events in one step.
    pub max_events_per_step: usize,
    /// A step that cannot be solved is halved this often.
    pub max_halvings: usize,
    /// Momenta visited to find the indeterminacy of a simultaneous event, before orders are drawn at
    /// random; 0 leaves it out.
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

impl IntegratorOptions {
    /// Gaps of lasting contacts are held to this: rounding, for gaps of moderate size.
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
        positive("gap tolerance", self.gap_tolerance)?;
        positive("simultaneous tolerance", self.simultaneous_tolerance)?;
        if self.simultaneous_tolerance < self.gap_tolerance {
            return Err(IntegratorError::InvalidOption {
                what: "simultaneous tolerance",
                value: self.simultaneous_tolerance,
                allowed: "at least the gap tolerance",
            });
        }
        if !(self.zeno_ratio >= 0.0 && self.zeno_ratio.is_finite()) {
            return Err(IntegratorError::InvalidOption {
                what: "zeno ratio",
                value: self.zeno_ratio,
                allowed: "at least 0 and finite",
            });
        }
        Ok(())
    }
}
