//! Mechanisms with velocity constraints and systems of formulas, from files.

use carom_scenarios::{Overrides, scenario};
use serde_json::Value;

fn answer(name: &str, assignments: &[&str], toml: &str) -> Result<Value, String> {
    let overrides = Overrides {
        toml: toml.to_owned(),
        assignments: assignments.iter().map(ToString::to_string).collect(),
        ..Overrides::default()
    };
    let record = scenario(name).unwrap().run(&overrides);
    let record = record.map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(&record).unwrap())
}

fn run(name: &str, assignments: &[&str], toml: &str) -> Value {
    answer(name, assignments, toml).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let items = value.as_array().unwrap();
    items.iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Final state and times of impacts of two runs, extrapolated to a step of length zero.
fn extrapolated(toml: &str) -> (Vec<f64>, Vec<f64>, Value) {
    let runs = ["time_step=0.001", "time_step=0.0005"].map(|step| run("mechanism", &[step], toml));
    let state = |run: &Value| [numbers(&run["final"]["q"]), numbers(&run["final"]["v"])].concat();
    let times = |run: &Value| {
        let impacts = run["impacts"].as_array().unwrap().iter();
        impacts
            .map(|hit| hit["time"].as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    let mix = |a: Vec<f64>, b: Vec<f64>| -> Vec<f64> {
        assert_eq!(a.len(), b.len());
        a.iter().zip(&b).map(|(a, b)| (4.0 * b - a) / 3.0).collect()
    };
    let [a, b] = &runs;
    (mix(state(a), state(b)), mix(times(a), times(b)), b.clone())
}

#[track_caller]
fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "{k}: {a} and {b}: {:e}", a - b);
    }
}

const COIN: &str = r#"
duration = 1.5
[law]
name = "nonholonomic-elastic"
[system]
coordinates = ["x", "y", "roll", "head"]
parameters = { m = 0.5, R = 0.1, Ir = 0.0025, J = 0.0013, g = 9.81 }
mass_matrix = [["m", 0, 0, 0], [0, "m", 0, 0], [0, 0, "Ir", 0], [0, 0, 0, "J"]]
potential = "m*g*0.08*y"
position = [0.0, 0.0, 0.0, 0.5]
velocity = [0.7898243057013355, 0.4314829847437827, 9.0, 0.6]
[[constraints]]
name = "along-x"
rates = { x = 1, roll = "-R*cos(head)" }
[[constraints]]
name = "along-y"
rates = { y = 1, roll = "-R*sin(head)" }
[[contacts]]
name = "front"
gap = "0.5 - x - R*cos(head)"
restitution = 1.0
[[contacts]]
name = "back"
gap = "0.5 - x + R*cos(head)"
restitution = 1.0
"#;

/// From an integration by DOP853 with the events located, independent of this code.
#[test]
fn a_coin_on_a_slope_agrees_with_an_independent_integration() {
    let (state, times, record) = extrapolated(COIN);
    let expected = [
        0.34873278099749716,
        0.6940637874844466,
        9.264652148037882,
        1.6936460905895185,
        -0.03535954729546081,
        0.2863781265893772,
        2.8855281834316093,
        -0.7940610574613292,
    ];
    all_close(&state, &expected, 1e-7);
    all_close(&times, &[0.7553746043250918, 0.9093882667374129], 1e-9);
    assert_eq!(record["constraints"]["rows"], 2);
    assert_eq!(record["constraints"]["rank"], 2);
    assert!(record["max_constraint_residual"].as_f64().unwrap() <= 1e-14);
    let hit = &record["impacts"][0];
    assert_eq!(hit["constraints"][1]["name"], "along-y");
    // The impulse on y is that of the constraint alone: no gap depends on y. 0.5 (0.4487… - 0.5215…).
    let impulse = hit["constraints"][1]["impulse"].as_f64().unwrap();
    assert!((impulse - 0.5 * (0.4487335210677263 - 0.5215274814623996)).abs() <= 1e-6);
}

