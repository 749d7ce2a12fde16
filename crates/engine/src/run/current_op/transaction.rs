//! Open transactions among the operations.

use crate::session::OpenTransaction;
use bson::spec::BinarySubtype;
use bson::{RawBinaryRef, RawBsonRef, RawDocument, RawDocumentBuf};
use value::DocumentWriter;
use value::element::get_value;

/// The transaction that a statement belongs to, if it does.
pub fn of<'a>(command: &RawDocument, all: &'a [OpenTransaction]) -> Option<&'a OpenTransaction> {
    get_value(command, "autocommit").filter(|it| it.as_bool() == Some(false))?;
    let RawBsonRef::Document(lsid) = get_value(command, "lsid")? else { return None };
    let RawBsonRef::Binary(id) = get_value(lsid, "id")? else { return None };
    all.iter().find(|transaction| transaction.session == id.bytes)
}

/// A transaction none of whose statements runs.
pub fn idle(transaction: &OpenTransaction, host: &str) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    out.append_str("type", "idleSession");
    out.append_str("host", host);
    out.append_str("desc", "inactive transaction");
    super::describe_client(&mut out, &transaction.client);
    out.append_bool("active", false);
    out.begin_document("lsid");
    let id = RawBinaryRef { subtype: BinarySubtype::Uuid, bytes: &transaction.session };
    out.append("id", RawBsonRef::Binary(id));
    out.end();
    describe(&mut out, transaction);
    out.append_bool("waitingForLock", false);
    out.append_bool("waitingForFlowControl", false);
    for name in ["locks", "lockStats", "flowControlStats"] {
        out.begin_document(name);
        out.end();
    }
    out.finish()
}

pub fn describe(out: &mut DocumentWriter, transaction: &OpenTransaction) {
    let microseconds = |duration: std::time::Duration| duration.as_micros() as i64;
    out.begin_document("transaction");
    out.begin_document("parameters");
    out.append_i64("txnNumber", transaction.number);
    out.append_bool("autocommit", false);
    out.begin_document("readConcern");
    out.append_str("level", transaction.level.name());
    out.end();
    out.end();
    append_time(out, "startWallClockTime", transaction.began);
    out.append_i64("timeOpenMicros", microseconds(transaction.open));
    out.append_i64("timeActiveMicros", microseconds(transaction.active));
    let inactive = transaction.open.saturating_sub(transaction.active);
    out.append_i64("timeInactiveMicros", microseconds(inactive));
    append_time(out, "expiryTime", transaction.expires);
    out.end();
}

/// As text, as `currentOp` gives times.
fn append_time(out: &mut DocumentWriter, name: &str, time: bson::DateTime) {
    if let Ok(text) = time.try_to_rfc3339_string() {
        out.append_str(name, &text);
    }
}
