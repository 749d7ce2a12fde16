//! `collMod`.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

use super::create::{capped_max, capped_size, images, view_on};
use super::timeseries::{granularity, seconds};
use super::{Granularity, ValidationAction, ValidationLevel};
use crate::fields::{self, Field, Fields, Hint, safe_i64};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct CollMod<'a> {
    pub namespace: Namespace,
    pub index: Option<IndexChange<'a>>,
    pub validator: Option<&'a RawDocument>,
    pub validation_level: Option<ValidationLevel>,
    pub validation_action: Option<ValidationAction>,
    pub view_on: Option<&'a str>,
    pub pipeline: Option<Vec<&'a RawDocument>>,
    pub pre_and_post_images: Option<bool>,
    pub expiry: Option<Expiry>,
    pub granularity: Option<Granularity>,
    pub bucket_max_span_seconds: Option<i32>,
    pub capped_size: Option<i64>,
    pub capped_max: Option<i64>,
    pub dry_run: bool,
    pub collection_uuid: Option<[u8; 16]>,
}

/// The change of one index, named or found by its key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexChange<'a> {
    pub index: Hint<'a>,
    pub expire_after_seconds: Option<i32>,
    pub hidden: Option<bool>,
    pub unique: Option<bool>,
    pub prepare_unique: Option<bool>,
}

/// When a clustered or time series collection forgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    Off,
    After { seconds: i64 },
}

impl<'a> CollMod<'a> {
    pub fn parse(request: &'a Request) -> Result<CollMod<'a>> {
        let mut view = CollMod::new(fields::namespace(request)?);
        let mut fields = Fields::of_command(request, "collMod")?;
        while let Some(field) = fields.next()? {
            view.take(&field)?;
        }
        if view.pipeline.is_some() != view.view_on.is_some() {
            let (given, missing) = match view.view_on {
                Some(_) => ("viewOn", "pipeline"),
                None => ("pipeline", "viewOn"),
            };
            return Err(Code::InvalidOptions
                .error(format!("Must specify '{missing}' when modifying a view with '{given}'")));
        }
        Ok(view)
    }

    fn new(namespace: Namespace) -> CollMod<'a> {
        CollMod {
            namespace,
            index: None,
            validator: None,
            validation_level: None,
            validation_action: None,
            view_on: None,
            pipeline: None,
            pre_and_post_images: None,
            expiry: None,
            granularity: None,
            bucket_max_span_seconds: None,
            capped_size: None,
            capped_max: None,
            dry_run: false,
            collection_uuid: None,
        }
    }

    fn take(&mut self, field: &Field<'a, '_>) -> Result<()> {
        match field.name() {
            "index" => self.index = IndexChange::parse(field)?,
            "validator" => self.validator = field.object()?,
            "validationLevel" => self.validation_level = ValidationLevel::parse(field)?,
            "validationAction" => self.validation_action = ValidationAction::parse(field)?,
            "viewOn" => self.view_on = view_on(field)?,
            "pipeline" => self.pipeline = field.objects()?,
            "changeStreamPreAndPostImages" => self.pre_and_post_images = images(field)?,
            "expireAfterSeconds" => self.expiry = expiry(field)?,
            "timeseries" => self.take_timeseries(field)?,
            "cappedSize" => self.capped_size = capped_size(field)?,
            "cappedMax" => self.capped_max = capped_max(field)?,
            "dryRun" => self.dry_run = field.safe_bool()?.unwrap_or(false),
            "collectionUUID" => self.collection_uuid = field.uuid()?,
            "recordIdsReplicated" | "timeseriesBucketsMayHaveMixedSchemaData" => {
                field.safe_bool()?;
            }
            _ => return Err(field.unknown()),
        }
        Ok(())
    }

    fn take_timeseries(&mut self, field: &Field<'a, '_>) -> Result<()> {
        let Some(document) = field.object()? else { return Ok(()) };
        let mut fields = Fields::of_document(document, field.scope());
        while let Some(field) = fields.next()? {
            match field.name() {
                "granularity" => self.granularity = granularity(&field)?,
                "bucketMaxSpanSeconds" => self.bucket_max_span_seconds = seconds(&field)?,
                "bucketRoundingSeconds" => {
                    seconds(&field)?;
                }
                _ => return Err(field.unknown()),
            }
        }
        Ok(())
    }
}

