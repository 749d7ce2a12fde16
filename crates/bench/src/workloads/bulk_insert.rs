//! Documents of 250 bytes in batches of 5,000, counted in documents.

use bson::oid::ObjectId;
use bson::{RawDocumentBuf, rawdoc};

use super::{Counts, Workload};
use crate::Error;
use crate::data::pad;
use crate::lane::Lane;

const DOCUMENT_BYTES: usize = 250;
const BATCH_DOCUMENTS: usize = 5000;
/// Where the value of a leading ObjectId `_id` lies: after the length, the type byte and the
/// name with its zero.
const ID: std::ops::Range<usize> = 9..21;

pub const WORKLOAD: Workload = Workload {
    name: "bulk_insert",
    help: "documents of 250 bytes in batches of 5,000 (j: false)",
    counts: Counts::Documents,
    costs: false,
    on_demand: false,
    prepare: |_| Box::pin(async { Ok(()) }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection_with_journal("bulk_insert", false);
    let mut documents = prepared(lane.number);
    while let Some(start) = lane.begin() {
        collection.insert_many(&documents).await?;
        lane.end(start, documents.len() as u64);
        documents = documents.into_iter().filter_map(with_new_id).collect();
    }
    Ok(lane)
}

fn prepared(client: usize) -> Vec<RawDocumentBuf> {
    (0..BATCH_DOCUMENTS)
        .map(|number| {
            let mut document = rawdoc! {
                "_id": ObjectId::new(),
                "client": client as i64,
                "number": number as i64,
            };
            pad(&mut document, DOCUMENT_BYTES);
            document
        })
        .collect()
}

/// The same document under another `_id`, in the same bytes.
fn with_new_id(document: RawDocumentBuf) -> Option<RawDocumentBuf> {
    let mut bytes = document.into_bytes();
    bytes.get_mut(ID)?.copy_from_slice(&ObjectId::new().bytes());
    RawDocumentBuf::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_id_is_all_that_changes() {
        let document = prepared(3).remove(7);
        assert_eq!(document.as_bytes().len(), DOCUMENT_BYTES);
        let old = document.get_object_id("_id").unwrap();
        let document = with_new_id(document).unwrap();
        assert_ne!(document.get_object_id("_id").unwrap(), old);
        assert_eq!(document.get_i64("number").unwrap(), 7);
    }
}
