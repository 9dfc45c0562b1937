//! Bodies that are told their motion, against closed forms.

use carom_scenarios::{Overrides, Record, ScenarioError, scenario};

const G: f64 = 9.80665;

fn try_world(toml: &str) -> Result<Record, ScenarioError> {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    scenario("world").unwrap().run(&overrides)
}

fn world(toml: &str) -> Record {
    let record = try_world(toml).unwrap();
    assert_eq!(record.status, "completed", "{:?}", record.results["error"]);
    assert!(!record.results.contains_key("handed_over"));
    record
}

/// Keys of a world for `duration` (s) with a table that `motion` moves, whose upper face is at 0 at first.
fn table(duration: f64, step: f64, restitution: f64, motion: &str) -> String {
    format!(
        "duration = {duration:?}\ntime_step = {step:e}\ngravity = [0, 0, {:e}]\n\
         contact = {{ friction = 0.3, restitution = {restitution:?} }}\noutput = {{ sample_step = 0.0 }}\n\
         [[bodies]]\nname = \"table\"\nposition = [0, 0, -0.5]\n\
         shape = {{ type = \"box\", half_extents = [5, 5, 0.5] }}\nmotion = {motion}\n",
        -G
    )
}

fn ball(more: &str) -> String {
    format!(
        "[[bodies]]\nname = \"ball\"\nmass = 2.0\nshape = {{ type = \"sphere\", radius = 0.1 }}\n{more}\n"
    )
}

fn component(record: &Record, key: &str, k: usize) -> f64 {
    record.results["final"][1][key][k].as_f64().unwrap()
}

fn energy(record: &Record, key: &str) -> f64 {
    record.results["energy"][key].as_f64().unwrap()
}

const BOX: &str = "[[bodies]]\nname = \"box\"\nmass = 2.0\nposition = [0, 0, 0.1]\n\
                   shape = { type = \"box\", half_extents = [0.1, 0.1, 0.1] }\n";

/// A belt that goes on: it works $mV^2$, and friction takes half of that.
#[test]
fn a_table_that_goes_on_is_a_belt() {
    let motion = "{ velocity = [0.8, 0, 0] }";
    let record = world(&(table(0.5, 1e-3, 0.0, motion) + BOX));
    assert!((component(&record, "velocity", 0) - 0.8).abs() <= 1e-8);
    assert!((energy(&record, "prescribed_work_j") - 1.28).abs() <= 1e-8);
    let loss = energy(&record, "contact_loss_j") + energy(&record, "impact_loss_j");
    assert!((loss - 0.64).abs() <= 1e-8, "{loss}");
    assert!((record.results["final"][0]["position"][0].as_f64().unwrap() - 0.4).abs() <= 1e-14);
    let rolls = world(&(table(0.5, 1e-3, 0.0, motion) + &ball("position = [0, 0, 0.1]")));
    let speed = component(&rolls, "velocity", 0);
    assert!((speed - 1.6 / 7.0).abs() <= 1e-8, "{speed}");
}

/// A table that rises from rest to rest gives the energy of height; on the way it works as it should at every instant.
#[test]
fn a_lift_works_against_weight_and_inertia() {
    let motion = "{ displacement = [0, 0, \"0.1*(1 - cos(5*t))\"] }";
    let record = world(&(table(0.4, 1e-3, 0.0, motion) + BOX));
    let (rise, speed) = (0.1 * (1.0 - 2.0_f64.cos()), 0.5 * 2.0_f64.sin());
    assert!((component(&record, "position", 2) - 0.1 - rise).abs() <= 1e-9);
    let exact = 2.0 * (G * rise + 0.5 * speed * speed);
    let work = energy(&record, "prescribed_work_j");
    assert!((work - exact).abs() <= 1e-5, "{work} {exact}");
    assert!(energy(&record, "max_abs_error_j") <= 1e-5);
}

