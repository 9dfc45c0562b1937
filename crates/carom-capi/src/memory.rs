//! Memory that the caller frees without telling its length.

use crate::status::{Refusal, look};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_void;

/// Bytes before the memory of the caller, which is aligned to them, as C's is.
#[repr(C, align(16))]
struct Head {
    /// Length of the memory (bytes).
    length: usize,
}

fn layout(length: usize) -> Option<Layout> {
    let size = length.checked_add(size_of::<Head>())?;
    Layout::from_size_align(size, align_of::<Head>()).ok()
}

/// Returns memory of the caller with these bytes.
pub(crate) fn given(bytes: &[u8]) -> Result<*mut u8, Refusal> {
    let no_room = || Refusal::invalid("the result has no room in memory".to_owned());
    let length = bytes.len();
    let layout = layout(length).ok_or_else(no_room)?;
    // SAFETY: the size is not 0. The memory begins with the length, and has room for the bytes behind it.
    unsafe {
        let head = alloc(layout).cast::<Head>();
        if head.is_null() {
            handle_alloc_error(layout);
        }
        head.write(Head { length });
        let place = head.add(1).cast::<u8>();
        place.copy_from_nonoverlapping(bytes.as_ptr(), length);
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
            let head = memory.cast::<Head>().sub(1);
            if let Some(layout) = layout((*head).length) {
                dealloc(head.cast(), layout);
            }
        }
    });
}
