//! A new document whose arrays are all within their bounds, as those of most are: what counts
//! them is added, and that is all. Every insert comes by here, so the way is kept short.

use crate::policy::{ArrayRule, Field, OnLimit, Policy};
use bson::RawDocument;
use bson::spec::ElementType;
use std::borrow::Cow;
use value::{DocumentWriter, Element, elements};
use write::{AtOnce, Counted, CountedArrays, Inserted, Length};

/// What the counters of most policies add to a document.
const ROOM_BYTES: usize = 64;

/// The document with its arrays counted; given back as it is if there is more to it.
pub fn insert<'d>(policy: &Policy, document: Cow<'d, RawDocument>) -> AtOnce<'d> {
    let Some(counted) = count(policy, &document) else { return AtOnce::Not(document) };
    let rules = policy.arrays.iter().zip(&counted);
    let counts = rules.filter_map(|(rule, counted)| match (&rule.on_limit, counted.after) {
        (OnLimit::Overflow(rule), Some(length)) => Some((rule.count.as_str(), length.elements)),
        _ => None,
    });
    let document = with_counts(document, counts);
    AtOnce::Done(Inserted { document, counted })
}

/// The arrays of a document; `None` if one is not within its bounds, or if that takes more
/// than a glance at each field.
fn count(policy: &Policy, document: &RawDocument) -> Option<CountedArrays> {
    if !policy.digest.is_flat {
        return None;
    }
    let absent = |rule| Counted { rule, before: None, after: None };
    let mut counted: CountedArrays = (0..policy.arrays.len()).map(absent).collect();
    for (key, field) in elements(document).keyed() {
        if !policy.digest.paths.has(key) {
            continue;
        }
        if policy.digest.fields.is_empty() {
            for (rule, counted) in policy.arrays.iter().zip(&mut counted) {
                meet(rule, counted, key, field)?;
            }
            continue;
        }
        match policy.digest.fields.get(key) {
            None => {}
            Some(Field::Counter) => return None,
            Some(Field::Array(at)) => meet_array(&policy.arrays[*at], &mut counted[*at], field)?,
        }
    }
    Some(counted)
}

/// Counts a field if it is the array of a rule. `None` if that is no array, or there twice, or
/// over its bounds, or if the field is one that only the policy writes.
#[inline]
fn meet(rule: &ArrayRule, counted: &mut Counted, key: &[u8], field: Element<'_>) -> Option<()> {
    if key == rule.path.as_str().as_bytes() {
        return meet_array(rule, counted, field);
    }
    match &rule.on_limit {
        OnLimit::Overflow(rule) => {
            let is_counter = rule.counters().iter().any(|path| key == path.as_str().as_bytes());
            (!is_counter).then_some(())
        }
        _ => Some(()),
    }
}

#[inline]
fn meet_array(rule: &ArrayRule, counted: &mut Counted, field: Element<'_>) -> Option<()> {
    if field.kind != ElementType::Array || counted.after.is_some() {
        return None;
    }
    let elements = field.children().count();
    counted.after = Some(Length { elements, pages: 0 });
    rule.bounds.hold(elements, field.bytes.len()).then_some(())
}

fn with_counts<'d, 'p>(
    document: Cow<'d, RawDocument>,
    counts: impl Iterator<Item = (&'p str, usize)>,
) -> Cow<'d, RawDocument> {
    let mut counts = counts.peekable();
    if counts.peek().is_none() {
        return document;
    }
    let mut out = match document {
        Cow::Owned(document) => DocumentWriter::resume(document),
        Cow::Borrowed(document) => {
            let mut out = DocumentWriter::with_capacity(document.as_bytes().len() + ROOM_BYTES);
            out.copy_all(document);
            out
        }
    };
    for (key, elements) in counts {
        match i32::try_from(elements) {
            Ok(elements) => out.append_i32(key, elements),
            Err(_) => out.append_i64(key, elements as i64),
        }
    }
    Cow::Owned(out.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, rawdoc};
    use command::Namespace;

    fn inserted(policy: &RawDocument, document: &RawDocument) -> Option<RawDocumentBuf> {
        let policy = Policy::parse(&Namespace::new("d", "c").unwrap(), policy).unwrap();
        let done = |given: Cow<'_, RawDocument>| match insert(&policy, given) {
            AtOnce::Done(done) => Some(done.document.into_owned()),
            AtOnce::Not(same) => {
                assert_eq!(*same, *document);
                None
            }
        };
        let (borrowed, owned) = (Cow::Borrowed(document), Cow::Owned(document.to_owned()));
        let done_owned = done(owned);
        assert_eq!(done(borrowed), done_owned);
        done_owned
    }

    /// The same with so many further rules that fields are found by their names.
    fn many() -> RawDocumentBuf {
        let mut arrays = flat().get_document("arrays").unwrap().to_owned();
        for at in 0..20 {
            let name = bson::raw::CString::try_from(format!("m{at}")).unwrap();
            arrays.append(&name, rawdoc! { "max": 1 });
        }
        rawdoc! { "arrays": arrays }
    }

    #[test]
    fn many_rules_say_what_few_do() {
        for document in [
            rawdoc! { "_id": 1, "o": [1, 2, 3], "r": [1] },
            rawdoc! { "_id": 1, "o": [1, 2, 3, 4] },
            rawdoc! { "_id": 1, "o": 1 },
            rawdoc! { "_id": 1, "r": [1], "o_count": 3 },
            rawdoc! { "_id": 1, "r": [1], "other": [1, 2, 3, 4] },
            rawdoc! { "_id": 1, "p": ["a long text that does not fit"] },
        ] {
            assert_eq!(inserted(&many(), &document), inserted(&flat(), &document), "{document:?}");
        }
    }

    fn flat() -> RawDocumentBuf {
        rawdoc! { "arrays": {
            "o": { "max": 3, "on_limit": "overflow" },
            "p": { "max_bytes": 30, "on_limit": "overflow" },
            "r": { "max": 2 },
        } }
    }

    #[test]
    fn arrays_within_their_bounds_are_counted() {
        let document = rawdoc! { "_id": 1, "p": [1], "r": [1, 2], "o": [1, 2, 3], "x": [1, 2, 3] };
        let mut expected = document.clone();
        expected.append(bson::raw::cstr!("oCount"), 3);
        expected.append(bson::raw::cstr!("pCount"), 1);
        assert_eq!(inserted(&flat(), &document).unwrap(), expected);
        let without = rawdoc! { "_id": 1, "x": 1 };
        assert_eq!(inserted(&flat(), &without).unwrap(), without);
    }

    #[test]
    fn whatever_is_more_than_that_is_left_to_others() {
        let mut twice = DocumentWriter::new();
        twice.append_i32("r", 1);
        twice.copy_all(&rawdoc! { "r": [1] });
        for document in [
            rawdoc! { "o": [1, 2, 3, 4] },
            rawdoc! { "p": ["a text that is too long for it"] },
            rawdoc! { "r": [1, 2, 3] },
            rawdoc! { "r": 1 },
            rawdoc! { "o": [1], "oCount": 1 },
            rawdoc! { "pHasOverflow": false },
            rawdoc! { "oOverflowPages": 0 },
            twice.finish(),
        ] {
            assert_eq!(inserted(&flat(), &document), None, "{document:?}");
        }
        let deep = rawdoc! { "arrays": { "s.o": { "max": 3 } } };
        assert_eq!(inserted(&deep, &rawdoc! { "_id": 1 }), None);
    }
}
