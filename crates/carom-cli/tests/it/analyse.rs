//! `carom analyse` on the systems of `data/orbits`, against independent solutions, and its faults.

use crate::common::carom;
use serde_json::Value;
use std::path::Path;

fn data(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/orbits");
    root.join(name).to_str().unwrap().to_owned()
}

fn orbit(args: &[&str]) -> Value {
    let output = carom(&[&["analyse", "--json"], args].concat(), "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    record["orbit"].clone()
}

fn close(found: &Value, wanted: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - wanted).abs() <= 1e-8, "{found} is not {wanted}");
}

/// Independent solutions: closed-form flights for oscillator, table and wheel; another integrator for the compass.
#[test]
fn the_four_systems_have_their_orbits_and_multipliers() {
    let found = orbit(&[&data("oscillator-orbit.toml")]);
    close(&found["state"]["q:slide"], 0.07714518502846561);
    close(&found["state"]["v:slide"], -0.07910451053115618);
    close(&found["multipliers"][0]["re"], -0.8743297923445302);
    close(&found["multipliers"][1]["re"], -0.4282550465877253);
    close(&found["events"][1]["time"], 4.334213043227869);
    close(&found["events"][1]["speed"], 0.26909920755544325);
    assert_eq!(found["events"][1]["at"], "slide.upper");
    assert_eq!(found["stable"], true);
    let found = orbit(&[&data("table-orbit.toml")]);
    close(&found["state"]["q:height"], 0.06002743243656963);
    close(&found["period"], 0.25132741228718347);
    close(&found["multipliers"][0]["re"], -0.5238708336014684);
    close(&found["multipliers"][0]["im"], 0.6046150425698179);
    let found = orbit(&[&data("wheel-orbit.toml")]);
    close(&found["period"], 0.6893289055849797);
    close(&found["state"]["v:wheel.angle"], -1.276128019364143);
    close(&found["multipliers"][1]["re"], 0.5554873605716177);
    assert_eq!(found["neutral"], 1);
    assert_eq!(found["multipliers"].as_array().unwrap().len(), 5);
    let found = orbit(&[&data("compass-orbit.toml")]);
    close(&found["state"]["q:leg1.angle"], -1.8418250072937177);
    close(&found["state"]["v:hip"], -0.7148875468468296);
    close(&found["multipliers"][1]["im"], 0.5444760620947267);
    close(&found["multipliers"][3]["re"], 0.13157262407718498);
}

/// The doubling of the step lies at the slope 0.0766356...: a multiplier is −1 there.
#[test]
fn the_compass_doubles_its_step_at_a_slope() {
    let at = |slope: f64| {
        let set = format!("parameters.slope={slope}");
        let found = orbit(&[&data("compass-orbit.toml"), "--set", &set]);
        let all = found["multipliers"].as_array().unwrap();
        let least = all.iter().map(|m| m["re"].as_f64().unwrap());
        least.fold(f64::INFINITY, f64::min)
    };
    let multiplier = at(0.07663563157561364);
    assert!((multiplier + 1.0).abs() < 1e-7, "{multiplier}");
}

/// Another phase and a section at the impact have the same multipliers, and two periods their squares.
#[test]
fn multipliers_do_not_depend_on_the_section() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let system = data("table.toml");
    let other = write(
        "phase.toml",
        &format!(
            "system = {system:?}\nsection = {{ every = \"2*pi/omega\", phase = 0.1 }}\norbit = {{}}"
        ),
    );
    let twice = write(
        "twice.toml",
        &format!(
            "system = {system:?}\nsection = {{ every = \"2*pi/omega\" }}\norbit = {{ returns = 2 }}"
        ),
    );
    let (re, im) = (-0.5238708336014684, 0.6046150425698179);
    let found = orbit(&[&other]);
    close(&found["multipliers"][0]["re"], re);
    close(&found["multipliers"][0]["im"], im);
    let found = orbit(&[&twice]);
    close(&found["multipliers"][0]["re"], re * re - im * im);
    close(&found["multipliers"][0]["im"], (2.0 * re * im).abs());
    assert_eq!(found["least_returns"], 1);
    let wheel = data("wheel.toml");
    let level = write(
        "level.toml",
        &format!(
            "system = {wheel:?}\nsection = {{ where = \"wheel_angle + 0.3\", direction = \"down\" }}\n[orbit.symmetry]\nwheel_x = \"free\"\n\
             wheel_angle = \"wheel_angle + 2*pi/8\""
        ),
    );
    // The level is passed once in all: no second return.
    let output = carom(&["analyse", &level], "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn an_orbit_does_not_depend_on_time_step_or_units_of_mass() {
    let plain = orbit(&[&data("oscillator-orbit.toml")]);
    let finer = orbit(&[&data("oscillator-orbit.toml"), "--set", "time_step=0.001"]);
    assert_eq!(plain, finer);
}

