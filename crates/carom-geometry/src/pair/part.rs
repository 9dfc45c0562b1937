//! Convex parts of bodies, and their placement in space.

use crate::{
    Cylinder, Ellipsoid, EllipsoidIntersection, GeometryError, Shape, SupportMap, TurnedEllipsoid,
};
use carom_lie::Se3;
use nalgebra::{Matrix3, Vector3};

/// Shape of a part without its rounding.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Core {
    /// Point; with rounding it is a sphere.
    Point(Vector3<f64>),
    /// Ellipsoid with axes along the body axes.
    Ellipsoid(Ellipsoid),
    /// Convex hull of vertices.
    Vertices(Vec<Vector3<f64>>),
    /// Ellipsoid with axes of any direction.
    Turned(TurnedEllipsoid),
    /// Circular cylinder.
    Cylinder(Cylinder),
    /// Other body whose support point depends smoothly on the direction.
    Smooth(Box<EllipsoidIntersection>),
}

/// Convex part of a body for contact detection: a convex core, for example a polytope or an ellipsoid, grown by a ball of a given
/// radius (rounded).
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub(super) core: Core,
    pub(super) margin: f64,
    radius: f64,
}

impl Part {
    /// Divides a shape into convex parts for contact detection: one part, or the parts of a union.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NotConvex`] for a mesh that is not its own convex hull.
    pub fn of_shape(shape: &Shape) -> Result<Vec<Self>, GeometryError> {
        let part = |core| {
            Ok(vec![Self {
                core,
                margin: 0.0,
                radius: shape.bounding_radius(),
            }])
        };
        match shape {
            Shape::Ellipsoid(ellipsoid) => {
                let a = ellipsoid.semi_axes();
                if a.x == a.y && a.y == a.z {
                    return Ok(vec![Self {
                        core: Core::Point(*ellipsoid.center()),
                        margin: a.x,
                        radius: shape.bounding_radius(),
                    }]);
                }
                part(Core::Ellipsoid(*ellipsoid))
            }
            Shape::Cuboid(cuboid) => part(Core::Vertices(cuboid.mesh().vertices().to_vec())),
            Shape::Polyhedron(polyhedron) if polyhedron.is_convex() => {
                part(Core::Vertices(polyhedron.vertices().to_vec()))
            }
            Shape::Polyhedron(_) => Err(GeometryError::NotConvex),
            Shape::Rounded(rounded) => {
                let mut parts = Self::of_shape(rounded.base())?;
                for part in &mut parts {
                    part.margin += rounded.radius();
                    part.radius += rounded.radius();
                }
                Ok(parts)
            }
            Shape::Union(union) => {
                let parts = union.parts().iter().map(Self::of_shape);
                Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
            }
            Shape::Intersection(both) => part(Core::Smooth(Box::new(both.clone()))),
            Shape::Segment(segment) => part(Core::Vertices(segment.ends().to_vec())),
            Shape::Cylinder(cylinder) => part(Core::Cylinder(*cylinder)),
            Shape::TurnedEllipsoid(turned) => part(Core::Turned(*turned)),
        }
    }

    /// Returns center (in the body frame, m) and radius (m) if the convex part is a sphere; otherwise `None`.
    pub fn sphere(&self) -> Option<(Vector3<f64>, f64)> {
        match &self.core {
            Core::Point(center) => Some((*center, self.margin)),
            _ => None,
        }
    }

