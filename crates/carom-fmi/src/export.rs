//! Export of a world as a unit: one file with its description, resources and libraries.

use crate::description::{Facts, describe};
use crate::error::FmiError;
use crate::unit::{LIST, Resources};
use crate::variables::variables;
use crate::version::Version;
use carom_report::input::{MAX_TOML_BYTES, files_read, read_text};
use carom_scenarios::{Overrides, Session, scenario_of};
use std::fs;
use std::io::{Seek, Write};
use std::path::{Component, Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Options of an export.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExportOptions {
    /// Version of FMI.
    pub version: Version,
    /// Assignments `key.path=value` to the configuration.
    pub set: Vec<String>,
    /// Shared libraries by platform, as `linux64`.
    pub libraries: Vec<(String, PathBuf)>,
}

impl ExportOptions {
    /// Sets the version of FMI.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets the assignments to the configuration.
    #[must_use]
    pub fn with_set(mut self, set: Vec<String>) -> Self {
        self.set = set;
        self
    }

    /// Sets the shared libraries by platform, as `linux64`.
    #[must_use]
    pub fn with_libraries(mut self, libraries: Vec<(String, PathBuf)>) -> Self {
        self.libraries = libraries;
        self
    }
}

/// Licences of carom in a unit.
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../LICENSE-MIT")),
];

/// Platforms by their names in FMI 2 and 3, with the suffix of a library.
const PLATFORMS: [(&str, &str, &str); 4] = [
    ("linux64", "x86_64-linux", "so"),
    ("win64", "x86_64-windows", "dll"),
    ("darwin64", "x86_64-darwin", "dylib"),
    ("aarch64-darwin", "aarch64-darwin", "dylib"),
];

/// Returns the name of the platform of this program, as the names of [`ExportOptions::libraries`].
pub fn platform() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    match (os, arch) {
        ("linux", "x86_64") => "linux64".to_owned(),
        ("windows", "x86_64") => "win64".to_owned(),
        ("macos", "x86_64") => "darwin64".to_owned(),
        ("macos", arch) => format!("{arch}-darwin"),
        (os, arch) => format!("{arch}-{os}"),
    }
}

/// Returns the folder of a platform in a version of FMI, and the suffix of its library.
fn of_platform(name: &str, version: Version) -> (String, &'static str) {
    let known = PLATFORMS
        .iter()
        .find(|(two, three, _)| [*two, *three].contains(&name));
    match (known, version) {
        (Some((two, _, suffix)), Version::Two) => ((*two).to_owned(), suffix),
        (Some((_, three, suffix)), Version::Three) => ((*three).to_owned(), suffix),
        (None, _) => (name.to_owned(), "so"),
    }
}

/// Returns an absolute path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut out = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => (),
            part => out.push(part),
        }
    }
    out
}

/// Returns the longest folder that holds both paths.
fn common(a: &Path, b: &Path) -> PathBuf {
    let same = a
        .components()
        .zip(b.components())
        .take_while(|(a, b)| a == b);
    same.map(|(part, _)| part).collect()
}

/// Returns a path below a folder, with slashes.
fn below(folder: &Path, path: &Path) -> String {
    let rest = path.strip_prefix(folder).unwrap_or(path).components();
    let parts = rest.map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.collect::<Vec<String>>().join("/")
}

/// Starts a session, and returns it with the files that it reads, without `.` and `..`.
fn reads(overrides: &Overrides) -> Result<(Session, Vec<PathBuf>), FmiError> {
    let (session, files) = files_read(|| Session::start(overrides, false));
    let mut files: Vec<PathBuf> = files.iter().map(|file| plain(file)).collect();
    files.sort();
    files.dedup();
    Ok((session?, files))
}

