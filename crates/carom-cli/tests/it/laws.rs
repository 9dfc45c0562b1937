//! The front door: laws, names, help, completions.

use crate::common::{answers, carom};
use carom::impact::LAWS;

fn stdout(args: &[&str]) -> String {
    let output = carom(args, "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_law_is_listed_and_its_example_is_answered_as_itself() {
    let table = stdout(&["laws"]);
    for law in LAWS {
        assert!(table.lines().any(|line| line.starts_with(law.name)));
        let details = stdout(&["laws", law.name]);
        for option in law.options {
            assert!(details.contains(option.key), "{details}");
        }
        let example = details.lines().last().unwrap();
        let output = carom(&["resolve"], example);
        let answer = answers(&output).remove(0);
        assert_eq!(answer["law"], law.name, "{answer}");
        assert!(
            answer["status"] == "resolved" || answer["status"] == "separating",
            "{answer}"
        );
    }
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    for (args, name) in [
        (vec!["laws", "moreau-newtn"], "`moreau-newton`"),
        (vec!["run", "newton-cradle"], "`newtons-cradle`"),
        (vec!["show", "bouncing-boddy"], "`bouncing-body`"),
    ] {
        let output = carom(&args, "");
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.contains("did you mean") && message.contains(name),
            "{message}"
        );
    }
    let line = r#"{"law":"plastik","mass_matrix":[[1]],"velocity":[1],"contacts":[]}"#;
    let answer = answers(&carom(&["resolve"], line)).remove(0);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("did you mean `plastic`?"), "{message}");
}

#[test]
fn help_shows_the_keys_of_a_line_and_one_that_works() {
    for (name, key) in [
        ("resolve", "mass_matrix"),
        ("judge", "velocity_plus"),
        ("lcp", "max_pivots"),
    ] {
        let help = stdout(&[name, "--help"]);
        assert!(help.contains(key), "{help}");
        let example = help.lines().rfind(|line| line.starts_with('{')).unwrap();
        let output = carom(&[name], example);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn shells_and_the_manual_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["completions", shell]);
        assert!(
            script.contains("resolve") && script.contains("laws"),
            "{shell}"
        );
    }
    let page = stdout(&["man"]);
    assert!(
        page.starts_with(".ie") && page.contains("completions"),
        "{page}"
    );
}

/// `carom-sweep-run(1)` in a page is the file `carom-sweep-run.1`, and `carom man sweep run` prints it.
#[test]
fn a_page_of_the_manual_names_only_pages_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man/man1");
    assert_eq!(stdout(&["man", "--out", out.to_str().unwrap()]), "");
    let mut pages = 0;
    for entry in std::fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().replace("\\-", "-");
        let named = text
            .split("(1)")
            .filter_map(|before| before.split_whitespace().last());
        for name in named.filter(|name| name.starts_with("carom")) {
            assert!(out.join(format!("{name}.1")).exists(), "{path:?}: {name}");
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let mut args = vec!["man"];
        args.extend(name.split('-').skip(1));
        assert_eq!(stdout(&args).replace("\\-", "-"), text, "{name}");
        pages += 1;
    }
    assert!(pages >= 20, "{pages}");
    for (wrong, told) in [
        (
            &["man", "swep"][..],
            "no command `swep`; did you mean `sweep`?",
        ),
        (
            &["man", "--out", "Cargo.toml"],
            "cannot write into Cargo.toml",
        ),
    ] {
        let output = carom(wrong, "");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.contains(told) && error.lines().count() == 1,
            "{error}"
        );
    }
}

#[test]
fn the_list_fits_a_terminal_and_is_grouped_by_question() {
    let list = stdout(&["list"]);
    for line in list.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    for scenario in carom::scenarios::SCENARIOS {
        let name = format!("  {} ", scenario.name);
        assert!(list.lines().any(|line| line.starts_with(&name)), "{name}");
    }
    let own = "Bodies, a robot or a mechanism of my own\n  world ";
    assert!(list.starts_with(own), "{list}");
    assert!(list.contains("\n\nWhat does friction decide?\n"), "{list}");
}

#[test]
fn the_list_is_searched_by_words_and_figures() {
    let figure = stdout(&["list", "Fig.", "5"]);
    assert_eq!(figure, stdout(&["list", "Figure 5"]));
    assert!(figure.contains("  billiard-break "), "{figure}");
    let one = stdout(&["list", "Seghete", "Fig.", "5"]);
    assert!(one.starts_with("  billiard-break "), "{one}");
    let many = stdout(&["list", "impact"]);
    let is_row = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    assert_eq!(many.lines().filter(is_row).count(), 20, "{many}");
    assert!(many.lines().last().unwrap().starts_with("and "), "{many}");
    let beyond = stdout(&["list", "Slurm"]);
    assert!(beyond.contains("chapter Sweeps"), "{beyond}");
    assert_eq!(stdout(&["list", "Slurm", "--json"]), "[]\n");
    let nowhere = carom(&["list", "xyzzy"], "");
    assert_eq!(nowhere.status.code(), Some(2), "{nowhere:?}");
    assert!(nowhere.stdout.is_empty(), "{nowhere:?}");

    let json =
        |args: &[&str]| -> serde_json::Value { serde_json::from_str(&stdout(args)).unwrap() };
    let all = json(&["list", "--json"]);
    assert_eq!(
        all.as_array().unwrap().len(),
        carom::scenarios::SCENARIOS.len()
    );
    let one = json(&["list", "billiard-break", "--json"]);
    assert_eq!(one[0]["figures"], serde_json::json!(["Fig. 4", "Fig. 5"]));
    assert_eq!(
        one[0]["question"],
        "Does it matter which contact is hit first?"
    );
    assert!(
        one[0]["title"]
            .as_str()
            .unwrap()
            .starts_with("A ball hits two"),
        "{one}"
    );
}

/// The chapters that the list names are those of the book.
#[test]
fn the_list_names_chapters_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let summary = std::fs::read_to_string(root.join("SUMMARY.md")).unwrap();
    for word in ["Slurm", "JUnit", "notebook"] {
        let list = stdout(&["list", word]);
        let chapters: Vec<&str> = list
            .lines()
            .filter(|line| line.contains(" chapter "))
            .collect();
        assert!(!chapters.is_empty(), "{list}");
        for line in chapters {
            let (title, file) = line.split_once("docs/src/").unwrap();
            let title = title.trim().trim_start_matches("chapter ");
            assert!(summary.contains(&format!("[{title}]({file})")), "{line}");
        }
    }
}

#[test]
fn quiet_runs_write_files_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    assert_eq!(
        stdout(&["run", "newtons-cradle", "--quiet", "--out", out]),
        ""
    );
    assert!(folder.path().join("record.json").exists());
}
