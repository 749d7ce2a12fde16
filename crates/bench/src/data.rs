//! The documents the workloads read and write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::{RawArrayBuf, RawDocumentBuf, doc, rawdoc};
use futures::future::try_join_all;
use mongodb::IndexModel;

use crate::Error;
use crate::settle::settle;
use crate::site::Site;

/// Documents of 1 KB, `--documents` of them.
pub const KILOBYTE: Dataset = Dataset { name: "kilobyte", document_bytes: 1024 };
/// Documents of 300 bytes, `--documents` of them.
pub const SMALL: Dataset = Dataset { name: "small", document_bytes: 300 };

/// Documents with a 5 MB array beside small fields.
pub const LARGE: &str = "large";
pub const LARGE_DOCUMENTS_MAX: usize = 16;
const LARGE_ELEMENTS: i32 = 50_000;
const LARGE_ELEMENT_TEXT_BYTES: usize = 68;

const FILL_BATCH_DOCUMENTS: u64 = 1000;
const FILL_WRITERS: usize = 4;
const KINDS: u64 = 100;

/// A collection that several workloads read.
pub struct Dataset {
    pub name: &'static str,
    document_bytes: usize,
}

impl Dataset {
    /// Fills the collection unless an earlier workload has.
    pub async fn fill(&self, site: &Site) -> Result<(), Error> {
        let collection = site.collection_with_journal(self.name, false);
        if collection.estimated_document_count().await? == site.documents {
            return Ok(());
        }
        let next = Arc::new(AtomicU64::new(0));
        try_join_all((0..FILL_WRITERS).map(|_| async {
            loop {
                let first = next.fetch_add(FILL_BATCH_DOCUMENTS, Ordering::Relaxed);
                let end = (first + FILL_BATCH_DOCUMENTS).min(site.documents);
                if first >= end {
                    return Ok::<(), Error>(());
                }
                let documents: Vec<RawDocumentBuf> =
                    (first..end).map(|number| document(number, self.document_bytes)).collect();
                collection.insert_many(&documents).await?;
            }
        }))
        .await?;
        settle(&site.database).await;
        // Whatever fits into the server's memory is there, as in a server that has been up
        // for a while: no document has this name, so that all are read and none is sent.
        collection.count_documents(doc! { "name": "" }).await?;
        Ok(())
    }

    /// Fills the collection and indexes its field `n`.
    pub async fn fill_and_index(&self, site: &Site) -> Result<(), Error> {
        self.fill(site).await?;
        let index = IndexModel::builder().keys(doc! { "n": 1 }).build();
        site.collection(self.name).create_index(index).await?;
        Ok(())
    }
}

/// Document `number`, padded to exactly `bytes`.
pub fn document(number: u64, bytes: usize) -> RawDocumentBuf {
    let mut document = rawdoc! {
        "_id": number as i64,
        "n": number as i64,
        "kind": (number % KINDS) as i32,
        "amount": number as f64 / 4.0,
        "name": "a small field",
    };
    pad(&mut document, bytes);
    document
}

/// Appends a string `text` that brings the document to `bytes`, if it is not there yet.
pub fn pad(document: &mut RawDocumentBuf, bytes: usize) {
    // A type byte, the name with its zero, the string's length and its zero.
    const OVERHEAD_BYTES: usize = 1 + "text".len() + 1 + 4 + 1;
    let length = bytes.saturating_sub(document.as_bytes().len() + OVERHEAD_BYTES);
    document.append(bson::cstr!("text"), "x".repeat(length));
}

/// How many clients have a large document of their own; further ones share.
pub fn large_documents(site: &Site) -> usize {
    site.clients.clamp(1, LARGE_DOCUMENTS_MAX)
}

/// Writes the large documents unless an earlier workload has.
pub async fn fill_large(site: &Site) -> Result<(), Error> {
    let collection = site.collection_with_journal(LARGE, false);
    let count = large_documents(site);
    if collection.estimated_document_count().await? == count as u64 {
        return Ok(());
    }
    let text = "y".repeat(LARGE_ELEMENT_TEXT_BYTES);
    let mut entries = RawArrayBuf::new();
    for at in 0..LARGE_ELEMENTS {
        entries.push(rawdoc! { "at": at, "text": text.as_str() });
    }
    for number in 0..count {
        let document = rawdoc! {
            "_id": number as i64,
            "counter": 0_i64,
            "name": "a small field",
            "entries": entries.clone(),
        };
        collection.insert_one(document).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_size_they_say() {
        for dataset in [KILOBYTE, SMALL] {
            let bytes = document(99_999, dataset.document_bytes).as_bytes().len();
            assert_eq!(bytes, dataset.document_bytes);
        }
    }
}
