//! Snapshots of sessions: what is restored goes on as the original, and what strangers send is refused or runs.

use carom_scenarios::{Overrides, Record, Session};
use sha2::{Digest as _, Sha256};

/// Ball and box within an accumulation of impacts, and at rest.
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

/// Boxes that fall on each other: islands of more than eight contacts.
const HEAP: &str = r#"
duration = 0.5
contact = { friction = 0.4, restitution = 0.0 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "a"
mass = 1.0
shape = { type = "box", half_extents = [0.2, 0.2, 0.05] }
position = [0.0, 0.0, 0.0501]
[[bodies]]
name = "b"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.05] }
position = [0.02, 0.0, 0.151]
[[bodies]]
name = "ball"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.05] }
position = [0.0, 0.01, 0.253]
angular_velocity = [0.1, 0.2, 0.0]
"#;

/// Hinge with dry friction and limits, whose body hits the floor.
const HINGE: &str = r#"
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
actuator = { type = "pd", proportional = 5.0, derivative = 0.5, times = [0.0], values = [1.0] }
"#;

/// Two plates on legs that a slide connects: jointed bodies in lasting contact at more than eight points.
const PLATES: &str = r#"
duration = 0.4
contact = { friction = 0.5, restitution = 0.0 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "ball"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.05] }
position = [0.0, 0.0, 0.06]
[[bodies]]
name = "right"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.05] }
position = [0.3, 0.0, 0.06]
[[bodies]]
name = "far"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.05] }
position = [0.6, 0.0, 0.06]
[[joints]]
name = "slide"
type = "prismatic"
parent = "ball"
child = "right"
axis = [1.0, 0.0, 0.0]
parent_frame = { position = [0.15, 0.0, 0.0] }
child_frame = { position = [-0.15, 0.0, 0.0] }
[[joints]]
name = "hinge"
type = "revolute"
parent = "right"
child = "far"
axis = [0.0, 1.0, 0.0]
parent_frame = { position = [0.15, 0.0, 0.0] }
child_frame = { position = [-0.15, 0.0, 0.0] }
"#;

/// A ball with drag and a force falls on a table that shakes and slides.
const SHAKEN: &str = r#"
duration = 0.4
contact = { friction = 0.5, restitution = 0.3 }
planes = [{ name = "belt", normal = [0.0, 0.0, 1.0], offset = 0.3, surface_velocity = [0.5, 0.0, 0.0] }]
[[bodies]]
name = "ball"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.05] }
position = [0.0, 0.0, 0.06]
drag = { quadratic = 0.3, rotational = 0.01 }
[[bodies]]
name = "table"
shape = { type = "box", half_extents = [1.0, 1.0, 0.1] }
position = [0.0, 0.0, -0.1]
motion = { displacement = ["0.1*t", 0.0, "0.01*sin(20*t)"] }
[[forces]]
body = "ball"
force = ["sin(9*t)", 0.0, 0.0]
"#;

/// A spring with a damper between the two bodies of that world.
const CORD: &str = "springs=[{name=\"cord\",between=[\"ball\",\"table\"],points=[[0.05,0.0,0.0],[0.0,0.3,0.2]],stiffness=30.0,damping=1.0}]";

fn with(text: &str, assignments: &[&str]) -> Overrides {
    Overrides {
        toml: text.to_owned(),
        assignments: assignments.iter().map(|a| (*a).to_owned()).collect(),
        ..Overrides::default()
    }
}

fn worlds() -> Vec<Overrides> {
    vec![
        with(FREE, &[]),
        with(FREE, &["scheme=\"time-stepping\""]),
        with(FREE, &["flight=\"lgvi4\"", "contact.restitution=0.0"]),
        with(FREE, &["on_zeno=\"stop\""]),
        with(
            FREE,
            &[
                "contact.friction=0.0",
                "law.several=\"set-valued\"",
                "seed=7",
            ],
        ),
        with(HEAP, &["scheme=\"time-stepping\""]),
        with(HEAP, &[]),
        with(SHAKEN, &[]),
        with(SHAKEN, &["scheme=\"time-stepping\""]),
        with(SHAKEN, &[CORD]),
        with(SHAKEN, &["scheme=\"time-stepping\"", CORD]),
        with(
            PLATES,
            &["forces=[{body=\"ball\",force=[\"sin(9*t)\",0.0,0.0]}]"],
        ),
        with(HINGE, &[]),
        with(HINGE, &["flight=\"lgvi4\""]),
        with(HINGE, &["scheme=\"time-stepping\""]),
        with(PLATES, &["scheme=\"time-stepping\""]),
        with(PLATES, &[]),
    ]
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

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }
}

fn as_json(record: &Record) -> String {
    carom_scenarios::carom_report::export::json(record).unwrap()
}

