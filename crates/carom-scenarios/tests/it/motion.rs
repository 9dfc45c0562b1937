//! Scenarios in time against statics, conservation laws and closed forms, with numbers other than theirs.

use carom_scenarios::{Overrides, Record, scenario};
use serde_json::Value;

fn run(name: &str, assignments: &[&str], toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        assignments: assignments.iter().map(ToString::to_string).collect(),
        ..Overrides::default()
    };
    scenario(name).unwrap().run(&overrides).unwrap()
}

fn quantity(record: &Record, name: &str) -> f64 {
    let found = record.quantities.iter().find(|q| q.name == name);
    found.map(|q| q.value).unwrap()
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} and {b}: {:e}", a - b);
}

/// Statics draws the borders of stick, slide, tip, and tip while sliding.
#[test]
fn boxes_on_an_incline_do_what_statics_says() {
    let changed = [
        "half_width=0.12",
        "half_heights=[0.1, 0.2, 0.21]",
        "mass=30.0",
        "map.frictions=9",
        "map.slopes=11",
        "map.friction=1.3",
    ];
    let record = run("incline", &changed, "");
    close(quantity(&record, "map_cells_that_agree"), 99.0, 0.0);
    let outcomes: Vec<f64> = record.tables[0].rows.iter().map(|row| row[2]).collect();
    for outcome in [0.0, 1.0, 2.0, 3.0] {
        assert!(outcomes.contains(&outcome), "none is {outcome}");
    }
}

/// The virial theorem counts every impulse of every impact: it holds to rounding.
#[test]
fn a_gas_obeys_the_virial_theorem_and_comes_to_maxwells_law() {
    let changed = [
        "runs=4",
        "per_side=3",
        "side=1.0",
        "mass=0.2",
        "speed=3.0",
        "duration=10.0",
        "seed=7",
    ];
    let record = run("elastic-gas", &changed, "");
    close(quantity(&record, "virial_error"), 0.0, 1e-12);
    close(quantity(&record, "energy_max_error_j"), 0.0, 1e-11);
    // One number of 5/3 is spread by about a tenth over these times.
    close(quantity(&record, "fourth_moment"), 5.0 / 3.0, 0.1);
    assert!(quantity(&record, "distance_to_maxwell") < 0.03);
}

/// No ball is lost, and left and right are alike: the mean is that of even choices within the spread of
/// 400 balls.
#[test]
fn a_galton_board_has_no_preferred_side() {
    let record = run("galton-board", &["balls=400", "seed=3"], "");
    close(quantity(&record, "balls_in_bins"), 400.0, 0.0);
    let variance = quantity(&record, "variance");
    close(
        quantity(&record, "mean_bin"),
        3.0,
        4.0 * (variance / 400.0).sqrt(),
    );
    // Steps of lasting contact on the pegs: their error is of the third order and no loss of friction.
    assert!(quantity(&record, "energy_max_error_j") < 1e-6);
}

/// A block slides on its corners until friction has all of its energy; no corner slides afterwards.
#[test]
fn a_mechanism_accounts_for_what_friction_takes() {
    let corner = |name: &str, x: f64| {
        format!(
            "[[contacts]]\nname = \"{name}\"\nlink = \"block\"\npoint = [{x}, -0.1]\nfriction = 0.3\n\
             line = {{ point = [0, 0], normal = [0, 1] }}\n"
        )
    };
    let toml = format!(
        "[[links]]\nname = \"block\"\njoint = \"floating\"\nmass = 2.0\ninertia = 0.03\n\
         position = [0.0, 0.1, 0.0]\nvelocity = [1.5, 0.0, 0.0]\n{}{}",
        corner("left", -0.2),
        corner("right", 0.2)
    );
    let record = run("mechanism", &["duration=1.0"], &toml);
    let energy = &record.results["energy"];
    close(energy["contact_loss_j"].as_f64().unwrap(), 2.25, 1e-12);
    close(energy["max_abs_error_j"].as_f64().unwrap(), 0.0, 1e-12);
    for contact in record.results["contacts"].as_array().unwrap() {
        let modes: Vec<&Value> = contact["modes"].as_array().unwrap().iter().collect();
        assert_eq!(modes.last().unwrap()["mode"], "sticking", "{contact}");
    }
}

