//! Cursors over documents that are ready: what the `list…` commands answer.

use super::Call;
use super::reading::first_batch;
use crate::cursor::Source;
use crate::storage::Document;
use bson::RawDocumentBuf;
use command::{Namespace, Reply};
use error::Result;

/// The first batch, which holds everything unless a batch size says otherwise.
pub fn reply(
    call: Call<'_>,
    namespace: Namespace,
    documents: Vec<RawDocumentBuf>,
    batch_size: Option<i64>,
) -> Result<Reply> {
    let rows = documents.into_iter().map(|document| Ok(Document::Built(document)));
    let cursor = call.cursor(namespace, Source::Rows(Box::new(rows)));
    let batch_size = batch_size.map_or(u64::MAX, i64::unsigned_abs);
    first_batch(call, cursor, Some(batch_size), false)
}
