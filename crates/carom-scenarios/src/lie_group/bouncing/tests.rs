//! Records of bouncing bodies against theory.

use crate::{Overrides, Record, scenario};
use serde_json::Value;

fn run(name: &str, toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    scenario(name).unwrap().run(&overrides).unwrap()
}

fn fault(toml: &str) -> String {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    let error = scenario("bouncing-body")
        .unwrap()
        .run(&overrides)
        .unwrap_err();
    assert!(error.is_configuration());
    error.to_string()
}

fn quantity(record: &Record, name: &str) -> f64 {
    record
        .quantities
        .iter()
        .find(|q| q.name == name)
        .unwrap()
        .value
}

/// Checks that the record has the documented keys, on which programs in other languages rely.
#[test]
fn the_record_has_the_fixed_keys() {
    let record = run("bouncing-body", "max_impacts = 2");
    assert_eq!(record.status, "max-impacts");
    let json: Value = serde_json::to_value(&record).unwrap();
    let impacts = json["impacts"].as_array().unwrap();
    assert_eq!(impacts.len(), 2);
    for state in impacts.iter().chain([&json["final"]]) {
        for key in ["position", "linear_momentum", "angular_momentum"] {
            assert_eq!(state[key].as_array().unwrap().len(), 3, "{key}");
        }
        assert_eq!(state["rotation"][2].as_array().unwrap().len(), 3);
        assert!(state["time"].as_f64().unwrap() > 0.0);
    }
    assert!((impacts[0]["impulse"].as_f64().unwrap() - 27.584369861128).abs() <= 1e-10);
    assert!((impacts[0]["normal_velocity"].as_f64().unwrap() + 16.447035205501).abs() <= 1e-10);
    for key in ["initial_j", "final_j", "max_abs_error_j"] {
        assert!(json["energy"][key].is_number());
    }
    assert_eq!(json["n_steps"], 489);
    let back: Record = serde_json::from_value(json).unwrap();
    assert_eq!(back, record);
}

/// Checks Fig. 4 of Tran & Leok: seen from above, the path of the center of mass is straight to rounding error over a level
/// plane, and a polygon over a tilted plane.
#[test]
fn paths_from_above() {
    for name in ["ellipsoid-horizontal", "ellipsoid-union", "cube"] {
        let bend = quantity(&run(name, "duration = 9.0"), "top_view_bend_m");
        assert!(bend <= 1e-14, "{name}: {bend:e}");
    }
    let bend = quantity(
        &run("ellipsoid-tilted", "duration = 9.0"),
        "top_view_bend_m",
    );
    assert!((bend - 1.9861905269227416).abs() <= 1e-2, "{bend}");
}

/// Compares the rotational energies (J) after each impact with an independent implementation, for Fig. 5 of Tran & Leok.
#[test]
fn rotational_energy_levels() {
    for (name, levels) in [
        ("ellipsoid-horizontal", [67.001, 119.925, 108.289, 20.6339]),
        ("ellipsoid-tilted", [83.8259, 36.6822, 119.86, 17.6414]),
        ("ellipsoid-union", [46.0025, 8.65975, 14.7216, 5.52931]),
        ("cube", [121.057, 30.6098, 107.687, 71.466]),
    ] {
        let record = run(name, "max_impacts = 4");
        let table = record.tables.iter().find(|t| t.name == "impacts").unwrap();
        for (row, level) in table.rows.iter().zip(levels) {
            assert!((row[4] - level).abs() <= 6e-4, "{name}: {} {level}", row[4]);
        }
    }
}

/// Checks Figs. 7 and 8 of Tran & Leok: two runs of the cube from nearly equal starts diverge.
#[test]
fn the_cube_forgets_its_start_after_eight_visible_bounces() {
    let record = run("cube", "");
    let parted = quantity(&record, "heights_part_s");
    assert!((18.9..=19.1).contains(&parted), "{parted}");
    assert_eq!(quantity(&record, "contacts_before_parting"), 11.0);
    let start = quantity(&record, "error_start_attitude");
    assert!((start / 3.1415926535898e-8 - 1.0).abs() <= 1e-6);
    let start = quantity(&record, "error_start_attitude_microdegree");
    assert!((start / 1.7453292519943e-8 - 1.0).abs() <= 1e-6);
    // Distances in the middle of flights, within a factor of two.
    let table = record
        .tables
        .iter()
        .find(|t| t.name == "sensitivity")
        .unwrap();
    for (after, before, expected) in [
        (2.70, 3.55, 2.9e-8),
        (3.75, 6.50, 7.0e-7),
        (9.05, 10.7, 1.3e-5 * 5.0),
    ] {
        let row = table
            .rows
            .iter()
            .find(|r| r[0] >= 0.5 * (after + before))
            .unwrap();
        assert!(
            row[4] / expected <= 4.0 && expected / row[4] <= 4.0,
            "{row:?}"
        );
    }
}