/// A polyhedron leans on a rounded box on a floor, with much friction: at some length of a step its impulses end, and
/// others would throw both apart. Lasting contact takes energy.
#[test]
fn bodies_that_jam_gain_no_energy() {
    let record = run("world", &[], JAMMED);
    assert_eq!(record.status, "completed");
    let energy = &record.results["energy"];
    let joules = |key: &str| energy[key].as_f64().unwrap();
    assert!(joules("contact_loss_j") >= 0.0 && joules("impact_loss_j") >= 0.0);
    // The error of the steps, of 1.65 J.
    assert!(joules("max_abs_error_j") <= 1e-5);
    assert!(record.results["lowest_gap_m"].as_f64().unwrap() >= -1e-9);
}

/// Two boxes fall and tumble onto a floor with friction, in steps of the grid in which they turn by a quarter, and in fine ones:
/// they come to rest, one flat on the other.
#[test]
fn two_boxes_come_to_rest_at_any_step() {
    for time_step in [0.05, 0.01, 0.005, 0.001] {
        let toml = format!("scheme = \"events\"\ntime_step = {time_step}\n{TWO_BOXES}");
        let record = run("world", &[], &toml);
        assert_eq!(record.status, "completed", "{time_step}");
        // Each lies on a face: 0.03 m, 0.04 m or 0.05 m below its center.
        let height = |body: usize| {
            let place = &record.results["final"][body]["position"];
            place[2].as_f64().unwrap()
        };
        // Hits leave what contacts yield.
        close(height(0), 0.03, 5e-5);
        close(height(1), 0.09, 1e-4);
        assert!(record.results["lowest_gap_m"].as_f64().unwrap() >= -2e-4);
        let momentum = &record.results["momentum"];
        let error = momentum["max_abs_error"].as_f64().unwrap();
        assert!(error <= 1e-11, "{time_step}: {error:e}");
        let energy = |key: &str| record.results["energy"][key].as_f64().unwrap();
        let left = energy("initial_j") - energy("impact_loss_j") - energy("contact_loss_j")
            + energy("projection_j");
        assert!((left - energy("final_j")).abs() <= energy("max_abs_error_j") * (1.0 + 1e-9));
    }
}

/// An ellipsoid that rocks on a floor without friction, in steps within which gravity moves it by 0.8 % of its size: its energy
/// stays, since the rates of the contact shorten the steps. Steps of time stepping took 15 % of it, which no contact takes.
#[test]
fn a_frictionless_ellipsoid_keeps_its_energy() {
    for (time_step, spin) in [(0.016, 2.0), (0.012, 2.0), (0.016, 4.0)] {
        let sets = [
            format!("time_step={time_step:e}"),
            format!(
                "bodies.0.angular_velocity=[{spin:?}, {:?}, 0.0]",
                0.5 * spin
            ),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let record = run("world", &sets, ELLIPSOID);
        assert_eq!(record.status, "completed");
        assert!(!record.results.contains_key("handed_over"));
        let energy = |key: &str| record.results["energy"][key].as_f64().unwrap();
        let change = energy("final_j") + energy("impact_loss_j") - energy("initial_j");
        assert!(change.abs() <= 4e-3 * energy("initial_j"), "{change:e}");
        close(energy("contact_loss_j"), 0.0, 1e-15);
    }
}

/// A ball that fits between two walls moves at one of them. The law of several contacts is `poisson` unless the file says
/// otherwise, and stops the ball; `moreau-newton` has no answer, and the contact that is hit is answered alone.
#[test]
fn a_ball_between_walls_stops_by_the_law_that_is_not_asked_for() {
    const BETWEEN: &str = r#"
duration = 0.1
gravity = [0.0, 0.0, 0.0]
contact = { friction = 0.3, restitution = 0.5 }
[[planes]]
name = "left"
normal = [1.0, 0.0, 0.0]
offset = 0.1
[[planes]]
name = "right"
normal = [-1.0, 0.0, 0.0]
offset = 0.1
[[bodies]]
name = "ball"
mass = 2.0
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.0]
velocity = [1.0, 0.0, 0.0]
"#;
    let record = run("world", &[], BETWEEN);
    assert_eq!(record.status, "completed");
    assert_eq!(record.results["scheme"], "events");
    assert_eq!(record.results["impacts"][0]["law"], "poisson");
    close(
        record.results["energy"]["final_j"].as_f64().unwrap(),
        0.0,
        1e-15,
    );
    // (1 + e) m v and e m v.
    let pressed = |wall: &str| {
        let support = &record.results["momentum"]["supports"][wall];
        support[0].as_f64().unwrap()
    };
    close(pressed("right"), -3.0, 1e-12);
    close(pressed("left"), 1.0, 1e-12);
    let asked = format!("{BETWEEN}[law]\nseveral = \"moreau-newton\"\n");
    let record = run("world", &[], &asked);
    assert_eq!(record.results["impacts"][0]["law"], "two-body");
}

