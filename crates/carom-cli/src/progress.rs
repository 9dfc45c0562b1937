//! Progress of a long run: one line on a terminal's stderr, gone when the run is over.

use carom::scenarios::Progress;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Between two updates, and before the first: short runs say nothing.
const INTERVAL: Duration = Duration::from_millis(500);

/// Progress of a scenario. Says nothing if stderr is no terminal, or if that is wanted.
pub(crate) fn on_terminal(is_quiet: bool) -> Progress {
    if is_quiet || !std::io::stderr().is_terminal() {
        return Progress::default();
    }
    Progress::new(shown())
}

/// Progress of the samples of one line. Says nothing if stderr is no terminal, or if that is wanted.
pub(crate) fn samples_on_terminal(is_quiet: bool) -> impl Fn(u64, u64) {
    let show = (!is_quiet && std::io::stderr().is_terminal()).then(shown);
    move |done, total| {
        if let Some(show) = &show {
            show("samples", done, total);
        }
    }
}

fn shown() -> impl Fn(&str, u64, u64) {
    let shown = Mutex::new((Instant::now(), false));
    move |what, done, total| {
        // Whoever comes second has nothing newer to say.
        let Ok(mut shown) = shown.try_lock() else {
            return;
        };
        let (last, is_visible) = *shown;
        let line = if done >= total && is_visible {
            String::new()
        } else if done < total && last.elapsed() >= INTERVAL {
            format!("{what}: {done} of {total}")
        } else {
            return;
        };
        *shown = (Instant::now(), !line.is_empty());
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{line}");
        let _ = stderr.flush();
    }
}
