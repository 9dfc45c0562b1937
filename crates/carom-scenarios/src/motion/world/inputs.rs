//! Inputs of sessions, by names and numbers.

use super::session::{Kind, Session, on};
use super::whole::{NewState, SessionState, Whole};
use crate::config::TOLD_LENGTH;
use carom_lie::{Se3, So3};
use carom_world::joints::Placed;
use carom_world::{Input, SessionError};
use nalgebra::Vector3;

/// Returns the place of a name, or an error that names the nearest one.
fn place_of(names: &[&str], name: &str, what: &'static str) -> Result<usize, SessionError> {
    let found = names.iter().position(|known| *known == name);
    found.ok_or_else(|| SessionError::UnknownName {
        what,
        name: name.to_owned(),
        hint: match names {
            [] => "; the world has none".to_owned(),
            names => format!("; known: {}", names.join(", ")),
        },
    })
}

/// Returns a part of a state: that which is given, or that which is there.
fn part<T: Clone>(
    what: &'static str,
    given: &Option<Vec<T>>,
    now: Vec<T>,
) -> Result<Vec<T>, SessionError> {
    match given {
        Some(list) if list.len() != now.len() => Err(SessionError::DimensionMismatch {
            what,
            expected: now.len(),
            found: list.len(),
        }),
        Some(list) => Ok(list.clone()),
        None => Ok(now),
    }
}

/// Returns the rotation of a quaternion w, x, y, z.
fn rotation([w, x, y, z]: [f64; 4]) -> Result<So3, SessionError> {
    let v = Vector3::new(x, y, z);
    let length = (w * w + v.norm_squared()).sqrt();
    if !length.is_finite() {
        return Err(SessionError::NonFiniteInput { value: length });
    }
    let turn = So3::from_quaternion(w, &v).filter(|_| (length - 1.0).abs() <= TOLD_LENGTH);
    turn.ok_or_else(|| SessionError::InvalidValue {
        what: format!("quaternion: its length is {length}, not 1"),
    })
}

impl Session {
    fn input(&mut self, input: &Input) -> Result<(), SessionError> {
        on!(self, track => track.session.input(input))
    }

    fn body(&self, name: &str) -> Result<usize, SessionError> {
        place_of(&self.bodies(), name, "body")
    }

    /// Returns the index of a joint coordinate among all.
    fn coordinate(&self, name: &str) -> Result<usize, SessionError> {
        let place = place_of(&self.coordinates(), name, "coordinate")?;
        Ok(self.open().0[place])
    }

    /// Returns the indices of the coordinates that have names here, among all, and the number of all.
    fn open(&self) -> (Vec<usize>, usize) {
        match &self.kind {
            Kind::Free(track) => track.whole.open(),
            Kind::Jointed(track) => track.whole.open(),
        }
    }

    /// Sets velocity (m/s) and angular velocity (rad/s) in space of a body that no joint holds; `None` stays. Closed contacts that
    /// then approach have an impact.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownName`], [`SessionError::JointedBody`], and the errors of [`carom_world::SessionOf::input`].
    pub fn set_velocity(
        &mut self,
        body: &str,
        velocity: Option<[f64; 3]>,
        angular_velocity: Option<[f64; 3]>,
    ) -> Result<(), SessionError> {
        let body = self.body(body)?;
        self.input(&Input::Velocity {
            body,
            velocity: velocity.map(Vector3::from),
            angular_velocity: angular_velocity.map(Vector3::from),
        })
    }

    /// Applies an impulse (N s) to a body at a point in space (m), by default its center of mass, and a moment (N m s). Joints and
    /// lasting contacts answer without restitution; other closed contacts that then approach have an impact.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownName`], and the errors of [`carom_world::SessionOf::input`].
    pub fn impulse(
        &mut self,
        body: &str,
        impulse: [f64; 3],
        at: Option<[f64; 3]>,
        moment: [f64; 3],
    ) -> Result<(), SessionError> {
        let body = self.body(body)?;
        self.input(&Input::Impulse {
            body,
            impulse: impulse.into(),
            at: at.map(Vector3::from),
            moment: moment.into(),
        })
    }

    /// Sets the force on a body (N, in space, at its center of mass), which stays until it is set again.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownName`], and the errors of [`carom_world::SessionOf::input`].
    pub fn set_force(&mut self, body: &str, force: [f64; 3]) -> Result<(), SessionError> {
        let body = self.body(body)?;
        on!(self, track => track.session.set_force(body, force.into()))
    }

