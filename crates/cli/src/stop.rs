//! Signals that stop the server. They have a thread of their own, so that they are obeyed
//! whatever the server is doing, and within a time that does not depend on it.

use crate::log;
use rustix::process::Signal as Number;
use std::io;
use std::process;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::warn;

/// How long stopping may take. A server that has not stopped by then exits as it is: what was
/// acknowledged is in the journal, and the next start recovers it.
const STOP_MAX: Duration = Duration::from_millis(4_500);

/// A file would pass the limit that the process has for the size of files.
const FILE_SIZE: Number = Number::XFSZ;

/// Sends the name of the signal that stops the server.
pub fn watch() -> io::Result<oneshot::Receiver<&'static str>> {
    let (sender, receiver) = oneshot::channel();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _runtime = runtime.enter();
        Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            file_size: signal(SignalKind::from_raw(FILE_SIZE.as_raw()))?,
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || wait(&runtime, signals, sender))?;
    Ok(receiver)
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Listened to so that it does not end the process: the write that passes the limit fails
    /// with an error like any other.
    file_size: Signal,
}

fn wait(runtime: &Runtime, mut signals: Signals, sender: oneshot::Sender<&'static str>) {
    let name = runtime.block_on(async {
        loop {
            tokio::select! {
                _ = signals.terminate.recv() => return "SIGTERM",
                _ = signals.interrupt.recv() => return "Ctrl-C",
                _ = signals.file_size.recv() => warn!("a file would pass the limit of its size"),
            }
        }
    });
    // Without a receiver the server is stopping by itself.
    let _ = sender.send(name);
    thread::sleep(STOP_MAX);
    warn!("stopping takes too long; exiting, and the next start recovers");
    log::flush();
    process::exit(0);
}
