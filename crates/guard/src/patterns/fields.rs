//! Fields of a document set and removed, everything else copied as bytes.

use bson::spec::ElementType;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::{DocumentWriter, Elements, Path, elements};

/// A field and its new value; `None` removes it.
pub type Edit = (Path, Option<RawBson>);

/// The document with its fields edited. No path may be part of another.
pub fn edit(document: &RawDocument, edits: &[Edit]) -> Result<RawDocumentBuf> {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len() + 64);
    let all: Vec<&Edit> = edits.iter().collect();
    write(elements(document), 0, &all, &mut out)?;
    Ok(out.finish())
}

fn write(fields: Elements<'_>, at: usize, edits: &[&Edit], out: &mut DocumentWriter) -> Result<()> {
    let mut left: Vec<&Edit> = edits.to_vec();
    for field in fields {
        let of_field = |edit: &&Edit| edit.0.component(at) == field.key;
        let here: Vec<&Edit> = left.iter().copied().filter(of_field).collect();
        left.retain(|edit| !of_field(edit));
        match here.first() {
            None => out.copy(field),
            Some((path, value)) if path.len() == at + 1 => {
                value.iter().for_each(|value| out.append(field.key, value.as_raw_bson_ref()));
            }
            Some(_) if field.kind == ElementType::EmbeddedDocument => {
                out.begin_document(field.key);
                write(field.children(), at + 1, &here, out)?;
                out.end();
            }
            Some((path, _)) if here.iter().any(|(_, value)| value.is_some()) => {
                return Err(Code::PathNotViable.error(format!(
                    "the policy keeps the field '{path}' up to date, and '{}' is no document",
                    field.key
                )));
            }
            Some(_) => out.copy(field),
        }
    }
    left.retain(|(_, value)| value.is_some());
    while let Some((path, value)) = left.first().copied() {
        if path.len() == at + 1 {
            value.iter().for_each(|value| out.append(path.component(at), value.as_raw_bson_ref()));
            left.remove(0);
            continue;
        }
        let of_field = |edit: &&Edit| edit.0.component(at) == path.component(at);
        let here: Vec<&Edit> = left.iter().copied().filter(of_field).collect();
        left.retain(|edit| !of_field(edit));
        out.begin_document(path.component(at));
        let nothing = RawDocumentBuf::new();
        write(elements(&nothing), at + 1, &here, out)?;
        out.end();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn fields_are_set_added_and_removed() {
        let document = rawdoc! { "a": 1, "s": { "x": 1, "y": 2 }, "z": 3 };
        let edits = [
            (Path::new("a"), Some(RawBson::Int32(2))),
            (Path::new("s.x"), None),
            (Path::new("s.n"), Some(RawBson::Int32(5))),
            (Path::new("new.deep.n"), Some(RawBson::Boolean(true))),
            (Path::new("new.m"), Some(RawBson::Int32(1))),
            (Path::new("gone.n"), None),
        ];
        let expected = rawdoc! {
            "a": 2, "s": { "y": 2, "n": 5 }, "z": 3, "new": { "deep": { "n": true }, "m": 1 },
        };
        assert_eq!(edit(&document, &edits).unwrap(), expected);
        assert!(edit(&document, &[(Path::new("a.n"), Some(RawBson::Int32(2)))]).is_err());
        assert_eq!(edit(&document, &[(Path::new("a.n"), None)]).unwrap(), document);
    }
}
