//! Idle cursors among the operations.

use crate::cursor::IdleCursor;
use bson::spec::BinarySubtype;
use bson::{RawBinaryRef, RawBsonRef, RawDocumentBuf};
use value::DocumentWriter;

pub fn describe(cursor: &IdleCursor, host: &str) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    out.append_str("type", "idleCursor");
    out.append_str("host", host);
    if let Some(session) = &cursor.owner.session {
        out.begin_document("lsid");
        let id = RawBinaryRef { subtype: BinarySubtype::Uuid, bytes: session };
        out.append("id", RawBsonRef::Binary(id));
        out.end();
    }
    out.append_str("ns", &cursor.namespace.to_string());
    out.begin_document("cursor");
    out.append_i64("cursorId", cursor.id);
    out.append("createdDate", RawBsonRef::DateTime(cursor.opened));
    out.append("lastAccessDate", RawBsonRef::DateTime(cursor.used));
    out.append_i64("nDocsReturned", cursor.documents as i64);
    out.append_i64("nBatchesReturned", cursor.batches as i64);
    out.append_bool("noCursorTimeout", cursor.no_timeout);
    out.append_bool("tailable", cursor.tailable);
    out.append_bool("awaitData", cursor.awaits);
    out.append_document("originatingCommand", &cursor.command);
    out.end();
    out.finish()
}
