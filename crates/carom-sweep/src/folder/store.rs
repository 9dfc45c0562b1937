//! Writes files completely or not at all.

use crate::SweepError;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// Treatment of an existing file with the final name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The existing file is kept: another process was faster.
    Keep,
    /// The existing file is replaced.
    Replace,
}

/// Writes `bytes` to the file `path` completely or not at all. The bytes are written to the file `temporary`, which is synced
/// to disk and then renamed. The folder is also synced. `existing` decides if an existing file is kept or replaced.
pub(crate) fn store(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    existing: Existing,
) -> Result<(), SweepError> {
    let _writing = writing(temporary);
    let written = write_synced(temporary, bytes).and_then(|()| match existing {
        Existing::Keep => rename_new(temporary, path),
        Existing::Replace => fs::rename(temporary, path),
    });
    if written.is_err() {
        // If it cannot be removed, the next run does that.
        let _ = fs::remove_file(temporary);
    }
    written.map_err(SweepError::file("write", path))?;
    sync_folder(path)
}

/// Locks the name of a temporary file until the returned guard is dropped, because several threads of a process use equal
/// names. Two names with equal hashes may share a lock.
pub(crate) fn writing(temporary: &Path) -> MutexGuard<'static, ()> {
    static WRITING: [Mutex<()>; PLACES] = [const { Mutex::new(()) }; PLACES];
    let mut hasher = DefaultHasher::new();
    temporary.file_name().hash(&mut hasher);
    let place = (hasher.finish() % PLACES as u64) as usize;
    WRITING[place]
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Number of locks. This many files can be written at once if the hashes of their names differ.
const PLACES: usize = 64;

/// Renames the complete file `temporary` to `path`, replacing an existing file, and syncs the folder to disk.
pub(crate) fn replace(temporary: &Path, path: &Path) -> Result<(), SweepError> {
    fs::rename(temporary, path).map_err(SweepError::file("write", path))?;
    sync_folder(path)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a new file. An existing file with this name is removed first: an earlier process that had the id of this process
/// left it.
fn create(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)
        }
        other => other,
    }
}

/// Renames the file `from` to `to`. If a file `to` exists already, it is kept and `from` is removed.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusive(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => fs::remove_file(from),
        // Some file systems cannot do this in one step.
        Err(error) if is_unsupported(&error) => {
            if to.exists() {
                fs::remove_file(from)
            } else {
                fs::rename(from, to)
            }
        }
        other => other,
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::InvalidInput
    )
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_exclusive(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_exclusive(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Writes the folder entry of `file` to disk, so that its name survives a power failure.
pub(crate) fn sync_folder(file: &Path) -> Result<(), SweepError> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(SweepError::file("sync the folder", folder))?;
    }
    Ok(())
}
