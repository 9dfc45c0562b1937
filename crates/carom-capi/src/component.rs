//! Components of units, as FMI 2 and 3 share them.

use crate::pointer::{array, word};
use carom_fmi::{FmiError, Instance, Kept};
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Statuses of both versions.
#[derive(Clone, Copy)]
pub(crate) enum Status {
    Ok = 0,
    Discard = 2,
    Error = 3,
    Fatal = 4,
}

/// Logger of FMI 2; the message is a format.
pub(crate) type Logger2 =
    unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, ...);

/// Logger of FMI 3.
pub(crate) type Logger3 = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);

/// Function of an importer that takes messages.
#[derive(Clone, Copy)]
pub(crate) enum Logger {
    None,
    Two(Logger2),
    Three(Logger3),
}

/// Importer of a component: its logger, with its own pointer and the name of the instance.
pub(crate) struct Importer {
    pub(crate) logger: Logger,
    pub(crate) environment: *mut c_void,
    pub(crate) name: CString,
}

impl Importer {
    pub(crate) fn log(&self, status: Status, message: &str) {
        let status = status as c_int;
        let text = |message: &str| CString::new(message.replace('\0', " ")).unwrap_or_default();
        let category = c"error".as_ptr();
        // SAFETY: the importer gave the function for this, and its texts end with 0.
        unsafe {
            match self.logger {
                Logger::None => (),
                Logger::Two(log) => {
                    let message = text(&message.replace('%', "%%"));
                    log(
                        self.environment,
                        self.name.as_ptr(),
                        status,
                        category,
                        message.as_ptr(),
                    );
                }
                Logger::Three(log) => {
                    log(self.environment, status, category, text(message).as_ptr());
                }
            }
        }
    }
}

/// Instance with its importer.
pub(crate) struct Component {
    held: Mutex<Held>,
    importer: Importer,
}

/// Instance, and the time at which its initialization will begin (s).
pub(crate) struct Held {
    pub(crate) instance: Instance,
    pub(crate) start: f64,
}

/// Reason for which a call is refused.
pub(crate) enum Fault {
    Fmi(FmiError),
    /// The run stopped.
    Stopped(FmiError),
    Argument(String),
}

impl From<FmiError> for Fault {
    fn from(error: FmiError) -> Self {
        Self::Fmi(error)
    }
}

impl From<crate::status::Refusal> for Fault {
    fn from(refusal: crate::status::Refusal) -> Self {
        Self::Argument(refusal.message().to_owned())
    }
}

/// Reads a unit; NULL if that fails.
pub(crate) fn create(
    importer: Importer,
    token: impl FnOnce() -> Result<(PathBuf, String), Fault>,
) -> *mut c_void {
    let read = || -> Result<Instance, Fault> {
        let (folder, token) = token()?;
        Ok(Instance::new(&folder, &token)?)
    };
    let message = match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(instance)) => {
            let held = Mutex::new(Held {
                instance,
                start: 0.0,
            });
            return Box::into_raw(Box::new(Component { held, importer })).cast();
        }
        Ok(Err(Fault::Fmi(error) | Fault::Stopped(error))) => line(&error),
        Ok(Err(Fault::Argument(message))) => message,
        Err(payload) => {
            std::mem::forget(payload);
            PANIC.to_owned()
        }
    };
    importer.log(Status::Error, &message);
    std::ptr::null_mut()
}

const PANIC: &str = "a fault of carom, please report it";

fn line(error: &FmiError) -> String {
    format!("{}: {error}", error.kind())
}

/// Carries out a call on a component.
///
/// # Safety
///
/// The component is NULL or one of [`create`] that is not freed.
pub(crate) unsafe fn call(
    component: *mut c_void,
    act: impl FnOnce(&mut Held) -> Result<(), Fault>,
) -> c_int {
    // SAFETY: the caller's promise.
    let Some(component) = (unsafe { component.cast::<Component>().as_ref() }) else {
        return Status::Error as c_int;
    };
    let went = catch_unwind(AssertUnwindSafe(|| {
        let mut held = component
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        act(&mut held)
    }));
    let (status, message) = match went {
        Ok(Ok(())) => return Status::Ok as c_int,
        Ok(Err(Fault::Fmi(error))) => (Status::Error, line(&error)),
        Ok(Err(Fault::Stopped(error))) => (Status::Discard, line(&error)),
        Ok(Err(Fault::Argument(message))) => (Status::Error, message),
        Err(payload) => {
            std::mem::forget(payload);
            (Status::Fatal, PANIC.to_owned())
        }
    };
    component.importer.log(status, &message);
    status as c_int
}

/// Frees a component.
///
/// # Safety
///
/// The promise of [`call`]; it is freed once.
pub(crate) unsafe fn free(component: *mut c_void) {
    crate::status::look((), || {
        if !component.is_null() {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(component.cast::<Component>()) });
        }
    });
}

