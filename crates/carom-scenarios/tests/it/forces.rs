//! Forces and drag of worlds against closed forms, from event to event, in time steps, and on links of joints.

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
    record
}

/// Schemes of worlds without joints.
const SCHEMES: [&str; 2] = ["events", "time-stepping"];

/// Keys of a world for `duration` (s).
fn head(duration: f64, step: f64, scheme: &str, gravity: f64) -> String {
    format!(
        "duration = {duration:?}\ntime_step = {step:e}\ngravity = [0, 0, {:e}]\nscheme = \"{scheme}\"\n\
         contact = {{ friction = 0.3, restitution = 0.0 }}\noutput = {{ sample_step = 0.0 }}\n",
        -gravity
    )
}

const BALL: &str =
    "[[bodies]]\nname = \"ball\"\nmass = 1.0\nshape = { type = \"sphere\", radius = 0.1 }\n";

fn component(record: &Record, key: &str, k: usize) -> f64 {
    record.results["final"][0][key][k].as_f64().unwrap()
}

fn energy(record: &Record, key: &str) -> f64 {
    record.results["energy"][key].as_f64().unwrap()
}

/// Checks that the energies and works of a run add up.
fn adds_up(record: &Record, most: f64) {
    let error = energy(record, "max_abs_error_j");
    assert!(error <= most, "{error:e}");
    let momentum = &record.results["momentum"]["max_abs_error"];
    assert!(momentum.as_f64().unwrap() <= 1e-12);
}

/// Checks that the error of a run falls with order 2 in the step, in both schemes, below `most` after extrapolation.
fn is_of_order_two(bodies: &str, gravity: f64, exact: f64, read: impl Fn(&Record) -> f64) {
    for scheme in SCHEMES {
        let run = |step: f64| read(&world(&(head(1.0, step, scheme, gravity) + bodies)));
        let [coarse, fine] = [4e-3, 2e-3].map(run);
        let ratio = (coarse - exact) / (fine - exact);
        assert!((ratio - 4.0).abs() <= 0.05, "{scheme}: {ratio}");
        let extrapolated = (4.0 * fine - coarse) / 3.0;
        assert!(
            (extrapolated - exact).abs() <= 1e-8,
            "{scheme}: {extrapolated:e}"
        );
    }
}

/// $\dot v = g - (c/m)v^2$ from rest gives $v_t\tanh(gt/v_t)$, and drag takes what the kinetic energy lacks.
#[test]
fn a_fall_with_quadratic_drag_follows_the_hyperbolic_tangent() {
    let limit = (G / 0.4_f64).sqrt();
    let body = format!("{BALL}position = [0, 0, 50]\ndrag = {{ quadratic = 0.4 }}\n");
    let exact = -limit * (G / limit).tanh();
    is_of_order_two(&body, G, exact, |record| {
        adds_up(record, 1e-9);
        let loss = energy(record, "drag_loss_j");
        let change = energy(record, "initial_j") - energy(record, "final_j");
        assert!((change - loss).abs() <= 1e-9);
        component(record, "velocity", 2)
    });
}

#[test]
fn a_force_in_time_gives_its_integral() {
    let body = format!(
        "{BALL}position = [0, 0, 0]\n[[forces]]\nbody = \"ball\"\nforce = [\"2*sin(5*t)\", 0, 0]\n"
    );
    is_of_order_two(&body, 0.0, 0.4 * (1.0 - 5.0_f64.cos()), |record| {
        adds_up(record, 1e-12);
        let v = component(record, "velocity", 0);
        assert!((energy(record, "applied_work_j") - 0.5 * v * v).abs() <= 1e-12);
        v
    });
}

#[test]
fn a_force_in_place_is_a_spring() {
    let body = format!(
        "{BALL}position = [0, 0, 1.1]\n[[forces]]\nbody = \"ball\"\nforce = [0, 0, \"-40*(z - 1)\"]\n"
    );
    let exact = 1.0 + 0.1 * 40.0_f64.sqrt().cos();
    is_of_order_two(&body, 0.0, exact, |record| component(record, "position", 2));
}

