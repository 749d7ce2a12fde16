//! `$count`: one document with the number of documents, none for none.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use bson::RawBsonRef;
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::DocumentWriter;

#[derive(Debug)]
struct Count {
    field: Box<str>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let wrong = |code, message: &str| Err(Code::location(code).error(message));
    let RawBsonRef::String(field) = stage.value else {
        return wrong(40156, "the count field must be a non-empty string");
    };
    if field.is_empty() {
        return wrong(40157, "the count field must be a non-empty string");
    }
    if field.starts_with('$') {
        return wrong(40158, "the count field cannot be a $-prefixed path");
    }
    if field.contains('\0') {
        return wrong(40159, "the count field cannot contain a null byte");
    }
    if field.contains('.') {
        return wrong(40160, "the count field cannot contain '.'");
    }
    if field == "_id" {
        return wrong(9039800, "the count field cannot be '_id'");
    }
    one(Count { field: field.into() })
}

impl Stage for Count {
    fn name(&self) -> &'static str {
        "$count"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        let count = move || {
            let mut count = 0i64;
            for document in input {
                document?;
                count += 1;
            }
            let mut out = DocumentWriter::new();
            out.append(&self.field, coerce::int_or_long(count).as_raw_bson_ref());
            Ok((count > 0).then(|| out.finish()))
        };
        Ok(Box::new(std::iter::once_with(count).filter_map(Result::transpose)))
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}
