//! The statements of a write command that failed, within what all of them may weigh.
//! They are written as they come, so that nothing is kept that is not told.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Error;
use value::DocumentWriter;
use value::element::get;

/// What all of them may weigh, so that the reply stays below what a document may.
const FAILURES_BYTES_MAX: usize = 15 * 1024 * 1024;
/// What their messages may weigh, as in MongoDB; those after that are empty.
const MESSAGES_BYTES_MAX: usize = 1024 * 1024;
/// What is kept free for each statement: its number, its code, which document failed.
const STATEMENT_BYTES: usize = 128;

/// The failed statements of one command.
#[derive(Debug)]
pub struct Failures {
    /// As the reply tells them.
    written: Vec<RawDocumentBuf>,
    room: FailuresRoom,
}

/// What is left of what the failures of one command may weigh.
#[derive(Debug)]
pub struct FailuresRoom {
    /// What further messages may weigh.
    messages_bytes: usize,
    /// What further details may weigh.
    details_bytes: usize,
}

/// A failure, and how much of it is told.
#[derive(Debug)]
pub struct Failure<'e> {
    error: &'e Error,
    message: &'e str,
    details: Details,
}

/// How much is told beside number, code and message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Details {
    Whole,
    /// Only which document failed.
    Document,
    Nothing,
}

impl FailuresRoom {
    /// Room for the failures of a command of so many statements.
    pub fn of(statements: usize) -> FailuresRoom {
        let kept = MESSAGES_BYTES_MAX + statements.saturating_mul(STATEMENT_BYTES);
        FailuresRoom {
            messages_bytes: MESSAGES_BYTES_MAX,
            details_bytes: FAILURES_BYTES_MAX.saturating_sub(kept),
        }
    }

    /// Has a failure written as far as there is room for it.
    pub fn fit(
        &mut self,
        error: &Error,
        write: impl Fn(&Failure<'_>) -> RawDocumentBuf,
    ) -> RawDocumentBuf {
        let message = error.message();
        let message = &message[..message.floor_char_boundary(self.messages_bytes)];
        self.messages_bytes -= message.len();
        for details in [Details::Whole, Details::Document] {
            let written = write(&Failure { error, message, details });
            let bytes = written.as_bytes().len() - message.len();
            let beyond = bytes.saturating_sub(STATEMENT_BYTES);
            if beyond <= self.details_bytes {
                self.details_bytes -= beyond;
                return written;
            }
        }
        write(&Failure { error, message, details: Details::Nothing })
    }
}

impl Failure<'_> {
    pub fn append_code(&self, writer: &mut DocumentWriter) {
        writer.append_i32("code", self.error.code().number());
    }

    pub fn append_message(&self, writer: &mut DocumentWriter) {
        writer.append_str("errmsg", self.message);
    }

    pub fn append_details(&self, writer: &mut DocumentWriter) {
        for (name, value) in self.error.details() {
            match (self.details, value) {
                (Details::Whole, value) => writer.append(name, value),
                (Details::Document, RawBsonRef::Document(info)) if name == "errInfo" => {
                    writer.append_document(name, &which(info));
                }
                _ => {}
            }
        }
    }
}

impl Failures {
    /// Room for the failures of a command of so many statements.
    pub fn of(statements: usize) -> Failures {
        Failures { written: Vec::new(), room: FailuresRoom::of(statements) }
    }

    /// Takes in the failure of the statement at this place in the command. What there
    /// is no room for is left out.
    pub fn add(&mut self, index: usize, error: &Error) {
        let written = self.room.fit(error, |failure| {
            let mut writer = DocumentWriter::new();
            writer.append_i32("index", index as i32);
            failure.append_code(&mut writer);
            failure.append_details(&mut writer);
            failure.append_message(&mut writer);
            writer.finish()
        });
        self.written.push(written);
    }

    /// Appends `writeErrors`, if there are any.
    pub fn append_to(&self, writer: &mut DocumentWriter) {
        if self.written.is_empty() {
            return;
        }
        writer.begin_array("writeErrors");
        for failure in &self.written {
            writer.push(RawBsonRef::Document(failure));
        }
        writer.end();
    }
}

/// What is left of `errInfo` where there is no room for its details.
fn which(info: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    if let Some(id) = get(info, "failingDocumentId") {
        writer.copy(id);
    }
    writer.append_bool("truncated", true);
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{Bson, Document, doc, rawdoc};
    use error::Code;

    /// The most that MongoDB's clients take for a document of a server.
    const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024 + 16 * 1024;

    fn refused(id: impl Into<Bson>, bytes: usize, message: &str) -> Error {
        let value = "x".repeat(bytes);
        let info = doc! { "failingDocumentId": id.into(), "details": { "consideredValue": value } };
        let info = RawDocumentBuf::try_from(&info).unwrap();
        Code::DocumentValidationFailure.error(message).detail("errInfo", info)
    }

    fn written_bytes(failures: &Failures) -> usize {
        let mut writer = DocumentWriter::new();
        failures.append_to(&mut writer);
        writer.len()
    }

    fn told(failures: &Failures) -> Vec<Document> {
        let written = failures.written.iter();
        written.map(|failure| Document::try_from(failure.as_ref()).unwrap()).collect()
    }

    #[test]
    fn details_end_where_the_reply_would_grow_too_large() {
        let mut failures = Failures::of(30);
        let error = refused(7, 10_000_000, "no");
        (0..30).for_each(|index| failures.add(index, &error));
        assert!(written_bytes(&failures) < DOCUMENT_BYTES_MAX);
        let told = told(&failures);
        assert_eq!(told.len(), 30);
        assert!(told[0].get_document("errInfo").unwrap().contains_key("details"));
        let cut = doc! {
            "index": 29, "code": 121,
            "errInfo": { "failingDocumentId": 7, "truncated": true }, "errmsg": "no",
        };
        assert_eq!(told[29], cut);
    }

    #[test]
    fn messages_end_where_the_reply_would_grow_too_large() {
        let mut failures = Failures::of(3);
        let long = "é".repeat(MESSAGES_BYTES_MAX / 3);
        (0..3).for_each(|index| failures.add(index, &Code::BadValue.error(long.clone())));
        let told = told(&failures);
        let lengths: Vec<_> = told.iter().map(|it| it.get_str("errmsg").unwrap().len()).collect();
        assert_eq!(lengths[0], long.len());
        assert!(lengths[1] > 0 && lengths[1] < long.len(), "{lengths:?}");
        assert_eq!(lengths[2], 0);
    }

    #[test]
    fn the_largest_batch_fits_whatever_fails() {
        let statements = crate::views::write_options::BATCH_STATEMENTS_MAX;
        let message = "x".repeat(300);
        for id in [Bson::String("y".repeat(2_000)), Bson::Int32(1)] {
            let mut failures = Failures::of(statements);
            let error = refused(id, 1_000, &message);
            (0..statements).for_each(|index| failures.add(index, &error));
            assert!(written_bytes(&failures) < DOCUMENT_BYTES_MAX);
            assert_eq!(failures.written.len(), statements);
        }
    }

    #[test]
    fn a_key_that_is_there_already_is_cut_too() {
        let mut failures = Failures::of(2);
        let error = Code::DuplicateKey
            .error("E11000")
            .detail("keyValue", rawdoc! { "a": "x".repeat(12_000_000) });
        (0..2).for_each(|index| failures.add(index, &error));
        let told = told(&failures);
        assert!(told[0].contains_key("keyValue"));
        assert_eq!(told[1], doc! { "index": 1, "code": 11000, "errmsg": "E11000" });
    }
}
