//! All files of a record in one folder, written as a whole.

use super::{ExportError, Film, Format, csv, file_name, html, json};
use crate::compare::ComparedRun;
use crate::record::Record;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Writes a record to the folder `dir`: `record.json`, every table, every figure in every format, and `index.html`.
///
/// All files are first written to a new folder beside `dir`, so that a faulty record or a full disk changes
/// nothing. If `dir` is missing, empty, or holds only files of an earlier run, the new folder replaces
/// it as a whole. If `dir` holds other files, these stay, and the new files are moved into `dir` one by
/// one. Returns the paths of the new files.
///
/// # Errors
///
/// If the record cannot be drawn or written, this build lacks a format, or the file system
/// fails.
pub fn write_all(
    record: &Record,
    dir: &Path,
    formats: &[Format],
) -> Result<Vec<PathBuf>, ExportError> {
    write_with(record, dir, formats, Vec::new())
}

/// Writes a record to a folder as [`write_all`] does, together with additional files, such as [films](super::Studio::films).
/// `more` holds their names and contents.
///
/// # Errors
///
/// The errors of [`write_all`], and [`ExportError::Name`] if two files have one name.
pub fn write_with(
    record: &Record,
    dir: &Path,
    formats: &[Format],
    more: Vec<(String, Vec<u8>)>,
) -> Result<Vec<PathBuf>, ExportError> {
    let mut files = contents(record, formats)?;
    for (name, bytes) in more {
        if files.iter().any(|(taken, _)| *taken == name) {
            return Err(ExportError::Name(name));
        }
        files.push((name, bytes));
    }
    put(&files, dir, is_replaceable(dir))
}

/// Writes several runs to the folder `dir`: a folder for each run with the files of [`write_all`], `compare.json`, and
/// `index.html` with the runs side by side. `comparison` is the [`comparison`](crate::compare::comparison) of the runs.
///
/// # Errors
///
/// The errors of [`write_all`], and [`ExportError::Name`] for a label that is no name of a folder or that two runs share.
pub fn write_compared(
    runs: &[ComparedRun],
    comparison: &Value,
    dir: &Path,
    formats: &[Format],
) -> Result<Vec<PathBuf>, ExportError> {
    let folders: Vec<String> = runs.iter().map(|run| folder_name(&run.label)).collect();
    let mut files = Vec::new();
    for (k, (run, folder)) in runs.iter().zip(&folders).enumerate() {
        let is_taken = folders.iter().take(k).any(|other| other == folder);
        if is_taken || folder.trim_matches('.').is_empty() {
            return Err(ExportError::Name(run.label.clone()));
        }
        let own = contents(&run.record, formats)?.into_iter();
        files.extend(own.map(|(name, bytes)| (format!("{folder}/{name}"), bytes)));
    }
    let mut text = serde_json::to_string_pretty(comparison)?;
    text.push('\n');
    files.push((COMPARISON.to_owned(), text.into_bytes()));
    let page = html::compared(runs, &folders, comparison)?;
    files.push(("index.html".to_owned(), page.into_bytes()));
    let old = std::fs::read_to_string(dir.join(COMPARISON)).ok();
    let old = old.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let list = old.as_ref().and_then(|old| old.get("runs")?.as_array());
    let labels = list
        .into_iter()
        .flatten()
        .filter_map(|run| run.get("label")?.as_str());
    let mut known: BTreeSet<String> = labels.map(folder_name).collect();
    known.extend([COMPARISON, "index.html"].map(str::to_owned));
    let is_old = names(dir).is_some_and(|names| names.is_subset(&known));
    put(&files, dir, is_old || is_replaceable(dir))
}

/// Name of the file with the comparison of several runs.
const COMPARISON: &str = "compare.json";

/// Returns the name of the folder of a run with the label `label`.
fn folder_name(label: &str) -> String {
    let safe = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '-',
    };
    label.chars().map(safe).collect()
}

/// Returns the names in a folder; `None` if it cannot be read.
fn names(dir: &Path) -> Option<BTreeSet<String>> {
    let entries = std::fs::read_dir(dir).ok()?;
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    Some(entries.filter_map(|entry| entry.ok().map(name)).collect())
}

/// Writes files to the folder `dir`, which they replace as a whole if `replaces` is true. The names may have one folder in front.
fn put(
    files: &[(String, Vec<u8>)],
    dir: &Path,
    replaces: bool,
) -> Result<Vec<PathBuf>, ExportError> {
    let parent = match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| ExportError::File { path, source }
    };
    std::fs::create_dir_all(parent).map_err(fail(parent))?;
    let fresh = folder_beside(parent).map_err(fail(parent))?;
    for (name, bytes) in files {
        let path = fresh.path().join(name);
        let folder = path.parent().unwrap_or(fresh.path());
        std::fs::create_dir_all(folder).map_err(fail(folder))?;
        std::fs::write(&path, bytes).map_err(fail(&path))?;
        std::fs::File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(fail(&path))?;
    }
    if replaces {
        // The old folder is moved aside before it is removed, so that old and new folder are exchanged by two renames.
        let old = folder_beside(parent).map_err(fail(parent))?;
        if dir.exists() {
            std::fs::rename(dir, old.path().join("old")).map_err(fail(dir))?;
        }
        std::fs::rename(fresh.keep(), dir).map_err(fail(dir))?;
    } else {
        for (name, _) in files {
            let path = dir.join(name);
            let folder = path.parent().unwrap_or(dir);
            std::fs::create_dir_all(folder).map_err(fail(folder))?;
            std::fs::rename(fresh.path().join(name), &path).map_err(fail(&path))?;
        }
    }
    Ok(files.iter().map(|(name, _)| dir.join(name)).collect())
}