/// A force across the velocity turns it and does no work.
#[test]
fn a_magnetic_force_does_no_work() {
    let body = format!(
        "{BALL}position = [0, 0, 0]\nvelocity = [1, 0, 0]\n[[forces]]\nbody = \"ball\"\nforce = [\"3*vy\", \"-3*vx\", 0]\n"
    );
    is_of_order_two(&body, 0.0, -3.0_f64.sin(), |record| {
        let speed = component(record, "velocity", 0).hypot(component(record, "velocity", 1));
        assert!((speed - 1.0).abs() <= 1e-12);
        assert!(energy(record, "applied_work_j").abs() <= 1e-12);
        component(record, "velocity", 1)
    });
}

/// A thrust that rides on the body off its center turns it with the torque of its arm: $\omega = rFt/I$.
#[test]
fn a_force_off_the_center_turns_the_body() {
    let body = format!(
        "{BALL}position = [0, 0, 0]\n[[forces]]\nbody = \"ball\"\nforce = [0, 0.02, 0]\npoint = [0.1, 0, 0]\nframe = \"body\"\n"
    );
    for scheme in SCHEMES {
        let record = world(&(head(1.0, 1e-2, scheme, 0.0) + &body));
        adds_up(&record, 1e-12);
        let spin = component(&record, "angular_velocity", 2);
        assert!((spin - 0.002 / 0.004).abs() <= 1e-12, "{spin:e}");
        let work = energy(&record, "applied_work_j");
        assert!((work - energy(&record, "final_j")).abs() <= 1e-12);
    }
}

/// A constant force is another gravity: the flight is exact at any step.
#[test]
fn a_constant_force_keeps_flights_exact() {
    let body =
        format!("{BALL}position = [0, 0, 10]\n[[forces]]\nbody = \"ball\"\nforce = [1.0, 0, 0]\n");
    for scheme in SCHEMES {
        let record = world(&(head(1.0, 0.5, scheme, G) + &body));
        adds_up(&record, 1e-12);
        assert!((component(&record, "position", 0) - 0.5).abs() <= 1e-14);
        assert!((energy(&record, "applied_work_j") - 0.5).abs() <= 1e-13);
        assert_eq!(record.results["momentum"]["inputs"][0].as_f64(), Some(1.0));
    }
}

/// Drag that stops a body within a tenth of a step leaves the terminal speed $mg/c$.
#[test]
fn stiff_drag_leaves_the_terminal_speed() {
    let body = format!("{BALL}position = [0, 0, 50]\ndrag = {{ linear = 200.0 }}\n");
    for scheme in SCHEMES {
        let record = world(&(head(4.0, 0.05, scheme, G) + &body));
        let speed = component(&record, "velocity", 2);
        assert!(
            (speed + G / 200.0).abs() <= 1e-6 * G / 200.0,
            "{scheme}: {speed}"
        );
    }
}

/// A force that grows as $kt$ moves a box once it exceeds the friction: by $k(t - t_s)^3/6m$ with $kt_s = \mu mg$.
#[test]
fn a_growing_force_overcomes_friction() {
    let (rate, stays) = (5.0, 0.3 * G / 5.0);
    let body = "[[bodies]]\nname = \"box\"\nmass = 1.0\nposition = [0, 0, 0.1]\n\
                shape = { type = \"box\", half_extents = [0.1, 0.1, 0.1] }\n\
                [[planes]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
                [[forces]]\nbody = \"box\"\nforce = [\"5*t\", 0, 0]\n";
    for (scheme, most) in SCHEMES.into_iter().zip([2e-5, 1e-3]) {
        let record = world(&(head(1.0, 1e-3, scheme, G) + body));
        let moved = component(&record, "position", 0);
        let exact = rate * (1.0_f64 - stays).powi(3) / 6.0;
        assert!((moved - exact).abs() <= most, "{scheme}: {moved} {exact}");
        adds_up(&record, 1e-6);
        let before = world(&(head(0.5, 1e-3, scheme, G) + body));
        assert!(component(&before, "position", 0).abs() <= 1e-12);
    }
}

