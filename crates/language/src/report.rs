//! What is written of a document that is refused: MongoDB's `errInfo.details`.

use bson::RawDocument;
use value::{DocumentWriter, Element};

/// The most that an account of a refusal may weigh: MongoDB's bound.
pub const REPORT_BYTES_MAX: usize = 12 * 1024 * 1024;

/// An account on its way. A brief one leaves out what may be as large as the
/// document or the validator.
pub struct Report {
    pub out: DocumentWriter,
    brief: bool,
    left_out: bool,
}

impl Report {
    pub fn new(brief: bool) -> Report {
        Report { out: DocumentWriter::new(), brief, left_out: false }
    }

    /// Whether something had to be left out of an account that is not brief.
    pub fn is_cut(&self) -> bool {
        self.left_out || self.out.len() > REPORT_BYTES_MAX
    }

    pub fn reason(&mut self, reason: &str) {
        self.out.append_str("reason", reason);
    }

    /// The rule as it was given.
    pub fn specified(&mut self, given: &RawDocument) {
        if self.takes(given.as_bytes().len()) {
            self.out.append_document("specifiedAs", given);
        }
    }

    /// A value of the document that the rule looked at.
    pub fn considered(&mut self, name: &str, value: Element<'_>) {
        if self.takes(value.bytes.len()) {
            self.out.copy_as(name, value);
        }
    }

    /// Several of them, as an array.
    pub fn considered_all(&mut self, name: &str, values: &[Element<'_>]) {
        if self.takes(values.iter().map(|value| value.bytes.len()).sum()) {
            self.out.begin_array(name);
            values.iter().for_each(|value| self.out.copy_next(*value));
            self.out.end();
        }
    }

    fn takes(&mut self, bytes: usize) -> bool {
        if self.brief {
            return false;
        }
        self.left_out |= self.out.len() + bytes > REPORT_BYTES_MAX;
        !self.left_out
    }
}
