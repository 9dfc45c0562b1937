//! Noise, gravity and the plane of an experiment.

use crate::Poses;
use crate::setup::Plane;
use nalgebra::Vector3;

/// Gravity as estimated from one flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlightGravity {
    /// Number of the toss.
    pub toss: u64,
    /// Twice the quadratic coefficient of the parabola through its positions (m/s²).
    pub gravity: Vector3<f64>,
    /// Variance of a component (m²/s⁴): of the noise, and of what differs from flight to flight beyond it.
    pub variance: f64,
}

/// Noise of the tracker, gravity and plane, as estimated from poses.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseModel {
    /// Standard deviation of a position, per axis in space (m).
    pub position_m: [f64; 3],
    /// Standard deviation of an attitude, per axis of the body (rad).
    pub rotation_rad: [f64; 3],
    /// Standard deviation of a component of a position, whatever the axes are (m): what weights are made of.
    pub position_spread: f64,
    /// Standard deviation of the position component with the most noise (m): a second difference beyond six of these is no noise.
    pub widest_position_spread: f64,
    /// Standard deviation of an attitude (rad).
    pub rotation_spread: f64,
    /// Gravity in space (m/s²), estimated or given.
    pub gravity: Vector3<f64>,
    /// Estimates of gravity by single flights; none if it is given.
    pub flights: Vec<FlightGravity>,
    /// The plane, its offset estimated or given.
    pub plane: Plane,
    /// Tilt of the resting poses against the given normal: the slopes along the two tangents of
    /// [`tangents`], from a linear regression; zero with fewer than three tosses at rest. A diagnostic: the normal
    /// stays as given.
    pub tilt: [f64; 2],
    /// Triples of consecutive poses in flight.
    pub samples: usize,
}

/// Two unit vectors that make a right-handed frame with a unit normal.
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

/// Second difference of the positions around a sample (m).
pub(crate) fn bend(toss: &Poses, k: usize) -> Vector3<f64> {
    toss.position[k + 1] - toss.position[k] * 2.0 + toss.position[k - 1]
}
