//! Sessions: however a run is advanced and looked at, it is one motion, bit for bit.

use crate::common::{G, ball, cuboid, fixed, floor, limits, moving, plane, spec, v};
use carom_impact::frictional::MoreauNewton;
use carom_impact::two_body::ImpactOptions;
use carom_motion::hybrid::{Ending, Limits, OwnedEvent};
use carom_variational::State;
use carom_world::{
    Event, FlightRule, OnZeno, RunEnd, Serial, Session, SessionOptions, SharedLaws, Stepping,
    World, WorldEvent, WorldSpec,
};

const fn is_session<T: Send + Clone + 'static>() {}
const _: () = is_session::<Session>();

/// Integration of a world of the tests.
#[derive(Clone, Copy, Debug)]
enum How {
    Events,
    Both,
    Steps,
}

/// World with its integration, and the duration of its runs (s).
struct Case {
    name: &'static str,
    world: World,
    how: How,
    limits: Limits,
    on_zeno: OnZeno,
}

impl Case {
    fn new(name: &'static str, spec: &WorldSpec, how: How, duration: f64) -> Self {
        Self {
            name,
            world: World::new(spec).unwrap(),
            how,
            limits: limits(duration),
            on_zeno: OnZeno::Rest,
        }
    }

    fn laws(&self) -> SharedLaws {
        let laws = SharedLaws::new(ImpactOptions::default(), |_, _| {
            Box::new(MoreauNewton::default())
        });
        laws.with_on_zeno(self.on_zeno)
    }

    fn start(&self) -> Session {
        let options = match self.how {
            How::Events => SessionOptions::events(self.laws()),
            How::Both => SessionOptions::events(self.laws()).with_stepping(Stepping::default()),
            How::Steps => SessionOptions::steps(Stepping::default()),
        };
        self.world.start(options.with_limits(self.limits))
    }

    /// One run to `duration` (s): its end, its events, and its samples.
    fn run(&self, duration: f64, samples: &[f64]) -> (RunEnd, Vec<WorldEvent>, Vec<Row>) {
        let (mut events, mut rows) = (Vec::new(), Vec::new());
        let mut note = |event: Event<'_>| match event {
            Event::Sample(sample) => rows.push((sample.time, sample.states.to_vec())),
            Event::Impact(impact) => events.push(OwnedEvent::Impact(impact.clone())),
            Event::Established { time, contact } => {
                events.push(OwnedEvent::Established { time, contact });
            }
            Event::Mode {
                time,
                contact,
                slides,
            } => events.push(OwnedEvent::Mode {
                time,
                contact,
                slides,
            }),
            Event::Released { time, contact } => {
                events.push(OwnedEvent::Released { time, contact })
            }
            other => panic!("{other:?}"),
        };
        let limits = self.limits.with_duration(duration);
        let stepping = Stepping::default();
        let shared = self.laws();
        let laws = shared.laws();
        let world = &self.world;
        let end = match self.how {
            How::Events => world.run(&laws, &limits, samples, &mut note),
            How::Both => {
                world.run_or_step(&laws, &limits, samples, (&stepping, &Serial), &mut note)
            }
            How::Steps => world.run_in_steps(&stepping, &limits, samples, &Serial, &mut note),
        };
        (end, events, rows)
    }
}

/// Time of a sample (s) and the states of all bodies.
type Row = (f64, Vec<State>);

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

fn boxes_and_balls(count: usize) -> WorldSpec {
    let mut bodies = Vec::new();
    for k in 0..count {
        let (x, z) = (0.04 * (k as f64).sin(), 0.2 + 0.25 * k as f64);
        bodies.push(if k % 2 == 0 {
            ball(&format!("b{k}"), 0.1, 1.0, v(x, 0.03 * x, z))
        } else {
            moving(
                cuboid(&format!("b{k}"), [0.1, 0.08, 0.06], v(x, -x, z)),
                v(0.0, 0.0, 0.0),
                v(1.0, 2.0, 0.5),
            )
        });
    }
    spec(bodies, vec![floor()], 0.4, 0.3)
}

