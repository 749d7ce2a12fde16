//! Fields of a document set and removed, everything else copied as bytes.

use super::place;
use bson::spec::ElementType;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use smallvec::SmallVec;
use value::{DocumentWriter, Element, Elements, Path, elements};

/// What edits may add to a document before it takes more memory.
const ROOM_BYTES: usize = 64;

/// A field and its new value; `None` removes it.
pub type Edit<'p> = (&'p Path, Option<RawBson>);

/// Mostly one counter or two.
pub type Edits<'p> = SmallVec<[Edit<'p>; 2]>;

/// The document with its fields edited. No path may be part of another.
pub fn edit(document: &RawDocument, edits: &[Edit<'_>]) -> Result<RawDocumentBuf> {
    if edits.iter().all(|(path, _)| value::element::get(document, path.first()).is_none()) {
        return add(document, edits);
    }
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len() + ROOM_BYTES);
    let all: Vec<&Edit<'_>> = edits.iter().collect();
    write(elements(document), 0, &all, &mut out)?;
    Ok(out.finish())
}

/// The document with fields that it has not got: what is there is copied in one go.
fn add(document: &RawDocument, edits: &[Edit<'_>]) -> Result<RawDocumentBuf> {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len() + ROOM_BYTES);
    out.copy_all(document);
    if edits.iter().all(|(path, _)| path.len() == 1) {
        for (path, value) in edits {
            value.iter().for_each(|value| out.append(path.as_str(), value.as_raw_bson_ref()));
        }
    } else {
        let all: Vec<&Edit<'_>> = edits.iter().collect();
        append(&all, 0, &mut out)?;
    }
    Ok(out.finish())
}

/// As `edit`, for a document of our own: where values change and their sizes do not,
/// as with most counters, they are written over.
pub fn edit_own(document: RawDocumentBuf, edits: &[Edit<'_>]) -> Result<RawDocumentBuf> {
    let place = |(path, value): &Edit<'_>| match (place::find(&document, path), value) {
        (Some(old), Some(RawBson::Int32(new))) => Overwrite::new(&document, old, *new),
        _ => None,
    };
    let places: Option<SmallVec<[Overwrite; 2]>> = edits.iter().map(place).collect();
    match places {
        Some(places) => places.into_iter().try_fold(document, |it, place| place.write(it)),
        None => edit(&document, edits),
    }
}

/// A number of a document that becomes another.
#[derive(Debug, Clone, Copy)]
pub struct Overwrite {
    /// Where it stands.
    start: usize,
    number: i32,
}

impl Overwrite {
    /// `None` if what stands there is no such number, or not in this document.
    pub fn new(document: &RawDocument, old: Element<'_>, number: i32) -> Option<Overwrite> {
        let all = document.as_bytes().as_ptr_range();
        let place = old.bytes.as_ptr_range();
        let inside = all.start <= place.start && place.end <= all.end;
        let start = (place.start as usize).checked_sub(all.start as usize)?;
        (inside && old.kind == ElementType::Int32).then_some(Overwrite { start, number })
    }

    /// The same in a document that has grown by so much in front of it.
    pub fn moved_by(self, bytes: usize) -> Overwrite {
        Overwrite { start: self.start + bytes, ..self }
    }

    /// The document with the number written over.
    pub fn write(self, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
        let mut bytes = document.into_bytes();
        if let Some(old) = bytes.get_mut(self.start..).and_then(|rest| rest.first_chunk_mut()) {
            *old = self.number.to_le_bytes();
        }
        RawDocumentBuf::from_bytes(bytes).map_err(|error| {
            Code::InternalError.error(format!("a document was not sound any more: {error}"))
        })
    }
}

fn write(
    fields: Elements<'_>,
    at: usize,
    edits: &[&Edit<'_>],
    out: &mut DocumentWriter,
) -> Result<()> {
    let mut left: Vec<&Edit<'_>> = edits.to_vec();
    for field in fields {
        let of_field = |edit: &&Edit<'_>| edit.0.component(at) == field.key;
        let here: Vec<&Edit<'_>> = left.iter().copied().filter(of_field).collect();
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
        if !here.is_empty() {
            left.retain(|edit| !of_field(edit));
        }
    }
    append(&left, at, out)
}

/// Adds fields that are not there.
fn append(edits: &[&Edit<'_>], at: usize, out: &mut DocumentWriter) -> Result<()> {
    let mut left: Vec<&Edit<'_>> = edits.iter().copied().filter(|edit| edit.1.is_some()).collect();
    while let Some((path, value)) = left.first().copied() {
        if path.len() == at + 1 {
            value.iter().for_each(|value| out.append(path.component(at), value.as_raw_bson_ref()));
            left.remove(0);
            continue;
        }
        let of_field = |edit: &&Edit<'_>| edit.0.component(at) == path.component(at);
        let here: Vec<&Edit<'_>> = left.iter().copied().filter(of_field).collect();
        left.retain(|edit| !of_field(edit));
        out.begin_document(path.component(at));
        append(&here, at + 1, out)?;
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
        let path = |text| -> &'static Path { Box::leak(Box::new(Path::new(text))) };
        let edits = [
            (path("a"), Some(RawBson::Int32(2))),
            (path("s.x"), None),
            (path("s.n"), Some(RawBson::Int32(5))),
            (path("new.deep.n"), Some(RawBson::Boolean(true))),
            (path("new.m"), Some(RawBson::Int32(1))),
            (path("gone.n"), None),
        ];
        let expected = rawdoc! {
            "a": 2, "s": { "y": 2, "n": 5 }, "z": 3, "new": { "deep": { "n": true }, "m": 1 },
        };
        assert_eq!(edit(&document, &edits).unwrap(), expected);
        assert!(edit(&document, &[(path("a.n"), Some(RawBson::Int32(2)))]).is_err());
        assert_eq!(edit(&document, &[(path("a.n"), None)]).unwrap(), document);
        let added = edit(&document, &[(path("new.m"), Some(RawBson::Int32(1)))]).unwrap();
        let expected = rawdoc! { "a": 1, "s": { "x": 1, "y": 2 }, "z": 3, "new": { "m": 1 } };
        assert_eq!(added, expected);
    }

    #[test]
    fn values_of_the_same_size_are_written_over() {
        let document = rawdoc! { "a": 1, "s": { "x": 1_i64, "y": 2 }, "z": "text" };
        let (a, x, y) = (Path::new("a"), Path::new("s.x"), Path::new("s.y"));
        let both = [(&a, Some(RawBson::Int32(-7))), (&y, Some(RawBson::Int32(1 << 30)))];
        let expected = rawdoc! { "a": -7, "s": { "x": 1_i64, "y": 1 << 30 }, "z": "text" };
        assert_eq!(edit_own(document.clone(), &both).unwrap(), expected);
        // Another type, a removal: the document is written anew.
        let edits = [(&x, Some(RawBson::Int32(1))), (&a, None)];
        let expected = rawdoc! { "s": { "x": 1, "y": 2 }, "z": "text" };
        assert_eq!(edit_own(document, &edits).unwrap(), expected);
    }
}
