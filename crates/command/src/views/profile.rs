//! `profile`.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

use crate::Request;
use crate::fields::{Field, Fields, Scope};

#[derive(Debug, Clone)]
pub struct Profile<'a> {
    /// 0 none, 1 slow ones, 2 all; anything else only asks.
    pub level: i64,
    pub slow_ms: Option<i64>,
    pub sample_rate: Option<f64>,
    pub filter: Option<ProfileFilter<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProfileFilter<'a> {
    Unset,
    Query(&'a RawDocument),
}

impl<'a> Profile<'a> {
    pub fn parse(request: &'a Request) -> Result<Profile<'a>> {
        let mut view =
            Profile { level: level(request)?, slow_ms: None, sample_rate: None, filter: None };
        let mut fields = Fields::of_command(request, "profile")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "slowms" => view.slow_ms = field.safe_int64()?,
                "sampleRate" => view.sample_rate = sample_rate(&field)?,
                "filter" => view.filter = Some(filter(&field)?),
                _ => {}
            }
        }
        Ok(view)
    }
}

fn level(request: &Request) -> Result<i64> {
    let scope = Scope::new("profile");
    let Some(first) = value::elements(request.body()).next() else { return Ok(-1) };
    let field = Field::new(first, &scope);
    field.safe_int64()?.ok_or_else(|| {
        field.wrong_type(&[
            ElementType::Int64,
            ElementType::Int32,
            ElementType::Decimal128,
            ElementType::Double,
        ])
    })
}

fn sample_rate(field: &Field<'_, '_>) -> Result<Option<f64>> {
    match field.safe_double()? {
        Some(rate) if !(0.0..=1.0).contains(&rate) => {
            Err(Code::BadValue.error("'sampleRate' must be between 0.0 and 1.0 inclusive"))
        }
        rate => Ok(rate),
    }
}

fn filter<'a>(field: &Field<'a, '_>) -> Result<ProfileFilter<'a>> {
    match field.value() {
        RawBsonRef::Document(query) => Ok(ProfileFilter::Query(query)),
        RawBsonRef::String("unset") => Ok(ProfileFilter::Unset),
        _ => Err(Code::BadValue.error("Expected an object, or the string 'unset'.")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        Profile::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "profile": 1, "$db": "d", "slowms": 100 };
        check_fields(
            parse,
            &base,
            &[
                ("profile", "number", 14),
                ("slowms", "number null", 14),
                ("sampleRate", "number null", 14),
                ("filter", "object", 2),
            ],
        );
        check_codes(
            parse,
            &base,
            &[(doc! { "filter": "unset" }, 0), (doc! { "sampleRate": 1.5 }, 2)],
        );
    }
}
