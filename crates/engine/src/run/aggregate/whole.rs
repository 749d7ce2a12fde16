//! Arrays that are whole in the documents that a pipeline takes in, and that would make those it
//! gives out too large for a reply: one such document must not break a listing.

use crate::plan::Query;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use guard::patterns::place;
use guard::policy::Overflow;
use guard::read::{can_fit, fit};
use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use value::Element;
use write::limits::DOCUMENT_BYTES_MAX;

/// The arrays that have been met, by their bytes and a hash of them: stages may do anything with
/// a document, and an array that is still the same is known by that.
#[derive(Clone)]
pub struct WholeArrays {
    rules: Arc<[Arc<Overflow>]>,
    hasher: RandomState,
    met: Arc<Mutex<FxHashSet<(usize, u64)>>>,
}

impl WholeArrays {
    /// Those of a query's documents; `None` if no array is shown in part.
    pub fn of(query: &Query) -> Option<WholeArrays> {
        let arrays = query.paged.iter().flat_map(|paged| &paged.arrays);
        let rules = arrays.map(|array| &array.rule).filter(|rule| can_fit(rule));
        let rules: Arc<[Arc<Overflow>]> = rules.cloned().collect();
        let (hasher, met) = (RandomState::new(), Arc::default());
        (!rules.is_empty()).then_some(WholeArrays { rules, hasher, met })
    }

    /// Takes note of a document that a pipeline takes in.
    pub fn note(&self, document: &RawDocument) {
        if document.as_bytes().len() <= DOCUMENT_BYTES_MAX {
            return;
        }
        let arrays = self.rules.iter().filter_map(|rule| place::find(document, &rule.path));
        self.met.lock().extend(arrays.map(|array| self.mark(array)));
    }

    /// A document that it gives out, with as much of these arrays as heads hold if it is too
    /// large.
    pub fn fit(&self, mut document: RawDocumentBuf) -> Result<RawDocumentBuf> {
        if document.as_bytes().len() <= DOCUMENT_BYTES_MAX {
            return Ok(document);
        }
        for rule in self.rules.iter() {
            let is_whole = |array: Element<'_>| self.met.lock().contains(&self.mark(array));
            document = fit(rule, &document, is_whole)?.unwrap_or(document);
        }
        Ok(document)
    }

    fn mark(&self, array: Element<'_>) -> (usize, u64) {
        (array.bytes.len(), self.hasher.hash_one(array.bytes))
    }
}
