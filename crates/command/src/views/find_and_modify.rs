//! `findAndModify`.

use bson::RawDocument;
use error::{Code, Result};

use super::{Modification, write_options};
use crate::fields::{self, Fields, Hint};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct FindAndModify<'a> {
    pub namespace: Namespace,
    pub query: &'a RawDocument,
    /// The projection of what is returned.
    pub fields: Option<&'a RawDocument>,
    pub sort: Option<&'a RawDocument>,
    pub hint: Option<Hint<'a>>,
    pub collation: Option<&'a RawDocument>,
    pub array_filters: Option<Vec<&'a RawDocument>>,
    /// `None` removes the document.
    pub update: Option<Modification<'a>>,
    pub upsert: bool,
    /// Whether to return the document as it is afterwards.
    pub new: bool,
    pub bypass_validation: bool,
    pub keep_empty_timestamps: bool,
    pub variables: Option<&'a RawDocument>,
    pub statement_id: Option<i32>,
}

impl<'a> FindAndModify<'a> {
    pub fn parse(request: &'a Request) -> Result<FindAndModify<'a>> {
        let mut view = FindAndModify::new(fields::namespace(request)?);
        view.statement_id = write_options::statement_id(request, "findAndModify")?;
        let mut remove = false;
        let mut fields = Fields::of_command(request, "findAndModify")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "query" => view.query = field.object()?.unwrap_or(empty_document()),
                "fields" => view.fields = field.object()?,
                "sort" => view.sort = field.object()?,
                "hint" => view.hint = field.hint()?,
                "collation" => view.collation = field.object()?.filter(|it| !it.is_empty()),
                "arrayFilters" => view.array_filters = field.objects()?,
                "remove" => remove = field.safe_bool()?.unwrap_or(false),
                "update" => view.update = Some(Modification::parse(&field)?),
                "upsert" => view.upsert = field.safe_bool()?.unwrap_or(false),
                "new" => view.new = field.safe_bool()?.unwrap_or(false),
                "bypassDocumentValidation" => {
                    view.bypass_validation = field.safe_bool()?.unwrap_or(false);
                }
                "bypassEmptyTsReplacement" => {
                    view.keep_empty_timestamps = field.boolean_not_null()?;
                }
                "let" => view.variables = field.object()?,
                "batchSize" => {
                    field.int()?;
                }
                "singleBatch" => {
                    field.boolean()?;
                }
                "runtimeConstants" => {
                    field.object()?;
                }
                "sampleId" => {
                    field.uuid()?;
                }
                "encryptionInformation"
                | "isTimeseriesNamespace"
                | "$_originalCollation"
                | "$_originalQuery" => {
                    return Err(super::unsupported("findAndModify", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        view.check(remove)?;
        Ok(view)
    }

    fn new(namespace: Namespace) -> FindAndModify<'a> {
        FindAndModify {
            namespace,
            query: empty_document(),
            fields: None,
            sort: None,
            hint: None,
            collation: None,
            array_filters: None,
            update: None,
            upsert: false,
            new: false,
            bypass_validation: false,
            keep_empty_timestamps: false,
            variables: None,
            statement_id: None,
        }
    }

    fn check(&self, remove: bool) -> Result<()> {
        let fail = |message: &str| Err(Code::FailedToParse.error(message));
        let Some(update) = &self.update else {
            if !remove {
                return fail("Either an update or remove=true must be specified");
            }
            if self.upsert {
                return fail("Cannot specify both upsert=true and remove=true ");
            }
            if self.new {
                return fail(
                    "Cannot specify both new=true and remove=true; 'remove' always returns the \
                     deleted document",
                );
            }
            if self.array_filters.is_some() {
                return fail("Cannot specify arrayFilters and remove=true");
            }
            return Ok(());
        };
        if remove {
            return fail("Cannot specify both an update and remove=true");
        }
        if self.array_filters.is_some() && update.is_pipeline() {
            return fail("Cannot specify arrayFilters and a pipeline update");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        FindAndModify::parse(request).map(|_| ())
    }

    #[test]
    fn both_spellings_are_read() {
        let body = rawdoc! {
            "findandmodify": "c", "$db": "d", "query": { "a": 1 }, "update": { "$inc": { "n": 1 } },
            "new": 1, "upsert": true, "fields": { "n": 1 }, "stmtId": 3,
        };
        let request = Request::from(body);
        let view = FindAndModify::parse(&request).unwrap();
        assert!(view.new && view.upsert && view.fields.is_some());
        assert_eq!(view.statement_id, Some(3));
        let body = rawdoc! { "findAndModify": "c", "$db": "d", "remove": true };
        assert_eq!(FindAndModify::parse(&Request::from(body)).unwrap().update, None);
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "findAndModify": "c", "$db": "d", "update": {} };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("findAndModify", "string symbol", 73),
                ("query", "object null", 14),
                ("fields", "object null", 14),
                ("sort", "object null", 14),
                ("collation", "object null", 14),
                ("arrayFilters", "array null", 14),
                ("remove", "bool number null", 14),
                ("update", "object array", 9),
                ("upsert", "bool number null", 14),
                ("new", "bool number null", 14),
                ("bypassDocumentValidation", "bool number null", 14),
                ("let", "object null", 14),
                ("hint", "string object", 9),
            ],
        );
    }

    #[test]
    fn update_and_remove_exclude_each_other() {
        check_codes(
            parse,
            &doc! { "findAndModify": "c", "$db": "d" },
            &[
                (doc! {}, 9),
                (doc! { "remove": false }, 9),
                (doc! { "remove": true, "update": {} }, 9),
                (doc! { "remove": true, "upsert": true }, 9),
                (doc! { "remove": true, "new": true }, 9),
                (doc! { "remove": true, "arrayFilters": [] }, 9),
                (doc! { "update": [], "arrayFilters": [] }, 9),
                (doc! { "update": [] }, 0),
                (doc! { "remove": 1 }, 0),
            ],
        );
    }
}
