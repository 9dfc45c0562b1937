//! carom in a web page: `carom resolve`, `judge` and `lcp` as one WebAssembly module without imports.
//!
//! A page asks [`give`] for memory, writes a line of JSON in UTF-8 there, and passes it to [`answer`]. The
//! answer has the bytes of the command line's answer and stays in memory until the page frees it with [`take`].

mod memory;

use carom_wire::{Command, answer_line};

pub use memory::{answer, give, take};

/// Answers a line by the command with this number: 0 `resolve`, 1 `judge`, 2 `lcp`. Any other number gives an answer
/// with an error.
///
/// # Examples
///
/// ```
/// let line = r#"{"law":"plastic","mass_matrix":[[2]],"velocity":[-1],"contacts":[{"normal":[1]}]}"#;
/// assert!(carom_web::line(0, line).starts_with(r#"{"id":null,"law":"plastic","velocity_plus":[0.0]"#));
/// ```
pub fn line(command: u32, text: &str) -> String {
    let command = match command {
        0 => Command::Resolve,
        1 => Command::Judge,
        2 => Command::Lcp,
        _ => {
            let message = format!("command: {command} must be 0 (resolve), 1 (judge) or 2 (lcp)");
            let error = carom_wire::WireError::new("invalid-input", message);
            return carom_wire::refuse(text, &error).text;
        }
    };
    answer_line(command, 1, text).text
}