const ELLIPSOID: &str = r#"
contact = { friction = 0.0, restitution = 0.0 }
[[planes]]
name = "floor"
normal = [0.0, 0.0, 1.0]
[[bodies]]
name = "egg"
mass = 1.0
shape = { type = "ellipsoid", semi_axes = [0.08, 0.3, 0.2] }
position = [0.0, 0.0, 0.2]
"#;

const TWO_BOXES: &str = r#"
duration = 1.0
contact = { friction = 0.5, restitution = 0.3 }
[[planes]]
name = "floor"
normal = [0.0, 0.0, 1.0]
[[bodies]]
name = "a"
mass = 1.0
shape = { type = "box", half_extents = [0.03, 0.04, 0.05] }
position = [0.0, 0.0, 0.2]
angular_velocity = [3.0, 5.0, 1.0]
[[bodies]]
name = "b"
mass = 1.0
shape = { type = "box", half_extents = [0.03, 0.04, 0.05] }
position = [0.01, 0.0, 0.4]
angular_velocity = [3.0, -5.0, 1.0]
"#;

/// A heap at rest presses on its pit with its weight, and a stack of boxes loses what their gaps were worth.
#[test]
fn heaps_come_to_rest_with_the_load_of_their_weight() {
    let pit = run("ball-pit", &["runs=1", "duration=2.0", "seed=3"], "");
    close(quantity(&pit, "load_over_weight"), 1.0, 1e-6);
    close(quantity(&pit, "energy_error_over_initial"), 0.0, 1e-13);
    close(quantity(&pit, "momentum_error_over_weight"), 0.0, 1e-13);
    assert!(quantity(&pit, "deepest_overlap_m") <= 1e-4);
    let stack = run(
        "box-stack",
        &["boxes=4", "half_height=0.03", "gap=0.02"],
        "",
    );
    close(quantity(&stack, "load_over_weight"), 1.0, 1e-9);
    close(quantity(&stack, "creep_m"), 0.0, 1e-12);
    let sunk = quantity(&stack, "height_error_m");
    assert!(sunk <= 3e-4, "{sunk:e}");
    // 0.02 m times 1 + 2 + 3 + 4, 1 kg each, and what contacts yield.
    let lost = quantity(&stack, "energy_lost_j") - 9.80665 * 0.2;
    assert!((-1e-9..=4.0 * 9.80665 * sunk).contains(&lost), "{lost:e}");
}