fn cases() -> Vec<Case> {
    let falling = |restitution: f64| {
        let falling = moving(
            ball("ball", 0.1, 1.0, v(0.0, 0.0, 0.4)),
            v(0.5, 0.0, 0.0),
            v(0.0, 3.0, 1.0),
        );
        spec(vec![falling], vec![floor()], 0.3, restitution)
    };
    let tumbling = |flight: FlightRule| {
        let body = moving(
            cuboid("box", [0.1, 0.07, 0.05], v(0.0, 0.0, 0.5)),
            v(0.3, 0.1, 0.0),
            v(3.0, 5.0, 1.0),
        );
        let mut spec = spec(vec![body], vec![floor()], 0.3, 0.6);
        spec.flight = flight;
        spec
    };
    let slope = plane("slope", v(-0.2, 0.0, 1.0).normalize(), 0.0);
    let mut sliding = cuboid("box", [0.1, 0.1, 0.05], v(0.0, 0.0, 0.0));
    sliding.configuration.rotation = carom_lie::So3::exp(&v(0.0, -(0.2_f64.atan()), 0.0));
    sliding.configuration.translation = v(-0.2, 0.0, 1.0).normalize() * 0.05;
    let pair = vec![
        moving(
            ball("a", 0.1, 1.0, v(0.0, 0.0, 0.1)),
            v(2.0, 0.0, 0.0),
            v(0.0, 0.0, 0.0),
        ),
        ball("b", 0.1, 1.0, v(0.5, 0.01, 0.1)),
        fixed(cuboid("wall", [0.1, 1.0, 1.0], v(1.5, 0.0, 1.0))),
    ];
    let mut all = vec![
        Case::new("elastic", &falling(1.0), How::Events, 1.0),
        Case::new("accumulating", &falling(0.5), How::Events, 1.2),
        Case::new("plastic", &falling(0.0), How::Events, 0.6),
        Case::new("exact", &tumbling(FlightRule::Exact), How::Both, 0.8),
        Case::new("lgvi", &tumbling(FlightRule::Lgvi), How::Both, 0.8),
        Case::new("lgvi4", &tumbling(FlightRule::Lgvi4), How::Events, 0.6),
        Case::new(
            "slide",
            &spec(vec![sliding.clone()], vec![slope.clone()], 0.1, 0.0),
            How::Events,
            0.5,
        ),
        Case::new(
            "rest",
            &spec(vec![sliding], vec![slope], 0.5, 0.0),
            How::Events,
            0.5,
        ),
        Case::new(
            "billiard",
            &spec(pair, vec![floor()], 0.2, 0.8),
            How::Both,
            1.5,
        ),
        Case::new("heap by events", &boxes_and_balls(4), How::Both, 1.0),
        Case::new("heap by steps", &boxes_and_balls(5), How::Steps, 0.8),
    ];
    let mut stops = Case::new("zeno", &falling(0.5), How::Events, 3.0);
    stops.on_zeno = OnZeno::Stop;
    let mut few = Case::new("three impacts", &falling(0.9), How::Events, 3.0);
    few.limits = few.limits.with_impacts(3);
    all.extend([stops, few]);
    all
}

/// Times within a run: random ones, lines of the grid, times of events and one ulp beside.
fn cuts(case: &Case, events: &[WorldEvent], random: &mut Random) -> Vec<f64> {
    let duration = case.limits.duration;
    let mut out = Vec::new();
    for _ in 0..8 {
        let event = events.get((random.next() * events.len() as f64) as usize);
        let at = event.map_or(0.5 * duration, |event| event.time(|impact| impact.time));
        let kind = (random.next() * 5.0) as usize;
        out.push(match kind {
            0 => at,
            1 => at.next_up(),
            2 => at.next_down().max(0.0),
            3 => (random.next() * duration * 1e3).floor() * 1e-3,
            _ => random.next() * duration,
        });
    }
    out.retain(|t| *t <= duration);
    out.sort_by(f64::total_cmp);
    out
}

