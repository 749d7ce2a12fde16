//! Whether the work under way is to stop. Whoever runs a command enters its interrupt on
//! the thread that works; loops that may take long ask here, so that neither a pipeline
//! that multiplies documents nor an expression that never ends outlasts a time limit.

use error::Result;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes whose copying is one short piece of work.
const BYTES_OF_A_CALL: usize = 1024;

/// Items that are sorted in one go, at first and at most: as many as are sorted in
/// [`SORT_TIME_MAX`], since a comparison may be of long strings under a collation.
const SORT_ITEMS_MIN: usize = 8;
const SORT_ITEMS_MAX: usize = 32 * 1024;
const SORT_TIME_MAX: Duration = Duration::from_millis(10);

/// What can say that the work is to stop.
pub trait Interrupt: Send + Sync {
    /// The error that the work is to end with.
    fn check(&self) -> Result<()>;
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<dyn Interrupt>>> = const { RefCell::new(None) };
}

/// While this lives, the thread's work asks an interrupt.
pub struct Entered(Option<Arc<dyn Interrupt>>);

pub fn enter(interrupt: Arc<dyn Interrupt>) -> Entered {
    Entered(CURRENT.replace(Some(interrupt)))
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// To be called for each short piece of work: asks now and then.
#[inline]
pub fn check() -> Result<()> {
    if turn::effort::is_due(1) { check_now() } else { Ok(()) }
}

/// To be called for each piece of work on so many bytes: the more they are, the sooner it
/// asks.
#[inline]
pub fn check_sized(bytes: usize) -> Result<()> {
    if turn::effort::is_due(bytes / BYTES_OF_A_CALL + 1) { check_now() } else { Ok(()) }
}

/// To be called for each piece of work that may take long by itself.
pub fn check_now() -> Result<()> {
    CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), |current| current.check()))
}

/// Whether the work is to stop: an error that was met now is no fault of what was worked on.
pub fn is_stopping() -> bool {
    check_now().is_err()
}

/// A comparison for sorting in place what may be much: the work leaves a thread that others
/// need. That it is to stop is left to the next check.
pub fn yielding<T: ?Sized>(
    mut compare: impl FnMut(&T, &T) -> Ordering,
) -> impl FnMut(&T, &T) -> Ordering {
    move |a, b| {
        let _ = check();
        compare(a, b)
    }
}

/// Sorts what may be much: in pieces that are merged, asking in between. What is equal keeps
/// its order.
pub fn sort<T>(items: Vec<T>, mut compare: impl FnMut(&T, &T) -> Ordering) -> Result<Vec<T>> {
    let mut rest = items.into_iter();
    let mut pieces = Vec::new();
    let mut most = SORT_ITEMS_MIN;
    while !rest.as_slice().is_empty() {
        let begun = Instant::now();
        let mut piece: Vec<T> = rest.by_ref().take(most).collect();
        piece.sort_by(yielding(&mut compare));
        pieces.push(piece);
        if rest.as_slice().is_empty() {
            break;
        }
        let took = begun.elapsed();
        if took < SORT_TIME_MAX / 32 {
            most = (16 * most).min(SORT_ITEMS_MAX);
            continue;
        }
        check_now()?;
        if took > SORT_TIME_MAX {
            most = (most / 2).max(SORT_ITEMS_MIN);
        }
    }
    while pieces.len() > 1 {
        let mut merged = Vec::with_capacity(pieces.len().div_ceil(2));
        let mut left = pieces.into_iter();
        while let Some(first) = left.next() {
            merged.push(match left.next() {
                Some(second) => merge(first, second, &mut compare)?,
                None => first,
            });
        }
        pieces = merged;
    }
    Ok(pieces.pop().unwrap_or_default())
}

