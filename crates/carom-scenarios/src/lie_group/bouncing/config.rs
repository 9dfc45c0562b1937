//! Configuration of a bouncing body.

use super::System;
use super::mesh::MeshConfig;
use crate::ScenarioError;
use crate::common::Zeno;
use crate::config::{Fraction, count};
use carom_geometry::{
    Cuboid, Cylinder, Ellipsoid, EllipsoidIntersection, GeometryError, HalfSpace, MassProperties,
    Polyhedron, Rounded, Segment, Shape, TriangleMesh, TurnedEllipsoid, Union,
};
use carom_lie::So3;
use carom_motion::flying::{ColliderOptions, CollisionError, ImpactRule};
use carom_variational::{RigidBody, State, TimeGrid, VariationalError};
use nalgebra::{Matrix3, Unit, UnitVector3, Vector3};
use serde::Deserialize;

type Rows = [[f64; 3]; 3];

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Integrator {
    Lgvi,
    Lgvi4,
    Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    Hamiltonian,
    DiscreteEnergy,
}

/// Configuration of a run; the keys are documented in the TOML of `bouncing-body`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(super) duration: f64,
    pub(super) time_step: f64,
    pub(super) gravity: f64,
    pub(super) restitution: Fraction,
    pub(super) integrator: Integrator,
    pub(super) impact_rule: Rule,
    pub(super) max_impacts: Option<usize>,
    pub(super) on_zeno: Option<Zeno>,
    #[serde(default)]
    pub(super) sensitivity: bool,
    pub(super) body: BodyConfig,
    pub(super) plane: PlaneConfig,
    pub(super) initial: InitialConfig,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyConfig {
    pub(super) mass: f64,
    pub(super) inertia: Option<Rows>,
    pub(super) shape: ShapeConfig,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaneConfig {
    pub(super) normal: [f64; 3],
    pub(super) offset: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InitialConfig {
    pub(super) position: [f64; 3],
    pub(super) rotation: Rows,
    pub(super) linear_momentum: [f64; 3],
    pub(super) angular_momentum: [f64; 3],
}

/// Shape as given in a configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ShapeConfig {
    Ellipsoid {
        semi_axes: [f64; 3],
        #[serde(default)]
        center: [f64; 3],
        quaternion: Option<[f64; 4]>,
    },
    Sphere {
        radius: f64,
        #[serde(default)]
        center: [f64; 3],
    },
    Box {
        half_extents: [f64; 3],
        #[serde(default)]
        center: [f64; 3],
        quaternion: Option<[f64; 4]>,
    },
    Capsule {
        radius: f64,
        half_length: f64,
        #[serde(default)]
        center: [f64; 3],
        quaternion: Option<[f64; 4]>,
    },
    Cylinder {
        radius: f64,
        half_length: f64,
        #[serde(default)]
        center: [f64; 3],
        quaternion: Option<[f64; 4]>,
    },
    Polyhedron {
        vertices: Vec<[f64; 3]>,
    },
    Mesh(MeshConfig),
    Rounded {
        eps: f64,
        base: Box<ShapeConfig>,
    },
    Union {
        parts: Vec<ShapeConfig>,
    },
    Intersection {
        parts: Vec<ShapeConfig>,
    },
}

impl ShapeConfig {
    /// Builds the shape that this configuration describes. Error messages name `key`, the configuration key of the shape.
    pub(crate) fn build(&self, key: &str) -> Result<Shape, ScenarioError> {
        let wrong = |error: GeometryError| ScenarioError::value(key, error);
        let points = |list: &[[f64; 3]]| list.iter().map(|p| Vector3::from(*p)).collect::<Vec<_>>();
        let shape = match self {
            Self::Ellipsoid {
                semi_axes,
                center,
                quaternion,
            } => {
                let ellipsoid =
                    Ellipsoid::new(*semi_axes, Vector3::from(*center)).map_err(wrong)?;
                match turn(key, quaternion.as_ref())? {
                    None => Shape::Ellipsoid(ellipsoid),
                    Some(by) => Shape::TurnedEllipsoid(TurnedEllipsoid::new(&ellipsoid, &by)),
                }
            }
            Self::Sphere { radius, center } => {
                positive(key, "radius", *radius)?;
                Shape::Ellipsoid(Ellipsoid::sphere(*radius, Vector3::from(*center)).map_err(wrong)?)
            }
            Self::Box {
                half_extents,
                center,
                quaternion,
            } => placed_box(key, *half_extents, center, quaternion.as_ref())?,
            Self::Capsule {
                radius,
                half_length,
                center,
                quaternion,
            } => {
                positive(key, "radius", *radius)?;
                let axis = axis(key, quaternion.as_ref())?;
                positive(key, "half_length", *half_length)?;
                let core = Segment::new(*half_length, &axis, Vector3::from(*center));
                let core = Shape::Segment(core.map_err(wrong)?);
                Shape::Rounded(Box::new(Rounded::new(core, *radius).map_err(wrong)?))
            }
            Self::Cylinder {
                radius,
                half_length,
                center,
                quaternion,
            } => {
                positive(key, "radius", *radius)?;
                positive(key, "half_length", *half_length)?;
                let axis = axis(key, quaternion.as_ref())?;
                let center = Vector3::from(*center);
                let made = Cylinder::new(*radius, *half_length, &axis, center);
                Shape::Cylinder(made.map_err(wrong)?)
            }
            Self::Polyhedron { vertices } => {
                Shape::Polyhedron(Polyhedron::new(&points(vertices)).map_err(wrong)?)
            }
            Self::Mesh(mesh) => mesh.build(key)?,
            Self::Rounded { eps, base } => {
                let base = base.build(&format!("{key}.base"))?;
                Shape::Rounded(Box::new(Rounded::new(base, *eps).map_err(wrong)?))
            }
            Self::Union { parts } => {
                let parts = build_all(key, parts)?;
                Shape::Union(Union::new(parts).map_err(wrong)?)
            }
            Self::Intersection { parts } => {
                let ellipsoid = |shape| match shape {
                    Shape::Ellipsoid(ellipsoid) => Ok(ellipsoid),
                    _ => Err(ScenarioError::value(
                        key,
                        "an intersection takes ellipsoids",
                    )),
                };
                let parts = build_all(key, parts)?.into_iter().map(ellipsoid);
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                Shape::Intersection(EllipsoidIntersection::new(parts).map_err(wrong)?)
            }
        };
        Ok(shape)
    }
}

fn positive(key: &str, of: &str, value: f64) -> Result<(), ScenarioError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let message = format!("{value} must be positive");
    Err(ScenarioError::value(&format!("{key}.{of}"), message))
}

