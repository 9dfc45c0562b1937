//! Functions of FMI 3 for co-simulation.

use crate::component::{
    Fault, Importer, Logger, Logger3, Status, call, create, free, free_kept, keep, kept, place,
    read_kept, some, step, write_kept,
};
use crate::pointer::{Place, word};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;

type References = *const u32;

#[unsafe(no_mangle)]
extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // FMI has them.
unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: u8,
    _logging: u8,
    _events: u8,
    _early_return: u8,
    _intermediate: References,
    _n_intermediate: usize,
    environment: *mut c_void,
    logger: Option<Logger3>,
    _update: *const c_void,
) -> *mut c_void {
    // SAFETY: the rules of FMI.
    let name = unsafe { word(name, "name") }
        .ok()
        .and_then(|name| CString::new(name).ok());
    let importer = Importer {
        logger: logger.map_or(Logger::None, Logger::Three),
        environment,
        name: name.unwrap_or_default(),
    };
    create(importer, || {
        // SAFETY: the rules of FMI.
        unsafe { place(token, resources) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3InstantiateModelExchange(
    _name: *const c_char,
    _token: *const c_char,
    _resources: *const c_char,
    _visible: u8,
    _logging: u8,
    _environment: *mut c_void,
    _logger: *const c_void,
) -> *mut c_void {
    null_mut()
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // FMI has them.
unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    _name: *const c_char,
    _token: *const c_char,
    _resources: *const c_char,
    _visible: u8,
    _logging: u8,
    _environment: *mut c_void,
    _logger: *const c_void,
    _update: *const c_void,
    _lock: *const c_void,
    _unlock: *const c_void,
) -> *mut c_void {
    null_mut()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3FreeInstance(component: *mut c_void) {
    // SAFETY: the rules of FMI.
    unsafe { free(component) };
}

/// Writes a truth value unless there is no place for it.
///
/// # Safety
///
/// The pointer is NULL or points to a boolean.
unsafe fn tell(pointer: *mut u8, value: bool) {
    // SAFETY: the caller's promise.
    if let Some(place) = unsafe { pointer.as_mut() } {
        *place = u8::from(value);
    }
}

/// Defines functions that act on the held instance of a component.
macro_rules! functions {
    ($($name:ident($held:ident $(, $arg:ident: $type:ty)*) $act:block)*) => {$(
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)] // FMI has them.
        unsafe extern "C" fn $name(component: *mut c_void $(, $arg: $type)*) -> c_int {
            // SAFETY: the rules of FMI.
            unsafe { call(component, |$held| $act) }
        }
    )*};
}

functions! {
    fmi3SetDebugLogging(_held, _on: u8, _n: usize, _categories: *const *const c_char) { Ok(()) }
    fmi3EnterInitializationMode(
        held, _has_tolerance: u8, _tolerance: f64, start: f64, _has_stop: u8, _stop: f64
    ) {
        Ok(held.instance.enter_initialization(start)?)
    }
    fmi3ExitInitializationMode(held) { Ok(held.instance.exit_initialization()?) }
    fmi3Terminate(held) { Ok(held.instance.terminate()?) }
    fmi3Reset(held) {
        held.instance.reset();
        Ok(())
    }
    fmi3GetFloat64(held, references: References, n: usize, values: *mut f64, n_values: usize) {
        let found = held.instance.reals(some(references, n, "references")?)?;
        if found.len() != n_values {
            let message = format!("the variables have {} values, not {n_values}", found.len());
            return Err(Fault::Argument(message));
        }
        if n > 0 {
            Place::new(values, "values")?.put_all(&found);
        }
        Ok(())
    }
    fmi3GetInt64(held, references: References, n: usize, values: *mut i64, n_values: usize) {
        let references = some(references, n, "references")?;
        if n != n_values {
            return Err(Fault::Argument(format!("the variables have {n} values, not {n_values}")));
        }
        let most = |count| i64::try_from(count).unwrap_or(i64::MAX);
        let found: Result<Vec<i64>, _> =
            references.iter().map(|reference| held.instance.count(*reference).map(most)).collect();
        if n > 0 {
            Place::new(values, "values")?.put_all(&found?);
        }
        Ok(())
    }
    fmi3SetFloat64(held, references: References, n: usize, values: *const f64, n_values: usize) {
        let references = some(references, n, "references")?;
        Ok(held.instance.set_all(references, some(values, n_values, "values")?)?)
    }
    fmi3GetFMUState(held, state: *mut *mut c_void) { keep(held, state) }
    fmi3SetFMUState(held, state: *mut c_void) {
        held.instance.set_kept(kept(state)?);
        Ok(())
    }
    fmi3FreeFMUState(_held, state: *mut *mut c_void) { free_kept(state) }
    fmi3SerializedFMUStateSize(held, state: *mut c_void, size: *mut usize) {
        Place::new(size, "size")?.put(held.instance.bytes(kept(state)?).len());
        Ok(())
    }
    fmi3SerializeFMUState(held, state: *mut c_void, bytes: *mut u8, size: usize) {
        write_kept(held, state, bytes, size)
    }
    fmi3DeserializeFMUState(held, bytes: *const u8, size: usize, state: *mut *mut c_void) {
        read_kept(held, bytes, size, state)
    }
    fmi3DoStep(
        held, time: f64, length: f64, _keeps_none: u8, event: *mut u8, terminate: *mut u8,
        early: *mut u8, last: *mut f64
    ) {
        let went = step(held, time, length);
        tell(event, false);
        tell(early, false);
        tell(terminate, held.instance.is_over());
        if let Some(place) = last.as_mut() {
            *place = held.instance.time();
        }
        went
    }
}

fn not_there(name: &str) -> Fault {
    Fault::Argument(format!("{name}: a unit of carom does not have this"))
}

/// Defines functions for variables of types that a unit does not have.
macro_rules! of_other_types {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            component: *mut c_void,
            _references: References,
            n: usize,
            _values: *mut c_void,
            _n_values: usize,
        ) -> c_int {
            if n == 0 && !component.is_null() {
                return Status::Ok as c_int;
            }
            // SAFETY: the rules of FMI.
            unsafe { call(component, |_| Err(not_there(stringify!($name)))) }
        }
    )*};
}

