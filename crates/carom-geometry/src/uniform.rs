//! Volume and moments of shapes at uniform density.

use crate::convex::Convex;
use crate::mass_properties::Moments;
use crate::tolerances::EQUAL;
use crate::{
    Cylinder, Ellipsoid, GeometryError, MassProperties, Rounded, Segment, Shape, SupportMap,
    TurnedEllipsoid,
};
use carom_numeric::quadrature::Adaptive;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};

/// Largest number of common parts of a union that are integrated.
const MAX_OVERLAPS: usize = 64;

/// Computes the mass properties (mass, center of mass and inertia) of a shape with uniform density and the total mass
/// `mass` (kg).
pub(crate) fn mass_properties(shape: &Shape, mass: f64) -> Result<MassProperties, GeometryError> {
    let mut solids = Vec::new();
    collect(shape, 0.0, &mut solids);
    match solids.as_slice() {
        [Shape::Ellipsoid(ellipsoid)] => MassProperties::ellipsoid(ellipsoid, mass),
        [Shape::Cuboid(cuboid)] => MassProperties::cuboid(cuboid, mass),
        [Shape::Polyhedron(polyhedron)] => MassProperties::mesh(polyhedron.mesh(), mass),
        [Shape::Ellipsoid(a), Shape::Ellipsoid(b)] if is_coaxial(a, b) => {
            MassProperties::coaxial_ellipsoids(a, b, mass)
        }
        solids => {
            // Moments about a point inside the body lose no digits if the body is far from the origin.
            let origin = middle(shape);
            let solids: Vec<Shape> = solids.iter().map(|s| s.translated(&-origin)).collect();
            union(&solids)?.properties(mass, origin)
        }
    }
}

/// Returns the center of the bounding box of a shape, in the body frame (m).
fn middle(shape: &Shape) -> Vector3<f64> {
    Vector3::from_fn(|axis, _| 0.5 * (extent(shape, axis, 1.0) - extent(shape, axis, -1.0)))
}

/// Returns the least coordinate of a shape along a body axis (m) if `sign` is 1, or minus the largest coordinate if
/// `sign` is -1.
fn extent(shape: &Shape, axis: usize, sign: f64) -> f64 {
    let mut direction = Vector3::zeros();
    direction[axis] = sign;
    shape.support(&direction).value
}

fn is_coaxial(a: &Ellipsoid, b: &Ellipsoid) -> bool {
    let apart = b.center() - a.center();
    apart.iter().filter(|x| **x != 0.0).count() <= 1
}

/// Adds to `solids` the shapes whose union is the given shape grown by a ball of radius `by` (m).
fn collect(shape: &Shape, by: f64, solids: &mut Vec<Shape>) {
    match shape {
        Shape::Union(union) => {
            for part in union.parts() {
                collect(part, by, solids);
            }
        }
        Shape::Rounded(rounded) => collect(rounded.base(), by + rounded.radius(), solids),
        solid if by == 0.0 => solids.push(solid.clone()),
        Shape::Ellipsoid(ellipsoid) if ellipsoid.grown_sphere(by).is_some() => {
            solids.extend(ellipsoid.grown_sphere(by).map(Shape::Ellipsoid));
        }
        solid => {
            // The radius was checked when the shape was created.
            let grown = Rounded::new(solid.clone(), by);
            solids.extend(grown.ok().map(|r| Shape::Rounded(Box::new(r))));
        }
    }
}

fn unknown<T>(shape: &'static str) -> Result<T, GeometryError> {
    Err(GeometryError::UnknownMassProperties { shape })
}

/// Computes the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a union of solids by inclusion and
/// exclusion: the sum over all solids, minus the integrals over the common part of each pair, plus those over the common part of
/// each triple, and so on. Returns an error for shapes whose common part cannot be computed.
fn union(solids: &[Shape]) -> Result<Moments, GeometryError> {
    let mut total = Moments::default();
    for solid in solids {
        total.add(&moments(solid)?, 1.0);
    }
    let mut budget = MAX_OVERLAPS;
    for first in 0..solids.len() {
        let near = (first + 1..solids.len()).filter(|k| is_near(&solids[first], &solids[*k]));
        let near: Vec<usize> = near.collect();
        if near.is_empty() {
            continue;
        }
        let others: Option<Vec<Convex>> = near.iter().map(|k| convex(&solids[*k])).collect();
        match (convex(&solids[first]), others) {
            (Some(body), Some(others)) => {
                overlaps(&body, &others, -1.0, &mut total, &mut budget)?;
            }
            _ => {
                return unknown(
                    "a union of overlapping parts that are rounded, turned, round or not convex",
                );
            }
        }
    }
    Ok(total)
}