/// A pendulum that a torque of its rotational drag slows: $\ddot\theta = -(c/I)\dot\theta$ without gravity; and one that a force at
/// its tip drives: $I\ddot\theta = rF\cos\theta$ has the energy $\tfrac12I\dot\theta^2 = rF\sin\theta$.
#[test]
fn links_of_joints_take_forces_and_drag() {
    let link = "[[bodies]]\nname = \"rod\"\nmass = 1.0\ninertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]\n";
    let hinge = "[[joints]]\nname = \"hinge\"\ntype = \"revolute\"\nchild = \"rod\"\naxis = [0, 0, 1]\nvelocity = 2.0\n\
                 child_frame = { position = [-0.5, 0, 0] }\n";
    let keys = |step: f64, gravity: f64| {
        format!(
            "duration = 1.0\ntime_step = {step:e}\ngravity = [0, {:e}, 0]\noutput = {{ sample_step = 0.0 }}\n",
            -gravity
        )
    };
    // About the hinge: 0.1 + 0.25 kg m²; drag of the center acts on an arm of 0.5 m.
    let damped = |step: f64| {
        let drag = "drag = { linear = 0.4, rotational = 0.1 }\n";
        let record = world(&(keys(step, 0.0) + link + drag + hinge));
        adds_up(&record, 1e-5);
        record.results["final_joints"][0]["velocity"]
            .as_f64()
            .unwrap()
    };
    let exact = 2.0 * (-0.2_f64 / 0.35).exp();
    let [coarse, fine] = [1e-2, 5e-3].map(damped);
    let ratio = (coarse - exact) / (fine - exact);
    assert!((ratio - 4.0).abs() <= 0.1, "{ratio}");
    assert!(((4.0 * fine - coarse) / 3.0 - exact).abs() <= 1e-8);
    // A force in y at the tip, 1 m from the hinge, and the weight that it replaces.
    let driven = |step: f64| {
        let force =
            "[[forces]]\nbody = \"rod\"\nforce = [0, \"0.5 + 0*t\", 0]\npoint = [0.5, 0, 0]\n";
        let record = world(&(keys(step, 0.0) + link + hinge + force));
        adds_up(&record, 1e-4);
        let joint = &record.results["final_joints"][0];
        let [angle, rate] = ["position", "velocity"].map(|key| joint[key].as_f64().unwrap());
        0.5 * 0.35 * rate * rate - 0.5 * angle.sin()
    };
    let exact = 0.5 * 0.35 * 4.0;
    let [coarse, fine] = [1e-2, 5e-3].map(driven);
    assert!(
        ((4.0 * fine - coarse) / 3.0 - exact).abs() <= 1e-8,
        "{coarse} {fine}"
    );
}

#[test]
fn faults_of_forces_name_key_and_value() {
    let world = |more: &str| {
        let text = head(0.1, 1e-2, "events", G)
            + BALL
            + "position = [0, 0, 1]\n[[bodies]]\nname = \"step\"\nfixed = true\nposition = [0, 0, -1]\n\
               shape = { type = \"sphere\", radius = 0.1 }\n"
            + more;
        try_world(&text).map(|record| record.results["error"].to_string())
    };
    for (more, words) in [
        ("drag = { linear = 1.0 }", "`step` is fixed"),
        (
            "[[forces]]\nbody = \"bal\"\nforce = [1, 0, 0]",
            "forces[0].body`: no body is called `bal`; did you mean `ball`?",
        ),
        (
            "[[forces]]\nbody = \"step\"\nforce = [1, 0, 0]",
            "forces[0].body`: `step` is fixed",
        ),
        (
            "[[forces]]\nbody = \"ball\"\nforce = [\"q\", 0, 0]",
            "forces[0].force[0]`: unknown name `q`",
        ),
        (
            "[[forces]]\nbody = \"ball\"",
            "forces[0].force`: nothing acts",
        ),
        (
            "[[forces]]\nbody = \"ball\"\ntorque = [1, 0, 0]\npoint = [1, 0, 0]",
            "forces[0].point`: only a force",
        ),
    ] {
        let fault = world(more).unwrap_err().to_string();
        assert!(fault.contains(words), "{fault}");
    }
    let stopped =
        world("[[forces]]\nbody = \"ball\"\nforce = [\"1/(0.05 - t)^0.5\", 0, 0]").unwrap();
    assert!(
        stopped.contains("actuator-force") && stopped.contains("`ball`"),
        "{stopped}"
    );
}

const BOX: &str = "[[bodies]]\nname = \"box\"\nmass = 2.0\nposition = [0, 0, 0.1]\n\
                   shape = { type = \"box\", half_extents = [0.1, 0.1, 0.1] }\n";

