//! Slots: how many pieces of work aside compute at once. The others wait in line, and those that
//! compute make room for them after a slice of time. Without a bound, hundreds of threads would
//! share the cores, and those that serve sockets would hardly ever be among them.
//!
//! Work may also block in its slot: on the disk, or on a lock whose holder waits in line. So where
//! no slot has changed hands for a while, the next in line goes on without one.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long work keeps its slot while others wait.
const SLICE: Duration = Duration::from_millis(10);
/// No slot has changed hands for so long: those who have them are blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(50);

/// Some more than there are cores, since work may wait for the disk.
pub static SLOTS: LazyLock<usize> =
    LazyLock::new(|| 2 * thread::available_parallelism().map_or(1, usize::from));

static LINE: LazyLock<Mutex<Line>> = LazyLock::new(|| {
    Mutex::new(Line { taken: 0, waiting: VecDeque::new(), moved: Instant::now() })
});
/// How many wait, for a look without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// When this thread's slice began.
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
}

struct Line {
    taken: usize,
    waiting: VecDeque<Arc<Waiter>>,
    /// When a slot last changed hands.
    moved: Instant,
}

struct Waiter {
    thread: Thread,
    granted: AtomicBool,
}

/// Takes a slot, in turn.
pub fn take() {
    let mut line = lock();
    if line.taken < *SLOTS && line.waiting.is_empty() {
        line.taken += 1;
    } else {
        wait(line);
    }
    SINCE.set(Some(Instant::now()));
}

/// Gives the slot back.
pub fn give_back() {
    SINCE.set(None);
    let mut line = lock();
    line.taken -= 1;
    line.hand_on();
}

/// Whether the slot is to go to another piece of work for a while.
pub fn is_over() -> bool {
    WAITING.load(Ordering::Relaxed) > 0 && SINCE.get().is_some_and(|since| since.elapsed() >= SLICE)
}

/// Gives the slot to the next in line, and waits for another one.
pub fn pass_on() {
    let mut line = lock();
    if !line.waiting.is_empty() {
        line.taken -= 1;
        let waiter = line.join();
        line.hand_on();
        drop(line);
        waiter.wait();
    }
    SINCE.set(Some(Instant::now()));
}

fn lock() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait(mut line: MutexGuard<'static, Line>) {
    let waiter = line.join();
    drop(line);
    waiter.wait();
}

impl Line {
    fn join(&mut self) -> Arc<Waiter> {
        let waiter = Waiter { thread: thread::current(), granted: AtomicBool::new(false) };
        let waiter = Arc::new(waiter);
        self.waiting.push_back(waiter.clone());
        WAITING.store(self.waiting.len(), Ordering::Relaxed);
        waiter
    }

    fn hand_on(&mut self) {
        self.moved = Instant::now();
        while self.taken < *SLOTS
            && let Some(next) = self.waiting.pop_front()
        {
            self.taken += 1;
            next.granted.store(true, Ordering::Release);
            next.thread.unpark();
        }
        WAITING.store(self.waiting.len(), Ordering::Relaxed);
    }
}

impl Waiter {
    fn wait(&self) {
        while !self.granted.load(Ordering::Acquire) {
            thread::park_timeout(BLOCKED_AFTER);
            let mut line = lock();
            let is_first = line.waiting.front().is_some_and(|first| std::ptr::eq(&**first, self));
            if is_first && line.moved.elapsed() >= BLOCKED_AFTER {
                line.waiting.pop_front();
                line.taken += 1;
                line.moved = Instant::now();
                WAITING.store(line.waiting.len(), Ordering::Relaxed);
                return;
            }
        }
    }
}
