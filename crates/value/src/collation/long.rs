//! Long texts under a collation, in time that grows with their length.
//!
//! The collator skips what two texts begin with alike, and steps back from there to where it may
//! begin to compare: over digits that are one number, or letters that may be one contraction.
//! Each step moves all that it has stepped over, so a long way back costs the square of its
//! length. So where texts have much in common, they are cut where a word begins, and those that
//! have no such place are compared by their sort keys.

use super::marks;
use icu_collator::CollatorBorrowed;
use std::cmp::Ordering;

/// Texts as long as this are compared as they are, and no way back is longer.
const SHORT_BYTES: usize = 512;

/// Work on texts that are longer leaves a thread that serves sockets: it cannot be
/// interrupted.
const ASIDE_BYTES: usize = 32 * 1024;

/// Bytes whose comparison is one short piece of work.
const BYTES_OF_A_PIECE: usize = 128;

pub fn compare(collator: &CollatorBorrowed<'static>, a: &str, b: &str) -> Ordering {
    if a.len() <= SHORT_BYTES && b.len() <= SHORT_BYTES {
        return collator.compare(a, b);
    }
    match a == b {
        true => Ordering::Equal,
        false => counted(a.len().saturating_add(b.len()), || compare_long(collator, a, b)),
    }
}

/// Appends bytes that sort as `compare` does.
pub fn sort_key(collator: &CollatorBorrowed<'static>, text: &str, out: &mut Vec<u8>) {
    if text.len() <= SHORT_BYTES {
        let Ok(()) = collator.write_sort_key_to(text, out);
        return;
    }
    counted(text.len(), || {
        let Ok(()) = collator.write_sort_key_to(&marks::bounded(text), out);
    });
}

/// Work on so many bytes.
fn counted<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    turn::effort::add(bytes / BYTES_OF_A_PIECE);
    if bytes > ASIDE_BYTES { turn::aside(work) } else { work() }
}

fn compare_long(collator: &CollatorBorrowed<'static>, a: &str, b: &str) -> Ordering {
    let (a, b) = (marks::bounded(a), marks::bounded(b));
    let common = common_bytes(a.as_bytes(), b.as_bytes());
    if common <= SHORT_BYTES {
        return collator.compare(&a, &b);
    }
    match word_start(&a.as_bytes()[..common]) {
        Some(start) => collator.compare(&a[start..], &b[start..]),
        None => compare_keys(collator, &a, &b),
    }
}

fn compare_keys(collator: &CollatorBorrowed<'static>, a: &str, b: &str) -> Ordering {
    let key = |text: &str| {
        let mut key = Vec::with_capacity(text.len());
        let Ok(()) = collator.write_sort_key_to(text, &mut key);
        key
    };
    key(a).cmp(&key(b))
}

/// How many bytes two texts have in common in front.
fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let equal = BLOCK * blocks.take_while(|(a, b)| a == b).count();
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

/// Where the last word begins that is near the end: no collation joins a space to a letter or a
/// digit behind it, so that what is before changes nothing.
fn word_start(common: &[u8]) -> Option<usize> {
    let first = common.len().saturating_sub(SHORT_BYTES);
    let pairs = common[first..].windows(2);
    let found =
        pairs.rev().position(|pair| is_space(pair[0]) && pair[1].is_ascii_alphanumeric())?;
    Some(common.len() - 1 - found)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n')
}