/// The first domino falls alone, about its edge; steps of order one are two of them early at most.
#[test]
fn a_row_of_dominoes_falls_in_steps_as_a_block_about_its_edge() {
    let row = run("domino-row", &["dominoes=4", "duration=0.6"], "");
    let exact = run("dominoes", &["dominoes=2", "duration=0.3"], "");
    let (early, hit) = (
        quantity(&row, "first_hit_s"),
        quantity(&exact, "first_hit_s"),
    );
    assert!(hit - 0.002 <= early && early <= hit, "{early} {hit}");
    close(quantity(&row, "dominoes_hit"), 3.0, 0.0);
}

const JAMMED: &str = r#"
duration = 0.01
flight = "lgvi4"
contact = { friction = 1.5, restitution = 0.2 }
[[bodies]]
name = "b0"
mass = 1.1233520483390391
shape = { type = "polyhedron", vertices = [[0.08566298289933952, -0.016887752228749536, -0.057043961964195526], [-0.061502648565020565, 0.06068554557314281, 0.05841271427610892], [0.0800171643896241, -0.008220514352473476, -0.06638548755525872], [0.10055720878809743, 0.019127602145559128, 0.019993474136151025], [-0.03526682260517729, -0.05378774035229969, 0.08210046663846257], [-0.07911192766810166, -0.03232444664797032, -0.05978117981994272], [0.09180773715812421, 0.020494543223696936, -0.0450407538467281]] }
position = [0.013750869242942814, 0.18691961537423576, 0.07685881248032188]
quaternion = [0.4358385979698523, 0.7483353592403451, -0.3163902555972974, 0.3872158478076198]
velocity = [-0.2284301129658, 0.3398791568472501, -0.30254701733237005]
angular_velocity = [2.767130993286546, -7.033412260712506, -9.60598795025529]
[[bodies]]
name = "b4"
mass = 0.5999991045352467
shape = { type = "rounded", eps = 0.027275436793193407, base = { type = "box", half_extents = [0.0850867594148318, 0.04959134587149225, 0.048962524946798196] } }
position = [0.1469273661368438, 0.2707251508851223, 0.08896160543590687]
quaternion = [0.02816961000868133, -0.1804694924906426, -0.971698198957472, 0.14979935078275133]
velocity = [-0.005034515043191449, 0.00957804672075327, -0.0051724958361465635]
angular_velocity = [0.1386462174921479, -0.05708098464101266, -0.2406460719998076]
[[planes]]
name = "floor"
normal = [0.0, 0.0, 1.0]
offset = 0.0
"#;

