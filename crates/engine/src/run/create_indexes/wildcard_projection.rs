//! What a `wildcardProjection` may say: which fields to take, or which to leave out.

use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use language::Context;
use language::projection::Projection;
use value::element::elements;
use value::{DocumentWriter, number::Number};

pub fn check(projection: &RawDocument) -> Result<()> {
    check_plain(projection)?;
    // `_id` may stand beside fields of either kind.
    let mut others = DocumentWriter::new();
    elements(projection).filter(|field| field.key != "_id").for_each(|field| others.copy(field));
    let others = others.finish();
    if !others.is_empty() {
        let parsed = Projection::parse_stage(&others, &Context::new());
        parsed.map_err(|error| error.context("Failed to parse: wildcardProjection"))?;
    }
    Ok(())
}

/// Refuses computed fields.
fn check_plain(projection: &RawDocument) -> Result<()> {
    elements(projection).try_for_each(|field| match field.value() {
        RawBsonRef::Boolean(_) => Ok(()),
        RawBsonRef::Document(below) if !below.is_empty() && !field.key.starts_with('$') => {
            check_plain(below)
        }
        value if Number::from_value(value).is_some() && !field.key.starts_with('$') => Ok(()),
        _ => Err(Code::location(51271).error(
            "Bad projection specification, cannot use computed fields in a wildcardProjection",
        )),
    })
}
