//! New documents that hold more than they may keep, or say what only the policy does.

use super::{Amends, Seen, Work};
use crate::patterns::fields;
use crate::patterns::measured::ArrayLength;
use crate::patterns::pattern::Insertion;
use crate::patterns::place::id;
use crate::policy::{OnLimit, Overflow, Policy};
use bson::RawDocument;
use error::Result;
use smallvec::SmallVec;
use std::borrow::Cow;
use value::{DocumentWriter, wide};
use write::{Sidecar, Transaction, Version};

/// What the counters of most policies add to a document.
const ROOM_BYTES: usize = 64;

/// Arrays by their numbers; mostly one or two.
type Met<'p, 'd> = SmallVec<[(usize, &'p Overflow, Seen<'d>); 2]>;

/// Puts what a new document holds over the bounds in pages, and counts what overflows.
pub async fn insert<T: Transaction>(
    transaction: &mut T,
    insertion: &mut Insertion<'_, '_>,
) -> Result<()> {
    let policy = insertion.policy;
    let Some(document) = insertion.document.take() else { return Ok(()) };
    let mut amends = Amends::default();
    for (at, rule, seen) in seen(policy, &document) {
        let mut work = Work { policy, rule, transaction, parent: id(&document) };
        if let Some(done) = work.settle_new(&document, &seen).await? {
            let after = done.counters.length();
            insertion.measured.arrays.push(ArrayLength { rule: at, before: None, after });
            done.write(rule, &seen, &mut amends);
        }
    }
    if let Sidecar::Becomes(sidecar) = amends.sidecar(None) {
        insertion.sidecar = sidecar;
    }
    let edits = &amends.edits;
    insertion.document = Some(match document {
        document if edits.is_empty() => document,
        Cow::Borrowed(document) => Cow::Owned(fields::edit(document, edits)?),
        Cow::Owned(document) => Cow::Owned(fields::edit_own(document, edits)?),
    });
    Ok(())
}

/// The arrays that overflow, and what the document shows of each.
fn seen<'p, 'd>(policy: &'p Policy, document: &'d RawDocument) -> Met<'p, 'd> {
    let _entered = wide::enter(document);
    let rules = policy.arrays.iter().enumerate();
    rules
        .filter_map(|(at, rule)| match &rule.on_limit {
            OnLimit::Overflow(rule) => Some((at, &**rule, Seen::of(Version::from(document), rule))),
            _ => None,
        })
        .collect()
}

/// Adds the counts to a new document that keeps its arrays whole.
pub fn add_counts(insertion: &mut Insertion<'_, '_>) {
    let rules = insertion.policy.arrays.iter().zip(&insertion.measured.arrays);
    let counts = rules.filter_map(|(rule, measured)| match (&rule.on_limit, measured.after) {
        (OnLimit::Overflow(rule), Some(length)) => {
            Some((rule.count.as_ref()?.as_str(), length.elements))
        }
        _ => None,
    });
    let document = insertion.document.take();
    insertion.document = document.map(|document| with_counts(document, counts));
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
    use crate::patterns::fitting;
    use crate::patterns::measured::Measured;
    use crate::policy::legacy;
    use bson::{RawDocumentBuf, rawdoc};
    use command::Namespace;

    fn inserted(policy: &RawDocument, document: &RawDocument) -> Option<RawDocumentBuf> {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = legacy::written_out(&namespace, policy);
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let done = |given: Cow<'_, RawDocument>| {
            let measured = Measured { arrays: fitting::measure(&policy, &given)?, complete: true };
            let mut insertion =
                Insertion { policy: &policy, document: Some(given), sidecar: None, measured };
            add_counts(&mut insertion);
            insertion.document.map(Cow::into_owned)
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
