//! JSON Lines: one problem a line in, one answer a line out, in the same order.

use crate::Failure;
use carom_wire::{Command, Line, answer_line_with_progress};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

/// Lines answered together; the order of answers does not depend on it.
const BATCH: usize = 1024;

/// Arguments of every command that answers lines.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// File of JSON Lines; standard input if left out or `-`.
    file: Option<PathBuf>,
    /// Threads; the answers are the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Answers every line.
pub(crate) fn answer_all(args: &Args, command: Command) -> Result<(), Failure> {
    let mut input: Box<dyn BufRead> = match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            let unreadable = |e| Failure::Usage(format!("cannot read {}: {e}", path.display()));
            let file = File::open(path).map_err(unreadable)?;
            if file.metadata().map_err(unreadable)?.is_dir() {
                return Err(Failure::Usage(format!(
                    "cannot read {}: it is a folder",
                    path.display()
                )));
            }
            Box::new(BufReader::new(file))
        }
        _ => Box::new(BufReader::new(std::io::stdin())),
    };
    let threads = usize::from(args.threads.unwrap_or(0));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Usage(format!("cannot start threads: {e}")))?;
    let mut output = BufWriter::new(std::io::stdout().lock());
    let mut all_solved = true;
    let mut more = true;
    let mut number = 0;
    while more {
        let mut lines = Vec::with_capacity(BATCH);
        while more && lines.len() < BATCH {
            let mut line = Vec::new();
            let read = input
                .read_until(b'\n', &mut line)
                .map_err(|e| Failure::Usage(format!("cannot read the input: {e}")))?;
            more = read > 0;
            number += 1;
            // A line that is not UTF-8 is not JSON either, and is answered as such.
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if !line.is_empty() {
                lines.push((number, line));
            }
        }
        let answer = |(number, line): &(usize, String)| {
            let progress = crate::progress::samples_on_terminal();
            answer_line_with_progress(command, *number, line, &progress)
        };
        let answers: Vec<Line> = pool.install(|| lines.par_iter().map(answer).collect());
        for answer in answers {
            all_solved &= answer.is_solved;
            writeln!(output, "{}", answer.text)?;
        }
        output.flush()?;
    }
    if all_solved {
        Ok(())
    } else {
        Err(Failure::Unsolved(String::new()))
    }
}
