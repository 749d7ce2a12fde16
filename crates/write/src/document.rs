//! A client's document made ready to be stored.

use bson::oid::ObjectId;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};
use error::{Code, Result};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use value::{DocumentWriter, Element, elements};

/// Checks `_id`, puts it first or makes one, and fills in empty timestamps of
/// the top level. Borrows where nothing has to change.
pub fn prepare(document: &RawDocument) -> Result<Cow<'_, RawDocument>> {
    made_ready(document, is_empty_timestamp)
}

/// As `prepare`, for what an upsert made: its timestamps are what the update says.
pub fn identify(document: &RawDocument) -> Result<Cow<'_, RawDocument>> {
    made_ready(document, |_| false)
}

/// `stamped` says which elements get the time.
fn made_ready(
    document: &RawDocument,
    stamped: fn(&Element<'_>) -> bool,
) -> Result<Cow<'_, RawDocument>> {
    let mut id = None;
    let mut at = 0;
    let mut stamps = false;
    for (index, element) in elements(document).enumerate() {
        if element.key == "_id" {
            if id.is_some() {
                return Err(Code::BadValue.error("can't have multiple _id fields in one document"));
            }
            check_id(&element)?;
            id = Some(element);
            at = index;
        }
        stamps |= stamped(&element);
    }
    if id.is_some() && at == 0 && !stamps {
        return Ok(Cow::Borrowed(document));
    }
    Ok(Cow::Owned(rebuild(document, id, stamped)))
}

fn rebuild(
    document: &RawDocument,
    id: Option<Element<'_>>,
    stamped: fn(&Element<'_>) -> bool,
) -> RawDocumentBuf {
    let mut writer = DocumentWriter::with_capacity(document.as_bytes().len() + 32);
    match id {
        Some(id) => writer.copy(id),
        None => writer.append("_id", RawBsonRef::ObjectId(ObjectId::new())),
    }
    for element in elements(document).filter(|element| element.key != "_id") {
        if stamped(&element) {
            writer.append(element.key, RawBsonRef::Timestamp(next_timestamp()));
        } else {
            writer.copy(element);
        }
    }
    writer.finish()
}

/// What may not be an `_id`.
pub fn check_id(id: &Element<'_>) -> Result<()> {
    let kind = match id.kind {
        ElementType::Array => "array",
        ElementType::RegularExpression => "regex",
        ElementType::Undefined => "undefined",
        ElementType::EmbeddedDocument => return check_id_fields(id),
        _ => return Ok(()),
    };
    Err(Code::InvalidIdField.error(format!("The '_id' value cannot be of type {kind}")))
}

fn check_id_fields(id: &Element<'_>) -> Result<()> {
    let Some(document) = id.value().as_document() else { return Ok(()) };
    match elements(document).find(|field| field.key.starts_with('$')) {
        Some(field) => Err(Code::DollarPrefixedFieldName.error(format!(
            "_id fields may not contain '$'-prefixed fields: {} is not valid for storage.",
            field.key
        ))),
        None => Ok(()),
    }
}

fn is_empty_timestamp(element: &Element<'_>) -> bool {
    element.kind == ElementType::Timestamp && element.bytes == [0; 8] && element.key != "_id"
}

/// The time now, and a number that distinguishes it from others of the same second.
fn next_timestamp() -> Timestamp {
    static INCREMENT: AtomicU32 = AtomicU32::new(1);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as u32;
    Timestamp { time, increment: INCREMENT.fetch_add(1, Ordering::Relaxed).max(1) }
}
