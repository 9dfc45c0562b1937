//! Writing a file as a whole or not at all.

use crate::SweepError;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// Treatment of a file that has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, untouched: another process was faster.
    Keep,
    /// It is replaced.
    Replace,
}

/// Writes bytes to a temporary file, syncs it, gives it its name and syncs the folder.
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
        // Nothing is lost if it cannot be removed: the next run does.
        let _ = fs::remove_file(temporary);
    }
    written.map_err(SweepError::file("write", path))?;
    sync_folder(path)
}

/// Held while a temporary file is there: threads of one process give theirs the same name.
pub(crate) fn writing(temporary: &Path) -> MutexGuard<'static, ()> {
    static WRITING: [Mutex<()>; PLACES] = [const { Mutex::new(()) }; PLACES];
    let mut hasher = DefaultHasher::new();
    temporary.file_name().hash(&mut hasher);
    let place = (hasher.finish() % PLACES as u64) as usize;
    WRITING[place]
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// So many files are written at the same time at least, if their names fall apart.
const PLACES: usize = 64;

/// Gives a finished file its name, in place of what had it.
pub(crate) fn replace(temporary: &Path, path: &Path) -> Result<(), SweepError> {
    fs::rename(temporary, path).map_err(SweepError::file("write", path))?;
    sync_folder(path)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A file of that name is from an earlier process with this one's number.
fn create(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)
        }
        other => other,
    }
}

/// Renames unless the name is taken; then the temporary file is removed.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusive(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => fs::remove_file(from),
        // Not every file system can do it in one step.
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

/// Syncs the folder of a file, so that its name survives a loss of power.
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
