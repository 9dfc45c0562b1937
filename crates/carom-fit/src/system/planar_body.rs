//! One rigid body in the plane over a straight wall.

use super::Outline;
use crate::states::{Quantity, Touch};
use carom_metric::KineticMetric;
use nalgebra::{DMatrix, DVector, Rotation2, Vector2};
use std::sync::Arc;

/// Rigid body in the plane over a straight wall. Coordinates are the position of the center of mass (m) and the angle (rad,
/// counterclockwise).
#[derive(Clone, Debug)]
pub(crate) struct PlanarBody {
    pub(crate) metric: Arc<KineticMetric>,
    pub(crate) outline: Outline,
    pub(crate) wall: Wall,
    /// Corners at most this far above the lowest one touch (m).
    pub(crate) band: f64,
    /// Gravity (m/s²), if it is known.
    pub(crate) gravity: Option<Vector2<f64>>,
}

/// Straight wall: all points $p$ with $n\cdot p + d \le 0$ are solid.
#[derive(Clone, Debug)]
pub(crate) struct Wall {
    /// Unit normal $n$, out of the wall.
    pub(crate) normal: Vector2<f64>,
    /// Offset $d$ (m), if it is known.
    pub(crate) offset: Option<f64>,
    pub(crate) surface: Arc<str>,
}

impl PlanarBody {
    pub(crate) const COORDINATES: [&'static str; 3] = ["x", "y", "theta"];
    pub(crate) const QUANTITIES: [&'static [Quantity]; 2] = [
        &[Quantity::Length, Quantity::Length, Quantity::Angle],
        &[Quantity::Speed, Quantity::Speed, Quantity::AngularSpeed],
    ];

    /// Returns the metric of a body with a mass (kg) and a moment of inertia about the center of mass (kg m²).
    ///
    /// # Errors
    ///
    /// A message if one of them is not positive.
    pub(crate) fn metric(mass: f64, inertia: f64) -> Result<Arc<KineticMetric>, String> {
        let diagonal = DVector::from_vec(vec![mass, mass, inertia]);
        let metric = KineticMetric::new(DMatrix::from_diagonal(&diagonal));
        metric.map(Arc::new).map_err(|e| e.to_string())
    }

    /// Returns a vector in body axes, at this configuration, in space axes.
    pub(crate) fn turned(configuration: &[f64], vector: Vector2<f64>) -> Vector2<f64> {
        Self::turn(configuration) * vector
    }

    fn turn(configuration: &[f64]) -> Rotation2<f64> {
        let angle = configuration.get(2).copied().unwrap_or(0.0);
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        Rotation2::from_matrix_unchecked(nalgebra::Matrix2::new(cos, -sin, sin, cos))
    }

    /// Computes the contacts at a configuration: the lowest points of the outline, each with a normal and a tangent row.
    pub(crate) fn touches(&self, configuration: &[f64]) -> Vec<Touch> {
        let normal = self.wall.normal;
        let tangent = Vector2::new(normal.y, -normal.x);
        let arms = self
            .outline
            .lowest(&Self::turn(configuration), &normal, self.band);
        let touch = |arm: Vector2<f64>| {
            let row = |d: &Vector2<f64>| [d.x, d.y, arm.perp(d)];
            let gap = self.wall.offset.map(|offset| {
                let place = [0, 1].map(|k| configuration.get(k).copied().unwrap_or(0.0));
                normal.dot(&(Vector2::from(place) + arm)) + offset
            });
            Touch {
                rows: [row(&normal), row(&tangent)].concat(),
                surface: Arc::clone(&self.wall.surface),
                gap,
            }
        };
        arms.into_iter().map(touch).collect()
    }
}
