//! `min` and `max`: a range of whole keys of the hinted index.

use super::access::{Access, AccessOrder};
use super::finish;
use super::sort;
use crate::catalog::{Index, IndexKind};
use crate::plan::bounds::{Conjunct, Intervals, KeyRange};
use crate::plan::{IndexScan, Query, Residual, Scan, Stage};
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::sync::Arc;
use value::key::Key;

pub fn stage(
    query: &Query,
    conjuncts: &[Conjunct<'_>],
    hinted: Option<&Arc<Index>>,
) -> Result<Stage> {
    let Some(index) = hinted else {
        return Err(Code::location(51173)
            .error("When using min()/max() a hint of which index to use must be provided"));
    };
    let low = key(index, query.min.as_ref())?;
    let high = key(index, query.max.as_ref())?;
    if let (Some(low), Some(high)) = (&low, &high)
        && low >= high
    {
        return Err(Code::location(51175)
            .error("The value provided for min() must be less than the one for max()"));
    }
    let mut scan = IndexScan {
        index: Arc::clone(index),
        scan: Scan::Forward,
        bounds: index.fields.iter().map(|_| Intervals::all()).collect(),
        range: Some(KeyRange { low: low.unwrap_or_default(), high }),
        filter: None,
        multikey: index.multikey.bits(),
        wildcard: None,
    };
    // A range of keys hides some of a document's keys, so that with arrays the
    // first one met need not be the one that orders it.
    let mut order = AccessOrder::Unsorted;
    if scan.multikey == 0
        && let Some(direction) = sort::provided(&scan, query.sort.fields())
    {
        scan.scan = direction;
        order = AccessOrder::Sorted;
    }
    let filter = Residual::of(&query.filter, conjuncts);
    Ok(finish::access(query, Access { scan: Arc::new(scan), filter, order }))
}

/// The bytes of a bound, which must have exactly the index's fields.
fn key(index: &Index, bound: Option<&RawDocumentBuf>) -> Result<Option<Vec<u8>>> {
    let Some(bound) = bound else { return Ok(None) };
    let bound: &RawDocument = bound;
    let matches = value::elements(bound)
        .map(|element| element.key)
        .eq(index.fields.iter().map(|field| field.path.as_str()));
    let ordered = index
        .fields
        .iter()
        .all(|field| matches!(field.kind, IndexKind::Ascending | IndexKind::Descending));
    if !matches || !ordered {
        return Err(Code::location(51174)
            .error("The index chosen is not compatible with the fields of min() and max()"));
    }
    let mut key = Key::default();
    for (element, field) in value::elements(bound).zip(&index.fields) {
        key.push(element.value(), field.direction(), index.collator.as_ref());
    }
    Ok(Some(key.bytes))
}