/// Checks that a body without a given inertia has uniform density, and that its center of mass becomes the origin of the
/// shape's coordinates.
#[test]
fn an_unbalanced_shape_is_moved_to_its_center_of_mass() {
    let shape = |center: f64| {
        format!(
            "duration = 0.0\n[body]\nmass = 2.0\nshape = {{type = \"union\", parts = [\
             {{type = \"ellipsoid\", semi_axes = [0.5, 0.5, 0.5], center = [{}, 0.0, 0.0]}},\
             {{type = \"ellipsoid\", semi_axes = [0.3, 0.3, 0.3], center = [{}, 0.0, 0.0]}}]}}",
            center - 1.0,
            center + 1.0
        )
    };
    let (a, b) = (
        run("bouncing-body", &shape(0.0)),
        run("bouncing-body", &shape(5.0)),
    );
    let inertia = |r: &Record| ["x", "y"].map(|a| quantity(r, &format!("inertia_{a}_kg_m2")));
    for (a, b) in inertia(&a).into_iter().zip(inertia(&b)) {
        assert!((a - b).abs() <= 1e-12, "{a} {b}");
    }
    assert!((quantity(&a, "lowest_gap_m") - quantity(&b, "lowest_gap_m")).abs() <= 1e-12);
}

/// Checks that every configurable shape, alone and in a union, gets the inertia of a body of uniform density if no inertia is
/// given.
#[test]
fn every_shape_has_an_inertia_at_uniform_density() {
    let ball = |x: f64| {
        format!("{{type = \"ellipsoid\", semi_axes = [0.6, 0.6, 0.6], center = [{x}, 0.1, 0.0]}}")
    };
    let block = "{type = \"box\", half_extents = [0.5, 0.4, 0.3]}";
    let wedge = "{type = \"polyhedron\", vertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}";
    let parts = |kind: &str, parts: &[&str]| {
        format!("{{type = \"{kind}\", parts = [{}]}}", parts.join(", "))
    };
    let lens = parts("intersection", &[&ball(0.0), &ball(0.5), &ball(0.3)]);
    for shape in [
        ball(0.0),
        block.to_owned(),
        wedge.to_owned(),
        lens.clone(),
        parts("union", &[block, &ball(0.6), wedge]),
        parts("union", &[&lens, block]),
        format!("{{type = \"rounded\", eps = 0.1, base = {wedge}}}"),
        "{type = \"rounded\", eps = 0.1, base = {type = \"ellipsoid\", semi_axes = [0.5, 0.3, 0.2]}}"
            .to_owned(),
    ] {
        let toml = format!(
            "time_step = 0.002\nmax_impacts = 2\n[body]\nshape = {shape}\n[initial]\n\
             position = [0, 0, 3]\nangular_momentum = [0.1, 0.05, 0.02]\n"
        );
        let record = run("bouncing-body", &toml);
        assert_eq!(record.status, "max-impacts", "{shape}");
        assert!(quantity(&record, "energy_max_error_j") <= 1e-10, "{shape}");
    }
}

#[test]
fn faults_name_their_key() {
    for (toml, key, text) in [
        ("time_step = 0.0", "time_step", "positive"),
        (
            "[body]\ninertia = [[1,0,0],[0,1,0],[0,0,3]]",
            "body.inertia",
            "unphysical",
        ),
        ("[body]\nmass = -1.0", "body.mass", "positive"),
        (
            "[initial]\nposition = [0,0,1]",
            "initial.position",
            "below the plane",
        ),
        (
            "[initial]\nrotation = [[1,0,0],[0,1,0],[0,0,2]]",
            "initial.rotation",
            "not a rotation",
        ),
        ("[plane]\nnormal = [0,0,0]", "plane.normal", "zero"),
        ("restitution = 2.0", "restitution", "between 0 and 1"),
        (
            "restitution = 0.5\nimpact_rule = \"discrete-energy\"",
            "impact_rule",
            "restitution 1",
        ),
        (
            "[body.shape]\ntype = \"mesh\"\nvertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]\n\
          triangles = [[2,1,0],[3,0,1],[3,2,0],[3,2,1]]",
            "body.shape",
            "not closed",
        ),
        (
            "[body.shape]\ntype = \"intersection\"\nparts = [{type = \"box\", half_extents = [1,1,1]}]",
            "body.shape",
            "ellipsoids",
        ),
        (
            "[body.shape]\ntype = \"mesh\"\nvertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]\n\
          triangles = [[0,1,2],[0,3,1],[0,2,3],[1,3,2]]",
            "body.shape",
            "outwards",
        ),
        (
            "[body.shape]\ntype = \"mesh\"\nfile = \"missing.stl\"",
            "body.shape.file",
            "missing.stl",
        ),
    ] {
        let message = fault(toml);
        assert!(
            message.contains(&format!("`{key}`")) && message.contains(text),
            "{message}"
        );
    }
}

