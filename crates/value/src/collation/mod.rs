//! Comparison of strings under a locale, through ICU4X.

mod locales;
mod long;
mod marks;
mod options;

use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use icu_collator::CollatorBorrowed;
use options::Options;

/// A checked `collation` document, ready to compare strings.
pub struct Collator {
    collator: CollatorBorrowed<'static>,
    document: RawDocumentBuf,
}

impl Collator {
    /// Parses MongoDB's `collation` document. `None` means simple binary
    /// comparison (`{locale: "simple"}`, or an empty document).
    pub fn parse(spec: &RawDocument) -> Result<Option<Collator>> {
        let Some(options) = Options::parse(spec)? else { return Ok(None) };
        let (collator, document) = options.build()?;
        Ok(Some(Collator { collator, document }))
    }

    pub fn compare(&self, a: &str, b: &str) -> std::cmp::Ordering {
        long::compare(&self.collator, a, b)
    }

    /// Appends bytes that sort as `compare` does, for index keys.
    pub fn sort_key(&self, text: &str, out: &mut Vec<u8>) {
        long::sort_key(&self.collator, text, out);
    }

    /// The full document, every option spelled out, as `listIndexes` shows it.
    pub fn document(&self) -> &RawDocument {
        &self.document
    }
}

/// Collators are equal if every option is.
impl PartialEq for Collator {
    fn eq(&self, other: &Self) -> bool {
        self.document == other.document
    }
}

impl std::fmt::Debug for Collator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collator").field("document", &self.document).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
