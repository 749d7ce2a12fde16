//! `count`.

use bson::RawDocument;
use error::{Code, Result};

use crate::fields::{self, Field, Fields, Hint, exact_i64, safe_f64};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Count<'a> {
    pub namespace: Namespace,
    pub query: &'a RawDocument,
    /// 0 is no limit.
    pub limit: i64,
    pub skip: i64,
    pub hint: Option<Hint<'a>>,
    pub collation: Option<&'a RawDocument>,
}

impl<'a> Count<'a> {
    pub fn parse(request: &'a Request) -> Result<Count<'a>> {
        let mut count = Count {
            namespace: fields::namespace(request)?,
            query: empty_document(),
            limit: 0,
            skip: 0,
            hint: None,
            collation: None,
        };
        let mut fields = Fields::of_command(request, "count")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "query" => count.query = field.object()?.unwrap_or(empty_document()),
                "limit" => count.limit = limit(&field)?,
                "skip" => count.skip = field.count()?.unwrap_or(0),
                "hint" => count.hint = field.hint()?,
                "collation" => count.collation = field.object()?.filter(|it| !it.is_empty()),
                // Old shells send it.
                "fields" => {}
                "mirrored" | "includeQueryStatsMetrics" => {
                    field.boolean_not_null()?;
                }
                "encryptionInformation" => {
                    return Err(super::unsupported("count", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        Ok(count)
    }
}

/// A negative limit means the same as its positive.
fn limit(field: &Field<'_, '_>) -> Result<i64> {
    if safe_f64(field.value()).is_none() {
        return Err(Code::BadValue.error("limit value is not a valid number"));
    }
    let limit = exact_i64(field.value(), "limit")?;
    limit
        .checked_abs()
        .ok_or_else(|| Code::BadValue.error("limit value for count cannot be min long"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Count::parse(request).map(|_| ())
    }

    #[test]
    fn a_negative_limit_is_its_positive() {
        let request = Request::from(rawdoc! { "count": "c", "$db": "d", "limit": -3, "skip": 1 });
        let count = Count::parse(&request).unwrap();
        assert_eq!((count.limit, count.skip), (3, 1));
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "count": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("count", "string symbol", 73),
                ("query", "object null", 14),
                ("limit", "number", 2),
                ("skip", "number null", 14),
                ("hint", "string object", 9),
                ("collation", "object null", 14),
                ("fields", "any", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "skip": -1 }, 2),
                (doc! { "limit": i64::MIN }, 2),
                (doc! { "limit": 1.5 }, 9),
            ],
        );
    }
}
