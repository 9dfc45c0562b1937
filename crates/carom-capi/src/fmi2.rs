//! Functions of FMI 2 for co-simulation.

use crate::component::{
    Fault, Importer, Logger, Logger2, Status, call, create, free, free_kept, keep, kept, place,
    read_kept, some, step, write_kept,
};
use crate::pointer::{Place, word};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

/// Kind of a unit: co-simulation.
const CO_SIMULATION: c_int = 1;

/// Statuses that can be asked for.
const LAST_SUCCESSFUL_TIME: c_int = 2;
const TERMINATED: c_int = 3;

/// Functions of the importer.
#[repr(C)]
pub struct Fmi2Callbacks {
    logger: Option<Logger2>,
    allocate: *const c_void,
    free: *const c_void,
    finished: *const c_void,
    environment: *mut c_void,
}

#[unsafe(no_mangle)]
extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    resources: *const c_char,
    callbacks: *const Fmi2Callbacks,
    _visible: c_int,
    _logging: c_int,
) -> *mut c_void {
    // SAFETY: the rules of FMI.
    let callbacks = unsafe { callbacks.as_ref() };
    // SAFETY: the rules of FMI.
    let name = unsafe { word(name, "name") }
        .ok()
        .and_then(|name| CString::new(name).ok());
    let importer = Importer {
        logger: callbacks
            .and_then(|c| c.logger)
            .map_or(Logger::None, Logger::Two),
        environment: callbacks.map_or(std::ptr::null_mut(), |c| c.environment),
        name: name.clone().unwrap_or_default(),
    };
    create(importer, || {
        if kind != CO_SIMULATION {
            return Err(Fault::Argument(
                "a unit of carom is for co-simulation".to_owned(),
            ));
        }
        if name.is_none_or(|name| name.is_empty()) {
            return Err(Fault::Argument("an instance has a name".to_owned()));
        }
        // SAFETY: the rules of FMI.
        unsafe { place(guid, resources) }
    })
}

/// Defines functions that act on the held instance of a component.
macro_rules! functions {
    ($($name:ident($held:ident $(, $arg:ident: $type:ty)*) $act:block)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(component: *mut c_void $(, $arg: $type)*) -> c_int {
            // SAFETY: the rules of FMI.
            unsafe { call(component, |$held| $act) }
        }
    )*};
}

