//! Closing the storage engine within a bounded time.
//!
//! Dropping fjall's `Database` waits for its compactions, which may take minutes. A compaction
//! that is cut off by the end of the process is harmless: the next start removes its output.
//! So the last reference is dropped by a thread of its own, and a close waits for it only so
//! long.

use fjall::Database;
use parking_lot::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

/// How long a close waits for compactions.
const COMPACTIONS_WAIT_MAX: Duration = Duration::from_secs(1);

/// Holds the last reference to the storage engine.
pub struct Closer {
    go: Option<Sender<()>>,
    closed: Mutex<Receiver<()>>,
}

impl Closer {
    pub fn start(database: Database) -> std::io::Result<Closer> {
        let (go, going) = channel();
        let (done, closed) = channel();
        Builder::new().name("closer".into()).spawn(move || {
            // Nothing is ever sent: it ends when the sender is dropped.
            let _ = going.recv();
            drop(database);
            drop(done);
        })?;
        Ok(Closer { go: Some(go), closed: Mutex::new(closed) })
    }
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.go = None;
        // The thread has dropped its end, or it goes on without us.
        let _ = self.closed.get_mut().recv_timeout(COMPACTIONS_WAIT_MAX);
    }
}
