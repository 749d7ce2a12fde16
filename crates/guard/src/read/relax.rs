//! Filters that see only heads, where the whole array is to be matched.

use crate::policy::Overflow;
use bson::RawDocumentBuf;
use error::Result;
use language::query::Filter;
use language::{Context, Needs};
use std::sync::Arc;
use value::DocumentWriter;

/// A filter that every document passes whose whole arrays match, to be matched
/// again once they are put together; `None` if the filter does not look at them.
pub fn relaxed(filter: &Filter, merged: &[Arc<Overflow>]) -> Result<Option<Filter>> {
    let mut needs = Needs::none();
    filter.needs(&mut needs);
    if !merged.iter().any(|rule| needs.contains(&rule.path)) {
        return Ok(None);
    }
    let mut relaxed = DocumentWriter::new();
    // What cannot be told from equalities is found by looking at every document.
    for (path, value) in filter.equalities().unwrap_or_default() {
        if !merged.iter().any(|rule| rule.path.overlaps(path)) {
            relaxed.begin_document(path.as_str());
            relaxed.append("$eq", value);
            relaxed.end();
        }
    }
    let relaxed: RawDocumentBuf = relaxed.finish();
    let context = Context { collator: filter.collator().cloned(), ..Context::new() };
    Filter::parse(&relaxed, &context).map(Some)
}
