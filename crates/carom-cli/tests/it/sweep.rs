//! Sweeps as their users run them: with the real binary, its processes killed, its files damaged.
#![cfg(feature = "sweep")]

use crate::common::{answers, carom};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// The break of two balls on 40 × 25 points, in shards of 5 cells.
const BREAK: &str = r#"
name = "break"
seed = 7
cells_per_shard = 5
[problem]
law = "propagative"
options = { outcomes = "all" }
mass_matrix = [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,"=mass_ratio",0,0,0],[0,0,0,"=mass_ratio",0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]
velocity = [0,0,0,0,1,0]
contacts = [{ normal = ["=c","=s",0,0,"=-c","=-s"] }, { normal = [0,0,"=c","=-s","=-c","=s"] }]
[let]
c = "cos(angle/2)"
s = "sin(angle/2)"
[axes]
angle = { linspace = [1.1, 2.9, 40] }
mass_ratio = { geomspace = [0.1, 10.0, 25] }
[columns]
indeterminacy = "/diagnostics/indeterminacy"
outcomes = "n_outcomes"
status = { path = "/status", type = "str" }
velocity = { path = "/velocity_plus", type = "list" }
"#;

/// A folder with a plan in it.
struct Bench {
    folder: TempDir,
    plan: String,
}

impl Bench {
    fn new(plan: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("plan.toml");
        fs::write(&path, plan).unwrap();
        let plan = path.to_str().unwrap().to_owned();
        Self { folder, plan }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs the plan into a folder.
    fn run(&self, out: &str, more: &[&str]) -> Output {
        let out = self.path(out);
        let args = ["sweep", "run", &self.plan, "--out", &out];
        carom(&[&args, more].concat(), "")
    }

    fn spawn(&self, out: &str, more: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_carom"))
            .args(["sweep", "run", &self.plan, "--out", &self.path(out)])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// SHA-256 of the merged table in its three forms.
    fn merged(&self, out: &str) -> [String; 3] {
        ["parquet", "csv", "jsonl"].map(|form| {
            let file = self.path(&format!("{out}-all.{form}"));
            let output = carom(&["sweep", "merge", &self.path(out), "-o", &file], "");
            assert_eq!(code(&output), 0, "{output:?}");
            answers(&output)[0]["sha256"].as_str().unwrap().to_owned()
        })
    }

    fn rows(&self, out: &str) -> Vec<Value> {
        self.merged(out);
        let text = fs::read_to_string(self.path(&format!("{out}-all.jsonl"))).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn status(&self, out: &str) -> (i32, Value) {
        let output = carom(&["sweep", "status", &self.path(out), "--json"], "");
        (code(&output), answers(&output).remove(0))
    }

    /// Files of shards: inode and time of change by name.
    fn shards(&self, out: &str) -> BTreeMap<String, (u64, SystemTime)> {
        let entries = fs::read_dir(self.path(out)).unwrap().map(Result::unwrap);
        let shards = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let meta = entry.metadata().ok()?;
            name.starts_with("shard-")
                .then(|| (name, (inode(&meta), meta.modified().unwrap())))
        });
        shards.collect()
    }

    fn leftovers(&self, out: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(out)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|e| e == "tmp"))
            .collect()
    }
}

#[cfg(unix)]
fn inode(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// The one line on standard error.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn any_runner_gives_the_same_bytes() {
    let bench = Bench::new(BREAK);
    assert_eq!(code(&bench.run("one", &["--threads", "1"])), 0);
    assert_eq!(code(&bench.run("seven", &["--threads", "7"])), 0);
    let parts = ["0/3", "1/3", "2/3"].map(|part| bench.spawn("parts", &["--shard", part]));
    let shared = [1, 2, 1].map(|n| bench.spawn("shared", &["--threads", &n.to_string()]));
    for mut child in parts.into_iter().chain(shared) {
        assert!(child.wait().unwrap().success());
    }
    let expected = bench.merged("one");
    let names: Vec<String> = bench.shards("one").into_keys().collect();
    assert_eq!(names.len(), 200);
    for out in ["seven", "parts", "shared"] {
        assert_eq!(bench.merged(out), expected, "{out}");
        let found: Vec<String> = bench.shards(out).into_keys().collect();
        assert_eq!(found, names);
    }
    // Parts in folders of their own are united.
    for part in ["0/2", "1/2"] {
        assert_eq!(
            code(&bench.run(&format!("half-{}", &part[..1]), &["--shard", part])),
            0
        );
    }
    let file = bench.path("halves.parquet");
    let halves = [bench.path("half-0"), bench.path("half-1")];
    let output = carom(&["sweep", "merge", &halves[0], &halves[1], "-o", &file], "");
    assert_eq!(
        answers(&output)[0],
        json!({ "rows": 1000, "sha256": expected[0] })
    );
}

