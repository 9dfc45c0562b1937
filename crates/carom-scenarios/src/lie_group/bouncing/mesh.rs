//! Shapes from meshes: of a file, of several, or of the configuration itself.

use crate::ScenarioError;
use carom_geometry::{GeometryError, MeshFile, Polyhedron, Shape, TriangleMesh, Union};
use nalgebra::Vector3;
use serde::Deserialize;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Largest mesh file (bytes): three million triangles of a text STL.
const MAX_MESH_BYTES: u64 = 1 << 30;

/// Most files of a folder.
const MAX_FILES: usize = 10_000;

/// Keys of a shape of the type `mesh`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeshConfig {
    vertices: Option<Vec<[f64; 3]>>,
    triangles: Option<Vec<[usize; 3]>>,
    file: Option<PathBuf>,
    /// True for the convex hull of the vertices.
    #[serde(default)]
    hull: bool,
    /// True for the union of the convex hulls of the objects of the file.
    #[serde(default)]
    parts: bool,
    /// Files whose objects are convex parts.
    files: Option<Vec<PathBuf>>,
    /// Folder whose STL and OBJ files are convex parts.
    folder: Option<PathBuf>,
}

impl MeshConfig {
    /// Builds the polyhedron of a closed mesh, a convex hull, or a union of convex hulls. Error messages name `key`, the key of
    /// the shape.
    pub(super) fn build(&self, key: &str) -> Result<Shape, ScenarioError> {
        let wrong = |error: GeometryError| ScenarioError::value(key, error);
        if self.hull && (self.parts || self.files.is_some() || self.folder.is_some()) {
            let message = "give either `hull = true` for one hull, or `parts`, `files` or `folder` for several";
            return Err(ScenarioError::value(&format!("{key}.hull"), message));
        }
        let points = |list: &[[f64; 3]]| list.iter().map(|p| Vector3::from(*p)).collect::<Vec<_>>();
        match (
            &self.vertices,
            &self.triangles,
            &self.file,
            &self.files,
            &self.folder,
        ) {
            (Some(vertices), None, None, None, None) if self.hull => {
                let made = Polyhedron::new(&points(vertices)).map_err(wrong)?;
                Ok(Shape::Polyhedron(made))
            }
            (Some(vertices), Some(triangles), None, None, None) if !self.parts => {
                let made = if self.hull {
                    Polyhedron::new(&points(vertices))
                } else {
                    TriangleMesh::new(points(vertices), triangles.clone())
                        .and_then(Polyhedron::from_mesh)
                };
                Ok(Shape::Polyhedron(made.map_err(wrong)?))
            }
            (None, None, Some(file), None, None) if self.parts => {
                union(key, std::slice::from_ref(file))
            }
            (None, None, Some(file), None, None) => {
                let key = format!("{key}.file");
                let mesh = read_mesh_file(file).map_err(|error| in_file(&key, file, error))?;
                let made = if self.hull {
                    Polyhedron::new(&mesh.vertices)
                } else {
                    mesh.close().and_then(Polyhedron::from_mesh)
                };
                let made = made.map_err(|error| in_file(&key, file, error))?;
                Ok(Shape::Polyhedron(made))
            }
            (None, None, None, Some(files), None) => union(key, files),
            (None, None, None, None, Some(folder)) => {
                let files = files_of(&format!("{key}.folder"), folder)?;
                union(key, &files)
            }
            _ => Err(ScenarioError::value(
                key,
                "a mesh needs `vertices` and `triangles`, or one of `file`, `files` and `folder`",
            )),
        }
    }
}

/// Builds the union of the convex hulls of all objects of some mesh files.
fn union(key: &str, files: &[PathBuf]) -> Result<Shape, ScenarioError> {
    let mut hulls = Vec::new();
    for file in files {
        let key = format!("{key}.file");
        let mesh = read_mesh_file(file).map_err(|error| in_file(&key, file, error))?;
        for part in mesh.parts() {
            let hull = Polyhedron::new(&part).map_err(|error| in_file(&key, file, error))?;
            hulls.push(Shape::Polyhedron(hull));
        }
    }
    match hulls.pop() {
        Some(only) if hulls.is_empty() => Ok(only),
        last => {
            hulls.extend(last);
            let made = Union::new(hulls).map_err(|error| ScenarioError::value(key, error))?;
            Ok(Shape::Union(made))
        }
    }
}

/// Returns the mesh files of a folder in the order of their names.
fn files_of(key: &str, folder: &Path) -> Result<Vec<PathBuf>, ScenarioError> {
    let fault = |message: String| in_file(key, folder, message);
    let entries = std::fs::read_dir(folder).map_err(|error| fault(error.to_string()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| fault(error.to_string()))?.path();
        if matches!(extension(&path).as_str(), "stl" | "obj") {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(fault(format!("more than {MAX_FILES} mesh files")));
        }
    }
    if files.is_empty() {
        return Err(fault("no file that ends in .stl or .obj".to_owned()));
    }
    files.sort();
    Ok(files)
}

/// Returns the end of a file name after its last point, in small letters.
fn extension(file: &Path) -> String {
    let extension = file.extension().and_then(|e| e.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

/// Reads a mesh file in STL or OBJ format; the mesh may be open. A path may be a `file://` address. The error is the reason alone.
pub(crate) fn read_mesh_file(file: &Path) -> Result<MeshFile, String> {
    let plain = file.to_str().and_then(|text| text.strip_prefix("file://"));
    let path = plain.map_or(file, Path::new);
    let read = match extension(path).as_str() {
        "stl" => MeshFile::from_stl,
        "obj" => MeshFile::from_obj,
        _ => return Err("the file name must end in .stl or .obj".to_owned()),
    };
    let input = carom_report::input::open(path).map_err(|error| error.to_string())?;
    let about = input.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is no file".to_owned());
    }
    if about.len() > MAX_MESH_BYTES {
        return Err(format!(
            "more than {}",
            carom_report::input::size(MAX_MESH_BYTES)
        ));
    }
    read(BufReader::new(input.take(MAX_MESH_BYTES))).map_err(|error| error.to_string())
}

/// Returns the error about a file that a configuration names at `key`.
fn in_file(key: &str, file: &Path, message: impl std::fmt::Display) -> ScenarioError {
    ScenarioError::value(key, format!("{}: {message}", file.display()))
}
