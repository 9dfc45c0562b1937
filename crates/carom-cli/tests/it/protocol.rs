//! The line protocol: who waits for whom, what is too large, and whose line it was.

use crate::common::{answers, carom};
use carom_wire::{Command as Asked, MAX_CONTACTS, MAX_DIMENSION, example};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

const COMMANDS: [(&str, Asked); 3] = [
    ("resolve", Asked::Resolve),
    ("judge", Asked::Judge),
    ("lcp", Asked::Lcp),
];

fn spawn(command: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_carom"))
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn error(command: &str, line: &str) -> (Value, String, String) {
    let output = carom(&[command], line);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let answer = answers(&output).remove(0);
    let text = |key: &str| answer["error"][key].as_str().unwrap().to_owned();
    (answer["id"].clone(), text("kind"), text("message"))
}

#[test]
fn a_line_is_answered_before_the_next_is_written() {
    for (name, asked) in COMMANDS {
        let mut child = spawn(name);
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, receive) = channel();
        let reader = std::thread::spawn(move || {
            for line in output.lines() {
                send.send(line.unwrap()).unwrap();
            }
        });
        for _ in 0..30 {
            writeln!(input, "{}", example(asked)).unwrap();
            let answer = receive.recv_timeout(Duration::from_secs(60));
            assert!(answer.unwrap().starts_with(r#"{"id":""#), "{name}");
        }
        drop(input);
        assert!(child.wait().unwrap().success());
        reader.join().unwrap();
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child = spawn("lcp");
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // The pipe is closed some time.
        while writeln!(input, "{}", example(Asked::Lcp)).is_ok() {}
    });
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    drop(output);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    writer.join().unwrap();
}

#[test]
fn what_is_not_json_keeps_its_id() {
    for (line, id) in [
        (r#"{"id":"a","law":"plastic","velocity":[NaN]}"#, json!("a")),
        (r#"{"id":7,"mass_matrix":[[1e999]]}"#, json!(7)),
        (r#"{"velocity":[1,2"#, Value::Null),
        (r#"{"velocity":[1,2],"id":"b","#, json!("b")),
    ] {
        for (name, _) in COMMANDS {
            let (found, kind, _) = error(name, line);
            assert_eq!(
                (found, kind.as_str()),
                (id.clone(), "invalid-json"),
                "{line}"
            );
        }
    }
    let deep = format!(r#"{{"id":"deep","x":{}}}"#, "[".repeat(5000));
    let (id, kind, message) = error("resolve", &deep);
    assert_eq!((id, kind.as_str()), (json!("deep"), "too-large"));
    assert!(message.contains("nesting: 5001 levels"), "{message}");
}

#[test]
fn faults_of_whole_files_say_what_a_line_is() {
    for (name, _) in COMMANDS {
        let csv = error(name, "mass,velocity").2;
        let pretty = error(name, "{").2;
        for message in [csv, pretty] {
            assert!(message.contains("one JSON object per line"), "{message}");
        }
        let output = carom(&[name], "[1, {}]\n");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let elements = answers(&output);
        let first = elements[0]["error"]["message"].as_str().unwrap();
        assert!(
            first.starts_with("line 1 element 1: found a number"),
            "{first}"
        );
        assert_eq!(elements.len(), 2);
        let word = error(name, "hello").2;
        assert!(word.starts_with("line 1: this is no JSON"), "{word}");
        let nan = error(name, r#"{"id":1,"x":[-Infinity]}"#).2;
        assert!(nan.contains("JSON has no NaN"), "{nan}");
    }
}

#[test]
fn what_is_too_large_is_refused_by_name() {
    let rows = json!({"law": "plastic", "mass_matrix": vec![[0.0; 0]; MAX_DIMENSION + 1], "velocity": [], "contacts": []});
    let contacts = json!({"law": "plastic", "mass_matrix": [[1]], "velocity": [1],
        "contacts": vec![json!({"normal": [1]}); MAX_CONTACTS + 1]});
    let options = |options: Value| {
        json!({"law": "set-valued", "mass_matrix": [[1, 0], [0, 1]], "velocity": [0, -1],
            "contacts": [{"normal": [0, 1]}], "options": options})
    };
    for (line, parts) in [
        (rows, ["mass_matrix", "10001", "10000"]),
        (contacts, ["contacts", "4097", "4096"]),
        (
            options(json!({"samples": 10_000_001u64})),
            ["samples", "10000001", "10000000"],
        ),
        (
            options(json!({"max_steps": 2_000_000u64})),
            ["max_steps", "2000000", "1000000"],
        ),
    ] {
        let (_, kind, message) = error("resolve", &line.to_string());
        assert_eq!(kind, "too-large", "{message}");
        for part in parts {
            assert!(message.contains(part), "{message}");
        }
    }
    let lcp = json!({"matrix": vec![[0.0; 0]; MAX_DIMENSION + 1], "vector": []});
    assert_eq!(error("lcp", &lcp.to_string()).1, "too-large");
}

#[test]
fn a_line_that_is_too_long_does_not_stop_the_next() {
    let mut input = br#"{"id":"long","law":""#.to_vec();
    input.resize((64 << 20) + 10, b'x');
    input.extend_from_slice(b"\"}\n");
    input.extend_from_slice(example(Asked::Resolve).as_bytes());
    let mut child = spawn("resolve");
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let answers = answers(&output);
    assert_eq!(answers[0]["id"], "long");
    assert_eq!(answers[0]["error"]["kind"], "too-large");
    assert_eq!(answers[1]["id"], "cradle");
    assert_eq!(answers[1]["status"], "resolved");
}
