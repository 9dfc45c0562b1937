//! `carom data` on lines and tables.

use crate::common::carom;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

const CONFIG: &str = "[data]\nconfiguration = [\"x\", \"y\", \"theta\"]\n\
    velocity = [\"vx\", \"vy\", \"omega\"]\nvelocity_plus = [\"vx_plus\", \"vy_plus\", \"omega_plus\"]\n\
    [system]\ntype = \"planar-body\"\nmass = 1.0\ninertia = 0.1\noutline = { ellipse = [0.5, 0.3] }\n\
    floor = { normal = [0.0, 1.0], surface = \"floor\" }\n";

/// Table of exact impacts of an ellipse on a floor: friction is a tenth of the normal impulse and restitution a half. The
/// sign of x is `side`.
fn table(side: f64) -> String {
    let mut text = "x,y,theta,vx,vy,omega,vx_plus,vy_plus,omega_plus\n".to_owned();
    for k in 0..40 {
        let t = f64::from(k);
        let (angle, vx, vy, w) = (
            0.7 * t,
            (1.3 * t).sin(),
            -1.0 - 0.5 * (2.1 * t).cos(),
            (0.9 * t).cos(),
        );
        let (s, c) = angle.sin_cos();
        // The lowest point, from the center.
        let height = (0.25 * s * s + 0.09 * c * c).sqrt();
        let arm = [-(0.25 - 0.09) * s * c / height, -height];
        let approach = vy + w * arm[0];
        let lever = arm[0] - 0.1 * arm[1];
        let impulse = -1.5 * approach / (1.0 + arm[0] * lever / 0.1);
        let after = [vx + 0.1 * impulse, vy + impulse, w + lever * impulse / 0.1];
        let row = [
            0.0,
            height,
            angle,
            side * vx,
            vy,
            w,
            side * after[0],
            after[1],
            after[2],
        ];
        let fields: Vec<String> = row.iter().map(f64::to_string).collect();
        writeln!(text, "{}", fields.join(",")).unwrap();
    }
    text
}

fn written(folder: &Path, side: f64) -> [String; 2] {
    let paths = ["drops.csv", "ellipse.toml"].map(|name| folder.join(name));
    std::fs::write(&paths[0], table(side)).unwrap();
    std::fs::write(&paths[1], CONFIG).unwrap();
    paths.map(|path| path.to_str().unwrap().to_owned())
}

#[test]
fn a_mirrored_table_is_found_and_mended() {
    let folder = tempfile::tempdir().unwrap();
    let [file, config] = written(folder.path(), -1.0);
    let check = |more: &[&str]| {
        let mut args = vec!["data", "check", &file, "--config", &config];
        args.extend(more);
        carom(&args, "")
    };
    let found = check(&["--json", "--threads", "1"]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert_eq!(found.stdout, check(&["--json", "--threads", "2"]).stdout);
    let value: Value = serde_json::from_slice(&found.stdout).unwrap();
    let finding = &value["findings"][0];
    assert_eq!(finding["change"], "velocity-sign:x");
    assert_eq!(finding["equivalent"][0], "angle-sense");
    let told = check(&[]);
    let told = String::from_utf8_lossy(&told.stdout);
    assert!(
        told.contains("--change velocity-sign:x  or  --change angle-sense"),
        "{told}"
    );
    let mended = check(&["--change", "angle-sense"]);
    assert_eq!(mended.status.code(), Some(0), "{mended:?}");
    // Another program takes the states as lines.
    let lines = folder.path().join("states.jsonl");
    let lines = lines.to_str().unwrap();
    let states = [
        "data",
        "states",
        &file,
        "--config",
        &config,
        "--change",
        "velocity-sign:x",
        "-o",
        lines,
    ];
    assert_eq!(carom(&states, "").status.code(), Some(0));
    assert_eq!(carom(&["data", "check", lines], "").status.code(), Some(0));
    let judged = carom(&["judge", lines], "");
    assert_eq!(judged.status.code(), Some(0), "{judged:?}");
    assert_eq!(String::from_utf8_lossy(&judged.stdout).lines().count(), 40);
}

#[test]
fn faults_have_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let [file, config] = written(folder.path(), 1.0);
    let out = folder.path().join("out.jsonl");
    let out = out.to_str().unwrap();
    let bad = file.replace("drops", "bad");
    std::fs::write(&bad, table(1.0).replacen("0,", "zero,", 1)).unwrap();
    for (args, words) in [
        (
            vec!["data", "states", &file, "-o", out],
            "a table needs --config",
        ),
        (
            vec!["data", "states", &bad, "--config", &config, "-o", out],
            "bad.csv: line 2: column `x`: `zero`",
        ),
        (
            vec![
                "data",
                "check",
                &file,
                "--config",
                &config,
                "--change",
                "angle-sence",
            ],
            "did you mean `angle-sense`?",
        ),
        (vec!["data", "check", "-"], "the file has no impact"),
        (
            vec!["data", "check", "none.jsonl"],
            "cannot read none.jsonl",
        ),
    ] {
        let found = carom(&args, "");
        let error = String::from_utf8_lossy(&found.stderr);
        assert_eq!(found.status.code(), Some(2), "{error}");
        assert!(
            error.contains(words) && error.lines().count() == 1,
            "{error}"
        );
        assert!(found.stdout.is_empty() && !Path::new(out).exists());
    }
}

