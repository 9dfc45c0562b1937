//! The lint that keeps the platform's elementary functions out of answers: every crate asks for it.

use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// The line of `lib.rs`; `clippy.toml` names the functions.
const LINE: &str = "#![cfg_attr(not(test), warn(clippy::disallowed_methods))]";

/// Name of the lint's program.
const LINTER: &str = "clippy-driver";

/// A call of every function whose last digits are the platform's.
const CALLS: [&str; 27] = [
    "x.acos()",
    "x.acosh()",
    "x.asin()",
    "x.asinh()",
    "x.atan()",
    "x.atan2(y)",
    "x.atanh()",
    "x.cbrt()",
    "x.cos()",
    "x.cosh()",
    "x.exp()",
    "x.exp2()",
    "x.exp_m1()",
    "x.hypot(y)",
    "x.ln()",
    "x.ln_1p()",
    "x.log(y)",
    "x.log10()",
    "x.log2()",
    "x.mul_add(y, y)",
    "x.powf(y)",
    "x.powi(3)",
    "x.sin()",
    "x.sin_cos().0",
    "x.sinh()",
    "x.tan()",
    "x.tanh()",
];

/// Crates whose digits are read by nobody: they draw.
const EXEMPT: [&str; 1] = ["carom-report"];

/// Checks that every crate enables the lint against functions whose last digit depends on the platform. Returns one line for
/// every crate without the lint.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut out = Vec::new();
    let folder = root.join("crates");
    let mut crates: Vec<_> = std::fs::read_dir(&folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .collect::<Result<_, _>>()?;
    crates.sort_by_key(std::fs::DirEntry::file_name);
    for entry in crates {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path().join("src/lib.rs");
        if EXEMPT.contains(&name.as_str()) || !path.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}", path.display()))?;
        out.extend(
            missing(&text).map(|fault| format!("crates/{name}/src/lib.rs: {fault} `{LINE}`")),
        );
    }
    Ok(out)
}

/// Tests the lint against functions whose last digit depends on the platform. Returns one line for every such function that
/// Clippy does not report; `None` if Clippy is not installed.
pub(crate) fn let_pass(root: &Path) -> anyhow::Result<Option<Vec<String>>> {
    let folder = std::env::temp_dir().join(format!("carom-elementary-{}", std::process::id()));
    std::fs::create_dir_all(&folder).context("making a folder")?;
    let found = linted(root, &folder);
    std::fs::remove_dir_all(&folder).context("removing a folder")?;
    let Some(text) = found? else {
        return Ok(None);
    };
    let passed = CALLS.iter().enumerate().filter(|(k, _)| {
        // The line of the call: one line of attributes stands before the first.
        !text.contains(&format!("probe.rs:{}:", k + 2))
    });
    let faults = passed.map(|(_, call)| format!("clippy.toml: `{call}` is allowed"));
    Ok(Some(faults.collect()))
}

/// Runs Clippy on a generated crate that calls each forbidden function on a line of its own. Returns the output of Clippy;
/// `None` if Clippy is not installed. `folder` receives the crate.
fn linted(root: &Path, folder: &Path) -> anyhow::Result<Option<String>> {
    let file = folder.join("probe.rs");
    let functions = CALLS
        .iter()
        .enumerate()
        .map(|(k, call)| format!("pub fn f{k}(x: f64, y: f64) -> f64 {{ let _ = y; {call} }}\n"));
    std::fs::write(&file, format!("{LINE}\n{}", functions.collect::<String>()))
        .context("writing a crate")?;
    let output = Command::new(LINTER)
        .args([
            "--crate-type",
            "lib",
            "--edition",
            "2024",
            "--emit",
            "metadata",
        ])
        .arg("--out-dir")
        .arg(folder)
        .arg(&file)
        .env("CLIPPY_CONF_DIR", root)
        .output();
    let Ok(output) = output else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{LINTER} failed: {text}");
    Ok(Some(text))
}

/// Returns the beginning of an error message if the text of a crate's root file does not enable the lint; otherwise `None`.
fn missing(text: &str) -> Option<&'static str> {
    (!text.lines().any(|line| line == LINE)).then_some("answers may depend on the platform without")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_the_lint_is_named() {
        assert!(missing("//! A crate.\n\nmod a;\n").is_some());
        assert!(missing(&format!("//! A crate.\n\n{LINE}\nmod a;\n")).is_none());
    }

    #[test]
    fn the_lint_refuses_every_function_of_the_platform() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        if let Some(faults) = let_pass(&root).unwrap() {
            assert_eq!(faults, Vec::<String>::new());
        }
        // Without the rules every call passes.
        let elsewhere = std::env::temp_dir();
        if let Some(faults) = let_pass(&elsewhere).unwrap() {
            assert_eq!(faults.len(), CALLS.len());
        }
    }

    #[test]
    fn every_crate_asks_for_the_lint() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(violations(&root).unwrap(), Vec::<String>::new());
    }
}
