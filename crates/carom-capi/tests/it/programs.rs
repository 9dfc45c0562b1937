//! Programs in C and C++, and the symbols of the library.

use crate::support::G;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the library: that of this test.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// Output of a command; `None` if it is not installed.
fn output(command: &mut Command) -> Option<String> {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: {:?}: {error}", command.get_program());
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let fault = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}{fault}");
    Some(text)
}

/// Compiles an example with all warnings as errors, and runs it.
fn run(compiler: &str, standard: &str, example: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (work, folder) = (tempfile::tempdir().unwrap(), folder());
    let program = work.path().join("drop");
    let mut build = Command::new(compiler);
    build
        .args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg(root.join("examples").join(example))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&folder)
        .arg("-lcarom_capi");
    output(&mut build)?;
    let mut run = Command::new(&program);
    run.env("LD_LIBRARY_PATH", &folder)
        .env("DYLD_LIBRARY_PATH", &folder);
    output(&mut run)
}

/// The lines that both programs print begin alike: a free fall, an impact after 1 m, rest on the floor.
fn expected() -> [String; 3] {
    let height = 1.1 - 0.5 * G * 0.09;
    let time = (2.0 / G).sqrt();
    [
        format!("box after 0.3 s: {height:.12}"),
        format!("event 1 at {time:.12}"),
        "at rest: 0.100000000".to_owned(),
    ]
}

#[test]
fn a_program_in_c_drops_a_box() {
    if let Some(text) = run("cc", "-std=c99", "drop.c") {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        for (line, start) in lines.iter().zip(expected()) {
            assert!(line.starts_with(&start), "{line}, not {start}");
        }
    }
}

#[test]
fn a_program_in_cpp_drops_a_box_and_catches_a_failure() {
    if let Some(text) = run("c++", "-std=c++17", "drop.cpp") {
        let lines: Vec<&str> = text.lines().collect();
        for (line, start) in lines.iter().zip(expected()) {
            assert!(line.starts_with(&start), "{line}, not {start}");
        }
        assert!(lines[2].ends_with("the copy is at 0.3 s"), "{text}");
        assert!(
            lines[3].starts_with(r#"{"kind":"time-backwards""#),
            "{text}"
        );
    }
}

/// The shared library exports the functions of the header and those of FMI, and nothing else.
#[test]
#[cfg(target_os = "linux")]
fn the_library_exports_the_functions_of_the_header() {
    let library = folder().join("libcarom_capi.so");
    let mut symbols = Command::new("nm");
    symbols
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library);
    let Some(text) = output(&mut symbols) else {
        return;
    };
    let all: Vec<&str> = text.lines().filter_map(|l| l.split(' ').next()).collect();
    let is_fmi = |name: &&str| name.starts_with("fmi2") || name.starts_with("fmi3");
    let (fmi, mut exported): (Vec<&str>, Vec<&str>) = all.into_iter().partition(is_fmi);
    assert!(fmi.contains(&"fmi2DoStep") && fmi.contains(&"fmi3DoStep"));
    exported.sort_unstable();
    let header = include_str!("../../include/carom.h");
    let words = header.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut declared: Vec<&str> = words.filter(|word| word.starts_with("carom_")).collect();
    declared.sort_unstable();
    declared.dedup();
    assert_eq!(exported, declared);
}
