//! Source files of the crates, without tests: the text that the counting checks read.

use crate::tidy::{Code, collect, is_test_module};
use anyhow::Context as _;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file of a crate.
pub(crate) struct Source {
    /// Name of the crate.
    pub(crate) package: String,
    /// Path from the workspace's root, with slashes.
    pub(crate) label: String,
    /// Path of the file.
    pub(crate) file: PathBuf,
    /// Text of the file.
    pub(crate) text: String,
    /// Text without comments, literals and tests.
    pub(crate) code: Code,
}

/// Reads the files `crates/*/src/**.rs` that do not belong to a test module, in the order of their paths.
pub(crate) fn sources(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut files = Vec::new();
    collect(&root.join("crates"), &mut files)?;
    files.sort();
    let mut sources = Vec::new();
    let mut test_modules = BTreeSet::new();
    for file in files {
        let label = file.strip_prefix(root).unwrap_or(&file).display();
        let label = label.to_string().replace('\\', "/");
        let mut parts = label.split('/').skip(1);
        let (Some(package), Some("src")) = (parts.next(), parts.next()) else {
            continue;
        };
        let package = package.to_owned();
        let text =
            fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let code = Code::new(&text);
        test_modules.extend(code.test_modules(&file));
        sources.push(Source {
            package,
            label,
            file,
            text,
            code,
        });
    }
    sources.retain(|source| !is_test_module(&source.file, &test_modules));
    Ok(sources)
}
