//! Configurations of all scenarios: defaults, overrides and faults.

use carom_scenarios::{Overrides, SCENARIOS, scenario};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn fault(name: &str, toml: &str) -> String {
    let overrides = Overrides {
        toml: toml.to_owned(),
        file: Some(PathBuf::from("my.toml")),
        ..Overrides::default()
    };
    let error = scenario(name).unwrap().run(&overrides).unwrap_err();
    assert!(error.is_configuration(), "{name}: {error}");
    error.to_string()
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<_> = SCENARIOS.iter().map(|s| s.name).collect();
    assert_eq!(names.len(), SCENARIOS.len());
}

/// Every key of the TOML that is shown is known, none is missing, and no other is taken.
#[test]
fn every_scenario_reads_its_own_toml_and_refuses_another_key() {
    for scenario in SCENARIOS {
        let text = fault(scenario.name, "\nno_such_key = 1");
        let expected = "my.toml: line 2, column 1: key `no_such_key`: unknown field";
        assert!(text.starts_with(expected), "{}: {text}", scenario.name);
    }
}

/// Clark & Bloch call the projected law plastic.
#[test]
fn the_law_of_a_penny_has_the_name_of_the_paper_too() {
    let run = |law: &str| {
        let overrides = Overrides {
            toml: format!("law = \"{law}\"\nimpacts = 3\n"),
            ..Overrides::default()
        };
        scenario("penny")
            .unwrap()
            .run(&overrides)
            .unwrap()
            .quantities
    };
    assert_eq!(run("plastic"), run("projected"));
    let error = fault("penny", "law = \"plastik\"");
    assert!(error.contains("unknown variant `plastik`"), "{error}");
}

#[test]
fn a_value_out_of_range_is_named_with_file_line_and_key() {
    for (name, toml, expected) in [
        (
            "newtons-cradle",
            "restitution = nan",
            "line 1, column 15: key `restitution`",
        ),
        (
            "newtons-cradle",
            "\nmasses = [1.0, -1.0]",
            "line 2, column 10: key `masses`",
        ),
        (
            "newtons-cradle",
            "velocities = [1.0]",
            "line 1, column 14: key `velocities`",
        ),
        (
            "rocking-block",
            "friction = -1.0",
            "line 1, column 12: key `friction`",
        ),
        (
            "bouncing-body",
            "[body.shape]\nsemi_axes = [1.0, 0.0, 1.0]",
            "line 1, column 1: key `body.shape`",
        ),
        (
            "bouncing-body",
            "[initial]\nrotation = [[2,0,0],[0,1,0],[0,0,1]]",
            "line 2, column 12: key `initial.rotation`",
        ),
        (
            "penny",
            "[table]\nsemi_axes = [0.1, -0.1]",
            "line 2, column 13: key `table.semi_axes`",
        ),
        (
            "penny",
            "[penny]\nmass = 0",
            "line 2, column 8: key `penny.mass`",
        ),
        ("penny", "impacts = 0", "line 1, column 11: key `impacts`"),
        (
            "zeno-block",
            "half_cycles = 61",
            "line 1, column 15: key `half_cycles`",
        ),
    ] {
        let text = fault(name, toml);
        assert!(
            text.starts_with(&format!("my.toml: {expected}")),
            "{name}: {text}"
        );
    }
}

/// A scene of a user's own is called as its file, unless the file has a title; another scenario keeps its summary.
#[test]
fn a_scene_without_a_title_is_called_as_its_file() {
    let named = |file: &str, name: &str, toml: &str| {
        let overrides = Overrides {
            toml: toml.to_owned(),
            file: Some(PathBuf::from(file)),
            ..Overrides::default()
        };
        scenario(name).unwrap().run(&overrides).unwrap().summary
    };
    let summary = |name: &str, toml: &str| named("some/where/two-balls_fall.toml", name, toml);
    let ball = "duration = 0.01\n[[bodies]]\nname = \"ball\"\nmass = 1.0\nposition = [0.0, 0.0, 2.0]\nshape = { type = \"sphere\", radius = 0.1 }";
    assert_eq!(summary("world", ball), "two balls fall");
    let world = scenario("world").unwrap().summary;
    // Names that are no titles.
    for file in ["two\nlines.toml", "-_.toml", &"long".repeat(60)] {
        assert_eq!(named(file, "world", ball), world);
    }
    let titled = format!("title = \"A fall\"\n{ball}");
    assert_eq!(summary("world", &titled), "A fall");
    let cradle = scenario("newtons-cradle").unwrap().summary;
    assert_eq!(summary("newtons-cradle", "restitution = 0.5"), cradle);
}