#[test]
fn a_cell_is_what_resolve_answers_for_its_line() {
    let bench = Bench::new(BREAK);
    assert_eq!(code(&bench.run("out", &[])), 0);
    let cells: Vec<String> = (0..1000).step_by(7).map(|k| k.to_string()).collect();
    let mut args = vec!["sweep", "cell", &bench.plan];
    args.extend(cells.iter().map(String::as_str));
    let lines = carom(&args, "");
    let resolved = answers(&carom(
        &["resolve"],
        std::str::from_utf8(&lines.stdout).unwrap(),
    ));
    let rows = bench.rows("out");
    for (cell, answer) in cells.iter().zip(resolved) {
        let row = &rows[cell.parse::<usize>().unwrap()];
        assert_eq!(answer["id"], format!("cell-{cell}"));
        assert_eq!(row["indeterminacy"], answer["diagnostics"]["indeterminacy"]);
        assert_eq!(row["velocity"], answer["velocity_plus"]);
        assert_eq!(row["status"], answer["status"]);
        let outcomes = answer["outcomes"].as_array().unwrap().len() as f64;
        assert_eq!(row["outcomes"].as_f64().unwrap(), outcomes);
        assert_eq!(row["error_kind"], Value::Null);
    }
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    let expected = [
        "cell",
        "angle",
        "mass_ratio",
        "indeterminacy",
        "outcomes",
        "status",
        "velocity",
        "error_kind",
        "error_message",
    ];
    assert_eq!(keys, expected);
}

/// Closed forms: the cosine of the normals, and no indeterminacy where it is $-\cos(\pi/m)$.
#[test]
fn known_points_of_the_break_have_their_indeterminacy() {
    let points = [
        (2.094_395_102_393_195_3, 1.0, 0.559_016_994_375, 2),
        (1.2, 0.3, 0.326_891_755_846, 2),
        (std::f64::consts::FRAC_PI_2, 4.0, 0.0, 1),
        (2.0, 10.0, 0.764_102_848_740, 2),
        (2.5, 1.0, 0.267_316_237_225, 2),
        (2.8, 0.15, 0.122_769_836_968, 2),
    ];
    let bench = Bench::new(BREAK);
    let line = |(angle, ratio, ..): &(f64, f64, f64, u64)| {
        json!({ "mass_ratio": ratio, "angle": angle }).to_string() + "\n"
    };
    let asked: String = points.iter().map(line).collect();
    let output = carom(
        &["sweep", "ask", &bench.plan, "--out", &bench.path("asked")],
        &asked,
    );
    assert_eq!(code(&output), 0);
    for (k, (answer, (angle, ratio, xi, outcomes))) in
        answers(&output).iter().zip(points).enumerate()
    {
        assert_eq!(
            (&answer["cell"], &answer["angle"]),
            (&json!(k), &json!(angle))
        );
        assert_eq!(answer["mass_ratio"], json!(ratio));
        let found = answer["indeterminacy"].as_f64().unwrap();
        assert!((found - xi).abs() <= 5e-13, "{answer}");
        assert_eq!(answer["outcomes"], json!(outcomes as f64), "{answer}");
    }
}

#[test]
fn kills_lose_nothing_that_was_there() {
    let bench = Bench::new(BREAK);
    assert_eq!(code(&bench.run("calm", &[])), 0);
    let mut seen = BTreeMap::new();
    let mut kills = 0;
    for wait in (0..).map(|k| Duration::from_millis(3 + 13 * (k % 7))) {
        let mut child = bench.spawn("killed", &["--threads", "2"]);
        std::thread::sleep(wait);
        let has_ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        if fs::exists(bench.path("killed")).unwrap() {
            let now = bench.shards("killed");
            for (name, meta) in &seen {
                assert_eq!(now.get(name), Some(meta), "{name}");
            }
            seen = now;
        }
        if has_ended {
            break;
        }
        kills += 1;
        if kills >= 25 {
            assert_eq!(code(&bench.run("killed", &[])), 0);
            break;
        }
    }
    assert!(kills >= 3, "{kills}");
    assert_eq!(bench.leftovers("killed"), [""; 0].map(PathBuf::from));
    let now = bench.shards("killed");
    assert!(seen.iter().all(|(name, meta)| now.get(name) == Some(meta)));
    assert_eq!(bench.merged("killed"), bench.merged("calm"));
}

