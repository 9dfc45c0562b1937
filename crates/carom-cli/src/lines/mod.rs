//! JSON Lines and JSON documents: each output line is the answer to one problem of the input, in equal order.
//!
//! One thread reads, the caller's thread writes, and a pool of threads computes the answers. Problems are answered
//! as soon as they arrive: a program that writes one line and waits for its answer gets it.

mod isolation;
mod reader;
mod words;

use crate::Failure;
use carom_wire::{Command, Line, MAX_LINE_BYTES, RawText};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// Largest number of lines answered together; the order of answers does not depend on it.
const BATCH: usize = 1024;

/// Largest number of bytes in waiting lines; beyond it no further lines are fetched. A pipe may bring lines faster
/// than they are answered, and each line may have up to [`MAX_LINE_BYTES`] bytes.
const BATCH_BYTES: usize = MAX_LINE_BYTES;

/// Number of bytes of answers after which they are written.
const WRITTEN_BYTES: usize = 1 << 16;

/// Arguments of every command that answers lines.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// File of problems, one a line or in a JSON document; standard input if left out or `-`.
    file: Option<PathBuf>,
    /// Threads; the answers are the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print lines of JSON on a terminal, too; into a file or pipe they go in any case.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Returns the requested number of threads; 0 means one per processor core.
    fn threads(&self) -> usize {
        usize::from(self.threads.unwrap_or(0))
    }

    /// True if the answers are for people: standard output is a terminal, and JSON is not asked for.
    fn is_for_people(&self) -> bool {
        !self.json && std::io::stdout().is_terminal()
    }
}

/// Answers every problem of the command's input, prints the answers, and returns true if all were solved. `is_quiet` suppresses
/// the progress display; `observe` is called with each answer in the order of the problems.
pub(crate) fn answer_all(
    args: &Args,
    command: Command,
    is_quiet: bool,
    observe: &mut dyn FnMut(&Line),
) -> Result<bool, Failure> {
    let asked = Asked {
        command,
        is_quiet,
        is_for_people: args.is_for_people(),
    };
    let mut output = std::io::stdout().lock();
    answer_lines(open(args)?, asked, args.threads(), &mut output, observe)
}

/// Returns an error without message unless everything is solved.
pub(crate) fn solved(all: bool) -> Result<(), Failure> {
    if all {
        return Ok(());
    }
    Err(Failure::Unsolved(String::new()))
}

/// Command that answers problems, and the form of its output.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) command: Command,
    /// True if no progress is shown.
    pub(crate) is_quiet: bool,
    /// True if the answers are written in words instead of JSON.
    pub(crate) is_for_people: bool,
}

/// Answers every problem of `input` on a pool of threads, writes the answers to `output`, and returns true if all were
/// solved. `observe` is called with each answer in the order of the problems.
pub(crate) fn answer_lines(
    input: Box<dyn Read + Send>,
    asked: Asked,
    threads: usize,
    output: &mut impl Write,
    observe: &mut dyn FnMut(&Line),
) -> Result<bool, Failure> {
    isolation::keep_panics();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(|_| isolation::keep_panics_of_this_thread())
        .build()
        .map_err(|e| Failure::Usage(format!("cannot start threads: {e}")))?;
    let lines = reader::start(input, asked.command)
        .map_err(|e| Failure::Usage(format!("cannot start a thread that reads: {e}")))?;
    let mut all_solved = true;
    let mut arrived: VecDeque<RawText> = VecDeque::new();
    let mut bytes = 0;
    loop {
        let more = if arrived.is_empty() {
            // No line has arrived, so wait for one.
            lines.recv().ok()
        } else if arrived.len() < BATCH && bytes < BATCH_BYTES {
            lines.try_recv().ok()
        } else {
            None
        };
        if let Some(more) = more {
            let more = more.map_err(|e| Failure::Usage(format!("cannot read the input: {e}")))?;
            bytes += more.iter().map(|line| line.start.len()).sum::<usize>();
            arrived.extend(more);
            continue;
        }
        if arrived.is_empty() {
            break;
        }
        let batch: Vec<RawText> = arrived.drain(..arrived.len().min(BATCH)).collect();
        bytes -= batch.iter().map(|line| line.start.len()).sum::<usize>();
        all_solved &= answer_batch(&pool, &batch, asked, output, observe)?;
    }
    Ok(all_solved)
}

