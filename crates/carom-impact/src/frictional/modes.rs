//! All outcomes of a planar problem, found by trying every combination of contact modes.

use super::end_mode::{EndMode, end_modes};
use super::refuted::are_refuted;
use super::set_valued::refuse;
use super::space::ContactSpace;
use crate::tolerances::BALANCED;
use crate::tolerances::DISTINCT;
use carom_contact::internal::Opening;
use carom_contact::{
    Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, Rules, Unsolved,
};
use carom_metric::nonnegative_least_squares;
use nalgebra::{DMatrix, DVector};

/// Largest number of contacts for which all combinations of contact modes are enumerated: $4^5$ combinations, or $7^5$ if
/// the normal impulses have upper bounds (caps).
const MAX_MODE_CONTACTS: usize = 5;

/// Fraction of its terms below which a gradient is a rounding error. With friction coefficients of $10^5$ the terms
/// cancel, so a larger value would be wrong.
const ROUNDING: f64 = 1e-16;

/// One outcome of an enumeration of contact modes, with the combinations of modes (open, stick, slide) that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeSolution {
    /// The outcome.
    pub outcome: ImpactOutcome,
    /// Combinations of modes, each with one mode per contact; several if they give the same velocity.
    pub modes: Vec<Vec<EndMode>>,
}

/// Finds every outcome of the simultaneous problem of [`AnitescuPotra`](super::AnitescuPotra) for planar
/// contacts, in the order of their first combination of modes.
///
/// Each contact is open, sticks, or slides in one of two directions. For every combination the
/// conditions on impulses and velocities are linear; nonnegative least squares decide if they can be satisfied. The impulses
/// of contacts with linearly dependent rows are one choice of many.
///
/// # Errors
///
/// [`Unsolved::Modes`] beyond five contacts or in space.
pub fn all_simultaneous(problem: &ImpactProblem) -> Result<Vec<ModeSolution>, ImpactError> {
    enumerate(problem, None)
}

/// Finds every outcome of one step of the set-valued law for planar contacts. `caps` are upper limits on
/// the normal impulses (N·s, one per contact).
///
/// # Errors
///
/// The errors of [`all_simultaneous`], and [`ImpactError::InvalidOption`] for a wrong number of caps.
pub fn all_steps(problem: &ImpactProblem, caps: &[f64]) -> Result<Vec<ModeSolution>, ImpactError> {
    if caps.len() != problem.contacts().len() {
        return refuse("number of caps", caps.len() as f64, "one for each contact");
    }
    enumerate(problem, Some(caps))
}

/// Checks that the contacts are planar and few enough to enumerate every combination of contact modes (open, sticking,
/// sliding). Fails with [`Unsolved::Modes`] otherwise.
pub(super) fn check_planar(space: &ContactSpace) -> Result<(), ImpactError> {
    if space.n_contacts > MAX_MODE_CONTACTS || space.n_tangents > 1 {
        return Err(ImpactError::NotSolved(Unsolved::Modes {
            contacts: space.n_contacts,
            tangents: space.n_tangents,
            max: MAX_MODE_CONTACTS,
        }));
    }
    Ok(())
}

/// A solution before the gate has checked it.
pub(super) struct Found {
    /// Momentum change, by which different outcomes are distinguished.
    change: Vec<f64>,
    /// Impulses on the slots.
    pub(super) impulse: Vec<f64>,
    pub(super) modes: Vec<Vec<EndMode>>,
}

fn enumerate(
    problem: &ImpactProblem,
    caps: Option<&[f64]>,
) -> Result<Vec<ModeSolution>, ImpactError> {
    let problem = problem.event();
    let space = ContactSpace::new(problem.contacts());
    check_planar(&space)?;
    let caps: Option<Vec<f64>> = caps.map(|caps| {
        let scaled = |(i, cap)| cap * space.normal_norm(i) * problem.scale();
        space.indices().zip(caps.iter()).map(scaled).collect()
    });
    let velocity = space.velocity_before(problem);
    let sizes = space.sizes(problem.momentum());
    let found = solutions(&space, &velocity, caps.as_deref())?;
    let solution = |Found { impulse, modes, .. }| {
        let status = if problem.is_approaching() {
            ImpactStatus::Resolved
        } else {
            ImpactStatus::Separating
        };
        let diagnostics = Diagnostics::Complementarity {
            pivots: 0,
            velocity_residual: 0.0,
            polygon: None,
            modes: end_modes(&space, velocity.as_slice(), &sizes, &impulse),
        };
        let rules = Rules {
            may_approach: caps.is_some(),
            ..Rules::FRICTIONAL
        };
        let candidate = space.candidate(problem, &impulse);
        let outcome = candidate.outcome(
            problem,
            &rules,
            &mut Opening::default(),
            status,
            diagnostics,
        )?;
        Ok(ModeSolution { outcome, modes })
    };
    found.into_iter().map(solution).collect()
}

