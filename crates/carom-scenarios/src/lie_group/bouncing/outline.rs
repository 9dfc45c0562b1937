//! Bodies in projection: silhouettes, and edges on the visible side.

use crate::common::projection::Camera;
use carom_geometry::{Ellipsoid, Shape, SupportMap, TriangleMesh};
use carom_variational::State;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Number of points on each ellipse of an ellipsoid, and on a silhouette.
const POINTS: usize = 72;

/// Cosine of the angle between the normals of two neighboring triangles above which they count as one face.
const FLAT_COSINE: f64 = 1.0 - 1e-9;

/// A convex part of a body as drawn: silhouette and visible lines, in space.
pub(super) struct View {
    pub(super) silhouette: Vec<Vector3<f64>>,
    pub(super) lines: Vec<Vec<Vector3<f64>>>,
}

/// Returns the drawable views of the convex parts of a body, the farthest from the viewer first. `state`: pose of the body;
/// `camera`: direction of the view.
pub(super) fn views(shape: &Shape, state: &State, camera: &Camera) -> Vec<View> {
    let mut parts = Vec::new();
    collect(shape, &mut parts);
    let toward = camera.toward();
    let toward_b = state.rotation.rotate_back(&toward);
    let mut views: Vec<(f64, View)> = parts
        .into_iter()
        .map(|part| {
            let silhouette = silhouette(part, state, camera);
            let middle: Vector3<f64> = silhouette.iter().sum();
            let in_space = |line: Vec<Vector3<f64>>| {
                let configuration = state.configuration();
                line.iter().map(|p| configuration.act(p)).collect()
            };
            let lines = outline(part, &toward_b).into_iter().map(in_space).collect();
            (middle.dot(&toward), View { silhouette, lines })
        })
        .collect();
    views.sort_by(|a, b| a.0.total_cmp(&b.0));
    views.into_iter().map(|(_, view)| view).collect()
}

fn collect<'s>(shape: &'s Shape, parts: &mut Vec<&'s Shape>) {
    match shape {
        Shape::Union(union) => union.parts().iter().for_each(|part| collect(part, parts)),
        part => parts.push(part),
    }
}

/// Returns the outline of a convex body as it appears in the picture, as points in space. `state`: pose of the body; `camera`:
/// direction of the view.
fn silhouette(shape: &Shape, state: &State, camera: &Camera) -> Vec<Vector3<f64>> {
    let outermost = |k: usize| {
        let out = camera.direction(TAU * k as f64 / POINTS as f64);
        let inwards = state.rotation.rotate_back(&-out);
        state.configuration().act(&shape.support(&inwards).point)
    };
    (0..POINTS).map(outermost).collect()
}

/// Returns lines on the surface of a body that make its shape visible, such as edges of a box. Only lines on the side that
/// faces the viewer are returned. `toward`: direction to the viewer in body axes.
fn outline(shape: &Shape, toward: &Vector3<f64>) -> Vec<Vec<Vector3<f64>>> {
    match shape {
        Shape::Ellipsoid(ellipsoid) => {
            seen(ellipses(ellipsoid), |p| is_facing(ellipsoid, p, toward))
        }
        Shape::Cuboid(cuboid) => mesh_edges(&cuboid.mesh(), toward),
        Shape::Polyhedron(polyhedron) => mesh_edges(polyhedron.mesh(), toward),
        Shape::Rounded(rounded) => outline(rounded.base(), toward),
        Shape::Intersection(common) => {
            let parts = common.parts();
            let lines = |own: &Ellipsoid| {
                seen(ellipses(own), |p| {
                    let is_inside = |e: &Ellipsoid| e == own || e.level(p) <= 1.0;
                    is_facing(own, p, toward) && parts.iter().all(is_inside)
                })
            };
            parts.iter().flat_map(lines).collect()
        }
        _ => Vec::new(),
    }
}

/// True if a point on the surface of an ellipsoid lies on the side that is visible from the direction `toward`.
fn is_facing(ellipsoid: &Ellipsoid, point: &Vector3<f64>, toward: &Vector3<f64>) -> bool {
    let squares = ellipsoid.semi_axes().component_mul(ellipsoid.semi_axes());
    (point - ellipsoid.center())
        .component_div(&squares)
        .dot(toward)
        >= 0.0
}

/// Cuts polylines into their visible pieces: consecutive points for which the closure `is_seen` is true.
fn seen(
    lines: Vec<Vec<Vector3<f64>>>,
    is_seen: impl Fn(&Vector3<f64>) -> bool,
) -> Vec<Vec<Vector3<f64>>> {
    let mut pieces = Vec::new();
    for line in lines {
        let runs = line.split(|p| !is_seen(p)).filter(|run| run.len() > 1);
        pieces.extend(runs.map(<[_]>::to_vec));
    }
    pieces
}

/// Returns the three ellipses in which the principal planes cut an ellipsoid, as closed polylines.
fn ellipses(ellipsoid: &Ellipsoid) -> Vec<Vec<Vector3<f64>>> {
    let ring = |skip: usize| {
        let (i, j) = ((skip + 1) % 3, (skip + 2) % 3);
        let point = |k: usize| {
            let (sin, cos) = libm::sincos(TAU * k as f64 / POINTS as f64);
            let mut point = *ellipsoid.center();
            point[i] += ellipsoid.semi_axes()[i] * cos;
            point[j] += ellipsoid.semi_axes()[j] * sin;
            point
        };
        (0..=POINTS).map(point).collect()
    };
    (0..3).map(ring).collect()
}

/// Returns the edges between triangles that are not coplanar. An edge is omitted if both triangles face away from the viewer.
/// `toward`: direction to the viewer in body axes.
fn mesh_edges(mesh: &TriangleMesh, toward: &Vector3<f64>) -> Vec<Vec<Vector3<f64>>> {
    let vertices = mesh.vertices();
    let mut normals: BTreeMap<(usize, usize), Vector3<f64>> = BTreeMap::new();
    let mut lines = Vec::new();
    for &[a, b, c] in mesh.triangles() {
        let normal = (vertices[b] - vertices[a])
            .cross(&(vertices[c] - vertices[a]))
            .normalize();
        for (from, to) in [(a, b), (b, c), (c, a)] {
            match normals.get(&(to, from)) {
                Some(other)
                    if other.dot(&normal) < FLAT_COSINE
                        && other.dot(toward).max(normal.dot(toward)) >= 0.0 =>
                {
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
