//! Which of the indexes that are asked for a collection has.

use super::Collection;
use crate::storage::IndexId;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use value::Element;
use value::element::get;

/// The most indexes a collection may have.
const INDEXES_MAX: usize = 64;

/// What `createIndexes` did.
#[derive(Debug)]
pub struct IndexesCreated {
    pub before: usize,
    pub after: usize,
    pub created_collection: bool,
    /// The indexes that were not there.
    pub made: Vec<IndexId>,
}

impl IndexesCreated {
    /// Of a collection as it was without those that were made.
    pub fn of(collection: &Collection, made: Vec<IndexId>) -> IndexesCreated {
        let before = collection.indexes.len();
        IndexesCreated { before, after: before + made.len(), created_collection: false, made }
    }
}

/// How indexes that are asked for stand.
pub enum IndexesFound<'a> {
    /// All are there.
    All,
    /// Someone is building these.
    Building(Vec<IndexId>),
    /// These are not there; none of the others is being built.
    Missing(Vec<&'a RawDocumentBuf>),
}

/// Refuses more indexes than a collection may have.
fn check_room(collection: &Collection, specs: &[&RawDocumentBuf]) -> Result<()> {
    if collection.indexes.len() + specs.len() <= INDEXES_MAX {
        return Ok(());
    }
    Err(Code::CannotCreateIndex.error(format!(
        "add index fails, too many indexes for {} key:{}; the limit is {INDEXES_MAX}",
        collection.namespace,
        specs.first().map(|spec| value::text::document(spec)).unwrap_or_default()
    )))
}

/// How the indexes of these specifications stand; an error where another is in the way, or
/// where there would be too many.
pub fn find_indexes<'a>(
    collection: &Collection,
    specs: &'a [RawDocumentBuf],
) -> Result<IndexesFound<'a>> {
    let mut missing: Vec<&RawDocumentBuf> = Vec::new();
    let mut building = Vec::new();
    for spec in specs {
        let mut is_there = false;
        for index in &collection.indexes {
            let answers = is_same(spec, &index.spec)?;
            is_there |= answers;
            building.extend((answers && !index.ready).then_some(index.id));
        }
        for other in &missing {
            is_there |= is_same(spec, other)?;
        }
        if !is_there {
            missing.push(spec);
            // Before the next is compared with all of these.
            check_room(collection, &missing)?;
        }
    }
    Ok(match (building.is_empty(), missing.is_empty()) {
        (false, _) => IndexesFound::Building(building),
        (true, false) => IndexesFound::Missing(missing),
        (true, true) => IndexesFound::All,
    })
}

/// What tells an index from another: one collection may have both where they differ here.
const SIGNATURE: [&str; 6] =
    ["key", "partialFilterExpression", "collation", "unique", "sparse", "wildcardProjection"];

/// What two indexes of one signature may differ in, but not at the same time.
const OPTIONS: [&str; 1] = ["expireAfterSeconds"];

/// Whether two specifications are one index. An index of the same name or keys
/// that is not the same is an error.
fn is_same(spec: &RawDocument, other: &RawDocument) -> Result<bool> {
    let same = |key| equal(get(spec, key), get(other, key));
    let same_name = same("name");
    let same_signature =
        SIGNATURE.into_iter().all(|key| equal(truth(spec, key), truth(other, key)));
    let same_options = OPTIONS.into_iter().all(same);
    match (same_name, same_signature, same_options) {
        (true, true, true) => Ok(true),
        (true, true, false) => Err(conflict(
            Code::IndexOptionsConflict,
            "An equivalent index already exists with the same name but different options.",
            spec,
            other,
        )),
        (false, true, false) => Err(conflict(
            Code::IndexOptionsConflict,
            "An equivalent index already exists with a different name and options.",
            spec,
            other,
        )),
        (true, false, _) => Err(conflict(
            Code::IndexKeySpecsConflict,
            "An existing index has the same name as the requested index. When index names are \
             not specified, they are auto generated and can cause conflicts. Please refer to our \
             documentation.",
            spec,
            other,
        )),
        (false, true, true) => Err(Code::IndexOptionsConflict.error(format!(
            "Index already exists with a different name: {}",
            get(other, "name").and_then(|name| name.value().as_str()).unwrap_or_default()
        ))),
        (false, false, _) => Ok(false),
    }
}

/// Whether two options are the same by value: 1 and 1.0 are.
fn equal(one: Option<Element<'_>>, other: Option<Element<'_>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => value::order::compare(one.value(), other.value()).is_eq(),
        (None, None) => true,
        _ => false,
    }
}

/// An option; false is the same as nothing.
fn truth<'a>(spec: &'a RawDocument, key: &str) -> Option<Element<'a>> {
    get(spec, key).filter(|option| option.value() != RawBsonRef::Boolean(false))
}

fn conflict(code: Code, why: &str, spec: &RawDocument, other: &RawDocument) -> Error {
    code.error(format!(
        "{why} Requested index: {}, existing index: {}",
        value::text::document(spec),
        value::text::document(other)
    ))
}