/// Finds every solution of an impulse step by trying all combinations of contact modes (open, sticking, sliding).
/// `velocity` are the velocities of the normalized contact rows before the step, `caps` the largest normal impulses, one
/// per contact. Solutions are in the order in which the modes were tried.
pub(super) fn solutions(
    space: &ContactSpace,
    velocity: &DVector<f64>,
    caps: Option<&[f64]>,
) -> Result<Vec<Found>, ImpactError> {
    let m = space.n_contacts;
    // Only the velocities of these contacts count, not the rest of the system.
    let norm = velocity.amax();
    let n_modes = if caps.is_some() { 7usize } else { 4 };
    let mut found: Vec<Found> = Vec::new();
    for code in 0..n_modes.pow(m as u32) {
        let mode = |i: usize| EndMode::ALL[code / n_modes.pow(i as u32) % n_modes];
        let modes: Vec<EndMode> = (0..m).map(mode).collect();
        // Without friction, the mode "sticking" stands for closed contacts.
        let smooth = |i: usize| space.friction[i] == 0.0;
        if (0..m).any(|i| smooth(i) && modes[i].sliding().is_some()) {
            continue;
        }
        if caps.is_none() && are_refuted(space, velocity.as_slice(), &modes) {
            continue;
        }
        let Some(impulse) = attempt(space, velocity, caps, &modes, norm)? else {
            continue;
        };
        let change = space.change(&impulse).to_vec();
        let is_same = |other: &[f64]| {
            let far = |(a, b): (&f64, &f64)| (a - b).abs() > DISTINCT * norm;
            !change.iter().zip(other).any(far)
        };
        match found.iter_mut().find(|other| is_same(&other.change)) {
            Some(other) => other.modes.push(modes),
            None => found.push(Found {
                change,
                impulse,
                modes: vec![modes],
            }),
        }
    }
    Ok(found)
}

/// Computes impulses on the normalized contact rows for one combination of contact modes (open, sticking, sliding); `None`
/// if no impulses satisfy its conditions. `caps`: largest normal impulses, one per contact; `norm`: largest velocity, the
/// scale of rounding errors.
fn attempt(
    space: &ContactSpace,
    velocity: &DVector<f64>,
    caps: Option<&[f64]>,
    modes: &[EndMode],
    norm: f64,
) -> Result<Option<Vec<f64>>, ImpactError> {
    let width = space.width();
    // Unknowns: impulses along the active edges of the cones (generators), then slacks of inequalities.
    let mut generators: Vec<(usize, f64)> = Vec::new();
    // Conditions: a slot velocity with a sign, which is zero or (if the flag is set) not negative. Then sums of
    // generators with their bound, which is reached or (if the flag is set) not exceeded.
    let mut conditions: Vec<(usize, f64, bool)> = Vec::new();
    let mut sums: Vec<(std::ops::Range<usize>, f64, bool)> = Vec::new();
    for (i, mode) in modes.iter().enumerate() {
        let (normal, friction) = (i * width, space.friction[i]);
        if *mode == EndMode::Open {
            conditions.push((normal, 1.0, true));
            continue;
        }
        let first = generators.len();
        match mode.sliding() {
            Some(direction) => {
                generators.push((i, -direction * friction));
                conditions.push((normal + 1, direction, true));
            }
            None if friction > 0.0 => {
                generators.push((i, friction));
                generators.push((i, -friction));
                conditions.push((normal + 1, 1.0, false));
            }
            None => generators.push((i, 0.0)),
        }
        let saturated = mode.is_saturated();
        conditions.push((normal, if saturated { -1.0 } else { 1.0 }, saturated));
        if let Some(caps) = caps {
            sums.push((first..generators.len(), caps[i], !saturated));
        }
    }
    let n_slacks = conditions.iter().filter(|c| c.2).count() + sums.iter().filter(|s| s.2).count();
    let (rows, columns) = (conditions.len() + sums.len(), generators.len() + n_slacks);
    let mut y = DMatrix::zeros(rows, columns);
    let mut z = DVector::zeros(rows);
    let mut slack = generators.len();
    for (row, (slot, sign, may_be_positive)) in conditions.iter().enumerate() {
        z[row] = sign * velocity[*slot];
        for (j, (contact, tangential)) in generators.iter().enumerate() {
            let rate = space.rate_by(*slot, contact * width, *tangential);
            y[(row, j)] = sign * rate;
        }
        if *may_be_positive {
            y[(row, slack)] = -1.0;
            slack += 1;
        }
    }
    for (row, (range, cap, may_be_less)) in (conditions.len()..).zip(&sums) {
        z[row] = -cap;
        for j in range.clone() {
            y[(row, j)] = 1.0;
        }
        if *may_be_less {
            y[(row, slack)] = 1.0;
            slack += 1;
        }
    }
    // Columns are normalized, since some contain friction coefficients of 1e5.
    let mut lengths = Vec::with_capacity(columns);
    for mut column in y.column_iter_mut() {
        let length = column.norm();
        lengths.push(length);
        if length > 0.0 {
            column /= length;
        }
    }
    let x = nonnegative_least_squares(&y, &z, ROUNDING)?;
    let residual = &y * &x + &z;
    let terms = y.abs() * &x + z.abs();
    let mut rows = residual.iter().zip(&terms);
    let is_met = rows.all(|(left, terms)| left.abs() <= BALANCED * terms.max(norm));
    if !is_met {
        return Ok(None);
    }
    let mut impulse = vec![0.0; space.n_slots()];
    for (j, (contact, tangential)) in generators.iter().enumerate() {
        let alpha = if lengths[j] > 0.0 {
            x[j] / lengths[j]
        } else {
            0.0
        };
        impulse[contact * width] += alpha;
        if *tangential != 0.0 {
            impulse[contact * width + 1] += tangential * alpha;
        }
    }
    Ok(Some(impulse))
}