fn refusal(name: &str, toml: &str) -> String {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    let error = scenario(name).unwrap().run(&overrides).unwrap_err();
    assert!(error.is_configuration(), "{error}");
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// Keys that a world cannot use are refused by name; nothing is ignored in silence.
#[test]
fn faults_of_a_world_are_named() {
    const WORLD: &str = "duration = 0.01\ncontact = { friction = 0.3, restitution = 0.5 }\n\
        planes = [{ name = \"floor\", normal = [0, 0, 1] }]\n[[bodies]]\nname = \"ball\"\nmass = 1.0\n\
        shape = { type = \"sphere\", radius = 0.1 }\nposition = [0, 0, 1]\n";
    run("world", &[], WORLD);
    let pair = "\n[[pairs]]\nbetween = [\"floor\", \"ball\"]\n";
    for (from, to, expected) in [
        ("mass = 1.0", "mass = 0.0", "`bodies[0].mass`"),
        ("mass = 1.0\n", "", "`bodies[0].mass`: `ball`: missing"),
        (
            "radius = 0.1",
            "radius = -0.1",
            "`bodies[0].shape.radius`: -0.1",
        ),
        ("\"floor\"", "\"ball\"", "`ball` is there twice"),
        ("\"floor\"", "\"\"", "`planes[0].name`: a name is needed"),
        ("[0, 0, 1] }", "[0, 0, 0] }", "`planes[0].normal`"),
        (
            "friction = 0.3",
            "friction = -1.0",
            "`contact.friction`: -1",
        ),
        ("= 0.5 }", "= 1.5 }", "`contact.restitution`: 1.5"),
        (
            "[0, 0, 1]\n",
            "[0, 0, 0.05]\n",
            "initial-penetration: `ball`",
        ),
        (
            "mass = 1.0",
            "fixed = true\nvelocity = [1, 0, 0]",
            "`bodies[0].velocity`: `ball`: a fixed body cannot move",
        ),
        (
            "mass = 1.0",
            "mass = 1.0\nquaternion = [1.0, 0.0, 0.0, 0.1]",
            "normalized it is [0.99503719020998",
        ),
        (
            "duration = 0.01",
            "time_step = 0.0",
            "`time_step`: 0 must be positive",
        ),
    ] {
        let text = refusal("world", &WORLD.replacen(from, to, 1));
        assert!(text.contains(expected), "{text}");
    }
    for (added, expected) in [
        (pair.repeat(2), "`pairs[1].between`"),
        (pair.replace("floor", "flor"), "`flor`"),
        (format!("{pair}stiction = 1.0"), "`pairs[0].stiction`"),
        (
            "law = { single = \"propagative\" }".to_owned(),
            "`bodies[0].law`",
        ),
        (
            "[law]\nseveral = \"propagative\"".to_owned(),
            "`law.several`: `propagative` cannot take friction",
        ),
        (
            "[law]\nsingle = \"nonholonomic-newton\"".to_owned(),
            "`law.single`: `nonholonomic-newton` is about constraints, and a world has none",
        ),
        (
            "[law]\nsingle = \"anitescu-potra\"\nrestitution_law = \"poisson\"".to_owned(),
            "`law.restitution_law`: `anitescu-potra` takes none",
        ),
    ] {
        let text = refusal("world", &format!("{WORLD}{added}"));
        assert!(text.contains(expected), "{text}");
    }
    let text = refusal("world", "duration = 1.0\n");
    assert!(text.contains("`bodies`: missing"), "{text}");
    let own = format!("{WORLD}[law]\nseveral = \"anitescu-potra\"\n");
    let ignored = &run("world", &[], &own).results["ignored"];
    assert!(ignored[0].as_str().unwrap().contains("anitescu-potra"));
}

/// The demo's contact is the default; its planes and pairs are not part of a user's world.
#[test]
fn a_world_of_one_ball_needs_no_contact_and_says_that_it_falls_for_ever() {
    const BALL: &str = "duration = 0.01\n[[bodies]]\nname = \"ball\"\nmass = 1.0\n\
        shape = { type = \"sphere\", radius = 0.1 }\nposition = [0, 0, 1]\n";
    let record = run("world", &[], BALL);
    assert_eq!(record.parameters["contact"]["friction"], 0.3);
    assert!(record.parameters.get("planes").is_none() && record.parameters.get("pairs").is_none());
    let warnings = record.results["warnings"].as_array().unwrap();
    assert!(
        warnings.len() == 1
            && warnings[0]
                .as_str()
                .unwrap()
                .starts_with("`ball` falls for ever")
    );
    let floor = format!("{BALL}[[planes]]\nname = \"floor\"\nnormal = [0, 0, 1]\n");
    assert!(!run("world", &[], &floor).results.contains_key("warnings"));
    let table = format!(
        "{BALL}[[bodies]]\nname = \"table\"\nfixed = true\nshape = {{ type = \"sphere\", radius = 0.5 }}\n\
         position = [0, 0, -3]\n"
    );
    assert!(!run("world", &[], &table).results.contains_key("warnings"));
    assert!(
        !run("world", &["gravity=[0.0, 0.0, 0.0]"], BALL)
            .results
            .contains_key("warnings")
    );
}

/// Keys that a mechanism cannot use are refused with the link or contact.
#[test]
fn faults_of_a_mechanism_are_named() {
    const PENDULUM: &str = "duration = 0.01\n[[links]]\nname = \"cart\"\njoint = \"slider\"\nmass = 1.0\n\
        [[links]]\nname = \"pole\"\nparent = \"cart\"\njoint = \"hinge\"\nmass = 0.3\ncenter = [0.4, 0]\n\
        [[contacts]]\nname = \"stop\"\nlink = \"cart\"\npoint = [0.1, 0]\n\
        line = { point = [1, 0], normal = [-1, 0] }\n";
    run("mechanism", &[], PENDULUM);
    for (from, to, expected) in [
        (
            "parent = \"cart\"",
            "parent = \"cat\"",
            "`links[1].parent`: `pole` has the unknown parent `cat`",
        ),
        (
            "\"slider\"",
            "\"slider\"\nparent = \"pole\"",
            "`links[0].parent`: `pole` of `cart`",
        ),
        ("\"pole\"", "\"cart\"", "`links[1].name`: `cart`"),
        ("mass = 0.3\ncenter = [0.4, 0]\n", "", "`pole`"),
        ("mass = 0.3\n", "", "`links[1].center`: `pole` has no mass"),
        (
            "\"hinge\"",
            "\"hinge\"\ndirection = [0, 1]",
            "`links[1].direction`: the hinge `pole` has none",
        ),
        (
            "\"slider\"",
            "\"slider\"\nangle = 0.1",
            "`links[0].angle`: the slider `cart` has none",
        ),
        (
            "\"slider\"\nmass = 1.0",
            "\"floating\"\nmass = 1.0",
            "the coordinate `pole` moves no inertia",
        ),
        (
            "\"slider\"",
            "\"floating\"\nspring = { stiffness = 1.0 }",
            "`links[0].spring`",
        ),
        (
            "link = \"cart\"",
            "link = \"cat\"",
            "contact `stop`: no link is called `cat`",
        ),
        (
            "[0.1, 0]",
            "[1.1, 0]",
            "initial-penetration: contact `stop`",
        ),
        ("duration = 0.01", "duration = 1e9", "`duration`"),
    ] {
        let text = refusal("mechanism", &PENDULUM.replacen(from, to, 1));
        assert!(text.contains(expected), "{text}");
    }
}

/// The cat turns as the condition of zero angular momentum alone says, and its angular momentum stays zero.
#[test]
fn a_cat_turns_over_without_angular_momentum() {
    let record = run("cat", &[], "");
    let turn = quantity(&record, "turn_deg");
    assert!(turn.abs() >= 90.0, "{turn}");
    close(quantity(&record, "turn_error_deg"), 0.0, 1e-7);
    let half = quantity(&record, "angular_momentum_half");
    close(quantity(&record, "angular_momentum"), 0.0, 1e-12 * half);
}

/// The momentum about the vertical through the pivot changes by what the wall gives, and by nothing else.
#[test]
fn a_pendulum_in_space_keeps_its_momentum_about_the_vertical() {
    let record = run("space-pendulum", &["duration=1.5"], "");
    assert!(quantity(&record, "impacts") >= 2.0);
    close(quantity(&record, "vertical_momentum_error"), 0.0, 1e-9);
    close(quantity(&record, "joint_residual_m"), 0.0, 1e-12);
    close(quantity(&record, "energy_max_error_j"), 0.0, 1e-4);
}

/// A chain falls freely until its bead above the edge lands; then the edge and gravity alone change its momentum, and the losses
/// are all the energy that is gone.
#[test]
fn a_chain_over_an_edge_has_the_momentum_that_the_edge_gave() {
    let small = [
        "links=12",
        "over=5",
        "length=0.5",
        "duration=0.3",
        "mass=0.24",
    ];
    let record = run("chain-over-edge", &small, "");
    assert_eq!(record.status, "completed");
    let drop = (2.0 * (0.05 - 0.006) / 9.80665_f64).sqrt();
    close(quantity(&record, "first_impact_s"), drop, 1e-9);
    close(quantity(&record, "momentum_error_ns"), 0.0, 1e-12);
    close(quantity(&record, "joint_residual_m"), 0.0, 1e-12);
    let initial = quantity(&record, "energy_initial_j");
    close(quantity(&record, "energy_max_error_j"), 0.0, 1e-2 * initial);
    // No impact gains energy, and the list is that of impacts in their order.
    let rows = &record.tables[0].rows;
    assert_eq!(rows.len(), 8);
    assert!(rows.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    assert!(rows.iter().all(|row| row[2] <= row[1] + 1e-12 * initial));
}

/// The impacts that a record of the chain lists do not depend on rounding: a change of the last digits of the height is not
/// amplified by as much as a record tells.
#[test]
fn the_first_impacts_of_a_chain_can_be_repeated() {
    let times = |height: f64| -> Vec<f64> {
        let set = [format!("height={height}"), "duration=0.24".to_owned()];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let record = run("chain-over-edge", &set, "");
        record.tables[0].rows.iter().map(|row| row[0]).collect()
    };
    let (one, other) = (times(0.05), times(0.05 * (1.0 + 1e-15)));
    assert_eq!(one.len(), 8);
    for (a, b) in one.iter().zip(&other) {
        close(*a, *b, 1e-10);
    }
}

/// A quadruped falls freely until its feet land, all four at once; then the floor and gravity alone change its momentum. Impacts
/// without restitution keep the least energy, and no order of the feet gains any.
#[test]
fn a_quadruped_lands_on_four_feet_at_once() {
    let record = run("quadruped-landing", &["duration=0.3", "samples=64"], "");
    assert_eq!(record.status, "completed");
    let fall = (2.0 * 0.2 / 9.80665_f64).sqrt();
    close(quantity(&record, "landing_s"), fall, 1e-9);
    close(quantity(&record, "feet_at_once"), 4.0, 0.0);
    close(quantity(&record, "orders_drawn"), 64.0, 0.0);
    let [least, most] = ["least_energy_kept", "largest_energy_kept"].map(|k| quantity(&record, k));
    assert!(
        0.0 <= least && least < most && most <= 1.0,
        "{least} {most}"
    );
    let [low, high] =
        ["slowest_rise_m_per_s", "fastest_rise_m_per_s"].map(|k| quantity(&record, k));
    assert!(low < high, "{low} {high}");
    close(quantity(&record, "momentum_error_ns"), 0.0, 1e-9);
    close(quantity(&record, "joint_residual_m"), 0.0, 1e-12);
    let laws = &record.tables[0].rows;
    assert_eq!(laws.len(), 3);
    // Moreau's and Poisson's feet bounce, Anitescu's and Potra's stay.
    for row in laws {
        assert!(0.0 < row[0] && row[0] <= 1.0, "{row:?}");
    }
    assert!(
        laws[2][0] < laws[0][0] && laws[2][0] < laws[1][0],
        "{laws:?}"
    );
}

/// A slider with clearance stays in its guide, and the error of the energy falls with the square of the step.
#[test]
fn a_slider_with_clearance_rattles_in_its_guide() {
    let at = |step: &str| {
        let step = format!("time_step={step}");
        run(
            "slider-crank-clearance",
            &[&step, "duration=0.02", "clearances=[0.0005, 0.004]"],
            "",
        )
    };
    let [coarse, fine] = [at("4e-5"), at("2e-5")];
    for record in [&coarse, &fine] {
        assert_eq!(record.status, "completed");
        assert!(quantity(record, "impacts") >= 2.0);
        let used = quantity(record, "play_used");
        assert!(used > 0.9 && used <= 1.0 + 1e-6, "{used}");
    }
    let drift = |record| quantity(record, "largest_energy_drift_j");
    let ratio = drift(&coarse) / drift(&fine);
    assert!((3.0..5.0).contains(&ratio), "{ratio}");
    let table = fine.tables.iter().find(|t| t.name == "clearances").unwrap();
    assert!(table.rows[1][2] > table.rows[0][2], "{:?}", table.rows);
}
