//! `$unwind`: one document for each element of an array.

use super::nested::{find, set};
use super::{Documents, Foreign, Specification, Stage, one};
use crate::aggregate::expressions::{FieldPath, coerce};
use crate::{Needs, interrupt};
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use value::Path;
use value::element::{array_elements, elements, get};

#[derive(Debug)]
pub struct Unwind {
    pub path: Path,
    index: Option<Path>,
    preserve: bool,
    /// Whether documents that follow each other with the same `_id` are parts of one.
    in_parts: AtomicBool,
}

impl Unwind {
    /// Its documents come from a collection, as they are, or several for one with parts of the
    /// array, one after the other: it makes the same of both.
    pub fn take_parts(&self) {
        self.in_parts.store(true, Ordering::Relaxed);
    }
}

/// Where an element is in its array, across the parts that the array comes in.
#[derive(Default)]
struct Offset {
    /// As it is stored: NaN is the same document's as NaN.
    id: Option<(ElementType, Box<[u8]>)>,
    next: i64,
}

impl Offset {
    /// The number of the first element of a part.
    fn of(&mut self, document: &RawDocument, len: usize) -> i64 {
        let id = get(document, "_id").map(|id| (id.kind, id.bytes));
        if self.id.as_ref().map(|(kind, bytes)| (*kind, &**bytes)) != id {
            *self = Offset { id: id.map(|(kind, bytes)| (kind, bytes.into())), next: 0 };
        }
        let first = self.next;
        self.next += len as i64;
        first
    }
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let (mut path, mut index, mut preserve) = (None, None, false);
    match stage.value {
        RawBsonRef::String(text) => path = Some(text),
        RawBsonRef::Document(spec) => {
            for element in elements(spec) {
                match (element.key, element.value()) {
                    ("path", RawBsonRef::String(text)) => path = Some(text),
                    ("path", other) => {
                        return Err(wrong(
                            28808,
                            "expected a string as the path for $unwind stage, got",
                            other,
                        ));
                    }
                    ("preserveNullAndEmptyArrays", RawBsonRef::Boolean(value)) => preserve = value,
                    ("preserveNullAndEmptyArrays", other) => {
                        return Err(wrong(
                            28809,
                            "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got",
                            other,
                        ));
                    }
                    ("includeArrayIndex", RawBsonRef::String(text)) if !text.is_empty() => {
                        if text.starts_with('$') {
                            return Err(Code::location(28822).error(format!(
                                "includeArrayIndex option to $unwind stage should not be prefixed with a '$': {text}"
                            )));
                        }
                        index = Some(FieldPath::parse(text)?.path().clone());
                    }
                    ("includeArrayIndex", other) => {
                        return Err(wrong(
                            28810,
                            "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got",
                            other,
                        ));
                    }
                    (key, _) => {
                        return Err(Code::location(28811)
                            .error(format!("unrecognized option to $unwind stage: {key}")));
                    }
                }
            }
        }
        other => {
            return Err(wrong(
                15981,
                "expected either a string or an object as specification for $unwind stage, got",
                other,
            ));
        }
    }
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(Code::location(28812).error("no path specified to $unwind stage"));
    };
    let Some(path) = path.strip_prefix('$') else {
        return Err(Code::location(28818)
            .error(format!("path option to $unwind stage should be prefixed with a '$': {path}")));
    };
    let path = FieldPath::parse(path)?.path().clone();
    one(Unwind { path, index, preserve, in_parts: AtomicBool::new(false) })
}

fn wrong(code: i32, message: &str, value: RawBsonRef<'_>) -> error::Error {
    Code::location(code).error(format!("{message} {}", coerce::type_name(Some(value))))
}

impl Unwind {
    /// What a document becomes: itself, nothing, or one for each element.
    fn open(&self, document: RawDocumentBuf, offset: &mut Offset) -> Opened {
        let value = find(&self.path, &document);
        let Some(RawBsonRef::Array(array)) = value else {
            // A value that is no array stands for itself.
            let keep = !coerce::is_nullish(value) || self.preserve;
            return match &self.index {
                _ if !keep => Opened::Nothing,
                None => Opened::One(document),
                Some(index) => Opened::One(set(&document, index, 0, Some(RawBsonRef::Null))),
            };
        };
        if !array.is_empty() {
            let elements: Vec<RawBson> =
                array_elements(array).map(|element| element.value().into()).collect();
            let first = match self.index.is_some() && self.in_parts.load(Ordering::Relaxed) {
                true => offset.of(&document, elements.len()),
                false => 0,
            };
            return Opened::Several(Expansion { document, elements: (first..).zip(elements) });
        }
        if !self.preserve {
            return Opened::Nothing;
        }
        let out = set(&document, &self.path, 0, None);
        Opened::One(match &self.index {
            None => out,
            Some(index) => set(&out, index, 0, Some(RawBsonRef::Null)),
        })
    }

    /// The document with one element in place of the array.
    fn with(&self, document: &RawDocument, at: i64, element: &RawBson) -> RawDocumentBuf {
        let out = set(document, &self.path, 0, Some(element.as_raw_bson_ref()));
        match &self.index {
            None => out,
            Some(index) => set(&out, index, 0, Some(RawBsonRef::Int64(at))),
        }
    }
}

enum Opened {
    Nothing,
    One(RawDocumentBuf),
    Several(Expansion),
}

/// A document and the elements that are still to come, one made at a time: all of
/// them at once might not fit in memory.
struct Expansion {
    document: RawDocumentBuf,
    elements: Elements,
}

type Elements = std::iter::Zip<std::ops::RangeFrom<i64>, std::vec::IntoIter<RawBson>>;

impl Stage for Unwind {
    fn name(&self) -> &'static str {
        "$unwind"
    }

    fn run(self: Arc<Self>, mut input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        let mut under_way: Option<Expansion> = None;
        let mut offset = Offset::default();
        Ok(Box::new(std::iter::from_fn(move || {
            loop {
                if let Some(expansion) = &mut under_way {
                    if let Some((at, element)) = expansion.elements.next() {
                        if let Err(error) = interrupt::check() {
                            return Some(Err(error));
                        }
                        return Some(Ok(self.with(&expansion.document, at, &element)));
                    }
                    under_way = None;
                }
                match input.next()? {
                    Ok(document) => match self.open(document, &mut offset) {
                        Opened::Nothing => {}
                        Opened::One(document) => return Some(Ok(document)),
                        Opened::Several(expansion) => under_way = Some(expansion),
                    },
                    Err(error) => return Some(Err(error)),
                }
            }
        })))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.add(&self.path);
        if self.index.is_some() {
            // Parts of one document are known by it.
            needs.add(&Path::new("_id"));
        }
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some([Some(&self.path), self.index.as_ref()].into_iter().flatten().cloned().collect())
    }
}
