//! `cargo xtask portable`: the same bytes natively, as WebAssembly under Node.js, and on an older processor that QEMU
//! emulates.

use crate::{bits, elementary, playground};
use anyhow::{Context as _, ensure};
use carom_wire::answer_line;
use rayon::prelude::*;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines compared, a command's share of them by turns.
const LINES: usize = 3000;

/// Seed of the lines, which `cargo xtask bits` does not ask.
const SEED: u64 = 33;

/// Differences that are shown.
const SHOWN: usize = 5;

/// A processor without AVX and fused multiply-add.
const OLD_PROCESSOR: &str = "Nehalem";

/// Name of QEMU's emulator of a single program.
const EMULATOR: &str = "qemu-x86_64";

/// Flags of `cargo xtask portable`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A module that was built elsewhere, in place of building one.
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// Lines compared.
    #[arg(long, value_name = "N", default_value_t = LINES)]
    lines: usize,
    /// Seed of the lines.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
}

/// Compares the answers to random input lines on other platforms with those of this machine, and tests the lint against
/// platform-dependent functions. Returns one line for every fault. Prints a message for a platform whose tools are not
/// installed.
pub(crate) fn portable(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    match elementary::let_pass(root)? {
        Some(passed) => {
            faults.extend(passed);
            println!("portable: Clippy refuses the platform's elementary functions");
        }
        None => println!("skipped: the lint of elementary functions (Clippy is not installed)"),
    }
    let elsewhere = places(root, args)?;
    if elsewhere.is_empty() {
        return Ok(faults);
    }
    let asked = bits::lines(args.lines, args.seed)?;
    let native: Vec<String> = asked
        .par_iter()
        .map(|(command, line)| answer_line(*command, 1, line).text)
        .collect();
    let input: String = asked
        .iter()
        .map(|(command, line)| format!("{} {line}\n", number(*command)))
        .collect();
    for place in elsewhere {
        let found = answers(place.program, &input)?;
        faults.extend(differences(place.name, &asked, &native, &found));
        println!(
            "portable: {} lines natively and {}",
            asked.len(),
            place.name
        );
    }
    Ok(faults)
}

/// A program that answers lines as another machine does.
struct Place {
    name: &'static str,
    program: Command,
}

/// Returns the platforms on which the answers can be computed. Prints a message for a platform whose tools are not installed.
fn places(root: &Path, args: &Args) -> anyhow::Result<Vec<Place>> {
    let mut out = Vec::new();
    match module(root, args)? {
        Err(missing) => println!("{missing}"),
        Ok(module) => {
            let mut program = Command::new("node");
            program.arg(root.join("web/answer.mjs")).arg(&module);
            let name = "as WebAssembly under Node.js";
            out.push(Place { name, program });
        }
    }
    if is_there(EMULATOR, &["-version"]) {
        let mut program = Command::new(EMULATOR);
        program
            .args(["-cpu", OLD_PROCESSOR])
            .arg(native_binary(root)?);
        let name = "on an emulated processor without fused multiply-add";
        out.push(Place { name, program });
    } else {
        println!("skipped: an older processor ({EMULATOR} is not installed)");
    }
    Ok(out)
}

/// Returns the number that stands for a command in the interface of the WebAssembly module.
fn number(command: carom_wire::Command) -> u32 {
    match command {
        carom_wire::Command::Resolve => 0,
        carom_wire::Command::Judge => 1,
        _ => 2,
    }
}

/// Returns the path of the WebAssembly module, which is built unless `args` names a file. The inner error is a message about a
/// tool that is not installed.
fn module(root: &Path, args: &Args) -> anyhow::Result<Result<PathBuf, &'static str>> {
    if !is_there("node", &["--version"]) {
        return Ok(Err("skipped: WebAssembly (node is not installed)"));
    }
    if let Some(file) = &args.module {
        return Ok(Ok(file.clone()));
    }
    Ok(playground::build(root)?.ok_or(playground::SKIPPED))
}

fn is_there(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds the program for this machine that answers lines like the WebAssembly module. Returns its path.
fn native_binary(root: &Path) -> anyhow::Result<PathBuf> {
    let web = root.join("web");
    let status = Command::new(playground::cargo())
        .args(["build", "--profile", "web", "--bin", "carom-web-native"])
        .current_dir(&web)
        .env_remove("CARGO_TARGET_DIR")
        .status()
        .context("cannot start cargo")?;
    ensure!(
        status.success(),
        "portable: carom-web-native does not build"
    );
    Ok(web.join("target/web/carom-web-native"))
}

/// Runs a program with `input` as its standard input, and returns the lines of its output.
fn answers(mut program: Command, input: &str) -> anyhow::Result<Vec<String>> {
    let mut child = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program.get_program().display()))?;
    let mut stdin = child.stdin.take().context("no input of the program")?;
    let input = input.to_owned();
    // Both pipes are finite: one thread writes while this one reads.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output()?;
    let written = writer.join();
    ensure!(
        output.status.success() && matches!(written, Ok(Ok(()))),
        "portable: {} failed",
        program.get_program().display()
    );
    Ok(String::from_utf8(output.stdout)?
        .lines()
        .map(str::to_owned)
        .collect())
}

/// Compares the answers of a platform, `found`, with those of this machine, `native`. Returns one line for each of the first
/// different answers, and one with the number of different answers.
fn differences(
    place: &str,
    asked: &[(carom_wire::Command, String)],
    native: &[String],
    found: &[String],
) -> Vec<String> {
    if native.len() != found.len() {
        return vec![format!(
            "{place}: {} answers to {} lines",
            found.len(),
            native.len()
        )];
    }
    let differ: Vec<usize> = (0..native.len())
        .filter(|k| native[*k] != found[*k])
        .collect();
    let mut out: Vec<String> = differ
        .iter()
        .take(SHOWN)
        .map(|k| {
            format!(
                "{place}: {:?} {}\n  natively {}\n  there    {}",
                asked[*k].0, asked[*k].1, native[*k], found[*k]
            )
        })
        .collect();
    if !differ.is_empty() {
        out.push(format!(
            "{place}: {} of {} lines differ",
            differ.len(),
            native.len()
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_with_another_digit_is_told() {
        let asked = vec![(carom_wire::Command::Lcp, "{}".to_owned()); 2];
        let native = ["1.0".to_owned(), "2.0".to_owned()];
        assert!(differences("there", &asked, &native, &native).is_empty());
        let other = ["1.0".to_owned(), "2.0000000000000004".to_owned()];
        assert_eq!(differences("there", &asked, &native, &other).len(), 2);
        assert_eq!(differences("there", &asked, &native, &other[..1]).len(), 1);
    }
}
