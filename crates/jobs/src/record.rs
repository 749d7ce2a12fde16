//! What stands on a line of a file, or as one document of a BSON file: a document, or a part of
//! one that is too large to stand there whole.
//!
//! A document over 16 MB, its arrays whole, is written in parts, one behind the other:
//! `{"$freeboard": {"partial": <document>, "arrays": {<path>: <elements>, …}}}` has the document
//! with the first elements of its arrays, and how many there are in all; each
//! `{"$freeboard": {"append": <path>, "_id": …, "at": <index>, "elements": […]}}` behind it has
//! further ones. An exported document has an `_id`, so none can be taken for a part.

use crate::DOCUMENT_BYTES_MAX;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use guard::patterns::place;
use std::cmp::Ordering;
use value::element::{array_len, get, get_value};
use value::{DocumentWriter, Number, Path, elements, text};

/// The one field of a part.
const KEY: &str = "$freeboard";
/// What a part may weigh beside its document or its elements.
const ENVELOPE_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug)]
pub enum Record {
    Document(RawDocumentBuf),
    Partial(Partial),
    Append(Append),
}

/// A document with the first elements of its arrays.
#[derive(Debug)]
pub struct Partial {
    pub document: RawDocumentBuf,
    /// The arrays that go on, and how many elements they have in all.
    pub arrays: Vec<(Path, u64)>,
}

/// Further elements of an array.
#[derive(Debug)]
pub struct Append {
    pub id: RawBson,
    pub path: Path,
    /// The index of the first of them.
    pub at: u64,
    pub elements: RawArrayBuf,
}

impl Record {
    pub fn read(document: RawDocumentBuf) -> Result<Record, String> {
        let mut fields = elements(&document);
        let part = match (fields.next(), fields.next()) {
            (Some(only), None) if only.key == KEY => only.value(),
            _ => return sized(document, DOCUMENT_BYTES_MAX).map(Record::Document),
        };
        let RawBsonRef::Document(part) = part else {
            return Err(format!("'{KEY}' is no document"));
        };
        if get(part, "partial").is_some() {
            return Partial::read(part).map(Record::Partial);
        }
        Append::read(part).map(Record::Append)
    }
}

impl Partial {
    fn read(part: &RawDocument) -> Result<Partial, String> {
        let (Some(RawBsonRef::Document(document)), Some(RawBsonRef::Document(arrays))) =
            (get_value(part, "partial"), get_value(part, "arrays"))
        else {
            return Err("a partial document needs 'partial' and 'arrays'".to_owned());
        };
        if get(document, "_id").is_none() {
            return Err("a partial document needs an _id".to_owned());
        }
        let arrays = elements(arrays).map(|array| match count(array.value()) {
            Some(total) => Ok((Path::new(array.key), total)),
            None => Err(format!("of '{}' it does not say how many elements", array.key)),
        });
        let arrays = arrays.collect::<Result<_, _>>()?;
        Ok(Partial { document: sized(document.to_owned(), DOCUMENT_BYTES_MAX)?, arrays })
    }

    pub fn write(document: &RawDocument, arrays: &[(&Path, u64)]) -> RawDocumentBuf {
        let mut out = DocumentWriter::with_capacity(document.as_bytes().len() + ENVELOPE_BYTES_MAX);
        out.begin_document(KEY);
        out.append_document("partial", document);
        out.begin_document("arrays");
        for (path, total) in arrays {
            out.append_number(path.as_str(), i64::try_from(*total).unwrap_or(i64::MAX));
        }
        out.end();
        out.end();
        out.finish()
    }
}

impl Append {
    fn read(part: &RawDocument) -> Result<Append, String> {
        let (Some(RawBsonRef::String(path)), Some(id), Some(at), Some(RawBsonRef::Array(items))) = (
            get_value(part, "append"),
            get_value(part, "_id"),
            get_value(part, "at").and_then(count),
            get_value(part, "elements"),
        ) else {
            return Err("a part of a document needs 'append', '_id', 'at' and 'elements'".into());
        };
        if items.as_bytes().len() > DOCUMENT_BYTES_MAX {
            return Err(format!("its elements pass {DOCUMENT_BYTES_MAX} bytes"));
        }
        Ok(Append { id: id.into(), path: Path::new(path), at, elements: items.to_owned() })
    }

    pub fn write(&self) -> RawDocumentBuf {
        let bytes = self.elements.as_bytes().len() + ENVELOPE_BYTES_MAX;
        let mut out = DocumentWriter::with_capacity(bytes);
        out.begin_document(KEY);
        out.append_str("append", self.path.as_str());
        out.append("_id", self.id.as_raw_bson_ref());
        out.append_number("at", i64::try_from(self.at).unwrap_or(i64::MAX));
        out.append("elements", RawBsonRef::Array(&self.elements));
        out.end();
        out.finish()
    }
}

/// The parts of one document as they come: nothing may be missing, come twice or out of order.
#[derive(Debug)]
pub struct Sequence {
    id: RawBson,
    arrays: Vec<Reached>,
}

#[derive(Debug)]
struct Reached {
    path: Path,
    total: u64,
    so_far: u64,
}

