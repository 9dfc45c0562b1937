//! `carom run world` with a URDF.

use crate::common::carom;
use serde_json::Value;
use std::fmt::Write;

const ROBOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/robots");

/// Exit status, stdout and stderr of a world with a robot.
fn run(urdf: &str, config: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.toml");
    std::fs::write(&path, config).unwrap();
    let robot = if urdf.starts_with('<') {
        let robot = folder.path().join("robot.urdf");
        std::fs::write(&robot, urdf).unwrap();
        robot.to_str().unwrap().to_owned()
    } else {
        format!("{ROBOTS}/{urdf}")
    };
    let config = path.to_str().unwrap();
    let arguments = [
        "run", "world", "--config", config, "--urdf", &robot, "--json",
    ];
    let output = carom(&arguments, "");
    let [out, error] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
    (output.status.code(), out, error)
}

fn record(urdf: &str, config: &str) -> Value {
    let (status, out, error) = run(urdf, config);
    assert_eq!(status, Some(0), "{error}");
    serde_json::from_str(&out).unwrap()
}

fn close(found: &Value, expected: &Value, tolerance: f64) {
    match (found, expected) {
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(x, y)| close(x, y, tolerance));
        }
        _ => {
            let (x, y) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((x - y).abs() <= tolerance, "{x} {y}");
        }
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|x| x.as_f64().unwrap()).collect()
}

/// A vector turned by a unit quaternion w, x, y, z.
fn turned(q: &[f64], v: &[f64]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        let at = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
        [at(1, 2), at(2, 0), at(0, 1)]
    };
    let (axis, v) = ([q[1], q[2], q[3]], [v[0], v[1], v[2]]);
    let once = cross(axis, v);
    let twice = cross(axis, once);
    std::array::from_fn(|k| v[k] + 2.0 * (q[0] * once[k] + twice[k]))
}

