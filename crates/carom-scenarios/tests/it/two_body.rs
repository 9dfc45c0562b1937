//! A user's own impact in the figures of Jia & Wang.

use carom_scenarios::{Overrides, Record, scenario};

fn run(name: &str, toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    scenario(name).unwrap().run(&overrides).unwrap()
}

fn value(record: &Record, name: &str) -> f64 {
    let found = record.quantities.iter().find(|q| q.name == name);
    found.unwrap().value
}

const OWN: &str =
    "inverse_inertia = [[3.0, 0.2, 0.5], [0.2, 2.0, 0.1], [0.5, 0.1, 1.0]]\nrestitution = 0.6\n";

#[test]
fn an_instance_of_a_user_has_its_impulse_and_no_printed_number() {
    let case = "[[instances]]\nname = \"mine\"\nfriction = 0.4\nvelocity = [0.5, -0.2, -1.0]\n";
    let record = run("hodographs", &format!("{OWN}{case}"));
    assert_eq!(record.figures.len(), 1);
    assert_eq!(record.figures[0].name, "mine");
    assert!(!record.figures[0].title.contains("Jia"));
    assert!(record.quantities.iter().all(|q| q.paper.is_none()));
    // Friction opposes sliding, and the normal impulse is positive.
    assert!(value(&record, "mine_impulse_z_ns") > 1.0);
    assert!(value(&record, "mine_impulse_x_ns") < 0.0);
    assert!(
        record.quantities[0]
            .note
            .as_ref()
            .unwrap()
            .starts_with("events ")
    );
}

#[test]
fn bodies_give_the_velocity_that_a_case_leaves_out() {
    let bodies = "contact = { point = [0.0, 0.0, 0.0], normal = [0.0, 0.0, 1.0] }\n\
        body1 = { mass = 2.0, inertia = [[0.2, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.4]], center = [0.1, 0.0, 0.5], \
        velocity = [1.0, 0.0, -2.0] }\n[[instances]]\nname = \"drop\"\nfriction = 0.3\n";
    let record = run("hodographs", bodies);
    assert!(value(&record, "drop_impulse_z_ns") > 0.0);
    let both = Overrides {
        toml: format!("{OWN}{bodies}"),
        ..Overrides::default()
    };
    let error = scenario("hodographs").unwrap().run(&both).unwrap_err();
    assert!(error.to_string().contains("inverse_inertia"), "{error}");
}

/// Jia & Wang, Fig. 6: of 15 hodographs four do not stop, and both centripetal directions are starts.
#[test]
fn the_bundle_of_figure_6_starts_in_the_invariant_directions() {
    let record = run("hodograph-bundles", "");
    assert!((value(&record, "fig6_not_stopped") - 4.0).abs() <= 0.0);
    assert!((value(&record, "fig6_stopped") - 11.0).abs() <= 0.0);
    let mine = run(
        "hodograph-bundles",
        &format!(
            "{OWN}[[bundles]]\nname = \"b\"\nfriction = 0.4\nnormal_velocity = -1.0\nnumber = 8\nstarts = \"equal\"\n\
             first_angle = 0.5\n"
        ),
    );
    assert_eq!(mine.figures[0].name, "b_bundle");
    assert_eq!(mine.tables[0].rows.len(), 8);
    assert!((mine.tables[0].rows[0][1] - 0.5).abs() <= 1e-15);
}

/// Jia & Wang, Fig. 3: the printed vertices contradict the printed moments.
#[test]
fn the_shape_of_the_bodies_is_a_choice() {
    let printed = run("icosahedron-tetrahedron", "");
    let shape = run("icosahedron-tetrahedron", "bodies = \"shape\"\n");
    let demand = value(&printed, "shape_stick_demand");
    assert!((demand - 0.326959).abs() <= 5e-7);
    assert!((value(&shape, "stick_demand") - demand).abs() <= 1e-15);
    for (k, moment) in [0.0182151, 0.0210938, 0.0278786].iter().enumerate() {
        let ours = value(&printed, &format!("shape_moment_{}_kg_m2", k + 1));
        assert!((ours - moment).abs() <= 5e-8, "{ours}");
    }
    assert!(
        shape
            .quantities
            .iter()
            .all(|q| q.name != "inverse_inertia_deviation")
    );
    assert!(!shape.summary.contains("icosahedron"));
    let fitted = printed
        .quantities
        .iter()
        .find(|q| q.name == "impulse_z_ns")
        .unwrap();
    assert!(fitted.is_fitted && fitted.note.as_ref().unwrap().contains("fitted: "));
}
