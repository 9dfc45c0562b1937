//! Warnings of `carom run world`: in the record, on the terminal and on the page.

use crate::common::carom;
use serde_json::Value;

/// The warnings in the record of a world, which must also stand word for word on standard error, in the summary and on the page.
fn warnings(world: &str) -> (Value, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, out) = (place("world.toml"), place("out"));
    std::fs::write(&config, world).unwrap();
    let output = carom(&["run", "world", "--config", &config, "--out", &out], "");
    let [summary, error] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{error}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let record: Value = serde_json::from_str(&read("record.json")).unwrap();
    let list = record.get("warnings").and_then(Value::as_array);
    let texts: Vec<String> = list
        .into_iter()
        .flatten()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    let on_error: String = texts
        .iter()
        .map(|text| format!("carom: warning: {text}\n"))
        .collect();
    assert_eq!(error, on_error);
    let page = read("index.html");
    for text in &texts {
        assert!(summary.contains(&format!("warning: {text}\n")), "{summary}");
        assert!(page.contains(&format!("<strong>Warning:</strong> {text}</p>")));
    }
    (record, texts)
}

/// A rod of 1 kg between two round ends, one of which lies on a floor without friction; the other lands at `restitution`.
fn rod(restitution: f64) -> String {
    format!(
        r#"duration = 0.4
contact = {{ friction = 0.0, restitution = {restitution:?} }}
planes = [{{ name = "floor", normal = [0.0, 0.0, 1.0], offset = 0.0 }}]
[[bodies]]
name = "rod"
mass = 1.0
shape = {{ type = "capsule", radius = 0.01, half_length = 0.5 }}
position = [0.0, 0.0, 0.26]
quaternion = [0.8660254037844386, 0.0, -0.5, 0.0]
"#
    )
}

/// The landing loses its restitution, because the other end is at rest: 2.4517 J, the kinetic energy before it.
#[test]
fn a_landing_beside_a_point_at_rest_has_a_warning() {
    let (_, texts) = warnings(&rod(1.0));
    let [text] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    assert!(text.starts_with("at 0.2671 s "), "{text}");
    assert!(
        text.contains("`rod` landed on `floor` beside a point at rest"),
        "{text}"
    );
    assert!(text.ends_with("the impact took 2.4517 J"), "{text}");
    // Without restitution nothing is lost that the user asked for.
    assert_eq!(warnings(&rod(0.0)).1, [""; 0]);
}