fn merge<T>(
    first: Vec<T>,
    second: Vec<T>,
    compare: &mut impl FnMut(&T, &T) -> Ordering,
) -> Result<Vec<T>> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    loop {
        check()?;
        let next = match (first.peek(), second.peek()) {
            (Some(a), Some(b)) if compare(a, b).is_le() => first.next(),
            (Some(_), None) => first.next(),
            (_, Some(_)) => second.next(),
            (None, None) => return Ok(merged),
        };
        merged.extend(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use error::Code;

    struct Stopped;

    impl Interrupt for Stopped {
        fn check(&self) -> Result<()> {
            Err(Code::MaxTimeMSExpired.error("operation exceeded time limit"))
        }
    }

    #[test]
    fn work_ends_while_the_interrupt_is_entered() {
        let entered = enter(Arc::new(Stopped));
        assert!(check_now().is_err());
        assert!((0..turn::effort::PIECES_BETWEEN).any(|_| check().is_err()));
        assert!((0..2).any(|_| check_sized(200 * BYTES_OF_A_CALL).is_err()));
        assert!(check_sized(usize::MAX).is_err());
        drop(entered);
        assert!(check_now().is_ok());
        assert!((0..turn::effort::PIECES_BETWEEN).all(|_| check().is_ok()));
    }

    #[test]
    fn functions_of_large_values_end() {
        let context = crate::Context::new();
        let numbers: Vec<i32> = (0..10_000).collect();
        let numbers = bson::RawArrayBuf::from_iter(numbers.into_iter().map(bson::RawBson::Int32));
        let document = bson::rawdoc! { "a": numbers, "t": "ab".repeat(10_000) };
        for expression in [
            bson::rawdoc! { "$concatArrays": ["$a", "$a"] },
            bson::rawdoc! { "$firstN": { "n": 9_999, "input": "$a" } },
            bson::rawdoc! { "$in": [-1, "$a"] },
            bson::rawdoc! { "$indexOfArray": ["$a", -1] },
            bson::rawdoc! { "$lastN": { "n": 9_999, "input": "$a" } },
            bson::rawdoc! { "$map": { "input": "$a", "in": 1 } },
            bson::rawdoc! { "$maxN": { "n": 9_999, "input": "$a" } },
            bson::rawdoc! { "$range": [0, { "$size": "$a" }] },
            bson::rawdoc! { "$regexFindAll": { "input": "$t", "regex": "a" } },
            bson::rawdoc! { "$replaceAll": { "input": "$t", "find": "a", "replacement": "c" } },
            bson::rawdoc! { "$reverseArray": "$a" },
            bson::rawdoc! { "$setDifference": ["$a", []] },
            bson::rawdoc! { "$setEquals": ["$a", "$a"] },
            bson::rawdoc! { "$setIntersection": ["$a", "$a"] },
            bson::rawdoc! { "$setIsSubset": ["$a", "$a"] },
            bson::rawdoc! { "$setUnion": ["$a", "$a"] },
            bson::rawdoc! { "$slice": ["$a", 9_999] },
            bson::rawdoc! { "$sortArray": { "input": "$a", "sortBy": -1 } },
            bson::rawdoc! { "$split": ["$t", "a"] },
            bson::rawdoc! { "$sum": "$a" },
            bson::rawdoc! { "$zip": { "inputs": ["$a", "$a"] } },
        ] {
            let parsed = crate::aggregate::expressions::Expression::parse(
                bson::RawBsonRef::Document(&expression),
                &context,
            );
            let parsed = parsed.unwrap();
            assert!(parsed.evaluate(&document).is_ok(), "{expression:?}");
            let _entered = enter(Arc::new(Stopped));
            let stopped = parsed.evaluate(&document).map(|_| ()).unwrap_err();
            assert_eq!(stopped.code(), Code::MaxTimeMSExpired, "{expression:?}");
        }
    }

    #[test]
    fn much_is_sorted_like_little_until_it_is_stopped() {
        for count in [0, 1, SORT_ITEMS_MAX, 5 * SORT_ITEMS_MAX + 3] {
            let items: Vec<_> = (0..count).map(|at| (at * 7919 % 1000, at)).collect();
            let mut expected = items.clone();
            expected.sort();
            assert!(sort(items, |a, b| a.0.cmp(&b.0)).unwrap() == expected, "{count}");
        }
        let _entered = enter(Arc::new(Stopped));
        assert!(sort((0..2 * SORT_ITEMS_MAX).collect(), usize::cmp).is_err());
    }

    #[test]
    fn a_sort_is_stopped_however_long_its_comparisons_take() {
        let compared = std::cell::Cell::new(0);
        let slow = |a: &usize, b: &usize| {
            compared.set(compared.get() + 1);
            std::thread::sleep(Duration::from_millis(2));
            a.cmp(b)
        };
        let _entered = enter(Arc::new(Stopped));
        assert!(sort((0..1_000).rev().collect(), slow).is_err());
        assert!(compared.get() < 40, "{}", compared.get());
    }

    #[test]
    fn an_expression_without_end_ends() {
        let context = crate::Context::new();
        let million = bson::rawdoc! { "$range": [0, 1_000_000] };
        let inner = bson::rawdoc! { "$map": { "input": million.clone(), "in": 1 } };
        let endless = bson::rawdoc! { "$map": { "input": million, "in": { "$size": inner } } };
        let expression = crate::aggregate::expressions::Expression::parse(
            bson::RawBsonRef::Document(&endless),
            &context,
        );
        let (expression, document) = (expression.unwrap(), bson::RawDocumentBuf::new());
        let _entered = enter(Arc::new(Stopped));
        let error = expression.evaluate(&document).unwrap_err();
        assert_eq!(error.code(), Code::MaxTimeMSExpired);
    }
}