    /// Returns the radius of a ball around the body's origin that contains this convex part (m).
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// Returns the rounding radius of the convex part (m): the radius of the ball by which its core is grown.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// Returns the lowest point of the part's core (the part without its rounding) along a direction: the point
    /// $\rho$ with the least $d\cdot\rho$. The direction $d$ is in the body frame and may have any length; the
    /// point is in the body frame (m).
    pub fn lowest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        match &self.core {
            Core::Point(point) => *point,
            Core::Ellipsoid(ellipsoid) => ellipsoid.support(direction).point,
            Core::Vertices(vertices) => {
                let mut best = (f64::INFINITY, Vector3::zeros());
                for vertex in vertices {
                    let value = vertex.dot(direction);
                    if value < best.0 {
                        best = (value, *vertex);
                    }
                }
                best.1
            }
            Core::Turned(turned) => turned.support(direction).point,
            Core::Cylinder(cylinder) => cylinder.support(direction).point,
            Core::Smooth(body) => body.support(direction).point,
        }
    }

    /// True if the core of this part (the part without its rounding) has curved faces, so that its lowest point
    /// changes continuously with the direction.
    pub(super) fn is_smooth(&self) -> bool {
        matches!(
            self.core,
            Core::Ellipsoid(_) | Core::Turned(_) | Core::Cylinder(_) | Core::Smooth(_)
        )
    }

    /// True if the core of the convex part (the part without its rounding) is a polytope, which has corners,
    /// edges and faces.
    pub fn has_corners(&self) -> bool {
        matches!(self.core, Core::Vertices(_))
    }

    /// True if the core of the convex part (the part without its rounding) is a cylinder.
    pub fn is_cylinder(&self) -> bool {
        matches!(self.core, Core::Cylinder(_))
    }

    /// Returns the end of a cylindrical part that is nearer to `point` (in the body frame, m): −1 or 1, the
    /// sign of the end along the cylinder's axis. Returns `None` if the core of the part is not a cylinder.
    pub fn end_of_rim(&self, point: &Vector3<f64>) -> Option<f64> {
        match &self.core {
            Core::Cylinder(cylinder) => {
                let along = cylinder.axis().dot(&(point - cylinder.center()));
                Some(if along < 0.0 { -1.0 } else { 1.0 })
            }
            _ => None,
        }
    }

    /// Returns the lowest point, along a direction in the body frame, of one rim of a cylindrical part (without rounding, m).
    /// `end` selects the rim: −1 or 1, the sign of the end along the cylinder's axis. If the part is not a cylinder, `end` is
    /// ignored and a lowest point of the part's core is returned. If all points of the rim are equally low, one of them is
    /// returned.
    pub fn lowest_of_rim(&self, end: f64, direction: &Vector3<f64>) -> Vector3<f64> {
        let lowest = self.lowest(direction);
        match &self.core {
            Core::Cylinder(cylinder) => {
                let along = cylinder.axis().dot(&(lowest - cylinder.center()));
                lowest + cylinder.axis() * (end * cylinder.half_length() - along)
            }
            _ => lowest,
        }
    }

    /// Returns the support function of the convex part: the least value $\sigma(d)$ of $d\cdot\rho$ over its
    /// points $\rho$, for a direction $d$ in the body frame.
    pub fn support_value(&self, direction: &Vector3<f64>) -> f64 {
        self.lowest(direction).dot(direction) - self.margin * direction.norm()
    }

    /// Returns the support function of the part's core (the part without its rounding): the least value of
    /// $d\cdot\rho$ over its points $\rho$, for a direction $d$ in the body frame.
    pub fn core_support_value(&self, direction: &Vector3<f64>) -> f64 {
        self.lowest(direction).dot(direction)
    }

    /// Calls `report` with the lowest points of the part along a unit direction $d$ in the body frame. For a polytope these are
    /// the vertices at most `tolerance` (m) above the lowest one. For a cylinder they are points of the rims within the
    /// tolerance, for any other smooth core the one lowest point. The reported points lie on the surface of the rounded part, in
    /// the body frame (m).
    pub fn lowest_features(
        &self,
        direction: &Vector3<f64>,
        tolerance: f64,
        report: &mut dyn FnMut(Vector3<f64>),
    ) {
        let shift = direction * self.margin;
        match &self.core {
            Core::Vertices(vertices) => {
                let lowest = self.lowest(direction).dot(direction);
                for vertex in vertices {
                    if vertex.dot(direction) <= lowest + tolerance {
                        report(vertex - shift);
                    }
                }
            }
            Core::Cylinder(cylinder) => {
                let bound = cylinder.support(direction).value + tolerance;
                cylinder.points_below(direction, bound, &mut |point| report(point - shift));
            }
            _ => report(self.lowest(direction) - shift),
        }
    }
}

