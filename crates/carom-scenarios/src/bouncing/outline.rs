//! Bodies as lines in space, and their projection.

use carom_geometry::{Cuboid, Ellipsoid, Polyhedron, Shape, TriangleMesh};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Points on each ellipse of an ellipsoid.
const ELLIPSE_POINTS: usize = 48;

/// Neighboring triangles whose normals are this close are one face.
const FLAT_COSINE: f64 = 1.0 - 1e-9;

/// Lines in the body that show its shape.
pub(super) fn outline(shape: &Shape) -> Vec<Vec<Vector3<f64>>> {
    match shape {
        Shape::Ellipsoid(ellipsoid) => ellipses(ellipsoid),
        Shape::Cuboid(cuboid) => box_edges(cuboid),
        Shape::Polyhedron(polyhedron) => edges(polyhedron),
        Shape::Rounded(rounded) => outline(rounded.base()),
        Shape::Union(union) => union.parts().iter().flat_map(outline).collect(),
        Shape::Intersection(both) => {
            let [a, b] = both.parts();
            let inside = |other: &Ellipsoid, line: Vec<Vector3<f64>>| {
                let pieces = line.split(|p| other.level(p) > 1.0);
                let pieces = pieces.filter(|piece| piece.len() > 1);
                pieces.map(<[_]>::to_vec).collect::<Vec<_>>()
            };
            let first = ellipses(a).into_iter().flat_map(|line| inside(b, line));
            let second = ellipses(b).into_iter().flat_map(|line| inside(a, line));
            first.chain(second).collect()
        }
        _ => Vec::new(),
    }
}

/// The three principal ellipses.
fn ellipses(ellipsoid: &Ellipsoid) -> Vec<Vec<Vector3<f64>>> {
    let ring = |skip: usize| {
        let (i, j) = ((skip + 1) % 3, (skip + 2) % 3);
        let point = |k: usize| {
            let (sin, cos) = (TAU * k as f64 / ELLIPSE_POINTS as f64).sin_cos();
            let mut point = *ellipsoid.center();
            point[i] += ellipsoid.semi_axes()[i] * cos;
            point[j] += ellipsoid.semi_axes()[j] * sin;
            point
        };
        (0..=ELLIPSE_POINTS).map(point).collect()
    };
    (0..3).map(ring).collect()
}

fn box_edges(cuboid: &Cuboid) -> Vec<Vec<Vector3<f64>>> {
    mesh_edges(&cuboid.mesh())
}

fn edges(polyhedron: &Polyhedron) -> Vec<Vec<Vector3<f64>>> {
    mesh_edges(polyhedron.mesh())
}

/// Edges between triangles that are not in one plane.
fn mesh_edges(mesh: &TriangleMesh) -> Vec<Vec<Vector3<f64>>> {
    let vertices = mesh.vertices();
    let mut normals: BTreeMap<(usize, usize), Vector3<f64>> = BTreeMap::new();
    let mut lines = Vec::new();
    for &[a, b, c] in mesh.triangles() {
        let normal = (vertices[b] - vertices[a])
            .cross(&(vertices[c] - vertices[a]))
            .normalize();
        for (from, to) in [(a, b), (b, c), (c, a)] {
            match normals.get(&(to, from)) {
                Some(other) if other.dot(&normal) < FLAT_COSINE => {
                    lines.push(vec![vertices[from], vertices[to]]);
                }
                Some(_) => {}
                None => {
                    normals.insert((from, to), normal);
                }
            }
        }
    }
    lines
}

/// A parallel projection: along a direction of travel, and from slightly above.
pub(super) struct Camera {
    right: Vector3<f64>,
    up: Vector3<f64>,
}

impl Camera {
    /// Looks across the horizontal direction `travel`, from 15 degrees above.
    pub(super) fn beside(travel: Vector3<f64>) -> Self {
        let level = Vector3::new(travel.x, travel.y, 0.0);
        let right = level.try_normalize(1e-12).unwrap_or_else(Vector3::x);
        let away = Vector3::z().cross(&right);
        let (sin, cos) = 15f64.to_radians().sin_cos();
        Self {
            right,
            up: Vector3::z() * cos + away * sin,
        }
    }

    /// Looks straight down.
    pub(super) fn above() -> Self {
        Self {
            right: Vector3::x(),
            up: Vector3::y(),
        }
    }

    /// Picture coordinates of space points.
    pub(super) fn project<'a>(
        &self,
        points: impl IntoIterator<Item = &'a Vector3<f64>>,
    ) -> (Vec<f64>, Vec<f64>) {
        points
            .into_iter()
            .map(|p| (self.right.dot(p), self.up.dot(p)))
            .unzip()
    }
}