/// Belts along x at 0.8 m/s: the surface of a plane, and that of a fixed body.
const BELTS: [&str; 2] = [
    "[[planes]]\nname = \"belt\"\nnormal = [0, 0, 1]\nsurface_velocity = [0.8, 0, 0]\n",
    "[[bodies]]\nname = \"belt\"\nfixed = true\nposition = [0, 0, -0.5]\nsurface_velocity = [0.8, 0, 0]\n\
     shape = { type = \"box\", half_extents = [9, 9, 0.5] }\n",
];

/// Schemes with the accuracy of contacts that run: steps of time are of first order, and their contacts yield.
const RUNNING: [(&str, f64); 2] = [("events", 1e-8), ("time-stepping", 1e-4)];

/// A box that is laid on a belt takes half of the work $mV^2$ of the belt, friction the other half.
#[test]
fn a_belt_works_twice_as_much_as_it_gives() {
    for belt in BELTS {
        for (scheme, most) in RUNNING {
            let record = world(&(head(0.5, 1e-3, scheme, G) + BOX + belt));
            let speed = component(&record, "velocity", 0);
            assert!((speed - 0.8).abs() <= most, "{scheme}: {speed}");
            let work = energy(&record, "prescribed_work_j");
            assert!((work - 2.0 * 0.64).abs() <= most, "{scheme}: {work}");
            let loss = energy(&record, "contact_loss_j") + energy(&record, "impact_loss_j");
            assert!((loss - 0.64).abs() <= most, "{scheme}: {loss}");
            adds_up(&record, 1e-8);
        }
    }
}

/// A ball that is laid on a belt rolls with $\tfrac27V$; one that falls on it leaves with the same, if friction suffices.
#[test]
fn a_ball_on_a_belt_goes_with_two_sevenths_of_its_speed() {
    for belt in BELTS {
        for (scheme, most) in RUNNING {
            // Steps of time let the ball hit up to a step early, with an arm that is longer by half of the gap.
            let heights: &[f64] = if scheme == "events" {
                &[0.1, 0.6]
            } else {
                &[0.1]
            };
            for height in heights {
                let ball = format!("{BALL}position = [0, 0, {height}]\n");
                let record = world(&(head(0.6, 1e-3, scheme, G) + &ball + belt));
                let speed = component(&record, "velocity", 0);
                assert!(
                    (speed - 0.8 * 2.0 / 7.0).abs() <= most,
                    "{scheme} {height}: {speed}"
                );
                adds_up(&record, 1e-8);
            }
        }
    }
}

/// A box that a fixed wall holds on a belt stays there; friction takes all of the work $\mu mgVt$.
#[test]
fn a_box_held_on_a_belt_rests() {
    let wall = "[[planes]]\nname = \"wall\"\nnormal = [-1, 0, 0]\noffset = 0.1\n\
                [[pairs]]\nbetween = [\"box\", \"wall\"]\nfriction = 0.0\n";
    for (scheme, most) in RUNNING {
        let record = world(&(head(0.3, 1e-3, scheme, G) + BOX + BELTS[0] + wall));
        let moved = component(&record, "position", 0);
        assert!(moved.abs() <= most, "{scheme}: {moved:e}");
        let work = energy(&record, "prescribed_work_j");
        let exact = 0.3 * 2.0 * G * 0.8 * 0.3;
        assert!(
            (work - exact).abs() <= 2e-2 * exact,
            "{scheme}: {work} {exact}"
        );
        adds_up(&record, 1e-8);
    }
}

#[test]
fn faults_of_running_surfaces_name_key_and_value() {
    let fault = |more: &str| {
        try_world(&(head(0.1, 1e-2, "events", G) + BOX + more))
            .unwrap_err()
            .to_string()
    };
    let plane = |v: &str| {
        fault(&format!(
            "[[planes]]\nname = \"belt\"\nnormal = [0, 0, 1]\nsurface_velocity = {v}\n"
        ))
    };
    let normal = plane("[0.8, 0, 0.5]");
    assert!(
        normal.contains("planes[0].surface_velocity") && normal.contains("0.5 m/s"),
        "{normal}"
    );
    let mobile = fault("surface_velocity = [1, 0, 0]\n");
    assert!(
        mobile.contains("bodies[0].surface_velocity") && mobile.contains("fixed body"),
        "{mobile}"
    );
}
