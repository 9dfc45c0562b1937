//! Estimates of noise, gravity and the plane from the poses.

use super::gravity::{flights, pooled};
use super::noise::{NoiseModel, second_difference, tangents};
use super::setup::{Plane, Setup};
use super::table::FEWEST_POSES;
use crate::robust::{Cloud, mad_sigma, median};
use crate::{DataError, Poses};
use nalgebra::{Matrix3, Vector3};

/// Estimates the noise of the tracker, gravity and the contact plane from tracked poses. Noise and gravity result from the
/// poses in flight. The offset of the plane along its known normal results from the last pose of each toss, in which the body
/// rests. Gravity and offset that `setup` gives are used instead of estimates.
///
/// Let $h$ be the median time step of a toss, and let $p_k$ and $R_k$ be the positions and attitudes of the body in flight. The
/// accelerations are $a_k = (p_{k+1} - 2p_k + p_{k-1})/h^2$. The noise of a position is the spread of $a_kh^2$, divided by
/// $\sqrt6$. For the noise of an attitude, the differences of consecutive rotations $\log(R_k^TR_{k+1})$ are computed, and the
/// change that Euler's equations predict is subtracted. The noise is the spread of the results, divided by $\sqrt6$. A spread
/// along one axis is 1.4826 times the median absolute deviation. A spread over all directions does not depend on the choice of
/// the world axes.
///
/// Huber's mean of $a_k$ is a first estimate of gravity, with which flights are recognized. For the final estimate, a parabola
/// is fitted to the positions of each whole flight. Gravity is Huber's mean of the accelerations of these parabolas, weighted
/// by their accuracy. An error of gravity causes errors of all velocities at the impacts: they have equal signs before the
/// impacts, and the opposite sign after them.
///
/// # Errors
///
/// [`DataError::NoRestingPose`] and [`DataError::NoFlight`].
pub fn estimate_noise(poses: &[Poses], setup: &Setup) -> Result<NoiseModel, DataError> {
    setup.options.check()?;
    let (plane, tilt) = estimate_plane(poses, setup)?;
    let (mut accelerations, mut second_differences, mut turns) =
        (Vec::new(), Vec::new(), Vec::new());
    for toss in poses {
        let h = toss.time_step();
        let is_free = setup.flying(toss, &plane);
        for k in 1..toss.position.len().saturating_sub(1) {
            if !is_free[k - 1..=k + 1].iter().all(|free| *free) {
                continue;
            }
            let second_difference = second_difference(toss, k);
            accelerations.push(second_difference / (h * h));
            second_differences.push(second_difference);
            turns.push(setup.body.excess_turn(&toss.rotation[k - 1..=k + 1], h));
        }
    }
    let found = second_differences.len();
    if found < FEWEST_POSES {
        return Err(DataError::NoFlight { found });
    }
    let none = || DataError::NoFlight { found };
    let per_axis = |vectors: &[Vector3<f64>]| -> Result<[f64; 3], DataError> {
        let mut sigma = [0.0; 3];
        for (axis, sigma) in sigma.iter_mut().enumerate() {
            let values: Vec<f64> = vectors.iter().map(|v| v[axis]).collect();
            *sigma = mad_sigma(&values).ok_or_else(none)? / 6.0_f64.sqrt();
        }
        Ok(sigma)
    };
    let cloud = |vectors: &[Vector3<f64>]| Cloud::new(vectors).ok_or_else(none);
    let positions = cloud(&second_differences)?;
    let mut noise = NoiseModel {
        position_m: per_axis(&second_differences)?,
        rotation_rad: per_axis(&turns)?,
        position_spread: positions.spread / 6.0_f64.sqrt(),
        widest_position_spread: positions.widest / 6.0_f64.sqrt(),
        rotation_spread: cloud(&turns)?.spread / 6.0_f64.sqrt(),
        gravity: match setup.gravity {
            Some(gravity) => gravity,
            None => cloud(&accelerations)?.center,
        },
        flights: Vec::new(),
        plane,
        tilt,
        samples: found,
    };
    if setup.gravity.is_none() {
        let flights = flights(poses, setup, &noise);
        if let Some(gravity) = pooled(&flights, |_| 1.0) {
            noise.gravity = gravity;
            noise.flights = flights;
        }
    }
    Ok(noise)
}

/// Estimates the contact plane from the last pose of each toss, in which the body rests on the plane. The offset of the plane
/// along its known normal is the median over the tosses. Also returns the slopes of the resting heights along two tangents, a
/// measure of the tilt.
fn estimate_plane(poses: &[Poses], setup: &Setup) -> Result<(Plane, [f64; 2]), DataError> {
    let normal = setup.plane.normal;
    let [first, second] = tangents(&normal);
    let mut heights = Vec::new();
    let mut places = Vec::new();
    for toss in poses {
        let (Some(position), Some(rotation)) = (toss.position.last(), toss.rotation.last()) else {
            continue;
        };
        if let Some(height) = resting_height(setup, position, rotation) {
            heights.push(height);
            places.push((first.dot(position), second.dot(position), height));
        }
    }
    let offset = match setup.plane.offset {
        Some(offset) => offset,
        None => -median(&mut heights).ok_or(DataError::NoRestingPose)?,
    };
    Ok((Plane { normal, offset }, slopes(&places)))
}

/// Returns the mean height (m) of the vertices of the face on which the body rests, along the plane's normal. `None`
/// unless at least three vertices are within the contact band above the lowest one.
fn resting_height(
    setup: &Setup,
    position: &Vector3<f64>,
    rotation: &carom_lie::So3,
) -> Option<f64> {
    let normal = setup.plane.normal;
    let lowest = setup.body.lowest(&normal, position, rotation);
    let (mut sum, mut count) = (0.0, 0);
    for height in setup.body.heights(&normal, position, rotation) {
        if height <= lowest + setup.options.band {
            sum += height;
            count += 1;
        }
    }
    (count >= 3).then(|| sum / f64::from(count))
}

/// Fits a plane to points by least squares. Each entry holds two coordinates and a height (m). Returns the slopes of
/// the height along both coordinates, zero if the points do not determine them.
fn slopes(places: &[(f64, f64, f64)]) -> [f64; 2] {
    let (mut normal, mut right) = (Matrix3::zeros(), Vector3::zeros());
    for &(x, y, z) in places {
        let row = Vector3::new(1.0, x, y);
        normal += row * row.transpose();
        right += row * z;
    }
    match normal.cholesky() {
        Some(factor) if places.len() >= 3 => {
            let solution = factor.solve(&right);
            [solution.y, solution.z]
        }
        _ => [0.0; 2],
    }
}
