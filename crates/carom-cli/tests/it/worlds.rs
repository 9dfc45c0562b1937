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

/// Balls in a row along `axis`, of which the first hits the others at 1 m/s; the law for several contacts, if any, is `law`.
fn row(masses: &[f64], axis: [f64; 3], restitution: f64, law: &str) -> String {
    let mut text = format!(
        "duration = 1.0\ngravity = [0.0, 0.0, 0.0]\n{law}\n\
         contact = {{ friction = 0.0, restitution = {restitution:?} }}\nplanes = []\n"
    );
    for (k, mass) in masses.iter().enumerate() {
        let (place, speed) = if k == 0 {
            (-0.5, 1.0)
        } else {
            (0.2 * (k - 1) as f64, 0.0)
        };
        let [position, velocity] = [place, speed].map(|s| axis.map(|x| s * x));
        text += &format!(
            "[[bodies]]\nname = \"ball {k}\"\nmass = {mass:?}\nshape = {{ type = \"sphere\", radius = 0.1 }}\n\
             position = {position:?}\nvelocity = {velocity:?}\n"
        );
    }
    text
}

/// Equal balls in a row along x.
fn cradle(balls: usize, restitution: f64, law: &str) -> String {
    row(&vec![1.0; balls], [1.0, 0.0, 0.0], restitution, law)
}

/// Rows of three to six balls along any axis, of any masses and restitution: one warning each, with a velocity for each ball.
#[test]
fn rows_of_balls_along_any_axis_say_that_the_law_decides() {
    let rows: [(&[f64], [f64; 3], f64); 4] = [
        (&[1.0, 2.0, 0.5], [0.0, 1.0, 0.0], 0.9),
        (&[1.0; 4], [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0], 0.5),
        (&[0.3, 4.0, 1.0, 1.0, 2.5], [0.0, 0.6, -0.8], 1.0),
        (&[1.0; 6], [0.48, 0.64, 0.6], 0.75),
    ];
    for (masses, axis, restitution) in rows {
        let (_, texts) = warnings(&row(masses, axis, restitution, ""));
        let [text] = texts.as_slice() else {
            panic!("{masses:?}: {texts:?}");
        };
        let (_, told) = text.split_once("`propagative` answers ").unwrap();
        let (told, _) = told.split_once(" (law.several)").unwrap();
        assert_eq!(told.split(", ").count(), masses.len(), "{text}");
    }
}

/// Balls in a row without loss hand a blow on.
#[test]
fn a_cradle_without_loss_hands_its_velocity_on() {
    for balls in 3..=5 {
        let (record, texts) = warnings(&cradle(balls, 1.0, ""));
        assert_eq!(texts, [""; 0]);
        assert_eq!(record["impacts"][0]["law"], "propagative");
        for ball in 0..balls {
            let speed = record["final"][ball]["velocity"][0].as_f64().unwrap();
            let wanted = f64::from(u8::from(ball == balls - 1));
            assert!((speed - wanted).abs() < 1e-12, "{ball}: {speed}");
        }
    }
}

/// Three balls, of which two touch: `poisson` and `propagative` answer otherwise, and the run says so. It is silent where a law
/// is named, or where the laws agree.
#[test]
fn a_cradle_says_that_the_law_decides() {
    let (record, texts) = warnings(&cradle(3, 0.9, ""));
    let [text] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    assert!(
        text.starts_with("at 0.3 s one contact closed while another touched: "),
        "{text}"
    );
    assert!(
        text.contains("`poisson` answered -0.27, 0.63, 0.63 m/s"),
        "{text}"
    );
    assert!(
        text.contains("`propagative` answers 0.03, 0.03, 0.93 (law.several)"),
        "{text}"
    );
    let speed = record["final"][0]["velocity"][0].as_f64().unwrap();
    assert!((speed + 0.8 / 3.0).abs() < 1e-12);
    for silent in [
        cradle(3, 1.0, "law = { several = \"poisson\" }"),
        cradle(3, 1.0, "law = { several = \"propagative\" }"),
        cradle(3, 0.0, ""),
        cradle(2, 1.0, ""),
    ] {
        assert_eq!(warnings(&silent).1, [""; 0]);
    }
}

