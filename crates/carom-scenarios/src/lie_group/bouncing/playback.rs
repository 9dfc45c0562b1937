//! Animation of a run in space.

use super::System;
use crate::ScenarioError;
use crate::motion::playback::pose;
use carom_geometry::{Cylinder, Shape, SupportMap, TriangleMesh};
use carom_motion::flying::Trajectory;
use carom_report::animation::{Animation, PointImpulse, Solid, SpaceBody};
use carom_report::record::{Color, Record};
use carom_variational::Flight;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// Number of frames in addition to those at the impacts.
const FRAMES: usize = 200;

/// Largest number of impacts with their own frame.
const IMPACTS: usize = 200;

/// Rounding radius, as a share of the body's size, below which the rounding is not drawn.
const VISIBLE: f64 = 0.01;

/// Numbers of directions around and along the sphere that sample a rounded shape.
const DIRECTIONS: [usize; 2] = [24, 12];

pub(super) fn playback<F: Flight>(
    system: &System,
    run: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let end = run.end().time;
    let mut impacts: Vec<f64> = run.impacts().iter().map(|impact| impact.time).collect();
    impacts.truncate(IMPACTS);
    let times = Animation::frames(0.0, end, FRAMES, &impacts);
    impacts.retain(|impact| times.contains(impact));
    let poses = times
        .iter()
        .map(|time| run.state_at(*time).map(|state| pose(&state)))
        .collect::<Result<Vec<_>, _>>()?;
    let body = SpaceBody::new(solids(&system.shape), Color::Blue, poses).label("body");
    let normal = system.plane.normal();
    let within = run
        .impacts()
        .iter()
        .filter(|hit| impacts.contains(&hit.time));
    let impulses = within.flat_map(|hit| {
        hit.points.iter().map(|p| PointImpulse {
            time: hit.time,
            point: (hit.after.position + hit.after.rotation.rotate(&p.point_b)).into(),
            impulse: (normal * p.impulse).into(),
        })
    });
    let impulses: Vec<PointImpulse> = impulses.collect();
    let animation = Animation::space(
        "motion",
        "The run",
        "The body over the plane, its path and its shade along the normal. Spheres and ellipsoids \
         are two-toned to show how they turn.",
        (times, impacts),
        ([normal.x, normal.y, normal.z], system.plane.offset()),
        vec![body],
    );
    record.animations.push(animation.impulses(impulses));
    Ok(())
}

/// Converts a shape to ellipsoids and triangle meshes, the solids that an animation can draw.
pub(crate) fn solids(shape: &Shape) -> Vec<Solid> {
    match shape {
        Shape::Ellipsoid(ellipsoid) => vec![Solid::Ellipsoid {
            semi_axes: (*ellipsoid.semi_axes()).into(),
            center: (*ellipsoid.center()).into(),
        }],
        Shape::Cuboid(cuboid) => vec![mesh(&cuboid.mesh())],
        Shape::Polyhedron(polyhedron) => vec![mesh(polyhedron.mesh())],
        Shape::Cylinder(cylinder) => vec![prism(cylinder)],
        Shape::Union(union) => union.parts().iter().flat_map(solids).collect(),
        Shape::Rounded(rounded) if rounded.radius() <= VISIBLE * shape.bounding_radius() => {
            solids(rounded.base())
        }
        _ => vec![hull(shape)],
    }
}

fn mesh(mesh: &TriangleMesh) -> Solid {
    Solid::Mesh {
        vertices: mesh.vertices().iter().map(|v| (*v).into()).collect(),
        triangles: mesh.triangles().to_vec(),
    }
}

/// Approximates a cylinder by a prism, for an animation. The vertices are the points on both rims, then the centers of both
/// ends.
fn prism(cylinder: &Cylinder) -> Solid {
    let n = DIRECTIONS[0];
    let axis = cylinder.axis();
    let x = Vector3::ith(axis.iamin(), 1.0).cross(axis).normalize();
    let y = axis.cross(&x);
    let end = |k: usize| axis * (cylinder.half_length() * if k == 0 { -1.0 } else { 1.0 });
    let rim = |k: usize| {
        let (sin, cos) = libm::sincos(TAU * (k % n) as f64 / n as f64);
        (cylinder.center() + end(k / n) + (x * cos + y * sin) * cylinder.radius()).into()
    };
    let middles = [0, 1].map(|k| (cylinder.center() + end(k)).into());
    let side = |k: usize| {
        let next = (k + 1) % n;
        [
            [k, next, n + next],
            [k, n + next, n + k],
            [2 * n, next, k],
            [2 * n + 1, n + k, n + next],
        ]
    };
    Solid::Mesh {
        vertices: (0..2 * n).map(rim).chain(middles).collect(),
        triangles: (0..n).flat_map(side).collect(),
    }
}

