//! The options of an index.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::Element;
use value::number::Number;

use super::{IndexKind, IndexSpec, Unknown, cannot, compound, key, show};
use crate::fields::{is_true, safe_i64, type_name};
use crate::request::empty_document;

/// What an index may say, beside what only text and geo indexes may.
const NAMES: &[&str] = &[
    "2dsphereIndexVersion",
    "_id",
    "background",
    "bits",
    "bucketSize",
    "coarsestIndexedLevel",
    "collation",
    "default_language",
    "dropDups",
    "expireAfterSeconds",
    "finestIndexedLevel",
    "hidden",
    "key",
    "language_override",
    "max",
    "min",
    "name",
    "ns",
    "originalSpec",
    "partialFilterExpression",
    "prepareUnique",
    "sparse",
    "storageEngine",
    "textIndexVersion",
    "unique",
    "v",
    "weights",
    "wildcardProjection",
];

const CLUSTERED_NAMES: &[&str] = &["clustered", "expireAfterSeconds", "key", "name", "unique", "v"];

pub(super) fn read(spec: &RawDocument, unknown: Unknown) -> Result<IndexSpec<'_>> {
    if unknown == Unknown::Refused {
        check_names(spec)?;
    }
    let mut read = IndexSpec {
        key: empty_document(),
        name: "",
        kind: IndexKind::Ordered,
        version: 2,
        unique: false,
        sparse: None,
        hidden: false,
        background: None,
        prepare_unique: false,
        clustered: false,
        partial_filter: None,
        expire_after_seconds: None,
        storage_engine: None,
        collation: None,
        wildcard_projection: None,
        spec,
        unknown,
    };
    let (mut has_key, mut has_name) = (false, false);
    for element in value::elements(spec) {
        match element.key {
            "key" => {
                read.key = object(&element)?;
                read.kind = key::check(read.key)?;
                has_key = true;
            }
            "name" => {
                read.name = string(&element)?;
                has_name = true;
            }
            name if is_known(spec, name) => take(&mut read, &element)?,
            _ => {}
        }
    }
    for (name, given) in [("key", has_key), ("name", has_name)] {
        if !given {
            return Err(Code::FailedToParse.error(format!(
                "The '{name}' field is a required property of an index specification"
            )));
        }
    }
    check_compound_wildcard(&read)?;
    if read.clustered && !read.unique {
        return Err(cannot("The 'unique' field is required when 'clustered' is specified"));
    }
    Ok(read)
}

/// Whether an index of this kind has such an option.
pub(super) fn is_known(spec: &RawDocument, option: &str) -> bool {
    names(spec).0.contains(&option)
}

/// The options of this kind of index, and the article of its name.
fn names(spec: &RawDocument) -> (&'static [&'static str], &'static str) {
    match value::element::get(spec, "clustered").is_some() {
        true => (CLUSTERED_NAMES, "a clustered"),
        false => (NAMES, "an"),
    }
}

fn check_names(spec: &RawDocument) -> Result<()> {
    let (allowed, article) = names(spec);
    match value::elements(spec).find(|element| !allowed.contains(&element.key)) {
        Some(other) => Err(Code::InvalidIndexSpecificationOption.error(format!(
            "The field '{}' is not valid for {article} index specification. Specification: {}",
            other.key,
            show(spec)
        ))),
        None => Ok(()),
    }
}

fn take<'a>(read: &mut IndexSpec<'a>, element: &Element<'a>) -> Result<()> {
    match element.key {
        "v" => read.version = version(element, read.spec)?,
        "unique" => read.unique = boolean(element)?,
        "sparse" => read.sparse = Some(boolean(element)?),
        "background" => read.background = Some(boolean(element)?),
        "prepareUnique" => read.prepare_unique = boolean(element)?,
        "dropDups" => {
            boolean(element)?;
        }
        "clustered" => {
            read.clustered = boolean(element)?;
            if !read.clustered {
                return Err(
                    Code::location(6492800).error("Value 'false' for field 'clustered' is invalid")
                );
            }
        }
        "hidden" => {
            read.hidden = element.value().as_bool().ok_or_else(|| must_be(element, "a bool"))?;
        }
        "collation" => {
            let collation = object(element)?;
            if collation.is_empty() {
                return Err(
                    Code::BadValue.error("The field 'collation' cannot be an empty object.")
                );
            }
            read.collation = Some(collation);
        }
        "partialFilterExpression" => read.partial_filter = Some(object(element)?),
        "storageEngine" => read.storage_engine = Some(object(element)?),
        "expireAfterSeconds" => read.expire_after_seconds = Some(expiry(element)?),
        "wildcardProjection" => read.wildcard_projection = Some(projection(read.spec, element)?),
        "weights" => {
            return Err(cannot(format!(
                "Invalid index specification {}; the field 'weights' can only be specified with \
                 text indexes",
                show(read.spec)
            )));
        }
        "default_language" | "language_override" => {
            string(element)?;
        }
        "originalSpec" => {
            object(element)?;
        }
        "2dsphereIndexVersion"
        | "bits"
        | "bucketSize"
        | "coarsestIndexedLevel"
        | "finestIndexedLevel"
        | "max"
        | "min"
        | "textIndexVersion"
            if safe_i64(element.value()).is_none() =>
        {
            return Err(must_be(element, "a number"));
        }
        _ => {}
    }
    Ok(())
}

