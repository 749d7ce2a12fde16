//! What may stop an operation while it runs: a deadline, or someone's wish.

use error::{Code, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

/// Shared between an operation and whoever may stop it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The code the operation is to fail with; 0 while nobody asked.
    code: AtomicI32,
    deadline: Option<Instant>,
}

impl Interrupt {
    /// Fails with MaxTimeMSExpired once the deadline has passed.
    pub fn with_deadline(deadline: Option<Instant>) -> Interrupt {
        Interrupt(Arc::new(Inner { code: AtomicI32::new(0), deadline }))
    }

    /// Asks the operation to stop; the first asker's code wins.
    pub fn stop(&self, code: Code) {
        let _ =
            self.0.code.compare_exchange(0, code.number(), Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// An error if the operation is to stop. Reads the clock: not for every row.
    pub fn check(&self) -> Result<()> {
        match self.0.code.load(Ordering::Relaxed) {
            0 => match self.0.deadline {
                Some(deadline) if Instant::now() >= deadline => {
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
    }
}