    /// Sets a joint coordinate (rad or m) and its rate, and poses everything that hangs on the joint; `None` stays.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownName`], [`SessionError::JointedBody`] in a loop of joints, and the errors of
    /// [`carom_world::SessionOf::input`].
    pub fn set_joint(
        &mut self,
        coordinate: &str,
        position: Option<f64>,
        rate: Option<f64>,
    ) -> Result<(), SessionError> {
        let coordinate = self.coordinate(coordinate)?;
        self.input(&Input::Joint {
            coordinate,
            position,
            rate,
        })
    }

    /// Sets the forces of the caller along the joint coordinates (N m or N), on top of the actuators; they stay until they are set
    /// again.
    ///
    /// # Errors
    ///
    /// The errors of [`carom_world::SessionOf::input`].
    pub fn set_control(&mut self, forces: &[f64]) -> Result<(), SessionError> {
        let (open, all) = self.open();
        if forces.len() != open.len() {
            return Err(SessionError::DimensionMismatch {
                what: "forces",
                expected: open.len(),
                found: forces.len(),
            });
        }
        let mut list = vec![0.0; all];
        for (k, force) in open.iter().zip(forces) {
            list[*k] = *force;
        }
        self.input(&Input::Control(list))?;
        self.control = forces.to_vec();
        Ok(())
    }

    /// Sets the force of the caller along one joint coordinate (N m or N); those along the others stay.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownName`], and the errors of [`carom_world::SessionOf::input`].
    pub fn set_control_of(&mut self, forces: &[(String, f64)]) -> Result<(), SessionError> {
        let mut all = self.control.clone();
        for (name, force) in forces {
            all[place_of(&self.coordinates(), name, "coordinate")?] = *force;
        }
        self.set_control(&all)
    }

    /// Sets the target of the `pd` actuator of a joint coordinate (rad or m), which then stays, instead of its table.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownName`], [`SessionError::NoTarget`], and the errors of [`carom_world::SessionOf::input`].
    pub fn set_target(&mut self, coordinate: &str, value: f64) -> Result<(), SessionError> {
        let coordinate = self.coordinate(coordinate)?;
        match &mut self.kind {
            Kind::Free(_) => Err(SessionError::NoTarget { coordinate }),
            Kind::Jointed(track) => track.session.set_target(coordinate, value),
        }
    }

    /// Sets the state. Joints are checked and closed as at a start, and overlaps refused; the time stays. Closed contacts stay so
    /// without an impact unless they approach.
    ///
    /// # Errors
    ///
    /// [`SessionError::DimensionMismatch`], and the errors of [`carom_world::SessionOf::input`].
    pub fn set_state(&mut self, new: &NewState) -> Result<(), SessionError> {
        let now: SessionState = self.state()?;
        let has_bodies = new.position.is_some()
            || new.quaternion.is_some()
            || new.velocity.is_some()
            || new.angular_velocity.is_some();
        let has_joints = new.joint_position.is_some() || new.joint_velocity.is_some();
        let positions = part("positions", &new.position, now.position)?;
        let quaternions = part("quaternions", &new.quaternion, now.quaternion)?;
        let velocities = part("velocities", &new.velocity, now.velocity)?;
        let spins = part(
            "angular velocities",
            &new.angular_velocity,
            now.angular_velocity,
        )?;
        let values = part("joint positions", &new.joint_position, now.joint_position)?;
        let rates = part("joint velocities", &new.joint_velocity, now.joint_velocity)?;
        let hangs = match &self.kind {
            Kind::Free(track) => track.whole.hangs(),
            Kind::Jointed(track) => track.whole.hangs(),
        };
        let mut placed = Vec::new();
        for (body, hangs) in hangs.into_iter().enumerate() {
            // A joint places its body, unless the caller does.
            placed.push(if hangs && !has_bodies {
                Placed::default()
            } else {
                let place = Se3::new(rotation(quaternions[body])?, positions[body].into());
                Placed::default()
                    .with_configuration(Some(place))
                    .with_velocity(velocities[body].into())
                    .with_angular_velocity(spins[body].into())
            });
        }
        let (open, all) = self.open();
        let mut coordinates = vec![[None; 2]; all];
        if has_joints || !has_bodies {
            for ((k, value), rate) in open.iter().zip(&values).zip(&rates) {
                coordinates[*k] = [Some(*value), Some(*rate)];
            }
        }
        self.input(&Input::State {
            placed,
            coordinates,
        })
    }
}
