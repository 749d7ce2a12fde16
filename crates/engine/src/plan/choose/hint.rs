//! The index a query is told to use.

use crate::catalog::{Collection, Index};
use crate::plan::{Hint, Query};
use bson::RawBsonRef;
use error::{Code, Error, Result};
use std::sync::Arc;

/// The hinted index; an error if there is none such that may be used.
pub fn index<'c>(collection: &'c Collection, query: &Query) -> Result<Option<&'c Arc<Index>>> {
    let usable = |index: &Index| index.ready && (!index.hidden || query.hint_hidden);
    let found = match &query.hint {
        None | Some(Hint::Natural(_)) => return Ok(None),
        Some(Hint::Name(name)) => {
            let named = |index: &Index| collection.index_name(index) == name;
            collection.indexes.iter().find(|index| usable(index) && named(index))
        }
        Some(Hint::Keys(keys)) => collection.indexes.iter().find(|index| {
            let pattern = value::element::get(&index.spec, "key").map(|element| element.value());
            let wanted = RawBsonRef::Document(keys);
            usable(index) && pattern.is_some_and(|pattern| value::compare(pattern, wanted).is_eq())
        }),
    };
    found.map(Some).ok_or_else(|| {
        Code::BadValue.error(
            "error processing query: planner returned error :: caused by :: \
             hint provided does not correspond to an existing index",
        )
    })
}

/// The hinted index exists and cannot answer the query.
pub fn unusable() -> Error {
    Code::NoQueryExecutionPlans.error(
        "error processing query: planner returned error :: caused by :: \
         No indexed plans available, and running with 'notablescan' or a hint",
    )
}
