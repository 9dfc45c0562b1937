//! Progress of work that takes longer than a second: one line on a terminal's stderr, erased at the end of the work.

use carom::scenarios::{Advance, Progress};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time before the progress is shown: shorter work shows none.
const DELAY: Duration = Duration::from_secs(1);

/// Name of answered lines of input in the progress.
const LINES: &str = "lines";

/// Time between two updates of the line.
const INTERVAL: Duration = Duration::from_millis(250);

/// Reports of the work that Ctrl-C stops now; `None` if no work is in progress or the user wants no messages.
static CURRENT: Mutex<Option<Arc<Mutex<Seen>>>> = Mutex::new(None);

/// True while a progress line is on the terminal.
static IS_VISIBLE: AtomicBool = AtomicBool::new(false);

/// Number of items whose total number is unknown.
const UNKNOWN: u64 = 0;

/// Most recent report of the progress.
#[derive(Clone, Debug, Default)]
enum Seen {
    /// No report yet.
    #[default]
    Nothing,
    Counted {
        what: String,
        done: u64,
        total: u64,
    },
    Simulated {
        time: f64,
        duration: f64,
        impacts: usize,
    },
}

/// Progress display of one piece of work: a line on a terminal's stderr, once the work has taken a second. It begins with the value
/// and ends when the value is dropped.
#[derive(Debug)]
pub struct Meter {
    seen: Arc<Mutex<Seen>>,
    /// Thread that draws, and the sender that is dropped to end it.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Meter {
    /// Begins the progress display of work called `name`. Nothing is displayed if `is_quiet` is true or stderr is not a terminal.
    pub fn new(name: &str, is_quiet: bool) -> Self {
        let seen = Arc::new(Mutex::new(Seen::Nothing));
        *locked(&CURRENT) = (!is_quiet).then(|| Arc::clone(&seen));
        let mut drawing = None;
        if !is_quiet && std::io::stderr().is_terminal() {
            let (running, finished) = channel();
            let (name, seen) = (name.to_owned(), Arc::clone(&seen));
            let draw = move || draw(&name, &seen, &finished);
            let thread = std::thread::Builder::new().name("progress".to_owned());
            drawing = thread.spawn(draw).ok().map(|thread| (running, thread));
        }
        Self { seen, drawing }
    }

    /// Returns a function that receives the numbers of finished and of all items of the work, which are called `what`.
    pub(crate) fn counter(&self, what: &'static str) -> impl Fn(u64, u64) + Send + Sync + use<> {
        let seen = Arc::clone(&self.seen);
        move |done, total| note_count(&seen, what, done, total)
    }

    /// Reports the numbers of finished and of all items of the work, which are called `what`.
    #[cfg(feature = "sweep")]
    pub(crate) fn count(&self, what: &str, done: u64, total: u64) {
        note_count(&self.seen, what, done, total);
    }

