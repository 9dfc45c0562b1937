//! Errors of the analysis of motions.

/// Reason why a motion, an orbit or a branch has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyseError {
    /// The equations of motion of this system are not available.
    #[error("{what}")]
    NoFlow {
        /// Part of the system and reason.
        what: String,
    },
    /// Newton's method found no orbit.
    #[error("{reason}")]
    NoOrbit {
        /// Course of the search.
        reason: String,
    },
    /// The motion from a solution of the equations makes other events than the solution.
    #[error("the solution is no motion: {reason}")]
    Virtual {
        /// Event and contact at which the motion differs.
        reason: String,
    },
    /// The return map has no derivative at the orbit.
    #[error("{reason}")]
    NotDifferentiable {
        /// Event and contact.
        reason: String,
    },
    /// Impacts accumulate.
    #[error("impacts accumulate at time {time}")]
    Accumulation {
        /// Time of the last impact (s).
        time: f64,
    },
    /// The motion cannot be continued.
    #[error("the motion stops at time {time}: {reason}")]
    Stopped {
        /// Time (s).
        time: f64,
        /// Reason.
        reason: String,
    },
    /// A contact lies below its line when it becomes armed.
    #[error("contact {contact} lies below its line at time {time}, when it becomes armed")]
    ArmedBelow {
        /// Index of the contact.
        contact: usize,
        /// Time (s).
        time: f64,
    },
}

impl AnalyseError {
    /// Stable identifier of the reason in records.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoFlow { .. } => "no-flow",
            Self::NoOrbit { .. } => "no-orbit",
            Self::Virtual { .. } => "virtual",
            Self::NotDifferentiable { .. } => "not-differentiable",
            Self::Accumulation { .. } => "accumulation",
            Self::Stopped { .. } => "stopped",
            Self::ArmedBelow { .. } => "armed-below",
        }
    }

    pub(crate) fn stopped(time: f64, reason: impl Into<String>) -> Self {
        Self::Stopped {
            time,
            reason: reason.into(),
        }
    }
}
