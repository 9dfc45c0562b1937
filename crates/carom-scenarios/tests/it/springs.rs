//! Springs of worlds against closed forms, from event to event, in time steps, and between links of joints.

use carom_scenarios::{Overrides, Record, ScenarioError, scenario};

const G: f64 = 9.80665;

/// Schemes of worlds without joints.
const SCHEMES: [&str; 2] = ["events", "time-stepping"];

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

/// Keys of a world for 1 s.
fn head(step: f64, scheme: &str, gravity: f64) -> String {
    format!(
        "duration = 1.0\ntime_step = {step:e}\ngravity = [0, 0, {:e}]\nscheme = \"{scheme}\"\n\
         contact = {{ friction = 0.3, restitution = 0.0 }}\noutput = {{ sample_step = 0.0 }}\n",
        -gravity
    )
}

fn ball(name: &str, z: f64) -> String {
    format!(
        "[[bodies]]\nname = \"{name}\"\nmass = 2.0\nshape = {{ type = \"sphere\", radius = 0.1 }}\nposition = [0, 0, {z:?}]\n"
    )
}

fn spring(between: [&str; 2], more: &str) -> String {
    let [first, second] = between;
    format!(
        "[[springs]]\nname = \"spring\"\nbetween = [\"{first}\", \"{second}\"]\nstiffness = 50.0\n{more}\n"
    )
}

fn component(record: &Record, body: usize, key: &str, k: usize) -> f64 {
    record.results["final"][body][key][k].as_f64().unwrap()
}

fn energy(record: &Record, key: &str) -> f64 {
    record.results["energy"][key].as_f64().unwrap()
}

/// Checks that the error of a run falls with order 2 in the step, in both schemes, below 1e-6 after extrapolation, and that energies
/// and works add up with the same order.
fn is_of_order_two(bodies: &str, gravity: f64, exact: f64, read: impl Fn(&Record) -> f64) {
    for scheme in SCHEMES {
        let run = |step: f64| {
            let record = world(&(head(step, scheme, gravity) + bodies));
            let momentum = &record.results["momentum"]["max_abs_error"];
            assert!(momentum.as_f64().unwrap() <= 1e-12);
            (read(&record), energy(&record, "max_abs_error_j"))
        };
        let [(coarse, rough), (fine, near)] = [4e-3, 2e-3].map(run);
        let ratio = (coarse - exact) / (fine - exact);
        assert!((ratio - 4.0).abs() <= 0.1, "{scheme}: {ratio}");
        let extrapolated = (4.0 * fine - coarse) / 3.0;
        let error = (extrapolated - exact).abs();
        assert!(error <= 1e-6, "{scheme}: {extrapolated:e}");
        assert!(near <= 0.3 * rough, "{scheme}: {near:e} {rough:e}");
    }
}

/// $z = \ell_0 + a\cos\omega t$ with $\omega^2 = k/m$: the spring is longer by $a$ at the start.
#[test]
fn a_ball_on_a_spring_oscillates() {
    let text = ball("ball", 1.1) + &spring(["ground", "ball"], "length = 1.0");
    is_of_order_two(&text, 0.0, 1.0 + 0.1 * 5.0_f64.cos(), |record| {
        let loads = record.results["spring_loads"]["rows"].as_array().unwrap();
        let [first, last] =
            [loads.first(), loads.last()].map(|row| row.unwrap()[2].as_f64().unwrap());
        assert!((first - 5.0).abs() <= 1e-12, "{first}");
        let z = component(record, 0, "position", 2);
        assert!((last - 50.0 * (z - 1.0)).abs() <= 1e-12, "{last}");
        z
    });
}

/// Without a slack length a spring is slack at the start; a damper lets the weight sink as $\ddot z+2\gamma\dot z+\omega^2z=-g$.
#[test]
fn a_damped_spring_sinks_under_the_weight() {
    let text = ball("ball", 1.0) + &spring(["ball", "ground"], "damping = 6.0");
    let (gamma, sag) = (1.5_f64, G / 25.0);
    let rate = (25.0 - gamma * gamma).sqrt();
    let swing = rate.cos() + gamma / rate * rate.sin();
    is_of_order_two(
        &text,
        G,
        1.0 - sag * (1.0 - (-gamma).exp() * swing),
        |record| {
            let taken = energy(record, "initial_j") - energy(record, "final_j");
            let loss = energy(record, "damper_loss_j");
            assert!((taken - loss).abs() <= 1e-3 && loss > 0.1, "{taken} {loss}");
            component(record, 0, "position", 2)
        },
    );
}

