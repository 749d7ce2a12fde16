//! Runs of combining marks, cut to a bounded length.
//!
//! The collator holds all marks of a character at once and removes them one by one from the
//! front, so that the time of a run grows with the square of its length. Unicode's Stream-Safe
//! Text Format (UAX #15) bounds runs with the combining grapheme joiner, which every collation
//! ignores. A run that is too long is brought into canonical order and cut the same way: what is
//! canonically equivalent stays equal, and each mark keeps its weight and its place. Only a
//! contraction with a mark behind a cut is lost.

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use std::borrow::Cow;

/// Marks in a row that are compared as they are.
pub const MARKS_MAX: usize = 128;

/// A longer run covers at least one of the places so far apart: a mark has two bytes or more.
const STRIDE_BYTES: usize = 2 * MARKS_MAX;

/// U+034F, the combining grapheme joiner.
const JOINER: char = '\u{34f}';

/// The text, with a joiner after every [`MARKS_MAX`] marks of runs that are longer.
pub fn bounded(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < text.len() {
        let run = run_at(text, copied, at);
        at += STRIDE_BYTES;
        let Some(run) = run else { continue };
        at = at.max(run.end);
        if run.marks > MARKS_MAX {
            out.push_str(&text[copied..run.start]);
            cut(&text[run.start..run.end], &mut out);
            copied = run.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Marks in a row, with the character that they belong to.
struct Run {
    start: usize,
    end: usize,
    marks: usize,
}

/// The run that covers a place; nothing where there is no mark. It begins no sooner than
/// `from`.
fn run_at(text: &str, from: usize, at: usize) -> Option<Run> {
    let at = (from..=at).rev().find(|at| text.is_char_boundary(*at))?;
    if !is_mark(text[at..].chars().next()?) {
        return None;
    }
    let mut run = Run { start: at, end: at, marks: 0 };
    for c in text[from..at].chars().rev() {
        run.start -= c.len_utf8();
        if !is_mark(c) {
            break;
        }
        run.marks += 1;
    }
    for c in text[at..].chars().take_while(|c| is_mark(*c)) {
        run.end += c.len_utf8();
        run.marks += 1;
    }
    Some(run)
}

fn cut(run: &str, out: &mut String) {
    let mut marks = 0;
    for c in DecomposingNormalizerBorrowed::new_nfd().normalize(run).chars() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if marks > MARKS_MAX {
            out.push(JOINER);
            marks = 1;
        }
        out.push(c);
    }
}

/// Whether a character belongs to the one before it in canonical order. Three Tibetan vowels
/// have no class of their own, but are made of marks that have one.
fn is_mark(c: char) -> bool {
    const FIRST: char = '\u{300}';
    c >= FIRST
        && (CanonicalCombiningClassMapBorrowed::new().get_u8(c) != 0
            || matches!(c, '\u{f73}' | '\u{f75}' | '\u{f81}'))
}