/// Files below a folder, by their paths in it.
fn files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(files(&path).iter().map(|file| format!("{name}/{file}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Two laws side by side: each folder has the bytes of the single run, and the first difference is the cradle's impact.
#[test]
fn two_laws_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, out, single) = (place("world.toml"), place("out"), place("single"));
    std::fs::write(&config, cradle(3, 1.0, "")).unwrap();
    let laws = ["--law", "propagative,poisson", "--out", &out];
    // The second time it replaces its own folder.
    for _ in 0..2 {
        let output = carom(&[&["run", config.as_str()][..], &laws].concat(), "");
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(
            told.contains("the runs differ first at 0.3 s: ball 0, ball 1, ball 2 (propagative)"),
            "{told}"
        );
    }
    let set = [
        "run",
        &config,
        "--set",
        "law.several=poisson",
        "--out",
        &single,
    ];
    assert_eq!(carom(&set, "").status.code(), Some(0));
    let read = |path: String| std::fs::read(path).unwrap();
    assert_eq!(
        read(place("single/record.json")),
        read(place("out/poisson/record.json"))
    );
    let compared: Value = serde_json::from_slice(&read(place("out/compare.json"))).unwrap();
    let runs = compared["runs"].as_array().unwrap();
    assert_eq!(
        (&runs[0]["label"], &runs[0]["status"]),
        (&"propagative".into(), &"completed".into())
    );
    assert_eq!(runs[1]["set"], "law.several=poisson");
    assert!((compared["first_difference"]["time"].as_f64().unwrap() - 0.3).abs() < 1e-12);
    let page = String::from_utf8(read(place("out/index.html"))).unwrap();
    assert_eq!(page.matches("class=\"player\"").count(), 2);
    assert!(page.contains("propagative/index.html") && page.contains("ball 0, poisson"));
    let names = files(std::path::Path::new(&out));
    assert_eq!(
        names
            .iter()
            .filter(|name| name.ends_with("/record.json"))
            .count(),
        2,
        "{names:?}"
    );
    assert_eq!(names.len(), 10, "{names:?}");
}

/// Two balls make one contact, which no law for several contacts sees: the runs are equal, and this is said.
#[test]
fn runs_that_come_out_equal_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("world.toml");
    std::fs::write(&config, cradle(2, 1.0, "")).unwrap();
    let laws = ["--law", "propagative,poisson"];
    let output = carom(
        &[&["run", config.to_str().unwrap()][..], &laws].concat(),
        "",
    );
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("the runs are equal: no event and no quantity differs by more than 1e-9"),
        "{told}"
    );
}

/// Faults of a comparison are one line that names key or value, and nothing is written.
#[test]
fn faults_of_a_comparison_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, out) = (place("world.toml"), place("out"));
    std::fs::write(&config, cradle(3, 1.0, "")).unwrap();
    for (flag, value, named) in [
        ("--law", "propagative", "law.several"),
        ("--law", "poisson,poisson", "`poisson` is there twice"),
        ("--law", "poisson,poison", "poison"),
        (
            "--compare",
            "contact.restitution=0.5,0.50",
            "`0.50` is there twice",
        ),
        ("--compare", "contact.restitutio=0.5,0.6", "restitutio"),
        ("--compare", "contact.restitution=0.5,7", "7"),
        ("--compare", "contact.restitution", "key.path=A,B"),
        (
            "--compare",
            "contact.restitution=0,.1,.2,.3,.4,.5,.6",
            "7 values",
        ),
    ] {
        let output = carom(&["run", &config, flag, value, "--out", &out], "");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{value}: {error}");
        assert!(
            error.contains(named) && error.lines().count() == 1,
            "{error}"
        );
        assert!(output.stdout.is_empty() && !folder.path().join("out").exists());
    }
}

/// Pendulums in a row that touch, of which the first swings against the others.
fn pendulums(count: usize, law: &str) -> String {
    let mut text = format!(
        "duration = 0.8\ncontact = {{ friction = 0.0, restitution = 1.0 }}\nplanes = []\n{law}\n"
    );
    for k in 0..count {
        let angle = if k == 0 { 0.5 } else { 0.0 };
        text += &format!(
            "[[bodies]]\nname = \"ball {k}\"\nmass = 1.0\nshape = {{ type = \"sphere\", radius = 0.1 }}\n\
             [[joints]]\nname = \"string {k}\"\ntype = \"revolute\"\nparent = \"ground\"\nchild = \"ball {k}\"\n\
             axis = [0.0, 1.0, 0.0]\nparent_frame = {{ position = [{:?}, 0.0, 1.0] }}\n\
             child_frame = {{ position = [0.0, 0.0, 1.0] }}\nposition = {angle:?}\n",
            0.2 * k as f64
        );
    }
    text
}

/// Newton's cradle of jointed bodies: the velocities at which its contacts part differ.
#[test]
fn a_cradle_of_pendulums_says_that_the_law_decides() {
    let (_, texts) = warnings(&pendulums(3, ""));
    let [text] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    let told = "touched: as speeds between the bodies `poisson` answered 1.55, 0 m/s, `propagative` answers 0, 1.55 (law.several)";
    assert!(text.ends_with(told), "{text}");
    for silent in [
        pendulums(2, ""),
        pendulums(3, "law = { several = \"poisson\" }"),
    ] {
        assert_eq!(warnings(&silent).1, [""; 0]);
    }
}