/// Two balls oscillate with the reduced mass, and one that is fixed is a point of space.
#[test]
fn the_masses_at_both_ends_share_the_oscillation() {
    let fixed = "[[bodies]]\nname = \"post\"\nfixed = true\nshape = { type = \"sphere\", radius = 0.1 }\nposition = [0, 0, 0]\n";
    let pair = ball("low", 0.0) + &ball("high", 1.2) + &spring(["low", "high"], "length = 1.0");
    let rate = (50.0_f64).sqrt();
    is_of_order_two(&pair, 0.0, 0.1 - 0.1 * rate.cos(), |record| {
        component(record, 0, "position", 2)
    });
    let post = fixed.to_owned() + &ball("ball", 1.1) + &spring(["post", "ball"], "length = 1.0");
    is_of_order_two(&post, 0.0, 1.0 + 0.1 * 5.0_f64.cos(), |record| {
        component(record, 1, "position", 2)
    });
}

/// A stiff damper stops its points at any step: the kicks at the ends of steps are implicit.
#[test]
fn a_stiff_damper_is_stable() {
    let text = ball("ball", 1.0) + &spring(["ball", "ground"], "damping = 1e5");
    for scheme in SCHEMES {
        let record = world(&(head(1e-2, scheme, G) + &text));
        let z = component(&record, 0, "position", 2);
        // The weight of 19.6 N sinks at 0.2 mm/s; without the damper it would by 4.9 m.
        assert!((z - 1.0).abs() <= 1e-3, "{scheme}: {z}");
    }
}

/// A spring without slack length draws a point off the center with $k(a-p)$: about a hinge at the center it is a pendulum, with
/// $\tfrac12I\dot\theta^2 - krD\cos\theta$ constant.
#[test]
fn a_spring_off_the_center_turns_a_link() {
    let text = |step: f64| {
        format!(
            "duration = 1.0\ntime_step = {step:e}\ngravity = [0, 0, 0]\noutput = {{ sample_step = 0.0 }}\n\
             [[bodies]]\nname = \"rod\"\nmass = 1.0\ninertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]\n\
             [[joints]]\nname = \"hinge\"\ntype = \"revolute\"\nchild = \"rod\"\naxis = [0, 0, 1]\nposition = 1.0\n\
             [[springs]]\nname = \"cord\"\nbetween = [\"rod\", \"ground\"]\nstiffness = 5.0\nlength = 0.0\n\
             points = [[0.2, 0, 0], [1.0, 0, 0]]\n"
        )
    };
    let run = |step: f64| {
        let record = world(&text(step));
        assert!(energy(&record, "max_abs_error_j") <= 1e-3);
        let joint = &record.results["final_joints"][0];
        let [angle, rate] = ["position", "velocity"].map(|key| joint[key].as_f64().unwrap());
        assert!(rate.abs() > 0.4, "{rate}");
        0.05 * rate * rate - 5.0 * 0.2 * angle.cos()
    };
    let [coarse, fine] = [1e-2, 5e-3].map(run);
    let error = (4.0 * fine - coarse) / 3.0 + 1.0_f64.cos();
    assert!(error.abs() <= 1e-7, "{error:e} {coarse} {fine}");
}

/// A free body off its center, with and without a hinge elsewhere in the world: energies add up, angular momentum about the point of
/// space stays.
#[test]
fn a_free_body_swings_on_a_cord() {
    let brick = "[[bodies]]\nname = \"brick\"\nmass = 2.0\nposition = [1.0, 0, 0]\nvelocity = [0, 1.0, 0]\n\
                 shape = { type = \"box\", half_extents = [0.1, 0.2, 0.3] }\n";
    let cord = "[[springs]]\nname = \"cord\"\nbetween = [\"ground\", \"brick\"]\nstiffness = 50.0\ndamping = 1.0\n\
                points = [[0, 0, 0], [0.1, 0.2, 0.0]]\n";
    let hinge = "[[bodies]]\nname = \"rod\"\nmass = 1.0\ninertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]\n\
                 [[joints]]\nname = \"hinge\"\ntype = \"revolute\"\nchild = \"rod\"\naxis = [0, 0, 1]\nparent_frame = { position = [9, 0, 0] }\n";
    let place = |more: &str, scheme: &str, step: f64| {
        let scheme = if more.is_empty() {
            format!("scheme = \"{scheme}\"\n")
        } else {
            String::new()
        };
        let keys = format!(
            "duration = 1.0\ntime_step = {step:e}\ngravity = [0, 0, 0]\n{scheme}output = {{ sample_step = 0.0 }}\n"
        );
        let record = world(&(keys + brick + more + cord));
        assert!(energy(&record, "max_abs_error_j") <= 1e-4);
        let [x, v] =
            ["position", "velocity"].map(|key| [0, 1].map(|k| component(&record, 0, key, k)));
        let inertia = 2.0 * (0.01 + 0.04) / 3.0;
        let spin = component(&record, 0, "angular_velocity", 2);
        let momentum = 2.0 * (x[0] * v[1] - x[1] * v[0]) + inertia * spin;
        assert!((momentum - 2.0).abs() <= 1e-9, "{momentum}");
        x[1]
    };
    let extrapolated = |more: &str, scheme: &str| {
        let [coarse, fine] = [4e-3, 2e-3].map(|step| place(more, scheme, step));
        (4.0 * fine - coarse) / 3.0
    };
    let events = extrapolated("", "events");
    for (more, scheme) in [("", "time-stepping"), (hinge, "")] {
        let other = extrapolated(more, scheme);
        assert!((other - events).abs() <= 1e-6, "{scheme}: {other} {events}");
    }
}