#[test]
fn damage_is_named_and_repaired_and_nothing_else_is_touched() {
    let bench = Bench::new(BREAK);
    assert_eq!(code(&bench.run("out", &[])), 0);
    let expected = bench.merged("out");
    let before = bench.shards("out");
    let names: Vec<&String> = before.keys().collect();
    let file = |k: usize| Path::new(&bench.path("out")).join(names[k]);
    // A flipped bit, a file cut short, one under the number of another, one under none.
    let mut bytes = fs::read(file(12)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(file(12), bytes).unwrap();
    let bytes = fs::read(file(13)).unwrap();
    fs::write(file(13), &bytes[..bytes.len() / 2]).unwrap();
    let other = names[20].replace("shard-000020", "shard-000021");
    fs::rename(file(20), Path::new(&bench.path("out")).join(other)).unwrap();
    let none = names[30].replace("shard-000030", "shard-000900");
    fs::rename(file(30), Path::new(&bench.path("out")).join(none)).unwrap();
    let (code_found, status) = bench.status("out");
    assert_eq!(code_found, 1);
    assert_eq!(status["damaged"], "12-13,21,900", "{status}");
    assert_eq!(status["missing"], "20,30");
    assert_eq!(
        (&status["done"], &status["complete"]),
        (&json!(195), &json!(false))
    );
    let all = bench.path("refused.csv");
    let output = carom(&["sweep", "merge", &bench.path("out"), "-o", &all], "");
    assert_eq!(code(&output), 1);
    let message = complaint(&output);
    assert!(
        message.contains("20,30") && message.contains("12-13,21,900"),
        "{message}"
    );
    assert!(!fs::exists(&all).unwrap());
    let output = carom(
        &[
            "sweep",
            "merge",
            &bench.path("out"),
            "-o",
            &all,
            "--partial",
        ],
        "",
    );
    assert_eq!(
        (code(&output), &answers(&output)[0]["rows"]),
        (0, &json!(980))
    );

    let output = bench.run("out", &[]);
    let summary = &answers(&output)[0];
    assert_eq!(
        (&summary["shards_done"], &summary["shards_kept"]),
        (&json!(4), &json!(196))
    );
    assert_eq!(bench.status("out").1["complete"], true);
    let after = bench.shards("out");
    for (k, name) in names.iter().enumerate() {
        let is_repaired = [12, 13, 20, 30].contains(&k);
        assert_eq!(after[*name] == before[*name], !is_repaired, "{name}");
    }
    assert_eq!(bench.merged("out"), expected);
}

#[test]
fn sweeps_do_not_mix() {
    let bench = Bench::new(BREAK);
    assert_eq!(code(&bench.run("out", &["--shards", "0-2"])), 0);
    fs::write(&bench.plan, BREAK.replace("2.9", "2.8")).unwrap();
    let output = bench.run("out", &[]);
    assert_eq!(code(&output), 2);
    assert!(complaint(&output).contains("axes differ"));
    // A shard of this sweep in the folder of the other.
    assert_eq!(code(&bench.run("other", &["--shards", "0"])), 0);
    let (name, _) = bench.shards("out").pop_first().unwrap();
    let [from, to] = ["out", "other"].map(|out| Path::new(&bench.path(out)).join(&name));
    fs::copy(from, &to).unwrap();
    let output = bench.run("other", &[]);
    assert_eq!(code(&output), 2);
    assert!(complaint(&output).contains("another sweep"));
    assert!(
        fs::exists(to).unwrap(),
        "nothing of another sweep is removed"
    );
    let folders = [bench.path("out"), bench.path("other")];
    let all = bench.path("all.csv");
    let output = carom(
        &["sweep", "merge", &folders[0], &folders[1], "-o", &all],
        "",
    );
    assert_eq!(code(&output), 2);
    complaint(&output);
}

#[test]
fn a_cell_that_fails_is_a_row() {
    let plan = BREAK
        .replace("geomspace = [0.1, 10.0, 25]", "linspace = [-1, 1, 5]")
        .replace("linspace = [1.1, 2.9, 40]", "values = [1.0, 2.0]");
    let bench = Bench::new(&plan);
    let output = bench.run("out", &[]);
    assert_eq!(code(&output), 0);
    assert_eq!(answers(&output)[0]["errors"], 6);
    let lines = carom(&["sweep", "cell", &bench.plan, "0", "2", "4"], "");
    let resolved = answers(&carom(
        &["resolve"],
        std::str::from_utf8(&lines.stdout).unwrap(),
    ));
    let rows = bench.rows("out");
    for (row, answer) in [0, 2, 4].map(|k| &rows[k]).into_iter().zip(&resolved) {
        assert_eq!(row["error_kind"], answer["error"]["kind"]);
        assert_eq!(row["error_message"], answer["error"]["message"]);
    }
    assert_eq!(rows[2]["outcomes"], Value::Null);
    // The fault of an expression, and of a column.
    let plan = plan.replace("\"cos(angle/2)\"", "\"1/(mass_ratio - 0.5)\"");
    let plan = plan.replace("type = \"list\"", "type = \"str\"");
    let bench = Bench::new(&plan);
    assert_eq!(answers(&bench.run("out", &[]))[0]["errors"], 10);
    let rows = bench.rows("out");
    assert_eq!(rows[3]["error_kind"], "non-finite");
    assert!(
        rows[3]["error_message"]
            .as_str()
            .unwrap()
            .contains("1/(mass_ratio - 0.5)")
    );
    assert_eq!(rows[4]["error_kind"], "column-type");
    assert_eq!(rows[4]["status"], "resolved");
    let line = answers(&carom(&["sweep", "cell", &bench.plan, "3"], "")).remove(0);
    assert_eq!(line["error"]["kind"], "non-finite");
}

#[test]
fn a_stop_leaves_whole_shards_and_says_so() {
    let bench = Bench::new(BREAK);
    let output = bench.run("out", &["--time-limit", "0s"]);
    assert_eq!(
        (code(&output), &answers(&output)[0]["shards_done"]),
        (1, &json!(0))
    );
    assert_eq!(bench.status("out").1["missing"], "0-199");
    let large = BREAK
        .replace("2.9, 40", "2.9, 400000")
        .replace("_shard = 5", "_shard = 5000");
    let bench = Bench::new(&large);
    #[cfg(unix)]
    for signal in ["TERM", "INT"] {
        let child = bench.spawn("out", &["--threads", "2"]);
        let plan = bench.path("out/plan.json");
        while !fs::exists(&plan).unwrap() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        let kill = ["-s", signal, &child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        let end = child.wait_with_output().unwrap();
        let told = (code(&end), end.stderr.as_slice());
        assert_eq!(told, (1, &b"stopped; run again to go on\n"[..]), "{signal}");
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(bench.leftovers("out").is_empty());
    }
}

/// `ulimit -f` counts blocks of 512 or 1024 bytes: room for plan.json, not for a shard.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_leaves_nothing_half_written() {
    let plan = BREAK.replace("_shard = 5", "_shard = 500");
    let bench = Bench::new(&plan);
    let binary = env!("CARGO_BIN_EXE_carom");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let output = Command::new("bash")
        .args([
            "-c",
            script,
            "bash",
            binary,
            "sweep",
            "run",
            &bench.plan,
            "--out",
        ])
        .arg(bench.path("out"))
        .output()
        .unwrap();
    assert_eq!(code(&output), 2, "{output:?}");
    let message = complaint(&output);
    assert!(
        message.contains("cannot write") && message.contains(&bench.path("out")),
        "{message}"
    );
    assert!(bench.shards("out").is_empty() && bench.leftovers("out").is_empty());
    assert_eq!(code(&bench.run("out", &[])), 0);
    assert_eq!(code(&bench.run("calm", &[])), 0);
    assert_eq!(bench.merged("out"), bench.merged("calm"));
    // No folder can be made below a file.
    let output = bench.run("plan.toml/out", &[]);
    assert_eq!(code(&output), 2);
    assert!(complaint(&output).contains("plan.toml/out"));
}

#[test]
fn an_optimizer_replays_to_where_it_was() {
    let bench = Bench::new(BREAK);
    let point = |k: u32| {
        let (angle, ratio) = (1.2 + 0.005 * f64::from(k), 0.5 + 0.01 * f64::from(k));
        json!({ "angle": angle, "mass_ratio": ratio }).to_string() + "\n"
    };
    let points: String = (0..60).map(point).collect();
    let ask = |out: &str, input: &str| {
        carom(
            &["sweep", "ask", &bench.plan, "--out", &bench.path(out)],
            input,
        )
    };
    let journal =
        |out: &str| fs::read_to_string(bench.path(&format!("{out}/asked.jsonl"))).unwrap();
    let calm = ask("calm", &points);
    assert_eq!(
        String::from_utf8(calm.stdout.clone()).unwrap(),
        journal("calm")
    );
    // Stopped after 20 points, torn in the 31st, changed at the end.
    let first: String = (0..20).map(point).collect();
    ask("torn", &first);
    let more: String = (0..31).map(point).collect();
    ask("torn", &more);
    let text = journal("torn");
    fs::write(bench.path("torn/asked.jsonl"), &text[..text.len() - 9]).unwrap();
    assert_eq!(ask("torn", &points).stdout, calm.stdout);
    assert_eq!(journal("torn"), journal("calm"));
    // Lines that are no points have no number, and no place in the journal.
    let with_faults = format!("{{\"angle\": 1}}\nnone\n{points}");
    let output = ask("torn", &with_faults);
    assert_eq!(code(&output), 1);
    let told = answers(&output);
    assert_eq!(
        (&told[0]["cell"], &told[1]["cell"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(told.len(), 62);
    assert_eq!(journal("torn"), journal("calm"));
    // Another point in the place of one that was asked.
    let other = points.replacen("1.2", "1.21", 1);
    let output = ask("torn", &other);
    assert_eq!(code(&output), 2);
    assert!(complaint(&output).contains("line 1: asked before with other values"));
}

/// The plan of the break with its first `from` replaced.
fn edited(from: &str, to: &str) -> String {
    assert!(BREAK.contains(from), "{from}");
    BREAK.replacen(from, to, 1)
}

/// Every plan is refused by a message that names the key and the file, before anything is written.
fn assert_refused(cases: &[(String, &str)]) {
    let bench = Bench::new("");
    for (text, key) in cases {
        fs::write(&bench.plan, text).unwrap();
        for command in ["plan", "run"] {
            let out = bench.path("out");
            let mut args = vec!["sweep", command, &bench.plan];
            if command == "run" {
                args.extend(["--out", &out]);
            }
            let output = carom(&args, "");
            assert_eq!(code(&output), 2, "{key}: {output:?}\n{text}");
            let message = complaint(&output);
            assert!(message.contains(key), "{key}: {message}");
            assert!(message.contains(".toml"), "{message}");
            assert!(output.stdout.is_empty() && !fs::exists(&out).unwrap());
        }
    }
}

#[test]
fn bad_problems_and_names_are_refused_with_their_key() {
    assert_refused(&[
        (edited("seed = 7", "seed = -1"), "seed"),
        (edited("seed = 7", "seed = 9007199254740992"), "seed"),
        (edited("seed = 7", "speed = 7"), "speed"),
        (edited("name = \"break\"", "name = \"Break\""), "name"),
        (edited("name = \"break\"", ""), "name"),
        (edited("seed = 7", "command = \"run\""), "command"),
        (
            edited("cells_per_shard = 5", "cells_per_shard = 0"),
            "cells_per_shard",
        ),
        (
            edited("cells_per_shard = 5", "cells_per_shard = 5.0"),
            "cells_per_shard",
        ),
        (edited("law = ", "lax = "), "problem.lax"),
        (edited("\"propagative\"", "\"propagativ\""), "problem.law"),
        (
            edited("outcomes = \"all\"", "outcome = \"all\""),
            "problem.options.outcome",
        ),
        (
            edited("{ normal = [\"", "{ normals = [\""),
            "problem.contacts[0].normals",
        ),
        (
            edited("velocity = [0,", "velocity = [\"0\","),
            "problem.velocity[0]",
        ),
        (edited("law = ", "id = 1\nlaw = "), "problem.id"),
        (
            edited("\"=-c\"", "\"=-cc\""),
            "problem.contacts[0].normal[4]",
        ),
        (
            edited("\"=-c\"", "\"=-c)\""),
            "problem.contacts[0].normal[4]",
        ),
        (edited("\"=-c\"", "nan"), "problem.contacts[0].normal[4]"),
        (
            edited("velocity = [0", "velocity = [inf"),
            "problem.velocity[0]",
        ),
        (edited("c = \"cos(angle/2)\"", "c = \"cos(s)\""), "let.c"),
        (edited("c = \"cos(angle/2)\"", "c = 3"), "let.c"),
        (edited("c = \"cos(angle/2)\"", "sin = \"angle\""), "let.sin"),
        (edited("c = \"cos(angle/2)\"", "angle = \"1\""), "let.angle"),
    ]);
}

#[test]
fn bad_axes_are_refused_with_their_key() {
    assert_refused(&[
        (edited("angle = {", "cell = {"), "axes.cell"),
        (edited("angle = {", "'an gle' = {"), "axes."),
        (
            edited("linspace = [1.1, 2.9, 40]", "linspace = [1.1, 2.9]"),
            "axes.angle.linspace",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "linspace = [1.1, 2.9, 0]"),
            "axes.angle.linspace[2]",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "linspace = [-1e308, 1e308, 3]"),
            "axes.angle.linspace",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "linspase = [1.1, 2.9, 40]"),
            "axes.angle.linspase",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "values = [1, \"a\"]"),
            "axes.angle.values[1]",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "values = []"),
            "axes.angle.values",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "range = [3, 3]"),
            "axes.angle.range",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "range = [0, 99999999]"),
            "axes.angle.range",
        ),
        (
            edited("linspace = [1.1, 2.9, 40]", "values = [1], range = [0, 3]"),
            "axes.angle.range",
        ),
        (
            edited("geomspace = [0.1, 10.0, 25]", "geomspace = [0.0, 10.0, 25]"),
            "axes.mass_ratio.geomspace",
        ),
    ]);
}