/// Approximates a convex shape by a mesh, for an animation. The vertices of the mesh are the outermost points of the shape in a
/// grid of directions.
fn hull(shape: &Shape) -> Solid {
    let [across, down] = DIRECTIONS;
    let vertex = |k: usize| {
        let (i, j) = (k % across, k / across);
        let (sin_u, cos_u) = libm::sincos(TAU * i as f64 / across as f64);
        let (sin_v, cos_v) = libm::sincos(PI * j as f64 / down as f64);
        // The support function returns the lowest point along a direction.
        let inward = -Vector3::new(sin_v * cos_u, sin_v * sin_u, cos_v);
        shape.support(&inward).point.into()
    };
    let cell = |k: usize| {
        let (i, j) = (k % across, k / across);
        let right = (i + 1) % across;
        let (top, bottom) = (j * across, (j + 1) * across);
        [
            [top + i, bottom + i, bottom + right],
            [top + i, bottom + right, top + right],
        ]
    };
    Solid::Mesh {
        vertices: (0..across * (down + 1)).map(vertex).collect(),
        triangles: (0..across * down).flat_map(cell).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use carom_geometry::{Cuboid, Ellipsoid, Rounded, Union};

    fn volume(solid: &Solid) -> f64 {
        let Solid::Mesh {
            vertices,
            triangles,
        } = solid
        else {
            return 0.0;
        };
        let corner = |i: usize| Vector3::from(vertices[i]);
        let cone = |t: &[usize; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))) / 6.0;
        triangles.iter().map(cone).sum()
    }

    /// Checks that the faces of the mesh of a sphere point outward, and that the volume of the mesh is between 95 and 100 per
    /// cent of that of the ball.
    #[test]
    fn a_sampled_ball_is_a_ball() {
        let ball = Shape::Ellipsoid(Ellipsoid::sphere(2.0, Vector3::zeros()).unwrap());
        let exact = 32.0 / 3.0 * PI;
        let found = volume(&hull(&ball));
        // Chords of 1/16 turn reduce the volume by about their angle squared over 6 in each of two directions.
        assert!(found < exact && found > 0.95 * exact, "{found} of {exact}");
    }

    #[test]
    fn only_rounding_that_can_be_seen_is_drawn() {
        let rounded = |radius: f64| {
            let cube = Shape::Cuboid(Cuboid::new([1.0; 3]).unwrap());
            let rounded = Rounded::new(cube, radius).unwrap();
            solids(&Shape::Rounded(Box::new(rounded)))
        };
        let sharp = rounded(1e-6);
        assert!((volume(&sharp[0]) - 8.0).abs() <= 1e-12);
        let soft = rounded(0.5);
        // The volume lies between those of the cube and of its bounding cube.
        let found = volume(&soft[0]);
        assert!(found > 8.0 && found < 27.0, "{found}");
    }

    /// Checks that the faces of the prism point outward, and that a prism with n sides has sin(2π/n) n/2π times the volume of
    /// the cylinder.
    #[test]
    fn a_cylinder_is_drawn_as_a_prism() {
        let axis = nalgebra::Unit::new_normalize(Vector3::new(1.0, 0.2, -0.4));
        let center = Vector3::new(0.3, 0.1, 0.0);
        let cylinder = Shape::Cylinder(Cylinder::new(0.5, 0.7, &axis, center).unwrap());
        let sides = DIRECTIONS[0] as f64;
        let exact = 0.25 * 1.4 * 0.5 * sides * (TAU / sides).sin();
        let found = volume(&solids(&cylinder)[0]);
        assert!((found - exact).abs() <= 1e-14, "{found} of {exact}");
    }

    #[test]
    fn a_union_is_drawn_part_by_part() {
        let ball =
            |x: f64| Shape::Ellipsoid(Ellipsoid::sphere(1.0, Vector3::new(x, 0.0, 0.0)).unwrap());
        let union = Union::new(vec![ball(-1.0), ball(1.0)]).unwrap();
        assert_eq!(solids(&Shape::Union(union)).len(), 2);
    }
}
