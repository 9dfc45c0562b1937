//! Models of robots as people have them: where their meshes are, how they start, which inertias they have.

use crate::common::carom;
use serde_json::{Value, json};
use std::path::Path;

/// A box of 0.3 m, 0.2 m and 0.08 m about the origin, of quadrilaterals.
const BOX: &str = "v -0.15 -0.1 -0.04\nv 0.15 -0.1 -0.04\nv 0.15 0.1 -0.04\nv -0.15 0.1 -0.04\n\
    v -0.15 -0.1 0.04\nv 0.15 -0.1 0.04\nv 0.15 0.1 0.04\nv -0.15 0.1 0.04\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

const FLOOR: &str = "duration = 0.6\ncontact = { friction = 0.5, restitution = 0.0 }\n\
    planes = [{ name = \"floor\", normal = [0.0, 0.0, 1.0], offset = 0.0 }]\n";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A link of 1 kg with the moments `inertia` and the shape `geometry`.
fn link(name: &str, inertia: [f64; 3], geometry: &str) -> String {
    let [x, y, z] = inertia;
    let collision = match geometry {
        "" => String::new(),
        inner => format!("<collision><geometry>{inner}</geometry></collision>"),
    };
    format!(
        "<link name=\"{name}\"><inertial><mass value=\"1\"/><inertia ixx=\"{x}\" iyy=\"{y}\" izz=\"{z}\"/></inertial>{collision}</link>"
    )
}

/// Exit status, record and stderr of a world of a configuration file.
fn run(config: &str) -> (Option<i32>, Value, String) {
    let output = carom(&["run", config, "--json"], "");
    let record = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let error = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), record, error)
}

fn height(record: &Value) -> f64 {
    record["final"][0]["position"][2].as_f64().unwrap()
}

/// A mesh of a package lies above the file of the robot, beside a folder of its name, or in a folder of the configuration; robot
/// and folders are relative to the configuration, never to the current folder.
#[test]
fn meshes_of_a_package_are_found_from_the_robots_file_upwards() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "my_robot/meshes/box.obj", BOX);
    write(at, "elsewhere/my_box/box.OBJ", BOX);
    let urdf = |address: &str| {
        let mesh = format!("<mesh filename=\"{address}\"/>");
        format!(
            "<robot name=\"r\">{}</robot>",
            link("b", [0.01, 0.02, 0.025], &mesh)
        )
    };
    let absolute = at.join("my_robot/meshes/box.obj").display().to_string();
    for (address, keys) in [
        ("package://my_robot/meshes/box.obj", ""),
        ("package://meshes/box.obj", ""),
        ("model://my_robot/meshes/box.obj", ""),
        ("package:///my_robot/meshes/box.obj", ""),
        ("../meshes/box.obj", ""),
        (absolute.as_str(), ""),
        (&format!("file://{absolute}"), ""),
        ("package://my_box/box.OBJ", "mesh_dir = \"elsewhere\"\n"),
        (
            "package://gone/box.OBJ",
            "mesh_dir = [\"nowhere\", \"elsewhere/my_box\"]\n",
        ),
        ("box.OBJ", "mesh_dir = [\"elsewhere/my_box\"]\n"),
    ] {
        write(at, "my_robot/urdf/robot.urdf", &urdf(address));
        let keys = format!(
            "{FLOOR}[urdf]\nfile = \"my_robot/urdf/robot.urdf\"\nbase = \"floating\"\nposition = [0.0, 0.0, 0.2]\n{keys}"
        );
        let (status, record, error) = run(&write(at, "world.toml", &keys));
        assert_eq!((status, error.as_str()), (Some(0), ""), "{address}");
        assert!((height(&record) - 0.04).abs() < 1e-9, "{address}");
    }
}