#[test]
fn bad_columns_draws_and_texts_are_refused_with_their_key() {
    assert_refused(&[
        (edited("\"n_outcomes\"", "\"outcomes\""), "columns.outcomes"),
        (edited("\"n_outcomes\"", "\"/a~2\""), "columns.outcomes"),
        (
            edited("type = \"str\"", "type = \"text\""),
            "columns.status.type",
        ),
        (
            edited("outcomes = \"n_", "error_kind = \"n_"),
            "columns.error_kind",
        ),
        (
            edited("[let]", "[random]\ndraws = 0\n[let]"),
            "random.draws",
        ),
        (
            edited("[let]", "[random]\ndraws = 10000000000\n[let]"),
            "cells_per_shard",
        ),
        (
            edited(
                "[let]",
                "[random]\ndraws = 2\nx = { normal = [0, 1] }\n[let]",
            ),
            "random.x",
        ),
        (
            edited("[let]", "[states]\nfile = \"none.jsonl\"\n[let]"),
            "key `states.file`: cannot read",
        ),
        (
            edited("[let]", "[scenario]\nname = \"penny\"\n[let]"),
            "scenario",
        ),
        (edited("[let]", "[let"), "line"),
        (
            edited("seed = 7", "seed = 7\nseed = 8"),
            "line 4, column 1: key `seed`: duplicate key",
        ),
        (edited("angle = {", "angle = = {"), "key `axes.angle`"),
        (String::new(), "name"),
        ("name = \"a\"".to_owned(), "problem"),
    ]);
}

