//! `find`.

use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

use crate::fields::{self, Fields, Hint, safe_i32};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Find<'a> {
    pub namespace: Namespace,
    pub filter: &'a RawDocument,
    pub projection: &'a RawDocument,
    pub sort: &'a RawDocument,
    pub hint: Option<Hint<'a>>,
    pub collation: Option<&'a RawDocument>,
    pub min: &'a RawDocument,
    pub max: &'a RawDocument,
    pub variables: Option<&'a RawDocument>,
    pub skip: i64,
    /// 0 is no limit.
    pub limit: i64,
    pub batch_size: Option<i64>,
    pub single_batch: bool,
    pub allow_disk_use: Option<bool>,
    pub return_key: bool,
    pub show_record_id: bool,
    pub tailable: bool,
    pub await_data: bool,
    pub no_cursor_timeout: bool,
    pub allow_partial_results: bool,
    pub collection_uuid: Option<[u8; 16]>,
}

impl<'a> Find<'a> {
    pub fn parse(request: &'a Request) -> Result<Find<'a>> {
        let mut find = Find::new(fields::namespace(request)?);
        let mut fields = Fields::of_command(request, "find")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "filter" => find.filter = field.object_not_null()?,
                "projection" => find.projection = field.object_not_null()?,
                "sort" => find.sort = field.object_not_null()?,
                "hint" => find.hint = field.hint()?,
                "collation" => {
                    find.collation = Some(field.object_not_null()?).filter(|it| !it.is_empty());
                }
                "min" => find.min = field.object_not_null()?,
                "max" => find.max = field.object_not_null()?,
                "let" => find.variables = field.object()?,
                "skip" => find.skip = field.count()?.unwrap_or(0),
                "limit" => find.limit = field.count()?.unwrap_or(0),
                "batchSize" => find.batch_size = field.count()?,
                "singleBatch" => find.single_batch = field.boolean_not_null()?,
                "allowDiskUse" => find.allow_disk_use = Some(field.boolean_not_null()?),
                "returnKey" => find.return_key = field.boolean_not_null()?,
                "showRecordId" => find.show_record_id = field.boolean_not_null()?,
                "tailable" => find.tailable = field.boolean_not_null()?,
                "awaitData" => find.await_data = field.boolean_not_null()?,
                "noCursorTimeout" => find.no_cursor_timeout = field.boolean_not_null()?,
                "allowPartialResults" => find.allow_partial_results = field.boolean_not_null()?,
                "collectionUUID" => find.collection_uuid = field.uuid()?,
                // Hints of old drivers and of MongoDB's own servers that change nothing here.
                "oplogReplay" | "readOnce" | "mirrored" | "includeQueryStatsMetrics" => {
                    field.boolean_not_null()?;
                }
                "term" => {
                    field.safe_int64()?;
                }
                "runtimeConstants" | "querySettings" => {
                    field.object()?;
                }
                "encryptionInformation"
                | "$_requestResumeToken"
                | "$_resumeAfter"
                | "$_startAt" => {
                    return Err(super::unsupported("find", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        find.check()?;
        Ok(find)
    }

    fn new(namespace: Namespace) -> Find<'a> {
        Find {
            namespace,
            filter: empty_document(),
            projection: empty_document(),
            sort: empty_document(),
            hint: None,
            collation: None,
            min: empty_document(),
            max: empty_document(),
            variables: None,
            skip: 0,
            limit: 0,
            batch_size: None,
            single_batch: false,
            allow_disk_use: None,
            return_key: false,
            show_record_id: false,
            tailable: false,
            await_data: false,
            no_cursor_timeout: false,
            allow_partial_results: false,
            collection_uuid: None,
        }
    }

    fn check(&self) -> Result<()> {
        let same_names = || {
            value::elements(self.min)
                .map(|element| element.key)
                .eq(value::elements(self.max).map(|element| element.key))
        };
        if !self.min.is_empty() && !self.max.is_empty() && !same_names() {
            return Err(Code::location(51176).error("min and max must have the same field names"));
        }
        if !is_natural_valid(self.sort) {
            return Err(
                Code::BadValue.error("$natural sort cannot be set to a value other than -1 or 1.")
            );
        }
        if let Some(Hint::Key(key)) = self.hint
            && !is_natural_valid(key)
        {
            return Err(
                Code::BadValue.error("$natural hint cannot be set to a value other than -1 or 1.")
            );
        }
        if self.await_data && !self.tailable {
            return Err(
                Code::FailedToParse.error("Cannot set 'awaitData' without also setting 'tailable'")
            );
        }
        if self.tailable {
            self.check_tailable()?;
        }
        Ok(())
    }

    fn check_tailable(&self) -> Result<()> {
        let mut sort = value::elements(self.sort);
        let natural = match (sort.next(), sort.next()) {
            (None, _) => true,
            (Some(only), None) => only.key == "$natural" && safe_i32(only.value()) == Some(1),
            _ => false,
        };
        if !natural {
            return Err(Code::BadValue
                .error("cannot use tailable option with a sort other than {$natural: 1}"));
        }
        if self.single_batch {
            return Err(
                Code::BadValue.error("cannot use tailable option with the 'singleBatch' option")
            );
        }
        Ok(())
    }
}

/// `$natural` must be 1 or -1; `{$meta: …}` under that name is a projection's.
fn is_natural_valid(pattern: &RawDocument) -> bool {
    match value::element::get_value(pattern, "$natural") {
        None | Some(RawBsonRef::Document(_)) => true,
        Some(direction) => matches!(safe_i32(direction), Some(1 | -1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Find::parse(request).map(|_| ())
    }

    #[test]
    fn a_find_is_read_whole() {
        let request = Request::from(rawdoc! {
            "find": "c", "$db": "d", "filter": { "a": 1 }, "sort": { "b": -1 }, "skip": 2,
            "limit": 3.0, "batchSize": 4_i64, "singleBatch": true, "hint": "b_-1",
            "lsid": 1, "comment": "x",
        });
        let find = Find::parse(&request).unwrap();
        assert_eq!(find.namespace.to_string(), "d.c");
        assert_eq!(find.filter, &*rawdoc! { "a": 1 });
        assert_eq!(find.sort, &*rawdoc! { "b": -1 });
        assert_eq!((find.skip, find.limit, find.batch_size), (2, 3, Some(4)));
        assert_eq!(find.hint, Some(Hint::Name("b_-1")));
        assert!(find.single_batch);
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "find": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("find", "string symbol", 73),
                ("filter", "object", 14),
                ("projection", "object", 14),
                ("sort", "object", 14),
                ("hint", "object string", 9),
                ("collation", "object", 14),
                ("min", "object", 14),
                ("max", "object", 14),
                ("let", "object null", 14),
                ("skip", "number null", 14),
                ("limit", "number null", 14),
                ("batchSize", "number null", 14),
                ("singleBatch", "bool", 14),
                ("allowDiskUse", "bool", 14),
                ("returnKey", "bool", 14),
                ("showRecordId", "bool", 14),
                ("tailable", "bool", 14),
                ("awaitData", "bool", 14),
                ("noCursorTimeout", "bool", 14),
                ("allowPartialResults", "bool", 14),
                ("oplogReplay", "bool", 14),
                ("collectionUUID", "binData null", 14),
            ],
        );
    }

    #[test]
    fn arguments_must_agree() {
        check_codes(
            parse,
            &doc! { "find": "c", "$db": "d" },
            &[
                (doc! { "skip": -1 }, 2),
                (doc! { "limit": -1 }, 2),
                (doc! { "batchSize": -1.0 }, 2),
                (doc! { "awaitData": true }, 9),
                (doc! { "awaitData": true, "tailable": true }, 0),
                (doc! { "tailable": true, "sort": { "a": 1 } }, 2),
                (doc! { "tailable": true, "sort": { "$natural": 1 } }, 0),
                (doc! { "tailable": true, "singleBatch": true }, 2),
                (doc! { "min": { "a": 1 }, "max": { "b": 1 } }, 51176),
                (doc! { "min": { "a": 1 }, "max": { "a": 2 } }, 0),
                (doc! { "sort": { "$natural": 2 } }, 2),
                (doc! { "hint": { "$natural": 0 } }, 2),
                (doc! { "hint": { "$natural": -1 } }, 0),
                (doc! { "ntoreturn": 1 }, 40415),
                (doc! { "$_requestResumeToken": true }, 115),
            ],
        );
    }

    #[test]
    fn a_wrong_type_says_what_was_expected() {
        let body = doc! { "find": "c", "$db": "d", "limit": "x" };
        assert_eq!(
            message(parse, &body),
            "BSON field 'find.limit' is the wrong type 'string', expected types '[long, int, decimal, double]'"
        );
        let body = doc! { "find": "c", "$db": "d", "skip": -1 };
        assert_eq!(
            message(parse, &body),
            "BSON field 'skip' value must be >= 0, actual value '-1'"
        );
    }
}
