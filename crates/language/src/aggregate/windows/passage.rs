//! What passes through a window that moves: what enters it, what leaves it, and what it
//! jumps over.

use super::window::{Frame, Window};
use crate::interrupt;
use bson::RawDocument;
use error::Result;
use std::collections::VecDeque;
use std::ops::Range;

/// What happens to what a function keeps of a document.
pub enum Change<T> {
    Enter(T),
    /// The oldest in the window leaves it.
    Leave,
    /// It was never in a window, and will not be.
    Skip(T),
}

/// What a function keeps of each document, on its way into the window.
pub struct Passage<T> {
    window: Window,
    whole: bool,
    /// Of the documents from `end` on.
    waiting: VecDeque<T>,
    /// The documents that are in the window.
    start: usize,
    end: usize,
}

impl<T> Passage<T> {
    pub fn new(frame: &Frame) -> Passage<T> {
        Passage {
            window: frame.start(),
            whole: frame.bounds.is_whole(),
            waiting: VecDeque::new(),
            start: 0,
            end: 0,
        }
    }

    /// Takes in what is kept of the next document. It comes back where it is in the window
    /// already: that of the whole partition holds nothing back.
    pub fn take(&mut self, document: &RawDocument, item: T) -> Result<Option<T>> {
        self.window.take(document)?;
        if self.whole {
            self.end += 1;
            return Ok(Some(item));
        }
        self.waiting.push_back(item);
        Ok(None)
    }

    /// Moves to the window of the next document and tells what that changes; `None`: more
    /// documents have to be taken in first.
    pub fn advance(
        &mut self,
        ended: bool,
        mut tell: impl FnMut(Change<T>) -> Result<()>,
    ) -> Result<Option<Range<usize>>> {
        let Some(window) = self.window.next(ended)? else { return Ok(None) };
        while self.start < window.start {
            if self.start < self.end {
                tell(Change::Leave)?;
            } else if let Some(next) = self.waiting.pop_front() {
                self.end += 1;
                tell(Change::Skip(next))?;
            }
            self.start += 1;
            interrupt::check()?;
        }
        while self.end < window.end
            && let Some(next) = self.waiting.pop_front()
        {
            self.end += 1;
            tell(Change::Enter(next))?;
            interrupt::check()?;
        }
        Ok(Some(window))
    }

    /// The memory it takes, beside what the items keep outside themselves.
    pub fn bytes(&self) -> usize {
        self.window.bytes() + self.waiting.len() * size_of::<T>()
    }
}
