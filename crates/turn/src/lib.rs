//! Turns: how long a task may hold a thread that serves sockets.
//!
//! A few threads serve all connections. A task that computes for long would hold one of
//! them, and as many such tasks as there are threads would stop the server for everybody.
//! So each poll of a task that was wrapped by [`fair`] is a turn of at most [`TURN_MAX`].
//! Loops that may take long call [`check`]; once the turn has passed, the thread hands its
//! place over to another one and goes on with the work beside it: nothing is copied or
//! moved, and work that is short never pays for it. What is known to be long goes through
//! [`aside`] from the start.
//!
//! Work that is aside has a thread of its own, so its number is bounded too, and more so how many
//! of these threads compute at once ([`slots`]).

pub mod effort;
mod slots;

use error::{Code, Result};
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};

/// How long a poll may hold a thread that serves sockets.
pub const TURN_MAX: Duration = Duration::from_millis(2);

/// Pieces of work that are aside at once; each has a thread. The next is refused.
pub const ASIDE_MAX: usize = 1_000;

/// Threads that a runtime needs for so much work aside, and for the store's own calls that
/// block.
pub const BLOCKING_THREADS_MAX: usize = ASIDE_MAX + 200;

/// How long a thread waits for another to take its place. Under load it may take longer:
/// then it tries again later.
const HANDOVER_WAIT: Duration = Duration::from_micros(50);

/// The first pause between two tries to hand over; the next ones are longer.
const RETRY_PAUSE: Duration = Duration::from_millis(2);
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(64);

static ASIDE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Free) };
}

/// What the thread's work may do.
#[derive(Debug, Clone, Copy)]
enum State {
    /// The thread serves no sockets: work may take as long as it likes.
    Free,
    /// The thread serves sockets. The clock is first read by the first check.
    Serving(Option<Instant>),
    /// The thread has handed its place over, as far as anyone can know: it tries again.
    Handed { next: Instant, pause: Duration },
    /// The thread works inside [`aside`].
    Aside,
}

pin_project_lite::pin_project! {
    /// A future each poll of which is a turn.
    pub struct Fair<F> {
        #[pin]
        future: F,
    }
}

/// Makes each poll of a task a turn.
pub fn fair<F: Future>(future: F) -> Fair<F> {
    Fair { future }
}

impl<F: Future> Future for Fair<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _turn = Turn::begin(State::Serving(None));
        self.project().future.poll(context)
    }
}

/// The state of a thread during a poll, or a part of one.
struct Turn {
    before: State,
}

impl Turn {
    fn begin(state: State) -> Turn {
        Turn { before: STATE.replace(state) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let State::Handed { .. } | State::Aside = STATE.replace(self.before) {
            slots::give_back();
            ASIDE.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Whether the turn has passed: then the task is to yield where it can.
pub fn is_over() -> bool {
    match STATE.get() {
        State::Free | State::Aside => false,
        State::Handed { .. } => true,
        State::Serving(None) => {
            STATE.set(State::Serving(Some(Instant::now())));
            false
        }
        State::Serving(Some(began)) => began.elapsed() >= TURN_MAX,
    }
}

/// To be called now and then by work that may take long: moves it aside once its turn has
/// passed. Fails where too much work is aside.
pub fn check() -> Result<()> {
    match STATE.get() {
        State::Free => Ok(()),
        State::Serving(None) => {
            STATE.set(State::Serving(Some(Instant::now())));
            Ok(())
        }
        State::Serving(Some(began)) if began.elapsed() < TURN_MAX => Ok(()),
        State::Serving(Some(_)) => step_aside(),
        State::Aside => {
            pass_on();
            Ok(())
        }
        State::Handed { next, pause } => {
            if Instant::now() >= next {
                hand_over(pause, || thread::sleep(HANDOVER_WAIT));
            }
            pass_on();
            Ok(())
        }
    }
}

/// Runs what is known to be long without holding a thread that serves sockets.
pub fn aside<T>(work: impl FnOnce() -> T) -> T {
    match STATE.get() {
        State::Serving(_) if take_place() => {}
        // A check inside refuses it.
        State::Serving(_) => return work(),
        State::Free => return blocking(work),
        State::Handed { .. } | State::Aside => return work(),
    }
    let result = blocking(|| {
        slots::take();
        let _turn = Turn::begin(State::Aside);
        work()
    });
    STATE.set(State::Serving(None));
    result
}

/// Counts one more piece of work as aside, if there is room for it.
fn take_place() -> bool {
    let taken = ASIDE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |aside| {
        (aside < ASIDE_MAX).then_some(aside + 1)
    });
    taken.is_ok()
}

fn step_aside() -> Result<()> {
    if !take_place() {
        return Err(Code::IngressRequestRateLimitExceeded.error(format!(
            "{ASIDE_MAX} long commands are running, which is the limit; try again when some \
             have ended, or end some with killOp"
        )));
    }
    hand_over(RETRY_PAUSE, || {
        thread::sleep(HANDOVER_WAIT);
        slots::take();
    });
    Ok(())
}

/// Lets others that wait compute for a while.
fn pass_on() {
    if slots::is_over() {
        blocking(slots::pass_on);
    }
}

/// Lets another thread take this one's place among those that serve sockets. The runtime
/// takes the place back unless another thread has come by the end of the closure; where the
/// place is gone already, this only waits.
fn hand_over(pause: Duration, wait: impl FnOnce()) {
    blocking(wait);
    let next = Instant::now() + pause;
    STATE.set(State::Handed { next, pause: (pause * 2).min(RETRY_PAUSE_MAX) });
}

fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests;
