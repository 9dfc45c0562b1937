//! Files that are being written, and those that dead processes left behind.

use crate::SweepError;
use std::fs;
use std::path::Path;

/// Name of the file in which this process writes what will be called `what`.
pub(crate) fn temporary_name(what: &str) -> String {
    format!(".{what}.{}.{}.tmp", host(), std::process::id())
}

/// The name of this machine, in letters that a file name may have.
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

/// Removes what dead processes of this machine left in a folder.
pub(crate) fn remove_stale(folder: &Path) -> Result<(), SweepError> {
    let unreadable = |error| SweepError::file("read the folder", folder)(error);
    let host = host();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| process_of(name, &host));
        // Of this process there is nothing yet: its number was used before.
        if process.is_some_and(|id| id == std::process::id() || !is_alive(id)) {
            let path = entry.path();
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(SweepError::file("remove", &path)(error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The process that writes a temporary file of a sweep on this machine.
fn process_of(name: &str, host: &str) -> Option<u32> {
    let rest = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (rest, process) = rest.rsplit_once('.')?;
    let (what, of_host) = rest.split_once('.')?;
    let is_ours = what == "plan" || what.starts_with("shard-");
    (is_ours && of_host == host)
        .then(|| process.parse().ok())
        .flatten()
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let id = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let answer = id.map(rustix::process::test_kill_process);
    // A process of somebody else cannot be asked, but it is there.
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
        assert_eq!(process_of(".shard-000012.a.b.c.77.tmp", "a.b.c"), Some(77));
        assert_eq!(process_of(".plan.me.1.tmp", "me"), Some(1));
        for other in [
            ".shard-000012.you.77.tmp",
            "shard-000012.me.77.tmp",
            ".shard-000012.me.x.tmp",
            ".notes.me.77.tmp",
            ".shard-000012.me.77",
            "..tmp",
        ] {
            assert_eq!(process_of(other, "me"), None, "{other}");
        }
    }
}
