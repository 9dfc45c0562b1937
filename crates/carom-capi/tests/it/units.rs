//! The functions of FMI: NULL, wrong tokens, messages, several instances in several threads.

use carom_capi::carom_fmi::write_resources;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

type Logger = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);

unsafe extern "C" {
    fn fmi3InstantiateCoSimulation(
        name: *const c_char,
        token: *const c_char,
        resources: *const c_char,
        visible: u8,
        logging: u8,
        events: u8,
        early: u8,
        intermediate: *const u32,
        n_intermediate: usize,
        environment: *mut c_void,
        logger: Option<Logger>,
        update: *const c_void,
    ) -> *mut c_void;
    fn fmi3EnterInitializationMode(
        c: *mut c_void,
        a: u8,
        b: f64,
        start: f64,
        d: u8,
        e: f64,
    ) -> c_int;
    fn fmi3ExitInitializationMode(component: *mut c_void) -> c_int;
    fn fmi3GetFloat64(c: *mut c_void, of: *const u32, n: usize, to: *mut f64, m: usize) -> c_int;
    fn fmi3SetFloat64(c: *mut c_void, of: *const u32, n: usize, to: *const f64, m: usize) -> c_int;
    fn fmi3DoStep(
        component: *mut c_void,
        time: f64,
        step: f64,
        none: u8,
        event: *mut u8,
        terminate: *mut u8,
        early: *mut u8,
        last: *mut f64,
    ) -> c_int;
    fn fmi3SerializeFMUState(c: *mut c_void, state: *mut c_void, to: *mut u8, n: usize) -> c_int;
    fn fmi3FreeInstance(component: *mut c_void);
    fn fmi2Instantiate(
        name: *const c_char,
        kind: c_int,
        guid: *const c_char,
        resources: *const c_char,
        callbacks: *const c_void,
        visible: c_int,
        logging: c_int,
    ) -> *mut c_void;
    fn fmi2DoStep(component: *mut c_void, time: f64, step: f64, none: c_int) -> c_int;
    fn fmi2GetReal(component: *mut c_void, of: *const u32, n: usize, to: *mut f64) -> c_int;
}

const WORLD: &str = r#"
contact = { friction = 0.0, restitution = 0.0 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "box"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.1, 0.1] }
position = [0.0, 0.0, 0.1]
velocity = [1e9, 0.0, 0.0]
"#;

thread_local! {
    static MESSAGES: RefCell<Vec<(c_int, String)>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn log(_: *mut c_void, status: c_int, _: *const c_char, message: *const c_char) {
    // SAFETY: messages end with 0.
    let message = unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    MESSAGES.with_borrow_mut(|all| all.push((status, message)));
}

fn created(resources: &Path, token: &str) -> *mut c_void {
    let texts = [token, resources.to_str().unwrap()].map(|text| CString::new(text).unwrap());
    // SAFETY: the texts end with 0.
    unsafe {
        fmi3InstantiateCoSimulation(
            c"one".as_ptr(),
            texts[0].as_ptr(),
            texts[1].as_ptr(),
            0,
            0,
            0,
            0,
            null(),
            0,
            null_mut(),
            Some(log),
            null(),
        )
    }
}

/// A run that stops is discarded with the time up to which it went, in every thread; faults are errors with a message.
#[test]
fn faults_of_units_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (file, resources) = (
        folder.path().join("far.toml"),
        folder.path().join("resources"),
    );
    std::fs::write(&file, WORLD).unwrap();
    let token = write_resources(&file, &[], &resources).unwrap();
    assert!(created(&resources, "other").is_null());
    assert!(created(folder.path(), &token).is_null());
    let messages = MESSAGES.take();
    assert!(
        messages[0].1.starts_with("wrong-token: ") && messages.len() == 2,
        "{messages:?}"
    );
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let unit = created(&resources, &token);
                let (mut terminates, mut last, mut time) = (9, 9.0, 9.0);
                // SAFETY: the instance is freed at the end, and the places are there.
                unsafe {
                    assert_eq!(
                        fmi3SetFloat64(unit, [1].as_ptr(), 1, [f64::NAN; 3].as_ptr(), 3),
                        3
                    );
                    assert_eq!(fmi3EnterInitializationMode(unit, 0, 0.0, 2.0, 0, 0.0), 0);
                    assert_eq!(fmi3ExitInitializationMode(unit), 0);
                    let none = null_mut();
                    let status =
                        fmi3DoStep(unit, 2.0, 1.0, 0, none, &mut terminates, none, &mut last);
                    assert_eq!((status, terminates), (2, 1));
                    assert_eq!(fmi3GetFloat64(unit, [0].as_ptr(), 1, &mut time, 1), 0);
                    assert_eq!(fmi3GetFloat64(unit, null(), 1, &mut time, 1), 3);
                    assert_eq!(fmi3SerializeFMUState(unit, null_mut(), null_mut(), 0), 3);
                    fmi3FreeInstance(unit);
                }
                assert!((2.0..3.0).contains(&last) && time == last);
                let messages = MESSAGES.take();
                assert!(messages[0].1.starts_with("non-finite: "), "{messages:?}");
                assert_eq!(
                    messages.iter().map(|m| m.0).collect::<Vec<_>>(),
                    [3, 2, 3, 3]
                );
            });
        }
    });
}

#[test]
fn null_is_an_error() {
    // SAFETY: NULL is allowed everywhere.
    unsafe {
        assert!(fmi2Instantiate(null(), 1, null(), null(), null(), 0, 0).is_null());
        assert!(
            fmi2Instantiate(c"a".as_ptr(), 0, c"b".as_ptr(), c"c".as_ptr(), null(), 0, 0).is_null()
        );
        assert_eq!(fmi2DoStep(null_mut(), 0.0, 1.0, 1), 3);
        assert_eq!(fmi2GetReal(null_mut(), null(), 0, null_mut()), 3);
        assert_eq!(fmi3ExitInitializationMode(null_mut()), 3);
        fmi3FreeInstance(null_mut());
    }
}
