//! Tables of cases for the tests of expressions.

use super::Expression;
use crate::Context;
use bson::{Bson, Document, RawBson, RawDocumentBuf, doc};
use error::Result;

pub fn raw(value: Bson) -> RawBson {
    value.try_into().unwrap()
}

/// The value of an expression over a document; `None` is missing.
pub fn evaluate(expression: Bson, document: Document) -> Result<Option<Bson>> {
    let expression = raw(expression);
    let expression = Expression::parse(expression.as_raw_bson_ref(), &Context::new())?;
    let document = RawDocumentBuf::try_from(&document).unwrap();
    let value = expression.evaluate_owned(&document)?;
    Ok(value.map(|value| value.try_into().unwrap()))
}

/// A document with a field of most types, for cases to refer to.
pub fn sample() -> Document {
    doc! {
        "int": 7, "long": 7i64, "double": 7.5, "string": "seven", "true": true, "false": false,
        "null": null, "array": [1, 2, 3], "empty": [], "document": {"a": 1, "b": [{"c": 1}, {"c": 2}, 3]},
        "decimal": "7.25".parse::<bson::Decimal128>().unwrap(),
        "date": bson::DateTime::from_millis(1_704_164_645_678),
        "zero": 0, "negative": -3,
    }
}

/// Each expression over the sample gives its value; strings compare exactly, so
/// do types.
pub fn values(cases: Vec<(Bson, Bson)>) {
    for (expression, expected) in cases {
        let shown = expression.to_string();
        let value = evaluate(expression, sample()).unwrap_or_else(|e| panic!("{shown}: {e}"));
        match (&value, &expected) {
            (Some(Bson::Double(a)), Bson::Double(b)) => {
                assert!(a == b || (a.is_nan() && b.is_nan()), "{shown}: {a} is not {b}");
            }
            _ => assert_eq!(value.as_ref(), Some(&expected), "{shown}"),
        }
    }
}

/// Each expression over the sample fails with its code.
pub fn errors(cases: Vec<(Bson, i32)>) {
    for (expression, code) in cases {
        let shown = expression.to_string();
        match evaluate(expression, sample()) {
            Ok(value) => panic!("{shown} gave {value:?}, not an error"),
            Err(error) => assert_eq!(error.code().number(), code, "{shown}: {error}"),
        }
    }
}
