//! Arrays of a document, by the path that leads to them.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::{DocumentWriter, Element, Elements, Path, elements, wide};

/// The `_id`, by which pages know their document.
pub fn id(document: &RawDocument) -> RawBsonRef<'_> {
    let id = elements(document).find_item("_id");
    id.map_or(RawBsonRef::Null, |id| id.value())
}

/// What stands at a path of sub-documents.
pub fn find<'a>(document: &'a RawDocument, path: &Path) -> Option<Element<'a>> {
    let mut fields = elements(document);
    let last = path.len() - 1;
    for at in 0..last {
        let inner = fields.find_first(path.component(at))?;
        if inner.kind != ElementType::EmbeddedDocument {
            return None;
        }
        fields = inner.children();
    }
    fields.find_first(path.component(last))
}

/// What stands at each of these paths, found in one walk but for the deep ones.
pub fn find_all<'a, const N: usize>(
    document: &'a RawDocument,
    paths: [&Path; N],
) -> [Option<Element<'a>>; N] {
    if wide::is_entered(document) {
        return paths.map(|path| find(document, path));
    }
    let mut found = elements(document).find_keys(paths.map(Path::as_str));
    for (path, found) in paths.iter().zip(&mut found) {
        if path.len() > 1 {
            *found = find(document, path);
        }
    }
    found
}

/// Refuses a document with two fields of the same name on a path: operators see
/// the first and most clients the last, so no bound would hold for both.
pub fn check_single(document: &RawDocument, path: &Path) -> Result<()> {
    single(elements(document), path, 0)
}

fn single(mut fields: Elements<'_>, path: &Path, at: usize) -> Result<()> {
    let key = path.component(at);
    let Some(field) = fields.find_key(key) else { return Ok(()) };
    if fields.find_key(key).is_some() {
        return Err(Code::BadValue.error(format!(
            "the document has more than one field '{key}' on the path '{path}', which has a \
             growth policy"
        )));
    }
    match field.kind {
        _ if at + 1 == path.len() => Ok(()),
        ElementType::EmbeddedDocument => single(field.children(), path, at + 1),
        ElementType::Array => {
            let items = field.children().items();
            let mut inner = items.filter(|item| item.kind == ElementType::EmbeddedDocument);
            inner.try_for_each(|item| single(item.children(), path, at + 1))
        }
        _ => Ok(()),
    }
}

/// The array on the way of a path that must go through sub-documents alone.
pub fn array_above<'a>(document: &'a RawDocument, path: &Path) -> Option<Element<'a>> {
    let mut fields = elements(document);
    for at in 0..path.len() - 1 {
        let inner = fields.find_first(path.component(at))?;
        match inner.kind {
            ElementType::Array => return Some(inner),
            ElementType::EmbeddedDocument => fields = inner.children(),
            _ => return None,
        }
    }
    None
}

/// Every array at a path, which may go through sub-documents and arrays of them.
pub fn arrays<'a>(document: &'a RawDocument, path: &Path) -> Vec<Element<'a>> {
    let mut found = Vec::new();
    collect(elements(document), path, 0, &mut found);
    found
}

fn collect<'a>(fields: Elements<'a>, path: &Path, at: usize, found: &mut Vec<Element<'a>>) {
    let Some(field) = fields.find_first(path.component(at)) else { return };
    let last = at + 1 == path.len();
    match field.kind {
        ElementType::Array if last => found.push(field),
        ElementType::EmbeddedDocument if !last => collect(field.children(), path, at + 1, found),
        ElementType::Array => {
            for item in field.children().items() {
                if item.kind == ElementType::EmbeddedDocument {
                    collect(item.children(), path, at + 1, found);
                }
            }
        }
        _ => {}
    }
}

