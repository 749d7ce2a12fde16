//! One document by its `_id`: the entry, then the record.

use super::{Shared, Stats, complete, projection};
use crate::plan::IdRead;
use crate::plan::execute::execution::ResultRow;
use crate::plan::execute::fetch::dangling;
use crate::storage::Document;
use bson::RawDocumentBuf;
use error::Result;

pub fn read(plan: &IdRead, shared: &Shared, stats: &mut Stats) -> Result<Option<ResultRow>> {
    stats.works += 1;
    let Some(entry) = shared.view.unique(plan.index.id, &plan.key)? else { return Ok(None) };
    stats.keys_examined += 1;
    // A write only asks which record it is, and reads it once it may change it.
    if shared.query.wants_nothing() {
        stats.advanced += 1;
        return Ok(Some(ResultRow {
            record: entry.record,
            document: Document::Built(RawDocumentBuf::new()),
        }));
    }
    let record = shared.view.record(shared.collection, entry.record)?.ok_or_else(dangling)?;
    stats.documents_examined += 1;
    let document = record.load(&shared.view, &shared.needs)?;
    let Some(document) = complete::complete(shared, entry.record, document, None)? else {
        return Ok(None);
    };
    let document = match shared.query.metadata.any() {
        true => projection::attach(&shared.query, entry.record, None, &document),
        false => document,
    };
    let document = projection::project(&shared.query, entry.record, document)?;
    stats.advanced += 1;
    Ok(Some(ResultRow { record: entry.record, document }))
}
