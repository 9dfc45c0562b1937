//! Progress of a sweep: a bar on a terminal, otherwise one line a minute.

use carom_sweep::Monitor;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(100);
const MINUTE: Duration = Duration::from_secs(60);

/// Shows the progress of a sweep on stderr until the sender that belongs to `finished` is dropped: a bar on a terminal,
/// otherwise one line per minute.
pub(super) fn show(monitor: &Monitor, finished: &Receiver<()>) {
    if std::io::stderr().is_terminal() {
        bar(monitor, finished);
    } else {
        lines(monitor, finished);
    }
}

fn bar(monitor: &Monitor, finished: &Receiver<()>) {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(
        "{bar:40} {human_pos} of {human_len} cells, {rate}, {eta} left{msg}",
    );
    if let Ok(style) = style {
        let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            let _ = write!(text, "{:.0}/s", state.per_sec());
        };
        bar.set_style(style.with_key("rate", rate));
    }
    while finished.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        bar.set_length(monitor.cells.load(Ordering::Relaxed));
        bar.set_position(monitor.done.load(Ordering::Relaxed));
        bar.set_message(errors(monitor));
    }
    bar.finish_and_clear();
}

fn lines(monitor: &Monitor, finished: &Receiver<()>) {
    let start = Instant::now();
    while finished.recv_timeout(MINUTE) == Err(RecvTimeoutError::Timeout) {
        let done = monitor.done.load(Ordering::Relaxed);
        let all = monitor.cells.load(Ordering::Relaxed);
        let computed = done.saturating_sub(monitor.kept.load(Ordering::Relaxed));
        let rate = computed as f64 / start.elapsed().as_secs_f64();
        let left = all.saturating_sub(done) as f64 / rate;
        let left = if left.is_finite() {
            format!(", {left:.0} s left")
        } else {
            String::new()
        };
        let errors = errors(monitor);
        // An error of stderr does not stop the sweep.
        let _ = writeln!(
            std::io::stderr(),
            "{done} of {all} cells, {rate:.0}/s{left}{errors}"
        );
    }
}

fn errors(monitor: &Monitor) -> String {
    match monitor.errors.load(Ordering::Relaxed) {
        0 => String::new(),
        n => format!(", {n} with errors"),
    }
}
