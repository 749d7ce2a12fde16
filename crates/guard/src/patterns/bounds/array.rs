//! The bounds of declared arrays.

use super::violation::Violation;
use crate::patterns::place::{self, EMPTY_ARRAY_BYTES, weight};
use crate::policy::{ArrayRule, Bounds, OnLimit};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use std::cmp::Reverse;
use value::{DocumentWriter, Element};

/// Refuses a document with an array over its bounds that has grown.
pub fn check(rule: &ArrayRule, before: Option<&RawDocument>, after: &RawDocument) -> Result<()> {
    let over = over(rule, after);
    if over.is_empty() {
        return Ok(());
    }
    let was = before.map(|before| self::over(rule, before)).unwrap_or_default();
    // Over the bounds before, and no further now: largest compared with largest.
    let grown = over.iter().enumerate().find(|(at, now)| {
        was.get(*at).is_none_or(|was| now.len > was.len || now.bytes > was.bytes)
    });
    match grown {
        Some((_, array)) => {
            Err(Violation { document: after, path: &rule.path, array: array.array }
                .of(rule.bounds, array.len))
        }
        None => Ok(()),
    }
}

struct Over<'a> {
    array: Element<'a>,
    len: usize,
    bytes: usize,
}

/// The arrays over their bounds, the largest first.
fn over<'a>(rule: &ArrayRule, document: &'a RawDocument) -> Vec<Over<'a>> {
    let arrays = place::arrays(document, &rule.path).into_iter();
    let measured =
        arrays.map(|array| Over { len: array.children().count(), bytes: array.bytes.len(), array });
    let mut over: Vec<_> = measured.filter(|it| !rule.bounds.hold(it.len, it.bytes)).collect();
    over.sort_by_key(|it| Reverse((it.len, it.bytes)));
    over
}

/// The document with its arrays cut down to their bounds; `None` if they are
/// within them, or as they were.
pub fn trim(
    rule: &ArrayRule,
    before: Option<&RawDocument>,
    after: &RawDocument,
) -> Option<RawDocumentBuf> {
    if over(rule, after).is_empty()
        || before.is_some_and(|before| place::unchanged(before, after, &rule.path))
    {
        return None;
    }
    let oldest = matches!(rule.on_limit, OnLimit::DropOldest);
    Some(place::rewrite(after, &rule.path, &mut |array, out| {
        cut(array, rule.bounds, oldest, out);
    }))
}

/// What is too much in the arrays of a rule that lets elements go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    pub elements: usize,
    pub bytes: usize,
}

pub fn dropped(rule: &ArrayRule, document: &RawDocument) -> Dropped {
    let mut dropped = Dropped::default();
    if !drops(rule) {
        return dropped;
    }
    for over in over(rule, document) {
        let mut trimmed = DocumentWriter::new();
        let oldest = matches!(rule.on_limit, OnLimit::DropOldest);
        dropped.elements += over.len - cut(over.array, rule.bounds, oldest, &mut trimmed);
        dropped.bytes += over.array.bytes.len().saturating_sub(trimmed.len());
    }
    dropped
}

/// The document with its arrays cut down, however long they have been so; `None`
/// if they are within bounds, or the rule lets nothing go.
pub fn trimmed(rule: &ArrayRule, document: &RawDocument) -> Option<RawDocumentBuf> {
    if drops(rule) { trim(rule, None, document) } else { None }
}

fn drops(rule: &ArrayRule) -> bool {
    matches!(rule.on_limit, OnLimit::DropOldest | OnLimit::DropNewest)
}

/// Writes the last elements that fit (without the oldest), or the first, and says
/// how many they are.
fn cut(array: Element<'_>, bounds: Bounds, oldest: bool, out: &mut DocumentWriter) -> usize {
    let items: Vec<Element<'_>> = array.children().items().collect();
    let mut bytes = EMPTY_ARRAY_BYTES;
    let mut kept = 0;
    while kept < items.len() {
        let next = if oldest { items.len() - 1 - kept } else { kept };
        bytes += weight(items[next], kept);
        if !bounds.hold(kept + 1, bytes) {
            break;
        }
        kept += 1;
    }
    let kept = if oldest { &items[items.len() - kept..] } else { &items[..kept] };
    out.begin_array(array.key);
    kept.iter().for_each(|item| out.copy_next(*item));
    out.end();
    kept.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use value::Path;

    fn rule(on_limit: OnLimit, max: Option<usize>, max_bytes: Option<usize>) -> ArrayRule {
        ArrayRule { path: Path::new("a"), bounds: Bounds { max, max_bytes }, on_limit }
    }

    #[test]
    fn the_oldest_or_the_newest_go() {
        let after = rawdoc! { "a": [1, 2, 3, 4], "b": 1 };
        let trimmed = |on_limit| trim(&rule(on_limit, Some(2), None), None, &after).unwrap();
        assert_eq!(trimmed(OnLimit::DropOldest), rawdoc! { "a": [3, 4], "b": 1 });
        assert_eq!(trimmed(OnLimit::DropNewest), rawdoc! { "a": [1, 2], "b": 1 });
        // Each number takes seven bytes, beside the five of the array.
        let by_bytes = trim(&rule(OnLimit::DropOldest, Some(4), Some(26)), None, &after).unwrap();
        assert_eq!(by_bytes, rawdoc! { "a": [2, 3, 4], "b": 1 });
        let same = rawdoc! { "a": [1, 2, 3, 4], "b": 2 };
        let untouched = rule(OnLimit::DropOldest, Some(2), None);
        assert_eq!(trim(&untouched, Some(&after), &same), None);
    }

    #[test]
    fn what_was_over_may_stay_and_shrink_but_not_grow() {
        let rule = rule(OnLimit::Reject, Some(2), None);
        let long = rawdoc! { "a": [1, 2, 3, 4] };
        let accepts = |after: &RawDocument| check(&rule, Some(&long), after).is_ok();
        assert!(accepts(&rawdoc! { "a": [1, 2, 3] }) && accepts(&long));
        assert!(!accepts(&rawdoc! { "a": [1, 2, 3, 4, 5] }));
        assert!(!accepts(&rawdoc! { "a": ["a long text", 2, 3, 4] }));
        assert!(check(&rule, None, &long).is_err());
    }
}