/// The document with every array at a path rewritten by `write`, under the
/// key it is given.
pub fn rewrite(
    document: &RawDocument,
    path: &Path,
    write: &mut dyn FnMut(Element<'_>, &mut DocumentWriter),
) -> RawDocumentBuf {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
    rewrite_fields(elements(document), path, 0, &mut out, write);
    out.finish()
}

fn rewrite_fields(
    fields: Elements<'_>,
    path: &Path,
    at: usize,
    out: &mut DocumentWriter,
    write: &mut dyn FnMut(Element<'_>, &mut DocumentWriter),
) {
    let last = at + 1 == path.len();
    let mut met = false;
    for field in fields {
        // Of fields with the same name the first is the one that counts.
        if met || field.key != path.component(at) {
            out.copy(field);
            continue;
        }
        met = true;
        match field.kind {
            ElementType::Array if last => write(field, out),
            ElementType::EmbeddedDocument if !last => {
                out.begin_document(field.key);
                rewrite_fields(field.children(), path, at + 1, out, write);
                out.end();
            }
            ElementType::Array => {
                out.begin_array(field.key);
                for item in field.children() {
                    if item.kind == ElementType::EmbeddedDocument {
                        out.begin_document(item.key);
                        rewrite_fields(item.children(), path, at + 1, out, write);
                        out.end();
                    } else {
                        out.copy(item);
                    }
                }
                out.end();
            }
            _ => out.copy(field),
        }
    }
}

/// Whether the field of the document itself that a path begins with is the same
/// in both, to the last byte.
pub fn unchanged(before: &RawDocument, after: &RawDocument, path: &Path) -> bool {
    let field = |document| value::element::get(document, path.first());
    are_identical(field(before), field(after))
}

/// Whether two values are the same to the last byte, or both are not there.
pub fn are_identical(a: Option<Element<'_>>, b: Option<Element<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => identical(&a, &b),
        (None, None) => true,
        _ => false,
    }
}

pub fn identical(a: &Element<'_>, b: &Element<'_>) -> bool {
    a.kind == b.kind && a.bytes == b.bytes
}

/// What an element takes in an array, as its element number `index`.
pub fn weight(element: Element<'_>, index: usize) -> usize {
    let digits = index.checked_ilog10().unwrap_or(0) as usize + 1;
    element.bytes.len() + digits + 2
}

/// What an array weighs that holds nothing.
pub const EMPTY_ARRAY_BYTES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn arrays_are_found_through_documents_and_arrays() {
        let document =
            rawdoc! { "a": { "b": [1] }, "c": [{ "d": [1, 2] }, 5, { "d": [3] }, { "d": 1 }] };
        let lens = |path| -> Vec<usize> {
            let found = arrays(&document, &Path::new(path));
            found.iter().map(|array| array.children().count()).collect()
        };
        assert_eq!(lens("a.b"), [1]);
        assert_eq!(lens("c.d"), [2, 1]);
        assert_eq!(lens("c"), [4]);
        assert!(lens("a.b.c").is_empty() && lens("x").is_empty() && lens("a").is_empty());
        assert!(find(&document, &Path::new("a.b")).is_some());
        assert!(find(&document, &Path::new("c.d")).is_none());
    }

    #[test]
    fn names_on_a_path_stand_alone() {
        let mut twice = DocumentWriter::new();
        twice.append_i32("a", 1);
        twice.append_i32("b", 1);
        twice.append_i32("a", 2);
        let twice = twice.finish();
        assert!(check_single(&twice, &Path::new("a")).is_err());
        assert!(check_single(&twice, &Path::new("b")).is_ok());
        let inside = rawdoc! { "s": [{ "a": 1 }, twice] };
        assert!(check_single(&inside, &Path::new("s.a")).is_err());
        assert!(check_single(&inside, &Path::new("s.b")).is_ok());
    }

    #[test]
    fn rewriting_keeps_everything_else() {
        let document = rawdoc! { "x": 1, "c": [{ "e": 2, "d": [1, 2] }, 5], "y": { "d": [1] } };
        let emptied = rewrite(&document, &Path::new("c.d"), &mut |array, out| {
            out.begin_array(array.key);
            out.end();
        });
        let expected = rawdoc! { "x": 1, "c": [{ "e": 2, "d": [] }, 5], "y": { "d": [1] } };
        assert_eq!(emptied, expected);
    }

    #[test]
    fn weights_add_up_to_the_array() {
        let document = rawdoc! { "a": [1, "two", { "three": 3 }, 4, 5, 6, 7, 8, 9, 10, 11, 12] };
        let array = find(&document, &Path::new("a")).unwrap();
        let sum: usize = array.children().enumerate().map(|(at, item)| weight(item, at)).sum();
        assert_eq!(sum + EMPTY_ARRAY_BYTES, array.bytes.len());
    }
}
