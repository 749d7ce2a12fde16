//! `update`.

use bson::RawDocument;
use error::{Code, Result};

use super::{Modification, WriteOptions};
use crate::fields::{self, Fields, Hint, Scope};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Update<'a> {
    pub namespace: Namespace,
    pub statements: Vec<UpdateStatement<'a>>,
    pub variables: Option<&'a RawDocument>,
    pub options: WriteOptions,
}

#[derive(Debug, Clone)]
pub struct UpdateStatement<'a> {
    pub query: &'a RawDocument,
    pub modification: Modification<'a>,
    /// `c`: constants for a pipeline.
    pub constants: Option<&'a RawDocument>,
    pub sort: Option<&'a RawDocument>,
    pub array_filters: Option<Vec<&'a RawDocument>>,
    pub hint: Option<Hint<'a>>,
    pub collation: Option<&'a RawDocument>,
    pub multi: bool,
    pub upsert: bool,
    /// On an upsert, insert `c.new` instead of what the update makes.
    pub upsert_supplied: bool,
}

impl<'a> Update<'a> {
    pub fn parse(request: &'a Request) -> Result<Update<'a>> {
        let namespace = fields::namespace(request)?;
        let mut options = WriteOptions::of(request, "update")?;
        let mut variables = None;
        let mut fields = Fields::with_sequences(request, "update", &["updates"])?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "updates" => {}
                "let" => variables = field.object()?,
                "runtimeConstants" => {
                    field.object()?;
                }
                _ => options.take("update", &field)?,
            }
        }
        let documents = fields.documents(request, "updates")?;
        let scope = Scope::within("updates", fields.scope());
        let statements = documents
            .into_iter()
            .map(|document| UpdateStatement::parse(document, scope))
            .collect::<Result<Vec<_>>>()?;
        options.check(statements.len())?;
        Ok(Update { namespace, statements, variables, options })
    }
}

impl<'a> UpdateStatement<'a> {
    fn parse(document: &'a RawDocument, scope: Scope<'_>) -> Result<UpdateStatement<'a>> {
        let (mut query, mut modification) = (None, None);
        let mut statement = UpdateStatement {
            query: empty_document(),
            modification: Modification::Document(empty_document()),
            constants: None,
            sort: None,
            array_filters: None,
            hint: None,
            collation: None,
            multi: false,
            upsert: false,
            upsert_supplied: false,
        };
        let mut fields = Fields::of_document(document, scope);
        while let Some(field) = fields.next()? {
            match field.name() {
                "q" => query = field.object()?,
                "u" => modification = Some(Modification::parse(&field)?),
                "c" => statement.constants = field.object()?,
                "sort" => statement.sort = field.object()?,
                "arrayFilters" => statement.array_filters = field.objects()?,
                "hint" => statement.hint = field.hint()?,
                "collation" => {
                    statement.collation = field.object()?.filter(|it| !it.is_empty());
                }
                "multi" => statement.multi = field.boolean()?.unwrap_or(false),
                "upsert" => statement.upsert = field.boolean()?.unwrap_or(false),
                "upsertSupplied" => statement.upsert_supplied = field.boolean_not_null()?,
                "sampleId" => {
                    field.uuid()?;
                }
                "includeQueryStatsMetricsForOpIndex" => {
                    field.int()?;
                }
                "$_allowShardKeyUpdatesWithoutFullShardKeyInQuery" => {
                    field.boolean_not_null()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        statement.query = fields.required(query, "q")?;
        statement.modification = fields.required(modification, "u")?;
        Ok(statement)
    }

    /// What fails this statement alone, as a write error.
    pub fn check(&self) -> Result<()> {
        if self.multi && self.sort.is_some_and(|sort| !sort.is_empty()) {
            return Err(Code::FailedToParse.error("Cannot specify sort with multi=true"));
        }
        if self.array_filters.is_some() && self.modification.is_pipeline() {
            return Err(Code::FailedToParse
                .error("arrayFilters may not be specified for pipeline-syle updates"));
        }
        if self.constants.is_some() && !self.modification.is_pipeline() {
            return Err(Code::location(51198)
                .error("Constant values may only be specified for pipeline updates"));
        }
        if self.upsert_supplied && !(self.upsert && self.modification.is_pipeline()) {
            return Err(Code::FailedToParse.error(
                "the 'upsertSupplied' parameter is only valid for upserts with a pipeline",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{Document, doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Update::parse(request).map(|_| ())
    }

    #[test]
    fn statements_are_read() {
        let body = rawdoc! {
            "update": "c", "$db": "d", "let": { "x": 1 },
            "updates": [
                { "q": { "a": 1 }, "u": { "$set": { "b": 1 } }, "multi": true, "upsert": true },
                { "q": {}, "u": [{ "$set": { "b": 1 } }], "c": {}, "hint": { "a": 1 } },
                { "q": {}, "u": { "b": 1 }, "sort": { "a": 1 } },
            ],
        };
        let request = Request::from(body);
        let update = Update::parse(&request).unwrap();
        let [operators, pipeline, replacement] = update.statements.as_slice() else { panic!() };
        assert!(operators.multi && operators.upsert && !operators.modification.is_replacement());
        assert!(pipeline.modification.is_pipeline() && pipeline.hint.is_some());
        assert!(replacement.modification.is_replacement() && replacement.sort.is_some());
        assert!(update.statements.iter().all(|statement| statement.check().is_ok()));
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "update": "c", "$db": "d", "updates": [{ "q": {}, "u": {} }] };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("update", "string symbol", 73),
                ("updates", "array null", 14),
                ("let", "object null", 14),
                ("ordered", "bool null", 14),
                ("bypassDocumentValidation", "bool number null", 14),
            ],
        );
        check_nested(
            parse,
            &base,
            "updates",
            &[
                ("q", "object null", 14),
                ("u", "object array", 9),
                ("c", "object null", 14),
                ("sort", "object null", 14),
                ("arrayFilters", "array null", 14),
                ("hint", "string object", 9),
                ("collation", "object null", 14),
                ("multi", "bool null", 14),
                ("upsert", "bool null", 14),
                ("upsertSupplied", "bool", 14),
            ],
        );
    }

    #[test]
    fn statements_are_strict() {
        let body = |statement: Document| doc! { "update": "c", "$db": "d", "updates": [statement] };
        assert_eq!(
            message(parse, &body(doc! { "u": {} })),
            "BSON field 'update.updates.q' is missing but a required field"
        );
        assert_eq!(code(parse, &body(doc! { "q": {} })), 40414);
        assert_eq!(
            message(parse, &body(doc! { "q": {}, "u": {}, "x": 1 })),
            "BSON field 'update.updates.x' is an unknown field."
        );
        assert_eq!(code(parse, &body(doc! { "q": {}, "u": [1] })), 14);
        assert_eq!(code(parse, &doc! { "update": "c", "$db": "d", "updates": [] }), 16);
    }

    #[test]
    fn some_mistakes_fail_one_statement() {
        let check = |statement: Document| {
            let body = request(&doc! { "update": "c", "$db": "d", "updates": [statement] });
            let update = Update::parse(&body).unwrap();
            update.statements[0].check().map_or_else(|error| error.code().number(), |()| 0)
        };
        assert_eq!(check(doc! { "q": {}, "u": {}, "sort": { "a": 1 }, "multi": true }), 9);
        assert_eq!(check(doc! { "q": {}, "u": [], "arrayFilters": [] }), 9);
        assert_eq!(check(doc! { "q": {}, "u": {}, "c": {} }), 51198);
    }
}