/// Makes a step.
pub(crate) fn step(held: &mut Held, time: f64, step: f64) -> Result<(), Fault> {
    let was_stopped = |held: &Held| held.instance.is_over();
    held.instance.step(time, step).map_err(|error| match error {
        FmiError::Session(_) if was_stopped(held) => Fault::Stopped(error),
        error => Fault::Fmi(error),
    })
}

/// Returns the folder of the resources that an importer of FMI 2 tells by its address, or of FMI 3 by its path.
pub(crate) fn folder_of(address: &str) -> PathBuf {
    let Some(rest) = address.strip_prefix("file:") else {
        return Path::new(address).to_owned();
    };
    let rest = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("", |slash| &rest[slash..]),
        None => rest,
    };
    let mut bytes = Vec::new();
    let mut left = rest.as_bytes();
    while let Some((first, tail)) = left.split_first() {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        (left, _) = match (first, code) {
            (b'%', Some(byte)) => (&tail[2..], bytes.push(byte)),
            _ => (tail, bytes.push(*first)),
        };
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // An address has a slash before the letter of a drive.
    let drive = path
        .strip_prefix('/')
        .filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    PathBuf::from(drive.unwrap_or(&path))
}

/// Returns token and folder from the texts of an importer.
///
/// # Safety
///
/// The pointers are NULL or point to texts that end with 0.
pub(crate) unsafe fn place(
    token: *const c_char,
    folder: *const c_char,
) -> Result<(PathBuf, String), Fault> {
    // SAFETY: the caller's promise.
    let (token, folder) = unsafe { (word(token, "token")?, word(folder, "resources")?) };
    Ok((folder_of(folder), token.to_owned()))
}

/// Returns references of variables; none for the length 0.
///
/// # Safety
///
/// The pointer is NULL or points to `length` references.
pub(crate) unsafe fn some<'a, T>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Result<&'a [T], Fault> {
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { array(pointer, length, name) }?)
}

/// Keeps the state of an instance, in place of one that was kept before.
///
/// # Safety
///
/// The state is NULL or one of this function that is not freed.
pub(crate) unsafe fn keep(held: &Held, state: *mut *mut c_void) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    let place = unsafe { state.as_mut() }.ok_or_else(|| no_state("place"))?;
    let kept = held.instance.keep();
    // SAFETY: the caller's promise.
    match unsafe { place.cast::<Kept>().as_mut() } {
        Some(old) => *old = kept,
        None => *place = Box::into_raw(Box::new(kept)).cast(),
    }
    Ok(())
}

fn no_state(name: &str) -> Fault {
    Fault::Argument(format!("the {name} of the state is NULL"))
}

/// Returns a state that was kept.
///
/// # Safety
///
/// The promise of [`keep`].
pub(crate) unsafe fn kept<'a>(state: *mut c_void) -> Result<&'a Kept, Fault> {
    // SAFETY: the caller's promise.
    unsafe { state.cast::<Kept>().as_ref() }.ok_or_else(|| no_state("pointer"))
}

/// Frees a state; NULL is left in its place.
///
/// # Safety
///
/// The promise of [`keep`].
pub(crate) unsafe fn free_kept(state: *mut *mut c_void) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    if let Some(place) = unsafe { state.as_mut() }
        && !place.is_null()
    {
        let old = std::mem::replace(place, std::ptr::null_mut());
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(old.cast::<Kept>()) });
    }
    Ok(())
}

/// Writes the bytes of a state.
///
/// # Safety
///
/// The promise of [`keep`]; there is room for `size` bytes.
pub(crate) unsafe fn write_kept(
    held: &Held,
    state: *mut c_void,
    place: *mut u8,
    size: usize,
) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    let bytes = held.instance.bytes(unsafe { kept(state) }?);
    if place.is_null() || size != bytes.len() {
        let message = format!("the state has {} bytes, room is for {size}", bytes.len());
        return Err(Fault::Argument(message));
    }
    // SAFETY: the caller's promise.
    unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), size) };
    Ok(())
}

/// Reads a state from bytes.
///
/// # Safety
///
/// The promise of [`keep`]; there are `size` bytes.
pub(crate) unsafe fn read_kept(
    held: &Held,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    let read = held
        .instance
        .read(unsafe { array(bytes, size, "state") }?)?;
    // SAFETY: the caller's promise.
    let place = unsafe { state.as_mut() }.ok_or_else(|| no_state("place"))?;
    *place = Box::into_raw(Box::new(read)).cast();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_folder() {
        for (address, path) in [
            ("file:///tmp/a%20b/resources", "/tmp/a b/resources"),
            ("file:/tmp/x", "/tmp/x"),
            ("file://localhost/tmp/x", "/tmp/x"),
            ("file:///C:/x%", "C:/x%"),
            ("/tmp/100%/x", "/tmp/100%/x"),
        ] {
            assert_eq!(folder_of(address), Path::new(path));
        }
    }
}
