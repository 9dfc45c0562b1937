//! Sessions: the motion is a function of the world and of the list of times and inputs; looking is no input.

use carom_scenarios::{Overrides, Record, Session, scenario};

const FREE: &str = r#"
duration = 0.8
contact = { friction = 0.3, restitution = 0.5 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "ball"
mass = 1.0
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.4]
[[bodies]]
name = "box"
mass = 2.0
shape = { type = "box", half_extents = [0.1, 0.08, 0.06] }
position = [0.05, 0.02, 0.75]
velocity = [0.2, 0.0, 0.0]
"#;

const JOINTED: &str = r#"
duration = 0.6
contact = { friction = 0.3, restitution = 0.5 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0], offset = 0.85 }]
[[bodies]]
name = "ball"
mass = 2.0
shape = { type = "box", half_extents = [0.02, 0.02, 0.5] }
[[joints]]
name = "hinge"
type = "revolute"
child = "ball"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 0.5] }
position = 1.2
friction = 0.1
limits = { lower = 0.6, upper = 2.0, restitution = 0.5 }
"#;

fn worlds() -> [Overrides; 4] {
    let toml = |text: &str| Overrides {
        toml: text.to_owned(),
        ..Overrides::default()
    };
    let in_steps = |text: &str| {
        let mut steps = toml(text);
        let scheme = "scheme=\"time-stepping\"".to_owned();
        steps.assignments.push(scheme);
        steps
    };
    [toml(FREE), in_steps(FREE), toml(JOINTED), in_steps(JOINTED)]
}

/// Numbers between 0 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn as_json(record: &Record) -> String {
    carom_scenarios::carom_report::export::json(record).unwrap()
}

/// Goes on to `time` in random parts, and looks at all that can be looked at.
fn wander(session: &mut Session, time: f64, random: &mut Random) {
    while session.time() < time && session.status() == "running" {
        let next = (session.time() + 0.1 * random.next()).min(time);
        if random.next() < 0.5 {
            while session.next_event(next).unwrap().is_some() {}
        } else {
            session.advance_to(next).unwrap();
        }
        session.state().unwrap();
        session.contacts().unwrap();
        session.energy().unwrap();
        if random.next() < 0.3 {
            *session = session.clone();
        }
    }
}

/// R1: a session that records has the record of the run, byte for byte, however it is advanced.
#[test]
fn a_session_in_parts_has_the_record_of_the_run() {
    let mut random = Random(3);
    for overrides in worlds() {
        let run = scenario("world").unwrap().run(&overrides).unwrap();
        for _ in 0..3 {
            let mut session = Session::start(&overrides, true).unwrap();
            let end = session.duration();
            wander(&mut session, end, &mut random);
            assert_eq!(as_json(&session.finish().unwrap()), as_json(&run));
        }
    }
}

/// Inputs at given times give one motion, whatever is looked at between them, and the books of energy add up.
#[test]
fn inputs_make_one_motion_and_their_books_add_up() {
    let mut random = Random(5);
    for overrides in worlds() {
        let mut inputs = Vec::new();
        let mut time = 0.0;
        for _ in 0..4 {
            time += 0.12 * random.next();
            inputs.push((
                time,
                [random.next(), random.next() - 0.5, random.next() - 0.7],
            ));
        }
        let mut ends = Vec::new();
        for round in 0..3 {
            let mut session = Session::start(&overrides, true).unwrap();
            let mut looks = Random(round);
            for (time, push) in &inputs {
                if round == 0 {
                    session.advance_to(*time).unwrap();
                } else {
                    wander(&mut session, *time, &mut looks);
                }
                session.set_force("ball", push.map(|x| 3.0 * x)).unwrap();
                let at = session.state().unwrap().position[0];
                session
                    .impulse("ball", *push, Some([at[0], at[1], at[2] + 0.05]), *push)
                    .unwrap();
            }
            if round == 0 {
                session.advance_to(0.6).unwrap();
            } else {
                wander(&mut session, 0.6, &mut looks);
            }
            let energy = session.energy().unwrap();
            let number = |key: &str| energy[key].as_f64().unwrap();
            let terms = energy["balance"].as_array().unwrap();
            let work: f64 = terms
                .iter()
                .map(|term| term["work_j"].as_f64().unwrap())
                .sum();
            let error = number("final_j") - number("initial_j") - work;
            assert!(error.abs() <= 1e-12 * number("initial_j").abs().max(1.0));
            assert!(number("input_j") != 0.0);
            assert!(number("max_abs_error_j") <= 1e-2 * number("initial_j").abs().max(1.0));
            ends.push(as_json(&session.finish().unwrap()));
        }
        assert_eq!(ends[0], ends[1]);
        assert_eq!(ends[0], ends[2]);
    }
}
