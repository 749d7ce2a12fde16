//! `cursor: {batchSize}`, as several commands take it.

use error::Result;

use crate::fields::{Field, Fields};

/// The batch size of a `cursor` object, if it has one.
pub(super) fn batch_size(field: &Field<'_, '_>) -> Result<Option<i64>> {
    let Some(document) = field.object()? else { return Ok(None) };
    let mut batch_size = None;
    let mut fields = Fields::of_document(document, field.scope());
    while let Some(field) = fields.next()? {
        match field.name() {
            "batchSize" => batch_size = field.count()?,
            _ => return Err(field.unknown()),
        }
    }
    Ok(batch_size)
}
