//! The file, cut into pieces of work.

use super::batch::Batch;
use super::large::{Large, Part};
use crate::Error;
use crate::record::{Append, Record, is_same_id, stray};
use crate::source::Source;
use bson::RawBson;
use guard::patterns::place;
use tokio::sync::mpsc;

/// Parts of a document that wait for those before them.
const PARTS_WAITING_MAX: usize = 2;

pub enum Work {
    Batch(Batch),
    Large(Large),
}

/// Where the parts of the document go that is being read.
struct Open {
    id: RawBson,
    parts: mpsc::Sender<Part>,
}

impl Open {
    fn has(&self, part: &Append) -> bool {
        is_same_id(&self.id, &part.id)
    }
}

/// Reads the file to its end, piece by piece.
pub fn read(mut source: Source, works: &mpsc::Sender<Work>) -> Result<(), Error> {
    let mut batch = Batch::default();
    let mut open: Option<Open> = None;
    let mut astray: Option<RawBson> = None;
    let outcome = loop {
        let item = match source.next() {
            Ok(Some(item)) => item,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        match item.record {
            Ok(Record::Document(document)) => {
                open = None;
                batch.file_bytes += item.bytes;
                batch.add(item.number, document);
            }
            Ok(Record::Partial(partial)) => {
                let (parts, waiting) = mpsc::channel(PARTS_WAITING_MAX);
                open = Some(Open { id: place::id(&partial.document).into(), parts });
                let large = Large::new(item.number, item.bytes, partial, waiting);
                if works.blocking_send(Work::Large(large)).is_err() {
                    return Ok(());
                }
            }
            Ok(Record::Append(append)) => match open.as_ref().filter(|open| open.has(&append)) {
                // A document that has failed takes no more of them, and has been reported.
                Some(open) => drop(open.parts.blocking_send(Part { append, bytes: item.bytes })),
                None => {
                    batch.file_bytes += item.bytes;
                    // So is one whose beginning cannot be read, or is missing: by its first part.
                    if !astray.as_ref().is_some_and(|id| is_same_id(id, &append.id)) {
                        batch.fail(item.number, stray(&append));
                        astray = Some(append.id);
                    }
                }
            },
            Err(why) => {
                batch.file_bytes += item.bytes;
                batch.fail(item.number, why);
            }
        }
        // Nobody takes batches any more once one has failed for good.
        if batch.is_full() {
            let full = Work::Batch(std::mem::take(&mut batch));
            if works.blocking_send(full).is_err() {
                return Ok(());
            }
        }
    };
    drop(open);
    let _ = works.blocking_send(Work::Batch(batch));
    outcome
}