/// MuJoCo's answers: an arm on a base without mass; a dog that floats, whose MJCF has the same masses and rotors besides.
#[test]
fn poses_velocities_and_energies_are_those_of_mujoco() {
    let answers = std::fs::read_to_string(format!("{ROBOTS}/answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    // Moment of inertia of the rotors in `dog.xml`, of which its URDF has none (kg m^2).
    for (name, of, armature) in [
        ("arm.urdf", "arm.urdf", 0.0),
        ("dog.urdf", "dog.xml", 0.004),
    ] {
        for state in answers[of]["states"].as_array().unwrap() {
            let mut config = "duration = 0.0\ncontact = { friction = 0.5, restitution = 0.0, self = false }\n[urdf]\n"
                .to_owned();
            let (mut tables, mut rotors) = ([String::new(), String::new()], 0.0);
            for joint in state["joints"].as_array().unwrap() {
                let (q, v) = (numbers(&joint["position"]), numbers(&joint["velocity"]));
                if joint["type"] == "free" {
                    let spin = turned(&q[3..], &v[3..]);
                    let keys = ["position", "quaternion", "velocity", "angular_velocity"];
                    for (key, list) in keys.iter().zip([&q[..3], &q[3..], &v[..3], &spin]) {
                        writeln!(config, "{key} = {list:?}").unwrap();
                    }
                    continue;
                }
                for (table, x) in tables.iter_mut().zip([q[0], v[0]]) {
                    write!(table, "{} = {x:?}, ", joint["name"]).unwrap();
                }
                rotors += 0.5 * armature * v[0] * v[0];
            }
            for (key, table) in ["joints", "velocities"].iter().zip(&tables) {
                writeln!(config, "{key} = {{ {} }}", table.trim_end_matches(", ")).unwrap();
            }
            let record = record(name, &config);
            let finals = record["final"].as_array().unwrap();
            for body in state["bodies"].as_array().unwrap() {
                let found = finals.iter().find(|f| f["body"] == body["name"]).unwrap();
                close(&found["position"], &body["center"], 1e-12);
                close(&found["velocity"], &body["velocity"], 1e-12);
                close(&found["angular_velocity"], &body["angular_velocity"], 1e-12);
            }
            let [potential, kinetic] =
                ["potential_j", "kinetic_j"].map(|key| state[key].as_f64().unwrap());
            let total = potential + kinetic - rotors;
            close(&record["energy"]["initial_j"], &total.into(), 1e-11);
        }
    }
}

/// A link of two welded parts, a hinge with everything, and a cylinder.
const CRANE: &str = r#"<robot name="crane">
  <link name="base"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="tip"/>
  <link name="weight"><inertial><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.25"/></inertial></link>
  <link name="boom"><inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.1" iyy="0.3" izz="0.3"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
    <collision><geometry><mesh filename="package://crane/gone.stl"/></geometry></collision></link>
  <joint name="weld" type="fixed"><parent link="boom"/><child link="weight"/></joint>
  <joint name="eye" type="fixed"><parent link="weight"/><child link="tip"/></joint>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="boom"/><origin xyz="0 0 1"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="1" effort="7" velocity="2"/><dynamics damping="0.5" friction="0.1"/></joint>
  <transmission name="t"/>
</robot>"#;

/// Links on `fixed` joints are one body: its mass, center and turned inertia by hand; what is left out has its name.
#[test]
fn links_that_are_welded_are_one_body() {
    let config = "duration = 0.0\n[urdf]\nposition = [0.0, 0.0, 2.0]\nangular_velocity = [0.0, 0.0, 2.0]\n\
                  actuators = { hinge = { type = \"constant\", value = 9.0 } }\n";
    let record = record(CRANE, config);
    assert_eq!(record["bodies"], serde_json::json!(["base", "boom"]));
    let merged: Vec<&str> = record["merged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["link"].as_str().unwrap())
        .collect();
    assert_eq!(merged, ["weight", "tip"]);
    // The center of 2 kg at 0.5 m and 1 kg at 1 m, on a hinge at (0, 0, 3).
    let boom = &record["final"][1];
    close(
        &boom["position"],
        &serde_json::json!([2.0 / 3.0, 0.0, 3.0]),
        1e-15,
    );
    // The whole turns about z: 0.1 + 0.3 + 0.25 + 2 (0.5)² + 1 (1)².
    let gravity = 9.80665 * (3.0 * 2.0 + 3.0 * 3.0);
    let kinetic = 0.5 * (0.1 + 0.3 + 0.25 + 0.5 + 1.0) * 4.0;
    close(
        &record["energy"]["initial_j"],
        &(gravity + kinetic).into(),
        1e-12,
    );
    // The actuator pushes with the effort of the joint.
    let row = record["joint_trajectory"]["rows"][0].as_array().unwrap();
    close(row.last().unwrap(), &7.0.into(), 0.2);
    let ignored = record["ignored"].as_array().unwrap();
    for what in ["limit velocity `hinge`", "transmission `t`", "mesh `boom`"] {
        let named = |note: &Value| note.as_str().unwrap().starts_with(what);
        assert!(ignored.iter().any(named), "{what}: {ignored:?}");
    }
}

/// Each fault is one line that names key, file and reason, with status 2 and nothing on stdout.
#[test]
fn faults_of_a_urdf_have_words() {
    let changed = |from: &str, to: &str| {
        assert!(CRANE.contains(from), "{from}");
        CRANE.replace(from, to)
    };
    let faults = [
        (
            changed("<robot", "<model").replace("</robot", "</model"),
            "",
            "its root element is `model`",
        ),
        (
            changed("<parent link=\"base\"/>", "<parent link=\"b\"/>"),
            "",
            "no link is called `b`",
        ),
        (
            changed("<mass value=\"3\"/>", "<mass value=\"x\"/>"),
            "",
            "line 2: `value`",
        ),
        (
            changed("type=\"revolute\"", "type=\"floating\""),
            "",
            "`floating` are not supported",
        ),
        (
            changed("<mass value=\"2\"/>", "<mass value=\"0\"/>")
                .replace("<mass value=\"1\"/>", "<mass value=\"0\"/>"),
            "",
            "the link `boom` moves and has no mass",
        ),
        (
            changed("child link=\"tip\"", "child link=\"boom\""),
            "",
            "is the child of two joints",
        ),
        (
            changed("<mass value=\"2\"/>", "<mass value=\"-2\"/>"),
            "",
            "the mass -2 of the link `boom` is negative",
        ),
        (
            changed("lower=\"-1\" upper=\"1\"", "lower=\"1\" upper=\"-1\""),
            "",
            "joint `hinge`: the limit `lower` = 1 is above `upper` = -1",
        ),
        (
            changed("effort=\"7\"", "effort=\"-7\""),
            "",
            "joint `hinge`: `effort` = -7 is negative",
        ),
        (
            changed("<joint name=\"eye\"", "<joint name=\"weld\""),
            "",
            "two joints are called `weld`",
        ),
        (
            changed("type=\"revolute\"", "type=\"planar\""),
            "joints = { hinge = 0.1 }",
            "the joint `hinge` is planar",
        ),
        (
            CRANE.to_owned(),
            "joints = { knee = 0.1 }",
            "urdf.joints.knee",
        ),
        (
            CRANE.to_owned(),
            "base = \"fixed\"\nvelocity = [1.0, 0.0, 0.0]",
            "the root link is fixed",
        ),
        (CRANE.to_owned(), "joints = { hinge = 2.0 }", "hinge"),
        ("<robot".to_owned(), "", "urdf.file"),
    ];
    for (urdf, keys, words) in faults {
        let (status, out, error) = run(&urdf, &format!("duration = 0.0\n[urdf]\n{keys}\n"));
        assert_eq!((status, out.as_str()), (Some(2), ""), "{words}: {error}");
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    }
}

/// Limits and efforts that do not limit have their names, and no pair is left out that would not touch anyway.
#[test]
fn limits_without_effect_have_names() {
    let urdf = CRANE
        .replace("type=\"revolute\"", "type=\"continuous\"")
        .replace("effort=\"7\"", "effort=\"0\"")
        .replacen(
            "</inertial>",
            "</inertial><collision><geometry><sphere radius=\"0.1\"/></geometry></collision>",
            1,
        );
    let record = record(&urdf, "duration = 0.0\n[urdf]\n");
    let ignored = record["ignored"].as_array().unwrap();
    let count = |what: &str| {
        let named = |note: &&Value| note.as_str().unwrap().starts_with(what);
        ignored.iter().filter(named).count()
    };
    assert_eq!(count("limit `hinge`"), 1, "{ignored:?}");
    assert_eq!(count("limit effort `hinge`"), 1, "{ignored:?}");
    // Its cylinder touches as every shape does.
    assert_eq!(count("contact"), 0, "{ignored:?}");
}

/// A root link without mass is the ground, and so is what is fixed to it; a base that floats takes the mass of that.
#[test]
fn a_root_link_without_mass_is_the_ground_unless_it_floats() {
    let urdf = CRANE.replacen(
        "<link name=\"base\">",
        "<link name=\"world\"/><joint name=\"mount\" type=\"fixed\"><parent link=\"world\"/><child link=\"base\"/></joint><link name=\"base\">",
        1,
    );
    assert_ne!(urdf, CRANE);
    for (keys, floats) in [("", false), ("base = \"floating\"", true)] {
        let record = record(&urdf, &format!("duration = 0.1\n[urdf]\n{keys}\n"));
        let carried = numbers(&record["momentum"]["supports"]["ground"]);
        assert_eq!(carried == [0.0; 3], floats, "{keys} {carried:?}");
        let mobile = record["final"].as_array().unwrap().len();
        assert_eq!(mobile, 1 + usize::from(floats));
    }
}

/// Four links in a row of which each is as long as two: every pair but the first and the last overlaps.
const SCALES: &str = r#"<robot name="scales">
  <link name="a"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="c"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="d"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <joint name="ab" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3"/></joint>
  <joint name="bc" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3"/></joint>
  <joint name="cd" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3"/></joint>
</robot>"#;

/// Pairs of one robot that overlap at the start never touch, and have their names in `ignored`; other pairs of the robot do.
#[test]
fn links_that_overlap_at_the_start_do_not_touch_each_other() {
    let world = "duration = 0.3\ngravity = [0.0, 0.0, 0.0]\ncontact = { friction = 0.3, restitution = 1.0 }\n";
    // The ends swing towards each other.
    let config = format!("{world}[urdf]\nvelocities = {{ ab = -12.0, cd = -12.0 }}\n");
    let found = record(SCALES, &config);
    let ignored = found["ignored"].as_array().unwrap();
    let overlaps: Vec<&str> = ignored
        .iter()
        .map(|note| note.as_str().unwrap())
        .filter(|note| note.contains("overlap"))
        .collect();
    assert_eq!(
        overlaps,
        [
            "contact `a - c`: they overlap at the start",
            "contact `b - d`: they overlap at the start"
        ]
    );
    let pair = &found["impacts"][0]["contacts"][0];
    let names: Vec<&str> = ["first", "second"]
        .iter()
        .filter_map(|key| pair[key].as_str())
        .collect();
    assert_eq!(names, ["a", "d"], "{pair}");

    // With joined links that may touch each other, three pairs more.
    let config = config.replace("restitution = 1.0", "restitution = 1.0, adjacent = true");
    let found = record(SCALES, &config);
    let ignored = found["ignored"].as_array().unwrap();
    assert_eq!(ignored.len(), 5, "{ignored:?}");
    // A pair that the user gives overlaps as before, and so do bodies of others and planes.
    for more in [
        "[[pairs]]\nbetween = [\"a\", \"c\"]\nfriction = 0.1\n",
        "[[planes]]\nname = \"floor\"\nnormal = [0.0, 0.0, 1.0]\noffset = 0.1\n",
        "[[bodies]]\nname = \"ball\"\nmass = 1.0\nshape = { type = \"sphere\", radius = 0.1 }\nposition = [0.0, 0.0, 0.0]\n",
    ] {
        let (status, out, error) = run(SCALES, &format!("{config}{more}"));
        assert_eq!((status, out.as_str()), (Some(2), ""), "{error}");
        assert!(error.contains("overlap"), "{error}");
    }
}

/// The first robot of the book: in free fall motors and joints at rest have no work to do, and four feet land at once.
#[test]
fn the_quadruped_of_the_book_lands_on_its_feet() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/robots");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
    let config = read("drop.toml").replace("duration = 1.5", "duration = 0.3");
    let record = record(&read("quadruped.urdf"), &config);
    assert_eq!(record["status"], "completed", "{record}");
    let first = &record["impacts"][0];
    let gap = 0.65 - 0.4 * 0.6_f64.cos() - 0.025;
    close(&first["time"], &(2.0 * gap / 9.80665).sqrt().into(), 1e-9);
    assert_eq!(first["contacts"].as_array().unwrap().len(), 4, "{first}");
}

/// A box of 0.2 m, 0.2 m and 0.1 m without its lid, as the text of an STL file.
fn tray() -> String {
    let corner = |k: usize| [(k & 1, 0.1), (k >> 1 & 1, 0.1), (k >> 2, 0.05)];
    // Two triangles for each face but the one at the top.
    let triangles = [
        [0, 2, 3],
        [0, 3, 1],
        [0, 1, 5],
        [0, 5, 4],
        [3, 2, 6],
        [3, 6, 7],
        [2, 0, 4],
        [2, 4, 6],
        [1, 3, 7],
        [1, 7, 5],
    ];
    let mut text = "solid tray\n".to_owned();
    for triangle in triangles {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in triangle.map(corner) {
            let at = |(upper, half): (usize, f64)| if upper == 1 { half } else { -half };
            writeln!(text, "vertex {} {} {}", at(x), at(y), at(z)).unwrap();
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid tray\n"
}

/// An open mesh is replaced by its hull with one line that names link and file. A link that would lose its only shape is refused
/// with all meshes that are missing, unless the configuration allows it.
#[test]
fn an_open_mesh_is_replaced_by_its_hull_and_a_lost_one_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    write("tray.stl", &tray());
    write(
        "flat.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n",
    );
    let urdf = |meshes: &[&str]| {
        let collision = |mesh: &&str| {
            format!("<collision><geometry><mesh filename=\"{mesh}\"/></geometry></collision>")
        };
        format!(
            r#"<robot name="tray"><link name="tray">
                <inertial><mass value="1"/><inertia ixx="0.005" iyy="0.005" izz="0.007"/></inertial>{}</link></robot>"#,
            meshes.iter().map(collision).collect::<String>()
        )
    };
    let config = write(
        "tray.toml",
        "duration = 1.0\ncontact = { friction = 0.5, restitution = 0.0 }\n\
         planes = [{ name = \"floor\", normal = [0.0, 0.0, 1.0], offset = 0.0 }]\n\
         [urdf]\nbase = \"floating\"\nposition = [0.0, 0.0, 0.5]\n",
    );
    let run = |meshes: &[&str], set: &str| {
        let robot = write("tray.urdf", &urdf(meshes));
        let arguments = [
            "run", "world", "--config", &config, "--urdf", &robot, "--set", set, "--json",
        ];
        let output = carom(&arguments, "");
        let error = String::from_utf8(output.stderr).unwrap();
        let record: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), record, error)
    };
    let height = |record: &Value| record["final"][0]["position"][2].as_f64().unwrap();
    let (status, record, error) = run(&["tray.stl"], "urdf.allow=[]");
    assert_eq!(status, Some(0), "{error}");
    let expected =
        "mesh `tray`: tray.stl is not a closed mesh: the hull of its vertices takes its place";
    assert_eq!(error, format!("carom: warning: {expected}\n"));
    assert_eq!(record["warnings"], serde_json::json!([expected]));
    assert_eq!(record["ignored"], Value::Null);
    assert!((height(&record) - 0.05).abs() < 1e-9);

    let lost = ["package://nowhere/lid.stl", "flat.obj"];
    let (status, _, error) = run(&lost, "urdf.allow=[]");
    assert_eq!(status, Some(2), "{error}");
    for words in [
        "mesh `tray`: package://nowhere/lid.stl is not found: looked in ",
        "above it for a folder `nowhere`",
        "flat.obj: all points lie in one plane",
        "[urdf] allow = [\"mesh\"] leaves them out",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
    assert_eq!(error.lines().count(), 1, "{error}");
    let (status, record, error) = run(&lost, "urdf.allow=[\"mesh\"]");
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(
        error,
        "carom: tray.urdf: left out: 2 x mesh; see \"ignored\" in the record\n"
    );
    assert_eq!(record["ignored"].as_array().unwrap().len(), 2);
    assert!((height(&record) - (0.5 - 0.5 * 9.80665)).abs() < 1e-9);
    // A link that keeps a shape is told.
    let (status, record, error) = run(&["tray.stl", "flat.obj"], "urdf.allow=[]");
    assert_eq!(
        (status, record["ignored"].as_array().unwrap().len()),
        (Some(0), 1),
        "{error}"
    );
    let (status, _, error) = run(&["tray.stl"], "urdf.allow=[\"meshes\"]");
    assert_eq!(status, Some(2));
    assert!(
        error.contains("unknown `meshes`; known: mesh, tendon, equality, geom"),
        "{error}"
    );
}