/// Writes the resources of a configuration into a folder: the file, with the assignments `set`, and all files that it reads. Returns
/// the token of the unit.
///
/// # Errors
///
/// [`FmiError::NotExportable`] for what is no world, or has files that would not be found elsewhere; other [`FmiError`] of the
/// configuration and the files.
pub fn write_resources(file: &Path, set: &[String], folder: &Path) -> Result<String, FmiError> {
    let toml = read_text(file, MAX_TOML_BYTES).map_err(FmiError::unreadable(file))?;
    let scenario = scenario_of(&toml)?;
    if scenario != "world" {
        let file = file.display();
        let message = format!("{file} is a configuration of `{scenario}`; a unit is a world");
        return Err(FmiError::NotExportable { message });
    }
    let overrides = Overrides {
        toml,
        file: Some(file.to_owned()),
        assignments: set.to_vec(),
        ..Overrides::default()
    };
    let own = plain(file);
    let (_, mut files) = reads(&overrides)?;
    files.push(own.clone());
    files.sort();
    files.dedup();
    let start = own.parent().unwrap_or(Path::new("")).to_owned();
    let root = files.iter().fold(start, |root, file| {
        common(&root, file.parent().unwrap_or(file))
    });
    let resources = Resources {
        configuration: below(&root, &own),
        set: set.to_vec(),
        files: files.iter().map(|file| below(&root, file)).collect(),
    };
    for (from, to) in files.iter().zip(&resources.files) {
        let to = folder.join(to);
        let parent = to.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(FmiError::unwritable(parent))?;
        fs::copy(from, &to).map_err(FmiError::unreadable(from))?;
    }
    let list = folder.join(LIST);
    fs::write(&list, resources.text()).map_err(FmiError::unwritable(&list))?;
    check(&resources, folder)?;
    resources.token(folder)
}

/// Checks that a unit reads files of its own only.
fn check(resources: &Resources, folder: &Path) -> Result<(), FmiError> {
    let (started, files) = files_read(|| resources.start(folder));
    started?;
    let folder = plain(folder);
    let outside = files
        .iter()
        .map(|file| plain(file))
        .find(|file| !file.starts_with(&folder));
    match outside {
        None => Ok(()),
        Some(file) => {
            let message = format!(
                "the configuration names {} by its whole path, which is another one elsewhere",
                file.display()
            );
            Err(FmiError::NotExportable { message })
        }
    }
}

/// Returns an identifier of C.
fn identifier(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, "carom_");
    }
    out
}

/// Writes a world, the configuration `file`, as a unit for co-simulation to the file `to`. Two exports have the same bytes. After an
/// error nothing is left behind.
///
/// # Errors
///
/// [`FmiError::NoLibrary`], [`FmiError::NotExportable`], and other [`FmiError`] of the configuration and the files.
pub fn export(file: &Path, to: &Path, options: &ExportOptions) -> Result<(), FmiError> {
    for (_, library) in &options.libraries {
        if !library.is_file() {
            let path = library.display().to_string();
            return Err(FmiError::NoLibrary { path });
        }
    }
    let work =
        tempfile::tempdir().map_err(FmiError::unwritable(Path::new("a temporary folder")))?;
    let folder = work.path().join("resources");
    let token = write_resources(file, &options.set, &folder)?;
    let resources = Resources::read(&folder)?;
    let session = resources.start(&folder)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = identifier(&stem);
    let facts = Facts {
        name: &stem,
        identifier: &name,
        token: &token,
        duration: session.duration(),
        step: session.sample_step(),
    };
    let description = describe(options.version, &variables(&session), &facts)?;
    let place = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let place = place.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // The permissions of a file that is simply written.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let out = builder
        .tempfile_in(place)
        .map_err(FmiError::unwritable(to))?;
    let mut zip = Archive(ZipWriter::new(out));
    zip.add("modelDescription.xml", &description)?;
    for (platform, library) in &options.libraries {
        let (platform, suffix) = of_platform(platform, options.version);
        let bytes = fs::read(library).map_err(FmiError::unreadable(library))?;
        zip.add(&format!("binaries/{platform}/{name}.{suffix}"), &bytes)?;
    }
    for (licence, text) in LICENCES {
        zip.add(
            &format!("documentation/licenses/{licence}"),
            text.as_bytes(),
        )?;
    }
    zip.add(&format!("resources/{LIST}"), resources.text().as_bytes())?;
    for resource in &resources.files {
        let path = folder.join(resource);
        let bytes = fs::read(&path).map_err(FmiError::unreadable(&path))?;
        zip.add(&format!("resources/{resource}"), &bytes)?;
    }
    let out = zip.0.finish()?;
    out.persist(to)
        .map_err(|error| FmiError::unwritable(to)(error.error))?;
    Ok(())
}

/// Archive whose bytes depend on its files alone.
struct Archive<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), FmiError> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644);
        self.0.start_file(name, options)?;
        let path = Path::new(name);
        self.0.write_all(bytes).map_err(FmiError::unwritable(path))
    }
}