/// Opens the file of input lines that `args` names, or standard input if no file is named.
fn open(args: &Args) -> Result<Box<dyn Read + Send>, Failure> {
    let Some(path) = args.file.as_ref().filter(|path| path.as_os_str() != "-") else {
        return Ok(Box::new(std::io::stdin()));
    };
    let unreadable = |e| Failure::Usage(format!("cannot read {}: {e}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "cannot read {path}: it is a folder"
        )));
    }
    Ok(Box::new(file))
}

/// Answers the problems in `batch` on a pool of threads. Each answer is written to `output` as soon as all answers to earlier
/// problems are written, and passed to `observe`. Returns true if all problems were solved.
fn answer_batch(
    pool: &rayon::ThreadPool,
    batch: &[RawText],
    asked: Asked,
    output: &mut impl Write,
    observe: &mut dyn FnMut(&Line),
) -> std::io::Result<bool> {
    let is_stopped = AtomicBool::new(false);
    let (send, receive) = mpsc::channel::<(usize, Answer)>();
    pool.in_place_scope(|scope| {
        for (index, line) in batch.iter().enumerate() {
            let (send, is_stopped) = (send.clone(), &is_stopped);
            scope.spawn(move |_| {
                if !is_stopped.load(Ordering::Relaxed) {
                    // Sending fails only if the answers are no longer written.
                    let _ = send.send((index, answer(line, asked)));
                }
            });
        }
        drop(send);
        let written = write_in_order(&receive, output, observe);
        if written.is_err() {
            is_stopped.store(true, Ordering::Relaxed);
        }
        written
    })
}

/// Answer to a problem, and its form in words if that is written.
struct Answer {
    line: Line,
    words: Option<String>,
}

fn answer(problem: &RawText, asked: Asked) -> Answer {
    let text = problem.text();
    let line = isolation::isolated(&text, || {
        let progress = crate::progress::samples_on_terminal(asked.is_quiet);
        problem.answer(asked.command, &progress)
    });
    let in_words = || words::in_words(asked.command, problem.place, &text, &line);
    Answer {
        words: asked.is_for_people.then(in_words),
        line,
    }
}

fn write_in_order(
    answers: &mpsc::Receiver<(usize, Answer)>,
    output: &mut impl Write,
    observe: &mut dyn FnMut(&Line),
) -> std::io::Result<bool> {
    let mut all_solved = true;
    let mut early = BTreeMap::new();
    let mut next = 0;
    let mut ready = Vec::new();
    loop {
        let (index, line) = match answers.try_recv() {
            Ok(answer) => answer,
            Err(_) => {
                // No further answer is ready, so write those that are: a program may be waiting for them.
                write_whole(&mut ready, output)?;
                match answers.recv() {
                    Ok(answer) => answer,
                    Err(_) => return Ok(all_solved),
                }
            }
        };
        early.insert(index, line);
        while let Some(Answer { line, words }) = early.remove(&next) {
            all_solved &= line.is_solved;
            ready.extend_from_slice(words.as_ref().unwrap_or(&line.text).as_bytes());
            ready.push(b'\n');
            if ready.len() >= WRITTEN_BYTES {
                write_whole(&mut ready, output)?;
            }
            observe(&line);
            crate::progress::line_is_answered();
            next += 1;
        }
    }
}

/// Writes the bytes of complete lines to `output` and empties the buffer `ready`. Ctrl-C takes effect only after the write,
/// so that no line is cut in two.
fn write_whole(ready: &mut Vec<u8>, output: &mut impl Write) -> std::io::Result<()> {
    crate::interrupt::whole(|| {
        output.write_all(ready)?;
        output.flush()
    })?;
    ready.clear();
    Ok(())
}
