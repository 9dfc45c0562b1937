//! The three functions that a page calls, which exchange data through memory. This file holds all unsafe code of carom.

use std::alloc::{Layout, alloc, dealloc};

/// Number of bytes for the length in front of an answer.
const HEADER: usize = 4;

/// Allocates `len` bytes for a line; null if there is no memory or `len` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn give(len: usize) -> *mut u8 {
    match Layout::array::<u8>(len) {
        // SAFETY: the layout is not empty.
        Ok(layout) if len > 0 => unsafe { alloc(layout) },
        _ => std::ptr::null_mut(),
    }
}

/// Frees memory of `cap` bytes allocated by [`give`] or [`answer`].
///
/// # Safety
///
/// `ptr` was allocated with this size, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn take(ptr: *mut u8, cap: usize) {
    if let Ok(layout) = Layout::array::<u8>(cap)
        && cap > 0
        && !ptr.is_null()
    {
        // SAFETY: by the promise of the caller.
        unsafe { dealloc(ptr, layout) }
    }
}

/// Answers the line of `len` bytes at `ptr`. The result points to the length of the answer in four bytes, the lowest first,
/// followed by the answer in UTF-8; [`take`] frees it, with `cap` equal to this length plus four. Null if there is no memory.
///
/// # Safety
///
/// `ptr` points to `len` bytes that have been written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(command: u32, ptr: *const u8, len: usize) -> *const u8 {
    let text = if len == 0 || ptr.is_null() {
        &[]
    } else {
        // SAFETY: by the promise of the caller.
        unsafe { std::slice::from_raw_parts(ptr, len) }
    };
    let answered = super::line(command, &String::from_utf8_lossy(text));
    let to = give(HEADER + answered.len());
    if !to.is_null() {
        let length = u32::try_from(answered.len()).unwrap_or(u32::MAX).to_le_bytes();
        // SAFETY: the memory has room for both parts, and no other pointer to it exists.
        unsafe {
            to.copy_from_nonoverlapping(length.as_ptr(), HEADER);
            to.add(HEADER).copy_from_nonoverlapping(answered.as_ptr(), answered.len());
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers a line as a page does, through memory.
    fn asked(command: u32, text: &str) -> String {
        let ptr = give(text.len());
        // SAFETY: memory of this size was given.
        unsafe {
            if !ptr.is_null() {
                ptr.copy_from_nonoverlapping(text.as_ptr(), text.len());
            }
            let found = answer(command, ptr, text.len());
            take(ptr, text.len());
            let mut length = [0; HEADER];
            found.copy_to_nonoverlapping(length.as_mut_ptr(), HEADER);
            let length = u32::from_le_bytes(length) as usize;
            let bytes = std::slice::from_raw_parts(found.add(HEADER), length).to_vec();
            take(found.cast_mut(), HEADER + length);
            String::from_utf8(bytes).unwrap()
        }
    }

    #[test]
    fn a_ball_bounces_through_memory() {
        let line = r#"{"law":"moreau-newton","mass_matrix":[[2]],"velocity":[-1],"contacts":[{"normal":[1],"restitution":0.5}]}"#;
        assert_eq!(asked(0, line), super::super::line(0, line));
        assert!(asked(0, line).contains(r#""velocity_plus":[0.5]"#));
    }

    #[test]
    fn an_empty_line_and_an_unknown_command_are_errors() {
        assert!(asked(0, "").contains(r#""error""#));
        assert!(asked(7, "{}").contains("must be 0 (resolve), 1 (judge) or 2 (lcp)"));
    }
}
