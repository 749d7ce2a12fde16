//! A document with its arrays put in.

use bson::spec::ElementType;
use bson::{RawArray, RawDocument, RawDocumentBuf};
use value::{DocumentWriter, Elements, Path, elements};

/// What becomes of a field.
pub enum Change<'a> {
    Array(&'a RawArray),
    Remove,
}

/// The document with these fields changed, where it has them.
pub fn assemble(document: &RawDocument, changes: &[(&Path, Change<'_>)]) -> RawDocumentBuf {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
    let all: Vec<_> = changes.iter().collect();
    copy(elements(document), 0, &all, &mut out);
    out.finish()
}

fn copy(
    fields: Elements<'_>,
    at: usize,
    changes: &[&(&Path, Change<'_>)],
    out: &mut DocumentWriter,
) {
    let mut met: Vec<&str> = Vec::new();
    for field in fields {
        let is_here = |path: &Path| path.len() > at && path.component(at) == field.key;
        let here = changes.iter().filter(|(path, _)| is_here(path));
        let here: Vec<_> = here.copied().collect();
        // Of fields with the same name the first is the one that counts.
        if here.is_empty() || met.contains(&field.key) {
            out.copy(field);
            continue;
        }
        met.push(field.key);
        match here.iter().find(|(path, _)| path.len() == at + 1) {
            Some((_, Change::Array(array))) => {
                out.append(field.key, bson::RawBsonRef::Array(array));
            }
            Some((_, Change::Remove)) => {}
            None if field.kind == ElementType::EmbeddedDocument => {
                out.begin_document(field.key);
                copy(field.children(), at + 1, &here, out);
                out.end();
            }
            None => out.copy(field),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn only_what_is_named_changes() {
        let document = rawdoc! {
            "_id": 1, "a": [1], "more": true, "s": { "a": [1], "x": 1, "more": true }, "t": 2,
        };
        let [a, more, sa, smore, none] = ["a", "more", "s.a", "s.more", "t.x"].map(Path::new);
        let whole = rawdoc! { "w": [1, 2, 3] };
        let whole = whole.get_array("w").unwrap();
        let changes = [
            (&a, Change::Array(whole)),
            (&more, Change::Remove),
            (&sa, Change::Array(whole)),
            (&smore, Change::Remove),
            (&none, Change::Remove),
        ];
        let expected = rawdoc! {
            "_id": 1, "a": [1, 2, 3], "s": { "a": [1, 2, 3], "x": 1 }, "t": 2,
        };
        assert_eq!(assemble(&document, &changes), expected);
    }
}
