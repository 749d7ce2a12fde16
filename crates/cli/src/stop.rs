//! Signals that stop the server. They have a thread of their own, so that they are obeyed
//! whatever the server is doing, and within a time that does not depend on it.

use crate::log;
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

/// Sends the name of the signal that stops the server.
pub fn watch() -> io::Result<oneshot::Receiver<&'static str>> {
    let (sender, receiver) = oneshot::channel();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _runtime = runtime.enter();
        Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
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
}

fn wait(runtime: &Runtime, mut signals: Signals, sender: oneshot::Sender<&'static str>) {
    let name = runtime.block_on(async {
        tokio::select! {
            _ = signals.terminate.recv() => "SIGTERM",
            _ = signals.interrupt.recv() => "Ctrl-C",
        }
    });
    // Without a receiver the server is stopping by itself.
    let _ = sender.send(name);
    thread::sleep(STOP_MAX);
    warn!("stopping takes too long; exiting, and the next start recovers");
    log::flush();
    process::exit(0);
}
