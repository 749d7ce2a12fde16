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
    pub expiry: Option<Expiry<'a>>,
    pub timeseries: bool,
    pub granularity: Option<Granularity>,
    pub bucket_max_span_seconds: Option<i32>,
    /// `recordIdsReplicated`, which can only be taken back.
    pub record_ids_replicated: Option<bool>,
    /// `timeseriesBucketsMayHaveMixedSchemaData`.
    pub mixed_schema: Option<bool>,
    pub capped_size: Option<i64>,
    pub capped_max: Option<i64>,
    pub dry_run: bool,
    pub collection_uuid: Option<[u8; 16]>,
}

/// The change of one index, named or found by its key.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct IndexChange<'a> {
    pub name: Option<&'a str>,
    pub key: Option<&'a RawDocument>,
    pub expire_after_seconds: Option<i32>,
    pub hidden: Option<bool>,
    pub unique: Option<bool>,
    pub prepare_unique: Option<bool>,
    pub force_non_unique: Option<bool>,
}

/// When a clustered or time series collection forgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry<'a> {
    /// `off`; nothing else is a word that is known.
    Word(&'a str),
    After {
        seconds: i64,
    },
}

impl<'a> CollMod<'a> {
    pub fn parse(request: &'a Request) -> Result<CollMod<'a>> {
        let mut view = CollMod::new(fields::namespace(request)?);
        let mut fields = Fields::of_command(request, "collMod")?;
        while let Some(field) = fields.next()? {
            view.take(&field)?;
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
            timeseries: false,
            granularity: None,
            bucket_max_span_seconds: None,
            record_ids_replicated: None,
            mixed_schema: None,
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
            "recordIdsReplicated" => self.record_ids_replicated = field.safe_bool()?,
            "timeseriesBucketsMayHaveMixedSchemaData" => self.mixed_schema = field.safe_bool()?,
            _ => return Err(field.unknown()),
        }
        Ok(())
    }

    fn take_timeseries(&mut self, field: &Field<'a, '_>) -> Result<()> {
        let Some(document) = field.object()? else { return Ok(()) };
        self.timeseries = true;
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
        let mut change = IndexChange::default();
        let mut fields = Fields::of_document(document, field.scope());
        while let Some(field) = fields.next()? {
            match field.name() {
                "name" => change.name = field.string()?,
                "keyPattern" => change.key = field.object()?,
                "expireAfterSeconds" => change.expire_after_seconds = field.safe_int()?,
                "hidden" => change.hidden = field.safe_bool()?,
                "unique" => change.unique = field.safe_bool()?,
                "prepareUnique" => change.prepare_unique = field.safe_bool()?,
                "forceNonUnique" => change.force_non_unique = field.safe_bool()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(Some(change))
    }

    /// Which index is meant, once the request makes sense by itself.
    pub fn check(&self) -> Result<Hint<'a>> {
        let fail = |message: &str| Err(Code::InvalidOptions.error(message));
        let index = match (self.name, self.key) {
            (None, None) => return fail("Must specify either index name or key pattern."),
            (Some(_), Some(_)) => return fail("Cannot specify both key pattern and name."),
            (Some(name), None) => Hint::Name(name),
            (None, Some(key)) => Hint::Key(key),
        };
        if self.modifications() == 0 {
            return fail("no expireAfterSeconds, hidden, unique, or prepareUnique field");
        }
        if self.unique.is_some() && self.force_non_unique.is_some() {
            return fail(
                "collMod does not support 'unique' and 'forceNonUnique' options at the same time",
            );
        }
        if self.expire_after_seconds.is_some_and(|seconds| seconds < 0) {
            return fail("TTL index 'expireAfterSeconds' option cannot be less than 0");
        }
        Ok(index)
    }

    /// How many options of the index are to change.
    pub fn modifications(&self) -> usize {
        [
            self.expire_after_seconds.is_some(),
            self.hidden.is_some(),
            self.unique.is_some(),
            self.prepare_unique.is_some(),
            self.force_non_unique.is_some(),
        ]
        .into_iter()
        .filter(|given| *given)
        .count()
    }
}

fn expiry<'a>(field: &Field<'a, '_>) -> Result<Option<Expiry<'a>>> {
    match field.value() {
        RawBsonRef::String(text) => Ok(Some(Expiry::Word(text))),
        _ if field.is_absent() => Ok(None),
        value => match safe_i64(value) {
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
        CollMod::parse(request)?.index.map_or(Ok(()), |index| index.check().map(|_| ()))
    }

    #[test]
    fn an_index_is_found_by_name_or_key() {
        let body = rawdoc! {
            "collMod": "c", "$db": "d",
            "index": { "name": "a_1", "hidden": true, "expireAfterSeconds": 5.0 },
        };
        let request = Request::from(body);
        let change = CollMod::parse(&request).unwrap().index.unwrap();
        assert_eq!(change.check().unwrap(), Hint::Name("a_1"));
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
                (doc! { "index": { "name": "x", "unique": true, "forceNonUnique": true } }, 72),
                (doc! { "index": { "name": "x", "expireAfterSeconds": -1 } }, 72),
                (doc! { "index": { "name": "x", "hidden": true, "y": 1 } }, 40415),
                (doc! { "viewOn": "x" }, 0),
                (doc! { "pipeline": [] }, 0),
                (doc! { "viewOn": "" }, 2),
                (doc! { "expireAfterSeconds": "off" }, 0),
                (doc! { "cappedSize": 0 }, 2),
                (doc! { "timeseries": { "x": 1 } }, 40415),
            ],
        );
    }
}
