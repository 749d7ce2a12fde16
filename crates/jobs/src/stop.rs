//! Ctrl-C: announced when it comes, so that nobody wonders; the second one ends the process.

use std::future::Future;
use std::io::{IsTerminal, Write};
use std::pin::Pin;
use std::time::Duration;

/// As a shell reports a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;
/// Clears the line that a progress bar is drawn on.
const CLEAR_LINE: &str = "\r\x1b[2K";

/// Waits for Ctrl-C, and says on standard error what is done about it.
pub async fn interrupt(what: &str) {
    if tokio::signal::ctrl_c().await.is_err() {
        return std::future::pending().await;
    }
    let mut stderr = std::io::stderr().lock();
    let clear = if stderr.is_terminal() { CLEAR_LINE } else { "" };
    let _ = writeln!(stderr, "{clear}freeboard: {what}; Ctrl-C again ends it at once");
    drop(stderr);
    tokio::spawn(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Ctrl-C for jobs that stop between two batches, never within one.
pub struct Stop {
    signal: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Whether it has come.
    pub asked: bool,
}

impl Stop {
    pub fn new() -> Stop {
        Stop { signal: Box::pin(interrupt("stopping after this batch")), asked: false }
    }

    /// Does something to its end, and notes whether the signal comes meanwhile.
    pub async fn through<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        if self.asked {
            return work.await;
        }
        tokio::select! {
            done = &mut work => done,
            () = &mut self.signal => {
                self.asked = true;
                work.await
            }
        }
    }

    /// Rests, but not past the signal.
    pub async fn rest(&mut self, duration: Duration) {
        if self.asked || duration.is_zero() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = &mut self.signal => self.asked = true,
        }
    }
}
