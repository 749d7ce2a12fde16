//! `currentOp`.

use bson::RawDocumentBuf;
use error::Result;
use value::DocumentWriter;

use crate::Request;
use crate::fields::{Fields, is_true};

#[derive(Debug, Clone)]
pub struct CurrentOp {
    /// Idle connections too.
    pub all: bool,
    pub own_only: bool,
    pub truncate: bool,
    /// What an operation must match: every other field of the command.
    pub filter: RawDocumentBuf,
}

impl CurrentOp {
    pub fn parse(request: &Request) -> Result<CurrentOp> {
        let (mut all, mut own_only, mut truncate) = (false, false, false);
        let mut filter = DocumentWriter::new();
        let mut fields = Fields::of_command(request, "currentOp")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "$all" => all = is_true(field.value()),
                "$ownOps" => own_only = is_true(field.value()),
                "$truncateOps" => truncate = is_true(field.value()),
                _ => filter.copy(field.element()),
            }
        }
        Ok(CurrentOp { all, own_only, truncate, filter: filter.finish() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn other_fields_are_a_filter() {
        let body = rawdoc! { "currentOp": 1, "$db": "admin", "$all": true, "op": "query" };
        let view = CurrentOp::parse(&Request::from(body)).unwrap();
        assert!(view.all && !view.own_only);
        assert_eq!(view.filter, rawdoc! { "op": "query" });
    }
}
