//! Answers lines from standard input as the module does, for comparison: `carom-web-native`. Each input line is the number
//! of a command (0 `resolve`, 1 `judge`, 2 `lcp`), a space, and the problem.

use std::io::{BufRead, BufWriter, Write, stdin, stdout};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lock().lines() {
        let line = line?;
        let (command, text) = line.split_once(' ').unwrap_or(("", &line));
        writeln!(out, "{}", carom_web::line(command.parse().unwrap_or(u32::MAX), text))?;
    }
    out.flush()
}