/// R1 and R5: a session that is advanced in any parts, looked at and copied, has the events and the end of one run.
#[test]
fn any_partition_is_one_run() {
    let mut random = Random(7);
    for case in cases() {
        let (end, events, _) = case.run(case.limits.duration, &[]);
        for round in 0..4 {
            let mut session = case.start();
            let mut seen = Vec::new();
            for time in cuts(&case, &events, &mut random) {
                if session.ending().is_some() {
                    break;
                }
                if round % 2 == 1 {
                    while let Some(event) = session.next_event(time).unwrap() {
                        seen.push(event.clone());
                    }
                } else {
                    seen.extend(
                        session
                            .advance_to(time.max(session.time()))
                            .unwrap()
                            .to_vec(),
                    );
                }
                session.state().unwrap();
                if random.next() < 0.3 {
                    session.energy().unwrap();
                    session.contacts().unwrap();
                }
                if random.next() < 0.3 {
                    let mut copy = session.clone();
                    let _ = copy.advance_to(copy.time() + 0.1 * random.next());
                    if random.next() < 0.5 {
                        session = session.clone();
                    }
                }
            }
            if session.ending().is_none() {
                let rest = session.advance_to(case.limits.duration).unwrap();
                seen.extend(rest.to_vec());
            }
            assert_eq!(session.finish().unwrap(), end, "{}", case.name);
            seen.extend(session.events().to_vec());
            assert_eq!(seen, events, "{}", case.name);
        }
    }
}

/// R2: the state at a time is the sample of a run at that time, and the end of a run to that time.
#[test]
fn the_state_at_a_time_is_that_of_a_run_to_it() {
    let mut random = Random(11);
    for case in cases() {
        let (end, events, _) = case.run(case.limits.duration, &[]);
        let times = cuts(&case, &events, &mut random);
        let (sampled, _, rows) = case.run(case.limits.duration, &times);
        assert_eq!(sampled, end, "{}", case.name);
        let mut session = case.start();
        for (time, states) in rows {
            session.advance_to(time).unwrap();
            let state = session.state().unwrap();
            assert_eq!(state.states, states, "{} at {time}", case.name);
            if time <= session.time() && session.ending().is_none() {
                assert_eq!(state.time, time);
                let (to, _, _) = case.run(time, &[]);
                assert_eq!(to.states, states, "{} to {time}", case.name);
                let copy = session.clone().finish().unwrap();
                assert_eq!(copy, to, "{} to {time}", case.name);
            }
        }
    }
}

/// R8: calls that are refused change nothing.
#[test]
fn refused_calls_change_nothing() {
    let case = &cases()[9];
    let (end, ..) = case.run(0.5, &[]);
    let mut session = case.start();
    session.advance_to(0.3).unwrap();
    let kinds = [
        session.advance_to(0.2).unwrap_err().kind(),
        session.advance_to(f64::NAN).unwrap_err().kind(),
        session.next_event(f64::INFINITY).unwrap_err().kind(),
        session.step(0).unwrap_err().kind(),
    ];
    let expected = [
        "time-backwards",
        "non-finite",
        "non-finite",
        "invalid-value",
    ];
    assert_eq!(kinds, expected);
    session.advance_to(0.5).unwrap();
    assert_eq!(session.finish().unwrap(), end);
    assert_eq!(session.finish().unwrap_err().kind(), "finished");
    assert_eq!(session.advance_to(0.6).unwrap_err().kind(), "finished");
    assert_eq!(session.state().unwrap().states, end.states);
}

/// Steps go from line to line of the grid, and the energy adds up at each.
#[test]
fn steps_go_from_line_to_line() {
    for case in cases().iter().take(5) {
        let mut session = case.start();
        session.advance_to(0.0123).unwrap();
        for k in 1..200 {
            session.step(1).unwrap();
            assert_eq!(session.time(), f64::from(12 + k) * 1e-3);
            let energy = session.energy().unwrap();
            let lost = energy.balance.impact_loss + energy.balance.contact_loss;
            let error = energy.now + lost - energy.initial;
            assert!(error.abs() <= 1e-2 * energy.initial.abs(), "{error}");
        }
    }
}