/// The vertices of a COLLADA file, in its unit and moved by its scene, are those of a shape; a scene that holds itself is refused.
#[test]
fn collada_gives_the_hull_of_its_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let collada = |node: &str| {
        format!(
            r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit name="centimeter" meter="0.01"/></asset>
            <library_geometries><geometry id="g"><mesh><source id="p"><float_array count="24">
            -1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1</float_array></source>
            <vertices id="v"><input semantic="POSITION" source="#p"/></vertices></mesh></geometry></library_geometries>
            <library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 2</translate>
            <rotate>0 1 0 90</rotate><scale>15 10 4</scale>{node}</node></visual_scene></library_visual_scenes></COLLADA>"##
        )
    };
    let mesh = "<mesh filename=\"box.dae\" scale=\"1 1 1\"/>";
    let robot = format!(
        "<robot name=\"r\">{}</robot>",
        link("b", [0.01, 0.02, 0.025], mesh)
    );
    write(folder.path(), "robot.urdf", &robot);
    let keys = format!(
        "{FLOOR}[urdf]\nfile = \"robot.urdf\"\nbase = \"floating\"\nposition = [0.0, 0.0, 0.3]\n"
    );
    let config = write(folder.path(), "world.toml", &keys);
    write(
        folder.path(),
        "box.dae",
        &collada("<instance_geometry url=\"#g\"/>"),
    );
    let (status, record, error) = run(&config);
    assert_eq!(status, Some(0), "{error}");
    assert!(
        error.contains("the hull of its vertices takes its place"),
        "{error}"
    );
    // The long axis stands up: its half is 15 cm, and the middle is 2 cm above the center of mass.
    assert!((height(&record) - 0.13).abs() < 1e-9, "{}", height(&record));
    for (node, words) in [
        ("<instance_node url=\"#n\"/>", "nodes inside each other"),
        ("<instance_geometry url=\"#h\"/>", "`#h` leads to nothing"),
        ("<matrix>1 2</matrix>", "`matrix` has 2 numbers"),
        (
            "<translate>0 0 nan</translate>",
            "`nan` is no finite number",
        ),
    ] {
        write(folder.path(), "box.dae", &collada(node));
        let (status, _, error) = run(&config);
        assert_eq!(status, Some(2), "{error}");
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// All joints outside their limits are in one fault, with the numbers to copy; `clip` starts them there, but no number of the
/// file.
#[test]
fn joints_outside_their_limits_are_named_at_once_or_clipped() {
    let folder = tempfile::tempdir().unwrap();
    let joint = |k: usize, name: &str, lower: f64, upper: f64| {
        format!(
            "{}<joint name=\"{name}\" type=\"revolute\"><parent link=\"l{}\"/><child link=\"l{k}\"/><axis xyz=\"0 1 0\"/>\
             <limit lower=\"{lower}\" upper=\"{upper}\" effort=\"1\"/></joint>",
            link(&format!("l{k}"), [0.01; 3], ""),
            k - 1
        )
    };
    let robot = format!(
        "<robot name=\"r\">{}{}{}{}</robot>",
        link("l0", [0.01; 3], ""),
        joint(1, "a", 0.1, 1.0),
        joint(2, "b", -1.0, 1.0),
        joint(3, "c d", -2.0, -0.5)
    );
    write(folder.path(), "robot.urdf", &robot);
    let file = |keys: &str| {
        let keys = format!("duration = 0.0\n[urdf]\nfile = \"robot.urdf\"\n{keys}\n");
        write(folder.path(), "world.toml", &keys)
    };
    let (status, _, error) = run(&file(""));
    assert_eq!(status, Some(2));
    for words in [
        "`a` at 0 (0.1 to 1)",
        "`c d` at 0 (-2 to -0.5)",
        "joints = { a = 0.1, \"c d\" = -0.5 }; start = \"clip\"",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let (status, record, error) = run(&file("joints = { a = 0.1, \"c d\" = -0.5 }"));
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(record["clipped"], Value::Null);
    let (status, record, error) = run(&file("start = \"clip\""));
    assert_eq!(status, Some(0), "{error}");
    let clipped =
        json!([{"joint": "a", "from": 0.0, "to": 0.1}, {"joint": "c d", "from": 0.0, "to": -0.5}]);
    assert_eq!(record["clipped"], clipped);
    assert!(error.contains("warning: 2 x start: `a`, `c d`"), "{error}");
    let starts: Vec<f64> = (0..3)
        .map(|k| record["final_joints"][k]["position"].as_f64().unwrap())
        .collect();
    assert!(
        starts
            .iter()
            .zip([0.1, 0.0, -0.5])
            .all(|(x, y)| (x - y).abs() < 1e-12),
        "{starts:?}"
    );
    let (status, _, error) = run(&file("start = \"clip\"\njoints = { b = 1.5 }"));
    assert_eq!(status, Some(2));
    assert!(
        error.contains("`b` at 1.5 (-1 to 1)") && !error.contains("`a`"),
        "{error}"
    );
    let (status, _, error) = run(&file("start = \"clap\""));
    assert_eq!(status, Some(2));
    assert!(error.contains("urdf.start"), "{error}");
}

/// Inertias that no body has are all named; each word mends what it says.
#[test]
fn inertias_at_fault_are_named_at_once_or_mended() {
    let folder = tempfile::tempdir().unwrap();
    let shape = "<box size=\"0.2 0.3 0.1\"/>";
    let robot = |one: [f64; 3], other: [f64; 3]| {
        let text = format!(
            "<robot name=\"r\">{}{}<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>",
            link("a", one, shape),
            link("b", other, shape)
        );
        write(folder.path(), "robot.urdf", &text);
    };
    let file = |word: &str| {
        let keys = format!(
            "duration = 0.0\ngravity = [0.0, 0.0, 0.0]\n[urdf]\nfile = \"robot.urdf\"\nangular_velocity = [0.0, 0.0, 2.0]\ninertia = \"{word}\"\n"
        );
        write(folder.path(), "world.toml", &keys)
    };
    let (tilted, flat) = ([0.01, 0.01, 0.03], [1.0, 1.0, 0.0]);
    robot(tilted, flat);
    let (status, _, error) = run(&file("strict"));
    assert_eq!(status, Some(2));
    for words in [
        "`a`: inertia is unphysical",
        "`b`: inertia is not positive",
        "\"given\", \"balance\" or \"shape\"",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
    for word in ["given", "balance"] {
        let (status, _, error) = run(&file(word));
        assert_eq!(status, Some(2), "{error}");
        assert!(error.contains("`b`") && !error.contains("`a`"), "{error}");
    }
    let (status, record, error) = run(&file("shape"));
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(record["warnings"].as_array().unwrap().len(), 2);
    robot(tilted, tilted);
    // Both links turn at 2 rad/s about z.
    let of_box = (0.04 + 0.09) / 12.0;
    for (word, moment) in [("given", 0.03), ("balance", 0.05 / 3.0), ("shape", of_box)] {
        let (status, record, error) = run(&file(word));
        assert_eq!(status, Some(0), "{word}: {error}");
        let energy = record["energy"]["initial_j"].as_f64().unwrap();
        assert!((energy - 4.0 * moment).abs() < 1e-12, "{word}: {energy}");
    }
}

/// A body whose inertia breaks the triangle inequality keeps energy and angular momentum as it tumbles and bounces.
#[test]
fn an_inertia_as_given_keeps_its_energy() {
    let folder = tempfile::tempdir().unwrap();
    let robot = format!(
        "<robot name=\"r\">{}</robot>",
        link("a", [0.01, 0.02, 0.07], "<box size=\"0.2 0.3 0.1\"/>")
    );
    write(folder.path(), "robot.urdf", &robot);
    for flight in ["exact", "lgvi4"] {
        let keys = format!(
            "duration = 1.0\nflight = \"{flight}\"\ncontact = {{ friction = 0.0, restitution = 1.0 }}\n\
             planes = [{{ name = \"floor\", normal = [0.0, 0.0, 1.0], offset = 0.0 }}]\n\
             [urdf]\nfile = \"robot.urdf\"\nbase = \"floating\"\nposition = [0.0, 0.0, 0.5]\ninertia = \"given\"\n\
             angular_velocity = [1.0, 7.0, 0.5]\n"
        );
        let (status, record, error) = run(&write(folder.path(), "world.toml", &keys));
        assert_eq!(status, Some(0), "{error}");
        assert!(!record["impacts"].as_array().unwrap().is_empty());
        let of = |key: &str| record["energy"][key].as_f64().unwrap();
        assert!(
            (of("final_j") - of("initial_j")).abs() < 1e-9,
            "{flight}: {}",
            record["energy"]
        );
    }
}

/// Links without mass are all named, and a robot of which nothing moves says what would.
#[test]
fn what_cannot_move_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let massless = |name: &str| format!("<link name=\"{name}\"/>");
    let joint = |child: &str| {
        format!(
            "<joint name=\"to_{child}\" type=\"continuous\"><parent link=\"a\"/><child link=\"{child}\"/></joint>"
        )
    };
    let one = link("a", [0.01; 3], "");
    for (links, keys, words) in [
        (
            format!(
                "{one}{}{}{}{}",
                massless("b"),
                massless("c"),
                joint("b"),
                joint("c")
            ),
            "",
            "links that move and have no mass: `b`, `c`",
        ),
        (
            one.clone(),
            "base = \"fixed\"",
            "the root link `a` is fixed; base = \"floating\"",
        ),
        (massless("a"), "", "the root link `a` has no mass"),
    ] {
        write(
            folder.path(),
            "robot.urdf",
            &format!("<robot name=\"r\">{links}</robot>"),
        );
        let keys = format!("duration = 0.0\n[urdf]\nfile = \"robot.urdf\"\n{keys}\n");
        let (status, _, error) = run(&write(folder.path(), "world.toml", &keys));
        assert_eq!(status, Some(2), "{error}");
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(error.lines().count(), 1);
    }
}

/// A four-bar in the plane: its crank of 0.4 m at 1 rad, a coupler of 0.9 m, a rocker of 0.7 m, pivots 1 m apart. Angles of its
/// hinges, relative to each other.
fn four_bar() -> ([f64; 3], [f64; 3]) {
    let (a, b, c) = (0.4, 0.9, 0.7);
    let (x, y) = (a * 1_f64.cos(), a * 1_f64.sin());
    let (dx, dy) = (1.0 - x, -y);
    let d = (dx * dx + dy * dy).sqrt();
    let along = (b * b - c * c + d * d) / (2.0 * d);
    let across = (b * b - along * along).sqrt();
    let (cx, cy) = (
        x + (along * dx - across * dy) / d,
        y + (along * dy + across * dx) / d,
    );
    let coupler = (cy - y).atan2(cx - x);
    let rocker = (-cy).atan2(1.0 - cx);
    ([a, b, c], [1.0, coupler - 1.0, rocker - coupler])
}

/// Configuration of the four-bar with given angles; `more` are keys of the hinges.
fn linkage(angles: [f64; 3], more: [&str; 3]) -> String {
    let (lengths, _) = four_bar();
    let mut text = "duration = 0.0\n".to_owned();
    for (k, length) in lengths.iter().enumerate() {
        let parent = match k {
            0 => "parent_frame = { position = [0, 0, 0] }".to_owned(),
            _ => format!(
                "parent = \"b{}\"\nparent_frame = {{ position = [{}, 0, 0] }}",
                k - 1,
                0.5 * lengths[k - 1]
            ),
        };
        text += &format!(
            "[[bodies]]\nname = \"b{k}\"\nmass = 1.0\ninertia = [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]\n\
             [[joints]]\nname = \"j{k}\"\ntype = \"revolute\"\nchild = \"b{k}\"\n{parent}\n\
             child_frame = {{ position = [{}, 0, 0] }}\nposition = {:?}\n{}\n",
            -0.5 * length,
            angles[k],
            more[k]
        );
    }
    text + "[[joints]]\nname = \"closes\"\ntype = \"revolute\"\nchild = \"b2\"\nparent_frame = { position = [1, 0, 0] }\nchild_frame = { position = [0.35, 0, 0] }\n"
}

/// Loops from rounded numbers are closed with a warning, and limits are kept; what is open by more is refused.
#[test]
fn loops_from_rounded_numbers_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |text: &str| run(&write(folder.path(), "world.toml", text));
    let (_, exact) = four_bar();
    let (status, record, error) = run(&linkage(exact, [""; 3]));
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(record["warnings"], Value::Null);
    let position =
        |record: &Value, k: usize| record["final_joints"][k]["position"].as_f64().unwrap();
    for digits in [4, 3, 2] {
        let scale = 10_f64.powi(digits);
        let rounded = exact.map(|x| (x * scale).round() / scale);
        let (status, record, error) = run(&linkage(rounded, [""; 3]));
        assert_eq!(status, Some(0), "{error}");
        assert!(
            error.contains("the loops of joints were open by"),
            "{error}"
        );
        let moved = record["assembly"]["moved_m"].as_f64().unwrap();
        assert!(moved > 1e-6 && moved < 1.0 / scale, "{digits}: {moved}");
        for (k, start) in exact.iter().enumerate() {
            assert!(
                (position(&record, k) - start).abs() < 2.0 / scale,
                "{digits} {k}"
            );
        }
        // A limit at the rounded angle, on the side to which the loop closes.
        let closed = position(&record, 1);
        let side = if closed > rounded[1] {
            "upper"
        } else {
            "lower"
        };
        let limit = format!("limits = {{ {side} = {:?} }}", rounded[1]);
        let (status, record, error) = run(&linkage(rounded, ["", &limit, ""]));
        assert_eq!(status, Some(0), "{error}");
        assert!((position(&record, 1) - rounded[1]).abs() < 1e-9, "{digits}");
        assert!(
            record["max_joint_residual_m"].as_f64().unwrap() < 1e-11,
            "{record}"
        );
    }
    let (status, _, error) = run(&linkage([1.0, exact[1] + 0.2, exact[2]], [""; 3]));
    assert_eq!(status, Some(2));
    assert!(
        error.contains("not-assembled") && error.contains("`closes`"),
        "{error}"
    );
    // A body and a joint that both give a start.
    let text = linkage(exact, [""; 3]).replacen(
        "mass = 1.0",
        "mass = 1.0\nposition = [0.2, 0.001, 0.0]",
        1,
    );
    let (status, _, error) = run(&text);
    assert_eq!(status, Some(2));
    assert!(error.contains("leave one out"), "{error}");
}

/// A quaternion of three digits is normalized with a warning; the fault for another length prints the unit one.
#[test]
fn quaternions_of_few_digits_are_normalized() {
    let folder = tempfile::tempdir().unwrap();
    let body = |q: &str| {
        format!(
            "duration = 0.0\n[[bodies]]\nname = \"a\"\nmass = 1.0\nposition = [0, 0, 1]\nquaternion = {q}\n\
             shape = {{ type = \"box\", half_extents = [0.1, 0.2, 0.3] }}\n"
        )
    };
    let run = |q: &str| run(&write(folder.path(), "world.toml", &body(q)));
    let (status, record, error) = run("[0.707, 0.707, 0, 0]");
    assert_eq!(status, Some(0), "{error}");
    assert!(
        error.contains("quaternion `bodies[0].quaternion`: its length 0.99984"),
        "{error}"
    );
    let turned = record["final"][0]["quaternion"][0].as_f64().unwrap();
    assert!((turned - 0.5_f64.sqrt()).abs() < 1e-15);
    let (status, _, error) = run("[0.7071068, 0.7071068, 0, 0]");
    assert_eq!(status, Some(0));
    assert!(!error.contains("quaternion"), "{error}");
    let (status, _, error) = run("[1, 1, 0, 0]");
    assert_eq!(status, Some(2));
    assert!(
        error.contains("normalized it is [0.7071067811865475, 0.7071067811865475, 0.0, 0.0]"),
        "{error}"
    );
}

/// Two bodies that overlap are refused with the keys that allow it, to copy.
#[test]
fn an_overlap_says_how_to_allow_it() {
    let folder = tempfile::tempdir().unwrap();
    let ball = |name: &str| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmass = 1.0\nposition = [0, 0, 1]\nshape = {{ type = \"sphere\", radius = 0.1 }}\n"
        )
    };
    let text = format!("duration = 0.0\n{}{}", ball("a"), ball("b"));
    let (status, _, error) = run(&write(folder.path(), "world.toml", &text));
    assert_eq!(status, Some(2));
    let hint = "add [[pairs]], between = [\"a\", \"b\"], collide = false";
    assert!(error.trim_end().ends_with(hint), "{error}");
    let text = format!("{text}[[pairs]]\nbetween = [\"a\", \"b\"]\ncollide = false\n");
    assert_eq!(run(&write(folder.path(), "world.toml", &text)).0, Some(0));
}

/// A U of three boxes: from the objects of a file, from files and from a folder, a ball rests in it; from its hull, on it.
#[test]
fn convex_parts_of_meshes_are_a_union() {
    let folder = tempfile::tempdir().unwrap();
    let boxed = |name: &str, first: usize, [x0, x1, z0, z1]: [f64; 4]| {
        let mut text = format!("o {name}\n");
        for (x, y, z) in [
            (x0, -0.2, z0),
            (x1, -0.2, z0),
            (x1, 0.2, z0),
            (x0, 0.2, z0),
            (x0, -0.2, z1),
            (x1, -0.2, z1),
            (x1, 0.2, z1),
            (x0, 0.2, z1),
        ] {
            text += &format!("v {x} {y} {z}\n");
        }
        for face in [
            [4, 3, 2, 1],
            [5, 6, 7, 8],
            [1, 2, 6, 5],
            [2, 3, 7, 6],
            [3, 4, 8, 7],
            [4, 1, 5, 8],
        ] {
            let [a, b, c, d] = face.map(|i| i + first);
            text += &format!("f {a} {b} {c} {d}\n");
        }
        text
    };
    let parts = [
        [-0.3, 0.3, 0.0, 0.06],
        [-0.3, -0.2, 0.06, 0.3],
        [0.2, 0.3, 0.06, 0.3],
    ];
    let mut whole = String::new();
    for (k, part) in parts.iter().enumerate() {
        whole += &boxed(&format!("p{k}"), 8 * k, *part);
        write(
            folder.path(),
            &format!("parts/p{k}.obj"),
            &boxed("p", 0, *part),
        );
    }
    write(folder.path(), "u.obj", &whole);
    for (keys, height) in [
        ("file = \"u.obj\", parts = true", 0.16),
        ("folder = \"parts\"", 0.16),
        (
            "files = [\"parts/p0.obj\", \"parts/p1.obj\", \"parts/p2.obj\"]",
            0.16,
        ),
        ("file = \"u.obj\", hull = true", 0.4),
    ] {
        let text = format!(
            "duration = 1.5\ncontact = {{ friction = 0.3, restitution = 0.0 }}\n\
             [[bodies]]\nname = \"ball\"\nmass = 1.0\nposition = [0, 0, 0.6]\nshape = {{ type = \"sphere\", radius = 0.1 }}\n\
             [[bodies]]\nname = \"u\"\nfixed = true\nposition = [0, 0, 0]\ninertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n\
             shape = {{ type = \"mesh\", {keys} }}\n"
        );
        let (status, record, error) = run(&write(folder.path(), "world.toml", &text));
        assert_eq!(status, Some(0), "{error}");
        assert!(
            (record["final"][0]["position"][2].as_f64().unwrap() - height).abs() < 1e-9,
            "{keys}"
        );
    }
    // Without a key the file is no convex body, which a ball could touch; a link of a robot takes its parts.
    let text = "duration = 0.0\n[[bodies]]\nname = \"ball\"\nmass = 1.0\nposition = [0, 0, 0.6]\nshape = { type = \"sphere\", radius = 0.1 }\n\
        [[bodies]]\nname = \"u\"\nfixed = true\nposition = [0, 0, 0]\nshape = { type = \"mesh\", file = \"u.obj\" }\n";
    let (status, _, error) = run(&write(folder.path(), "world.toml", text));
    assert_eq!(status, Some(2));
    assert!(
        error.contains("hull = true") && error.contains("parts = true"),
        "{error}"
    );
    let robot = format!(
        "<robot name=\"r\">{}</robot>",
        link("b", [0.01, 0.02, 0.025], "<mesh filename=\"u.obj\"/>")
    );
    write(folder.path(), "robot.urdf", &robot);
    let keys = format!(
        "{FLOOR}[urdf]\nfile = \"robot.urdf\"\nbase = \"floating\"\nposition = [0.0, 0.0, 0.1]\n"
    );
    let (status, record, error) = run(&write(folder.path(), "world.toml", &keys));
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert!(height(&record).abs() < 1e-9);
    for (keys, words) in [
        ("file = \"gone.obj\"", "gone.obj"),
        ("file = \"parts\"", "must end in .stl or .obj"),
        ("folder = \"u.obj\"", "u.obj"),
        ("folder = \".\", hull = true", "either `hull = true`"),
        ("hull = true", "a mesh needs"),
        ("file = \"u.obj\", more = 1", "more"),
    ] {
        let text = format!(
            "duration = 0.0\n[[bodies]]\nname = \"u\"\nmass = 1.0\nposition = [0, 0, 0]\nshape = {{ type = \"mesh\", {keys} }}\n"
        );
        let (status, _, error) = run(&write(folder.path(), "world.toml", &text));
        assert_eq!(status, Some(2), "{keys}");
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