#[test]
fn faults_name_file_key_value_and_the_nearest_name() {
    let folder = tempfile::tempdir().unwrap();
    let system = data("oscillator.toml");
    let section = "section = { every = \"2*pi/omega\" }";
    for (text, parts) in [
        (
            format!("system = {system:?}\n{section}\norbit = {{}}\n[follows]\n"),
            vec!["follows"],
        ),
        (
            format!("system = {system:?}\n{section}"),
            vec!["orbit", "no task"],
        ),
        (
            format!("system = {system:?}\norbit = {{}}"),
            vec!["section", "is missing"],
        ),
        (
            format!(
                "system = {system:?}\nsection = {{ every = 1.0, where = \"slide\" }}\norbit = {{}}"
            ),
            vec!["one kind"],
        ),
        (
            format!("system = {system:?}\nsection = {{ every = -1.0 }}\norbit = {{}}"),
            vec!["section.every", "-1", "positive"],
        ),
        (
            format!("system = {system:?}\nsection = {{ every = 1.0 }}\norbit = {{}}"),
            vec!["no period", "slide"],
        ),
        (
            format!("system = {system:?}\nsection = {{ every = \"2*pi/omeg\" }}\norbit = {{}}"),
            vec!["omeg", "did you mean `omega`"],
        ),
        (
            format!("system = {system:?}\nsection = {{ event = [\"slide.upper\"] }}\norbit = {{}}"),
            vec!["depends on time"],
        ),
        (
            format!("system = {system:?}\n{section}\norbit = {{ returns = 0 }}"),
            vec!["orbit.returns", "0"],
        ),
        (
            format!("system = {system:?}\n{section}\norbit = {{}}\nstart = {{ \"q:slid\" = 0.0 }}"),
            vec!["did you mean `q:slide`"],
        ),
        (
            format!("system = {system:?}\n{section}\norbit.symmetry = {{ slid = \"free\" }}"),
            vec!["did you mean `slide`"],
        ),
        (
            format!("system = {system:?}\n{section}\norbit.symmetry = {{ slide = \"slide^2\" }}"),
            vec!["constant factors"],
        ),
        (
            format!("system = {system:?}\n{section}\norbit.symmetry = {{ slide = \"0*slide\" }}"),
            vec!["no inverse"],
        ),
        (
            format!(
                "system = {system:?}\n{section}\norbit = {{}}\nset = {{ \"parameters.omeg\" = 2.0 }}"
            ),
            vec!["did you mean `omega`"],
        ),
        (
            "system = \"nowhere.toml\"\nsection = { every = 1.0 }\norbit = {}".to_owned(),
            vec!["system", "nowhere.toml"],
        ),
    ] {
        let path = folder.path().join("faulty.toml");
        std::fs::write(&path, &text).unwrap();
        let output = carom(&["analyse", path.to_str().unwrap()], "");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        for part in parts {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
    }
}

/// Below the fold Γ = π(1 − e)/(1 + e) the ball has no orbit of one impact a period.
#[test]
fn refusals_have_a_record_and_a_reason() {
    let output = carom(
        &[
            "analyse",
            &data("table-orbit.toml"),
            "--json",
            "--set",
            "parameters.gamma=0.33",
        ],
        "",
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        record["orbit"]["status"].is_string() && record["orbit"]["reason"].is_string(),
        "{record}"
    );
    let output = carom(
        &[
            "analyse",
            &data("oscillator-orbit.toml"),
            "--json",
            "--set",
            "joints.slide.friction=0.1",
        ],
        "",
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["status"], "no-flow");
    assert!(
        record["orbit"]["reason"]
            .as_str()
            .unwrap()
            .contains("dry friction"),
        "{record}"
    );
}

/// A number may be an expression of parameters in every file of a world or mechanism.
#[test]
fn parameters_are_known_in_runs() {
    let output = carom(
        &[
            "run",
            &data("oscillator.toml"),
            "--json",
            "--set",
            "duration=0.1",
            "--set",
            "parameters.omega=3",
        ],
        "",
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = carom(
        &[
            "run",
            &data("wheel.toml"),
            "--json",
            "--set",
            "duration=0.01",
            "--set",
            "gravity.0==slope*2",
        ],
        "",
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["parameters"]["gravity"][0], 0.2);
    let output = carom(
        &["run", &data("wheel.toml"), "--set", "parameters.slop=3"],
        "",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `slope`"));
    let output = carom(&["run", &data("compass.toml")], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("closes_when"));
}
