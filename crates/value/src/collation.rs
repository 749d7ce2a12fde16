//! Comparison of strings under a locale.

use bson::RawDocument;
use error::{Code, Result};

/// A checked `collation` document, ready to compare strings.
#[derive(Debug)]
pub struct Collator {}

impl Collator {
    /// Parses MongoDB's `collation` document. `None` means simple binary
    /// comparison (`{locale: "simple"}`).
    pub fn parse(spec: &RawDocument) -> Result<Option<Collator>> {
        match spec.get_str("locale") {
            Ok("simple") => Ok(None),
            _ => Err(Code::BadValue.error("only the simple collation is supported")),
        }
    }

    pub fn compare(&self, a: &str, b: &str) -> std::cmp::Ordering {
        let _ = (a, b);
        todo!()
    }

    /// Bytes that sort as `compare` does, for index keys.
    pub fn sort_key(&self, text: &str, out: &mut Vec<u8>) {
        let _ = (text, out);
        todo!()
    }

    /// The full document, every option spelled out, as `listIndexes` shows it.
    pub fn document(&self) -> &RawDocument {
        todo!()
    }
}