    /// Returns an observer for the run of a scenario. At each report it first calls `also`, which may end the run by a panic.
    pub fn observer(&self, also: impl Fn() + Send + Sync + 'static) -> Progress {
        let seen = Arc::clone(&self.seen);
        Progress::new(move |advance| {
            also();
            match advance {
                Advance::Counted { what, done, total } => note_count(&seen, what, done, total),
                Advance::Simulated {
                    time,
                    duration,
                    impacts,
                } => {
                    *locked(&seen) = Seen::Simulated {
                        time,
                        duration,
                        impacts,
                    }
                }
                _ => (),
            }
        })
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        *locked(&CURRENT) = None;
        if let Some((running, drawing)) = self.drawing.take() {
            drop(running);
            // A panic of the thread that draws is no fault of the work.
            let _ = drawing.join();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note_count(seen: &Mutex<Seen>, what: &str, done: u64, total: u64) {
    let mut seen = locked(seen);
    match &mut *seen {
        Seen::Counted {
            what: known,
            done: old,
            total: all,
        } if known == what => (*old, *all) = (done, total),
        other => {
            *other = Seen::Counted {
                what: what.to_owned(),
                done,
                total,
            }
        }
    }
}

/// Draws the line with the progress of the work `name` until `finished` is closed, and erases it then.
fn draw(name: &str, seen: &Mutex<Seen>, finished: &Receiver<()>) {
    let start = Instant::now();
    let mut pause = DELAY;
    let mut stderr = std::io::stderr();
    while finished.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        pause = INTERVAL;
        let line = locked(seen).line(name, start.elapsed());
        crate::writing::alone(|| {
            IS_VISIBLE.store(true, Ordering::Relaxed);
            let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
        });
    }
    crate::writing::alone(erase);
}

/// Erases the progress line, if there is one on the terminal, so that other output can follow.
pub(crate) fn erase() {
    if IS_VISIBLE.swap(false, Ordering::Relaxed) {
        let mut stderr = std::io::stderr();
        let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
    }
}

/// Returns a function that receives the numbers of drawn and of all samples of one line of input.
pub(crate) fn samples_on_terminal(is_quiet: bool) -> impl Fn(u64, u64) {
    let seen = if is_quiet {
        None
    } else {
        locked(&CURRENT).clone()
    };
    move |done, total| {
        if let Some(seen) = &seen {
            note_count(seen, "samples", done, total);
        }
    }
}

/// Counts one more answered line of input.
pub(crate) fn line_is_answered() {
    let Some(seen) = locked(&CURRENT).clone() else {
        return;
    };
    let done = match &*locked(&seen) {
        Seen::Counted { what, done, .. } if what == LINES => *done,
        _ => 0,
    };
    note_count(&seen, LINES, done + 1, UNKNOWN);
}

impl Seen {
    /// Describes the progress of the work `name` in words, `elapsed` after its start.
    fn line(&self, name: &str, elapsed: Duration) -> String {
        let spent = elapsed.as_secs_f64();
        match self {
            Self::Nothing => format!("{name}: {}", in_words(spent)),
            Self::Counted {
                what,
                done,
                total: UNKNOWN,
            } => format!("{what}: {done}, {}", in_words(spent)),
            Self::Counted { what, done, total } => {
                let share = *done as f64 / *total as f64;
                format!("{what}: {done} of {total}{}", left(share, spent))
            }
            Self::Simulated {
                time,
                duration,
                impacts,
            } => {
                let left = left(time / duration, spent);
                format!("{} of {duration} s, {impacts} impacts{left}", brief(*time))
            }
        }
    }
}

/// Returns the part of a progress line with the done share of the work in percent, and the time left.
fn left(share: f64, spent: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let percent = (100.0 * share).floor();
    if share > 0.0 {
        let left = in_words(spent * (1.0 - share) / share);
        format!(", {percent} %, {left} left")
    } else {
        format!(", {percent} %")
    }
}

/// Writes a time in seconds in the units of a clock, the shorter the longer it is: `1 min 20 s`, `9 min`, `2 h 5 min`.
fn in_words(seconds: f64) -> String {
    if seconds.is_nan() || seconds >= 3.6e8 {
        return "years".to_owned();
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..300 => match whole % 60 / 10 * 10 {
            0 => format!("{} min", whole / 60),
            rest => format!("{} min {rest} s", whole / 60),
        },
        300..3600 => format!("{} min", whole / 60),
        _ => match whole % 3600 / 60 {
            0 => format!("{} h", whole / 3600),
            rest => format!("{} h {rest} min", whole / 3600),
        },
    }
}

/// Writes a simulated time (s) with three digits.
fn brief(time: f64) -> String {
    let mut decimals = match time {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let mut unit = 1.0;
    while time > 0.0 && time < unit && decimals < 14 {
        unit /= 10.0;
        decimals += 1;
    }
    format!("{time:.decimals$}")
}

/// Prints the last line of a process that a signal ends: the simulated time or the lines that the work has reached, and that
/// nothing was written if `wrote` is false.
pub(crate) fn stopped(wrote: bool) {
    erase();
    // The interrupted work holds these locks for less than a microsecond at a time.
    let Some(seen) = locked(&CURRENT).clone() else {
        return;
    };
    let reached = match &*locked(&seen) {
        Seen::Simulated { time, .. } => format!(" at {} s", brief(*time)),
        Seen::Counted { what, done, .. } if what == LINES => format!(" after {done} lines"),
        _ => String::new(),
    };
    let rest = if wrote { "" } else { "; nothing written" };
    let _ = writeln!(std::io::stderr(), "stopped{reached}{rest}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_share_and_time_left() {
        let simulated = |time| Seen::Simulated {
            time,
            duration: 1000.0,
            impacts: 1155,
        };
        let line = |seen: Seen, spent| seen.line("world", Duration::from_secs(spent));
        let text = line(simulated(12.4), 7);
        assert_eq!(text, "12.4 of 1000 s, 1155 impacts, 1 %, 9 min left");
        let text = line(simulated(0.0), 7);
        assert_eq!(text, "0.00 of 1000 s, 1155 impacts, 0 %");
        let counted = Seen::Counted {
            what: "fit".to_owned(),
            done: 36,
            total: 1200,
        };
        assert_eq!(line(counted, 3), "fit: 36 of 1200, 3 %, 1 min 30 s left");
        assert_eq!(line(Seen::Nothing, 7325), "world: 2 h 2 min");
        let words = [0.4, 59.0, 60.0, 85.0, 330.0, 7200.0].map(in_words);
        assert_eq!(
            words,
            ["0 s", "59 s", "1 min", "1 min 20 s", "5 min", "2 h"]
        );
        assert_eq!([123.4, 0.00912].map(brief), ["123", "0.00912"]);
    }

    #[test]
    fn reports_from_observers_arrive() {
        let meter = Meter::new("work", true);
        meter.counter("cells")(3, 4);
        let text = locked(&meter.seen).line("work", Duration::from_secs(3));
        assert_eq!(text, "cells: 3 of 4, 75 %, 1 s left");
    }
}
