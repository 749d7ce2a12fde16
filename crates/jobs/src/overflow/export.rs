//! Documents joined with their pages, as one snapshot has them, and written to a file.

use super::Guarded;
use super::assemble::{Change, assemble};
use super::pages::Pages;
use super::snapshot::Snapshot;
use crate::record::{Append, Partial};
use crate::sink::Sink;
use crate::{DOCUMENT_BYTES_MAX, Error};
use bson::{Document, RawArray, RawArrayBuf, RawBsonRef, RawDocument, doc};
use guard::patterns::place::{self, EMPTY_ARRAY_BYTES, weight};
use guard::policy::Keep;
use mongodb::{Database, SessionCursor};
use std::borrow::Cow;
use value::element::{array_elements, array_len, get_value};
use value::{ArrayWriter, text};

/// Elements go on behind a partial document in parts of so much.
const APPEND_BYTES: usize = 1024 * 1024;

/// The documents of a collection, in the order of their `_id`s, and the pages of its arrays
/// beside them: all are read once, one after the other.
pub struct Joined {
    snapshot: Snapshot,
    documents: SessionCursor<Document>,
    arrays: Vec<Pages>,
    namespace: String,
    are_counters_kept: bool,
    /// Pages that are of no document.
    pub strays: u64,
    /// Documents that were written in parts.
    pub partial: u64,
}

/// An array of a document, and how far it has been read.
struct Part<'d> {
    /// Its place in `Joined::arrays`.
    at: usize,
    head: &'d RawArray,
    total: u64,
    next: Next,
    gathered: ArrayWriter,
}

#[derive(Clone, Copy)]
enum Next {
    Start,
    Pages,
    End,
}

impl Joined {
    pub async fn open(database: &Database, name: &str, of: &Guarded) -> Result<Joined, Error> {
        let mut snapshot = Snapshot::new(database, name).await?;
        // Pages are in the order of a plain comparison, whatever the collection's collation is.
        let documents = doc! {
            "find": name, "sort": { "_id": 1 }, "collation": { "locale": "simple" },
            "rawData": true, "noCursorTimeout": true, "allowDiskUse": true,
        };
        let documents = snapshot.open(documents).await?;
        let mut arrays = Vec::new();
        for rule in of.overflows() {
            arrays.push(Pages::open(&mut snapshot, rule).await?);
        }
        let namespace = format!("{}.{name}", database.name());
        let now = Guarded::of(database, name).await?;
        if now.is_none_or(|now| now.document != of.document) {
            return Err(Error::Input(format!(
                "the growth policy of {namespace} has just been changed; export it again"
            )));
        }
        let are_counters_kept = of.are_counters_kept;
        Ok(Joined {
            snapshot,
            documents,
            arrays,
            namespace,
            are_counters_kept,
            strays: 0,
            partial: 0,
        })
    }

    /// Writes the next document; false behind the last.
    pub async fn write_next(&mut self, sink: &mut Sink) -> Result<bool, Error> {
        if !self.documents.advance(&mut self.snapshot.session).await? {
            for array in &mut self.arrays {
                self.strays += array.rest(&mut self.snapshot.session).await?;
            }
            return Ok(false);
        }
        let document = self.documents.current().to_owned();
        let parts = self.parts(&document).await?;
        match parts.is_empty() {
            true => sink.write(&document)?,
            false => self.write_paged(&document, parts, sink).await?,
        }
        Ok(true)
    }

