//! Motions that bodies are told: velocities, or formulas of time.

use crate::State;
use crate::load::Formula;
use carom_lie::{Se3, So3};
use nalgebra::{UnitVector3, Vector3};

/// Motion that a body is told, from its place at the time 0. It is hit, carries and rubs, and never reacts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Prescribed {
    /// Constant velocities.
    Constant {
        /// Velocity of the center in space (m/s).
        #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
        velocity: Vector3<f64>,
        /// Angular velocity in space (rad/s).
        #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
        angular_velocity: Vector3<f64>,
    },
    /// Formulas of time, added to the place at the time 0.
    Formulas {
        /// Displacement of the center in space (m).
        displacement: [Formula; 3],
        /// Axis in space about which the body turns.
        #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
        axis: Vector3<f64>,
        /// Angle of the turn (rad).
        angle: Formula,
    },
}

/// Place, velocity and acceleration of a body at one time.
#[derive(Clone, Copy, Debug)]
struct Point {
    place: Se3,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    acceleration: Vector3<f64>,
    /// Angular acceleration in space (rad/s²).
    turning: Vector3<f64>,
}

impl Prescribed {
    fn at(&self, start: &Se3, time: f64) -> Point {
        match self {
            Self::Constant {
                velocity,
                angular_velocity,
            } => Point {
                place: Se3::new(
                    So3::exp(&(angular_velocity * time)).compose(&start.rotation),
                    start.translation + velocity * time,
                ),
                velocity: *velocity,
                spin: *angular_velocity,
                acceleration: Vector3::zeros(),
                turning: Vector3::zeros(),
            },
            Self::Formulas {
                displacement,
                axis,
                angle,
            } => {
                let parts = displacement.each_ref().map(|part| part.of_time(time));
                let along = |k: usize| Vector3::from(parts.map(|part| part[k]));
                let [turn, rate, change] = angle.of_time(time);
                let axis = UnitVector3::try_new(*axis, 0.0).map_or(Vector3::zeros(), |axis| *axis);
                Point {
                    place: Se3::new(
                        So3::exp(&(axis * turn)).compose(&start.rotation),
                        start.translation + along(0),
                    ),
                    velocity: along(1),
                    spin: axis * rate,
                    acceleration: along(2),
                    turning: axis * change,
                }
            }
        }
    }

    /// Returns the state at `time` (s) of a body that is at `start` at the time 0, with velocities in place of momenta: a body that
    /// is told its motion has no mass.
    pub fn state(&self, start: &Se3, time: f64) -> State {
        let point = self.at(start, time);
        State {
            position: point.place.translation,
            rotation: point.place.rotation,
            linear_momentum: point.velocity,
            angular_momentum: point.place.rotation.rotate_back(&point.spin),
        }
    }

    /// Returns the magnitude of the acceleration of the center at `time` (m/s²).
    pub fn acceleration(&self, start: &Se3, time: f64) -> f64 {
        self.at(start, time).acceleration.norm()
    }

    /// Returns a bound of the acceleration (m/s²) of points within `radius` (m) of the center, from `time` (s) on for `length` (s):
    /// twice the largest of some instants, exact for constant velocities.
    pub fn acceleration_bound(&self, start: &Se3, radius: f64, time: f64, length: f64) -> f64 {
        let one = |point: Point| {
            let turns = point.spin.norm_squared() + point.turning.norm();
            point.acceleration.norm() + radius * turns
        };
        match self {
            Self::Constant { .. } => one(self.at(start, time)),
            Self::Formulas { .. } => {
                let instants = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| time + length * share);
                let all = instants.into_iter().map(|time| one(self.at(start, time)));
                2.0 * all.fold(0.0, f64::max)
            }
        }
    }
}