/// The laws of a table and of the lines that it gives are the same; a law of `carom laws` is known to `fit`.
#[test]
fn a_table_and_its_lines_are_fitted_alike() {
    let folder = tempfile::tempdir().unwrap();
    let [file, config] = written(folder.path(), 1.0);
    let options = [
        "--law",
        "two-body,routh,poisson,plastic",
        "--bootstrap",
        "0",
        "--json",
    ];
    let fit = |args: &[&str], input: &str| {
        let all = [&["fit"], args, &options[..]].concat();
        let output = carom(&all, input);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        record
    };
    let table = fit(&[&file, "--config", &config], "");
    let states = carom(&["data", "states", &file, "--config", &config], "");
    let lines = fit(&["-"], std::str::from_utf8(&states.stdout).unwrap());
    assert_eq!(table["status"], "fitted");
    assert_eq!(table["ranked_by"], "held-out");
    // A law of contacts in space has no answer in the plane.
    let unanswered = &table["laws"][3];
    assert_eq!(unanswered["law"], "two-body");
    assert_eq!(unanswered["refused"]["wrong-tangents"], 40, "{unanswered}");
    assert_eq!(table["warnings"].as_array().unwrap().len(), 0);
    for k in 0..3 {
        for key in ["/score", "/held_out/score", "/parameters/restitution"] {
            let path = format!("/laws/{k}{key}");
            let [a, b] = [&table, &lines].map(|r| r.pointer(&path).unwrap().as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{path}: {a} {b}");
        }
    }
    let contact = &table["impacts"][0]["contacts"][0];
    assert!((contact["restitution"].as_f64().unwrap() - 0.5).abs() <= 1e-9);
    assert!((contact["impulse_ratio"].as_f64().unwrap() - 0.1).abs() <= 1e-9);

    for (args, words) in [
        (
            &["--free", "restitution.flor"][..],
            "no surface `flor`; did you mean `floor`",
        ),
        (&["--free", "friktion"], "did you mean `friction`"),
        (&["--law", "routh-poison"], "did you mean `routh-poisson`"),
    ] {
        let law: &[&str] = if args[0] == "--law" {
            &[]
        } else {
            &["--law", "routh"]
        };
        let out = folder.path().join("out");
        let end = ["--config", &config, "--out", out.to_str().unwrap()];
        let refused = carom(&[&["fit", &file], args, law, &end].concat(), "");
        let error = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{error}");
        assert!(
            error.contains(words) && error.lines().count() == 1,
            "{error}"
        );
        assert!(!out.exists());
    }
}
