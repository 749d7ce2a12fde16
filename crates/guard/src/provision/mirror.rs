//! Indexes that name an array which overflows are mirrored on its pages.

use super::index::{TAKEN_OVER, is_hidden, loses_pages, refuses_documents};
use crate::policy::Overflow;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::element::get_value;
use value::{DocumentWriter, Number, Path, elements};

/// The index of the pages that mirrors one of the collection; `None` if that one
/// does not name the array. Fields that pages do not have are left out. The parent comes last,
/// so that the index covers the way from an element to its document.
pub fn mirrored(overflow: &Overflow, spec: &RawDocument) -> Option<RawDocumentBuf> {
    let key = get_value(spec, "key")?.as_document()?;
    let mut mirrored = DocumentWriter::new();
    mirrored.append_i32("v", 2);
    mirrored.begin_document("key");
    let (mut any, mut is_plain) = (false, true);
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
            is_plain &= !name.ends_with("$**") && Number::from_value(field.value()).is_some();
        }
    }
    if is_plain {
        mirrored.append_i32(&overflow.parent_key, 1);
    }
    mirrored.end();
    mirrored.append_str("name", get_value(spec, "name")?.as_str()?);
    for option in elements(spec).filter(|option| TAKEN_OVER.contains(&option.key)) {
        mirrored.copy(option);
    }
    if is_hidden(spec) {
        mirrored.append_bool("hidden", true);
    }
    any.then(|| mirrored.finish())
}

fn name(spec: &RawDocument) -> &str {
    get_value(spec, "name").and_then(|name| name.as_str()).unwrap_or_default()
}

/// Whether an index names the array, or something in it.
fn names(overflow: &Overflow, spec: &RawDocument) -> bool {
    let key = get_value(spec, "key").and_then(|key| key.as_document());
    key.is_some_and(|key| elements(key).any(|it| Path::new(it.key).overlaps(&overflow.path)))
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
            let name = name(spec);
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
    use crate::Policy;
    use bson::rawdoc;
    use command::Namespace;

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
        let of_kind = rawdoc! { "list.kind": -1, "parentId": 1 };
        let expected = rawdoc! { "v": 2, "key": of_kind, "name": "x", "sparse": true };
        assert_eq!(of(rawdoc! { "a": 1, "p.list.kind": -1 }), Some(expected));
        let expected = rawdoc! { "v": 2, "key": { "list": "hashed" }, "name": "x", "sparse": true };
        assert_eq!(of(rawdoc! { "p.list": "hashed" }), Some(expected));
        assert_eq!(of(rawdoc! { "a": 1, "p.listing": 1 }), None);
    }
}
