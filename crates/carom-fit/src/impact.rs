//! Isolated impacts of a body on a plane.

use crate::Poses;
use crate::episode::{Verdict, episodes, verdict};
use crate::meet::Flights;
use crate::noise::NoiseModel;
use crate::setup::Setup;
use carom_lie::So3;
use nalgebra::{SMatrix, Vector3};
use rayon::prelude::*;

/// Root mean square residuals beyond which two flights do not explain the poses: at least these
/// (m, rad), or this many standard deviations of the noise.
const LARGEST_RMS: [f64; 2] = [0.2e-3, 4e-3];
const LARGEST_RMS_OVER_NOISE: [f64; 2] = [4.0, 8.0];

/// Height of the lowest vertex above the plane beyond which nothing can have hit it (m).
const FARTHEST: f64 = 6e-3;

/// Number of vertices that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One.
    Corner,
    /// Two.
    Edge,
    /// Three or more.
    Face,
}

impl Kind {
    /// All kinds, in the order of the record.
    pub const ALL: [Self; 3] = [Self::Corner, Self::Edge, Self::Face];

    /// Its name in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Corner => "corner",
            Self::Edge => "edge",
            Self::Face => "face",
        }
    }
}

/// One impact between two flights. Six-vectors are the velocity of the center of mass (m/s) and the
/// angular velocity (rad/s), both in world axes.
#[derive(Clone, Debug)]
pub struct Impact {
    /// Number of the toss.
    pub toss: u64,
    /// Index of the episode within the toss, from 0.
    pub index: usize,
    /// First and last flagged sample.
    pub window: [usize; 2],
    /// Time (s).
    pub time: f64,
    /// Position of the center of mass (m).
    pub position: Vector3<f64>,
    /// Attitude, body to space.
    pub rotation: So3,
    /// Velocities before.
    pub velocity_minus: [f64; 6],
    /// Velocities after.
    pub velocity_plus: [f64; 6],
    /// Covariance of the velocities, before first, for this gravity.
    pub covariance: SMatrix<f64, 12, 12>,
    /// Derivative of the velocities, before first, by gravity (s, and s/m for angular velocities).
    pub by_gravity: SMatrix<f64, 12, 3>,
    /// Sum of squared residuals over the noise.
    pub chi2: f64,
    /// Residuals less unknowns.
    pub dof: usize,
    /// Heights of the touching vertices above the plane (m).
    pub gaps: Vec<f64>,
    /// Indices of the touching vertices.
    pub corners: Vec<usize>,
    /// Number of vertices that touch.
    pub kind: Kind,
}

/// Episodes that are no usable impacts, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Excluded {
    /// Longer than one impact.
    pub wide: usize,
    /// Too little flight before or after.
    pub short: usize,
    /// Two flights do not explain the poses.
    pub noisy: usize,
    /// Nothing near the plane.
    pub far: usize,
}

/// All episodes of all tosses, sorted out.
#[derive(Clone, Debug)]
pub struct Census {
    /// Episodes found.
    pub episodes: usize,
    /// Isolated impacts, by toss and time.
    pub impacts: Vec<Impact>,
    /// The others.
    pub excluded: Excluded,
}

/// Result of one episode.
enum Found {
    Impact(Box<Impact>),
    Wide,
    Short,
    Noisy,
    Far,
}

/// Finds the isolated impacts of all tosses and the states before and after each.
///
/// A sample is flagged if its second difference is not gravity's; flagged samples with at most one
/// between them are an episode; one of at most `width` samples with at least `least` samples of
/// flight on both sides is fitted by two flights that meet at one pose.
#[must_use]
pub fn find_impacts(poses: &[Poses], setup: &Setup, noise: &NoiseModel) -> Census {
    let found: Vec<Vec<Found>> = poses
        .par_iter()
        .map(|toss| {
            let episodes = episodes(toss, noise);
            (0..episodes.len())
                .map(|place| {
                    let window = [episodes[place].first, episodes[place].last];
                    match verdict(&episodes, place, toss.time.len(), &setup.options) {
                        Verdict::Wide => Found::Wide,
                        Verdict::Short => Found::Short,
                        Verdict::Isolated { before, after } => {
                            let flights = Flights {
                                toss,
                                body: &setup.body,
                                noise,
                                windows: [before, after],
                            };
                            impact(&flights, setup, place, window)
                        }
                    }
                })
                .collect()
        })
        .collect();
    let mut census = Census {
        episodes: 0,
        impacts: Vec::new(),
        excluded: Excluded::default(),
    };
    for found in found.into_iter().flatten() {
        census.episodes += 1;
        match found {
            Found::Impact(impact) => census.impacts.push(*impact),
            Found::Wide => census.excluded.wide += 1,
            Found::Short => census.excluded.short += 1,
            Found::Noisy => census.excluded.noisy += 1,
            Found::Far => census.excluded.far += 1,
        }
    }
    census
}

fn impact(flights: &Flights<'_>, setup: &Setup, index: usize, window: [usize; 2]) -> Found {
    let noise = flights.noise;
    let Some(meeting) = flights.meet() else {
        return Found::Noisy;
    };
    let spread = [noise.position_spread, noise.rotation_spread];
    for k in 0..2 {
        let limit = LARGEST_RMS[k].max(LARGEST_RMS_OVER_NOISE[k] * spread[k]);
        if !(meeting.rms[k] <= limit) {
            return Found::Noisy;
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
        return Found::Far;
    }
    let (corners, gaps): (Vec<usize>, Vec<f64>) = heights
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, height)| *height <= lowest + setup.options.band)
        .unzip();
    let kind = match corners.len() {
        0 | 1 => Kind::Corner,
        2 => Kind::Edge,
        _ => Kind::Face,
    };
    Found::Impact(Box::new(Impact {
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
        kind,
    }))
}