    /// The arrays of a document that have pages.
    async fn parts<'d>(&mut self, document: &'d RawDocument) -> Result<Vec<Part<'d>>, Error> {
        let id = place::id(document);
        let mut parts = Vec::new();
        for (at, array) in self.arrays.iter_mut().enumerate() {
            let counted = array.counted(id, &mut self.snapshot.session).await?;
            self.strays += counted.strays;
            if self.are_counters_kept && !counted.agrees(&array.rule, document) {
                return Err(self.drifted(document));
            }
            if counted.pages == 0 {
                continue;
            }
            let head = place::find(document, &array.rule.path).map(|head| head.value());
            let Some(RawBsonRef::Array(head)) = head else {
                return Err(self.drifted(document));
            };
            let total = array_len(head) as u64 + counted.elements;
            let gathered = ArrayWriter::new();
            parts.push(Part { at, head, total, next: Next::Start, gathered });
        }
        Ok(parts)
    }

    /// Writes a document whole where it fits, and else in parts.
    async fn write_paged<'d>(
        &mut self,
        document: &'d RawDocument,
        mut parts: Vec<Part<'d>>,
        sink: &mut Sink,
    ) -> Result<(), Error> {
        let id = place::id(document);
        let heads: usize = parts.iter().map(|part| part.head.as_bytes().len()).sum();
        let mut bytes = document.as_bytes().len() - heads + parts.len() * EMPTY_ARRAY_BYTES;
        let mut left = None;
        'gather: for (number, part) in parts.iter_mut().enumerate() {
            while let Some(piece) = self.next_piece(id, part).await? {
                bytes += weights(&piece, part.gathered.len());
                if bytes > DOCUMENT_BYTES_MAX {
                    left = Some((number, piece));
                    break 'gather;
                }
                array_elements(&piece).items().for_each(|item| part.gathered.copy(item));
            }
        }
        let gathered: Vec<u64> = parts.iter().map(|part| part.gathered.len() as u64).collect();
        let arrays: Vec<RawArrayBuf> =
            parts.iter_mut().map(|part| std::mem::take(&mut part.gathered).finish()).collect();
        let shown = self.shown(document, &parts, &arrays);
        let Some((number, piece)) = left else {
            let whole = parts.iter().zip(&gathered).all(|(part, count)| part.total == *count);
            return if whole { sink.write(&shown) } else { Err(self.drifted(document)) };
        };
        let totals = parts.iter().map(|part| (&self.arrays[part.at].rule.path, part.total));
        sink.write(&Partial::write(&shown, &totals.collect::<Vec<_>>()))?;
        drop((shown, arrays));
        self.partial += 1;
        let mut piece = Some(piece);
        for (part, gathered) in parts.iter_mut().zip(gathered).skip(number) {
            let total = part.total;
            let written = self.append(id, part, piece.take(), gathered, sink).await?;
            if written != total {
                return Err(self.drifted(document));
            }
        }
        Ok(())
    }

    /// Writes the elements of an array that its document does not have, and says how many there
    /// are with them.
    async fn append<'d>(
        &mut self,
        id: RawBsonRef<'_>,
        part: &mut Part<'d>,
        mut piece: Option<Cow<'d, RawArray>>,
        mut written: u64,
        sink: &mut Sink,
    ) -> Result<u64, Error> {
        let path = self.arrays[part.at].rule.path.clone();
        let mut buffer = ArrayWriter::new();
        let mut flush = |buffer: &mut ArrayWriter| {
            let at = written;
            written += buffer.len() as u64;
            let elements = std::mem::take(buffer).finish();
            let append = Append { id: id.into(), path: path.clone(), at, elements };
            sink.write(&append.write())
        };
        loop {
            let next = match piece.take() {
                Some(piece) => Some(piece),
                None => self.next_piece(id, part).await?,
            };
            let Some(next) = next else { break };
            for item in array_elements(&next).items() {
                if !buffer.is_empty() && buffer.bytes() + item.bytes.len() > APPEND_BYTES {
                    flush(&mut buffer)?;
                }
                buffer.copy(item);
            }
        }
        if !buffer.is_empty() {
            flush(&mut buffer)?;
        }
        Ok(written)
    }

    /// The next elements of an array: its head, or a page.
    async fn next_piece<'d>(
        &mut self,
        id: RawBsonRef<'_>,
        part: &mut Part<'d>,
    ) -> Result<Option<Cow<'d, RawArray>>, Error> {
        let pages = &mut self.arrays[part.at];
        let keep = pages.rule.keep;
        if matches!((part.next, keep), (Next::Start, Keep::Oldest)) {
            part.next = Next::Pages;
            return Ok(Some(Cow::Borrowed(part.head)));
        }
        if matches!(part.next, Next::End) {
            return Ok(None);
        }
        part.next = Next::Pages;
        if let Some(page) = pages.next_of(id, &mut self.snapshot.session).await? {
            let array = match get_value(&page, pages.rule.name()) {
                Some(RawBsonRef::Array(array)) => array.to_owned(),
                _ => RawArrayBuf::new(),
            };
            return Ok(Some(Cow::Owned(array)));
        }
        part.next = Next::End;
        Ok((keep == Keep::Newest).then_some(Cow::Borrowed(part.head)))
    }

    /// The document with these elements, and without what the server says of its pages: those
    /// are no part of it.
    fn shown(
        &self,
        document: &RawDocument,
        parts: &[Part<'_>],
        arrays: &[RawArrayBuf],
    ) -> bson::RawDocumentBuf {
        let mut changes = Vec::new();
        for (part, array) in parts.iter().zip(arrays) {
            let rule = &self.arrays[part.at].rule;
            changes.push((&rule.path, Change::Array(array)));
            let said = [&rule.flag, &rule.pages].into_iter().flatten();
            changes.extend(said.map(|path| (path, Change::Remove)));
        }
        assemble(document, &changes)
    }

    /// A document and its pages that do not agree.
    fn drifted(&self, document: &RawDocument) -> Error {
        Error::Input(format!(
            "document {} of {} does not agree with its pages; mend it with 'freeboard verify \
             --repair', and export again",
            text::short(place::id(document)),
            self.namespace
        ))
    }
}

/// What elements add to an array of so many.
fn weights(piece: &RawArray, len: usize) -> usize {
    let items = array_elements(piece).items().enumerate();
    items.map(|(index, item)| weight(item, len + index)).sum()
}
