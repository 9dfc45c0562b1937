//! Body of a world, as described in a file.

use super::forces::DragConfig;
use super::told::MotionConfig;
use crate::ScenarioError;
use crate::lie_group::bouncing::ShapeConfig;
use carom_geometry::{GeometryError, MassProperties, Shape};
use carom_lie::{Se3, So3};
use carom_variational::Prescribed;
use carom_world::BodySpec;
use carom_world::joints::Placed;
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;

/// Mass properties (`None` for a fixed body) and initial placement of a body.
pub(super) type Part = (Option<MassProperties>, Placed);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyConfig {
    pub(super) name: String,
    pub(super) mass: Option<f64>,
    pub(super) shape: Option<ShapeConfig>,
    pub(super) inertia: Option<[[f64; 3]; 3]>,
    pub(super) position: Option<[f64; 3]>,
    pub(super) quaternion: Option<[f64; 4]>,
    pub(super) rotation: Option<[[f64; 3]; 3]>,
    pub(super) velocity: Option<[f64; 3]>,
    pub(super) angular_velocity: Option<[f64; 3]>,
    pub(super) drag: Option<DragConfig>,
    pub(super) surface_velocity: Option<[f64; 3]>,
    pub(super) motion: Option<MotionConfig>,
    #[serde(default)]
    pub(super) fixed: bool,
    /// True for an inertia that is positive definite and that no mass distribution has, from a robot's file.
    #[serde(skip)]
    pub(super) is_unphysical: bool,
}