/// Adds to `total` the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of the common part of `body` with
/// each nonempty subset of `others`. The signs alternate with the size of the subset (inclusion and exclusion); `sign` is the
/// sign for subsets of one body. `budget` is the number of common parts that may still be computed; if more are needed, an error
/// is returned.
fn overlaps(
    body: &Convex,
    others: &[Convex],
    sign: f64,
    total: &mut Moments,
    budget: &mut usize,
) -> Result<(), GeometryError> {
    for (k, other) in others.iter().enumerate() {
        let Some(common) = Convex::common(&[body, other]) else {
            continue;
        };
        if *budget == 0 {
            return unknown("a union of so many overlapping parts");
        }
        *budget -= 1;
        total.add(&common.moments(), sign);
        overlaps(&common, &others[k + 1..], -sign, total, budget)?;
    }
    Ok(())
}

/// True if the bounding boxes of two shapes overlap, so that the shapes may have common points.
fn is_near(a: &Shape, b: &Shape) -> bool {
    (0..3).all(|axis| {
        extent(a, axis, 1.0) < -extent(b, axis, -1.0)
            && extent(b, axis, 1.0) < -extent(a, axis, -1.0)
    })
}

fn convex(solid: &Shape) -> Option<Convex> {
    match solid {
        Shape::Ellipsoid(ellipsoid) => Some(Convex::ellipsoid(ellipsoid)),
        Shape::Cuboid(cuboid) => Some(Convex::cuboid(cuboid)),
        Shape::Polyhedron(polyhedron) if polyhedron.is_convex() => {
            Some(Convex::polyhedron(polyhedron))
        }
        Shape::Intersection(common) => Some(common.body().clone()),
        _ => None,
    }
}

/// Computes the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a shape that is not a
/// union, about the origin of the body frame. Returns an error for shapes without volume or known formula.
fn moments(solid: &Shape) -> Result<Moments, GeometryError> {
    match solid {
        Shape::Ellipsoid(e) => {
            let volume = 4.0 / 3.0 * PI * e.semi_axes().product();
            Ok(Moments::centered(volume, e.semi_axes(), 5.0).moved(e.center()))
        }
        Shape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            Ok(Moments::centered(8.0 * half.product(), half, 3.0).moved(cuboid.center()))
        }
        Shape::Polyhedron(polyhedron) => Ok(Moments::mesh(polyhedron.mesh())),
        Shape::Intersection(common) => Ok(common.body().moments()),
        Shape::Rounded(rounded) => match rounded.base() {
            Shape::Ellipsoid(ellipsoid) => Ok(rounded_ellipsoid(ellipsoid, rounded.radius())),
            Shape::TurnedEllipsoid(turned) => Ok(turned_back(
                &rounded_ellipsoid(turned.base(), rounded.radius()),
                turned,
            )),
            Shape::Segment(segment) => Ok(capsule(segment, rounded.radius())),
            Shape::Cuboid(cuboid) => Ok(Moments::rounded(&cuboid.mesh(), rounded.radius())),
            Shape::Polyhedron(polyhedron) if polyhedron.is_convex() => {
                Ok(Moments::rounded(polyhedron.mesh(), rounded.radius()))
            }
            _ => unknown("a rounded body that is not convex or an intersection"),
        },
        Shape::Union(_) => unknown("a union in a union"),
        Shape::Cylinder(cylinder) => Ok(of_cylinder(cylinder)),
        Shape::TurnedEllipsoid(turned) => Ok(turned_back(
            &moments(&Shape::Ellipsoid(*turned.base()))?,
            turned,
        )),
        Shape::Segment(_) => unknown("a segment"),
    }
}

/// Computes the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a cylinder with radius $r$
/// and half length $l$. The mean squares of its coordinates are $r^2/4$ across the axis and $l^2/3$ along it.
fn of_cylinder(cylinder: &Cylinder) -> Moments {
    let (r, l) = (cylinder.radius(), cylinder.half_length());
    let volume = 2.0 * PI * r * r * l;
    about_axis(volume, r * r / 4.0, l * l / 3.0, cylinder.axis()).moved(cylinder.center())
}

