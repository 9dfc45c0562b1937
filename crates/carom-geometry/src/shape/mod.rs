//! Bodies as support maps.

mod cuboid;
mod cylinder;
mod ellipsoid;
mod intersection;
mod polyhedron;
mod rounded;
mod segment;
mod turned;
mod union;

pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use intersection::EllipsoidIntersection;
pub use polyhedron::Polyhedron;
pub use rounded::Rounded;
pub use segment::Segment;
pub use turned::TurnedEllipsoid;
pub use union::Union;

use crate::{GeometryError, MassProperties, uniform};
use nalgebra::{Matrix3, Vector3};
use std::fmt;

/// The lowest point of a body along a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// A minimizer $\rho_C(d)$ of $d\cdot\rho$ over the body, in the body.
    pub point: Vector3<f64>,
    /// The minimum $\sigma(d)$.
    pub value: f64,
}

/// A body that a plane can touch, known by its support map: the lowest point along any direction.
///
/// $\sigma$ is concave and positively homogeneous: $\sigma(kd) = k\sigma(d)$ for $k > 0$, also for
/// directions that are not of unit length.
pub trait SupportMap: fmt::Debug {
    /// A lowest point along `direction` (in the body, any length), the first one if several.
    fn support(&self, direction: &Vector3<f64>) -> Support;

    /// Derivative of the lowest point by the direction, $\partial\rho_C/\partial d = \nabla^2\sigma(d)$
    /// (3 × 3, symmetric): zero at a vertex. Where several points are lowest it is that of
    /// [`support`](Self::support)'s.
    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64>;

    /// Radius of a ball about the body's origin that holds the body (m).
    fn bounding_radius(&self) -> f64;

    /// Reports the lowest point of each piece of the body (vertex, part) with
    /// $d\cdot\rho \le$ `bound`. Points between them may be left out.
    fn points_below(
        &self,
        direction: &Vector3<f64>,
        bound: f64,
        report: &mut dyn FnMut(Vector3<f64>),
    ) {
        let lowest = self.support(direction);
        if lowest.value <= bound {
            report(lowest.point);
        }
    }
}

/// Any of the shapes of this crate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// An ellipsoid.
    Ellipsoid(Ellipsoid),
    /// A box.
    Cuboid(Cuboid),
    /// A polyhedron.
    Polyhedron(Polyhedron),
    /// A body grown by a ball.
    Rounded(Box<Rounded<Shape>>),
    /// Bodies joined.
    Union(Union<Shape>),
    /// The common part of ellipsoids.
    Intersection(EllipsoidIntersection),
    /// A segment; rounded, a capsule.
    Segment(Segment),
    /// A circular cylinder.
    Cylinder(Cylinder),
    /// An ellipsoid with axes of its own.
    TurnedEllipsoid(TurnedEllipsoid),
}

impl Shape {
    /// Mass, center and inertia at uniform density.
    ///
    /// Closed forms for ellipsoids, boxes, cylinders, capsules, meshes, and rounded boxes and convex polyhedra. Rounded
    /// ellipsoids and intersections are integrated to a relative error below $10^{-10}$. Of a union
    /// the parts count less what they have in common, integrated in the same way; that is possible
    /// for ellipsoids, boxes, convex polyhedra and intersections, and any parts may be apart.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`]; [`GeometryError::UnknownMassProperties`] for rounded
    /// intersections and nonconvex bodies, for unions with overlapping parts that are rounded or not
    /// convex, and for more than 64 overlaps.
    pub fn mass_properties(&self, mass: f64) -> Result<MassProperties, GeometryError> {
        uniform::mass_properties(self, mass)
    }

    /// The shape moved by `by` in the body.
    #[must_use]
    pub fn translated(&self, by: &Vector3<f64>) -> Self {
        match self {
            Self::Ellipsoid(ellipsoid) => Self::Ellipsoid(ellipsoid.translated(by)),
            Self::Cuboid(cuboid) => Self::Cuboid(cuboid.translated(by)),
            Self::Polyhedron(polyhedron) => Self::Polyhedron(polyhedron.translated(by)),
            Self::Rounded(rounded) => {
                Self::Rounded(Box::new(rounded.map(|base| base.translated(by))))
            }
            Self::Union(union) => Self::Union(union.map(|part| part.translated(by))),
            Self::Intersection(both) => Self::Intersection(both.translated(by)),
            Self::Segment(segment) => Self::Segment(segment.translated(by)),
            Self::Cylinder(cylinder) => Self::Cylinder(cylinder.translated(by)),
            Self::TurnedEllipsoid(turned) => Self::TurnedEllipsoid(turned.translated(by)),
        }
    }
}

impl SupportMap for Shape {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        match self {
            Self::Ellipsoid(shape) => shape.support(direction),
            Self::Cuboid(shape) => shape.support(direction),
            Self::Polyhedron(shape) => shape.support(direction),
            Self::Rounded(shape) => shape.support(direction),
            Self::Union(shape) => shape.support(direction),
            Self::Intersection(shape) => shape.support(direction),
            Self::Segment(shape) => shape.support(direction),
            Self::Cylinder(shape) => shape.support(direction),
            Self::TurnedEllipsoid(shape) => shape.support(direction),
        }
    }

    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        match self {
            Self::Ellipsoid(shape) => shape.support_derivative(direction),
            Self::Cuboid(shape) => shape.support_derivative(direction),
            Self::Polyhedron(shape) => shape.support_derivative(direction),
            Self::Rounded(shape) => shape.support_derivative(direction),
            Self::Union(shape) => shape.support_derivative(direction),
            Self::Intersection(shape) => shape.support_derivative(direction),
            Self::Segment(shape) => shape.support_derivative(direction),
            Self::Cylinder(shape) => shape.support_derivative(direction),
            Self::TurnedEllipsoid(shape) => shape.support_derivative(direction),
        }
    }

    fn bounding_radius(&self) -> f64 {
        match self {
            Self::Ellipsoid(shape) => shape.bounding_radius(),
            Self::Cuboid(shape) => shape.bounding_radius(),
            Self::Polyhedron(shape) => shape.bounding_radius(),
            Self::Rounded(shape) => shape.bounding_radius(),
            Self::Union(shape) => shape.bounding_radius(),
            Self::Intersection(shape) => shape.bounding_radius(),
            Self::Segment(shape) => shape.bounding_radius(),
            Self::Cylinder(shape) => shape.bounding_radius(),
            Self::TurnedEllipsoid(shape) => shape.bounding_radius(),
        }
    }

    fn points_below(
        &self,
        direction: &Vector3<f64>,
        bound: f64,
        report: &mut dyn FnMut(Vector3<f64>),
    ) {
        match self {
            Self::Ellipsoid(shape) => shape.points_below(direction, bound, report),
            Self::Cuboid(shape) => shape.points_below(direction, bound, report),
            Self::Polyhedron(shape) => shape.points_below(direction, bound, report),
            Self::Rounded(shape) => shape.points_below(direction, bound, report),
            Self::Union(shape) => shape.points_below(direction, bound, report),
            Self::Intersection(shape) => shape.points_below(direction, bound, report),
            Self::Segment(shape) => shape.points_below(direction, bound, report),
            Self::Cylinder(shape) => shape.points_below(direction, bound, report),
            Self::TurnedEllipsoid(shape) => shape.points_below(direction, bound, report),
        }
    }
}
