//! `carom fit` on measured tosses.

use crate::common::carom;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

fn data(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/tosses");
    root.join(name).to_str().unwrap().to_owned()
}

/// `carom fit` with the cube's configuration.
fn fit(file: &str, args: &[&str]) -> Output {
    let config = data("cube.toml");
    let mut all = vec!["fit", file, "--config", &config];
    all.extend(args);
    carom(&all, "")
}

fn record(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One line on stderr with everything asked for; nothing on stdout.
fn assert_refused(output: &Output, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
}

/// The sample with one of its lines changed, in a file of its own.
fn changed(folder: &Path, line: usize, text: &str) -> PathBuf {
    let sample = std::fs::read_to_string(data("tosses-sample.csv")).unwrap();
    let mut lines: Vec<&str> = sample.lines().collect();
    lines[line - 1] = text;
    let path = folder.join("tosses.csv");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

#[test]
fn a_fit_is_the_same_for_any_number_of_threads_and_scores_itself() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let sample = data("tosses-sample.csv");
    let laws = [
        "--law",
        "moreau-newton,anitescu-potra",
        "--bootstrap",
        "20",
        "--json",
    ];
    let one = fit(
        &sample,
        &[
            &laws[..],
            &["--threads", "1", "--out", out.to_str().unwrap()],
        ]
        .concat(),
    );
    let two = fit(&sample, &[&laws[..], &["--threads", "2"]].concat());
    assert!(one.stdout == two.stdout);
    assert_eq!(std::fs::read(out.join("record.json")).unwrap(), one.stdout);
    let fitted = record(&one);
    assert_eq!(fitted["status"], "fitted");
    assert_eq!(fitted["data"]["tosses"], 20);
    assert_eq!(fitted["data"]["samples"], 1753);
    assert_eq!(fitted["best"], "moreau-newton");
    assert_eq!(fitted["ranking"][1], "anitescu-potra");
    let names = std::fs::read_to_string(out.join("laws.csv")).unwrap();
    assert!(
        names.starts_with("law,restitution,") && names.contains("\nstick,"),
        "{names}"
    );
    for name in [
        "impacts.csv",
        "likelihood.svg",
        "misfits.svg",
        "predicted-wz.svg",
        "index.html",
    ] {
        assert!(out.join(name).is_file(), "{name}");
    }
    for (law, free) in [(0, vec!["restitution", "friction"]), (1, vec!["friction"])] {
        let law = &fitted["laws"][law];
        assert_eq!(law["free"], serde_json::json!(free));
        for name in free {
            let [low, high, value] = [
                &law["intervals"][name][0],
                &law["intervals"][name][1],
                &law["parameters"][name],
            ]
            .map(|v| v.as_f64().unwrap());
            assert!(low <= value && value <= high && low < high);
        }
    }

    let text = fit(
        &sample,
        &["--law", "moreau-newton,plastic", "--bootstrap", "20"],
    );
    let told = String::from_utf8(text.stdout).unwrap();
    for sentence in [
        "\nmoreau-newton: restitution 0.305 (95 %: ",
        "moreau-newton predicts best; plastic is ",
    ] {
        assert!(told.contains(sentence), "no `{sentence}` in {told}");
    }

    let path = out.join("record.json");
    let scored = record(&fit(
        &sample,
        &["--evaluate", path.to_str().unwrap(), "--json"],
    ));
    assert_eq!(scored["status"], "evaluated");
    for law in 0..2 {
        let [a, b] = [&fitted, &scored].map(|r| r["laws"][law]["score"].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-9, "{a} {b}");
    }
    let other = fit(
        &sample,
        &["--evaluate", path.to_str().unwrap(), "--law", "routh"],
    );
    assert_refused(&other, &["record.json", "routh"]);
}

#[test]
fn faults_in_poses_name_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let good = "4,0.020270,0.262226,0.032155,0.161617,-0.4083975,-0.6307267,0.1327811,0.6463471";
    for (line, text, parts) in [
        (1, "toss,t,x,y,z,qw,qx,qy".to_owned(), ["line 1", "`qz`"]),
        (5, good.replace("0.262226", "oops"), ["line 5", "`x`"]),
        (5, good.replace("0.032155", "NaN"), ["line 5", "`y`"]),
        (5, good.replace("0.161617", "-inf"), ["line 5", "`z`"]),
        (
            5,
            good.replace("0.6463471", "0.7463471"),
            ["line 5", "`qw`"],
        ),
        (5, good.replace("0.020270", "0.001"), ["line 5", "`t`"]),
        (5, good.replace("0.020270", "0.0255"), ["line 5", "`t`"]),
        (1753, good.to_owned(), ["line 1753", "`toss`"]),
    ] {
        let path = changed(folder.path(), line, &text);
        let args = ["--law", "moreau-newton", "--out", out.to_str().unwrap()];
        let output = fit(path.to_str().unwrap(), &args);
        assert_refused(&output, &["tosses.csv", parts[0], parts[1]]);
        assert!(!out.exists());
    }
    let empty = folder.path().join("empty.csv");
    std::fs::write(&empty, "").unwrap();
    assert_refused(
        &fit(empty.to_str().unwrap(), &["--law", "stick"]),
        &["empty.csv", "line 1", "toss"],
    );
    let bad = folder.path().join("bad.csv.gz");
    std::fs::write(&bad, "no gzip").unwrap();
    assert_refused(
        &fit(bad.to_str().unwrap(), &["--law", "stick"]),
        &["bad.csv.gz", "line 1", "column"],
    );
    let missing = folder.path().join("missing.csv");
    assert_refused(
        &fit(missing.to_str().unwrap(), &["--law", "stick"]),
        &["missing.csv"],
    );
}

