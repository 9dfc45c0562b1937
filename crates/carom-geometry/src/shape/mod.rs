//! Bodies described by support maps.

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

/// Function that receives the points found by [`SupportMap::points_below`].
pub type PointVisitor<'v> = &'v mut dyn FnMut(Vector3<f64>);

/// Lowest point of a body along a direction $d$: the point $\rho$ with the least $d\cdot\rho$, and this least
/// value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// Minimizer $\rho_C(d)$ of $d\cdot\rho$ over the body, in the body frame (m).
    pub point: Vector3<f64>,
    /// Minimum $\sigma(d)$.
    pub value: f64,
}

/// Body that can touch a plane, described by its support map: the lowest point along any direction.
///
/// The support function $\sigma(d)$, the least value of $d\cdot\rho$ over the points $\rho$ of the body, is
/// concave and positively homogeneous: $\sigma(kd) = k\sigma(d)$ for $k > 0$. Directions $d$ need not have unit
/// length.
pub trait SupportMap: fmt::Debug {
    /// Returns the lowest point of the body along the direction $d$ (`direction`): the point $\rho$ with the least $d\cdot\rho$,
    /// and this least value. The direction is in the body frame and may have any length. If several points are lowest, the first
    /// one found is returned.
    fn support(&self, direction: &Vector3<f64>) -> Support;

    /// Returns the derivative of the body's lowest point $\rho_C(d)$ with respect to the direction $d$ (3 × 3, symmetric). The
    /// derivative is the Hessian $\nabla^2\sigma(d)$ of the support function $\sigma(d) = d\cdot\rho_C(d)$, and zero if the
    /// lowest point is a vertex. If several points are lowest, the result is the derivative of the point that
    /// [`support`](Self::support) returns.
    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64>;

    /// Returns the radius of a ball around the body's origin that contains the body (m).
    fn bounding_radius(&self) -> f64;

    /// Calls `report` with the lowest point of each piece of the body (vertex or part) along the direction $d$, if this point
    /// $\rho$ satisfies $d\cdot\rho \le$ `bound`. Other points of the body that satisfy this condition need not be reported.
    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        let lowest = self.support(direction);
        if lowest.value <= bound {
            report(lowest.point);
        }
    }
}

/// Shape of a rigid body: one of the geometric shapes of this crate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Shape {
    /// Ellipsoid with axes along the body axes.
    Ellipsoid(Ellipsoid),
    /// Box with edges along the body axes.
    Cuboid(Cuboid),
    /// Polyhedron, convex or not, bounded by a closed mesh.
    Polyhedron(Polyhedron),
    /// Another shape grown by a ball (rounded).
    Rounded(Box<Rounded<Shape>>),
    /// Union of several shapes.
    Union(Union<Shape>),
    /// Intersection of ellipsoids.
    Intersection(EllipsoidIntersection),
    /// Line segment; a capsule if it is rounded.
    Segment(Segment),
    /// Circular cylinder.
    Cylinder(Cylinder),
    /// Ellipsoid with axes in any directions.
    TurnedEllipsoid(TurnedEllipsoid),
}

impl Shape {
    /// Computes mass, center of mass and inertia of a body of this shape with uniform density and the given mass (kg).
    ///
    /// Ellipsoids, boxes, cylinders, capsules, meshes, rounded boxes and rounded convex polyhedra have closed
    /// forms. Rounded ellipsoids and intersections are integrated numerically with a relative error below
    /// $10^{-10}$. For a union, the moments of common parts are subtracted from those of its parts; the common
    /// parts are integrated numerically, too. Overlapping parts must be ellipsoids, boxes, convex polyhedra or
    /// intersections; parts that do not overlap can be of any kind.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`]; [`GeometryError::UnknownMassProperties`] for rounded
    /// intersections and nonconvex bodies, for unions with overlapping parts that are rounded or not
    /// convex, and for more than 64 overlaps.
    pub fn mass_properties(&self, mass: f64) -> Result<MassProperties, GeometryError> {
        uniform::mass_properties(self, mass)
    }

    fn support_map(&self) -> &dyn SupportMap {
        match self {
            Self::Ellipsoid(shape) => shape,
            Self::Cuboid(shape) => shape,
            Self::Polyhedron(shape) => shape,
            Self::Rounded(shape) => shape.as_ref(),
            Self::Union(shape) => shape,
            Self::Intersection(shape) => shape,
            Self::Segment(shape) => shape,
            Self::Cylinder(shape) => shape,
            Self::TurnedEllipsoid(shape) => shape,
        }
    }

    /// Returns the shape translated by the vector `by` in the body frame (m).
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
        self.support_map().support_derivative(direction)
    }

    fn bounding_radius(&self) -> f64 {
        self.support_map().bounding_radius()
    }

    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        self.support_map().points_below(direction, bound, report)
    }
}
