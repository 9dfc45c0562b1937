//! `carom sweep ask`: answers the points of an optimizer one by one.

use crate::Failure;
use carom::report::input::read_line;
use carom_sweep::{Asked, Plan};
use carom_wire::MAX_LINE_BYTES;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;

/// Arguments of `carom sweep ask`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The plan, in TOML; the values of its axes are ignored.
    plan: PathBuf,
    /// Folder of the journal; made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// File of points, one JSON object a line; standard input if left out or `-`.
    file: Option<PathBuf>,
}

pub(super) fn ask(args: &Args) -> Result<(), Failure> {
    let mut asked = Asked::open(Plan::read(&args.plan)?, &args.out)?;
    let input: Box<dyn Read> =
        match args.file.as_ref().filter(|path| path.as_os_str() != "-") {
            Some(path) => Box::new(File::open(path).map_err(|error| {
                Failure::Usage(format!("cannot read {}: {error}", path.display()))
            })?),
            None => Box::new(std::io::stdin()),
        };
    let mut input = BufReader::new(input);
    let mut output = std::io::stdout().lock();
    let (mut line, mut number, mut all_solved) = (Vec::new(), 0, true);
    loop {
        number += 1;
        let read = read_line(&mut input, MAX_LINE_BYTES as u64, &mut line);
        let unreadable = |e| Failure::Usage(format!("cannot read the input: line {number}: {e}"));
        if read.map_err(unreadable)? == 0 {
            break;
        }
        // Bytes that are not UTF-8 are not JSON either; the answer says so.
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let told = asked.answer_line(number, text.trim())?;
        all_solved &= told.is_solved;
        writeln!(output, "{}", told.text)?;
        output.flush()?;
    }
    if all_solved {
        Ok(())
    } else {
        Err(Failure::Unsolved(String::new()))
    }
}