/// Checks that a time step without a solution and an impact without an energy balance stop the run, and that neither counts as
/// an error of the configuration file.
#[test]
fn a_step_that_cannot_be_solved_is_unsolved() {
    let overrides = Overrides {
        toml: "time_step = 1.0".to_owned(),
        ..Overrides::default()
    };
    let record = scenario("bouncing-body").unwrap().run(&overrides).unwrap();
    assert_eq!(record.status, "stopped");
    let message = record.results["error"]["message"].as_str().unwrap();
    assert!(message.contains("step too large"), "{message}");
}

/// Checks that a body given by a mesh in a file equals the body given by the polyhedron of the mesh.
#[test]
fn mesh_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("corner.obj");
    std::fs::write(
        &file,
        "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 3 2 1\nf 4 1 2\nf 4 3 1\nf 4 2 3\n",
    )
    .unwrap();
    let tail = "\n[initial]\nangular_momentum = [0.1, 0.0, 0.05]\n";
    let meshed = format!(
        "[body.shape]\ntype = \"mesh\"\nfile = {:?}{tail}",
        file.to_str().unwrap()
    );
    let hull = format!(
        "[body.shape]\ntype = \"polyhedron\"\nvertices = [[0,0,0],[1,0,0],[0,2,0],[0,0,3]]{tail}"
    );
    let toml = |shape: &str| format!("time_step = 0.005\nmax_impacts = 3\n{shape}");
    let (a, b) = (
        run("bouncing-body", &toml(&meshed)),
        run("bouncing-body", &toml(&hull)),
    );
    for i in 0..3 {
        let time = |r: &Record| r.results["impacts"][i]["time"].as_f64().unwrap();
        assert!((time(&a) - time(&b)).abs() <= 1e-10);
    }
}

/// Checks that the record's key `sensitivity` has the documented names and shapes, and that one derivative agrees with a
/// difference quotient of two runs.
#[test]
fn the_sensitivity_of_a_run_has_the_fixed_keys() {
    let value = |toml: &str| serde_json::to_value(run("bouncing-body", toml)).unwrap();
    let base = "duration = 3.0\ntime_step = 0.02\nrestitution = 0.8\n";
    assert_eq!(value(base).get("sensitivity"), None);
    let record = value(&format!("{base}sensitivity = true"));
    let sensitivity = &record["sensitivity"];
    assert_eq!(sensitivity["state"][3], "zeta_x");
    assert_eq!(sensitivity["class"], "smooth");
    assert_eq!(sensitivity["reason"], Value::Null);
    let rows = sensitivity["d_final_d_initial"].as_array().unwrap();
    assert!(rows.len() == 12 && rows.iter().all(|row| row.as_array().unwrap().len() == 12));
    let parameters = sensitivity["d_final_d_parameters"].as_object().unwrap();
    assert_eq!(
        parameters.keys().collect::<Vec<_>>(),
        ["restitution", "gravity"]
    );
    let events = sensitivity["events"].as_array().unwrap();
    assert_eq!(events.len(), record["impacts"].as_array().unwrap().len());
    assert_eq!(events[0]["saltation"][11].as_array().unwrap().len(), 12);
    assert!(events[0]["margin"].as_f64() >= sensitivity["margin"].as_f64());
    let step = 1e-5;
    let height = |gravity: f64| {
        let record = value(&format!("{base}gravity = {gravity:?}"));
        record["final"]["position"][2].as_f64().unwrap()
    };
    let g = 9.80665;
    let difference = (height(g + step) - height(g - step)) / (2.0 * step);
    let by_gravity = parameters["gravity"][2].as_f64().unwrap();
    assert!((by_gravity - difference).abs() <= 1e-7 * difference.abs().max(1.0));
}

#[test]
fn sensitivities_that_do_not_exist_say_why() {
    let stopped = run("bouncing-body", "max_impacts = 1\nsensitivity = true");
    let value = serde_json::to_value(stopped).unwrap();
    assert_eq!(value["sensitivity"]["reason"], "max-impacts");
    assert_eq!(value["sensitivity"]["d_final_d_initial"], Value::Null);
    assert_eq!(value["sensitivity"]["d_final_d_parameters"], Value::Null);
}
