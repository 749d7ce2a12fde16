//! Indexes of what a policy provides, as specifications.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use value::element::get_value;
use value::order::compare;
use value::{DocumentWriter, elements};

/// The options that a mirrored index takes over, and that make two indexes differ.
pub(super) const TAKEN_OVER: &[&str] = &["sparse", "collation"];

/// Adds an index of pages. An existing one is shared, and hidden only where
/// both are.
pub fn share(specs: &mut Vec<RawDocumentBuf>, spec: RawDocumentBuf) {
    match specs.iter_mut().find(|earlier| are_same(earlier, &spec)) {
        Some(earlier) if is_hidden(earlier) && !is_hidden(&spec) => {
            *earlier = with_hidden(earlier, false)
        }
        Some(_) => {}
        None => specs.push(spec),
    }
}

/// The index, hidden or not.
pub fn with_hidden(spec: &RawDocument, hidden: bool) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    elements(spec).filter(|option| option.key != "hidden").for_each(|option| out.copy(option));
    if hidden {
        out.append_bool("hidden", true);
    }
    out.finish()
}

pub fn is_hidden(spec: &RawDocument) -> bool {
    is_set(spec, "hidden")
}

fn is_set(spec: &RawDocument, option: &str) -> bool {
    get_value(spec, option).and_then(|it| it.as_bool()) == Some(true)
}

/// Whether two indexes of pages are the same by value, be their names as they may: as they
/// are where indexes are made, or one that is there would be missed for ever.
pub fn are_same(one: &RawDocument, other: &RawDocument) -> bool {
    let mut parts = ["key"].iter().chain(TAKEN_OVER);
    parts.all(|part| match (given(one, part), given(other, part)) {
        (Some(one), Some(other)) => compare(one, other).is_eq(),
        (one, other) => one.is_none() && other.is_none(),
    })
}

/// An option of an index; false is the same as nothing.
fn given<'a>(spec: &'a RawDocument, option: &str) -> Option<RawBsonRef<'a>> {
    get_value(spec, option).filter(|it| *it != RawBsonRef::Boolean(false))
}

/// Whether an index takes a key once, or is prepared to.
pub fn refuses_documents(spec: &RawDocument) -> bool {
    is_set(spec, "unique") || is_set(spec, "prepareUnique")
}

/// Whether an index refuses or deletes documents.
pub fn loses_pages(spec: &RawDocument) -> bool {
    refuses_documents(spec) || get_value(spec, "expireAfterSeconds").is_some()
}

/// Whether an index of pages is one that a policy needs: the same by whatever name, or the
/// mirror of that name as earlier versions made it, without the parent at the end of its key.
pub fn answers(index: &RawDocument, needed: &RawDocument) -> bool {
    are_same(index, needed)
        || (given(index, "name") == given(needed, "name")
            && without_last_field(needed).is_some_and(|earlier| are_same(index, &earlier)))
}

fn without_last_field(spec: &RawDocument) -> Option<RawDocumentBuf> {
    let key = get_value(spec, "key")?.as_document()?;
    let fields: Vec<_> = elements(key).collect();
    let (_, [first, rest @ ..]) = fields.split_last()? else { return None };
    let mut out = DocumentWriter::new();
    out.begin_document("key");
    [first].into_iter().chain(rest).for_each(|field| out.copy(*field));
    out.end();
    elements(spec).filter(|option| option.key != "key").for_each(|option| out.copy(option));
    Some(out.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn indexes_are_the_same_by_value() {
        let one = rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": false };
        assert!(are_same(&one, &rawdoc! { "key": { "a": 1.0 }, "name": "b" }));
        assert!(!are_same(&one, &rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": true }));
        assert!(!are_same(&one, &rawdoc! { "key": { "a": -1 }, "name": "a" }));
    }

    #[test]
    fn a_mirror_of_an_earlier_version_is_as_good() {
        let needed = rawdoc! { "key": { "a": 1, "parentId": 1 }, "name": "a", "sparse": true };
        assert!(answers(&rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": true }, &needed));
        assert!(!answers(&rawdoc! { "key": { "a": 1 }, "name": "a" }, &needed));
        assert!(!answers(&rawdoc! { "key": { "a": 1 }, "name": "b", "sparse": true }, &needed));
        assert!(!answers(&rawdoc! { "key": { "b": 1 }, "name": "a", "sparse": true }, &needed));
    }
}
