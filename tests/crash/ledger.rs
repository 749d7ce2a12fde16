//! What a worker knows to be in its collections.

use bson::Document;
use std::collections::BTreeMap;

/// Where a document is: its collection, and its `_id`.
pub type Place = (&'static str, i64);

/// Documents that were acknowledged, and the one write that is under way.
#[derive(Default)]
pub struct Ledger {
    known: BTreeMap<Place, Document>,
    pending: Option<Write>,
}

/// What a write makes of documents; none is a removal.
pub struct Write {
    pub changes: BTreeMap<Place, Option<Document>>,
    /// Whether it happens to all of them or to none. A write of many documents
    /// without a transaction happens to each by itself.
    pub whole: bool,
}

impl Ledger {
    pub fn known(&self) -> &BTreeMap<Place, Document> {
        &self.known
    }

    /// Notes a write that is about to be sent.
    pub fn begin(&mut self, write: Write) {
        self.pending = Some(write);
    }

    /// Notes that the write was acknowledged.
    pub fn acknowledge(&mut self) {
        for (place, document) in self.pending.take().into_iter().flat_map(|write| write.changes) {
            set(&mut self.known, place, document);
        }
    }

    /// Compares with what the server has, and takes it as known.
    pub fn check(&mut self, found: BTreeMap<Place, Document>) {
        let pending = self.pending.take();
        let happened = pending.as_ref().map(|write| self.happened(write, &found));
        if let (Some(write), Some(happened)) = (&pending, &happened) {
            let every = happened.iter().all(|happened| *happened);
            let none = happened.iter().all(|happened| !happened);
            assert!(!write.whole || every || none, "a write happened by half: {happened:?}");
            for ((place, after), happened) in write.changes.iter().zip(happened) {
                if *happened {
                    set(&mut self.known, *place, after.clone());
                }
            }
        }
        for (place, document) in &self.known {
            let there = found.get(place);
            assert!(there == Some(document), "acknowledged: {document}\nfound: {there:?}");
        }
        for (place, document) in &found {
            assert!(self.known.contains_key(place), "{place:?} should be gone: {document}");
        }
    }

    /// Of which documents a write that was under way is there.
    fn happened(&self, write: &Write, found: &BTreeMap<Place, Document>) -> Vec<bool> {
        let of_one = |(place, after): (&Place, &Option<Document>)| {
            let (before, there) = (self.known.get(place), found.get(place));
            assert!(
                there == before || there == after.as_ref(),
                "{place:?} is neither what it was nor what it was to be\n\
                 before: {before:?}\nafter: {after:?}\nfound: {there:?}"
            );
            there == after.as_ref()
        };
        write.changes.iter().map(of_one).collect()
    }
}

fn set(documents: &mut BTreeMap<Place, Document>, place: Place, document: Option<Document>) {
    match document {
        Some(document) => documents.insert(place, document),
        None => documents.remove(&place),
    };
}
