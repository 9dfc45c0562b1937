//! Noise, gravity and plane of an experiment.

use super::setup::Plane;
use crate::Poses;
use nalgebra::Vector3;

/// Estimate of the acceleration of gravity from the poses of one flight.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlightGravity {
    /// Number of the toss.
    pub toss: u64,
    /// Gravity (m/s²): twice the quadratic coefficient of the parabola through the positions.
    pub gravity: Vector3<f64>,
    /// Variance of a component (m²/s⁴): that of the noise, plus the variance between flights beyond the noise.
    pub variance: f64,
}

/// Measurement model of an experiment: noise of the tracker, acceleration of gravity, and contact plane. Each of these is given
/// or estimated from tracked poses by [`estimate_noise`](crate::estimate_noise).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NoiseModel {
    /// Standard deviation of a position along each axis in space (m).
    pub position_m: [f64; 3],
    /// Standard deviation of an attitude about each body axis (rad).
    pub rotation_rad: [f64; 3],
    /// Standard deviation of a position component, independent of the axes (m). Weights are computed from it.
    pub position_spread: f64,
    /// Standard deviation of the position component with the most noise (m). A second difference beyond six of
    /// these is not noise.
    pub widest_position_spread: f64,
    /// Standard deviation of an attitude, independent of the axes (rad).
    pub rotation_spread: f64,
    /// Gravity in space (m/s²), estimated or given.
    pub gravity: Vector3<f64>,
    /// Estimates of gravity from single flights; empty if gravity is given.
    pub flights: Vec<FlightGravity>,
    /// The plane. Its offset is estimated or given.
    pub plane: Plane,
    /// Tilt of the plane of resting poses against the given normal: slopes along the two [`tangents`], from a
    /// linear regression. Zero with fewer than three tosses that end at rest. This is only a diagnostic; the
    /// given normal is used.
    pub tilt: [f64; 2],
    /// Number of triples of consecutive poses in flight.
    pub samples: usize,
}

/// Returns two unit vectors perpendicular to a unit normal and to each other. The two vectors and the normal, in this order,
/// form a right-handed frame.
#[must_use]
pub fn tangents(normal: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let axis = if normal.x.abs() <= 0.5 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    let first = (axis - normal * normal.dot(&axis)).normalize();
    [first, normal.cross(&first)]
}

/// Returns the second difference of the positions around sample `k` of a toss (m): the next position minus twice the
/// present one plus the previous one.
pub(crate) fn second_difference(toss: &Poses, k: usize) -> Vector3<f64> {
    toss.position[k + 1] - toss.position[k] * 2.0 + toss.position[k - 1]
}
