//! `aggregate`.

use bson::RawDocument;
use error::{Code, Result};

use crate::fields::{self, Field, Fields, Hint, Scope};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Aggregate<'a> {
    /// Collectionless for `{aggregate: 1}`.
    pub namespace: Namespace,
    pub pipeline: Vec<&'a RawDocument>,
    /// `explain: true` as an argument, the old way to explain.
    pub explain: bool,
    pub allow_disk_use: Option<bool>,
    pub batch_size: Option<i64>,
    pub bypass_validation: bool,
    pub collation: Option<&'a RawDocument>,
    pub hint: Option<Hint<'a>>,
    pub variables: Option<&'a RawDocument>,
    pub collection_uuid: Option<[u8; 16]>,
}

impl<'a> Aggregate<'a> {
    pub fn parse(request: &'a Request) -> Result<Aggregate<'a>> {
        let aggregate = Aggregate::parse_either(request)?;
        check_cursor(request)?;
        match aggregate.explain {
            true => without_write_concern(request, aggregate),
            false => Ok(aggregate),
        }
    }

    /// As `parse` for the command inside `explain`, which is explained already.
    pub fn parse_explained(request: &'a Request) -> Result<Aggregate<'a>> {
        let aggregate = Aggregate::parse_either(request)?;
        if value::element::get(request.body(), "explain").is_some() {
            return Err(Code::FailedToParse.error(
                "The 'explain' option is illegal when a explain verbosity is also provided",
            ));
        }
        check_cursor(request)?;
        without_write_concern(request, aggregate)
    }

    fn parse_either(request: &'a Request) -> Result<Aggregate<'a>> {
        let mut aggregate = Aggregate::new(fields::namespace_or_database(request)?);
        let mut pipeline = None;
        let mut fields = Fields::of_command(request, "aggregate")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "pipeline" => pipeline = Some(stages(&field)?),
                "explain" => aggregate.explain = explain(&field)?,
                "allowDiskUse" => aggregate.allow_disk_use = Some(field.boolean_not_null()?),
                "cursor" => aggregate.batch_size = batch_size(&field)?,
                "bypassDocumentValidation" => {
                    aggregate.bypass_validation = field.safe_bool()?.unwrap_or(false);
                }
                "collation" => {
                    aggregate.collation = field.object()?.filter(|it| !it.is_empty());
                }
                "hint" => aggregate.hint = field.hint()?,
                "let" => aggregate.variables = field.object()?,
                "collectionUUID" => aggregate.collection_uuid = field.uuid()?,
                // What a router or a driver adds, without meaning on one server.
                "isMapReduceCommand"
                | "mirrored"
                | "includeQueryStatsMetrics"
                | "isHybridSearch" => {
                    field.boolean_not_null()?;
                }
                "runtimeConstants" | "querySettings" => {
                    field.object()?;
                }
                "encryptionInformation"
                | "exchange"
                | "fromMongos"
                | "fromRouter"
                | "needsMerge"
                | "$_externalDataSources"
                | "$_passthroughToShard"
                | "$_requestReshardingResumeToken"
                | "$_requestResumeToken"
                | "$_resumeAfter"
                | "$_startAt" => {
                    return Err(super::unsupported("aggregate", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        aggregate.pipeline = fields.required(pipeline, "pipeline")?;
        Ok(aggregate)
    }

    fn new(namespace: Namespace) -> Aggregate<'a> {
        Aggregate {
            namespace,
            pipeline: Vec::new(),
            explain: false,
            allow_disk_use: None,
            batch_size: None,
            bypass_validation: false,
            collation: None,
            hint: None,
            variables: None,
            collection_uuid: None,
        }
    }
}

fn check_cursor(request: &Request) -> Result<()> {
    let given = |name| value::element::get(request.body(), name).is_some();
    match given("cursor") || given("explain") {
        true => Ok(()),
        false => Err(Code::FailedToParse.error(
            "The 'cursor' option is required, except for aggregate with the explain argument",
        )),
    }
}

/// An explained pipeline writes nothing.
fn without_write_concern<'a>(request: &Request, aggregate: Aggregate<'a>) -> Result<Aggregate<'a>> {
    match value::element::get(request.body(), "writeConcern") {
        Some(_) => Err(Code::FailedToParse
            .error("Aggregation explain does not support the 'writeConcern' option")),
        None => Ok(aggregate),
    }
}

/// The stages of a pipeline (code 14).
pub(super) fn stages<'a>(field: &Field<'a, '_>) -> Result<Vec<&'a RawDocument>> {
    let Some(array) = field.value().as_array() else {
        return Err(Code::TypeMismatch.error("'pipeline' option must be specified as an array"));
    };
    value::element::array_elements(array)
        .map(|stage| {
            stage.value().as_document().ok_or_else(|| {
                Code::TypeMismatch.error("Each element of the 'pipeline' array must be an object")
            })
        })
        .collect()
}

fn explain(field: &Field<'_, '_>) -> Result<bool> {
    field.value().as_bool().ok_or_else(|| Code::TypeMismatch.error("explain must be a boolean"))
}

fn batch_size(field: &Field<'_, '_>) -> Result<Option<i64>> {
    let Some(document) = field.value().as_document() else {
        return Err(Code::TypeMismatch.error("cursor field must be missing or an object"));
    };
    let mut batch_size = None;
    let mut fields = Fields::of_document(document, Scope::new("cursor"));
    while let Some(field) = fields.next()? {
        match field.name() {
            "batchSize" => batch_size = field.count()?,
            _ => return Err(field.unknown()),
        }
    }
    Ok(batch_size)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Aggregate::parse(request).map(|_| ())
    }

    #[test]
    fn a_pipeline_is_read() {
        let body = rawdoc! {
            "aggregate": 1, "$db": "d", "pipeline": [{ "$documents": [] }, { "$count": "n" }],
            "cursor": { "batchSize": 0 }, "bypassDocumentValidation": 1,
        };
        let request = Request::from(body);
        let aggregate = Aggregate::parse(&request).unwrap();
        assert!(aggregate.namespace.is_collectionless());
        assert_eq!(aggregate.pipeline.len(), 2);
        assert_eq!(aggregate.batch_size, Some(0));
        assert!(aggregate.bypass_validation);
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "aggregate": "c", "$db": "d", "pipeline": [], "cursor": {} };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("aggregate", "string symbol number", 73),
                ("pipeline", "array", 14),
                ("explain", "bool", 14),
                ("allowDiskUse", "bool", 14),
                ("cursor", "object", 14),
                ("bypassDocumentValidation", "bool number null", 14),
                ("collation", "object null", 14),
                ("hint", "object string", 9),
                ("let", "object null", 14),
                ("collectionUUID", "binData null", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "aggregate": 2 }, 2),
                (doc! { "pipeline": [1] }, 14),
                (doc! { "pipeline": [bson::Bson::Null] }, 14),
                (doc! { "cursor": { "batchSize": -1 } }, 2),
                (doc! { "cursor": { "batchSize": "x" } }, 14),
                (doc! { "cursor": { "x": 1 } }, 40415),
                (doc! { "explain": true, "writeConcern": {} }, 9),
                (doc! { "exchange": {} }, 115),
            ],
        );
    }

    #[test]
    fn a_cursor_is_required_except_to_explain() {
        let base = doc! { "aggregate": "c", "$db": "d", "pipeline": [] };
        assert_eq!(code(parse, &base), 9);
        check_codes(parse, &base, &[(doc! { "explain": true }, 0), (doc! { "explain": false }, 0)]);
        let explained = |request: &Request| Aggregate::parse_explained(request).map(|_| ());
        check_codes(
            explained,
            &base,
            &[
                (doc! {}, 9),
                (doc! { "cursor": {} }, 0),
                (doc! { "cursor": {}, "explain": true }, 9),
            ],
        );
        assert_eq!(code(parse, &doc! { "aggregate": "c", "$db": "d", "cursor": {} }), 40414);
    }
}
