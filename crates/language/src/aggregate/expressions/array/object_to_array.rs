//! `$objectToArray`: the fields of a document as `{k, v}`.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::interrupt;
use bson::RawBsonRef;
use error::Code;
use value::element::elements;
use value::{ArrayWriter, DocumentWriter};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let document = match arguments.get(0) {
        value if coerce::is_nullish(value) => return null(),
        Some(RawBsonRef::Document(document)) => document,
        other => {
            return Err(Code::location(40390).error(format!(
                "$objectToArray requires a document input, found: {}",
                coerce::type_name(other)
            )));
        }
    };
    let mut written = Held::default();
    let mut out = ArrayWriter::new();
    for element in elements(document) {
        let mut pair = DocumentWriter::new();
        pair.append("k", RawBsonRef::String(element.key));
        pair.copy_as("v", element);
        out.push(RawBsonRef::Document(&pair.finish()));
        written.write_array(&out)?;
        interrupt::check()?;
    }
    own(out.finish())
}
