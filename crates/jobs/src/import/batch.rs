//! Documents that one command inserts.

use super::{Failure, Imported, Target};
use crate::Error;
use bson::RawDocumentBuf;
use mongodb::error::ErrorKind;

pub const DOCUMENTS_MAX: usize = 1_000;
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// Documents on their way, and where they stand in the file.
#[derive(Default)]
pub struct Batch {
    documents: Vec<RawDocumentBuf>,
    numbers: Vec<u64>,
    bytes: usize,
    pub file_bytes: u64,
    unreadable: Vec<Failure>,
}

impl Batch {
    pub fn add(&mut self, number: u64, document: RawDocumentBuf) {
        self.bytes += document.as_bytes().len();
        self.documents.push(document);
        self.numbers.push(number);
    }

    /// Notes what stands there and is not imported.
    pub fn fail(&mut self, number: u64, why: String) {
        self.unreadable.push(Failure { number, why });
    }

    pub fn is_full(&self) -> bool {
        self.documents.len() + self.unreadable.len() >= DOCUMENTS_MAX || self.bytes >= BYTES_MAX
    }

    pub async fn insert(self, target: &Target) -> Result<Imported, Error> {
        let failed = self.unreadable.len() as u64;
        let mut imported = Imported { failed, failures: self.unreadable, ..Imported::default() };
        if self.documents.is_empty() {
            target.progress.add(self.file_bytes);
            return Ok(imported);
        }
        let refused = match target.collection.insert_many(&self.documents).ordered(false).await {
            Ok(_) => Vec::new(),
            Err(error) => match &*error.kind {
                ErrorKind::InsertMany(many) if many.write_concern_error.is_none() => {
                    many.write_errors.clone().unwrap_or_default()
                }
                _ => return Err(error.into()),
            },
        };
        imported.documents = (self.documents.len() - refused.len()) as u64;
        for error in refused {
            if target.skips(&error) {
                imported.skipped += 1;
                continue;
            }
            let number = self.numbers.get(error.index).copied().unwrap_or_default();
            imported.failed += 1;
            imported.failures.push(Failure { number, why: error.message });
        }
        target.progress.add(self.file_bytes);
        Ok(imported)
    }
}