#[test]
fn states_scenarios_and_draws_make_cells() {
    let bench = Bench::new(
        r#"
        name = "states"
        cells_per_shard = 4
        [states]
        file = "states.jsonl"
        [problem]
        options = { selection = "=order" }
        velocity = ["=speed + x", 0]
        [axes]
        order = { values = ["most-approaching", "least-approaching"] }
        speed = { range = [-3, -1] }
        [random]
        draws = 3
        x = { uniform = [0.0, 0.5] }
        [columns]
        v = { path = "/velocity_plus", type = "list" }
        id = { path = "/id", type = "str" }
        "#,
    );
    let state = |mass: f64| {
        json!({
            "id": "mine", "law": "propagative", "mass_matrix": [[mass, 0], [0, 1]],
            "velocity": [7, 7], "contacts": [{ "normal": [1, 0] }], "options": { "max_impacts": 9 },
        })
    };
    let states = format!("{}\n\n{}\n", state(1.0), state(2.5));
    fs::write(bench.path("states.jsonl"), &states).unwrap();
    assert_eq!(code(&bench.run("out", &[])), 0);
    let rows = bench.rows("out");
    assert_eq!(rows.len(), 24);
    let row = &rows[12 + 6 + 3 + 2];
    assert_eq!(
        (&row["cell"], &row["state"], &row["draw"]),
        (&json!(23), &json!(1), &json!(2))
    );
    assert_eq!(
        (&row["order"], &row["speed"]),
        (&json!("least-approaching"), &json!(-2))
    );
    assert_eq!(row["id"], "cell-23");
    let x = row["x"].as_f64().unwrap();
    assert!((0.0..0.5).contains(&x));
    assert!((row["v"][0].as_f64().unwrap() - (2.0 - x)).abs() <= 1e-15);
    let line = answers(&carom(&["sweep", "cell", &bench.plan, "23"], "")).remove(0);
    assert_eq!(line["mass_matrix"][0][0], 2.5);
    assert_eq!(
        line["options"],
        json!({ "max_impacts": 9, "selection": "least-approaching" })
    );
    // Other states are another sweep.
    fs::write(bench.path("states.jsonl"), states.replace("2.5", "2.6")).unwrap();
    assert_eq!(code(&bench.run("out", &[])), 2);

    let bench = Bench::new(
        r#"
        name = "cradles"
        [scenario]
        name = "newtons-cradle"
        [axes]
        "masses.1" = { values = [0.5, 2] }
        [columns]
        name = { path = "/scenario", type = "str" }
        numerics = { path = "/numerics", type = "i64" }
        first = "/quantities/0/value"
        none = { path = "/parameters/no/such/key", optional = true }
        "#,
    );
    let line = answers(&carom(&["sweep", "cell", &bench.plan, "1"], "")).remove(0);
    let expected =
        json!({ "id": "cell-1", "scenario": "newtons-cradle", "set": { "masses.1": 2.0 } });
    assert_eq!(line, expected);
    assert_eq!(code(&carom(&["sweep", "cell", &bench.plan, "2"], "")), 2);
    assert_eq!(code(&bench.run("out", &[])), 0);
    let rows = bench.rows("out");
    let ran = carom(
        &["run", "newtons-cradle", "--set", "masses.1=2.0", "--json"],
        "",
    );
    let record: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(rows[1]["name"], "newtons-cradle");
    assert_eq!(rows[1]["first"], record["quantities"][0]["value"]);
    assert_eq!(rows[1]["numerics"], record["numerics"]);
    assert_eq!(
        (&rows[1]["masses.1"], &rows[1]["none"]),
        (&json!(2.0), &Value::Null)
    );
}

