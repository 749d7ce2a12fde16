//! `delete`.

use bson::RawDocument;
use error::{Code, Result};

use super::WriteOptions;
use crate::fields::{self, Field, Fields, Hint, Scope, safe_f64};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Delete<'a> {
    pub namespace: Namespace,
    pub statements: Vec<DeleteStatement<'a>>,
    pub variables: Option<&'a RawDocument>,
    pub options: WriteOptions,
}

#[derive(Debug, Clone)]
pub struct DeleteStatement<'a> {
    pub query: &'a RawDocument,
    /// Whether to delete all that match (`limit: 0`), or one.
    pub multi: bool,
    pub hint: Option<Hint<'a>>,
    pub collation: Option<&'a RawDocument>,
}

impl<'a> Delete<'a> {
    pub fn parse(request: &'a Request) -> Result<Delete<'a>> {
        let namespace = fields::namespace(request)?;
        let mut options = WriteOptions::of(request, "delete")?;
        let mut variables = None;
        let mut fields = Fields::with_sequences(request, "delete", &["deletes"])?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "deletes" => {}
                "let" => variables = field.object()?,
                "runtimeConstants" => {
                    field.object()?;
                }
                _ => options.take("delete", &field)?,
            }
        }
        let documents = fields.documents(request, "deletes")?;
        let scope = Scope::within("deletes", fields.scope());
        let statements = documents
            .into_iter()
            .map(|document| DeleteStatement::parse(document, scope))
            .collect::<Result<Vec<_>>>()?;
        options.check(statements.len())?;
        Ok(Delete { namespace, statements, variables, options })
    }
}

impl<'a> DeleteStatement<'a> {
    fn parse(document: &'a RawDocument, scope: Scope<'_>) -> Result<DeleteStatement<'a>> {
        let (mut query, mut multi, mut hint, mut collation) = (None, None, None, None);
        let mut fields = Fields::of_document(document, scope);
        while let Some(field) = fields.next()? {
            match field.name() {
                "q" => query = field.object()?,
                "limit" => multi = Some(is_multi(&field)?),
                "hint" => hint = field.hint()?,
                "collation" => collation = field.object()?.filter(|it| !it.is_empty()),
                "sampleId" => {
                    field.uuid()?;
                }
                "includeQueryStatsMetricsForOpIndex" => {
                    field.int()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        let query = fields.required(query, "q")?;
        let multi = fields.required(multi, "limit")?;
        Ok(DeleteStatement { query, multi, hint, collation })
    }
}

/// 0 is all and 1 is one. What is no number reads as 0, as in MongoDB.
fn is_multi(field: &Field<'_, '_>) -> Result<bool> {
    let limit = safe_f64(field.value()).unwrap_or(0.0);
    if limit == 0.0 || limit == 1.0 {
        return Ok(limit == 0.0);
    }
    Err(Code::FailedToParse
        .error(format!("The limit field in delete objects must be 0 or 1. Got {limit}")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{Document, doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Delete::parse(request).map(|_| ())
    }

    #[test]
    fn statements_are_read() {
        let body = rawdoc! {
            "delete": "c", "$db": "d",
            "deletes": [{ "q": { "a": 1 }, "limit": 1.0, "hint": "a_1" }, { "q": {}, "limit": 0_i64 }],
        };
        let request = Request::from(body);
        let delete = Delete::parse(&request).unwrap();
        assert!(!delete.statements[0].multi && delete.statements[0].hint.is_some());
        assert!(delete.statements[1].multi);
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "delete": "c", "$db": "d", "deletes": [{ "q": {}, "limit": 0 }] };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("delete", "string symbol", 73),
                ("deletes", "array null", 14),
                ("let", "object null", 14),
                ("ordered", "bool null", 14),
            ],
        );
        check_nested(
            parse,
            &base,
            "deletes",
            &[
                ("q", "object null", 14),
                ("limit", "any", 9),
                ("hint", "string object", 9),
                ("collation", "object null", 14),
            ],
        );
        let body = |statement: Document| doc! { "delete": "c", "$db": "d", "deletes": [statement] };
        assert_eq!(code(parse, &body(doc! { "q": {}, "limit": 2 })), 9);
        assert_eq!(code(parse, &body(doc! { "q": {}, "limit": 0.5 })), 9);
        assert_eq!(code(parse, &body(doc! { "q": {} })), 40414);
        assert_eq!(code(parse, &body(doc! { "limit": 1 })), 40414);
        assert_eq!(code(parse, &body(doc! { "q": {}, "limit": 1, "x": 1 })), 40415);
    }
}
