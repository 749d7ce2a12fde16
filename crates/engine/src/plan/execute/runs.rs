//! Sorted rows that did not fit in memory: runs in temporary files, merged.

use super::Member;
use super::sort::{Kept, KeyedRow};
use crate::spill::TemporaryFiles;
use crate::storage::{Document, RecordId};
use bson::spec::BinarySubtype;
use bson::{RawBinaryRef, RawBsonRef, RawDocument, RawDocumentBuf};
use budget::Kind;
use error::{Code, Result};
use language::aggregate::Documents;
use language::interrupt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use value::DocumentWriter;
use value::element::get_value;

/// The runs of a sort under way.
#[derive(Default)]
pub struct Runs {
    files: TemporaryFiles,
    runs: Vec<Documents>,
}

/// How much a run has taken.
pub struct RunSize {
    pub bytes: u64,
    pub rows: u64,
}

impl Runs {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Writes rows that are sorted already.
    pub fn write(&mut self, sorted: Vec<KeyedRow>) -> Result<RunSize> {
        let mut run = self.files.begin()?;
        let mut written = RunSize { bytes: 0, rows: 0 };
        for held in sorted {
            let row = encode(&held);
            interrupt::check_sized(row.as_bytes().len())?;
            written.bytes += row.as_bytes().len() as u64;
            written.rows += 1;
            run.push(&row)?;
        }
        self.runs.push(run.finish()?.read());
        Ok(written)
    }

    /// All rows in order: those of the runs, and the last that are in memory.
    pub fn merge(self, last: Kept) -> Result<Merged> {
        let files =
            self.runs.into_iter().map(|run| -> Rows { Box::new(run.map(|row| decode(&row?))) });
        let last: Rows = Box::new(last.map(Ok));
        let mut merged = Merged {
            runs: files.chain([last]).collect(),
            heads: BinaryHeap::new(),
            bytes: 0,
            memory: budget::Held::new(Kind::Work),
        };
        for run in 0..merged.runs.len() {
            merged.advance(run)?;
        }
        Ok(merged)
    }
}

type Rows = Box<dyn Iterator<Item = Result<KeyedRow>> + Send>;

/// Takes the least of the heads of all runs, again and again.
pub struct Merged {
    runs: Vec<Rows>,
    heads: BinaryHeap<Reverse<(KeyedRow, usize)>>,
    bytes: u64,
    /// What the heads take of the budget.
    memory: budget::Held,
}

impl Merged {
    fn advance(&mut self, run: usize) -> Result<()> {
        if let Some(held) = self.runs[run].next() {
            let held = held?;
            self.bytes += held.bytes();
            self.heads.push(Reverse((held, run)));
        }
        self.memory.resize(self.bytes as usize)
    }

    pub fn next(&mut self) -> Result<Option<Member>> {
        let Some(Reverse((held, run))) = self.heads.pop() else { return Ok(None) };
        self.bytes -= held.bytes();
        self.advance(run)?;
        Ok(Some(held.member))
    }
}

fn encode(held: &KeyedRow) -> RawDocumentBuf {
    let key = RawBinaryRef { subtype: BinarySubtype::Generic, bytes: &held.key };
    let mut row = DocumentWriter::new();
    row.append("key", RawBsonRef::Binary(key));
    row.append_i64("number", held.number as i64);
    row.append_i64("record", held.member.record.0 as i64);
    if let Some(document) = &held.member.document {
        row.append_document("document", document);
    }
    row.finish()
}

fn decode(row: &RawDocument) -> Result<KeyedRow> {
    let number = |name: &str| match get_value(row, name) {
        Some(RawBsonRef::Int64(number)) => Ok(number as u64),
        _ => Err(broken()),
    };
    let Some(RawBsonRef::Binary(key)) = get_value(row, "key") else { return Err(broken()) };
    let document = match get_value(row, "document") {
        Some(RawBsonRef::Document(document)) => Some(Document::Built(document.to_owned())),
        _ => None,
    };
    let member = Member { record: RecordId(number("record")?), entry: None, document };
    Ok(KeyedRow { key: key.bytes.to_vec(), number: number("number")?, member })
}

fn broken() -> error::Error {
    Code::OperationFailed.error("a temporary file of a sort does not hold what was written to it")
}
