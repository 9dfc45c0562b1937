//! Arguments: pointers that may be NULL, and texts that may not be UTF-8.

use crate::status::Refusal;
use std::ffi::{CStr, c_char};
use std::slice;

/// Returns the thing behind a pointer of a caller.
///
/// # Safety
///
/// The pointer is NULL or points to a thing that stays for `'a`.
pub(crate) unsafe fn thing<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Refusal::null(name))
}

/// Returns the array behind a pointer of a caller.
///
/// # Safety
///
/// The pointer is NULL or points to `length` items that stay for `'a`.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Result<&'a [T], Refusal> {
    if pointer.is_null() {
        return Err(Refusal::null(name));
    }
    let bytes = length.checked_mul(size_of::<T>());
    if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Refusal::invalid(format!(
            "{name}: no memory has {length} items"
        )));
    }
    // SAFETY: the caller's promise, and the length is one that memory may have.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// Returns the numbers behind a pointer of a caller; `None` for NULL.
///
/// # Safety
///
/// The pointer is NULL or points to `N` numbers.
pub(crate) unsafe fn numbers<const N: usize>(pointer: *const f64) -> Option<[f64; N]> {
    // SAFETY: the caller's promise; an array has the alignment of its items.
    unsafe { pointer.cast::<[f64; N]>().as_ref() }.copied()
}

/// Returns the text of a told length behind a pointer of a caller.
///
/// # Safety
///
/// The promise of [`array`].
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a str, Refusal> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { array(pointer.cast::<u8>(), length, name) }?;
    utf8(bytes, name)
}

/// Returns the text behind a pointer of a caller, which ends with 0.
///
/// # Safety
///
/// The pointer is NULL or points to a text that ends with 0 and stays for `'a`.
pub(crate) unsafe fn word<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Refusal> {
    if pointer.is_null() {
        return Err(Refusal::null(name));
    }
    // SAFETY: the caller's promise.
    utf8(unsafe { CStr::from_ptr(pointer) }.to_bytes(), name)
}

fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, Refusal> {
    std::str::from_utf8(bytes).map_err(|error| Refusal::invalid(format!("{name}: {error}")))
}

/// Place at which a result is written.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// Takes the place behind a pointer of a caller.
    ///
    /// # Safety
    ///
    /// The pointer is NULL or points to room for as many items as are put there.
    pub(crate) unsafe fn new(pointer: *mut T, name: &str) -> Result<Self, Refusal> {
        if pointer.is_null() {
            return Err(Refusal::null(name));
        }
        Ok(Self(pointer))
    }

    /// Writes an item.
    pub(crate) fn put(&self, item: T) {
        // SAFETY: the promise of `new`.
        unsafe { self.0.write(item) };
    }
}

impl<T: Copy> Place<T> {
    /// Writes items.
    pub(crate) fn put_all(&self, items: &[T]) {
        // SAFETY: the promise of `new`; own memory does not overlap that of a caller.
        unsafe { self.0.copy_from_nonoverlapping(items.as_ptr(), items.len()) };
    }
}
