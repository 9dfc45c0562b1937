//! Random samples of the outcome set, from which the search starts.

use super::chain::Edges;
use super::modes::ModeSequence;
use super::witness::WitnessCone;
use crate::Case;
use carom_contact::ImpactError;
use carom_impact::frictional::{BranchPolicy, CapDistribution, Sampler, SetValued};
use carom_impact::internal::{CAP_OFF, COVERING_SPREAD, Draw};
use carom_metric::{Tangent, kernel};

/// Sizes of the impulse steps of samples, relative to the impulse that stops a contact alone.
const STEP_SIZES: [f64; 3] = [1.0, 0.5, 2.0];

/// Divisor of the work budget: one sample may use this part of it.
const SAMPLE_PART: u64 = 64;

/// Creates the samplers of the outcome set: the default one, and ones with random solutions of ambiguous steps,
/// contacts switched off and impulse steps of several sizes.
pub(super) fn samplers<'p>(case: &Case<'p>) -> Result<Vec<Sampler<'p>>, ImpactError> {
    let plain = SetValued::default()
        .with_samples(case.options.samples)
        .with_seed(case.options.seed)
        .with_friction_cone(case.options.friction_cone)
        .with_max_work(case.options.max_work / SAMPLE_PART);
    let first = Sampler::new(case.problem, &plain)?;
    let step = first.impulse_step();
    let mut all = vec![first];
    for size in STEP_SIZES {
        let law = plain
            .clone()
            .with_branch(BranchPolicy::RandomCovering {
                spread: COVERING_SPREAD,
            })
            .with_caps(CapDistribution::Mixed { off: CAP_OFF });
        if step > 0.0 {
            all.push(Sampler::new(case.problem, &law)?.resized(size));
        }
    }
    Ok(all)
}

/// Sample of the set that ended.
pub(super) struct Sampled {
    pub(super) velocity: Tangent,
    /// Distance of its end from the judged velocity.
    pub(super) distance: f64,
    pub(super) sample: u64,
    pub(super) sequence: ModeSequence,
    /// Scaled impulses on the slots in each step.
    pub(super) steps: Vec<Vec<f64>>,
    pub(super) pivots: f64,
    /// Units of work of the sample.
    pub(super) work: u64,
    /// True if the sample was drawn by the default sampler.
    pub(super) is_plain: bool,
}

impl Sampled {
    /// Returns a key that is equal for similar samples: their contact modes, and the number of their steps (0 unless
    /// `counts_steps` is true).
    pub(super) fn key(&self, counts_steps: bool) -> (ModeSequence, usize) {
        let steps = if counts_steps { self.steps.len() } else { 0 };
        (self.sequence.clone(), steps)
    }
}

/// Draws the outcome with number `sample` from the outcome set, and determines its contact modes and its distance from
/// the judged velocity; `None` if the sequence of its impulse steps does not end. `edges` holds the contact velocities
/// of the problem; `samplers` lists the samplers among which the number selects one; `draw` is a work buffer.
pub(super) fn one_sample(
    case: &Case<'_>,
    edges: &Edges,
    samplers: &[Sampler<'_>],
    sample: u64,
    draw: &mut Draw,
) -> Option<Sampled> {
    let kinds = samplers.len() as u64;
    let sampler = samplers.get((sample % kinds) as usize)?;
    let mut sequence = ModeSequence::new(edges.n_contacts());
    let mut steps: Vec<Vec<f64>> = Vec::new();
    let mut before: Vec<f64> = Vec::new();
    let observed = sampler.draw_observed(sample / kinds, draw, |draw| {
        if before.len() == draw.impulse().len() {
            let step: Vec<f64> = draw
                .impulse()
                .iter()
                .zip(&before)
                .map(|(a, b)| a - b)
                .collect();
            sequence.push(&edges.modes(&step, draw.velocity()));
            steps.push(step);
        }
        before.clear();
        before.extend_from_slice(draw.impulse());
    });
    if observed.is_err() || !draw.is_ended {
        return None;
    }
    let mut end = case.before();
    kernel::add_scaled(end.as_mut_slice(), 1.0, &edges.space.change(draw.impulse()));
    let velocity = case.velocity(&end);
    Some(Sampled {
        distance: case.distance(&velocity),
        velocity,
        sample,
        sequence,
        steps,
        // Steps in round cones are rarely solved by pivots, so that steps are counted.
        pivots: match edges.cone {
            WitnessCone::Round => draw.steps as f64,
            WitnessCone::Polygon(_) => draw.pivots as f64,
        },
        work: draw.work,
        is_plain: sample.is_multiple_of(kinds),
    })
}
