//! What insert, update and delete answer: how much was done, and what failed at
//! which statement.

use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use error::Error;
use value::DocumentWriter;

use super::{Failures, Reply};

/// The reply of a write command.
#[derive(Debug)]
pub struct WriteReply {
    /// Documents inserted, matched or deleted.
    pub n: i32,
    /// Documents changed; updates only.
    pub n_modified: Option<i32>,
    /// Statement and `_id` of each upsert.
    pub upserted: Vec<(i32, RawBson)>,
    pub failures: Failures,
    /// Statements answered from their retry record.
    pub retried_statements: Vec<i32>,
    pub write_concern_error: Option<Error>,
}

impl WriteReply {
    /// The reply of a command of so many statements, before any of them.
    pub fn of(statements: usize) -> WriteReply {
        WriteReply {
            n: 0,
            n_modified: None,
            upserted: Vec::new(),
            failures: Failures::of(statements),
            retried_statements: Vec::new(),
            write_concern_error: None,
        }
    }

    pub fn finish(&self) -> Reply {
        let mut writer = DocumentWriter::new();
        writer.append_i32("n", self.n);
        self.failures.append_to(&mut writer);
        self.append_retried(&mut writer);
        if let Some(error) = &self.write_concern_error {
            append_write_concern_error(&mut writer, error);
        }
        self.append_upserted(&mut writer);
        if let Some(n_modified) = self.n_modified {
            writer.append_i32("nModified", n_modified);
        }
        writer.append_f64("ok", 1.0);
        Reply::new(writer.finish())
    }

    fn append_retried(&self, writer: &mut DocumentWriter) {
        if self.retried_statements.is_empty() {
            return;
        }
        writer.begin_array("retriedStmtIds");
        for statement in &self.retried_statements {
            writer.push(RawBsonRef::Int32(*statement));
        }
        writer.end();
    }

    fn append_upserted(&self, writer: &mut DocumentWriter) {
        if self.upserted.is_empty() {
            return;
        }
        writer.begin_array("upserted");
        for (index, id) in &self.upserted {
            writer.begin_next_document();
            writer.append_i32("index", *index);
            writer.append("_id", id.as_raw_bson_ref());
            writer.end();
        }
        writer.end();
    }
}

/// `writeConcernError: {code, codeName, errmsg, errInfo?}`.
pub fn append_write_concern_error(writer: &mut DocumentWriter, error: &Error) {
    writer.append_document("writeConcernError", &write_concern_error(error));
}

/// `{code, codeName, errmsg, errInfo?}`.
pub fn write_concern_error(error: &Error) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    writer.append_i32("code", error.code().number());
    writer.append_str("codeName", &error.code().name());
    writer.append_str("errmsg", error.message());
    for (name, value) in error.details() {
        writer.append(name, value);
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use error::Code;

    #[test]
    fn a_plain_insert_counts() {
        let reply = WriteReply { n: 2, ..WriteReply::of(2) };
        assert_eq!(reply.finish().body, rawdoc! { "n": 2, "ok": 1.0 });
    }

    #[test]
    fn an_upsert_names_what_it_inserted() {
        let upserted = vec![(0, RawBson::Int32(5))];
        let reply = WriteReply { n: 1, n_modified: Some(0), upserted, ..WriteReply::of(1) };
        assert_eq!(
            reply.finish().body,
            rawdoc! { "n": 1, "upserted": [{ "index": 0, "_id": 5 }], "nModified": 0, "ok": 1.0 }
        );
    }

    #[test]
    fn failures_name_their_statement() {
        let duplicate = Code::DuplicateKey
            .error("E11000 duplicate key")
            .detail("keyPattern", rawdoc! { "_id": 1 })
            .detail("keyValue", rawdoc! { "_id": 7 });
        let mut reply = WriteReply::of(4);
        reply.failures.add(3, &duplicate);
        reply.write_concern_error = Some(Code::UnsatisfiableWriteConcern.error("no"));
        assert_eq!(
            reply.finish().body,
            rawdoc! {
                "n": 0,
                "writeErrors": [{
                    "index": 3,
                    "code": 11000,
                    "keyPattern": { "_id": 1 },
                    "keyValue": { "_id": 7 },
                    "errmsg": "E11000 duplicate key",
                }],
                "writeConcernError": {
                    "code": 100,
                    "codeName": "UnsatisfiableWriteConcern",
                    "errmsg": "no",
                },
                "ok": 1.0,
            }
        );
    }
}