/// Converts the unit quaternion w, x, y, z of a shape to the rotation from shape axes to body axes. `None` without a
/// quaternion. Error messages name the key `key.quaternion`.
fn turn(key: &str, quaternion: Option<&[f64; 4]>) -> Result<Option<So3>, ScenarioError> {
    let Some([w, x, y, z]) = quaternion else {
        return Ok(None);
    };
    let key = format!("{key}.quaternion");
    crate::motion::unit_quaternion(&key, [*w, *x, *y, *z]).map(Some)
}

/// Returns the direction of a shape's z axis in body axes, after the rotation by the unit quaternion w, x, y, z. Error
/// messages name the key `key.quaternion`.
fn axis(key: &str, quaternion: Option<&[f64; 4]>) -> Result<UnitVector3<f64>, ScenarioError> {
    let turn = turn(key, quaternion)?;
    Ok(turn.map_or_else(Vector3::z_axis, |turn| {
        Unit::new_normalize(turn.rotate(&Vector3::z()))
    }))
}

/// Builds a box with a center (m) and, if a unit quaternion w, x, y, z is given, a rotation in the body. A rotated box is
/// returned as a polyhedron. Error messages name the key `key`.
fn placed_box(
    key: &str,
    half_extents: [f64; 3],
    center: &[f64; 3],
    quaternion: Option<&[f64; 4]>,
) -> Result<Shape, ScenarioError> {
    let wrong = |error: GeometryError| ScenarioError::value(key, error);
    crate::motion::finite(&format!("{key}.center"), center)?;
    let cuboid = Cuboid::new(half_extents).map_err(wrong)?;
    let shape = match turn(key, quaternion)? {
        None => Shape::Cuboid(cuboid),
        Some(turn) => {
            let mesh = cuboid.mesh();
            let corners = mesh.vertices().iter().map(|v| turn.rotate(v)).collect();
            let mesh = TriangleMesh::new(corners, mesh.triangles().to_vec()).map_err(wrong)?;
            Shape::Polyhedron(Polyhedron::from_mesh(mesh).map_err(wrong)?)
        }
    };
    Ok(match center {
        [0.0, 0.0, 0.0] => shape,
        by => shape.translated(&Vector3::from(*by)),
    })
}

fn build_all(key: &str, parts: &[ShapeConfig]) -> Result<Vec<Shape>, ScenarioError> {
    let build = |(i, part): (usize, &ShapeConfig)| part.build(&format!("{key}.parts[{i}]"));
    parts.iter().enumerate().map(build).collect()
}

impl Config {
    /// True if restitution prescribes no loss of energy.
    pub(super) fn is_conservative(&self) -> bool {
        *self.restitution == 1.0
    }

