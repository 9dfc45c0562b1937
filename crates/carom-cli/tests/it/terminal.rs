//! On a terminal: words on standard output, progress on standard error, Ctrl-C.
//!
//! The terminal is a pseudo-terminal of `script` (util-linux), whose input is typed and whose output is the screen.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The key that the terminal turns into an interrupt.
const CTRL_C: &[u8] = b"\x03";

/// Longest time from Ctrl-C to the end of the process.
const PATIENCE: Duration = Duration::from_millis(500);

/// Longest time until the screen shows what is expected, on a machine with other work.
const LONGEST: Duration = Duration::from_secs(60);

/// One contact that closes.
const PROBLEM: &str =
    r#"{"law": "plastic", "mass_matrix": [[2]], "velocity": [-3], "contacts": [{"normal": [1]}]}"#;

/// A terminal on which one shell command runs.
struct Terminal {
    script: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: std::thread::JoinHandle<()>,
}

impl Terminal {
    /// Runs a shell command in which `carom` is the program.
    fn new(command: &str) -> Self {
        let command = command.replace("carom", &format!("'{}'", env!("CARGO_BIN_EXE_carom")));
        let mut script = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command"])
            .args([format!("exec {command}").as_str(), "/dev/null"])
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script`, which util-linux brings");
        let keys = script.stdin.take().unwrap();
        let mut output = script.stdout.take().unwrap();
        let screen = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().extend(&bytes[..n]);
            }
        });
        Self {
            script,
            keys,
            screen,
            reader,
        }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen has shown a text.
    fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.screen().contains(text) {
            assert!(start.elapsed() < LONGEST, "no `{text}`: {}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end of the command. Returns its status, all that the screen has shown, and the time until then.
    fn end(mut self) -> (Option<i32>, String, Duration) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.script.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > LONGEST {
                self.script.kill().unwrap();
                panic!("no end: {}", self.screen());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let spent = start.elapsed();
        drop(self.keys);
        self.reader.join().unwrap();
        let screen = String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned();
        (status.code(), screen, spent)
    }
}

/// Runs a command on a terminal to its end and returns its status and the screen, without carriage returns.
fn shown(command: &str) -> (Option<i32>, String) {
    let (status, screen, _) = Terminal::new(command).end();
    (status, screen.replace('\r', ""))
}

/// Writes `text` into a file, for commands of a shell.
fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn resolve_tells_an_impact_in_words() {
    let problem = file(PROBLEM);
    let path = problem.path().display();
    let (status, screen) = shown(&format!("carom resolve {path}"));
    assert_eq!(status, Some(0), "{screen}");
    for words in [
        "plastic, resolved\n",
        "velocity before     -3\n",
        "velocity after      0\n",
        "impulse 0 (N s)     6\n",
        "9 J before, 0 J after\n",
    ] {
        assert!(screen.contains(words), "no `{words}`: {screen}");
    }
    assert!(!screen.contains('{'), "{screen}");
    for json in [
        format!("carom resolve --json {path}"),
        format!("carom resolve {path} | cat"),
    ] {
        let (status, screen) = shown(&format!("sh -c \"{json}\""));
        assert_eq!(status, Some(0), "{screen}");
        assert!(
            screen.starts_with("{\"id\":null,\"law\":\"plastic\""),
            "{json}: {screen}"
        );
    }
}

#[test]
fn judge_begins_with_the_verdict() {
    let outcome = file(&PROBLEM.replace("}]}", "}], \"velocity_plus\": [4]}"));
    let path = outcome.path().display();
    let (_, screen) = shown(&format!("carom judge {path}"));
    let (_, json) = shown(&format!("carom judge --json {path}"));
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let verdict = answer["verdict"].as_str().unwrap();
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (screen, verdict) = (words(&screen), words(verdict));
    // After the name of the line, whole, whatever the lines are broken at.
    assert_eq!(screen[2..2 + verdict.len()], verdict);
    assert!(!screen.concat().contains('{'), "{screen:?}");
}

#[test]
fn an_error_is_a_sentence_with_the_key() {
    let problem = file(&PROBLEM.replace("\"law\": \"plastic\", ", "\"id\": \"ball\", "));
    let (status, screen) = shown(&format!("carom resolve {}", problem.path().display()));
    assert_eq!(status, Some(1), "{screen}");
    let sentence = "ball has no answer: missing field `law`";
    assert!(
        screen.starts_with(sentence) && screen.contains("carom laws"),
        "{screen}"
    );
}

#[test]
fn a_typed_line_is_answered_at_once() {
    let mut terminal = Terminal::new("carom resolve");
    terminal.press(format!("{PROBLEM}\n").as_bytes());
    // The input has not ended.
    terminal.wait_for("9 J before, 0 J after");
    terminal.press(CTRL_C);
    let (status, screen, spent) = terminal.end();
    assert_eq!(status, Some(130), "{screen}");
    assert!(spent < PATIENCE, "{spent:?}");
}

#[test]
fn progress_is_on_standard_error_and_ctrl_c_says_what_was_stopped() {
    let answer = tempfile::NamedTempFile::new().unwrap();
    let run = "carom run elastic-gas --set duration=100000";
    let mut terminal = Terminal::new(&format!("{run} > {}", answer.path().display()));
    terminal.wait_for(" of 100000 s, ");
    terminal.wait_for(" impacts, ");
    terminal.press(CTRL_C);
    let (status, screen, spent) = terminal.end();
    assert_eq!(status, Some(130), "{screen}");
    assert!(spent < PATIENCE, "{spent:?}");
    let last = screen.trim_end().rsplit(['\r', '\n']).next().unwrap();
    // The line of the progress is erased before.
    let told = last.trim_start_matches("\x1b[K");
    assert!(
        told.starts_with("stopped at ") && told.ends_with(" s; nothing written"),
        "{screen:?}"
    );
    assert_eq!(std::fs::read_to_string(answer.path()).unwrap(), "");
}

#[test]
fn quiet_runs_show_no_progress() {
    let mut terminal = Terminal::new("carom --quiet run elastic-gas --set duration=100000");
    // Without --quiet a line would be there after a second.
    std::thread::sleep(Duration::from_millis(2500));
    terminal.press(CTRL_C);
    let (status, screen, _) = terminal.end();
    assert_eq!(status, Some(130), "{screen}");
    assert!(!screen.contains(" of 100000 s"), "{screen}");
}
