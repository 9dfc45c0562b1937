//! Key `motion` of a body: a motion that it is told.

use super::forces::{Component, components};
use crate::ScenarioError;
use carom_variational::Prescribed;
use carom_variational::load::Formula;
use nalgebra::Vector3;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MotionConfig {
    displacement: Option<[Component; 3]>,
    axis: Option<[f64; 3]>,
    angle: Option<Component>,
    velocity: Option<[f64; 3]>,
    angular_velocity: Option<[f64; 3]>,
}

impl MotionConfig {
    /// Reads the motion of a body. `key`: configuration key of the motion.
    pub(super) fn build(&self, key: &str) -> Result<Prescribed, ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        let fault = |part: &str, message: &str| Err(ScenarioError::value(&of(part), message));
        let velocity = self.velocity.unwrap_or_default();
        let angular_velocity = self.angular_velocity.unwrap_or_default();
        crate::motion::finite(&of("velocity"), &velocity)?;
        crate::motion::finite(&of("angular_velocity"), &angular_velocity)?;
        let is_constant = self.velocity.is_some() || self.angular_velocity.is_some();
        let has_formulas = self.displacement.is_some() || self.angle.is_some();
        if is_constant && (has_formulas || self.axis.is_some()) {
            let part = if self.velocity.is_some() {
                "velocity"
            } else {
                "angular_velocity"
            };
            return fault(
                part,
                "give either velocities, or `displacement`, `axis` and `angle`",
            );
        }
        if is_constant {
            return Ok(Prescribed::Constant {
                velocity: Vector3::from(velocity),
                angular_velocity: Vector3::from(angular_velocity),
            });
        }
        if !has_formulas {
            return fault(
                "displacement",
                "nothing moves: give `displacement`, `angle` or velocities",
            );
        }
        let axis = match (&self.axis, &self.angle) {
            (None, Some(_)) => return fault("angle", "without `axis` it turns about nothing"),
            (Some(_), None) => return fault("axis", "without `angle` nothing turns about it"),
            (axis, _) => Vector3::from(axis.unwrap_or_default()),
        };
        crate::motion::finite(&of("axis"), axis.as_ref())?;
        if self.angle.is_some() && axis == Vector3::zeros() {
            return fault("axis", "[0, 0, 0] has no direction");
        }
        let parse = Formula::parse_of_time;
        let named = |message: String| ScenarioError::value(&of("angle"), message);
        let angle = self
            .angle
            .as_ref()
            .map(|angle| angle.read(parse))
            .transpose();
        Ok(Prescribed::Formulas {
            displacement: components(&of("displacement"), self.displacement.as_ref(), parse)?,
            axis,
            angle: angle.map_err(named)?.unwrap_or(Formula::number(0.0)),
        })
    }
}
