//! `carom resolve`: impact problems as JSON Lines.

use crate::{Failure, json};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

/// Lines answered together; the order of answers does not depend on it.
const BATCH: usize = 1024;

/// Arguments of `carom resolve`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// File of JSON Lines; standard input if left out or `-`.
    file: Option<PathBuf>,
    /// Threads; the answers are the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

pub(crate) fn resolve(args: &Args) -> Result<(), Failure> {
    let input: Box<dyn BufRead> = match &args.file {
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
    answer_all(input, &pool)
}

fn answer_all(mut input: Box<dyn BufRead>, pool: &rayon::ThreadPool) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    let mut all_solved = true;
    let mut more = true;
    while more {
        let mut lines = Vec::with_capacity(BATCH);
        while more && lines.len() < BATCH {
            let mut line = Vec::new();
            let read = input
                .read_until(b'\n', &mut line)
                .map_err(|e| Failure::Usage(format!("cannot read the input: {e}")))?;
            more = read > 0;
            // A line that is not UTF-8 is not JSON either, and is answered as such.
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if !line.is_empty() {
                lines.push(line);
            }
        }
        let answers: Vec<(bool, String)> = pool.install(|| {
            let solved = |line: &String| match json::answer(line) {
                Ok(answer) => (true, answer.to_string()),
                Err(refusal) => (false, refusal.to_string()),
            };
            lines.par_iter().map(solved).collect()
        });
        for (solved, answer) in answers {
            all_solved &= solved;
            writeln!(output, "{answer}")?;
        }
        output.flush()?;
    }
    if all_solved {
        Ok(())
    } else {
        Err(Failure::Unsolved(String::new()))
    }
}
