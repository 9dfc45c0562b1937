//! Bad usage is one line with the nearest name; files name their scenario.

use crate::common::carom;
use std::fs;
use std::process::Output;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The one line on stderr of a call that must fail with exit status 2.
fn complaint(args: &[&str]) -> String {
    let output = carom(args, "");
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty());
    let line = text(&output.stderr);
    assert_eq!(line.lines().count(), 1, "{line}");
    line.trim_end().to_owned()
}

#[test]
fn bad_usage_is_one_sentence_with_the_nearest_name() {
    for (args, expected) in [
        (
            &["runn"][..],
            "unrecognized subcommand `runn`; did you mean `run`?",
        ),
        (
            &["run", "world", "--jsn"],
            "unexpected argument `--jsn`; did you mean `--json`?",
        ),
        (&["run"], "missing: <NAME|FILE.toml>"),
        (
            &["completions", "fishy"],
            "invalid value `fishy` for `<SHELL>`; did you mean `fish`? One of bash, elvish, fish, powershell, zsh",
        ),
        (
            &["resolve", "--threads", "x"],
            "invalid value `x` for `--threads <N>`: invalid digit found in string",
        ),
        (
            &["run", "world", "--set"],
            "`--set <key.path=value>` needs a value",
        ),
        (
            &[
                "export",
                "fmu",
                "w.toml",
                "-o",
                "w.fmu",
                "--library",
                "none.so",
            ],
            "no-library: none.so is not there: `cargo build --release -p carom-capi` builds it; --library PATH names another",
        ),
    ] {
        assert_eq!(complaint(args), format!("carom: {expected}"));
    }
    assert!(complaint(&[]).starts_with("carom: a command is needed: list, show, run"));
}

#[test]
fn list_shows_the_scenarios_that_mention_all_words() {
    let names = |args: &[&str]| -> Vec<String> {
        let output = carom(args, "");
        let list: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
        let name = |entry: &serde_json::Value| entry["name"].as_str().unwrap().to_owned();
        list.iter().map(name).collect()
    };
    let cradles = names(&["list", "CRADLE", "--json"]);
    assert!(cradles.contains(&"newtons-cradle".to_owned()));
    assert!(cradles.len() < names(&["list", "--json"]).len());
    assert_eq!(
        names(&["list", "cradle", "time", "swings", "--json"]),
        ["pendulum-cradle"]
    );
    assert!(complaint(&["list", "newtons-cradel"]).contains("did you mean `newtons-cradle`?"));
}

#[test]
fn a_file_runs_the_scenario_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, toml: &str| {
        let path = folder.path().join(name);
        fs::write(&path, toml).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let stdout = |output: &Output| text(&output.stdout);
    let cradle = write(
        "cradle.toml",
        "scenario = \"newtons-cradle\"\nrestitution = 0.5\n",
    );
    let by_file = carom(&["run", &cradle, "--json"], "");
    let by_name = carom(
        &[
            "run",
            "newtons-cradle",
            "--set",
            "restitution=0.5",
            "--json",
        ],
        "",
    );
    assert_eq!(by_file.status.code(), Some(0), "{}", text(&by_file.stderr));
    assert_eq!(stdout(&by_file), stdout(&by_name));
    assert!(complaint(&["run", "penny", "--config", &cradle]).contains("line 1, column 1"));
    let ball = "duration = 0.01\n[[bodies]]\nname = \"ball\"\nmass = 1.0\n\
        shape = { type = \"sphere\", radius = 0.1 }\nposition = [0, 0, 1]\n";
    let world = carom(&["run", &write("ball.toml", ball)], "");
    assert_eq!(world.status.code(), Some(0));
    assert!(stdout(&world).contains("warning: `ball` falls for ever"));
    assert!(
        complaint(&["run", &write("none.toml", "duration = 1\n")]).contains("names no scenario")
    );
    let robot = complaint(&[
        "run",
        &write("robot.toml", "[urdf]\nfile = \"none.urdf\"\n"),
    ]);
    assert!(robot.contains("none.urdf"), "{robot}");
    assert!(complaint(&["run", "missing.toml"]).contains("cannot read missing.toml"));
}

#[test]
fn completions_know_scenarios_laws_and_keys() {
    let script = text(&carom(&["completions", "bash"], "").stdout);
    for word in ["newtons-cradle", "moreau-newton", "restitution="] {
        assert!(script.contains(word), "{word}");
    }
}
