//! Reads problems as they arrive, in a separate thread.

use carom_wire::{Command, RawText, Splitter};
use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Number of bytes requested in one read.
const BUFFER: usize = 1 << 18;

/// Largest number of reads whose problems wait to be answered.
const WAITING: usize = 4;

/// Starts a thread that reads problems for `command` and sends them to the returned receiver. Each message holds the texts
/// completed by one read.
pub(super) fn start(
    input: Box<dyn Read + Send>,
    command: Command,
) -> std::io::Result<Receiver<std::io::Result<Vec<RawText>>>> {
    let (send, receive) = sync_channel(WAITING);
    std::thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || read(input, Splitter::new(command), &send))?;
    Ok(receive)
}

fn read(
    mut input: impl Read,
    mut splitter: Splitter,
    send: &SyncSender<std::io::Result<Vec<RawText>>>,
) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let texts = match input.read(&mut buffer) {
            Ok(0) => {
                let _ = send.send(Ok(splitter.end()));
                return;
            }
            Ok(n) => splitter.split(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = send.send(Err(error));
                return;
            }
        };
        // Without a receiver no more texts are needed.
        if !texts.is_empty() && send.send(Ok(texts)).is_err() {
            return;
        }
    }
}
