//! Tasks that run beside the commands, until the engine closes.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long a close waits for tasks that have been asked to stop.
const STOP_WAIT_MAX: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub struct Background {
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Background {
    /// Spawns a task that holds no serving thread for longer than a turn.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(tokio::spawn(turn::fair(work)));
    }

    /// Stops all tasks, and waits until they have ended, though not for long.
    pub async fn stop(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.iter().for_each(JoinHandle::abort);
        let ended = async {
            for task in tasks {
                // An aborted task ends with an error that says just that.
                let _ = task.await;
            }
        };
        if tokio::time::timeout(STOP_WAIT_MAX, ended).await.is_err() {
            tracing::warn!("closed in the middle of work in the background");
        }
    }
}
