//! Progress of a sweep: one line on a terminal, otherwise a new line a minute.

use crate::progress::Meter;
use carom_sweep::Monitor;
use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(100);
const MINUTE: Duration = Duration::from_secs(60);

/// Shows the progress of a sweep on stderr until the sender that belongs to `finished` is dropped: one line on a
/// terminal, otherwise a new line per minute.
pub(super) fn show(monitor: &Monitor, finished: &Receiver<()>) {
    if std::io::stderr().is_terminal() {
        on_terminal(monitor, finished);
    } else {
        lines(monitor, finished);
    }
}

fn on_terminal(monitor: &Monitor, finished: &Receiver<()>) {
    let meter = Meter::new("sweep", false);
    while finished.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        let kept = monitor.kept.load(Ordering::Relaxed);
        let done = monitor.done.load(Ordering::Relaxed).saturating_sub(kept);
        let all = monitor.cells.load(Ordering::Relaxed).saturating_sub(kept);
        meter.count(&format!("cells{}", errors(monitor)), done, all);
    }
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
