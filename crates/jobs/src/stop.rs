//! Ctrl-C for jobs that stop between two batches, never within one.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub struct Stop {
    signal: Pin<Box<dyn Future<Output = std::io::Result<()>> + Send>>,
    /// Whether it has come.
    pub asked: bool,
}

impl Stop {
    pub fn new() -> Stop {
        Stop { signal: Box::pin(tokio::signal::ctrl_c()), asked: false }
    }

    /// Does something to its end, and notes whether the signal comes meanwhile.
    pub async fn through<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        if self.asked {
            return work.await;
        }
        tokio::select! {
            done = &mut work => done,
            _ = &mut self.signal => {
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
            _ = &mut self.signal => self.asked = true,
        }
    }
}
