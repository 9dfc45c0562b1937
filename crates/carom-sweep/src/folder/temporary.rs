//! Temporary files, and removal of those that dead processes left behind.

use super::store::writing;
use crate::SweepError;
use std::fs;
use std::path::Path;

/// Returns the name of the temporary file in which this process writes the file named `what`. The name contains the name of
/// this computer and the id of this process.
pub(crate) fn temporary_name(what: &str) -> String {
    format!(".{what}.{}.{}.tmp", host(), std::process::id())
}

/// Returns the network name of this computer; characters that are invalid in file names are replaced by `-`.
fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = name
        .chars()
        .map(|c| if is_part(c) { c } else { '-' })
        .collect();
    if name.is_empty() {
        return "host".to_owned();
    }
    name
}

/// Removes temporary files in `folder` whose processes on this computer have ended. `is_meant` decides by the final name of
/// a file if it may be removed.
pub(crate) fn remove_stale(
    folder: &Path,
    is_meant: impl Fn(&str) -> bool,
) -> Result<(), SweepError> {
    let unreadable = |error| SweepError::file("read the folder", folder)(error);
    let host = host();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let Some((what, process)) = name.to_str().and_then(|name| written(name, &host)) else {
            continue;
        };
        if !is_meant(what) {
            continue;
        }
        // If such a file has this process's id but is not being written, it is left over from an earlier
        // process.
        let path = entry.path();
        let is_own = process == std::process::id();
        let _writing = is_own.then(|| writing(&path));
        if is_own || !is_alive(process) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes a file; a missing file is no error.
pub(crate) fn remove(path: &Path) -> Result<(), SweepError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(SweepError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Splits the name of a temporary file into the final name of the file and the id of the process that writes the file. Returns
/// `None` for other names, and for temporary files of other computers than `host`.
fn written<'n>(name: &'n str, host: &str) -> Option<(&'n str, u32)> {
    let rest = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (rest, process) = rest.rsplit_once('.')?;
    let what = rest.strip_suffix(host)?.strip_suffix('.')?;
    Some((what, process.parse().ok()?))
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let id = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let answer = id.map(rustix::process::test_kill_process);
    // A process of another user cannot be signaled, but it exists.
    !matches!(answer, None | Some(Err(rustix::io::Errno::SRCH)))
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_host_are_ours() {
        for (name, host, what) in [
            (".shard-000012.a.b.c.77.tmp", "a.b.c", "shard-000012"),
            (".plan.me.77.tmp", "me", "plan"),
            (".all.parquet.me.77.tmp", "me", "all.parquet"),
        ] {
            assert_eq!(written(name, host), Some((what, 77)));
        }
        for other in [
            ".shard-000012.you.77.tmp",
            "shard-000012.me.77.tmp",
            ".shard-000012.me.x.tmp",
            ".shard-000012.me.77",
            "..tmp",
        ] {
            assert_eq!(written(other, "me"), None, "{other}");
        }
    }
}
