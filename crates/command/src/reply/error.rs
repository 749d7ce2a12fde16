//! The reply for a command that failed.

use bson::RawBsonRef;
use error::Error;
use value::DocumentWriter;

use super::Reply;

/// `{errorLabels?, ok: 0.0, errmsg, code, codeName, …details}`.
pub fn error_reply(error: &Error) -> Reply {
    let mut writer = DocumentWriter::new();
    append_labels(&mut writer, error);
    writer.append_f64("ok", 0.0);
    writer.append_str("errmsg", error.message());
    writer.append_i32("code", error.code().number());
    writer.append_str("codeName", &error.code().name());
    for (name, value) in error.details() {
        writer.append(name, value);
    }
    Reply::new(writer.finish())
}

/// An error as the document of an OP_REPLY that is flagged as a failure.
pub fn query_failure(error: &Error) -> Reply {
    let mut writer = DocumentWriter::new();
    writer.append_str("$err", error.message());
    writer.append_i32("code", error.code().number());
    writer.append_f64("ok", 0.0);
    Reply::new(writer.finish())
}

fn append_labels(writer: &mut DocumentWriter, error: &Error) {
    if error.labels().is_empty() {
        return;
    }
    writer.begin_array("errorLabels");
    for label in error.labels() {
        writer.push(RawBsonRef::String(label));
    }
    writer.end();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::error::Code;
    use bson::rawdoc;

    #[test]
    fn an_error_says_what_happened() {
        let error = Code::WriteConflict
            .error("Write conflict")
            .detail("errInfo", rawdoc! { "a": 1 })
            .label("TransientTransactionError");
        assert_eq!(
            error_reply(&error).body,
            rawdoc! {
                "errorLabels": ["TransientTransactionError"],
                "ok": 0.0,
                "errmsg": "Write conflict",
                "code": 112,
                "codeName": "WriteConflict",
                "errInfo": { "a": 1 },
            }
        );
        let plain = Code::location(40433).error("x");
        assert_eq!(
            error_reply(&plain).body,
            rawdoc! { "ok": 0.0, "errmsg": "x", "code": 40433, "codeName": "Location40433" }
        );
    }
}
