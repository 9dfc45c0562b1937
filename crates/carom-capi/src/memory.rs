//! Memory that the caller frees without telling its length.

use crate::status::{Refusal, look};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_void;

/// Bytes before the memory of the caller: its length. Memory is aligned to them, as C's is.
const HEAD: usize = 16;

fn layout(length: usize) -> Option<Layout> {
    Layout::from_size_align(length.checked_add(HEAD)?, HEAD).ok()
}

/// Returns memory of the caller with these bytes.
pub(crate) fn given(bytes: &[u8]) -> Result<*mut u8, Refusal> {
    let no_room = || Refusal::invalid("the result has no room in memory".to_owned());
    let layout = layout(bytes.len()).ok_or_else(no_room)?;
    // SAFETY: the size is not 0. The memory begins with the length, and has room for the bytes behind it.
    unsafe {
        let start = alloc(layout);
        if start.is_null() {
            handle_alloc_error(layout);
        }
        start.cast::<usize>().write(bytes.len());
        let place = start.add(HEAD);
        place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Ok(place)
    }
}

/// Frees the memory of an answer of `carom_line` or of a snapshot of `carom_snapshot`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_free(memory: *mut c_void) {
    look((), || {
        if memory.is_null() {
            return;
        }
        // SAFETY: memory of the caller is made by `given`, with its length before it.
        unsafe {
            let start = memory.cast::<u8>().sub(HEAD);
            if let Some(layout) = layout(start.cast::<usize>().read()) {
                dealloc(start, layout);
            }
        }
    });
}
