//! Results of an analysis of poses.

use crate::explain::OuterBound;
use crate::fit::{Cases, LawFit};
use crate::impact::Census;
use crate::noise::NoiseModel;

/// Analysis of poses: impacts, noise, and one fit for each law asked for.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Noise, gravity and plane.
    pub noise: NoiseModel,
    /// Impacts.
    pub census: Census,
    /// Fits, in the order of the requests; empty with fewer than ten impacts.
    pub fits: Vec<LawFit>,
    /// Baselines: stick and no impact.
    pub baselines: Vec<LawFit>,
    /// Bounds that hold for every law, impact by impact, with the inertia of the best law.
    pub bounds: Vec<OuterBound>,
    /// Distances to the nearest sampled outcome of the set-valued law, if it was asked for.
    pub set_distances: Option<Vec<f64>>,
    pub(crate) cases: Cases,
    pub(crate) published: Option<[f64; 2]>,
    pub(crate) is_evaluation: bool,
    pub(crate) samples: usize,
    pub(crate) tosses: usize,
    pub(crate) rate_hz: f64,
}
