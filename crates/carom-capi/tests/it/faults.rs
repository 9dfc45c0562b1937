//! Calls that are refused: each with its kind, and nothing has changed (R8).

use crate::support::{BOX, INVALID, Session, World, failure, kind};
use carom_capi::{
    CaromStatus, carom_advance, carom_body, carom_coordinate, carom_copy, carom_free,
    carom_impulse, carom_lcp, carom_line, carom_n_bodies, carom_n_coordinates, carom_next_event,
    carom_restore, carom_session_free, carom_set_body, carom_set_control, carom_set_force,
    carom_snapshot, carom_start, carom_state, carom_time, carom_world_free, carom_world_read,
};
use std::ptr::{null, null_mut};

const NAN: [f64; 13] = [f64::NAN; 13];

/// Every pointer may be NULL.
#[test]
fn null_is_refused_or_does_nothing() {
    let session = World::new(BOX).start();
    let before = session.snapshot();
    let (some, line) = (&mut 0.0, c"{}".as_ptr());
    let s = session.0;
    let (mut world, mut other, mut bytes, mut length) = (null_mut(), null_mut(), null_mut(), 0);
    let mut answer = null_mut();
    // SAFETY: NULL is allowed everywhere.
    let statuses: Vec<CaromStatus> = unsafe {
        vec![
            carom_line(null(), line, 2, &mut answer),
            carom_line(c"lcp".as_ptr(), null(), 0, &mut answer),
            carom_line(c"lcp".as_ptr(), line, 2, null_mut()),
            carom_lcp(1, null(), some, some, some),
            carom_lcp(1, some, null(), some, some),
            carom_lcp(1, some, some, null_mut(), some),
            carom_lcp(1, some, some, some, null_mut()),
            carom_world_read(null(), 0, null(), &mut world),
            carom_world_read(line, 2, null(), null_mut()),
            carom_start(null(), &mut other),
            carom_copy(null(), &mut other),
            carom_copy(s, null_mut()),
            carom_advance(null_mut(), 1.0, null_mut()),
            carom_next_event(null_mut(), 1.0, null_mut()),
            carom_next_event(s, 1.0, null_mut()),
            carom_state(null(), null_mut(), null_mut()),
            carom_set_body(null_mut(), 0, NAN.as_ptr()),
            carom_set_body(s, 0, null()),
            carom_set_force(null_mut(), 0, null(), null()),
            carom_impulse(null_mut(), 0, NAN.as_ptr(), null()),
            carom_impulse(s, 0, null(), null()),
            carom_set_control(null_mut(), some),
            carom_set_control(s, null()),
            carom_snapshot(null(), &mut bytes, &mut length),
            carom_snapshot(s, null_mut(), &mut length),
            carom_snapshot(s, &mut bytes, null_mut()),
            carom_restore(null_mut(), [0].as_ptr(), 1),
            carom_restore(s, null(), 0),
        ]
    };
    for (k, status) in statuses.iter().enumerate() {
        assert_eq!(*status, INVALID, "call {k}");
    }
    assert_eq!(kind(), "invalid-input");
    let all: [*const (); 5] = [
        world.cast(),
        other.cast(),
        bytes.cast(),
        answer.cast(),
        null(),
    ];
    assert_eq!((all, length), ([null(); 5], 0));
    // SAFETY: NULL is allowed everywhere.
    unsafe {
        carom_free(null_mut());
        carom_world_free(null_mut());
        carom_session_free(null_mut());
        assert_eq!(
            (carom_n_bodies(null()), carom_n_coordinates(null())),
            (0, 0)
        );
        assert!(carom_body(null(), 0).is_null() && carom_coordinate(null(), 0).is_null());
        assert!(carom_coordinate(s, 0).is_null() && carom_time(null()).is_nan());
        assert_eq!(carom_advance(s, 0.0, null_mut()), CaromStatus::CaromOk);
        assert_eq!(carom_state(s, null_mut(), null_mut()), CaromStatus::CaromOk);
    }
    assert_eq!(
        (session.snapshot() == before, failure().as_str()),
        (true, "")
    );
}