/// Convex part of a body with its position and rotation in space.
///
/// # Examples
///
/// The distance of two balls of radius 0.5 m, 3 m apart:
///
/// ```
/// use carom_geometry::pair::{Memory, Part, Placed, closest};
/// use carom_geometry::{Ellipsoid, Shape};
/// use carom_lie::{Se3, So3};
/// use nalgebra::Vector3;
/// let ball = Shape::Ellipsoid(Ellipsoid::sphere(0.5, Vector3::zeros())?);
/// let parts = Part::of_shape(&ball)?;
/// let at = |x| Se3::new(So3::identity(), Vector3::new(x, 0.0, 0.0));
/// let (a, b) = (Placed::new(&parts[0], &at(0.0)), Placed::new(&parts[0], &at(3.0)));
/// assert!((closest(&a, &b, &mut Memory::default()).gap - 2.0).abs() < 1e-12);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    pub(super) part: &'a Part,
    pub(super) rotation: Matrix3<f64>,
    pub(super) position: Vector3<f64>,
}

impl<'a> Placed<'a> {
    /// Places a convex part of a body in space. `configuration` is the position and rotation of the body.
    pub fn new(part: &'a Part, configuration: &Se3) -> Self {
        Self {
            part,
            rotation: configuration.rotation.matrix(),
            position: configuration.translation,
        }
    }

    /// Returns the part that is placed.
    pub fn part(&self) -> &'a Part {
        self.part
    }

    /// True if the core of the placed part (the part without its rounding) is a polytope, which has corners,
    /// edges and faces.
    pub fn has_corners(&self) -> bool {
        self.part.has_corners()
    }

    /// Returns the rounding radius of the placed part (m): the radius of the ball by which its core is grown.
    pub fn margin(&self) -> f64 {
        self.part.margin
    }

    /// Calls `report` with the lowest points of the placed part along a unit direction in space, as [`Part::lowest_features`]
    /// does. Vertices at most `tolerance` (m) above the lowest one are included. The reported points are in the body frame (m).
    pub fn features(
        &self,
        direction: &Vector3<f64>,
        tolerance: f64,
        report: &mut dyn FnMut(Vector3<f64>),
    ) {
        self.part
            .lowest_features(&self.inward(direction), tolerance, report);
    }

    /// Converts a direction from space axes to body axes.
    pub(super) fn inward(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.rotation.tr_mul(direction)
    }

    /// Converts a point from the body frame to space coordinates (m).
    pub(super) fn outward(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.position + self.rotation * point
    }

    /// Returns the lowest point of the part's core (the part without its rounding): the point that has the least product with
    /// `direction`. The direction is in space axes, the point in the body frame (m).
    pub(super) fn lowest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.part.lowest(&self.inward(direction))
    }

    /// Returns the matrix of second derivatives (space axes) of the support function of the part's core (the part without its
    /// rounding). The support function is the least product of a direction with the points of the core.
    pub(super) fn curvature(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        let d = self.inward(direction);
        let curvature = match &self.part.core {
            Core::Ellipsoid(ellipsoid) => {
                let squares = ellipsoid.semi_axes().component_mul(ellipsoid.semi_axes());
                let qd = squares.component_mul(&d);
                let h = qd.dot(&d).max(0.0).sqrt();
                if h == 0.0 {
                    return Matrix3::zeros();
                }
                qd * qd.transpose() / (h * h * h) - Matrix3::from_diagonal(&squares) / h
            }
            Core::Smooth(_) => {
                // Derivative of the support point, by central differences.
                /// Step of the differences relative to the length of the direction: a balance between rounding
                /// and curvature errors.
                const STEP: f64 = 1e-5;
                let size = STEP * d.norm();
                let column = |k: usize| {
                    let e = Vector3::ith(k, size);
                    (self.part.lowest(&(d + e)) - self.part.lowest(&(d - e))) / (2.0 * size)
                };
                let m = Matrix3::from_columns(&[column(0), column(1), column(2)]);
                (m + m.transpose()) * 0.5
            }
            Core::Turned(turned) => turned.support_derivative(&d),
            Core::Cylinder(cylinder) => cylinder.support_derivative(&d),
            Core::Point(_) | Core::Vertices(_) => return Matrix3::zeros(),
        };
        self.rotation * curvature * self.rotation.transpose()
    }
}