#[test]
fn files_without_an_end_are_refused_at_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    // Ten gigabytes of zeros that take no room.
    for name in ["sparse.csv", "sparse.toml"] {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(10 << 30).unwrap();
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let refused = fit(&path("sparse.csv"), &["--law", "stick"]);
    assert_refused(&refused, &["sparse.csv: line 1", "row", "1 MiB"]);
    let config = ["--config", &path("sparse.toml"), "--law", "stick"];
    let refused = carom(
        &[&["fit", &data("tosses-sample.csv")][..], &config].concat(),
        "",
    );
    assert_refused(&refused, &["sparse.toml", "16 MiB"]);
    let refused = fit(
        &data("tosses-sample.csv"),
        &["--evaluate", &path("sparse.csv")],
    );
    assert_refused(&refused, &["sparse.csv", "256 MiB"]);
    let run = ["run", "bouncing-body", "--config", &path("sparse.toml")];
    assert_refused(&carom(&run, ""), &["sparse.toml", "16 MiB"]);

    // One line of a compressed file, and good rows a thousand times as long as the file.
    let note = "0".repeat(1 << 19);
    let line = |_| note.clone();
    let row = |k| format!("1,{k},0,0,0,1,0,0,0,{note}\n");
    let parts: [(_, &dyn Fn(u32) -> String, _); 2] = [
        (
            "line.csv.gz",
            &line,
            "line 2: no column can be read from here on: the row has more than 1 MiB",
        ),
        (
            "rows.csv.gz",
            &row,
            "above 1 MiB, at most 200 for each compressed byte",
        ),
    ];
    for (name, part, limit) in parts {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
        packed
            .write_all(b"toss,t,x,y,z,qw,qx,qy,qz,note\n")
            .unwrap();
        for k in 0..40 {
            packed.write_all(part(k).as_bytes()).unwrap();
        }
        packed.finish().unwrap();
        let refused = fit(&path(name), &["--law", "stick"]);
        assert_refused(&refused, &[name, limit]);
    }
}

#[test]
fn laws_and_parameters_are_known_and_used() {
    let sample = data("tosses-sample.csv");
    for (args, parts) in [
        (
            &["--law", "moreau-newtn"][..],
            &["moreau-newtn", "did you mean `moreau-newton`"][..],
        ),
        (&["--law", "plastic,plastic"], &["plastic", "twice"]),
        (&[], &["--law"]),
        (&["--law", "plastic", "--free", "mass"], &["--free", "mass"]),
        (
            &["--law", "anitescu-potra,plastic", "--free", "restitution"],
            &["--free", "restitution"],
        ),
        (
            &["--law", "anitescu-potra", "--fixed", "restitution=0.5"],
            &["--fixed", "restitution"],
        ),
        (
            &["--law", "moreau-newton", "--fixed", "friction=-1"],
            &["friction", "-1", "[0, 2]"],
        ),
        (
            &["--law", "moreau-newton", "--fixed", "friction=nan"],
            &["friction", "NaN"],
        ),
        (
            &["--law", "moreau-newton", "--fixed", "friction"],
            &["friction", "NAME=VALUE"],
        ),
        (
            &[
                "--law",
                "moreau-newton",
                "--free",
                "friction",
                "--fixed",
                "friction=1",
            ],
            &["friction", "--free", "--fixed"],
        ),
        (
            &["--evaluate", "record.json", "--free", "friction"],
            &["--evaluate", "--free"],
        ),
    ] {
        assert_refused(&fit(&sample, args), parts);
    }
}

#[test]
fn too_few_impacts_are_a_record_and_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let sample = std::fs::read_to_string(data("tosses-sample.csv")).unwrap();
    // Two tosses of the twenty, with a column that means nothing.
    let mut lines = vec!["toss,t,x,y,z,qw,qx,qy,qz,marker".to_owned()];
    let first = |line: &&str| line.starts_with("4,") || line.starts_with("14,");
    lines.extend(sample.lines().filter(first).map(|line| format!("{line},a")));
    let path = folder.path().join("few.csv");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let output = fit(
        path.to_str().unwrap(),
        &["--law", "moreau-newton", "--json"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["status"], "too-few-impacts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("ignored columns: marker") && error.contains("too few impacts"),
        "{error}"
    );
}
