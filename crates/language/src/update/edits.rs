//! The changes an update makes to a document's bytes.
//!
//! The walk over the document records, in document order, which bytes go and
//! what takes their place. Nothing is copied until all of it is known: then the
//! new document is assembled in one pass, everything between two edits as one
//! run of bytes. No edits mean that nothing changed.

use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::{DocumentWriter, Element};

/// New bytes one update may make before it is refused; far above what a
/// document may hold, so that what passes is still measured exactly later.
const FRESH_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub struct Edits<'d> {
    before: &'d RawDocument,
    edits: Vec<Edit>,
    /// The new elements, one after the other.
    fresh: DocumentWriter,
    /// By how much the document has grown so far.
    growth: i64,
}

#[derive(Debug)]
enum Edit {
    /// The length of a document or array that holds edits.
    Length { at: usize, len: i32 },
    /// Bytes `start..end` of the document become bytes `from..to` of `fresh`.
    Splice { start: usize, end: usize, from: usize, to: usize },
}

/// A document or array that is being edited; see `Edits::open`.
#[derive(Debug)]
pub struct Container {
    edit: usize,
    growth: i64,
    /// Where its last byte stands, in front of which new elements go.
    end: usize,
}

impl<'d> Edits<'d> {
    pub fn new(before: &'d RawDocument) -> Edits<'d> {
        Edits { before, edits: Vec::new(), fresh: DocumentWriter::new(), growth: 0 }
    }

    /// The document as it was.
    pub fn before(&self) -> &'d RawDocument {
        self.before
    }

    /// How many edits there are: the same number before and after a step means
    /// that the step changed nothing.
    pub fn count(&self) -> usize {
        self.edits.len()
    }

    /// Begins to edit inside a document or array, given its bytes.
    pub fn open(&mut self, bytes: &'d [u8]) -> Container {
        let at = self.offset(bytes);
        let container =
            Container { edit: self.edits.len(), growth: self.growth, end: at + bytes.len() - 1 };
        self.edits.push(Edit::Length { at, len: bytes.len() as i32 });
        container
    }

    /// Ends what `open` began. Without edits in between it leaves no trace.
    pub fn close(&mut self, container: Container) -> Result<()> {
        if self.edits.len() == container.edit + 1 {
            self.edits.pop();
            return Ok(());
        }
        let growth = self.growth - container.growth;
        if let Some(Edit::Length { len, .. }) = self.edits.get_mut(container.edit) {
            *len = i32::try_from(i64::from(*len) + growth).map_err(|_| too_large())?;
        }
        Ok(())
    }

    /// Puts the one element that `write` writes in the place of `old`.
    pub fn replace(
        &mut self,
        old: Element<'d>,
        write: impl FnOnce(&mut DocumentWriter),
    ) -> Result<()> {
        let (start, end) = self.span(old);
        self.splice(start, end, write)
    }

    pub fn remove(&mut self, old: Element<'d>) -> Result<()> {
        self.replace(old, |_| ())
    }

    /// Adds the elements that `write` writes at the end of an open container.
    pub fn append(
        &mut self,
        container: &Container,
        write: impl FnOnce(&mut DocumentWriter),
    ) -> Result<()> {
        self.splice(container.end, container.end, write)
    }

    /// As `append`, for writers that can fail.
    pub fn try_append(
        &mut self,
        container: &Container,
        write: impl FnOnce(&mut DocumentWriter) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        self.splice(container.end, container.end, |out| outcome = write(out))?;
        outcome
    }

    fn splice(
        &mut self,
        start: usize,
        end: usize,
        write: impl FnOnce(&mut DocumentWriter),
    ) -> Result<()> {
        let from = self.fresh.len();
        write(&mut self.fresh);
        let to = self.fresh.len();
        if to > FRESH_BYTES_MAX {
            return Err(too_large());
        }
        self.growth += (to - from) as i64 - (end - start) as i64;
        self.edits.push(Edit::Splice { start, end, from, to });
        Ok(())
    }

    /// Where an element begins (its type byte) and ends.
    fn span(&self, element: Element<'d>) -> (usize, usize) {
        let value = self.offset(element.bytes);
        (value - element.key.len() - 2, value + element.bytes.len())
    }

    /// Where bytes of the document stand in it.
    fn offset(&self, bytes: &'d [u8]) -> usize {
        bytes.as_ptr() as usize - self.before.as_bytes().as_ptr() as usize
    }

    /// The document with all edits made, or `None` if there are none.
    pub fn finish(self) -> Result<Option<RawDocumentBuf>> {
        if self.edits.is_empty() {
            return Ok(None);
        }
        let before = self.before.as_bytes();
        let fresh = self.fresh.into_bytes();
        let mut out = Vec::with_capacity((before.len() as i64 + self.growth).max(0) as usize);
        let mut copied = 0;
        for edit in self.edits {
            match edit {
                Edit::Length { at, len } => {
                    out.extend_from_slice(&before[copied..at]);
                    out.extend_from_slice(&len.to_le_bytes());
                    copied = at + 4;
                }
                Edit::Splice { start, end, from, to } => {
                    out.extend_from_slice(&before[copied..start]);
                    out.extend_from_slice(&fresh[from..to]);
                    copied = end;
                }
            }
        }
        out.extend_from_slice(&before[copied..]);
        let after = RawDocumentBuf::from_bytes(out);
        after.map(Some).map_err(|error| Code::InternalError.error(error.to_string()))
    }
}

fn too_large() -> error::Error {
    Code::location(17419).error("Resulting document after update is larger than 16777216")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use value::{element, elements};

    #[test]
    fn nested_lengths_follow_the_edits() {
        let before = rawdoc! { "a": { "b": 1, "c": { "d": 2 } }, "e": [1] };
        let mut edits = Edits::new(&before);
        let root = edits.open(before.as_bytes());
        let a = element::get(&before, "a").unwrap();
        let inside_a = edits.open(a.bytes);
        for child in a.children() {
            if child.key == "b" {
                edits.remove(child).unwrap();
            } else {
                let inside_c = edits.open(child.bytes);
                edits.append(&inside_c, |out| out.append_str("x", "long text")).unwrap();
                edits.close(inside_c).unwrap();
            }
        }
        edits.close(inside_a).unwrap();
        edits.close(root).unwrap();
        let after = edits.finish().unwrap().unwrap();
        assert_eq!(after, rawdoc! { "a": { "c": { "d": 2, "x": "long text" } }, "e": [1] });
    }

    #[test]
    fn no_edits_are_no_document() {
        let before = rawdoc! { "a": { "b": 1 } };
        let mut edits = Edits::new(&before);
        let root = edits.open(before.as_bytes());
        for element in elements(&before) {
            let inside = edits.open(element.bytes);
            edits.close(inside).unwrap();
        }
        edits.close(root).unwrap();
        assert_eq!(edits.finish().unwrap(), None);
    }
}
