//! Tolerances and budgets of the analysis.

/// Tolerances and budgets. The defaults are those that `carom analyse` uses.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Error of a step of the integration, relative to the size of each state.
    pub tolerance: f64,
    /// Gap (m or rad) below which a contact counts as touching when its instant is decided.
    pub touch: f64,
    /// Most steps of Newton's method for an orbit.
    pub newton_steps: usize,
    /// Largest residual of an orbit, relative to the sizes of its unknowns.
    pub residual: f64,
    /// Most events of one return; more are an accumulation or a fault.
    pub events: usize,
    /// Most steps of integration between two events.
    pub steps: usize,
    /// Speed of an impact, relative to the largest of the orbit, and gap relative to the size, below which the return map counts
    /// as not differentiable; also the distance of two events, relative to the period.
    pub graze: f64,
    /// Singular value, relative to the largest, below which a direction counts as undetermined: cyclic coordinates, conserved
    /// quantities, ranks lost in contacts that last.
    pub rank: f64,
    /// Part of the kinetic norm below which velocities and impulses of contacts count as zero.
    pub still: f64,
    /// Largest difference of a velocity after an impact from that of the modes read off it, relative.
    pub explained: f64,
    /// Most contacts among which those that last are sought by trying all combinations.
    pub lasting: usize,
    /// Part of the largest value of a guard within which it counts as zero at the start of a segment.
    pub tiny: f64,
    /// Part of the largest value of a guard below which its local minima are located: samples within a step have errors of order two.
    pub near: f64,
    /// Most evaluations of a zero; bisection alone needs 60.
    pub evaluations: usize,
    /// Most restarts with the sequence of events that the motion makes.
    pub restarts: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            touch: 1e-9,
            newton_steps: 30,
            residual: 1e-11,
            events: 400,
            steps: 20_000,
            graze: 1e-9,
            rank: 1e-9,
            still: 1e-10,
            explained: 1e-9,
            lasting: 8,
            tiny: 1e-10,
            near: 0.3,
            evaluations: 120,
            restarts: 5,
        }
    }
}

impl Settings {
    /// Sets the error of a step of the integration, relative to the size of each state.
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }
}
