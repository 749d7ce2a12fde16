//! `arrayFilters`: which elements `$[identifier]` stands for.

use crate::query::Filter;
use crate::{Context, interrupt};
use bson::{RawArray, RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use value::{Element, elements};

#[derive(Debug)]
pub struct ArrayFilter {
    pub identifier: Box<str>,
    /// Sees the element as the field named by the identifier.
    filter: Filter,
}

impl ArrayFilter {
    fn parse(spec: &RawDocument, context: &Context) -> Result<ArrayFilter> {
        let refused = |error: Error| error.context("Error parsing array filter");
        let identifier = identifier(spec).map_err(refused)?;
        let filter = Filter::parse_plain(spec, context).map_err(refused)?;
        let identifier = identifier.ok_or_else(|| {
            Code::FailedToParse
                .error("Cannot use an expression without a top-level field name in arrayFilters")
        })?;
        Ok(ArrayFilter { identifier: identifier.into(), filter })
    }

    pub fn matches(&self, element: Element<'_>) -> Result<bool> {
        matches_wrapped(&self.filter, &self.identifier, element)
    }
}

/// Matches one value as the only field of a document.
pub fn matches_wrapped(filter: &Filter, name: &str, element: Element<'_>) -> Result<bool> {
    let mut document = value::DocumentWriter::with_capacity(element.bytes.len() + name.len() + 8);
    document.copy_as(name, element);
    filter.matches(&document.finish())
}

/// Parses `arrayFilters`; each has one identifier, and no two the same.
pub fn parse(filters: Option<&RawArray>, context: &Context) -> Result<Vec<Arc<ArrayFilter>>> {
    let mut parsed: Vec<Arc<ArrayFilter>> = Vec::new();
    let mut identifiers = FxHashSet::default();
    for filter in filters.into_iter().flat_map(value::element::array_elements) {
        let RawBsonRef::Document(spec) = filter.value() else {
            return Err(Code::TypeMismatch.error(format!(
                "BSON field 'update.updates.arrayFilters.{}' is the wrong type '{}', expected \
                 type 'object'",
                filter.key,
                crate::describe::type_name(filter.kind)
            )));
        };
        interrupt::check()?;
        let filter = ArrayFilter::parse(spec, context)?;
        if !identifiers.insert(filter.identifier.clone()) {
            return Err(Code::FailedToParse.error(format!(
                "Found multiple array filters with the same top-level field name {}",
                filter.identifier
            )));
        }
        parsed.push(Arc::new(filter));
    }
    Ok(parsed)
}

/// The one top-level name that a filter speaks of, through `$and`, `$or`, `$nor`.
fn identifier(spec: &RawDocument) -> Result<Option<String>> {
    let mut found: Option<String> = None;
    for field in elements(spec) {
        let name = match field.key {
            "$and" | "$or" | "$nor" => {
                let mut inner = None;
                for clause in field.children() {
                    if let RawBsonRef::Document(clause) = clause.value() {
                        inner = agree(inner, identifier(clause)?)?;
                    }
                }
                inner
            }
            key if key.starts_with('$') => None,
            key => Some(checked(key.split('.').next().unwrap_or_default())?),
        };
        found = agree(found, name)?;
    }
    Ok(found)
}

fn agree(a: Option<String>, b: Option<String>) -> Result<Option<String>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(Code::FailedToParse
            .error(format!("Expected a single top-level field name, found '{a}' and '{b}'"))),
        (a, b) => Ok(a.or(b)),
    }
}

fn checked(name: &str) -> Result<String> {
    let valid = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if valid {
        return Ok(name.to_owned());
    }
    Err(Code::BadValue.error(format!(
        "The top-level field name must be an alphanumeric string beginning with a lowercase \
         letter, found '{name}'"
    )))
}
