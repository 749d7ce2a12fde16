//! Fields of a document set and removed, everything else copied as bytes.

use super::place;
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use value::{ArrayWriter, DocumentWriter, Element, Elements, Path, elements, wide};

/// What edits may add to a document before it takes more memory.
const ROOM_BYTES: usize = 64;

/// A field and its new value; `None` removes it.
pub type Edit<'p> = (&'p Path, Option<RawBson>);

/// Mostly one counter or two.
pub type Edits<'p> = SmallVec<[Edit<'p>; 2]>;

/// The same while it is carried out.
type Planned<'e> = (&'e Path, Option<RawBsonRef<'e>>);

/// The document with its fields edited. No path may be part of another.
pub fn edit(document: &RawDocument, edits: &[Edit<'_>]) -> Result<RawDocumentBuf> {
    let values = edits.iter().map(|(_, value)| value.as_ref().map(RawBson::as_raw_bson_ref));
    let planned: SmallVec<[Planned<'_>; 2]> =
        edits.iter().zip(values).map(|((path, _), value)| (*path, value)).collect();
    carry_out(document, &planned)
}

/// The document with one field set.
pub fn set(document: &RawDocument, path: &Path, value: RawBsonRef<'_>) -> Result<RawDocumentBuf> {
    carry_out(document, &[(path, Some(value))])
}

/// A document that is written up to one of its fields.
pub struct Around<'d> {
    writer: DocumentWriter,
    /// What follows, of each document on the way; the innermost last.
    rest: SmallVec<[Elements<'d>; 2]>,
}

impl<'d> Around<'d> {
    /// Copies what stands before a field.
    pub fn field(document: &'d RawDocument, path: &Path) -> Result<Around<'d>> {
        let mut writer = DocumentWriter::with_capacity(document.as_bytes().len() + ROOM_BYTES);
        let (mut rest, mut fields) = (SmallVec::new(), elements(document));
        for at in 0..path.len() {
            let found = copy_until(&mut fields, path.component(at), &mut writer);
            rest.push(fields);
            if at + 1 == path.len() {
                break;
            }
            fields = match found {
                Some(inner) if inner.kind != ElementType::EmbeddedDocument => {
                    return Err(not_viable(path, inner.key));
                }
                Some(inner) => inner.children(),
                None => Elements::default(),
            };
            writer.begin_document(path.component(at));
        }
        Ok(Around { writer, rest })
    }

    /// The field as an array that is to be written.
    pub fn array(&mut self, path: &Path) -> ArrayWriter {
        ArrayWriter::within(std::mem::take(&mut self.writer), path.last())
    }

    /// The document, the field being this array.
    pub fn finish(self, array: ArrayWriter) -> RawDocumentBuf {
        let mut writer = array.end();
        let mut rest = self.rest.into_iter().rev().peekable();
        while let Some(fields) = rest.next() {
            fields.for_each(|field| writer.copy(field));
            if rest.peek().is_some() {
                writer.end();
            }
        }
        writer.finish()
    }
}

/// Copies the fields before one, and moves past that.
fn copy_until<'d>(
    fields: &mut Elements<'d>,
    name: &str,
    out: &mut DocumentWriter,
) -> Option<Element<'d>> {
    for field in fields.by_ref() {
        if field.key == name {
            return Some(field);
        }
        out.copy(field);
    }
    None
}

fn not_viable(path: &Path, name: &str) -> Error {
    Code::PathNotViable.error(format!(
        "the policy keeps the field '{path}' up to date, and '{name}' is no document"
    ))
}

fn carry_out(document: &RawDocument, edits: &[Planned<'_>]) -> Result<RawDocumentBuf> {
    let _entered = wide::enter(document);
    if edits.iter().all(|(path, _)| value::element::get(document, path.first()).is_none()) {
        return add(document, edits);
    }
    let mut out = DocumentWriter::with_capacity(room(document, edits));
    write(elements(document), 0, edits, &mut out)?;
    Ok(out.finish())
}

/// What the document may take once it is edited.
fn room(document: &RawDocument, edits: &[Planned<'_>]) -> usize {
    let bytes = |value: Option<RawBsonRef<'_>>| match value {
        Some(RawBsonRef::Array(array)) => array.as_bytes().len(),
        _ => 0,
    };
    let arrays: usize = edits.iter().map(|(_, value)| bytes(*value)).sum();
    document.as_bytes().len() + arrays + ROOM_BYTES
}

/// The document with fields that it has not got: what is there is copied in one go.
fn add(document: &RawDocument, edits: &[Planned<'_>]) -> Result<RawDocumentBuf> {
    let mut out = DocumentWriter::with_capacity(room(document, edits));
    out.copy_all(document);
    if edits.iter().all(|(path, _)| path.len() == 1) {
        for (path, value) in edits {
            value.iter().for_each(|value| out.append(path.as_str(), *value));
        }
    } else {
        append(edits, 0, &mut out)?;
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
    let entered = wide::enter(&document);
    let places: Option<SmallVec<[Overwrite; 2]>> = edits.iter().map(place).collect();
    drop(entered);
    match places {
        Some(places) => Overwrite::write_all(&places, document),
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
        Overwrite::write_all(&[self], document)
    }

    /// The document with all of these numbers written over.
    fn write_all(all: &[Overwrite], document: RawDocumentBuf) -> Result<RawDocumentBuf> {
        let mut bytes = document.into_bytes();
        for Overwrite { start, number } in all {
            if let Some(old) = bytes.get_mut(*start..).and_then(|rest| rest.first_chunk_mut()) {
                *old = number.to_le_bytes();
            }
        }
        RawDocumentBuf::from_bytes(bytes).map_err(|error| {
            Code::InternalError.error(format!("a document was not sound any more: {error}"))
        })
    }
}

fn write(
    fields: Elements<'_>,
    at: usize,
    edits: &[Planned<'_>],
    out: &mut DocumentWriter,
) -> Result<()> {
    let mut left = Grouped::of(edits, at);
    for field in fields {
        let here = left.take(field.key);
        match here.first() {
            None => out.copy(field),
            Some((path, value)) if path.len() == at + 1 => {
                value.iter().for_each(|value| out.append(field.key, *value));
            }
            Some(_) if field.kind == ElementType::EmbeddedDocument => {
                out.begin_document(field.key);
                write(field.children(), at + 1, &here, out)?;
                out.end();
            }
            Some((path, _)) if here.iter().any(|(_, value)| value.is_some()) => {
                return Err(not_viable(path, field.key));
            }
            Some(_) => out.copy(field),
        }
    }
    left.append(at, out)
}

/// Adds fields that are not there.
fn append(edits: &[Planned<'_>], at: usize, out: &mut DocumentWriter) -> Result<()> {
    Grouped::of(edits, at).append(at, out)
}

/// Beyond this many, names are looked up in a table.
const LINEAR_NAMES_MAX: usize = 8;

/// Edits of one document by the names of its fields, in the order in which they came first.
struct Grouped<'e> {
    groups: SmallVec<[Group<'e>; 2]>,
    /// Where each name stands; empty while there are few.
    places: FxHashMap<&'e str, usize>,
}

struct Group<'e> {
    name: &'e str,
    /// None once they are taken.
    edits: SmallVec<[Planned<'e>; 2]>,
}

impl<'e> Grouped<'e> {
    fn of(edits: &[Planned<'e>], at: usize) -> Grouped<'e> {
        let mut all = Grouped { groups: SmallVec::new(), places: FxHashMap::default() };
        for edit in edits {
            let name = edit.0.component(at);
            match all.find(name) {
                Some(place) => all.groups[place].edits.push(*edit),
                None => all.push(Group { name, edits: smallvec![*edit] }),
            }
        }
        all
    }

    fn push(&mut self, group: Group<'e>) {
        self.groups.push(group);
        if self.groups.len() > LINEAR_NAMES_MAX {
            let known = self.places.len();
            let new = self.groups.iter().enumerate().skip(known);
            self.places.extend(new.map(|(at, group)| (group.name, at)));
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        match self.groups.len() > LINEAR_NAMES_MAX {
            true => self.places.get(name).copied(),
            false => self.groups.iter().position(|group| group.name == name),
        }
    }

    /// The edits of a field that are not yet taken.
    fn take(&mut self, name: &str) -> SmallVec<[Planned<'e>; 2]> {
        let group = self.find(name).and_then(|at| self.groups.get_mut(at));
        group.map(|group| std::mem::take(&mut group.edits)).unwrap_or_default()
    }

    /// Writes the fields that are left, which are not there.
    fn append(self, at: usize, out: &mut DocumentWriter) -> Result<()> {
        for Group { name, mut edits } in self.groups {
            edits.retain(|edit| edit.1.is_some());
            match edits.first() {
                None => {}
                Some((path, value)) if path.len() == at + 1 => {
                    value.iter().for_each(|value| out.append(name, *value));
                }
                Some(_) => {
                    out.begin_document(name);
                    append(&edits, at + 1, out)?;
                    out.end();
                }
            }
        }
        Ok(())
    }
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
        // Another type, a removal: the document is rewritten.
        let edits = [(&x, Some(RawBson::Int32(1))), (&a, None)];
        let expected = rawdoc! { "s": { "x": 1, "y": 2 }, "z": "text" };
        assert_eq!(edit_own(document, &edits).unwrap(), expected);
    }
}
