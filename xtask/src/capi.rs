//! `cargo xtask capi`: the C header, made by cbindgen from the functions of `carom-capi`.

use anyhow::Context;
use cbindgen::{Config, DocumentationStyle, EnumConfig, Language, RenameRule, Style};
use std::fs;
use std::path::Path;

/// Flags of `cargo xtask capi`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the header instead of comparing with it.
    #[arg(long)]
    bless: bool,
}

/// The header, from the workspace's root.
const HEADER: &str = "crates/carom-capi/include/carom.h";

/// Files whose functions stand in the header, in its order.
const FILES: [&str; 5] = ["status", "memory", "line", "world", "session"];

/// First lines of the header.
const PREFACE: &str = "\
/* carom.h: the C interface of carom, written by `cargo xtask capi --bless`.
 *
 * Every pointer may be NULL: CAROM_INVALID, or nothing happens (free, names, numbers). No function unwinds.
 * A handle is used by one thread at a time, different handles by any threads. Units: SI; axes: space. Texts are UTF-8.
 */";

/// Compares the C header with the functions of `carom-capi`. With the option `bless` it is written first. Returns a line if they
/// differ.
pub(crate) fn capi(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let fresh = header(root)?;
    let path = root.join(HEADER);
    if args.bless {
        fs::write(&path, &fresh).with_context(|| format!("writing {}", path.display()))?;
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let is_same = stored.replace("\r\n", "\n") == fresh;
    let line = format!("{HEADER} is not what the functions say; run `cargo xtask capi --bless`");
    Ok(if is_same { Vec::new() } else { vec![line] })
}

fn header(root: &Path) -> anyhow::Result<String> {
    let config = Config {
        language: Language::C,
        cpp_compat: true,
        header: Some(PREFACE.to_owned()),
        include_guard: Some("CAROM_H".to_owned()),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned()],
        usize_is_size_t: true,
        style: Style::Both,
        documentation_style: DocumentationStyle::C,
        line_length: 130,
        enumeration: EnumConfig {
            rename_variants: RenameRule::ScreamingSnakeCase,
            ..EnumConfig::default()
        },
        ..Config::default()
    };
    let folder = root.join("crates/carom-capi/src");
    let files = FILES.map(|name| folder.join(format!("{name}.rs")));
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = files
        .iter()
        .fold(builder, |builder, file| builder.with_src(file));
    let mut text = Vec::new();
    builder
        .generate()
        .context("reading carom-capi")?
        .write(&mut text);
    Ok(String::from_utf8(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_that_of_the_functions() {
        let args = Args { bless: false };
        assert_eq!(capi(&crate::workspace_root(), &args).unwrap(), [""; 0]);
    }
}
