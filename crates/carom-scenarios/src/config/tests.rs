use super::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Config {
    masses: Positive<Vec<f64>>,
    restitution: Fraction,
    samples: Count<2, 10>,
    name: String,
    limit: Option<usize>,
    place: [f64; 2],
    shape: Shape,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
#[allow(dead_code)]
enum Shape {
    Disk { radius: f64 },
    Square { side: f64 },
}

const TOML: &str = "\
masses = [1.0]
restitution = 0.5
samples = 3
name = \"a\"
place = [1.0, 2.0]

[shape]
type = \"disk\"
radius = 1.0
";

fn read(toml: &str, assignments: &[&str]) -> Result<(Config, serde_json::Value), String> {
    let overrides = Overrides {
        toml: toml.to_owned(),
        file: Some(PathBuf::from("my.toml")),
        assignments: assignments.iter().map(|s| (*s).to_owned()).collect(),
        ..Overrides::default()
    };
    let input = Input::new("test", TOML, &overrides).map_err(|error| error.to_string())?;
    let (config, record) = input.begin().map_err(|error| error.to_string())?;
    Ok((config, record.parameters))
}

fn parameters(toml: &str, assignments: &[&str]) -> String {
    read(toml, assignments).map_or_else(|fault| fault, |(_, parameters)| parameters.to_string())
}

fn fault(toml: &str, assignments: &[&str]) -> String {
    read(toml, assignments).map_or_else(|fault| fault, |_| "no fault".to_owned())
}

#[test]
fn assignments_come_after_the_file_and_bare_words_are_strings() {
    let read = parameters("masses = [2.0]", &["masses=[3, 4.5]", "name=word"]);
    let expected = r#"{"masses":[3.0,4.5],"restitution":0.5,"samples":3,"name":"word","place":[1.0,2.0],"shape":{"type":"disk","radius":1.0}}"#;
    assert_eq!(read, expected);
}

#[test]
fn a_title_is_taken_from_the_file_alone() {
    let input = |toml: &str| {
        let overrides = Overrides {
            toml: toml.to_owned(),
            ..Overrides::default()
        };
        let input = Input::new("any", "mass = 1.0", &overrides);
        input.map(|input| (input.title.clone(), input.value.json().to_string()))
    };
    let titled = input("title = \" A ball \"\nmass = 2.0").unwrap();
    let expected = (Some("A ball".to_owned()), r#"{"mass":2.0}"#.to_owned());
    assert_eq!(titled, expected);
    assert_eq!(input("mass = 2.0").unwrap().0, None);
    for bad in ["title = 3", "title = \"\"", "title = \"a\\nb\""] {
        let text = input(bad).unwrap_err().to_string();
        assert!(text.contains("line 1, column 1: key `title`"), "{text}");
    }
}

#[test]
fn an_element_of_a_list_can_be_set_alone() {
    let read = parameters("masses = [2.0, 3.0]", &["masses.1=7"]);
    assert!(read.contains(r#""masses":[2.0,7.0]"#), "{read}");
    let text = fault("", &["masses.1=7"]);
    assert!(text.contains("--set masses.1=7"), "{text}");
    assert!(text.contains("list of 1"), "{text}");
}

#[test]
fn one_key_of_a_table_can_be_set_alone_and_another_type_starts_afresh() {
    let read = parameters("", &["shape.radius=2"]);
    assert!(read.contains(r#"{"type":"disk","radius":2.0}"#), "{read}");
    let read = parameters("[shape]\nradius = 4.0", &[]);
    assert!(read.contains(r#"{"type":"disk","radius":4.0}"#), "{read}");
    let file = "[shape]\ntype = \"square\"\nside = 1.0";
    let read = parameters(file, &["shape.side=3"]);
    assert!(read.contains(r#"{"type":"square","side":3.0}"#), "{read}");
    let read = parameters("", &["shape.side=3", "shape.type=square"]);
    // No default says that the side is a length, so the number stays as it was given.
    assert!(read.contains(r#"{"type":"square","side":3}"#), "{read}");
}

#[test]
fn a_fault_of_type_or_range_in_the_file_is_named_with_its_place() {
    for (toml, expected) in [
        (
            "name = \"x\"\nmass = 1",
            "my.toml: line 2, column 1: key `mass`: unknown field",
        ),
        (
            "masses = [1.0, \"x\"]",
            "my.toml: line 1, column 16: key `masses[1]`: invalid type",
        ),
        (
            "\nrestitution = nan",
            "my.toml: line 2, column 15: key `restitution`: NaN must be finite",
        ),
        (
            "restitution = 1.5",
            "my.toml: line 1, column 15: key `restitution`: 1.5 must lie between",
        ),
        (
            "masses = [1.0,\n  0.0]",
            "my.toml: line 1, column 10: key `masses`: 0 must be positive",
        ),
        (
            "samples = 11",
            "key `samples`: 11 must lie between 2 and 10",
        ),
        (
            "samples = -1",
            "line 1, column 11: key `samples`: invalid value",
        ),
        (
            "[shape]\nradius = inf",
            "line 2, column 10: key `shape.radius`: inf must be finite",
        ),
        (
            "place = [1.0]",
            "line 1, column 9: key `place`: invalid length 1",
        ),
        (
            "place = [1, 2, 3]",
            "key `place`: 3 entries where 2 are expected",
        ),
        ("restitution = = 1", "my.toml: line 1, column 15: "),
    ] {
        let text = fault(toml, &[]);
        assert!(text.contains(expected), "{toml}: {text}");
    }
}

#[test]
fn a_fault_in_an_assignment_is_named_with_it() {
    for (assignment, expected) in [
        ("massess=1", "--set massess=1: key `massess`: unknown field"),
        (
            "restitution=nan",
            "--set restitution=nan: key `restitution`: NaN must be finite",
        ),
        ("masses", "--set masses: expected key.path=value"),
        (
            "name.first=1",
            "--set name.first=1: `first` is a part of what has no parts",
        ),
        ("=1", "--set =1: empty key"),
    ] {
        let text = fault("", &["samples=4", assignment]);
        assert!(text.starts_with(expected), "{assignment}: {text}");
    }
}

#[test]
fn an_error_about_a_key_finds_the_place_of_the_key() {
    let overrides = Overrides {
        toml: "\n[shape]\nradius = 3.0".to_owned(),
        ..Overrides::default()
    };
    let input = Input::new("test", TOML, &overrides).unwrap();
    let text = |key| input.locate(ScenarioError::value(key, "no")).to_string();
    assert_eq!(
        text("shape.radius"),
        "line 3, column 10: key `shape.radius`: no"
    );
    assert_eq!(text("masses[0]"), "key `masses[0]`: no");
    assert!(input.is_given("shape.radius") && !input.is_given("masses"));
    assert!(!input.is_default_but_for(&[]) && input.is_default_but_for(&["shape"]));
}
