//! The operators of filters, one file each, and their tables.

mod all;
mod always_false;
mod always_true;
mod and;
mod bits;
mod bits_all_clear;
mod bits_all_set;
mod bits_any_clear;
mod bits_any_set;
mod comment;
pub mod comparison;
mod elem_match;
mod eq;
mod exists;
mod expr;
mod gt;
mod gte;
mod r#in;
mod integer;
mod json_schema;
mod lt;
mod lte;
mod modulo;
mod ne;
mod nin;
mod nor;
mod not;
mod options;
mod or;
mod refused;
mod regex;
mod sample_rate;
mod size;
mod r#type;

pub use bits::{Bits, Test};
pub use expr::{Beyond, Expr, Side};
pub use r#in::In;
pub use modulo::Mod;
pub use regex::Regex;
pub use r#type::Types;

use super::parse::Scope;
use super::{Node, Predicate};
use bson::RawDocument;
use error::Result;
use value::Element;

/// An operator that stands below a field: `{a: {$gt: 5}}`.
pub struct FieldOperator {
    pub name: &'static str,
    pub help: &'static str,
    pub parse: fn(&Argument<'_>) -> Result<Predicate>,
}

/// What a field operator is given.
pub struct Argument<'a> {
    /// Name and value of the operator.
    pub element: Element<'a>,
    /// The field it stands below, for messages.
    pub field: &'a str,
    /// The operators it stands among.
    pub siblings: &'a RawDocument,
    pub scope: &'a Scope<'a>,
}

/// An operator that stands where a field would: `{$or: […]}`.
pub struct TopOperator {
    pub name: &'static str,
    pub help: &'static str,
    pub parse: fn(Element<'_>, &Scope<'_>) -> Result<Node>,
}

pub const FIELD_OPERATORS: &[FieldOperator] = &[
    all::ROW,
    bits_all_clear::ROW,
    bits_all_set::ROW,
    bits_any_clear::ROW,
    bits_any_set::ROW,
    elem_match::ROW,
    eq::ROW,
    exists::ROW,
    refused::GEO_INTERSECTS,
    refused::GEO_WITHIN,
    gt::ROW,
    gte::ROW,
    r#in::ROW,
    lt::ROW,
    lte::ROW,
    modulo::ROW,
    ne::ROW,
    refused::NEAR,
    refused::NEAR_SPHERE,
    nin::ROW,
    not::ROW,
    options::ROW,
    regex::ROW,
    size::ROW,
    r#type::ROW,
    refused::WITHIN,
];

pub const TOP_OPERATORS: &[TopOperator] = &[
    always_false::ROW,
    always_true::ROW,
    and::ROW,
    comment::ROW,
    expr::ROW,
    json_schema::ROW,
    nor::ROW,
    or::ROW,
    sample_rate::ROW,
    refused::TEXT,
    refused::WHERE,
];

/// The row of a field operator.
pub fn on_field(name: &str) -> Option<&'static FieldOperator> {
    let row = FIELD_OPERATORS.binary_search_by_key(&name, |operator| operator.name).ok()?;
    FIELD_OPERATORS.get(row)
}

/// Whether MongoDB counts a name among the operators on a field where it tells a
/// condition from a plain document; `$not` is none.
pub fn takes_path(name: &str) -> bool {
    name != "$not" && on_field(name).is_some()
}

/// The row of a top-level operator.
pub fn top_level(name: &str) -> Option<&'static TopOperator> {
    let row = TOP_OPERATORS.binary_search_by_key(&name, |operator| operator.name).ok()?;
    TOP_OPERATORS.get(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_so_that_they_are_found() {
        assert!(FIELD_OPERATORS.is_sorted_by_key(|operator| operator.name));
        assert!(TOP_OPERATORS.is_sorted_by_key(|operator| operator.name));
    }
}