of_other_types! {
    fmi3GetFloat32 fmi3GetInt8 fmi3GetUInt8 fmi3GetInt16 fmi3GetUInt16 fmi3GetInt32 fmi3GetUInt32
    fmi3GetUInt64 fmi3GetBoolean fmi3GetString
    fmi3SetFloat32 fmi3SetInt8 fmi3SetUInt8 fmi3SetInt16 fmi3SetUInt16 fmi3SetInt32 fmi3SetUInt32
    fmi3SetInt64 fmi3SetUInt64 fmi3SetBoolean fmi3SetString
}

/// Defines functions of abilities that a unit does not have.
macro_rules! refused {
    ($($name:ident($($type:ty),*))*) => {$(
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)] // FMI has them.
        unsafe extern "C" fn $name(component: *mut c_void $(, _: $type)*) -> c_int {
            // SAFETY: the rules of FMI.
            unsafe { call(component, |_| Err(not_there(stringify!($name)))) }
        }
    )*};
}

type Numbers = *const f64;
type Out<T> = *mut T;

refused! {
    fmi3GetBinary(References, usize, Out<usize>, Out<*const u8>, usize)
    fmi3SetBinary(References, usize, *const usize, *const *const u8, usize)
    fmi3GetClock(References, usize, Out<u8>)
    fmi3SetClock(References, usize, *const u8)
    fmi3GetNumberOfVariableDependencies(u32, Out<usize>)
    fmi3GetVariableDependencies(u32, Out<usize>, Out<u32>, Out<usize>, Out<c_int>, usize)
    fmi3GetDirectionalDerivative(References, usize, References, usize, Numbers, usize, Out<f64>, usize)
    fmi3GetAdjointDerivative(References, usize, References, usize, Numbers, usize, Out<f64>, usize)
    fmi3EnterConfigurationMode()
    fmi3ExitConfigurationMode()
    fmi3GetIntervalDecimal(References, usize, Out<f64>, Out<c_int>)
    fmi3GetIntervalFraction(References, usize, Out<u64>, Out<u64>, Out<c_int>)
    fmi3GetShiftDecimal(References, usize, Out<f64>)
    fmi3GetShiftFraction(References, usize, Out<u64>, Out<u64>)
    fmi3SetIntervalDecimal(References, usize, Numbers)
    fmi3SetIntervalFraction(References, usize, *const u64, *const u64)
    fmi3SetShiftDecimal(References, usize, Numbers)
    fmi3SetShiftFraction(References, usize, *const u64, *const u64)
    fmi3EvaluateDiscreteStates()
    fmi3UpdateDiscreteStates(Out<u8>, Out<u8>, Out<u8>, Out<u8>, Out<u8>, Out<f64>)
    fmi3EnterEventMode()
    fmi3EnterStepMode()
    fmi3EnterContinuousTimeMode()
    fmi3CompletedIntegratorStep(u8, Out<u8>, Out<u8>)
    fmi3SetTime(f64)
    fmi3SetContinuousStates(Numbers, usize)
    fmi3GetContinuousStateDerivatives(Out<f64>, usize)
    fmi3GetEventIndicators(Out<f64>, usize)
    fmi3GetContinuousStates(Out<f64>, usize)
    fmi3GetNominalsOfContinuousStates(Out<f64>, usize)
    fmi3GetNumberOfEventIndicators(Out<usize>)
    fmi3GetNumberOfContinuousStates(Out<usize>)
    fmi3GetOutputDerivatives(References, usize, *const i32, Out<f64>, usize)
    fmi3ActivateModelPartition(u32, f64)
}
