//! Runs: lines, closed forms, events, relations R1 to R5, threads.

use crate::support::{BOX, FAILED, G, HINGE, OK, Session, World, failure, kind, line};
use carom_capi::carom_wire::{Command, answer_line};
use carom_capi::{
    CAROM_IMPACT, CAROM_NONE, carom_body, carom_coordinate, carom_impulse, carom_lcp,
    carom_n_bodies, carom_n_coordinates, carom_restore, carom_set_body, carom_set_control,
    carom_set_force, carom_time, carom_version,
};
use std::ffi::CStr;
use std::ptr::null;

/// Each line has the bytes of the command line, whatever is in it; several problems have several answers.
#[test]
fn lines_have_the_bytes_of_the_command_line() {
    let impact = r#"{"id": "é", "law": "plastic", "mass_matrix": [[2]], "velocity": [-1], "contacts": [{"normal": [1]}]}"#;
    let lcp = r#"{"matrix": [[2, 1], [1, 2]], "vector": [-1, -1]}"#;
    for (name, command, text) in [
        (c"resolve", Command::Resolve, impact),
        (c"lcp", Command::Lcp, lcp),
        (c"lcp", Command::Lcp, "nan"),
        (c"judge", Command::Judge, r#"{"mass_matrix": 1}"#),
    ] {
        assert_eq!(
            line(name, text),
            answer_line(command, 1, text).text,
            "{text}"
        );
    }
    let both = line(c"lcp", &format!("[{lcp}, {lcp}]"));
    let one = line(c"lcp", lcp);
    assert_eq!(both, format!("{one}\n{one}"));
    assert_eq!(line(c"lcp", " \n"), "");
    let (mut z, mut w) = ([0.0; 2], [9.0; 2]);
    // SAFETY: the arrays have n and n × n numbers.
    let status = unsafe {
        carom_lcp(
            2,
            [2.0, 1.0, 1.0, 2.0].as_ptr(),
            [-1.0, -1.0].as_ptr(),
            z.as_mut_ptr(),
            w.as_mut_ptr(),
        )
    };
    assert!(status == OK && w.iter().all(|w| w.abs() <= 1e-15), "{w:?}");
    assert!(
        one.contains(&format!(r#""z":[{},{}]"#, z[0], z[1])),
        "{one} {z:?}"
    );
    // SAFETY: one number each.
    let none = unsafe { carom_lcp(1, &0.0, &-1.0, &mut z[0], &mut w[0]) };
    assert_eq!(
        (none, kind().as_str(), z[0]),
        (FAILED, "infeasible", 1.0 / 3.0)
    );
}

/// A box falls as it should, hits the floor when it should, is pushed and set as told.
#[test]
fn a_box_falls_and_hits_the_floor() {
    let world = World::new(BOX);
    let session = world.start();
    // A session outlives its world.
    drop(world);
    let text = |text| {
        // SAFETY: names end with 0.
        (!std::ptr::eq(text, null())).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap())
    };
    // SAFETY: the session is not freed.
    unsafe {
        assert_eq!(
            (carom_n_bodies(session.0), carom_n_coordinates(session.0)),
            (2, 0)
        );
        assert_eq!(text(carom_body(session.0, 1)), Some("ball"));
        assert_eq!(text(carom_body(session.0, 2)), None);
        assert_eq!(text(carom_version()), Some(env!("CARGO_PKG_VERSION")));
    }
    assert_eq!(session.advance(0.3), 0);
    let ([first, ball], _) = session.state();
    assert!((first[2] - (1.1 - 0.5 * G * 0.09)).abs() <= 1e-15);
    assert_eq!(first[3..7], [1.0, 0.0, 0.0, 0.0]);
    assert!((first[9] + 0.3 * G).abs() <= 1e-15 && ball[7] == 0.3);
    let hit = session.next_event(1.0);
    // The first to hit is the ball: body 1, on plane 0, which stands behind the two bodies.
    assert_eq!((hit.kind, hit.first, hit.second), (CAROM_IMPACT, 1, 2));
    assert!((hit.time - (1.2 / G).sqrt()).abs() <= 1e-14);
    assert!(hit.impulse[2] > 1.2 * (1.2 * G).sqrt() - 1e-12);
    // SAFETY: the arrays have the lengths that are told.
    unsafe {
        assert_eq!(
            carom_set_force(session.0, 0, [0.0, 0.0, 2.0 * G].as_ptr(), null()),
            OK
        );
        let kick = [0.5, 0.0, 0.0];
        assert_eq!(carom_impulse(session.0, 0, kick.as_ptr(), null()), OK);
    }
    let ([before, _], _) = session.state();
    session.advance(hit.time + 0.05);
    let ([after, _], _) = session.state();
    // The force balances gravity.
    assert!((after[9] - before[9]).abs() <= 1e-14 && (after[7] - 0.25).abs() <= 1e-15);
    let mut place = after;
    (place[2], place[9]) = (3.0, 0.0);
    // SAFETY: 13 numbers.
    let status = unsafe { carom_set_body(session.0, 0, place.as_ptr()) };
    assert_eq!(status, OK, "{}", failure());
    assert_eq!(session.state::<2>().0[0][2], 3.0);
}

/// Coordinates, their limits and controls.
#[test]
fn a_hinge_hits_its_limit() {
    let session = World::new(HINGE).start();
    // SAFETY: the session is not freed, and names end with 0.
    unsafe {
        let name = CStr::from_ptr(carom_coordinate(session.0, 0));
        assert_eq!((name, carom_n_coordinates(session.0)), (c"hinge", 1));
        assert_eq!(carom_set_control(session.0, &-40.0), OK);
    }
    let ([_], [position, rate]) = session.state();
    assert!((position - 1.2).abs() <= 1e-15 && rate == 0.0);
    let hit = session.next_event(0.6);
    assert_eq!((hit.kind, hit.first, hit.second), (CAROM_IMPACT, 0, 0));
    let ([_], [position, rate]) = session.state();
    assert!((position - 0.6).abs() <= 1e-9 && rate > 0.0 && hit.impulse[0] > 0.0);
    assert_eq!(session.next_event(session_time(&session)).kind, CAROM_NONE);
}

fn session_time(session: &Session) -> f64 {
    // SAFETY: the session is not freed.
    unsafe { carom_time(session.0) }
}

/// R1 to R5: parts, looks, copies and snapshots in other threads change no byte.
#[test]
fn parts_looks_copies_and_snapshots_are_one_run() {
    let world = World::new(BOX);
    let whole = world.start();
    whole.advance(1.0);
    let end = whole.snapshot();
    let parts = world.start();
    let mut threads = Vec::new();
    for k in 1..8 {
        let time = f64::from(k) / 7.0 - 0.001_3;
        while parts.next_event(time).kind != CAROM_NONE {
            parts.state::<2>();
        }
        let at = parts.state::<2>();
        let to = world.start();
        to.advance(time);
        assert!(to.state::<2>() == at, "R2 at {time}");
        assert!(to.snapshot() == parts.snapshot(), "R4 at {time}");
        let (copy, restored, bytes) = (parts.clone(), world.start(), parts.snapshot());
        let expected = end.clone();
        threads.push(std::thread::spawn(move || {
            // SAFETY: the bytes are there.
            let status = unsafe { carom_restore(restored.0, bytes.as_ptr(), bytes.len()) };
            assert_eq!(status, OK);
            for session in [&copy, &restored] {
                session.advance(0.9987);
                session.advance(1.0);
                assert!(session.snapshot() == expected, "R3, R5 from {time}");
            }
        }));
    }
    parts.advance(1.0);
    assert!(parts.snapshot() == end, "R1");
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A run that stops says so at every call, stays there, and goes on when it is set back.
#[test]
fn a_run_that_stops_says_so() {
    // The box slides so far that its coordinates are rounded by more than a contact is deep.
    let far = r#"
contact = { friction = 0.0, restitution = 0.0 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "box"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.1] }
position = [0.0, 0.0, 0.1]
velocity = [1e9, 0.0, 0.0]
"#;
    let session = World::new(far).start();
    let start = session.snapshot();
    for _ in 0..2 {
        // SAFETY: the session is not freed.
        let status = unsafe { carom_capi::carom_advance(session.0, 5.0, std::ptr::null_mut()) };
        assert_eq!(status, FAILED, "{}", failure());
        assert!(session_time(&session) < 5.0);
    }
    // SAFETY: the bytes are there.
    let status = unsafe { carom_restore(session.0, start.as_ptr(), start.len()) };
    assert_eq!(status, OK);
    assert_eq!((session_time(&session), failure().as_str()), (0.0, ""));
}
