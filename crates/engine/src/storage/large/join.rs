//! Putting documents together again.

use super::segments::Segment;
use super::stub::{Secret, Stub, ValuePlace};
use crate::storage::trees::{Tree, TreeSnapshot};
use crate::storage::{CollectionId, Record, RecordId, View, failed, keys};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use budget::{Held, Kind};
use error::{Code, Error, Result};
use fjall::Slice;
use language::Needs;
use value::{DocumentWriter, Element, Elements, Path, elements};

/// Putting a document of this size together takes longer than a turn: a few hundred clients
/// that ask for large ones would keep all others waiting.
const ASIDE_BYTES: usize = 1024 * 1024;

/// The document of a record, or a successor of it, with the large values loaded
/// that `needs` looks at; `None` if there was nothing to load.
pub fn join(
    view: &View,
    record: &Record,
    document: &RawDocument,
    needs: &Needs,
) -> Result<Option<RawDocumentBuf>> {
    join_within(view, record, document, needs, &mut Held::new(Kind::Work))
}

/// As `join`; what a large document takes is reserved before any of it is read.
pub fn join_within(
    view: &View,
    record: &Record,
    document: &RawDocument,
    needs: &Needs,
    memory: &mut Held,
) -> Result<Option<RawDocumentBuf>> {
    let joiner = Joiner {
        snapshot: view.snapshot(),
        collection: record.collection,
        record: record.id,
        secret: view.secret(),
        needs,
    };
    if matches!(needs, Needs::Paths(paths) if paths.is_empty()) {
        return Ok(None);
    }
    // Most often nothing is to be loaded, however large the other values are: that is found
    // out without leaving the thread.
    let stored = document.as_bytes().len();
    let Some(loaded) = aside_from(stored, || joiner.loaded(document, &mut String::new())) else {
        return Ok(None);
    };
    let size = stored + loaded;
    aside_from(size, || {
        if size >= ASIDE_BYTES {
            memory.resize(size)?;
        }
        joiner.join(document, size).map(Some)
    })
}

/// Does work on so many bytes, beside the threads that serve sockets where they are many.
fn aside_from<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes >= ASIDE_BYTES { turn::aside(work) } else { work() }
}

/// Puts back the large values that `needs` looks at; the others stay stubs.
struct Joiner<'a> {
    snapshot: &'a dyn TreeSnapshot,
    collection: CollectionId,
    record: RecordId,
    secret: &'a Secret,
    needs: &'a Needs,
}

impl Joiner<'_> {
    fn join(&self, document: &RawDocument, size: usize) -> Result<RawDocumentBuf> {
        let mut writer = DocumentWriter::with_capacity(size);
        self.document(document, &mut String::new(), &mut writer)?;
        Ok(writer.finish())
    }

    /// The bytes of the values that are to be loaded; `None` if there are no such values.
    /// Asked first: then nothing is copied.
    fn loaded(&self, document: &RawDocument, path: &mut String) -> Option<usize> {
        let loaded = elements(document).filter_map(|element| {
            let parent = enter(path, element.key);
            let loaded = match inner(&element) {
                Some(inner) => self.loaded(inner, path),
                None => Stub::read(&element, self.secret)
                    .filter(|_| self.needs_value(path))
                    .map(|stub| stub.length as usize),
            };
            path.truncate(parent);
            loaded
        });
        loaded.reduce(|sum, loaded| sum + loaded)
    }

    fn document(
        &self,
        document: &RawDocument,
        path: &mut String,
        writer: &mut DocumentWriter,
    ) -> Result<()> {
        for element in elements(document) {
            let parent = enter(path, element.key);
            match (Stub::read(&element, self.secret), inner(&element)) {
                (Some(stub), _) if self.needs_value(path) => {
                    self.load(&stub, element.key, writer)?
                }
                (None, Some(inner)) => {
                    writer.begin_document(element.key);
                    self.document(inner, path, writer)?;
                    writer.end();
                }
                _ => writer.copy(element),
            }
            path.truncate(parent);
        }
        Ok(())
    }

    fn needs_value(&self, path: &str) -> bool {
        self.needs.contains(&Path::new(path))
    }

    fn load(&self, stub: &Stub<'_>, key: &str, writer: &mut DocumentWriter) -> Result<()> {
        let start = writer.len();
        match stub.place {
            ValuePlace::Whole(number) => {
                let bytes = self.stored(number, key)?;
                writer.copy(Element { kind: stub.kind, key, bytes: &bytes });
            }
            ValuePlace::Segments(segments) => {
                writer.begin_array(key);
                for segment in segments.iter() {
                    self.load_segment(segment, key, writer)?;
                }
                writer.end();
            }
        }
        let header_bytes = 1 + key.len() + 1;
        match writer.len() - start == header_bytes + stub.length as usize {
            true => Ok(()),
            false => Err(self.misses(stub.numbers().next().unwrap_or(0), key)),
        }
    }

    /// Copies the elements of a segment; those that have moved are numbered anew.
    fn load_segment(&self, segment: Segment, key: &str, writer: &mut DocumentWriter) -> Result<()> {
        let stored = self.stored(segment.number, key)?;
        let Some(contents) = segment.read(&stored) else {
            return Err(self.misses(segment.number, key));
        };
        if writer.next_number() == contents.first {
            writer.copy_numbered(contents.elements, segment.items);
        } else {
            Elements::within(contents.elements).items().for_each(|item| writer.copy_next(item));
        }
        Ok(())
    }

    fn stored(&self, number: u32, key: &str) -> Result<Slice> {
        let at = keys::large(self.collection, self.record, number);
        let bytes = self.snapshot.get(Tree::Large, &at).map_err(failed)?;
        bytes.ok_or_else(|| self.misses(number, key))
    }

    fn misses(&self, number: u32, key: &str) -> Error {
        Code::DataCorruptionDetected.error(format!(
            "record {} of collection {} misses its large value {number} (field '{key}'); \
             restore the store from a backup",
            self.record.0, self.collection.0
        ))
    }
}

/// Goes down to a field, and gives back what to cut the path to on the way up.
fn enter(path: &mut String, key: &str) -> usize {
    let parent = path.len();
    if parent > 0 {
        path.push('.');
    }
    path.push_str(key);
    parent
}

fn inner<'a>(element: &Element<'a>) -> Option<&'a RawDocument> {
    match element.kind {
        ElementType::EmbeddedDocument => element.value().as_document(),
        _ => None,
    }
}