impl BodyConfig {
    pub(super) fn build(&self, key: &str) -> Result<BodySpec, ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        let named = |message: String| format!("`{}`: {message}", self.name);
        let Some(position) = self.position else {
            return Err(ScenarioError::value(
                &of("position"),
                named("missing".to_owned()),
            ));
        };
        let (velocity, angular_velocity) = self.velocities(key)?;
        crate::motion::finite(&of("position"), &position)?;
        let Some(shape) = &self.shape else {
            return Err(ScenarioError::value(
                &of("shape"),
                named("missing".to_owned()),
            ));
        };
        let shape = shape.build(&of("shape"))?;
        let wrong = |error: GeometryError| {
            let part = match error {
                GeometryError::NonPositiveMass { .. }
                | GeometryError::NonFinite { what: "mass" } => "mass",
                _ => "inertia",
            };
            ScenarioError::value(&of(part), named(error.to_string()))
        };
        let motion = self.told(key)?;
        let (mass, shape) = match (self.fixed || motion.is_some(), self.mass, &self.inertia) {
            (true, _, _) => (None, self.centered(shape)),
            (false, None, _) => {
                return Err(ScenarioError::value(
                    &of("mass"),
                    named("missing".to_owned()),
                ));
            }
            (false, Some(mass), Some(rows)) => {
                let inertia = Matrix3::from_fn(|i, j| rows[i][j]);
                (Some(self.properties(mass, inertia).map_err(wrong)?), shape)
            }
            (false, Some(mass), None) => {
                let properties = shape.mass_properties(mass).map_err(wrong)?;
                let shape = shape.translated(&-properties.center());
                (Some(properties), shape)
            }
        };
        Ok(BodySpec::new(
            self.name.clone(),
            mass,
            shape,
            Se3::new(self.attitude(key)?, Vector3::from(position)),
        )
        .with_velocity(velocity, angular_velocity)
        .with_surface_velocity(self.running(key)?)
        .with_motion(motion))
    }

    /// Returns the motion that the body is told; `None` without one.
    fn told(&self, key: &str) -> Result<Option<Prescribed>, ScenarioError> {
        let Some(motion) = &self.motion else {
            return Ok(None);
        };
        for (part, given) in [
            ("mass", self.mass.is_some()),
            ("inertia", self.inertia.is_some()),
            ("fixed", self.fixed),
            ("velocity", self.velocity.is_some()),
            ("angular_velocity", self.angular_velocity.is_some()),
        ] {
            if given {
                let message = format!(
                    "`{}`: `motion` says how it moves; leave this out",
                    self.name
                );
                return Err(ScenarioError::value(&format!("{key}.{part}"), message));
            }
        }
        motion.build(&format!("{key}.motion")).map(Some)
    }

    /// Returns the velocity with which the surface of a fixed body runs (m/s); zero for others, which may have none.
    fn running(&self, key: &str) -> Result<Vector3<f64>, ScenarioError> {
        let (key, running) = (
            format!("{key}.surface_velocity"),
            self.surface_velocity.unwrap_or_default(),
        );
        crate::motion::finite(&key, &running)?;
        if !self.fixed && running != [0.0; 3] {
            let message = format!("`{}`: only the surface of a fixed body runs", self.name);
            return Err(ScenarioError::value(&key, message));
        }
        Ok(Vector3::from(running))
    }

    fn properties(
        &self,
        mass: f64,
        inertia: Matrix3<f64>,
    ) -> Result<MassProperties, GeometryError> {
        if self.is_unphysical {
            MassProperties::with_any_moments(mass, inertia)
        } else {
            MassProperties::new(mass, inertia)
        }
    }

    /// Returns the initial velocity of the body (m/s) and its angular velocity (rad/s). Rejects velocities of a fixed body.
    /// `key`: configuration key of the body, for error messages.
    fn velocities(&self, key: &str) -> Result<(Vector3<f64>, Vector3<f64>), ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        let velocity = self.velocity.unwrap_or_default();
        let angular_velocity = self.angular_velocity.unwrap_or_default();
        crate::motion::finite(&of("velocity"), &velocity)?;
        crate::motion::finite(&of("angular_velocity"), &angular_velocity)?;
        let still = velocity == [0.0; 3] && angular_velocity == [0.0; 3];
        if self.fixed && !still {
            let which = if velocity == [0.0; 3] {
                "angular_velocity"
            } else {
                "velocity"
            };
            let message = format!("`{}`: a fixed body cannot move", self.name);
            return Err(ScenarioError::value(&of(which), message));
        }
        Ok((Vector3::from(velocity), Vector3::from(angular_velocity)))
    }

    /// Returns mass and initial placement of a body in a world with joints. `key`: configuration key of the body, for error
    /// messages. `alone`: true if the world has no joints, so that a position must be given.
    pub(super) fn part(&self, key: &str, alone: bool) -> Result<Part, ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        let fault = |part: &str, message: &str| {
            Err(ScenarioError::value(
                &of(part),
                format!("`{}`: {message}", self.name),
            ))
        };
        let (velocity, angular_velocity) = self.velocities(key)?;
        let Some(position) = self.position else {
            if self.fixed || alone {
                return fault("position", "missing");
            }
            for (part, given) in [
                ("quaternion", self.quaternion.is_some()),
                ("rotation", self.rotation.is_some()),
                ("velocity", self.velocity.is_some()),
                ("angular_velocity", self.angular_velocity.is_some()),
            ] {
                if given {
                    return fault(part, "given without a position, which a joint places");
                }
            }
            let place = Placed::default()
                .with_velocity(velocity)
                .with_angular_velocity(angular_velocity);
            return Ok((self.mass_of(key)?, place));
        };
        crate::motion::finite(&of("position"), &position)?;
        let place = Placed::default()
            .with_configuration(Some(Se3::new(self.attitude(key)?, Vector3::from(position))))
            .with_velocity(velocity)
            .with_angular_velocity(angular_velocity);
        Ok((self.mass_of(key)?, place))
    }

    /// Returns mass (kg) and inertia (kg m²) of the body about its center of mass; `None` if the body is fixed. `key`:
    /// configuration key of the body, for error messages.
    fn mass_of(&self, key: &str) -> Result<Option<MassProperties>, ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        let named = |message: String| format!("`{}`: {message}", self.name);
        let shape = match &self.shape {
            Some(shape) => Some(shape.build(&of("shape"))?),
            None => None,
        };
        if self.fixed {
            return Ok(None);
        }
        let Some(mass) = self.mass else {
            return Err(ScenarioError::value(
                &of("mass"),
                named("missing".to_owned()),
            ));
        };
        let made = match (&self.inertia, shape) {
            (Some(rows), _) => self.properties(mass, Matrix3::from_fn(|i, j| rows[i][j])),
            (None, Some(shape)) => shape.mass_properties(mass),
            (None, None) => {
                let message = named("a body without a shape needs its inertia".to_owned());
                return Err(ScenarioError::value(&of("inertia"), message));
            }
        };
        made.map(Some).map_err(|error| {
            let part = match error {
                GeometryError::NonPositiveMass { .. }
                | GeometryError::NonFinite { what: "mass" } => "mass",
                _ => "inertia",
            };
            ScenarioError::value(&of(part), named(error.to_string()))
        })
    }

    /// Returns the shape of the body in body axes, with its center of mass as the origin; `None` if the body has no shape.
    /// `key`: configuration key of the body, for error messages.
    pub(super) fn own_shape(&self, key: &str) -> Result<Option<Shape>, ScenarioError> {
        let Some(shape) = &self.shape else {
            return Ok(None);
        };
        let shape = shape.build(&format!("{key}.shape"))?;
        let shape = match (self.fixed, self.inertia.is_some()) {
            (true, _) => self.centered(shape),
            (false, true) => shape,
            (false, false) => match shape.mass_properties(1.0) {
                Ok(properties) => shape.translated(&-properties.center()),
                Err(_) => shape,
            },
        };
        Ok(Some(shape))
    }

    /// Moves the shape of a fixed body so that its center of mass for uniform density becomes the origin, as for a mobile
    /// body. If the body's inertia is given, the shape is not moved.
    fn centered(&self, shape: Shape) -> Shape {
        if self.inertia.is_some() {
            return shape;
        }
        match shape.mass_properties(1.0) {
            Ok(properties) => shape.translated(&-properties.center()),
            Err(_) => shape,
        }
    }

    fn attitude(&self, key: &str) -> Result<So3, ScenarioError> {
        match (&self.quaternion, &self.rotation) {
            (None, None) => Ok(So3::identity()),
            (Some(_), Some(_)) => {
                let message = "give either a quaternion or a rotation";
                Err(ScenarioError::value(&format!("{key}.quaternion"), message))
            }
            (Some(quaternion), None) => {
                crate::motion::unit_quaternion(&format!("{key}.quaternion"), *quaternion)
            }
            (None, Some(rows)) => So3::from_matrix(&Matrix3::from_fn(|i, j| rows[i][j]))
                .map_err(|error| ScenarioError::value(&format!("{key}.rotation"), error)),
        }
    }
}