/// A blade of a link, against the same independent integration.
#[test]
fn a_sleigh_against_a_wall_agrees_with_an_independent_integration() {
    let toml = r#"
gravity = [0.0, -1.5]
duration = 1.4
[law]
name = "nonholonomic-elastic"
[[links]]
name = "sled"
joint = "floating"
mass = 1.6
center = [0.2, 0.0]
inertia = 0.09
position = [0.0, 0.0, 0.4]
velocity = [0.9210609940028851, 0.3894183423086505, 0.9]
[[constraints]]
name = "blade"
type = "blade"
link = "sled"
direction = [1.0, 0.0]
[[contacts]]
name = "nose"
link = "sled"
point = [0.4, 0.0]
line = { point = [0.9, 0.0], normal = [-1.0, 0.0] }
restitution = 1.0
"#;
    let expected = [
        0.052014836694874125,
        0.20384448876508454,
        -0.44380084439576256,
        -0.4396779289786117,
        0.20903700767548905,
        -2.7363678790013055,
    ];
    let (state, times, _) = extrapolated(toml);
    all_close(&state, &expected, 1e-9);
    all_close(&times, &[0.7334515369352533], 1e-10);
    // The blade as a formula of the rates.
    let rates = r#"rates = { "sled.x" = "-sin(sled.angle)", "sled.y" = "cos(sled.angle)" }"#;
    let blade = "type = \"blade\"\nlink = \"sled\"\ndirection = [1.0, 0.0]";
    let (again, _, _) = extrapolated(&toml.replace(blade, rates));
    all_close(&again, &state, 1e-11);
}

/// The penny of the paper on its table, whose motion is known exactly.
#[test]
fn a_rolling_disk_on_a_level_table_is_the_penny() {
    let exact = run("penny", &["duration=3.0", "impacts=9"], "");
    let toml = r#"
duration = 3.0
[law]
name = "nonholonomic-elastic"
[system]
coordinates = ["x", "y", "theta", "phi"]
parameters = { m = 0.0025, R = 0.01, I = 1.25e-7, J = 6.25e-8 }
mass_matrix = [["m", 0, 0, 0], [0, "m", 0, 0], [0, 0, "I", 0], [0, 0, 0, "J"]]
position = [0.0, 0.0, 0.0, 1.5707963267948966]
velocity = [0.0, 0.1, 10.0, 0.2]
[[constraints]]
name = "x"
rates = { x = 1, theta = "-R*cos(phi)" }
[[constraints]]
name = "y"
rates = { y = 1, theta = "-R*sin(phi)" }
[[contacts]]
name = "front"
gap = "1 - ((x + R*cos(phi))/0.15)^2 - ((y + R*sin(phi))/0.2)^2"
[[contacts]]
name = "back"
gap = "1 - ((x - R*cos(phi))/0.15)^2 - ((y - R*sin(phi))/0.2)^2"
"#;
    let (state, times, _) = extrapolated(toml);
    let end = &exact["final"];
    let expected = ["x", "y", "theta", "phi"].map(|key| end[key].as_f64().unwrap());
    all_close(&state[..4], &expected, 1e-7);
    let hits = exact["impacts"].as_array().unwrap().iter();
    let hits: Vec<f64> = hits.map(|hit| hit["time"].as_f64().unwrap()).collect();
    assert!(hits.len() >= 2);
    all_close(&times, &hits, 1e-7);
}

/// Chaplygin's sleigh with a round bumper in a round arena, from its closed form.
#[test]
fn a_blade_on_a_level_table_is_the_chaplygin_sleigh() {
    let exact = run("chaplygin-sleigh", &["impacts=2"], "");
    let rows = exact["tables"][0]["rows"].as_array().unwrap();
    let last = numbers(&rows[1]);
    let toml = format!(
        r#"
duration = {}
[law]
name = "nonholonomic-elastic"
[system]
coordinates = ["x", "y", "phi"]
parameters = {{ m = 1.0, a = 0.2, J = 0.1 }}
mass_matrix = [
    ["m", 0, "-m*a*sin(phi)"],
    [0, "m", "m*a*cos(phi)"],
    ["-m*a*sin(phi)", "m*a*cos(phi)", "J + m*a^2"],
]
position = [0.0, 0.0, 0.3]
velocity = [0.955336489125606, 0.29552020666133955, 1.5]
[[constraints]]
name = "blade"
rates = {{ x = "-sin(phi)", y = "cos(phi)" }}
[[contacts]]
name = "bumper"
gap = "1.9 - sqrt((x + a*cos(phi))^2 + (y + a*sin(phi))^2)"
"#,
        last[1] + 1e-3
    );
    let (_, times, record) = extrapolated(&toml);
    let expected: Vec<f64> = rows.iter().map(|row| numbers(row)[1]).collect();
    all_close(&times, &expected, 1e-7);
    assert_eq!(record["impacts"].as_array().unwrap().len(), 2);
}

