//! One batch of a cursor's rows.

use crate::storage::Document;
use command::CursorReply;
use error::{Code, Result};
use std::time::Instant;

/// Documents of a first batch, where the client does not say.
pub const FIRST_BATCH_DOCUMENTS: u64 = 101;
/// What the documents of a batch may weigh together.
pub const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What one document of a result may weigh: a stored one, and a little that was
/// added to it.
pub const RESULT_BYTES_MAX: usize = BATCH_BYTES_MAX + 16 * 1024;
/// Rows between two looks at the clock.
const ROWS_PER_LOOK: usize = 64;

/// How a batch ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Batch {
    /// It has what it may have; there may be more.
    Full,
    /// There is no more.
    Exhausted,
    /// The time given was up.
    Paused,
    /// It is empty, since the server has no room for what comes next. A change stream waits.
    Crowded,
}

/// Adds rows to a batch: up to `limit` documents, up to its weight, up to a time.
/// A row that does not fit is kept in `pending` for the next batch.
pub fn fill(
    rows: &mut dyn Iterator<Item = Result<Document>>,
    pending: &mut Option<Document>,
    reply: &mut CursorReply,
    limit: Option<u64>,
    until: Option<Instant>,
) -> Result<Batch> {
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    loop {
        if reply.len() >= limit {
            return Ok(Batch::Full);
        }
        if let Some(until) = until
            && reply.len() % ROWS_PER_LOOK == ROWS_PER_LOOK - 1
            && Instant::now() >= until
        {
            return Ok(Batch::Paused);
        }
        let row = match pending.take() {
            Some(row) => row,
            None => match rows.next() {
                Some(row) => row?,
                None => return Ok(Batch::Exhausted),
            },
        };
        let size = row.as_bytes().len();
        if size > RESULT_BYTES_MAX {
            return Err(Code::BSONObjectTooLarge.error(format!(
                "BSONObj size: {size} (0x{size:X}) is invalid. Size must be between 0 and {RESULT_BYTES_MAX}(16MB)"
            )));
        }
        if !reply.is_empty() && reply.size_bytes() + size > BATCH_BYTES_MAX {
            *pending = Some(row.uncounted());
            return Ok(Batch::Full);
        }
        // With little memory the batches are smaller.
        if let Err(error) = reply.make_room(size) {
            if reply.is_empty() {
                return Err(error);
            }
            *pending = Some(row.uncounted());
            return Ok(Batch::Full);
        }
        reply.push(&row);
    }
}