impl Sequence {
    pub fn new(partial: &Partial) -> Result<Sequence, String> {
        let id = place::id(&partial.document).into();
        let reached = |(path, total): &(Path, u64)| match place::find(&partial.document, path)
            .map(|array| array.value())
        {
            Some(RawBsonRef::Array(array)) => {
                let so_far = array_len(array) as u64;
                Ok(Reached { path: path.clone(), total: *total, so_far })
            }
            _ => Err(format!("{}: '{path}' is no array", named(&id))),
        };
        let arrays = partial.arrays.iter().map(reached).collect::<Result<_, _>>()?;
        Ok(Sequence { id, arrays })
    }

    /// Whether a part is of this document.
    pub fn has(&self, part: &Append) -> bool {
        is_same_id(&self.id, &part.id)
    }

    pub fn next(&mut self, part: &Append) -> Result<(), String> {
        let reached = self.arrays.iter_mut().find(|array| array.path == part.path);
        match reached.filter(|_| is_same_id(&self.id, &part.id)) {
            Some(array) if array.so_far == part.at => {
                array.so_far += array_len(&part.elements) as u64;
                Ok(())
            }
            Some(array) => Err(format!(
                "{}: element {} of '{}' was expected, and {} came",
                named(&self.id),
                array.so_far,
                part.path,
                part.at
            )),
            None => Err(format!("{}: '{}' is none of its arrays", named(&self.id), part.path)),
        }
    }

    /// Whether all parts have come.
    pub fn finish(&self) -> Result<(), String> {
        match self.arrays.iter().find(|array| array.so_far != array.total) {
            None => Ok(()),
            Some(Reached { path, total, so_far }) => Err(format!(
                "{}: the file has {so_far} of the {total} elements of '{path}'",
                named(&self.id)
            )),
        }
    }
}

/// Elements before the document that they are of.
pub fn stray(part: &Append) -> String {
    format!("elements of '{}' stand behind another document than {}", part.path, named(&part.id))
}

/// Whether two `_id`s are of one document, as a server has it: a NaN is equal to itself, too.
pub fn is_same_id(one: &RawBson, other: &RawBson) -> bool {
    value::compare(one.as_raw_bson_ref(), other.as_raw_bson_ref()) == Ordering::Equal
}

pub fn named(id: &RawBson) -> String {
    format!("document {}", text::short(id.as_raw_bson_ref()))
}

/// A document that is not too large to be sent.
fn sized(document: RawDocumentBuf, bytes_max: usize) -> Result<RawDocumentBuf, String> {
    match document.as_bytes().len() {
        size if size > bytes_max => {
            Err(format!("the document has {size} bytes; the limit is {bytes_max}"))
        }
        _ => Ok(document),
    }
}

fn count(value: RawBsonRef<'_>) -> Option<u64> {
    u64::try_from(Number::from_value(value)?.to_i64_exact()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    fn partial() -> Partial {
        let document = rawdoc! { "_id": 7, "s": { "a": [0, 1] }, "b": [] };
        let (a, b) = (Path::new("s.a"), Path::new("b"));
        let Ok(Record::Partial(read)) =
            Record::read(Partial::write(&document, &[(&a, 4), (&b, 1)]))
        else {
            panic!("a partial document")
        };
        assert_eq!((&read.document, &read.arrays), (&document, &vec![(a, 4), (b, 1)]));
        read
    }

    fn append(id: i32, path: &str, at: u64, elements: RawArrayBuf) -> Append {
        let part = Append { id: id.into(), path: Path::new(path), at, elements };
        let Ok(Record::Append(read)) = Record::read(part.write()) else { panic!("a part") };
        read
    }

    fn array(items: &[i32]) -> RawArrayBuf {
        items.iter().fold(RawArrayBuf::new(), |mut array, item| {
            array.push(*item);
            array
        })
    }

    #[test]
    fn parts_are_read_as_they_were_written() {
        let mut sequence = Sequence::new(&partial()).unwrap();
        assert_eq!(
            sequence.finish().unwrap_err(),
            "document 7: the file has 2 of the 4 elements of 's.a'"
        );
        sequence.next(&append(7, "b", 0, array(&[9]))).unwrap();
        sequence.next(&append(7, "s.a", 2, array(&[2, 3]))).unwrap();
        sequence.finish().unwrap();
    }

    #[test]
    fn what_is_missing_or_comes_twice_is_refused() {
        let mut sequence = Sequence::new(&partial()).unwrap();
        let next = append(7, "s.a", 2, array(&[2]));
        sequence.next(&next).unwrap();
        for wrong in [next, append(7, "s.a", 4, array(&[2])), append(7, "c", 0, array(&[1]))] {
            assert!(sequence.next(&wrong).is_err(), "{wrong:?}");
        }
        assert!(!sequence.has(&append(8, "s.a", 3, array(&[1]))));
    }

    #[test]
    fn only_a_document_of_that_one_field_is_a_part() {
        let plain = rawdoc! { "_id": 1, "$freeboard": { "partial": {}, "arrays": {} } };
        assert!(matches!(Record::read(plain), Ok(Record::Document(_))));
        for wrong in [
            rawdoc! { "$freeboard": 1 },
            rawdoc! { "$freeboard": { "partial": { "_id": 1 } } },
            rawdoc! { "$freeboard": { "partial": {}, "arrays": {} } },
            rawdoc! { "$freeboard": { "append": "a", "_id": 1, "elements": [] } },
            rawdoc! { "$freeboard": { "append": "a", "_id": 1, "at": -1, "elements": [] } },
        ] {
            assert!(Record::read(wrong.clone()).is_err(), "{wrong:?}");
        }
    }
}
