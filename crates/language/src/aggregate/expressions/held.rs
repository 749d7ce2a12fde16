//! What evaluation holds in memory at a time. Each value has its own limit; this one is
//! for all that are alive at once: operands, variables, inputs that are walked over.

use super::coerce;
use crate::interrupt;
use crate::metadata::Asked;
use bson::RawBsonRef;
use budget::Kind;
use error::{Code, Result};
use std::cell::{Cell, RefCell};
use value::{ArrayWriter, Value};

/// The most bytes that the values of one evaluation may take together.
pub const EVALUATION_BYTES_MAX: usize = 400 * 1024 * 1024;

/// What is written counts once it is as long as this: most is short and soon done.
const GROWTH_BYTES_MIN: usize = 64 * 1024;

/// What an evaluation takes beyond this is reserved from the budget of the process.
const FREE_BYTES: usize = 1024 * 1024;

/// Items of an array that are counted at a time.
const COUNTED_ITEMS: usize = 1024;

/// The most bytes that the constants of one command may take that it did not write out: a few
/// bytes may say `$range`, or name a variable.
pub const FOLDED_BYTES_MAX: usize = 1024 * 1024;

/// The largest constant that takes the place of the expression it was computed from.
pub const FOLDED_VALUE_BYTES_MAX: usize = 16 * 1024;

thread_local! {
    // An evaluation runs on one thread from its beginning to its end.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static RESERVED: RefCell<budget::Held> = RefCell::new(budget::Held::new(Kind::Work));
    static FOLDED: Cell<usize> = const { Cell::new(0) };
}

/// A number of bytes that are held until this is dropped.
#[derive(Debug, Default)]
pub struct Held(usize);

impl Held {
    /// Counts a computed value; one that is still in its document takes nothing.
    pub fn value(value: Option<&Value<'_>>) -> Result<Held> {
        let mut held = Held::default();
        held.add(value)?;
        Ok(held)
    }

    pub fn raw(value: Option<&bson::RawBson>) -> Result<Held> {
        let mut held = Held::default();
        held.count(value.map_or(0, |value| bytes(value.as_raw_bson_ref())))?;
        Ok(held)
    }

    pub fn add(&mut self, value: Option<&Value<'_>>) -> Result<()> {
        match value {
            Some(Value::Own(value)) => self.count(bytes(value.as_raw_bson_ref())),
            _ => Ok(()),
        }
    }

    /// Counts what is being written, each time it is longer than before, and refuses what
    /// outgrows the limit of one value.
    pub fn write(&mut self, bytes: usize) -> Result<()> {
        coerce::check_size(bytes)?;
        self.grow(bytes)
    }

    /// Counts what an array that is being written takes, each time it is more than before, and
    /// refuses one that outgrows the limit of one value.
    pub fn write_array(&mut self, out: &ArrayWriter) -> Result<()> {
        coerce::check_size(out.bytes())?;
        self.grow(out.room())
    }

    fn grow(&mut self, bytes: usize) -> Result<()> {
        if bytes < GROWTH_BYTES_MIN { Ok(()) } else { self.count(bytes.saturating_sub(self.0)) }
    }

    fn count(&mut self, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.0 += bytes;
        let total = HELD.get() + bytes;
        HELD.set(total);
        if total > EVALUATION_BYTES_MAX {
            return Err(Code::ExceededMemoryLimit.error(format!(
                "the values of an expression would take {total} bytes, more than the limit of {EVALUATION_BYTES_MAX}"
            )));
        }
        if total <= FREE_BYTES {
            return Ok(());
        }
        RESERVED.with_borrow_mut(|reserved| reserved.resize(total))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.0 > 0 {
            let before = HELD.get();
            let total = before.saturating_sub(self.0);
            HELD.set(total);
            if before > FREE_BYTES {
                let left = if total > FREE_BYTES { total } else { 0 };
                RESERVED.with_borrow_mut(|reserved| reserved.force(left));
            }
        }
    }
}

/// Folds the constants of one more expression that the same command holds.
pub fn folding<T>(asked: &Asked, fold: impl FnOnce() -> T) -> T {
    FOLDED.set(asked.folded_bytes());
    let folded = fold();
    asked.note_folded(FOLDED.get());
    folded
}

/// Whether a computed constant may be kept in place of its expression.
pub fn keeps(value: RawBsonRef<'_>) -> bool {
    let bytes = bytes(value);
    let total = FOLDED.get() + bytes;
    let keeps = bytes <= FOLDED_VALUE_BYTES_MAX && total <= FOLDED_BYTES_MAX;
    if keeps {
        FOLDED.set(total);
    }
    keeps
}

/// What a value takes beside its own size.
pub fn bytes(value: RawBsonRef<'_>) -> usize {
    match value {
        RawBsonRef::Array(array) => array.as_bytes().len(),
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::String(text) => text.len(),
        RawBsonRef::Binary(binary) => binary.bytes.len(),
        _ => 0,
    }
}

/// What an array has, for functions that need all of it at once: counted while it is held.
pub fn collect<T>(items: impl Iterator<Item = Result<T>>) -> Result<(Vec<T>, Held)> {
    let (mut all, mut held) = (Vec::new(), Held::default());
    for item in items {
        interrupt::check()?;
        all.push(item?);
        if all.len().is_multiple_of(COUNTED_ITEMS) {
            // Twice, for the room that sorting takes.
            held.count(2 * COUNTED_ITEMS * size_of::<T>())?;
        }
    }
    Ok((all, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_held_no_more() {
        let most = EVALUATION_BYTES_MAX * 2 / 3;
        {
            let mut first = Held::default();
            first.count(most).unwrap();
            let more = Held::default().count(most).unwrap_err();
            assert_eq!(more.code(), Code::ExceededMemoryLimit);
        }
        assert!(Held::default().count(most).is_ok());
    }

    #[test]
    fn values_in_their_document_take_nothing() {
        let text = "x".repeat(1000);
        let held = Held::value(Some(&Value::Ref(bson::RawBsonRef::String(&text)))).unwrap();
        assert_eq!(held.0, 0);
        let held = Held::value(Some(&Value::Own(bson::RawBson::String(text)))).unwrap();
        assert_eq!(held.0, 1000);
    }
}