/// A double pendulum by formulas moves as the one of links, and laws with lasting contact and friction act on formulas.
#[test]
fn formulas_of_a_double_pendulum_move_as_its_links() {
    let links = r#"
gravity = [0.0, -9.81]
duration = 1.0
[[links]]
name = "a"
joint = "hinge"
angle = -1.5707963267948966
mass = 1.0
center = [0.5, 0.0]
position = -0.9
[[links]]
name = "b"
parent = "a"
joint = "hinge"
anchor = [0.5, 0.0]
mass = 0.7
center = [0.4, 0.0]
position = 0.5
[[contacts]]
name = "tip"
link = "b"
point = [0.4, 0.0]
line = { point = [0.3, 0.0], normal = [-1.0, 0.0] }
restitution = 0.7
"#;
    let formulas = r#"
duration = 1.0
[system]
coordinates = ["a", "b"]
parameters = { g = 9.81 }
mass_matrix = [["0.537 + 0.28*cos(b)", "0.112 + 0.14*cos(b)"], ["0.112 + 0.14*cos(b)", 0.112]]
potential = "-g*(0.85*cos(a) + 0.28*cos(a + b))"
position = [-0.9, 0.5]
[[contacts]]
name = "tip"
gap = "0.3 - 0.5*sin(a) - 0.4*sin(a + b)"
restitution = 0.7
"#;
    let ((a, times, _), (b, others, _)) = (extrapolated(links), extrapolated(formulas));
    assert!(!times.is_empty());
    all_close(&a, &b, 1e-9);
    all_close(&times, &others, 1e-10);
}

/// Every law of mechanisms acts at an impact under constraints, and leaves velocities that they admit.
#[test]
fn all_laws_act_among_the_admitted_velocities() {
    for law in carom_impact::LAWS {
        let toml = COIN.replace("nonholonomic-elastic", law.name);
        let toml = toml.replace("restitution = 1.0", "restitution = 1.0\nslide = \"y\"");
        match answer("mechanism", &["duration=0.8"], &toml) {
            Ok(record) if record.get("error").is_none() => {
                assert_eq!(record["n_impacts"], 1, "{}", law.name);
                let residual = record["max_constraint_residual"].as_f64().unwrap();
                assert!(residual <= 1e-12, "{}: {residual:e}", law.name);
            }
            // A law that has no answer here says so; none is called solved.
            Ok(record) => assert_eq!(record["error"]["kind"], "infeasible-law", "{}", law.name),
            Err(message) => assert!(message.contains(law.name), "{}: {message}", law.name),
        }
    }
}

