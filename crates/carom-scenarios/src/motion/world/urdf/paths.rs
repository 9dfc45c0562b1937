//! Files that a robot's file names.

use std::path::{Path, PathBuf};

/// Searches for the file with the address `address` in a robot's file that lies in `folder`.
///
/// An absolute path and a `file://` address are taken as they are, another path is relative to `folder`. An address such as
/// `package://P/x` or `model://P/x` is searched from `folder` upwards: at each level in the folder itself if it is called P, and
/// in a folder P inside it. Then come the folders `mesh_dirs`, and at last `folder` with x alone, for packages whose folder has
/// another name.
///
/// Returns the searched places, as text, if there is no such file.
pub(super) fn find(address: &str, folder: &Path, mesh_dirs: &[PathBuf]) -> Result<PathBuf, String> {
    let own = std::fs::canonicalize(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let folder = own.unwrap_or_else(|_| folder.to_path_buf());
    let is_file = |path: &PathBuf| path.is_file();
    let package = ["package://", "model://"]
        .iter()
        .find_map(|start| address.strip_prefix(start));
    let Some(path) = package else {
        let path = Path::new(address.strip_prefix("file://").unwrap_or(address));
        let beside = folder.join(path);
        let all = std::iter::once(beside).chain(mesh_dirs.iter().map(|dir| dir.join(path)));
        return all.into_iter().find(is_file).ok_or_else(|| {
            let searched = if path.is_absolute() {
                String::new()
            } else {
                listed(&folder, mesh_dirs, "")
            };
            format!("{address} is not found{searched}")
        });
    };
    // An empty name of the package: `package:///x`.
    let path = path.trim_start_matches('/');
    let (name, tail) = path.split_once('/').unwrap_or(("", path));
    let upwards = folder.ancestors().flat_map(|level| {
        let is_package = level.file_name().is_some_and(|own| own == name);
        [is_package.then(|| level.join(tail)), Some(level.join(path))]
    });
    let given = mesh_dirs
        .iter()
        .flat_map(|dir| [Some(dir.join(path)), Some(dir.join(tail))]);
    let all = upwards.chain(given).chain([Some(folder.join(tail))]);
    all.flatten().find(is_file).ok_or_else(|| {
        let searched = listed(
            &folder,
            mesh_dirs,
            &format!(" and above it for a folder `{name}`"),
        );
        format!("{address} is not found{searched}; `urdf.mesh_dir` says where meshes are")
    })
}

/// Returns the searched folders as the end of a sentence.
fn listed(folder: &Path, mesh_dirs: &[PathBuf], above: &str) -> String {
    let mut text = format!(": looked in {}{above}", folder.display());
    for dir in mesh_dirs {
        text.push_str(&format!(", in {}", dir.display()));
    }
    text
}
