//! Progress of a long run: one line on a terminal's stderr, erased at the end of the run.

use carom::scenarios::{Advance, Progress};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two updates, and before the first one: short runs show no progress.
const INTERVAL: Duration = Duration::from_millis(500);

/// Creates the progress display for the run of a scenario. The display shows nothing if `is_quiet` is true or stderr is not a
/// terminal.
pub(crate) fn on_terminal(is_quiet: bool) -> Progress {
    if is_quiet || !std::io::stderr().is_terminal() {
        return Progress::default();
    }
    let show = shown();
    let start = Instant::now();
    Progress::new(move |advance| show(&in_words(advance, start.elapsed()), is_over(advance)))
}

/// Returns a function that shows the progress in computing samples for one line of input, called with the numbers of finished
/// and of all samples. Nothing is shown if `is_quiet` is true or stderr is not a terminal.
pub(crate) fn samples_on_terminal(is_quiet: bool) -> impl Fn(u64, u64) {
    let show = (!is_quiet && std::io::stderr().is_terminal()).then(shown);
    move |done, total| {
        if let Some(show) = &show {
            let what = "samples";
            show(&|| counted(what, done, total), done >= total);
        }
    }
}

fn counted(what: &str, done: u64, total: u64) -> String {
    format!("{what}: {done} of {total}")
}

fn is_over(advance: Advance<'_>) -> bool {
    match advance {
        Advance::Counted { done, total, .. } => done >= total,
        Advance::Simulated { time, duration, .. } => time >= duration,
        _ => false,
    }
}

/// Returns a function that describes the progress of a run in words, `elapsed` after its start. For a simulation the text
/// includes the number of impacts and the simulated seconds per second.
fn in_words<'a>(advance: Advance<'a>, elapsed: Duration) -> impl Fn() -> String + 'a {
    move || match advance {
        Advance::Counted { what, done, total } => counted(what, done, total),
        Advance::Simulated {
            time,
            duration,
            impacts,
        } => format!(
            "{time:.3} of {duration} s, {impacts} impacts, {:.3} s/s",
            time / elapsed.as_secs_f64().max(1e-9)
        ),
        _ => String::new(),
    }
}

/// Returns a function that shows a progress text on stderr at most twice per second, and erases it at the end of the run. The
/// arguments of the returned function are a function that makes the text, and a flag that is true at the end.
fn shown() -> impl Fn(&dyn Fn() -> String, bool) {
    let shown = Mutex::new((Instant::now(), false));
    move |text, is_over| {
        // Another thread is showing progress at this moment, and its text is as recent.
        let Ok(mut shown) = shown.try_lock() else {
            return;
        };
        let (last, is_visible) = *shown;
        let line = if is_over && is_visible {
            String::new()
        } else if !is_over && last.elapsed() >= INTERVAL {
            text()
        } else {
            return;
        };
        *shown = (Instant::now(), !line.is_empty());
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{line}");
        let _ = stderr.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_time_tells_time_impacts_and_rate() {
        let advance = |time| Advance::Simulated {
            time,
            duration: 2.0,
            impacts: 7,
        };
        let text = in_words(advance(0.5), Duration::from_secs(5))();
        assert_eq!(text, "0.500 of 2 s, 7 impacts, 0.100 s/s");
        assert!(!is_over(advance(0.5)) && is_over(advance(2.0)));
    }
}