functions! {
    fmi2SetDebugLogging(_held, _on: c_int, _n: usize, _categories: *const *const c_char) { Ok(()) }
    fmi2SetupExperiment(
        held, _has_tolerance: c_int, _tolerance: f64, start: f64, _has_stop: c_int, _stop: f64
    ) {
        held.start = start;
        Ok(())
    }
    fmi2EnterInitializationMode(held) { Ok(held.instance.enter_initialization(held.start)?) }
    fmi2ExitInitializationMode(held) { Ok(held.instance.exit_initialization()?) }
    fmi2Terminate(held) { Ok(held.instance.terminate()?) }
    fmi2Reset(held) {
        held.instance.reset();
        held.start = 0.0;
        Ok(())
    }
    fmi2GetReal(held, references: *const c_uint, n: usize, values: *mut f64) {
        let references = some(references, n, "references")?;
        if n == 0 {
            return Ok(());
        }
        let place = Place::new(values, "values")?;
        let found: Result<Vec<f64>, _> =
            references.iter().map(|reference| held.instance.real(*reference)).collect();
        place.put_all(&found?);
        Ok(())
    }
    fmi2GetInteger(held, references: *const c_uint, n: usize, values: *mut c_int) {
        let references = some(references, n, "references")?;
        if n == 0 {
            return Ok(());
        }
        let place = Place::new(values, "values")?;
        let most = |count| c_int::try_from(count).unwrap_or(c_int::MAX);
        let found: Result<Vec<c_int>, _> =
            references.iter().map(|reference| held.instance.count(*reference).map(most)).collect();
        place.put_all(&found?);
        Ok(())
    }
    fmi2SetReal(held, references: *const c_uint, n: usize, values: *const f64) {
        Ok(held.instance.set(some(references, n, "references")?, some(values, n, "values")?)?)
    }
    fmi2GetFMUstate(held, state: *mut *mut c_void) { keep(held, state) }
    fmi2SetFMUstate(held, state: *mut c_void) {
        held.instance.set_kept(kept(state)?);
        Ok(())
    }
    fmi2FreeFMUstate(_held, state: *mut *mut c_void) { free_kept(state) }
    fmi2SerializedFMUstateSize(held, state: *mut c_void, size: *mut usize) {
        Place::new(size, "size")?.put(held.instance.bytes(kept(state)?).len());
        Ok(())
    }
    fmi2SerializeFMUstate(held, state: *mut c_void, bytes: *mut u8, size: usize) {
        write_kept(held, state, bytes, size)
    }
    fmi2DeSerializeFMUstate(held, bytes: *const u8, size: usize, state: *mut *mut c_void) {
        read_kept(held, bytes, size, state)
    }
    fmi2DoStep(held, time: f64, length: f64, _keeps_none: c_int) { step(held, time, length) }
    fmi2GetRealStatus(held, what: c_int, value: *mut f64) {
        if what != LAST_SUCCESSFUL_TIME {
            return Err(Fault::Argument("this status is no real".to_owned()));
        }
        Place::new(value, "value")?.put(held.instance.time());
        Ok(())
    }
    fmi2GetBooleanStatus(held, what: c_int, value: *mut c_int) {
        if what != TERMINATED {
            return Err(Fault::Argument("this status is no boolean".to_owned()));
        }
        Place::new(value, "value")?.put(c_int::from(held.instance.is_over()));
        Ok(())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2FreeInstance(component: *mut c_void) {
    // SAFETY: the rules of FMI.
    unsafe { free(component) };
}

/// Defines functions for variables of types that a unit does not have.
macro_rules! of_other_types {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            component: *mut c_void,
            _references: *const c_uint,
            n: usize,
            _values: *mut c_void,
        ) -> c_int {
            if n == 0 && !component.is_null() {
                return Status::Ok as c_int;
            }
            // SAFETY: the rules of FMI.
            unsafe { call(component, |_| Err(not_there(stringify!($name)))) }
        }
    )*};
}

of_other_types! { fmi2GetBoolean fmi2GetString fmi2SetInteger fmi2SetBoolean fmi2SetString }

fn not_there(name: &str) -> Fault {
    Fault::Argument(format!("{name}: a unit of carom does not have this"))
}

/// Defines functions of abilities that a unit does not have.
macro_rules! refused {
    ($($name:ident($($type:ty),*))*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(component: *mut c_void $(, _: $type)*) -> c_int {
            // SAFETY: the rules of FMI.
            unsafe { call(component, |_| Err(not_there(stringify!($name)))) }
        }
    )*};
}

type References = *const c_uint;

refused! {
    fmi2GetDirectionalDerivative(References, usize, References, usize, *const f64, *mut f64)
    fmi2EnterEventMode()
    fmi2NewDiscreteStates(*mut c_void)
    fmi2EnterContinuousTimeMode()
    fmi2CompletedIntegratorStep(c_int, *mut c_int, *mut c_int)
    fmi2SetTime(f64)
    fmi2SetContinuousStates(*const f64, usize)
    fmi2GetDerivatives(*mut f64, usize)
    fmi2GetEventIndicators(*mut f64, usize)
    fmi2GetContinuousStates(*mut f64, usize)
    fmi2GetNominalsOfContinuousStates(*mut f64, usize)
    fmi2SetRealInputDerivatives(References, usize, *const c_int, *const f64)
    fmi2GetRealOutputDerivatives(References, usize, *const c_int, *mut f64)
    fmi2CancelStep()
    fmi2GetStatus(c_int, *mut c_int)
    fmi2GetIntegerStatus(c_int, *mut c_int)
    fmi2GetStringStatus(c_int, *mut *const c_char)
}
