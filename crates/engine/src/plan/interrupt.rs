//! What may stop an operation while it runs: a deadline, or someone's wish. Where it is
//! checked, work that has taken long also leaves the thread that serves sockets.

use error::{Code, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Shared between an operation and whoever may stop it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The code the operation is to fail with; 0 while nobody asked.
    code: AtomicI32,
    /// Wakes those who wait to be asked.
    asked: Notify,
    limit: Mutex<Limit>,
}

/// The time an operation has. A cursor's stands still between its batches.
#[derive(Debug, Clone, Copy, Default)]
enum Limit {
    #[default]
    None,
    Until(Instant),
    Paused(Duration),
}

impl Interrupt {
    /// Fails with MaxTimeMSExpired once the deadline has passed.
    pub fn with_deadline(deadline: Option<Instant>) -> Interrupt {
        let limit = deadline.map_or(Limit::None, Limit::Until);
        Interrupt(Arc::new(Inner { limit: Mutex::new(limit), ..Inner::default() }))
    }

    /// Asks the operation to stop; the first asker's code wins.
    pub fn stop(&self, code: Code) {
        let _ =
            self.0.code.compare_exchange(0, code.number(), Ordering::Relaxed, Ordering::Relaxed);
        self.0.asked.notify_waiters();
    }

    /// Waits until someone asks the operation to stop.
    pub async fn stopped(&self) {
        let mut asked = std::pin::pin!(self.0.asked.notified());
        asked.as_mut().enable();
        if self.0.code.load(Ordering::Relaxed) == 0 {
            asked.await;
        }
    }

    /// Stops the clock: the time until `resume` does not count.
    pub fn pause(&self) {
        let mut limit = self.0.limit.lock();
        if let Limit::Until(deadline) = *limit {
            *limit = Limit::Paused(deadline.saturating_duration_since(Instant::now()));
        }
    }

    /// Takes the limit away.
    pub fn lift(&self) {
        *self.0.limit.lock() = Limit::None;
    }

    pub fn resume(&self) {
        let mut limit = self.0.limit.lock();
        if let Limit::Paused(left) = *limit {
            *limit = Limit::Until(Instant::now() + left);
        }
    }

    /// An error if the operation is to stop. Reads the clock: not for every row.
    pub fn check(&self) -> Result<()> {
        language::interrupt::Interrupt::check(&*self.0)
    }

    /// The same for the language to ask.
    pub fn shared(&self) -> Arc<dyn language::interrupt::Interrupt> {
        self.0.clone()
    }
}

impl language::interrupt::Interrupt for Inner {
    fn check(&self) -> Result<()> {
        turn::check()?;
        match self.code.load(Ordering::Relaxed) {
            0 => match *self.limit.lock() {
                Limit::Until(deadline) if Instant::now() >= deadline => {
                    Err(Code::MaxTimeMSExpired.error("operation exceeded time limit"))
                }
                _ => Ok(()),
            },
            code => Err(Code::location(code).error(message(code))),
        }
    }
}

fn message(code: i32) -> &'static str {
    if code == Code::MaxTimeMSExpired.number() {
        "operation exceeded time limit"
    } else if code == Code::CursorKilled.number() {
        "cursor was killed"
    } else if code == Code::ClientDisconnect.number() {
        "operation was interrupted because a client disconnected"
    } else if code == Code::InterruptedAtShutdown.number() {
        "interrupted at shutdown"
    } else {
        "operation was interrupted"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_stop_or_a_deadline_is_an_error() {
        let interrupt = Interrupt::default();
        assert!(interrupt.check().is_ok());
        interrupt.clone().stop(Code::Interrupted);
        interrupt.stop(Code::CursorKilled);
        assert_eq!(interrupt.check().unwrap_err().code(), Code::Interrupted);

        let past = Instant::now() - Duration::from_millis(1);
        let late = Interrupt::with_deadline(Some(past));
        assert_eq!(late.check().unwrap_err().code(), Code::MaxTimeMSExpired);

        let soon = Interrupt::with_deadline(Some(Instant::now() + Duration::from_millis(5)));
        soon.pause();
        std::thread::sleep(Duration::from_millis(10));
        assert!(soon.check().is_ok(), "the time between does not count");
        soon.resume();
        assert!(soon.check().is_ok());
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(soon.check().unwrap_err().code(), Code::MaxTimeMSExpired);
    }
}