/// Times of the events of a run, ascending.
fn event_times(overrides: &Overrides) -> Vec<f64> {
    let mut session = Session::start(overrides, false).unwrap();
    let end = session.duration();
    let mut times = Vec::new();
    while let Ok(Some(event)) = session.next_event(end) {
        times.extend(event.entry["time"].as_f64());
    }
    times.sort_by(f64::total_cmp);
    times
}

/// Time within a run: at random, on a line of the grid, at an event, or one ulp beside.
fn a_time(events: &[f64], end: f64, random: &mut Random) -> f64 {
    let event = events.get(random.below(events.len()));
    let at = event.map_or(0.5 * end, |at| *at);
    let time = match random.below(5) {
        0 => at,
        1 => at.next_up(),
        2 => at.next_down(),
        3 => (random.next() * end * 1e3).floor() * 1e-3,
        _ => random.next() * end,
    };
    time.clamp(0.0, end)
}

/// Goes on to `time` in random parts, and looks at all that can be looked at.
fn wander(session: &mut Session, time: f64, random: &mut Random) {
    while session.time() < time && session.status() == "running" {
        let next = (session.time() + 0.5 * random.next()).min(time);
        if random.next() < 0.5 {
            while session.next_event(next).unwrap().is_some() {}
        } else {
            session.advance_to(next).unwrap();
        }
        session.state().unwrap();
        session.contacts().unwrap();
        session.energy().unwrap();
        session.snapshot();
        if random.next() < 0.3 {
            *session = session.clone();
        }
    }
}

/// Inputs that the session holds, and one that acts at once.
fn push(session: &mut Session) {
    session.set_force("ball", [0.3, 0.0, 0.1]).unwrap();
    session
        .impulse("ball", [0.1, 0.0, 0.05], None, [0.0; 3])
        .unwrap();
    if session.coordinates().contains(&"hinge") {
        session
            .set_control_of(&[("hinge".to_owned(), 0.2)])
            .unwrap();
        let _ = session.set_target("hinge", 0.9);
    }
}

/// R3 and R4: a snapshot is the same whatever was looked at before, and a session that is restored from it, in another thread, goes
/// on as the original.
#[test]
fn a_restored_session_goes_on_as_the_original() {
    let mut random = Random(1);
    for (k, overrides) in worlds().iter().enumerate() {
        let events = event_times(overrides);
        for round in 0..2 {
            let mut session = Session::start(overrides, round % 2 == 0).unwrap();
            let mut other = Session::start(overrides, round % 2 == 0).unwrap();
            let end = session.duration();
            let mut time = a_time(&events, end, &mut random);
            let is_pushed = round == 1;
            if is_pushed {
                session.advance_to(0.5 * time).unwrap();
                wander(&mut other, 0.5 * time, &mut random);
                if session.status() == "running" {
                    push(&mut session);
                    push(&mut other);
                }
            }
            time = time.max(session.time());
            session.advance_to(time).unwrap();
            wander(&mut other, time, &mut random);
            let snapshot = session.snapshot();
            assert!(snapshot == other.snapshot(), "R4 of world {k} at {time}");
            let own = overrides.clone();
            let bytes = snapshot.clone();
            let restored = std::thread::spawn(move || {
                let mut third = Session::start(&own, false).unwrap();
                third.advance_to(0.05).unwrap();
                third.restore(&bytes).unwrap();
                third
            });
            let mut third = restored.join().unwrap();
            assert!(third.snapshot() == snapshot, "R3 of world {k} at {time}");
            assert_eq!(third.time(), session.time());
            for at in [time + 0.4 * (end - time), end] {
                session.advance_to(at.max(session.time())).unwrap();
                wander(&mut third, at, &mut random);
                assert!(
                    third.snapshot() == session.snapshot(),
                    "world {k} from {time} at {at}"
                );
            }
            assert_eq!(third.state().unwrap(), session.state().unwrap());
            let ends = [session.finish().unwrap(), third.finish().unwrap()];
            assert_eq!(
                as_json(&ends[0]),
                as_json(&ends[1]),
                "world {k} from {time}"
            );
            assert_eq!(third.restore(&snapshot).unwrap_err().kind(), "finished");
        }
    }
}

/// A snapshot takes at most 4 kB, 2 kB a body or coordinate and 1 kB a touching pair.
#[test]
fn snapshots_are_small() {
    for overrides in worlds() {
        let mut session = Session::start(&overrides, false).unwrap();
        for k in 1..=8 {
            session.advance_to(0.1 * f64::from(k)).unwrap();
            let pairs = session.contacts().unwrap().len();
            let parts = session.bodies().len() + session.coordinates().len();
            let most = 4096 + 2048 * parts + 1024 * pairs;
            let length = session.snapshot().len();
            assert!(
                length <= most,
                "{length} bytes, {parts} parts, {pairs} points"
            );
        }
    }
}