/// A ball that a body in uniform motion draws by a cord has $v = V(1-\cos\omega t)$; the work is $mVv$.
#[test]
fn a_told_body_works_through_a_spring() {
    let tug = "[[bodies]]\nname = \"tug\"\nposition = [0, 0, 0]\nmotion = { velocity = [0, 0, 0.5] }\n\
               shape = { type = \"sphere\", radius = 0.1 }\n[[pairs]]\nbetween = [\"tug\", \"ball\"]\ncollide = false\n";
    let text = ball("ball", 0.0) + tug + &spring(["tug", "ball"], "length = 0.0");
    is_of_order_two(&text, 0.0, 0.5 * (1.0 - 5.0_f64.cos()), |record| {
        let speed = component(record, 0, "velocity", 2);
        let work = energy(record, "prescribed_work_j");
        assert!((work - 2.0 * 0.5 * speed).abs() <= 1e-12, "{work}");
        speed
    });
}

/// A box that a spring draws over a floor with friction: $m\ddot x = -kx+\mu mg$ until it turns, at $2\mu mg/k - a$.
#[test]
fn a_spring_draws_a_box_over_the_floor() {
    let text = "[[bodies]]\nname = \"box\"\nmass = 2.0\nposition = [1.3, 0, 0.1]\n\
                shape = { type = \"box\", half_extents = [0.1, 0.1, 0.1] }\n\
                [[planes]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
                [[springs]]\nname = \"spring\"\nbetween = [\"ground\", \"box\"]\nstiffness = 50.0\nlength = 1.0\n\
                points = [[0, 0, 0.1], [0, 0, 0]]\n";
    // Half a period lasts 0.628 s; 3.2 N are less than the friction then.
    let stops = 1.0 + 2.0 * 0.3 * 2.0 * G / 50.0 - 0.3;
    for (scheme, most) in SCHEMES.into_iter().zip([2e-5, 1e-3]) {
        let record = world(&(head(1e-3, scheme, G) + text));
        let x = component(&record, 0, "position", 0);
        assert!((x - stops).abs() <= most, "{scheme}: {x} {stops}");
        let v = component(&record, 0, "velocity", 0);
        assert!(v.abs() <= 1e-6, "{scheme}: {v:e}");
    }
}

#[test]
fn faults_of_springs_name_key_and_value() {
    let bodies = ball("ball", 1.0)
        + "[[bodies]]\nname = \"post\"\nfixed = true\nposition = [0, 0, -1]\nshape = { type = \"sphere\", radius = 0.1 }\n";
    let run = |text: &str| try_world(&(head(1e-2, "events", 0.0) + &bodies + text));
    for (text, words) in [
        (
            spring(["ball", "bal"], ""),
            "springs[0].between[1]`: no body is called `bal`; did you mean `ball`?",
        ),
        (
            spring(["ball", "ball"], ""),
            "springs[0].between`: both ends are at `ball`",
        ),
        (
            spring(["post", "ground"], ""),
            "springs[0].between`: neither `post` nor `ground` moves",
        ),
        (
            spring(["ball", "ground"], "damping = -1.0"),
            "springs[0].damping`: -1",
        ),
        (
            spring(["ball", "ground"], "length = nan"),
            "springs[0].length`: NaN",
        ),
        (
            spring(["ball", "ground"], "points = [[inf, 0, 0], [0, 0, 0]]"),
            "springs[0].points[0][0]`",
        ),
        (
            spring(["ball", "ground"], "") + &spring(["ball", "post"], ""),
            "springs[1].name`: `spring` is there twice",
        ),
        (
            spring(["ball", "ground"], "").replace("50.0", "1e5"),
            "step of 1e-2 s too large for spring `spring`: steps below 8.9",
        ),
        (
            spring(
                ["ball", "ground"],
                "points = [[0, 0, -1], [0, 0, 0]]\nlength = 1.0",
            ),
            "the points of spring `spring` meet",
        ),
    ] {
        let fault = run(&text).unwrap_err().to_string();
        assert!(fault.contains(words), "{words}: {fault}");
    }
    for scheme in SCHEMES {
        let falls =
            ball("ball", 1.0) + &spring(["ball", "ground"], "length = 0.1").replace("50.0", "5.0");
        let record = try_world(&(head(1e-2, scheme, G) + &falls)).unwrap();
        let error = record.results["error"].to_string();
        assert!(error.contains("spring-collapsed"), "{scheme}: {error}");
    }
}