#[test]
fn launched_scripts_do_their_part() {
    let bench = Bench::new(BREAK);
    let out = bench.path("it's here");
    let launch = |on: &str, more: &[&str]| {
        let args = ["sweep", "launch", &bench.plan, "--out", &out, "--on", on];
        let output = carom(&[&args, more].concat(), "");
        assert_eq!(code(&output), 0, "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let script = launch("slurm", &["--tasks", "3"]);
    for line in [
        "#SBATCH --array=0-2",
        "#SBATCH --requeue",
        "#SBATCH --signal=B:TERM@60",
        "#SBATCH --open-mode=append",
    ] {
        assert!(script.lines().any(|found| found == line), "{line}");
    }
    assert!(!fs::exists(&out).unwrap(), "launch writes nothing");
    let python = launch("ray", &[]);
    assert!(python.contains("max_retries=-1"));
    if cfg!(unix) {
        let file = bench.path("array.sh");
        fs::write(&file, &script).unwrap();
        let run = |task: &str| {
            let mut bash = Command::new("bash");
            bash.arg(&file)
                .env("SLURM_ARRAY_TASK_ID", task)
                .env_remove("SLURM_JOB_ID");
            bash.output().unwrap()
        };
        assert_eq!(code(&run("1")), 0);
        assert!(
            bench.status("it's here").1["missing"]
                .as_str()
                .unwrap()
                .starts_with("0,2-3,5-6")
        );
        assert_eq!((code(&run("0")), code(&run("2"))), (0, 0));
        fs::write(&file, launch("local", &[])).unwrap();
        let output = run("");
        assert_eq!(code(&output), 0);
        assert_eq!(answers(&output)[0]["shards_kept"], 200);
        assert!(fs::exists(format!("{out}.parquet")).unwrap());
    }
    let output = carom(
        &[
            "sweep",
            "launch",
            &bench.plan,
            "--out",
            &out,
            "--on",
            "ray",
            "--submit",
        ],
        "",
    );
    assert_eq!(code(&output), 2);
}

#[test]
fn a_map_is_drawn_of_a_merged_table() {
    let bench = Bench::new(BREAK);
    assert_eq!(code(&bench.run("out", &[])), 0);
    bench.merged("out");
    let draw = |x: &str, y: &str, color: &str, file: &str| {
        let table = bench.path("out-all.parquet");
        let args = [
            "sweep", "figure", &table, "--x", x, "--y", y, "--color", color, "-o",
        ];
        carom(&[&args[..], &[&bench.path(file)]].concat(), "")
    };
    assert_eq!(
        code(&draw("angle", "mass_ratio", "indeterminacy", "map.svg")),
        0
    );
    let map = fs::read_to_string(bench.path("map.svg")).unwrap();
    assert!(map.contains("<svg") && map.contains("mass_ratio"));
    for (x, color, file, word) in [
        ("angles", "indeterminacy", "a.svg", "angles"),
        ("angle", "status", "a.svg", "status"),
        ("angle", "indeterminacy", "a.txt", "txt"),
        ("outcomes", "indeterminacy", "a.svg", "more axes"),
    ] {
        let output = draw(x, "mass_ratio", color, file);
        assert_eq!(code(&output), 2);
        assert!(complaint(&output).contains(word), "{output:?}");
    }
}

#[test]
fn a_plan_says_what_it_is() {
    let bench = Bench::new(BREAK);
    let output = carom(&["sweep", "plan", &bench.plan, "--json", "--estimate"], "");
    let text = String::from_utf8(output.stdout).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&plan["cells"], &plan["shards"]),
        (&json!(1000), &json!(200))
    );
    assert_eq!(plan["estimate"]["tried"], 64);
    assert_eq!(
        plan["columns"][6],
        json!({ "name": "velocity", "type": "list" })
    );
    assert_eq!(code(&bench.run("out", &["--shards", "3,199"])), 0);
    let written = fs::read_to_string(bench.path("out/plan.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(
        (&written["digest"], &written["numerics"]),
        (&plan["digest"], &plan["numerics"])
    );
    assert_eq!(written["axes"][0]["values"][39], 2.9);
    assert_eq!(bench.status("out").1["missing"], "0-2,4-198");
    let output = carom(&["sweep", "status", &bench.path("nowhere")], "");
    assert_eq!(code(&output), 2);
    assert!(complaint(&output).contains("no sweep"));
    for shards in ["200", "5-3", "x"] {
        assert_eq!(code(&bench.run("out", &["--shards", shards])), 2);
    }
    for shard in ["3/3", "0/0", "1", "-1/2"] {
        assert_eq!(code(&bench.run("out", &["--shard", shard])), 2);
    }
}

/// A typo in a plan is one line with file, key and the key that was meant, before anything is computed or written.
#[test]
fn a_typo_in_a_plan_has_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let axis = "name = \"axis\"\n[scenario]\nname = \"billiard-break\"\n[axes]\nangel = { values = [1.7, 1.9, 2.3] }\n\
                [columns]\nstatus = { path = \"/status\", type = \"str\" }\n";
    let column = "name = \"column\"\n[problem]\nlaw = \"plastic\"\nmass_matrix = [[1, 0], [0, \"=mass\"]]\nvelocity = [0, -1]\n\
                  contacts = [{ normal = [0.3, 1] }]\n[axes]\nmass = { linspace = [1.0, 2.0, 20] }\n[columns]\nenergy = \"energy_plus\"\n";
    let (path, out) = (place("plan.toml"), place("out"));
    for (plan, key, meant) in [
        (axis.to_owned(), "axes.angel", "angle"),
        (column.to_owned(), "columns.energy", "/energy_plus_j"),
        (
            column.replace("\"energy_plus\"", "\"/energy_plus\""),
            "columns.energy",
            "/energy_plus_j",
        ),
    ] {
        std::fs::write(&path, plan).unwrap();
        for arguments in [
            &["sweep", "plan", &path][..],
            &["sweep", "run", &path, "--out", &out],
        ] {
            let output = carom(arguments, "");
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                (output.status.code(), output.stdout.len()),
                (Some(2), 0),
                "{error}"
            );
            assert_eq!(error.lines().count(), 1, "{error}");
            for part in [
                &path,
                &format!("key `{key}`"),
                &format!("did you mean `{meant}`?"),
            ] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
    assert!(!folder.path().join("out").exists());
}
