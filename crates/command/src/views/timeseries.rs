//! `timeseries` of `create`, and the part of it that `collMod` may change.

use error::{Code, Result};

use crate::fields::{Field, Fields};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeseries<'a> {
    pub time_field: &'a str,
    pub meta_field: Option<&'a str>,
    pub granularity: Option<Granularity>,
    pub bucket_max_span_seconds: Option<i32>,
    pub bucket_rounding_seconds: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    Seconds,
    Minutes,
    Hours,
}

pub(super) fn granularity(field: &Field<'_, '_>) -> Result<Option<Granularity>> {
    field.choice(&[
        ("seconds", Granularity::Seconds),
        ("minutes", Granularity::Minutes),
        ("hours", Granularity::Hours),
    ])
}

pub(super) fn seconds(field: &Field<'_, '_>) -> Result<Option<i32>> {
    let value = field.safe_int()?;
    field.at_least(value.map(i64::from), 1)?;
    Ok(value)
}

impl<'a> Timeseries<'a> {
    pub(super) fn parse(field: &Field<'a, '_>) -> Result<Option<Timeseries<'a>>> {
        let Some(document) = field.object()? else { return Ok(None) };
        let mut time_field = None;
        let mut series = Timeseries {
            time_field: "",
            meta_field: None,
            granularity: None,
            bucket_max_span_seconds: None,
            bucket_rounding_seconds: None,
        };
        let mut fields = Fields::of_document(document, field.scope());
        while let Some(field) = fields.next()? {
            match field.name() {
                "timeField" => time_field = field.string()?,
                "metaField" => series.meta_field = field.string()?,
                "granularity" => series.granularity = granularity(&field)?,
                "bucketMaxSpanSeconds" => series.bucket_max_span_seconds = seconds(&field)?,
                "bucketRoundingSeconds" => series.bucket_rounding_seconds = seconds(&field)?,
                _ => return Err(field.unknown()),
            }
        }
        series.time_field = fields.required(time_field, "timeField")?;
        series.check()?;
        Ok(Some(series))
    }

    fn check(&self) -> Result<()> {
        let fail = |message: &str| Err(Code::InvalidOptions.error(message));
        if self.time_field.contains('.') {
            return fail("'timeField' must be a top-level field and not contain a '.'");
        }
        match self.meta_field {
            Some("_id") => return fail("'metaField' cannot be \"_id\""),
            Some(meta) if meta == self.time_field => {
                return fail("'metaField' cannot be the same as 'timeField'");
            }
            Some(meta) if meta.contains('.') => {
                return fail("'metaField' must be a top-level field and not contain a '.'");
            }
            _ => {}
        }
        if self.bucket_max_span_seconds != self.bucket_rounding_seconds {
            return fail(
                "Timeseries 'bucketMaxSpanSeconds' and 'bucketRoundingSeconds' must be set to the \
                 same value",
            );
        }
        if self.granularity.is_some() && self.bucket_max_span_seconds.is_some() {
            return fail(
                "Timeseries 'bucketMaxSpanSeconds' cannot be set together with 'granularity'",
            );
        }
        Ok(())
    }
}
