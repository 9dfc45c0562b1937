//! Model of a robot, as its file describes it.

use super::notes::Notes;
use carom_lie::Se3;
use nalgebra::{Matrix3, Vector3};

/// Robot as described in its file.
#[derive(Default)]
pub(super) struct Model {
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Joint>,
    pub(super) notes: Notes,
}

/// Link of a robot.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) inertial: Option<Inertial>,
    pub(super) collisions: Vec<(Se3, Geometry)>,
}

/// Mass of a link, the pose of its center of mass and axes in the frame of the link, and the inertia in these axes.
pub(super) struct Inertial {
    pub(super) mass: f64,
    pub(super) origin: Se3,
    pub(super) inertia: Matrix3<f64>,
}

/// Shape of a collision element.
pub(super) enum Geometry {
    Box([f64; 3]),
    Sphere(f64),
    /// Cylinder: radius and length (m).
    Cylinder(f64, f64),
    /// Capsule: radius and length of the cylindrical part (m).
    Capsule(f64, f64),
    /// Mesh: address of the file, and scale factors.
    Mesh(String, [f64; 3]),
}

/// Joint between two links.
pub(super) struct Joint {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) parent: String,
    pub(super) child: String,
    /// Pose of the child's frame in the parent's frame at coordinate 0.
    pub(super) origin: Se3,
    pub(super) axis: Vector3<f64>,
    pub(super) limits: Option<[f64; 2]>,
    pub(super) effort: Option<f64>,
    pub(super) damping: f64,
    pub(super) friction: f64,
}
