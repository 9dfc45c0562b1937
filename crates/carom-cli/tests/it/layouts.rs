//! JSON as people have it: lines, documents and arrays give the answers of compact lines.

use crate::common::{answers, carom};
use carom_wire::{Command as Asked, example};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

const COMMANDS: [(&str, Asked); 3] = [
    ("resolve", Asked::Resolve),
    ("judge", Asked::Judge),
    ("lcp", Asked::Lcp),
];

/// Three problems for a command, each with its own id.
fn problems(asked: Asked) -> Vec<Value> {
    let named = |id: &str| {
        let mut problem: Value = serde_json::from_str(example(asked)).unwrap();
        problem["id"] = id.into();
        problem
    };
    ["a", "b {[,", "c"].map(named).to_vec()
}

fn compact(problems: &[Value]) -> String {
    let lines: Vec<String> = problems.iter().map(Value::to_string).collect();
    lines.join("\n")
}

/// The problems in eight layouts, with the name of each.
fn layouts(problems: &[Value]) -> Vec<(&'static str, String)> {
    let lines = compact(problems);
    let pretty: Vec<String> = problems.iter().map(|p| format!("{p:#}")).collect();
    let pretty = pretty.join("\n");
    vec![
        ("a line each", format!("{lines}\n")),
        ("carriage returns", lines.replace('\n', "\r\n")),
        (
            "blank lines",
            format!("\n\n{}\n\n", lines.replace('\n', "\n \n")),
        ),
        ("several lines each", pretty.clone()),
        (
            "several lines, carriage returns",
            pretty.replace('\n', "\r\n"),
        ),
        ("all in one line", lines.replace('\n', " ")),
        (
            "an array in one line",
            format!("[{}]", lines.replace('\n', ",")),
        ),
        (
            "an array over lines",
            format!("\u{feff}{:#}\n", Value::from(problems)),
        ),
    ]
}

#[test]
fn all_layouts_give_the_bytes_of_compact_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("problems.json");
    for (name, asked) in COMMANDS {
        let problems = problems(asked);
        let expected = carom(&[name], &compact(&problems)).stdout;
        assert_eq!(expected.iter().filter(|byte| **byte == b'\n').count(), 3);
        for (layout, text) in layouts(&problems) {
            let output = carom(&[name, "--threads", "2"], &text);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{name}, {layout}: {output:?}"
            );
            assert_eq!(output.stdout, expected, "{name}, {layout}");
            std::fs::write(&file, text).unwrap();
            let output = carom(&[name, file.to_str().unwrap()], "");
            assert_eq!(output.stdout, expected, "{name}, {layout}, from a file");
        }
    }
}

#[test]
fn nothing_and_an_empty_array_have_no_answers() {
    for (name, _) in COMMANDS {
        for text in ["", "\n\n", "[]", " [\n] \n"] {
            let output = carom(&[name], text);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert!(
                output.stdout.is_empty() && output.stderr.is_empty(),
                "{output:?}"
            );
        }
    }
}

#[test]
fn a_broken_line_swallows_nothing() {
    for (name, asked) in COMMANDS {
        let problems = problems(asked);
        let lines = compact(&problems);
        let broken = lines.split_at(lines.find(':').unwrap() + 4).0;
        for text in [
            format!("{broken}\n{lines}\n"),
            format!("{broken} \"x\": [[1,\n{lines}"),
            format!("{{\"id\": \"t\", \"x\": \"\n{lines}"),
            format!("{{\"id\": \"t\",\n \"x\": [\n{lines}"),
            format!("x,y\n{lines}"),
        ] {
            let output = carom(&[name], &text);
            assert_eq!(output.status.code(), Some(1));
            let answers = answers(&output);
            assert_eq!(answers.len(), 4, "{text}");
            assert_eq!(answers[0]["error"]["kind"], "invalid-json", "{text}");
            for (answer, problem) in answers[1..].iter().zip(&problems) {
                assert_eq!(answer["id"], problem["id"], "{text}");
                assert!(answer.get("error").is_none(), "{text}: {answer}");
            }
        }
    }
}

#[test]
fn an_array_that_is_cut_off_or_holds_no_problem_is_an_error() {
    for (name, asked) in COMMANDS {
        let line = problems(asked)[0].to_string();
        for (text, good, last) in [
            (format!("[{line}, {line}"), 2, "line 1 element 3"),
            (format!("[{line},\n{line},\n"), 2, "line 3 element 3"),
            (
                format!("[{line}, {}", line.split_at(30).0),
                1,
                "line 1 element 2",
            ),
            (
                format!("[{line}, 7]"),
                1,
                "line 1 element 2: found a number",
            ),
            (
                format!("[{line},\n null ]"),
                1,
                "line 2 element 2: found null",
            ),
        ] {
            let output = carom(&[name], &text);
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            let answers = answers(&output);
            assert_eq!(answers.len(), good + 1, "{text}");
            let message = answers[good]["error"]["message"].as_str().unwrap();
            assert!(message.starts_with(last), "{text}: {message}");
        }
    }
}

#[test]
fn a_list_of_steps_is_no_list_of_problems() {
    let step = r#"{"mass_matrix": [[1]], "velocity": [-1], "velocity_plus": [0], "contacts": [{"normal": [1]}]}"#;
    let text = format!("{{\"id\": \"fall\", \"steps\": [\n{step},\n{step}\n]}}\n");
    let output = carom(&["judge"], &text);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(answers(&output)[0]["steps"].as_array().unwrap().len(), 2);
}

/// The values of a document are answered as they end: an object with its last bracket, an element with the comma behind it.
#[test]
fn a_document_in_a_pipe_is_answered_value_by_value() {
    for (name, asked) in COMMANDS {
        let problem: Value = serde_json::from_str(example(asked)).unwrap();
        let broken = example(asked).split_at(20).0;
        for (text, end) in [
            (format!("{problem:#}\n"), ""),
            (format!("{problem} {problem}"), ""),
            (format!("[{problem:#},"), "{}]"),
            (format!("{broken}\n{problem}\n"), ""),
        ] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
                .arg(name)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut input = child.stdin.take().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            let (send, receive) = channel();
            let reader = std::thread::spawn(move || {
                output
                    .lines()
                    .for_each(|line| send.send(line.unwrap()).unwrap());
            });
            input.write_all(text.as_bytes()).unwrap();
            input.flush().unwrap();
            let answer = receive.recv_timeout(Duration::from_secs(60));
            assert!(answer.unwrap().starts_with(r#"{"id":"#), "{name}: {text}");
            input.write_all(end.as_bytes()).unwrap();
            drop(input);
            child.wait().unwrap();
            reader.join().unwrap();
        }
    }
}
