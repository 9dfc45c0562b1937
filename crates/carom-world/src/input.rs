//! Inputs of sessions: what a caller changes in a run.

use crate::SessionError;
use crate::body::Body;
use carom_joints::Placed;
use carom_variational::State;
use nalgebra::Vector3;

/// Input of a session at its present time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// Sets the velocity of a body; `None` leaves a part as it is.
    Velocity {
        /// Index of the body.
        body: usize,
        /// Velocity of the center of mass in space (m/s).
        velocity: Option<Vector3<f64>>,
        /// Angular velocity in space (rad/s).
        angular_velocity: Option<Vector3<f64>>,
    },
    /// Applies an impulse. Joints and lasting contacts answer at once, without restitution; other closed contacts have an impact.
    Impulse {
        /// Index of the body.
        body: usize,
        /// Impulse in space (N s).
        impulse: Vector3<f64>,
        /// Point in space at which the impulse acts (m); `None` for the center of mass.
        at: Option<Vector3<f64>>,
        /// Moment in space (N m s).
        moment: Vector3<f64>,
    },
    /// Sets the state of all bodies. Places and velocities of fixed bodies stay.
    State {
        /// Place and velocity of each body; a body of jointed bodies without a place is placed by its joint.
        placed: Vec<Placed>,
        /// Value and rate of each joint coordinate; `None` if the bodies determine it. Empty without joints.
        coordinates: Vec<[Option<f64>; 2]>,
    },
    /// Sets a joint coordinate and its rate, and poses everything that hangs on the joint; `None` leaves a part as it is.
    Joint {
        /// Index of the coordinate.
        coordinate: usize,
        /// Value (rad or m).
        position: Option<f64>,
        /// Rate (rad/s or m/s).
        rate: Option<f64>,
    },
    /// Ends the present step here and changes nothing.
    Cut,
    /// Sets the force of the caller along each joint coordinate (N m or N), which stays until it is set again.
    Control(Vec<f64>),
}

impl Input {
    /// True if the input can be taken by a run that stopped.
    pub(crate) fn revives(&self) -> bool {
        matches!(
            self,
            Self::Velocity { .. } | Self::State { .. } | Self::Joint { .. }
        )
    }

    /// Returns the only body that the input changes, if there is one.
    pub(crate) fn body(&self) -> Option<usize> {
        match self {
            Self::Velocity { body, .. } | Self::Impulse { body, .. } => Some(*body),
            _ => None,
        }
    }

    /// Checks the input of a system with `n_bodies` bodies and `n_coordinates` joint coordinates.
    pub(crate) fn check(&self, n_bodies: usize, n_coordinates: usize) -> Result<(), SessionError> {
        if let Some(body) = self.body().filter(|body| *body >= n_bodies) {
            return Err(SessionError::UnknownBody { body, n_bodies });
        }
        let length = |what: &'static str, expected: usize, found: usize| {
            let fault = SessionError::DimensionMismatch {
                what,
                expected,
                found,
            };
            if expected == found {
                Ok(())
            } else {
                Err(fault)
            }
        };
        match self {
            Self::State {
                placed,
                coordinates,
            } => {
                length("bodies", n_bodies, placed.len())?;
                length("coordinates", n_coordinates, coordinates.len())?;
            }
            Self::Control(forces) => length("forces", n_coordinates, forces.len())?,
            Self::Joint { coordinate, .. } if *coordinate >= n_coordinates => {
                return Err(SessionError::UnknownCoordinate {
                    coordinate: *coordinate,
                    n_coordinates,
                });
            }
            _ => (),
        }
        match self.numbers().into_iter().find(|x| !x.is_finite()) {
            Some(value) => Err(SessionError::NonFiniteInput { value }),
            None => Ok(()),
        }
    }

    fn numbers(&self) -> Vec<f64> {
        let vectors = |list: &[Option<Vector3<f64>>]| -> Vec<f64> {
            let all = list.iter().flatten();
            all.flat_map(|v| [v.x, v.y, v.z]).collect()
        };
        match self {
            Self::Velocity {
                velocity,
                angular_velocity,
                ..
            } => vectors(&[*velocity, *angular_velocity]),
            Self::Impulse {
                impulse,
                at,
                moment,
                ..
            } => vectors(&[Some(*impulse), *at, Some(*moment)]),
            Self::State {
                placed,
                coordinates,
            } => {
                let of = |p: &Placed| {
                    let place = p.configuration.map(|c| c.translation);
                    vectors(&[place, Some(p.velocity), Some(p.angular_velocity)])
                };
                let bodies = placed.iter().flat_map(of);
                bodies
                    .chain(coordinates.iter().flatten().flatten().copied())
                    .collect()
            }
            Self::Joint { position, rate, .. } => {
                [*position, *rate].into_iter().flatten().collect()
            }
            Self::Cut => Vec::new(),
            Self::Control(forces) => forces.clone(),
        }
    }

    /// Returns the state of the body with the index `index` after the input, from that before; contacts and joints do not answer.
    pub(crate) fn changed(&self, index: usize, body: &Body, state: &State) -> State {
        let Some(rigid) = &body.rigid else {
            return *state;
        };
        let mut out = *state;
        let spin =
            |rotation: &carom_lie::So3, w: &Vector3<f64>| rigid.inertia() * rotation.rotate_back(w);
        match self {
            Self::Velocity {
                velocity,
                angular_velocity,
                ..
            } => {
                if let Some(v) = velocity {
                    out.linear_momentum = v * rigid.mass();
                }
                if let Some(w) = angular_velocity {
                    out.angular_momentum = spin(&state.rotation, w);
                }
            }
            Self::Impulse {
                impulse,
                at,
                moment,
                ..
            } => {
                out.linear_momentum += impulse;
                let moment = moment_about(state, impulse, *at, moment);
                out.angular_momentum += state.rotation.rotate_back(&moment);
            }
            Self::State { placed, .. } => {
                let Some(placed) = placed.get(index) else {
                    return out;
                };
                if let Some(place) = placed.configuration {
                    (out.position, out.rotation) = (place.translation, place.rotation);
                }
                out.linear_momentum = placed.velocity * rigid.mass();
                out.angular_momentum = spin(&out.rotation, &placed.angular_velocity);
            }
            Self::Joint { .. } | Self::Cut | Self::Control(_) => (),
        }
        out
    }
}

/// Returns the moment about the center of mass of a body (N m s) of an `impulse` at a point in space and a `moment`.
pub(crate) fn moment_about(
    state: &State,
    impulse: &Vector3<f64>,
    at: Option<Vector3<f64>>,
    moment: &Vector3<f64>,
) -> Vector3<f64> {
    moment + at.map_or(Vector3::zeros(), |at| (at - state.position).cross(impulse))
}
