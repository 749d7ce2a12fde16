//! The queue between those who log and standard error. Standard error may be a pipe that nobody
//! reads, so one thread writes to it, and nobody else waits for it: what does not fit the queue
//! is dropped and counted.

use parking_lot::{Condvar, Mutex};
use server::RecentLines;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Lines that wait to be written. As much again may be under way.
pub const QUEUE_BYTES_MAX: usize = 1024 * 1024;

/// Clones share their lines.
#[derive(Clone)]
pub struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to write.
    filled: Condvar,
    /// Everything has been written.
    drained: Condvar,
    /// Counts what was dropped.
    recent: RecentLines,
}

#[derive(Default)]
struct State {
    /// Whole lines.
    waiting: Vec<u8>,
    /// Whether lines are with the thread that writes them.
    is_writing: bool,
    /// Lines that were dropped and that the log has not mentioned.
    dropped: usize,
}

impl Queue {
    /// Starts the thread that writes.
    pub fn start(to: impl Write + Send + 'static, recent: RecentLines) -> io::Result<Queue> {
        let (state, filled, drained) = (Mutex::default(), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state, filled, drained, recent });
        let queue = Queue { shared: shared.clone() };
        Builder::new().name("log".to_owned()).spawn(move || shared.write_out(to))?;
        Ok(queue)
    }

    /// Takes lines, or drops them where there is no room.
    pub fn push(&self, lines: &[u8]) {
        let Shared { state, filled, recent, .. } = &*self.shared;
        let mut state = state.lock();
        if state.waiting.len() + lines.len() > QUEUE_BYTES_MAX {
            let count = count(lines);
            state.dropped += count;
            recent.count_dropped(count);
            return;
        }
        state.waiting.extend_from_slice(lines);
        filled.notify_one();
    }

    /// Waits until everything is written, but no longer than this.
    pub fn flush(&self, within: Duration) {
        let until = Instant::now() + within;
        let mut state = self.shared.state.lock();
        while !state.waiting.is_empty() || state.is_writing {
            if self.shared.drained.wait_until(&mut state, until).timed_out() {
                return;
            }
        }
    }
}

impl Write for Queue {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.push(lines);
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// It ends with the process.
    fn write_out(&self, mut to: impl Write) {
        let mut lines = Vec::new();
        loop {
            let dropped = self.take(&mut lines);
            if dropped > 0 {
                // It goes to the queue, which has room now.
                tracing::warn!(lines = dropped, "{dropped} lines of the log were dropped");
            }
            // Where nobody reads any more, a line that says so would not be read either.
            if to.write_all(&lines).and_then(|()| to.flush()).is_err() {
                self.recent.count_dropped(count(&lines));
            }
            lines.clear();
            // What one long line took is not kept.
            lines.shrink_to(QUEUE_BYTES_MAX / 16);
        }
    }

    /// Waits for lines and takes them all; says how many were dropped behind them.
    fn take(&self, lines: &mut Vec<u8>) -> usize {
        let mut state = self.state.lock();
        state.is_writing = false;
        while state.waiting.is_empty() {
            self.drained.notify_all();
            self.filled.wait(&mut state);
        }
        mem::swap(&mut state.waiting, lines);
        state.is_writing = true;
        mem::take(&mut state.dropped)
    }
}

fn count(lines: &[u8]) -> usize {
    lines.iter().filter(|byte| **byte == b'\n').count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Takes a write whenever it may.
    struct Gate {
        go: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
            self.go.recv().map_err(io::Error::other)?;
            self.written.send(lines.to_vec()).map_err(io::Error::other)?;
            Ok(lines.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let (go, gate) = channel();
        let (sender, written) = channel();
        let recent = RecentLines::default();
        let queue = Queue::start(Gate { go: gate, written: sender }, recent.clone()).unwrap();
        queue.push(b"first\n");
        while !queue.shared.state.lock().is_writing {
            std::thread::yield_now();
        }
        let line = [vec![b'x'; 1023], vec![b'\n']].concat();
        for _ in 0..QUEUE_BYTES_MAX / line.len() + 7 {
            queue.push(&line);
        }
        assert_eq!(recent.dropped(), 7);
        let started = Instant::now();
        queue.flush(Duration::from_millis(50));
        assert!(started.elapsed() < Duration::from_secs(5), "it waits no longer");
        go.send(()).unwrap();
        go.send(()).unwrap();
        assert_eq!(written.recv().unwrap(), b"first\n");
        assert_eq!(written.recv().unwrap().len(), QUEUE_BYTES_MAX);
        queue.flush(Duration::from_secs(60));
        // There is room again.
        queue.push(b"last\n");
        go.send(()).unwrap();
        assert_eq!(written.recv().unwrap(), b"last\n");
        assert_eq!(recent.dropped(), 7);
    }

    #[test]
    fn a_reader_that_has_gone_does_not_end_it() {
        let (go, gate) = channel::<()>();
        drop(go);
        let (sender, _written) = channel();
        let recent = RecentLines::default();
        let queue = Queue::start(Gate { go: gate, written: sender }, recent.clone()).unwrap();
        for line in ["one\n", "two\nthree\n"] {
            queue.push(line.as_bytes());
            queue.flush(Duration::from_secs(60));
        }
        assert_eq!(recent.dropped(), 3);
    }
}
