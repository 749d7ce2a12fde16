//! What is written of a document that is refused: MongoDB's `errInfo`.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Error;
use value::check::DEPTH_MAX;
use value::element::get;
use value::{DocumentWriter, Element};

/// The most that an account of a refusal may weigh: MongoDB's bound.
pub const REPORT_BYTES_MAX: usize = 12 * 1024 * 1024;

/// How much room below the bound of nesting an account leaves for its reply.
const REPLY_LEVELS: usize = 10;

/// An account on its way.
pub struct Report {
    pub out: DocumentWriter,
    extent: Extent,
    left_out: bool,
}

/// How values of the document, and the rules as they were given, are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// They are left out: they may be as large as the document or the validator.
    Brief,
    /// For people: values as texts, cut where they are long.
    Words,
}

/// The `errInfo` of a document: what is wrong with it is written by `details`. Considered
/// values and the rules as they were given are left out where they make it too large.
pub fn info(document: &RawDocument, details: impl Fn(&mut Report)) -> RawDocumentBuf {
    for extent in [Extent::Whole, Extent::Brief] {
        let mut report = Report::new(extent);
        details(&mut report);
        if report.is_cut() {
            continue;
        }
        let info = with_details(document, extent, &report.out.finish());
        if value::check::document(info.as_bytes(), DEPTH_MAX - REPLY_LEVELS).is_err() {
            let reason = "generated error was too deeply nested";
            return bson::rawdoc! { "reason": reason, "truncated": true };
        }
        if info.as_bytes().len() <= REPORT_BYTES_MAX {
            return info;
        }
    }
    let mut out = start(document);
    out.append_str("note", "detailed error was too large");
    out.finish()
}

fn with_details(document: &RawDocument, extent: Extent, details: &RawDocument) -> RawDocumentBuf {
    let mut out = start(document);
    if extent == Extent::Brief {
        out.append_bool("truncated", true);
    }
    out.append_document("details", details);
    out.finish()
}

fn start(document: &RawDocument) -> DocumentWriter {
    let mut out = DocumentWriter::new();
    if let Some(id) = get(document, "_id") {
        out.copy_as("failingDocumentId", id);
    }
    out
}

impl Report {
    pub fn new(extent: Extent) -> Report {
        Report { out: DocumentWriter::new(), extent, left_out: false }
    }

    /// Whether it does not hold all that it was to hold.
    fn is_cut(&self) -> bool {
        self.left_out || self.out.len() > REPORT_BYTES_MAX
    }

    pub fn reason(&mut self, reason: &str) {
        self.out.append_str("reason", reason);
    }

    /// What kept a rule from being evaluated.
    pub fn failed(&mut self, to: &str, error: &Error) {
        self.reason(&format!("failed to {to}"));
        self.out.begin_document("details");
        self.out.append_i32("code", error.code().number());
        self.out.append_str("codeName", &error.code().name());
        self.out.append_str("errmsg", error.message());
        self.out.end();
    }

    /// What is told to people only, where MongoDB's account leaves it out.
    pub fn in_words(&mut self, tell: impl FnOnce(&mut Report)) {
        if self.extent == Extent::Words {
            tell(self);
        }
    }

    /// The rule as it was given.
    pub fn specified(&mut self, given: &RawDocument) {
        if self.extent == Extent::Words || self.takes(given.as_bytes().len()) {
            self.out.append_document("specifiedAs", given);
        }
    }

    /// A value of the document that the rule looked at.
    pub fn considered(&mut self, name: &str, value: Element<'_>) {
        if self.extent == Extent::Words {
            self.out.append_str(name, &spoken(value.value()));
        } else if self.takes(value.bytes.len()) {
            self.out.copy_as(name, value);
        }
    }

    /// Several of them, as an array.
    pub fn considered_all(&mut self, name: &str, values: &[Element<'_>]) {
        if self.extent == Extent::Words {
            let values = values.iter().map(|value| value.value());
            self.out.append_str(name, &value::text::short_list(values));
        } else if self.takes(values.iter().map(|value| value.bytes.len()).sum()) {
            self.out.begin_array(name);
            values.iter().for_each(|value| self.out.copy_next(*value));
            self.out.end();
        }
    }

    /// What came of evaluating the rule.
    pub fn result(&mut self, name: &str, value: RawBsonRef<'_>) {
        match self.extent {
            Extent::Words => self.out.append_str(name, &value::text::short(value)),
            _ => self.out.append(name, value),
        }
    }

    fn takes(&mut self, bytes: usize) -> bool {
        if self.extent == Extent::Brief {
            return false;
        }
        self.left_out |= self.out.len() + bytes > REPORT_BYTES_MAX;
        !self.left_out
    }
}

/// A value for people. Code alone looks like nothing, or like words of the message.
fn spoken(value: RawBsonRef<'_>) -> String {
    match value {
        RawBsonRef::JavaScriptCode(code) => {
            format!("Code({})", value::text::short(RawBsonRef::String(code)))
        }
        value => value::text::short(value),
    }
}
