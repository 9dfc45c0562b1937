//! Paths in a configuration file, which are relative to the folder of that file.

use super::merge::FILE;
use crate::tree::{Kind, Value};
use std::path::Path;

/// Keys whose values are paths.
const PATHS: [&str; 4] = ["file", "files", "folder", "mesh_dir"];

/// True if the key of a configuration, as in `urdf.file`, has a path as its value.
pub fn is_path(key: &str) -> bool {
    key.rsplit('.')
        .next()
        .is_some_and(|last| PATHS.contains(&last))
}

/// Returns the configuration with the paths of the user's file as seen from the current folder; those of assignments stay as they
/// are. `folder` is the folder of the file. Returns `None` if the file lies in the current folder.
pub(super) fn rooted(value: &Value, folder: &Path) -> Option<Value> {
    if folder.as_os_str().is_empty() {
        return None;
    }
    let mut value = value.clone();
    walk(&mut value, folder);
    Some(value)
}

fn walk(value: &mut Value, folder: &Path) {
    match &mut value.kind {
        Kind::Table(entries) => {
            for entry in entries {
                if PATHS.contains(&entry.key.as_str()) {
                    join(&mut entry.value, folder);
                } else {
                    walk(&mut entry.value, folder);
                }
            }
        }
        Kind::List(items) => items.iter_mut().for_each(|item| walk(item, folder)),
        _ => (),
    }
}

/// Puts a folder before a path, or before each path of a list. Addresses such as `file:///a.stl` stay as they are.
fn join(value: &mut Value, folder: &Path) {
    let is_given = value.place.source == FILE;
    match &mut value.kind {
        Kind::Text(path) if is_given && !path.contains("://") => {
            if let Some(joined) = folder.join(&*path).to_str() {
                *path = joined.to_owned();
            }
        }
        Kind::List(items) => items.iter_mut().for_each(|item| join(item, folder)),
        _ => (),
    }
}