fn version(element: &Element<'_>, spec: &RawDocument) -> Result<i32> {
    let Some(number) = Number::from_value(element.value()) else {
        return Err(must_be(element, "a number"));
    };
    match number.to_i32_exact() {
        Some(version @ (1 | 2)) => Ok(version),
        Some(version) => Err(cannot(format!(
            "Invalid index specification {}; cannot create an index with v={version}",
            show(spec)
        ))),
        None => {
            Err(Code::BadValue.error("Index version must be representable as a 32-bit integer"))
        }
    }
}

/// Seconds of a TTL index (67).
fn expiry(element: &Element<'_>) -> Result<i32> {
    let Some(number) = Number::from_value(element.value()) else {
        return Err(cannot(format!(
            "TTL index 'expireAfterSeconds' option must be numeric, but received a type of '{}'",
            type_name(element.kind)
        )));
    };
    if number.is_nan() {
        return Err(cannot("TTL index 'expireAfterSeconds' option must not be NaN"));
    }
    let seconds = safe_i64(element.value()).unwrap_or(0);
    match i32::try_from(seconds) {
        Ok(seconds) if seconds >= 0 => Ok(seconds),
        Ok(_) => Err(cannot("TTL index 'expireAfterSeconds' option cannot be less than 0")),
        Err(_) => Err(cannot(
            "TTL index 'expireAfterSeconds' must be within the range of a 32-bit integer",
        )),
    }
}

fn projection<'a>(spec: &'a RawDocument, element: &Element<'a>) -> Result<&'a RawDocument> {
    let pattern = value::element::get_value(spec, "key").and_then(RawBsonRef::as_document);
    let pattern = pattern.unwrap_or(empty_document());
    if key::plugin(pattern) != Some("wildcard") {
        return Err(Code::BadValue
            .error("The field 'wildcardProjection' is only allowed in 'wildcard' indexes"));
    }
    let Some(projection) = element.value().as_document() else {
        return Err(must_be(element, "a non-empty object"));
    };
    if value::element::get(pattern, "$**").is_none() {
        return Err(Code::FailedToParse
            .error("The field 'wildcardProjection' is only allowed when 'key' is {\"$**\": ±1}"));
    }
    if projection.is_empty() {
        return Err(
            Code::FailedToParse.error("The 'wildcardProjection' field can't be an empty object")
        );
    }
    if value::elements(pattern).nth(1).is_some() {
        compound::check(pattern, projection)?;
    }
    Ok(projection)
}

fn check_compound_wildcard(read: &IndexSpec<'_>) -> Result<()> {
    let all = value::element::get(read.key, "$**").is_some();
    let compound = value::elements(read.key).nth(1).is_some();
    if all && compound && read.wildcard_projection.is_none() {
        return Err(cannot(
            "Compound wildcard indexes on all fields must also specify 'wildcardProjection' option",
        ));
    }
    Ok(())
}

fn object<'a>(element: &Element<'a>) -> Result<&'a RawDocument> {
    element.value().as_document().ok_or_else(|| must_be(element, "an object"))
}

fn string<'a>(element: &Element<'a>) -> Result<&'a str> {
    element.value().as_str().ok_or_else(|| must_be(element, "a string"))
}

fn boolean(element: &Element<'_>) -> Result<bool> {
    let value = element.value();
    if element.kind == ElementType::Boolean || safe_i64(value).is_some() {
        return Ok(is_true(value));
    }
    Err(Code::TypeMismatch.error(format!(
        "The field '{}' has a value of type {}, which is not convertible to bool",
        element.key,
        type_name(element.kind)
    )))
}

fn must_be(element: &Element<'_>, what: &str) -> Error {
    Code::TypeMismatch.error(format!(
        "The field '{}' must be {what}, but got {}",
        element.key,
        type_name(element.kind)
    ))
}
