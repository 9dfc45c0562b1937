//! Convex hulls of a robot's mesh files: STL, OBJ, and the vertices of COLLADA.

use super::collada;
use crate::lie_group::bouncing::read_mesh_file;
use carom_geometry::{MeshFile, Polyhedron};
use carom_lie::Se3;
use carom_report::input::read_text;
use nalgebra::Vector3;
use std::path::Path;

/// Largest relative difference between the volumes of a mesh and of its hull at which the mesh counts as convex.
const CONVEX: f64 = 1e-9;

/// Largest COLLADA file (bytes); its elements take several times as much memory.
const MAX_COLLADA_BYTES: u64 = 64 << 20;

/// Convex hulls that stand for a mesh file.
pub(super) struct Hulls {
    /// Vertices of each hull in the frame of the body (m).
    pub(super) parts: Vec<Vec<[f64; 3]>>,
    /// Reason why the hulls are not the mesh itself; `None` for closed and convex objects.
    pub(super) replaces: Option<&'static str>,
}

/// Reads a mesh file and returns the convex hull of each of its objects. If one of several objects is flat, the hull of all
/// vertices takes their place. `at`: pose of the mesh in the body; `scale`: scale factors along its axes.
pub(super) fn hulls(path: &Path, at: &Se3, scale: &[f64; 3]) -> Result<Hulls, String> {
    let is_collada = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("dae"));
    let file = if is_collada {
        let text = read_text(path, MAX_COLLADA_BYTES).map_err(|error| error.to_string());
        let vertices = text.and_then(|text| collada::vertices(&text));
        vertices.map(|vertices| MeshFile {
            vertices,
            ..MeshFile::default()
        })
    } else {
        read_mesh_file(path)
    };
    let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
    let placed = |points: &[Vector3<f64>]| -> Vec<Vector3<f64>> {
        let scale = Vector3::from(*scale);
        points
            .iter()
            .map(|v| at.act(&v.component_mul(&scale)))
            .collect()
    };
    let each = file.parts();
    let hulls: Result<Vec<Polyhedron>, _> = each
        .iter()
        .map(|part| Polyhedron::new(&placed(part)))
        .collect();
    let (hulls, replaces) = match hulls {
        Ok(hulls) => {
            let factor = scale.iter().product::<f64>().abs();
            let why = replaces(file, &hulls, factor);
            (hulls, why)
        }
        Err(_) if each.len() > 1 => {
            let whole = Polyhedron::new(&placed(&file.vertices));
            let why = "has a flat part: the hull of all vertices takes its place";
            (
                vec![whole.map_err(|error| format!("{}: {error}", path.display()))?],
                Some(why),
            )
        }
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let parts = hulls
        .iter()
        .map(|hull| hull.vertices().iter().map(|v| (*v).into()).collect());
    Ok(Hulls {
        parts: parts.collect(),
        replaces,
    })
}

/// Returns the reason why the hulls of the objects of a file are not the mesh itself. `factor`: ratio of the volume of a hull to
/// that of its object in the file.
fn replaces(file: MeshFile, hulls: &[Polyhedron], factor: f64) -> Option<&'static str> {
    let is_union = hulls.len() > 1;
    if file.objects.is_empty() {
        return Some("has no triangles here: the hull of its vertices takes its place");
    }
    let Ok(mesh) = file.close() else {
        return Some(if is_union {
            "is not a closed mesh: the hulls of its parts take its place"
        } else {
            "is not a closed mesh: the hull of its vertices takes its place"
        });
    };
    let whole: f64 = hulls.iter().map(|hull| hull.mesh().volume()).sum();
    let own = mesh.volume() * factor;
    ((whole - own).abs() > CONVEX * whole).then_some(if is_union {
        "has parts that are not convex: their hulls take its place"
    } else {
        "is not convex: its hull takes its place"
    })
}
