//! Indexes that name an array which overflows are mirrored on its pages.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use guard::policy::Overflow;
use value::element::get_value;
use value::order::compare;
use value::{DocumentWriter, Path, elements};

/// The options that a mirrored index takes over.
const TAKEN_OVER: &[&str] = &["sparse", "collation"];

/// The index of the pages that mirrors one of the collection; `None` if that one
/// does not name the array. Fields that pages do not have are left out.
pub fn mirrored(overflow: &Overflow, spec: &RawDocument) -> Option<RawDocumentBuf> {
    let key = get_value(spec, "key")?.as_document()?;
    let mut mirrored = DocumentWriter::new();
    mirrored.append_i32("v", 2);
    mirrored.begin_document("key");
    let mut any = false;
    for field in elements(key) {
        let path = Path::new(field.key);
        if overflow.path.is_prefix_of(&path) {
            let below = path.tail(overflow.path.len());
            let name = match below {
                "" => overflow.name().to_owned(),
                below => format!("{}.{below}", overflow.name()),
            };
            mirrored.copy_as(&name, field);
            any = true;
        }
    }
    mirrored.end();
    mirrored.append_str("name", get_value(spec, "name")?.as_str()?);
    for option in elements(spec).filter(|option| TAKEN_OVER.contains(&option.key)) {
        mirrored.copy(option);
    }
    if is_set(spec, "hidden") {
        mirrored.append_bool("hidden", true);
    }
    any.then(|| mirrored.finish())
}

/// Adds an index of pages. One that is there already is shared, and hidden only where
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

/// Whether an index names the array, or something in it.
fn names(overflow: &Overflow, spec: &RawDocument) -> bool {
    let key = get_value(spec, "key").and_then(|key| key.as_document());
    key.is_some_and(|key| elements(key).any(|it| Path::new(it.key).overlaps(&overflow.path)))
}

/// Whether an index takes a key once, or is prepared to.
pub fn refuses_documents(spec: &RawDocument) -> bool {
    is_set(spec, "unique") || is_set(spec, "prepareUnique")
}

/// Whether an index refuses or deletes documents.
pub fn loses_pages(spec: &RawDocument) -> bool {
    refuses_documents(spec) || get_value(spec, "expireAfterSeconds").is_some()
}

/// Refuses indexes over an array that overflows that must see all of its elements, which are in
/// many documents: unique ones, and those that let documents expire.
pub fn check_sees_all<'a>(
    overflow: &Overflow,
    specs: impl Iterator<Item = &'a RawDocument>,
) -> Result<()> {
    for spec in specs {
        if loses_pages(spec) && names(overflow, spec) {
            let (kind, expected) = match refuses_documents(spec) {
                true => ("unique", "is not unique"),
                false => ("TTL", "lets nothing expire"),
            };
            let name = get_value(spec, "name").and_then(|name| name.as_str()).unwrap_or_default();
            return Err(Code::CannotCreateIndex.error(format!(
                "the array '{path}' overflows (the policy key 'arrays.{path}.on_limit'), and the \
                 {kind} index '{name}' names it: elements in pages would not be seen; expected an \
                 index that {expected}",
                path = overflow.path
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use command::Namespace;
    use guard::Policy;

    #[test]
    fn the_arrays_fields_are_mirrored() {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = rawdoc! { "arrays": { "p.list": { "max": 2, "on_limit": "overflow" } } };
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let overflow = policy.overflows().next().unwrap();
        let of = |key: RawDocumentBuf| {
            let spec = rawdoc! { "v": 2, "key": key, "name": "x", "sparse": true };
            mirrored(overflow, &spec)
        };
        let expected = rawdoc! { "v": 2, "key": { "list.kind": -1 }, "name": "x", "sparse": true };
        assert_eq!(of(rawdoc! { "a": 1, "p.list.kind": -1 }), Some(expected));
        assert_eq!(of(rawdoc! { "a": 1, "p.listing": 1 }), None);
    }

    #[test]
    fn indexes_are_the_same_by_value() {
        let one = rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": false };
        assert!(are_same(&one, &rawdoc! { "key": { "a": 1.0 }, "name": "b" }));
        assert!(!are_same(&one, &rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": true }));
        assert!(!are_same(&one, &rawdoc! { "key": { "a": -1 }, "name": "a" }));
    }
}