/// Computes the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a capsule, a cylinder with two
/// hemispheres at its ends. `segment` is the axis of the cylinder, with half length $l$, and $r$ = `radius`. The mean square of
/// the coordinate along the axis over the hemispheres is $l^2 + \tfrac34lr + \tfrac15r^2$.
fn capsule(segment: &Segment, radius: f64) -> Moments {
    let (r, half) = (radius, segment.half());
    let l = half.norm();
    let axis = half / l;
    let mut total = about_axis(2.0 * PI * r * r * l, r * r / 4.0, l * l / 3.0, &axis);
    let along = l * l + 0.75 * l * r + r * r / 5.0;
    let balls = about_axis(4.0 / 3.0 * PI * (r * r * r), r * r / 5.0, along, &axis);
    total.add(&balls, 1.0);
    total.moved(&segment.center())
}

/// Returns the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a body that is symmetric
/// about the origin and about a unit axis. `across` and `along` are the mean squares of its coordinates perpendicular
/// to the axis and along it.
fn about_axis(volume: f64, across: f64, along: f64, axis: &Vector3<f64>) -> Moments {
    let second = Matrix3::identity() * across + axis * axis.transpose() * (along - across);
    Moments {
        volume,
        first: Vector3::zeros(),
        second: second * volume,
    }
}

/// Converts the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of an ellipsoid with turned
/// axes to the body frame. `own` holds the integrals in the axes of the ellipsoid, about the center of the ellipsoid.
fn turned_back(own: &Moments, turned: &TurnedEllipsoid) -> Moments {
    let axes = turned.axes();
    let about_center = Moments {
        volume: own.volume,
        first: axes * own.first,
        second: axes * own.second * axes.transpose(),
    };
    about_center.moved(turned.center())
}

/// Computes the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of an ellipsoid grown by a
/// ball of radius $\varepsilon$ = `radius`, as integrals over its surface.
///
/// Let $n$ be the outward normal at the surface point $\rho$, $h$ the support function, $k_i$ the principal
/// curvatures and $p = \rho + \varepsilon n$. On the grown surface $p\cdot n = h + \varepsilon$, and its area
/// element is $(1 + \varepsilon k_1)(1 + \varepsilon k_2)\mathrm{d}S$. The divergence theorem converts moments
/// into surface integrals of $\tfrac13 p\cdot n$ and $\tfrac15 pp^Tp\cdot n$.
fn rounded_ellipsoid(ellipsoid: &Ellipsoid, radius: f64) -> Moments {
    let a = ellipsoid.semi_axes();
    // Lengths are scaled by the largest axis.
    let size = a.max();
    let (a, radius) = (a / size, radius / size);
    let squares = a.component_mul(&a);
    let determinant = a.product();
    let integrand = |z: f64, longitude: f64| {
        let across = ((1.0 - z) * (1.0 + z)).max(0.0).sqrt();
        let (sin, cos) = libm::sincos(longitude);
        let u = Vector3::new(across * cos, across * sin, z);
        let point = a.component_mul(&u);
        let slope = u.component_div(&a);
        let steep = slope.norm();
        let normal = slope / steep;
        let mean = (squares.sum() - point.norm_squared())
            / (determinant * determinant * (steep * steep * steep));
        let gauss = 1.0 / (determinant * determinant * carom_numeric::power(steep, 4));
        let area = determinant * steep * (1.0 + radius * (mean + radius * gauss));
        let p = point + normal * radius;
        let flux = area * p.dot(&normal);
        [
            flux / 3.0,
            flux * p.x * p.x / 5.0,
            flux * p.y * p.y / 5.0,
            flux * p.z * p.z / 5.0,
        ]
    };
    let quadrature = Adaptive::default();
    // The tolerance is relative to the size of the result.
    let tolerance = EQUAL * (determinant + (radius * radius * radius));
    let quarter = |z: f64| {
        let along = |longitude: f64| integrand(z, longitude);
        quadrature.integrate(&along, [0.0, FRAC_PI_2], 0.1 * tolerance)
    };
    // The eight octants are equal.
    let sums = quadrature.integrate(&quarter, [0.0, 1.0], tolerance);
    let [volume, xx, yy, zz] = sums.map(|x| 8.0 * x);
    let moments = Moments {
        volume: volume * (size * size * size),
        first: Vector3::zeros(),
        second: Matrix3::from_diagonal(&Vector3::new(xx, yy, zz)) * carom_numeric::power(size, 5),
    };
    moments.moved(ellipsoid.center())
}
