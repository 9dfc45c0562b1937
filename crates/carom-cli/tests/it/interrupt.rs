//! Ctrl-C: whatever is computed, the process ends within half a second and nothing is half written.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest time from the signal to the end of the process.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time in which a command reads its input and is at work.
const START: Duration = Duration::from_millis(700);

fn spawn(args: &[&str], input: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The pipe is dropped, so that the input ends.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    child
}

/// Sends a signal to a process that is at work, and returns its output once it ends.
fn interrupt(mut child: Child, signal: &str) -> Output {
    std::thread::sleep(START);
    assert!(
        child.try_wait().unwrap().is_none(),
        "over before the signal"
    );
    let kill = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("still at work {PATIENCE:?} after the signal");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Runs in time that go on for minutes.
const RUNS: [&[&str]; 4] = [
    &[
        "run",
        "mechanism",
        "--set",
        "duration=4",
        "--set",
        "time_step=1e-6",
    ],
    &[
        "run",
        "bouncing-body",
        "--set",
        "duration=49000",
        "--set",
        "max_impacts=10000000",
    ],
    &["run", "elastic-gas", "--set", "duration=100000"],
    &[
        "run",
        "rocking-motion",
        "--set",
        "time_step=1e-7",
        "--set",
        "duration=0.09",
    ],
];

#[test]
fn runs_in_time_end_within_half_a_second_and_leave_no_folder() {
    for run in RUNS {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let args = [run, &["--out", out.to_str().unwrap()]].concat();
        let output = interrupt(spawn(&args, ""), "INT");
        assert_eq!(output.status.code(), Some(130), "{run:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{run:?}: {output:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{run:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        let is_told = told.starts_with("stopped") && told.ends_with("; nothing written\n");
        assert!(is_told && told.lines().count() == 1, "{run:?}: {told}");
    }
}

/// A box on its corner with friction, and a set of so many outcomes that it takes minutes.
fn long_line() -> String {
    concat!(
        r#"{"id":"long","law":"set-valued","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.1]],"velocity":[0.3,-1,0.2],"#,
        r#""contacts":[{"normal":[0,1,0.5],"tangents":[[1,0,0.3]],"friction":0.6},"#,
        r#"{"normal":[0,1,-0.5],"tangents":[[1,0,0.3]],"friction":0.6}],"options":{"samples":10000000}}"#,
        "\n"
    )
    .to_owned()
}

#[test]
fn one_long_line_ends_and_the_answers_before_it_are_whole() {
    let short = r#"{"id":"short","law":"propagative","mass_matrix":[[1]],"velocity":[-1],"contacts":[{"normal":[1]}]}"#;
    let input = format!("{short}\n{}", long_line());
    let output = interrupt(spawn(&["resolve"], &input), "INT");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
    assert!(text.starts_with(r#"{"id":"short""#), "{text}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.starts_with("stopped") && !told.contains("nothing written"),
        "{told}"
    );
}

#[test]
fn the_termination_of_a_batch_system_is_told_from_an_interrupt() {
    let output = interrupt(spawn(&["resolve"], &long_line()), "TERM");
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
}
