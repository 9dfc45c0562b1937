//! Results of an analysis of tracked poses.

use crate::explain::OuterBound;
use crate::fit::{Cases, LawFit};
use crate::impact::Census;
use crate::noise::NoiseModel;

/// Results of [`analyze`](crate::analyze) for the tracked poses of an experiment: the impacts that were found, the noise of the
/// tracker, and one fit for each requested impact law.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Estimated noise, gravity and plane.
    pub noise: NoiseModel,
    /// Impacts that were found.
    pub census: Census,
    /// Fits of the laws, in the order of the requests; empty with fewer than ten impacts.
    pub fits: Vec<LawFit>,
    /// Baselines for comparison: every touching vertex sticks, and no impact.
    pub baselines: Vec<LawFit>,
    /// Bounds that are valid for every law, one per impact, computed with the inertia of the best law.
    pub bounds: Vec<OuterBound>,
    /// Distance of each impact to the nearest sampled outcome of the set-valued law, if that law was requested.
    pub set_distances: Option<Vec<f64>>,
    pub(crate) cases: Cases,
    pub(crate) published: Option<[f64; 2]>,
    pub(crate) is_evaluation: bool,
    pub(crate) samples: usize,
    pub(crate) tosses: usize,
    pub(crate) rate_hz: f64,
}
