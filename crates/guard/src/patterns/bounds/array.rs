//! The bounds of declared arrays.

use super::violation::Violation;
use crate::patterns::place::{self, EMPTY_ARRAY_BYTES, weight};
use crate::policy::{ArrayRule, Bounds, OnLimit};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use value::{DocumentWriter, Element, Path};

/// Refuses a document with an array over one of its bounds that has grown in what that
/// bound is about: what is over in number only may hold other, heavier elements.
pub fn check(rule: &ArrayRule, before: Option<&RawDocument>, after: &RawDocument) -> Result<()> {
    let over = over(&rule.path, rule.bounds, after);
    if over.is_empty() {
        return Ok(());
    }
    let was = before.map(|before| self::over(&rule.path, rule.bounds, before)).unwrap_or_default();
    match grown(rule.bounds, &over, &was) {
        Some(array) => Err(Violation { document: after, path: &rule.path, array: array.array }
            .of(rule.bounds, array.len)),
        None => Ok(()),
    }
}

/// Whether some array at a path is over a bound, and further than before.
pub fn grows(path: &Path, bounds: Bounds, before: &RawDocument, after: &RawDocument) -> bool {
    let over = over(path, bounds, after);
    !over.is_empty() && grown(bounds, &over, &self::over(path, bounds, before)).is_some()
}

struct Over<'a> {
    array: Element<'a>,
    len: usize,
    bytes: usize,
}

/// An array that is further over a bound than before.
fn grown<'o, 'a>(bounds: Bounds, now: &'o [Over<'a>], was: &[Over<'_>]) -> Option<&'o Over<'a>> {
    let longer = grown_in(now, was, bounds.max, |it| it.len);
    longer.or_else(|| grown_in(now, was, bounds.max_bytes, |it| it.bytes))
}

/// The same by one measure: largest compared with largest.
fn grown_in<'o, 'a>(
    now: &'o [Over<'a>],
    was: &[Over<'_>],
    bound: Option<usize>,
    measure: impl Fn(&Over<'_>) -> usize,
) -> Option<&'o Over<'a>> {
    let bound = bound?;
    let mut now: Vec<&Over<'a>> = now.iter().filter(|it| measure(it) > bound).collect();
    now.sort_by_key(|it| Reverse(measure(it)));
    let mut was: Vec<usize> = was.iter().map(&measure).collect();
    was.sort_by_key(|it| Reverse(*it));
    let was = was.into_iter().chain(std::iter::repeat(0));
    now.into_iter().zip(was).find(|(now, was)| measure(now) > *was).map(|(now, _)| now)
}

/// The arrays over their bounds.
fn over<'a>(path: &Path, bounds: Bounds, document: &'a RawDocument) -> Vec<Over<'a>> {
    let arrays = place::arrays(document, path).into_iter();
    // Most are too small to be over.
    let large = arrays.filter(|array| bounds.hold_bytes(array.bytes.len()) != Some(true));
    let measured =
        large.map(|array| Over { len: array.children().count(), bytes: array.bytes.len(), array });
    measured.filter(|it| !bounds.hold(it.len, it.bytes)).collect()
}

/// The document with its arrays cut down to their bounds; `None` if they are
/// within them, or as they were. One that was over its bounds before is cut by the
/// first write that changes it.
pub fn trim(
    rule: &ArrayRule,
    before: Option<&RawDocument>,
    after: &RawDocument,
) -> Option<RawDocumentBuf> {
    let now = over(&rule.path, rule.bounds, after);
    if now.is_empty() {
        return None;
    }
    let was = before.map(|before| over(&rule.path, rule.bounds, before)).unwrap_or_default();
    let to_cut = changed(&now, &was);
    if to_cut.is_empty() {
        return None;
    }
    let oldest = matches!(rule.on_limit, OnLimit::DropOldest);
    Some(place::rewrite(after, &rule.path, &mut |array, out| match to_cut
        .contains(&array.bytes.as_ptr())
    {
        true => {
            cut(array, rule.bounds, oldest, out);
        }
        false => out.copy(array),
    }))
}

/// Those that were not there before, each by where it stands. An array of before is one of
/// now, and not several.
fn changed(now: &[Over<'_>], was: &[Over<'_>]) -> FxHashSet<*const u8> {
    let mut left = FxHashMap::<&[u8], usize>::default();
    for over in was {
        *left.entry(over.array.bytes).or_default() += 1;
    }
    let changed = now.iter().filter(|over| match left.get_mut(over.array.bytes) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    });
    changed.map(|over| over.array.bytes.as_ptr()).collect()
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
    for over in over(&rule.path, rule.bounds, document) {
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
    fn arrays_that_stay_as_they_are_are_not_cut() {
        let path = Path::new("s.a");
        let rule = ArrayRule { path, ..rule(OnLimit::DropOldest, Some(2), None) };
        let before = rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [1, 2] }] };
        let beside = rawdoc! { "s": [{ "a": [1, 2, 3], "x": 1 }, { "a": [1, 2] }] };
        assert_eq!(trim(&rule, Some(&before), &beside), None);
        let pushed = rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [1, 2, 9] }] };
        let expected = rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [2, 9] }] };
        assert_eq!(trim(&rule, Some(&before), &pushed), Some(expected));
        let copied = rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [1, 2, 3] }] };
        let expected = rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [2, 3] }] };
        assert_eq!(trim(&rule, Some(&before), &copied), Some(expected));
    }

    #[test]
    fn what_was_over_may_stay_and_shrink_but_not_grow() {
        let rule = rule(OnLimit::Reject, Some(2), None);
        let long = rawdoc! { "a": [1, 2, 3, 4] };
        let accepts = |after: &RawDocument| check(&rule, Some(&long), after).is_ok();
        assert!(accepts(&rawdoc! { "a": [1, 2, 3] }) && accepts(&long));
        assert!(!accepts(&rawdoc! { "a": [1, 2, 3, 4, 5] }));
        // The bound is on the number of elements, and there are no more of them.
        assert!(accepts(&rawdoc! { "a": ["a long text", 2, 3, 4] }));
        assert!(check(&rule, None, &long).is_err());
    }

    #[test]
    fn each_bound_is_about_its_own_growth() {
        let rule = rule(OnLimit::Reject, Some(3), Some(40));
        let heavy = rawdoc! { "a": ["a text of thirty bytes and more"] };
        let accepts = |after: &RawDocument| check(&rule, Some(&heavy), after).is_ok();
        assert!(!accepts(&rawdoc! { "a": ["a text of thirty bytes and more", 2] }));
        assert!(accepts(&rawdoc! { "a": [1, 2, 3] }));
        assert!(!accepts(&rawdoc! { "a": [1, 2, 3, 4] }));
        let path = Path::new("s.a");
        let rule = ArrayRule { path, ..self::rule(OnLimit::Reject, Some(2), None) };
        let two = rawdoc! { "s": [{ "a": [1, 2, 3, 4] }, { "a": [1, 2, 3] }] };
        let accepts = |after: &RawDocument| check(&rule, Some(&two), after).is_ok();
        assert!(accepts(&rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [1, 2, 3, 4] }] }));
        assert!(!accepts(&rawdoc! { "s": [{ "a": [1, 2, 3, 4] }, { "a": [1, 2, 3, 4] }] }));
        assert!(!accepts(
            &rawdoc! { "s": [{ "a": [1, 2, 3] }, { "a": [3, 4, 5] }, { "a": [1, 2, 3] }] }
        ));
    }
}
