//! How much a thread has worked since it last asked whether its work is to stop. Loops count
//! short pieces of work and ask once there are enough of them; work that cannot ask, such as a
//! comparison of long strings, adds what it took, so that the next loop asks at once.

use std::cell::Cell;

/// Short pieces of work between two questions.
pub const PIECES_BETWEEN: usize = 64;

thread_local! {
    static DONE: Cell<usize> = const { Cell::new(0) };
}

/// Counts work, and says whether it is time to ask. Then counting begins again.
#[inline]
pub fn is_due(pieces: usize) -> bool {
    let done = DONE.get().saturating_add(pieces);
    let is_due = done >= PIECES_BETWEEN;
    DONE.set(if is_due { 0 } else { done });
    is_due
}

/// Counts work whose loop cannot ask by itself.
pub fn add(pieces: usize) {
    DONE.set(DONE.get().saturating_add(pieces));
}
