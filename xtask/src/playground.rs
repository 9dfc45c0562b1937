//! `cargo xtask playground`: one offline page on which every outcome of an impact is computed by carom itself, as a
//! WebAssembly module of the crate in `web/`.

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Target of the module.
const TARGET: &str = "wasm32-unknown-unknown";

/// Words where the target is missing.
pub(crate) const SKIPPED: &str =
    "skipped: wasm32-unknown-unknown is not installed (rustup target add wasm32-unknown-unknown)";

/// Name of the page.
pub(crate) const PAGE: &str = "playground.html";

const TEMPLATE: &str = include_str!("playground/page.html");

const STYLE: &str = include_str!("playground/style.css");

const SCRIPTS: [&str; 5] = [
    include_str!("playground/engine.js"),
    include_str!("playground/state.js"),
    include_str!("playground/tabs.js"),
    include_str!("playground/draw.js"),
    include_str!("playground/main.js"),
];

/// Flags of `cargo xtask playground`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder for the page and the module.
    #[arg(long, value_name = "DIR", default_value = "out/playground")]
    out: PathBuf,
    /// A module that was built elsewhere, in place of building one.
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// Then open the page in a headless browser and try it (needs `npm ci` in xtask/browser).
    #[arg(long)]
    check: bool,
}

/// Writes the playground, a web page in which carom runs as WebAssembly. The module is built unless `args` names a file. Prints
/// a message if the WebAssembly target is not installed.
pub(crate) fn playground(root: &Path, args: &Args) -> anyhow::Result<()> {
    if !beside(root, &args.out, PAGE, args.module.as_deref())? {
        println!("{SKIPPED}");
        return Ok(());
    }
    if args.check {
        check(root, &args.out)?;
    }
    Ok(())
}

/// A line that the page asked, and its answer.
#[derive(serde::Deserialize)]
struct Shown {
    command: String,
    problem: String,
    answer: String,
}

/// Opens the playground in a browser, which operates the page, and compares the displayed results with the answers of the
/// native library.
fn check(root: &Path, out: &Path) -> anyhow::Result<()> {
    let browser = root.join("xtask/browser");
    ensure!(
        browser.join("node_modules").exists(),
        "run `npm ci` in {} first",
        browser.display()
    );
    let output = Command::new("node")
        .arg(browser.join("playground.mjs"))
        .arg(out.join(PAGE))
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start node")?;
    ensure!(
        output.status.success(),
        "playground: the browser found faults"
    );
    let shown: Vec<Shown> = serde_json::from_slice(&output.stdout)?;
    for Shown {
        command,
        problem,
        answer,
    } in &shown
    {
        let command = match command.as_str() {
            "judge" => carom_wire::Command::Judge,
            "lcp" => carom_wire::Command::Lcp,
            _ => carom_wire::Command::Resolve,
        };
        let expected = carom_wire::answer_line(command, 1, problem).text;
        ensure!(
            *answer == expected,
            "playground: {problem}\n  shown    {answer}\n  expected {expected}"
        );
    }
    println!(
        "playground: {} answers in the browser are carom's own",
        shown.len()
    );
    Ok(())
}

/// Writes the playground as the page `name` and its WebAssembly module into the folder `out`.
fn write(out: &Path, name: &str, module: &[u8]) -> anyhow::Result<()> {
    let (page, packed) = page(module)?;
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    for (file, bytes) in [(name, page.as_bytes()), ("carom_web.wasm", module)] {
        let path = out.join(file);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!(
        "{}: {} kB, the module {} kB ({} kB packed)",
        out.join(name).display(),
        page.len() / 1000,
        module.len() / 1000,
        packed / 1000
    );
    Ok(())
}

/// Writes the playground as the page `name` into the folder `out` and returns true. Its module is the file `module`, or built; if
/// there is neither a file nor the WebAssembly target, the result is false.
pub(crate) fn beside(
    root: &Path,
    out: &Path,
    name: &str,
    module: Option<&Path>,
) -> anyhow::Result<bool> {
    let module = match module {
        Some(file) => Some(file.to_owned()),
        None => build(root)?,
    };
    let Some(file) = module else {
        return Ok(false);
    };
    let module = std::fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
    write(out, name, &module).map(|()| true)
}

/// Builds the WebAssembly module and returns the path of its file; `None` if the target is not installed.
pub(crate) fn build(root: &Path) -> anyhow::Result<Option<PathBuf>> {
    if !is_installed()? {
        return Ok(None);
    }
    let web = root.join("web");
    let status = Command::new(cargo())
        .args(["build", "--profile", "web", "--lib", "--target", TARGET])
        .current_dir(&web)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "playground: the module does not build");
    Ok(Some(
        web.join("target").join(TARGET).join("web/carom_web.wasm"),
    ))
}

pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// True if the compiler has the standard library of the WebAssembly target.
fn is_installed() -> anyhow::Result<bool> {
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .context("cannot start rustc")?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Ok(false);
    };
    let names = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name());
    Ok(names
        .into_iter()
        .any(|name| name.to_string_lossy().starts_with("libstd-")))
}

/// Returns the HTML text of the playground with the compressed WebAssembly module in it, and the number of bytes of the
/// compressed module.
fn page(module: &[u8]) -> anyhow::Result<(String, usize)> {
    ensure!(
        module.starts_with(b"\0asm"),
        "playground: the file is no WebAssembly module"
    );
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(module)?;
    let packed = packer.finish()?;
    let text = base64::engine::general_purpose::STANDARD.encode(&packed);
    let style = format!("{}{STYLE}", carom_report::export::html::STYLE);
    let page = TEMPLATE
        .replace("{STYLE}", &style)
        .replace("{SCRIPT}", &SCRIPTS.concat())
        .replace("{VERSION}", env!("CARGO_PKG_VERSION"))
        .replace("{MODULE}", &text);
    Ok((page, packed.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_the_module_and_asks_the_network_for_nothing() {
        let (page, packed) = page(b"\0asm\x01\0\0\0").unwrap();
        assert!(packed > 0);
        assert!(page.contains("default-src 'none'"));
        for word in [
            "http:",
            "https:",
            "fetch(",
            "eval(",
            "localStorage",
            "{SCRIPT}",
            "{MODULE}",
            "{STYLE}",
            "{VERSION}",
        ] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(super::page(b"no module").is_err());
    }
}
