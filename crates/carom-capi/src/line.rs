//! Lines of problems, and complementarity problems from arrays.

use crate::memory::given;
use crate::pointer::{Place, array, text, word};
use crate::status::{CaromStatus, Refusal, call};
use carom_lcp::{Lcp, LcpSolver, LcpStatus, Lemke, LemkeOptions};
use carom_wire::{Command, MAX_DIMENSION, Splitter};
use std::ffi::c_char;

/// Answers a line: `command` is "resolve", "judge" or "lcp". The answer, which ends with 0, has the bytes of the command line without the
/// last newline, and is freed by `carom_free`. CAROM_OK also where it is an error line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_line(
    command: *const c_char,
    line: *const c_char,
    length: usize,
    answer: *mut *mut c_char,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (command, line, answer) = unsafe {
            (
                word(command, "command")?,
                text(line, length, "line")?,
                Place::new(answer, "answer")?,
            )
        };
        let command = match command {
            "resolve" => Command::Resolve,
            "judge" => Command::Judge,
            "lcp" => Command::Lcp,
            other => {
                let message =
                    format!("command: unknown command `{other}`; known: resolve, judge, lcp");
                return Err(Refusal::invalid(message));
            }
        };
        let mut splitter = Splitter::new(command);
        let mut texts = splitter.split(line.as_bytes());
        texts.extend(splitter.end());
        let lines = texts
            .iter()
            .map(|text| text.answer(command, &|_, _| {}).text);
        let mut bytes = lines.collect::<Vec<String>>().join("\n").into_bytes();
        bytes.push(0);
        answer.put(given(&bytes)?.cast());
        Ok(())
    })
}

/// Solves w = M z + q, w >= 0, z >= 0, w z = 0: `matrix` has n n numbers row by row, `vector`, `z` and `w` have n. CAROM_FAILED: no
/// solution was found, `z` and `w` are untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_lcp(
    n: usize,
    matrix: *const f64,
    vector: *const f64,
    z: *mut f64,
    w: *mut f64,
) -> CaromStatus {
    call(|| {
        if n > MAX_DIMENSION {
            let message = format!("n is {n}, at most {MAX_DIMENSION} is allowed");
            return Err(Refusal::invalid(message));
        }
        // SAFETY: the rules of the interface.
        let (matrix, vector, z, w) = unsafe {
            (
                array(matrix, n * n, "matrix")?,
                array(vector, n, "vector")?,
                Place::new(z, "z")?,
                Place::new(w, "w")?,
            )
        };
        let rows: Vec<Vec<f64>> = matrix.chunks(n.max(1)).map(<[f64]>::to_vec).collect();
        let lcp = Lcp::from_rows(&rows, vector.to_vec())?;
        // The options of the command line.
        let options = LemkeOptions::default().with_refine_above(0.0);
        let solution = Lemke::default().with_options(options).solve(&lcp)?;
        if solution.status != LcpStatus::Solved {
            let message = format!("no solution was found: {}", solution.status.name());
            let kind = solution.status.name();
            return Err(Refusal::new(CaromStatus::CaromFailed, kind, message));
        }
        z.put_all(solution.z.as_slice());
        w.put_all(solution.w.as_slice());
        Ok(())
    })
}