/// Creates a temporary folder inside `parent`. The permissions of the folder follow the umask of the process, whereas
/// temporary folders are private by default.
fn folder_beside(parent: &Path) -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".carom-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(parent)
}

/// True if a folder may be replaced without loss: it does not exist, is empty, or contains only files that an earlier run
/// wrote.
fn is_replaceable(dir: &Path) -> bool {
    let Some(names) = names(dir) else {
        return !dir.exists();
    };
    if names.is_empty() {
        return true;
    }
    // The file is read as a stream: reading stops at the first wrong byte of a file that is not a record, however long it is.
    let Ok(file) = File::open(dir.join("record.json")) else {
        return false;
    };
    let Ok(earlier) = serde_json::from_reader::<_, Record>(BufReader::new(file)) else {
        return false;
    };
    file_names(&earlier, &Format::ALL).is_ok_and(|own| {
        let films = earlier.animations.iter().flat_map(|animation| {
            let name = |film: &Film| file_name(&animation.name, film.extension()).ok();
            Film::ALL.iter().filter_map(name).collect::<Vec<_>>()
        });
        let own: BTreeSet<String> = own.into_iter().chain(films).collect();
        names.is_subset(&own)
    })
}

/// Returns the names of all files that a record is written to, with each figure in each of `formats`.
fn file_names(record: &Record, formats: &[Format]) -> Result<Vec<String>, ExportError> {
    let mut names = vec!["record.json".to_owned(), "index.html".to_owned()];
    for table in &record.tables {
        names.push(file_name(&table.name, "csv")?);
    }
    for figure in &record.figures {
        for format in formats {
            names.push(file_name(&figure.name, format.extension())?);
        }
    }
    Ok(names)
}

/// Returns the name and the bytes of each file that a record is written to, with each figure in each of `formats`. Fails if
/// two files have equal names.
fn contents(record: &Record, formats: &[Format]) -> Result<Vec<(String, Vec<u8>)>, ExportError> {
    let mut seen = BTreeSet::new();
    for name in file_names(record, formats)? {
        if !seen.insert(name.clone()) {
            return Err(ExportError::Name(name));
        }
    }
    let mut files = vec![("record.json".to_owned(), json(record)?.into_bytes())];
    for table in &record.tables {
        files.push((
            file_name(&table.name, "csv")?,
            csv::csv(table)?.into_bytes(),
        ));
    }
    for figure in &record.figures {
        for format in formats {
            let name = file_name(&figure.name, format.extension())?;
            files.push((name, format.draw(figure)?));
        }
    }
    let page = html::html(record, formats)?;
    files.push(("index.html".to_owned(), page.into_bytes()));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;
    use crate::record::{Quantity, Table};

    type Tested = Result<(), Box<dyn std::error::Error>>;

    fn names(dir: &Path) -> Result<Vec<String>, std::io::Error> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    const ALL: [&str; 4] = ["index.html", "record.json", "speed---time.csv", "speed.svg"];

    #[test]
    fn a_second_run_takes_the_place_of_the_first_one() -> Tested {
        let dir = tempfile::tempdir()?;
        let out = dir.path().join("a/b");
        let mut first = record();
        first.tables.push(Table::new("gone", "", Vec::new()));
        write_all(&first, &out, &[Format::Svg])?;
        assert_eq!(names(&out)?.len(), 5);
        let paths = write_all(&record(), &out, &[Format::Svg])?;
        assert_eq!(paths.len(), 4);
        assert_eq!(names(&out)?, ALL);
        assert_eq!(names(&dir.path().join("a"))?, ["b"]);
        let text = std::fs::read_to_string(out.join("record.json"))?;
        assert_eq!(text, json(&record())?);
        Ok(())
    }

    #[test]
    fn other_files_of_a_folder_stay() -> Tested {
        let dir = tempfile::tempdir()?;
        let note = dir.path().join("notes.txt");
        std::fs::write(&note, "mine")?;
        for _ in 0..2 {
            write_all(&record(), dir.path(), &[Format::Svg])?;
            assert_eq!(names(dir.path())?.len(), 5);
            assert_eq!(std::fs::read_to_string(&note)?, "mine");
        }
        Ok(())
    }

    #[test]
    fn a_bad_record_writes_nothing() -> Tested {
        let dir = tempfile::tempdir()?;
        let mut bad = record();
        bad.quantities.push(Quantity::new("q", f64::NAN, ""));
        let written = write_all(&bad, &dir.path().join("out"), &[Format::Svg]);
        assert!(matches!(written, Err(ExportError::NonFinite(_))));
        assert!(names(dir.path())?.is_empty());
        Ok(())
    }

    #[test]
    fn names_that_clash_are_refused() {
        let mut twice = record();
        twice
            .tables
            .push(Table::new("speed - time", "", Vec::new()));
        let written = contents(&twice, &[Format::Svg]);
        assert!(matches!(written, Err(ExportError::Name(_))));
    }
}