#[test]
fn texts_that_are_not_utf8_and_worlds_at_fault_are_told() {
    let (mut world, mut answer) = (null_mut(), null_mut());
    let bad = [b'"', 0xff, b'"'];
    let mut read = |toml: &[u8], folder| {
        // SAFETY: the text is there.
        let status =
            unsafe { carom_world_read(toml.as_ptr().cast(), toml.len(), folder, &mut world) };
        assert_eq!(status, INVALID);
        assert!(world.is_null());
        failure()
    };
    assert!(read(&bad, null()).contains("toml: invalid utf-8 sequence"));
    assert!(read(b"duration = 1", c"\xff".as_ptr()).contains("folder: invalid utf-8"));
    assert!(read(b"\nbodies = 3", null()).contains("line 2, column 10"));
    assert!(
        read(b"[urdf]\nfile = \"none.urdf\"", c"/nowhere".as_ptr()).contains("/nowhere/none.urdf")
    );
    let named = br#"bodies = [{name = "a\u0000", mass = 1.0, shape = {type = "sphere", radius = 1.0}, position = [0.0, 0.0, 2.0]}]"#;
    assert!(read(named, null()).contains("byte 0"), "{}", failure());
    for (command, line, fault) in [
        (c"lcp", &bad[..], "line: invalid utf-8"),
        (c"lcp\xff", b"{}", "command: invalid utf-8"),
        (c"solve", b"{}", "unknown command `solve`"),
    ] {
        // SAFETY: the texts are there.
        let status = unsafe {
            carom_line(
                command.as_ptr(),
                line.as_ptr().cast(),
                line.len(),
                &mut answer,
            )
        };
        assert!(
            status == INVALID && answer.is_null() && failure().contains(fault),
            "{}",
            failure()
        );
    }
    // SAFETY: the number of items is looked at before them.
    unsafe {
        assert_eq!(
            carom_line(
                c"lcp".as_ptr(),
                bad.as_ptr().cast(),
                usize::MAX,
                &mut answer
            ),
            INVALID
        );
        assert_eq!(
            carom_lcp(usize::MAX, &0.0, &0.0, &mut 0.0, &mut 0.0),
            INVALID
        );
        assert_eq!(carom_lcp(1, &f64::NAN, &0.0, &mut 0.0, &mut 0.0), INVALID);
    }
}

/// Refused inputs and times, each with its kind.
#[test]
fn a_refused_call_changes_nothing() {
    let session = World::new(BOX).start();
    session.advance(0.3);
    let before = session.snapshot();
    let ([own, _], _) = session.state();
    let with = |change: &dyn Fn(&mut [f64; 13])| {
        let mut state = own;
        change(&mut state);
        state
    };
    let turned = with(&|s| s[3] += 2e-6);
    let sunk = with(&|s| s[2] = 0.0);
    let wide = with(&|s| s[8] = f64::INFINITY);
    let s = session.0;
    let mut event = carom_capi::CaromEvent {
        kind: 7,
        time: 0.0,
        first: 0,
        second: 0,
        impulse: [0.0; 3],
    };
    type Call<'a> = &'a mut dyn FnMut() -> CaromStatus;
    // SAFETY: the arrays have the lengths that are told.
    let calls: [(&str, Call<'_>); 13] = unsafe {
        [
            ("time-backwards", &mut || carom_advance(s, 0.2, null_mut())),
            ("non-finite", &mut || carom_advance(s, f64::NAN, null_mut())),
            ("non-finite", &mut || {
                carom_next_event(s, f64::INFINITY, &mut event)
            }),
            ("non-finite", &mut || carom_set_body(s, 0, NAN.as_ptr())),
            ("non-finite", &mut || carom_set_body(s, 0, wide.as_ptr())),
            ("invalid-value", &mut || {
                carom_set_body(s, 0, turned.as_ptr())
            }),
            ("initial-penetration", &mut || {
                carom_set_body(s, 0, sunk.as_ptr())
            }),
            ("unknown-name", &mut || carom_set_body(s, 2, own.as_ptr())),
            ("unknown-name", &mut || {
                carom_set_force(s, 2, null(), null())
            }),
            ("non-finite", &mut || {
                carom_set_force(s, 0, NAN.as_ptr(), null())
            }),
            ("non-finite", &mut || {
                carom_set_force(s, 0, null(), NAN.as_ptr())
            }),
            ("unknown-name", &mut || {
                carom_impulse(s, usize::MAX, own.as_ptr(), null())
            }),
            ("non-finite", &mut || {
                carom_impulse(s, 0, own.as_ptr(), NAN.as_ptr())
            }),
        ]
    };
    for (expected, call) in calls {
        assert_eq!(
            (call(), kind().as_str()),
            (INVALID, expected),
            "{}",
            failure()
        );
        assert!(session.snapshot() == before, "{expected}");
    }
    assert_eq!(event.kind, 7);
}

/// Bytes that are cut or changed anywhere, and those of another world.
#[test]
fn damaged_snapshots_are_refused() {
    let session = World::new(BOX).start();
    session.advance(0.42);
    let before = session.snapshot();
    let restore = |session: &Session, bytes: &[u8]| {
        // SAFETY: the bytes are there.
        unsafe { carom_restore(session.0, bytes.as_ptr(), bytes.len()) }
    };
    for k in (0..before.len()).step_by(37) {
        assert_eq!(restore(&session, &before[..k]), INVALID, "cut at {k}");
        let mut changed = before.clone();
        changed[k] ^= 1 << (k % 8);
        assert_eq!(restore(&session, &changed), INVALID, "bit of byte {k}");
    }
    let other = World::new(&BOX.replace("mass = 2.0", "mass = 2.5")).start();
    assert_eq!(
        (restore(&other, &before), kind().as_str()),
        (INVALID, "snapshot-foreign")
    );
    assert!(session.snapshot() == before);
}