/// Part of the file of the coin, its replacement, and words of the fault that this causes.
const FAULTS: &[(&str, &str, &[&str])] = &[
    (
        "\"m*g*0.08*y\"",
        "\"m*g*0.08*z\"",
        &["system.potential", "`m*g*0.08*z`", "unknown name `z`"],
    ),
    ("\"m*g*0.08*y\"", "\"m*g*hed\"", &["did you mean"]),
    (
        "[0, 0, 0, \"J\"]",
        "[0, 0, 0, \"-J\"]",
        &["system.mass_matrix[3][3]", "`-J`", "not positive definite"],
    ),
    (
        "[0, \"m\", 0, 0]",
        "[\"0.1*m\", \"m\", 0, 0]",
        &["system.mass_matrix[1][0]", "symmetric"],
    ),
    (
        "[0, \"m\", 0, 0]",
        "[0, \"m\", 0]",
        &[
            "system.mass_matrix[1]",
            "one entry for each of the 4 coordinates",
        ],
    ),
    (
        "\"m*g*0.08*y\"",
        "\"ln(-m)\"",
        &["system.potential", "`ln(-m)`", "NaN"],
    ),
    (
        "\"m*g*0.08*y\"",
        "\"sqrt(x)\"",
        &["system.potential", "no derivative"],
    ),
    (
        "\"0.5 - x - R*cos(head)\"",
        "\"0.5 - x - R*cos(hed)\"",
        &["contacts[0].gap", "did you mean `head`?"],
    ),
    (
        "roll = \"-R*cos(head)\"",
        "rol = \"-R*cos(head)\"",
        &["constraints[0].rates.rol", "did you mean `roll`?"],
    ),
    (
        "name = \"along-y\"",
        "name = \"along-x\"",
        &["constraints[1].name", "there twice"],
    ),
    (
        "rates = { x = 1, roll = \"-R*cos(head)\" }",
        "type = \"blade\"",
        &["constraints[0].type", "belongs to a link"],
    ),
    (
        "9.0, 0.6]",
        "9.1, 0.6]",
        &["constraints[0]", "not-assembled", "`along-x`"],
    ),
    (
        "9.0, 0.6]",
        "9.0]",
        &["system.velocity", "3 numbers for 4 coordinates"],
    ),
    (
        "\"head\"]",
        "\"sin\"]",
        &["system.coordinates", "`sin`", "is taken"],
    ),
    (
        "[system]",
        "gravity = [0.0, 0.0]\n[system]",
        &["gravity", "potential"],
    ),
    (
        "restitution = 1.0",
        "friction = 0.5",
        &["contacts[0].slide", "friction needs the formula"],
    ),
    (
        "[[constraints]]",
        "[[links]]\nname = \"a\"\njoint = \"hinge\"\n[[constraints]]",
        &["system", "[[links]]", "not both"],
    ),
    (
        "\"nonholonomic-elastic\"",
        "\"two-body\"",
        &["law.name", "two-body"],
    ),
];

/// Faults name the key and the formula.
#[test]
fn faults_of_formulas_and_constraints_are_named() {
    let mut faults: Vec<String> = Vec::new();
    for (from, to, words) in FAULTS {
        assert!(COIN.contains(from), "{from}");
        let toml = COIN.replacen(from, to, 1);
        // `[law]` precedes: keys of the top stand at the top.
        let toml = match to.strip_prefix("gravity = [0.0, 0.0]") {
            Some(_) => format!("gravity = [0.0, 0.0]\n{COIN}"),
            None => toml,
        };
        let message = answer("mechanism", &[], &toml).err().unwrap_or_default();
        let missing = words.iter().filter(|word| !message.contains(**word));
        faults.extend(missing.map(|word| format!("{to}: no `{word}` in {message:?}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let without = COIN.replace("[[constraints]]", "[[ignored]]");
    assert!(answer("mechanism", &[], &without).is_err());
}

/// A small slip at the start is projected away.
#[test]
fn a_start_near_the_constraints_is_projected() {
    let record = run(
        "mechanism",
        &["duration=0.1"],
        &COIN.replace("9.0, 0.6]", "9.0000001, 0.6]"),
    );
    assert!(record["max_constraint_residual"].as_f64().unwrap() <= 1e-14);
}

/// Elements of lists are found by name; a number is an index.
#[test]
fn assignments_find_elements_by_name() {
    let by_name = run(
        "mechanism",
        &["duration=0.5", "contacts.right-stop.restitution=0.5"],
        "",
    );
    let by_index = run(
        "mechanism",
        &["duration=0.5", "contacts.0.restitution=0.5"],
        "",
    );
    assert_eq!(by_name, by_index);
    let message = answer("mechanism", &["contacts.right-stpo.restitution=0.5"], "").unwrap_err();
    assert!(message.contains("did you mean `right-stop`?"), "{message}");
}
