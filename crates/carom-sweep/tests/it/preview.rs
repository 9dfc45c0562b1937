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
