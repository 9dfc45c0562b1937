//! Columns are looked up in a few answers before a sweep begins.

use carom_sweep::{Plan, RunOptions, SweepError, run};
use std::path::Path;

fn plan(columns: &str) -> Plan {
    let text = format!(
        "name = \"drop\"\n[problem]\nlaw = \"moreau-newton\"\nmass_matrix = [[2]]\nvelocity = [\"=-speed\"]\n\
         contacts = [{{ normal = [1], restitution = 0.5 }}]\n[axes]\nspeed = {{ linspace = [1, 2, 9] }}\n\
         [columns]\n{columns}"
    );
    Plan::from_toml(&text, Path::new(".")).unwrap()
}

fn refused(columns: &str) -> (usize, String) {
    match plan(columns).check_columns() {
        Err(SweepError::Plan { line, message, .. }) => (line, message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_path_that_no_answer_has_is_refused_with_its_neighbour() {
    let (line, message) = refused("v = \"/velocity_plus/0\"\ne = \"/enregy_plus_j\"\n");
    assert_eq!(line, 11);
    assert!(message.contains("`/enregy_plus_j`"), "{message}");
    assert!(
        message.contains("did you mean `/energy_plus_j`?"),
        "{message}"
    );
    let (_, message) = refused("e = { path = \"/velocity_plus/7\", type = \"f64\" }\n");
    assert!(message.contains("optional = true"), "{message}");
}

#[test]
fn optional_columns_and_ids_are_not_looked_up() {
    for columns in [
        "e = { path = \"/nothing\", optional = true }\n",
        "e = \"/energy_plus_j\"\n",
        "k = { path = \"/id\", type = \"str\" }\n",
        "r = \"energy_ratio\"\n",
        "",
    ] {
        plan(columns).check_columns().unwrap();
    }
}

#[test]
fn a_run_with_a_mistyped_column_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let done = run(
        &plan("e = \"/enregy_plus_j\"\n"),
        &out,
        &RunOptions::default(),
    );
    assert!(matches!(done, Err(SweepError::Plan { .. })));
    assert!(!out.exists());
}

#[test]
fn cells_without_answers_say_nothing_about_columns() {
    let text = "name = \"none\"\n[problem]\nlaw = \"moreau-newton\"\nmass_matrix = [[\"=m\"]]\nvelocity = [-1]\n\
                contacts = [{ normal = [1] }]\n[axes]\nm = { values = [-1.0, -2.0] }\n[columns]\ne = \"/nothing\"\n";
    let plan = Plan::from_toml(text, Path::new(".")).unwrap();
    plan.check_columns().unwrap();
}

/// A name that is neither a path nor derived: the path that was meant is suggested.
#[test]
fn a_path_without_its_slash_is_refused_with_the_path_that_was_meant() {
    let text = "name = \"column\"\n[problem]\nlaw = \"plastic\"\nmass_matrix = [[1, 0], [0, \"=mass\"]]\nvelocity = [0, -1]\n\
                contacts = [{ normal = [0.3, 1] }]\n[axes]\nmass = { linspace = [1.0, 2.0, 20] }\n[columns]\n";
    for (column, near) in [
        ("energy_plus", "; did you mean `/energy_plus_j`?"),
        ("energy_ratoi", "; did you mean `energy_ratio`?"),
        ("magic", "diameter"),
    ] {
        let text = format!("{text}energy = \"{column}\"\n");
        let error = Plan::from_toml(&text, Path::new(".")).unwrap_err();
        let SweepError::Plan {
            line, key, message, ..
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((line, key.as_str()), (10, "columns.energy"));
        assert!(message.ends_with(near), "{message}");
    }
}

/// Faults of a plan in a file name the file, also those that trial answers show; nothing is written.
#[test]
fn faults_that_a_trial_shows_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("axis.toml");
    let text = "name = \"axis\"\n[scenario]\nname = \"billiard-break\"\n[axes]\nangel = { values = [1.7, 1.9, 2.3] }\n\
                [columns]\nstatus = { path = \"/status\", type = \"str\" }\n";
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let plan = Plan::read(&file).unwrap();
        let error = plan.check_columns().unwrap_err().to_string();
        let out = folder.path().join("out");
        let again = run(&plan, &out, &RunOptions::default()).unwrap_err();
        assert_eq!((again.to_string(), out.exists()), (error.clone(), false));
        let name = file.display().to_string();
        error.strip_prefix(&name).unwrap().to_owned()
    };
    assert_eq!(
        refused(text),
        ": line 5, column 1: key `axes.angel`: unknown key `angel`; did you mean `angle`?"
    );
    let column = text.replace("angel", "angle").replace("/status", "/statis");
    let expected = ": line 7, column 12: key `columns.status.path`: no answer has `/statis`";
    let found = refused(&column);
    assert!(found.starts_with(expected), "{found}");
}