    /// Returns in words which energy flights and impacts keep.
    pub(super) fn kept_energy(&self) -> &'static str {
        match self.impact_rule {
            Rule::Hamiltonian if *self.restitution == 1.0 => {
                "the flight in uniform gravity and the jump both keep the energy exactly: what is seen is rounding"
            }
            Rule::Hamiltonian => {
                "the energy falls by what restitution prescribes: the error is the rest, which is rounding in uniform gravity"
            }
            Rule::DiscreteEnergy => {
                "the jump keeps the discrete energy of its step, not the energy, which changes at every impact"
            }
        }
    }

    /// True if a run counts as failed when its impacts accumulate (infinitely many in finite time).
    pub(super) fn zeno_is_error(&self) -> bool {
        self.on_zeno == Some(Zeno::Error)
    }

    pub(super) fn collider_options(&self) -> Result<ColliderOptions, ScenarioError> {
        if self.on_zeno == Some(Zeno::Rest) {
            return Err(ScenarioError::value(
                "on_zeno",
                "a bouncing body has no lasting contact: use the scenario `world` for \"rest\"",
            ));
        }
        let stops = self.on_zeno != Some(Zeno::Continue);
        Ok(ColliderOptions::default().with_stops_at_zeno(stops))
    }

    pub(super) fn time_grid(&self) -> Result<TimeGrid, ScenarioError> {
        let grid = TimeGrid::duration(self.time_step, self.duration)
            .map_err(|error| name_key(error.into()))?;
        // The whole trajectory is stored, so the number of steps is limited.
        count("duration", grid.n_steps(), 0, 5_000_000)?;
        Ok(grid)
    }

    pub(super) fn system(&self) -> Result<System, ScenarioError> {
        let rule = match self.impact_rule {
            Rule::Hamiltonian => ImpactRule::Newton {
                restitution: *self.restitution,
            },
            Rule::DiscreteEnergy => {
                let possible = self.integrator == Integrator::Lgvi && *self.restitution == 1.0;
                if !possible {
                    let error = CollisionError::DiscreteEnergyUnavailable;
                    return Err(ScenarioError::value("impact_rule", error));
                }
                ImpactRule::DiscreteEnergy
            }
        };
        let (body, shape) = self.body.build()?;
        let normal = Vector3::from(self.plane.normal);
        let plane = HalfSpace::new(normal, self.plane.offset)
            .map_err(|error| ScenarioError::value("plane.normal", error))?;
        Ok(System {
            body,
            shape,
            plane,
            initial: self.initial.state()?,
            rule,
            gravity: Vector3::new(0.0, 0.0, -self.gravity),
        })
    }
}

impl BodyConfig {
    /// Builds the rigid body from its configuration. Returns the body and its shape; the coordinates of the shape are
    /// relative to the center of mass.
    fn build(&self) -> Result<(RigidBody, Shape), ScenarioError> {
        let shape = self.shape.build("body.shape")?;
        let wrong = |error: GeometryError| {
            let key = match error {
                GeometryError::NonPositiveMass { .. } => "body.mass",
                GeometryError::NonFinite { what: "mass" } => "body.mass",
                _ => "body.inertia",
            };
            ScenarioError::value(key, error)
        };
        match &self.inertia {
            Some(rows) => {
                let inertia = Matrix3::from_fn(|i, j| rows[i][j]);
                let properties = MassProperties::new(self.mass, inertia).map_err(wrong)?;
                Ok((RigidBody::new(&properties), shape))
            }
            None => {
                let properties = shape.mass_properties(self.mass).map_err(wrong)?;
                let shape = shape.translated(&-properties.center());
                Ok((RigidBody::new(&properties), shape))
            }
        }
    }
}

impl InitialConfig {
    fn state(&self) -> Result<State, ScenarioError> {
        let rotation = Matrix3::from_fn(|i, j| self.rotation[i][j]);
        Ok(State {
            position: Vector3::from(self.position),
            rotation: So3::from_matrix(&rotation)
                .map_err(|error| ScenarioError::value("initial.rotation", error))?,
            linear_momentum: Vector3::from(self.linear_momentum),
            angular_momentum: Vector3::from(self.angular_momentum),
        })
    }
}

/// Converts a collision error to a scenario error that names the faulty configuration key, if one key causes the error.
pub(super) fn name_key(error: CollisionError) -> ScenarioError {
    match error {
        CollisionError::Flight(VariationalError::BadStep { .. }) => {
            ScenarioError::value("time_step", error)
        }
        CollisionError::Flight(VariationalError::BadDuration { .. }) => {
            ScenarioError::value("duration", error)
        }
        CollisionError::InitialPenetration { .. } | CollisionError::CoarseCoordinates { .. } => {
            ScenarioError::value("initial.position", error)
        }
        other => other.into(),
    }
}