/// A run that stopped with an error gives it again after it is restored.
#[test]
fn a_run_that_stopped_gives_its_error_again() {
    let overrides = with(FREE, &["on_zeno=\"continue\"", "scheme=\"events\""]);
    let mut session = Session::start(&overrides, true).unwrap();
    let error = session.advance_to(0.8).unwrap_err();
    let mut other = Session::start(&overrides, true).unwrap();
    other.restore(&session.snapshot()).unwrap();
    let again = other.advance_to(0.8).unwrap_err();
    assert_eq!(
        (again.kind(), again.to_string()),
        (error.kind(), error.to_string())
    );
    assert_eq!(other.snapshot(), session.snapshot());
    assert_eq!(other.state().unwrap(), session.state().unwrap());
    let records = [session.finish().unwrap(), other.finish().unwrap()];
    assert_eq!(as_json(&records[0]), as_json(&records[1]));
}

/// R8: what cannot be restored changes nothing. Spelling and duration of a world do not count.
#[test]
fn a_snapshot_of_another_session_is_refused() {
    let start = |overrides: &Overrides| Session::start(overrides, false).unwrap();
    let mut session = start(&with(FREE, &[]));
    session.advance_to(0.31).unwrap();
    let snapshot = session.snapshot();
    let spelled = FREE
        .replace("mass = 2.0", "# a comment\nmass = 2")
        .replace("duration = 0.8", "duration = 0.9");
    start(&with(&spelled, &[])).restore(&snapshot).unwrap();
    let others: [(&str, &[&str]); 5] = [
        ("world", &["bodies.ball.mass=1.5"]),
        ("world", &["bodies.ball.position.2=0.41"]),
        ("laws", &["law.several=\"moreau-newton\""]),
        ("laws", &["scheme=\"time-stepping\""]),
        ("seed", &["seed=5"]),
    ];
    for (what, assignments) in others {
        let mut other = start(&with(FREE, assignments));
        other.advance_to(0.1).unwrap();
        let before = other.snapshot();
        let error = other.restore(&snapshot).unwrap_err();
        assert_eq!(error.kind(), "snapshot-foreign");
        assert!(error.to_string().contains(what), "{error}");
        assert!(other.snapshot() == before);
    }
    let before = start(&with(FREE, &[])).snapshot();
    let mut random = Random(2);
    for _ in 0..200 {
        let mut other = start(&with(FREE, &[]));
        let mut bytes = snapshot.clone();
        if random.next() < 0.5 {
            bytes.truncate(random.below(bytes.len()));
        } else {
            let bit = random.below(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(
            other.restore(&bytes).unwrap_err().kind(),
            "snapshot-damaged"
        );
        assert!(other.snapshot() == before);
    }
    let mut later = snapshot[..snapshot.len() - 32].to_vec();
    later[14] += 1;
    assert_eq!(
        session.restore(&sealed(later)).unwrap_err().kind(),
        "snapshot-version"
    );
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = Sha256::digest(&bytes);
    bytes.extend(sum);
    bytes
}

/// Bytes before the payload: magic, format, numerics, three digests.
const HEADER: usize = 14 + 8 + 96;

/// Strangers can make the checksum right: what they send is refused, or runs without a panic.
#[test]
fn what_strangers_send_is_refused_or_runs() {
    let mut random = Random(3);
    let mut taken = 0;
    for overrides in worlds() {
        let mut session = Session::start(&overrides, false).unwrap();
        for time in [0.2, 0.31] {
            session.advance_to(time).unwrap();
            let snapshot = session.snapshot();
            let plain = &snapshot[..snapshot.len() - 32];
            for _ in 0..24 {
                let mut bytes = plain.to_vec();
                for _ in 0..=random.below(2) {
                    let at = HEADER + random.below(bytes.len() - HEADER - 8);
                    match random.below(4) {
                        0 => bytes[at] ^= 1 << random.below(8),
                        1 => bytes.truncate(at + 8),
                        2 => {
                            let numbers = [f64::NAN, f64::INFINITY, -1.0, 1e300, 0.0, 1e-300];
                            let number = numbers[random.below(6)];
                            bytes[at..at + 8].copy_from_slice(&number.to_bits().to_le_bytes());
                        }
                        _ => {
                            let numbers = [u64::MAX, 1 << 52, 1 << 31, 3, 0, 255];
                            let number = numbers[random.below(6)];
                            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
                        }
                    }
                }
                let mut other = Session::start(&overrides, false).unwrap();
                match other.restore(&sealed(bytes)) {
                    Err(error) => assert_eq!(error.kind(), "snapshot-damaged"),
                    Ok(()) => {
                        taken += 1;
                        let _ = other.advance_to(other.time() + 3e-3);
                        let _ = (other.state(), other.contacts(), other.energy());
                        other.snapshot();
                        let _ = other.finish();
                    }
                }
            }
        }
    }
    assert!(taken > 30, "{taken}");
}