/// A table that shakes with $A\omega^2 > g$ lets a ball go where $\sin\omega t = g/A\omega^2$.
#[test]
fn a_shaker_lets_go_where_its_acceleration_is_that_of_gravity() {
    let motion = "{ displacement = [0, 0, \"0.02*sin(30*t)\"] }";
    let record = world(
        &(table(0.06, 5e-4, 0.0, motion) + &ball("position = [0, 0, 0.1]\nvelocity = [0, 0, 0.6]")),
    );
    let exact = (G / 18.0).asin() / 30.0;
    let contact = &record.results["contacts"][0];
    let time = contact["end"].as_f64().unwrap();
    assert!((time - exact).abs() <= 2e-5, "{time} {exact}");
    // From there it flies.
    let (height, speed) = (0.02 * (30.0 * exact).sin(), 0.6 * (30.0 * exact).cos());
    let left = 0.06 - exact;
    let there = 0.1 + height + speed * left - 0.5 * G * left * left;
    assert!((component(&record, "position", 2) - there).abs() <= 1e-6);
}

/// A ball that rolls on a turntable goes round a circle with $\tfrac27\Omega$.
#[test]
fn a_ball_on_a_turntable_circles_with_two_sevenths() {
    let motion = "{ angular_velocity = [0, 0, 2.0] }";
    // Rolls at first: the table goes with 1 m/s below it.
    let start = "position = [0.5, 0, 0.1]\nvelocity = [0, 0.3, 0]\nangular_velocity = [7.0, 0, 0]";
    let run = |step: f64| {
        let record = world(&(table(1.0, step, 0.0, motion) + &ball(start)));
        component(&record, "velocity", 0)
    };
    let exact = -0.3 * (4.0_f64 / 7.0).sin();
    let [coarse, fine] = [2e-3, 1e-3].map(run);
    assert!((fine - exact).abs() <= 1e-6, "{fine} {exact}");
    assert!((coarse - exact).abs() <= 4e-6, "{coarse} {exact}");
}

/// An elastic paddle throws a ball at rest with twice its speed, at the time at which it comes.
#[test]
fn a_paddle_throws_with_twice_its_speed() {
    let text = "duration = 0.5\ntime_step = 1e-2\ngravity = [0, 0, 0]\ncontact = { friction = 0.0, restitution = 1.0 }\n\
                [[bodies]]\nname = \"paddle\"\nposition = [-0.5, 0, 0]\nmotion = { displacement = [\"2*t^2\", 0, 0] }\n\
                shape = { type = \"box\", half_extents = [0.1, 0.3, 0.3] }\n";
    let record = world(&(text.to_owned() + &ball("position = [0, 0, 0]")));
    let impact = &record.results["impacts"][0];
    let time = 0.15_f64.sqrt();
    assert!((impact["time"].as_f64().unwrap() - time).abs() <= 1e-9);
    assert!((component(&record, "velocity", 0) - 8.0 * time).abs() <= 1e-8);
    let work = energy(&record, "prescribed_work_j");
    assert!((work - energy(&record, "final_j")).abs() <= 1e-9);
}

#[test]
fn faults_of_told_motions_name_key_and_value() {
    let fault = |motion: &str, more: &str| {
        try_world(&(table(0.1, 1e-2, 0.0, motion) + more + BOX))
            .unwrap_err()
            .to_string()
    };
    for (motion, more, words) in [
        ("{ velocity = [1, 0, 0] }", "mass = 1.0\n", "bodies[0].mass"),
        (
            "{ velocity = [1, 0, 0], angle = \"t\" }",
            "",
            "give either velocities",
        ),
        ("{ angle = \"t\" }", "", "bodies[0].motion.angle"),
        ("{ displacement = [\"x\", 0, 0] }", "", "unknown name `x`"),
        ("{ }", "", "nothing moves"),
    ] {
        let fault = fault(motion, more);
        assert!(fault.contains(words), "{fault}");
    }
    let stopped = try_world(
        &(table(
            0.1,
            1e-2,
            0.0,
            "{ displacement = [0, 0, \"-(0.05 - t)^0.5\"] }",
        ) + BOX),
    );
    let error = stopped.unwrap().results["error"].to_string();
    assert!(
        error.contains("actuator-force") && error.contains("`table`"),
        "{error}"
    );
}
