//! `currentOp`.

use bson::RawDocumentBuf;
use error::Result;
use value::DocumentWriter;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone)]
pub struct CurrentOp {
    /// What an operation must match: every other field of the command.
    pub filter: RawDocumentBuf,
}

impl CurrentOp {
    pub fn parse(request: &Request) -> Result<CurrentOp> {
        let mut filter = DocumentWriter::new();
        let mut fields = Fields::of_command(request, "currentOp")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                // Everything is everyone's own, is told whole, and idle connections are
                // not told of: docs/limits.md says so.
                "$all" | "$ownOps" | "$truncateOps" => {}
                _ => filter.copy(field.element()),
            }
        }
        Ok(CurrentOp { filter: filter.finish() })
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
        assert_eq!(view.filter, rawdoc! { "op": "query" });
    }
}
