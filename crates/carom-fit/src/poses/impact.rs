//! Isolated impacts of a body on a plane.

use super::episode::{Why, episodes, flights};
use super::meet::Flights;
use super::noise::NoiseModel;
use super::setup::Setup;
use crate::Poses;
use carom_lie::So3;
use nalgebra::{SMatrix, Vector3};
use rayon::prelude::*;

/// Root mean square residuals (m, rad) above which two flights do not explain the poses. The limit is the
/// larger of this and [`LARGEST_RMS_OVER_NOISE`] times the noise.
const LARGEST_RMS: [f64; 2] = [0.2e-3, 4e-3];
const LARGEST_RMS_OVER_NOISE: [f64; 2] = [4.0, 8.0];

/// If the lowest vertex is higher above the plane than this (m), nothing can have hit the plane.
const FARTHEST: f64 = 6e-3;

/// Names and units of the components of a velocity: linear, then angular.
pub(crate) const COMPONENTS: [(&str, &str); 6] = [
    ("vx", "m/s"),
    ("vy", "m/s"),
    ("vz", "m/s"),
    ("wx", "rad/s"),
    ("wy", "rad/s"),
    ("wz", "rad/s"),
];

/// Measured impact of a body on a plane between two flights. Vectors of six entries hold the velocity of the center of mass
/// (m/s) and the angular velocity (rad/s), both in world axes.
#[derive(Clone, Debug)]
pub struct Impact {
    /// Number of the toss.
    pub toss: u64,
    /// Index of the episode within the toss, from 0.
    pub index: usize,
    /// Indices of the first and the last flagged sample of the episode.
    pub window: [usize; 2],
    /// Time of the impact (s).
    pub time: f64,
    /// Position of the center of mass at the impact, in space (m).
    pub position: Vector3<f64>,
    /// Attitude: the rotation from the body frame to space.
    pub rotation: So3,
    /// Velocities before the impact.
    pub velocity_minus: [f64; 6],
    /// Velocities after the impact.
    pub velocity_plus: [f64; 6],
    /// Covariance of the velocities before the impact, then after it, for given gravity.
    pub covariance: SMatrix<f64, 12, 12>,
    /// Derivative of the velocities before the impact, then after it, with respect to gravity (s, and s/m for
    /// angular velocities).
    pub by_gravity: SMatrix<f64, 12, 3>,
    /// Sum of squared residuals, each divided by its noise.
    pub chi2: f64,
    /// Degrees of freedom: number of residuals minus number of unknowns.
    pub dof: usize,
    /// Heights of the touching vertices above the plane (m), in the order of `corners`.
    pub gaps: Vec<f64>,
    /// Indices of the touching vertices in the body's list of vertices.
    pub corners: Vec<usize>,
}

/// Numbers of episodes (sequences of tracked poses that are not free flight) that could not be used as isolated impacts, one
/// number for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Excluded {
    /// The episode is longer than one impact.
    pub wide: usize,
    /// The flight before or after is too short.
    pub short: usize,
    /// Two flights do not explain the poses.
    pub noisy: usize,
    /// No vertex is near the plane.
    pub far: usize,
}

/// Result of [`find_impacts`] for all episodes (sequences of tracked poses that are not free flight) of all tosses: the
/// isolated impacts, and the numbers of the other episodes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Census {
    /// Number of episodes.
    pub episodes: usize,
    /// Isolated impacts, ordered by toss and time.
    pub impacts: Vec<Impact>,
    /// Numbers of the other episodes.
    pub excluded: Excluded,
}

/// Finds the isolated impacts in the tracked poses of all tosses, and the states of the body before and after each impact.
///
/// A pose is flagged if the second difference of the positions around it is not that of gravity. Flagged poses with at most one
/// unflagged pose between them form an episode. An episode is used if it has at most `width` poses, with at least `least` poses
/// of flight on both sides (see [`DetectOptions`](crate::DetectOptions)). Two free flights are then fitted to the poses before
/// and after the episode, so that both have the same pose at the impact.
#[must_use]
pub fn find_impacts(poses: &[Poses], setup: &Setup, noise: &NoiseModel) -> Census {
    let of_toss = |toss: &Poses| -> Vec<Result<Impact, Why>> {
        let episodes = episodes(toss, noise);
        let found = |place: usize| {
            let windows = flights(&episodes, place, toss.time.len(), &setup.options)?;
            let flights = Flights {
                toss,
                body: &setup.body,
                noise,
                windows,
            };
            let window = [episodes[place].first, episodes[place].last];
            impact(&flights, setup, place, window)
        };
        (0..episodes.len()).map(found).collect()
    };
    let found: Vec<Vec<Result<Impact, Why>>> = poses.par_iter().map(of_toss).collect();
    let mut census = Census {
        episodes: 0,
        impacts: Vec::new(),
        excluded: Excluded::default(),
    };
    for found in found.into_iter().flatten() {
        census.episodes += 1;
        match found {
            Ok(impact) => census.impacts.push(impact),
            Err(Why::Wide) => census.excluded.wide += 1,
            Err(Why::Short) => census.excluded.short += 1,
            Err(Why::Noisy) => census.excluded.noisy += 1,
            Err(Why::Far) => census.excluded.far += 1,
        }
    }
    census
}

fn impact(
    flights: &Flights<'_>,
    setup: &Setup,
    index: usize,
    window: [usize; 2],
) -> Result<Impact, Why> {
    let noise = flights.noise;
    let meeting = flights.meet().ok_or(Why::Noisy)?;
    let spread = [noise.position_spread, noise.rotation_spread];
    for k in 0..2 {
        let limit = LARGEST_RMS[k].max(LARGEST_RMS_OVER_NOISE[k] * spread[k]);
        if !(meeting.rms[k] <= limit) {
            return Err(Why::Noisy);
        }
    }
    let normal = noise.plane.normal;
    let heights: Vec<f64> = setup
        .body
        .heights(&normal, &meeting.position, &meeting.rotation)
        .map(|height| height + noise.plane.offset)
        .collect();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    if !(lowest <= FARTHEST) {
        return Err(Why::Far);
    }
    let (corners, gaps): (Vec<usize>, Vec<f64>) = heights
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, height)| *height <= lowest + setup.options.band)
        .unzip();
    Ok(Impact {
        toss: flights.toss.toss,
        index,
        window,
        time: meeting.time,
        position: meeting.position,
        rotation: meeting.rotation,
        velocity_minus: meeting.velocity[0].into(),
        velocity_plus: meeting.velocity[1].into(),
        covariance: meeting.covariance,
        by_gravity: meeting.by_gravity,
        chi2: meeting.chi2,
        dof: meeting.dof,
        gaps,
        corners,
    })
}