/// A ball that rolls has one lasting contact below it; a run that stopped says so at every call.
#[test]
fn contacts_and_errors_are_told() {
    let rolling = moving(
        ball("ball", 0.1, 1.0, v(0.0, 0.0, 0.1)),
        v(1.0, 0.0, 0.0),
        v(0.0, 10.0, 0.0),
    );
    let case = Case::new(
        "roll",
        &spec(vec![rolling], vec![floor()], 0.3, 0.5),
        How::Events,
        1.0,
    );
    let mut session = case.start();
    session.advance_to(0.25).unwrap();
    let contacts = session.contacts().unwrap();
    assert_eq!(contacts.len(), 1);
    assert!((contacts[0].point - v(0.25, 0.0, 0.0)).norm() < 1e-9);
    assert!(contacts[0].gap.abs() < 1e-9 && !contacts[0].slides);
    assert_eq!(session.status(), "running");

    // The box slides so far that its coordinates are rounded by more than a contact is deep.
    let sliding = cuboid("box", [0.1; 3], v(0.0, 0.0, 0.1));
    let sliding = moving(sliding, v(1e9, 0.0, 0.0), v(0.0, 0.0, 0.0));
    let spec = spec(vec![sliding], vec![floor()], 0.0, 0.0);
    let far = Case::new("far", &spec, How::Events, 1.0);
    let mut session = far.start();
    let error = session.advance_to(1.0).map(<[_]>::len).unwrap_err();
    let again = session.advance_to(2.0).map(<[_]>::len).unwrap_err();
    assert_eq!(error, again);
    assert_eq!(session.status(), "stopped");
    let end = session.finish().unwrap();
    assert!(matches!(end.ending, Ending::Stopped(_)));
    assert_eq!((end.time, session.time()), (session.time(), end.time));
}

/// R3, R4: a session that another one's snapshot restores goes on as it does, and snapshots do not depend on looks.
#[cfg(feature = "serde")]
#[test]
fn a_snapshot_goes_on_as_the_session() {
    let mut random = Random(17);
    for case in cases() {
        let (end, events, _) = case.run(case.limits.duration, &[]);
        for time in cuts(&case, &events, &mut random).into_iter().step_by(2) {
            let [mut session, mut other, mut third] = [(); 3].map(|()| case.start());
            session.advance_to(time).unwrap();
            while other.next_event(time).unwrap().is_some() {
                other.state().unwrap();
                other.energy().unwrap();
            }
            let snapshot = session.snapshot();
            assert!(snapshot == other.snapshot(), "{} at {time}", case.name);
            third.restore(&snapshot).unwrap();
            assert!(third.snapshot() == snapshot, "{} at {time}", case.name);
            assert_eq!(third.ending(), session.ending());
            for session in [&mut session, &mut third] {
                session.advance_to(case.limits.duration).unwrap();
            }
            assert_eq!(
                third.events(),
                session.events(),
                "{} from {time}",
                case.name
            );
            let ends = [session.finish().unwrap(), third.finish().unwrap()];
            assert_eq!(
                ends,
                [end.clone(), end.clone()],
                "{} from {time}",
                case.name
            );
        }
    }
}

/// A force set one ulp before an accumulation, where the end of the run is decided but not reached, revives the run.
#[test]
fn a_force_revives_a_run_whose_end_is_decided() {
    let case = cases()
        .into_iter()
        .find(|case| case.name == "zeno")
        .unwrap();
    let (end, _, _) = case.run(3.0, &[]);
    let Ending::Zeno { accumulation } = end.ending else {
        panic!("{:?}", end.ending);
    };
    let mut session = case.start();
    session.advance_to(accumulation.next_down()).unwrap();
    assert_eq!(session.ending(), None);
    let before = session.state().unwrap();
    session.set_force(0, v(0.0, 0.0, 2.0 * G)).unwrap();
    session.advance_to(before.time + 0.2).unwrap();
    let after = session.state().unwrap();
    let rise = after.states[0].position.z - before.states[0].position.z;
    assert_eq!((session.ending(), after.time), (None, before.time + 0.2));
    assert!((rise - 0.5 * G * 0.2 * 0.2).abs() <= 1e-6, "{rise}");
}