impl<'a> IndexChange<'a> {
    fn parse(field: &Field<'a, '_>) -> Result<Option<IndexChange<'a>>> {
        let Some(document) = field.object()? else { return Ok(None) };
        let (mut name, mut key) = (None, None);
        let (mut expire_after_seconds, mut hidden) = (None, None);
        let (mut unique, mut prepare_unique) = (None, None);
        let mut fields = Fields::of_document(document, field.scope());
        while let Some(field) = fields.next()? {
            match field.name() {
                "name" => name = field.string()?,
                "keyPattern" => key = field.object()?,
                "expireAfterSeconds" => expire_after_seconds = field.safe_int()?,
                "hidden" => hidden = field.safe_bool()?,
                "unique" => unique = field.safe_bool()?,
                "prepareUnique" => prepare_unique = field.safe_bool()?,
                "forceNonUnique" => {
                    return Err(super::unsupported("collMod", "index.forceNonUnique"));
                }
                _ => return Err(field.unknown()),
            }
        }
        let fail = |message: &str| Err(Code::InvalidOptions.error(message));
        let index = match (name, key) {
            (None, None) => return fail("Must specify either index name or key pattern."),
            (Some(_), Some(_)) => return fail("Cannot specify both key pattern and name."),
            (Some(name), None) => Hint::Name(name),
            (None, Some(key)) => Hint::Key(key),
        };
        if expire_after_seconds.is_none()
            && hidden.is_none()
            && unique.is_none()
            && prepare_unique.is_none()
        {
            return fail("no expireAfterSeconds, hidden, unique, or prepareUnique field");
        }
        if unique == Some(false) {
            return Err(Code::BadValue.error("Cannot make index non-unique"));
        }
        if expire_after_seconds.is_some_and(|seconds| seconds < 0) {
            return fail("TTL index 'expireAfterSeconds' option cannot be less than 0");
        }
        Ok(Some(IndexChange { index, expire_after_seconds, hidden, unique, prepare_unique }))
    }
}

fn expiry(field: &Field<'_, '_>) -> Result<Option<Expiry>> {
    let fail = |message: &str| Err(Code::InvalidOptions.error(message));
    match field.value() {
        RawBsonRef::String("off") => Ok(Some(Expiry::Off)),
        RawBsonRef::String(_) => {
            fail("Invalid string value for the 'clusteredIndex::expireAfterSeconds' option")
        }
        _ if field.is_absent() => Ok(None),
        value => match safe_i64(value) {
            Some(seconds) if seconds < 0 => {
                fail("TTL index 'expireAfterSeconds' option cannot be less than 0")
            }
            Some(seconds) => Ok(Some(Expiry::After { seconds })),
            None => Err(field.wrong_type(&[
                ElementType::String,
                ElementType::Int64,
                ElementType::Int32,
                ElementType::Decimal128,
                ElementType::Double,
            ])),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        CollMod::parse(request).map(|_| ())
    }

    #[test]
    fn an_index_is_found_by_name_or_key() {
        let body = rawdoc! {
            "collMod": "c", "$db": "d",
            "index": { "name": "a_1", "hidden": true, "expireAfterSeconds": 5.0 },
        };
        let request = Request::from(body);
        let change = CollMod::parse(&request).unwrap().index.unwrap();
        assert_eq!(change.index, Hint::Name("a_1"));
        assert_eq!((change.hidden, change.expire_after_seconds), (Some(true), Some(5)));
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "collMod": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("collMod", "string symbol", 73),
                ("index", "object null", 14),
                ("validator", "object null", 14),
                ("validationLevel", "string null", 14),
                ("validationAction", "string null", 14),
                ("viewOn", "string null", 14),
                ("pipeline", "array null", 14),
                ("changeStreamPreAndPostImages", "object null", 14),
                ("expireAfterSeconds", "string number null", 14),
                ("timeseries", "object null", 14),
                ("cappedSize", "number null", 14),
                ("cappedMax", "number null", 14),
                ("dryRun", "bool number null", 14),
            ],
        );
    }

    #[test]
    fn arguments_must_agree() {
        check_codes(
            parse,
            &doc! { "collMod": "c", "$db": "d" },
            &[
                (doc! { "index": {} }, 72),
                (doc! { "index": { "name": "x" } }, 72),
                (doc! { "index": { "name": "x", "keyPattern": {}, "hidden": true } }, 72),
                (doc! { "index": { "name": 1, "hidden": true } }, 14),
                (doc! { "index": { "name": "x", "unique": false } }, 2),
                (doc! { "index": { "name": "x", "hidden": true, "y": 1 } }, 40415),
                (doc! { "viewOn": "x" }, 72),
                (doc! { "pipeline": [] }, 72),
                (doc! { "viewOn": "x", "pipeline": [] }, 0),
                (doc! { "expireAfterSeconds": "off" }, 0),
                (doc! { "expireAfterSeconds": "on" }, 72),
                (doc! { "expireAfterSeconds": -1 }, 72),
                (doc! { "cappedSize": 0 }, 2),
                (doc! { "timeseries": { "x": 1 } }, 40415),
            ],
        );
    }
}
